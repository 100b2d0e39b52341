//! Operations on relation files. Counterpart: md.c, smgr.c.

use crate::fdcache::{FdCache, SegmentId};
use crate::pending::Pending;
use crate::{BLOCK_SIZE, RelFork};
use ids::{BlockNo, Fork, Oid, RelFile};
use pgerror::{PgError, Result, Severity, SqlState, bail};
use std::io;
use std::time::Duration;
use sync::{Arc, Mutex};
use vfs::{Clock, Disk, File, IoSlice, IoSliceMut, OpenMode, io_error, io_error_with};

/// Settings of the storage manager.
#[derive(Clone, Debug)]
pub struct SmgrConfig {
    /// Blocks of a segment file; other than 131,072 only in tests.
    pub segment_blocks: u32,
    /// Most segment files kept open (`max_files_per_process` less those for other uses).
    pub open_files_max: usize,
}

impl Default for SmgrConfig {
    fn default() -> SmgrConfig {
        SmgrConfig { segment_blocks: crate::SEGMENT_BLOCKS, open_files_max: 900 }
    }
}

/// Statistics of a checkpoint's syncs, for its log message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SyncStats {
    pub files: usize,
    /// Total time, and the time of the file that took longest.
    pub total: Duration,
    pub longest: Duration,
}

/// The storage manager, one per server. It caches no lengths; the buffer pool does.
pub struct Smgr {
    disk: Arc<dyn Disk>,
    config: SmgrConfig,
    files: FdCache,
    pending: Mutex<Pending>,
}

static ZEROS: [u8; 16 * BLOCK_SIZE] = [0; 16 * BLOCK_SIZE];

impl Smgr {
    pub fn new(disk: Arc<dyn Disk>, config: SmgrConfig) -> Smgr {
        let files = FdCache::new(disk.clone(), config.open_files_max);
        Smgr { disk, config, files, pending: Mutex::new(Pending::default()) }
    }

    pub fn disk(&self) -> &Arc<dyn Disk> {
        &self.disk
    }

    /// Segment and byte offset of a block.
    fn locate(&self, block: BlockNo) -> (u32, u64) {
        let segment = block.0 / self.config.segment_blocks;
        (segment, u64::from(block.0 % self.config.segment_blocks) * BLOCK_SIZE as u64)
    }

    /// Creates the fork's first segment, and the database's directory if that is missing (first use
    /// of a tablespace). With `redo` an existing file is kept as it is.
    pub fn create(&self, fork: RelFork, redo: bool) -> Result<()> {
        let path = fork.path();
        let mode = if redo { OpenMode::Create } else { OpenMode::CreateNew };
        let result = match self.files.open((fork, 0), mode) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => {
                let dir = vfs::parent(&path);
                vfs::create_dir_all(&*self.disk, dir)?;
                self.pending.lock().add_dir(vfs::parent(dir));
                self.files.open((fork, 0), mode)
            }
            other => other,
        };
        result.map_err(|e| io_error("create file", &path, &e))?;
        if fork.backend.is_none() {
            self.pending.lock().add_dir(vfs::parent(&path));
        }
        Ok(())
    }

    pub fn exists(&self, fork: RelFork) -> Result<bool> {
        vfs::exists(&*self.disk, &fork.path())
    }

    fn open_segment(&self, fork: RelFork, segment: u32, target: BlockNo) -> Result<Arc<dyn File>> {
        self.files.open((fork, segment), OpenMode::ReadWrite).map_err(|e| {
            let path = fork.segment_path(segment);
            if segment == 0 {
                io_error("open file", &path, &e)
            } else {
                let what = format!("could not open file \"{path}\" (target block {target})");
                io_error_with(&what, &e)
            }
        })
    }

    /// Reads consecutive blocks into `bufs` (each a whole number of blocks). Returns the bytes
    /// read: fewer if the fork ends.
    pub fn read(
        &self,
        fork: RelFork,
        first: BlockNo,
        bufs: &mut [IoSliceMut<'_>],
    ) -> Result<usize> {
        let mut done = 0;
        for buf in bufs {
            let mut at = 0;
            while at < buf.len() {
                let block = BlockNo(first.0 + ((done + at) / BLOCK_SIZE) as u32);
                let (segment, offset) = self.locate(block);
                let left_in_segment =
                    (self.config.segment_blocks as u64 * BLOCK_SIZE as u64 - offset) as usize;
                let file = match self.files.open((fork, segment), OpenMode::ReadWrite) {
                    // Past the last segment.
                    Err(e) if e.kind() == io::ErrorKind::NotFound && segment > 0 => {
                        return Ok(done + at);
                    }
                    Err(_) => self.open_segment(fork, segment, block)?,
                    Ok(file) => file,
                };
                let end = buf.len().min(at + left_in_segment);
                let n = read_full(&*file, &mut buf[at..end], offset)
                    .map_err(|e| self.block_error("read", fork, block, &e))?;
                at += n;
                if at < end {
                    return Ok(done + at);
                }
            }
            done += at;
        }
        Ok(done)
    }

    /// As [`Smgr::read`], for blocks of one segment: `bufs` must not cross its end (see
    /// [`Smgr::blocks_to_segment_end`]). One system call if the disk returns all at once.
    pub fn read_vectored(
        &self,
        fork: RelFork,
        first: BlockNo,
        bufs: &mut [IoSliceMut<'_>],
    ) -> Result<usize> {
        let (segment, offset) = self.locate(first);
        let file = self.open_segment(fork, segment, first)?;
        let total: usize = bufs.iter().map(|b| b.len()).sum();
        let n =
            file.readv_at(bufs, offset).map_err(|e| self.block_error("read", fork, first, &e))?;
        if n == total || n == 0 {
            return Ok(n);
        }
        // A short read: at the file's end, or anywhere. Continue buffer by buffer.
        let mut done = 0;
        for buf in bufs {
            let got = read_full(&*file, buf, offset + done as u64)
                .map_err(|e| self.block_error("read", fork, first, &e))?;
            done += got;
            if got < buf.len() {
                break;
            }
        }
        Ok(done)
    }

    /// Blocks from `block` to the end of its segment, itself included.
    pub fn blocks_to_segment_end(&self, block: BlockNo) -> u32 {
        self.config.segment_blocks - block.0 % self.config.segment_blocks
    }

    /// The error for a block that was read incompletely.
    pub fn short_read(&self, fork: RelFork, block: BlockNo, bytes: usize) -> PgError {
        let path = fork.segment_path(self.locate(block).0);
        PgError::new(
            SqlState::DATA_CORRUPTED,
            format!(
                "could not read block {block} in file \"{path}\": \
                 read only {bytes} of {BLOCK_SIZE} bytes"
            ),
        )
    }

    /// Writes consecutive existing blocks, and requests their sync by the next checkpoint. After an
    /// error any part may have been written.
    pub fn write(&self, fork: RelFork, first: BlockNo, bufs: &[IoSlice<'_>]) -> Result<()> {
        self.write_blocks(fork, first, bufs, false)
    }

    /// As [`Smgr::write`], at the fork's end or beyond it, creating segments as needed.
    pub fn append(&self, fork: RelFork, first: BlockNo, bufs: &[IoSlice<'_>]) -> Result<()> {
        self.write_blocks(fork, first, bufs, true)
    }

    fn write_blocks(
        &self,
        fork: RelFork,
        first: BlockNo,
        bufs: &[IoSlice<'_>],
        grow: bool,
    ) -> Result<()> {
        let mut block = first;
        let mut rest = bufs;
        while !rest.is_empty() {
            let (segment, offset) = self.locate(block);
            let limit = self.blocks_to_segment_end(block) as usize * BLOCK_SIZE;
            let mut bytes = 0;
            let fits = rest
                .iter()
                .take_while(|b| {
                    bytes += b.len();
                    bytes <= limit
                })
                .count();
            assert!(fits > 0, "a buffer of a write crosses a segment's end");
            let (now, later) = rest.split_at(fits);
            let file = if grow {
                self.open_to_grow(fork, segment, offset)?
            } else {
                self.open_segment(fork, segment, block)?
            };
            file.write_all_vectored_at(now, offset)
                .map_err(|e| with_space_hint(self.block_error("write", fork, block, &e), &e))?;
            self.note_written((fork, segment));
            let written: usize = now.iter().map(|b| b.len()).sum();
            block = BlockNo(block.0 + (written / BLOCK_SIZE) as u32);
            rest = later;
        }
        Ok(())
    }

    /// Writes one block at the fork's end or (in redo) beyond it, creating segments as needed.
    pub fn extend(&self, fork: RelFork, block: BlockNo, page: &[u8]) -> Result<()> {
        self.extend_with(fork, block, 1, page)
    }

    /// Appends `count` zeroed blocks.
    pub fn zero_extend(&self, fork: RelFork, first: BlockNo, count: u32) -> Result<()> {
        self.extend_with(fork, first, count, &ZEROS)
    }

    fn extend_with(&self, fork: RelFork, first: BlockNo, count: u32, bytes: &[u8]) -> Result<()> {
        if first.0.checked_add(count).is_none() {
            let path = fork.path();
            bail!(
                PROGRAM_LIMIT_EXCEEDED,
                "cannot extend file \"{path}\" beyond {} blocks",
                u32::MAX
            );
        }
        let mut block = first;
        let end = first.0 + count;
        while block.0 < end {
            let (segment, offset) = self.locate(block);
            let file = self.open_to_grow(fork, segment, offset)?;
            let n = (end - block.0)
                .min(self.blocks_to_segment_end(block))
                .min((bytes.len() / BLOCK_SIZE) as u32);
            let path = || fork.segment_path(segment);
            file.write_all_at(&bytes[..n as usize * BLOCK_SIZE], offset)
                .map_err(|e| with_space_hint(io_error("extend file", &path(), &e), &e))?;
            self.note_written((fork, segment));
            block = BlockNo(block.0 + n);
        }
        Ok(())
    }

    /// Opens the segment for an extension at byte `offset`, creating it if it is not the first.
    /// Earlier segments must be full, since the length is computed from them; they may not be when
    /// redo writes beyond the end.
    fn open_to_grow(&self, fork: RelFork, segment: u32, offset: u64) -> Result<Arc<dyn File>> {
        let path = || fork.segment_path(segment);
        if segment == 0 {
            return self.open_segment(fork, 0, BlockNo(0));
        }
        match self.files.open((fork, segment), OpenMode::ReadWrite) {
            Ok(file) => {
                let len = file.len().map_err(|e| io_error("stat file", &path(), &e))?;
                if len == 0 || len < offset {
                    self.fill_segments(fork, segment)?;
                }
                Ok(file)
            }
            Err(e) if e.kind() == io::ErrorKind::NotFound => {
                self.fill_segments(fork, segment)?;
                let file = self
                    .files
                    .open((fork, segment), OpenMode::Create)
                    .map_err(|e| io_error("open file", &path(), &e))?;
                if fork.backend.is_none() {
                    self.pending.lock().add_dir(vfs::parent(&path()));
                }
                Ok(file)
            }
            Err(e) => Err(io_error("open file", &path(), &e)),
        }
    }

    /// Extends all segments before `end` to full length with zeros (redo beyond the end).
    fn fill_segments(&self, fork: RelFork, end: u32) -> Result<()> {
        let full = u64::from(self.config.segment_blocks) * BLOCK_SIZE as u64;
        for segment in (0..end).rev() {
            let path = fork.segment_path(segment);
            let mode = if segment == 0 { OpenMode::ReadWrite } else { OpenMode::Create };
            let file = self
                .files
                .open((fork, segment), mode)
                .map_err(|e| io_error("open file", &path, &e))?;
            let len = file.len().map_err(|e| io_error("stat file", &path, &e))?;
            if len == full {
                // Segments before a full one are full.
                break;
            }
            file.truncate(full)
                .map_err(|e| with_space_hint(io_error("extend file", &path, &e), &e))?;
            self.note_written((fork, segment));
        }
        Ok(())
    }

    /// Whole blocks in a segment; `None` if there is no such file.
    fn segment_blocks_now(&self, fork: RelFork, segment: u32) -> Result<Option<u32>> {
        let path = || fork.segment_path(segment);
        let file = match self.files.open((fork, segment), OpenMode::ReadWrite) {
            Ok(file) => file,
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(e) => return Err(io_error("open file", &path(), &e)),
        };
        let len = file.len().map_err(|e| {
            io_error_with(&format!("could not seek to end of file \"{}\"", path()), &e)
        })?;
        let blocks = len / BLOCK_SIZE as u64;
        if blocks > u64::from(self.config.segment_blocks) {
            return Err(PgError::internal("segment too big").severity(Severity::Fatal));
        }
        Ok(Some(blocks as u32))
    }

    /// Length of the fork in blocks, from its files. A partial last block does not count.
    pub fn nblocks(&self, fork: RelFork) -> Result<u32> {
        let mut segment = 0;
        loop {
            match self.segment_blocks_now(fork, segment)? {
                None if segment == 0 => {
                    // Returns the error of the missing file.
                    self.open_segment(fork, 0, BlockNo(0))?;
                }
                None => return Ok(segment * self.config.segment_blocks),
                Some(n) if n < self.config.segment_blocks => {
                    return Ok(segment * self.config.segment_blocks + n);
                }
                Some(_) => segment += 1,
            }
        }
    }

    /// Truncates the fork to `nblocks`; segments beyond stay as empty files. An error if the fork
    /// is shorter.
    pub fn truncate(&self, fork: RelFork, nblocks: u32) -> Result<()> {
        let current = self.nblocks(fork)?;
        if nblocks > current {
            return Err(PgError::internal(format!(
                "could not truncate file \"{fork}\" to {nblocks} blocks: \
                 it's only {current} blocks now"
            )));
        }
        if nblocks == current {
            return Ok(());
        }
        let last = (current - 1) / self.config.segment_blocks;
        for segment in (0..=last).rev() {
            let start = segment * self.config.segment_blocks;
            if start + self.config.segment_blocks <= nblocks {
                break;
            }
            let keep = nblocks.saturating_sub(start);
            let path = fork.segment_path(segment);
            let file = self.open_segment(fork, segment, BlockNo(start))?;
            file.truncate(u64::from(keep) * BLOCK_SIZE as u64).map_err(|e| {
                let what = format!("could not truncate file \"{path}\" to {keep} blocks");
                io_error_with(&what, &e)
            })?;
            self.note_written((fork, segment));
        }
        Ok(())
    }

    /// Removes all forks of a relation. Outside redo, the main fork of a permanent relation stays
    /// as an empty first segment until after the next checkpoint. All files are tried, and errors
    /// are returned as warnings, since files are removed after the outcome of the transaction is
    /// decided.
    #[must_use]
    pub fn unlink(
        &self,
        rel: RelFile,
        backend: Option<ids::BackendNo>,
        redo: bool,
    ) -> Vec<PgError> {
        let forks = Fork::ALL.map(|fork| self.unlink_fork(RelFork { rel, backend, fork }, redo));
        forks.into_iter().flatten().collect()
    }

    #[must_use]
    pub fn unlink_fork(&self, fork: RelFork, redo: bool) -> Vec<PgError> {
        // Sync requests are cancelled first, so that a checkpoint does not miss the file.
        self.pending.lock().forget(|f, n| *f == fork && n.is_some());
        let stay = fork.fork == Fork::Main && fork.backend.is_none() && !redo;
        let mut warnings = Vec::new();
        for segment in 0.. {
            let path = fork.segment_path(segment);
            // Truncated first, so that its space is freed even if the file is open elsewhere.
            let truncated = match self.files.open((fork, segment), OpenMode::ReadWrite) {
                Ok(file) => file.truncate(0),
                Err(e) => Err(e),
            };
            match truncated {
                Err(e) if e.kind() == io::ErrorKind::NotFound => break,
                Err(e) => warnings.push(io_error("truncate file", &path, &e)),
                Ok(()) => {}
            }
            self.files.close((fork, segment));
            if segment == 0 && stay {
                self.pending.lock().add_unlink(fork);
                continue;
            }
            match self.disk.unlink(&path) {
                Ok(()) => {}
                // A file that could not be opened may not exist.
                Err(e) if e.kind() == io::ErrorKind::NotFound => break,
                Err(e) => {
                    warnings.push(io_error("remove file", &path, &e));
                    break;
                }
            }
        }
        warnings.into_iter().map(|e| e.severity(Severity::Warning)).collect()
    }

    fn note_written(&self, id: SegmentId) {
        if id.0.backend.is_none() {
            self.pending.lock().add(id);
        }
    }

    /// Makes all segments of a fork and its directory entry durable now.
    pub fn immediate_sync(&self, fork: RelFork) -> Result<()> {
        if !self.disk.syncs() {
            return Ok(());
        }
        let mut segment = 0;
        loop {
            let path = fork.segment_path(segment);
            let file = match self.files.open((fork, segment), OpenMode::ReadWrite) {
                Ok(file) => file,
                Err(e) if e.kind() == io::ErrorKind::NotFound && segment > 0 => break,
                Err(e) => return Err(io_error("open file", &path, &e)),
            };
            file.sync_data().map_err(|e| sync_failed(&path, &e))?;
            segment += 1;
        }
        let path = fork.path();
        let dir = vfs::parent(&path);
        self.disk.sync_dir(dir).map_err(|e| sync_failed(dir, &e))
    }

    /// Hint: the blocks will be read soon.
    pub fn prefetch(&self, fork: RelFork, block: BlockNo, count: u32) {
        self.hint(fork, block, count, |file, at, len| file.prefetch(at, len));
    }

    /// Hint: the blocks have been written; the kernel should start writing them back.
    pub fn writeback(&self, fork: RelFork, block: BlockNo, count: u32) {
        self.hint(fork, block, count, |file, at, len| file.flush_hint(at, len));
    }

    fn hint(&self, fork: RelFork, first: BlockNo, count: u32, give: impl Fn(&dyn File, u64, u64)) {
        let mut block = first;
        let mut left = count;
        while left > 0 {
            let (segment, offset) = self.locate(block);
            let n = left.min(self.blocks_to_segment_end(block));
            let Ok(file) = self.files.open((fork, segment), OpenMode::ReadWrite) else { return };
            give(&*file, offset, u64::from(n) * BLOCK_SIZE as u64);
            left -= n;
            block = BlockNo(block.0.saturating_add(n));
        }
    }

    /// The database is being dropped: cancels its sync and unlink requests, and closes its files.
    pub fn forget_database(&self, database: Oid) {
        self.pending.lock().forget(|fork, _| fork.rel.database == database);
        self.files.retain(|(fork, _)| fork.rel.database != database);
    }

    /// Closes all files (before a tablespace is dropped; in tests).
    pub fn close_all(&self) {
        self.files.close_all();
    }

    /// Number of open files.
    pub fn open_files(&self) -> usize {
        self.files.open_count()
    }

    /// Number of files that the next checkpoint will sync, as of now.
    pub fn pending_syncs(&self) -> usize {
        self.pending.lock().sync_count()
    }

    /// A checkpoint begins, before it fixes its redo pointer. Counterpart: SyncPreCheckpoint.
    pub fn checkpoint_begin(&self) {
        self.pending.lock().begin_cycle();
    }

    /// All pages have been written: syncs their files. An error is a PANIC, since it is unknown
    /// what a failed sync has lost. Counterpart: ProcessSyncRequests.
    pub fn checkpoint_sync(&self, clock: &dyn Clock) -> Result<SyncStats> {
        let (syncs, dirs) = self.pending.lock().take();
        let mut stats = SyncStats::default();
        if !self.disk.syncs() {
            syncs.iter().for_each(|id| self.pending.lock().done(id));
            return Ok(stats);
        }
        for id in syncs {
            let began = clock.monotonic();
            if let Err(e) = self.sync_segment(id) {
                self.pending.lock().put_back(dirs);
                return Err(e);
            }
            self.pending.lock().done(&id);
            let took = clock.monotonic().saturating_sub(began);
            stats.files += 1;
            stats.total += took;
            stats.longest = stats.longest.max(took);
        }
        for dir in &dirs {
            match self.disk.sync_dir(dir) {
                Err(e) if e.kind() != io::ErrorKind::NotFound => {
                    let error = sync_failed(dir, &e);
                    self.pending.lock().put_back(dirs);
                    return Err(error);
                }
                // A missing directory was removed with its database.
                _ => {}
            }
        }
        Ok(stats)
    }

    fn sync_segment(&self, id: SegmentId) -> Result<()> {
        if self.pending.lock().was_forgotten(&id) {
            return Ok(());
        }
        let path = id.0.segment_path(id.1);
        let result = self.files.open(id, OpenMode::ReadWrite).and_then(|file| file.sync_data());
        match result {
            Ok(()) => Ok(()),
            Err(e)
                if e.kind() == io::ErrorKind::NotFound
                    && self.pending.lock().was_forgotten(&id) =>
            {
                Ok(())
            }
            Err(e) => Err(sync_failed(&path, &e)),
        }
    }

    /// The checkpoint is complete: removes the first segments of relations dropped before it began.
    /// Errors are returned for the log and do not fail the checkpoint. Counterpart:
    /// SyncPostCheckpoint.
    pub fn checkpoint_end(&self) -> Vec<PgError> {
        let due = self.pending.lock().take_unlinks();
        let mut errors = Vec::new();
        for fork in due {
            let path = fork.path();
            self.files.close((fork, 0));
            match self.disk.unlink(&path) {
                Err(e) if e.kind() != io::ErrorKind::NotFound => {
                    errors.push(io_error("remove file", &path, &e).severity(Severity::Warning));
                }
                _ => {}
            }
        }
        errors
    }

    fn block_error(&self, verb: &str, fork: RelFork, block: BlockNo, e: &io::Error) -> PgError {
        let path = fork.segment_path(self.locate(block).0);
        io_error_with(&format!("could not {verb} block {block} in file \"{path}\""), e)
    }
}

fn sync_failed(path: &str, e: &io::Error) -> PgError {
    io_error("fsync file", path, e).severity(Severity::Panic)
}

fn with_space_hint(error: PgError, e: &io::Error) -> PgError {
    if e.kind() == io::ErrorKind::StorageFull {
        error.hint("Check free disk space.")
    } else {
        error
    }
}

/// Reads until the buffer is full or the file ends.
fn read_full(file: &dyn File, buf: &mut [u8], offset: u64) -> io::Result<usize> {
    let mut done = 0;
    while done < buf.len() {
        match file.read_at(&mut buf[done..], offset + done as u64)? {
            0 => break,
            n => done += n,
        }
    }
    Ok(done)
}

#[cfg(test)]
mod tests;
