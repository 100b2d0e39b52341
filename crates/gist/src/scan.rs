//! Scans. A page is read under a share latch; the children that can have matches are kept, and
//! visited later, together with the LSN of their parent, by which a split in between is recognized.
//!
//! Counterpart: gistget.c, gistscan.c.

use crate::index::GistIndex;
use access::{AllVisible, Cx, Direction, IndexScan, ScanItem, ScanKey, ScanOptions, ScanPage};
use bufmgr::{Pin, ShareGuard};
use ids::{BlockNo, Lsn, OffsetNo};
use page::gist::{self, DELETED, FLAGS_AT, FOLLOW_RIGHT, GistPage, HAS_GARBAGE, ROOT_BLOCK};
use page::index_tuple::IndexTuple;
use pgerror::{PgError, Result, pg_err};
use sync::Arc;
use types::DatumRef;
use types::gist::{Condition, Prepared, Ternary};

/// Pages that are read for one call without a match.
const READS_MAX: u32 = 64;

/// A page to be visited.
#[derive(Clone, Copy, Debug)]
struct Pending {
    block: BlockNo,
    /// The LSN of its parent when the downlink was read; invalid for the root.
    parent_lsn: Lsn,
}

const ROOT: Pending = Pending { block: ROOT_BLOCK, parent_lsn: Lsn::INVALID };

/// The leaf whose matches were returned last, for marking its dead items.
#[derive(Clone, Copy, Debug)]
struct Leaf {
    block: BlockNo,
    lsn: Lsn,
}

pub(crate) struct GistScan {
    index: Arc<GistIndex>,
    keys: Vec<ScanKey>,
    /// By condition.
    prepared: Vec<Prepared>,
    options: ScanOptions,
    begun: bool,
    /// A condition is not true for any row.
    void: bool,
    pending: Vec<Pending>,
    leaf: Option<Leaf>,
    killed: Vec<OffsetNo>,
}

impl GistScan {
    pub(crate) fn new(
        index: Arc<GistIndex>,
        keys: Vec<ScanKey>,
        options: ScanOptions,
    ) -> Result<GistScan> {
        let mut scan = GistScan {
            index,
            keys: Vec::new(),
            prepared: Vec::new(),
            options,
            begun: false,
            void: false,
            pending: Vec::new(),
            leaf: None,
            killed: Vec::new(),
        };
        scan.set_keys(keys)?;
        Ok(scan)
    }

    fn set_keys(&mut self, keys: Vec<ScanKey>) -> Result<()> {
        for key in &keys {
            match key {
                ScanKey::Compare { column, .. }
                | ScanKey::IsNull { column }
                | ScanKey::IsNotNull { column }
                    if *column < self.index.schema.columns.len() => {}
                _ => return Err(PgError::internal("a condition that GiST indexes do not have")),
            }
        }
        self.keys = keys;
        self.keys_changed();
        Ok(())
    }

    fn keys_changed(&mut self) {
        self.prepared = self.keys.iter().map(|_| Prepared::default()).collect();
        self.void = self
            .keys
            .iter()
            .any(|key| matches!(key, ScanKey::Compare { value, .. } if value.is_null()));
    }

    /// Whether a tuple satisfies the conditions, or tuples below it can.
    fn test(&self, tuple: IndexTuple<'_>, leaf: bool) -> Result<Ternary> {
        if !leaf && gist::is_invalid_link(tuple) {
            return Ok(Ternary::Maybe);
        }
        let schema = &self.index.schema;
        let mut result = Ternary::True;
        for (key, prepared) in self.keys.iter().zip(&self.prepared) {
            match key {
                ScanKey::Compare { column, strategy, value, .. } => {
                    let column = *column;
                    let own = schema.key(tuple, column)?;
                    let class = &schema.columns[column];
                    let condition = Condition {
                        column: &class.column,
                        strategy: *strategy,
                        value: value.as_ref(),
                        prepared,
                    };
                    let found = match own.value() {
                        DatumRef::Null => Ternary::False,
                        key => (class.consistent)(&condition, key, leaf)?,
                    };
                    match found {
                        Ternary::False => return Ok(Ternary::False),
                        Ternary::Maybe => result = Ternary::Maybe,
                        Ternary::True => {}
                    }
                }
                // Below a key that is not NULL there may be NULLs; below NULL there are only NULLs.
                ScanKey::IsNull { column }
                    if leaf && !schema.key(tuple, *column)?.value().is_null() =>
                {
                    return Ok(Ternary::False);
                }
                ScanKey::IsNotNull { column } if schema.key(tuple, *column)?.value().is_null() => {
                    return Ok(Ternary::False);
                }
                _ => {}
            }
        }
        Ok(result)
    }

    /// Reads a page: keeps its children, or adds its matches to `out`.
    fn read<'p>(
        &mut self,
        cx: &mut Cx<'p>,
        at: Pending,
        out: &mut ScanPage,
        all_visible: &mut Option<AllVisible<'_>>,
    ) -> Result<ShareGuard<'p>> {
        let index = self.index.clone();
        let page = index.share(cx, at.block)?;
        let own = GistPage(&page);
        let split = own.has(FOLLOW_RIGHT) || at.parent_lsn < own.nsn();
        if at.parent_lsn.is_valid() && split && own.right_link() != BlockNo::INVALID {
            if own.right_link() == at.block {
                return Err(index.corrupted(at.block));
            }
            self.pending.push(Pending { block: own.right_link(), ..at });
        }
        // The tuples of a deleted page had been moved to the right before, or removed.
        if own.has(DELETED) {
            return Ok(page);
        }
        if own.is_leaf() {
            self.leaf = Some(Leaf { block: at.block, lsn: page.lsn() });
            self.read_leaf(&page, out, all_visible)?;
            return Ok(page);
        }
        let (from, lsn) = (self.pending.len(), page.lsn());
        for offset in 1..=page.max_offset() {
            if self.test(own.tuple(offset), false)? != Ternary::False {
                let block = index.child(&page, at.block, offset)?;
                self.pending.push(Pending { block, parent_lsn: lsn });
            }
        }
        // The first child is visited first.
        self.pending[from..].reverse();
        Ok(page)
    }

    fn read_leaf(
        &mut self,
        page: &ShareGuard<'_>,
        out: &mut ScanPage,
        all_visible: &mut Option<AllVisible<'_>>,
    ) -> Result<()> {
        let own = GistPage(page);
        for offset in 1..=page.max_offset() {
            if !self.options.include_killed && page.line_pointer(offset).is_dead() {
                continue;
            }
            let tuple = own.tuple(offset);
            let matches = self.test(tuple, true)?;
            if matches == Ternary::False {
                continue;
            }
            let tid = tuple.tid_field();
            let tuple_at = out.tuples.len() as u32;
            if self.options.want_tuples {
                self.index.schema.fetch(tuple, &mut out.tuples)?;
            }
            out.items.push(ScanItem {
                tid,
                offset,
                all_visible: match all_visible {
                    Some(test) => test(tid.block)?,
                    None => false,
                },
                recheck: matches == Ternary::Maybe,
                tuple_at,
            });
        }
        Ok(())
    }

    /// Marks the items that were found dead, if the page has not changed since it was read.
    /// Counterpart: `gistkillitems`.
    fn mark_killed(&mut self, cx: &mut Cx<'_>) -> Result<()> {
        let killed = std::mem::take(&mut self.killed);
        let Some(leaf) = self.leaf.take().filter(|_| !killed.is_empty()) else { return Ok(()) };
        let mut page = cx.pin(&self.index.file, leaf.block)?.share_exclusive();
        let own = GistPage(&page);
        if page.lsn() != leaf.lsn || !own.is_gist() || !own.is_leaf() || own.has(DELETED) {
            return Ok(());
        }
        let last = page.max_offset();
        page.set_hints(Some(cx.scratch), |hints| {
            let mut changed = false;
            for offset in killed.iter().filter(|offset| **offset <= last) {
                hints.mark_dead(*offset);
                changed = true;
            }
            hints.or_u16(FLAGS_AT, HAS_GARBAGE);
            changed
        });
        Ok(())
    }

    fn restart(&mut self, cx: &mut Cx<'_>) -> Result<()> {
        self.begun = false;
        self.pending.clear();
        self.mark_killed(cx)
    }
}

impl IndexScan for GistScan {
    fn next_page<'p>(
        &mut self,
        cx: &mut Cx<'p>,
        direction: Direction,
        page: &mut ScanPage,
        mut all_visible: Option<AllVisible<'_>>,
    ) -> Result<Option<Pin<'p>>> {
        if direction != Direction::Forward {
            return Err(pg_err!(INTERNAL_ERROR, "GiST only supports forward scan direction"));
        }
        self.mark_killed(cx)?;
        page.clear();
        if !self.begun {
            self.begun = true;
            page.searches += 1;
            self.pending.clear();
            if !self.void {
                self.pending.push(ROOT);
            }
        }
        let mut reads = 0;
        while let Some(at) = self.pending.pop() {
            (cx.check_interrupts)()?;
            let read = self.read(cx, at, page, &mut all_visible)?;
            reads += 1;
            if !page.items.is_empty() || reads == READS_MAX {
                return Ok(Some(read.into_pin()));
            }
        }
        self.begun = false;
        Ok(None)
    }

    fn kill(&mut self, _n: usize, item: &ScanItem) {
        self.killed.push(item.offset);
    }

    fn rescan(&mut self, cx: &mut Cx<'_>, keys: Vec<ScanKey>) -> Result<()> {
        self.restart(cx)?;
        self.set_keys(keys)
    }

    fn rescan_values(&mut self, cx: &mut Cx<'_>, values: &[DatumRef<'_>]) -> Result<()> {
        self.restart(cx)?;
        for (key, new) in self.keys.iter_mut().zip(values) {
            if let ScanKey::Compare { value, .. } = key {
                *value = DatumRef::to_owned(*new);
            }
        }
        self.keys_changed();
        Ok(())
    }

    fn end(&mut self, cx: &mut Cx<'_>) -> Result<()> {
        self.restart(cx)
    }
}
