//! The plan cache: statements are analysed and planned once for all sessions.
//!
//! A [`Statement`] is an analysed query with its plans and their statistics. Its key consists of
//! the text (or its [`template`]), the declared parameter types and the number of the environment
//! (`lookup`) in which it was analysed. It is valid while the catalog generation of the database is
//! the one at which it was analysed. A session takes the lock of the cache when it uses a statement
//! for the first time; then it keeps a reference (`slots`, `prepared`) and validates it by one read
//! of the generation.
//!
//! INVARIANT: entries are computed from committed catalogs only. A transaction that has changed
//! catalogs has environments of its own, a new one after each change, and only its session keeps
//! statements that were analysed in them. Temporary tables are covered by the environment, which
//! includes the temporary schema.
//!
//! Choice of the plan: a named prepared statement gets the plan that it has in PostgreSQL, with
//! counts of its own (`plans::CustomPlans`): the first five executions get custom plans; after that
//! the generic plan is used, unless its cost is not below their average. For all others, whose
//! plans no client can see, the counts are those of all sessions, and a *settled* generic plan
//! (rows by their full unique key, rows of VALUES) is used at once. Parameterized literals are no
//! parameters for the client, so a statement with such parameters always gets a custom plan if its
//! execution costs far more than planning.
//!
//! Counterpart: utils/cache/plancache.c.

pub(crate) mod choice;
pub(crate) mod lookup;
pub(crate) mod plans;

use catalog::CatalogState;
use executor::Execution;
use hashbrown::HashMap;
use ids::Oid;
use lmgr::{LockMode, LockTag};
use parse::RawStmt;
use plan::query::Query;
use plans::Plans;
use std::collections::VecDeque;
use std::hash::BuildHasher;
use std::sync::Arc;
use sync::Mutex;
use wire::FieldDescription;

const SHARDS: usize = 16;
/// Maximum total length of the texts in a shard, in bytes. The trees are about fifty times as
/// large.
const SHARD_TEXT_BYTES_MAX: usize = 64 << 10;
/// Minimum number of bytes that an entry counts.
const ENTRY_TEXT_BYTES_MIN: usize = 256;
/// Maximum number of known environments.
const ENVIRONMENTS_MAX: usize = 1024;

/// An analysed statement. Immutable except for its plans.
pub(crate) struct Statement {
    /// The text that was analysed; for a template, the first text that matched it.
    pub(crate) sql: Arc<str>,
    pub(crate) raw: Arc<RawStmt>,
    pub(crate) query: Arc<Query>,
    pub(crate) param_types: Arc<[Oid]>,
    /// Result columns; `None` if it returns no rows.
    pub(crate) fields: Option<Arc<[FieldDescription]>>,
    /// The RowDescription message with all columns in text format; empty if it returns no rows.
    pub(crate) description: Box<[u8]>,
    /// The parameters are literals of the text (`analyze::parameterize`).
    pub(crate) parameterized: bool,
    /// The locks to take before planning.
    pub(crate) locks: Locks,
    generation: u64,
    environment: u64,
    pub(crate) plans: Mutex<Plans>,
}

impl Statement {
    /// True if the statement was analysed at this catalog generation. Callers pass the current
    /// generation, after they have locked its relations.
    #[inline]
    pub(crate) fn is_of_generation(&self, generation: u64) -> bool {
        self.generation == generation
    }
}

pub(crate) type Locks = Box<[(LockTag, LockMode)]>;

/// A place for the execution of a plan that has ended and can be run again.
pub(crate) type Parked = Mutex<Option<Execution>>;

/// The key of a statement.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    environment: u64,
    text: Arc<[u8]>,
    /// Declared parameter types.
    types: Arc<[Oid]>,
}

struct Entry {
    statement: Arc<Statement>,
    /// The entry was used after the last pass of the clock hand (second-chance replacement).
    used: bool,
}

#[derive(Default)]
struct Shard {
    entries: HashMap<Key, Entry, foldhash::fast::FixedState>,
    /// The keys in the order of the clock hand.
    ring: VecDeque<Key>,
    text_bytes: usize,
}

#[derive(Default)]
struct Environments {
    numbers: HashMap<Box<[u8]>, u64, foldhash::fast::FixedState>,
    last: u64,
}

/// The cache of an instance.
#[derive(Default)]
pub struct PlanCache {
    shards: [Mutex<Shard>; SHARDS],
    environments: Mutex<Environments>,
}

impl Key {
    fn weight(&self) -> usize {
        self.text.len().max(ENTRY_TEXT_BYTES_MIN)
    }
}

impl PlanCache {
    fn shard(&self, key: &Key) -> &Mutex<Shard> {
        let hash = foldhash::fast::FixedState::default().hash_one(key);
        &self.shards[(hash >> 32) as usize % SHARDS]
    }

    fn find(&self, key: &Key, generation: u64) -> Option<Arc<Statement>> {
        let mut shard = self.shard(key).lock();
        let entry = shard.entries.get_mut(key)?;
        if entry.statement.generation != generation {
            return None;
        }
        entry.used = true;
        Some(entry.statement.clone())
    }

    fn insert(&self, key: Key, statement: &Arc<Statement>) {
        let mut shard = self.shard(&key).lock();
        let entry = Entry { statement: statement.clone(), used: false };
        let weight = key.weight();
        if shard.entries.insert(key.clone(), entry).is_none() {
            shard.text_bytes += weight;
            shard.ring.push_back(key);
        }
        shard.shrink();
    }

    /// The number of an environment. Equal descriptions get equal numbers; a number is never used
    /// for another description.
    fn environment(&self, description: &[u8]) -> u64 {
        let mut known = self.environments.lock();
        if let Some(&number) = known.numbers.get(description) {
            return number;
        }
        if known.numbers.len() >= ENVIRONMENTS_MAX {
            known.numbers.clear();
        }
        known.last += 1;
        let number = known.last;
        known.numbers.insert(description.into(), number);
        number
    }

    /// A new environment number, which belongs to no description.
    fn own_environment(&self) -> u64 {
        let mut known = self.environments.lock();
        known.last += 1;
        known.last
    }

    /// Current number of entries, for tests.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.shards.iter().map(|s| s.lock().entries.len()).sum()
    }
}

impl Shard {
    /// Evicts entries until the remaining ones fit: the clock hand evicts the first entry that was
    /// not used after its last pass.
    fn shrink(&mut self) {
        while self.text_bytes > SHARD_TEXT_BYTES_MAX {
            let Some(key) = self.ring.pop_front() else { return };
            let used = self.entries.get_mut(&key).is_some_and(|e| std::mem::take(&mut e.used));
            if used {
                self.ring.push_back(key);
            } else {
                self.entries.remove(&key);
                self.text_bytes -= key.weight();
            }
        }
    }
}

/// The state for which the environment number was last determined.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct EnvironmentAt {
    state: CatalogState,
    user: Oid,
    temp: Oid,
    settings: u64,
}
