//! Access rights. Counterpart: acl.c, aclchk.c.

use crate::cache;
use crate::cx::CatCx;
use crate::rows::AclItem;
use ids::Oid;
use pgerror::Result;

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

/// Kinds of objects with rights; each has its own default.
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
    /// All rights that there are on an object of this kind.
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

    /// What PUBLIC may without any GRANT.
    const fn public(self) -> u32 {
        match self {
            Kind::Database => CREATE_TEMP | CONNECT,
            Kind::Function => EXECUTE,
            Kind::Language | Kind::Type | Kind::Domain => USAGE,
            _ => 0,
        }
    }
}

/// The rights of an object whose `acl` column is NULL. Counterpart: `acldefault`.
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
    pub fn is_superuser(&mut self, role: Oid) -> Result<bool> {
        Ok(self.search(cache::AUTHOID, &[role.into()])?.is_some_and(|r| r.rolsuper))
    }

    /// Is `member` a direct or indirect member of `role`? With `inherited`, only through roles that pass
    /// their rights on. Superusers are members of everything.
    /// Counterpart: `has_privs_of_role`, `is_member_of_role`.
    pub fn is_member(&mut self, member: Oid, role: Oid, inherited: bool) -> Result<bool> {
        if self.is_superuser(member)? {
            return Ok(true);
        }
        self.is_real_member(member, role, inherited)
    }

    /// As [`CatCx::is_member`], but superusers are not members of everything.
    /// Counterpart: `is_member_of_role_nosuper`.
    pub fn is_real_member(&mut self, member: Oid, role: Oid, inherited: bool) -> Result<bool> {
        if member == role {
            return Ok(true);
        }
        let mut seen = vec![member];
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
                if membership.roleid == role {
                    return Ok(true);
                }
                if !seen.contains(&membership.roleid) {
                    seen.push(membership.roleid);
                }
            }
        }
        Ok(false)
    }

    /// Those of the rights `wanted` that the role has. Counterpart: `aclmask`.
    pub fn privileges(
        &mut self,
        role: Oid,
        owner: Oid,
        acl: Option<&[AclItem]>,
        kind: Kind,
        wanted: u32,
    ) -> Result<u32> {
        if self.is_superuser(role)? || self.is_member(role, owner, true)? {
            // The owner's rights can be revoked, except for the superuser.
            if self.is_superuser(role)? {
                return Ok(wanted);
            }
        }
        let default;
        let acl = match acl {
            Some(acl) => acl,
            None => {
                default = default_acl(kind, owner);
                &default
            }
        };
        let mut have = 0;
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

    /// Does the role have all of `wanted`?
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
}
