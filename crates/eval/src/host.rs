//! Services that a running expression needs from its caller: parameters, sub-selects, sequences and
//! functions that need the session.

use crate::row::Val;
use ids::Oid;
use pgerror::Result;
use plan::expr::{SqlValueKind, SubPlan};
use std::any::Any;
use types::{Datum, DatumRef, FnContext};

/// A call of a function that the session runs: an SQL function, one that needs the session, or one
/// with settings or a role of its own.
#[derive(Clone, Copy)]
pub struct HostCall<'a> {
    pub function: Oid,
    /// The call's collation; the invalid OID if it has none.
    pub collation: Oid,
    pub result_type: Oid,
    pub arg_types: &'a [Oid],
    pub args: &'a [DatumRef<'a>],
}

/// Context of a running expression, implemented by the executor on behalf of the session.
pub trait Host: FnContext {
    /// Value of `$id` (1-based).
    fn extern_param(&mut self, id: i32) -> Result<Val<'static>>;

    /// Value of an exec parameter; runs the init plan that sets it, if it has not run yet.
    fn exec_param(&mut self, id: i32) -> Result<Val<'static>>;

    fn set_exec_param(&mut self, id: i32, value: Datum);

    /// Runs a sub-select and returns the value of the whole `SubPlan` node. The caller has stored
    /// the arguments in its parameters. `test` evaluates the test expression; the sub-select's
    /// columns are stored in `param_ids` before each call. For a hashed sub-select, `outer` is the
    /// key to look up.
    fn subplan(
        &mut self,
        plan: &SubPlan,
        outer: &[Datum],
        test: &mut dyn FnMut(&mut dyn Host) -> Result<Datum>,
    ) -> Result<Datum>;

    /// Runs a function that is not a plain function on values.
    fn call_host(&mut self, call: &HostCall<'_>) -> Result<Datum>;

    /// `nextval` without a permission check.
    fn next_value(&mut self, sequence: Oid) -> Result<i64>;

    /// `current_user` and the other name functions; the time functions are computed by this crate.
    fn sql_value(&mut self, kind: SqlValueKind) -> Result<Datum>;
}

/// The context of one call: the host's, with the types, collation and per-call-site state of the
/// call.
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
}

types::delegate_fn_context! { CallContext<'_>, self, self.host }
