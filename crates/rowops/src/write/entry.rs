//! Index entries of a new row version. Counterpart: execIndexing.c.

use super::exclusion::exclusion_violation;
use super::{OwnColumns, Refs, RowWriter, WriteHost, allow, compile};
use crate::relation::{OpenRel, RelIndex};
use engine::index::{self, Inserted, UniqueCheck};
use engine::table::{self, RowFetch};
use eval::{Compiler, Facts, Program, RowInput, RowRef, Val};
use ids::{AttrNo, Tid};
use pgerror::{PgError, Result};
use plan::{Expr, walk};
use smallvec::SmallVec;
use types::DatumRef;

/// An index with its compiled expressions.
pub(super) struct IndexUse {
    exprs: Vec<Option<Program>>,
    predicate: Option<Program>,
    /// Whether an existing row with the keys in columns 1 to n excludes a new row with those in
    /// columns n + 1 to 2n.
    pub(super) excludes: Option<Program>,
}

impl IndexUse {
    pub(super) fn new(
        index: &RelIndex,
        own: &mut OwnColumns<'_>,
        facts: &mut dyn Facts,
    ) -> Result<IndexUse> {
        let mut exprs = Vec::new();
        for e in &index.exprs {
            exprs.push(e.as_ref().map(|e| compile(e, own, facts)).transpose()?);
        }
        let predicate = match index.predicate.as_slice() {
            [] => None,
            p => Some(Compiler::new(facts, own).compile_all(p)?),
        };
        let excludes = match index.exclusion.as_slice() {
            [] => None,
            _ => Some(Compiler::new(facts, own).compile_all(&super::exclusion::tests(index))?),
        };
        Ok(IndexUse { exprs, predicate, excludes })
    }

    fn is_plain(&self) -> bool {
        self.predicate.is_none() && self.exprs.iter().all(Option::is_none)
    }
}

/// Options for the insertion of the entries of a version.
#[derive(Clone, Copy, Default)]
pub struct EntryOptions<'a> {
    /// Positions of the arbiter indexes of a speculative insertion.
    pub arbiters: Option<&'a [usize]>,
    /// For each index, whether an UPDATE leaves its key unchanged. The new entry is then a version
    /// duplicate, which is a hint for bottom-up deletion in the index. Empty for an insertion.
    pub unchanged: &'a [bool],
}

/// For each index of the table, whether an UPDATE of `set` leaves its key unchanged. INCLUDE
/// columns and the predicate's columns are not considered. Counterpart:
/// `index_unchanged_by_update`.
pub fn columns_unchanged(rel: &OpenRel, set: &[AttrNo]) -> Vec<bool> {
    rel.indexes.iter().map(|i| is_unchanged(i, set)).collect()
}

fn is_unchanged(index: &RelIndex, set: &[AttrNo]) -> bool {
    let keys = index.desc.key_count();
    let mut columns = index.desc.columns.iter().take(keys);
    columns.all(|c| *c == 0 || !set.contains(c))
        && index.exprs.iter().take(keys).flatten().all(|e| !refers_to(e, set))
}

/// True if the expression refers to one of the columns, to the whole row or to a system column.
fn refers_to(e: &Expr, set: &[AttrNo]) -> bool {
    walk::any(e, &mut |e| matches!(e, Expr::Var(v) if v.varattno <= 0 || set.contains(&v.varattno)))
}

/// The columns needed for index entries; all columns if an index has expressions or a predicate.
pub(super) fn columns_of(rel: &OpenRel, uses: &[IndexUse]) -> Vec<AttrNo> {
    if !uses.iter().all(IndexUse::is_plain) {
        return (1..=rel.columns.columns.len() as AttrNo).collect();
    }
    let mut all: Vec<AttrNo> =
        rel.indexes.iter().flat_map(|i| i.desc.columns.iter().copied()).collect();
    all.sort_unstable();
    all.dedup();
    all
}

impl RowWriter {
    /// The index's column values for a row; `None` if the predicate excludes the row.
    pub fn index_values<'r, H: WriteHost + ?Sized>(
        &mut self,
        host: &mut H,
        position: usize,
        row: &[DatumRef<'r>],
    ) -> Result<Option<SmallVec<[Val<'r>; 4]>>> {
        allow(&mut self.unchecked.indexes, &self.rel.calls.indexes, host)?;
        let usage = &self.indexes[position];
        let input = RowInput::scan(RowRef::Refs(row));
        if let Some(p) = &usage.predicate
            && !p.test_row(&mut self.state, host.expressions(), &input)?
        {
            return Ok(None);
        }
        let desc = &self.rel.indexes[position].desc;
        let mut values = SmallVec::new();
        for (i, &attno) in desc.columns.iter().enumerate() {
            values.push(match usage.exprs.get(i).and_then(Option::as_ref) {
                Some(p) => {
                    let v = p.eval_row(&mut self.state, host.expressions(), &input)?;
                    Val::Own(v.into_owned())
                }
                None => Val::Ref(row[attno as usize - 1]),
            });
        }
        Ok(Some(values))
    }

    /// Inserts entries for a new row version into all indexes. Returns true if it conflicts with
    /// another row in an arbiter index.
    pub fn insert_entries<H: WriteHost + ?Sized>(
        &mut self,
        host: &mut H,
        row: &[DatumRef<'_>],
        tid: Tid,
        how: EntryOptions<'_>,
    ) -> Result<bool> {
        self.duplicates.clear();
        for position in 0..self.indexes.len() {
            let Some(values) = self.index_values(host, position, row)? else { continue };
            let (rel, idx) = (&self.rel, &self.rel.indexes[position]);
            let refs: SmallVec<[DatumRef<'_>; 4]> = values.iter().map(Val::as_ref).collect();
            let speculative = how.arbiters.is_some_and(|a| a.contains(&position));
            let check = if !idx.unique {
                UniqueCheck::No
            } else if speculative || idx.deferrable {
                UniqueCheck::Partial
            } else {
                UniqueCheck::Yes
            };
            let unchanged = how.unchanged.get(position).is_some_and(|u| *u);
            let be = host.services().backend();
            match index::insert(be, &idx.desc, &rel.table, &refs, tid, check, unchanged)? {
                Inserted::Done { unique: false } if idx.unique && speculative => return Ok(true),
                Inserted::Done { unique: false } if idx.unique && idx.deferrable => {
                    self.duplicates.push(idx.desc.oid);
                }
                Inserted::Done { .. } if !idx.exclusion.is_empty() => {
                    let waits = !speculative && !idx.deferrable;
                    let own: Vec<types::Datum> =
                        refs.iter().map(|v| DatumRef::to_owned(*v)).collect();
                    let found = self.find_excluding(host, position, &own, (Some(tid), waits))?;
                    let idx = &self.rel.indexes[position];
                    match found {
                        None => {}
                        Some(_) if speculative => return Ok(true),
                        Some(_) if idx.deferrable => self.duplicates.push(idx.desc.oid),
                        Some(other) => {
                            let services = host.services();
                            let new = (&own[..], false);
                            return Err(exclusion_violation(
                                services, &self.rel, idx, new, &other,
                            )?);
                        }
                    }
                }
                Inserted::Done { .. } => {}
                Inserted::Conflict { .. } => return Err(self.duplicate(host, idx, &refs)?),
            }
        }
        Ok(false)
    }

    /// As [`Self::insert_entries`], for the new version at `tid`, whose columns are read from the
    /// heap.
    pub fn insert_entries_of<H: WriteHost + ?Sized>(
        &mut self,
        host: &mut H,
        tid: Tid,
        how: EntryOptions<'_>,
    ) -> Result<()> {
        let (mut fetch, mut batch) = match self.entry_fetch.take() {
            Some(x) => x,
            None => (
                RowFetch::new(&self.rel.table, &self.entry_columns)?,
                table::new_batch(&self.rel.table, &self.entry_columns),
            ),
        };
        batch.clear();
        if !fetch.version(host.services().backend(), tid, &mut batch)? {
            return Err(PgError::internal("failed to fetch tuple just updated"));
        }
        let width = self.rel.columns.columns.len();
        let mut row: Refs<'_> = SmallVec::from_elem(DatumRef::Null, width);
        for (i, column) in self.entry_columns.iter().enumerate() {
            row[*column as usize - 1] = batch.get(0, i);
        }
        self.insert_entries(host, &row, tid, how)?;
        drop(row);
        self.entry_fetch = Some((fetch, batch));
        Ok(())
    }

    #[cold]
    fn duplicate<H: WriteHost + ?Sized>(
        &self,
        host: &mut H,
        idx: &RelIndex,
        values: &[DatumRef<'_>],
    ) -> Result<PgError> {
        unique_violation(host.services(), &self.rel, idx, values)
    }
}

/// Error 23505 for an index, with the key if the user may read its columns.
#[cold]
pub fn unique_violation(
    services: &mut dyn crate::services::Services,
    rel: &OpenRel,
    idx: &RelIndex,
    values: &[DatumRef<'_>],
) -> Result<PgError> {
    let key = &idx.desc.columns[..idx.desc.key_count()];
    if !services.may_show(rel.table.oid, key)? {
        return Ok(index::unique_violation(&idx.desc, &rel.table, None));
    }
    let columns = idx.desc.def.columns.iter().map(|c| c.attr.type_oid);
    let mut text = Vec::new();
    for (v, ty) in values.iter().zip(columns).take(idx.desc.key_count()) {
        text.push(match *v {
            DatumRef::Null => "null".to_string(),
            v => String::from_utf8_lossy(&services.type_output(ty, v)?).into_owned(),
        });
    }
    let (keys, values) = (services.index_keys(idx.desc.oid)?, text.join(", "));
    Ok(index::unique_violation(&idx.desc, &rel.table, Some((&keys, &values))))
}
