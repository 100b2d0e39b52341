//! The file in which the entries outlive the server. It is read and removed at the start, and
//! written at the end, so that after a crash there are no entries.
//!
//! ```text
//! 16 bytes: magic | deallocations u64 | time of the last reset i64 | number of entries u64
//! entry: user u32 | database u32 | id i64 | toplevel u64 | counters | length of text u64 | text
//! ```
//! PostgreSQL does not read it, and starts without entries; its own file is ignored as well.
//!
//! Counterpart: `pgss_shmem_startup`, `pgss_shmem_shutdown`.

use crate::counters::{Counters, WORDS};
use crate::registry::{Key, Registry};
use ids::Oid;
use plan::query::Identity;
use std::io;
use std::sync::Arc;
use vfs::{Disk, OpenMode};

const PATH: &str = "pg_stat/pg_stat_statements.stat";
const TEMPORARY: &str = "pg_stat/pg_stat_statements.stat.tmp";
const MAGIC: &[u8; 16] = b"norsu statements";
/// Longer files are not read.
const BYTES_MAX: u64 = 1 << 30;

/// Writes all entries.
pub fn save(registry: &Registry, disk: &dyn Disk) -> io::Result<()> {
    let (deallocations, reset_at) = registry.info();
    let entries = registry.entries();
    let mut out = MAGIC.to_vec();
    for word in [deallocations, reset_at as u64, entries.len() as u64] {
        out.extend_from_slice(&word.to_le_bytes());
    }
    for entry in &entries {
        let key = entry.key;
        out.extend_from_slice(&key.user.0.to_le_bytes());
        out.extend_from_slice(&key.database.0.to_le_bytes());
        let mut put = |word: u64| out.extend_from_slice(&word.to_le_bytes());
        put(key.id as u64);
        put(u64::from(key.toplevel));
        entry.counters().to_words().into_iter().for_each(&mut put);
        put(entry.identity.text.len() as u64);
        out.extend_from_slice(entry.identity.text.as_bytes());
    }
    let file = disk.open(TEMPORARY, OpenMode::Truncate)?;
    let mut written = 0;
    while written < out.len() {
        written += file.write_at(&out[written..], written as u64)?;
    }
    file.sync_all()?;
    disk.rename(TEMPORARY, PATH)
}

/// Reads the entries into an empty registry, and removes the file. Returns false if there is a file
/// and it cannot be used.
pub fn load(registry: &Registry, disk: &dyn Disk) -> bool {
    let Ok(file) = disk.open(PATH, OpenMode::Read) else { return true };
    let len = file.len().unwrap_or(0).min(BYTES_MAX);
    let mut bytes = vec![0; len as usize];
    let mut at = 0;
    while at < bytes.len() {
        match file.read_at(&mut bytes[at..], at as u64) {
            Ok(n) if n > 0 => at += n,
            _ => break,
        }
    }
    bytes.truncate(at);
    // A file that stays is read again at the next start.
    let _ = disk.unlink(PATH);
    decode(&bytes, registry).is_some()
}

/// The unread part of the file.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn word(&mut self) -> Option<u64> {
        let (word, rest) = self.0.split_first_chunk::<8>()?;
        self.0 = rest;
        Some(u64::from_le_bytes(*word))
    }

    fn text(&mut self) -> Option<&'a str> {
        let len = usize::try_from(self.word()?).ok()?;
        let (text, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        std::str::from_utf8(text).ok()
    }
}

fn decode(bytes: &[u8], registry: &Registry) -> Option<()> {
    let mut file = Reader(bytes.strip_prefix(MAGIC)?);
    let info = (file.word()?, file.word()? as i64);
    let count = file.word()?;
    let mut entries = Vec::new();
    for _ in 0..count {
        let names = file.word()?;
        let (user, database) = (Oid(names as u32), Oid((names >> 32) as u32));
        let id = file.word()? as i64;
        let toplevel = file.word()? != 0;
        let mut words = [0; WORDS];
        for word in &mut words {
            *word = file.word()?;
        }
        let text = file.text()?;
        let identity = Arc::new(Identity { id, text: text.into(), original: text.into() });
        let key = Key { user, database, id, toplevel };
        entries.push((key, identity, Counters::from_words(&words)));
    }
    registry.restore(entries, info);
    Some(())
}
