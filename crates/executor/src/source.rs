//! Row sources other than tables: Result, VALUES, functions in FROM, `WITH` queries, working
//! tables; and Append. Counterpart: nodeResult.c, nodeValuesscan.c, nodeFunctionscan.c,
//! nodeCtescan.c, nodeWorktablescan.c, nodeAppend.c.

use crate::depend::Sources;
use crate::instrument::Counts;
use crate::node::{ChildColumns, Exec, Node, compile, compile_all, reset_all};
use crate::project::{ByPosition, Projection, is_volatile};
use crate::run::{Run, Shared};
use crate::services::SetStream;
use crate::sort::slice;
use crate::spare::{is_large, is_wide};
use crate::spill::RowStore;
use eval::{CallContext, Callee, EvalState, HostCall, Program, Resolve, RowInput, Source};
use pgerror::{PgError, Result, bail, pg_err};
use plan::expr::{Expr, FuncExpr};
use plan::node::Plan;
use plan::query::RangeTblFunction;
use std::any::Any;
use std::sync::Arc;
use types::builtin::{SetSource, SrfFn};
use types::{BATCH_BYTES_MAX, BATCH_ROWS_MAX, Batch, Column, Datum, DatumRef};

/// Result without a child: one row, or none if the one-time filter is not true.
pub(crate) struct ResultNode {
    projection: Projection,
    one_time_filter: Option<(Program, EvalState)>,
    done: bool,
}

impl ResultNode {
    pub(crate) fn boxed(plan: &Plan, one_time_filter: &[Expr], run: &mut Run<'_>) -> Result<Node> {
        let mut cols = ChildColumns { outer: Source::Scan };
        let one_time_filter = match one_time_filter {
            [] => None,
            g => Some((compile_all(g, &mut cols, run)?, EvalState::default())),
        };
        let projection = Projection::new(&plan.info.target_list, &plan.info.qual, &mut cols, run)?;
        Ok(Box::new(ResultNode { projection, one_time_filter, done: false }))
    }
}

impl Exec for ResultNode {
    fn next(&mut self, run: &mut Run<'_>, _: usize) -> Result<Option<Batch>> {
        if std::mem::replace(&mut self.done, true) {
            return Ok(None);
        }
        if let Some((filter, st)) = &mut self.one_time_filter
            && !filter.test_row(st, run, &RowInput::EMPTY)?
        {
            return Ok(None);
        }
        self.projection.apply(run, Batch { len: 1, columns: Vec::new() }).map(Some)
    }

    fn rescan(&mut self, _: &mut Run<'_>) -> Result<()> {
        self.done = false;
        Ok(())
    }

    fn reset(&mut self, _: &mut Run<'_>) -> Result<bool> {
        self.done = false;
        self.projection.release();
        Ok(true)
    }

    fn recycle(&mut self, batch: Batch) {
        self.projection.recycle(batch);
    }

    fn report(&self, counts: &mut Counts) {
        counts.removed = self.projection.removed;
    }
}

/// The rows of VALUES.
pub(crate) struct ValuesNode {
    rows: Vec<Vec<Program>>,
    st: EvalState,
    template: Batch,
    projection: Projection,
    at: usize,
}

impl ValuesNode {
    pub(crate) fn boxed(
        plan: &Plan,
        _: i32,
        lists: &[Vec<Expr>],
        run: &mut Run<'_>,
    ) -> Result<Node> {
        let mut rows = Vec::with_capacity(lists.len());
        let mut template = Batch::default();
        for (i, list) in lists.iter().enumerate() {
            let mut row = Vec::with_capacity(list.len());
            for e in list {
                row.push(compile(e, &mut ChildColumns { outer: Source::Scan }, run)?);
            }
            if i == 0 {
                template = Batch::new(row.iter().map(|p| p.by_val));
            }
            rows.push(row);
        }
        let mut cols = ByPosition::of(plan, run)?;
        let projection = Projection::new(&plan.info.target_list, &plan.info.qual, &mut cols, run)?;
        Ok(Box::new(ValuesNode { rows, st: EvalState::default(), template, projection, at: 0 }))
    }
}

impl Exec for ValuesNode {
    fn next(&mut self, run: &mut Run<'_>, want: usize) -> Result<Option<Batch>> {
        if let Some(rest) = self.projection.rest(run)? {
            return Ok(Some(rest));
        }
        if self.at >= self.rows.len() {
            return Ok(None);
        }
        let mut out = self.template.clone();
        while out.len < want && self.at < self.rows.len() {
            for (column, p) in out.columns.iter_mut().zip(&self.rows[self.at]) {
                // The programs of different rows have their own call sites.
                self.st = EvalState::default();
                let v = p.eval_row(&mut self.st, run, &RowInput::EMPTY)?;
                column.push(v.as_ref());
            }
            out.len += 1;
            self.at += 1;
        }
        self.projection.apply(run, out).map(Some)
    }

    fn rescan(&mut self, _: &mut Run<'_>) -> Result<()> {
        self.at = 0;
        self.projection.restart();
        Ok(())
    }

    fn reset(&mut self, _: &mut Run<'_>) -> Result<bool> {
        self.at = 0;
        self.projection.restart();
        Ok(true)
    }

    fn report(&self, counts: &mut Counts) {
        counts.removed = self.projection.removed;
    }
}

/// A call of a set-returning function, or of another function in FROM.
pub(crate) struct SetCall {
    args: Vec<(Program, EvalState)>,
    arg_types: Vec<ids::Oid>,
    how: SetHow,
    strict: bool,
    collation: ids::Oid,
    result_type: ids::Oid,
    st: EvalState,
    extra: Option<Box<dyn Any + Send>>,
    running: Option<Running>,
    /// Number of columns of a composite result; 0 for a scalar one.
    columns: usize,
    /// Types of the columns, if the caller forms composite values of them.
    pub field_types: Vec<ids::Oid>,
    /// Types and type modifiers of the column definition list.
    defined: Vec<(ids::Oid, i32)>,
    /// Each row of the running call is one value, not a list of columns.
    pub whole: bool,
    /// The row type may have more columns than the range-table entry, added since analysis.
    open: bool,
    /// The row type (type and type modifier) that has been checked against the declared columns.
    checked: Option<(ids::Oid, i32)>,
}

/// Number of values that a function returns between two checks for interrupts.
pub(crate) const STEP_ROWS: usize = 256;

/// A call whose rows are being read.
enum Running {
    Builtin(Box<dyn SetSource>),
    /// The session runs the function.
    Host(SetStream),
}

enum SetHow {
    Srf(SrfFn),
    Host(ids::Oid),
    /// An expression that returns one row.
    Once(Program),
    OnceDone,
}

impl SetCall {
    /// Expands a composite value into columns of these types.
    fn expand_row(
        &mut self,
        run: &mut Run<'_>,
        v: &Datum,
        wanted: &[ids::Oid],
    ) -> Result<Vec<Datum>> {
        let row = match v {
            Datum::Null => return Ok(vec![Datum::Null; wanted.len()]),
            Datum::Word(_) => return Err(row_mismatch(&attribute_count(1), wanted.len())),
            Datum::Bytes(_) => v.as_ref(),
        };
        let ty = types::record::type_of(row);
        if self.checked != Some(ty) {
            check_row_type(run, row, wanted, self.open)?;
            self.checked = Some(ty);
        }
        let mut columns = eval::row_columns(run, row)?;
        columns.truncate(wanted.len());
        Ok(columns)
    }

    pub(crate) fn new(
        e: &Expr,
        cols: &mut dyn Resolve,
        columns: usize,
        run: &mut Run<'_>,
    ) -> Result<SetCall> {
        let mut call = SetCall {
            args: Vec::new(),
            arg_types: Vec::new(),
            how: SetHow::OnceDone,
            strict: false,
            collation: ids::Oid::INVALID,
            result_type: e.type_oid(),
            st: EvalState::default(),
            extra: None,
            running: None,
            columns,
            field_types: Vec::new(),
            defined: Vec::new(),
            whole: false,
            open: false,
            checked: None,
        };
        if let Expr::FuncExpr(f) = e {
            let facts = run.sv.function(f.funcid)?;
            let how = match facts.callee {
                Callee::Srf(srf) => Some(SetHow::Srf(srf)),
                Callee::HostSet => Some(SetHow::Host(f.funcid)),
                // The column definition list determines the types of its columns.
                Callee::Host if columns > 0 && e.type_oid() == types::oids::RECORD => {
                    Some(SetHow::Host(f.funcid))
                }
                _ => None,
            };
            if let Some(how) = how {
                for a in eval::arguments(&f.args, &facts)?.iter() {
                    call.args.push((compile(a, cols, run)?, EvalState::default()));
                    call.arg_types.push(a.type_oid());
                }
                call.how = how;
                call.strict = facts.strict;
                call.collation = f.inputcollid;
                return Ok(call);
            }
            if f.funcretset && !matches!(facts.callee, Callee::Scalar(_)) {
                return Err(PgError::unsupported(format!("set-returning function {}", facts.name)));
            }
        }
        call.how = SetHow::Once(compile(e, cols, run)?);
        Ok(call)
    }

    /// Calls the function for an input row.
    pub(crate) fn start(&mut self, run: &mut Run<'_>, input: &RowInput<'_>) -> Result<SetStart> {
        self.running = None;
        match &self.how {
            SetHow::Srf(_) | SetHow::Host(_) => {
                let mut vals = Vec::with_capacity(self.args.len());
                for (p, st) in &mut self.args {
                    let v = p.eval_row(st, run, input)?.into_owned();
                    if v.is_null() && self.strict {
                        return Ok(SetStart::Empty);
                    }
                    vals.push(v);
                }
                let refs: Vec<DatumRef<'_>> = vals.iter().map(Datum::as_ref).collect();
                self.whole = false;
                self.running = Some(match &self.how {
                    SetHow::Host(function) => {
                        let call = HostCall {
                            function: *function,
                            collation: self.collation,
                            result_type: self.result_type,
                            arg_types: &self.arg_types,
                            args: &refs,
                        };
                        let stream = run.sv.call_host_set(&call, &self.defined)?;
                        self.whole = stream.whole;
                        Running::Host(stream)
                    }
                    SetHow::Srf(f) => {
                        let mut cx = CallContext {
                            host: run,
                            collation: self.collation,
                            arg_types: &self.arg_types,
                            result_type: self.result_type,
                            variadic_array: false,
                            extra: &mut self.extra,
                        };
                        Running::Builtin(f(&mut cx, &refs)?)
                    }
                    _ => return Ok(SetStart::Empty),
                });
                Ok(SetStart::Running)
            }
            SetHow::Once(p) => {
                let v = p.eval_row(&mut self.st, run, input)?.into_owned();
                Ok(SetStart::One(v))
            }
            SetHow::OnceDone => Ok(SetStart::Empty),
        }
    }

    /// Drops the running call.
    pub(crate) fn release(&mut self) {
        self.running = None;
        self.extra = None;
    }

    /// True if a built-in function is running whose rows are single values.
    pub(crate) fn runs_values(&self) -> bool {
        matches!(self.running, Some(Running::Builtin(_)))
            && self.columns == 0
            && self.field_types.is_empty()
    }

    /// True if the session runs the function.
    fn is_hosted(&self) -> bool {
        matches!(self.how, SetHow::Host(_))
    }

    /// Appends the next values of a running function to a column, at most `rows`; false at the end
    /// of the set.
    pub(crate) fn fill(
        &mut self,
        run: &mut Run<'_>,
        column: &mut Column,
        rows: usize,
    ) -> Result<bool> {
        let Some(Running::Builtin(source)) = &mut self.running else { return Ok(false) };
        let mut cx = CallContext {
            host: run,
            collation: self.collation,
            arg_types: &self.arg_types,
            result_type: self.result_type,
            variadic_array: false,
            extra: &mut self.extra,
        };
        let more = source.fill(&mut cx, column, rows)?;
        if !more {
            self.running = None;
        }
        Ok(more)
    }

    /// The next row of a running function.
    pub(crate) fn step(&mut self, run: &mut Run<'_>, out: &mut Vec<Datum>) -> Result<bool> {
        out.clear();
        let more = match &mut self.running {
            None => return Ok(false),
            Some(Running::Host(stream)) => run.sv.next_of_set(stream, out)?,
            Some(Running::Builtin(source)) => {
                let mut cx = CallContext {
                    host: run,
                    collation: self.collation,
                    arg_types: &self.arg_types,
                    result_type: self.result_type,
                    variadic_array: false,
                    extra: &mut self.extra,
                };
                source.next(&mut cx, out)?
            }
        };
        if !more {
            self.running = None;
        }
        Ok(more)
    }
}

pub(crate) enum SetStart {
    Empty,
    Running,
    One(Datum),
}

/// Functions in FROM: one, or several with ROWS FROM; optionally WITH ORDINALITY.
pub(crate) struct FunctionNode {
    calls: Vec<SetCall>,
    ones: Vec<Option<Datum>>,
    /// Types of the columns.
    types: Vec<ids::Oid>,
    template: Batch,
    /// An empty batch whose memory is reused.
    spare: Option<Batch>,
    ordinality: bool,
    projection: Projection,
    started: bool,
    done: bool,
    row: i64,
    /// Rows of volatile functions, and of those that the session runs, are kept over a rescan: the
    /// functions are called only once for the same parameters.
    kept: Option<KeptRows>,
    /// The session runs a function: all rows are made before the first one is returned, so that the
    /// function's effects do not depend on how many rows the query reads.
    drains: bool,
}

/// Rows that functions in FROM have returned.
struct KeptRows {
    rows: RowStore,
    /// Dependencies of the rows: the functions' expressions, without the scan's filter.
    sources: Sources,
    /// The next row: its batch, and its number in the batch.
    at: (usize, usize),
}

impl KeptRows {
    /// The next rows; `None` if all have been returned.
    fn next(&mut self, want: usize) -> Result<Option<Batch>> {
        let (at, from) = self.at;
        let Some(rows) = self.rows.get(at)? else { return Ok(None) };
        let to = rows.len.min(from.saturating_add(want));
        self.at = if to == rows.len { (at + 1, 0) } else { (at, to) };
        Ok(Some(slice(&rows, from, to)))
    }
}

impl FunctionNode {
    pub(crate) fn boxed(
        plan: &Plan,
        _: i32,
        functions: &[RangeTblFunction],
        ordinality: bool,
        run: &mut Run<'_>,
    ) -> Result<Node> {
        let mut calls = Vec::new();
        for f in functions {
            let columns = f.funccolcount.max(1) as usize;
            let mut cols = ChildColumns { outer: Source::Scan };
            let width = if is_composite(f, run)? { columns } else { 0 };
            let mut call = SetCall::new(&f.funcexpr, &mut cols, width, run)?;
            call.defined = f.defined_columns();
            // An anonymous record type cannot have got columns since analysis.
            let anonymous = f.funcexpr.type_oid() == types::oids::RECORD;
            call.open = call.defined.is_empty() && !anonymous;
            calls.push(call);
        }
        let mut by_val = Vec::new();
        check_columns(plan, functions, ordinality, run)?;
        let types = function_types(functions, ordinality, run)?;
        for &ty in &types {
            by_val.push(run.sv.as_facts().type_info(ty)?.by_val);
        }
        let mut cols = ByPosition::of(plan, run)?;
        let projection = Projection::new(&plan.info.target_list, &plan.info.qual, &mut cols, run)?;
        let mut volatile = false;
        for f in functions {
            volatile |= is_volatile(&f.funcexpr, run)?;
        }
        let drains = calls.iter().any(SetCall::is_hosted);
        let kept = (volatile || drains).then(|| {
            let exprs: Vec<&Expr> = functions.iter().map(|f| &f.funcexpr).collect();
            let sources = Sources::new(&[], &exprs, run);
            KeptRows { rows: RowStore::new(run), sources, at: (0, 0) }
        });
        Ok(Box::new(FunctionNode {
            kept,
            drains,
            types,
            ones: vec![None; calls.len()],
            calls,
            template: Batch::new(by_val),
            spare: None,
            ordinality,
            projection,
            started: false,
            done: false,
            row: 0,
        }))
    }
}

fn is_composite(f: &RangeTblFunction, run: &mut Run<'_>) -> Result<bool> {
    let ty = run.sv.as_facts().base_type(f.funcexpr.type_oid())?.0;
    Ok(f.funccoltypes.len() > 1
        || ty == types::oids::RECORD
        || run.sv.as_facts().type_info(ty)?.kind == b'c')
}

/// Types of the columns of functions in FROM.
pub(crate) fn function_types(
    functions: &[RangeTblFunction],
    ordinality: bool,
    run: &mut Run<'_>,
) -> Result<Vec<ids::Oid>> {
    let mut out = Vec::new();
    for f in functions {
        if !f.funccoltypes.is_empty() {
            out.extend(&f.funccoltypes);
        } else if is_composite(f, run)? {
            // The columns of the result type, as many as it had when the query was analysed.
            let columns = row_columns(&f.funcexpr, run)?;
            out.extend(columns.into_iter().take(f.funccolcount.max(1) as usize));
        } else {
            out.push(f.funcexpr.type_oid());
        }
    }
    if ordinality {
        out.push(types::oids::INT8);
    }
    Ok(out)
}

/// Checks that the columns that the plan reads still exist in the functions' row types.
/// Counterpart: execExprInterp.c (`CheckVarSlotCompatibility`).
fn check_columns(
    plan: &Plan,
    functions: &[RangeTblFunction],
    ordinality: bool,
    run: &mut Run<'_>,
) -> Result<()> {
    // For each position, whether the column is dropped and its type, if it is of a row type.
    let mut columns = Vec::new();
    for f in functions {
        let ty = run.sv.as_facts().base_type(f.funcexpr.type_oid())?.0;
        let named = f.funccoltypes.is_empty() && run.sv.as_facts().type_info(ty)?.kind == b'c';
        let count = f.funccolcount.max(1) as usize;
        let row = if named { run.sv.row_desc(ty, -1)?.columns.to_vec() } else { Vec::new() };
        columns.extend((0..count).map(|i| row.get(i).map(|c| (c.is_dropped(), c.ty))));
    }
    let shown = match (functions, ordinality) {
        ([one], false) => one.funcexpr.type_oid(),
        _ => types::oids::RECORD,
    };
    let mut used = Vec::new();
    for e in plan.info.target_list.iter().map(|t| &t.expr).chain(&plan.info.qual) {
        plan::walk::any(e, &mut |e| {
            if let Expr::Var(v) = e
                && v.varattno > 0
            {
                used.push((v.varattno, v.vartype));
            }
            false
        });
    }
    for (number, wanted) in used {
        let Some(&Some((dropped, ty))) = columns.get(number as usize - 1) else { continue };
        if !dropped && ty == wanted {
            continue;
        }
        let facts = run.sv.as_facts();
        let shown = facts.type_name(shown)?;
        if dropped {
            bail!(UNDEFINED_COLUMN, "attribute {number} of type {shown} has been dropped");
        }
        let (ty, wanted) = (facts.type_name(ty)?, facts.type_name(wanted)?);
        return Err(pg_err!(
            DATATYPE_MISMATCH,
            "attribute {number} of type {shown} has wrong type"
        )
        .detail(format!("Table has type {ty}, but query expects {wanted}.")));
    }
    Ok(())
}

/// Types of the columns of a function that returns a composite type: its OUT parameters, or the
/// columns of its row type.
pub(crate) fn row_columns(e: &Expr, run: &mut Run<'_>) -> Result<Vec<ids::Oid>> {
    if let Expr::FuncExpr(f) = e
        && let Some(out) = run.sv.out_columns(f.funcid, &argument_types(f))?
    {
        return Ok(out);
    }
    let ty = run.sv.as_facts().base_type(e.type_oid())?.0;
    let desc = run.sv.row_desc(ty, -1)?;
    // A dropped column is NULL; any type will do.
    let ty =
        |c: &types::fn_context::RowColumn| if c.is_dropped() { types::oids::INT4 } else { c.ty };
    Ok(desc.columns.iter().map(ty).collect())
}

pub(crate) fn argument_types(f: &FuncExpr) -> Vec<ids::Oid> {
    f.args.iter().map(Expr::type_oid).collect()
}

impl FunctionNode {
    /// The next rows, computed by calling the functions.
    fn produce(&mut self, run: &mut Run<'_>, want: usize) -> Result<Option<Batch>> {
        if self.done {
            return Ok(None);
        }
        if !self.started {
            self.started = true;
            for (c, one) in self.calls.iter_mut().zip(&mut self.ones) {
                *one = match c.start(run, &RowInput::EMPTY)? {
                    SetStart::One(v) => Some(v),
                    _ => None,
                };
            }
        }
        let mut out = self.spare.take().unwrap_or_else(|| self.template.clone());
        let want = want.min(BATCH_ROWS_MAX);
        if let ([call], [column], false) =
            (self.calls.as_mut_slice(), out.columns.as_mut_slice(), self.ordinality)
            && call.runs_values()
        {
            let mut more = true;
            while more && out.len < want && column.memory() < BATCH_BYTES_MAX {
                more = call.fill(run, column, (want - out.len).min(STEP_ROWS))?;
                out.len = column.len();
                run.interrupts()?;
            }
            self.done = !more;
            return Ok((more || out.len > 0).then_some(out));
        }
        let mut values = Vec::new();
        // Batches that go to the row store first may be small.
        let bytes_max = if self.drains { BATCH_BYTES_MAX / 8 } else { BATCH_BYTES_MAX };
        while out.len < want && out.memory() < bytes_max {
            let mut any = false;
            let mut at = 0;
            let mut row: Vec<Datum> = Vec::with_capacity(out.columns.len());
            for (c, one) in self.calls.iter_mut().zip(&mut self.ones) {
                let width = c.columns.max(1);
                if let Some(v) = one.take() {
                    any = true;
                    if c.columns > 0 {
                        row.extend(c.expand_row(run, &v, &self.types[at..at + width])?);
                    } else {
                        row.push(v);
                    }
                } else if c.step(run, &mut values)? {
                    any = true;
                    if values.len() == 1 && (width > 1 || c.whole && c.columns > 0) {
                        let v = values.pop().unwrap_or_default();
                        row.extend(c.expand_row(run, &v, &self.types[at..at + width])?);
                    } else {
                        row.append(&mut values);
                    }
                }
                at += width;
                row.resize(at, Datum::Null);
            }
            if !any {
                self.done = true;
                break;
            }
            self.row += 1;
            if self.ordinality {
                row.push(Datum::int8(self.row));
            }
            for (column, v) in out.columns.iter_mut().zip(&row) {
                column.push(v.as_ref());
            }
            out.len += 1;
            if out.len.is_multiple_of(256) {
                run.interrupts()?;
            }
        }
        Ok(Some(out))
    }

    /// The next rows where rows are kept: kept ones first, then new ones.
    fn produce_kept(&mut self, run: &mut Run<'_>, want: usize) -> Result<Option<Batch>> {
        let started = self.started;
        let Some(kept) = &mut self.kept else { return Ok(None) };
        if let Some(rows) = kept.next(want)? {
            return Ok(Some(rows));
        }
        if !started {
            kept.sources.record(run);
        }
        loop {
            let Some(kept) = &mut self.kept else { return Ok(None) };
            let watch = kept.sources.watch();
            let made = watch.over(run, |run| self.produce(run, BATCH_ROWS_MAX))?;
            let Some(kept) = &mut self.kept else { return Ok(None) };
            let ended = made.is_none();
            if let Some(b) = made.filter(|b| b.len > 0) {
                kept.rows.push(run, Arc::new(b))?;
            }
            if ended || !self.drains {
                return kept.next(want);
            }
        }
    }

    fn start_over(&mut self) {
        self.started = false;
        self.done = false;
        self.row = 0;
        if let Some(kept) = &mut self.kept {
            kept.rows.clear();
            kept.at = (0, 0);
        }
    }
}

impl Exec for FunctionNode {
    fn next(&mut self, run: &mut Run<'_>, want: usize) -> Result<Option<Batch>> {
        if let Some(rest) = self.projection.rest(run)? {
            return Ok(Some(rest));
        }
        let made = match self.kept {
            Some(_) => self.produce_kept(run, want)?,
            None => self.produce(run, want)?,
        };
        let Some(made) = made else { return Ok(None) };
        self.projection.apply_keeping(run, made, &mut self.spare).map(Some)
    }

    fn recycle(&mut self, mut batch: Batch) {
        if is_wide(&batch) {
            return;
        }
        if self.spare.is_none() && self.projection.passes(&batch, self.types.len()) {
            batch.clear();
            self.spare = Some(batch);
        } else {
            self.projection.recycle(batch);
        }
    }

    fn rescan(&mut self, run: &mut Run<'_>) -> Result<()> {
        self.projection.restart();
        match &mut self.kept {
            Some(kept) if self.started && !kept.sources.changed(run) => kept.at = (0, 0),
            _ => self.start_over(),
        }
        Ok(())
    }

    fn reset(&mut self, _: &mut Run<'_>) -> Result<bool> {
        self.calls.iter_mut().for_each(SetCall::release);
        self.ones.iter_mut().for_each(|v| *v = None);
        self.spare.take_if(|b| is_large(b));
        self.projection.release();
        self.start_over();
        Ok(true)
    }

    fn report(&self, counts: &mut Counts) {
        counts.removed = self.projection.removed;
    }
}

/// Fails with 42804 if the columns of a composite value do not match the declared ones.
/// Counterpart: execSRF.c (`tupledesc_match`).
fn check_row_type(
    run: &mut Run<'_>,
    row: DatumRef<'_>,
    wanted: &[ids::Oid],
    open: bool,
) -> Result<()> {
    let types = eval::row_types(run, row)?;
    if types.len() < wanted.len() || types.len() > wanted.len() && !open {
        return Err(row_mismatch(&attribute_count(types.len()), wanted.len()));
    }
    for (i, (got, &wanted)) in types.into_iter().zip(wanted).enumerate() {
        let Some(got) = got else { continue };
        let facts = run.sv.as_facts();
        // Types with the same length and passing mode are accepted, such as varchar for text or a
        // domain for its base type.
        let form = |info: types::TypeInfo| (info.len, info.by_val);
        if got != wanted && form(facts.type_info(got)?) != form(facts.type_info(wanted)?) {
            let (got, wanted) = (facts.type_name(got)?, facts.type_name(wanted)?);
            let position = i + 1;
            return Err(mismatch().detail(format!(
                "Returned type {got} at ordinal position {position}, but query expects {wanted}."
            )));
        }
    }
    Ok(())
}

fn mismatch() -> PgError {
    pg_err!(DATATYPE_MISMATCH, "function return row and query-specified return row do not match")
}

fn attribute_count(n: usize) -> String {
    format!("{n} attribute{}", if n == 1 { "" } else { "s" })
}

fn row_mismatch(got: &str, wanted: usize) -> PgError {
    mismatch().detail(format!("Returned row contains {got}, but query expects {wanted}."))
}

/// Rows of a `WITH` query, computed once and read by every reference.
pub(crate) struct CteNode {
    plan_id: u32,
    param: i32,
    at: usize,
    projection: Projection,
}

impl CteNode {
    pub(crate) fn boxed(plan: &Plan, plan_id: u32, param: i32, run: &mut Run<'_>) -> Result<Node> {
        let mut cols = ByPosition::of(plan, run)?;
        let projection = Projection::new(&plan.info.target_list, &plan.info.qual, &mut cols, run)?;
        Ok(Box::new(CteNode { plan_id, param, at: 0, projection }))
    }

    /// The batch with number `at`; reads it from the query if no reference has read it yet.
    fn batch(&self, run: &mut Run<'_>) -> Result<Option<Arc<Batch>>> {
        loop {
            if let Some(s) = run.st.shared.get_mut(&self.param)
                && let Some(b) = s.rows.get(self.at)?
            {
                return Ok(Some(b));
            }
            if !read_shared(run, self.param, self.plan_id)? {
                return Ok(None);
            }
        }
    }
}

/// Reads the next rows of a `WITH` query; false at its end.
pub(crate) fn read_shared(run: &mut Run<'_>, param: i32, plan_id: u32) -> Result<bool> {
    run.note_read(param)?;
    match run.st.shared.get(&param) {
        Some(s) if s.done => return Ok(false),
        Some(_) => {}
        None => {
            let rows = RowStore::new(run);
            run.st.shared.insert(param, Shared { rows, done: false });
            crate::subplan::start_over(run, plan_id)?;
        }
    }
    let next = crate::subplan::next_of(run, plan_id, BATCH_ROWS_MAX)?;
    // Removed during the push, which needs `run` to create a temporary file.
    let Some(mut shared) = run.st.shared.remove(&param) else {
        return Err(PgError::internal("rows of a WITH query are gone"));
    };
    let kept = match next {
        Some(b) if b.len > 0 => shared.rows.push(run, Arc::new(b)),
        Some(_) => Ok(()),
        None => {
            shared.done = true;
            Ok(())
        }
    };
    let more = !shared.done;
    run.st.shared.insert(param, shared);
    kept.map(|()| more)
}

impl Exec for CteNode {
    fn next(&mut self, run: &mut Run<'_>, _: usize) -> Result<Option<Batch>> {
        if let Some(rest) = self.projection.rest(run)? {
            return Ok(Some(rest));
        }
        let Some(b) = self.batch(run)? else { return Ok(None) };
        self.at += 1;
        self.projection.apply(run, (*b).clone()).map(Some)
    }

    fn rescan(&mut self, _: &mut Run<'_>) -> Result<()> {
        self.at = 0;
        self.projection.restart();
        Ok(())
    }

    fn reset(&mut self, _: &mut Run<'_>) -> Result<bool> {
        self.at = 0;
        self.projection.restart();
        Ok(true)
    }

    fn report(&self, counts: &mut Counts) {
        counts.removed = self.projection.removed;
    }
}

/// Scan of the working table: the rows of the previous round of a recursive query.
pub(crate) struct WorkTableNode {
    param: i32,
    at: usize,
    projection: Projection,
}

impl WorkTableNode {
    pub(crate) fn boxed(plan: &Plan, param: i32, run: &mut Run<'_>) -> Result<Node> {
        let mut cols = ByPosition::of(plan, run)?;
        let projection = Projection::new(&plan.info.target_list, &plan.info.qual, &mut cols, run)?;
        Ok(Box::new(WorkTableNode { param, at: 0, projection }))
    }
}

impl Exec for WorkTableNode {
    fn next(&mut self, run: &mut Run<'_>, _: usize) -> Result<Option<Batch>> {
        if let Some(rest) = self.projection.rest(run)? {
            return Ok(Some(rest));
        }
        run.note_read(self.param)?;
        let batch = match run.st.work_tables.get_mut(&self.param) {
            Some(t) => t.get(self.at)?,
            None => None,
        };
        let Some(batch) = batch else { return Ok(None) };
        self.at += 1;
        self.projection.apply(run, (*batch).clone()).map(Some)
    }

    fn rescan(&mut self, _: &mut Run<'_>) -> Result<()> {
        self.at = 0;
        self.projection.restart();
        Ok(())
    }

    fn reset(&mut self, _: &mut Run<'_>) -> Result<bool> {
        self.at = 0;
        self.projection.restart();
        Ok(true)
    }

    fn report(&self, counts: &mut Counts) {
        counts.removed = self.projection.removed;
    }
}

/// Append: reads one child after the other.
pub(crate) struct AppendNode {
    children: Vec<Node>,
    at: usize,
}

impl AppendNode {
    pub(crate) fn boxed(children: Vec<Node>) -> Node {
        Box::new(AppendNode { children, at: 0 })
    }
}

impl Exec for AppendNode {
    fn next(&mut self, run: &mut Run<'_>, want: usize) -> Result<Option<Batch>> {
        while let Some(c) = self.children.get_mut(self.at) {
            if let Some(b) = c.next(run, want)? {
                return Ok(Some(b));
            }
            self.at += 1;
        }
        Ok(None)
    }

    fn rescan(&mut self, run: &mut Run<'_>) -> Result<()> {
        self.at = 0;
        self.children.iter_mut().try_for_each(|c| c.rescan(run))
    }

    fn reset(&mut self, run: &mut Run<'_>) -> Result<bool> {
        self.at = 0;
        reset_all(&mut self.children, run)
    }
}

/// The value of LIMIT or OFFSET; `None` for NULL (no limit).
pub(crate) fn limit_value(v: DatumRef<'_>, what: &str) -> Result<Option<u64>> {
    if v.is_null() {
        return Ok(None);
    }
    let n = v.as_i64();
    if n < 0 {
        if what == "LIMIT" {
            bail!(INVALID_ROW_COUNT_IN_LIMIT_CLAUSE, "LIMIT must not be negative");
        }
        return Err(pg_err!(
            INVALID_ROW_COUNT_IN_RESULT_OFFSET_CLAUSE,
            "OFFSET must not be negative"
        ));
    }
    Ok(Some(n as u64))
}
