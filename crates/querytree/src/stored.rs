//! `pg_column_size` and `pg_column_compression` of table columns: the scan returns the result
//! instead of the column's value (`ids::stored`), so that it describes the stored form.

use ids::builtin::proc;
use ids::stored::{StoredFacet, number};
use ids::{AttrNo, RelKind};
use plan::expr::{Expr, Var};
use plan::query::{Query, RteKind};
use plan::walk;

/// What a call of the function asks for.
pub fn facet(function: ids::Oid) -> Option<StoredFacet> {
    match function {
        proc::PG_COLUMN_SIZE => Some(StoredFacet::Size),
        proc::PG_COLUMN_COMPRESSION => Some(StoredFacet::Compression),
        _ => None,
    }
}

/// Replaces the calls over table columns in the expressions that are evaluated over scanned rows.
/// RETURNING and ON CONFLICT refer to the new rows, which are not scanned.
pub fn read_stored_forms(query: &mut Query) {
    let of_table: Vec<bool> = query
        .rtable
        .iter()
        .map(|rte| match rte.kind {
            RteKind::Relation { relkind, .. } => {
                matches!(relkind, RelKind::Table | RelKind::MaterializedView | RelKind::Toast)
            }
            _ => false,
        })
        .collect();
    let mut replace = |e: &mut Expr| {
        walk::deep_expr_mut(e, 0, &mut |e, level| {
            if let Some(new) = replacement(e, level, &of_table) {
                *e = new;
            }
            true
        });
    };
    walk::jointree_exprs_mut(&mut query.jointree, &mut replace);
    // In grouping sets, a column and the calls over it are NULL in the sets without the column.
    if query.grouping_sets.is_empty() {
        query.target_list.iter_mut().for_each(|t| replace(&mut t.expr));
        query.having_qual.iter_mut().for_each(replace);
    }
}

/// The column of the scan in place of a call at this level of sub-selects.
fn replacement(e: &Expr, level: u32, of_table: &[bool]) -> Option<Expr> {
    let Expr::FuncExpr(call) = e else { return None };
    let [Expr::Var(var)] = &call.args[..] else { return None };
    let facet = facet(call.funcid)?;
    let table = usize::try_from(var.varno - 1).ok().and_then(|i| of_table.get(i));
    if var.varlevelsup != level || var.varattno <= 0 || !table.is_some_and(|&t| t) {
        return None;
    }
    let column: AttrNo = number(facet, var.varattno);
    Some(Expr::Var(Var {
        varattno: column,
        vartype: call.funcresulttype,
        vartypmod: -1,
        varcollid: call.funccollid,
        ..var.clone()
    }))
}
