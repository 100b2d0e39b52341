//! Checks of the structure: the metapage, the kinds and sizes of the other pages, the TIDs.

use crate::index::BloomIndex;
use access::{Cx, OnEntry};
use ids::BlockNo;
use page::bloom::{BloomPage, FIRST_BLOCK, META, META_BLOCK, is_unused, parts};
use pgerror::Result;

impl BloomIndex {
    /// Counterpart of [`access::Index::verify`].
    pub(crate) fn check_structure(&self, cx: &mut Cx<'_>, on_entry: OnEntry<'_>) -> Result<u64> {
        let options = self.options(cx)?;
        let nblocks = cx.nblocks(&self.file)?;
        {
            let meta = cx.pin(&self.file, META_BLOCK)?.share();
            let (start, end) = BloomPage(&meta).list_range();
            let mut listed = (start..end).map(|n| BloomPage(&meta).list_entry(n));
            if !listed.all(|block| (FIRST_BLOCK.0..nblocks.0).contains(&block.0)) {
                return Err(self.damaged(META_BLOCK));
            }
        }
        let mut count = 0;
        for block in (FIRST_BLOCK.0..nblocks.0).map(BlockNo) {
            (cx.check_interrupts)()?;
            let page = cx.pin(&self.file, block)?.share();
            self.check(&page, block)?;
            if is_unused(&page) {
                continue;
            }
            let own = BloomPage(&page);
            let tuples = own.tuples(options).filter(|_| !own.has(META));
            let tuples = tuples.ok_or_else(|| self.damaged(block))?;
            for tuple in tuples.chunks_exact(options.tuple_size()) {
                let (tid, _) = parts(tuple);
                if !tid.is_valid() {
                    return Err(self.damaged(block));
                }
                on_entry(tid)?;
                count += 1;
            }
        }
        Ok(count)
    }
}
