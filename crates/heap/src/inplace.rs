//! In-place, nontransactional updates of columns of a catalog row (`relpages`, `relfrozenxid`, …).
//!
//! INVARIANT: an in-place update is not lost, and does not overwrite another row. A session that
//! makes a new version of such a row holds the row's heavyweight lock (Exclusive) from before it
//! reads the columns that are updated in place until `xmax` is set; so does a session that updates
//! them in place. A version with a running updater is not overwritten: the session waits for the
//! updater's end and looks the row up again. Under the page's latch the old values are compared
//! once more.
//!
//! LOCK ORDER: the row's heavyweight lock, then the page's latch; no wait under the latch.
//!
//! Counterpart: `heap_inplace_lock`, `heap_inplace_update_and_unlock` in heapam.c.

use crate::context::{HeapCx, HeapRel, SetHint, TmResult, WaitOperation, WaitPolicy, wait_xid};
use crate::infomask::{RowWait, multi_conflict, wait_multi};
use crate::lock::TupleLockMode;
use crate::record;
use bufmgr::{ExclusiveGuard, PageEdit};
use ids::Tid;
use page::HeapTupleHeader;
use page::heap_tuple::infomask as m;
use pgerror::{PgError, Result};
use wal::{RegFlags, RmgrId};

/// One column: bytes of a tuple's data from `at` on. For a column that is only compared, `old`
/// equals `new`.
#[derive(Clone, Copy, Debug)]
pub struct InPlace<'a> {
    pub at: usize,
    pub old: &'a [u8],
    pub new: &'a [u8],
}

/// Changes the tuple at `tid` if it is the row's latest version and has all the `old` bytes. False
/// if not, or after a wait for an updater: then the caller looks the row up again. The caller holds
/// the row's heavyweight lock.
///
/// WAL: `xl_heap_inplace` with the whole data, replayed by `redo::inplace`. The change survives an
/// abort of the transaction; the record has the transaction's XID, if any, so that its commit
/// flushes it.
pub fn inplace_update(
    cx: &mut HeapCx<'_>,
    rel: &HeapRel,
    tid: Tid,
    changes: &[InPlace<'_>],
) -> Result<bool> {
    let mut guard = cx.pool.read(&rel.main, tid.block, cx.strategy)?.exclusive();
    let Some(h) = guard.heap_header(tid.offset) else { return Ok(false) };
    let mut hint = 0;
    let cid = cx.txn.current_command(false);
    let state = cx.visibility(rel, guard.lsn()).update(&h, tid, cid, &mut hint)?;
    guard.hint(cx.scratch, tid.offset, hint);
    match state {
        TmResult::Ok => {}
        TmResult::BeingModified => {
            if has_conflicting_holder(cx, &h)? {
                drop(guard);
                wait_for_holder(cx, rel, tid, &h)?;
                return Ok(false);
            }
        }
        TmResult::SelfModified => {
            return Err(PgError::internal(
                "tuple to be updated was already modified by an operation triggered by the \
                 current command",
            ));
        }
        TmResult::Invisible => {
            return Err(PgError::internal("attempted to overwrite invisible tuple"));
        }
        TmResult::Updated | TmResult::Deleted | TmResult::WouldBlock => return Ok(false),
    }
    overwrite(cx, rel, &mut guard, tid, changes)
}

fn overwrite(
    cx: &mut HeapCx<'_>,
    rel: &HeapRel,
    guard: &mut ExclusiveGuard<'_>,
    tid: Tid,
    changes: &[InPlace<'_>],
) -> Result<bool> {
    let Some(tuple) = guard.heap_tuple(tid.offset) else { return Ok(false) };
    let data = tuple.data();
    if changes.iter().any(|c| data.get(c.at..c.at + c.old.len()) != Some(c.old)) {
        return Ok(false);
    }
    if changes.iter().all(|c| c.old == c.new) {
        return Ok(true);
    }
    let hoff = tuple.header.hoff as usize;
    let mut new = data.to_vec();
    for c in changes {
        assert_eq!(c.old.len(), c.new.len(), "a column of fixed width");
        new[c.at..c.at + c.new.len()].copy_from_slice(c.new);
    }
    let mut edit = PageEdit::begin(cx.wal, cx.scratch);
    let page = edit.change(guard, 0, RegFlags::STANDARD);
    page.item_mut(tid.offset)[hoff..].copy_from_slice(&new);
    if rel.is_logged() {
        edit.main(&tid.offset.to_le_bytes());
        edit.block_data(0, &new);
        let xid = cx.txn.current_xid_if_any();
        let end = edit.log(RmgrId::Heap, record::heap::INPLACE, xid)?;
        cx.txn.note_record(end);
    } else {
        edit.finish_unlogged();
    }
    Ok(true)
}

/// True if a holder of the tuple conflicts with an update that does not change the key.
fn has_conflicting_holder(cx: &HeapCx<'_>, h: &HeapTupleHeader) -> Result<bool> {
    if h.xmax_is_multi() {
        let mode = TupleLockMode::NoKeyExclusive;
        return Ok(multi_conflict(cx.txn, h.multi(), h.infomask, mode)?.conflicts);
    }
    let key_share = h.infomask & m::LOCK_MASK == m::XMAX_KEYSHR_LOCK && h.xmax_locked_only();
    Ok(!key_share && !cx.txn.is_current(h.raw_xmax))
}

fn wait_for_holder(
    cx: &mut HeapCx<'_>,
    rel: &HeapRel,
    tid: Tid,
    h: &HeapTupleHeader,
) -> Result<()> {
    let operation = WaitOperation::Update;
    if !h.xmax_is_multi() {
        return wait_xid(cx.wait, h.raw_xmax, rel, tid, operation);
    }
    let (mode, policy) = (TupleLockMode::NoKeyExclusive, WaitPolicy::Block);
    let row = RowWait { rel, tid, operation, policy };
    wait_multi(cx.txn, cx.wait, h.multi(), mode, h.infomask, row)?;
    Ok(())
}
