//! Conversions between the date and time types, and between local time and UTC.

use super::abbreviations::{abbreviation, dynamic_abbreviation};
use super::calendar::{
    DATE_NOBEGIN, DATE_NOEND, EPOCH_UNIX, TIMESTAMP_END, TIMESTAMP_MIN, TIMESTAMP_NOBEGIN,
    TIMESTAMP_NOEND, USECS_PER_DAY, USECS_PER_SEC, is_finite_date, is_finite_ts,
    is_valid_timestamp, timestamp_range,
};
use super::interval::Interval;
use pgerror::{Result, pg_err};
use values::datum::{Datum, DatumRef};
use values::fn_context::FnContext;
use values::type_io::lossy_text;
use values::zone::Zone;

/// The local time of an instant, and the zone's offset (seconds east of Greenwich) at that instant.
pub fn utc_to_local(zone: &Zone, t: i64) -> (i64, i32) {
    let unix = t.div_euclid(USECS_PER_SEC) + EPOCH_UNIX;
    let (offset, _, _) = zone.at_unix(unix);
    (t.saturating_add(i64::from(offset) * USECS_PER_SEC), offset)
}

/// The instant of a local time.
pub fn local_to_utc(zone: &Zone, local: i64) -> i64 {
    let offset = zone.at_local(local.div_euclid(USECS_PER_SEC) + EPOCH_UNIX);
    local.saturating_sub(i64::from(offset) * USECS_PER_SEC)
}

/// `timestamptz` of a `timestamp` in the session's zone.
pub fn timestamp_to_tz(cx: &dyn FnContext, t: i64) -> Result<i64> {
    if !is_finite_ts(t) {
        return Ok(t);
    }
    let utc = local_to_utc(&cx.settings().time_zone, t);
    if is_valid_timestamp(utc) { Ok(utc) } else { Err(timestamp_range()) }
}

/// `timestamp` of a `timestamptz` in the session's zone.
pub fn tz_to_timestamp(cx: &dyn FnContext, t: i64) -> Result<i64> {
    if !is_finite_ts(t) {
        return Ok(t);
    }
    let local = local_time(cx, t);
    if is_valid_timestamp(local) { Ok(local) } else { Err(timestamp_range()) }
}

/// Local time in the session's zone; it may be out of the range of timestamps.
fn local_time(cx: &dyn FnContext, t: i64) -> i64 {
    if is_finite_ts(t) { utc_to_local(&cx.settings().time_zone, t).0 } else { t }
}

/// `timestamp` of a date.
pub fn date_to_timestamp(d: i32) -> Result<i64> {
    match d {
        DATE_NOBEGIN => Ok(TIMESTAMP_NOBEGIN),
        DATE_NOEND => Ok(TIMESTAMP_NOEND),
        d => {
            let t = i64::from(d).checked_mul(USECS_PER_DAY);
            t.filter(|&t| t < TIMESTAMP_END).ok_or_else(|| {
                pg_err!(DATETIME_VALUE_OUT_OF_RANGE, "date out of range for timestamp")
            })
        }
    }
}

/// `timestamptz` of a date's midnight in the session's zone.
pub fn date_to_tz(cx: &dyn FnContext, d: i32) -> Result<i64> {
    if !is_finite_date(d) {
        return date_to_timestamp(d);
    }
    let out = || pg_err!(DATETIME_VALUE_OUT_OF_RANGE, "date out of range for timestamp");
    let local = date_to_timestamp(d).map_err(|_| out())?;
    let utc = local_to_utc(&cx.settings().time_zone, local);
    if is_valid_timestamp(utc) { Ok(utc) } else { Err(out()) }
}

/// `date` of a `timestamp`.
pub fn timestamp_to_date(t: i64) -> i32 {
    match t {
        TIMESTAMP_NOBEGIN => DATE_NOBEGIN,
        TIMESTAMP_NOEND => DATE_NOEND,
        t => t.div_euclid(USECS_PER_DAY) as i32,
    }
}

/// Time and seconds west of Greenwich of a timetz payload. The time of a damaged value is limited
/// to some days, which arithmetic relies on; AT TIME ZONE with a long interval makes any zone.
pub fn timetz_parts(d: DatumRef<'_>) -> (i64, i32) {
    const DAYS_MAX: i64 = 1000;
    let b = d.as_bytes();
    let mut time = [0; 8];
    time.copy_from_slice(&b[..8]);
    let west = i32::from_le_bytes([b[8], b[9], b[10], b[11]]);
    let time_max = USECS_PER_DAY * DAYS_MAX;
    (i64::from_le_bytes(time).clamp(-time_max, time_max), west.max(-i32::MAX))
}

/// A timetz value.
pub fn timetz(time: i64, west: i32) -> Datum {
    let mut out = time.to_le_bytes().to_vec();
    out.extend_from_slice(&west.to_le_bytes());
    Datum::bytes(out)
}

/// A resolved time zone argument: the fixed offset of an abbreviation, or a zone.
pub enum ZoneArg {
    Offset(i32),
    Zone(Zone),
}

/// Zone names are truncated to this length.
const ZONE_NAME_BYTES_MAX: usize = 255;

/// Resolves the text argument of AT TIME ZONE.
pub fn zone_arg(name: &[u8]) -> Result<ZoneArg> {
    let name = String::from_utf8_lossy(name);
    if let Some((offset, _)) = abbreviation(&name) {
        return Ok(ZoneArg::Offset(offset));
    }
    if let Some(zone) = dynamic_abbreviation(&name) {
        return Ok(ZoneArg::Zone(zone));
    }
    Zone::named(&name).map(ZoneArg::Zone).ok_or_else(|| {
        let bytes = name.as_bytes();
        let end = values::chars::clip(bytes, ZONE_NAME_BYTES_MAX, values::settings::Encoding::Utf8);
        pg_err!(
            INVALID_PARAMETER_VALUE,
            "time zone \"{}\" not recognized",
            lossy_text(&bytes[..end])
        )
    })
}

impl ZoneArg {
    /// The local time of an instant in the zone.
    pub fn to_local(&self, t: i64) -> i64 {
        match self {
            ZoneArg::Offset(o) => t.saturating_add(i64::from(*o) * USECS_PER_SEC),
            ZoneArg::Zone(z) => utc_to_local(z, t).0,
        }
    }

    /// The instant of a local time in the zone.
    pub fn to_utc(&self, t: i64) -> i64 {
        match self {
            ZoneArg::Offset(o) => t.saturating_sub(i64::from(*o) * USECS_PER_SEC),
            ZoneArg::Zone(z) => local_to_utc(z, t),
        }
    }
}

/// `timetz` of a `time`, with the offset of the session's zone at the start of the transaction.
pub(crate) fn time_to_timetz(cx: &dyn FnContext, time: i64) -> Datum {
    let zone = &cx.settings().time_zone;
    let (now, _) = utc_to_local(zone, cx.transaction_timestamp());
    let local = now.div_euclid(USECS_PER_DAY) * USECS_PER_DAY + time;
    let offset = (local - local_to_utc(zone, local)) / USECS_PER_SEC;
    timetz(time, -offset as i32)
}

fn checked(t: i64) -> Result<Datum> {
    if is_valid_timestamp(t) { Ok(Datum::int8(t)) } else { Err(timestamp_range()) }
}

/// Seconds east of Greenwich of an interval used as a zone.
fn zone_interval(cx: &dyn FnContext, d: DatumRef<'_>) -> Result<i64> {
    let i = Interval::of(d);
    if i.month != 0 || i.day != 0 {
        let text = super::interval::text(&i, cx.settings().interval_style);
        return Err(pg_err!(
            INVALID_PARAMETER_VALUE,
            "interval time zone \"{text}\" must not include months or days"
        ));
    }
    // PostgreSQL truncates the seconds to 32 bits.
    Ok(i64::from((i.time / USECS_PER_SEC) as i32))
}

fn shifted_timetz(d: DatumRef<'_>, west: i32) -> Datum {
    let (time, old) = timetz_parts(d);
    let moved = time + (i64::from(old) - i64::from(west)) * USECS_PER_SEC;
    timetz(moved.rem_euclid(USECS_PER_DAY), west)
}

fn ts(d: DatumRef<'_>) -> i64 {
    d.as_i64()
}

scalars! { FNS;
    "date_timestamp" => |_, a| Ok(Datum::int8(date_to_timestamp(a[0].as_i32())?)),
    "date_timestamptz" => |cx, a| Ok(Datum::int8(date_to_tz(cx, a[0].as_i32())?)),
    "timestamp_date" => |_, a| Ok(Datum::int4(timestamp_to_date(ts(a[0])))),
    "timestamptz_date" =>
        |cx, a| Ok(Datum::int4(timestamp_to_date(local_time(cx, ts(a[0]))))),
    "timestamp_timestamptz" => |cx, a| Ok(Datum::int8(timestamp_to_tz(cx, ts(a[0]))?)),
    "timestamptz_timestamp" => |cx, a| Ok(Datum::int8(tz_to_timestamp(cx, ts(a[0]))?)),
    "timestamp_time" => |_, a| Ok(if is_finite_ts(ts(a[0])) {
        Datum::int8(ts(a[0]).rem_euclid(USECS_PER_DAY))
    } else {
        Datum::Null
    }),
    "timestamptz_time" => |cx, a| Ok(if is_finite_ts(ts(a[0])) {
        Datum::int8(local_time(cx, ts(a[0])).rem_euclid(USECS_PER_DAY))
    } else {
        Datum::Null
    }),
    "timestamptz_timetz" => |cx, a| {
        if !is_finite_ts(ts(a[0])) {
            return Ok(Datum::Null);
        }
        let (local, offset) = utc_to_local(&cx.settings().time_zone, ts(a[0]));
        Ok(timetz(local.rem_euclid(USECS_PER_DAY), -offset))
    },
    "time_timetz" => |cx, a| Ok(time_to_timetz(cx, a[0].as_i64())),
    "timetz_time" => |_, a| Ok(Datum::int8(timetz_parts(a[0]).0)),
    "time_interval" => |_, a| Ok(Interval { time: a[0].as_i64(), day: 0, month: 0 }.datum()),
    "interval_time" => |_, a| Ok(Datum::int8(Interval::of(a[0]).time.rem_euclid(USECS_PER_DAY))),
    "datetime_timestamp" => |_, a| {
        let t = date_to_timestamp(a[0].as_i32())?;
        if !is_finite_ts(t) {
            return Ok(Datum::int8(t));
        }
        checked(t.saturating_add(a[1].as_i64()))
    },
    "datetimetz_timestamptz" => |_, a| {
        let t = date_to_timestamp(a[0].as_i32())?;
        if !is_finite_ts(t) {
            return Ok(Datum::int8(t));
        }
        let (time, west) = timetz_parts(a[1]);
        let t = t.saturating_add(time).saturating_add(i64::from(west) * USECS_PER_SEC);
        if is_valid_timestamp(t) {
            Ok(Datum::int8(t))
        } else {
            Err(pg_err!(DATETIME_VALUE_OUT_OF_RANGE, "date out of range for timestamp"))
        }
    },
    "timestamp_zone" => |_, a| {
        if !is_finite_ts(ts(a[1])) {
            return Ok(a[1].to_owned());
        }
        checked(zone_arg(a[0].as_bytes())?.to_utc(ts(a[1])))
    },
    "timestamptz_zone" => |_, a| {
        if !is_finite_ts(ts(a[1])) {
            return Ok(a[1].to_owned());
        }
        checked(zone_arg(a[0].as_bytes())?.to_local(ts(a[1])))
    },
    "timestamp_izone" => |cx, a| {
        if !is_finite_ts(ts(a[1])) {
            return Ok(a[1].to_owned());
        }
        checked(ts(a[1]).saturating_sub(zone_interval(cx, a[0])? * USECS_PER_SEC))
    },
    "timestamptz_izone" => |cx, a| {
        if !is_finite_ts(ts(a[1])) {
            return Ok(a[1].to_owned());
        }
        checked(ts(a[1]).saturating_add(zone_interval(cx, a[0])? * USECS_PER_SEC))
    },
    "timetz_zone" => |cx, a| {
        let east = match zone_arg(a[0].as_bytes())? {
            ZoneArg::Offset(o) => o,
            ZoneArg::Zone(z) => utc_to_local(&z, cx.transaction_timestamp()).1,
        };
        Ok(shifted_timetz(a[1], -east))
    },
    "timetz_izone" => |cx, a| {
        let east = zone_interval(cx, a[0])? as i32;
        Ok(shifted_timetz(a[1], east.wrapping_neg()))
    },
    "float8_timestamptz" => |_, a| {
        let seconds = a[0].as_f64();
        if seconds.is_nan() {
            return Err(pg_err!(DATETIME_VALUE_OUT_OF_RANGE, "timestamp cannot be NaN"));
        }
        if seconds.is_infinite() {
            let end = if seconds < 0.0 { TIMESTAMP_NOBEGIN } else { TIMESTAMP_NOEND };
            return Ok(Datum::int8(end));
        }
        let out = || {
            let shown = values::float::format_g(seconds, 6);
            pg_err!(DATETIME_VALUE_OUT_OF_RANGE, "timestamp out of range: \"{shown}\"")
        };
        let low = (TIMESTAMP_MIN / USECS_PER_SEC + EPOCH_UNIX) as f64;
        let high = (TIMESTAMP_END / USECS_PER_SEC + EPOCH_UNIX) as f64;
        if seconds < low || seconds >= high {
            return Err(out());
        }
        let t = ((seconds - EPOCH_UNIX as f64) * 1e6).round_ties_even() as i64;
        if is_valid_timestamp(t) { Ok(Datum::int8(t)) } else { Err(out()) }
    },
    "now" => |cx, _| Ok(Datum::int8(cx.transaction_timestamp())),
    "statement_timestamp" => |cx, _| Ok(Datum::int8(cx.statement_timestamp())),
    "clock_timestamp" => |cx, _| Ok(Datum::int8(cx.clock_timestamp())),
}
