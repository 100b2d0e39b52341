//! The order in which a thread latches pages, checked in debug builds. Latches have no deadlock
//! detection: two threads that latch two pages in opposite orders wait for each other forever.
//! Release builds contain no check.
//!
//! LOCK ORDER, for a thread that holds pages and latches one more:
//! - pages of an index before those of its table; of one index from a level to the same or a higher
//!   one, the metapage last, and on one level from left to right;
//! - of a hash index buckets by ascending number, then bitmap pages, then the metapage; pages of
//!   one bucket in any order, since a thread that latches two of them has the bucket's primary page
//!   pinned, which excludes other such threads;
//! - of a GiST index leaves before inner pages, and on one level from left to right;
//! - pages of one table by ascending block, and of no other relation;
//! - a table's page before a page of its visibility map; pages of the free space map last;
//! - a checkpoint or background write that waits for a page holds none.
//!
//! An empty or deleted page is not part of the order: no other thread reaches it from elsewhere.
//! Nor is a latch that is taken only if it is free. Pages of a session's own pool are latched by
//! one thread, and in replay each page by the thread of its partition.

#[cfg(all(debug_assertions, not(loom)))]
pub(crate) use checked::{acquired, none_held, released};

#[cfg(not(all(debug_assertions, not(loom))))]
mod unchecked {
    use super::super::frame::FrameNo;
    use crate::pool::BufferPool;
    use page::Page;

    #[inline(always)]
    pub(crate) fn acquired(_: &BufferPool, _: FrameNo, _: &Page, _: bool) {}
    #[inline(always)]
    pub(crate) fn released(_: &BufferPool, _: FrameNo) {}
    #[inline(always)]
    pub(crate) fn none_held(_: &BufferPool) {}
}
#[cfg(not(all(debug_assertions, not(loom))))]
pub(crate) use unchecked::{acquired, none_held, released};

#[cfg(all(debug_assertions, not(loom)))]
mod checked {
    use crate::frame::{FrameNo, Tag};
    use crate::pool::BufferPool;
    use ids::{BlockNo, Fork};
    use page::btree::Node;
    use page::gist::{self, GistPage};
    use page::hash::{self, HashPage};
    use page::{PAGE_SIZE, Page};
    use std::cell::RefCell;

    /// The kind of a page, as far as the order distinguishes them.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    enum Kind {
        /// Empty or deleted, so that no thread reaches it from elsewhere; or of a kind that is
        /// latched alone.
        Unordered,
        Index {
            level: u32,
            meta: bool,
            next: BlockNo,
        },
        Hash(HashKind),
        Gist {
            leaf: bool,
            next: BlockNo,
        },
        Table,
        VisibilityMap,
        FreeSpace,
    }

    /// Pages of a hash index, in the order of latching.
    #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
    enum HashKind {
        Bucket(u32),
        Bitmap,
        Meta,
    }

    #[derive(Clone, Copy, Debug)]
    struct Held {
        pool: *const BufferPool,
        frame: FrameNo,
        tag: Tag,
        kind: Kind,
    }

    thread_local! {
        static HELD: RefCell<Vec<Held>> = const { RefCell::new(Vec::new()) };
    }

    fn kind(tag: Tag, page: &Page) -> Kind {
        match tag.fork {
            Fork::Fsm => return Kind::FreeSpace,
            Fork::Vm => return Kind::VisibilityMap,
            Fork::Init => return Kind::Unordered,
            Fork::Main if page.is_new() => return Kind::Unordered,
            Fork::Main => {}
        }
        let node = Node(page);
        if page.special() == PAGE_SIZE {
            Kind::Table
        } else if HashPage(page).is_hash() {
            match HashPage(page).flags() & hash::LH_PAGE_TYPE {
                hash::LH_BUCKET_PAGE | hash::LH_OVERFLOW_PAGE => {
                    Kind::Hash(HashKind::Bucket(HashPage(page).bucket()))
                }
                hash::LH_BITMAP_PAGE => Kind::Hash(HashKind::Bitmap),
                hash::LH_META_PAGE => Kind::Hash(HashKind::Meta),
                _ => Kind::Unordered,
            }
        } else if GistPage(page).is_gist() {
            let own = GistPage(page);
            match own.has(gist::DELETED) {
                true => Kind::Unordered,
                false => Kind::Gist { leaf: own.is_leaf(), next: own.right_link() },
            }
        } else if node.has_special() && !node.is_deleted() {
            Kind::Index { level: node.level(), meta: node.is_meta(), next: node.next() }
        } else {
            Kind::Unordered
        }
    }

    /// The rule that forbids latching `new` while `held` is held.
    fn fault(held: &Held, new: &Held) -> Option<&'static str> {
        let same_relation = held.tag.rel == new.tag.rel;
        let ascends = same_relation && held.tag.block < new.tag.block;
        match (held.kind, new.kind) {
            (Kind::Unordered, _) | (_, Kind::Unordered | Kind::FreeSpace) => None,
            (Kind::FreeSpace, _) => Some("a page of the free space map comes last"),
            (Kind::VisibilityMap, Kind::VisibilityMap) if ascends => None,
            (Kind::VisibilityMap, _) => {
                Some("a page of the visibility map comes after its table's")
            }
            (Kind::Table, Kind::VisibilityMap) if same_relation => None,
            (Kind::Table, Kind::VisibilityMap) => Some("the visibility map is another table's"),
            (Kind::Table, Kind::Table) if ascends => None,
            (Kind::Table, Kind::Table) => Some("pages of one table, by ascending block"),
            (Kind::Table, Kind::Index { .. } | Kind::Hash(_) | Kind::Gist { .. }) => {
                Some("an index's page comes before its table's")
            }
            (
                Kind::Index { .. } | Kind::Hash(_) | Kind::Gist { .. },
                Kind::Table | Kind::VisibilityMap,
            ) => None,
            (
                Kind::Index { .. } | Kind::Hash(_) | Kind::Gist { .. },
                Kind::Index { .. } | Kind::Hash(_) | Kind::Gist { .. },
            ) if !same_relation => Some("pages of two indexes"),
            (Kind::Gist { leaf: false, .. }, Kind::Gist { leaf: true, .. }) => {
                Some("a GiST index is climbed from its leaves")
            }
            (Kind::Gist { .. }, Kind::Gist { next, .. }) if next == held.tag.block => {
                Some("pages of one level, from left to right")
            }
            (Kind::Gist { .. }, _) | (_, Kind::Gist { .. }) => None,
            (Kind::Hash(held), Kind::Hash(new)) if new < held => {
                Some("buckets, then bitmaps, then the metapage")
            }
            // One file has pages of one index type.
            (Kind::Hash(_), _) | (_, Kind::Hash(_)) => None,
            (Kind::Index { meta: true, .. }, Kind::Index { .. }) => Some("the metapage comes last"),
            (_, Kind::Index { meta: true, .. }) => None,
            (Kind::Index { level: held_at, .. }, Kind::Index { level, next, .. }) => {
                if level < held_at {
                    Some("an index is climbed from its leaves")
                } else if level == held_at && next == held.tag.block {
                    Some("pages of one level, from left to right")
                } else {
                    None
                }
            }
        }
    }

    /// `waited`: the caller would have waited for another thread's latch; only such a latch can
    /// violate the order.
    pub(crate) fn acquired(pool: &BufferPool, frame: FrameNo, page: &Page, waited: bool) {
        if pool.config.backend.is_some() {
            return;
        }
        let waited = waited && !pool.wal.as_ref().is_some_and(|wal| wal.in_recovery());
        let tag = pool.frames.desc(frame).tag();
        let new = Held { pool, frame, tag, kind: kind(tag, page) };
        let wrong = HELD.with_borrow_mut(|held| {
            let others = held.iter().filter(|h| waited && std::ptr::eq(h.pool, pool));
            let wrong = others.filter_map(|h| Some((fault(h, &new)?, *h))).next();
            held.push(new);
            wrong
        });
        if let Some((why, held)) = wrong
            && !std::thread::panicking()
        {
            panic!("latch order: {:?} held, {:?} latched: {why}", held, new);
        }
    }

    pub(crate) fn released(pool: &BufferPool, frame: FrameNo) {
        if pool.config.backend.is_some() {
            return;
        }
        HELD.with_borrow_mut(|held| {
            let at = held.iter().rposition(|h| std::ptr::eq(h.pool, pool) && h.frame == frame);
            let at = at.expect("a latch is released by the thread that has it");
            held.swap_remove(at);
        });
    }

    pub(crate) fn none_held(pool: &BufferPool) {
        let held = HELD.with_borrow(|held| {
            held.iter().find(|h| std::ptr::eq(h.pool, pool) && h.kind != Kind::Unordered).copied()
        });
        assert!(held.is_none(), "latch order: a write waits while {held:?} is held");
    }

    #[cfg(test)]
    mod tests {
        use super::*;
        use ids::{Oid, RelFile};

        fn held(relation: u32, block: u32, kind: Kind) -> Held {
            let rel = RelFile::new(RelFile::DEFAULT_TABLESPACE, Oid(5), Oid(relation));
            let fork = match kind {
                Kind::VisibilityMap => Fork::Vm,
                Kind::FreeSpace => Fork::Fsm,
                _ => Fork::Main,
            };
            let tag = Tag { rel, fork, block: BlockNo(block) };
            Held { pool: std::ptr::null(), frame: block, tag, kind }
        }

        fn node(relation: u32, block: u32, level: u32, next: u32) -> Held {
            held(relation, block, Kind::Index { level, meta: block == 0, next: BlockNo(next) })
        }

        #[test]
        fn every_pair_of_pages_has_one_order() {
            let (leaf, right) = (node(9, 3, 0, 4), node(9, 4, 0, 0));
            let (root, meta) = (node(9, 7, 1, 0), node(9, 0, 0, 0));
            let (low, high) = (held(1, 2, Kind::Table), held(1, 5, Kind::Table));
            let map = held(1, 0, Kind::VisibilityMap);
            let space = held(1, 0, Kind::FreeSpace);
            let order = [leaf, right, root, meta, low, high, map, space];
            for (i, first) in order.iter().enumerate() {
                for second in &order[i + 1..] {
                    assert_eq!(fault(first, second), None, "{first:?} before {second:?}");
                    assert!(fault(second, first).is_some(), "{second:?} before {first:?}");
                }
            }
            let hash = |kind| held(9, 1, Kind::Hash(kind));
            let kinds =
                [HashKind::Bucket(1), HashKind::Bucket(4), HashKind::Bitmap, HashKind::Meta];
            for (i, first) in kinds.iter().enumerate() {
                for second in &kinds[i + 1..] {
                    assert_eq!(fault(&hash(*first), &hash(*second)), None);
                    assert!(fault(&hash(*second), &hash(*first)).is_some());
                }
            }
            assert_eq!(fault(&hash(kinds[0]), &hash(kinds[0])), None, "pages of one bucket");
            assert_eq!(fault(&hash(HashKind::Meta), &low), None);
            assert!(fault(&low, &hash(kinds[0])).is_some());
            assert!(fault(&low, &held(2, 9, Kind::Table)).is_some(), "two tables");
            assert!(fault(&low, &held(2, 0, Kind::VisibilityMap)).is_some(), "another table's map");
            assert!(fault(&leaf, &node(10, 3, 0, 0)).is_some(), "two indexes");
        }
    }
}
