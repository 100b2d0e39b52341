//! CREATE OPERATOR CLASS, CREATE OPERATOR FAMILY and ALTER OPERATOR FAMILY … ADD, DROP.
//!
//! Counterpart: opclasscmds.c.

mod member;

use crate::object::address;
use crate::routine::lookup::{shown, type_of};
use crate::typerow::new_name;
use catalog::ObjectAddress;
use catalog::rows::{Name, PgAm, PgNamespace, PgOpclass, PgOpfamily, PgType, indexes};
use engine::am::Method;
use ids::Oid;
use ids::code::DepType;
use member::{Member, Members, Owner};
use parse::ast::{
    self, AlterOpFamilyStmt, CreateOpClassItem, CreateOpClassStmt, CreateOpFamilyStmt, Node,
    ObjectType, TypeName,
};
use pgerror::{PgError, Result, SqlState, bail, pg_err};
use utility::host::CommandHost;
use utility::names;

fn invalid(message: String) -> PgError {
    PgError::new(SqlState::INVALID_OBJECT_DEFINITION, message)
}

/// What the statements need to know of an access method. Counterpart: `IndexAmRoutine`.
pub(crate) struct AccessMethod {
    pub oid: Oid,
    pub name: &'static str,
    pub method: &'static Method,
    operators_max: i32,
    functions_max: i32,
    /// The support function that parses the options of an operator class.
    pub options_function: i32,
    /// An operator class may name another type for storage.
    has_storage_type: bool,
}

impl AccessMethod {
    fn find(host: &mut dyn CommandHost, name: Option<&str>) -> Result<AccessMethod> {
        let name = name.unwrap_or_default();
        let Some(row) = host.catalog().find_access_method(name)? else {
            bail!(UNDEFINED_OBJECT, "access method \"{name}\" does not exist")
        };
        let Some(method) = host.catalog().access_method(row.oid)? else {
            if row.amtype == ids::code::AmType::Table {
                bail!(
                    OBJECT_NOT_IN_PREREQUISITE_STATE,
                    "access method \"{name}\" is not of type INDEX"
                );
            }
            return Err(PgError::unsupported(format!("access method \"{name}\"")));
        };
        let (functions_max, options_function) = match method.info.name {
            "btree" => (5, 5),
            "hash" => (3, 3),
            "gist" => (11, 10),
            "gin" => (7, 7),
            "spgist" => (7, 6),
            "bloom" => (2, 2),
            _ => (15, 5),
        };
        let operators_max = match method.info.capabilities.strategies {
            0 => i32::from(i16::MAX),
            n => i32::from(n),
        };
        Ok(AccessMethod {
            oid: row.oid,
            name: method.info.name,
            method,
            operators_max,
            functions_max,
            options_function,
            has_storage_type: !matches!(method.info.name, "btree" | "hash" | "bloom"),
        })
    }

    fn check_number(&self, number: i32, is_function: bool) -> Result<()> {
        let (what, max) = match is_function {
            true => ("function", self.functions_max),
            false => ("operator", self.operators_max),
        };
        if number <= 0 || number > max {
            return Err(invalid(format!(
                "invalid {what} number {number}, must be between 1 and {max}"
            )));
        }
        Ok(())
    }
}

/// Codes of the items in the grammar.
const OPERATOR: i32 = 1;
const FUNCTION: i32 = 2;

fn schema_and_name(names: &[ast::Name]) -> (Option<&str>, &str) {
    match names {
        [.., schema, name] => (Some(&**schema), &**name),
        [name] => (None, &**name),
        [] => (None, ""),
    }
}

/// The operator family with this name. Error 42704 if there is none.
fn family(host: &mut dyn CommandHost, method: (Oid, &str), names: &[ast::Name]) -> Result<Oid> {
    let (schema, name) = schema_and_name(names);
    if let Some(schema) = schema {
        host.catalog().namespace(schema)?;
    }
    match host.catalog().find_opfamily(method.0, schema, name)? {
        Some(oid) => Ok(oid),
        None => bail!(
            UNDEFINED_OBJECT,
            "operator family \"{}\" does not exist for access method \"{}\"",
            shown(names),
            method.1
        ),
    }
}

fn must_be_superuser(host: &mut dyn CommandHost, what: &str) -> Result<()> {
    if !names::is_superuser(host)? {
        bail!(INSUFFICIENT_PRIVILEGE, "must be superuser to {what}");
    }
    Ok(())
}

/// CREATE OPERATOR FAMILY.
pub fn create_family(host: &mut dyn CommandHost, stmt: &CreateOpFamilyStmt) -> Result<()> {
    let (schema, name) = new_name(host, &stmt.opfamilyname)?;
    let method = AccessMethod::find(host, stmt.amname.as_deref())?;
    must_be_superuser(host, "create an operator family")?;
    insert_family(host, &method, schema, &name).map(|_| ())
}

/// Counterpart: `CreateOpFamily`.
fn insert_family(
    host: &mut dyn CommandHost,
    method: &AccessMethod,
    schema: Oid,
    name: &str,
) -> Result<Oid> {
    let owner = names::user(host);
    let mut cat = host.catalog();
    let keys = [method.oid.into(), name.into(), schema.into()];
    if !cat.scan(indexes::PG_OPFAMILY_AM_NAME_NSP_INDEX, &keys)?.is_empty() {
        bail!(
            DUPLICATE_OBJECT,
            "operator family \"{name}\" for access method \"{}\" already exists",
            method.name
        );
    }
    let oid = cat.new_oid(indexes::PG_OPFAMILY_OID_INDEX)?;
    cat.insert(&PgOpfamily {
        oid,
        opfmethod: method.oid,
        opfname: Name::new(name),
        opfnamespace: schema,
        opfowner: owner,
    })?;
    let this = ObjectAddress::of::<PgOpfamily>(oid);
    cat.record_dependency(this, ObjectAddress::of::<PgAm>(method.oid), DepType::Auto)?;
    cat.record_dependency(this, ObjectAddress::of::<PgNamespace>(schema), DepType::Normal)?;
    cat.record_owner(this, owner)?;
    cat.increment_command_counter()?;
    Ok(oid)
}

/// One or two types. Counterpart: `processTypesSpec`.
fn type_pair(host: &mut dyn CommandHost, args: &[TypeName]) -> Result<(Oid, Oid)> {
    let [first, rest @ ..] = args else {
        return Err(PgError::internal("member of an operator family without types"));
    };
    let left = type_of(host, first)?;
    let right = match rest.first() {
        Some(second) => type_of(host, second)?,
        None => left,
    };
    if rest.len() > 1 {
        bail!(SYNTAX_ERROR, "one or two argument types must be specified");
    }
    Ok((left, right))
}

fn storage_type(item: &CreateOpClassItem) -> Result<&TypeName> {
    let found = item.storedtype.as_deref();
    found.ok_or_else(|| PgError::internal("storage item without a type"))
}

/// The operator of an item. Without operand types it is the one on `input`, twice.
fn operator(
    host: &mut dyn CommandHost,
    item: &CreateOpClassItem,
    input: Option<Oid>,
) -> Result<Oid> {
    let Some(name) = &item.name else {
        return Err(PgError::internal("operator item without an operator"));
    };
    if !name.objargs.is_empty() {
        let node = Node::ObjectWithArgs(name.clone());
        let found = address::resolve(host, ObjectType::Operator, &node, false)?;
        return Ok(found.map(|a| a.object).unwrap_or_default());
    }
    let Some(input) = input else {
        bail!(SYNTAX_ERROR, "operator argument types must be specified in ALTER OPERATOR FAMILY")
    };
    let (schema, text) = schema_and_name(&name.objname);
    if let Some(found) = host.catalog().find_operator(schema, text, input, input)? {
        return Ok(found);
    }
    let ty = host.catalog().format_type(input)?;
    bail!(UNDEFINED_FUNCTION, "operator does not exist: {ty} {} {ty}", shown(&name.objname))
}

/// The operators and functions of the items. `input`: the type of the operator class.
fn members(
    host: &mut dyn CommandHost,
    method: &AccessMethod,
    items: &[CreateOpClassItem],
    input: Option<Oid>,
) -> Result<(Members, Option<Oid>)> {
    let mut members = Members::default();
    let mut storage = None;
    for item in items {
        match item.itemtype {
            OPERATOR => {
                method.check_number(item.number, false)?;
                let object = operator(host, item, input)?;
                let btree = (ids::builtin::am::BTREE, "btree");
                let sort_family = match item.order_family.is_empty() {
                    true => Oid::INVALID,
                    false => family(host, btree, &item.order_family)?,
                };
                let m = Member::operator(host, method, item.number, object, sort_family)?;
                members.add_operator(host, m)?;
            }
            FUNCTION => {
                method.check_number(item.number, true)?;
                let name = item.name.as_deref();
                let name = name.ok_or_else(|| PgError::internal("item without a function"))?;
                let kind = ObjectType::Function;
                let found = crate::routine::lookup::find(host, name, kind, false)?;
                let object = found.unwrap_or_default();
                let types = match item.class_args.is_empty() {
                    true => (Oid::INVALID, Oid::INVALID),
                    false => type_pair(host, &item.class_args)?,
                };
                let number = (item.number, object);
                let m = Member::function(host, method, number, types, input)?;
                members.add_function(host, m)?;
            }
            _ if input.is_none() => {
                bail!(SYNTAX_ERROR, "STORAGE cannot be specified in ALTER OPERATOR FAMILY")
            }
            _ => {
                if storage.is_some() {
                    return Err(invalid("storage type specified more than once".to_owned()));
                }
                storage = Some(type_of(host, storage_type(item)?)?);
            }
        }
    }
    Ok((members, storage))
}

/// Error 42710 if the class exists, or if another one is the default of the type.
fn check_new_class(
    host: &mut dyn CommandHost,
    method: &AccessMethod,
    stmt: &CreateOpClassStmt,
    (schema, name): (Oid, &str),
    input: Oid,
) -> Result<()> {
    let mut cat = host.catalog();
    let rows = cat.scan(indexes::PG_OPCLASS_AM_NAME_NSP_INDEX, &[method.oid.into()])?;
    if rows.iter().any(|c| c.opcname == *name && c.opcnamespace == schema) {
        bail!(
            DUPLICATE_OBJECT,
            "operator class \"{name}\" for access method \"{}\" already exists",
            method.name
        );
    }
    let default = rows.iter().find(|c| c.opcintype == input && c.opcdefault);
    if let Some(default) = default.filter(|_| stmt.is_default) {
        let ty = stmt.datatype.as_deref().map(analyze::typename::type_name_text);
        return Err(pg_err!(
            DUPLICATE_OBJECT,
            "could not make operator class \"{name}\" be default for type {}",
            ty.unwrap_or_default()
        )
        .detail(format!("Operator class \"{}\" already is the default.", default.opcname)));
    }
    Ok(())
}

/// CREATE OPERATOR CLASS.
pub fn create_class(host: &mut dyn CommandHost, stmt: &CreateOpClassStmt) -> Result<()> {
    let (schema, name) = new_name(host, &stmt.opclassname)?;
    let method = AccessMethod::find(host, stmt.amname.as_deref())?;
    must_be_superuser(host, "create an operator class")?;
    let Some(datatype) = stmt.datatype.as_deref() else {
        return Err(PgError::internal("operator class without a type"));
    };
    let input = type_of(host, datatype)?;
    let family = match stmt.opfamilyname.is_empty() {
        false => family(host, (method.oid, method.name), &stmt.opfamilyname)?,
        true => {
            let keys = [method.oid.into(), name.as_str().into(), schema.into()];
            let index = indexes::PG_OPFAMILY_AM_NAME_NSP_INDEX;
            let found = host.catalog().scan(index, &keys)?.pop();
            match found {
                Some(row) => row.oid,
                None => insert_family(host, &method, schema, &name)?,
            }
        }
    };
    let (members, storage) = members(host, &method, &stmt.items, Some(input))?;
    let storage = storage.filter(|ty| *ty != input);
    if storage.is_some() && !method.has_storage_type {
        return Err(invalid(format!(
            "storage type cannot be different from data type for access method \"{}\"",
            method.name
        )));
    }
    check_new_class(host, &method, stmt, (schema, &name), input)?;
    let owner = names::user(host);
    let mut cat = host.catalog();
    let oid = cat.new_oid(indexes::PG_OPCLASS_OID_INDEX)?;
    cat.insert(&PgOpclass {
        oid,
        opcmethod: method.oid,
        opcname: Name::new(&name),
        opcnamespace: schema,
        opcowner: owner,
        opcfamily: family,
        opcintype: input,
        opcdefault: stmt.is_default,
        opckeytype: storage.unwrap_or_default(),
    })?;
    cat.increment_command_counter()?;
    drop(cat);
    let of = Owner { family, class: Some((oid, input)), shown: &stmt.opfamilyname };
    members.store(host, &method, &of)?;
    let mut cat = host.catalog();
    let this = ObjectAddress::of::<PgOpclass>(oid);
    cat.record_dependency(this, ObjectAddress::of::<PgNamespace>(schema), DepType::Normal)?;
    cat.record_dependency(this, ObjectAddress::of::<PgOpfamily>(family), DepType::Auto)?;
    cat.record_dependency(this, ObjectAddress::of::<PgType>(input), DepType::Normal)?;
    if let Some(storage) = storage {
        cat.record_dependency(this, ObjectAddress::of::<PgType>(storage), DepType::Normal)?;
    }
    cat.record_owner(this, owner)?;
    cat.increment_command_counter()
}

/// ALTER OPERATOR FAMILY … ADD and DROP.
pub fn alter_family(host: &mut dyn CommandHost, stmt: &AlterOpFamilyStmt) -> Result<()> {
    let method = AccessMethod::find(host, stmt.amname.as_deref())?;
    let family = family(host, (method.oid, method.name), &stmt.opfamilyname)?;
    must_be_superuser(host, "alter an operator family")?;
    if !stmt.is_drop {
        let (members, _) = members(host, &method, &stmt.items, None)?;
        let of = Owner { family, class: None, shown: &stmt.opfamilyname };
        return members.store(host, &method, &of);
    }
    let mut dropped = Vec::new();
    for item in &stmt.items {
        let is_function = item.itemtype == FUNCTION;
        method.check_number(item.number, is_function)?;
        let types = type_pair(host, &item.class_args)?;
        dropped.push((is_function, item.number, types));
    }
    for (is_function, number, types) in dropped {
        let of = Owner { family, class: None, shown: &stmt.opfamilyname };
        member::drop_member(host, &of, is_function, number, types)?;
    }
    Ok(())
}
