//! Where a table stands among partitions. Counterpart: partitionfuncs.c.

use super::{SysCall, SysFn};
use crate::core::Core;
use catalog::rows::indexes::PG_INHERITS_RELID_SEQNO_INDEX;
use ids::Oid;
use pgerror::Result;
use types::{Datum, DatumRef};

pub(super) const FNS: &[SysFn] = &[
    SysFn { name: "pg_partition_ancestors", call: SysCall::Set(ancestors) },
    // There are no partitioned tables yet.
    SysFn { name: "pg_partition_tree", call: SysCall::Set(|_, _| Ok(Vec::new())) },
    SysFn { name: "pg_partition_root", call: SysCall::One(root) },
];

/// The table itself and what it is a partition of, upwards; nothing for a table without part in
/// partitioning.
fn chain(core: &mut Core, start: Oid) -> Result<Vec<Oid>> {
    let mut out = Vec::new();
    let Some(class) = core.cat().find_class(start)? else { return Ok(out) };
    if !class.relispartition && !matches!(class.relkind, b'p' | b'I') {
        return Ok(out);
    }
    let mut at = start;
    loop {
        out.push(at);
        let parents = core.cat().scan(PG_INHERITS_RELID_SEQNO_INDEX, &[at.into()])?;
        match parents.first() {
            Some(p) => at = p.inhparent,
            None => return Ok(out),
        }
    }
}

fn ancestors(core: &mut Core, args: &[DatumRef<'_>]) -> Result<Vec<Vec<Datum>>> {
    let oids = chain(core, args[0].as_oid())?;
    Ok(oids.into_iter().map(|o| vec![Datum::oid(o)]).collect())
}

fn root(core: &mut Core, args: &[DatumRef<'_>]) -> Result<Datum> {
    Ok(chain(core, args[0].as_oid())?.last().map_or(Datum::Null, |o| Datum::oid(*o)))
}
