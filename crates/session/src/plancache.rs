//! The plan cache: statements are analysed and planned once for all sessions.
//!
//! A [`Statement`] is an analysed query with its plans and their statistics. Its key is the text
//! (or its [`template`]), the declared parameter types and the number of the
//! [environment](Core::environment) in which it was analysed. It is valid while the database's
//! catalog generation is the one at which it was made. A session takes the lock of the cache when
//! it uses a statement for the first time; then it keeps a reference (`slots`, `prepared`) and
//! checks it by one read of the generation.
//!
//! INVARIANT: entries are made from committed catalogs only. A transaction that has changed
//! catalogs has environments of its own, one after each change, and only its session keeps
//! statements made in them. Temporary tables are covered by the environment, which includes the
//! temporary schema.
//!
//! Choice of the plan: a *settled* generic plan (rows by their full unique key, rows of VALUES) is
//! used at once. Otherwise the first five executions get custom plans. After that the generic plan
//! is used, unless its cost is higher than their average. Lifted literals are no parameters for the
//! client, so a statement with such parameters always gets a custom plan if its execution costs far
//! more than planning.
//!
//! Counterpart: utils/cache/plancache.c.

pub(crate) mod choice;
pub(crate) mod template;

use crate::core::Core;
use crate::rows;
use crate::statementlog::Work;
use analyze::SessionLookup;
use catalog::Seen;
use choice::Plans;
use hashbrown::HashMap;
use ids::Oid;
use lmgr::{LockMode, LockTag};
use parse::RawStmt;
use pgerror::Result;
use plan::query::{CmdType, Query, RteKind};
use std::collections::VecDeque;
use std::fmt::Write;
use std::hash::BuildHasher;
use std::sync::Arc;
use sync::Mutex;
use wire::{FieldDescription, backend};

const SHARDS: usize = 16;
/// Maximum total length of the texts in a shard, in bytes. The trees are about fifty times as
/// large.
const SHARD_TEXT_BYTES_MAX: usize = 64 << 10;
/// Minimum length with which an entry is counted, in bytes.
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
    /// The parameters are lifted literals of the text.
    pub(crate) lifted: bool,
    /// The locks to take before planning.
    pub(crate) locks: Locks,
    generation: u64,
    environment: u64,
    pub(crate) plans: Mutex<Plans>,
}

impl Statement {
    /// Is the catalog generation still the one at which the statement was made? Callers ask after
    /// they have locked its relations.
    #[inline]
    pub(crate) fn is_current(&self, core: &Core) -> bool {
        self.generation == core.catalog.catalog.generation()
    }
}

pub(crate) type Locks = Box<[(LockTag, LockMode)]>;

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
    /// Used since the clock hand passed (second-chance replacement).
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

    /// A new environment number that no description has.
    fn own_environment(&self) -> u64 {
        let mut known = self.environments.lock();
        known.last += 1;
        known.last
    }

    /// Entries at present, for tests.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.shards.iter().map(|s| s.lock().entries.len()).sum()
    }
}

impl Shard {
    /// Evicts entries until the rest fits: the clock hand evicts the first entry that was not used
    /// since its last pass.
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

/// Settings that neither analysis nor planning reads. All others are part of the environment. A
/// setting that is missing in this list costs an extra cache entry; one that does not belong here
/// causes wrong plans.
const WITHOUT_EFFECT: &[&str] = &[
    "application_name",
    "backend_flush_after",
    "client_connection_check_interval",
    "client_min_messages",
    "commit_delay",
    "commit_siblings",
    "deadlock_timeout",
    "default_transaction_deferrable",
    "default_transaction_isolation",
    "default_transaction_read_only",
    "idle_in_transaction_session_timeout",
    "idle_session_timeout",
    "ignore_checksum_failure",
    "is_superuser",
    "lock_timeout",
    "log_error_verbosity",
    "log_executor_stats",
    "log_min_duration_statement",
    "log_min_error_statement",
    "log_min_messages",
    "log_parser_stats",
    "log_planner_stats",
    "log_statement",
    "log_statement_stats",
    "norsu.bottom_up_deletion",
    "norsu.client_spin",
    "norsu.plan_cache",
    "norsu.track_rusage",
    "plan_cache_mode",
    "role",
    "search_path",
    "session_authorization",
    "session_replication_role",
    "statement_timeout",
    "synchronous_commit",
    "transaction_deferrable",
    "transaction_isolation",
    "transaction_read_only",
    "wal_compression",
    "wal_consistency_checking",
    "wal_skip_threshold",
    "zero_damaged_pages",
];

/// The state for which the environment number was last determined.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct EnvironmentAt {
    seen: Seen,
    user: Oid,
    temp: Oid,
    settings: u64,
}

impl Core {
    /// The number of the environment: of all that analysis and planning read besides the text and
    /// the catalogs' rows. That is the database, the user, the schemas of the search path (the
    /// temporary one included) and the settings. While the transaction has uncommitted catalog
    /// changes, the number is unique to this session.
    #[inline]
    pub(crate) fn environment(&mut self) -> Result<u64> {
        let at = EnvironmentAt {
            seen: self.catalog.seen(),
            user: self.catalog.user,
            temp: self.catalog.temp_namespace,
            settings: self.settings_version,
        };
        if self.environment_at != at {
            self.environment = match self.catalog.overlay.is_clean() {
                true => self.find_environment()?,
                false => self.plans.own_environment(),
            };
            self.environment_at = at;
        }
        Ok(self.environment)
    }

    #[cold]
    fn find_environment(&mut self) -> Result<u64> {
        let path = self.cat().search_path()?;
        let mut text = String::new();
        let user = self.catalog.user;
        // Writing into a string cannot fail.
        let _ = write!(text, "{} {user} {path:?}", self.backend.database());
        let _ = write!(text, " {}", self.base_generation);
        let registry = &self.store.base().registry;
        for (id, value) in self.store.session_values() {
            let setting = registry.setting(id);
            if !WITHOUT_EFFECT.contains(&setting.name) {
                let _ = write!(text, "\0{}\0{}", setting.name, setting.show(value));
            }
        }
        Ok(self.plans.environment(text.as_bytes()))
    }

    /// Is the statement still valid?
    #[inline]
    pub(crate) fn is_current(&mut self, statement: &Statement) -> Result<bool> {
        Ok(statement.generation == self.catalog.catalog.generation()
            && statement.environment == self.environment()?)
    }

    /// The key of a statement's text in the present environment; `None` if statements are not
    /// shared because of uncommitted catalog changes. The text must be complete: a statement that
    /// is a part of a longer text has no key.
    pub(crate) fn statement_key(&mut self, text: &[u8], types: &[Oid]) -> Result<Option<Key>> {
        let environment = self.environment()?;
        let shared = self.catalog.overlay.is_clean();
        Ok(shared.then(|| Key { environment, text: text.into(), types: types.into() }))
    }

    /// Looks a statement up in the cache.
    pub(crate) fn find_statement(&self, key: &Option<Key>) -> Option<Arc<Statement>> {
        self.plans.find(key.as_ref()?, self.catalog.catalog.generation())
    }

    /// Analyses a query and adds it to the cache. Infers parameter types that are not given.
    pub(crate) fn make_statement(
        &mut self,
        key: Option<Key>,
        sql: &Arc<str>,
        raw: &Arc<RawStmt>,
        types: &[Oid],
        lifted: bool,
    ) -> Result<Arc<Statement>> {
        self.deep_statements |= raw.is_deep();
        // Read before any catalog: changes from here on make the statement stale.
        let generation = self.catalog.catalog.generation();
        let environment = self.environment()?;
        let mut param_types = types.to_vec();
        let analyzing = self.measure(Work::Parser);
        let mut lookup = SessionLookup::new(self);
        let query = analyze::analyze_variable(&mut lookup, raw, sql, &mut param_types)?;
        self.log_measured(analyzing, "PARSE ANALYSIS STATISTICS");
        let fields = query_fields(self, &query)?;
        let rewriting = self.measure(Work::Parser);
        let query = analyze::rewrite(&mut SessionLookup::new(self), query)?;
        self.log_measured(rewriting, "REWRITER STATISTICS");
        let mut description = Vec::new();
        if let Some(fields) = &fields {
            backend::row_description(&mut description, fields);
        }
        let mut locks = Vec::new();
        self.collect_locks(&query, &mut locks)?;
        let clean = self.catalog.overlay.is_clean();
        let statement = Arc::new(Statement {
            sql: sql.clone(),
            raw: raw.clone(),
            query: Arc::new(query),
            param_types: param_types.into(),
            fields: fields.map(Arc::from),
            description: description.into(),
            lifted,
            locks: locks.into(),
            generation,
            environment,
            plans: Mutex::new(Plans::default()),
        });
        if let Some(key) = key.filter(|_| clean) {
            self.plans.insert(key, &statement);
        }
        Ok(statement)
    }

    /// Collects the relations in the query's range tables with their lock modes. Counterpart:
    /// `AcquirePlannerLocks`.
    pub(crate) fn collect_locks(
        &mut self,
        query: &Query,
        out: &mut Vec<(LockTag, LockMode)>,
    ) -> Result<()> {
        for entry in &query.rtable {
            match &entry.kind {
                RteKind::Relation { relid, rellockmode, .. } => {
                    if let Some(lock) = self.relation_lock(*relid, *rellockmode)?
                        && !out.contains(&lock)
                    {
                        out.push(lock);
                    }
                }
                RteKind::Subquery { subquery, .. } => {
                    stdx::stack::deep(|| self.collect_locks(subquery, out))?;
                }
                _ => {}
            }
        }
        for cte in &query.cte_list {
            self.collect_locks(&cte.query, out)?;
        }
        if query.has_sub_links {
            let mut inner: Vec<&Query> = Vec::new();
            plan::walk::query_exprs(query, &mut |e| plan::walk::sub_selects(e, &mut inner));
            for query in inner {
                stdx::stack::deep(|| self.collect_locks(query, out))?;
            }
        }
        Ok(())
    }

    pub(crate) fn take_locks(&mut self, locks: &[(LockTag, LockMode)]) -> Result<()> {
        for &(tag, mode) in locks {
            self.backend.lock(tag, mode)?;
        }
        Ok(())
    }
}

/// Result columns of a query.
pub(crate) fn query_fields(
    core: &mut Core,
    query: &Query,
) -> Result<Option<Vec<FieldDescription>>> {
    match query.command_type {
        CmdType::Select => rows::describe(core, &query.target_list).map(Some),
        _ if !query.returning_list.is_empty() => {
            rows::describe(core, &query.returning_list).map(Some)
        }
        _ => Ok(None),
    }
}
