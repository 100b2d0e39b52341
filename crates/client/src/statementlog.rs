//! Logging of statements, their durations and resource usage: `log_statement`, `log_duration`,
//! `log_min_duration_statement`, `log_statement_stats`, `log_parser_stats`, `log_planner_stats`,
//! `log_executor_stats`. Counterpart: tcop/postgres.c (`check_log_statement`, `check_log_duration`,
//! `ShowUsage`).

use std::time::Instant;
use vfs::process::Usage;

/// The statements that are logged before they run.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub enum LoggedStatements {
    #[default]
    None,
    Ddl,
    Mod,
    All,
}

/// The settings of statement logging.
#[derive(Clone, Copy, Debug)]
pub struct StatementLog {
    pub which: LoggedStatements,
    pub duration: bool,
    /// `log_min_duration_statement` in milliseconds; negative: never.
    pub min_duration: i64,
    /// `log_statement_stats`.
    pub stats: bool,
    /// `log_parser_stats`. The following fields are named likewise.
    pub parser_stats: bool,
    pub planner_stats: bool,
    pub executor_stats: bool,
}

impl Default for StatementLog {
    fn default() -> StatementLog {
        StatementLog {
            which: LoggedStatements::None,
            duration: false,
            min_duration: -1,
            stats: false,
            parser_stats: false,
            planner_stats: false,
            executor_stats: false,
        }
    }
}

/// A running statement. When it ends, its duration is logged.
pub struct Timed {
    pub begun: Instant,
    /// The text has been logged already.
    pub logged: bool,
}

/// Work in progress. When it ends, its resource usage is logged.
pub struct Measured {
    pub begun: Instant,
    pub before: Usage,
}

/// The kinds of work that have statistics.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Work {
    /// Parsing, analysis and rewriting.
    Parser,
    Planner,
    Executor,
    /// The processing of a message.
    Message,
}
