//! Identities of the objects that relate or describe others: members of operator families, default
//! privileges, user mappings, publications of tables and schemas, transforms. Counterpart:
//! `getObjectIdentityParts` of catalog/objectaddress.c.

use crate::function::{SysCall, SysFn};
use crate::host::SystemHost;
use crate::object::{
    Identity, address, check_part, exists, identify, missing, qualified_type, row, schema_of,
};
use catalog::ObjectAddress;
use catalog::format_type::quote_identifier;
use catalog::rows::{
    CatalogRow, PgAmop, PgAmproc, PgDefaultAcl, PgLargeobject, PgOpfamily, PgParameterAcl,
    PgPublication, PgPublicationNamespace, PgPublicationRel, PgTransform, PgUserMapping, indexes,
};
use ids::Oid;
use ids::code::DefAclObject;
use pgerror::Result;
use types::{Datum, oids};

/// The kind of an object in `pg_identify_object`, for the classes of this module.
fn kind(class: Oid) -> Option<&'static str> {
    Some(match class {
        PgAmop::RELATION => "operator of access method",
        PgAmproc::RELATION => "function of access method",
        PgDefaultAcl::RELATION => "default acl",
        PgLargeobject::RELATION => "large object",
        PgParameterAcl::RELATION => "parameter ACL",
        PgPublicationNamespace::RELATION => "publication namespace",
        PgPublicationRel::RELATION => "publication relation",
        PgTransform::RELATION => "transform",
        PgUserMapping::RELATION => "user mapping",
        _ => return None,
    })
}

/// An object without a name of its own in `pg_identify_object`.
fn nameless(class: Oid, identity: String, names: Vec<String>, args: Vec<String>) -> Identity {
    let kind = kind(class).unwrap_or_default().to_owned();
    Identity { kind, identity: Some(identity), names, args, ..Identity::default() }
}

/// The identity of any object; only its kind if it does not exist.
pub(super) fn identify_any(core: &mut dyn SystemHost, object: ObjectAddress) -> Result<Identity> {
    let class = object.class;
    let Some(kind) = kind(class) else { return identify(core, object) };
    check_part(object)?;
    if !exists(core, object)? {
        return Ok(Identity { kind: kind.to_owned(), ..Identity::default() });
    }
    Ok(match class {
        PgAmop::RELATION => {
            let row = row!(core, object, PG_AMOP_OID_INDEX);
            let types = (row.amoplefttype, row.amoprighttype);
            member(core, class, row.amopfamily, ("operator", row.amopstrategy.0 as i16), types)?
        }
        PgAmproc::RELATION => {
            let row = row!(core, object, PG_AMPROC_OID_INDEX);
            let types = (row.amproclefttype, row.amprocrighttype);
            member(core, class, row.amprocfamily, ("function", row.amprocnum), types)?
        }
        PgDefaultAcl::RELATION => default_privileges(core, object)?,
        PgLargeobject::RELATION => {
            let oid = object.object.to_string();
            nameless(class, oid.clone(), vec![oid], Vec::new())
        }
        PgParameterAcl::RELATION => {
            let name = row!(core, object, PG_PARAMETER_ACL_OID_INDEX).parname.as_str().to_owned();
            nameless(class, name.clone(), vec![name], Vec::new())
        }
        PgTransform::RELATION => {
            let row = row!(core, object, PG_TRANSFORM_OID_INDEX);
            let of = qualified_type(core, row.trftype)?;
            let language = core.catalog().language(row.trflang)?.lanname.to_string();
            let identity = format!("for {of} on language {language}");
            nameless(class, identity, vec![of], vec![language])
        }
        PgUserMapping::RELATION => user_mapping(core, object)?,
        PgPublicationRel::RELATION => {
            let row = row!(core, object, PG_PUBLICATION_REL_OID_INDEX);
            let table = identify(core, ObjectAddress::relation(row.prrelid))?;
            let publication = publication_name(core, row.prpubid)?;
            let table_name = table.identity.unwrap_or_default();
            let identity = format!("{table_name} in publication {publication}");
            nameless(class, identity, table.names, vec![publication])
        }
        PgPublicationNamespace::RELATION => {
            let row = row!(core, object, PG_PUBLICATION_NAMESPACE_OID_INDEX);
            let schema = schema_of(core, row.pnnspid)?;
            let publication = publication_name(core, row.pnpubid)?;
            let identity = format!("{schema} in publication {publication}");
            nameless(class, identity, vec![schema], vec![publication])
        }
        _ => missing(class),
    })
}

/// A member of an operator family: its sort, its number, and its input types.
fn member(
    core: &mut dyn SystemHost,
    class: Oid,
    family: Oid,
    (noun, number): (&str, i16),
    (left, right): (Oid, Oid),
) -> Result<Identity> {
    let family = identify(core, ObjectAddress::of::<PgOpfamily>(family))?;
    let (left, right) = (qualified_type(core, left)?, qualified_type(core, right)?);
    let family_name = family.identity.unwrap_or_default();
    let identity = format!("{noun} {number} ({left}, {right}) of {family_name}");
    let mut names = family.names;
    names.push(number.to_string());
    Ok(nameless(class, identity, names, vec![left, right]))
}

fn default_privileges(core: &mut dyn SystemHost, object: ObjectAddress) -> Result<Identity> {
    let row = row!(core, object, PG_DEFAULT_ACL_OID_INDEX);
    let role = core.catalog().role_name(row.defaclrole)?;
    let mut identity = format!("for role {}", quote_identifier(&role));
    let mut names = vec![role];
    if let Some(schema) = row.defaclnamespace.valid() {
        let schema = schema_of(core, schema)?;
        identity.push_str(&format!(" in schema {}", quote_identifier(&schema)));
        names.push(schema);
    }
    identity.push_str(match row.defaclobjtype {
        DefAclObject::Relation => " on tables",
        DefAclObject::Sequence => " on sequences",
        DefAclObject::Function => " on functions",
        DefAclObject::Type => " on types",
        DefAclObject::Namespace => " on schemas",
    });
    let kind = char::from(row.defaclobjtype as u8).to_string();
    Ok(nameless(object.class, identity, names, vec![kind]))
}

fn user_mapping(core: &mut dyn SystemHost, object: ObjectAddress) -> Result<Identity> {
    let row = row!(core, object, PG_USER_MAPPING_OID_INDEX);
    let user = match row.umuser.valid() {
        Some(user) => core.catalog().role_name(user)?,
        None => "public".to_owned(),
    };
    let server = core
        .catalog()
        .scan(indexes::PG_FOREIGN_SERVER_OID_INDEX, &[row.umserver.into()])?
        .pop()
        .map_or_else(String::new, |row| row.srvname.to_string());
    let identity = format!("{user} on server {server}");
    Ok(nameless(object.class, identity, vec![user], vec![server]))
}

fn publication_name(core: &mut dyn SystemHost, oid: Oid) -> Result<String> {
    let publication = identify(core, ObjectAddress::of::<PgPublication>(oid))?;
    Ok(publication.names.into_iter().next().unwrap_or_default())
}

pub(super) fn texts(list: &[String]) -> Result<Datum> {
    let list: Vec<Datum> = list.iter().map(|s| Datum::text(s)).collect();
    types::array::of_builtin(oids::TEXT, &list)
}

fn or_null(text: Option<String>) -> Datum {
    text.map_or(Datum::Null, |t| Datum::text(&t))
}

pub(super) const FNS: &[SysFn] = &[
    SysFn {
        name: "pg_identify_object",
        call: SysCall::Set(|c, a| {
            let id = identify_any(c, address(a))?;
            Ok(vec![vec![
                Datum::text(&id.kind),
                or_null(id.schema),
                or_null(id.name),
                or_null(id.identity),
            ]])
        }),
    },
    SysFn {
        name: "pg_identify_object_as_address",
        call: SysCall::Set(|c, a| {
            let id = identify_any(c, address(a))?;
            if id.identity.is_none() {
                return Ok(vec![vec![Datum::text(&id.kind), Datum::Null, Datum::Null]]);
            }
            Ok(vec![vec![Datum::text(&id.kind), texts(&id.names)?, texts(&id.args)?]])
        }),
    },
];
