//! Text descriptions of the records of GiST indexes, as `pg_waldump` prints them.
//!
//! Counterpart: gistdesc.c.

use ids::FullXid;
use std::fmt::Write;
use wal::{DecodedRecord, Fields};

/// Appends the description of a record of resource manager Gist, without its name; `None` if the
/// record is too short.
pub fn describe(record: &DecodedRecord, out: &mut String) -> Option<()> {
    let mut f = Fields(record.main());
    match record.info() >> 4 {
        1 => {
            let (xid, count) = (f.xid()?, f.u16()?);
            write!(out, "delete: latestRemovedXid {xid}, nitems: {count}").ok()
        }
        2 => {
            let (rel, block, xid) = (f.rel()?, f.u32()?, FullXid(f.u64()?));
            let (epoch, xid) = (xid.epoch(), xid.xid());
            write!(out, "rel {rel}; blk {block}; latestRemovedXid {epoch}:{xid}").ok()
        }
        3 => {
            f.take(18)?;
            write!(out, "page_split: splits to {} pages", f.u16()?).ok()
        }
        6 => {
            let (xid, downlink) = (FullXid(f.u64()?), f.u16()?);
            write!(out, "deleteXid {}:{}; downlink {downlink}", xid.epoch(), xid.xid()).ok()
        }
        _ => Some(()),
    }
}
