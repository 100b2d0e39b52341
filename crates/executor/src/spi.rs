//! Queries inside the server. This is the only module that starts executions of plans, for
//! statements of clients, functions, commands, cursors and referential actions.
//!
//! A [`Query`] contains what is executed and under which snapshot. [`Query::run`] reads all its
//! rows; [`Query::discard`] only counts them. [`Query::open`] returns a [`Cursor`]; between its
//! rows the session may do other work. [`Query::start`] leaves everything after the start to the
//! caller.
//!
//! INVARIANT: an execution starts and runs while its snapshot is the active one, so that the
//! functions that it calls use the same snapshot.
//!
//! Counterpart: executor/spi.c.

use crate::execution::Execution;
use crate::run::QueryDesc;
use engine::Snapshot;
use eval::{Facts, Volatility};
use pgerror::{Result, pg_err};
use plan::PlannedStmt;
use plan::node::Plan;
use plan::query::CmdType;
use rowops::services::Services;
use std::sync::Arc;
use types::{BATCH_ROWS_MAX, Batch, Datum};

/// The context of a query: the session, or the part of it that a lower layer can access.
pub trait QueryHost {
    /// The context in which plans are executed.
    fn services(&mut self) -> &mut dyn Services;

    /// Makes the changes of the transaction visible to subsequent commands.
    fn increment_command_counter(&mut self) -> Result<()>;
}

/// The snapshot of a query.
#[derive(Clone, Debug)]
pub enum QuerySnapshot {
    /// The active snapshot, or a new one if there is none.
    Active,
    /// A new snapshot; under REPEATABLE READ that of the transaction.
    New,
    /// As `New`, after the command counter was incremented: it sees all changes of the transaction.
    NewCommand,
    /// A new snapshot of all committed rows, even under REPEATABLE READ, after the command counter
    /// was incremented. Rows that are not visible to the transaction's snapshot cannot be changed
    /// (40001).
    Latest,
    /// The given snapshot.
    Given(Arc<Snapshot>),
}

/// A plan with everything on which its execution depends.
pub struct Query {
    pub plan: Arc<PlannedStmt>,
    /// Values of `$1` ….
    pub params: Arc<[Datum]>,
    pub snapshot: QuerySnapshot,
    /// Maximum number of rows that are read.
    pub rows_max: usize,
    /// A statement that writes is refused with error 0A000.
    pub read_only: bool,
    /// Collects the statistics of EXPLAIN ANALYZE; true if times are measured too.
    pub instrument: Option<bool>,
    /// A parked execution of the same plan, which is run again.
    pub parked: Option<Execution>,
}

/// Receives a batch and the indexes of its columns that are not junk.
pub type Sink<'a, H> = dyn FnMut(&mut H, &Batch, &[usize]) -> Result<()> + 'a;

/// The result of a query.
pub struct Finished {
    /// Number of rows that were read or changed.
    pub rows: u64,
    pub execution: Execution,
}

impl Query {
    /// A query under the active snapshot that may write and has no row limit.
    pub fn new(plan: Arc<PlannedStmt>, params: Arc<[Datum]>) -> Query {
        Query {
            plan,
            params,
            snapshot: QuerySnapshot::Active,
            rows_max: usize::MAX,
            read_only: false,
            instrument: None,
            parked: None,
        }
    }

    /// The same query under another snapshot.
    pub fn under(self, snapshot: QuerySnapshot) -> Query {
        Query { snapshot, ..self }
    }

    /// Starts the execution: checks privileges and builds the nodes, but reads no row.
    pub fn start<H: QueryHost + ?Sized>(self, host: &mut H) -> Result<Execution> {
        if let QuerySnapshot::Active = self.snapshot
            && let Some(snapshot) = host.services().backend().active_snapshot()
        {
            let active = Chosen { snapshot: snapshot.clone(), crosscheck: None };
            return self.start_under(host.services(), active);
        }
        let chosen = self.snapshot.choose(host)?;
        with_snapshot(host, &chosen.snapshot.clone(), |host| {
            self.start_under(host.services(), chosen)
        })
    }

    /// Starts the execution; its rows are read through the cursor.
    pub fn open<H: QueryHost + ?Sized>(self, host: &mut H) -> Result<Cursor> {
        let (columns, rows_left) = (self.plan.visible_columns(), self.rows_max);
        Ok(Cursor { execution: self.start(host)?, columns, rows_left })
    }

    /// Runs the query to its end, or to the largest number of rows.
    pub fn run<H: QueryHost + ?Sized>(
        self,
        host: &mut H,
        sink: &mut Sink<'_, H>,
    ) -> Result<Finished> {
        let chosen = self.snapshot.choose(host)?;
        with_snapshot(host, &chosen.snapshot.clone(), |host| {
            let (columns, rows_left) = (self.plan.visible_columns(), self.rows_max);
            let execution = self.start_under(host.services(), chosen)?;
            Cursor { execution, columns, rows_left }.drain(host, sink)
        })
    }

    /// As [`Query::run`], if nothing reads the rows.
    pub fn discard<H: QueryHost + ?Sized>(self, host: &mut H) -> Result<Finished> {
        let chosen = self.snapshot.choose(host)?;
        with_snapshot(host, &chosen.snapshot.clone(), |host| {
            let rows_left = self.rows_max;
            let execution = self.start_under(host.services(), chosen)?;
            Cursor { execution, columns: Vec::new(), rows_left }.drain(host, &mut |_, _, _| Ok(()))
        })
    }

    /// As [`Query::run`]; returns the rows without junk columns.
    pub fn rows<H: QueryHost + ?Sized>(self, host: &mut H) -> Result<Vec<Vec<Datum>>> {
        let mut rows = Vec::new();
        self.run(host, &mut |_, batch, columns| {
            rows.extend((0..batch.len).map(|r| row_of(batch, r, columns)));
            Ok(())
        })?;
        Ok(rows)
    }

    fn start_under(self, services: &mut dyn Services, chosen: Chosen) -> Result<Execution> {
        if self.read_only {
            check_read_only(&self.plan)?;
        }
        let Chosen { snapshot, crosscheck } = chosen;
        let mut execution = match self.parked {
            Some(mut execution) => {
                execution.rerun(self.params, snapshot)?;
                execution
            }
            None => {
                let desc = QueryDesc { plan: self.plan, params: self.params, snapshot };
                Execution::start(desc, services, self.instrument)?
            }
        };
        if let Some(snapshot) = crosscheck {
            execution.crosscheck(snapshot);
        }
        Ok(execution)
    }
}

/// The snapshot of a query, and the snapshot to which the rows that it changes must be visible.
struct Chosen {
    snapshot: Arc<Snapshot>,
    crosscheck: Option<Arc<Snapshot>>,
}

impl QuerySnapshot {
    /// The snapshot itself, for a caller that keeps it active for longer than the query.
    pub fn resolve<H: QueryHost + ?Sized>(&self, host: &mut H) -> Result<Arc<Snapshot>> {
        self.choose(host).map(|chosen| chosen.snapshot)
    }

    fn choose<H: QueryHost + ?Sized>(&self, host: &mut H) -> Result<Chosen> {
        if let QuerySnapshot::NewCommand | QuerySnapshot::Latest = self {
            host.increment_command_counter()?;
        }
        let backend = host.services().backend();
        let mut crosscheck = None;
        let snapshot = match self {
            QuerySnapshot::Active => match backend.active_snapshot() {
                Some(snapshot) => snapshot.clone(),
                None => backend.snapshot(),
            },
            QuerySnapshot::New | QuerySnapshot::NewCommand => backend.snapshot(),
            QuerySnapshot::Latest => {
                if backend.txn.isolation().uses_transaction_snapshot() {
                    crosscheck = Some(backend.snapshot());
                }
                backend.catalog_snapshot()
            }
            QuerySnapshot::Given(snapshot) => snapshot.clone(),
        };
        Ok(Chosen { snapshot, crosscheck })
    }
}

/// A running query. Between its rows the session may do other work.
pub struct Cursor {
    execution: Execution,
    columns: Vec<usize>,
    rows_left: usize,
}

impl Cursor {
    /// The next rows, about `rows_max`; `None` at the end.
    pub fn next<H: QueryHost + ?Sized>(
        &mut self,
        host: &mut H,
        rows_max: usize,
    ) -> Result<Option<Batch>> {
        let snapshot = self.execution.snapshot().clone();
        with_snapshot(host, &snapshot, |host| self.next_under(host.services(), rows_max))
    }

    /// Reads the remaining rows.
    pub fn finish<H: QueryHost + ?Sized>(
        self,
        host: &mut H,
        sink: &mut Sink<'_, H>,
    ) -> Result<Finished> {
        let snapshot = self.execution.snapshot().clone();
        with_snapshot(host, &snapshot, |host| self.drain(host, sink))
    }

    /// Indexes of the columns that are not junk.
    pub fn columns(&self) -> &[usize] {
        &self.columns
    }

    /// Returns a batch of [`Cursor::next`], so that its memory is reused.
    pub fn recycle(&mut self, batch: Batch) {
        self.execution.recycle(batch);
    }

    fn next_under(
        &mut self,
        services: &mut dyn Services,
        rows_max: usize,
    ) -> Result<Option<Batch>> {
        if self.rows_left == 0 {
            return Ok(None);
        }
        let batch = self.execution.next(services, rows_max.min(self.rows_left))?;
        self.rows_left -= batch.as_ref().map_or(0, |b| b.len).min(self.rows_left);
        Ok(batch)
    }

    fn drain<H: QueryHost + ?Sized>(
        mut self,
        host: &mut H,
        sink: &mut Sink<'_, H>,
    ) -> Result<Finished> {
        let mut rows = 0;
        while let Some(batch) = self.next_under(host.services(), BATCH_ROWS_MAX)? {
            rows += batch.len as u64;
            sink(host, &batch, &self.columns)?;
            self.execution.recycle(batch);
        }
        let rows = rows.max(self.execution.processed());
        Ok(Finished { rows, execution: self.execution })
    }
}

/// Copies a row of a batch.
pub fn row_of(batch: &Batch, row: usize, columns: &[usize]) -> Vec<Datum> {
    columns.iter().map(|&c| batch.get(row, c).to_owned()).collect()
}

/// Runs `work` with `snapshot` as the active one.
pub fn with_snapshot<H: QueryHost + ?Sized, T>(
    host: &mut H,
    snapshot: &Arc<Snapshot>,
    work: impl FnOnce(&mut H) -> Result<T>,
) -> Result<T> {
    let backend = host.services().backend();
    let depth = backend.snapshot_depth();
    backend.push_snapshot(snapshot.clone());
    let result = work(host);
    host.services().backend().truncate_snapshots(depth);
    result
}

/// Error 0A000 for a statement that writes, in a function that is not volatile.
pub fn check_read_only(plan: &PlannedStmt) -> Result<()> {
    let what = match (plan.command_type, plan.row_marks.first()) {
        (CmdType::Insert, _) => "INSERT",
        (CmdType::Update, _) => "UPDATE",
        (CmdType::Delete, _) => "DELETE",
        (CmdType::Merge, _) => "MERGE",
        (_, Some(mark)) => mark.strength.select_name(),
        _ if plan.has_modifying_cte => "SELECT",
        _ => return Ok(()),
    };
    Err(pg_err!(FEATURE_NOT_SUPPORTED, "{what} is not allowed in a non-volatile function"))
}

/// True if no expression in the plan is more volatile than that.
pub fn is_at_most(facts: &mut dyn Facts, plan: &PlannedStmt, most: Volatility) -> Result<bool> {
    let mut below: Vec<&Plan> = vec![&plan.plan_tree];
    below.extend(plan.subplans.iter());
    while let Some(node) = below.pop() {
        below.extend(node.children());
        let mut exprs = Vec::new();
        plan::params::each_expr(node, &mut |e| exprs.push(e));
        for e in exprs {
            if eval::volatility(e, facts)? > most {
                return Ok(false);
            }
        }
    }
    Ok(true)
}
