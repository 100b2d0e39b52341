//! Finds the exec parameters that a plan reads: when one of them changes, rows cached by an earlier
//! scan are stale. Counterpart: subselect.c (`finalize_plan`).

use crate::expr::{Expr, ParamKind};
use crate::node::{BitmapNode, IndexProbe, Plan, PlanNode};
use crate::walk;
use std::collections::BTreeSet;

/// Exec parameters that some plans and expressions read, sub-plans included.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ParamRefs {
    /// All that are read.
    pub read: Vec<i32>,
    /// Those that are read but not set within these plans and expressions: the results depend on
    /// them.
    pub free: Vec<i32>,
}

/// The exec parameters that these plans and expressions read.
pub fn param_refs(plans: &[&Plan], exprs: &[&Expr], subplans: &[Plan]) -> ParamRefs {
    let seen = vec![false; subplans.len()];
    let mut finder = Finder { subplans, seen, out: BTreeSet::new(), set: BTreeSet::new() };
    plans.iter().for_each(|p| finder.plan(p));
    exprs.iter().for_each(|e| finder.expr(e));
    let free = finder.out.difference(&finder.set).copied().collect();
    ParamRefs { read: finder.out.into_iter().collect(), free }
}

/// The sub-plans that the plan runs, directly or through others.
pub fn used_subplans(plan: &Plan, subplans: &[Plan]) -> Vec<bool> {
    let seen = vec![false; subplans.len()];
    let mut finder = Finder { subplans, seen, out: BTreeSet::new(), set: BTreeSet::new() };
    finder.plan(plan);
    finder.seen
}

struct Finder<'p> {
    subplans: &'p [Plan],
    seen: Vec<bool>,
    out: BTreeSet<i32>,
    set: BTreeSet<i32>,
}

impl Finder<'_> {
    fn add(&mut self, id: i32) {
        self.out.insert(id);
    }

    fn sub(&mut self, plan_id: u32) {
        let at = (plan_id as usize).wrapping_sub(1);
        if let Some(seen) = self.seen.get_mut(at)
            && !std::mem::replace(seen, true)
        {
            self.plan(&self.subplans[at]);
        }
    }

    fn expr(&mut self, e: &Expr) {
        match e {
            Expr::Param(p) if p.paramkind == ParamKind::Exec => self.add(p.paramid),
            Expr::SubPlan(s) => {
                self.set.extend(s.set_param.iter().chain(&s.par_param).chain(&s.param_ids));
                self.sub(s.plan_id);
            }
            _ => {}
        }
        walk::each_child(e, &mut |c| self.expr(c));
    }

    fn plan(&mut self, plan: &Plan) {
        stdx::stack::deep(|| self.plan_node(plan));
    }

    fn plan_node(&mut self, plan: &Plan) {
        each_expr(plan, &mut |e| self.expr(e));
        match &plan.node {
            PlanNode::CteScan { cte_plan_id, cte_param, .. } => {
                self.add(*cte_param);
                self.sub(*cte_plan_id);
            }
            PlanNode::RecursiveUnion { wt_param, .. } => {
                self.set.insert(*wt_param);
            }
            PlanNode::WorkTableScan { wt_param, .. } => self.add(*wt_param),
            PlanNode::NestLoop { nest_params, .. } => {
                self.set.extend(nest_params.iter().map(|(id, _)| *id));
            }
            _ => {}
        }
        plan.children().into_iter().for_each(|c| self.plan(c));
    }
}

/// Calls `f` on each expression of the node itself, but not on those of its children or of the
/// plans that its SubPlans run.
pub fn each_expr<'p>(plan: &'p Plan, f: &mut dyn FnMut(&'p Expr)) {
    plan.info.target_list.iter().for_each(|t| f(&t.expr));
    plan.info.qual.iter().chain(&plan.info.init_plan).for_each(&mut *f);
    match &plan.node {
        PlanNode::Result { constant_qual, .. } => constant_qual.iter().for_each(f),
        PlanNode::SampleScan { sample, .. } => {
            sample.args.iter().chain(&sample.repeatable).for_each(f);
        }
        PlanNode::IndexScan { probe, .. } | PlanNode::IndexOnlyScan { probe, .. } => {
            probe_exprs(probe, f);
        }
        PlanNode::BitmapHeapScan { bitmap, recheck, .. } => {
            bitmap_exprs(bitmap, f);
            recheck.iter().for_each(f);
        }
        PlanNode::TidScan { tid_quals, .. } | PlanNode::TidRangeScan { tid_quals, .. } => {
            tid_quals.iter().for_each(f);
        }
        PlanNode::FunctionScan { functions, .. } => functions.iter().for_each(|x| f(&x.funcexpr)),
        PlanNode::ValuesScan { values_lists, .. } => values_lists.iter().flatten().for_each(f),
        PlanNode::NestLoop { join_qual, nest_params, .. } => {
            join_qual.iter().chain(nest_params.iter().map(|(_, e)| e)).for_each(f);
        }
        PlanNode::MergeJoin { join_qual, merge_clauses, .. } => {
            join_qual.iter().chain(merge_clauses).for_each(f);
        }
        PlanNode::HashJoin { join_qual, hash_clauses, outer_keys, inner_keys, .. } => {
            join_qual.iter().chain(hash_clauses).for_each(&mut *f);
            outer_keys.iter().chain(inner_keys).for_each(f);
        }
        PlanNode::Memoize { param_exprs, .. } => param_exprs.iter().for_each(f),
        PlanNode::WindowAgg(w) => {
            w.start_offset.iter().chain(&w.end_offset).chain(&w.run_condition).for_each(f);
        }
        PlanNode::Limit { offset, count, .. } => offset.iter().chain(count).for_each(f),
        PlanNode::ModifyTable(m) => {
            let returning = m.returning_lists.iter().flatten().chain(&m.moved_returning);
            returning.for_each(|t| f(&t.expr));
            for action in m.merge_actions.iter().flatten() {
                action.condition.iter().for_each(&mut *f);
                action.target_list.iter().for_each(|t| f(&t.expr));
            }
            let checks = m.with_check_options.iter().flatten().chain(&m.moved_checks);
            checks.filter_map(|w| w.qual.as_ref()).for_each(&mut *f);
            if let Some(c) = &m.on_conflict {
                c.set.iter().map(|t| &t.expr).chain(&c.where_).for_each(f);
            }
        }
        PlanNode::Append { pruning, .. } | PlanNode::MergeAppend { pruning, .. } => {
            let tables = pruning.iter().flat_map(|p| &p.tables);
            tables.for_each(|t| t.condition.each_value(f));
        }
        PlanNode::CteScan { .. }
        | PlanNode::WorkTableScan { .. }
        | PlanNode::NamedTuplestoreScan { .. }
        | PlanNode::RecursiveUnion { .. }
        | PlanNode::Agg(_)
        | PlanNode::ProjectSet { .. }
        | PlanNode::SeqScan { .. }
        | PlanNode::SubqueryScan { .. }
        | PlanNode::Material { .. }
        | PlanNode::Sort { .. }
        | PlanNode::IncrementalSort { .. }
        | PlanNode::Group { .. }
        | PlanNode::Unique { .. }
        | PlanNode::SetOp { .. }
        | PlanNode::LockRows { .. } => {}
    }
}

fn probe_exprs<'p>(p: &'p IndexProbe, f: &mut dyn FnMut(&'p Expr)) {
    p.index_qual.iter().chain(&p.index_qual_orig).chain(&p.order_by).for_each(f);
}

fn bitmap_exprs<'p>(b: &'p BitmapNode, f: &mut dyn FnMut(&'p Expr)) {
    match b {
        BitmapNode::Index { probe, .. } => probe_exprs(probe, f),
        BitmapNode::And { children, .. } | BitmapNode::Or { children, .. } => {
            children.iter().for_each(|c| bitmap_exprs(c, f));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expr::{Location, Param, SubLinkKind, SubPlan, TargetEntry};
    use crate::node::{PlanInfo, ScanDirection, WindowAgg};
    use crate::query::{JoinType, TableSample};
    use ids::Oid;

    fn param(id: i32) -> Expr {
        Expr::Param(Param {
            paramkind: ParamKind::Exec,
            paramid: id,
            paramtype: Oid(23),
            paramtypmod: -1,
            paramcollid: Oid::INVALID,
            location: Location::UNKNOWN,
        })
    }

    fn node(node: PlanNode) -> Plan {
        Plan { info: PlanInfo::default(), node }
    }

    fn leaf() -> Box<Plan> {
        Box::new(node(PlanNode::SeqScan { scanrelid: 1 }))
    }

    fn probe(first: i32) -> IndexProbe {
        IndexProbe {
            indexid: Oid(1),
            index_qual: vec![param(first)],
            index_qual_orig: vec![param(first + 1)],
            order_by: vec![param(first + 2)],
            direction: ScanDirection::Forward,
        }
    }

    fn hash_join() -> PlanNode {
        PlanNode::HashJoin {
            jointype: JoinType::Inner,
            outer: leaf(),
            inner: leaf(),
            join_qual: vec![param(0)],
            inner_unique: false,
            hash_clauses: vec![param(1)],
            operators: Vec::new(),
            collations: Vec::new(),
            outer_keys: vec![param(2)],
            inner_keys: vec![param(3)],
        }
    }

    /// Nodes with parameters 0 to n - 1, one in each expression field of the node kind.
    fn nodes() -> Vec<(i32, PlanNode)> {
        let sample =
            TableSample { tsmhandler: Oid(1), args: vec![param(0)], repeatable: Some(param(1)) };
        let window = WindowAgg {
            child: leaf(),
            winref: 1,
            partition: Default::default(),
            order: Default::default(),
            frame_options: 0,
            start_offset: Some(param(0)),
            end_offset: Some(param(1)),
            start_in_range_func: Oid::INVALID,
            end_in_range_func: Oid::INVALID,
            in_range_coll: Oid::INVALID,
            in_range_asc: true,
            in_range_nulls_first: false,
            run_condition: vec![param(2)],
        };
        let bitmap = BitmapNode::Or {
            info: PlanInfo::default(),
            children: vec![BitmapNode::Index { info: PlanInfo::default(), probe: probe(0) }],
        };
        vec![
            (1, PlanNode::Result { child: None, constant_qual: vec![param(0)] }),
            (2, PlanNode::SampleScan { scanrelid: 1, sample }),
            (3, PlanNode::IndexScan { scanrelid: 1, probe: probe(0) }),
            (
                4,
                PlanNode::BitmapHeapScan {
                    scanrelid: 1,
                    bitmap: Box::new(bitmap),
                    recheck: vec![param(3)],
                },
            ),
            (1, PlanNode::TidScan { scanrelid: 1, tid_quals: vec![param(0)] }),
            (
                2,
                PlanNode::ValuesScan {
                    scanrelid: 1,
                    values_lists: vec![vec![param(0)], vec![param(1)]],
                },
            ),
            (4, hash_join()),
            (
                1,
                PlanNode::Memoize {
                    child: leaf(),
                    param_exprs: vec![param(0)],
                    operators: Vec::new(),
                    collations: Vec::new(),
                    binary_mode: false,
                    single_row: false,
                },
            ),
            (3, PlanNode::WindowAgg(Box::new(window))),
            (
                2,
                PlanNode::Limit {
                    child: leaf(),
                    offset: Some(param(0)),
                    count: Some(param(1)),
                    with_ties: None,
                },
            ),
        ]
    }

    #[test]
    fn all_expressions_of_a_node_are_visited_below_other_nodes() {
        for (n, kind) in nodes() {
            let mut plan = node(kind);
            let target = TargetEntry {
                expr: param(n),
                resno: 1,
                resname: None,
                ressortgroupref: 0,
                resorigtbl: Oid::INVALID,
                resorigcol: 0,
                resjunk: false,
            };
            plan.info.target_list.push(target);
            plan.info.qual.push(param(n + 1));
            let above = node(PlanNode::Material { child: Box::new(plan) });
            let mut found = param_refs(&[&above], &[&param(n + 2)], &[]).free;
            found.sort_unstable();
            assert_eq!(found, (0..=n + 2).collect::<Vec<_>>(), "{:?}", above.children()[0].node);
        }
    }

    #[test]
    fn params_set_by_a_nested_loop_are_read_but_not_free() {
        let loops = node(PlanNode::NestLoop {
            jointype: JoinType::Inner,
            outer: leaf(),
            inner: Box::new(node(PlanNode::TidScan {
                scanrelid: 2,
                tid_quals: vec![param(1), param(2)],
            })),
            join_qual: vec![param(3)],
            inner_unique: false,
            nest_params: vec![(1, param(4))],
        });
        let found = param_refs(&[&loops], &[], &[]);
        assert!(found.read.contains(&1) && !found.free.contains(&1));
        assert!([2, 3, 4].iter().all(|id| found.free.contains(id)));
    }

    #[test]
    fn sub_plans_add_the_params_they_read_but_not_those_they_set() {
        let inner = node(PlanNode::TidScan { scanrelid: 1, tid_quals: vec![param(1), param(2)] });
        let call = Expr::SubPlan(Box::new(SubPlan {
            kind: SubLinkKind::Expr,
            testexpr: None,
            param_ids: Vec::new(),
            plan_id: 1,
            plan_name: String::new(),
            first_col_type: Oid(23),
            first_col_typmod: -1,
            first_col_collation: Oid::INVALID,
            use_hash_table: false,
            unknown_eq_false: false,
            set_param: Vec::new(),
            par_param: vec![1],
            args: vec![param(3)],
            startup_cost: 0.0,
            per_call_cost: 0.0,
        }));
        let found = param_refs(&[], &[&call], &[inner]);
        assert!(found.read.contains(&1));
        let mut free = found.free;
        free.sort_unstable();
        assert_eq!(free, [2, 3]);
    }

    #[test]
    fn a_cte_scan_depends_on_the_params_of_the_with_query() {
        let query = node(PlanNode::TidScan { scanrelid: 1, tid_quals: vec![param(5)] });
        let scan = node(PlanNode::CteScan { scanrelid: 2, cte_plan_id: 1, cte_param: 7 });
        let mut free = param_refs(&[&scan], &[], &[query]).free;
        free.sort_unstable();
        assert_eq!(free, [5, 7]);
    }
}
