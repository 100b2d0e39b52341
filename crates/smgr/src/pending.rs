//! Pending requests for the next checkpoint: sync the files written since the last one, sync
//! directories in which files were created, remove first segments of dropped relations.
//!
//! A request made while a checkpoint syncs belongs to the next one: the checkpoint takes the whole
//! set first. The first segment of a dropped relation stays as an empty file, so that its number is
//! not assigned again before the log no longer needs it.
//!
//! Counterpart: sync.c.

use crate::RelFork;
use crate::fdcache::SegmentId;
use std::collections::{HashMap, HashSet};

#[derive(Default)]
pub(crate) struct Pending {
    /// Segments written and not synced.
    syncs: HashSet<SegmentId>,
    /// Requests that the running checkpoint has taken; true: cancelled since.
    taken: HashMap<SegmentId, bool>,
    /// Directories with new entries.
    dirs: HashSet<String>,
    /// First segments to remove, with the checkpoint cycle of the request.
    unlinks: Vec<(RelFork, u64)>,
    cycle: u64,
}

impl Pending {
    /// Adds a sync request; duplicates are absorbed.
    pub(crate) fn add(&mut self, id: SegmentId) {
        self.syncs.insert(id);
    }

    pub(crate) fn add_dir(&mut self, dir: &str) {
        if !self.dirs.contains(dir) {
            self.dirs.insert(dir.to_owned());
        }
    }

    pub(crate) fn add_unlink(&mut self, fork: RelFork) {
        self.unlinks.push((fork, self.cycle));
    }

    /// Cancels requests for which `gone` is true: their files are being removed.
    pub(crate) fn forget(&mut self, gone: impl Fn(&RelFork, Option<u32>) -> bool) {
        self.syncs.retain(|(fork, n)| !gone(fork, Some(*n)));
        for ((fork, n), forgotten) in &mut self.taken {
            *forgotten |= gone(fork, Some(*n));
        }
        self.unlinks.retain(|(fork, _)| !gone(fork, None));
    }

    /// A checkpoint is about to fix its redo pointer: unlink requests from now on wait for the next
    /// one.
    pub(crate) fn begin_cycle(&mut self) {
        self.cycle += 1;
    }

    /// The checkpoint takes all requests made so far.
    pub(crate) fn take(&mut self) -> (Vec<SegmentId>, Vec<String>) {
        let syncs: Vec<_> = self.syncs.drain().collect();
        self.taken.extend(syncs.iter().map(|id| (*id, false)));
        (syncs, self.dirs.drain().collect())
    }

    pub(crate) fn was_forgotten(&self, id: &SegmentId) -> bool {
        self.taken.get(id).copied().unwrap_or(false)
    }

    pub(crate) fn done(&mut self, id: &SegmentId) {
        self.taken.remove(id);
    }

    /// The checkpoint failed: its remaining requests are pending again.
    pub(crate) fn put_back(&mut self, dirs: Vec<String>) {
        let left = std::mem::take(&mut self.taken);
        self.syncs.extend(left.into_iter().filter(|(_, forgotten)| !forgotten).map(|(id, _)| id));
        self.dirs.extend(dirs);
    }

    /// Takes the unlink requests made before the current cycle began.
    pub(crate) fn take_unlinks(&mut self) -> Vec<RelFork> {
        let cycle = self.cycle;
        let (due, later) =
            std::mem::take(&mut self.unlinks).into_iter().partition(|(_, asked)| *asked != cycle);
        self.unlinks = later;
        let due: Vec<(RelFork, u64)> = due;
        due.into_iter().map(|(fork, _)| fork).collect()
    }

    pub(crate) fn sync_count(&self) -> usize {
        self.syncs.len()
    }
}
