//! Row dependencies other than tables: Result, VALUES, functions in FROM, `WITH` queries, working
//! tables. Counterpart: nodeResult.c, nodeValuesscan.c, nodeFunctionscan.c,
//! nodeCtescan.c, nodeWorktablescan.c.

use crate::depend::Dependencies;
use crate::drained::DrainedRows;
use crate::instrument::Counts;
use crate::node::{ChildColumns, DeferredError, Exec, Node, compile, compile_all};
use crate::project::{ByPosition, Projection, is_volatile, is_volatile_plan};
use crate::readahead::{CAUTIOUS, ReadAhead};
use crate::run::{Run, Shared};
use crate::setcall::{STEP_ROWS, SetCall, SetStart};
use crate::sort::slice;
use eval::{EvalState, Program, RowInput, Source};
use ids::code::TypType;
use pgerror::{PgError, Result, bail, pg_err};
use plan::expr::{Expr, FuncExpr};
use plan::node::Plan;
use plan::query::RangeTblFunction;
use rowops::spare::{is_large, is_wide};
use rowops::spill::RowStore;
use std::sync::Arc;
use types::fn_context::DefinedRow;
use types::{BATCH_BYTES_MAX, BATCH_ROWS_MAX, Batch, Column, Datum, DatumRef};

/// Result without a child: one row, or no row if the one-time filter is not true.
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
    fn is_volatile(&self) -> bool {
        self.projection.is_volatile()
    }

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
    deferred: DeferredError,
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
        Ok(Box::new(ValuesNode {
            rows,
            st: EvalState::default(),
            template,
            projection,
            at: 0,
            deferred: DeferredError::default(),
        }))
    }
}

impl ValuesNode {
    /// Appends the values of the next row.
    fn row(&mut self, run: &mut Run<'_>, out: &mut Batch) -> Result<()> {
        for (column, p) in out.columns.iter_mut().zip(&self.rows[self.at]) {
            // The programs of different rows have their own call sites.
            self.st = EvalState::default();
            let v = p.eval_row(&mut self.st, run, &RowInput::EMPTY)?;
            column.push(v.as_ref());
        }
        Ok(())
    }
}

impl Exec for ValuesNode {
    fn next(&mut self, run: &mut Run<'_>, want: usize) -> Result<Option<Batch>> {
        if let Some(rest) = self.projection.rest(run)? {
            return Ok(Some(rest));
        }
        self.deferred.raise()?;
        if self.at >= self.rows.len() {
            return Ok(None);
        }
        let mut out = self.template.clone();
        while out.len < want && self.at < self.rows.len() {
            let done = self.row(run, &mut out);
            if !self.deferred.defer(out.len, done)? {
                // Remove the columns of the failed row.
                let len = out.len;
                out.columns.iter_mut().for_each(|c| c.truncate(len));
                break;
            }
            out.len += 1;
            self.at += 1;
        }
        self.projection.apply(run, out).map(Some)
    }

    fn rescan(&mut self, _: &mut Run<'_>) -> Result<()> {
        self.at = 0;
        self.projection.restart();
        self.deferred = DeferredError::default();
        Ok(())
    }

    fn reset(&mut self, _: &mut Run<'_>) -> Result<bool> {
        self.at = 0;
        self.projection.restart();
        self.deferred = DeferredError::default();
        Ok(true)
    }

    fn report(&self, counts: &mut Counts) {
        counts.removed = self.projection.removed;
    }
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
    /// The rows of volatile functions, and of functions that the session runs, are kept over a
    /// rescan: the functions are called only once for the same parameters.
    kept: Option<KeptRows>,
    /// The session runs a function, so all rows are computed before the first one is returned: the
    /// effects of the function must not depend on how many rows the query reads.
    drains: bool,
    /// The rows of each of several functions, if `drains`, with what they were computed from: a
    /// rescan calls only functions whose parameters have changed.
    drained: Vec<(Dependencies, Option<DrainedRows>)>,
}

/// Rows that functions in FROM have returned.
struct KeptRows {
    rows: RowStore,
    /// Dependencies of the rows: the functions' expressions, without the scan's filter.
    dependencies: Dependencies,
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
        Ok(Some(match from == 0 && to == rows.len {
            true => Arc::unwrap_or_clone(rows),
            false => slice(&rows, from, to),
        }))
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
            call.row = f.defined_row().map(|desc| DefinedRow(Arc::new(desc)));
            // An anonymous record type cannot have got columns after the analysis.
            let anonymous = f.funcexpr.type_oid() == types::oids::RECORD;
            call.open = call.defined.is_empty() && !anonymous;
            calls.push(call);
        }
        let mut by_val = Vec::new();
        check_columns(plan, functions, run)?;
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
        let apart: &[RangeTblFunction] =
            if functions.len() > 1 && drains { functions } else { &[] };
        let of = |f: &RangeTblFunction| (Dependencies::new(&[], &[&f.funcexpr], run), None);
        let drained = apart.iter().map(of).collect();
        let kept = (volatile || drains).then(|| {
            let exprs: Vec<&Expr> = functions.iter().map(|f| &f.funcexpr).collect();
            let dependencies = Dependencies::new(&[], &exprs, run);
            KeptRows { rows: RowStore::new(run.sv.work_mem()), dependencies, at: (0, 0) }
        });
        Ok(Box::new(FunctionNode {
            kept,
            drains,
            drained,
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
        || run.sv.as_facts().type_info(ty)?.kind == TypType::Composite)
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
fn check_columns(plan: &Plan, functions: &[RangeTblFunction], run: &mut Run<'_>) -> Result<()> {
    // For each position, whether the column is dropped and its type, if it is of a row type.
    let mut columns = Vec::new();
    for f in functions {
        let ty = run.sv.as_facts().base_type(f.funcexpr.type_oid())?.0;
        let named = f.funccoltypes.is_empty()
            && run.sv.as_facts().type_info(ty)?.kind == TypType::Composite;
        let count = f.funccolcount.max(1) as usize;
        let row = if named { run.sv.row_desc(ty, -1)?.columns.to_vec() } else { Vec::new() };
        columns.extend((0..count).map(|i| row.get(i).map(|c| (c.is_dropped(), c.ty))));
    }
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
        if dropped {
            bail!(UNDEFINED_COLUMN, "attribute {number} of type record has been dropped");
        }
        let (ty, wanted) = (facts.type_name(ty)?, facts.type_name(wanted)?);
        return Err(pg_err!(DATATYPE_MISMATCH, "attribute {number} of type record has wrong type")
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
    // A dropped column is NULL, so any type can be used for it.
    let ty =
        |c: &types::fn_context::RowColumn| if c.is_dropped() { types::oids::INT4 } else { c.ty };
    Ok(desc.columns.iter().map(ty).collect())
}

pub(crate) fn argument_types(f: &FuncExpr) -> Vec<ids::Oid> {
    f.args.iter().map(Expr::type_oid).collect()
}

impl FunctionNode {
    /// Calls the functions. If the session runs one of several functions, each one returns all its
    /// rows before the next one is called, so that their effects are in the order of the list.
    fn start_calls(&mut self, run: &mut Run<'_>) -> Result<()> {
        let mut at = 0;
        for (i, c) in self.calls.iter_mut().enumerate() {
            let one = &mut self.ones[i];
            let width = c.columns.max(1);
            let place = at..at + width;
            at += width;
            let drained = self.drained.get_mut(i);
            if let Some((_, Some(_))) = drained {
                continue;
            }
            *one = match c.start(run, &RowInput::EMPTY)? {
                SetStart::One(v) => Some(v),
                _ => None,
            };
            let Some((dependencies, drained)) = drained else { continue };
            dependencies.record(run);
            let types = &self.types[place.clone()];
            let columns = self.template.columns[place].iter();
            let template = Batch::new(columns.map(Column::is_by_val));
            let mut rows = DrainedRows::new(template, run);
            let (mut values, mut row) = (Vec::new(), Vec::new());
            while c.next_row(run, one, types, &mut values, &mut row)? {
                row.resize(width, Datum::Null);
                rows.push(run, &row)?;
                row.clear();
            }
            rows.finish(run)?;
            *drained = Some(rows);
        }
        Ok(())
    }

    /// The next rows, computed by calling the functions.
    fn produce(&mut self, run: &mut Run<'_>, want: usize) -> Result<Option<Batch>> {
        if self.done {
            return Ok(None);
        }
        if !self.started {
            self.started = true;
            self.start_calls(run)?;
        }
        if let ([call], false) = (self.calls.as_mut_slice(), self.ordinality)
            && call.returns_batches(&self.types)
        {
            run.interrupts()?;
            let next = call.next_batch(run)?;
            self.done = next.is_none();
            return Ok(next);
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
            for (i, c) in self.calls.iter_mut().enumerate() {
                let width = c.columns.max(1);
                any |= match self.drained.get_mut(i) {
                    Some((_, Some(rows))) => rows.next(&mut row)?,
                    _ => {
                        let types = &self.types[at..at + width];
                        c.next_row(run, &mut self.ones[i], types, &mut values, &mut row)?
                    }
                };
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

    /// The next rows of a node that keeps rows: stored rows first, then new ones.
    fn produce_kept(&mut self, run: &mut Run<'_>, want: usize) -> Result<Option<Batch>> {
        let started = self.started;
        let Some(kept) = &mut self.kept else { return Ok(None) };
        if let Some(rows) = kept.next(want)? {
            return Ok(Some(rows));
        }
        if !started {
            kept.dependencies.record(run);
        }
        loop {
            let Some(kept) = &mut self.kept else { return Ok(None) };
            let computation = kept.dependencies.computation();
            let made = computation.perform(run, |run| self.produce(run, BATCH_ROWS_MAX))?;
            let Some(kept) = &mut self.kept else { return Ok(None) };
            let ended = made.is_none();
            if let Some(b) = made.filter(|b| b.len > 0) {
                kept.rows.push(run.sv, Arc::new(b))?;
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
    fn is_volatile(&self) -> bool {
        self.projection.is_volatile()
    }

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
            Some(kept) if self.started && !kept.dependencies.changed(run) => kept.at = (0, 0),
            _ => {
                for (dependencies, drained) in &mut self.drained {
                    match drained {
                        Some(rows) if !dependencies.changed(run) => rows.rewind(),
                        _ => *drained = None,
                    }
                }
                self.start_over();
            }
        }
        Ok(())
    }

    fn reset(&mut self, _: &mut Run<'_>) -> Result<bool> {
        self.calls.iter_mut().for_each(SetCall::release);
        self.ones.iter_mut().for_each(|v| *v = None);
        self.spare.take_if(|b| is_large(b));
        self.projection.release();
        self.drained.iter_mut().for_each(|(_, rows)| *rows = None);
        self.start_over();
        Ok(true)
    }

    fn report(&self, counts: &mut Counts) {
        counts.removed = self.projection.removed;
    }
}

/// Rows of a `WITH` query, computed once and read by every reference.
pub(crate) struct CteNode {
    plan_id: u32,
    param: i32,
    at: usize,
    projection: Projection,
    /// The query calls volatile functions: no more rows of it are computed than are read.
    volatile: bool,
    ahead: ReadAhead,
}

impl CteNode {
    pub(crate) fn boxed(plan: &Plan, plan_id: u32, param: i32, run: &mut Run<'_>) -> Result<Node> {
        let mut cols = ByPosition::of(plan, run)?;
        let projection = Projection::new(&plan.info.target_list, &plan.info.qual, &mut cols, run)?;
        let volatile = is_volatile_plan(plan_id, run)?;
        let desc = run.st.desc.plan.clone();
        let ahead = ReadAhead::of_costs(&desc.subplans[plan_id as usize - 1], CAUTIOUS);
        Ok(Box::new(CteNode { plan_id, param, at: 0, projection, volatile, ahead }))
    }

    /// The batch with number `at`; reads it from the query if no reference has read it yet, up to
    /// `want` rows.
    fn batch(&self, run: &mut Run<'_>, want: usize) -> Result<Option<Arc<Batch>>> {
        loop {
            if let Some(s) = run.st.shared.get_mut(&self.param)
                && let Some(b) = s.rows.get(self.at)?
            {
                return Ok(Some(b));
            }
            if !read_shared(run, self.param, self.plan_id, want)? {
                return Ok(None);
            }
        }
    }
}

/// Reads the next rows of a `WITH` query, at most `want`; false at its end.
pub(crate) fn read_shared(
    run: &mut Run<'_>,
    param: i32,
    plan_id: u32,
    want: usize,
) -> Result<bool> {
    run.note_read(param)?;
    match run.st.shared.get(&param) {
        Some(Shared { failed: Some(e), .. }) => return Err(e.clone()),
        Some(s) if s.done => return Ok(false),
        Some(_) => {}
        None => {
            let rows = RowStore::new(run.sv.work_mem());
            run.st.shared.insert(param, Shared { rows, done: false, failed: None });
            crate::subplan::start_over(run, plan_id)?;
        }
    }
    let next = crate::subplan::next_of(run, plan_id, want).inspect_err(|e| {
        if let Some(shared) = run.st.shared.get_mut(&param) {
            shared.failed = Some(e.clone());
        }
    })?;
    // Removed during the push, which needs `run` to create a temporary file.
    let Some(mut shared) = run.st.shared.remove(&param) else {
        return Err(PgError::internal("the rows of a WITH query do not exist"));
    };
    let kept = match next {
        Some(b) if b.len > 0 => shared.rows.push(run.sv, Arc::new(b)),
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
    fn is_volatile(&self) -> bool {
        self.volatile || self.projection.is_volatile()
    }

    fn next(&mut self, run: &mut Run<'_>, want: usize) -> Result<Option<Batch>> {
        if let Some(rest) = self.projection.rest(run)? {
            return Ok(Some(rest));
        }
        let want = if self.volatile { want.max(1) } else { self.ahead.rows().max(want) };
        let Some(b) = self.batch(run, want)? else { return Ok(None) };
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
    fn is_volatile(&self) -> bool {
        self.projection.is_volatile()
    }

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
