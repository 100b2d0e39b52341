//! DROP OWNED and REASSIGN OWNED, and changes of ownership for objects of any kind.
//!
//! Counterpart: pg_shdepend.c (`shdepDropOwned`, `shdepReassignOwned`), alter.c
//! (`AlterObjectOwner_internal`).

use crate::alter_table;
use crate::grant::{self, defaults};
use catalog::depend::is_pinned;
use catalog::object::ObjectClass;
use catalog::rows::{
    CatalogRow, PgAuthid, PgClass, PgDefaultAcl, PgPolicy, PgShdepend, PgType, indexes,
};
use catalog::{ObjectAddress, Row};
use define::deletion;
use define::object::owner;
use ids::Oid;
use ids::code::{SharedDepType, TypType};
use parse::ast::{DropOwnedStmt, ReassignOwnedStmt, RoleSpec};
use pgerror::{PgError, Result, bail};
use utility::acl_object::AclObject;
use utility::host::CommandHost;
use utility::names;

/// The roles of the statement. Error 42501 if the user lacks their privileges.
fn roles(host: &mut dyn CommandHost, specs: &[RoleSpec], what: &str) -> Result<Vec<Oid>> {
    let mut out = Vec::with_capacity(specs.len());
    for spec in specs {
        let role = names::role_oid(host, spec)?;
        if !names::is_owner(host, role)? {
            bail!(INSUFFICIENT_PRIVILEGE, "permission denied to {what} objects");
        }
        if is_pinned(PgAuthid::RELATION, role) {
            let shown = host.catalog().role_name(role)?;
            let verb = if what == "drop" { "drop" } else { "reassign ownership of" };
            bail!(
                DEPENDENT_OBJECTS_STILL_EXIST,
                "cannot {verb} objects owned by role {shown} because they are required by the \
                 database system"
            );
        }
        out.push(role);
    }
    Ok(out)
}

/// The `pg_shdepend` rows of this database, and of shared objects, that refer to the role.
fn uses(host: &mut dyn CommandHost, role: Oid) -> Result<Vec<Row<PgShdepend>>> {
    let mut cat = host.catalog();
    let here = cat.session.catalog.database();
    let keys = [PgAuthid::RELATION.into(), role.into()];
    let rows = cat.scan(indexes::PG_SHDEPEND_REFERENCE_INDEX, &keys)?;
    Ok(rows.into_iter().filter(|d| d.dbid == here || !d.dbid.is_valid()).collect())
}

fn address(d: &PgShdepend) -> ObjectAddress {
    ObjectAddress { class: d.classid, object: d.objid, sub: d.objsubid }
}

/// DROP OWNED.
pub fn drop_owned(host: &mut dyn CommandHost, stmt: &DropOwnedStmt) -> Result<()> {
    let roles = roles(host, &stmt.roles, "drop")?;
    let mut objects = Vec::new();
    for role in roles {
        for d in uses(host, role)? {
            let shared = catalog::write::is_shared_catalog(d.classid);
            match d.deptype {
                SharedDepType::Acl if d.classid == PgDefaultAcl::RELATION => {
                    defaults::drop_member(host, d.objid, role)?;
                }
                SharedDepType::Acl => {
                    let subject = AclObject { class: d.classid, oid: d.objid, column: 0 };
                    grant::revoke_all(host, subject, role)?;
                }
                // Databases and tablespaces are not dropped.
                SharedDepType::Owner if !shared => objects.push(address(&d)),
                SharedDepType::Policy if !remove_from_policy(host, &d, role)? => {
                    objects.push(address(&d))
                }
                _ => {}
            }
        }
    }
    if objects.is_empty() {
        return Ok(());
    }
    // Newest first, because dependents are usually newer than the objects on which they depend.
    objects.sort_by_key(|o| (std::cmp::Reverse(o.object), o.class, o.sub));
    deletion::drop_objects(host, &objects, deletion::behavior(stmt.behavior), false)
}

/// Removes the role from a policy. Returns false if it is the only role of the policy, which must
/// then be dropped. Counterpart: `RemoveRoleFromObjectPolicy`.
fn remove_from_policy(
    host: &mut dyn CommandHost,
    use_of: &Row<PgShdepend>,
    role: Oid,
) -> Result<bool> {
    let mut cat = host.catalog();
    let Some(row) = cat.scan(indexes::PG_POLICY_OID_INDEX, &[use_of.objid.into()])?.pop() else {
        return Ok(true);
    };
    let polroles: Vec<Oid> = row.polroles.iter().copied().filter(|r| *r != role).collect();
    if polroles.is_empty() {
        return Ok(false);
    }
    cat.update(&row, &PgPolicy { polroles, ..row.row.clone() })?;
    cat.delete(use_of)?;
    cat.invalidate_relation(row.polrelid, false);
    cat.increment_command_counter()?;
    Ok(true)
}

/// REASSIGN OWNED.
pub fn reassign_owned(host: &mut dyn CommandHost, stmt: &ReassignOwnedStmt) -> Result<()> {
    let old = roles(host, &stmt.roles, "reassign")?;
    let new = names::role_oid(host, &stmt.newrole)?;
    if !names::is_owner(host, new)? {
        bail!(INSUFFICIENT_PRIVILEGE, "permission denied to reassign objects");
    }
    for role in old {
        for d in uses(host, role)? {
            if d.deptype != SharedDepType::Owner || d.classid == PgDefaultAcl::RELATION {
                continue;
            }
            reassign(host, address(&d), new)?;
        }
    }
    Ok(())
}

/// Changes the owner of an object, without a permission check.
pub fn reassign(host: &mut dyn CommandHost, object: ObjectAddress, owner: Oid) -> Result<()> {
    let oid = object.object;
    match object.class {
        PgClass::RELATION => return alter_table::change_owner(host, oid, owner, false),
        PgType::RELATION => {
            let row = host.catalog().type_row(oid)?;
            if row.typtype == TypType::Composite {
                return alter_table::change_owner(host, row.typrelid, owner, false);
            }
            if let Some(array) = row.typarray.valid()
                && let Some(row) = host.catalog().find_type(array)?
            {
                host.catalog().update(&row, &PgType { typowner: owner, ..row.row.clone() })?;
            }
        }
        _ => {}
    }
    let class = object.class;
    let class = ObjectClass::of(class)
        .filter(|class| class.has_owner())
        .ok_or_else(|| PgError::unsupported(format!("OWNER TO of objects of catalog {class}")))?;
    let row = host.catalog().object_row(class, oid)?;
    owner::set(host, &row, owner)
}
