//! The functions of the extensions that examine storage: pg_buffercache, pg_freespacemap,
//! pg_visibility, pgstattuple, amcheck.
//!
//! Counterpart: contrib/pg_buffercache, contrib/pg_freespacemap, contrib/pg_visibility,
//! contrib/amcheck; pgstattuple is in `stattuple`.

mod check;
mod stattuple;

use super::size::file_of;
use crate::function::{SysCall, SysFn};
use crate::host::SystemHost;
use catalog::RelDesc;
use engine::inspect::{contradictions, recorded_space, visibility};
use ids::code::RelKind;
use ids::{BlockNo, Oid, RelFile};
use pgerror::{PgError, Result, SqlState, pg_err};
use std::sync::Arc;
use types::{Datum, DatumRef};

pub(super) use check::FNS as CHECKS;
pub(super) use stattuple::FNS as STATISTICS;

pub(super) const FNS: &[SysFn] = &[
    SysFn { name: "pg_buffercache_pages", call: SysCall::Set(|c, _| Ok(buffers(c))) },
    SysFn { name: "pg_freespace", call: SysCall::One(free_space) },
    SysFn { name: "pg_visibility_map", call: SysCall::Set(|c, a| one_block(c, a, false)) },
    SysFn { name: "pg_visibility", call: SysCall::Set(|c, a| one_block(c, a, true)) },
    SysFn {
        name: "pg_visibility_map_rel",
        call: SysCall::Set(|c, a| all_blocks(c, a[0].as_oid(), false)),
    },
    SysFn {
        name: "pg_visibility_rel",
        call: SysCall::Set(|c, a| all_blocks(c, a[0].as_oid(), true)),
    },
    SysFn {
        name: "pg_visibility_map_summary",
        call: SysCall::Set(|c, a| summary(c, a[0].as_oid())),
    },
    SysFn {
        name: "pg_check_frozen",
        call: SysCall::Set(|c, a| contradicting(c, a[0].as_oid(), true)),
    },
    SysFn {
        name: "pg_check_visible",
        call: SysCall::Set(|c, a| contradicting(c, a[0].as_oid(), false)),
    },
];

const ACCESS_SHARE: i32 = 1;

/// The relation, which is locked.
fn open(core: &mut dyn SystemHost, oid: Oid) -> Result<Arc<RelDesc>> {
    let missing = || PgError::internal(format!("could not open relation with OID {oid}"));
    core.catalog().try_relation(oid)?.ok_or_else(missing)?;
    core.lock_relation(oid, ACCESS_SHARE)?;
    core.catalog().try_relation(oid)?.ok_or_else(missing)
}

/// The detail of an error about a relation of the wrong kind.
fn wrong_kind(error: PgError, desc: &RelDesc) -> PgError {
    error.detail(utility::class::kind_not_supported(desc.kind()))
}

/// The file of the relation; an error with this text before its name if it has none.
fn stored(desc: &RelDesc, before: &str, after: &str) -> Result<RelFile> {
    let name = desc.name();
    let has_storage = !matches!(
        desc.kind(),
        RelKind::View
            | RelKind::CompositeType
            | RelKind::ForeignTable
            | RelKind::PartitionedTable
            | RelKind::PartitionedIndex
    );
    file_of(desc)
        .filter(|_| has_storage)
        .ok_or_else(|| wrong_kind(pg_err!(WRONG_OBJECT_TYPE, "{before} \"{name}\"{after}"), desc))
}

/// A block number in an argument.
fn block(arg: DatumRef<'_>) -> Result<BlockNo> {
    match u32::try_from(arg.as_i64()) {
        Ok(n) if n < u32::MAX => Ok(BlockNo(n)),
        _ => Err(PgError::new(SqlState::INVALID_PARAMETER_VALUE, "invalid block number")),
    }
}

/// The page of each frame of the pool.
fn buffers(core: &mut dyn SystemHost) -> Vec<Vec<Datum>> {
    let pool = &core.backend().storage().pool;
    let row = |frame: u32| {
        let id = Datum::int4(frame as i32 + 1);
        let Some(b) = pool.buffer(frame) else {
            let mut row = vec![Datum::Null; 9];
            row[0] = id;
            return row;
        };
        vec![
            id,
            Datum::oid(b.rel.relnumber),
            Datum::oid(b.rel.tablespace),
            Datum::oid(b.rel.database),
            Datum::int2(b.fork as i16),
            Datum::int8(i64::from(b.block.0)),
            Datum::bool(b.is_dirty),
            Datum::int2(b.usage as i16),
            Datum::int4(b.pins as i32),
        ]
    };
    (0..pool.frames() as u32).map(row).collect()
}

/// `pg_freespace(relation, block)`
fn free_space(core: &mut dyn SystemHost, args: &[DatumRef<'_>]) -> Result<Datum> {
    let desc = open(core, args[0].as_oid())?;
    let file = stored(&desc, "relation", " does not have storage")?;
    let block = block(args[1])?;
    let space = recorded_space(core.backend(), file, desc.class.relpersistence, block)?;
    Ok(Datum::int2(space as i16))
}

/// A relation that has a visibility map.
fn mapped(core: &mut dyn SystemHost, oid: Oid) -> Result<Arc<RelDesc>> {
    let desc = open(core, oid)?;
    if desc.kind().has_table_am() {
        return Ok(desc);
    }
    let name = desc.name();
    let text = pg_err!(WRONG_OBJECT_TYPE, "relation \"{name}\" is of wrong relation kind");
    Err(wrong_kind(text, &desc))
}

/// The bits of a block, those of its page only if `with_page`.
fn bits(
    core: &mut dyn SystemHost,
    desc: &RelDesc,
    block: BlockNo,
    with_page: bool,
) -> Result<Vec<Datum>> {
    let bits = visibility(core.backend(), desc.rows()?, block, with_page)?;
    let mut row = vec![Datum::bool(bits.all_visible), Datum::bool(bits.all_frozen)];
    if with_page {
        row.push(Datum::bool(bits.page_all_visible));
    }
    Ok(row)
}

fn one_block(
    core: &mut dyn SystemHost,
    args: &[DatumRef<'_>],
    with_page: bool,
) -> Result<Vec<Vec<Datum>>> {
    let desc = mapped(core, args[0].as_oid())?;
    Ok(vec![bits(core, &desc, block(args[1])?, with_page)?])
}

/// The number of blocks of a table.
fn blocks(core: &mut dyn SystemHost, desc: &RelDesc) -> Result<u32> {
    engine::table::nblocks(core.backend(), desc.rows()?)
}

fn all_blocks(core: &mut dyn SystemHost, oid: Oid, with_page: bool) -> Result<Vec<Vec<Datum>>> {
    let desc = mapped(core, oid)?;
    let mut out = Vec::new();
    for n in 0..blocks(core, &desc)? {
        core.backend().check_interrupts()?;
        let mut row = vec![Datum::int8(i64::from(n))];
        row.extend(bits(core, &desc, BlockNo(n), with_page)?);
        out.push(row);
    }
    Ok(out)
}

fn summary(core: &mut dyn SystemHost, oid: Oid) -> Result<Vec<Vec<Datum>>> {
    let desc = mapped(core, oid)?;
    let (mut visible, mut frozen) = (0, 0);
    for n in 0..blocks(core, &desc)? {
        core.backend().check_interrupts()?;
        let bits = visibility(core.backend(), desc.rows()?, BlockNo(n), false)?;
        visible += i64::from(bits.all_visible);
        frozen += i64::from(bits.all_frozen);
    }
    Ok(vec![vec![Datum::int8(visible), Datum::int8(frozen)]])
}

fn contradicting(core: &mut dyn SystemHost, oid: Oid, frozen: bool) -> Result<Vec<Vec<Datum>>> {
    let desc = mapped(core, oid)?;
    let found = contradictions(core.backend(), desc.rows()?, frozen)?;
    Ok(found.into_iter().map(|tid| vec![Datum::bytes(tid.to_bytes())]).collect())
}
