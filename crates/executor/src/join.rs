//! Nested-loop join. Counterpart: nodeNestloop.c.

use crate::instrument::Counts;
use crate::node::{ChildColumns, Exec, Node, compile};
use crate::pairs::Pairs;
use crate::readahead::{BOLD, ReadAhead};
use crate::run::Run;
use eval::{EvalState, Host, Program, RowInput, RowRef, Source};
use pgerror::{PgError, Result};
use plan::node::{Plan, PlanNode};
use plan::query::JoinType;
use types::{BATCH_ROWS_MAX, Batch};

/// Factor by which the number of requested inner rows increases while an outer row finds too few
/// matches.
const INNER_GROWTH: usize = 4;

/// Scans the inner side for each outer row. Unlike PostgreSQL's node, it also performs full joins.
pub(crate) struct NestLoopNode {
    jointype: JoinType,
    outer: Node,
    /// One outer row may have many matches.
    ahead: ReadAhead,
    inner: Node,
    pairs: Pairs,
    params: Vec<(i32, Program, EvalState)>,
    /// At most one inner row matches an outer one.
    inner_unique: bool,
    outer_batch: Option<(Batch, usize)>,
    /// The inner scan for the current outer row has begun.
    inner_open: bool,
    inner_batch: Option<(Batch, usize)>,
    /// Number of inner rows to ask for next, at most `BATCH_ROWS_MAX`: few at first if the first
    /// matches are enough, so that a scan of many rows need not find more of them.
    inner_ask: usize,
    /// Factor by which `inner_ask` increases: 1 if the inner side is volatile.
    inner_growth: usize,
    matched: bool,
    first: bool,
    /// Full join: number of the next inner row, and which inner rows have matched.
    inner_at: usize,
    inner_matched: Vec<bool>,
    /// Full join: the last scan of the inner side, for its unmatched rows, has begun.
    emitting_unmatched: bool,
}

impl NestLoopNode {
    pub(crate) fn boxed(plan: &Plan, outer: Node, inner: Node, run: &mut Run<'_>) -> Result<Node> {
        let PlanNode::NestLoop {
            jointype,
            join_qual,
            nest_params,
            inner_unique,
            outer: outer_plan,
            ..
        } = &plan.node
        else {
            return Err(PgError::internal("nested loop expected"));
        };
        let (jointype, inner_unique) = (*jointype, *inner_unique);
        if jointype == JoinType::Right {
            return Err(PgError::internal("nested loop for a right join"));
        }
        let pairs = Pairs::new(plan, join_qual, run)?;
        let ahead = ReadAhead::new(outer_plan, &outer, BOLD);
        let inner_growth = if inner.is_volatile() { 1 } else { INNER_GROWTH };
        let mut params = Vec::new();
        for (id, e) in nest_params {
            let p = compile(e, &mut ChildColumns { outer: Source::Outer }, run)?;
            params.push((*id, p, EvalState::default()));
        }
        Ok(Box::new(NestLoopNode {
            jointype,
            outer,
            ahead,
            inner,
            pairs,
            params,
            inner_unique,
            outer_batch: None,
            inner_open: false,
            inner_batch: None,
            inner_ask: 1,
            inner_growth,
            matched: false,
            first: true,
            inner_at: 0,
            inner_matched: Vec::new(),
            emitting_unmatched: false,
        }))
    }

    /// Full join: returns the unmatched inner rows.
    fn emit_unmatched_inner(
        &mut self,
        run: &mut Run<'_>,
        want: usize,
        out: &mut Batch,
    ) -> Result<()> {
        if !std::mem::replace(&mut self.emitting_unmatched, true) {
            if !std::mem::replace(&mut self.first, false) {
                self.inner.rescan(run)?;
            }
            self.inner_at = 0;
            self.inner_batch = None;
        }
        while out.len < want {
            let (ib, ii) = match &mut self.inner_batch {
                Some(x) => x,
                slot => match self.inner.next(run, BATCH_ROWS_MAX)? {
                    Some(b) => slot.insert((b, 0)),
                    None => break,
                },
            };
            if *ii >= ib.len {
                self.inner_batch = None;
                run.interrupts()?;
                continue;
            }
            if !self.inner_matched.get(self.inner_at).copied().unwrap_or(false) {
                self.pairs.push(RowRef::Nulls, RowRef::Batch(ib, *ii), out);
            }
            *ii += 1;
            self.inner_at += 1;
        }
        Ok(())
    }

    /// Joins the current outer row until `out` is full; true when its inner rows are exhausted.
    fn join_row(&mut self, run: &mut Run<'_>, want: usize, out: &mut Batch) -> Result<bool> {
        let Some((ob, oi)) = &self.outer_batch else { return Ok(true) };
        let outer = (ob, *oi);
        let outer_row = RowRef::Batch(ob, *oi);
        let semi = matches!(self.jointype, JoinType::Semi | JoinType::Anti);
        let single = semi || (self.inner_unique && self.jointype != JoinType::Full);
        loop {
            let (ib, ii) = match &mut self.inner_batch {
                Some(x) => x,
                slot => {
                    let room = if single { 1 } else { want.saturating_sub(out.len) };
                    let ask = self.inner_ask.max(room).min(BATCH_ROWS_MAX);
                    self.inner_ask = match self.inner_growth {
                        1 => 1,
                        growth => ask.saturating_mul(growth),
                    };
                    match self.inner.next(run, ask)? {
                        Some(b) => slot.insert((b, 0)),
                        None => return Ok(true),
                    }
                }
            };
            if *ii >= ib.len {
                if let Some((b, _)) = self.inner_batch.take() {
                    self.inner.recycle(b);
                }
                run.interrupts()?;
                continue;
            }
            // Fast path: join a whole inner batch if all its rows fit.
            let room = want.saturating_sub(out.len);
            let plain = matches!(self.jointype, JoinType::Inner | JoinType::Left) && !single;
            if plain && *ii == 0 && ib.len > 4 && ib.len <= room {
                let rows = self.pairs.matching_rows(run, outer, ib)?;
                if rows.as_ref().is_none_or(|r| !r.is_empty()) {
                    self.matched = true;
                    self.pairs.push_one_to_many(outer, ib, rows.as_deref(), out);
                }
                self.inner_at += ib.len;
                if let Some((b, _)) = self.inner_batch.take() {
                    self.inner.recycle(b);
                }
                run.interrupts()?;
                if out.len >= want {
                    return Ok(false);
                }
                continue;
            }
            let inner_row = RowRef::Batch(ib, *ii);
            *ii += 1;
            self.inner_at += 1;
            if !self.pairs.matches(run, outer_row, inner_row)? {
                continue;
            }
            self.matched = true;
            if self.jointype == JoinType::Full {
                if self.inner_matched.len() < self.inner_at {
                    self.inner_matched.resize(self.inner_at, false);
                }
                self.inner_matched[self.inner_at - 1] = true;
            }
            if semi {
                return Ok(true);
            }
            self.pairs.push(outer_row, inner_row, out);
            if single {
                return Ok(true);
            }
            if out.len >= want {
                return Ok(false);
            }
        }
    }

    /// Joins until `out` has `want` rows or the input ends.
    fn fill(&mut self, run: &mut Run<'_>, want: usize, out: &mut Batch) -> Result<()> {
        let mut steps = 0u32;
        while out.len < want {
            steps += 1;
            if steps.is_multiple_of(1024) {
                run.interrupts()?;
            }
            let (ob, oi) = match &mut self.outer_batch {
                Some(x) => x,
                slot if !self.emitting_unmatched => {
                    match self.outer.next(run, self.ahead.rows().min(want))? {
                        Some(b) => slot.insert((b, 0)),
                        None if self.jointype == JoinType::Full => {
                            self.emit_unmatched_inner(run, want, out)?;
                            break;
                        }
                        None => break,
                    }
                }
                _ => {
                    self.emit_unmatched_inner(run, want, out)?;
                    break;
                }
            };
            if *oi >= ob.len {
                if let Some((b, _)) = self.outer_batch.take() {
                    self.outer.recycle(b);
                }
                continue;
            }
            let outer_row = RowRef::Batch(ob, *oi);
            if !self.inner_open {
                for (id, p, st) in &mut self.params {
                    let input =
                        RowInput { scan: RowRef::Nulls, outer: outer_row, inner: RowRef::Nulls };
                    let v = p.eval_row(st, run, &input)?.into_owned();
                    run.set_exec_param(*id, v);
                }
                if !std::mem::replace(&mut self.first, false) {
                    self.inner.rescan(run)?;
                }
                self.inner_open = true;
                self.inner_ask = 1;
                self.inner_at = 0;
                if let Some((b, _)) = self.inner_batch.take() {
                    self.inner.recycle(b);
                }
                self.matched = false;
            }
            if !self.join_row(run, want, out)? {
                break;
            }
            let emit_outer = match self.jointype {
                JoinType::Left | JoinType::Anti | JoinType::Full => !self.matched,
                JoinType::Semi => self.matched,
                _ => false,
            };
            if let Some((ob, oi)) = &mut self.outer_batch {
                if emit_outer {
                    self.pairs.push(RowRef::Batch(ob, *oi), RowRef::Nulls, out);
                }
                *oi += 1;
            }
            self.inner_open = false;
        }
        Ok(())
    }
}

impl Exec for NestLoopNode {
    fn is_volatile(&self) -> bool {
        self.pairs.is_volatile() || self.outer.is_volatile() || self.inner.is_volatile()
    }

    fn report(&self, counts: &mut Counts) {
        self.pairs.report(counts);
    }

    fn next(&mut self, run: &mut Run<'_>, want: usize) -> Result<Option<Batch>> {
        if let Some(rest) = self.pairs.rest(run)? {
            return Ok(Some(rest));
        }
        let mut out = self.pairs.start();
        let found = self.fill(run, want, &mut out);
        if found.is_ok() && out.len == 0 && self.outer_batch.is_none() {
            return Ok(None);
        }
        self.pairs.finish(run, out, found).map(Some)
    }

    fn rescan(&mut self, run: &mut Run<'_>) -> Result<()> {
        self.outer_batch = None;
        self.inner_batch = None;
        self.inner_open = false;
        self.inner_matched.clear();
        self.emitting_unmatched = false;
        self.pairs.restart();
        self.ahead.restart();
        self.outer.rescan(run)
    }

    fn reset(&mut self, run: &mut Run<'_>) -> Result<bool> {
        self.outer_batch = None;
        self.inner_open = false;
        self.inner_batch = None;
        self.matched = false;
        self.first = true;
        self.inner_at = 0;
        self.inner_matched = Vec::new();
        self.emitting_unmatched = false;
        self.pairs.restart();
        self.ahead.restart();
        Ok(self.outer.reset(run)? & self.inner.reset(run)?)
    }
}
