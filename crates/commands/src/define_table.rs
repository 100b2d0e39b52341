//! CREATE TABLE.
//!
//! Counterpart: parse_utilcmd.c (`transformCreateStmt`, `transformOfType`), tablecmds.c
//! (`DefineRelation`).

use crate::constraint::CheckMode;
use crate::create_table::{self, Column, Constraints};
use crate::foreign_key::{self, Addition};
use crate::inherit::Merge;
use crate::like::{self, DeferredObjects};
use crate::partitions::indexes::{self, Cause, Creation};
use crate::partitions::{attach, bound, key, triggers};
use crate::relation::{self, COLUMNS_MAX, NewColumn, NewRelation};
use crate::{constraint, hierarchy, inherit, sequence, table_am, toast};
use analyze::SessionLookup;
use catalog::rows::{PgClass, PgType};
use catalog::{ObjectAddress, RelDesc};
use clusterwide::tablespace;
use define::creation;
use ids::code::{DepType, TypType};
use ids::{AttrNo, Oid, Persistence, RelKind};
use parse::ast::{
    ColumnDef, ConstrType, Constraint, CreateStmt, Node, OnCommitAction, PartitionBoundSpec,
    TypeName,
};
use pgerror::{PgError, Result, bail, pg_err};
use std::sync::Arc;
use utility::host::{CommandHost, notice};
use utility::{class, names, reloptions};

/// The elements of the statement.
#[derive(Default)]
struct Elements {
    columns: Vec<Column>,
    constraints: Constraints,
    later: DeferredObjects,
    /// The composite type of a typed table.
    of_type: Option<Oid>,
}

/// CREATE TABLE.
pub fn create_table(host: &mut dyn CommandHost, stmt: &CreateStmt, sql: &str) -> Result<()> {
    create_table::check_on_commit(stmt.oncommit, &stmt.relation)?;
    let place = parse::position(sql, stmt.relation.location);
    let (schema, persistence) =
        creation::creation_target(host, &stmt.relation).map_err(|e| e.at(place))?;
    let name = stdx::clip(&stmt.relation.relname, 63).to_string();
    if stmt.if_not_exists && host.catalog().relation_in(schema, &name)?.is_some() {
        host.notice(notice(pg_err!(
            DUPLICATE_TABLE,
            "relation \"{name}\" already exists, skipping"
        )));
        return Ok(());
    }
    let access_method = match (&stmt.access_method, &stmt.partspec) {
        (Some(_), Some(_)) => bail!(
            FEATURE_NOT_SUPPORTED,
            "specifying a table access method is not supported on a partitioned table"
        ),
        (None, Some(_)) => Oid::INVALID,
        (name, None) => table_am::named(host, name.as_deref())?,
    };
    let mut elements = elements(host, stmt, &name, sql)?;
    let is_partition = stmt.partbound.is_some();
    let parents = inherit::open_parents(host, &stmt.inh_relations, is_partition)?;
    let tablespace = table_space(host, stmt, persistence, parents.first())?;
    let merge = Merge { parents: &parents, persistence, is_partition };
    let (mut columns, checks) = merge.columns(host, std::mem::take(&mut elements.columns))?;
    primary_key_columns(&mut columns, &elements.constraints, &name, sql)?;
    check_key_columns(&columns, &elements.constraints, sql)?;
    for elt in &stmt.table_elts {
        let Node::ColumnDef(def) = elt else { continue };
        analyze::ddl::check_not_set(def)?;
        create_table::repeat_notices(host, def)?;
    }
    let kind = match stmt.partspec {
        Some(_) => RelKind::PartitionedTable,
        None => RelKind::Table,
    };
    let options = match kind {
        RelKind::PartitionedTable => reloptions::partitioned_options(&stmt.options)?,
        _ => reloptions::table_options(&stmt.options)?,
    };
    let toast_options = reloptions::toast_options(&stmt.options)?;
    let owner = names::user(host);
    let sequences =
        create_table::create_sequences(host, &mut columns, &name, schema, persistence, owner, sql)?;
    create_table::report_sequences(host, "CREATE TABLE", &name, &columns, &sequences)?;
    let plain: Vec<NewColumn> = columns.iter().map(|c| c.column.clone()).collect();
    let spec = NewRelation {
        name: &name,
        namespace: schema,
        kind,
        persistence,
        owner,
        tablespace,
        access_method,
        columns: &plain,
        options,
    };
    let oid = relation::create(host, &spec)?;
    if let Some(ty) = elements.of_type {
        set_type(host, oid, ty)?;
    }
    constraint::add_inherited(host, oid, &checks)?;
    store_defaults(host, oid, &columns, sql)?;
    join_tree(host, oid, stmt, &parents, sql)?;
    let own: Vec<&Constraint> = elements.constraints.checks.iter().collect();
    constraint::add_checks(host, oid, &own, CheckMode::CREATE, sql)?;
    toast::add_toast(host, oid, toast_options)?;
    let how = Creation { filled: true, recurse: true, by: Cause::CreateTable };
    create_table::add_keys(host, oid, &elements.constraints.keys, how, sql)?;
    for (sequence, number, identity) in sequences {
        sequence::own_column(host, sequence, oid, number, identity)?;
    }
    like::finish(host, oid, elements.later)?;
    for foreign in &elements.constraints.foreign {
        let how = Addition { validate: false, recurse: true };
        foreign_key::add(host, oid, foreign, how)?;
    }
    match stmt.oncommit {
        OnCommitAction::DeleteRows => host.on_commit(oid, false),
        OnCommitAction::Drop => host.on_commit(oid, true),
        _ => {}
    }
    Ok(())
}

/// Transforms the elements of the statement, and the columns of the type of a typed table.
fn elements(
    host: &mut dyn CommandHost,
    stmt: &CreateStmt,
    name: &str,
    sql: &str,
) -> Result<Elements> {
    let mut out = Elements::default();
    if let Some(ty) = &stmt.of_typename {
        let (oid, columns) = type_columns(host, ty)?;
        out.of_type = Some(oid);
        out.columns = columns;
    }
    if stmt.partspec.is_some() && !stmt.inh_relations.is_empty() && stmt.partbound.is_none() {
        bail!(INVALID_OBJECT_DEFINITION, "cannot create partitioned table as inheritance child");
    }
    let mut own: Vec<Column> = Vec::new();
    for elt in &stmt.table_elts {
        match elt {
            Node::ColumnDef(def) => {
                check_options(stmt, def)?;
                let constraints = &mut out.constraints;
                own.push(create_table::column(host, def, name, constraints, sql)?);
            }
            Node::Constraint(c) => {
                if c.contype == ConstrType::Exclusion && stmt.partspec.is_some() {
                    return Err(no_exclusion().at(parse::position(sql, c.location)));
                }
                table_constraint(c, &mut out.constraints)?;
            }
            Node::TableLikeClause(like) => {
                let (all, later) = (&mut out.constraints, &mut out.later);
                like::add(host, like, &mut own, all, later, sql)?;
            }
            _ => return Err(PgError::unsupported("this element of CREATE TABLE")),
        }
    }
    let is_typed = out.of_type.is_some();
    if own.len() > COLUMNS_MAX {
        bail!(TOO_MANY_COLUMNS, "tables can have at most {COLUMNS_MAX} columns");
    }
    for (i, column) in own.iter().enumerate() {
        let name = &column.column.name;
        let found = out.columns.iter().any(|c| c.column.name == *name);
        let is_option = !column.column.ty.is_valid();
        if is_option && stmt.partbound.is_none() && !(is_typed && found) {
            bail!(UNDEFINED_COLUMN, "column \"{name}\" does not exist");
        }
        if own[i + 1..].iter().any(|c| c.column.name == *name) {
            bail!(DUPLICATE_COLUMN, "column \"{name}\" specified more than once");
        }
    }
    for column in own {
        match out.columns.iter_mut().find(|c| is_typed && c.column.name == column.column.name) {
            Some(of_type) => {
                of_type.column.not_null = column.column.not_null;
                of_type.default = column.default;
            }
            None => out.columns.push(column),
        }
    }
    Ok(out)
}

/// 0A000: an exclusion constraint of a partitioned table.
pub fn no_exclusion() -> PgError {
    pg_err!(FEATURE_NOT_SUPPORTED, "exclusion constraints are not supported on partitioned tables")
}

/// Error 0A000 for options that a column of a typed table or a partition cannot have.
fn check_options(stmt: &CreateStmt, def: &ColumnDef) -> Result<()> {
    let of = match (&stmt.of_typename, &stmt.partbound) {
        (Some(_), _) => "typed tables",
        (None, Some(_)) => "partitions",
        (None, None) => return Ok(()),
    };
    for c in &def.constraints {
        let what = match c.contype {
            ConstrType::Identity => "identity",
            ConstrType::Generated => "generated",
            _ => continue,
        };
        bail!(FEATURE_NOT_SUPPORTED, "{what} columns are not supported on {of}");
    }
    Ok(())
}

/// The composite type of a typed table, and its columns.
fn type_columns(host: &mut dyn CommandHost, name: &TypeName) -> Result<(Oid, Vec<Column>)> {
    let (oid, rel) = composite_type(host, name)?;
    let mut columns = Vec::new();
    for a in rel.attributes.iter().filter(|a| !a.attisdropped) {
        let column = NewColumn::new(a.attname.as_str(), a.atttypid, a.atttypmod, a.attcollation);
        columns.push(Column {
            column,
            default: None,
            stored_default: None,
            generated: false,
            sequence: None,
        });
    }
    Ok((oid, columns))
}

/// The composite type with this name, and the descriptor of its columns. Error 42809 for other
/// types. Counterpart: `check_of_type`.
pub fn composite_type(host: &mut dyn CommandHost, name: &TypeName) -> Result<(Oid, Arc<RelDesc>)> {
    let (oid, _) = analyze::ddl::type_name(&mut SessionLookup::new(host), name, "")?;
    let row = host.catalog().type_row(oid)?;
    if row.typtype == TypType::Composite {
        host.lock_relation(row.typrelid, names::mode::ACCESS_SHARE)?;
        let rel = host.catalog().relation(row.typrelid)?;
        if rel.kind() == RelKind::CompositeType {
            names::check_type_privilege(host, oid)?;
            return Ok((oid, rel));
        }
    }
    let shown = host.catalog().format_type(oid)?;
    bail!(WRONG_OBJECT_TYPE, "type {shown} is not a composite type")
}

/// Makes the table a typed one.
pub fn set_type(host: &mut dyn CommandHost, table: Oid, ty: Oid) -> Result<()> {
    let mut cat = host.catalog();
    let row = class::row(&mut cat, table)?;
    cat.update(&row, &PgClass { reloftype: ty, ..row.row.clone() })?;
    let (this, on) = (ObjectAddress::relation(table), ObjectAddress::of::<PgType>(ty));
    cat.record_dependency(this, on, DepType::Normal)?;
    cat.increment_command_counter()
}

/// The tablespace of the new table. A partition is in that of its parent if none is given.
fn table_space(
    host: &mut dyn CommandHost,
    stmt: &CreateStmt,
    persistence: Persistence,
    parent: Option<&Arc<RelDesc>>,
) -> Result<Oid> {
    let temporary = persistence == Persistence::Temporary;
    let name = stmt.tablespacename.as_deref();
    if name.is_none()
        && stmt.partbound.is_some()
        && let Some(oid) = parent.and_then(|p| p.class.reltablespace.valid())
    {
        return Ok(oid);
    }
    match stmt.partspec {
        Some(_) => tablespace::of_partitioned(host, name, temporary),
        None => tablespace::of_relation(host, name, temporary),
    }
}

/// Stores the place of the new table among other tables: its bound, its parents, its own partition
/// key, and the parts of a partition that those of the partitioned table require.
fn join_tree(
    host: &mut dyn CommandHost,
    oid: Oid,
    stmt: &CreateStmt,
    parents: &[Arc<RelDesc>],
    sql: &str,
) -> Result<()> {
    let bound = match (&stmt.partbound, parents.first()) {
        (Some(spec), Some(parent)) => Some((&**spec, parent)),
        _ => None,
    };
    if let Some((spec, parent)) = bound {
        store_bound(host, oid, parent, spec, sql)?;
    }
    hierarchy::store(host, oid, parents, bound.is_some())?;
    if let Some(spec) = &stmt.partspec {
        key::store(host, oid, spec, sql)?;
    }
    let Some((_, parent)) = bound else { return Ok(()) };
    let parent = host.catalog().relation(parent.oid())?;
    indexes::ensure_all(host, &parent, oid, Cause::CreateTable)?;
    triggers::clone_to_partition(host, parent.oid(), oid)?;
    foreign_key::clone_to_partition(host, parent.oid(), oid)?;
    Ok(())
}

fn store_bound(
    host: &mut dyn CommandHost,
    oid: Oid,
    parent: &RelDesc,
    spec: &PartitionBoundSpec,
    sql: &str,
) -> Result<()> {
    if parent.kind() != RelKind::PartitionedTable {
        bail!(INVALID_OBJECT_DEFINITION, "\"{}\" is not partitioned", parent.name());
    }
    let default = bound::lock_default(host, parent)?;
    let new = bound::transform(host, parent, spec, sql)?;
    let name = host.catalog().class(oid)?.relname;
    bound::check(host, name.as_str(), parent, &new, sql)?;
    if let Some(default) = default {
        attach::check_default(host, parent, default, &new.bound)?;
    }
    bound::store(host, oid, parent.oid(), &new)
}

fn table_constraint(c: &Constraint, constraints: &mut Constraints) -> Result<()> {
    match c.contype {
        ConstrType::Check => constraints.checks.push(c.clone()),
        ConstrType::Primary | ConstrType::Unique | ConstrType::Exclusion => {
            constraints.keys.push(c.clone());
        }
        ConstrType::Foreign => constraints.foreign.push(c.clone()),
        _ => return Err(PgError::unsupported("this table constraint")),
    }
    Ok(())
}

/// Marks the primary key columns NOT NULL. An error if there is more than one primary key.
fn primary_key_columns(
    columns: &mut [Column],
    constraints: &Constraints,
    table: &str,
    sql: &str,
) -> Result<()> {
    let mut primary = constraints.keys.iter().filter(|c| c.contype == ConstrType::Primary);
    let Some(key) = primary.next() else { return Ok(()) };
    if let Some(second) = primary.next() {
        let e = pg_err!(
            INVALID_TABLE_DEFINITION,
            "multiple primary keys for table \"{table}\" are not allowed"
        );
        return Err(e.at(parse::position(sql, second.location)));
    }
    for name in &key.keys {
        if let Some(c) = columns.iter_mut().find(|c| c.column.name == **name) {
            c.column.not_null = true;
        }
    }
    Ok(())
}

/// Error 42703 for a key column that does not exist, 42701 for one that a key has twice.
fn check_key_columns(columns: &[Column], constraints: &Constraints, sql: &str) -> Result<()> {
    for key in &constraints.keys {
        for (i, name) in key.keys.iter().chain(&key.including).enumerate() {
            let system = crate::relation::SYSTEM_COLUMNS.iter().any(|s| s.0 == &**name);
            if !system && !columns.iter().any(|c| c.column.name == **name) {
                let e = pg_err!(UNDEFINED_COLUMN, "column \"{name}\" named in key does not exist");
                return Err(e.at(parse::position(sql, key.location)));
            }
            if i < key.keys.len() {
                create_table::check_key_twice(key, i, sql)?;
            }
        }
    }
    Ok(())
}

/// Stores the defaults of new columns.
fn store_defaults(
    host: &mut dyn CommandHost,
    oid: Oid,
    columns: &[Column],
    sql: &str,
) -> Result<()> {
    let mut any = false;
    for (i, c) in columns.iter().enumerate() {
        let number = i as AttrNo + 1;
        let expr = match (&c.default, &c.stored_default) {
            (Some(node), _) => {
                create_table::default_expr(host, oid, &c.column, node, c.generated, sql)?
            }
            (None, Some(e)) => Some(e.clone()),
            (None, None) => None,
        };
        if let Some(expr) = expr {
            any = true;
            create_table::set_default(host, oid, number, &expr, c.generated)?;
        }
    }
    if any {
        host.catalog().increment_command_counter()?;
    }
    Ok(())
}
