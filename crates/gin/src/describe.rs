//! Text descriptions of the records of GIN indexes, as `pg_waldump` prints them.
//!
//! Counterpart: gindesc.c.

use crate::records::{IS_DATA, IS_LEAF, SPLIT_ROOT};
use page::gin::META_SIZE;
use std::fmt::Write;
use wal::{DecodedRecord, Fields};

const fn letter(on: bool) -> char {
    if on { 'T' } else { 'F' }
}

/// Appends the description of a record of resource manager Gin, without its name; `None` if the
/// record is too short.
pub fn describe(record: &DecodedRecord, out: &mut String) -> Option<()> {
    let mut f = Fields(record.main());
    match record.info() >> 4 {
        2 => {
            let flags = f.u16()?;
            let leaf = flags & IS_LEAF != 0;
            page_kind(flags, out)?;
            if !leaf {
                write!(out, " children: {}/{}", block(&mut f)?, block(&mut f)?).ok()?;
            }
            if image(record, out) {
                return Some(());
            }
            let mut f = Fields(record.block_data(0)?);
            if flags & IS_DATA == 0 {
                f.u16()?;
                return write!(out, " isdelete: {}", letter(f.u8()? != 0)).ok();
            }
            if leaf {
                return segments(f, out);
            }
            f.u16()?;
            let (child, key, offset) = (block(&mut f)?, block(&mut f)?, f.u16()?);
            write!(out, " pitem: {child}-{key}/{offset}").ok()
        }
        3 => {
            f.take(24)?;
            let flags = f.u16()?;
            write!(out, "isrootsplit: {} ", letter(flags & SPLIT_ROOT != 0)).ok()?;
            page_kind(flags, out)
        }
        8 => {
            f.take(META_SIZE)?;
            write!(out, "ndeleted: {}", f.i32()?).ok()
        }
        9 if !image(record, out) => segments(Fields(record.block_data(0)?), out),
        _ => Some(()),
    }
}

/// A block number stored as two halves, the upper one first.
fn block(f: &mut Fields<'_>) -> Option<u32> {
    Some(u32::from(f.u16()?) << 16 | u32::from(f.u16()?))
}

fn page_kind(flags: u16, out: &mut String) -> Option<()> {
    let (data, leaf) = (letter(flags & IS_DATA != 0), letter(flags & IS_LEAF != 0));
    write!(out, "isdata: {data} isleaf: {leaf}").ok()
}

/// Appends a note if the first block has an image, and returns whether it has one.
fn image(record: &DecodedRecord, out: &mut String) -> bool {
    let image = record.block(0).and_then(|b| b.image);
    if let Some(image) = image {
        let apply = image.apply();
        out.push_str(if apply {
            " (full page image)"
        } else {
            " (full page image, for WAL verification)"
        });
    }
    image.is_some()
}

/// Changes to the segments of a posting tree leaf. Counterpart: `desc_recompress_leaf`.
fn segments(mut f: Fields<'_>, out: &mut String) -> Option<()> {
    let count = f.u16()?;
    write!(out, " {count} segments:").ok()?;
    for _ in 0..count {
        let (segment, action) = (f.u8()?, f.u8()?);
        write!(out, " {segment}").ok()?;
        let done = match action {
            1 => "delete",
            2 | 3 => {
                // A posting list: first TID (6 bytes), length, bytes, padded to an even length.
                f.take(6)?;
                let len = usize::from(f.u16()?);
                f.take(len.next_multiple_of(2))?;
                if action == 2 { "insert" } else { "replace" }
            }
            4 => {
                let items = f.u16()?;
                f.take(usize::from(items) * 6)?;
                write!(out, " (add {items} items)").ok()?;
                continue;
            }
            _ => return write!(out, " unknown action {action} ???").ok(),
        };
        write!(out, " ({done})").ok()?;
    }
    Some(())
}
