//! The visibility map: two bits per heap block, all-visible and all-frozen.
//!
//! A bit is set only while the heap page is latched exclusively and its PD_ALL_VISIBLE is set.
//! WAL: `xl_heap_visible`. Bits are cleared by the operation that changes the heap page, before its
//! record is inserted; that record has a flag for redo. A crash between the two leaves cleared
//! bits, which is safe.
//!
//! LOCK ORDER: the map page is pinned before the heap page is latched, so that no I/O happens under
//! that latch; it is latched after the heap page.
//!
//! Counterpart: visibilitymap.c.

use crate::context::HeapRel;
use crate::record;
use bufmgr::{BufferPool, ExclusiveGuard, PageEdit, Pin, Strategy};
use ids::{BlockNo, Lsn, Xid};
use page::vm;
use pgerror::Result;
use wal::{RecordBuilder, RegFlags, RmgrId, Wal};

/// A pinned page of the map.
pub struct VmPin<'a> {
    map_block: BlockNo,
    pin: Pin<'a>,
}

impl VmPin<'_> {
    /// True if it covers heap block `heap`.
    pub fn covers(&self, heap: BlockNo) -> bool {
        self.map_block == vm::map_block(heap)
    }
}

/// True if the pin in `slot` is that of the map page for `heap`.
pub fn is_pinned(slot: &Option<VmPin<'_>>, heap: BlockNo) -> bool {
    slot.as_ref().is_some_and(|p| p.covers(heap))
}

/// Number of blocks of the map's fork; 0 if it has no file.
fn nblocks(pool: &BufferPool, rel: &HeapRel) -> Result<u32> {
    Ok(pool.nblocks_or_none(&rel.vm)?.unwrap_or(0))
}

/// Pins the map page for `heap` into `slot`; extends the map if it is too short.
/// Counterpart: `visibilitymap_pin`.
pub fn pin<'a>(
    pool: &'a BufferPool,
    rel: &HeapRel,
    heap: BlockNo,
    slot: &mut Option<VmPin<'a>>,
    wal: &Wal,
    scratch: &mut RecordBuilder,
    strategy: &mut Strategy,
) -> Result<()> {
    if is_pinned(slot, heap) {
        return Ok(());
    }
    *slot = None;
    let map_block = vm::map_block(heap);
    if nblocks(pool, rel)? <= map_block.0 {
        if !pool.smgr().exists(rel.vm.name())? {
            pool.smgr().create(rel.vm.name(), true)?;
        }
        while pool.nblocks(&rel.vm)? <= map_block.0 {
            let mut guard = pool.extend(&rel.vm, strategy)?;
            init_if_new(&mut guard, wal, scratch);
        }
    }
    let mut pin = pool.read_zero_on_error(&rel.vm, map_block, strategy)?;
    let guard = pin.share();
    let new = guard.is_new();
    pin = guard.into_pin();
    if new {
        let mut guard = pin.exclusive();
        init_if_new(&mut guard, wal, scratch);
        pin = guard.into_pin();
    }
    *slot = Some(VmPin { map_block, pin });
    Ok(())
}

fn init_if_new<'p>(guard: &mut ExclusiveGuard<'p>, wal: &Wal, scratch: &mut RecordBuilder) {
    if guard.is_new() {
        let mut edit = PageEdit::begin(wal, scratch);
        edit.change(guard, 0, RegFlags::NONE).init(0);
        edit.finish_unlogged();
    }
}

/// Clears `bits` of heap block `heap`; true if any was set. The caller has the heap page
/// exclusively latched. Counterpart: `visibilitymap_clear`.
pub fn clear(
    vm_pin: &VmPin<'_>,
    heap: BlockNo,
    bits: u8,
    wal: &Wal,
    scratch: &mut RecordBuilder,
) -> bool {
    assert!(vm_pin.covers(heap), "wrong visibility-map page pinned for block {heap}");
    let mut guard = vm_pin.pin.another().exclusive();
    if vm::get(&guard, heap) & bits == 0 {
        return false;
    }
    let mut edit = PageEdit::begin(wal, scratch);
    let cleared = vm::clear(edit.change(&mut guard, 0, RegFlags::NONE), heap, bits);
    edit.finish_unlogged();
    cleared
}

/// Sets `bits` for the page `heap`, which is exclusively latched and has PD_ALL_VISIBLE set.
/// `cutoff`: newest xmin on the page, for conflicts with snapshots on a standby.
/// WAL: `xl_heap_visible`. Counterpart: `visibilitymap_set`.
pub fn set<'p>(
    rel: &HeapRel,
    heap: &mut ExclusiveGuard<'p>,
    vm_pin: &VmPin<'p>,
    cutoff: Xid,
    bits: u8,
    wal: &Wal,
    scratch: &mut RecordBuilder,
) -> Result<()> {
    let block = heap.block();
    assert!(vm_pin.covers(block), "wrong visibility-map page pinned for block {block}");
    debug_assert!(heap.is_all_visible());
    let mut guard = vm_pin.pin.another().exclusive();
    if vm::get(&guard, block) == bits {
        return Ok(());
    }
    let mut edit = PageEdit::begin(wal, scratch);
    vm::set(edit.change(&mut guard, 0, RegFlags::NONE), block, bits);
    if !rel.is_logged() {
        edit.finish_unlogged();
        return Ok(());
    }
    // PD_ALL_VISIBLE of the heap page is a hint. Only if hints are logged does the record advance
    // that page's LSN.
    if wal.log_hints() {
        edit.register(heap, 1, RegFlags::STANDARD);
    } else {
        edit.refer(heap, 1, RegFlags::STANDARD | RegFlags::NO_IMAGE);
    }
    edit.main(&record::visible_main(cutoff, bits));
    edit.log(RmgrId::Heap2, record::heap2::VISIBLE, Xid::INVALID)?;
    Ok(())
}

/// Bits of heap block `heap`; pins the map page into `slot`, but does not extend the map. The
/// result may be outdated at once. Counterpart: `visibilitymap_get_status`.
pub fn status<'a>(
    pool: &'a BufferPool,
    rel: &HeapRel,
    heap: BlockNo,
    slot: &mut Option<VmPin<'a>>,
    strategy: &mut Strategy,
) -> Result<u8> {
    if !is_pinned(slot, heap) {
        *slot = None;
        let map_block = vm::map_block(heap);
        if nblocks(pool, rel)? <= map_block.0 {
            return Ok(0);
        }
        *slot =
            Some(VmPin { map_block, pin: pool.read_zero_on_error(&rel.vm, map_block, strategy)? });
    }
    let Some(held) = slot.take() else { return Ok(0) };
    let guard = held.pin.share();
    let bits = if guard.is_new() { 0 } else { vm::get(&guard, heap) };
    *slot = Some(VmPin { map_block: held.map_block, pin: guard.into_pin() });
    Ok(bits)
}

/// Numbers of all-visible and all-frozen heap blocks. Counterpart: `visibilitymap_count`.
pub fn count(pool: &BufferPool, rel: &HeapRel, strategy: &mut Strategy) -> Result<(u32, u32)> {
    let mut sum = (0, 0);
    for block in 0..nblocks(pool, rel)? {
        let guard = pool.read_zero_on_error(&rel.vm, BlockNo(block), strategy)?.share();
        if guard.is_new() {
            continue;
        }
        let (visible, frozen) = vm::count(&guard);
        sum = (sum.0 + visible, sum.1 + frozen);
    }
    Ok(sum)
}

/// Called before the heap is truncated to `heap_blocks`: clears the bits of later blocks on the
/// last map page that is kept. Returns the number of blocks to which the map's fork must be
/// truncated; `None` if it need not be. Counterpart: `visibilitymap_prepare_truncate`.
pub fn prepare_truncate(
    pool: &BufferPool,
    rel: &HeapRel,
    heap_blocks: u32,
    wal: &Wal,
    scratch: &mut RecordBuilder,
    strategy: &mut Strategy,
) -> Result<Option<u32>> {
    let have = nblocks(pool, rel)?;
    let first = BlockNo(heap_blocks);
    let map_block = vm::map_block(first);
    let mut keep = map_block.0;
    if !heap_blocks.is_multiple_of(vm::HEAP_BLOCKS_PER_PAGE) {
        keep += 1;
        if map_block.0 >= have {
            return Ok(None);
        }
        let mut guard = pool.read_zero_on_error(&rel.vm, map_block, strategy)?.exclusive();
        let mut edit = PageEdit::begin(wal, scratch);
        let log = rel.is_logged() && !wal.in_recovery() && wal.log_hints();
        let flags = if log { RegFlags::FORCE_IMAGE } else { RegFlags::NONE };
        vm::truncate(edit.change(&mut guard, 0, flags), first);
        if log {
            // Hints are logged, and the record of the truncation comes later.
            let _: Lsn = edit.log(RmgrId::Xlog, XLOG_FPI, Xid::INVALID)?;
        } else {
            edit.finish_unlogged();
        }
    }
    Ok((have > keep).then_some(keep))
}

/// Info byte of an XLOG record that consists of page images.
const XLOG_FPI: u8 = 0xB0;
