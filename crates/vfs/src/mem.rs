//! A disk in memory that simulates crashes. Each file has pending contents, which readers see, and
//! durable contents; each directory likewise has pending and durable entries:
//!
//! - `sync_*` on a file makes its contents and length durable, not its name; `sync_dir` makes the
//!   names in a directory durable, not the files.
//! - [`MemDisk::crash`] returns the disk as the next start finds it: of the unsynced 512-byte
//!   sectors, lengths and directory changes a random subset has survived, in no order. A sector is
//!   written whole or not at all, and a rename is one change.
//! - A failed sync loses the pending sectors permanently: readers still see them, but a later sync
//!   does not write them (as Linux behaves).
//! - Any kind of call can be made to fail ([`MemDisk::fail_nth`]), writes can be short, and the
//!   disk can be full.
//! - A crash can be planned for a later change ([`MemDisk::crash_at_change`]), and syncs can be
//!   made ineffective ([`MemDisk::ignore_sync_on`]).
//!
//! LOCK ORDER: the tree, then a file's contents, then the faults.

mod content;
mod fault;
mod tree;

pub use fault::Op;

use crate::disk::{DirEntry, Disk, File, FileKind, OpenMode, Stat};
use crate::random::SeededRandom;
use content::Content;
use fault::Faults;
use std::io::{self, IoSlice, IoSliceMut};
use std::time::{Duration, UNIX_EPOCH};
use sync::atomic::{AtomicU64, Ordering};
use sync::{Arc, Mutex};
use tree::{Node, Tree};

/// See the module documentation. Clones are the same disk.
#[derive(Clone)]
pub struct MemDisk {
    shared: Arc<Shared>,
}

struct Shared {
    tree: Mutex<Tree>,
    faults: Faults,
    space: Space,
    planned_crash: PlannedCrash,
    sync_micros: AtomicU64,
}

/// A planned crash, and the disk after it.
#[derive(Default)]
struct PlannedCrash {
    /// Changing calls until the crash; 0: none is planned.
    countdown: AtomicU64,
    seed: AtomicU64,
    found: Mutex<Option<MemDisk>>,
}

/// Space on the disk, in bytes of pending contents.
#[derive(Debug)]
pub(crate) struct Space {
    used: AtomicU64,
    capacity: AtomicU64,
}

impl Space {
    fn unlimited(used: u64) -> Space {
        Space { used: AtomicU64::new(used), capacity: AtomicU64::new(u64::MAX) }
    }

    /// Allocates up to `wanted` bytes; returns the number allocated.
    pub(crate) fn take(&self, wanted: u64) -> u64 {
        let capacity = self.capacity.load(Ordering::Relaxed);
        let mut got = 0;
        let _ = self.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |used| {
            got = wanted.min(capacity.saturating_sub(used));
            Some(used + got)
        });
        got
    }

    pub(crate) fn give_back(&self, bytes: u64) {
        self.used.fetch_sub(bytes, Ordering::Relaxed);
    }
}

pub(crate) fn os_error(errno: i32) -> io::Error {
    io::Error::from_raw_os_error(errno)
}

impl Default for MemDisk {
    fn default() -> MemDisk {
        MemDisk::new()
    }
}

impl MemDisk {
    /// An empty disk without limit.
    pub fn new() -> MemDisk {
        MemDisk::from_tree(Tree::new(), 0)
    }

    fn from_tree(tree: Tree, used: u64) -> MemDisk {
        MemDisk {
            shared: Arc::new(Shared {
                tree: Mutex::new(tree),
                faults: Faults::default(),
                space: Space::unlimited(used),
                planned_crash: PlannedCrash::default(),
                sync_micros: AtomicU64::new(0),
            }),
        }
    }

    /// The disk as found after a power failure at this moment; `seed` decides what survived. This
    /// disk continues.
    pub fn crash(&self, seed: u64) -> MemDisk {
        let random = SeededRandom::new(seed);
        let tree = self.shared.tree.lock().crashed(&random);
        let used = tree.bytes();
        MemDisk::from_tree(tree, used)
    }

    /// The disk as found after a power failure that lost everything unsynced.
    pub fn crash_losing_all(&self) -> MemDisk {
        let tree = self.shared.tree.lock().only_durable();
        let used = tree.bytes();
        MemDisk::from_tree(tree, used)
    }

    /// A copy of all that readers see, all of it durable: the state that a killed process leaves on
    /// a machine that keeps running.
    pub fn killed(&self) -> MemDisk {
        let tree = self.shared.tree.lock().all_durable();
        let used = tree.bytes();
        MemDisk::from_tree(tree, used)
    }

    /// Plans a power failure right before the `n`th call from now on that changes something (1 is
    /// the next). This disk continues; the disk after the crash is kept for [`MemDisk::crashed`].
    pub fn crash_at_change(&self, n: u64, seed: u64) {
        let planned = &self.shared.planned_crash;
        *planned.found.lock() = None;
        planned.seed.store(seed, Ordering::SeqCst);
        planned.countdown.store(n, Ordering::SeqCst);
    }

    /// The disk after the planned crash, once that has happened.
    pub fn crashed(&self) -> Option<MemDisk> {
        self.shared.planned_crash.found.lock().clone()
    }

    /// Counts towards the planned crash. No lock of the disk is held here.
    fn count_change(&self, op: Op) {
        let planned = &self.shared.planned_crash;
        if planned.countdown.load(Ordering::Relaxed) == 0 || !op.changes() {
            return;
        }
        if planned.countdown.fetch_sub(1, Ordering::SeqCst) == 1 {
            let disk = self.crash(planned.seed.load(Ordering::SeqCst));
            *planned.found.lock() = Some(disk);
        }
    }

    /// From now on syncs of paths that contain `part` succeed without doing anything.
    pub fn ignore_sync_on(&self, part: &str) {
        self.shared.faults.ignore_sync(part);
    }

    /// From now on each sync of a file takes `span`.
    pub fn slow_sync(&self, span: Duration) {
        self.shared.sync_micros.store(span.as_micros() as u64, Ordering::Relaxed);
    }

    /// From now on every call fails with EIO.
    pub fn power_off(&self) {
        self.shared.faults.power_off();
    }

    /// The `n`th call of kind `op` from now on (1 is the next) fails with `errno`.
    pub fn fail_nth(&self, op: Op, n: u64, errno: i32) {
        self.shared.faults.fail_nth(op, "", n, errno);
    }

    /// As [`MemDisk::fail_nth`], counting only calls on paths that contain `part`.
    pub fn fail_nth_on(&self, op: Op, part: &str, n: u64, errno: i32) {
        self.shared.faults.fail_nth(op, part, n, errno);
    }

    /// From now on all calls of kind `op` on paths that contain `part` fail with `errno`.
    pub fn fail_all_on(&self, op: Op, part: &str, errno: i32) {
        self.shared.faults.fail_all(op, part, errno);
    }

    /// The `n`th write from now on writes only half of its bytes (at least one).
    pub fn short_write_nth(&self, n: u64) {
        self.shared.faults.fail_nth(Op::Write, "", n, fault::SHORT);
    }

    /// True if a planned fault is still outstanding.
    pub fn has_faults_to_come(&self) -> bool {
        self.shared.faults.has_planned()
    }

    /// Removes all planned faults.
    pub fn clear_faults(&self) {
        self.shared.faults.clear();
    }

    /// Limits the total size of files, in bytes; writes beyond fail with ENOSPC.
    pub fn set_capacity(&self, bytes: Option<u64>) {
        self.shared.space.capacity.store(bytes.unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    /// Present total size of files, in bytes.
    pub fn used(&self) -> u64 {
        self.shared.space.used.load(Ordering::Relaxed)
    }

    /// Number of calls of kind `op` so far, failed ones included.
    pub fn count(&self, op: Op) -> u64 {
        self.shared.faults.count(op)
    }

    /// All paths of files and directories that readers see, sorted.
    pub fn paths(&self) -> Vec<String> {
        self.shared.tree.lock().paths()
    }

    fn enter(&self, op: Op, path: &str) -> io::Result<()> {
        self.count_change(op);
        self.shared.faults.check(op, path).map(|_| ())
    }
}

impl Disk for MemDisk {
    fn open(&self, path: &str, mode: OpenMode) -> io::Result<Arc<dyn File>> {
        self.enter(Op::Open, path)?;
        let mut tree = self.shared.tree.lock();
        let found = tree.find(path)?;
        let node = match (found, mode) {
            (Some(_), OpenMode::CreateNew) => return Err(os_error(libc::EEXIST)),
            (
                None,
                OpenMode::Read | OpenMode::ReadWrite | OpenMode::Direct | OpenMode::WriteThrough,
            ) => {
                return Err(os_error(libc::ENOENT));
            }
            (Some(node), _) => node,
            (None, _) => tree.create(path, Node::File(Arc::new(Mutex::new(Content::default()))))?,
        };
        let content = match tree.node(node) {
            Node::File(content) => content.clone(),
            _ => return Err(os_error(libc::EISDIR)),
        };
        if mode == OpenMode::Truncate {
            content.lock().truncate(0, &self.shared.space)?;
        }
        Ok(Arc::new(MemFile {
            disk: self.clone(),
            content,
            path: path.to_owned(),
            writable: mode != OpenMode::Read,
            through: mode == OpenMode::WriteThrough,
        }))
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        self.enter(Op::Rename, from)?;
        self.shared.tree.lock().rename(from, to, &self.shared.space)
    }

    fn unlink(&self, path: &str) -> io::Result<()> {
        self.enter(Op::Unlink, path)?;
        self.shared.tree.lock().unlink(path, &self.shared.space)
    }

    fn create_dir(&self, path: &str) -> io::Result<()> {
        self.enter(Op::CreateDir, path)?;
        self.shared.tree.lock().create(path, Node::empty_dir()).map(|_| ())
    }

    fn remove_dir(&self, path: &str) -> io::Result<()> {
        self.enter(Op::RemoveDir, path)?;
        self.shared.tree.lock().remove_dir(path)
    }

    fn list(&self, path: &str) -> io::Result<Vec<DirEntry>> {
        self.enter(Op::List, path)?;
        self.shared.tree.lock().list(path)
    }

    fn stat(&self, path: &str) -> io::Result<Stat> {
        self.enter(Op::Stat, path)?;
        let tree = self.shared.tree.lock();
        let node = tree.find(path)?.ok_or_else(|| os_error(libc::ENOENT))?;
        Ok(stat_of(tree.node(node)))
    }

    fn lstat(&self, path: &str) -> io::Result<Stat> {
        self.enter(Op::Stat, path)?;
        let tree = self.shared.tree.lock();
        let node = tree.find_last(path)?.ok_or_else(|| os_error(libc::ENOENT))?;
        Ok(stat_of(tree.node(node)))
    }

    fn symlink(&self, target: &str, link: &str) -> io::Result<()> {
        self.enter(Op::Symlink, link)?;
        self.shared.tree.lock().create(link, Node::Link(target.to_owned())).map(|_| ())
    }

    fn read_link(&self, path: &str) -> io::Result<String> {
        self.enter(Op::Stat, path)?;
        let tree = self.shared.tree.lock();
        match tree.find_last(path)?.map(|node| tree.node(node)) {
            Some(Node::Link(target)) => Ok(target.clone()),
            Some(_) => Err(os_error(libc::EINVAL)),
            None => Err(os_error(libc::ENOENT)),
        }
    }

    fn sync_dir(&self, path: &str) -> io::Result<()> {
        self.enter(Op::SyncDir, path)?;
        if self.shared.faults.ignores_sync(path) {
            return Ok(());
        }
        self.shared.tree.lock().sync_dir(path)
    }
}

fn stat_of(node: &Node) -> Stat {
    // A fixed time: tests must not depend on when they run.
    let modified = UNIX_EPOCH + Duration::from_secs(1_704_067_200);
    match node {
        Node::File(content) => {
            Stat { kind: FileKind::File, len: content.lock().len() as u64, modified }
        }
        Node::Dir { .. } => Stat { kind: FileKind::Dir, len: 0, modified },
        Node::Link(_) => Stat { kind: FileKind::Symlink, len: 0, modified },
    }
}

struct MemFile {
    disk: MemDisk,
    content: Arc<Mutex<Content>>,
    path: String,
    writable: bool,
    /// Each write is synced.
    through: bool,
}

impl MemFile {
    /// Counts the call; EBADF for a file opened for reading only.
    fn enter_writing(&self, op: Op) -> io::Result<fault::Verdict> {
        self.disk.count_change(op);
        let verdict = self.disk.shared.faults.check(op, &self.path)?;
        if self.writable { Ok(verdict) } else { Err(os_error(libc::EBADF)) }
    }

    fn sync(&self) -> io::Result<()> {
        // fsync works on files opened for reading, too.
        match self.disk.enter(Op::Sync, &self.path) {
            Ok(()) => {
                let span = self.disk.shared.sync_micros.load(Ordering::Relaxed);
                if span > 0 {
                    std::thread::sleep(Duration::from_micros(span));
                }
                if !self.disk.shared.faults.ignores_sync(&self.path) {
                    self.content.lock().sync();
                }
                Ok(())
            }
            Err(e) => {
                self.content.lock().lose_pending();
                Err(e)
            }
        }
    }
}

impl File for MemFile {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        self.disk.enter(Op::Read, &self.path)?;
        Ok(self.content.lock().read(buf, offset))
    }

    fn readv_at(&self, bufs: &mut [IoSliceMut<'_>], offset: u64) -> io::Result<usize> {
        self.disk.enter(Op::Read, &self.path)?;
        let content = self.content.lock();
        let mut done = 0;
        for buf in bufs {
            let n = content.read(buf, offset + done as u64);
            done += n;
            if n < buf.len() {
                break;
            }
        }
        Ok(done)
    }

    fn write_at(&self, buf: &[u8], offset: u64) -> io::Result<usize> {
        self.writev_at(&[IoSlice::new(buf)], offset)
    }

    fn writev_at(&self, bufs: &[IoSlice<'_>], offset: u64) -> io::Result<usize> {
        let verdict = self.enter_writing(Op::Write)?;
        let total: usize = bufs.iter().map(|b| b.len()).sum();
        let mut allowed = match verdict {
            fault::Verdict::Short => total.div_ceil(2),
            fault::Verdict::Go => total,
        };
        let mut content = self.content.lock();
        let mut done = 0;
        for buf in bufs {
            let part = &buf[..buf.len().min(allowed)];
            let n = content.write(part, offset + done as u64, &self.disk.shared.space);
            done += n;
            allowed -= n;
            if n < buf.len() {
                break;
            }
        }
        drop(content);
        if done == 0 && total > 0 {
            return Err(os_error(libc::ENOSPC));
        }
        if self.through {
            self.sync()?;
        }
        Ok(done)
    }

    fn len(&self) -> io::Result<u64> {
        self.disk.enter(Op::Stat, &self.path)?;
        Ok(self.content.lock().len() as u64)
    }

    fn truncate(&self, len: u64) -> io::Result<()> {
        self.enter_writing(Op::Truncate)?;
        self.content.lock().truncate(len, &self.disk.shared.space)
    }

    fn sync_data(&self) -> io::Result<()> {
        self.sync()
    }

    fn sync_all(&self) -> io::Result<()> {
        self.sync()
    }

    /// Counted; faults are ignored.
    fn flush_hint(&self, _offset: u64, _len: u64) {
        let _ = self.disk.enter(Op::FlushHint, &self.path);
    }

    fn allocate(&self, offset: u64, len: u64) -> io::Result<()> {
        self.enter_writing(Op::Allocate)?;
        let mut content = self.content.lock();
        if offset + len > content.len() as u64 {
            content.truncate(offset + len, &self.disk.shared.space)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
