//! Constraint checks of a new row, and its index entries. Counterpart: execIndexing.c, execMain.c
//! (`ExecConstraints`).

use super::{Computed, ModifyNode, Refs, RowColumns};
use crate::node::{compile, compile_all};
use crate::relation::{OpenRel, RelIndex};
use crate::run::Run;
use engine::index::{self, Inserted, UniqueCheck};
use engine::table::{self, RowFetch};
use eval::{Program, RowInput, RowRef, Val};
use ids::{AttrNo, Tid};
use pgerror::{PgError, Result, pg_err};
use plan::Expr;
use plan::walk;
use smallvec::SmallVec;
use types::{Batch, Datum, DatumRef};

/// An index with its compiled expressions.
pub(super) struct IndexUse {
    exprs: Vec<Option<Program>>,
    predicate: Option<Program>,
    /// The UPDATE sets no column of the key: the new entry is a version duplicate, which is a hint
    /// for the index's bottom-up deletion.
    unchanged: bool,
}

impl IndexUse {
    /// `set`: the columns that an UPDATE sets.
    pub(super) fn new(
        index: &RelIndex,
        set: &[AttrNo],
        own: &mut RowColumns,
        run: &mut Run<'_>,
    ) -> Result<IndexUse> {
        let mut exprs = Vec::new();
        for e in &index.exprs {
            exprs.push(e.as_ref().map(|e| compile(e, own, run)).transpose()?);
        }
        let predicate = match index.predicate.as_slice() {
            [] => None,
            p => Some(compile_all(p, own, run)?),
        };
        Ok(IndexUse { exprs, predicate, unchanged: is_unchanged(index, set) })
    }

    fn is_plain(&self) -> bool {
        self.predicate.is_none() && self.exprs.iter().all(Option::is_none)
    }
}

/// True if an UPDATE of `set` leaves the index's key unchanged. INCLUDE columns and the predicate's
/// columns are not considered. Counterpart: `index_unchanged_by_update`.
pub(super) fn is_unchanged(index: &RelIndex, set: &[AttrNo]) -> bool {
    let keys = index.desc.key_count();
    let mut columns = index.desc.columns.iter().take(keys);
    columns.all(|c| *c == 0 || !set.contains(c))
        && index.exprs.iter().take(keys).flatten().all(|e| !refers_to(e, set))
}

/// True if the expression refers to one of the columns, to the whole row or to a system column.
fn refers_to(e: &Expr, set: &[AttrNo]) -> bool {
    match e {
        Expr::Var(v) => v.varattno <= 0 || set.contains(&v.varattno),
        _ => {
            let mut any = false;
            walk::each_child(e, &mut |c| any |= refers_to(c, set));
            any
        }
    }
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

impl ModifyNode {
    /// Computes the generated columns.
    pub(super) fn generate(&mut self, run: &mut Run<'_>, row: &[DatumRef<'_>]) -> Result<Computed> {
        let mut computed = Computed::new();
        for (n, p) in &self.generated {
            let v = p.eval_row(&mut self.st, run, &RowInput::scan(RowRef::Refs(row)))?;
            computed.push((*n as usize - 1, v.into_owned()));
        }
        Ok(computed)
    }

    /// Checks the NOT NULL and CHECK constraints.
    pub(super) fn check_row(&mut self, run: &mut Run<'_>, row: &[DatumRef<'_>]) -> Result<()> {
        if let Some(&column) = self.not_null.iter().find(|&&i| row[i].is_null()) {
            return Err(self.null_violation(run, column, row)?);
        }
        for (name, p) in &self.checks {
            let v = p.eval_row(&mut self.st, run, &RowInput::scan(RowRef::Refs(row)))?;
            if !v.is_null() && !v.as_ref().as_bool() {
                let table = &self.rel.table;
                let e = pg_err!(
                    CHECK_VIOLATION,
                    "new row for relation \"{}\" violates check constraint \"{name}\"",
                    table.name
                )
                .table(table.schema.as_ref(), table.name.as_ref())
                .constraint(name.clone());
                return Err(self.with_row(run, e, row)?);
            }
        }
        Ok(())
    }

    /// Checks WITH CHECK OPTION of views, after all constraints and unique indexes of the table.
    pub(super) fn check_views(
        &mut self,
        run: &mut Run<'_>,
        row: &[DatumRef<'_>],
        tid: Tid,
    ) -> Result<()> {
        if self.wcos.is_empty() {
            return Ok(());
        }
        let tid_bytes = tid.to_bytes();
        let full = self.with_system(run, row, tid, &tid_bytes)?;
        for (view, p) in &self.wcos {
            let v = p.eval_row(&mut self.st, run, &RowInput::scan(RowRef::Refs(&full)))?;
            if v.is_null() || !v.as_ref().as_bool() {
                let e = pg_err!(
                    WITH_CHECK_OPTION_VIOLATION,
                    "new row violates check option for view \"{view}\""
                );
                return Err(self.with_row(run, e, row)?);
            }
        }
        Ok(())
    }

    #[cold]
    pub(super) fn null_violation(
        &self,
        run: &mut Run<'_>,
        column: usize,
        row: &[DatumRef<'_>],
    ) -> Result<PgError> {
        let table = &self.rel.table;
        let name = self.rel.columns.columns[column].name.clone();
        let e = pg_err!(
            NOT_NULL_VIOLATION,
            "null value in column \"{name}\" of relation \"{}\" violates not-null constraint",
            table.name
        )
        .table(table.schema.as_ref(), table.name.as_ref())
        .column(name);
        self.with_row(run, e, row)
    }

    /// Adds the failing row as the detail of an error, as far as the user has SELECT privilege.
    #[cold]
    fn with_row(&self, run: &mut Run<'_>, e: PgError, row: &[DatumRef<'_>]) -> Result<PgError> {
        let row: Vec<Datum> = row.iter().map(|d| DatumRef::to_owned(*d)).collect();
        let rte = run.st.desc.plan.rtable.get((self.rti - 1).max(0) as usize);
        let written: Vec<AttrNo> = rte.map_or_else(Vec::new, |r| {
            r.inserted_cols.iter().chain(&r.updated_cols).copied().collect()
        });
        Ok(match run.sv.describe_row(&self.rel, &row, &written)? {
            Some(detail) => e.detail(detail),
            None => e,
        })
    }

    /// The index's column values for a row; `None` if the predicate excludes the row.
    pub(super) fn index_values<'r>(
        &mut self,
        run: &mut Run<'_>,
        position: usize,
        row: &[DatumRef<'r>],
    ) -> Result<Option<SmallVec<[Val<'r>; 4]>>> {
        let usage = &self.indexes[position];
        let input = RowInput::scan(RowRef::Refs(row));
        if let Some(p) = &usage.predicate
            && !p.test_row(&mut self.st, run, &input)?
        {
            return Ok(None);
        }
        let desc = &self.rel.indexes[position].desc;
        let mut values = SmallVec::new();
        for (i, &attno) in desc.columns.iter().enumerate() {
            values.push(match usage.exprs.get(i).and_then(Option::as_ref) {
                Some(p) => Val::Own(p.eval_row(&mut self.st, run, &input)?.into_owned()),
                None => Val::Ref(row[attno as usize - 1]),
            });
        }
        Ok(Some(values))
    }

    /// Inserts entries for a new row version into all indexes. Returns `Some(tid)` if there is a
    /// conflict with another row in an arbiter index. `update`: the row is a new version of an old
    /// one.
    pub(super) fn insert_entries(
        &mut self,
        run: &mut Run<'_>,
        row: &[DatumRef<'_>],
        tid: Tid,
        arbiters: Option<&[usize]>,
        update: bool,
    ) -> Result<Option<Tid>> {
        for position in 0..self.indexes.len() {
            let Some(values) = self.index_values(run, position, row)? else { continue };
            let (rel, idx) = (&self.rel, &self.rel.indexes[position]);
            let refs: SmallVec<[DatumRef<'_>; 4]> = values.iter().map(Val::as_ref).collect();
            let speculative = arbiters.is_some_and(|a| a.contains(&position));
            let check = if !idx.unique {
                UniqueCheck::No
            } else if speculative || idx.deferrable {
                UniqueCheck::Partial
            } else {
                UniqueCheck::Yes
            };
            let unchanged = update
                && match &self.conflict {
                    Some(c) => c.unchanged[position],
                    None => self.indexes[position].unchanged,
                };
            let be = run.sv.backend();
            match index::insert(be, &idx.desc, &rel.table, &refs, tid, check, unchanged)? {
                Inserted::Done { unique: false } if speculative => return Ok(Some(tid)),
                // A deferrable constraint is checked again by its trigger.
                Inserted::Done { .. } => {}
                Inserted::Conflict { .. } => return Err(self.duplicate(run, idx, &refs)?),
            }
        }
        Ok(None)
    }

    /// As [`Self::insert_entries`], for the new version at `tid`, whose columns are read back.
    pub(super) fn insert_entries_of(&mut self, run: &mut Run<'_>, tid: Tid) -> Result<()> {
        let (mut fetch, mut batch) = match self.entry_fetch.take() {
            Some(x) => x,
            None => (
                RowFetch::new(&self.rel.table, &self.entry_columns)?,
                table::new_batch(&self.rel.table, &self.entry_columns),
            ),
        };
        batch.clear();
        if !fetch.version(run.sv.backend(), tid, &mut batch)? {
            return Err(PgError::internal("failed to fetch tuple just updated"));
        }
        let mut row: Refs<'_> = SmallVec::from_elem(DatumRef::Null, self.all_columns.len());
        for (i, column) in self.entry_columns.iter().enumerate() {
            row[*column as usize - 1] = batch.get(0, i);
        }
        self.insert_entries(run, &row, tid, None, true)?;
        drop(row);
        self.entry_fetch = Some((fetch, batch));
        Ok(())
    }

    #[cold]
    fn duplicate(
        &self,
        run: &mut Run<'_>,
        idx: &RelIndex,
        values: &[DatumRef<'_>],
    ) -> Result<PgError> {
        let key = &idx.desc.columns[..idx.desc.key_count()];
        if !run.sv.may_show(self.rel.table.oid, key)? {
            return Ok(index::unique_violation(&idx.desc, &self.rel.table, None));
        }
        let columns = idx.desc.def.columns.iter().map(|c| c.attr.type_oid);
        let mut text = Vec::new();
        for (v, ty) in values.iter().zip(columns).take(idx.desc.key_count()) {
            text.push(match *v {
                DatumRef::Null => "null".to_string(),
                v => String::from_utf8_lossy(&run.sv.type_output(ty, v)?).into_owned(),
            });
        }
        let (keys, values) = (run.sv.index_keys(idx.desc.oid)?, text.join(", "));
        Ok(index::unique_violation(&idx.desc, &self.rel.table, Some((&keys, &values))))
    }

    /// Reads all columns of the version at `tid`; the caller returns the batch by
    /// [`Self::put_old`].
    pub(super) fn take_old(&mut self, run: &mut Run<'_>, tid: Tid) -> Result<(RowFetch, Batch)> {
        let (mut fetch, mut batch) = match self.old_fetch.take() {
            Some(x) => x,
            None => (
                RowFetch::new(&self.rel.table, &self.all_columns)?,
                table::new_batch(&self.rel.table, &self.all_columns),
            ),
        };
        batch.clear();
        if !fetch.version(run.sv.backend(), tid, &mut batch)? {
            return Err(PgError::internal("failed to fetch tuple being updated"));
        }
        Ok((fetch, batch))
    }

    pub(super) fn put_old(&mut self, old: (RowFetch, Batch)) {
        self.old_fetch = Some(old);
    }
}
