//! Expressions over the rows of a sample.

use catalog::RelDesc;
use engine::sample::{Sample, SampleBatch};
use eval::{Compiler, EvalState};
use ids::AttrNo;
use pgerror::Result;
use plan::Expr;
use std::sync::Arc;
use types::{Batch, Datum, DatumRef};
use utility::exprs;
use utility::host::CommandHost;
use utility::stored;

/// The values of expressions for the rows of a sample that satisfy a condition.
pub(crate) struct Evaluated {
    batches: Vec<Batch>,
    /// Fraction of the rows that satisfy the condition.
    share: f64,
}

impl Evaluated {
    /// The values by row.
    pub(crate) fn rows(&self) -> impl Iterator<Item = Vec<Datum>> + '_ {
        self.batches.iter().flat_map(|batch| {
            let width = batch.columns.len();
            (0..batch.len).map(move |r| (0..width).map(|c| batch.get(r, c).to_owned()).collect())
        })
    }

    /// A sample of the values; `of` is the sample that they are computed from.
    pub(crate) fn into_sample(self, of: &Sample) -> Sample {
        Sample {
            batches: self.batches.into_iter().map(SampleBatch::computed).collect(),
            live_rows: (of.live_rows * self.share).ceil(),
            ..*of
        }
    }
}

/// Evaluates the expressions. `columns` are the columns of the sample; `None` if other ones are
/// used. The caller has the privileges of the table's owner.
pub(crate) fn evaluate(
    host: &mut dyn CommandHost,
    rel: &Arc<RelDesc>,
    columns: &[AttrNo],
    sample: &Sample,
    (list, condition): (&[Expr], &[Expr]),
) -> Result<Option<Evaluated>> {
    let mut used = stored::columns_used(list);
    used.extend(stored::columns_used(condition));
    let whole = used.contains(&0);
    if whole {
        used = rel.attributes.iter().map(|a| a.attnum).collect();
    }
    let position = |n: &AttrNo| columns.iter().position(|c| c == n);
    // Columns with statistics target 0 are not in the sample.
    let Some(positions) = used.iter().map(position).collect::<Option<Vec<usize>>>() else {
        return Ok(None);
    };
    let mut available = exprs::Columns { columns, row: whole.then(|| rel.row_desc()) };
    let calls = eval::called(list.iter().chain(condition), host.facts())?;
    host.facts().may_call(&calls)?;
    let mut programs = Vec::new();
    for e in list {
        programs.push(Compiler::new(host.facts(), &mut available).compile(e)?);
    }
    let test = match condition {
        [] => None,
        list => Some(Compiler::new(host.facts(), &mut available).compile_all(list)?),
    };
    let empty = Batch::new(programs.iter().map(|p| p.by_val));
    let (mut batches, mut batch) = (Vec::new(), empty.clone());
    let (mut sampled, mut kept) = (0usize, 0usize);
    let mut state = EvalState::default();
    for of in &sample.batches {
        host.backend().check_interrupts()?;
        for r in 0..of.rows.len {
            sampled += 1;
            let row = row(host, of, r, (columns.len(), &positions))?;
            if let Some(test) = &test {
                let v = exprs::value(test, &mut state, host.expressions(), &row)?;
                if v.is_null() || !v.as_ref().as_bool() {
                    continue;
                }
            }
            let mut values = Vec::with_capacity(programs.len());
            for program in &programs {
                values.push(exprs::value(program, &mut state, host.expressions(), &row)?);
            }
            let refs: Vec<DatumRef<'_>> = values.iter().map(Datum::as_ref).collect();
            batch.push_row(&refs);
            kept += 1;
            if batch.is_full() {
                batches.push(std::mem::replace(&mut batch, empty.clone()));
            }
        }
    }
    batches.push(batch);
    Ok(Some(Evaluated { batches, share: kept as f64 / sampled.max(1) as f64 }))
}

/// A row of the sample. Wide values are read for the columns in `used`.
fn row(
    host: &mut dyn CommandHost,
    batch: &SampleBatch,
    r: usize,
    (width, used): (usize, &[usize]),
) -> Result<Vec<Datum>> {
    let mut row: Vec<Datum> = (0..width).map(|c| batch.rows.get(r, c).to_owned()).collect();
    let from = batch.packed.partition_point(|v| v.row < r);
    for value in batch.packed[from..].iter().take_while(|v| v.row == r) {
        if let Some(raw) = value.omitted.as_deref().filter(|_| used.contains(&value.column)) {
            row[value.column] = Datum::bytes(batch.expand(host.backend(), raw)?);
        }
    }
    Ok(row)
}
