//! Column statistics from a sample: most common values, histogram, correlation, and the number of
//! distinct values by the estimator of Haas and Stokes.
//!
//! Counterpart: `compute_scalar_stats` and related functions of analyze.c.

use crate::slots::{Slot, array, empty_row, fill};
use crate::special;
use catalog::RelDesc;
use catalog::rows::{PgAttribute, PgStatistic};
use engine::sample::Sample;
use ids::code::ColumnStorage;
use ids::{AttrNo, Oid, RelKind, builtin};
use pgerror::{Result, SqlState};
use plan::Expr;
use std::cmp::Ordering;
use types::{Comparer, Datum, DatumRef, TypeInfo};
use utility::host::CommandHost;

/// Values wider than this number of bytes are counted but not stored.
pub const WIDTH_MAX: usize = 1024;

/// A column or expression whose statistics are computed.
#[derive(Clone, Debug)]
pub struct Subject {
    /// The relation and the number of the column in it.
    pub column: (Oid, AttrNo),
    pub type_oid: Oid,
    pub collation: Oid,
    /// True if short varlenas of the sample are stored with 1-byte headers. Computed values, as in
    /// indexes, are not.
    pub packed: bool,
    /// The estimate of the number of distinct values is overridden (ALTER COLUMN SET (n_distinct)).
    pub distinct: Option<f32>,
}

impl Subject {
    /// A column of a relation.
    pub fn of(rel: &RelDesc, a: &PgAttribute) -> Subject {
        let options = a.attoptions.iter().flatten();
        let mut given =
            options.filter_map(|o| o.as_str().strip_prefix("n_distinct=")?.parse().ok());
        Subject {
            column: (rel.oid(), a.attnum),
            type_oid: a.atttypid,
            collation: a.attcollation,
            packed: rel.kind() != RelKind::Index && a.attstorage != ColumnStorage::Plain,
            distinct: given.next().filter(|&distinct: &f32| distinct != 0.0),
        }
    }
}

impl Subject {
    /// An expression of a statistics object.
    pub(crate) fn computed(expr: &Expr) -> Subject {
        Subject {
            column: (Oid::INVALID, 0),
            type_oid: expr.type_oid(),
            collation: expr.collation(),
            packed: false,
            distinct: None,
        }
    }
}

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

/// The `pg_statistic` row of a column; `None` for an empty sample. `at` is the index of the column
/// in the sample.
pub fn compute(
    host: &mut dyn CommandHost,
    subject: &Subject,
    (sample, at): (&Sample, usize),
    target: usize,
) -> Result<Option<PgStatistic>> {
    let info = host.functions().type_info(subject.type_oid)?;
    let mut column = Values::new(subject.packed);
    column.add_all((sample, at), &info);
    if column.rows == 0 {
        return Ok(None);
    }
    let (base, _) = host.catalog().base_type(subject.type_oid)?;
    let own = host.catalog().type_row(base)?.typanalyze;
    if matches!(
        own,
        builtin::proc::RANGE_TYPANALYZE
            | builtin::proc::MULTIRANGE_TYPANALYZE
            | builtin::proc::TS_TYPANALYZE
    ) {
        // All values are assumed to be distinct.
        let mut stats = column.stats();
        stats.distinct = if column.nulls < column.rows { -(1.0 - stats.null_frac) } else { 0.0 };
        let mut row = stats.row(subject);
        match own {
            builtin::proc::TS_TYPANALYZE => {
                special::lexemes(host, (sample, at), target, &mut row)?;
            }
            _ => special::ranges(host, base, (sample, at), target, &mut row)?,
        }
        return Ok(Some(row));
    }
    let mut row = standard(host, subject, column, &info, sample.live_rows, target)?;
    if own == builtin::proc::ARRAY_TYPANALYZE {
        special::elements(host, base, subject.collation, (sample, at), target, &mut row)?;
    }
    Ok(Some(row))
}

/// The statistics of values of any type. Counterpart: `std_typanalyze`.
fn standard(
    host: &mut dyn CommandHost,
    subject: &Subject,
    mut column: Values,
    info: &TypeInfo,
    total_rows: f64,
    target: usize,
) -> Result<PgStatistic> {
    let ops = host.catalog().type_ops(subject.type_oid)?;
    let (ordered, equal) = (ops.lt.is_valid() && ops.cmp.is_valid(), ops.eq.is_valid());
    let collation = subject.collation;
    let mut stats;
    let mut values = std::mem::take(&mut column.values);
    let compare = if ordered { comparer(host, subject)? } else { None };
    if let Some(compare) = compare {
        let order = |x: &Datum, y: &Datum| compare.order(x.as_ref(), y.as_ref(), collation);
        values.sort_by(|x, y| order(&x.0, &y.0).then(x.1.cmp(&y.1)));
        stats = scalar(&column, &values, &order, total_rows, target);
    } else if equal {
        stats = unordered(&column, &values, total_rows, target);
    } else {
        stats = column.stats();
        stats.distinct = 0.0;
    }
    if info.len > 0 {
        stats.width = i32::from(info.len);
    }
    let mut row = stats.row(subject);
    if !stats.common.is_empty() {
        let list: Vec<Datum> = stats.common.iter().map(|c| values[c.0].0.clone()).collect();
        let numbers = Some(stats.common.iter().map(|c| c.1 as f32).collect());
        let values = array(info, &list)?;
        fill(&mut row, Slot { kind: 1, operator: ops.eq, collation, numbers, values });
    }
    if !stats.bounds.is_empty() {
        let list: Vec<Datum> = stats.bounds.iter().map(|b| values[*b].0.clone()).collect();
        let values = array(info, &list)?;
        fill(&mut row, Slot { kind: 2, operator: ops.lt, collation, numbers: None, values });
    }
    if let Some(c) = stats.correlation {
        let numbers = Some(vec![c as f32]);
        fill(&mut row, Slot { kind: 3, operator: ops.lt, collation, numbers, values: None });
    }
    Ok(row)
}

impl ColumnStats {
    /// The row without slots.
    fn row(&self, subject: &Subject) -> PgStatistic {
        let mut row = empty_row(subject.column, (self.null_frac, self.width, self.distinct));
        if let Some(distinct) = subject.distinct {
            row.stadistinct = distinct;
        }
        row
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
    fn new(packed: bool) -> Values {
        Values { packed, rows: 0, nulls: 0, wide: 0, width: 0.0, values: Vec::new() }
    }

    /// Adds a column of a sample.
    fn add_all(&mut self, (sample, column): (&Sample, usize), info: &TypeInfo) {
        for batch in &sample.batches {
            let mut packed = batch.packed.iter().filter(|v| v.column == column).peekable();
            for r in 0..batch.rows.len {
                match packed.next_if(|v| v.row == r) {
                    Some(value) if value.omitted.is_some() => self.push_wide(value.stored),
                    value => self.push(batch.rows.get(r, column), value.map(|v| v.stored), info),
                }
            }
        }
    }

    /// `stored` is the size of a compressed or TOASTed value in the row.
    fn push(&mut self, value: DatumRef<'_>, stored: Option<usize>, info: &TypeInfo) {
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
            self.width += stored.unwrap_or(length + header) as f64;
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

/// Statistics of values with equality only, which is assumed to be that of their bytes.
/// Counterpart: `compute_distinct_stats`.
fn unordered(
    column: &Values,
    values: &[(Datum, usize)],
    total_rows: f64,
    target: usize,
) -> ColumnStats {
    let mut out = column.stats();
    if values.is_empty() {
        return out;
    }
    let tracked_max = (2 * target).max(10);
    // Index of the first occurrence, and count, in descending order of count.
    let mut track: Vec<(usize, usize)> = Vec::new();
    for (i, (value, _)) in values.iter().enumerate() {
        if let Some(mut at) = track.iter().position(|t| values[t.0].0 == *value) {
            track[at].1 += 1;
            while at > 0 && track[at].1 > track[at - 1].1 {
                track.swap(at, at - 1);
                at -= 1;
            }
            continue;
        }
        let first_once = track.iter().position(|t| t.1 == 1).unwrap_or(track.len());
        if track.len() == tracked_max {
            track.pop();
        }
        if first_once < tracked_max {
            track.insert(first_once, (i, 1));
        }
    }
    let multiple = track.iter().take_while(|t| t.1 > 1).count();
    let of_multiple: usize = track[..multiple].iter().map(|t| t.1).sum();
    let present = column.rows - column.nulls;
    let is_complete = track.len() < tracked_max && column.wide == 0;
    out.distinct = if multiple == 0 {
        -(1.0 - out.null_frac)
    } else if is_complete && multiple == track.len() {
        track.len() as f64
    } else {
        let once = (present - of_multiple) as f64;
        haas_stokes(column, (once, multiple as f64), total_rows, out.null_frac)
    };
    if out.distinct > 0.1 * total_rows {
        out.distinct = -(out.distinct / total_rows);
    }
    let mut commons = target.min(track.len());
    if !(is_complete && out.distinct > 0.0 && track.len() <= target) {
        let counts: Vec<f64> = track.iter().map(|t| t.1 as f64).collect();
        let sampled = column.rows as f64;
        commons =
            common_values(&counts[..commons], out.distinct, out.null_frac, sampled, total_rows);
    }
    let common = track[..commons].iter();
    out.common = common.map(|t| (t.0, t.1 as f64 / column.rows as f64)).collect();
    out
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
        let once = (distinct - multiple + column.wide) as f64;
        haas_stokes(column, (once, multiple as f64), total_rows, out.null_frac)
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

/// Estimates the number of distinct values of the table by the Haas-Stokes formula. `once` and
/// `multiple` are the numbers of distinct values that occur once and several times in the sample.
fn haas_stokes(
    column: &Values,
    (once, multiple): (f64, f64),
    total_rows: f64,
    null_frac: f64,
) -> f64 {
    let seen = once + multiple;
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
pub(crate) fn comparer(host: &mut dyn CommandHost, of: &Subject) -> Result<Option<Comparer>> {
    match host.facts().type_compare(of.type_oid, of.collation) {
        Ok(compare) => Ok(Some(compare)),
        Err(e) if e.code() == SqlState::FEATURE_NOT_SUPPORTED => Ok(None),
        Err(e) => Err(e),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stats(list: &[Option<i32>], total: f64, target: usize) -> ColumnStats {
        let info = types::builtin_types::get(types::oids::INT4).unwrap().info;
        let mut column = Values::new(true);
        for v in list {
            let d = v.map_or(Datum::Null, Datum::int4);
            column.push(d.as_ref(), None, &info);
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
