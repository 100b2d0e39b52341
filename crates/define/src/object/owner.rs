//! The owner of an object: its column, its entries in the ACL, and `pg_shdepend`.
//!
//! Counterpart: `changeDependencyOnOwner`, the end of `AlterObjectOwner_internal`.

use catalog::ObjectAddress;
use catalog::acl::{CREATE, Kind};
use catalog::object::ObjectRow;
use catalog::rows::{AclItem, indexes};
use ids::Oid;
use ids::code::SharedDepType;
use pgerror::{Result, bail};
use utility::acl_list;
use utility::host::CommandHost;

/// Gives the object another owner, which gets the privileges of the old owner.
pub fn set(host: &mut dyn CommandHost, row: &ObjectRow, owner: Oid) -> Result<()> {
    let Some(old) = row.owner()? else { return Ok(()) };
    if old == owner {
        return Ok(());
    }
    let mut new = row.with_owner(owner);
    if let Some((Some(list), _)) = row.acl()? {
        new = new.with_acl(&Some(acl_list::new_owner(&list, old, owner)));
    }
    host.catalog().update_object(row, &new)?;
    record(host, row.class.address(row.oid()?), owner)
}

/// Transfers the old owner's privileges to the new owner.
pub fn acl_of(list: Option<Vec<AclItem>>, old: Oid, new: Oid) -> Option<Vec<AclItem>> {
    list.map(|l| acl_list::new_owner(&l, old, new))
}

/// Updates the owner in `pg_shdepend`; the new owner needs no separate dependency for privileges.
pub fn record(host: &mut dyn CommandHost, this: ObjectAddress, owner: Oid) -> Result<()> {
    let mut cat = host.catalog();
    let shared = catalog::write::is_shared_catalog(this.class);
    let database = if shared { Oid::INVALID } else { cat.session.catalog.database() };
    // ACLs of columns may contain the new owner.
    let keys = [database.into(), this.class.into(), this.object.into()];
    for d in cat.scan(indexes::PG_SHDEPEND_DEPENDER_INDEX, &keys)? {
        // The owner's own ACL entries are not recorded as dependencies.
        if d.deptype == SharedDepType::Owner && d.objsubid == 0
            || d.deptype == SharedDepType::Acl && d.refobjid == owner
        {
            cat.delete(&d)?;
        }
    }
    cat.record_owner(this, owner)?;
    cat.increment_command_counter()
}

/// Error 42501 unless the role, which will own an object in the schema, may create objects there.
pub fn may_create_in(host: &mut dyn CommandHost, role: Oid, schema: Oid) -> Result<()> {
    let what = format_args!("namespace {schema}");
    let row = host.catalog().get(catalog::cache::NAMESPACEOID, &[schema.into()], what)?;
    let list = row.nspacl.as_deref();
    if !host.catalog().has_privilege(role, row.nspowner, list, Kind::Schema, CREATE)? {
        bail!(INSUFFICIENT_PRIVILEGE, "permission denied for schema {}", row.nspname);
    }
    Ok(())
}
