//! Conditions and target lists over batches: what every scan and every one-child node ends with.

use crate::node::*;
use crate::run::Run;
use eval::{EvalState, Program, Resolve, RowInput, Slot, Source, select_true};
use ids::Oid;
use pgerror::Result;
use plan::expr::*;
use plan::node::{Plan, PlanNode};
use plan::query::RteKind;
use std::sync::Arc;
use types::fncx::{RowColumn, RowDesc};
use types::{Batch, Column};

/// A filter and a projection.
pub(crate) struct Projection {
    filter: Option<(Program, EvalState)>,
    columns: Vec<OutputColumn>,
    /// Nothing to compute: each column is one of the input, in order.
    identity: bool,
}

enum OutputColumn {
    /// A column of the input as it is.
    Take(usize),
    Compute(Program, EvalState),
}

impl Projection {
    /// For expressions over [`Source::Scan`] columns. `width` is the number of the input's columns where it
    /// is known, for the shortcut of an identical target list.
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
        let mut columns = Vec::with_capacity(targets.len());
        for t in targets {
            if let Expr::Var(v) = &t.expr
                && v.varattno != 0
            {
                let Slot { source, column } = cols.var(v)?;
                if source == Source::Scan {
                    columns.push(OutputColumn::Take(column));
                    continue;
                }
            }
            columns.push(OutputColumn::Compute(compile(&t.expr, cols, run)?, EvalState::default()));
        }
        let identity =
            columns.iter().enumerate().all(|(i, c)| matches!(c, OutputColumn::Take(k) if *k == i));
        Ok(Projection { filter, columns, identity })
    }

    /// The rows that pass, projected.
    pub(crate) fn apply(&mut self, run: &mut Run<'_>, input: Batch) -> Result<Batch> {
        let sel = match &mut self.filter {
            None => None,
            Some((program, st)) => {
                let sel = select_true(program, st, run, &input, None)?;
                if sel.len() == input.len { None } else { Some(sel) }
            }
        };
        if sel.is_none() && self.identity && input.columns.len() == self.columns.len() {
            return Ok(input);
        }
        let len = sel.as_ref().map_or(input.len, Vec::len);
        let mut columns = Vec::with_capacity(self.columns.len());
        for c in &mut self.columns {
            columns.push(match c {
                OutputColumn::Take(i) => take(&input.columns[*i], sel.as_deref()),
                OutputColumn::Compute(p, st) => p.eval_batch(st, run, &input, sel.as_deref())?,
            });
        }
        Ok(Batch { len, columns })
    }

    pub(crate) fn has_filter(&self) -> bool {
        self.filter.is_some()
    }
}

/// The selected rows of a column.
pub(crate) fn take(col: &Column, sel: Option<&[u16]>) -> Column {
    match sel {
        None => col.clone(),
        Some(rows) => col.gather(rows),
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
                dropped: false,
            })
            .collect();
        Ok(ByPosition { row: Arc::new(RowDesc { columns }) })
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
    fn next(&mut self, run: &mut Run<'_>, want: usize) -> Result<Option<Batch>> {
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
            let out = self.projection.apply(run, batch)?;
            if out.len > 0 || !self.projection.has_filter() {
                return Ok(Some(out));
            }
            run.interrupts()?;
        }
    }

    fn rescan(&mut self, run: &mut Run<'_>) -> Result<()> {
        self.open = None;
        self.child.rescan(run)
    }

    fn reset(&mut self, run: &mut Run<'_>) -> Result<bool> {
        self.open = None;
        self.child.reset(run)
    }

    fn set_bound(&mut self, bound: Option<usize>) {
        self.child.set_bound(bound.filter(|_| !self.projection.has_filter()));
    }
}
