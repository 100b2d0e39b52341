//! OR clauses: extracts conditions that are common to all disjuncts, and restrictions on single
//! relations that follow from all disjuncts. Counterpart: prepqual.c (`find_duplicate_ors`),
//! orclauses.c.

use crate::vars::{conjunction, conjuncts, contains_subplans, relids_of};
use plan::expr::{BoolExpr, BoolOp, Expr, Location};

/// Rewrites `(a AND b) OR (a AND c)` as `a AND (b OR c)`, at any depth of AND and OR.
pub fn factored(expr: Expr) -> Expr {
    let b = match expr {
        Expr::Bool(b) if b.boolop != BoolOp::Not => *b,
        other => return other,
    };
    let and = b.boolop == BoolOp::And;
    let mut parts = Vec::with_capacity(b.args.len());
    for arg in b.args {
        match factored(arg) {
            Expr::Bool(inner) if inner.boolop == b.boolop => parts.extend(inner.args),
            other => parts.push(other),
        }
    }
    if and {
        let never =
            |e: &Expr| matches!(e, Expr::Const(c) if c.is_null() || !c.value.as_ref().as_bool());
        if parts.iter().any(never) {
            return eval::bool_const(Some(false));
        }
        return conjunction(parts).unwrap_or_else(|| eval::bool_const(Some(true)));
    }
    // Remove disjuncts that are never true.
    let never =
        |e: &Expr| matches!(e, Expr::Const(c) if c.is_null() || !c.value.as_ref().as_bool());
    parts.retain(|p| !never(p));
    let mut disjuncts: Vec<Vec<Expr>> = parts.into_iter().map(conjuncts_of).collect();
    let Some((first, others)) = disjuncts.split_first() else {
        return eval::bool_const(Some(false));
    };
    let mut common: Vec<Expr> = Vec::new();
    for e in first {
        if !common.contains(e) && others.iter().all(|o| o.contains(e)) {
            common.push(e.clone());
        }
    }
    if common.is_empty() {
        return disjunction(disjuncts);
    }
    disjuncts.iter_mut().for_each(|a| a.retain(|e| !common.contains(e)));
    // If a disjunct has no other conditions, the rest of the OR is always true.
    if disjuncts.iter().all(|a| !a.is_empty()) {
        match disjunction(disjuncts) {
            Expr::Bool(inner) if inner.boolop == BoolOp::And => common.extend(inner.args),
            other => common.push(other),
        }
    }
    conjunction(common).unwrap_or_else(|| eval::bool_const(Some(true)))
}

/// The restriction on entry `rti` that follows from an OR clause over several relations; `None`
/// unless each disjunct has a condition on `rti` alone. Counterpart: `extract_or_clause`.
pub fn restriction_of(clause: &Expr, rti: i32) -> Option<Expr> {
    let Expr::Bool(b) = clause else { return None };
    if b.boolop != BoolOp::Or {
        return None;
    }
    let mut disjuncts = Vec::with_capacity(b.args.len());
    for a in &b.args {
        let mut own = Vec::new();
        for part in conjuncts_of(a.clone()) {
            if contains_subplans(&part) {
                continue;
            }
            if relids_of(&part).into_iter().eq([rti]) {
                own.push(part);
            } else if let Some(inner) = restriction_of(&part, rti) {
                own.push(inner);
            }
        }
        if own.is_empty() {
            return None;
        }
        disjuncts.push(own);
    }
    Some(factored(disjunction(disjuncts)))
}

fn conjuncts_of(e: Expr) -> Vec<Expr> {
    let mut out = Vec::new();
    conjuncts(e, &mut out);
    out
}

fn disjunction(disjuncts: Vec<Vec<Expr>>) -> Expr {
    let mut args: Vec<Expr> = Vec::with_capacity(disjuncts.len());
    for a in disjuncts.into_iter().filter_map(conjunction) {
        match a {
            Expr::Bool(inner) if inner.boolop == BoolOp::Or => args.extend(inner.args),
            other => args.push(other),
        }
    }
    if args.len() == 1
        && let Some(only) = args.pop()
    {
        return only;
    }
    Expr::Bool(Box::new(BoolExpr { boolop: BoolOp::Or, args, location: Location::UNKNOWN }))
}
