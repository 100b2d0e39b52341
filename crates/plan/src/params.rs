//! Which exec parameters a plan reads: if one changes, rows kept from an earlier run are stale.
//! Counterpart: finalize_plan of subselect.c.

use crate::expr::{Expr, ParamKind};
use crate::node::{BitmapNode, IndexProbe, Plan, PlanNode};
use crate::walk;

/// The exec parameters that the plan and the sub-plans it uses read but do not set.
pub fn exec_params(plan: &Plan, subplans: &[Plan]) -> Vec<i32> {
    let seen = vec![false; subplans.len()];
    let mut finder = Finder { subplans, seen, out: Vec::new(), set: Vec::new() };
    finder.plan(plan);
    let Finder { mut out, set, .. } = finder;
    out.retain(|id| !set.contains(id));
    out
}

struct Finder<'p> {
    subplans: &'p [Plan],
    seen: Vec<bool>,
    out: Vec<i32>,
    set: Vec<i32>,
}

impl Finder<'_> {
    fn add(&mut self, id: i32) {
        if !self.out.contains(&id) {
            self.out.push(id);
        }
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

    fn all<'e>(&mut self, exprs: impl IntoIterator<Item = &'e Expr>) {
        exprs.into_iter().for_each(|e| self.expr(e));
    }

    fn probe(&mut self, p: &IndexProbe) {
        self.all(p.index_qual.iter().chain(&p.index_qual_orig).chain(&p.order_by));
    }

    fn bitmap(&mut self, b: &BitmapNode) {
        match b {
            BitmapNode::Index { probe, .. } => self.probe(probe),
            BitmapNode::And { children, .. } | BitmapNode::Or { children, .. } => {
                children.iter().for_each(|c| self.bitmap(c));
            }
        }
    }

    fn plan(&mut self, plan: &Plan) {
        self.all(plan.info.target_list.iter().map(|t| &t.expr));
        self.all(plan.info.qual.iter().chain(&plan.info.init_plan));
        match &plan.node {
            PlanNode::Result { constant_qual, .. } => self.all(constant_qual),
            PlanNode::SampleScan { sample, .. } => {
                self.all(sample.args.iter().chain(&sample.repeatable));
            }
            PlanNode::IndexScan { probe, .. } | PlanNode::IndexOnlyScan { probe, .. } => {
                self.probe(probe);
            }
            PlanNode::BitmapHeapScan { bitmap, recheck, .. } => {
                self.bitmap(bitmap);
                self.all(recheck);
            }
            PlanNode::TidScan { tid_quals, .. } | PlanNode::TidRangeScan { tid_quals, .. } => {
                self.all(tid_quals);
            }
            PlanNode::FunctionScan { functions, .. } => {
                self.all(functions.iter().map(|f| &f.funcexpr));
            }
            PlanNode::ValuesScan { values_lists, .. } => self.all(values_lists.iter().flatten()),
            PlanNode::CteScan { cte_plan_id, cte_param, .. } => {
                self.add(*cte_param);
                self.sub(*cte_plan_id);
            }
            PlanNode::RecursiveUnion { wt_param, .. } => self.set.push(*wt_param),
            PlanNode::WorkTableScan { wt_param, .. } => self.add(*wt_param),
            PlanNode::NestLoop { join_qual, nest_params, .. } => {
                self.set.extend(nest_params.iter().map(|(id, _)| *id));
                self.all(join_qual.iter().chain(nest_params.iter().map(|(_, e)| e)));
            }
            PlanNode::MergeJoin { join_qual, merge_clauses, .. } => {
                self.all(join_qual.iter().chain(merge_clauses));
            }
            PlanNode::HashJoin { join_qual, hash_clauses, outer_keys, inner_keys, .. } => {
                self.all(join_qual.iter().chain(hash_clauses));
                self.all(outer_keys.iter().chain(inner_keys));
            }
            PlanNode::Memoize { param_exprs, .. } => self.all(param_exprs),
            PlanNode::WindowAgg(w) => {
                self.all(w.start_offset.iter().chain(&w.end_offset).chain(&w.run_condition));
            }
            PlanNode::Limit { offset, count, .. } => self.all(offset.iter().chain(count)),
            PlanNode::ModifyTable(m) => {
                self.all(m.returning_lists.iter().flatten().map(|t| &t.expr));
                if let Some(c) = &m.on_conflict {
                    self.all(c.set.iter().map(|t| &t.expr).chain(&c.where_));
                }
            }
            PlanNode::ProjectSet { .. }
            | PlanNode::Append { .. }
            | PlanNode::MergeAppend { .. }
            | PlanNode::SeqScan { .. }
            | PlanNode::SubqueryScan { .. }
            | PlanNode::Material { .. }
            | PlanNode::Sort { .. }
            | PlanNode::IncrementalSort { .. }
            | PlanNode::Group { .. }
            | PlanNode::Agg(_)
            | PlanNode::Unique { .. }
            | PlanNode::SetOp { .. }
            | PlanNode::LockRows { .. } => {}
        }
        plan.children().into_iter().for_each(|c| self.plan(c));
    }
}
