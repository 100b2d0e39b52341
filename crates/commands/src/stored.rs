//! Expressions that catalogs keep: their text, and the objects that they need. Counterpart:
//! `recordDependencyOnExpr` and `find_expr_references_walker` of dependency.c.

use crate::host::CommandHost;
use catalog::ObjectAddress;
use catalog::depend::Dependency;
use catalog::rows::*;
use ids::{AttrNo, Oid};
use pgerror::Result;
use plan::query::{CmdType, Query, RteKind};
use plan::walk::each_child;
use plan::{Expr, nodetree};
use types::oids;

pub fn write(expr: &Expr) -> Text {
    Text::from(nodetree::write_expr(expr))
}

pub fn write_list(list: &[Expr]) -> Text {
    Text::from(nodetree::write_exprs(list))
}

/// Columns of the relation with range-table index 1 that an expression uses, in the order in which they first appear;
/// 0 is the whole row.
pub fn columns_used(exprs: &[Expr]) -> Vec<AttrNo> {
    fn walk(e: &Expr, out: &mut Vec<AttrNo>) {
        if let Expr::Var(v) = e
            && v.varlevelsup == 0
            && !out.contains(&v.varattno)
        {
            out.push(v.varattno);
        }
        each_child(e, &mut |c| walk(c, out));
    }
    let mut out = Vec::new();
    exprs.iter().for_each(|e| walk(e, &mut out));
    out
}

/// What an expression over one relation refers to; `relation` is what `Var`s of range-table index 1
/// belong to.
pub fn references(expr: &Expr, relation: Oid, out: &mut Vec<ObjectAddress>) {
    let ty = |oid: Oid| ObjectAddress::of::<PgType>(oid);
    let function = |oid: Oid| ObjectAddress::of::<PgProc>(oid);
    let operator = |oid: Oid| ObjectAddress::of::<PgOperator>(oid);
    let collation = |oid: Oid| ObjectAddress::of::<PgCollation>(oid);
    match expr {
        Expr::Var(v) if relation.is_valid() && v.varlevelsup == 0 => {
            out.push(ObjectAddress::column(relation, v.varattno));
        }
        Expr::Const(c) => {
            out.push(ty(c.consttype));
            out.push(collation(c.constcollid));
            if !c.value.is_null() {
                let value = c.value.as_ref();
                match c.consttype {
                    oids::REGCLASS => out.push(ObjectAddress::relation(value.as_oid())),
                    oids::REGPROC | oids::REGPROCEDURE => out.push(function(value.as_oid())),
                    oids::REGOPER | oids::REGOPERATOR => out.push(operator(value.as_oid())),
                    oids::REGTYPE => out.push(ty(value.as_oid())),
                    oids::REGCOLLATION => out.push(collation(value.as_oid())),
                    oids::REGNAMESPACE => {
                        out.push(ObjectAddress::of::<PgNamespace>(value.as_oid()));
                    }
                    _ => {}
                }
            }
        }
        Expr::Param(p) => out.push(ty(p.paramtype)),
        Expr::FuncExpr(f) => out.push(function(f.funcid)),
        Expr::OpExpr(o) | Expr::Distinct(o) | Expr::NullIf(o) => out.push(operator(o.opno)),
        Expr::ScalarArrayOp(o) => out.push(operator(o.opno)),
        Expr::Aggref(a) => out.push(function(a.aggfnoid)),
        Expr::WindowFunc(w) => out.push(function(w.winfnoid)),
        Expr::Relabel(r) => {
            out.push(ty(r.resulttype));
            out.push(collation(r.resultcollid));
        }
        Expr::CoerceViaIo(c) => out.push(ty(c.resulttype)),
        Expr::ArrayCoerce(c) => out.push(ty(c.resulttype)),
        Expr::ConvertRowtype(c) => out.push(ty(c.resulttype)),
        Expr::CoerceToDomain(c) => out.push(ty(c.resulttype)),
        Expr::Collate(c) => out.push(collation(c.coll_oid)),
        Expr::Row(r) => out.push(ty(r.row_typeid)),
        Expr::NextValue(n) => out.push(ObjectAddress::relation(n.seqid)),
        Expr::SubLink(s) => query_references(&s.subselect, out),
        _ => {}
    }
    each_child(expr, &mut |c| references(c, relation, out));
}

/// What a query refers to.
pub fn query_references(query: &Query, out: &mut Vec<ObjectAddress>) {
    for rte in &query.rtable {
        match &rte.kind {
            RteKind::Relation { relid, .. } => out.push(ObjectAddress::relation(*relid)),
            RteKind::Subquery { subquery, .. } => query_references(subquery, out),
            _ => {}
        }
    }
    for cte in &query.cte_list {
        query_references(&cte.query, out);
    }
    // The columns that are written.
    if matches!(query.command_type, CmdType::Insert | CmdType::Update)
        && let Some(rte) = query.rtable.get((query.result_relation - 1).max(0) as usize)
        && let RteKind::Relation { relid, .. } = rte.kind
    {
        let targets = query.target_list.iter().filter(|t| !t.resjunk);
        out.extend(targets.map(|t| ObjectAddress::column(relid, t.resno)));
    }
    let constraints = query.constraint_deps.iter();
    out.extend(constraints.map(|&oid| ObjectAddress::of::<PgConstraint>(oid)));
    // Columns are known by their range-table entry. What a join's columns stand for counts where they are used.
    let mut copy = query.clone();
    for rte in &mut copy.rtable {
        if let RteKind::Join { joinaliasvars, .. } = &mut rte.kind {
            joinaliasvars.clear();
        }
    }
    plan::walk::query_exprs_mut(&mut copy, &mut |e| expr_in_query(e, query, out));
}

fn expr_in_query(e: &Expr, query: &Query, out: &mut Vec<ObjectAddress>) {
    fn columns(e: &Expr, query: &Query, out: &mut Vec<ObjectAddress>) {
        if let Expr::Var(v) = e
            && v.varlevelsup == 0
            && let Some(rte) = query.rtable.get(v.varno as usize - 1)
        {
            match &rte.kind {
                RteKind::Relation { relid, .. } if v.varattno > 0 => {
                    out.push(ObjectAddress::column(*relid, v.varattno));
                }
                RteKind::Join { joinaliasvars, .. } if v.varattno > 0 => {
                    if let Some(e) = joinaliasvars.get(v.varattno as usize - 1) {
                        columns(e, query, out);
                    }
                }
                _ => {}
            }
        }
        each_child(e, &mut |c| columns(c, query, out));
    }
    columns(e, query, out);
    references(e, Oid::INVALID, out);
}

/// Removes what is not an object, what is named twice, and a relation where one of its columns is named.
pub fn tidy(list: &mut Vec<ObjectAddress>) {
    list.retain(|a| a.object.is_valid());
    list.sort_by_key(|a| (a.class, a.object, a.sub));
    list.dedup();
    let columns: Vec<ObjectAddress> = list.iter().filter(|a| a.sub != 0).copied().collect();
    list.retain(|a| {
        a.sub != 0 || a.class != PgClass::RELATION || !columns.iter().any(|c| c.object == a.object)
    });
}

/// Records what an expression over `relation` needs: `own` for columns of the relation itself, `other`
/// for the rest. Counterpart: `recordDependencyOnSingleRelExpr`.
pub fn record(
    host: &mut dyn CommandHost,
    depender: ObjectAddress,
    exprs: &[Expr],
    relation: Oid,
    other: Dependency,
    own: Dependency,
) -> Result<()> {
    let mut list = Vec::new();
    exprs.iter().for_each(|e| references(e, relation, &mut list));
    tidy(&mut list);
    let mut cat = host.catalog();
    for object in list {
        let is_own = object.class == PgClass::RELATION && object.object == relation;
        cat.record_dependency(depender, object, if is_own { own } else { other })?;
    }
    Ok(())
}
