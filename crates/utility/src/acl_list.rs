//! Operations on access control lists: granting, revoking, and the effect of a revoked grant
//! option.
//!
//! Counterpart: acl.c (`aclupdate`, `recursive_revoke`, `check_circularity`).

use catalog::rows::AclItem;
use ids::Oid;
use parse::ast::DropBehavior;
use pgerror::{Result, bail, pg_err};

/// The privilege bits; their grant options are 16 bits higher.
pub const PRIVILEGE_BITS: u32 = 0xFFFF;

/// The change to an ACL entry.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Change {
    Add,
    Remove,
}

/// A membership test, true if the first role has the privileges of the second.
pub type IsMember<'a> = dyn FnMut(Oid, Oid) -> Result<bool> + 'a;

/// Changes the privileges that `item.grantor` granted to `item.grantee`.
pub fn update(
    list: &[AclItem],
    item: AclItem,
    change: Change,
    owner: Oid,
    behavior: DropBehavior,
    is_member: &mut IsMember<'_>,
) -> Result<Vec<AclItem>> {
    // A circular grant would make the privilege irrevocable.
    if change == Change::Add && item.privs & !PRIVILEGE_BITS != 0 {
        check_circularity(list, item, owner, is_member)?;
    }
    let mut out = list.to_vec();
    let same = |a: &AclItem| a.grantee == item.grantee && a.grantor == item.grantor;
    let at = match out.iter().position(same) {
        Some(at) => at,
        None => {
            out.push(AclItem { privs: 0, ..item });
            out.len() - 1
        }
    };
    let old = out[at].privs;
    out[at].privs = match change {
        Change::Add => old | item.privs,
        Change::Remove => old & !item.privs,
    };
    let lost = (old & !out[at].privs) >> 16;
    if out[at].privs == 0 {
        out.remove(at);
    }
    if lost != 0 {
        out = revoke_dependents(out, item.grantee, lost, owner, behavior, is_member)?;
    }
    Ok(out)
}

/// The grant options among the requested ones that a role has, directly or through membership.
fn options_of(
    list: &[AclItem],
    role: Oid,
    owner: Oid,
    is_member: &mut IsMember<'_>,
) -> Result<u32> {
    if is_member(role, owner)? {
        return Ok(PRIVILEGE_BITS);
    }
    let mut have = 0;
    for a in list.iter().filter(|a| a.grantee.is_valid() && a.privs >> 16 != 0) {
        if is_member(role, a.grantee)? {
            have |= a.privs >> 16;
        }
    }
    Ok(have)
}

/// Revokes privileges granted by a role that lost its grant option, or fails with RESTRICT.
fn revoke_dependents(
    mut list: Vec<AclItem>,
    grantee: Oid,
    lost: u32,
    owner: Oid,
    behavior: DropBehavior,
    is_member: &mut IsMember<'_>,
) -> Result<Vec<AclItem>> {
    // The owner never loses its grant options.
    if grantee == owner {
        return Ok(list);
    }
    let still = options_of(&list, grantee, owner, is_member)?;
    let lost = lost & !still;
    if lost == 0 {
        return Ok(list);
    }
    loop {
        let given =
            list.iter().find(|a| a.grantor == grantee && a.privs & PRIVILEGE_BITS & lost != 0);
        let Some(&given) = given else { return Ok(list) };
        if behavior == DropBehavior::Restrict {
            return Err(pg_err!(DEPENDENT_OBJECTS_STILL_EXIST, "dependent privileges exist")
                .hint("Use CASCADE to revoke them too."));
        }
        let gone = AclItem { privs: lost | lost << 16, ..given };
        list = update(&list, gone, Change::Remove, owner, behavior, is_member)?;
    }
}

fn check_circularity(
    list: &[AclItem],
    item: AclItem,
    owner: Oid,
    is_member: &mut IsMember<'_>,
) -> Result<()> {
    if item.grantor == owner {
        return Ok(());
    }
    // Whether the grantor could still grant this without the grants that the grantee made.
    let mut rest = list.to_vec();
    while let Some(at) = rest.iter().position(|a| a.grantee == item.grantee && a.privs >> 16 != 0) {
        let gone = AclItem { privs: rest[at].privs | rest[at].privs << 16, ..rest[at] };
        let cascade = DropBehavior::Cascade;
        rest = update(&rest, gone, Change::Remove, owner, cascade, is_member)?;
    }
    let have = options_of(&rest, item.grantor, owner, is_member)?;
    if item.privs >> 16 & !have != 0 {
        bail!(INVALID_GRANT_OPERATION, "grant options cannot be granted back to your own grantor");
    }
    Ok(())
}

/// The union of both lists.
pub fn merge(left: Vec<AclItem>, right: &[AclItem]) -> Vec<AclItem> {
    let mut out = left;
    for item in right {
        match out.iter_mut().find(|a| a.grantee == item.grantee && a.grantor == item.grantor) {
            Some(a) => a.privs |= item.privs,
            None => out.push(*item),
        }
    }
    out
}

/// Sorts the entries in the order used by default ACLs.
pub fn sort(list: &mut [AclItem]) {
    list.sort_unstable_by_key(|a| (a.grantee, a.grantor, a.privs));
}

/// True if both lists have the same entries, in any order.
pub fn same(left: &[AclItem], right: &[AclItem]) -> bool {
    let (mut left, mut right) = (left.to_vec(), right.to_vec());
    sort(&mut left);
    sort(&mut right);
    left == right
}

/// The roles in the list without duplicates, except PUBLIC and the owner.
pub fn members(list: Option<&[AclItem]>, owner: Oid) -> Vec<Oid> {
    let mut out = Vec::new();
    for a in list.unwrap_or_default() {
        for role in [a.grantee, a.grantor] {
            if role.is_valid() && role != owner && !out.contains(&role) {
                out.push(role);
            }
        }
    }
    out
}

/// Replaces the old owner by the new one; entries that become equal are merged. Counterpart:
/// `aclnewowner`.
pub fn new_owner(list: &[AclItem], old: Oid, new: Oid) -> Vec<AclItem> {
    let to = |o: Oid| if o == old { new } else { o };
    let mut out: Vec<AclItem> = Vec::new();
    for a in list {
        let moved = AclItem { grantee: to(a.grantee), grantor: to(a.grantor), privs: a.privs };
        out = merge(out, &[moved]);
    }
    out.retain(|a| a.privs != 0);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWNER: Oid = Oid(10);
    const SELECT: u32 = 2;

    fn item(grantee: u32, grantor: u32, privs: u32) -> AclItem {
        AclItem { grantee: Oid(grantee), grantor: Oid(grantor), privs }
    }

    fn change(
        list: &[AclItem],
        item: AclItem,
        how: Change,
        behavior: DropBehavior,
    ) -> Result<Vec<AclItem>> {
        update(list, item, how, OWNER, behavior, &mut |a, b| Ok(a == b))
    }

    /// owner -> 20 -> 30, all with grant option. Expected results come from PostgreSQL.
    #[test]
    fn revoking_a_grant_option_cascades() {
        let with_option = SELECT | SELECT << 16;
        let list = vec![item(10, 10, 127), item(20, 10, with_option), item(30, 20, with_option)];
        let revoked = item(20, 10, SELECT << 16);
        let refused = change(&list, revoked, Change::Remove, DropBehavior::Restrict);
        assert_eq!(refused.unwrap_err().message(), "dependent privileges exist");
        let left = change(&list, revoked, Change::Remove, DropBehavior::Cascade).unwrap();
        assert_eq!(left, vec![item(10, 10, 127), item(20, 10, SELECT)]);
        let back = change(&list, item(20, 30, with_option), Change::Add, DropBehavior::Restrict);
        let message = "grant options cannot be granted back to your own grantor";
        assert_eq!(back.unwrap_err().message(), message);
    }
}
