//! Text descriptions of records of access methods that are not implemented: SP-GiST, BRIN.
//! Their layouts are in spgxlog.h, brin_xlog.h.
//!
//! Counterpart: spgdesc.c, brindesc.c.

use std::fmt::Write;
use wal::{DecodedRecord, Fields};

pub(crate) fn spgist(record: &DecodedRecord, out: &mut String) -> Option<()> {
    let main = record.main();
    let short = |at: usize| Fields(main.get(at..)?).u16();
    let mut flags = Vec::new();
    let mut flag = |at: usize, name: &'static str| {
        if *main.get(at)? != 0 {
            flags.push(name);
        }
        Some(())
    };
    match record.info() >> 4 {
        1 => {
            let (leaf, head, parent, node) = (short(2)?, short(4)?, short(6)?, short(8)?);
            write!(out, "off: {leaf}, headoff: {head}, parentoff: {parent}, nodeI: {node}").ok()?;
            flag(0, "newpage")?;
            flag(1, "nulls")?;
        }
        2 => {
            let (moves, parent, node) = (short(0)?, short(6)?, short(8)?);
            write!(out, "nmoves: {moves}, parentoff: {parent}, nodeI: {node}").ok()?;
            flag(2, "newpage")?;
            flag(3, "replacedead")?;
            flag(4, "nulls")?;
        }
        3 => {
            let (old, new, parent, node) = (short(0)?, short(2)?, short(6)?, short(8)?);
            let block = *main.get(5)? as i8;
            write!(out, "off: {old}, newoff: {new}, parentBlk: {block}, ").ok()?;
            write!(out, "parentoff: {parent}, nodeI: {node}").ok()?;
            flag(4, "newpage")?;
        }
        4 => {
            write!(out, "prefixoff: {}, postfixoff: {}", short(0)?, short(2)?).ok()?;
            flag(4, "newpage")?;
            flag(5, "same")?;
        }
        5 => {
            let (deleted, inserted, inner) = (short(2)?, short(4)?, short(8)?);
            write!(out, "ndelete: {deleted}, ninsert: {inserted}, inneroff: {inner}, ").ok()?;
            write!(out, "parentoff: {}, nodeI: {}", short(14)?, short(16)?).ok()?;
            flag(12, "innerIsParent")?;
            flag(11, "nulls")?;
            flag(0, "isRootSplit")?;
        }
        6 => {
            let (dead, placeholders, moved, chain) = (short(0)?, short(2)?, short(4)?, short(6)?);
            write!(out, "ndead: {dead}, nplaceholder: {placeholders}, nmove: {moved}, ").ok()?;
            write!(out, "nchain: {chain}").ok()?;
        }
        7 => write!(out, "ndelete: {}", short(0)?).ok()?,
        8 => {
            let (placeholders, first) = (short(0)?, short(2)?);
            let xid = Fields(main.get(4..)?).xid()?;
            write!(out, "ntoplaceholder: {placeholders}, firstplaceholder: {first}, ").ok()?;
            write!(out, "newestredirectxid: {xid}").ok()?;
        }
        _ => {}
    }
    flags.iter().try_for_each(|name| write!(out, " ({name})").ok())
}

pub(crate) fn brin(record: &DecodedRecord, out: &mut String) -> Option<()> {
    let mut f = Fields(record.main());
    // The bit above them is XLOG_BRIN_INIT_PAGE.
    match (record.info() & 0x70) >> 4 {
        0 => {
            let (pages, version) = (f.u32()?, f.u16()?);
            write!(out, "v{version} pagesPerRange {pages}").ok()
        }
        1 => {
            let (block, pages, offset) = (f.u32()?, f.u32()?, f.u16()?);
            write!(out, "heapBlk {block} pagesPerRange {pages} offnum {offset}").ok()
        }
        2 => {
            let (old, _pad, block, pages) = (f.u16()?, f.u16()?, f.u32()?, f.u32()?);
            write!(out, "heapBlk {block} pagesPerRange {pages} old offnum {old}, ").ok()?;
            write!(out, "new offnum {}", f.u16()?).ok()
        }
        3 => write!(out, "offnum {}", f.u16()?).ok(),
        4 => write!(out, "targetBlk {}", f.u32()?).ok(),
        5 => {
            let (pages, block, offset) = (f.u32()?, f.u32()?, f.u16()?);
            write!(out, "pagesPerRange {pages}, heapBlk {block}, page offset {offset}").ok()
        }
        _ => Some(()),
    }
}
