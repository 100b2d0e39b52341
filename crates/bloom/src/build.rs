//! Creation of an index: pages are filled in order of the table.
//!
//! Counterpart: `blbuild`, `blbuildempty` in blinsert.c.

use crate::index::BloomIndex;
use access::{Cx, IndexBuild, IndexFile, OnDuplicate};
use bufmgr::LOAD_PAGES_MAX;
use ids::BlockNo;
use page::PageBuf;
use page::bloom::{self, BloomPage, META_BLOCK};
use pgerror::{PgError, Result};
use wal::{RegFlags, RmgrId};

const XLOG_FPI: u8 = 0xB0;

impl BloomIndex {
    /// Writes the metapage to an empty fork.
    ///
    /// WAL: XLOG_FPI.
    pub(crate) fn init(&self, cx: &mut Cx<'_>, file: &IndexFile) -> Result<()> {
        let mut meta = PageBuf::new();
        bloom::init_meta(&mut meta, self.new_options());
        let mut page = cx.extend(file)?;
        if page.block() != META_BLOCK {
            return Err(PgError::internal("the file of a new index is not empty"));
        }
        let mut edit = cx.edit(file, RmgrId::Generic);
        meta.copy_to(edit.change(&mut page, 0, RegFlags::FORCE_IMAGE | RegFlags::STANDARD));
        edit.log_as(RmgrId::Xlog, XLOG_FPI)?;
        Ok(())
    }
}

/// A build in progress.
pub(crate) struct BloomBuild<'a> {
    index: &'a BloomIndex,
    /// Pages that are not written yet; the last one is being filled.
    pages: Vec<(BlockNo, PageBuf)>,
    tuple: Vec<u8>,
    count: u64,
}

impl<'a> BloomBuild<'a> {
    pub(crate) fn new(index: &'a BloomIndex) -> BloomBuild<'a> {
        let mut meta = PageBuf::new();
        bloom::init_meta(&mut meta, index.new_options());
        BloomBuild { index, pages: vec![(META_BLOCK, meta)], tuple: Vec::new(), count: 0 }
    }

    fn write(&mut self, cx: &mut Cx<'_>) -> Result<()> {
        (cx.check_interrupts)()?;
        cx.pool.load_pages(&self.index.file.main, &mut self.pages, cx.scratch, cx.xid)
    }

    /// Adds an empty page.
    fn next_page(&mut self, cx: &mut Cx<'_>) -> Result<()> {
        let block = self.pages.last().map_or(META_BLOCK, |(block, _)| BlockNo(block.0 + 1));
        if self.pages.len() == LOAD_PAGES_MAX {
            self.write(cx)?;
            self.pages.clear();
        }
        let mut page = PageBuf::new();
        bloom::init(&mut page, 0);
        self.pages.push((block, page));
        Ok(())
    }
}

impl IndexBuild for BloomBuild<'_> {
    fn add(&mut self, cx: &mut Cx<'_>, entry: &[u8], _dead: bool) -> Result<()> {
        let options = self.index.new_options();
        self.index.form_tuple(options, entry, &mut self.tuple);
        self.count += 1;
        if let Some((_, page)) = self.pages.last_mut()
            && !BloomPage(page).has(bloom::META)
            && bloom::append(page, options, &self.tuple)
        {
            return Ok(());
        }
        self.next_page(cx)?;
        let fits =
            self.pages.last_mut().is_some_and(|(_, p)| bloom::append(p, options, &self.tuple));
        match fits {
            true => Ok(()),
            false => Err(PgError::internal("could not add new bloom tuple to empty page")),
        }
    }

    fn finish(mut self: Box<Self>, cx: &mut Cx<'_>, _on_duplicate: OnDuplicate<'_>) -> Result<u64> {
        self.write(cx)?;
        Ok(self.count)
    }
}
