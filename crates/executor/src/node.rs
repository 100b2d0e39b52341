//! Running plan nodes: the trait [`Exec`], and the construction of the tree from a plan.
//! Counterpart: execProcnode.c, execAmi.c.

use crate::instrument::Counts;
use crate::run::Run;
use crate::{
    agg, depend, hashjoin, instrument, join, lockrows, memoize, mergeappend, mergejoin, modify,
    pace, project, projectset, scan, setop, sort, source, window,
};
use eval::{Compiler, Program, Resolve, Slot, Source, too_deep};
use pgerror::{PgError, Result};
use plan::expr::{Expr, TargetEntry, Var};
use plan::node::{Plan, PlanNode};
use stdx::stack;
use types::Batch;

/// A running node.
pub(crate) trait Exec: Send {
    /// Returns the next rows, about `want` of them; a node that has rows in memory anyway may
    /// return more. A batch may be empty. `None` at the end.
    fn next(&mut self, run: &mut Run<'_>, want: usize) -> Result<Option<Batch>>;

    /// Skips at most `rows` rows without computing them. Returns their number, 0 at the end; `None`
    /// if the node does not support it, or if the rows could have side effects or errors: the
    /// caller must then read them.
    fn skip(&mut self, run: &mut Run<'_>, rows: usize) -> Result<Option<usize>> {
        let _ = (run, rows);
        Ok(None)
    }

    /// Starts the scan again. Parameters may have changed: see `depend` for the rules.
    fn rescan(&mut self, run: &mut Run<'_>) -> Result<()>;

    /// Returns to the state after construction, for another execution of the statement: releases
    /// rows, snapshots, pages and running functions, and keeps compiled expressions. Returns false
    /// if the node does not support it: the tree is then built again.
    fn reset(&mut self, run: &mut Run<'_>) -> Result<bool> {
        let _ = run;
        Ok(false)
    }

    /// Gives a batch that the node has returned back to it, to reuse its memory.
    fn recycle(&mut self, batch: Batch) {
        let _ = batch;
    }

    /// Announces that no more than `bound` rows will be read per scan (`None`: any number). Called
    /// before the first row is read; holds until the next call.
    fn set_bound(&mut self, bound: Option<usize>) {
        let _ = bound;
    }

    /// Stores the node's counters since its construction (EXPLAIN ANALYZE).
    fn report(&self, _: &mut Counts) {}
}

pub(crate) type Node = Box<dyn Exec>;

/// Resets all nodes; false if one of them does not support it.
pub(crate) fn reset_all<'n>(
    nodes: impl IntoIterator<Item = &'n mut Node>,
    run: &mut Run<'_>,
) -> Result<bool> {
    let mut all = true;
    for n in nodes {
        all &= n.reset(run)?;
    }
    Ok(all)
}

/// Builds the node tree of a plan.
pub(crate) fn build(plan: &Plan, run: &mut Run<'_>) -> Result<Node> {
    build_at(plan, run, 0)
}

/// Deepest nesting of nodes.
const NODES_DEPTH_MAX: u32 = 10_000;

/// Number of nested nodes whose calls fit the stack without a check: every so many levels a
/// [`DeepNode`] checks the stack.
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

    fn report(&self, counts: &mut Counts) {
        self.0.report(counts);
    }
}

fn build_here(plan: &Plan, run: &mut Run<'_>, depth: u32) -> Result<Node> {
    let first = run.st.init_plans.len();
    run.register_init_plans(&plan.info.init_plan);
    let mut node = build_node(plan, run, depth)?;
    if may_be_wide(&plan.info.target_list, run)? {
        node = pace::PaceNode::over(node);
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
            let child = sub(child, run)?;
            projectset::ProjectSetNode::boxed(plan, child, run)?
        }
        PlanNode::ValuesScan { scanrelid, values_lists } => {
            source::ValuesNode::boxed(plan, *scanrelid, values_lists, run)?
        }
        PlanNode::FunctionScan { scanrelid, functions, ordinality } => {
            source::FunctionNode::boxed(plan, *scanrelid, functions, *ordinality, run)?
        }
        PlanNode::SubqueryScan { scanrelid, child } => {
            let c = sub(child, run)?;
            let _ = scanrelid;
            project::ProjectNode::over_scan(plan, c, run)?
        }
        PlanNode::CteScan { cte_plan_id, cte_param, .. } => {
            source::CteNode::boxed(plan, *cte_plan_id, *cte_param, run)?
        }
        PlanNode::WorkTableScan { wt_param, .. } => {
            source::WorkTableNode::boxed(plan, *wt_param, run)?
        }
        PlanNode::Append { children } => {
            let mut nodes = Vec::new();
            for c in children {
                nodes.push(sub(c, run)?);
            }
            source::AppendNode::boxed(nodes)
        }
        PlanNode::RecursiveUnion { outer, inner, wt_param, dedup, .. } => {
            let o = sub(outer, run)?;
            let i = sub(inner, run)?;
            setop::RecursiveUnionNode::boxed(plan, o, i, *wt_param, dedup, run)?
        }
        PlanNode::NestLoop { jointype, outer, inner, join_qual, nest_params, inner_unique } => {
            let o = sub(outer, run)?;
            let i = sub(inner, run)?;
            let (kind, unique) = (*jointype, *inner_unique);
            join::NestLoopNode::boxed(plan, kind, o, i, join_qual, nest_params, unique, run)?
        }
        PlanNode::MergeJoin { outer, inner, .. } => {
            let o = sub(outer, run)?;
            let i = sub(inner, run)?;
            mergejoin::MergeJoinNode::boxed(plan, o, i, run)?
        }
        PlanNode::HashJoin { outer, inner, .. } => {
            let o = sub(outer, run)?;
            let i = sub(inner, run)?;
            hashjoin::HashJoinNode::boxed(plan, o, i, run)?
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
            let (n, targets) = (*presorted_cols as usize, &child.info.target_list);
            sort::IncrementalSortNode::boxed(c, keys, n, targets, run)?
        }
        PlanNode::MergeAppend { children, keys } => {
            let mut nodes = Vec::new();
            for c in children {
                nodes.push(sub(c, run)?);
            }
            mergeappend::MergeAppendNode::boxed(nodes, keys, &plan.info.target_list, run)?
        }
        PlanNode::Memoize { child, param_exprs, operators, collations, .. } => {
            let c = sub(child, run)?;
            memoize::MemoizeNode::boxed(child, c, param_exprs, operators, collations, run)?
        }
        PlanNode::Unique { child, keys } | PlanNode::Group { child, keys } => {
            let c = sub(child, run)?;
            sort::UniqueNode::boxed(c, keys, &child.info.target_list, run)?
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
        PlanNode::SetOp { child, op, all, keys, flag_col, strategy, .. } => {
            let c = sub(child, run)?;
            let (targets, how) = (&child.info.target_list, *strategy);
            setop::SetOpNode::boxed(c, *op, *all, how, keys, *flag_col, targets, run)?
        }
        PlanNode::SeqScan { .. }
        | PlanNode::SampleScan { .. }
        | PlanNode::IndexScan { .. }
        | PlanNode::IndexOnlyScan { .. }
        | PlanNode::BitmapHeapScan { .. }
        | PlanNode::TidScan { .. }
        | PlanNode::TidRangeScan { .. } => scan::build(plan, run)?,
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

/// Resolves `OUTER` and `INNER` Vars to columns of the children's batches.
pub(crate) struct ChildColumns {
    /// `Source::Scan` for nodes with one child, whose expressions are evaluated over batches.
    pub outer: Source,
}

impl Resolve for ChildColumns {
    fn var(&mut self, var: &Var) -> Result<Slot> {
        let source = match var.varno {
            Var::OUTER => self.outer,
            Var::INNER => Source::Inner,
            other => {
                return Err(PgError::internal(format!(
                    "column of relation {other} above its scan"
                )));
            }
        };
        Ok(Slot { source, column: var.varattno as usize - 1 })
    }
}

/// Columns of a scan: `columns[k]` is the attribute number of column `k` of its batches.
pub(crate) struct ScanColumns {
    pub rti: i32,
    pub columns: Vec<ids::AttrNo>,
    /// Description of the row type, for whole-row references.
    pub row: Option<std::sync::Arc<types::fncx::RowDesc>>,
}

impl ScanColumns {
    pub(crate) fn new(rti: i32) -> ScanColumns {
        ScanColumns { rti, columns: Vec::new(), row: None }
    }

    /// Position of the column in the batches; adds it if it is not read yet.
    pub(crate) fn position(&mut self, attno: ids::AttrNo) -> usize {
        match self.columns.iter().position(|c| *c == attno) {
            Some(i) => i,
            None => {
                self.columns.push(attno);
                self.columns.len() - 1
            }
        }
    }
}

impl Resolve for ScanColumns {
    fn var(&mut self, var: &Var) -> Result<Slot> {
        if var.varno != self.rti {
            return Err(PgError::internal(format!(
                "column of relation {} in the scan of {}",
                var.varno, self.rti
            )));
        }
        Ok(Slot { source: Source::Scan, column: self.position(var.varattno) })
    }

    fn whole_row(
        &mut self,
        var: &Var,
    ) -> Result<(Vec<Slot>, std::sync::Arc<types::fncx::RowDesc>)> {
        let Some(row) = self.row.clone() else {
            return Err(PgError::unsupported("whole-row reference to this relation"));
        };
        let mut slots = Vec::new();
        for i in 0..row.columns.len() {
            let column = self.position(i as i16 + 1);
            slots.push(Slot { source: Source::Scan, column });
        }
        let _ = var;
        Ok((slots, row))
    }
}

/// Compiles an expression; `cols` resolves its columns.
pub(crate) fn compile(expr: &Expr, cols: &mut dyn Resolve, run: &mut Run<'_>) -> Result<Program> {
    Compiler::new(run.sv.as_facts(), cols).compile(expr)
}

/// Compiles a list of conditions, implicitly ANDed.
pub(crate) fn compile_all(
    quals: &[Expr],
    cols: &mut dyn Resolve,
    run: &mut Run<'_>,
) -> Result<Program> {
    Compiler::new(run.sv.as_facts(), cols).compile_all(quals)
}

/// An empty batch with the columns of a target list.
pub(crate) fn batch_for(targets: &[TargetEntry], run: &mut Run<'_>) -> Result<Batch> {
    let mut by_val = Vec::with_capacity(targets.len());
    for t in targets {
        by_val.push(run.sv.as_facts().type_info(t.expr.type_oid())?.by_val);
    }
    Ok(Batch::new(by_val))
}

/// An error raised after other rows of the same batch were computed. As in row-at-a-time execution,
/// those rows are returned first; the error is raised when more rows are requested, and dropped if
/// that never happens.
#[derive(Default)]
pub(crate) struct DeferredError(Option<PgError>);

impl DeferredError {
    /// Raises the deferred error. Called before more rows are computed.
    pub(crate) fn raise(&mut self) -> Result<()> {
        self.0.take().map_or(Ok(()), Err)
    }

    /// Handles the result `done` of computing a row after `rows` others. An error is returned if
    /// there are no other rows; otherwise it is deferred, and the result is false.
    pub(crate) fn defer(&mut self, rows: usize, done: Result<()>) -> Result<bool> {
        match done {
            Ok(()) => Ok(true),
            Err(e) if rows == 0 => Err(e),
            Err(e) => {
                self.0 = Some(e);
                Ok(false)
            }
        }
    }
}

/// True if the rows have variable-width columns.
fn may_be_wide(targets: &[TargetEntry], run: &mut Run<'_>) -> Result<bool> {
    for t in targets {
        if run.sv.as_facts().type_info(t.expr.type_oid())?.len < 0 {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Resolver for expressions that may refer to parameters but not to columns.
pub(crate) struct NoScanColumns;

impl Resolve for NoScanColumns {
    fn var(&mut self, _: &Var) -> Result<Slot> {
        Err(PgError::internal("column where only parameters are allowed"))
    }
}
