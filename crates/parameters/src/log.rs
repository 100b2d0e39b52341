//! The server's log: its levels, and the origin of a line.

use pgerror::{PgError, Severity};
use std::sync::Arc;
use sync::atomic::AtomicU64;

/// The origin of a line in the server log.
#[derive(Clone, Debug, Default)]
pub struct LogOrigin {
    pub pid: i32,
    pub user: String,
    pub database: String,
    pub application: String,
    /// Address of the client, and its port if there is one.
    pub host: String,
    pub port: Option<u16>,
    /// Microseconds since 1970.
    pub session_start: i64,
    pub kind: &'static str,
    /// Number of lines that this session has written.
    pub lines: Arc<AtomicU64>,
    /// The running command, as a command tag.
    pub command: String,
    /// The virtual transaction id: backend number and local id.
    pub vxid: Option<(u32, u32)>,
    pub xid: u32,
    /// The identifier of the running query; 0: none.
    pub query_id: i64,
    /// The session's log settings; `None` for those of the server.
    pub levels: Option<LogLevels>,
}

/// `log_min_messages`, `log_min_error_statement` and `log_error_verbosity`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LogLevels {
    pub least: Severity,
    pub least_statement: Severity,
    pub verbosity: Verbosity,
}

/// `log_error_verbosity`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verbosity {
    Terse,
    Default,
    Verbose,
}

impl LogLevels {
    /// Parses the values of the settings.
    pub fn new(least: &str, least_statement: &str, verbosity: &str) -> LogLevels {
        let severity = |name: &str| match name {
            "info" => Severity::Info,
            "notice" => Severity::Notice,
            "warning" => Severity::Warning,
            "error" => Severity::Error,
            "log" => Severity::Log,
            "fatal" => Severity::Fatal,
            "panic" => Severity::Panic,
            "debug1" => Severity::Debug,
            _ => Severity::Debug2,
        };
        LogLevels {
            least: severity(least),
            least_statement: severity(least_statement),
            verbosity: match verbosity {
                "terse" => Verbosity::Terse,
                "verbose" => Verbosity::Verbose,
                _ => Verbosity::Default,
            },
        }
    }
}

/// The server's log.
pub trait Log: Send + Sync {
    fn write(&self, origin: &LogOrigin, report: &PgError, statement: Option<&str>);

    /// True if the report would be written. Callers ask before they copy a long statement.
    fn wants(&self, _origin: &LogOrigin, _report: &PgError) -> bool {
        true
    }
}

/// The command tag of a statement, derived from its first words, for the log.
pub fn command_of(sql: &str) -> String {
    let mut words = sql.split(|c: char| !c.is_ascii_alphabetic()).filter(|w| !w.is_empty());
    let first = words.next().unwrap_or_default().to_ascii_uppercase();
    match (first.as_str(), words.next()) {
        ("CREATE" | "ALTER" | "DROP", Some(second)) => {
            format!("{first} {}", second.to_ascii_uppercase())
        }
        _ => first,
    }
}
