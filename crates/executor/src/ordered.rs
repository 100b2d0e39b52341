//! Ordered-set and hypothetical-set aggregates: the rows are kept and sorted, the result is read
//! off. Counterpart: orderedsetaggs.c.

use crate::run::Run;
use crate::sort::SortColumn;
use eval::CallContext;
use ids::Oid;
use pgerror::{PgError, Result, bail};
use std::cmp::Ordering;
use types::array::ArrayRef;
use types::fncx::FnContext;
use types::{Datum, DatumRef, builtin, oids};

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
    /// By the aggregate's name.
    pub(crate) fn of(name: &str) -> Result<OrderedSet> {
        Ok(match name {
            "percentile_disc" => OrderedSet::PercentileDisc,
            "percentile_cont" => OrderedSet::PercentileCont,
            "mode" => OrderedSet::Mode,
            "rank" => OrderedSet::Rank,
            "dense_rank" => OrderedSet::DenseRank,
            "percent_rank" => OrderedSet::PercentRank,
            "cume_dist" => OrderedSet::CumeDist,
            other => return Err(PgError::unsupported(format!("aggregate {other}"))),
        })
    }

    /// Rows whose first column is NULL do not take part in the plain ones.
    pub(crate) fn skips_nulls(self) -> bool {
        use OrderedSet::*;
        matches!(self, PercentileDisc | PercentileCont | Mode)
    }

    /// The value over sorted rows. `direct` are the direct arguments, of these types.
    pub(crate) fn value(
        self,
        rows: &[Vec<Datum>],
        order: &[SortColumn],
        direct: &[Datum],
        result_type: Oid,
        run: &mut Run<'_>,
    ) -> Result<Datum> {
        match self {
            OrderedSet::Mode => Ok(mode(rows, order)),
            OrderedSet::PercentileDisc | OrderedSet::PercentileCont => {
                let Some(p) = direct.first() else { return Ok(Datum::Null) };
                if p.is_null() || rows.is_empty() {
                    return Ok(Datum::Null);
                }
                let result = run.sv.as_facts().type_info(result_type)?;
                let Datum::Bytes(_) = p else {
                    return self.percentile(rows, p.as_ref().as_f64(), result_type, run);
                };
                let wanted = ArrayRef::new(p.as_ref());
                let float8 = run.sv.as_facts().type_info(oids::FLOAT8)?;
                let elem = run.sv.as_facts().type_info(result.elem)?;
                let mut out = Vec::new();
                for p in wanted.iter(&float8) {
                    out.push(match p {
                        DatumRef::Null => Datum::Null,
                        p => self.percentile(rows, p.as_f64(), elem.oid, run)?,
                    });
                }
                let values = out.iter().map(Datum::as_ref);
                types::array::build(&elem, &wanted.dims(), &wanted.lower_bounds(), values)
            }
            _ => Ok(self.hypothetical(rows, order, direct)),
        }
    }

    fn percentile(
        self,
        rows: &[Vec<Datum>],
        p: f64,
        result_type: Oid,
        run: &mut Run<'_>,
    ) -> Result<Datum> {
        if !(0.0..=1.0).contains(&p) {
            bail!(NUMERIC_VALUE_OUT_OF_RANGE, "percentile value {p} is not between 0 and 1");
        }
        let n = rows.len() as f64;
        if self == OrderedSet::PercentileDisc {
            let at = ((p * n).ceil() as usize).max(1) - 1;
            return Ok(rows[at.min(rows.len() - 1)][0].clone());
        }
        let place = p * (n - 1.0);
        let low = &rows[place.floor() as usize][0];
        let high = &rows[place.ceil() as usize][0];
        let part = place - place.floor();
        if place.floor() == place.ceil() {
            return Ok(low.clone());
        }
        if result_type == oids::FLOAT8 {
            let (l, h) = (low.as_ref().as_f64(), high.as_ref().as_f64());
            return Ok(Datum::float8(l + part * (h - l)));
        }
        let diff = call("interval_mi", run, &[high.as_ref(), low.as_ref()])?;
        let part = Datum::float8(part);
        let step = call("interval_mul", run, &[diff.as_ref(), part.as_ref()])?;
        call("interval_pl", run, &[low.as_ref(), step.as_ref()])
    }

    /// Where the direct arguments' row would stand among the rows.
    fn hypothetical(self, rows: &[Vec<Datum>], order: &[SortColumn], row: &[Datum]) -> Datum {
        let place = |r: &Vec<Datum>| compare(r, row, order);
        let less = rows.partition_point(|r| place(r).is_lt());
        let not_greater = rows.partition_point(|r| place(r).is_le());
        let n = rows.len();
        match self {
            OrderedSet::Rank => Datum::int8(less as i64 + 1),
            OrderedSet::DenseRank => {
                let below = &rows[..less];
                let groups = below.windows(2).filter(|w| compare(&w[0], &w[1], order).is_ne());
                Datum::int8(groups.count() as i64 + i64::from(less > 0) + 1)
            }
            OrderedSet::PercentRank if n == 0 => Datum::float8(0.0),
            OrderedSet::PercentRank => Datum::float8(less as f64 / n as f64),
            _ => Datum::float8((not_greater + 1) as f64 / (n + 1) as f64),
        }
    }
}

fn compare(a: &[Datum], b: &[Datum], order: &[SortColumn]) -> Ordering {
    for c in order {
        let o = c.order(a[c.column].as_ref(), b[c.column].as_ref());
        if o.is_ne() {
            return o;
        }
    }
    Ordering::Equal
}

/// The most frequent value, of several the first.
fn mode(rows: &[Vec<Datum>], order: &[SortColumn]) -> Datum {
    let mut best: Option<(usize, &Datum)> = None;
    let mut from = 0;
    for i in 0..rows.len() {
        let ends = rows.get(i + 1).is_none_or(|next| compare(&rows[i], next, order).is_ne());
        if ends {
            let count = i + 1 - from;
            if best.is_none_or(|(n, _)| count > n) {
                best = Some((count, &rows[from][0]));
            }
            from = i + 1;
        }
    }
    best.map_or(Datum::Null, |(_, v)| v.clone())
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
