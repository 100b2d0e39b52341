//! The common part of the join nodes: the join condition on a pair of rows, and the output of
//! pairs.
//!
//! The columns of both sides that the output needs are gathered in one batch. The filter above the
//! join and the target list are evaluated over that batch.

use crate::instrument::Counts;
use crate::node::{ChildColumns, DeferredError, compile_all};
use crate::project::Projection;
use crate::run::Run;
use eval::{EvalState, Program, Resolve, RowInput, RowRef, Slot, Source, select_true};
use pgerror::{PgError, Result};
use plan::expr::{Expr, Var};
use plan::node::Plan;
use types::{Batch, Column};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Outer,
    Inner,
}

/// Columns of both sides, in the order of the joined batch.
#[derive(Default)]
struct JoinedColumns {
    columns: Vec<(Side, usize, ids::Oid)>,
}

impl Resolve for JoinedColumns {
    fn var(&mut self, var: &Var) -> Result<Slot> {
        let side = match var.varno {
            Var::OUTER => Side::Outer,
            Var::INNER => Side::Inner,
            other => {
                return Err(PgError::internal(format!("column of relation {other} in a join")));
            }
        };
        let at = var.varattno as usize - 1;
        let column = match self.columns.iter().position(|c| (c.0, c.1) == (side, at)) {
            Some(i) => i,
            None => {
                self.columns.push((side, at, var.vartype));
                self.columns.len() - 1
            }
        };
        Ok(Slot { source: Source::Scan, column })
    }
}

/// Columns that the joined batch takes from both sides, in order.
struct PairColumns {
    columns: Vec<(Side, usize)>,
    template: Batch,
}

impl PairColumns {
    fn new(found: JoinedColumns, run: &mut Run<'_>) -> Result<PairColumns> {
        let mut template = Batch::default();
        for (_, _, ty) in &found.columns {
            let by_val = run.sv.as_facts().type_info(*ty)?.by_val;
            template.columns.push(Column::new(by_val));
        }
        let columns = found.columns.into_iter().map(|(side, at, _)| (side, at)).collect();
        Ok(PairColumns { columns, template })
    }

    fn push(&self, outer: RowRef<'_>, inner: RowRef<'_>, out: &mut Batch) {
        for ((side, at), column) in self.columns.iter().zip(&mut out.columns) {
            match side {
                Side::Outer => outer.push_to(*at, column),
                Side::Inner => inner.push_to(*at, column),
            }
        }
        out.len += 1;
    }

    /// Joins one outer row with the rows `rows` of an inner batch (`None`: all rows).
    fn push_one_to_many(
        &self,
        outer: (&Batch, usize),
        inner: &Batch,
        rows: Option<&[u16]>,
        out: &mut Batch,
    ) {
        let count = rows.map_or(inner.len, <[u16]>::len);
        for ((side, at), column) in self.columns.iter().zip(&mut out.columns) {
            match (side, rows) {
                (Side::Outer, _) => column.push_from(&outer.0.columns[*at], outer.1, count),
                (Side::Inner, Some(rows)) => column.extend_rows(&inner.columns[*at], rows),
                (Side::Inner, None) => column.extend_range(&inner.columns[*at], 0, inner.len),
            }
        }
        out.len += count;
    }
}

/// Row number of the null-extended side of a pair.
pub(crate) const NO_ROW: u32 = u32::MAX;

/// The output columns of a join and the conditions on a pair of rows.
pub(crate) struct Pairs {
    join_qual: Option<(Program, EvalState)>,
    /// The same condition, compiled over a batch of the joined columns that it needs.
    batch_qual: Option<(Program, EvalState, PairColumns)>,
    pair_columns: PairColumns,
    projection: Projection,
    /// Number of pairs that failed the join condition.
    unmatched: u64,
    deferred: DeferredError,
}

impl Pairs {
    pub(crate) fn new(plan: &Plan, join_qual: &[Expr], run: &mut Run<'_>) -> Result<Pairs> {
        let (row_qual, batch_qual) = match join_qual {
            [] => (None, None),
            q => {
                let row = compile_all(q, &mut ChildColumns { outer: Source::Outer }, run)?;
                let mut cols = JoinedColumns::default();
                let batch = compile_all(q, &mut cols, run)?;
                let pair_columns = PairColumns::new(cols, run)?;
                (
                    Some((row, EvalState::default())),
                    Some((batch, EvalState::default(), pair_columns)),
                )
            }
        };
        let mut cols = JoinedColumns::default();
        let projection = Projection::new(&plan.info.target_list, &plan.info.qual, &mut cols, run)?;
        let pair_columns = PairColumns::new(cols, run)?;
        Ok(Pairs {
            join_qual: row_qual,
            batch_qual,
            pair_columns,
            projection,
            unmatched: 0,
            deferred: DeferredError::default(),
        })
    }

    pub(crate) fn has_join_qual(&self) -> bool {
        self.join_qual.is_some()
    }

    /// True if pairs that are not used must not be evaluated.
    pub(crate) fn is_volatile(&self) -> bool {
        self.projection.is_volatile()
    }

    /// An empty joined batch.
    pub(crate) fn start(&self) -> Batch {
        self.pair_columns.template.clone()
    }

    pub(crate) fn matches(
        &mut self,
        run: &mut Run<'_>,
        outer: RowRef<'_>,
        inner: RowRef<'_>,
    ) -> Result<bool> {
        match &mut self.join_qual {
            None => Ok(true),
            Some((p, st)) => {
                let yes = p.test_row(st, run, &RowInput { scan: RowRef::Nulls, outer, inner })?;
                self.unmatched += u64::from(!yes);
                Ok(yes)
            }
        }
    }

    /// Stores the counters of a join.
    pub(crate) fn report(&self, counts: &mut Counts) {
        counts.removed = self.unmatched;
        counts.removed_late = self.projection.removed;
    }

    /// The rows of an inner batch that match an outer row; `None` if all rows do.
    pub(crate) fn matching_rows(
        &mut self,
        run: &mut Run<'_>,
        outer: (&Batch, usize),
        inner: &Batch,
    ) -> Result<Option<Vec<u16>>> {
        let Some((p, st, pair_columns)) = &mut self.batch_qual else { return Ok(None) };
        let mut joined = pair_columns.template.clone();
        pair_columns.push_one_to_many(outer, inner, None, &mut joined);
        let rows = select_true(p, st, run, &joined, None)?;
        self.unmatched += (inner.len - rows.len()) as u64;
        Ok(if rows.len() == inner.len { None } else { Some(rows) })
    }

    /// Adds a pair.
    pub(crate) fn push(&self, outer: RowRef<'_>, inner: RowRef<'_>, out: &mut Batch) {
        self.pair_columns.push(outer, inner, out);
    }

    /// Adds an outer row with each of the rows `rows` of an inner batch.
    pub(crate) fn push_one_to_many(
        &self,
        outer: (&Batch, usize),
        inner: &Batch,
        rows: Option<&[u16]>,
        out: &mut Batch,
    ) {
        self.pair_columns.push_one_to_many(outer, inner, rows, out);
    }

    /// Adds pairs by their row numbers; [`NO_ROW`] on the inner side means NULLs.
    pub(crate) fn push_numbers(
        &self,
        outer: &Batch,
        outer_rows: &[u16],
        inner: &Batch,
        inner_rows: &[u32],
        out: &mut Batch,
    ) {
        let gaps = inner_rows.contains(&NO_ROW);
        for ((side, at), column) in self.pair_columns.columns.iter().zip(&mut out.columns) {
            match side {
                Side::Outer => column.extend_rows(&outer.columns[*at], outer_rows),
                Side::Inner if gaps => {
                    for &r in inner_rows {
                        match r {
                            NO_ROW => column.push_null(),
                            r => column.push_from(&inner.columns[*at], r as usize, 1),
                        }
                    }
                }
                Side::Inner => column.extend_rows(&inner.columns[*at], inner_rows),
            }
        }
        out.len += outer_rows.len();
    }

    /// The remaining part of the rows that were joined last, or the error raised after them. Called
    /// before more rows are joined.
    pub(crate) fn rest(&mut self, run: &mut Run<'_>) -> Result<Option<Batch>> {
        if let Some(rest) = self.projection.rest(run)? {
            return Ok(Some(rest));
        }
        self.deferred.raise()?;
        Ok(None)
    }

    /// For a rescan: drops rows and errors not yet returned.
    pub(crate) fn restart(&mut self) {
        self.projection.restart();
        self.deferred = DeferredError::default();
    }

    /// Filters and projects the joined rows. `found` is the result of the search for pairs.
    pub(crate) fn finish(
        &mut self,
        run: &mut Run<'_>,
        joined: Batch,
        found: Result<()>,
    ) -> Result<Batch> {
        self.deferred.defer(joined.len, found)?;
        self.projection.apply(run, joined)
    }
}
