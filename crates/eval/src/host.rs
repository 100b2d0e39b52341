//! What a running expression asks of its surroundings.

use ids::Oid;
use pgerror::{PgError, Result};
use plan::expr::{SqlValueKind, SubPlan};
use std::any::Any;
use std::cmp::Ordering;
use std::sync::Arc;
use types::fncx::{FnContext, RegKind, RowDesc, TypeInfo};
use types::{Datum, DatumRef, Settings};

/// The surroundings of a running expression: the executor, lending the session's context.
pub trait Host: FnContext {
    /// Value of `$id` (1-based).
    fn extern_param(&mut self, id: i32) -> Result<Datum>;

    /// Value of an exec parameter; runs the init plan that sets it, if it has not run yet.
    fn exec_param(&mut self, id: i32) -> Result<Datum>;

    fn set_exec_param(&mut self, id: i32, value: Datum);

    /// Runs a sub-select whose `args` have been stored in its parameters, and returns the value of the
    /// whole node. `test` evaluates the node's test expression after the sub-select's columns have been
    /// stored in `param_ids`. For a hashed sub-select `outer` has the values that are looked up.
    fn subplan(
        &mut self,
        plan: &SubPlan,
        outer: &[Datum],
        test: &mut dyn FnMut(&mut dyn Host) -> Result<Datum>,
    ) -> Result<Datum>;

    /// Runs a function in SQL or of the session.
    fn call_host(
        &mut self,
        function: Oid,
        arg_types: &[Oid],
        args: &[DatumRef<'_>],
    ) -> Result<Datum>;

    /// `nextval` without a permission check.
    fn next_value(&mut self, sequence: Oid) -> Result<i64>;

    /// `current_user` and its kin (the time functions are computed here).
    fn sql_value(&mut self, kind: SqlValueKind) -> Result<Datum>;
}

/// The context of one call: the host's, with the call's own types, collation and memory.
pub struct CallContext<'a> {
    pub host: &'a mut dyn FnContext,
    pub collation: Oid,
    pub arg_types: &'a [Oid],
    pub result_type: Oid,
    pub variadic_array: bool,
    pub extra: &'a mut Option<Box<dyn Any + Send>>,
}

impl FnContext for CallContext<'_> {
    fn settings(&self) -> &Settings {
        self.host.settings()
    }

    fn collation(&self) -> Oid {
        self.collation
    }

    fn arg_type(&self, i: usize) -> Oid {
        self.arg_types.get(i).copied().unwrap_or(Oid::INVALID)
    }

    fn result_type(&self) -> Oid {
        self.result_type
    }

    fn variadic_array(&self) -> bool {
        self.variadic_array
    }

    fn extra(&mut self) -> &mut Option<Box<dyn Any + Send>> {
        self.extra
    }

    fn type_info(&mut self, ty: Oid) -> Result<TypeInfo> {
        self.host.type_info(ty)
    }

    fn type_output(&mut self, ty: Oid, value: DatumRef<'_>) -> Result<Vec<u8>> {
        self.host.type_output(ty, value)
    }

    fn type_input(&mut self, ty: Oid, text: &[u8], typmod: i32) -> Result<Datum> {
        self.host.type_input(ty, text, typmod)
    }

    fn type_send(&mut self, ty: Oid, value: DatumRef<'_>) -> Result<Vec<u8>> {
        self.host.type_send(ty, value)
    }

    fn type_recv(&mut self, ty: Oid, bytes: &[u8], typmod: i32) -> Result<Datum> {
        self.host.type_recv(ty, bytes, typmod)
    }

    fn type_compare(
        &mut self,
        ty: Oid,
        a: DatumRef<'_>,
        b: DatumRef<'_>,
        collation: Oid,
    ) -> Result<Ordering> {
        self.host.type_compare(ty, a, b, collation)
    }

    fn type_equal(
        &mut self,
        ty: Oid,
        a: DatumRef<'_>,
        b: DatumRef<'_>,
        collation: Oid,
    ) -> Result<bool> {
        self.host.type_equal(ty, a, b, collation)
    }

    fn type_hash(
        &mut self,
        ty: Oid,
        v: DatumRef<'_>,
        collation: Oid,
        seed: Option<u64>,
    ) -> Result<u64> {
        self.host.type_hash(ty, v, collation, seed)
    }

    fn type_name(&mut self, ty: Oid, typmod: Option<i32>) -> Result<String> {
        self.host.type_name(ty, typmod)
    }

    fn row_desc(&mut self, ty: Oid, typmod: i32) -> Result<Arc<RowDesc>> {
        self.host.row_desc(ty, typmod)
    }

    fn register_row(&mut self, desc: Arc<RowDesc>) -> Result<i32> {
        self.host.register_row(desc)
    }

    fn enum_values(&mut self, ty: Oid) -> Result<Arc<Vec<(Oid, String)>>> {
        self.host.enum_values(ty)
    }

    fn enum_type_of(&mut self, value: Oid) -> Result<Oid> {
        self.host.enum_type_of(value)
    }

    fn reg_lookup(&mut self, kind: RegKind, name: &str) -> Result<Option<Oid>> {
        self.host.reg_lookup(kind, name)
    }

    fn reg_name(&mut self, kind: RegKind, oid: Oid) -> Result<Option<String>> {
        self.host.reg_name(kind, oid)
    }

    fn transaction_timestamp(&self) -> i64 {
        self.host.transaction_timestamp()
    }

    fn statement_timestamp(&self) -> i64 {
        self.host.statement_timestamp()
    }

    fn clock_timestamp(&self) -> i64 {
        self.host.clock_timestamp()
    }

    fn random(&mut self) -> f64 {
        self.host.random()
    }

    fn set_seed(&mut self, seed: f64) {
        self.host.set_seed(seed);
    }

    fn random_bytes(&mut self, out: &mut [u8]) -> Result<()> {
        self.host.random_bytes(out)
    }

    fn notice(&mut self, notice: PgError) {
        self.host.notice(notice);
    }

    fn check_interrupts(&self) -> Result<()> {
        self.host.check_interrupts()
    }
}
