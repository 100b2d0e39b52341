//! TOAST: making wide rows fit. Values are compressed, then moved to the TOAST table in chunks of just
//! under 2,000 bytes, the widest first, until the row is narrow enough; the column's storage says what may
//! be done to it (`p` nothing, `m` compress, move only as a last resort, `e` move, `x` both).
//!
//! Inserting chunks and reading them concerns an index, so both are traits that the engine implements.
//!
//! Counterpart: toasting.c (`heap_toast_insert_or_update`), toast_helper.c, toast_internals.c, detoast.c.

use ids::Oid;
use page::heap_tuple::{HEADER_SIZE, bitmap_len};
use page::varlena::{self, Compression, ToastPointer, Varlena};
use page::{TupleDesc, Value, form, max_align, pglz};
use pgerror::{Result, pg_err};

/// Rows wider than this are toasted. Counterpart: `TOAST_TUPLE_THRESHOLD`.
pub const TOAST_THRESHOLD: usize = 2032;
/// Aimed at (unless `toast_tuple_target` says otherwise). Counterpart: `TOAST_TUPLE_TARGET`.
pub const TOAST_TARGET: usize = 2032;
/// Aimed at when columns of storage `m` are to be moved. Counterpart: `TOAST_TUPLE_TARGET_MAIN`.
pub const TOAST_TARGET_MAIN: usize = 8160;
/// Bytes of a chunk. Counterpart: `TOAST_MAX_CHUNK_SIZE`.
pub const CHUNK_SIZE: usize = 1996;

/// Where values are moved to.
pub trait ToastSink {
    fn toast_rel(&self) -> Oid;
    /// An OID that no value in the table has.
    fn new_value_id(&mut self) -> Result<Oid>;
    /// Inserts the row (`value`, `seq`, `data`) and its index entry.
    fn insert_chunk(&mut self, value: Oid, seq: i32, data: &[u8]) -> Result<()>;
}

/// Where moved values are read from.
pub trait ToastSource {
    /// Appends bytes `from` to `from + len` of what is stored for `pointer` (its payload, or compressed
    /// form from the `va_tcinfo` word on).
    fn read(
        &mut self,
        pointer: &ToastPointer,
        from: usize,
        len: usize,
        out: &mut Vec<u8>,
    ) -> Result<()>;
}

#[cold]
fn corrupt_compressed(method: Compression) -> pgerror::PgError {
    let name = match method {
        Compression::Pglz => "pglz",
        Compression::Lz4 => "lz4",
    };
    pg_err!(DATA_CORRUPTED, "compressed {name} data is corrupt")
}

#[cold]
fn damaged() -> pgerror::PgError {
    pg_err!(DATA_CORRUPTED, "variable-length value is damaged")
}

/// Compresses a payload; `None` if that does not pay. The result is a varlena of the compressed form.
/// Counterpart: `toast_compress_datum`.
pub fn compress(payload: &[u8], method: Compression) -> Option<Vec<u8>> {
    let data = match method {
        Compression::Pglz => {
            let mut out = Vec::with_capacity(payload.len() / 2);
            pglz::compress(payload, &pglz::Strategy::DEFAULT, &mut out)?;
            out
        }
        Compression::Lz4 => lz4_flex::block::compress(payload),
    };
    // Two bytes at least must be saved, headers and all.
    let saved = data.len() + varlena::COMPRESSED_HEADER_SIZE + 2 < payload.len();
    saved.then(|| varlena::compressed(payload.len(), method, &data))
}

/// The payload of compressed `data`, or at least its first `prefix` bytes.
pub fn decompress(
    data: &[u8],
    method: Compression,
    raw_size: usize,
    prefix: usize,
) -> Result<Vec<u8>> {
    match method {
        Compression::Pglz => {
            let want = prefix.min(raw_size);
            let mut out = vec![0; want];
            let made = pglz::decompress(data, &mut out, want == raw_size);
            match made {
                Some(n) if n == want => Ok(out),
                _ => Err(corrupt_compressed(method)),
            }
        }
        Compression::Lz4 => {
            let out = lz4_flex::block::decompress(data, raw_size)
                .map_err(|_| corrupt_compressed(method))?;
            if out.len() != raw_size {
                return Err(corrupt_compressed(method));
            }
            Ok(out)
        }
    }
}

/// The whole payload of a varlena in any form. Counterpart: `detoast_attr`.
pub fn detoast(raw: &[u8], source: &mut dyn ToastSource) -> Result<Vec<u8>> {
    detoast_slice(raw, 0, usize::MAX, source)
}

/// `len` bytes of the payload from `from` on, fewer if it ends before. Counterpart:
/// `detoast_attr_slice`.
pub fn detoast_slice(
    raw: &[u8],
    from: usize,
    len: usize,
    source: &mut dyn ToastSource,
) -> Result<Vec<u8>> {
    let cut = |payload: &[u8]| {
        let from = from.min(payload.len());
        payload[from..from.saturating_add(len).min(payload.len())].to_vec()
    };
    let prefix = from.saturating_add(len);
    match Varlena::parse(raw).ok_or_else(damaged)? {
        Varlena::Plain(payload) => Ok(cut(payload)),
        Varlena::Compressed { raw_size, method, data } => {
            Ok(cut(&decompress(data, method, raw_size, prefix)?))
        }
        Varlena::External(pointer) => {
            let mut out = Vec::new();
            let Some(method) = pointer.method else {
                let size = pointer.ext_size as usize;
                let from = from.min(size);
                source.read(&pointer, from, len.min(size - from), &mut out)?;
                return Ok(out);
            };
            let whole = pointer.ext_size as usize;
            let raw_size = (pointer.raw_size as usize).saturating_sub(varlena::HEADER_SIZE);
            let needed = match method {
                // Enough of the compressed form for the prefix.
                Compression::Pglz if prefix < raw_size => {
                    (4 + (prefix * 9).div_ceil(8) + 2).min(whole)
                }
                _ => whole,
            };
            source.read(&pointer, 0, needed, &mut out)?;
            // The stored form begins with the size and method word.
            let data = out.get(4..).ok_or_else(damaged)?;
            Ok(cut(&decompress(data, method, raw_size, prefix)?))
        }
    }
}

/// The value that `pointer` stands for, inline again but still compressed if it was. Counterpart:
/// `detoast_external_attr`.
fn fetch_inline(pointer: &ToastPointer, source: &mut dyn ToastSource) -> Result<Vec<u8>> {
    let size = pointer.ext_size as usize;
    let mut stored = Vec::with_capacity(size);
    source.read(pointer, 0, size, &mut stored)?;
    Ok(match pointer.method {
        None => varlena::plain(&stored),
        Some(method) => {
            let raw_size = (pointer.raw_size as usize).saturating_sub(varlena::HEADER_SIZE);
            varlena::compressed(raw_size, method, stored.get(4..).ok_or_else(damaged)?)
        }
    })
}

/// Values of a row after toasting: those changed are owned.
pub struct Toasted<'a> {
    values: Vec<Value<'a>>,
    owned: Vec<Option<Vec<u8>>>,
}

impl Toasted<'_> {
    /// The values to form the tuple from.
    pub fn values(&self) -> Vec<Value<'_>> {
        let pairs = self.values.iter().zip(&self.owned);
        pairs.map(|(value, owned)| owned.as_deref().map_or(*value, Value::Raw)).collect()
    }

    fn value(&self, i: usize) -> Value<'_> {
        self.owned[i].as_deref().map_or(self.values[i], Value::Raw)
    }

    /// Bytes of column `i` as a varlena; 0 for what is none.
    fn size(&self, i: usize) -> usize {
        match self.value(i) {
            Value::Bytes(b) => b.len() + varlena::HEADER_SIZE,
            Value::Raw(b) => b.len(),
            _ => 0,
        }
    }

    fn payload(&self, i: usize) -> Option<&[u8]> {
        match self.value(i) {
            Value::Bytes(b) => Some(b),
            Value::Raw(b) => match Varlena::parse(b)? {
                Varlena::Plain(payload) => Some(payload),
                _ => None,
            },
            _ => None,
        }
    }
}

/// What toasting may do.
pub struct ToastOptions<'s> {
    /// Size that the row should not exceed ([`TOAST_TARGET`], or the table's `toast_tuple_target`).
    pub target: usize,
    /// `default_toast_compression`.
    pub compression: Compression,
    /// `None` if the table has no TOAST table.
    pub sink: Option<&'s mut dyn ToastSink>,
    pub source: &'s mut dyn ToastSource,
}

/// State of one row.
struct Job<'a, 'd, 's> {
    desc: &'d TupleDesc,
    row: Toasted<'a>,
    /// May not be touched (any more).
    ignore: Vec<bool>,
    incompressible: Vec<bool>,
    options: ToastOptions<'s>,
}

/// Makes the row narrow enough, if its width or external values call for it. `old`: the values of the
/// version that is being updated; TOAST pointers that stay the same are kept.
pub fn toast<'a>(
    desc: &TupleDesc,
    values: &[Value<'a>],
    old: Option<&[Value<'_>]>,
    options: ToastOptions<'_>,
) -> Result<Toasted<'a>> {
    let count = values.len();
    let row = Toasted { values: values.to_vec(), owned: vec![None; count] };
    let mut job =
        Job { desc, row, ignore: vec![false; count], incompressible: vec![false; count], options };
    job.prepare(old)?;
    job.run()?;
    Ok(job.row)
}

/// Does a row of these values need [`toast`]?
pub fn needs_toast(tuple_len: usize, values: &[Value<'_>]) -> bool {
    let external = |v: &Value<'_>| matches!(v, Value::Raw(b) if varlena::is_external(b));
    tuple_len > TOAST_THRESHOLD || values.iter().any(external)
}

impl Job<'_, '_, '_> {
    /// Decides which columns take part, and brings others' external values inline.
    fn prepare(&mut self, old: Option<&[Value<'_>]>) -> Result<()> {
        for (i, attr) in self.desc.attrs.iter().enumerate() {
            let value = self.row.values[i];
            if attr.len != -1 || value.is_null() {
                self.ignore[i] = true;
                continue;
            }
            if let Value::Raw(raw) = value
                && varlena::is_external(raw)
            {
                let same = old.and_then(|old| old.get(i)).is_some_and(|old| *old == value);
                if same {
                    self.ignore[i] = true;
                    continue;
                }
                let Some(Varlena::External(pointer)) = Varlena::parse(raw) else {
                    return Err(damaged());
                };
                self.row.owned[i] = Some(if attr.storage == b'p' {
                    varlena::plain(&detoast(raw, self.options.source)?)
                } else {
                    fetch_inline(&pointer, self.options.source)?
                });
            }
            self.ignore[i] |= attr.storage == b'p';
        }
        Ok(())
    }

    fn data_size(&self) -> Result<usize> {
        form::data_size(self.desc, &self.row.values())
    }

    /// The widest column that may be compressed (or moved), of storage `m` or of `x` and `e`.
    /// Counterpart: `toast_tuple_find_biggest_attribute`.
    fn widest(&self, compress: bool, main: bool) -> Option<usize> {
        let mut best = (max_align(varlena::TOAST_POINTER_SIZE), None);
        for (i, attr) in self.desc.attrs.iter().enumerate() {
            let raw = match self.row.value(i) {
                Value::Raw(b) => b,
                _ => &[],
            };
            let fits =
                if main { attr.storage == b'm' } else { matches!(attr.storage, b'x' | b'e') };
            if self.ignore[i]
                || !fits
                || varlena::is_external(raw)
                || (compress && (self.incompressible[i] || varlena::is_compressed(raw)))
            {
                continue;
            }
            let size = self.row.size(i);
            if size > best.0 {
                best = (size, Some(i));
            }
        }
        best.1
    }

    fn try_compress(&mut self, i: usize) {
        let method = Compression::from_char(self.desc.attrs[i].compression)
            .unwrap_or(self.options.compression);
        match self.row.payload(i).and_then(|payload| compress(payload, method)) {
            Some(compressed) => self.row.owned[i] = Some(compressed),
            None => self.incompressible[i] = true,
        }
    }

    /// Moves column `i` to the TOAST table. Counterpart: `toast_save_datum`.
    fn store(&mut self, i: usize) -> Result<()> {
        let Some(sink) = self.options.sink.as_deref_mut() else { return Ok(()) };
        let value = self.row.owned[i].as_deref().map_or(self.row.values[i], Value::Raw);
        let pointer = match value {
            Value::Bytes(payload) => save(payload, payload.len(), None, sink)?,
            Value::Raw(raw) => match Varlena::parse(raw).ok_or_else(damaged)? {
                Varlena::Plain(payload) => save(payload, payload.len(), None, sink)?,
                Varlena::Compressed { raw_size, method, .. } => {
                    let stored = raw.get(4..).ok_or_else(damaged)?;
                    save(stored, raw_size, Some(method), sink)?
                }
                Varlena::External(_) => return Ok(()),
            },
            _ => return Ok(()),
        };
        self.row.owned[i] = Some(pointer.to_bytes().to_vec());
        self.ignore[i] = true;
        Ok(())
    }

    fn run(&mut self) -> Result<()> {
        let nulls = self.row.values.iter().any(|v| v.is_null());
        let bitmap = if nulls { bitmap_len(self.desc.len()) } else { 0 };
        let hoff = max_align(HEADER_SIZE + bitmap);
        let target = self.options.target.saturating_sub(hoff);
        // Compress x; what is too wide all by itself is moved at once.
        while self.data_size()? > target {
            let Some(i) = self.widest(true, false) else { break };
            if self.desc.attrs[i].storage == b'x' {
                self.try_compress(i);
            } else {
                self.incompressible[i] = true;
            }
            if self.row.size(i) > target {
                self.store(i)?;
            }
        }
        while self.options.sink.is_some() && self.data_size()? > target {
            let Some(i) = self.widest(false, false) else { break };
            self.store(i)?;
        }
        while self.data_size()? > target {
            let Some(i) = self.widest(true, true) else { break };
            self.try_compress(i);
        }
        let target = TOAST_TARGET_MAIN - hoff;
        while self.options.sink.is_some() && self.data_size()? > target {
            let Some(i) = self.widest(false, true) else { break };
            self.store(i)?;
        }
        Ok(())
    }
}

/// Inserts the chunks of a value.
fn save(
    stored: &[u8],
    raw_size: usize,
    method: Option<Compression>,
    sink: &mut dyn ToastSink,
) -> Result<ToastPointer> {
    let value_id = sink.new_value_id()?;
    for (seq, chunk) in stored.chunks(CHUNK_SIZE).enumerate() {
        sink.insert_chunk(value_id, seq as i32, chunk)?;
    }
    Ok(ToastPointer {
        raw_size: (raw_size + varlena::HEADER_SIZE) as u32,
        ext_size: stored.len() as u32,
        method,
        value_id,
        toast_rel: sink.toast_rel(),
    })
}

/// TOAST pointers among the values: to be deleted with the row.
pub fn external_pointers<'v>(
    values: &'v [Value<'_>],
) -> impl Iterator<Item = (usize, ToastPointer)> + 'v {
    values.iter().enumerate().filter_map(|(i, value)| match value {
        Value::Raw(raw) if varlena::is_external(raw) => match Varlena::parse(raw) {
            Some(Varlena::External(pointer)) => Some((i, pointer)),
            _ => None,
        },
        _ => None,
    })
}

/// The chunks of `pointer` that hold bytes `from` to `from + len`: first and last number (inclusive).
pub fn chunk_range(pointer: &ToastPointer, from: usize, len: usize) -> Option<(i32, i32)> {
    let end = from.saturating_add(len).min(pointer.ext_size as usize);
    if from >= end {
        return None;
    }
    Some(((from / CHUNK_SIZE) as i32, ((end - 1) / CHUNK_SIZE) as i32))
}
