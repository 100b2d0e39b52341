//! Column definitions, which become columns, sequences, defaults, constraints and indexes.
//!
//! Counterpart: parse_utilcmd.c (`transformColumnDefinition`).

use crate::partitions::indexes::{self, Creation};
use crate::relation::NewColumn;
use crate::sequence::NewSequence;
use crate::{index, sequence};
use analyze::SessionLookup;
use catalog::ObjectAddress;
use catalog::rows::{PgAttrdef, PgAttribute, indexes as catalog_indexes};
use define::creation;
use ids::code::{ColumnGenerated, ColumnIdentity, ColumnStorage, DepType};
use ids::{AttrNo, Oid, Persistence};
use parse::ast::{
    self, ColumnDef, ConstrType, Constraint, DefElem, IndexElem, IndexStmt, Node, OnCommitAction,
};
use pgerror::{PgError, Result, bail, pg_err};
use plan::Expr;
use types::oids;
use utility::host::{CommandHost, debug};
use utility::{names, stored};

/// A column definition with its constraints separated.
pub struct Column {
    pub column: NewColumn,
    pub default: Option<Node>,
    /// A default that is already analysed (from LIKE).
    pub stored_default: Option<Expr>,
    pub generated: bool,
    /// The options of the column's sequence, and whether it is an identity column.
    pub sequence: Option<(Vec<DefElem>, bool)>,
}

/// Table constraints by kind, including those declared on columns.
#[derive(Default)]
pub struct Constraints {
    pub checks: Vec<Constraint>,
    pub keys: Vec<Constraint>,
    pub foreign: Vec<Constraint>,
}

/// Error 42P16 for ON COMMIT on a table that is not temporary.
pub(crate) fn check_on_commit(action: OnCommitAction, table: &ast::RangeVar) -> Result<()> {
    let acts = matches!(action, OnCommitAction::DeleteRows | OnCommitAction::Drop);
    if acts && table.relpersistence != Persistence::Temporary {
        bail!(INVALID_TABLE_DEFINITION, "ON COMMIT can only be used on temporary tables");
    }
    Ok(())
}

/// The integer type of a serial column.
fn serial_type(name: &ast::TypeName, sql: &str) -> Result<Option<Oid>> {
    let word = match name.names.as_slice() {
        [word] if !name.pct_type => word,
        _ => return Ok(None),
    };
    let ty = match &**word {
        "smallserial" | "serial2" => oids::INT2,
        "serial" | "serial4" => oids::INT4,
        "bigserial" | "serial8" => oids::INT8,
        _ => return Ok(None),
    };
    if !name.array_bounds.is_empty() {
        return Err(pg_err!(FEATURE_NOT_SUPPORTED, "array of serial is not implemented")
            .at(parse::position(sql, name.location)));
    }
    Ok(Some(ty))
}

/// Sends the notices about the modifier of a column's type a second time, without a position:
/// PostgreSQL resolves the type twice, in the statement and when the table is created.
pub(crate) fn repeat_notices(host: &mut dyn CommandHost, def: &ColumnDef) -> Result<()> {
    match &def.type_name {
        Some(name) if !name.typmods.is_empty() => {
            analyze::ddl::type_name(&mut SessionLookup::new(host), name, "").map(|_| ())
        }
        _ => Ok(()),
    }
}

/// Transforms one column definition; its table-level constraints are added to `constraints`.
pub fn column(
    host: &mut dyn CommandHost,
    def: &ColumnDef,
    table: &str,
    constraints: &mut Constraints,
    sql: &str,
) -> Result<Column> {
    let name = stdx::clip(def.colname.as_deref().unwrap_or(""), 63).to_string();
    let serial = match &def.type_name {
        Some(t) => serial_type(t, sql)?,
        None => None,
    };
    let (ty, typmod, collation) = match serial {
        Some(ty) => (ty, -1, Oid::INVALID),
        // The options of a column of a typed table or a partition, which has the type.
        None if def.type_name.is_none() => (Oid::INVALID, -1, Oid::INVALID),
        None => analyze::ddl::column_type(&mut SessionLookup::new(host), def, sql)?,
    };
    let mut new = NewColumn::new(name.as_str(), ty, typmod, collation);
    new.ndims = def.type_name.as_ref().map_or(0, |t| t.array_bounds.len() as i32);
    if let Some(method) = &def.compression {
        new.compression = compression_for(host, method, ty)?;
    }
    if let Some(storage) = &def.storage_name {
        new.storage = Some(storage_for(host, storage, ty)?);
    }
    let mut out = Column {
        column: new,
        default: None,
        stored_default: None,
        generated: false,
        sequence: None,
    };
    let mut constraints_seen =
        ColumnConstraints { table, column: &name, nullable: None, default: false };
    let mut list: Vec<Constraint> = Vec::new();
    for c in &def.constraints {
        let place = parse::position(sql, c.location);
        match c.contype {
            ConstrType::AttrDeferrable
            | ConstrType::AttrNotDeferrable
            | ConstrType::AttrDeferred
            | ConstrType::AttrImmediate => {
                attribute(list.last_mut(), c.contype).map_err(|e| e.at(place))?;
            }
            _ => list.push(c.clone()),
        }
    }
    for mut c in list {
        let place = parse::position(sql, c.location);
        match c.contype {
            ConstrType::Null => {
                constraints_seen.nullability(&mut out, false).map_err(|e| e.at(place))?
            }
            ConstrType::NotNull => {
                constraints_seen.nullability(&mut out, true).map_err(|e| e.at(place))?
            }
            ConstrType::Default => {
                constraints_seen.default().map_err(|e| e.at(place))?;
                out.default = c.raw_expr.take();
            }
            ConstrType::Identity => {
                constraints_seen.identity(&mut out, &c, sql)?;
            }
            ConstrType::Generated => {
                if out.generated {
                    return Err(constraints_seen
                        .conflict("multiple generation clauses specified")
                        .at(place));
                }
                out.generated = true;
                out.column.generated = ColumnGenerated::Stored;
                out.default = c.raw_expr.take();
            }
            ConstrType::Check => constraints.checks.push(c),
            ConstrType::Primary | ConstrType::Unique => {
                if c.keys.is_empty() {
                    c.keys = vec![name.as_str().into()];
                }
                constraints.keys.push(c);
            }
            ConstrType::Foreign => {
                if c.fk_attrs.is_empty() {
                    c.fk_attrs = vec![name.as_str().into()];
                }
                constraints.foreign.push(c);
            }
            _ => {}
        }
        constraints_seen.check(&out).map_err(|e| e.at(place))?;
    }
    if let Some(ty) = serial {
        // The checks are those of a DEFAULT and a NOT NULL at the end of the column definition.
        constraints_seen.default()?;
        constraints_seen.check(&out)?;
        out.sequence = Some((vec![type_option(ty)], false));
        constraints_seen.nullability(&mut out, true)?;
    }
    Ok(out)
}

/// The constraints of a column that have been processed.
struct ColumnConstraints<'a> {
    table: &'a str,
    column: &'a str,
    /// NULL (false) or NOT NULL (true).
    nullable: Option<bool>,
    default: bool,
}

impl ColumnConstraints<'_> {
    fn conflict(&self, what: &str) -> PgError {
        let ColumnConstraints { table, column, .. } = self;
        let what = match what.strip_suffix(" specified") {
            Some(what) => format!("{what} specified for"),
            None => format!("{what} for"),
        };
        pg_err!(SYNTAX_ERROR, "{what} column \"{column}\" of table \"{table}\"")
    }

    fn nullability(&mut self, out: &mut Column, not_null: bool) -> Result<()> {
        if self.nullable.is_some_and(|before| before != not_null) {
            return Err(self.conflict("conflicting NULL/NOT NULL declarations"));
        }
        self.nullable = Some(not_null);
        out.column.not_null = not_null;
        Ok(())
    }

    fn identity(&mut self, out: &mut Column, c: &Constraint, sql: &str) -> Result<()> {
        let place = parse::position(sql, c.location);
        if out.column.identity != ColumnIdentity::No {
            return Err(self.conflict("multiple identity specifications").at(place));
        }
        // Whether the type fits is checked when the sequence is created, after all columns.
        let mut options = vec![type_option(out.column.ty)];
        options.extend(c.options.iter().cloned());
        out.sequence = Some((options, true));
        out.column.identity = c.generated_when;
        self.nullability(out, true).map_err(|e| e.at(place))
    }

    fn default(&mut self) -> Result<()> {
        if self.default {
            return Err(self.conflict("multiple default values specified"));
        }
        self.default = true;
        Ok(())
    }

    /// A column has at most one of default, identity and generation expression.
    fn check(&self, out: &Column) -> Result<()> {
        let identity = out.column.identity != ColumnIdentity::No;
        Err(self.conflict(match (self.default, identity, out.generated) {
            (true, true, _) => "both default and identity specified",
            (true, _, true) => "both default and generation expression specified",
            (_, true, true) => "both identity and generation expression specified",
            _ => return Ok(()),
        }))
    }
}

/// Applies DEFERRABLE, INITIALLY DEFERRED and so on to the preceding constraint.
fn attribute(last: Option<&mut Constraint>, kind: ConstrType) -> Result<()> {
    let fits = |c: &Constraint| {
        matches!(
            c.contype,
            ConstrType::Primary | ConstrType::Unique | ConstrType::Exclusion | ConstrType::Foreign
        )
    };
    let word = match kind {
        ConstrType::AttrDeferrable => "DEFERRABLE",
        ConstrType::AttrNotDeferrable => "NOT DEFERRABLE",
        ConstrType::AttrDeferred => "INITIALLY DEFERRED",
        _ => "INITIALLY IMMEDIATE",
    };
    let Some(c) = last.filter(|c| fits(c)) else { bail!(SYNTAX_ERROR, "misplaced {word} clause") };
    match kind {
        ConstrType::AttrDeferrable => c.deferrable = true,
        ConstrType::AttrNotDeferrable => c.deferrable = false,
        ConstrType::AttrDeferred => {
            c.initdeferred = true;
            c.deferrable = true;
        }
        _ => c.initdeferred = false,
    }
    Ok(())
}

/// True if the type is allowed for a sequence.
pub fn is_sequence_type(ty: Oid) -> bool {
    matches!(ty, oids::INT2 | oids::INT4 | oids::INT8)
}

/// The AS option of a sequence for a column of this type.
pub fn type_option(ty: Oid) -> DefElem {
    let name = match ty {
        oids::INT2 => "int2",
        oids::INT4 => "int4",
        _ => "int8",
    };
    let name = ast::TypeName {
        names: vec!["pg_catalog".into(), name.into()],
        location: -1,
        ..ast::TypeName::default()
    };
    DefElem {
        defname: "as".into(),
        arg: Some(Node::TypeName(Box::new(name))),
        location: -1,
        ..DefElem::default()
    }
}

/// The code of a compression method for a column of this type. Counterpart:
/// `GetAttributeCompression`.
pub fn compression_for(host: &mut dyn CommandHost, method: &str, ty: Oid) -> Result<u8> {
    if method != "default" && host.catalog().type_row(ty)?.typstorage == ColumnStorage::Plain {
        let shown = host.catalog().format_type(ty)?;
        bail!(FEATURE_NOT_SUPPORTED, "column data type {shown} does not support compression");
    }
    compression(method)
}

fn compression(method: &str) -> Result<u8> {
    match method {
        "pglz" => Ok(b'p'),
        "lz4" => Ok(b'l'),
        "default" => Ok(0),
        _ => bail!(INVALID_PARAMETER_VALUE, "invalid compression method \"{method}\""),
    }
}

/// The storage for a storage name. Error 0A000 if the type does not allow it.
pub fn storage_for(host: &mut dyn CommandHost, name: &str, ty: Oid) -> Result<ColumnStorage> {
    let storage = match name.to_ascii_lowercase().as_str() {
        "plain" => ColumnStorage::Plain,
        "external" => ColumnStorage::External,
        "extended" => ColumnStorage::Extended,
        "main" => ColumnStorage::Main,
        "default" => return Ok(host.catalog().type_row(ty)?.typstorage),
        _ => bail!(INVALID_PARAMETER_VALUE, "invalid storage type \"{name}\""),
    };
    let row = host.catalog().type_row(ty)?;
    if storage != ColumnStorage::Plain && row.typstorage == ColumnStorage::Plain {
        let shown = host.catalog().format_type(ty)?;
        bail!(FEATURE_NOT_SUPPORTED, "column data type {shown} can only have storage PLAIN");
    }
    Ok(storage)
}

/// Error 42701 for the key column at index `i` of the constraint if it is there before.
pub fn check_key_twice(c: &Constraint, i: usize, sql: &str) -> Result<()> {
    let key = &c.keys[i];
    if !c.keys[..i].contains(key) {
        return Ok(());
    }
    let what = if c.contype == ConstrType::Primary { "primary key" } else { "unique" };
    Err(pg_err!(DUPLICATE_COLUMN, "column \"{key}\" appears twice in {what} constraint")
        .at(parse::position(sql, c.location)))
}

/// Creates the sequences of serial and identity columns, and the defaults of serial columns.
pub fn create_sequences(
    host: &mut dyn CommandHost,
    columns: &mut [Column],
    table: &str,
    schema: Oid,
    persistence: Persistence,
    owner: Oid,
    sql: &str,
) -> Result<Vec<(Oid, AttrNo, bool)>> {
    let mut out = Vec::new();
    for (i, c) in columns.iter_mut().enumerate() {
        let Some((defs, identity)) = &c.sequence else { continue };
        let (mut defs, identity) = (defs.clone(), *identity);
        if identity && !is_sequence_type(c.column.ty) {
            bail!(
                INVALID_PARAMETER_VALUE,
                "identity column type must be smallint, integer, or bigint"
            );
        }
        let named = defs.iter().position(|d| &*d.defname == "sequence_name");
        let (mut in_schema, mut name) = (schema, None);
        if let Some(place) = named {
            let def = defs.remove(place);
            if let Some(Node::List(list)) = &def.arg {
                let parts: Vec<&str> = list.iter().filter_map(Node::as_str).collect();
                let rv = names::range_var_of(&parts)?;
                if rv.schemaname.is_some() {
                    in_schema = creation::creation_target(host, &rv)?.0;
                }
                name = Some(rv.relname.to_string());
            }
        }
        let name = match name {
            Some(name) => name,
            None => {
                let column = Some(c.column.name.as_str());
                creation::free_relation_name(host, table, column, "seq", schema, false)?
            }
        };
        let new = NewSequence { name: &name, schema: in_schema, persistence, owner, identity };
        let oid = sequence::create(host, &new, &defs, sql)?;
        if !identity {
            c.default = Some(next_value_of(host, in_schema, &name)?);
        }
        out.push((oid, i as AttrNo + 1, identity));
    }
    Ok(out)
}

/// Reports the sequences that [`create_sequences`] has created for a statement.
pub fn report_sequences(
    host: &mut dyn CommandHost,
    statement: &str,
    table: &str,
    columns: &[Column],
    made: &[(Oid, AttrNo, bool)],
) -> Result<()> {
    for &(sequence, number, _) in made {
        let name = host.catalog().class(sequence)?.relname.to_string();
        let column = columns.get(number as usize - 1).map_or("", |c| c.column.name.as_str());
        host.notice(debug(format!(
            "{statement} will create implicit sequence \"{name}\" for serial column \
             \"{table}.{column}\""
        )));
    }
    Ok(())
}

/// `nextval('schema.name'::regclass)`.
fn next_value_of(host: &mut dyn CommandHost, schema: Oid, name: &str) -> Result<Node> {
    let quote = catalog::format_type::quote_identifier;
    let schema = host.catalog().namespace_name(schema)?.unwrap_or_default();
    let full = format!("{}.{}", quote(schema.as_str()), quote(name));
    let text = format!("SELECT pg_catalog.nextval('{}'::regclass)", full.replace('\'', "''"));
    let parsed = parse::parse(&text)?.pop().map(|s| s.stmt);
    match parsed {
        Some(Node::SelectStmt(mut s)) => s
            .target_list
            .pop()
            .and_then(|t| t.val)
            .ok_or_else(|| PgError::internal("target without expression")),
        _ => Err(PgError::internal("SELECT was parsed as another statement")),
    }
}

/// The analysed default; `None` for a NULL constant, which is equivalent to no default.
pub fn default_expr(
    host: &mut dyn CommandHost,
    table: Oid,
    column: &NewColumn,
    node: &Node,
    generated: bool,
    sql: &str,
) -> Result<Option<Expr>> {
    let rel = host.catalog().relation(table)?;
    let of = generated.then_some(&*rel);
    let mut cat = SessionLookup::new(host);
    let (name, ty, typmod) = (&column.name, column.ty, column.typmod);
    let expr = analyze::ddl::column_default(&mut cat, node, sql, name, ty, typmod, of)?;
    if generated {
        let folded = host.planner().fold(as_written(&expr).clone())?;
        if !index::is_immutable(host, &folded)? {
            bail!(INVALID_OBJECT_DEFINITION, "generation expression is not immutable");
        }
    }
    if !generated && matches!(&expr, Expr::Const(c) if c.is_null()) {
        return Ok(None);
    }
    Ok(Some(expr))
}

/// The expression without the coercion to the column type: PostgreSQL checks for mutable functions
/// before it adds the coercion.
fn as_written(e: &Expr) -> &Expr {
    use plan::expr::CoercionForm::ImplicitCast;
    match e {
        Expr::FuncExpr(f) if f.funcformat == ImplicitCast => f.args.first().map_or(e, as_written),
        Expr::Relabel(n) if n.relabelformat == ImplicitCast => as_written(&n.arg),
        Expr::CoerceViaIo(n) if n.coerceformat == ImplicitCast => as_written(&n.arg),
        Expr::ArrayCoerce(n) if n.coerceformat == ImplicitCast => as_written(&n.arg),
        Expr::ConvertRowtype(n) if n.convertformat == ImplicitCast => as_written(&n.arg),
        Expr::CoerceToDomain(n) if n.coercionformat == ImplicitCast => as_written(&n.arg),
        e => e,
    }
}

/// Stores the default of a column that has none. Counterpart: `StoreAttrDefault`.
pub fn set_default(
    host: &mut dyn CommandHost,
    table: Oid,
    number: AttrNo,
    expr: &Expr,
    generated: bool,
) -> Result<()> {
    let mut cat = host.catalog();
    let oid = cat.new_oid(catalog_indexes::PG_ATTRDEF_OID_INDEX)?;
    cat.insert(&PgAttrdef { oid, adrelid: table, adnum: number, adbin: stored::write(expr) })?;
    let keys = [table.into(), number.into()];
    let row = cat.scan(catalog_indexes::PG_ATTRIBUTE_RELID_ATTNUM_INDEX, &keys)?.pop();
    let row = row.ok_or_else(|| PgError::internal("column without a row"))?;
    cat.update(&row, &PgAttribute { atthasdef: true, ..row.row.clone() })?;
    let this = ObjectAddress::of::<PgAttrdef>(oid);
    let kind = if generated { DepType::Internal } else { DepType::Auto };
    cat.record_dependency(this, ObjectAddress::column(table, number), kind)?;
    let list = std::slice::from_ref(expr);
    stored::record(host, this, list, table, DepType::Normal, DepType::Normal)
}

/// Whether one index serves both constraints. Their names, storage parameters and tablespaces are
/// not compared.
fn is_same_key(a: &Constraint, b: &Constraint) -> bool {
    a.contype != ConstrType::Exclusion
        && b.contype != ConstrType::Exclusion
        && a.keys == b.keys
        && a.including == b.including
        && a.nulls_not_distinct == b.nulls_not_distinct
        && (a.deferrable, a.initdeferred) == (b.deferrable, b.initdeferred)
        && (a.contype, b.contype) != (ConstrType::Primary, ConstrType::Primary)
}

/// The constraints without duplicates, the primary key first. Of equal ones the first is kept, with
/// the first name that is given. Counterpart: `transformIndexConstraints`.
pub fn distinct_keys(keys: &[Constraint]) -> Vec<Constraint> {
    let mut sorted: Vec<&Constraint> = keys.iter().collect();
    sorted.sort_by_key(|c| c.contype != ConstrType::Primary);
    let mut distinct: Vec<Constraint> = Vec::with_capacity(keys.len());
    for c in sorted {
        match distinct.iter_mut().find(|d| is_same_key(d, c)) {
            Some(first) if first.conname.is_none() => first.conname = c.conname.clone(),
            Some(_) => {}
            None => distinct.push(c.clone()),
        }
    }
    distinct
}

/// The key columns of an exclusion constraint and their operators.
fn excluded_columns(c: &Constraint) -> (Vec<IndexElem>, Vec<Vec<ast::Node>>) {
    let pairs = c.exclusions.iter().filter_map(|pair| match &pair[..] {
        [ast::Node::IndexElem(elem), ast::Node::List(operator)] => {
            Some(((**elem).clone(), operator.to_vec()))
        }
        _ => None,
    });
    pairs.unzip()
}

/// Creates PRIMARY KEY, UNIQUE and exclusion constraints, the primary key first. The caller sets
/// `columns` NOT NULL.
pub fn add_keys(
    host: &mut dyn CommandHost,
    table: Oid,
    keys: &[Constraint],
    how: Creation,
    sql: &str,
) -> Result<()> {
    for c in &distinct_keys(keys) {
        let rel = host.catalog().relation(table)?;
        let elem =
            |name: &ast::Name| IndexElem { name: Some(name.clone()), ..IndexElem::default() };
        let (excluded, exclude_op_names) = excluded_columns(c);
        let stmt = IndexStmt {
            idxname: c.conname.clone(),
            access_method: c.access_method.clone(),
            where_clause: c.where_clause.clone(),
            exclude_op_names,
            index_params: c.keys.iter().map(elem).chain(excluded).collect(),
            index_including_params: c.including.iter().map(elem).collect(),
            options: c.options.clone(),
            table_space: c.indexspace.clone(),
            reset_default_tblspc: c.reset_default_tblspc,
            unique: c.contype != ConstrType::Exclusion,
            primary: c.contype == ConstrType::Primary,
            isconstraint: true,
            deferrable: c.deferrable,
            initdeferred: c.initdeferred,
            nulls_not_distinct: c.nulls_not_distinct,
            ..IndexStmt::default()
        };
        let new = index::describe(host, &stmt, &rel, sql)?;
        indexes::create(host, &rel, &new, how)?;
    }
    Ok(())
}
