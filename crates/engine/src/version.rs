//! `PG_VERSION`, which contains the major version of the files in a directory.
//!
//! Counterpart: `ValidatePgVersion` in miscinit.c.

use pgerror::{Result, pg_err};
use std::io::{self, ErrorKind};
use vfs::{Disk, OpenMode};

/// The supported major version.
const MAJOR: u32 = 15;
/// Number of bytes that are read from the file.
const READ: usize = 64;

/// An error unless `text`, which was read from `PG_VERSION` in `directory`, is the supported major
/// version. `own_version` is the full version of this server, for the message.
pub fn check_version(directory: &str, text: io::Result<Vec<u8>>, own_version: &str) -> Result<()> {
    let file = format!("{directory}/PG_VERSION");
    let invalid = |detail: String| {
        pg_err!(INVALID_PARAMETER_VALUE, "\"{directory}\" is not a valid data directory")
            .detail(detail)
    };
    let text = match text {
        Ok(text) => text,
        // PostgreSQL can open it, and then reads nothing.
        Err(e) if e.kind() == ErrorKind::IsADirectory => Vec::new(),
        Err(e) if e.kind() == ErrorKind::NotFound => {
            return Err(invalid(format!("File \"{file}\" is missing.")));
        }
        Err(e) => return Err(vfs::io_error("open file", &file, &e)),
    };
    let text = String::from_utf8_lossy(&text);
    let version = text.split_whitespace().next().unwrap_or_default();
    let unsigned = version.trim_start_matches(['-', '+']);
    let digits = unsigned.bytes().take_while(u8::is_ascii_digit).count();
    if digits == 0 || version.len() - unsigned.len() > 1 {
        return Err(invalid(format!("File \"{file}\" does not contain valid data."))
            .hint("You might need to initdb."));
    }
    if version.starts_with('-') || unsigned[..digits].parse() != Ok(MAJOR) {
        return Err(pg_err!(
            INVALID_PARAMETER_VALUE,
            "database files are incompatible with server"
        )
        .detail(format!(
            "The data directory was initialized by PostgreSQL version {version}, which is not \
             compatible with this version {own_version}."
        )));
    }
    Ok(())
}

/// An error unless the database's `directory` exists and has files of the supported major version.
pub fn check_database(
    disk: &dyn Disk,
    name: &str,
    directory: &str,
    own_version: &str,
) -> Result<()> {
    match disk.stat(directory) {
        Ok(_) => {}
        Err(e) if e.kind() == ErrorKind::NotFound => {
            return Err(pg_err!(UNDEFINED_DATABASE, "database \"{name}\" does not exist")
                .detail(format!("The database subdirectory \"{directory}\" is missing.")));
        }
        Err(e) => return Err(vfs::io_error("access directory", directory, &e)),
    }
    let read = || {
        let file = disk.open(&format!("{directory}/PG_VERSION"), OpenMode::Read)?;
        let mut bytes = vec![0; READ];
        let len = file.read_at(&mut bytes, 0)?;
        bytes.truncate(len);
        Ok(bytes)
    };
    check_version(directory, read(), own_version)
}
