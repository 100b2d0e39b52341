//! Counting of a session. A count is a store into the session's own memory; the shared entries
//! change when the session is idle, at most once a second.
//!
//! INVARIANT: a count for a relation that the session has used before allocates nothing.
//!
//! Counterpart: pgstat.c, pgstat_xact.c, pgstat_function.c.

use crate::fetch::Snapshot;
use crate::pending::{Change, Levels, Pending, PreparedRows, Slot, count_ended};
use crate::shared::{Key, Kind, Stats, database_key};
use crate::values::{
    DatabaseField as D, DatabaseStats, FunctionField, FunctionStats, RelationStats,
};
use hashbrown::HashMap;
use ids::Oid;
use std::time::{Duration, Instant};
use sync::Arc;
use sync::atomic::Ordering;

/// Counts are added to the shared entries at most this often. Counterpart: `PGSTAT_MIN_INTERVAL`.
const FLUSH_INTERVAL_MIN_US: i64 = 1_000_000;
/// Older counts are added in any case. Counterpart: `PGSTAT_MAX_INTERVAL`.
const FLUSH_INTERVAL_MAX_US: i64 = 60_000_000;
/// An idle session adds its counts after this time. Counterpart: `PGSTAT_IDLE_INTERVAL`.
const FLUSH_IDLE: Duration = Duration::from_secs(10);
/// Lines of the direct-mapped cache of slots.
const NEAR: usize = 64;

/// `track_functions`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub enum TrackFunctions {
    #[default]
    None,
    /// Functions of procedural languages.
    Procedural,
    All,
}

/// The state of a client's session, for the times of `pg_stat_database`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum SessionState {
    #[default]
    Idle,
    Active,
    IdleInTransaction,
}

/// Why a client's session ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SessionEnd {
    Normal,
    /// The client closed the connection without a message.
    Abandoned,
    Fatal,
    Killed,
}

/// Creation or removal of an object that has an entry, by the running transaction.
#[derive(Clone, Copy, Debug)]
struct ObjectEvent {
    nesting: usize,
    created: bool,
    kind: Kind,
    key: Key,
}

/// A running call of a function that is measured.
#[derive(Clone, Copy, Debug)]
pub struct FunctionCall {
    function: Oid,
    begun: Instant,
    /// Total time charged to the function, and to all functions, when the call began.
    total_before: i64,
    all_before: i64,
}

/// Times of a client's session, in microseconds.
#[derive(Debug, Default)]
struct Times {
    /// The session is a client's.
    counted: bool,
    state: SessionState,
    since: i64,
    last_report: i64,
}

/// When counts were and are to be flushed, in microseconds since 2000-01-01; 0 means never.
#[derive(Debug, Default)]
struct Flushes {
    last: i64,
    pending_since: i64,
    force_next: bool,
}

/// The statistics of one session.
#[derive(Debug)]
pub struct SessionStats {
    shared: Arc<Stats>,
    database: Oid,
    track_counts: bool,
    slots: Vec<Slot>,
    numbers: HashMap<Oid, u32>,
    /// Slots by the low bits of their OIDs.
    near: [(Oid, u32); NEAR],
    /// Slots with counts to flush.
    queue: Vec<u32>,
    levels: Levels,
    objects: Vec<ObjectEvent>,
    /// Counts of the session's database that do not belong to relations.
    counted: DatabaseStats,
    functions: HashMap<Oid, FunctionStats>,
    function_time: i64,
    pub track_functions: TrackFunctions,
    times: Times,
    /// The times of [`SessionStats::count_io_times`].
    io_times: [u64; 2],
    flushes: Flushes,
    /// Takes the counts while `track_counts` is off.
    ignored: Pending,
    pub(crate) snapshot: Snapshot,
    /// The process id of the session.
    pub(crate) pid: i32,
    pub(crate) progress: Option<Arc<crate::progress::Progress>>,
}

impl SessionStats {
    pub fn new(shared: Arc<Stats>, database: Oid, pid: i32) -> SessionStats {
        SessionStats {
            shared,
            database,
            track_counts: true,
            slots: Vec::new(),
            numbers: HashMap::new(),
            near: [(Oid::INVALID, 0); NEAR],
            queue: Vec::new(),
            levels: Levels::default(),
            objects: Vec::new(),
            counted: DatabaseStats::default(),
            functions: HashMap::new(),
            function_time: 0,
            track_functions: TrackFunctions::None,
            times: Times::default(),
            io_times: [0; 2],
            flushes: Flushes::default(),
            ignored: Pending::default(),
            snapshot: Snapshot::default(),
            pid,
            progress: None,
        }
    }

    pub fn shared(&self) -> &Arc<Stats> {
        &self.shared
    }

    pub fn database(&self) -> Oid {
        self.database
    }

    /// The session works in this database from now on. What was counted before belongs to no
    /// session.
    pub fn set_database(&mut self, database: Oid) {
        self.database = database;
        self.numbers.clear();
        self.near = [(Oid::INVALID, 0); NEAR];
        self.queue.clear();
        self.slots.clear();
        self.counted = DatabaseStats::default();
    }

    pub fn set_track_counts(&mut self, on: bool) {
        self.track_counts = on;
    }

    /// The key of an object of the session's database, or of a shared relation.
    pub fn key(&self, object: Oid, is_shared: bool) -> Key {
        Key { database: if is_shared { Oid::INVALID } else { self.database }, object }
    }

    /// The counts of a relation.
    #[inline]
    pub fn relation(&mut self, relation: Oid, is_shared: bool) -> &mut Pending {
        match self.slot(relation, is_shared) {
            Some(slot) => &mut self.slots[slot as usize].counts,
            None => &mut self.ignored,
        }
    }

    #[inline]
    fn slot(&mut self, relation: Oid, is_shared: bool) -> Option<u32> {
        if !self.track_counts {
            return None;
        }
        let (near, number) = self.near[relation.0 as usize % NEAR];
        let number = match near == relation {
            true => number,
            false => self.find(relation, is_shared),
        };
        let slot = &mut self.slots[number as usize];
        if !slot.queued {
            slot.queued = true;
            self.queue.push(number);
        }
        Some(number)
    }

    #[cold]
    fn find(&mut self, relation: Oid, is_shared: bool) -> u32 {
        let key = self.key(relation, is_shared);
        let number = match self.numbers.get(&relation) {
            Some(number) => {
                let slot = &mut self.slots[*number as usize];
                if slot.entry.dropped.load(Ordering::Acquire) {
                    // The OID has been used again.
                    slot.entry = self.shared.relations.obtain(key);
                }
                *number
            }
            None => {
                self.slots.push(Slot::new(key, self.shared.relations.obtain(key)));
                let number = self.slots.len() as u32 - 1;
                self.numbers.insert(relation, number);
                number
            }
        };
        self.near[relation.0 as usize % NEAR] = (relation, number);
        number
    }

    /// Counts a change of rows at this nesting level of the transaction.
    #[inline]
    pub fn change(&mut self, relation: Oid, is_shared: bool, nesting: usize, what: Change) {
        if let Some(slot) = self.slot(relation, is_shared) {
            self.levels.change(&mut self.slots, slot, nesting, what);
        }
    }

    pub fn truncate(&mut self, relation: Oid, is_shared: bool, nesting: usize) {
        if let Some(slot) = self.slot(relation, is_shared) {
            self.levels.truncate(&mut self.slots, slot, nesting);
        }
    }

    /// The transaction has created an object; its entry is removed if that is rolled back.
    pub fn created(&mut self, kind: Kind, object: Oid, is_shared: bool, nesting: usize) {
        let key = self.key(object, is_shared);
        self.objects.push(ObjectEvent { nesting, created: true, kind, key });
    }

    /// The transaction has dropped an object; its entry is removed at the commit.
    pub fn dropped(&mut self, kind: Kind, object: Oid, is_shared: bool, nesting: usize) {
        let key = match kind {
            Kind::Database => database_key(object),
            _ => self.key(object, is_shared),
        };
        self.objects.push(ObjectEvent { nesting, created: false, kind, key });
        if kind == Kind::Relation
            && let Some(slot) = self.numbers.get(&object)
        {
            self.levels.drop_relation(&mut self.slots, *slot, nesting);
        }
    }

    /// The objects whose entries the commit removes, for its log record.
    pub fn drops(&self, is_commit: bool) -> impl Iterator<Item = (Kind, Key)> {
        let events = self.objects.iter().filter(move |event| event.created != is_commit);
        events.map(|event| (event.kind, event.key))
    }

    pub fn end_subtransaction(&mut self, nesting: usize, is_commit: bool) {
        self.levels.end_subtransaction(&mut self.slots, nesting, is_commit);
        let first = self.objects.partition_point(|event| event.nesting < nesting);
        if is_commit {
            self.objects[first..].iter_mut().for_each(|event| event.nesting = nesting - 1);
            return;
        }
        for event in self.objects.drain(first..).filter(|event| event.created) {
            self.shared.drop_object(event.kind, event.key);
        }
    }

    pub fn end_transaction(&mut self, is_commit: bool) {
        self.counted[if is_commit { D::Commits } else { D::Rollbacks }] += 1;
        self.levels.end_transaction(&mut self.slots, is_commit);
        if !self.objects.is_empty() {
            for event in self.objects.drain(..).filter(|event| event.created != is_commit) {
                self.shared.drop_object(event.kind, event.key);
            }
        }
        self.snapshot.clear();
        self.end_progress();
    }

    /// What the running transaction changed in each relation, for PREPARE TRANSACTION.
    pub fn prepared_rows(&self) -> Vec<PreparedRows> {
        self.levels.prepared(&self.slots)
    }

    /// The running transaction was prepared: its changes count when it ends. Counterpart:
    /// `PostPrepare_PgStat`.
    pub fn detach_transaction(&mut self) {
        self.levels.forget(&mut self.slots);
        self.objects.clear();
        self.snapshot.clear();
        self.end_progress();
    }

    /// Counts the end of a prepared transaction, and removes the entries of dropped objects.
    pub fn finish_prepared(
        &mut self,
        rows: &[PreparedRows],
        dropped: impl Iterator<Item = (Kind, Key)>,
        is_commit: bool,
    ) {
        self.counted[if is_commit { D::Commits } else { D::Rollbacks }] += 1;
        for changed in rows {
            if let Some(slot) = self.slot(changed.relation, changed.is_shared) {
                let counts = &mut self.slots[slot as usize].counts;
                count_ended(counts, changed.rows, changed.before_truncation, is_commit);
            }
        }
        dropped.for_each(|(kind, key)| self.shared.drop_object(kind, key));
    }

    /// Counts of the session's database.
    pub fn count(&mut self, field: D, n: i64) {
        self.counted[field] += n;
    }

    /// The result of ANALYZE. Rows that the running transaction has changed are subtracted, because
    /// they count again at its end. Counterpart: `pgstat_report_analyze`.
    pub fn report_analyze(
        &mut self,
        key: Key,
        rows: (i64, i64),
        reset: bool,
        is_auto: bool,
        now: i64,
    ) {
        if !self.track_counts {
            return;
        }
        let (mut live, mut dead) = rows;
        if let Some(slot) = self.numbers.get(&key.object) {
            let slot = &self.slots[*slot as usize];
            let [inserted, updated, deleted] = self.levels.rows_of(slot);
            live -= inserted - deleted;
            dead -= updated + deleted + slot.counts.dead;
        }
        self.shared.report_analyze(key, (live.max(0), dead.max(0)), reset, is_auto, now);
    }

    pub fn report_vacuum(&mut self, key: Key, rows: (i64, i64), is_auto: bool, now: i64) {
        if self.track_counts {
            self.shared.report_vacuum(key, rows.0, rows.1, is_auto, now);
        }
    }

    /// What this session has counted for a relation and not yet flushed, with the inserted, updated
    /// and deleted rows of the running transaction added. Counterpart: `find_tabstat_entry`.
    pub fn unflushed(&self, relation: Oid) -> Option<Pending> {
        let slot = &self.slots[*self.numbers.get(&relation)? as usize];
        if !slot.queued {
            return None;
        }
        let [inserted, updated, deleted] = self.levels.rows_of(slot);
        let mut counts = slot.counts;
        counts.inserted += inserted;
        counts.updated += updated;
        counts.deleted += deleted;
        Some(counts)
    }

    pub fn unflushed_function(&self, function: Oid) -> Option<FunctionStats> {
        self.functions.get(&function).copied()
    }

    /// The session is a client's and began at this time.
    pub fn connected(&mut self, now: i64) {
        self.times = Times { counted: true, since: now, last_report: now, ..Times::default() };
        self.counted[D::Sessions] += 1;
    }

    pub fn disconnected(&mut self, end: SessionEnd) {
        if self.times.counted {
            match end {
                SessionEnd::Normal => {}
                SessionEnd::Abandoned => self.counted[D::Abandoned] += 1,
                SessionEnd::Fatal => self.counted[D::Fatal] += 1,
                SessionEnd::Killed => self.counted[D::Killed] += 1,
            }
        }
    }

    /// The session changes its state at this time.
    #[inline]
    pub fn enter(&mut self, state: SessionState, now: i64) {
        let times = &mut self.times;
        if times.state != state {
            let span = (now - times.since).max(0);
            match times.state {
                SessionState::Idle => {}
                SessionState::Active => self.counted[D::ActiveTime] += span,
                SessionState::IdleInTransaction => self.counted[D::IdleInTransactionTime] += span,
            }
            times.state = state;
            times.since = now;
        }
    }

    /// The next call of [`SessionStats::report`] flushes the counts.
    pub fn force_next_flush(&mut self) {
        self.flushes.force_next = true;
    }

    /// Counts the times in microseconds for which the session has read and written pages since it
    /// began.
    #[inline]
    pub fn count_io_times(&mut self, read_us: u64, write_us: u64) {
        let before = std::mem::replace(&mut self.io_times, [read_us, write_us]);
        if before != self.io_times {
            self.counted[D::BlockReadTime] += read_us.saturating_sub(before[0]) as i64;
            self.counted[D::BlockWriteTime] += write_us.saturating_sub(before[1]) as i64;
        }
    }

    /// Adds the counts to the shared entries if that is due, outside of transactions. Otherwise
    /// returns the time after which an idle session must call this with `force`. Counterpart:
    /// `pgstat_report_stat`.
    #[inline]
    pub fn report(&mut self, now: i64, force: bool) -> Option<Duration> {
        let Flushes { last, pending_since, force_next } = &mut self.flushes;
        let force = std::mem::take(force_next) || force;
        let is_old = *pending_since > 0 && now - *pending_since >= FLUSH_INTERVAL_MAX_US;
        if !force && !is_old && *last > 0 && now - *last < FLUSH_INTERVAL_MIN_US {
            if self.queue.is_empty() && self.functions.is_empty() {
                return None;
            }
            if *pending_since == 0 {
                *pending_since = now;
            }
            return Some(FLUSH_IDLE);
        }
        self.flush(now);
        None
    }

    /// Adds all counts to the shared entries.
    #[cold]
    pub fn flush(&mut self, now: i64) {
        self.flushes.last = now;
        self.flushes.pending_since = 0;
        if !self.database.is_valid() {
            return;
        }
        if self.times.counted {
            self.counted[D::SessionTime] += (now - self.times.last_report).max(0);
            self.times.last_report = now;
        }
        let mut database = std::mem::take(&mut self.counted);
        let mut shared = DatabaseStats::default();
        for number in self.queue.drain(..) {
            let slot = &mut self.slots[number as usize];
            slot.queued = false;
            let counts = std::mem::take(&mut slot.counts);
            if counts == Pending::default() {
                continue;
            }
            let sums = match slot.key.database.is_valid() {
                true => &mut database,
                false => &mut shared,
            };
            if slot.entry.dropped.load(Ordering::Acquire) {
                // The OID may be used again.
                self.near[slot.key.object.0 as usize % NEAR] = (Oid::INVALID, 0);
                counts.flush(&mut RelationStats::default(), sums);
            } else {
                counts.flush(&mut slot.entry.values.lock(), sums);
            }
        }
        for (function, counts) in self.functions.drain() {
            let key = Key { database: self.database, object: function };
            let entry = self.shared.functions.obtain(key);
            let mut values = entry.values.lock();
            values.0.iter_mut().zip(counts.0).for_each(|(sum, n)| *sum += n);
        }
        for (oid, sums) in [(self.database, database), (Oid::INVALID, shared)] {
            if sums != DatabaseStats::default() {
                self.shared.change_database(oid, |values| {
                    values.0.iter_mut().zip(sums.0).for_each(|(sum, n)| *sum += n);
                });
            }
        }
    }

    /// Begins to measure a call, if functions of this kind are tracked.
    #[inline]
    pub fn begin_call(&mut self, function: Oid, needs: TrackFunctions) -> Option<FunctionCall> {
        if self.track_functions < needs {
            return None;
        }
        let counts = self.functions.entry(function).or_default();
        Some(FunctionCall {
            function,
            begun: sync::wait::now(),
            total_before: counts[FunctionField::TotalTime],
            all_before: self.function_time,
        })
    }

    /// Ends a measured call. The total time of a recursive function contains each time once; the
    /// time of called functions is not part of the own time.
    /// Counterpart: `pgstat_end_function_usage`.
    pub fn end_call(&mut self, call: FunctionCall) {
        let elapsed = call.begun.elapsed().as_micros() as i64;
        let own = elapsed - (self.function_time - call.all_before);
        self.function_time = call.all_before + elapsed;
        let counts = self.functions.entry(call.function).or_default();
        counts[FunctionField::Calls] += 1;
        counts[FunctionField::TotalTime] = call.total_before + elapsed;
        counts[FunctionField::SelfTime] += own;
    }
}

impl Drop for SessionStats {
    fn drop(&mut self) {
        // The end of the session was not reported, so its times are not known.
        self.times.counted = false;
        self.end_progress();
        self.flush(self.flushes.last);
    }
}
