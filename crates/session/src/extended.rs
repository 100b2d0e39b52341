//! The extended protocol: Parse, Bind, Describe, Execute, Close.
//! Counterpart: tcop/postgres.c (`exec_parse_message`, `exec_bind_message`,
//! `exec_describe_statement_message`, `exec_execute_message`).

use crate::portal::run::cannot_be_run;
use crate::portal::{Portal, PortalResult};
use crate::prepared::Prepared;
use crate::session::Session;
use crate::xact::{DeadPortal, aborted};
use client::results::{UtilityRows, write_tag};
use client::rows;
use client::statementlog::Work;
use ids::Oid;
use parse::ast::Node;
use pgerror::{PgError, Result, SqlState, pg_err};
use smallvec::SmallVec;
use std::fmt;
use std::sync::Arc;
use types::fn_context::TypeFunctions;
use types::{Datum, oids};
use utility::transaction::{begins_level, ends_block};
use wire::{Bind, BindValues, Format, Formats, Parse, Target, backend};

/// Maximum number of cached Parse texts, and maximum length of one in bytes.
const RECENT_MAX: usize = 128;
const RECENT_BYTES_MAX: usize = 8 << 10;

impl Session {
    pub(crate) fn parse_message(&mut self, message: &Parse<'_>) -> Result<()> {
        let name = self.text(message.name)?;
        let sql = self.text(message.query)?;
        self.show_running(sql.as_bytes());
        if self.state.values.resolved.log_statements {
            self.state.activity.statement = Some(sql.into());
        }
        self.start_command();
        self.start_extended_timer();
        if name.is_empty() {
            self.unnamed = None;
        }
        let share = self.state.values.resolved.share_texts
            && !crate::slots::is_time_dependent(message.query);
        if share && !self.xact.failed {
            let known = self.recent.get(sql).filter(|p| p.is_declared(&message.types)).cloned();
            if let Some(prepared) = known
                && prepared.revalidate_parsed(&mut self.state)
            {
                return self.parsed(name, prepared);
            }
        }
        let mut types: Vec<Oid> = message.types.iter().map(|&t| Oid(t)).collect();
        if share && !self.xact.failed {
            let key = self.state.statement_key(message.query, &types)?;
            if let Some(statement) = self.state.find_statement(&key) {
                self.state.deep_statements |= statement.raw.is_deep();
                let prepared = Arc::new(Prepared::of(statement, &types));
                self.remember_parsed(&prepared);
                return self.parsed(name, prepared);
            }
        }
        let sql: Arc<str> = sql.into();
        self.state.activity.statement = Some(sql.clone());
        let parsing = self.state.measure(Work::Parser);
        let mut warnings = Vec::new();
        let parsed = parse::parse_with_notices(&sql, self.parse_options(), &mut warnings);
        // A text that causes notices is parsed each time, so that they are sent each time.
        let share = share && !self.send_parser_notices(warnings);
        let mut statements = parsed?;
        self.state.log_measured(parsing, "PARSER STATISTICS");
        if statements.len() > 1 {
            return Err(pg_err!(
                SYNTAX_ERROR,
                "cannot insert multiple commands into a prepared statement"
            ));
        }
        let raw = statements.pop();
        if self.xact.failed && raw.as_ref().is_some_and(|r| !ends_block(Some(&r.stmt))) {
            return Err(aborted());
        }
        let fields = match raw.as_ref() {
            Some(raw) if !analyze::is_query(&raw.stmt) => {
                if matches!(raw.stmt, Node::VariableShowStmt(_)) {
                    analyze::check_determined(&types)?;
                }
                let fields = self.utility_fields(raw, &sql, &mut types)?;
                analyze::check_determined(&types)?;
                fields
            }
            _ => None,
        };
        let prepared = Prepared::new(&mut self.state, sql, raw, types, fields, share)?;
        let prepared = Arc::new(prepared);
        if share && prepared.is_query {
            self.remember_parsed(&prepared);
        }
        self.parsed(name, prepared)
    }

    /// Caches a statement for the next Parse message with the same text, under any name.
    fn remember_parsed(&mut self, prepared: &Arc<Prepared>) {
        if self.recent.len() >= RECENT_MAX {
            self.recent.clear();
        }
        if prepared.sql.len() <= RECENT_BYTES_MAX {
            self.recent.insert(prepared.sql.clone(), prepared.clone());
        }
    }

    fn parsed(&mut self, name: &str, prepared: Arc<Prepared>) -> Result<()> {
        self.state.transaction.mode.queried |= prepared.node().is_some_and(is_analyzed);
        if name.is_empty() {
            self.unnamed = Some(prepared);
        } else {
            self.state.activity.statement = Some(prepared.sql.clone());
            self.state.name_statement(name, Arc::new(prepared.named()))?;
        }
        self.next_command()?;
        self.send_notices_now()?;
        backend::parse_complete(&mut self.conn.out);
        Ok(())
    }

    /// The prepared statement of that name. Error 26000 if there is none.
    pub(crate) fn find_prepared(&self, name: &str) -> Result<Arc<Prepared>> {
        if !name.is_empty() {
            return self.state.prepared_named(name);
        }
        self.unnamed.clone().ok_or_else(|| {
            pg_err!(UNDEFINED_PSTATEMENT, "unnamed prepared statement does not exist")
        })
    }

    pub(crate) fn bind_message(&mut self, message: Bind<'_>) -> Result<()> {
        // Names are usually empty or short ASCII strings.
        let name = self.text(message.portal)?;
        let statement = self.text(message.statement)?;
        let prepared = self.find_prepared(statement)?;
        self.show_running(prepared.sql.as_bytes());
        self.state.activity.statement = Some(prepared.sql.clone());
        self.start_command();
        self.start_extended_timer();
        let portal_name = message.portal;
        let values = message.values()?;
        let wanted = prepared.param_types.len();
        if values.count != wanted {
            return Err(pg_err!(
                PROTOCOL_VIOLATION,
                "bind message supplies {} parameters, but prepared statement \"{statement}\" \
                requires {wanted}",
                values.count
            ));
        }
        if self.xact.failed && (!ends_block(prepared.node()) || wanted > 0) {
            return Err(aborted());
        }
        if name.is_empty() {
            self.state.named.portals.remove(name);
            self.xact.dead_portals.retain(|d| !d.name.is_empty());
        } else if self.state.named.portals.contains_key(name) || self.dead_portal(name).is_some() {
            return Err(pg_err!(DUPLICATE_CURSOR, "cursor \"{name}\" already exists"));
        }
        let mut dead = DeadPortal { name: name.to_owned(), has_rows: false, is_empty: true };
        let bound = self.bind_portal(portal_name, prepared, values, &mut dead);
        match bound {
            Ok(portal) => self.state.named.portals.insert(dead.name, portal),
            Err(e) => {
                self.xact.dead_portals.push(dead);
                return Err(e);
            }
        };
        self.send_notices_now()?;
        backend::bind_complete(&mut self.conn.out);
        Ok(())
    }

    /// Creates the portal of a Bind message. If this fails, `dead` describes the failed portal.
    fn bind_portal(
        &mut self,
        name: &[u8],
        prepared: Arc<Prepared>,
        values: BindValues<'_>,
        dead: &mut DeadPortal,
    ) -> Result<Box<Portal>> {
        let params = self.bind_values(name, &values, &prepared)?;
        values.check().map_err(|e| {
            let at = values.values.len();
            e.context(parameter_context(name, at, Format::Binary, b""))
        })?;
        let results = values.results()?;
        if !self.xact.failed {
            prepared.revalidate(&mut self.state)?;
        }
        dead.is_empty = prepared.raw.is_none();
        self.state.transaction.mode.queried |= prepared.node().is_some_and(is_analyzed);
        let fields = match prepared.node() {
            Some(node @ (Node::ExecuteStmt(_) | Node::FetchStmt(_))) => {
                self.named_fields(node).map(Arc::from)
            }
            _ => prepared.fields.clone(),
        };
        let level = self.state.backend.txn.nesting();
        let mut portal = Portal::new(prepared, params, results, fields, level);
        portal.created = self.state.transaction.statement_start;
        if portal.statement.is_query {
            // Errors of privilege checks, planning and the parameter values must come before
            // BindComplete.
            self.bind_portal_query(&mut portal)?;
        }
        if let Some(fields) = &portal.fields {
            dead.has_rows = true;
            rows::check_formats(fields.len(), &portal.formats)?;
        }
        Ok(portal)
    }

    fn bind_values(
        &mut self,
        portal: &[u8],
        message: &BindValues<'_>,
        prepared: &Prepared,
    ) -> Result<Arc<[Datum]>> {
        if message.values.is_empty() {
            return Ok(self.params.none());
        }
        let mut params = SmallVec::with_capacity(message.values.len());
        for (i, value) in message.values.iter().enumerate() {
            let ty = prepared.param_types[i];
            let format = message.formats.get(i);
            let datum = match value {
                None => self.bind_null(ty, format),
                Some(bytes) => self.bind_value(ty, bytes, format, Argument::Bind(i)),
            };
            params.push(datum.map_err(|e| {
                // A value with invalid encoding gets no placeholder in the message.
                let format = match (e.code(), value) {
                    (SqlState::CHARACTER_NOT_IN_REPERTOIRE, _) | (_, None) => Format::Binary,
                    // The type has been dropped, so the text was not read.
                    (SqlState::INTERNAL_ERROR, _) => Format::Binary,
                    _ => format,
                };
                let shown = value.unwrap_or_default();
                e.context(parameter_context(portal, i, format, shown))
            })?);
        }
        Ok(self.params.make(params))
    }

    /// NULL is passed to the input function too, because a domain may reject it.
    pub(crate) fn bind_null(&mut self, ty: Oid, format: Format) -> Result<Datum> {
        if let Format::Unknown(code) = format {
            return Err(backend::unsupported_format(code));
        }
        match ty < Oid::FIRST_UNPINNED {
            true => Ok(Datum::Null),
            false => self.state.null_input(ty),
        }
    }

    /// Converts a value from the client's format.
    pub(crate) fn bind_value(
        &mut self,
        ty: Oid,
        bytes: &[u8],
        format: Format,
        which: Argument,
    ) -> Result<Datum> {
        if let Format::Unknown(code) = format {
            return Err(backend::unsupported_format(code));
        }
        if format == Format::Binary {
            match (ty, bytes) {
                (oids::INT4, &[a, b, c, d]) => {
                    return Ok(Datum::int4(i32::from_be_bytes([a, b, c, d])));
                }
                (oids::INT8, &[a, b, c, d, e, f, g, h]) => {
                    return Ok(Datum::int8(i64::from_be_bytes([a, b, c, d, e, f, g, h])));
                }
                _ => {}
            }
            return self.state.type_recv(ty, bytes, -1).map_err(|e| {
                match types::type_io::is_excess_data(&e) {
                    true => extra_bytes_in(which),
                    false => e,
                }
            });
        }
        if bytes.contains(&0) || std::str::from_utf8(bytes).is_err() {
            types::text::verify(&self.state, bytes)?;
        }
        if matches!(ty, oids::TEXT | oids::VARCHAR | oids::BPCHAR) {
            return Ok(Datum::Bytes(bytes.into()));
        }
        self.state.type_input(ty, bytes, -1)
    }

    pub(crate) fn describe_message(&mut self, target: Target, name: &[u8]) -> Result<()> {
        let name = self.text(name)?;
        self.start_command();
        self.start_extended_timer();
        match target {
            Target::Statement => {
                let prepared = self.find_prepared(name)?;
                if self.xact.failed && prepared.fields.is_some() {
                    return Err(aborted());
                }
                let types = prepared.param_types.iter().map(|t| t.0);
                backend::parameter_description(&mut self.conn.out, types);
                match self.statement_fields(&prepared)? {
                    Some(fields) => backend::row_description(&mut self.conn.out, &fields),
                    None => backend::no_data(&mut self.conn.out),
                }
            }
            Target::Portal => {
                match self.dead_portal(name).map(|d| d.has_rows) {
                    Some(true) => return Err(aborted()),
                    Some(false) => {
                        backend::no_data(&mut self.conn.out);
                        return Ok(());
                    }
                    None => {}
                }
                let portal = self.state.named.portals.get(name).ok_or_else(|| no_portal(name))?;
                if self.xact.failed && portal.fields.is_some() {
                    return Err(aborted());
                }
                match &portal.fields {
                    Some(fields) if portal.formats == Formats::Text => {
                        backend::row_description(&mut self.conn.out, fields);
                    }
                    Some(fields) => {
                        let fields = rows::with_formats(fields.to_vec(), &portal.formats)?;
                        backend::row_description(&mut self.conn.out, &fields);
                    }
                    None => backend::no_data(&mut self.conn.out),
                }
            }
        }
        Ok(())
    }

    fn statement_fields(
        &mut self,
        prepared: &Arc<Prepared>,
    ) -> Result<Option<Arc<[wire::FieldDescription]>>> {
        if self.xact.failed || prepared.fields.is_none() {
            return Ok(None);
        }
        prepared.revalidate(&mut self.state)?;
        Ok(prepared.fields.clone())
    }

    /// The portal of that name that an error in the transaction has ended.
    fn dead_portal(&self, name: &str) -> Option<&DeadPortal> {
        self.xact.dead_portals.iter().find(|d| d.name == name)
    }

    pub(crate) fn execute_message(&mut self, name: &[u8], max_rows: u32) -> Result<()> {
        let name = self.text(name)?;
        match self.dead_portal(name).map(|d| d.is_empty) {
            Some(true) => {
                backend::empty_query_response(&mut self.conn.out);
                return Ok(());
            }
            Some(false) => return Err(aborted()),
            None => {}
        }
        let (name, mut portal) =
            self.state.named.portals.remove_entry(name).ok_or_else(|| no_portal(name))?;
        self.state.named.executing =
            Some((name.clone(), portal.statement.sql.clone(), portal.created));
        let was_failed = self.xact.failed;
        let done = self.execute_portal(&name, &mut portal, max_rows);
        self.state.named.executing = None;
        match done {
            Ok(true) => {
                self.state.named.portals.insert(name, portal);
            }
            Ok(false) => {}
            Err(_) if was_failed && !ends_block(portal.statement.node()) => {
                self.state.named.portals.insert(name, portal);
            }
            // The rollback to the savepoint keeps the portals that are older than it.
            Err(_) if portal.level < self.state.backend.txn.nesting() => {
                portal.fail();
                self.state.named.portals.insert(name, portal);
            }
            Err(_) => self.xact.dead_portals.push(DeadPortal::of(&name, &portal)),
        }
        done.map(|_| ())
    }

    /// Runs a portal; false if it ends with the transaction that its statement has ended.
    fn execute_portal(&mut self, name: &str, portal: &mut Portal, max_rows: u32) -> Result<bool> {
        let prepared = portal.statement.clone();
        self.show_running(prepared.sql.as_bytes());
        self.state.activity.statement = Some(prepared.sql.clone());
        let Some(node) = prepared.node() else {
            backend::empty_query_response(&mut self.conn.out);
            return Ok(true);
        };
        self.start_command();
        if self.xact.failed && !ends_block(Some(node)) {
            return Err(aborted());
        }
        self.start_extended_timer();
        self.state.backend.check_interrupts()?;
        let timed = match self.state.values.resolved.log_statements {
            false => None,
            true => {
                let what = self.execute_name(portal, name);
                let sql = prepared.sql.clone();
                self.begin_timed(&what, &sql, std::iter::once(node)).map(|t| (t, what))
            }
        };
        // A negative number means no limit.
        let limit = if max_rows > i32::MAX as u32 { 0 } else { u64::from(max_rows) };
        if !prepared.is_query {
            let (raw, params) = (prepared.raw.clone(), portal.params.clone());
            let Some(raw) = raw else { return Ok(false) };
            if portal.finished {
                if portal.fields.is_none() || portal.has_failed() {
                    return Err(cannot_be_run(name));
                }
                portal.lines.send(limit, &mut self.conn.out);
                return self.conn.flush_if_large().map(|()| true);
            }
            portal.finished = true;
            let before = self.conn.out.len();
            self.conn.buffers_all = limit > 0 && portal.fields.is_some();
            let types = &prepared.param_types;
            self.results = portal.formats.clone();
            let tag = self.utility(&raw, &prepared.sql, &params, types, false);
            self.results = Formats::Text;
            let buffered = std::mem::take(&mut self.conn.buffers_all);
            let tag = tag?;
            let kept = if buffered { self.conn.out.split_off(before) } else { Vec::new() };
            if portal.fields.is_some() {
                portal.lines = UtilityRows::new(kept, tag.clone());
            }
            self.send_notices_now()?;
            let mut stays = true;
            if matches!(raw.stmt, Node::TransactionStmt(_)) || self.xact.commit_at_once {
                self.finish_command()?;
                // The statement has begun or ended a transaction or a subtransaction.
                stays = begins_level(&raw.stmt)
                    && self.state.transaction.block != crate::xact::Block::None;
                if stays {
                    portal.level = portal.level.min(self.state.backend.txn.nesting());
                }
            } else {
                self.next_command()?;
                self.xact.pipelining = true;
                if buffered {
                    portal.lines.send(limit, &mut self.conn.out);
                }
            }
            if !buffered {
                backend::command_complete(&mut self.conn.out, &tag);
            }
            if let Some((timed, what)) = timed {
                self.end_timed(Some(timed), &what, &prepared.sql);
            }
            self.extended_timer = None;
            return self.conn.flush_if_large().map(|()| stays);
        }
        if portal.has_failed() || portal.finished && portal.fields.is_none() {
            return Err(cannot_be_run(name));
        }
        let running = self.state.measure(Work::Executor);
        let ran = self.run_query_portal(portal, limit)?;
        self.state.log_measured(running, "EXECUTOR STATISTICS");
        self.send_notices_now()?;
        self.xact.pipelining = true;
        match ran {
            PortalResult::Suspended => {
                backend::portal_suspended(&mut self.conn.out);
            }
            PortalResult::Complete(command, rows) => {
                self.next_command()?;
                self.extended_timer = None;
                write_tag(&mut self.conn.out, command, rows);
            }
        }
        if let Some((timed, what)) = timed {
            self.end_timed(Some(timed), &what, &prepared.sql);
        }
        self.conn.flush_if_large().map(|()| true)
    }

    /// The name of a portal's execution in the log: the statement's name, and the portal's if it
    /// has one.
    fn execute_name(&self, portal: &Portal, name: &str) -> String {
        let known =
            self.state.named.prepared.iter().find(|(_, p)| Arc::ptr_eq(p, &portal.statement));
        let statement = known.map_or("<unnamed>", |(name, _)| name.as_str());
        match name {
            "" => format!("execute {statement}"),
            name => format!("execute {statement}/{name}"),
        }
    }

    pub(crate) fn close_message(&mut self, target: Target, name: &[u8]) -> Result<()> {
        let name = self.text(name)?;
        match target {
            Target::Statement if name.is_empty() => self.unnamed = None,
            Target::Statement => {
                self.state.named.prepared.remove(name);
            }
            Target::Portal => {
                self.state.named.portals.remove(name);
                self.xact.dead_portals.retain(|d| d.name != name);
            }
        }
        backend::close_complete(&mut self.conn.out);
        Ok(())
    }
}

/// The position of a value in a message, by its index from 0.
#[derive(Clone, Copy)]
pub(crate) enum Argument {
    Bind(usize),
    FunctionCall(usize),
}

impl fmt::Display for Argument {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Argument::Bind(i) => write!(f, "bind parameter {}", i + 1),
            Argument::FunctionCall(i) => write!(f, "function argument {}", i + 1),
        }
    }
}

/// The error for a binary value that has more bytes than the receive function of its type reads.
fn extra_bytes_in(which: Argument) -> PgError {
    pg_err!(INVALID_BINARY_REPRESENTATION, "{} in {which}", types::type_io::EXCESS_DATA)
}

/// The error context of a parameter that cannot be read. Its value is not shown, as with
/// PostgreSQL's default settings.
fn parameter_context(portal: &[u8], i: usize, format: Format, value: &[u8]) -> String {
    let portal = match portal {
        b"" => "unnamed portal".to_owned(),
        name => format!("portal \"{}\"", String::from_utf8_lossy(name)),
    };
    let shown = match (format, value) {
        (Format::Text, b"") => " = ''",
        (Format::Text, _) => " = '...'",
        _ => "",
    };
    format!("{portal} parameter ${}{shown}", i + 1)
}

/// True if a snapshot is taken for the analysis of the statement. Counterpart:
/// `analyze_requires_snapshot`.
fn is_analyzed(node: &Node) -> bool {
    analyze::is_query(node)
        || matches!(
            node,
            Node::DeclareCursorStmt(_)
                | Node::ExplainStmt(_)
                | Node::CreateTableAsStmt(_)
                | Node::SelectStmt(_)
                | Node::CallStmt(_)
        )
}

fn no_portal(name: &str) -> PgError {
    PgError::new(SqlState::UNDEFINED_CURSOR, format!("portal \"{name}\" does not exist"))
}
