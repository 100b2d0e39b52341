//! The handle of an open index: its pages, and the exclusion of concurrent flushes.
//!
//! Counterpart: `GinNewBuffer`, `GinPageIsRecyclable` in ginutil.c and ginvacuum.c.

use crate::key::KeySchema;
use access::{Cx, Edit, IndexDef, IndexFile, is_on};
use bufmgr::{ExclusiveGuard, ShareGuard};
use ids::{BlockNo, FullXid, RelFile};
use page::Page;
use page::gin::{DELETED, GinPage, META_BLOCK};
use pgerror::{PgError, Result, pg_err};
use std::collections::HashSet;
use std::time::Duration;
use sync::{Arc, Mutex, sleep};
use wal::RmgrId;

/// The indexes of an instance whose pending lists are being flushed. Two flushes of one index would
/// remove pages twice. Counterpart: the heavyweight lock of the metapage.
#[derive(Default)]
pub(crate) struct Flushes(Mutex<HashSet<RelFile>>);

impl Flushes {
    /// Begins a flush; `None` if one is running.
    pub(crate) fn try_begin(&self, file: RelFile) -> Option<Flush<'_>> {
        let begun = self.0.lock().insert(file);
        begun.then(|| Flush { flushes: self, file })
    }

    /// Begins a flush, after the running one has ended.
    pub(crate) fn begin(&self, cx: &Cx<'_>, file: RelFile) -> Result<Flush<'_>> {
        loop {
            if let Some(flush) = self.try_begin(file) {
                return Ok(flush);
            }
            (cx.check_interrupts)()?;
            // Flushes are rare and take long.
            sleep(Duration::from_millis(1));
        }
    }
}

/// A running flush.
pub(crate) struct Flush<'a> {
    flushes: &'a Flushes,
    file: RelFile,
}

impl Drop for Flush<'_> {
    fn drop(&mut self) {
        self.flushes.0.lock().remove(&self.file);
    }
}

/// An open GIN index.
///
/// LOCK ORDER: see `README.md`.
pub struct GinIndex {
    pub(crate) file: IndexFile,
    pub(crate) schema: KeySchema,
    pub(crate) flushes: Arc<Flushes>,
    name: Box<str>,
    /// New entries go to the pending list.
    pub(crate) fast_update: bool,
    /// `gin_pending_list_limit` of the index, in bytes.
    pending_list_limit: Option<usize>,
}

impl GinIndex {
    pub(crate) fn new(file: IndexFile, def: &IndexDef, flushes: Arc<Flushes>) -> Result<GinIndex> {
        let limit = def.option("gin_pending_list_limit").and_then(|v| v.parse::<f64>().ok());
        Ok(GinIndex {
            file,
            schema: KeySchema::new(def)?,
            flushes,
            name: def.name.clone(),
            fast_update: def.option("fastupdate").is_none_or(is_on),
            pending_list_limit: limit.map(|kilobytes| kilobytes as usize * 1024),
        })
    }

    /// Bytes of the pending list above which an insertion flushes it.
    pub(crate) fn pending_list_limit(&self, cx: &Cx<'_>) -> usize {
        self.pending_list_limit.unwrap_or(cx.limits.gin_pending_list)
    }

    pub(crate) fn edit<'s, 'p>(&self, cx: &'s mut Cx<'p>) -> Edit<'s, 'p> {
        cx.edit(&self.file, RmgrId::Gin)
    }

    /// An error unless the page is one of a GIN index.
    fn check(&self, page: &Page, block: BlockNo) -> Result<()> {
        if page.is_new() {
            let name = &self.name;
            return Err(pg_err!(
                INDEX_CORRUPTED,
                "index \"{name}\" contains unexpected zero page at block {block}"
            )
            .hint("Please REINDEX it."));
        }
        let sane = GinPage(page).has_special() && page.lower() <= page.upper();
        if !sane || page.upper() > page.special() {
            return Err(self.corrupted(block));
        }
        Ok(())
    }

    #[cold]
    pub(crate) fn corrupted(&self, block: BlockNo) -> PgError {
        let name = &self.name;
        pg_err!(INDEX_CORRUPTED, "index \"{name}\" contains corrupted page at block {block}")
            .hint("Please REINDEX it.")
    }

    /// XX002 if so many pages of a list have been read that it must be circular. Pages that were
    /// removed meanwhile may be at its end again.
    pub(crate) fn check_length(&self, cx: &mut Cx<'_>, pages: &mut u64, at: BlockNo) -> Result<()> {
        *pages += 1;
        match *pages > 2 * u64::from(cx.nblocks(&self.file)?.0) {
            true => Err(self.corrupted(at)),
            false => Ok(()),
        }
    }

    /// XX002, with the location of the damage.
    #[cold]
    pub(crate) fn damage(&self, block: BlockNo, what: &str) -> PgError {
        let name = &self.name;
        pg_err!(INDEX_CORRUPTED, "{what} in index \"{name}\"").detail(format!("Block {block}."))
    }

    #[cold]
    pub(crate) fn internal(&self, what: &str) -> PgError {
        PgError::internal(format!("{what} in index \"{}\"", self.name))
    }

    pub(crate) fn share<'p>(&self, cx: &mut Cx<'p>, block: BlockNo) -> Result<ShareGuard<'p>> {
        let page = cx.pin(&self.file, block)?.share();
        self.check(&page, block)?;
        Ok(page)
    }

    pub(crate) fn exclusive<'p>(
        &self,
        cx: &mut Cx<'p>,
        block: BlockNo,
    ) -> Result<ExclusiveGuard<'p>> {
        let page = cx.pin(&self.file, block)?.exclusive();
        self.check(&page, block)?;
        Ok(page)
    }

    pub(crate) fn meta_share<'p>(&self, cx: &mut Cx<'p>) -> Result<ShareGuard<'p>> {
        self.share(cx, META_BLOCK)
    }

    pub(crate) fn meta_exclusive<'p>(&self, cx: &mut Cx<'p>) -> Result<ExclusiveGuard<'p>> {
        self.exclusive(cx, META_BLOCK)
    }

    /// An error unless a page is of the same kind as its left neighbor, whose flags are given.
    pub(crate) fn check_kind(&self, page: &Page, block: BlockNo, flags: u16) -> Result<()> {
        const KIND: u16 = page::gin::LEAF | page::gin::DATA | page::gin::LIST;
        if GinPage(page).flags() & KIND == flags & KIND {
            return Ok(());
        }
        Err(PgError::internal("right sibling of GIN page is of different type")
            .detail(format!("Block {block} of index \"{}\".", self.name)))
    }

    /// The right neighbor, latched before the page itself is released: so VACUUM cannot delete it
    /// in between. Counterpart: `ginStepRight`.
    pub(crate) fn step_share<'p>(
        &self,
        cx: &mut Cx<'p>,
        page: ShareGuard<'p>,
    ) -> Result<ShareGuard<'p>> {
        let (next, flags) = (GinPage(&page).right_link(), GinPage(&page).flags());
        if next == page.block() {
            return Err(self.corrupted(next));
        }
        let right = self.share(cx, next)?;
        self.check_kind(&right, next, flags)?;
        Ok(right)
    }

    /// As [`GinIndex::step_share`].
    pub(crate) fn step_exclusive<'p>(
        &self,
        cx: &mut Cx<'p>,
        page: ExclusiveGuard<'p>,
    ) -> Result<ExclusiveGuard<'p>> {
        let (next, flags) = (GinPage(&page).right_link(), GinPage(&page).flags());
        if next == page.block() {
            return Err(self.corrupted(next));
        }
        let right = self.exclusive(cx, next)?;
        self.check_kind(&right, next, flags)?;
        Ok(right)
    }

    /// A page without use, which the caller initializes: from the free space map, or a new one.
    pub(crate) fn new_page<'p>(&self, cx: &mut Cx<'p>) -> Result<ExclusiveGuard<'p>> {
        while let Some(block) = cx.take_free_page(&self.file)? {
            // Another session may have taken the page already, and have it latched.
            let Ok(page) = cx.pin(&self.file, block)?.try_exclusive() else { continue };
            if is_recyclable(cx, &page) {
                return Ok(page);
            }
        }
        cx.extend(&self.file)
    }
}

/// True if no scan can reach the page any more.
pub(crate) fn is_recyclable(cx: &Cx<'_>, page: &Page) -> bool {
    if page.is_new() {
        return true;
    }
    if !GinPage(page).has_special() || !GinPage(page).has(DELETED) {
        return false;
    }
    let xid = GinPage(page).delete_xid();
    if !xid.is_valid() {
        return true;
    }
    // The id is one of the last 2^31.
    let next = cx.xids.next_full_xid();
    let full = FullXid::new(next.epoch(), xid);
    let full = if full.0 > next.0 { FullXid(full.0.saturating_sub(1 << 32)) } else { full };
    cx.xids.is_removable(full)
}
