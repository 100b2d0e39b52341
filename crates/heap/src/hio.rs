//! Finding a page with room for a new tuple.
//!
//! Candidates in this order: the page of the last insertion, a page from the free space map, the
//! last page; then the relation is extended.
//!
//! LOCK ORDER: pages are latched in ascending block number. If a latched page is all-visible and
//! its map page is not pinned, all latches are released, the map page is pinned, and the pages are
//! latched and checked again.
//!
//! Counterpart: hio.c.

use crate::context::{HeapCx, HeapRel};
use crate::visibility_map::{self, VmPin};
use bufmgr::{BufferPool, ExclusiveGuard, PageEdit, Pin, Strategy};
use freespace::Fsm;
use ids::BlockNo;
use page::heap_tuple::MAX_HEAP_TUPLE_SIZE;
use page::item::LINE_POINTER_SIZE;
use page::max_align;
use page::space::MAX_HEAP_TUPLES_PER_PAGE;
use pgerror::{Result, pg_err};
use wal::RegFlags;

/// Free space of an empty page that may have some unused line pointers.
const NEARLY_EMPTY: usize = MAX_HEAP_TUPLE_SIZE - MAX_HEAP_TUPLES_PER_PAGE / 8 * LINE_POINTER_SIZE;

/// Most blocks that a bulk load adds to the file at once.
const BULK_AHEAD_BLOCKS_MAX: u32 = 16;

/// Blocks added for each session that waits to extend the relation, and the most at once.
const EXTRA_BLOCKS_PER_WAITER: u32 = 20;
const EXTRA_BLOCKS_MAX: u32 = 512;

/// State of a bulk load (COPY, CREATE TABLE AS): its buffer ring, and the page that it fills.
/// Counterpart: `BulkInsertStateData`.
pub struct BulkInsert {
    strategy: Strategy,
    current: Option<BlockNo>,
    /// Number of blocks to add to the file at once; doubles with each extension.
    ahead: u32,
}

impl BulkInsert {
    pub fn new(pool: &BufferPool) -> BulkInsert {
        BulkInsert { strategy: Strategy::bulk_write(pool), current: None, ahead: 1 }
    }

    /// Without a ring: pages written by an INSERT stay in the buffer pool, since they are likely to
    /// be read soon.
    pub fn without_ring() -> BulkInsert {
        BulkInsert { strategy: Strategy::normal(), current: None, ahead: 1 }
    }

    /// Removes blocks that were added to the file ahead and not used.
    pub fn finish(self, rel: &HeapRel, pool: &BufferPool) -> Result<()> {
        if self.ahead > 1 { pool.trim(&rel.main) } else { Ok(()) }
    }
}

/// The latched page with room, and the page of the old version in an update.
pub(crate) struct TargetPages<'a> {
    pub(crate) new: ExclusiveGuard<'a>,
    /// `None` if no other page was given or it is the same page.
    pub(crate) other: Option<ExclusiveGuard<'a>>,
}

impl<'a> TargetPages<'a> {
    /// Releases the latches; returns the other page's pin, if there is another page.
    fn unlatch(self, had_other: bool) -> Option<Pin<'a>> {
        match self.other {
            Some(other) => Some(other.into_pin()),
            None if had_other => Some(self.new.into_pin()),
            None => None,
        }
    }
}

#[cold]
fn too_big(size: usize) -> pgerror::PgError {
    pg_err!(
        PROGRAM_LIMIT_EXCEEDED,
        "row is too big: size {size}, maximum size {MAX_HEAP_TUPLE_SIZE}"
    )
}

fn init_if_new<'a>(cx: &mut HeapCx<'a>, guard: &mut ExclusiveGuard<'a>) {
    if guard.is_new() {
        let mut edit = PageEdit::begin(cx.wal, cx.scratch);
        edit.change(guard, 0, RegFlags::NONE).init(0);
        edit.finish_unlogged();
    }
}

/// The visibility-map pins of the pages of an operation.
pub(crate) struct VmPins<'s, 'a> {
    pub(crate) new: &'s mut Option<VmPin<'a>>,
    pub(crate) other: &'s mut Option<VmPin<'a>>,
}

/// Pins the map page for `block` into `slot`. LOCK ORDER: no heap page may be latched.
pub(crate) fn pin_vm<'a>(
    cx: &mut HeapCx<'a>,
    rel: &HeapRel,
    block: BlockNo,
    slot: &mut Option<VmPin<'a>>,
) -> Result<()> {
    visibility_map::pin(cx.pool, rel, block, slot, cx.wal, cx.scratch, cx.strategy)
}

/// Returns an initialized page with room for a tuple of `len` bytes, exclusively latched; map pages
/// of all-visible pages are pinned. `other`: the page of the old version in an update, which is
/// latched too. Error: 54000 if the tuple does not fit on any page.
/// Counterpart: `RelationGetBufferForTuple`.
pub(crate) fn page_for_tuple<'a>(
    cx: &mut HeapCx<'a>,
    rel: &HeapRel,
    len: usize,
    mut other: Option<Pin<'a>>,
    mut vm: VmPins<'_, 'a>,
    mut bulk: Option<&mut BulkInsert>,
    use_fsm: bool,
) -> Result<TargetPages<'a>> {
    let len = max_align(len);
    if len > MAX_HEAP_TUPLE_SIZE {
        return Err(too_big(len));
    }
    // The new version of an update may use the space that insertions leave free.
    let has_other = other.is_some();
    let reserve = if has_other { 0 } else { rel.reserved_space() };
    let wanted = if len + reserve > NEARLY_EMPTY { len.max(NEARLY_EMPTY) } else { len + reserve };
    let fsm = Fsm::new(cx.pool, &rel.fsm);

    let proc = cx.txn.proc();
    let mut target = match &bulk {
        Some(bulk) => bulk.current,
        None => rel.targets.get(proc),
    };
    if target.is_none() && use_fsm {
        target = fsm.search(wanted)?;
    }
    if target.is_none() && use_fsm {
        // Without a free space map (small or new relations) try the last page.
        target = cx.pool.nblocks(&rel.main)?.checked_sub(1).map(BlockNo);
    }
    loop {
        while let Some(block) = target {
            if block.0 >= cx.pool.nblocks(&rel.main)? {
                break; // the relation has been truncated since the target was noted
            }
            let mut pages = latch_both(cx, rel, block, other.take(), &mut vm, bulk.as_deref_mut())?;
            init_if_new(cx, &mut pages.new);
            let free = pages.new.heap_free_space();
            if free >= wanted {
                match &mut bulk {
                    Some(bulk) => bulk.current = Some(block),
                    None => rel.targets.set(proc, block),
                }
                return Ok(pages);
            }
            other = pages.unlatch(has_other);
            target = if use_fsm {
                fsm.record_and_search(block, free, wanted)?.filter(|next| *next != block)
            } else {
                None
            };
        }
        if bulk.is_none() && use_fsm && cx.pool.await_extension(&rel.main) {
            // Another session has just extended the relation, perhaps by pages for waiters too.
            target = fsm.search(wanted)?;
            if target.is_some() {
                continue;
            }
        }
        let pages = extend(cx, rel, other.take(), &mut vm, bulk.as_deref_mut())?;
        let block = pages.new.block();
        if pages.new.heap_free_space() >= wanted {
            match &mut bulk {
                Some(bulk) => bulk.current = Some(block),
                None => rel.targets.set(proc, block),
            }
            return Ok(pages);
        }
        // The new page was unlatched to keep the latch order, and other sessions filled it.
        other = pages.unlatch(has_other);
        target = None;
    }
}

fn read<'a>(
    cx: &mut HeapCx<'a>,
    rel: &HeapRel,
    block: BlockNo,
    bulk: Option<&mut BulkInsert>,
) -> Result<Pin<'a>> {
    let strategy = match bulk {
        Some(bulk) => {
            bulk.strategy.adopt_session(cx.strategy);
            &mut bulk.strategy
        }
        None => &mut *cx.strategy,
    };
    cx.pool.read(&rel.main, block, strategy)
}

/// Latches page `block` and the other page in ascending order, with the map pages of those that are
/// all-visible pinned.
fn latch_both<'a>(
    cx: &mut HeapCx<'a>,
    rel: &HeapRel,
    block: BlockNo,
    other: Option<Pin<'a>>,
    vm: &mut VmPins<'_, 'a>,
    bulk: Option<&mut BulkInsert>,
) -> Result<TargetPages<'a>> {
    let Some(mut other) = other else {
        let mut pin = read(cx, rel, block, bulk)?;
        loop {
            let new = pin.exclusive();
            if !new.is_all_visible() || visibility_map::is_pinned(vm.new, block) {
                return Ok(TargetPages { new, other: None });
            }
            pin = new.into_pin();
            pin_vm(cx, rel, block, vm.new)?;
        }
    };
    let other_block = other.block();
    if other_block == block {
        loop {
            let new = other.exclusive();
            if !new.is_all_visible() || visibility_map::is_pinned(vm.other, block) {
                return Ok(TargetPages { new, other: None });
            }
            other = new.into_pin();
            pin_vm(cx, rel, block, vm.other)?;
        }
    }
    let new = read(cx, rel, block, bulk)?;
    latch_pins(cx, rel, new, other, vm)
}

/// As [`latch_both`], with both pages pinned.
fn latch_pins<'a>(
    cx: &mut HeapCx<'a>,
    rel: &HeapRel,
    mut new: Pin<'a>,
    mut other: Pin<'a>,
    vm: &mut VmPins<'_, 'a>,
) -> Result<TargetPages<'a>> {
    let (new_block, other_block) = (new.block(), other.block());
    loop {
        let (new_guard, other_guard);
        if other_block < new_block {
            other_guard = other.exclusive();
            new_guard = new.exclusive();
        } else {
            new_guard = new.exclusive();
            other_guard = other.exclusive();
        }
        let new_missing =
            new_guard.is_all_visible() && !visibility_map::is_pinned(vm.new, new_block);
        let other_missing =
            other_guard.is_all_visible() && !visibility_map::is_pinned(vm.other, other_block);
        if !new_missing && !other_missing {
            return Ok(TargetPages { new: new_guard, other: Some(other_guard) });
        }
        new = new_guard.into_pin();
        other = other_guard.into_pin();
        if new_missing {
            pin_vm(cx, rel, new_block, vm.new)?;
        }
        if other_missing {
            pin_vm(cx, rel, other_block, vm.other)?;
        }
    }
}

/// Adds a page, and further ones if other sessions are waiting to extend the relation; those are
/// recorded in the free space map. Counterpart: `RelationAddExtraBlocks`.
fn extend_for_all<'a>(cx: &mut HeapCx<'a>, rel: &HeapRel) -> Result<ExclusiveGuard<'a>> {
    let extra = (rel.main.extension_waiters() * EXTRA_BLOCKS_PER_WAITER).min(EXTRA_BLOCKS_MAX);
    let guard = cx.pool.extend_by(&rel.main, 1 + extra, cx.strategy)?;
    if extra > 0 {
        let fsm = Fsm::new(cx.pool, &rel.fsm);
        let first = guard.block().0 + 1;
        for block in first..first + extra {
            fsm.record(BlockNo(block), page::PAGE_SIZE - page::header::HEADER_SIZE)?;
        }
        fsm.vacuum_range(BlockNo(first), BlockNo(first + extra))?;
    }
    Ok(guard)
}

/// Extends the relation; returns the first new page latched and initialized, with the other page
/// latched too.
fn extend<'a>(
    cx: &mut HeapCx<'a>,
    rel: &HeapRel,
    other: Option<Pin<'a>>,
    vm: &mut VmPins<'_, 'a>,
    bulk: Option<&mut BulkInsert>,
) -> Result<TargetPages<'a>> {
    let mut new = match bulk {
        Some(bulk) => {
            bulk.strategy.adopt_session(cx.strategy);
            let guard = cx.pool.extend_in_advance(&rel.main, bulk.ahead, &mut bulk.strategy)?;
            bulk.ahead = (2 * bulk.ahead).min(BULK_AHEAD_BLOCKS_MAX);
            guard
        }
        None => extend_for_all(cx, rel)?,
    };
    init_if_new(cx, &mut new);
    let Some(other) = other else { return Ok(TargetPages { new, other: None }) };
    // LOCK ORDER: the other page has the lower number and should be latched first, so this only
    // tries. If that fails, both are latched in order.
    match other.try_exclusive() {
        Ok(guard)
            if !guard.is_all_visible() || visibility_map::is_pinned(vm.other, guard.block()) =>
        {
            Ok(TargetPages { new, other: Some(guard) })
        }
        Ok(guard) => {
            let other = guard.into_pin();
            latch_pins(cx, rel, new.into_pin(), other, vm)
        }
        Err(other) => latch_pins(cx, rel, new.into_pin(), other, vm),
    }
}
