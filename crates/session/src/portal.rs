//! Portals: the execution of statements, completely or in portions. Counterpart:
//! utils/mmgr/portalmem.c, tcop/pquery.c, commands/portalcmds.c.

pub(crate) mod cursors;
pub(crate) mod declare;
pub(crate) mod run;

use crate::prepared::{ParkedExecution, Prepared};
use client::rows::RowWriter;
use executor::Execution;
use ids::Tid;
use parse::ast::Node;
use plan::PlannedStmt;
use plan::query::CmdType;
use planner::RowIdentities;
use std::sync::Arc;
use types::{Batch, Datum};
use wire::{FieldDescription, Formats};

/// Materialized rows, for scrollable cursors and for cursors WITH HOLD.
#[derive(Default)]
struct StoredRows {
    batches: Vec<Batch>,
    /// For each batch, the number of its first row.
    starts: Vec<usize>,
    /// Number of rows up to the end of the last batch. The first rows may have been discarded.
    rows: usize,
}

impl StoredRows {
    fn push(&mut self, batch: Batch) {
        self.starts.push(self.rows);
        self.rows += batch.len;
        self.batches.push(batch);
    }

    /// The batch of row `at` (from 0), and the row's index in it.
    fn find(&self, at: usize) -> Option<(&Batch, usize)> {
        let after = self.starts.partition_point(|start| *start <= at);
        let (batch, start) = (self.batches.get(after.checked_sub(1)?)?, self.starts[after - 1]);
        (at - start < batch.len).then_some((batch, at - start))
    }
}

/// A portal.
pub(crate) struct Portal {
    pub(crate) statement: Arc<Prepared>,
    pub(crate) params: Arc<[Datum]>,
    pub(crate) formats: Formats,
    pub(crate) fields: Option<Arc<[FieldDescription]>>,
    /// The command type of the plan, if there is one.
    command: CmdType,
    /// The plan or parked execution of a query that has not been started.
    plan: Option<Planned>,
    run: Option<Execution>,
    writer: RowWriter,
    /// The remaining rows of a batch that have not been sent.
    rest: Option<(Batch, usize)>,
    kept: Option<StoredRows>,
    /// Number of rows up to and including the cursor's current row.
    position: usize,
    /// The cursor is after the last row.
    at_end: bool,
    pub(crate) finished: bool,
    /// An error has ended the portal.
    failed: bool,
    /// The remaining rows of a utility command that has been run.
    pub(crate) lines: UtilityRows,
    /// The columns with the tuple ids of a cursor's rows.
    identities: RowIdentities,
    /// The tuple ids of the table rows from which the cursor's current row was computed, in the
    /// order of `identities`.
    current: Vec<Option<Tid>>,
    hold: bool,
    held: bool,
    /// A loop of a function reads it: it survives the end of the transaction.
    pub(crate) pinned: bool,
    scroll: bool,
    /// Created by DECLARE CURSOR.
    pub(crate) cursor: bool,
    /// DECLARE BINARY CURSOR: FETCH in a simple query returns rows in binary format.
    binary: bool,
    /// Nesting level of the (sub)transaction that created it.
    pub(crate) level: usize,
    /// Creation time, in microseconds since 2000-01-01.
    pub(crate) created: i64,
}

/// Rows of a utility command as encoded messages that have not been sent.
#[derive(Default)]
pub(crate) struct UtilityRows {
    bytes: Vec<u8>,
    used: usize,
    /// The command's tag.
    tag: String,
}

impl UtilityRows {
    pub(crate) fn new(bytes: Vec<u8>, tag: String) -> UtilityRows {
        UtilityRows { bytes, used: 0, tag }
    }

    /// Sends up to `limit` rows (0: all) and the command tag, which counts the rows of this call.
    /// If exactly `limit` rows were sent, the portal is suspended even if no row is left.
    pub(crate) fn send(&mut self, limit: u64, out: &mut Vec<u8>) {
        let mut sent = 0;
        while limit == 0 || sent < limit {
            let rest = &self.bytes[self.used..];
            let Some(length) = rest.get(1..).and_then(|b| b.first_chunk::<4>()) else { break };
            let message = &rest[..1 + u32::from_be_bytes(*length) as usize];
            out.extend_from_slice(message);
            self.used += message.len();
            sent += u64::from(message[0] == b'D');
        }
        if limit > 0 && sent == limit {
            return wire::backend::portal_suspended(out);
        }
        let tag = match self.tag.rsplit_once(' ') {
            Some((verb, count)) if count.parse::<u64>().is_ok() => format!("{verb} {sent}"),
            _ => self.tag.clone(),
        };
        wire::backend::command_complete(out, &tag);
    }
}

/// The source of a portal's execution: a parked execution, or a plan.
enum Planned {
    ParkedExecution(ParkedExecution),
    Plan(Arc<PlannedStmt>),
}

/// The result of running a portal.
pub(crate) enum PortalResult {
    /// Command type and row count of the command tag.
    Complete(CmdType, u64),
    /// There may be more rows.
    Suspended,
}

impl Portal {
    /// True if more rows can be fetched, as far as is known.
    pub(crate) fn is_ready(&self) -> bool {
        (self.fields.is_some() || !self.finished) && !self.failed
    }

    /// True if an error has ended it.
    pub(crate) fn has_failed(&self) -> bool {
        self.failed
    }

    /// Ends the portal by an error: its execution is closed. Counterpart: `MarkPortalFailed`.
    pub(crate) fn fail(&mut self) {
        self.failed = true;
        self.run = None;
        self.rest = None;
    }

    /// True if its query is active on the relation.
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
            plan: None,
            run: None,
            writer: RowWriter::default(),
            rest: None,
            kept: None,
            position: 0,
            at_end: false,
            finished: false,
            failed: false,
            lines: UtilityRows::default(),
            identities: RowIdentities::default(),
            current: Vec::new(),
            hold: false,
            binary: false,
            held: false,
            pinned: false,
            // A portal of a Bind message is forward-only.
            scroll: false,
            cursor: false,
            level,
            created: 0,
        }
    }

    /// True if the portal has been held after the end of its transaction.
    pub(crate) fn is_held(&self) -> bool {
        self.held
    }

    pub(crate) fn is_scrollable(&self) -> bool {
        self.scroll
    }

    /// True if it was declared WITH HOLD.
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

/// True if the statement writes to tables.
pub(crate) fn writes(plan: &PlannedStmt) -> bool {
    plan.command_type != CmdType::Select || plan.has_modifying_cte
}

/// True if the statement is allowed in a failed transaction.
pub(crate) fn ends_block(node: Option<&Node>) -> bool {
    use parse::ast::TransactionStmtKind as K;
    match node {
        Some(Node::TransactionStmt(t)) => {
            matches!(t.kind, K::Commit | K::Rollback | K::RollbackTo | K::Prepare)
        }
        _ => false,
    }
}
