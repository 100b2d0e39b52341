//! Data that a session has computed from catalogs and keeps between statements.

use crate::env::planner_cache::PlannerCache;
use crate::function::plpgsql::compiled::Codes;
use crate::function::sql::bodies::Bodies;
use executor::OpenRel;
use hashbrown::HashMap;
use ids::Oid;
use plan::PlannedStmt;
use std::any::Any;
use std::sync::Arc;
use types::fn_context::{RowDesc, TypeInfo};

/// The caches of a session. An entry is valid for the catalog state from which it was computed.
#[derive(Default)]
pub(crate) struct Caches {
    pub(crate) relations: HashMap<Oid, (Arc<catalog::RelDesc>, Arc<OpenRel>)>,
    /// Resolved operators, and the catalog generation and search path for which they are valid.
    pub(crate) operators: analyze::OperatorCache,
    pub(crate) operators_at: (catalog::CatalogState, String),
    /// Built-in functions and types, which never change.
    pub(crate) functions: HashMap<Oid, Arc<eval::FnFacts>>,
    pub(crate) type_ios: HashMap<Oid, Arc<eval::TypeIo>>,
    pub(crate) created: CreatedObjects,
    pub(crate) planning: PlannerCache,
    /// Prepared bodies of SQL functions that have been called.
    pub(crate) bodies: Bodies,
    /// Compiled functions in PL/pgSQL.
    pub(crate) codes: Codes,
    /// Functions that were called.
    pub(crate) resolved: ResolvedFunctions,
    pub(crate) privilege_cache: PrivilegeCache,
    /// Text search dictionaries and configurations.
    pub(crate) search: dictionaries::Cache,
    /// Anonymous row types, by typmod.
    pub(crate) row_types: Vec<Arc<RowDesc>>,
}

/// Functions and types that were created, and what depends on such, for one state of the catalogs.
#[derive(Default)]
pub(crate) struct CreatedObjects {
    at: catalog::CatalogState,
    pub(crate) functions: HashMap<Oid, Arc<eval::FnFacts>>,
    /// Hash functions by type, without and with a seed.
    pub(crate) hash_functions: HashMap<(Oid, bool), Arc<eval::FnFacts>>,
    pub(crate) domain_checks: HashMap<Oid, Arc<[eval::DomainCheck]>>,
    pub(crate) types: HashMap<Oid, TypeInfo>,
    /// The types without domains, with the type modifiers of the domains.
    pub(crate) base_types: HashMap<Oid, (Oid, i32)>,
    /// The structures of composite types and domains over these.
    pub(crate) rows: HashMap<Oid, Arc<RowDesc>>,
}

impl CreatedObjects {
    /// Forgets everything if the catalogs have another state.
    pub(crate) fn at(&mut self, state: catalog::CatalogState) -> &mut CreatedObjects {
        if self.at != state {
            *self = CreatedObjects { at: state, ..CreatedObjects::default() };
        }
        self
    }
}

/// Functions that were called (`function::language::Resolved`), by function and trigger, for one
/// state of the catalogs.
#[derive(Default)]
pub(crate) struct ResolvedFunctions {
    pub(crate) at: catalog::CatalogState,
    pub(crate) known: HashMap<(Oid, Oid), Arc<dyn Any + Send + Sync>>,
    /// Those that were called last, by the lowest bits of the OID.
    pub(crate) recent: [Option<((Oid, Oid), Arc<dyn Any + Send + Sync>)>; 8],
}

/// Cached privileges of the session's user.
#[derive(Default)]
pub(crate) struct PrivilegeCache {
    pub(crate) user: Oid,
    pub(crate) state: catalog::CatalogState,
    pub(crate) superuser: bool,
    /// The last plan whose privileges were checked successfully.
    pub(crate) allowed: Option<Arc<PlannedStmt>>,
}
