//! Expressions stored in catalogs: their text representation and dependencies.
//!
//! Counterpart: `recordDependencyOnExpr` and `find_expr_references_walker` of dependency.c.

use crate::host::CommandHost;
use catalog::ObjectAddress;
use catalog::rows::{
    CatalogRow, PgAuthid, PgClass, PgCollation, PgConstraint, PgNamespace, PgOperator, PgProc,
    PgType, Text,
};
use ids::code::DepType;
use ids::{AttrNo, Oid};
use pgerror::{Result, bail};
use plan::expr::Var;
use plan::query::{CmdType, Query, RteKind};
use plan::walk::each_child;
use plan::{Expr, nodetree};
use types::oids;

/// The `pg_node_tree` text of an expression.
pub fn write(expr: &Expr) -> Text {
    Text::from(nodetree::write_expr(expr))
}

/// The `pg_node_tree` text of a list of expressions.
pub fn write_list(list: &[Expr]) -> Text {
    Text::from(nodetree::write_exprs(list))
}

/// Columns of range-table entry 1 that an expression uses, in order of first use; 0 for a whole-row
/// reference.
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

/// The references of an expression over one relation; `Var`s of range-table index 1 belong to
/// `relation`. A field of a composite value is recorded as a column of its type until
/// [`normalize_references`].
pub fn references(expr: &Expr, relation: Oid, out: &mut Vec<ObjectAddress>) {
    if let Expr::Var(v) = expr
        && relation.is_valid()
        && v.varlevelsup == 0
    {
        out.push(ObjectAddress::column(relation, v.varattno));
    }
    // A default that the analysis inserted is not stored.
    if matches!(expr, Expr::NamedArg(n) if n.name.is_empty()) {
        return;
    }
    node_references(expr, &[], out);
    each_child(expr, &mut |c| references(c, relation, out));
}

fn of_type(oid: Oid) -> ObjectAddress {
    ObjectAddress::of::<PgType>(oid)
}

/// A reference to a field of a composite type.
fn field(ty: Oid, number: AttrNo) -> ObjectAddress {
    ObjectAddress { sub: i32::from(number), ..of_type(ty) }
}

/// The references of the node itself, without those of its children and of table columns. `levels`
/// are the enclosing queries.
fn node_references(expr: &Expr, levels: &[&Query], out: &mut Vec<ObjectAddress>) {
    let ty = of_type;
    let function = |oid: Oid| ObjectAddress::of::<PgProc>(oid);
    let operator = |oid: Oid| ObjectAddress::of::<PgOperator>(oid);
    let collation = |oid: Oid| ObjectAddress::of::<PgCollation>(oid);
    match expr {
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
                    // Refused by `normalize_references`.
                    oids::REGROLE => out.push(ObjectAddress::of::<PgAuthid>(value.as_oid())),
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
        Expr::FieldSelect(f) => match f.arg.type_oid() {
            oids::RECORD => out.push(ty(f.resulttype)),
            composite => out.push(field(composite, f.fieldnum)),
        },
        Expr::FieldStore(f) => out.push(ty(f.resulttype)),
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
        Expr::SubLink(s) => within(&s.subselect, levels, out),
        _ => {}
    }
}

/// The relations in the range tables of a query and of its sub-selects.
pub fn range_table_relations(query: &Query, out: &mut Vec<Oid>) {
    for rte in &query.rtable {
        match &rte.kind {
            RteKind::Relation { relid, .. } => out.push(*relid),
            RteKind::Subquery { subquery, .. } => range_table_relations(subquery, out),
            _ => {}
        }
    }
    query.cte_list.iter().for_each(|cte| range_table_relations(&cte.query, out));
    let mut inner: Vec<&Query> = Vec::new();
    plan::walk::query_exprs(query, &mut |e| plan::walk::sub_selects(e, &mut inner));
    inner.into_iter().for_each(|query| range_table_relations(query, out));
}

/// The references of a query.
pub fn query_references(query: &Query, out: &mut Vec<ObjectAddress>) {
    within(query, &[], out);
}

fn within(query: &Query, outer: &[&Query], out: &mut Vec<ObjectAddress>) {
    let mut levels = outer.to_vec();
    levels.push(query);
    for rte in &query.rtable {
        match &rte.kind {
            RteKind::Relation { relid, .. } => out.push(ObjectAddress::relation(*relid)),
            RteKind::Subquery { subquery, .. } => within(subquery, &levels, out),
            RteKind::Function { functions, .. } => {
                for f in functions {
                    out.extend(f.funccoltypes.iter().map(|t| of_type(*t)));
                    let collations = f.funccolcollations.iter();
                    out.extend(collations.map(|c| ObjectAddress::of::<PgCollation>(*c)));
                }
            }
            _ => {}
        }
    }
    for cte in &query.cte_list {
        within(&cte.query, &levels, out);
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
    // Columns are resolved through their range-table entries. The alias expressions of a join count
    // only if they are used.
    let mut copy = query.clone();
    for rte in &mut copy.rtable {
        if let RteKind::Join { joinaliasvars, .. } = &mut rte.kind {
            joinaliasvars.clear();
        }
    }
    plan::walk::query_exprs_mut(&mut copy, &mut |e| in_levels(e, &levels, out));
}

fn in_levels(e: &Expr, levels: &[&Query], out: &mut Vec<ObjectAddress>) {
    match e {
        Expr::Var(v) => variable(v, levels, out),
        // A default that the analysis inserted is not stored.
        Expr::NamedArg(n) if n.name.is_empty() => return,
        e => node_references(e, levels, out),
    }
    each_child(e, &mut |c| in_levels(c, levels, out));
}

/// The column that a variable of a query refers to.
fn variable(v: &Var, levels: &[&Query], out: &mut Vec<ObjectAddress>) {
    let level = levels.len().checked_sub(v.varlevelsup as usize + 1);
    let Some(levels) = level.map(|level| &levels[..=level]) else { return };
    let rte = levels.last().and_then(|query| query.rtable.get(v.varno as usize - 1));
    match rte.map(|rte| &rte.kind) {
        Some(RteKind::Relation { relid, .. }) if v.varattno != 0 => {
            out.push(ObjectAddress::column(*relid, v.varattno));
        }
        Some(RteKind::Join { joinaliasvars, .. }) if v.varattno > 0 => {
            if let Some(e) = joinaliasvars.get(v.varattno as usize - 1) {
                in_levels(e, levels, out);
            }
        }
        // Counterpart: `process_function_rte_ref`.
        Some(RteKind::Function { functions, .. }) if v.varattno > 0 => {
            let mut before = 0;
            for f in functions {
                let number = i32::from(v.varattno) - before;
                if (1..=f.funccolcount).contains(&number) {
                    out.push(field(f.funcexpr.type_oid(), number as AttrNo));
                }
                before += f.funccolcount;
            }
        }
        _ => {}
    }
}

/// Removes invalid and duplicate references, and a relation if one of its columns is referenced.
/// Fields of composite values become columns of the relations of their types.
pub fn normalize_references(
    host: &mut dyn CommandHost,
    list: &mut Vec<ObjectAddress>,
) -> Result<()> {
    if list.iter().any(|a| a.class == PgAuthid::RELATION) {
        bail!(FEATURE_NOT_SUPPORTED, "constant of the type regrole cannot be used here");
    }
    for a in list.iter_mut().filter(|a| a.class == PgType::RELATION && a.sub != 0) {
        let base = host.catalog().base_type(a.object)?.0;
        let relation = host.catalog().type_row(base)?.typrelid;
        *a = ObjectAddress { sub: a.sub, ..ObjectAddress::relation(relation) };
    }
    list.retain(|a| a.object.is_valid());
    list.sort_by_key(|a| (a.class, a.object, a.sub));
    list.dedup();
    let columns: Vec<ObjectAddress> = list.iter().filter(|a| a.sub != 0).copied().collect();
    list.retain(|a| {
        a.sub != 0 || a.class != PgClass::RELATION || !columns.iter().any(|c| c.object == a.object)
    });
    Ok(())
}

/// Records the dependencies of an expression over `relation`: dependencies of type `own` on columns
/// of the relation itself, and of type `other` on other objects. Counterpart:
/// `recordDependencyOnSingleRelExpr`.
pub fn record(
    host: &mut dyn CommandHost,
    depender: ObjectAddress,
    exprs: &[Expr],
    relation: Oid,
    other: DepType,
    own: DepType,
) -> Result<()> {
    let mut list = Vec::new();
    exprs.iter().for_each(|e| references(e, relation, &mut list));
    normalize_references(host, &mut list)?;
    let mut cat = host.catalog();
    for object in list {
        let is_own = object.class == PgClass::RELATION && object.object == relation;
        cat.record_dependency(depender, object, if is_own { own } else { other })?;
    }
    Ok(())
}
