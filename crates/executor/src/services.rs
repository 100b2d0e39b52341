//! What a running plan asks of the session.

use eval::{Facts, FnFacts};
use ids::Oid;
use pgerror::Result;
use plan::expr::SqlValueKind;
use std::sync::Arc;
use types::builtin::{CombineFn, FinalFn, ScalarFn, TransFn};
use types::compare::CompareFn;
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

#[derive(Clone, Copy)]
pub enum FinalCall {
    Plain { f: ScalarFn, strict: bool },
    Internal { f: FinalFn, strict: bool },
}

/// An aggregate (`pg_aggregate`).
#[derive(Clone)]
pub struct AggInfo {
    pub name: String,
    pub trans: AggFn,
    pub finalfn: Option<FinalCall>,
    pub combine: Option<CombineFn>,
    /// The final function also gets the aggregate's arguments' types (as NULLs).
    pub final_extra: bool,
    pub trans_type: Oid,
    pub trans_by_val: bool,
    pub trans_collation: Oid,
    /// The state at the start; NULL where none is given.
    pub init: Datum,
}

/// Lent by the session while a plan runs.
pub trait Services: FnContext + Facts {
    fn aggregate(&mut self, aggfn: Oid) -> Result<Arc<AggInfo>>;
    /// Comparison function of an ordering operator, and whether the order is descending.
    fn sort_operator(&mut self, op: Oid) -> Result<(CompareFn, bool)>;
    /// The function of an equality operator.
    fn equality(&mut self, op: Oid) -> Result<Arc<FnFacts>>;
    /// The comparison of the B-tree family in which the operator is equality.
    fn equality_compare(&mut self, op: Oid) -> Result<Option<CompareFn>>;
    /// Types of the OUT columns of a function that returns `record`; `None` where it has none.
    fn out_columns(&mut self, funcid: Oid) -> Result<Option<Vec<Oid>>>;
    fn call_sql(&mut self, function: Oid, args: &[DatumRef<'_>]) -> Result<Datum>;
    fn next_value(&mut self, sequence: Oid) -> Result<i64>;
    fn sql_value(&mut self, kind: SqlValueKind) -> Result<Datum>;
    /// Bytes that one sort, hash table or materialised set may use (`work_mem`).
    fn work_mem(&self) -> usize;
    /// The same object as context of functions.
    fn as_fn_context(&mut self) -> &mut dyn FnContext;
    fn as_facts(&mut self) -> &mut dyn Facts;
}
