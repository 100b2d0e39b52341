//! ALTER DEFAULT PRIVILEGES, and the initial privileges of new objects.
//!
//! Counterpart: `ExecAlterDefaultPrivilegesStmt`, `get_user_default_acl`.

use super::{GrantSpec, grantees, merge, privileges_of};
use catalog::ObjectAddress;
use catalog::acl::{self, Kind};
use catalog::depend::DropOrigin;
use catalog::rows::{PgDefaultAcl, PgNamespace, indexes};
use define::default_acl::{class_of, find};
use define::event;
use define::object::address;
use ids::Oid;
use ids::code::{DefAclObject, DepType};
use parse::ast::{AlterDefaultPrivilegesStmt, Node, ObjectType};
use pgerror::{PgError, Result, bail, pg_err};
use utility::acl_list;
use utility::acl_object::update_acl_dependencies;
use utility::host::CommandHost;
use utility::names;

/// ALTER DEFAULT PRIVILEGES.
pub fn alter(host: &mut dyn CommandHost, stmt: &AlterDefaultPrivilegesStmt) -> Result<()> {
    let (mut roles, mut schemas) = (None, None);
    for d in &stmt.options {
        let Some(Node::List(items)) = &d.arg else { continue };
        let slot = match &*d.defname {
            "roles" => &mut roles,
            "schemas" => &mut schemas,
            other => return Err(PgError::internal(format!("option \"{other}\" not recognized"))),
        };
        if slot.is_some() {
            bail!(SYNTAX_ERROR, "conflicting or redundant options");
        }
        *slot = Some(items);
    }
    let action = &stmt.action;
    let (objtype, kind) = class_of(action.objtype)?;
    for p in &action.privileges {
        if !p.cols.is_empty() {
            bail!(INVALID_GRANT_OPERATION, "default privileges cannot be set for columns");
        }
    }
    let (all, privileges) = privileges_of(&action.privileges, action.objtype)?;
    if action.objtype == ObjectType::Table && privileges & !Kind::Table.all() != 0 {
        bail!(INVALID_GRANT_OPERATION, "invalid privilege type USAGE for relation");
    }
    let order = GrantSpec {
        grant: action.is_grant,
        option: action.grant_option,
        behavior: action.behavior,
        grantees: grantees(host, &action.grantees)?,
        all,
        privileges,
    };
    let mut owners = Vec::new();
    match roles {
        None => owners.push(names::user(host)),
        Some(list) => {
            for node in list {
                let Node::RoleSpec(spec) = node else { continue };
                let role = names::role_oid(host, spec)?;
                let user = names::user(host);
                if !host.catalog().is_member(user, role, true)? {
                    bail!(INSUFFICIENT_PRIVILEGE, "permission denied to change default privileges");
                }
                owners.push(role);
            }
        }
    }
    let mut spaces = Vec::new();
    match schemas {
        None => spaces.push(Oid::INVALID),
        Some(list) => {
            if objtype == DefAclObject::Namespace {
                bail!(
                    INVALID_GRANT_OPERATION,
                    "cannot use IN SCHEMA clause when using GRANT/REVOKE ON SCHEMAS"
                );
            }
            for node in list {
                let name = address::parts(node).last().copied().unwrap_or_default().to_owned();
                spaces.push(host.catalog().namespace(&name)?);
            }
        }
    }
    for &owner in &owners {
        for &space in &spaces {
            set(host, &order, owner, space, objtype, kind)?;
        }
    }
    Ok(())
}

fn set(
    host: &mut dyn CommandHost,
    order: &GrantSpec,
    owner: Oid,
    space: Oid,
    objtype: DefAclObject,
    kind: Kind,
) -> Result<()> {
    // Privileges for a schema are added to the global ones, so they start from an empty list.
    let usual = match space.is_valid() {
        true => Vec::new(),
        false => acl::default_acl(kind, owner),
    };
    let old = find(host, owner, space, objtype)?;
    let base = old.as_ref().map_or_else(|| usual.clone(), |r| r.defaclacl.clone());
    let before = old.as_ref().map(|r| acl_list::members(Some(&r.defaclacl), owner));
    let privileges = if order.all { kind.all() } else { order.privileges };
    let mut new = merge(host, order, base, privileges, owner, owner)?;
    acl_list::sort(&mut new);
    if acl_list::same(&new, &usual) {
        if let Some(old) = old {
            let this = ObjectAddress::of::<PgDefaultAcl>(old.oid);
            event::dropped::note(host, this, DropOrigin::NAMED)?;
            let mut cat = host.catalog();
            cat.delete(&old)?;
            cat.delete_object_records(this)?;
        }
        return host.catalog().increment_command_counter();
    }
    let mut cat = host.catalog();
    let oid = match &old {
        Some(row) => {
            cat.update(row, &PgDefaultAcl { defaclacl: new.clone(), ..row.row.clone() })?;
            row.oid
        }
        None => {
            let oid = cat.new_oid(indexes::PG_DEFAULT_ACL_OID_INDEX)?;
            cat.insert(&PgDefaultAcl {
                oid,
                defaclrole: owner,
                defaclnamespace: space,
                defaclobjtype: objtype,
                defaclacl: new.clone(),
            })?;
            let this = ObjectAddress::of::<PgDefaultAcl>(oid);
            cat.record_owner(this, owner)?;
            if space.is_valid() {
                let schema = ObjectAddress::of::<PgNamespace>(space);
                cat.record_dependency(this, schema, DepType::Auto)?;
            }
            oid
        }
    };
    let this = ObjectAddress::of::<PgDefaultAcl>(oid);
    let members = acl_list::members(Some(&new), owner);
    update_acl_dependencies(host, this, &before.unwrap_or_default(), &members)?;
    host.catalog().increment_command_counter()
}

/// Removes a role from a default ACL (DROP OWNED).
pub fn drop_member(host: &mut dyn CommandHost, oid: Oid, role: Oid) -> Result<()> {
    let row = host.catalog().scan(indexes::PG_DEFAULT_ACL_OID_INDEX, &[oid.into()])?.pop();
    let row =
        row.ok_or_else(|| pg_err!(INTERNAL_ERROR, "could not find tuple for default ACL {oid}"))?;
    let (kind, owner) = match row.defaclobjtype {
        DefAclObject::Relation => (Kind::Table, row.defaclrole),
        DefAclObject::Sequence => (Kind::Sequence, row.defaclrole),
        DefAclObject::Function => (Kind::Function, row.defaclrole),
        DefAclObject::Type => (Kind::Type, row.defaclrole),
        DefAclObject::Namespace => (Kind::Schema, row.defaclrole),
    };
    let order = GrantSpec {
        grant: false,
        option: false,
        behavior: parse::ast::DropBehavior::Cascade,
        grantees: vec![role],
        all: true,
        privileges: kind.all(),
    };
    set(host, &order, owner, row.defaclnamespace, row.defaclobjtype, kind)
}
