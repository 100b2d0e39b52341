//! Portals: the execution of statements, completely or in portions. Counterpart:
//! utils/mmgr/portalmem.c, tcop/pquery.c, commands/portalcmds.c.

pub(crate) mod cursors;
pub(crate) mod declare;
pub(crate) mod run;

use crate::prepared::{ParkedExecution, Prepared};
use client::results::{StoredRows, UtilityRows};
use client::rows::RowWriter;
use executor::Execution;
use ids::Tid;
use plan::PlannedStmt;
use plan::query::CmdType;
use planner::RowIdentities;
use std::sync::Arc;
use types::fn_context::RowDesc;
use types::{Batch, Datum};
use wire::{FieldDescription, Formats};

/// The rows of a cursor.
#[derive(Default)]
struct CursorRows {
    /// The columns with the tuple ids of the table rows from which they are computed.
    identities: RowIdentities,
    /// The tuple ids for the current row, in the order of `identities`.
    current: Vec<Option<Tid>>,
    /// Number of rows that are computed together when one is fetched; `None` if that is not known
    /// yet.
    ahead: Option<usize>,
    /// What functions that fetch rows know about them.
    fetched: Option<Fetched>,
}

/// The rows of a cursor for functions.
#[derive(Clone)]
struct Fetched {
    desc: Arc<RowDesc>,
    /// Indexes of the columns that are not junk.
    columns: Arc<[usize]>,
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
    cursor_rows: CursorRows,
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
    ) -> Box<Portal> {
        Box::new(Portal {
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
            cursor_rows: CursorRows::default(),
            hold: false,
            binary: false,
            held: false,
            pinned: false,
            // A portal of a Bind message is forward-only.
            scroll: false,
            cursor: false,
            level,
            created: 0,
        })
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

/// True if the statement writes to tables.
pub(crate) fn writes(plan: &PlannedStmt) -> bool {
    plan.command_type != CmdType::Select || plan.has_modifying_cte
}
