//! Ordered-set and hypothetical-set aggregates, computed in one pass over the sorted rows of a
//! group. Counterpart: orderedsetaggs.c.

use crate::run::Run;
use eval::CallContext;
use ids::Oid;
use ids::code::AggKind;
use pgerror::{PgError, Result, bail};
use plan::expr::Aggref;
use rowops::sorter::{self, SortColumn, Sorter};
use std::cmp::Ordering;
use types::array::ArrayRef;
use types::fn_context::FnContext;
use types::{BATCH_ROWS_MAX, Batch, Datum, DatumRef, builtin, oids};

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum OrderedSet {
    PercentileDisc,
    PercentileCont,
    Mode,
    Rank,
    DenseRank,
    PercentRank,
    CumeDist,
}

impl OrderedSet {
    /// Finds the aggregate by the `prosrc` of its final function.
    pub(crate) fn of(final_function: &str) -> Result<OrderedSet> {
        Ok(match final_function {
            "percentile_disc_final" | "percentile_disc_multi_final" => OrderedSet::PercentileDisc,
            "percentile_cont_float8_final"
            | "percentile_cont_interval_final"
            | "percentile_cont_float8_multi_final"
            | "percentile_cont_interval_multi_final" => OrderedSet::PercentileCont,
            "mode_final" => OrderedSet::Mode,
            "hypothetical_rank_final" => OrderedSet::Rank,
            "hypothetical_dense_rank_final" => OrderedSet::DenseRank,
            "hypothetical_percent_rank_final" => OrderedSet::PercentRank,
            "hypothetical_cume_dist_final" => OrderedSet::CumeDist,
            other => return Err(PgError::unsupported(format!("function {other}"))),
        })
    }

    /// True if rows whose first column is NULL are ignored; hypothetical-set aggregates count them.
    pub(crate) fn skips_nulls(self) -> bool {
        matches!(self, OrderedSet::PercentileDisc | OrderedSet::PercentileCont | OrderedSet::Mode)
    }

    /// The reason why the final function cannot compute the call. Only aggregates that a superuser
    /// has created with arguments that do not fit have such calls.
    pub(crate) fn mismatch(self, final_function: &str, agg: &Aggref) -> Option<&'static str> {
        let wanted = match final_function {
            "percentile_cont_float8_final" | "percentile_cont_float8_multi_final" => oids::FLOAT8,
            "percentile_cont_interval_final" | "percentile_cont_interval_multi_final" => {
                oids::INTERVAL
            }
            _ if self.skips_nulls() || agg.aggkind == AggKind::Hypothetical => return None,
            // The final function expects the column that marks the hypothetical row.
            _ if !(agg.aggdirectargs.len() + agg.args.len()).is_multiple_of(2) => {
                return Some("wrong number of arguments in hypothetical-set function");
            }
            _ => return Some("type mismatch in hypothetical-set function"),
        };
        match agg.args.first() {
            Some(a) if a.expr.type_oid() == wanted => None,
            _ => Some("type mismatch in ordered-set function"),
        }
    }

    /// The final value over the rows of a group. `direct` are the direct arguments.
    pub(crate) fn value(
        self,
        rows: Sorted<'_>,
        direct: &[Datum],
        result_type: Oid,
        run: &mut Run<'_>,
    ) -> Result<Datum> {
        match self {
            OrderedSet::Mode => rows.mode(run),
            OrderedSet::PercentileDisc | OrderedSet::PercentileCont => {
                let Some(p) = direct.first() else { return Ok(Datum::Null) };
                // A single fraction is checked even if there are no rows.
                if let Datum::Word(_) = p {
                    check_fraction(p.as_ref().as_f64())?;
                }
                if p.is_null() || rows.count() == 0 {
                    return Ok(Datum::Null);
                }
                let result = run.sv.as_facts().type_info(result_type)?;
                let Datum::Bytes(_) = p else {
                    let p = [Some(p.as_ref().as_f64())];
                    return Ok(self.percentiles(rows, &p, result_type, run)?.remove(0));
                };
                let wanted = ArrayRef::new(p.as_ref())?;
                let float8 = run.sv.as_facts().type_info(oids::FLOAT8)?;
                let elem = run.sv.as_facts().type_info(result.elem)?;
                let fractions = wanted.iter(&float8).map(|p| (!p.is_null()).then(|| p.as_f64()));
                let fractions: Vec<Option<f64>> = fractions.collect();
                let out = self.percentiles(rows, &fractions, elem.oid, run)?;
                let values = out.iter().map(Datum::as_ref);
                types::array::build(&elem, &wanted.dims(), &wanted.lower_bounds(), values)
            }
            _ => self.hypothetical(rows, direct, run),
        }
    }

    /// The positions of the two rows (counted from 0) between which the percentile lies, and the
    /// interpolation factor between them (0 to 1).
    fn position(self, fraction: f64, count: u64) -> (u64, u64, f64) {
        let n = count as f64;
        if self == OrderedSet::PercentileDisc {
            let at = ((fraction * n).ceil() as u64).max(1) - 1;
            let at = at.min(count - 1);
            return (at, at, 0.0);
        }
        let position = fraction * (n - 1.0);
        (position.floor() as u64, position.ceil() as u64, position - position.floor())
    }

    /// The percentiles of some fractions (NULL for a NULL fraction), in one pass over the rows.
    fn percentiles(
        self,
        rows: Sorted<'_>,
        fractions: &[Option<f64>],
        result_type: Oid,
        run: &mut Run<'_>,
    ) -> Result<Vec<Datum>> {
        let mut positions = Vec::with_capacity(fractions.len());
        for fraction in fractions {
            fraction.map_or(Ok(()), check_fraction)?;
            positions.push(fraction.map(|p| self.position(p, rows.count())));
        }
        let mut asked: Vec<u64> = positions.iter().flatten().flat_map(|p| [p.0, p.1]).collect();
        asked.sort_unstable();
        asked.dedup();
        let values = rows.values_at(&asked, run)?;
        let value_at = |position: u64| match asked.binary_search(&position) {
            Ok(i) => values.get(i).cloned().unwrap_or_default(),
            Err(_) => Datum::Null,
        };
        let mut out = Vec::with_capacity(positions.len());
        for position in positions {
            out.push(match position {
                None => Datum::Null,
                Some((low, high, _)) if low == high => value_at(low),
                Some((low, high, part)) => {
                    between(&value_at(low), &value_at(high), part, result_type, run)?
                }
            });
        }
        Ok(out)
    }

    /// The rank that a row with the direct arguments would have among the rows.
    fn hypothetical(self, mut rows: Sorted<'_>, row: &[Datum], run: &mut Run<'_>) -> Result<Datum> {
        let n = rows.count();
        let (mut less, mut not_greater, mut different) = (0u64, 0u64, 0i64);
        let mut before: Option<(Batch, usize)> = None;
        'rows: while let Some(batch) = rows.next(run)? {
            for r in 0..batch.len {
                match rows.compare_to((&batch, r), row) {
                    Ordering::Less => less += 1,
                    Ordering::Equal => {}
                    Ordering::Greater => break 'rows,
                }
                not_greater += 1;
                if self == OrderedSet::DenseRank && less == not_greater {
                    let last = match (r, &before) {
                        (0, Some((b, l))) => Some((b, *l)),
                        (0, None) => None,
                        _ => Some((&batch, r - 1)),
                    };
                    let same = |last| rows.compare(last, (&batch, r)).is_eq();
                    different += i64::from(!last.is_some_and(same));
                }
            }
            let last = batch.len.saturating_sub(1);
            before = Some((batch, last));
        }
        Ok(match self {
            OrderedSet::Rank => Datum::int8(less as i64 + 1),
            OrderedSet::DenseRank => Datum::int8(different + 1),
            OrderedSet::PercentRank if n == 0 => Datum::float8(0.0),
            OrderedSet::PercentRank => Datum::float8(less as f64 / n as f64),
            _ => Datum::float8((not_greater + 1) as f64 / (n + 1) as f64),
        })
    }
}

fn check_fraction(p: f64) -> Result<()> {
    if !(0.0..=1.0).contains(&p) {
        bail!(NUMERIC_VALUE_OUT_OF_RANGE, "percentile value {p} is not between 0 and 1");
    }
    Ok(())
}

/// Linear interpolation between two values; `part` is the factor (0 to 1).
fn between(
    low: &Datum,
    high: &Datum,
    part: f64,
    result_type: Oid,
    run: &mut Run<'_>,
) -> Result<Datum> {
    if result_type == oids::FLOAT8 {
        let (l, h) = (low.as_ref().as_f64(), high.as_ref().as_f64());
        return Ok(Datum::float8(l + part * (h - l)));
    }
    let diff = call("interval_mi", run, &[high.as_ref(), low.as_ref()])?;
    let part = Datum::float8(part);
    let step = call("interval_mul", run, &[diff.as_ref(), part.as_ref()])?;
    call("interval_pl", run, &[low.as_ref(), step.as_ref()])
}

/// The sorted rows of a group; empty without a sorter.
pub(crate) struct Sorted<'a> {
    sorter: Option<Box<Sorter>>,
    order: &'a [SortColumn],
}

impl<'a> Sorted<'a> {
    /// Sorts the rows.
    pub(crate) fn new(
        mut sorter: Option<Box<Sorter>>,
        order: &'a [SortColumn],
        run: &mut Run<'_>,
    ) -> Result<Sorted<'a>> {
        if let Some(s) = &mut sorter {
            s.finish(run.sv)?;
        }
        Ok(Sorted { sorter, order })
    }

    fn count(&self) -> u64 {
        self.sorter.as_ref().map_or(0, |s| s.count())
    }

    fn next(&mut self, run: &mut Run<'_>) -> Result<Option<Batch>> {
        run.interrupts()?;
        match &mut self.sorter {
            Some(s) => s.next(BATCH_ROWS_MAX),
            None => Ok(None),
        }
    }

    fn compare(&self, a: (&Batch, usize), b: (&Batch, usize)) -> Ordering {
        sorter::compare(self.order, 0, a, b)
    }

    fn compare_to(&self, (batch, r): (&Batch, usize), row: &[Datum]) -> Ordering {
        let columns = self.order.iter();
        let orders = columns.map(|c| c.order(batch.get(r, c.column), row[c.column].as_ref()));
        orders.fold(Ordering::Equal, Ordering::then)
    }

    /// The values of the first column in the rows at these ascending positions.
    fn values_at(mut self, positions: &[u64], run: &mut Run<'_>) -> Result<Vec<Datum>> {
        let mut values = Vec::with_capacity(positions.len());
        let mut passed = 0u64;
        while values.len() < positions.len() {
            let Some(batch) = self.next(run)? else { break };
            let end = passed + batch.len as u64;
            for &position in positions[values.len()..].iter().take_while(|&&p| p < end) {
                values.push(batch.get((position - passed) as usize, 0).to_owned());
            }
            passed = end;
        }
        Ok(values)
    }

    /// The most frequent value of the only column; the first one if several are equally frequent.
    fn mode(mut self, run: &mut Run<'_>) -> Result<Datum> {
        let (mut best, mut best_count) = (Datum::Null, 0u64);
        let (mut value, mut count) = (Datum::Null, 0u64);
        while let Some(batch) = self.next(run)? {
            let mut from = 0;
            for r in 0..batch.len {
                let same = match r {
                    0 => count > 0 && self.compare_to((&batch, 0), &[value.clone()]).is_eq(),
                    _ => self.compare((&batch, r - 1), (&batch, r)).is_eq(),
                };
                if same {
                    continue;
                }
                count += (r - from) as u64;
                if count > best_count {
                    (best, best_count) = (std::mem::take(&mut value), count);
                }
                (value, count, from) = (batch.get(r, 0).to_owned(), 0, r);
            }
            count += (batch.len - from) as u64;
        }
        Ok(if count > best_count { value } else { best })
    }
}

fn call(name: &str, run: &mut Run<'_>, args: &[DatumRef<'_>]) -> Result<Datum> {
    let f = builtin::scalar(name).ok_or_else(|| PgError::unsupported(name))?;
    let mut extra = None;
    let mut cx = CallContext {
        host: run as &mut dyn FnContext,
        collation: Oid::INVALID,
        arg_types: &[],
        result_type: oids::INTERVAL,
        variadic_array: false,
        extra: &mut extra,
    };
    f(&mut cx, args)
}
