//! Finds statements in the cache, and creates them.

use super::plans::Plans;
use super::{EnvironmentAt, Key, Statement};
use crate::state::State;
use analyze::SessionLookup;
use client::rows;
use client::statementlog::Work;
use ids::Oid;
use lmgr::{LockMode, LockTag};
use parse::RawStmt;
use pgerror::Result;
use plan::query::{CmdType, Query, RteKind};
use std::fmt::Write;
use std::sync::Arc;
use sync::Mutex;
use wire::{FieldDescription, backend};

/// Settings that neither analysis nor planning reads. All other settings are part of the
/// environment. A setting that is missing in this list costs an additional cache entry; a setting
/// that should not be in the list causes wrong plans.
const WITHOUT_EFFECT: &[&str] = &[
    "application_name",
    "backend_flush_after",
    "client_connection_check_interval",
    "client_encoding",
    "client_min_messages",
    "commit_delay",
    "commit_siblings",
    "deadlock_timeout",
    "default_transaction_deferrable",
    "default_transaction_isolation",
    "default_transaction_read_only",
    "gin_pending_list_limit",
    "idle_in_transaction_session_timeout",
    "idle_session_timeout",
    "ignore_checksum_failure",
    "is_superuser",
    "lo_compat_privileges",
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
    "pg_stat_statements.track",
    "pg_stat_statements.track_planning",
    "pg_stat_statements.track_utility",
    "plan_cache_mode",
    "role",
    "search_path",
    "session_authorization",
    "session_replication_role",
    "statement_timeout",
    "stats_fetch_consistency",
    "synchronous_commit",
    "track_counts",
    "track_functions",
    "transaction_deferrable",
    "transaction_isolation",
    "transaction_read_only",
    "wal_compression",
    "wal_consistency_checking",
    "wal_skip_threshold",
    "zero_damaged_pages",
];

impl State {
    /// The number of the environment, which consists of everything that analysis and planning read
    /// besides the text and the rows of catalogs: the database, the user, the schemas of the search
    /// path (including the temporary one) and the settings. While the transaction has uncommitted
    /// catalog changes, the number is unique to this session.
    #[inline]
    pub(crate) fn environment(&mut self) -> Result<u64> {
        let at = EnvironmentAt {
            state: self.catalog.catalog_state(),
            user: self.catalog.user,
            temp: self.catalog.temp_namespace,
            settings: self.environment.settings_version,
        };
        if self.environment.at != at {
            self.environment.number = match self.catalog.overlay.is_clean() {
                true => self.find_environment()?,
                false => self.plans.own_environment(),
            };
            self.environment.at = at;
        }
        Ok(self.environment.number)
    }

    #[cold]
    fn find_environment(&mut self) -> Result<u64> {
        let path = self.cat().search_path()?;
        let mut text = String::new();
        let user = self.catalog.user;
        // Writing to a string cannot fail.
        let _ = write!(text, "{} {user} {path:?}", self.backend.database());
        let _ = write!(text, " {}", self.environment.base_generation);
        let registry = &self.store.base().registry;
        for (id, value) in self.store.session_values() {
            let setting = registry.setting(id);
            if !WITHOUT_EFFECT.contains(&setting.name) {
                let _ = write!(text, "\0{}\0{}", setting.name, setting.show(value));
            }
        }
        Ok(self.plans.environment(text.as_bytes()))
    }

    /// True if the catalog generation is still the one at which the statement was analysed. Callers
    /// ask after they have locked its relations.
    #[inline]
    pub(crate) fn is_of_current_generation(&self, statement: &Statement) -> bool {
        statement.is_of_generation(self.catalog.catalog.generation())
    }

    /// True if the statement is still valid.
    #[inline]
    pub(crate) fn is_current(&mut self, statement: &Statement) -> Result<bool> {
        Ok(statement.generation == self.catalog.catalog.generation()
            && statement.environment == self.environment()?)
    }

    /// The key of a statement's text in the current environment; `None` if statements are not
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

    /// Analyses a query and adds it to the cache. Infers the parameter types that are not declared.
    pub(crate) fn analyze_and_cache(
        &mut self,
        key: Option<Key>,
        sql: &Arc<str>,
        raw: &Arc<RawStmt>,
        types: &[Oid],
        parameterized: bool,
    ) -> Result<Arc<Statement>> {
        self.deep_statements |= raw.is_deep();
        // Read before any catalog: catalog changes after this point make the statement stale.
        let generation = self.catalog.catalog.generation();
        let environment = self.environment()?;
        let mut param_types = types.to_vec();
        let analyzing = self.measure(Work::Parser);
        let mut lookup = SessionLookup::new(self);
        let mut query = analyze::analyze_variable(&mut lookup, raw, sql, &mut param_types)?;
        self.identify_query(&mut query, sql, parameterized);
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
            parameterized,
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

    /// An analysed and rewritten query as a statement that is not in the cache.
    pub(crate) fn keep_analysed(
        &mut self,
        (sql, raw): (Arc<str>, Arc<RawStmt>),
        query: Query,
        param_types: &[Oid],
    ) -> Result<Arc<Statement>> {
        self.deep_statements |= raw.is_deep();
        let generation = self.catalog.catalog.generation();
        let environment = self.environment()?;
        let fields = query_fields(self, &query)?;
        let mut locks = Vec::new();
        self.collect_locks(&query, &mut locks)?;
        Ok(Arc::new(Statement {
            sql,
            raw,
            query: Arc::new(query),
            param_types: param_types.into(),
            fields: fields.map(Arc::from),
            description: Box::new([]),
            parameterized: false,
            locks: locks.into(),
            generation,
            environment,
            plans: Mutex::new(Plans::default()),
        }))
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
    state: &mut State,
    query: &Query,
) -> Result<Option<Vec<FieldDescription>>> {
    match query.command_type {
        CmdType::Select => rows::describe(state, &query.target_list).map(Some),
        _ if !query.returning_list.is_empty() => {
            rows::describe(state, &query.returning_list).map(Some)
        }
        _ => Ok(None),
    }
}
