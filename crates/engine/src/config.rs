//! The engine's configuration.

use pgerror::PgError;
use std::time::Duration;
use sync::Arc;
use txn::TxnConfig;
use vfs::Env;
use wal::WalConfig;

/// Receives messages for the server's log.
pub type LogSink = Arc<dyn Fn(&PgError) + Send + Sync>;

/// Configuration of the engine.
#[derive(Clone)]
pub struct EngineConfig {
    pub env: Env,
    /// Number of shared buffers.
    pub shared_buffers: usize,
    /// Configuration of WAL. Segment size and system identifier are read from the control file,
    /// `log_hints` is determined by the control file and `wal_log_hints`, and `on_panic` is the
    /// field below.
    pub wal: WalConfig,
    pub wal_log_hints: bool,
    pub background: BackgroundConfig,
    /// Interval of progress messages during replay; zero: none.
    pub log_startup_progress_interval: Duration,
    pub max_connections: u32,
    pub max_worker_processes: u32,
    pub max_wal_senders: u32,
    pub max_prepared_xacts: u32,
    pub max_locks_per_xact: u32,
    pub track_commit_timestamp: bool,
    /// True if `archive_mode` is not off. The engine does not start then.
    pub archiving: bool,
    pub zero_damaged_pages: bool,
    pub ignore_checksum_failure: bool,
    pub ignore_invalid_pages: bool,
    pub scan_rings: bool,
    /// `norsu.redo_workers`: number of threads that replay pages, in addition to the thread that
    /// reads the log; 0 if that thread replays them. At most 64.
    pub redo_workers: usize,
    pub open_files_max: usize,
    pub txn: TxnConfig,
    pub log: LogSink,
    /// Called on a PANIC. It must not return to normal operation.
    pub on_panic: Arc<dyn Fn(&PgError) + Send + Sync>,
}

impl EngineConfig {
    /// PostgreSQL's defaults, for the given environment.
    pub fn new(env: Env) -> EngineConfig {
        EngineConfig {
            env,
            shared_buffers: 16_384,
            wal: WalConfig::new(wal::layout::DEFAULT_SEGMENT_SIZE, 0),
            wal_log_hints: false,
            background: BackgroundConfig::default(),
            log_startup_progress_interval: Duration::from_secs(10),
            max_connections: 100,
            max_worker_processes: 8,
            max_wal_senders: 10,
            max_prepared_xacts: 0,
            max_locks_per_xact: 64,
            track_commit_timestamp: false,
            archiving: false,
            zero_damaged_pages: false,
            ignore_checksum_failure: false,
            ignore_invalid_pages: false,
            scan_rings: true,
            redo_workers: 0,
            open_files_max: 900,
            txn: TxnConfig::default(),
            log: Arc::new(|_| {}),
            on_panic: Arc::new(|_| {}),
        }
    }
}

/// Settings of the checkpointer and the background writer. They may change while the engine runs.
#[derive(Clone, Copy, Debug)]
pub struct BackgroundConfig {
    pub checkpoint_timeout: Duration,
    pub checkpoint_completion_target: f64,
    pub checkpoint_warning: Duration,
    /// Number of written pages after which the kernel is asked to start writeback; 0 for never.
    pub checkpoint_flush_after: u32,
    pub bgwriter_flush_after: u32,
    pub log_checkpoints: bool,
    pub bgwriter_delay: Duration,
    pub bgwriter_lru_maxpages: usize,
    pub bgwriter_lru_multiplier: f64,
}

impl Default for BackgroundConfig {
    /// PostgreSQL's defaults.
    fn default() -> BackgroundConfig {
        BackgroundConfig {
            checkpoint_timeout: Duration::from_secs(300),
            checkpoint_completion_target: 0.9,
            checkpoint_warning: Duration::from_secs(30),
            checkpoint_flush_after: 32,
            bgwriter_flush_after: 64,
            log_checkpoints: true,
            bgwriter_delay: Duration::from_millis(200),
            bgwriter_lru_maxpages: 100,
            bgwriter_lru_multiplier: 2.0,
        }
    }
}
