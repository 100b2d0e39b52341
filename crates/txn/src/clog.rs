//! pg_xact: the commit status of each transaction id, two bits per id.
//!
//! A commit whose subtransaction ids are on several pages is made atomic by the sub-committed
//! state: the ids on other pages get it, which refers readers to the parent, before the parent's
//! own status is set.
//!
//! Counterpart: clog.c, transam.c.

use crate::manager::XidStatus;
use crate::slru::Slru;
use ids::{Lsn, Oid, Xid};
use pgerror::Result;
use sync::Arc;
use vfs::Disk;
use wal::{RecordBuilder, RmgrId, Wal};

pub(crate) const XACTS_PER_PAGE: u32 = 8192 * 4;
const XACTS_PER_GROUP: u32 = 32;

pub(crate) const CLOG_ZEROPAGE: u8 = 0x00;
pub(crate) const CLOG_TRUNCATE: u8 = 0x10;

pub(crate) struct Clog {
    pub(crate) slru: Slru,
    wal: Arc<Wal>,
}

pub(crate) const fn page_of(xid: Xid) -> u32 {
    xid.0 / XACTS_PER_PAGE
}

/// True if every id of one page is before every id of the other.
fn page_precedes(a: u32, b: u32) -> bool {
    let first = |page: u32| Xid((page.wrapping_mul(XACTS_PER_PAGE)).wrapping_add(3 + 1));
    let (a, b) = (first(a), first(b));
    a.precedes(b) && a.precedes(Xid(b.0.wrapping_add(XACTS_PER_PAGE - 1)))
}

fn group_of(xid: Xid) -> usize {
    (xid.0 % XACTS_PER_PAGE / XACTS_PER_GROUP) as usize
}

impl Clog {
    pub(crate) fn new(disk: Arc<dyn Disk>, wal: Arc<Wal>, pages: usize) -> Clog {
        let groups = (XACTS_PER_PAGE / XACTS_PER_GROUP) as usize;
        Clog {
            slru: Slru::new(disk, wal.clone(), "pg_xact", pages, groups, true, page_precedes),
            wal,
        }
    }

    /// The id's status, and the LSN up to which the log must be flushed before the status may be
    /// copied to a hint bit (invalid if it is known to be flushed).
    #[inline]
    pub(crate) fn get(&self, xid: Xid) -> Result<(XidStatus, Lsn)> {
        let offset = (xid.0 % XACTS_PER_PAGE / 4) as usize;
        let subject = || format!("transaction {xid}");
        let (word, lsn) = self.slru.read(page_of(xid), offset, Some(group_of(xid)), &subject)?;
        let bits = word >> (offset % 8 * 8 + (xid.0 % 4) as usize * 2) & 3;
        let status = match bits {
            0 => XidStatus::InProgress,
            1 => XidStatus::Committed,
            2 => XidStatus::Aborted,
            _ => XidStatus::SubCommitted,
        };
        Ok((status, lsn))
    }

    /// Sets the final status of a transaction with its subtransactions; `lsn` is valid for an
    /// asynchronous commit. Counterpart: `TransactionIdSetTreeStatus`.
    pub(crate) fn set_tree(
        &self,
        xid: Xid,
        subs: &[Xid],
        status: XidStatus,
        lsn: Lsn,
    ) -> Result<()> {
        let home = page_of(xid);
        let with_parent = subs.iter().take_while(|s| page_of(**s) == home).count();
        let (same, others) = subs.split_at(with_parent);
        if others.is_empty() {
            return self.set_page(home, Some(xid), subs, status, lsn);
        }
        if status == XidStatus::Committed {
            self.set_by_page(others, XidStatus::SubCommitted, lsn)?;
        }
        self.set_page(home, Some(xid), same, status, lsn)?;
        self.set_by_page(others, status, lsn)
    }

    fn set_by_page(&self, subs: &[Xid], status: XidStatus, lsn: Lsn) -> Result<()> {
        for chunk in subs.chunk_by(|a, b| page_of(*a) == page_of(*b)) {
            self.set_page(page_of(chunk[0]), None, chunk, status, lsn)?;
        }
        Ok(())
    }

    fn set_page(
        &self,
        page: u32,
        xid: Option<Xid>,
        subs: &[Xid],
        status: XidStatus,
        lsn: Lsn,
    ) -> Result<()> {
        let first = xid.unwrap_or_else(|| subs[0]);
        let held = self.slru.hold(page, &|| format!("transaction {first}"))?;
        let set = |xid: Xid, status: XidStatus| {
            if lsn.is_valid() {
                held.raise_lsn(self.slru.groups(), group_of(xid), lsn);
            }
            let offset = (xid.0 % XACTS_PER_PAGE / 4) as usize;
            let shift = xid.0 % 4 * 2;
            let byte = held.u8(offset);
            let old = byte >> shift & 3;
            // Replay may set a status again, or find a final status where it sets sub-committed.
            if old != status as u8 && !(status == XidStatus::SubCommitted && old == 1) {
                held.set_u8(offset, byte & !(3 << shift) | (status as u8) << shift);
            }
        };
        if status == XidStatus::Committed && xid.is_some() {
            // A reader that sees the parent committed must not find a child in progress.
            subs.iter().for_each(|s| set(*s, XidStatus::SubCommitted));
        }
        if let Some(xid) = xid {
            set(xid, status);
        }
        subs.iter().for_each(|s| set(*s, status));
        Ok(())
    }

    /// Adds the page of a newly assigned id if the id is the first on it. Called under the id
    /// generator's mutex. WAL: `CLOG_ZEROPAGE`.
    pub(crate) fn extend(&self, xid: Xid, builder: &mut RecordBuilder) -> Result<()> {
        if !xid.0.is_multiple_of(XACTS_PER_PAGE) && xid != Xid::FIRST_NORMAL {
            return Ok(());
        }
        let page = page_of(xid);
        self.slru.zero_page(page)?;
        builder.reset(RmgrId::Clog, CLOG_ZEROPAGE);
        builder.main(&page.to_le_bytes());
        self.wal.insert(builder, &[], Xid::INVALID)?;
        Ok(())
    }

    /// The first page of a new cluster. Counterpart: `BootStrapCLOG`.
    pub(crate) fn bootstrap(&self) -> Result<()> {
        self.slru.zero_page(0)?;
        self.slru.write_page(0)
    }

    /// Zeroes the page from the next id on. Counterpart: `TrimCLOG`.
    pub(crate) fn trim(&self, next: Xid) -> Result<()> {
        let page = page_of(next);
        self.slru.set_latest_page(page);
        let at = next.0 % XACTS_PER_PAGE;
        if at == 0 {
            return Ok(());
        }
        let held = self.slru.hold(page, &|| format!("transaction {next}"))?;
        let offset = (at / 4) as usize;
        let keep = (1u8 << (at % 4 * 2)) - 1;
        held.set_u8(offset, held.u8(offset) & keep);
        held.zero_from(offset + 1);
        Ok(())
    }

    /// Removes the segments before the page of `oldest`. WAL: `CLOG_TRUNCATE`, flushed before any
    /// file is removed. Counterpart: `TruncateCLOG`.
    pub(crate) fn truncate(&self, oldest: Xid, database: Oid, b: &mut RecordBuilder) -> Result<()> {
        let cutoff = page_of(oldest);
        if !self.slru.can_truncate(cutoff)? {
            return Ok(());
        }
        b.reset(RmgrId::Clog, CLOG_TRUNCATE);
        b.main(&cutoff.to_le_bytes()).main(&oldest.0.to_le_bytes()).main(&database.0.to_le_bytes());
        let inserted = self.wal.insert(b, &[], Xid::INVALID)?;
        self.wal.flush(inserted.end)?;
        self.slru.truncate(cutoff)
    }

    pub(crate) fn redo_zero_page(&self, page: u32) -> Result<()> {
        self.slru.zero_page(page)?;
        self.slru.write_page(page)
    }
}
