//! Intervals: input, output, typmods. The payload is time (i64 microseconds), days (i32), months
//! (i32). Counterpart: timestamp.c, datetime.c.

use super::calendar::{
    USECS_PER_DAY, USECS_PER_HOUR, USECS_PER_MINUTE, USECS_PER_SEC, interval_range, round_micros,
    time_of,
};
use super::parse::{
    ParseError, Parsed, Token, decode_time, fraction_of, leading_number, parse_error, tokenize,
};
use pgerror::{PgError, Result, pg_err};
use values::datum::{Datum, DatumRef};
use values::settings::IntervalStyle;

/// An interval.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Interval {
    pub time: i64,
    pub day: i32,
    pub month: i32,
}

impl Interval {
    /// Reads a datum.
    pub fn of(d: DatumRef<'_>) -> Interval {
        let b = d.as_bytes();
        let word = |at: usize| i32::from_le_bytes([b[at], b[at + 1], b[at + 2], b[at + 3]]);
        let mut time = [0; 8];
        time.copy_from_slice(&b[..8]);
        Interval { time: i64::from_le_bytes(time), day: word(8), month: word(12) }
    }

    /// The interval as a datum.
    pub fn datum(self) -> Datum {
        let mut out = self.time.to_le_bytes().to_vec();
        out.extend_from_slice(&self.day.to_le_bytes());
        out.extend_from_slice(&self.month.to_le_bytes());
        Datum::bytes(out)
    }

    /// Years, months, days, hours, minutes, seconds, microseconds; each has the sign of its field.
    pub fn parts(self) -> (i32, i32, i32, i64, i32, i32, i32) {
        (
            self.month / 12,
            self.month % 12,
            self.day,
            self.time / USECS_PER_HOUR,
            (self.time / USECS_PER_MINUTE % 60) as i32,
            (self.time / USECS_PER_SEC % 60) as i32,
            (self.time % USECS_PER_SEC) as i32,
        )
    }
}

/// Units of a quantity.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Unit {
    Microsecond,
    Millisecond,
    Second,
    Minute,
    Hour,
    Day,
    Week,
    Month,
    Quarter,
    Year,
    Decade,
    Century,
    Millennium,
}

/// The significant part of a word: date and time keywords are compared by their first ten bytes
/// (`TOKMAXLEN`).
pub(super) fn token(word: &str) -> &str {
    let end = word.len().min(10);
    // If a multibyte character crosses the limit, the word is longer than any keyword, so it need
    // not be truncated.
    word.get(..end).unwrap_or(word)
}

/// Parses a unit name of an interval.
pub fn unit(word: &str) -> Option<Unit> {
    Some(match token(word) {
        "us" | "usec" | "usecs" | "microsecon" | "useconds" | "usecond" => Unit::Microsecond,
        "ms" | "msec" | "msecs" | "millisecon" | "mseconds" | "msecond" => Unit::Millisecond,
        "s" | "sec" | "secs" | "second" | "seconds" => Unit::Second,
        "m" | "min" | "mins" | "minute" | "minutes" => Unit::Minute,
        "h" | "hr" | "hrs" | "hour" | "hours" => Unit::Hour,
        "d" | "day" | "days" => Unit::Day,
        "w" | "week" | "weeks" => Unit::Week,
        "mon" | "mons" | "month" | "months" => Unit::Month,
        "qtr" | "quarter" => Unit::Quarter,
        "y" | "yr" | "yrs" | "year" | "years" => Unit::Year,
        "dec" | "decs" | "decade" | "decades" => Unit::Decade,
        "c" | "cent" | "century" | "centuries" => Unit::Century,
        "mil" | "mils" | "millennia" | "millennium" => Unit::Millennium,
        _ => return None,
    })
}

// Bits of the range of an INTERVAL typmod, numbered as the token codes of the units.
const MONTH_BIT: i32 = 1 << 1;
const YEAR_BIT: i32 = 1 << 2;
const DAY_BIT: i32 = 1 << 3;
const HOUR_BIT: i32 = 1 << 10;
const MINUTE_BIT: i32 = 1 << 11;
const SECOND_BIT: i32 = 1 << 12;
const FULL_RANGE: i32 = 0x7fff;

fn range_of(typmod: i32) -> i32 {
    if typmod < 0 { FULL_RANGE } else { typmod >> 16 & 0x7fff }
}

/// Sums of the fields during parsing, in wider types, so that an overflow is detected once at the
/// end.
#[derive(Default)]
struct Sum {
    time: i64,
    day: i32,
    month: i32,
    year: i32,
}

/// Adds `whole` units of `scale` to a field; an error where the field or the number of units
/// overflows.
fn add_to(field: &mut i32, whole: i64, scale: i32) -> Parsed<()> {
    let whole = i32::try_from(whole).map_err(|_| ParseError::Overflow)?;
    let sum = whole.checked_mul(scale).and_then(|scaled| field.checked_add(scaled));
    *field = sum.ok_or(ParseError::Overflow)?;
    Ok(())
}

impl Sum {
    fn add(&mut self, unit: Unit, whole: i64, frac: f64) -> Parsed<()> {
        let over = || ParseError::Overflow;
        let add_time = |s: &mut Sum, unit_us: i64| -> Parsed<()> {
            let t = whole.checked_mul(unit_us).ok_or_else(over)?;
            let part = (frac * unit_us as f64).round_ties_even() as i64;
            let t = t.checked_add(part).ok_or_else(over)?;
            s.time = s.time.checked_add(t).ok_or_else(over)?;
            Ok(())
        };
        match unit {
            Unit::Microsecond => {
                let t = whole.checked_add(frac.round_ties_even() as i64).ok_or_else(over)?;
                self.time = self.time.checked_add(t).ok_or_else(over)?;
            }
            Unit::Millisecond => add_time(self, 1000)?,
            Unit::Second => add_time(self, USECS_PER_SEC)?,
            Unit::Minute => add_time(self, USECS_PER_MINUTE)?,
            Unit::Hour => add_time(self, USECS_PER_HOUR)?,
            Unit::Day => {
                add_to(&mut self.day, whole, 1)?;
                self.fraction_days(frac, 1)?;
            }
            Unit::Week => {
                add_to(&mut self.day, whole, 7)?;
                self.fraction_of_days(frac, 7)?;
            }
            Unit::Month => {
                add_to(&mut self.month, whole, 1)?;
                self.fraction_of_days(frac, 30)?;
            }
            Unit::Quarter => add_to(&mut self.month, whole, 3)?,
            Unit::Year | Unit::Decade | Unit::Century | Unit::Millennium => {
                let years = match unit {
                    Unit::Year => 1,
                    Unit::Decade => 10,
                    Unit::Century => 100,
                    _ => 1000,
                };
                add_to(&mut self.year, whole, years)?;
                let months = (frac * f64::from(years) * 12.0).round_ties_even() as i64;
                add_to(&mut self.month, months, 1)?;
            }
        }
        Ok(())
    }

    /// Adds a fraction of a unit of `scale` days: whole days to the days, the remainder to the
    /// time.
    fn fraction_of_days(&mut self, frac: f64, scale: i32) -> Parsed<()> {
        let days = frac * f64::from(scale);
        let whole = days as i64;
        add_to(&mut self.day, whole, 1)?;
        self.fraction_days(days - whole as f64, 1)
    }

    fn fraction_days(&mut self, frac: f64, days: i64) -> Parsed<()> {
        let us = (frac * (days * USECS_PER_DAY) as f64).round_ties_even() as i64;
        self.time = self.time.checked_add(us).ok_or(ParseError::Overflow)?;
        Ok(())
    }

    fn finish(self) -> Parsed<Interval> {
        // Each field fits its type; years and months together may not.
        let months = i64::from(self.year) * 12 + i64::from(self.month);
        let month = i32::try_from(months).map_err(|_| ParseError::IntervalRange)?;
        Ok(Interval { time: self.time, day: self.day, month })
    }
}

fn unit_of_range(range: i32) -> Unit {
    // The unit of a bare number is the last unit of the range, or seconds.
    const R: &[(i32, Unit)] = &[
        (SECOND_BIT, Unit::Second),
        (MINUTE_BIT, Unit::Minute),
        (HOUR_BIT, Unit::Hour),
        (DAY_BIT, Unit::Day),
        (MONTH_BIT, Unit::Month),
        (YEAR_BIT, Unit::Year),
    ];
    if range == FULL_RANGE {
        return Unit::Second;
    }
    R.iter().find(|(bit, _)| range & bit != 0).map_or(Unit::Second, |(_, u)| *u)
}

/// The microseconds of a time of day with colons, by the fields of the interval's type.
fn time_in_range(body: &str, range: i32) -> Parsed<i64> {
    let (h, m, s, us) = decode_time(body, range == MINUTE_BIT | SECOND_BIT)?;
    h.checked_mul(USECS_PER_HOUR)
        .and_then(|t| t.checked_add(time_of(0, m, s, us)))
        .ok_or(ParseError::Overflow)
}

/// The unit of the next number to the left.
#[derive(Clone, Copy)]
enum NextUnit {
    /// No unit has been read: the type of the interval decides.
    Default,
    Of(Unit),
    /// A word that is not the unit of a number.
    Unusable,
}

/// The fields of an interval, which are read from right to left.
struct Fields {
    range: i32,
    /// A minus sign of the first field applies to all.
    all_negative: bool,
    sum: Sum,
    /// The units that have been read.
    seen: u32,
    next: NextUnit,
    ago: bool,
}

impl Fields {
    /// Marks units as read; an error if one of them has been read.
    fn once(&mut self, units: &[Unit]) -> Parsed<()> {
        let bits = units.iter().fold(0, |bits, u| bits | 1 << *u as u32);
        let twice = self.seen & bits != 0;
        self.seen |= bits;
        if twice { Err(ParseError::Format) } else { Ok(()) }
    }

    fn time(&mut self, micros: i64, negative: bool) -> Parsed<()> {
        let t = if negative || self.all_negative { -micros } else { micros };
        self.sum.time = self.sum.time.checked_add(t).ok_or(ParseError::Overflow)?;
        self.next = NextUnit::Of(Unit::Day);
        use Unit::{Hour, Microsecond, Millisecond, Minute, Second};
        self.once(&[Hour, Minute, Second, Millisecond, Microsecond])
    }

    /// A number, or "years-months".
    fn number(&mut self, text: &str) -> Parsed<()> {
        let negative = text.starts_with('-');
        let (mut whole, rest) = leading_number(text).ok_or(ParseError::Overflow)?;
        let mut frac = 0.0;
        let mut unit = match self.next {
            NextUnit::Default => Some(unit_of_range(self.range)),
            NextUnit::Of(unit) => Some(unit),
            NextUnit::Unusable => None,
        };
        match rest.as_bytes().first() {
            None => {}
            Some(b'-') => {
                whole = years_and_months(whole, &rest[1..], negative)?;
                unit = Some(Unit::Month);
            }
            Some(b'.') => {
                let part = fraction_of(rest)?;
                frac = if negative { -part } else { part };
            }
            Some(_) => return Err(ParseError::Format),
        }
        if self.all_negative {
            (whole, frac) = (if whole > 0 { -whole } else { whole }, -frac.abs());
        }
        // A quarter is a unit of intervals, but not of numbers.
        let unit = unit.filter(|u| *u != Unit::Quarter).ok_or(ParseError::Format)?;
        self.sum.add(unit, whole, frac)?;
        // "1 2" is one day and two hours if the range ends with hours.
        self.next = NextUnit::Of(if unit == Unit::Hour { Unit::Day } else { unit });
        match unit {
            Unit::Second if frac != 0.0 => {
                self.once(&[Unit::Second, Unit::Millisecond, Unit::Microsecond])
            }
            unit => self.once(&[unit]),
        }
    }

    /// A unit, or "ago". A unit without a number has no effect.
    fn word(&mut self, text: &str) -> Parsed<()> {
        self.next = match text {
            "ago" => {
                self.ago = true;
                NextUnit::Unusable
            }
            "timezone" => NextUnit::Unusable,
            _ => NextUnit::Of(unit(text).ok_or(ParseError::Format)?),
        };
        Ok(())
    }
}

/// The months of "years-months".
fn years_and_months(years: i64, months: &str, negative: bool) -> Parsed<i64> {
    let (months, rest) = leading_number(months).ok_or(ParseError::Overflow)?;
    if !(0..12).contains(&months) {
        return Err(ParseError::Overflow);
    }
    if !rest.is_empty() {
        return Err(ParseError::Format);
    }
    let months = if negative { -months } else { months };
    let total = years.checked_mul(12).and_then(|m| m.checked_add(months));
    total.ok_or(ParseError::Overflow)
}

fn parse_traditional(text: &[u8], range: i32, style: IntervalStyle) -> Parsed<Interval> {
    let fields = tokenize(text)?;
    // In SQL standard style a leading minus sign applies to all fields if no other sign is given.
    let all_negative = style == IntervalStyle::SqlStandard
        && fields.first().is_some_and(|(_, t)| t.starts_with('-'))
        && !fields[1..].iter().any(|(_, t)| t.starts_with(['+', '-']));
    let sum = Sum::default();
    let mut f = Fields { range, all_negative, sum, seen: 0, next: NextUnit::Default, ago: false };
    for (token_type, text) in fields.iter().rev() {
        match token_type {
            Token::Time => f.time(time_in_range(text, range)?, false)?,
            Token::Tz => {
                // A text that is not a time may still be a number.
                let time = text.contains(':').then(|| time_in_range(&text[1..], range));
                match time {
                    Some(Ok(t)) => f.time(t, text.starts_with('-'))?,
                    _ => f.number(text)?,
                }
            }
            Token::Number | Token::Date => f.number(text)?,
            Token::Word | Token::Special => f.word(text)?,
        }
    }
    if f.seen == 0 {
        return Err(ParseError::Format);
    }
    let Fields { mut sum, ago, .. } = f;
    if ago {
        let negated = |v: i32| v.checked_neg().ok_or(ParseError::Overflow);
        sum = Sum {
            time: sum.time.checked_neg().ok_or(ParseError::Overflow)?,
            day: negated(sum.day)?,
            month: negated(sum.month)?,
            year: negated(sum.year)?,
        };
    }
    sum.finish()
}

/// Parses a number of the ISO 8601 format, which may have an exponent, as a double: integer part
/// and fraction.
fn iso_number(text: &str) -> Parsed<(i64, f64)> {
    let digits = text.trim_start_matches(['+', '-']);
    if !digits.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
        return Err(ParseError::Format);
    }
    let v: f64 = text.parse().map_err(|_| ParseError::Format)?;
    if !(-1e15..=1e15).contains(&v) {
        return Err(ParseError::Overflow);
    }
    Ok((v.trunc() as i64, v.fract()))
}

/// Length of the number at the start of the text.
fn iso_number_len(text: &str) -> usize {
    let digits = |from: usize| text[from..].bytes().take_while(u8::is_ascii_digit).count();
    let mut n = text.len() - text.trim_start_matches(['+', '-']).len();
    n += digits(n);
    if text[n..].starts_with('.') {
        n += 1 + digits(n + 1);
    }
    if text[n..].starts_with(['e', 'E']) {
        let sign = usize::from(text[n + 1..].starts_with(['+', '-']));
        let power = digits(n + 1 + sign);
        n += if power > 0 { 1 + sign + power } else { 0 };
    }
    n
}

/// "P1Y2M3DT4H5M6S" and "P0001-02-03T04:05:06".
fn parse_iso8601(text: &str) -> Parsed<Interval> {
    let bad = || ParseError::Format;
    let body = text.strip_prefix('P').ok_or_else(bad)?;
    let mut sum = Sum::default();
    let (date, time) = match body.find('T') {
        Some(i) => (&body[..i], Some(&body[i + 1..])),
        None => (body, None),
    };
    // "P" alone is an error; "PT" is a zero interval.
    if body.is_empty() {
        return Err(bad());
    }
    let designated = |mut rest: &str, in_time: bool, sum: &mut Sum| -> Parsed<()> {
        while !rest.is_empty() {
            let end = iso_number_len(rest);
            let (whole, frac) = iso_number(&rest[..end])?;
            let u = match (*rest.as_bytes().get(end).ok_or_else(bad)?, in_time) {
                (b'Y', false) => Unit::Year,
                (b'M', false) => Unit::Month,
                (b'W', false) => Unit::Week,
                (b'D', false) => Unit::Day,
                (b'H', true) => Unit::Hour,
                (b'M', true) => Unit::Minute,
                (b'S', true) => Unit::Second,
                _ => return Err(bad()),
            };
            sum.add(u, whole, frac)?;
            rest = &rest[end + 1..];
        }
        Ok(())
    };
    let plain = |s: &str| !s.is_empty() && !s.contains(|c: char| c.is_ascii_alphabetic());
    if plain(date) {
        // The alternative format: years-months-days, or the digits without separators.
        let (sign, rest) = match date.strip_prefix('-') {
            Some(r) => (-1, r),
            None => (1, date),
        };
        let parts: Vec<&str> = if rest.contains('-') {
            rest.split('-').collect()
        } else if rest.len() == 8 {
            vec![&rest[..4], &rest[4..6], &rest[6..]]
        } else {
            vec![rest]
        };
        for (p, u) in parts.iter().zip([Unit::Year, Unit::Month, Unit::Day]) {
            let (whole, frac) = iso_number(p)?;
            sum.add(u, sign * whole, sign as f64 * frac)?;
        }
    } else {
        designated(date, false, &mut sum)?;
    }
    if let Some(time) = time {
        if plain(time) {
            let parts: Vec<&str> = if time.contains(':') {
                time.split(':').collect()
            } else if time.len() == 6 {
                vec![&time[..2], &time[2..4], &time[4..]]
            } else {
                vec![time]
            };
            for (p, u) in parts.iter().zip([Unit::Hour, Unit::Minute, Unit::Second]) {
                let (whole, frac) = iso_number(p)?;
                sum.add(u, whole, frac)?;
            }
        } else {
            designated(time, true, &mut sum)?;
        }
    }
    sum.finish()
}

/// Parses an interval.
pub fn parse(text: &[u8], typmod: i32, style: IntervalStyle) -> Result<Interval> {
    let trimmed = values::type_io::trim_space(text);
    let out = parse_traditional(trimmed, range_of(typmod), style).or_else(|error| {
        match (&error, std::str::from_utf8(trimmed)) {
            (ParseError::Format, Ok(t)) if t.starts_with('P') => parse_iso8601(t),
            _ => Err(error),
        }
    });
    let out = out.map_err(|f| match f {
        ParseError::Overflow => parse_error(ParseError::IntervalOverflow, text, "interval"),
        ParseError::IntervalRange => interval_range(),
        f => parse_error(f, text, "interval"),
    })?;
    adjust(out, typmod)
}

/// Whether the range is one field, or adjacent fields from year to month or from day to second.
fn is_known_range(range: i32) -> bool {
    const DAY_TIME: [i32; 4] = [DAY_BIT, HOUR_BIT, MINUTE_BIT, SECOND_BIT];
    let day_time =
        (0..4).any(|i| (i..4).any(|j| DAY_TIME[i..=j].iter().fold(0, |r, b| r | b) == range));
    range == FULL_RANGE || [YEAR_BIT, MONTH_BIT, YEAR_BIT | MONTH_BIT].contains(&range) || day_time
}

/// Truncates an interval to its typmod's fields and rounds it to its precision.
pub fn adjust(i: Interval, typmod: i32) -> Result<Interval> {
    if typmod < 0 {
        return Ok(i);
    }
    let mut i = i;
    let range = range_of(typmod);
    let precision = typmod & 0xffff;
    let has = |bits: i32| range & bits != 0;
    if !is_known_range(range) {
        return Err(PgError::internal(format!("unrecognized interval typmod: {typmod}")));
    }
    if range != FULL_RANGE {
        if !has(MONTH_BIT | DAY_BIT | HOUR_BIT | MINUTE_BIT | SECOND_BIT) {
            i = Interval { time: 0, day: 0, month: i.month / 12 * 12 };
        } else if !has(DAY_BIT | HOUR_BIT | MINUTE_BIT | SECOND_BIT) {
            i = Interval { time: 0, day: 0, month: i.month };
        } else if !has(HOUR_BIT | MINUTE_BIT | SECOND_BIT) {
            i.time = 0;
        } else if !has(MINUTE_BIT | SECOND_BIT) {
            i.time = i.time / USECS_PER_HOUR * USECS_PER_HOUR;
        } else if !has(SECOND_BIT) {
            i.time = i.time / USECS_PER_MINUTE * USECS_PER_MINUTE;
        }
    }
    if precision != 0xffff {
        if precision > 6 {
            return Err(pg_err!(
                INVALID_PARAMETER_VALUE,
                "interval({precision}) precision must be between 0 and 6"
            ));
        }
        i.time = round_micros(i.time, precision);
    }
    Ok(i)
}

fn plural(n: i64) -> &'static str {
    if n == 1 { "" } else { "s" }
}

/// Formats seconds with fraction, with at least two digits if `fill`.
fn seconds(s: i32, us: i32, fill: bool) -> String {
    let frac = super::output::fraction(us);
    if fill { format!("{:02}{frac}", s.abs()) } else { format!("{}{frac}", s.abs()) }
}

/// Formats an interval.
pub fn text(i: &Interval, style: IntervalStyle) -> String {
    match style {
        IntervalStyle::Postgres => postgres_text(i),
        IntervalStyle::PostgresVerbose => verbose_text(i),
        IntervalStyle::Iso8601 => iso_text(i),
        IntervalStyle::SqlStandard => sql_text(i),
    }
}

fn postgres_text(i: &Interval) -> String {
    let (year, mon, mday, hour, min, sec, us) = i.parts();
    let mut out = String::new();
    let mut before = false;
    let mut add = |n: i32, unit: &str| {
        if n != 0 {
            let sep = if out.is_empty() { "" } else { " " };
            let plus = if before && n > 0 { "+" } else { "" };
            out.push_str(&format!("{sep}{plus}{n} {unit}{}", plural(n.into())));
            before = n < 0;
        }
    };
    add(year, "year");
    add(mon, "mon");
    add(mday, "day");
    if out.is_empty() || hour != 0 || min != 0 || sec != 0 || us != 0 {
        let minus = hour < 0 || min < 0 || sec < 0 || us < 0;
        let sep = if out.is_empty() { "" } else { " " };
        let sign = if minus {
            "-"
        } else if before {
            "+"
        } else {
            ""
        };
        out.push_str(&format!(
            "{sep}{sign}{:02}:{:02}:{}",
            hour.abs(),
            min.abs(),
            seconds(sec, us, true)
        ));
    }
    out
}

fn verbose_text(i: &Interval) -> String {
    let (year, mon, mday, hour, min, sec, us) = i.parts();
    let mut out = String::from("@");
    let mut zero = true;
    let mut ago = false;
    let mut add = |n: i64, unit: &str| {
        if n != 0 {
            let shown = if zero {
                ago = n < 0;
                n.abs()
            } else if ago {
                -n
            } else {
                n
            };
            out.push_str(&format!(" {shown} {unit}{}", plural(shown)));
            zero = false;
        }
    };
    add(year.into(), "year");
    add(mon.into(), "mon");
    add(mday.into(), "day");
    add(hour, "hour");
    add(min.into(), "min");
    if sec != 0 || us != 0 {
        let negative = sec < 0 || (sec == 0 && us < 0);
        if zero {
            ago = negative;
            out.push(' ');
        } else {
            out.push(' ');
            if negative != ago {
                out.push('-');
            }
        }
        out.push_str(&seconds(sec, us, false));
        let one = sec.abs() == 1 && us == 0;
        out.push_str(if one { " sec" } else { " secs" });
        zero = false;
    }
    if zero {
        out.push_str(" 0");
    }
    if ago {
        out.push_str(" ago");
    }
    out
}

fn iso_text(i: &Interval) -> String {
    let (year, mon, mday, hour, min, sec, us) = i.parts();
    if i.month == 0 && i.day == 0 && i.time == 0 {
        return "PT0S".into();
    }
    let mut out = String::from("P");
    let mut add = |n: i64, unit: char| {
        if n != 0 {
            out.push_str(&format!("{n}{unit}"));
        }
    };
    add(year.into(), 'Y');
    add(mon.into(), 'M');
    add(mday.into(), 'D');
    if i.time != 0 {
        out.push('T');
        let mut add = |n: i64, unit: char| {
            if n != 0 {
                out.push_str(&format!("{n}{unit}"));
            }
        };
        add(hour, 'H');
        add(min.into(), 'M');
        if sec != 0 || us != 0 {
            if sec < 0 || us < 0 {
                out.push('-');
            }
            out.push_str(&seconds(sec, us, false));
            out.push('S');
        }
    }
    out
}

fn sql_text(i: &Interval) -> String {
    let (mut year, mut mon, mday, mut hour, mut min, mut sec, mut us) = i.parts();
    let mut mday = i64::from(mday);
    let negative = year < 0 || mon < 0 || mday < 0 || hour < 0 || min < 0 || sec < 0 || us < 0;
    let positive = year > 0 || mon > 0 || mday > 0 || hour > 0 || min > 0 || sec > 0 || us > 0;
    let has_month = year != 0 || mon != 0;
    let has_time = hour != 0 || min != 0 || sec != 0 || us != 0;
    let has_day_time = mday != 0 || has_time;
    let standard = !(negative && positive || has_month && has_day_time);
    if !negative && !positive {
        return "0".into();
    }
    let mut out = String::new();
    if standard && negative {
        out.push('-');
        (year, mon, mday, hour, min, sec, us) = (-year, -mon, -mday, -hour, -min, -sec, -us);
    }
    if !standard {
        let sign = |neg: bool| if neg { '-' } else { '+' };
        let time_negative = hour < 0 || min < 0 || sec < 0 || us < 0;
        return format!(
            "{}{}-{} {}{} {}{}:{:02}:{}",
            sign(year < 0 || mon < 0),
            year.abs(),
            mon.abs(),
            sign(mday < 0),
            mday.abs(),
            sign(time_negative),
            hour.abs(),
            min.abs(),
            seconds(sec, us, true)
        );
    }
    if has_month {
        out.push_str(&format!("{year}-{mon}"));
    } else if mday != 0 {
        out.push_str(&format!("{mday} {hour}:{min:02}:{}", seconds(sec, us, true)));
    } else {
        out.push_str(&format!("{hour}:{min:02}:{}", seconds(sec, us, true)));
    }
    out
}

/// The typmod from range and precision.
pub fn typmod_of(mods: &[i32]) -> Result<i32> {
    let bad = || pg_err!(INVALID_PARAMETER_VALUE, "invalid INTERVAL type modifier");
    let (range, precision) = match *mods {
        [r] => (r, 0xffff),
        [_, p] if p < 0 => {
            return Err(pg_err!(
                INVALID_PARAMETER_VALUE,
                "INTERVAL({p}) precision must not be negative"
            ));
        }
        [r, p] => (r, p.min(6)),
        _ => return Err(bad()),
    };
    if !is_known_range(range) {
        return Err(bad());
    }
    if mods.len() == 1 && range == FULL_RANGE {
        return Ok(-1);
    }
    Ok((range & 0x7fff) << 16 | precision)
}

/// Formats a typmod, such as " day to second(3)".
pub(super) fn typmod_text(typmod: i32) -> Result<String> {
    if typmod < 0 {
        return Ok(String::new());
    }
    if !is_known_range(range_of(typmod)) {
        return Err(PgError::internal(format!("invalid INTERVAL typmod: 0x{typmod:x}")));
    }
    let names = [
        (YEAR_BIT, "year"),
        (MONTH_BIT, "month"),
        (DAY_BIT, "day"),
        (HOUR_BIT, "hour"),
        (MINUTE_BIT, "minute"),
        (SECOND_BIT, "second"),
    ];
    let range = range_of(typmod);
    let mut out = String::new();
    if range != FULL_RANGE {
        let used: Vec<&str> =
            names.iter().filter(|(b, _)| range & b != 0).map(|(_, n)| *n).collect();
        match (used.first(), used.last()) {
            (Some(a), Some(b)) if a == b => out.push_str(&format!(" {a}")),
            (Some(a), Some(b)) => out.push_str(&format!(" {a} to {b}")),
            _ => {}
        }
    }
    let precision = typmod & 0xffff;
    if precision != 0xffff {
        out.push_str(&format!("({precision})"));
    }
    Ok(out)
}
