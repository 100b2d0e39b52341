//! Surroundings of expressions that run while storage is busy (index builds): built-in functions over
//! built-in types work, what needs the session does not.

use eval::Host;
use ids::Oid;
use pgerror::{PgError, Result};
use plan::expr::{SqlValueKind, SubPlan};
use std::any::Any;
use std::cmp::Ordering;
use types::fncx::{BasicContext, FnContext, RegKind, TypeInfo};
use types::{Datum, DatumRef, Settings};

/// See the module's text.
pub struct Detached(BasicContext);

impl Detached {
    pub fn new(settings: &Settings) -> Detached {
        Detached(BasicContext::new(settings.clone()))
    }
}

fn needs_session<T>() -> Result<T> {
    Err(PgError::unsupported("this function in an index"))
}

impl Host for Detached {
    fn extern_param(&mut self, _: i32) -> Result<Datum> {
        needs_session()
    }

    fn exec_param(&mut self, _: i32) -> Result<Datum> {
        needs_session()
    }

    fn set_exec_param(&mut self, _: i32, _: Datum) {}

    fn subplan(
        &mut self,
        _: &SubPlan,
        _: &[Datum],
        _: &mut dyn FnMut(&mut dyn Host) -> Result<Datum>,
    ) -> Result<Datum> {
        needs_session()
    }

    fn call_host(&mut self, _: Oid, _: &[Oid], _: &[DatumRef<'_>]) -> Result<Datum> {
        needs_session()
    }

    fn next_value(&mut self, _: Oid) -> Result<i64> {
        needs_session()
    }

    fn sql_value(&mut self, _: SqlValueKind) -> Result<Datum> {
        needs_session()
    }
}

impl FnContext for Detached {
    fn settings(&self) -> &Settings {
        self.0.settings()
    }

    fn collation(&self) -> Oid {
        self.0.collation()
    }

    fn arg_type(&self, i: usize) -> Oid {
        self.0.arg_type(i)
    }

    fn result_type(&self) -> Oid {
        self.0.result_type()
    }

    fn extra(&mut self) -> &mut Option<Box<dyn Any + Send>> {
        self.0.extra()
    }

    fn type_info(&mut self, ty: Oid) -> Result<TypeInfo> {
        self.0.type_info(ty)
    }

    fn type_output(&mut self, ty: Oid, value: DatumRef<'_>) -> Result<Vec<u8>> {
        self.0.type_output(ty, value)
    }

    fn type_input(&mut self, ty: Oid, text: &[u8], typmod: i32) -> Result<Datum> {
        self.0.type_input(ty, text, typmod)
    }

    fn type_send(&mut self, ty: Oid, value: DatumRef<'_>) -> Result<Vec<u8>> {
        self.0.type_send(ty, value)
    }

    fn type_recv(&mut self, ty: Oid, bytes: &[u8], typmod: i32) -> Result<Datum> {
        self.0.type_recv(ty, bytes, typmod)
    }

    fn type_compare(
        &mut self,
        ty: Oid,
        a: DatumRef<'_>,
        b: DatumRef<'_>,
        collation: Oid,
    ) -> Result<Ordering> {
        self.0.type_compare(ty, a, b, collation)
    }

    fn type_hash(
        &mut self,
        ty: Oid,
        v: DatumRef<'_>,
        collation: Oid,
        seed: Option<u64>,
    ) -> Result<u64> {
        self.0.type_hash(ty, v, collation, seed)
    }

    fn type_name(&mut self, ty: Oid, typmod: Option<i32>) -> Result<String> {
        self.0.type_name(ty, typmod)
    }

    fn reg_lookup(&mut self, kind: RegKind, name: &str) -> Result<Option<Oid>> {
        self.0.reg_lookup(kind, name)
    }

    fn reg_name(&mut self, kind: RegKind, oid: Oid) -> Result<Option<String>> {
        self.0.reg_name(kind, oid)
    }

    fn transaction_timestamp(&self) -> i64 {
        self.0.transaction_timestamp()
    }

    fn statement_timestamp(&self) -> i64 {
        self.0.statement_timestamp()
    }

    fn clock_timestamp(&self) -> i64 {
        self.0.clock_timestamp()
    }

    fn random(&mut self) -> f64 {
        self.0.random()
    }

    fn set_seed(&mut self, seed: f64) {
        self.0.set_seed(seed);
    }

    fn random_bytes(&mut self, out: &mut [u8]) -> Result<()> {
        self.0.random_bytes(out)
    }

    fn notice(&mut self, notice: PgError) {
        self.0.notice(notice);
    }
}
