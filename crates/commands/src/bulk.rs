//! Bulk insertion of rows into one table, with its index entries and foreign key checks.
//!
//! Counterpart: `CopyMultiInsertBuffer…` of copyfrom.c.

use crate::exprs;
use crate::host::CommandHost;
use engine::index::{self, Inserted, UniqueCheck};
use engine::table::{self, BulkInsert, InsertOptions};
use eval::{EvalState, Program, RowInput, RowRef};
use executor::{OpenRel, RelIndex, RowEvent};
use ids::{AttrNo, Oid, Tid};
use pgerror::{PgError, Result, pg_err};
use std::sync::Arc;
use types::{Batch, Datum, DatumRef};

struct Entry {
    exprs: Vec<Option<Program>>,
    predicate: Option<Program>,
}

/// Writes batches of rows into a table.
pub struct TableWriter {
    pub rel: Arc<OpenRel>,
    indexes: Vec<Entry>,
    checks: Vec<(String, Program)>,
    generated: Vec<(AttrNo, Program)>,
    /// The columns whose values come from the user, for error messages.
    pub written: Vec<AttrNo>,
    options: InsertOptions,
    bulk: Option<BulkInsert>,
    /// Are index entries inserted? If not, the indexes are built after all rows are written.
    keeps_indexes: bool,
    tids: Vec<Tid>,
    state: EvalState,
}

impl TableWriter {
    pub fn new(
        host: &mut dyn CommandHost,
        table: Oid,
        options: InsertOptions,
    ) -> Result<TableWriter> {
        let rel = host.services().open_relation(table)?;
        let mut indexes = Vec::new();
        for i in &rel.indexes {
            let mut programs = Vec::new();
            for e in &i.exprs {
                programs.push(match e {
                    Some(e) => Some(exprs::compile_rows(host.facts(), e, &rel.columns)?),
                    None => None,
                });
            }
            let predicate = match i.predicate.as_slice() {
                [] => None,
                list => Some(exprs::compile_all(host.facts(), list, &rel.columns)?),
            };
            indexes.push(Entry { exprs: programs, predicate });
        }
        let mut checks = Vec::new();
        for c in &rel.checks {
            checks
                .push((c.name.clone(), exprs::compile_rows(host.facts(), &c.expr, &rel.columns)?));
        }
        let mut generated = Vec::new();
        for (n, e) in &rel.generated {
            generated.push((*n, exprs::compile(host.facts(), e, &[])?));
        }
        let bulk = BulkInsert::new(host.backend(), &rel.table);
        Ok(TableWriter {
            rel,
            indexes,
            checks,
            generated,
            written: Vec::new(),
            options,
            bulk: Some(bulk),
            keeps_indexes: true,
            tids: Vec::new(),
            state: EvalState::default(),
        })
    }

    /// Writes only the heap. The caller builds the indexes when the table is complete.
    pub fn without_indexes(mut self) -> TableWriter {
        self.keeps_indexes = false;
        self
    }

    /// An empty batch with all columns.
    pub fn batch(&self) -> Batch {
        let columns: Vec<AttrNo> = (1..=self.rel.table.tupdesc.len() as AttrNo).collect();
        table::new_batch(&self.rel.table, &columns)
    }

    /// Must rows be processed one by one before they are written?
    pub fn has_checks(&self) -> bool {
        !self.checks.is_empty() || !self.generated.is_empty()
    }

    /// Computes generated columns and checks NOT NULL and CHECK constraints.
    pub fn complete(&mut self, host: &mut dyn CommandHost, row: &mut [Datum]) -> Result<()> {
        for (n, p) in &self.generated {
            let v = exprs::value(p, &mut self.state, host.expressions(), row)?;
            row[*n as usize - 1] = v;
        }
        for (i, a) in self.rel.table.tupdesc.attrs.iter().enumerate() {
            if a.not_null && !a.dropped && row[i].is_null() {
                return Err(null_error(host, &self.rel, i, row, &self.written)?);
            }
        }
        for (name, p) in &self.checks {
            let v = exprs::value(p, &mut self.state, host.expressions(), row)?;
            if !v.is_null() && !v.as_ref().as_bool() {
                let rel = &self.rel;
                let e = pg_err!(
                    CHECK_VIOLATION,
                    "new row for relation \"{}\" violates check constraint \"{name}\"",
                    rel.table.name
                )
                .table(&*rel.table.schema, &*rel.table.name)
                .constraint(name.as_str());
                return Err(with_row(host, rel, row, &self.written, e)?);
            }
        }
        Ok(())
    }

    /// Writes the rows. On an error, `at_fault` is set to the index of the row that caused it.
    pub fn write(
        &mut self,
        host: &mut dyn CommandHost,
        rows: &Batch,
        at_fault: &mut Option<usize>,
    ) -> Result<()> {
        if rows.len == 0 {
            return Ok(());
        }
        self.tids.clear();
        let rel = self.rel.clone();
        if let Some(bulk) = &mut self.bulk {
            let options = self.options;
            let tids = &mut self.tids;
            table::multi_insert(host.backend(), &rel.table, rows, options, bulk, tids)?;
        }
        let indexes = if self.keeps_indexes { rel.indexes.len() } else { 0 };
        if indexes == 0 && !rel.row_events {
            return Ok(());
        }
        for r in 0..rows.len {
            *at_fault = Some(r);
            let tid = self.tids[r];
            for position in 0..indexes {
                self.insert_entry(host, position, rows, r, tid)?;
            }
            if rel.row_events {
                let row = rows.row_owned(r);
                host.services().row_event(RowEvent {
                    rel: &rel,
                    old: None,
                    new: Some(&row),
                    old_tid: Tid::INVALID,
                    new_tid: tid,
                })?;
            }
        }
        *at_fault = None;
        Ok(())
    }

    fn insert_entry(
        &mut self,
        host: &mut dyn CommandHost,
        position: usize,
        rows: &Batch,
        r: usize,
        tid: Tid,
    ) -> Result<()> {
        let rel = self.rel.clone();
        let entry = &self.indexes[position];
        let idx = &rel.indexes[position];
        let input = RowInput::scan(RowRef::Batch(rows, r));
        if let Some(p) = &entry.predicate
            && !p.test_row(&mut self.state, host.expressions(), &input)?
        {
            return Ok(());
        }
        let mut values: Vec<Datum> = Vec::new();
        let plain = entry.exprs.iter().all(Option::is_none);
        if !plain {
            for (i, &n) in idx.desc.columns.iter().enumerate() {
                values.push(match entry.exprs.get(i).and_then(Option::as_ref) {
                    Some(p) => {
                        p.eval_row(&mut self.state, host.expressions(), &input)?.into_owned()
                    }
                    None => DatumRef::to_owned(rows.get(r, n as usize - 1)),
                });
            }
        }
        let refs: Vec<DatumRef<'_>> = if plain {
            idx.desc.columns.iter().map(|n| rows.get(r, *n as usize - 1)).collect()
        } else {
            values.iter().map(Datum::as_ref).collect()
        };
        let check = match (idx.unique, idx.deferrable) {
            (false, _) => UniqueCheck::No,
            (true, true) => UniqueCheck::Partial,
            (true, false) => UniqueCheck::Yes,
        };
        match index::insert(host.backend(), &idx.desc, &rel.table, &refs, tid, check, false)? {
            Inserted::Conflict { .. } => Err(duplicate(host, &rel, idx, &refs)?),
            // The trigger of the deferrable constraint rechecks the key.
            Inserted::Done { .. } => Ok(()),
        }
    }

    /// Ends the bulk insertion.
    pub fn finish(mut self, host: &mut dyn CommandHost) -> Result<()> {
        match self.bulk.take() {
            Some(bulk) => bulk.finish(host.backend(), &self.rel.table),
            None => Ok(()),
        }
    }
}

fn with_row(
    host: &mut dyn CommandHost,
    rel: &OpenRel,
    row: &[Datum],
    written: &[AttrNo],
    e: PgError,
) -> Result<PgError> {
    Ok(match host.services().describe_row(rel, row, written)? {
        Some(detail) => e.detail(detail),
        None => e,
    })
}

/// 23502 for the column at an index.
pub fn null_error(
    host: &mut dyn CommandHost,
    rel: &OpenRel,
    column: usize,
    row: &[Datum],
    written: &[AttrNo],
) -> Result<PgError> {
    let name = rel.columns.columns[column].name.clone();
    let e = pg_err!(
        NOT_NULL_VIOLATION,
        "null value in column \"{name}\" of relation \"{}\" violates not-null constraint",
        rel.table.name
    )
    .table(&*rel.table.schema, &*rel.table.name)
    .column(name);
    with_row(host, rel, row, written, e)
}

fn duplicate(
    host: &mut dyn CommandHost,
    rel: &OpenRel,
    idx: &RelIndex,
    values: &[DatumRef<'_>],
) -> Result<PgError> {
    let key = &idx.desc.columns[..idx.desc.key_count()];
    if !host.services().may_show(rel.table.oid, key)? {
        return Ok(index::unique_violation(&idx.desc, &rel.table, None));
    }
    let mut parts = Vec::new();
    for (v, c) in values.iter().zip(idx.desc.def.keys()) {
        parts.push(match v {
            DatumRef::Null => "null".to_string(),
            v => {
                let text = host.functions().type_output(c.attr.type_oid, *v)?;
                String::from_utf8_lossy(&text).into_owned()
            }
        });
    }
    let (keys, values) = (host.services().index_keys(idx.desc.oid)?, parts.join(", "));
    Ok(index::unique_violation(&idx.desc, &rel.table, Some((&keys, &values))))
}
