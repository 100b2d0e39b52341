//! Records that carry images for checking (`wal_consistency_checking`): after the record is
//! replayed, the pages must equal the images, up to what redo is allowed to leave different (hints,
//! unused space), which is masked. Counterpart: checkXLogConsistency, bufmask.c, heap_mask.

use bufmgr::redo::{IfMissing, RedoCx, read_block};
use page::PageBuf;
use page::heap_tuple::{INFOMASK_AT, infomask};
use pgerror::{PgError, Result, Severity};
use wal::{DecodedRecord, RmgrId};

/// What masked bytes become.
const MARKER: u8 = 0;

/// Compares those of the record's blocks that are the context's with their images.
pub(crate) fn check(cx: &mut RedoCx<'_>, rmgr: RmgrId, record: &DecodedRecord) -> Result<()> {
    for (id, block) in record.blocks() {
        // An image that was applied is the page.
        let another = !cx.owns(block.rel, block.block);
        if block.image.is_none() || block.applies_image() || another {
            continue;
        }
        let guard = read_block(cx, block.rel, block.fork, block.block, IfMissing::Ignore)?;
        let Some(guard) = guard else { continue };
        if guard.lsn() > record.end {
            // The page came from disk and is past this record.
            continue;
        }
        let mut replayed = guard.to_buf();
        drop(guard);
        let mut expected = PageBuf::new();
        record.restore_image(id, &mut expected)?;
        mask(rmgr, &mut replayed);
        mask(rmgr, &mut expected);
        if replayed.as_bytes() != expected.as_bytes() {
            let differ = (0..page::PAGE_SIZE)
                .find(|&at| replayed.as_bytes()[at] != expected.as_bytes()[at])
                .unwrap_or(0);
            return Err(PgError::internal(format!(
                "inconsistent page found, rel {}, forknum {}, blkno {}",
                block.rel, block.fork as u8, block.block
            ))
            .severity(Severity::Fatal)
            .detail(format!("The first difference is at byte {differ}.")));
        }
    }
    Ok(())
}

/// Clears what may differ.
fn mask(rmgr: RmgrId, page: &mut PageBuf) {
    match rmgr {
        RmgrId::Btree => btree::mask(page),
        RmgrId::Heap | RmgrId::Heap2 => {
            mask_header(page);
            mask_hint_bits(page);
            mask_hole(page);
            mask_heap_items(page);
        }
        _ => {
            mask_header(page);
            mask_hole(page);
        }
    }
}

fn mask_header(page: &mut PageBuf) {
    page.set_lsn(ids::Lsn::INVALID);
    page.set_checksum_field(u16::from(MARKER));
}

fn mask_hint_bits(page: &mut PageBuf) {
    page.set_prune_xid(ids::Xid::INVALID);
    // Full, has free lines, all visible: hints, or kept in step by other means.
    let flags = page.flags() & !0x0007;
    page.set_flags(flags);
}

fn mask_hole(page: &mut PageBuf) {
    let (lower, upper) = (page.lower(), page.upper());
    if let Some(hole) = page.bytes_mut().get_mut(lower..upper) {
        hole.fill(MARKER);
    }
}

fn mask_heap_items(page: &mut PageBuf) {
    for offset in 1..=page.max_offset() {
        let pointer = page.line_pointer(offset);
        let (start, len) = (pointer.offset(), pointer.len());
        if pointer.is_normal() && len >= page::heap_tuple::HEADER_SIZE {
            let mut bits = page.u16_at(start + INFOMASK_AT);
            // Whether xmin or xmax is over may be known to one side only, unless it is frozen.
            if bits & infomask::XMIN_FROZEN == infomask::XMIN_FROZEN {
                bits &= !(infomask::XMAX_COMMITTED | infomask::XMAX_INVALID);
                // Locks leave it as it is, and replay does not; nobody looks at it any more.
                bits &= !infomask::COMBOCID;
            } else {
                bits &= !infomask::XACT_MASK;
            }
            page.set_u16_at(start + INFOMASK_AT, bits);
            // The command id is not logged.
            page.set_u32_at(start + 8, u32::from(MARKER));
            // A speculative token is replaced by the TID in replay; which block, redo does not tell
            // here.
            let token = page::heap_tuple::SPEC_TOKEN_OFFSET;
            if page.u16_at(start + 16) == token {
                page.bytes_mut()[start + 12..start + 18].fill(MARKER);
            }
        }
        if len > 0 {
            let padding = start + len..start + page::max_align(len);
            if let Some(padding) = page.bytes_mut().get_mut(padding) {
                padding.fill(MARKER);
            }
        }
    }
}
