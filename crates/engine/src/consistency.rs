//! `wal_consistency_checking`: records contain images of their pages after the change. After replay
//! the pages must be equal to the images, except for masked parts that may differ after redo
//! (hints, unused space).
//!
//! Counterpart: `verifyBackupPageConsistency` in xlogrecovery.c, bufmask.c, `heap_mask`.

use bufmgr::redo::{IfMissing, RedoCx, read_block};
use page::PageBuf;
use page::heap_tuple::{INFOMASK_AT, infomask};
use pgerror::{PgError, Result, Severity};
use wal::DecodedRecord;

/// Value of masked bytes.
const MARKER: u8 = 0;

/// Compares the blocks of the record that this context replays with their images. `mask` clears the
/// parts that may differ.
pub(crate) fn check(
    cx: &mut RedoCx<'_>,
    mask: fn(&mut PageBuf),
    record: &DecodedRecord,
) -> Result<()> {
    for (id, block) in record.blocks() {
        // A page that was restored from its image is equal to the image.
        let foreign = !cx.owns(block.rel, block.block);
        if block.image.is_none() || block.applies_image() || foreign {
            continue;
        }
        let guard = read_block(cx, block.rel, block.fork, block.block, IfMissing::Ignore)?;
        let Some(guard) = guard else { continue };
        if guard.lsn() > record.end {
            // The page was read from disk and already contains later changes.
            continue;
        }
        let mut replayed = guard.to_buf();
        drop(guard);
        let mut expected = PageBuf::new();
        record.restore_image(id, &mut expected)?;
        mask(&mut replayed);
        mask(&mut expected);
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

/// Clears the parts of a heap page that may differ.
pub(crate) fn mask_heap(page: &mut PageBuf) {
    mask_header(page);
    mask_hint_bits(page);
    mask_hole(page);
    mask_heap_items(page);
}

/// Clears the parts that may differ of a page of any other kind.
pub(crate) fn mask_other(page: &mut PageBuf) {
    mask_header(page);
    mask_hole(page);
}

fn mask_header(page: &mut PageBuf) {
    page.set_lsn(ids::Lsn::INVALID);
    page.set_checksum_field(u16::from(MARKER));
}

fn mask_hint_bits(page: &mut PageBuf) {
    page.set_prune_xid(ids::Xid::INVALID);
    // PD_HAS_FREE_LINES, PD_PAGE_FULL and PD_ALL_VISIBLE are hints, or are restored by other
    // records.
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
            // Hint bits about xmin and xmax may be set on one side only. The frozen bits are
            // logged.
            if bits & infomask::XMIN_FROZEN == infomask::XMIN_FROZEN {
                bits &= !(infomask::XMAX_COMMITTED | infomask::XMAX_INVALID);
                // A row lock may leave this bit set, whereas replay clears it. The bit is no longer
                // used.
                bits &= !infomask::COMBOCID;
            } else {
                bits &= !infomask::XACT_MASK;
            }
            page.set_u16_at(start + INFOMASK_AT, bits);
            // The command id is not logged.
            page.set_u32_at(start + 8, u32::from(MARKER));
            // Replay stores the tuple's TID where the original page may have a speculative token.
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
