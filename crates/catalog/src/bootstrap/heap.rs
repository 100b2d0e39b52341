//! Builds heap pages of frozen rows and moves wide values to TOAST tables.
//!
//! Counterpart: heaptoast.c, toast_helper.c.

use ids::builtin::ty;
use ids::code::ColumnStorage;
use ids::{BlockNo, CommandId, Oid, Tid, Xid};
use page::heap_tuple::{HeapTupleHeader, infomask};
use page::tupdesc::{Align, Attr, TupleDesc};
use page::varlena::{self, Compression, ToastPointer};
use page::{AddAt, PAGE_SIZE, PageBuf, Value, form, pglz};
use pgerror::{PgError, Result};
use types::{Datum, DatumRef};

/// Rows wider than this many bytes (a quarter of a page) are toasted.
const TOAST_TARGET: usize = 2032;
/// Maximum payload of a TOAST chunk in bytes.
const CHUNK: usize = 1996;

/// The heap pages of a relation.
#[derive(Default)]
pub(super) struct HeapPages {
    pub pages: Vec<PageBuf>,
    pub rows: usize,
}

impl HeapPages {
    /// Adds a tuple, frozen and with the bootstrap XID as its `xmin`.
    pub(super) fn add(&mut self, mut tuple: Vec<u8>) -> Result<Tid> {
        let corrupt = || PgError::internal("row does not fit a page");
        let mut header = HeapTupleHeader::read(&tuple).ok_or_else(corrupt)?;
        header.raw_xmin = Xid::BOOTSTRAP;
        header.raw_xmax = Xid::INVALID;
        header.raw_cid = CommandId::FIRST;
        header.infomask |= infomask::XMIN_FROZEN | infomask::XMAX_INVALID;
        for fresh in [false, true] {
            if fresh || self.pages.is_empty() {
                let mut page = PageBuf::new();
                page.init(0);
                page.set_all_visible(true);
                self.pages.push(page);
            }
            let block = BlockNo(self.pages.len() as u32 - 1);
            let page = self.pages.last_mut().ok_or_else(corrupt)?;
            let tid = Tid::new(block, page.max_offset() + 1);
            header.ctid = tid;
            header.write(&mut tuple);
            if page.add_item(&tuple, AddAt::Any, true).is_some() {
                self.rows += 1;
                return Ok(tid);
            }
        }
        Err(corrupt())
    }

    /// The bytes of the main fork, with page checksums if `checksums`.
    pub(super) fn bytes(&mut self, checksums: bool) -> Vec<u8> {
        page_bytes(&mut self.pages, checksums)
    }

    /// The visibility map, all pages all-visible and all-frozen; empty for an empty relation.
    pub(super) fn visibility_map(&self, checksums: bool) -> Vec<u8> {
        let mut maps = Vec::new();
        for block in (0..self.pages.len() as u32).map(BlockNo) {
            let at = page::vm::map_block(block).0 as usize;
            if maps.len() <= at {
                let mut map = PageBuf::new();
                map.init(0);
                maps.push(map);
            }
            page::vm::set(&mut maps[at], block, page::vm::VALID_BITS);
        }
        page_bytes(&mut maps, checksums)
    }
}

pub(super) fn page_bytes(pages: &mut [PageBuf], checksums: bool) -> Vec<u8> {
    let mut out = Vec::with_capacity(pages.len() * PAGE_SIZE);
    for (block, page) in pages.iter_mut().enumerate() {
        if checksums {
            page.set_checksum(BlockNo(block as u32));
        }
        out.extend_from_slice(page.as_bytes());
    }
    out
}

/// A TOAST table under construction.
pub(super) struct ToastPages {
    pub relation: Oid,
    pub heap: HeapPages,
    /// Index key and TID of each chunk.
    pub chunks: Vec<(Vec<Datum>, Tid)>,
    next_value: u32,
    desc: TupleDesc,
}

impl ToastPages {
    pub(super) fn new(relation: Oid) -> ToastPages {
        let attrs = vec![
            Attr::new(b"chunk_id", ty::OID, 4, true, Align::Int),
            Attr::new(b"chunk_seq", ty::INT4, 4, true, Align::Int),
            Attr {
                storage: ColumnStorage::Plain,
                ..Attr::new(b"chunk_data", ty::BYTEA, -1, false, Align::Int)
            },
        ];
        ToastPages {
            relation,
            heap: HeapPages::default(),
            chunks: Vec::new(),
            // Value OIDs need to be unique only within the TOAST table.
            next_value: Oid::FIRST_UNPINNED.0,
            desc: TupleDesc::new(attrs),
        }
    }

    /// Stores the payload of a varlena as chunks; returns the TOAST pointer.
    fn store(
        &mut self,
        raw_size: u32,
        method: Option<Compression>,
        data: &[u8],
    ) -> Result<Vec<u8>> {
        let value_id = Oid(self.next_value);
        self.next_value += 1;
        for (seq, chunk) in data.chunks(CHUNK).enumerate() {
            let seq = seq as i32;
            let values =
                [Value::Word(u64::from(value_id.0)), Value::Word(seq as u64), Value::Bytes(chunk)];
            let tid = self.heap.add(form::form(&self.desc, &values)?)?;
            self.chunks.push((vec![Datum::oid(value_id), Datum::int4(seq)], tid));
        }
        let ext_size = data.len() as u32;
        let pointer =
            ToastPointer { raw_size, ext_size, method, value_id, toast_rel: self.relation };
        Ok(pointer.to_bytes().to_vec())
    }
}

pub(super) fn value(datum: DatumRef<'_>) -> Value<'_> {
    match datum {
        DatumRef::Null => Value::Null,
        DatumRef::Word(w) => Value::Word(w),
        DatumRef::Bytes(b) => Value::Bytes(b),
    }
}

/// Forms a tuple. A row wider than [`TOAST_TARGET`] of a table with a TOAST table is toasted:
/// attributes are compressed, largest first, then stored out of line, until the row is small
/// enough.
pub(super) fn form_row(
    desc: &TupleDesc,
    row: &[Datum],
    toast: Option<&mut ToastPages>,
) -> Result<Vec<u8>> {
    let values: Vec<Value<'_>> = row.iter().map(|d| value(d.as_ref())).collect();
    let tuple = form::form(desc, &values)?;
    let Some(toast) = toast.filter(|_| tuple.len() > TOAST_TARGET) else { return Ok(tuple) };

    // Attributes whose stored form is already known: compressed values and TOAST pointers.
    let mut raw: Vec<Option<Vec<u8>>> = vec![None; row.len()];
    let mut tried = vec![false; row.len()];
    let mut compressing = true;
    loop {
        let values: Vec<Value<'_>> = row
            .iter()
            .zip(&raw)
            .map(|(d, raw)| raw.as_ref().map_or_else(|| value(d.as_ref()), |r| Value::Raw(r)))
            .collect();
        let tuple = form::form(desc, &values)?;
        if tuple.len() <= TOAST_TARGET {
            return Ok(tuple);
        }
        let size = |i: usize| match (&raw[i], row[i].as_ref()) {
            (Some(r), _) => r.len(),
            (None, DatumRef::Bytes(b)) => b.len() + 4,
            _ => 0,
        };
        let is_external = |i: usize| raw[i].as_ref().is_some_and(|r| varlena::is_external(r));
        let candidates = (0..row.len()).filter(|&i| {
            let attr = &desc.attrs[i];
            let movable = attr.len == -1
                && matches!(attr.storage, ColumnStorage::Extended | ColumnStorage::External);
            movable
                && size(i) > varlena::TOAST_POINTER_SIZE + 8
                && !is_external(i)
                && !(compressing && tried[i])
        });
        let Some(i) = candidates.max_by_key(|&i| size(i)) else {
            if compressing {
                compressing = false;
                continue;
            }
            return Ok(tuple);
        };
        let DatumRef::Bytes(payload) = row[i].as_ref() else {
            return Err(PgError::internal("varlena column has a by-value datum"));
        };
        if compressing {
            tried[i] = true;
            let mut data = Vec::new();
            if desc.attrs[i].storage == ColumnStorage::Extended
                && pglz::compress(payload, &pglz::Strategy::DEFAULT, &mut data).is_some()
            {
                raw[i] = Some(varlena::compressed(payload.len(), Compression::Pglz, &data));
            }
            // A value that alone exceeds the target is stored out of line at once.
            if size_of(&raw[i], payload) <= TOAST_TARGET {
                continue;
            }
        }
        let raw_size = payload.len() as u32 + 4;
        let pointer = match &raw[i] {
            Some(r) => toast.store(raw_size, Some(Compression::Pglz), &r[4..])?,
            None => toast.store(raw_size, None, payload)?,
        };
        raw[i] = Some(pointer);
    }
}

fn size_of(raw: &Option<Vec<u8>>, payload: &[u8]) -> usize {
    raw.as_ref().map_or(payload.len() + 4, Vec::len)
}
