//! Text descriptions of the B-tree's records, as `pg_waldump` prints them.
//!
//! Counterpart: nbtdesc.c.

use crate::records::{self, MarkHalfDead, UnlinkPage, read_metadata};
use ids::FullXid;
use std::fmt::Write;
use wal::{DecodedRecord, Fields};

/// Appends the description of a record of resource manager Btree, without its name; `None` if the
/// record is too short.
pub fn describe(record: &DecodedRecord, out: &mut String) -> Option<()> {
    let main = record.main();
    let mut f = Fields(main);
    match record.info() {
        records::INSERT_LEAF
        | records::INSERT_UPPER
        | records::INSERT_META
        | records::INSERT_POST => write!(out, "off {}", f.u16()?).ok(),
        records::SPLIT_L | records::SPLIT_R => {
            let (level, first_right, offset, posting) = (f.u32()?, f.u16()?, f.u16()?, f.u16()?);
            write!(
                out,
                "level {level}, firstrightoff {first_right}, newitemoff {offset}, postingoff \
                 {posting}"
            )
            .ok()
        }
        records::DEDUP => write!(out, "nintervals {}", f.u16()?).ok(),
        records::VACUUM => write!(out, "ndeleted {}; nupdated {}", f.u16()?, f.u16()?).ok(),
        records::DELETE => {
            let (xid, deleted, updated) = (f.xid()?, f.u16()?, f.u16()?);
            write!(out, "latestRemovedXid {xid}; ndeleted {deleted}; nupdated {updated}").ok()
        }
        records::MARK_PAGE_HALFDEAD => {
            let r = MarkHalfDead::decode(f.0)?;
            let (top, leaf, left, right) = (r.top_parent, r.leaf, r.left, r.right);
            write!(out, "topparent {top}; leaf {leaf}; left {left}; right {right}").ok()
        }
        records::UNLINK_PAGE | records::UNLINK_PAGE_META => {
            let r = UnlinkPage::decode(f.0)?;
            let (left, right, level, safe) = (r.left, r.right, r.level, full(r.safe_xid));
            write!(out, "left {left}; right {right}; level {level}; safexid {safe}; ").ok()?;
            let (left, right, top) = (r.leaf_left, r.leaf_right, r.leaf_top_parent);
            write!(out, "leafleft {left}; leafright {right}; leaftopparent {top}").ok()
        }
        records::NEWROOT => {
            f.u32()?;
            write!(out, "lev {}", f.u32()?).ok()
        }
        records::REUSE_PAGE => {
            let (rel, _block, xid) = (f.rel()?, f.u32()?, FullXid(f.u64()?));
            write!(out, "rel {rel}; latestRemovedXid {}", full(xid)).ok()
        }
        records::META_CLEANUP => {
            let meta = read_metadata(record.block_data(0)?)?;
            write!(out, "last_cleanup_num_delpages {}", meta.last_cleanup_num_delpages).ok()
        }
        _ => Some(()),
    }
}

/// Epoch and id.
fn full(xid: FullXid) -> String {
    format!("{}:{}", xid.epoch(), xid.xid())
}
