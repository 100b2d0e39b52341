//! What all sessions share: storage, caches, settings, and who is connected.

use crate::plancache::PlanCache;
use crate::timer::Timers;
use catalog::Catalogs;
use engine::Engine;
use hashbrown::HashMap;
use pgerror::{PgError, Result, Severity, SqlState, pg_err};
use settings::Base;
use std::sync::Arc;
use sync::atomic::{AtomicI32, AtomicU8, AtomicU64, Ordering};
use sync::wait::{Interrupt, Waiter};
use sync::{Condvar, Mutex, RwLock};

/// Process numbers of sessions begin here: no system hands out such a one, so nobody kills a stranger.
const FIRST_PID: i32 = 1 << 22;

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
}

/// The server's log.
pub trait Log: Send + Sync {
    fn write(&self, speaker: &Speaker, report: &PgError, statement: Option<&str>);
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
    /// What a cancel request must know.
    pub key: i32,
    pub waiter: Arc<Waiter>,
    hangup: Arc<dyn Fn() + Send + Sync>,
    /// Is a statement running? A cancel request that comes too late must not hit the next one.
    pub(crate) busy: sync::atomic::AtomicBool,
}

impl SessionHandle {
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
    /// Held while `postgresql.auto.conf` is rewritten.
    pub(crate) auto_conf: Mutex<()>,
    /// Reads the configuration again; set by the server.
    reload: Mutex<Option<Arc<dyn Fn() + Send + Sync>>>,
}

impl Instance {
    pub fn new(engine: Arc<Engine>, config: Config, log: Arc<dyn Log>) -> Arc<Instance> {
        Arc::new(Instance {
            engine,
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
            auto_conf: Mutex::new(()),
            reload: Mutex::new(None),
        })
    }

    pub fn base(&self) -> Arc<Base> {
        self.config.read().base.clone()
    }

    pub fn hba(&self) -> Arc<settings::hba::Rules> {
        self.config.read().hba.clone()
    }

    /// Replaces the configuration; sessions take it over before their next statement.
    pub fn configure(&self, config: Config) {
        *self.config.write() = config;
        self.config_generation.fetch_add(1, Ordering::Release);
    }

    pub fn config_generation(&self) -> u64 {
        self.config_generation.load(Ordering::Acquire)
    }

    /// What `pg_reload_conf()` does.
    pub fn on_reload(&self, reload: Arc<dyn Fn() + Send + Sync>) {
        *self.reload.lock() = Some(reload);
    }

    pub fn reload(&self) {
        let reload = self.reload.lock().clone();
        if let Some(reload) = reload {
            reload();
        }
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
        superuser: bool,
    ) -> Result<Arc<SessionHandle>> {
        let base = self.base();
        let most = base.int("max_connections") as usize;
        let reserved = base.int("superuser_reserved_connections") as usize;
        let mut sessions = self.sessions.lock();
        if sessions.len() >= most {
            return Err(pg_err!(TOO_MANY_CONNECTIONS, "sorry, too many clients already")
                .severity(Severity::Fatal));
        }
        if !superuser && sessions.len() + reserved >= most {
            return Err(pg_err!(
                TOO_MANY_CONNECTIONS,
                "remaining connection slots are reserved for non-replication superuser connections"
            )
            .severity(Severity::Fatal));
        }
        let mut pid = self.next_pid.fetch_add(1, Ordering::Relaxed);
        if pid == i32::MAX {
            self.next_pid.store(FIRST_PID, Ordering::Relaxed);
        }
        while sessions.contains_key(&pid) {
            pid = self.next_pid.fetch_add(1, Ordering::Relaxed);
        }
        let handle = Arc::new(SessionHandle {
            pid,
            key: self.engine.env().random.u64() as i32,
            waiter: Arc::new(Waiter::new()),
            hangup,
            busy: sync::atomic::AtomicBool::new(false),
        });
        sessions.insert(pid, handle.clone());
        Ok(handle)
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

    /// Asks all sessions to end.
    pub fn terminate_all(&self) {
        let sessions: Vec<_> = self.sessions.lock().values().cloned().collect();
        for session in sessions {
            session.terminate();
        }
    }

    /// Waits, at most so long, until nobody is connected.
    pub fn wait_empty(&self, span: std::time::Duration) -> bool {
        let mut sessions = self.sessions.lock();
        if !sessions.is_empty() {
            let _ = self.empty.wait_for(&mut sessions, span);
        }
        sessions.is_empty()
    }
}
