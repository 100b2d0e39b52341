//! Implements `init`, which creates a data directory. All pages are built from the fact tables with
//! the page and tuple code of the running server. PostgreSQL 15 starts on the result.
//!
//! All files are computed in memory first (`cluster`: heap and index pages of every catalog of
//! `template1`), then written in this order: `global/`, `base/<db>/` for the three databases, the
//! first WAL segment with a shutdown checkpoint, the transaction status files and the
//! configuration. `global/pg_control` is written last: a directory without it is an interrupted
//! `init`.
//!
//! Rows carry the bootstrap XID and are frozen. Pages are marked all-visible, also in the
//! visibility map.
//!
//! Counterpart: initdb.c, bootstrap.c.

mod cluster;
mod conf;
mod control;
mod heap;
mod index;
mod locale;
mod renumber;

use crate::rows::PgCollation;
use ids::Oid;
use pgerror::{PgError, Result, SqlState};
use std::collections::BTreeMap;
use vfs::{Disk, Env, OpenMode, io_error};

/// `template1`, `template0`, `postgres`.
const DATABASES: [Oid; 3] = [Oid(1), Oid(4), Oid(5)];

/// Options of `init`.
#[derive(Clone, Debug)]
pub struct InitOptions {
    /// Name of the bootstrap superuser.
    pub user: String,
    /// The superuser's password as `pg_authid` stores it (a SCRAM secret or an MD5 hash).
    pub password: Option<String>,
    /// Encoding of the three databases, as an encoding number.
    pub encoding: i32,
    pub lc_collate: String,
    pub lc_ctype: String,
    /// The ICU locale of the three databases; `None` if their locale provider is libc.
    pub icu_locale: Option<String>,
    pub lc_messages: String,
    pub lc_monetary: String,
    pub lc_numeric: String,
    pub lc_time: String,
    pub checksums: bool,
    /// WAL segment size in bytes.
    pub wal_segment_size: u32,
    /// Absolute path of the WAL directory; `pg_wal` becomes a symbolic link to it.
    pub wal_dir: Option<String>,
    /// Authentication methods in `pg_hba.conf`, for local and for TCP/IP connections.
    pub auth_local: String,
    pub auth_host: String,
    /// Passwords are stored as MD5 hashes (`password_encryption`).
    pub md5_passwords: bool,
    /// Time zone name for `timezone` and `log_timezone`.
    pub timezone: String,
    /// Order of day, month and year in `DateStyle`: `dmy`, `mdy` or `ymd`.
    pub date_order: &'static str,
    pub text_search_config: String,
    /// Grants read access to the group of the owner (modes 0750 and 0640).
    pub group_access: bool,
    /// Flush all files to disk at the end.
    pub sync: bool,
    /// Collations besides C, POSIX and ucs_basic: the result of
    /// [`crate::collations::of_this_machine`]. OIDs are assigned in this order.
    pub collations: Vec<PgCollation>,
}

impl Default for InitOptions {
    fn default() -> InitOptions {
        InitOptions {
            user: "postgres".to_owned(),
            password: None,
            encoding: crate::encoding::UTF8,
            lc_collate: "C".to_owned(),
            lc_ctype: "C".to_owned(),
            icu_locale: None,
            lc_messages: "C".to_owned(),
            lc_monetary: "C".to_owned(),
            lc_numeric: "C".to_owned(),
            lc_time: "C".to_owned(),
            checksums: true,
            wal_segment_size: wal::layout::DEFAULT_SEGMENT_SIZE,
            wal_dir: None,
            auth_local: "trust".to_owned(),
            auth_host: "trust".to_owned(),
            md5_passwords: false,
            timezone: "Etc/UTC".to_owned(),
            date_order: "mdy",
            text_search_config: "pg_catalog.english".to_owned(),
            group_access: false,
            sync: true,
            collations: Vec::new(),
        }
    }
}

/// Directories below the data directory, parents first.
const DIRECTORIES: &[&str] = &[
    "global",
    "base",
    "base/1",
    "base/4",
    "base/5",
    "pg_commit_ts",
    "pg_dynshmem",
    "pg_logical",
    "pg_logical/mappings",
    "pg_logical/snapshots",
    "pg_multixact",
    "pg_multixact/members",
    "pg_multixact/offsets",
    "pg_notify",
    "pg_replslot",
    "pg_serial",
    "pg_snapshots",
    "pg_stat",
    "pg_stat_tmp",
    "pg_subtrans",
    "pg_tblspc",
    "pg_twophase",
    "pg_xact",
];

/// File contents by path. A `BTreeMap`, so that files are written directory by directory.
type Files = BTreeMap<String, Vec<u8>>;

/// Creates the data directory at the root of `env`'s disk. The directory must be empty or absent.
pub fn init(env: &Env, options: &InitOptions) -> Result<()> {
    check_options(options)?;
    let disk = &*env.disk;
    prepare_directory(disk, "", options)?;
    let wal_prefix = match &options.wal_dir {
        Some(dir) => {
            if !dir.starts_with('/') {
                return Err(PgError::new(
                    SqlState::INVALID_PARAMETER_VALUE,
                    "WAL directory location must be an absolute path",
                ));
            }
            prepare_directory(disk, dir, options)?;
            disk.symlink(dir, "pg_wal")
                .map_err(|e| io_error("create symbolic link", "pg_wal", &e))?;
            dir.clone()
        }
        None => {
            make_directory(disk, "pg_wal", options)?;
            "pg_wal".to_owned()
        }
    };
    for dir in DIRECTORIES {
        make_directory(disk, dir, options)?;
    }
    make_directory(disk, &format!("{wal_prefix}/archive_status"), options)?;

    let mut files = cluster::build(options)?;
    let start = control::start(env, options);
    files.insert(format!("{wal_prefix}/{}", start.segment_name), start.segment);
    for name in ["pg_xact", "pg_subtrans", "pg_multixact/offsets", "pg_multixact/members"] {
        files.insert(format!("{name}/0000"), vec![0; page::PAGE_SIZE]);
    }
    conf::add(&mut files, options);

    for (path, bytes) in &files {
        write(disk, path, bytes, options)?;
    }
    if options.sync {
        let dirs = DIRECTORIES.iter().copied();
        let archive = format!("{wal_prefix}/archive_status");
        for dir in dirs.chain([archive.as_str(), wal_prefix.as_str(), ""]) {
            disk.sync_dir(dir).map_err(|e| io_error("fsync file", dir, &e))?;
        }
    }
    write(disk, wal::control::CONTROL_FILE, &start.control, options)?;
    if options.sync {
        disk.sync_dir("global").map_err(|e| io_error("fsync file", "global", &e))?;
    }
    Ok(())
}

fn check_options(options: &InitOptions) -> Result<()> {
    let invalid = |message: String| PgError::new(SqlState::INVALID_PARAMETER_VALUE, message);
    if options.user.starts_with("pg_") {
        return Err(invalid(format!(
            "superuser name \"{}\" is disallowed; role names cannot begin with \"pg_\"",
            options.user
        )));
    }
    if !wal::layout::valid_segment_size(options.wal_segment_size) {
        return Err(invalid(
            "argument of --wal-segsize must be a power of two between 1 and 1024".to_owned(),
        ));
    }
    if !(0..=crate::encoding::LAST_SERVER).contains(&options.encoding) {
        return Err(invalid(format!(
            "\"{}\" is not a valid server encoding name",
            crate::encoding::name(options.encoding)
        )));
    }
    locale::check(options)
}

/// Creates the directory, or checks that it is empty and sets its mode.
fn prepare_directory(disk: &dyn Disk, path: &str, options: &InitOptions) -> Result<()> {
    let full = disk.full_path(path);
    let exists = vfs::exists(disk, path)?;
    if !exists {
        vfs::create_dir_all(disk, if path.is_empty() { &full } else { path })?;
    } else {
        let entries = disk.list(path).map_err(|e| io_error("open directory", &full, &e))?;
        if !entries.is_empty() {
            return Err(PgError::new(
                SqlState::DUPLICATE_FILE,
                format!("directory \"{full}\" exists but is not empty"),
            )
            .hint(format!(
                "To make a new cluster there, remove the directory \"{full}\" or what is in it, or \
                 choose another one."
            )));
        }
    }
    set_mode(disk, path, true, options)
}

fn set_mode(disk: &dyn Disk, path: &str, dir: bool, options: &InitOptions) -> Result<()> {
    let mode = match (dir, options.group_access) {
        (true, false) => 0o700,
        (true, true) => 0o750,
        (false, false) => 0o600,
        (false, true) => 0o640,
    };
    disk.set_mode(path, mode).map_err(|e| io_error("change permissions of", path, &e))
}

fn make_directory(disk: &dyn Disk, path: &str, options: &InitOptions) -> Result<()> {
    disk.create_dir(path).map_err(|e| io_error("create directory", path, &e))?;
    if options.group_access {
        set_mode(disk, path, true, options)?;
    }
    Ok(())
}

fn write(disk: &dyn Disk, path: &str, bytes: &[u8], options: &InitOptions) -> Result<()> {
    let file =
        disk.open(path, OpenMode::CreateNew).map_err(|e| io_error("create file", path, &e))?;
    file.write_all_at(bytes, 0).map_err(|e| io_error("write file", path, &e))?;
    if options.group_access {
        set_mode(disk, path, false, options)?;
    }
    if options.sync {
        file.sync_all().map_err(|e| io_error("fsync file", path, &e))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
