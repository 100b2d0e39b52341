//! The objects of GRANT statements.
//!
//! Counterpart: `objectNamesToOids`, `objectsInSchemaToOids`.

use catalog::rows::{PgClass, PgParameterAcl, PgProc, PgType, indexes};
use define::object::address;
use define::routine::lookup;
use ids::RelKind;
use ids::code::{ProKind, TypType};
use parse::ast::{Node, ObjectType};
use pgerror::{PgError, Result, bail};
use utility::acl_object::AclObject;
use utility::host::CommandHost;
use utility::names;

/// The objects named in a GRANT statement.
pub fn named(
    host: &mut dyn CommandHost,
    kind: ObjectType,
    objects: &[Node],
) -> Result<Vec<AclObject>> {
    let mut out = Vec::with_capacity(objects.len());
    for node in objects {
        out.push(one(host, kind, node)?);
    }
    Ok(out)
}

/// The parameters of a GRANT statement, which get rows, or of a REVOKE statement as far as they
/// have rows. Counterpart: `ParameterAclCreate`.
pub fn parameters(
    host: &mut dyn CommandHost,
    objects: &[Node],
    is_grant: bool,
) -> Result<Vec<AclObject>> {
    let mut out = Vec::with_capacity(objects.len());
    for node in objects {
        let (name, grantable) = host.privileged_parameter(node.as_str().unwrap_or_default());
        let index = indexes::PG_PARAMETER_ACL_PARNAME_INDEX;
        let oid = match host.catalog().scan(index, &[name.as_str().into()])?.pop() {
            Some(row) => row.oid,
            None if !is_grant => continue,
            None if !grantable => bail!(INVALID_NAME, "invalid parameter name \"{name}\""),
            None => {
                let mut cat = host.catalog();
                let oid = cat.new_oid(indexes::PG_PARAMETER_ACL_OID_INDEX)?;
                let parname = name.as_str().into();
                cat.insert(&PgParameterAcl { oid, parname, paracl: None })?;
                cat.increment_command_counter()?;
                oid
            }
        };
        out.push(AclObject::of::<PgParameterAcl>(oid));
    }
    Ok(out)
}

fn one(host: &mut dyn CommandHost, kind: ObjectType, node: &Node) -> Result<AclObject> {
    Ok(match kind {
        ObjectType::Table | ObjectType::Sequence | ObjectType::View => {
            let Node::RangeVar(rv) = node else {
                return Err(PgError::internal("GRANT on a table without its name"));
            };
            match names::find(host, rv, 0)? {
                Some(oid) => AclObject::of::<PgClass>(oid),
                None => return Err(names::missing(host, rv)?),
            }
        }
        ObjectType::Database
        | ObjectType::Schema
        | ObjectType::Language
        | ObjectType::Tablespace
        | ObjectType::Fdw
        | ObjectType::ForeignServer
        | ObjectType::Largeobject => {
            let found = address::resolve(host, kind, node, false)?;
            let object = found.ok_or_else(|| PgError::internal("object was not found"))?;
            AclObject { class: object.class, oid: object.object, column: 0 }
        }
        ObjectType::Type | ObjectType::Domain => {
            let parts = address::parts(node);
            let (schema, name) = match &parts[..] {
                [.., schema, name] => (Some(*schema), *name),
                [name] => (None, *name),
                [] => return Err(PgError::internal("GRANT on a type without its name")),
            };
            match host.catalog().find_type_by_name(schema, name)? {
                Some(oid) => {
                    if kind == ObjectType::Domain
                        && host.catalog().type_row(oid)?.typtype != TypType::Domain
                    {
                        bail!(WRONG_OBJECT_TYPE, "\"{name}\" is not a domain");
                    }
                    AclObject::of::<PgType>(oid)
                }
                None => {
                    let shown = catalog::namespace::qualified(schema, name);
                    bail!(UNDEFINED_OBJECT, "type \"{shown}\" does not exist")
                }
            }
        }
        ObjectType::Function | ObjectType::Procedure | ObjectType::Routine => {
            AclObject::of::<PgProc>(lookup::named(host, Some(node), kind)?)
        }
        other => return Err(PgError::unsupported(format!("GRANT on kind {other:?}"))),
    })
}

/// All objects of a kind in the given schemas (ALL … IN SCHEMA).
pub fn in_schemas(
    host: &mut dyn CommandHost,
    kind: ObjectType,
    schemas: &[Node],
) -> Result<Vec<AclObject>> {
    let mut out = Vec::new();
    for node in schemas {
        let name = node.as_str().unwrap_or_default();
        let schema = host.catalog().namespace(name)?;
        match kind {
            ObjectType::Table | ObjectType::Sequence => {
                let wanted = |k: RelKind| match kind {
                    ObjectType::Table => matches!(
                        k,
                        RelKind::Table
                            | RelKind::View
                            | RelKind::MaterializedView
                            | RelKind::ForeignTable
                            | RelKind::PartitionedTable
                    ),
                    _ => k == RelKind::Sequence,
                };
                for row in host.catalog().scan_all::<PgClass>()? {
                    if row.relnamespace == schema && wanted(row.relkind) {
                        out.push(AclObject::of::<PgClass>(row.oid));
                    }
                }
            }
            _ => {
                for row in host.catalog().scan_all::<PgProc>()? {
                    let fits = match kind {
                        ObjectType::Procedure => row.prokind == ProKind::Procedure,
                        ObjectType::Function => row.prokind != ProKind::Procedure,
                        _ => true,
                    };
                    if row.pronamespace == schema && fits {
                        out.push(AclObject::of::<PgProc>(row.oid));
                    }
                }
            }
        }
    }
    Ok(out)
}
