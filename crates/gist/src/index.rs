//! The handle of an open index: its pages, the LSNs of pages that are not logged, free pages.
//!
//! Counterpart: `gistcheckpage`, `gistNewBuffer`, `gistGetFakeLSN` in gistutil.c.

use crate::records;
use crate::schema::Schema;
use access::{Cx, Edit, IndexDef, IndexFile};
use bufmgr::{ExclusiveGuard, PageEdit, ShareGuard};
use ids::{BlockNo, Lsn, Persistence, RelFile, Xid};
use page::Page;
use page::gist::{BUILD_LSN, DELETED, GistPage, ROOT_BLOCK};
use pgerror::{PgError, Result, pg_err};
use sync::atomic::{AtomicU64, Ordering};
use sync::{Arc, Mutex};
use wal::RmgrId;

/// What the indexes of an instance share.
pub(crate) struct Shared {
    random: AtomicU64,
    /// The last LSN that was given to a page of an index whose changes are not logged yet.
    last_unlogged: Mutex<Lsn>,
}

impl Shared {
    pub(crate) fn new(seed: u64) -> Shared {
        Shared { random: AtomicU64::new(seed), last_unlogged: Mutex::new(Lsn::INVALID) }
    }

    /// A random bit.
    pub(crate) fn coin(&self) -> bool {
        let step = self.random.fetch_add(0x9E37_79B9_7F4A_7C15, Ordering::Relaxed);
        let mixed = (step ^ step >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB) >> 63 != 0
    }
}

/// How insertions change pages.
#[derive(Clone, Copy)]
pub(crate) struct Mode {
    /// Pages are logged at the end of the build, and all have the same LSN until then.
    pub build: bool,
    /// Bytes that stay free on each page.
    pub reserve: usize,
}

impl Mode {
    pub(crate) const NORMAL: Mode = Mode { build: false, reserve: 0 };
}

/// An open GiST index.
///
/// LOCK ORDER: see `README.md`.
pub struct GistIndex {
    pub(crate) file: IndexFile,
    pub(crate) schema: Schema,
    pub(crate) shared: Arc<Shared>,
    rel: RelFile,
    persistence: Persistence,
    name: Box<str>,
    /// In percent.
    pub(crate) fillfactor: u32,
}

const DEFAULT_FILLFACTOR: u32 = 90;

impl GistIndex {
    pub(crate) fn new(file: IndexFile, def: &IndexDef, shared: Arc<Shared>) -> Result<GistIndex> {
        let fillfactor = def.option("fillfactor").and_then(|value| value.parse::<f64>().ok());
        Ok(GistIndex {
            file,
            schema: Schema::new(def)?,
            shared,
            rel: def.file,
            persistence: def.persistence,
            name: def.name.clone(),
            fillfactor: fillfactor.map_or(DEFAULT_FILLFACTOR, |p| p.round_ties_even() as u32),
        })
    }

    pub(crate) fn edit<'s, 'p>(&self, cx: &'s mut Cx<'p>) -> Edit<'s, 'p> {
        cx.edit(&self.file, RmgrId::Gist)
    }

    /// The LSN for pages whose change writes no record; `None` if it writes one. Splits are
    /// recognized by the LSNs of pages, so each change has its own.
    pub(crate) fn unlogged_lsn(&self, cx: &mut Cx<'_>, mode: Mode) -> Result<Option<Lsn>> {
        if mode.build {
            return Ok(Some(BUILD_LSN));
        }
        if self.file.is_logged() {
            return Ok(None);
        }
        if self.persistence != Persistence::Permanent {
            return Ok(Some(cx.unlogged_lsn()));
        }
        // Changes are logged from the commit on, with greater LSNs.
        let mut last = self.shared.last_unlogged.lock();
        let mut now = cx.wal.inserted();
        if now == *last {
            let mut edit = PageEdit::begin(cx.wal, cx.scratch);
            edit.record().mark_unimportant();
            edit.main(&[0; 4]);
            now = edit.log(RmgrId::Gist, records::ASSIGN_LSN, cx.xid)?;
        }
        *last = now;
        Ok(Some(now))
    }

    /// An error unless the page is one of a GiST index.
    fn check(&self, page: &Page, block: BlockNo) -> Result<()> {
        if page.is_new() {
            let name = &self.name;
            return Err(pg_err!(
                INDEX_CORRUPTED,
                "index \"{name}\" contains unexpected zero page at block {block}"
            )
            .hint("Please REINDEX it."));
        }
        let sane = GistPage(page).has_special() && page.lower() <= page.upper();
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

    /// XX002, with the location of the damage.
    #[cold]
    pub(crate) fn damage(&self, block: BlockNo, what: &str) -> PgError {
        let name = &self.name;
        pg_err!(INDEX_CORRUPTED, "{what} in index \"{name}\"").detail(format!("Block {block}."))
    }

    /// The error for a split of another session that ended in the middle.
    #[cold]
    pub(crate) fn incomplete_split(&self) -> PgError {
        PgError::internal("concurrent GiST page split was incomplete")
    }

    #[cold]
    pub(crate) fn lost_parent(&self, child: BlockNo) -> PgError {
        let name = &self.name;
        PgError::internal(format!(
            "failed to re-find parent of a page in index \"{name}\", block {child}"
        ))
    }

    #[cold]
    pub(crate) fn does_not_fit(&self) -> PgError {
        PgError::internal(format!("failed to add item to index page in \"{}\"", self.name))
    }

    /// The error for a downlink that an incomplete split left before PostgreSQL 9.1.
    #[cold]
    pub(crate) fn invalid_link(&self) -> PgError {
        let name = &self.name;
        PgError::internal(format!("index \"{name}\" contains an inner tuple marked as invalid"))
            .detail(
                "This is caused by an incomplete page split at crash recovery before upgrading \
                 to PostgreSQL 9.1.",
            )
            .hint("Please REINDEX it.")
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

    /// The child of a downlink, which is never the root.
    pub(crate) fn child(&self, page: &Page, block: BlockNo, offset: u16) -> Result<BlockNo> {
        match GistPage(page).child(offset) {
            ROOT_BLOCK => Err(self.corrupted(block)),
            child if child == block => Err(self.corrupted(block)),
            child => Ok(child),
        }
    }

    /// A page without use, which the caller initializes: from the free space map, or a new one.
    ///
    /// WAL: PAGE_REUSE.
    pub(crate) fn new_page<'p>(&self, cx: &mut Cx<'p>) -> Result<ExclusiveGuard<'p>> {
        while let Some(block) = cx.take_free_page(&self.file)? {
            // Another session may have taken the page already, and have it latched.
            let Ok(page) = cx.pin(&self.file, block)?.try_exclusive() else { continue };
            if page.is_new() {
                return Ok(page);
            }
            self.check(&page, block)?;
            if is_recyclable(cx, &page) {
                if cx.logs_for_standby(&self.file) {
                    let xid = GistPage(&page).delete_xid();
                    let mut edit = PageEdit::begin(cx.wal, cx.scratch);
                    edit.main(&records::page_reuse(self.rel, block, xid));
                    edit.log(RmgrId::Gist, records::PAGE_REUSE, Xid::INVALID)?;
                }
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
    GistPage(page).has_special()
        && GistPage(page).has(DELETED)
        && cx.xids.is_removable(GistPage(page).delete_xid())
}
