//! What the index must ask about the table: it holds no visibility itself.

use ids::{BlockNo, OffsetNo, Tid, Xid};
use pgerror::Result;

/// What a heap TID leads to, by a dirty snapshot (changes of running transactions count).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DirtyState {
    /// No member of the HOT chain is alive; `all_dead`: dead for everybody, so that the index tuple
    /// may be marked.
    Dead { all_dead: bool },
    /// Alive and certain: committed, or the own transaction's.
    Live,
    /// Depends on the end of `xid`; with `speculative`, on the end of its speculative insertion
    /// only.
    InProgress { xid: Xid, speculative: Option<u32> },
}

/// Candidates for deletion from one leaf page. Counterpart: `TM_IndexDeleteOp`.
#[derive(Debug)]
pub struct DeleteOp {
    pub index_block: BlockNo,
    /// Bottom-up: nothing is known to be deletable; look where `promising` candidates cluster, stop
    /// when `free_space_target` bytes would become free or it stops paying.
    pub bottom_up: bool,
    pub free_space_target: usize,
    /// In index order (`id` ascending). The answer may reorder them and, when bottom-up, drop some.
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
    /// Bottom-up: a duplicate, probably of an older version.
    pub promising: bool,
    /// Bottom-up: bytes that its deletion frees.
    pub free_space: u16,
}

/// The table's side of insertion. All calls come with a leaf page latched: an answer must not wait
/// for heavyweight locks, nor touch this index.
pub trait HeapLiveness {
    /// State of the HOT chain at `tid`. Counterpart: `table_index_fetch_tuple_check` with
    /// SnapshotDirty.
    fn dirty_state(&mut self, tid: Tid) -> Result<DirtyState>;

    /// Is the row at `tid`, which is being indexed, still alive for its own transaction?
    /// Counterpart: the same with SnapshotSelf.
    fn is_live_self(&mut self, tid: Tid) -> Result<bool>;

    /// Decides on the candidates. Returns the newest XID among the removed versions' deleters (for
    /// conflicts on standbys), invalid if none. Counterpart: `table_index_delete_tuples`.
    fn delete_candidates(&mut self, op: &mut DeleteOp) -> Result<Xid>;
}
