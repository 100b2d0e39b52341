//! The state of a session in the storage layer. Storage calls of a session take `&mut Backend`.
//!
//! Counterpart: the session part of xact.c (`CommitTransaction`, `AbortTransaction`), snapmgr.c,
//! and the pending deletes of storage.c.

mod prepared;

use crate::desc::TableDesc;
use crate::mapping::CatalogFiles;
use crate::shared::Storage;
use crate::storage::{PendingFiles, make_new_files_durable};
use crate::tempfile::TempSpace;
use crate::xlog::XLOG_RESTORE_POINT;

use bufmgr::{BufferPool, BufferUsage, PageReads, PoolConfig, PoolSettings, Strategy};
use heap::{HeapCx, SessionWaits};
use ids::{BackendNo, Lsn, Oid, Persistence, SubXactId, Xid};
use lmgr::{Acquired, LockMode, LockOwner, LockTag, LockTagKind, WaitPolicy};
use pgerror::{PgError, Result, pg_err};
use stats::{Change, DatabaseField, Kind, SessionStats};
use std::time::Duration;
use sync::Arc;
use sync::wait::Waiter;
use txn::{
    CommitDelay, DroppedStats, INVALIDATION_BYTES, Isolation, Snapshot, SnapshotKind, Transaction,
    XactExtras,
};
use wal::{RecordBuilder, RmgrId, WalLevel, WalUsage};

pub use prepared::{FinishPrepared, PrepareExtras};

/// Size of a restore point's name in the log in bytes, including the terminating zero.
const RESTORE_POINT_NAME: usize = 64;

/// Settings of the session that the storage layer uses.
#[derive(Clone, Debug)]
pub struct BackendSettings {
    /// True if `synchronous_commit` is not off.
    pub synchronous_commit: bool,
    pub lock_timeout: Duration,
    pub deadlock_timeout: Duration,
    /// `temp_buffers`, in pages.
    pub temp_buffers: usize,
    /// `default_toast_compression`.
    pub toast_compression: page::varlena::Compression,
    /// `temp_file_limit` in bytes.
    pub temp_file_limit: Option<u64>,
    /// `log_temp_files` in bytes.
    pub log_temp_files: Option<u64>,
    /// `maintenance_work_mem` in bytes.
    pub maintenance_work_mem: usize,
    /// `work_mem` in bytes, for index operations.
    pub work_mem: usize,
    /// `gin_pending_list_limit` in bytes.
    pub gin_pending_list_limit: usize,
    /// `wal_compression` of the session; `None` for the value of the server.
    pub wal_compression: Option<wal::Compression>,
    /// `wal_consistency_checking` of the session, as a mask; `None` for the value of the server.
    pub wal_consistency_checking: Option<u32>,
    /// `track_wal_io_timing`.
    pub track_wal_io_timing: bool,
    /// `commit_delay` and `commit_siblings`.
    pub commit_delay: CommitDelay,
    pub pool: PoolSettings,
    /// `wal_skip_threshold`, in kB.
    pub wal_skip_threshold: u64,
    /// `norsu.wal_update_delta`.
    pub wal_update_delta: bool,
    /// `norsu.bottom_up_deletion`.
    pub bottom_up_deletion: bool,
}

impl Default for BackendSettings {
    fn default() -> BackendSettings {
        BackendSettings {
            synchronous_commit: true,
            lock_timeout: Duration::ZERO,
            deadlock_timeout: Duration::from_secs(1),
            temp_buffers: 1024,
            toast_compression: page::varlena::Compression::Pglz,
            temp_file_limit: None,
            log_temp_files: None,
            maintenance_work_mem: 64 << 20,
            work_mem: 4 << 20,
            gin_pending_list_limit: 4 << 20,
            wal_compression: None,
            wal_consistency_checking: None,
            commit_delay: CommitDelay::default(),
            pool: PoolSettings::default(),
            wal_skip_threshold: 2048,
            track_wal_io_timing: false,
            wal_update_delta: true,
            bottom_up_deletion: true,
        }
    }
}

/// The error of a pending interrupt.
#[inline]
pub(crate) fn check_waiter(waiter: &Waiter) -> Result<()> {
    if waiter.pending()
        && let Some(error) = lmgr::interrupt_error(waiter)
    {
        return Err(error);
    }
    Ok(())
}

/// Parts of a commit record that the crates above supply, and actions at commit.
#[derive(Default)]
pub struct CommitExtras<'a> {
    /// Shared invalidation messages for standbys, in PostgreSQL's layout.
    pub invalidations: Vec<[u8; INVALIDATION_BYTES]>,
    pub relcache_init_file: bool,
    pub dropped_stats: Vec<DroppedStats>,
    /// The commit waits for the flush at any setting of `synchronous_commit`.
    pub force_sync: bool,
    /// Called to publish invalidations, after other sessions see the transaction as committed and
    /// before its locks are released.
    pub publish: Option<&'a mut dyn FnMut()>,
}

/// The parts of a session that index code borrows.
pub(crate) struct IndexParts<'a> {
    pub(crate) cx: access::Cx<'a>,
    pub(crate) txn: &'a Transaction,
}

/// A session of the storage layer.
pub struct Backend {
    storage: Arc<Storage>,
    /// The session's transaction; most code uses the methods below.
    pub txn: Transaction,
    /// What the session counts for the cumulative statistics.
    pub stats: SessionStats,
    waits: SessionWaits,
    pub(crate) scratch: RecordBuilder,
    pub(crate) strategy: Strategy,
    pub(crate) pending: PendingFiles,
    pub(crate) catalog_files: CatalogFiles,
    temp: Option<Arc<BufferPool>>,
    active: Vec<Arc<Snapshot>>,
    settings: BackendSettings,
    waiter: Arc<Waiter>,
    /// [`Backend::check_interrupts`] for the crates below.
    check: Box<dyn Fn() -> Result<()> + Send + Sync>,
    /// A placeholder where no snapshot is in use.
    no_snapshot: Arc<Snapshot>,
    wrote_exclusive_lock: bool,
    /// Memory in which tuples are formed.
    tuple: Vec<u8>,
    speculative_token: u32,
    temp_space: Arc<TempSpace>,
    /// The commit waits for the flush at any setting of `synchronous_commit`.
    force_sync: bool,
    /// The transaction uses the session's temporary objects.
    accessed_temp: bool,
    /// A failpoint, called once after the entries of a leaf are read and before their rows are
    /// visited.
    #[cfg(test)]
    pub(crate) entries_read: Option<Box<dyn FnMut() + Send>>,
}

impl Backend {
    /// Starts a session of `database`, which is invalid before the database is known. Error 53300
    /// if there are too many sessions.
    pub fn connect(
        storage: &Arc<Storage>,
        pid: i32,
        database: Oid,
        tablespace: Oid,
        waiter: Arc<Waiter>,
    ) -> Result<Backend> {
        let txn = storage.txns.connect(pid, database, tablespace, waiter.clone())?;
        Ok(Backend {
            waits: SessionWaits(txn.waits()),
            storage: storage.clone(),
            stats: SessionStats::new(storage.stats.clone(), database, pid),
            txn,
            scratch: RecordBuilder::new(RmgrId::Heap, 0),
            strategy: Strategy::for_session(Arc::default()),
            pending: PendingFiles::default(),
            catalog_files: CatalogFiles::default(),
            temp: None,
            active: Vec::new(),
            settings: BackendSettings::default(),
            check: {
                let waiter = waiter.clone();
                Box::new(move || check_waiter(&waiter))
            },
            no_snapshot: Arc::new(Snapshot::of_kind(SnapshotKind::SelfNow)),
            waiter,
            wrote_exclusive_lock: false,
            tuple: Vec::new(),
            speculative_token: 0,
            temp_space: Arc::new(TempSpace::new(
                storage.env.disk.clone(),
                pid,
                storage.log.clone(),
            )),
            force_sync: false,
            accessed_temp: false,
            #[cfg(test)]
            entries_read: None,
        })
    }

    pub fn storage(&self) -> &Arc<Storage> {
        &self.storage
    }

    /// Temporary files of the session's queries.
    pub fn temp_space(&self) -> &Arc<TempSpace> {
        &self.temp_space
    }

    pub fn waiter(&self) -> &Arc<Waiter> {
        &self.waiter
    }

    pub fn database(&self) -> Oid {
        self.txn.database()
    }

    /// The session works in this database from now on.
    pub fn set_database(&mut self, database: Oid, tablespace: Oid) {
        self.txn.set_database(database, tablespace);
        self.stats.set_database(database);
    }

    /// Counts a change of rows.
    #[inline]
    pub(crate) fn count_change(&mut self, table: &TableDesc, what: Change) {
        self.stats.change(table.oid, table.is_shared(), self.txn.nesting(), what);
    }

    /// The table is empty from now on, unless the (sub)transaction is rolled back.
    pub fn count_truncation(&mut self, table: &TableDesc) {
        self.stats.truncate(table.oid, table.is_shared(), self.txn.nesting());
    }

    /// The pages that the session has read since its counts were last reset.
    #[inline]
    pub(crate) fn reads(&self) -> PageReads {
        self.strategy.usage.reads()
    }

    /// Counts the pages that were read since the session's reads were `before` for this relation.
    #[inline]
    pub(crate) fn count_blocks(&mut self, relation: Oid, is_shared: bool, before: PageReads) {
        let PageReads { hit, read } = self.reads() - before;
        if hit + read != 0 {
            let counts = self.stats.relation(relation, is_shared);
            counts.blocks_fetched += (hit + read) as i64;
            counts.blocks_hit += hit as i64;
        }
    }

    /// The object was created by the running transaction.
    pub fn count_created(&mut self, kind: Kind, object: Oid, is_shared: bool) {
        self.stats.created(kind, object, is_shared, self.txn.nesting());
    }

    /// The object is dropped by the running transaction.
    pub fn count_dropped(&mut self, kind: Kind, object: Oid, is_shared: bool) {
        self.stats.dropped(kind, object, is_shared, self.txn.nesting());
    }

    /// Adds the session's counts to the shared statistics if that is due; see
    /// [`SessionStats::report`].
    pub fn report_stats(&mut self, now: i64, force: bool) -> Option<Duration> {
        let deadlocks = self.txn.locks().take_deadlocks();
        let (files, bytes) = self.temp_space.take_totals();
        if deadlocks != 0 || files != 0 || bytes != 0 {
            self.stats.count(DatabaseField::Deadlocks, deadlocks.into());
            self.stats.count(DatabaseField::TempFiles, files as i64);
            self.stats.count(DatabaseField::TempBytes, bytes as i64);
        }
        let BufferUsage { read_time_us, write_time_us, .. } = self.strategy.usage;
        self.stats.count_io_times(read_time_us, write_time_us);
        self.stats.report(now, force)
    }

    /// The objects whose statistics the end of the transaction removes, for its log record.
    fn dropped_stats(&self, is_commit: bool) -> Vec<DroppedStats> {
        let drops = self.stats.drops(is_commit);
        let record = drops.map(|(kind, key)| DroppedStats {
            kind: kind as i32,
            database: key.database,
            object: key.object,
        });
        record.collect()
    }

    /// The session's number in names of temporary files and schemas.
    pub fn backend_no(&self) -> BackendNo {
        BackendNo(self.txn.proc())
    }

    pub fn settings(&self) -> &BackendSettings {
        &self.settings
    }

    pub fn configure(&mut self, settings: BackendSettings) {
        self.txn.locks().set_lock_timeout(settings.lock_timeout);
        self.txn.locks().set_deadlock_timeout(settings.deadlock_timeout);
        self.scratch.set_compression(settings.wal_compression);
        self.scratch.set_checked(settings.wal_consistency_checking);
        self.txn.set_commit_delay(settings.commit_delay);
        if let Some(pool) = self.strategy.session() {
            pool.configure(settings.pool);
        }
        if settings.track_wal_io_timing != self.settings.track_wal_io_timing {
            self.storage.wal.track_io_timing(settings.track_wal_io_timing);
        }
        self.temp_space.configure(settings.temp_file_limit, settings.log_temp_files);
        self.settings = settings;
    }

    /// An error if an interrupt is pending or the session has exceeded its memory limit. This is
    /// cheap enough to be called for each row.
    #[inline]
    pub fn check_interrupts(&self) -> Result<()> {
        types::memory::check()?;
        check_waiter(&self.waiter)
    }

    /// The buffer pool for relations of that persistence.
    pub fn pool(&self, persistence: Persistence) -> &BufferPool {
        match (&self.temp, persistence) {
            (Some(temp), Persistence::Temporary) => temp,
            _ => &self.storage.pool,
        }
    }

    /// As [`Backend::pool`], without borrowing the backend.
    pub(crate) fn pool_arc(&self, persistence: Persistence) -> Arc<BufferPool> {
        match (&self.temp, persistence) {
            (Some(temp), Persistence::Temporary) => temp.clone(),
            _ => self.storage.pool.clone(),
        }
    }

    /// Creates the session's buffer pool for temporary relations, before the first is opened.
    pub fn ensure_temp_pool(&mut self) -> Result<()> {
        if self.temp.is_none() {
            let config = PoolConfig {
                frames: self.settings.temp_buffers.max(100),
                backend: Some(self.backend_no()),
                ..self.storage.temp_pool.clone()
            };
            let pool = BufferPool::new(config, self.storage.smgr.clone(), None)?;
            self.temp = Some(Arc::new(pool));
        }
        Ok(())
    }

    /// The context of heap operations on relations of that persistence.
    pub(crate) fn heap_cx(&mut self, persistence: Persistence) -> HeapCx<'_> {
        self.waits.0.owner = self.txn.lock_owner();
        let pool = match (&self.temp, persistence) {
            (Some(temp), Persistence::Temporary) => temp,
            _ => &self.storage.pool,
        };
        HeapCx {
            pool,
            wal: &self.storage.wal,
            txn: &mut self.txn,
            wait: &mut self.waits,
            scratch: &mut self.scratch,
            strategy: &mut self.strategy,
            update_delta: self.settings.wal_update_delta,
            current_offset: 0,
        }
    }

    /// The context of operations on indexes of that persistence.
    #[inline]
    pub(crate) fn index_cx(&mut self, persistence: Persistence) -> access::Cx<'_> {
        self.index_parts(persistence).cx
    }

    /// As [`Backend::index_cx`], with the transaction, for visibility checks in the table.
    #[inline]
    pub(crate) fn index_parts(&mut self, persistence: Persistence) -> IndexParts<'_> {
        let pool = match (&self.temp, persistence) {
            (Some(temp), Persistence::Temporary) => temp,
            _ => &self.storage.pool,
        };
        let cx = access::Cx {
            pool,
            wal: &self.storage.wal,
            xids: &*self.storage.txns,
            scratch: &mut self.scratch,
            strategy: &mut self.strategy,
            xid: self.txn.current_xid_if_any(),
            bottom_up_deletion: self.settings.bottom_up_deletion,
            limits: access::Limits {
                work_mem: self.settings.work_mem,
                maintenance_work_mem: self.settings.maintenance_work_mem,
                gin_pending_list: self.settings.gin_pending_list_limit,
            },
            check_interrupts: &*self.check,
            delay: None,
        };
        IndexParts { cx, txn: &self.txn }
    }

    /// As [`Backend::heap_cx`], with the caller's buffer ring.
    pub(crate) fn heap_cx_with<'a>(
        &'a mut self,
        persistence: Persistence,
        strategy: &'a mut Strategy,
    ) -> HeapCx<'a> {
        strategy.adopt_session(&self.strategy);
        HeapCx { strategy, ..self.heap_cx(persistence) }
    }

    /// Adds the buffer usage of `strategy` to the session's, and resets it.
    pub(crate) fn add_usage(&mut self, strategy: &mut Strategy) {
        self.strategy.usage += std::mem::take(&mut strategy.usage);
    }

    pub(crate) fn take_tuple(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.tuple)
    }

    pub(crate) fn put_tuple(&mut self, tuple: Vec<u8>) {
        if tuple.capacity() <= 1 << 16 {
            self.tuple = tuple;
        }
    }

    pub(crate) fn next_speculative_token(&mut self) -> u32 {
        self.speculative_token = self.speculative_token.wrapping_add(1).max(1);
        self.speculative_token
    }

    /// Removes and returns pending warnings: of wraparound, and of damaged pages that were ignored.
    pub fn take_warnings(&mut self) -> Vec<PgError> {
        let mut warnings = self.txn.take_warnings();
        if let Some(pool) = self.strategy.session() {
            warnings.extend(pool.take_warnings());
        }
        warnings
    }

    /// Buffer usage of the session since it started.
    pub fn buffer_usage(&self) -> BufferUsage {
        BufferUsage { dirtied: self.scratch.dirtied, ..self.strategy.usage }
    }

    /// Creates a restore point with a name of at most 63 bytes; returns the end of its record.
    /// WAL: `XLOG_RESTORE_POINT`. Counterpart: `XLogRestorePoint`.
    pub fn create_restore_point(&mut self, name: &str) -> Result<Lsn> {
        let storage = self.storage.clone();
        if storage.wal.level() == WalLevel::Minimal {
            let message = "WAL level not sufficient for creating a restore point";
            return Err(pg_err!(OBJECT_NOT_IN_PREREQUISITE_STATE, "{message}")
                .hint("wal_level must be set to \"replica\" or \"logical\" at server start."));
        }
        let mut text = [0; RESTORE_POINT_NAME];
        let Some(room) = text.get_mut(..name.len()).filter(|room| room.len() < RESTORE_POINT_NAME)
        else {
            let most = RESTORE_POINT_NAME - 1;
            return Err(pg_err!(
                INVALID_PARAMETER_VALUE,
                "value too long for restore point (maximum {most} characters)"
            ));
        };
        room.copy_from_slice(name.as_bytes());
        self.scratch.reset(RmgrId::Xlog, XLOG_RESTORE_POINT);
        self.scratch.main(&storage.env.clock.pg_micros().to_le_bytes()).main(&text);
        let xid = self.txn.current_xid_if_any();
        storage.wal.insert(&mut self.scratch, &[], xid).map(|at| at.end)
    }

    /// WAL usage of the session since it started.
    pub fn wal_usage(&self) -> WalUsage {
        self.scratch.usage
    }
}

/// Transactions.
impl Backend {
    pub fn begin(&mut self, isolation: Isolation) {
        self.begin_at(isolation, self.storage.env.clock.pg_micros());
    }

    /// As [`Backend::begin`], with a time that the caller has read from the clock.
    pub fn begin_at(&mut self, isolation: Isolation, now: i64) {
        self.txn.begin(isolation, now);
    }

    pub fn in_transaction(&self) -> bool {
        self.txn.is_active()
    }

    /// Commits the transaction and releases its resources. After an error of severity ERROR the
    /// caller must abort the transaction.
    pub fn commit(&mut self, extras: CommitExtras<'_>) -> Result<Lsn> {
        self.active.clear();
        make_new_files_durable(self)?;
        let is_mapped = self.write_relation_maps()?;
        self.note_records();
        let CommitExtras { publish, mut dropped_stats, .. } = extras;
        dropped_stats.extend(self.dropped_stats(true));
        let record = XactExtras {
            dropped_files: self.pending.at_commit(),
            dropped_stats,
            invalidations: extras.invalidations,
            relcache_init_file: extras.relcache_init_file,
            force_sync: extras.force_sync || self.force_sync || self.pending.has_new_permanent(),
            access_exclusive_locks: self.wrote_exclusive_lock,
        };
        let writes = self.txn.top_xid_if_any().is_valid();
        let now = if writes { self.storage.env.clock.pg_micros() } else { 0 };
        let committed = self.txn.commit(&record, self.settings.synchronous_commit, now);
        let end = match committed {
            Err(e) if is_mapped => return Err(self.fail_after_mapping(e)),
            committed => committed?,
        };
        self.finish(true, publish);
        Ok(end)
    }

    /// Notes the records that the transaction has logged through the session's record builder.
    fn note_records(&mut self) {
        let end = self.scratch.take_last_end();
        self.txn.note_record(end);
    }

    /// Aborts the transaction, which has ended even if an error is returned.
    pub fn abort(&mut self) -> Result<()> {
        self.active.clear();
        self.note_records();
        let record = XactExtras {
            dropped_files: self.pending.at_abort(),
            dropped_stats: self.dropped_stats(false),
            access_exclusive_locks: self.wrote_exclusive_lock,
            ..XactExtras::default()
        };
        let result = self.txn.abort(&record).and_then(|_| self.flush_drops(&record));
        self.finish(false, None);
        result
    }

    /// WAL: the record that lists the files must be flushed before they are removed, also for an
    /// abort. Otherwise replay could recreate the init fork of an unlogged table beside its empty
    /// main fork, which PostgreSQL's recovery does not overwrite.
    fn flush_drops(&mut self, record: &XactExtras) -> Result<()> {
        if record.dropped_files.is_empty() {
            return Ok(());
        }
        let wal = &self.storage.wal;
        wal.flush(wal.inserted())
    }

    /// Removes files, publishes invalidations, releases the locks. Files are removed before the
    /// locks are released; otherwise another session could create a relation of the same name while
    /// the files exist. Returns no error, since the transaction's outcome is decided.
    fn finish(&mut self, commit: bool, publish: Option<&mut dyn FnMut()>) {
        self.stats.end_transaction(commit);
        let files = self.pending.finish(commit);
        self.drop_all(&files);
        if let Some(publish) = publish {
            publish();
        }
        self.txn.release_locks();
        self.forget_transaction();
    }

    fn forget_transaction(&mut self) {
        self.catalog_files.clear();
        self.wrote_exclusive_lock = false;
        self.force_sync = false;
        self.accessed_temp = false;
    }

    /// Removes files. A file that cannot be removed causes only a warning, because nothing refers
    /// to it any more.
    fn drop_all(&mut self, files: &[crate::storage::DropFile]) {
        for file in files {
            let warnings = match (&self.temp, file.backend) {
                (Some(temp), Some(backend)) => {
                    temp.drop_relation(file.file);
                    self.storage.smgr.unlink(file.file, Some(backend), false)
                }
                _ => self.storage.drop_files(file.file, false),
            };
            self.txn.add_warnings(warnings);
        }
    }

    /// Starts a subtransaction: SAVEPOINT, or a block with exception handlers.
    pub fn begin_subxact(&mut self) -> Result<SubXactId> {
        self.txn.begin_subxact()
    }

    /// RELEASE SAVEPOINT; returns the numbers of the subtransaction and of its parent.
    pub fn commit_subxact(&mut self) -> Result<(SubXactId, SubXactId)> {
        let nesting = self.txn.nesting();
        let ids = self.txn.commit_subxact()?;
        self.stats.end_subtransaction(nesting, true);
        self.pending.commit_level(self.txn.nesting());
        Ok(ids)
    }

    /// Aborts the innermost subtransaction. For ROLLBACK TO SAVEPOINT the caller then starts a new
    /// one.
    pub fn abort_subxact(&mut self) -> Result<SubXactId> {
        let record = XactExtras {
            dropped_files: self.pending.at_abort_of(self.txn.nesting()),
            ..XactExtras::default()
        };
        let nesting = self.txn.nesting();
        let id = self.txn.abort_subxact(&record)?;
        self.stats.end_subtransaction(nesting, false);
        self.flush_drops(&record)?;
        let files = self.pending.abort_level(self.txn.nesting());
        self.drop_all(&files);
        Ok(id)
    }

    /// Makes the command's changes visible to the next one; true if there were any.
    /// Counterpart: `CommandCounterIncrement`.
    pub fn command_counter_increment(&mut self) -> Result<bool> {
        self.txn.command_counter_increment()
    }

    /// Makes the commit of this transaction wait for its flush at any setting of
    /// `synchronous_commit`. Used if files of databases depend on the commit. Counterpart:
    /// `ForceSyncCommit`.
    pub fn force_sync_commit(&mut self) {
        self.force_sync = true;
    }

    pub fn current_xid(&mut self) -> Result<Xid> {
        self.txn.current_xid()
    }
}

/// Snapshots.
impl Backend {
    /// The snapshot for a statement, which depends on the isolation level.
    pub fn snapshot(&mut self) -> Arc<Snapshot> {
        self.txn.snapshot()
    }

    /// A new snapshot for reading catalogs, in which changes of earlier commands of the transaction
    /// are visible.
    pub fn catalog_snapshot(&mut self) -> Arc<Snapshot> {
        self.txn.latest_snapshot()
    }

    /// Makes the snapshot the active one, which functions called by the statement use.
    pub fn push_snapshot(&mut self, snapshot: Arc<Snapshot>) {
        self.active.push(snapshot);
    }

    pub fn pop_snapshot(&mut self) {
        self.active.pop();
        self.txn.reset_xmin();
    }

    /// A placeholder snapshot that holds back no horizon.
    pub fn no_snapshot(&self) -> Arc<Snapshot> {
        self.no_snapshot.clone()
    }

    pub fn active_snapshot(&self) -> Option<&Arc<Snapshot>> {
        self.active.last()
    }

    /// Number of active snapshots, for [`Backend::truncate_snapshots`] after an error.
    pub fn snapshot_depth(&self) -> usize {
        self.active.len()
    }

    pub fn truncate_snapshots(&mut self, depth: usize) {
        self.active.truncate(depth);
        self.txn.reset_xmin();
    }
}

/// Locks.
impl Backend {
    /// Acquires a lock until the end of the (sub)transaction. A new AccessExclusive lock on a
    /// relation is logged for standbys. Counterpart: `LockAcquire`.
    pub fn lock(&mut self, tag: LockTag, mode: LockMode) -> Result<Acquired> {
        self.lock_with(tag, mode, WaitPolicy::Wait)
    }

    /// As [`Backend::lock`], but returns [`Acquired::NotAvailable`] instead of waiting.
    pub fn try_lock(&mut self, tag: LockTag, mode: LockMode) -> Result<Acquired> {
        self.lock_with(tag, mode, WaitPolicy::Try)
    }

    fn lock_with(&mut self, tag: LockTag, mode: LockMode, policy: WaitPolicy) -> Result<Acquired> {
        let logged = mode == LockMode::AccessExclusive
            && tag.kind == LockTagKind::Relation
            && self.storage.txns.standby_info();
        if logged && !self.txn.locks().holds(tag, mode) {
            // The record that is logged after the acquisition contains a transaction id. The id is
            // assigned before, so that an error cannot leave a lock that is acquired but not
            // logged.
            self.txn.top_xid()?;
        }
        let owner = self.txn.lock_owner();
        let acquired = self.txn.locks().acquire(tag, mode, owner, policy)?;
        if logged && acquired == Acquired::New {
            let xid = self.txn.top_xid()?;
            self.storage.txns.log_access_exclusive_lock(
                &mut self.scratch,
                xid,
                Oid(tag.field1),
                Oid(tag.field2),
            )?;
            self.wrote_exclusive_lock = true;
        }
        Ok(acquired)
    }

    /// Waits for the ends of the transactions that hold locks on `tag` in modes that conflict with
    /// `mode`, without acquiring the lock: later requests are not held up. Counterpart:
    /// `WaitForLockers`.
    pub fn wait_for_lockers(&mut self, tag: LockTag, mode: LockMode) -> Result<()> {
        let me = self.txn.proc();
        let holders = self.txn.manager().locks().conflicting_vxids(tag, mode, me);
        self.wait_for_transactions(&holders)
    }

    /// Waits until all other transactions of the database have ended that have an older snapshot
    /// than the active one. Counterpart: `WaitForOlderSnapshots`.
    pub fn wait_for_older_snapshots(&mut self) -> Result<()> {
        let Some(limit) = self.active_snapshot().map(|s| s.xmin) else { return Ok(()) };
        let (database, me) = (self.txn.database(), self.txn.proc());
        let older = self.txn.manager().with_older_snapshots(limit, database, me);
        self.wait_for_transactions(&older)
    }

    fn wait_for_transactions(&mut self, list: &[lmgr::VirtualXid]) -> Result<()> {
        for vxid in list {
            self.txn.locks().wait_for_vxid(*vxid, true)?;
        }
        Ok(())
    }

    /// True if the session holds the lock in exactly this mode.
    pub fn holds_lock(&mut self, tag: LockTag, mode: LockMode) -> bool {
        self.txn.locks().holds(tag, mode)
    }

    /// True if the session holds the lock in this mode or a stronger one.
    pub fn holds_lock_at_least(&mut self, tag: LockTag, mode: LockMode) -> bool {
        self.txn.locks().holds_at_least(tag, mode)
    }

    /// Releases one acquisition made in this (sub)transaction.
    pub fn unlock(&mut self, tag: LockTag, mode: LockMode) -> bool {
        let owner = self.txn.lock_owner();
        self.txn.locks().release(tag, mode, owner)
    }

    /// Acquires a session-level lock (`pg_advisory_lock`).
    pub fn session_lock(
        &mut self,
        tag: LockTag,
        mode: LockMode,
        policy: WaitPolicy,
    ) -> Result<Acquired> {
        self.txn.locks().acquire(tag, mode, LockOwner::Session, policy)
    }

    pub fn session_unlock(&mut self, tag: LockTag, mode: LockMode) -> bool {
        self.txn.locks().release(tag, mode, LockOwner::Session)
    }

    /// Acquires a lock on a relation with NOWAIT. Error 55P03 if it is not available.
    pub fn lock_nowait(&mut self, tag: LockTag, mode: LockMode, name: &str) -> Result<Acquired> {
        match self.try_lock(tag, mode)? {
            Acquired::NotAvailable => {
                Err(pg_err!(LOCK_NOT_AVAILABLE, "could not obtain lock on relation \"{name}\""))
            }
            acquired => Ok(acquired),
        }
    }
}

impl Drop for Backend {
    fn drop(&mut self) {
        if self.in_transaction() {
            // The error that ended the session within a transaction has been reported already.
            let _ = self.abort();
        }
        if self.settings.track_wal_io_timing {
            self.storage.wal.track_io_timing(false);
        }
    }
}
