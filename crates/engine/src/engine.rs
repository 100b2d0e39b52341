//! The engine: all storage components of an instance in one handle. Opening it runs recovery.

use crate::am::AmStates;
use crate::checkpoint::CheckpointFlags;
use crate::checkpoint::Checkpointer;
use crate::config::{BackgroundConfig, EngineConfig};
use crate::control::Control;
use crate::recovery;
use crate::relmap::RelMaps;
use crate::shared::Storage;
use crate::shared::{BackgroundCounters, DamageCounters};
use bufmgr::{BackgroundWriter, BufferPool, PoolConfig};
use lmgr::LockManager;
use pgerror::{PgError, Result, Severity, SqlState};
use smgr::{Smgr, SmgrConfig};
use sync::atomic::AtomicBool;
use sync::atomic::Ordering::AcqRel;
use sync::{Arc, Mutex, RwLock};
use twophase::TwoPhase;
use txn::{TxnConfig, TxnManager};
use vfs::Env;
use wal::Wal;

/// The storage components of an instance.
pub struct Engine {
    pub(crate) env: Env,
    pub(crate) config: EngineConfig,
    pub(crate) control: Control,
    pub(crate) wal: Arc<Wal>,
    pub(crate) smgr: Arc<Smgr>,
    pub(crate) pool: Arc<BufferPool>,
    pub(crate) locks: Arc<LockManager>,
    pub(crate) txn: Arc<TxnManager>,
    pub(crate) relmaps: Arc<RelMaps>,
    pub(crate) storage: Arc<Storage>,
    pub(crate) checkpointer: Checkpointer,
    pub(crate) background_writer: Mutex<BackgroundWriter>,
    live: RwLock<BackgroundConfig>,
    stopped: AtomicBool,
}

impl Engine {
    /// Opens the data directory; runs recovery if it was not shut down cleanly.
    pub fn open(config: EngineConfig) -> Result<Arc<Engine>> {
        let engine = Engine::assemble(config)?;
        let log = |e: PgError| engine.log_error(&e);
        crate::tempfile::remove_leftovers(&*engine.env.disk, &log);
        recovery::startup(&engine)?;
        Ok(engine)
    }

    /// Builds all components, before recovery.
    fn assemble(config: EngineConfig) -> Result<Arc<Engine>> {
        let env = config.env.clone();
        let control = Control::open(env.disk.clone(), env.clock.clone())?;
        let file = control.get();
        let timestamps = file.track_commit_timestamp || config.track_commit_timestamp;
        recovery::refuse_unsupported(&*config.env.disk, timestamps, config.archiving)?;
        let mut wal_config = config.wal.clone();
        wal_config.segment_size = file.wal_segment_size;
        wal_config.system_id = file.system_id;
        let checksums = file.data_checksum_version != 0;
        wal_config.log_hints = checksums || config.wal_log_hints;
        wal_config.on_panic = config.on_panic.clone();
        env.disk.set_syncs(wal_config.fsync);
        let wal = Wal::new(env.clone(), wal_config);
        let smgr_config =
            SmgrConfig { open_files_max: config.open_files_max, ..SmgrConfig::default() };
        let smgr = Arc::new(Smgr::new(env.disk.clone(), smgr_config));
        let damage = Arc::new(DamageCounters::default());
        let (seen, clock) = (damage.clone(), env.clock.clone());
        let pool_config = PoolConfig {
            frames: config.shared_buffers,
            checksums,
            zero_damaged_pages: config.zero_damaged_pages,
            ignore_checksum_failure: config.ignore_checksum_failure,
            scan_rings: config.scan_rings,
            backend: None,
            on_critical: config.on_panic.clone(),
            on_warning: config.log.clone(),
            on_damage: Arc::new(move |name| seen.add(name.rel.database, clock.pg_micros())),
        };
        let pool = Arc::new(BufferPool::new(pool_config.clone(), smgr.clone(), Some(wal.clone()))?);
        let prepared = config.max_prepared_xacts as usize;
        let txn_config = TxnConfig { prepared_slots: prepared, ..config.txn.clone() };
        let locks = LockManager::new(txn_config.slots + prepared);
        let txn = TxnManager::new(env.clone(), wal.clone(), locks.clone(), txn_config);
        let relmaps = Arc::new(RelMaps::new(env.disk.clone()));
        let storage = Arc::new(Storage {
            env: env.clone(),
            wal: wal.clone(),
            smgr: smgr.clone(),
            pool: pool.clone(),
            locks: locks.clone(),
            txns: txn.clone(),
            two_phase: TwoPhase::new(env.disk.clone(), txn.clone(), prepared),
            relmaps: relmaps.clone(),
            ams: AmStates::new(&*env.random),
            scans: heap::scan::SyncScans::default(),
            background: BackgroundCounters::default(),
            damage,
            stats: Arc::default(),
            temp_pool: pool_config,
            log: config.log.clone(),
        });
        let live = RwLock::new(config.background);
        Ok(Arc::new(Engine {
            storage,
            relmaps,
            checkpointer: Checkpointer::new(&config),
            env,
            config,
            control,
            wal,
            smgr,
            pool,
            locks,
            txn,
            background_writer: Mutex::new(BackgroundWriter::new()),
            live,
            stopped: AtomicBool::new(false),
        }))
    }

    /// Makes the shutdown checkpoint. All other use of the engine must have ended.
    pub fn shutdown(&self) -> Result<()> {
        if self.stopped.swap(true, AcqRel) {
            return Ok(());
        }
        self.log("shutting down");
        self.checkpoint(CheckpointFlags::SHUTDOWN | CheckpointFlags::IMMEDIATE)?;
        self.save_statistics();
        self.log("database system is shut down");
        Ok(())
    }

    /// Writes a message to the server's log.
    pub(crate) fn log(&self, message: &str) {
        self.log_error(
            &PgError::new(SqlState::SUCCESSFUL_COMPLETION, message).severity(Severity::Log),
        );
    }

    pub(crate) fn log_error(&self, report: &PgError) {
        (self.config.log)(report);
    }

    /// The components that sessions use.
    pub fn storage(&self) -> &Arc<Storage> {
        &self.storage
    }

    /// Whether the cluster has data checksums, and the size of its WAL segments in bytes.
    pub fn creation_options(&self) -> (bool, u32) {
        let file = self.control.get();
        (file.data_checksum_version != 0, file.wal_segment_size)
    }

    pub fn wal(&self) -> &Arc<Wal> {
        &self.wal
    }

    pub fn pool(&self) -> &Arc<BufferPool> {
        &self.pool
    }

    pub fn smgr(&self) -> &Arc<Smgr> {
        &self.smgr
    }

    pub fn txn(&self) -> &Arc<TxnManager> {
        &self.txn
    }

    pub fn locks(&self) -> &Arc<LockManager> {
        &self.locks
    }

    pub fn relmaps(&self) -> &RelMaps {
        &self.relmaps
    }

    pub fn control(&self) -> &Control {
        &self.control
    }

    pub fn env(&self) -> &Env {
        &self.env
    }

    pub(crate) fn live(&self) -> BackgroundConfig {
        *self.live.read()
    }

    /// Applies the settings that may change while the engine runs.
    pub fn reconfigure(&self, new: &EngineConfig) -> Result<()> {
        *self.live.write() = new.background;
        let wanted = &new.wal;
        self.env().disk.set_syncs(wanted.fsync);
        self.wal.configure(|wal| {
            wal.sync_method = wanted.sync_method;
            wal.fsync = wanted.fsync;
            wal.track_io_timing = wanted.track_io_timing;
            wal.compression = wanted.compression;
            wal.min_wal_size = wanted.min_wal_size;
            wal.max_wal_size = wanted.max_wal_size;
            wal.wal_keep_size = wanted.wal_keep_size;
            wal.init_zero = wanted.init_zero;
            wal.recycle = wanted.recycle;
            wal.writer_delay = wanted.writer_delay;
            wal.writer_flush_after = wanted.writer_flush_after;
        });
        self.wal.set_compression(wanted.compression);
        self.wal.set_consistency_checking(wanted.consistency_checking);
        self.pool.set_zero_damaged_pages(new.zero_damaged_pages);
        self.pool.set_ignore_checksum_failure(new.ignore_checksum_failure);
        if self.wal.config().full_page_writes != wanted.full_page_writes {
            self.set_full_page_writes(wanted.full_page_writes)?;
        }
        Ok(())
    }

    /// The configuration with which the engine was opened.
    pub fn config(&self) -> &EngineConfig {
        &self.config
    }
}
