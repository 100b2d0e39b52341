//! Segment files: creation, recycling, removal. Counterpart: XLogFileInit, InstallXLogFileSegment,
//! RemoveOldXlogFiles, PreallocXlogFiles in xlog.c.

use crate::layout::{Layout, is_segment_name};
use ids::Lsn;
use pgerror::Result;
use std::io::ErrorKind;
use sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use sync::{Arc, Mutex};
use vfs::{DirectBuffer, Disk, File, OpenMode, io_error};

const WAL_DIR: &str = "pg_wal";
/// Bytes of one write of zeros.
const ZEROS: usize = 1 << 20;

/// Numbers of segments that a checkpoint made, removed and recycled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SegmentCounts {
    pub added: u32,
    pub removed: u32,
    pub recycled: u32,
}

/// The files below `pg_wal` of one timeline.
pub(crate) struct Segments {
    pub disk: Arc<dyn Disk>,
    pub layout: Layout,
    pub timeline: u32,
    init_zero: AtomicBool,
    fsync: AtomicBool,
    temp_number: AtomicU64,
    /// Held from the check that a name is free until the rename to it, so that no file is renamed
    /// over a segment that another thread has made and perhaps written to.
    installing: Mutex<()>,
    /// The newest segment known to be made ahead.
    made_ahead: AtomicU64,
}

impl Segments {
    pub(crate) fn new(
        disk: Arc<dyn Disk>,
        layout: Layout,
        timeline: u32,
        init_zero: bool,
        fsync: bool,
    ) -> Segments {
        Segments {
            disk,
            layout,
            timeline,
            init_zero: AtomicBool::new(init_zero),
            fsync: AtomicBool::new(fsync),
            temp_number: AtomicU64::new(0),
            installing: Mutex::new(()),
            made_ahead: AtomicU64::new(0),
        }
    }

    /// New settings, for segments made from now on.
    pub(crate) fn configure(&self, init_zero: bool, fsync: bool) {
        self.init_zero.store(init_zero, Relaxed);
        self.fsync.store(fsync, Relaxed);
    }

    fn fsync(&self) -> bool {
        self.fsync.load(Relaxed)
    }

    fn path(&self, segment: u64) -> String {
        self.layout.path(self.timeline, segment)
    }

    /// Opens an existing segment for writing.
    pub(crate) fn open(&self, segment: u64, mode: OpenMode) -> Result<Option<Arc<dyn File>>> {
        let path = self.path(segment);
        match self.disk.open(&path, mode) {
            Ok(file) => Ok(Some(file)),
            Err(e) if e.kind() == ErrorKind::NotFound => Ok(None),
            Err(e) => Err(io_error("open file", &path, &e)),
        }
    }

    /// Opens a segment for writing, making it if it is missing. The flag is true if it was made.
    pub(crate) fn open_or_make(
        &self,
        segment: u64,
        mode: OpenMode,
    ) -> Result<(Arc<dyn File>, bool)> {
        if let Some(file) = self.open(segment, mode)? {
            return Ok((file, false));
        }
        self.make(segment)?;
        match self.open(segment, mode)? {
            Some(file) => Ok((file, true)),
            None => {
                let missing = std::io::Error::from(ErrorKind::NotFound);
                Err(io_error("open file", &self.path(segment), &missing))
            }
        }
    }

    /// Makes a segment of zeros under a temporary name, then renames it: a crash leaves a whole
    /// file or none.
    fn make(&self, segment: u64) -> Result<()> {
        let number = self.temp_number.fetch_add(1, Relaxed);
        let temp = format!("{WAL_DIR}/xlogtemp.{number}");
        let result = self.fill(&temp).and_then(|()| self.install(&temp, segment, segment));
        match result {
            Ok(Some(_)) => Ok(()),
            // Another thread made it first, or an error: the temporary file is removed.
            other => {
                let _ = self.disk.unlink(&temp);
                other.map(|_| ())
            }
        }
    }

    fn fill(&self, temp: &str) -> Result<()> {
        let open = |mode| self.disk.open(temp, mode).map_err(|e| io_error("create file", temp, &e));
        let mut file = open(OpenMode::Truncate)?;
        let size = self.layout.segment_size();
        let write = |e: std::io::Error| io_error("write to file", temp, &e);
        if self.init_zero.load(Relaxed) {
            if self.fsync() {
                file = open(OpenMode::Direct)?;
            }
            let mut zeros = DirectBuffer::with_capacity(ZEROS);
            zeros.extend(ZEROS);
            for at in (0..size).step_by(ZEROS) {
                file.write_all_at(&zeros, at).map_err(write)?;
            }
        } else {
            file.write_all_at(&[0], size - 1).map_err(write)?;
        }
        if self.fsync() {
            file.sync_all().map_err(|e| io_error("fsync file", temp, &e))?;
        }
        Ok(())
    }

    /// Renames a file to the first free segment name from `segment` to `last`; returns the number
    /// used, `None` if no name is free.
    fn install(&self, from: &str, segment: u64, last: u64) -> Result<Option<u64>> {
        let _one = self.installing.lock();
        for number in segment..=last {
            let path = self.path(number);
            if vfs::exists(&*self.disk, &path)? {
                continue;
            }
            if self.fsync() {
                vfs::durable_rename(&*self.disk, from, &path)?;
            } else {
                self.disk.rename(from, &path).map_err(|e| io_error("rename file", from, &e))?;
            }
            return Ok(Some(number));
        }
        Ok(None)
    }

    /// Removes the temporary files that a crash left.
    pub(crate) fn remove_temp_files(&self) -> Result<()> {
        for name in self.names()? {
            if name.starts_with("xlogtemp.") {
                let path = format!("{WAL_DIR}/{name}");
                self.disk.unlink(&path).map_err(|e| io_error("remove file", &path, &e))?;
            }
        }
        Ok(())
    }

    fn names(&self) -> Result<Vec<String>> {
        let entries =
            self.disk.list(WAL_DIR).map_err(|e| io_error("open directory", WAL_DIR, &e))?;
        Ok(entries.into_iter().map(|entry| entry.name).collect())
    }

    /// Recycles or removes all segments before `keep_from`. Recycled segments get the numbers from
    /// that of `end` + 1 up to `recycle_to`.
    pub(crate) fn remove_before(
        &self,
        keep_from: u64,
        end: Lsn,
        recycle_to: u64,
        recycle: bool,
        counts: &mut SegmentCounts,
    ) -> Result<()> {
        let mut next_free = self.layout.segment_of(end) + 1;
        let mut names = self.names()?;
        names.sort_unstable();
        // Files of old timelines are removed too: names are compared without the timeline.
        let keep_name = self.layout.file_name(0, keep_from);
        for name in names {
            if !is_segment_name(&name) || name[8..] >= keep_name[8..] {
                continue;
            }
            let path = format!("{WAL_DIR}/{name}");
            if recycle && next_free <= recycle_to && self.is_whole(&path)? {
                if let Some(number) = self.install(&path, next_free, recycle_to)? {
                    counts.recycled += 1;
                    next_free = number + 1;
                    continue;
                }
                next_free = recycle_to + 1;
            }
            vfs::durable_unlink(&*self.disk, &path)?;
            counts.removed += 1;
        }
        Ok(())
    }

    fn is_whole(&self, path: &str) -> Result<bool> {
        let stat = self.disk.lstat(path).map_err(|e| io_error("stat file", path, &e))?;
        Ok(stat.kind == vfs::FileKind::File && stat.len == self.layout.segment_size())
    }

    /// Makes the segment after that of `end` ahead of its use, once a quarter of the current one is
    /// used. True if it made one. It is tried once per segment: an error (such as no space) is
    /// reported by the thread that needs the segment, if it ever comes to that.
    pub(crate) fn make_ahead(&self, end: Lsn) -> bool {
        let last = Lsn(end.0 - 1);
        let next = self.layout.segment_of(last) + 1;
        let early = self.layout.offset_in_segment(last) < self.layout.segment_size() / 4;
        if early || self.made_ahead.load(Relaxed) >= next {
            return false;
        }
        self.made_ahead.store(next, Relaxed);
        let missing = matches!(vfs::exists(&*self.disk, &self.path(next)), Ok(false));
        missing && self.make(next).is_ok()
    }

    /// Makes the next segment when the current one is three quarters full.
    pub(crate) fn preallocate(&self, end: Lsn, counts: &mut SegmentCounts) -> Result<()> {
        let last = Lsn(end.0 - 1);
        let size = self.layout.segment_size();
        if self.layout.offset_in_segment(last) >= size / 4 * 3 {
            let (_, made) =
                self.open_or_make(self.layout.segment_of(last) + 1, OpenMode::ReadWrite)?;
            counts.added += u32::from(made);
        }
        Ok(())
    }
}
