//! TOAST: large values are compressed inline, or moved out of line: cut into chunks that are rows
//! of the table's TOAST table.
//!
//! A row larger than about a quarter page is made smaller in steps, the largest value first:
//!
//! 1. compress values of storage `x`; move a value of storage `x` or `e` out of line at once if it
//!    alone exceeds the target,
//! 2. move values of storage `x` and `e` out of line,
//! 3. compress values of storage `m`,
//! 4. move values of storage `m` out of line if the row does not fit on a page.
//!
//! Counterpart: heaptoast.c, toast_helper.c, toast_internals.c, detoast.c.

use crate::backend::Backend;
use crate::desc::{TableDesc, ToastDesc};
use crate::index::{self, ScanKey, UniqueCheck};
use crate::table::{self, RowOutcome};
use ids::code::ColumnStorage;
use ids::{AttrNo, Oid};
use page::form::data_size;
use page::heap_tuple::{HEADER_SIZE, bitmap_len};
use page::varlena::{self, Compression, ToastPointer, Varlena};
use page::{HeapTuple, Value, max_align};
use pgerror::{PgError, Result, pg_err};
use smallvec::SmallVec;
use sync::Arc;
use txn::SnapshotKind;
use types::{Batch, Datum, DatumRef};

/// Size in bytes above which rows are toasted. Counterpart: `TOAST_TUPLE_THRESHOLD`.
pub const TUPLE_THRESHOLD: usize = 2032;
/// Counterpart: `TOAST_TUPLE_TARGET_MAIN`.
const TARGET_MAIN: usize = 8160;
/// Storages whose values are moved out of line before those of [`MAIN`].
const MOVABLE: &[ColumnStorage] = &[ColumnStorage::Extended, ColumnStorage::External];
const MAIN: &[ColumnStorage] = &[ColumnStorage::Main];
/// Bytes of a chunk. Counterpart: `TOAST_MAX_CHUNK_SIZE`.
pub const CHUNK_SIZE: usize = 1996;

/// Decompresses an inline compressed varlena (with its header) into `out`.
pub fn decompress(raw: &[u8], out: &mut Vec<u8>) -> Result<()> {
    out.clear();
    match Varlena::parse(raw) {
        Some(Varlena::Compressed { raw_size, method, data }) => expand(method, data, raw_size, out),
        Some(Varlena::Plain(payload)) => {
            out.extend_from_slice(payload);
            Ok(())
        }
        _ => Err(pg_err!(DATA_CORRUPTED, "compressed data is corrupt")),
    }
}

/// Appends the decompressed data, of `raw_size` bytes.
fn expand(method: Compression, data: &[u8], raw_size: usize, out: &mut Vec<u8>) -> Result<()> {
    let whole = raw_size + varlena::HEADER_SIZE;
    if whole > varlena::MAX_SIZE {
        return Err(pg_err!(INTERNAL_ERROR, "invalid memory alloc request size {whole}"));
    }
    let at = out.len();
    // A corrupted size must not cause a large allocation.
    let promised = raw_size.min(method.expanded_max(data.len()));
    out.try_reserve(promised).map_err(|_| pg_err!(OUT_OF_MEMORY, "out of memory"))?;
    out.resize(at + promised, 0);
    let target = &mut out[at..];
    let done = match method {
        Compression::Pglz => page::pglz::decompress(data, target, true),
        Compression::Lz4 => lz4_flex::block::decompress_into(data, target).ok(),
    };
    if done == Some(raw_size) {
        return Ok(());
    }
    out.truncate(at);
    Err(pg_err!(DATA_CORRUPTED, "compressed {} data is corrupt", method.name()))
}

/// Compresses a payload to a varlena (with header); `None` if that saves too little.
/// Counterpart: `toast_compress_datum`.
pub fn compress(payload: &[u8], method: Compression) -> Option<Vec<u8>> {
    let mut data = Vec::new();
    match method {
        Compression::Pglz => {
            page::pglz::compress(payload, &page::pglz::Strategy::DEFAULT, &mut data)?;
        }
        Compression::Lz4 => data = lz4_flex::block::compress(payload),
    }
    let total = data.len() + varlena::COMPRESSED_HEADER_SIZE;
    (total + 2 < payload.len()).then(|| varlena::compressed(payload.len(), method, &data))
}

/// Appends the value of a TOAST pointer of the table.
pub(crate) fn fetch(
    be: &mut Backend,
    table: &TableDesc,
    raw: &[u8],
    out: &mut Vec<u8>,
) -> Result<()> {
    let Some(Varlena::External(pointer)) = Varlena::parse(raw) else {
        return Err(pg_err!(DATA_CORRUPTED, "invalid TOAST pointer in table \"{}\"", table.name));
    };
    let toast = toast_of(table)?;
    let Some(method) = pointer.method else {
        return chunks(be, toast, &pointer, out);
    };
    let mut stored = Vec::new();
    chunks(be, toast, &pointer, &mut stored)?;
    // The stored bytes start with size and compression method, as in the pointer.
    let (info, data) = stored
        .split_first_chunk()
        .ok_or_else(|| pg_err!(DATA_CORRUPTED, "compressed {} data is corrupt", method.name()))?;
    let (raw_size, method) = varlena::compression_of(u32::from_le_bytes(*info))?;
    expand(method, data, raw_size, out)
}

fn toast_of(table: &TableDesc) -> Result<&ToastDesc> {
    table.toast.as_ref().ok_or_else(|| {
        pg_err!(DATA_CORRUPTED, "table \"{}\" has TOAST pointers but no TOAST table", table.name)
    })
}

/// Appends the stored bytes of all chunks. Counterpart: `heap_fetch_toast_slice`.
fn chunks(
    be: &mut Backend,
    toast: &ToastDesc,
    pointer: &ToastPointer,
    out: &mut Vec<u8>,
) -> Result<()> {
    let size = pointer.ext_size as usize;
    let (id, name) = (pointer.value_id, &toast.table.name);
    // The size in the pointer may be corrupted, so memory is allocated chunk by chunk.
    let begin = out.len();
    let mut expected = 0;
    let last = size.saturating_sub(1) / CHUNK_SIZE;
    visit(be, toast, id, &[2, 3], &mut |batch, row| {
        let (DatumRef::Word(seq), DatumRef::Bytes(data)) = (batch.get(row, 0), batch.get(row, 1))
        else {
            return Err(pg_err!(
                DATA_CORRUPTED,
                "chunk {expected} of toast value {id} in {name} is null"
            ));
        };
        let seq = seq as i32;
        if seq != expected {
            return Err(pg_err!(
                DATA_CORRUPTED,
                "unexpected chunk number {seq} (expected {expected}) for toast value {id} in {name}"
            ));
        }
        let want = if seq as usize == last { size - last * CHUNK_SIZE } else { CHUNK_SIZE };
        if seq as usize > last || data.len() != want {
            return Err(pg_err!(
                DATA_CORRUPTED,
                "unexpected chunk size {} (expected {want}) in chunk {seq} of {} for toast value \
                 {id} in {name}",
                data.len(),
                last + 1
            ));
        }
        out.try_reserve(data.len()).map_err(|_| pg_err!(OUT_OF_MEMORY, "out of memory"))?;
        out.extend_from_slice(data);
        expected += 1;
        Ok(())
    })?;
    if out.len() - begin != size {
        return Err(pg_err!(
            DATA_CORRUPTED,
            "missing chunk number {expected} for toast value {id} in {name}"
        ));
    }
    Ok(())
}

/// The condition for the chunks of a value.
fn of_value(toast: &ToastDesc, id: Oid) -> ScanKey {
    ScanKey::compare(0, toast.index.capabilities().equality, Datum::oid(id))
}

/// Calls `each` with the requested columns of the value's chunks, in order.
fn visit(
    be: &mut Backend,
    toast: &ToastDesc,
    id: Oid,
    columns: &[AttrNo],
    each: &mut dyn FnMut(&Batch, usize) -> Result<()>,
) -> Result<()> {
    let key = of_value(toast, id);
    // A chunk is visible if the row with its pointer was visible.
    let snapshot = Arc::new(txn::Snapshot::of_kind(SnapshotKind::Toast));
    // The scan does not keep the leaf of the entries pinned. If VACUUM removes a chunk and its TID
    // is reused, the new row is visible to such a snapshot. So the chunk_id of each row is checked.
    let columns: SmallVec<[AttrNo; 4]> = columns.iter().copied().chain([CHUNK_ID]).collect();
    let chunk_id = columns.len() - 1;
    let mut scan = index::IndexScan::new(
        be,
        &toast.table,
        &toast.index,
        snapshot,
        vec![key],
        &columns,
        index::IndexScanOptions::default(),
    )?;
    let mut batch = table::new_batch(&toast.table, &columns);
    loop {
        batch.clear();
        if !scan.next_batch(be, index::Direction::Forward, &mut batch, 64)? {
            return scan.end(be);
        }
        for row in 0..batch.len {
            if batch.get(row, chunk_id) == DatumRef::Word(u64::from(id.0)) {
                each(&batch, row)?;
            }
        }
    }
}

/// The column with the OID of the value to which a chunk belongs.
const CHUNK_ID: AttrNo = 1;

/// The values of a row in the form in which they are stored.
pub(crate) struct Prepared<'a> {
    pub(crate) values: Vec<Stored<'a>>,
}

pub(crate) enum Stored<'a> {
    Given(Value<'a>),
    /// Created here: a varlena with its header.
    Made(Vec<u8>),
}

impl Stored<'_> {
    pub(crate) fn value(&self) -> Value<'_> {
        match self {
            Stored::Given(value) => *value,
            Stored::Made(bytes) => Value::Raw(bytes),
        }
    }
}

#[derive(Clone, Copy, Default)]
struct State {
    /// The value is not toasted: it is a pointer that is kept, of storage plain, or not a varlena.
    ignore: bool,
    incompressible: bool,
    external: bool,
    compressed: bool,
    /// Its size, including the header.
    size: usize,
}

struct Toaster<'a, 't> {
    table: &'t TableDesc,
    row: Prepared<'a>,
    states: Vec<State>,
    default_method: Compression,
}

/// Toasts the row. TOAST pointers among `values` (as `Value::Raw`) are kept.
/// Counterpart: `heap_toast_insert_or_update`.
pub(crate) fn prepare<'a>(
    be: &mut Backend,
    table: &TableDesc,
    values: Vec<Value<'a>>,
) -> Result<Prepared<'a>> {
    let attrs = &table.tupdesc.attrs;
    let states = attrs
        .iter()
        .zip(&values)
        .map(|(attr, value)| {
            let mut state = State { ignore: attr.len != -1 || value.is_null(), ..State::default() };
            match value {
                Value::Raw(raw) => {
                    state.external = varlena::is_external(raw);
                    state.compressed = varlena::is_compressed(raw);
                    state.ignore |= state.external;
                    state.size = raw.len();
                }
                Value::Bytes(bytes) => {
                    state.size = bytes.len() + varlena::HEADER_SIZE;
                }
                _ => {}
            }
            state.ignore |= attr.storage == ColumnStorage::Plain;
            state
        })
        .collect();
    let row = Prepared { values: values.into_iter().map(Stored::Given).collect() };
    let default_method = be.settings().toast_compression;
    let mut toaster = Toaster { table, row, states, default_method };
    toaster.run(be)?;
    Ok(toaster.row)
}

impl Toaster<'_, '_> {
    fn size(&self) -> Result<usize> {
        let values: Vec<Value<'_>> = self.row.values.iter().map(Stored::value).collect();
        data_size(&self.table.tupdesc, &values)
    }

    fn run(&mut self, be: &mut Backend) -> Result<()> {
        let natts = self.row.values.len();
        let has_nulls = self.row.values.iter().any(|v| v.value().is_null());
        let hoff = max_align(HEADER_SIZE + if has_nulls { bitmap_len(natts) } else { 0 });
        let target = match self.table.toast_tuple_target {
            0 => TUPLE_THRESHOLD,
            n => n,
        };
        let limit = target - hoff;
        let can_move = self.table.toast.is_some();
        while self.size()? > limit {
            let Some(i) = self.largest_value(MOVABLE, true) else { break };
            if self.table.tupdesc.attrs[i].storage == ColumnStorage::Extended {
                self.compress(i);
            } else {
                self.states[i].incompressible = true;
            }
            if self.states[i].size > limit && can_move {
                self.move_out(be, i)?;
            }
        }
        while can_move && self.size()? > limit {
            let Some(i) = self.largest_value(MOVABLE, false) else { break };
            self.move_out(be, i)?;
        }
        while self.size()? > limit {
            let Some(i) = self.largest_value(MAIN, true) else { break };
            self.compress(i);
        }
        let limit = TARGET_MAIN - hoff;
        while can_move && self.size()? > limit {
            let Some(i) = self.largest_value(MAIN, false) else { break };
            self.move_out(be, i)?;
        }
        Ok(())
    }

    /// The largest value of these storages that can still be compressed or moved out of line.
    fn largest_value(&self, storages: &[ColumnStorage], for_compression: bool) -> Option<usize> {
        let mut best = (max_align(varlena::TOAST_POINTER_SIZE), None);
        for (i, (state, attr)) in self.states.iter().zip(&self.table.tupdesc.attrs).enumerate() {
            let done = state.ignore
                || state.external
                || for_compression && (state.compressed || state.incompressible);
            if !done && storages.contains(&attr.storage) && state.size > best.0 {
                best = (state.size, Some(i));
            }
        }
        best.1
    }

    fn compress(&mut self, i: usize) {
        let attr = &self.table.tupdesc.attrs[i];
        let method = Compression::from_char(attr.compression).unwrap_or(self.default_method);
        let packed = match self.row.values[i].value() {
            Value::Bytes(payload) => compress(payload, method),
            _ => None,
        };
        match packed {
            Some(bytes) => {
                self.states[i].compressed = true;
                self.states[i].size = bytes.len();
                self.row.values[i] = Stored::Made(bytes);
            }
            None => self.states[i].incompressible = true,
        }
    }

    fn move_out(&mut self, be: &mut Backend, i: usize) -> Result<()> {
        let toast = toast_of(self.table)?;
        let pointer = save(be, toast, self.row.values[i].value())?;
        self.row.values[i] = Stored::Made(pointer.to_bytes().to_vec());
        self.states[i].external = true;
        self.states[i].size = varlena::TOAST_POINTER_SIZE;
        Ok(())
    }
}

/// Stores a value in chunks. Counterpart: `toast_save_datum`.
fn save(be: &mut Backend, toast: &ToastDesc, value: Value<'_>) -> Result<ToastPointer> {
    let (data, raw_size, method) = match value {
        Value::Bytes(payload) => (payload, payload.len() + varlena::HEADER_SIZE, None),
        Value::Raw(raw) => match Varlena::parse(raw) {
            Some(Varlena::Compressed { raw_size, method, .. }) => {
                (&raw[varlena::HEADER_SIZE..], raw_size + varlena::HEADER_SIZE, Some(method))
            }
            _ => return Err(PgError::internal("value to be toasted is not a varlena")),
        },
        _ => return Err(PgError::internal("value to be toasted is not a varlena")),
    };
    let pointer = ToastPointer {
        raw_size: raw_size as u32,
        ext_size: data.len() as u32,
        method,
        value_id: free_id(be, toast)?,
        toast_rel: toast.table.oid,
    };
    for (seq, chunk) in data.chunks(CHUNK_SIZE).enumerate() {
        be.check_interrupts()?;
        let row = [
            DatumRef::Word(u64::from(pointer.value_id.0)),
            DatumRef::Word(seq as u64),
            DatumRef::Bytes(chunk),
        ];
        let tid = table::insert(be, &toast.table, &row, table::InsertOptions::default())?;
        let check = UniqueCheck::Yes;
        let got = index::insert(be, &toast.index, &toast.table, &row[..2], tid, check, false)?;
        if matches!(got, index::Inserted::Conflict { .. }) {
            return Err(index::unique_violation(
                &toast.index,
                &toast.table,
                Some(("chunk_id, chunk_seq", &format!("{}, {seq}", pointer.value_id))),
            ));
        }
    }
    Ok(pointer)
}

/// An OID that no value in the TOAST table has, not even a dead one. Counterpart:
/// `GetNewOidWithIndex`.
fn free_id(be: &mut Backend, toast: &ToastDesc) -> Result<Oid> {
    loop {
        be.check_interrupts()?;
        let id = be.storage().txns.new_oid()?;
        let key = of_value(toast, id);
        // Any index entry counts, including entries of dead rows.
        if index::scan_tids(be, &toast.index, vec![key], &mut |_, _| {})? == 0 {
            return Ok(id);
        }
    }
}

/// Deletes the chunks of all TOAST pointers in `old`, except those for which `kept` returns true.
/// Counterpart: `heap_toast_delete`, `toast_delete_datum`.
pub(crate) fn delete_values(
    be: &mut Backend,
    table: &TableDesc,
    old: &HeapTuple<'_>,
    kept: &dyn Fn(&[u8]) -> bool,
) -> Result<()> {
    if !old.header.has_external() {
        return Ok(());
    }
    let toast = toast_of(table)?;
    let deformer = table.deformer();
    for value in deformer.deform_all(old)? {
        let Value::Raw(raw) = value else { continue };
        let Some(Varlena::External(pointer)) = Varlena::parse(raw) else { continue };
        if kept(raw) {
            continue;
        }
        let mut tids = Vec::new();
        // Chunks are deleted without checking their contents, which may be corrupted.
        visit(be, toast, pointer.value_id, &[table::system::CTID], &mut |batch, row| {
            tids.push(types::system::tid_of(batch.get(row, 0)));
            Ok(())
        })?;
        for tid in tids {
            match table::delete(be, &toast.table, tid, table::ChangeOptions::default())? {
                RowOutcome::Ok => {}
                other => {
                    return Err(PgError::internal(format!(
                        "chunk of toast value {} cannot be deleted: {other:?}",
                        pointer.value_id
                    )));
                }
            }
        }
    }
    Ok(())
}
