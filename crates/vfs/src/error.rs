//! I/O errors with PostgreSQL's messages. Counterpart: `errcode_for_file_access` in elog.c.

use pgerror::{PgError, SqlState};
use std::io;

/// `could not <op> "<path>": <reason>`, with the SQLSTATE for the reason. `op` is a verb with its
/// object: "open file", "create directory", "fsync file", "rename file".
#[cold]
pub fn io_error(op: &str, path: &str, error: &io::Error) -> PgError {
    PgError::new(sqlstate_for(error), format!("could not {op} \"{path}\": {}", strerror(error)))
}

/// `<message>: <reason>`, with the SQLSTATE for the reason.
#[cold]
pub fn io_error_with(message: &str, error: &io::Error) -> PgError {
    PgError::new(sqlstate_for(error), format!("{message}: {}", strerror(error)))
}

/// The SQLSTATE that PostgreSQL gives a failed file access.
pub fn sqlstate_for(error: &io::Error) -> SqlState {
    match error.raw_os_error() {
        Some(libc::EPERM | libc::EACCES | libc::EROFS) => SqlState::INSUFFICIENT_PRIVILEGE,
        Some(libc::ENOENT) => SqlState::UNDEFINED_FILE,
        Some(libc::EEXIST) => SqlState::DUPLICATE_FILE,
        Some(libc::ENOTDIR | libc::EISDIR | libc::ENOTEMPTY) => SqlState::WRONG_OBJECT_TYPE,
        Some(libc::ENOSPC) => SqlState::DISK_FULL,
        Some(libc::ENFILE | libc::EMFILE) => SqlState::INSUFFICIENT_RESOURCES,
        _ => SqlState::IO_ERROR,
    }
}

/// The message of the C library (`%m`).
pub fn strerror(error: &io::Error) -> String {
    let text = error.to_string();
    match error.raw_os_error() {
        Some(code) => match text.strip_suffix(&format!(" (os error {code})")) {
            Some(reason) => reason.to_owned(),
            None => text,
        },
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_and_sqlstates() {
        let cases = [
            (libc::ENOENT, "58P01", "No such file or directory"),
            (libc::ENOSPC, "53100", "No space left on device"),
            (libc::EACCES, "42501", "Permission denied"),
            (libc::EIO, "58030", "Input/output error"),
            (libc::EMFILE, "53000", "Too many open files"),
        ];
        for (errno, code, reason) in cases {
            let e = io_error("open file", "base/5/1259", &io::Error::from_raw_os_error(errno));
            assert_eq!(e.message(), format!("could not open file \"base/5/1259\": {reason}"));
            assert_eq!(e.code().as_str(), code);
        }
    }
}
