//! Builds the tree of nodes of a plan. Counterpart: execProcnode.c.

use crate::instrument::Counts;
use crate::node::{Exec, Node};
use crate::run::Run;
use crate::{
    agg, append, batch_limit, depend, hashjoin, instrument, join, lockrows, memoize, mergeappend,
    mergejoin, modify, project, projectset, scan, setop, sort, source, transition, window,
};
use eval::too_deep;
use pgerror::{PgError, Result};
use plan::expr::TargetEntry;
use plan::node::{Plan, PlanNode};
use plan::prune::AppendPruning;
use stdx::stack;
use types::Batch;

/// Builds the node tree of a plan.
pub(crate) fn build(plan: &Plan, run: &mut Run<'_>) -> Result<Node> {
    build_at(plan, run, 0)
}

/// Maximum nesting depth of nodes.
const NODES_DEPTH_MAX: u32 = 10_000;

/// Number of nested nodes whose calls fit the stack without a check. A [`DeepNode`] after this
/// number of levels checks the stack.
const NODES_UNCHECKED: u32 = 25;

fn build_at(plan: &Plan, run: &mut Run<'_>, depth: u32) -> Result<Node> {
    if depth > NODES_DEPTH_MAX {
        return Err(too_deep());
    }
    run.interrupts()?;
    if depth % NODES_UNCHECKED != NODES_UNCHECKED - 1 {
        return build_here(plan, run, depth);
    }
    Ok(Box::new(DeepNode(stack::deep(|| build_here(plan, run, depth))?)))
}

/// Calls its child through `stack::deep`, which extends the stack if necessary.
struct DeepNode(Node);

impl Exec for DeepNode {
    fn next(&mut self, run: &mut Run<'_>, want: usize) -> Result<Option<Batch>> {
        stack::deep(|| self.0.next(run, want))
    }

    fn skip(&mut self, run: &mut Run<'_>, rows: usize) -> Result<Option<usize>> {
        stack::deep(|| self.0.skip(run, rows))
    }

    fn rescan(&mut self, run: &mut Run<'_>) -> Result<()> {
        stack::deep(|| self.0.rescan(run))
    }

    fn reset(&mut self, run: &mut Run<'_>) -> Result<bool> {
        stack::deep(|| self.0.reset(run))
    }

    fn recycle(&mut self, batch: Batch) {
        stack::deep(|| self.0.recycle(batch));
    }

    fn set_bound(&mut self, bound: Option<usize>) {
        stack::deep(|| self.0.set_bound(bound));
    }

    fn is_volatile(&self) -> bool {
        stack::deep(|| self.0.is_volatile())
    }

    fn report(&self, counts: &mut Counts) {
        self.0.report(counts);
    }
}

fn build_here(plan: &Plan, run: &mut Run<'_>, depth: u32) -> Result<Node> {
    let first = run.st.init_plans.len();
    run.register_init_plans(&plan.info.init_plan);
    let mut node = build_node(plan, run, depth)?;
    if may_be_wide(&plan.info.target_list, run)? {
        node = batch_limit::BatchLimitNode::over(node);
    }
    if run.st.instruments.is_some() {
        node = instrument::InstrumentNode::over(node, plan);
    }
    if !plan.info.init_plan.is_empty() {
        node = depend::InitPlansNode::over(node, plan, first, run);
    }
    Ok(if cfg!(debug_assertions) { depend::RescanCheckNode::over(node, plan, run) } else { node })
}

fn build_node(plan: &Plan, run: &mut Run<'_>, depth: u32) -> Result<Node> {
    #[cfg(test)]
    if let Some(source) = crate::tests::source_node(plan, run)? {
        return Ok(source);
    }
    node_of(plan, run, depth)
}

/// The node of a plan, without the nodes that are put above it.
fn node_of(plan: &Plan, run: &mut Run<'_>, depth: u32) -> Result<Node> {
    let sub = |p: &Plan, run: &mut Run<'_>| build_at(p, run, depth + 1);
    Ok(match &plan.node {
        PlanNode::Result { child: None, constant_qual } => {
            source::ResultNode::boxed(plan, constant_qual, run)?
        }
        PlanNode::Result { child: Some(c), constant_qual } => {
            let child = sub(c, run)?;
            project::ProjectNode::boxed(plan, child, constant_qual, run)?
        }
        PlanNode::ProjectSet { child } => {
            projectset::ProjectSetNode::boxed(plan, sub(child, run)?, run)?
        }
        PlanNode::SubqueryScan { child, .. } => {
            project::ProjectNode::over_scan(plan, sub(child, run)?, run)?
        }
        PlanNode::Append { children, pruning, .. } => {
            let (nodes, pruner) = build_members(plan, (children, pruning.as_deref()), run, depth)?;
            append::AppendNode::boxed(nodes, pruner)
        }
        PlanNode::RecursiveUnion { outer, inner, wt_param, dedup, .. } => {
            let o = sub(outer, run)?;
            let i = sub(inner, run)?;
            setop::RecursiveUnionNode::boxed(plan, o, i, *wt_param, dedup, run)?
        }
        PlanNode::NestLoop { outer, inner, .. }
        | PlanNode::MergeJoin { outer, inner, .. }
        | PlanNode::HashJoin { outer, inner, .. } => {
            let inputs = (sub(outer, run)?, sub(inner, run)?);
            build_join(plan, inputs, run)?
        }
        PlanNode::Material { child } => {
            let c = sub(child, run)?;
            sort::MaterialNode::boxed(c, child, run)
        }
        PlanNode::Sort { child, keys } => {
            let c = sub(child, run)?;
            sort::SortNode::boxed(plan, c, keys, &child.info.target_list, run)?
        }
        PlanNode::IncrementalSort { child, keys, presorted_cols } => {
            let c = sub(child, run)?;
            sort::IncrementalSortNode::boxed(c, child, keys, *presorted_cols as usize, run)?
        }
        PlanNode::MergeAppend { children, keys, pruning, .. } => {
            let (nodes, pruner) = build_members(plan, (children, pruning.as_deref()), run, depth)?;
            let targets = &plan.info.target_list;
            mergeappend::MergeAppendNode::boxed((nodes, pruner), keys, targets, run)?
        }
        node @ PlanNode::Memoize { child, .. } => {
            let c = sub(child, run)?;
            memoize::MemoizeNode::boxed(node, c, run)?
        }
        PlanNode::Unique { child, keys } => {
            let c = sub(child, run)?;
            sort::UniqueNode::boxed(c, keys, &child.info.target_list, run)?
        }
        PlanNode::Group { child, keys } => {
            let c = sub(child, run)?;
            let groups = sort::UniqueNode::boxed(c, keys, &child.info.target_list, run)?;
            project::ProjectNode::boxed(plan, groups, &[], run)?
        }
        PlanNode::Limit { child, offset, count, with_ties } => {
            let c = sub(child, run)?;
            let ties = with_ties.as_ref();
            sort::LimitNode::boxed(c, offset.as_ref(), count.as_ref(), ties, child, run)?
        }
        PlanNode::Agg(a) => {
            let c = sub(&a.child, run)?;
            agg::AggNode::boxed(plan, a, c, run)?
        }
        PlanNode::WindowAgg(w) => {
            let c = sub(&w.child, run)?;
            window::WindowNode::boxed(plan, w, c, run)?
        }
        PlanNode::SetOp { child, .. } => {
            let c = sub(child, run)?;
            setop::SetOpNode::boxed(plan, c, run)?
        }
        PlanNode::SeqScan { .. }
        | PlanNode::SampleScan { .. }
        | PlanNode::IndexScan { .. }
        | PlanNode::IndexOnlyScan { .. }
        | PlanNode::BitmapHeapScan { .. }
        | PlanNode::TidScan { .. }
        | PlanNode::TidRangeScan { .. } => scan::build(plan, run)?,
        PlanNode::ValuesScan { .. }
        | PlanNode::FunctionScan { .. }
        | PlanNode::CteScan { .. }
        | PlanNode::WorkTableScan { .. }
        | PlanNode::NamedTuplestoreScan { .. } => build_source(plan, run)?,
        PlanNode::ModifyTable(m) => {
            let c = sub(&m.child, run)?;
            modify::ModifyNode::boxed(plan, m, c, run)?
        }
        PlanNode::LockRows { child, row_marks, .. } => {
            let c = sub(child, run)?;
            lockrows::LockRowsNode::boxed(child, row_marks, c, run)?
        }
    })
}

fn build_join(plan: &Plan, (outer, inner): (Node, Node), run: &mut Run<'_>) -> Result<Node> {
    match &plan.node {
        PlanNode::NestLoop { .. } => join::NestLoopNode::boxed(plan, outer, inner, run),
        PlanNode::MergeJoin { .. } => mergejoin::MergeJoinNode::boxed(plan, outer, inner, run),
        _ => hashjoin::HashJoinNode::boxed(plan, outer, inner, run),
    }
}

/// Scans of row sources other than tables.
fn build_source(plan: &Plan, run: &mut Run<'_>) -> Result<Node> {
    match &plan.node {
        PlanNode::ValuesScan { scanrelid, values_lists } => {
            source::ValuesNode::boxed(plan, *scanrelid, values_lists, run)
        }
        PlanNode::FunctionScan { scanrelid, functions, ordinality } => {
            source::FunctionNode::boxed(plan, *scanrelid, functions, *ordinality, run)
        }
        PlanNode::CteScan { cte_plan_id, cte_param, .. } => {
            source::CteNode::boxed(plan, *cte_plan_id, *cte_param, run)
        }
        PlanNode::WorkTableScan { wt_param, .. } => {
            source::WorkTableNode::boxed(plan, *wt_param, run)
        }
        PlanNode::NamedTuplestoreScan { enrname, .. } => {
            transition::NamedTuplestoreNode::boxed(plan, enrname, run)
        }
        _ => Err(PgError::internal("scan of a function, a list or a query expected")),
    }
}

/// Builds the children of an Append that may have rows, with the pruning to be done while it runs.
fn build_members(
    plan: &Plan,
    (children, pruning): (&[Plan], Option<&AppendPruning>),
    run: &mut Run<'_>,
    depth: u32,
) -> Result<(Vec<Node>, Option<append::Pruner>)> {
    let Some(pruning) = pruning else { return Ok((build_all(children, run, depth)?, None)) };
    let mut pruner = append::Pruner::new(pruning, children.len(), run)?;
    let live = pruner.at_start(run)?;
    let mut nodes = Vec::with_capacity(children.len());
    for (child, live) in children.iter().zip(&live) {
        if *live {
            nodes.extend(build_all(std::slice::from_ref(child), run, depth)?);
        }
    }
    if live.contains(&false) {
        run.st.built.insert(instrument::key_of(plan), live);
    }
    Ok((nodes, Some(pruner)))
}

fn build_all(plans: &[Plan], run: &mut Run<'_>, depth: u32) -> Result<Vec<Node>> {
    plans.iter().map(|p| build_at(p, run, depth + 1)).collect()
}

/// True if the rows contain variable-width columns.
fn may_be_wide(targets: &[TargetEntry], run: &mut Run<'_>) -> Result<bool> {
    for t in targets {
        if run.sv.as_facts().type_info(t.expr.type_oid())?.len < 0 {
            return Ok(true);
        }
    }
    Ok(false)
}
