//! Insertion. The metapage lists pages with free space; they are tried in order, and the list is
//! shortened when one of them is full. If none has space, a new page becomes the only one of the
//! list.
//!
//! Counterpart: `blinsert` in blinsert.c.

use crate::index::BloomIndex;
use access::Cx;
use access::generic::{NewContent, change_pages};
use bufmgr::ExclusiveGuard;
use ids::BlockNo;
use page::bloom::{self, BloomPage, META_BLOCK, Options, is_unused};
use page::{Page, PageBuf};
use pgerror::{PgError, Result};

impl BloomIndex {
    /// WAL: GENERIC for the page, and the metapage if its list changes.
    pub(crate) fn insert_entry(&self, cx: &mut Cx<'_>, entry: &[u8]) -> Result<()> {
        let options = self.options(cx)?;
        let mut tuple = Vec::with_capacity(options.tuple_size());
        self.form_tuple(options, entry, &mut tuple);
        let meta = cx.pin(&self.file, META_BLOCK)?.share();
        let (start, end) = BloomPage(&meta).list_range();
        let first = (start < end).then(|| BloomPage(&meta).list_entry(start));
        // Insertions into the first page do not wait for each other at the metapage.
        drop(meta);
        if let Some(block) = first {
            let mut page = self.exclusive(cx, block)?;
            if has_space(&page, options) {
                let change = with_tuple(&mut page, options, &tuple)?;
                return change_pages(cx, &self.file, [change]).map(drop);
            }
        }
        self.insert_elsewhere(cx, options, &tuple, first)
    }

    fn exclusive<'p>(&self, cx: &mut Cx<'p>, block: BlockNo) -> Result<ExclusiveGuard<'p>> {
        let page = cx.pin(&self.file, block)?.exclusive();
        self.check(&page, block)?;
        Ok(page)
    }

    /// Inserts into another page than `full`, under the latch of the metapage.
    fn insert_elsewhere(
        &self,
        cx: &mut Cx<'_>,
        options: &Options,
        tuple: &[u8],
        full: Option<BlockNo>,
    ) -> Result<()> {
        let mut meta = self.exclusive(cx, META_BLOCK)?;
        // The list may have changed.
        let (mut start, end) = BloomPage(&meta).list_range();
        if start < end && full == Some(BloomPage(&meta).list_entry(start)) {
            start += 1;
        }
        for n in start..end {
            let mut page = self.exclusive(cx, BloomPage(&meta).list_entry(n))?;
            if has_space(&page, options) {
                let mut list = NewContent::of(&mut meta);
                bloom::set_list_start(&mut list.content, n);
                let change = with_tuple(&mut page, options, tuple)?;
                return change_pages(cx, &self.file, [list, change]).map(drop);
            }
        }
        let mut page = self.new_page(cx)?;
        let mut content = PageBuf::new();
        bloom::init(&mut content, 0);
        if !bloom::append(&mut content, options, tuple) {
            return Err(PgError::internal("could not add new bloom tuple to empty page"));
        }
        let mut list = NewContent::of(&mut meta);
        bloom::set_list(&mut list.content, &[page.block()]);
        change_pages(cx, &self.file, [list, NewContent::image(&mut page, content)]).map(drop)
    }
}

/// True if a tuple fits on the page. A page that VACUUM has emptied is used again.
fn has_space(page: &Page, options: &Options) -> bool {
    is_unused(page) || BloomPage(page).has_space(options)
}

/// The page with one more tuple.
fn with_tuple<'a, 'p>(
    page: &'a mut ExclusiveGuard<'p>,
    options: &Options,
    tuple: &[u8],
) -> Result<NewContent<'a, 'p>> {
    let mut change = NewContent::of(page);
    if is_unused(&change.content) {
        let lsn = change.content.lsn();
        bloom::init(&mut change.content, 0);
        change.content.set_lsn(lsn);
    }
    match bloom::append(&mut change.content, options, tuple) {
        true => Ok(change),
        false => Err(PgError::internal("could not add new bloom tuple to a page with space")),
    }
}
