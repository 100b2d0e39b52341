//! File operations that are atomic over a crash. Counterpart: fd.c (`durable_rename`,
//! `durable_unlink`).

use crate::disk::{Disk, FileKind, OpenMode};
use crate::error::io_error;
use pgerror::{PgError, Result};
use std::io;

/// The directory that holds `path`; "." for names at the top.
pub fn parent(path: &str) -> &str {
    match path.trim_end_matches('/').rsplit_once('/') {
        Some(("", _)) => "/",
        Some((dir, _)) => dir,
        None => ".",
    }
}

/// True if the path exists. Errors other than "no such file" are reported.
pub fn exists(disk: &dyn Disk, path: &str) -> Result<bool> {
    match disk.stat(path) {
        Ok(_) => Ok(true),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(e) => Err(io_error("stat file", path, &e)),
    }
}

/// Reads the whole file.
pub fn read_file(disk: &dyn Disk, path: &str) -> Result<Vec<u8>> {
    let file = disk.open(path, OpenMode::Read).map_err(|e| io_error("open file", path, &e))?;
    let len = file.len().map_err(|e| io_error("stat file", path, &e))?;
    let mut bytes = vec![0; len as usize];
    let mut filled = 0;
    while filled < bytes.len() {
        match file.read_at(&mut bytes[filled..], filled as u64) {
            Ok(0) => break,
            Ok(n) => filled += n,
            Err(e) => return Err(io_error("read file", path, &e)),
        }
    }
    bytes.truncate(filled);
    Ok(bytes)
}

/// Writes the file from scratch and makes its contents durable; its name is not (see
/// `replace_file`).
pub fn write_file(disk: &dyn Disk, path: &str, bytes: &[u8]) -> Result<()> {
    let file =
        disk.open(path, OpenMode::Truncate).map_err(|e| io_error("create file", path, &e))?;
    file.write_all_at(bytes, 0).map_err(|e| io_error("write file", path, &e))?;
    file.sync_all().map_err(|e| io_error("fsync file", path, &e))
}

/// Replaces the file's contents so that a crash leaves the old or the new ones, through a temporary
/// file `<path>.tmp`.
pub fn replace_file(disk: &dyn Disk, path: &str, bytes: &[u8]) -> Result<()> {
    let temp = format!("{path}.tmp");
    write_file(disk, &temp, bytes)?;
    durable_rename(disk, &temp, path)
}

/// Renames so that after a crash one of the two names holds the file's whole contents.
pub fn durable_rename(disk: &dyn Disk, from: &str, to: &str) -> Result<()> {
    sync_file(disk, from)?;
    // A replaced file is made durable too, so that either version is whole after a crash.
    match disk.open(to, OpenMode::ReadWrite) {
        Ok(file) => file.sync_all().map_err(|e| io_error("fsync file", to, &e))?,
        Err(e) if e.kind() == io::ErrorKind::NotFound => {}
        Err(e) => return Err(io_error("open file", to, &e)),
    }
    disk.rename(from, to).map_err(|e| {
        crate::io_error_with(&format!("could not rename file \"{from}\" to \"{to}\""), &e)
    })?;
    sync_file(disk, to)?;
    let (old, new) = (parent(from), parent(to));
    disk.sync_dir(new).map_err(|e| io_error("fsync file", new, &e))?;
    if old != new {
        disk.sync_dir(old).map_err(|e| io_error("fsync file", old, &e))?;
    }
    Ok(())
}

fn sync_file(disk: &dyn Disk, path: &str) -> Result<()> {
    let file = disk.open(path, OpenMode::ReadWrite).map_err(|e| io_error("open file", path, &e))?;
    file.sync_all().map_err(|e| io_error("fsync file", path, &e))
}

/// Removes a file durably.
pub fn durable_unlink(disk: &dyn Disk, path: &str) -> Result<()> {
    disk.unlink(path).map_err(|e| io_error("remove file", path, &e))?;
    let dir = parent(path);
    disk.sync_dir(dir).map_err(|e| io_error("fsync file", dir, &e))
}

/// Makes a directory and its missing parents.
pub fn create_dir_all(disk: &dyn Disk, path: &str) -> Result<()> {
    if path.is_empty() || path == "." || path == "/" {
        return Ok(());
    }
    match disk.create_dir(path) {
        Ok(()) => Ok(()),
        Err(e) if e.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(e) if e.kind() == io::ErrorKind::NotFound => {
            create_dir_all(disk, parent(path))?;
            disk.create_dir(path).map_err(|e| io_error("create directory", path, &e))
        }
        Err(e) => Err(io_error("create directory", path, &e)),
    }
}

/// Removes a directory and all that it contains; links are removed, not followed.
pub fn remove_tree(disk: &dyn Disk, path: &str) -> Result<()> {
    remove_tree_best_effort(disk, path).into_iter().next().map_or(Ok(()), Err)
}

/// As [`remove_tree`], but continues after errors, which are returned.
#[must_use]
pub fn remove_tree_best_effort(disk: &dyn Disk, path: &str) -> Vec<PgError> {
    let mut errors = Vec::new();
    // An explicit stack, since the depth of the tree is not bounded.
    let mut stack = vec![(path.to_owned(), false)];
    while let Some((dir, emptied)) = stack.pop() {
        if emptied {
            let removed = disk.remove_dir(&dir);
            errors.extend(removed.err().map(|e| io_error("remove directory", &dir, &e)));
            continue;
        }
        stack.push((dir.clone(), true));
        let entries = match disk.list(&dir) {
            Ok(entries) => entries,
            Err(e) => {
                errors.push(io_error("open directory", &dir, &e));
                continue;
            }
        };
        for entry in entries {
            let child = format!("{dir}/{}", entry.name);
            if entry.kind == FileKind::Dir {
                stack.push((child, false));
            } else {
                let removed = disk.unlink(&child);
                errors.extend(removed.err().map(|e| io_error("remove file", &child, &e)));
            }
        }
    }
    errors
}
