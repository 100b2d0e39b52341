//! `postmaster.pid` and the lock files beside sockets, in PostgreSQL's form, so that either server notices the other.
//! Counterpart: miscinit.c (`CreateLockFile`).

use crate::cli::Failure;
use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use vfs::process;

/// A lock file of ours; removed on drop.
pub(crate) struct LockFile {
    path: String,
    lines: Vec<String>,
}

impl LockFile {
    /// Makes the file. Fails if a living process owns one; what a dead one has left is replaced.
    pub(crate) fn create(path: String, lines: Vec<String>) -> Result<LockFile, Failure> {
        let mut file = LockFile { path, lines };
        for _ in 0..100 {
            match file.write_new() {
                Ok(()) => return Ok(file),
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists => file.remove_stale()?,
                Err(e) => {
                    let why = vfs::strerror(&e);
                    let failure = format!("could not create lock file \"{}\": {why}", file.path);
                    std::mem::forget(file);
                    return Err(Failure::new(failure));
                }
            }
        }
        let failure = format!("could not create lock file \"{}\"", file.path);
        std::mem::forget(file);
        Err(Failure::new(failure))
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

    fn remove_stale(&mut self) -> Result<(), Failure> {
        let path = self.path.clone();
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            // Its owner has just taken it away.
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(e) => {
                std::mem::take(&mut self.path);
                let why = vfs::strerror(&e);
                return Err(Failure::new(format!("could not open lock file \"{path}\": {why}")));
            }
        };
        let owner = text.lines().next().and_then(|l| l.trim().parse::<i32>().ok());
        let Some(owner) = owner else {
            std::mem::take(&mut self.path);
            return Err(Failure::new(format!(
                "lock file \"{path}\" is empty (another server is starting, or the lock file is the remnant \
                 of a previous server startup crash)"
            )));
        };
        // A negative number is a standalone backend's. Our own number is from before a restart in place, or from
        // another container.
        let owner = owner.abs();
        let own = [std::process::id() as i32, process::parent()];
        if !own.contains(&owner) && process::exists(owner) {
            std::mem::take(&mut self.path);
            let data = text.lines().nth(1).unwrap_or_default();
            return Err(Failure::new(format!(
                "lock file \"{path}\" already exists (is another server, PID {owner}, running in data \
                 directory \"{data}\"?)"
            )));
        }
        // The seventh line of PostgreSQL's names its shared memory, to which its children may still be attached.
        let mut memory = text.lines().nth(6).unwrap_or_default().split_whitespace();
        if let (Some(key), Some(id)) = (memory.next(), memory.next().and_then(|n| n.parse().ok()))
            && process::shared_memory_in_use(id)
        {
            std::mem::take(&mut self.path);
            return Err(in_use(key, id, text.lines().nth(1).unwrap_or_default()));
        }
        match fs::remove_file(&path) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => {
                std::mem::take(&mut self.path);
                let why = vfs::strerror(&e);
                Err(Failure::new(format!("could not remove old lock file \"{path}\": {why}")))
            }
            _ => Ok(()),
        }
    }

    /// Changes a line (from 0); lines between are empty. The file is rewritten in place, as readers expect.
    pub(crate) fn set(&mut self, line: usize, text: &str) {
        while self.lines.len() <= line {
            self.lines.push(String::new());
        }
        text.clone_into(&mut self.lines[line]);
        let text = self.text();
        // A lock file that cannot be rewritten still locks.
        let _ = fs::OpenOptions::new()
            .write(true)
            .truncate(true)
            .open(&self.path)
            .and_then(|mut f| f.write_all(text.as_bytes()));
    }
}

fn in_use(key: &str, id: i32, data: &str) -> Failure {
    Failure::new(format!(
        "pre-existing shared memory block (key {key}, ID {id}) is still in use\n\
         HINT:  Terminate any old server processes associated with data directory \"{data}\"."
    ))
}

/// Refuses a data directory on which processes of PostgreSQL work whose lock file is gone.
pub(crate) fn check_shared_memory(data: &str) -> Result<(), Failure> {
    match process::shared_memory_of(data) {
        // The key is shown as PostgreSQL does: a long without sign.
        Ok(Some((key, id))) => Err(in_use(&(i64::from(key) as u64).to_string(), id, data)),
        Ok(None) => Ok(()),
        Err(e) => Err(Failure::new(format!("could not stat data directory \"{data}\": {e}"))),
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
    fn what_cannot_be_read_is_left_alone_with_the_reason() {
        let path = std::env::temp_dir().join(format!("norsu-unread-{}", std::process::id()));
        let path = path.to_str().unwrap().to_owned();
        fs::create_dir(&path).unwrap();
        let refused = LockFile::create(path.clone(), vec!["x".into()]).err().unwrap();
        let expected = format!("could not open lock file \"{path}\": Is a directory");
        assert_eq!(refused.message, expected);
        fs::remove_dir(&path).unwrap();
    }

    #[test]
    fn a_living_owner_keeps_others_out_and_a_dead_one_does_not() {
        let path = std::env::temp_dir().join(format!("norsu-lock-{}", std::process::id()));
        let path = path.to_str().unwrap().to_owned();
        // Process 1 lives as long as the machine does.
        fs::write(&path, "1\n/data\n").unwrap();
        let refused = LockFile::create(path.clone(), vec!["x".into()]).err().unwrap();
        assert!(refused.message.contains("PID 1"), "{}", refused.message);
        assert_eq!(fs::read_to_string(&path).unwrap(), "1\n/data\n");
        fs::write(&path, format!("{}\n", i32::MAX)).unwrap();
        let mut lock = LockFile::create(path.clone(), vec!["7".into()]).ok().unwrap();
        lock.set(2, "c");
        assert_eq!(fs::read_to_string(&path).unwrap(), "7\n\nc\n");
        drop(lock);
        assert!(fs::metadata(&path).is_err());
    }
}
