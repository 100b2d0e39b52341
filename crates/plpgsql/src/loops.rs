//! Loops. Counterpart: `exec_stmt_loop`, `exec_stmt_fori`, `exec_stmt_foreach_a` of pl_exec.c.

use crate::exec::Flow;
use crate::frame::Frame;
use crate::host::Host;
use crate::tight::Iterations;
use crate::tree::{ForEach, ForInteger, SqlNo, Stmt, VarKind};
use ids::Oid;
use pgerror::{Result, pg_err};
use types::array::{self, ArrayRef};
use types::{Datum, DatumRef, oids};

/// What a loop does after its body.
pub(crate) enum After<'f> {
    Again,
    /// The loop ends, and the statement ended in this way.
    End(Flow<'f>),
}

/// Decides after the body of a loop with this label. Counterpart: `LOOP_RC_PROCESSING`.
#[inline]
pub(crate) fn after<'f>(flow: Flow<'f>, label: Option<&str>) -> After<'f> {
    match flow {
        Flow::Next | Flow::Continue(None) => After::Again,
        Flow::Exit(None) => After::End(Flow::Next),
        Flow::Exit(Some(name)) if label == Some(name) => After::End(Flow::Next),
        Flow::Continue(Some(name)) if label == Some(name) => After::Again,
        flow => After::End(flow),
    }
}

impl<'f> Frame<'f> {
    /// LOOP and WHILE.
    pub(crate) fn plain_loop(
        &mut self,
        host: &mut dyn Host,
        label: Option<&str>,
        condition: Option<SqlNo>,
        body: &'f [Stmt],
    ) -> Result<Flow<'f>> {
        let mut iterations = Iterations::default();
        loop {
            self.check_interrupts(host)?;
            if let Some(condition) = condition
                && !self.test(host, condition)?
            {
                return Ok(Flow::Next);
            }
            let flow = match condition {
                Some(sql) => self.iteration_while(host, &mut iterations, (sql, body))?,
                None => self.iteration(host, &mut iterations, body)?,
            };
            if let After::End(flow) = after(flow, label) {
                return Ok(flow);
            }
        }
    }

    /// The value of a bound of an integer loop. Error 22004 for NULL.
    fn bound(&mut self, host: &mut dyn Host, sql: SqlNo, what: &str) -> Result<i32> {
        let value = self.typed(host, sql, oids::INT4)?;
        if value.is_null() {
            return Err(pg_err!(NULL_VALUE_NOT_ALLOWED, "{what} of FOR loop cannot be null"));
        }
        Ok(value.as_ref().word() as i32)
    }

    pub(crate) fn for_integer(
        &mut self,
        host: &mut dyn Host,
        stmt: &'f ForInteger,
    ) -> Result<Flow<'f>> {
        let mut value = self.bound(host, stmt.lower, "lower bound")?;
        let end = self.bound(host, stmt.upper, "upper bound")?;
        let step = match stmt.step {
            Some(sql) => self.bound(host, sql, "BY value")?,
            None => 1,
        };
        if step <= 0 {
            return Err(pg_err!(
                INVALID_PARAMETER_VALUE,
                "BY value of FOR loop must be greater than zero"
            ));
        }
        let (mut found, mut ended) = (false, Flow::Next);
        let mut iterations = Iterations::default();
        while if stmt.reverse { value >= end } else { value <= end } {
            found = true;
            self.check_interrupts(host)?;
            self.vals.set_word(stmt.var, value as i64 as u64);
            let flow = self.iteration(host, &mut iterations, &stmt.body)?;
            if let After::End(flow) = after(flow, stmt.label.as_deref()) {
                ended = flow;
                break;
            }
            let next = match stmt.reverse {
                true => value.checked_sub(step),
                false => value.checked_add(step),
            };
            match next {
                Some(next) => value = next,
                None => break,
            }
        }
        self.set_found(found);
        Ok(ended)
    }

    pub(crate) fn set_found(&mut self, found: bool) {
        self.vals.set(self.code.function.found, Datum::bool(found));
    }

    pub(crate) fn for_each(&mut self, host: &mut dyn Host, stmt: &'f ForEach) -> Result<Flow<'f>> {
        let (value, ty, _) = self.value(host, stmt.array, None)?;
        if value.is_null() {
            return Err(pg_err!(NULL_VALUE_NOT_ALLOWED, "FOREACH expression must not be null"));
        }
        let (base, _) = eval::Facts::base_type(host, ty)?;
        let element = eval::Facts::type_info(host, base)?.elem;
        if !element.is_valid() || base == element {
            let shown = eval::Facts::type_name(host, ty)?;
            return Err(pg_err!(
                DATATYPE_MISMATCH,
                "FOREACH expression must yield an array, not type {shown}"
            ));
        }
        let items = self.slices(host, &value, element, stmt)?;
        let item_type = if stmt.slice > 0 { base } else { element };
        let (mut found, mut ended) = (false, Flow::Next);
        for item in items {
            found = true;
            self.check_interrupts(host)?;
            self.assign(host, stmt.target, item, (item_type, -1))?;
            let flow = self.statements(host, &stmt.body)?;
            if let After::End(flow) = after(flow, stmt.label.as_deref()) {
                ended = flow;
                break;
            }
        }
        self.set_found(found);
        Ok(ended)
    }

    /// The elements of an array, or its slices of that many dimensions.
    fn slices(
        &mut self,
        host: &mut dyn Host,
        value: &Datum,
        element: Oid,
        stmt: &ForEach,
    ) -> Result<Vec<Datum>> {
        let info = eval::Facts::type_info(host, element)?;
        let array = ArrayRef::new(value.as_ref())?;
        let dimensions = array.ndim() as i32;
        if stmt.slice < 0 || stmt.slice > dimensions {
            let slice = stmt.slice;
            return Err(pg_err!(
                ARRAY_SUBSCRIPT_ERROR,
                "slice dimension ({slice}) is out of the valid range 0..{dimensions}"
            ));
        }
        let is_array = self.is_array_target(host, stmt)?;
        if stmt.slice > 0 && !is_array {
            return Err(pg_err!(
                DATATYPE_MISMATCH,
                "FOREACH ... SLICE loop variable must be of an array type"
            ));
        }
        if stmt.slice == 0 && is_array {
            return Err(pg_err!(
                DATATYPE_MISMATCH,
                "FOREACH loop variable must not be of an array type"
            ));
        }
        let elements = array.elements(&info)?;
        if stmt.slice == 0 {
            return Ok(elements.into_iter().map(DatumRef::to_owned).collect());
        }
        let inner = array.ndim() - stmt.slice as usize;
        let (dims, lower) = (array.dims(), array.lower_bounds());
        let (dims, lower) = (&dims[inner..], &lower[inner..]);
        let size = dims.iter().map(|d| *d as usize).product::<usize>().max(1);
        let chunks = elements.chunks(size);
        chunks.map(|c| array::build(&info, dims, lower, c.iter().copied())).collect()
    }

    fn is_array_target(&mut self, host: &mut dyn Host, stmt: &ForEach) -> Result<bool> {
        let ty = match &self.code.function.vars[stmt.target].kind {
            VarKind::Scalar { ty, .. } => ty.oid,
            _ => return Ok(false),
        };
        let (base, _) = eval::Facts::base_type(host, ty)?;
        let info = eval::Facts::type_info(host, base)?;
        Ok(info.elem.is_valid() && info.len < 0)
    }
}
