//! CREATE SCHEMA, and ALTER SCHEMA.
//!
//! Counterpart: schemacmds.c.

use catalog::rows::{Name, PgNamespace, indexes};
use catalog::{ObjectAddress, Row, acl};
use define::default_acl;
use define::object::owner;
use ids::Oid;
use parse::ast::{CreateSchemaStmt, Node, ObjectType};
use pgerror::{PgError, Result, bail, pg_err};
use utility::host::{CommandHost, notice};
use utility::names;

/// The row of the schema. Error 42501 unless the user owns the schema.
pub fn row(host: &mut dyn CommandHost, name: &str) -> Result<Row<PgNamespace>> {
    let mut cat = host.catalog();
    let Some(oid) = cat.find_namespace(name)? else {
        bail!(INVALID_SCHEMA_NAME, "schema \"{name}\" does not exist")
    };
    let row = cat.scan(indexes::PG_NAMESPACE_OID_INDEX, &[oid.into()])?.pop();
    let row = row.ok_or_else(|| PgError::internal("schema without a row"))?;
    if !names::is_owner(host, row.nspowner)? {
        bail!(INSUFFICIENT_PRIVILEGE, "must be owner of schema {name}");
    }
    Ok(row)
}

pub fn rename(host: &mut dyn CommandHost, old: &str, new: &str) -> Result<()> {
    let row = row(host, old)?;
    check_schema_name(host, new)?;
    let mut cat = host.catalog();
    cat.update(&row, &PgNamespace { nspname: Name::new(new), ..row.row.clone() })?;
    cat.increment_command_counter()
}

fn check_schema_name(host: &mut dyn CommandHost, name: &str) -> Result<()> {
    if name.starts_with("pg_") {
        return Err(pg_err!(RESERVED_NAME, "unacceptable schema name \"{name}\"")
            .detail("The prefix \"pg_\" is reserved for system schemas."));
    }
    if host.catalog().find_namespace(name)?.is_some() {
        bail!(DUPLICATE_SCHEMA, "schema \"{name}\" already exists");
    }
    Ok(())
}

/// CREATE SCHEMA; `run` runs its schema elements.
pub fn create_schema(
    host: &mut dyn CommandHost,
    stmt: &CreateSchemaStmt,
    run: &mut dyn FnMut(&mut dyn CommandHost, &Node) -> Result<()>,
) -> Result<()> {
    let user = names::user(host);
    let owner = match &stmt.authrole {
        Some(role) => names::role_oid(host, role)?,
        None => user,
    };
    let name = match &stmt.schemaname {
        Some(name) => name.to_string(),
        None => host.catalog().role_name(owner)?,
    };
    let name = stdx::clip(&name, 63).to_string();
    let database = host.backend().database();
    if let Some(row) = host.catalog().database(database)? {
        let (kind, list) = (acl::Kind::Database, row.datacl.as_deref());
        if !host.catalog().has_privilege(user, row.datdba, list, kind, acl::CREATE)? {
            bail!(INSUFFICIENT_PRIVILEGE, "permission denied for database {}", row.datname);
        }
    }
    names::must_be_member(host, owner)?;
    if stmt.if_not_exists && host.catalog().find_namespace(&name)?.is_some() {
        host.notice(notice(pg_err!(
            DUPLICATE_SCHEMA,
            "schema \"{name}\" already exists, skipping"
        )));
        return Ok(());
    }
    check_schema_name(host, &name)?;
    let nspacl = default_acl::of_new_object(host, ObjectType::Schema, owner, Oid::INVALID)?;
    let mut cat = host.catalog();
    let oid = cat.new_oid(indexes::PG_NAMESPACE_OID_INDEX)?;
    cat.insert(&PgNamespace {
        oid,
        nspname: Name::new(&name),
        nspowner: owner,
        nspacl: nspacl.clone(),
    })?;
    let this = ObjectAddress::of::<PgNamespace>(oid);
    cat.record_owner(this, owner)?;
    default_acl::record_acl_dependencies(host, this, nspacl.as_deref(), owner)?;
    host.catalog().increment_command_counter()?;
    if stmt.schema_elts.is_empty() {
        return Ok(());
    }
    let mut elements: Vec<&Node> = stmt.schema_elts.iter().collect();
    elements.sort_by_key(|node| element_rank(node));
    // Elements refer to each other by unqualified names and belong to the schema's owner.
    let path = host.catalog().session.search_path().to_owned();
    let quoted = format!("\"{}\"", name.replace('"', "\"\""));
    let inner = if path.trim().is_empty() { quoted } else { format!("{quoted}, {path}") };
    host.catalog().session.set_search_path(&inner);
    host.catalog().session.set_user(owner);
    let made = elements.into_iter().try_for_each(|elt| {
        let elt = in_schema(elt, &name)?;
        run(host, &elt)
    });
    host.catalog().session.set_user(user);
    host.catalog().session.set_search_path(&path);
    made
}

/// Creation order of CREATE SCHEMA elements. Counterpart: `transformCreateSchemaStmtElements`.
fn element_rank(node: &Node) -> u8 {
    match node {
        Node::CreateSeqStmt(_) => 0,
        Node::CreateStmt(_) => 1,
        Node::ViewStmt(_) => 2,
        Node::IndexStmt(_) => 3,
        Node::GrantStmt(_) => 5,
        _ => 4,
    }
}

/// The schema element with its object qualified by the schema.
fn in_schema(node: &Node, schema: &str) -> Result<Node> {
    let mut node = node.clone();
    let rv = match &mut node {
        Node::CreateStmt(s) => Some(&mut s.relation),
        Node::ViewStmt(s) => Some(&mut s.view),
        Node::IndexStmt(s) => Some(&mut s.relation),
        Node::CreateSeqStmt(s) => Some(&mut s.sequence),
        _ => None,
    };
    if let Some(rv) = rv {
        match &rv.schemaname {
            Some(other) if **other != *schema => bail!(
                INVALID_SCHEMA_DEFINITION,
                "CREATE specifies a schema ({other}) different from the one being created \
                 ({schema})"
            ),
            _ => rv.schemaname = Some(schema.into()),
        }
    }
    Ok(node)
}

/// OWNER TO of a schema.
pub fn set_owner(host: &mut dyn CommandHost, name: &str, owner: Oid) -> Result<()> {
    let row = row(host, name)?;
    if !names::is_superuser(host)? {
        names::must_be_member(host, owner)?;
    }
    let this = ObjectAddress::of::<PgNamespace>(row.oid);
    let nspacl = owner::acl_of(row.nspacl.clone(), row.nspowner, owner);
    host.catalog().update(&row, &PgNamespace { nspowner: owner, nspacl, ..row.row.clone() })?;
    owner::record(host, this, owner)
}
