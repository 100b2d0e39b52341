//! The identifiers and statistics of the session's statements.
//!
//! Counterpart: the hooks of pg_stat_statements.c.

use crate::instance::Instance;
use crate::state::State;
use parse::RawStmt;
use parse::ast::Node;
use pgerror::Result;
use plan::PlannedStmt;
use plan::query::Query;
use statements::{Collector, Mark, Settings, Track, Usage};
use std::sync::Arc;

/// The library whose name in `shared_preload_libraries` turns the statistics on.
pub(crate) const LIBRARY: &str = "pg_stat_statements";

impl State {
    /// Begins to collect statistics, if the server does.
    pub(crate) fn collect_statements(&mut self, instance: &Instance) {
        let Some(registry) = instance.statements() else { return };
        let session = self.backend_pid as usize;
        let database = self.backend.database();
        self.activity.statements = Some(Collector::new(registry.clone(), database, session));
        self.apply_statement_settings();
    }

    /// Applies the settings of the extension.
    pub(crate) fn apply_statement_settings(&mut self) {
        let Some(collector) = &mut self.activity.statements else { return };
        let on = |name: &str| self.store.named(name).as_bool();
        collector.settings = Settings {
            track: match self.store.named("pg_stat_statements.track").as_text() {
                "none" => Track::None,
                "all" => Track::All,
                _ => Track::Top,
            },
            utility: on("pg_stat_statements.track_utility"),
            planning: on("pg_stat_statements.track_planning"),
        };
    }

    /// The statistics, at the present depth of calls.
    #[inline]
    pub(crate) fn statements(&mut self) -> Option<&mut Collector> {
        let (user, depth) = (self.catalog.user, self.calls.depth);
        Some(self.activity.statements.as_mut()?.at(user, depth))
    }

    fn usage(&self) -> Usage {
        Usage { buffers: self.backend.buffer_usage(), wal: self.backend.wal_usage() }
    }

    /// Gives an analysed query its identity, if identifiers are computed. With `parameterized`, its
    /// parameters are literals of the text.
    pub(crate) fn identify_query(&mut self, query: &mut Query, sql: &str, parameterized: bool) {
        if self.values.resolved.query_ids {
            query.source.identity = Some(statements::identify(query, sql, parameterized));
        }
    }

    /// Analyses a query that has no identifier: one of the server itself.
    pub(crate) fn unidentified<T>(&mut self, analyse: impl FnOnce(&mut State) -> T) -> T {
        let identified = std::mem::take(&mut self.values.resolved.query_ids);
        let result = analyse(self);
        self.values.resolved.query_ids = identified;
        result
    }

    /// Shows the identifier of a query of the client.
    #[inline]
    pub(crate) fn show_identity(&self, plan: &PlannedStmt) {
        if let Some(identity) = &plan.source.identity
            && self.calls.depth == 0
        {
            self.show_activity(|shown| shown.query_id = identity.id);
        }
    }

    /// The start of a planning that is counted.
    pub(crate) fn begin_planning(&mut self) -> Option<Mark> {
        if !self.values.resolved.tracks_planning {
            return None;
        }
        let counts = self.statements().is_some_and(|s| s.counts_planning());
        counts.then(|| Mark::new(self.usage()))
    }

    pub(crate) fn end_planning(&mut self, mark: Option<Mark>, query: &Query) {
        let (Some(mark), Some(identity)) = (mark, &query.source.identity) else { return };
        let usage = self.usage();
        if let Some(statements) = self.statements() {
            statements.planned(identity, &mark, usage);
        }
    }

    /// The start of a utility statement that is counted.
    pub(crate) fn begin_utility(&mut self, raw: &RawStmt) -> Option<Mark> {
        self.activity.statements.as_ref()?;
        // An EXECUTE is counted as the statement that it executes.
        let excluded = matches!(
            raw.stmt,
            Node::ExecuteStmt(_) | Node::PrepareStmt(_) | Node::DeallocateStmt(_)
        );
        if excluded || !self.values.resolved.query_ids {
            return None;
        }
        let usage = self.usage();
        self.statements()?.begin_utility(usage)
    }

    pub(crate) fn end_utility(
        &mut self,
        mark: Option<Mark>,
        (raw, sql): (&RawStmt, &Arc<str>),
        tag: &Result<String>,
    ) {
        let Some(mark) = mark else { return };
        let (usage, rows) = (self.usage(), tag.as_ref().ok().map(|tag| rows_of(tag)));
        if let Some(statements) = self.statements() {
            let identity = || statements::identify_utility(sql, raw.location, raw.len);
            statements.end_utility(&mark, usage, rows, identity);
        }
    }
}

/// The number of rows in a command tag, of the commands whose rows are counted.
fn rows_of(tag: &str) -> u64 {
    let counted = ["COPY ", "FETCH ", "SELECT "];
    let count = counted.iter().find_map(|name| tag.strip_prefix(name));
    count.and_then(|count| count.parse().ok()).unwrap_or(0)
}
