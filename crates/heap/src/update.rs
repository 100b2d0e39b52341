//! Updates, which add a new version of a row.
//!
//! The row is locked in the weaker mode (NO KEY UPDATE) if no column of a key that foreign keys may
//! reference changes, so that the update need not wait for key-share lockers. If the page has no
//! room for the new version, the transaction locks the old one and releases the latch to find
//! another page. If no indexed column changes and both versions are on one page, the new one is
//! heap-only.
//!
//! Counterpart: `heap_update`, `log_heap_update`, `HeapDetermineColumnsInfo` in heapam.c.

use crate::context::{
    HeapCx, HeapRel, SetHint, TmFailure, TmResult, WaitOperation, WaitPolicy, no_tuple, wait_xid,
};
use crate::delete::{adjust_cmax, failure, hint_xmax, set_cmax, set_xmax};
use crate::hio::{TargetPages, VmPins, page_for_tuple, pin_vm};
use crate::infomask::{self, NewXmax, RowWait, add_holder};
use crate::insert::{clear_all_visible, put};
use crate::lock::TupleLockMode;
use crate::record::{self, TupleHead};
use crate::visibility_map::{self, VmPin};
use bufmgr::{ExclusiveGuard, PageEdit, Pin};
use ids::{AttrNo, CommandId, MultiXid, OffsetNo, Tid, Xid};
use page::heap_tuple::{HEADER_SIZE, infomask as m, infomask2 as m2, locked_upgraded};
use page::{Deformer, HeapTuple, HeapTupleHeader, max_align, vm};
use pgerror::{PgError, Result, pg_err};
use txn::Snapshot;
use wal::{RegFlags, RmgrId};

/// Properties of the columns; attribute numbers from 1, ascending.
#[derive(Clone, Copy)]
pub struct Columns<'c> {
    pub deformer: &'c Deformer,
    /// Columns of any index (key, included, in expressions or predicates). If one changes, the
    /// update is not HOT.
    pub hot_blocking: &'c [AttrNo],
    /// Columns of unique indexes that foreign keys may reference.
    pub key: &'c [AttrNo],
}

impl Columns<'_> {
    /// True if one of `columns` differs between the versions. Values are compared as bytes.
    fn differ(&self, columns: &[AttrNo], old: &HeapTuple<'_>, new: &HeapTuple<'_>) -> Result<bool> {
        if columns.is_empty() {
            return Ok(false);
        }
        let (mut a, mut b) = (self.deformer.cursor(old), self.deformer.cursor(new));
        for &attno in columns {
            let Some(index) = usize::try_from(attno).ok().and_then(|n| n.checked_sub(1)) else {
                // System columns are not compared.
                continue;
            };
            if a.get(index)? != b.get(index)? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// How an update is done.
#[derive(Clone, Copy)]
pub struct UpdateOptions<'o> {
    pub columns: Columns<'o>,
    /// The row version must also be visible to this snapshot.
    pub crosscheck: Option<&'o Snapshot>,
    /// Wait for transactions that hold the row; if false, return `BeingModified`.
    pub wait: bool,
}

/// A completed update.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Updated {
    pub tid: Tid,
    /// The new version is heap-only: indexes need no entries.
    pub hot: bool,
    /// The mode in which the old version was locked.
    pub lock_mode: TupleLockMode,
}

/// Values that are computed from the old version before a page for the new one is found.
struct Plan {
    mode: TupleLockMode,
    hot_allowed: bool,
    cid: CommandId,
    cmax: (CommandId, bool),
    /// `xmax` of the old version after the update.
    old_xmax: NewXmax,
    /// `xmax` of the new version: remaining lockers of the old version.
    remaining: NewXmax,
    /// `xmax` of the old version while this transaction has it locked.
    locked_xmax: Option<Xid>,
}

impl Plan {
    /// Keeps transactions that locked the old version while the page was not latched: they hold the
    /// old version and the new one.
    fn add_lockers(&mut self, cx: &mut HeapCx<'_>, now: &HeapTupleHeader, xid: Xid) -> Result<()> {
        if self.locked_xmax.is_some_and(|xmax| now.raw_xmax != xmax) && now.xmax_is_multi() {
            self.old_xmax = add_holder(cx.txn, now, xid, self.mode, true)?;
            self.remaining = infomask::multi_bits(cx.txn.manager(), now.multi())?;
        }
        Ok(())
    }

    /// The header of the new version, except the fields that depend on its TID.
    fn new_header(&self, new: &[u8], xid: Xid) -> Result<HeapTupleHeader> {
        let mut header = HeapTupleHeader::read(new)
            .ok_or_else(|| PgError::internal("tuple without a header"))?;
        header.infomask = header.infomask & !m::XACT_MASK | m::UPDATED | self.remaining.infomask;
        header.infomask2 = header.infomask2 & !m2::XACT_MASK | self.remaining.infomask2;
        header.raw_xmin = xid;
        header.raw_cid = self.cid;
        header.raw_xmax = self.remaining.xmax;
        Ok(header)
    }
}

/// A pending update: this transaction has locked the old version, no latch is held. It may be
/// dropped without [`finish_update`].
pub struct PendingUpdate(Plan);

/// The old version, latched, and the plan for its update.
struct Prepared<'a> {
    guard: ExclusiveGuard<'a>,
    vm_old: Option<VmPin<'a>>,
    plan: Plan,
    xid: Xid,
}

/// A failed update: the outcome, its details, and the lock mode that was requested.
type Failed = (TmResult, TmFailure, TupleLockMode);

/// Updates the row version at `tid` to `new` (formed and toasted) for command `cid`; fills in the
/// header of `new`.
///
/// WAL: `xl_heap_update` (UPDATE or HOT_UPDATE), replayed by `redo::update`; before it an
/// `xl_heap_lock` if another page is needed.
pub fn update<'a>(
    cx: &mut HeapCx<'a>,
    rel: &HeapRel,
    tid: Tid,
    new: &mut [u8],
    cid: CommandId,
    options: &UpdateOptions<'_>,
) -> Result<Result<Updated, Failed>> {
    let mut row_lock = None;
    let prepared = prepare(cx, rel, tid, new, cid, options, &mut row_lock);
    let result = prepared.and_then(|prepared| match prepared {
        Ok(prepared) => complete(cx, rel, tid, new, prepared, true).map(Ok),
        Err(failed) => Ok(Err(failed)),
    });
    if let Some(mode) = row_lock {
        cx.wait.unlock_row(rel, tid, mode)?;
    }
    result
}

/// The first half of an update whose new version has yet to be toasted: locks the old version, so
/// that no TOAST chunks are written for an update that fails. `new` is the version before toasting.
pub fn begin_update<'a>(
    cx: &mut HeapCx<'a>,
    rel: &HeapRel,
    tid: Tid,
    new: &[u8],
    cid: CommandId,
    options: &UpdateOptions<'_>,
) -> Result<Result<PendingUpdate, Failed>> {
    let mut row_lock = None;
    let prepared = prepare(cx, rel, tid, new, cid, options, &mut row_lock);
    let result = prepared.and_then(|prepared| match prepared {
        Ok(Prepared { guard, vm_old, mut plan, xid }) => {
            lock_old_version(cx, rel, guard, &vm_old, tid, &mut plan, xid)?;
            Ok(Ok(PendingUpdate(plan)))
        }
        Err(failed) => Ok(Err(failed)),
    });
    if let Some(mode) = row_lock {
        cx.wait.unlock_row(rel, tid, mode)?;
    }
    result
}

/// The second half of an update, in the same subtransaction as the first.
pub fn finish_update(
    cx: &mut HeapCx<'_>,
    rel: &HeapRel,
    tid: Tid,
    new: &mut [u8],
    pending: PendingUpdate,
) -> Result<Updated> {
    let xid = cx.txn.current_xid()?;
    let mut vm_old = None;
    let mut guard = cx.pool.read(&rel.main, tid.block, cx.strategy)?.exclusive();
    while guard.is_all_visible() && !visibility_map::is_pinned(&vm_old, tid.block) {
        let pin = guard.into_pin();
        pin_vm(cx, rel, tid.block, &mut vm_old)?;
        guard = pin.exclusive();
    }
    complete(cx, rel, tid, new, Prepared { guard, vm_old, plan: pending.0, xid }, false)
}

/// Finds a page for the new version and performs the update. `lock`: the transaction has not locked
/// the old version yet.
///
/// Inlined, like `prepare`, for speed: passing [`Prepared`] through memory would write it in small
/// parts and read it as a whole, which defeats the CPU's store-to-load forwarding.
#[inline(always)]
fn complete<'a>(
    cx: &mut HeapCx<'a>,
    rel: &HeapRel,
    tid: Tid,
    new: &mut [u8],
    prepared: Prepared<'a>,
    lock: bool,
) -> Result<Updated> {
    let Prepared { guard, mut vm_old, mut plan, xid } = prepared;
    let mut vm_new: Option<VmPin<'a>> = None;
    let pages = if max_align(new.len()) > guard.heap_free_space() {
        let pin = if lock {
            lock_old_version(cx, rel, guard, &vm_old, tid, &mut plan, xid)?
        } else {
            guard.into_pin()
        };
        let pins = VmPins { new: &mut vm_new, other: &mut vm_old };
        find_page(cx, rel, pin, new.len(), pins)?
    } else {
        TargetPages { new: guard, other: None }
    };
    finish(cx, rel, tid, new, (plan, xid), pages, (&vm_old, &vm_new))
}

/// Waits for transactions that hold the row, and computes the plan for its update.
#[inline(always)]
fn prepare<'a>(
    cx: &mut HeapCx<'a>,
    rel: &HeapRel,
    tid: Tid,
    new: &[u8],
    cid: CommandId,
    options: &UpdateOptions<'_>,
    row_lock: &mut Option<lmgr::LockMode>,
) -> Result<Result<Prepared<'a>, Failed>> {
    let columns = &options.columns;
    let xid = cx.txn.current_xid()?;
    let mut vm_old: Option<VmPin<'a>> = None;
    let mut guard = cx.pool.read(&rel.main, tid.block, cx.strategy)?.exclusive();
    if guard.is_all_visible() {
        let pin = guard.into_pin();
        pin_vm(cx, rel, tid.block, &mut vm_old)?;
        guard = pin.exclusive();
    }
    let (key_intact, hot_allowed) = if columns.key.is_empty() && columns.hot_blocking.is_empty() {
        (true, true)
    } else {
        let old = guard.heap_tuple(tid.offset).ok_or_else(|| no_tuple(rel, tid))?;
        let new = HeapTuple::from_bytes(new).ok_or_else(|| no_tuple(rel, tid))?;
        (
            !columns.differ(columns.key, &old, &new)?,
            !columns.differ(columns.hot_blocking, &old, &new)?,
        )
    };
    let mode = if key_intact {
        // From now on other transactions may make a multixact with this one as a member.
        cx.txn.set_oldest_multixact_member();
        TupleLockMode::NoKeyExclusive
    } else {
        TupleLockMode::Exclusive
    };

    let mut holders = Holders::default();
    // Read in place, not returned by value: a copy right after the fields are written would defeat
    // store-to-load forwarding.
    let mut h = HeapTupleHeader::default();
    loop {
        if !guard.read_heap_header(tid.offset, &mut h) {
            return Err(no_tuple(rel, tid));
        }
        let mut hint = 0;
        let mut result = cx.visibility(rel, guard.lsn()).update(&h, tid, cid, &mut hint)?;
        guard.hint(cx.scratch, tid.offset, hint);
        h.infomask |= hint;
        if result == TmResult::Invisible {
            return Err(pg_err!(
                OBJECT_NOT_IN_PREREQUISITE_STATE,
                "attempted to update invisible tuple"
            ));
        }
        if result == TmResult::BeingModified && options.wait {
            let row = HeldRow { tid, mode, key_intact };
            let after;
            (guard, after) = wait_for_holders(cx, rel, guard, row, &mut h, &mut holders, row_lock)?;
            let Some(after) = after else { continue };
            result = after;
        }
        if result == TmResult::Ok
            && let Some(snapshot) = options.crosscheck
            && !cx.visibility(rel, guard.lsn()).visible(&h, snapshot, &mut 0)?
        {
            result = TmResult::Updated;
        }
        if result != TmResult::Ok {
            return Ok(Err((result, failure(cx, rel, &guard, &h, result)?, mode)));
        }
        if guard.is_all_visible() && !visibility_map::is_pinned(&vm_old, tid.block) {
            let pin = guard.into_pin();
            pin_vm(cx, rel, tid.block, &mut vm_old)?;
            guard = pin.exclusive();
            continue;
        }
        break;
    }

    let old_xmax = add_holder(cx.txn, &h, xid, mode, true)?;
    let remaining = if h.xmax_invalid()
        || locked_upgraded(h.infomask)
        || (holders.checked && !holders.remain)
        || !h.raw_xmax.is_valid()
    {
        NewXmax { xmax: Xid::INVALID, infomask: m::XMAX_INVALID, infomask2: 0 }
    } else if h.xmax_is_multi() {
        infomask::multi_bits(cx.txn.manager(), MultiXid(h.raw_xmax.0))?
    } else {
        let infomask = m::XMAX_KEYSHR_LOCK | m::XMAX_LOCK_ONLY;
        NewXmax { xmax: h.raw_xmax, infomask, infomask2: 0 }
    };
    let cmax = adjust_cmax(cx.txn, &h, cid)?;
    let plan = Plan { mode, hot_allowed, cid, cmax, old_xmax, remaining, locked_xmax: None };
    Ok(Ok(Prepared { guard, vm_old, plan, xid }))
}

/// What is known of the transactions that hold the row.
#[derive(Clone, Copy, Default)]
struct Holders {
    /// They have been checked, and none conflicts.
    checked: bool,
    /// Some of them may remain.
    remain: bool,
}

/// A row version whose holders are waited for, in this mode.
#[derive(Clone, Copy)]
struct HeldRow {
    tid: Tid,
    mode: TupleLockMode,
    /// The update changes no key.
    key_intact: bool,
}

/// Waits for the transactions that hold the row, if they conflict. Returns the outcome for the row
/// version with header `h`, which is read again; `None` if it must be examined from the start.
fn wait_for_holders<'a>(
    cx: &mut HeapCx<'a>,
    rel: &HeapRel,
    mut guard: ExclusiveGuard<'a>,
    HeldRow { tid, mode, key_intact }: HeldRow,
    h: &mut HeapTupleHeader,
    holders: &mut Holders,
    row_lock: &mut Option<lmgr::LockMode>,
) -> Result<(ExclusiveGuard<'a>, Option<TmResult>)> {
    let can_continue;
    if h.xmax_is_multi() {
        let multi = h.multi();
        let c = infomask::multi_conflict(cx.txn, multi, h.infomask, mode)?;
        if c.conflicts {
            let pin = guard.into_pin();
            if !c.own {
                acquire(cx, rel, tid, mode, row_lock)?;
            }
            let row =
                RowWait { rel, tid, operation: WaitOperation::Update, policy: WaitPolicy::Block };
            let remain = infomask::wait_multi(cx.txn, cx.wait, multi, mode, h.infomask, row)?;
            *holders = Holders { checked: true, remain: remain != Some(0) };
            guard = pin.exclusive();
            let now = guard.heap_header(tid.offset).ok_or_else(|| no_tuple(rel, tid))?;
            if infomask::xmax_changed(&now, h) {
                return Ok((guard, None));
            }
            *h = now;
        }
        let updater = if h.xmax_locked_only() {
            Xid::INVALID
        } else {
            cx.visibility(rel, guard.lsn()).update_xid(h)?
        };
        can_continue = !updater.is_valid() || cx.txn.manager().did_abort(updater)?;
    } else if cx.txn.is_current(h.raw_xmax)
        || (h.infomask & m::LOCK_MASK == m::XMAX_KEYSHR_LOCK && key_intact)
    {
        // This transaction, or a key-share locker, which does not conflict: it remains a holder of
        // the row.
        *holders = Holders { checked: true, remain: true };
        can_continue = true;
    } else {
        let pin = guard.into_pin();
        acquire(cx, rel, tid, mode, row_lock)?;
        wait_xid(cx.wait, h.raw_xmax, rel, tid, WaitOperation::Update)?;
        holders.checked = true;
        guard = pin.exclusive();
        let now = guard.heap_header(tid.offset).ok_or_else(|| no_tuple(rel, tid))?;
        if infomask::xmax_changed(&now, h) {
            return Ok((guard, None));
        }
        *h = hint_xmax(cx, rel, &mut guard, tid, now.raw_xmax)?;
        can_continue = h.xmax_invalid();
    }
    let outcome = if can_continue {
        TmResult::Ok
    } else if h.ctid != tid {
        TmResult::Updated
    } else {
        TmResult::Deleted
    };
    Ok((guard, Some(outcome)))
}

fn acquire(
    cx: &mut HeapCx<'_>,
    rel: &HeapRel,
    tid: Tid,
    mode: TupleLockMode,
    row_lock: &mut Option<lmgr::LockMode>,
) -> Result<()> {
    let mut have = row_lock.is_some();
    infomask::acquire_row(cx.wait, rel, tid, mode, WaitPolicy::Block, &mut have)?;
    *row_lock = Some(mode.hw_mode());
    Ok(())
}

/// Locks the old version for this transaction, so that no other transaction updates it while the
/// page is not latched.
fn lock_old_version<'a>(
    cx: &mut HeapCx<'a>,
    rel: &HeapRel,
    mut guard: ExclusiveGuard<'a>,
    vm_old: &Option<VmPin<'a>>,
    tid: Tid,
    plan: &mut Plan,
    xid: Xid,
) -> Result<Pin<'a>> {
    // Unchanged since the plan was computed: the latch has been held.
    let mut h = guard.heap_header(tid.offset).ok_or_else(|| no_tuple(rel, tid))?;
    let lock = add_holder(cx.txn, &h, xid, plan.mode, false)?;
    plan.locked_xmax = Some(lock.xmax);
    let unfrozen = guard.is_all_visible()
        && vm_old.as_ref().is_some_and(|pin| {
            visibility_map::clear(pin, tid.block, vm::ALL_FROZEN, cx.wal, cx.scratch)
        });
    let mut edit = PageEdit::begin(cx.wal, cx.scratch);
    let page = edit.change(&mut guard, 0, RegFlags::STANDARD);
    set_xmax(&mut h, lock);
    h.infomask2 &= !m2::HOT_UPDATED;
    set_cmax(&mut h, plan.cmax);
    h.ctid = tid;
    page.set_heap_header(tid.offset, &h);
    if rel.is_logged() {
        let record = record::Lock {
            xmax: lock.xmax,
            offset: tid.offset,
            infobits: record::infobits(h.infomask, h.infomask2),
            flags: if unfrozen { record::LOCK_ALL_FROZEN_CLEARED } else { 0 },
        };
        edit.main(&record.to_bytes());
        edit.log(RmgrId::Heap, record::heap::LOCK, xid)?;
    } else {
        edit.finish_unlogged();
    }
    Ok(guard.into_pin())
}

/// Finds a page for the new version. It may be the page of the old one, if that was pruned in the
/// meantime.
fn find_page<'a>(
    cx: &mut HeapCx<'a>,
    rel: &HeapRel,
    old: Pin<'a>,
    len: usize,
    vm: VmPins<'_, 'a>,
) -> Result<TargetPages<'a>> {
    page_for_tuple(cx, rel, len, Some(old), vm, None, true)
}

/// Adds the new version and marks the old one. `vm`: pins of the visibility map's pages for the old
/// and the new page.
fn finish<'a>(
    cx: &mut HeapCx<'a>,
    rel: &HeapRel,
    tid: Tid,
    new: &mut [u8],
    (mut plan, xid): (Plan, Xid),
    pages: TargetPages<'a>,
    vm: (&Option<VmPin<'a>>, &Option<VmPin<'a>>),
) -> Result<Updated> {
    let (vm_old, vm_new) = vm;
    let TargetPages { new: mut new_guard, other: mut old_guard } = pages;
    let new_block = new_guard.block();
    let same_page = old_guard.is_none();
    let hot = same_page && plan.hot_allowed;
    let old_on = old_guard.as_ref().unwrap_or(&new_guard);
    // Read again: this transaction may have locked it.
    let mut old = HeapTupleHeader::default();
    if !old_on.read_heap_header(tid.offset, &mut old) {
        return Err(no_tuple(rel, tid));
    }
    plan.add_lockers(cx, &old, xid)?;
    let mut new_header = plan.new_header(new, xid)?;
    if hot {
        new_header.infomask2 |= m2::ONLY_TUPLE;
    }
    new_header.write(new);
    let log = rel.is_logged();
    let delta = if log && same_page && cx.update_delta && !cx.wal.needs_image(new_guard.lsn()) {
        let bytes = new_guard.heap_tuple(tid.offset).ok_or_else(|| no_tuple(rel, tid))?;
        Delta::between(bytes.data(), new.get(new_header.hoff as usize..).unwrap_or(&[]))
    } else {
        Delta::default()
    };
    let old_cleared = clear_all_visible(cx, old_on, vm_old);
    let new_cleared = !same_page && clear_all_visible(cx, &new_guard, vm_new);
    let init = new_guard.max_offset() == 0;

    let mut edit = PageEdit::begin(cx.wal, cx.scratch);
    let flags = if init { RegFlags::STANDARD | RegFlags::WILL_INIT } else { RegFlags::STANDARD };
    edit.register(&mut new_guard, 0, flags);
    if let Some(guard) = &mut old_guard {
        edit.register(guard, 1, RegFlags::STANDARD);
    }
    let new_offset = {
        let page = new_guard.page_mut(&edit);
        if same_page {
            page.set_prunable(xid);
        }
        let offset = put(page, new_block, new, 0)
            .ok_or_else(|| PgError::internal("failed to add tuple to page"))?;
        if new_cleared {
            page.set_all_visible(false);
        }
        offset
    };
    let new_tid = Tid::new(new_block, new_offset);
    {
        let page = match &mut old_guard {
            Some(guard) => guard.page_mut(&edit),
            None => new_guard.page_mut(&edit),
        };
        if !same_page {
            // The page is full: the next reader should try to prune it.
            page.set_full(true);
            page.set_prunable(xid);
        }
        set_xmax(&mut old, plan.old_xmax);
        old.infomask2 =
            if hot { old.infomask2 | m2::HOT_UPDATED } else { old.infomask2 & !m2::HOT_UPDATED };
        set_cmax(&mut old, plan.cmax);
        old.ctid = new_tid;
        page.set_heap_header(tid.offset, &old);
        if old_cleared {
            page.set_all_visible(false);
        }
    }
    if log {
        let mut flags = delta.flags();
        if old_cleared {
            flags |= record::UPDATE_OLD_ALL_VISIBLE_CLEARED;
        }
        if new_cleared {
            flags |= record::UPDATE_NEW_ALL_VISIBLE_CLEARED;
        }
        let info = if hot { record::heap::HOT_UPDATE } else { record::heap::UPDATE };
        let info = if init { info | record::INIT_PAGE } else { info };
        let offsets = (tid.offset, new_offset);
        log_update(&mut edit, offsets, &old, &new_header, new, delta, flags);
        edit.log(RmgrId::Heap, info, xid)?;
    } else {
        edit.finish_unlogged();
    }
    Ok(Updated { tid: new_tid, hot, lock_mode: plan.mode })
}

fn log_update(
    edit: &mut PageEdit<'_, '_>,
    (old_offset, new_offset): (OffsetNo, OffsetNo),
    old: &HeapTupleHeader,
    new_header: &HeapTupleHeader,
    new: &[u8],
    delta: Delta,
    flags: u8,
) {
    let record = record::Update {
        old_xmax: old.raw_xmax,
        old_offset,
        old_infobits: record::infobits(old.infomask, old.infomask2),
        flags,
        new_xmax: new_header.raw_xmax,
        new_offset,
    };
    edit.main(&record.to_bytes());
    if delta.prefix > 0 {
        edit.block_data(0, &(delta.prefix as u16).to_le_bytes());
    }
    if delta.suffix > 0 {
        edit.block_data(0, &(delta.suffix as u16).to_le_bytes());
    }
    edit.block_data(0, &TupleHead::of(new_header).to_bytes());
    let end = new.len() - delta.suffix;
    if delta.prefix == 0 {
        edit.block_data(0, &new[HEADER_SIZE..end]);
    } else {
        // The null bitmap and its padding, then the bytes after the common prefix.
        let hoff = new_header.hoff as usize;
        edit.block_data(0, &new[HEADER_SIZE..hoff]);
        edit.block_data(0, &new[hoff + delta.prefix..end]);
    }
}

/// Number of bytes at the start and the end of the columns that are equal in both versions. Less
/// than three count as zero, since the logged length takes two.
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
pub(crate) struct Delta {
    pub(crate) prefix: usize,
    pub(crate) suffix: usize,
}

impl Delta {
    pub(crate) fn between(old: &[u8], new: &[u8]) -> Delta {
        let shorter = old.len().min(new.len());
        let at_least_three = |n: usize| if n < 3 { 0 } else { n };
        let prefix = at_least_three(common_prefix(old, new));
        let suffix = at_least_three(common_suffix(old, new).min(shorter - prefix));
        Delta { prefix, suffix }
    }

    fn flags(self) -> u8 {
        let bit = |n: usize, flag: u8| if n > 0 { flag } else { 0 };
        bit(self.prefix, record::UPDATE_PREFIX_FROM_OLD)
            | bit(self.suffix, record::UPDATE_SUFFIX_FROM_OLD)
    }
}

const WORD: usize = 8;

fn word(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |n, &b| n << 8 | u64::from(b))
}

/// Length of the common prefix.
fn common_prefix(a: &[u8], b: &[u8]) -> usize {
    let mut at = 0;
    for (x, y) in a.chunks_exact(WORD).zip(b.chunks_exact(WORD)) {
        let differs = word(x) ^ word(y);
        if differs != 0 {
            return at + differs.trailing_zeros() as usize / 8;
        }
        at += WORD;
    }
    at + a[at..].iter().zip(&b[at..]).take_while(|(x, y)| x == y).count()
}

/// Length of the common suffix.
fn common_suffix(a: &[u8], b: &[u8]) -> usize {
    let mut at = 0;
    for (x, y) in a.rchunks_exact(WORD).zip(b.rchunks_exact(WORD)) {
        let differs = word(x) ^ word(y);
        if differs != 0 {
            return at + differs.leading_zeros() as usize / 8;
        }
        at += WORD;
    }
    let (a, b) = (&a[..a.len() - at], &b[..b.len() - at]);
    at + a.iter().rev().zip(b.iter().rev()).take_while(|(x, y)| x == y).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn common_prefix_and_suffix_are_as_byte_by_byte() {
        let random = vfs::SeededRandom::new(7);
        for _ in 0..20_000 {
            let mut old: Vec<u8> = (0..random.below(40)).map(|_| random.below(2) as u8).collect();
            let mut new = old.clone();
            if !new.is_empty() {
                let at = random.below(new.len() as u64) as usize;
                new[at] ^= random.below(2) as u8;
                new.truncate(new.len() - random.below(2) as usize);
            }
            old.extend((0..random.below(3)).map(|_| 1));
            let prefix = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
            let suffix = old.iter().rev().zip(new.iter().rev()).take_while(|(a, b)| a == b).count();
            assert_eq!(common_prefix(&old, &new), prefix, "{old:?} {new:?}");
            assert_eq!(common_suffix(&old, &new), suffix, "{old:?} {new:?}");
        }
    }
}
