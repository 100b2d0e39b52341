//! Statements and their times in the server's log: `log_statement`, `log_duration`,
//! `log_min_duration_statement`. Counterpart: `check_log_statement`, `check_log_duration`.

use crate::session::Session;
use parse::ast::Node;
use pgerror::{PgError, Severity, SqlState};
use std::time::Instant;

/// Which statements are logged before they run.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub(crate) enum Which {
    #[default]
    None,
    Ddl,
    Mod,
    All,
}

/// The settings.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StatementLog {
    pub(crate) which: Which,
    pub(crate) duration: bool,
    /// Milliseconds; negative is never.
    pub(crate) min_duration: i64,
}

impl Default for StatementLog {
    fn default() -> StatementLog {
        StatementLog { which: Which::None, duration: false, min_duration: -1 }
    }
}

/// A statement under way, of which something is to be logged at its end.
pub(crate) struct Timed {
    begun: Instant,
    /// The text has been logged.
    logged: bool,
}

/// The least setting of `log_statement` that logs it. Counterpart: `GetCommandLogLevel`.
fn level(node: &Node) -> Which {
    match node {
        Node::InsertStmt(_) | Node::UpdateStmt(_) | Node::DeleteStmt(_) | Node::TruncateStmt(_) => {
            Which::Mod
        }
        Node::CopyStmt(copy) if copy.is_from => Which::Mod,
        Node::SelectStmt(select) if select.into_clause.is_some() => Which::Ddl,
        Node::SelectStmt(_)
        | Node::CopyStmt(_)
        | Node::ExplainStmt(_)
        | Node::TransactionStmt(_)
        | Node::VariableSetStmt(_)
        | Node::VariableShowStmt(_)
        | Node::PrepareStmt(_)
        | Node::ExecuteStmt(_)
        | Node::DeallocateStmt(_)
        | Node::DeclareCursorStmt(_)
        | Node::FetchStmt(_)
        | Node::ClosePortalStmt(_)
        | Node::VacuumStmt(_)
        | Node::LockStmt(_)
        | Node::DiscardStmt(_)
        | Node::ConstraintsSetStmt(_)
        | Node::CheckPointStmt => Which::All,
        _ => Which::Ddl,
    }
}

fn line(message: String) -> PgError {
    PgError::new(SqlState::SUCCESSFUL_COMPLETION, message).severity(Severity::Log)
}

impl Session {
    /// A statement begins: logs it, if it is of the kind. `what` is "statement", or "execute NAME".
    pub(crate) fn begin_timed<'a>(
        &mut self,
        what: &str,
        sql: &str,
        mut nodes: impl Iterator<Item = &'a Node>,
    ) -> Option<Timed> {
        let settings = self.core.statement_log;
        let logged = match settings.which {
            Which::None => false,
            Which::All => true,
            which => nodes.any(|n| level(n) <= which),
        };
        if logged {
            self.log_line(&line(format!("{what}: {sql}")));
        }
        let timed = settings.duration || settings.min_duration >= 0;
        timed.then(|| Timed { begun: Instant::now(), logged })
    }

    /// … and has ended well.
    pub(crate) fn end_timed(&mut self, timed: Option<Timed>, what: &str, sql: &str) {
        let Some(timed) = timed else { return };
        let settings = self.core.statement_log;
        let micros = timed.begun.elapsed().as_micros();
        let text = format!("duration: {}.{:03} ms", micros / 1000, micros % 1000);
        let exceeded = settings.min_duration >= 0 && micros / 1000 >= settings.min_duration as u128;
        if exceeded && !timed.logged {
            self.log_line(&line(format!("{text}  {what}: {sql}")));
        } else if exceeded || settings.duration {
            self.log_line(&line(text));
        }
    }

    fn log_line(&self, report: &PgError) {
        self.instance.log.write(&self.core.speaker, report, None);
    }
}
