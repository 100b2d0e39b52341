//! Catalog look-ups that compilation needs, as a trait that the layers above implement.

use crate::inline::Inline;
use crate::kernels::{BinaryKernel, WordComparison};
use crate::window::WindowKind;
use ids::Oid;
use ids::code::Volatility;
use pgerror::Result;
use plan::Expr;
use plan::expr::FuncExpr;
use std::sync::Arc;
use types::builtin::{ScalarFn, SrfFn};
use types::compare::Comparer;
use types::fn_context::TypeInfo;

/// How a function is called.
#[derive(Clone, Copy)]
pub enum Callee {
    Scalar(ScalarFn),
    Srf(SrfFn),
    /// Called only over a window, by the executor.
    Window(WindowKind),
    /// The session runs it: [`crate::Host::call_host`].
    Host,
    /// As `Host`, set-returning.
    HostSet,
    /// `prosrc` names no function that this server has; calling it raises 0A000.
    Missing,
}

/// A function (`pg_proc`).
#[derive(Clone)]
pub struct FnFacts {
    pub oid: Oid,
    pub name: String,
    pub callee: Callee,
    /// The vectorized form, if there is one; the function is then strict.
    pub kernel: Option<BinaryKernel>,
    /// The function as a comparison of two words, if it is one.
    pub words: Option<WordComparison>,
    /// The function is not called if an argument is NULL; the result is then NULL.
    pub strict: bool,
    pub volatility: Volatility,
    /// `procost`.
    pub cost: f64,
    /// An SQL function whose body may replace a call.
    pub may_inline: bool,
    pub returns_set: bool,
    pub result_type: Oid,
    /// Number of input parameters (`pronargs`).
    pub parameters: usize,
    /// Defaults of the last parameters.
    pub defaults: Arc<[Expr]>,
}

/// Input and output functions of a type.
#[derive(Clone)]
pub struct TypeIo {
    pub info: TypeInfo,
    /// Second argument of the input function: the element type of an array, else the type.
    pub io_param: Oid,
    pub input: FnFacts,
    pub output: FnFacts,
}

/// A constraint of a domain. The check refers to the value by `CoerceToDomainValue`.
#[derive(Clone)]
pub struct DomainCheck {
    pub name: String,
    /// `None`: NOT NULL.
    pub check: Option<Expr>,
    /// The functions that the check calls.
    pub calls: Box<[Oid]>,
}

/// Look-ups by OID. All of them fail with XX000 "cache lookup failed …" if there is no such object.
pub trait Facts {
    fn function(&mut self, oid: Oid) -> Result<Arc<FnFacts>>;
    /// The function of an operator.
    fn operator_function(&mut self, opno: Oid) -> Result<Oid>;
    /// The operator's negator; invalid if there is none.
    fn negator(&mut self, opno: Oid) -> Result<Oid> {
        let _ = opno;
        Ok(Oid::INVALID)
    }
    fn type_info(&mut self, ty: Oid) -> Result<TypeInfo>;
    fn type_io(&mut self, ty: Oid) -> Result<Arc<TypeIo>>;
    /// `format_type` of the type.
    fn type_name(&mut self, ty: Oid) -> Result<String>;
    /// Schema and name of the type, for the fields of error messages.
    fn type_schema_and_name(&mut self, ty: Oid) -> Result<(String, String)>;
    /// The comparison of the type's default B-tree operator class.
    fn type_compare(&mut self, ty: Oid) -> Result<Comparer>;
    /// Comparison function for these operand types in an operator family.
    fn family_compare(&mut self, family: Oid, left: Oid, right: Oid) -> Result<Comparer>;
    /// Base type and type modifier of a domain; for other types, the type itself.
    fn base_type(&mut self, ty: Oid) -> Result<(Oid, i32)>;
    /// Fails with 0A000 if this server cannot compare values by the collation.
    fn check_collation(&mut self, collation: Oid) -> Result<()> {
        let _ = collation;
        Ok(())
    }
    /// The body of an SQL function for a call with these arguments; `None` if it is not a single
    /// expression, or if the user lacks EXECUTE.
    fn inline(&mut self, call: &FuncExpr) -> Result<Option<Arc<Inline>>> {
        let _ = call;
        Ok(None)
    }
    /// Error 42501 unless the current user may call the functions.
    fn may_call(&mut self, functions: &[Oid]) -> Result<()> {
        let _ = functions;
        Ok(())
    }
    /// The constraints of the domain and of its base domains, in the order of testing.
    fn domain_checks(&mut self, ty: Oid) -> Result<Arc<[DomainCheck]>>;
}
