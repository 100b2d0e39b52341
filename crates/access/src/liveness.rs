//! The interface through which an index requests the visibility of rows from the table. Index
//! tuples do not store it.

use ids::{BlockNo, OffsetNo, Tid, Xid};
use pgerror::Result;

/// State of the row at a heap TID, by a dirty snapshot: changes of running transactions count.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DirtyState {
    /// No member of the HOT chain is live; `all_dead`: all are dead to all snapshots, so that the
    /// index tuple may be marked dead.
    Dead { all_dead: bool },
    /// Live: inserted by a committed transaction or by the caller's own.
    Live,
    /// Depends on the end of `xid`; with `speculative`, on the end of its speculative insertion
    /// only.
    InProgress { xid: Xid, speculative: Option<u32> },
}

/// Candidates for deletion from one leaf page. Counterpart: `TM_IndexDeleteOp`.
#[derive(Debug)]
pub struct DeleteOp {
    pub index_block: BlockNo,
    /// Bottom-up deletion: no candidate is known to be deletable. The table visits the blocks with
    /// the most `promising` candidates first, and stops when `free_space_target` bytes would become
    /// free or further blocks are not promising.
    pub bottom_up: bool,
    pub free_space_target: usize,
    /// In index order (`id` ascending). The table may reorder them and, if bottom-up, remove some.
    pub candidates: Vec<DeleteCandidate>,
}

/// Counterpart: `TM_IndexDelete` with its `TM_IndexStatus`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DeleteCandidate {
    pub tid: Tid,
    pub id: u16,
    /// Line pointer of the index tuple.
    pub index_offset: OffsetNo,
    /// In: marked dead in the index. Out: may be deleted.
    pub deletable: bool,
    /// Bottom-up: a duplicate, probably an old version of a row.
    pub promising: bool,
    /// Bottom-up: bytes that its deletion frees.
    pub free_space: u16,
}

/// Implemented by the table.
///
/// LOCK ORDER: all functions are called with a leaf page latched, so they must not wait for
/// heavyweight locks nor access this index.
pub trait HeapLiveness {
    /// State of the HOT chain at `tid`. Counterpart: `table_index_fetch_tuple_check` with
    /// SnapshotDirty.
    fn dirty_state(&mut self, tid: Tid) -> Result<DirtyState>;

    /// True if the row at `tid`, which is being indexed, is still live. Counterpart:
    /// `table_index_fetch_tuple_check` with SnapshotSelf.
    fn is_live_self(&mut self, tid: Tid) -> Result<bool>;

    /// Sets `deletable` of the candidates. Returns the newest XID that deleted one of these row
    /// versions (for conflicts on standbys), invalid if there is none.
    /// Counterpart: `table_index_delete_tuples`.
    fn delete_candidates(&mut self, op: &mut DeleteOp) -> Result<Xid>;
}
