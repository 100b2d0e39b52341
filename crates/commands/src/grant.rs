//! GRANT and REVOKE of privileges on objects.
//!
//! The grantor is not always the current user: a member of the owning role grants as the owner. Any
//! other user grants as the role, among those of which it is a member, that has the most of the
//! required grant options.
//!
//! Reading order: `object` (the objects of a statement), `defaults`.
//!
//! Counterpart: aclchk.c.

pub mod defaults;
mod object;

use crate::relation;
use catalog::acl::{self, Kind};
use catalog::rows::{AclItem, CatalogRow, PgClass, PgLanguage, PgType, indexes};
use ids::{AttrNo, Oid, RelKind};
use parse::ast::{
    AccessPriv, DropBehavior, GrantStmt, GrantTargetType, ObjectType, RoleSpec, RoleSpecType,
};
use pgerror::{PgError, Result, Severity, bail, pg_err};
use utility::acl_list::{self, Change, PRIVILEGE_BITS};
use utility::acl_object::{AclObject, ObjectPrivileges};
use utility::host::CommandHost;
use utility::{class, names};

/// Privilege names. Counterpart: `string_to_privilege`.
const WORDS: &[(&str, u32)] = &[
    ("insert", acl::INSERT),
    ("select", acl::SELECT),
    ("update", acl::UPDATE),
    ("delete", acl::DELETE),
    ("truncate", acl::TRUNCATE),
    ("references", acl::REFERENCES),
    ("trigger", acl::TRIGGER),
    ("execute", acl::EXECUTE),
    ("usage", acl::USAGE),
    ("create", acl::CREATE),
    ("temporary", acl::CREATE_TEMP),
    ("temp", acl::CREATE_TEMP),
    ("connect", acl::CONNECT),
    ("set", acl::SET),
    ("alter system", acl::ALTER_SYSTEM),
];

fn privilege_bit(word: &str) -> Result<u32> {
    let known = WORDS.iter().find(|w| w.0 == word);
    known
        .map(|w| w.1)
        .ok_or_else(|| pg_err!(SYNTAX_ERROR, "unrecognized privilege type \"{word}\""))
}

fn privilege_name(bit: u32) -> String {
    WORDS.iter().find(|w| w.1 == bit).map_or_else(String::new, |w| w.0.to_uppercase())
}

/// A GRANT or REVOKE statement with names resolved.
pub struct GrantSpec {
    pub grant: bool,
    /// WITH GRANT OPTION, or GRANT OPTION FOR in REVOKE.
    pub option: bool,
    pub behavior: DropBehavior,
    /// OID 0 is PUBLIC.
    pub grantees: Vec<Oid>,
    /// ALL PRIVILEGES was written.
    pub all: bool,
    pub privileges: u32,
}

/// OIDs of the grantees.
pub fn grantees(host: &mut dyn CommandHost, list: &[RoleSpec]) -> Result<Vec<Oid>> {
    let mut out = Vec::with_capacity(list.len());
    for role in list {
        out.push(match role.roletype {
            RoleSpecType::Public => Oid::INVALID,
            _ => names::role_oid(host, role)?,
        });
    }
    Ok(out)
}

/// The ACL kind of the statement's objects, and its name in messages.
fn kind_of(objtype: ObjectType) -> Result<(Kind, &'static str)> {
    Ok(match objtype {
        ObjectType::Table | ObjectType::View => (Kind::Table, "relation"),
        ObjectType::Sequence => (Kind::Sequence, "sequence"),
        ObjectType::Database => (Kind::Database, "database"),
        ObjectType::Schema => (Kind::Schema, "schema"),
        ObjectType::Function => (Kind::Function, "function"),
        ObjectType::Procedure => (Kind::Function, "procedure"),
        ObjectType::Routine => (Kind::Function, "routine"),
        ObjectType::Language => (Kind::Language, "language"),
        ObjectType::Domain => (Kind::Domain, "domain"),
        ObjectType::Type => (Kind::Type, "type"),
        ObjectType::Tablespace => (Kind::Tablespace, "tablespace"),
        ObjectType::Largeobject => (Kind::LargeObject, "large object"),
        ObjectType::Fdw => (Kind::ForeignDataWrapper, "foreign-data wrapper"),
        ObjectType::ForeignServer => (Kind::ForeignServer, "foreign server"),
        ObjectType::ParameterAcl => (Kind::Parameter, "parameter"),
        other => return Err(PgError::unsupported(format!("GRANT on kind {other:?}"))),
    })
}

/// The privileges of a list without columns; an empty list means all.
pub fn privileges_of(list: &[AccessPriv], objtype: ObjectType) -> Result<(bool, u32)> {
    let (kind, noun) = kind_of(objtype)?;
    // Sequence privileges are accepted for tables, as in PostgreSQL.
    let allowed = match kind {
        Kind::Table => Kind::Table.all() | Kind::Sequence.all(),
        kind => kind.all(),
    };
    if list.is_empty() {
        return Ok((true, 0));
    }
    let mut privileges = 0;
    for p in list.iter().filter(|p| p.cols.is_empty()) {
        let Some(word) = &p.priv_name else { return Ok((true, 0)) };
        let bit = privilege_bit(word)?;
        if bit & allowed == 0 {
            let shown = privilege_name(bit);
            bail!(INVALID_GRANT_OPERATION, "invalid privilege type {shown} for {noun}");
        }
        privileges |= bit;
    }
    Ok((false, privileges))
}

/// GRANT … ON and REVOKE … ON.
pub fn grant(host: &mut dyn CommandHost, stmt: &GrantStmt) -> Result<()> {
    if let Some(role) = &stmt.grantor
        && names::role_oid(host, role)? != names::user(host)
    {
        bail!(FEATURE_NOT_SUPPORTED, "grantor must be current user");
    }
    let subjects = match stmt.targtype {
        GrantTargetType::AllInSchema => object::in_schemas(host, stmt.objtype, &stmt.objects)?,
        _ if stmt.objtype == ObjectType::ParameterAcl => {
            object::parameters(host, &stmt.objects, stmt.is_grant)?
        }
        _ => object::named(host, stmt.objtype, &stmt.objects)?,
    };
    let grantees = grantees(host, &stmt.grantees)?;
    let with_columns = stmt.privileges.iter().any(|p| !p.cols.is_empty());
    if with_columns && !matches!(stmt.objtype, ObjectType::Table | ObjectType::View) {
        bail!(INVALID_GRANT_OPERATION, "column privileges are only valid for relations");
    }
    let (all, privileges) = privileges_of(&stmt.privileges, stmt.objtype)?;
    let order = GrantSpec {
        grant: stmt.is_grant,
        option: stmt.grant_option,
        behavior: stmt.behavior,
        grantees,
        all,
        privileges,
    };
    for subject in subjects {
        match subject.class {
            PgClass::RELATION => {
                on_relation(host, (stmt.objtype, &stmt.privileges), &order, subject)?
            }
            _ => on_object(host, &order, subject)?,
        }
    }
    Ok(())
}

/// Revokes all privileges of a role on an object, of a table also those on its columns, as far as
/// the user can revoke them. Counterpart: `RemoveRoleFromObjectACL`.
pub fn revoke_all(host: &mut dyn CommandHost, subject: AclObject, role: Oid) -> Result<()> {
    let order = GrantSpec {
        grant: false,
        option: false,
        behavior: DropBehavior::Cascade,
        grantees: vec![role],
        all: true,
        privileges: 0,
    };
    if subject.class != PgClass::RELATION {
        return on_object(host, &order, subject);
    }
    let kind = match class::row(&mut host.catalog(), subject.oid)?.relkind {
        RelKind::Sequence => ObjectType::Sequence,
        _ => ObjectType::Table,
    };
    on_relation(host, (kind, &[]), &order, subject)
}

fn on_object(host: &mut dyn CommandHost, order: &GrantSpec, subject: AclObject) -> Result<()> {
    let (privileges, locked) = subject.lock(host)?;
    if subject.class == PgLanguage::RELATION {
        let index = indexes::PG_LANGUAGE_OID_INDEX;
        let row = host.catalog().scan(index, &[subject.oid.into()])?.pop();
        if row.is_some_and(|r| !r.lanpltrusted) {
            return Err(pg_err!(
                WRONG_OBJECT_TYPE,
                "language \"{}\" is not trusted",
                privileges.name
            )
            .detail(
                "GRANT and REVOKE are not allowed on untrusted languages, because only superusers \
                 can use untrusted languages.",
            ));
        }
    }
    if subject.class == PgType::RELATION {
        let row = host.catalog().type_row(subject.oid)?;
        if analyze::typename::is_true_array(&row) {
            return Err(pg_err!(INVALID_GRANT_OPERATION, "cannot set privileges of array types")
                .hint("Set the privileges of the element type instead."));
        }
    }
    let wanted = if order.all { privileges.kind.all() } else { order.privileges };
    apply(host, order, subject, &privileges, wanted, None)?;
    subject.unlock(host, locked)
}

fn on_relation(
    host: &mut dyn CommandHost,
    (objtype, list): (ObjectType, &[AccessPriv]),
    order: &GrantSpec,
    subject: AclObject,
) -> Result<()> {
    let (privileges, locked) = subject.lock(host)?;
    let class = class::row(&mut host.catalog(), subject.oid)?;
    let name = privileges.name.clone();
    if class.relkind.is_index() {
        bail!(WRONG_OBJECT_TYPE, "\"{name}\" is an index");
    }
    if class.relkind == RelKind::CompositeType {
        bail!(WRONG_OBJECT_TYPE, "\"{name}\" is a composite type");
    }
    if objtype == ObjectType::Sequence && class.relkind != RelKind::Sequence {
        bail!(WRONG_OBJECT_TYPE, "\"{name}\" is not a sequence");
    }
    let own = privileges.kind.all();
    let mut wanted = if order.all { own } else { order.privileges };
    if objtype != ObjectType::Sequence && !order.all {
        if class.relkind == RelKind::Sequence {
            if wanted & !own != 0 {
                warn(
                    host,
                    pg_err!(
                        INVALID_GRANT_OPERATION,
                        "sequence \"{name}\" only supports USAGE, SELECT, and UPDATE privileges"
                    ),
                );
                wanted &= own;
            }
        } else if wanted & !own != 0 {
            bail!(INVALID_GRANT_OPERATION, "invalid privilege type USAGE for table");
        }
    }
    // Column privileges: the listed ones and, for REVOKE on the table, those of all columns.
    let mut columns: Vec<(AttrNo, u32)> = Vec::new();
    let mut add = |number: AttrNo, bits: u32| match columns.iter_mut().find(|c| c.0 == number) {
        Some(c) => c.1 |= bits,
        None => columns.push((number, bits)),
    };
    let desc = host.catalog().relation(subject.oid)?;
    let in_columns = wanted & Kind::Column.all();
    if !order.grant && in_columns != 0 {
        if class.relkind != RelKind::View {
            relation::SYSTEM_COLUMNS.iter().for_each(|s| add(s.1, in_columns));
        }
        for a in desc.attributes.iter().filter(|a| !a.attisdropped) {
            add(a.attnum, in_columns);
        }
    }
    for p in list.iter().filter(|p| !p.cols.is_empty()) {
        let bits = match &p.priv_name {
            None => Kind::Column.all(),
            Some(word) => {
                let bit = privilege_bit(word)?;
                if bit & Kind::Column.all() == 0 {
                    let shown = privilege_name(bit);
                    bail!(INVALID_GRANT_OPERATION, "invalid privilege type {shown} for column");
                }
                bit
            }
        };
        if class.relkind == RelKind::Sequence && bits & !acl::SELECT != 0 {
            warn(
                host,
                pg_err!(
                    INVALID_GRANT_OPERATION,
                    "sequence \"{name}\" only supports SELECT column privileges"
                ),
            );
        }
        for column in &p.cols {
            let system = relation::SYSTEM_COLUMNS.iter().find(|s| s.0 == &**column);
            let number = match (desc.column(column), system) {
                (Some(a), _) => a.attnum,
                (None, Some(s)) => s.1,
                _ => bail!(
                    UNDEFINED_COLUMN,
                    "column \"{column}\" of relation \"{name}\" does not exist"
                ),
            };
            add(number, bits);
        }
    }
    if wanted != 0 {
        apply(host, order, subject, &privileges, wanted, None)?;
    }
    columns.sort_unstable();
    for (number, bits) in columns {
        let column = AclObject { column: number, ..subject };
        let own = column.privileges(host)?;
        apply(host, order, column, &own, bits, Some(&privileges))?;
    }
    subject.unlock(host, locked)
}

pub(super) fn warn(host: &mut dyn CommandHost, warning: PgError) {
    host.notice(warning.severity(Severity::Warning));
}

/// Changes the ACL of one object. For a column, `table` has the privileges on its table.
fn apply(
    host: &mut dyn CommandHost,
    order: &GrantSpec,
    subject: AclObject,
    privileges: &ObjectPrivileges,
    wanted: u32,
    table: Option<&ObjectPrivileges>,
) -> Result<()> {
    let own = privileges.list();
    let whole = match table {
        Some(t) => acl_list::merge(t.list(), &own),
        None => own.clone(),
    };
    let (grantor, have) = best_grantor(host, wanted, &whole, privileges.owner)?;
    let everything = if table.is_some() { Kind::Column.all() } else { privileges.kind.all() };
    let column = column_name(host, subject)?;
    if have == 0 {
        let mask = everything | everything << 16;
        let (owner, kind) = (privileges.owner, privileges.kind);
        if host.catalog().privileges(grantor, owner, Some(&whole), kind, mask)? == 0 {
            return Err(match column {
                Some(c) => pg_err!(
                    INSUFFICIENT_PRIVILEGE,
                    "permission denied for column \"{c}\" of relation \"{}\"",
                    privileges.name
                ),
                None => denied(privileges),
            });
        }
    }
    let what = match &column {
        Some(c) => format!("column \"{c}\" of relation \"{}\"", privileges.name),
        None => format!("\"{}\"", privileges.name),
    };
    let allowed = restrict(host, order, wanted, have, &what);
    let merged = merge(host, order, own, allowed, grantor, privileges.owner)?;
    if privileges.acl.is_none() && table.is_some() && merged.is_empty() {
        return Ok(());
    }
    subject.store(host, Some(merged))
}

/// The name of the column; `None` for a whole object.
fn column_name(host: &mut dyn CommandHost, subject: AclObject) -> Result<Option<String>> {
    if subject.column == 0 {
        return Ok(None);
    }
    let desc = host.catalog().relation(subject.oid)?;
    let system = relation::SYSTEM_COLUMNS.iter().find(|s| s.1 == subject.column);
    let own = desc.attribute(subject.column).map(|a| a.attname.to_string());
    Ok(own.or_else(|| system.map(|s| s.0.to_owned())))
}

/// The role to grant as, and its grant options. Counterpart: `select_best_grantor`.
fn best_grantor(
    host: &mut dyn CommandHost,
    wanted: u32,
    acl: &[AclItem],
    owner: Oid,
) -> Result<(Oid, u32)> {
    let user = names::user(host);
    let mut cat = host.catalog();
    if cat.is_member(user, owner, true)? {
        return Ok((owner, wanted));
    }
    let mut best = (user, 0u32);
    for role in cat.roles_of(user, true)? {
        let mut have = 0;
        for a in acl.iter().filter(|a| a.grantee.is_valid()) {
            if cat.is_member(role, a.grantee, true)? {
                have |= a.privs >> 16;
            }
        }
        have &= wanted;
        if have == wanted {
            return Ok((role, have));
        }
        if have.count_ones() > best.1.count_ones() {
            best = (role, have);
        }
    }
    Ok(best)
}

/// The requested privileges that the grantor can grant. A warning is raised if some cannot be
/// granted. `what` is the object in the warning. Counterpart: `restrict_and_check_grant`.
fn restrict(
    host: &mut dyn CommandHost,
    order: &GrantSpec,
    wanted: u32,
    have: u32,
    what: &str,
) -> u32 {
    let allowed = wanted & have;
    // ALL means the privileges that can be granted.
    let partly = allowed != wanted && !order.all;
    if allowed == 0 || partly {
        warn(
            host,
            match (order.grant, allowed == 0) {
                (true, true) => {
                    pg_err!(WARNING_PRIVILEGE_NOT_GRANTED, "no privileges were granted for {what}")
                }
                (true, false) => pg_err!(
                    WARNING_PRIVILEGE_NOT_GRANTED,
                    "not all privileges were granted for {what}"
                ),
                (false, true) => pg_err!(
                    WARNING_PRIVILEGE_NOT_REVOKED,
                    "no privileges could be revoked for {what}"
                ),
                (false, false) => pg_err!(
                    WARNING_PRIVILEGE_NOT_REVOKED,
                    "not all privileges could be revoked for {what}"
                ),
            },
        );
    }
    allowed
}

/// Error 42501 for an object.
pub fn denied(privileges: &ObjectPrivileges) -> PgError {
    pg_err!(INSUFFICIENT_PRIVILEGE, "permission denied for {} {}", privileges.noun, privileges.name)
}

/// Adds or removes the privileges in the ACL for each grantee. Counterpart: `merge_acl_with_grant`.
pub fn merge(
    host: &mut dyn CommandHost,
    order: &GrantSpec,
    acl: Vec<AclItem>,
    privileges: u32,
    grantor: Oid,
    owner: Oid,
) -> Result<Vec<AclItem>> {
    let mut out = acl;
    for &grantee in &order.grantees {
        if order.grant && order.option && !grantee.is_valid() {
            bail!(INVALID_GRANT_OPERATION, "grant options can only be granted to roles");
        }
        let plain = if order.grant || !order.option { privileges } else { 0 };
        let options = if !order.grant || order.option { privileges } else { 0 };
        let item = AclItem { grantee, grantor, privs: plain & PRIVILEGE_BITS | options << 16 };
        let change = if order.grant { Change::Add } else { Change::Remove };
        let mut member = |a: Oid, b: Oid| host.catalog().is_member(a, b, true);
        out = acl_list::update(&out, item, change, owner, order.behavior, &mut member)?;
    }
    Ok(out)
}
