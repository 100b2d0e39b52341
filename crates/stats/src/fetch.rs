//! Reads of the shared entries by a session, with the consistency that `stats_fetch_consistency`
//! requires within a transaction. Counterpart: `pgstat_fetch_entry`, `pgstat_build_snapshot`.

use crate::session::SessionStats;
use crate::shared::{Key, database_key};
use crate::values::{DatabaseStats, FunctionStats, RelationStats};
use hashbrown::HashMap;
use ids::Oid;

/// `stats_fetch_consistency`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Consistency {
    None,
    /// An object's counters stay the same in a transaction after the first access.
    #[default]
    Cache,
    /// The first access copies all counters.
    Snapshot,
}

type Kept<T> = HashMap<Key, Option<T>>;

/// The counters that the running transaction has read.
#[derive(Debug, Default)]
pub(crate) struct Snapshot {
    consistency: Consistency,
    relations: Kept<RelationStats>,
    databases: Kept<DatabaseStats>,
    functions: Kept<FunctionStats>,
    /// All counters were copied at this time.
    taken: Option<i64>,
}

impl Snapshot {
    #[inline]
    pub(crate) fn clear(&mut self) {
        if self.taken.is_some()
            || !self.relations.is_empty()
            || !self.databases.is_empty()
            || !self.functions.is_empty()
        {
            *self = Snapshot { consistency: self.consistency, ..Snapshot::default() };
        }
    }
}

/// The value of an entry, from the kept ones or from the shared entries.
fn fetch<T: Copy>(
    kept: &mut Kept<T>,
    (consistency, is_taken): (Consistency, bool),
    key: Key,
    read: impl FnOnce(Key) -> Option<T>,
) -> Option<T> {
    match consistency {
        Consistency::None => read(key),
        Consistency::Cache => *kept.entry(key).or_insert_with(|| read(key)),
        Consistency::Snapshot if is_taken => kept.get(&key).copied().flatten(),
        Consistency::Snapshot => read(key),
    }
}

impl SessionStats {
    pub fn set_consistency(&mut self, consistency: Consistency) {
        if self.snapshot.consistency != consistency {
            self.snapshot = Snapshot { consistency, ..Snapshot::default() };
        }
    }

    /// Forgets what the transaction has read.
    pub fn clear_snapshot(&mut self) {
        self.snapshot.clear();
    }

    /// The time at which all counters were copied.
    pub fn snapshot_time(&self) -> Option<i64> {
        self.snapshot.taken
    }

    fn prepare(&mut self, now: &dyn Fn() -> i64) -> (Consistency, bool) {
        let snapshot = &mut self.snapshot;
        if snapshot.consistency == Consistency::Snapshot && snapshot.taken.is_none() {
            let own = |key: &Key| !key.database.is_valid() || key.database == self.database();
            let shared = self.shared().clone();
            let relations = shared.relations.all().into_iter().filter(|(key, _)| own(key));
            let functions = shared.functions.all().into_iter().filter(|(key, _)| own(key));
            let databases = shared.databases.all().into_iter();
            let new = Snapshot {
                consistency: Consistency::Snapshot,
                relations: relations.map(|(key, v)| (key, Some(v))).collect(),
                functions: functions.map(|(key, v)| (key, Some(v))).collect(),
                databases: databases.map(|(key, v)| (key, Some(v))).collect(),
                taken: Some(now()),
            };
            self.snapshot = new;
        }
        (self.snapshot.consistency, self.snapshot.taken.is_some())
    }

    /// The counters of a relation of the session's database, or of a shared one.
    pub fn fetch_relation(&mut self, oid: Oid, now: &dyn Fn() -> i64) -> Option<RelationStats> {
        let how = self.prepare(now);
        let shared = self.shared().clone();
        let keys = [self.key(oid, false), self.key(oid, true)];
        keys.iter().find_map(|key| {
            fetch(&mut self.snapshot.relations, how, *key, |key| shared.relation(key))
        })
    }

    pub fn fetch_database(&mut self, oid: Oid, now: &dyn Fn() -> i64) -> Option<DatabaseStats> {
        let how = self.prepare(now);
        let shared = self.shared().clone();
        fetch(&mut self.snapshot.databases, how, database_key(oid), |_| shared.database(oid))
    }

    pub fn fetch_function(&mut self, oid: Oid, now: &dyn Fn() -> i64) -> Option<FunctionStats> {
        let how = self.prepare(now);
        let shared = self.shared().clone();
        let key = self.key(oid, false);
        fetch(&mut self.snapshot.functions, how, key, |key| shared.function(key))
    }
}
