//! Objects with privileges: storage of the ACL and its dependencies.
//!
//! Counterpart: `updateAclDependencies` and the `ExecGrant_…` functions of aclchk.c.

use crate::acl_list;
use crate::host::CommandHost;
use catalog::acl::{self, Kind};
use catalog::object::ObjectClass;
use catalog::rows::{
    AclItem, CatalogRow, PgAttribute, PgAuthid, PgClass, PgDatabase, PgParameterAcl, indexes,
};
use catalog::{ObjectAddress, Row};
use ids::builtin::role::BOOTSTRAP_SUPERUSER;
use ids::code::SharedDepType;
use ids::{AttrNo, Oid, RelKind, Tid};
use pgerror::{PgError, Result};

/// An object with an ACL, of any kind.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AclObject {
    /// OID of the catalog.
    pub class: Oid,
    pub oid: Oid,
    /// Attribute number for column privileges; else 0.
    pub column: AttrNo,
}

/// Owner, ACL and description of an object.
pub struct ObjectPrivileges {
    pub owner: Oid,
    pub acl: Option<Vec<AclItem>>,
    pub kind: Kind,
    /// Name for messages.
    pub name: String,
    /// Noun for the kind of object, for messages.
    pub noun: &'static str,
}

impl ObjectPrivileges {
    /// The ACL, or the default one if the column is NULL.
    pub fn list(&self) -> Vec<AclItem> {
        self.acl.clone().unwrap_or_else(|| acl::default_acl(self.kind, self.owner))
    }
}

impl AclObject {
    pub fn of<R: CatalogRow>(oid: Oid) -> AclObject {
        AclObject { class: R::RELATION, oid, column: 0 }
    }

    pub fn address(self) -> ObjectAddress {
        let whole = match ObjectClass::of(self.class) {
            Some(class) => class.address(self.oid),
            None => ObjectAddress::new(self.class, self.oid),
        };
        ObjectAddress { sub: i32::from(self.column), ..whole }
    }

    /// The privileges, locked for a change. Rows that are also updated in place remain locked: the
    /// lock must be acquired before the row is read, and is released by [`AclObject::unlock`].
    pub fn lock(self, host: &mut dyn CommandHost) -> Result<(ObjectPrivileges, Option<Tid>)> {
        let keys = [self.oid.into()];
        let locked = match self.class {
            PgClass::RELATION => {
                let index = indexes::PG_CLASS_OID_INDEX;
                host.catalog().scan_locked(index, &keys)?.map(|row| row.tid)
            }
            PgDatabase::RELATION => {
                let index = indexes::PG_DATABASE_OID_INDEX;
                host.catalog().scan_locked(index, &keys)?.map(|row| row.tid)
            }
            _ => None,
        };
        Ok((self.privileges(host)?, locked))
    }

    /// Releases the lock of [`AclObject::lock`].
    pub fn unlock(self, host: &mut dyn CommandHost, locked: Option<Tid>) -> Result<()> {
        locked.map_or(Ok(()), |tid| host.catalog().unlock(self.class, tid))
    }

    /// The class of the object; an internal error if its objects have no privileges.
    fn class(self) -> Result<&'static ObjectClass> {
        let class = ObjectClass::of(self.class);
        class.ok_or_else(|| PgError::internal(format!("no privileges in catalog {}", self.class)))
    }

    /// Owner and ACL of the object.
    pub fn privileges(self, host: &mut dyn CommandHost) -> Result<ObjectPrivileges> {
        if self.class == PgParameterAcl::RELATION {
            let row = parameter_row(host, self.oid)?;
            return Ok(ObjectPrivileges {
                owner: BOOTSTRAP_SUPERUSER,
                acl: row.paracl.clone(),
                kind: Kind::Parameter,
                name: row.parname.as_str().to_owned(),
                noun: "parameter",
            });
        }
        let class = self.class()?;
        let row = host.catalog().object_row(class, self.oid)?;
        let (Some(owner), Some((acl, kind))) = (row.owner()?, row.acl()?) else {
            return Err(PgError::internal(format!("no privileges in catalog {}", self.class)));
        };
        let name = match kind {
            Kind::LargeObject => format!("large object {}", self.oid),
            _ => row.name()?.to_string(),
        };
        let noun = class.privilege_noun();
        let privileges = ObjectPrivileges { owner, acl, kind, name, noun };
        if self.class != PgClass::RELATION {
            return Ok(privileges);
        }
        if self.column != 0 {
            let acl = column_row(host, self.oid, self.column)?.attacl.clone();
            return Ok(ObjectPrivileges { acl, kind: Kind::Column, noun: "table", ..privileges });
        }
        Ok(match host.catalog().class(self.oid)?.relkind {
            RelKind::Sequence => {
                ObjectPrivileges { kind: Kind::Sequence, noun: "sequence", ..privileges }
            }
            _ => ObjectPrivileges { noun: "table", ..privileges },
        })
    }

    /// Stores the ACL and updates the dependencies on roles.
    pub fn store(self, host: &mut dyn CommandHost, acl: Option<Vec<AclItem>>) -> Result<()> {
        let before = self.privileges(host)?;
        if self.column != 0 {
            let old = column_row(host, self.oid, self.column)?;
            // An empty column ACL is stored as NULL.
            let attacl = acl.clone().filter(|list| !list.is_empty());
            host.catalog().update(&old, &PgAttribute { attacl, ..old.row.clone() })?;
            host.catalog().invalidate_relation(self.oid, false);
            let shown = acl.as_deref().filter(|list| !list.is_empty());
            host.catalog().note_privileges(self.address(), shown)?;
        } else if self.class == PgParameterAcl::RELATION {
            let row = parameter_row(host, self.oid)?;
            let default = acl::default_acl(Kind::Parameter, BOOTSTRAP_SUPERUSER);
            let is_default = acl.as_ref().is_some_and(|list| {
                list.len() == default.len() && list.iter().all(|item| default.contains(item))
            });
            let mut cat = host.catalog();
            if is_default {
                // The default needs no row.
                cat.delete(&row)?;
            } else {
                cat.update(&row, &PgParameterAcl { paracl: acl.clone(), ..row.row.clone() })?;
            }
        } else {
            let mut cat = host.catalog();
            let row = cat.object_row(self.class()?, self.oid)?;
            cat.update_object(&row, &row.with_acl(&acl))?;
            cat.note_privileges(self.address(), acl.as_deref())?;
        }
        let old = acl_list::members(before.acl.as_deref(), before.owner);
        let new = acl_list::members(acl.as_deref(), before.owner);
        update_acl_dependencies(host, self.address(), &old, &new)?;
        host.catalog().increment_command_counter()
    }
}

fn parameter_row(host: &mut dyn CommandHost, oid: Oid) -> Result<Row<PgParameterAcl>> {
    let found = host.catalog().scan(indexes::PG_PARAMETER_ACL_OID_INDEX, &[oid.into()])?.pop();
    found.ok_or_else(|| PgError::internal(format!("no privileges on a parameter {oid}")))
}

fn column_row(host: &mut dyn CommandHost, oid: Oid, number: AttrNo) -> Result<Row<PgAttribute>> {
    let keys = [oid.into(), number.into()];
    let found = host.catalog().scan(indexes::PG_ATTRIBUTE_RELID_ATTNUM_INDEX, &keys)?.pop();
    found.ok_or_else(|| PgError::internal(format!("no column {number} of relation {oid}")))
}

/// Updates `pg_shdepend` for the roles in the object's ACL. Counterpart: `updateAclDependencies`.
pub fn update_acl_dependencies(
    host: &mut dyn CommandHost,
    object: ObjectAddress,
    old: &[Oid],
    new: &[Oid],
) -> Result<()> {
    let mut cat = host.catalog();
    let shared = catalog::write::is_shared_catalog(object.class);
    let dbid = if shared { Oid::INVALID } else { cat.session.catalog.database() };
    if old.iter().any(|role| !new.contains(role)) {
        let keys = [dbid.into(), object.class.into(), object.object.into(), object.sub.into()];
        for d in cat.scan(indexes::PG_SHDEPEND_DEPENDER_INDEX, &keys)? {
            let here = d.refclassid == PgAuthid::RELATION && d.deptype == SharedDepType::Acl;
            if here && old.contains(&d.refobjid) && !new.contains(&d.refobjid) {
                cat.delete(&d)?;
            }
        }
    }
    for &role in new.iter().filter(|role| !old.contains(role)) {
        cat.record_shared_dependency(object, PgAuthid::RELATION, role, SharedDepType::Acl)?;
    }
    Ok(())
}
