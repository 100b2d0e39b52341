//! Indexes: definition, catalog entries and build.
//!
//! Counterpart: indexcmds.c, index.c.

mod build;

pub use build::{build_entries, counted, fill, fill_unchecked};

use crate::constraint::{self, ConstraintTrigger};
use crate::hierarchy;
use crate::relation::{NewRelation, new_class};
use analyze::{ExprKind, SessionLookup};
use catalog::rows::{
    CatalogRow, Int2Vector, Name, OidVector, PgAttribute, PgCollation, PgConstraint, PgIndex,
    PgInherits, PgOpclass, PgOperator, Text,
};
use catalog::{ObjectAddress, RelDesc};
use clusterwide::tablespace;
use define::creation;
use engine::StatsKind;
use engine::index::{IndexAm, MethodInfo};
use engine::storage::create_relation_files;
use ids::builtin::proc;
use ids::code::{AmType, ColumnGenerated, ColumnIdentity, ConType, DepType, Volatility};
use ids::{AttrNo, Oid, Persistence, RelKind};
use lmgr::{LockMode, LockTag};
use parse::ast::{IndexElem, IndexStmt, SortByDir, SortByNulls};
use pgerror::{PgError, Result, bail, pg_err};
use plan::Expr;
use std::sync::Arc;
use utility::host::{CommandHost, notice};
use utility::{class, exprs, names, reloptions, stored};

/// Maximum number of columns of an index. Counterpart: `INDEX_MAX_KEYS`.
const COLUMNS_MAX: usize = 32;

/// A key column of a new index.
#[derive(Clone, Debug)]
pub struct IndexColumn {
    pub name: String,
    /// Attribute number in the table; 0 for an expression.
    pub number: AttrNo,
    pub expr: Option<Expr>,
    pub collation: Oid,
    pub opclass: Oid,
    /// `indoption` bits: 1 is descending, 2 is NULLs first.
    pub option: i16,
    /// Parameters of the operator class.
    pub class_options: Option<Vec<Text>>,
}

/// The constraint of a new index.
#[derive(Clone, Copy, Debug, Default)]
pub struct IndexConstraint {
    pub deferrable: bool,
    pub deferred: bool,
}

/// The definition of a new index.
pub struct NewIndex {
    pub name: String,
    pub method: IndexMethod,
    pub keys: Vec<IndexColumn>,
    /// INCLUDE columns.
    pub include: Vec<(String, AttrNo)>,
    pub unique: bool,
    /// The operators of an exclusion constraint, one for each key; else none.
    pub exclusion: Vec<Oid>,
    pub primary: bool,
    pub nulls_not_distinct: bool,
    pub constraint: Option<IndexConstraint>,
    pub predicate: Vec<Expr>,
    pub options: Option<Vec<Text>>,
    pub tablespace: Oid,
    /// The partitioned index whose child it is.
    pub parent: Option<IndexParent>,
}

/// The partitioned index and its constraint whose children a new index and its constraint become.
#[derive(Clone, Copy)]
pub struct IndexParent {
    pub index: Oid,
    pub constraint: Option<Oid>,
}

/// An access method in the catalogs.
#[derive(Clone, Copy)]
pub struct IndexMethod {
    /// `pg_am.oid`.
    pub oid: Oid,
    pub info: &'static MethodInfo,
    /// `None` if the method is not implemented.
    pub am: Option<&'static dyn IndexAm>,
}

/// Transforms the statement into an index definition.
pub fn describe(
    host: &mut dyn CommandHost,
    stmt: &IndexStmt,
    rel: &Arc<RelDesc>,
    sql: &str,
) -> Result<NewIndex> {
    let count = stmt.index_params.len() + stmt.index_including_params.len();
    if stmt.index_params.is_empty() {
        bail!(INVALID_OBJECT_DEFINITION, "must specify at least one column");
    }
    if count > COLUMNS_MAX {
        bail!(TOO_MANY_COLUMNS, "cannot use more than {COLUMNS_MAX} columns in an index");
    }
    let method = named_method(host, stmt.access_method.as_deref().unwrap_or("btree"))?;
    check_capabilities(method.info, stmt)?;
    let mut predicate = Vec::new();
    if let Some(node) = &stmt.where_clause {
        let mut cat = SessionLookup::new(host);
        let kind = ExprKind::IndexPredicate;
        let e = analyze::ddl::condition(&mut cat, rel, node, sql, kind)?;
        // The predicate is stored unfolded; it is folded when it is used.
        let folded = exprs::folded_as_owner(host, rel.class.relowner, &e)?;
        if !is_immutable(host, &folded)? {
            bail!(
                INVALID_OBJECT_DEFINITION,
                "functions in index predicate must be marked IMMUTABLE"
            );
        }
        // A predicate that is the constant true is no predicate.
        let always = matches!(&e, Expr::Const(c) if !c.is_null() && c.value.as_ref().as_bool());
        predicate = if always { Vec::new() } else { plan::walk::conjuncts(e) };
    }
    let options = reloptions::index_options(method.info, &stmt.options)?;
    let mut keys = Vec::new();
    let mut used: Vec<String> = Vec::new();
    for elem in &stmt.index_params {
        let column = key_column(host, elem, rel, &method, stmt.isconstraint, sql)?;
        let name = free_column_name(&used, &column.name);
        used.push(name.clone());
        keys.push(IndexColumn { name, ..column });
    }
    let exclusion = crate::exclusion::operators(host, stmt, &keys, rel)?;
    let mut include = Vec::new();
    for elem in &stmt.index_including_params {
        if elem.expr.is_some() {
            bail!(FEATURE_NOT_SUPPORTED, "expressions are not supported in included columns");
        }
        let number = column_number(rel, elem.name.as_deref().unwrap_or(""), stmt.isconstraint)?;
        let wanted = elem.indexcolname.as_ref().or(elem.name.as_ref());
        let name = free_column_name(&used, wanted.map_or("", |name| name));
        used.push(name.clone());
        include.push((name, number));
    }
    let expressions = keys.iter().filter_map(|k| k.expr.as_ref());
    if expressions.chain(&predicate).any(uses_system_columns) {
        bail!(FEATURE_NOT_SUPPORTED, "index creation on system columns is not supported");
    }
    if method.am.is_none() {
        return Err(unsupported_method(method.info));
    }
    let name = match &stmt.idxname {
        Some(name) => stdx::clip(name, 63).to_string(),
        None if !exclusion.is_empty() => {
            let (schema, columns) = (rel.class.relnamespace, creation::name_addition(&used));
            let columns = Some(columns.as_str());
            creation::free_relation_name(host, rel.name(), columns, "excl", schema, true)?
        }
        None => free_name(host, rel, &used, (stmt.primary, stmt.isconstraint))?,
    };
    let temporary = rel.class.relpersistence == Persistence::Temporary;
    let tablespace = match (&stmt.table_space, stmt.reset_default_tblspc) {
        (Some(name), true) => tablespace::named_unchecked(host, name)?,
        (name, _) if rel.kind() == RelKind::PartitionedTable => {
            tablespace::of_partitioned(host, name.as_deref(), temporary)?
        }
        (name, _) => tablespace::of_relation(host, name.as_deref(), temporary)?,
    };
    let constraint = stmt
        .isconstraint
        .then_some(IndexConstraint { deferrable: stmt.deferrable, deferred: stmt.initdeferred });
    Ok(NewIndex {
        name,
        method,
        keys,
        include,
        unique: stmt.unique,
        exclusion,
        primary: stmt.primary,
        nulls_not_distinct: stmt.nulls_not_distinct,
        constraint,
        predicate,
        options,
        tablespace,
        parent: None,
    })
}

/// An unused name for an index of the table with these columns. Counterpart: `ChooseIndexName`.
pub fn free_name(
    host: &mut dyn CommandHost,
    rel: &RelDesc,
    columns: &[String],
    (primary, constraint): (bool, bool),
) -> Result<String> {
    let schema = rel.class.relnamespace;
    let (label, columns) = match (primary, constraint) {
        (true, _) => ("pkey", None),
        (_, true) => ("key", Some(creation::name_addition(columns))),
        _ => ("idx", Some(creation::name_addition(columns))),
    };
    let (table, columns) = (rel.name(), columns.as_deref());
    creation::free_relation_name(host, table, columns, label, schema, constraint)
}

/// True if the expression uses system columns such as `ctid` or `xmin`, whose values change without
/// an index update.
pub fn uses_system_columns(e: &Expr) -> bool {
    plan::walk::any(e, &mut |e| matches!(e, Expr::Var(v) if v.varattno < 0))
}

/// The index access method with this name. An obsolete name is replaced, with a notice.
fn named_method(host: &mut dyn CommandHost, name: &str) -> Result<IndexMethod> {
    let name = match (name, host.catalog().find_access_method(name)?) {
        ("rtree", None) => {
            let message = "substituting access method \"gist\" for obsolete method \"rtree\"";
            host.notice(notice(pg_err!(SUCCESSFUL_COMPLETION, "{message}")));
            "gist"
        }
        _ => name,
    };
    let Some(row) = host.catalog().find_access_method(name)? else {
        bail!(UNDEFINED_OBJECT, "access method \"{name}\" does not exist");
    };
    if row.amtype != AmType::Index {
        bail!(WRONG_OBJECT_TYPE, "access method \"{name}\" is not of type INDEX");
    }
    let found = host.catalog().access_method(row.oid)?;
    let found = found.ok_or_else(|| PgError::unsupported(format!("access method \"{name}\"")))?;
    Ok(IndexMethod { oid: row.oid, info: found.info, am: found.am })
}

fn unsupported_method(method: &MethodInfo) -> PgError {
    PgError::unsupported(format!("access method \"{}\"", method.name))
}

/// Refuses features that the access method does not support.
fn check_capabilities(method: &MethodInfo, stmt: &IndexStmt) -> Result<()> {
    let can = &method.capabilities;
    let lacks = if stmt.unique && !can.unique {
        "unique indexes"
    } else if !stmt.index_including_params.is_empty() && !can.include {
        "included columns"
    } else if stmt.index_params.len() > 1 && !can.multicolumn {
        "multicolumn indexes"
    } else if !stmt.exclude_op_names.is_empty() && !can.exclude {
        "exclusion constraints"
    } else {
        return Ok(());
    };
    bail!(FEATURE_NOT_SUPPORTED, "access method \"{}\" does not support {lacks}", method.name)
}

/// The constraint that the index belongs to.
pub fn constraint_of(host: &mut dyn CommandHost, index: Oid) -> Result<Option<Oid>> {
    let list = host.catalog().dependencies_of(ObjectAddress::relation(index))?;
    let found = list
        .iter()
        .find(|d| d.refclassid == PgConstraint::RELATION && d.deptype == DepType::Internal);
    Ok(found.map(|d| d.refobjid))
}

/// Counterpart: `ChooseIndexColumnNames`.
pub fn free_column_name(used: &[String], wanted: &str) -> String {
    let mut name = wanted.to_string();
    for n in 1.. {
        if !used.contains(&name) {
            break;
        }
        let suffix = n.to_string();
        name = format!("{}{suffix}", stdx::clip(wanted, 63 - suffix.len()));
    }
    name
}

fn column_number(rel: &RelDesc, name: &str, constraint: bool) -> Result<AttrNo> {
    if let Some(a) = rel.column(name) {
        return Ok(a.attnum);
    }
    if crate::relation::SYSTEM_COLUMNS.iter().any(|s| s.0 == name) {
        bail!(FEATURE_NOT_SUPPORTED, "index creation on system columns is not supported");
    }
    if constraint {
        bail!(UNDEFINED_COLUMN, "column \"{name}\" named in key does not exist");
    }
    bail!(UNDEFINED_COLUMN, "column \"{name}\" does not exist")
}

fn key_column(
    host: &mut dyn CommandHost,
    elem: &IndexElem,
    rel: &Arc<RelDesc>,
    method: &IndexMethod,
    constraint: bool,
    sql: &str,
) -> Result<IndexColumn> {
    let mut expr = None;
    let (name, number, ty, mut collation);
    if let Some(column) = &elem.name {
        // The operator class is resolved first, as in PostgreSQL, because the order determines
        // which error is reported.
        let system = crate::relation::SYSTEM_COLUMNS.iter().find(|s| s.0 == &**column);
        if let Some(&(_, _, ty)) = system.filter(|_| rel.column(column).is_none()) {
            find_opclass(host, elem, method, ty)?;
        }
        let n = column_number(rel, column, constraint)?;
        let a = rel.attribute(n).ok_or_else(|| PgError::internal("column without a row"))?;
        name = elem.indexcolname.as_ref().unwrap_or(column).to_string();
        (number, ty, collation) = (n, a.atttypid, a.attcollation);
    } else {
        let node = elem.expr.as_ref().ok_or_else(|| PgError::internal("index column is empty"))?;
        let mut cat = SessionLookup::new(host);
        let kind = ExprKind::IndexExpression;
        let mut e = analyze::ddl::column_expr(&mut cat, rel, node, sql, kind)?;
        ty = e.type_oid();
        collation = e.collation();
        // A top-level COLLATE becomes the column's collation and is not part of the expression.
        while let Expr::Collate(c) = e {
            e = c.arg;
        }
        match &e {
            // A column in parentheses is an ordinary column.
            Expr::Var(v) if v.varattno > 0 => number = v.varattno,
            _ => {
                number = 0;
                let folded = exprs::folded_as_owner(host, rel.class.relowner, &e)?;
                if !is_immutable(host, &folded)? {
                    bail!(
                        INVALID_OBJECT_DEFINITION,
                        "functions in index expression must be marked IMMUTABLE"
                    );
                }
                expr = Some(e);
            }
        }
        name = match (&elem.indexcolname, rel.attribute(number)) {
            (Some(name), _) => name.to_string(),
            (None, Some(a)) => a.attname.to_string(),
            (None, None) => analyze::figure_index_column(node),
        };
    }
    if !elem.collation.is_empty() {
        let (schema, name) = split(&elem.collation);
        collation = host.catalog().collation_oid(schema, name)?;
    }
    host.catalog().locale(collation)?;
    let collatable = host.catalog().type_row(ty)?.typcollation.is_valid();
    if collatable && !collation.is_valid() {
        return Err(pg_err!(
            INDETERMINATE_COLLATION,
            "could not determine which collation to use for index expression"
        )
        .hint("Use the COLLATE clause to set the collation explicitly."));
    }
    if !collatable && collation.is_valid() {
        let shown = host.catalog().format_type(ty)?;
        bail!(DATATYPE_MISMATCH, "collations are not supported by type {shown}");
    }
    let opclass = find_opclass(host, elem, method, ty)?;
    let class_options = class_options(host, elem, method, opclass)?;
    define::collation::check_deterministic(host, opclass, collation)?;
    if !method.info.capabilities.ordered {
        let lacks = match (elem.ordering, elem.nulls_ordering) {
            (SortByDir::Default, SortByNulls::Default) => None,
            (SortByDir::Default, _) => Some("NULLS FIRST/LAST"),
            _ => Some("ASC/DESC"),
        };
        if let Some(lacks) = lacks {
            let am = &method.info.name;
            bail!(FEATURE_NOT_SUPPORTED, "access method \"{am}\" does not support {lacks} options");
        }
    }
    if expr.is_some() {
        crate::relation::check_storable(host, &name, ty)?;
    }
    let descending = elem.ordering == SortByDir::Desc;
    let nulls_first = match elem.nulls_ordering {
        SortByNulls::Default => descending,
        SortByNulls::First => true,
        SortByNulls::Last => false,
    };
    let option = i16::from(descending) | i16::from(nulls_first) << 1;
    Ok(IndexColumn { name, number, expr, collation, opclass, option, class_options })
}

pub fn split(names: &[parse::ast::Name]) -> (Option<&str>, &str) {
    match names {
        [.., schema, name] => (Some(schema), name),
        [name] => (None, name),
        [] => (None, ""),
    }
}

/// The parameters of the operator class of a column.
fn class_options(
    host: &mut dyn CommandHost,
    elem: &IndexElem,
    method: &IndexMethod,
    opclass: Oid,
) -> Result<Option<Vec<Text>>> {
    if elem.opclassopts.is_empty() {
        return Ok(None);
    }
    if method.am.is_none() {
        return Err(unsupported_method(method.info));
    }
    match host.catalog().class_parameters(opclass)? {
        Some(known) => reloptions::class_options(known, &elem.opclassopts),
        None => {
            let name = host.catalog().opclass(opclass)?.opcname;
            bail!(INVALID_PARAMETER_VALUE, "operator class {name} has no options");
        }
    }
}

/// Counterpart: `ResolveOpClass`.
fn find_opclass(
    host: &mut dyn CommandHost,
    elem: &IndexElem,
    method: &IndexMethod,
    ty: Oid,
) -> Result<Oid> {
    let am = &method.info.name;
    if elem.opclass.is_empty() {
        let found = host.catalog().default_opclass(ty, method.oid)?;
        if let Some(oid) = found {
            return Ok(oid);
        }
        let shown = host.catalog().format_type(ty)?;
        return Err(pg_err!(
            UNDEFINED_OBJECT,
            "data type {shown} has no default operator class for access method \"{am}\""
        )
        .hint(
            "You must specify an operator class for the index or define a default operator \
             class for the data type.",
        ));
    }
    named_opclass(host, &elem.opclass, (am, method.oid), ty)
}

/// The operator class with this name for an access method, given by name and OID. An error if it
/// does not accept the type.
pub fn named_opclass(
    host: &mut dyn CommandHost,
    names: &[parse::ast::Name],
    (am, method): (&str, Oid),
    ty: Oid,
) -> Result<Oid> {
    let (schema, name) = split(names);
    let shown = catalog::namespace::qualified(schema, name);
    let mut cat = host.catalog();
    let oid = cat.find_opclass(method, schema, name)?.ok_or_else(|| {
        pg_err!(
            UNDEFINED_OBJECT,
            "operator class \"{shown}\" does not exist for access method \"{am}\""
        )
    })?;
    let input = cat.opclass(oid)?.opcintype;
    if !cat.is_binary_coercible(ty, input)? {
        let ty = cat.format_type(ty)?;
        bail!(DATATYPE_MISMATCH, "operator class \"{shown}\" does not accept data type {ty}");
    }
    Ok(oid)
}

/// True if the expression uses only immutable functions.
pub fn is_immutable(host: &mut dyn CommandHost, e: &Expr) -> Result<bool> {
    let mut functions = Vec::new();
    let mut conversions = Vec::new();
    let mut refused = false;
    plan::walk::any(e, &mut |e| {
        match e {
            Expr::FuncExpr(f) => functions.push((f.funcid, false)),
            Expr::OpExpr(o) | Expr::Distinct(o) | Expr::NullIf(o) => {
                functions.push((o.opno, true));
            }
            Expr::ScalarArrayOp(o) => functions.push((o.opno, true)),
            Expr::CoerceViaIo(c) => conversions.push((c.arg.type_oid(), c.resulttype)),
            Expr::SqlValue(_) | Expr::NextValue(_) | Expr::SubLink(_) => refused = true,
            _ => {}
        }
        false
    });
    for (from, to) in conversions {
        let output = host.facts().type_io(from)?.output.volatility;
        if output != Volatility::Immutable
            || host.facts().type_io(to)?.input.volatility != Volatility::Immutable
        {
            return Ok(false);
        }
    }
    for (oid, is_operator) in functions {
        let mut cat = host.catalog();
        let function = if is_operator { cat.operator(oid)?.oprcode } else { oid };
        if cat.function(function)?.provolatile != Volatility::Immutable {
            return Ok(false);
        }
    }
    Ok(!refused)
}

/// The `pg_attribute` row of column `number` of an index, which is column `column` of the table (0
/// for an expression).
fn attribute(
    host: &mut dyn CommandHost,
    rel: &RelDesc,
    (index, method): (Oid, &MethodInfo),
    (number, name): (AttrNo, &str),
    key: Option<&IndexColumn>,
    column: AttrNo,
) -> Result<PgAttribute> {
    let mut row = match (column, key.and_then(|k| k.expr.as_ref())) {
        (0, Some(e)) => {
            let mut c = crate::relation::NewColumn::new(
                name,
                e.type_oid(),
                e.typmod(),
                key.map_or(Oid::INVALID, |k| k.collation),
            );
            c.compression = 0;
            crate::relation::attribute_row(host, index, number, &c)?
        }
        _ => {
            let of = rel.attribute(column).ok_or_else(|| PgError::internal("no such column"))?;
            PgAttribute {
                attrelid: index,
                attname: Name::new(name),
                attnum: number,
                attstattarget: -1,
                attcacheoff: -1,
                attnotnull: false,
                atthasdef: false,
                atthasmissing: false,
                attidentity: ColumnIdentity::No,
                attgenerated: ColumnGenerated::No,
                attisdropped: false,
                attislocal: true,
                attinhcount: 0,
                attcollation: key.map_or(Oid::INVALID, |k| k.collation),
                attacl: None,
                attoptions: None,
                attfdwoptions: None,
                attmissingval: None,
                ..of.clone()
            }
        }
    };
    row.attoptions = key.and_then(|k| k.class_options.clone());
    if let Some(key) = key {
        let mut cat = host.catalog();
        let class = cat.opclass(key.opclass)?;
        let mut stored = class.opckeytype.valid().unwrap_or(method.key_type);
        if stored == types::oids::ANYELEMENT && class.opcintype == types::oids::ANYARRAY {
            let (array, _) = cat.base_type(row.atttypid)?;
            stored = cat.type_row(array)?.typelem;
        }
        if stored.is_valid() && stored != row.atttypid {
            let ty = cat.type_row(stored)?;
            row.atttypid = stored;
            row.atttypmod = -1;
            row.attlen = ty.typlen;
            row.attbyval = ty.typbyval;
            row.attalign = ty.typalign;
            row.attstorage = ty.typstorage;
            row.attcompression = 0;
        }
    }
    Ok(row)
}

/// Creates the index in the catalogs and builds it. Counterpart: `index_create`.
pub fn create(
    host: &mut dyn CommandHost,
    rel: &Arc<RelDesc>,
    new: &NewIndex,
    filled: bool,
) -> Result<Oid> {
    let oid = enter(host, rel, new, true)?;
    if filled {
        fill(host, rel.oid(), oid)?;
        if !new.exclusion.is_empty() {
            crate::exclusion::check_rows(host, rel.oid(), oid)?;
        }
    }
    Ok(oid)
}

/// Creates the catalog entries of the index and, unless the table is partitioned, an empty file.
/// The index is valid unless `valid` is false.
pub fn enter(
    host: &mut dyn CommandHost,
    rel: &Arc<RelDesc>,
    new: &NewIndex,
    valid: bool,
) -> Result<Oid> {
    let class = &rel.class.row;
    if host.catalog().relation_in(class.relnamespace, &new.name)?.is_some() {
        bail!(DUPLICATE_TABLE, "relation \"{}\" already exists", new.name);
    }
    if new.primary && rel.indexes.iter().any(|i| i.indisprimary) {
        bail!(
            INVALID_TABLE_DEFINITION,
            "multiple primary keys for table \"{}\" are not allowed",
            rel.name()
        );
    }
    let persistence = class.relpersistence;
    let spec = NewRelation {
        name: &new.name,
        namespace: class.relnamespace,
        kind: match rel.kind() {
            RelKind::PartitionedTable => RelKind::PartitionedIndex,
            _ => RelKind::Index,
        },
        persistence,
        owner: class.relowner,
        tablespace: new.tablespace,
        access_method: Oid::INVALID,
        columns: &[],
        options: new.options.clone(),
    };
    if let Some(parent) = new.parent {
        host.lock_relation(parent.index, names::mode::SHARE_UPDATE_EXCLUSIVE)?;
    }
    let (oid, mut row) = new_class(host, &spec)?;
    let database = host.backend().database();
    host.backend().lock(LockTag::relation(database, oid), LockMode::AccessExclusive)?;
    row.relnatts = (new.keys.len() + new.include.len()) as i16;
    row.relam = new.method.oid;
    row.relispartition = new.parent.is_some();
    if row.relkind.has_storage() {
        let file = class::file_of(host, &row);
        create_relation_files(host.backend(), file, persistence)?;
    } else {
        host.catalog().record_tablespace(oid, new.tablespace)?;
    }
    host.catalog().insert(&row)?;
    host.backend().count_created(StatsKind::Relation, oid, row.relisshared);
    let of = (oid, new.method.info);
    for (i, key) in new.keys.iter().enumerate() {
        let number = i as AttrNo + 1;
        let row = attribute(host, rel, of, (number, &key.name), Some(key), key.number)?;
        host.catalog().insert(&row)?;
    }
    for (i, (name, column)) in new.include.iter().enumerate() {
        let number = (new.keys.len() + i) as AttrNo + 1;
        let row = attribute(host, rel, of, (number, name), None, *column)?;
        host.catalog().insert(&row)?;
    }
    let partitioned = rel.kind() == RelKind::PartitionedTable;
    let indisready = valid || partitioned;
    let index_row = PgIndex { indisvalid: valid, indisready, ..index_row(rel, new, oid) };
    host.catalog().insert(&index_row)?;
    let table = rel.oid();
    host.catalog().invalidate_relation(table, false);
    record_dependencies(host, rel, new, oid)?;
    set_has_index(host, table)?;
    host.catalog().increment_command_counter()?;
    if let Some(parent) = new.parent {
        let mut cat = host.catalog();
        cat.insert(&PgInherits {
            inhrelid: oid,
            inhparent: parent.index,
            inhseqno: 1,
            inhdetachpending: false,
        })?;
        hierarchy::set_has_subclass(host, parent.index, true)?;
    }
    Ok(oid)
}

fn index_row(rel: &RelDesc, new: &NewIndex, oid: Oid) -> PgIndex {
    let exprs: Vec<Expr> = new.keys.iter().filter_map(|k| k.expr.clone()).collect();
    let columns = new.keys.iter().map(|k| k.number).chain(new.include.iter().map(|i| i.1));
    PgIndex {
        indexrelid: oid,
        indrelid: rel.oid(),
        indnatts: (new.keys.len() + new.include.len()) as i16,
        indnkeyatts: new.keys.len() as i16,
        indisunique: new.unique,
        indnullsnotdistinct: new.nulls_not_distinct,
        indisprimary: new.primary,
        indisexclusion: !new.exclusion.is_empty(),
        indimmediate: !new.constraint.is_some_and(|c| c.deferrable),
        indisclustered: false,
        indisvalid: true,
        indcheckxmin: false,
        indisready: true,
        indislive: true,
        indisreplident: false,
        indkey: Int2Vector(columns.collect()),
        indcollation: OidVector(new.keys.iter().map(|k| k.collation).collect()),
        indclass: OidVector(new.keys.iter().map(|k| k.opclass).collect()),
        indoption: Int2Vector(new.keys.iter().map(|k| k.option).collect()),
        indexprs: (!exprs.is_empty()).then(|| stored::write_list(&exprs)),
        // The conditions are stored as an explicit AND expression, as in PostgreSQL.
        indpred: match new.predicate.as_slice() {
            [] => None,
            [one] => Some(stored::write(one)),
            list => Some(stored::write(&Expr::Bool(Box::new(plan::expr::BoolExpr {
                boolop: plan::expr::BoolOp::And,
                args: list.to_vec(),
                location: plan::expr::Location::UNKNOWN,
            })))),
        },
    }
}

fn record_dependencies(
    host: &mut dyn CommandHost,
    rel: &Arc<RelDesc>,
    new: &NewIndex,
    oid: Oid,
) -> Result<()> {
    let this = ObjectAddress::relation(oid);
    let table = rel.oid();
    let columns: Vec<AttrNo> = new
        .keys
        .iter()
        .map(|k| k.number)
        .chain(new.include.iter().map(|i| i.1))
        .filter(|n| *n != 0)
        .collect();
    match new.constraint {
        Some(constraint) => {
            let kind = match (new.primary, new.unique) {
                (true, _) => ConType::PrimaryKey,
                (_, true) => ConType::Unique,
                _ => ConType::Exclusion,
            };
            let keys: Vec<AttrNo> = new.keys.iter().map(|k| k.number).collect();
            crate::constraint::check_name_free(host, rel, &new.name)?;
            let mut row = crate::constraint::row(host, &new.name, rel, kind)?;
            row.condeferrable = constraint.deferrable;
            row.condeferred = constraint.deferred;
            row.conindid = oid;
            row.connoinherit = true;
            row.conkey = Some(keys);
            row.conexclop = (!new.exclusion.is_empty()).then(|| new.exclusion.clone());
            let parent = new.parent.and_then(|p| p.constraint);
            if let Some(parent) = parent {
                row.conparentid = parent;
                (row.conislocal, row.coninhcount, row.connoinherit) = (false, 1, false);
            }
            let of = crate::constraint::insert(host, row, &columns)?;
            let mut cat = host.catalog();
            cat.record_dependency(this, of, DepType::Internal)?;
            let operators: Vec<ObjectAddress> =
                new.exclusion.iter().map(|o| ObjectAddress::of::<PgOperator>(*o)).collect();
            cat.record_dependencies(of, &operators, DepType::Normal)?;
            if let Some(parent) = parent {
                let parent = ObjectAddress::of::<PgConstraint>(parent);
                cat.record_dependency(of, parent, DepType::PartitionPrimary)?;
                let table = ObjectAddress::relation(table);
                cat.record_dependency(of, table, DepType::PartitionSecondary)?;
            }
            if constraint.deferrable {
                let (table, deferred) = (rel.oid(), constraint.deferred);
                add_deferred_trigger(host, table, of.object, oid, new.primary, deferred)?;
            }
        }
        None => {
            let mut cat = host.catalog();
            let list: Vec<_> = columns.iter().map(|c| ObjectAddress::column(table, *c)).collect();
            cat.record_dependencies(this, &list, DepType::Auto)?;
            if list.is_empty() {
                let table = ObjectAddress::relation(table);
                cat.record_dependency(this, table, DepType::Auto)?;
            }
        }
    }
    let mut cat = host.catalog();
    if let Some(parent) = new.parent {
        let on = ObjectAddress::relation(parent.index);
        cat.record_dependency(this, on, DepType::PartitionPrimary)?;
        let table = ObjectAddress::relation(table);
        cat.record_dependency(this, table, DepType::PartitionSecondary)?;
    }
    let mut needs = Vec::new();
    for key in &new.keys {
        if key.collation.is_valid() {
            needs.push(ObjectAddress::of::<PgCollation>(key.collation));
        }
        needs.push(ObjectAddress::of::<PgOpclass>(key.opclass));
    }
    cat.record_dependencies(this, &needs, DepType::Normal)?;
    let exprs: Vec<Expr> = new.keys.iter().filter_map(|k| k.expr.clone()).collect();
    let (normal, auto) = (DepType::Normal, DepType::Auto);
    stored::record(host, this, &exprs, table, normal, auto)?;
    stored::record(host, this, &new.predicate, table, normal, auto)
}

/// Creates the trigger that rechecks the keys of a deferrable constraint. Counterpart: the end of
/// `index_constraint_create`.
pub fn add_deferred_trigger(
    host: &mut dyn CommandHost,
    table: Oid,
    of: Oid,
    index: Oid,
    primary: bool,
    deferred: bool,
) -> Result<()> {
    let trigger = ConstraintTrigger {
        name: if primary { "PK_ConstraintTrigger" } else { "Unique_ConstraintTrigger" },
        function: proc::UNIQUE_KEY_RECHECK,
        kind: constraint::ROW | constraint::INSERT | constraint::UPDATE,
        other: Oid::INVALID,
        index,
        constraint: of,
        deferrable: true,
        deferred,
        parent: Oid::INVALID,
    };
    constraint::add_trigger(host, table, trigger).map(|_| ())
}

/// Sets `relhasindex` in the table's row, in place.
fn set_has_index(host: &mut dyn CommandHost, table: Oid) -> Result<()> {
    class::update_statistics(&mut host.catalog(), table, |row| row.relhasindex = true)
}
