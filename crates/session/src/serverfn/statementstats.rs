//! The functions of extension pg_stat_statements.

use super::{SysCall, SysFn};
use crate::state::State;
use ids::Oid;
use ids::builtin::role::READ_ALL_STATS;
use pgerror::{Result, pg_err};
use statements::{Counters, Entry, Registry, Selection, Times};
use std::sync::Arc;
use types::{Datum, DatumRef};

pub(super) const FNS: &[SysFn] = &[
    SysFn { name: "pg_stat_statements_1_3", call: SysCall::Set(|c, a| entries(c, a, V1_3)) },
    SysFn { name: "pg_stat_statements_1_8", call: SysCall::Set(|c, a| entries(c, a, V1_8)) },
    SysFn { name: "pg_stat_statements_1_9", call: SysCall::Set(|c, a| entries(c, a, V1_9)) },
    SysFn { name: "pg_stat_statements_1_10", call: SysCall::Set(|c, a| entries(c, a, ALL)) },
    SysFn { name: "pg_stat_statements_info", call: SysCall::Set(|c, _| info(c)) },
    SysFn {
        name: "pg_stat_statements_reset",
        call: SysCall::One(|c, _| {
            reset(c, &[DatumRef::Word(0), DatumRef::Word(0), DatumRef::Word(0)])
        }),
    },
    SysFn { name: "pg_stat_statements_reset_1_7", call: SysCall::One(reset) },
];

/// The columns of the function in a version of the extension, as ranges of those of version 1.10.
type Columns = &'static [std::ops::Range<usize>];

const ALL: Columns = &[0..30, 30..43];
/// Without times of temporary blocks, and without compilations.
const V1_9: Columns = &[0..30, 32..35];
/// Also without the level of the statement.
const V1_8: Columns = &[0..2, 3..30, 32..35];
/// Also without planning and without WAL.
const V1_3: Columns = &[0..2, 3..5, 11..30];

/// Error 55000 if no statistics are collected.
fn registry(state: &State) -> Result<Arc<Registry>> {
    let collector = state.activity.statements.as_ref();
    collector.map(|c| c.registry().clone()).ok_or_else(|| {
        pg_err!(
            OBJECT_NOT_IN_PREREQUISITE_STATE,
            "pg_stat_statements must be loaded via shared_preload_libraries"
        )
    })
}

fn reset(state: &mut State, args: &[DatumRef<'_>]) -> Result<Datum> {
    let registry = registry(state)?;
    let (user, database) = (args[0].as_oid(), args[1].as_oid());
    registry.reset(Selection { user, database, id: args[2].as_i64() }, state.now());
    Ok(Datum::Word(0))
}

fn info(state: &State) -> Result<Vec<Vec<Datum>>> {
    let (deallocations, reset_at) = registry(state)?.info();
    Ok(vec![vec![Datum::int8(deallocations as i64), Datum::int8(reset_at)]])
}

fn entries(state: &mut State, args: &[DatumRef<'_>], columns: Columns) -> Result<Vec<Vec<Datum>>> {
    let registry = registry(state)?;
    let with_text = args[0].as_bool();
    let user = state.catalog.user;
    let all = state.cat().is_member(user, READ_ALL_STATS, true)?;
    let mut rows = Vec::new();
    for entry in registry.entries() {
        let counters = entry.counters();
        // An entry without calls belongs to a statement that is running.
        if !counters.is_empty() {
            let row = row(&entry, &counters, all || entry.key.user == user, with_text)?;
            rows.push(columns.iter().flat_map(|range| row[range.clone()].to_vec()).collect());
        }
    }
    Ok(rows)
}

fn row(entry: &Entry, counters: &Counters, visible: bool, with_text: bool) -> Result<Vec<Datum>> {
    let count = |n: u64| Datum::int8(n as i64);
    let ms = |us: u64| Datum::float8(us as f64 / 1000.0);
    let oid = |oid: Oid| Datum::oid(oid);
    let key = &entry.key;
    let mut row = vec![oid(key.user), oid(key.database), Datum::bool(key.toplevel)];
    row.push(if visible { Datum::int8(key.id) } else { Datum::Null });
    row.push(match (with_text, visible) {
        (false, _) => Datum::Null,
        (true, true) => Datum::text(&entry.identity.text),
        (true, false) => Datum::text("<insufficient privilege>"),
    });
    times(counters.plans(), &mut row);
    times(counters.executions(), &mut row);
    let (b, w) = (&counters.usage.buffers, &counters.usage.wal);
    row.extend([counters.rows, b.hit, b.read, b.dirtied, b.written].map(count));
    // Local and temporary blocks are not counted.
    row.extend([0; 6].map(count));
    row.extend([ms(b.read_time_us), ms(b.write_time_us), ms(0), ms(0)]);
    row.extend([
        count(w.records),
        count(w.images),
        super::backends::numeric(&w.bytes.to_string())?,
    ]);
    // Nothing is compiled: pairs of counts and times.
    row.extend((0..4).flat_map(|_| [count(0), ms(0)]));
    Ok(row)
}

fn times(t: &Times, row: &mut Vec<Datum>) {
    row.push(Datum::int8(t.calls as i64));
    row.extend([t.total, t.min, t.max, t.mean, t.deviation()].map(Datum::float8));
}
