//! The handle of an open index: the cached bucket map, access to pages, look-up of buckets.
//!
//! Counterpart: hashpage.c, hashutil.c.

use access::{Cx, Edit, IndexDef, IndexFile};
use bufmgr::{ExclusiveGuard, Pin, ShareGuard};
use ids::{BlockNo, Oid};
use page::Page;
use page::hash::{
    BucketMap, HashPage, LH_BUCKET_PAGE, LH_META_PAGE, LH_OVERFLOW_PAGE, MAGIC, META_BLOCK, Meta,
    VERSION, is_type,
};
use pgerror::{PgError, Result, pg_err};
use std::ops::Deref;
use sync::{Arc, RwLock};
use types::hash::Hasher;
use wal::RmgrId;

/// An open hash index.
///
/// LOCK ORDER: see `README.md`.
pub struct HashIndex {
    pub(crate) file: IndexFile,
    pub(crate) def: Arc<IndexDef>,
    pub(crate) hasher: Hasher,
    pub(crate) collation: Oid,
    /// The bucket map as of some time; the primary pages show whether it is too old.
    map: RwLock<Option<Box<BucketMap>>>,
}

impl HashIndex {
    pub(crate) fn new(file: IndexFile, def: &Arc<IndexDef>) -> Result<HashIndex> {
        Ok(HashIndex {
            file,
            def: def.clone(),
            hasher: def.hasher(0)?.clone(),
            collation: def.columns[0].collation,
            map: RwLock::new(None),
        })
    }

    /// The hash function, which the meta page names.
    pub(crate) fn function(&self) -> Oid {
        let support = self.def.columns[0].support.iter().find(|s| s.number == 1);
        support.map_or(Oid::INVALID, |s| s.oid)
    }

    pub(crate) fn edit<'s, 'p>(&self, cx: &'s mut Cx<'p>) -> Edit<'s, 'p> {
        cx.edit(&self.file, RmgrId::Hash)
    }

    /// An error unless the page is one of these types. Counterpart: `_hash_checkpage`.
    pub(crate) fn check(&self, page: &Page, block: BlockNo, types: u16) -> Result<()> {
        if page.is_new() {
            let name = &self.def.name;
            return Err(pg_err!(
                INDEX_CORRUPTED,
                "index \"{name}\" contains unexpected zero page at block {block}"
            )
            .hint("Please REINDEX it."));
        }
        let sane = HashPage(page).is_hash() && page.lower() <= page.upper();
        if !sane || page.upper() > page.special() || !is_type(page, types) {
            return Err(self.corrupted(block));
        }
        if types == LH_META_PAGE {
            self.check_meta(Meta(page))?;
        }
        Ok(())
    }

    fn check_meta(&self, meta: Meta<'_>) -> Result<()> {
        let name = &self.def.name;
        if meta.magic() != MAGIC {
            return Err(pg_err!(INDEX_CORRUPTED, "index \"{name}\" is not a hash index"));
        }
        if meta.version() != VERSION {
            return Err(pg_err!(INDEX_CORRUPTED, "index \"{name}\" has wrong hash version")
                .hint("Please REINDEX it."));
        }
        Ok(())
    }

    #[cold]
    pub(crate) fn corrupted(&self, block: BlockNo) -> PgError {
        let name = &self.def.name;
        pg_err!(INDEX_CORRUPTED, "index \"{name}\" contains corrupted page at block {block}")
            .hint("Please REINDEX it.")
    }

    pub(crate) fn share<'p>(
        &self,
        cx: &mut Cx<'p>,
        block: BlockNo,
        types: u16,
    ) -> Result<ShareGuard<'p>> {
        let page = cx.pin(&self.file, block)?.share();
        self.check(&page, block, types)?;
        Ok(page)
    }

    pub(crate) fn exclusive<'p>(
        &self,
        cx: &mut Cx<'p>,
        block: BlockNo,
        types: u16,
    ) -> Result<ExclusiveGuard<'p>> {
        let page = cx.pin(&self.file, block)?.exclusive();
        self.check(&page, block, types)?;
        Ok(page)
    }

    /// The overflow page after a latched page that has one.
    pub(crate) fn page_after<'p>(
        &self,
        cx: &mut Cx<'p>,
        page: &ExclusiveGuard<'p>,
    ) -> Result<ExclusiveGuard<'p>> {
        let next = HashPage(page).next();
        // A page that is its own sibling would be latched twice.
        if next == page.block() {
            return Err(self.corrupted(next));
        }
        self.exclusive(cx, next, LH_OVERFLOW_PAGE)
    }

    pub(crate) fn meta_share<'p>(&self, cx: &mut Cx<'p>) -> Result<ShareGuard<'p>> {
        self.share(cx, META_BLOCK, LH_META_PAGE)
    }

    pub(crate) fn meta_exclusive<'p>(&self, cx: &mut Cx<'p>) -> Result<ExclusiveGuard<'p>> {
        self.exclusive(cx, META_BLOCK, LH_META_PAGE)
    }

    /// A page that the caller initializes: the next one after the end of the file, or one within it
    /// that has no use. Exclusively latched. Counterpart: `_hash_getnewbuf`.
    ///
    /// The caller has the meta page latched exclusively, so nothing else extends the file.
    pub(crate) fn unused_page<'p>(
        &self,
        cx: &mut Cx<'p>,
        file: &IndexFile,
        block: BlockNo,
    ) -> Result<ExclusiveGuard<'p>> {
        let end = cx.nblocks(file)?;
        if block > end {
            let name = &self.def.name;
            return Err(PgError::internal(format!(
                "access to noncontiguous page in hash index \"{name}\""
            )));
        }
        if block == end {
            let page = cx.extend(file)?;
            if page.block() != block {
                let (name, got) = (&self.def.name, page.block());
                return Err(PgError::internal(format!(
                    "unexpected hash relation size of \"{name}\": {got}, should be {block}"
                )));
            }
            return Ok(page);
        }
        let page = cx.pin(file, block)?.exclusive();
        let unused = HashPage(&page).is_hash() && !is_type(&page, page::hash::LH_PAGE_TYPE);
        if !page.is_new() && !unused {
            return Err(self.corrupted(block));
        }
        Ok(page)
    }

    /// Reads the bucket map again. Counterpart: `_hash_getcachedmetap` with a forced refresh.
    pub(crate) fn refresh_map(&self, cx: &mut Cx<'_>) -> Result<()> {
        let page = self.meta_share(cx)?;
        let map = Meta(&page).map();
        drop(page);
        *self.map.write() = Some(Box::new(map));
        Ok(())
    }

    pub(crate) fn forget_map(&self) {
        *self.map.write() = None;
    }

    /// Reads from the cached bucket map.
    pub(crate) fn with_map<T>(&self, cx: &mut Cx<'_>, read: impl Fn(&BucketMap) -> T) -> Result<T> {
        loop {
            if let Some(map) = &*self.map.read() {
                return Ok(read(map));
            }
            self.refresh_map(cx)?;
        }
    }

    /// The primary page of the bucket of a hash code, latched by `latch`. Counterpart:
    /// `_hash_getbucketbuf_from_hashkey`.
    pub(crate) fn find_primary<'p, G: Deref<Target = Page>>(
        &self,
        cx: &mut Cx<'p>,
        hash: u32,
        latch: impl Fn(Pin<'p>) -> G,
    ) -> Result<G> {
        loop {
            let (max_bucket, bucket, block) = self.with_map(cx, |map| {
                let bucket = map.masks.bucket(hash);
                (map.masks.max_bucket, bucket, map.block(bucket))
            })?;
            let page = latch(cx.pin(&self.file, block)?);
            self.check(&page, block, LH_BUCKET_PAGE)?;
            let known = HashPage(&page).max_bucket_at_split() <= max_bucket;
            if known {
                if HashPage(&page).bucket() != bucket {
                    return Err(self.corrupted(block));
                }
                return Ok(page);
            }
            // The bucket was split after the map was read.
            drop(page);
            (cx.check_interrupts)()?;
            self.refresh_map(cx)?;
        }
    }
}

/// Leaves a page of a bucket: an overflow page is unpinned; the pin of the primary page is kept in
/// `primary`, since it protects the chain until the operation ends.
pub(crate) fn leave<'p>(page: ExclusiveGuard<'p>, primary: &mut Option<Pin<'p>>) {
    if is_type(&page, LH_BUCKET_PAGE) {
        *primary = Some(page.into_pin());
    }
}
