//! Functions whose parameters or results have shell types, as the input and output functions of new
//! types.
//!
//! Counterpart: `compute_return_type` in functioncmds.c.

use super::lookup::type_of;
use crate::{basetype, typerow};
use ids::Oid;
use parse::ast::{CreateFunctionStmt, TypeName};
use pgerror::{Result, SqlState, bail, pg_err};
use utility::host::{CommandHost, notice};
use utility::options;

/// The language that the statement names; empty for an aggregate.
fn language_of(stmt: &CreateFunctionStmt) -> String {
    let given = stmt.options.iter().find(|d| &*d.defname == "language");
    given.and_then(|d| options::text(d).ok()).unwrap_or_default()
}

/// A parameter or result of a shell type, which functions of some languages can have.
pub(super) fn argument(
    host: &mut dyn CommandHost,
    stmt: &CreateFunctionStmt,
    ty: Oid,
) -> Result<Oid> {
    let shown = host.catalog().format_type(ty)?;
    match language_of(stmt).as_str() {
        "sql" => {
            bail!(INVALID_FUNCTION_DEFINITION, "SQL function cannot accept shell type {shown}")
        }
        "" => bail!(INVALID_FUNCTION_DEFINITION, "aggregate cannot accept shell type {shown}"),
        _ => {}
    }
    notice_outside_scripts(host, &format!("argument type {shown} is only a shell"));
    Ok(ty)
}

/// As [`argument`], for the result.
fn shell_result(host: &mut dyn CommandHost, stmt: &CreateFunctionStmt, ty: Oid) -> Result<Oid> {
    let shown = host.catalog().format_type(ty)?;
    if language_of(stmt) == "sql" {
        bail!(INVALID_FUNCTION_DEFINITION, "SQL function cannot return shell type {shown}");
    }
    notice_outside_scripts(host, &format!("return type {shown} is only a shell"));
    Ok(ty)
}

/// Scripts of extensions run with `client_min_messages` at least `warning`.
fn notice_outside_scripts(host: &mut dyn CommandHost, message: &str) {
    if host.catalog().session.creating_extension.is_none() {
        host.notice(notice(pg_err!(WRONG_OBJECT_TYPE, "{message}")));
    }
}

/// The result type that a name denotes. A type that does not exist is created as a shell for
/// functions of types, in languages whose functions can be input functions.
pub(super) fn result(
    host: &mut dyn CommandHost,
    stmt: &CreateFunctionStmt,
    name: &TypeName,
) -> Result<Oid> {
    if let Some(shell) = basetype::shell_type(host, name)? {
        return shell_result(host, stmt, shell);
    }
    let missing = match type_of(host, name) {
        Err(e) if e.code() == SqlState::UNDEFINED_OBJECT => e,
        other => return other,
    };
    if !matches!(language_of(stmt).as_str(), "c" | "internal") || !basetype::is_plain(name) {
        return Err(missing);
    }
    let shown = analyze::typename::type_name_text(name);
    let text = format!("type \"{shown}\" is not yet defined");
    host.notice(notice(
        pg_err!(UNDEFINED_OBJECT, "{text}").detail("Creating a shell type definition."),
    ));
    let (schema, last) = typerow::new_name(host, &name.names)?;
    basetype::create_shell(host, schema, &last)
}
