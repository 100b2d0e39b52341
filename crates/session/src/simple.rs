//! The simple query protocol: a text of statements, each of which is run to its end. Counterpart:
//! tcop/postgres.c (`exec_simple_query`).

use crate::portal::{Portal, PortalResult};
use crate::prepared::Prepared;
use crate::session::Session;
use crate::state::State;
use crate::xact::aborted;
use analyze::SessionLookup;
use client::results::query_tag;
use client::statementlog::Work;
use ids::Oid;
use parse::ast::Node;
use parse::{Options, RawStmt};
use pgerror::{PgError, Result};
use std::sync::Arc;
use sync::wait::Interrupt;
use utility::transaction::ends_block;
use wire::{Formats, backend};

impl Session {
    /// The lexer's settings.
    pub(crate) fn parse_options(&self) -> Options {
        self.state.values.resolved.lexer
    }

    /// Sends the warnings of the lexer to the client. Returns true if there were any.
    pub(crate) fn send_parser_notices(&mut self, warnings: Vec<PgError>) -> bool {
        if warnings.is_empty() {
            return false;
        }
        self.state.notices.extend(warnings);
        self.send_notices();
        true
    }

    /// Starts the timer of `statement_timeout`, if it is set.
    pub(crate) fn statement_timer(&self) -> Option<client::timer::Timer> {
        let span = self.state.values.resolved.statement_timeout?;
        self.instance.timers.start(span, &self.handle.waiter, Interrupt::StatementTimeout)
    }

    /// Starts the timer of `statement_timeout` unless it is running. It runs from the first message
    /// of a statement to the end of its Execute, or to Sync, including the time in which the
    /// session waits for the client. Counterpart: `enable_statement_timeout`.
    pub(crate) fn start_extended_timer(&mut self) {
        if self.extended_timer.is_none() {
            self.extended_timer = self.statement_timer();
        }
    }

    pub(crate) fn simple_query(&mut self, text: &[u8]) -> Result<()> {
        self.show_running(text);
        // A simple query closes the unnamed portal.
        if !self.state.named.portals.is_empty() {
            self.state.named.portals.remove("");
        }
        let whole = !self.state.values.resolved.log_statements
            && !self.state.values.resolved.tracks_planning;
        if whole && self.run_slot(text)? {
            return Ok(());
        }
        let mut timer = self.statement_timer();
        let sql: Arc<str> = self.text(text)?.into();
        self.state.activity.statement = Some(sql.clone());
        let message = self.state.measure(Work::Message);
        let parsing = self.state.measure(Work::Parser);
        let mut warnings = Vec::new();
        let parsed = parse::parse_with_notices(&sql, self.parse_options(), &mut warnings);
        let remarked = self.send_parser_notices(warnings);
        let statements = parsed?;
        self.state.log_measured(parsing, "PARSER STATISTICS");
        if !remarked
            && let [raw] = &statements[..]
            && whole
            && self.run_new_slot(&sql, raw)?
        {
            return Ok(());
        }
        let timed = match self.state.values.resolved.log_statements {
            true => self.begin_timed("statement", &sql, statements.iter().map(|s| &s.stmt)),
            false => None,
        };
        if statements.is_empty() {
            self.start_command();
            backend::empty_query_response(&mut self.conn.out);
            return self.finish_command();
        }
        let several = statements.len() > 1;
        let last = statements.len() - 1;
        for (i, raw) in statements.into_iter().enumerate() {
            let node = &raw.stmt;
            if self.xact.failed && !ends_block(Some(node)) {
                return Err(aborted());
            }
            self.start_command();
            if i > 0 {
                // Each statement of a message has a timeout of its own, with the current value of
                // the setting.
                drop(timer.take());
                timer = self.statement_timer();
            }
            if several {
                self.begin_implicit_block();
            }
            self.state.backend.check_interrupts()?;
            let is_transaction = matches!(node, Node::TransactionStmt(_));
            let tag = self.simple_statement(raw, &sql)?;
            if i == last {
                self.end_implicit_block();
                self.finish_command()?;
            } else if is_transaction {
                self.finish_command()?;
            } else {
                self.next_command()?;
            }
            self.send_notices();
            backend::command_complete(&mut self.conn.out, &tag);
        }
        self.end_timed(timed, "statement", &sql);
        self.state.log_measured(message, "QUERY STATISTICS");
        Ok(())
    }

    fn simple_statement(&mut self, raw: RawStmt, sql: &Arc<str>) -> Result<String> {
        if !analyze::is_query(&raw.stmt) {
            let none = self.params.none();
            return self.utility(&raw, sql, &none, &[], true);
        }
        // Literals of this text could not become parameters. The number of such texts is unbounded,
        // so they are not cached.
        check_parameters(&mut self.state, &raw, sql, &[])?;
        let prepared =
            Prepared::new(&mut self.state, sql.clone(), Some(raw), Vec::new(), None, false)?;
        let fields = prepared.fields.clone();
        let level = self.state.backend.txn.nesting();
        let mut portal =
            Portal::new(Arc::new(prepared), self.params.none(), Formats::Text, fields, level);
        self.state.start_portal(&mut portal)?;
        let running = self.state.measure(Work::Executor);
        self.state.run_to_end_if_writing(&mut portal)?;
        if let Some(fields) = &portal.fields {
            backend::row_description(&mut self.conn.out, fields);
        }
        let ran = self.run_query_portal(&mut portal, 0)?;
        self.state.log_measured(running, "EXECUTOR STATISTICS");
        match ran {
            PortalResult::Complete(command, rows) => Ok(query_tag(command, rows)),
            PortalResult::Suspended => Ok(String::new()),
        }
    }
}

/// Error 42P02 for the first parameter without a value. Analysis that infers parameter types does
/// not detect this.
pub(crate) fn check_parameters(
    state: &mut State,
    raw: &RawStmt,
    sql: &str,
    types: &[Oid],
) -> Result<()> {
    let bytes = sql.as_bytes();
    if bytes.windows(2).any(|pair| pair[0] == b'$' && pair[1].is_ascii_digit()) {
        analyze::analyze(&mut SessionLookup::new(state), raw, sql, types)?;
    }
    Ok(())
}
