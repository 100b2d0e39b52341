//! min() and max() over a whole table by an index scan with LIMIT 1. Counterpart: planagg.c.

use crate::appendrel::plain_members;
use crate::scan::is_index_key;
use crate::state::{LevelInput, MinMaxAggregate, Planner, PlannerInfo};
use crate::subselect::exec_param;
use eval::Volatility;
use ids::code::AggKind;
use ids::{Oid, RelKind};
use pgerror::Result;
use plan::expr::{Aggref, Const, Expr, Location, NullTest, SubLinkKind, SubPlan, TargetEntry};
use plan::node::{Plan, PlanInfo, PlanNode};
use plan::query::{JoinTreeNode, LimitOption, Query, RteKind, SortGroupClause};
use querytree::path::{Path, PathKind, PathSet};
use querytree::refs::{CreatedPlan, targets_of};
use querytree::relids::Relids;
use querytree::stage::Grouping;
use querytree::vars::{conjunction, conjuncts, relids_of};
use std::rc::Rc;
use types::Datum;

impl Planner<'_> {
    /// A path with init plans with LIMIT 1 in place of the aggregation, if all aggregates are min
    /// or max over indexed or constant expressions, or if there are none because their results are
    /// not used. `None` if none of `paths` is more expensive.
    pub(crate) fn min_max_path(
        &mut self,
        root: &mut PlannerInfo,
        stage: &Rc<Grouping>,
        paths: &PathSet,
    ) -> Result<Option<Path>> {
        let Some(cost) = paths.cheapest().map(|p| p.total) else { return Ok(None) };
        let (want, having) = (&stage.want, &stage.having);
        let q = &root.query;
        // GROUP BY () also has exactly one group.
        let plain = q.group_clause.is_empty()
            && q.grouping_sets.len() <= 1
            && !q.has_window_funcs
            && root.ctes.is_empty();
        let [JoinTreeNode::Rtr(rti)] = q.jointree.fromlist.as_slice() else { return Ok(None) };
        let rti = *rti;
        let Some(rel) = root.rels.get(&rti) else { return Ok(None) };
        let table = rel.table.clone();
        let appends = match &q.rte(rti).kind {
            RteKind::Subquery { subquery, .. } => plain_members(subquery).is_some(),
            _ => root.members.trees.contains(&rti),
        };
        if table.is_none() && !appends {
            return Ok(None);
        }
        let has_plans = |e: &Expr| {
            plan::walk::any(e, &mut |x| matches!(x, Expr::SubPlan(_) | Expr::SubLink(_)))
        };
        let subplans = q.jointree.quals.iter().chain(want).chain(having).any(has_plans);
        let other_kind = match q.rte(rti).kind {
            RteKind::Relation { relkind, .. } => !matches!(
                relkind,
                RelKind::Table | RelKind::MaterializedView | RelKind::PartitionedTable
            ),
            _ => false,
        };
        if !plain || subplans || other_kind {
            return Ok(None);
        }
        let mut aggs: Vec<Aggref> = Vec::new();
        for e in want.iter().chain(having) {
            collect(e, &mut aggs);
        }
        let mut found = Vec::new();
        let mut total = 0.0;
        for agg in &aggs {
            let simple = agg.aggorder.is_empty()
                && agg.aggdistinct.is_empty()
                && agg.aggfilter.is_none()
                && agg.aggkind == AggKind::Normal
                && agg.agglevelsup == 0;
            let [arg] = agg.args.as_slice() else { return Ok(None) };
            let sort_op = self.host.aggregate(agg.aggfnoid)?.sort_op;
            let indexes = table.iter().flat_map(|t| &t.indexes);
            let indexed = appends
                || indexes
                    .filter(|i| i.capabilities.ordered)
                    .any(|i| i.keys.iter().any(|k| is_index_key(&arg.expr, rti, k)));
            // An expression with one value in all rows needs no index.
            let fixed = relids_of(&arg.expr).is_empty() || root.constants.contains(&arg.expr);
            if !simple
                || !(indexed || fixed)
                || !sort_op.is_valid()
                || eval::volatility(&arg.expr, self.host)? == Volatility::Volatile
            {
                return Ok(None);
            }
            let Some(mut query) = self.first_of(&root.query, &arg.expr, sort_op)? else {
                return Ok(None);
            };
            query.rtable.truncate(root.members.own_entries);
            let input = LevelInput { tuple_fraction: 1.0, ..root.input.clone() };
            let planned = self.plan_level(query, input)?;
            let presorted = planned.paths.unparameterized().filter(|p| !sorts(p));
            let Some(path) = presorted.min_by(|a, b| a.total.total_cmp(&b.total)).cloned() else {
                return Ok(None);
            };
            total += path.total;
            if total >= cost {
                return Ok(None);
            }
            found.push(MinMaxAggregate { aggregate: agg.clone(), level: planned.root, path });
        }
        if found.is_empty() && !root.query.has_aggs {
            return Ok(None);
        }
        root.min_max = found;
        Ok(Some(Path {
            kind: PathKind::MinMax { stage: stage.clone() },
            relids: Relids::new(),
            rows: 1.0,
            width: self.row_width(root, want)?,
            startup: total,
            total: total + self.host.costs().cpu_tuple,
            order: Vec::new(),
            outer: Relids::new(),
        }))
    }

    /// Creates the init plans and the Result node of a path.
    pub(crate) fn create_min_max(
        &mut self,
        root: &mut PlannerInfo,
        path: &Path,
        stage: &Grouping,
    ) -> Result<CreatedPlan> {
        let mut params = Vec::new();
        for mut found in std::mem::take(&mut root.min_max) {
            let plan = self.create_level(&mut found.level, &found.path)?;
            let of = plan.info.target_list[0].expr.clone();
            let per_call_cost = plan.info.total_cost;
            self.subplans.push(plan);
            let plan_id = self.subplans.len() as u32;
            let agg = Expr::Aggref(Box::new(found.aggregate));
            let id = self.new_param(agg.type_oid());
            root.init_plans.push(Expr::SubPlan(Box::new(SubPlan {
                kind: SubLinkKind::Expr,
                testexpr: None,
                param_ids: Vec::new(),
                plan_id,
                plan_name: format!("InitPlan {plan_id} (returns ${id})"),
                first_col_type: of.type_oid(),
                first_col_typmod: of.typmod(),
                first_col_collation: of.collation(),
                use_hash_table: false,
                unknown_eq_false: false,
                set_param: vec![id],
                par_param: Vec::new(),
                args: Vec::new(),
                startup_cost: 0.0,
                per_call_cost,
            })));
            params.push((exec_param(id, &agg), agg));
        }
        let replaced = |e: &Expr| {
            let mut e = e.clone();
            replace(&mut e, &params);
            e
        };
        let output = targets_of(&stage.want);
        let list = output.iter();
        let target_list = list.map(|t| TargetEntry { expr: replaced(&t.expr), ..t.clone() });
        let info = PlanInfo { target_list: target_list.collect(), ..path.info() };
        let constant_qual = stage.having.iter().map(replaced).collect();
        let node = PlanNode::Result { child: None, constant_qual };
        Ok(CreatedPlan { plan: Plan { info, node }, output })
    }

    /// `SELECT arg … WHERE arg IS NOT NULL ORDER BY arg LIMIT 1` over the query's FROM and WHERE.
    fn first_of(&mut self, query: &Query, arg: &Expr, sort_op: Oid) -> Result<Option<Query>> {
        let Some(order) = self.host.ordering(sort_op)? else { return Ok(None) };
        let ops = self.host.default_operators(arg.type_oid())?;
        let mut q = query.clone();
        q.has_aggs = false;
        q.having_qual = None;
        q.distinct_clause.clear();
        q.target_list = targets_of(std::slice::from_ref(arg));
        q.target_list[0].ressortgroupref = 1;
        q.sort_clause = vec![SortGroupClause {
            tle_sort_group_ref: 1,
            eqop: ops.eq,
            sortop: sort_op,
            nulls_first: order.descending,
            hashable: false,
        }];
        q.limit_offset = None;
        q.limit_count = Some(Expr::Const(Const {
            consttype: types::oids::INT8,
            consttypmod: -1,
            constcollid: Oid::INVALID,
            constlen: 8,
            constbyval: true,
            value: Datum::int8(1),
            location: Location::UNKNOWN,
        }));
        q.limit_option = LimitOption::Count;
        q.has_target_srfs = false;
        q.grouping_sets.clear();
        let mut quals = vec![Expr::NullTest(Box::new(NullTest {
            arg: arg.clone(),
            is_not: true,
            argisrow: false,
            location: Location::UNKNOWN,
        }))];
        if let Some(old) = q.jointree.quals.take() {
            conjuncts(old, &mut quals);
        }
        q.jointree.quals = conjunction(quals);
        Ok(Some(q))
    }
}

fn collect(e: &Expr, out: &mut Vec<Aggref>) {
    match e {
        Expr::Aggref(a) => {
            if !out.contains(a) {
                out.push((**a).clone());
            }
        }
        _ => plan::walk::each_child(e, &mut |c| collect(c, out)),
    }
}

fn replace(e: &mut Expr, params: &[(Expr, Expr)]) {
    if let Some((param, _)) = params.iter().find(|(_, agg)| agg == e) {
        *e = param.clone();
        return;
    }
    plan::walk::each_child_mut(e, &mut |c| replace(c, params));
}

/// True if the path sorts, so that all rows are read before the first is returned.
fn sorts(path: &Path) -> bool {
    match &path.kind {
        PathKind::Limit { child } | PathKind::Project { child, .. } => sorts(child),
        PathKind::Sort { .. } | PathKind::IncrementalSort { .. } => true,
        _ => false,
    }
}
