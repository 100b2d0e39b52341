//! Relation files and transactions: files of a new relation are removed if the transaction aborts,
//! those of a dropped relation after it has committed.
//!
//! Counterpart: storage.c.

use crate::backend::Backend;
use crate::shared::fork_name;
use crate::xlog::XLOG_FPI;
use bufmgr::{ExclusiveGuard, ForkBuffers, LOAD_PAGES_MAX, PageEdit};
use ids::{BackendNo, BlockNo, Fork, Lsn, Persistence, RelFile};
use page::PAGE_SIZE;
use pgerror::Result;
use smallvec::SmallVec;
use sync::Arc;
use wal::{RegFlags, RmgrId, WalLevel};

/// Forks of a permanent relation.
const FORKS: [Fork; 3] = [Fork::Main, Fork::Fsm, Fork::Vm];

/// Files to be removed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct DropFile {
    pub(crate) file: RelFile,
    /// The backend number of the session that owns a temporary relation.
    pub(crate) backend: Option<BackendNo>,
}

#[derive(Clone, Copy, Debug)]
struct Pending {
    drop: DropFile,
    permanent: bool,
    /// True if the file is removed at commit, false at abort.
    at_commit: bool,
    /// Nesting level of the subtransaction.
    nesting: usize,
    /// A new relation whose changes are not logged before the commit (`wal_level = minimal`).
    skips_wal: bool,
}

/// Files to remove at the transaction's end. Counterpart: `PendingRelDelete`.
#[derive(Default)]
pub(crate) struct PendingFiles {
    list: Vec<Pending>,
}

impl PendingFiles {
    fn logged(&self, wanted: impl Fn(&Pending) -> bool) -> Vec<RelFile> {
        let chosen = self.list.iter().filter(|p| p.drop.backend.is_none() && wanted(p));
        chosen.map(|p| p.drop.file).collect()
    }

    pub(crate) fn at_commit(&self) -> Vec<RelFile> {
        self.logged(|p| p.at_commit)
    }

    pub(crate) fn at_abort(&self) -> Vec<RelFile> {
        self.logged(|p| !p.at_commit)
    }

    pub(crate) fn at_abort_of(&self, nesting: usize) -> Vec<RelFile> {
        self.logged(|p| !p.at_commit && p.nesting >= nesting)
    }

    /// True if the transaction has created permanent files. Its commit must then be durable at
    /// once: after a crash without the commit, the files would remain without an owner.
    pub(crate) fn has_new_permanent(&self) -> bool {
        self.list.iter().any(|p| !p.at_commit && p.permanent)
    }

    /// New relations whose changes have not been logged, except those that are dropped at commit.
    fn unlogged(&self) -> Vec<RelFile> {
        let dropped = |file| self.list.iter().any(|p| p.at_commit && p.drop.file == file);
        let skipping = self.list.iter().filter(|p| p.skips_wal);
        skipping.map(|p| p.drop.file).filter(|file| !dropped(*file)).collect()
    }

    /// Commits the subtransaction at nesting level `parent + 1`.
    pub(crate) fn commit_level(&mut self, parent: usize) {
        for pending in &mut self.list {
            pending.nesting = pending.nesting.min(parent);
        }
    }

    /// Aborts the subtransaction at nesting level `parent + 1`. Returns the files that it created,
    /// which must be removed now; files that it dropped are kept.
    pub(crate) fn abort_level(&mut self, parent: usize) -> Vec<DropFile> {
        let mut gone = Vec::new();
        self.list.retain(|p| {
            if p.nesting <= parent {
                return true;
            }
            if !p.at_commit {
                gone.push(p.drop);
            }
            false
        });
        gone
    }

    /// The transaction was prepared: its end will remove the files.
    pub(crate) fn forget(&mut self) {
        self.list.clear();
    }

    pub(crate) fn finish(&mut self, commit: bool) -> Vec<DropFile> {
        if self.list.is_empty() {
            return Vec::new();
        }
        let list = std::mem::take(&mut self.list);
        list.into_iter().filter(|p| p.at_commit == commit).map(|p| p.drop).collect()
    }
}

/// Creates the empty main fork of a new relation, and for an unlogged relation also the init fork.
/// They are removed if the transaction aborts. WAL: `SMGR_CREATE` for forks that survive a crash.
/// Counterpart: `RelationCreateStorage`.
pub fn create_relation_files(
    be: &mut Backend,
    file: RelFile,
    persistence: Persistence,
) -> Result<()> {
    let temporary = persistence == Persistence::Temporary;
    if temporary {
        be.note_temp_access();
    }
    let backend = temporary.then(|| be.backend_no());
    let storage = be.storage().clone();
    storage.smgr.create(fork_name(file, Fork::Main, backend), false)?;
    let permanent = persistence == Persistence::Permanent;
    let skips_wal = permanent && storage.wal.level() == WalLevel::Minimal;
    if permanent {
        log_create(be, file, Fork::Main)?;
        for fork in FORKS {
            storage.pool.open(file, fork, persistence).set_skip_wal(skips_wal);
        }
    }
    be.pending.list.push(Pending {
        drop: DropFile { file, backend },
        permanent,
        at_commit: false,
        nesting: be.txn.nesting(),
        skips_wal,
    });
    if persistence == Persistence::Unlogged {
        storage.smgr.create(fork_name(file, Fork::Init, None), false)?;
        log_create(be, file, Fork::Init)?;
        storage.smgr.immediate_sync(fork_name(file, Fork::Init, None))?;
    }
    Ok(())
}

/// True if there are files with this number, for example of a transaction before a crash.
/// Counterpart: the check in `GetNewRelFileNode`.
pub fn relation_files_exist(
    be: &mut Backend,
    file: RelFile,
    persistence: Persistence,
) -> Result<bool> {
    let backend = (persistence == Persistence::Temporary).then(|| be.backend_no());
    be.storage().smgr.exists(fork_name(file, Fork::Main, backend))
}

/// WAL: `SMGR_CREATE`. Counterpart: `log_smgrcreate`.
pub fn log_create(be: &mut Backend, file: RelFile, fork: Fork) -> Result<Lsn> {
    let xid = be.txn.current_xid_if_any();
    let wal = be.storage().wal.clone();
    let end = crate::truncate::log_create(&wal, &mut be.scratch, file, fork, xid)?.end;
    be.txn.note_record(end);
    Ok(end)
}

/// Removes the relation's files when the transaction commits. Counterpart: `RelationDropStorage`.
pub fn drop_relation_files(be: &mut Backend, file: RelFile, persistence: Persistence) {
    let temporary = persistence == Persistence::Temporary;
    if temporary {
        be.note_temp_access();
    }
    be.pending.list.push(Pending {
        drop: DropFile { file, backend: temporary.then(|| be.backend_no()) },
        permanent: persistence == Persistence::Permanent,
        at_commit: true,
        nesting: be.txn.nesting(),
        skips_wal: false,
    });
}

/// Called before a commit under `wal_level = minimal`: new relations whose changes were not logged
/// are synced to disk, or logged if they are small (`wal_skip_threshold`). Later changes are logged
/// as usual. WAL: `XLOG_FPI` for the small relations. Counterpart: `smgrDoPendingSyncs`.
pub(crate) fn make_new_files_durable(be: &mut Backend) -> Result<()> {
    for file in be.pending.unlogged() {
        let storage = be.storage().clone();
        let pool = &storage.pool;
        let mut forks = SmallVec::<[_; FORKS.len()]>::new();
        let mut blocks = 0;
        for fork in FORKS {
            let handle = pool.open(file, fork, Persistence::Permanent);
            handle.set_skip_wal(false);
            if let Some(count) = pool.nblocks_or_none(&handle)? {
                blocks += u64::from(count);
                forks.push((handle, count));
            }
        }
        if blocks * PAGE_SIZE as u64 / 1024 >= be.settings().wal_skip_threshold {
            for (fork, _) in &forks {
                pool.flush_fork(fork)?;
                storage.smgr.immediate_sync(fork.name())?;
            }
            continue;
        }
        for (fork, count) in &forks {
            log_pages(be, fork, *count)?;
        }
    }
    Ok(())
}

/// Logs the pages of a fork. WAL: `XLOG_FPI`, with as many pages per record as possible.
/// Counterpart: `log_newpage_range`.
fn log_pages(be: &mut Backend, fork: &Arc<ForkBuffers>, count: u32) -> Result<()> {
    let storage = be.storage().clone();
    let xid = be.txn.current_xid_if_any();
    let mut next = 0;
    while next < count {
        let mut pages = SmallVec::<[ExclusiveGuard<'_>; LOAD_PAGES_MAX]>::new();
        while next < count && pages.len() < LOAD_PAGES_MAX {
            let page = storage.pool.read(fork, BlockNo(next), &mut be.strategy)?;
            let page = page.exclusive_unordered();
            next += 1;
            // A page of zeros need not be logged.
            if !page.is_new() {
                pages.push(page);
            }
        }
        if pages.is_empty() {
            continue;
        }
        let mut edit = PageEdit::begin(&storage.wal, &mut be.scratch);
        for (id, page) in (0..).zip(&mut pages) {
            edit.register(page, id, RegFlags::FORCE_IMAGE);
        }
        edit.log(RmgrId::Xlog, XLOG_FPI, xid)?;
    }
    Ok(())
}

/// True if the current (sub)transaction created the file. Its rows are then not visible to others,
/// and an abort removes them with the file.
pub fn is_new_here(be: &Backend, file: RelFile) -> bool {
    let nesting = be.txn.nesting();
    be.pending.list.iter().any(|p| !p.at_commit && p.drop.file == file && p.nesting == nesting)
}

/// Keeps the new files of the relation even if the transaction aborts, or its old files even if the
/// transaction commits (for mapped catalogs). Counterpart: `RelationPreserveStorage`.
pub fn preserve_relation_files(be: &mut Backend, file: RelFile, at_commit: bool) {
    be.pending.list.retain(|p| !(p.drop.file == file && p.at_commit == at_commit));
}
