//! Creation of large objects, their owner and privileges, and the check when one is opened.

use catalog::acl::{Kind, SELECT, UPDATE};
use catalog::ordered::Range;
use catalog::rows::{CatalogRow, PgLargeobject, PgLargeobjectMetadata, indexes};
use catalog::{CatCx, ObjectAddress};
use engine::Snapshot;
use engine::index::Direction;
use ids::Oid;
use pgerror::{PgError, Result, bail, pg_err};
use std::ops::ControlFlow;
use sync::Arc;

/// Mode of `lo_open`. Counterpart: `INV_READ`.
pub const READ: i32 = 0x40000;
/// Mode of `lo_open`; it includes reading. Counterpart: `INV_WRITE`.
pub const WRITE: i32 = 0x20000;

const COLUMNS: &[ids::AttrNo] =
    &[PgLargeobjectMetadata::oid, PgLargeobjectMetadata::lomowner, PgLargeobjectMetadata::lomacl];

/// An open large object. Counterpart: `LargeObjectDesc`.
#[derive(Clone)]
pub struct LargeObject {
    pub oid: Oid,
    /// The position of the next read or write, from 0 to [`crate::SIZE_MAX`].
    pub offset: i64,
    pub writes: bool,
    /// `None`: reads see the latest committed data and the transaction's own changes.
    pub snapshot: Option<Arc<Snapshot>>,
}

/// How an object is opened.
pub struct Opening {
    /// [`READ`] and [`WRITE`]; other bits are ignored.
    pub mode: i32,
    /// The snapshot of an object that is only read.
    pub snapshot: Option<Arc<Snapshot>>,
    /// Privileges are not checked (`lo_compat_privileges`).
    pub unchecked: bool,
}

fn missing(oid: Oid) -> PgError {
    pg_err!(UNDEFINED_OBJECT, "large object {oid} does not exist")
}

/// The row of an object that is visible in a snapshot.
fn metadata(
    cat: &mut CatCx<'_>,
    oid: Oid,
    snapshot: Option<Arc<Snapshot>>,
) -> Result<Option<PgLargeobjectMetadata>> {
    let mut found = None;
    let range = Range {
        index: indexes::PG_LARGEOBJECT_METADATA_OID_INDEX,
        keys: &[oid.into()],
        from: None,
        columns: COLUMNS,
        direction: Direction::Forward,
        snapshot,
        batch_rows: 1,
    };
    cat.scan_range(&range, &mut |_, row| {
        found = Some(PgLargeobjectMetadata::from_row(row)?);
        Ok(ControlFlow::Break(()))
    })?;
    Ok(found)
}

/// True if there is a large object with this OID.
pub fn exists(cat: &mut CatCx<'_>, oid: Oid) -> Result<bool> {
    Ok(metadata(cat, oid, None)?.is_some())
}

/// Creates an empty object of the current user, with an unused OID if `oid` is invalid. Error 23505
/// if the OID is in use. Counterpart: `inv_create`.
pub fn create(cat: &mut CatCx<'_>, oid: Oid) -> Result<Oid> {
    let oid = match oid.valid() {
        Some(oid) => oid,
        None => cat.new_oid(indexes::PG_LARGEOBJECT_METADATA_OID_INDEX)?,
    };
    let lomowner = cat.session.user;
    cat.insert(&PgLargeobjectMetadata { oid, lomowner, lomacl: None })?;
    cat.record_owner(ObjectAddress::of::<PgLargeobject>(oid), lomowner)?;
    cat.increment_command_counter()?;
    Ok(oid)
}

/// Error 42501 unless the current user owns the object; 42704 if it does not exist, which is not
/// checked for superusers. Counterpart: `pg_largeobject_ownercheck`.
pub fn check_owner(cat: &mut CatCx<'_>, oid: Oid) -> Result<()> {
    let user = cat.session.user;
    if cat.is_superuser(user)? {
        return Ok(());
    }
    let row = metadata(cat, oid, None)?.ok_or_else(|| missing(oid))?;
    if !cat.is_member(user, row.lomowner, true)? {
        bail!(INSUFFICIENT_PRIVILEGE, "must be owner of large object {oid}");
    }
    Ok(())
}

impl LargeObject {
    /// Opens an object. Error 42704 if it does not exist in the snapshot, 42501 without the
    /// privileges. Counterpart: `inv_open`.
    pub fn open(cat: &mut CatCx<'_>, oid: Oid, how: Opening) -> Result<LargeObject> {
        let writes = how.mode & WRITE != 0;
        if how.mode & (READ | WRITE) == 0 {
            let mode = how.mode;
            bail!(INVALID_PARAMETER_VALUE, "invalid flags for opening a large object: {mode}");
        }
        let snapshot = how.snapshot.filter(|_| !writes);
        let row = metadata(cat, oid, snapshot.clone())?.ok_or_else(|| missing(oid))?;
        if !how.unchecked {
            let wanted = if writes { SELECT | UPDATE } else { SELECT };
            let (user, acl) = (cat.session.user, row.lomacl.as_deref());
            if !cat.has_privilege(user, row.lomowner, acl, Kind::LargeObject, wanted)? {
                bail!(INSUFFICIENT_PRIVILEGE, "permission denied for large object {oid}");
            }
        }
        Ok(LargeObject { oid, offset: 0, writes, snapshot })
    }
}
