//! Reading single rows by TID: by that of an index entry, whose HOT chain is searched, or by the
//! TID of a row version.
//!
//! Counterpart: `heap_hot_search_buffer`, `heap_fetch`, `heap_get_latest_tid` in heapam.c.

use crate::context::{HeapCx, HeapRel, SetHint};
use crate::prune;
use crate::visibility::{Visibility, update_xid};
use bufmgr::ShareGuard;
use ids::{BlockNo, OffsetNo, Tid, Xid};
use page::{HeapTuple, Page};
use pgerror::Result;
use txn::{GlobalVis, Snapshot};

/// A found chain member.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Fetched {
    /// Its own line pointer, which need not be that of the index entry.
    pub offset: OffsetNo,
    /// Hint bits found for it.
    pub hint: u16,
}

/// Searches the HOT chain from `start` (an index entry's line pointer) for the member that is
/// visible to `snapshot`. `all_dead`: set to whether all members are dead to all snapshots, so that
/// the index entry can be marked dead. `after`: the member found by the previous call, for
/// snapshots to which several members are visible. `hint_others` receives hint bits of other
/// members.
pub fn hot_search(
    page: &Page,
    start: OffsetNo,
    vis: &Visibility<'_>,
    snapshot: &Snapshot,
    mut all_dead: Option<(&mut bool, &mut GlobalVis)>,
    after: Option<OffsetNo>,
    hint_others: &mut Vec<(OffsetNo, u16)>,
) -> Result<Option<Fetched>> {
    let mut offset = after.unwrap_or(start);
    let mut at_start = after.is_none();
    let mut skip = after.is_some();
    let mut prior_xmax = Xid::INVALID;
    if let Some((dead, _)) = &mut all_dead {
        **dead = after.is_none();
    }
    loop {
        let lp = page.line_pointer(offset);
        if !lp.is_normal() {
            // Only the first line pointer of a chain may be a redirect.
            if lp.is_redirected() && at_start {
                offset = lp.redirect_to();
                at_start = false;
                continue;
            }
            return Ok(None);
        }
        let Some(mut h) = page.heap_header(offset) else { return Ok(None) };
        if (at_start && h.is_heap_only()) || (prior_xmax.is_valid() && prior_xmax != h.xmin()) {
            return Ok(None);
        }
        if !skip {
            let mut hint = 0;
            let visible = vis.visible(&h, snapshot, &mut hint)?;
            h.infomask |= hint;
            if visible {
                if let Some((dead, _)) = &mut all_dead {
                    **dead = false;
                }
                return Ok(Some(Fetched { offset, hint }));
            }
            if hint != 0 {
                hint_others.push((offset, hint));
            }
        }
        skip = false;
        if let Some((dead, global)) = &mut all_dead
            && **dead
        {
            **dead = Visibility::surely_dead(&h, |xid| global.is_removable(vis.manager, xid));
        }
        if !h.is_hot_updated() {
            return Ok(None);
        }
        offset = h.ctid.offset;
        at_start = false;
        prior_xmax = update_xid(vis.manager, &h)?;
    }
}

fn set_hints(cx: &mut HeapCx<'_>, guard: &mut ShareGuard<'_>, hints: &[(OffsetNo, u16)]) {
    if !hints.is_empty() {
        guard.try_set_hints(Some(cx.scratch), |h| {
            for &(offset, bits) in hints {
                h.set_infomask(offset, bits);
            }
            true
        });
    }
}

/// Fetches the row of the index entry with `tid` that is visible to `snapshot`; calls `f` with it
/// while its page is share-latched. `all_dead`: see [`hot_search`]. `prune`: prune the page first
/// if that looks worthwhile.
pub fn fetch_tid<'a, R>(
    cx: &mut HeapCx<'a>,
    rel: &HeapRel,
    tid: Tid,
    snapshot: &Snapshot,
    all_dead: Option<&mut bool>,
    prune: bool,
    f: impl FnOnce(Tid, HeapTuple<'_>) -> Result<R>,
) -> Result<Option<R>> {
    let pin = cx.pool.read(&rel.main, tid.block, cx.strategy)?;
    let mut guard = if prune { prune::share_pruned(cx, rel, pin)? } else { pin.share() };
    let mut hints = Vec::new();
    let found = {
        let vis = cx.visibility(rel, guard.lsn());
        let mut global = all_dead.is_some().then(|| cx.txn.global_vis(rel.horizon));
        let dead = all_dead.zip(global.as_mut());
        hot_search(&guard, tid.offset, &vis, snapshot, dead, None, &mut hints)?
    };
    let result = match found {
        None => None,
        Some(found) => {
            if found.hint != 0 {
                hints.push((found.offset, found.hint));
            }
            match guard.heap_tuple(found.offset) {
                Some(tuple) => Some(f(Tid::new(tid.block, found.offset), tuple)?),
                None => None,
            }
        }
    };
    set_hints(cx, &mut guard, &hints);
    Ok(result)
}

/// Calls `f` with the visible rows of the index entries for `offsets` of one block, under one share
/// latch. Counterpart: `heapam_scan_bitmap_next_block`.
pub fn fetch_entries(
    cx: &mut HeapCx<'_>,
    rel: &HeapRel,
    block: BlockNo,
    offsets: &[OffsetNo],
    snapshot: &Snapshot,
    mut f: impl FnMut(Tid, HeapTuple<'_>) -> Result<()>,
) -> Result<()> {
    let pin = cx.pool.read(&rel.main, block, cx.strategy)?;
    let mut guard = prune::share_pruned(cx, rel, pin)?;
    let mut hints = Vec::new();
    {
        let vis = cx.visibility(rel, guard.lsn());
        for &offset in offsets {
            let found = hot_search(&guard, offset, &vis, snapshot, None, None, &mut hints)?;
            let Some(found) = found else { continue };
            if found.hint != 0 {
                hints.push((found.offset, found.hint));
            }
            if let Some(tuple) = guard.heap_tuple(found.offset) {
                f(Tid::new(block, found.offset), tuple)?;
            }
        }
    }
    set_hints(cx, &mut guard, &hints);
    Ok(())
}

/// Calls `f` with the row version at `tid` if it is visible to `snapshot`.
/// Counterpart: `heap_fetch`.
pub fn fetch_row_version<R>(
    cx: &mut HeapCx<'_>,
    rel: &HeapRel,
    tid: Tid,
    snapshot: &Snapshot,
    f: impl FnOnce(HeapTuple<'_>) -> Result<R>,
) -> Result<Option<R>> {
    if tid.block.0 >= cx.pool.nblocks(&rel.main)? {
        return Ok(None);
    }
    let mut guard = cx.pool.read(&rel.main, tid.block, cx.strategy)?.share();
    let mut hint = 0;
    let result = {
        let Some(tuple) = guard.heap_tuple(tid.offset) else { return Ok(None) };
        let vis = cx.visibility(rel, guard.lsn());
        if vis.visible(&tuple.header, snapshot, &mut hint)? { Some(f(tuple)?) } else { None }
    };
    guard.hint(cx.scratch, tid.offset, hint);
    Ok(result)
}

/// The newest version in the update chain from `tid` that is visible to `snapshot`; `tid` itself if
/// there is none. Counterpart: `heap_get_latest_tid`.
pub fn get_latest_tid(
    cx: &mut HeapCx<'_>,
    rel: &HeapRel,
    tid: Tid,
    snapshot: &Snapshot,
) -> Result<Tid> {
    let (mut at, mut latest, mut prior_xmax) = (tid, tid, Xid::INVALID);
    loop {
        if at.block.0 >= cx.pool.nblocks(&rel.main)? {
            return Ok(latest);
        }
        let mut guard = cx.pool.read(&rel.main, at.block, cx.strategy)?.share();
        let Some(h) = guard.heap_header(at.offset) else { return Ok(latest) };
        if prior_xmax.is_valid() && h.xmin() != prior_xmax {
            return Ok(latest);
        }
        let mut hint = 0;
        let next = {
            let vis = cx.visibility(rel, guard.lsn());
            if vis.visible(&h, snapshot, &mut hint)? {
                latest = at;
            }
            let end =
                h.xmax_invalid() || vis.only_locked(&h)? || h.moved_partitions() || h.ctid == at;
            if end { None } else { Some((h.ctid, vis.update_xid(&h)?)) }
        };
        guard.hint(cx.scratch, at.offset, hint);
        match next {
            None => return Ok(latest),
            Some((ctid, xmax)) => (at, prior_xmax) = (ctid, xmax),
        }
    }
}
