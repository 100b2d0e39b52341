//! date_trunc. Counterpart: timestamp.c.

use super::calendar::{
    Fields, USECS_PER_HOUR, USECS_PER_MINUTE, USECS_PER_SEC, is_finite_ts, is_valid_timestamp,
    iso_week, iso_week_to_j, j2date, timestamp_range,
};
use super::convert::{local_to_utc, utc_to_local, zone_arg};
use super::extract::{unrecognized, word_of};
use super::interval::{Interval, Unit, unit};
use pgerror::{PgError, Result, pg_err};
use values::datum::{Datum, DatumRef};
use values::fn_context::FnContext;

fn unsupported(word: &str, type_name: &str) -> PgError {
    pg_err!(FEATURE_NOT_SUPPORTED, "unit \"{word}\" not supported for type {type_name}")
}

/// First year of the period of `n` years that contains `year`; periods start at year 1.
fn period_start(year: i32, n: i32) -> i32 {
    if year > 0 { (year + n - 1) / n * n - (n - 1) } else { -((n - 1 - (year - 1)) / n) * n + 1 }
}

/// Truncates a local timestamp to a unit; also returns whether the unit is a day or longer.
fn truncate_local(t: i64, u: Unit) -> Result<(i64, bool)> {
    let to = |unit_us: i64| Ok((t.div_euclid(unit_us) * unit_us, false));
    let mut f = Fields::of_timestamp(t);
    match u {
        Unit::Microsecond => return Ok((t, false)),
        Unit::Millisecond => return to(1000),
        Unit::Second => return to(USECS_PER_SEC),
        Unit::Minute => return to(USECS_PER_MINUTE),
        Unit::Hour => return to(USECS_PER_HOUR),
        Unit::Day => {}
        Unit::Week => {
            let (week, year) = iso_week(f.year, f.month, f.day);
            (f.year, f.month, f.day) = j2date(iso_week_to_j(year, week));
        }
        Unit::Month => f.day = 1,
        Unit::Quarter => (f.month, f.day) = ((f.month - 1) / 3 * 3 + 1, 1),
        Unit::Year => (f.month, f.day) = (1, 1),
        Unit::Decade => {
            f.year = if f.year > 0 { f.year / 10 * 10 } else { -((8 - (f.year - 1)) / 10) * 10 };
            (f.month, f.day) = (1, 1);
        }
        Unit::Century => (f.year, f.month, f.day) = (period_start(f.year, 100), 1, 1),
        Unit::Millennium => (f.year, f.month, f.day) = (period_start(f.year, 1000), 1, 1),
    }
    let day = Fields { year: f.year, month: f.month, day: f.day, ..Fields::default() };
    Ok((day.timestamp().ok_or_else(timestamp_range)?, true))
}

fn unit_of(word: &str, name: &str) -> Result<Unit> {
    match unit(word) {
        Some(u) => Ok(u),
        None if word.starts_with("timezone") => Err(unsupported(word, name)),
        None => Err(unrecognized(word, name)),
    }
}

fn truncate_tz(cx: &dyn FnContext, a: &[DatumRef<'_>]) -> Result<Datum> {
    let name = "timestamp with time zone";
    let t = a[1].as_i64();
    if !is_finite_ts(t) {
        return Ok(Datum::int8(t));
    }
    let arg = match a.get(2) {
        Some(z) => zone_arg(z.as_bytes())?,
        None => super::convert::ZoneArg::Zone(cx.settings().time_zone.clone()),
    };
    let u = unit_of(&word_of(a[0]), name)?;
    let out = match &arg {
        super::convert::ZoneArg::Offset(_) => arg.to_utc(truncate_local(arg.to_local(t), u)?.0),
        super::convert::ZoneArg::Zone(zone) => {
            let (local, east) = utc_to_local(zone, t);
            let (truncated, days) = truncate_local(local, u)?;
            // For units below a day the offset is kept, so that in an overlap the result is in the
            // same hour.
            if days {
                local_to_utc(zone, truncated)
            } else {
                truncated - i64::from(east) * USECS_PER_SEC
            }
        }
    };
    if is_valid_timestamp(out) { Ok(Datum::int8(out)) } else { Err(timestamp_range()) }
}

fn truncate_interval(a: &[DatumRef<'_>]) -> Result<Datum> {
    let word = word_of(a[0]);
    let i = Interval::of(a[1]);
    let u = match unit_of(&word, "interval")? {
        Unit::Week => {
            return Err(
                unsupported(&word, "interval").detail("Months usually have fractional weeks.")
            );
        }
        u => u,
    };
    let months = |n: i32| Interval { time: 0, day: 0, month: i.month / n * n };
    let time = |n: i64| Interval { time: i.time / n * n, ..i };
    Ok(match u {
        Unit::Microsecond | Unit::Week => i,
        Unit::Millisecond => time(1000),
        Unit::Second => time(USECS_PER_SEC),
        Unit::Minute => time(USECS_PER_MINUTE),
        Unit::Hour => time(USECS_PER_HOUR),
        Unit::Day => Interval { time: 0, ..i },
        Unit::Month => months(1),
        Unit::Quarter => months(3),
        Unit::Year => months(12),
        Unit::Decade => months(120),
        Unit::Century => months(1200),
        Unit::Millennium => months(12_000),
    }
    .datum())
}

scalars! { FNS;
    "timestamp_trunc" => |_, a| {
        let t = a[1].as_i64();
        if !is_finite_ts(t) {
            return Ok(Datum::int8(t));
        }
        let u = unit_of(&word_of(a[0]), "timestamp without time zone")?;
        Ok(Datum::int8(truncate_local(t, u)?.0))
    },
    "timestamptz_trunc" => |cx, a| truncate_tz(cx, a),
    "timestamptz_trunc_zone" => |cx, a| truncate_tz(cx, a),
    "interval_trunc" => |_, a| truncate_interval(a),
}
