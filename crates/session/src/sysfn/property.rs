//! Properties of access methods and indexes. Counterpart: utils/adt/amutils.c.

use super::{SysCall, SysFn, text};
use crate::core::Core;
use catalog::cache;
use ids::Oid;
use pgerror::Result;
use types::{Datum, DatumRef};

const BTREE: Oid = Oid(403);

/// The properties of an access method.
#[derive(Clone, Copy)]
struct Abilities {
    order: bool,
    unique: bool,
    multi_column: bool,
    exclude: bool,
    include: bool,
}

/// The properties of PostgreSQL's index access methods. Only B-tree indexes can be created here.
fn abilities(am: Oid) -> Option<Abilities> {
    let all = |order, unique, multi_column, exclude, include| {
        Some(Abilities { order, unique, multi_column, exclude, include })
    };
    match am.0 {
        403 => all(true, true, true, true, true),
        405 => all(false, false, false, true, false),
        783 => all(false, false, true, true, true),
        2742 => all(false, false, true, false, false),
        3580 => all(false, false, true, false, false),
        4000 => all(false, false, false, true, true),
        _ => None,
    }
}

fn of_method(core: &mut Core, am: Oid, property: &str) -> Result<Option<bool>> {
    if core.cat().search(cache::AMOID, &[am.into()])?.is_none() {
        return Ok(None);
    }
    let Some(a) = abilities(am) else { return Ok(None) };
    Ok(match property {
        "can_order" => Some(a.order),
        "can_unique" => Some(a.unique),
        "can_multi_col" => Some(a.multi_column),
        "can_exclude" => Some(a.exclude),
        "can_include" => Some(a.include),
        _ => None,
    })
}

fn of_index(core: &mut Core, index: Oid, property: &str) -> Result<Option<bool>> {
    let Some(desc) = core.cat().try_relation(index)? else { return Ok(None) };
    let Some(part) = &desc.index else { return Ok(None) };
    let btree = part.am == BTREE;
    Ok(match property {
        "clusterable" | "backward_scan" => Some(btree),
        "index_scan" | "bitmap_scan" => Some(true),
        _ => None,
    })
}

fn of_column(core: &mut Core, index: Oid, number: i32, property: &str) -> Result<Option<bool>> {
    let Some(desc) = core.cat().try_relation(index)? else { return Ok(None) };
    let Some(part) = &desc.index else { return Ok(None) };
    let Some(at) = usize::try_from(number).ok().and_then(|n| n.checked_sub(1)) else {
        return Ok(None);
    };
    if at >= usize::from(part.row.indnatts.unsigned_abs()) || part.am != BTREE {
        return Ok(None);
    }
    let key = at < usize::from(part.row.indnkeyatts.unsigned_abs());
    let option = part.row.indoption.get(at).copied().unwrap_or(0);
    let (desc_order, nulls_first) = (option & 1 != 0, option & 2 != 0);
    Ok(match property {
        "returnable" => Some(true),
        "distance_orderable" => Some(false),
        "orderable" => Some(key),
        "asc" => key.then_some(!desc_order),
        "desc" => key.then_some(desc_order),
        "nulls_first" => key.then_some(nulls_first),
        "nulls_last" => key.then_some(!nulls_first),
        "search_array" | "search_nulls" => key.then_some(true),
        _ => None,
    })
}

fn answer(found: Option<bool>) -> Result<Datum> {
    Ok(found.map_or(Datum::Null, Datum::bool))
}

/// Property names are compared without regard to case.
fn property(d: DatumRef<'_>) -> String {
    text(d).to_ascii_lowercase()
}

/// The name of a phase of an index build. Counterpart: `btbuildphasename`.
fn phase(am: Oid, phase: i64) -> Datum {
    let name = match (am, phase) {
        (BTREE, 1) => "initializing",
        (BTREE, 2) => "scanning table",
        (BTREE, 3) => "sorting live tuples",
        (BTREE, 4) => "sorting dead tuples",
        (BTREE, 5) => "loading tuples in tree",
        _ => return Datum::Null,
    };
    Datum::text(name)
}

pub(super) const FNS: &[SysFn] = &[
    SysFn {
        name: "pg_indexam_has_property",
        call: SysCall::One(|c, a| answer(of_method(c, a[0].as_oid(), &property(a[1]))?)),
    },
    SysFn {
        name: "pg_index_has_property",
        call: SysCall::One(|c, a| answer(of_index(c, a[0].as_oid(), &property(a[1]))?)),
    },
    SysFn {
        name: "pg_index_column_has_property",
        call: SysCall::One(|c, a| {
            answer(of_column(c, a[0].as_oid(), a[1].as_i32(), &property(a[2]))?)
        }),
    },
    SysFn {
        name: "pg_indexam_progress_phasename",
        call: SysCall::One(|_, a| Ok(phase(a[0].as_oid(), a[1].as_i64()))),
    },
];
