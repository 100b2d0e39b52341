//! The statistics file `pg_stat/pgstat.stat`, in the format of PostgreSQL 15 on a little-endian
//! machine with 64-bit words.
//!
//! ```text
//! format id (4 bytes) | archiver | bgwriter | checkpointer | SLRUs | WAL | entry … | 'E'
//! entry: 'S' | kind | database | object (4 bytes each) | counters
//!        'N' | kind (4 bytes) | name (64 bytes) | counters     (replication slots)
//! ```
//!
//! Counterpart: `pgstat_write_statsfile`, `pgstat_read_statsfile` in pgstat.c.

use crate::shared::{Key, Kind, Stats};
use crate::values::{DatabaseStats, FunctionStats, RelationStats};
use ids::Oid;

/// Counterpart: `PGSTAT_FILE_FORMAT_ID`.
const FORMAT: u32 = 0x01a5_bca7;
const ARCHIVER_BYTES: usize = 136;
const SLRU_BYTES: usize = 512;
/// Counters of a subscription, in words.
const SUBSCRIPTION_WORDS: usize = 3;
/// The name and the counters of a replication slot, after its kind.
const SLOT_BYTES: usize = 64 + 64 + 9 * 8;

/// The counters that do not belong to an object. Those of the archiver and of the SLRUs are kept as
/// they were read, because nothing here counts them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fixed {
    pub archiver: [u8; ARCHIVER_BYTES],
    /// Pages written, rounds that ended at the limit, pages allocated, time of the reset.
    pub bgwriter: [i64; 4],
    /// Timed and requested checkpoints, write and sync time in milliseconds, pages written by
    /// checkpoints and by sessions, syncs of sessions.
    pub checkpointer: [i64; 7],
    pub slru: [u8; SLRU_BYTES],
    /// Records, images, bytes, full buffers, writes, syncs, write and sync time in microseconds,
    /// time of the reset.
    pub wal: [i64; 9],
}

impl Default for Fixed {
    fn default() -> Fixed {
        Fixed {
            archiver: [0; ARCHIVER_BYTES],
            bgwriter: [0; 4],
            checkpointer: [0; 7],
            slru: [0; SLRU_BYTES],
            wal: [0; 9],
        }
    }
}

/// The file is damaged.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FileError;

/// The contents of the file.
pub fn serialize(stats: &Stats, fixed: &Fixed) -> Vec<u8> {
    let mut out = Vec::new();
    out.extend(FORMAT.to_le_bytes());
    out.extend(fixed.archiver);
    let words = |out: &mut Vec<u8>, words: &[i64]| {
        words.iter().for_each(|word| out.extend(word.to_le_bytes()));
    };
    words(&mut out, &fixed.bgwriter);
    words(&mut out, &fixed.checkpointer);
    out.extend(fixed.slru);
    words(&mut out, &fixed.wal);
    let mut entry = |kind: Kind, key: Key, values: &[i64]| {
        out.push(b'S');
        out.extend((kind as i32).to_le_bytes());
        out.extend(key.database.0.to_le_bytes());
        out.extend(key.object.0.to_le_bytes());
        words(&mut out, values);
    };
    for (key, values) in stats.databases.all() {
        entry(Kind::Database, key, &values.0);
    }
    for (key, values) in stats.relations.all() {
        entry(Kind::Relation, key, &values.0);
    }
    for (key, values) in stats.functions.all() {
        entry(Kind::Function, key, &values.0);
    }
    out.push(b'E');
    out
}

struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn bytes<const N: usize>(&mut self) -> Result<[u8; N], FileError> {
        let (head, rest) = self.0.split_first_chunk().ok_or(FileError)?;
        self.0 = rest;
        Ok(*head)
    }

    fn words<const N: usize>(&mut self) -> Result<[i64; N], FileError> {
        let mut words = [0; N];
        for word in &mut words {
            *word = i64::from_le_bytes(self.bytes()?);
        }
        Ok(words)
    }

    fn number(&mut self) -> Result<u32, FileError> {
        Ok(u32::from_le_bytes(self.bytes()?))
    }
}

/// Reads the contents of the file into empty statistics. After an error they are empty.
pub fn parse(stats: &Stats, bytes: &[u8]) -> Result<(), FileError> {
    let read = read(stats, &mut Reader(bytes));
    if read.is_err() {
        stats.clear();
    }
    read
}

fn read(stats: &Stats, from: &mut Reader<'_>) -> Result<(), FileError> {
    if from.number()? != FORMAT {
        return Err(FileError);
    }
    let fixed = Fixed {
        archiver: from.bytes()?,
        bgwriter: from.words()?,
        checkpointer: from.words()?,
        slru: from.bytes()?,
        wal: from.words()?,
    };
    *stats.fixed.lock() = fixed;
    loop {
        match from.bytes::<1>()? {
            [b'S'] => entry(stats, from)?,
            // There are no replication slots.
            [b'N'] => {
                from.number()?;
                from.bytes::<SLOT_BYTES>()?;
            }
            [b'E'] if from.0.is_empty() => return Ok(()),
            _ => return Err(FileError),
        }
    }
}

fn entry(stats: &Stats, from: &mut Reader<'_>) -> Result<(), FileError> {
    let kind = from.number()?;
    let key = Key { database: Oid(from.number()?), object: Oid(from.number()?) };
    match kind {
        1 => stats.databases.set(key, DatabaseStats(from.words()?)),
        2 => stats.relations.set(key, RelationStats(from.words()?)),
        3 => stats.functions.set(key, FunctionStats(from.words()?)),
        5 => {
            from.words::<SUBSCRIPTION_WORDS>()?;
        }
        _ => return Err(FileError),
    }
    Ok(())
}
