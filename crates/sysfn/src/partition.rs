//! Functions on partition trees. Counterpart: utils/adt/partitionfuncs.c.

use crate::function::{SysCall, SysFn};
use crate::host::SystemHost;
use catalog::rows::indexes::{PG_INHERITS_PARENT_INDEX, PG_INHERITS_RELID_SEQNO_INDEX};
use ids::{Oid, RelKind};
use pgerror::Result;
use types::{Datum, DatumRef};

pub(super) const FNS: &[SysFn] = &[
    SysFn { name: "pg_partition_ancestors", call: SysCall::Set(ancestors) },
    SysFn { name: "pg_partition_tree", call: SysCall::Set(tree) },
    SysFn { name: "pg_partition_root", call: SysCall::One(root) },
];

/// The table and its ancestors in the partition tree, upwards. Empty for a table that is neither
/// partitioned nor a partition.
pub(super) fn chain(core: &mut dyn SystemHost, start: Oid) -> Result<Vec<Oid>> {
    let mut out = Vec::new();
    let Some(class) = core.catalog().find_class(start)? else { return Ok(out) };
    if !class.relispartition
        && !matches!(class.relkind, RelKind::PartitionedTable | RelKind::PartitionedIndex)
    {
        return Ok(out);
    }
    let mut at = start;
    loop {
        out.push(at);
        let parents = core.catalog().scan(PG_INHERITS_RELID_SEQNO_INDEX, &[at.into()])?;
        match parents.first() {
            Some(p) if !p.inhdetachpending => at = p.inhparent,
            _ => return Ok(out),
        }
    }
}

/// A table in a partition tree.
pub(super) struct Node {
    pub table: Oid,
    pub parent: Option<Oid>,
    /// A leaf partition, which has rows.
    pub leaf: bool,
    pub level: i32,
}

/// The table and its descendants, level by level. Empty for a table that is neither partitioned nor
/// a partition.
pub(super) fn tree_of(core: &mut dyn SystemHost, table: Oid) -> Result<Vec<Node>> {
    let chain = chain(core, table)?;
    let Some(&top) = chain.first() else { return Ok(Vec::new()) };
    let mut found = vec![(top, chain.get(1).copied(), 0)];
    let mut out = Vec::new();
    let mut next = 0;
    while let Some(&(at, parent, level)) = found.get(next) {
        next += 1;
        let children = core.catalog().scan(PG_INHERITS_PARENT_INDEX, &[at.into()])?;
        let attached = children.iter().filter(|c| !c.inhdetachpending);
        let mut children: Vec<Oid> = attached.map(|c| c.inhrelid).collect();
        children.sort_unstable();
        found.extend(children.into_iter().map(|c| (c, Some(at), level + 1)));
        let leaf = !matches!(
            core.catalog().class(at)?.relkind,
            RelKind::PartitionedTable | RelKind::PartitionedIndex
        );
        out.push(Node { table: at, parent, leaf, level });
    }
    Ok(out)
}

fn tree(core: &mut dyn SystemHost, args: &[DatumRef<'_>]) -> Result<Vec<Vec<Datum>>> {
    let row = |n: Node| {
        let parent = n.parent.map_or(Datum::Null, Datum::oid);
        vec![Datum::oid(n.table), parent, Datum::bool(n.leaf), Datum::int4(n.level)]
    };
    Ok(tree_of(core, args[0].as_oid())?.into_iter().map(row).collect())
}

fn ancestors(core: &mut dyn SystemHost, args: &[DatumRef<'_>]) -> Result<Vec<Vec<Datum>>> {
    let oids = chain(core, args[0].as_oid())?;
    Ok(oids.into_iter().map(|o| vec![Datum::oid(o)]).collect())
}

fn root(core: &mut dyn SystemHost, args: &[DatumRef<'_>]) -> Result<Datum> {
    Ok(chain(core, args[0].as_oid())?.last().map_or(Datum::Null, |o| Datum::oid(*o)))
}
