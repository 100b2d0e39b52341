//! `in_range` support functions: bounds of RANGE window frames. in_range(value, base, offset, sub,
//! less) is `value <= base ± offset` if `less`, else `value >= base ± offset`. Counterpart: the
//! in_range functions of the types.

use datetime::Interval;
use datetime::arithmetic::{difference, sum, timestamp_plus, timestamptz_plus};
use datetime::compare::{interval_cmp, timetz_cmp};
use datetime::convert::{timetz, timetz_parts};
use ids::Oid;
use numeric::num::Num;
use numeric::{functions, order};
use pgerror::{PgError, Result, pg_err};
use std::cmp::Ordering;
use values::compare::float_cmp;
use values::datum::{Datum, DatumRef};

#[cold]
fn negative() -> PgError {
    pg_err!(
        INVALID_PRECEDING_OR_FOLLOWING_SIZE,
        "invalid preceding or following size in window function"
    )
}

/// The result from the order of the value and the bound.
fn side(order: Ordering, less: bool) -> Result<Datum> {
    Ok(Datum::bool(if less { order.is_le() } else { order.is_ge() }))
}

fn integers(a: &[DatumRef<'_>]) -> Result<Datum> {
    let (value, base, offset) = (a[0].as_i64(), a[1].as_i64(), a[2].as_i64());
    let (sub, less) = (a[3].as_bool(), a[4].as_bool());
    if offset < 0 {
        return Err(negative());
    }
    let bound = if sub { base.checked_sub(offset) } else { base.checked_add(offset) };
    match bound {
        Some(b) => side(value.cmp(&b), less),
        // The bound is beyond all values, so all of them are on the same side.
        None => Ok(Datum::bool(if sub { !less } else { less })),
    }
}

fn floats(value: f64, base: f64, offset: f64, sub: bool, less: bool) -> Result<Datum> {
    if offset.is_nan() || offset < 0.0 {
        return Err(negative());
    }
    // NaN equals NaN and is greater than all other values.
    if value.is_nan() || base.is_nan() {
        return side(float_cmp(value, base), less);
    }
    if offset.is_infinite() && base.is_infinite() && (if sub { base > 0.0 } else { base < 0.0 }) {
        return Ok(Datum::bool(true));
    }
    let bound = if sub { base - offset } else { base + offset };
    side(float_cmp(value, bound), less)
}

fn numerics(a: &[DatumRef<'_>]) -> Result<Datum> {
    let (value, base, offset) = (Num::of(a[0]), Num::of(a[1]), Num::of(a[2]));
    let (sub, less) = (a[3].as_bool(), a[4].as_bool());
    if offset.is_nan() || offset.signum() < 0 {
        return Err(negative());
    }
    if value.is_nan() || base.is_nan() {
        return side(order::compare(&value, &base), less);
    }
    let opposite = if sub { base.signum() > 0 } else { base.signum() < 0 };
    if offset.is_infinite() && base.is_infinite() && opposite {
        return Ok(Datum::bool(true));
    }
    side(order::compare(&value, &functions::add(&base, &offset, sub)), less)
}

fn span(d: DatumRef<'_>, sub: bool) -> Result<Interval> {
    let zero = Interval::default().datum();
    if interval_cmp(d, zero.as_ref(), Oid(0)).is_lt() {
        return Err(negative());
    }
    let i = Interval::of(d);
    Ok(if sub {
        Interval {
            time: i.time.wrapping_neg(),
            day: i.day.wrapping_neg(),
            month: i.month.wrapping_neg(),
        }
    } else {
        i
    })
}

/// The time part of an offset to a time of day, negated if `sub`; days and months are ignored.
fn clock(d: DatumRef<'_>, sub: bool) -> Result<i64> {
    let time = Interval::of(d).time;
    if time < 0 {
        return Err(negative());
    }
    Ok(if sub { -time } else { time })
}

scalars! { FNS;
    "in_range_int2_int2" => |_, a| integers(a),
    "in_range_int2_int4" => |_, a| integers(a),
    "in_range_int2_int8" => |_, a| integers(a),
    "in_range_int4_int2" => |_, a| integers(a),
    "in_range_int4_int4" => |_, a| integers(a),
    "in_range_int4_int8" => |_, a| integers(a),
    "in_range_int8_int8" => |_, a| integers(a),
    "in_range_float8_float8" => |_, a| floats(
        a[0].as_f64(), a[1].as_f64(), a[2].as_f64(), a[3].as_bool(), a[4].as_bool()),
    "in_range_float4_float8" => |_, a| floats(
        a[0].as_f32().into(), a[1].as_f32().into(), a[2].as_f64(), a[3].as_bool(), a[4].as_bool()),
    "in_range_numeric_numeric" => |_, a| numerics(a),
    "in_range_timestamp_interval" => |_, a| {
        let bound = timestamp_plus(a[1].as_i64(), &span(a[2], a[3].as_bool())?)?;
        side(a[0].as_i64().cmp(&bound), a[4].as_bool())
    },
    "in_range_timestamptz_interval" => |cx, a| {
        let step = span(a[2], a[3].as_bool())?;
        let bound = timestamptz_plus(&cx.settings().time_zone, a[1].as_i64(), &step)?;
        side(a[0].as_i64().cmp(&bound), a[4].as_bool())
    },
    "in_range_date_interval" => |_, a| {
        let day = |d: DatumRef<'_>| datetime::convert::date_to_timestamp(d.as_i32());
        let (value, base) = (day(a[0])?, day(a[1])?);
        let bound = timestamp_plus(base, &span(a[2], a[3].as_bool())?)?;
        side(value.cmp(&bound), a[4].as_bool())
    },
    // Times of day do not wrap at midnight here: the bound may be beyond all of them. As in
    // PostgreSQL 15, the number of microseconds wraps.
    "in_range_time_interval" => |_, a| {
        let bound = a[1].as_i64().wrapping_add(clock(a[2], a[3].as_bool())?);
        side(a[0].as_i64().cmp(&bound), a[4].as_bool())
    },
    "in_range_timetz_interval" => |_, a| {
        let (time, zone) = timetz_parts(a[1]);
        let bound = timetz(time.wrapping_add(clock(a[2], a[3].as_bool())?), zone);
        side(timetz_cmp(a[0], bound.as_ref(), Oid(0)), a[4].as_bool())
    },
    "in_range_interval_interval" => |_, a| {
        span(a[2], false)?;
        let (base, offset) = (Interval::of(a[1]), Interval::of(a[2]));
        let bound = if a[3].as_bool() { difference(&base, &offset) } else { sum(&base, &offset) };
        side(interval_cmp(a[0], bound?.datum().as_ref(), Oid(0)), a[4].as_bool())
    },
}
