//! sum, avg, variance and standard deviation over numeric and integers. Counterpart: numeric.c.
//!
//! Sums over integers use 128 bits (`PolyState`); sums over numeric also count special values and
//! the largest scale, so that values can be removed when they leave a window frame.

use super::arith::select_div_scale;
use super::math::checked;
use super::natural::Check;
use super::num::{Num, Sign, overflow};
use super::{functions, math, small};
use pgerror::{PgError, Result};
use std::cmp::Ordering;
use values::array::payload;
use values::datum::{Datum, DatumRef};
use values::fn_context::FnContext;
use values::function::AggState;
use values::oids;

/// Transition state over integers. `squares` stays 0 if only the sum is needed.
#[derive(Clone, Default)]
struct PolyState {
    squares_wanted: bool,
    count: i64,
    sum: i128,
    squares: i128,
}

/// Transition state over numeric.
#[derive(Clone)]
pub struct NumericState {
    squares_wanted: bool,
    count: i64,
    sum: Num,
    squares: Num,
    max_scale: i32,
    max_scale_count: i64,
    nan: i64,
    pos_inf: i64,
    neg_inf: i64,
}

impl NumericState {
    fn new(squares_wanted: bool) -> NumericState {
        NumericState {
            squares_wanted,
            count: 0,
            sum: Num::zero(0),
            squares: Num::zero(0),
            max_scale: 0,
            max_scale_count: 0,
            nan: 0,
            pos_inf: 0,
            neg_inf: 0,
        }
    }

    fn special_count(&mut self, sign: Sign) -> Option<&mut i64> {
        match sign {
            Sign::NaN => Some(&mut self.nan),
            Sign::PosInf => Some(&mut self.pos_inf),
            Sign::NegInf => Some(&mut self.neg_inf),
            _ => None,
        }
    }

    fn add(&mut self, n: &Num) {
        if let Some(count) = self.special_count(n.sign) {
            *count += 1;
            return;
        }
        match n.dscale.cmp(&self.max_scale) {
            Ordering::Greater => (self.max_scale, self.max_scale_count) = (n.dscale, 1),
            Ordering::Equal => self.max_scale_count += 1,
            Ordering::Less => {}
        }
        self.count += 1;
        self.sum = self.sum.plus(n);
        if self.squares_wanted {
            self.squares = self.squares.plus(&n.times(n));
        }
    }

    /// Removes a value that leaves a window frame; false if the scale of the result is not known
    /// without it.
    fn remove(&mut self, n: &Num) -> bool {
        if let Some(count) = self.special_count(n.sign) {
            *count -= 1;
            return true;
        }
        if n.dscale == self.max_scale {
            if self.max_scale_count > 1 || self.max_scale == 0 {
                self.max_scale_count -= 1;
            } else if self.count == 1 {
                (self.max_scale, self.max_scale_count) = (0, 0);
            } else {
                return false;
            }
        }
        self.count -= 1;
        if self.count > 0 {
            self.sum = self.sum.minus(n);
            self.sum.dscale = self.max_scale;
            if self.squares_wanted {
                self.squares = self.squares.minus(&n.times(n));
                self.squares.dscale = 2 * self.max_scale;
            }
        } else {
            (self.sum, self.squares) = (Num::zero(0), Num::zero(0));
        }
        true
    }

    fn merge(&mut self, other: &NumericState) {
        self.nan += other.nan;
        self.pos_inf += other.pos_inf;
        self.neg_inf += other.neg_inf;
        if other.count == 0 {
            return;
        }
        match other.max_scale.cmp(&self.max_scale) {
            Ordering::Greater => {
                (self.max_scale, self.max_scale_count) = (other.max_scale, other.max_scale_count);
            }
            Ordering::Equal => self.max_scale_count += other.max_scale_count,
            Ordering::Less => {}
        }
        self.count += other.count;
        self.sum = self.sum.plus(&other.sum);
        self.squares = self.squares.plus(&other.squares);
    }

    fn total(&self) -> i64 {
        self.count + self.nan + self.pos_inf + self.neg_inf
    }

    /// The result of sum and average if there were special values.
    fn special(&self) -> Option<Num> {
        let sign = match (self.nan, self.pos_inf, self.neg_inf) {
            (0, 0, 0) => return None,
            (0, 0, _) => Sign::NegInf,
            (0, _, 0) => Sign::PosInf,
            _ => Sign::NaN,
        };
        Some(Num::special(sign))
    }
}

/// The transition state of sum and average over int8 (`int8_avg_accum`) after `count` values.
pub fn int_sum_state(count: i64, sum: i128) -> AggState {
    AggState::new(PolyState { squares_wanted: false, count, sum, squares: 0 })
}

/// The transition state of average over int2 and int4: an array of count and sum.
pub fn int_pair_state(count: i64, sum: i64) -> Result<Datum> {
    pair_datum(count, sum)
}

/// The average of `count` integers with this sum; NULL if `count` is 0.
pub fn int_average(sum: i128, count: i64) -> Result<Datum> {
    if count == 0 {
        return Ok(Datum::Null);
    }
    match small::average(sum, count) {
        Some(payload) => Ok(Datum::Bytes(payload.into())),
        None => average(&Num::from(sum), count),
    }
}

/// A running sum of numerics (`numeric_avg_accum`): in 128-bit units of 10^-16 as long as the
/// values fit.
#[derive(Clone, Default)]
pub struct NumericTotal {
    units: i128,
    count: i64,
    scale: i32,
    /// The sum of the values that do not fit the units.
    rest: Option<Box<NumericState>>,
}

impl NumericTotal {
    /// Adds the number with this payload.
    pub fn add(&mut self, v: &[u8]) {
        match units_of(v).and_then(|u| self.units.checked_add(u)) {
            Some(sum) => {
                self.units = sum;
                self.count += 1;
                let header = u16::from_ne_bytes([v[0], v[1]]);
                self.scale = self.scale.max(i32::from((header & 0x1F80) >> 7));
            }
            None => {
                let rest = self.rest.get_or_insert_with(|| Box::new(NumericState::new(false)));
                rest.add(&Num::from_payload(v));
            }
        }
    }

    /// The transition state that the final functions expect; NULL if nothing was added.
    pub fn state(&self) -> AggState {
        let mut s = NumericState::new(false);
        if self.count > 0 {
            let mut sum = Num::from(self.units);
            sum.weight -= 4;
            sum.strip();
            sum.dscale = self.scale;
            s.count = self.count;
            s.sum = sum;
            (s.max_scale, s.max_scale_count) = (self.scale, 1);
        }
        if let Some(rest) = &self.rest {
            s.merge(rest);
        }
        if s.total() == 0 { AggState::default() } else { AggState::new(s) }
    }
}

/// A number of few digits with at most 16 decimals, in units of 10^-16.
#[inline]
fn units_of(v: &[u8]) -> Option<i128> {
    const SCALE: [i128; 9] = {
        let mut p = [1; 9];
        let mut i = 1;
        while i < p.len() {
            p[i] = p[i - 1] * 10_000;
            i += 1;
        }
        p
    };
    let n = small::Small::read(v)?;
    let units = i128::from(n.mantissa) * SCALE.get(usize::try_from(4 - n.fraction).ok()?)?;
    Some(if n.negative { -units } else { units })
}

fn poly_add(state: &mut AggState, v: Option<i64>, squares: bool) -> Result<()> {
    let s = state.get_or(|| PolyState { squares_wanted: squares, ..PolyState::default() });
    if let Some(v) = v {
        s.count += 1;
        s.sum += i128::from(v);
        if squares {
            // The square of an int8 fits 126 bits; the sum of squares may overflow.
            let square = i128::from(v) * i128::from(v);
            s.squares = s.squares.checked_add(square).ok_or_else(overflow)?;
        }
    }
    Ok(())
}

fn poly_remove(state: &mut AggState, v: Option<i64>) -> Result<()> {
    let Some(s) = state.get_mut::<PolyState>() else {
        return Err(PgError::internal("inverse transition without a state"));
    };
    if let Some(v) = v {
        s.count -= 1;
        s.sum -= i128::from(v);
        if s.squares_wanted {
            s.squares -= i128::from(v) * i128::from(v);
        }
    }
    Ok(())
}

fn int_arg(a: &[DatumRef<'_>]) -> Option<i64> {
    (!a[0].is_null()).then(|| a[0].as_i64())
}

fn numeric_add(state: &mut AggState, a: &[DatumRef<'_>], squares: bool) -> Result<()> {
    let s = state.get_or(|| NumericState::new(squares));
    if !a[0].is_null() {
        s.add(&Num::of(a[0]));
    }
    Ok(())
}

/// The variance of int8 is computed in numeric: its sum of squares may exceed 128 bits.
fn int8_accum(state: &mut AggState, a: &[DatumRef<'_>]) -> Result<()> {
    let s = state.get_or(|| NumericState::new(true));
    if let Some(v) = int_arg(a) {
        s.add(&Num::from(v));
    }
    Ok(())
}

fn int8_accum_inv(state: &mut AggState, a: &[DatumRef<'_>]) -> Result<()> {
    if let (Some(s), Some(v)) = (state.get_mut::<NumericState>(), int_arg(a)) {
        s.remove(&Num::from(v));
    }
    Ok(())
}

fn average(sum: &Num, count: i64) -> Result<Datum> {
    let n = Num::from(count);
    sum.divided(&n, select_div_scale(sum, &n), true)?.datum()
}

/// The counts and sums from which a variance is computed.
struct Moments<'a> {
    /// Number of finite values.
    count: i64,
    /// Number of all values.
    total: i64,
    sum: &'a Num,
    squares: &'a Num,
}

/// Variance or standard deviation.
fn deviation(
    Moments { count, total, sum, squares }: Moments<'_>,
    variance: bool,
    sample: bool,
    check: Check<'_>,
) -> Result<Datum> {
    if total <= i64::from(sample) || total == 0 {
        return Ok(Datum::Null);
    }
    if count < total {
        return Num::special(Sign::NaN).datum();
    }
    let n = Num::from(count);
    let rscale = 2 * sum.dscale;
    let square_of_sum = sum.times_rounded(sum, rscale);
    let numerator = n.times_rounded(squares, rscale).minus(&square_of_sum);
    if numerator.signum() <= 0 {
        return Num::zero(0).datum();
    }
    let denominator = if sample { n.times(&Num::from(count - 1)) } else { n.times(&n) };
    let rscale = select_div_scale(&numerator, &denominator);
    let mut out = numerator.divided(&denominator, rscale, true)?;
    if !variance {
        out = math::sqrt(&out, rscale, check)?;
    }
    out.datum()
}

fn numeric_deviation(
    state: &AggState,
    variance: bool,
    sample: bool,
    check: Check<'_>,
) -> Result<Datum> {
    let Some(s) = state.get::<NumericState>() else { return Ok(Datum::Null) };
    let moments = Moments { count: s.count, total: s.total(), sum: &s.sum, squares: &s.squares };
    deviation(moments, variance, sample, check)
}

fn poly_deviation(
    state: &AggState,
    variance: bool,
    sample: bool,
    check: Check<'_>,
) -> Result<Datum> {
    let Some(s) = state.get::<PolyState>() else { return Ok(Datum::Null) };
    let (sum, squares) = (Num::from(s.sum), Num::from(s.squares));
    let moments = Moments { count: s.count, total: s.count, sum: &sum, squares: &squares };
    deviation(moments, variance, sample, check)
}

fn numeric_sum(state: &AggState) -> Result<Datum> {
    match state.get::<NumericState>() {
        Some(s) if s.total() > 0 => match s.special() {
            Some(n) => n.datum(),
            None => s.sum.datum(),
        },
        _ => Ok(Datum::Null),
    }
}

fn numeric_avg(state: &AggState) -> Result<Datum> {
    match state.get::<NumericState>() {
        Some(s) if s.total() > 0 => match s.special() {
            Some(n) => n.datum(),
            None => average(&s.sum, s.count),
        },
        _ => Ok(Datum::Null),
    }
}

fn poly_merge(_: &mut dyn FnContext, state: &mut AggState, other: &AggState) -> Result<()> {
    if let Some(o) = other.get::<PolyState>() {
        let s =
            state.get_or(|| PolyState { squares_wanted: o.squares_wanted, ..Default::default() });
        s.count += o.count;
        s.sum += o.sum;
        s.squares = s.squares.checked_add(o.squares).ok_or_else(overflow)?;
    }
    Ok(())
}

fn numeric_merge(_: &mut dyn FnContext, state: &mut AggState, other: &AggState) -> Result<()> {
    if let Some(o) = other.get::<NumericState>() {
        state.get_or(|| NumericState::new(o.squares_wanted)).merge(o);
    }
    Ok(())
}

builtins! { FNS;
    "int2_accum" => Trans(|_, s, a| poly_add(s, int_arg(a), true)),
    "int4_accum" => Trans(|_, s, a| poly_add(s, int_arg(a), true)),
    "int8_accum" => Trans(|_, s, a| int8_accum(s, a)),
    "int2_accum_inv" => Trans(|_, s, a| poly_remove(s, int_arg(a))),
    "int4_accum_inv" => Trans(|_, s, a| poly_remove(s, int_arg(a))),
    "int8_accum_inv" => Trans(|_, s, a| int8_accum_inv(s, a)),
    "int8_avg_accum" => Trans(|_, s, a| poly_add(s, int_arg(a), false)),
    "int8_avg_accum_inv" => Trans(|_, s, a| poly_remove(s, int_arg(a))),
    "int8_avg_combine" => Combine(poly_merge),
    "numeric_poly_combine" => Combine(poly_merge),
    "numeric_poly_sum" => Final(|_, s, _| match s.get::<PolyState>() {
        Some(s) if s.count > 0 => Num::from(s.sum).datum(),
        _ => Ok(Datum::Null),
    }),
    "numeric_poly_avg" => Final(|_, s, _| match s.get::<PolyState>() {
        Some(s) => int_average(s.sum, s.count),
        None => Ok(Datum::Null),
    }),
    "numeric_poly_var_samp" => Final(|cx, s, _| poly_deviation(s, true, true, &checked(cx))),
    "numeric_poly_var_pop" => Final(|cx, s, _| poly_deviation(s, true, false, &checked(cx))),
    "numeric_poly_stddev_samp" => Final(|cx, s, _| poly_deviation(s, false, true, &checked(cx))),
    "numeric_poly_stddev_pop" => Final(|cx, s, _| poly_deviation(s, false, false, &checked(cx))),
    "numeric_accum" => Trans(|_, s, a| numeric_add(s, a, true)),
    "numeric_avg_accum" => Trans(|_, s, a| numeric_add(s, a, false)),
    "numeric_accum_inv" => Trans(|_, s, a| {
        let state = s.get_mut::<NumericState>().filter(|_| !a[0].is_null());
        if state.is_some_and(|s| !s.remove(&Num::of(a[0]))) {
            // After a NULL state, the executor aggregates the frame again from its start.
            *s = AggState::default();
        }
        Ok(())
    }),
    "numeric_combine" => Combine(numeric_merge),
    "numeric_avg_combine" => Combine(numeric_merge),
    "numeric_sum" => Final(|_, s, _| numeric_sum(s)),
    "numeric_avg" => Final(|_, s, _| numeric_avg(s)),
    "numeric_var_samp" => Final(|cx, s, _| numeric_deviation(s, true, true, &checked(cx))),
    "numeric_var_pop" => Final(|cx, s, _| numeric_deviation(s, true, false, &checked(cx))),
    "numeric_stddev_samp" => Final(|cx, s, _| numeric_deviation(s, false, true, &checked(cx))),
    "numeric_stddev_pop" => Final(|cx, s, _| numeric_deviation(s, false, false, &checked(cx))),
}

/// Count and sum of the transition state of avg(int2) and avg(int4): an int8 array of two.
fn int8_pair(d: DatumRef<'_>) -> Result<(i64, i64)> {
    let array = payload::ArrayRef::new(d)?;
    let info = payload::builtin_info(oids::INT8);
    match array.elements(&info)?[..] {
        [DatumRef::Word(count), DatumRef::Word(sum)] => Ok((count as i64, sum as i64)),
        _ => Err(PgError::internal("expected 2-element int8 array")),
    }
}

fn pair_datum(count: i64, sum: i64) -> Result<Datum> {
    payload::of_builtin(oids::INT8, &[Datum::int8(count), Datum::int8(sum)])
}

fn pair_step(a: &[DatumRef<'_>], sign: i64) -> Result<Datum> {
    let (count, sum) = int8_pair(a[0])?;
    let v = sign * a[1].as_i64();
    pair_datum(count.wrapping_add(sign), sum.wrapping_add(v))
}

/// sum over int2 and int4 as int8; the state is NULL at first.
fn small_sum(a: &[DatumRef<'_>]) -> Result<Datum> {
    match (a[0], a[1]) {
        (DatumRef::Null, v) => Ok(v.to_owned()),
        (s, DatumRef::Null) => Ok(s.to_owned()),
        (s, v) => Ok(Datum::int8(s.as_i64().wrapping_add(v.as_i64()))),
    }
}

scalars! { SCALARS;
    "int2_avg_accum" => |_, a| pair_step(a, 1),
    "int4_avg_accum" => |_, a| pair_step(a, 1),
    "int2_avg_accum_inv" => |_, a| pair_step(a, -1),
    "int4_avg_accum_inv" => |_, a| pair_step(a, -1),
    "int4_avg_combine" => |_, a| {
        let ((c1, s1), (c2, s2)) = (int8_pair(a[0])?, int8_pair(a[1])?);
        pair_datum(c1 + c2, s1.wrapping_add(s2))
    },
    "int8_avg" => |_, a| {
        let (count, sum) = int8_pair(a[0])?;
        int_average(sum.into(), count)
    },
    "int2int4_sum" => |_, a| {
        let (count, sum) = int8_pair(a[0])?;
        Ok(if count == 0 { Datum::Null } else { Datum::int8(sum) })
    },
    "int2_sum" => |_, a| small_sum(a),
    "int4_sum" => |_, a| small_sum(a),
    "int8_sum" => |_, a| match (a[0], a[1]) {
        (DatumRef::Null, DatumRef::Null) => Ok(Datum::Null),
        (DatumRef::Null, v) => Num::from(v.as_i64()).datum(),
        (s, DatumRef::Null) => Ok(s.to_owned()),
        (s, v) => functions::add(&Num::of(s), &Num::from(v.as_i64()), false).datum(),
    },
}
