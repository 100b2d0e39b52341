//! The traits of a disk. Counterpart: fd.c, file_utils.c.

use std::io::{self, IoSlice, IoSliceMut};
use std::time::SystemTime;
use sync::Arc;

/// Alignment of direct writes, in bytes: the largest sector size in use.
pub const DIRECT_ALIGN: usize = 4096;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OpenMode {
    /// The file must exist; only reading.
    Read,
    /// The file must exist; reading and writing.
    ReadWrite,
    /// As [`OpenMode::ReadWrite`], but writes bypass the system's cache where the file system
    /// supports it. In memory and in the file they begin and end at multiples of [`DIRECT_ALIGN`].
    Direct,
    /// As [`OpenMode::Direct`], and a write is durable when it returns.
    WriteThrough,
    /// Opens the file, or creates it empty.
    Create,
    /// Creates the file; an error (EEXIST) if it exists.
    CreateNew,
    /// Opens the file or creates it, and truncates it to zero length.
    Truncate,
}

impl OpenMode {
    /// True if writes bypass the system's cache.
    pub fn is_direct(self) -> bool {
        matches!(self, OpenMode::Direct | OpenMode::WriteThrough)
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FileKind {
    File,
    Dir,
    Symlink,
    Other,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DirEntry {
    pub name: String,
    pub kind: FileKind,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stat {
    pub kind: FileKind,
    /// Bytes.
    pub len: u64,
    pub modified: SystemTime,
}

/// A tree of files. Contents are durable only after the file's `sync_*`, names only after
/// `sync_dir`.
pub trait Disk: Send + Sync {
    fn open(&self, path: &str, mode: OpenMode) -> io::Result<Arc<dyn File>>;
    /// Replaces `to` if it exists.
    fn rename(&self, from: &str, to: &str) -> io::Result<()>;
    fn unlink(&self, path: &str) -> io::Result<()>;
    fn create_dir(&self, path: &str) -> io::Result<()>;
    /// The directory must be empty.
    fn remove_dir(&self, path: &str) -> io::Result<()>;
    /// Entries in no particular order, without "." and "..".
    fn list(&self, path: &str) -> io::Result<Vec<DirEntry>>;
    /// Follows symbolic links.
    fn stat(&self, path: &str) -> io::Result<Stat>;
    /// Does not follow a symbolic link at the end of the path.
    fn lstat(&self, path: &str) -> io::Result<Stat>;
    fn symlink(&self, target: &str, link: &str) -> io::Result<()>;
    fn read_link(&self, path: &str) -> io::Result<String>;
    /// Makes the names in a directory durable.
    fn sync_dir(&self, path: &str) -> io::Result<()>;
    /// The setting `fsync`: when off, each sync succeeds without doing anything. Test disks always
    /// sync.
    fn set_syncs(&self, _on: bool) {}
    /// True if syncs have an effect.
    fn syncs(&self) -> bool {
        true
    }
    /// The path for the operating system, for messages and helper programs.
    fn full_path(&self, path: &str) -> String {
        path.to_owned()
    }
    /// Sets permission bits; disks without permissions ignore it.
    fn set_mode(&self, _path: &str, _mode: u32) -> io::Result<()> {
        Ok(())
    }
}

/// An open file. All calls may come from several threads at once.
pub trait File: Send + Sync {
    /// Reads up to `buf.len()` bytes. Fewer at the end of the file; a disk may also read fewer
    /// elsewhere.
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize>;
    fn readv_at(&self, bufs: &mut [IoSliceMut<'_>], offset: u64) -> io::Result<usize>;
    /// Writes some of `buf`, at least one byte unless it is empty.
    fn write_at(&self, buf: &[u8], offset: u64) -> io::Result<usize>;
    fn writev_at(&self, bufs: &[IoSlice<'_>], offset: u64) -> io::Result<usize>;
    /// Length in bytes.
    fn len(&self) -> io::Result<u64>;
    fn is_empty(&self) -> io::Result<bool> {
        Ok(self.len()? == 0)
    }
    /// Shortens or extends (with zeros) to `len` bytes.
    fn truncate(&self, len: u64) -> io::Result<()>;
    /// Makes contents and length durable. An error is final: the data may be lost, and a later
    /// success does not mean that it was written.
    fn sync_data(&self) -> io::Result<()>;
    /// As `sync_data`, with all metadata.
    fn sync_all(&self) -> io::Result<()>;
    /// Hint: these bytes will be read soon.
    fn prefetch(&self, _offset: u64, _len: u64) {}
    /// Hint: start writing these bytes back. Says nothing about durability.
    fn flush_hint(&self, _offset: u64, _len: u64) {}
    /// Reserves zeroed space, extending the file if needed.
    fn allocate(&self, offset: u64, len: u64) -> io::Result<()>;

    /// Fills `buf`; `UnexpectedEof` if the file is too short.
    fn read_exact_at(&self, mut buf: &mut [u8], mut offset: u64) -> io::Result<()> {
        while !buf.is_empty() {
            let n = self.read_at(buf, offset)?;
            if n == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            buf = &mut buf[n..];
            offset += n as u64;
        }
        Ok(())
    }

    /// Writes all of `buf`. After an error any part of it may have been written.
    fn write_all_at(&self, mut buf: &[u8], mut offset: u64) -> io::Result<()> {
        while !buf.is_empty() {
            let n = self.write_at(buf, offset)?;
            if n == 0 {
                // Linux never does this for regular files; PostgreSQL treats it as a full disk.
                return Err(io::Error::from_raw_os_error(libc::ENOSPC));
            }
            buf = &buf[n..];
            offset += n as u64;
        }
        Ok(())
    }

    /// Writes all of `bufs`, in order.
    fn write_all_vectored_at(&self, bufs: &[IoSlice<'_>], offset: u64) -> io::Result<()> {
        let written = self.writev_at(bufs, offset)?;
        let mut skip = written;
        let mut at = offset + written as u64;
        for buf in bufs {
            if skip >= buf.len() {
                skip -= buf.len();
                continue;
            }
            self.write_all_at(&buf[skip..], at)?;
            at += (buf.len() - skip) as u64;
            skip = 0;
        }
        Ok(())
    }
}
