//! A bounded cache of open segment files. A file that is closed here while another thread uses it
//! stays open until that thread drops its `Arc`.
//!
//! Counterpart: the virtual file descriptors of fd.c.

use crate::RelFork;
use std::collections::HashMap;
use std::io;
use sync::atomic::{AtomicUsize, Ordering};
use sync::{Arc, Mutex};
use vfs::{Disk, File, OpenMode};

const SHARDS: usize = 16;

/// A segment of a fork.
pub(crate) type SegmentId = (RelFork, u32);

struct Entry {
    file: Arc<dyn File>,
    /// Used since the last sweep of its shard.
    used: bool,
}

pub(crate) struct FdCache {
    disk: Arc<dyn Disk>,
    shards: [Mutex<HashMap<SegmentId, Entry>>; SHARDS],
    open: AtomicUsize,
    open_max: usize,
    /// Shard where the next sweep begins.
    hand: AtomicUsize,
}

impl FdCache {
    pub(crate) fn new(disk: Arc<dyn Disk>, open_max: usize) -> FdCache {
        FdCache {
            disk,
            shards: std::array::from_fn(|_| Mutex::new(HashMap::new())),
            open: AtomicUsize::new(0),
            open_max: open_max.max(1),
            hand: AtomicUsize::new(0),
        }
    }

    fn shard(&self, id: &SegmentId) -> &Mutex<HashMap<SegmentId, Entry>> {
        let mixed = id.0.rel.relnumber.0.wrapping_mul(0x9E37_79B1) ^ id.1 ^ id.0.fork as u32;
        &self.shards[(mixed >> 8) as usize % SHARDS]
    }

    /// The open file of the segment, opened by `mode` if it is not in the cache.
    pub(crate) fn open(&self, id: SegmentId, mode: OpenMode) -> io::Result<Arc<dyn File>> {
        let shard = self.shard(&id);
        if mode != OpenMode::CreateNew
            && let Some(entry) = shard.lock().get_mut(&id)
        {
            entry.used = true;
            return Ok(entry.file.clone());
        }
        if self.open.load(Ordering::Relaxed) >= self.open_max {
            self.sweep();
        }
        let path = id.0.segment_path(id.1);
        let file = match self.disk.open(&path, mode) {
            // The process may be out of descriptors: close some files and try once more.
            Err(e) if matches!(e.raw_os_error(), Some(EMFILE | ENFILE)) => {
                self.sweep();
                self.disk.open(&path, mode)?
            }
            other => other?,
        };
        let entry = Entry { file: file.clone(), used: true };
        if shard.lock().insert(id, entry).is_none() {
            self.open.fetch_add(1, Ordering::Relaxed);
        }
        Ok(file)
    }

    pub(crate) fn close(&self, id: SegmentId) {
        if self.shard(&id).lock().remove(&id).is_some() {
            self.open.fetch_sub(1, Ordering::Relaxed);
        }
    }

    pub(crate) fn close_all(&self) {
        self.retain(|_| false);
    }

    /// Closes the files for which `keep` is false.
    pub(crate) fn retain(&self, keep: impl Fn(&SegmentId) -> bool) {
        for shard in &self.shards {
            let mut shard = shard.lock();
            let before = shard.len();
            shard.retain(|id, _| keep(id));
            self.open.fetch_sub(before - shard.len(), Ordering::Relaxed);
        }
    }

    pub(crate) fn open_count(&self) -> usize {
        self.open.load(Ordering::Relaxed)
    }

    /// Closes files that were not used since the last sweep, at least one if there are any.
    fn sweep(&self) {
        for _ in 0..2 * SHARDS {
            let at = self.hand.fetch_add(1, Ordering::Relaxed) % SHARDS;
            let mut shard = self.shards[at].lock();
            let before = shard.len();
            shard.retain(|_, entry| std::mem::take(&mut entry.used));
            let closed = before - shard.len();
            if closed > 0 {
                self.open.fetch_sub(closed, Ordering::Relaxed);
                return;
            }
        }
    }
}

const EMFILE: i32 = 24;
const ENFILE: i32 = 23;
