//! Deletion of index tuples from a leaf: simple deletion of items marked dead, bottom-up deletion
//! of old row versions, and the physical deletion shared with VACUUM.
//!
//! Counterpart: parts of nbtinsert.c, nbtdedup.c and nbtpage.c.

use crate::buf::{Cx, ExclusiveGuard, RegFlags, RmgrId};
use crate::dedup::{self, Pending};
use crate::index::Index;
use crate::insert::InsertState;
use crate::records;
use access::{DeleteCandidate, DeleteOp, HeapLiveness};
use ids::{BlockNo, OffsetNo, Tid, Xid};
use page::PAGE_SIZE;
use page::btree::{BTP_HAS_GARBAGE, Node, change_flags, set_cycle_id};
use page::index_space::{self, exact_free_space, free_space};
use page::index_tuple::{IndexTuple, TID_SIZE, posting_without};
use pgerror::{PgError, Result};

const LINE_POINTER: usize = 4;

/// TIDs to delete from a posting list that keeps others. Counterpart: `BTVacuumPosting`.
#[derive(Debug)]
pub(crate) struct PostingUpdate {
    pub offset: OffsetNo,
    /// Positions in the list, ascending.
    pub dead: Vec<u16>,
}

/// The record that a deletion is logged as.
#[derive(Clone, Copy)]
pub(crate) enum DeleteKind {
    Vacuum,
    /// With the newest XID that deleted a removed row version.
    Delete(Xid),
}

impl Index {
    /// Tries to make room for the new tuple without a split: first simple deletion, then bottom-up
    /// deletion, then deduplication. Counterpart: `_bt_delete_or_dedup_one_page`.
    pub(crate) fn make_room<'p>(
        &self,
        cx: &mut Cx<'p>,
        state: &mut InsertState<'p, '_>,
        simple_only: bool,
        checking: bool,
        mut duplicates: bool,
        unchanged: bool,
        heap: &mut dyn HeapLiveness,
    ) -> Result<()> {
        let node = Node(&state.page);
        let dead: Vec<OffsetNo> = (node.first_data_key()..=node.max_offset())
            .filter(|&off| node.line_pointer(off).is_dead())
            .collect();
        if !dead.is_empty() {
            self.simple_deletion(cx, &mut state.page, &dead, state.tuple, heap)?;
            state.bounds = None;
            if free_space(&state.page) >= state.size {
                return Ok(());
            }
            duplicates = true;
        }
        if simple_only || (checking && !duplicates) {
            return Ok(());
        }
        state.bounds = None;
        let versions = unchanged || duplicates;
        if versions
            && cx.bottom_up_deletion
            && self.bottom_up(cx, &mut state.page, state.size, heap)?
        {
            return Ok(());
        }
        if self.schema.deduplicate_items && self.schema.allequalimage {
            self.dedup(cx, &mut state.page, state.tuple, state.size, versions)?;
        }
        Ok(())
    }

    /// Deletes the items marked dead, and other items that point to the same heap blocks and that
    /// the table finds dead. Counterpart: `_bt_simpledel_pass`.
    fn simple_deletion<'p>(
        &self,
        cx: &mut Cx<'p>,
        page: &mut ExclusiveGuard<'p>,
        dead: &[OffsetNo],
        new_tuple: IndexTuple<'_>,
        heap: &mut dyn HeapLiveness,
    ) -> Result<()> {
        let node = Node(page);
        // The heap block of the new tuple is checked too: it is in the buffer pool.
        let mut blocks: Vec<BlockNo> = vec![new_tuple.tid_field().block];
        blocks.extend(dead.iter().flat_map(|&off| node.tuple(off).tids()).map(|t| t.block));
        blocks.sort_unstable();
        blocks.dedup();
        let mut op = DeleteOp {
            index_block: page.block(),
            bottom_up: false,
            free_space_target: 0,
            candidates: Vec::new(),
        };
        for off in node.first_data_key()..=node.max_offset() {
            let marked = node.line_pointer(off).is_dead();
            for tid in node.tuple(off).tids() {
                if blocks.binary_search(&tid.block).is_ok() {
                    push(&mut op, tid, off, marked, false, 0);
                }
            }
        }
        self.delete_checked(cx, page, op, heap)
    }

    /// Bottom-up deletion: the table checks row versions of the page, duplicates first. `true`:
    /// deduplication is not needed now. Counterpart: `_bt_bottomupdel_pass`.
    fn bottom_up<'p>(
        &self,
        cx: &mut Cx<'p>,
        page: &mut ExclusiveGuard<'p>,
        new_size: usize,
        heap: &mut dyn HeapLiveness,
    ) -> Result<bool> {
        let new_size = new_size + LINE_POINTER;
        let node = Node(page);
        let (min, max) = (node.first_data_key(), node.max_offset());
        if max < min {
            return Ok(false);
        }
        let mut op = DeleteOp {
            index_block: page.block(),
            bottom_up: true,
            free_space_target: (PAGE_SIZE / 16).max(new_size),
            candidates: Vec::new(),
        };
        let mut any_duplicates = false;
        let mut run = Pending::new(PAGE_SIZE);
        run.start(node.tuple(min), min);
        for off in min + 1..=max {
            let tuple = node.tuple(off);
            let equal =
                self.schema.keep_natts_fast(node.tuple(run.base), tuple) > self.schema.key_count;
            if equal && run.take(tuple) {
                continue;
            }
            any_duplicates |= add_run(&mut op, node, &run);
            run.start(tuple, off);
        }
        any_duplicates |= add_run(&mut op, node, &run);
        self.delete_checked(cx, page, op, heap)?;
        Ok(!any_duplicates || exact_free_space(page) >= (PAGE_SIZE / 24).max(new_size))
    }

    /// Lets the table check the candidates, and deletes those that it marks as deletable.
    /// Counterpart: `_bt_delitems_delete_check`.
    fn delete_checked<'p>(
        &self,
        cx: &mut Cx<'p>,
        page: &mut ExclusiveGuard<'p>,
        mut op: DeleteOp,
        heap: &mut dyn HeapLiveness,
    ) -> Result<()> {
        let mut horizon = heap.delete_candidates(&mut op)?;
        if !cx.logs_for_standby(&self.file) {
            horizon = Xid::INVALID;
        }
        op.candidates.retain(|c| c.deletable);
        op.candidates.sort_unstable_by_key(|c| c.id);
        let node = Node(page);
        let mut deleted = Vec::new();
        let mut updated = Vec::new();
        for group in op.candidates.chunk_by(|a, b| a.index_offset == b.index_offset) {
            let offset = group[0].index_offset;
            let tuple = node.tuple(offset);
            if !tuple.is_posting() {
                deleted.push(offset);
                continue;
            }
            let dead: Vec<u16> = tuple
                .tids()
                .enumerate()
                .filter(|(_, t)| group.binary_search_by_key(t, |c| c.tid).is_ok())
                .map(|(i, _)| i as u16)
                .collect();
            if dead.len() == tuple.posting_count() {
                deleted.push(offset);
            } else if !dead.is_empty() {
                updated.push(PostingUpdate { offset, dead });
            }
        }
        if deleted.is_empty() && updated.is_empty() {
            return Ok(());
        }
        self.delete_items(cx, page, DeleteKind::Delete(horizon), &deleted, &updated)
    }

    /// Deletes whole items and shrinks posting lists. Counterpart: `_bt_delitems_vacuum`,
    /// `_bt_delitems_delete`.
    ///
    /// WAL: VACUUM, DELETE.
    pub(crate) fn delete_items<'p>(
        &self,
        cx: &mut Cx<'p>,
        page: &mut ExclusiveGuard<'p>,
        kind: DeleteKind,
        deleted: &[OffsetNo],
        updated: &[PostingUpdate],
    ) -> Result<()> {
        let node = Node(page);
        let shrunk: Vec<(OffsetNo, Vec<u8>)> = updated
            .iter()
            .map(|u| {
                let mut t = Vec::new();
                posting_without(node.tuple(u.offset), u.dead.iter().copied(), &mut t);
                (u.offset, t)
            })
            .collect();
        let mut data = Vec::new();
        for off in deleted.iter().chain(updated.iter().map(|u| &u.offset)) {
            data.extend_from_slice(&off.to_le_bytes());
        }
        for u in updated {
            data.extend_from_slice(&(u.dead.len() as u16).to_le_bytes());
            for d in &u.dead {
                data.extend_from_slice(&d.to_le_bytes());
            }
        }
        let vacuum = matches!(kind, DeleteKind::Vacuum);
        page.check_index_items()?;
        let mut edit = cx.edit(&self.file, RmgrId::Btree);
        let p = edit.change(page, 0, RegFlags::STANDARD);
        apply_deletion(p, deleted, &shrunk, vacuum)?;
        let info = match kind {
            DeleteKind::Vacuum => records::VACUUM,
            DeleteKind::Delete(horizon) => {
                edit.main(&horizon.0.to_le_bytes());
                records::DELETE
            }
        };
        edit.main(&(deleted.len() as u16).to_le_bytes());
        edit.main(&(updated.len() as u16).to_le_bytes());
        edit.block_data(0, &data);
        edit.log(info)?;
        Ok(())
    }

    /// Deduplicates the page. Counterpart: `_bt_dedup_pass`.
    ///
    /// WAL: DEDUP.
    fn dedup<'p>(
        &self,
        cx: &mut Cx<'p>,
        page: &mut ExclusiveGuard<'p>,
        new_tuple: IndexTuple<'_>,
        new_size: usize,
        after_bottom_up: bool,
    ) -> Result<()> {
        let node = Node(page);
        let merged = dedup::dedup_page(&self.schema, node, new_tuple, new_size, after_bottom_up)?;
        let Some((merged, intervals)) = merged else { return Ok(()) };
        let mut data = Vec::with_capacity(intervals.len() * 4);
        dedup::encode_intervals(&intervals, &mut data);
        let mut edit = cx.edit(&self.file, RmgrId::Btree);
        merged.copy_to(edit.change(page, 0, RegFlags::STANDARD));
        edit.main(&(intervals.len() as u16).to_le_bytes());
        edit.block_data(0, &data);
        edit.log(records::DEDUP)?;
        Ok(())
    }
}

/// Changes the page; shared with redo. Posting lists are replaced first, while offsets are valid.
pub(crate) fn apply_deletion(
    page: page::PageMut<'_>,
    deleted: &[OffsetNo],
    shrunk: &[(OffsetNo, Vec<u8>)],
    vacuum: bool,
) -> Result<()> {
    for (offset, tuple) in shrunk {
        if !index_space::overwrite(page, *offset, tuple)? {
            return Err(PgError::internal("failed to update partially dead item"));
        }
    }
    index_space::delete_many(page, deleted)?;
    if vacuum {
        set_cycle_id(page, 0);
    }
    change_flags(page, 0, BTP_HAS_GARBAGE);
    Ok(())
}

fn push(op: &mut DeleteOp, tid: Tid, off: OffsetNo, dead: bool, promising: bool, space: usize) {
    op.candidates.push(DeleteCandidate {
        tid,
        id: op.candidates.len() as u16,
        index_offset: off,
        deletable: dead,
        promising,
        free_space: space as u16,
    });
}

/// Adds the TIDs of a run of equal items; `true` if it is more than one item.
/// Counterpart: `_bt_bottomupdel_finish_pending`.
fn add_run(op: &mut DeleteOp, node: Node<'_>, run: &Pending) -> bool {
    let duplicates = run.items > 1;
    for off in run.base..run.base + run.items {
        let tuple = node.tuple(off);
        if !tuple.is_posting() {
            let space = node.line_pointer(off).len() + LINE_POINTER;
            push(op, tuple.tid_field(), off, false, duplicates, space);
            continue;
        }
        // At most one TID of a posting list counts as promising: the first or last one, if the
        // middle TID is on the same heap block, so that most of the list is likely to be there.
        let n = tuple.posting_count();
        let (first, middle, last) = (
            tuple.posting_tid(0).block,
            tuple.posting_tid(n / 2).block,
            tuple.posting_tid(n - 1).block,
        );
        let first_promising = duplicates && first == middle;
        let last_promising = duplicates && !first_promising && middle == last;
        for (i, tid) in tuple.tids().enumerate() {
            let promising = (first_promising && i == 0) || (last_promising && i == n - 1);
            push(op, tid, off, false, promising, TID_SIZE);
        }
    }
    duplicates
}
