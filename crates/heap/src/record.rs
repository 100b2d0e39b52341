//! Encoding and decoding of the heap's WAL records.
//!
//! Counterpart: heapam_xlog.h.

use ids::{OffsetNo, Xid};
use page::HeapTupleHeader;
use page::heap_tuple::{HEADER_SIZE, infomask, infomask2};
use wal::Fields;

/// Operations of resource manager Heap (upper four bits of `info`).
pub mod heap {
    pub const INSERT: u8 = 0x00;
    pub const DELETE: u8 = 0x10;
    pub const UPDATE: u8 = 0x20;
    pub const TRUNCATE: u8 = 0x30;
    pub const HOT_UPDATE: u8 = 0x40;
    pub const CONFIRM: u8 = 0x50;
    pub const LOCK: u8 = 0x60;
    pub const INPLACE: u8 = 0x70;
}

/// Operations of resource manager Heap2.
pub mod heap2 {
    pub const REWRITE: u8 = 0x00;
    pub const PRUNE: u8 = 0x10;
    pub const VACUUM: u8 = 0x20;
    pub const FREEZE_PAGE: u8 = 0x30;
    pub const VISIBLE: u8 = 0x40;
    pub const MULTI_INSERT: u8 = 0x50;
    pub const LOCK_UPDATED: u8 = 0x60;
    pub const NEW_CID: u8 = 0x70;
}

/// The operation without [`INIT_PAGE`].
pub const OPERATION_MASK: u8 = 0x70;
/// Redo initializes the page.
pub const INIT_PAGE: u8 = 0x80;

pub const INSERT_ALL_VISIBLE_CLEARED: u8 = 0x01;
pub const INSERT_LAST_IN_MULTI: u8 = 0x02;
pub const INSERT_IS_SPECULATIVE: u8 = 0x04;
pub const INSERT_CONTAINS_NEW_TUPLE: u8 = 0x08;
pub const INSERT_ON_TOAST_RELATION: u8 = 0x10;
pub const INSERT_ALL_FROZEN_SET: u8 = 0x20;

pub const UPDATE_OLD_ALL_VISIBLE_CLEARED: u8 = 0x01;
pub const UPDATE_NEW_ALL_VISIBLE_CLEARED: u8 = 0x02;
pub const UPDATE_CONTAINS_OLD_TUPLE: u8 = 0x04;
pub const UPDATE_CONTAINS_OLD_KEY: u8 = 0x08;
pub const UPDATE_CONTAINS_NEW_TUPLE: u8 = 0x10;
pub const UPDATE_PREFIX_FROM_OLD: u8 = 0x20;
pub const UPDATE_SUFFIX_FROM_OLD: u8 = 0x40;

pub const DELETE_ALL_VISIBLE_CLEARED: u8 = 0x01;
pub const DELETE_CONTAINS_OLD_TUPLE: u8 = 0x02;
pub const DELETE_CONTAINS_OLD_KEY: u8 = 0x04;
pub const DELETE_IS_SUPER: u8 = 0x08;
pub const DELETE_IS_PARTITION_MOVE: u8 = 0x10;

pub const LOCK_ALL_FROZEN_CLEARED: u8 = 0x01;

const XMAX_IS_MULTI: u8 = 0x01;
const XMAX_LOCK_ONLY: u8 = 0x02;
const XMAX_EXCL_LOCK: u8 = 0x04;
const XMAX_KEYSHR_LOCK: u8 = 0x08;
const KEYS_UPDATED: u8 = 0x10;

/// The infomask bits about `xmax`, packed as in records. Counterpart: `compute_infobits`.
pub fn infobits(mask: u16, mask2: u16) -> u8 {
    let bit = |on: u16, b: u8| if on != 0 { b } else { 0 };
    bit(mask & infomask::XMAX_IS_MULTI, XMAX_IS_MULTI)
        | bit(mask & infomask::XMAX_LOCK_ONLY, XMAX_LOCK_ONLY)
        | bit(mask & infomask::XMAX_EXCL_LOCK, XMAX_EXCL_LOCK)
        | bit(mask & infomask::XMAX_KEYSHR_LOCK, XMAX_KEYSHR_LOCK)
        | bit(mask2 & infomask2::KEYS_UPDATED, KEYS_UPDATED)
}

/// The names of the packed bits, each followed by a space.
pub fn infobit_names(bits: u8) -> String {
    let names = [
        (XMAX_IS_MULTI, "IS_MULTI "),
        (XMAX_LOCK_ONLY, "LOCK_ONLY "),
        (XMAX_EXCL_LOCK, "EXCL_LOCK "),
        (XMAX_KEYSHR_LOCK, "KEYSHR_LOCK "),
        (KEYS_UPDATED, "KEYS_UPDATED "),
    ];
    names.iter().filter(|(bit, _)| bits & bit != 0).map(|(_, name)| *name).collect()
}

/// Sets the bits that [`infobits`] packed. Counterpart: `fix_infomask_from_infobits`.
pub fn set_infobits(h: &mut HeapTupleHeader, bits: u8) {
    h.infomask &= !(infomask::XMAX_IS_MULTI
        | infomask::XMAX_LOCK_ONLY
        | infomask::XMAX_KEYSHR_LOCK
        | infomask::XMAX_EXCL_LOCK);
    h.infomask2 &= !infomask2::KEYS_UPDATED;
    let bit = |b: u8, on: u16| if bits & b != 0 { on } else { 0 };
    // XMAX_SHR_LOCK has no bit of its own: it is the combination of both lock bits.
    h.infomask |= bit(XMAX_IS_MULTI, infomask::XMAX_IS_MULTI)
        | bit(XMAX_LOCK_ONLY, infomask::XMAX_LOCK_ONLY)
        | bit(XMAX_EXCL_LOCK, infomask::XMAX_EXCL_LOCK)
        | bit(XMAX_KEYSHR_LOCK, infomask::XMAX_KEYSHR_LOCK);
    h.infomask2 |= bit(KEYS_UPDATED, infomask2::KEYS_UPDATED);
}

/// The logged part of a tuple's header (5 bytes). Counterpart: `xl_heap_header`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TupleHead {
    pub infomask2: u16,
    pub infomask: u16,
    pub hoff: u8,
}

impl TupleHead {
    pub const SIZE: usize = 5;

    pub fn of(h: &HeapTupleHeader) -> TupleHead {
        TupleHead { infomask2: h.infomask2, infomask: h.infomask, hoff: h.hoff }
    }

    pub fn to_bytes(self) -> [u8; 5] {
        let (a, b) = (self.infomask2.to_le_bytes(), self.infomask.to_le_bytes());
        [a[0], a[1], b[0], b[1], self.hoff]
    }

    pub fn read(f: &mut Fields<'_>) -> Option<TupleHead> {
        Some(TupleHead { infomask2: f.u16()?, infomask: f.u16()?, hoff: f.u8()? })
    }
}

/// Counterpart: `xl_heap_insert`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Insert {
    pub offset: OffsetNo,
    pub flags: u8,
}

impl Insert {
    pub fn to_bytes(self) -> [u8; 3] {
        let o = self.offset.to_le_bytes();
        [o[0], o[1], self.flags]
    }

    pub fn read(main: &[u8]) -> Option<Insert> {
        let mut f = Fields(main);
        Some(Insert { offset: f.u16()?, flags: f.u8()? })
    }
}

/// Counterpart: `xl_heap_delete`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Delete {
    pub xmax: Xid,
    pub offset: OffsetNo,
    pub infobits: u8,
    pub flags: u8,
}

impl Delete {
    pub fn to_bytes(self) -> [u8; 8] {
        let (x, o) = (self.xmax.0.to_le_bytes(), self.offset.to_le_bytes());
        [x[0], x[1], x[2], x[3], o[0], o[1], self.infobits, self.flags]
    }

    pub fn read(main: &[u8]) -> Option<Delete> {
        let mut f = Fields(main);
        Some(Delete { xmax: f.xid()?, offset: f.u16()?, infobits: f.u8()?, flags: f.u8()? })
    }
}

/// Counterpart: `xl_heap_update`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Update {
    pub old_xmax: Xid,
    pub old_offset: OffsetNo,
    pub old_infobits: u8,
    pub flags: u8,
    pub new_xmax: Xid,
    pub new_offset: OffsetNo,
}

impl Update {
    pub fn to_bytes(self) -> [u8; 14] {
        let mut b = [0; 14];
        b[0..4].copy_from_slice(&self.old_xmax.0.to_le_bytes());
        b[4..6].copy_from_slice(&self.old_offset.to_le_bytes());
        b[6] = self.old_infobits;
        b[7] = self.flags;
        b[8..12].copy_from_slice(&self.new_xmax.0.to_le_bytes());
        b[12..14].copy_from_slice(&self.new_offset.to_le_bytes());
        b
    }

    pub fn read(main: &[u8]) -> Option<Update> {
        let mut f = Fields(main);
        Some(Update {
            old_xmax: f.xid()?,
            old_offset: f.u16()?,
            old_infobits: f.u8()?,
            flags: f.u8()?,
            new_xmax: f.xid()?,
            new_offset: f.u16()?,
        })
    }
}

/// Counterpart: `xl_heap_lock` and `xl_heap_lock_updated`, which have the same layout.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Lock {
    pub xmax: Xid,
    pub offset: OffsetNo,
    pub infobits: u8,
    pub flags: u8,
}

impl Lock {
    pub fn to_bytes(self) -> [u8; 8] {
        let (x, o) = (self.xmax.0.to_le_bytes(), self.offset.to_le_bytes());
        [x[0], x[1], x[2], x[3], o[0], o[1], self.infobits, self.flags]
    }

    pub fn read(main: &[u8]) -> Option<Lock> {
        let mut f = Fields(main);
        Some(Lock { xmax: f.xid()?, offset: f.u16()?, infobits: f.u8()?, flags: f.u8()? })
    }
}

/// Counterpart: `xl_heap_prune`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Prune {
    pub latest_removed: Xid,
    pub redirected: u16,
    pub dead: u16,
}

impl Prune {
    pub fn to_bytes(self) -> [u8; 8] {
        let mut b = [0; 8];
        b[0..4].copy_from_slice(&self.latest_removed.0.to_le_bytes());
        b[4..6].copy_from_slice(&self.redirected.to_le_bytes());
        b[6..8].copy_from_slice(&self.dead.to_le_bytes());
        b
    }

    pub fn read(main: &[u8]) -> Option<Prune> {
        let mut f = Fields(main);
        Some(Prune { latest_removed: f.xid()?, redirected: f.u16()?, dead: f.u16()? })
    }
}

/// How one tuple is frozen. Counterpart: `xl_heap_freeze_tuple` (12 bytes with its padding).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FreezeTuple {
    pub xmax: Xid,
    pub offset: OffsetNo,
    pub infomask2: u16,
    pub infomask: u16,
    pub flags: u8,
}

/// The tuple was moved by VACUUM FULL of a release before 9.0: its xvac becomes frozen or invalid.
pub const FREEZE_XVAC: u8 = 0x02;
pub const INVALID_XVAC: u8 = 0x04;

impl FreezeTuple {
    pub const SIZE: usize = 12;

    pub fn to_bytes(self) -> [u8; 12] {
        let mut b = [0; 12];
        b[0..4].copy_from_slice(&self.xmax.0.to_le_bytes());
        b[4..6].copy_from_slice(&self.offset.to_le_bytes());
        b[6..8].copy_from_slice(&self.infomask2.to_le_bytes());
        b[8..10].copy_from_slice(&self.infomask.to_le_bytes());
        b[10] = self.flags;
        b
    }

    pub fn read(f: &mut Fields<'_>) -> Option<FreezeTuple> {
        let mut f = Fields(f.take(Self::SIZE)?);
        Some(FreezeTuple {
            xmax: f.xid()?,
            offset: f.u16()?,
            infomask2: f.u16()?,
            infomask: f.u16()?,
            flags: f.u8()?,
        })
    }
}

/// Main data of `xl_heap_freeze_page`.
pub fn freeze_page_main(cutoff: Xid, tuples: u16) -> [u8; 6] {
    let (x, n) = (cutoff.0.to_le_bytes(), tuples.to_le_bytes());
    [x[0], x[1], x[2], x[3], n[0], n[1]]
}

/// Main data of `xl_heap_visible`.
pub fn visible_main(cutoff: Xid, flags: u8) -> [u8; 5] {
    let x = cutoff.0.to_le_bytes();
    [x[0], x[1], x[2], x[3], flags]
}

/// Rebuilds a tuple from its logged head and body (from byte 23 on); `fill` sets the other header
/// fields. `out` is cleared first.
pub fn rebuild_tuple(
    head: TupleHead,
    body: &[&[u8]],
    fill: impl FnOnce(&mut HeapTupleHeader),
    out: &mut Vec<u8>,
) {
    let mut header = HeapTupleHeader {
        infomask2: head.infomask2,
        infomask: head.infomask,
        hoff: head.hoff,
        ..HeapTupleHeader::default()
    };
    fill(&mut header);
    out.clear();
    out.reserve(HEADER_SIZE + body.iter().map(|part| part.len()).sum::<usize>());
    out.resize(HEADER_SIZE, 0);
    header.write(out);
    for part in body {
        out.extend_from_slice(part);
    }
}
