//! A sequence's single page: one frozen heap tuple of three columns, and a magic number in the
//! special space. Counterpart: sequence.c, commands/sequence.h.

use crate::heap_tuple::{HEADER_SIZE, HeapTupleHeader, infomask};
use crate::raw::Page;
use crate::space::AddAt;
use ids::{BlockNo, CommandId, Tid, Xid};
use pgerror::{Result, pg_err};

/// In the special space. Counterpart: `SEQ_MAGIC`.
pub const MAGIC: u32 = 0x1717;
const SPECIAL_SIZE: usize = 4;
const HOFF: usize = 24;
/// Bytes of a sequence's tuple: header, two 8-byte columns and a bool.
pub const TUPLE_SIZE: usize = HOFF + 17;

/// The columns of a sequence's row.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SequenceData {
    pub last_value: i64,
    /// Number of values that may be fetched before the next WAL record.
    pub log_count: i64,
    pub is_called: bool,
}

impl SequenceData {
    /// The row as a frozen tuple, as stored on the page and in the log.
    pub fn to_tuple(&self) -> [u8; TUPLE_SIZE] {
        let mut header = HeapTupleHeader {
            raw_xmin: Xid::FROZEN,
            raw_xmax: Xid::INVALID,
            raw_cid: CommandId::FIRST,
            ctid: Tid::new(BlockNo(0), 1),
            infomask: infomask::XMIN_FROZEN | infomask::XMAX_INVALID,
            infomask2: 0,
            hoff: HOFF as u8,
        };
        header.set_natts(3);
        let mut tuple = [0; TUPLE_SIZE];
        header.write(&mut tuple);
        self.write(&mut tuple);
        tuple
    }

    fn write(&self, tuple: &mut [u8]) {
        tuple[HOFF..HOFF + 8].copy_from_slice(&self.last_value.to_le_bytes());
        tuple[HOFF + 8..HOFF + 16].copy_from_slice(&self.log_count.to_le_bytes());
        tuple[HOFF + 16] = self.is_called as u8;
    }

    /// From a tuple's bytes.
    pub fn from_tuple(tuple: &[u8]) -> Option<SequenceData> {
        let data = tuple.get(HOFF..TUPLE_SIZE)?;
        Some(SequenceData {
            last_value: i64::from_le_bytes(*data.first_chunk()?),
            log_count: i64::from_le_bytes(*data[8..].first_chunk()?),
            is_called: data[16] != 0,
        })
    }
}

/// Initializes a sequence's page with `tuple` (from [`SequenceData::to_tuple`] or a WAL record).
pub fn init_page(page: &mut Page, tuple: &[u8]) -> bool {
    page.init(SPECIAL_SIZE);
    let special = page.special();
    page.set_u32_at(special, MAGIC);
    page.add_item(tuple, AddAt::Any, false).is_some()
}

/// Reads the row; the name is for messages. Counterpart: `read_seq_tuple`.
pub fn read(page: &Page, name: &str) -> Result<SequenceData> {
    let special = page.special();
    let magic = if special + 4 <= crate::raw::PAGE_SIZE && special.is_multiple_of(4) {
        page.u32_at(special)
    } else {
        0
    };
    if magic != MAGIC {
        let what = format!("bad magic number in sequence \"{name}\": {magic:08X}");
        return Err(pg_err!(INTERNAL_ERROR, "{what}"));
    }
    let lp = page.line_pointer(1);
    let data = page.slice(lp.offset() + HEADER_SIZE, lp.len().saturating_sub(HEADER_SIZE));
    let data = data.get(HOFF - HEADER_SIZE..).unwrap_or(&[]);
    if !lp.is_normal() || data.len() < TUPLE_SIZE - HOFF {
        return Err(pg_err!(DATA_CORRUPTED, "sequence \"{name}\" has no tuple"));
    }
    let word = |i: usize| i64::from_le_bytes(*data[i..].first_chunk().expect("17 bytes"));
    Ok(SequenceData { last_value: word(0), log_count: word(8), is_called: data[16] != 0 })
}

/// Overwrites the row in place (between WAL records, or with the one that logs it).
pub fn write(page: &mut Page, data: &SequenceData) {
    let item = page.item_mut(1);
    if item.len() >= TUPLE_SIZE {
        data.write(item);
    }
}
