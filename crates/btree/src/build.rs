//! Index build: loads sorted tuples into new pages, which are logged and written in batches.
//!
//! Counterpart: nbtsort.c.

use crate::buf::{Cx, RegFlags, RmgrId};
use crate::bulk::BulkLoader;
use crate::index::Index;
use crate::sort::Sorter;
use access::{IndexFile, OnDuplicate};
use bufmgr::LOAD_PAGES_MAX;
use ids::BlockNo;
use page::PageBuf;
use page::btree::{META_BLOCK, Meta, NONE};
use page::index_tuple::IndexTuple;
use pgerror::Result;
use std::cmp::Ordering;

const XLOG_FPI: u8 = 0xB0;

impl Index {
    /// Fills the new index, whose file is empty, with the sorter's tuples. Returns their number.
    /// WAL: full-page images of all pages (`BufferPool::load_pages`).
    pub fn build(
        &self,
        cx: &mut Cx<'_>,
        sorter: Sorter<'_>,
        on_duplicate: OnDuplicate<'_>,
    ) -> Result<u64> {
        let count = sorter.len();
        let check_interrupts = cx.check_interrupts;
        // Pages finish out of block order: a page of an upper level gets its block number long
        // before it is full.
        let mut finished: Vec<(BlockNo, PageBuf)> = Vec::with_capacity(LOAD_PAGES_MAX);
        let mut sink = |block: BlockNo, page: PageBuf| {
            finished.push((block, page));
            if finished.len() < LOAD_PAGES_MAX && block != META_BLOCK {
                return Ok(());
            }
            check_interrupts()?;
            finished.sort_unstable_by_key(|(block, _)| *block);
            cx.pool.load_pages(&self.file.main, &mut finished, cx.scratch, cx.xid)?;
            finished.clear();
            Ok(())
        };
        let mut loader = BulkLoader::new(&self.schema, &self.name, &self.table_name, &mut sink);
        let mut last_live: Vec<u8> = Vec::new();
        sorter.finish(&mut |tuple, dead| {
            if self.schema.unique && !dead {
                if !last_live.is_empty() {
                    let last = IndexTuple::new(&last_live);
                    if self.conflicts(last, tuple)? {
                        return Err(on_duplicate(last, tuple));
                    }
                }
                last_live.clear();
                last_live.extend_from_slice(tuple.bytes());
            }
            loader.add(tuple.bytes())
        })?;
        loader.finish()?;
        self.forget_caches();
        Ok(count)
    }

    /// Writes the only page of an index without tuples, its meta page, to an empty fork.
    /// WAL: XLOG_FPI.
    pub fn build_empty(&self, cx: &mut Cx<'_>, file: &IndexFile) -> Result<()> {
        let mut meta = PageBuf::new();
        Meta::new(NONE, 0, self.schema.allequalimage).init(&mut meta);
        let mut guard = cx.extend(file)?;
        let mut edit = cx.edit(file, RmgrId::Btree);
        meta.copy_to(edit.change(&mut guard, 0, RegFlags::FORCE_IMAGE | RegFlags::STANDARD));
        edit.log_as(RmgrId::Xlog, XLOG_FPI)?;
        Ok(())
    }

    /// True if the keys are equal, and not distinct because of a NULL.
    fn conflicts(&self, a: IndexTuple<'_>, b: IndexTuple<'_>) -> Result<bool> {
        if self.schema.compare_keys(a, b)? != Ordering::Equal {
            return Ok(false);
        }
        let null = a.has_nulls() && (0..self.schema.key_count).any(|n| a.is_null(n));
        Ok(!null || self.schema.nulls_not_distinct)
    }
}
