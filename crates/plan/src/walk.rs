//! Visiting and rewriting expression trees. Counterpart: nodeFuncs.c (walkers and mutators).
//!
//! The functions here step one level: the visitor decides about each child and recurses itself, which
//! keeps depth counting and context with the caller.

use crate::expr::*;

/// Calls `f` on each direct sub-expression, in evaluation order. Sub-selects of SubLinks are not
/// entered (their test expressions are).
pub fn each_child<'a>(expr: &'a Expr, f: &mut dyn FnMut(&'a Expr)) {
    match expr {
        Expr::Var(_)
        | Expr::Const(_)
        | Expr::Param(_)
        | Expr::CaseTest(_)
        | Expr::SqlValue(_)
        | Expr::CoerceToDomainValue(_)
        | Expr::SetToDefault(_)
        | Expr::CurrentOf(_)
        | Expr::NextValue(_) => {}
        Expr::Aggref(n) => {
            n.aggdirectargs.iter().for_each(&mut *f);
            n.args.iter().for_each(|t| f(&t.expr));
            n.aggfilter.iter().for_each(f);
        }
        Expr::GroupingFunc(n) => n.args.iter().for_each(f),
        Expr::WindowFunc(n) => {
            n.args.iter().for_each(&mut *f);
            n.aggfilter.iter().for_each(f);
        }
        Expr::SubscriptingRef(n) => {
            n.refupperindexpr.iter().flatten().for_each(&mut *f);
            n.reflowerindexpr.iter().flatten().for_each(&mut *f);
            f(&n.refexpr);
            n.refassgnexpr.iter().for_each(f);
        }
        Expr::FuncExpr(n) => n.args.iter().for_each(f),
        Expr::NamedArg(n) => f(&n.arg),
        Expr::OpExpr(n) | Expr::Distinct(n) | Expr::NullIf(n) => n.args.iter().for_each(f),
        Expr::ScalarArrayOp(n) => n.args.iter().for_each(f),
        Expr::Bool(n) => n.args.iter().for_each(f),
        Expr::SubLink(n) => n.testexpr.iter().for_each(f),
        Expr::SubPlan(n) => {
            n.testexpr.iter().for_each(&mut *f);
            n.args.iter().for_each(f);
        }
        Expr::FieldSelect(n) => f(&n.arg),
        Expr::FieldStore(n) => {
            f(&n.arg);
            n.newvals.iter().for_each(f);
        }
        Expr::Relabel(n) => f(&n.arg),
        Expr::CoerceViaIo(n) => f(&n.arg),
        Expr::ArrayCoerce(n) => {
            f(&n.arg);
            f(&n.elemexpr);
        }
        Expr::ConvertRowtype(n) => f(&n.arg),
        Expr::Collate(n) => f(&n.arg),
        Expr::Case(n) => {
            n.arg.iter().for_each(&mut *f);
            for w in &n.args {
                f(&w.expr);
                f(&w.result);
            }
            n.defresult.iter().for_each(f);
        }
        Expr::Array(n) => n.elements.iter().for_each(f),
        Expr::Row(n) => n.args.iter().for_each(f),
        Expr::RowCompare(n) => {
            n.largs.iter().for_each(&mut *f);
            n.rargs.iter().for_each(f);
        }
        Expr::Coalesce(n) => n.args.iter().for_each(f),
        Expr::MinMax(n) => n.args.iter().for_each(f),
        Expr::NullTest(n) => f(&n.arg),
        Expr::BooleanTest(n) => f(&n.arg),
        Expr::CoerceToDomain(n) => f(&n.arg),
    }
}

/// Like [`each_child`], with leave to change them.
pub fn each_child_mut(expr: &mut Expr, f: &mut dyn FnMut(&mut Expr)) {
    match expr {
        Expr::Var(_)
        | Expr::Const(_)
        | Expr::Param(_)
        | Expr::CaseTest(_)
        | Expr::SqlValue(_)
        | Expr::CoerceToDomainValue(_)
        | Expr::SetToDefault(_)
        | Expr::CurrentOf(_)
        | Expr::NextValue(_) => {}
        Expr::Aggref(n) => {
            n.aggdirectargs.iter_mut().for_each(&mut *f);
            n.args.iter_mut().for_each(|t| f(&mut t.expr));
            n.aggfilter.iter_mut().for_each(f);
        }
        Expr::GroupingFunc(n) => n.args.iter_mut().for_each(f),
        Expr::WindowFunc(n) => {
            n.args.iter_mut().for_each(&mut *f);
            n.aggfilter.iter_mut().for_each(f);
        }
        Expr::SubscriptingRef(n) => {
            n.refupperindexpr.iter_mut().flatten().for_each(&mut *f);
            n.reflowerindexpr.iter_mut().flatten().for_each(&mut *f);
            f(&mut n.refexpr);
            n.refassgnexpr.iter_mut().for_each(f);
        }
        Expr::FuncExpr(n) => n.args.iter_mut().for_each(f),
        Expr::NamedArg(n) => f(&mut n.arg),
        Expr::OpExpr(n) | Expr::Distinct(n) | Expr::NullIf(n) => n.args.iter_mut().for_each(f),
        Expr::ScalarArrayOp(n) => n.args.iter_mut().for_each(f),
        Expr::Bool(n) => n.args.iter_mut().for_each(f),
        Expr::SubLink(n) => n.testexpr.iter_mut().for_each(f),
        Expr::SubPlan(n) => {
            n.testexpr.iter_mut().for_each(&mut *f);
            n.args.iter_mut().for_each(f);
        }
        Expr::FieldSelect(n) => f(&mut n.arg),
        Expr::FieldStore(n) => {
            f(&mut n.arg);
            n.newvals.iter_mut().for_each(f);
        }
        Expr::Relabel(n) => f(&mut n.arg),
        Expr::CoerceViaIo(n) => f(&mut n.arg),
        Expr::ArrayCoerce(n) => {
            f(&mut n.arg);
            f(&mut n.elemexpr);
        }
        Expr::ConvertRowtype(n) => f(&mut n.arg),
        Expr::Collate(n) => f(&mut n.arg),
        Expr::Case(n) => {
            n.arg.iter_mut().for_each(&mut *f);
            for w in &mut n.args {
                f(&mut w.expr);
                f(&mut w.result);
            }
            n.defresult.iter_mut().for_each(f);
        }
        Expr::Array(n) => n.elements.iter_mut().for_each(f),
        Expr::Row(n) => n.args.iter_mut().for_each(f),
        Expr::RowCompare(n) => {
            n.largs.iter_mut().for_each(&mut *f);
            n.rargs.iter_mut().for_each(f);
        }
        Expr::Coalesce(n) => n.args.iter_mut().for_each(f),
        Expr::MinMax(n) => n.args.iter_mut().for_each(f),
        Expr::NullTest(n) => f(&mut n.arg),
        Expr::BooleanTest(n) => f(&mut n.arg),
        Expr::CoerceToDomain(n) => f(&mut n.arg),
    }
}

/// Does `found` hold for the expression or any part of it (sub-selects not entered)?
pub fn any(expr: &Expr, found: &mut dyn FnMut(&Expr) -> bool) -> bool {
    if found(expr) {
        return true;
    }
    let mut hit = false;
    each_child(expr, &mut |c| hit = hit || any(c, found));
    hit
}
