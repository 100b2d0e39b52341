//! Writes statements, durations and statistics to the server log.

use crate::session::Session;
use crate::state::State;
use client::statementlog::{LoggedStatements, Measured, Timed, Work};
use parse::ast::Node;
use pgerror::{PgError, Severity, SqlState};
use std::time::{Duration, Instant};
use vfs::process::{self, Usage};

impl State {
    /// Starts a measurement, if statistics of this kind of work are enabled.
    #[inline]
    pub(crate) fn measure(&self, work: Work) -> Option<Measured> {
        if !self.values.resolved.log_statements {
            return None;
        }
        let settings = &self.activity.log;
        let wanted = match work {
            Work::Parser => settings.parser_stats,
            Work::Planner => settings.planner_stats,
            Work::Executor => settings.executor_stats,
            Work::Message => settings.stats,
        };
        let begun = || Measured { begun: Instant::now(), before: process::thread_usage() };
        wanted.then(begun)
    }

    /// Writes a line of the session to the server log.
    pub(crate) fn log(&self, message: &str) {
        if let Some((server, handle)) = &self.server {
            let statement = handle.activity.running();
            server.log.write(
                &self.activity.client,
                &line(message.to_owned()),
                statement.as_deref(),
            );
        }
    }

    /// Logs the statistics of work that ended without an error. Counterpart: `ShowUsage`.
    pub(crate) fn log_measured(&self, measured: Option<Measured>, title: &str) {
        let (Some(Measured { begun, before }), Some((server, _))) = (measured, &self.server) else {
            return;
        };
        let report = line(title.to_owned());
        let report =
            report.detail(usage_text(&self.activity.usage_before, &before, begun.elapsed()));
        server.log.write(&self.activity.client, &report, self.activity.statement.as_deref());
    }
}

/// The most restrictive value of `log_statement` with which the statement is logged. Counterpart:
/// `GetCommandLogLevel`.
fn level(node: &Node) -> LoggedStatements {
    match node {
        Node::InsertStmt(_) | Node::UpdateStmt(_) | Node::DeleteStmt(_) | Node::TruncateStmt(_) => {
            LoggedStatements::Mod
        }
        Node::CopyStmt(copy) if copy.is_from => LoggedStatements::Mod,
        Node::SelectStmt(select) if select.into_clause.is_some() => LoggedStatements::Ddl,
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
        | Node::CheckPointStmt => LoggedStatements::All,
        _ => LoggedStatements::Ddl,
    }
}

fn line(message: String) -> PgError {
    PgError::new(SqlState::SUCCESSFUL_COMPLETION, message).severity(Severity::Log)
}

/// Resource usage since `before`, in the format of PostgreSQL's `ShowUsage`. The totals are since
/// the start of the session.
fn usage_text(session: &Usage, before: &Usage, elapsed: Duration) -> String {
    let now = process::thread_usage();
    let seconds = |d: Duration| format!("{}.{:06}", d.as_secs(), d.subsec_micros());
    let time =
        |get: fn(&Usage) -> Duration, from: &Usage| seconds(get(&now).saturating_sub(get(from)));
    let since = |get: fn(&Usage) -> u64| get(&now).saturating_sub(get(before));
    let total = |get: fn(&Usage) -> u64| get(&now).saturating_sub(get(session));
    format!(
        "! system usage stats:\n\
         !\t{} s user, {} s system, {} s elapsed\n\
         !\t[{} s user, {} s system total]\n\
         !\t{} kB max resident size\n\
         !\t{}/{} [{}/{}] filesystem blocks in/out\n\
         !\t{}/{} [{}/{}] page faults/reclaims, {} [{}] swaps\n\
         !\t{} [{}] signals rcvd, {}/{} [{}/{}] messages rcvd/sent\n\
         !\t{}/{} [{}/{}] voluntary/involuntary context switches",
        time(|u| u.user, before),
        time(|u| u.system, before),
        seconds(elapsed),
        time(|u| u.user, session),
        time(|u| u.system, session),
        now.max_resident,
        since(|u| u.blocks_in),
        since(|u| u.blocks_out),
        total(|u| u.blocks_in),
        total(|u| u.blocks_out),
        since(|u| u.page_faults),
        since(|u| u.page_reclaims),
        total(|u| u.page_faults),
        total(|u| u.page_reclaims),
        since(|u| u.swaps),
        total(|u| u.swaps),
        since(|u| u.signals),
        total(|u| u.signals),
        since(|u| u.messages_received),
        since(|u| u.messages_sent),
        total(|u| u.messages_received),
        total(|u| u.messages_sent),
        since(|u| u.voluntary_switches),
        since(|u| u.involuntary_switches),
        total(|u| u.voluntary_switches),
        total(|u| u.involuntary_switches),
    )
}

impl Session {
    /// Logs a statement at its start if `log_statement` includes it. `what` is "statement", or
    /// "execute NAME".
    pub(crate) fn begin_timed<'a>(
        &mut self,
        what: &str,
        sql: &str,
        mut nodes: impl Iterator<Item = &'a Node>,
    ) -> Option<Timed> {
        let settings = self.state.activity.log;
        let logged = match settings.which {
            LoggedStatements::None => false,
            LoggedStatements::All => true,
            which => nodes.any(|n| level(n) <= which),
        };
        if logged {
            self.log_line(&line(format!("{what}: {sql}")));
        }
        let timed = settings.duration || settings.min_duration >= 0;
        timed.then(|| Timed { begun: Instant::now(), logged })
    }

    /// As [`Session::begin_timed`], for a FunctionCall message.
    pub(crate) fn begin_timed_call(&mut self, what: &str) -> Option<Timed> {
        let settings = self.state.activity.log;
        let logged = settings.which == LoggedStatements::All;
        if logged {
            self.log_line(&line(what.to_owned()));
        }
        let timed = settings.duration || settings.min_duration >= 0;
        timed.then(|| Timed { begun: Instant::now(), logged })
    }

    /// Logs the duration of the statement of [`Session::begin_timed`], which ended without an
    /// error.
    pub(crate) fn end_timed(&mut self, timed: Option<Timed>, what: &str, sql: &str) {
        if let Some(timed) = timed {
            self.log_duration(&timed, &format!("{what}: {sql}"));
        }
    }

    /// As [`Session::end_timed`], for [`Session::begin_timed_call`].
    pub(crate) fn end_timed_call(&mut self, timed: &Timed, what: &str) {
        self.log_duration(timed, what);
    }

    fn log_duration(&mut self, timed: &Timed, what: &str) {
        let settings = self.state.activity.log;
        let micros = timed.begun.elapsed().as_micros();
        let text = format!("duration: {}.{:03} ms", micros / 1000, micros % 1000);
        let exceeded = settings.min_duration >= 0 && micros / 1000 >= settings.min_duration as u128;
        if exceeded && !timed.logged {
            self.log_line(&line(format!("{text}  {what}")));
        } else if exceeded || settings.duration {
            self.log_line(&line(text));
        }
    }

    fn log_line(&self, report: &PgError) {
        self.instance.log.write(&self.state.activity.client, report, None);
    }
}
