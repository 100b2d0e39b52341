//! Generated columns, NOT NULL and CHECK constraints of a new row. Counterpart: execMain.c
//! (`ExecConstraints`), nodeModifyTable.c (`ExecComputeStoredGenerated`).

use super::{Computed, OwnColumns, Refs, RowWriter, WriteHost, allow, compile, with_computed};
use crate::trigger::Change;
use eval::{Facts, Program, RowInput, RowRef};
use ids::AttrNo;
use pgerror::{PgError, Result, pg_err};
use plan::{Expr, walk};
use types::{Batch, Datum, DatumRef};

/// A stored generated column.
pub(super) struct Generated {
    pub(super) column: AttrNo,
    program: Program,
    /// The columns from which it is computed.
    bases: Vec<AttrNo>,
}

impl Generated {
    pub(super) fn new(
        column: AttrNo,
        expr: &Expr,
        own: &mut OwnColumns<'_>,
        facts: &mut dyn Facts,
    ) -> Result<Generated> {
        let mut bases = Vec::new();
        walk::any(expr, &mut |e| {
            if let Expr::Var(v) = e {
                bases.push(v.varattno);
            }
            false
        });
        Ok(Generated { column, program: compile(expr, own, facts)?, bases })
    }
}

impl RowWriter {
    /// The generated columns that an UPDATE of the columns `set` recomputes: positions for
    /// [`Self::compute_some`], and the columns. Triggers before the update may change any column.
    /// Counterpart: `ExecInitStoredGenerated`.
    pub fn recomputed(&self, set: &[AttrNo]) -> (Vec<usize>, Vec<AttrNo>) {
        let any = self.rel.triggers.are_before_row(Change::Update);
        let depends = |g: &&Generated| any || g.bases.iter().any(|b| *b <= 0 || set.contains(b));
        let all = self.generated.iter().enumerate();
        all.filter(|(_, g)| depends(g)).map(|(position, g)| (position, g.column)).unzip()
    }

    /// True if values must be computed or conditions checked for each new row, apart from NOT NULL.
    pub fn evaluates_rows(&self) -> bool {
        !self.checks.is_empty() || !self.generated.is_empty()
    }

    pub fn has_checks(&self) -> bool {
        !self.checks.is_empty()
    }

    /// True if the column at this index is NOT NULL.
    pub fn is_not_null(&self, column: usize) -> bool {
        self.not_null.contains(&column)
    }

    /// Computes all generated columns of a row: indexes and values.
    pub fn compute<H: WriteHost + ?Sized>(
        &mut self,
        host: &mut H,
        row: &[DatumRef<'_>],
    ) -> Result<Computed> {
        allow(&mut self.unchecked.generated, &self.rel.calls.generated, host)?;
        let mut computed = Computed::new();
        for g in &self.generated {
            let input = RowInput::scan(RowRef::Refs(row));
            let v = g.program.eval_row(&mut self.state, host.expressions(), &input)?;
            computed.push((g.column as usize - 1, v.into_owned()));
        }
        Ok(computed)
    }

    /// As [`Self::compute`], for the generated columns at these positions.
    pub fn compute_some<H: WriteHost + ?Sized>(
        &mut self,
        host: &mut H,
        row: &[DatumRef<'_>],
        positions: &[usize],
    ) -> Result<Computed> {
        if !positions.is_empty() {
            allow(&mut self.unchecked.generated, &self.rel.calls.generated, host)?;
        }
        let mut computed = Computed::new();
        for &position in positions {
            let g = &self.generated[position];
            let input = RowInput::scan(RowRef::Refs(row));
            let v = g.program.eval_row(&mut self.state, host.expressions(), &input)?;
            computed.push((g.column as usize - 1, v.into_owned()));
        }
        Ok(computed)
    }

    /// True if an UPDATE of these columns can violate the partition constraint.
    pub fn may_leave_partition(&self, set: &[AttrNo]) -> bool {
        let used = |columns: &[AttrNo]| columns.iter().any(|n| *n == 0 || set.contains(n));
        self.partition.as_ref().is_some_and(|(_, columns)| used(columns))
    }

    /// True if the row satisfies the partition constraint.
    pub fn is_in_partition<H: WriteHost + ?Sized>(
        &mut self,
        host: &mut H,
        row: &[DatumRef<'_>],
    ) -> Result<bool> {
        let Some((program, _)) = &self.partition else { return Ok(true) };
        allow(&mut self.unchecked.partition, &self.rel.calls.partition, host)?;
        let input = RowInput::scan(RowRef::Refs(row));
        let v = program.eval_row(&mut self.state, host.expressions(), &input)?;
        Ok(v.is_null() || v.as_ref().as_bool())
    }

    /// Checks the NOT NULL and CHECK constraints, and the partition constraint unless the row is
    /// known to satisfy it.
    pub fn check<H: WriteHost + ?Sized>(
        &mut self,
        host: &mut H,
        row: &[DatumRef<'_>],
    ) -> Result<()> {
        if let Some(&column) = self.not_null.iter().find(|&&i| row[i].is_null()) {
            return Err(self.null_violation(host, column, row)?);
        }
        allow(&mut self.unchecked.checks, &self.rel.calls.checks, host)?;
        for (name, p) in &self.checks {
            let input = RowInput::scan(RowRef::Refs(row));
            let v = p.eval_row(&mut self.state, host.expressions(), &input)?;
            if !v.is_null() && !v.as_ref().as_bool() {
                let table = &self.rel.table;
                let e = pg_err!(
                    CHECK_VIOLATION,
                    "new row for relation \"{}\" violates check constraint \"{name}\"",
                    table.name
                )
                .table(table.schema.as_ref(), table.name.as_ref())
                .constraint(name.clone());
                return Err(self.with_row(host, e, row)?);
            }
        }
        if !self.in_partition && self.partition.is_some() && !self.is_in_partition(host, row)? {
            let table = &self.rel.table;
            let e = pg_err!(
                CHECK_VIOLATION,
                "new row for relation \"{}\" violates partition constraint",
                table.name
            )
            .table(table.schema.as_ref(), table.name.as_ref());
            return Err(self.with_row(host, e, row)?);
        }
        Ok(())
    }

    /// Computes and checks the rows of a batch. If a row fails, the rows before it are returned
    /// with its error.
    pub fn complete<H: WriteHost + ?Sized>(
        &mut self,
        host: &mut H,
        rows: Batch,
    ) -> (Batch, Result<()>) {
        let has_null = |i: &usize| rows.columns[*i].nulls.as_ref().is_some_and(|n| n.any());
        if !self.evaluates_rows() && !self.not_null.iter().any(has_null) {
            return (rows, Ok(()));
        }
        let mut done = Batch::new(rows.columns.iter().map(types::Column::is_by_val));
        for r in 0..rows.len {
            let given: Refs<'_> = rows.row(r).collect();
            let completed = self.compute(host, &given).and_then(|computed| {
                let row = with_computed(&given, &computed);
                self.check(host, &row)?;
                done.push_row(&row);
                Ok(())
            });
            if completed.is_err() {
                return (done, completed);
            }
        }
        (done, Ok(()))
    }

    /// Error 23502 for the column at an index.
    #[cold]
    pub fn null_violation<H: WriteHost + ?Sized>(
        &self,
        host: &mut H,
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
        self.with_row(host, e, row)
    }

    /// Adds the failing row as the detail of an error, limited to the columns for which the user
    /// has SELECT privilege.
    #[cold]
    pub fn with_row<H: WriteHost + ?Sized>(
        &self,
        host: &mut H,
        e: PgError,
        row: &[DatumRef<'_>],
    ) -> Result<PgError> {
        let shown: Refs<'_>;
        let (rel, row) = match &self.root {
            Some(root) => {
                shown = self.in_columns_of(root, row);
                (root, &shown[..])
            }
            None => (&self.rel, row),
        };
        let row: Vec<Datum> = row.iter().map(|d| DatumRef::to_owned(*d)).collect();
        Ok(match host.services().describe_row(rel, &row, &self.written)? {
            Some(detail) => e.detail(detail),
            None => e,
        })
    }
}
