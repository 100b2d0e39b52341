//! The proc array: one slot per session with its running transaction; snapshots and horizons,
//! which are computed from all slots.
//!
//! Assigned ids and their subtransaction states are in dense arrays, because each snapshot scans
//! them. Ids are published under the id generator's mutex and cleared under `lock` held
//! exclusively; snapshots hold it shared. So no transaction completes while a snapshot is taken.
//!
//! A snapshot whose `completion_count` equals the current count is still valid, and is reused
//! without a lock: the session first publishes the snapshot's xmin, then reads the count. If the
//! count has not changed, each id that was running then is still running, so a horizon computed
//! before the xmin became visible is not later than it; one computed afterwards includes it. Both
//! sides use sequentially consistent accesses.
//!
//! Counterpart: procarray.c, the transaction part of `PGPROC`.

use crate::manager::Horizons;
use crate::snapshot::Snapshot;
use ids::{FullXid, MultiXid, Oid, Xid};
use lmgr::ProcNo;
use sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};
use sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64};
use sync::{Mutex, RwLock, RwLockWriteGuard, WaitPoint};

/// Number of subtransaction ids that a slot holds; further ones are found through pg_subtrans only.
pub(crate) const SUBXIDS: usize = 64;
const OVERFLOWED: u32 = 1 << 31;

/// Flag of [`ProcArray::set_flags`]: a lazy VACUUM, which snapshots and horizons ignore.
pub const PROC_IN_VACUUM: u8 = 0x02;
/// Flag: CREATE INDEX CONCURRENTLY without expressions or predicate.
pub const PROC_IN_SAFE_IC: u8 = 0x04;
/// Flag: an autovacuum that prevents wraparound.
pub const PROC_VACUUM_FOR_WRAPAROUND: u8 = 0x08;

/// The state of a session that other sessions read.
#[repr(align(128))]
pub(crate) struct Proc {
    used: AtomicBool,
    /// Oldest id that the session's snapshots see as running; 0 without snapshots.
    pub(crate) xmin: AtomicU32,
    pub(crate) database: AtomicU32,
    /// Process ID of the session.
    pub(crate) pid: AtomicU32,
    pub(crate) flags: AtomicU8,
    subxids: Box<[AtomicU32; SUBXIDS]>,
    /// Oldest multixact that the session may become a member of; 0: none.
    pub(crate) oldest_member: AtomicU32,
    /// Oldest multixact that the session may read; 0: none.
    pub(crate) oldest_visible: AtomicU32,
    /// The session's cached removal bounds, by kind.
    pub(crate) maybe_needed: [AtomicU64; 4],
    /// The values of [`ProcArray::vis_key`] when they were computed, by kind.
    pub(crate) vis_keys: [AtomicU64; 4],
    /// The session waits for a group leader to clear its id: see [`ProcArray::end_in_group`].
    leaving: AtomicBool,
    /// Slot number + 1 of the next member of that group; 0: last member.
    next: AtomicU32,
    /// Newest id of the ending transaction and its subtransactions.
    latest: AtomicU32,
    left: WaitPoint,
}

pub(crate) struct ProcArray {
    procs: Box<[Proc]>,
    /// Number of slots of sessions; those of prepared transactions follow.
    sessions: u32,
    /// Ids of top-level transactions, 0 where none is assigned. By slot.
    xids: Box<[AtomicU32]>,
    /// Number of subtransactions in the slot, and [`OVERFLOWED`].
    sub_states: Box<[AtomicU32]>,
    /// One past the largest slot ever used.
    high: AtomicU32,
    free: Mutex<Vec<ProcNo>>,
    lock: RwLock<()>,
    /// Slot number + 1 of the newest member of the group that waits to be cleared; 0: no group.
    group: AtomicU32,
    latest_completed: AtomicU64,
    completions: AtomicU64,
    /// All ids before this one are known to have ended.
    recent_xmin: AtomicU64,
}

/// Ids in progress at one moment, for a RUNNING_XACTS record.
/// Counterpart: `RunningTransactionsData`.
pub(crate) struct Running {
    pub(crate) xids: Vec<Xid>,
    pub(crate) subxids: Vec<Xid>,
    pub(crate) overflowed: bool,
    pub(crate) oldest: Xid,
    pub(crate) latest_completed: Xid,
}

impl ProcArray {
    pub(crate) fn new(sessions: usize, prepared: usize) -> ProcArray {
        let slots = sessions + prepared;
        let proc = || Proc {
            used: AtomicBool::new(false),
            xmin: AtomicU32::new(0),
            database: AtomicU32::new(0),
            pid: AtomicU32::new(0),
            flags: AtomicU8::new(0),
            subxids: Box::new([const { AtomicU32::new(0) }; SUBXIDS]),
            oldest_member: AtomicU32::new(0),
            oldest_visible: AtomicU32::new(0),
            maybe_needed: [const { AtomicU64::new(0) }; 4],
            vis_keys: [const { AtomicU64::new(0) }; 4],
            leaving: AtomicBool::new(false),
            next: AtomicU32::new(0),
            latest: AtomicU32::new(0),
            left: WaitPoint::new(),
        };
        ProcArray {
            procs: (0..slots).map(|_| proc()).collect(),
            sessions: sessions as u32,
            xids: (0..slots).map(|_| AtomicU32::new(0)).collect(),
            sub_states: (0..slots).map(|_| AtomicU32::new(0)).collect(),
            high: AtomicU32::new(0),
            free: Mutex::new((0..sessions as ProcNo).rev().collect()),
            lock: RwLock::new(()),
            group: AtomicU32::new(0),
            latest_completed: AtomicU64::new(0),
            completions: AtomicU64::new(1),
            recent_xmin: AtomicU64::new(0),
        }
    }

    /// Allocates the free slot with the lowest number; `None` if all are in use.
    pub(crate) fn acquire(&self, database: Oid) -> Option<ProcNo> {
        let mut free = self.free.lock();
        let no = free.pop()?;
        let proc = &self.procs[no as usize];
        proc.database.store(database.0, Relaxed);
        proc.flags.store(0, Relaxed);
        proc.used.store(true, Relaxed);
        proc.maybe_needed.iter().chain(&proc.vis_keys).for_each(|m| m.store(0, Relaxed));
        let _lock = self.lock.write();
        self.high.fetch_max(no + 1, SeqCst);
        Some(no)
    }

    pub(crate) fn release(&self, no: ProcNo) {
        let proc = &self.procs[no as usize];
        debug_assert!(self.xids[no as usize].load(Relaxed) == 0);
        proc.xmin.store(0, SeqCst);
        proc.database.store(0, Relaxed);
        proc.oldest_member.store(0, Relaxed);
        proc.oldest_visible.store(0, Relaxed);
        proc.used.store(false, Relaxed);
        let mut free = self.free.lock();
        // Descending, so that the lowest number is allocated next and the arrays stay dense.
        let at = free.partition_point(|f| *f > no);
        free.insert(at, no);
    }

    pub(crate) fn proc(&self, no: ProcNo) -> &Proc {
        &self.procs[no as usize]
    }

    pub(crate) fn set_flags(&self, no: ProcNo, flags: u8) {
        let _lock = self.lock.write();
        self.procs[no as usize].flags.store(flags, Relaxed);
    }

    pub(crate) fn xid(&self, no: ProcNo) -> Xid {
        Xid(self.xids[no as usize].load(Acquire))
    }

    /// Publishes a top-level id; under the id generator's mutex.
    pub(crate) fn set_xid(&self, no: ProcNo, xid: Xid) {
        self.xids[no as usize].store(xid.0, SeqCst);
    }

    /// Publishes a subtransaction's id; under the id generator's mutex.
    pub(crate) fn add_subxid(&self, no: ProcNo, xid: Xid) {
        let state = &self.sub_states[no as usize];
        let now = state.load(Relaxed);
        let count = (now & !OVERFLOWED) as usize;
        if count < SUBXIDS {
            self.procs[no as usize].subxids[count].store(xid.0, Relaxed);
            state.store(now + 1, SeqCst);
        } else {
            state.store(now | OVERFLOWED, SeqCst);
        }
    }

    /// True if at least `least` other sessions have an id and satisfy `counts`. Counterpart:
    /// `MinimumActiveBackends`.
    pub(crate) fn others_active(
        &self,
        no: ProcNo,
        least: usize,
        counts: impl Fn(ProcNo) -> bool,
    ) -> bool {
        let high = self.high.load(Relaxed).min(self.sessions) as usize;
        let running = |&i: &usize| i != no as usize && self.xids[i].load(Relaxed) != 0;
        (0..high).filter(running).filter(|i| counts(*i as ProcNo)).take(least).count() == least
    }

    pub(crate) fn latest_completed(&self) -> FullXid {
        FullXid(self.latest_completed.load(SeqCst))
    }

    /// Called at start-up, before any transaction runs.
    pub(crate) fn set_latest_completed(&self, xid: FullXid) {
        self.latest_completed.store(xid.0, SeqCst);
        self.recent_xmin.store(0, SeqCst);
        self.completions.fetch_add(1, SeqCst);
    }

    pub(crate) fn completions(&self) -> u64 {
        self.completions.load(SeqCst)
    }

    /// A value that changes when recomputed removal bounds are likely to differ: with the session's
    /// xmin, or with each completion while it has none.
    pub(crate) fn vis_key(&self, no: ProcNo) -> u64 {
        match self.procs[no as usize].xmin.load(Relaxed) {
            0 => self.completions.load(Relaxed) | 1 << 63,
            xmin => u64::from(xmin),
        }
    }

    /// Ends the session's transaction: snapshots taken from now on do not see its id, if it has
    /// one, as in progress.
    /// Counterpart: `ProcArrayEndTransaction`.
    pub(crate) fn end(&self, no: ProcNo, latest: Xid) {
        let proc = &self.procs[no as usize];
        if self.xids[no as usize].load(Relaxed) == 0 {
            proc.xmin.store(0, SeqCst);
            if proc.flags.load(Relaxed) != 0 {
                self.set_flags(no, 0);
            }
        } else {
            match self.lock.try_write() {
                Some(lock) => self.clear(no, latest, &lock),
                None => self.end_in_group(no, latest),
            }
        }
        proc.oldest_member.store(0, Release);
        proc.oldest_visible.store(0, Release);
    }

    fn clear(&self, no: ProcNo, latest: Xid, lock: &RwLockWriteGuard<'_, ()>) {
        let proc = &self.procs[no as usize];
        self.xids[no as usize].store(0, SeqCst);
        self.sub_states[no as usize].store(0, SeqCst);
        proc.xmin.store(0, SeqCst);
        proc.flags.store(0, Relaxed);
        self.complete(latest, lock);
    }

    /// Used when `lock` is contended: ending sessions form a list, and the first of them, the
    /// leader, acquires the lock once for all. Counterpart: `ProcArrayGroupClearXid`.
    #[cold]
    fn end_in_group(&self, no: ProcNo, latest: Xid) {
        let proc = &self.procs[no as usize];
        proc.latest.store(latest.0, Relaxed);
        proc.leaving.store(true, Relaxed);
        let mut head = self.group.load(Relaxed);
        loop {
            proc.next.store(head, Relaxed);
            match self.group.compare_exchange_weak(head, no + 1, Release, Relaxed) {
                Ok(_) => break,
                Err(now) => head = now,
            }
        }
        if head != 0 {
            // The leader, which found the list empty, has not taken the list yet, or else this
            // session would have found it empty.
            proc.left.wait_while(|| proc.leaving.load(Acquire));
            return;
        }
        let lock = self.lock.write();
        let group = self.group.swap(0, Acquire);
        let mut at = group;
        while at != 0 {
            let member = &self.procs[at as usize - 1];
            self.clear(at - 1, Xid(member.latest.load(Relaxed)), &lock);
            at = member.next.load(Relaxed);
        }
        drop(lock);
        at = group;
        while at != 0 {
            let member = &self.procs[at as usize - 1];
            // Read first: once released, the member may join the next group.
            at = member.next.load(Relaxed);
            member.leaving.store(false, Release);
            member.left.wake_all();
        }
    }

    /// Moves the transaction in slot `no` of a session to slot `to` of a prepared transaction. In
    /// every snapshot it is running, and listed once. Counterpart: `MarkAsPrepared` and
    /// `ProcArrayClearTransaction`.
    pub(crate) fn prepare(&self, no: ProcNo, to: ProcNo) {
        let (from, dummy) = (&self.procs[no as usize], &self.procs[to as usize]);
        let _lock = self.lock.write();
        self.high.fetch_max(to + 1, SeqCst);
        dummy.database.store(from.database.load(Relaxed), Relaxed);
        // Set first: a reader of the marks goes through the slots in ascending order.
        dummy.oldest_member.store(from.oldest_member.load(Relaxed), Release);
        let state = self.sub_states[no as usize].load(Relaxed);
        let count = (state & !OVERFLOWED) as usize;
        for (own, moved) in dummy.subxids.iter().zip(&from.subxids[..count]) {
            own.store(moved.load(Relaxed), Relaxed);
        }
        self.sub_states[to as usize].store(state, SeqCst);
        self.xids[to as usize].store(self.xids[no as usize].load(Relaxed), SeqCst);
        self.xids[no as usize].store(0, SeqCst);
        self.sub_states[no as usize].store(0, SeqCst);
        from.xmin.store(0, SeqCst);
        from.flags.store(0, Relaxed);
        from.oldest_member.store(0, Release);
        from.oldest_visible.store(0, Release);
        // The session's own snapshots do not list the id, so they must not be reused.
        self.completions.fetch_add(1, SeqCst);
    }

    /// Enters a prepared transaction of the time before the restart. Before sessions are served.
    pub(crate) fn restore(&self, to: ProcNo, database: Oid, xid: Xid, subxids: &[Xid]) {
        let dummy = &self.procs[to as usize];
        let _lock = self.lock.write();
        self.high.fetch_max(to + 1, SeqCst);
        dummy.database.store(database.0, Relaxed);
        let count = subxids.len().min(SUBXIDS);
        for (own, sub) in dummy.subxids.iter().zip(&subxids[..count]) {
            own.store(sub.0, Relaxed);
        }
        let overflowed = if subxids.len() > SUBXIDS { OVERFLOWED } else { 0 };
        self.sub_states[to as usize].store(count as u32 | overflowed, SeqCst);
        self.xids[to as usize].store(xid.0, SeqCst);
        self.completions.fetch_add(1, SeqCst);
    }

    /// Number of prepared transactions of `database`.
    pub(crate) fn prepared_of(&self, database: Oid) -> usize {
        let slots = self.sessions as usize..self.procs.len();
        let here = slots.filter(|i| {
            self.xids[*i].load(SeqCst) != 0 && self.procs[*i].database.load(Relaxed) == database.0
        });
        here.count()
    }

    fn complete(&self, latest: Xid, _lock: &RwLockWriteGuard<'_, ()>) {
        let now = self.latest_completed.load(Relaxed);
        let full = widen(FullXid(now), latest);
        if full.0 > now {
            self.latest_completed.store(full.0, SeqCst);
        }
        self.completions.fetch_add(1, SeqCst);
    }

    /// Removes an aborted subtransaction and its children. Counterpart:
    /// `XidCacheRemoveRunningXids`.
    pub(crate) fn remove_subxids(&self, no: ProcNo, gone: &[Xid], latest: Xid) {
        let proc = &self.procs[no as usize];
        let lock = self.lock.write();
        let state = &self.sub_states[no as usize];
        let now = state.load(Relaxed);
        let mut count = (now & !OVERFLOWED) as usize;
        for xid in gone.iter().rev() {
            let Some(at) = (0..count).rev().find(|i| proc.subxids[*i].load(Relaxed) == xid.0)
            else {
                continue;
            };
            count -= 1;
            proc.subxids[at].store(proc.subxids[count].load(Relaxed), Relaxed);
        }
        state.store(now & OVERFLOWED | count as u32, SeqCst);
        self.complete(latest, &lock);
    }

    /// Makes `snapshot` current; reuses it if no transaction has completed since. Publishes the
    /// slot's xmin if it has none. Counterpart: `GetSnapshotData`.
    pub(crate) fn snapshot(&self, no: ProcNo, snapshot: &mut Snapshot) {
        let proc = &self.procs[no as usize];
        let had = proc.xmin.load(Relaxed);
        if snapshot.completion_count != 0 && snapshot.xmin.is_valid() {
            if had == 0 {
                proc.xmin.store(snapshot.xmin.0, SeqCst);
            }
            if self.completions.load(SeqCst) == snapshot.completion_count {
                return;
            }
        }
        let _lock = self.lock.read();
        if had == 0 {
            // The xmin published by the attempt above may be older than necessary.
            proc.xmin.store(0, SeqCst);
        }
        let xmax = self.latest_completed().next().xid();
        let mut xmin = xmax;
        snapshot.xip.clear();
        snapshot.subxip.clear();
        snapshot.overflowed = false;
        let high = self.high.load(SeqCst) as usize;
        for (i, xid) in self.xids[..high].iter().enumerate() {
            let xid = Xid(xid.load(SeqCst));
            if !xid.is_normal() || i == no as usize {
                if i == no as usize && xid.is_normal() && xid.precedes(xmin) {
                    xmin = xid;
                }
                continue;
            }
            if xid.follows_or_equals(xmax)
                || self.procs[i].flags.load(Relaxed) & PROC_IN_VACUUM != 0
            {
                continue;
            }
            if xid.precedes(xmin) {
                xmin = xid;
            }
            snapshot.xip.push(xid);
            if snapshot.overflowed {
                continue;
            }
            let state = self.sub_states[i].load(SeqCst);
            if state & OVERFLOWED != 0 {
                snapshot.overflowed = true;
            } else {
                let subxids = &self.procs[i].subxids[..state as usize];
                snapshot.subxip.extend(subxids.iter().map(|x| Xid(x.load(Relaxed))));
            }
        }
        snapshot.xmin = xmin;
        snapshot.xmax = xmax;
        snapshot.completion_count = self.completions.load(SeqCst);
        if had == 0 {
            proc.xmin.store(xmin.0, SeqCst);
        }
        let full = widen(self.latest_completed(), xmin).0;
        if full > self.recent_xmin.load(Relaxed) {
            self.oldest_running_hint();
        }
    }

    /// Advances the bound below which no transaction runs; the caller holds `lock`.
    fn oldest_running_hint(&self) {
        let latest = self.latest_completed();
        let mut oldest = latest.next();
        for xid in &self.xids[..self.high.load(SeqCst) as usize] {
            let xid = Xid(xid.load(SeqCst));
            if xid.is_normal() {
                oldest = oldest.min(widen(latest, xid));
            }
        }
        self.recent_xmin.fetch_max(oldest.0, Relaxed);
    }

    /// Looks `xid` up in the slots.
    pub(crate) fn find(&self, xid: Xid) -> Found {
        let latest = self.latest_completed();
        if widen(latest, xid).0 < self.recent_xmin.load(Relaxed) {
            return Found::No;
        }
        let _lock = self.lock.read();
        if self.latest_completed().xid().precedes(xid) {
            return Found::Running;
        }
        let mut overflowed = Vec::new();
        let high = self.high.load(SeqCst) as usize;
        for i in 0..high {
            let top = Xid(self.xids[i].load(SeqCst));
            if !top.is_normal() {
                continue;
            }
            if top == xid {
                return Found::Running;
            }
            if xid.precedes(top) {
                continue;
            }
            let state = self.sub_states[i].load(SeqCst);
            let count = (state & !OVERFLOWED) as usize;
            if self.procs[i].subxids[..count].iter().any(|x| x.load(Relaxed) == xid.0) {
                return Found::Running;
            }
            if state & OVERFLOWED != 0 {
                overflowed.push(top);
            }
        }
        if overflowed.is_empty() { Found::No } else { Found::Perhaps(overflowed) }
    }

    /// The horizons for relations of `database`; `no` is the slot of the session whose temporary
    /// tables are meant. Counterpart: `ComputeXidHorizons`.
    pub(crate) fn horizons(&self, database: Oid, no: Option<ProcNo>) -> Horizons {
        let _lock = self.lock.read();
        let next = self.latest_completed().next().xid();
        let mut h = Horizons {
            shared_oldest_nonremovable: next,
            catalog_oldest_nonremovable: next,
            data_oldest_nonremovable: next,
            temp_oldest_nonremovable: next,
            oldest_considered_running: next,
        };
        if let Some(no) = no {
            let own = self.xid(no);
            if own.is_valid() {
                h.temp_oldest_nonremovable = own;
            }
        }
        let high = self.high.load(SeqCst) as usize;
        for (i, proc) in self.procs[..high].iter().enumerate() {
            let xid = Xid(self.xids[i].load(SeqCst));
            let xmin = Xid(proc.xmin.load(SeqCst));
            let oldest = match (xid.is_valid(), xmin.is_valid()) {
                (true, true) => xmin.older(xid),
                (true, false) => xid,
                (false, true) => xmin,
                (false, false) => continue,
            };
            h.oldest_considered_running = h.oldest_considered_running.older(oldest);
            if proc.flags.load(Relaxed) & PROC_IN_VACUUM != 0 {
                continue;
            }
            h.shared_oldest_nonremovable = h.shared_oldest_nonremovable.older(oldest);
            let other = Oid(proc.database.load(Relaxed));
            if other == database || !other.is_valid() || !database.is_valid() {
                h.data_oldest_nonremovable = h.data_oldest_nonremovable.older(oldest);
            }
        }
        h.catalog_oldest_nonremovable = h.data_oldest_nonremovable;
        h
    }

    /// Oldest id assigned to a running transaction, or `next`. The caller holds the id generator's
    /// mutex. Counterpart: `GetOldestActiveTransactionId`.
    pub(crate) fn oldest_active(&self, next: Xid) -> Xid {
        let _lock = self.lock.read();
        let high = self.high.load(SeqCst) as usize;
        let running = self.xids[..high].iter().map(|x| Xid(x.load(SeqCst)));
        running.filter(|x| x.is_normal()).fold(next, Xid::older)
    }

    /// The running transactions. The caller holds the id generator's mutex.
    /// Counterpart: `GetRunningTransactionData`.
    pub(crate) fn running(&self, next: Xid) -> Running {
        let _lock = self.lock.read();
        let mut out = Running {
            xids: Vec::new(),
            subxids: Vec::new(),
            overflowed: false,
            oldest: next,
            latest_completed: self.latest_completed().xid(),
        };
        let high = self.high.load(SeqCst) as usize;
        for i in 0..high {
            let xid = Xid(self.xids[i].load(SeqCst));
            if !xid.is_normal() {
                continue;
            }
            out.oldest = out.oldest.older(xid);
            let state = self.sub_states[i].load(SeqCst);
            out.overflowed |= state & OVERFLOWED != 0;
            out.xids.push(xid);
            let count = (state & !OVERFLOWED) as usize;
            let subxids = &self.procs[i].subxids[..count];
            out.subxids.extend(subxids.iter().map(|x| Xid(x.load(Relaxed))));
        }
        if out.overflowed {
            out.subxids.clear();
        }
        out
    }

    /// Oldest multixact that a running transaction may be or become a member of or may read;
    /// `next` if there is none.
    pub(crate) fn oldest_multixact(&self, next: MultiXid) -> MultiXid {
        let mut oldest = next;
        let high = self.high.load(SeqCst) as usize;
        for proc in &self.procs[..high] {
            for mark in [&proc.oldest_member, &proc.oldest_visible] {
                let multi = MultiXid(mark.load(Acquire));
                if multi.is_valid() && multi.precedes(oldest) {
                    oldest = multi;
                }
            }
        }
        oldest
    }

    /// Oldest multixact that a running transaction may be or become a member of; `next` if there
    /// is none.
    pub(crate) fn oldest_member(&self, next: MultiXid) -> MultiXid {
        let high = self.high.load(SeqCst) as usize;
        let marks = self.procs[..high].iter().map(|p| MultiXid(p.oldest_member.load(Acquire)));
        marks.filter(|m| m.is_valid()).fold(next, |a, b| if b.precedes(a) { b } else { a })
    }

    /// The other sessions of `database` whose snapshots see ids before `limit`, or that one, as
    /// running. Counterpart: `GetCurrentVirtualXIDs`.
    pub(crate) fn with_older_snapshots(
        &self,
        limit: Xid,
        database: Oid,
        me: ProcNo,
    ) -> Vec<ProcNo> {
        let _lock = self.lock.read();
        let high = self.high.load(SeqCst);
        let is_older = |no: &ProcNo| {
            let proc = &self.procs[*no as usize];
            let xmin = Xid(proc.xmin.load(SeqCst));
            *no != me
                && proc.database.load(Relaxed) == database.0
                && proc.flags.load(Relaxed) & PROC_IN_VACUUM == 0
                && xmin.is_valid()
                && !xmin.follows(limit)
        };
        (0..high).filter(is_older).collect()
    }

    /// Process IDs of the sessions connected to `database`.
    pub(crate) fn pids_of(&self, database: Oid) -> Vec<i32> {
        let high = self.high.load(SeqCst).min(self.sessions) as usize;
        let here = self.procs[..high]
            .iter()
            .filter(|p| p.used.load(Relaxed) && p.database.load(Relaxed) == database.0);
        here.map(|p| p.pid.load(Relaxed) as i32).collect()
    }

    /// Number of sessions connected to `database`, without `me`.
    /// Counterpart: `CountOtherDBBackends`.
    pub(crate) fn sessions_of(&self, database: Oid, me: Option<ProcNo>) -> usize {
        let high = self.high.load(SeqCst).min(self.sessions);
        (0..high)
            .filter(|no| {
                let proc = &self.procs[*no as usize];
                Some(*no) != me
                    && proc.used.load(Relaxed)
                    && proc.database.load(Relaxed) == database.0
            })
            .count()
    }
}

/// Result of looking an id up in the slots.
pub(crate) enum Found {
    Running,
    No,
    /// Not listed, but it may be a subtransaction of one of these, whose lists overflowed.
    Perhaps(Vec<Xid>),
}

/// The 64-bit id nearest to `base` with these lower 32 bits. Counterpart: `FullXidRelativeTo`.
pub(crate) fn widen(base: FullXid, xid: Xid) -> FullXid {
    if !xid.is_normal() {
        return FullXid(u64::from(xid.0));
    }
    let distance = xid.0.wrapping_sub(base.xid().0) as i32;
    FullXid(base.0.saturating_add_signed(i64::from(distance)))
}
