//! What a running plan asks of the session.

use crate::relation::{OpenRel, RowEvent};
use eval::{Facts, FnFacts};
use ids::Oid;
use pgerror::Result;
use plan::expr::SqlValueKind;
use std::sync::Arc;
use types::builtin::{CombineFn, FinalFn, ScalarFn, TransFn};
use types::compare::Comparer;
use types::fncx::FnContext;
use types::{Datum, DatumRef};

/// A transition function.
#[derive(Clone, Copy)]
pub enum AggFn {
    /// Over an ordinary state value, which is the first argument.
    Plain { f: ScalarFn, strict: bool },
    /// Over an internal state.
    Internal { f: TransFn, strict: bool },
}

impl AggFn {
    /// Is it skipped for rows with a NULL among the arguments?
    pub fn is_strict(&self) -> bool {
        match self {
            AggFn::Plain { strict, .. } | AggFn::Internal { strict, .. } => *strict,
        }
    }
}

#[derive(Clone, Copy)]
pub enum FinalCall {
    Plain { f: ScalarFn, strict: bool },
    Internal { f: FinalFn, strict: bool },
}

/// An aggregate (`pg_aggregate`).
#[derive(Clone)]
pub struct AggInfo {
    pub name: String,
    /// `pg_proc.prosrc` of the transition function.
    pub trans_name: String,
    pub trans: AggFn,
    pub finalfn: Option<FinalCall>,
    /// `pg_proc.prosrc` of the final function; empty where there is none.
    pub final_name: String,
    pub combine: Option<CombineFn>,
    /// The final function also gets the aggregate's arguments' types (as NULLs).
    pub final_extra: bool,
    pub trans_type: Oid,
    pub trans_by_val: bool,
    pub trans_collation: Oid,
    /// The state at the start; NULL where none is given.
    pub init: Datum,
    /// Takes a value back from the state (`aggminvtransfn`); only in the moving-aggregate form.
    pub inverse: Option<AggFn>,
    /// The final function leaves the state as it is (`aggfinalmodify`).
    pub final_read_only: bool,
}

/// What a set-returning function of the session yields.
pub enum SetRows {
    /// One value a row, a composite one where the function returns such.
    Values(Vec<Datum>),
    /// The columns of each row.
    Columns(Vec<Vec<Datum>>),
}

/// Lent by the session while a plan runs.
pub trait Services: FnContext + Facts {
    fn aggregate(&mut self, aggfn: Oid) -> Result<Arc<AggInfo>>;
    /// The aggregate's functions for frames whose start moves; `None` where it has no inverse
    /// transition.
    fn moving_aggregate(&mut self, aggfn: Oid) -> Result<Option<Arc<AggInfo>>>;
    /// Comparison function of an ordering operator, and whether the order is descending.
    fn sort_operator(&mut self, op: Oid, ty: Oid) -> Result<(Comparer, bool)>;
    /// The function of an equality operator.
    fn equality(&mut self, op: Oid) -> Result<Arc<FnFacts>>;
    /// The comparison of the B-tree family in which the operator is equality.
    fn equality_compare(&mut self, op: Oid, ty: Oid) -> Result<Option<Comparer>>;
    /// Types of the OUT columns of a function that is called with arguments of these types; `None`
    /// where it has none.
    fn out_columns(&mut self, funcid: Oid, arg_types: &[Oid]) -> Result<Option<Vec<Oid>>>;
    /// 42501 where the user lacks a right that the plan needs. Asked at each start of an execution:
    /// plans outlive the rights of those who run them.
    fn check_rights(&mut self, plan: &Arc<plan::PlannedStmt>) -> Result<()>;
    /// The error of two anonymous rows that could not be compared while something was sorted by
    /// them, if there were such.
    fn check_compared_rows(&mut self) -> Result<()>;
    /// Storage, for the current transaction.
    fn backend(&mut self) -> &mut engine::Backend;
    /// The table with this OID, which the caller has locked.
    fn open_relation(&mut self, relid: Oid) -> Result<Arc<OpenRel>>;
    /// The index with this OID.
    fn open_index(&mut self, indexid: Oid) -> Result<Arc<engine::IndexDesc>>;
    /// What the operator asks of a key column of the index, and the comparison where the value is
    /// of another type than the column.
    fn index_operator(
        &mut self,
        op: Oid,
        indexid: Oid,
        column: usize,
    ) -> Result<(engine::index::ScanOp, Option<Comparer>)>;
    /// A row was inserted, updated or deleted in a relation with `row_events`.
    fn row_event(&mut self, event: RowEvent<'_>) -> Result<()>;
    /// The row of the table that the present row of this cursor was made from, if any was. 24000
    /// where that cannot be said.
    fn cursor_row(&mut self, cursor: &str, relid: Oid) -> Result<Option<ids::Tid>>;
    /// `Failing row contains (…).`, within the user's rights.
    /// `written`: the columns that the statement itself gives values to.
    fn describe_row(
        &mut self,
        rel: &OpenRel,
        row: &[Datum],
        written: &[ids::AttrNo],
    ) -> Result<Option<String>>;
    /// The keys of an index, for errors: `a, lower(b)`.
    fn index_keys(&mut self, index: Oid) -> Result<String>;
    /// May the user see these columns of a table in an error?
    fn may_show(&mut self, table: Oid, columns: &[ids::AttrNo]) -> Result<bool>;
    fn call_host(
        &mut self,
        function: Oid,
        arg_types: &[Oid],
        args: &[DatumRef<'_>],
    ) -> Result<Datum>;
    /// The rows of a function in SQL or of the session. `columns`: the types that a definition list
    /// gives to the columns of a record.
    fn call_host_set(
        &mut self,
        function: Oid,
        arg_types: &[Oid],
        columns: &[(Oid, i32)],
        args: &[DatumRef<'_>],
    ) -> Result<SetRows>;
    fn next_value(&mut self, sequence: Oid) -> Result<i64>;
    fn sql_value(&mut self, kind: SqlValueKind) -> Result<Datum>;
    /// Bytes that one sort, hash table or materialised set may use (`work_mem`).
    fn work_mem(&self) -> usize;
    /// Bytes that one hash table may use (`work_mem` times `hash_mem_multiplier`).
    fn hash_mem(&self) -> usize;
    /// The same object as context of functions.
    fn as_fn_context(&mut self) -> &mut dyn FnContext;
    fn as_facts(&mut self) -> &mut dyn Facts;
}
