//! Sort, IncrementalSort, Material, Unique and Limit. Counterpart: nodeSort.c,
//! nodeIncrementalSort.c, nodeMaterial.c, nodeUnique.c, nodeLimit.c.

use crate::depend::Dependencies;
use crate::instrument::key_of;
use crate::node::{ChildColumns, Exec, Node, compile};
use crate::readahead::{CAUTIOUS, ReadAhead};
use crate::run::Run;
use crate::source::limit_value;
use eval::{EvalState, Program, RowInput, Source};
use ids::Oid;
use pgerror::Result;
use plan::expr::{Expr, TargetEntry};
use plan::node::{GroupKeys, Plan, SortKeys};
use rowops::keys::{Key, Keys, check_collation};
use rowops::sorter::{SortColumn, Sorter, WordKind};
use rowops::spill::RowStore;
use std::sync::Arc;
use types::{BATCH_ROWS_MAX, Batch};

pub(crate) fn sort_columns(
    keys: &SortKeys,
    targets: &[TargetEntry],
    run: &mut Run<'_>,
) -> Result<Vec<SortColumn>> {
    let mut out = Vec::new();
    for (i, col) in keys.cols.iter().enumerate() {
        let ty = targets.get(*col as usize - 1).map_or(Oid::INVALID, |t| t.expr.type_oid());
        let (cmp, descending) = run.sv.sort_operator(keys.operators[i], ty, keys.collations[i])?;
        check_collation(ty, keys.collations[i], "comparison", run.sv)?;
        out.push(SortColumn {
            column: *col as usize - 1,
            word: WordKind::of(ty, &cmp),
            cmp,
            collation: keys.collations[i],
            descending,
            nulls_first: keys.nulls_first[i],
        });
    }
    Ok(out)
}

pub(crate) struct SortNode {
    child: Node,
    columns: Vec<SortColumn>,
    /// Dependencies of the sorted rows.
    dependencies: Dependencies,
    key: usize,
    /// Maximum number of rows that will be read.
    bound: Option<usize>,
    /// The sorted rows, and the bound with which they were sorted.
    sorted: Option<(Sorter, Option<usize>)>,
}

impl SortNode {
    pub(crate) fn boxed(
        plan: &Plan,
        child: Node,
        keys: &SortKeys,
        targets: &[TargetEntry],
        run: &mut Run<'_>,
    ) -> Result<Node> {
        Ok(Box::new(SortNode {
            child,
            columns: sort_columns(keys, targets, run)?,
            dependencies: Dependencies::new(&[plan], &[], run),
            key: key_of(plan),
            bound: None,
            sorted: None,
        }))
    }
}

impl Exec for SortNode {
    fn next(&mut self, run: &mut Run<'_>, want: usize) -> Result<Option<Batch>> {
        if let Some((_, had)) = &self.sorted
            && !bound_suffices(*had, self.bound)
        {
            self.sorted = None;
            self.child.rescan(run)?;
        }
        let (sorter, _) = match &mut self.sorted {
            Some(s) => s,
            slot => {
                self.dependencies.record(run);
                let memory = run.sv.work_mem();
                let mut sorter = Sorter::new(self.columns.clone(), memory, self.bound);
                self.dependencies.computation().perform(run, |run| {
                    while let Some(b) = self.child.next(run, BATCH_ROWS_MAX)? {
                        sorter.push(run.sv, &b)?;
                        run.interrupts()?;
                    }
                    sorter.finish(run.sv)
                })?;
                if let Some(all) = &mut run.st.instruments {
                    all.sorts.insert(self.key, sorter.stats());
                }
                slot.insert((sorter, self.bound))
            }
        };
        sorter.next(want)
    }

    fn rescan(&mut self, run: &mut Run<'_>) -> Result<()> {
        match &mut self.sorted {
            // The sorted rows are still valid: return them again.
            Some((sorter, _)) if !self.dependencies.changed(run) => {
                sorter.rewind();
                Ok(())
            }
            _ => {
                self.sorted = None;
                self.child.rescan(run)
            }
        }
    }

    fn reset(&mut self, run: &mut Run<'_>) -> Result<bool> {
        self.sorted = None;
        self.child.reset(run)
    }

    fn set_bound(&mut self, bound: Option<usize>) {
        self.bound = bound;
    }
}

/// True if a sort with bound `had` has enough rows for a reader with bound `wanted`.
fn bound_suffices(had: Option<usize>, wanted: Option<usize>) -> bool {
    had.is_none_or(|h| wanted.is_some_and(|w| w <= h))
}

/// Incremental sort: the input is sorted by the first columns, and each group of rows that are
/// equal in these is sorted by the rest.
pub(crate) struct IncrementalSortNode {
    child: Node,
    ahead: ReadAhead,
    columns: Vec<SortColumn>,
    /// Number of leading sort columns by which the input is sorted.
    presorted: usize,
    bound: Option<usize>,
    given: usize,
    sorted: Option<Sorter>,
    input: Option<(Batch, usize)>,
}

impl IncrementalSortNode {
    pub(crate) fn boxed(
        child: Node,
        child_plan: &Plan,
        keys: &SortKeys,
        presorted: usize,
        run: &mut Run<'_>,
    ) -> Result<Node> {
        let ahead = ReadAhead::new(child_plan, &child, CAUTIOUS);
        Ok(Box::new(IncrementalSortNode {
            child,
            ahead,
            columns: sort_columns(keys, &child_plan.info.target_list, run)?,
            presorted,
            bound: None,
            given: 0,
            sorted: None,
            input: None,
        }))
    }

    fn same(&self, a: (&Batch, usize), b: (&Batch, usize)) -> bool {
        self.columns[..self.presorted]
            .iter()
            .all(|c| c.order(a.0.get(a.1, c.column), b.0.get(b.1, c.column)).is_eq())
    }

    /// The number of rows to read next, after `read` rows of a group. All of them are needed if the
    /// bound leaves more rows to return; the rows after that show where the group ends.
    fn request(&mut self, left: Option<usize>, read: usize) -> usize {
        match left {
            Some(left) if left > read => self.ahead.rows_of(left - read),
            _ => self.ahead.rows(),
        }
    }

    /// Sorts the next group of rows that are equal in the presorted columns; false at the end.
    fn next_set(&mut self, run: &mut Run<'_>) -> Result<bool> {
        let left = self.bound.map(|b| b.saturating_sub(self.given));
        let mut sorter: Option<Sorter> = None;
        let mut last: Option<Batch> = None;
        let mut rows = 0;
        loop {
            let (b, from) = match self.input.take() {
                Some(x) => x,
                None => {
                    let ask = self.request(left, rows);
                    match self.child.next(run, ask)? {
                        Some(b) if b.len == 0 => continue,
                        Some(b) => (b, 0),
                        None => break,
                    }
                }
            };
            run.interrupts()?;
            let mut to = from;
            while to < b.len {
                let same = match (&last, to > from) {
                    (_, true) => self.same((&b, to - 1), (&b, to)),
                    (Some(l), false) => self.same((l, 0), (&b, to)),
                    (None, false) => true,
                };
                if !same {
                    break;
                }
                to += 1;
            }
            if to > from {
                let mut part = b.empty_like();
                part.extend_range(&b, from, to);
                let s = sorter.get_or_insert_with(|| {
                    Sorter::new(self.columns.clone(), run.sv.work_mem(), left)
                });
                s.push(run.sv, &part)?;
                rows += part.len;
                let mut one = b.empty_like();
                one.extend_range(&b, to - 1, to);
                last = Some(one);
            }
            if to < b.len {
                self.input = Some((b, to));
                break;
            }
        }
        let Some(mut s) = sorter else { return Ok(false) };
        s.finish(run.sv)?;
        self.sorted = Some(s);
        Ok(true)
    }
}

impl Exec for IncrementalSortNode {
    fn is_volatile(&self) -> bool {
        self.child.is_volatile()
    }

    fn next(&mut self, run: &mut Run<'_>, want: usize) -> Result<Option<Batch>> {
        loop {
            if let Some(s) = &mut self.sorted {
                if let Some(b) = s.next(want)? {
                    self.given += b.len;
                    return Ok(Some(b));
                }
                self.sorted = None;
            }
            if self.bound.is_some_and(|b| self.given >= b) || !self.next_set(run)? {
                return Ok(None);
            }
        }
    }

    fn rescan(&mut self, run: &mut Run<'_>) -> Result<()> {
        self.sorted = None;
        self.input = None;
        self.given = 0;
        self.ahead.restart();
        self.child.rescan(run)
    }

    fn reset(&mut self, run: &mut Run<'_>) -> Result<bool> {
        self.sorted = None;
        self.input = None;
        self.given = 0;
        self.ahead.restart();
        self.child.reset(run)
    }

    fn set_bound(&mut self, bound: Option<usize>) {
        self.bound = bound;
    }
}

/// Keeps the child's rows, so that a rescan does not run the child again unless a parameter has
/// changed.
pub(crate) struct MaterialNode {
    child: Node,
    ahead: ReadAhead,
    /// Dependencies of the child's rows.
    dependencies: Dependencies,
    rows: RowStore,
    started: bool,
    ended: bool,
    at: usize,
}

impl MaterialNode {
    pub(crate) fn boxed(child: Node, plan: &Plan, run: &Run<'_>) -> Node {
        let dependencies = Dependencies::new(&[plan], &[], run);
        let rows = RowStore::new(run.sv.work_mem());
        let ahead = ReadAhead::new(plan, &child, CAUTIOUS);
        let (started, ended) = (false, false);
        Box::new(MaterialNode { child, ahead, dependencies, rows, started, ended, at: 0 })
    }
}

impl Exec for MaterialNode {
    fn is_volatile(&self) -> bool {
        self.child.is_volatile()
    }

    fn next(&mut self, run: &mut Run<'_>, _: usize) -> Result<Option<Batch>> {
        if let Some(b) = self.rows.get(self.at)? {
            self.at += 1;
            return Ok(Some((*b).clone()));
        }
        if self.ended {
            return Ok(None);
        }
        if !std::mem::replace(&mut self.started, true) {
            self.dependencies.record(run);
        }
        loop {
            let computation = self.dependencies.computation();
            let rows = self.ahead.rows();
            match computation.perform(run, |run| self.child.next(run, rows))? {
                Some(b) if b.len == 0 => run.interrupts()?,
                Some(b) => {
                    self.rows.push(run.sv, Arc::new(b.clone()))?;
                    self.at += 1;
                    return Ok(Some(b));
                }
                None => {
                    self.ended = true;
                    return Ok(None);
                }
            }
        }
    }

    fn rescan(&mut self, run: &mut Run<'_>) -> Result<()> {
        self.at = 0;
        if self.started && self.dependencies.changed(run) {
            self.rows.clear();
            self.started = false;
            self.ended = false;
            self.ahead.restart();
            self.child.rescan(run)?;
        }
        Ok(())
    }

    fn reset(&mut self, run: &mut Run<'_>) -> Result<bool> {
        self.rows.clear();
        self.started = false;
        self.ended = false;
        self.at = 0;
        self.ahead.restart();
        self.child.reset(run)
    }
}

/// Compiles grouping columns: their keys, and their positions in the child's rows.
pub(crate) fn group_keys(
    keys: &GroupKeys,
    targets: &[TargetEntry],
    run: &mut Run<'_>,
) -> Result<(Keys, Vec<usize>)> {
    let mut out = Vec::new();
    let mut cols = Vec::new();
    for (i, col) in keys.cols.iter().enumerate() {
        let at = *col as usize - 1;
        let ty = targets.get(at).map_or(Oid::INVALID, |t| t.expr.type_oid());
        out.push(Key::new(ty, keys.eq_operators[i], keys.collations[i], run.sv)?);
        cols.push(at);
    }
    Ok((Keys(out), cols))
}

/// Returns the first of consecutive rows with equal keys.
pub(crate) struct UniqueNode {
    child: Node,
    keys: Keys,
    cols: Vec<usize>,
    last: Option<(Batch, usize)>,
}

impl UniqueNode {
    pub(crate) fn boxed(
        child: Node,
        keys: &GroupKeys,
        targets: &[TargetEntry],
        run: &mut Run<'_>,
    ) -> Result<Node> {
        let (keys, cols) = group_keys(keys, targets, run)?;
        Ok(Box::new(UniqueNode { child, keys, cols, last: None }))
    }
}

impl Exec for UniqueNode {
    fn is_volatile(&self) -> bool {
        self.child.is_volatile()
    }

    fn next(&mut self, run: &mut Run<'_>, want: usize) -> Result<Option<Batch>> {
        let Some(batch) = self.child.next(run, want)? else { return Ok(None) };
        let mut keep: Vec<u16> = Vec::new();
        for r in 0..batch.len {
            let row = self.cols.iter().map(|&c| batch.get(r, c));
            let same = match (r, &self.last) {
                (0, None) => false,
                (0, Some((b, l))) => {
                    let prev = self.cols.iter().map(|&c| b.get(*l, c));
                    self.keys.equal(row, prev, run.sv)?
                }
                _ => {
                    let prev = self.cols.iter().map(|&c| batch.get(r - 1, c));
                    self.keys.equal(row, prev, run.sv)?
                }
            };
            if !same {
                keep.push(r as u16);
            }
        }
        let out = if keep.len() == batch.len { batch.clone() } else { batch.gather(&keep) };
        if batch.len > 0 {
            let l = batch.len - 1;
            self.last = Some((batch, l));
        }
        Ok(Some(out))
    }

    fn rescan(&mut self, run: &mut Run<'_>) -> Result<()> {
        self.last = None;
        self.child.rescan(run)
    }

    fn reset(&mut self, run: &mut Run<'_>) -> Result<bool> {
        self.last = None;
        self.child.reset(run)
    }
}

pub(crate) struct LimitNode {
    child: Node,
    offset: Option<Program>,
    count: Option<Program>,
    ties: Option<(Keys, Vec<usize>)>,
    bounds: Option<(u64, Option<u64>)>,
    skipped: u64,
    given: u64,
    /// WITH TIES: the last row that was returned, and the rows that were read after it.
    last: Option<(Batch, usize)>,
    ahead: Option<Batch>,
    done: bool,
}

impl LimitNode {
    pub(crate) fn boxed(
        child: Node,
        offset: Option<&Expr>,
        count: Option<&Expr>,
        ties: Option<&GroupKeys>,
        child_plan: &Plan,
        run: &mut Run<'_>,
    ) -> Result<Node> {
        let number = |e: Option<&Expr>, run: &mut Run<'_>| {
            e.map(|e| compile(e, &mut ChildColumns { outer: Source::Scan }, run)).transpose()
        };
        let offset = number(offset, run)?;
        let count = number(count, run)?;
        let ties = match ties {
            Some(t) => Some(group_keys(t, &child_plan.info.target_list, run)?),
            None => None,
        };
        Ok(Box::new(LimitNode {
            child,
            offset,
            count,
            ties,
            bounds: None,
            skipped: 0,
            given: 0,
            last: None,
            ahead: None,
            done: false,
        }))
    }

    fn bounds(&mut self, run: &mut Run<'_>) -> Result<(u64, Option<u64>)> {
        if let Some(b) = self.bounds {
            return Ok(b);
        }
        let mut value = |p: &Option<Program>, what: &str| -> Result<Option<u64>> {
            match p {
                None => Ok(None),
                Some(p) => {
                    let v = p.eval_row(&mut EvalState::default(), run, &RowInput::EMPTY)?;
                    limit_value(v.as_ref(), what)
                }
            }
        };
        let offset = value(&self.offset, "OFFSET")?.unwrap_or(0);
        let count = value(&self.count, "LIMIT")?;
        self.bounds = Some((offset, count));
        let total = count.and_then(|c| usize::try_from(c.saturating_add(offset)).ok());
        self.child.set_bound(total.filter(|_| self.ties.is_none()));
        Ok((offset, count))
    }

    /// Skips the rows of OFFSET. Returns the rows after them that have already been read; `None` at
    /// the end of the input.
    fn skip_offset(&mut self, run: &mut Run<'_>, offset: u64) -> Result<Option<Batch>> {
        let mut rest = Batch::default();
        while self.skipped < offset {
            let rows = (offset - self.skipped).min(BATCH_ROWS_MAX as u64) as usize;
            if let Some(passed) = self.child.skip(run, rows)? {
                if passed == 0 {
                    return Ok(None);
                }
                self.skipped += passed as u64;
                continue;
            }
            let Some(batch) = self.child.next(run, rows)? else { return Ok(None) };
            let passed = rows.min(batch.len);
            self.skipped += passed as u64;
            if passed < batch.len {
                rest = slice(&batch, passed, batch.len);
            }
            self.child.recycle(batch);
        }
        Ok(Some(rest))
    }
}

impl LimitNode {
    /// WITH TIES: the number of leading rows that are peers of the last row returned.
    fn peers(&self, batch: &Batch, run: &mut Run<'_>) -> Result<usize> {
        let (Some((keys, cols)), Some((last, r))) = (&self.ties, &self.last) else { return Ok(0) };
        for row in 0..batch.len {
            let x = cols.iter().map(|&c| batch.get(row, c));
            let y = cols.iter().map(|&c| last.get(*r, c));
            if !keys.equal(x, y, run.sv)? {
                return Ok(row);
            }
        }
        Ok(batch.len)
    }
}

impl Exec for LimitNode {
    fn is_volatile(&self) -> bool {
        self.child.is_volatile()
    }

    fn next(&mut self, run: &mut Run<'_>, want: usize) -> Result<Option<Batch>> {
        if self.done {
            return Ok(None);
        }
        let (offset, count) = self.bounds(run)?;
        loop {
            let left = count.map(|c| c.saturating_sub(self.given));
            if left == Some(0) && (self.ties.is_none() || self.given == 0) {
                self.done = true;
                return Ok(None);
            }
            let rest = match self.skipped < offset {
                true => self.skip_offset(run, offset)?,
                false => Some(Batch::default()),
            };
            let ask = match left {
                // WITH TIES: rows after the last one are read one by one.
                Some(0) => 1,
                Some(l) => want.min(l.min(BATCH_ROWS_MAX as u64) as usize),
                None => want,
            };
            let next = match rest {
                Some(rest) if rest.len > 0 => Some(rest),
                Some(_) => match self.ahead.take() {
                    Some(ahead) => Some(ahead),
                    None => self.child.next(run, ask.max(1))?,
                },
                None => None,
            };
            let Some(batch) = next else {
                self.done = true;
                return Ok(None);
            };
            if batch.len == 0 {
                continue;
            }
            let mut to = batch.len;
            if let Some(l) = left {
                if l == 0 {
                    let peers = self.peers(&batch, run)?;
                    self.done = peers < batch.len;
                    self.given += peers as u64;
                    return Ok((peers > 0).then(|| slice(&batch, 0, peers)));
                }
                to = to.min(l.min(usize::MAX as u64) as usize);
            }
            self.given += to as u64;
            if self.ties.is_some() {
                self.last = Some((batch.clone(), to - 1));
            }
            if to == batch.len {
                return Ok(Some(batch));
            }
            let given = slice(&batch, 0, to);
            if self.ties.is_some() {
                self.ahead = Some(slice(&batch, to, batch.len));
            }
            self.child.recycle(batch);
            return Ok(Some(given));
        }
    }

    fn rescan(&mut self, run: &mut Run<'_>) -> Result<()> {
        self.bounds = None;
        self.skipped = 0;
        self.given = 0;
        self.last = None;
        self.ahead = None;
        self.done = false;
        self.child.rescan(run)
    }

    fn reset(&mut self, run: &mut Run<'_>) -> Result<bool> {
        self.bounds = None;
        self.skipped = 0;
        self.given = 0;
        self.last = None;
        self.ahead = None;
        self.done = false;
        self.child.reset(run)
    }

    fn recycle(&mut self, batch: Batch) {
        self.child.recycle(batch);
    }
}

/// Rows `from..to` of a batch.
pub(crate) fn slice(batch: &Batch, from: usize, to: usize) -> Batch {
    if from == 0 && to == batch.len {
        return batch.clone();
    }
    let mut out = batch.empty_like();
    out.extend_range(batch, from, to);
    out
}
