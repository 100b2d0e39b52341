//! CREATE, ALTER and DROP ROLE; role membership.
//!
//! Counterpart: user.c.

use catalog::rows::{
    CatalogRow, Name, PgAuthMembers, PgAuthid, PgDatabase, PgDbRoleSetting, PgShdepend, Text,
    indexes,
};
use catalog::{CatCx, ObjectAddress, Row};
use ids::Oid;
use ids::builtin::role::DATABASE_OWNER;
use ids::code::SharedDepType;
use parse::ast::{
    AlterRoleStmt, CreateRoleStmt, DefElem, DropRoleStmt, GrantRoleStmt, Node, RoleSpec,
    RoleSpecType, RoleStmtType,
};
use pgerror::{Result, Severity, bail, pg_err};
use utility::host::{CommandHost, notice};
use utility::{names, options};

/// The stored form of a password; the session computes the verifier.
fn password(host: &mut dyn CommandHost, role: &str, def: &DefElem) -> Result<Option<Text>> {
    match &def.arg {
        None => Ok(None),
        Some(_) => {
            let text = options::text(def)?;
            if text.is_empty() || host.is_empty_password(role, &text) {
                host.notice(notice(pg_err!(
                    SUCCESSFUL_COMPLETION,
                    "empty string is not a valid password, clearing password"
                )));
                return Ok(None);
            }
            host.password_verifier(role, &text).map(|v| Some(Text::from(v)))
        }
    }
}

fn may_create_roles(host: &mut dyn CommandHost) -> Result<bool> {
    if names::is_superuser(host)? {
        return Ok(true);
    }
    let user = names::user(host);
    Ok(host.catalog().role_row(user)?.is_some_and(|r| r.rolcreaterole))
}

/// Applies options to the row of a role. The caller handles membership lists.
fn apply(
    host: &mut dyn CommandHost,
    row: &mut PgAuthid,
    defs: &[DefElem],
    sql: &str,
) -> Result<()> {
    for (i, d) in defs.iter().enumerate() {
        if defs[..i].iter().any(|e| e.defname == d.defname) {
            let e = pg_err!(SYNTAX_ERROR, "conflicting or redundant options");
            return Err(e.at(parse::position(sql, d.location)));
        }
        match &*d.defname {
            "password" => {
                let role = row.rolname.as_str().to_string();
                row.rolpassword = password(host, &role, d)?;
            }
            "superuser" => row.rolsuper = options::boolean(d)?,
            "inherit" => row.rolinherit = options::boolean(d)?,
            "createrole" => row.rolcreaterole = options::boolean(d)?,
            "createdb" => row.rolcreatedb = options::boolean(d)?,
            "canlogin" => row.rolcanlogin = options::boolean(d)?,
            "isreplication" => row.rolreplication = options::boolean(d)?,
            "bypassrls" => row.rolbypassrls = options::boolean(d)?,
            "connectionlimit" => {
                let limit = options::integer(d)?;
                if limit < -1 {
                    bail!(INVALID_PARAMETER_VALUE, "invalid connection limit: {limit}");
                }
                row.rolconnlimit = limit as i32;
            }
            "validUntil" => {
                let text = options::text(d)?;
                let ty = types::oids::TIMESTAMPTZ;
                let value = host.functions().type_input(ty, text.as_bytes(), -1)?;
                row.rolvaliduntil = Some(value.as_ref().as_i64());
            }
            "sysid" => host
                .notice(notice(pg_err!(SUCCESSFUL_COMPLETION, "SYSID can no longer be specified"))),
            "rolemembers" | "adminmembers" | "addroleto" => {}
            other => bail!(INTERNAL_ERROR, "option \"{other}\" not recognized"),
        }
    }
    Ok(())
}

/// CREATE ROLE, USER, GROUP.
pub fn create_role(host: &mut dyn CommandHost, stmt: &CreateRoleStmt, sql: &str) -> Result<()> {
    for d in &stmt.options {
        let power = match &*d.defname {
            "superuser" => "superusers",
            "isreplication" => "replication users",
            "bypassrls" => "bypassrls users",
            _ => continue,
        };
        if d.arg.is_some() && options::boolean(d)? && !names::is_superuser(host)? {
            bail!(INSUFFICIENT_PRIVILEGE, "must be superuser to create {power}");
        }
    }
    if !may_create_roles(host)? {
        bail!(INSUFFICIENT_PRIVILEGE, "permission denied to create role");
    }
    let name = stdx::clip(&stmt.role, 63).to_string();
    if name.starts_with("pg_") {
        return Err(pg_err!(RESERVED_NAME, "role name \"{name}\" is reserved")
            .detail("Role names starting with \"pg_\" are reserved."));
    }
    if host.catalog().find_role(&name)?.is_some() {
        bail!(DUPLICATE_OBJECT, "role \"{name}\" already exists");
    }
    let mut row = PgAuthid {
        oid: host.catalog().new_oid(indexes::PG_AUTHID_OID_INDEX)?,
        rolname: Name::new(&name),
        rolsuper: false,
        rolinherit: true,
        rolcreaterole: false,
        rolcreatedb: false,
        rolcanlogin: stmt.stmt_type == RoleStmtType::User,
        rolreplication: false,
        rolbypassrls: false,
        rolconnlimit: -1,
        rolpassword: None,
        rolvaliduntil: None,
    };
    apply(host, &mut row, &stmt.options, sql)?;
    let mut cat = host.catalog();
    cat.insert(&row)?;
    cat.increment_command_counter()?;
    for d in &stmt.options {
        let Some(Node::List(list)) = &d.arg else { continue };
        for node in list {
            let Node::RoleSpec(spec) = node else { continue };
            let other = names::role_oid(host, spec)?;
            match &*d.defname {
                "addroleto" => {
                    let name = host.catalog().role_name(other)?;
                    check_admin(host, other, &name)?;
                    add_member(host, other, row.oid, false)?;
                }
                "rolemembers" => add_member(host, row.oid, other, false)?,
                "adminmembers" => add_member(host, row.oid, other, true)?,
                _ => {}
            }
        }
    }
    Ok(())
}

/// The current row, read from the catalog for a change.
fn row_of(host: &mut dyn CommandHost, oid: Oid) -> Result<catalog::Row<PgAuthid>> {
    let row = host.catalog().scan(indexes::PG_AUTHID_OID_INDEX, &[oid.into()])?.pop();
    row.ok_or_else(|| pg_err!(UNDEFINED_OBJECT, "role with OID {oid} does not exist"))
}

/// Error 42939 for the name of a role that the system reserves. Counterpart:
/// `check_rolespec_name`.
pub(crate) fn not_reserved(role: &RoleSpec) -> Result<()> {
    match &role.rolename {
        Some(name) if role.roletype == RoleSpecType::Name && name.starts_with("pg_") => {
            Err(pg_err!(RESERVED_NAME, "role name \"{name}\" is reserved")
                .detail("Cannot alter reserved roles."))
        }
        _ => Ok(()),
    }
}

/// ALTER ROLE with options; ALTER GROUP ADD and DROP USER.
pub fn alter_role(host: &mut dyn CommandHost, stmt: &AlterRoleStmt, sql: &str) -> Result<()> {
    not_reserved(&stmt.role)?;
    let oid = names::role_oid(host, &stmt.role)?;
    let row = row_of(host, oid)?;
    let user = names::user(host);
    let own_password = user == oid && stmt.options.iter().all(|d| &*d.defname == "password");
    if !names::is_superuser(host)? {
        let names = |what: &str| stmt.options.iter().any(|d| &*d.defname == what);
        for (is, named, what) in [
            (row.rolsuper, "superuser", "alter superuser roles or change superuser attribute"),
            (
                row.rolreplication,
                "isreplication",
                "alter replication roles or change replication attribute",
            ),
            (false, "bypassrls", "change bypassrls attribute"),
        ] {
            if is || names(named) {
                bail!(INSUFFICIENT_PRIVILEGE, "must be superuser to {what}");
            }
        }
    }
    if !may_create_roles(host)? && !own_password {
        bail!(INSUFFICIENT_PRIVILEGE, "permission denied");
    }
    let mut new = row.row.clone();
    apply(host, &mut new, &stmt.options, sql)?;
    if new != row.row {
        host.catalog().update(&row, &new)?;
    }
    for d in stmt.options.iter().filter(|d| &*d.defname == "rolemembers") {
        let Some(Node::List(list)) = &d.arg else { continue };
        for node in list {
            let Node::RoleSpec(spec) = node else { continue };
            let member = names::role_oid(host, spec)?;
            if stmt.action > 0 {
                add_member(host, oid, member, false)?;
            } else {
                drop_member(host, oid, member, false)?;
            }
        }
    }
    Ok(())
}

/// ALTER ROLE RENAME.
pub fn rename(host: &mut dyn CommandHost, old: &str, new: &str) -> Result<()> {
    let oid = host.catalog().role(old)?.oid;
    let row = row_of(host, oid)?;
    if oid == host.catalog().session.session_user {
        bail!(FEATURE_NOT_SUPPORTED, "session user cannot be renamed");
    }
    if oid == names::user(host) {
        bail!(FEATURE_NOT_SUPPORTED, "current user cannot be renamed");
    }
    for name in [old, new] {
        if name.starts_with("pg_") {
            return Err(pg_err!(RESERVED_NAME, "role name \"{name}\" is reserved")
                .detail("Role names starting with \"pg_\" are reserved."));
        }
    }
    if host.catalog().find_role(new)?.is_some() {
        bail!(DUPLICATE_OBJECT, "role \"{new}\" already exists");
    }
    if row.rolsuper && !names::is_superuser(host)? {
        bail!(INSUFFICIENT_PRIVILEGE, "must be superuser to rename superusers");
    }
    if !may_create_roles(host)? {
        bail!(INSUFFICIENT_PRIVILEGE, "permission denied to rename role");
    }
    let mut changed = PgAuthid { rolname: Name::new(new), ..row.row.clone() };
    // An MD5 hash depends on the role name.
    if changed.rolpassword.as_ref().is_some_and(|p| p.as_str().starts_with("md5")) {
        changed.rolpassword = None;
        host.notice(notice(pg_err!(
            SUCCESSFUL_COMPLETION,
            "MD5 password cleared because of role rename"
        )));
    }
    host.catalog().update(&row, &changed)?;
    Ok(())
}

/// DROP ROLE.
pub fn drop_role(host: &mut dyn CommandHost, stmt: &DropRoleStmt) -> Result<()> {
    if !may_create_roles(host)? {
        bail!(INSUFFICIENT_PRIVILEGE, "permission denied to drop role");
    }
    for spec in &stmt.roles {
        drop_one(host, spec, stmt.missing_ok)?;
    }
    Ok(())
}

fn drop_one(host: &mut dyn CommandHost, spec: &RoleSpec, missing_ok: bool) -> Result<()> {
    let name = match &spec.rolename {
        Some(name) => name.to_string(),
        None => bail!(INVALID_PARAMETER_VALUE, "cannot use special role specifier in DROP ROLE"),
    };
    let Some(found) = host.catalog().find_role(&name)? else {
        if missing_ok {
            host.notice(notice(pg_err!(
                SUCCESSFUL_COMPLETION,
                "role \"{name}\" does not exist, skipping"
            )));
            return Ok(());
        }
        bail!(UNDEFINED_OBJECT, "role \"{name}\" does not exist");
    };
    let oid = found.oid;
    if oid == names::user(host) {
        bail!(OBJECT_IN_USE, "current user cannot be dropped");
    }
    if oid == host.catalog().session.session_user {
        bail!(OBJECT_IN_USE, "session user cannot be dropped");
    }
    if found.rolsuper && !names::is_superuser(host)? {
        bail!(INSUFFICIENT_PRIVILEGE, "must be superuser to drop superusers");
    }
    if catalog::depend::is_pinned(PgAuthid::RELATION, oid) {
        bail!(
            DEPENDENT_OBJECTS_STILL_EXIST,
            "cannot drop role {name} because it is required by the database system"
        );
    }
    let mut cat = host.catalog();
    if cat.lock_for_deletion(&[ObjectAddress::new(PgAuthid::RELATION, oid)])? {
        return drop_one(host, spec, missing_ok);
    }
    let keys = [PgAuthid::RELATION.into(), oid.into()];
    let mut uses = cat.scan(indexes::PG_SHDEPEND_REFERENCE_INDEX, &keys)?;
    uses.sort_by_key(|u| (u.objid, u.classid, u.objsubid, u.deptype));
    if !uses.is_empty() {
        let detail = shared_dependents(&mut cat, &uses)?;
        return Err(pg_err!(
            DEPENDENT_OBJECTS_STILL_EXIST,
            "role \"{name}\" cannot be dropped because some objects depend on it"
        )
        .detail(detail));
    }
    for row in cat.scan(indexes::PG_AUTH_MEMBERS_ROLE_MEMBER_INDEX, &[oid.into()])? {
        cat.delete(&row)?;
    }
    for row in cat.scan(indexes::PG_AUTH_MEMBERS_MEMBER_ROLE_INDEX, &[oid.into()])? {
        cat.delete(&row)?;
    }
    for row in cat.scan_all::<PgDbRoleSetting>()? {
        if row.setrole == oid {
            cat.delete(&row)?;
        }
    }
    let keys = [oid.into(), PgAuthid::RELATION.into()];
    for row in cat.scan(indexes::PG_SHDESCRIPTION_O_C_INDEX, &keys)? {
        cat.delete(&row)?;
    }
    let row = row_of(host, oid)?;
    let mut cat = host.catalog();
    cat.delete(&row)?;
    cat.increment_command_counter()
}

/// Maximum number of dependents listed in a message.
const REPORTED_MAX: usize = 100;

/// The list of the objects that depend on a role or tablespace, with the numbers of those in other
/// databases. Counterpart: `checkSharedDependencies`.
pub(crate) fn shared_dependents(cat: &mut CatCx<'_>, uses: &[Row<PgShdepend>]) -> Result<String> {
    let here = cat.session.catalog.database();
    let (mut lines, mut others) = (Vec::new(), 0);
    let mut databases: Vec<(Oid, usize)> = Vec::new();
    for u in uses {
        if u.dbid.is_valid() && u.dbid != here {
            match databases.iter_mut().find(|(database, _)| *database == u.dbid) {
                Some((_, count)) => *count += 1,
                None => databases.push((u.dbid, 1)),
            }
        } else if lines.len() < REPORTED_MAX {
            let object = ObjectAddress { class: u.classid, object: u.objid, sub: u.objsubid };
            let what = cat.describe_object(object)?;
            lines.push(match u.deptype {
                SharedDepType::Owner => format!("owner of {what}"),
                SharedDepType::Acl => format!("privileges for {what}"),
                SharedDepType::Tablespace => format!("tablespace for {what}"),
                _ => format!("target of {what}"),
            });
        } else {
            others += 1;
        }
    }
    let further = databases.len().saturating_sub(REPORTED_MAX - lines.len());
    for (database, count) in &databases[..databases.len() - further] {
        let what = cat.describe_object(ObjectAddress::of::<PgDatabase>(*database))?;
        let noun = if *count == 1 { "object" } else { "objects" };
        lines.push(format!("{count} {noun} in {what}"));
    }
    if others > 0 {
        let noun = if others == 1 { "object" } else { "objects" };
        lines.push(format!("and {others} other {noun} (see server log for list)"));
    }
    if further > 0 {
        let noun = if further == 1 { "database" } else { "databases" };
        lines.push(format!("and objects in {further} other {noun} (see server log for list)"));
    }
    Ok(lines.join("\n"))
}

/// GRANT and REVOKE of membership.
pub fn grant_role(host: &mut dyn CommandHost, stmt: &GrantRoleStmt) -> Result<()> {
    let mut admin = false;
    for d in &stmt.opt {
        if &*d.defname == "admin" {
            // In REVOKE ADMIN OPTION FOR, the option specifies what is revoked.
            admin = !stmt.is_grant || options::boolean(d)?;
        }
    }
    let mut members = Vec::new();
    for grantee in &stmt.grantee_roles {
        members.push(names::role_oid(host, grantee)?);
    }
    for granted in &stmt.granted_roles {
        let name = granted.priv_name.as_deref().unwrap_or("");
        let role = host.catalog().role(name)?.oid;
        for &member in &members {
            check_admin(host, role, name)?;
            if stmt.is_grant {
                add_member(host, role, member, admin)?;
            } else {
                drop_member(host, role, member, admin)?;
            }
        }
    }
    Ok(())
}

fn check_admin(host: &mut dyn CommandHost, role: Oid, name: &str) -> Result<()> {
    if host.catalog().is_superuser(role)? {
        if !names::is_superuser(host)? {
            bail!(INSUFFICIENT_PRIVILEGE, "must be superuser to alter superusers");
        }
        return Ok(());
    }
    if may_create_roles(host)? {
        return Ok(());
    }
    // The admin option of a role of which the user is a member counts too.
    let user = names::user(host);
    let rows = host.catalog().scan(indexes::PG_AUTH_MEMBERS_ROLE_MEMBER_INDEX, &[role.into()])?;
    for r in rows.iter().filter(|r| r.admin_option) {
        if r.member == user || host.catalog().is_plain_member(user, r.member)? {
            return Ok(());
        }
    }
    bail!(INSUFFICIENT_PRIVILEGE, "must have admin option on role \"{name}\"")
}

fn add_member(host: &mut dyn CommandHost, role: Oid, member: Oid, admin: bool) -> Result<()> {
    let grantor = names::user(host);
    let circular = host.catalog().is_member_nosuper(role, member, false)?;
    let mut cat = host.catalog();
    if role == DATABASE_OWNER {
        let name = cat.role_name(role)?;
        bail!(INTERNAL_ERROR, "role \"{name}\" cannot have explicit members");
    }
    if member == DATABASE_OWNER {
        let name = cat.role_name(member)?;
        bail!(INTERNAL_ERROR, "role \"{name}\" cannot be a member of any role");
    }
    if circular || role == member {
        let (role, member) = (cat.role_name(role)?, cat.role_name(member)?);
        bail!(INVALID_GRANT_OPERATION, "role \"{role}\" is a member of role \"{member}\"");
    }
    let keys = [role.into(), member.into()];
    let new = PgAuthMembers { roleid: role, member, grantor, admin_option: admin };
    match cat.scan(indexes::PG_AUTH_MEMBERS_ROLE_MEMBER_INDEX, &keys)?.pop() {
        Some(old) if old.admin_option || !admin => {
            let (role, member) = (cat.role_name(role)?, cat.role_name(member)?);
            host.notice(notice(pg_err!(
                SUCCESSFUL_COMPLETION,
                "role \"{member}\" is already a member of role \"{role}\""
            )));
            return Ok(());
        }
        Some(old) => {
            cat.update(&old, &new)?;
        }
        None => {
            cat.insert(&new)?;
        }
    }
    cat.increment_command_counter()
}

fn drop_member(host: &mut dyn CommandHost, role: Oid, member: Oid, admin_only: bool) -> Result<()> {
    let mut cat = host.catalog();
    let keys = [role.into(), member.into()];
    match cat.scan(indexes::PG_AUTH_MEMBERS_ROLE_MEMBER_INDEX, &keys)?.pop() {
        Some(old) if admin_only => {
            cat.update(&old, &PgAuthMembers { admin_option: false, ..old.row.clone() })?;
        }
        Some(old) => cat.delete(&old)?,
        None => {
            let (role, member) = (cat.role_name(role)?, cat.role_name(member)?);
            let e = pg_err!(WARNING, "role \"{member}\" is not a member of role \"{role}\"");
            host.notice(e.severity(Severity::Warning));
            return Ok(());
        }
    }
    cat.increment_command_counter()
}
