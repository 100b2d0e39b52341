//! The function that empties the pending list of a GIN index. Counterpart:
//! `gin_clean_pending_list` in access/gin/ginfast.c.

use crate::function::{SysCall, SysFn};
use crate::host::SystemHost;
use ids::builtin::am::GIN;
use ids::code::RelKind;
use pgerror::{PgError, Result, pg_err};
use types::{Datum, DatumRef};

pub(super) const FNS: &[SysFn] =
    &[SysFn { name: "gin_clean_pending_list", call: SysCall::One(clean) }];

const ROW_EXCLUSIVE: i32 = 3;

/// Returns the number of pages that were removed from the list.
fn clean(core: &mut dyn SystemHost, args: &[DatumRef<'_>]) -> Result<Datum> {
    let oid = args[0].as_oid();
    let desc = core.catalog().try_relation(oid)?;
    let desc =
        desc.ok_or_else(|| PgError::internal(format!("could not open relation with OID {oid}")))?;
    if desc.kind() != RelKind::Index && desc.kind() != RelKind::PartitionedIndex {
        return Err(pg_err!(WRONG_OBJECT_TYPE, "\"{}\" is not an index", desc.name()));
    }
    core.lock_relation(oid, ROW_EXCLUSIVE)?;
    let desc = core.catalog().relation(oid)?;
    if desc.kind() != RelKind::Index || desc.class.relam != GIN {
        return Err(pg_err!(WRONG_OBJECT_TYPE, "\"{}\" is not a GIN index", desc.name()));
    }
    let user = core.catalog_session().user;
    if !core.catalog().is_member(user, desc.class.relowner, true)? {
        return Err(pg_err!(INSUFFICIENT_PRIVILEGE, "must be owner of index {}", desc.name()));
    }
    let valid = desc.index.as_ref().is_some_and(|part| part.row.indisvalid);
    let Some(index) = desc.engine_index.clone().filter(|_| valid) else {
        return Ok(Datum::int8(0));
    };
    let pages = engine::index::flush_pending(core.backend(), &index)?;
    Ok(Datum::int8(i64::from(pages)))
}
