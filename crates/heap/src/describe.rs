//! Text descriptions of the heap's records, as `pg_waldump` prints them.
//!
//! Counterpart: heapdesc.c.

use crate::record::{self, heap, heap2, infobit_names};
use std::fmt::Write;
use wal::{DecodedRecord, Fields, RmgrId};

const TRUNCATE_CASCADE: u8 = 0x01;
const TRUNCATE_RESTART_SEQS: u8 = 0x02;

/// Appends the description of a record of the resource managers Heap or Heap2, without its name;
/// `None` if the record is too short.
pub fn describe(record: &DecodedRecord, out: &mut String) -> Option<()> {
    let op = record.info() & record::OPERATION_MASK;
    match record.header.rmgr()? {
        RmgrId::Heap => of_heap(op, record.main(), out),
        _ => of_heap2(op, record.main(), out),
    }
}

fn of_heap(op: u8, main: &[u8], out: &mut String) -> Option<()> {
    let mut f = Fields(main);
    match op {
        heap::INSERT => {
            let r = record::Insert::read(main)?;
            write!(out, "off {} flags 0x{:02X}", r.offset, r.flags).ok()
        }
        heap::DELETE => {
            let r = record::Delete::read(main)?;
            let bits = infobit_names(r.infobits);
            write!(out, "off {} flags 0x{:02X} {bits}", r.offset, r.flags).ok()
        }
        heap::UPDATE | heap::HOT_UPDATE => {
            let r = record::Update::read(main)?;
            let (offset, xmax, flags) = (r.old_offset, r.old_xmax, r.flags);
            let bits = infobit_names(r.old_infobits);
            write!(out, "off {offset} xmax {xmax} flags 0x{flags:02X} {bits}").ok()?;
            write!(out, "; new off {} xmax {}", r.new_offset, r.new_xmax).ok()
        }
        heap::TRUNCATE => {
            let (_database, count, flags) = (f.oid()?, f.u32()?, f.u8()?);
            f.take(3)?;
            if flags & TRUNCATE_CASCADE != 0 {
                out.push_str("cascade ");
            }
            if flags & TRUNCATE_RESTART_SEQS != 0 {
                out.push_str("restart_seqs ");
            }
            write!(out, "nrelids {count} relids").ok()?;
            (0..count).try_for_each(|_| write!(out, " {}", f.oid()?).ok())
        }
        heap::LOCK => {
            let r = record::Lock::read(main)?;
            let bits = infobit_names(r.infobits);
            write!(out, "off {}: xid {}: flags 0x{:02X} {bits}", r.offset, r.xmax, r.flags).ok()
        }
        heap::CONFIRM | heap::INPLACE => write!(out, "off {}", f.u16()?).ok(),
        _ => Some(()),
    }
}

fn of_heap2(op: u8, main: &[u8], out: &mut String) -> Option<()> {
    let mut f = Fields(main);
    match op {
        heap2::PRUNE => {
            let r = record::Prune::read(main)?;
            let (xid, redirected, dead) = (r.latest_removed, r.redirected, r.dead);
            write!(out, "latestRemovedXid {xid} nredirected {redirected} ndead {dead}").ok()
        }
        heap2::VACUUM => write!(out, "nunused {}", f.u16()?).ok(),
        heap2::FREEZE_PAGE => write!(out, "cutoff xid {} ntuples {}", f.xid()?, f.u16()?).ok(),
        heap2::VISIBLE => write!(out, "cutoff xid {} flags 0x{:02X}", f.xid()?, f.u8()?).ok(),
        heap2::MULTI_INSERT => {
            let (flags, _pad, count) = (f.u8()?, f.u8()?, f.u16()?);
            write!(out, "{count} tuples flags 0x{flags:02X}").ok()
        }
        heap2::LOCK_UPDATED => {
            let r = record::Lock::read(main)?;
            let bits = infobit_names(r.infobits);
            write!(out, "off {}: xmax {}: flags 0x{:02X} {bits}", r.offset, r.xmax, r.flags).ok()
        }
        heap2::NEW_CID => {
            let (_top, cmin, cmax, combo) = (f.xid()?, f.u32()?, f.u32()?, f.u32()?);
            let (rel, high, low, offset) = (f.rel()?, f.u16()?, f.u16()?, f.u16()?);
            let block = u32::from(high) << 16 | u32::from(low);
            write!(out, "rel {rel}; tid {block}/{offset}").ok()?;
            write!(out, "; cmin: {cmin}, cmax: {cmax}, combo: {combo}").ok()
        }
        _ => Some(()),
    }
}
