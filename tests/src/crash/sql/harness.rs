//! A server without sockets or processes: engine, catalogs and sessions over an in-memory disk.
//! Only one session runs a statement at a time, so that a seed determines the complete run.

use crate::crash::run::InjectedFault;
use crate::script::Script;
use catalog::bootstrap::{InitOptions, init};
use engine::{CheckpointFlags, Engine, EngineConfig};
use pgerror::{PgError, Severity};
use session::{Admission, Config, Instance, Log, LogOrigin, Transport};
use std::io::{self, Read, Write};
use std::net::{IpAddr, Shutdown};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;
use testkit::client::Client;
use vfs::{Env, MemDisk, SeededRandom};
use wal::{Compression, WalLevel};

/// A new cluster, created once.
pub(super) fn template() -> MemDisk {
    static TEMPLATE: OnceLock<MemDisk> = OnceLock::new();
    let disk = TEMPLATE.get_or_init(|| {
        let disk = MemDisk::new();
        let mut env = Env::memory(1);
        env.disk = Arc::new(disk.clone());
        let options =
            InitOptions { sync: false, wal_segment_size: 1 << 20, ..InitOptions::default() };
        init(&env, &options).unwrap_or_else(|e| panic!("init: {e}"));
        disk.killed()
    });
    disk.killed()
}

/// The server side of a session's connection.
struct Pipe(UnixStream);

impl Transport for Pipe {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        self.0.read(buf)
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn set_read_timeout(&mut self, timeout: Option<Duration>) -> io::Result<()> {
        self.0.set_read_timeout(timeout)
    }

    fn hangup(&self) -> Arc<dyn Fn() + Send + Sync> {
        let stream = self.0.try_clone().expect("a descriptor");
        Arc::new(move || drop(stream.shutdown(Shutdown::Both)))
    }

    fn peer(&self) -> Option<(IpAddr, u16)> {
        None
    }
}

/// Reports of the server with a severity above ERROR, and internal errors.
#[derive(Default)]
struct SevereReports(Mutex<Vec<String>>);

impl Log for SevereReports {
    fn write(&self, _: &LogOrigin, report: &PgError, statement: Option<&str>) {
        let fields = report.fields();
        if fields.severity >= Severity::Fatal || report.code().as_str().starts_with("XX") {
            let text = format!("{report} ({}) in {statement:?}", report.code());
            self.0.lock().expect("no panic while it is locked").push(text);
        }
    }
}

pub(super) struct Harness {
    pub disk: MemDisk,
    env: Env,
    config: EngineConfig,
    settings: Vec<(&'static str, &'static str)>,
    injected: InjectedFault,
    instance: Option<Arc<Instance>>,
    threads: Vec<std::thread::JoinHandle<()>>,
    /// The engine has requested an immediate shutdown.
    pub panicked: Arc<AtomicBool>,
    log: Arc<SevereReports>,
}

impl Harness {
    pub(super) fn new(
        disk: MemDisk,
        random: &SeededRandom,
        seed: u64,
        injected: InjectedFault,
    ) -> Result<Harness, String> {
        let mut env = Env::memory(seed);
        env.disk = Arc::new(disk.clone());
        let mut config = EngineConfig::new(env.clone());
        config.shared_buffers = [40, 80, 400][random.below(3) as usize];
        config.background.log_checkpoints = false;
        config.txn.slots = 16;
        config.max_prepared_xacts = 3;
        config.wal.buffers = [4, 8, 64][random.below(3) as usize];
        config.wal.min_wal_size = 2 << 20;
        config.wal.max_wal_size = 4 << 20;
        let mut settings = Vec::new();
        match random.below(5) {
            0 => {
                config.wal.compression = Compression::Pglz;
                settings.push(("wal_compression", "pglz"));
            }
            1 => {
                config.wal.compression = Compression::Lz4;
                settings.push(("wal_compression", "lz4"));
            }
            _ => {}
        }
        config.wal_log_hints = random.below(4) == 0;
        if random.below(6) == 0 {
            config.wal.consistency_checking = u32::MAX;
            settings.push(("wal_consistency_checking", "all"));
        }
        if random.below(4) == 0 {
            config.wal.level = WalLevel::Minimal;
            // The contents of new relations are synced, logged, or one of these depending on their
            // size.
            settings.push(("wal_skip_threshold", ["0", "1GB", "40kB"][random.below(3) as usize]));
        }
        let log = Arc::new(SevereReports::default());
        let panicked = Arc::new(AtomicBool::new(false));
        let flag = panicked.clone();
        config.on_panic = Arc::new(move |_| flag.store(true, Ordering::SeqCst));
        let mut harness = Harness {
            disk: disk.clone(),
            env,
            config,
            settings,
            injected,
            instance: None,
            threads: Vec::new(),
            panicked,
            log,
        };
        harness.use_disk(disk);
        Ok(harness)
    }

    fn use_disk(&mut self, disk: MemDisk) {
        self.disk = disk;
        self.env.disk = Arc::new(self.disk.clone());
        self.config.env = self.env.clone();
        if let InjectedFault::Unsynced(part) = self.injected {
            self.disk.ignore_sync_on(part);
        }
    }

    /// Starts the server on the disk unless it runs.
    pub(super) fn open(&mut self) -> Result<(), String> {
        if self.instance.is_some() {
            return Ok(());
        }
        let engine = Engine::open(self.config.clone()).map_err(|e| format!("recovery: {e}"))?;
        let mut base = settings::ServerValues::new(Arc::new(settings::Registry::load()));
        for (name, value) in &self.settings {
            let set = base.set(name, value, settings::Source::CommandLine);
            set.map_err(|e| format!("{name}: {e}"))?;
        }
        let rules = settings::hba::parse("pg_hba.conf", "local all all trust\n", &|_| None);
        let hba = rules.map_err(|e| format!("{e:?}"))?;
        let config = Config { base: Arc::new(base), hba: Arc::new(hba), ident: Arc::default() };
        let instance = Instance::new(engine, config, self.log.clone());
        instance.set_admission(Admission::Open);
        self.instance = Some(instance);
        Ok(())
    }

    fn instance(&self) -> &Arc<Instance> {
        self.instance.as_ref().expect("the server runs")
    }

    pub(super) fn engine(&self) -> &Arc<Engine> {
        &self.instance().engine
    }

    /// Sets the number of shared buffers.
    pub(super) fn buffers(&mut self, frames: usize) {
        self.config.shared_buffers = frames;
    }

    /// Simulates a power failure after the server went down; its threads are not joined.
    pub(super) fn abandon(&mut self, random: &SeededRandom) {
        let left = self.disk.crash(random.next());
        std::mem::forget(self.instance.take());
        std::mem::forget(std::mem::take(&mut self.threads));
        self.log.0.lock().expect("no panic while it is locked").clear();
        self.panicked.store(false, Ordering::SeqCst);
        self.use_disk(left);
    }

    pub(super) fn connect(&mut self) -> Result<Client, String> {
        let (near, far) = UnixStream::pair().map_err(|e| e.to_string())?;
        let instance = self.instance().clone();
        // The stack size of the server's sessions.
        let thread = std::thread::Builder::new().stack_size(16 << 20);
        let thread = thread
            .spawn(move || {
                let _ = session::serve(&instance, Box::new(Pipe(far)));
            })
            .map_err(|e| e.to_string())?;
        let parameters = [("user", "postgres"), ("database", "postgres")];
        self.threads.push(thread);
        Client::with_stream(near, &parameters).map_err(|e| format!("connection: {e}"))
    }

    /// Runs one step of a background process.
    pub(super) fn background_step(&self, random: &SeededRandom) -> Result<(), String> {
        let engine = self.engine();
        let done = match random.below(4) {
            0 => engine.checkpoint(CheckpointFlags::IMMEDIATE).map(drop),
            1 => engine.bgwriter_step().map(drop),
            2 => engine.walwriter_step().map(drop),
            _ => engine.checkpointer_step().map(drop),
        };
        done.map_err(|e| format!("in the background: {e}"))
    }

    fn check_reports(&self) -> Result<(), String> {
        let reports = std::mem::take(&mut *self.log.0.lock().expect("no panic while it is locked"));
        if self.panicked.load(Ordering::SeqCst) {
            return Err(format!("the server panicked; the log says {reports:?}"));
        }
        if reports.is_empty() { Ok(()) } else { Err(format!("the log says {reports:?}")) }
    }

    /// Waits for the sessions, whose clients have disconnected.
    fn join(&mut self) -> Result<(), String> {
        for thread in self.threads.drain(..) {
            thread.join().map_err(|_| "a session panicked".to_owned())?;
        }
        Ok(())
    }

    /// Simulates a power failure, unless it has occurred. The remaining contents become the disk;
    /// later writes to the old disk are ignored.
    pub(super) fn end(
        &mut self,
        random: &SeededRandom,
        sessions: Vec<Client>,
        script: &mut Script,
    ) -> Result<(), String> {
        self.check_reports()?;
        let left = match self.disk.crashed() {
            Some(left) => {
                script.after_crash();
                left
            }
            None => match random.below(6) {
                0 => {
                    drop(sessions);
                    self.join()?;
                    self.engine().shutdown().map_err(|e| format!("shutdown: {e}"))?;
                    script.shut_down();
                    self.instance = None;
                    let left = self.disk.crash_losing_all();
                    self.use_disk(left);
                    return Ok(());
                }
                1 => {
                    script.after_crash();
                    self.disk.killed()
                }
                2 => {
                    script.after_crash();
                    self.disk.crash_losing_all()
                }
                _ => {
                    script.after_crash();
                    self.disk.crash(random.next())
                }
            },
        };
        // The old server continues on the old disk until its sessions have ended.
        drop(sessions);
        self.join()?;
        self.instance = None;
        self.check_reports()?;
        self.use_disk(left);
        Ok(())
    }

    /// Ends the sessions and, if the planned power failure has happened, the server, which then
    /// recovers on the disk after the failure. False if it has not happened.
    pub(super) fn end_planned(&mut self, sessions: Vec<Client>) -> Result<bool, String> {
        let left = self.disk.crashed();
        drop(sessions);
        self.join()?;
        self.check_reports()?;
        let Some(left) = left else { return Ok(false) };
        self.instance = None;
        self.use_disk(left);
        self.open()?;
        Ok(true)
    }

    /// Another power failure while the server, which runs, continues: shortly after its start, or
    /// in the recovery after that.
    pub(super) fn fail_in_recovery(&mut self, random: &SeededRandom) -> Result<(), String> {
        let left = self.disk.crash(random.next());
        self.instance = None;
        self.use_disk(left);
        self.recover(random).map(drop)
    }

    /// Starts the server. The power may fail again during recovery. Returns the number of failures.
    pub(super) fn recover(&mut self, random: &SeededRandom) -> Result<u64, String> {
        let mut crashes = 1;
        for _ in 0..3 {
            if random.below(3) != 0 {
                break;
            }
            self.disk.crash_at_change(1 + random.below(60), random.next());
            self.open()?;
            let Some(left) = self.disk.crashed() else {
                // Cancels the planned crash.
                self.disk.crash_at_change(u64::MAX, 0);
                return Ok(crashes);
            };
            self.instance = None;
            crashes += 1;
            self.use_disk(left);
        }
        self.open()?;
        Ok(crashes)
    }

    /// Called after the clients have disconnected; the server continues to run.
    pub(super) fn close(&mut self) -> Result<(), String> {
        self.join()?;
        self.check_reports()
    }
}
