//! The lock table as rows, for `pg_locks` and `pg_blocking_pids`.
//!
//! Counterpart: `GetLockStatusData`, `GetBlockerStatusData` and `GetLockConflicts` in lock.c.

use crate::manager::{LockManager, ProcNo};
use crate::sleep::now;
use crate::{LockMode, LockTag, VirtualXid};
use ids::{BackendNo, Oid};
use std::time::Duration;

/// A row of `pg_locks`.
#[derive(Clone, Debug)]
pub struct LockRow {
    pub tag: LockTag,
    pub mode: LockMode,
    pub granted: bool,
    pub fast_path: bool,
    /// 0 for a prepared transaction.
    pub pid: i32,
    /// The slot of the holder or waiter.
    pub proc: ProcNo,
    /// The holder's or waiter's virtual xid (local part 0 outside transactions).
    pub vxid: VirtualXid,
    /// How long a waiter has waited.
    pub waited: Option<Duration>,
}

impl LockManager {
    /// All locks, held and awaited. Fast-path locks are read slot by slot; the shared table is read
    /// under all partition mutexes, so its rows are consistent.
    pub fn rows(&self) -> Vec<LockRow> {
        let mut rows = Vec::new();
        let vxid = |proc: ProcNo| {
            let none = VirtualXid { backend: BackendNo(proc), local: 0 };
            self.vxid(proc).unwrap_or(none)
        };
        let vxids: Vec<_> = (0..self.slots.len() as ProcNo).map(vxid).collect();
        let row = |proc: ProcNo, tag: LockTag, mode, granted, fast_path| LockRow {
            tag,
            mode,
            granted,
            fast_path,
            pid: self.pid(proc),
            proc,
            vxid: vxids[proc as usize],
            waited: None,
        };
        for (proc, slot) in self.slots.iter().enumerate() {
            let fast = slot.fast.lock();
            let proc = proc as ProcNo;
            for (relation, mode) in fast.all() {
                rows.push(row(proc, LockTag::relation(fast.database, relation), mode, true, true));
            }
            if fast.vxid_is_fast {
                let vxid = VirtualXid { backend: BackendNo(proc), local: fast.local_xid };
                let tag = LockTag::virtual_transaction(vxid);
                rows.push(row(proc, tag, LockMode::Exclusive, true, true));
            }
        }
        let tables: Vec<_> = self.partitions.iter().map(|p| p.0.lock()).collect();
        let moment = now();
        for (tag, lock) in tables.iter().flat_map(|t| t.iter()) {
            for holder in &lock.holders {
                for mode in LockMode::ALL.iter().filter(|m| holder.held & m.bit() != 0) {
                    rows.push(row(holder.proc, *tag, *mode, true, false));
                }
            }
            for queued in &lock.queue {
                let mut row = row(queued.proc, *tag, queued.mode, false, false);
                row.waited = Some(moment.saturating_duration_since(queued.since));
                rows.push(row);
            }
        }
        rows
    }

    /// Process IDs of the sessions that block `pid`: holders of conflicting modes and waiters ahead
    /// of it in the queue with conflicting requests. Counterpart: `pg_blocking_pids`.
    pub fn blocking_pids(&self, pid: i32) -> Vec<i32> {
        let tables: Vec<_> = self.partitions.iter().map(|p| p.0.lock()).collect();
        let mut out = Vec::new();
        for lock in tables.iter().flat_map(|t| t.values()) {
            let Some(at) = lock.queue.iter().position(|q| self.pid(q.proc) == pid) else {
                continue;
            };
            let (me, mode) = (lock.queue[at].proc, lock.queue[at].mode);
            let holders = lock.holders.iter().filter(|h| h.proc != me);
            out.extend(
                holders.filter(|h| mode.conflicts() & h.held != 0).map(|h| self.pid(h.proc)),
            );
            let ahead = lock.queue[..at].iter().filter(|q| mode.conflicts_with(q.mode));
            out.extend(ahead.map(|q| self.pid(q.proc)));
        }
        out
    }

    /// Virtual xids of the transactions (other than `me`'s) that hold a lock on `tag` which
    /// conflicts with `mode`. Counterpart: `GetLockConflicts`.
    pub fn conflicting_vxids(&self, tag: LockTag, mode: LockMode, me: ProcNo) -> Vec<VirtualXid> {
        let mut procs: Vec<ProcNo> = Vec::new();
        if tag.fast_path_kind() {
            for (proc, slot) in self.slots.iter().enumerate() {
                let fast = slot.fast.lock();
                if fast.database.0 == tag.field1
                    && fast.held(Oid(tag.field2)).any(|held| mode.conflicts_with(held))
                {
                    procs.push(proc as ProcNo);
                }
            }
        }
        if let Some(lock) = self.partition(&tag).lock().get(&tag) {
            let held = lock.holders.iter().filter(|h| mode.conflicts() & h.held != 0);
            procs.extend(held.map(|h| h.proc));
        }
        procs.sort_unstable();
        procs.dedup();
        procs.into_iter().filter(|p| *p != me).filter_map(|p| self.vxid(p)).collect()
    }
}
