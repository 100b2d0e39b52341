//! Scans, for bitmaps only: first the pending list, then the entry tree. A row that a flush moves
//! in between is found twice; in the opposite order it might not be found.
//!
//! Counterpart: `gingetbitmap`, `scanPendingInsert` in ginget.c.

use crate::index::GinIndex;
use crate::key::{Category, Key, Tuples};
use crate::query::{Clause, Clauses};
use crate::stream::{Matching, Stream};
use access::{AllVisible, Cx, Direction, IndexScan, ScanItem, ScanKey, ScanPage};
use bufmgr::Pin;
use ids::{BlockNo, Tid};
use page::gin::{Entry, GinPage, Item, LIST_FULLROW, META_BLOCK};
use pgerror::Result;
use sync::Arc;
use types::DatumRef;
use types::gin::Ternary;

/// Items that are returned at once.
const ITEMS_MAX: usize = 4096;

enum State {
    Begin,
    /// The trees are being read; the last item returned.
    Trees(Item),
    End,
}

pub(crate) struct GinScan {
    index: Arc<GinIndex>,
    keys: Vec<ScanKey>,
    clauses: Option<Clauses>,
    state: State,
}

impl GinScan {
    pub(crate) fn new(index: Arc<GinIndex>, keys: Vec<ScanKey>) -> GinScan {
        GinScan { index, keys, clauses: None, state: State::Begin }
    }

    /// Reads the pending list, and looks the keys up.
    fn begin(&mut self, cx: &mut Cx<'_>, page: &mut ScanPage) -> Result<()> {
        let mut clauses = Clauses::new(&self.index, &self.keys)?;
        self.state = State::End;
        if !clauses.void {
            self.index.scan_pending(cx, &clauses, page)?;
            clauses.start(&self.index, cx)?;
            self.state = State::Trees(Item::MIN);
        }
        self.clauses = Some(clauses);
        Ok(())
    }

    fn read(&mut self, cx: &mut Cx<'_>, page: &mut ScanPage) -> Result<()> {
        let State::Trees(mut past) = self.state else { return Ok(()) };
        let Some(clauses) = &mut self.clauses else { return Ok(()) };
        while page.items.len() < ITEMS_MAX {
            let Some((item, recheck)) = clauses.next(&self.index, cx, past)? else {
                self.state = State::End;
                return Ok(());
            };
            past = item;
            page.items.push(scan_item(item, recheck));
        }
        self.state = State::Trees(past);
        Ok(())
    }
}

fn scan_item(item: Item, recheck: bool) -> ScanItem {
    let tid = match item.is_lossy() {
        true => ScanItem::whole_block(item.block()),
        false => item.tid(),
    };
    ScanItem { tid, offset: 0, all_visible: false, recheck, tuple_at: 0 }
}

impl IndexScan for GinScan {
    fn next_page<'p>(
        &mut self,
        cx: &mut Cx<'p>,
        _direction: Direction,
        page: &mut ScanPage,
        _all_visible: Option<AllVisible<'_>>,
    ) -> Result<Option<Pin<'p>>> {
        page.clear();
        match self.state {
            State::End => {
                self.state = State::Begin;
                return Ok(None);
            }
            State::Begin => {
                page.searches += 1;
                self.begin(cx, page)?;
            }
            State::Trees(_) => {}
        }
        self.read(cx, page)?;
        // The pin has no meaning: the rows are visited with an MVCC snapshot.
        Ok(Some(cx.pin(&self.index.file, META_BLOCK)?))
    }

    fn kill(&mut self, _n: usize, _item: &ScanItem) {}

    fn rescan(&mut self, _cx: &mut Cx<'_>, keys: Vec<ScanKey>) -> Result<()> {
        self.keys = keys;
        (self.clauses, self.state) = (None, State::Begin);
        Ok(())
    }

    fn rescan_values(&mut self, _cx: &mut Cx<'_>, values: &[DatumRef<'_>]) -> Result<()> {
        for (key, new) in self.keys.iter_mut().zip(values) {
            if let ScanKey::Compare { value, .. } = key {
                *value = DatumRef::to_owned(*new);
            }
        }
        (self.clauses, self.state) = (None, State::Begin);
        Ok(())
    }

    fn end(&mut self, _cx: &mut Cx<'_>) -> Result<()> {
        (self.clauses, self.state) = (None, State::Begin);
        Ok(())
    }
}

impl GinIndex {
    /// Adds the rows of the pending list that satisfy the conditions.
    fn scan_pending(&self, cx: &mut Cx<'_>, clauses: &Clauses, out: &mut ScanPage) -> Result<()> {
        let meta = self.meta_share(cx)?;
        let head = GinPage(&meta).meta().head;
        if head == BlockNo::INVALID {
            return Ok(());
        }
        // Latched before the metapage is released, so that a flush cannot remove it.
        let mut page = self.share(cx, head)?;
        drop(meta);
        let mut row: Vec<u8> = Vec::new();
        let (mut tid, mut pages) = (Tid::INVALID, 0);
        loop {
            self.check_length(cx, &mut pages, page.block())?;
            for offset in 1..=page.max_offset() {
                let tuple = page.item(offset);
                let own = Entry::new(tuple).0.tid_field();
                if own != tid {
                    self.test_row(clauses, &row, tid, out)?;
                    row.clear();
                    tid = own;
                }
                row.extend_from_slice(tuple);
            }
            if GinPage(&page).has(LIST_FULLROW) {
                self.test_row(clauses, &row, tid, out)?;
                row.clear();
                tid = Tid::INVALID;
            }
            if GinPage(&page).is_rightmost() {
                return self.test_row(clauses, &row, tid, out);
            }
            (cx.check_interrupts)()?;
            page = self.step_share(cx, page)?;
        }
    }

    /// Adds a row with these entries if it satisfies the conditions.
    fn test_row(&self, clauses: &Clauses, row: &[u8], tid: Tid, out: &mut ScanPage) -> Result<()> {
        if row.is_empty() {
            return Ok(());
        }
        let mut scratches: Vec<Vec<u8>> = vec![Vec::new(); Tuples(row).count()];
        let mut entries: Vec<Key<'_>> = Vec::with_capacity(scratches.len());
        for (tuple, scratch) in Tuples(row).zip(&mut scratches) {
            entries.push(self.schema.key(Entry::new(tuple), scratch)?);
        }
        let mut present: Vec<Vec<bool>> = Vec::with_capacity(clauses.clauses.len());
        for clause in &clauses.clauses {
            let has = |s: &usize| self.row_has(clause, &clauses.streams[*s], &entries);
            let found: Vec<bool> = clause.streams().iter().map(has).collect();
            if !clause.exclude_only && !found.contains(&true) {
                return Ok(());
            }
            present.push(found);
        }
        let mut recheck = false;
        for (clause, present) in clauses.clauses.iter().zip(&present) {
            match clause.test_known(&self.schema.columns[clause.column], present)? {
                Ternary::False => return Ok(()),
                Ternary::True => {}
                Ternary::Maybe => recheck = true,
            }
        }
        out.items.push(scan_item(Item::of(tid), recheck));
        Ok(())
    }

    /// Whether a stream would have a row with these entries.
    fn row_has(&self, clause: &Clause, stream: &Stream, entries: &[Key<'_>]) -> bool {
        let own = &self.schema.columns[stream.column];
        let mut of_column = entries.iter().filter(|key| key.column == stream.column);
        match stream.matching {
            Matching::Exact => {
                let wanted = stream.key();
                entries.iter().any(|key| self.schema.compare(key, &wanted).is_eq())
            }
            Matching::Partial(_) if stream.category != Category::Normal => false,
            Matching::Partial(n) => of_column.any(|key| {
                key.category == Category::Normal
                    && self.schema.compare(key, &stream.key()).is_ge()
                    && clause.compare_partial(own, n, key.value).is_eq()
            }),
            Matching::NotNull => of_column.any(|key| key.category != Category::NullItem),
            Matching::Everything => of_column.next().is_some(),
        }
    }
}
