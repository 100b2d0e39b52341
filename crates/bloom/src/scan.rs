//! Scans, for bitmaps only: all pages are read in the order of the file.
//!
//! Counterpart: blscan.c.

use crate::index::BloomIndex;
use crate::signature;
use access::{AllVisible, Cx, Direction, IndexScan, ScanItem, ScanKey, ScanPage};
use bufmgr::{Pin, Strategy};
use ids::BlockNo;
use page::bloom::{BloomPage, FIRST_BLOCK, is_unused, parts};
use pgerror::{PgError, Result};
use sync::Arc;
use types::DatumRef;

/// Pages that are read at once.
const PAGES: u32 = 16;

enum State {
    Begin,
    /// The next block, the number of blocks, and the bits of the conditions.
    Pages(BlockNo, BlockNo, Vec<u8>),
    End,
}

pub(crate) struct BloomScan {
    index: Arc<BloomIndex>,
    keys: Vec<ScanKey>,
    state: State,
    /// The ring of the scan, since it reads the whole index.
    strategy: Option<Strategy>,
}

impl BloomScan {
    pub(crate) fn new(index: Arc<BloomIndex>, keys: Vec<ScanKey>) -> BloomScan {
        BloomScan { index, keys, state: State::Begin, strategy: None }
    }

    /// The bits that the conditions require; `None` if no row can satisfy them.
    fn wanted(&self, cx: &mut Cx<'_>) -> Result<Option<Vec<u8>>> {
        let options = self.index.options(cx)?;
        let mut wanted = vec![0; 2 * options.words as usize];
        for key in &self.keys {
            let ScanKey::Compare { column, value, .. } = key else {
                return Err(PgError::internal("unexpected condition of a bloom index"));
            };
            match value.as_ref() {
                DatumRef::Null => return Ok(None),
                value => {
                    let hash = self.index.hash(*column, value);
                    signature::add(options, *column, hash, &mut wanted);
                }
            }
        }
        Ok(Some(wanted))
    }

    fn begin(&mut self, cx: &mut Cx<'_>) -> Result<()> {
        self.state = match self.wanted(cx)? {
            Some(wanted) => State::Pages(FIRST_BLOCK, cx.nblocks(&self.index.file)?, wanted),
            None => State::End,
        };
        if self.strategy.is_none() {
            self.strategy = Some(Strategy::bulk_read(cx.pool).like(cx.strategy));
        }
        Ok(())
    }

    /// Reads some pages.
    fn read(&mut self, cx: &mut Cx<'_>, out: &mut ScanPage) -> Result<()> {
        let options = self.index.options(cx)?;
        let State::Pages(next, end, wanted) = &mut self.state else { return Ok(()) };
        let Some(strategy) = &mut self.strategy else { return Ok(()) };
        let stop = BlockNo(next.0.saturating_add(PAGES).min(end.0));
        while next.0 < stop.0 {
            let block = *next;
            let page = cx.pool.read(&self.index.file.main, block, strategy)?.share();
            self.index.check(&page, block)?;
            next.0 += 1;
            if is_unused(&page) {
                continue;
            }
            let tuples = BloomPage(&page).tuples(options);
            let tuples = tuples.ok_or_else(|| self.index.damaged(block))?;
            for tuple in tuples.chunks_exact(options.tuple_size()) {
                let (tid, signature) = parts(tuple);
                if signature::contains(signature, wanted) {
                    out.items.push(ScanItem {
                        tid,
                        offset: 0,
                        all_visible: false,
                        recheck: true,
                        tuple_at: 0,
                    });
                }
            }
        }
        if next.0 >= end.0 {
            self.state = State::End;
        }
        Ok(())
    }
}

impl IndexScan for BloomScan {
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
            State::Begin => self.begin(cx)?,
            State::Pages(..) => {}
        }
        self.read(cx, page)?;
        // The pin has no meaning: the rows are visited with an MVCC snapshot.
        Ok(Some(cx.pin(&self.index.file, page::bloom::META_BLOCK)?))
    }

    fn kill(&mut self, _n: usize, _item: &ScanItem) {}

    fn rescan(&mut self, _cx: &mut Cx<'_>, keys: Vec<ScanKey>) -> Result<()> {
        (self.keys, self.state) = (keys, State::Begin);
        Ok(())
    }

    fn rescan_values(&mut self, _cx: &mut Cx<'_>, values: &[DatumRef<'_>]) -> Result<()> {
        for (key, new) in self.keys.iter_mut().zip(values) {
            if let ScanKey::Compare { value, .. } = key {
                *value = DatumRef::to_owned(*new);
            }
        }
        self.state = State::Begin;
        Ok(())
    }

    fn end(&mut self, _cx: &mut Cx<'_>) -> Result<()> {
        self.state = State::Begin;
        Ok(())
    }
}
