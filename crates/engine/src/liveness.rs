//! Visibility checks in the table on behalf of an index that has latched or pinned a leaf: whether
//! the row of an entry is live, and which entries point to dead rows only.
//!
//! Counterpart: `heap_index_delete_tuples`, `bottomup_sort_and_shrink` in heapam.c,
//! `table_index_fetch_tuple_check` in tableam.c.

use access::{DeleteCandidate, DeleteOp, DirtyState, HeapLiveness};
use bufmgr::{BufferPool, Strategy};
use heap::visibility::{DirtyInfo, Liveness, Visibility};
use heap::{HeapRel, hot_search};
use ids::{BlockNo, OffsetNo, Tid, Xid};
use page::Page;
use pgerror::Result;
use std::cell::Cell;
use txn::{GlobalVis, Snapshot, SnapshotKind, Transaction};
use wal::Wal;

/// Maximum number of heap blocks that one bottom-up deletion visits.
const BOTTOM_UP_BLOCKS_MAX: usize = 6;
/// Maximum distance of blocks that count as contiguous.
const BOTTOM_UP_TOLERANCE: u32 = 3;

pub(crate) struct Probe<'a> {
    pub(crate) pool: &'a BufferPool,
    pub(crate) wal: &'a Wal,
    pub(crate) txn: &'a Transaction,
    pub(crate) rel: &'a HeapRel,
    pub(crate) strategy: Strategy,
    vis: GlobalVis,
}

impl<'a> Probe<'a> {
    pub(crate) fn new(
        pool: &'a BufferPool,
        wal: &'a Wal,
        txn: &'a Transaction,
        rel: &'a HeapRel,
        session: &Strategy,
    ) -> Probe<'a> {
        let vis = txn.global_vis(rel.horizon);
        Probe { pool, wal, txn, rel, strategy: Strategy::normal().like(session), vis }
    }

    fn visibility(&self, page: &Page) -> Visibility<'a> {
        Visibility {
            txn: self.txn,
            manager: self.txn.manager(),
            wal: self.wal,
            permanent: self.rel.is_permanent(),
            page_lsn: page.lsn(),
            committed_xmin: Cell::new(None),
        }
    }

    /// True if a member of the chain is visible to a snapshot of kind `SelfNow`.
    fn is_visible_self(&mut self, tid: Tid) -> Result<bool> {
        let pool = self.pool;
        let guard = pool.read(&self.rel.main, tid.block, &mut self.strategy)?.share();
        let vis = self.visibility(&guard);
        let snapshot = Snapshot::of_kind(SnapshotKind::SelfNow);
        Ok(hot_search(&guard, tid.offset, &vis, &snapshot, None, None, &mut Vec::new())?.is_some())
    }

    /// The member of the HOT chain at `tid` that is visible to a dirty snapshot. The caller keeps
    /// the leaf of the index entry pinned or latched; otherwise `tid` could be reused for another
    /// row.
    pub(crate) fn dirty(&mut self, tid: Tid) -> Result<DirtySearch> {
        let pool = self.pool;
        let guard = pool.read(&self.rel.main, tid.block, &mut self.strategy)?.share();
        let vis = self.visibility(&guard);
        let snapshot = Snapshot::of_kind(SnapshotKind::Dirty);
        loop {
            let (mut dead, mut hints) = (false, Vec::new());
            let all_dead = Some((&mut dead, &mut self.vis));
            let found =
                hot_search(&guard, tid.offset, &vis, &snapshot, all_dead, None, &mut hints)?;
            let header = found.and_then(|f| Some((f.offset, guard.heap_header(f.offset)?)));
            let Some((offset, header)) = header else {
                return Ok(DirtySearch::Dead { all_dead: dead });
            };
            // The transaction on which it depends may have ended since the search. Then the search
            // is repeated, because another member may be visible now.
            if let Some(info) = vis.dirty(&header, &mut 0)? {
                let own = self.txn.is_current(header.raw_xmin);
                let tid = Tid::new(tid.block, offset);
                return Ok(DirtySearch::Live { tid, info, own });
            }
        }
    }
}

/// Result of [`Probe::dirty`].
pub(crate) enum DirtySearch {
    /// No member is live. `all_dead`: all members are dead to all snapshots.
    Dead { all_dead: bool },
    /// A live member. `own`: this transaction inserted the version.
    Live { tid: Tid, info: DirtyInfo, own: bool },
}

impl HeapLiveness for Probe<'_> {
    fn dirty_state(&mut self, tid: Tid) -> Result<DirtyState> {
        let info = match self.dirty(tid)? {
            DirtySearch::Dead { all_dead } => return Ok(DirtyState::Dead { all_dead }),
            DirtySearch::Live { info, .. } => info,
        };
        let token = (info.speculative_token != 0).then_some(info.speculative_token);
        Ok(if info.xmin.is_valid() {
            DirtyState::InProgress { xid: info.xmin, speculative: token }
        } else if info.xmax.is_valid() {
            DirtyState::InProgress { xid: info.xmax, speculative: None }
        } else {
            DirtyState::Live
        })
    }

    fn is_live_self(&mut self, tid: Tid) -> Result<bool> {
        self.is_visible_self(tid)
    }

    fn delete_candidates(&mut self, op: &mut DeleteOp) -> Result<Xid> {
        op.candidates.sort_unstable_by_key(|c| c.tid);
        let mut favorable = 0;
        if op.bottom_up {
            favorable = sort_and_shrink(&mut op.candidates);
        }
        let mut latest_removed = Xid::INVALID;
        let mut target = op.free_space_target;
        let (mut freed, mut freed_before, mut blocks, mut last_deletable) = (0, 0, 0, 0);
        let mut at = 0;
        while at < op.candidates.len() {
            let block = op.candidates[at].tid.block;
            let end = at + op.candidates[at..].iter().take_while(|c| c.tid.block == block).count();
            if op.bottom_up {
                // Stop if nothing could be deleted in the last block. Each further block reduces
                // the target, except the first blocks if they are contiguous.
                if freed >= target || blocks > 0 && freed == freed_before {
                    break;
                }
                if favorable > 0 {
                    favorable -= 1;
                } else if blocks > 0 {
                    target /= 2;
                }
                blocks += 1;
                freed_before = freed;
            }
            let pool = self.pool;
            let guard = pool.read(&self.rel.main, block, &mut self.strategy)?.share();
            let vis = self.visibility(&guard);
            for (i, candidate) in op.candidates.iter_mut().enumerate().take(end).skip(at) {
                let known = candidate.deletable;
                let offset = candidate.tid.offset;
                let removed = chain_removed_xid(&guard, &vis, &mut self.vis, offset, known)?;
                let Some(xid) = removed else { continue };
                if xid.is_valid() && (!latest_removed.is_valid() || latest_removed.precedes(xid)) {
                    latest_removed = xid;
                }
                candidate.deletable = true;
                last_deletable = i + 1;
                freed += usize::from(candidate.free_space);
            }
            at = end;
        }
        if op.bottom_up {
            op.candidates.truncate(last_deletable);
        }
        Ok(latest_removed)
    }
}

/// The newest transaction id that deleted a member of the chain at `start`, if all members are
/// removable (or `known` to be removable); `None` if one is not.
fn chain_removed_xid(
    page: &Page,
    vis: &Visibility<'_>,
    global: &mut GlobalVis,
    start: OffsetNo,
    known: bool,
) -> Result<Option<Xid>> {
    let mut latest = Xid::INVALID;
    let mut advance = |xid: Xid| {
        if xid.is_normal() && (!latest.is_valid() || latest.precedes(xid)) {
            latest = xid;
        }
    };
    let mut offset = start;
    let mut prior = Xid::INVALID;
    let mut at_start = true;
    loop {
        if offset > page.max_offset() {
            break;
        }
        let lp = page.line_pointer(offset);
        if lp.is_redirected() {
            if !at_start {
                break;
            }
            offset = lp.redirect_to();
            at_start = false;
            continue;
        }
        // A dead line pointer: the transaction id was logged when the page was pruned.
        let Some(header) = page.heap_header(offset).filter(|_| lp.is_normal()) else { break };
        if at_start && header.is_heap_only() || prior.is_valid() && prior != header.xmin() {
            break;
        }
        at_start = false;
        if !known {
            let mut hint = 0;
            match vis.liveness(&header, &mut hint)? {
                Liveness::Dead => {}
                Liveness::RecentlyDead(xid) if global.is_removable(vis.manager, xid) => {}
                _ => return Ok(None),
            }
        }
        // Counterpart: HeapTupleHeaderAdvanceLatestRemovedXid.
        let update = vis.update_xid(&header)?;
        let committed = header.xmin_committed()
            || !header.xmin_invalid() && vis.manager.did_commit(header.xmin())?;
        if committed && update != header.xmin() {
            advance(update);
        }
        if !header.is_hot_updated() {
            break;
        }
        prior = update;
        offset = header.ctid.offset;
    }
    Ok(Some(latest))
}

/// Sorts the candidates by the number of promising ones in their block, and keeps those of the best
/// blocks. Returns the number of contiguous blocks at the start. `candidates` are sorted by TID.
fn sort_and_shrink(candidates: &mut Vec<DeleteCandidate>) -> usize {
    struct Group {
        block: BlockNo,
        promising: usize,
        tids: Vec<DeleteCandidate>,
    }
    let mut groups: Vec<Group> = candidates
        .chunk_by(|a, b| a.tid.block == b.tid.block)
        .map(|chunk| {
            let promising = chunk.iter().filter(|c| c.promising).count();
            Group {
                block: chunk[0].tid.block,
                // Rounded, because contiguity of blocks matters more than small differences.
                promising: if promising <= 4 { 4 } else { promising.next_power_of_two() },
                tids: chunk.to_vec(),
            }
        })
        .collect();
    groups.sort_by(|a, b| {
        let size = |g: &Group| g.tids.len().next_power_of_two();
        (b.promising.cmp(&a.promising)).then(size(b).cmp(&size(a))).then(a.block.cmp(&b.block))
    });
    groups.truncate(BOTTOM_UP_BLOCKS_MAX);
    let mut favorable = 0;
    let mut last: Option<BlockNo> = None;
    for group in &groups {
        let near = last.is_none_or(|last| {
            group.block.0 + BOTTOM_UP_TOLERANCE >= last.0
                && group.block.0 <= last.0 + 1 + BOTTOM_UP_TOLERANCE
        });
        if !near {
            break;
        }
        favorable += 1;
        last = Some(group.block);
    }
    *candidates = groups.into_iter().flat_map(|g| g.tids).collect();
    favorable
}
