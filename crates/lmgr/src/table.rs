//! One lock of the shared table: its holders, its wait queue, and grants to waiters. All functions
//! are called under the partition's mutex.
//!
//! Counterpart: `LOCK` and `PROCLOCK` in lock.h, `GrantLock` and `UnGrantLock` in lock.c,
//! `ProcLockWakeup` in proc.c.

use crate::manager::{ProcNo, Slot};
use crate::{LockMode, LockTag};
use hashbrown::HashMap;
use smallvec::SmallVec;
use std::time::Instant;

pub(crate) type Partition = HashMap<LockTag, Lock, foldhash::fast::FixedState>;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Holder {
    pub(crate) proc: ProcNo,
    /// Mask of the modes held.
    pub(crate) held: u16,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Queued {
    pub(crate) proc: ProcNo,
    pub(crate) mode: LockMode,
    pub(crate) since: Instant,
}

/// INVARIANT: `granted[m]` is the number of holders whose mask has m; `granted_mask` is the union
/// of the modes held, `wait_mask` that of the modes queued. An entry without holders and waiters
/// is removed from the partition.
#[derive(Default, Debug)]
pub(crate) struct Lock {
    pub(crate) holders: SmallVec<[Holder; 2]>,
    granted: [u32; 9],
    granted_mask: u16,
    pub(crate) wait_mask: u16,
    pub(crate) queue: Vec<Queued>,
}

impl Lock {
    pub(crate) fn held_by(&self, proc: ProcNo) -> u16 {
        self.holders.iter().find(|h| h.proc == proc).map_or(0, |h| h.held)
    }

    /// True if a session other than `proc` holds a mode that conflicts with `mode`. Counterpart:
    /// `LockCheckConflicts`.
    pub(crate) fn conflicts_with_holders(&self, proc: ProcNo, mode: LockMode) -> bool {
        let contested = self.granted_mask & mode.conflicts();
        if contested == 0 {
            return false;
        }
        let own = self.held_by(proc);
        LockMode::ALL.iter().any(|m| {
            contested & m.bit() != 0 && self.granted[*m as usize] > u32::from(own & m.bit() != 0)
        })
    }

    pub(crate) fn grant(&mut self, proc: ProcNo, mode: LockMode) {
        let bit = mode.bit();
        match self.holders.iter_mut().find(|h| h.proc == proc) {
            Some(holder) => {
                debug_assert!(holder.held & bit == 0, "granted twice");
                holder.held |= bit;
            }
            None => self.holders.push(Holder { proc, held: bit }),
        }
        self.granted[mode as usize] += 1;
        self.granted_mask |= bit;
    }

    /// Releases the mode; true if a waiter may now be grantable.
    pub(crate) fn ungrant(&mut self, proc: ProcNo, mode: LockMode) -> bool {
        let bit = mode.bit();
        let Some(at) = self.holders.iter().position(|h| h.proc == proc && h.held & bit != 0) else {
            debug_assert!(false, "released a lock that was not held");
            return false;
        };
        self.holders[at].held &= !bit;
        if self.holders[at].held == 0 {
            self.holders.swap_remove(at);
        }
        self.granted[mode as usize] -= 1;
        if self.granted[mode as usize] == 0 {
            self.granted_mask &= !bit;
        }
        mode.conflicts() & self.wait_mask != 0
    }

    pub(crate) fn enqueue(&mut self, at: usize, entry: Queued) {
        self.queue.insert(at, entry);
        self.wait_mask |= entry.mode.bit();
    }

    pub(crate) fn dequeue(&mut self, proc: ProcNo) {
        self.queue.retain(|q| q.proc != proc);
        self.wait_mask = self.queue.iter().fold(0, |mask, q| mask | q.mode.bit());
    }

    /// Grants the lock to waiters, from the head of the queue. A waiter does not overtake an
    /// earlier one whose request conflicts with its own. Counterpart: `ProcLockWakeup`.
    pub(crate) fn wake(&mut self, slots: &[Slot]) {
        let mut ahead = 0u16;
        let mut i = 0;
        while i < self.queue.len() {
            let Queued { proc, mode, .. } = self.queue[i];
            if mode.conflicts() & ahead == 0 && !self.conflicts_with_holders(proc, mode) {
                self.grant(proc, mode);
                self.dequeue(proc);
                slots[proc as usize].grant_wait();
            } else {
                ahead |= mode.bit();
                i += 1;
            }
        }
    }

    pub(crate) fn is_unused(&self) -> bool {
        self.holders.is_empty() && self.queue.is_empty()
    }
}
