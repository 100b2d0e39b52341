//! What all sessions share: storage, caches, settings, and who is connected.

use crate::activity::Activity;
use crate::plancache::PlanCache;
use crate::rusage::Meter;
use crate::session::command_of;
use crate::timer::Timers;
use crate::transport::{Ends, Outlet};
use catalog::Catalogs;
use engine::Engine;
use hashbrown::HashMap;
use ids::Oid;
use pgerror::{PgError, Result, Severity, SqlState, pg_err};
use settings::Base;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};
use sync::atomic::{AtomicI32, AtomicI64, AtomicU8, AtomicU64, Ordering};
use sync::wait::{Interrupt, Waiter};
use sync::{Condvar, Mutex, RwLock};
use wire::backend;

/// Process numbers of sessions begin here: no system hands out such a one, so nobody kills a
/// stranger.
const FIRST_PID: i32 = 1 << 22;

/// So long sessions are told of the server's crash.
const LAST_WORDS_SPAN: Duration = Duration::from_secs(1);

fn crash_of_another() -> PgError {
    pg_err!(
        CRASH_SHUTDOWN,
        "terminating connection because of crash of another server process"
    )
    .severity(Severity::Warning)
    .detail(
        "The postmaster has commanded this server process to roll back the current transaction and exit, because \
         another server process exited abnormally and possibly corrupted shared memory.",
    )
    .hint("In a moment you should be able to reconnect to the database and repeat your command.")
}

/// Who speaks in a line of the log.
#[derive(Clone, Debug, Default)]
pub struct Speaker {
    pub pid: i32,
    pub user: String,
    pub database: String,
    pub application: String,
    /// Address, and port where there is one.
    pub host: String,
    pub port: Option<u16>,
    /// Microseconds since 1970.
    pub session_start: i64,
    pub kind: &'static str,
    /// Lines that this session has written so far.
    pub lines: Arc<AtomicU64>,
    /// What runs, as a command tag.
    pub command: String,
    /// The virtual transaction's two numbers.
    pub vxid: Option<(u32, u32)>,
    pub xid: u32,
    /// What of it is logged and how; `None`: as the server's settings have it.
    pub levels: Option<LogLevels>,
}

/// `log_min_messages`, `log_min_error_statement` and `log_error_verbosity`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LogLevels {
    pub least: Severity,
    pub least_statement: Severity,
    pub verbosity: Verbosity,
}

/// `log_error_verbosity`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verbosity {
    Terse,
    Default,
    Verbose,
}

impl LogLevels {
    /// By the settings' values.
    pub fn new(least: &str, least_statement: &str, verbosity: &str) -> LogLevels {
        let severity = |name: &str| match name {
            "info" => Severity::Info,
            "notice" => Severity::Notice,
            "warning" => Severity::Warning,
            "error" => Severity::Error,
            "log" => Severity::Log,
            "fatal" => Severity::Fatal,
            "panic" => Severity::Panic,
            _ => Severity::Debug,
        };
        LogLevels {
            least: severity(least),
            least_statement: severity(least_statement),
            verbosity: match verbosity {
                "terse" => Verbosity::Terse,
                "verbose" => Verbosity::Verbose,
                _ => Verbosity::Default,
            },
        }
    }
}

/// The server's log.
pub trait Log: Send + Sync {
    fn write(&self, speaker: &Speaker, report: &PgError, statement: Option<&str>);

    /// Would anything be written? To be asked before a long statement is copied for it.
    fn wants(&self, _speaker: &Speaker, _report: &PgError) -> bool {
        true
    }
}

/// Whether new sessions are let in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Admission {
    Starting = 0,
    Open = 1,
    /// Smart shutdown: those that are here may stay.
    Closing = 2,
    /// Fast shutdown.
    Closed = 3,
}

/// A connected session, as others see it.
pub struct SessionHandle {
    pub pid: i32,
    /// `backend_type`.
    pub kind: &'static str,
    /// What a cancel request must know.
    pub key: i32,
    pub waiter: Arc<Waiter>,
    hangup: Arc<dyn Fn() + Send + Sync>,
    outlet: Option<Outlet>,
    /// The address that the client came to, for `inet_server_addr()`.
    pub(crate) local: Option<(IpAddr, u16)>,
    /// What `pg_stat_activity` shows.
    pub activity: Activity,
    /// As whom the session speaks in the log.
    pub(crate) speaker: Mutex<Speaker>,
    /// What `norsu_stat_rusage` shows.
    pub meter: Meter,
    /// Is a statement running? A cancel request that comes too late must not hit the next one.
    pub(crate) busy: sync::atomic::AtomicBool,
    pub(crate) mailbox: Mutex<crate::notify::Mailbox>,
}

/// A session of a client.
pub(crate) const CLIENT: &str = "client backend";

impl SessionHandle {
    pub(crate) fn is_client(&self) -> bool {
        self.kind == CLIENT
    }

    /// Asks for the end of the statement that runs, if one does.
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
    pub base: Arc<Base>,
    pub hba: Arc<settings::hba::Rules>,
    pub ident: Arc<settings::ident::Maps>,
}

/// The files that the configuration comes from, as the server knows them.
pub trait ConfigFiles: Send + Sync {
    /// Has them read again, soon.
    fn reload(&self);
    /// What the configuration files say, with the outcome of a trial.
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

/// A background worker, as others see it.
pub struct Worker {
    pub pid: i32,
    pub kind: &'static str,
    pub waiter: Arc<Waiter>,
    /// Microseconds since 2000.
    pub start: i64,
    pub meter: Meter,
}

/// See the module's text.
pub struct Instance {
    pub engine: Arc<Engine>,
    pub catalogs: Arc<Catalogs>,
    pub log: Arc<dyn Log>,
    pub timers: Arc<Timers>,
    /// Statements that sessions share.
    pub plans: Arc<PlanCache>,
    config: RwLock<Config>,
    /// Rises with every reload.
    config_generation: AtomicU64,
    sessions: Mutex<HashMap<i32, Arc<SessionHandle>>>,
    empty: Condvar,
    next_pid: AtomicI32,
    admission: AtomicU8,
    pub(crate) exported: crate::snapshots::List,
    /// Held from before a commit until its notifications are delivered.
    pub(crate) post: Mutex<()>,
    /// Sessions that listen to something.
    pub(crate) listeners: sync::atomic::AtomicUsize,
    /// Held while `postgresql.auto.conf` is rewritten.
    pub(crate) auto_conf: Mutex<()>,
    /// When shared counters were set back, and what they were then.
    pub(crate) resets: Mutex<crate::sysfn::counters::Resets>,
    /// When the server started, in microseconds since 2000.
    pub started: i64,
    /// When the configuration was read last.
    loaded: AtomicI64,
    workers: Mutex<Vec<Arc<Worker>>>,
    database_names: Mutex<HashMap<Oid, String>>,
    /// The files of the configuration; set by the server.
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
            exported: Mutex::default(),
            post: Mutex::new(()),
            listeners: sync::atomic::AtomicUsize::new(0),
            auto_conf: Mutex::new(()),
            resets: Mutex::default(),
            workers: Mutex::new(Vec::new()),
            database_names: Mutex::default(),
            files: Mutex::new(None),
        });
        let names = Arc::downgrade(&instance);
        instance.engine.txn().set_database_names(Arc::new(move |database| {
            names.upgrade()?.database_names.lock().get(&database).cloned()
        }));
        instance
    }

    pub fn base(&self) -> Arc<Base> {
        self.config.read().base.clone()
    }

    pub fn hba(&self) -> Arc<settings::hba::Rules> {
        self.config.read().hba.clone()
    }

    pub fn ident(&self) -> Arc<settings::ident::Maps> {
        self.config.read().ident.clone()
    }

    /// Replaces the configuration; sessions take it over before their next statement.
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

    /// 57P03 while nobody is let in.
    pub fn check_admission(&self) -> Result<()> {
        let message = match self.admission.load(Ordering::Acquire) {
            1 => return Ok(()),
            0 => "the database system is starting up",
            _ => "the database system is shutting down",
        };
        Err(PgError::new(SqlState::CANNOT_CONNECT_NOW, message).severity(Severity::Fatal))
    }

    /// Takes a session into the list. 53300 if there are too many.
    pub(crate) fn register(
        &self,
        hangup: Arc<dyn Fn() + Send + Sync>,
        outlet: Option<Outlet>,
        ends: Ends,
        pid: i32,
    ) -> Result<Arc<SessionHandle>> {
        let base = self.base();
        let most = base.int("max_connections") as usize;
        let mut sessions = self.sessions.lock();
        if sessions.values().filter(|s| s.is_client()).count() >= most {
            return Err(pg_err!(TOO_MANY_CONNECTIONS, "sorry, too many clients already")
                .severity(Severity::Fatal));
        }
        Ok(self.enter(&mut sessions, CLIENT, (hangup, outlet), ends, pid))
    }

    /// Takes a session of the server's own into the list: it takes no client's place.
    pub(crate) fn register_own(&self, kind: &'static str) -> Arc<SessionHandle> {
        let mut sessions = self.sessions.lock();
        self.enter(&mut sessions, kind, (Arc::new(|| {}), None), Ends::default(), 0)
    }

    fn enter(
        &self,
        sessions: &mut HashMap<i32, Arc<SessionHandle>>,
        kind: &'static str,
        (hangup, outlet): (Arc<dyn Fn() + Send + Sync>, Option<Outlet>),
        ends: Ends,
        pid: i32,
    ) -> Arc<SessionHandle> {
        // A number that the log has seen is kept.
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
            outlet,
            local: ends.local,
            activity: Activity::new(self.engine.env().clock.pg_micros(), ends.peer),
            speaker: Mutex::default(),
            meter: Meter::default(),
            busy: sync::atomic::AtomicBool::new(false),
            mailbox: Mutex::default(),
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

    /// 53300 if this session, which is no superuser's, takes one of the last places.
    pub(crate) fn check_reserved(&self) -> Result<()> {
        let base = self.base();
        let most = base.int("max_connections") as usize;
        let reserved = base.int("superuser_reserved_connections") as usize;
        let clients = self.sessions.lock().values().filter(|s| s.is_client()).count();
        if clients + reserved > most {
            return Err(pg_err!(
                TOO_MANY_CONNECTIONS,
                "remaining connection slots are reserved for non-replication superuser connections"
            ));
        }
        Ok(())
    }

    /// Takes a background worker into `pg_stat_activity`.
    pub fn register_worker(&self, kind: &'static str, waiter: Arc<Waiter>) -> Arc<Worker> {
        let start = self.engine.env().clock.pg_micros();
        let pid = self.new_pid();
        let worker = Arc::new(Worker { pid, kind, waiter, start, meter: Meter::default() });
        self.workers.lock().push(worker.clone());
        worker
    }

    /// Names of databases for messages that come up where no catalog can be read.
    pub(crate) fn set_database_names(&self, names: Vec<(Oid, String)>) {
        *self.database_names.lock() = names.into_iter().collect();
    }

    pub fn workers(&self) -> Vec<Arc<Worker>> {
        self.workers.lock().clone()
    }

    /// All sessions, by their numbers.
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

    /// Asks the server's own sessions to end, those in one database or all.
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

    /// The server goes down at once because of `error`: the session that met it is told so, in
    /// whose thread this is called, and the others that they end too. Who takes no bytes is waited
    /// for as long as a socket's write waits, all together not much longer than
    /// [`LAST_WORDS_SPAN`]. Counterpart: `quickdie`.
    pub fn last_words(&self, error: &PgError) {
        let Some(sessions) = self.sessions.try_lock() else { return };
        let begun = Instant::now();
        for session in sessions.values() {
            let Some(outlet) = &session.outlet else { continue };
            let mut out = Vec::new();
            match session.meter.is_here() {
                true => backend::report(&mut out, error),
                false => backend::report(&mut out, &crash_of_another()),
            }
            let _ = outlet(&out);
            if begun.elapsed() > LAST_WORDS_SPAN {
                return;
            }
        }
    }

    /// Who works in the calling thread, and at which statement: for what is to be logged when it
    /// cannot go on to say so itself.
    pub fn speaker_here(&self) -> (Speaker, Option<String>) {
        if let Some(worker) = self.workers.lock().iter().find(|w| w.meter.is_here()) {
            return (Speaker { kind: worker.kind, ..Speaker::default() }, None);
        }
        let sessions = self.sessions.try_lock();
        let session = sessions.and_then(|s| s.values().find(|s| s.meter.is_here()).cloned());
        let Some(session) = session else { return (Speaker::default(), None) };
        let mut speaker = session.speaker.lock().clone();
        let statement = session.activity.running();
        speaker.command = statement.as_deref().map_or_else(|| "idle".to_owned(), command_of);
        if let Some(proc) = session.activity.get().proc {
            let vxid = self.engine.locks().vxid(proc);
            speaker.vxid = vxid.map(|v| (v.backend.0, v.local));
            speaker.xid = self.engine.txn().xid_of_proc(proc).0;
        }
        (speaker, statement)
    }

    /// Waits, at most so long, until nobody is connected.
    pub fn wait_empty(&self, span: Duration) -> bool {
        let mut sessions = self.sessions.lock();
        if !sessions.is_empty() {
            let _ = self.empty.wait_for(&mut sessions, span);
        }
        sessions.is_empty()
    }
}
