//! A host without a session: parameters, a sequence, anonymous row types.

use super::facts;
use crate::host::{Host, HostCall};
use crate::row::Val;
use ids::Oid;
use pgerror::{PgError, Result};
use plan::expr::{SqlValueKind, SubPlan};
use std::any::Any;
use std::cmp::Ordering;
use std::sync::Arc;
use types::fn_context::{
    FnContext, RegKind, RowDesc, SessionContext, TypeCatalog, TypeFunctions, TypeInfo,
};
use types::settings::Settings;
use types::{BasicContext, Datum, DatumRef, builtin, builtin_types};

#[derive(Default)]
pub(super) struct TestHost {
    pub cx: BasicContext,
    /// Values of `$1`, `$2`, …
    pub externs: Vec<Datum>,
    /// Values of the exec parameters 0, 1, …
    pub execs: Vec<Datum>,
    /// Last value of the sequence.
    pub sequence: i64,
    /// Registered row types; the index is the typmod.
    pub rows: Vec<Arc<RowDesc>>,
}

impl Host for TestHost {
    fn extern_param(&mut self, id: i32) -> Result<Val<'static>> {
        let missing = || PgError::internal(format!("no value found for parameter {id}"));
        self.externs.get(id as usize - 1).cloned().map(Val::of_param).ok_or_else(missing)
    }

    fn exec_param(&mut self, id: i32) -> Result<Val<'static>> {
        let value = self.execs.get(id as usize).cloned();
        value.map(Val::of_param).ok_or_else(|| PgError::internal("no parameter"))
    }

    fn set_exec_param(&mut self, id: i32, value: Datum) {
        self.execs[id as usize] = value;
    }

    fn subplan(
        &mut self,
        _: &SubPlan,
        _: &[Datum],
        _: &mut dyn FnMut(&mut dyn Host) -> Result<Datum>,
    ) -> Result<Datum> {
        Err(PgError::unsupported("sub-select"))
    }

    fn call_host(&mut self, call: &HostCall<'_>) -> Result<Datum> {
        Err(PgError::unsupported(format!("function {}", call.function)))
    }

    fn next_value(&mut self, _: Oid) -> Result<i64> {
        self.sequence += 1;
        Ok(self.sequence)
    }

    fn sql_value(&mut self, kind: SqlValueKind) -> Result<Datum> {
        Err(PgError::unsupported(format!("{kind:?}")))
    }
}

impl TestHost {
    fn call(&mut self, prosrc: &str, args: &[DatumRef<'_>]) -> Result<Datum> {
        let f = builtin::scalar(prosrc).ok_or_else(|| PgError::unsupported(prosrc))?;
        f(self, args)
    }
}

impl FnContext for TestHost {
    fn collation(&self) -> Oid {
        self.cx.collation()
    }

    fn arg_type(&self, _: usize) -> Oid {
        Oid::INVALID
    }

    fn result_type(&self) -> Oid {
        Oid::INVALID
    }

    fn extra(&mut self) -> &mut Option<Box<dyn Any + Send>> {
        self.cx.extra()
    }
}

impl TypeFunctions for TestHost {
    fn type_info(&mut self, ty: Oid) -> Result<TypeInfo> {
        facts::type_info(ty)
    }

    fn type_output(&mut self, ty: Oid, value: DatumRef<'_>) -> Result<Vec<u8>> {
        let output = builtin_types::get(facts::base_of(ty).unwrap_or(ty)).map(|t| t.output);
        let text = self.call(output.unwrap_or_default(), &[value])?;
        Ok(text.as_ref().as_bytes().to_vec())
    }

    fn type_input(&mut self, ty: Oid, text: &[u8], typmod: i32) -> Result<Datum> {
        self.cx.type_input(ty, text, typmod)
    }

    fn type_send(&mut self, ty: Oid, value: DatumRef<'_>) -> Result<Vec<u8>> {
        self.cx.type_send(ty, value)
    }

    fn type_recv(&mut self, ty: Oid, bytes: &[u8], typmod: i32) -> Result<Datum> {
        self.cx.type_recv(ty, bytes, typmod)
    }

    fn type_compare(
        &mut self,
        ty: Oid,
        a: DatumRef<'_>,
        b: DatumRef<'_>,
        collation: Oid,
    ) -> Result<Ordering> {
        self.cx.type_compare(ty, a, b, collation)
    }

    fn type_hash(
        &mut self,
        ty: Oid,
        v: DatumRef<'_>,
        collation: Oid,
        seed: Option<u64>,
    ) -> Result<u64> {
        self.cx.type_hash(ty, v, collation, seed)
    }

    fn type_name(&mut self, ty: Oid, typmod: Option<i32>) -> Result<String> {
        self.cx.type_name(ty, typmod)
    }
}

impl TypeCatalog for TestHost {
    fn row_desc(&mut self, _: Oid, typmod: i32) -> Result<Arc<RowDesc>> {
        let unknown = || PgError::internal("record type has not been registered");
        self.rows.get(typmod as usize).cloned().ok_or_else(unknown)
    }

    fn register_row(&mut self, desc: Arc<RowDesc>) -> Result<i32> {
        let types = |d: &RowDesc| d.columns.iter().map(|c| c.ty).collect::<Vec<_>>();
        let known = self.rows.iter().position(|r| types(r) == types(&desc));
        Ok(known.unwrap_or_else(|| {
            self.rows.push(desc);
            self.rows.len() - 1
        }) as i32)
    }

    fn reg_lookup(&mut self, kind: RegKind, name: &str) -> Result<Option<Oid>> {
        self.cx.reg_lookup(kind, name)
    }

    fn reg_name(&mut self, kind: RegKind, oid: Oid) -> Result<Option<String>> {
        self.cx.reg_name(kind, oid)
    }
}

impl SessionContext for TestHost {
    fn settings(&self) -> &Settings {
        self.cx.settings()
    }

    fn transaction_timestamp(&self) -> i64 {
        self.cx.transaction_timestamp()
    }

    fn statement_timestamp(&self) -> i64 {
        self.cx.statement_timestamp()
    }

    fn clock_timestamp(&self) -> i64 {
        self.cx.clock_timestamp()
    }

    fn random(&mut self) -> f64 {
        self.cx.random()
    }

    fn set_seed(&mut self, seed: f64) {
        self.cx.set_seed(seed);
    }

    fn random_bytes(&mut self, out: &mut [u8]) -> Result<()> {
        self.cx.random_bytes(out)
    }

    fn notice(&mut self, notice: PgError) {
        self.cx.notice(notice);
    }
}
