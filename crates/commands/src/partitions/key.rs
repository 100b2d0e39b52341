//! PARTITION BY: the key of a new partitioned table.
//!
//! Counterpart: `transformPartitionSpec`, `ComputePartitionAttrs`, `StorePartitionKey`.

use crate::index;
use crate::relation::{self, NewColumn, SYSTEM_COLUMNS};
use analyze::{ExprKind, SessionLookup};
use catalog::lookup::{BTREE_AM, HASH_AM};
use catalog::rows::{Int2Vector, OidVector, PgCollation, PgOpclass, PgPartitionedTable};
use catalog::{ObjectAddress, RelDesc};
use ids::builtin::collation;
use ids::code::{ColumnGenerated, DepType, PartStrategy};
use ids::{AttrNo, Oid, RelKind};
use parse::ast::{PartitionElem, PartitionSpec, PartitionStrategy};
use pgerror::{Result, bail, pg_err};
use plan::Expr;
use utility::host::CommandHost;
use utility::stored;

/// Maximum number of columns of a partition key. Counterpart: `PARTITION_MAX_KEYS`.
const COLUMNS_MAX: usize = 32;

/// A column of a new partition key.
struct Column {
    /// 0 for an expression.
    number: AttrNo,
    expr: Option<Expr>,
    opclass: Oid,
    collation: Oid,
}

/// Stores the partition key of a new table.
pub fn store(
    host: &mut dyn CommandHost,
    table: Oid,
    spec: &PartitionSpec,
    sql: &str,
) -> Result<()> {
    if spec.part_params.len() > COLUMNS_MAX {
        bail!(TOO_MANY_COLUMNS, "cannot partition using more than {COLUMNS_MAX} columns");
    }
    let strategy = match spec.strategy {
        PartitionStrategy::List => PartStrategy::List,
        PartitionStrategy::Range => PartStrategy::Range,
        PartitionStrategy::Hash => PartStrategy::Hash,
    };
    if strategy == PartStrategy::List && spec.part_params.len() != 1 {
        bail!(
            INVALID_OBJECT_DEFINITION,
            "cannot use \"list\" partition strategy with more than one column"
        );
    }
    let rel = host.catalog().relation(table)?;
    // All expressions are analysed before the first column is examined.
    let mut exprs = Vec::with_capacity(spec.part_params.len());
    for elem in &spec.part_params {
        exprs.push(match &elem.expr {
            Some(node) => {
                let mut cat = SessionLookup::new(host);
                let kind = ExprKind::PartitionExpression;
                // As in PostgreSQL, errors in it have no position.
                Some(analyze::ddl::column_expr(&mut cat, &rel, node, "", kind)?)
            }
            None => None,
        });
    }
    let mut columns = Vec::with_capacity(exprs.len());
    for (n, (elem, expr)) in spec.part_params.iter().zip(exprs).enumerate() {
        columns.push(column(host, &rel, strategy, elem, (n, expr), sql)?);
    }
    insert(host, table, strategy, columns)
}

/// Number, expression, type and collation of a key column.
type Source = (AttrNo, Option<Expr>, Oid, Oid);

fn column(
    host: &mut dyn CommandHost,
    rel: &RelDesc,
    strategy: PartStrategy,
    elem: &PartitionElem,
    (n, expr): (usize, Option<Expr>),
    sql: &str,
) -> Result<Column> {
    let (number, expr, ty, mut collation) = match (&elem.name, expr) {
        (Some(name), _) => {
            named(rel, name).map_err(|e| e.at(parse::position(sql, elem.location)))?
        }
        (None, Some(expr)) => expression(host, rel, n, expr, elem, sql)?,
        (None, None) => bail!(INTERNAL_ERROR, "partition key column is empty"),
    };
    if !elem.collation.is_empty() {
        let (schema, name) = index::split(&elem.collation);
        collation = host.catalog().collation_oid(schema, name)?;
    }
    let collatable = host.catalog().type_row(ty)?.typcollation.is_valid();
    if collatable && !collation.is_valid() {
        return Err(pg_err!(
            INDETERMINATE_COLLATION,
            "could not determine which collation to use for partition expression"
        )
        .hint("Use the COLLATE clause to set the collation explicitly."));
    }
    if !collatable && collation.is_valid() {
        let shown = host.catalog().format_type(ty)?;
        bail!(DATATYPE_MISMATCH, "collations are not supported by type {shown}");
    }
    let opclass = opclass(host, strategy, elem, ty)?;
    Ok(Column { number, expr, opclass, collation })
}

fn named(rel: &RelDesc, name: &str) -> Result<Source> {
    let Some(a) = rel.column(name) else {
        if SYSTEM_COLUMNS.iter().any(|s| s.0 == name) {
            bail!(
                INVALID_OBJECT_DEFINITION,
                "cannot use system column \"{name}\" in partition key"
            );
        }
        bail!(UNDEFINED_COLUMN, "column \"{name}\" named in partition key does not exist");
    };
    if a.attgenerated != ColumnGenerated::No {
        return Err(generated(name));
    }
    Ok((a.attnum, None, a.atttypid, a.attcollation))
}

fn generated(name: &str) -> pgerror::PgError {
    pg_err!(INVALID_OBJECT_DEFINITION, "cannot use generated column in partition key")
        .detail(format!("Column \"{name}\" is a generated column."))
}

fn expression(
    host: &mut dyn CommandHost,
    rel: &RelDesc,
    n: usize,
    mut e: Expr,
    elem: &PartitionElem,
    sql: &str,
) -> Result<Source> {
    let (ty, collation) = (e.type_oid(), e.collation());
    let shown = (n + 1).to_string();
    check_type(host, &NewColumn::new(shown.as_str(), ty, -1, collation))?;
    while let Expr::Collate(c) = e {
        e = c.arg;
    }
    let mut used = stored::columns_used(std::slice::from_ref(&e));
    if used.contains(&0) {
        used.extend(rel.attributes.iter().map(|a| a.attnum));
    }
    used.sort_unstable();
    if used.iter().any(|n| *n < 0) {
        bail!(
            INVALID_OBJECT_DEFINITION,
            "partition key expressions cannot contain system column references"
        );
    }
    let column = used.iter().filter_map(|n| rel.attribute(*n));
    if let Some(a) = column.into_iter().find(|a| a.attgenerated != ColumnGenerated::No) {
        return Err(generated(a.attname.as_str()).at(parse::position(sql, elem.location)));
    }
    if let Expr::Var(v) = &e
        && v.varattno > 0
    {
        return Ok((v.varattno, None, ty, collation));
    }
    let folded = host.planner().fold(e.clone())?;
    if !index::is_immutable(host, &folded)? {
        bail!(
            INVALID_OBJECT_DEFINITION,
            "functions in partition key expression must be marked IMMUTABLE"
        );
    }
    if matches!(folded, Expr::Const(_)) {
        bail!(INVALID_OBJECT_DEFINITION, "cannot use constant expression as partition key");
    }
    Ok((0, Some(e), ty, collation))
}

/// Error 42P16 for a pseudo-type.
fn check_type(host: &mut dyn CommandHost, column: &NewColumn) -> Result<()> {
    use ids::code::TypType;
    if host.catalog().type_row(column.ty)?.typtype == TypType::Pseudo {
        let (name, shown) = (&column.name, host.catalog().format_type(column.ty)?);
        bail!(INVALID_TABLE_DEFINITION, "partition key column {name} has pseudo-type {shown}");
    }
    relation::check_column_type(host, column, RelKind::View, Oid::INVALID)
}

fn opclass(
    host: &mut dyn CommandHost,
    strategy: PartStrategy,
    elem: &PartitionElem,
    ty: Oid,
) -> Result<Oid> {
    let (method, am) = match strategy {
        PartStrategy::Hash => ("hash", HASH_AM),
        _ => ("btree", BTREE_AM),
    };
    if elem.opclass.is_empty() {
        if let Some(oid) = host.catalog().default_opclass(ty, am)? {
            return Ok(oid);
        }
        let shown = host.catalog().format_type(ty)?;
        return Err(pg_err!(
            UNDEFINED_OBJECT,
            "data type {shown} has no default operator class for access method \"{method}\""
        )
        .hint(format!(
            "You must specify a {method} operator class or define a default {method} operator \
             class for the data type."
        )));
    }
    index::named_opclass(host, &elem.opclass, (method, am), ty)
}

/// Inserts the row with its dependencies. The columns depend on the table and not on the key, so
/// that they cannot be dropped alone.
fn insert(
    host: &mut dyn CommandHost,
    table: Oid,
    strategy: PartStrategy,
    columns: Vec<Column>,
) -> Result<()> {
    let exprs: Vec<Expr> = columns.iter().filter_map(|c| c.expr.clone()).collect();
    let row = PgPartitionedTable {
        partrelid: table,
        partstrat: strategy,
        partnatts: columns.len() as i16,
        partdefid: Oid::INVALID,
        partattrs: Int2Vector(columns.iter().map(|c| c.number).collect()),
        partclass: OidVector(columns.iter().map(|c| c.opclass).collect()),
        partcollation: OidVector(columns.iter().map(|c| c.collation).collect()),
        partexprs: (!exprs.is_empty()).then(|| stored::write_list(&exprs)),
    };
    let this = ObjectAddress::relation(table);
    let mut needs = Vec::new();
    for c in &columns {
        needs.push(ObjectAddress::of::<PgOpclass>(c.opclass));
        if c.collation.is_valid() && c.collation != collation::DEFAULT {
            needs.push(ObjectAddress::of::<PgCollation>(c.collation));
        }
    }
    let mut cat = host.catalog();
    cat.insert(&row)?;
    cat.record_dependencies(this, &needs, DepType::Normal)?;
    for c in columns.iter().filter(|c| c.number != 0) {
        cat.record_dependency(ObjectAddress::column(table, c.number), this, DepType::Internal)?;
    }
    let mut list = Vec::new();
    exprs.iter().for_each(|e| stored::references(e, table, &mut list));
    stored::normalize_references(host, &mut list)?;
    let mut cat = host.catalog();
    for object in list {
        let own = object.class == this.class && object.object == table;
        match own {
            true if object.sub != 0 => cat.record_dependency(object, this, DepType::Internal)?,
            true => {}
            false => cat.record_dependency(this, object, DepType::Normal)?,
        }
    }
    cat.invalidate_relation(table, false);
    cat.increment_command_counter()
}
