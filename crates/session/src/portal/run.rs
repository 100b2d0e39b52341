//! Runs the queries of portals, and cursors. Counterpart: tcop/pquery.c, commands/portalcmds.c.

use super::{Planned, Portal, PortalResult, writes};
use crate::prepared::ParkedExecution;
use crate::session::Session;
use crate::state::State;
use client::connection::Connection;
use client::results::StoredRows;
use client::rows::{self, RowWriter};
use client::statementlog::Work;
use eval::Volatility;
use executor::spi::{self, QuerySnapshot};
use ids::{Oid, Tid};
use parse::ast::{FetchDirection, FetchStmt};
use pgerror::{PgError, Result, SqlState, pg_err};
use plan::PlannedStmt;
use plan::query::CmdType;
use planner::{RowIdentities, RowIdentity};
use std::sync::Arc;
use types::{BATCH_ROWS_MAX, Batch};
use wire::{FieldDescription, Format, Formats};

/// Number of rows that a cursor returns one by one before further ones are computed together, and
/// the largest number of these.
const ROWS_BEFORE_AHEAD: usize = 2;
const ROWS_AHEAD_MAX: usize = 64;

/// Receives the rows that a portal returns.
pub(crate) trait RowSink {
    /// Receives a row of a batch. `writer` encodes rows for the client.
    fn row(
        &mut self,
        state: &mut State,
        writer: &RowWriter,
        batch: &Batch,
        row: usize,
    ) -> Result<()>;
}

/// Sends rows to the client.
struct ToClient<'c>(&'c mut Connection);

impl RowSink for ToClient<'_> {
    #[inline]
    fn row(
        &mut self,
        state: &mut State,
        writer: &RowWriter,
        batch: &Batch,
        row: usize,
    ) -> Result<()> {
        writer.write(state, batch, row, &mut self.0.out)?;
        self.0.flush_if_large()
    }
}

impl Session {
    /// The checks before the execution of any plan. Every execution calls this function.
    pub(crate) fn check_plan(&mut self, plan: &Arc<PlannedStmt>) -> Result<()> {
        self.state.check_plan(plan)
    }

    /// Plans the portal's query. Starts it if it only reads; a query that writes starts at the
    /// first Execute. Counterpart: `PortalStart`.
    pub(crate) fn bind_portal_query(&mut self, portal: &mut Portal) -> Result<()> {
        let planned = self.state.plan_portal(portal)?;
        let plan = match &planned {
            Planned::ParkedExecution(parked) => parked.run.plan(),
            Planned::Plan(plan) => plan,
        };
        let waits = writes(plan);
        portal.plan = Some(planned);
        match waits {
            true => Ok(()),
            false => self.state.start_portal(portal),
        }
    }

    /// Runs a query to its end, or up to `max_rows` rows (0: no limit), and sends its rows.
    pub(crate) fn run_query_portal(
        &mut self,
        portal: &mut Portal,
        max_rows: u64,
    ) -> Result<PortalResult> {
        self.state.start_portal(portal)?;
        if portal.cursor {
            let many = if max_rows == 0 { u64::MAX } else { max_rows };
            let sink = &mut ToClient(&mut self.conn);
            let sent = self.state.forward(portal, many, Some(sink))?;
            return Ok(match portal.at_end {
                true => PortalResult::Complete(CmdType::Select, sent),
                false => PortalResult::Suspended,
            });
        }
        self.computing(|session| session.state.run_to_end_if_writing(portal))?;
        let command = portal.command;
        let returns = portal.fields.is_some();
        let mut sent = 0u64;
        while max_rows == 0 || sent < max_rows {
            let wanted = if max_rows == 0 { usize::MAX } else { (max_rows - sent) as usize };
            let more = self.computing(|session| session.state.compute_rows(portal, wanted))?;
            let sink = &mut ToClient(&mut self.conn);
            let n = match more {
                true => self.state.send_rows(portal, wanted, returns.then_some(sink))?,
                false => 0,
            };
            if n == 0 {
                portal.finished = true;
                break;
            }
            sent += n as u64;
        }
        if portal.kept.is_none() {
            portal.position += sent as usize;
        }
        if !portal.finished {
            return Ok(PortalResult::Suspended);
        }
        self.computing(|session| session.state.after_statement())?;
        let processed = portal.run.as_ref().map_or(0, |r| r.processed());
        let here = command == CmdType::Select || portal.kept.is_some();
        let rows = if here { sent } else { processed };
        if let Some(run) = portal.run.take() {
            let (writer, formats) = (std::mem::take(&mut portal.writer), portal.formats.clone());
            portal
                .statement
                .keep_parked(&mut self.state, ParkedExecution { run, writer, formats })?;
        }
        Ok(PortalResult::Complete(command, rows))
    }

    /// FETCH and MOVE; returns the command tag. With `describe`, a RowDescription is sent first.
    pub(crate) fn fetch(&mut self, stmt: &FetchStmt, describe: bool) -> Result<String> {
        let name = stmt.portalname.to_string();
        let Some(mut portal) = self.state.named.portals.remove(&name) else {
            return Err(if self.state.is_executing(&name) {
                cannot_be_run(&name)
            } else {
                no_cursor(&name)
            });
        };
        if portal.failed {
            self.state.named.portals.insert(name.clone(), portal);
            return Err(cannot_be_run(&name));
        }
        if portal.statement.is_query {
            self.state.start_portal(&mut portal)?;
        }
        let formats = match (describe, portal.binary) {
            (true, true) => Formats::All(Format::Binary),
            (true, false) => Formats::Text,
            (false, _) => self.results.clone(),
        };
        if describe && !stmt.ismove {
            let fields = portal.fields.as_deref().unwrap_or_default().to_vec();
            let fields = rows::with_formats(fields, &formats)?;
            wire::backend::row_description(&mut self.conn.out, &fields);
        }
        let writer = portal.writer.in_formats(&formats);
        let own = std::mem::replace(&mut portal.writer, writer);
        let running = self.state.measure(Work::Executor);
        let sink = &mut ToClient(&mut self.conn);
        let sink = (!stmt.ismove).then_some(sink);
        let moved = (stmt.direction, stmt.how_many);
        let result = self.state.fetch_rows(&mut portal, moved, sink);
        if result.is_ok() {
            self.state.log_measured(running, "EXECUTOR STATISTICS");
        }
        portal.writer = own;
        if result.is_err() {
            portal.fail();
        }
        self.state.named.portals.insert(name, portal);
        let verb = if stmt.ismove { "MOVE" } else { "FETCH" };
        Ok(format!("{verb} {}", result?))
    }

    /// The result columns of a FETCH from that cursor.
    pub(crate) fn cursor_fields(&self, name: &str) -> Option<Arc<[FieldDescription]>> {
        self.state.named.portals.get(name).and_then(|p| p.fields.clone())
    }
}

/// Moves a cursor before its first row.
fn rewind(portal: &mut Portal) -> Result<()> {
    if portal.position == 0 && !portal.at_end {
        return Ok(());
    }
    if !portal.is_scrollable() {
        return Err(only_forward());
    }
    (portal.position, portal.at_end) = (0, false);
    Ok(())
}

fn only_forward() -> PgError {
    pg_err!(OBJECT_NOT_IN_PREREQUISITE_STATE, "cursor can only scan forward")
        .hint("Declare it with SCROLL option to enable backward scan.")
}

impl Portal {
    /// Decides whether the started cursor can scroll, unless that is declared.
    pub(super) fn make_scrollable(&mut self, declared: Option<bool>) {
        self.scroll = declared.unwrap_or_else(|| {
            self.run.as_ref().is_some_and(|run| {
                let plan = run.plan();
                plan.row_marks.is_empty() && planner::supports_backward_scan(&plan.plan_tree)
            })
        });
        if self.is_scrollable() {
            self.kept = Some(StoredRows::default());
        }
    }
}

impl State {
    /// The checks before the execution of any plan. Every execution calls this function.
    pub(crate) fn check_plan(&mut self, plan: &Arc<PlannedStmt>) -> Result<()> {
        self.show_identity(plan);
        self.check_writable(plan)?;
        crate::privileges::check_plan(self, plan)
    }

    /// The plan of the portal's query, or a parked execution of it.
    fn plan_portal(&mut self, portal: &mut Portal) -> Result<Planned> {
        let mode = self.values.resolved.plan_mode;
        let has_params = !portal.params.is_empty();
        let parked = portal.statement.take_parked(self, (has_params, mode), &portal.formats)?;
        Ok(match parked {
            Some(parked) => Planned::ParkedExecution(parked),
            None => Planned::Plan(portal.statement.plan(self, &portal.params, mode)?),
        })
    }

    /// Plans and starts the portal's query, if that has not been done.
    pub(crate) fn start_portal(&mut self, portal: &mut Portal) -> Result<()> {
        if portal.run.is_some() || portal.finished {
            return Ok(());
        }
        let planned = match portal.plan.take() {
            Some(planned) => planned,
            None => self.plan_portal(portal)?,
        };
        let mut run = match planned {
            Planned::ParkedExecution(mut parked) => {
                self.check_plan(parked.run.plan())?;
                let snapshot = self.backend.snapshot();
                parked.run.rerun(portal.params.clone(), snapshot)?;
                portal.writer = parked.writer;
                parked.run
            }
            Planned::Plan(mut plan) => {
                self.check_plan(&plan)?;
                if portal.cursor {
                    portal.cursor_rows.identities =
                        planner::add_row_identity(Arc::make_mut(&mut plan));
                }
                let list = &plan.plan_tree.info.target_list;
                portal.writer = RowWriter::new(list, &portal.formats);
                let params = portal.params.clone();
                let query = spi::Query::new(plan, params).under(QuerySnapshot::New);
                query.start(self)?
            }
        };
        if !run.plan().bound.is_empty() {
            self.backend.push_snapshot(run.snapshot().clone());
            let checked = run.check_values(self);
            self.backend.pop_snapshot();
            checked?;
        }
        let top = &run.plan().plan_tree;
        if let Some(fields) = portal.fields.as_ref().and_then(|f| rows::as_planned(f, top)) {
            portal.fields = Some(fields);
        }
        self.transaction.mode.queried = true;
        portal.command = run.plan().command_type;
        portal.run = Some(run);
        Ok(())
    }

    /// The next rows of the portal's query, at most `max`.
    fn next_batch(&mut self, portal: &mut Portal, max: usize) -> Result<Option<Batch>> {
        let Some(run) = &mut portal.run else { return Ok(None) };
        let snapshot = run.snapshot().clone();
        self.backend.push_snapshot(snapshot);
        let batch = run.next(self, max);
        self.backend.pop_snapshot();
        batch
    }

    /// Runs a statement that writes to its end, including its triggers, before any of its rows are
    /// sent, regardless of the row limit.
    pub(crate) fn run_to_end_if_writing(&mut self, portal: &mut Portal) -> Result<()> {
        let Some(run) = &portal.run else { return Ok(()) };
        if writes(run.plan()) && portal.fields.is_some() && portal.kept.is_none() {
            let mut kept = StoredRows::default();
            while let Some(batch) = self.next_batch(portal, BATCH_ROWS_MAX)? {
                kept.push(batch);
            }
            portal.kept = Some(kept);
            self.after_statement()?;
        }
        Ok(())
    }

    /// Computes the next rows, unless rows are left that were computed before; false at the end.
    fn compute_rows(&mut self, portal: &mut Portal, wanted: usize) -> Result<bool> {
        if portal.kept.is_none() && portal.rest.is_none() {
            let next = self.next_batch(portal, wanted.min(BATCH_ROWS_MAX))?;
            portal.rest = next.map(|batch| (batch, 0));
            return Ok(portal.rest.is_some());
        }
        Ok(true)
    }

    /// Sends up to `wanted` rows of one batch; 0 at the end.
    fn send_rows<S: RowSink>(
        &mut self,
        portal: &mut Portal,
        wanted: usize,
        mut sink: Option<&mut S>,
    ) -> Result<usize> {
        if let Some(kept) = &portal.kept {
            let Some((batch, row)) = kept.find(portal.position) else { return Ok(0) };
            if let Some(sink) = sink {
                sink.row(self, &portal.writer, batch, row)?;
            }
            portal.position += 1;
            return Ok(1);
        }
        self.compute_rows(portal, wanted)?;
        let Some((batch, from)) = portal.rest.take() else { return Ok(0) };
        let to = batch.len.min(from.saturating_add(wanted));
        if let Some(sink) = &mut sink {
            for row in from..to {
                sink.row(self, &portal.writer, &batch, row)?;
            }
        }
        let identities = &portal.cursor_rows.identities.rows;
        if !identities.is_empty() && to > from {
            let tid = |i: &RowIdentity| tid_at(i, &batch, to - 1);
            portal.cursor_rows.current = identities.iter().map(tid).collect();
        }
        if to < batch.len {
            portal.rest = Some((batch, to));
        } else if let Some(run) = &mut portal.run {
            run.recycle(batch);
        }
        Ok(to - from)
    }

    /// The number of rows to compute for a move of a cursor by `wanted` rows. It is larger if many
    /// moves are likely and it makes no difference when the rows are computed.
    fn rows_ahead(&mut self, portal: &mut Portal, wanted: usize) -> Result<usize> {
        if !portal.cursor || portal.position < ROWS_BEFORE_AHEAD {
            return Ok(wanted);
        }
        let ahead = match (portal.cursor_rows.ahead, &portal.run) {
            (Some(ahead), _) => ahead,
            (None, Some(run)) => {
                let plan = run.plan().clone();
                let is_constant = plan.row_marks.is_empty()
                    && spi::is_at_most(self, &plan, Volatility::Immutable)?;
                usize::from(is_constant)
            }
            (None, None) => 0,
        };
        portal.cursor_rows.ahead = Some((2 * ahead).min(ROWS_AHEAD_MAX));
        Ok(wanted.max(ahead))
    }

    /// Materializes rows up to row `at` (from 0); false if there are fewer.
    pub(super) fn read_until(&mut self, portal: &mut Portal, at: usize) -> Result<bool> {
        loop {
            let known = portal.kept.as_ref().map_or(0, StoredRows::rows);
            if at < known {
                return Ok(true);
            }
            if portal.finished {
                return Ok(false);
            }
            let wanted = (at - known).saturating_add(1);
            let wanted = self.rows_ahead(portal, wanted)?.min(BATCH_ROWS_MAX);
            match self.next_batch(portal, wanted)? {
                Some(batch) => portal.kept.get_or_insert_default().push(batch),
                None => portal.finished = true,
            }
        }
    }

    fn send_kept<S: RowSink>(
        &mut self,
        portal: &Portal,
        at: usize,
        sink: Option<&mut S>,
    ) -> Result<()> {
        match (portal.kept.as_ref().and_then(|k| k.find(at)), sink) {
            (Some((batch, row)), Some(sink)) => sink.row(self, &portal.writer, batch, row),
            _ => Ok(()),
        }
    }

    /// Moves the cursor and passes the rows to the sink; returns their number. Counterpart:
    /// `DoPortalRunFetch`.
    pub(super) fn fetch_rows<S: RowSink>(
        &mut self,
        portal: &mut Portal,
        (direction, count): (FetchDirection, i64),
        sink: Option<&mut S>,
    ) -> Result<u64> {
        let size = count.unsigned_abs();
        // This number represents ALL.
        let many = if size == i64::MAX as u64 { u64::MAX } else { size };
        match direction {
            FetchDirection::Forward if count > 0 => self.forward(portal, many, sink),
            FetchDirection::Backward if count < 0 => self.forward(portal, many, sink),
            FetchDirection::Forward if count < 0 => self.backward(portal, many, sink),
            FetchDirection::Backward if count > 0 => self.backward(portal, many, sink),
            FetchDirection::Relative if count > 0 => {
                self.forward(portal, size - 1, None::<&mut S>)?;
                self.forward(portal, 1, sink)
            }
            FetchDirection::Relative if count < 0 => {
                self.backward(portal, size - 1, None::<&mut S>)?;
                self.backward(portal, 1, sink)
            }
            FetchDirection::Absolute if count > 0 => {
                if size > portal.position as u64 / 2 + 1 {
                    let here = portal.position as u64 + u64::from(portal.at_end);
                    if size <= here {
                        self.backward(portal, here - size + 1, None::<&mut S>)?;
                    } else {
                        self.forward(portal, size - here - 1, None::<&mut S>)?;
                    }
                } else {
                    rewind(portal)?;
                    self.forward(portal, size - 1, None::<&mut S>)?;
                }
                self.forward(portal, 1, sink)
            }
            FetchDirection::Absolute if count < 0 => {
                self.forward(portal, u64::MAX, None::<&mut S>)?;
                if size > 1 {
                    self.backward(portal, size - 1, None::<&mut S>)?;
                }
                self.backward(portal, 1, sink)
            }
            FetchDirection::Absolute => {
                rewind(portal)?;
                Ok(0)
            }
            // Fetches the current row again.
            _ => {
                let on_row = portal.position > 0 && !portal.at_end;
                if !on_row || sink.is_none() {
                    return Ok(u64::from(on_row));
                }
                self.backward(portal, 1, None::<&mut S>)?;
                self.forward(portal, 1, sink)
            }
        }
    }

    /// Moves forward by `count` rows, or to the end.
    pub(super) fn forward<S: RowSink>(
        &mut self,
        portal: &mut Portal,
        count: u64,
        mut sink: Option<&mut S>,
    ) -> Result<u64> {
        let mut moved = 0;
        while moved < count && !portal.at_end {
            let n = if portal.kept.is_some() {
                let there = self.read_until(portal, portal.position)?;
                if there {
                    self.send_kept(portal, portal.position, sink.as_deref_mut())?;
                }
                usize::from(there)
            } else {
                let wanted = usize::try_from(count - moved).unwrap_or(usize::MAX);
                let ahead = self.rows_ahead(portal, wanted)?;
                match self.compute_rows(portal, ahead)? {
                    true => self.send_rows(portal, wanted, sink.as_deref_mut())?,
                    false => 0,
                }
            };
            portal.at_end = n == 0;
            portal.position += n;
            moved += n as u64;
        }
        Ok(moved)
    }

    /// Moves backward by `count` rows, or before the first row.
    fn backward<S: RowSink>(
        &mut self,
        portal: &mut Portal,
        count: u64,
        mut sink: Option<&mut S>,
    ) -> Result<u64> {
        if !portal.is_scrollable() {
            return Err(only_forward());
        }
        // The number of rows before the cursor during the move.
        let mut next = portal.position - usize::from(!portal.at_end && portal.position > 0);
        let mut moved = 0;
        while moved < count && next > 0 {
            next -= 1;
            self.send_kept(portal, next, sink.as_deref_mut())?;
            moved += 1;
        }
        if count > 0 {
            portal.at_end &= moved == 0 && next > 0;
            portal.position = if moved < count { 0 } else { next + 1 };
        }
        Ok(moved)
    }

    /// Before the end of a transaction inside a procedure: materializes the cursors of its loops.
    /// Counterpart: `HoldPinnedPortals`.
    pub(crate) fn hold_pinned_portals(&mut self) -> Result<()> {
        let pinned = self.named.portals.iter().filter(|(_, p)| p.pinned && !p.held);
        let names: Vec<String> = pinned.map(|(name, _)| name.clone()).collect();
        names.into_iter().try_for_each(|name| self.hold_portal(name))
    }

    /// Materializes the rows of a cursor, which then outlives the transaction.
    fn hold_portal(&mut self, name: String) -> Result<()> {
        let Some(mut portal) = self.named.portals.remove(&name) else { return Ok(()) };
        if portal.kept.is_none() {
            let rest = portal.rest.take();
            let from = rest.as_ref().map_or(0, |(_, from)| *from);
            let mut kept = StoredRows::after(portal.position - from);
            if let Some((batch, _)) = rest {
                kept.push(batch);
            }
            portal.kept = Some(kept);
        }
        self.read_until(&mut portal, usize::MAX - 1)?;
        portal.run = None;
        portal.held = true;
        portal.level = 0;
        self.named.portals.insert(name, portal);
        Ok(())
    }

    /// Before a commit: materializes cursors WITH HOLD and closes other portals. True if there were
    /// such cursors, which are an error if the transaction is to be prepared. Counterpart:
    /// `PreCommit_Portals`.
    pub(crate) fn keep_held_portals(&mut self, prepares: bool) -> Result<bool> {
        let names: Vec<String> = self
            .named
            .portals
            .iter()
            .filter(|(_, p)| p.hold && !p.held)
            .map(|(n, _)| n.clone())
            .collect();
        let any = !names.is_empty();
        if prepares && any {
            return Err(catalog::unpreparable("created a cursor WITH HOLD"));
        }
        names.into_iter().try_for_each(|name| self.hold_portal(name))?;
        self.named.portals.retain(|_, p| p.held);
        Ok(any)
    }

    /// Error 25006 for a statement that writes in a read-only transaction.
    pub(crate) fn check_writable(&mut self, plan: &PlannedStmt) -> Result<()> {
        if self.transaction.mode.read_only {
            utility::query::check_read_only(&mut self.cat(), plan)?;
        }
        Ok(())
    }

    /// The tuple id of the table row from which the current row of a cursor was computed.
    /// Counterpart: `execCurrentOf`.
    pub(crate) fn cursor_row(&mut self, name: &str, relid: Oid) -> Result<Option<Tid>> {
        let table = self.cat().relation(relid)?.name().to_owned();
        let portal = self.named.portals.get(name).ok_or_else(|| no_cursor(name))?;
        if !portal.statement.is_query || portal.command != CmdType::Select {
            return Err(pg_err!(INVALID_CURSOR_STATE, "cursor \"{name}\" is not a SELECT query"));
        }
        if portal.held {
            return Err(pg_err!(
                INVALID_CURSOR_STATE,
                "cursor \"{name}\" is held from a previous transaction"
            ));
        }
        let RowIdentities { locked, rows } = &portal.cursor_rows.identities;
        let mut places = rows.iter().enumerate().filter(|(_, i)| i.relid == relid);
        let Some((place, identity)) = places.next() else {
            return Err(match locked {
                true => pg_err!(
                    INVALID_CURSOR_STATE,
                    "cursor \"{name}\" does not have a FOR UPDATE/SHARE reference to table \
                    \"{table}\""
                ),
                false => pg_err!(
                    INVALID_CURSOR_STATE,
                    "cursor \"{name}\" is not a simply updatable scan of table \"{table}\""
                ),
            });
        };
        if places.next().is_some() {
            return Err(pg_err!(
                INVALID_CURSOR_STATE,
                "cursor \"{name}\" has multiple FOR UPDATE/SHARE references to table \"{table}\""
            ));
        }
        if portal.position == 0 || portal.at_end {
            return Err(pg_err!(
                INVALID_CURSOR_STATE,
                "cursor \"{name}\" is not positioned on a row"
            ));
        }
        Ok(match portal.kept.as_ref() {
            Some(kept) => {
                kept.find(portal.position - 1).and_then(|(batch, row)| tid_at(identity, batch, row))
            }
            None => portal.cursor_rows.current.get(place).copied().flatten(),
        })
    }
}

/// The TID in a row of a cursor, if the row is computed from one of this table.
fn tid_at(identity: &RowIdentity, batch: &Batch, row: usize) -> Option<Tid> {
    let of_table = |column| {
        let oid = batch.get(row, column);
        !oid.is_null() && oid.as_oid() == identity.relid
    };
    if !identity.tableoid.is_none_or(of_table) {
        return None;
    }
    executor::tid_of(batch.get(row, identity.column))
}

/// The error for a portal that is running, has failed, or is finished and has no rows to fetch.
pub(crate) fn cannot_be_run(name: &str) -> PgError {
    pg_err!(OBJECT_NOT_IN_PREREQUISITE_STATE, "portal \"{name}\" cannot be run")
}

pub(super) fn no_cursor(name: &str) -> PgError {
    PgError::new(SqlState::UNDEFINED_CURSOR, format!("cursor \"{name}\" does not exist"))
}
