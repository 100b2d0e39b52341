//! CREATE LANGUAGE.
//!
//! Counterpart: proclang.c.

use crate::routine::lookup::{exact, shown};
use catalog::ObjectAddress;
use catalog::rows::{Name, PgLanguage, PgProc, indexes};
use ids::Oid;
use ids::code::DepType;
use parse::ast::{self, CreatePLangStmt};
use pgerror::{Result, bail};
use types::oids;
use utility::host::CommandHost;
use utility::names;

/// The function of an optional clause.
fn function(host: &mut dyn CommandHost, names: &[ast::Name], args: &[Oid]) -> Result<Oid> {
    match names.is_empty() {
        true => Ok(Oid::INVALID),
        false => Ok(exact(host, names, args)?.oid),
    }
}

/// CREATE LANGUAGE with a handler; without one it is CREATE EXTENSION.
pub fn create(host: &mut dyn CommandHost, stmt: &CreatePLangStmt) -> Result<()> {
    if !names::is_superuser(host)? {
        bail!(INSUFFICIENT_PRIVILEGE, "must be superuser to create custom procedural language");
    }
    let handler = exact(host, &stmt.plhandler, &[])?;
    if handler.prorettype != oids::LANGUAGE_HANDLER {
        bail!(
            WRONG_OBJECT_TYPE,
            "function {} must return type language_handler",
            shown(&stmt.plhandler)
        );
    }
    let inline = function(host, &stmt.plinline, &[oids::INTERNAL])?;
    let validator = function(host, &stmt.plvalidator, &[oids::OID])?;
    let owner = names::user(host);
    let name = stdx::clip(&stmt.plname, 63);
    let mut cat = host.catalog();
    let old = cat.find_language(name)?;
    let mut row = PgLanguage {
        oid: Oid::INVALID,
        lanname: Name::new(name),
        lanowner: owner,
        lanispl: true,
        lanpltrusted: stmt.pltrusted,
        lanplcallfoid: handler.oid,
        laninline: inline,
        lanvalidator: validator,
        lanacl: None,
    };
    let is_new = old.is_none();
    match old {
        Some(_) if !stmt.replace => bail!(DUPLICATE_OBJECT, "language \"{name}\" already exists"),
        Some(old) => {
            (row.oid, row.lanowner, row.lanacl) = (old.oid, old.lanowner, old.lanacl.clone());
            cat.update(&old, &row)?;
            cat.delete_dependencies(ObjectAddress::of::<PgLanguage>(old.oid), true)?;
        }
        None => {
            row.oid = cat.new_oid(indexes::PG_LANGUAGE_OID_INDEX)?;
            cat.insert(&row)?;
        }
    }
    let this = ObjectAddress::of::<PgLanguage>(row.oid);
    if is_new {
        cat.record_owner(this, owner)?;
    }
    let functions = [handler.oid, inline, validator];
    let functions: Vec<ObjectAddress> =
        functions.into_iter().filter(|f| f.is_valid()).map(ObjectAddress::of::<PgProc>).collect();
    cat.record_dependencies(this, &functions, DepType::Normal)?;
    cat.increment_command_counter()
}
