//! The unique check: searches for live duplicates before an insertion.
//!
//! Counterpart: `_bt_check_unique` in nbtinsert.c.

use crate::buf::{Cx, ShareExclusiveGuard};
use crate::index::Index;
use crate::insert::InsertState;
use access::{DirtyState, HeapLiveness, Inserted, UniqueCheck};
use ids::OffsetNo;
use page::Hints;
use page::btree::{BTP_HAS_GARBAGE, FLAGS_AT, HIGH_KEY, Node};
use pgerror::{Result, pg_err};
use std::cmp::Ordering;

/// The page being checked: the first one, exclusively latched, or one of its right siblings.
enum At<'p> {
    First,
    Right(ShareExclusiveGuard<'p>),
}

/// Result of checking the TIDs of one index tuple.
enum Verdict {
    Next,
    /// All rows are dead to all snapshots.
    AllDead,
    /// The row being inserted is itself dead: no conflict.
    Stop,
    Return(Inserted),
}

impl Index {
    /// Checks all items equal to the key (without TID). `Done`: the insertion continues.
    pub(crate) fn check_unique<'p>(
        &self,
        cx: &mut Cx<'p>,
        state: &mut InsertState<'p, '_>,
        check: UniqueCheck,
        heap: &mut dyn HeapLiveness,
    ) -> Result<Inserted> {
        let mut offset = self.search_page(state)?;
        let strict = state.bounds.map(|b| b.1);
        let mut at = At::First;
        let mut found = false;
        loop {
            let node = match &at {
                At::First => Node(&state.page),
                At::Right(g) => Node(g),
            };
            if offset <= node.max_offset() {
                if matches!(at, At::First) && Some(offset) == strict {
                    break;
                }
                if !node.line_pointer(offset).is_dead() {
                    if self.schema.compare(&state.key, node, offset)? != Ordering::Equal {
                        break;
                    }
                    match self.check_item(state, node, offset, check, &mut found, heap)? {
                        Verdict::Next => {}
                        Verdict::AllDead => mark_dead(cx, state, &mut at, offset),
                        Verdict::Stop => break,
                        Verdict::Return(r) => {
                            if matches!(r, Inserted::Wait { .. }) {
                                state.bounds = None;
                            }
                            return Ok(r);
                        }
                    }
                }
                offset += 1;
                continue;
            }
            // The right sibling has equal items only if the high key is equal too.
            if node.is_rightmost()
                || self.schema.compare(&state.key, node, HIGH_KEY)? != Ordering::Equal
            {
                break;
            }
            let mut next = node.next();
            at = loop {
                if let At::Right(g) = at {
                    drop(g);
                    at = At::First;
                }
                let g = cx.pin(&self.file, next)?.share_exclusive();
                let n = Node(&g);
                if !n.is_ignored() {
                    offset = n.first_data_key();
                    break At::Right(g);
                }
                if n.is_rightmost() {
                    return Err(self.fell_off());
                }
                next = n.next();
            };
        }
        if check == UniqueCheck::Existing && !found {
            return Err(pg_err!(
                INTERNAL_ERROR,
                "failed to re-find tuple within index \"{}\"",
                self.name
            )
            .hint("This may be because of a non-immutable index expression."));
        }
        Ok(Inserted::Done { unique: true })
    }

    fn check_item(
        &self,
        state: &InsertState<'_, '_>,
        node: Node<'_>,
        offset: OffsetNo,
        check: UniqueCheck,
        found: &mut bool,
        heap: &mut dyn HeapLiveness,
    ) -> Result<Verdict> {
        let own = state.tuple.tid_field();
        let mut every_dead = true;
        for tid in node.tuple(offset).tids() {
            if check == UniqueCheck::Existing && tid == own {
                *found = true;
                every_dead = false;
                continue;
            }
            match heap.dirty_state(tid)? {
                DirtyState::Dead { all_dead } => every_dead &= all_dead,
                _ if check == UniqueCheck::Partial => {
                    return Ok(Verdict::Return(Inserted::Done { unique: false }));
                }
                DirtyState::InProgress { xid, speculative } => {
                    return Ok(Verdict::Return(Inserted::Wait { xid, speculative }));
                }
                DirtyState::Live if heap.is_live_self(own)? => {
                    return Ok(Verdict::Return(Inserted::Conflict { tid }));
                }
                DirtyState::Live => return Ok(Verdict::Stop),
            }
        }
        Ok(if every_dead { Verdict::AllDead } else { Verdict::Next })
    }
}

fn mark_dead(cx: &mut Cx<'_>, state: &mut InsertState<'_, '_>, at: &mut At<'_>, offset: OffsetNo) {
    let mark = |hints: Hints<'_>| {
        hints.mark_dead(offset);
        hints.or_u16(FLAGS_AT, BTP_HAS_GARBAGE);
        true
    };
    match at {
        At::First => state.page.set_hints(Some(cx.scratch), mark),
        At::Right(g) => g.set_hints(Some(cx.scratch), mark),
    };
}
