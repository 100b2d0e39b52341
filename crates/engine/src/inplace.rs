//! In-place updates of catalog rows (`pg_class`, `pg_database`), and the lock that excludes a
//! concurrent new version of the row. See [`heap::inplace_update`] for the invariant.
//!
//! Counterpart: `systable_inplace_update_begin` in genam.c, `LockTuple` with
//! `InplaceUpdateTupleLock`.

use crate::backend::Backend;
use crate::desc::TableDesc;
use heap::InPlace;
use ids::Tid;
use lmgr::{LockMode, LockTag};
use page::TupleDesc;
use pgerror::{PgError, Result, pg_err};
use smallvec::SmallVec;
use types::DatumRef;

/// Counterpart: `InplaceUpdateTupleLock`.
const MODE: LockMode = LockMode::Exclusive;

fn tag(be: &Backend, table: &TableDesc, tid: Tid) -> LockTag {
    let rel = table.heap(be);
    LockTag::tuple(rel.database, rel.oid, tid)
}

/// Locks the row version at `tid` against in-place updates and new versions, until [`unlock`] or
/// the end of the transaction.
///
/// LOCK ORDER: no page is latched.
pub fn lock(be: &mut Backend, table: &TableDesc, tid: Tid) -> Result<()> {
    let tag = tag(be, table, tid);
    let waiting =
        |e: PgError| e.context(format!("while locking tuple {tid} in relation \"{}\"", table.name));
    be.lock(tag, MODE).map(|_| ()).map_err(waiting)
}

pub fn unlock(be: &mut Backend, table: &TableDesc, tid: Tid) {
    let tag = tag(be, table, tid);
    be.unlock(tag, MODE);
}

/// Overwrites the columns in which `new` differs from `old`, which was read from `tid` under
/// [`lock`]. Returns false if `tid` is no longer the row's latest version, or after a wait for an
/// updater; the caller then releases the lock and looks up the row again.
pub fn overwrite(
    be: &mut Backend,
    table: &TableDesc,
    tid: Tid,
    old: &[DatumRef<'_>],
    new: &[DatumRef<'_>],
) -> Result<bool> {
    let mut columns: SmallVec<[Column; 8]> = SmallVec::new();
    for n in 0..table.tupdesc.len() {
        // The first column is the key. The comparison verifies that this is the expected row.
        if n == 0 || old[n] != new[n] {
            columns.push(column(&table.tupdesc, n, old[n], new[n])?);
        }
    }
    let changes: SmallVec<[InPlace<'_>; 8]> = columns
        .iter()
        .map(|c| InPlace { at: c.at, old: &c.old[..c.len], new: &c.new[..c.len] })
        .collect();
    let rel = table.heap(be);
    heap::inplace_update(&mut be.heap_cx(table.persistence), rel, tid, &changes)
}

struct Column {
    at: usize,
    len: usize,
    old: [u8; 8],
    new: [u8; 8],
}

/// Location of a column in the tuple's data. An error unless all columns before it are of fixed
/// width and not NULL.
fn column(desc: &TupleDesc, n: usize, old: DatumRef<'_>, new: DatumRef<'_>) -> Result<Column> {
    let movable = || pg_err!(INTERNAL_ERROR, "column {} cannot be changed in place", n + 1);
    let mut at = 0;
    for attr in &desc.attrs[..n] {
        if attr.len <= 0 || !attr.not_null {
            return Err(movable());
        }
        at = attr.align.up(at) + attr.len as usize;
    }
    let attr = &desc.attrs[n];
    let (DatumRef::Word(old), DatumRef::Word(new), true) = (old, new, attr.by_val) else {
        return Err(movable());
    };
    let len = attr.len as usize;
    Ok(Column { at: attr.align.up(at), len, old: old.to_le_bytes(), new: new.to_le_bytes() })
}
