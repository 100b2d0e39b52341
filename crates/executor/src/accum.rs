//! Transition states of one aggregate for many groups. Common aggregates have typed columns of
//! states and process the values of a batch in one loop; all others have one general state per
//! group. Counterpart: nodeAgg.c (advance_aggregates), and the transition functions of int8.c,
//! numeric.c, float.c.

use crate::aggfn::{AggCall, AggValue};
use crate::run::Run;
use eval::{RowInput, RowRef};
use pgerror::{Result, bail};
use smallvec::SmallVec;
use types::compare::{CompareFn, bttextcmp, float_cmp};
use types::numeric::{NumericTotal, int_average, int_pair_state, int_sum_state, numeric_cmp};
use types::{AggState, Batch, Column, ColumnData, Datum, DatumRef};

/// The groups of the rows of a batch.
#[derive(Clone, Copy)]
pub(crate) enum Groups<'a> {
    /// All rows belong to one group: its number, and the number of rows.
    One(u32, usize),
    /// The group number of each row.
    Each(&'a [u32]),
}

impl Groups<'_> {
    pub(crate) fn len(&self) -> usize {
        match self {
            Groups::One(_, n) => *n,
            Groups::Each(g) => g.len(),
        }
    }

    #[inline]
    fn of(&self, row: usize) -> usize {
        match self {
            Groups::One(g, _) => *g as usize,
            Groups::Each(g) => g[row] as usize,
        }
    }
}

/// The order of words, for min and max.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum WordOrder {
    Signed,
    Unsigned,
    Float4,
    Float8,
}

impl WordOrder {
    /// True if `a` is strictly greater than `b`.
    #[inline]
    fn above(self, a: u64, b: u64) -> bool {
        match self {
            WordOrder::Signed => a as i64 > b as i64,
            WordOrder::Unsigned => a > b,
            WordOrder::Float8 => float_cmp(f64::from_bits(a), f64::from_bits(b)).is_gt(),
            WordOrder::Float4 => {
                let f = |w: u64| f64::from(f32::from_bits(w as u32));
                float_cmp(f(a), f(b)).is_gt()
            }
        }
    }
}

/// Transition states, indexed by group number.
pub(crate) enum Acc {
    /// count(*) and count(x).
    Count(Vec<i64>),
    /// sum of int2 and int4.
    SumInt {
        sum: Vec<i64>,
        seen: Vec<bool>,
    },
    /// avg of int2 and int4.
    AvgInt {
        count: Vec<i64>,
        sum: Vec<i64>,
    },
    /// sum and avg of int8.
    BigInt {
        count: Vec<i64>,
        sum: Vec<i128>,
    },
    /// sum of float4 and float8.
    SumFloat {
        sum: Vec<f64>,
        seen: Vec<bool>,
        single: bool,
    },
    /// avg, variance and deviation of float4 and float8.
    Moments {
        state: Vec<[f64; 3]>,
        single: bool,
    },
    /// sum and avg of numeric.
    Numeric(Vec<NumericTotal>),
    MinMax {
        best: Vec<u64>,
        seen: Vec<bool>,
        order: WordOrder,
        greater: bool,
    },
    MinMaxBytes {
        best: Vec<Option<Vec<u8>>>,
        bytes: usize,
        cmp: CompareFn,
        greater: bool,
    },
    General {
        values: Vec<AggValue>,
        bytes: usize,
    },
}

/// Makes `new` the current value unless `keeps(old, new)` is true. `bytes` tracks the total size of
/// the values.
#[inline(always)]
fn replace_if_better(
    slot: &mut Option<Vec<u8>>,
    new: &[u8],
    bytes: &mut usize,
    keeps: impl FnOnce(DatumRef<'_>, DatumRef<'_>) -> bool,
) {
    match slot {
        None => {
            *bytes += new.len();
            *slot = Some(new.to_vec());
        }
        Some(old) => {
            if !keeps(DatumRef::Bytes(old), DatumRef::Bytes(new)) {
                *bytes = (*bytes + new.len()).saturating_sub(old.len());
                old.clear();
                old.extend_from_slice(new);
            }
        }
    }
}

impl Acc {
    /// Chooses the representation of the states of an aggregate. There are no groups yet.
    pub(crate) fn new(call: &AggCall) -> Acc {
        let general = Acc::General { values: Vec::new(), bytes: 0 };
        if !call.is_simple() {
            return general;
        }
        if call.is_moving() {
            // Only these representations can retract values.
            return match call.trans_name() {
                "int8inc" | "int8inc_any" => Acc::Count(Vec::new()),
                "int2_avg_accum" | "int4_avg_accum" => {
                    Acc::AvgInt { count: Vec::new(), sum: Vec::new() }
                }
                "int8_avg_accum" => Acc::BigInt { count: Vec::new(), sum: Vec::new() },
                _ => general,
            };
        }
        let min_max =
            |order, greater| Acc::MinMax { best: Vec::new(), seen: Vec::new(), order, greater };
        let by_bytes = |cmp, greater| Acc::MinMaxBytes { best: Vec::new(), bytes: 0, cmp, greater };
        match call.trans_name() {
            "int8inc" | "int8inc_any" => Acc::Count(Vec::new()),
            "int2_sum" | "int4_sum" => Acc::SumInt { sum: Vec::new(), seen: Vec::new() },
            "int2_avg_accum" | "int4_avg_accum" => {
                Acc::AvgInt { count: Vec::new(), sum: Vec::new() }
            }
            "int8_avg_accum" => Acc::BigInt { count: Vec::new(), sum: Vec::new() },
            "float8pl" => Acc::SumFloat { sum: Vec::new(), seen: Vec::new(), single: false },
            "float4pl" => Acc::SumFloat { sum: Vec::new(), seen: Vec::new(), single: true },
            "float8_accum" => Acc::Moments { state: Vec::new(), single: false },
            "float4_accum" => Acc::Moments { state: Vec::new(), single: true },
            "numeric_avg_accum" => Acc::Numeric(Vec::new()),
            "int2larger" | "int4larger" | "int8larger" | "date_larger" | "timestamp_larger"
            | "time_larger" => min_max(WordOrder::Signed, true),
            "int2smaller" | "int4smaller" | "int8smaller" | "date_smaller"
            | "timestamp_smaller" | "time_smaller" => min_max(WordOrder::Signed, false),
            "oidlarger" => min_max(WordOrder::Unsigned, true),
            "oidsmaller" => min_max(WordOrder::Unsigned, false),
            "float8larger" => min_max(WordOrder::Float8, true),
            "float8smaller" => min_max(WordOrder::Float8, false),
            "float4larger" => min_max(WordOrder::Float4, true),
            "float4smaller" => min_max(WordOrder::Float4, false),
            "text_larger" => by_bytes(bttextcmp, true),
            "text_smaller" => by_bytes(bttextcmp, false),
            "numeric_larger" => by_bytes(numeric_cmp, true),
            "numeric_smaller" => by_bytes(numeric_cmp, false),
            _ => general,
        }
    }

    /// Adds initial states until there are `len` groups.
    pub(crate) fn grow(&mut self, len: usize, call: &AggCall) {
        match self {
            Acc::Count(n) => n.resize(len, 0),
            Acc::SumInt { sum, seen } => {
                sum.resize(len, 0);
                seen.resize(len, false);
            }
            Acc::AvgInt { count, sum } => {
                count.resize(len, 0);
                sum.resize(len, 0);
            }
            Acc::BigInt { count, sum } => {
                count.resize(len, 0);
                sum.resize(len, 0);
            }
            Acc::SumFloat { sum, seen, .. } => {
                sum.resize(len, 0.0);
                seen.resize(len, false);
            }
            Acc::Moments { state, .. } => state.resize(len, [0.0; 3]),
            Acc::Numeric(n) => n.resize(len, NumericTotal::default()),
            Acc::MinMax { best, seen, .. } => {
                best.resize(len, 0);
                seen.resize(len, false);
            }
            Acc::MinMaxBytes { best, .. } => best.resize(len, None),
            Acc::General { values, .. } => values.resize_with(len, || call.start()),
        }
    }

    /// Approximate size of the states in bytes.
    pub(crate) fn memory(&self) -> usize {
        match self {
            Acc::Count(n) => n.len() * 8,
            Acc::SumInt { sum, .. } => sum.len() * 9,
            Acc::AvgInt { sum, .. } => sum.len() * 16,
            Acc::BigInt { sum, .. } => sum.len() * 24,
            Acc::SumFloat { sum, .. } => sum.len() * 9,
            Acc::Moments { state, .. } => state.len() * 24,
            Acc::Numeric(n) => n.len() * size_of::<NumericTotal>(),
            Acc::MinMax { best, .. } => best.len() * 9,
            Acc::MinMaxBytes { best, bytes, .. } => best.len() * 24 + bytes,
            Acc::General { values, bytes } => values.len() * size_of::<AggValue>() + bytes,
        }
    }

    /// Advances the states by the rows of `args`; row `i` belongs to group `groups.of(i)`.
    pub(crate) fn advance(
        &mut self,
        call: &mut AggCall,
        groups: Groups<'_>,
        args: &[&Column],
        run: &mut Run<'_>,
    ) -> Result<()> {
        match self {
            Acc::Count(n) => count(n, groups, args.first().copied()),
            Acc::SumInt { sum, seen } => {
                let mut over = false;
                each_word(args[0], groups, |g, w| {
                    let (s, o) = sum[g].overflowing_add(w as i64);
                    sum[g] = s;
                    seen[g] = true;
                    over |= o;
                });
                if over {
                    bail!(NUMERIC_VALUE_OUT_OF_RANGE, "bigint out of range");
                }
            }
            Acc::AvgInt { count, sum } => each_word(args[0], groups, |g, w| {
                count[g] += 1;
                sum[g] = sum[g].wrapping_add(w as i64);
            }),
            Acc::BigInt { count, sum } => each_word(args[0], groups, |g, w| {
                count[g] += 1;
                sum[g] += i128::from(w as i64);
            }),
            Acc::SumFloat { sum, seen, single } => {
                let single = *single;
                let mut over = false;
                each_word(args[0], groups, |g, w| {
                    let v = float(w, single);
                    if !std::mem::replace(&mut seen[g], true) {
                        sum[g] = v;
                        return;
                    }
                    let old = sum[g];
                    let new = if single { f64::from(old as f32 + v as f32) } else { old + v };
                    over |= new.is_infinite() && !old.is_infinite() && !v.is_infinite();
                    sum[g] = new;
                });
                if over {
                    bail!(NUMERIC_VALUE_OUT_OF_RANGE, "value out of range: overflow");
                }
            }
            Acc::Moments { state, single } => {
                let single = *single;
                let mut failure = None;
                each_word(args[0], groups, |g, w| {
                    match types::float_aggregates::accumulate(state[g], float(w, single)) {
                        Ok(s) => state[g] = s,
                        Err(e) => failure = Some(e),
                    }
                });
                return failure.map_or(Ok(()), Err);
            }
            Acc::Numeric(n) => each_bytes(args[0], groups, |g, b| n[g].add(b)),
            Acc::MinMax { best, seen, order, greater } => {
                let (order, greater) = (*order, *greater);
                each_word(args[0], groups, |g, w| {
                    let better =
                        if greater { order.above(best[g], w) } else { order.above(w, best[g]) };
                    if !better || !seen[g] {
                        best[g] = w;
                        seen[g] = true;
                    }
                });
            }
            Acc::MinMaxBytes { best, bytes, cmp, greater } => {
                let (cmp, greater, coll) = (*cmp, *greater, call.collation());
                each_bytes(args[0], groups, |g, b| {
                    replace_if_better(&mut best[g], b, bytes, |old, new| {
                        let o = cmp(old, new, coll);
                        if greater { o.is_gt() } else { o.is_lt() }
                    });
                });
            }
            Acc::General { values, bytes } if call.sorts_rows() => {
                let columns = args.iter().map(|c| (*c).clone()).collect();
                let rows = Batch { len: groups.len(), columns };
                let mut from = 0;
                while from < rows.len {
                    let g = groups.of(from);
                    let to = (from + 1..rows.len).find(|&i| groups.of(i) != g).unwrap_or(rows.len);
                    *bytes += call.add_rows(&mut values[g], run, &rows, from, to)?;
                    from = to;
                }
            }
            Acc::General { values, bytes } => {
                let mut row: SmallVec<[DatumRef<'_>; 4]> = SmallVec::new();
                for i in 0..groups.len() {
                    row.clear();
                    row.extend(args.iter().map(|c| c.get(i)));
                    *bytes += call.add_values(&mut values[groups.of(i)], run, &row)?;
                }
            }
        }
        Ok(())
    }

    /// Removes rows from the only group by the inverse transition function. Returns false if the
    /// frame must be aggregated again from the start.
    pub(crate) fn retract(
        &mut self,
        call: &mut AggCall,
        rows: usize,
        args: &[&Column],
        run: &mut Run<'_>,
    ) -> Result<bool> {
        let groups = Groups::One(0, rows);
        match self {
            Acc::Count(n) => {
                let mut removed = [0];
                count(&mut removed, groups, args.first().copied());
                n[0] -= removed[0];
            }
            Acc::AvgInt { count, sum } => each_word(args[0], groups, |g, w| {
                count[g] -= 1;
                sum[g] = sum[g].wrapping_sub(w as i64);
            }),
            Acc::BigInt { count, sum } => each_word(args[0], groups, |g, w| {
                count[g] -= 1;
                sum[g] -= i128::from(w as i64);
            }),
            Acc::General { values, .. } => {
                let mut row: SmallVec<[DatumRef<'_>; 4]> = SmallVec::new();
                for i in 0..rows {
                    row.clear();
                    row.extend(args.iter().map(|c| c.get(i)));
                    if !call.retract(&mut values[0], run, &row)? {
                        return Ok(false);
                    }
                }
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Appends the final values of groups `from..to`; `groups` contains the first row of each.
    pub(crate) fn results(
        &mut self,
        call: &mut AggCall,
        from: usize,
        to: usize,
        groups: &Batch,
        out: &mut Column,
        run: &mut Run<'_>,
    ) -> Result<()> {
        for g in from..to {
            let v = match self {
                Acc::Count(n) => Datum::int8(n[g]),
                Acc::SumInt { seen, .. } if !seen[g] => Datum::Null,
                Acc::SumInt { sum, .. } => Datum::int8(sum[g]),
                Acc::AvgInt { count, sum } => match call.final_name() {
                    "int8_avg" => int_average(sum[g].into(), count[g])?,
                    "int2int4_sum" if count[g] == 0 => Datum::Null,
                    "int2int4_sum" => Datum::int8(sum[g]),
                    _ => {
                        let state = int_pair_state(count[g], sum[g])?;
                        call.finish_state(&state, &mut AggState::default(), run)?
                    }
                },
                Acc::BigInt { count, sum } => match call.final_name() {
                    "numeric_poly_avg" => int_average(sum[g], count[g])?,
                    _ => {
                        let mut state = int_sum_state(count[g], sum[g]);
                        call.finish_state(&Datum::Null, &mut state, run)?
                    }
                },
                Acc::SumFloat { seen, .. } if !seen[g] => Datum::Null,
                Acc::SumFloat { sum, single: true, .. } => Datum::float4(sum[g] as f32),
                Acc::SumFloat { sum, .. } => Datum::float8(sum[g]),
                Acc::Moments { state, .. } => {
                    let state = types::float_aggregates::state(&state[g])?;
                    call.finish_state(&state, &mut AggState::default(), run)?
                }
                Acc::Numeric(n) => {
                    let mut state = n[g].state();
                    call.finish_state(&Datum::Null, &mut state, run)?
                }
                Acc::MinMax { best, seen, .. } => {
                    if seen[g] {
                        Datum::Word(best[g])
                    } else {
                        Datum::Null
                    }
                }
                Acc::MinMaxBytes { best, .. } => {
                    out.push(best[g].as_deref().map_or(DatumRef::Null, DatumRef::Bytes));
                    continue;
                }
                Acc::General { values, .. } => {
                    let group = RowInput::scan(RowRef::Batch(groups, g - from));
                    call.finish(&mut values[g], &group, run)?
                }
            };
            out.push(v.as_ref());
        }
        Ok(())
    }

    /// Removes all groups except `at`, which becomes group 0.
    pub(crate) fn keep_only(&mut self, at: usize) {
        fn only<T>(v: &mut Vec<T>, at: usize) {
            v.swap(0, at);
            v.truncate(1);
        }
        match self {
            Acc::Count(n) => only(n, at),
            Acc::AvgInt { count, sum } => {
                only(count, at);
                only(sum, at);
            }
            Acc::BigInt { count, sum } => {
                only(count, at);
                only(sum, at);
            }
            Acc::SumInt { sum, seen } => {
                only(sum, at);
                only(seen, at);
            }
            Acc::SumFloat { sum, seen, .. } => {
                only(sum, at);
                only(seen, at);
            }
            Acc::Moments { state, .. } => only(state, at),
            Acc::Numeric(n) => only(n, at),
            Acc::MinMax { best, seen, .. } => {
                only(best, at);
                only(seen, at);
            }
            Acc::MinMaxBytes { best, .. } => only(best, at),
            Acc::General { values, bytes } => {
                only(values, at);
                *bytes = 0;
            }
        }
    }

    /// Removes all groups.
    pub(crate) fn clear(&mut self) {
        match self {
            Acc::Count(n) => n.clear(),
            Acc::AvgInt { count, sum } => {
                count.clear();
                sum.clear();
            }
            Acc::BigInt { count, sum } => {
                count.clear();
                sum.clear();
            }
            Acc::SumInt { sum, seen } => {
                sum.clear();
                seen.clear();
            }
            Acc::SumFloat { sum, seen, .. } => {
                sum.clear();
                seen.clear();
            }
            Acc::Moments { state, .. } => state.clear(),
            Acc::Numeric(n) => n.clear(),
            Acc::MinMax { best, seen, .. } => {
                best.clear();
                seen.clear();
            }
            Acc::MinMaxBytes { best, bytes, .. } => {
                best.clear();
                *bytes = 0;
            }
            Acc::General { values, bytes } => {
                values.clear();
                *bytes = 0;
            }
        }
    }
}

fn float(w: u64, single: bool) -> f64 {
    if single { f64::from(f32::from_bits(w as u32)) } else { f64::from_bits(w) }
}

fn count(n: &mut [i64], groups: Groups<'_>, arg: Option<&Column>) {
    let nulls = arg.and_then(|c| c.nulls.as_ref());
    match (groups, nulls) {
        (Groups::One(g, rows), None) => n[g as usize] += rows as i64,
        (Groups::Each(gs), None) => gs.iter().for_each(|&g| n[g as usize] += 1),
        (groups, Some(nulls)) => {
            for i in (0..groups.len()).filter(|&i| !nulls.get(i)) {
                n[groups.of(i)] += 1;
            }
        }
    }
}

/// Calls `f` with the group and the word of each row that is not NULL.
#[inline]
fn each_word(col: &Column, groups: Groups<'_>, mut f: impl FnMut(usize, u64)) {
    let ColumnData::Word(words) = &col.data else { return };
    match (groups, &col.nulls) {
        (Groups::One(g, _), None) => words.iter().for_each(|&w| f(g as usize, w)),
        (Groups::Each(gs), None) => {
            for (&g, &w) in gs.iter().zip(words) {
                f(g as usize, w);
            }
        }
        (groups, Some(nulls)) => {
            for (i, &w) in words.iter().enumerate() {
                if !nulls.get(i) {
                    f(groups.of(i), w);
                }
            }
        }
    }
}

fn each_bytes(col: &Column, groups: Groups<'_>, mut f: impl FnMut(usize, &[u8])) {
    for i in 0..groups.len() {
        if let DatumRef::Bytes(b) = col.get(i) {
            f(groups.of(i), b);
        }
    }
}
