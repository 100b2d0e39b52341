//! Filter and projection over batches: the last step of scans, joins, aggregation and other nodes.
//! Counterpart: execScan.c (`ExecScan`), execExpr.c (`ExecBuildProjectionInfo`).

use crate::instrument::Counts;
use crate::node::{ChildColumns, DeferredError, Exec, Node, compile, compile_all};
use crate::run::Run;
use eval::{
    EvalState, Program, Resolve, RowInput, RowRef, Selection, Slot, Source, Volatility,
    select_into, volatility,
};
use ids::Oid;
use ids::code::Align;
use pgerror::{PgError, Result};
use plan::expr::{Expr, TargetEntry, Var};
use plan::node::{Plan, PlanNode};
use plan::query::RteKind;
use std::sync::Arc;
use types::fn_context::{Dropped, RowColumn, RowDesc};
use types::{Batch, Datum};

/// A filter and a projection.
pub(crate) struct Projection {
    filter: Option<(Program, EvalState)>,
    columns: Vec<OutputColumn>,
    /// Output column `i` is input column `i`, so nothing is computed.
    identity: bool,
    /// Number of rows removed by the filter.
    pub removed: u64,
    /// An empty batch whose memory is reused.
    spare: Option<Batch>,
    /// The rows that pass the filter.
    rows: Selection,
    /// An expression is volatile: rows are evaluated one by one, each from left to right, so that
    /// calls happen in the order of row-at-a-time execution.
    in_order: bool,
    deferred: DeferredError,
    /// An input whose output did not fit one batch, and its first row that has not been evaluated.
    pending: Option<(Batch, usize)>,
}

/// Up to this number of rows are projected one by one.
const ROWWISE_MAX: usize = 2;

/// True if the expression, or a sub-plan that it runs, calls a volatile function, or if its
/// evaluation order relative to other expressions matters.
pub(crate) fn is_volatile(expr: &Expr, run: &mut Run<'_>) -> Result<bool> {
    // A sub-plan that sets parameters for other columns must run before them for each row.
    let sets = |e: &Expr| matches!(e, Expr::SubPlan(s) if !s.set_param.is_empty());
    if plan::walk::any(expr, &mut |e| sets(e))
        || volatility(expr, run.sv.as_facts())? == Volatility::Volatile
    {
        return Ok(true);
    }
    let mut plans = Vec::new();
    collect_plans(expr, &mut plans);
    any_is_volatile(None, plans, run)
}

/// True if a plan, or a sub-plan that it runs, calls a volatile function, changes rows or locks
/// them, so that the time at which its rows are computed matters.
pub(crate) fn is_volatile_child(plan: &Plan, run: &mut Run<'_>) -> Result<bool> {
    any_is_volatile(Some(plan), Vec::new(), run)
}

/// True if the plan of a `WITH` query, or a sub-plan that it runs, calls a volatile function.
pub(crate) fn is_volatile_plan(plan_id: u32, run: &mut Run<'_>) -> Result<bool> {
    any_is_volatile(None, vec![plan_id], run)
}

/// True if this plan or one of these sub-plans, or a sub-plan that they run, calls a volatile
/// function, changes rows or locks them.
fn any_is_volatile(plan: Option<&Plan>, mut plans: Vec<u32>, run: &mut Run<'_>) -> Result<bool> {
    let desc = run.st.desc.plan.clone();
    let mut nodes: Vec<&Plan> = plan.into_iter().collect();
    let mut i = 0;
    loop {
        while let Some(plan) = nodes.pop() {
            nodes.extend(plan.children());
            match &plan.node {
                PlanNode::ModifyTable(_) | PlanNode::LockRows { .. } => return Ok(true),
                PlanNode::CteScan { cte_plan_id, .. } if !plans.contains(cte_plan_id) => {
                    plans.push(*cte_plan_id);
                }
                _ => {}
            }
            for sub in plan.info.init_plan.iter().filter_map(|e| match e {
                Expr::SubPlan(s) => Some(s.plan_id),
                _ => None,
            }) {
                if !plans.contains(&sub) {
                    plans.push(sub);
                }
            }
            let mut exprs = Vec::new();
            plan::params::each_expr(plan, &mut |e| exprs.push(e));
            for e in exprs {
                if volatility(e, run.sv.as_facts())? == Volatility::Volatile {
                    return Ok(true);
                }
                collect_plans(e, &mut plans);
            }
        }
        let Some(&id) = plans.get(i) else { return Ok(false) };
        i += 1;
        nodes.push(&desc.subplans[id as usize - 1]);
    }
}

/// Adds the ids of the sub-plans that an expression runs.
fn collect_plans(expr: &Expr, out: &mut Vec<u32>) {
    if let Expr::SubPlan(s) = expr
        && !out.contains(&s.plan_id)
    {
        out.push(s.plan_id);
    }
    plan::walk::each_child(expr, &mut |c| collect_plans(c, out));
}

enum OutputColumn {
    /// The output is an input column; true for the first output column that is this input column.
    Take(usize, bool),
    Compute(Program, EvalState),
}

/// True for an error of class 57 (operator intervention): the statement or session was cancelled.
pub(crate) fn ends_statement(e: &PgError) -> bool {
    e.code().as_str().starts_with("57")
}

impl Projection {
    /// Compiles a filter and a target list over [`Source::Scan`] columns.
    pub(crate) fn new(
        targets: &[TargetEntry],
        qual: &[Expr],
        cols: &mut dyn Resolve,
        run: &mut Run<'_>,
    ) -> Result<Projection> {
        let filter = match qual {
            [] => None,
            q => Some((compile_all(q, cols, run)?, EvalState::default())),
        };
        let mut in_order = false;
        for e in qual.iter().chain(targets.iter().map(|t| &t.expr)) {
            in_order |= is_volatile(e, run)?;
        }
        let mut columns = Vec::with_capacity(targets.len());
        for t in targets {
            if let Expr::Var(v) = &t.expr
                && v.varattno != 0
            {
                let Slot { source, column } = cols.var(v)?;
                if source == Source::Scan {
                    columns.push(OutputColumn::Take(column, true));
                    continue;
                }
            }
            columns.push(OutputColumn::Compute(compile(&t.expr, cols, run)?, EvalState::default()));
        }
        let identity = columns
            .iter()
            .enumerate()
            .all(|(i, c)| matches!(c, OutputColumn::Take(k, _) if *k == i));
        let mut seen = Vec::new();
        for c in &mut columns {
            if let OutputColumn::Take(k, first) = c {
                *first = !seen.contains(k);
                seen.push(*k);
            }
        }
        Ok(Projection {
            filter,
            columns,
            identity,
            removed: 0,
            spare: None,
            rows: Vec::new(),
            in_order,
            deferred: DeferredError::default(),
            pending: None,
        })
    }

    /// The remaining rows of the last input, projected, or the error raised after the rows returned
    /// last. Called before more input is read.
    pub(crate) fn rest(&mut self, run: &mut Run<'_>) -> Result<Option<Batch>> {
        self.deferred.raise()?;
        while let Some((input, from)) = self.pending.take() {
            let out = self.row_by_row(run, input, from)?;
            if out.len > 0 {
                return Ok(Some(out));
            }
            self.deferred.raise()?;
        }
        Ok(None)
    }

    /// Filters and projects a batch.
    pub(crate) fn apply(&mut self, run: &mut Run<'_>, input: Batch) -> Result<Batch> {
        self.apply_keeping(run, input, &mut None)
    }

    /// As [`Self::apply`]. If the output does not use the memory of the input, the emptied input is
    /// stored in `spare`.
    pub(crate) fn apply_keeping(
        &mut self,
        run: &mut Run<'_>,
        mut input: Batch,
        spare: &mut Option<Batch>,
    ) -> Result<Batch> {
        if self.in_order {
            return self.row_by_row(run, input, 0);
        }
        let removed = self.removed;
        match self.by_column(run, &mut input) {
            // Rows before the failing one must be returned, and in row order another row may fail
            // first, so the batch is evaluated again row by row. A cancellation is reported only
            // once, so another evaluation would lose it.
            Err(e) if input.len > 1 && !ends_statement(&e) => {
                self.removed = removed;
                self.row_by_row(run, input, 0)
            }
            Ok(None) => Ok(input),
            Ok(Some(out)) => {
                *spare = Some(input);
                Ok(out)
            }
            Err(e) => Err(e),
        }
    }

    /// Evaluates column by column; `None` if the output is the input. After an error the input is
    /// unchanged.
    fn by_column(&mut self, run: &mut Run<'_>, input: &mut Batch) -> Result<Option<Batch>> {
        let Projection { filter, columns, identity, removed, spare: own, rows, .. } = self;
        let all = match filter {
            None => true,
            Some((program, st)) => {
                select_into(program, st, run, input, rows)?;
                *removed += (input.len - rows.len()) as u64;
                rows.len() == input.len
            }
        };
        if all && *identity && input.columns.len() == columns.len() {
            return Ok(None);
        }
        let sel = if all { None } else { Some(&rows[..]) };
        let len = if all { input.len } else { rows.len() };
        let mut out = match own.take() {
            Some(b) => b,
            None => Batch::new(columns.iter().map(|c| match c {
                OutputColumn::Take(i, _) => input.columns[*i].is_by_val(),
                OutputColumn::Compute(p, _) => p.by_val,
            })),
        };
        for (c, column) in columns.iter_mut().zip(&mut out.columns) {
            let OutputColumn::Compute(p, st) = c else { continue };
            if len > ROWWISE_MAX {
                // This error is never reported; it only makes the caller evaluate row by row. So it
                // must not be of class 57.
                *column = p
                    .eval_bounded(st, run, input, sel)?
                    .ok_or_else(|| PgError::internal("a column is too wide for one batch"))?;
                continue;
            }
            // For few rows, row evaluation avoids intermediate columns.
            for i in 0..len {
                let row = sel.map_or(i, |s| s[i] as usize);
                let at = RowInput::scan(RowRef::Batch(input, row));
                column.push(p.eval_row(st, run, &at)?.as_ref());
            }
        }
        // In reverse order, because the first output column of an input column moves it.
        for (c, column) in columns.iter_mut().zip(&mut out.columns).rev() {
            let OutputColumn::Take(i, first) = c else { continue };
            match sel {
                Some(rows) => column.extend_rows(&input.columns[*i], rows),
                None if *first => std::mem::swap(column, &mut input.columns[*i]),
                None => column.extend_range(&input.columns[*i], 0, len),
            }
        }
        out.len = len;
        input.clear();
        Ok(Some(out))
    }

    /// Evaluates each row completely before the next one, starting at row `from`. Rows that do not
    /// fit the batch are left in `pending`.
    fn row_by_row(&mut self, run: &mut Run<'_>, input: Batch, from: usize) -> Result<Batch> {
        let mut out = Batch::new(self.columns.iter().map(|c| match c {
            OutputColumn::Take(i, _) => input.columns[*i].is_by_val(),
            OutputColumn::Compute(p, _) => p.by_val,
        }));
        let mut values: Vec<Datum> = Vec::with_capacity(self.columns.len());
        for row in from..input.len {
            let mut passes = false;
            let done = self.one_row(run, &input, row, &mut values).map(|p| passes = p);
            if !self.deferred.defer(out.len, done)? {
                break;
            }
            if passes {
                for (column, v) in out.columns.iter_mut().zip(&values) {
                    column.push(v.as_ref());
                }
                out.len += 1;
                if out.is_full() && row + 1 < input.len {
                    self.pending = Some((input, row + 1));
                    break;
                }
            }
        }
        Ok(out)
    }

    /// Evaluates one row; false if the filter rejects it.
    fn one_row(
        &mut self,
        run: &mut Run<'_>,
        input: &Batch,
        row: usize,
        values: &mut Vec<Datum>,
    ) -> Result<bool> {
        values.clear();
        let at = RowInput::scan(RowRef::Batch(input, row));
        if let Some((program, st)) = &mut self.filter
            && !program.test_row(st, run, &at)?
        {
            self.removed += 1;
            return Ok(false);
        }
        for c in &mut self.columns {
            values.push(match c {
                OutputColumn::Take(i, _) => input.get(row, *i).to_owned(),
                OutputColumn::Compute(p, st) => p.eval_row(st, run, &at)?.into_owned(),
            });
        }
        Ok(true)
    }

    /// True if a returned batch can be reused as an input batch of `width` columns.
    pub(crate) fn passes(&self, batch: &Batch, width: usize) -> bool {
        self.identity && width == self.columns.len() && batch.columns.len() == width
    }

    /// Reuses the memory of a returned batch.
    pub(crate) fn recycle(&mut self, mut batch: Batch) {
        if batch.columns.len() == self.columns.len() {
            batch.clear();
            self.spare = Some(batch);
        }
    }

    /// For a rescan: drops rows and errors not yet returned.
    pub(crate) fn restart(&mut self) {
        self.deferred = DeferredError::default();
        self.pending = None;
    }

    /// As [`Self::restart`]; also frees large memory.
    pub(crate) fn release(&mut self) {
        self.restart();
        self.spare.take_if(|b| rowops::spare::is_large(b));
    }

    /// True if there is no filter and all output columns are input columns.
    pub(crate) fn only_takes_columns(&self) -> bool {
        let taken = |c: &OutputColumn| matches!(c, OutputColumn::Take(..));
        self.filter.is_none() && self.columns.iter().all(taken)
    }

    /// True if rows that are not used must not be evaluated.
    pub(crate) fn is_volatile(&self) -> bool {
        self.in_order
    }

    pub(crate) fn has_filter(&self) -> bool {
        self.filter.is_some()
    }
}

/// A Result node with a child, or a SubqueryScan: filters and projects, after a one-time filter.
pub(crate) struct ProjectNode {
    child: Node,
    projection: Projection,
    one_time_filter: Option<Program>,
    one_time_state: EvalState,
    passes: Option<bool>,
}

impl ProjectNode {
    pub(crate) fn boxed(
        plan: &Plan,
        child: Node,
        one_time_filter: &[Expr],
        run: &mut Run<'_>,
    ) -> Result<Node> {
        let mut cols = ChildColumns { outer: Source::Scan };
        let projection = Projection::new(&plan.info.target_list, &plan.info.qual, &mut cols, run)?;
        let one_time_filter = match one_time_filter {
            [] => None,
            g => Some(compile_all(g, &mut cols, run)?),
        };
        let one_time_state = EvalState::default();
        Ok(Box::new(ProjectNode {
            child,
            projection,
            one_time_filter,
            one_time_state,
            passes: None,
        }))
    }

    /// A subquery scan, whose Vars are positions in the subquery's target list.
    pub(crate) fn over_scan(plan: &Plan, child: Node, run: &mut Run<'_>) -> Result<Node> {
        let mut cols = ByPosition::of(plan, run)?;
        let projection = Projection::new(&plan.info.target_list, &plan.info.qual, &mut cols, run)?;
        Ok(Box::new(ProjectNode {
            child,
            projection,
            one_time_filter: None,
            one_time_state: EvalState::default(),
            passes: None,
        }))
    }
}

/// Resolver for scans of sources other than tables: column `n` is column `n - 1` of the batch.
pub(crate) struct ByPosition {
    row: Arc<RowDesc>,
}

impl ByPosition {
    /// The resolver for a scan node that is not a table scan.
    pub(crate) fn of(plan: &Plan, run: &mut Run<'_>) -> Result<ByPosition> {
        let (rti, types) = match &plan.node {
            PlanNode::SubqueryScan { scanrelid, child } => {
                let live = child.info.target_list.iter().filter(|t| !t.resjunk);
                (*scanrelid, live.map(|t| t.expr.type_oid()).collect())
            }
            PlanNode::ValuesScan { scanrelid, .. }
            | PlanNode::FunctionScan { scanrelid, .. }
            | PlanNode::CteScan { scanrelid, .. }
            | PlanNode::WorkTableScan { scanrelid, .. }
            | PlanNode::NamedTuplestoreScan { scanrelid, .. } => (*scanrelid, Vec::new()),
            _ => return Ok(ByPosition { row: Arc::default() }),
        };
        let desc = run.st.desc.plan.clone();
        let Some(rte) = desc.rtable.get((rti - 1).max(0) as usize) else {
            return Ok(ByPosition { row: Arc::default() });
        };
        let types: Vec<Oid> = match (&rte.kind, &plan.node) {
            (
                RteKind::Values { coltypes, .. }
                | RteKind::Cte { coltypes, .. }
                | RteKind::NamedTuplestore { coltypes, .. },
                _,
            ) => coltypes.clone(),
            (_, PlanNode::FunctionScan { functions, ordinality, .. }) => {
                crate::source::function_types(functions, *ordinality, run)?
            }
            _ => types,
        };
        let columns = types
            .into_iter()
            .enumerate()
            .map(|(i, ty)| RowColumn {
                name: rte.eref.colnames.get(i).cloned().unwrap_or_default(),
                ty,
                typmod: -1,
                collation: Oid::INVALID,
                // The values of a dropped column of a transition table are all NULL.
                dropped: (!ty.is_valid()).then_some(Dropped {
                    len: 4,
                    by_val: true,
                    align: Align::Int,
                }),
            })
            .collect();
        Ok(ByPosition { row: Arc::new(RowDesc::new(columns, 0)) })
    }
}

impl Resolve for ByPosition {
    fn var(&mut self, var: &Var) -> Result<Slot> {
        Ok(Slot { source: Source::Scan, column: (var.varattno - 1).max(0) as usize })
    }

    fn whole_row(&mut self, _: &Var) -> Result<(Vec<Slot>, Arc<RowDesc>)> {
        let slot = |column| Slot { source: Source::Scan, column };
        Ok(((0..self.row.columns.len()).map(slot).collect(), self.row.clone()))
    }
}

impl Exec for ProjectNode {
    fn report(&self, counts: &mut Counts) {
        counts.removed = self.projection.removed;
    }

    fn next(&mut self, run: &mut Run<'_>, want: usize) -> Result<Option<Batch>> {
        if let Some(rest) = self.projection.rest(run)? {
            return Ok(Some(rest));
        }
        if let Some(filter) = &self.one_time_filter {
            let passes = match self.passes {
                Some(p) => p,
                None => filter.test_row(&mut self.one_time_state, run, &RowInput::EMPTY)?,
            };
            self.passes = Some(passes);
            if !passes {
                return Ok(None);
            }
        }
        // The filter may reject many batches, so interrupts are checked between them.
        loop {
            let Some(batch) = self.child.next(run, want)? else { return Ok(None) };
            let mut spare = None;
            let out = self.projection.apply_keeping(run, batch, &mut spare)?;
            if let Some(b) = spare {
                self.child.recycle(b);
            }
            if out.len > 0 || !self.projection.has_filter() {
                return Ok(Some(out));
            }
            run.interrupts()?;
        }
    }

    fn skip(&mut self, run: &mut Run<'_>, rows: usize) -> Result<Option<usize>> {
        if self.one_time_filter.is_some() || !self.projection.only_takes_columns() {
            return Ok(None);
        }
        self.child.skip(run, rows)
    }

    fn rescan(&mut self, run: &mut Run<'_>) -> Result<()> {
        self.passes = None;
        self.projection.restart();
        self.child.rescan(run)
    }

    fn reset(&mut self, run: &mut Run<'_>) -> Result<bool> {
        self.passes = None;
        self.projection.release();
        self.child.reset(run)
    }

    fn set_bound(&mut self, bound: Option<usize>) {
        self.child.set_bound(bound.filter(|_| !self.projection.has_filter()));
    }

    fn recycle(&mut self, batch: Batch) {
        self.projection.recycle(batch);
    }

    fn is_volatile(&self) -> bool {
        self.projection.is_volatile() || self.child.is_volatile()
    }
}
