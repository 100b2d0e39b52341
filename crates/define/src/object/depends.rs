//! ALTER … DEPENDS ON EXTENSION: the object is dropped together with the extension.
//!
//! Counterpart: `ExecAlterObjectDependsStmt`.

use super::address;
use catalog::ObjectAddress;
use catalog::rows::PgExtension;
use ids::code::DepType;
use parse::ast::{AlterObjectDependsStmt, Node};
use pgerror::{PgError, Result};
use utility::host::CommandHost;

/// The name of the object, with that of the relation which it belongs to before it.
fn name_of(stmt: &AlterObjectDependsStmt) -> Option<Node> {
    let Some(rv) = &stmt.relation else { return stmt.object.clone() };
    let mut names: Vec<Node> = rv.schemaname.iter().cloned().map(Node::String).collect();
    names.push(Node::String(rv.relname.clone()));
    match &stmt.object {
        Some(Node::List(list)) => names.extend(list.iter().cloned()),
        Some(part) => names.push(part.clone()),
        None => {}
    }
    Some(Node::List(names.into()))
}

/// The object of the statement; errors if it does not exist.
pub(crate) fn find(
    host: &mut dyn CommandHost,
    stmt: &AlterObjectDependsStmt,
) -> Result<(ObjectAddress, Node)> {
    let Some(node) = name_of(stmt) else {
        return Err(PgError::internal("statement without an object"));
    };
    let found = address::resolve(host, stmt.object_type, &node, false)?;
    let object = found.ok_or_else(|| PgError::internal("object was not found"))?;
    Ok((object, node))
}

/// ALTER … [NO] DEPENDS ON EXTENSION.
pub fn alter(host: &mut dyn CommandHost, stmt: &AlterObjectDependsStmt) -> Result<()> {
    let (object, node) = find(host, stmt)?;
    address::must_own(host, object, &node)?;
    let name = stmt.extname.as_deref().unwrap_or_default();
    let found = host.catalog().find_extension(name)?;
    let Some(row) = found else {
        return Err(pgerror::pg_err!(UNDEFINED_OBJECT, "extension \"{name}\" does not exist"));
    };
    let extension = ObjectAddress::of::<PgExtension>(row.oid);
    let mut cat = host.catalog();
    let known = cat.dependencies_of(object)?.into_iter().filter(|d| {
        d.objsubid == object.sub
            && d.deptype == DepType::AutoExtension
            && (d.refclassid, d.refobjid) == (extension.class, extension.object)
    });
    let known: Vec<_> = known.collect();
    if stmt.remove {
        for row in known {
            cat.delete(&row)?;
        }
    } else if known.is_empty() {
        cat.record_dependency(object, extension, DepType::AutoExtension)?;
    }
    cat.increment_command_counter()
}
