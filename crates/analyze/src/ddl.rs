//! Expressions in DDL: column defaults, CHECK constraints, index expressions and predicates,
//! generation expressions, domain constraints. Counterpart: the `cook*` and `transform*` functions
//! of heap.c, parse_utilcmd.c.

use crate::coerce::Context;
use crate::lookup::Lookup;
use crate::state::{Analyzer, ExprKind, Params};
use catalog::RelDesc as Relation;
use ids::Oid;
use ids::code::ColumnGenerated;
use parse::ast::{self, Node};
use pgerror::{PgError, Result, bail, pg_err};
use plan::expr::{CoerceToDomainValue, CoercionForm, Expr, Location, Var};
use plan::query::Query;

/// An analyzer whose namespace has the columns of one relation (range-table index 1).
fn over_relation<'a>(
    cat: &'a mut dyn Lookup,
    relation: &Relation,
    sql: &'a str,
) -> Result<Analyzer<'a>> {
    let mut cx = Analyzer::new(cat, sql, Params::Fixed(Vec::new()));
    let item = cx.add_relation_rte(relation, None, false, 1)?;
    cx.add_ns_item(item, true, true, true);
    Ok(cx)
}

/// A boolean expression over the columns of a relation: CHECK, index predicate, policy, trigger's
/// WHEN. `kind` determines which constructs are refused, such as aggregates and sub-selects.
pub fn condition(
    cat: &mut dyn Lookup,
    relation: &Relation,
    node: &Node,
    sql: &str,
    kind: ExprKind,
) -> Result<Expr> {
    let mut cx = over_relation(cat, relation, sql)?;
    let e = cx.expr_in(node, kind)?;
    let construct = match kind {
        ExprKind::IndexPredicate => "WHERE",
        other => other.name(),
    };
    let mut e = cx.coerce_to_boolean(e, construct)?;
    cx.assign_collations(&mut e)?;
    if kind == ExprKind::CheckConstraint && cx.level_ref().rtable.len() != 1 {
        bail!(
            INVALID_COLUMN_REFERENCE,
            "only table \"{}\" can be referenced in check constraint",
            relation.class.relname
        );
    }
    Ok(e)
}

/// The properties of a trigger on which its condition depends.
#[derive(Clone, Copy)]
pub struct TriggerKind {
    pub for_row: bool,
    pub before: bool,
    pub on_insert: bool,
    pub on_delete: bool,
}

/// The range-table indexes of the rows in the condition of a trigger.
const OLD: i32 = 1;
const NEW: i32 = 2;

/// The WHEN condition of a trigger, over the rows OLD and NEW of its relation.
pub fn trigger_condition(
    cat: &mut dyn Lookup,
    relation: &Relation,
    node: &Node,
    sql: &str,
    kind: TriggerKind,
) -> Result<Expr> {
    let mut cx = Analyzer::new(cat, sql, Params::Fixed(Vec::new()));
    for name in ["old", "new"] {
        let alias = plan::query::Alias { aliasname: name.to_owned(), colnames: Vec::new() };
        let item = cx.add_relation_rte(relation, Some(alias), false, 1)?;
        cx.add_ns_item(item, false, true, true);
    }
    let e = cx.expr_in(node, ExprKind::TriggerWhen)?;
    let mut e = cx.coerce_to_boolean(e, ExprKind::TriggerWhen.name())?;
    cx.assign_collations(&mut e)?;
    let mut found = Ok(());
    plan::walk::any(&e, &mut |e| {
        if let Expr::Var(v) = e
            && let Some(e) = refused_in_condition(relation, v, kind)
        {
            found = Err(cx.at(e, v.location.0));
        }
        found.is_err()
    });
    found.map(|()| e)
}

/// The error for a column that the condition of such a trigger must not refer to.
fn refused_in_condition(relation: &Relation, v: &Var, kind: TriggerKind) -> Option<PgError> {
    if !kind.for_row {
        return Some(pg_err!(
            INVALID_OBJECT_DEFINITION,
            "statement trigger's WHEN condition cannot reference column values"
        ));
    }
    if v.varno == OLD {
        return kind.on_insert.then(|| {
            pg_err!(
                INVALID_OBJECT_DEFINITION,
                "INSERT trigger's WHEN condition cannot reference OLD values"
            )
        });
    }
    if v.varno != NEW {
        return None;
    }
    if kind.on_delete {
        return Some(pg_err!(
            INVALID_OBJECT_DEFINITION,
            "DELETE trigger's WHEN condition cannot reference NEW values"
        ));
    }
    if !kind.before {
        return None;
    }
    let generated = |detail: String| {
        let e = pg_err!(
            INVALID_OBJECT_DEFINITION,
            "BEFORE trigger's WHEN condition cannot reference NEW generated columns"
        );
        Some(e.detail(detail))
    };
    match v.varattno {
        n if n < 0 => Some(pg_err!(
            FEATURE_NOT_SUPPORTED,
            "BEFORE trigger's WHEN condition cannot reference NEW system columns"
        )),
        0 if relation.attributes.iter().any(|a| a.attgenerated != ColumnGenerated::No) => {
            generated(
                "A whole-row reference is used and the table contains generated columns.".into(),
            )
        }
        n => match relation.attribute(n) {
            Some(a) if a.attgenerated != ColumnGenerated::No => {
                generated(format!("Column \"{}\" is a generated column.", a.attname))
            }
            _ => None,
        },
    }
}

/// An expression over the columns of a relation: index columns, partition keys, statistics, USING
/// of ALTER COLUMN TYPE.
pub fn column_expr(
    cat: &mut dyn Lookup,
    relation: &Relation,
    node: &Node,
    sql: &str,
    kind: ExprKind,
) -> Result<Expr> {
    let mut cx = over_relation(cat, relation, sql)?;
    let mut e = cx.expr_in(node, kind)?;
    if kind == ExprKind::IndexExpression && crate::coerce::returns_set(&e) {
        bail!(FEATURE_NOT_SUPPORTED, "index expression cannot return a set");
    }
    cx.assign_collations(&mut e)?;
    Ok(e)
}

/// The default of a column, coerced to the column's type. With `generated`, the generation
/// expression over the columns of that relation. Counterpart: `cookDefault`.
#[allow(clippy::too_many_arguments)]
pub fn column_default(
    cat: &mut dyn Lookup,
    node: &Node,
    sql: &str,
    column: &str,
    ty: Oid,
    typmod: i32,
    generated: Option<&Relation>,
) -> Result<Expr> {
    let (mut cx, kind) = match generated {
        Some(relation) => (over_relation(cat, relation, sql)?, ExprKind::GeneratedColumn),
        None => (Analyzer::new(cat, sql, Params::Fixed(Vec::new())), ExprKind::ColumnDefault),
    };
    let e = cx.expr_in(node, kind)?;
    if let Some(relation) = generated {
        no_generated_columns(&cx, relation, &e)?;
    }
    let from = e.type_oid();
    let coerced = cx.coerce_to_target(
        e,
        ty,
        typmod,
        Context::Assignment,
        CoercionForm::ImplicitCast,
        Location::UNKNOWN,
    )?;
    let Some(mut e) = coerced else {
        let (to, from) = (cx.format_type(ty), cx.format_type(from));
        return Err(pg_err!(
            DATATYPE_MISMATCH,
            "column \"{column}\" is of type {to} but default expression is of type {from}"
        )
        .hint("You will need to rewrite or cast the expression."));
    };
    cx.assign_collations(&mut e)?;
    Ok(e)
}

/// A generation expression must not refer to generated columns. Counterpart:
/// `check_nested_generated`.
fn no_generated_columns(cx: &Analyzer<'_>, relation: &Relation, e: &Expr) -> Result<()> {
    let mut found = Ok(());
    plan::walk::any(e, &mut |e| {
        let Expr::Var(v) = e else { return false };
        if v.varattno == 0 {
            let e = pg_err!(
                INVALID_OBJECT_DEFINITION,
                "cannot use whole-row variable in column generation expression"
            )
            .detail("This would cause the generated column to depend on its own value.");
            found = Err(cx.at(e, v.location.0));
        } else if let Some(a) = relation.attribute(v.varattno)
            && a.attgenerated != ColumnGenerated::No
        {
            let e = pg_err!(
                INVALID_OBJECT_DEFINITION,
                "cannot use generated column \"{}\" in column generation expression",
                a.attname
            )
            .detail("A generated column cannot reference another generated column.");
            found = Err(cx.at(e, v.location.0));
        }
        found.is_err()
    });
    found
}

/// A value of a partition bound, coerced to the type of the key column; `None` if there is no such
/// coercion. Counterpart: `transformPartitionBoundValue`.
pub fn partition_bound_value(
    cat: &mut dyn Lookup,
    node: &Node,
    sql: &str,
    ty: Oid,
    typmod: i32,
) -> Result<Option<Expr>> {
    let mut cx = Analyzer::new(cat, sql, Params::Fixed(Vec::new()));
    let e = cx.expr_in(node, ExprKind::PartitionBound)?;
    let (context, form) = (Context::Assignment, CoercionForm::ImplicitCast);
    let coerced = cx.coerce_to_target(e, ty, typmod, context, form, Location::UNKNOWN)?;
    let Some(mut e) = coerced else { return Ok(None) };
    cx.assign_collations(&mut e)?;
    Ok(Some(e))
}

/// The CHECK constraint of a domain; `VALUE` is the value under test.
pub fn domain_check(
    cat: &mut dyn Lookup,
    node: &Node,
    sql: &str,
    base: Oid,
    typmod: i32,
) -> Result<Expr> {
    let mut cx = Analyzer::new(cat, sql, Params::Fixed(Vec::new()));
    // `VALUE` has the collation of the base type, not that of the domain.
    let collation = cx.type_collation(base)?;
    cx.level().domain_value = Some(Expr::CoerceToDomainValue(CoerceToDomainValue {
        typeid: base,
        typmod,
        collation,
        location: Location::UNKNOWN,
    }));
    let e = cx.expr_in(node, ExprKind::DomainCheck)?;
    let mut e = cx.coerce_to_boolean(e, "CHECK")?;
    cx.assign_collations(&mut e)?;
    Ok(e)
}

/// The type, modifier and collation of a column definition. Without a COLLATE clause the collation
/// is the type's default.
pub fn column_type(
    cat: &mut dyn Lookup,
    def: &ast::ColumnDef,
    sql: &str,
) -> Result<(Oid, i32, Oid)> {
    let mut cx = Analyzer::new(cat, sql, Params::Fixed(Vec::new()));
    let Some(name) = &def.type_name else {
        bail!(SYNTAX_ERROR, "column \"{}\" has no type", def.colname.as_deref().unwrap_or(""))
    };
    let (row, typmod) = cx.typename(name)?;
    let collation = match &def.coll_clause {
        Some(clause) => {
            let collation = cx.collation(&clause.collname, clause.location)?;
            if !row.typcollation.is_valid() {
                let shown = cx.format_type(row.oid);
                let e = pg_err!(DATATYPE_MISMATCH, "collations are not supported by type {shown}");
                return Err(cx.at(e, clause.location));
            }
            collation
        }
        None => row.typcollation,
    };
    Ok((row.oid, typmod, collation))
}

/// Refuses SETOF in the column definition of a table or composite type.
pub fn check_not_set(def: &ast::ColumnDef) -> Result<()> {
    if def.type_name.as_ref().is_some_and(|t| t.setof) {
        let name = def.colname.as_deref().unwrap_or("");
        bail!(INVALID_TABLE_DEFINITION, "column \"{name}\" cannot be declared SETOF");
    }
    Ok(())
}

/// Type and modifier of a type name.
pub fn type_name(cat: &mut dyn Lookup, name: &ast::TypeName, sql: &str) -> Result<(Oid, i32)> {
    let mut cx = Analyzer::new(cat, sql, Params::Fixed(Vec::new()));
    let (row, typmod) = cx.typename(name)?;
    Ok((row.oid, typmod))
}

/// Analyses the query in a utility statement: that of a view, a cursor, EXPLAIN, CREATE TABLE AS.
pub fn inner_query(cat: &mut dyn Lookup, node: &Node, sql: &str, params: Params) -> Result<Query> {
    Analyzer::new(cat, sql, params).statement(node)
}
