//! Objects with privileges: name resolution for each kind, storage of the ACL, dependencies and
//! invalidation.

use super::list;
use crate::{drop, relation};
use catalog::acl::{self, Kind};
use catalog::depend::SharedDependency;
use catalog::rows::{
    AclItem, CatalogRow, PgAttribute, PgAuthid, PgClass, PgDatabase, PgForeignDataWrapper,
    PgForeignServer, PgLanguage, PgLargeobjectMetadata, PgNamespace, PgProc, PgTablespace, PgType,
    indexes,
};
use catalog::{ObjectAddress, Row};
use ids::{AttrNo, Oid, Tid};
use parse::ast::{Node, ObjectType};
use pgerror::{PgError, Result, bail};
use utility::host::CommandHost;
use utility::names;

/// An object with an ACL, of any kind.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Subject {
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
    /// The ACL, or the default one where the column is NULL.
    pub fn list(&self) -> Vec<AclItem> {
        self.acl.clone().unwrap_or_else(|| acl::default_acl(self.kind, self.owner))
    }
}

fn lost<R: CatalogRow>(oid: Oid) -> PgError {
    PgError::internal(format!("cache lookup failed for object {oid} of {}", R::NAME))
}

fn row<R: CatalogRow>(
    host: &mut dyn CommandHost,
    index: catalog::rows::Index<R>,
    oid: Oid,
) -> Result<Row<R>> {
    let found = host.catalog().scan(index, &[oid.into()])?.pop();
    found.ok_or_else(|| lost::<R>(oid))
}

impl Subject {
    pub fn of<R: CatalogRow>(oid: Oid) -> Subject {
        Subject { class: R::RELATION, oid, column: 0 }
    }

    pub fn address(self) -> ObjectAddress {
        ObjectAddress { class: self.class, object: self.oid, sub: i32::from(self.column) }
    }

    /// The privileges, locked for a change. Rows that are also changed in place stay locked: the
    /// lock must be acquired before the row is read, and is released by [`Subject::unlock`].
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
        Ok((self.rights(host)?, locked))
    }

    /// Releases the lock of [`Subject::lock`].
    pub fn unlock(self, host: &mut dyn CommandHost, locked: Option<Tid>) -> Result<()> {
        locked.map_or(Ok(()), |tid| host.catalog().unlock(self.class, tid))
    }

    /// Owner and ACL of the object.
    pub fn rights(self, host: &mut dyn CommandHost) -> Result<ObjectPrivileges> {
        let oid = self.oid;
        let make = |owner, acl: &Option<Vec<AclItem>>, kind, name: String, noun| ObjectPrivileges {
            owner,
            acl: acl.clone(),
            kind,
            name,
            noun,
        };
        Ok(match self.class {
            PgClass::RELATION if self.column != 0 => {
                let class = relation::class(&mut host.catalog(), oid)?;
                let a = column_row(host, oid, self.column)?;
                make(class.relowner, &a.attacl, Kind::Column, class.relname.to_string(), "table")
            }
            PgClass::RELATION => {
                let r = relation::class(&mut host.catalog(), oid)?;
                let kind = if r.relkind == b'S' { Kind::Sequence } else { Kind::Table };
                let noun = if r.relkind == b'S' { "sequence" } else { "table" };
                make(r.relowner, &r.relacl, kind, r.relname.to_string(), noun)
            }
            PgDatabase::RELATION => {
                let r = row(host, indexes::PG_DATABASE_OID_INDEX, oid)?;
                make(r.datdba, &r.datacl, Kind::Database, r.datname.to_string(), "database")
            }
            PgNamespace::RELATION => {
                let r = row(host, indexes::PG_NAMESPACE_OID_INDEX, oid)?;
                make(r.nspowner, &r.nspacl, Kind::Schema, r.nspname.to_string(), "schema")
            }
            PgProc::RELATION => {
                let r = row(host, indexes::PG_PROC_OID_INDEX, oid)?;
                make(r.proowner, &r.proacl, Kind::Function, r.proname.to_string(), "function")
            }
            PgLanguage::RELATION => {
                let r = row(host, indexes::PG_LANGUAGE_OID_INDEX, oid)?;
                make(r.lanowner, &r.lanacl, Kind::Language, r.lanname.to_string(), "language")
            }
            PgType::RELATION => {
                let r = row(host, indexes::PG_TYPE_OID_INDEX, oid)?;
                make(r.typowner, &r.typacl, Kind::Type, r.typname.to_string(), "type")
            }
            PgTablespace::RELATION => {
                let r = row(host, indexes::PG_TABLESPACE_OID_INDEX, oid)?;
                make(r.spcowner, &r.spcacl, Kind::Tablespace, r.spcname.to_string(), "tablespace")
            }
            PgForeignDataWrapper::RELATION => {
                let r = row(host, indexes::PG_FOREIGN_DATA_WRAPPER_OID_INDEX, oid)?;
                let noun = "foreign-data wrapper";
                let name = r.fdwname.to_string();
                make(r.fdwowner, &r.fdwacl, Kind::ForeignDataWrapper, name, noun)
            }
            PgForeignServer::RELATION => {
                let r = row(host, indexes::PG_FOREIGN_SERVER_OID_INDEX, oid)?;
                let name = r.srvname.to_string();
                make(r.srvowner, &r.srvacl, Kind::ForeignServer, name, "foreign server")
            }
            PgLargeobjectMetadata::RELATION => {
                let r = row(host, indexes::PG_LARGEOBJECT_METADATA_OID_INDEX, oid)?;
                make(r.lomowner, &r.lomacl, Kind::LargeObject, oid.to_string(), "large object")
            }
            class => return Err(PgError::internal(format!("no rights in catalog {class}"))),
        })
    }

    /// Stores the ACL and updates the dependencies on roles.
    pub fn store(self, host: &mut dyn CommandHost, acl: Option<Vec<AclItem>>) -> Result<()> {
        let before = self.rights(host)?;
        let oid = self.oid;
        macro_rules! put {
            ($row:ident, $index:ident, $column:ident) => {{
                let old = row(host, indexes::$index, oid)?;
                let new = $row { $column: acl.clone(), ..old.row.clone() };
                host.catalog().update(&old, &new)?;
            }};
        }
        match self.class {
            PgClass::RELATION if self.column != 0 => {
                let old = column_row(host, oid, self.column)?;
                // An empty column ACL is stored as NULL.
                let attacl = acl.clone().filter(|list| !list.is_empty());
                host.catalog().update(&old, &PgAttribute { attacl, ..old.row.clone() })?;
                host.catalog().invalidate_relation(oid, false);
            }
            PgClass::RELATION => {
                let mut cat = host.catalog();
                let old = relation::class(&mut cat, oid)?;
                cat.update(&old, &PgClass { relacl: acl.clone(), ..old.row.clone() })?;
            }
            PgDatabase::RELATION => put!(PgDatabase, PG_DATABASE_OID_INDEX, datacl),
            PgNamespace::RELATION => put!(PgNamespace, PG_NAMESPACE_OID_INDEX, nspacl),
            PgProc::RELATION => put!(PgProc, PG_PROC_OID_INDEX, proacl),
            PgLanguage::RELATION => put!(PgLanguage, PG_LANGUAGE_OID_INDEX, lanacl),
            PgType::RELATION => put!(PgType, PG_TYPE_OID_INDEX, typacl),
            PgTablespace::RELATION => put!(PgTablespace, PG_TABLESPACE_OID_INDEX, spcacl),
            PgForeignDataWrapper::RELATION => {
                put!(PgForeignDataWrapper, PG_FOREIGN_DATA_WRAPPER_OID_INDEX, fdwacl);
            }
            PgForeignServer::RELATION => {
                put!(PgForeignServer, PG_FOREIGN_SERVER_OID_INDEX, srvacl);
            }
            PgLargeobjectMetadata::RELATION => {
                put!(PgLargeobjectMetadata, PG_LARGEOBJECT_METADATA_OID_INDEX, lomacl);
            }
            class => return Err(PgError::internal(format!("no rights in catalog {class}"))),
        }
        let old = list::members(before.acl.as_deref(), before.owner);
        let new = list::members(acl.as_deref(), before.owner);
        note_members(host, self.address(), &old, &new)?;
        host.catalog().increment_command_counter()
    }
}

fn column_row(host: &mut dyn CommandHost, oid: Oid, number: AttrNo) -> Result<Row<PgAttribute>> {
    let keys = [oid.into(), number.into()];
    let found = host.catalog().scan(indexes::PG_ATTRIBUTE_RELID_ATTNUM_INDEX, &keys)?.pop();
    found.ok_or_else(|| lost::<PgAttribute>(oid))
}

/// Updates `pg_shdepend` for the roles in the object's ACL. Counterpart: `updateAclDependencies`.
pub fn note_members(
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
            let here = d.refclassid == PgAuthid::RELATION && d.deptype == b'a';
            if here && old.contains(&d.refobjid) && !new.contains(&d.refobjid) {
                cat.delete(&d)?;
            }
        }
    }
    for &role in new.iter().filter(|role| !old.contains(role)) {
        cat.record_shared_dependency(object, PgAuthid::RELATION, role, SharedDependency::Acl)?;
    }
    Ok(())
}

/// The objects named in a GRANT statement.
pub fn named(
    host: &mut dyn CommandHost,
    kind: ObjectType,
    objects: &[Node],
) -> Result<Vec<Subject>> {
    let mut out = Vec::with_capacity(objects.len());
    for node in objects {
        out.push(one(host, kind, node)?);
    }
    Ok(out)
}

fn one(host: &mut dyn CommandHost, kind: ObjectType, node: &Node) -> Result<Subject> {
    let name = drop::parts(node).last().copied().unwrap_or_default().to_owned();
    Ok(match kind {
        ObjectType::Table | ObjectType::Sequence | ObjectType::View => {
            let Node::RangeVar(rv) = node else {
                return Err(PgError::internal("GRANT on a table without its name"));
            };
            match names::find(host, rv, 0)? {
                Some(oid) => Subject::of::<PgClass>(oid),
                None => return Err(names::missing(host, rv)?),
            }
        }
        ObjectType::Database => match host.catalog().find_database(&name)? {
            Some(row) => Subject::of::<PgDatabase>(row.oid),
            None => bail!(UNDEFINED_DATABASE, "database \"{name}\" does not exist"),
        },
        ObjectType::Schema => match host.catalog().find_namespace(&name)? {
            Some(oid) => Subject::of::<PgNamespace>(oid),
            None => bail!(INVALID_SCHEMA_NAME, "schema \"{name}\" does not exist"),
        },
        ObjectType::Language => match host.catalog().find_language(&name)? {
            Some(row) => Subject::of::<PgLanguage>(row.oid),
            None => bail!(UNDEFINED_OBJECT, "language \"{name}\" does not exist"),
        },
        ObjectType::Tablespace => match host.catalog().find_tablespace(&name)? {
            Some(row) => Subject::of::<PgTablespace>(row.oid),
            None => bail!(UNDEFINED_OBJECT, "tablespace \"{name}\" does not exist"),
        },
        ObjectType::Type | ObjectType::Domain => {
            let parts = drop::parts(node);
            let (schema, name) = match &parts[..] {
                [.., schema, name] => (Some(*schema), *name),
                [name] => (None, *name),
                [] => return Err(PgError::internal("GRANT on a type without its name")),
            };
            match host.catalog().find_type_by_name(schema, name)? {
                Some(oid) => {
                    if kind == ObjectType::Domain && host.catalog().type_row(oid)?.typtype != b'd' {
                        bail!(WRONG_OBJECT_TYPE, "\"{name}\" is not a domain");
                    }
                    Subject::of::<PgType>(oid)
                }
                None => {
                    let shown = catalog::namespace::qualified(schema, name);
                    bail!(UNDEFINED_OBJECT, "type \"{shown}\" does not exist")
                }
            }
        }
        ObjectType::Function | ObjectType::Procedure | ObjectType::Routine => {
            Subject::of::<PgProc>(crate::routine::named(host, Some(node), kind)?)
        }
        ObjectType::Fdw | ObjectType::ForeignServer => {
            return Err(PgError::unsupported("GRANT on foreign servers and wrappers"));
        }
        ObjectType::Largeobject => {
            let oid = match node {
                Node::Integer(n) => u32::try_from(*n).ok(),
                Node::Float(s) => s.parse().ok(),
                _ => None,
            };
            let oid = Oid(oid.unwrap_or_default());
            let index = indexes::PG_LARGEOBJECT_METADATA_OID_INDEX;
            if host.catalog().scan(index, &[oid.into()])?.is_empty() {
                bail!(UNDEFINED_OBJECT, "large object {oid} does not exist");
            }
            Subject::of::<PgLargeobjectMetadata>(oid)
        }
        other => return Err(PgError::unsupported(format!("GRANT on kind {other:?}"))),
    })
}

/// All objects of a kind in the given schemas (ALL … IN SCHEMA).
pub fn in_schemas(
    host: &mut dyn CommandHost,
    kind: ObjectType,
    schemas: &[Node],
) -> Result<Vec<Subject>> {
    let mut out = Vec::new();
    for node in schemas {
        let name = node.as_str().unwrap_or_default();
        let schema = host.catalog().namespace(name)?;
        match kind {
            ObjectType::Table | ObjectType::Sequence => {
                let kinds: &[u8] = if kind == ObjectType::Table { b"rvmfp" } else { b"S" };
                for row in host.catalog().scan_all::<PgClass>()? {
                    if row.relnamespace == schema && kinds.contains(&row.relkind) {
                        out.push(Subject::of::<PgClass>(row.oid));
                    }
                }
            }
            _ => {
                for row in host.catalog().scan_all::<PgProc>()? {
                    let fits = match kind {
                        ObjectType::Procedure => row.prokind == b'p',
                        ObjectType::Function => row.prokind != b'p',
                        _ => true,
                    };
                    if row.pronamespace == schema && fits {
                        out.push(Subject::of::<PgProc>(row.oid));
                    }
                }
            }
        }
    }
    Ok(out)
}
