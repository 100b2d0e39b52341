//! The search for live duplicates before an insertion. Counterpart: `_bt_check_unique`.

use crate::Index;
use crate::buf::{Cx, ShareExclusiveGuard};
use crate::insert::{Inserted, Place, UniqueCheck};
use crate::liveness::{DirtyState, HeapLiveness};
use ids::OffsetNo;
use page::Hints;
use page::btree::{BTP_HAS_GARBAGE, FLAGS_AT, HIGH_KEY, Node};
use pgerror::{Result, pg_err};
use std::cmp::Ordering;

/// The page looked at: the first one, latched exclusively, or one of its right neighbours.
enum At<'p> {
    First,
    Right(ShareExclusiveGuard<'p>),
}

/// What the TIDs of one index tuple came to.
enum Verdict {
    Next,
    AllDead,
    /// The tuple being inserted is itself gone: no need to look further.
    Stop,
    Return(Inserted),
}

impl Index {
    /// Looks at all items equal to the key without TID. `Done` goes on with the insertion.
    pub(crate) fn check_unique<'p>(
        &self,
        cx: &mut Cx<'p>,
        place: &mut Place<'p, '_>,
        check: UniqueCheck,
        heap: &mut dyn HeapLiveness,
    ) -> Result<Inserted> {
        let mut offset = self.search_page(place)?;
        let strict = place.bounds.map(|b| b.1);
        let mut at = At::First;
        let mut found = false;
        loop {
            let node = match &at {
                At::First => Node(&place.page),
                At::Right(g) => Node(g),
            };
            if offset <= node.max_offset() {
                if matches!(at, At::First) && Some(offset) == strict {
                    break;
                }
                if !node.line_pointer(offset).is_dead() {
                    if self.schema.compare(&place.key, node, offset)? != Ordering::Equal {
                        break;
                    }
                    match self.judge(place, node, offset, check, &mut found, heap)? {
                        Verdict::Next => {}
                        Verdict::AllDead => mark_dead(cx, place, &mut at, offset),
                        Verdict::Stop => break,
                        Verdict::Return(r) => {
                            if matches!(r, Inserted::Wait { .. }) {
                                place.bounds = None;
                            }
                            return Ok(r);
                        }
                    }
                }
                offset += 1;
                continue;
            }
            // Equal items may go on to the right only if the high key is equal too.
            if node.is_rightmost()
                || self.schema.compare(&place.key, node, HIGH_KEY)? != Ordering::Equal
            {
                break;
            }
            let mut next = node.next();
            at = loop {
                if let At::Right(g) = at {
                    drop(g);
                    at = At::First;
                }
                let g = cx.pin(self, next)?.share_exclusive();
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

    fn judge(
        &self,
        place: &Place<'_, '_>,
        node: Node<'_>,
        offset: OffsetNo,
        check: UniqueCheck,
        found: &mut bool,
        heap: &mut dyn HeapLiveness,
    ) -> Result<Verdict> {
        let own = place.tuple.tid_field();
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

fn mark_dead(cx: &mut Cx<'_>, place: &mut Place<'_, '_>, at: &mut At<'_>, offset: OffsetNo) {
    let mark = |hints: Hints<'_>| {
        hints.mark_dead(offset);
        hints.or_u16(FLAGS_AT, BTP_HAS_GARBAGE);
        true
    };
    match at {
        At::First => place.page.set_hints(Some(cx.scratch), mark),
        At::Right(g) => g.set_hints(Some(cx.scratch), mark),
    };
}
