//! pg_subtrans: the parent of each running subtransaction. Zeroed at start, not logged.
//!
//! Counterpart: subtrans.c.

use crate::slru::Slru;
use ids::Xid;
use pgerror::Result;
use sync::Arc;
use vfs::Disk;
use wal::Wal;

const XACTS_PER_PAGE: u32 = 2048;

pub(crate) struct Subtrans {
    slru: Slru,
}

const fn page_of(xid: Xid) -> u32 {
    xid.0 / XACTS_PER_PAGE
}

fn page_precedes(a: u32, b: u32) -> bool {
    let first = |page: u32| Xid((page.wrapping_mul(XACTS_PER_PAGE)).wrapping_add(3 + 1));
    let (a, b) = (first(a), first(b));
    a.precedes(b) && a.precedes(Xid(b.0.wrapping_add(XACTS_PER_PAGE - 1)))
}

fn offset_of(xid: Xid) -> usize {
    (xid.0 % XACTS_PER_PAGE) as usize * 4
}

impl Subtrans {
    pub(crate) fn new(disk: Arc<dyn Disk>, wal: Arc<Wal>, pages: usize) -> Subtrans {
        Subtrans { slru: Slru::new(disk, wal, "pg_subtrans", pages, 0, false, page_precedes) }
    }

    /// Zeroes the pages that running transactions may use.
    pub(crate) fn startup(&self, oldest_active: Xid, next: Xid) -> Result<()> {
        let (mut page, end) = (page_of(oldest_active), page_of(next));
        loop {
            self.slru.zero_page(page)?;
            if page == end {
                return Ok(());
            }
            page = if page == u32::MAX / XACTS_PER_PAGE { 0 } else { page + 1 };
        }
    }

    pub(crate) fn extend(&self, xid: Xid) -> Result<()> {
        if xid.0.is_multiple_of(XACTS_PER_PAGE) || xid == Xid::FIRST_NORMAL {
            self.slru.zero_page(page_of(xid))?;
        }
        Ok(())
    }

    pub(crate) fn set_parent(&self, xid: Xid, parent: Xid) -> Result<()> {
        let held = self.slru.hold(page_of(xid), &|| format!("transaction {xid}"))?;
        held.set_u32(offset_of(xid), parent.0);
        Ok(())
    }

    pub(crate) fn parent(&self, xid: Xid) -> Result<Xid> {
        if !xid.is_normal() {
            return Ok(Xid::INVALID);
        }
        let offset = offset_of(xid);
        let subject = || format!("transaction {xid}");
        let (word, _) = self.slru.read(page_of(xid), offset, None, &subject)?;
        Ok(Xid((word >> (offset % 8 * 8)) as u32))
    }

    pub(crate) fn bootstrap(&self) -> Result<()> {
        self.slru.zero_page(0)?;
        self.slru.write_page(0)
    }

    pub(crate) fn checkpoint(&self) -> Result<()> {
        self.slru.checkpoint()
    }

    pub(crate) fn truncate(&self, oldest: Xid) -> Result<()> {
        // `oldest` may be the next id, whose page need not exist yet; hence its predecessor.
        self.slru.truncate(page_of(oldest.prev()))
    }
}
