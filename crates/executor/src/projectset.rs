//! Set-returning functions in a target list. Counterpart: nodeProjectSet.c.

use crate::node::{ChildColumns, DeferredError, Exec, Node, batch_for, compile};
use crate::project::is_volatile;
use crate::run::Run;
use crate::setcall::{STEP_ROWS, SetCall, SetStart};
use crate::source::{argument_types, row_columns};
use eval::{EvalState, Program, RowInput, RowRef, Source};
use ids::code::TypType;
use pgerror::Result;
use plan::expr::{CoercionForm, Expr, FuncExpr, OpExpr};
use plan::node::Plan;
use rowops::spare::is_wide;
use types::{Batch, Datum, DatumRef};

/// Evaluates the set-returning functions of a target list in lockstep: for each input row, the
/// number of output rows is that of the longest set, and shorter sets are padded with NULL. The
/// columns are evaluated from left to right until all sets have ended: the other columns once more
/// than there are rows, unless this makes no difference.
pub(crate) struct ProjectSetNode {
    child: Node,
    columns: Vec<SetColumn>,
    template: Batch,
    input: Option<(Batch, usize)>,
    /// The sets of the current input row are being read.
    active: bool,
    /// Column of the only set, if the other columns are not volatile: the output rows of an input
    /// row then differ in this column only.
    only: Option<usize>,
    /// Nothing in the child is volatile, so its rows may be computed before they are needed.
    reads_ahead: bool,
    spare: Option<Batch>,
    deferred: DeferredError,
}

enum SetColumn {
    Plain(Program, EvalState),
    Set(Box<SetCall>),
}

impl SetColumn {
    /// Calls the function of a set for a new input row; returns its value if it returns one value.
    fn start(&mut self, run: &mut Run<'_>, input: &RowInput<'_>) -> Result<Option<Datum>> {
        let SetColumn::Set(s) = self else { return Ok(None) };
        Ok(match s.start(run, input)? {
            SetStart::One(v) => Some(v),
            _ => None,
        })
    }

    /// The column's value in the next row, which may be the `first` of the input row; `None` if its
    /// set has ended.
    fn next(
        &mut self,
        run: &mut Run<'_>,
        input: &RowInput<'_>,
        first: bool,
        fields: &mut Vec<Datum>,
    ) -> Result<Option<Datum>> {
        if first && let Some(v) = self.start(run, input)? {
            return Ok(Some(v));
        }
        match self {
            SetColumn::Plain(p, st) => Ok(Some(p.eval_row(st, run, input)?.into_owned())),
            SetColumn::Set(s) => s.next_value(run, fields),
        }
    }
}

/// The call of the function of an operator that returns a set.
fn call_of(op: &OpExpr, run: &mut Run<'_>) -> Result<Expr> {
    Ok(Expr::FuncExpr(Box::new(FuncExpr {
        funcid: run.sv.as_facts().operator_function(op.opno)?,
        funcresulttype: op.opresulttype,
        funcretset: true,
        funcvariadic: false,
        funcformat: CoercionForm::ExplicitCall,
        funccollid: op.opcollid,
        inputcollid: op.inputcollid,
        args: op.args.clone(),
        location: op.location,
    })))
}

impl ProjectSetNode {
    pub(crate) fn boxed(plan: &Plan, child: Node, run: &mut Run<'_>) -> Result<Node> {
        let mut columns = Vec::new();
        for t in &plan.info.target_list {
            let mut cols = ChildColumns { outer: Source::Scan };
            let set = match &t.expr {
                Expr::FuncExpr(f) if f.funcretset => Some(t.expr.clone()),
                Expr::OpExpr(op) if op.opretset => Some(call_of(op, run)?),
                _ => None,
            };
            columns.push(if let Some(set) = set {
                let mut call = SetCall::new(&set, &mut cols, 0, run)?;
                let ty = set.type_oid();
                let known = match &set {
                    Expr::FuncExpr(f) if ty == types::oids::RECORD => {
                        run.sv.out_columns(f.funcid, &argument_types(f))?.is_some()
                    }
                    _ => run.sv.as_facts().type_info(ty)?.kind == TypType::Composite,
                };
                if known {
                    call.field_types = row_columns(&set, run)?;
                }
                SetColumn::Set(Box::new(call))
            } else {
                SetColumn::Plain(compile(&t.expr, &mut cols, run)?, EvalState::default())
            });
        }
        let template = batch_for(&plan.info.target_list, run)?;
        let mut only = None;
        for (i, (t, c)) in plan.info.target_list.iter().zip(&columns).enumerate() {
            match c {
                SetColumn::Set(_) if only.is_none() => only = Some(i),
                SetColumn::Plain(..) if !is_volatile(&t.expr, run)? => {}
                _ => {
                    only = None;
                    break;
                }
            }
        }
        let mut reads_ahead = true;
        let mut below: Vec<&Plan> = plan.children();
        while let Some(plan) = below.pop() {
            below.extend(plan.children());
            let mut exprs = Vec::new();
            plan::params::each_expr(plan, &mut |e| exprs.push(e));
            for e in exprs {
                reads_ahead &= !is_volatile(e, run)?;
            }
        }
        Ok(Box::new(ProjectSetNode {
            child,
            columns,
            template,
            input: None,
            active: false,
            only,
            reads_ahead,
            spare: None,
            deferred: DeferredError::default(),
        }))
    }

    /// Appends the next rows of the only set, which is being read; false at its end.
    fn fill(&mut self, run: &mut Run<'_>, want: usize, out: &mut Batch) -> Result<bool> {
        let (Some(only), Some((batch, at))) = (self.only, &self.input) else { return Ok(false) };
        let Some(SetColumn::Set(call)) = self.columns.get_mut(only) else { return Ok(false) };
        let rows = (want - out.len).min(STEP_ROWS);
        // The values returned before an error are output rows.
        let more = call.fill(run, &mut out.columns[only], rows);
        let added = out.columns[only].len() - out.len;
        if added > 0 {
            let input = RowInput::scan(RowRef::Batch(batch, *at));
            for (c, column) in self.columns.iter_mut().zip(&mut out.columns) {
                let SetColumn::Plain(p, st) = c else { continue };
                let v = p.eval_row(st, run, &input)?;
                for _ in 0..added {
                    column.push(v.as_ref());
                }
            }
        }
        out.len += added;
        run.interrupts()?;
        more
    }

    /// True if the next rows come from [`Self::fill`].
    fn fills(&self) -> bool {
        let only = self.only.and_then(|i| self.columns.get(i));
        self.active && matches!(only, Some(SetColumn::Set(call)) if call.runs_values())
    }

    /// Appends rows until `out` has `want` rows or the input ends.
    fn rows(&mut self, run: &mut Run<'_>, want: usize, out: &mut Batch) -> Result<()> {
        let mut row: Vec<Option<Datum>> = Vec::with_capacity(self.columns.len());
        let mut fields = Vec::new();
        let mut one = None;
        while out.len < want && !out.is_full() {
            if self.fills() {
                self.active = self.fill(run, want, out)?;
                if let (false, Some((_, at))) = (self.active, &mut self.input) {
                    *at += 1;
                }
                continue;
            }
            let ask = if self.reads_ahead { want } else { 1 };
            let (batch, at) = match &mut self.input {
                Some(x) => x,
                slot => match self.child.next(run, ask)? {
                    Some(b) => slot.insert((b, 0)),
                    None => break,
                },
            };
            if *at >= batch.len {
                if let Some((used, _)) = self.input.take() {
                    self.child.recycle(used);
                }
                continue;
            }
            let input = RowInput::scan(RowRef::Batch(batch, *at));
            let first = !std::mem::replace(&mut self.active, true);
            if first && let Some(i) = self.only {
                // How its values are read depends on the function that runs.
                one = self.columns[i].start(run, &input)?;
                continue;
            }
            let mut any = false;
            row.clear();
            for c in &mut self.columns {
                let v = match c {
                    SetColumn::Set(_) if one.is_some() => one.take(),
                    _ => c.next(run, &input, first, &mut fields)?,
                };
                any |= v.is_some() && matches!(c, SetColumn::Set(_));
                row.push(v);
            }
            if !any {
                self.active = false;
                *at += 1;
                continue;
            }
            for (v, column) in row.iter().zip(&mut out.columns) {
                column.push(v.as_ref().map_or(DatumRef::Null, Datum::as_ref));
            }
            out.len += 1;
            if out.len.is_multiple_of(256) {
                run.interrupts()?;
            }
        }
        Ok(())
    }
}

impl Exec for ProjectSetNode {
    fn is_volatile(&self) -> bool {
        !self.reads_ahead || self.child.is_volatile()
    }

    fn next(&mut self, run: &mut Run<'_>, want: usize) -> Result<Option<Batch>> {
        self.deferred.raise()?;
        let mut out = self.spare.take().unwrap_or_else(|| self.template.clone());
        let done = self.rows(run, want, &mut out);
        if !self.deferred.defer(out.len, done)? {
            // Remove the partial columns of the failed row.
            let len = out.len;
            out.columns.iter_mut().for_each(|c| c.truncate(len));
        }
        Ok(if out.len == 0 { None } else { Some(out) })
    }

    fn recycle(&mut self, mut batch: Batch) {
        if !is_wide(&batch) {
            batch.clear();
            self.spare = Some(batch);
        }
    }

    fn rescan(&mut self, run: &mut Run<'_>) -> Result<()> {
        self.input = None;
        self.active = false;
        self.deferred = DeferredError::default();
        self.child.rescan(run)
    }

    fn reset(&mut self, run: &mut Run<'_>) -> Result<bool> {
        for c in &mut self.columns {
            if let SetColumn::Set(s) = c {
                s.release();
            }
        }
        self.input = None;
        self.active = false;
        self.spare = None;
        self.deferred = DeferredError::default();
        self.child.reset(run)
    }
}
