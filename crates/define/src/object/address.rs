//! Resolution of the names of objects in statements, and checks that the user owns the objects.
//!
//! Counterpart: `get_object_address`, `check_object_ownership`, `does_not_exist_skipping`.

use super::kind::{class_of, is_named};
use crate::routine::lookup;
use crate::typerow;
use catalog::object::{ObjectClass, ObjectRow};
use catalog::rows::{
    CatalogRow, PgAuthid, PgCast, PgClass, PgConstraint, PgLargeobject, PgOperator, PgPolicy,
    PgProc, PgRewrite, PgSubscription, PgTransform, PgTrigger, PgType, indexes,
};
use catalog::{ObjectAddress, RelDesc, namespace};
use ids::code::TypType;
use ids::{Oid, RelKind};
use parse::ast::{Node, ObjectType, ObjectWithArgs, TypeName};
use pgerror::{PgError, Result, SqlState, bail, pg_err};
use std::sync::Arc;
use utility::host::{CommandHost, notice};
use utility::names;

/// The parts of an object's name in a statement.
pub fn parts(node: &Node) -> Vec<&str> {
    match node {
        Node::List(list) => list.iter().filter_map(Node::as_str).collect(),
        Node::String(s) => vec![s],
        Node::TypeName(t) => t.names.iter().map(|n| &**n).collect(),
        Node::ObjectWithArgs(object) => object.objname.iter().map(|n| &**n).collect(),
        _ => Vec::new(),
    }
}

/// The name of an object that is identified by a name alone.
struct ObjectName<'a> {
    /// The access method of an operator class or family.
    method: Option<&'a str>,
    schema: Option<&'a str>,
    name: &'a str,
}

impl<'a> ObjectName<'a> {
    fn of(class: &ObjectClass, node: &'a Node) -> Result<ObjectName<'a>> {
        let all = parts(node);
        let (method, rest) = match all.as_slice() {
            [method, rest @ ..] if class.has_access_method() => (Some(*method), rest),
            rest => (None, rest),
        };
        let (schema, name) = match rest {
            [.., schema, name] => (Some(*schema), *name),
            [name] => (None, *name),
            [] => return Err(PgError::internal(format!("{} without a name", class.noun))),
        };
        Ok(ObjectName { method, schema, name })
    }

    /// The OID of the access method. Error 42704 if it does not exist.
    fn method(&self, host: &mut dyn CommandHost) -> Result<Option<Oid>> {
        let Some(name) = self.method else { return Ok(None) };
        match host.catalog().find_access_method(name)? {
            Some(row) => Ok(Some(row.oid)),
            None => bail!(UNDEFINED_OBJECT, "access method \"{name}\" does not exist"),
        }
    }

    /// `collation "x" does not exist`, for the error and for the notice of IF EXISTS.
    fn does_not_exist(&self, class: &ObjectClass) -> String {
        let name = namespace::qualified(self.schema, self.name);
        match self.method {
            Some(method) => {
                format!("{} \"{name}\" does not exist for access method \"{method}\"", class.noun)
            }
            None => format!("{} \"{name}\" does not exist", class.noun),
        }
    }
}

/// The row of an object that is identified by a name alone; `None`, after a notice, if it does not
/// exist and IF EXISTS was given.
pub fn find_named(
    host: &mut dyn CommandHost,
    object_type: ObjectType,
    node: &Node,
    missing_ok: bool,
) -> Result<Option<ObjectRow>> {
    let class = class_of(object_type)?;
    let name = ObjectName::of(class, node)?;
    let method = name.method(host)?;
    if let Some(schema) = name.schema
        && missing_ok
        && class.is_in_schema()
        && host.catalog().find_namespace(schema)?.is_none()
    {
        skip(host, &format!("schema \"{schema}\" does not exist"));
        return Ok(None);
    }
    if let Some(row) = host.catalog().find_object(class, method, name.schema, name.name)? {
        return Ok(Some(row));
    }
    let message = name.does_not_exist(class);
    if missing_ok {
        skip(host, &message);
        return Ok(None);
    }
    Err(match object_type {
        // The message names the encoding.
        ObjectType::Collation => match host.catalog().collation_oid(name.schema, name.name) {
            Err(e) => e,
            Ok(_) => PgError::internal("a collation was not found by its name"),
        },
        ObjectType::Schema => PgError::new(SqlState::INVALID_SCHEMA_NAME, message),
        ObjectType::Database => PgError::new(SqlState::UNDEFINED_DATABASE, message),
        _ => PgError::new(SqlState::UNDEFINED_OBJECT, message),
    })
}

/// As [`find_named`]; an error if the object does not exist.
pub fn named(
    host: &mut dyn CommandHost,
    object_type: ObjectType,
    node: &Node,
) -> Result<ObjectRow> {
    let found = find_named(host, object_type, node, false)?;
    found.ok_or_else(|| PgError::internal("object was not found"))
}

fn skip(host: &mut dyn CommandHost, message: &str) {
    host.notice(notice(pg_err!(SUCCESSFUL_COMPLETION, "{message}, skipping")));
}

/// Error 42501 unless the user owns the object with this row. `shown` is its name.
pub fn must_own_row(host: &mut dyn CommandHost, row: &ObjectRow, shown: &str) -> Result<()> {
    let Some(owner) = row.owner()? else { return must_be_superuser(host) };
    if !names::is_owner(host, owner)? {
        let noun = row.class.privilege_noun();
        bail!(INSUFFICIENT_PRIVILEGE, "must be owner of {noun} {shown}");
    }
    Ok(())
}

fn must_be_superuser(host: &mut dyn CommandHost) -> Result<()> {
    if !names::is_superuser(host)? {
        bail!(INSUFFICIENT_PRIVILEGE, "must be superuser");
    }
    Ok(())
}

/// The object that a statement names; `None`, after a notice, if it does not exist and IF EXISTS
/// was given. The relation that is the object, or contains it, is locked with SHARE UPDATE
/// EXCLUSIVE.
pub fn resolve(
    host: &mut dyn CommandHost,
    object_type: ObjectType,
    node: &Node,
    missing_ok: bool,
) -> Result<Option<ObjectAddress>> {
    if is_named(object_type) {
        let row = find_named(host, object_type, node, missing_ok)?;
        return row.map(|row| Ok(row.class.address(row.oid()?))).transpose();
    }
    match object_type {
        ObjectType::Cast => cast(host, node, missing_ok),
        ObjectType::Operator => operator(host, node, missing_ok),
        ObjectType::Transform => transform(host, node, missing_ok),
        ObjectType::Subscription => subscription(host, node).map(Some),
        ObjectType::Largeobject => large_object(host, node).map(Some),
        ObjectType::Type | ObjectType::Domain => {
            let row = typerow::find(host, &parts(node))?;
            if object_type == ObjectType::Domain && row.typtype != TypType::Domain {
                let shown = host.catalog().format_type(row.oid)?;
                bail!(WRONG_OBJECT_TYPE, "\"{shown}\" is not a domain");
            }
            Ok(Some(ObjectAddress::of::<PgType>(row.oid)))
        }
        ObjectType::Domconstraint => domain_constraint(host, node).map(Some),
        ObjectType::Function
        | ObjectType::Procedure
        | ObjectType::Routine
        | ObjectType::Aggregate => {
            let oid = lookup::named(host, Some(node), object_type)?;
            Ok(Some(ObjectAddress::of::<PgProc>(oid)))
        }
        ObjectType::Table
        | ObjectType::View
        | ObjectType::Index
        | ObjectType::Sequence
        | ObjectType::Matview
        | ObjectType::ForeignTable => {
            let rel = open(host, &parts(node))?;
            check_kind(&rel, object_type)?;
            Ok(Some(ObjectAddress::relation(rel.oid())))
        }
        ObjectType::Column
        | ObjectType::Tabconstraint
        | ObjectType::Rule
        | ObjectType::Trigger
        | ObjectType::Policy => {
            let all = parts(node);
            let [table @ .., name] = all.as_slice() else {
                return Err(PgError::internal("object without a name"));
            };
            if table.is_empty() && object_type == ObjectType::Column {
                bail!(SYNTAX_ERROR, "column name must be qualified");
            }
            let rel = open(host, table)?;
            part_of(host, &rel, object_type, name).map(Some)
        }
        other => Err(PgError::unsupported(format!("objects of kind {other:?}"))),
    }
}

fn open(host: &mut dyn CommandHost, name: &[&str]) -> Result<Arc<RelDesc>> {
    let rv = names::range_var_of(name)?;
    names::open(host, &rv, names::mode::SHARE_UPDATE_EXCLUSIVE)
}

/// Error 42809 if the relation is not of the kind that the statement names. Counterpart:
/// `get_relation_by_qualified_name`.
fn check_kind(rel: &RelDesc, object_type: ObjectType) -> Result<()> {
    let (kinds, what): (&[RelKind], _) = match object_type {
        ObjectType::Index => (&[RelKind::Index, RelKind::PartitionedIndex], "an index"),
        ObjectType::Sequence => (&[RelKind::Sequence], "a sequence"),
        ObjectType::View => (&[RelKind::View], "a view"),
        ObjectType::Matview => (&[RelKind::MaterializedView], "a materialized view"),
        ObjectType::ForeignTable => (&[RelKind::ForeignTable], "a foreign table"),
        _ => (&[RelKind::Table, RelKind::PartitionedTable], "a table"),
    };
    if !kinds.contains(&rel.kind()) {
        bail!(WRONG_OBJECT_TYPE, "\"{}\" is not {what}", rel.name());
    }
    Ok(())
}

/// A column, constraint, rule, trigger or policy of a relation. An error if it does not exist.
pub fn part_of(
    host: &mut dyn CommandHost,
    rel: &RelDesc,
    object_type: ObjectType,
    name: &str,
) -> Result<ObjectAddress> {
    let keys = [rel.oid().into(), name.into()];
    let mut cat = host.catalog();
    let (found, noun, of) = match object_type {
        ObjectType::Column => {
            let Some(a) = rel.column(name) else {
                bail!(
                    UNDEFINED_COLUMN,
                    "column \"{name}\" of relation \"{}\" does not exist",
                    rel.name()
                )
            };
            return Ok(ObjectAddress::column(rel.oid(), a.attnum));
        }
        ObjectType::Tabconstraint => {
            let keys = [rel.oid().into(), Oid::INVALID.into(), name.into()];
            let index = indexes::PG_CONSTRAINT_CONRELID_CONTYPID_CONNAME_INDEX;
            let row = cat.scan(index, &keys)?.pop();
            (row.map(|r| ObjectAddress::of::<PgConstraint>(r.oid)), "constraint", "table")
        }
        ObjectType::Rule => {
            let row = cat.scan(indexes::PG_REWRITE_REL_RULENAME_INDEX, &keys)?.pop();
            (row.map(|r| ObjectAddress::of::<PgRewrite>(r.oid)), "rule", "relation")
        }
        ObjectType::Trigger => {
            let row = cat.scan(indexes::PG_TRIGGER_TGRELID_TGNAME_INDEX, &keys)?.pop();
            (row.map(|r| ObjectAddress::of::<PgTrigger>(r.oid)), "trigger", "table")
        }
        _ => {
            let row = cat.scan(indexes::PG_POLICY_POLRELID_POLNAME_INDEX, &keys)?.pop();
            (row.map(|r| ObjectAddress::of::<PgPolicy>(r.oid)), "policy", "table")
        }
    };
    found.ok_or_else(|| {
        pg_err!(UNDEFINED_OBJECT, "{noun} \"{name}\" for {of} \"{}\" does not exist", rel.name())
    })
}

fn domain_constraint(host: &mut dyn CommandHost, node: &Node) -> Result<ObjectAddress> {
    let (ty, name) = match node {
        Node::List(list) => match list.as_ref() {
            [ty, name] => (parts(ty), name.as_str().unwrap_or("")),
            _ => (Vec::new(), ""),
        },
        _ => (Vec::new(), ""),
    };
    let row = typerow::find(host, &ty)?;
    let keys = [Oid::INVALID.into(), row.oid.into(), name.into()];
    let index = indexes::PG_CONSTRAINT_CONRELID_CONTYPID_CONNAME_INDEX;
    match host.catalog().scan(index, &keys)?.pop() {
        Some(c) => Ok(ObjectAddress::of::<PgConstraint>(c.oid)),
        None => {
            let shown = host.catalog().format_type(row.oid)?;
            bail!(UNDEFINED_OBJECT, "constraint \"{name}\" for domain {shown} does not exist")
        }
    }
}

/// The type with this name; `None`, after a notice, if it does not exist and IF EXISTS was given.
fn type_of(host: &mut dyn CommandHost, name: &TypeName, missing_ok: bool) -> Result<Option<Oid>> {
    match lookup::type_of(host, name) {
        Ok(oid) => Ok(Some(oid)),
        Err(e) => {
            let missing = [SqlState::UNDEFINED_OBJECT, SqlState::INVALID_SCHEMA_NAME];
            if !missing_ok || !missing.contains(&e.code()) {
                return Err(e);
            }
            skip(host, e.message());
            Ok(None)
        }
    }
}

fn cast(
    host: &mut dyn CommandHost,
    node: &Node,
    missing_ok: bool,
) -> Result<Option<ObjectAddress>> {
    let Node::List(list) = node else { return Err(PgError::internal("cast without types")) };
    let [Node::TypeName(from), Node::TypeName(to)] = list.as_ref() else {
        return Err(PgError::internal("cast without two types"));
    };
    let Some(source) = type_of(host, from, missing_ok)? else { return Ok(None) };
    let Some(target) = type_of(host, to, missing_ok)? else { return Ok(None) };
    if let Some(row) = host.catalog().cast(source, target)? {
        return Ok(Some(ObjectAddress::of::<PgCast>(row.oid)));
    }
    if missing_ok {
        let from = analyze::typename::type_name_text(from);
        let to = analyze::typename::type_name_text(to);
        skip(host, &format!("cast from type {from} to type {to} does not exist"));
        return Ok(None);
    }
    let from = host.catalog().format_type(source)?;
    let to = host.catalog().format_type(target)?;
    bail!(UNDEFINED_OBJECT, "cast from type {from} to type {to} does not exist")
}

fn operator(
    host: &mut dyn CommandHost,
    node: &Node,
    missing_ok: bool,
) -> Result<Option<ObjectAddress>> {
    let Node::ObjectWithArgs(object) = node else {
        return Err(PgError::internal("operator without operands"));
    };
    let ObjectWithArgs { objname, objargs, .. } = &**object;
    let (schema, name) = match objname.as_slice() {
        [.., schema, name] => (Some(&**schema), &**name),
        [name] => (None, &**name),
        [] => return Err(PgError::internal("operator without a name")),
    };
    let [left, right] = objargs.as_slice() else {
        return Err(PgError::internal("operator without two operands"));
    };
    if right.is_none() {
        bail!(SYNTAX_ERROR, "postfix operators are not supported");
    }
    let missing_schema = match schema {
        Some(schema) => host.catalog().find_namespace(schema)?.is_none(),
        None => false,
    };
    if let Some(schema) = schema
        && missing_schema
        && missing_ok
    {
        skip(host, &format!("schema \"{schema}\" does not exist"));
        return Ok(None);
    }
    let mut types = [Oid::INVALID; 2];
    for (slot, operand) in types.iter_mut().zip([left, right]) {
        let Some(name) = operand else { continue };
        match type_of(host, name, missing_ok)? {
            Some(oid) => *slot = oid,
            None => return Ok(None),
        }
    }
    if !missing_schema
        && let Some(oid) = host.catalog().find_operator(schema, name, types[0], types[1])?
    {
        return Ok(Some(ObjectAddress::of::<PgOperator>(oid)));
    }
    let all: Vec<&str> = objname.iter().map(|n| &**n).collect();
    let shown = all.join(".");
    if missing_ok {
        skip(host, &format!("operator {shown} does not exist"));
        return Ok(None);
    }
    let right = host.catalog().format_type(types[1])?;
    let left = match types[0].valid() {
        Some(left) => host.catalog().format_type(left)? + " ",
        None => String::new(),
    };
    bail!(UNDEFINED_FUNCTION, "operator does not exist: {left}{shown} {right}")
}

fn transform(
    host: &mut dyn CommandHost,
    node: &Node,
    missing_ok: bool,
) -> Result<Option<ObjectAddress>> {
    let Node::List(list) = node else { return Err(PgError::internal("transform without a type")) };
    let [Node::TypeName(ty), language] = list.as_ref() else {
        return Err(PgError::internal("transform without a type and a language"));
    };
    let name = language.as_str().unwrap_or("");
    let Some(of) = type_of(host, ty, missing_ok)? else { return Ok(None) };
    let language = host.catalog().find_language(name)?.map(|row| row.oid);
    if let Some(language) = language {
        let keys = [of.into(), language.into()];
        let index = indexes::PG_TRANSFORM_TYPE_LANG_INDEX;
        if let Some(row) = host.catalog().scan(index, &keys)?.pop() {
            return Ok(Some(ObjectAddress::of::<PgTransform>(row.oid)));
        }
    }
    if missing_ok {
        let ty = analyze::typename::type_name_text(ty);
        skip(host, &format!("transform for type {ty} language \"{name}\" does not exist"));
        return Ok(None);
    }
    if language.is_none() {
        bail!(UNDEFINED_OBJECT, "language \"{name}\" does not exist");
    }
    let ty = host.catalog().format_type(of)?;
    bail!(UNDEFINED_OBJECT, "transform for type {ty} language \"{name}\" does not exist")
}

fn subscription(host: &mut dyn CommandHost, node: &Node) -> Result<ObjectAddress> {
    let all = parts(node);
    let name = all.last().copied().unwrap_or("");
    let database = host.backend().database();
    let rows = host.catalog().scan_all::<PgSubscription>()?;
    match rows.iter().find(|row| row.subdbid == database && row.subname == name) {
        Some(row) => Ok(ObjectAddress::of::<PgSubscription>(row.oid)),
        None => bail!(UNDEFINED_OBJECT, "subscription \"{name}\" does not exist"),
    }
}

fn large_object(host: &mut dyn CommandHost, node: &Node) -> Result<ObjectAddress> {
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
    Ok(ObjectAddress::of::<PgLargeobject>(oid))
}

/// Error 42501 unless the user owns the object. `node` is its name in the statement.
pub fn must_own(host: &mut dyn CommandHost, object: ObjectAddress, node: &Node) -> Result<()> {
    let oid = object.object;
    match object.class {
        PgClass::RELATION => {
            let rel = host.catalog().relation(oid)?;
            match object.sub {
                0 => names::must_own_relation(host, &rel),
                _ => names::must_own_parts(host, &rel),
            }
        }
        PgProc::RELATION => {
            let row = host.catalog().function(oid)?;
            if !names::is_owner(host, row.proowner)? {
                let (what, shown) = (lookup::noun_of(row.prokind), parts(node).join("."));
                bail!(INSUFFICIENT_PRIVILEGE, "must be owner of {what} {shown}");
            }
            Ok(())
        }
        PgType::RELATION => {
            let row = host.catalog().type_row(oid)?;
            typerow::must_own(host, &row)
        }
        PgConstraint::RELATION => {
            let row = host.catalog().constraint(oid)?;
            let row = row.ok_or_else(|| PgError::internal("constraint without a row"))?;
            if let Some(domain) = row.contypid.valid() {
                let row = host.catalog().type_row(domain)?;
                return typerow::must_own(host, &row);
            }
            let rel = host.catalog().relation(row.conrelid)?;
            names::must_own_parts(host, &rel)
        }
        PgAuthid::RELATION => must_manage_role(host, oid),
        PgLargeobject::RELATION => match &*host.setting("lo_compat_privileges") {
            "on" => Ok(()),
            _ => largeobject::check_owner(&mut host.catalog(), oid),
        },
        PgCast::RELATION => {
            let row = host.catalog().scan(indexes::PG_CAST_OID_INDEX, &[oid.into()])?.pop();
            let row = row.ok_or_else(|| PgError::internal("cast without a row"))?;
            must_own_a_type(host, &[row.castsource, row.casttarget])
        }
        PgTransform::RELATION => {
            let row = host.catalog().scan(indexes::PG_TRANSFORM_OID_INDEX, &[oid.into()])?.pop();
            let row = row.ok_or_else(|| PgError::internal("transform without a row"))?;
            must_own_a_type(host, &[row.trftype])
        }
        class => {
            let class = ObjectClass::of(class)
                .ok_or_else(|| PgError::internal(format!("no objects in catalog {class}")))?;
            let row = host.catalog().object_row(class, oid)?;
            if let Some(relation) = row.relation()? {
                let rel = host.catalog().relation(relation)?;
                return names::must_own_parts(host, &rel);
            }
            let shown = match node {
                Node::ObjectWithArgs(object) => {
                    let all: Vec<&str> = object.objname.iter().map(|n| &**n).collect();
                    all.join(".")
                }
                Node::Integer(_) | Node::Float(_) => oid.to_string(),
                node => parts(node).join("."),
            };
            must_own_row(host, &row, &shown)
        }
    }
}

/// Error 42501 unless the user owns one of the types of a cast or transform.
fn must_own_a_type(host: &mut dyn CommandHost, types: &[Oid]) -> Result<()> {
    let mut shown = Vec::new();
    for ty in types {
        let row = host.catalog().type_row(*ty)?;
        if names::is_owner(host, row.typowner)? {
            return Ok(());
        }
        shown.push(format!("type {}", host.catalog().format_type(*ty)?));
    }
    bail!(INSUFFICIENT_PRIVILEGE, "must be owner of {}", shown.join(" or "))
}

fn must_manage_role(host: &mut dyn CommandHost, role: Oid) -> Result<()> {
    if host.catalog().is_superuser(role)? {
        return must_be_superuser(host);
    }
    let user = names::user(host);
    let row = host.catalog().role_row(user)?;
    if !names::is_superuser(host)? && !row.is_some_and(|row| row.rolcreaterole) {
        bail!(INSUFFICIENT_PRIVILEGE, "must have CREATEROLE privilege");
    }
    Ok(())
}
