//! The trees of `pg_inherits`. Counterpart: pg_inherits.c, partition.c.

use catalog::CatCx;
use catalog::Row;
use catalog::rows::PgInherits;
use catalog::rows::indexes::{PG_INHERITS_PARENT_INDEX, PG_INHERITS_RELID_SEQNO_INDEX};
use ids::{Oid, Xid};
use pgerror::Result;

/// Which of the partitions that are being detached concurrently are left out.
pub enum Detached<'a> {
    Include,
    Omit,
    /// Those are left out that a transaction marked whose effects the snapshot sees: the function
    /// returns true for it.
    OmitSeen(&'a mut dyn FnMut(Xid) -> bool),
}

/// The rows of the children, by the children's OIDs.
pub(crate) fn child_rows(cat: &mut CatCx<'_>, parent: Oid) -> Result<Vec<Row<PgInherits>>> {
    let mut rows = cat.scan(PG_INHERITS_PARENT_INDEX, &[parent.into()])?;
    rows.sort_by_key(|r| r.inhrelid);
    Ok(rows)
}

/// The children of a relation, in the order of their OIDs. The caller locks each of them and then
/// checks that it still exists. Counterpart: `find_inheritance_children`.
pub fn children(cat: &mut CatCx<'_>, parent: Oid, mut detached: Detached<'_>) -> Result<Vec<Oid>> {
    let mut out = Vec::new();
    for row in child_rows(cat, parent)? {
        let omit = row.inhdetachpending
            && match &mut detached {
                Detached::Include => false,
                Detached::Omit => true,
                Detached::OmitSeen(sees) => sees(cat.row_xmin(&row)?),
            };
        if !omit {
            out.push(row.inhrelid);
        }
    }
    Ok(out)
}

/// The relation and all its descendants, level by level, each once. Counterpart:
/// `find_all_inheritors`.
pub fn descendants(
    cat: &mut CatCx<'_>,
    parent: Oid,
    mut detached: Detached<'_>,
) -> Result<Vec<Oid>> {
    let mut out = vec![parent];
    let mut n = 0;
    while n < out.len() {
        let again = match &mut detached {
            Detached::Include => Detached::Include,
            Detached::Omit => Detached::Omit,
            Detached::OmitSeen(sees) => Detached::OmitSeen(&mut **sees),
        };
        for child in children(cat, out[n], again)? {
            if !out.contains(&child) {
                out.push(child);
            }
        }
        n += 1;
    }
    Ok(out)
}

/// The parents of a relation, in the order in which its columns were merged.
pub fn parents(cat: &mut CatCx<'_>, child: Oid) -> Result<Vec<Oid>> {
    let mut rows = cat.scan(PG_INHERITS_RELID_SEQNO_INDEX, &[child.into()])?;
    rows.sort_by_key(|r| r.inhseqno);
    Ok(rows.iter().map(|r| r.inhparent).collect())
}

/// The partitioned relations above a partition, the nearest first. Empty if the relation is no
/// partition, or if it is being detached. Counterpart: `get_partition_ancestors`.
pub fn ancestors(cat: &mut CatCx<'_>, partition: Oid) -> Result<Vec<Oid>> {
    let (mut out, mut at) = (Vec::new(), partition);
    loop {
        let rows = cat.scan(PG_INHERITS_RELID_SEQNO_INDEX, &[at.into()])?;
        match rows.first() {
            Some(row) if !row.inhdetachpending => at = row.inhparent,
            _ => return Ok(out),
        }
        out.push(at);
    }
}

/// The uppermost relation above a partition, or the relation itself.
pub fn root(cat: &mut CatCx<'_>, partition: Oid) -> Result<Oid> {
    Ok(ancestors(cat, partition)?.last().copied().unwrap_or(partition))
}

/// Whether `ancestor` is above `relation` in a tree of inheritance. Counterpart: part of
/// `typeInheritsFrom`.
pub fn is_ancestor(cat: &mut CatCx<'_>, relation: Oid, ancestor: Oid) -> Result<bool> {
    let (mut seen, mut n) = (vec![relation], 0);
    while n < seen.len() {
        for parent in parents(cat, seen[n])? {
            if parent == ancestor {
                return Ok(true);
            }
            if !seen.contains(&parent) {
                seen.push(parent);
            }
        }
        n += 1;
    }
    Ok(false)
}
