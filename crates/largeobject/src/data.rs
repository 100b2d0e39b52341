//! The data of large objects: the rows of `pg_largeobject`.
//!
//! Counterpart: `inv_read`, `inv_write`, `inv_truncate`, `inv_seek`.

use crate::object::LargeObject;
use catalog::ordered::Range;
use catalog::rows::{PgLargeobject, Text, indexes};
use catalog::{CatCx, Key};
use engine::index::Direction;
use ids::{AttrNo, Oid, Tid};
use pgerror::{Result, bail, pg_err};
use std::ops::ControlFlow;
use types::DatumRef;
use values::memory;

/// Bytes per chunk. Counterpart: `LOBLKSIZE`.
const CHUNK: i64 = 2048;
/// The largest size of an object in bytes. Counterpart: `MAX_LARGE_OBJECT_SIZE`.
pub const SIZE_MAX: i64 = i32::MAX as i64 * CHUNK;
/// Number of chunks that are changed at once; the old ones are in memory.
const CHUNKS: i64 = 64;
/// Number of chunks that are deleted at once.
const DELETED_CHUNKS: usize = 1024;

const WITH_DATA: &[AttrNo] = &[PgLargeobject::pageno, PgLargeobject::data];
const NUMBERS: &[AttrNo] = &[PgLargeobject::pageno];

/// What an offset is relative to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Whence {
    Start,
    Current,
    End,
}

impl Whence {
    /// The meaning of `SEEK_SET`, `SEEK_CUR` and `SEEK_END`. Error 22023 for other numbers.
    pub fn of(number: i32) -> Result<Whence> {
        Ok(match number {
            0 => Whence::Start,
            1 => Whence::Current,
            2 => Whence::End,
            _ => bail!(INVALID_PARAMETER_VALUE, "invalid whence setting: {number}"),
        })
    }
}

/// A row of `pg_largeobject`.
struct Chunk {
    number: i64,
    tid: Tid,
    data: Vec<u8>,
}

/// The number of a chunk.
fn number_of(row: &[DatumRef<'_>]) -> i64 {
    i64::from(row[0].as_i32())
}

/// Number and data of a chunk, of a row with the columns [`WITH_DATA`].
fn content<'r>(oid: Oid, row: &[DatumRef<'r>]) -> Result<(i64, &'r [u8])> {
    let number = number_of(row);
    let data = row[1].as_bytes();
    if data.len() > CHUNK as usize {
        let size = data.len();
        bail!(
            DATA_CORRUPTED,
            "pg_largeobject entry for OID {oid}, page {number} has invalid data field size {size}"
        );
    }
    Ok((number, data))
}

/// The key of a chunk in the index. Chunks have no numbers above `i32::MAX`.
fn key_of(number: i64) -> Key<'static> {
    Key::Word(i64::from(i32::try_from(number).unwrap_or(i32::MAX)) as u64)
}

impl LargeObject {
    /// The chunks from one on, in order.
    fn range<'a>(
        &self,
        keys: &'a [Key<'a>],
        from: Option<Key<'a>>,
        columns: &'a [AttrNo],
        batch_rows: usize,
    ) -> Range<'a, PgLargeobject> {
        Range {
            index: indexes::PG_LARGEOBJECT_LOID_PN_INDEX,
            keys,
            from,
            columns,
            direction: Direction::Forward,
            snapshot: self.snapshot.clone(),
            batch_rows,
        }
    }

    /// The size in bytes: the end of the last chunk.
    pub fn size(&self, cat: &mut CatCx<'_>) -> Result<i64> {
        cat.lock_for_change::<PgLargeobject>()?;
        let mut size = 0;
        let keys = [self.oid.into()];
        let range = self.range(&keys, None, WITH_DATA, 1);
        let range = Range { direction: Direction::Backward, ..range };
        cat.scan_range(&range, &mut |_, row| {
            let (number, data) = content(self.oid, row)?;
            size = number * CHUNK + data.len() as i64;
            Ok(ControlFlow::Break(()))
        })?;
        Ok(size)
    }

    /// Sets the position and returns it. Error 22023 outside the limits.
    pub fn seek(&mut self, cat: &mut CatCx<'_>, offset: i64, whence: Whence) -> Result<i64> {
        let base = match whence {
            Whence::Start => 0,
            Whence::Current => self.offset,
            Whence::End => self.size(cat)?,
        };
        // A sum that overflows is negative.
        let target = base.wrapping_add(offset);
        if !(0..=SIZE_MAX).contains(&target) {
            bail!(INVALID_PARAMETER_VALUE, "invalid large object seek target: {target}");
        }
        self.offset = target;
        Ok(target)
    }

    /// Reads up to `count` bytes, fewer only at the end of the object.
    pub fn read(&mut self, cat: &mut CatCx<'_>, count: usize) -> Result<Vec<u8>> {
        let mut out = Vec::new();
        if count == 0 {
            return Ok(out);
        }
        cat.lock_for_change::<PgLargeobject>()?;
        let mut offset = self.offset;
        let keys = [self.oid.into()];
        let rows = (count as i64 / CHUNK + 2).min(CHUNKS) as usize;
        let range = self.range(&keys, Some(key_of(offset / CHUNK)), WITH_DATA, rows);
        cat.scan_range(&range, &mut |_, row| {
            let (number, data) = content(self.oid, row)?;
            let hole = (number * CHUNK - offset).clamp(0, (count - out.len()) as i64) as usize;
            memory::reserve(&mut out, hole)?;
            out.resize(out.len() + hole, 0);
            offset += hole as i64;
            if out.len() < count {
                let data = data.get((offset - number * CHUNK) as usize..).unwrap_or_default();
                let data = &data[..data.len().min(count - out.len())];
                memory::append(&mut out, data)?;
                offset += data.len() as i64;
            }
            Ok(match out.len() < count {
                true => ControlFlow::Continue(()),
                false => ControlFlow::Break(()),
            })
        })?;
        self.offset = offset;
        Ok(out)
    }

    /// The existing chunks in a range of numbers.
    fn chunks(&self, cat: &mut CatCx<'_>, first: i64, end: i64) -> Result<Vec<Chunk>> {
        let mut found = Vec::new();
        let keys = [self.oid.into()];
        let rows = (end - first).min(CHUNKS) as usize;
        let range = self.range(&keys, Some(key_of(first)), WITH_DATA, rows);
        cat.scan_range(&range, &mut |tid, row| {
            let (number, data) = content(self.oid, row)?;
            if number >= end {
                return Ok(ControlFlow::Break(()));
            }
            found.push(Chunk { number, tid, data: data.to_vec() });
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(found)
    }

    /// Stores a chunk in place of the old one.
    fn store(&self, cat: &mut CatCx<'_>, number: i64, old: Option<Tid>, data: &[u8]) -> Result<()> {
        let pageno = i32::try_from(number).unwrap_or(i32::MAX);
        let row = PgLargeobject { loid: self.oid, pageno, data: Text(data.into()) };
        match old {
            Some(tid) => cat.replace_at(tid, &row)?,
            None => cat.insert(&row)?,
        };
        Ok(())
    }

    fn check_writable(&self) -> Result<()> {
        if !self.writes {
            bail!(INSUFFICIENT_PRIVILEGE, "permission denied for large object {}", self.oid);
        }
        Ok(())
    }

    /// Writes bytes at the position and moves it behind them. Error 22023 beyond [`SIZE_MAX`].
    pub fn write(&mut self, cat: &mut CatCx<'_>, bytes: &[u8]) -> Result<()> {
        self.check_writable()?;
        if bytes.is_empty() {
            return Ok(());
        }
        let size = bytes.len();
        if self.offset + size as i64 > SIZE_MAX {
            bail!(INVALID_PARAMETER_VALUE, "invalid large object write request size: {size}");
        }
        cat.lock_for_change::<PgLargeobject>()?;
        let mut rest = bytes;
        while !rest.is_empty() {
            let first = self.offset / CHUNK;
            let last = (self.offset + rest.len() as i64 - 1) / CHUNK;
            let end = (last + 1).min(first + CHUNKS);
            let mut old = self.chunks(cat, first, end)?.into_iter().peekable();
            for number in first..end {
                let skip = (self.offset % CHUNK) as usize;
                let (part, more) = rest.split_at(rest.len().min(CHUNK as usize - skip));
                let chunk = old.next_if(|chunk| chunk.number == number);
                let (tid, mut data) = match chunk {
                    Some(chunk) => (Some(chunk.tid), chunk.data),
                    None => (None, Vec::new()),
                };
                data.resize(data.len().max(skip + part.len()), 0);
                data[skip..skip + part.len()].copy_from_slice(part);
                self.store(cat, number, tid, &data)?;
                self.offset += part.len() as i64;
                rest = more;
            }
        }
        cat.increment_command_counter()
    }

    /// Makes the object `size` bytes long. If that is in a hole or beyond the end, a chunk marks
    /// the new end. Error 22023 outside the limits.
    pub fn truncate(&mut self, cat: &mut CatCx<'_>, size: i64) -> Result<()> {
        self.check_writable()?;
        if !(0..=SIZE_MAX).contains(&size) {
            bail!(INVALID_PARAMETER_VALUE, "invalid large object truncation target: {size}");
        }
        cat.lock_for_change::<PgLargeobject>()?;
        let last = size / CHUNK;
        let old = self.chunks(cat, last, last + 1)?.pop();
        let (tid, mut data) = match old {
            Some(chunk) => (Some(chunk.tid), chunk.data),
            None => (None, Vec::new()),
        };
        data.resize((size % CHUNK) as usize, 0);
        self.store(cat, last, tid, &data)?;
        self.delete_from(cat, Some(last + 1))?;
        cat.increment_command_counter()
    }

    /// Deletes the chunks from a number on, or all of them.
    fn delete_from(&self, cat: &mut CatCx<'_>, from: Option<i64>) -> Result<()> {
        let mut from = from;
        // There are no chunks after the last number.
        while from.is_none_or(|from| from <= i64::from(i32::MAX)) {
            let mut found: Vec<Tid> = Vec::new();
            let keys = [self.oid.into()];
            let range = self.range(&keys, from.map(key_of), NUMBERS, DELETED_CHUNKS);
            let mut last = 0;
            cat.scan_range(&range, &mut |tid, row| {
                last = number_of(row);
                found.push(tid);
                Ok(match found.len() < DELETED_CHUNKS {
                    true => ControlFlow::Continue(()),
                    false => ControlFlow::Break(()),
                })
            })?;
            for tid in &found {
                cat.delete_at::<PgLargeobject>(*tid)?;
            }
            if found.len() < DELETED_CHUNKS {
                break;
            }
            from = Some(last + 1);
        }
        Ok(())
    }
}

/// Deletes the data of an object that is dropped. Error 42704 if the object does not exist.
/// Counterpart: `LargeObjectDrop`.
pub fn delete_data(cat: &mut CatCx<'_>, oid: Oid) -> Result<()> {
    if !crate::exists(cat, oid)? {
        return Err(pg_err!(UNDEFINED_OBJECT, "large object {oid} does not exist"));
    }
    cat.lock_for_change::<PgLargeobject>()?;
    let object = LargeObject { oid, offset: 0, writes: true, snapshot: None };
    object.delete_from(cat, None)
}
