//! INTERSECT, EXCEPT and recursive union. Counterpart: nodeSetOp.c, nodeRecursiveunion.c.

use crate::keys::Keys;
use crate::node::*;
use crate::run::Run;
use crate::sort::group_keys;
use hashbrown::HashTable;
use pgerror::Result;
use plan::expr::TargetEntry;
use plan::node::{GroupKeys, Plan};
use plan::query::SetOperation;
use types::{BATCH_ROWS_MAX, Batch, Datum};

/// Distinct rows, found by hash.
#[derive(Default)]
struct RowSet {
    table: HashTable<(u64, u32)>,
    rows: Vec<Vec<Datum>>,
}

impl RowSet {
    /// The place of the row, and whether it is new.
    fn place(
        &mut self,
        batch: &Batch,
        row: usize,
        keys: &Keys,
        cols: &[usize],
        run: &mut Run<'_>,
    ) -> Result<(usize, bool)> {
        let h = keys.hash(cols.iter().map(|&c| batch.get(row, c)), true, run)?.unwrap_or(0);
        for (_, at) in self.table.iter_hash(h).filter(|e| e.0 == h) {
            let have = cols.iter().map(|&c| self.rows[*at as usize][c].as_ref());
            if keys.equal(have, cols.iter().map(|&c| batch.get(row, c)), run)? {
                return Ok((*at as usize, false));
            }
        }
        let at = self.rows.len();
        self.rows.push(batch.row_owned(row));
        self.table.insert_unique(h, (h, at as u32), |e| e.0);
        Ok((at, true))
    }
}

/// Counts each distinct row on both sides and gives as many copies as the operation says.
pub(crate) struct SetOpNode {
    child: Node,
    op: SetOperation,
    all: bool,
    keys: Keys,
    cols: Vec<usize>,
    flag: usize,
    set: RowSet,
    counts: Vec<(u64, u64)>,
    built: bool,
    at: usize,
    template: Batch,
}

impl SetOpNode {
    pub(crate) fn boxed(
        child: Node,
        op: SetOperation,
        all: bool,
        keys: &GroupKeys,
        flag_col: i16,
        targets: &[TargetEntry],
        run: &mut Run<'_>,
    ) -> Result<Node> {
        let (keys, cols) = group_keys(keys, targets, run)?;
        let flag = flag_col as usize - 1;
        let template = batch_for(&targets[..flag.min(targets.len())], run)?;
        Ok(Box::new(SetOpNode {
            child,
            op,
            all,
            keys,
            cols,
            flag,
            set: RowSet::default(),
            counts: Vec::new(),
            built: false,
            at: 0,
            template,
        }))
    }
}

impl Exec for SetOpNode {
    fn next(&mut self, run: &mut Run<'_>, want: usize) -> Result<Option<Batch>> {
        if !std::mem::replace(&mut self.built, true) {
            while let Some(b) = self.child.next(run, BATCH_ROWS_MAX)? {
                run.interrupts()?;
                for r in 0..b.len {
                    let (at, new) = self.set.place(&b, r, &self.keys, &self.cols, run)?;
                    if new {
                        self.counts.push((0, 0));
                    }
                    let right = b.get(r, self.flag).as_i32() != 0;
                    let c = &mut self.counts[at];
                    if right { c.1 += 1 } else { c.0 += 1 }
                }
            }
        }
        let mut out = self.template.clone();
        while out.len < want && self.at < self.counts.len() {
            let (left, right) = self.counts[self.at];
            let copies = match (self.op, self.all) {
                (SetOperation::Intersect, false) => u64::from(left > 0 && right > 0),
                (SetOperation::Intersect, true) => left.min(right),
                (_, false) => u64::from(left > 0 && right == 0),
                (_, true) => left.saturating_sub(right),
            };
            if copies == 0 {
                self.at += 1;
                continue;
            }
            for (c, column) in out.columns.iter_mut().enumerate() {
                column.push(self.set.rows[self.at][c].as_ref());
            }
            out.len += 1;
            // The rest of the copies come with the next turns.
            if copies == 1 {
                self.at += 1;
            } else {
                let spend = &mut self.counts[self.at];
                spend.0 -= 1;
                if self.op == SetOperation::Intersect {
                    spend.1 -= 1;
                }
            }
        }
        Ok(if out.len == 0 { None } else { Some(out) })
    }

    fn rescan(&mut self, run: &mut Run<'_>) -> Result<()> {
        self.set = RowSet::default();
        self.counts.clear();
        self.built = false;
        self.at = 0;
        self.child.rescan(run)
    }

    fn reset(&mut self, run: &mut Run<'_>) -> Result<bool> {
        self.set = RowSet::default();
        self.counts = Vec::new();
        self.built = false;
        self.at = 0;
        self.child.reset(run)
    }
}

/// The starting rows, then round after round what the recursive part makes of the last round's.
pub(crate) struct RecursiveUnionNode {
    outer: Node,
    inner: Node,
    wt_param: i32,
    dedup: Option<(Keys, Vec<usize>)>,
    seen: RowSet,
    /// Rows of the round being made.
    next_round: Vec<Batch>,
    starting: bool,
    inner_fresh: bool,
    done: bool,
}

impl RecursiveUnionNode {
    pub(crate) fn boxed(
        plan: &Plan,
        outer: Node,
        inner: Node,
        wt_param: i32,
        dedup: &GroupKeys,
        run: &mut Run<'_>,
    ) -> Result<Node> {
        let dedup = if dedup.cols.is_empty() {
            None
        } else {
            Some(group_keys(dedup, &plan.info.target_list, run)?)
        };
        Ok(Box::new(RecursiveUnionNode {
            outer,
            inner,
            wt_param,
            dedup,
            seen: RowSet::default(),
            next_round: Vec::new(),
            starting: true,
            inner_fresh: true,
            done: false,
        }))
    }

    /// The rows not seen before.
    fn fresh(&mut self, batch: Batch, run: &mut Run<'_>) -> Result<Batch> {
        let Some((keys, cols)) = &self.dedup else { return Ok(batch) };
        let mut out = Batch::new(batch.columns.iter().map(types::Column::is_by_val));
        for r in 0..batch.len {
            if self.seen.place(&batch, r, keys, cols, run)?.1 {
                for (c, column) in out.columns.iter_mut().enumerate() {
                    column.push(batch.get(r, c));
                }
                out.len += 1;
            }
        }
        Ok(out)
    }
}

impl Exec for RecursiveUnionNode {
    fn next(&mut self, run: &mut Run<'_>, _: usize) -> Result<Option<Batch>> {
        loop {
            if self.done {
                return Ok(None);
            }
            run.interrupts()?;
            let batch = if self.starting {
                self.outer.next(run, BATCH_ROWS_MAX)?
            } else {
                self.inner.next(run, BATCH_ROWS_MAX)?
            };
            match batch {
                Some(b) => {
                    let b = self.fresh(b, run)?;
                    if b.len > 0 {
                        self.next_round.push(b.clone());
                        return Ok(Some(b));
                    }
                }
                None => {
                    self.starting = false;
                    if self.next_round.is_empty() {
                        self.done = true;
                        continue;
                    }
                    let round = std::mem::take(&mut self.next_round);
                    run.st.work_tables.insert(self.wt_param, round);
                    run.st.versions[self.wt_param as usize] += 1;
                    if !std::mem::replace(&mut self.inner_fresh, false) {
                        self.inner.rescan(run)?;
                    }
                }
            }
        }
    }

    fn rescan(&mut self, run: &mut Run<'_>) -> Result<()> {
        self.seen = RowSet::default();
        self.next_round.clear();
        self.starting = true;
        self.done = false;
        self.outer.rescan(run)?;
        if !self.inner_fresh {
            self.inner.rescan(run)?;
            self.inner_fresh = true;
        }
        Ok(())
    }

    fn reset(&mut self, run: &mut Run<'_>) -> Result<bool> {
        self.seen = RowSet::default();
        self.next_round = Vec::new();
        self.starting = true;
        self.done = false;
        self.inner_fresh = true;
        Ok(self.outer.reset(run)? & self.inner.reset(run)?)
    }
}
