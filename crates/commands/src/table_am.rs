//! Access methods of tables. All of them have the handler of heap, under other names. Counterpart:
//! `get_table_am_oid` of amcmds.c, `ATPrepSetAccessMethod` of tablecmds.c.

use catalog::rows::{CatalogRow, PgAm, PgClass};
use catalog::{ObjectAddress, RelDesc};
use ids::Oid;
use ids::code::AmType;
use pgerror::{Result, bail};
use utility::class;
use utility::host::CommandHost;

/// The access method with this name, or that of `default_table_access_method`. Errors 42704 and
/// 55000.
pub fn named(host: &mut dyn CommandHost, name: Option<&str>) -> Result<Oid> {
    let name = match name {
        Some(name) => name.to_owned(),
        None => host.setting("default_table_access_method"),
    };
    match host.catalog().find_access_method(&name)? {
        None => bail!(UNDEFINED_OBJECT, "access method \"{name}\" does not exist"),
        Some(am) if am.amtype != AmType::Table => {
            bail!(OBJECT_NOT_IN_PREREQUISITE_STATE, "access method \"{name}\" is not of type TABLE")
        }
        Some(am) => Ok(am.oid),
    }
}

/// Stores another access method of a table and of its TOAST table.
pub fn set(host: &mut dyn CommandHost, rel: &RelDesc, method: Oid) -> Result<()> {
    let mut cat = host.catalog();
    let tables = [Some(rel.oid()), rel.class.reltoastrelid.valid()];
    for table in tables.into_iter().flatten() {
        let row = class::row(&mut cat, table)?;
        cat.update(&row, &PgClass { relam: method, ..row.row.clone() })?;
    }
    let this = ObjectAddress::relation(rel.oid());
    cat.change_dependency(this, PgAm::RELATION, rel.class.relam, method)?;
    cat.increment_command_counter()
}
