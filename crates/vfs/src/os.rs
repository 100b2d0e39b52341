//! The disk of the operating system: synchronous positioned I/O by system calls.

use crate::disk::{DirEntry, Disk, File, FileKind, OpenMode, Stat};
use std::fs;
use std::io::{self, IoSlice, IoSliceMut};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{DirBuilderExt, FileExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::PathBuf;
use sync::Arc;
use sync::atomic::{AtomicBool, Ordering};

/// Most vectors in one call (`IOV_MAX` on Linux).
const VECTORS_MAX: usize = 1024;

/// Files below a root directory.
#[derive(Debug)]
pub struct OsDisk {
    root: PathBuf,
    /// True if new files are readable by the group (0640/0750 instead of 0600/0700).
    group_access: AtomicBool,
    /// Shared with all its files, which check it at each sync.
    syncs: Arc<AtomicBool>,
}

impl OsDisk {
    pub fn new(root: impl Into<PathBuf>) -> OsDisk {
        let syncs = Arc::new(AtomicBool::new(true));
        OsDisk { root: root.into(), group_access: AtomicBool::new(false), syncs }
    }

    /// Sets whether the group may read new files. The caller passes the data directory's own mode.
    pub fn set_group_access(&self, on: bool) {
        self.group_access.store(on, Ordering::Relaxed);
    }

    fn path(&self, path: &str) -> PathBuf {
        self.root.join(path)
    }

    fn mode(&self, private: u32, group: u32) -> u32 {
        if self.group_access.load(Ordering::Relaxed) { group } else { private }
    }
}

fn kind(file_type: fs::FileType) -> FileKind {
    if file_type.is_file() {
        FileKind::File
    } else if file_type.is_dir() {
        FileKind::Dir
    } else if file_type.is_symlink() {
        FileKind::Symlink
    } else {
        FileKind::Other
    }
}

fn stat_of(meta: &fs::Metadata) -> io::Result<Stat> {
    Ok(Stat { kind: kind(meta.file_type()), len: meta.size(), modified: meta.modified()? })
}

fn not_utf8() -> io::Error {
    io::Error::from_raw_os_error(libc::EILSEQ)
}

impl Disk for OsDisk {
    fn open(&self, path: &str, mode: OpenMode) -> io::Result<Arc<dyn File>> {
        let mut options = fs::OpenOptions::new();
        options.read(true).mode(self.mode(0o600, 0o640));
        let mut fallback_flags = 0;
        match mode {
            OpenMode::Read => {}
            OpenMode::ReadWrite => {
                options.write(true);
            }
            OpenMode::Direct => {
                options.write(true).custom_flags(libc::O_DIRECT);
            }
            OpenMode::WriteThrough => {
                fallback_flags = libc::O_DSYNC;
                options.write(true).custom_flags(libc::O_DIRECT | libc::O_DSYNC);
            }
            OpenMode::Create => {
                options.write(true).create(true);
            }
            OpenMode::CreateNew => {
                options.write(true).create_new(true);
            }
            OpenMode::Truncate => {
                options.write(true).create(true).truncate(true);
            }
        }
        let path = self.path(path);
        let file = match options.open(&path) {
            // The file system does not support direct I/O.
            Err(e) if mode.is_direct() && e.raw_os_error() == Some(libc::EINVAL) => {
                options.custom_flags(fallback_flags).open(path)?
            }
            opened => opened?,
        };
        Ok(Arc::new(OsFile { file, syncs: self.syncs.clone() }))
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        fs::rename(self.path(from), self.path(to))
    }

    fn unlink(&self, path: &str) -> io::Result<()> {
        fs::remove_file(self.path(path))
    }

    fn create_dir(&self, path: &str) -> io::Result<()> {
        fs::DirBuilder::new().mode(self.mode(0o700, 0o750)).create(self.path(path))
    }

    fn remove_dir(&self, path: &str) -> io::Result<()> {
        fs::remove_dir(self.path(path))
    }

    fn list(&self, path: &str) -> io::Result<Vec<DirEntry>> {
        fs::read_dir(self.path(path))?
            .map(|entry| {
                let entry = entry?;
                let name = entry.file_name().into_string().map_err(|_| not_utf8())?;
                Ok(DirEntry { name, kind: kind(entry.file_type()?) })
            })
            .collect()
    }

    fn stat(&self, path: &str) -> io::Result<Stat> {
        stat_of(&fs::metadata(self.path(path))?)
    }

    fn lstat(&self, path: &str) -> io::Result<Stat> {
        stat_of(&fs::symlink_metadata(self.path(path))?)
    }

    fn symlink(&self, target: &str, link: &str) -> io::Result<()> {
        std::os::unix::fs::symlink(target, self.path(link))
    }

    fn read_link(&self, path: &str) -> io::Result<String> {
        let target = fs::read_link(self.path(path))?;
        target.into_os_string().into_string().map_err(|_| not_utf8())
    }

    fn set_syncs(&self, on: bool) {
        self.syncs.store(on, Ordering::Relaxed);
    }

    fn syncs(&self) -> bool {
        self.syncs.load(Ordering::Relaxed)
    }

    fn sync_dir(&self, path: &str) -> io::Result<()> {
        if !self.syncs() {
            return Ok(());
        }
        let at = if path.is_empty() { self.root.clone() } else { self.path(path) };
        match fs::File::open(at)?.sync_all() {
            // Some file systems cannot fsync directories; PostgreSQL ignores these two errors, too.
            Err(e) if matches!(e.raw_os_error(), Some(libc::EBADF | libc::EINVAL)) => Ok(()),
            other => other,
        }
    }

    fn full_path(&self, path: &str) -> String {
        self.path(path).to_string_lossy().into_owned()
    }

    fn set_mode(&self, path: &str, mode: u32) -> io::Result<()> {
        fs::set_permissions(self.path(path), fs::Permissions::from_mode(mode))
    }
}

#[derive(Debug)]
struct OsFile {
    file: fs::File,
    /// Shared with its disk.
    syncs: Arc<AtomicBool>,
}

impl OsFile {
    fn syncs(&self) -> bool {
        self.syncs.load(Ordering::Relaxed)
    }
}

/// Repeats a call that a signal interrupted.
fn retry<T>(mut call: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    loop {
        match call() {
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            done => return done,
        }
    }
}

fn count(result: isize) -> io::Result<usize> {
    usize::try_from(result).map_err(|_| io::Error::last_os_error())
}

fn signed(offset: u64) -> io::Result<i64> {
    i64::try_from(offset).map_err(|_| io::Error::from_raw_os_error(libc::EINVAL))
}

impl File for OsFile {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        retry(|| self.file.read_at(buf, offset))
    }

    fn readv_at(&self, bufs: &mut [IoSliceMut<'_>], offset: u64) -> io::Result<usize> {
        let n = bufs.len().min(VECTORS_MAX) as libc::c_int;
        let offset = signed(offset)?;
        retry(|| {
            // SAFETY: `IoSliceMut` has the layout of `iovec`; the buffers outlive the call.
            count(unsafe {
                libc::preadv(self.file.as_raw_fd(), bufs.as_mut_ptr().cast(), n, offset)
            })
        })
    }

    fn write_at(&self, buf: &[u8], offset: u64) -> io::Result<usize> {
        retry(|| self.file.write_at(buf, offset))
    }

    fn writev_at(&self, bufs: &[IoSlice<'_>], offset: u64) -> io::Result<usize> {
        let n = bufs.len().min(VECTORS_MAX) as libc::c_int;
        let offset = signed(offset)?;
        retry(|| {
            // SAFETY: `IoSlice` has the layout of `iovec`; the buffers outlive the call.
            count(unsafe { libc::pwritev(self.file.as_raw_fd(), bufs.as_ptr().cast(), n, offset) })
        })
    }

    fn len(&self) -> io::Result<u64> {
        Ok(self.file.metadata()?.len())
    }

    fn truncate(&self, len: u64) -> io::Result<()> {
        self.file.set_len(len)
    }

    fn sync_data(&self) -> io::Result<()> {
        if self.syncs() { self.file.sync_data() } else { Ok(()) }
    }

    fn sync_all(&self) -> io::Result<()> {
        if self.syncs() { self.file.sync_all() } else { Ok(()) }
    }

    fn prefetch(&self, offset: u64, len: u64) {
        self.advise(offset, len, libc::POSIX_FADV_WILLNEED);
    }

    fn flush_hint(&self, offset: u64, len: u64) {
        if !self.syncs() {
            return;
        }
        #[cfg(target_os = "linux")]
        if let (Ok(offset), Ok(len)) = (signed(offset), signed(len)) {
            // SAFETY: the descriptor is open; the call accesses no memory of this process.
            unsafe {
                libc::sync_file_range(
                    self.file.as_raw_fd(),
                    offset,
                    len,
                    libc::SYNC_FILE_RANGE_WRITE,
                );
            }
        }
    }

    fn allocate(&self, offset: u64, len: u64) -> io::Result<()> {
        let (at, span) = (signed(offset)?, signed(len)?);
        // SAFETY: the descriptor is open; the call accesses no memory of this process.
        let error = unsafe { libc::posix_fallocate(self.file.as_raw_fd(), at, span) };
        if error == 0 { Ok(()) } else { Err(io::Error::from_raw_os_error(error)) }
    }
}

impl OsFile {
    fn advise(&self, offset: u64, len: u64, advice: libc::c_int) {
        if let (Ok(offset), Ok(len)) = (signed(offset), signed(len)) {
            // SAFETY: the descriptor is open; the call accesses no memory of this process.
            unsafe {
                libc::posix_fadvise(self.file.as_raw_fd(), offset, len, advice);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DIRECT_ALIGN;
    use crate::direct::DirectBuffer;
    use crate::durable::{create_dir_all, read_file, remove_tree, replace_file};

    fn temp_disk(name: &str) -> OsDisk {
        let root = std::env::temp_dir().join(format!("norsu-vfs-{name}-{}", std::process::id()));
        fs::create_dir_all(&root).expect("the directory for temporary files is writable");
        OsDisk::new(root)
    }

    #[test]
    fn vectored_calls_and_file_lengths() {
        let disk = temp_disk("vectored");
        let file = disk.open("f", OpenMode::CreateNew).unwrap();
        file.write_all_vectored_at(&[IoSlice::new(b"abc"), IoSlice::new(b"defg")], 2).unwrap();
        assert_eq!(file.len().unwrap(), 9);
        let (mut a, mut b) = ([9; 4], [9; 8]);
        let n = file.readv_at(&mut [IoSliceMut::new(&mut a), IoSliceMut::new(&mut b)], 0).unwrap();
        assert_eq!((n, &a, &b[..5]), (9, b"\0\0ab", &b"cdefg"[..]));
        file.allocate(0, 100).unwrap();
        assert_eq!(file.len().unwrap(), 100);
        file.prefetch(0, 100);
        file.flush_hint(0, 100);
        file.sync_data().unwrap();
        assert_eq!(disk.stat("f").unwrap().len, 100);
        fs::remove_dir_all(disk.root).unwrap();
    }

    /// Direct writes from aligned memory are found by buffered reads.
    #[test]
    fn direct_writes_from_aligned_memory() {
        let disk = temp_disk("direct");
        let mut buffer = DirectBuffer::with_capacity(4 * DIRECT_ALIGN);
        for (n, mode) in [OpenMode::Direct, OpenMode::WriteThrough].into_iter().enumerate() {
            let file = disk.open("f", OpenMode::Create).unwrap();
            file.truncate(8 * DIRECT_ALIGN as u64).unwrap();
            buffer.clear();
            for part in 0..3 {
                buffer.extend(DIRECT_ALIGN).fill(10 * n as u8 + part);
            }
            assert_eq!(
                (buffer.len(), buffer.as_ptr() as usize % DIRECT_ALIGN),
                (3 * DIRECT_ALIGN, 0)
            );
            let direct = disk.open("f", mode).unwrap();
            direct.write_all_at(&buffer, 2 * DIRECT_ALIGN as u64).unwrap();
            direct.sync_data().unwrap();
            let mut read = vec![9; 6 * DIRECT_ALIGN];
            file.read_exact_at(&mut read, 0).unwrap();
            assert!(read[..2 * DIRECT_ALIGN].iter().all(|b| *b == 0));
            assert_eq!(read[2 * DIRECT_ALIGN..5 * DIRECT_ALIGN], *buffer);
            assert!(read[5 * DIRECT_ALIGN..].iter().all(|b| *b == 0));
        }
        // A reused buffer begins at the same address.
        buffer.clear();
        assert!(buffer.is_empty());
        buffer.extend(DIRECT_ALIGN)[0] = 77;
        assert_eq!((buffer[0], buffer.as_ptr() as usize % DIRECT_ALIGN), (77, 0));
        fs::remove_dir_all(disk.root).unwrap();
    }

    #[test]
    fn files_and_directories_are_private_without_group_access() {
        let disk = temp_disk("modes");
        let mode = |path: &str| fs::metadata(disk.path(path)).unwrap().mode() & 0o777;
        create_dir_all(&disk, "a/b").unwrap();
        replace_file(&disk, "a/b/f", b"text").unwrap();
        assert_eq!(read_file(&disk, "a/b/f").unwrap(), b"text");
        assert_eq!((mode("a"), mode("a/b/f")), (0o700, 0o600));
        disk.set_group_access(true);
        replace_file(&disk, "a/g", b"text").unwrap();
        assert_eq!(mode("a/g") & !0o040, 0o600);
        remove_tree(&disk, "a").unwrap();
        assert_eq!(disk.list(".").unwrap(), []);
        fs::remove_dir_all(disk.root).unwrap();
    }

    /// A sync of this device fails, which shows whether it was tried.
    #[test]
    fn files_are_synced_unless_syncs_are_off() {
        let disk = OsDisk::new("/dev");
        let file = disk.open("null", OpenMode::ReadWrite).unwrap();
        for (on, fails) in [(true, true), (false, false), (true, true)] {
            disk.set_syncs(on);
            assert_eq!(disk.syncs(), on);
            assert_eq!(file.sync_data().is_err(), fails);
            assert_eq!(file.sync_all().is_err(), fails);
        }
        disk.set_syncs(false);
        disk.sync_dir("nosuch").unwrap();
    }
}
