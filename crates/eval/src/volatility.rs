//! The volatility of expressions: whether they may be computed before execution. Counterpart:
//! clauses.c (`contain_mutable_functions`, `contain_volatile_functions`).

use crate::facts::Facts;
use ids::Oid;
pub use ids::code::Volatility;
use pgerror::Result;
use plan::expr::Expr;
use plan::query::{Query, RteKind};
use plan::walk;
use types::oids;

/// The volatility of the most volatile function in the expression, sub-selects included. Of a
/// sub-select that is already planned (`Expr::SubPlan`) only the test expression and arguments are
/// examined.
pub fn volatility(expr: &Expr, facts: &mut dyn Facts) -> Result<Volatility> {
    let mut worst = own_volatility(expr, facts)?;
    if let Expr::SubLink(s) = expr {
        worst = worst.max(stdx::stack::deep(|| query_volatility(&s.subselect, facts))?);
    }
    let mut failure = None;
    walk::each_child(expr, &mut |c| match volatility(c, facts) {
        Ok(v) => worst = worst.max(v),
        Err(e) => failure = Some(e),
    });
    match failure {
        Some(e) => Err(e),
        None => Ok(worst),
    }
}

/// The volatility of the most volatile function anywhere in the query.
pub fn query_volatility(query: &Query, facts: &mut dyn Facts) -> Result<Volatility> {
    let mut worst = Ok(Volatility::Immutable);
    let mut see = |v: Result<Volatility>| match (&mut worst, v) {
        (Ok(worst), Ok(v)) => *worst = (*worst).max(v),
        (Ok(_), Err(e)) => worst = Err(e),
        (Err(_), _) => {}
    };
    walk::query_exprs(query, &mut |e| see(volatility(e, facts)));
    query.cte_list.iter().for_each(|c| see(query_volatility(&c.query, facts)));
    for rte in &query.rtable {
        if let RteKind::Subquery { subquery, .. } = &rte.kind {
            see(stdx::stack::deep(|| query_volatility(subquery, facts)));
        }
    }
    worst
}

/// The volatility of the functions that the node itself calls, without its children.
pub fn own_volatility(expr: &Expr, facts: &mut dyn Facts) -> Result<Volatility> {
    Ok(match expr {
        Expr::FuncExpr(n) => facts.function(n.funcid)?.volatility,
        Expr::OpExpr(n) | Expr::Distinct(n) | Expr::NullIf(n) => {
            operator_volatility(n.opno, n.opfuncid, facts)?
        }
        Expr::ScalarArrayOp(n) => operator_volatility(n.opno, n.opfuncid, facts)?,
        Expr::CoerceViaIo(n) => {
            let from = facts.type_io(n.arg.type_oid())?;
            let to = facts.type_io(n.resulttype)?;
            from.output.volatility.max(to.input.volatility)
        }
        Expr::SqlValue(_) => Volatility::Stable,
        Expr::NextValue(_) => Volatility::Volatile,
        // A domain's checks may change under ALTER DOMAIN.
        Expr::CoerceToDomain(_) => Volatility::Stable,
        _ => Volatility::Immutable,
    })
}

/// The volatility of an operator; `funcid` is its function if that is known.
pub(crate) fn operator_volatility(
    opno: Oid,
    funcid: Oid,
    facts: &mut dyn Facts,
) -> Result<Volatility> {
    let f = match funcid.valid() {
        Some(f) => f,
        None => facts.operator_function(opno)?,
    };
    Ok(facts.function(f)?.volatility)
}

/// Whether the expression is the constant NULL.
pub(crate) fn is_null(expr: &Expr) -> bool {
    matches!(expr, Expr::Const(c) if c.is_null())
}

/// True if the node's children are constants and its value may be computed before execution.
pub fn is_foldable(expr: &Expr, facts: &mut dyn Facts) -> Result<bool> {
    if let Expr::ArrayCoerce(n) = expr {
        return Ok(matches!(n.arg, Expr::Const(_)) && computes_itself(expr, facts)?);
    }
    let mut all = true;
    walk::each_child(expr, &mut |c| all &= matches!(c, Expr::Const(_)));
    Ok(all && computes_itself(expr, facts)?)
}

/// True if the node itself, apart from its children, is an immutable function of their values.
pub(crate) fn computes_itself(expr: &Expr, facts: &mut dyn Facts) -> Result<bool> {
    Ok(match expr {
        Expr::FuncExpr(n) => {
            !n.funcretset
                && n.funcresulttype != oids::RECORD
                && own_volatility(expr, facts)? == Volatility::Immutable
        }
        Expr::ArrayCoerce(n) => volatility(&n.elemexpr, facts)? == Volatility::Immutable,
        Expr::OpExpr(n) => !n.opretset && own_volatility(expr, facts)? == Volatility::Immutable,
        Expr::Distinct(_) | Expr::NullIf(_) | Expr::ScalarArrayOp(_) | Expr::CoerceViaIo(_) => {
            own_volatility(expr, facts)? == Volatility::Immutable
        }
        // Row comparisons are not included, as in PostgreSQL, because the difference would be
        // visible in GROUP BY.
        Expr::Array(_) | Expr::MinMax(_) | Expr::SubscriptingRef(_) => true,
        // The number of an anonymous row type is the session's, but plans are shared.
        Expr::Row(n) => n.row_typeid != oids::RECORD,
        Expr::FieldSelect(n) => n.arg.type_oid() != oids::RECORD,
        Expr::NullTest(n) => !n.argisrow,
        Expr::BooleanTest(_) => true,
        _ => false,
    })
}
