//! Page layout of the SLRU files (`pg_xact`, `pg_subtrans`, `pg_multixact`, `pg_commit_ts`): pages
//! of 8 KB without a header, 32 to a segment. Counterpart: slru.h, clog.c, subtrans.c, multixact.c,
//! commit_ts.c.

use crate::raw::PAGE_SIZE;
use ids::{MultiXid, Xid};

/// Pages of a segment file.
pub const PAGES_PER_SEGMENT: u32 = 32;
/// Transactions on a page of `pg_xact`: two bits each.
pub const XACTS_PER_PAGE: u32 = PAGE_SIZE as u32 * 4;
/// Parents on a page of `pg_subtrans`: four bytes each.
pub const SUBXACTS_PER_PAGE: u32 = PAGE_SIZE as u32 / 4;
/// Offsets on a page of `pg_multixact/offsets`: four bytes each.
pub const MULTI_OFFSETS_PER_PAGE: u32 = PAGE_SIZE as u32 / 4;
/// Members come in groups of four: four flag bytes, then four XIDs.
pub const MEMBERS_PER_GROUP: u32 = 4;
pub const MEMBER_GROUP_SIZE: usize = 20;
/// Members on a page of `pg_multixact/members`; the page's last 12 bytes are unused.
pub const MEMBERS_PER_PAGE: u32 = (PAGE_SIZE / MEMBER_GROUP_SIZE) as u32 * MEMBERS_PER_GROUP;
/// Entries on a page of `pg_commit_ts`: timestamp and origin, ten bytes.
pub const COMMIT_TS_PER_PAGE: u32 = (PAGE_SIZE / 10) as u32;

/// Name of the segment that holds page `page`.
pub fn segment_name(page: u32) -> String {
    format!("{:04X}", page / PAGES_PER_SEGMENT)
}

/// Byte offset of page `page` in its segment.
pub const fn offset_in_segment(page: u32) -> u64 {
    (page % PAGES_PER_SEGMENT) as u64 * PAGE_SIZE as u64
}

/// Page, byte and bit shift of a transaction's status in `pg_xact`.
pub const fn xact_location(xid: Xid) -> (u32, usize, u32) {
    let n = xid.0 % XACTS_PER_PAGE;
    (xid.0 / XACTS_PER_PAGE, (n / 4) as usize, n % 4 * 2)
}

/// Page and byte of a transaction's parent in `pg_subtrans`.
pub const fn subxact_location(xid: Xid) -> (u32, usize) {
    (xid.0 / SUBXACTS_PER_PAGE, (xid.0 % SUBXACTS_PER_PAGE) as usize * 4)
}

/// Page and byte of a multixact's first member number.
pub const fn multi_offset_location(multi: MultiXid) -> (u32, usize) {
    (multi.0 / MULTI_OFFSETS_PER_PAGE, (multi.0 % MULTI_OFFSETS_PER_PAGE) as usize * 4)
}

/// Page, byte of the XID, and byte of the flags of a multixact member.
pub const fn member_location(member: u32) -> (u32, usize, usize) {
    let group = (member / MEMBERS_PER_GROUP) as usize % (PAGE_SIZE / MEMBER_GROUP_SIZE);
    let in_group = (member % MEMBERS_PER_GROUP) as usize;
    let base = group * MEMBER_GROUP_SIZE;
    (member / MEMBERS_PER_PAGE, base + 4 + in_group * 4, base + in_group)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locations_agree_with_postgresql() {
        assert_eq!(segment_name(0x1FFFF), "0FFF");
        assert_eq!(segment_name(32 * 0x12345), "12345");
        assert_eq!(xact_location(Xid(32_768 + 7)), (1, 1, 6));
        assert_eq!(MEMBERS_PER_PAGE, 1636);
        assert_eq!(member_location(1636 + 5), (1, 28, 21));
        assert_eq!(multi_offset_location(MultiXid(2049)), (1, 4));
        assert_eq!(offset_in_segment(33), 8192);
    }
}
