//! Lists of rights: adding, taking away, and what hangs on a grant option that goes.
//! Counterpart: acl.c (`aclupdate`, `recursive_revoke`, `check_circularity`).

use catalog::rows::AclItem;
use ids::Oid;
use parse::ast::DropBehavior;
use pgerror::{Result, bail, pg_err};

/// The right bits; the same 16 bits higher are their grant options.
pub const RIGHTS: u32 = 0xFFFF;

/// What is done to an entry of a list.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Change {
    Add,
    Remove,
}

/// What a decision about membership asks of the catalogs: has the role the rights of the other?
pub type IsMember<'a> = dyn FnMut(Oid, Oid) -> Result<bool> + 'a;

/// Changes the rights that `item.grantor` gave `item.grantee`.
pub fn update(
    list: &[AclItem],
    item: AclItem,
    change: Change,
    owner: Oid,
    behavior: DropBehavior,
    is_member: &mut IsMember<'_>,
) -> Result<Vec<AclItem>> {
    // Who gives away a right that came from himself would keep it for ever.
    if change == Change::Add && item.privs & !RIGHTS != 0 {
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

/// Grant options that a role has, by whatever way, of those asked for.
fn options_of(
    list: &[AclItem],
    role: Oid,
    owner: Oid,
    is_member: &mut IsMember<'_>,
) -> Result<u32> {
    if is_member(role, owner)? {
        return Ok(RIGHTS);
    }
    let mut have = 0;
    for a in list.iter().filter(|a| a.grantee.is_valid() && a.privs >> 16 != 0) {
        if is_member(role, a.grantee)? {
            have |= a.privs >> 16;
        }
    }
    Ok(have)
}

/// Rights given by a role that has lost its option go too, or forbid the change.
fn revoke_dependents(
    mut list: Vec<AclItem>,
    grantee: Oid,
    lost: u32,
    owner: Oid,
    behavior: DropBehavior,
    is_member: &mut IsMember<'_>,
) -> Result<Vec<AclItem>> {
    // The owner never loses them.
    if grantee == owner {
        return Ok(list);
    }
    let still = options_of(&list, grantee, owner, is_member)?;
    let lost = lost & !still;
    if lost == 0 {
        return Ok(list);
    }
    loop {
        let given = list.iter().find(|a| a.grantor == grantee && a.privs & RIGHTS & lost != 0);
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
    // Without what the grantee gave, can the grantor still give this?
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

/// Both lists' entries in one.
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

/// Puts the entries into the order that default rights are kept in.
pub fn sort(list: &mut [AclItem]) {
    list.sort_unstable_by_key(|a| (a.grantee, a.grantor, a.privs));
}

/// The same entries, in whatever order?
pub fn same(left: &[AclItem], right: &[AclItem]) -> bool {
    let (mut left, mut right) = (left.to_vec(), right.to_vec());
    sort(&mut left);
    sort(&mut right);
    left == right
}

/// Roles named in the list, each once; PUBLIC and the owner excepted.
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

/// Rights of the old owner become the new one's; entries that fall together become one.
/// Counterpart: `aclnewowner`.
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

    /// owner -> 20 -> 30, all with grant option; as PostgreSQL answers to the same statements.
    #[test]
    fn a_grant_option_takes_what_was_given_by_it_along() {
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
