//! What compilation asks of the catalogs.

use crate::inline::Inline;
use ids::Oid;
use pgerror::Result;
use plan::Expr;
use plan::expr::FuncExpr;
use std::sync::Arc;
use types::builtin::{ScalarFn, SrfFn};
use types::compare::Comparer;
use types::fncx::TypeInfo;
use types::kernels::{BinaryKernel, WordComparison};

/// How a function is run.
#[derive(Clone, Copy)]
pub enum Callee {
    Scalar(ScalarFn),
    Srf(SrfFn),
    /// A function in SQL, or one that needs the session; [`crate::Host::call_host`] runs it.
    Host,
    /// A set-returning one of that kind.
    HostSet,
    /// `prosrc` names nothing that is built; running it is 0A000.
    Missing,
}

/// A function (`pg_proc`).
#[derive(Clone)]
pub struct FnFacts {
    pub oid: Oid,
    pub name: String,
    pub callee: Callee,
    /// The function over columns, where there is one; it is strict then.
    pub kernel: Option<BinaryKernel>,
    /// The comparison of words that it is.
    pub words: Option<WordComparison>,
    /// Not called with a NULL among the arguments: the result is NULL.
    pub strict: bool,
    /// `i`, `s` or `v`.
    pub volatility: u8,
    /// `procost`.
    pub cost: f64,
    /// In SQL, and of a kind whose body may stand in the place of a call.
    pub may_inline: bool,
    pub returns_set: bool,
    pub result_type: Oid,
    /// Number of parameters that a call has arguments for.
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

/// A constraint of a domain; the check's expression refers to the value as `CoerceToDomainValue`.
#[derive(Clone)]
pub struct DomainCheck {
    pub name: String,
    /// `None`: NOT NULL.
    pub check: Option<Expr>,
}

/// Look-ups by OID. All of them fail with XX000 "cache lookup failed …" where there is no such
/// object.
pub trait Facts {
    fn function(&mut self, oid: Oid) -> Result<Arc<FnFacts>>;
    /// The function of an operator.
    fn operator_function(&mut self, opno: Oid) -> Result<Oid>;
    /// The operator that is true where this one is false; invalid if there is none.
    fn negator(&mut self, opno: Oid) -> Result<Oid> {
        let _ = opno;
        Ok(Oid::INVALID)
    }
    fn type_info(&mut self, ty: Oid) -> Result<TypeInfo>;
    fn type_io(&mut self, ty: Oid) -> Result<Arc<TypeIo>>;
    /// `format_type` of the type.
    fn type_name(&mut self, ty: Oid) -> Result<String>;
    /// Schema and name of the type, as errors name them.
    fn type_place(&mut self, ty: Oid) -> Result<(String, String)>;
    /// The comparison of the type's default B-tree operator class.
    fn type_compare(&mut self, ty: Oid) -> Result<Comparer>;
    /// Comparison function for these operand types in an operator family.
    fn family_compare(&mut self, family: Oid, left: Oid, right: Oid) -> Result<Comparer>;
    /// Base type and modifier beneath a domain (the type itself if it is none).
    fn base_type(&mut self, ty: Oid) -> Result<(Oid, i32)>;
    /// 0A000 where values cannot be compared by this collation.
    fn check_collation(&mut self, collation: Oid) -> Result<()> {
        let _ = collation;
        Ok(())
    }
    /// The body of a function in SQL, for a call with these arguments: `None` where it is more than
    /// an expression, or where the user may not call it.
    fn inline(&mut self, call: &FuncExpr) -> Result<Option<Arc<Inline>>> {
        let _ = call;
        Ok(None)
    }
    /// The domain's constraints and those of the domains beneath, in the order they are tested.
    fn domain_checks(&mut self, ty: Oid) -> Result<Vec<DomainCheck>>;
}
