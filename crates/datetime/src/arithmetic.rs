//! Arithmetic of dates, times and intervals: sums, differences, justification, age, aggregates and
//! series. Counterpart: timestamp.c, date.c.

use super::calendar::{
    DATE_END, DATE_MIN, Fields, SECS_PER_DAY, TIMESTAMP_NOBEGIN, USECS_PER_DAY, USECS_PER_SEC,
    date_range, date2j, days_in_month, interval_range, is_finite_date, is_finite_ts,
    is_valid_timestamp, j2date, time_of, timestamp_range,
};
use super::compare::{interval_cmp, timetz_cmp};
use super::convert::{date_to_timestamp, local_to_utc, timetz, timetz_parts, utc_to_local};
use super::interval::Interval;
use pgerror::{PgError, Result, pg_err};
use values::array::payload;
use values::datum::{Datum, DatumRef};
use values::fn_context::FnContext;
use values::function::SetSource;
use values::oids;
use values::type_io::division_by_zero;
use values::zone::Zone;

/// Adds months (the day is limited to the length of the month) and days to a local timestamp.
fn add_months_days(t: i64, i: &Interval) -> Result<i64> {
    let mut t = t;
    if i.month != 0 {
        let mut f = Fields::of_timestamp(t);
        let months = i64::from(f.year) * 12 + i64::from(f.month) - 1 + i64::from(i.month);
        f.year = months.div_euclid(12) as i32;
        f.month = months.rem_euclid(12) as i32 + 1;
        f.day = f.day.min(days_in_month(f.year, f.month));
        t = f.timestamp().ok_or_else(timestamp_range)?;
    }
    if i.day != 0 {
        let f = Fields::of_timestamp(t);
        let julian = date2j(f.year, f.month, f.day)
            .checked_add(i.day)
            .filter(|j| *j >= 0)
            .ok_or_else(timestamp_range)?;
        let (year, month, day) = j2date(julian);
        t = Fields { year, month, day, ..f }.timestamp().ok_or_else(timestamp_range)?;
    }
    Ok(t)
}

fn finish(t: Option<i64>) -> Result<i64> {
    t.filter(|&t| is_valid_timestamp(t)).ok_or_else(timestamp_range)
}

/// `timestamp + interval`.
pub fn timestamp_plus(t: i64, i: &Interval) -> Result<i64> {
    if !is_finite_ts(t) {
        return Ok(t);
    }
    finish(add_months_days(t, i)?.checked_add(i.time))
}

/// `timestamptz + interval`: months and days are added to local time, the time part to UTC.
pub fn timestamptz_plus(zone: &Zone, t: i64, i: &Interval) -> Result<i64> {
    if !is_finite_ts(t) {
        return Ok(t);
    }
    let mut t = t;
    for part in [
        Interval { month: i.month, ..Interval::default() },
        Interval { day: i.day, ..Interval::default() },
    ] {
        if part != Interval::default() {
            let (local, _) = utc_to_local(zone, t);
            t = local_to_utc(zone, add_months_days(local, &part)?);
        }
    }
    finish(t.checked_add(i.time))
}

fn negated(i: &Interval) -> Result<Interval> {
    Ok(Interval {
        time: i.time.checked_neg().ok_or_else(interval_range)?,
        day: i.day.checked_neg().ok_or_else(interval_range)?,
        month: i.month.checked_neg().ok_or_else(interval_range)?,
    })
}

/// The negated interval for subtraction from a timestamp; overflow wraps as in PostgreSQL.
fn reversed(d: DatumRef<'_>) -> Interval {
    let i = Interval::of(d);
    Interval {
        time: i.time.wrapping_neg(),
        day: i.day.wrapping_neg(),
        month: i.month.wrapping_neg(),
    }
}

/// The sum of the fields.
pub fn sum(a: &Interval, b: &Interval) -> Result<Interval> {
    Ok(Interval {
        time: a.time.checked_add(b.time).ok_or_else(interval_range)?,
        day: a.day.checked_add(b.day).ok_or_else(interval_range)?,
        month: a.month.checked_add(b.month).ok_or_else(interval_range)?,
    })
}

/// The difference of the fields.
pub fn difference(a: &Interval, b: &Interval) -> Result<Interval> {
    Ok(Interval {
        time: a.time.checked_sub(b.time).ok_or_else(interval_range)?,
        day: a.day.checked_sub(b.day).ok_or_else(interval_range)?,
        month: a.month.checked_sub(b.month).ok_or_else(interval_range)?,
    })
}

/// Rounded to microseconds.
fn tsround(v: f64) -> f64 {
    (v * 1e6).round_ties_even() / 1e6
}

fn to_i32(v: f64) -> Result<i32> {
    if v.is_nan() || v < f64::from(i32::MIN) || v >= 2_147_483_648.0 {
        return Err(interval_range());
    }
    Ok(v as i32)
}

/// Scales an interval; fractions of months are carried to days, fractions of days to time.
fn scaled(i: &Interval, f: impl Fn(f64) -> f64) -> Result<Interval> {
    let (months, days) = (f(i.month.into()), f(i.day.into()));
    let month = to_i32(months)?;
    let mut day = to_i32(days)?;
    let month_days = tsround((months - f64::from(month)) * 30.0);
    let mut seconds = tsround(
        (days - f64::from(day) + month_days - (month_days as i32) as f64) * SECS_PER_DAY as f64,
    );
    if seconds.abs() >= SECS_PER_DAY as f64 {
        let whole = (seconds / SECS_PER_DAY as f64) as i32;
        day = day.checked_add(whole).ok_or_else(interval_range)?;
        seconds -= f64::from(whole) * SECS_PER_DAY as f64;
    }
    day = day.checked_add(month_days as i32).ok_or_else(interval_range)?;
    let time = (f(i.time as f64) + seconds * 1e6).round_ties_even();
    if time.is_nan() || time < i64::MIN as f64 || time >= i64::MAX as f64 {
        return Err(interval_range());
    }
    Ok(Interval { time: time as i64, day, month })
}

fn multiplied(i: &Interval, factor: f64) -> Result<Datum> {
    Ok(scaled(i, |v| v * factor)?.datum())
}

pub(super) fn divided(i: &Interval, factor: f64) -> Result<Interval> {
    if factor == 0.0 {
        return Err(division_by_zero());
    }
    scaled(i, |v| v / factor)
}

fn justify_hours(i: Interval) -> Result<Interval> {
    let mut out = i;
    let days = (out.time / USECS_PER_DAY) as i32;
    out.time %= USECS_PER_DAY;
    out.day = out.day.checked_add(days).ok_or_else(interval_range)?;
    if out.day > 0 && out.time < 0 {
        out.time += USECS_PER_DAY;
        out.day -= 1;
    } else if out.day < 0 && out.time > 0 {
        out.time -= USECS_PER_DAY;
        out.day += 1;
    }
    Ok(out)
}

fn justify_days(i: Interval) -> Result<Interval> {
    let mut out = i;
    let months = out.day / 30;
    out.day %= 30;
    out.month = out.month.checked_add(months).ok_or_else(interval_range)?;
    if out.month > 0 && out.day < 0 {
        out.day += 30;
        out.month -= 1;
    } else if out.month < 0 && out.day > 0 {
        out.day -= 30;
        out.month += 1;
    }
    Ok(out)
}

fn justify_interval(i: Interval) -> Result<Interval> {
    let mut out = i;
    // If days and time have the same sign, days are justified first to avoid an overflow of their
    // sum.
    if (out.day > 0 && out.time > 0) || (out.day < 0 && out.time < 0) {
        let months = out.day / 30;
        out.day -= months * 30;
        out.month = out.month.checked_add(months).ok_or_else(interval_range)?;
    }
    let days = (out.time / USECS_PER_DAY) as i32;
    out.time %= USECS_PER_DAY;
    out.day += days;
    let months = out.day / 30;
    out.day -= months * 30;
    out.month = out.month.checked_add(months).ok_or_else(interval_range)?;
    if out.month > 0 && (out.day < 0 || (out.day == 0 && out.time < 0)) {
        out.day += 30;
        out.month -= 1;
    } else if out.month < 0 && (out.day > 0 || (out.day == 0 && out.time > 0)) {
        out.day -= 30;
        out.month += 1;
    }
    if out.day > 0 && out.time < 0 {
        out.time += USECS_PER_DAY;
        out.day -= 1;
    } else if out.day < 0 && out.time > 0 {
        out.time -= USECS_PER_DAY;
        out.day += 1;
    }
    Ok(out)
}

fn subtract(a: i64, b: i64) -> Result<Datum> {
    if !is_finite_ts(a) || !is_finite_ts(b) {
        return Err(pg_err!(DATETIME_VALUE_OUT_OF_RANGE, "cannot subtract infinite timestamps"));
    }
    let time = a.wrapping_sub(b);
    Ok(justify_hours(Interval { time, day: 0, month: 0 })?.datum())
}

/// The difference in years, months, days and time between two local timestamps.
fn age(a: i64, b: i64) -> Result<Datum> {
    // Infinity is not an error here; only values without a calendar date are.
    if a == TIMESTAMP_NOBEGIN || b == TIMESTAMP_NOBEGIN {
        return Err(timestamp_range());
    }
    let (x, y) = (Fields::of_timestamp(a), Fields::of_timestamp(b));
    let flip = a < b;
    let sign = if flip { -1 } else { 1 };
    let mut d = Fields {
        year: (x.year - y.year) * sign,
        month: (x.month - y.month) * sign,
        day: (x.day - y.day) * sign,
        hour: (x.hour - y.hour) * sign,
        minute: (x.minute - y.minute) * sign,
        second: (x.second - y.second) * sign,
        micros: (x.micros - y.micros) * sign,
    };
    let borrow = |low: &mut i32, high: &mut i32, unit: i32| {
        while *low < 0 {
            *low += unit;
            *high -= 1;
        }
    };
    borrow(&mut d.micros, &mut d.second, USECS_PER_SEC as i32);
    borrow(&mut d.second, &mut d.minute, 60);
    borrow(&mut d.minute, &mut d.hour, 60);
    borrow(&mut d.hour, &mut d.day, 24);
    let from = if flip { &x } else { &y };
    borrow(&mut d.day, &mut d.month, days_in_month(from.year, from.month));
    borrow(&mut d.month, &mut d.year, 12);
    let time = time_of(d.hour, d.minute, d.second, d.micros) * i64::from(sign);
    let out = Interval { time, day: d.day * sign, month: (d.year * 12 + d.month) * sign };
    Ok(out.datum())
}

fn local(cx: &dyn FnContext, t: i64) -> i64 {
    if is_finite_ts(t) { utc_to_local(&cx.settings().time_zone, t).0 } else { t }
}

/// A date and a number of days. An infinite date stays as it is; error 22008 if the result is no
/// date.
pub fn date_plus(d: i32, n: i64) -> Result<Datum> {
    if !is_finite_date(d) {
        return Ok(Datum::int4(d));
    }
    let out = i64::from(d) + n;
    let fits = (i64::from(DATE_MIN)..i64::from(DATE_END)).contains(&out);
    if fits { Ok(Datum::int4(out as i32)) } else { Err(date_range()) }
}

fn time_plus(t: i64, by: i64) -> i64 {
    t.wrapping_add(by).rem_euclid(USECS_PER_DAY)
}

/// OVERLAPS: whether two periods have a common point. Each period is given by its two ends, of
/// which the second may be NULL.
fn overlaps(
    a: &[DatumRef<'_>],
    gt: impl Fn(DatumRef<'_>, DatumRef<'_>) -> std::cmp::Ordering,
) -> Result<Datum> {
    // Orders the ends of each period; NULL comes last.
    let arrange = |s: usize, e: usize| {
        let (s, e) = (a[s], a[e]);
        if s.is_null() {
            if e.is_null() { None } else { Some((e, DatumRef::Null)) }
        } else if !e.is_null() && gt(s, e).is_gt() {
            Some((e, s))
        } else {
            Some((s, e))
        }
    };
    let (Some((s1, e1)), Some((s2, e2))) = (arrange(0, 1), arrange(2, 3)) else {
        return Ok(Datum::Null);
    };
    let verdict = |later: DatumRef<'_>, own: DatumRef<'_>, end: DatumRef<'_>| {
        if end.is_null() {
            return Datum::Null;
        }
        if gt(later, end).is_lt() {
            return Datum::bool(true);
        }
        if own.is_null() {
            return Datum::Null;
        }
        Datum::bool(false)
    };
    Ok(match gt(s1, s2) {
        std::cmp::Ordering::Greater => verdict(s1, e1, e2),
        std::cmp::Ordering::Less => verdict(s2, e2, e1),
        std::cmp::Ordering::Equal => {
            if e1.is_null() || e2.is_null() {
                Datum::Null
            } else {
                Datum::bool(true)
            }
        }
    })
}

/// date_bin: the start of the bin of width `stride`, aligned to `origin`, that contains the
/// timestamp.
fn bin(a: &[DatumRef<'_>]) -> Result<Datum> {
    let (stride, t, origin) = (Interval::of(a[0]), a[1].as_i64(), a[2].as_i64());
    if !is_finite_ts(t) {
        return Ok(Datum::int8(t));
    }
    if !is_finite_ts(origin) {
        return Err(pg_err!(DATETIME_VALUE_OUT_OF_RANGE, "origin out of range"));
    }
    if stride.month != 0 {
        return Err(pg_err!(
            FEATURE_NOT_SUPPORTED,
            "timestamps cannot be binned into intervals containing months or years"
        ));
    }
    let width = i64::from(stride.day)
        .checked_mul(USECS_PER_DAY)
        .and_then(|d| d.checked_add(stride.time))
        .ok_or_else(interval_range)?;
    if width <= 0 {
        return Err(pg_err!(DATETIME_VALUE_OUT_OF_RANGE, "stride must be greater than zero"));
    }
    let diff = t.checked_sub(origin).ok_or_else(interval_range)?;
    let binned = origin.checked_add(diff.div_euclid(width) * width);
    let binned = binned.filter(|&t| is_valid_timestamp(t)).ok_or_else(timestamp_range)?;
    Ok(Datum::int8(binned))
}

fn ts(d: DatumRef<'_>) -> i64 {
    d.as_i64()
}

fn zone(cx: &dyn FnContext) -> Zone {
    cx.settings().time_zone.clone()
}

scalars! { FNS;
    "date_pli" => |_, a| date_plus(a[0].as_i32(), a[1].as_i32().into()),
    "date_mii" => |_, a| date_plus(a[0].as_i32(), -i64::from(a[1].as_i32())),
    "date_mi" => |_, a| {
        let (x, y) = (a[0].as_i32(), a[1].as_i32());
        if !is_finite_date(x) || !is_finite_date(y) {
            return Err(pg_err!(DATETIME_VALUE_OUT_OF_RANGE, "cannot subtract infinite dates"));
        }
        Ok(Datum::int4(x.wrapping_sub(y)))
    },
    "date_pl_interval" => |_, a| Ok(Datum::int8(
        timestamp_plus(date_to_timestamp(a[0].as_i32())?, &Interval::of(a[1]))?)),
    "date_mi_interval" => |_, a| Ok(Datum::int8(
        timestamp_plus(date_to_timestamp(a[0].as_i32())?, &reversed(a[1]))?)),
    "timestamp_pl_interval" =>
        |_, a| Ok(Datum::int8(timestamp_plus(ts(a[0]), &Interval::of(a[1]))?)),
    "timestamp_mi_interval" =>
        |_, a| Ok(Datum::int8(timestamp_plus(ts(a[0]), &reversed(a[1]))?)),
    "timestamptz_pl_interval" => |cx, a| Ok(Datum::int8(
        timestamptz_plus(&cx.settings().time_zone, ts(a[0]), &Interval::of(a[1]))?)),
    "timestamptz_mi_interval" => |cx, a| Ok(Datum::int8(
        timestamptz_plus(&cx.settings().time_zone, ts(a[0]), &reversed(a[1]))?)),
    "timestamp_mi" => |_, a| subtract(ts(a[0]), ts(a[1])),
    "timestamp_age" => |_, a| age(ts(a[0]), ts(a[1])),
    "timestamptz_age" => |cx, a| age(local(cx, ts(a[0])), local(cx, ts(a[1]))),
    "timestamp_bin" => |_, a| bin(a),
    "timestamptz_bin" => |_, a| bin(a),
    "time_pl_interval" =>
        |_, a| Ok(Datum::int8(time_plus(a[0].as_i64(), Interval::of(a[1]).time))),
    "time_mi_interval" =>
        |_, a| Ok(Datum::int8(time_plus(a[0].as_i64(), Interval::of(a[1]).time.wrapping_neg()))),
    "time_mi_time" => |_, a| Ok(
        Interval { time: a[0].as_i64() - a[1].as_i64(), day: 0, month: 0 }.datum()),
    "timetz_pl_interval" => |_, a| {
        let (t, west) = timetz_parts(a[0]);
        Ok(timetz(time_plus(t, Interval::of(a[1]).time), west))
    },
    "timetz_mi_interval" => |_, a| {
        let (t, west) = timetz_parts(a[0]);
        Ok(timetz(time_plus(t, Interval::of(a[1]).time.wrapping_neg()), west))
    },
    "interval_pl" => |_, a| Ok(sum(&Interval::of(a[0]), &Interval::of(a[1]))?.datum()),
    "interval_mi" => |_, a| Ok(difference(&Interval::of(a[0]), &Interval::of(a[1]))?.datum()),
    "interval_um" => |_, a| Ok(negated(&Interval::of(a[0]))?.datum()),
    "interval_mul" => |_, a| multiplied(&Interval::of(a[0]), a[1].as_f64()),
    "mul_d_interval" => |_, a| multiplied(&Interval::of(a[1]), a[0].as_f64()),
    "interval_div" => |_, a| Ok(divided(&Interval::of(a[0]), a[1].as_f64())?.datum()),
    "interval_justify_hours" => |_, a| Ok(justify_hours(Interval::of(a[0]))?.datum()),
    "interval_justify_days" => |_, a| Ok(justify_days(Interval::of(a[0]))?.datum()),
    "interval_justify_interval" => |_, a| Ok(justify_interval(Interval::of(a[0]))?.datum()),
    "overlaps_timestamp" => |_, a| overlaps(a, |x, y| x.as_i64().cmp(&y.as_i64())),
    "overlaps_time" => |_, a| overlaps(a, |x, y| x.as_i64().cmp(&y.as_i64())),
    "overlaps_timetz" => |_, a| overlaps(a, |x, y| timetz_cmp(x, y, ids::Oid(0))),
}

/// The transition state of sum and avg over intervals: the sum, and the count in the second
/// interval's time field.
fn pair(d: DatumRef<'_>) -> Result<(Interval, Interval)> {
    let info = payload::builtin_info(oids::INTERVAL);
    match payload::ArrayRef::new(d)?.elements(&info)?[..] {
        [s @ DatumRef::Bytes(_), n @ DatumRef::Bytes(_)] => Ok((Interval::of(s), Interval::of(n))),
        _ => Err(PgError::internal("expected 2-element interval array")),
    }
}

fn pair_datum(s: Interval, n: Interval) -> Result<Datum> {
    payload::of_builtin(oids::INTERVAL, &[s.datum(), n.datum()])
}

scalars! { AGGREGATES;
    "interval_accum" => |_, a| {
        let (s, mut n) = pair(a[0])?;
        n.time += 1;
        pair_datum(sum(&s, &Interval::of(a[1]))?, n)
    },
    "interval_accum_inv" => |_, a| {
        let (s, mut n) = pair(a[0])?;
        n.time -= 1;
        pair_datum(difference(&s, &Interval::of(a[1]))?, n)
    },
    "interval_combine" => |_, a| {
        let ((s, mut n), (s2, n2)) = (pair(a[0])?, pair(a[1])?);
        n.time += n2.time;
        pair_datum(sum(&s, &s2)?, n)
    },
    "interval_avg" => |_, a| {
        let (s, n) = pair(a[0])?;
        if n.time == 0 { Ok(Datum::Null) } else { Ok(divided(&s, n.time as f64)?.datum()) }
    },
}

struct Series {
    next: i64,
    stop: i64,
    step: Interval,
    forward: bool,
    zone: Option<Zone>,
}

impl SetSource for Series {
    fn next(&mut self, _: &mut dyn FnContext, out: &mut Vec<Datum>) -> Result<bool> {
        if if self.forward { self.next > self.stop } else { self.next < self.stop } {
            return Ok(false);
        }
        out.push(Datum::int8(self.next));
        self.next = match &self.zone {
            Some(zone) => timestamptz_plus(zone, self.next, &self.step)?,
            None => timestamp_plus(self.next, &self.step)?,
        };
        Ok(true)
    }
}

fn series(a: &[DatumRef<'_>], zone: Option<Zone>) -> Result<Box<dyn SetSource>> {
    let step = Interval::of(a[2]);
    let zero = Interval::default().datum();
    let order = interval_cmp(a[2], zero.as_ref(), ids::Oid(0));
    if order.is_eq() {
        return Err(pg_err!(INVALID_PARAMETER_VALUE, "step size cannot equal zero"));
    }
    Ok(Box::new(Series { next: ts(a[0]), stop: ts(a[1]), step, forward: order.is_gt(), zone }))
}

builtins! { SETS;
    "generate_series_timestamp" => Srf(|_, a| series(a, None)),
    "generate_series_timestamptz" => Srf(|cx, a| series(a, Some(zone(cx)))),
}
