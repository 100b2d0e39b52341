//! Creates the nodes that expand set-returning functions and compute target lists. Counterpart:
//! planner.c (`adjust_paths_for_srfs`), createplan.c (`create_project_set_plan`).

use crate::rel::clamp_rows;
use crate::state::{Planner, PlannerInfo};
use pgerror::Result;
use plan::expr::{Expr, TargetEntry};
use plan::node::{Plan, PlanInfo, PlanNode};
use querytree::refs::{ChildOutputs, CreatedPlan, pass_through, targets_of};
use querytree::vars::{contains_srf, push_unique, substitute};

impl Planner<'_> {
    /// `PlanInfo` of a node above `made` with the same columns and rows, and additional cost.
    pub(crate) fn above(&self, made: &CreatedPlan, extra: f64) -> PlanInfo {
        let below = &made.plan.info;
        PlanInfo {
            startup_cost: below.startup_cost,
            total_cost: below.total_cost + extra,
            plan_rows: below.plan_rows,
            plan_width: below.plan_width,
            target_list: pass_through(&made.output),
            ..PlanInfo::default()
        }
    }

    /// Cost of a ProjectSet node that makes `rows` rows of `below` ones; `per_tuple` is that of the
    /// expressions. Counterpart: `create_set_projection_path`.
    pub(crate) fn set_cost(&self, below: f64, rows: f64, per_tuple: f64) -> f64 {
        let cpu_tuple = self.host.costs().cpu_tuple;
        (cpu_tuple + per_tuple) * below + (rows - below) * cpu_tuple / 2.0
    }

    /// Adds nodes that compute the final target list. Nested set-returning functions are expanded
    /// from the innermost ones outward, all of one depth in one ProjectSet node.
    pub(crate) fn project_sets(
        &mut self,
        root: &PlannerInfo,
        mut made: CreatedPlan,
        finals: &[Expr],
    ) -> Result<CreatedPlan> {
        loop {
            let mut ready: Vec<Expr> = Vec::new();
            for e in finals {
                innermost_srfs(e, &made.output, &mut ready);
            }
            if ready.is_empty() {
                break;
            }
            let mut factor: f64 = 1.0;
            for s in &ready {
                if let Expr::FuncExpr(f) = s {
                    factor = factor.max(self.srf_rows(f.funcid, &f.args)?);
                }
            }
            // The last ProjectSet node computes the final target list itself, unless an expression
            // uses the values of a set.
            let last =
                finals.iter().all(|e| ready.contains(e) || !has_pending_srf(e, &made.output));
            let want: Vec<Expr> = match last {
                true => finals.to_vec(),
                false => made.output.iter().map(|t| t.expr.clone()).chain(ready).collect(),
            };
            let below = ChildOutputs::one(&made.output);
            let output = targets_of(&want);
            let mut info = self.above(&made, 0.0);
            info.plan_width = self.row_width(root, &want)?;
            let rows = clamp_rows(info.plan_rows * factor);
            info.total_cost += self.set_cost(info.plan_rows, rows, 0.0);
            info.plan_rows = rows;
            info.target_list = below.fix_targets(&output)?;
            let node = PlanNode::ProjectSet { child: Box::new(made.plan) };
            made = CreatedPlan { plan: Plan { info, node }, output };
            if last {
                return Ok(made);
            }
        }
        let output = targets_of(finals);
        if computes_outputs(&made.plan.node) {
            // The node can compute the target list itself.
            let have = std::mem::take(&mut made.plan.info.target_list);
            made.plan.info.plan_width = self.row_width(root, finals)?;
            let made_of = |e: &Expr| {
                let at = made.output.iter().position(|t| t.expr == *e)?;
                Some(have[at].expr.clone())
            };
            made.plan.info.target_list = output.clone();
            for t in &mut made.plan.info.target_list {
                substitute(&mut t.expr, &mut |e| made_of(e));
            }
            return Ok(CreatedPlan { plan: made.plan, output });
        }
        let below = ChildOutputs::one(&made.output);
        let mut info = self.above(&made, 0.0);
        info.plan_width = self.row_width(root, finals)?;
        info.target_list = below.fix_targets(&output)?;
        let node = PlanNode::Result { child: Some(Box::new(made.plan)), constant_qual: Vec::new() };
        Ok(CreatedPlan { plan: Plan { info, node }, output })
    }
}

/// True if the node can compute a target list. Counterpart: `is_projection_capable_plan`.
pub(crate) fn computes_outputs(node: &PlanNode) -> bool {
    matches!(
        node,
        PlanNode::WindowAgg(_)
            | PlanNode::Agg(_)
            | PlanNode::Group { .. }
            | PlanNode::SeqScan { .. }
            | PlanNode::IndexScan { .. }
            | PlanNode::IndexOnlyScan { .. }
            | PlanNode::BitmapHeapScan { .. }
            | PlanNode::TidScan { .. }
            | PlanNode::NestLoop { .. }
            | PlanNode::MergeJoin { .. }
            | PlanNode::HashJoin { .. }
    )
}

/// Adds the set-returning calls that are not computed yet and have no set-returning arguments.
fn innermost_srfs(e: &Expr, done: &[TargetEntry], out: &mut Vec<Expr>) {
    if done.iter().any(|t| t.expr == *e) || !contains_srf(e) {
        return;
    }
    let before = out.len();
    plan::walk::each_child(e, &mut |c| innermost_srfs(c, done, out));
    let is_srf = matches!(e, Expr::FuncExpr(f) if f.funcretset)
        || matches!(e, Expr::OpExpr(o) if o.opretset);
    let mut pending_below = false;
    plan::walk::each_child(e, &mut |c| {
        pending_below |= has_pending_srf(c, done);
    });
    if is_srf && out.len() == before && !pending_below {
        push_unique(out, e);
    }
}

fn has_pending_srf(e: &Expr, done: &[TargetEntry]) -> bool {
    if done.iter().any(|t| t.expr == *e) {
        return false;
    }
    let here = matches!(e, Expr::FuncExpr(f) if f.funcretset)
        || matches!(e, Expr::OpExpr(o) if o.opretset);
    let mut below = false;
    plan::walk::each_child(e, &mut |c| below |= has_pending_srf(c, done));
    here || below
}
