//! What a session has counted for one relation and not yet added to the shared entry, and the
//! counts of its transaction, for each level of subtransactions.
//!
//! Attempted changes count at once. Live and dead rows are known only when the transaction ends:
//! rows that an aborted transaction inserted are dead, and rows that it deleted are live again.
//!
//! Counterpart: pgstat_relation.c.

use crate::shared::Entry;
use crate::values::{DatabaseField as D, DatabaseStats, RelationField as R, RelationStats};
use ids::Oid;
use sync::Arc;

/// Counts of a relation since the last flush.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pending {
    pub scans: i64,
    pub returned: i64,
    pub fetched: i64,
    pub inserted: i64,
    pub updated: i64,
    pub deleted: i64,
    pub hot_updated: i64,
    /// The relation was truncated or dropped by a committed transaction.
    pub(crate) truncated: bool,
    /// May be negative, as `dead`.
    pub(crate) live: i64,
    pub(crate) dead: i64,
    pub(crate) changed: i64,
    pub blocks_fetched: i64,
    pub blocks_hit: i64,
}

impl Pending {
    /// Adds the counts to the entries of the relation and of its database.
    pub(crate) fn flush(&self, relation: &mut RelationStats, database: &mut DatabaseStats) {
        let sums = [
            (R::Scans, self.scans),
            (R::Returned, self.returned),
            (R::Fetched, self.fetched),
            (R::Inserted, self.inserted),
            (R::Updated, self.updated),
            (R::Deleted, self.deleted),
            (R::HotUpdated, self.hot_updated),
        ];
        sums.iter().for_each(|(field, n)| relation[*field] += n);
        if self.truncated {
            relation[R::Live] = 0;
            relation[R::Dead] = 0;
            relation[R::InsertedSinceVacuum] = 0;
        }
        relation[R::Live] = (relation[R::Live] + self.live).max(0);
        relation[R::Dead] = (relation[R::Dead] + self.dead).max(0);
        relation[R::ChangedSinceAnalyze] += self.changed;
        relation[R::InsertedSinceVacuum] += self.inserted;
        relation[R::BlocksFetched] += self.blocks_fetched;
        relation[R::BlocksHit] += self.blocks_hit;
        let sums = [
            (D::Returned, self.returned),
            (D::Fetched, self.fetched),
            (D::Inserted, self.inserted),
            (D::Updated, self.updated),
            (D::Deleted, self.deleted),
            (D::BlocksFetched, self.blocks_fetched),
            (D::BlocksHit, self.blocks_hit),
        ];
        sums.iter().for_each(|(field, n)| database[*field] += n);
    }
}

/// A change of rows of a table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Change {
    /// So many rows were inserted.
    Insert(u32),
    Update {
        hot: bool,
    },
    Delete,
}

/// The relation of a slot of the session.
#[derive(Debug)]
pub(crate) struct Slot {
    pub(crate) key: crate::shared::Key,
    pub(crate) entry: Arc<Entry<RelationStats>>,
    pub(crate) counts: Pending,
    /// The slot is in the list of those to flush.
    pub(crate) queued: bool,
    /// One more than the number of the innermost entry in [`Levels`]; 0 if there is none.
    level: u32,
}

impl Slot {
    pub(crate) fn new(key: crate::shared::Key, entry: Arc<Entry<RelationStats>>) -> Slot {
        Slot { key, entry, counts: Pending::default(), queued: false, level: 0 }
    }
}

/// Numbers of changed rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rows {
    pub inserted: i64,
    pub updated: i64,
    pub deleted: i64,
}

/// What a prepared transaction changed in one relation. Counterpart: `TwoPhasePgStatRecord`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PreparedRows {
    pub relation: Oid,
    pub is_shared: bool,
    pub rows: Rows,
    /// The counts before the transaction truncated or dropped the relation.
    pub before_truncation: Option<Rows>,
}

/// What one (sub)transaction changed in one relation.
#[derive(Debug)]
struct Level {
    slot: u32,
    nesting: usize,
    rows: Rows,
    /// The counts before the relation was truncated or dropped in this subtransaction: they are
    /// restored if that is rolled back.
    before_truncation: Option<Rows>,
    /// As [`Slot::level`], for the enclosing levels.
    outer: u32,
}

/// The counts of the running transaction.
///
/// INVARIANT: nesting levels are ascending, because a level ends before its parent continues.
#[derive(Debug, Default)]
pub(crate) struct Levels(Vec<Level>);

impl Levels {
    fn of(&mut self, slots: &mut [Slot], slot: u32, nesting: usize) -> &mut Level {
        let head = &mut slots[slot as usize].level;
        let known = head.checked_sub(1).filter(|at| self.0[*at as usize].nesting == nesting);
        let at = known.unwrap_or_else(|| {
            let outer = std::mem::replace(head, self.0.len() as u32 + 1);
            let rows = Rows::default();
            self.0.push(Level { slot, nesting, rows, before_truncation: None, outer });
            *head - 1
        });
        &mut self.0[at as usize]
    }

    pub(crate) fn change(&mut self, slots: &mut [Slot], slot: u32, nesting: usize, what: Change) {
        if let Change::Update { hot: true } = what {
            slots[slot as usize].counts.hot_updated += 1;
        }
        let rows = &mut self.of(slots, slot, nesting).rows;
        match what {
            Change::Insert(n) => rows.inserted += i64::from(n),
            Change::Update { .. } => rows.updated += 1,
            Change::Delete => rows.deleted += 1,
        }
    }

    /// The relation is truncated. Counterpart: `pgstat_count_truncate`.
    pub(crate) fn truncate(&mut self, slots: &mut [Slot], slot: u32, nesting: usize) {
        let level = self.of(slots, slot, nesting);
        level.before_truncation.get_or_insert(level.rows);
        level.rows = Rows::default();
    }

    /// The relation is dropped: its counts are 0 for the rest of the transaction, if it has any.
    pub(crate) fn drop_relation(&mut self, slots: &mut [Slot], slot: u32, nesting: usize) {
        let head = slots[slot as usize].level;
        if head != 0 && self.0[head as usize - 1].nesting == nesting {
            let level = self.of(slots, slot, nesting);
            level.before_truncation = Some(level.rows);
            level.rows = Rows::default();
        }
    }

    /// Inserted, updated and deleted rows of the running transaction.
    pub(crate) fn rows_of(&self, slot: &Slot) -> [i64; 3] {
        let mut sums = [0; 3];
        let mut at = slot.level;
        while let Some(level) = at.checked_sub(1).and_then(|at| self.0.get(at as usize)) {
            sums[0] += level.rows.inserted;
            sums[1] += level.rows.updated;
            sums[2] += level.rows.deleted;
            at = level.outer;
        }
        sums
    }

    /// Ends the subtransaction at this level. Counterpart: `AtEOSubXact_PgStat_Relations`.
    pub(crate) fn end_subtransaction(
        &mut self,
        slots: &mut [Slot],
        nesting: usize,
        is_commit: bool,
    ) {
        let first = self.0.partition_point(|level| level.nesting < nesting);
        let mut kept = first;
        for at in first..self.0.len() {
            let slot = &mut slots[self.0[at].slot as usize];
            slot.level = self.0[at].outer;
            if !is_commit {
                let level = &mut self.0[at];
                level.rows = level.before_truncation.take().unwrap_or(level.rows);
                count_aborted(&mut slot.counts, level.rows);
                continue;
            }
            let outer = slot.level.checked_sub(1).map(|outer| outer as usize);
            let parent = outer.filter(|outer| self.0[*outer].nesting == nesting - 1);
            if let Some(parent) = parent {
                let (rows, before) = (self.0[at].rows, self.0[at].before_truncation);
                merge(&mut self.0[parent], rows, before);
                continue;
            }
            self.0[at].nesting = nesting - 1;
            slot.level = kept as u32 + 1;
            self.0.swap(kept, at);
            kept += 1;
        }
        self.0.truncate(kept);
    }

    /// Ends the transaction. Counterpart: `AtEOXact_PgStat_Relations`.
    pub(crate) fn end_transaction(&mut self, slots: &mut [Slot], is_commit: bool) {
        for level in self.0.drain(..) {
            let slot = &mut slots[level.slot as usize];
            slot.level = 0;
            count_ended(&mut slot.counts, level.rows, level.before_truncation, is_commit);
        }
    }

    /// What the transaction, which has no open subtransactions, changed.
    pub(crate) fn prepared(&self, slots: &[Slot]) -> Vec<PreparedRows> {
        let prepared = self.0.iter().map(|level| {
            let key = slots[level.slot as usize].key;
            PreparedRows {
                relation: key.object,
                is_shared: !key.database.is_valid(),
                rows: level.rows,
                before_truncation: level.before_truncation,
            }
        });
        prepared.collect()
    }

    /// Forgets the changes of the transaction, which counts them at its end.
    pub(crate) fn forget(&mut self, slots: &mut [Slot]) {
        self.0.drain(..).for_each(|level| slots[level.slot as usize].level = 0);
    }
}

/// Counts what an ended transaction changed in a relation.
pub(crate) fn count_ended(
    counts: &mut Pending,
    rows: Rows,
    before_truncation: Option<Rows>,
    is_commit: bool,
) {
    if !is_commit {
        return count_aborted(counts, before_truncation.unwrap_or(rows));
    }
    let Rows { inserted, updated, deleted } = rows;
    counts.inserted += inserted;
    counts.updated += updated;
    counts.deleted += deleted;
    // A truncation is forgotten if a later transaction changes the table before the flush, as in
    // PostgreSQL.
    counts.truncated = before_truncation.is_some();
    if counts.truncated {
        counts.live = 0;
        counts.dead = 0;
    }
    counts.live += inserted - deleted;
    counts.dead += updated + deleted;
    counts.changed += inserted + updated + deleted;
}

/// Inserted rows are dead now, and deleted ones are not changed.
fn count_aborted(counts: &mut Pending, rows: Rows) {
    counts.inserted += rows.inserted;
    counts.updated += rows.updated;
    counts.deleted += rows.deleted;
    counts.dead += rows.inserted + rows.updated;
}

/// Adds a committed subtransaction to its parent, whose own changes a truncation supersedes.
fn merge(parent: &mut Level, rows: Rows, before_truncation: Option<Rows>) {
    match before_truncation {
        Some(_) => {
            parent.before_truncation.get_or_insert(parent.rows);
            parent.rows = rows;
        }
        None => {
            parent.rows.inserted += rows.inserted;
            parent.rows.updated += rows.updated;
            parent.rows.deleted += rows.deleted;
        }
    }
}
