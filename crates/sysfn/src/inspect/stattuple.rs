//! The functions of the extension pgstattuple.
//!
//! Counterpart: contrib/pgstattuple/pgstattuple.c, pgstatindex.c, pgstatapprox.c.

use super::{open, stored, wrong_kind};
use crate::definition::relation_named;
use crate::function::{SysCall, SysFn, text};
use crate::host::SystemHost;
use catalog::RelDesc;
use engine::inspect::{self, HASH_PAGE_BYTES, TupleStatistics};
use ids::builtin::am;
use ids::code::RelKind;
use ids::{Fork, Oid, RelFile};
use pgerror::{Result, pg_err};
use std::sync::Arc;
use types::Datum;

const PAGE_BYTES: u64 = 8192;

pub(crate) const FNS: &[SysFn] = &[
    SysFn {
        name: "pgstattuple_v1_5",
        call: SysCall::Set(|c, a| {
            let oid = relation_named(c, &text(a[0]))?;
            tuples(c, oid)
        }),
    },
    SysFn { name: "pgstattuplebyid_v1_5", call: SysCall::Set(|c, a| tuples(c, a[0].as_oid())) },
    SysFn {
        name: "pgstatindex_v1_5",
        call: SysCall::Set(|c, a| {
            let oid = relation_named(c, &text(a[0]))?;
            btree(c, oid)
        }),
    },
    SysFn { name: "pgstatindexbyid_v1_5", call: SysCall::Set(|c, a| btree(c, a[0].as_oid())) },
    SysFn {
        name: "pg_relpages_v1_5",
        call: SysCall::One(|c, a| {
            let oid = relation_named(c, &text(a[0]))?;
            pages(c, oid)
        }),
    },
    SysFn { name: "pg_relpagesbyid_v1_5", call: SysCall::One(|c, a| pages(c, a[0].as_oid())) },
    SysFn { name: "pgstatginindex_v1_5", call: SysCall::Set(|c, a| gin(c, a[0].as_oid())) },
    SysFn { name: "pgstathashindex", call: SysCall::Set(|c, a| hash(c, a[0].as_oid())) },
    SysFn {
        name: "pgstattuple_approx_v1_5",
        call: SysCall::Set(|c, a| approximate(c, a[0].as_oid())),
    },
];

fn int8(value: u64) -> Datum {
    Datum::int8(value as i64)
}

/// `part` of `whole` in percent; 0 of nothing.
fn percent(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { 100.0 * part as f64 / whole as f64 }
}

/// A number that is shown with two decimal places.
fn rounded(value: f64) -> Datum {
    Datum::float8(format!("{value:.2}").parse().unwrap_or(f64::NAN))
}

fn not_other_temp(desc: &RelDesc, what: &str) -> Result<()> {
    match desc.other_temp {
        true => {
            Err(pg_err!(FEATURE_NOT_SUPPORTED, "cannot access temporary {what} of other sessions"))
        }
        false => Ok(()),
    }
}

fn check_valid(desc: &RelDesc) -> Result<()> {
    match desc.index.as_ref().is_some_and(|part| part.row.indisvalid) {
        true => Ok(()),
        false => {
            Err(pg_err!(OBJECT_NOT_IN_PREREQUISITE_STATE, "index \"{}\" is not valid", desc.name()))
        }
    }
}

/// `pgstattuple(relation)`
fn tuples(core: &mut dyn SystemHost, oid: Oid) -> Result<Vec<Vec<Datum>>> {
    let desc = open(core, oid)?;
    not_other_temp(&desc, "tables")?;
    let (name, persistence) = (desc.name(), desc.class.relpersistence);
    let kind = desc.kind();
    if kind.has_table_am() || kind == RelKind::Sequence {
        let found = inspect::tuples(core.backend(), desc.rows()?)?;
        return Ok(vec![tuple_row(&found)]);
    }
    if kind != RelKind::Index {
        let text = pg_err!(
            FEATURE_NOT_SUPPORTED,
            "cannot get tuple-level statistics for relation \"{name}\""
        );
        return Err(wrong_kind(text, &desc));
    }
    check_valid(&desc)?;
    let method = match desc.class.relam {
        am::BTREE | am::HASH => {
            let file = stored(&desc, "relation", "")?;
            let is_hash = desc.class.relam == am::HASH;
            let found = inspect::index_tuples(core.backend(), file, persistence, is_hash)?;
            return Ok(vec![tuple_row(&found)]);
        }
        am::GIN => "gin index",
        am::SPGIST => "spgist index",
        am::BRIN => "brin index",
        am::GIST => "gist index",
        _ => "unknown index",
    };
    Err(pg_err!(FEATURE_NOT_SUPPORTED, "index \"{name}\" ({method}) is not supported"))
}

fn tuple_row(found: &TupleStatistics) -> Vec<Datum> {
    let whole = u64::from(found.pages) * PAGE_BYTES;
    vec![
        int8(whole),
        int8(found.live),
        int8(found.live_bytes),
        rounded(percent(found.live_bytes, whole)),
        int8(found.dead),
        int8(found.dead_bytes),
        rounded(percent(found.dead_bytes, whole)),
        int8(found.free_bytes),
        rounded(percent(found.free_bytes, whole)),
    ]
}

/// The index with its file; an error if it is not of this method.
fn index_of(
    core: &mut dyn SystemHost,
    oid: Oid,
    (method, name, what): (Oid, &str, &str),
) -> Result<(Arc<RelDesc>, RelFile)> {
    let desc = open(core, oid)?;
    if desc.kind() != RelKind::Index || desc.class.relam != method {
        let relation = desc.name();
        return Err(pg_err!(WRONG_OBJECT_TYPE, "relation \"{relation}\" is not a {name} index"));
    }
    not_other_temp(&desc, what)?;
    check_valid(&desc)?;
    let file = stored(&desc, "relation", "")?;
    Ok((desc, file))
}

/// `pgstatindex(index)`
fn btree(core: &mut dyn SystemHost, oid: Oid) -> Result<Vec<Vec<Datum>>> {
    let (desc, file) = index_of(core, oid, (am::BTREE, "btree", "tables"))?;
    let s = inspect::btree_pages(core.backend(), file, desc.class.relpersistence)?;
    let pages = 1 + s.leaves + s.internal + s.deleted + s.half_dead;
    let nan = Datum::float8(f64::NAN);
    Ok(vec![vec![
        Datum::int4(s.version as i32),
        Datum::int4(s.level as i32),
        int8(pages * PAGE_BYTES),
        int8(u64::from(s.root)),
        int8(s.internal),
        int8(s.leaves),
        int8(s.half_dead),
        int8(s.deleted),
        match s.leaf_bytes {
            0 => nan.clone(),
            all => rounded(100.0 - s.free_bytes as f64 / all as f64 * 100.0),
        },
        match s.leaves {
            0 => nan,
            all => rounded(s.fragments as f64 / all as f64 * 100.0),
        },
    ]])
}

/// `pg_relpages(relation)`
fn pages(core: &mut dyn SystemHost, oid: Oid) -> Result<Datum> {
    let desc = open(core, oid)?;
    let file = stored(&desc, "cannot get page count of relation", "")?;
    let persistence = desc.class.relpersistence;
    let found = engine::prewarm::blocks(core.backend(), file, Fork::Main, persistence)?;
    Ok(Datum::int8(i64::from(found.unwrap_or_default())))
}

/// `pgstatginindex(index)`
fn gin(core: &mut dyn SystemHost, oid: Oid) -> Result<Vec<Vec<Datum>>> {
    let (desc, file) = index_of(core, oid, (am::GIN, "GIN", "indexes"))?;
    let found = inspect::gin_pending(core.backend(), file, desc.class.relpersistence)?;
    let (version, pages, rows) = found;
    Ok(vec![vec![Datum::int4(version), Datum::int4(pages as i32), Datum::int8(rows)]])
}

/// `pgstathashindex(index)`
fn hash(core: &mut dyn SystemHost, oid: Oid) -> Result<Vec<Vec<Datum>>> {
    let (desc, file) = index_of(core, oid, (am::HASH, "hash", "indexes"))?;
    let persistence = desc.class.relpersistence;
    let s = inspect::hash_pages(core.backend(), file, persistence, desc.name())?;
    let free = s.free_bytes + s.unused * HASH_PAGE_BYTES;
    let whole = (s.pages - (s.bitmaps + 1)) * HASH_PAGE_BYTES;
    Ok(vec![vec![
        Datum::int4(s.version as i32),
        int8(s.buckets),
        int8(s.overflow),
        int8(s.bitmaps),
        int8(s.unused),
        int8(s.live),
        int8(s.dead),
        Datum::float8(percent(free, whole)),
    ]])
}

/// `pgstattuple_approx(relation)`
fn approximate(core: &mut dyn SystemHost, oid: Oid) -> Result<Vec<Vec<Datum>>> {
    let desc = open(core, oid)?;
    not_other_temp(&desc, "tables")?;
    if !desc.kind().has_table_am() {
        let name = desc.name();
        let text = pg_err!(FEATURE_NOT_SUPPORTED, "relation \"{name}\" is of wrong relation kind");
        return Err(wrong_kind(text, &desc));
    }
    let s = inspect::approximate_tuples(core.backend(), desc.rows()?)?;
    let whole = u64::from(s.pages) * PAGE_BYTES;
    let scanned = (100 * u64::from(s.scanned)).checked_div(u64::from(s.pages)).unwrap_or(0);
    Ok(vec![vec![
        int8(whole),
        Datum::float8(scanned as f64),
        Datum::int8(estimated_rows(&desc, &s).max(0.0) as i64),
        int8(s.live_bytes),
        Datum::float8(percent(s.live_bytes, whole)),
        int8(s.dead),
        int8(s.dead_bytes),
        Datum::float8(percent(s.dead_bytes, whole)),
        int8(s.free_bytes),
        Datum::float8(percent(s.free_bytes, whole)),
    ]])
}

/// The rows of the whole table, from those of the scanned pages. Counterpart:
/// `vac_estimate_reltuples`.
fn estimated_rows(desc: &RelDesc, s: &TupleStatistics) -> f64 {
    let (pages, scanned, live) = (f64::from(s.pages), f64::from(s.scanned), s.live as f64);
    let (old_pages, old_rows) = (f64::from(desc.class.relpages), f64::from(desc.class.reltuples));
    if s.scanned >= s.pages {
        return live;
    }
    if old_pages == pages && scanned < pages * 0.02 || s.scanned <= 1 {
        return old_rows;
    }
    if old_rows < 0.0 || old_pages == 0.0 {
        return (live / scanned * pages + 0.5).floor();
    }
    (old_rows / old_pages * (pages - scanned) + live + 0.5).floor()
}
