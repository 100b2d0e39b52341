//! Privileges: access control lists, role membership and default privileges.
//!
//! Counterpart: acl.c, aclchk.c.

use crate::cache;
use crate::cx::CatCx;
use crate::rows::{AclItem, PgClass, indexes};
pub use ids::builtin::role as roles;
use ids::{AttrNo, Oid, RelKind};
use pgerror::{PgError, Result, pg_err};

/// Privilege bits. Counterpart: `ACL_INSERT` and others of parsenodes.h.
pub const INSERT: u32 = 1 << 0;
pub const SELECT: u32 = 1 << 1;
pub const UPDATE: u32 = 1 << 2;
pub const DELETE: u32 = 1 << 3;
pub const TRUNCATE: u32 = 1 << 4;
pub const REFERENCES: u32 = 1 << 5;
pub const TRIGGER: u32 = 1 << 6;
pub const EXECUTE: u32 = 1 << 7;
pub const USAGE: u32 = 1 << 8;
pub const CREATE: u32 = 1 << 9;
pub const CREATE_TEMP: u32 = 1 << 10;
pub const CONNECT: u32 = 1 << 11;
pub const SET: u32 = 1 << 12;
pub const ALTER_SYSTEM: u32 = 1 << 13;

/// Kinds of objects that carry an ACL. Each kind has its own default ACL.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    Table,
    Sequence,
    Column,
    Database,
    Function,
    Language,
    LargeObject,
    Schema,
    Tablespace,
    ForeignDataWrapper,
    ForeignServer,
    Domain,
    Type,
    Parameter,
}

impl Kind {
    /// All privileges that exist for this kind of object.
    pub const fn all(self) -> u32 {
        match self {
            Kind::Table => INSERT | SELECT | UPDATE | DELETE | TRUNCATE | REFERENCES | TRIGGER,
            Kind::Column => INSERT | SELECT | UPDATE | REFERENCES,
            Kind::Sequence => USAGE | SELECT | UPDATE,
            Kind::Database => CREATE | CREATE_TEMP | CONNECT,
            Kind::Function => EXECUTE,
            Kind::Language | Kind::Type | Kind::Domain => USAGE,
            Kind::ForeignDataWrapper | Kind::ForeignServer => USAGE,
            Kind::LargeObject => SELECT | UPDATE,
            Kind::Schema => USAGE | CREATE,
            Kind::Tablespace => CREATE,
            Kind::Parameter => SET | ALTER_SYSTEM,
        }
    }

    /// The privileges that PUBLIC has by default.
    const fn public(self) -> u32 {
        match self {
            Kind::Database => CREATE_TEMP | CONNECT,
            Kind::Function => EXECUTE,
            Kind::Language | Kind::Type | Kind::Domain => USAGE,
            _ => 0,
        }
    }
}

/// The ACL of an object whose `acl` column is NULL. Counterpart: `acldefault`.
pub fn default_acl(kind: Kind, owner: Oid) -> Vec<AclItem> {
    let mut acl = Vec::new();
    if kind.public() != 0 {
        acl.push(AclItem { grantee: Oid::INVALID, grantor: owner, privs: kind.public() });
    }
    let all = if kind == Kind::Column { 0 } else { kind.all() };
    if all != 0 {
        acl.push(AclItem { grantee: owner, grantor: owner, privs: all });
    }
    acl
}

impl CatCx<'_> {
    /// Whether the role is a superuser.
    pub fn is_superuser(&mut self, role: Oid) -> Result<bool> {
        Ok(self.search(cache::AUTHOID, &[role.into()])?.is_some_and(|r| r.rolsuper))
    }

    /// Whether `member` is a direct or indirect member of `role`. With `inherited`, only
    /// memberships through roles with INHERIT count. A superuser is a member of every role.
    /// Counterpart: `has_privs_of_role`, `is_member_of_role`.
    pub fn is_member(&mut self, member: Oid, role: Oid, inherited: bool) -> Result<bool> {
        if self.is_superuser(member)? {
            return Ok(true);
        }
        self.is_member_nosuper(member, role, inherited)
    }

    /// As [`CatCx::is_member`], but a superuser is not implicitly a member of every role.
    /// Counterpart: `is_member_of_role_nosuper`.
    pub fn is_member_nosuper(&mut self, member: Oid, role: Oid, inherited: bool) -> Result<bool> {
        if member == role {
            return Ok(true);
        }
        self.reaches(member, role, inherited)
    }

    /// As [`Self::is_member_nosuper`], through all memberships, with or without INHERIT.
    pub fn is_plain_member(&mut self, member: Oid, role: Oid) -> Result<bool> {
        Ok(member == role || self.reaches(member, role, false)?)
    }

    /// All roles that `member` belongs to, `member` itself first.
    pub fn roles_of(&mut self, member: Oid, inherited: bool) -> Result<Vec<Oid>> {
        let mut seen = vec![member];
        let owner = self.database_owner()?;
        let mut next = 0;
        while next < seen.len() {
            let current = seen[next];
            next += 1;
            if inherited {
                let row = self.search(cache::AUTHOID, &[current.into()])?;
                if !row.is_some_and(|r| r.rolinherit) {
                    continue;
                }
            }
            for membership in self.list(cache::AUTHMEMMEMROLE, &[current.into()])?.iter() {
                if !seen.contains(&membership.roleid) {
                    seen.push(membership.roleid);
                }
            }
            if current == owner && !seen.contains(&roles::DATABASE_OWNER) {
                seen.push(roles::DATABASE_OWNER);
            }
        }
        Ok(seen)
    }

    fn reaches(&mut self, member: Oid, role: Oid, inherited: bool) -> Result<bool> {
        Ok(self.roles_of(member, inherited)?.contains(&role))
    }

    /// The owner of the session's database, the implicit member of `pg_database_owner`. `INVALID`
    /// where the session has no database.
    fn database_owner(&mut self) -> Result<Oid> {
        let database = self.session.catalog.database();
        if !database.is_valid() {
            return Ok(Oid::INVALID);
        }
        Ok(self.database(database)?.map_or(Oid::INVALID, |d| d.datdba))
    }

    /// The subset of the privileges `wanted` (grant options are 16 bits higher) that the role has.
    /// Counterpart: `aclmask`.
    pub fn privileges(
        &mut self,
        role: Oid,
        owner: Oid,
        acl: Option<&[AclItem]>,
        kind: Kind,
        wanted: u32,
    ) -> Result<u32> {
        if self.is_superuser(role)? {
            return Ok(wanted);
        }
        let options = !0xFFFF;
        let mut have = 0;
        // The owner always has all grant options, even if its own privileges were revoked.
        if wanted & options != 0 && self.is_member(role, owner, true)? {
            have = wanted & options;
        }
        let default;
        let acl = match acl {
            Some(acl) => acl,
            None => {
                default = default_acl(kind, owner);
                &default
            }
        };
        for item in acl {
            if item.privs & wanted & !have == 0 {
                continue;
            }
            if !item.grantee.is_valid() || self.is_member(role, item.grantee, true)? {
                have |= item.privs & wanted;
            }
        }
        Ok(have)
    }

    /// Whether the role has all privileges in `wanted`.
    pub fn has_privilege(
        &mut self,
        role: Oid,
        owner: Oid,
        acl: Option<&[AclItem]>,
        kind: Kind,
        wanted: u32,
    ) -> Result<bool> {
        Ok(self.privileges(role, owner, acl, kind, wanted)? == wanted)
    }

    /// Whether the role has privileges on the parameter of this name, in lower case. Counterpart:
    /// `pg_parameter_aclcheck`.
    pub fn has_parameter_privilege(&mut self, role: Oid, name: &str, wanted: u32) -> Result<bool> {
        if self.is_superuser(role)? {
            return Ok(true);
        }
        let index = indexes::PG_PARAMETER_ACL_PARNAME_INDEX;
        let Some(row) = self.scan(index, &[name.into()])?.pop() else { return Ok(false) };
        let owner = ids::builtin::role::BOOTSTRAP_SUPERUSER;
        self.has_privilege(role, owner, row.paracl.as_deref(), Kind::Parameter, wanted)
    }

    /// The subset of the privileges `wanted` on a relation that the role has, also through
    /// predefined roles. Counterpart: `pg_class_aclmask`.
    pub fn relation_privileges(
        &mut self,
        role: Oid,
        class: &PgClass,
        mut wanted: u32,
    ) -> Result<u32> {
        if self.is_superuser(role)? {
            return Ok(wanted);
        }
        let changes = INSERT | UPDATE | DELETE | TRUNCATE | USAGE;
        let system =
            class.oid < Oid::FIRST_UNPINNED || class.relnamespace == crate::namespace::PG_TOAST;
        // Only superusers may change system catalogs; grants do not count.
        if wanted & changes != 0 && system && class.relkind != RelKind::View {
            wanted &= !changes;
        }
        let kind = if class.relkind == RelKind::Sequence { Kind::Sequence } else { Kind::Table };
        let acl = class.relacl.as_deref();
        let mut have = self.privileges(role, class.relowner, acl, kind, wanted)?;
        if wanted & SELECT & !have != 0 && self.is_member(role, roles::READ_ALL_DATA, true)? {
            have |= SELECT;
        }
        let writes = wanted & (INSERT | UPDATE | DELETE);
        if writes & !have != 0 && self.is_member(role, roles::WRITE_ALL_DATA, true)? {
            have |= writes;
        }
        Ok(have)
    }

    /// True if the role has the privilege on all these columns of a relation, by grants on columns.
    /// Column 0 stands for all columns. With an empty list: true if it has the privilege on any
    /// column.
    pub fn may_columns(
        &mut self,
        role: Oid,
        class: &PgClass,
        wanted: u32,
        columns: &[AttrNo],
    ) -> Result<bool> {
        let whole = columns.is_empty() || columns.contains(&0);
        let live: Vec<AttrNo> = match whole {
            true => {
                let desc = self.relation(class.oid)?;
                desc.attributes.iter().filter(|a| !a.attisdropped).map(|a| a.attnum).collect()
            }
            false => Vec::new(),
        };
        if columns.is_empty() {
            for n in live {
                if self.may_column(role, class, wanted, n)? {
                    return Ok(true);
                }
            }
            return Ok(false);
        }
        for &n in columns.iter().filter(|n| **n != 0).chain(&live) {
            if !self.may_column(role, class, wanted, n)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// True if the role may read all these columns of a table. With an empty list: true if the role
    /// may read the whole table.
    pub fn may_select(&mut self, role: Oid, table: Oid, columns: &[AttrNo]) -> Result<bool> {
        let class = self.class(table)?;
        if self.relation_privileges(role, &class, SELECT)? != 0 {
            return Ok(true);
        }
        for &n in columns {
            if n <= 0 || !self.may_columns(role, &class, SELECT, &[n])? {
                return Ok(false);
            }
        }
        Ok(!columns.is_empty())
    }

    fn may_column(&mut self, role: Oid, class: &PgClass, wanted: u32, n: AttrNo) -> Result<bool> {
        let acl = self.attribute(class.oid, n)?.and_then(|a| a.attacl.clone());
        match acl {
            Some(acl) => self.has_privilege(role, class.relowner, Some(&acl), Kind::Column, wanted),
            None => Ok(false),
        }
    }

    /// The subset of the privileges `wanted` on a schema that the role has. Counterpart:
    /// `pg_namespace_aclmask`.
    pub fn schema_privileges(&mut self, role: Oid, schema: Oid, wanted: u32) -> Result<u32> {
        if self.is_superuser(role)? {
            return Ok(wanted);
        }
        if schema.is_valid() && schema == self.session.temp_namespace {
            let database = self.session.catalog.database();
            let temp = match self.database(database)? {
                Some(d) => {
                    let acl = d.datacl.as_deref();
                    self.has_privilege(role, d.datdba, acl, Kind::Database, CREATE_TEMP)?
                }
                None => false,
            };
            return Ok(if temp { wanted & (USAGE | CREATE) } else { wanted & USAGE });
        }
        let Some(row) = self.search(cache::NAMESPACEOID, &[schema.into()])? else { return Ok(0) };
        let acl = row.nspacl.as_deref();
        let mut have = self.privileges(role, row.nspowner, acl, Kind::Schema, wanted)?;
        if wanted & USAGE & !have != 0
            && (self.is_member(role, roles::READ_ALL_DATA, true)?
                || self.is_member(role, roles::WRITE_ALL_DATA, true)?)
        {
            have |= USAGE;
        }
        Ok(have)
    }
}

/// The error 42501 for a relation.
pub fn relation_denied(class: &PgClass) -> PgError {
    let noun = match class.relkind {
        RelKind::Sequence => "sequence",
        RelKind::View => "view",
        RelKind::MaterializedView => "materialized view",
        RelKind::Index | RelKind::PartitionedIndex => "index",
        RelKind::ForeignTable => "foreign table",
        _ => "table",
    };
    pg_err!(INSUFFICIENT_PRIVILEGE, "permission denied for {noun} {}", class.relname)
}
