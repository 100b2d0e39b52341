//! to_date and to_timestamp: parsing by a template. Counterpart: formatting.c.
//!
//! Fields are read one after another. Unless FX requires that the text follows the template
//! exactly, white space is ignored, and a separator in the template matches one separator or blank
//! of the text, or nothing. Characters that are skipped without a counterpart in the template are
//! counted; for each of them a later literal character of the template consumes no text.

use super::calendar::{
    DATE_END, DATE_MIN, EPOCH_JDATE, Fields, USECS_PER_SEC, date2j, days_in_month, is_valid_julian,
    is_valid_timestamp, iso_week_to_j, j2date, timestamp_range,
};
use super::convert::local_to_utc;
use super::format::{DAYS, MONTHS, Node, ROMAN, is_separator, is_space, template};
use pgerror::{PgError, Result, pg_err};
use values::datum::{Datum, DatumRef};
use values::fn_context::{FnContext, InterruptTicker};

/// The calendar that a field belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Calendar {
    Gregorian,
    IsoWeek,
}

/// The values read; a field of 0 counts as not given.
#[derive(Default)]
pub(super) struct ReadFields {
    calendar: Option<Calendar>,
    twelve: bool,
    pm: i32,
    hour: i32,
    minute: i32,
    second: i32,
    second_of_day: i32,
    /// 1 is Sunday.
    weekday: i32,
    day: i32,
    day_of_year: i32,
    month: i32,
    millis: i32,
    year: i32,
    bc: i32,
    week: i32,
    week_of_month: i32,
    century: i32,
    julian: i32,
    micros: i32,
    /// Number of digits of the year in the template.
    year_width: usize,
    zone_sign: i32,
    zone_hours: i32,
    zone_minutes: i32,
    /// Number of decimals of the seconds, if given by FF1 to FF6.
    pub(super) precision: Option<u32>,
}

fn invalid(text: &str, key: &str) -> PgError {
    pg_err!(INVALID_DATETIME_FORMAT, "invalid value \"{text}\" for \"{key}\"")
}

const FIXED_WIDTH: &str =
    "If your source string is not fixed-width, try using the \"FM\" modifier.";

/// Sets a field; an error if it has been set to another value.
fn set(field: &mut i32, value: i32, key: &str) -> Result<()> {
    if *field != 0 && *field != value {
        return Err(pg_err!(
            INVALID_DATETIME_FORMAT,
            "conflicting values for \"{key}\" field in formatting string"
        )
        .detail("This value contradicts a previous setting for the same field type."));
    }
    *field = value;
    Ok(())
}

/// Whether the keyword reads a number.
fn is_number(key: &str) -> bool {
    !matches!(
        key,
        "a.d."
            | "a.m."
            | "ad"
            | "am"
            | "b.c."
            | "bc"
            | "day"
            | "dy"
            | "fx"
            | "month"
            | "mon"
            | "of"
            | "p.m."
            | "pm"
            | "rm"
            | "tzh"
            | "tz"
    )
}

/// Whether the text of the next template element cannot begin with a digit.
fn ends_number(rest: &[Node]) -> bool {
    match rest.first() {
        None => true,
        Some(Node::Text(c) | Node::Gap(c)) => !c.is_ascii_digit(),
        Some(Node::Key { key, .. }) => !is_number(key),
    }
}

/// A field of the template.
struct Field<'a> {
    key: &'static str,
    written: &'a str,
    /// The number extends over all following digits.
    greedy: bool,
    ordinal: bool,
}

struct Reader<'a> {
    rest: &'a str,
    /// The character before `rest`.
    before: Option<char>,
    exact: bool,
    /// The separators and the text of the template must be there.
    standard: bool,
    /// Number of skipped characters that have no counterpart in the template.
    extra: i32,
    out: ReadFields,
}

impl<'a> Reader<'a> {
    fn skip(&mut self, chars: usize) {
        for _ in 0..chars {
            let mut it = self.rest.chars();
            if let Some(c) = it.next() {
                self.before = Some(c);
            }
            self.rest = it.as_str();
        }
    }

    /// Skips white space and returns its length.
    fn skip_space(&mut self) -> i32 {
        let n = self.rest.chars().take_while(|c| is_space(*c)).count();
        self.skip(n);
        n as i32
    }

    fn gap(&mut self, c: char) -> Result<()> {
        if self.standard && !self.rest.starts_with(c) {
            return Err(pg_err!(INVALID_DATETIME_FORMAT, "unmatched format separator \"{c}\""));
        }
        self.skip_gap();
        Ok(())
    }

    fn skip_gap(&mut self) {
        if self.exact {
            return self.skip(1);
        }
        self.extra -= 1;
        if self.rest.starts_with(|c| is_space(c) || is_separator(c)) {
            self.skip(1);
            self.extra += 1;
        }
    }

    fn text(&mut self, c: char) -> Result<()> {
        if self.standard && !self.rest.starts_with(c) {
            return Err(pg_err!(INVALID_DATETIME_FORMAT, "unmatched format character \"{c}\""));
        }
        if !self.exact && self.extra > 0 {
            self.extra -= 1;
        } else {
            self.skip(1);
        }
        Ok(())
    }

    /// Reads a number of `width` characters (all following digits if the field is greedy); returns
    /// it and the number of characters.
    fn number(&mut self, width: usize, f: &Field<'_>) -> Result<(i32, usize)> {
        let start = self.rest.len();
        let spaces = self.skip_space() as usize;
        let shown: String = self.rest.chars().take(width).collect();
        let signed = usize::from(self.rest.starts_with(['-', '+']));
        // A number of fixed width ends there: the next field may be a number too.
        let looked_at = if f.greedy { usize::MAX } else { width };
        let rest = self.rest[signed..].bytes().take(looked_at);
        let digits = rest.take_while(u8::is_ascii_digit).count();
        let mut used = if digits > 0 { signed + digits } else { 0 };
        if !f.greedy {
            let there = shown.len();
            if there < width {
                return Err(pg_err!(
                    INVALID_DATETIME_FORMAT,
                    "source string too short for \"{}\" formatting field",
                    f.written
                )
                .detail(format!("Field requires {width} characters, but only {there} remain."))
                .hint(FIXED_WIDTH));
            }
            used = used.min(width);
            if used == signed {
                used = 0;
            }
            if used > 0 && used < width {
                return Err(invalid(&shown, f.written)
                    .detail(format!(
                        "Field requires {width} characters, but only {used} could be parsed."
                    ))
                    .hint(FIXED_WIDTH));
            }
        }
        // A field of fixed width that contains only blanks has the value 0.
        if used == 0 && (f.greedy || spaces == 0) {
            return Err(invalid(&shown, f.written).detail("Value must be an integer."));
        }
        let value = self.rest[..used].parse::<i64>().ok().and_then(|v| i32::try_from(v).ok());
        let value = value.ok_or_else(|| {
            pg_err!(
                DATETIME_VALUE_OUT_OF_RANGE,
                "value for \"{}\" in source string is out of range",
                f.written
            )
            .detail(format!(
                "Value must be in the range {} to {}.",
                i32::MIN,
                i32::MAX
            ))
        })?;
        self.skip(used);
        Ok((value, start - self.rest.len()))
    }

    /// Reads a number that may have an ordinal suffix.
    fn ordinal(&mut self, width: usize, f: &Field<'_>) -> Result<(i32, usize)> {
        let got = self.number(width, f)?;
        if f.ordinal {
            self.skip(2);
        }
        Ok(got)
    }

    /// Reads one of some names and returns its index.
    fn name(&mut self, names: &[&str], f: &Field<'_>) -> Result<i32> {
        for (i, name) in names.iter().enumerate() {
            if self.rest.get(..name.len()).is_some_and(|t| t.eq_ignore_ascii_case(name)) {
                self.skip(name.len());
                return Ok(i as i32);
            }
        }
        let shown: String = self.rest.chars().take_while(|c| !is_space(*c)).collect();
        Err(invalid(&shown, f.written)
            .detail("The given value did not match any of the allowed values for this field."))
    }

    fn calendar(&mut self, key: &str) -> Result<()> {
        let wanted = match key {
            "ddd" | "dd" | "mm" | "month" | "mon" | "rm" | "ww" | "w" | "y,yyy" | "yyyy"
            | "yyy" | "yy" | "y" => Calendar::Gregorian,
            "iddd" | "id" | "iw" | "iyyy" | "iyy" | "iy" | "i" => Calendar::IsoWeek,
            _ => return Ok(()),
        };
        if *self.out.calendar.get_or_insert(wanted) != wanted {
            return Err(pg_err!(
                INVALID_DATETIME_FORMAT,
                "invalid combination of date conventions"
            )
            .hint("Do not mix Gregorian and ISO week date conventions in a formatting template."));
        }
        Ok(())
    }

    fn field(&mut self, f: &Field<'_>) -> Result<()> {
        let (key, name) = (f.key, f.written);
        self.calendar(key)?;
        match key {
            "fx" => self.exact = true,
            "a.m." | "p.m." | "am" | "pm" => {
                let dots = key.contains('.');
                let i = self.name(if dots { &["a.m.", "p.m."] } else { &["am", "pm"] }, f)?;
                set(&mut self.out.pm, i, name)?;
                self.out.twelve = true;
            }
            "a.d." | "b.c." | "ad" | "bc" => {
                let dots = key.contains('.');
                let i = self.name(if dots { &["a.d.", "b.c."] } else { &["ad", "bc"] }, f)?;
                set(&mut self.out.bc, i, name)?;
            }
            "hh" | "hh12" | "hh24" => {
                let v = self.ordinal(2, f)?.0;
                set(&mut self.out.hour, v, name)?;
                self.out.twelve |= key != "hh24";
            }
            "ms" => {
                let (v, len) = self.ordinal(3, f)?;
                set(&mut self.out.millis, v, name)?;
                self.out.millis *= [100, 10].get(len - 1).unwrap_or(&1);
            }
            "us" | "ff1" | "ff2" | "ff3" | "ff4" | "ff5" | "ff6" => {
                let decimals = key.strip_prefix("ff").and_then(|d| d.parse::<u32>().ok());
                self.out.precision = decimals.or(self.out.precision);
                let (v, len) = self.ordinal(decimals.unwrap_or(6) as usize, f)?;
                set(&mut self.out.micros, v, name)?;
                let scale = 10i32.pow(6u32.saturating_sub(len as u32));
                self.out.micros = self.out.micros.wrapping_mul(scale);
            }
            "tz" | "of" | "tzh" | "tzm" => self.zone_field(f)?,
            "month" | "mon" => {
                let short = MONTHS.map(|m| &m[..3]);
                let i = self.name(if key == "mon" { &short } else { &MONTHS }, f)?;
                set(&mut self.out.month, i + 1, name)?;
            }
            "day" | "dy" => {
                let short = DAYS.map(|d| &d[..3]);
                let i = self.name(if key == "dy" { &short } else { &DAYS }, f)?;
                set(&mut self.out.weekday, i, name)?;
                self.out.weekday += 1;
            }
            "rm" => {
                // Longer names first, because shorter ones are their prefixes.
                let mut names = ROMAN;
                names.reverse();
                let i = self.name(&names, f)?;
                set(&mut self.out.month, 12 - i, name)?;
            }
            "id" => {
                let v = self.ordinal(1, f)?.0;
                set(&mut self.out.weekday, v, name)?;
                self.out.weekday = if v >= 7 { 1 } else { v + 1 };
            }
            "q" => {
                self.ordinal(1, f)?;
            }
            "y,yyy" => {
                let (whole, used) = self.thousands()?;
                self.skip(used);
                set(&mut self.out.year, whole, name)?;
                self.out.year_width = 4;
                if f.ordinal {
                    self.skip(2);
                }
            }
            "yyyy" | "iyyy" | "yyy" | "iyy" | "yy" | "iy" | "y" | "i" => {
                let (v, len) = self.ordinal(key.len(), f)?;
                set(&mut self.out.year, v, name)?;
                self.out.year_width = key.len();
                if self.out.year_width < 4 && len < 4 {
                    self.out.year = nearest_to_2020(v);
                }
            }
            _ => {
                let width = if key == "iddd" { 3 } else { key.len() };
                let v = self.ordinal(width, f)?.0;
                let field = match key {
                    "mi" => &mut self.out.minute,
                    "ss" => &mut self.out.second,
                    "ssss" | "sssss" => &mut self.out.second_of_day,
                    "mm" => &mut self.out.month,
                    "ddd" | "iddd" => &mut self.out.day_of_year,
                    "dd" => &mut self.out.day,
                    "d" => &mut self.out.weekday,
                    "ww" | "iw" => &mut self.out.week,
                    "cc" => &mut self.out.century,
                    "w" => &mut self.out.week_of_month,
                    _ => &mut self.out.julian,
                };
                set(field, v, name)?;
            }
        }
        Ok(())
    }

    fn zone_field(&mut self, f: &Field<'_>) -> Result<()> {
        let (key, name) = (f.key, f.written);
        match key {
            "tzh" => {
                // The minus sign may have been consumed as a separator.
                self.out.zone_sign = match self.rest.chars().next() {
                    Some('-') => -1,
                    Some('+' | ' ') => 1,
                    _ if self.extra > 0 && self.before == Some('-') => -1,
                    _ => 1,
                };
                if self.rest.starts_with(['-', '+', ' ']) {
                    self.skip(1);
                }
                let v = self.number(2, f)?.0;
                set(&mut self.out.zone_hours, v, name)?;
            }
            "tzm" => {
                if self.out.zone_sign == 0 {
                    self.out.zone_sign = 1;
                }
                let v = self.number(2, f)?.0;
                set(&mut self.out.zone_minutes, v, name)?;
            }
            _ => {
                return Err(pg_err!(
                    FEATURE_NOT_SUPPORTED,
                    "formatting field \"{name}\" is only supported in to_char"
                ));
            }
        }
        Ok(())
    }

    /// Reads a year of the form `thousands,hundreds`; returns it and its length.
    fn thousands(&self) -> Result<(i32, usize)> {
        let error = || pg_err!(INVALID_DATETIME_FORMAT, "invalid input string for \"Y,YYY\"");
        let (high, rest) = self.rest.split_once(',').ok_or_else(error)?;
        let low = rest.bytes().take(3).take_while(u8::is_ascii_digit).count();
        let number = |t: &str| t.trim_start().parse::<i32>().map_err(|_| error());
        let year = number(high)?.checked_mul(1000).and_then(|y| Some((y, rest.get(..low)?)));
        let (high_part, low_part) = year.ok_or_else(error)?;
        Ok((high_part.saturating_add(number(low_part)?), high.len() + 1 + low))
    }
}

/// The year nearest to 2020 with these last digits (up to three).
fn nearest_to_2020(year: i32) -> i32 {
    match year {
        ..70 => year + 2000,
        70..100 => year + 1900,
        100..520 => year + 2000,
        520..1000 => year + 1000,
        _ => year,
    }
}

fn read(cx: &dyn FnContext, text: &str, pattern: &str) -> Result<ReadFields> {
    read_nodes(cx, text, &template(cx, pattern)?, false)
}

/// Reads the fields of a template. `standard`: the text must match the whole template, and nothing
/// but white space may follow.
pub(super) fn read_nodes(
    cx: &dyn FnContext,
    text: &str,
    nodes: &[Node],
    standard: bool,
) -> Result<ReadFields> {
    let out = ReadFields::default();
    let mut r = Reader { rest: text, before: None, exact: standard, standard, extra: 0, out };
    let mut ticker = InterruptTicker::default();
    for (i, node) in nodes.iter().enumerate() {
        ticker.tick(cx)?;
        if r.rest.is_empty() {
            if standard {
                return Err(pg_err!(
                    INVALID_DATETIME_FORMAT,
                    "input string is too short for datetime format"
                ));
            }
            break;
        }
        let field = matches!(node, Node::Key { .. });
        if !r.exact && (field || i == 0) && !matches!(node, Node::Key { key: "fx", .. }) {
            r.extra += r.skip_space();
        }
        match node {
            Node::Gap(c) => r.gap(*c)?,
            Node::Text(c) => r.text(*c)?,
            Node::Key { key, written, fill, ordinal, .. } => {
                let ordinal = ordinal.is_some();
                let greedy = !fill || ordinal || ends_number(&nodes[i + 1..]);
                r.field(&Field { key, written, greedy, ordinal })?;
                if !r.exact {
                    r.extra = r.skip_space();
                }
            }
        }
    }
    if standard && r.rest.contains(|c| !is_space(c)) {
        return Err(pg_err!(
            INVALID_DATETIME_FORMAT,
            "trailing characters remain in input string after datetime format"
        ));
    }
    Ok(r.out)
}

/// A bound of the number of weeks, larger than the number of weeks in the range of dates.
const ISO_WEEKS_MAX: u32 = 10_000_000;

/// The parts of a date that were given, so that only they are checked.
#[derive(Default)]
struct GivenParts {
    year: bool,
    month: bool,
    day: bool,
}

impl ReadFields {
    fn hour_of_day(&self, hour: i32) -> Result<i32> {
        if !self.twelve {
            return Ok(hour);
        }
        if !(1..=12).contains(&hour) {
            return Err(pg_err!(
                INVALID_DATETIME_FORMAT,
                "hour \"{hour}\" is invalid for the 12-hour clock"
            )
            .hint("Use the 24-hour clock, or give an hour between 1 and 12."));
        }
        Ok(hour % 12 + if self.pm != 0 { 12 } else { 0 })
    }

    /// The year if one was given, in astronomical numbering (1 BC is 0).
    fn full_year(&self) -> Option<i32> {
        let century = if self.bc != 0 { -self.century } else { self.century };
        if self.year != 0 && self.century != 0 && self.year_width <= 2 {
            // Two digits are a year within the century; a century begins with its year 1.
            let low = self.year % 100;
            // Saturated values are no valid year of any calendar, so a later check fails.
            let hundreds = |n: i32, more: i32| n.saturating_mul(100).saturating_add(more);
            return Some(match (century >= 0, low) {
                (true, 0) => hundreds(century, 0),
                (true, _) => hundreds(century - 1, low),
                (false, 0) => hundreds(century, 1),
                (false, _) => hundreds(century + 1, 1 - low),
            });
        }
        if self.year != 0 {
            let year = if self.bc != 0 { -self.year } else { self.year };
            return Some(if year < 0 { year + 1 } else { year });
        }
        match self.century {
            0 => None,
            _ if century >= 0 => Some((century - 1).saturating_mul(100).saturating_add(1)),
            _ => Some(century.saturating_mul(100).saturating_add(1)),
        }
    }

    /// Sets year, month and day.
    fn date(&self, f: &mut Fields) -> Result<GivenParts> {
        let iso = self.calendar == Some(Calendar::IsoWeek);
        let all = || GivenParts { year: true, month: true, day: true };
        let mut given = GivenParts::default();
        if let Some(year) = self.full_year() {
            f.year = year;
            given.year = true;
        }
        if self.julian != 0 {
            (f.year, f.month, f.day) = j2date(self.julian);
            given = all();
        }
        let mut day_of_year = self.day_of_year;
        if self.week != 0 && iso {
            // Without a day it is the Monday of the week.
            let day = match self.weekday {
                0 | 2 => 0,
                1 => 6,
                d => d - 2,
            };
            // A week or year out of range is left to the caller's check of the year.
            (f.year, f.month, f.day) =
                if is_valid_julian(f.year, 1) && self.week.unsigned_abs() < ISO_WEEKS_MAX {
                    j2date(iso_week_to_j(f.year, self.week) + day)
                } else {
                    (i32::MAX, 1, 1)
                };
            given = all();
        } else if self.week != 0 {
            day_of_year = self.week.saturating_sub(1).saturating_mul(7).saturating_add(1);
        }
        let day = match self.week_of_month {
            0 => self.day,
            week => week.saturating_sub(1).saturating_mul(7).saturating_add(1),
        };
        if day != 0 {
            f.day = day;
            given.day = true;
        }
        if self.month != 0 {
            f.month = self.month;
            given.month = true;
        }
        if day_of_year != 0 && (f.month <= 1 || f.day <= 1) {
            if f.year == 0 && self.bc == 0 {
                return Err(pg_err!(
                    INVALID_DATETIME_FORMAT,
                    "cannot calculate day of year without year information"
                ));
            }
            if iso {
                if is_valid_julian(f.year, 1) {
                    let start = iso_week_to_j(f.year, 1) - 1;
                    (f.year, f.month, f.day) = j2date(start.saturating_add(day_of_year));
                }
                return Ok(all());
            }
            // The month that contains the day of the year; a day out of range is left to the
            // checks.
            let mut before = 0;
            let mut month = 1;
            while month < 13 && day_of_year > before + days_in_month(f.year, month.min(12)) {
                before += days_in_month(f.year, month);
                month += 1;
            }
            if f.month <= 1 {
                f.month = month;
            }
            if f.day <= 1 {
                f.day = day_of_year - before;
            }
            (given.month, given.day) = (true, true);
        }
        Ok(given)
    }

    /// The resulting fields, and seconds east if a zone was given. `text` is for error messages.
    pub(super) fn finish(&self, text: &str) -> Result<(Fields, Option<i32>)> {
        let out_of_range =
            || pg_err!(DATETIME_FIELD_OVERFLOW, "date/time field value out of range: \"{text}\"");
        let mut f = Fields { year: 0, month: 1, day: 1, ..Fields::default() };
        let s = self.second_of_day;
        (f.hour, f.minute, f.second) = (s / 3600, s % 3600 / 60, s % 60);
        let or = |given: i32, other: i32| if given != 0 { given } else { other };
        f.second = or(self.second, f.second);
        f.minute = or(self.minute, f.minute);
        f.hour = self.hour_of_day(or(self.hour, f.hour))?;
        let given = self.date(&mut f)?;
        let micros = i64::from(self.millis) * 1000 + i64::from(self.micros);
        f.micros = i32::try_from(micros).unwrap_or(-1);
        let month_fits = (1..=12).contains(&f.month);
        let days = if month_fits { days_in_month(f.year, f.month) } else { 31 };
        let days = if given.year && given.month && given.day { days } else { 31 };
        if (given.month && !month_fits)
            || (given.day && !(1..=days).contains(&f.day))
            || !(0..24).contains(&f.hour)
            || !(0..60).contains(&f.minute)
            || !(0..60).contains(&f.second)
            || !(0..1_000_000).contains(&f.micros)
        {
            return Err(out_of_range());
        }
        if self.zone_sign == 0 {
            return Ok((f, None));
        }
        if !(0..=15).contains(&self.zone_hours) || !(0..60).contains(&self.zone_minutes) {
            return Err(pg_err!(
                INVALID_TIME_ZONE_DISPLACEMENT_VALUE,
                "time zone displacement out of range: \"{text}\""
            ));
        }
        let east = self.zone_sign * (self.zone_hours * 3600 + self.zone_minutes * 60);
        Ok((f, Some(east)))
    }
}

/// Rounds a timestamp to a number of decimals of the seconds.
pub(super) fn rounded(t: i64, decimals: u32) -> i64 {
    let unit = 10i64.pow(6 - decimals);
    let half = unit / 2;
    if t >= 0 { (t + half) / unit * unit } else { -((-t + half) / unit * unit) }
}

scalars! { FNS;
    "to_date" => |cx: &mut dyn FnContext, a: &[DatumRef<'_>]| {
        let text = String::from_utf8_lossy(a[0].as_bytes());
        let pattern = String::from_utf8_lossy(a[1].as_bytes());
        let (f, _) = read(cx, &text, &pattern)?.finish(&text)?;
        let out = || pg_err!(
            DATETIME_VALUE_OUT_OF_RANGE, "date out of range: \"{}\"",
            values::type_io::lossy_text(a[0].as_bytes()));
        if !is_valid_julian(f.year, f.month) {
            return Err(out());
        }
        let d = date2j(f.year, f.month, f.day) - EPOCH_JDATE;
        if (DATE_MIN..DATE_END).contains(&d) { Ok(Datum::int4(d)) } else { Err(out()) }
    },
    "to_timestamp" => |cx: &mut dyn FnContext, a: &[DatumRef<'_>]| {
        let text = String::from_utf8_lossy(a[0].as_bytes());
        let pattern = String::from_utf8_lossy(a[1].as_bytes());
        let what = read(cx, &text, &pattern)?;
        let (f, east) = what.finish(&text)?;
        let local = f.timestamp().ok_or_else(timestamp_range)?;
        let t = match east {
            Some(east) => local - i64::from(east) * USECS_PER_SEC,
            None => local_to_utc(&cx.settings().time_zone, local),
        };
        if !is_valid_timestamp(t) {
            return Err(timestamp_range());
        }
        Ok(Datum::int8(what.precision.map_or(t, |p| rounded(t, p))))
    },
}
