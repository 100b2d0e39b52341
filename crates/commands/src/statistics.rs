//! Column statistics from a sample: most common values, histogram, correlation, and the number of
//! distinct values by the estimator of Haas and Stokes.
//!
//! Counterpart: `compute_scalar_stats` and related functions of analyze.c.

use catalog::RelDesc;
use catalog::rows::{AnyArray, PgAttribute, PgStatistic};
use engine::sample::Sample;
use ids::{Oid, RelKind, builtin};
use pgerror::{Result, SqlState};
use std::cmp::Ordering;
use std::sync::Arc;
use types::{Comparer, Datum, DatumRef, RangeType, TypeInfo};
use utility::host::CommandHost;

/// Values wider than this number of bytes are counted but not stored.
pub const WIDTH_MAX: usize = 1024;

/// Kinds of statistics of ranges (`stakind`).
const LENGTH_HISTOGRAM: i16 = 6;
const BOUNDS_HISTOGRAM: i16 = 7;

/// The operator `<` of double precision.
const FLOAT8_LESS: Oid = Oid(672);

/// The statistics of a column.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ColumnStats {
    pub null_frac: f64,
    pub width: i32,
    pub distinct: f64,
    /// Indexes into the sorted values, with frequencies.
    pub common: Vec<(usize, f64)>,
    /// Indexes of the histogram bounds in the sorted values.
    pub bounds: Vec<usize>,
    pub correlation: Option<f64>,
}

/// The `pg_statistic` row of a column; `None` for an empty sample. `sample_column` is the index of
/// the column in the sample.
pub fn compute(
    host: &mut dyn CommandHost,
    rel: &RelDesc,
    a: &PgAttribute,
    sample_column: usize,
    sample: &Sample,
    target: usize,
) -> Result<Option<PgStatistic>> {
    if let Some(ty) = range_type(host, a)? {
        return ranges(host, (rel, a), &ty, (sample, sample_column), target);
    }
    let ops = host.catalog().type_ops(a.atttypid)?;
    let info = host.functions().type_info(a.atttypid)?;
    // Computed values, as in indexes, have no short varlena headers.
    let packed = rel.kind() != RelKind::Index;
    let mut column = Values { packed, rows: 0, nulls: 0, wide: 0, width: 0.0, values: Vec::new() };
    for (batch, left_out) in sample.rows.iter().zip(&sample.omitted) {
        let mut left_out = left_out.iter().filter(|v| v.column == sample_column).peekable();
        for r in 0..batch.len {
            match left_out.next_if(|v| v.row == r) {
                Some(value) => column.push_wide(value.stored),
                None => column.push(batch.get(r, sample_column), &info),
            }
        }
    }
    if column.rows == 0 {
        return Ok(None);
    }
    let (ordered, equal) = (ops.lt.is_valid() && ops.cmp.is_valid(), ops.eq.is_valid());
    let mut stats;
    let mut values = std::mem::take(&mut column.values);
    let compare = if ordered { comparer(host, a)? } else { None };
    if let Some(compare) = compare {
        let collation = a.attcollation;
        let order = |x: &Datum, y: &Datum| compare.order(x.as_ref(), y.as_ref(), collation);
        values.sort_by(|x, y| order(&x.0, &y.0).then(x.1.cmp(&y.1)));
        stats = scalar(&column, &values, &order, sample.live_rows, target);
    } else {
        // If there is only equality, or an unsupported ordering, all values are assumed distinct,
        // provided that the type has equality.
        stats = column.stats();
        stats.distinct = if equal { -(1.0 - stats.null_frac) } else { 0.0 };
    }
    if info.len > 0 {
        stats.width = i32::from(info.len);
    }
    let element = info;
    let mut row = empty_row(rel.oid(), a.attnum, &stats);
    // ALTER COLUMN SET (n_distinct) overrides the estimate.
    let options = a.attoptions.iter().flatten();
    let mut given = options.filter_map(|o| o.as_str().strip_prefix("n_distinct=")?.parse().ok());
    if let Some(distinct) = given.next().filter(|&distinct: &f32| distinct != 0.0) {
        row.stadistinct = distinct;
    }
    let mut slot = 0;
    let collation = a.attcollation;
    if !stats.common.is_empty() {
        let list: Vec<Datum> = stats.common.iter().map(|c| values[c.0].0.clone()).collect();
        let numbers = stats.common.iter().map(|c| c.1 as f32).collect();
        let array = array(&element, &list)?;
        fill(&mut row, slot, 1, ops.eq, collation, Some(numbers), array);
        slot += 1;
    }
    if !stats.bounds.is_empty() {
        let list: Vec<Datum> = stats.bounds.iter().map(|b| values[*b].0.clone()).collect();
        let array = array(&element, &list)?;
        fill(&mut row, slot, 2, ops.lt, collation, None, array);
        slot += 1;
    }
    if let Some(c) = stats.correlation {
        fill(&mut row, slot, 3, ops.lt, collation, Some(vec![c as f32]), None);
        slot += 1;
    }
    elements(host, a, (sample, sample_column), target, (&mut row, slot))?;
    Ok(Some(row))
}

/// The range type of a column of a range type or multirange type that has statistics of its own.
fn range_type(host: &mut dyn CommandHost, a: &PgAttribute) -> Result<Option<Arc<RangeType>>> {
    let mut cat = host.catalog();
    let (base, _) = cat.base_type(a.atttypid)?;
    let function = cat.type_row(base)?.typanalyze;
    match function {
        builtin::proc::RANGE_TYPANALYZE | builtin::proc::MULTIRANGE_TYPANALYZE => {
            cat.range_type(base).map(Some)
        }
        _ => Ok(None),
    }
}

/// The statistics of a column of ranges or multiranges. Counterpart: `compute_range_stats`.
fn ranges(
    host: &mut dyn CommandHost,
    (rel, a): (&RelDesc, &PgAttribute),
    ty: &RangeType,
    (sample, column): (&Sample, usize),
    target: usize,
) -> Result<Option<PgStatistic>> {
    let packed = rel.kind() != RelKind::Index;
    let mut counts = Values { packed, rows: 0, nulls: 0, wide: 0, width: 0.0, values: Vec::new() };
    let info = host.functions().type_info(a.atttypid)?;
    for (batch, left_out) in sample.rows.iter().zip(&sample.omitted) {
        let mut left_out = left_out.iter().filter(|v| v.column == column).peekable();
        for r in 0..batch.len {
            match left_out.next_if(|v| v.row == r) {
                Some(value) => counts.push_wide(value.stored),
                None => counts.push(batch.get(r, column), &info),
            }
        }
    }
    if counts.rows == 0 {
        return Ok(None);
    }
    let mut stats = counts.stats();
    if counts.nulls < counts.rows {
        stats.distinct = -(1.0 - stats.null_frac);
    }
    let mut row = empty_row(rel.oid(), a.attnum, &stats);
    let kept = sample_values(sample, column).filter(|value| !value.is_null());
    let found = types::ranges::stats::collect(host.functions(), ty, kept, target)?;
    let Some(found) = found else { return Ok(Some(row)) };
    let none = Oid::INVALID;
    let mut slot = 0;
    if !found.bounds.is_empty() {
        let range = host.functions().type_info(ty.oid)?;
        fill(&mut row, slot, BOUNDS_HISTOGRAM, none, none, None, array(&range, &found.bounds)?);
        slot += 1;
    }
    let float8 = host.functions().type_info(types::oids::FLOAT8)?;
    let lengths: Vec<Datum> = found.lengths.iter().map(|l| Datum::float8(*l)).collect();
    let lengths = match lengths.is_empty() {
        true => None,
        false => array(&float8, &lengths)?,
    };
    let empty = Some(vec![found.empty]);
    fill(&mut row, slot, LENGTH_HISTOGRAM, FLOAT8_LESS, none, empty, lengths);
    Ok(Some(row))
}

/// The values of a column of the sample, without those that were too wide to keep.
fn sample_values(sample: &Sample, column: usize) -> impl Iterator<Item = DatumRef<'_>> {
    sample.rows.iter().zip(&sample.omitted).flat_map(move |(batch, left_out)| {
        let kept = move |r: &usize| !left_out.iter().any(|v| v.column == column && v.row == *r);
        (0..batch.len).filter(kept).map(move |r| batch.get(r, column))
    })
}

/// Adds the statistics of the elements of an array column. Counterpart: `array_typanalyze`.
fn elements(
    host: &mut dyn CommandHost,
    a: &PgAttribute,
    (sample, column): (&Sample, usize),
    target: usize,
    (row, mut slot): (&mut PgStatistic, usize),
) -> Result<()> {
    let mut cat = host.catalog();
    let (base, _) = cat.base_type(a.atttypid)?;
    let ty = cat.type_row(base)?;
    if ty.typanalyze != builtin::proc::ARRAY_TYPANALYZE || !ty.typelem.is_valid() {
        return Ok(());
    }
    let ops = cat.type_ops(ty.typelem)?;
    if !(ops.eq.is_valid() && ops.cmp.is_valid() && ops.hash.is_valid()) {
        return Ok(());
    }
    let info = host.functions().type_info(ty.typelem)?;
    let collation = a.attcollation;
    let Ok(order) = host.facts().type_compare(ty.typelem, collation) else { return Ok(()) };
    let arrays = sample_values(sample, column).filter(|array| !array.is_null());
    let found = types::array::element_stats(arrays, &info, (&order, collation), target);
    let Some(found) = found else { return Ok(()) };
    if !found.elements.is_empty() {
        let list = array(&info, &found.elements)?;
        fill(row, slot, 4, ops.eq, collation, Some(found.frequencies), list);
        slot += 1;
    }
    fill(row, slot, 5, ops.eq, collation, Some(found.counts), None);
    Ok(())
}

fn array(element: &TypeInfo, list: &[Datum]) -> Result<Option<AnyArray>> {
    match eval::array_of(element, list)? {
        Datum::Bytes(b) => Ok(Some(AnyArray(b))),
        _ => Ok(None),
    }
}

/// The sampled values of a column.
struct Values {
    /// True if short varlenas have 1-byte headers.
    packed: bool,
    rows: usize,
    nulls: usize,
    /// Number of values that are too wide to keep.
    wide: usize,
    /// Sum of the stored widths in bytes.
    width: f64,
    /// Values with their index, for the correlation.
    values: Vec<(Datum, usize)>,
}

impl Values {
    fn push(&mut self, value: DatumRef<'_>, info: &TypeInfo) {
        self.rows += 1;
        let length = match value {
            DatumRef::Null => {
                self.nulls += 1;
                return;
            }
            DatumRef::Word(_) => 0,
            DatumRef::Bytes(b) => b.len(),
        };
        if info.len == -1 {
            let header = if self.packed && length <= 126 { 1 } else { 4 };
            self.width += (length + header) as f64;
            if length + header > WIDTH_MAX {
                self.wide += 1;
                return;
            }
        } else if info.len == -2 {
            self.width += (length + 1) as f64;
        }
        self.values.push((DatumRef::to_owned(value), self.values.len()));
    }

    /// Adds a value of which only the stored size is known.
    fn push_wide(&mut self, stored: usize) {
        self.rows += 1;
        self.wide += 1;
        self.width += stored as f64;
    }

    /// Statistics that need no comparison of values.
    fn stats(&self) -> ColumnStats {
        let present = self.rows - self.nulls;
        // Rounded to the precision of the stored column, because other values are derived from it.
        let null_frac = f64::from((self.nulls as f64 / self.rows as f64) as f32);
        ColumnStats {
            null_frac,
            width: if present > 0 { (self.width / present as f64) as i32 } else { 0 },
            distinct: if present > 0 && self.values.is_empty() { -(1.0 - null_frac) } else { 0.0 },
            ..ColumnStats::default()
        }
    }
}

/// `values` must be sorted.
fn scalar(
    column: &Values,
    values: &[(Datum, usize)],
    order: &dyn Fn(&Datum, &Datum) -> Ordering,
    total_rows: f64,
    target: usize,
) -> ColumnStats {
    let mut out = column.stats();
    if values.is_empty() {
        return out;
    }
    let (mut distinct, mut multiple) = (0usize, 0usize);
    let mut xy_sum = 0f64;
    // Count and first index of the most frequent groups, in descending order of count.
    let mut track: Vec<(usize, usize)> = Vec::new();
    let mut count = 0usize;
    for (i, (value, row)) in values.iter().enumerate() {
        xy_sum += i as f64 * *row as f64;
        count += 1;
        let last = values.get(i + 1).is_none_or(|n| order(value, &n.0) != Ordering::Equal);
        if !last {
            continue;
        }
        distinct += 1;
        if count > 1 {
            multiple += 1;
            if track.len() < target || track.last().is_some_and(|t| count > t.0) {
                if track.len() >= target {
                    track.pop();
                }
                let at = track.iter().rposition(|t| count <= t.0).map_or(0, |p| p + 1);
                track.insert(at, (count, i + 1 - count));
            }
        }
        count = 0;
    }
    let sampled = column.rows as f64;
    out.distinct = if multiple == 0 {
        -(1.0 - out.null_frac)
    } else if column.wide == 0 && multiple == distinct {
        distinct as f64
    } else {
        haas_stokes(column, distinct, multiple, total_rows, out.null_frac)
    };
    if out.distinct > 0.1 * total_rows {
        out.distinct = -(out.distinct / total_rows);
    }
    let complete =
        track.len() == distinct && column.wide == 0 && out.distinct > 0.0 && track.len() <= target;
    let mut commons = target.min(track.len());
    if !complete && commons > 0 {
        let counts: Vec<f64> = track.iter().map(|t| t.0 as f64).collect();
        commons =
            common_values(&counts[..commons], out.distinct, out.null_frac, sampled, total_rows);
    }
    track.truncate(commons);
    out.common = track.iter().map(|t| (t.1, t.0 as f64 / sampled)).collect();
    let bins = (distinct - commons).min(target + 1);
    if bins >= 2 {
        // The histogram excludes the most common values.
        let mut skip = track.clone();
        skip.sort_by_key(|t| t.1);
        let mut rest: Vec<usize> = Vec::with_capacity(values.len());
        let mut next = 0;
        for (count, first) in skip {
            rest.extend(next..first);
            next = first + count;
        }
        rest.extend(next..values.len());
        let (delta, fraction) = ((rest.len() - 1) / (bins - 1), (rest.len() - 1) % (bins - 1));
        let (mut at, mut part) = (0, 0);
        for _ in 0..bins {
            out.bounds.push(rest[at]);
            at += delta;
            part += fraction;
            if part >= bins - 1 {
                at += 1;
                part -= bins - 1;
            }
        }
    }
    if values.len() > 1 {
        let n = values.len() as f64;
        let sum = (n - 1.0) * n / 2.0;
        let squares = (n - 1.0) * n * (2.0 * n - 1.0) / 6.0;
        out.correlation = Some((n * xy_sum - sum * sum) / (n * squares - sum * sum));
    }
    out
}

/// Estimates the number of distinct values of the table by the Haas-Stokes formula.
fn haas_stokes(
    column: &Values,
    distinct: usize,
    multiple: usize,
    total_rows: f64,
    null_frac: f64,
) -> f64 {
    let once = (distinct - multiple + column.wide) as f64;
    let seen = once + multiple as f64;
    let n = (column.rows - column.nulls) as f64;
    let all = total_rows * (1.0 - null_frac);
    let estimate = if all > 0.0 { n * seen / ((n - once) + once * n / all) } else { 0.0 };
    (estimate.max(seen).min(all) + 0.5).floor()
}

/// Number of values that are frequent enough for the list of most common values. Counterpart:
/// `analyze_mcv_list`.
fn common_values(
    counts: &[f64],
    distinct: f64,
    null_frac: f64,
    sampled: f64,
    total_rows: f64,
) -> usize {
    let mut keep = counts.len();
    if sampled == total_rows || total_rows <= 1.0 {
        return keep;
    }
    let distinct = if distinct < 0.0 { -distinct * total_rows } else { distinct };
    let mut sum: f64 = counts[..keep - 1].iter().sum();
    while keep > 0 {
        let mut share = (1.0 - sum / sampled - null_frac).clamp(0.0, 1.0);
        let others = distinct - (keep - 1) as f64;
        if others > 1.0 {
            share /= others;
        }
        let (big, n) = (total_rows, sampled);
        let count = counts[keep - 1];
        let k = big * count / n;
        let variance = n * k * (big - k) * (big - n) / (big * big * (big - 1.0));
        if count > share * n + 2.0 * variance.sqrt() + 0.5 {
            break;
        }
        keep -= 1;
        if keep > 0 {
            sum -= counts[keep - 1];
        }
    }
    keep
}

/// The comparer of the column's values; `None` if the ordering of the type or collation is not
/// supported.
fn comparer(host: &mut dyn CommandHost, a: &PgAttribute) -> Result<Option<Comparer>> {
    match host.facts().type_compare(a.atttypid, a.attcollation) {
        Ok(compare) => Ok(Some(compare)),
        Err(e) if e.code() == SqlState::FEATURE_NOT_SUPPORTED => Ok(None),
        Err(e) => Err(e),
    }
}

fn empty_row(relation: Oid, column: ids::AttrNo, f: &ColumnStats) -> PgStatistic {
    let none = Oid::INVALID;
    PgStatistic {
        starelid: relation,
        staattnum: column,
        stainherit: false,
        stanullfrac: f.null_frac as f32,
        stawidth: f.width,
        stadistinct: f.distinct as f32,
        stakind1: 0,
        stakind2: 0,
        stakind3: 0,
        stakind4: 0,
        stakind5: 0,
        staop1: none,
        staop2: none,
        staop3: none,
        staop4: none,
        staop5: none,
        stacoll1: none,
        stacoll2: none,
        stacoll3: none,
        stacoll4: none,
        stacoll5: none,
        stanumbers1: None,
        stanumbers2: None,
        stanumbers3: None,
        stanumbers4: None,
        stanumbers5: None,
        stavalues1: None,
        stavalues2: None,
        stavalues3: None,
        stavalues4: None,
        stavalues5: None,
    }
}

fn fill(
    row: &mut PgStatistic,
    slot: usize,
    kind: i16,
    operator: Oid,
    collation: Oid,
    numbers: Option<Vec<f32>>,
    values: Option<AnyArray>,
) {
    let (k, o, c, n, v) = match slot {
        0 => (
            &mut row.stakind1,
            &mut row.staop1,
            &mut row.stacoll1,
            &mut row.stanumbers1,
            &mut row.stavalues1,
        ),
        1 => (
            &mut row.stakind2,
            &mut row.staop2,
            &mut row.stacoll2,
            &mut row.stanumbers2,
            &mut row.stavalues2,
        ),
        2 => (
            &mut row.stakind3,
            &mut row.staop3,
            &mut row.stacoll3,
            &mut row.stanumbers3,
            &mut row.stavalues3,
        ),
        3 => (
            &mut row.stakind4,
            &mut row.staop4,
            &mut row.stacoll4,
            &mut row.stanumbers4,
            &mut row.stavalues4,
        ),
        _ => (
            &mut row.stakind5,
            &mut row.staop5,
            &mut row.stacoll5,
            &mut row.stanumbers5,
            &mut row.stavalues5,
        ),
    };
    (*k, *o, *c, *n, *v) = (kind, operator, collation, numbers, values);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stats(list: &[Option<i32>], total: f64, target: usize) -> ColumnStats {
        let info = types::builtin_types::get(types::oids::INT4).unwrap().info;
        let mut column =
            Values { packed: true, rows: 0, nulls: 0, wide: 0, width: 0.0, values: Vec::new() };
        for v in list {
            let d = v.map_or(Datum::Null, Datum::int4);
            column.push(d.as_ref(), &info);
        }
        let order = |x: &Datum, y: &Datum| x.as_ref().as_i32().cmp(&y.as_ref().as_i32());
        let mut values = std::mem::take(&mut column.values);
        values.sort_by(|x, y| order(&x.0, &y.0).then(x.1.cmp(&y.1)));
        scalar(&column, &values, &order, total, target)
    }

    /// A unique, sorted column: `create table t as select g from generate_series(1, 1000) g`.
    #[test]
    fn unique_column() {
        let list: Vec<_> = (1..=1000).map(Some).collect();
        let f = stats(&list, 1000.0, 100);
        assert_eq!(f.distinct, -1.0);
        assert!(f.common.is_empty());
        assert_eq!(f.bounds.len(), 101);
        assert_eq!((f.bounds[0], f.bounds[1], f.bounds[100]), (0, 9, 999));
        assert_eq!(f.correlation, Some(1.0));
    }

    /// Few distinct values, all in the sample: `select g % 3 from generate_series(1, 999) g`, and
    /// NULLs.
    #[test]
    fn few_values() {
        let mut list: Vec<_> = (0..999).map(|g| Some(g % 3)).collect();
        list.extend([None; 1]);
        let f = stats(&list, 1000.0, 100);
        assert_eq!(f.distinct, 3.0);
        assert_eq!(f.null_frac, f64::from(0.001f32));
        assert_eq!(f.common.iter().map(|c| c.1).collect::<Vec<_>>(), [0.333; 3]);
        assert!(f.bounds.is_empty());
    }
}
