//! DROP OWNED and REASSIGN OWNED, and changes of ownership for objects of any kind.
//!
//! Counterpart: pg_shdepend.c (`shdepDropOwned`, `shdepReassignOwned`), alter.c
//! (`AlterObjectOwner_internal`).

use crate::grant::object::Subject;
use crate::grant::{GrantSpec, defaults, list, merge};
use crate::{alter_table, drop};
use catalog::depend::is_pinned;
use catalog::rows::{
    CatalogRow, PgAuthid, PgClass, PgCollation, PgConversion, PgDatabase, PgDefaultAcl,
    PgEventTrigger, PgExtension, PgForeignDataWrapper, PgForeignServer, PgLanguage,
    PgLargeobjectMetadata, PgNamespace, PgOpclass, PgOperator, PgOpfamily, PgPolicy, PgProc,
    PgPublication, PgShdepend, PgStatisticExt, PgTablespace, PgTsConfig, PgTsDict, PgType, indexes,
};
use catalog::{ObjectAddress, Row};
use ids::Oid;
use parse::ast::{DropBehavior, DropOwnedStmt, ReassignOwnedStmt, RoleSpec};
use pgerror::{PgError, Result, bail, pg_err};
use utility::host::CommandHost;
use utility::names;

/// The roles of the statement; 42501 where the user lacks their privileges.
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
                b'a' if d.classid == PgDefaultAcl::RELATION => {
                    defaults::drop_member(host, d.objid, role)?;
                }
                b'a' => revoke_all(host, address(&d), role)?,
                // Databases and tablespaces are not dropped.
                b'o' if !shared => objects.push(address(&d)),
                b'r' if !remove_from_policy(host, &d, role)? => objects.push(address(&d)),
                _ => {}
            }
        }
    }
    if objects.is_empty() {
        return Ok(());
    }
    // Newest first: dependents are usually newer than the objects they depend on.
    objects.sort_by_key(|o| (std::cmp::Reverse(o.object), o.class, o.sub));
    drop::drop_objects(host, &objects, drop::behavior(stmt.behavior), false)
}

/// Removes the role from a policy. Returns false if it is the policy's only role: the policy must
/// be dropped. Counterpart: `RemoveRoleFromObjectPolicy`.
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

/// Revokes all privileges of a role on an object. Counterpart: `RemoveRoleFromObjectACL`.
fn revoke_all(host: &mut dyn CommandHost, object: ObjectAddress, role: Oid) -> Result<()> {
    let subject =
        Subject { class: object.class, oid: object.object, column: object.sub as ids::AttrNo };
    let (rights, locked) = match object.sub {
        0 => subject.lock(host)?,
        _ => (subject.rights(host)?, None),
    };
    let Some(mut acl) = rights.acl.clone() else { return subject.unlock(host, locked) };
    let grantors: Vec<Oid> = acl.iter().filter(|a| a.grantee == role).map(|a| a.grantor).collect();
    for grantor in grantors {
        let order = GrantSpec {
            grant: false,
            option: false,
            behavior: DropBehavior::Cascade,
            grantees: vec![role],
            all: true,
            rights: 0,
        };
        acl = merge(host, &order, acl, list::PRIVILEGE_BITS, grantor, rights.owner)?;
    }
    // Privileges granted by the role are revoked too.
    acl.retain(|a| a.grantor != role || role == rights.owner);
    subject.store(host, Some(acl))?;
    subject.unlock(host, locked)
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
            if d.deptype != b'o' || d.classid == PgDefaultAcl::RELATION {
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
    macro_rules! own {
        ($row:ident, $index:ident, $owner:ident $(, $acl:ident)?) => {{
            let found = host.catalog().scan(indexes::$index, &[oid.into()])?.pop();
            let Some(row) = found else { return Err(gone(object)) };
            if row.$owner == owner {
                return Ok(());
            }
            let new = $row {
                $owner: owner,
                $($acl: row.$acl.as_deref().map(|l| list::new_owner(l, row.$owner, owner)),)?
                ..row.row.clone()
            };
            host.catalog().update(&row, &new)?;
        }};
    }
    match object.class {
        PgClass::RELATION => return alter_table::change_owner(host, oid, owner, false),
        PgType::RELATION => {
            let composite = host.catalog().find_type(oid)?.filter(|t| t.typtype == b'c');
            if let Some(row) = composite {
                return alter_table::change_owner(host, row.typrelid, owner, false);
            }
            own!(PgType, PG_TYPE_OID_INDEX, typowner, typacl);
            let row = host.catalog().type_row(oid)?;
            if let Some(array) = row.typarray.valid()
                && let Some(row) = host.catalog().find_type(array)?
            {
                host.catalog().update(&row, &PgType { typowner: owner, ..row.row.clone() })?;
            }
        }
        PgNamespace::RELATION => own!(PgNamespace, PG_NAMESPACE_OID_INDEX, nspowner, nspacl),
        PgDatabase::RELATION => own!(PgDatabase, PG_DATABASE_OID_INDEX, datdba, datacl),
        PgTablespace::RELATION => own!(PgTablespace, PG_TABLESPACE_OID_INDEX, spcowner, spcacl),
        PgProc::RELATION => own!(PgProc, PG_PROC_OID_INDEX, proowner, proacl),
        PgLanguage::RELATION => own!(PgLanguage, PG_LANGUAGE_OID_INDEX, lanowner, lanacl),
        PgOperator::RELATION => own!(PgOperator, PG_OPERATOR_OID_INDEX, oprowner),
        PgOpclass::RELATION => own!(PgOpclass, PG_OPCLASS_OID_INDEX, opcowner),
        PgOpfamily::RELATION => own!(PgOpfamily, PG_OPFAMILY_OID_INDEX, opfowner),
        PgCollation::RELATION => own!(PgCollation, PG_COLLATION_OID_INDEX, collowner),
        PgConversion::RELATION => own!(PgConversion, PG_CONVERSION_OID_INDEX, conowner),
        PgStatisticExt::RELATION => own!(PgStatisticExt, PG_STATISTIC_EXT_OID_INDEX, stxowner),
        PgExtension::RELATION => own!(PgExtension, PG_EXTENSION_OID_INDEX, extowner),
        PgPublication::RELATION => own!(PgPublication, PG_PUBLICATION_OID_INDEX, pubowner),
        PgEventTrigger::RELATION => own!(PgEventTrigger, PG_EVENT_TRIGGER_OID_INDEX, evtowner),
        PgForeignDataWrapper::RELATION => {
            own!(PgForeignDataWrapper, PG_FOREIGN_DATA_WRAPPER_OID_INDEX, fdwowner, fdwacl);
        }
        PgForeignServer::RELATION => {
            own!(PgForeignServer, PG_FOREIGN_SERVER_OID_INDEX, srvowner, srvacl);
        }
        PgTsConfig::RELATION => own!(PgTsConfig, PG_TS_CONFIG_OID_INDEX, cfgowner),
        PgTsDict::RELATION => own!(PgTsDict, PG_TS_DICT_OID_INDEX, dictowner),
        PgLargeobjectMetadata::RELATION => {
            own!(PgLargeobjectMetadata, PG_LARGEOBJECT_METADATA_OID_INDEX, lomowner, lomacl);
        }
        class => {
            return Err(PgError::unsupported(format!("OWNER TO of objects of catalog {class}")));
        }
    }
    note_owner(host, object, owner)
}

/// Updates the owner in `pg_shdepend`; the new owner needs no separate ACL dependency. Counterpart:
/// `changeDependencyOnOwner`.
pub fn note_owner(host: &mut dyn CommandHost, object: ObjectAddress, owner: Oid) -> Result<()> {
    let mut cat = host.catalog();
    let shared = catalog::write::is_shared_catalog(object.class);
    let dbid = if shared { Oid::INVALID } else { cat.session.catalog.database() };
    let keys = [dbid.into(), object.class.into(), object.object.into(), 0i32.into()];
    for d in cat.scan(indexes::PG_SHDEPEND_DEPENDER_INDEX, &keys)? {
        let role = d.refclassid == PgAuthid::RELATION;
        if role && (d.deptype == b'o' || d.deptype == b'a' && d.refobjid == owner) {
            cat.delete(&d)?;
        }
    }
    cat.record_owner(object, owner)?;
    cat.increment_command_counter()
}

fn gone(object: ObjectAddress) -> PgError {
    pg_err!(
        INTERNAL_ERROR,
        "cache lookup failed for object {} of catalog {}",
        object.object,
        object.class
    )
}
