//! Reading the fields of a record's data in order.

use crate::layout::{le32, le64};
use ids::{Lsn, Oid, RelFile, Xid};

/// Reads little-endian fields from the front; `None` at the end.
#[derive(Clone, Copy)]
pub struct Fields<'a>(pub &'a [u8]);

impl<'a> Fields<'a> {
    pub fn take(&mut self, n: usize) -> Option<&'a [u8]> {
        let (head, rest) = self.0.split_at_checked(n)?;
        self.0 = rest;
        Some(head)
    }

    pub fn u8(&mut self) -> Option<u8> {
        self.take(1).map(|b| b[0])
    }

    pub fn u16(&mut self) -> Option<u16> {
        self.take(2).map(|b| u16::from_le_bytes([b[0], b[1]]))
    }

    pub fn u32(&mut self) -> Option<u32> {
        self.take(4).map(|b| le32(b, 0))
    }

    pub fn u64(&mut self) -> Option<u64> {
        self.take(8).map(|b| le64(b, 0))
    }

    /// A signed 32-bit number.
    pub fn i32(&mut self) -> Option<i32> {
        self.u32().map(|n| n as i32)
    }

    pub fn xid(&mut self) -> Option<Xid> {
        self.u32().map(Xid)
    }

    pub fn oid(&mut self) -> Option<Oid> {
        self.u32().map(Oid)
    }

    pub fn lsn(&mut self) -> Option<Lsn> {
        self.u64().map(Lsn)
    }

    /// Tablespace, database and file number.
    pub fn rel(&mut self) -> Option<RelFile> {
        Some(RelFile::new(self.oid()?, self.oid()?, self.oid()?))
    }
}
