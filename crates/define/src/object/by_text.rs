//! The address of an object from its kind and names as texts, the inverse of
//! `pg_identify_object_as_address`. Counterpart: `pg_get_object_address` of
//! catalog/objectaddress.c.

use super::address::resolve;
use catalog::ObjectAddress;
use parse::ast::{Node, ObjectType, ObjectWithArgs, TypeName};
use pgerror::{PgError, Result, bail};
use types::array::ArrayRef;
use types::{DatumRef, oids};
use utility::host::CommandHost;

/// The kinds of objects by their names, which `pg_identify_object` returns.
const KINDS: &[(&str, ObjectType)] = &[
    ("table", ObjectType::Table),
    ("index", ObjectType::Index),
    ("sequence", ObjectType::Sequence),
    ("view", ObjectType::View),
    ("materialized view", ObjectType::Matview),
    ("foreign table", ObjectType::ForeignTable),
    ("table column", ObjectType::Column),
    ("foreign table column", ObjectType::Column),
    ("composite type column", ObjectType::Attribute),
    ("aggregate", ObjectType::Aggregate),
    ("function", ObjectType::Function),
    ("procedure", ObjectType::Procedure),
    ("type", ObjectType::Type),
    ("cast", ObjectType::Cast),
    ("collation", ObjectType::Collation),
    ("table constraint", ObjectType::Tabconstraint),
    ("domain constraint", ObjectType::Domconstraint),
    ("conversion", ObjectType::Conversion),
    ("default value", ObjectType::Default),
    ("language", ObjectType::Language),
    ("large object", ObjectType::Largeobject),
    ("operator", ObjectType::Operator),
    ("operator class", ObjectType::Opclass),
    ("operator family", ObjectType::Opfamily),
    ("operator of access method", ObjectType::Amop),
    ("function of access method", ObjectType::Amproc),
    ("rule", ObjectType::Rule),
    ("trigger", ObjectType::Trigger),
    ("schema", ObjectType::Schema),
    ("text search parser", ObjectType::Tsparser),
    ("text search dictionary", ObjectType::Tsdictionary),
    ("text search template", ObjectType::Tstemplate),
    ("text search configuration", ObjectType::Tsconfiguration),
    ("role", ObjectType::Role),
    ("database", ObjectType::Database),
    ("tablespace", ObjectType::Tablespace),
    ("foreign-data wrapper", ObjectType::Fdw),
    ("server", ObjectType::ForeignServer),
    ("user mapping", ObjectType::UserMapping),
    ("default acl", ObjectType::Defacl),
    ("extension", ObjectType::Extension),
    ("event trigger", ObjectType::EventTrigger),
    ("parameter ACL", ObjectType::ParameterAcl),
    ("access method", ObjectType::AccessMethod),
    ("publication relation", ObjectType::PublicationRel),
    ("publication namespace", ObjectType::PublicationNamespace),
    ("publication", ObjectType::Publication),
    ("subscription", ObjectType::Subscription),
    ("policy", ObjectType::Policy),
    ("transform", ObjectType::Transform),
    ("statistics object", ObjectType::StatisticExt),
];

/// Kinds of parts and relations that have no address of their own.
const UNSUPPORTED: &[&str] = &[
    "toast table",
    "index column",
    "sequence column",
    "toast table column",
    "view column",
    "materialized view column",
];

/// The object of this kind with these names and arguments, which are arrays of texts.
pub fn address(
    host: &mut dyn CommandHost,
    kind: &str,
    names: DatumRef<'_>,
    args: DatumRef<'_>,
) -> Result<ObjectAddress> {
    let Some((_, object_type)) = KINDS.iter().find(|(name, _)| *name == kind) else {
        let what = if UNSUPPORTED.contains(&kind) { "unsupported" } else { "unrecognized" };
        bail!(INVALID_PARAMETER_VALUE, "{what} object type \"{kind}\"");
    };
    let (names, args) = (texts(host, names)?, texts(host, args)?);
    check_qualified(host, *object_type, &names)?;
    let node = node_of(*object_type, &names, &args)?;
    let found = resolve(host, *object_type, &node, false)?;
    found.ok_or_else(|| PgError::internal("object was not found"))
}

fn texts(host: &mut dyn CommandHost, array: DatumRef<'_>) -> Result<Vec<String>> {
    let info = host.functions().type_info(oids::TEXT)?;
    let mut out = Vec::new();
    for element in ArrayRef::new(array)?.iter(&info) {
        if element.is_null() {
            bail!(INVALID_PARAMETER_VALUE, "name or argument lists may not contain nulls");
        }
        out.push(String::from_utf8_lossy(element.as_bytes()).into_owned());
    }
    Ok(out)
}

/// Refuses names with a part for the database that is not this one, and parts of a relation without
/// the relation. Counterpart: `DeconstructQualifiedName`, `get_object_address_relobject`.
fn check_qualified(
    host: &mut dyn CommandHost,
    object_type: ObjectType,
    names: &[String],
) -> Result<()> {
    match object_type {
        ObjectType::Tabconstraint | ObjectType::Rule | ObjectType::Trigger | ObjectType::Policy
            if names.len() == 1 =>
        {
            bail!(SYNTAX_ERROR, "must specify relation and object name")
        }
        ObjectType::Aggregate
        | ObjectType::Function
        | ObjectType::Procedure
        | ObjectType::Conversion
        | ObjectType::StatisticExt
        | ObjectType::Tsparser
        | ObjectType::Tsdictionary
        | ObjectType::Tstemplate
        | ObjectType::Tsconfiguration => {
            let shown = names.join(".");
            match names {
                [database, _, _] if *database != host.database_name()? => bail!(
                    FEATURE_NOT_SUPPORTED,
                    "cross-database references are not implemented: {shown}"
                ),
                [_, _, _, _, ..] => {
                    bail!(SYNTAX_ERROR, "improper qualified name (too many dotted names): {shown}")
                }
                _ => {}
            }
        }
        _ => {}
    }
    Ok(())
}

fn exactly(list: &[String], what: &str, len: usize) -> Result<()> {
    if list.len() != len {
        bail!(INVALID_PARAMETER_VALUE, "{what} list length must be exactly {len}");
    }
    Ok(())
}

fn at_least(list: &[String], what: &str, len: usize) -> Result<()> {
    if list.len() < len {
        bail!(INVALID_PARAMETER_VALUE, "{what} list length must be at least {len}");
    }
    Ok(())
}

fn strings(list: &[String]) -> Node {
    Node::List(list.iter().map(|s| Node::String(s.as_str().into())).collect())
}

fn type_node(text: &str) -> Result<Node> {
    Ok(Node::TypeName(Box::new(parse::parse_type_name(text)?)))
}

/// The object's name as in a statement.
fn node_of(object_type: ObjectType, names: &[String], args: &[String]) -> Result<Node> {
    use ObjectType as T;
    match object_type {
        T::Type | T::Domain | T::Cast | T::Transform | T::Domconstraint | T::Largeobject => {
            exactly(names, "name", 1)?;
        }
        _ => at_least(names, "name", 1)?,
    }
    let mut types = Vec::new();
    let has_types = matches!(
        object_type,
        T::Aggregate | T::Function | T::Procedure | T::Operator | T::Cast | T::Amop | T::Amproc
    );
    if has_types {
        for arg in args {
            types.push(parse::parse_type_name(arg)?);
        }
    }
    match object_type {
        T::PublicationNamespace | T::UserMapping => {
            exactly(names, "name", 1)?;
            exactly(args, "argument", 1)?;
        }
        T::Domconstraint | T::Cast | T::PublicationRel | T::Defacl | T::Transform => {
            exactly(args, "argument", 1)?;
        }
        T::Opclass | T::Opfamily => at_least(names, "name", 2)?,
        T::Amop | T::Amproc => {
            at_least(names, "name", 3)?;
            exactly(args, "argument", 2)?;
        }
        T::Operator => exactly(args, "argument", 2)?,
        _ => {}
    }
    let pair = |first: Node, second: Node| Node::List(Box::new([first, second]));
    Ok(match object_type {
        T::AccessMethod
        | T::Database
        | T::EventTrigger
        | T::Extension
        | T::Fdw
        | T::ForeignServer
        | T::Language
        | T::ParameterAcl
        | T::Publication
        | T::Role
        | T::Schema
        | T::Subscription
        | T::Tablespace => {
            exactly(names, "name", 1)?;
            strings(names)
        }
        T::Type | T::Domain => type_node(&names[0])?,
        T::Cast => pair(type_node(&names[0])?, type_node(&args[0])?),
        T::Domconstraint | T::Transform => {
            pair(type_node(&names[0])?, Node::String(args[0].as_str().into()))
        }
        T::Largeobject => {
            let text = names[0].as_str();
            if text.parse::<u32>().is_err() {
                bail!(INVALID_TEXT_REPRESENTATION, "invalid input syntax for type oid: \"{text}\"");
            }
            Node::Float(text.into())
        }
        T::Aggregate | T::Function | T::Procedure | T::Operator => with_types(names, types),
        _ => strings(names),
    })
}

fn with_types(names: &[String], types: Vec<TypeName>) -> Node {
    Node::ObjectWithArgs(Box::new(ObjectWithArgs {
        objname: names.iter().map(|n| n.as_str().into()).collect(),
        objargs: types.into_iter().map(Some).collect(),
        ..ObjectWithArgs::default()
    }))
}
