//! Functions that read files and directories of the server. Counterpart: utils/adt/genfile.c.
//!
//! A role with EXECUTE privilege on these functions can read inside the data directory. Other paths
//! require membership in `pg_read_server_files`.

use crate::function::{SysCall, SysFn, text};
use crate::host::SystemHost;
use catalog::acl::roles;
use pgerror::{PgError, Result, pg_err};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};
use types::{Datum, DatumRef};
use vfs::{Disk, FileKind, OpenMode};

/// Seconds from 1970-01-01 to 2000-01-01.
const EPOCH_SHIFT: i64 = 946_684_800;
/// Maximum size of a value.
const BYTES_MAX: u64 = 0x3FFF_FFFF;

fn disk(core: &mut dyn SystemHost) -> Arc<dyn Disk> {
    core.backend().storage().env.disk.clone()
}

/// Checks that the path is inside the data directory, unless the role may read server files.
fn checked(core: &mut dyn SystemHost, path: &str) -> Result<String> {
    let user = core.catalog_session().user;
    if core.catalog().is_member(user, roles::READ_SERVER_FILES, true)? {
        return Ok(path.to_owned());
    }
    if path.starts_with('/') {
        return Err(pg_err!(INSUFFICIENT_PRIVILEGE, "absolute path not allowed"));
    }
    if path.split('/').any(|part| part == "..") {
        let message = "path must be in or below the current directory";
        return Err(pg_err!(INSUFFICIENT_PRIVILEGE, "{message}"));
    }
    Ok(path.to_owned())
}

fn is_missing(e: &std::io::Error) -> bool {
    e.kind() == std::io::ErrorKind::NotFound
}

fn failed(what: &str, path: &str, e: &std::io::Error) -> PgError {
    vfs::io_error(what, path, e)
}

fn timestamp(time: SystemTime) -> Datum {
    let micros = match time.duration_since(UNIX_EPOCH) {
        Ok(d) => d.as_micros() as i64,
        Err(e) => -(e.duration().as_micros() as i64),
    };
    // The time is in whole seconds, as in PostgreSQL.
    Datum::int8((micros.div_euclid(1_000_000) - EPOCH_SHIFT) * 1_000_000)
}

/// The bytes of a file; `None` if it does not exist and `missing_ok` is set.
fn read(
    core: &mut dyn SystemHost,
    path: &str,
    range: Option<(i64, i64)>,
    missing_ok: bool,
) -> Result<Option<Vec<u8>>> {
    let path = checked(core, path)?;
    if range.is_some_and(|(_, length)| length < 0) {
        return Err(pg_err!(INVALID_PARAMETER_VALUE, "requested length cannot be negative"));
    }
    let file = match disk(core).open(&path, OpenMode::Read) {
        Ok(file) => file,
        Err(e) if missing_ok && is_missing(&e) => return Ok(None),
        Err(e) => {
            let message = format!("could not open file \"{path}\" for reading");
            return Err(vfs::io_error_with(&message, &e));
        }
    };
    let size = file.len().map_err(|e| failed("stat file", &path, &e))?;
    let (start, length) = match range {
        None => (0, None),
        Some((at, n)) if at < 0 => {
            let Some(start) = size.checked_sub(at.unsigned_abs()) else {
                let message = format!("could not seek in file \"{path}\": Invalid argument");
                return Err(PgError::internal(message));
            };
            (start, Some(n as u64))
        }
        Some((at, n)) => (at as u64, Some(n as u64)),
    };
    if length.is_some_and(|n| n > BYTES_MAX) {
        return Err(pg_err!(INVALID_PARAMETER_VALUE, "requested length too large"));
    }
    // Files in /proc have no length, so the file is read to its end.
    let mut out = Vec::new();
    let mut chunk = vec![0u8; 65_536];
    let mut at = start;
    while length.is_none_or(|n| (out.len() as u64) < n) {
        let n = file.read_at(&mut chunk, at).map_err(|e| failed("read file", &path, &e))?;
        if n == 0 {
            break;
        }
        let room = length.map_or(n, |all| n.min((all - out.len() as u64) as usize));
        out.extend_from_slice(&chunk[..room]);
        at += n as u64;
        if out.len() as u64 > BYTES_MAX {
            return Err(pg_err!(PROGRAM_LIMIT_EXCEEDED, "file length too large"));
        }
    }
    Ok(Some(out))
}

fn read_text(
    core: &mut dyn SystemHost,
    path: &str,
    range: Option<(i64, i64)>,
    missing_ok: bool,
) -> Result<Datum> {
    let Some(bytes) = read(core, path, range, missing_ok)? else { return Ok(Datum::Null) };
    types::text::verify_in(core.settings().encoding, &bytes)?;
    Ok(Datum::bytes(bytes))
}

fn read_bytes(
    core: &mut dyn SystemHost,
    path: &str,
    range: Option<(i64, i64)>,
    missing_ok: bool,
) -> Result<Datum> {
    Ok(read(core, path, range, missing_ok)?.map_or(Datum::Null, Datum::bytes))
}

fn list(
    core: &mut dyn SystemHost,
    path: &str,
    missing_ok: bool,
    dots: bool,
) -> Result<Vec<Vec<Datum>>> {
    let path = checked(core, path)?;
    let entries = match disk(core).list(&path) {
        Ok(list) => list,
        Err(e) if missing_ok && is_missing(&e) => return Ok(Vec::new()),
        Err(e) => return Err(failed("open directory", &path, &e)),
    };
    let own = if dots { &[".", ".."][..] } else { &[] };
    let names = own.iter().copied().chain(entries.iter().map(|e| e.name.as_str()));
    Ok(names.map(|n| vec![Datum::text(n)]).collect())
}

/// Name, size and modification time of the regular files of a directory.
fn list_files(core: &mut dyn SystemHost, path: &str, missing_ok: bool) -> Result<Vec<Vec<Datum>>> {
    let disk = disk(core);
    let entries = match disk.list(path) {
        Ok(list) => list,
        Err(e) if missing_ok && is_missing(&e) => return Ok(Vec::new()),
        Err(e) => return Err(failed("open directory", path, &e)),
    };
    let mut rows = Vec::new();
    for e in entries.iter().filter(|e| !e.name.starts_with('.')) {
        let full = format!("{path}/{}", e.name);
        match disk.stat(&full) {
            Ok(s) if s.kind == FileKind::File => rows.push(vec![
                Datum::text(&e.name),
                Datum::int8(s.len as i64),
                timestamp(s.modified),
            ]),
            Ok(_) => {}
            // The file may have been removed meanwhile.
            Err(e) if is_missing(&e) => {}
            Err(e) => return Err(failed("stat file", &full, &e)),
        }
    }
    Ok(rows)
}

fn temporary(core: &mut dyn SystemHost, tablespace: ids::Oid) -> Result<Vec<Vec<Datum>>> {
    let dir = match tablespace.0 {
        1663 => "base/pgsql_tmp".to_owned(),
        1664 => "global/pgsql_tmp".to_owned(),
        oid => {
            let key = [tablespace.into()];
            if core.catalog().search(catalog::cache::TABLESPACEOID, &key)?.is_none() {
                return Err(pg_err!(UNDEFINED_OBJECT, "tablespace with OID {oid} does not exist"));
            }
            format!("pg_tblspc/{oid}/PG_15_202209061/pgsql_tmp")
        }
    };
    list_files(core, &dir, true)
}

fn stat(core: &mut dyn SystemHost, path: &str, missing_ok: bool) -> Result<Vec<Vec<Datum>>> {
    let path = checked(core, path)?;
    match disk(core).stat(&path) {
        Ok(s) => {
            let time = timestamp(s.modified);
            Ok(vec![vec![
                Datum::int8(s.len as i64),
                time.clone(),
                time.clone(),
                time,
                Datum::Null,
                Datum::bool(s.kind == FileKind::Dir),
            ]])
        }
        Err(e) if missing_ok && is_missing(&e) => Ok(vec![vec![Datum::Null; 6]]),
        Err(e) => Err(failed("stat file", &path, &e)),
    }
}

fn range(a: &[DatumRef<'_>]) -> Option<(i64, i64)> {
    Some((a[1].as_i64(), a[2].as_i64()))
}

pub(super) const FNS: &[SysFn] = &[
    SysFn {
        name: "pg_read_file_v2",
        call: SysCall::One(|c, a| read_text(c, &text(a[0]), range(a), a[3].as_bool())),
    },
    SysFn {
        name: "pg_read_file_off_len",
        call: SysCall::One(|c, a| read_text(c, &text(a[0]), range(a), false)),
    },
    SysFn {
        name: "pg_read_file",
        call: SysCall::One(|c, a| read_text(c, &text(a[0]), range(a), false)),
    },
    SysFn {
        name: "pg_read_file_all",
        call: SysCall::One(|c, a| read_text(c, &text(a[0]), None, false)),
    },
    SysFn {
        name: "pg_read_binary_file",
        call: SysCall::One(|c, a| read_bytes(c, &text(a[0]), range(a), a[3].as_bool())),
    },
    SysFn {
        name: "pg_read_binary_file_off_len",
        call: SysCall::One(|c, a| read_bytes(c, &text(a[0]), range(a), false)),
    },
    SysFn {
        name: "pg_read_binary_file_all",
        call: SysCall::One(|c, a| read_bytes(c, &text(a[0]), None, false)),
    },
    SysFn {
        name: "pg_ls_dir",
        call: SysCall::Set(|c, a| list(c, &text(a[0]), a[1].as_bool(), a[2].as_bool())),
    },
    SysFn { name: "pg_ls_dir_1arg", call: SysCall::Set(|c, a| list(c, &text(a[0]), false, false)) },
    SysFn { name: "pg_ls_waldir", call: SysCall::Set(|c, _| list_files(c, "pg_wal", false)) },
    SysFn {
        name: "pg_ls_archive_statusdir",
        call: SysCall::Set(|c, _| list_files(c, "pg_wal/archive_status", true)),
    },
    SysFn {
        name: "pg_ls_logdir",
        call: SysCall::Set(|c, _| {
            let dir = c.setting("log_directory");
            list_files(c, &dir, false)
        }),
    },
    SysFn {
        name: "pg_ls_logicalsnapdir",
        call: SysCall::Set(|c, _| list_files(c, "pg_logical/snapshots", false)),
    },
    SysFn {
        name: "pg_ls_logicalmapdir",
        call: SysCall::Set(|c, _| list_files(c, "pg_logical/mappings", false)),
    },
    SysFn {
        name: "pg_ls_replslotdir",
        call: SysCall::Set(|_, a| {
            Err(pg_err!(UNDEFINED_OBJECT, "replication slot \"{}\" does not exist", text(a[0])))
        }),
    },
    SysFn {
        name: "pg_ls_tmpdir_noargs",
        call: SysCall::Set(|c, _| temporary(c, ids::RelFile::DEFAULT_TABLESPACE)),
    },
    SysFn { name: "pg_ls_tmpdir_1arg", call: SysCall::Set(|c, a| temporary(c, a[0].as_oid())) },
    SysFn { name: "pg_stat_file", call: SysCall::Set(|c, a| stat(c, &text(a[0]), a[1].as_bool())) },
    SysFn { name: "pg_stat_file_1arg", call: SysCall::Set(|c, a| stat(c, &text(a[0]), false)) },
    SysFn { name: "pg_current_logfile", call: SysCall::One(|_, _| Ok(Datum::Null)) },
    SysFn { name: "pg_current_logfile_1arg", call: SysCall::One(|_, _| Ok(Datum::Null)) },
];
