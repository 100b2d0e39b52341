//! `postmaster.pid` and the lock files of sockets, in PostgreSQL's format, so that each server
//! detects the other.
//!
//! Counterpart: miscinit.c (`CreateLockFile`).

use pgerror::{PgError, Result, pg_err};
use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use vfs::process;

/// Lock file of the data directory.
const DIRECTORY_LOCK: &str = "postmaster.pid";

/// A lock file created by this process; removed on drop.
pub(crate) struct LockFile {
    path: String,
    lines: Vec<String>,
}

impl LockFile {
    /// Creates the file. An error if its owner is alive; a stale file is replaced.
    pub(crate) fn create(path: String, lines: Vec<String>) -> Result<LockFile> {
        let mut file = LockFile { path, lines };
        let mut left = 100;
        let failed = loop {
            match file.write_new() {
                Ok(()) => return Ok(file),
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists && left > 0 => left -= 1,
                Err(e) => break vfs::io_error("create lock file", file.name(), &e),
            }
            if let Err(e) = file.remove_stale() {
                break e;
            }
        };
        // The file was not created by this process, so it must not be removed on drop.
        file.path.clear();
        Err(failed)
    }

    /// The name for messages. The directory is omitted for the lock file of a data directory.
    fn name(&self) -> &str {
        if self.is_directory() { DIRECTORY_LOCK } else { &self.path }
    }

    fn is_directory(&self) -> bool {
        self.path.rsplit('/').next() == Some(DIRECTORY_LOCK)
    }

    fn text(&self) -> String {
        self.lines.iter().map(|l| format!("{l}\n")).collect()
    }

    fn write_new(&self) -> io::Result<()> {
        let mut options = fs::OpenOptions::new();
        let mut out = options.write(true).create_new(true).mode(0o600).open(&self.path)?;
        out.write_all(self.text().as_bytes())?;
        out.sync_all()
    }

    fn remove_stale(&self) -> Result<()> {
        let name = self.name();
        let text = match fs::read(&self.path) {
            Ok(text) => String::from_utf8_lossy(&text).into_owned(),
            // The owner has just removed it.
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(e) => {
                let step = if e.kind() == io::ErrorKind::IsADirectory { "read" } else { "open" };
                return Err(vfs::io_error(&format!("{step} lock file"), name, &e));
            }
        };
        if text.is_empty() {
            return Err(pg_err!(LOCK_FILE_EXISTS, "lock file \"{name}\" is empty").hint(
                "Either another server is starting, or the lock file is the remnant of a previous \
                 server startup crash.",
            ));
        }
        // A negative number belongs to a standalone backend. The process ID of this process is left
        // from before a restart in place, or from another container.
        let encoded = leading_number(&text);
        let owner = encoded.saturating_abs();
        if owner == 0 {
            return Err(pg_err!(INTERNAL_ERROR, "bogus data in lock file \"{name}\": \"{text}\""));
        }
        let own = [std::process::id() as i32, process::parent()];
        let data = text.lines().nth(1).unwrap_or_default();
        if !own.contains(&owner) && process::may_signal(owner) {
            let program = if encoded < 0 { "postgres" } else { "postmaster" };
            let place = match self.path.strip_suffix(".lock") {
                Some(socket) if !self.is_directory() => format!("using socket file \"{socket}\""),
                _ => format!("running in data directory \"{data}\""),
            };
            return Err(pg_err!(LOCK_FILE_EXISTS, "lock file \"{name}\" already exists")
                .hint(format!("Is another {program} (PID {owner}) {place}?")));
        }
        // Line 7 of PostgreSQL's file names its shared memory segment, to which orphaned backends
        // may still be attached.
        let mut memory = text.lines().nth(6).unwrap_or_default().split_whitespace();
        if let (Some(key), Some(id)) = (memory.next(), memory.next().and_then(|n| n.parse().ok()))
            && process::shared_memory_in_use(id)
        {
            return Err(in_use(key, id, data));
        }
        match fs::remove_file(&self.path) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => {
                Err(vfs::io_error("remove old lock file", name, &e))
            }
            _ => Ok(()),
        }
    }

    /// Sets a line, counted from 0; missing lines before it are empty. The file is rewritten in
    /// place, as readers expect.
    pub(crate) fn set(&mut self, line: usize, text: &str) {
        while self.lines.len() <= line {
            self.lines.push(String::new());
        }
        text.clone_into(&mut self.lines[line]);
        let text = self.text();
        // The lock is valid even if the file cannot be rewritten.
        let _ = fs::OpenOptions::new()
            .write(true)
            .truncate(true)
            .open(&self.path)
            .and_then(|mut f| f.write_all(text.as_bytes()));
    }
}

/// The leading integer of `text`, as parsed by C's `atoi`; 0 if there is none.
fn leading_number(text: &str) -> i32 {
    let text = text.trim_start();
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    let len = digits.bytes().take_while(u8::is_ascii_digit).count();
    text[..text.len() - digits.len() + len].parse().unwrap_or(0)
}

fn in_use(key: &str, id: i32, data: &str) -> PgError {
    pg_err!(
        LOCK_FILE_EXISTS,
        "pre-existing shared memory block (key {key}, ID {id}) is still in use"
    )
    .hint(format!("Terminate any old server processes associated with data directory \"{data}\"."))
}

/// An error if PostgreSQL processes still use the data directory although its lock file is missing.
pub(crate) fn check_shared_memory(data: &str) -> Result<()> {
    match process::shared_memory_of(data) {
        // Displayed like PostgreSQL's unsigned long.
        Ok(Some((key, id))) => Err(in_use(&(i64::from(key) as u64).to_string(), id, data)),
        Ok(None) => Ok(()),
        Err(e) => Err(vfs::io_error("stat data directory", data, &e)),
    }
}

impl Drop for LockFile {
    fn drop(&mut self) {
        if !self.path.is_empty() {
            let _ = fs::remove_file(&self.path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unreadable_lock_files_are_kept_and_reported() {
        let path = std::env::temp_dir().join(format!("norsu-unread-{}", std::process::id()));
        let path = path.to_str().unwrap().to_owned();
        fs::create_dir(&path).unwrap();
        let refused = LockFile::create(path.clone(), vec!["x".into()]).err().unwrap();
        let expected = format!("could not read lock file \"{path}\": Is a directory");
        assert_eq!(refused.message(), expected);
        fs::remove_dir(&path).unwrap();
    }

    #[test]
    fn lock_of_a_live_process_excludes_others() {
        let path = std::env::temp_dir().join(format!("norsu-lock-{}", std::process::id()));
        let path = path.to_str().unwrap().to_owned();
        let mut living = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let text = format!("{}\n/data\n", living.id());
        fs::write(&path, &text).unwrap();
        let refused = LockFile::create(path.clone(), vec!["x".into()]).err().unwrap();
        assert_eq!(refused.message(), format!("lock file \"{path}\" already exists"));
        let hint = format!(
            "Is another postmaster (PID {}) running in data directory \"/data\"?",
            living.id()
        );
        assert_eq!(refused.fields().hint.as_deref(), Some(&*hint));
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
        living.kill().unwrap();
        living.wait().unwrap();
        fs::write(&path, format!("{}\n", i32::MAX)).unwrap();
        let mut lock = LockFile::create(path.clone(), vec!["7".into()]).ok().unwrap();
        lock.set(2, "c");
        assert_eq!(fs::read_to_string(&path).unwrap(), "7\n\nc\n");
        drop(lock);
        assert!(fs::metadata(&path).is_err());
    }
}
