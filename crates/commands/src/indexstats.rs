//! Statistics of index expressions, which are used to estimate conditions on these expressions.
//!
//! Counterpart: `compute_index_stats` of analyze.c.

use crate::statistics;
use catalog::RelDesc;
use catalog::rows::{PgAttribute, PgIndex, PgStatistic};
use engine::sample::Sample;
use eval::{Compiler, EvalState};
use ids::AttrNo;
use pgerror::Result;
use plan::expr::Expr;
use std::sync::Arc;
use types::{Batch, Datum, DatumRef};
use utility::exprs;
use utility::host::CommandHost;
use utility::stored;

/// The `pg_statistic` rows for all expressions of the table's indexes. `columns` are the columns of
/// the sample; `target` is the default statistics target.
pub fn compute(
    host: &mut dyn CommandHost,
    rel: &Arc<RelDesc>,
    columns: &[AttrNo],
    sample: &Sample,
    target: i32,
) -> Result<Vec<PgStatistic>> {
    let mut out = Vec::new();
    let with_expressions = |i: &&PgIndex| i.indexprs.is_some();
    let indexes: Vec<PgIndex> = rel.indexes.iter().filter(with_expressions).cloned().collect();
    for index in &indexes {
        // Index expressions are evaluated with the privileges of the table's owner.
        host.as_owner(rel.class.relowner, &mut |host| {
            out.append(&mut of_index(host, rel, index, columns, sample, target)?);
            Ok(())
        })?;
    }
    Ok(out)
}

fn of_index(
    host: &mut dyn CommandHost,
    rel: &Arc<RelDesc>,
    index: &PgIndex,
    columns: &[AttrNo],
    sample: &Sample,
    target: i32,
) -> Result<Vec<PgStatistic>> {
    let Some(text) = &index.indexprs else { return Ok(Vec::new()) };
    let list = plan::nodetree::read_exprs(text.as_str())?;
    let predicate: Vec<Expr> = match &index.indpred {
        Some(text) => plan::nodetree::read_exprs(text.as_str())?
            .into_iter()
            .flat_map(plan::walk::conjuncts)
            .collect(),
        None => Vec::new(),
    };
    let mut used = stored::columns_used(&list);
    used.extend(stored::columns_used(&predicate));
    let whole = used.contains(&0);
    if whole {
        used = rel.attributes.iter().map(|a| a.attnum).collect();
    }
    let position = |n: &AttrNo| columns.iter().position(|c| c == n);
    // Columns with statistics target 0 are not in the sample.
    let Some(positions) = used.iter().map(position).collect::<Option<Vec<usize>>>() else {
        return Ok(Vec::new());
    };
    let mut available = exprs::Columns { columns, row: whole.then(|| rel.row_desc()) };
    let calls = eval::called(list.iter().chain(&predicate), host.facts())?;
    host.facts().may_call(&calls)?;
    let mut programs = Vec::new();
    for e in &list {
        programs.push(Compiler::new(host.facts(), &mut available).compile(e)?);
    }
    let test = match predicate.as_slice() {
        [] => None,
        list => Some(Compiler::new(host.facts(), &mut available).compile_all(list)?),
    };
    let empty = Batch::new(programs.iter().map(|p| p.by_val));
    let (mut rows, mut batch) = (Vec::new(), empty.clone());
    let (mut sampled, mut kept) = (0usize, 0usize);
    let mut state = EvalState::default();
    for (of, left_out) in sample.rows.iter().zip(&sample.omitted) {
        host.backend().check_interrupts()?;
        for r in 0..of.len {
            sampled += 1;
            // An expression cannot be evaluated for a row without its wide values.
            if left_out.iter().any(|v| v.row == r && positions.contains(&v.column)) {
                continue;
            }
            let row: Vec<Datum> =
                (0..columns.len()).map(|c| DatumRef::to_owned(of.get(r, c))).collect();
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
                rows.push(std::mem::replace(&mut batch, empty.clone()));
            }
        }
    }
    rows.push(batch);
    let share = kept as f64 / sampled.max(1) as f64;
    let sample = Sample {
        omitted: rows.iter().map(|_| Vec::new()).collect(),
        rows,
        live_rows: (sample.live_rows * share).ceil(),
        ..*sample
    };
    let desc = host.catalog().relation(index.indexrelid)?;
    let mut out = Vec::new();
    let expressions = (1..).zip(index.indkey.iter()).filter(|(_, n)| **n == 0);
    for (at, (number, _)) in expressions.enumerate() {
        let (Some(a), Some(e)) = (desc.attribute(number), list.get(at)) else { continue };
        // The index may store another type, such as a hash code.
        let a = &PgAttribute { atttypid: e.type_oid(), ..a.clone() };
        let own = if a.attstattarget < 0 { target } else { a.attstattarget };
        if own != 0 {
            out.extend(statistics::compute(host, &desc, a, at, &sample, own as usize)?);
        }
    }
    Ok(out)
}
