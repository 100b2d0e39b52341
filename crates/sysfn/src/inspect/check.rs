//! The functions of the extension amcheck, over `engine::verify`.
//!
//! Counterpart: contrib/amcheck/verify_nbtree.c, verify_heapam.c. The checks of the two functions
//! for indexes are the same, and both lock out writers: the structure of the whole index is
//! checked, and if wanted that it has an entry of each row.

use super::{open, wrong_kind};
use crate::function::{SysCall, SysFn, text};
use crate::host::SystemHost;
use engine::verify;
use ids::builtin::am::BTREE;
use ids::code::RelKind;
use ids::{MultiXid, Oid};
use pgerror::{PgError, Result, SqlState, pg_err};
use types::{Datum, DatumRef};

pub(crate) const FNS: &[SysFn] = &[
    SysFn { name: "bt_index_check", call: SysCall::One(index) },
    SysFn { name: "bt_index_parent_check", call: SysCall::One(index) },
    SysFn { name: "verify_heapam", call: SysCall::Set(table) },
];

/// No row may be written while an index is checked.
const SHARE: i32 = 5;

fn invalid(text: &str) -> PgError {
    PgError::new(SqlState::INVALID_PARAMETER_VALUE, text)
}

/// Checks a B-tree index, and if the second argument is true, that it has all rows; XX002 describes
/// a fault.
fn index(core: &mut dyn SystemHost, args: &[DatumRef<'_>]) -> Result<Datum> {
    let oid: Oid = args[0].as_oid();
    let table = core
        .catalog()
        .try_relation(oid)?
        .and_then(|desc| desc.index.as_ref().map(|part| part.row.indrelid));
    if let Some(table) = table {
        core.lock_relation(table, SHARE)?;
        core.lock_relation(oid, SHARE)?;
    }
    let desc = open(core, oid)?;
    if !matches!(desc.kind(), RelKind::Index | RelKind::PartitionedIndex) {
        return Err(pg_err!(WRONG_OBJECT_TYPE, "\"{}\" is not an index", desc.name()));
    }
    if desc.kind() != RelKind::Index || desc.class.relam != BTREE {
        let name = desc.name();
        return Err(pg_err!(
            FEATURE_NOT_SUPPORTED,
            "only B-Tree indexes are supported as targets for verification"
        )
        .detail(format!("Relation \"{name}\" is not a B-Tree index.")));
    }
    let row = desc.index.as_ref().map(|part| &part.row);
    let Some(row) = row.filter(|row| row.indisvalid) else {
        return Err(pg_err!(FEATURE_NOT_SUPPORTED, "cannot check index \"{}\"", desc.name())
            .detail("Index is not valid."));
    };
    let table = core.catalog().relation(row.indrelid)?;
    let Some(index) = desc.engine_index.clone() else { return Ok(Datum::Word(0)) };
    let all_rows = args.get(1).is_some_and(|arg| arg.as_bool());
    // A partial index has entries of some rows only.
    if all_rows && row.indpred.is_none() {
        let rows = table.rows()?.clone();
        verify::check_index(core.backend(), &rows, &index)?;
    } else {
        verify::check_structure(core.backend(), &index)?;
    }
    Ok(Datum::Word(0))
}

/// A block number in an argument, which must be less than `count`.
fn bound(arg: DatumRef<'_>, default: i64, count: i64, what: &str) -> Result<i64> {
    if arg.is_null() {
        return Ok(default);
    }
    match arg.as_i64() {
        n if (0..count).contains(&n) => Ok(n),
        _ => Err(invalid(&format!("{what} block number must be between 0 and {}", count - 1))),
    }
}

/// `verify_heapam(relation, on_error_stop, check_toast, skip, first block, last block)`
fn table(core: &mut dyn SystemHost, args: &[DatumRef<'_>]) -> Result<Vec<Vec<Datum>>> {
    for (arg, what) in args.iter().zip(["relation", "on_error_stop", "check_toast", "skip"]) {
        if arg.is_null() {
            return Err(invalid(&format!("{what} cannot be null")));
        }
    }
    let skip = text(args[3]).to_ascii_lowercase();
    if !matches!(skip.as_str(), "all-visible" | "all-frozen" | "none") {
        return Err(invalid("invalid skip option")
            .hint("Valid skip options are \"all-visible\", \"all-frozen\", and \"none\"."));
    }
    let desc = open(core, args[0].as_oid())?;
    if !desc.kind().has_table_am() && desc.kind() != RelKind::Sequence {
        let text = pg_err!(WRONG_OBJECT_TYPE, "cannot check relation \"{}\"", desc.name());
        return Err(wrong_kind(text, &desc));
    }
    let rows = desc.rows()?.clone();
    let count = i64::from(engine::table::nblocks(core.backend(), &rows)?);
    if count == 0 {
        return Ok(Vec::new());
    }
    let first = bound(args[4], 0, count, "starting")?;
    let last = bound(args[5], count - 1, count, "ending")?;
    let (frozen, multi) = (desc.class.relfrozenxid, desc.class.relminmxid);
    let found = verify::heap_faults(core.backend(), &rows, frozen, MultiXid(multi.0))?;
    let within = |block: u32| (first..=last).contains(&i64::from(block));
    let mut out = Vec::new();
    for (block, offset, message) in found.into_iter().filter(|(block, ..)| within(block.0)) {
        if args[1].as_bool() && out.first().is_some_and(|(b, _): &(u32, _)| *b != block.0) {
            break;
        }
        let (number, text) = (i64::from(block.0), Datum::text(&message));
        let offset = Datum::int4(i32::from(offset));
        out.push((block.0, vec![Datum::int8(number), offset, Datum::Null, text]));
    }
    Ok(out.into_iter().map(|(_, row)| row).collect())
}
