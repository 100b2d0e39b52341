//! DISTINCT and DISTINCT ON: sorted or hashed. Counterpart: planner.c (`create_distinct_paths`).

use crate::group::{AggInput, AggWork};
use crate::state::{Planner, PlannerInfo};
use pgerror::{Result, pg_err};
use plan::expr::{AggSplit, Expr, TargetEntry};
use plan::node::{Agg, AggStrategy, Plan, PlanInfo, PlanNode};
use querytree::path::{Path, PathKey, PathKind, PathRef, PathSet, starts_with};
use querytree::refs::{CreatedPlan, pass_through};
use querytree::vars::target_for;
use std::rc::Rc;

impl Planner<'_> {
    /// The paths of DISTINCT above `paths`. `order` is that of the level's ORDER BY.
    pub(crate) fn distinct_paths(
        &mut self,
        root: &PlannerInfo,
        paths: &PathSet,
        order: &[PathKey],
        targets: &[TargetEntry],
    ) -> Result<PathSet> {
        let mut out = paths.above();
        let Some(cheapest) = paths.cheapest() else { return Ok(out) };
        let q = &root.query;
        let clauses = &q.distinct_clause;
        let grouped = q.has_aggs
            || !q.group_clause.is_empty()
            || !q.grouping_sets.is_empty()
            || q.having_qual.is_some();
        let groups = if grouped {
            cheapest.rows
        } else {
            let mut exprs: Vec<Expr> = Vec::with_capacity(clauses.len());
            for c in clauses {
                exprs.push(target_for(c, targets)?.clone());
            }
            self.group_count(root, &exprs, cheapest.rows)?
        };
        if clauses.iter().all(|d| d.sortop.is_valid()) {
            let own = self.order_of(root, clauses, targets)?;
            let needed = self.distinct_order(root, order, targets)?;
            let presorted = if q.has_distinct_on { &needed } else { &own };
            for p in paths.unparameterized().filter(|p| starts_with(&p.order, presorted)) {
                out.add(self.unique_path(p, own.len(), groups));
            }
            if !starts_with(&cheapest.order, &needed) {
                let sorted = Rc::new(self.sorted(cheapest, &needed, None));
                out.add(self.unique_path(&sorted, own.len(), groups));
            }
        }
        let allowed =
            out.paths.is_empty() || !q.has_distinct_on && self.host.costs().enable_hashagg;
        if allowed && clauses.iter().all(|d| d.hashable) {
            let c = self.host.costs();
            let mut startup =
                cheapest.total + cheapest.rows * c.cpu_operator * clauses.len() as f64;
            startup += self.hash_spill_cost(&AggInput::of(cheapest), groups, &AggWork::default());
            out.add(Path {
                kind: PathKind::Distinct { child: cheapest.clone(), hashed: true },
                startup,
                total: startup + groups * c.cpu_tuple,
                rows: groups,
                order: Vec::new(),
                ..Path::clone(cheapest)
            });
        }
        if out.paths.is_empty() {
            return Err(pg_err!(FEATURE_NOT_SUPPORTED, "could not implement DISTINCT").detail(
                "Some of the datatypes only support hashing, while others only support sorting.",
            ));
        }
        Ok(out)
    }

    /// A path with a Unique node above `child`.
    fn unique_path(&self, child: &PathRef, columns: usize, groups: f64) -> Path {
        let unit = self.host.costs().cpu_operator;
        Path {
            kind: PathKind::Distinct { child: child.clone(), hashed: false },
            total: child.total + unit * child.rows * columns as f64,
            rows: groups,
            ..Path::clone(child)
        }
    }

    /// The ORDER BY columns first, then the remaining DISTINCT columns.
    fn distinct_order(
        &mut self,
        root: &PlannerInfo,
        order: &[PathKey],
        targets: &[TargetEntry],
    ) -> Result<Vec<PathKey>> {
        let mut out = order.to_vec();
        for k in self.order_of(root, &root.query.distinct_clause, targets)? {
            if !out.iter().any(|o| o.is_same_value(&k)) {
                out.push(k);
            }
        }
        Ok(out)
    }

    /// Creates the node that removes the duplicates.
    pub(crate) fn create_distinct(
        &mut self,
        root: &mut PlannerInfo,
        path: &Path,
        child: &Path,
        hashed: bool,
    ) -> Result<CreatedPlan> {
        let made = self.create(root, child, &[])?;
        let targets = root.query.target_list.clone();
        let keys = self.group_keys(&root.query.distinct_clause, &targets, &made.output)?;
        let info = PlanInfo { target_list: pass_through(&made.output), ..path.info() };
        let child = Box::new(made.plan);
        let node = match hashed {
            false => PlanNode::Unique { child, keys },
            true => PlanNode::Agg(Box::new(Agg {
                child,
                strategy: AggStrategy::Hashed,
                split: AggSplit::Simple,
                keys,
                num_groups: path.rows,
                grouping_sets: Vec::new(),
                chain: Vec::new(),
            })),
        };
        Ok(CreatedPlan { plan: Plan { info, node }, output: made.output })
    }
}
