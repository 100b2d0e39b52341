//! Inlining of SQL functions whose body is one expression. Counterpart: clauses.c
//! (`inline_function`).

use crate::facts::Facts;
use crate::volatility::{Volatility, volatility};
use ids::Oid;
use ids::builtin::collation::DEFAULT as DEFAULT_COLLATION;
use pgerror::Result;
use plan::expr::{BoolExpr, BoolOp, CaseExpr, CaseWhen, Expr, FuncExpr, NullTest, ParamKind};
use plan::walk;

/// Largest cost, in units of `procost`, of an argument that may be evaluated more than once.
const REPEATED_MAX: f64 = 10.0;

/// The body of an SQL function: an expression over `$1`, `$2`, ….
#[derive(Debug)]
pub struct Inline {
    pub expr: Expr,
}

/// The function's body with the call's arguments in place of its parameters; `None` if that could
/// change the result: by NULL arguments of a strict function, the number of evaluations, or the
/// collation. `present`: see [`fold_query`](crate::fold_query).
pub(crate) fn inlined(
    call: &FuncExpr,
    facts: &mut dyn Facts,
    present: &dyn Fn(i32) -> bool,
) -> Result<Option<Expr>> {
    let known_collation = |c: Oid| !c.is_valid() || c == DEFAULT_COLLATION;
    if !known_collation(call.inputcollid) || call.args.iter().any(depends_on_context) {
        return Ok(None);
    }
    let Some(body) = facts.inline(call)? else { return Ok(None) };
    let own = body.expr.collation();
    if body.expr.type_oid() != call.funcresulttype || (own.is_valid() && own != call.funccollid) {
        return Ok(None);
    }
    let function = facts.function(call.funcid)?;
    if volatility(&body.expr, facts)? > function.volatility {
        return Ok(None);
    }
    let mut uses = vec![0; call.args.len()];
    let mut expr = body.expr.clone();
    if !substitute_arguments(&mut expr, &call.args, &mut uses) {
        return Ok(None);
    }
    let guarded = function.strict && (uses.contains(&0) || !is_strict(&body.expr, facts)?);
    for (arg, &n) in call.args.iter().zip(&uses) {
        let fits = n + u32::from(guarded) <= 1 || is_cheap(arg, facts)?;
        // A NULL test of a whole-row reference would have to form the row.
        let row = matches!(arg, Expr::Var(v) if v.varattno == 0 && !present(v.varno));
        if !fits || (guarded && row) {
            return Ok(None);
        }
    }
    Ok(Some(if guarded { unless_null(call, expr) } else { expr }))
}

/// `CASE WHEN` all arguments are not NULL `THEN expr END`.
fn unless_null(call: &FuncExpr, expr: Expr) -> Expr {
    let location = call.location;
    let is_not_null = |arg: &Expr| {
        let arg = arg.clone();
        Expr::NullTest(Box::new(NullTest { arg, is_not: true, argisrow: false, location }))
    };
    let args = call.args.iter().map(is_not_null).collect();
    let condition = Expr::Bool(Box::new(BoolExpr { boolop: BoolOp::And, args, location }));
    Expr::Case(Box::new(CaseExpr {
        casetype: call.funcresulttype,
        casecollid: call.funccollid,
        arg: None,
        args: vec![CaseWhen { expr: condition, result: expr, location }],
        defresult: None,
        location,
    }))
}

/// True if the argument refers to an enclosing CASE or domain check.
fn depends_on_context(arg: &Expr) -> bool {
    walk::any(arg, &mut |e| matches!(e, Expr::CaseTest(_) | Expr::CoerceToDomainValue(_)))
}

/// Replaces the parameters by the arguments, and counts the uses of each. False if an argument is
/// missing or has another type.
fn substitute_arguments(expr: &mut Expr, args: &[Expr], uses: &mut [u32]) -> bool {
    if let Expr::Param(p) = expr {
        let at = usize::try_from(p.paramid - 1).unwrap_or(usize::MAX);
        let (Some(arg), Some(n)) = (args.get(at), uses.get_mut(at)) else { return false };
        if p.paramkind != ParamKind::Extern || arg.type_oid() != p.paramtype {
            return false;
        }
        *n += 1;
        *expr = arg.clone();
        return true;
    }
    let mut all = true;
    walk::each_child_mut(expr, &mut |c| all &= substitute_arguments(c, args, uses));
    all
}

/// True if the expression is NULL whenever a parameter in it is.
fn is_strict(expr: &Expr, facts: &mut dyn Facts) -> Result<bool> {
    let own = match expr {
        Expr::Param(_) | Expr::Const(_) | Expr::Relabel(_) | Expr::Collate(_) => true,
        Expr::CoerceViaIo(_) | Expr::FieldSelect(_) => true,
        Expr::FuncExpr(n) => facts.function(n.funcid)?.strict,
        Expr::OpExpr(n) => {
            let f = match n.opfuncid.valid() {
                Some(f) => f,
                None => facts.operator_function(n.opno)?,
            };
            facts.function(f)?.strict
        }
        _ => false,
    };
    all_children(expr, own, &mut |c| is_strict(c, facts))
}

/// True if the expression may be evaluated several times: it is not volatile and costs at most
/// [`REPEATED_MAX`].
fn is_cheap(expr: &Expr, facts: &mut dyn Facts) -> Result<bool> {
    let mut cost = 0.0;
    if !add_cost(expr, facts, &mut cost)? {
        return Ok(false);
    }
    Ok(cost <= REPEATED_MAX && volatility(expr, facts)? != Volatility::Volatile)
}

fn add_cost(expr: &Expr, facts: &mut dyn Facts, cost: &mut f64) -> Result<bool> {
    let own = match expr {
        Expr::Var(_) | Expr::Param(_) | Expr::Const(_) | Expr::Relabel(_) => 0.0,
        Expr::FuncExpr(n) => facts.function(n.funcid)?.cost,
        Expr::SubLink(_) | Expr::SubPlan(_) | Expr::Aggref(_) | Expr::WindowFunc(_) => {
            return Ok(false);
        }
        Expr::Bool(_) | Expr::NullTest(_) | Expr::BooleanTest(_) | Expr::Case(_) => 0.1,
        _ => 1.0,
    };
    *cost += own;
    all_children(expr, true, &mut |c| add_cost(c, facts, cost))
}

fn all_children(
    expr: &Expr,
    mut all: bool,
    test: &mut dyn FnMut(&Expr) -> Result<bool>,
) -> Result<bool> {
    let mut failure = None;
    walk::each_child(expr, &mut |c| {
        if all && failure.is_none() {
            match test(c) {
                Ok(holds) => all = holds,
                Err(e) => failure = Some(e),
            }
        }
    });
    failure.map_or(Ok(all), Err)
}
