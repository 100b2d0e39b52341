//! The state of a session, apart from its connection.

use crate::caches::Caches;
use crate::instance::{Instance, SessionHandle};
use crate::plancache::{EnvironmentAt, PlanCache};
use crate::portal::Portal;
use crate::prepared::Prepared;
use crate::resolved::Resolved;
use crate::roles::Roles;
use crate::snapshots::Exports;
use crate::xact::{Block, Mode};
use catalog::{CatCx, CatSession, Catalogs};
use client::EarlyOutput;
use client::notify::Pending;
use client::statementlog::StatementLog;
use engine::Backend;
use hashbrown::HashMap;
use ids::Oid;
use parameters::LogOrigin;
use pgerror::{PgError, Result, pg_err};
use planner::CostSettings;
use statements::Collector;
use std::any::Any;
use std::sync::Arc;
use types::Datum;
use types::random::Random;

/// The state of a session. Running code has one `&mut State`, which implements the traits by which
/// analysis, planning, expressions and the executor access catalogs, storage and settings.
pub struct State {
    /// Must be dropped before the backend, because it may contain snapshots.
    pub(crate) transaction: TransactionState,
    pub backend: Backend,
    pub catalog: CatSession,
    pub catalogs: Arc<Catalogs>,
    pub database_name: String,
    /// The session's parameters.
    pub store: settings::SessionValues,
    /// Values of parameters, resolved when they change.
    pub values: SettingValues,
    /// Notices and warnings not yet sent to the client.
    pub notices: Vec<PgError>,
    /// Parameter values of the statement that is being planned, for a custom plan.
    pub params: Arc<[Datum]>,
    /// The plan cache, which all sessions share.
    pub plans: Arc<PlanCache>,
    pub(crate) environment: PlanEnvironment,
    pub(crate) caches: Caches,
    /// The session has executed a statement whose expressions are nested so deeply that they need a
    /// larger stack.
    pub(crate) deep_statements: bool,
    pub(crate) extra: Option<Box<dyn Any + Send>>,
    pub(crate) random: Random,
    /// The result of `pg_backend_pid()`.
    pub backend_pid: i32,
    /// Cached sequence values (CREATE SEQUENCE … CACHE).
    pub sequences: sysfn::sequence::Sequences,
    pub(crate) calls: RunningCalls,
    pub triggers: trigger::TriggerManager,
    pub(crate) roles: Roles,
    /// Settings that are reported to the client (ParameterStatus) may have changed.
    pub(crate) report_due: bool,
    pub(crate) activity: LoggedActivity,
    /// The instance and the session's public handle. `None` if queries run without a connection.
    pub(crate) server: Option<(Arc<Instance>, Arc<SessionHandle>)>,
    pub(crate) named: NamedObjects,
    /// Sends notices while a statement runs.
    pub(crate) early: Option<EarlyOutput>,
}

/// The state of the transaction in the layers above storage.
#[derive(Default)]
pub struct TransactionState {
    pub(crate) block: Block,
    /// Snapshots that the transaction has exported.
    pub(crate) exports: Option<Box<Exports>>,
    pub(crate) large_objects: largeobject::Descriptors,
    /// The transaction's characteristics.
    pub(crate) mode: Mode,
    /// The transaction's pending NOTIFY, LISTEN and UNLISTEN.
    pub(crate) messages: Pending,
    /// Start of the transaction and of the statement, in microseconds since 2000-01-01 UTC.
    pub(crate) start: i64,
    pub(crate) statement_start: i64,
    /// The value of READ ONLY at the start of each subtransaction, restored at its end.
    pub(crate) read_only_before: Vec<bool>,
    /// Nesting level that created or took over the session's temporary schema. If the level is
    /// rolled back, the session has no temporary schema. Counterpart: `myTempNamespaceSubID`.
    pub(crate) temp_schema_level: Option<usize>,
    /// Temporary tables with ON COMMIT DELETE ROWS (or DROP: true).
    pub(crate) on_commit: Vec<(Oid, bool)>,
}

/// Values of the session's parameters.
pub struct SettingValues {
    /// The settings that functions on values depend on.
    pub types: types::Settings,
    pub costs: CostSettings,
    pub work_mem_bytes: usize,
    pub(crate) resolved: Resolved,
}

/// A number for everything that analysis and planning read besides text and catalogs.
#[derive(Default)]
pub(crate) struct PlanEnvironment {
    pub(crate) number: u64,
    pub(crate) at: EnvironmentAt,
    /// Incremented when a setting of the session changes.
    pub(crate) settings_version: u64,
    /// Generation of the server's configuration on which the session's settings are based.
    pub(crate) base_generation: u64,
}

/// The calls of functions that are running.
#[derive(Default)]
pub(crate) struct RunningCalls {
    /// Nesting depth of calls of SQL functions.
    pub(crate) sql_depth: u32,
    /// Nesting depth of all calls that the function manager makes.
    pub(crate) depth: u32,
    /// The procedure or code that is called next may end the transaction.
    pub(crate) may_end_transaction: bool,
    /// The calls of functions in PL/pgSQL and their statements.
    pub(crate) contexts: plpgsql::Contexts,
    /// Nesting depth of EXECUTEs of utility statements.
    pub(crate) nested_executes: u32,
    /// The transition tables that queries of the running call may name.
    pub(crate) transitions: Vec<trigger::NamedRows>,
}

/// The state of the session that the server log and `pg_stat_activity` show.
pub(crate) struct LoggedActivity {
    /// The origin of the session's lines in the server log.
    pub(crate) client: LogOrigin,
    /// The running statement, for the log.
    pub(crate) statement: Option<Arc<str>>,
    pub(crate) log: StatementLog,
    /// Resource usage of the thread at the start of the session.
    pub(crate) usage_before: vfs::process::Usage,
    pub(crate) track_activities: bool,
    /// `track_activity_query_size` less one for the terminating zero byte in PostgreSQL's buffer.
    pub(crate) activity_bytes_max: usize,
    /// The statistics of the session's statements, if they are collected.
    pub(crate) statements: Option<Collector>,
}

/// Prepared statements and portals.
#[derive(Default)]
pub(crate) struct NamedObjects {
    pub(crate) prepared: PreparedStatements,
    pub(crate) portals: HashMap<String, Box<Portal>>,
    /// The portal that an Execute message is running: its name, query text and creation time. It is
    /// not in `portals` while it runs.
    pub(crate) executing: Option<(String, Arc<str>, i64)>,
    /// Number of cursor names that were generated.
    pub(crate) generated: u64,
}

/// Prepared statements by name.
#[derive(Default)]
pub(crate) struct PreparedStatements(HashMap<String, (Arc<Prepared>, i64)>);

impl PreparedStatements {
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

    /// The statements with their creation times, in microseconds since 2000-01-01.
    pub(crate) fn with_times(&self) -> impl Iterator<Item = (&String, &Arc<Prepared>, i64)> {
        self.0.iter().map(|(name, (p, time))| (name, p, *time))
    }
}

impl State {
    pub fn new(
        backend: Backend,
        catalog: CatSession,
        catalogs: Arc<Catalogs>,
        database_name: String,
        store: settings::SessionValues,
    ) -> State {
        let resolved = Resolved::new(&store);
        let login_user = catalog.user;
        let mut seed = [0u8; 8];
        backend.storage().env.random.fill(&mut seed);
        State {
            transaction: TransactionState::default(),
            backend,
            catalog,
            catalogs,
            database_name,
            store,
            values: SettingValues {
                types: types::Settings::default(),
                costs: CostSettings::default(),
                work_mem_bytes: 4 << 20,
                resolved,
            },
            notices: Vec::new(),
            params: Arc::from([]),
            plans: Arc::default(),
            environment: PlanEnvironment::default(),
            caches: Caches::default(),
            deep_statements: false,
            extra: None,
            random: Random::of_word(u64::from_le_bytes(seed)),
            backend_pid: 0,
            sequences: Default::default(),
            calls: RunningCalls::default(),
            triggers: Default::default(),
            roles: Roles::of_login(login_user),
            report_due: true,
            activity: LoggedActivity {
                client: LogOrigin::default(),
                statement: None,
                log: StatementLog::default(),
                usage_before: vfs::process::thread_usage(),
                track_activities: true,
                activity_bytes_max: 1023,
                statements: None,
            },
            server: None,
            named: NamedObjects::default(),
            early: None,
        }
    }

    /// Stores a prepared statement under a name. Error 42P05 if the name is in use.
    pub(crate) fn name_statement(&mut self, name: &str, statement: Arc<Prepared>) -> Result<()> {
        if self.named.prepared.contains_key(name) {
            return Err(pg_err!(
                DUPLICATE_PSTATEMENT,
                "prepared statement \"{name}\" already exists"
            ));
        }
        let created = self.transaction.statement_start;
        self.named.prepared.0.insert(name.to_owned(), (statement, created));
        Ok(())
    }

    /// Makes these the schemas of the session's temporary objects.
    pub(crate) fn use_temp_schema(&mut self, schema: Oid, toast: Oid) {
        self.catalog.set_temp_namespace(schema, toast);
        // This stays set if the creation of the schema is rolled back. Then tables are not
        // considered orphans, which is safe.
        self.show_activity(|shown| shown.has_temp_schema = true);
        self.transaction.temp_schema_level = Some(self.backend.txn.nesting());
    }

    /// The catalogs as this session sees them.
    pub fn cat(&mut self) -> CatCx<'_> {
        CatCx::new(&mut self.backend, &mut self.catalog)
    }

    /// The clock, in microseconds since 2000-01-01 UTC.
    pub fn now(&self) -> i64 {
        self.backend.storage().env.clock.pg_micros()
    }

    /// The error for a type without a row in `pg_type`.
    pub(crate) fn no_type(oid: Oid) -> PgError {
        PgError::internal(format!("cache lookup failed for type {oid}"))
    }

    /// Locks a relation for the transaction and processes pending invalidation messages.
    pub fn lock_relation(&mut self, relation: Oid, mode: i32) -> Result<()> {
        if let Some((tag, mode)) = self.relation_lock(relation, mode)? {
            self.backend.lock(tag, mode)?;
        }
        Ok(())
    }

    /// As [`State::lock_relation`], but returns false instead of waiting.
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
    use lmgr::LockMode;
    Some(match number {
        1 => LockMode::AccessShare,
        2 => LockMode::RowShare,
        3 => LockMode::RowExclusive,
        4 => LockMode::ShareUpdateExclusive,
        5 => LockMode::Share,
        6 => LockMode::ShareRowExclusive,
        7 => LockMode::Exclusive,
        8 => LockMode::AccessExclusive,
        _ => return None,
    })
}
