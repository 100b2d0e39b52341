//! What the catalogs say about the functions that are called, kept while the catalogs do not
//! change.

use super::language::{self, Language};
use super::plpgsql::Callable;
use crate::core::Core;
use catalog::rows::PgProc;
use catalog::{CatalogState, Row};
use hashbrown::HashMap;
use ids::Oid;
use pgerror::Result;
use std::sync::{Arc, OnceLock};

/// Maximum number of functions that are kept.
const RESOLVED_MAX: usize = 1000;

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

/// Resolved functions, by function and trigger, for one state of the catalogs.
#[derive(Default)]
pub(crate) struct ResolvedFunctions {
    at: CatalogState,
    known: HashMap<(Oid, Oid), Arc<Resolved>>,
}

impl ResolvedFunctions {
    pub(crate) fn clear(&mut self) {
        self.known.clear();
    }
}

/// The function of a call.
pub(super) fn find(core: &mut Core, site: Site<'_>) -> Result<Arc<Resolved>> {
    let state = core.catalog.catalog_state();
    let cache = &core.caches.resolved;
    if cache.at == state
        && let Some(known) = cache.known.get(&(site.function, site.trigger))
        && known.is_for(site)
    {
        return Ok(known.clone());
    }
    let row = core.cat().function(site.function)?;
    let language = language::of(core, row.prolang)?;
    let resolved = Arc::new(Resolved {
        row,
        language,
        arg_types: site.arg_types.into(),
        result_type: site.result_type,
        collation: site.collation,
        plpgsql: OnceLock::new(),
    });
    if core.catalog.catalog_state() == state {
        let cache = &mut core.caches.resolved;
        if cache.at != state || cache.known.len() >= RESOLVED_MAX {
            cache.known.clear();
            cache.at = state;
        }
        cache.known.insert((site.function, site.trigger), resolved.clone());
    }
    Ok(resolved)
}
