//! Reads expressions and queries that catalogs store as `pg_node_tree`, and looks up in the
//! catalogs what the text does not contain.

use crate::lookup::Lookup;
use crate::state::{Analyzer, Params};
use crate::walk::{expr_deep_mut, query_deep_mut};
use ids::Oid;
use pgerror::{PgError, Result};
use plan::expr::{Expr, SubLinkKind};
use plan::nodetree;
use plan::query::Query;

/// XX000: a stored tree, or a row that refers to it, is malformed.
pub fn malformed() -> PgError {
    PgError::internal("malformed expression tree")
}

/// A list of expressions, as in `pg_proc.proargdefaults` and `pg_index.indexprs`.
pub fn exprs(cat: &mut dyn Lookup, text: &str) -> Result<Vec<Expr>> {
    let mut list = nodetree::read_exprs(text)?;
    for e in &mut list {
        complete(cat, e)?;
    }
    Ok(list)
}

/// One expression, as in `pg_attrdef.adbin`, `pg_constraint.conbin` and `pg_index.indpred`.
pub fn expr(cat: &mut dyn Lookup, text: &str) -> Result<Expr> {
    let mut e = nodetree::read_expr(text)?;
    complete(cat, &mut e)?;
    Ok(e)
}

/// Queries, as in `pg_rewrite.ev_action`.
pub fn queries(cat: &mut dyn Lookup, text: &str) -> Result<Vec<Query>> {
    let mut list = nodetree::read_queries(text)?;
    for query in &mut list {
        let mut missing = Vec::new();
        query_deep_mut(query, 0, &mut |e, _| {
            collect(e, &mut missing);
            true
        });
        if !missing.is_empty() {
            let arrays = arrays_of(cat, &missing)?;
            query_deep_mut(query, 0, &mut |e, _| {
                fill(e, &arrays);
                true
            });
        }
    }
    Ok(list)
}

/// The statements of a function's SQL-standard body (`pg_proc.prosqlbody`), and whether they are in
/// a BEGIN ATOMIC block. A block is stored as a nested list.
pub fn body(cat: &mut dyn Lookup, text: &str) -> Result<(Vec<Query>, bool)> {
    let text = text.trim();
    let block = text.starts_with("((") || text == "(<>)";
    let inner = if block { text.get(1..text.len() - 1).unwrap_or("<>") } else { text };
    Ok((queries(cat, inner)?, block))
}

/// Completes the argument lists of function calls. PostgreSQL stores calls as written, with named
/// arguments and without defaulted ones, and looks up the defaults when the query is planned.
/// Counterpart: `expand_function_arguments`.
pub fn expand_calls(cat: &mut dyn Lookup, query: &mut Query) -> Result<()> {
    let mut outcome = Ok(());
    query_deep_mut(query, 0, &mut |e, _| {
        if outcome.is_ok() {
            outcome = expand(cat, e);
        }
        true
    });
    outcome
}

/// As [`expand_calls`], in an expression.
pub fn expand_calls_in(cat: &mut dyn Lookup, e: &mut Expr) -> Result<()> {
    let mut outcome = Ok(());
    expr_deep_mut(e, 0, &mut |e, _| {
        if outcome.is_ok() {
            outcome = expand(cat, e);
        }
        true
    });
    outcome
}

/// Completes the argument list of the expression, if it is a call.
fn expand(cat: &mut dyn Lookup, e: &mut Expr) -> Result<()> {
    let (function, args) = match e {
        Expr::FuncExpr(call) => (call.funcid, &mut call.args),
        Expr::WindowFunc(call) if !call.winagg => (call.winfnoid, &mut call.args),
        _ => return Ok(()),
    };
    let named = args.iter().any(|a| matches!(a, Expr::NamedArg(_)));
    let Some(proc) = cat.proc_row(function)? else {
        return Err(PgError::internal(format!("cache lookup failed for function {function}")));
    };
    let count = proc.pronargs.max(0) as usize;
    if !named && args.len() >= count {
        return Ok(());
    }
    let mut slots: Vec<Option<Expr>> = vec![None; count];
    for (i, arg) in std::mem::take(args).into_iter().enumerate() {
        let (at, arg) = match arg {
            Expr::NamedArg(named) => (named.argnumber as usize, named.arg),
            plain => (i, plain),
        };
        if let Some(slot) = slots.get_mut(at) {
            *slot = Some(arg);
        }
    }
    let polymorphic = proc.proargtypes.iter().any(|&ty| crate::ty::is_polymorphic(ty));
    let defaults = exprs(cat, proc.proargdefaults.as_ref().map_or("<>", |t| t.as_str()))?;
    let first = count.saturating_sub(defaults.len());
    for (slot, default) in slots[first..].iter_mut().zip(defaults) {
        slot.get_or_insert(default);
    }
    *args = slots.into_iter().collect::<Option<_>>().ok_or_else(|| {
        PgError::internal(format!("not enough default arguments of function {function}"))
    })?;
    if polymorphic {
        // The other arguments decide the type of a polymorphic default. Counterpart:
        // `recheck_cast_function_args`.
        let actual: Vec<Oid> = args.iter().map(Expr::type_oid).collect();
        let mut declared = proc.proargtypes.to_vec();
        let mut cx = Analyzer::new(cat, "", Params::Fixed(Vec::new()));
        cx.enforce_generics(&actual, &mut declared, proc.prorettype, false)?;
        *args = cx.coerce_arguments(std::mem::take(args), &actual, &declared)?;
    }
    Ok(())
}

/// Sets the type of `ARRAY(SELECT …)`, which the stored text does not contain.
fn complete(cat: &mut dyn Lookup, e: &mut Expr) -> Result<()> {
    let mut missing = Vec::new();
    expr_deep_mut(e, 0, &mut |e, _| {
        collect(e, &mut missing);
        true
    });
    if !missing.is_empty() {
        let arrays = arrays_of(cat, &missing)?;
        expr_deep_mut(e, 0, &mut |e, _| {
            fill(e, &arrays);
            true
        });
    }
    Ok(())
}

fn element_of(e: &Expr) -> Option<Oid> {
    match e {
        Expr::SubLink(link) if link.kind == SubLinkKind::Array => {
            link.subselect.target_list.first().map(|t| t.expr.type_oid())
        }
        _ => None,
    }
}

fn collect(e: &Expr, out: &mut Vec<Oid>) {
    out.extend(element_of(e));
}

fn arrays_of(cat: &mut dyn Lookup, elements: &[Oid]) -> Result<Vec<(Oid, Oid)>> {
    let mut out = Vec::with_capacity(elements.len());
    for &element in elements {
        let row = cat.type_row(element)?;
        let array = row.map_or(Oid::INVALID, |row| {
            // An array type without an array type of its own (arrays of arrays are the same type).
            let itself = !row.typarray.is_valid() && crate::typename::is_true_array(&row);
            if itself { element } else { row.typarray }
        });
        out.push((element, array));
    }
    Ok(out)
}

fn fill(e: &mut Expr, arrays: &[(Oid, Oid)]) {
    let Some(element) = element_of(e) else { return };
    if let (Expr::SubLink(link), Some(found)) = (e, arrays.iter().find(|a| a.0 == element)) {
        link.array_type = found.1;
    }
}
