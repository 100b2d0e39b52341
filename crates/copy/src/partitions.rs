//! The partitions into which COPY FROM writes rows of a partitioned table. Counterpart: copyfrom.c
//! (`CopyMultiInsertInfo`).

use engine::table::InsertOptions;
use executor::{
    BeforeRowResult, BulkWriter, Change, OpenRel, ProposedChange, Refs, Router, Timing,
    with_computed,
};
use ids::AttrNo;
use pgerror::Result;
use std::sync::Arc;
use types::{Batch, Datum, DatumRef};
use utility::host::{CommandHost, Writing};

/// The rows for a partition that have not been written.
struct Rows {
    writer: BulkWriter,
    batch: Batch,
    /// The lines of the rows.
    numbers: Vec<u64>,
    /// Each row is written before the next one is read.
    singly: bool,
}

pub(crate) struct Partitions {
    router: Router,
    /// By index in `Router::leaves`.
    leaves: Vec<Rows>,
    options: InsertOptions,
    named: Arc<OpenRel>,
    /// The number of rows that have not been written.
    pub waiting: usize,
}

impl Partitions {
    pub(crate) fn new(
        host: &mut dyn CommandHost,
        named: &Arc<OpenRel>,
        options: InsertOptions,
    ) -> Result<Partitions> {
        Ok(Partitions {
            router: Router::new(named, host.services())?,
            leaves: Vec::new(),
            options,
            named: named.clone(),
            waiting: 0,
        })
    }

    /// Adds the row of a line, whose columns are those of the partitioned table. False if a trigger
    /// skips it.
    pub(crate) fn add(
        &mut self,
        host: &mut dyn CommandHost,
        row: &[DatumRef<'_>],
        (number, written): (u64, &[AttrNo]),
    ) -> Result<bool> {
        let at = self.router.find(&mut Writing(host), row)?;
        while self.leaves.len() < self.router.leaves.len() {
            let rel = &self.router.leaves[self.leaves.len()].rel;
            let mut writer = BulkWriter::open(&mut Writing(host), rel.table.oid, self.options)?;
            writer.rows.set_named(&self.named);
            writer.rows.written = written.to_vec();
            let singly = rel.triggers.are_before_row(Change::Insert) || writer.rows.reads_changes();
            self.leaves.push(Rows { batch: writer.batch(), writer, numbers: Vec::new(), singly });
        }
        let own = self.router.leaves[at].convert(row);
        let rows = &mut self.leaves[at];
        let writer = &mut rows.writer.rows;
        let answer = match writer.rel.triggers.are_before_row(Change::Insert) {
            true => host.services().before_row(ProposedChange {
                rel: &writer.rel,
                timing: Timing::Before,
                old: None,
                new: Some(&own),
                updated: &[],
            })?,
            false => BeforeRowResult::Keep,
        };
        let replaced: Refs<'_>;
        let own: &[DatumRef<'_>] = match &answer {
            BeforeRowResult::Keep => &own,
            BeforeRowResult::Skip => return Ok(false),
            BeforeRowResult::Replace(row) => {
                replaced = row.iter().map(Datum::as_ref).collect();
                &replaced
            }
        };
        let computed = writer.compute(&mut Writing(host), own)?;
        let own = with_computed(own, &computed);
        writer.check(&mut Writing(host), &own)?;
        rows.batch.push_row(&own);
        rows.numbers.push(number);
        self.waiting += 1;
        if rows.singly {
            let mut ignored = None;
            self.flush(host, &mut ignored)?;
        }
        Ok(true)
    }

    /// Writes the rows. After an error, `at_fault` is the line of the row that caused it, if it is
    /// known.
    pub(crate) fn flush(
        &mut self,
        host: &mut dyn CommandHost,
        at_fault: &mut Option<u64>,
    ) -> Result<()> {
        for rows in &mut self.leaves {
            let mut row = None;
            let result = rows.writer.write(&mut Writing(host), &rows.batch, &mut row);
            *at_fault = row.and_then(|r| rows.numbers.get(r).copied());
            result?;
            rows.batch.clear();
            rows.numbers.clear();
        }
        self.waiting = 0;
        Ok(())
    }

    pub(crate) fn finish(self, host: &mut dyn CommandHost) -> Result<()> {
        self.leaves.into_iter().try_for_each(|rows| rows.writer.finish(&mut Writing(host)))
    }
}
