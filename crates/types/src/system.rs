//! Types of PostgreSQL's own bookkeeping: oid, xid, xid8, cid, tid, pg_lsn, oidvector, int2vector, void.

use crate::DatumRef;
use ids::Tid;

/// The tid's value.
pub fn tid_of(d: DatumRef<'_>) -> Tid {
    let b = d.as_bytes();
    Tid::from_bytes([b[0], b[1], b[2], b[3], b[4], b[5]])
}

/// Elements of an oidvector: a one-dimensional array payload whose data begins at byte 20.
pub fn oidvector_of(d: DatumRef<'_>) -> Vec<u32> {
    let data = d.as_bytes().get(20..).unwrap_or_default();
    data.chunks_exact(4).map(|c| u32::from_le_bytes([c[0], c[1], c[2], c[3]])).collect()
}
