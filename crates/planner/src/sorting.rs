//! Costs of sorts and of LIMIT, and the paths that sort. Counterpart: costsize.c (`cost_tuplesort`,
//! `cost_incremental_sort`), pathnode.c (`adjust_limit_rows_costs`), planner.c
//! (`preprocess_limit`, `create_ordered_paths`).

use crate::rel::clamp_rows;
use crate::state::{Planner, PlannerInfo};
use crate::width::table_size;
use pgerror::Result;
use plan::expr::Expr;
use plan::query::Query;
use querytree::path::{Path, PathKey, PathKind, PathRef, PathSet, common_prefix, starts_with};
use std::rc::Rc;

const PAGE: f64 = 8192.0;
/// Memory of one input run of a merge: a tape buffer and the read-ahead buffer.
const RUN_BUFFER: f64 = 34.0 * PAGE;
/// Estimated number of distinct values without statistics.
const GROUPS_DEFAULT: f64 = 200.0;

impl Planner<'_> {
    /// Startup and total cost of a sort of all rows.
    pub(crate) fn sort_cost(&self, below: f64, rows: f64, width: i32) -> (f64, f64) {
        self.bounded_sort_cost(below, rows, width, None)
    }

    /// As [`Planner::sort_cost`]; if only the first `limit` rows are needed, others are discarded
    /// early.
    pub(crate) fn bounded_sort_cost(
        &self,
        below: f64,
        rows: f64,
        width: i32,
        limit: Option<f64>,
    ) -> (f64, f64) {
        let (startup, total) = self.tuple_sort_cost(below, rows, width, limit);
        let penalty = if self.host.costs().enable_sort { 0.0 } else { 1e10 };
        (startup + penalty, total + penalty)
    }

    /// Cost of a sort, whether or not sorts are enabled. Counterpart: `cost_tuplesort`.
    fn tuple_sort_cost(&self, below: f64, rows: f64, width: i32, limit: Option<f64>) -> (f64, f64) {
        let c = self.host.costs();
        let rows = rows.max(2.0);
        let kept = limit.map_or(rows, |l| l.min(rows));
        let bytes = table_size(rows, width);
        let compare = 2.0 * c.cpu_operator * rows;
        let mut startup = below;
        if table_size(kept, width) > c.work_mem {
            let runs = bytes / c.work_mem;
            let order = (c.work_mem / RUN_BUFFER).floor().clamp(6.0, 500.0);
            let passes = if runs > order { (runs.ln() / order.ln()).ceil() } else { 1.0 };
            let accesses = 2.0 * (bytes / PAGE).ceil() * passes;
            startup += compare * rows.log2();
            startup += accesses * (c.seq_page * 0.75 + c.random_page * 0.25);
        } else if rows > 2.0 * kept || bytes > c.work_mem {
            startup += compare * (2.0 * kept).log2();
        } else {
            startup += compare * rows.log2();
        }
        (startup, startup + c.cpu_operator * rows)
    }

    /// Cost of an incremental sort of the path's rows in `sets` presorted groups.
    fn incremental_sort_cost(&self, p: &Path, sets: f64, limit: Option<f64>) -> (f64, f64) {
        let c = self.host.costs();
        let rows = p.rows.max(2.0);
        let run = (p.total - p.startup) / sets;
        let (startup, total) = self.tuple_sort_cost(0.0, 1.5 * rows / sets, p.width, limit);
        let first = startup + p.startup + run;
        let rest = (total - startup)
            + (total + run) * (sets - 1.0)
            + c.cpu_tuple * rows
            + 2.0 * c.cpu_tuple * sets;
        (first, first + rest)
    }

    /// A path with a full sort above `p`.
    pub(crate) fn sorted(&self, p: &PathRef, order: &[PathKey], limit: Option<f64>) -> Path {
        let (startup, total) = self.bounded_sort_cost(p.total, p.rows, p.width, limit);
        Path {
            kind: PathKind::Sort { child: p.clone() },
            startup,
            total,
            order: order.to_vec(),
            ..Path::clone(p)
        }
    }

    /// A path with an incremental sort above `p`, if `p` already has a part of the order.
    pub(crate) fn sorted_further(
        &mut self,
        root: &PlannerInfo,
        p: &PathRef,
        order: &[PathKey],
        limit: Option<f64>,
    ) -> Result<Option<Path>> {
        let presorted = common_prefix(&p.order, order);
        if presorted == 0 || !self.host.costs().enable_incremental_sort {
            return Ok(None);
        }
        let exprs: Vec<Expr> = order[..presorted].iter().map(|k| Expr::clone(&k.expr)).collect();
        let mut sets = self.group_count(root, &exprs, p.rows)?;
        if root.rels.is_empty() {
            sets = sets.min(GROUPS_DEFAULT);
        }
        let (startup, total) = self.incremental_sort_cost(p, sets, limit);
        let kind = PathKind::IncrementalSort { child: p.clone(), presorted };
        let order = order.to_vec();
        Ok(Some(Path { kind, startup, total, order, ..Path::clone(p) }))
    }

    /// The paths in this order: those of `paths` that have it, the cheapest one sorted, and those
    /// with a part of the order sorted incrementally.
    pub(crate) fn ordered_paths(
        &mut self,
        root: &PlannerInfo,
        paths: PathSet,
        order: &[PathKey],
    ) -> Result<PathSet> {
        if order.is_empty() {
            return Ok(paths);
        }
        let limit = self.limit_tuples(&root.query);
        let mut out = paths.above();
        let cheapest = paths.cheapest().cloned();
        for p in paths.unparameterized() {
            if starts_with(&p.order, order) {
                out.add_ref(p.clone());
                continue;
            }
            if cheapest.as_ref().is_some_and(|c| Rc::ptr_eq(c, p)) {
                out.add(self.sorted(p, order, limit));
            }
            if let Some(further) = self.sorted_further(root, p, order, limit)? {
                out.add(further);
            }
        }
        Ok(out)
    }

    /// The number of rows up to the end of LIMIT, if it is known.
    pub(crate) fn limit_tuples(&self, query: &Query) -> Option<f64> {
        match (bound(&query.limit_count), bound(&query.limit_offset)) {
            (Bound::Known(count), Bound::Known(skip)) => Some(count.max(1.0) + skip),
            (Bound::Known(count), Bound::None) => Some(count.max(1.0)),
            _ => None,
        }
    }

    /// The tuple fraction of the output that LIMIT, or the level above, will fetch: 0 is all, a
    /// number below 1 is a fraction, others are a count.
    pub(crate) fn limit_fraction(&self, root: &PlannerInfo) -> f64 {
        let asked = root.tuple_fraction;
        let (count, skip) = (bound(&root.query.limit_count), bound(&root.query.limit_offset));
        let own = match (count, skip) {
            (Bound::None, Bound::None) => return asked,
            (Bound::None, _) if asked <= 0.0 => return asked,
            // The rows skipped are fetched as well.
            (Bound::None, Bound::Known(skip)) if asked >= 1.0 => return asked + skip,
            (Bound::None, _) => return if asked >= 1.0 { 0.1 } else { 0.0 },
            (Bound::Known(count), Bound::Known(skip)) => count.max(1.0) + skip,
            (Bound::Known(count), Bound::None) => count.max(1.0),
            _ => 0.1,
        };
        match (asked > 0.0, asked >= 1.0, own >= 1.0) {
            (false, ..) | (_, false, true) => own,
            (_, true, true) => asked.min(own),
            (_, true, false) => asked,
            (_, false, false) => asked * own,
        }
    }

    /// A path with a Limit node above `p`.
    pub(crate) fn limited(&self, query: &Query, p: &PathRef) -> Path {
        let estimate = |b: Bound, without: f64| match b {
            Bound::None => without,
            Bound::Known(n) => n,
            Bound::Unknown => clamp_rows(p.rows * 0.1),
        };
        let skip = estimate(bound(&query.limit_offset), 0.0).min(p.rows);
        let per_row = (p.total - p.startup) / p.rows.max(1.0);
        let startup = p.startup + per_row * skip;
        let left = (p.rows - skip).max(1.0);
        let count = estimate(bound(&query.limit_count), left).min(left);
        Path {
            kind: PathKind::Limit { child: p.clone() },
            startup,
            total: (startup + per_row * count).min(p.total.max(startup)),
            rows: clamp_rows(count),
            ..Path::clone(p)
        }
    }
}

/// The value of LIMIT or OFFSET, as far as it is known.
#[derive(Clone, Copy)]
enum Bound {
    None,
    Known(f64),
    Unknown,
}

fn bound(e: &Option<Expr>) -> Bound {
    match e {
        None => Bound::None,
        Some(Expr::Const(c)) if c.is_null() => Bound::None,
        Some(Expr::Const(c)) => Bound::Known((c.value.as_ref().as_i64() as f64).max(0.0)),
        Some(_) => Bound::Unknown,
    }
}

/// True if LIMIT or OFFSET may remove rows, or must be refused. Counterpart: `limit_needed`.
pub(crate) fn limits_rows(query: &Query) -> bool {
    let skips = match &query.limit_offset {
        Some(Expr::Const(c)) => !c.is_null() && c.value.as_ref().as_i64() != 0,
        other => other.is_some(),
    };
    skips || !matches!(bound(&query.limit_count), Bound::None)
}
