//! Names in utility statements: relation lookup and locking, roles, privilege checks.
//!
//! Counterpart: namespace.c (`RangeVarGetRelidExtended`), aclchk.c.

use crate::host::CommandHost;
use catalog::namespace::PG_TOAST;
use catalog::rows::PgClass;
use catalog::{RelDesc, acl, namespace};
use ids::{Oid, RelKind};
use parse::ast::{RangeVar, RoleSpec, RoleSpecType};
use pgerror::{PgError, Result, bail, pg_err};
use std::sync::Arc;

/// Lock mode numbers. Counterpart: lockdefs.h.
pub mod mode {
    pub const ACCESS_SHARE: i32 = 1;
    pub const ROW_SHARE: i32 = 2;
    pub const ROW_EXCLUSIVE: i32 = 3;
    pub const SHARE_UPDATE_EXCLUSIVE: i32 = 4;
    pub const SHARE: i32 = 5;
    pub const SHARE_ROW_EXCLUSIVE: i32 = 6;
    pub const EXCLUSIVE: i32 = 7;
    pub const ACCESS_EXCLUSIVE: i32 = 8;
}

/// `schema.name` or `name`.
pub fn shown(rv: &RangeVar) -> String {
    namespace::qualified(rv.schemaname.as_deref(), &rv.relname)
}

/// A relation reference from a possibly qualified name.
pub fn range_var_of(names: &[&str]) -> Result<RangeVar> {
    let mut rv = RangeVar { inh: true, location: -1, ..RangeVar::default() };
    match names {
        [name] => rv.relname = (*name).into(),
        [schema, name] => {
            rv.schemaname = Some((*schema).into());
            rv.relname = (*name).into();
        }
        [database, schema, name] => {
            rv.catalogname = Some((*database).into());
            rv.schemaname = Some((*schema).into());
            rv.relname = (*name).into();
        }
        _ => bail!(
            SYNTAX_ERROR,
            "improper relation name (too many dotted names): {}",
            names.join(".")
        ),
    }
    Ok(rv)
}

/// Error 0A000 if the name contains the name of another database.
pub fn check_database(host: &mut dyn CommandHost, rv: &RangeVar) -> Result<()> {
    let Some(database) = &rv.catalogname else { return Ok(()) };
    if **database == *host.database_name()? {
        return Ok(());
    }
    bail!(
        FEATURE_NOT_SUPPORTED,
        "cross-database references are not implemented: \"{}.{}\"",
        database,
        shown(rv)
    )
}

/// Finds and locks the relation with this name. The lookup is repeated after a wait for the lock,
/// because the name may then refer to another relation.
pub fn find(host: &mut dyn CommandHost, rv: &RangeVar, lock: i32) -> Result<Option<Oid>> {
    check_database(host, rv)?;
    let (schema, name) = (rv.schemaname.as_deref(), &*rv.relname);
    let mut found = host.catalog().find_relation(schema, name)?;
    while let Some(oid) = found {
        host.lock_relation(oid, lock)?;
        let again = host.catalog().find_relation(schema, name)?;
        if again == found {
            break;
        }
        found = again;
    }
    Ok(found)
}

/// As [`find`]. Error 42P01 or 3F000 if the relation does not exist.
pub fn open(host: &mut dyn CommandHost, rv: &RangeVar, lock: i32) -> Result<Arc<RelDesc>> {
    match find(host, rv, lock)? {
        Some(oid) => host.catalog().relation(oid),
        None => Err(missing(host, rv)?),
    }
}

/// As [`open`], but `check` is called before the lock is requested, so that users without
/// privileges do not block others in the lock queue. Counterpart: `RangeVarGetRelidExtended` with a
/// callback.
pub fn open_checked(
    host: &mut dyn CommandHost,
    rv: &RangeVar,
    lock: i32,
    check: &mut dyn FnMut(&mut dyn CommandHost, &RelDesc) -> Result<()>,
) -> Result<Arc<RelDesc>> {
    check_before_lock(host, rv, check)?;
    let rel = open(host, rv, lock)?;
    // The name may now refer to another relation.
    check(host, &rel)?;
    Ok(rel)
}

/// Calls `check` for the relation with this name, without a lock, if it exists.
pub fn check_before_lock(
    host: &mut dyn CommandHost,
    rv: &RangeVar,
    check: &mut dyn FnMut(&mut dyn CommandHost, &RelDesc) -> Result<()>,
) -> Result<()> {
    check_database(host, rv)?;
    let found = host.catalog().find_relation(rv.schemaname.as_deref(), &rv.relname)?;
    let Some(oid) = found else { return Ok(()) };
    match host.catalog().try_relation(oid)? {
        Some(rel) => check(host, &rel),
        None => Ok(()),
    }
}

/// As [`exclude_readers_of`], for the table or index with this name, if it exists. The lookup is
/// repeated after a wait, as in [`find`].
pub fn exclude_readers(host: &mut dyn CommandHost, rv: &RangeVar) -> Result<()> {
    let mut before = None;
    loop {
        let found = host.catalog().find_relation(rv.schemaname.as_deref(), &rv.relname)?;
        let Some(oid) = found.filter(|_| found != before) else { return Ok(()) };
        if let Some(rel) = host.catalog().try_relation(oid)? {
            let table = rel.index.as_ref().map_or(oid, |part| part.row.indrelid);
            exclude_readers_of(host, table)?;
        }
        before = found;
    }
}

/// LOCK ORDER: excludes readers of a table before it or its indexes get new files. PostgreSQL's
/// readers lock each index and the TOAST table; Norsu's lock only the table. Must be called before
/// an index is locked, so that the table's lock is acquired first, as in all sessions.
pub fn exclude_readers_of(host: &mut dyn CommandHost, table: Oid) -> Result<()> {
    let row = host.catalog().find_class(table)?;
    if row.is_some_and(|c| c.relkind == RelKind::Toast) {
        let rows = host.catalog().scan_all::<PgClass>()?;
        if let Some(owner) = rows.iter().find(|c| c.reltoastrelid == table) {
            host.lock_relation(owner.oid, mode::ACCESS_EXCLUSIVE)?;
        }
    }
    host.lock_relation(table, mode::ACCESS_EXCLUSIVE)
}

/// The error for a relation that does not exist.
pub fn missing(host: &mut dyn CommandHost, rv: &RangeVar) -> Result<PgError> {
    if let Some(schema) = &rv.schemaname {
        host.catalog().namespace(schema)?;
    }
    Ok(pg_err!(UNDEFINED_TABLE, "relation \"{}\" does not exist", shown(rv)))
}

/// The current user.
pub fn user(host: &mut dyn CommandHost) -> Oid {
    host.catalog().session.user
}

pub fn is_superuser(host: &mut dyn CommandHost) -> Result<bool> {
    let user = user(host);
    host.catalog().is_superuser(user)
}

/// True if the current user is a member of the owning role.
pub fn is_owner(host: &mut dyn CommandHost, owner: Oid) -> Result<bool> {
    let user = user(host);
    host.catalog().is_member(user, owner, true)
}

/// Error 42501 unless the user has USAGE on the type; for an array, on its element type.
pub fn check_type_privilege(host: &mut dyn CommandHost, ty: Oid) -> Result<()> {
    let user = user(host);
    let mut cat = host.catalog();
    let mut row = cat.type_row(ty)?;
    if row.typelem.is_valid() && analyze::typename::is_true_array(&row) {
        row = cat.type_row(row.typelem)?;
    }
    let (owner, list) = (row.typowner, row.typacl.as_deref());
    if cat.has_privilege(user, owner, list, acl::Kind::Type, acl::USAGE)? {
        return Ok(());
    }
    let shown = cat.format_type(row.oid)?;
    bail!(INSUFFICIENT_PRIVILEGE, "permission denied for type {shown}")
}

/// As [`must_own_relation`], for operations on a column, trigger or other part of the relation.
pub fn must_own_parts(host: &mut dyn CommandHost, rel: &RelDesc) -> Result<()> {
    if !is_owner(host, rel.class.relowner)? {
        bail!(INSUFFICIENT_PRIVILEGE, "must be owner of relation {}", rel.name());
    }
    Ok(())
}

/// Error 42501 unless the user owns the relation.
pub fn must_own_relation(host: &mut dyn CommandHost, rel: &RelDesc) -> Result<()> {
    if !is_owner(host, rel.class.relowner)? {
        let kind = match rel.kind() {
            RelKind::Index | RelKind::PartitionedIndex => "index",
            RelKind::Sequence => "sequence",
            RelKind::View => "view",
            RelKind::MaterializedView => "materialized view",
            RelKind::ForeignTable => "foreign table",
            RelKind::CompositeType => "type",
            _ => "table",
        };
        bail!(INSUFFICIENT_PRIVILEGE, "must be owner of {kind} {}", rel.name());
    }
    Ok(())
}

/// Error 42501 for a system catalog, a TOAST table or an index of one; with
/// `allow_system_table_mods` for a catalog only. Counterpart: `IsSystemClass`.
pub fn not_a_catalog(host: &mut dyn CommandHost, rel: &RelDesc) -> Result<()> {
    let schema = rel.class.relnamespace;
    let temporary = host.catalog().session.temp_toast_namespace;
    let of_toast = schema == PG_TOAST || temporary.valid() == Some(schema);
    let may_modify = of_toast && host.setting("allow_system_table_mods") == "on";
    if rel.is_catalog() || of_toast && !may_modify {
        bail!(INSUFFICIENT_PRIVILEGE, "permission denied: \"{}\" is a system catalog", rel.name());
    }
    Ok(())
}

/// Error 42501 unless the user has one of the privileges `wanted` on the table.
pub fn check_table_privileges(
    host: &mut dyn CommandHost,
    rel: &RelDesc,
    wanted: u32,
) -> Result<()> {
    let user = user(host);
    if host.catalog().relation_privileges(user, &rel.class, wanted)? != wanted {
        let what = relation_noun(rel.kind());
        bail!(INSUFFICIENT_PRIVILEGE, "permission denied for {what} {}", rel.name());
    }
    Ok(())
}

/// The noun for a relation kind in privilege errors.
pub fn relation_noun(kind: RelKind) -> &'static str {
    match kind {
        RelKind::Sequence => "sequence",
        RelKind::View => "view",
        RelKind::MaterializedView => "materialized view",
        RelKind::Index | RelKind::PartitionedIndex => "index",
        RelKind::ForeignTable => "foreign table",
        _ => "table",
    }
}

/// OID of the role specification. Counterpart: `get_rolespec_oid`.
pub fn role_oid(host: &mut dyn CommandHost, role: &RoleSpec) -> Result<Oid> {
    match role.roletype {
        RoleSpecType::Name => {
            let name = role.rolename.as_deref().unwrap_or_default();
            Ok(host.catalog().role(name)?.oid)
        }
        RoleSpecType::CurrentRole | RoleSpecType::CurrentUser => Ok(user(host)),
        RoleSpecType::SessionUser => Ok(host.catalog().session.session_user),
        RoleSpecType::Public => Err(pg_err!(UNDEFINED_OBJECT, "role \"public\" does not exist")),
    }
}

/// Error 42501 unless the user is a member of the role, as ownership changes require.
pub fn must_be_member(host: &mut dyn CommandHost, role: Oid) -> Result<()> {
    let user = user(host);
    if !host.catalog().is_member(user, role, false)? {
        let name = host.catalog().role_name(role)?;
        bail!(INSUFFICIENT_PRIVILEGE, "must be member of role \"{name}\"");
    }
    Ok(())
}
