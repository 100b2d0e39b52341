//! Verification of a heap: line pointers, tuple headers, XIDs within the relation's bounds, HOT
//! chains, column lengths, and the visibility map.
//!
//! Counterpart: verify_heapam.c of amcheck.

use crate::context::{HeapCx, HeapRel};
use crate::freeze::needs_eventual_freeze;
use crate::visibility_map::{self, VmPin};
use ids::{BlockNo, MultiXid, OffsetNo, Xid};
use page::heap_tuple::{HEADER_SIZE, bitmap_len};
use page::{Deformer, HeapTupleHeader, LpFlags, Page, max_align, vm};
use pgerror::Result;
use txn::TxnManager;

/// A fault.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fault {
    pub block: BlockNo,
    /// 0: the page as a whole.
    pub offset: OffsetNo,
    pub message: String,
}

/// Bounds for the ids in the relation.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    pub relfrozenxid: Xid,
    pub relminmxid: MultiXid,
    pub next_xid: Xid,
    pub next_multi: MultiXid,
}

/// Checks all pages; returns the faults.
pub fn verify(
    cx: &mut HeapCx<'_>,
    rel: &HeapRel,
    deformer: &Deformer,
    bounds: &Bounds,
) -> Result<Vec<Fault>> {
    let mut faults = Vec::new();
    let mut vm_slot: Option<VmPin<'_>> = None;
    for block in 0..cx.pool.nblocks(&rel.main)? {
        let block = BlockNo(block);
        let bits = visibility_map::status(cx.pool, rel, block, &mut vm_slot, cx.strategy)?;
        let guard = cx.pool.read(&rel.main, block, cx.strategy)?.share();
        if guard.is_new() {
            continue;
        }
        let manager = cx.txn.manager();
        check_page(&guard, block, deformer, bounds, manager, &mut faults)?;
        // The map was read before the page was latched; its bits may only have been cleared since.
        if bits & vm::ALL_VISIBLE != 0 && !guard.is_all_visible() {
            let again = visibility_map::status(cx.pool, rel, block, &mut vm_slot, cx.strategy)?;
            if again & vm::ALL_VISIBLE != 0 {
                let message = "page is all-visible in the map and not in its header".to_owned();
                faults.push(Fault { block, offset: 0, message });
            }
        }
        if bits & vm::ALL_FROZEN != 0 && guard.is_all_visible() {
            for offset in 1..=guard.max_offset() {
                let unfrozen = guard.heap_header(offset).is_some_and(|h| {
                    needs_eventual_freeze(&h) && !h.xmax_locked_only() && !h.xmax_invalid()
                        || h.xmin().is_normal()
                });
                if unfrozen {
                    let message = "tuple on an all-frozen page is not frozen".to_owned();
                    faults.push(Fault { block, offset, message });
                }
            }
        }
    }
    Ok(faults)
}

/// True if the inserting transaction was rolled back. Checks pg_xact, since hint bits may be
/// missing or wrong.
fn is_rolled_back(h: &HeapTupleHeader, bounds: &Bounds, manager: &TxnManager) -> Result<bool> {
    let xmin = h.xmin();
    let known = xmin.is_normal()
        && !xmin.precedes(bounds.relfrozenxid)
        && !xmin.follows_or_equals(bounds.next_xid);
    Ok(known && !manager.is_in_progress(xmin)? && !manager.did_commit(xmin)?)
}

/// Checks a page's contents.
fn check_page(
    page: &Page,
    block: BlockNo,
    deformer: &Deformer,
    bounds: &Bounds,
    manager: &TxnManager,
    faults: &mut Vec<Fault>,
) -> Result<()> {
    let max = page.max_offset();
    let mut fault = |offset: OffsetNo, message: String| {
        faults.push(Fault { block, offset, message });
    };
    if !page.header_is_sane() {
        fault(0, "page header is damaged".to_owned());
        return Ok(());
    }
    // Start and length of each tuple, to find overlaps.
    let mut extents: Vec<(usize, usize, OffsetNo)> = Vec::new();
    for offset in 1..=max {
        let lp = page.line_pointer(offset);
        match lp.flags() {
            LpFlags::Unused | LpFlags::Dead => {}
            LpFlags::Redirect => {
                let to = lp.redirect_to();
                let target = page.line_pointer(to);
                if to == 0 || to > max || !target.is_normal() {
                    fault(offset, format!("line pointer redirection to invalid item {to}"));
                } else if page.heap_header(to).is_some_and(|h| !h.is_heap_only()) {
                    fault(offset, format!("redirected to tuple {to}, which is not heap-only"));
                }
            }
            LpFlags::Normal => {
                if !lp.offset().is_multiple_of(8)
                    || lp.offset() < page.upper()
                    || lp.offset() + lp.len() > page.special()
                    || lp.len() < max_align(HEADER_SIZE)
                {
                    let (at, len) = (lp.offset(), lp.len());
                    fault(offset, format!("line pointer to offset {at} with length {len}"));
                    continue;
                }
                extents.push((lp.offset(), lp.len(), offset));
                let Some(tuple) = page.heap_tuple(offset) else { continue };
                let h = tuple.header;
                let bitmap = if h.has_nulls() { bitmap_len(h.natts()) } else { 0 };
                if h.hoff as usize != max_align(HEADER_SIZE + bitmap) {
                    fault(offset, format!("tuple data begins at byte {}", h.hoff));
                    continue;
                }
                let have = deformer.len();
                let wrong = match h.natts() > have {
                    true => Some(format!("tuple has {} columns of {have}", h.natts())),
                    false => deformer.deform_all(&tuple).err().map(|e| e.message().to_owned()),
                };
                // A transaction that added a column and this row may have been rolled back, and
                // another column may have been added since.
                if let Some(wrong) = wrong
                    && !is_rolled_back(&h, bounds, manager)?
                {
                    fault(offset, wrong);
                    continue;
                }
                for message in header_faults(&h, bounds) {
                    fault(offset, message);
                }
                if h.is_hot_updated() {
                    let next = page.heap_header(h.ctid.offset);
                    if h.ctid.block != block {
                        fault(offset, format!("HOT update leads to another page, {}", h.ctid));
                    } else if next.is_some_and(|n| {
                        !n.is_heap_only() && n.raw_xmin == h.raw_xmax && !h.xmax_is_multi()
                    }) {
                        fault(offset, format!("next version {} is not heap-only", h.ctid));
                    }
                }
            }
        }
    }
    extents.sort_unstable();
    for pair in extents.windows(2) {
        if pair[0].0 + pair[0].1 > pair[1].0 {
            fault(pair[0].2, format!("tuple overlaps tuple {}", pair[1].2));
        }
    }
    Ok(())
}

fn header_faults(h: &HeapTupleHeader, bounds: &Bounds) -> Vec<String> {
    let mut out = Vec::new();
    let mut check = |what: &str, xid: Xid| {
        if xid.is_normal() && xid.precedes(bounds.relfrozenxid) {
            let limit = bounds.relfrozenxid;
            out.push(format!("{what} {xid} precedes relation freeze threshold {limit}"));
        }
        if xid.is_normal() && xid.follows_or_equals(bounds.next_xid) {
            let next = bounds.next_xid;
            out.push(format!("{what} {xid} equals or exceeds next valid transaction ID {next}"));
        }
    };
    check("xmin", h.xmin());
    if !h.xmax_invalid() && !h.xmax_is_multi() {
        check("xmax", h.raw_xmax);
    }
    if h.xmax_is_multi() && !h.xmax_invalid() {
        let multi = h.multi();
        if multi.precedes(bounds.relminmxid) {
            let limit = bounds.relminmxid;
            out.push(format!(
                "multitransaction ID {multi} precedes relation minimum multitransaction ID {limit}"
            ));
        }
        if !multi.precedes(bounds.next_multi) {
            let next = bounds.next_multi;
            out.push(format!(
                "multitransaction ID {multi} equals or exceeds next valid multitransaction ID \
                 {next}"
            ));
        }
    }
    out
}
