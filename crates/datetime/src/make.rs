//! make_date, make_time, make_timestamp, make_timestamptz, make_interval. Counterpart: date.c,
//! timestamp.c.

use super::calendar::{
    DATE_END, DATE_MIN, EPOCH_JDATE, USECS_PER_DAY, USECS_PER_HOUR, USECS_PER_MINUTE,
    USECS_PER_SEC, date2j, days_in_month, interval_range, is_valid_julian, is_valid_timestamp,
    time_of, timestamp_range,
};
use super::convert::{local_to_utc, zone_arg};
use super::interval::Interval;
use super::parse::time_overflows;
use pgerror::{Result, pg_err};
use values::datum::{Datum, DatumRef};
use values::fn_context::FnContext;

/// `as_given`: error messages show a year BC as the negative number that was given.
fn make_date(a: &[DatumRef<'_>], as_given: bool) -> Result<i32> {
    let (year, month, day) = (a[0].as_i32(), a[1].as_i32(), a[2].as_i32());
    // A negative year is BC; there is no year 0.
    let y = if year < 0 && year > i32::MIN { year + 1 } else { year };
    let bad = || {
        let shown = if as_given { year } else { y };
        pg_err!(
            DATETIME_FIELD_OVERFLOW,
            "date field value out of range: {shown}-{month:02}-{day:02}"
        )
    };
    if year == 0 {
        return Err(bad());
    }
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) || day > days_in_month(y, month) {
        return Err(bad());
    }
    let out =
        || pg_err!(DATETIME_VALUE_OUT_OF_RANGE, "date out of range: {year}-{month:02}-{day:02}");
    if !is_valid_julian(y, month) {
        return Err(if year == i32::MIN { bad() } else { out() });
    }
    let d = date2j(y, month, day) - EPOCH_JDATE;
    if (DATE_MIN..DATE_END).contains(&d) { Ok(d) } else { Err(out()) }
}

/// Whole seconds and microseconds of a float.
fn split_seconds(sec: f64) -> Option<(i32, i32)> {
    if !sec.is_finite() || !(0.0..=60.0).contains(&sec) {
        return None;
    }
    let us = (sec * 1e6).round_ties_even() as i64;
    Some(((us / USECS_PER_SEC) as i32, (us % USECS_PER_SEC) as i32))
}

fn shown_seconds(sec: f64) -> String {
    let text = values::float::format_g(sec, 6);
    if text.len() < 2 { format!("0{text}") } else { text }
}

fn make_time(a: &[DatumRef<'_>]) -> Result<i64> {
    let (hour, minute, sec) = (a[0].as_i32(), a[1].as_i32(), a[2].as_f64());
    split_seconds(sec)
        .filter(|(s, us)| !time_overflows(hour, minute, *s, *us))
        .map(|(s, us)| time_of(hour, minute, s, us))
        .ok_or_else(|| {
            pg_err!(
                DATETIME_FIELD_OVERFLOW,
                "time field value out of range: {hour}:{minute:02}:{}",
                shown_seconds(sec)
            )
        })
}

fn make_timestamp(a: &[DatumRef<'_>]) -> Result<i64> {
    let date = make_date(a, true)?;
    let time = make_time(&a[3..])?;
    let t = i64::from(date).checked_mul(USECS_PER_DAY).and_then(|d| d.checked_add(time));
    t.filter(|&t| is_valid_timestamp(t)).ok_or_else(|| {
        pg_err!(
            DATETIME_VALUE_OUT_OF_RANGE,
            "timestamp out of range: {}-{:02}-{:02} {}:{:02}:{}",
            a[0].as_i32(),
            a[1].as_i32(),
            a[2].as_i32(),
            a[3].as_i32(),
            a[4].as_i32(),
            shown_seconds(a[5].as_f64())
        )
    })
}

fn checked(t: i64) -> Result<Datum> {
    if is_valid_timestamp(t) { Ok(Datum::int8(t)) } else { Err(timestamp_range()) }
}

fn make_interval(a: &[DatumRef<'_>]) -> Result<Datum> {
    let n = |i: usize| i64::from(a[i].as_i32());
    let seconds = a[6].as_f64();
    if !seconds.is_finite() {
        return Err(interval_range());
    }
    // There are no further checks: as in PostgreSQL, sums wrap around, and seconds out of range
    // become the minimum.
    let month = n(0) * 12 + n(1);
    let day = n(2) * 7 + n(3);
    let us = (seconds * 1e6).round_ties_even();
    let us = if us.abs() >= i64::MAX as f64 { i64::MIN } else { us as i64 };
    let time = (n(4) * USECS_PER_HOUR + n(5) * USECS_PER_MINUTE).wrapping_add(us);
    Ok(Interval { time, day: day as i32, month: month as i32 }.datum())
}

scalars! { FNS;
    "make_date" => |_, a| Ok(Datum::int4(make_date(a, false)?)),
    "make_time" => |_, a| Ok(Datum::int8(make_time(a)?)),
    "make_timestamp" => |_, a| Ok(Datum::int8(make_timestamp(a)?)),
    "make_timestamptz" => |cx: &mut dyn FnContext, a: &[DatumRef<'_>]| {
        checked(local_to_utc(&cx.settings().time_zone, make_timestamp(a)?))
    },
    "make_timestamptz_at_timezone" => |_, a| {
        let local = make_timestamp(a)?;
        let text = String::from_utf8_lossy(a[6].as_bytes());
        if text.starts_with(|c: char| c.is_ascii_digit()) {
            return Err(pg_err!(
                INVALID_PARAMETER_VALUE,
                "invalid input syntax for type numeric time zone: \"{text}\""
            )
            .hint("Numeric time zones must have \"-\" or \"+\" as first character."));
        }
        // A numeric offset has the sign of input syntax: east is positive. Other texts are zone
        // names.
        match super::parse::decode_offset(&text) {
            Ok(east) => return checked(local - i64::from(east) * USECS_PER_SEC),
            Err(super::parse::ParseError::ZoneOverflow) => return Err(pg_err!(
                INVALID_PARAMETER_VALUE,
                "numeric time zone \"{text}\" out of range"
            )),
            Err(_) => {}
        }
        checked(zone_arg(a[6].as_bytes())?.to_utc(local))
    },
    "make_interval" => |_, a| make_interval(a),
}
