//! Finds the statement and the plan of a prepared statement.

use super::{ParkedExecution, Prepared, Ready};
use crate::plancache::Statement;
use crate::plancache::plans::Mode;
use crate::state::State;
use ids::Oid;
use parse::RawStmt;
use pgerror::{Result, pg_err};
use plan::PlannedStmt;
use std::sync::Arc;
use sync::Mutex;
use sync::atomic::Ordering::Relaxed;
use types::Datum;
use wire::{FieldDescription, Formats};

/// Maximum number of attempts to find a current plan. The locks of all attempts are kept, so the
/// relations no longer change after them.
const TRIES: u32 = 3;

impl Ready {
    /// The statement, if it is still valid.
    #[inline]
    pub(crate) fn current(&self, state: &mut State) -> Result<Option<&Arc<Statement>>> {
        match &self.statement {
            Some(s) if state.is_current(s)? => Ok(Some(s)),
            _ => Ok(None),
        }
    }

    /// The parked execution of the generic plan of a current statement, whose relations are then
    /// locked. `None` if there is none, or if another plan may be better. This function does not
    /// write to memory that sessions share.
    #[inline]
    pub(crate) fn take_parked(
        &mut self,
        state: &mut State,
        custom: bool,
    ) -> Result<Option<ParkedExecution>> {
        let (Some(statement), Some(generic)) = (&self.statement, &self.generic) else {
            return Ok(None);
        };
        if self.parked.is_none() || custom {
            return Ok(None);
        }
        state.take_locks(&generic.locks)?;
        if !state.is_of_current_generation(statement) || !generic.fits(state)? {
            return Ok(None);
        }
        Ok(self.parked.take())
    }

    /// The plan of a current statement for these parameter values; its relations are then locked.
    /// `None` if catalogs changed during the waits for locks.
    pub(crate) fn plan(
        &mut self,
        state: &mut State,
        params: &Arc<[Datum]>,
        mode: Mode,
    ) -> Result<Option<Arc<PlannedStmt>>> {
        let Some(statement) = self.statement.clone() else { return Ok(None) };
        let usable = !self.is_custom_next(!params.is_empty(), mode);
        if let Some(generic) = self.generic.as_ref().filter(|_| usable) {
            state.take_locks(&generic.locks)?;
            if !state.is_of_current_generation(&statement) {
                return Ok(None);
            }
            if generic.fits(state)? {
                return Ok(Some(generic.plan.clone()));
            }
            statement.forget_plans();
            self.generic = None;
            self.parked = None;
        }
        state.take_locks(&statement.locks)?;
        if !state.is_of_current_generation(&statement) {
            return Ok(None);
        }
        let chosen = match &mut self.named {
            Some(counts) => statement.choose_named(state, params, mode, counts)?,
            None => statement.choose(state, params, mode)?,
        };
        if chosen.generic.is_none() {
            self.parked = None;
        }
        self.generic = chosen.generic;
        Ok(Some(chosen.plan))
    }

    /// True if the next execution must not use the generic plan that was chosen before.
    #[inline]
    pub(crate) fn is_custom_next(&self, has_params: bool, mode: Mode) -> bool {
        match &self.named {
            Some(counts) => counts.is_custom_next(has_params, mode, self.generic.as_deref()),
            None => has_params && mode == Mode::Custom,
        }
    }
}

impl Prepared {
    /// Analyses a statement and infers the parameter types that are not declared. `whole` is true
    /// if the text consists of this statement only.
    pub(crate) fn new(
        state: &mut State,
        sql: Arc<str>,
        raw: Option<RawStmt>,
        param_types: Vec<Oid>,
        utility_fields: Option<Vec<FieldDescription>>,
        whole: bool,
    ) -> Result<Prepared> {
        match raw {
            Some(raw) if analyze::is_query(&raw.stmt) => {
                let key =
                    if whole { state.statement_key(sql.as_bytes(), &param_types)? } else { None };
                let raw = Arc::new(raw);
                let statement = state.analyze_and_cache(key, &sql, &raw, &param_types, false)?;
                Ok(Prepared { whole, ..Prepared::of(statement, &param_types) })
            }
            raw => Ok(Prepared {
                declared: param_types[..].into(),
                sql,
                raw: raw.map(Arc::new),
                is_query: false,
                param_types: param_types.into(),
                fields: utility_fields.map(Arc::from),
                ready: Mutex::new(Ready::default()),
                whole,
                from_sql: false,
                runs: Default::default(),
            }),
        }
    }

    /// Analyses the statement again if catalogs or the environment have changed. Error 0A000 if
    /// that changes its result columns.
    pub(crate) fn revalidate(&self, state: &mut State) -> Result<()> {
        let (Some(raw), true) = (&self.raw, self.is_query) else { return Ok(()) };
        if self.ready.lock().current(state)?.is_some() {
            return Ok(());
        }
        let key = match self.whole {
            true => state.statement_key(self.sql.as_bytes(), &self.param_types)?,
            false => None,
        };
        let statement = match state.find_statement(&key) {
            Some(found) => found,
            None => state.analyze_and_cache(key, &self.sql, raw, &self.param_types, false)?,
        };
        let same = match (&statement.fields, &self.fields) {
            (Some(new), Some(old)) => same_rows(new, old),
            (None, None) => true,
            _ => false,
        };
        if !same {
            return Err(pg_err!(FEATURE_NOT_SUPPORTED, "cached plan must not change result type"));
        }
        self.ready.lock().replace_statement(statement);
        Ok(())
    }

    /// As [`Prepared::revalidate`], for another Parse message. False if it cannot be used: after a
    /// change, the types of parameters that are not declared are inferred again.
    pub(crate) fn revalidate_parsed(&self, state: &mut State) -> bool {
        let all_declared =
            *self.declared == *self.param_types && !self.declared.contains(&Oid::INVALID);
        let is_current = |state| matches!(self.ready.lock().current(state), Ok(Some(_)));
        if all_declared { self.revalidate(state).is_ok() } else { is_current(state) }
    }

    /// The plan for these parameter values; its relations are then locked.
    pub(crate) fn plan(
        &self,
        state: &mut State,
        params: &Arc<[Datum]>,
        mode: Mode,
    ) -> Result<Arc<PlannedStmt>> {
        for _ in 0..TRIES {
            self.revalidate(state)?;
            let planned = self.ready.lock().plan(state, params, mode)?;
            if let Some(plan) = planned {
                let ready = self.ready.lock();
                let custom = ready.generic.as_ref().is_none_or(|g| !Arc::ptr_eq(&g.plan, &plan));
                self.runs[usize::from(custom)].fetch_add(1, Relaxed);
                return Ok(plan);
            }
        }
        // The catalogs keep changing, but the statement's own relations do not, because they are
        // locked.
        self.revalidate(state)?;
        let statement = self.ready.lock().statement.clone();
        let statement = statement.expect("revalidation sets a query's statement");
        Ok(statement.choose(state, params, mode)?.plan)
    }

    /// The parked execution: see [`Ready::take_parked`].
    pub(crate) fn take_parked(
        &self,
        state: &mut State,
        (has_params, mode): (bool, Mode),
        formats: &Formats,
    ) -> Result<Option<ParkedExecution>> {
        let mut ready = self.ready.lock();
        let custom = ready.is_custom_next(has_params, mode);
        if ready.parked.as_ref().is_none_or(|parked| parked.formats != *formats)
            || ready.current(state)?.is_none()
        {
            return Ok(None);
        }
        let parked = ready.take_parked(state, custom)?;
        if parked.is_some() {
            self.runs[0].fetch_add(1, Relaxed);
        }
        Ok(parked)
    }

    /// Parks an ended execution for reuse.
    pub(crate) fn keep_parked(&self, state: &mut State, mut parked: ParkedExecution) -> Result<()> {
        if !self.ready.lock().should_park(parked.run.plan()) {
            return Ok(());
        }
        if parked.run.park(state)? {
            let mut ready = self.ready.lock();
            if state.catalog.overlay.is_clean() && ready.should_park(parked.run.plan()) {
                ready.parked = Some(parked);
            }
        }
        Ok(())
    }
}

fn same_rows(new: &[FieldDescription], old: &[FieldDescription]) -> bool {
    new.len() == old.len()
        && new
            .iter()
            .zip(old)
            .all(|(a, b)| a.name == b.name && a.type_oid == b.type_oid && a.typmod == b.typmod)
}
