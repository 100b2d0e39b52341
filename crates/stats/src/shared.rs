//! The entries that all sessions share.
//!
//! LOCK ORDER: a map before an entry; never two maps or two entries at once.
//!
//! Counterpart: pgstat_shmem.c, the shared part of pgstat_relation.c and pgstat_database.c.

use crate::values::{
    DatabaseField, DatabaseStats, FunctionStats, RelationField as R, RelationStats,
};
use hashbrown::HashMap;
use ids::Oid;
use sync::atomic::{AtomicBool, Ordering};
use sync::{Arc, Mutex, RwLock};

/// The object of an entry. The database is 0 for shared relations.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Key {
    pub database: Oid,
    pub object: Oid,
}

/// The kind of an entry, by PostgreSQL's numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(i32)]
pub enum Kind {
    Database = 1,
    Relation = 2,
    Function = 3,
    ReplicationSlot = 4,
    Subscription = 5,
}

/// One entry.
#[derive(Debug, Default)]
pub(crate) struct Entry<T> {
    pub(crate) values: Mutex<T>,
    /// The object was dropped. Sessions that still refer to the entry discard what they counted.
    pub(crate) dropped: AtomicBool,
}

/// The entries of one kind.
#[derive(Debug)]
pub(crate) struct Entries<T>(RwLock<HashMap<Key, Arc<Entry<T>>>>);

impl<T> Default for Entries<T> {
    fn default() -> Self {
        Entries(RwLock::new(HashMap::new()))
    }
}

impl<T: Copy + Default> Entries<T> {
    pub(crate) fn find(&self, key: Key) -> Option<Arc<Entry<T>>> {
        self.0.read().get(&key).cloned()
    }

    pub(crate) fn obtain(&self, key: Key) -> Arc<Entry<T>> {
        if let Some(entry) = self.find(key) {
            return entry;
        }
        self.0.write().entry(key).or_insert_with(|| Arc::new(Entry::new(T::default()))).clone()
    }

    pub(crate) fn get(&self, key: Key) -> Option<T> {
        self.find(key).map(|entry| *entry.values.lock())
    }

    /// Changes the entry if it exists.
    pub(crate) fn change(&self, key: Key, change: impl FnOnce(&mut T)) {
        if let Some(entry) = self.find(key) {
            change(&mut entry.values.lock());
        }
    }

    pub(crate) fn set(&self, key: Key, values: T) {
        self.0.write().insert(key, Arc::new(Entry::new(values)));
    }

    fn drop_entry(&self, key: Key) {
        if let Some(entry) = self.0.write().remove(&key) {
            entry.dropped.store(true, Ordering::Release);
        }
    }

    fn drop_database(&self, database: Oid) {
        self.0.write().retain(|key, entry| {
            if key.database == database {
                entry.dropped.store(true, Ordering::Release);
            }
            key.database != database
        });
    }

    /// A copy of all entries, without a lock while they are used.
    pub(crate) fn all(&self) -> Vec<(Key, T)> {
        let entries: Vec<_> = self.0.read().iter().map(|(k, e)| (*k, e.clone())).collect();
        let mut all: Vec<_> = entries.into_iter().map(|(k, e)| (k, *e.values.lock())).collect();
        all.sort_unstable_by_key(|(key, _)| *key);
        all
    }

    /// Sets the counters of the entries for which `which` holds to zero.
    fn reset(&self, which: impl Fn(Key) -> bool) {
        let entries: Vec<_> =
            self.0.read().iter().filter(|(k, _)| which(**k)).map(|(_, e)| e.clone()).collect();
        entries.iter().for_each(|entry| *entry.values.lock() = T::default());
    }
}

impl<T> Entry<T> {
    fn new(values: T) -> Entry<T> {
        Entry { values: Mutex::new(values), dropped: AtomicBool::new(false) }
    }
}

/// The statistics of an instance.
#[derive(Debug, Default)]
pub struct Stats {
    pub(crate) relations: Entries<RelationStats>,
    pub(crate) databases: Entries<DatabaseStats>,
    pub(crate) functions: Entries<FunctionStats>,
    /// The counters that do not belong to an object, as the statistics file had them.
    pub fixed: Mutex<crate::file::Fixed>,
    pub(crate) commands: crate::progress::Commands,
}

/// The key of a database's own entry.
pub(crate) fn database_key(database: Oid) -> Key {
    Key { database, object: Oid::INVALID }
}

impl Stats {
    pub fn relation(&self, key: Key) -> Option<RelationStats> {
        self.relations.get(key)
    }

    pub fn database(&self, database: Oid) -> Option<DatabaseStats> {
        self.databases.get(database_key(database))
    }

    pub fn function(&self, key: Key) -> Option<FunctionStats> {
        self.functions.get(key)
    }

    /// Changes the counters of a database.
    pub fn change_database(&self, database: Oid, change: impl FnOnce(&mut DatabaseStats)) {
        change(&mut self.databases.obtain(database_key(database)).values.lock());
    }

    /// The result of VACUUM. Counterpart: `pgstat_report_vacuum`.
    pub fn report_vacuum(&self, key: Key, live: i64, dead: i64, auto: bool, now: i64) {
        let entry = self.relations.obtain(key);
        let mut values = entry.values.lock();
        values[R::Live] = live;
        values[R::Dead] = dead;
        values[R::InsertedSinceVacuum] = 0;
        let (time, count) = match auto {
            true => (R::AutovacuumTime, R::AutovacuumCount),
            false => (R::VacuumTime, R::VacuumCount),
        };
        values[time] = now;
        values[count] += 1;
    }

    /// The result of ANALYZE; `reset` if it concerned all columns.
    /// Counterpart: `pgstat_report_analyze`.
    pub fn report_analyze(
        &self,
        key: Key,
        (live, dead): (i64, i64),
        reset: bool,
        auto: bool,
        now: i64,
    ) {
        let entry = self.relations.obtain(key);
        let mut values = entry.values.lock();
        values[R::Live] = live;
        values[R::Dead] = dead;
        if reset {
            values[R::ChangedSinceAnalyze] = 0;
        }
        let (time, count) = match auto {
            true => (R::AutoanalyzeTime, R::AutoanalyzeCount),
            false => (R::AnalyzeTime, R::AnalyzeCount),
        };
        values[time] = now;
        values[count] += 1;
    }

    /// Removes the entry of an object that was dropped; of a database also those of its objects.
    pub fn drop_object(&self, kind: Kind, key: Key) {
        match kind {
            Kind::Relation => self.relations.drop_entry(key),
            Kind::Function => self.functions.drop_entry(key),
            Kind::Database => {
                self.databases.drop_entry(database_key(key.database));
                self.relations.drop_database(key.database);
                self.functions.drop_database(key.database);
            }
            Kind::ReplicationSlot | Kind::Subscription => {}
        }
    }

    pub fn exists(&self, kind: Kind, key: Key) -> bool {
        match kind {
            Kind::Relation => self.relations.find(key).is_some(),
            Kind::Function => self.functions.find(key).is_some(),
            Kind::Database => self.databases.find(key).is_some(),
            Kind::ReplicationSlot | Kind::Subscription => false,
        }
    }

    /// Resets one object; the time of the last reset of its database changes.
    /// Counterpart: `pgstat_reset`.
    pub fn reset_object(&self, kind: Kind, key: Key, now: i64) {
        match kind {
            Kind::Relation => self.relations.change(key, |v| *v = RelationStats::default()),
            Kind::Function => self.functions.change(key, |v| *v = FunctionStats::default()),
            _ => return,
        }
        self.change_database(key.database, |db| db[DatabaseField::ResetTime] = now);
    }

    /// Resets all objects of a database, and the database's own counters.
    /// Counterpart: `pgstat_reset_counters`.
    pub fn reset_database(&self, database: Oid, now: i64) {
        self.relations.reset(|key| key.database == database);
        self.functions.reset(|key| key.database == database);
        self.databases.change(database_key(database), |db| {
            *db = DatabaseStats::default();
            db[DatabaseField::ResetTime] = now;
        });
    }

    /// The databases that have an entry, with their counters.
    pub fn all_databases(&self) -> Vec<(Oid, DatabaseStats)> {
        self.databases.all().into_iter().map(|(key, db)| (key.database, db)).collect()
    }

    /// Removes all entries.
    pub fn clear(&self) {
        self.relations.0.write().clear();
        self.databases.0.write().clear();
        self.functions.0.write().clear();
        *self.fixed.lock() = crate::file::Fixed::default();
    }
}
