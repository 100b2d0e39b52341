//! Sort, Material, Unique, Limit. Counterpart: nodeSort.c, nodeMaterial.c, nodeUnique.c, nodeLimit.c.

use crate::depend::Dependence;
use crate::keys::{Key, Keys};
use crate::node::*;
use crate::run::Run;
use crate::source::limit_value;
use eval::{EvalState, Program, RowInput, Source};
use ids::Oid;
use pgerror::Result;
use plan::expr::{Expr, TargetEntry};
use plan::node::{GroupKeys, Plan, SortKeys};
use std::cmp::Ordering;
use types::compare::CompareFn;
use types::{BATCH_ROWS_MAX, Batch, DatumRef};

/// One sort column.
#[derive(Clone, Copy)]
pub(crate) struct SortColumn {
    pub column: usize,
    pub cmp: CompareFn,
    pub collation: Oid,
    pub descending: bool,
    pub nulls_first: bool,
}

impl SortColumn {
    pub(crate) fn order(&self, a: DatumRef<'_>, b: DatumRef<'_>) -> Ordering {
        match (a.is_null(), b.is_null()) {
            (true, true) => Ordering::Equal,
            (true, false) if self.nulls_first => Ordering::Less,
            (true, false) => Ordering::Greater,
            (false, true) if self.nulls_first => Ordering::Greater,
            (false, true) => Ordering::Less,
            (false, false) => {
                let o = (self.cmp)(a, b, self.collation);
                if self.descending { o.reverse() } else { o }
            }
        }
    }
}

pub(crate) fn sort_columns(keys: &SortKeys, run: &mut Run<'_>) -> Result<Vec<SortColumn>> {
    let mut out = Vec::new();
    for (i, col) in keys.cols.iter().enumerate() {
        let (cmp, descending) = run.sv.sort_operator(keys.operators[i])?;
        out.push(SortColumn {
            column: *col as usize - 1,
            cmp,
            collation: keys.collations[i],
            descending,
            nulls_first: keys.nulls_first[i],
        });
    }
    Ok(out)
}

/// Rows of several batches in sorted order.
#[derive(Default)]
pub(crate) struct SortedRows {
    batches: Vec<Batch>,
    /// (batch, row)
    order: Vec<(u32, u32)>,
    at: usize,
}

impl SortedRows {
    pub(crate) fn sort(batches: Vec<Batch>, columns: &[SortColumn]) -> SortedRows {
        let mut order = Vec::new();
        for (b, batch) in batches.iter().enumerate() {
            order.extend((0..batch.len as u32).map(|r| (b as u32, r)));
        }
        // Stable, so that equal rows keep the order in which they came.
        order.sort_by(|x, y| {
            for c in columns {
                let a = batches[x.0 as usize].get(x.1 as usize, c.column);
                let b = batches[y.0 as usize].get(y.1 as usize, c.column);
                let o = c.order(a, b);
                if o.is_ne() {
                    return o;
                }
            }
            Ordering::Equal
        });
        SortedRows { batches, order, at: 0 }
    }

    pub(crate) fn next(&mut self, want: usize) -> Option<Batch> {
        if self.at >= self.order.len() {
            return None;
        }
        let first = self.batches.first()?;
        let mut out = Batch::new(first.columns.iter().map(types::Column::is_by_val));
        let end = (self.at + want).min(self.order.len());
        for (c, column) in out.columns.iter_mut().enumerate() {
            for &(b, r) in &self.order[self.at..end] {
                column.push(self.batches[b as usize].get(r as usize, c));
            }
        }
        out.len = end - self.at;
        self.at = end;
        Some(out)
    }
}

pub(crate) struct SortNode {
    child: Node,
    columns: Vec<SortColumn>,
    sorted: Option<SortedRows>,
}

impl SortNode {
    pub(crate) fn boxed(
        child: Node,
        keys: &SortKeys,
        _: &[TargetEntry],
        run: &mut Run<'_>,
    ) -> Result<Node> {
        Ok(Box::new(SortNode { child, columns: sort_columns(keys, run)?, sorted: None }))
    }
}

impl Exec for SortNode {
    fn next(&mut self, run: &mut Run<'_>, want: usize) -> Result<Option<Batch>> {
        let sorted = match &mut self.sorted {
            Some(s) => s,
            slot => {
                let mut batches = Vec::new();
                while let Some(b) = self.child.next(run, BATCH_ROWS_MAX)? {
                    if b.len > 0 {
                        batches.push(b);
                    }
                    run.interrupts()?;
                }
                slot.insert(SortedRows::sort(batches, &self.columns))
            }
        };
        Ok(sorted.next(want))
    }

    fn rescan(&mut self, run: &mut Run<'_>) -> Result<()> {
        self.sorted = None;
        self.child.rescan(run)
    }

    fn reset(&mut self, run: &mut Run<'_>) -> Result<bool> {
        self.sorted = None;
        self.child.reset(run)
    }
}

/// Keeps the child's rows, so that a rescan does not run it again unless a parameter has changed.
pub(crate) struct MaterialNode {
    child: Node,
    depends: Dependence,
    batches: Vec<Batch>,
    ended: bool,
    at: usize,
}

impl MaterialNode {
    pub(crate) fn boxed(child: Node, plan: &Plan, run: &Run<'_>) -> Node {
        let depends = Dependence::new(plan, run);
        Box::new(MaterialNode { child, depends, batches: Vec::new(), ended: false, at: 0 })
    }
}

impl Exec for MaterialNode {
    fn next(&mut self, run: &mut Run<'_>, _: usize) -> Result<Option<Batch>> {
        if let Some(b) = self.batches.get(self.at) {
            self.at += 1;
            return Ok(Some(b.clone()));
        }
        if self.ended {
            return Ok(None);
        }
        if self.batches.is_empty() {
            self.depends.record(run);
        }
        match self.child.next(run, BATCH_ROWS_MAX)? {
            Some(b) => {
                self.batches.push(b.clone());
                self.at += 1;
                Ok(Some(b))
            }
            None => {
                self.ended = true;
                Ok(None)
            }
        }
    }

    fn rescan(&mut self, run: &mut Run<'_>) -> Result<()> {
        self.at = 0;
        if (self.ended || !self.batches.is_empty()) && self.depends.changed(run) {
            self.batches.clear();
            self.ended = false;
            self.child.rescan(run)?;
        }
        Ok(())
    }

    fn reset(&mut self, run: &mut Run<'_>) -> Result<bool> {
        self.batches = Vec::new();
        self.ended = false;
        self.at = 0;
        self.child.reset(run)
    }
}

/// The columns by which neighbours are told apart.
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
        out.push(Key::new(ty, keys.eq_operators[i], keys.collations[i], run)?);
        cols.push(at);
    }
    Ok((Keys(out), cols))
}

/// Of neighbours with equal keys, the first.
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
    fn next(&mut self, run: &mut Run<'_>, want: usize) -> Result<Option<Batch>> {
        let Some(batch) = self.child.next(run, want)? else { return Ok(None) };
        let mut out = Batch::new(batch.columns.iter().map(types::Column::is_by_val));
        let mut last_here: Option<usize> = None;
        for r in 0..batch.len {
            let row = self.cols.iter().map(|&c| batch.get(r, c));
            let same = match (last_here, &self.last) {
                (Some(l), _) => {
                    let prev = self.cols.iter().map(|&c| batch.get(l, c));
                    self.keys.equal(row, prev, run)?
                }
                (None, Some((b, l))) => {
                    let prev = self.cols.iter().map(|&c| b.get(*l, c));
                    self.keys.equal(row, prev, run)?
                }
                (None, None) => false,
            };
            if !same {
                for (c, column) in out.columns.iter_mut().enumerate() {
                    column.push(batch.get(r, c));
                }
                out.len += 1;
                last_here = Some(r);
            }
        }
        if let Some(l) = last_here {
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
    last: Option<(Batch, usize)>,
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
        Ok((offset, count))
    }
}

impl Exec for LimitNode {
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
            let to_skip = offset - self.skipped;
            let ask = match left {
                // Rows after the last are looked at one by one for ties.
                Some(0) => 1,
                Some(l) => (l.saturating_add(to_skip)).min(BATCH_ROWS_MAX as u64) as usize,
                None => want.max(to_skip.min(BATCH_ROWS_MAX as u64) as usize),
            };
            let ask = if to_skip > 0 { ask } else { ask.min(want) };
            let Some(batch) = self.child.next(run, ask.max(1))? else {
                self.done = true;
                return Ok(None);
            };
            let mut from = 0;
            if to_skip > 0 {
                from = to_skip.min(batch.len as u64) as usize;
                self.skipped += from as u64;
            }
            if from >= batch.len {
                continue;
            }
            let mut to = batch.len;
            if let Some(l) = left {
                if l == 0 {
                    // A tie with the last row given?
                    let same = match (&self.ties, &self.last) {
                        (Some((keys, cols)), Some((b, r))) => {
                            let x = cols.iter().map(|&c| batch.get(from, c));
                            let y = cols.iter().map(|&c| b.get(*r, c));
                            keys.equal(x, y, run)?
                        }
                        _ => false,
                    };
                    if !same {
                        self.done = true;
                        return Ok(None);
                    }
                    self.given += 1;
                    return Ok(Some(slice(&batch, from, from + 1)));
                }
                to = to.min(from + l.min(usize::MAX as u64) as usize);
            }
            self.given += (to - from) as u64;
            if self.ties.is_some() {
                self.last = Some((batch.clone(), to - 1));
            }
            return Ok(Some(slice(&batch, from, to)));
        }
    }

    fn rescan(&mut self, run: &mut Run<'_>) -> Result<()> {
        self.bounds = None;
        self.skipped = 0;
        self.given = 0;
        self.last = None;
        self.done = false;
        self.child.rescan(run)
    }

    fn reset(&mut self, run: &mut Run<'_>) -> Result<bool> {
        self.bounds = None;
        self.skipped = 0;
        self.given = 0;
        self.last = None;
        self.done = false;
        self.child.reset(run)
    }
}

/// Rows `from..to` of a batch.
pub(crate) fn slice(batch: &Batch, from: usize, to: usize) -> Batch {
    if from == 0 && to == batch.len {
        return batch.clone();
    }
    let rows: Vec<u16> = (from as u16..to as u16).collect();
    Batch {
        len: rows.len(),
        columns: batch.columns.iter().map(|c| crate::project::take(c, Some(&rows))).collect(),
    }
}
