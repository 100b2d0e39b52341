//! Services that a running plan needs from the session: catalog look-ups, storage, functions,
//! privileges and memory limits.

use crate::relation::OpenRel;
use crate::trigger::{BeforeRowResult, CapturedChange, Change, ProposedChange, RowEvent, Timing};
use engine::StoredRows;
use eval::{Facts, FnFacts, HostCall};
use ids::Oid;
use pgerror::Result;
use plan::expr::SqlValueKind;
use std::any::Any;
use std::sync::Arc;
use types::builtin::{CombineFn, FinalFn, ScalarFn, TransFn};
use types::compare::Comparer;
use types::fn_context::FnContext;
use types::{Batch, Datum};

/// A transition function.
#[derive(Clone, Copy)]
pub enum AggFn {
    /// The state is an SQL value, passed as the first argument.
    Plain { f: ScalarFn, strict: bool },
    /// The state has type internal.
    Internal { f: TransFn, strict: bool },
    /// As `Plain`, for a function that the session runs.
    Session { function: Oid, strict: bool },
}

impl AggFn {
    /// True if rows with a NULL argument are skipped.
    pub fn is_strict(&self) -> bool {
        match self {
            AggFn::Plain { strict, .. }
            | AggFn::Internal { strict, .. }
            | AggFn::Session { strict, .. } => *strict,
        }
    }

    /// True if the state has type internal.
    pub fn is_internal(&self) -> bool {
        matches!(self, AggFn::Internal { .. })
    }
}

/// A final function; the kinds are those of [`AggFn`].
#[derive(Clone, Copy)]
pub enum FinalCall {
    Plain { f: ScalarFn, strict: bool },
    Internal { f: FinalFn, strict: bool },
    Session { function: Oid, strict: bool },
}

/// An aggregate (`pg_aggregate`).
#[derive(Clone)]
pub struct AggInfo {
    pub name: String,
    /// `pg_proc.prosrc` of the transition function; empty if it is not built in.
    pub trans_name: String,
    pub trans: AggFn,
    pub finalfn: Option<FinalCall>,
    /// `pg_proc.prosrc` of the final function; empty if there is none or it is not built in.
    pub final_name: String,
    pub combine: Option<CombineFn>,
    /// The final function has extra arguments: NULLs of the aggregate's argument types
    /// (`aggfinalextra`).
    pub final_extra: bool,
    pub trans_type: Oid,
    pub trans_by_val: bool,
    pub trans_collation: Oid,
    /// The initial state (`agginitval`); NULL if none is given.
    pub init: Datum,
    /// The inverse transition function (`aggminvtransfn`); only in the moving-aggregate form.
    pub inverse: Option<AggFn>,
    /// The final function does not modify the state (`aggfinalmodify`).
    pub final_read_only: bool,
    /// Another aggregate with the same transition function may use the state too.
    pub is_shareable: bool,
    /// The OID of the transition function; invalid if it is not known.
    pub trans_function: Oid,
}

/// A running call of a set-returning function. [`SessionCalls::next_of_set`] returns its rows.
pub struct SetStream {
    /// Each row is one value (composite if the function returns a composite type), not a list of
    /// columns.
    pub whole: bool,
    /// The types of the columns of [`SessionCalls::next_batch_of_set`], which then returns the
    /// rows.
    pub columns: Option<Arc<[Oid]>>,
    /// The session's state of the call.
    pub state: Box<dyn Any + Send>,
}

/// Descriptors of catalog objects, by OID.
pub trait DescriptorLookup {
    fn aggregate(&mut self, aggfn: Oid, arg_types: &[Oid]) -> Result<Arc<AggInfo>>;

    /// The functions of one part of an aggregation in two steps: the first one returns states, the
    /// second one combines these and calls the final function.
    fn aggregate_part(
        &mut self,
        aggfn: Oid,
        arg_types: &[Oid],
        split: plan::expr::AggSplit,
    ) -> Result<Arc<AggInfo>> {
        let _ = (aggfn, arg_types, split);
        Err(pgerror::PgError::internal("aggregation in one step only"))
    }

    /// The `prosrc` of an ordered-set aggregate's final function. `None` for aggregates whose
    /// transition function does not merely collect and sort the rows, as `ordered_set_transition`
    /// and `ordered_set_transition_multi` do.
    fn ordered_set_final(&mut self, aggfn: Oid) -> Result<Option<String>>;

    /// The functions of the moving-aggregate form; `None` if there is no inverse transition.
    fn moving_aggregate(&mut self, aggfn: Oid, arg_types: &[Oid]) -> Result<Option<Arc<AggInfo>>>;

    /// Comparison function of an ordering operator, and whether the order is descending.
    fn sort_operator(&mut self, op: Oid, ty: Oid, collation: Oid) -> Result<(Comparer, bool)>;

    /// The function of an equality operator.
    fn equality(&mut self, op: Oid) -> Result<Arc<FnFacts>>;

    /// The comparison function of the B-tree operator family in which `op` is equality.
    fn equality_compare(&mut self, op: Oid, ty: Oid, collation: Oid) -> Result<Option<Comparer>>;

    /// Types of the OUT parameters of a function that is called with arguments of these types;
    /// `None` if it has none.
    fn out_columns(&mut self, funcid: Oid, arg_types: &[Oid]) -> Result<Option<Vec<Oid>>>;

    /// The table with this OID, which must be locked.
    fn open_relation(&mut self, relid: Oid) -> Result<Arc<OpenRel>>;

    /// The indexes or tables of which an index or table is a partition, nearest first.
    fn index_ancestors(&mut self, relation: Oid) -> Result<Vec<Oid>>;

    /// Locks a partition into which a row is inserted.
    fn lock_partition(&mut self, relid: Oid) -> Result<()>;

    /// The partitions of a partitioned table.
    fn partitions(&mut self, relid: Oid) -> Result<Arc<partition::PartitionDesc>>;

    /// The index with this OID.
    fn open_index(&mut self, indexid: Oid) -> Result<Arc<engine::IndexDesc>>;

    /// The strategy of an operator on a key column of the index, and the support function for the
    /// value if its type differs from the column's.
    fn index_operator(
        &mut self,
        op: Oid,
        indexid: Oid,
        column: usize,
    ) -> Result<(engine::index::StrategyNumber, Option<engine::index::SupportFunction>)>;

    /// The keys of an index, for errors: `a, lower(b)`.
    fn index_keys(&mut self, index: Oid) -> Result<String>;
}

/// Reports changes of rows to the trigger manager.
pub trait TriggerEvents {
    /// Reports that a row was inserted, updated or deleted in a relation with triggers.
    fn row_event(&mut self, event: RowEvent<'_>) -> Result<()>;

    /// Adds a changed row to the transition tables of the running statement.
    fn capture(&mut self, change: CapturedChange<'_>) -> Result<()>;

    /// The transition table of this name, in a query of a trigger function.
    fn transition_rows(&mut self, name: &str) -> Option<Arc<StoredRows>>;

    /// Calls the triggers that fire before a row is changed, or in place of the change.
    fn before_row(&mut self, change: ProposedChange<'_>) -> Result<BeforeRowResult>;

    /// Reports the start (`Timing::Before`) or the end of a statement that changes rows of a
    /// relation with triggers. `updated`: the columns that an UPDATE sets.
    fn statement_event(
        &mut self,
        rel: &Arc<OpenRel>,
        change: Change,
        timing: Timing,
        updated: &[ids::AttrNo],
    ) -> Result<()>;
}

/// Functions and values that the session computes.
pub trait SessionCalls {
    fn call_host(&mut self, call: &HostCall<'_>) -> Result<Datum>;

    /// Starts a call, in FROM or of a set-returning function, that the session runs. `columns`:
    /// types and type modifiers of the column definition list of a function that returns record.
    fn call_host_set(&mut self, call: &HostCall<'_>, columns: &[(Oid, i32)]) -> Result<SetStream>;

    /// Sets `out` to the next row of the set; false at its end.
    fn next_of_set(&mut self, set: &mut SetStream, out: &mut Vec<Datum>) -> Result<bool>;

    /// The next rows of a set that returns them together ([`SetStream::columns`]); `None` at its
    /// end.
    fn next_batch_of_set(&mut self, set: &mut SetStream) -> Result<Option<Batch>>;

    fn next_value(&mut self, sequence: Oid) -> Result<i64>;

    fn sql_value(&mut self, kind: SqlValueKind) -> Result<Datum>;
}

/// Implemented by the session, which passes it to each call of the executor.
pub trait Services: FnContext + Facts + DescriptorLookup + TriggerEvents + SessionCalls {
    /// Raises error 42501 if the user lacks a privilege that the plan needs. Called at each start
    /// of an execution, because privileges may be revoked while a plan is cached.
    fn check_privileges(&mut self, plan: &Arc<plan::PlannedStmt>) -> Result<()>;

    /// Raises the error of a comparison of two anonymous rows that failed during a sort, where a
    /// comparison function cannot return it.
    fn check_compared_rows(&mut self) -> Result<()>;

    /// Storage, for the current transaction.
    fn backend(&mut self) -> &mut engine::Backend;

    /// The TID of the table's row from which the current row of the cursor was computed; `None` if
    /// it was computed from no row of the table. Error 24000 if the cursor is not positioned on a
    /// row or is not a simple scan of the table.
    fn cursor_row(&mut self, cursor: &str, relid: Oid) -> Result<Option<ids::Tid>>;

    /// `Failing row contains (…).`, limited to columns that the user may read. `written` are the
    /// columns to which the statement assigns values, which are shown too.
    fn describe_row(
        &mut self,
        rel: &OpenRel,
        row: &[Datum],
        written: &[ids::AttrNo],
    ) -> Result<Option<String>>;

    /// `Partition key of the failing row contains (a) = (1).`; `None` if the user may not read the
    /// columns of the key.
    fn describe_partition_key(&mut self, relid: Oid, key: &[Datum]) -> Result<Option<String>>;

    /// True if the user may see the values of these columns in an error message.
    fn may_show(&mut self, table: Oid, columns: &[ids::AttrNo]) -> Result<bool>;

    /// The statistics of statements, if they are collected.
    fn statements(&mut self) -> Option<&mut statements::Collector> {
        None
    }

    /// Memory limit of one sort or row store in bytes (`work_mem`).
    fn work_mem(&self) -> usize;

    /// Memory limit of one hash table in bytes (`work_mem` times `hash_mem_multiplier`).
    fn hash_mem(&self) -> usize;

    /// The same object as function context.
    fn as_fn_context(&mut self) -> &mut dyn FnContext;

    fn as_facts(&mut self) -> &mut dyn Facts;
}
