//! The contents of a file: pending and durable.

use super::{Space, os_error};
use crate::random::SeededRandom;
use std::io;
use sync::Arc;

/// Unit that a disk writes whole or not at all.
pub(super) const SECTOR: usize = 512;

#[derive(Default, Clone)]
pub(super) struct Content {
    /// The contents that readers see.
    pending: Arc<Vec<u8>>,
    /// The contents that survive a crash. A file without unsynced changes shares one buffer for
    /// both, also with the disks after crashes, so most files are not copied.
    durable: Arc<Vec<u8>>,
    /// One bit per sector: written since the last sync.
    dirty: Vec<u64>,
    /// The file has no name any more and is only open: it does not count as used space.
    unlinked: bool,
}

impl Content {
    pub(super) fn len(&self) -> usize {
        self.pending.len()
    }

    pub(super) fn read(&self, buf: &mut [u8], offset: u64) -> usize {
        let at = usize::try_from(offset).unwrap_or(usize::MAX).min(self.pending.len());
        let n = buf.len().min(self.pending.len() - at);
        buf[..n].copy_from_slice(&self.pending[at..at + n]);
        n
    }

    /// Writes as much as there is space for; returns the number of bytes.
    pub(super) fn write(&mut self, buf: &[u8], offset: u64, space: &Space) -> usize {
        let at = offset as usize;
        let end = at + buf.len();
        let mut n = buf.len();
        if end > self.pending.len() && n > 0 {
            let wanted = end - self.pending.len();
            let got = if self.unlinked { wanted } else { space.take(wanted as u64) as usize };
            let reach = self.pending.len() + got;
            n = reach.saturating_sub(at).min(n);
            if n == 0 {
                space.give_back(got as u64);
                return 0;
            }
            self.mark(self.pending.len(), at + n);
            Arc::make_mut(&mut self.pending).resize(at + n, 0);
        }
        Arc::make_mut(&mut self.pending)[at..at + n].copy_from_slice(&buf[..n]);
        self.mark(at, at + n);
        n
    }

    pub(super) fn truncate(&mut self, len: u64, space: &Space) -> io::Result<()> {
        let (old, len) = (self.pending.len(), len as usize);
        if len > old {
            let wanted = (len - old) as u64;
            let got = if self.unlinked { wanted } else { space.take(wanted) };
            if got < wanted {
                space.give_back(got);
                return Err(os_error(libc::ENOSPC));
            }
        } else if !self.unlinked {
            space.give_back((old - len) as u64);
        }
        self.mark(old.min(len), old.max(len));
        Arc::make_mut(&mut self.pending).resize(len, 0);
        Ok(())
    }

    /// The file's name was removed.
    pub(super) fn unlink(&mut self, space: &Space) {
        if !std::mem::replace(&mut self.unlinked, true) {
            space.give_back(self.pending.len() as u64);
        }
    }

    pub(super) fn sync(&mut self) {
        let dirty = std::mem::take(&mut self.dirty);
        if dirty.is_empty() {
            return;
        }
        let durable = Arc::make_mut(&mut self.durable);
        durable.resize(self.pending.len(), 0);
        for sector in dirty.iter().enumerate().flat_map(bits) {
            let (from, to) = (sector * SECTOR, ((sector + 1) * SECTOR).min(self.pending.len()));
            if from < to {
                durable[from..to].copy_from_slice(&self.pending[from..to]);
            }
        }
    }

    /// A sync failed: the kernel marks the pages clean although they never reached the disk.
    pub(super) fn lose_pending(&mut self) {
        self.dirty.clear();
    }

    pub(super) fn crashed(&self, random: &SeededRandom) -> Content {
        let mut content = Content::clean(self.durable.clone());
        // The share that survives is chosen per file, so that all mixtures occur.
        let quarters = random.below(5);
        let longer = random.below(2) == 0;
        if self.dirty.is_empty() {
            return content;
        }
        let kept = Arc::make_mut(&mut content.durable);
        if longer != (self.durable.len() > self.pending.len()) {
            kept.resize(self.pending.len(), 0);
        }
        let len = kept.len();
        for sector in self.dirty.iter().enumerate().flat_map(bits) {
            let end = len.min(self.pending.len());
            let (from, to) = (sector * SECTOR, ((sector + 1) * SECTOR).min(end));
            if from < to && random.below(4) < quarters {
                kept[from..to].copy_from_slice(&self.pending[from..to]);
            }
        }
        content.pending = content.durable.clone();
        content
    }

    pub(super) fn only_durable(&self) -> Content {
        Content::clean(self.durable.clone())
    }

    pub(super) fn all_durable(&self) -> Content {
        Content::clean(self.pending.clone())
    }

    fn clean(bytes: Arc<Vec<u8>>) -> Content {
        Content { durable: bytes.clone(), pending: bytes, dirty: Vec::new(), unlinked: false }
    }

    fn mark(&mut self, from: usize, to: usize) {
        if from >= to {
            return;
        }
        let last = (to - 1) / SECTOR;
        if self.dirty.len() <= last / 64 {
            self.dirty.resize(last / 64 + 1, 0);
        }
        for sector in from / SECTOR..=last {
            self.dirty[sector / 64] |= 1 << (sector % 64);
        }
    }
}

fn bits((word, bits): (usize, &u64)) -> impl Iterator<Item = usize> {
    let mut rest = *bits;
    std::iter::from_fn(move || {
        if rest == 0 {
            return None;
        }
        let bit = rest.trailing_zeros() as usize;
        rest &= rest - 1;
        Some(word * 64 + bit)
    })
}
