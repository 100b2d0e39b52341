//! Simple queries: a text of statements, each run to its end. Counterpart: `exec_simple_query`.

use crate::portal::{Portal, Ran, ends_block};
use crate::prepared::Prepared;
use crate::session::Session;
use crate::xact::aborted;
use parse::ast::Node;
use parse::{Options, RawStmt};
use pgerror::Result;
use std::sync::Arc;
use std::time::Duration;
use sync::wait::Interrupt;
use wire::{Formats, backend};

impl Session {
    /// The lexer's settings.
    pub(crate) fn parse_options(&self) -> Options {
        let store = &self.core.store;
        Options {
            standard_conforming_strings: store.named("standard_conforming_strings").as_bool(),
            backslash_quote: store.named("backslash_quote").as_text() != "off",
            ..Options::default()
        }
    }

    /// The timer of `statement_timeout`, if that is set.
    pub(crate) fn statement_timer(&self) -> Option<crate::timer::Timer> {
        let ms = self.core.store.named("statement_timeout").as_int();
        let span = Duration::from_millis(u64::try_from(ms).ok().filter(|ms| *ms > 0)?);
        self.instance.timers.start(span, &self.handle.waiter, Interrupt::StatementTimeout)
    }

    pub(crate) fn simple_query(&mut self, text: &[u8]) -> Result<()> {
        let sql: Arc<str> = self.text(text)?.into();
        self.statement = Some(sql.clone());
        let _timer = self.statement_timer();
        self.log_statement(&sql);
        // The unnamed portal of the extended protocol ends here.
        self.portals.remove("");
        let statements = parse::parse_with(&sql, self.parse_options())?;
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
            if several {
                self.begin_implicit_block();
            }
            self.core.backend.check_interrupts()?;
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
        Ok(())
    }

    fn simple_statement(&mut self, raw: RawStmt, sql: &Arc<str>) -> Result<String> {
        if !analyze::is_query(&raw.stmt) {
            return self.utility(&raw, sql, &Arc::from([]), &[], true);
        }
        let prepared = Prepared::new(&mut self.core, sql.clone(), Some(raw), Vec::new(), None)?;
        let fields = prepared.analyzed(&mut self.core)?.fields.clone();
        let level = self.core.backend.txn.nesting();
        let mut portal =
            Portal::new(Arc::new(prepared), Arc::from([]), Formats::Text, fields.clone(), level);
        self.start_portal(&mut portal)?;
        if let Some(fields) = &fields {
            backend::row_description(&mut self.conn.out, fields);
        }
        match self.run_query_portal(&mut portal, 0)? {
            Ran::Complete(tag) => Ok(tag),
            Ran::Suspended => Ok(String::new()),
        }
    }
}
