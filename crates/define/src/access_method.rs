//! CREATE ACCESS METHOD.
//!
//! Counterpart: amcmds.c.

use crate::routine::lookup::{exact, shown};
use catalog::ObjectAddress;
use catalog::rows::{Name, PgAm, PgProc, indexes};
use ids::code::{AmType, DepType};
use parse::ast::CreateAmStmt;
use pgerror::{Result, bail, pg_err};
use types::oids;
use utility::host::CommandHost;
use utility::names;

pub fn create(host: &mut dyn CommandHost, stmt: &CreateAmStmt) -> Result<()> {
    let name = stdx::clip(&stmt.amname, 63);
    if !names::is_superuser(host)? {
        let e =
            pg_err!(INSUFFICIENT_PRIVILEGE, "permission denied to create access method \"{name}\"");
        return Err(e.hint("Must be superuser to create an access method."));
    }
    if host.catalog().find_access_method(name)?.is_some() {
        bail!(DUPLICATE_OBJECT, "access method \"{name}\" already exists");
    }
    if stmt.handler_name.is_empty() {
        bail!(UNDEFINED_FUNCTION, "handler function is not specified");
    }
    let handler = exact(host, &stmt.handler_name, &[oids::INTERNAL])?;
    let (amtype, wanted, type_name) = match stmt.amtype {
        b't' => (AmType::Table, oids::TABLE_AM_HANDLER, "table_am_handler"),
        _ => (AmType::Index, oids::INDEX_AM_HANDLER, "index_am_handler"),
    };
    if handler.prorettype != wanted {
        let function = shown(&stmt.handler_name);
        bail!(WRONG_OBJECT_TYPE, "function {function} must return type {type_name}");
    }
    let mut cat = host.catalog();
    let oid = cat.new_oid(indexes::PG_AM_OID_INDEX)?;
    cat.insert(&PgAm { oid, amname: Name::new(name), amhandler: handler.oid, amtype })?;
    let functions = [ObjectAddress::of::<PgProc>(handler.oid)];
    cat.record_dependencies(ObjectAddress::of::<PgAm>(oid), &functions, DepType::Normal)?;
    cat.increment_command_counter()
}
