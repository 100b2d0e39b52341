//! The entries of all statements. When there are too many, those that are used least are removed.
//!
//! Counterpart: `pgss_store`, `entry_alloc`, `entry_dealloc`, `entry_reset`.

use crate::counters::{Counters, Phase, Usage};
use hashbrown::HashMap;
use ids::Oid;
use plan::query::Identity;
use std::sync::{OnceLock, Weak};
use std::time::Duration;
use sync::atomic::{AtomicBool, Ordering};
use sync::{Arc, Mutex};

/// Sets of counters of an entry: sessions share them by their number.
pub(crate) const STRIPES: usize = 8;
/// By this factor the weight of earlier calls decreases when entries are removed.
const DECAY: f64 = 0.99;
/// Entries that are removed at once: a part of all, and the least number.
const REMOVED_PERCENT: usize = 5;
const REMOVED_MIN: usize = 10;

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Key {
    pub user: Oid,
    pub database: Oid,
    pub id: i64,
    /// The statement did not run inside another one.
    pub toplevel: bool,
}

/// A statement with its counters.
pub struct Entry {
    pub key: Key,
    pub identity: Arc<Identity>,
    /// False after the entry has been removed from the registry.
    live: AtomicBool,
    stripes: [OnceLock<Box<Mutex<Counters>>>; STRIPES],
    registry: Weak<Registry>,
}

impl Entry {
    pub(crate) fn is_live(&self) -> bool {
        self.live.load(Ordering::Acquire)
    }

    fn stripe(&self, n: usize) -> &Mutex<Counters> {
        self.stripes[n % STRIPES].get_or_init(Box::default)
    }

    /// Counts a planning or an execution; in a new entry if this one has been removed while the
    /// statement ran. That one has the original text, as in PostgreSQL.
    pub(crate) fn count(
        &self,
        stripe: usize,
        phase: Phase,
        spent: Duration,
        rows: u64,
        usage: &Usage,
    ) {
        if !self.is_live()
            && let Some(registry) = self.registry.upgrade()
        {
            let (id, text) = (self.key.id, &self.identity.original);
            let identity = Identity { id, text: text.clone(), original: text.clone() };
            let entry = registry.entry(self.key, &Arc::new(identity));
            return entry.stripe(stripe).lock().add(phase, spent, rows, usage);
        }
        self.stripe(stripe).lock().add(phase, spent, rows, usage);
    }

    /// The sum of all stripes.
    pub fn counters(&self) -> Counters {
        let mut sum = Counters::default();
        for stripe in self.stripes.iter().filter_map(|s| s.get()) {
            sum.merge(&stripe.lock());
        }
        sum
    }

    fn decay(&self) {
        for stripe in self.stripes.iter().filter_map(|s| s.get()) {
            stripe.lock().weight *= DECAY;
        }
    }
}

/// The entries that a reset concerns; 0 stands for all.
#[derive(Clone, Copy, Default)]
pub struct Selection {
    pub user: Oid,
    pub database: Oid,
    pub id: i64,
}

impl Selection {
    fn has(&self, key: &Key) -> bool {
        (!self.user.is_valid() || self.user == key.user)
            && (!self.database.is_valid() || self.database == key.database)
            && (self.id == 0 || self.id == key.id)
    }
}

#[derive(Default)]
struct Table {
    entries: HashMap<Key, Arc<Entry>>,
    deallocations: u64,
    /// In microseconds since 2000-01-01.
    reset_at: i64,
}

/// The entries of an instance.
pub struct Registry {
    table: Mutex<Table>,
    /// `pg_stat_statements.max`.
    entries_max: usize,
    own: Weak<Registry>,
}

impl Registry {
    /// `now`: in microseconds since 2000-01-01.
    pub fn new(entries_max: usize, now: i64) -> Arc<Registry> {
        Arc::new_cyclic(|own| Registry {
            table: Mutex::new(Table { reset_at: now, ..Table::default() }),
            entries_max,
            own: own.clone(),
        })
    }

    fn new_entry(&self, key: Key, identity: &Arc<Identity>) -> Arc<Entry> {
        Arc::new(Entry {
            key,
            identity: identity.clone(),
            live: AtomicBool::new(true),
            stripes: Default::default(),
            registry: self.own.clone(),
        })
    }

    /// The entry with this key; a new one with this identity if there is none.
    pub(crate) fn entry(&self, key: Key, identity: &Arc<Identity>) -> Arc<Entry> {
        let mut table = self.table.lock();
        if let Some(entry) = table.entries.get(&key) {
            return entry.clone();
        }
        while table.entries.len() >= self.entries_max {
            table.remove_least_used();
        }
        let entry = self.new_entry(key, identity);
        table.entries.insert(key, entry.clone());
        entry
    }

    /// All entries.
    pub fn entries(&self) -> Vec<Arc<Entry>> {
        self.table.lock().entries.values().cloned().collect()
    }

    /// How often entries were removed because there were too many, and the time of the last reset
    /// of all in microseconds since 2000-01-01.
    pub fn info(&self) -> (u64, i64) {
        let table = self.table.lock();
        (table.deallocations, table.reset_at)
    }

    /// Removes entries.
    pub fn reset(&self, selection: Selection, now: i64) {
        let mut table = self.table.lock();
        table.entries.retain(|key, entry| {
            let removed = selection.has(key);
            if removed {
                entry.live.store(false, Ordering::Release);
            }
            !removed
        });
        if table.entries.is_empty() {
            (table.deallocations, table.reset_at) = (0, now);
        }
    }

    /// Puts entries of an earlier run back.
    pub(crate) fn restore(
        &self,
        entries: Vec<(Key, Arc<Identity>, Counters)>,
        (deallocations, reset_at): (u64, i64),
    ) {
        let mut table = self.table.lock();
        (table.deallocations, table.reset_at) = (deallocations, reset_at);
        for (key, identity, counters) in entries.into_iter().take(self.entries_max) {
            let entry = self.new_entry(key, &identity);
            *entry.stripe(0).lock() = counters;
            table.entries.insert(key, entry);
        }
    }
}

impl Table {
    fn remove_least_used(&mut self) {
        let mut by_weight: Vec<(f64, Key)> = Vec::with_capacity(self.entries.len());
        for (key, entry) in &self.entries {
            by_weight.push((entry.counters().weight, *key));
            entry.decay();
        }
        by_weight.sort_by(|a, b| a.0.total_cmp(&b.0));
        let count = (by_weight.len() * REMOVED_PERCENT / 100).max(REMOVED_MIN);
        for (_, key) in by_weight.into_iter().take(count) {
            if let Some(entry) = self.entries.remove(&key) {
                entry.live.store(false, Ordering::Release);
            }
        }
        self.deallocations += 1;
    }
}
