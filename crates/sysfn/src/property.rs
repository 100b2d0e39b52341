//! Properties of access methods and indexes. Counterpart: utils/adt/amutils.c.

use crate::function::{SysCall, SysFn, text};
use crate::host::SystemHost;
use catalog::cache;
use engine::index::Capabilities;
use ids::Oid;
use pgerror::Result;
use types::{Datum, DatumRef};

fn capabilities(core: &mut dyn SystemHost, am: Oid) -> Result<Option<&'static Capabilities>> {
    Ok(core.catalog().access_method(am)?.map(|m| &m.info.capabilities))
}

fn of_method(core: &mut dyn SystemHost, am: Oid, property: &str) -> Result<Option<bool>> {
    if core.catalog().search(cache::AMOID, &[am.into()])?.is_none() {
        return Ok(None);
    }
    let Some(can) = capabilities(core, am)? else { return Ok(None) };
    Ok(match property {
        "can_order" => Some(can.ordered),
        "can_unique" => Some(can.unique),
        "can_multi_col" => Some(can.multicolumn),
        "can_exclude" => Some(can.exclude),
        "can_include" => Some(can.include),
        _ => None,
    })
}

fn of_index(core: &mut dyn SystemHost, index: Oid, property: &str) -> Result<Option<bool>> {
    let Some(desc) = core.catalog().try_relation(index)? else { return Ok(None) };
    let Some(part) = &desc.index else { return Ok(None) };
    let Some(can) = capabilities(core, part.am)? else { return Ok(None) };
    Ok(match property {
        "clusterable" => Some(can.clusterable),
        "backward_scan" => Some(can.backward),
        "index_scan" => Some(can.plain_scan),
        "bitmap_scan" => Some(can.bitmap_scan),
        _ => None,
    })
}

fn of_column(
    core: &mut dyn SystemHost,
    index: Oid,
    number: i32,
    property: &str,
) -> Result<Option<bool>> {
    let Some(desc) = core.catalog().try_relation(index)? else { return Ok(None) };
    let Some(part) = &desc.index else { return Ok(None) };
    let Some(at) = usize::try_from(number).ok().and_then(|n| n.checked_sub(1)) else {
        return Ok(None);
    };
    // Whether a method that is not implemented can return a column depends on the operator class.
    let method = core.catalog().access_method(part.am)?.filter(|m| m.am.is_some());
    let Some(can) = method.map(|m| &m.info.capabilities) else { return Ok(None) };
    if at >= usize::from(part.row.indnatts.unsigned_abs()) {
        return Ok(None);
    }
    let def = desc.engine_index.as_ref().map(|index| &*index.def);
    let key = at < usize::from(part.row.indnkeyatts.unsigned_abs());
    let option = part.row.indoption.get(at).copied().unwrap_or(0);
    let (desc_order, nulls_first) = (option & 1 != 0, option & 2 != 0);
    Ok(match property {
        // Of a GiST index this is a property of the operator class, which only key columns have.
        "returnable" if can.ordered_by_operator => {
            key.then_some(def.is_none_or(|def| def.is_returnable(at)))
        }
        "returnable" => Some(can.index_only),
        "distance_orderable" if can.ordered_by_operator => {
            let class = def.and_then(|def| def.columns.get(at));
            key.then_some(class.is_some_and(|c| c.support(8).is_some()))
        }
        "distance_orderable" => Some(false),
        "orderable" => Some(key && can.ordered),
        "asc" => key.then_some(can.ordered && !desc_order),
        "desc" => key.then_some(can.ordered && desc_order),
        "nulls_first" => key.then_some(can.ordered && nulls_first),
        "nulls_last" => key.then_some(can.ordered && !nulls_first),
        "search_array" => key.then_some(can.search_array),
        "search_nulls" => key.then_some(can.search_nulls),
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
    let names = engine::am::by_oid(am).map_or(&[][..], |m| m.info.build_phases);
    let at = usize::try_from(phase).ok().and_then(|n| n.checked_sub(1));
    at.and_then(|at| names.get(at)).map_or(Datum::Null, |name| Datum::text(name))
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
