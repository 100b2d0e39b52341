//! The functions that an expression calls, for the check of the privilege EXECUTE.

use crate::facts::Facts;
use ids::Oid;
use pgerror::Result;
use plan::expr::Expr;
use plan::walk;

/// The functions that the expressions call by name or through operators, without duplicates; not
/// those of conversions and of the constraints of domains. Counterpart: the checks of
/// `ExecInitFunc`.
pub fn called<'e>(
    exprs: impl IntoIterator<Item = &'e Expr>,
    facts: &mut dyn Facts,
) -> Result<Box<[Oid]>> {
    let (mut functions, mut operators) = (Vec::new(), Vec::new());
    for e in exprs {
        walk::any(e, &mut |e| {
            match e {
                Expr::FuncExpr(f) => functions.push(f.funcid),
                Expr::OpExpr(o) | Expr::Distinct(o) | Expr::NullIf(o) => operators.push(o.opno),
                Expr::ScalarArrayOp(o) => operators.push(o.opno),
                _ => {}
            }
            false
        });
    }
    for o in operators {
        functions.push(facts.operator_function(o)?);
    }
    functions.sort_unstable();
    functions.dedup();
    Ok(functions.into())
}
