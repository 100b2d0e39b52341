//! Insertion of rows.
//!
//! Counterpart: `heap_insert`, `heap_multi_insert`, `heap_finish_speculative` in heapam.c.

use crate::context::{HeapCx, HeapRel, no_tuple};
use crate::hio::{BulkInsert, VmPins, page_for_tuple};
use crate::record::{self, TupleHead};
use crate::visibility_map::{self, VmPin};
use bufmgr::{ExclusiveGuard, PageEdit};
use ids::{CommandId, OffsetNo, Tid, Xid};
use page::heap_tuple::{HEADER_SIZE, SPEC_TOKEN_OFFSET, infomask as m, infomask2 as m2};
use page::{AddAt, HeapTupleHeader, Page, max_align, vm};
use pgerror::{PgError, Result};
use wal::{RegFlags, RmgrId};

/// How to insert.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct InsertOptions {
    /// Do not search existing pages for room.
    pub skip_fsm: bool,
    /// Insert as frozen (COPY FREEZE, new relations).
    pub frozen: bool,
    /// Token of a speculative insertion; 0: a normal insertion.
    pub speculative_token: u32,
}

#[cold]
fn add_failed() -> PgError {
    PgError::internal("failed to add tuple to page")
}

/// Fills in the header of a newly formed tuple. Counterpart: `heap_prepare_insert`.
fn prepare(tuple: &mut [u8], xid: Xid, cid: CommandId, frozen: bool) -> Result<HeapTupleHeader> {
    let Some(mut h) = HeapTupleHeader::read(tuple) else {
        return Err(PgError::internal("tuple is shorter than its header"));
    };
    h.infomask = h.infomask & !m::XACT_MASK | m::XMAX_INVALID;
    h.infomask2 &= !m2::XACT_MASK;
    h.raw_xmin = xid;
    h.raw_xmax = Xid::INVALID;
    h.raw_cid = cid;
    if frozen {
        h.infomask |= m::XMIN_FROZEN;
    }
    h.write(tuple);
    Ok(h)
}

/// Adds a prepared tuple to the page. Sets its `t_ctid` to its own TID, or to the token of a
/// speculative insertion. Counterpart: `RelationPutHeapTuple`.
pub(crate) fn put(
    page: &mut Page,
    block: ids::BlockNo,
    tuple: &mut [u8],
    token: u32,
) -> Option<OffsetNo> {
    let offset = page.add_item(tuple, AddAt::Any, true)?;
    let ctid = if token != 0 {
        Tid::new(ids::BlockNo(token), SPEC_TOKEN_OFFSET)
    } else {
        Tid::new(block, offset)
    };
    tuple[12..18].copy_from_slice(&ctid.to_bytes());
    page.item_mut(offset)[12..18].copy_from_slice(&ctid.to_bytes());
    Some(offset)
}

/// Clears the visibility-map bits of an all-visible page that is about to change; false if the page
/// is not all-visible. The caller clears PD_ALL_VISIBLE.
pub(crate) fn clear_all_visible<'a>(
    cx: &mut HeapCx<'a>,
    guard: &ExclusiveGuard<'a>,
    vm_pin: &Option<VmPin<'a>>,
) -> bool {
    if !guard.is_all_visible() {
        return false;
    }
    if let Some(pin) = vm_pin {
        visibility_map::clear(pin, guard.block(), vm::VALID_BITS, cx.wal, cx.scratch);
    }
    true
}

/// Inserts `tuple` (formed, and toasted if necessary); fills in its header. Returns its TID.
///
/// WAL: `xl_heap_insert`, replayed by `redo::insert`.
pub fn insert<'a>(
    cx: &mut HeapCx<'a>,
    rel: &HeapRel,
    tuple: &mut [u8],
    cid: CommandId,
    options: InsertOptions,
    bulk: Option<&mut BulkInsert>,
) -> Result<Tid> {
    let xid = cx.txn.current_xid()?;
    let header = prepare(tuple, xid, cid, options.frozen)?;
    let (mut vm_slot, mut none) = (None, None);
    let pins = VmPins { new: &mut vm_slot, other: &mut none };
    let mut guard = page_for_tuple(cx, rel, tuple.len(), None, pins, bulk, !options.skip_fsm)?.new;
    let block = guard.block();
    let cleared = clear_all_visible(cx, &guard, &vm_slot);
    // The first tuple of a page: redo initializes the page.
    let init = guard.max_offset() == 0;
    let mut edit = PageEdit::begin(cx.wal, cx.scratch);
    let flags = if init { RegFlags::STANDARD | RegFlags::WILL_INIT } else { RegFlags::STANDARD };
    let page = edit.change(&mut guard, 0, flags);
    let offset = put(page, block, tuple, options.speculative_token).ok_or_else(add_failed)?;
    if cleared {
        page.set_all_visible(false);
    }
    if rel.is_logged() {
        let mut info = record::heap::INSERT;
        if init {
            info |= record::INIT_PAGE;
        }
        let mut flags = 0;
        if cleared {
            flags |= record::INSERT_ALL_VISIBLE_CLEARED;
        }
        if options.speculative_token != 0 {
            flags |= record::INSERT_IS_SPECULATIVE;
        }
        edit.main(&record::Insert { offset, flags }.to_bytes());
        edit.block_data(0, &TupleHead::of(&header).to_bytes());
        edit.block_data(0, &tuple[HEADER_SIZE..]);
        edit.log(RmgrId::Heap, info, xid)?;
    } else {
        edit.finish_unlogged();
    }
    Ok(Tid::new(block, offset))
}

/// Tuples that are inserted together, contiguous in one buffer.
#[derive(Default)]
pub struct Tuples {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Tuples {
    /// Removes the tuples; keeps the memory.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }

    /// Adds the tuple that `form` appends to the buffer.
    pub fn add(&mut self, form: impl FnOnce(&mut Vec<u8>) -> Result<()>) -> Result<()> {
        form(&mut self.bytes)?;
        self.ends.push(self.bytes.len());
        Ok(())
    }

    pub fn len(&self) -> usize {
        self.ends.len()
    }

    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    fn range(&self, n: usize) -> std::ops::Range<usize> {
        n.checked_sub(1).map_or(0, |before| self.ends[before])..self.ends[n]
    }

    fn get(&self, n: usize) -> &[u8] {
        &self.bytes[self.range(n)]
    }

    fn get_mut(&mut self, n: usize) -> &mut [u8] {
        let range = self.range(n);
        &mut self.bytes[range]
    }
}

/// Inserts many tuples, page by page; appends their TIDs to `tids` in order.
///
/// WAL: `xl_heap_multi_insert`, one record per page, replayed by `redo::multi_insert`.
pub fn multi_insert<'a>(
    cx: &mut HeapCx<'a>,
    rel: &HeapRel,
    tuples: &mut Tuples,
    cid: CommandId,
    options: InsertOptions,
    mut bulk: Option<&mut BulkInsert>,
    tids: &mut Vec<Tid>,
) -> Result<()> {
    let xid = cx.txn.current_xid()?;
    for n in 0..tuples.len() {
        prepare(tuples.get_mut(n), xid, cid, options.frozen)?;
    }
    let reserve = rel.reserved_space();
    let (mut vm_slot, mut none) = (None, None);
    let mut done = 0;
    while done < tuples.len() {
        let pins = VmPins { new: &mut vm_slot, other: &mut none };
        let len = tuples.get(done).len();
        let use_fsm = !options.skip_fsm;
        let pages = page_for_tuple(cx, rel, len, None, pins, bulk.as_deref_mut(), use_fsm)?;
        let mut guard = pages.new;
        let block = guard.block();
        let empty = guard.max_offset() == 0;
        let freeze_all = empty && options.frozen;
        if freeze_all && !visibility_map::is_pinned(&vm_slot, block) {
            let pin = guard.into_pin();
            crate::hio::pin_vm(cx, rel, block, &mut vm_slot)?;
            guard = pin.exclusive();
            if guard.max_offset() != 0 {
                continue;
            }
        }
        let cleared = !options.frozen && clear_all_visible(cx, &guard, &vm_slot);

        let mut edit = PageEdit::begin(cx.wal, cx.scratch);
        let flags =
            if empty { RegFlags::STANDARD | RegFlags::WILL_INIT } else { RegFlags::STANDARD };
        let page = edit.change(&mut guard, 0, flags);
        let first = tids.len();
        while done < tuples.len() {
            let tuple = tuples.get_mut(done);
            let fits = page.heap_free_space() >= max_align(tuple.len()) + reserve;
            if tids.len() > first && !fits {
                break;
            }
            let offset = put(page, block, tuple, 0).ok_or_else(add_failed)?;
            tids.push(Tid::new(block, offset));
            done += 1;
        }
        if cleared {
            page.set_all_visible(false);
        } else if freeze_all {
            page.set_all_visible(true);
        }
        let count = tids.len() - first;
        if rel.is_logged() {
            let mut flags = 0;
            if cleared {
                flags |= record::INSERT_ALL_VISIBLE_CLEARED;
            }
            if freeze_all {
                flags |= record::INSERT_ALL_FROZEN_SET;
            }
            if done == tuples.len() {
                flags |= record::INSERT_LAST_IN_MULTI;
            }
            let n = (count as u16).to_le_bytes();
            edit.main(&[flags, 0, n[0], n[1]]);
            if !empty {
                for tid in &tids[first..] {
                    edit.main(&tid.offset.to_le_bytes());
                }
            }
            let mut odd = false;
            for n in done - count..done {
                if odd {
                    edit.block_data(0, &[0]);
                }
                // The logged fields of the header (`TupleHead`) are its last bytes, so they are
                // contiguous with the null bitmap and the columns.
                let tuple = tuples.get(n);
                let body = (tuple.len() - HEADER_SIZE) as u16;
                edit.block_data(0, &body.to_le_bytes());
                edit.block_data(0, &tuple[HEADER_SIZE - TupleHead::SIZE..]);
                odd = (TupleHead::SIZE + usize::from(body)) % 2 == 1;
            }
            let init = if empty { record::INIT_PAGE } else { 0 };
            edit.log(RmgrId::Heap2, record::heap2::MULTI_INSERT | init, xid)?;
        } else {
            edit.finish_unlogged();
        }
        if freeze_all && let Some(pin) = &vm_slot {
            visibility_map::set(
                rel,
                &mut guard,
                pin,
                Xid::INVALID,
                vm::VALID_BITS,
                cx.wal,
                cx.scratch,
            )?;
        }
    }
    Ok(())
}

/// Confirms a speculative insertion, after no conflict was found.
///
/// WAL: `xl_heap_confirm`, replayed by `redo::confirm`.
pub fn finish_speculative(cx: &mut HeapCx<'_>, rel: &HeapRel, tid: Tid) -> Result<()> {
    let mut guard = cx.pool.read(&rel.main, tid.block, cx.strategy)?.exclusive();
    let mut header = guard.heap_header(tid.offset).ok_or_else(|| no_tuple(rel, tid))?;
    let xid = cx.txn.current_xid()?;
    let mut edit = PageEdit::begin(cx.wal, cx.scratch);
    let page = edit.change(&mut guard, 0, RegFlags::STANDARD);
    header.ctid = tid;
    page.set_heap_header(tid.offset, &header);
    if rel.is_logged() {
        edit.main(&tid.offset.to_le_bytes());
        edit.log(RmgrId::Heap, record::heap::CONFIRM, xid)?;
    } else {
        edit.finish_unlogged();
    }
    Ok(())
}
