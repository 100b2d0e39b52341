//! to_date and to_timestamp: text read by a template. Counterpart: formatting.c.

use super::convert::local_to_utc;
use super::format::{DAYS, MONTHS, Node, ROMAN, template};
use super::*;
use crate::{Datum, DatumRef, FnContext};

/// What was read so far.
#[derive(Default)]
struct Read {
    hour: Option<i32>,
    twelve: bool,
    pm: Option<bool>,
    minute: i32,
    second: i32,
    micros: i32,
    sssss: Option<i32>,
    day_of_week: Option<i32>,
    day: Option<i32>,
    day_of_year: Option<i32>,
    month: Option<i32>,
    year: Option<i32>,
    year_digits: usize,
    bc: bool,
    week: Option<i32>,
    week_of_month: Option<i32>,
    century: Option<i32>,
    julian: Option<i32>,
    iso: bool,
    gregorian: bool,
    offset_hours: Option<(i32, i32)>,
    offset_minutes: i32,
    zone_offset: Option<i32>,
}

fn invalid(what: &str, text: &str) -> PgError {
    pg_err!(INVALID_DATETIME_FORMAT, "invalid value \"{text}\" for \"{what}\"")
}

struct Input<'a> {
    rest: &'a str,
}

impl<'a> Input<'a> {
    fn skip_space(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\t', '\n', '\r', '\u{b}', '\u{c}']);
    }

    /// An integer of at most `len` characters (`None`: as many digits as there are).
    fn integer(&mut self, len: Option<usize>, width: usize, name: &str) -> Result<(i32, usize)> {
        self.skip_space();
        let signed = usize::from(self.rest.starts_with(['-', '+']));
        let digits = self.rest[signed..].bytes().take_while(u8::is_ascii_digit).count();
        let mut n = signed + digits;
        if let Some(len) = len {
            n = n.min(len);
        }
        let text = &self.rest[..n];
        if digits == 0 || n == signed {
            let shown: String = self.rest.chars().take(width).collect();
            return Err(invalid(name, &shown).detail("Value must be an integer."));
        }
        let v = text.parse::<i64>().ok().and_then(|v| i32::try_from(v).ok()).ok_or_else(|| {
            pg_err!(
                DATETIME_VALUE_OUT_OF_RANGE,
                "value for \"{name}\" in source string is out of range"
            )
        })?;
        self.rest = &self.rest[n..];
        Ok((v, n - signed))
    }

    /// The index of the name that the text begins with (whole names, or their first three letters).
    fn name(&mut self, names: &[&str], short: bool, key: &str) -> Result<i32> {
        for (i, name) in names.iter().enumerate() {
            let name = if short { &name[..3] } else { name };
            let there = self.rest.get(..name.len());
            if there.is_some_and(|t| t.eq_ignore_ascii_case(name)) {
                self.rest = &self.rest[name.len()..];
                return Ok(i as i32);
            }
        }
        let shown: String = self.rest.chars().take_while(|c| !c.is_whitespace()).collect();
        Err(invalid(key, &shown)
            .detail("The given value did not match any of the allowed values for this field."))
    }

    fn one_of(&mut self, words: &[(&str, bool)], key: &str) -> Result<bool> {
        for (word, value) in words {
            if self.rest.get(..word.len()).is_some_and(|t| t.eq_ignore_ascii_case(word)) {
                self.rest = &self.rest[word.len()..];
                return Ok(*value);
            }
        }
        let shown: String = self.rest.chars().take_while(|c| !c.is_whitespace()).collect();
        Err(invalid(key, &shown)
            .detail("The given value did not match any of the allowed values for this field."))
    }
}

fn is_separator(c: char) -> bool {
    c.is_ascii() && !c.is_ascii_alphanumeric() && c > ' '
}

/// Is the next node something that cannot begin with a digit, so that a number may run as long as it is?
fn next_is_separator(nodes: &[Node]) -> bool {
    match nodes.first() {
        None => true,
        Some(Node::Text(c) | Node::Quoted(c)) => !c.is_ascii_digit(),
        Some(Node::Key { key, .. }) => matches!(
            *key,
            "a.d."
                | "a.m."
                | "ad"
                | "am"
                | "b.c."
                | "bc"
                | "day"
                | "dy"
                | "month"
                | "mon"
                | "p.m."
                | "pm"
                | "rm"
                | "tz"
                | "of"
        ),
    }
}

fn read(text: &str, pattern: &str) -> Result<Read> {
    let (nodes, exact) = template(pattern);
    let mut out = Read::default();
    let mut input = Input { rest: text };
    for (i, node) in nodes.iter().enumerate() {
        // White space before a field does not count, unless exactly as many blanks were asked for.
        if !exact && (matches!(node, Node::Key { .. }) || i == 0) {
            input.skip_space();
        }
        let (key, written, fill, ordinal) = match node {
            Node::Text(c) if c.is_whitespace() || is_separator(*c) => {
                let next = input.rest.chars().next();
                if exact {
                    input.rest = &input.rest[next.map_or(0, char::len_utf8)..];
                } else if let Some(n) = next {
                    // A separator takes one separator or blank, a blank any one of them.
                    if n.is_whitespace()
                        || (is_separator(n) && !(matches!(n, '+' | '-') && *c != n))
                    {
                        input.rest = &input.rest[n.len_utf8()..];
                    }
                }
                continue;
            }
            Node::Text(_) | Node::Quoted(_) => {
                let next = input.rest.chars().next();
                input.rest = &input.rest[next.map_or(0, char::len_utf8)..];
                continue;
            }
            Node::Key { key, written, fill, ordinal, .. } => {
                (*key, written.clone(), *fill, *ordinal)
            }
        };
        if input.rest.is_empty() {
            break;
        }
        let upper = written;
        let free = !fill || next_is_separator(&nodes[i + 1..]);
        let mut number = |width: usize| -> Result<(i32, usize)> {
            let got = input.integer(if free { None } else { Some(width) }, width, &upper)?;
            if ordinal.is_some() {
                let end = input.rest.char_indices().nth(2).map_or(input.rest.len(), |(i, _)| i);
                input.rest = &input.rest[end..];
            }
            Ok(got)
        };
        match key {
            "a.m." | "p.m." => {
                out.pm = Some(input.one_of(&[("a.m.", false), ("p.m.", true)], &upper)?);
                out.twelve = true;
            }
            "am" | "pm" => {
                out.pm = Some(input.one_of(&[("am", false), ("pm", true)], &upper)?);
                out.twelve = true;
            }
            "a.d." | "b.c." => out.bc = input.one_of(&[("a.d.", false), ("b.c.", true)], &upper)?,
            "ad" | "bc" => out.bc = input.one_of(&[("ad", false), ("bc", true)], &upper)?,
            "hh" | "hh12" => {
                out.hour = Some(number(2)?.0);
                out.twelve = true;
            }
            "hh24" => out.hour = Some(number(2)?.0),
            "mi" => out.minute = number(2)?.0,
            "ss" => out.second = number(2)?.0,
            "ms" => {
                let (v, len) = number(3)?;
                out.micros += 1000 * v * [100, 10, 1][len.clamp(1, 3) - 1];
            }
            "us" | "ff1" | "ff2" | "ff3" | "ff4" | "ff5" | "ff6" => {
                let width = if key == "us" { 6 } else { (key.as_bytes()[2] - b'0') as usize };
                let (v, len) = number(width)?;
                out.micros += v * 10i32.pow(6 - len.clamp(1, 6) as u32);
            }
            "ssss" | "sssss" => out.sssss = Some(number(5)?.0),
            "tzh" => {
                let sign = if input.rest.starts_with('-') { -1 } else { 1 };
                input.rest = input.rest.trim_start_matches(['+', '-', ' ']);
                out.offset_hours = Some((sign, input.integer(Some(2), 2, &upper)?.0));
            }
            "tzm" => {
                out.offset_hours.get_or_insert((1, 0));
                out.offset_minutes = input.integer(Some(2), 2, &upper)?.0;
            }
            "tz" | "of" => {
                return Err(pg_err!(
                    FEATURE_NOT_SUPPORTED,
                    "formatting field \"{upper}\" is only supported in to_char"
                ));
            }
            "month" => out.month = Some(input.name(&MONTHS, false, &upper)? + 1),
            "mon" => out.month = Some(input.name(&MONTHS, true, &upper)? + 1),
            "mm" => out.month = Some(number(2)?.0),
            "day" => out.day_of_week = Some(input.name(&DAYS, false, &upper)? + 1),
            "dy" => out.day_of_week = Some(input.name(&DAYS, true, &upper)? + 1),
            "ddd" => out.day_of_year = Some(number(3)?.0),
            "iddd" => {
                out.day_of_year = Some(number(3)?.0);
                out.iso = true;
            }
            "dd" => {
                out.day = Some(number(2)?.0);
                out.gregorian = true;
            }
            "d" => out.day_of_week = Some(number(1)?.0),
            "id" => {
                let d = number(1)?.0;
                out.day_of_week = Some(if d >= 7 { 1 } else { d + 1 });
                out.iso = true;
            }
            "ww" => out.week = Some(number(2)?.0),
            "iw" => {
                out.week = Some(number(2)?.0);
                out.iso = true;
            }
            "w" => out.week_of_month = Some(number(1)?.0),
            "q" => {
                number(1)?;
            }
            "cc" => out.century = Some(number(2)?.0),
            "y,yyy" => {
                let (thousands, _) = input.integer(None, 5, &upper)?;
                input.rest = input.rest.strip_prefix(',').unwrap_or(input.rest);
                let (rest, _) = input.integer(Some(3), 3, &upper)?;
                out.year = Some(thousands * 1000 + rest);
                out.year_digits = 4;
            }
            "yyyy" | "iyyy" | "yyy" | "iyy" | "yy" | "iy" | "y" | "i" => {
                let width = key.trim_start_matches('i').len().max(1);
                let width = if key == "i" { 1 } else { width };
                let (v, len) = number(width)?;
                out.iso |= key.starts_with('i');
                out.year = Some(if len < 4 && width < 4 {
                    // Two digits are of the years nearest to 2020.
                    match v {
                        0..70 => v + 2000,
                        70..100 => v + 1900,
                        100..520 => v + 2000,
                        520..1000 => v + 1000,
                        v => v,
                    }
                } else {
                    v
                });
                out.year_digits = width;
            }
            "rm" => {
                let mut order: Vec<usize> = (0..12).collect();
                order.sort_by_key(|&i| std::cmp::Reverse(ROMAN[i].len()));
                let found = order.into_iter().find(|&i| {
                    input
                        .rest
                        .get(..ROMAN[i].len())
                        .is_some_and(|t| t.eq_ignore_ascii_case(ROMAN[i]))
                });
                let Some(i) = found else {
                    return Err(invalid("RM", &input.rest.chars().take(4).collect::<String>()).detail(
                        "The given value did not match any of the allowed values for this field.",
                    ));
                };
                input.rest = &input.rest[ROMAN[i].len()..];
                out.month = Some(i as i32 + 1);
            }
            "j" => out.julian = Some(number(7)?.0),
            _ => {}
        }
    }
    Ok(out)
}

/// The fields of what was read; seconds east where a zone was.
fn finish(r: &Read, whole: &str) -> Result<(Fields, Option<i32>)> {
    let out_of_range =
        || pg_err!(DATETIME_FIELD_OVERFLOW, "date/time field value out of range: \"{whole}\"");
    if r.iso && (r.gregorian && r.month.is_some()) {
        return Err(pg_err!(INVALID_DATETIME_FORMAT, "invalid combination of date conventions")
            .hint("Do not mix Gregorian and ISO week date conventions in a formatting template."));
    }
    let mut f = Fields { year: 0, month: 1, day: 1, ..Fields::default() };
    (f.minute, f.second, f.micros) = (r.minute, r.second, r.micros);
    f.hour = r.hour.unwrap_or(0);
    if let Some(s) = r.sssss {
        (f.hour, f.minute, f.second) = (s / 3600, s / 60 % 60, s % 60);
    }
    if r.twelve {
        if r.hour.is_some() && !(1..=12).contains(&f.hour) {
            return Err(pg_err!(
                INVALID_DATETIME_FORMAT,
                "hour \"{}\" is invalid for the 12-hour clock",
                f.hour
            )
            .hint("Use the 24-hour clock, or give an hour between 1 and 12."));
        }
        match r.pm {
            Some(true) if f.hour < 12 => f.hour += 12,
            Some(false) | None if f.hour == 12 && r.pm.is_some() => f.hour = 0,
            None if f.hour == 12 => f.hour = 0,
            _ => {}
        }
    }
    let mut year = r.year;
    if let Some(y) = year {
        if let (Some(c), true) = (r.century, r.year_digits <= 2) {
            let short = y % 100;
            year = Some(if short == 0 { c * 100 } else { (c - 1) * 100 + short });
        }
        if r.bc && y > 0 {
            year = Some(1 - y);
        } else if y < 0 {
            year = Some(y + 1);
        }
    } else if let Some(c) = r.century {
        year = Some((c - 1) * 100 + 1);
    }
    f.year = year.unwrap_or(0);
    if let Some(j) = r.julian {
        (f.year, f.month, f.day) = j2date(j);
    } else if r.iso && r.week.is_some() {
        let start = iso_week_to_j(f.year, r.week.unwrap_or(1));
        let day = r.day_of_week.map_or(0, |d| if d == 1 { 6 } else { d - 2 });
        (f.year, f.month, f.day) = j2date(start + day);
    } else if let Some(d) = r.day_of_year {
        if r.year.is_none() && !r.bc {
            return Err(pg_err!(
                INVALID_DATETIME_FORMAT,
                "cannot calculate day of year without year information"
            ));
        }
        let first = if r.iso { iso_week_to_j(f.year, 1) } else { date2j(f.year, 1, 1) };
        (f.year, f.month, f.day) = j2date(first + d - 1);
    } else if let (Some(w), None) = (r.week, r.day) {
        let first = date2j(f.year, 1, 1);
        (f.year, f.month, f.day) = j2date(first + (w - 1) * 7);
    } else {
        f.month = r.month.unwrap_or(1);
        f.day = match (r.day, r.week_of_month) {
            (Some(d), _) => d,
            (None, Some(w)) => (w - 1) * 7 + 1,
            (None, None) => 1,
        };
    }
    let date_given = r.year.is_some() || r.century.is_some() || r.julian.is_some();
    if !date_given && f.year == 0 {
        // No year at all is 1 BC.
        f.year = 0;
    }
    if !(1..=12).contains(&f.month) || f.day < 1 || f.day > days_in_month(f.year, f.month) {
        return Err(out_of_range());
    }
    if !(0..24).contains(&f.hour)
        || !(0..60).contains(&f.minute)
        || !(0..60).contains(&f.second)
        || !(0..1_000_000).contains(&f.micros)
    {
        return Err(out_of_range());
    }
    let east = match r.offset_hours {
        Some((sign, h)) => {
            if h > 15 || r.offset_minutes >= 60 {
                return Err(out_of_range());
            }
            Some(sign * (h * 3600 + r.offset_minutes * 60))
        }
        None => r.zone_offset,
    };
    Ok((f, east))
}

fn fields(a: &[DatumRef<'_>]) -> Result<(Fields, Option<i32>)> {
    let text = String::from_utf8_lossy(a[0].as_bytes());
    let pattern = String::from_utf8_lossy(a[1].as_bytes());
    finish(&read(&text, &pattern)?, &text)
}

scalars! { FNS;
    "to_date" => |_, a| {
        let (f, _) = fields(a)?;
        let out = || pg_err!(
            DATETIME_VALUE_OUT_OF_RANGE, "date out of range: \"{}\"",
            crate::form::shown(a[0].as_bytes()));
        if !is_valid_julian(f.year, f.month) {
            return Err(out());
        }
        let d = date2j(f.year, f.month, f.day) - EPOCH_JDATE;
        if (DATE_MIN..DATE_END).contains(&d) { Ok(Datum::int4(d)) } else { Err(out()) }
    },
    "to_timestamp" => |cx: &mut dyn FnContext, a: &[DatumRef<'_>]| {
        let (f, east) = fields(a)?;
        let local = f.timestamp().ok_or_else(timestamp_range)?;
        let t = match east {
            Some(east) => local - i64::from(east) * USECS_PER_SEC,
            None => local_to_utc(&cx.settings().time_zone, local),
        };
        if is_valid_timestamp(t) { Ok(Datum::int8(t)) } else { Err(timestamp_range()) }
    },
}
