//! Bulk load of a relation that no other session can see yet: finished pages are written to the log
//! and the file directly, not through frames. Many pages share a record and a write.
//!
//! A checkpoint that fixes its redo pointer after such a record must find the pages written and
//! their file among those to sync, so it waits for the section between record and write. Later
//! readers find the pages in the file.
//!
//! Counterpart: log_newpages in xloginsert.c, the writing half of nbtsort.c.

use crate::forks::ForkBuffers;
use crate::pool::BufferPool;
use ids::{BlockNo, Xid};
use page::{PageBuf, PageRef};
use pgerror::Result;
use smallvec::SmallVec;
use std::io::IoSlice;
use wal::{RecordBuilder, RegFlags, RmgrId};

/// Most pages of one call: the block ids used in one record.
pub const LOAD_PAGES_MAX: usize = 32;

/// Info byte of an XLOG record with full page images.
const XLOG_FPI: u8 = 0xB0;

impl BufferPool {
    /// Writes new pages of a relation that is being created: with their block numbers, ascending,
    /// at most [`LOAD_PAGES_MAX`]. None of the blocks is in the pool. Blocks that are skipped are
    /// zeros until they are written.
    ///
    /// WAL: XLOG_FPI.
    pub fn load_pages(
        &self,
        fork: &ForkBuffers,
        pages: &mut [(BlockNo, PageBuf)],
        scratch: &mut RecordBuilder,
        xid: Xid,
    ) -> Result<()> {
        let Some(end) = pages.last().map(|(block, _)| block.0 + 1) else { return Ok(()) };
        let _growing = fork.lock_extension();
        let before = self.nblocks(fork)?;
        let name = fork.name();
        let wal = self.wal().filter(|_| fork.is_logged());
        let _delay = wal.map(|wal| wal.delay_checkpoint_start());
        if let Some(wal) = wal {
            scratch.reset(RmgrId::Xlog, XLOG_FPI);
            let flags = RegFlags::FORCE_IMAGE | RegFlags::STANDARD;
            for (id, (block, _)) in pages.iter().enumerate() {
                scratch.block(id as u8, name.rel, name.fork, *block, flags);
            }
            let refs: SmallVec<[(u8, PageRef<'_>); LOAD_PAGES_MAX]> =
                (0..).zip(pages.iter()).map(|(id, (_, page))| (id, page.page())).collect();
            let at = wal.insert(scratch, &refs, xid)?;
            drop(refs);
            pages.iter_mut().for_each(|(_, page)| page.set_lsn(at.end));
        }
        if self.config.checksums {
            pages.iter_mut().for_each(|(block, page)| page.set_checksum(*block));
        }
        for run in pages.chunk_by(|a, b| a.0.0 + 1 == b.0.0) {
            let bufs: SmallVec<[IoSlice<'_>; LOAD_PAGES_MAX]> =
                run.iter().map(|(_, page)| IoSlice::new(page.as_bytes())).collect();
            self.smgr.append(name, run[0].0, &bufs)?;
        }
        fork.set_nblocks(before.max(end));
        Ok(())
    }
}
