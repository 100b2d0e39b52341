//! Creation of an index: its root, and the build by insertions. The pages are logged as images when
//! all rows are in.
//!
//! Counterpart: gistbuild.c without its buffers and sorted builds.

use crate::index::{GistIndex, Mode};
use access::{Cx, IndexBuild, IndexFile, OnDuplicate};
use bufmgr::{ExclusiveGuard, LOAD_PAGES_MAX};
use ids::{BlockNo, Fork};
use page::PAGE_SIZE;
use page::gist::{self, BUILD_LSN, LEAF, ROOT_BLOCK};
use pgerror::{PgError, Result};
use wal::{RegFlags, RmgrId};

const XLOG_FPI: u8 = 0xB0;

impl GistIndex {
    /// Writes an empty root to an empty file.
    ///
    /// WAL: XLOG_FPI.
    pub(crate) fn init(&self, cx: &mut Cx<'_>, file: &IndexFile) -> Result<()> {
        let mut root = new_root(cx, file)?;
        let unlogged = match file.main.name().fork == Fork::Init {
            true => None,
            false => self.unlogged_lsn(cx, Mode::NORMAL)?,
        };
        let mut edit = cx.edit(file, RmgrId::Gist);
        gist::init(edit.change(&mut root, 0, RegFlags::FORCE_IMAGE | RegFlags::STANDARD), LEAF);
        match unlogged {
            None => edit.log_as(RmgrId::Xlog, XLOG_FPI)?,
            some => edit.log_or_set(XLOG_FPI, some)?,
        };
        Ok(())
    }

    /// Logs all pages of the index that was built.
    ///
    /// WAL: XLOG_FPI.
    fn log_pages(&self, cx: &mut Cx<'_>) -> Result<()> {
        let end = cx.nblocks(&self.file)?.0;
        let blocks: Vec<u32> = (0..end).collect();
        for run in blocks.chunks(LOAD_PAGES_MAX) {
            (cx.check_interrupts)()?;
            let mut pages: Vec<ExclusiveGuard<'_>> = Vec::with_capacity(run.len());
            for block in run {
                // No other session knows the index yet.
                let page = cx.pin(&self.file, BlockNo(*block))?.exclusive_unordered();
                if !page.is_new() {
                    pages.push(page);
                }
            }
            if pages.is_empty() {
                continue;
            }
            let mut edit = self.edit(cx);
            for (id, page) in (0..).zip(&mut pages) {
                edit.change(page, id, RegFlags::FORCE_IMAGE | RegFlags::STANDARD);
            }
            edit.log_as(RmgrId::Xlog, XLOG_FPI)?;
        }
        Ok(())
    }
}

fn new_root<'p>(cx: &mut Cx<'p>, file: &IndexFile) -> Result<ExclusiveGuard<'p>> {
    let root = cx.extend(file)?;
    match root.block() {
        ROOT_BLOCK => Ok(root),
        _ => Err(PgError::internal("index already contains data")),
    }
}

/// A build in progress.
pub(crate) struct GistBuild<'a> {
    index: &'a GistIndex,
    mode: Mode,
    count: u64,
}

impl<'a> GistBuild<'a> {
    pub(crate) fn new(index: &'a GistIndex, cx: &mut Cx<'_>) -> Result<GistBuild<'a>> {
        let mut root = new_root(cx, &index.file)?;
        let mut edit = index.edit(cx);
        gist::init(edit.change(&mut root, 0, RegFlags::STANDARD), LEAF);
        edit.log_or_set(0, Some(BUILD_LSN))?;
        let reserve = PAGE_SIZE * (100 - index.fillfactor.min(100) as usize) / 100;
        Ok(GistBuild { index, mode: Mode { build: true, reserve }, count: 0 })
    }
}

impl IndexBuild for GistBuild<'_> {
    fn add(&mut self, cx: &mut Cx<'_>, entry: &[u8], _dead: bool) -> Result<()> {
        self.count += 1;
        self.index.insert_tuple(cx, entry, self.mode, None)
    }

    fn finish(self: Box<Self>, cx: &mut Cx<'_>, _on_duplicate: OnDuplicate<'_>) -> Result<u64> {
        if self.index.file.is_logged() {
            self.index.log_pages(cx)?;
        }
        Ok(self.count)
    }
}
