//! Settings that every statement reads. They are resolved when they change.

use crate::plancache::plans::Mode;
use catalog::conversion::Conversion;
use engine::Isolation;
use parameters::client_conversions;
use parameters::isolation_named;
use parse::Options;
use settings::SessionValues;
use std::time::Duration;

/// The settings that log statistics of statements.
const STATISTICS: [&str; 4] =
    ["log_statement_stats", "log_parser_stats", "log_planner_stats", "log_executor_stats"];

/// Resolved settings.
#[derive(Clone, Debug, Default)]
pub(crate) struct Resolved {
    pub(crate) lexer: Options,
    /// `norsu.plan_cache` is on, and the lexer settings are those that the template scanner
    /// assumes.
    pub(crate) share_texts: bool,
    /// The conversion of the client's texts; `None` if they are not converted.
    pub(crate) from_client: Option<Conversion>,
    pub(crate) plan_mode: Mode,
    /// Statements, their durations or statistics may be logged.
    pub(crate) log_statements: bool,
    /// Identifiers of queries are computed (`compute_query_id`).
    pub(crate) query_ids: bool,
    /// `pg_stat_statements.track_planning`.
    pub(crate) tracks_planning: bool,
    /// `norsu.track_rusage`.
    pub(crate) track_rusage: bool,
    /// `None` if the setting is 0.
    pub(crate) statement_timeout: Option<Duration>,
    pub(crate) idle_session_timeout: Option<Duration>,
    pub(crate) idle_in_transaction_timeout: Option<Duration>,
    /// `norsu.client_spin`.
    pub(crate) client_spin: Duration,
    pub(crate) read_only: bool,
    pub(crate) deferrable: bool,
    pub(crate) isolation: Isolation,
    /// `session_replication_role` is replica.
    pub(crate) is_replica: bool,
}

impl Resolved {
    pub(crate) fn new(store: &SessionValues) -> Resolved {
        let preloaded = settings::words(store.named("shared_preload_libraries").as_text());
        let collects = preloaded.into_iter().any(|name| name == crate::statementstats::LIBRARY);
        let lexer = Options {
            standard_conforming_strings: store.named("standard_conforming_strings").as_bool(),
            backslash_quote: store.named("backslash_quote").as_text() != "off",
            escape_string_warning: store.named("escape_string_warning").as_bool(),
            ..Options::default()
        };
        let span = |name: &str| {
            let ms = u64::try_from(store.named(name).as_int()).unwrap_or(0);
            (ms > 0).then(|| Duration::from_millis(ms))
        };
        Resolved {
            lexer,
            share_texts: lexer.standard_conforming_strings
                && lexer.backslash_quote
                && store.named("norsu.plan_cache").as_bool(),
            from_client: client_conversions(
                store.named("server_encoding").as_text(),
                store.named("client_encoding").as_text(),
            )
            .map(|(_, from_client)| from_client),
            plan_mode: Mode::named(store.named("plan_cache_mode").as_text()),
            log_statements: store.named("log_statement").as_text() != "none"
                || store.named("log_duration").as_bool()
                || store.named("log_min_duration_statement").as_int() >= 0
                || STATISTICS.iter().any(|name| store.named(name).as_bool()),
            query_ids: match store.named("compute_query_id").as_text() {
                "on" | "regress" => true,
                "auto" => collects,
                _ => false,
            },
            tracks_planning: collects && store.named("pg_stat_statements.track_planning").as_bool(),
            track_rusage: store.named("norsu.track_rusage").as_bool(),
            statement_timeout: span("statement_timeout"),
            idle_session_timeout: span("idle_session_timeout"),
            idle_in_transaction_timeout: span("idle_in_transaction_session_timeout"),
            client_spin: Duration::from_micros(
                u64::try_from(store.named("norsu.client_spin").as_int()).unwrap_or(0),
            ),
            read_only: store.named("default_transaction_read_only").as_bool(),
            deferrable: store.named("default_transaction_deferrable").as_bool(),
            isolation: isolation_named(store.named("default_transaction_isolation").as_text())
                .unwrap_or_default(),
            is_replica: store.named("session_replication_role").as_text() == "replica",
        }
    }
}
