//! Surroundings of expressions that run while storage is busy (index builds): built-in functions over
//! built-in types work, what needs the session does not.

use eval::Host;
use ids::Oid;
use pgerror::{PgError, Result};
use plan::expr::{SqlValueKind, SubPlan};
use std::any::Any;
use types::fncx::{BasicContext, FnContext};
use types::{Datum, DatumRef, Settings};

/// See the module's text.
pub struct Detached(Box<BasicContext>);

impl Detached {
    pub fn new(settings: &Settings) -> Detached {
        Detached(Box::new(BasicContext::new(settings.clone())))
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

    types::delegate_fn_context!(self, self.0);
}
