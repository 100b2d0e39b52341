//! Overwriting a catalog row where it stands, outside transactions (`relpages`, `relfrozenxid`, …).
//! Counterpart: `heap_inplace_update`.

use crate::context::{HeapCx, HeapRel, no_tuple};
use crate::record;
use bufmgr::PageEdit;
use ids::Tid;
use page::HeapTuple;
use pgerror::{PgError, Result};
use wal::{RegFlags, RmgrId};

/// Replaces the columns of the tuple at `tid` by those of `tuple`, which has the same size. The caller has
/// a lock that keeps others from updating the row.
///
/// WAL: `xl_heap_inplace`, redone by `redo::inplace`. Carries no XID: it is not undone by an abort.
pub fn inplace_update(cx: &mut HeapCx<'_>, rel: &HeapRel, tid: Tid, tuple: &[u8]) -> Result<()> {
    let mut guard = cx.pool.read(&rel.main, tid.block, cx.strategy)?.exclusive();
    let new = HeapTuple::from_bytes(tuple).ok_or_else(|| no_tuple(rel, tid))?;
    let old = guard.heap_tuple(tid.offset).ok_or_else(|| no_tuple(rel, tid))?;
    if old.len() != new.len() || old.header.hoff != new.header.hoff {
        return Err(PgError::internal("wrong tuple length"));
    }
    let hoff = new.header.hoff as usize;
    let mut edit = PageEdit::begin(cx.wal, cx.scratch);
    let page = edit.change(&mut guard, 0, RegFlags::STANDARD);
    page.item_mut(tid.offset)[hoff..].copy_from_slice(new.data());
    if rel.is_logged() {
        edit.main(&tid.offset.to_le_bytes());
        edit.block_data(0, new.data());
        let xid = cx.txn.current_xid_if_any();
        let end = edit.log(RmgrId::Heap, record::heap::INPLACE, xid)?;
        cx.txn.note_record(end);
    } else {
        edit.finish_unlogged();
    }
    Ok(())
}
