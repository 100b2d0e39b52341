//! Unlogged relations after a crash: they are reset to their init fork, which is that of an empty
//! relation. The module also contains directory functions that recovery and databases use.
//!
//! Counterpart: reinit.c, copydir.c, `SyncDataDirectory` in fd.c.

use crate::relmap::{DbKey, database_path};
use ids::{Fork, Oid, RelFile};
use pgerror::Result;
use std::collections::HashSet;
use std::io::ErrorKind;
use vfs::{Disk, FileKind, OpenMode, io_error};

/// The step of a reset: `Cleanup` before replay, `Init` after it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Reset {
    /// Removes all forks except the init fork.
    Cleanup,
    /// Copies the init fork to the main fork.
    Init,
}

/// All databases that have a directory, with their tablespaces.
pub(crate) fn databases(disk: &dyn Disk) -> Result<Vec<DbKey>> {
    let mut found = Vec::new();
    add_databases(disk, "base", RelFile::DEFAULT_TABLESPACE, &mut found)?;
    for name in names(disk, "pg_tblspc")? {
        let Ok(tablespace) = name.parse::<u32>() else { continue };
        let dir = format!("pg_tblspc/{name}/PG_15_202209061");
        add_databases(disk, &dir, Oid(tablespace), &mut found)?;
    }
    Ok(found)
}

fn add_databases(
    disk: &dyn Disk,
    dir: &str,
    tablespace: Oid,
    found: &mut Vec<DbKey>,
) -> Result<()> {
    for name in names(disk, dir)? {
        if let Ok(database) = name.parse::<u32>() {
            found.push((tablespace, Oid(database)));
        }
    }
    Ok(())
}

/// Names in a directory; none if it does not exist.
pub(crate) fn names(disk: &dyn Disk, dir: &str) -> Result<Vec<String>> {
    match disk.list(dir) {
        Ok(entries) => Ok(entries.into_iter().map(|entry| entry.name).collect()),
        Err(e) if e.kind() == ErrorKind::NotFound => Ok(Vec::new()),
        Err(e) => Err(io_error("open directory", dir, &e)),
    }
}

/// Relation number, fork and segment of a permanent relation's file.
pub(crate) fn parse_file_name(name: &str) -> Option<(Oid, Fork, u32)> {
    let (stem, segment) = match name.split_once('.') {
        Some((stem, segment)) => (stem, segment.parse().ok()?),
        None => (name, 0),
    };
    let (number, fork) = match stem.split_once('_') {
        None => (stem, Fork::Main),
        Some((number, "fsm")) => (number, Fork::Fsm),
        Some((number, "vm")) => (number, Fork::Vm),
        Some((number, "init")) => (number, Fork::Init),
        Some(_) => return None,
    };
    Some((Oid(number.parse().ok()?), fork, segment))
}

/// All unlogged relations.
pub(crate) fn relations(disk: &dyn Disk) -> Result<Vec<RelFile>> {
    let mut found = Vec::new();
    for db in databases(disk)? {
        let files = names(disk, &database_path(db))?;
        let inits = files.iter().filter_map(|name| parse_file_name(name));
        let inits = inits.filter(|(_, fork, segment)| *fork == Fork::Init && *segment == 0);
        found.extend(inits.map(|(relation, ..)| RelFile::new(db.0, db.1, relation)));
    }
    Ok(found)
}

/// Resets all unlogged relations.
pub(crate) fn reset(disk: &dyn Disk, what: Reset) -> Result<()> {
    for db in databases(disk)? {
        reset_database(disk, &database_path(db), what)?;
    }
    Ok(())
}

fn reset_database(disk: &dyn Disk, dir: &str, what: Reset) -> Result<()> {
    let files: Vec<_> = names(disk, dir)?
        .into_iter()
        .filter_map(|name| parse_file_name(&name).map(|parsed| (name, parsed)))
        .collect();
    let unlogged: HashSet<Oid> = files
        .iter()
        .filter(|(_, (_, fork, _))| *fork == Fork::Init)
        .map(|(_, (relation, ..))| *relation)
        .collect();
    if unlogged.is_empty() {
        return Ok(());
    }
    for (name, (relation, fork, segment)) in &files {
        let path = format!("{dir}/{name}");
        if !unlogged.contains(relation) {
            continue;
        }
        match (what, fork) {
            (Reset::Cleanup, Fork::Main | Fork::Fsm | Fork::Vm) => {
                disk.unlink(&path).map_err(|e| io_error("remove file", &path, &e))?;
            }
            (Reset::Init, Fork::Init) => {
                let suffix = if *segment == 0 { String::new() } else { format!(".{segment}") };
                copy_file(disk, &path, &format!("{dir}/{relation}{suffix}"))?;
            }
            _ => {}
        }
    }
    disk.sync_dir(dir).map_err(|e| io_error("fsync file", dir, &e))
}

/// Copies a file and syncs the copy. Counterpart: `copy_file`.
pub(crate) fn copy_file(disk: &dyn Disk, from: &str, to: &str) -> Result<()> {
    let source = disk.open(from, OpenMode::Read).map_err(|e| io_error("open file", from, &e))?;
    let target = disk.open(to, OpenMode::Truncate).map_err(|e| io_error("create file", to, &e))?;
    let mut buffer = vec![0; 64 * 1024];
    let mut at = 0;
    loop {
        let n = source.read_at(&mut buffer, at).map_err(|e| io_error("read file", from, &e))?;
        if n == 0 {
            break;
        }
        target.write_all_at(&buffer[..n], at).map_err(|e| io_error("write to file", to, &e))?;
        at += n as u64;
    }
    target.sync_all().map_err(|e| io_error("fsync file", to, &e))
}

/// Copies a database's directory, regular files only. Counterpart: `copydir`.
pub(crate) fn copy_dir(disk: &dyn Disk, from: &str, to: &str) -> Result<()> {
    disk.create_dir(to).map_err(|e| io_error("create directory", to, &e))?;
    let entries = disk.list(from).map_err(|e| io_error("open directory", from, &e))?;
    for entry in entries.iter().filter(|entry| entry.kind == FileKind::File) {
        copy_file(disk, &format!("{from}/{}", entry.name), &format!("{to}/{}", entry.name))?;
    }
    disk.sync_dir(to).map_err(|e| io_error("fsync file", to, &e))?;
    let above = vfs::parent(to);
    disk.sync_dir(above).map_err(|e| io_error("fsync file", above, &e))
}

/// Syncs all files in the data directory. Writes of a crashed server may be in the cache of the
/// operating system only, and replay relies on them. Counterpart: `SyncDataDirectory`.
pub(crate) fn sync_data_directory(disk: &dyn Disk) -> Result<()> {
    let mut dirs = vec![".".to_owned()];
    if let Ok(entries) = disk.list("pg_tblspc") {
        dirs.extend(entries.into_iter().map(|entry| format!("pg_tblspc/{}", entry.name)));
    }
    if disk.lstat("pg_wal").is_ok_and(|stat| stat.kind == FileKind::Symlink) {
        dirs.push("pg_wal".to_owned());
    }
    while let Some(dir) = dirs.pop() {
        let entries = match disk.list(&dir) {
            Ok(entries) => entries,
            Err(e) if e.kind() == ErrorKind::NotFound => continue,
            Err(e) => return Err(io_error("open directory", &dir, &e)),
        };
        for entry in entries {
            let path =
                if dir == "." { entry.name.clone() } else { format!("{dir}/{}", entry.name) };
            match entry.kind {
                FileKind::Dir => dirs.push(path),
                FileKind::File => {
                    // A file that cannot be opened does not belong to the server; PostgreSQL only
                    // logs it.
                    if let Ok(file) = disk.open(&path, OpenMode::ReadWrite) {
                        file.sync_all().map_err(|e| io_error("fsync file", &path, &e))?;
                    }
                }
                FileKind::Symlink | FileKind::Other => {}
            }
        }
        disk.sync_dir(&dir).map_err(|e| io_error("fsync file", &dir, &e))?;
    }
    Ok(())
}
