//! Temporary files of running queries, named as in PostgreSQL. A file is removed when its handle is
//! dropped, or at the next start after a crash. Temporary files are not synced.
//!
//! Counterpart: `OpenTemporaryFile`, `RemovePgTempFiles` in fd.c.

use pgerror::{PgError, Result, Severity, SqlState, pg_err};
use std::io::ErrorKind;
use sync::Arc;
use sync::atomic::{AtomicU64, Ordering::Relaxed};
use vfs::{Disk, File, FileKind, OpenMode, io_error};

use crate::config::LogSink;
use crate::relmap::database_path;
use crate::unlogged;

const DIRECTORY: &str = "base/pgsql_tmp";
const PREFIX: &str = "pgsql_tmp";

/// Limits and statistics of a session's temporary files.
pub struct TempSpace {
    disk: Arc<dyn Disk>,
    pid: i32,
    log: LogSink,
    next: AtomicU64,
    /// Total size of existing files in bytes.
    held: AtomicU64,
    /// `temp_file_limit` in bytes; `u64::MAX` for no limit.
    limit: AtomicU64,
    /// `log_temp_files`: files of at least this number of bytes are logged when they are removed;
    /// `u64::MAX` for none.
    log_from: AtomicU64,
    files_total: AtomicU64,
    bytes_total: AtomicU64,
    read_total: AtomicU64,
    written_total: AtomicU64,
}

impl TempSpace {
    pub(crate) fn new(disk: Arc<dyn Disk>, pid: i32, log: LogSink) -> TempSpace {
        TempSpace {
            disk,
            pid,
            log,
            next: AtomicU64::new(0),
            held: AtomicU64::new(0),
            limit: AtomicU64::new(u64::MAX),
            log_from: AtomicU64::new(u64::MAX),
            files_total: AtomicU64::new(0),
            bytes_total: AtomicU64::new(0),
            read_total: AtomicU64::new(0),
            written_total: AtomicU64::new(0),
        }
    }

    /// `temp_file_limit` and `log_temp_files`, in bytes.
    pub(crate) fn configure(&self, limit: Option<u64>, log_from: Option<u64>) {
        self.limit.store(limit.unwrap_or(u64::MAX), Relaxed);
        self.log_from.store(log_from.unwrap_or(u64::MAX), Relaxed);
    }

    /// Number of files created, and total size of files removed, since the last call
    /// (`pg_stat_database.temp_files`, `temp_bytes`).
    pub fn take_totals(&self) -> (u64, u64) {
        if self.files_total.load(Relaxed) == 0 && self.bytes_total.load(Relaxed) == 0 {
            return (0, 0);
        }
        (self.files_total.swap(0, Relaxed), self.bytes_total.swap(0, Relaxed))
    }

    /// Bytes read from and written to temporary files since the session started.
    pub fn traffic(&self) -> (u64, u64) {
        (self.read_total.load(Relaxed), self.written_total.load(Relaxed))
    }

    /// Creates a file.
    pub fn create(self: &Arc<Self>) -> Result<TempFile> {
        let number = self.next.fetch_add(1, Relaxed);
        let path = format!("{DIRECTORY}/{PREFIX}{}.{number}", self.pid);
        let file = match self.disk.open(&path, OpenMode::Truncate) {
            Err(e) if e.kind() == ErrorKind::NotFound => {
                match self.disk.create_dir(DIRECTORY) {
                    Err(e) if e.kind() != ErrorKind::AlreadyExists => {
                        return Err(io_error("create temporary directory", DIRECTORY, &e));
                    }
                    _ => {}
                }
                self.disk.open(&path, OpenMode::Truncate)
            }
            other => other,
        };
        let file = file.map_err(|e| io_error("create temporary file", &path, &e))?;
        self.files_total.fetch_add(1, Relaxed);
        Ok(TempFile { space: self.clone(), path, file, len: 0 })
    }
}

/// A temporary file, to which bytes are appended. It is removed when dropped.
pub struct TempFile {
    space: Arc<TempSpace>,
    path: String,
    file: Arc<dyn File>,
    len: u64,
}

impl TempFile {
    /// Bytes written.
    pub fn len(&self) -> u64 {
        self.len
    }

    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Appends bytes and returns their offset. Error 53400 beyond `temp_file_limit`.
    pub fn append(&mut self, bytes: &[u8]) -> Result<u64> {
        let at = self.len;
        let more = bytes.len() as u64;
        let limit = self.space.limit.load(Relaxed);
        if self.space.held.load(Relaxed).saturating_add(more) > limit {
            return Err(pg_err!(
                CONFIGURATION_LIMIT_EXCEEDED,
                "temporary file size exceeds temp_file_limit ({}kB)",
                limit / 1024
            ));
        }
        self.file.write_all_at(bytes, at).map_err(|e| io_error("write to file", &self.path, &e))?;
        self.len += more;
        self.space.held.fetch_add(more, Relaxed);
        self.space.written_total.fetch_add(more, Relaxed);
        Ok(at)
    }

    /// Reads bytes at `at`, which must have been written, into `buf`.
    pub fn read(&self, at: u64, buf: &mut [u8]) -> Result<()> {
        self.file.read_exact_at(buf, at).map_err(|e| io_error("read from file", &self.path, &e))?;
        self.space.read_total.fetch_add(buf.len() as u64, Relaxed);
        Ok(())
    }
}

impl Drop for TempFile {
    fn drop(&mut self) {
        let space = &self.space;
        space.held.fetch_sub(self.len, Relaxed);
        space.bytes_total.fetch_add(self.len, Relaxed);
        // If this fails, the file is removed at the next start.
        let _ = space.disk.unlink(&self.path);
        if self.len >= space.log_from.load(Relaxed) {
            let text = format!("temporary file: path \"{}\", size {}", self.path, self.len);
            let report = PgError::new(SqlState::SUCCESSFUL_COMPLETION, text);
            (space.log)(&report.severity(Severity::Log));
        }
    }
}

/// Removes temporary files of previous runs of the server. Errors are only logged, since the files
/// are not used.
pub(crate) fn remove_leftovers(disk: &dyn Disk, log: &dyn Fn(PgError)) {
    let mut directories = vec![DIRECTORY.to_owned()];
    for space in disk.list("pg_tblspc").unwrap_or_default() {
        let base = format!("pg_tblspc/{}", space.name);
        for version in disk.list(&base).unwrap_or_default() {
            if version.kind == FileKind::Dir {
                directories.push(format!("{base}/{}/{PREFIX}", version.name));
            }
        }
    }
    for directory in directories {
        let entries = match disk.list(&directory) {
            Ok(entries) => entries,
            Err(e) if e.kind() == ErrorKind::NotFound => continue,
            Err(e) => {
                log(io_error("open directory", &directory, &e).severity(Severity::Log));
                continue;
            }
        };
        for entry in entries.iter().filter(|e| e.name.starts_with(PREFIX)) {
            let path = format!("{directory}/{}", entry.name);
            let removed = match entry.kind {
                FileKind::Dir => vfs::remove_tree(disk, &path),
                _ => disk.unlink(&path).map_err(|e| io_error("remove file", &path, &e)),
            };
            if let Err(e) = removed {
                log(e.severity(Severity::Log));
            }
        }
    }
    if let Err(e) = remove_temporary_relations(disk) {
        log(e.severity(Severity::Log));
    }
}

/// Counterpart: `RemovePgTempRelationFiles`.
fn remove_temporary_relations(disk: &dyn Disk) -> Result<()> {
    for db in unlogged::databases(disk)? {
        let directory = database_path(db);
        for name in unlogged::names(disk, &directory)? {
            if is_temporary_relation(&name) {
                let path = format!("{directory}/{name}");
                disk.unlink(&path).map_err(|e| io_error("remove file", &path, &e))?;
            }
        }
    }
    Ok(())
}

/// `t`, the session's number, `_` and the name of a relation's file.
fn is_temporary_relation(name: &str) -> bool {
    let parts = name.strip_prefix('t').and_then(|rest| rest.split_once('_'));
    parts.is_some_and(|(session, file)| {
        session.parse::<u32>().is_ok() && unlogged::parse_file_name(file).is_some()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use vfs::Env;

    fn space(env: &Env) -> Arc<TempSpace> {
        Arc::new(TempSpace::new(env.disk.clone(), 4_200_001, Arc::new(|_| {})))
    }

    fn names(env: &Env) -> Vec<String> {
        let list = env.disk.list(DIRECTORY).unwrap_or_default();
        list.into_iter().map(|e| e.name).collect()
    }

    #[test]
    fn a_file_is_removed_with_its_handle() {
        let env = Env::memory(1);
        env.disk.create_dir("base").unwrap();
        let space = space(&env);
        let mut file = space.create().unwrap();
        assert_eq!(names(&env), ["pgsql_tmp4200001.0"]);
        assert_eq!(file.append(b"hello").unwrap(), 0);
        assert_eq!(file.append(b"world").unwrap(), 5);
        let mut buf = [0; 4];
        file.read(3, &mut buf).unwrap();
        assert_eq!(&buf, b"lowo");
        drop(file);
        assert!(names(&env).is_empty());
        assert_eq!(space.take_totals(), (1, 10));
    }

    #[test]
    fn the_limit_applies_to_the_total_size() {
        let env = Env::memory(2);
        env.disk.create_dir("base").unwrap();
        let space = space(&env);
        space.configure(Some(2048), None);
        let mut a = space.create().unwrap();
        let mut b = space.create().unwrap();
        a.append(&[0; 1500]).unwrap();
        let e = b.append(&[0; 1500]).unwrap_err();
        assert_eq!(e.code(), SqlState::CONFIGURATION_LIMIT_EXCEEDED);
        assert_eq!(e.message(), "temporary file size exceeds temp_file_limit (2kB)");
        drop(a);
        b.append(&[0; 1500]).unwrap();
    }

    #[test]
    fn leftovers_are_removed_at_start() {
        let env = Env::memory(3);
        env.disk.create_dir("base").unwrap();
        let file = space(&env).create().unwrap();
        std::mem::forget(file);
        env.disk.open("base/pgsql_tmp/other", OpenMode::Create).unwrap();
        remove_leftovers(&*env.disk, &|e| panic!("{e:?}"));
        assert_eq!(names(&env), ["other"]);
    }

    #[test]
    fn files_of_temporary_tables_are_removed_at_start() {
        let env = Env::memory(4);
        for dir in ["base", "base/5"] {
            env.disk.create_dir(dir).unwrap();
        }
        let kept = ["16384", "16384_fsm", "t3", "t3_x", "text_16384"];
        for name in ["t3_16384", "t12_16384_fsm", "t3_16385.1"].iter().chain(&kept) {
            env.disk.open(&format!("base/5/{name}"), OpenMode::Create).unwrap();
        }
        remove_leftovers(&*env.disk, &|e| panic!("{e:?}"));
        let mut left = unlogged::names(&*env.disk, "base/5").unwrap();
        left.sort();
        assert_eq!(left, kept);
    }
}
