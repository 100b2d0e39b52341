//! The files in `pg_twophase`, named by the transaction's id in eight hexadecimal digits: the
//! state, then its CRC-32C.
//!
//! A file is written under a temporary name and renamed, so that it is complete after a crash.
//! PostgreSQL, which writes it in place, ignores other names.

use crate::state::{CRC_BYTES, FILE_BYTES_MAX, HEADER_BYTES, MAGIC, RECORD_HEADER_BYTES, State};
use ids::Xid;
use pgerror::{PgError, Result, SqlState};
use std::io::ErrorKind;
use vfs::{Disk, io_error};

pub(crate) const DIRECTORY: &str = "pg_twophase";
const TEMPORARY: &str = ".tmp";

pub(crate) fn path(xid: Xid) -> String {
    format!("{DIRECTORY}/{:08X}", xid.0)
}

/// Writes the state durably. Counterpart: `RecreateTwoPhaseFile`.
pub(crate) fn write(disk: &dyn Disk, xid: Xid, state: &[u8]) -> Result<()> {
    let crc = crc32c::crc32c(state).to_le_bytes();
    vfs::replace_file(disk, &path(xid), &[state, &crc].concat())
}

/// Reads and checks the state of a transaction. Counterpart: `ReadTwoPhaseFile`.
pub(crate) fn read(disk: &dyn Disk, xid: Xid) -> Result<State> {
    let path = path(xid);
    let mut bytes = vfs::read_file(disk, &path)?;
    let damaged = |what: String| Err(PgError::new(SqlState::DATA_CORRUPTED, what));
    let size = bytes.len();
    if !(HEADER_BYTES + RECORD_HEADER_BYTES + CRC_BYTES..=FILE_BYTES_MAX).contains(&size) {
        let unit = if size == 1 { "byte" } else { "bytes" };
        return damaged(format!("incorrect size of file \"{path}\": {size} {unit}"));
    }
    let crc_at = size - CRC_BYTES;
    if !crc_at.is_multiple_of(8) {
        return damaged(format!("incorrect alignment of CRC offset for file \"{path}\""));
    }
    let word = |at: usize| u32::from_le_bytes([0, 1, 2, 3].map(|i| bytes[at + i]));
    if word(0) != MAGIC {
        return damaged(format!("invalid magic number stored in file \"{path}\""));
    }
    if word(4) as usize != size {
        return damaged(format!("invalid size stored in file \"{path}\""));
    }
    if word(crc_at) != crc32c::crc32c(&bytes[..crc_at]) {
        return damaged(format!(
            "calculated CRC checksum does not match value stored in file \"{path}\""
        ));
    }
    bytes.truncate(crc_at);
    match State::decode(&bytes) {
        Some(state) if state.xid == xid => Ok(state),
        _ => damaged(format!("corrupted two-phase state file for transaction {xid}")),
    }
}

/// Removes a file; the error is only a warning. A missing file is an error if it is `expected`.
/// Counterpart: `RemoveTwoPhaseFile`.
pub(crate) fn remove(disk: &dyn Disk, xid: Xid, expected: bool) -> Option<PgError> {
    let path = path(xid);
    match disk.unlink(&path) {
        Err(e) if expected || e.kind() != ErrorKind::NotFound => {
            Some(io_error("remove file", &path, &e).severity(pgerror::Severity::Warning))
        }
        _ => None,
    }
}

/// The transactions that have a file. Removes temporary files of an interrupted write.
pub(crate) fn list(disk: &dyn Disk) -> Result<Vec<Xid>> {
    let entries = disk.list(DIRECTORY).map_err(|e| io_error("open directory", DIRECTORY, &e))?;
    let mut xids = Vec::new();
    for entry in entries {
        if let Some(xid) = xid_of(&entry.name) {
            xids.push(xid);
        } else if entry.name.strip_suffix(TEMPORARY).and_then(xid_of).is_some() {
            let path = format!("{DIRECTORY}/{}", entry.name);
            disk.unlink(&path).map_err(|e| io_error("remove file", &path, &e))?;
        }
    }
    xids.sort_by_key(|xid| xid.0);
    Ok(xids)
}

fn xid_of(name: &str) -> Option<Xid> {
    let is_digit = |b: u8| b.is_ascii_digit() || (b'A'..=b'F').contains(&b);
    let is_name = name.len() == 8 && name.bytes().all(is_digit);
    u32::from_str_radix(name, 16).ok().filter(|_| is_name).map(Xid)
}
