//! The interface of the languages in which functions are written, the table of languages, and what
//! the catalogs say about the functions that are called, kept while the catalogs do not change.
//! Counterpart: the handlers of `pg_language`.

use super::plpgsql::compiled::Callable;
use super::{Call, internal, plpgsql, sql};
use crate::state::State;
use catalog::Row;
use catalog::rows::PgProc;
use eval::Callee;
use executor::BeforeRowResult;
use ids::Oid;
use ids::builtin::language;
use pgerror::{PgError, Result, pg_err};
use std::sync::{Arc, OnceLock};
use trigger::TriggerCall;
use types::{Batch, Datum};

/// Maximum number of functions that are kept.
const RESOLVED_MAX: usize = 1000;

/// The languages with fixed OIDs. A further one is a module beside `sql` and a line here, or in
/// `LIBRARIES`.
const LANGUAGES: &[(Oid, &dyn Language)] = &[
    (language::INTERNAL, &internal::Internal),
    // Symbols of libraries are functions that are linked in.
    (language::C, &internal::Internal),
    (language::SQL, &sql::Sql),
    #[cfg(test)]
    (crate::tests::triggers::LANGUAGE, &crate::tests::triggers::Logging),
];

/// The languages of libraries, by the name of the function that calls their functions. The OIDs of
/// their rows differ between clusters.
const LIBRARIES: &[(&str, &dyn Language)] = &[(plpgsql::HANDLER, &plpgsql::Plpgsql)];

/// The language with this OID.
pub(crate) fn of(state: &mut State, language: Oid) -> Result<Option<&'static dyn Language>> {
    if let Some((_, known)) = LANGUAGES.iter().find(|(oid, _)| *oid == language) {
        return Ok(Some(*known));
    }
    let Some(handler) = state.cat().language(language)?.lanplcallfoid.valid() else {
        return Ok(None);
    };
    let handler = state.cat().function(handler)?;
    let known = LIBRARIES.iter().find(|(name, _)| handler.prosrc.as_str() == *name);
    Ok(known.map(|(_, language)| *language))
}

/// A call as far as the choice of code depends on it.
#[derive(Clone, Copy)]
pub(crate) struct Site<'a> {
    pub(crate) function: Oid,
    /// The trigger that calls the function; the invalid OID for other calls.
    pub(crate) trigger: Oid,
    pub(crate) arg_types: &'a [Oid],
    pub(crate) result_type: Oid,
    pub(crate) collation: Oid,
}

/// A function with its language.
pub(crate) struct Resolved {
    pub(crate) row: Row<PgProc>,
    /// `None` if the language is not known.
    pub(crate) language: Option<&'static dyn Language>,
    arg_types: Box<[Oid]>,
    result_type: Oid,
    collation: Oid,
    /// What PL/pgSQL has found out about the call.
    pub(super) plpgsql: OnceLock<Callable>,
}

impl Resolved {
    fn is_for(&self, site: Site<'_>) -> bool {
        self.result_type == site.result_type
            && self.collation == site.collation
            && *self.arg_types == *site.arg_types
    }
}

/// The function of a call.
pub(super) fn resolve(state: &mut State, site: Site<'_>) -> Result<Arc<Resolved>> {
    let catalogs = state.catalog.catalog_state();
    let key = (site.function, site.trigger);
    let cache = &mut state.caches.resolved;
    let slot = site.function.0 as usize % cache.recent.len();
    if cache.at == catalogs {
        if let Some((at, known)) = &cache.recent[slot]
            && *at == key
            && let Ok(known) = known.clone().downcast::<Resolved>()
            && known.is_for(site)
        {
            return Ok(known);
        }
        if let Some(found) = cache.known.get(&key)
            && let Ok(known) = found.clone().downcast::<Resolved>()
            && known.is_for(site)
        {
            cache.recent[slot] = Some((key, found.clone()));
            return Ok(known);
        }
    }
    let row = state.cat().function(site.function)?;
    let language = of(state, row.prolang)?;
    let resolved = Arc::new(Resolved {
        row,
        language,
        arg_types: site.arg_types.into(),
        result_type: site.result_type,
        collation: site.collation,
        plpgsql: OnceLock::new(),
    });
    if state.catalog.catalog_state() == catalogs {
        let cache = &mut state.caches.resolved;
        if cache.at != catalogs || cache.known.len() >= RESOLVED_MAX {
            cache.known.clear();
            cache.recent = Default::default();
            cache.at = catalogs;
        }
        cache.known.insert(key, resolved.clone());
        cache.recent[slot] = Some((key, resolved.clone()));
    }
    Ok(resolved)
}

/// A language. The function manager has set the role and the settings of the function before each
/// call.
pub(crate) trait Language: Sync {
    /// The way in which functions of this language are run, apart from their role and settings.
    /// Counterpart: `fmgr_info`.
    fn callee(&self, state: &mut State, row: &PgProc) -> Result<Callee>;

    /// Validates a new function. `sql` is the statement that creates it, in which errors of the
    /// body have their positions. Checks that need the objects of the body depend on
    /// `check_function_bodies`. Counterpart: the validator of a language.
    fn validate(&self, state: &mut State, row: &Row<PgProc>, sql: &str) -> Result<()>;

    /// The value of a call that does not return a set.
    fn call(&self, state: &mut State, call: &Call<'_>) -> Result<Datum>;

    /// Starts a call of a set-returning function, or of another function in FROM. `columns`: types
    /// and type modifiers of the column definition list.
    fn call_set(
        &self,
        state: &mut State,
        call: &Call<'_>,
        columns: &[(Oid, i32)],
    ) -> Result<RunningSet>;

    /// Runs a procedure; the row of its output parameters, if it has any.
    fn call_procedure(&self, state: &mut State, call: &Call<'_>) -> Result<Option<Vec<Datum>>> {
        let _ = (state, call);
        Err(PgError::unsupported("procedures in this language"))
    }

    /// Calls the function as a trigger. Its result is used only by triggers that fire before a row
    /// is changed.
    fn call_trigger(
        &self,
        state: &mut State,
        resolved: &Resolved,
        call: &TriggerCall<'_>,
    ) -> Result<BeforeRowResult> {
        let _ = (state, resolved);
        Err(no_trigger(call))
    }

    /// Calls the function as event trigger. `event` is the name of the event, `tag` that of the
    /// command.
    fn call_event_trigger(
        &self,
        state: &mut State,
        row: &Row<PgProc>,
        event: &str,
        tag: &str,
    ) -> Result<()> {
        let _ = (state, event, tag);
        Err(PgError::unsupported(format!("event trigger function {}", row.proname.as_str())))
    }

    /// Runs the code of DO. `name` is the name of the language.
    fn run_inline(&self, state: &mut State, name: &str, code: &str) -> Result<()> {
        let _ = (state, code);
        Err(pg_err!(
            FEATURE_NOT_SUPPORTED,
            "language \"{name}\" does not support inline code execution"
        ))
    }
}

/// The error for a trigger whose function cannot be called.
pub(crate) fn no_trigger(call: &TriggerCall<'_>) -> PgError {
    PgError::unsupported(format!("trigger \"{}\"", call.trigger.name))
}

/// A running set-returning call.
pub(crate) struct RunningSet {
    /// See [`executor::SetStream::whole`].
    pub whole: bool,
    pub rows: Box<dyn SetRows>,
}

/// The rows of a set-returning call, in order.
pub(crate) trait SetRows: Send {
    /// Appends the values of the next row to `out`; false at the end.
    fn next(&mut self, state: &mut State, out: &mut Vec<Datum>) -> Result<bool>;

    /// True if the rows have been computed already, so that role and settings of the function are
    /// not needed.
    fn is_ready(&self) -> bool {
        false
    }

    /// The types of the columns of [`SetRows::next_batch`], which returns the rows that have been
    /// computed; `None` if they are returned one by one.
    fn columns(&self) -> Option<Arc<[Oid]>> {
        None
    }

    /// The next rows; `None` at the end.
    fn next_batch(&mut self) -> Result<Option<Batch>> {
        Ok(None)
    }
}

/// Rows that have been computed.
pub(crate) struct ReadyRows(std::vec::IntoIter<Vec<Datum>>);

impl ReadyRows {
    pub(crate) fn boxed(rows: Vec<Vec<Datum>>) -> Box<dyn SetRows> {
        Box::new(ReadyRows(rows.into_iter()))
    }

    /// A single value.
    pub(crate) fn one(value: Datum) -> Box<dyn SetRows> {
        ReadyRows::boxed(vec![vec![value]])
    }
}

impl SetRows for ReadyRows {
    fn next(&mut self, _: &mut State, out: &mut Vec<Datum>) -> Result<bool> {
        let Some(mut row) = self.0.next() else { return Ok(false) };
        out.append(&mut row);
        Ok(true)
    }

    fn is_ready(&self) -> bool {
        true
    }
}
