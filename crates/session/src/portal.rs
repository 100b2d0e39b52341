//! Portals: statements in execution, whole or in parts. Counterpart: portalmem.c, pquery.c, portalcmds.c.

use crate::plancache::choice::Mode;
use crate::prepared::{Idle, Prepared};
use crate::rows::RowWriter;
use crate::session::Session;
use executor::{Execution, QueryDesc};
use parse::ast::{ClosePortalStmt, DeclareCursorStmt, FetchDirection, FetchStmt, Node};
use pgerror::{PgError, Result, SqlState, pg_err};
use plan::PlannedStmt;
use plan::query::{CmdType, LockStrength, RteKind, acl};
use std::sync::Arc;
use types::{BATCH_ROWS_MAX, Batch, Datum};
use wire::{FieldDescription, Format, Formats};

/// Bits of DECLARE CURSOR.
const CURSOR_BINARY: i32 = 1 << 0;
const CURSOR_SCROLL: i32 = 1 << 1;
const CURSOR_NO_SCROLL: i32 = 1 << 2;
const CURSOR_HOLD: i32 = 1 << 5;

/// Rows read so far, for cursors that go back and those that outlive their transaction.
#[derive(Default)]
struct Kept {
    batches: Vec<Batch>,
    /// Rows in all batches.
    rows: usize,
}

impl Kept {
    fn push(&mut self, batch: Batch) {
        self.rows += batch.len;
        self.batches.push(batch);
    }

    /// The batch and the row in it of row `at` (from 0).
    fn find(&self, mut at: usize) -> Option<(&Batch, usize)> {
        for batch in &self.batches {
            if at < batch.len {
                return Some((batch, at));
            }
            at -= batch.len;
        }
        None
    }
}

/// See the module's text.
pub(crate) struct Portal {
    pub(crate) statement: Arc<Prepared>,
    pub(crate) params: Arc<[Datum]>,
    pub(crate) formats: Formats,
    pub(crate) fields: Option<Arc<[FieldDescription]>>,
    /// Of the plan, once there is one.
    command: CmdType,
    run: Option<Execution>,
    writer: RowWriter,
    /// Rows taken from the execution and not yet sent.
    rest: Option<(Batch, usize)>,
    kept: Option<Kept>,
    /// Rows before the cursor's next one.
    position: usize,
    finished: bool,
    hold: bool,
    held: bool,
    scroll: Option<bool>,
    /// Declared by SQL.
    pub(crate) cursor: bool,
    /// DECLARE BINARY CURSOR: what FETCH in a simple query sends.
    binary: bool,
    /// Nesting level of the transaction that it belongs to.
    pub(crate) level: usize,
    /// Microseconds since 2000.
    pub(crate) created: i64,
}

/// How an execution of a portal ended.
pub(crate) enum Ran {
    /// What is in the command's tag.
    Complete(CmdType, u64),
    /// There may be more rows.
    Suspended,
}

impl Portal {
    /// Is its query at work on the relation?
    pub(crate) fn reads(&self, relation: ids::Oid) -> bool {
        let at_work = self.run.as_ref().filter(|_| !self.held);
        at_work.is_some_and(|run| run.plan().relation_oids.contains(&relation))
    }

    pub(crate) fn new(
        statement: Arc<Prepared>,
        params: Arc<[Datum]>,
        formats: Formats,
        fields: Option<Arc<[FieldDescription]>>,
        level: usize,
    ) -> Portal {
        Portal {
            statement,
            params,
            formats,
            fields,
            command: CmdType::Select,
            run: None,
            writer: RowWriter::default(),
            rest: None,
            kept: None,
            position: 0,
            finished: false,
            hold: false,
            binary: false,
            held: false,
            // One that a Bind makes goes forward only.
            scroll: Some(false),
            cursor: false,
            level,
            created: 0,
        }
    }

    /// Does it outlive its transaction?
    pub(crate) fn is_held(&self) -> bool {
        self.held
    }

    pub(crate) fn is_scrollable(&self) -> bool {
        self.scroll.unwrap_or(true)
    }

    /// Was it declared WITH HOLD?
    pub(crate) fn outlives_transaction(&self) -> bool {
        self.hold
    }

    pub(crate) fn is_binary(&self) -> bool {
        self.binary
    }
}

fn verb(command: CmdType) -> &'static str {
    match command {
        CmdType::Insert => "INSERT 0",
        CmdType::Update => "UPDATE",
        CmdType::Delete => "DELETE",
        CmdType::Merge => "MERGE",
        _ => "SELECT",
    }
}

/// The command tag of a query.
pub(crate) fn query_tag(command: CmdType, rows: u64) -> String {
    format!("{} {rows}", verb(command))
}

/// Sends the command tag of a query.
pub(crate) fn write_tag(out: &mut Vec<u8>, command: CmdType, rows: u64) {
    wire::backend::command_complete_count(out, verb(command), rows);
}

/// 25006 for statements that write, where they must not: tables that are not the session's own need no more than
/// SELECT. Counterpart: `ExecCheckXactReadOnly`.
fn check_read_only(core: &mut crate::core::Core, plan: &PlannedStmt) -> Result<()> {
    let mut writes = false;
    for rte in plan.rtable.iter().filter(|r| r.required_perms & !acl::SELECT != 0) {
        if let RteKind::Relation { relid, .. } = rte.kind {
            writes |= core.cat().class(relid)?.relpersistence != b't';
        }
    }
    if !writes {
        return Ok(());
    }
    let what = match (plan.command_type, plan.row_marks.first().map(|m| m.strength)) {
        (CmdType::Insert, _) => "INSERT",
        (CmdType::Update, _) => "UPDATE",
        (CmdType::Delete, _) => "DELETE",
        (CmdType::Merge, _) => "MERGE",
        (_, Some(LockStrength::ForKeyShare)) => "SELECT FOR KEY SHARE",
        (_, Some(LockStrength::ForShare)) => "SELECT FOR SHARE",
        (_, Some(LockStrength::ForNoKeyUpdate)) => "SELECT FOR NO KEY UPDATE",
        (_, Some(LockStrength::ForUpdate)) => "SELECT FOR UPDATE",
        _ => "SELECT",
    };
    Err(pg_err!(READ_ONLY_SQL_TRANSACTION, "cannot execute {what} in a read-only transaction"))
}

impl Session {
    /// What must be right before a plan is run, whoever made it and when: every execution comes by here.
    pub(crate) fn check_plan(&mut self, plan: &Arc<PlannedStmt>) -> Result<()> {
        if self.core.mode.read_only {
            check_read_only(&mut self.core, plan)?;
        }
        crate::rights::check_plan(&mut self.core, plan)
    }

    /// Plans the portal's query and starts it, if that has not been done.
    pub(crate) fn start_portal(&mut self, portal: &mut Portal) -> Result<()> {
        if portal.run.is_some() || portal.finished {
            return Ok(());
        }
        let mode = self.core.resolved.plan_mode;
        let custom = mode == Mode::Custom && !portal.params.is_empty();
        let core = &mut self.core;
        let mut run = match portal.statement.take_idle(core, custom, &portal.formats)? {
            Some(mut idle) => {
                self.check_plan(idle.run.plan())?;
                let snapshot = self.core.backend.snapshot();
                idle.run.rerun(portal.params.clone(), snapshot)?;
                portal.writer = idle.writer;
                idle.run
            }
            None => {
                let plan = portal.statement.plan(core, &portal.params, mode)?;
                self.check_plan(&plan)?;
                let snapshot = self.core.backend.snapshot();
                let list = &plan.plan_tree.info.target_list;
                portal.writer = RowWriter::new(list, &portal.formats);
                let params = portal.params.clone();
                let desc = QueryDesc { plan, params, snapshot: snapshot.clone() };
                self.core.backend.push_snapshot(snapshot);
                let run = Execution::start(desc, &mut self.core);
                self.core.backend.pop_snapshot();
                run?
            }
        };
        if !run.plan().bound.is_empty() {
            self.core.backend.push_snapshot(run.snapshot().clone());
            let checked = run.check_values(&mut self.core);
            self.core.backend.pop_snapshot();
            checked?;
        }
        self.core.mode.queried = true;
        portal.command = run.plan().command_type;
        portal.run = Some(run);
        Ok(())
    }

    /// The next rows of the portal's query, at most `max`.
    fn next_batch(&mut self, portal: &mut Portal, max: usize) -> Result<Option<Batch>> {
        let Some(run) = &mut portal.run else { return Ok(None) };
        let snapshot = run.snapshot().clone();
        self.core.backend.push_snapshot(snapshot);
        let batch = run.next(&mut self.core, max);
        self.core.backend.pop_snapshot();
        batch
    }

    /// Runs a query to its end and sends its rows, unless `max_rows` (0: all) come first.
    pub(crate) fn run_query_portal(&mut self, portal: &mut Portal, max_rows: u64) -> Result<Ran> {
        self.start_portal(portal)?;
        let command = portal.command;
        let returns = portal.fields.is_some();
        // A statement that writes is run to its end whatever the client wants to see of it.
        if command != CmdType::Select && returns && max_rows > 0 && portal.kept.is_none() {
            let mut kept = Kept::default();
            while let Some(batch) = self.next_batch(portal, BATCH_ROWS_MAX)? {
                kept.push(batch);
            }
            portal.kept = Some(kept);
        }
        let mut sent = 0u64;
        while max_rows == 0 || sent < max_rows {
            let wanted = if max_rows == 0 { usize::MAX } else { (max_rows - sent) as usize };
            let n = self.send_rows(portal, wanted, returns)?;
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
            return Ok(Ran::Suspended);
        }
        self.core.after_statement()?;
        let processed = portal.run.as_ref().map_or(0, |r| r.processed());
        let here = command == CmdType::Select || portal.kept.is_some();
        let rows = if here { sent } else { processed };
        if let Some(run) = portal.run.take() {
            let (writer, formats) = (std::mem::take(&mut portal.writer), portal.formats.clone());
            portal.statement.keep_idle(&mut self.core, Idle { run, writer, formats })?;
        }
        Ok(Ran::Complete(command, rows))
    }

    /// Sends up to `wanted` rows of one batch; 0 at the end.
    fn send_rows(&mut self, portal: &mut Portal, wanted: usize, send: bool) -> Result<usize> {
        if let Some(kept) = &portal.kept {
            let Some((batch, row)) = kept.find(portal.position) else { return Ok(0) };
            portal.writer.write(&mut self.core, batch, row, &mut self.conn.out)?;
            portal.position += 1;
            return Ok(1);
        }
        if portal.rest.is_none() {
            match self.next_batch(portal, wanted.min(BATCH_ROWS_MAX))? {
                Some(batch) => portal.rest = Some((batch, 0)),
                None => return Ok(0),
            }
        }
        let Some((batch, from)) = portal.rest.take() else { return Ok(0) };
        let to = batch.len.min(from.saturating_add(wanted));
        if send {
            for row in from..to {
                portal.writer.write(&mut self.core, &batch, row, &mut self.conn.out)?;
                self.conn.flush_if_large()?;
            }
        }
        if to < batch.len {
            portal.rest = Some((batch, to));
        } else if let Some(run) = &mut portal.run {
            run.recycle(batch);
        }
        Ok(to - from)
    }

    /// DECLARE CURSOR.
    pub(crate) fn declare_cursor(
        &mut self,
        stmt: &DeclareCursorStmt,
        sql: &Arc<str>,
        params: &Arc<[Datum]>,
        param_types: &[ids::Oid],
    ) -> Result<()> {
        let name = stmt.portalname.to_string();
        let hold = stmt.options & CURSOR_HOLD != 0;
        if !hold && self.xact.block != crate::xact::Block::Explicit {
            return Err(pg_err!(
                NO_ACTIVE_SQL_TRANSACTION,
                "DECLARE CURSOR can only be used in transaction blocks"
            ));
        }
        if name.is_empty() {
            return Err(pg_err!(INVALID_CURSOR_NAME, "invalid cursor name: must not be empty"));
        }
        if self.core.portals.contains_key(&name) {
            return Err(pg_err!(DUPLICATE_CURSOR, "cursor \"{name}\" already exists"));
        }
        let raw = parse::RawStmt { stmt: stmt.query.clone(), location: 0, len: 0 };
        let types = param_types.to_vec();
        let prepared = Prepared::new(&mut self.core, sql.clone(), Some(raw), types, None, false)?;
        let fields = prepared.fields.clone();
        let level = self.core.backend.txn.nesting();
        let mut portal =
            Portal::new(Arc::new(prepared), params.clone(), Formats::Text, fields, level);
        portal.cursor = true;
        portal.binary = stmt.options & CURSOR_BINARY != 0;
        portal.hold = hold;
        portal.created = self.core.statement_start;
        portal.scroll = if stmt.options & CURSOR_SCROLL != 0 {
            Some(true)
        } else if stmt.options & CURSOR_NO_SCROLL != 0 {
            Some(false)
        } else {
            None
        };
        self.start_portal(&mut portal)?;
        if portal.is_scrollable() {
            portal.kept = Some(Kept::default());
        }
        self.core.portals.insert(name, portal);
        Ok(())
    }

    /// FETCH and MOVE: the tag. Rows are described before they are sent where `describe`.
    pub(crate) fn fetch(&mut self, stmt: &FetchStmt, describe: bool) -> Result<String> {
        let name = stmt.portalname.to_string();
        let mut portal = self.core.portals.remove(&name).ok_or_else(|| no_cursor(&name))?;
        if portal.statement.is_query {
            self.start_portal(&mut portal)?;
        }
        let formats = match (describe, portal.binary) {
            (true, true) => Formats::All(Format::Binary),
            (true, false) => Formats::Text,
            (false, _) => self.results.clone(),
        };
        if describe && !stmt.ismove {
            let fields = portal.fields.as_deref().unwrap_or_default().to_vec();
            let fields = crate::rows::with_formats(fields, &formats)?;
            wire::backend::row_description(&mut self.conn.out, &fields);
        }
        let writer = portal.writer.in_formats(&formats);
        let own = std::mem::replace(&mut portal.writer, writer);
        let result = self.fetch_rows(&mut portal, stmt);
        portal.writer = own;
        self.core.portals.insert(name, portal);
        let verb = if stmt.ismove { "MOVE" } else { "FETCH" };
        Ok(format!("{verb} {}", result?))
    }

    /// Columns that a FETCH from that cursor has.
    pub(crate) fn cursor_fields(&self, name: &str) -> Option<Arc<[FieldDescription]>> {
        self.core.portals.get(name).and_then(|p| p.fields.clone())
    }

    /// Reads on until row `at` (from 0) is kept; false if there are fewer.
    fn read_until(&mut self, portal: &mut Portal, at: usize) -> Result<bool> {
        loop {
            let known = portal.kept.as_ref().map_or(0, |k| k.rows);
            if at < known {
                return Ok(true);
            }
            if portal.finished {
                return Ok(false);
            }
            let wanted = (at - known).saturating_add(1).min(BATCH_ROWS_MAX);
            match self.next_batch(portal, wanted)? {
                Some(batch) => portal.kept.get_or_insert_default().push(batch),
                None => portal.finished = true,
            }
        }
    }

    fn send_kept(&mut self, portal: &Portal, at: usize) -> Result<()> {
        if let Some((batch, row)) = portal.kept.as_ref().and_then(|k| k.find(at)) {
            portal.writer.write(&mut self.core, batch, row, &mut self.conn.out)?;
        }
        self.conn.flush_if_large()
    }

    /// `position` counts the rows at and before the current one: 0 is before the first, n + 1 after the last.
    fn fetch_rows(&mut self, portal: &mut Portal, stmt: &FetchStmt) -> Result<u64> {
        let count = stmt.how_many;
        let forward = matches!(stmt.direction, FetchDirection::Forward);
        let backward = matches!(stmt.direction, FetchDirection::Backward);
        if forward && count > 0 {
            return self.fetch_forward(portal, count as u64, stmt.ismove);
        }
        let here = portal.position as i64;
        let goes_back = match stmt.direction {
            FetchDirection::Forward => count < 0,
            FetchDirection::Backward => count > 0,
            FetchDirection::Absolute => count < here || count < 0,
            FetchDirection::Relative => count < 0,
        };
        if goes_back && !portal.is_scrollable() {
            return Err(pg_err!(OBJECT_NOT_IN_PREREQUISITE_STATE, "cursor can only scan forward")
                .hint("Declare it with SCROLL option to enable backward scan."));
        }
        if (forward || backward) && count != 0 {
            let back = if forward { count.unsigned_abs() } else { count.max(0) as u64 };
            if backward && count < 0 {
                return self.fetch_forward(portal, count.unsigned_abs(), stmt.ismove);
            }
            let mut moved = 0;
            while moved < back && portal.position > 1 {
                portal.position -= 1;
                if self.read_until(portal, portal.position - 1)? && !stmt.ismove {
                    self.send_kept(portal, portal.position - 1)?;
                }
                moved += 1;
            }
            if moved < back {
                portal.position = 0;
            }
            return Ok(moved);
        }
        // To one row: the current one, or that number.
        let target = match stmt.direction {
            FetchDirection::Absolute if count < 0 => {
                self.read_until(portal, usize::MAX - 1)?;
                let rows = portal.kept.as_ref().map_or(0, |k| k.rows) as i64;
                (rows + 1 + count).max(0)
            }
            FetchDirection::Absolute => count,
            FetchDirection::Relative => here.saturating_add(count).max(0),
            _ => here,
        };
        let target = usize::try_from(target).unwrap_or(0);
        if target == 0 {
            portal.position = 0;
            return Ok(0);
        }
        if self.read_until(portal, target - 1)? {
            portal.position = target;
            if !stmt.ismove {
                self.send_kept(portal, target - 1)?;
            }
            return Ok(1);
        }
        portal.position = portal.kept.as_ref().map_or(0, |k| k.rows) + 1;
        Ok(0)
    }

    fn fetch_forward(&mut self, portal: &mut Portal, count: u64, only_move: bool) -> Result<u64> {
        let mut moved = 0;
        if portal.kept.is_some() {
            while moved < count && self.read_until(portal, portal.position)? {
                if !only_move {
                    self.send_kept(portal, portal.position)?;
                }
                portal.position += 1;
                moved += 1;
            }
            if moved < count {
                portal.position = portal.kept.as_ref().map_or(0, |k| k.rows) + 1;
            }
            return Ok(moved);
        }
        while moved < count {
            let wanted = usize::try_from(count - moved).unwrap_or(usize::MAX);
            let n = self.send_rows(portal, wanted, !only_move)?;
            if n == 0 {
                break;
            }
            moved += n as u64;
        }
        portal.position += moved as usize;
        Ok(moved)
    }

    /// Before a commit: cursors WITH HOLD read all their rows, other portals end.
    pub(crate) fn keep_held_portals(&mut self) -> Result<()> {
        let names: Vec<String> = self
            .core
            .portals
            .iter()
            .filter(|(_, p)| p.hold && !p.held)
            .map(|(n, _)| n.clone())
            .collect();
        for name in names {
            let Some(mut portal) = self.core.portals.remove(&name) else { continue };
            let rest = portal.rest.take();
            let kept = portal.kept.get_or_insert_default();
            if let Some((batch, _)) = rest {
                kept.push(batch);
            }
            self.read_until(&mut portal, usize::MAX - 1)?;
            portal.run = None;
            portal.held = true;
            portal.level = 0;
            self.core.portals.insert(name, portal);
        }
        self.core.portals.retain(|_, p| p.held);
        Ok(())
    }

    pub(crate) fn close_cursor(&mut self, stmt: &ClosePortalStmt) -> Result<&'static str> {
        match &stmt.portalname {
            None => {
                self.core.portals.retain(|_, p| !p.cursor);
                Ok("CLOSE CURSOR ALL")
            }
            Some(name) => match self.core.portals.remove(&**name) {
                Some(_) => Ok("CLOSE CURSOR"),
                None => Err(no_cursor(name)),
            },
        }
    }
}

fn no_cursor(name: &str) -> PgError {
    PgError::new(SqlState::UNDEFINED_CURSOR, format!("cursor \"{name}\" does not exist"))
}

/// May the statement run in a transaction that has failed?
pub(crate) fn ends_block(node: Option<&Node>) -> bool {
    use parse::ast::TransactionStmtKind as K;
    match node {
        Some(Node::TransactionStmt(t)) => {
            matches!(t.kind, K::Commit | K::Rollback | K::RollbackTo | K::Prepare)
        }
        _ => false,
    }
}
