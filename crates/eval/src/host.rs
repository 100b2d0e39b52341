//! What a running expression asks of its surroundings.

use ids::Oid;
use pgerror::Result;
use plan::expr::{SqlValueKind, SubPlan};
use std::any::Any;
use types::{Datum, DatumRef, FnContext};

/// The surroundings of a running expression: the executor, lending the session's context.
pub trait Host: FnContext {
    /// Value of `$id` (1-based).
    fn extern_param(&mut self, id: i32) -> Result<Datum>;

    /// Value of an exec parameter; runs the init plan that sets it, if it has not run yet.
    fn exec_param(&mut self, id: i32) -> Result<Datum>;

    fn set_exec_param(&mut self, id: i32, value: Datum);

    /// Runs a sub-select whose `args` have been stored in its parameters, and returns the value of
    /// the whole node. `test` evaluates the node's test expression after the sub-select's columns
    /// have been stored in `param_ids`. For a hashed sub-select `outer` has the values that are
    /// looked up.
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

    types::delegate_fn_context!(self, self.host);
}
