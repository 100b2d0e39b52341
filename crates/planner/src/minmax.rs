//! min() and max() over a whole table by an index scan with LIMIT 1. Counterpart: planagg.c.

use crate::create::Made;
use crate::glob::{Glob, LevelInput, Root};
use crate::refs::targets_of;
use crate::scan::is_index_key;
use crate::subselect::exec_param;
use crate::vars::{conjunction, conjuncts, relids_of};
use eval::Volatility;
use ids::Oid;
use pgerror::Result;
use plan::expr::{Aggref, Const, Expr, Location, NullTest, SubLinkKind, SubPlan, TargetEntry};
use plan::node::{Plan, PlanInfo, PlanNode};
use plan::query::{JoinTreeNode, LimitOption, Query, RteKind, SortGroupClause};
use types::Datum;

impl Glob<'_> {
    /// Replaces the aggregation by init plans with LIMIT 1, if all aggregates are min or max over
    /// indexed or constant expressions and that is cheaper than `cost`. `want` and `having` are the
    /// expressions above the aggregation.
    pub(crate) fn min_max(
        &mut self,
        root: &mut Root,
        want: &[Expr],
        having: &[Expr],
        cost: f64,
    ) -> Result<Option<Made>> {
        let q = &root.query;
        // GROUP BY () has one group, too.
        let plain = q.group_clause.is_empty()
            && q.grouping_sets.len() <= 1
            && !q.has_window_funcs
            && root.ctes.is_empty();
        let [JoinTreeNode::Rtr(rti)] = q.jointree.fromlist.as_slice() else { return Ok(None) };
        let rti = *rti;
        let Some(table) = root.rels.get(&rti).and_then(|r| r.table.clone()) else {
            return Ok(None);
        };
        let has_plans = |e: &Expr| {
            plan::walk::any(e, &mut |x| matches!(x, Expr::SubPlan(_) | Expr::SubLink(_)))
        };
        let subplans = q.jointree.quals.iter().chain(want).chain(having).any(has_plans);
        if !plain
            || subplans
            || matches!(q.rte(rti).kind, RteKind::Relation { relkind, .. } if relkind != b'r' && relkind != b'm')
        {
            return Ok(None);
        }
        let mut aggs: Vec<Aggref> = Vec::new();
        for e in want.iter().chain(having) {
            collect(e, &mut aggs);
        }
        let mut plans = Vec::new();
        let mut total = 0.0;
        for agg in &aggs {
            let simple = agg.aggorder.is_empty()
                && agg.aggdistinct.is_empty()
                && agg.aggfilter.is_none()
                && agg.aggkind == b'n'
                && agg.agglevelsup == 0;
            let [arg] = agg.args.as_slice() else { return Ok(None) };
            let sort_op = self.facts.aggregate(agg.aggfnoid)?.sort_op;
            let indexed = table
                .indexes
                .iter()
                .filter(|i| i.capabilities.ordered)
                .any(|i| i.keys.iter().any(|k| is_index_key(&arg.expr, rti, k)));
            // An expression with one value in all rows needs no index.
            let fixed = relids_of(&arg.expr).is_empty() || root.constants.contains(&arg.expr);
            if !simple
                || !(indexed || fixed)
                || !sort_op.is_valid()
                || eval::volatility(&arg.expr, self.facts)? == Volatility::Volatile
            {
                return Ok(None);
            }
            let Some(query) = self.first_of(&root.query, &arg.expr, sort_op)? else {
                return Ok(None);
            };
            let input = LevelInput { tuple_fraction: 1.0, ..root.input.clone() };
            let planned = self.plan_level(query, input)?;
            if sorts(&planned.plan) {
                return Ok(None);
            }
            total += planned.plan.info.total_cost;
            if total >= cost {
                return Ok(None);
            }
            plans.push((agg.clone(), planned));
        }
        if plans.is_empty() {
            return Ok(None);
        }
        let mut params = Vec::new();
        for (agg, planned) in plans {
            let of = planned.plan.info.target_list[0].expr.clone();
            let per_call_cost = planned.plan.info.total_cost;
            self.subplans.push(planned.plan);
            let plan_id = self.subplans.len() as u32;
            let agg = Expr::Aggref(Box::new(agg));
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
        let output = targets_of(want);
        let info = PlanInfo {
            startup_cost: total,
            total_cost: total + self.facts.costs().cpu_tuple,
            plan_rows: 1.0,
            plan_width: self.row_width(root, want)?,
            target_list: output
                .iter()
                .map(|t| TargetEntry { expr: replaced(&t.expr), ..t.clone() })
                .collect(),
            ..PlanInfo::default()
        };
        let constant_qual = having.iter().map(replaced).collect();
        let node = PlanNode::Result { child: None, constant_qual };
        Ok(Some(Made { plan: Plan { info, node }, output }))
    }

    /// `SELECT arg … WHERE arg IS NOT NULL ORDER BY arg LIMIT 1` over the query's FROM and WHERE.
    fn first_of(&mut self, query: &Query, arg: &Expr, sort_op: Oid) -> Result<Option<Query>> {
        let Some(order) = self.facts.ordering(sort_op)? else { return Ok(None) };
        let ops = self.facts.default_operators(arg.type_oid())?;
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

/// True if the plan sorts, so that all rows are read before the first is returned.
fn sorts(plan: &Plan) -> bool {
    match &plan.node {
        PlanNode::Limit { child, .. } | PlanNode::Result { child: Some(child), .. } => sorts(child),
        PlanNode::Sort { .. } | PlanNode::IncrementalSort { .. } => true,
        _ => false,
    }
}
