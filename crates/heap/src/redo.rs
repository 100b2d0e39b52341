//! Redo of the heap's records.
//!
//! Not restored: command ids, which only the inserting transaction needs, hints, and the token of a
//! speculative insertion.
//!
//! Counterpart: `heap_redo`, `heap2_redo` in heapam.c.

use crate::record::{self, TupleHead};
use crate::{freeze, prune};
use bufmgr::ExclusiveGuard;
use bufmgr::redo::{
    IfMissing, Redo, RedoCx, RedoMode, apply, apply_without_lsn, read_block, read_for_redo,
};
use freespace::Fsm;
use ids::{BlockNo, CommandId, Fork, OffsetNo, RelFile, Tid, Xid};
use page::heap_tuple::{HEADER_SIZE, MOVED_PARTITIONS_OFFSET, infomask as m, infomask2 as m2};
use page::{AddAt, HeapTuple, HeapTupleHeader, LinePointer, PAGE_SIZE, Page, vm};
use pgerror::{PgError, Result, Severity};
use smallvec::SmallVec;
use wal::{DecodedRecord, Fields, RmgrId};

#[cold]
fn broken(record: &DecodedRecord, what: &str) -> PgError {
    PgError::internal(format!("heap record at {}: {what}", record.start)).severity(Severity::Panic)
}

/// Replays a record of resource manager Heap.
pub fn heap_redo(cx: &mut RedoCx<'_>, record: &DecodedRecord) -> Result<()> {
    match record.info() & record::OPERATION_MASK {
        record::heap::INSERT => insert(cx, record),
        record::heap::DELETE => delete(cx, record),
        record::heap::UPDATE => update(cx, record, false),
        record::heap::HOT_UPDATE => update(cx, record, true),
        // Only for logical decoding: other records truncate the files.
        record::heap::TRUNCATE => Ok(()),
        record::heap::CONFIRM => confirm(cx, record),
        record::heap::LOCK => lock(cx, record),
        record::heap::INPLACE => inplace(cx, record),
        other => Err(broken(record, &format!("unknown op code {other}"))),
    }
}

/// Replays a record of resource manager Heap2.
pub fn heap2_redo(cx: &mut RedoCx<'_>, record: &DecodedRecord) -> Result<()> {
    match record.info() & record::OPERATION_MASK {
        record::heap2::PRUNE => prune_page(cx, record),
        record::heap2::VACUUM => vacuum_page(cx, record),
        record::heap2::FREEZE_PAGE => freeze_page(cx, record),
        record::heap2::VISIBLE => visible(cx, record),
        record::heap2::MULTI_INSERT => multi_insert(cx, record),
        record::heap2::LOCK_UPDATED => lock_updated(cx, record),
        // Only for logical decoding.
        record::heap2::NEW_CID | record::heap2::REWRITE => Ok(()),
        other => Err(broken(record, &format!("unknown op code {other}"))),
    }
}

/// True if redo of the record defragments its page.
#[inline]
pub fn compacts(record: &DecodedRecord) -> bool {
    record.header.rmgr() == Some(RmgrId::Heap2)
        && record.info() & record::OPERATION_MASK == record::heap2::PRUNE
}

/// True if the record (of resource manager Heap2) sets bits of the visibility map.
pub fn sets_visible(record: &DecodedRecord) -> bool {
    record.info() & record::OPERATION_MASK == record::heap2::VISIBLE
}

fn block_of(record: &DecodedRecord, id: u8) -> Result<(RelFile, BlockNo)> {
    let block = record.block(id).ok_or_else(|| broken(record, "block reference missing"))?;
    Ok((block.rel, block.block))
}

fn main<T>(record: &DecodedRecord, read: impl FnOnce(&[u8]) -> Option<T>) -> Result<T> {
    read(record.main()).ok_or_else(|| broken(record, "main data too short"))
}

fn data(record: &DecodedRecord, id: u8) -> Result<&[u8]> {
    record.block_data(id).ok_or_else(|| broken(record, "block data missing"))
}

/// Clears bits of the visibility map, which the record does not reference. A map page with a newer
/// LSN than the record has them cleared already, because they are cleared before the record is
/// inserted.
fn clear_vm(
    cx: &mut RedoCx<'_>,
    record: &DecodedRecord,
    rel: RelFile,
    heap: BlockNo,
    bits: u8,
) -> Result<()> {
    if !cx.owns(rel, heap) {
        return Ok(());
    }
    let map_block = vm::map_block(heap);
    if let Some(mut guard) = read_block(cx, rel, Fork::Vm, map_block, IfMissing::Ignore)?
        && guard.lsn() < record.end
    {
        apply_without_lsn(&mut guard, |page| {
            vm::clear(page, heap, bits);
            Ok(())
        })?;
    }
    Ok(())
}

fn record_space(cx: &mut RedoCx<'_>, rel: RelFile, block: BlockNo, space: usize) -> Result<()> {
    let fork = cx.open(rel, Fork::Fsm)?;
    Fsm::new(cx.pool, &fork).record_in_redo(block, space)
}

/// Free space in bytes below which redo records the page of an insertion in the free space map.
const LOW_SPACE: usize = PAGE_SIZE / 5;

/// Changes the header of the tuple at `offset`.
fn change_header(
    page: &mut Page,
    record: &DecodedRecord,
    offset: OffsetNo,
    change: impl FnOnce(&mut HeapTupleHeader),
) -> Result<()> {
    let mut h = page.heap_header(offset).ok_or_else(|| broken(record, "invalid lp"))?;
    change(&mut h);
    page.set_heap_header(offset, &h);
    Ok(())
}

fn clear_xmax(h: &mut HeapTupleHeader) {
    h.infomask &= !(m::XMAX_BITS | m::MOVED);
    h.infomask2 &= !m2::KEYS_UPDATED;
}

fn clear_cmax(h: &mut HeapTupleHeader) {
    h.raw_cid = CommandId::FIRST;
    h.infomask &= !m::COMBOCID;
}

fn add(page: &mut Page, record: &DecodedRecord, tuple: &[u8], offset: OffsetNo) -> Result<()> {
    if page.max_offset() + 1 < offset {
        return Err(broken(record, "invalid max offset number"));
    }
    match page.add_item(tuple, AddAt::Overwrite(offset), true) {
        Some(_) => Ok(()),
        None => Err(broken(record, "failed to add tuple")),
    }
}

/// How redo gets the page of an insertion: initialized or read.
fn insert_mode(record: &DecodedRecord) -> RedoMode {
    if record.info() & record::INIT_PAGE != 0 { RedoMode::Init } else { RedoMode::Normal }
}

fn insert(cx: &mut RedoCx<'_>, record: &DecodedRecord) -> Result<()> {
    let rec = main(record, record::Insert::read)?;
    let (rel, block) = block_of(record, 0)?;
    if rec.flags & record::INSERT_ALL_VISIBLE_CLEARED != 0 {
        clear_vm(cx, record, rel, block, vm::VALID_BITS)?;
    }
    let mode = insert_mode(record);
    let Redo::Apply(mut guard) = read_for_redo(cx, record, 0, mode)? else { return Ok(()) };
    let mut f = Fields(data(record, 0)?);
    let head = TupleHead::read(&mut f).ok_or_else(|| broken(record, "tuple header missing"))?;
    let mut tuple = Vec::new();
    record::rebuild_tuple(
        head,
        &[f.0],
        |h| {
            h.raw_xmin = record.xid();
            h.ctid = Tid::new(block, rec.offset);
        },
        &mut tuple,
    );
    apply(&mut guard, record, |page| {
        if mode == RedoMode::Init {
            page.init(0);
        }
        add(page, record, &tuple, rec.offset)?;
        visible_flag(page, rec.flags);
        Ok(())
    })?;
    low_space(cx, rel, guard)
}

fn visible_flag(page: &mut Page, flags: u8) {
    if flags & record::INSERT_ALL_VISIBLE_CLEARED != 0 {
        page.set_all_visible(false);
    }
    if flags & record::INSERT_ALL_FROZEN_SET != 0 {
        page.set_all_visible(true);
    }
}

fn low_space(cx: &mut RedoCx<'_>, rel: RelFile, guard: ExclusiveGuard<'_>) -> Result<()> {
    let (block, space) = (guard.block(), guard.heap_free_space());
    drop(guard);
    if space < LOW_SPACE {
        record_space(cx, rel, block, space)?;
    }
    Ok(())
}

fn multi_insert(cx: &mut RedoCx<'_>, record: &DecodedRecord) -> Result<()> {
    let short = || broken(record, "multi-insert data too short");
    let mut f = Fields(record.main());
    let flags = f.u8().ok_or_else(short)?;
    f.u8();
    let count = f.u16().ok_or_else(short)?;
    let (rel, block) = block_of(record, 0)?;
    if flags & record::INSERT_ALL_VISIBLE_CLEARED != 0 {
        clear_vm(cx, record, rel, block, vm::VALID_BITS)?;
    }
    let mode = insert_mode(record);
    let Redo::Apply(mut guard) = read_for_redo(cx, record, 0, mode)? else { return Ok(()) };
    let all = data(record, 0)?;
    apply(&mut guard, record, |page| {
        if mode == RedoMode::Init {
            page.init(0);
        }
        let mut tuples = Fields(all);
        let mut tuple = Vec::new();
        for i in 0..count {
            let offset = if mode == RedoMode::Init { i + 1 } else { f.u16().ok_or_else(short)? };
            if (all.len() - tuples.0.len()) % 2 == 1 {
                tuples.u8();
            }
            let len = tuples.u16().ok_or_else(short)?;
            let head = TupleHead::read(&mut tuples).ok_or_else(short)?;
            let body = tuples.take(len as usize).ok_or_else(short)?;
            let fill = |h: &mut HeapTupleHeader| {
                h.raw_xmin = record.xid();
                h.ctid = Tid::new(block, offset);
            };
            record::rebuild_tuple(head, &[body], fill, &mut tuple);
            add(page, record, &tuple, offset)?;
        }
        visible_flag(page, flags);
        Ok(())
    })?;
    low_space(cx, rel, guard)
}

fn delete(cx: &mut RedoCx<'_>, record: &DecodedRecord) -> Result<()> {
    let rec = main(record, record::Delete::read)?;
    let (rel, block) = block_of(record, 0)?;
    let cleared = rec.flags & record::DELETE_ALL_VISIBLE_CLEARED != 0;
    if cleared {
        clear_vm(cx, record, rel, block, vm::VALID_BITS)?;
    }
    let redo = read_for_redo(cx, record, 0, RedoMode::Normal)?;
    let Redo::Apply(mut guard) = redo else { return Ok(()) };
    apply(&mut guard, record, |page| {
        change_header(page, record, rec.offset, |h| {
            clear_xmax(h);
            h.infomask2 &= !m2::HOT_UPDATED;
            record::set_infobits(h, rec.infobits);
            if rec.flags & record::DELETE_IS_SUPER == 0 {
                h.raw_xmax = rec.xmax;
            } else {
                h.raw_xmin = Xid::INVALID;
            }
            clear_cmax(h);
            h.ctid = if rec.flags & record::DELETE_IS_PARTITION_MOVE != 0 {
                Tid::new(BlockNo::INVALID, MOVED_PARTITIONS_OFFSET)
            } else {
                Tid::new(block, rec.offset)
            };
        })?;
        page.set_prunable(record.xid());
        if cleared {
            page.set_all_visible(false);
        }
        Ok(())
    })
}

fn update(cx: &mut RedoCx<'_>, record: &DecodedRecord, hot: bool) -> Result<()> {
    let rec = main(record, record::Update::read)?;
    let (rel, new_block) = block_of(record, 0)?;
    let same_page = !record.has_block(1);
    let old_block = if same_page { new_block } else { block_of(record, 1)?.1 };
    let new_tid = Tid::new(new_block, rec.new_offset);
    let has = |flag: u8| rec.flags & flag != 0;
    let old_cleared = has(record::UPDATE_OLD_ALL_VISIBLE_CLEARED);
    let new_cleared = has(record::UPDATE_NEW_ALL_VISIBLE_CLEARED);
    if old_cleared {
        clear_vm(cx, record, rel, old_block, vm::VALID_BITS)?;
    }
    if new_cleared {
        clear_vm(cx, record, rel, new_block, vm::VALID_BITS)?;
    }
    let end_old = |page: &mut Page| -> Result<()> {
        change_header(page, record, rec.old_offset, |h| {
            clear_xmax(h);
            if hot {
                h.infomask2 |= m2::HOT_UPDATED;
            } else {
                h.infomask2 &= !m2::HOT_UPDATED;
            }
            record::set_infobits(h, rec.old_infobits);
            h.raw_xmax = rec.old_xmax;
            clear_cmax(h);
            h.ctid = new_tid;
        })?;
        page.set_prunable(record.xid());
        if old_cleared {
            page.set_all_visible(false);
        }
        Ok(())
    };
    let add_new = |page: &mut Page, init: bool| -> Result<()> {
        if init {
            page.init(0);
        }
        let tuple = new_version(page, record, &rec, new_tid)?;
        add(page, record, &tuple, rec.new_offset)?;
        if new_cleared {
            page.set_all_visible(false);
        }
        Ok(())
    };
    let mode = insert_mode(record);
    // The old page stays latched until the new one is changed, so that both appear to change at
    // once.
    let mut old_guard = None;
    if !same_page {
        let redo = read_for_redo(cx, record, 1, RedoMode::Normal)?;
        if let Redo::Apply(mut guard) = redo {
            apply(&mut guard, record, end_old)?;
            old_guard = Some(guard);
        }
    }
    let redo = read_for_redo(cx, record, 0, mode)?;
    let Redo::Apply(mut guard) = redo else { return Ok(()) };
    apply(&mut guard, record, |page| {
        if same_page && mode != RedoMode::Init {
            end_old(page)?;
        }
        add_new(page, mode == RedoMode::Init)
    })?;
    drop(old_guard);
    if hot {
        return Ok(());
    }
    low_space(cx, rel, guard)
}

/// Rebuilds the new version from the record and, on the same page, the old version.
fn new_version(
    page: &Page,
    record: &DecodedRecord,
    rec: &record::Update,
    tid: Tid,
) -> Result<Vec<u8>> {
    let short = || broken(record, "update data too short");
    let mut f = Fields(data(record, 0)?);
    let has = |flag: u8| rec.flags & flag != 0;
    let mut length = |flag: u8| -> Result<usize> {
        if !has(flag) {
            return Ok(0);
        }
        f.u16().map(usize::from).ok_or_else(short)
    };
    let prefix = length(record::UPDATE_PREFIX_FROM_OLD)?;
    let suffix = length(record::UPDATE_SUFFIX_FROM_OLD)?;
    let head = TupleHead::read(&mut f).ok_or_else(short)?;
    let old: &[u8] = if prefix > 0 || suffix > 0 {
        let old: HeapTuple<'_> =
            page.heap_tuple(rec.old_offset).ok_or_else(|| broken(record, "invalid lp"))?;
        old.data()
    } else {
        &[]
    };
    let front = old.get(..prefix).ok_or_else(short)?;
    let back = old.get(old.len().wrapping_sub(suffix)..).ok_or_else(short)?;
    let bitmap = if prefix > 0 {
        f.take((head.hoff as usize).wrapping_sub(HEADER_SIZE)).ok_or_else(short)?
    } else {
        &[]
    };
    let mut tuple = Vec::new();
    let fill = |h: &mut HeapTupleHeader| {
        h.raw_xmin = record.xid();
        h.raw_xmax = rec.new_xmax;
        h.ctid = tid;
    };
    record::rebuild_tuple(head, &[bitmap, front, f.0, back], fill, &mut tuple);
    Ok(tuple)
}

fn confirm(cx: &mut RedoCx<'_>, record: &DecodedRecord) -> Result<()> {
    let offset = main(record, |b| Fields(b).u16())?;
    let (_, block) = block_of(record, 0)?;
    let redo = read_for_redo(cx, record, 0, RedoMode::Normal)?;
    let Redo::Apply(mut guard) = redo else { return Ok(()) };
    apply(&mut guard, record, |page| {
        change_header(page, record, offset, |h| h.ctid = Tid::new(block, offset))
    })
}

fn lock(cx: &mut RedoCx<'_>, record: &DecodedRecord) -> Result<()> {
    let rec = main(record, record::Lock::read)?;
    let (rel, block) = block_of(record, 0)?;
    if rec.flags & record::LOCK_ALL_FROZEN_CLEARED != 0 {
        clear_vm(cx, record, rel, block, vm::ALL_FROZEN)?;
    }
    let redo = read_for_redo(cx, record, 0, RedoMode::Normal)?;
    let Redo::Apply(mut guard) = redo else { return Ok(()) };
    apply(&mut guard, record, |page| {
        change_header(page, record, rec.offset, |h| {
            clear_xmax(h);
            record::set_infobits(h, rec.infobits);
            if h.xmax_locked_only() {
                h.infomask2 &= !m2::HOT_UPDATED;
                h.ctid = Tid::new(block, rec.offset);
            }
            h.raw_xmax = rec.xmax;
            clear_cmax(h);
        })
    })
}

fn lock_updated(cx: &mut RedoCx<'_>, record: &DecodedRecord) -> Result<()> {
    let rec = main(record, record::Lock::read)?;
    let (rel, block) = block_of(record, 0)?;
    if rec.flags & record::LOCK_ALL_FROZEN_CLEARED != 0 {
        clear_vm(cx, record, rel, block, vm::ALL_FROZEN)?;
    }
    let redo = read_for_redo(cx, record, 0, RedoMode::Normal)?;
    let Redo::Apply(mut guard) = redo else { return Ok(()) };
    apply(&mut guard, record, |page| {
        change_header(page, record, rec.offset, |h| {
            clear_xmax(h);
            record::set_infobits(h, rec.infobits);
            h.raw_xmax = rec.xmax;
        })
    })
}

fn inplace(cx: &mut RedoCx<'_>, record: &DecodedRecord) -> Result<()> {
    let offset = main(record, |b| Fields(b).u16())?;
    let redo = read_for_redo(cx, record, 0, RedoMode::Normal)?;
    let Redo::Apply(mut guard) = redo else { return Ok(()) };
    let new = data(record, 0)?;
    apply(&mut guard, record, |page| {
        let tuple = page.heap_tuple(offset).ok_or_else(|| broken(record, "invalid lp"))?;
        let hoff = tuple.header.hoff as usize;
        if tuple.len().checked_sub(hoff) != Some(new.len()) {
            return Err(broken(record, "wrong tuple length"));
        }
        page.item_mut(offset)[hoff..].copy_from_slice(new);
        Ok(())
    })
}

/// Reads offsets from a record's data.
fn offsets(f: &mut Fields<'_>, count: usize) -> Option<SmallVec<[OffsetNo; 128]>> {
    (0..count).map(|_| f.u16()).collect()
}

fn prune_page(cx: &mut RedoCx<'_>, record: &DecodedRecord) -> Result<()> {
    let short = || broken(record, "prune data too short");
    let rec = main(record, record::Prune::read)?;
    let (rel, block) = block_of(record, 0)?;
    let redo = read_for_redo(cx, record, 0, RedoMode::Cleanup)?;
    let guard = match redo {
        Redo::Apply(mut guard) => {
            let mut f = Fields(data(record, 0)?);
            let pairs = offsets(&mut f, rec.redirected as usize * 2).ok_or_else(short)?;
            let pairs: SmallVec<[_; 64]> = pairs.chunks_exact(2).map(|p| (p[0], p[1])).collect();
            let dead = offsets(&mut f, rec.dead as usize).ok_or_else(short)?;
            let rest = f.0.len() / 2;
            let unused = offsets(&mut f, rest).ok_or_else(short)?;
            apply(&mut guard, record, |page| {
                check_offsets(page, record, pairs.iter().map(|p| p.0).chain(dead.iter().copied()))?;
                check_offsets(page, record, unused.iter().copied())?;
                prune::execute(page, &pairs, &dead, &unused)
            })?;
            guard
        }
        Redo::Restored(guard) | Redo::Done(guard) => guard,
        Redo::Missing => return Ok(()),
    };
    let space = guard.heap_free_space();
    drop(guard);
    record_space(cx, rel, block, space)
}

fn check_offsets(
    page: &Page,
    record: &DecodedRecord,
    mut offsets: impl Iterator<Item = OffsetNo>,
) -> Result<()> {
    let max = page.max_offset();
    match offsets.find(|&o| o == 0 || o > max) {
        Some(_) => Err(broken(record, "line pointer does not exist")),
        None => Ok(()),
    }
}

fn vacuum_page(cx: &mut RedoCx<'_>, record: &DecodedRecord) -> Result<()> {
    let (rel, block) = block_of(record, 0)?;
    let redo = read_for_redo(cx, record, 0, RedoMode::Normal)?;
    let guard = match redo {
        Redo::Apply(mut guard) => {
            let mut f = Fields(data(record, 0)?);
            let count = f.0.len() / 2;
            let unused = offsets(&mut f, count).unwrap_or_default();
            apply(&mut guard, record, |page| {
                check_offsets(page, record, unused.iter().copied())?;
                for &offset in &unused {
                    page.set_line_pointer(offset, LinePointer::UNUSED);
                }
                page.truncate_line_pointers();
                Ok(())
            })?;
            guard
        }
        Redo::Restored(guard) | Redo::Done(guard) => guard,
        Redo::Missing => return Ok(()),
    };
    let space = guard.heap_free_space();
    drop(guard);
    record_space(cx, rel, block, space)
}

fn freeze_page(cx: &mut RedoCx<'_>, record: &DecodedRecord) -> Result<()> {
    let short = || broken(record, "freeze data too short");
    let mut f = Fields(record.main());
    let count = f.xid().and_then(|_| f.u16()).ok_or_else(short)?;
    let redo = read_for_redo(cx, record, 0, RedoMode::Normal)?;
    let Redo::Apply(mut guard) = redo else { return Ok(()) };
    let mut plans = Fields(data(record, 0)?);
    apply(&mut guard, record, |page| {
        for _ in 0..count {
            let plan = record::FreezeTuple::read(&mut plans).ok_or_else(short)?;
            freeze::execute(page, &plan);
        }
        Ok(())
    })
}

fn visible(cx: &mut RedoCx<'_>, record: &DecodedRecord) -> Result<()> {
    let flags = main(record, |b| b.get(4).copied())?;
    let (rel, block) = block_of(record, 1)?;
    let redo = read_for_redo(cx, record, 1, RedoMode::Normal)?;
    let guard = match redo {
        Redo::Apply(mut guard) => {
            apply(&mut guard, record, |page| {
                page.set_all_visible(true);
                Ok(())
            })?;
            Some(guard)
        }
        Redo::Restored(guard) | Redo::Done(guard) => Some(guard),
        Redo::Missing => None,
    };
    if let Some(guard) = guard {
        let space = guard.heap_free_space();
        drop(guard);
        record_space(cx, rel, block, space)?;
    }
    let map = record.block(0).ok_or_else(|| broken(record, "block reference missing"))?;
    let guard = if map.applies_image() {
        read_for_redo(cx, record, 0, RedoMode::Normal)?.guard()
    } else {
        // Extension of the map is not logged: the page may be missing or zero.
        read_block(cx, map.rel, map.fork, map.block, IfMissing::ZeroOnError)?
    };
    let Some(mut guard) = guard else { return Ok(()) };
    if guard.lsn() >= record.end {
        return Ok(());
    }
    apply(&mut guard, record, |page| {
        if page.is_new() {
            page.init(0);
        }
        vm::set(page, block, flags & vm::VALID_BITS);
        Ok(())
    })
}
