//! EXTRACT (numeric) and date_part (float8). Counterpart: timestamp.c, date.c.

use super::calendar::{
    EPOCH_JDATE, EPOCH_UNIX, Fields, SECS_PER_DAY, UNIX_EPOCH_JDATE, USECS_PER_DAY, USECS_PER_HOUR,
    USECS_PER_MINUTE, USECS_PER_SEC, date2j, is_finite_date, is_finite_ts, iso_week, j2date, j2day,
};
use super::convert::{timetz_parts, utc_to_local};
use super::interval::{Interval, Unit, token, unit};
use numeric::io::parse;
use numeric::num::Num;
use pgerror::{PgError, Result, pg_err};
use values::datum::{Datum, DatumRef};
use values::fn_context::FnContext;

/// A field that can be extracted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Part {
    Unit(Unit),
    Dow,
    IsoDow,
    Doy,
    IsoYear,
    Julian,
    Epoch,
    Zone,
    ZoneHour,
    ZoneMinute,
}

fn part(word: &str) -> Option<Part> {
    Some(match token(word) {
        "dow" => Part::Dow,
        "isodow" => Part::IsoDow,
        "doy" => Part::Doy,
        "isoyear" => Part::IsoYear,
        "j" | "jd" | "julian" => Part::Julian,
        "epoch" => Part::Epoch,
        "timezone" => Part::Zone,
        "timezone_h" => Part::ZoneHour,
        "timezone_m" => Part::ZoneMinute,
        word => Part::Unit(unit(word)?),
    })
}

/// A result before conversion to numeric or float8. Times are in microseconds.
enum Value {
    Int(i64),
    Second(i64),
    Milli(i64),
    Epoch(i128),
    /// Julian day and microseconds of the day.
    Julian(i64, i64),
    Infinite(bool),
    Null,
}

fn decimal(us: i128, scale: i32) -> Num {
    let mut n = Num::from(us).times(&parse(format!("1e-{scale}").as_bytes()).expect("a number"));
    n.round(scale);
    n
}

impl Value {
    fn numeric(self) -> Result<Datum> {
        match self {
            Value::Int(v) => Num::from(v).datum(),
            Value::Second(us) => decimal(us.into(), 6).datum(),
            Value::Milli(us) => decimal(us.into(), 3).datum(),
            Value::Epoch(us) => decimal(us, 6).datum(),
            Value::Julian(day, us) => {
                let (us, whole) = (Num::from(us), Num::from(USECS_PER_DAY));
                let scale = numeric::arith::select_div_scale(&us, &whole);
                Num::from(day).plus(&us.divided(&whole, scale, true)?).datum()
            }
            Value::Infinite(positive) => {
                let sign =
                    if positive { numeric::num::Sign::PosInf } else { numeric::num::Sign::NegInf };
                Num::special(sign).datum()
            }
            Value::Null => Ok(Datum::Null),
        }
    }

    fn float(self) -> Result<Datum> {
        Ok(Datum::float8(match self {
            Value::Int(v) => v as f64,
            Value::Second(us) => (us / USECS_PER_SEC) as f64 + (us % USECS_PER_SEC) as f64 / 1e6,
            Value::Milli(us) => {
                (us / USECS_PER_SEC) as f64 * 1000.0 + (us % USECS_PER_SEC) as f64 / 1000.0
            }
            Value::Epoch(us) => us as f64 / 1e6,
            Value::Julian(day, us) => day as f64 + us as f64 / USECS_PER_DAY as f64,
            Value::Infinite(true) => f64::INFINITY,
            Value::Infinite(false) => f64::NEG_INFINITY,
            Value::Null => return Ok(Datum::Null),
        }))
    }
}

/// The name of a field or unit, folded to lower case and truncated like an identifier.
pub(super) fn word_of(d: DatumRef<'_>) -> String {
    let word = d.as_bytes();
    let word = &word[..values::chars::clip(word, 63, values::settings::Encoding::Utf8)];
    String::from_utf8_lossy(word).to_ascii_lowercase()
}

fn unsupported(word: &str, type_name: &str) -> PgError {
    pg_err!(FEATURE_NOT_SUPPORTED, "unit \"{word}\" not supported for type {type_name}")
}

pub(super) fn unrecognized(word: &str, type_name: &str) -> PgError {
    pg_err!(INVALID_PARAMETER_VALUE, "unit \"{word}\" not recognized for type {type_name}")
}

fn lookup(word: &str, type_name: &str) -> Result<Part> {
    part(word).ok_or_else(|| unrecognized(word, type_name))
}

/// Fields of a calendar date.
fn calendar(p: Part, f: &Fields) -> Option<Value> {
    let y = i64::from(f.year);
    Some(Value::Int(match p {
        Part::Unit(Unit::Day) => f.day.into(),
        Part::Unit(Unit::Month) => f.month.into(),
        Part::Unit(Unit::Quarter) => ((f.month - 1) / 3 + 1).into(),
        Part::Unit(Unit::Week) => iso_week(f.year, f.month, f.day).0.into(),
        Part::Unit(Unit::Year) => {
            if y > 0 {
                y
            } else {
                y - 1
            }
        }
        Part::Unit(Unit::Decade) => {
            if y >= 0 {
                y / 10
            } else {
                -((8 - (y - 1)) / 10)
            }
        }
        Part::Unit(Unit::Century) => {
            if y > 0 {
                (y + 99) / 100
            } else {
                -((99 - (y - 1)) / 100)
            }
        }
        Part::Unit(Unit::Millennium) => {
            if y > 0 {
                (y + 999) / 1000
            } else {
                -((999 - (y - 1)) / 1000)
            }
        }
        Part::IsoYear => {
            let y = i64::from(iso_week(f.year, f.month, f.day).1);
            if y > 0 { y } else { y - 1 }
        }
        Part::Dow => j2day(date2j(f.year, f.month, f.day)).into(),
        Part::IsoDow => match j2day(date2j(f.year, f.month, f.day)) {
            0 => 7,
            d => d.into(),
        },
        Part::Doy => f.day_of_year().into(),
        _ => return None,
    }))
}

/// Fields of a time of day in microseconds.
fn clock(p: Part, t: i64) -> Option<Value> {
    let second = t % USECS_PER_MINUTE;
    Some(match p {
        Part::Unit(Unit::Microsecond) => Value::Int(second),
        Part::Unit(Unit::Millisecond) => Value::Milli(second),
        Part::Unit(Unit::Second) => Value::Second(second),
        Part::Unit(Unit::Minute) => Value::Int(t / USECS_PER_MINUTE % 60),
        Part::Unit(Unit::Hour) => Value::Int(t / USECS_PER_HOUR),
        _ => return None,
    })
}

/// A field of an infinite timestamp: monotonic fields are infinite, periodic ones NULL.
fn of_infinite(p: Part, positive: bool) -> Value {
    match p {
        Part::Unit(Unit::Year | Unit::Decade | Unit::Century | Unit::Millennium)
        | Part::Julian
        | Part::IsoYear
        | Part::Epoch => Value::Infinite(positive),
        _ => Value::Null,
    }
}

fn zone_part(p: Part, east: i32) -> Option<Value> {
    Some(Value::Int(match p {
        Part::Zone => east.into(),
        Part::ZoneHour => (east / 3600).into(),
        Part::ZoneMinute => (east / 60 % 60).into(),
        _ => return None,
    }))
}

fn timestamp(cx: &dyn FnContext, a: &[DatumRef<'_>], tz: bool) -> Result<Value> {
    let name = if tz { "timestamp with time zone" } else { "timestamp without time zone" };
    let word = word_of(a[0]);
    let p = lookup(&word, name)?;
    let t = a[1].as_i64();
    if !is_finite_ts(t) {
        return Ok(of_infinite(p, t > 0));
    }
    if p == Part::Epoch {
        return Ok(Value::Epoch(i128::from(t) + i128::from(EPOCH_UNIX * USECS_PER_SEC)));
    }
    let (local, east) = if tz { utc_to_local(&cx.settings().time_zone, t) } else { (t, 0) };
    let f = Fields::of_timestamp(local);
    let time = local.rem_euclid(USECS_PER_DAY);
    if p == Part::Julian {
        return Ok(Value::Julian(date2j(f.year, f.month, f.day).into(), time));
    }
    calendar(p, &f)
        .or_else(|| clock(p, time))
        .or_else(|| if tz { zone_part(p, east) } else { None })
        .ok_or_else(|| unsupported(&word, name))
}

fn date(a: &[DatumRef<'_>]) -> Result<Value> {
    let word = word_of(a[0]);
    let p = lookup(&word, "date")?;
    let d = a[1].as_i32();
    let clocked = clock(p, 0).is_some() || zone_part(p, 0).is_some();
    if !is_finite_date(d) {
        if clocked {
            return Err(unsupported(&word, "date"));
        }
        return Ok(of_infinite(p, d > 0));
    }
    let (year, month, day) = j2date(d + EPOCH_JDATE);
    match p {
        Part::Julian => Ok(Value::Int(i64::from(d) + i64::from(EPOCH_JDATE))),
        Part::Epoch => Ok(Value::Int(
            (i64::from(d) + i64::from(EPOCH_JDATE - UNIX_EPOCH_JDATE)) * SECS_PER_DAY,
        )),
        p => calendar(p, &Fields { year, month, day, ..Fields::default() })
            .ok_or_else(|| unsupported(&word, "date")),
    }
}

fn time(a: &[DatumRef<'_>]) -> Result<Value> {
    let name = "time without time zone";
    let word = word_of(a[0]);
    let p = lookup(&word, name)?;
    let t = a[1].as_i64();
    if p == Part::Epoch {
        return Ok(Value::Epoch(t.into()));
    }
    clock(p, t).ok_or_else(|| unsupported(&word, name))
}

fn time_tz(a: &[DatumRef<'_>]) -> Result<Value> {
    let name = "time with time zone";
    let word = word_of(a[0]);
    let p = lookup(&word, name)?;
    let (t, west) = timetz_parts(a[1]);
    if p == Part::Epoch {
        return Ok(Value::Epoch(i128::from(t) + i128::from(west) * i128::from(USECS_PER_SEC)));
    }
    clock(p, t).or_else(|| zone_part(p, -west)).ok_or_else(|| unsupported(&word, name))
}

fn interval(a: &[DatumRef<'_>]) -> Result<Value> {
    let word = word_of(a[0]);
    let p = lookup(&word, "interval")?;
    let i = Interval::of(a[1]);
    let (year, month, day, ..) = i.parts();
    Ok(match p {
        Part::Unit(Unit::Day) => Value::Int(day.into()),
        Part::Unit(Unit::Month) => Value::Int(month.into()),
        Part::Unit(Unit::Quarter) => Value::Int((month / 3 + 1).into()),
        Part::Unit(Unit::Year) => Value::Int(year.into()),
        Part::Unit(Unit::Decade) => Value::Int((year / 10).into()),
        Part::Unit(Unit::Century) => Value::Int((year / 100).into()),
        Part::Unit(Unit::Millennium) => Value::Int((year / 1000).into()),
        Part::Epoch => {
            // Years have 365.25 days, months 30.
            let quarter_days =
                1461 * i128::from(year) + 120 * i128::from(month) + 4 * i128::from(day);
            Value::Epoch(quarter_days * i128::from(USECS_PER_DAY / 4) + i128::from(i.time))
        }
        p => return clock(p, i.time).ok_or_else(|| unsupported(&word, "interval")),
    })
}

scalars! { FNS;
    "extract_date" => |_, a| date(a)?.numeric(),
    "extract_time" => |_, a| time(a)?.numeric(),
    "extract_timetz" => |_, a| time_tz(a)?.numeric(),
    "extract_timestamp" => |cx, a| timestamp(cx, a, false)?.numeric(),
    "extract_timestamptz" => |cx, a| timestamp(cx, a, true)?.numeric(),
    "extract_interval" => |_, a| interval(a)?.numeric(),
    "time_part" => |_, a| time(a)?.float(),
    "timetz_part" => |_, a| time_tz(a)?.float(),
    "timestamp_part" => |cx, a| timestamp(cx, a, false)?.float(),
    "timestamptz_part" => |cx, a| timestamp(cx, a, true)?.float(),
    "interval_part" => |_, a| interval(a)?.float(),
}
