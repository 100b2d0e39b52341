//! The state that all sessions share: storage, caches, settings, and the list of sessions.

use crate::plancache::PlanCache;
use catalog::Catalogs;
use client::activity::Activity;
use client::rusage::Meter;
use client::timer::Timers;
use client::transport::{Addresses, ClientOutput, TlsAcceptor};
use engine::Engine;
use hashbrown::HashMap;
use ids::Oid;
use parameters::{Log, LogOrigin, command_of};
use pgerror::{PgError, Result, Severity, SqlState, pg_err};
use settings::ServerValues;
use statements::Registry;
use std::net::IpAddr;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};
use sync::atomic::{AtomicI32, AtomicI64, AtomicU8, AtomicU64, Ordering};
use sync::wait::{Interrupt, Waiter};
use sync::{Condvar, Mutex, RwLock};
use wire::backend;

/// Process ids of sessions begin above the range of the operating system, so that a signal to such
/// an id cannot reach another process.
const FIRST_PID: i32 = 1 << 22;

/// Time limit for the report of a crash of the server to all sessions.
const CRASH_REPORT_SPAN: Duration = Duration::from_secs(1);

fn crash_of_another_process() -> PgError {
    pg_err!(CRASH_SHUTDOWN, "terminating connection because of crash of another server process")
        .severity(Severity::Warning)
        .detail(
            "The postmaster has commanded this server process to roll back the current transaction \
             and exit, because another server process exited abnormally and possibly corrupted \
             shared memory.",
        )
        .hint(
            "In a moment you should be able to reconnect to the database and repeat your command.",
        )
}

/// Whether new sessions are admitted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Admission {
    Starting = 0,
    Open = 1,
    /// Smart shutdown: existing sessions may continue.
    Closing = 2,
    /// Fast shutdown.
    Closed = 3,
}

/// The public handle of a session, for other threads.
pub struct SessionHandle {
    pub pid: i32,
    /// `backend_type`.
    pub kind: &'static str,
    /// The secret key of a cancel request.
    pub key: i32,
    pub waiter: Arc<Waiter>,
    hangup: Arc<dyn Fn() + Send + Sync>,
    pub(crate) client_output: Option<ClientOutput>,
    /// The local address of the connection, for `inet_server_addr()`.
    pub(crate) local: Option<(IpAddr, u16)>,
    /// The session's entry in `pg_stat_activity`.
    pub activity: Activity,
    /// The origin of the session's log lines.
    pub(crate) log_origin: Mutex<LogOrigin>,
    /// The session's entry in `norsu_stat_rusage`.
    pub meter: Meter,
    /// True while a statement is running. A late cancel request must not cancel the next statement.
    pub(crate) busy: sync::atomic::AtomicBool,
    pub(crate) notifications: Mutex<client::notify::NotificationQueue>,
}

/// `backend_type` of a client's session.
pub(crate) const CLIENT: &str = "client backend";

impl SessionHandle {
    pub(crate) fn is_client(&self) -> bool {
        self.kind == CLIENT
    }

    /// Cancels the running statement, if there is one.
    pub fn cancel(&self) {
        if self.busy.load(Ordering::Acquire) {
            self.waiter.raise(Interrupt::QueryCancel);
        }
    }

    /// Asks the session to end.
    pub fn terminate(&self) {
        self.waiter.raise(Interrupt::Terminate);
        (self.hangup)();
    }
}

/// Configuration that a reload replaces.
pub struct Config {
    pub base: Arc<ServerValues>,
    pub hba: Arc<settings::hba::Rules>,
    pub ident: Arc<settings::ident::Maps>,
}

/// The server's access to its configuration files.
pub trait ConfigFiles: Send + Sync {
    /// Requests a reload.
    fn reload(&self);
    /// The entries of the configuration files, each with the result of a trial application.
    fn settings(&self) -> Vec<FileSetting>;
    /// Contents of `hba_file`, line by line.
    fn hba(&self) -> Result<Vec<settings::hba::Line>>;
    fn is_own_address(&self, address: IpAddr) -> bool;
    fn is_own_network(&self, address: IpAddr) -> bool;
    /// Contents of `ident_file`, line by line.
    fn ident(&self) -> Result<Vec<settings::ident::Line>>;
}

/// A row of `pg_file_settings`.
#[derive(Clone, Debug)]
pub struct FileSetting {
    pub file: String,
    pub line: u32,
    pub name: Option<String>,
    pub value: Option<String>,
    pub applied: bool,
    pub error: Option<String>,
}

/// The public handle of a background worker.
pub struct Worker {
    pub pid: i32,
    pub kind: &'static str,
    pub waiter: Arc<Waiter>,
    /// Microseconds since 2000.
    pub start: i64,
    pub meter: Meter,
}

/// The state that all sessions share.
pub struct Instance {
    pub engine: Arc<Engine>,
    pub catalogs: Arc<Catalogs>,
    pub log: Arc<dyn Log>,
    pub timers: Arc<Timers>,
    /// The plan cache.
    pub plans: Arc<PlanCache>,
    config: RwLock<Config>,
    /// Incremented by every reload.
    config_generation: AtomicU64,
    sessions: Mutex<HashMap<i32, Arc<SessionHandle>>>,
    empty: Condvar,
    next_pid: AtomicI32,
    admission: AtomicU8,
    pub(crate) exported: Arc<crate::snapshots::List>,
    /// Locked from before a commit until its notifications are delivered, so that they arrive in
    /// commit order.
    pub(crate) notify_lock: Mutex<()>,
    /// Number of sessions that listen to a channel.
    pub(crate) listeners: sync::atomic::AtomicUsize,
    /// Locked while `postgresql.auto.conf` is rewritten.
    pub(crate) auto_conf: Mutex<()>,
    /// The running workers of autovacuum.
    pub(crate) autovacuum: Arc<autovacuum::Workers>,
    /// Start time of the server, in microseconds since 2000-01-01.
    pub started: i64,
    /// Time of the last configuration load.
    loaded: AtomicI64,
    workers: Mutex<Vec<Arc<Worker>>>,
    database_names: Mutex<HashMap<Oid, String>>,
    /// Encrypts connections; `None` if the setting `ssl` is off.
    tls: RwLock<Option<Arc<dyn TlsAcceptor>>>,
    /// The statistics of statements; set by the server, if they are collected.
    statements: OnceLock<Arc<Registry>>,
    /// The configuration files; set by the server.
    files: Mutex<Option<Arc<dyn ConfigFiles>>>,
}

impl Instance {
    pub fn new(engine: Arc<Engine>, config: Config, log: Arc<dyn Log>) -> Arc<Instance> {
        let started = engine.env().clock.pg_micros();
        let instance = Arc::new(Instance {
            engine,
            started,
            loaded: AtomicI64::new(started),
            catalogs: Arc::new(Catalogs::new()),
            log,
            timers: Timers::new(),
            plans: Arc::default(),
            config: RwLock::new(config),
            config_generation: AtomicU64::new(1),
            sessions: Mutex::new(HashMap::new()),
            empty: Condvar::new(),
            next_pid: AtomicI32::new(FIRST_PID),
            admission: AtomicU8::new(Admission::Starting as u8),
            exported: Arc::default(),
            notify_lock: Mutex::new(()),
            listeners: sync::atomic::AtomicUsize::new(0),
            auto_conf: Mutex::new(()),
            workers: Mutex::new(Vec::new()),
            autovacuum: Arc::default(),
            database_names: Mutex::default(),
            tls: RwLock::new(None),
            statements: OnceLock::new(),
            files: Mutex::new(None),
        });
        let names = Arc::downgrade(&instance);
        instance.engine.txn().set_database_names(Arc::new(move |database| {
            names.upgrade()?.database_names.lock().get(&database).cloned()
        }));
        instance
    }

    /// Collects statistics of the statements of sessions that begin later.
    pub fn collect_statements(&self, registry: Arc<Registry>) {
        let _ = self.statements.set(registry);
    }

    pub(crate) fn statements(&self) -> Option<&Arc<Registry>> {
        self.statements.get()
    }

    pub fn base(&self) -> Arc<ServerValues> {
        self.config.read().base.clone()
    }

    pub fn hba(&self) -> Arc<settings::hba::Rules> {
        self.config.read().hba.clone()
    }

    pub fn ident(&self) -> Arc<settings::ident::Maps> {
        self.config.read().ident.clone()
    }

    /// The acceptor of new encrypted connections.
    pub fn tls(&self) -> Option<Arc<dyn TlsAcceptor>> {
        self.tls.read().clone()
    }

    /// Replaces the acceptor of encrypted connections. Existing connections keep theirs.
    pub fn set_tls(&self, acceptor: Option<Arc<dyn TlsAcceptor>>) {
        *self.tls.write() = acceptor;
    }

    /// Replaces the configuration. Sessions apply it before their next statement.
    pub fn configure(&self, config: Config) {
        *self.config.write() = config;
        self.loaded.store(self.engine.env().clock.pg_micros(), Ordering::Relaxed);
        self.config_generation.fetch_add(1, Ordering::Release);
    }

    /// Microseconds since 2000.
    pub fn config_loaded(&self) -> i64 {
        self.loaded.load(Ordering::Relaxed)
    }

    pub fn config_generation(&self) -> u64 {
        self.config_generation.load(Ordering::Acquire)
    }

    pub fn set_files(&self, files: Arc<dyn ConfigFiles>) {
        *self.files.lock() = Some(files);
    }

    pub fn files(&self) -> Option<Arc<dyn ConfigFiles>> {
        self.files.lock().clone()
    }

    pub fn set_admission(&self, admission: Admission) {
        self.admission.store(admission as u8, Ordering::Release);
    }

    /// Error 57P03 while new sessions are not admitted.
    pub fn check_admission(&self) -> Result<()> {
        let message = match self.admission.load(Ordering::Acquire) {
            1 => return Ok(()),
            0 => "the database system is starting up",
            _ => "the database system is shutting down",
        };
        Err(PgError::new(SqlState::CANNOT_CONNECT_NOW, message).severity(Severity::Fatal))
    }

    /// Adds a client's session to the list. Error 53300 if there are too many.
    pub(crate) fn register(
        &self,
        hangup: Arc<dyn Fn() + Send + Sync>,
        client_output: Option<ClientOutput>,
        addresses: Addresses,
        pid: i32,
    ) -> Result<Arc<SessionHandle>> {
        let base = self.base();
        let max_connections = base.int("max_connections") as usize;
        let mut sessions = self.sessions.lock();
        if sessions.values().filter(|s| s.is_client()).count() >= max_connections {
            return Err(pg_err!(TOO_MANY_CONNECTIONS, "sorry, too many clients already")
                .severity(Severity::Fatal));
        }
        Ok(self.enter(&mut sessions, CLIENT, (hangup, client_output), addresses, pid))
    }

    /// Adds an internal session of the server to the list. It does not count against
    /// `max_connections`.
    pub(crate) fn register_internal(&self, kind: &'static str) -> Arc<SessionHandle> {
        let mut sessions = self.sessions.lock();
        self.enter(&mut sessions, kind, (Arc::new(|| {}), None), Addresses::default(), 0)
    }

    fn enter(
        &self,
        sessions: &mut HashMap<i32, Arc<SessionHandle>>,
        kind: &'static str,
        (hangup, client_output): (Arc<dyn Fn() + Send + Sync>, Option<ClientOutput>),
        addresses: Addresses,
        pid: i32,
    ) -> Arc<SessionHandle> {
        // A process id that was already logged is kept.
        let mut pid = if pid == 0 { self.new_pid() } else { pid };
        while sessions.contains_key(&pid) {
            pid = self.new_pid();
        }
        let handle = Arc::new(SessionHandle {
            pid,
            kind,
            key: self.engine.env().random.u64() as i32,
            waiter: Arc::new(Waiter::new()),
            hangup,
            client_output,
            local: addresses.local,
            activity: Activity::new(self.engine.env().clock.pg_micros(), addresses.peer),
            log_origin: Mutex::default(),
            meter: Meter::default(),
            busy: sync::atomic::AtomicBool::new(false),
            notifications: Mutex::default(),
        });
        handle.meter.begin();
        sessions.insert(pid, handle.clone());
        handle
    }

    pub(crate) fn new_pid(&self) -> i32 {
        let pid = self.next_pid.fetch_add(1, Ordering::Relaxed);
        if pid == i32::MAX {
            self.next_pid.store(FIRST_PID, Ordering::Relaxed);
        }
        pid
    }

    /// Error 53300 if a session that is not a superuser's would take a reserved connection slot.
    pub(crate) fn check_reserved(&self) -> Result<()> {
        let base = self.base();
        let max_connections = base.int("max_connections") as usize;
        let reserved = base.int("superuser_reserved_connections") as usize;
        let clients = self.sessions.lock().values().filter(|s| s.is_client()).count();
        if clients + reserved > max_connections {
            return Err(pg_err!(
                TOO_MANY_CONNECTIONS,
                "remaining connection slots are reserved for non-replication superuser connections"
            ));
        }
        Ok(())
    }

    /// Registers a background worker, for `pg_stat_activity`.
    pub fn register_worker(&self, kind: &'static str, waiter: Arc<Waiter>) -> Arc<Worker> {
        let start = self.engine.env().clock.pg_micros();
        let pid = self.new_pid();
        let worker = Arc::new(Worker { pid, kind, waiter, start, meter: Meter::default() });
        self.workers.lock().push(worker.clone());
        worker
    }

    /// Stores the names of databases, for messages that are created where no catalog can be read.
    pub(crate) fn set_database_names(&self, names: Vec<(Oid, String)>) {
        *self.database_names.lock() = names.into_iter().collect();
    }

    pub fn workers(&self) -> Vec<Arc<Worker>> {
        self.workers.lock().clone()
    }

    /// All sessions, ordered by process id.
    pub fn sessions(&self) -> Vec<Arc<SessionHandle>> {
        let mut all: Vec<_> = self.sessions.lock().values().cloned().collect();
        all.sort_by_key(|s| s.pid);
        all
    }

    pub(crate) fn unregister(&self, pid: i32) {
        let mut sessions = self.sessions.lock();
        sessions.remove(&pid);
        if sessions.is_empty() {
            self.empty.notify_all();
        }
    }

    pub fn session(&self, pid: i32) -> Option<Arc<SessionHandle>> {
        self.sessions.lock().get(&pid).cloned()
    }

    /// A cancel request from the network. Wrong keys are ignored.
    pub fn cancel(&self, pid: i32, key: i32) {
        if let Some(session) = self.session(pid).filter(|s| s.key == key) {
            session.cancel();
        }
    }

    pub fn session_count(&self) -> usize {
        self.sessions.lock().len()
    }

    /// Asks the internal sessions of one database or of all to end.
    pub fn terminate_workers(&self, database: Option<Oid>) {
        let own = |s: &&Arc<SessionHandle>| {
            !s.is_client() && database.is_none_or(|d| s.activity.get().database == d)
        };
        let workers: Vec<_> = self.sessions.lock().values().filter(own).cloned().collect();
        workers.iter().for_each(|worker| worker.terminate());
    }

    /// Asks all sessions to end.
    pub fn terminate_all(&self) {
        let sessions: Vec<_> = self.sessions.lock().values().cloned().collect();
        for session in sessions {
            session.terminate();
        }
    }

    /// Reports a crash to all clients: the session whose thread calls this function gets `error`,
    /// the other ones a message that another process crashed. A client that does not read delays
    /// this by at most the write timeout of a socket; the total time is little more than
    /// [`CRASH_REPORT_SPAN`]. Counterpart: `quickdie`.
    pub fn report_crash(&self, error: &PgError) {
        let Some(sessions) = self.sessions.try_lock() else { return };
        let begun = Instant::now();
        for session in sessions.values() {
            let Some(client_output) = &session.client_output else { continue };
            let mut out = Vec::new();
            match session.meter.is_current_thread() {
                true => backend::report(&mut out, error),
                false => backend::report(&mut out, &crash_of_another_process()),
            }
            let _ = client_output(&out);
            if begun.elapsed() > CRASH_REPORT_SPAN {
                return;
            }
        }
    }

    /// The log origin and the statement of the calling thread, for reports from code that has no
    /// access to the session.
    pub fn log_origin_of_thread(&self) -> (LogOrigin, Option<String>) {
        if let Some(worker) = self.workers.lock().iter().find(|w| w.meter.is_current_thread()) {
            return (LogOrigin { kind: worker.kind, ..LogOrigin::default() }, None);
        }
        let sessions = self.sessions.try_lock();
        let session =
            sessions.and_then(|s| s.values().find(|s| s.meter.is_current_thread()).cloned());
        let Some(session) = session else { return (LogOrigin::default(), None) };
        let mut origin = session.log_origin.lock().clone();
        let statement = session.activity.running();
        origin.command = statement.as_deref().map_or_else(|| "idle".to_owned(), command_of);
        if let Some(proc) = session.activity.get().proc {
            let vxid = self.engine.locks().vxid(proc);
            origin.vxid = vxid.map(|v| (v.backend.0, v.local));
            origin.xid = self.engine.txn().xid_of_proc(proc).0;
        }
        (origin, statement)
    }

    /// Waits until no session is left, but at most for `span`.
    pub fn wait_empty(&self, span: Duration) -> bool {
        let mut sessions = self.sessions.lock();
        if !sessions.is_empty() {
            let _ = self.empty.wait_for(&mut sessions, span);
        }
        sessions.is_empty()
    }
}
