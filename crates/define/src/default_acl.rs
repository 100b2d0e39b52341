//! The initial privileges of new objects (`pg_default_acl`).
//!
//! Counterpart: `get_user_default_acl`, `recordDependencyOnNewAcl`.

use catalog::ObjectAddress;
use catalog::acl::{self, Kind};
use catalog::rows::{AclItem, PgDefaultAcl, indexes};
use ids::Oid;
use ids::code::DefAclObject;
use parse::ast::ObjectType;
use pgerror::{PgError, Result};
use utility::acl_list;
use utility::acl_object::update_acl_dependencies;
use utility::host::CommandHost;

/// The object class in `pg_default_acl`, and the ACL kind.
pub fn class_of(objtype: ObjectType) -> Result<(DefAclObject, Kind)> {
    Ok(match objtype {
        ObjectType::Table => (DefAclObject::Relation, Kind::Table),
        ObjectType::Sequence => (DefAclObject::Sequence, Kind::Sequence),
        ObjectType::Function | ObjectType::Routine | ObjectType::Procedure => {
            (DefAclObject::Function, Kind::Function)
        }
        ObjectType::Type => (DefAclObject::Type, Kind::Type),
        ObjectType::Schema => (DefAclObject::Namespace, Kind::Schema),
        other => return Err(PgError::unsupported(format!("default privileges of {other:?}"))),
    })
}

/// The default privileges of objects that `owner` creates in the schema, or in any schema if it is
/// `INVALID`.
pub fn find(
    host: &mut dyn CommandHost,
    owner: Oid,
    schema: Oid,
    objtype: DefAclObject,
) -> Result<Option<catalog::Row<PgDefaultAcl>>> {
    let index = indexes::PG_DEFAULT_ACL_ROLE_NSP_OBJ_INDEX;
    let keys = [owner.into(), schema.into()];
    let rows = host.catalog().scan(index, &keys)?;
    Ok(rows.into_iter().find(|r| r.defaclobjtype == objtype))
}

/// The ACL of an object that `owner` creates in the schema; `None` if it is the built-in default.
pub fn of_new_object(
    host: &mut dyn CommandHost,
    objtype: ObjectType,
    owner: Oid,
    schema: Oid,
) -> Result<Option<Vec<AclItem>>> {
    let (objtype, kind) = class_of(objtype)?;
    let everywhere = find(host, owner, Oid::INVALID, objtype)?;
    let here = match schema.is_valid() {
        true => find(host, owner, schema, objtype)?,
        false => None,
    };
    if everywhere.is_none() && here.is_none() {
        return Ok(None);
    }
    let usual = acl::default_acl(kind, owner);
    let base = everywhere.map_or_else(|| usual.clone(), |r| r.defaclacl.clone());
    let mut all = acl_list::merge(base, here.as_ref().map_or(&[], |r| &r.defaclacl));
    acl_list::sort(&mut all);
    Ok(if acl_list::same(&all, &usual) { None } else { Some(all) })
}

/// Records dependencies on the roles in a new object's ACL.
pub fn record_acl_dependencies(
    host: &mut dyn CommandHost,
    object: ObjectAddress,
    acl: Option<&[AclItem]>,
    owner: Oid,
) -> Result<()> {
    let members = acl_list::members(acl, owner);
    update_acl_dependencies(host, object, &[], &members)
}
