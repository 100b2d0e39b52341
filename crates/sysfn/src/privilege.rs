//! Privilege inquiry functions. Counterpart: utils/adt/acl.c (`has_…_privilege`).

use crate::function::{SysCall, SysFn, text};
use crate::host::SystemHost;
use catalog::acl::{self, Kind};
use catalog::cache;
use catalog::rows::{AclItem, indexes};
use ids::{Oid, Persistence, RelKind};
use pgerror::{PgError, Result, pg_err};
use types::fn_context::RegKind;
use types::{Datum, DatumRef};

/// Owner and access control list of an object.
type OwnerAndAcl = (Oid, Option<Vec<AclItem>>);

/// A kind of object with privileges.
trait Object {
    const KIND: Kind;
    fn named(core: &mut dyn SystemHost, name: &str) -> Result<Oid>;
    /// `None` if there is no such object.
    fn owner_and_acl(core: &mut dyn SystemHost, oid: Oid) -> Result<Option<OwnerAndAcl>>;
    /// The subset of the wanted privileges that the role has; `None` if there is no such object.
    fn have(core: &mut dyn SystemHost, role: Oid, oid: Oid, wanted: u32) -> Result<Option<u32>> {
        let Some((owner, acl)) = Self::owner_and_acl(core, oid)? else { return Ok(None) };
        core.catalog().privileges(role, owner, acl.as_deref(), Self::KIND, wanted).map(Some)
    }
}

fn found(oid: Option<Oid>, missing: impl FnOnce() -> PgError) -> Result<Oid> {
    oid.ok_or_else(missing)
}

struct Table;
impl Object for Table {
    const KIND: Kind = Kind::Table;
    fn named(core: &mut dyn SystemHost, name: &str) -> Result<Oid> {
        found(super::reg::lookup_name(core, RegKind::Class, name)?, || {
            let name = types::string::plain_name(name);
            pg_err!(UNDEFINED_TABLE, "relation \"{name}\" does not exist")
        })
    }
    fn owner_and_acl(core: &mut dyn SystemHost, oid: Oid) -> Result<Option<OwnerAndAcl>> {
        Ok(core.catalog().find_class(oid)?.map(|c| (c.relowner, c.relacl.clone())))
    }
    fn have(core: &mut dyn SystemHost, role: Oid, oid: Oid, wanted: u32) -> Result<Option<u32>> {
        let Some(class) = core.catalog().find_class(oid)? else { return Ok(None) };
        core.catalog().relation_privileges(role, &class, wanted).map(Some)
    }
}

struct Sequence;
impl Object for Sequence {
    const KIND: Kind = Kind::Sequence;
    fn named(core: &mut dyn SystemHost, name: &str) -> Result<Oid> {
        let oid = Table::named(core, name)?;
        if core.catalog().class(oid)?.relkind != RelKind::Sequence {
            return Err(pg_err!(WRONG_OBJECT_TYPE, "\"{name}\" is not a sequence"));
        }
        Ok(oid)
    }
    fn owner_and_acl(core: &mut dyn SystemHost, oid: Oid) -> Result<Option<OwnerAndAcl>> {
        Table::owner_and_acl(core, oid)
    }
    fn have(core: &mut dyn SystemHost, role: Oid, oid: Oid, wanted: u32) -> Result<Option<u32>> {
        Table::have(core, role, oid, wanted)
    }
}

struct Schema;
impl Object for Schema {
    const KIND: Kind = Kind::Schema;
    fn named(core: &mut dyn SystemHost, name: &str) -> Result<Oid> {
        found(core.catalog().find_namespace(name)?, || {
            pg_err!(INVALID_SCHEMA_NAME, "schema \"{name}\" does not exist")
        })
    }
    fn owner_and_acl(core: &mut dyn SystemHost, oid: Oid) -> Result<Option<OwnerAndAcl>> {
        let row = core.catalog().search(cache::NAMESPACEOID, &[oid.into()])?;
        Ok(row.map(|r| (r.nspowner, r.nspacl.clone())))
    }
    fn have(core: &mut dyn SystemHost, role: Oid, oid: Oid, wanted: u32) -> Result<Option<u32>> {
        if core.catalog().search(cache::NAMESPACEOID, &[oid.into()])?.is_none() {
            return Ok(None);
        }
        core.catalog().schema_privileges(role, oid, wanted).map(Some)
    }
}

struct Database;
impl Object for Database {
    const KIND: Kind = Kind::Database;
    fn named(core: &mut dyn SystemHost, name: &str) -> Result<Oid> {
        found(core.catalog().find_database(name)?.map(|d| d.oid), || {
            pg_err!(UNDEFINED_DATABASE, "database \"{name}\" does not exist")
        })
    }
    fn owner_and_acl(core: &mut dyn SystemHost, oid: Oid) -> Result<Option<OwnerAndAcl>> {
        Ok(core.catalog().database(oid)?.map(|d| (d.datdba, d.datacl.clone())))
    }
}

struct Function;
impl Object for Function {
    const KIND: Kind = Kind::Function;
    fn named(core: &mut dyn SystemHost, name: &str) -> Result<Oid> {
        found(super::reg::lookup_name(core, RegKind::Procedure, name)?, || {
            pg_err!(UNDEFINED_FUNCTION, "function \"{name}\" does not exist")
        })
    }
    fn owner_and_acl(core: &mut dyn SystemHost, oid: Oid) -> Result<Option<OwnerAndAcl>> {
        Ok(core.catalog().find_function(oid)?.map(|f| (f.proowner, f.proacl.clone())))
    }
}

struct Type;
impl Object for Type {
    const KIND: Kind = Kind::Type;
    fn named(core: &mut dyn SystemHost, name: &str) -> Result<Oid> {
        found(super::reg::lookup_name(core, RegKind::Type, name)?, || {
            pg_err!(UNDEFINED_OBJECT, "type \"{name}\" does not exist")
        })
    }
    fn owner_and_acl(core: &mut dyn SystemHost, oid: Oid) -> Result<Option<OwnerAndAcl>> {
        Ok(core.catalog().find_type(oid)?.map(|t| (t.typowner, t.typacl.clone())))
    }
}

struct Language;
impl Object for Language {
    const KIND: Kind = Kind::Language;
    fn named(core: &mut dyn SystemHost, name: &str) -> Result<Oid> {
        found(core.catalog().find_language(name)?.map(|l| l.oid), || {
            pg_err!(UNDEFINED_OBJECT, "language \"{name}\" does not exist")
        })
    }
    fn owner_and_acl(core: &mut dyn SystemHost, oid: Oid) -> Result<Option<OwnerAndAcl>> {
        let row = core.catalog().search(cache::LANGOID, &[oid.into()])?;
        Ok(row.map(|l| (l.lanowner, l.lanacl.clone())))
    }
}

struct Tablespace;
impl Object for Tablespace {
    const KIND: Kind = Kind::Tablespace;
    fn named(core: &mut dyn SystemHost, name: &str) -> Result<Oid> {
        found(core.catalog().find_tablespace(name)?.map(|t| t.oid), || {
            pg_err!(UNDEFINED_OBJECT, "tablespace \"{name}\" does not exist")
        })
    }
    fn owner_and_acl(core: &mut dyn SystemHost, oid: Oid) -> Result<Option<OwnerAndAcl>> {
        let row = core.catalog().search(cache::TABLESPACEOID, &[oid.into()])?;
        Ok(row.map(|t| (t.spcowner, t.spcacl.clone())))
    }
}

struct Server;
impl Object for Server {
    const KIND: Kind = Kind::ForeignServer;
    fn named(core: &mut dyn SystemHost, name: &str) -> Result<Oid> {
        let row = core.catalog().scan(indexes::PG_FOREIGN_SERVER_NAME_INDEX, &[name.into()])?.pop();
        found(row.map(|r| r.oid), || pg_err!(UNDEFINED_OBJECT, "server \"{name}\" does not exist"))
    }
    fn owner_and_acl(core: &mut dyn SystemHost, oid: Oid) -> Result<Option<OwnerAndAcl>> {
        let row = core.catalog().scan(indexes::PG_FOREIGN_SERVER_OID_INDEX, &[oid.into()])?.pop();
        Ok(row.map(|r| (r.srvowner, r.srvacl.clone())))
    }
}

struct Wrapper;
impl Object for Wrapper {
    const KIND: Kind = Kind::ForeignDataWrapper;
    fn named(core: &mut dyn SystemHost, name: &str) -> Result<Oid> {
        let index = indexes::PG_FOREIGN_DATA_WRAPPER_NAME_INDEX;
        let row = core.catalog().scan(index, &[name.into()])?.pop();
        found(row.map(|r| r.oid), || {
            pg_err!(UNDEFINED_OBJECT, "foreign-data wrapper \"{name}\" does not exist")
        })
    }
    fn owner_and_acl(core: &mut dyn SystemHost, oid: Oid) -> Result<Option<OwnerAndAcl>> {
        let index = indexes::PG_FOREIGN_DATA_WRAPPER_OID_INDEX;
        let row = core.catalog().scan(index, &[oid.into()])?.pop();
        Ok(row.map(|r| (r.fdwowner, r.fdwacl.clone())))
    }
}

/// Privileges on a setting. Its access control list, if it has one, is looked up by name.
fn has_parameter(
    core: &mut dyn SystemHost,
    role: Oid,
    name: &str,
    wanted: DatumRef<'_>,
) -> Result<Datum> {
    let masks = masks_of(&text(wanted), Kind::Parameter)?;
    let name = name.to_ascii_lowercase();
    for mask in masks {
        if core.catalog().has_parameter_privilege(role, &name, mask)? {
            return Ok(Datum::bool(true));
        }
    }
    Ok(Datum::bool(false))
}

/// A role by name; `public` is the invalid OID.
fn role(core: &mut dyn SystemHost, name: DatumRef<'_>) -> Result<Oid> {
    let name = String::from_utf8_lossy(name.as_name()).into_owned();
    if name == "public" {
        return Ok(Oid::INVALID);
    }
    Ok(core.catalog().role(&name)?.oid)
}

const WORDS: &[(&str, u32)] = &[
    ("SELECT", acl::SELECT),
    ("INSERT", acl::INSERT),
    ("UPDATE", acl::UPDATE),
    ("DELETE", acl::DELETE),
    ("TRUNCATE", acl::TRUNCATE),
    ("REFERENCES", acl::REFERENCES),
    ("TRIGGER", acl::TRIGGER),
    ("EXECUTE", acl::EXECUTE),
    ("USAGE", acl::USAGE),
    ("CREATE", acl::CREATE),
    ("TEMPORARY", acl::CREATE_TEMP),
    ("TEMP", acl::CREATE_TEMP),
    ("CONNECT", acl::CONNECT),
    ("SET", acl::SET),
    ("ALTER SYSTEM", acl::ALTER_SYSTEM),
];
const GRANT_OPTION: &str = " WITH GRANT OPTION";

/// Parses a list of privilege names into masks. RULE is accepted and means no privilege.
fn masks_of(text: &str, kind: Kind) -> Result<Vec<u32>> {
    let mut out = Vec::new();
    for written in text.split(',') {
        let part = written.trim().to_ascii_uppercase();
        let (word, shift) = match part.strip_suffix(GRANT_OPTION) {
            Some(word) => (word.trim_end(), 16),
            None => (&*part, 0),
        };
        let known = WORDS.iter().find(|w| w.0 == word && kind.all() & w.1 != 0);
        match known {
            Some(w) => out.push(w.1 << shift),
            None if word == "RULE" && kind == Kind::Table => out.push(0),
            None => {
                let part = written.trim();
                return Err(pg_err!(
                    INVALID_PARAMETER_VALUE,
                    "unrecognized privilege type: \"{part}\""
                ));
            }
        }
    }
    Ok(out)
}

/// True if the role has any of the named privileges.
fn has<O: Object>(
    core: &mut dyn SystemHost,
    role: Oid,
    oid: Oid,
    wanted: DatumRef<'_>,
) -> Result<Datum> {
    let masks = masks_of(&text(wanted), O::KIND)?;
    for mask in masks {
        match O::have(core, role, oid, mask)? {
            None => return Ok(Datum::Null),
            Some(have) if mask != 0 && have == mask => return Ok(Datum::bool(true)),
            Some(_) => {}
        }
    }
    Ok(Datum::bool(false))
}

/// `has_any_column_privilege`: on the whole table or on any column.
fn has_any(core: &mut dyn SystemHost, role: Oid, oid: Oid, wanted: DatumRef<'_>) -> Result<Datum> {
    let masks = masks_of(&text(wanted), Kind::Column)?;
    let whole = has::<Table>(core, role, oid, wanted)?;
    if whole != Datum::bool(false) {
        return Ok(whole);
    }
    let desc = core.catalog().relation(oid)?;
    for a in desc.attributes.iter().filter(|a| !a.attisdropped && a.attacl.is_some()) {
        for &mask in &masks {
            let owner = desc.class.relowner;
            if core.catalog().has_privilege(role, owner, a.attacl.as_deref(), Kind::Column, mask)? {
                return Ok(Datum::bool(true));
            }
        }
    }
    Ok(Datum::bool(false))
}

/// The attribute number of `tableoid`, the lowest of the system columns.
const OLDEST_SYSTEM_COLUMN: i16 = -6;

/// `has_column_privilege`: on the whole table or on this column.
fn has_column(
    core: &mut dyn SystemHost,
    role: Oid,
    oid: Oid,
    number: i16,
    wanted: DatumRef<'_>,
) -> Result<Datum> {
    let masks = masks_of(&text(wanted), Kind::Column)?;
    let Some(desc) = core.catalog().try_relation(oid)? else { return Ok(Datum::Null) };
    let Some(a) = desc.attribute(number).filter(|a| !a.attisdropped) else {
        // System columns have no column privileges.
        return if (OLDEST_SYSTEM_COLUMN..0).contains(&number) {
            has::<Table>(core, role, oid, wanted)
        } else {
            Ok(Datum::Null)
        };
    };
    let whole = has::<Table>(core, role, oid, wanted)?;
    if whole != Datum::bool(false) {
        return Ok(whole);
    }
    for mask in masks {
        let owner = desc.class.relowner;
        if core.catalog().has_privilege(role, owner, a.attacl.as_deref(), Kind::Column, mask)? {
            return Ok(Datum::bool(true));
        }
    }
    Ok(Datum::bool(false))
}

fn column_number(core: &mut dyn SystemHost, oid: Oid, name: DatumRef<'_>) -> Result<i16> {
    let name = text(name);
    let Some(desc) = core.catalog().try_relation(oid)? else { return Ok(0) };
    match desc.column(&name) {
        Some(a) => Ok(a.attnum),
        None => Err(pg_err!(
            UNDEFINED_COLUMN,
            "column \"{name}\" of relation \"{}\" does not exist",
            desc.name()
        )),
    }
}

/// `pg_has_role`: `MEMBER` or `USAGE` of a role.
fn member(core: &mut dyn SystemHost, role: Oid, of: Oid, wanted: DatumRef<'_>) -> Result<Datum> {
    for part in text(wanted).split(',') {
        let word = part.trim().to_ascii_uppercase();
        let word = word.as_str();
        let base = word.split(" WITH ").next().unwrap_or(word);
        let yes = match base {
            "USAGE" if word == base => core.catalog().is_member(role, of, true)?,
            "MEMBER" if word == base => core.catalog().is_member(role, of, false)?,
            "USAGE" | "MEMBER" => {
                let keys = [of.into(), role.into()];
                let row = core.catalog().search(cache::AUTHMEMROLEMEM, &keys)?;
                row.is_some_and(|r| r.admin_option) || core.catalog().is_superuser(role)?
            }
            _ => {
                return Err(pg_err!(
                    INVALID_PARAMETER_VALUE,
                    "unrecognized privilege type: \"{}\"",
                    part.trim()
                ));
            }
        };
        if yes {
            return Ok(Datum::bool(true));
        }
    }
    Ok(Datum::bool(false))
}

/// The six variants of a function: role by name, by OID or the current one; object by name or by
/// OID.
macro_rules! family {
    ($prefix:literal, $named:path, $has:path) => {
        &[
            SysFn {
                name: concat!($prefix, "_name_name"),
                call: SysCall::One(|c, a| {
                    let (role, oid) = (role(c, a[0])?, $named(c, &text(a[1]))?);
                    $has(c, role, oid, a[2])
                }),
            },
            SysFn {
                name: concat!($prefix, "_name_id"),
                call: SysCall::One(|c, a| {
                    let role = role(c, a[0])?;
                    $has(c, role, a[1].as_oid(), a[2])
                }),
            },
            SysFn {
                name: concat!($prefix, "_id_name"),
                call: SysCall::One(|c, a| {
                    let oid = $named(c, &text(a[1]))?;
                    $has(c, a[0].as_oid(), oid, a[2])
                }),
            },
            SysFn {
                name: concat!($prefix, "_id_id"),
                call: SysCall::One(|c, a| $has(c, a[0].as_oid(), a[1].as_oid(), a[2])),
            },
            SysFn {
                name: concat!($prefix, "_name"),
                call: SysCall::One(|c, a| {
                    let oid = $named(c, &text(a[0]))?;
                    let user = c.catalog_session().user;
                    $has(c, user, oid, a[1])
                }),
            },
            SysFn {
                name: concat!($prefix, "_id"),
                call: SysCall::One(|c, a| {
                    let user = c.catalog_session().user;
                    $has(c, user, a[0].as_oid(), a[1])
                }),
            },
        ]
    };
}

pub(super) const TABLE: &[SysFn] = family!("has_table_privilege", Table::named, has::<Table>);
pub(super) const ANY_COLUMN: &[SysFn] = family!("has_any_column_privilege", Table::named, has_any);
pub(super) const SEQUENCE: &[SysFn] =
    family!("has_sequence_privilege", Sequence::named, has::<Sequence>);
pub(super) const SCHEMA: &[SysFn] = family!("has_schema_privilege", Schema::named, has::<Schema>);
pub(super) const DATABASE: &[SysFn] =
    family!("has_database_privilege", Database::named, has::<Database>);
pub(super) const FUNCTION: &[SysFn] =
    family!("has_function_privilege", Function::named, has::<Function>);
pub(super) const TYPE: &[SysFn] = family!("has_type_privilege", Type::named, has::<Type>);
pub(super) const LANGUAGE: &[SysFn] =
    family!("has_language_privilege", Language::named, has::<Language>);
pub(super) const TABLESPACE: &[SysFn] =
    family!("has_tablespace_privilege", Tablespace::named, has::<Tablespace>);

pub(super) const SERVER: &[SysFn] = family!("has_server_privilege", Server::named, has::<Server>);
pub(super) const WRAPPER: &[SysFn] =
    family!("has_foreign_data_wrapper_privilege", Wrapper::named, has::<Wrapper>);

/// A variant of `has_column_privilege`: role, table and column by name or number.
macro_rules! column {
    ($name:literal, $role:expr, $table:expr, $column:expr) => {
        SysFn {
            name: concat!("has_column_privilege_", $name),
            call: SysCall::One(|c, a| {
                let role: fn(&mut dyn SystemHost, DatumRef<'_>) -> Result<Oid> = $role;
                let table: fn(&mut dyn SystemHost, DatumRef<'_>) -> Result<Oid> = $table;
                let column: fn(&mut dyn SystemHost, Oid, DatumRef<'_>) -> Result<i16> = $column;
                let (role, table) = (role(c, a[0])?, table(c, a[1])?);
                let number = column(c, table, a[2])?;
                has_column(c, role, table, number, a[3])
            }),
        }
    };
}

fn by_oid(_: &mut dyn SystemHost, d: DatumRef<'_>) -> Result<Oid> {
    Ok(d.as_oid())
}

fn table_named(core: &mut dyn SystemHost, d: DatumRef<'_>) -> Result<Oid> {
    Table::named(core, &text(d))
}

fn by_number(_: &mut dyn SystemHost, _: Oid, d: DatumRef<'_>) -> Result<i16> {
    Ok(d.as_i16())
}

pub(super) const COLUMN: &[SysFn] = &[
    column!("name_name_name", role, table_named, column_number),
    column!("name_name_attnum", role, table_named, by_number),
    column!("name_id_name", role, by_oid, column_number),
    column!("name_id_attnum", role, by_oid, by_number),
    column!("id_name_name", by_oid, table_named, column_number),
    column!("id_name_attnum", by_oid, table_named, by_number),
    column!("id_id_name", by_oid, by_oid, column_number),
    column!("id_id_attnum", by_oid, by_oid, by_number),
];

pub(super) const PARAMETER: &[SysFn] = &[
    SysFn {
        name: "has_parameter_privilege_name_name",
        call: SysCall::One(|c, a| {
            let role = role(c, a[0])?;
            has_parameter(c, role, &text(a[1]), a[2])
        }),
    },
    SysFn {
        name: "has_parameter_privilege_id_name",
        call: SysCall::One(|c, a| has_parameter(c, a[0].as_oid(), &text(a[1]), a[2])),
    },
    SysFn {
        name: "has_parameter_privilege_name",
        call: SysCall::One(|c, a| {
            let user = c.catalog_session().user;
            has_parameter(c, user, &text(a[0]), a[1])
        }),
    },
];

fn role_named(core: &mut dyn SystemHost, name: &str) -> Result<Oid> {
    Ok(core.catalog().role(name)?.oid)
}

/// The role arguments of `pg_has_role` have type name, not text.
fn name_text(d: DatumRef<'_>) -> String {
    String::from_utf8_lossy(d.as_name()).into_owned()
}

pub(super) const ROLE: &[SysFn] = &[
    SysFn {
        name: "pg_has_role_name_name",
        call: SysCall::One(|c, a| {
            let (role, of) = (role_named(c, &name_text(a[0]))?, role_named(c, &name_text(a[1]))?);
            member(c, role, of, a[2])
        }),
    },
    SysFn {
        name: "pg_has_role_name_id",
        call: SysCall::One(|c, a| {
            let role = role_named(c, &name_text(a[0]))?;
            member(c, role, a[1].as_oid(), a[2])
        }),
    },
    SysFn {
        name: "pg_has_role_id_name",
        call: SysCall::One(|c, a| {
            let of = role_named(c, &name_text(a[1]))?;
            member(c, a[0].as_oid(), of, a[2])
        }),
    },
    SysFn {
        name: "pg_has_role_id_id",
        call: SysCall::One(|c, a| member(c, a[0].as_oid(), a[1].as_oid(), a[2])),
    },
    SysFn {
        name: "pg_has_role_name",
        call: SysCall::One(|c, a| {
            let of = role_named(c, &name_text(a[0]))?;
            let user = c.catalog_session().user;
            member(c, user, of, a[1])
        }),
    },
    SysFn {
        name: "pg_has_role_id",
        call: SysCall::One(|c, a| {
            let user = c.catalog_session().user;
            member(c, user, a[0].as_oid(), a[1])
        }),
    },
    SysFn {
        name: "has_column_privilege_name_name",
        call: SysCall::One(|c, a| {
            let oid = Table::named(c, &text(a[0]))?;
            let (user, number) = (c.catalog_session().user, column_number(c, oid, a[1])?);
            has_column(c, user, oid, number, a[2])
        }),
    },
    SysFn {
        name: "has_column_privilege_name_attnum",
        call: SysCall::One(|c, a| {
            let oid = Table::named(c, &text(a[0]))?;
            let user = c.catalog_session().user;
            has_column(c, user, oid, a[1].as_i16(), a[2])
        }),
    },
    SysFn {
        name: "has_column_privilege_id_name",
        call: SysCall::One(|c, a| {
            let oid = a[0].as_oid();
            let (user, number) = (c.catalog_session().user, column_number(c, oid, a[1])?);
            has_column(c, user, oid, number, a[2])
        }),
    },
    SysFn {
        name: "has_column_privilege_id_attnum",
        call: SysCall::One(|c, a| {
            let user = c.catalog_session().user;
            has_column(c, user, a[0].as_oid(), a[1].as_i16(), a[2])
        }),
    },
    SysFn {
        name: "pg_relation_is_publishable",
        call: SysCall::One(|c, a| {
            let oid = a[0].as_oid();
            Ok(c.catalog().find_class(oid)?.map_or(Datum::Null, |r| {
                let kind = matches!(r.relkind, RelKind::Table | RelKind::PartitionedTable);
                let own = oid >= Oid::FIRST_NORMAL;
                Datum::bool(kind && own && r.relpersistence == Persistence::Permanent)
            }))
        }),
    },
];
