//! Expressions and queries stored in catalogs as `pg_node_tree`, made complete by look-ups.

use crate::lookup::Lookup;
use crate::walk::{expr_deep_mut, query_deep_mut};
use ids::Oid;
use pgerror::Result;
use plan::expr::{Expr, SubLinkKind};
use plan::nodetree;
use plan::query::Query;

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

/// The statements of a function's SQL-standard body, and whether they stand in a block: a block is
/// stored as a list within a list. As in `pg_proc.prosqlbody`.
pub fn body(cat: &mut dyn Lookup, text: &str) -> Result<(Vec<Query>, bool)> {
    let text = text.trim();
    let block = text.starts_with("((") || text == "(<>)";
    let inner = if block { text.get(1..text.len() - 1).unwrap_or("<>") } else { text };
    Ok((queries(cat, inner)?, block))
}

/// `ARRAY(SELECT …)` is stored without its type.
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
            // Of an array that no array is made of, the same array.
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
