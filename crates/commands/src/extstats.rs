//! Extended statistics objects: CREATE, ALTER and DROP STATISTICS.
//!
//! Counterpart: statscmds.c.

use analyze::{ExprKind, SessionLookup};
use catalog::rows::{Int2Vector, Name, PgNamespace, PgStatisticExt, indexes};
use catalog::{ObjectAddress, RelDesc};
use define::{creation, typerow};
use ids::code::DepType;
use ids::{AttrNo, Oid, RelKind};
use parse::ast::{AlterStatsStmt, CreateStatsStmt, Node};
use pgerror::{PgError, Result, bail, pg_err};
use plan::Expr;
use utility::host::{CommandHost, notice};
use utility::stored;
use utility::{class, names};

fn only_relations() -> PgError {
    pg_err!(
        FEATURE_NOT_SUPPORTED,
        "CREATE STATISTICS only supports relation names in the FROM clause"
    )
}

/// Schema and name of the new object; `None` if it exists and IF NOT EXISTS was given.
fn name_of(
    host: &mut dyn CommandHost,
    stmt: &CreateStatsStmt,
    rel: &RelDesc,
    label: &[String],
    schema: Option<Oid>,
) -> Result<Option<(Oid, String)>> {
    let (schema, name) = match (stmt.defnames.as_slice(), schema) {
        ([.., name], Some(schema)) => (schema, name.to_string()),
        ([], _) => {
            let schema = rel.class.relnamespace;
            (schema, free_name(host, rel.name(), &label.join("_"), schema)?)
        }
        (parts, None) => typerow::new_name(host, parts)?,
    };
    if taken(host, schema, &name)? {
        if stmt.if_not_exists {
            host.notice(notice(pg_err!(
                DUPLICATE_OBJECT,
                "statistics object \"{name}\" already exists, skipping"
            )));
            return Ok(None);
        }
        bail!(DUPLICATE_OBJECT, "statistics object \"{name}\" already exists");
    }
    Ok(Some((schema, name)))
}

/// CREATE STATISTICS.
pub fn create(
    host: &mut dyn CommandHost,
    stmt: &CreateStatsStmt,
    sql: &str,
) -> Result<Option<Oid>> {
    create_in(host, stmt, sql, None)
}

/// Recreates an object in a given schema, without a check of the CREATE privilege on the schema.
pub(crate) fn recreate(
    host: &mut dyn CommandHost,
    stmt: &CreateStatsStmt,
    sql: &str,
    schema: Oid,
) -> Result<()> {
    create_in(host, stmt, sql, Some(schema)).map(drop)
}

fn create_in(
    host: &mut dyn CommandHost,
    stmt: &CreateStatsStmt,
    sql: &str,
    schema: Option<Oid>,
) -> Result<Option<Oid>> {
    let [relation] = stmt.relations.as_slice() else {
        bail!(FEATURE_NOT_SUPPORTED, "only a single relation is allowed in CREATE STATISTICS")
    };
    let Node::RangeVar(rv) = relation else { return Err(only_relations()) };
    let rel = names::open(host, rv, names::mode::SHARE_UPDATE_EXCLUSIVE)?;
    if !matches!(
        rel.kind(),
        RelKind::Table
            | RelKind::MaterializedView
            | RelKind::ForeignTable
            | RelKind::PartitionedTable
    ) {
        return Err(pg_err!(
            WRONG_OBJECT_TYPE,
            "cannot define statistics for relation \"{}\"",
            rel.name()
        )
        .detail(class::kind_not_supported(rel.kind())));
    }
    names::must_own_relation(host, &rel)?;
    names::not_a_catalog(host, &rel)?;
    // Expressions are analysed before the other checks, because the order determines which error is
    // reported.
    let mut analysed = Vec::with_capacity(stmt.exprs.len());
    let mut label: Vec<String> = Vec::new();
    for elem in &stmt.exprs {
        label.push(elem.name.as_ref().map_or_else(|| "expr".to_string(), |n| n.to_string()));
        analysed.push(match &elem.expr {
            Some(node) if elem.name.is_none() => {
                let mut lookup = SessionLookup::new(host);
                let kind = ExprKind::StatsExpression;
                Some(analyze::ddl::column_expr(&mut lookup, &rel, node, sql, kind)?)
            }
            _ => None,
        });
    }
    let Some((schema, name)) = name_of(host, stmt, &rel, &label, schema)? else { return Ok(None) };
    let (mut columns, exprs) = keys(host, stmt, &rel, analysed)?;
    if columns.len() + exprs.len() < 2 && exprs.is_empty() {
        bail!(INVALID_OBJECT_DEFINITION, "extended statistics require at least 2 columns");
    }
    if (1..exprs.len()).any(|i| exprs[..i].contains(&exprs[i])) {
        bail!(DUPLICATE_COLUMN, "duplicate expression in statistics definition");
    }
    let kinds = kinds(stmt, columns.len() + exprs.len(), !exprs.is_empty())?;
    columns.sort_unstable();
    let owner = names::user(host);
    let mut cat = host.catalog();
    let oid = cat.new_oid(indexes::PG_STATISTIC_EXT_OID_INDEX)?;
    cat.insert(&PgStatisticExt {
        oid,
        stxrelid: rel.oid(),
        stxname: Name::new(&name),
        stxnamespace: schema,
        stxowner: owner,
        stxstattarget: -1,
        stxkeys: Int2Vector(columns.clone().into()),
        stxkind: kinds,
        stxexprs: (!exprs.is_empty()).then(|| stored::write_list(&exprs)),
    })?;
    cat.invalidate_relation(rel.oid(), false);
    let this = ObjectAddress::of::<PgStatisticExt>(oid);
    for number in &columns {
        let column = ObjectAddress::column(rel.oid(), *number);
        cat.record_dependency(this, column, DepType::Auto)?;
    }
    if columns.is_empty() {
        cat.record_dependency(this, ObjectAddress::relation(rel.oid()), DepType::Auto)?;
    }
    let schema = ObjectAddress::of::<PgNamespace>(schema);
    cat.record_dependency(this, schema, DepType::Normal)?;
    cat.record_owner(this, owner)?;
    let (normal, auto) = (DepType::Normal, DepType::Auto);
    stored::record(host, this, &exprs, rel.oid(), normal, auto)?;
    Ok(Some(oid))
}

/// The columns and expressions of a statistics object. `analysed` has the analysed expressions,
/// `None` for plain columns.
fn keys(
    host: &mut dyn CommandHost,
    stmt: &CreateStatsStmt,
    rel: &RelDesc,
    analysed: Vec<Option<Expr>>,
) -> Result<(Vec<AttrNo>, Vec<Expr>)> {
    let mut columns: Vec<AttrNo> = Vec::new();
    let mut exprs: Vec<Expr> = Vec::new();
    if stmt.exprs.len() > 8 {
        bail!(TOO_MANY_COLUMNS, "cannot have more than 8 columns in statistics");
    }
    for (elem, analysed) in stmt.exprs.iter().zip(analysed) {
        let mut what = elem.name.as_ref().map(|n| n.to_string());
        let expr = match (&elem.name, analysed) {
            (Some(name), _) => {
                let Some(a) = rel.column(name) else {
                    if crate::relation::SYSTEM_COLUMNS.iter().any(|s| s.0 == &**name) {
                        bail!(
                            FEATURE_NOT_SUPPORTED,
                            "statistics creation on system columns is not supported"
                        );
                    }
                    bail!(UNDEFINED_COLUMN, "column \"{name}\" does not exist")
                };
                (a.attnum, a.atttypid)
            }
            (None, Some(e)) => {
                if crate::index::uses_system_columns(&e) {
                    bail!(
                        FEATURE_NOT_SUPPORTED,
                        "statistics creation on system columns is not supported"
                    );
                }
                if let Expr::Var(v) = &e {
                    what = rel.attribute(v.varattno).map(|a| a.attname.to_string());
                    (v.varattno, v.vartype)
                } else {
                    let ty = e.type_oid();
                    exprs.push(e);
                    (0, ty)
                }
            }
            _ => continue,
        };
        let (number, ty) = expr;
        if host.catalog().default_opclass(ty, catalog::lookup::BTREE_AM)?.is_none() {
            let shown = host.catalog().format_type(ty)?;
            let what = what.as_deref().unwrap_or("expr");
            bail!(
                FEATURE_NOT_SUPPORTED,
                "column \"{what}\" cannot be used in statistics because its type {shown} has no \
                 default btree operator class"
            );
        }
        if number != 0 {
            if columns.contains(&number) {
                bail!(DUPLICATE_COLUMN, "duplicate column name in statistics definition");
            }
            columns.push(number);
        }
    }
    Ok((columns, exprs))
}

fn kinds(stmt: &CreateStatsStmt, width: usize, has_exprs: bool) -> Result<Vec<u8>> {
    let mut out: Vec<u8> = Vec::new();
    for word in &stmt.stat_types {
        out.push(match &**word {
            "ndistinct" => b'd',
            "dependencies" => b'f',
            "mcv" => b'm',
            other => bail!(SYNTAX_ERROR, "unrecognized statistics kind \"{other}\""),
        });
    }
    let single = width == 1 && has_exprs;
    if single && !out.is_empty() {
        bail!(
            SYNTAX_ERROR,
            "when building statistics on a single expression, statistics kinds may not be \
             specified"
        );
    }
    let order = [b'd', b'f', b'm'];
    let mut kinds: Vec<u8> =
        order.into_iter().filter(|k| !single && (out.is_empty() || out.contains(k))).collect();
    if has_exprs {
        kinds.push(b'e');
    }
    Ok(kinds)
}

fn taken(host: &mut dyn CommandHost, schema: Oid, name: &str) -> Result<bool> {
    let keys = [name.into(), schema.into()];
    Ok(!host.catalog().scan(indexes::PG_STATISTIC_EXT_NAME_INDEX, &keys)?.is_empty())
}

fn free_name(
    host: &mut dyn CommandHost,
    table: &str,
    columns: &str,
    schema: Oid,
) -> Result<String> {
    let mut label = "stat".to_string();
    for pass in 1.. {
        let name = creation::object_name(table, Some(columns), Some(&label));
        if !taken(host, schema, &name)? {
            return Ok(name);
        }
        label = format!("stat{pass}");
    }
    unreachable!("one of the numbers is free")
}

/// The object with this name. Error 42704 if there is none, 42501 unless the user owns it.
pub fn find(host: &mut dyn CommandHost, parts: &[&str]) -> Result<catalog::Row<PgStatisticExt>> {
    let row = look_up(host, parts)?;
    let Some(row) = row else {
        bail!(UNDEFINED_OBJECT, "statistics object \"{}\" does not exist", parts.join("."))
    };
    if !names::is_owner(host, row.stxowner)? {
        bail!(INSUFFICIENT_PRIVILEGE, "must be owner of statistics object {}", parts.join("."));
    }
    Ok(row)
}

fn look_up(
    host: &mut dyn CommandHost,
    parts: &[&str],
) -> Result<Option<catalog::Row<PgStatisticExt>>> {
    let (schemas, name) = match parts {
        [.., schema, name] => (vec![host.catalog().namespace(schema)?], *name),
        [name] => (host.catalog().persistent_schemas()?, *name),
        [] => return Err(PgError::internal("statistics object without a name")),
    };
    for schema in schemas {
        let keys = [name.into(), schema.into()];
        let row = host.catalog().scan(indexes::PG_STATISTIC_EXT_NAME_INDEX, &keys)?.pop();
        if row.is_some() {
            return Ok(row);
        }
    }
    Ok(None)
}

/// The number of SET STATISTICS, at most 10,000; -1 for the default.
pub fn statistics_target(host: &mut dyn CommandHost, given: Option<&Node>) -> Result<i32> {
    let target = match given {
        Some(Node::Integer(n)) => *n,
        _ => -1,
    };
    if target < -1 {
        bail!(INVALID_PARAMETER_VALUE, "statistics target {target} is too low");
    }
    if target > 10_000 {
        host.notice(
            pg_err!(INVALID_PARAMETER_VALUE, "lowering statistics target to 10000")
                .severity(pgerror::Severity::Warning),
        );
    }
    Ok(target.min(10_000))
}

/// ALTER STATISTICS … SET STATISTICS.
pub fn alter(host: &mut dyn CommandHost, stmt: &AlterStatsStmt) -> Result<()> {
    let parts: Vec<&str> = stmt.defnames.iter().map(|p| &**p).collect();
    let target = statistics_target(host, stmt.stxstattarget.as_ref())?;
    if stmt.missing_ok && look_up(host, &parts)?.is_none() {
        host.notice(notice(pg_err!(
            SUCCESSFUL_COMPLETION,
            "statistics object \"{}\" does not exist, skipping",
            parts.join(".")
        )));
        return Ok(());
    }
    let row = find(host, &parts)?;
    let mut cat = host.catalog();
    cat.update(&row, &PgStatisticExt { stxstattarget: target, ..row.row.clone() })?;
    Ok(())
}
