//! A catalog for tests: the fact tables of a new cluster, and two domains. The tests of `executor`
//! use this file, too.

use super::api::{Callee, DomainCheck, Facts, FnFacts, TypeIo, WindowKind, kernels};
use catalog::facts::rows;
use catalog::rows::{PgAmproc, PgOperator, PgProc, PgType};
use ids::Oid;
use ids::code::TypType;
use pgerror::{PgError, Result};
use plan::Expr;
use plan::expr::{Const, FuncExpr, Location, OpExpr};
use std::collections::HashMap;
use std::sync::Arc;
use types::builtin::{self, BuiltinFn};
use types::compare::{self, Comparer};
use types::fn_context::TypeInfo;
use types::{Datum, builtin_types, oids};

/// A domain over `int4`, NOT NULL, with the check `VALUE > 0`.
pub(super) const POSITIVE: Oid = Oid(100_001);
/// A domain over `text` with the check `length(VALUE) < 4`.
pub(super) const SHORT: Oid = Oid(100_002);

const INT4_GT: Oid = Oid(521);
const INT4_LT: Oid = Oid(97);
const LENGTH_OF_TEXT: Oid = Oid(1317);

pub(super) struct TableFacts {
    pub procs: Vec<PgProc>,
    pub operators: Vec<PgOperator>,
    functions: HashMap<Oid, Arc<FnFacts>>,
    operator_functions: HashMap<Oid, (Oid, Oid)>,
    ios: HashMap<Oid, (Oid, Oid)>,
    /// Comparison functions of operator families by family and operand types.
    comparisons: HashMap<(Oid, Oid, Oid), Oid>,
}

impl TableFacts {
    pub(super) fn new() -> TableFacts {
        let procs = rows::<PgProc>();
        let operators = rows::<PgOperator>();
        let functions = procs.iter().map(|p| (p.oid, Arc::new(function(p)))).collect();
        let operator_functions =
            operators.iter().map(|o| (o.oid, (o.oprcode, o.oprnegate))).collect();
        let ios = rows::<PgType>().iter().map(|t| (t.oid, (t.typinput, t.typoutput))).collect();
        let comparisons = rows::<PgAmproc>()
            .iter()
            .filter(|p| p.amprocnum == 1)
            .map(|p| ((p.amprocfamily, p.amproclefttype, p.amprocrighttype), p.amproc))
            .collect();
        TableFacts { procs, operators, functions, operator_functions, ios, comparisons }
    }
}

fn function(p: &PgProc) -> FnFacts {
    let callee = match builtin::lookup(p.prosrc.as_str()).map(|b| b.f) {
        Some(BuiltinFn::Scalar(f)) => Callee::Scalar(f),
        Some(BuiltinFn::Srf(f)) => Callee::Srf(f),
        _ => WindowKind::named(p.prosrc.as_str()).map_or(Callee::Missing, Callee::Window),
    };
    FnFacts {
        oid: p.oid,
        name: p.proname.as_str().to_string(),
        callee,
        kernel: kernels::lookup(p.prosrc.as_str()),
        words: kernels::lookup_words(p.prosrc.as_str()),
        strict: p.proisstrict,
        volatility: p.provolatile,
        cost: f64::from(p.procost),
        may_inline: false,
        returns_set: p.proretset,
        result_type: p.prorettype,
        parameters: p.pronargs.max(0) as usize,
        defaults: Arc::new([]),
    }
}

/// The base type of one of the domains.
pub(super) fn base_of(ty: Oid) -> Option<Oid> {
    match ty {
        POSITIVE => Some(oids::INT4),
        SHORT => Some(oids::TEXT),
        _ => None,
    }
}

/// The properties of a built-in type or of one of the domains.
pub(super) fn type_info(ty: Oid) -> Result<TypeInfo> {
    let base = base_of(ty);
    let found = builtin_types::get(base.unwrap_or(ty))
        .ok_or_else(|| PgError::internal(format!("cache lookup failed for type {ty}")))?;
    Ok(match base {
        None => found.info,
        Some(base) => TypeInfo { oid: ty, kind: TypType::Domain, base, ..found.info },
    })
}

fn int4(value: i32) -> Expr {
    Expr::Const(Const {
        consttype: oids::INT4,
        consttypmod: -1,
        constcollid: Oid::INVALID,
        constlen: 4,
        constbyval: true,
        value: Datum::int4(value),
        location: Location::UNKNOWN,
    })
}

fn domain_value(ty: Oid, collation: Oid) -> Expr {
    Expr::CoerceToDomainValue(plan::expr::CoerceToDomainValue {
        typeid: ty,
        typmod: -1,
        collation,
        location: Location::UNKNOWN,
    })
}

fn comparison(opno: Oid, left: Expr, right: Expr) -> Expr {
    Expr::OpExpr(Box::new(OpExpr {
        opno,
        opfuncid: Oid::INVALID,
        opresulttype: oids::BOOL,
        opretset: false,
        opcollid: Oid::INVALID,
        inputcollid: Oid::INVALID,
        args: vec![left, right],
        location: Location::UNKNOWN,
    }))
}

impl Facts for TableFacts {
    fn function(&mut self, oid: Oid) -> Result<Arc<FnFacts>> {
        let missing = || PgError::internal(format!("cache lookup failed for function {oid}"));
        self.functions.get(&oid).cloned().ok_or_else(missing)
    }

    fn operator_function(&mut self, opno: Oid) -> Result<Oid> {
        let missing = || PgError::internal(format!("cache lookup failed for operator {opno}"));
        self.operator_functions.get(&opno).map(|o| o.0).ok_or_else(missing)
    }

    fn negator(&mut self, opno: Oid) -> Result<Oid> {
        Ok(self.operator_functions.get(&opno).map_or(Oid::INVALID, |o| o.1))
    }

    fn type_info(&mut self, ty: Oid) -> Result<TypeInfo> {
        type_info(ty)
    }

    fn type_io(&mut self, ty: Oid) -> Result<Arc<TypeIo>> {
        let info = type_info(ty)?;
        let missing = || PgError::internal(format!("cache lookup failed for type {ty}"));
        let (input, output) = self.ios.get(&ty).copied().ok_or_else(missing)?;
        let input = (*self.function(input)?).clone();
        let output = (*self.function(output)?).clone();
        let io_param = if info.elem.is_valid() { info.elem } else { ty };
        Ok(Arc::new(TypeIo { info, io_param, input, output }))
    }

    fn type_name(&mut self, ty: Oid) -> Result<String> {
        Ok(match ty {
            POSITIVE => "positive".into(),
            SHORT => "short".into(),
            _ => builtin_types::get(ty).map_or("???", |t| t.format_name).into(),
        })
    }

    fn type_schema_and_name(&mut self, ty: Oid) -> Result<(String, String)> {
        Ok(("public".into(), self.type_name(ty)?))
    }

    fn type_compare(&mut self, ty: Oid) -> Result<Comparer> {
        let unknown = || PgError::unsupported(format!("comparison of type {ty}"));
        compare::of_type(ty).map(Comparer::from).ok_or_else(unknown)
    }

    fn family_compare(&mut self, family: Oid, left: Oid, right: Oid) -> Result<Comparer> {
        let found = self.comparisons.get(&(family, left, right)).copied();
        let name = found.and_then(|f| self.procs.iter().find(|p| p.oid == f));
        match name.and_then(|p| compare::lookup(p.prosrc.as_str())) {
            Some(f) => Ok(f.into()),
            None => self.type_compare(left),
        }
    }

    fn base_type(&mut self, ty: Oid) -> Result<(Oid, i32)> {
        Ok((base_of(ty).unwrap_or(ty), -1))
    }

    fn domain_checks(&mut self, ty: Oid) -> Result<Arc<[DomainCheck]>> {
        let check =
            |name: &str, check| DomainCheck { name: name.into(), check, calls: Box::default() };
        let checks = match ty {
            POSITIVE => {
                let value = domain_value(oids::INT4, Oid::INVALID);
                let positive = comparison(INT4_GT, value, int4(0));
                vec![check("", None), check("positive_check", Some(positive))]
            }
            SHORT => {
                let length = Expr::FuncExpr(Box::new(FuncExpr {
                    funcid: LENGTH_OF_TEXT,
                    funcresulttype: oids::INT4,
                    funcretset: false,
                    funcvariadic: false,
                    funcformat: Default::default(),
                    funccollid: Oid::INVALID,
                    inputcollid: Oid(100),
                    args: vec![domain_value(oids::TEXT, Oid(100))],
                    location: Location::UNKNOWN,
                }));
                vec![check("short_check", Some(comparison(INT4_LT, length, int4(4))))]
            }
            _ => Vec::new(),
        };
        Ok(checks.into())
    }
}
