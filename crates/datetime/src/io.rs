//! Input, output, receive and send functions and typmods of the date and time types. Counterpart:
//! date.c, timestamp.c.

use super::calendar::{
    DATE_END, DATE_MIN, DATE_NOBEGIN, DATE_NOEND, EPOCH_JDATE, EPOCH_UNIX, Fields,
    TIMESTAMP_NOBEGIN, TIMESTAMP_NOEND, UNIX_EPOCH_JDATE, USECS_PER_DAY, USECS_PER_SEC, date_range,
    date2j, is_finite_date, is_finite_ts, is_valid_julian, is_valid_timestamp, j2date,
    precision_typmod, round_micros, time_of, timestamp_range,
};
use super::convert::{timetz, timetz_parts, utc_to_local};
use super::interval::Interval;
use super::parse::{DateTime, Kind, ParseError, decode, parse_error, tokenize};
use super::{interval, output};
use pgerror::{Result, pg_err};
use values::datum::{Datum, DatumRef};
use values::fn_context::FnContext;
use values::settings::{DateStyle, Settings};
use values::type_io::Reader;

fn typmod(a: &[DatumRef<'_>]) -> i32 {
    a.get(2).map_or(-1, |t| t.as_i32())
}

fn read(cx: &dyn FnContext, text: &[u8], name: &str, time_only: bool) -> Result<DateTime> {
    let done = tokenize(text).and_then(|f| {
        if f.is_empty() { Err(ParseError::Format) } else { decode(cx, &f, time_only) }
    });
    done.map_err(|f| parse_error(f, text, name))
}

fn date_in(cx: &dyn FnContext, text: &[u8]) -> Result<i32> {
    let d = read(cx, text, "date", false)?;
    match d.kind {
        Kind::Infinity => return Ok(DATE_NOEND),
        Kind::NegInfinity => return Ok(DATE_NOBEGIN),
        Kind::Epoch => return Ok(UNIX_EPOCH_JDATE - EPOCH_JDATE),
        Kind::Finite => {}
    }
    let out = || {
        pg_err!(
            DATETIME_VALUE_OUT_OF_RANGE,
            "date out of range: \"{}\"",
            values::type_io::lossy_text(text)
        )
    };
    let f = d.fields;
    if !is_valid_julian(f.year, f.month) {
        return Err(out());
    }
    let day = date2j(f.year, f.month, f.day) - EPOCH_JDATE;
    if (DATE_MIN..DATE_END).contains(&day) { Ok(day) } else { Err(out()) }
}

/// Seconds west of Greenwich of a parsed time's zone, or of the session's zone if it names none.
fn west_of(cx: &dyn FnContext, d: &DateTime) -> i32 {
    if let Some(east) = d.offset {
        return -east;
    }
    let zone = d.zone.as_ref().unwrap_or(&cx.settings().time_zone);
    let local = if d.has_date {
        d.fields.timestamp().unwrap_or(0)
    } else {
        let (now, _) = utc_to_local(&cx.settings().time_zone, cx.transaction_timestamp());
        let f = &d.fields;
        now.div_euclid(USECS_PER_DAY) * USECS_PER_DAY
            + time_of(f.hour, f.minute, f.second, f.micros)
    };
    -zone.at_local(local.div_euclid(USECS_PER_SEC) + EPOCH_UNIX)
}

fn time_in(cx: &dyn FnContext, text: &[u8], typmod: i32) -> Result<i64> {
    let d = read(cx, text, "time", true)?;
    let f = d.fields;
    Ok(round_micros(time_of(f.hour, f.minute, f.second, f.micros), typmod))
}

fn timetz_in(cx: &dyn FnContext, text: &[u8], typmod: i32) -> Result<Datum> {
    let d = read(cx, text, "time with time zone", true)?;
    let f = d.fields;
    let t = round_micros(time_of(f.hour, f.minute, f.second, f.micros), typmod);
    Ok(timetz(t, west_of(cx, &d)))
}

fn timestamp_in(cx: &dyn FnContext, text: &[u8], typmod: i32, tz: bool) -> Result<i64> {
    let name = if tz { "timestamp with time zone" } else { "timestamp" };
    let d = read(cx, text, name, false)?;
    let out = || {
        pg_err!(
            DATETIME_VALUE_OUT_OF_RANGE,
            "timestamp out of range: \"{}\"",
            values::type_io::lossy_text(text)
        )
    };
    let t = match d.kind {
        Kind::Infinity => return Ok(TIMESTAMP_NOEND),
        Kind::NegInfinity => return Ok(TIMESTAMP_NOBEGIN),
        Kind::Epoch => -EPOCH_UNIX * USECS_PER_SEC,
        Kind::Finite => {
            let f = &d.fields;
            if !is_valid_julian(f.year, f.month) {
                return Err(out());
            }
            let days = i64::from(date2j(f.year, f.month, f.day) - EPOCH_JDATE);
            let time = time_of(f.hour, f.minute, f.second, f.micros);
            let local = days.checked_mul(USECS_PER_DAY).and_then(|t| t.checked_add(time));
            let local = local.ok_or_else(out)?;
            if tz {
                let west = match d.offset {
                    Some(east) => -east,
                    None => {
                        let zone = d.zone.as_ref().unwrap_or(&cx.settings().time_zone);
                        -zone.at_local(local.div_euclid(USECS_PER_SEC) + EPOCH_UNIX)
                    }
                };
                local.checked_add(i64::from(west) * USECS_PER_SEC).ok_or_else(out)?
            } else {
                local
            }
        }
    };
    if !is_valid_timestamp(t) {
        return Err(out());
    }
    checked_scale(round_micros(t, typmod))
}

fn checked_scale(t: i64) -> Result<i64> {
    if is_valid_timestamp(t) { Ok(t) } else { Err(timestamp_range()) }
}

fn special(t: i64) -> Option<Datum> {
    match t {
        TIMESTAMP_NOBEGIN => Some(Datum::text("-infinity")),
        TIMESTAMP_NOEND => Some(Datum::text("infinity")),
        _ => None,
    }
}

fn timestamp_out(s: &Settings, t: i64, tz: bool) -> Datum {
    if let Some(d) = special(t) {
        return d;
    }
    if !tz {
        return Datum::text(&output::timestamp_text(&Fields::of_timestamp(t), None, s));
    }
    let unix = t.div_euclid(USECS_PER_SEC) + EPOCH_UNIX;
    let (east, _, name) = s.time_zone.at_unix(unix);
    let local = t + i64::from(east) * USECS_PER_SEC;
    Datum::text(&output::timestamp_text(&Fields::of_timestamp(local), Some((east, &name)), s))
}

fn date_out(s: &Settings, d: i32) -> Datum {
    match d {
        DATE_NOBEGIN => Datum::text("-infinity"),
        DATE_NOEND => Datum::text("infinity"),
        d => {
            let (y, m, day) = j2date(d.wrapping_add(EPOCH_JDATE));
            Datum::text(&output::date_text(y, m, day, s))
        }
    }
}

/// A date or time in ISO 8601 format, independent of `DateStyle`, as JSON and XML require.
pub fn iso8601(settings: &Settings, ty: ids::Oid, d: DatumRef<'_>) -> String {
    let settings = Settings { date_style: DateStyle::Iso, ..settings.clone() };
    let text = match ty {
        values::oids::DATE => date_out(&settings, d.as_i32()),
        values::oids::TIMESTAMP => timestamp_out(&settings, d.as_i64(), false),
        _ => timestamp_out(&settings, d.as_i64(), true),
    };
    let text = String::from_utf8_lossy(text.as_ref().as_bytes()).into_owned();
    let Some((day, clock)) = text.split_once(' ') else { return text };
    if ty == values::oids::DATE {
        return text;
    }
    let (clock, era) = clock.split_once(' ').map_or((clock, ""), |(c, e)| (c, e));
    let mut out = format!("{day}T{clock}");
    // Offsets of whole hours are written with minutes too.
    if ty == values::oids::TIMESTAMPTZ && clock[clock.len() - 3..].starts_with(['+', '-']) {
        out.push_str(":00");
    }
    if !era.is_empty() {
        out.push(' ');
        out.push_str(era);
    }
    out
}

fn timestamp_recv(a: &[DatumRef<'_>]) -> Result<Datum> {
    let t = Reader::new(a[0].as_bytes()).i64()?;
    if !is_finite_ts(t) {
        return Ok(Datum::int8(t));
    }
    if !is_valid_timestamp(t) {
        return Err(timestamp_range());
    }
    Ok(Datum::int8(checked_scale(round_micros(t, typmod(a)))?))
}

fn scaled(d: DatumRef<'_>, typmod: i32) -> Result<Datum> {
    let t = d.as_i64();
    if !is_finite_ts(t) {
        return Ok(Datum::int8(t));
    }
    if !(-1..=6).contains(&typmod) {
        return Err(pg_err!(
            INVALID_PARAMETER_VALUE,
            "timestamp({typmod}) precision must be between 0 and 6"
        ));
    }
    // The range is not checked, as in PostgreSQL: rounding may exceed it by one unit.
    Ok(Datum::int8(round_micros(t, typmod)))
}

fn typmod_in(a: &[DatumRef<'_>], tz: bool, name: &str) -> Result<Datum> {
    Ok(Datum::int4(precision_typmod(&values::array::payload::cstring_integers(a[0])?, tz, name)?))
}

fn typmod_out(a: &[DatumRef<'_>], suffix: &str) -> Datum {
    let t = a[0].as_i32();
    Datum::text(&if t >= 0 { format!("({t}){suffix}") } else { suffix.to_string() })
}

fn check_time(t: i64) -> Result<i64> {
    if (0..=USECS_PER_DAY).contains(&t) {
        Ok(t)
    } else {
        Err(pg_err!(DATETIME_VALUE_OUT_OF_RANGE, "time out of range"))
    }
}

const WITHOUT: &str = " without time zone";
const WITH: &str = " with time zone";

scalars! { FNS;
    "date_in" => |cx, a| Ok(Datum::int4(date_in(cx, a[0].as_bytes())?)),
    "date_out" => |cx, a| Ok(date_out(cx.settings(), a[0].as_i32())),
    "date_recv" => |_, a| {
        let d = Reader::new(a[0].as_bytes()).i32()?;
        if is_finite_date(d) && !(DATE_MIN..DATE_END).contains(&d) {
            return Err(date_range());
        }
        Ok(Datum::int4(d))
    },
    "date_send" => |_, a| Ok(Datum::bytes(a[0].as_i32().to_be_bytes())),
    "time_in" => |cx, a| Ok(Datum::int8(time_in(cx, a[0].as_bytes(), typmod(a))?)),
    "time_out" => |_, a| Ok(Datum::text(&output::time_text(a[0].as_i64(), None))),
    "time_recv" => |_, a| {
        let t = check_time(Reader::new(a[0].as_bytes()).i64()?)?;
        Ok(Datum::int8(round_micros(t, typmod(a))))
    },
    "time_send" => |_, a| Ok(Datum::bytes(a[0].as_i64().to_be_bytes())),
    "timetz_in" => |cx, a| timetz_in(cx, a[0].as_bytes(), typmod(a)),
    "timetz_out" => |_, a| {
        let (t, west) = timetz_parts(a[0]);
        Ok(Datum::text(&output::time_text(t, Some(-west))))
    },
    "timetz_recv" => |_, a| {
        let mut r = Reader::new(a[0].as_bytes());
        let t = check_time(r.i64()?)?;
        let west = r.i32()?;
        if west.unsigned_abs() >= 16 * 3600 {
            return Err(pg_err!(
                INVALID_TIME_ZONE_DISPLACEMENT_VALUE,
                "time zone displacement out of range"
            ));
        }
        Ok(timetz(round_micros(t, typmod(a)), west))
    },
    "timetz_send" => |_, a| {
        let (t, west) = timetz_parts(a[0]);
        Ok(Datum::bytes([t.to_be_bytes().as_slice(), &west.to_be_bytes()].concat()))
    },
    "timestamp_in" => |cx, a| Ok(Datum::int8(timestamp_in(cx, a[0].as_bytes(), typmod(a), false)?)),
    "timestamp_out" => |cx, a| Ok(timestamp_out(cx.settings(), a[0].as_i64(), false)),
    "timestamp_recv" => |_, a| timestamp_recv(a),
    "timestamp_send" => |_, a| Ok(Datum::bytes(a[0].as_i64().to_be_bytes())),
    "timestamptz_in" =>
        |cx, a| Ok(Datum::int8(timestamp_in(cx, a[0].as_bytes(), typmod(a), true)?)),
    "timestamptz_out" => |cx, a| Ok(timestamp_out(cx.settings(), a[0].as_i64(), true)),
    "timestamptz_recv" => |_, a| timestamp_recv(a),
    "timestamptz_send" => |_, a| Ok(Datum::bytes(a[0].as_i64().to_be_bytes())),
    "interval_in" => |cx, a| Ok(interval::parse(
        a[0].as_bytes(), typmod(a), cx.settings().interval_style)?.datum()),
    "interval_out" => |cx, a| Ok(Datum::text(
        &interval::text(&Interval::of(a[0]), cx.settings().interval_style))),
    "interval_recv" => |_, a| {
        let mut r = Reader::new(a[0].as_bytes());
        let i = Interval { time: r.i64()?, day: r.i32()?, month: r.i32()? };
        Ok(interval::adjust(i, typmod(a))?.datum())
    },
    "interval_send" => |_, a| {
        let i = Interval::of(a[0]);
        Ok(Datum::bytes([
            i.time.to_be_bytes().as_slice(), &i.day.to_be_bytes(), &i.month.to_be_bytes(),
        ].concat()))
    },
    "time_scale" => |_, a| Ok(Datum::int8(round_micros(a[0].as_i64(), a[1].as_i32()))),
    "timetz_scale" => |_, a| {
        let (t, west) = timetz_parts(a[0]);
        Ok(timetz(round_micros(t, a[1].as_i32()), west))
    },
    "timestamp_scale" => |_, a| scaled(a[0], a[1].as_i32()),
    "timestamptz_scale" => |_, a| scaled(a[0], a[1].as_i32()),
    "interval_scale" =>
        |_, a| Ok(interval::adjust(Interval::of(a[0]), a[1].as_i32())?.datum()),
    "timetypmodin" => |_, a| typmod_in(a, false, "TIME"),
    "timetztypmodin" => |_, a| typmod_in(a, true, "TIME"),
    "timestamptypmodin" => |_, a| typmod_in(a, false, "TIMESTAMP"),
    "timestamptztypmodin" => |_, a| typmod_in(a, true, "TIMESTAMP"),
    "timetypmodout" => |_, a| Ok(typmod_out(a, WITHOUT)),
    "timetztypmodout" => |_, a| Ok(typmod_out(a, WITH)),
    "timestamptypmodout" => |_, a| Ok(typmod_out(a, WITHOUT)),
    "timestamptztypmodout" => |_, a| Ok(typmod_out(a, WITH)),
    "intervaltypmodin" => |_, a| Ok(Datum::int4(
        interval::typmod_of(&values::array::payload::cstring_integers(a[0])?)?)),
    "intervaltypmodout" => |_, a| Ok(Datum::text(&interval::typmod_text(a[0].as_i32())?)),
}
