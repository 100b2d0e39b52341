//! Conditions and target lists over batches: what every scan and every one-child node ends with.

use crate::instrument::Counts;
use crate::node::*;
use crate::run::Run;
use eval::{
    EvalState, Program, Resolve, RowInput, RowRef, Selection, Slot, Source, Volatility,
    select_into, volatility,
};
use ids::Oid;
use pgerror::{PgError, Result};
use plan::expr::*;
use plan::node::{Plan, PlanNode};
use plan::query::RteKind;
use std::sync::Arc;
use types::batch::ColumnData;
use types::fncx::{RowColumn, RowDesc};
use types::{Batch, Column, Datum};

/// A filter and a projection.
pub(crate) struct Projection {
    filter: Option<(Program, EvalState)>,
    columns: Vec<OutputColumn>,
    /// Nothing to compute: each column is one of the input, in order.
    identity: bool,
    /// Rows that did not pass.
    pub removed: u64,
    /// Memory of a batch whose rows have been used.
    spare: Option<Batch>,
    /// The rows that pass.
    rows: Selection,
    /// Something is volatile: row after row, each from left to right, as whoever counts calls
    /// expects.
    in_order: bool,
    /// The error of a row that others went before.
    late: Late,
    /// Input of which the output has become too large for one batch, and the first row not yet
    /// looked at.
    held: Option<(Batch, usize)>,
}

/// Up to so many rows are projected one by one.
const ROWWISE_MAX: usize = 2;

/// Does the expression, or a sub-plan that it runs, call a volatile function, or does its order
/// among others matter?
pub(crate) fn is_volatile(expr: &Expr, run: &mut Run<'_>) -> Result<bool> {
    // A sub-plan that leaves values for other columns must have run for the row when they are
    // computed.
    let sets = |e: &Expr| matches!(e, Expr::SubPlan(s) if !s.set_param.is_empty());
    if plan::walk::any(expr, &mut |e| sets(e))
        || volatility(expr, run.sv.as_facts())? == Volatility::Volatile
    {
        return Ok(true);
    }
    let mut plans = Vec::new();
    collect_plans(expr, &mut plans);
    let desc = run.st.desc.plan.clone();
    let mut i = 0;
    while let Some(&id) = plans.get(i) {
        i += 1;
        let mut nodes = vec![&desc.subplans[id as usize - 1]];
        while let Some(plan) = nodes.pop() {
            nodes.extend(plan.children());
            let mut exprs = Vec::new();
            plan::params::each_expr(plan, &mut |e| exprs.push(e));
            for e in exprs {
                if volatility(e, run.sv.as_facts())? == Volatility::Volatile {
                    return Ok(true);
                }
                collect_plans(e, &mut plans);
            }
        }
    }
    Ok(false)
}

/// The sub-plans that an expression runs.
fn collect_plans(expr: &Expr, out: &mut Vec<u32>) {
    if let Expr::SubPlan(s) = expr
        && !out.contains(&s.plan_id)
    {
        out.push(s.plan_id);
    }
    plan::walk::each_child(expr, &mut |c| collect_plans(c, out));
}

/// Is its memory too large to be kept while nothing runs?
pub(crate) fn is_large(batch: &Batch) -> bool {
    const KEPT_BYTES_MAX: usize = 16 * 1024;
    room(batch) > KEPT_BYTES_MAX
}

/// Is its memory too large to be kept for the next rows, which may be narrow?
pub(crate) fn is_wide(batch: &Batch) -> bool {
    const REUSED_BYTES_MAX: usize = 1 << 20;
    room(batch) > REUSED_BYTES_MAX
}

/// Bytes that a batch has room for.
fn room(batch: &Batch) -> usize {
    let size = |c: &Column| match &c.data {
        ColumnData::Word(w) => w.capacity() * 8,
        ColumnData::Bytes(b) => b.data.capacity() + b.offsets.capacity() * 4,
    };
    batch.columns.iter().map(size).sum()
}

enum OutputColumn {
    /// A column of the input as it is; is this the first output column that is that one?
    Take(usize, bool),
    Compute(Program, EvalState),
}

/// Has somebody ended the statement, or the session? (Class 57.)
fn ends_statement(e: &PgError) -> bool {
    e.code().as_str().starts_with("57")
}

impl Projection {
    /// For expressions over [`Source::Scan`] columns. `width` is the number of the input's columns
    /// where it is known, for the shortcut of an identical target list.
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
            late: Late::default(),
            held: None,
        })
    }

    /// What is left of the input last given, projected, or the error that came after the rows last
    /// given out: to be asked for before more are made.
    pub(crate) fn rest(&mut self, run: &mut Run<'_>) -> Result<Option<Batch>> {
        self.late.raise()?;
        while let Some((input, from)) = self.held.take() {
            let out = self.row_by_row(run, input, from)?;
            if out.len > 0 {
                return Ok(Some(out));
            }
            self.late.raise()?;
        }
        Ok(None)
    }

    /// The rows that pass, projected.
    pub(crate) fn apply(&mut self, run: &mut Run<'_>, input: Batch) -> Result<Batch> {
        self.apply_keeping(run, input, &mut None)
    }

    /// As [`Self::apply`]; the input's memory goes, empty, to `spare` where the output does not
    /// have it.
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
        match self.at_once(run, &mut input) {
            // Rows before the one that fails are given out, and it may be another one in row order.
            // A cancellation is told once: evaluated again, the rows would go on for ever.
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

    /// Evaluates column by column; nothing where the output is the input. After an error the input
    /// is as before.
    fn at_once(&mut self, run: &mut Run<'_>, input: &mut Batch) -> Result<Option<Batch>> {
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
                // The error is not told: it makes the rows go one by one, so it must not be one
                // that ends the statement.
                *column = p
                    .eval_bounded(st, run, input, sel)?
                    .ok_or_else(|| PgError::internal("a column is too wide for one batch"))?;
                continue;
            }
            // For a few rows no column is made for any part of the expression.
            for i in 0..len {
                let row = sel.map_or(i, |s| s[i] as usize);
                let at = RowInput::scan(RowRef::Batch(input, row));
                column.push(p.eval_row(st, run, &at)?.as_ref());
            }
        }
        // From the last to the first: the first to take a column takes it away.
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

    /// Evaluates all of a row before the next one, from row `from` on. What does not fit a batch is
    /// held for later.
    fn row_by_row(&mut self, run: &mut Run<'_>, input: Batch, from: usize) -> Result<Batch> {
        let mut out = Batch::new(self.columns.iter().map(|c| match c {
            OutputColumn::Take(i, _) => input.columns[*i].is_by_val(),
            OutputColumn::Compute(p, _) => p.by_val,
        }));
        let mut values: Vec<Datum> = Vec::with_capacity(self.columns.len());
        for row in from..input.len {
            let mut passes = false;
            let done = self.one_row(run, &input, row, &mut values).map(|p| passes = p);
            if !self.late.after(out.len, done)? {
                break;
            }
            if passes {
                for (column, v) in out.columns.iter_mut().zip(&values) {
                    column.push(v.as_ref());
                }
                out.len += 1;
                if out.is_full() && row + 1 < input.len {
                    self.held = Some((input, row + 1));
                    break;
                }
            }
        }
        Ok(out)
    }

    /// The output for one row; false where the row does not pass.
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

    /// Could the batch, which was given out, be an input as it is (of so many columns)?
    pub(crate) fn passes(&self, batch: &Batch, width: usize) -> bool {
        self.identity && width == self.columns.len() && batch.columns.len() == width
    }

    /// Takes back a batch that was given out.
    pub(crate) fn recycle(&mut self, mut batch: Batch) {
        if batch.columns.len() == self.columns.len() {
            batch.clear();
            self.spare = Some(batch);
        }
    }

    /// Begins anew: what was left behind belongs to rows that nobody asked for.
    pub(crate) fn restart(&mut self) {
        self.late = Late::default();
        self.held = None;
    }

    /// As [`Self::restart`]; gives up memory that is worth it.
    pub(crate) fn let_go(&mut self) {
        self.restart();
        self.spare.take_if(|b| is_large(b));
    }

    /// Does each row of the input give one of the output, with nothing computed?
    pub(crate) fn only_takes(&self) -> bool {
        let taken = |c: &OutputColumn| matches!(c, OutputColumn::Take(..));
        self.filter.is_none() && self.columns.iter().all(taken)
    }

    pub(crate) fn has_filter(&self) -> bool {
        self.filter.is_some()
    }
}

/// A node with one child that filters and projects, behind a condition tested once.
pub(crate) struct ProjectNode {
    child: Node,
    projection: Projection,
    gate: Option<Program>,
    gate_state: EvalState,
    open: Option<bool>,
}

impl ProjectNode {
    pub(crate) fn boxed(
        plan: &Plan,
        child: Node,
        gate: &[Expr],
        run: &mut Run<'_>,
    ) -> Result<Node> {
        let mut cols = ChildColumns { outer: Source::Scan };
        let projection = Projection::new(&plan.info.target_list, &plan.info.qual, &mut cols, run)?;
        let gate = match gate {
            [] => None,
            g => Some(compile_all(g, &mut cols, run)?),
        };
        let gate_state = EvalState::default();
        Ok(Box::new(ProjectNode { child, projection, gate, gate_state, open: None }))
    }

    /// A subquery scan: its Vars name the subquery's columns by position.
    pub(crate) fn over_scan(plan: &Plan, child: Node, run: &mut Run<'_>) -> Result<Node> {
        let mut cols = ByPosition::of(plan, run)?;
        let projection = Projection::new(&plan.info.target_list, &plan.info.qual, &mut cols, run)?;
        Ok(Box::new(ProjectNode {
            child,
            projection,
            gate: None,
            gate_state: EvalState::default(),
            open: None,
        }))
    }
}

/// Column `n` of the scanned relation is column `n - 1` of the batch.
pub(crate) struct ByPosition {
    row: Arc<RowDesc>,
}

impl ByPosition {
    /// For a scan of something that is no table.
    pub(crate) fn of(plan: &Plan, run: &mut Run<'_>) -> Result<ByPosition> {
        let (rti, types) = match &plan.node {
            PlanNode::SubqueryScan { scanrelid, child } => {
                let live = child.info.target_list.iter().filter(|t| !t.resjunk);
                (*scanrelid, live.map(|t| t.expr.type_oid()).collect())
            }
            PlanNode::ValuesScan { scanrelid, .. }
            | PlanNode::FunctionScan { scanrelid, .. }
            | PlanNode::CteScan { scanrelid, .. }
            | PlanNode::WorkTableScan { scanrelid, .. } => (*scanrelid, Vec::new()),
            _ => return Ok(ByPosition { row: Arc::default() }),
        };
        let desc = run.st.desc.plan.clone();
        let Some(rte) = desc.rtable.get((rti - 1).max(0) as usize) else {
            return Ok(ByPosition { row: Arc::default() });
        };
        let types: Vec<Oid> = match (&rte.kind, &plan.node) {
            (RteKind::Values { coltypes, .. } | RteKind::Cte { coltypes, .. }, _) => {
                coltypes.clone()
            }
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
                dropped: None,
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
        if let Some(gate) = &self.gate {
            let open = match self.open {
                Some(o) => o,
                None => gate.test_row(&mut self.gate_state, run, &RowInput::EMPTY)?,
            };
            self.open = Some(open);
            if !open {
                return Ok(None);
            }
        }
        // A filter may let nothing through for long: look at interrupts between batches.
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
        if self.gate.is_some() || !self.projection.only_takes() {
            return Ok(None);
        }
        self.child.skip(run, rows)
    }

    fn rescan(&mut self, run: &mut Run<'_>) -> Result<()> {
        self.open = None;
        self.projection.restart();
        self.child.rescan(run)
    }

    fn reset(&mut self, run: &mut Run<'_>) -> Result<bool> {
        self.open = None;
        self.projection.let_go();
        self.child.reset(run)
    }

    fn set_bound(&mut self, bound: Option<usize>) {
        self.child.set_bound(bound.filter(|_| !self.projection.has_filter()));
    }

    fn recycle(&mut self, batch: Batch) {
        self.projection.recycle(batch);
    }
}
