//! What a session owns besides its connection.

use crate::instance::{Instance, SessionHandle};
use crate::plancache::{EnvironmentAt, PlanCache};
use crate::prepared::Prepared;
use crate::resolved::Resolved;
use catalog::{CatCx, CatSession, Catalogs};
use engine::Backend;
use executor::OpenRel;
use hashbrown::HashMap;
use ids::Oid;
use pgerror::{PgError, Result, pg_err};
use planner::CostSettings;
use std::any::Any;
use std::sync::Arc;
use types::Datum;
use types::fncx::RowDesc;

/// The session's state. One `&mut Core` is lent to whatever runs: it implements the traits by which
/// analysis, planning, expressions and the executor reach catalogs, storage and settings.
pub struct Core {
    /// Snapshots that the transaction gives to others. Goes before the backend does.
    pub(crate) exports: Option<Box<crate::snapshots::Exports>>,
    pub backend: Backend,
    pub catalog: CatSession,
    pub catalogs: Arc<Catalogs>,
    pub database_name: String,
    /// The session's parameters.
    pub store: settings::Store,
    /// What functions see of the settings.
    pub types: types::Settings,
    pub costs: CostSettings,
    pub work_mem_bytes: usize,
    /// Microseconds since 2000-01-01 UTC.
    pub transaction_start: i64,
    pub statement_start: i64,
    /// Reports not yet sent.
    pub notices: Vec<PgError>,
    /// Parameters of the statement being planned, where a custom plan is made.
    pub params: Arc<[Datum]>,
    /// Statements that sessions share.
    pub plans: Arc<PlanCache>,
    pub(crate) environment: u64,
    pub(crate) environment_at: EnvironmentAt,
    /// Rises when a parameter of the session changes.
    pub(crate) settings_version: u64,
    /// Says which server values lie beneath the session's parameters.
    pub(crate) base_generation: u64,
    /// Anonymous row types, by typmod.
    pub row_types: Vec<Arc<RowDesc>>,
    pub(crate) relations: HashMap<Oid, (Arc<catalog::RelDesc>, Arc<OpenRel>)>,
    /// Operators resolved so far, and the generation and search path for which they hold.
    pub(crate) operators: analyze::OperatorCache,
    pub(crate) operators_at: (catalog::Seen, String),
    pub(crate) functions: HashMap<Oid, Arc<eval::FnFacts>>,
    pub(crate) type_ios: HashMap<Oid, Arc<eval::TypeIo>>,
    /// Functions that hash values of a type, without and with a seed, and the generation for which
    /// they hold.
    pub(crate) hash_functions: HashMap<(Oid, bool), Arc<eval::FnFacts>>,
    pub(crate) hash_functions_at: catalog::Seen,
    pub(crate) planning: crate::env::planning::Known,
    /// The session has met a statement whose expressions are nested so deeply that it needs a wider
    /// stack.
    pub(crate) deep_statements: bool,
    pub(crate) extra: Option<Box<dyn Any + Send>>,
    pub(crate) random_state: u64,
    /// What `pg_backend_pid()` says.
    pub backend_pid: i32,
    /// Values of sequences that the session has reserved.
    pub sequences: HashMap<Oid, crate::CachedSequence>,
    /// The sequence of the last `nextval`.
    pub last_sequence: Oid,
    /// Functions in SQL that have been called, ready to run.
    pub(crate) bodies: crate::sysfn::sql::Bodies,
    /// Calls of functions in SQL within each other.
    pub(crate) depth: u32,
    pub(crate) foreign_keys: crate::fkey::ForeignKeys,
    /// Notifications that the transaction has for others, and to which it wants to listen.
    pub(crate) messages: crate::notify::Pending,
    /// The transaction's characteristics.
    pub(crate) mode: crate::xact::Mode,
    /// Who speaks, in the server's log.
    pub(crate) speaker: crate::instance::Speaker,
    /// Who logged in, and whether that is a superuser.
    pub(crate) login_user: Oid,
    pub(crate) login_superuser: bool,
    /// … whether `session_user` is one.
    pub(crate) session_superuser: bool,
    /// … whether `current_user` is one.
    pub(crate) superuser: bool,
    /// The role of a function or command that runs with another one's rights.
    pub(crate) acting: Option<crate::acting::Acting>,
    /// Names that SET ROLE and SET SESSION AUTHORIZATION were given, with what they stood for.
    pub(crate) roles_set: Vec<(String, Oid, bool)>,
    pub(crate) resolved: Resolved,
    /// Parameters may have changed of which the client wants to be told.
    pub(crate) report_due: bool,
    pub(crate) track_activities: bool,
    /// `track_activity_query_size` less the closing zero of the real server's buffer.
    pub(crate) activity_bytes_max: usize,
    /// The statement that runs, for the log.
    pub(crate) statement: Option<Arc<str>>,
    /// What the thread had used when the session began.
    pub(crate) usage_before: vfs::process::Usage,
    pub(crate) statement_log: crate::statementlog::StatementLog,
    /// The server, and what it shows of this session. Absent where queries run without a
    /// connection.
    pub(crate) server: Option<(Arc<Instance>, Arc<SessionHandle>)>,
    pub(crate) known_rights: crate::rights::KnownRights,
    pub(crate) prepared: Named,
    pub(crate) portals: HashMap<String, crate::portal::Portal>,
    /// The portal that an Execute message runs, which is not among the others meanwhile: its name,
    /// text and time.
    pub(crate) executing: Option<(String, Arc<str>, i64)>,
}

/// Prepared statements by name.
#[derive(Default)]
pub(crate) struct Named(HashMap<String, (Arc<Prepared>, i64)>);

impl Named {
    pub(crate) fn contains_key(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Arc<Prepared>> {
        self.0.get(name).map(|(p, _)| p)
    }

    pub(crate) fn remove(&mut self, name: &str) -> Option<Arc<Prepared>> {
        self.0.remove(name).map(|(p, _)| p)
    }

    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&String, &Arc<Prepared>)> {
        self.0.iter().map(|(name, (p, _))| (name, p))
    }

    /// With the time of each one's making, in microseconds since 2000.
    pub(crate) fn with_times(&self) -> impl Iterator<Item = (&String, &Arc<Prepared>, i64)> {
        self.0.iter().map(|(name, (p, time))| (name, p, *time))
    }
}

impl Core {
    pub fn new(
        backend: Backend,
        catalog: CatSession,
        catalogs: Arc<Catalogs>,
        database_name: String,
        store: settings::Store,
    ) -> Core {
        let resolved = Resolved::new(&store);
        let login_user = catalog.user;
        let mut seed = [0u8; 8];
        backend.storage().env.random.fill(&mut seed);
        Core {
            exports: None,
            backend,
            catalog,
            catalogs,
            database_name,
            store,
            types: types::Settings::default(),
            costs: CostSettings::default(),
            work_mem_bytes: 4 << 20,
            transaction_start: 0,
            statement_start: 0,
            notices: Vec::new(),
            params: Arc::from([]),
            plans: Arc::default(),
            environment: 0,
            environment_at: EnvironmentAt::default(),
            settings_version: 0,
            base_generation: 0,
            row_types: Vec::new(),
            relations: HashMap::new(),
            operators: analyze::OperatorCache::default(),
            operators_at: Default::default(),
            functions: HashMap::new(),
            type_ios: HashMap::new(),
            hash_functions: HashMap::new(),
            hash_functions_at: Default::default(),
            planning: Default::default(),
            deep_statements: false,
            extra: None,
            random_state: u64::from_le_bytes(seed),
            backend_pid: 0,
            sequences: HashMap::new(),
            last_sequence: Oid::INVALID,
            bodies: Default::default(),
            depth: 0,
            foreign_keys: Default::default(),
            messages: Default::default(),
            mode: Default::default(),
            speaker: Default::default(),
            login_user,
            login_superuser: true,
            session_superuser: true,
            superuser: true,
            acting: None,
            roles_set: Vec::new(),
            resolved,
            report_due: true,
            track_activities: true,
            activity_bytes_max: 1023,
            statement: None,
            usage_before: vfs::process::thread_usage(),
            statement_log: Default::default(),
            server: None,
            known_rights: Default::default(),
            prepared: Named::default(),
            portals: HashMap::new(),
            executing: None,
        }
    }

    /// Keeps a statement under a name.
    pub(crate) fn name_statement(&mut self, name: &str, statement: Arc<Prepared>) -> Result<()> {
        if self.prepared.contains_key(name) {
            return Err(pg_err!(
                DUPLICATE_PSTATEMENT,
                "prepared statement \"{name}\" already exists"
            ));
        }
        self.prepared.0.insert(name.to_owned(), (statement, self.statement_start));
        Ok(())
    }

    /// The catalogs as this session sees them.
    pub fn cat(&mut self) -> CatCx<'_> {
        CatCx::new(&mut self.backend, &mut self.catalog)
    }

    /// The clock, in microseconds since 2000-01-01 UTC.
    pub fn now(&self) -> i64 {
        self.backend.storage().env.clock.pg_micros()
    }

    /// A type that has no row.
    pub(crate) fn no_type(oid: Oid) -> PgError {
        PgError::internal(format!("cache lookup failed for type {oid}"))
    }

    /// Locks a relation for the transaction and takes in what others changed meanwhile.
    pub fn lock_relation(&mut self, relation: Oid, mode: i32) -> Result<()> {
        if let Some((tag, mode)) = self.relation_lock(relation, mode)? {
            self.backend.lock(tag, mode)?;
        }
        Ok(())
    }

    /// As [`Core::lock_relation`]; false instead of waiting.
    pub fn try_lock_relation(&mut self, relation: Oid, mode: i32) -> Result<bool> {
        match self.relation_lock(relation, mode)? {
            Some((tag, mode)) => {
                Ok(self.backend.try_lock(tag, mode)? != lmgr::Acquired::NotAvailable)
            }
            None => Ok(true),
        }
    }
}

/// The lock mode with this number; 0 is none.
pub fn engine_lock_mode(number: i32) -> Option<lmgr::LockMode> {
    use lmgr::LockMode::*;
    Some(match number {
        1 => AccessShare,
        2 => RowShare,
        3 => RowExclusive,
        4 => ShareUpdateExclusive,
        5 => Share,
        6 => ShareRowExclusive,
        7 => Exclusive,
        8 => AccessExclusive,
        _ => return None,
    })
}
