//! The handle of an open index: definition, caches, meta page, latching and allocation of pages.
//!
//! Counterpart: nbtpage.c.

use crate::buf::{Cx, ExclusiveGuard, RegFlags, RmgrId, ShareGuard};
use crate::cycle::VacuumCycles;
use crate::records;
use crate::schema::KeySchema;
use access::IndexFile;
use bufmgr::BufferPool;
use ids::{BlockNo, Persistence, RelFile};
use page::Page;
use page::btree::{
    BTP_LEAF, BTP_ROOT, MAGIC, META_BLOCK, MIN_VERSION, Meta, NONE, Node, Opaque, VERSION,
};
use pgerror::{PgError, Result, pg_err};
use std::ops::Deref;
use sync::Arc;
use sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// An open index. Sessions should share one per relation, because it holds caches.
///
/// LOCK ORDER: latches on pages of one level from left to right; a child before its parent; the
/// meta page last. A page from the free space map is latched without waiting.
pub struct Index {
    pub(crate) file: IndexFile,
    /// For messages.
    pub name: String,
    pub table_name: String,
    pub schema: KeySchema,
    pub(crate) cycles: Arc<VacuumCycles>,
    /// Block of the fast root in the lower half, its level + 1 in the upper half; 0: not known.
    fast_root: AtomicU64,
    /// The rightmost leaf, which insertions try first; 0: none.
    pub(crate) last_leaf: AtomicU32,
}

/// A page latched in either mode.
pub(crate) enum Latched<'p> {
    Share(ShareGuard<'p>),
    Exclusive(ExclusiveGuard<'p>),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Access {
    Read,
    Write,
}

impl Deref for Latched<'_> {
    type Target = Page;
    #[inline]
    fn deref(&self) -> &Page {
        match self {
            Latched::Share(g) => g,
            Latched::Exclusive(g) => g,
        }
    }
}

impl<'p> Latched<'p> {
    pub(crate) fn node(&self) -> Node<'_> {
        Node(self)
    }

    pub(crate) fn block(&self) -> BlockNo {
        match self {
            Latched::Share(g) => g.block(),
            Latched::Exclusive(g) => g.block(),
        }
    }

    /// The guard with the exclusive latch. A shared latch is released first, so the page may change
    /// in between.
    pub(crate) fn into_exclusive(self) -> ExclusiveGuard<'p> {
        match self {
            Latched::Share(g) => g.into_pin().exclusive(),
            Latched::Exclusive(g) => g,
        }
    }

    pub(crate) fn into_share(self) -> ShareGuard<'p> {
        match self {
            Latched::Share(g) => g,
            Latched::Exclusive(g) => g.into_pin().share(),
        }
    }
}

impl Index {
    /// Opens the index `rel` in `pool`. Does not read the file.
    pub fn open(
        pool: &BufferPool,
        rel: RelFile,
        persistence: Persistence,
        name: &str,
        table_name: &str,
        schema: KeySchema,
        cycles: Arc<VacuumCycles>,
    ) -> Index {
        Index {
            file: IndexFile::open(pool, rel, persistence),
            name: name.to_owned(),
            table_name: table_name.to_owned(),
            schema,
            cycles,
            fast_root: AtomicU64::new(0),
            last_leaf: AtomicU32::new(0),
        }
    }

    /// Clears the caches, after the file was replaced or truncated.
    pub fn forget_caches(&self) {
        self.fast_root.store(0, Ordering::Relaxed);
        self.last_leaf.store(0, Ordering::Relaxed);
    }

    /// An error if the page is not a valid B-tree page. Counterpart: `_bt_checkpage`.
    fn check_page(&self, page: &Page, block: BlockNo) -> Result<()> {
        if page.is_new() {
            return Err(pg_err!(
                INDEX_CORRUPTED,
                "index \"{}\" contains unexpected zero page at block {block}",
                self.name
            )
            .hint("Please REINDEX it."));
        }
        // A page that is its own sibling would make a scan loop.
        let node = Node(page);
        let own = block.0 != 0 && (node.next() == block || node.prev() == block);
        let no_high_key = !node.is_rightmost() && node.max_offset() == 0;
        if !node.has_special() || (own || no_high_key) && !node.is_deleted() {
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

    pub(crate) fn share<'p>(&self, cx: &mut Cx<'p>, block: BlockNo) -> Result<ShareGuard<'p>> {
        let g = cx.pin(&self.file, block)?.share();
        self.check_page(&g, block)?;
        Ok(g)
    }

    pub(crate) fn exclusive<'p>(
        &self,
        cx: &mut Cx<'p>,
        block: BlockNo,
    ) -> Result<ExclusiveGuard<'p>> {
        let g = cx.pin(&self.file, block)?.exclusive();
        self.check_page(&g, block)?;
        Ok(g)
    }

    pub(crate) fn latch<'p>(
        &self,
        cx: &mut Cx<'p>,
        block: BlockNo,
        access: Access,
    ) -> Result<Latched<'p>> {
        Ok(match access {
            Access::Read => Latched::Share(self.share(cx, block)?),
            Access::Write => Latched::Exclusive(self.exclusive(cx, block)?),
        })
    }

    /// Reads the metadata from a latched meta page. Counterpart: `_bt_getmeta`.
    pub(crate) fn read_meta(&self, page: &Page) -> Result<Meta> {
        let meta = Meta::read(page);
        if !Node(page).is_meta() || meta.magic != MAGIC {
            return Err(pg_err!(INDEX_CORRUPTED, "index \"{}\" is not a btree", self.name));
        }
        if meta.version < MIN_VERSION || meta.version > VERSION {
            return Err(pg_err!(
                INDEX_CORRUPTED,
                "version mismatch in index \"{}\": file version {}, current version {VERSION}, \
                 minimal supported version {MIN_VERSION}",
                self.name,
                meta.version
            ));
        }
        // The duplicates of versions 2 and 3 are not in the order of their TIDs: a scan by the
        // rules of version 4 would miss some.
        if meta.version < VERSION {
            return Err(pg_err!(
                FEATURE_NOT_SUPPORTED,
                "index \"{}\" has version {} of the B-tree format, which is not supported",
                self.name,
                meta.version
            )
            .hint("REINDEX it."));
        }
        Ok(meta)
    }

    /// Reads the metadata, with the format version and `allequalimage`.
    /// Counterpart: `_bt_metaversion`.
    pub fn meta(&self, cx: &mut Cx<'_>) -> Result<Meta> {
        let g = self.share(cx, META_BLOCK)?;
        self.read_meta(&g)
    }

    /// Allocates a page, which the caller initializes: a recycled one or a new one at the end of
    /// the file. Returns it exclusively latched. Counterpart: `_bt_getbuf(P_NEW)`.
    pub(crate) fn allocate<'p>(&self, cx: &mut Cx<'p>) -> Result<ExclusiveGuard<'p>> {
        while let Some(block) = cx.take_free_page(&self.file)? {
            if block.0 >= cx.nblocks(&self.file)?.0 {
                continue;
            }
            // LOCK ORDER: no wait here, since the holder of the latch may be waiting for a page
            // that the caller has latched.
            let Ok(g) = cx.pin(&self.file, block)?.try_exclusive() else { continue };
            if g.is_new() {
                return Ok(g);
            }
            let node = Node(&g);
            if node.has_special() && node.is_deleted() && cx.xids.is_removable(node.delete_xid()) {
                if cx.logs_for_standby(&self.file) {
                    self.log_reuse(cx, block, node.delete_xid())?;
                }
                return Ok(g);
            }
        }
        cx.extend(&self.file)
    }

    /// WAL: REUSE_PAGE, a conflict point for standbys only. Counterpart: `_bt_log_reuse_page`.
    fn log_reuse(&self, cx: &mut Cx<'_>, block: BlockNo, safe_xid: ids::FullXid) -> Result<()> {
        let mut edit = cx.edit(&self.file, RmgrId::Btree);
        let mut data = [0; 24];
        data[0..4].copy_from_slice(&self.file.rel.tablespace.0.to_le_bytes());
        data[4..8].copy_from_slice(&self.file.rel.database.0.to_le_bytes());
        data[8..12].copy_from_slice(&self.file.rel.relnumber.0.to_le_bytes());
        data[12..16].copy_from_slice(&block.0.to_le_bytes());
        data[16..24].copy_from_slice(&safe_xid.0.to_le_bytes());
        edit.main(&data);
        edit.log(records::REUSE_PAGE)?;
        Ok(())
    }

    /// Level of the fast root; 0 if it is not cached. Counterpart: `_bt_getrootheight`.
    pub(crate) fn cached_height(&self) -> u32 {
        ((self.fast_root.load(Ordering::Relaxed) >> 32) as u32).saturating_sub(1)
    }

    /// Height of the tree for the planner: level of the fast root, 0 for an empty index.
    pub fn height(&self, cx: &mut Cx<'_>) -> Result<u32> {
        if self.fast_root.load(Ordering::Relaxed) == 0 {
            let meta = self.meta(cx)?;
            if meta.root == NONE {
                return Ok(0);
            }
            self.cache_fast_root(&meta);
        }
        Ok(self.cached_height())
    }

    fn cache_fast_root(&self, meta: &Meta) {
        let word = u64::from(meta.fast_root.0) | u64::from(meta.fast_level + 1) << 32;
        self.fast_root.store(word, Ordering::Relaxed);
    }

    /// The page where descents start, share-latched. If the index is empty: `None` for reading, a
    /// new root for writing. Counterpart: `_bt_getroot`.
    pub(crate) fn root<'p>(
        &self,
        cx: &mut Cx<'p>,
        access: Access,
    ) -> Result<Option<ShareGuard<'p>>> {
        let cached = self.fast_root.load(Ordering::Relaxed);
        if cached != 0 {
            let (block, level) = (BlockNo(cached as u32), (cached >> 32) as u32 - 1);
            let g = cx.pin(&self.file, block)?.share();
            let node = Node(&g);
            // The page may have been split, deleted or reused since it was cached. A live page of
            // this level without siblings is the only page of the level, so a descent may start
            // there.
            let good = !g.is_new()
                && node.has_special()
                && !node.is_ignored()
                && !node.is_meta()
                && node.level() == level
                && node.is_leftmost()
                && node.is_rightmost();
            if good {
                return Ok(Some(g));
            }
            drop(g);
            self.fast_root.store(0, Ordering::Relaxed);
        }
        let meta_page = self.share(cx, META_BLOCK)?;
        let meta = self.read_meta(&meta_page)?;
        drop(meta_page);
        if meta.root == NONE {
            return match access {
                Access::Read => Ok(None),
                Access::Write => self.make_root(cx).map(Some),
            };
        }
        self.cache_fast_root(&meta);
        self.live_page(cx, meta.fast_root, meta.fast_level).map(Some)
    }

    /// The true root, share-latched. Counterpart: `_bt_gettrueroot`.
    pub(crate) fn true_root<'p>(&self, cx: &mut Cx<'p>) -> Result<Option<ShareGuard<'p>>> {
        let meta = self.meta(cx)?;
        if meta.root == NONE {
            return Ok(None);
        }
        self.live_page(cx, meta.root, meta.level).map(Some)
    }

    /// `block` or the first page to the right of it that is neither deleted nor half-dead.
    fn live_page<'p>(&self, cx: &mut Cx<'p>, block: BlockNo, level: u32) -> Result<ShareGuard<'p>> {
        let mut at = block;
        loop {
            let g = self.share(cx, at)?;
            let node = Node(&g);
            if !node.is_ignored() {
                if node.level() != level {
                    return Err(pg_err!(
                        INTERNAL_ERROR,
                        "root page {at} of index \"{}\" has level {}, expected {level}",
                        self.name,
                        node.level()
                    ));
                }
                return Ok(g);
            }
            if node.is_rightmost() {
                return Err(pg_err!(
                    INTERNAL_ERROR,
                    "no live root page found in index \"{}\"",
                    self.name
                ));
            }
            at = node.next();
        }
    }

    /// Makes the first root, an empty leaf. WAL: NEWROOT without items.
    fn make_root<'p>(&self, cx: &mut Cx<'p>) -> Result<ShareGuard<'p>> {
        let mut meta_page = self.exclusive(cx, META_BLOCK)?;
        let old = self.read_meta(&meta_page)?;
        if old.root != NONE {
            drop(meta_page);
            return match self.root(cx, Access::Write)? {
                Some(g) => Ok(g),
                None => Err(pg_err!(INTERNAL_ERROR, "root of index \"{}\" vanished", self.name)),
            };
        }
        let mut root_page = self.allocate(cx)?;
        let root = root_page.block();
        let meta = Meta::new(root, 0, old.allequalimage);
        let mut edit = cx.edit(&self.file, RmgrId::Btree);
        let page = edit.change(&mut root_page, 0, RegFlags::WILL_INIT);
        page::btree::init(page);
        Opaque { flags: BTP_LEAF | BTP_ROOT, ..Opaque::default() }.set(page);
        let page = edit.change(&mut meta_page, 2, RegFlags::WILL_INIT | RegFlags::STANDARD);
        meta.write(page);
        edit.block_data(2, &records::metadata(&meta));
        edit.main(&root.0.to_le_bytes());
        edit.main(&0u32.to_le_bytes());
        edit.log(records::NEWROOT)?;
        drop(meta_page);
        Ok(root_page.into_pin().share())
    }

    #[cold]
    pub(crate) fn fell_off(&self) -> pgerror::PgError {
        pg_err!(INTERNAL_ERROR, "fell off the end of index \"{}\"", self.name)
    }
}
