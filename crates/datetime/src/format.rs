//! to_char over timestamps and intervals, and the template parser that to_date and to_timestamp
//! share. Counterpart: formatting.c.

use super::calendar::{EPOCH_UNIX, Fields, USECS_PER_SEC, date2j, is_finite_ts, iso_week, j2day};
use super::convert::utc_to_local;
use super::interval::Interval;
use pgerror::{Result, pg_err};
use values::datum::{Datum, DatumRef};
use values::fn_context::{FnContext, InterruptTicker};
use values::limits::{ALLOCATION_BYTES_MAX, TextBuffer, invalid_allocation};

/// Keywords, longer ones before their prefixes. They are written entirely in upper or lower case;
/// names of days and months also capitalized.
const KEYWORDS: &[&str] = &[
    "a.d.", "a.m.", "ad", "am", "b.c.", "bc", "cc", "day", "ddd", "dd", "dy", "d", "ff1", "ff2",
    "ff3", "ff4", "ff5", "ff6", "fx", "hh24", "hh12", "hh", "iddd", "id", "iw", "iyyy", "iyy",
    "iy", "i", "j", "mi", "mm", "month", "mon", "ms", "of", "p.m.", "pm", "q", "rm", "sssss",
    "ssss", "ss", "tzh", "tzm", "tz", "us", "ww", "w", "y,yyy", "yyyy", "yyy", "yy", "y",
];

/// Case of a keyword in the template.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Case {
    Upper,
    Capital,
    Lower,
}

/// An element of a template.
#[derive(Clone, Debug)]
pub(super) enum Node {
    Key {
        key: &'static str,
        /// The keyword as written in the template.
        written: String,
        case: Case,
        /// False with the prefix FM.
        fill: bool,
        ordinal: Option<bool>,
    },
    Text(char),
    /// White space, or a separator: a printable ASCII character other than a letter or a digit.
    Gap(char),
}

/// Whether the character is a separator.
pub(super) fn is_separator(c: char) -> bool {
    ('!'..='~').contains(&c) && !c.is_ascii_alphanumeric()
}

/// White space of the C locale.
pub(super) fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t'..='\r')
}

/// The keyword at the start of `rest`, and its case.
fn keyword(rest: &str) -> Option<(&'static str, Case)> {
    KEYWORDS.iter().find_map(|key| {
        // Most keywords are excluded by their first letter.
        let first = rest.as_bytes().first()?;
        if !key.as_bytes()[0].eq_ignore_ascii_case(first) {
            return None;
        }
        let there = rest.get(..key.len())?;
        let capital = there.starts_with(key.chars().next()?.to_ascii_uppercase());
        if there == *key {
            Some((*key, Case::Lower))
        } else if there.bytes().eq(key.bytes().map(|b| b.to_ascii_uppercase())) {
            Some((*key, Case::Upper))
        } else if capital
            && there[1..] == key[1..]
            && matches!(*key, "day" | "dy" | "month" | "mon")
        {
            Some((*key, Case::Capital))
        } else {
            None
        }
    })
}

/// Parses a template.
pub(super) fn template(cx: &dyn FnContext, text: &str) -> Result<Vec<Node>> {
    let mut ticker = InterruptTicker::default();
    parse_template(text, false, &mut || ticker.tick(cx))
}

/// The separators that templates of the SQL standard may contain.
const STANDARD_SEPARATORS: &str = "-./,':; ";

/// Parses a template. `standard`: only the separators of the SQL standard and quoted text may be
/// between the keywords. `interrupts` is the check for interrupts.
pub(super) fn parse_template(
    text: &str,
    standard: bool,
    interrupts: &mut dyn FnMut() -> Result<()>,
) -> Result<Vec<Node>> {
    let mut out = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        interrupts()?;
        let prefix = ["FM", "fm", "TM", "tm"].into_iter().find(|p| rest.starts_with(p));
        let fill = !matches!(prefix, Some("FM" | "fm"));
        rest = &rest[prefix.map_or(0, str::len)..];
        if let Some((key, case)) = keyword(rest) {
            // Localized names are not padded.
            let is_name = matches!(key, "day" | "dy" | "month" | "mon");
            let fill = fill && !(is_name && matches!(prefix, Some("TM" | "tm")));
            let written = rest[..key.len()].to_string();
            rest = &rest[key.len()..];
            let mut ordinal = None;
            if let Some(suffix) = ["TH", "th", "SP"].into_iter().find(|p| rest.starts_with(p)) {
                ordinal = (suffix != "SP").then_some(suffix == "TH");
                rest = &rest[2..];
            }
            out.push(Node::Key { key, written, case, fill, ordinal });
            continue;
        }
        if let Some(quoted) = rest.strip_prefix('"') {
            let mut chars = quoted.chars();
            while let Some(c) = chars.next().filter(|c| *c != '"') {
                // A backslash at the end of the template is literal.
                let c = if c == '\\' { chars.next().unwrap_or(c) } else { c };
                out.push(Node::Text(c));
            }
            rest = chars.as_str();
            continue;
        }
        if !standard {
            rest = rest.strip_prefix('\\').filter(|r| r.starts_with('"')).unwrap_or(rest);
        }
        let mut chars = rest.chars();
        if let Some(c) = chars.next() {
            if standard && !STANDARD_SEPARATORS.contains(c) {
                return Err(pg_err!(
                    INVALID_DATETIME_FORMAT,
                    "invalid datetime format separator: \"{c}\""
                ));
            }
            out.push(if is_separator(c) || is_space(c) { Node::Gap(c) } else { Node::Text(c) });
        }
        rest = chars.as_str();
    }
    Ok(out)
}

pub(super) const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
pub(super) const DAYS: [&str; 7] =
    ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
pub(super) const ROMAN: [&str; 12] =
    ["I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X", "XI", "XII"];

fn cased(text: &str, case: Case) -> String {
    match case {
        Case::Upper => text.to_uppercase(),
        Case::Lower => text.to_lowercase(),
        Case::Capital => text.to_string(),
    }
}

/// The ordinal suffix of a number: `st`, `nd`, `rd`, `th`.
fn ordinal(number: &str, upper: bool) -> &'static str {
    let digits = number.as_bytes();
    let n = digits.len();
    let teens = n > 1 && digits[n - 2] == b'1';
    let lower = match digits.last() {
        Some(b'1') if !teens => "st",
        Some(b'2') if !teens => "nd",
        Some(b'3') if !teens => "rd",
        _ => "th",
    };
    match (upper, lower) {
        (false, l) => l,
        (true, "st") => "ST",
        (true, "nd") => "ND",
        (true, "rd") => "RD",
        _ => "TH",
    }
}

/// The fields of a timestamp, or the parts of an interval.
struct Source {
    year: i64,
    month: i32,
    day: i32,
    hour: i64,
    minute: i32,
    second: i32,
    micros: i32,
    interval: bool,
    zone: Option<(i32, String)>,
}

impl Source {
    /// The ISO week and its year.
    fn iso_week(&self) -> (i32, i32) {
        iso_week(self.year as i32, self.month, self.day)
    }

    /// The day of the week; 0 is Sunday.
    fn weekday(&self) -> i32 {
        j2day(self.julian())
    }

    fn julian(&self) -> i32 {
        date2j(self.year as i32, self.month, self.day)
    }

    fn day_of_year(&self) -> i64 {
        if self.interval {
            (self.year * 12 + i64::from(self.month)) * 30 + i64::from(self.day)
        } else {
            i64::from(self.julian() - date2j(self.year as i32, 1, 1) + 1)
        }
    }

    fn shown_year(&self) -> i64 {
        if self.interval || self.year > 0 { self.year } else { 1 - self.year }
    }
}

fn not_for_interval(s: &Source) -> Result<()> {
    if s.interval {
        return Err(pg_err!(
            INVALID_DATETIME_FORMAT,
            "invalid format specification for an interval value"
        )
        .hint("Intervals are not tied to specific calendar dates."));
    }
    Ok(())
}

/// A number padded to `width` characters, the minus sign included.
fn plain(v: i64, width: usize, fill: bool) -> String {
    let width = if fill { width } else { 0 };
    format!("{v:0width$}")
}

/// A number padded to `width` digits.
fn number(v: i64, width: usize, fill: bool) -> String {
    let width = if !fill {
        0
    } else if v < 0 {
        width + 1
    } else {
        width
    };
    format!("{v:0width$}")
}

fn padded(text: String, width: usize, fill: bool) -> String {
    if fill { format!("{text:<width$}") } else { text }
}

/// The text of a keyword, and whether it is a number that may have an ordinal suffix.
type Shown = Result<(String, bool)>;

fn num(fill: bool, v: i64, width: usize) -> Shown {
    Ok((number(v, width, fill), true))
}

fn short(fill: bool, v: i64) -> Shown {
    Ok((plain(v, 2, fill), true))
}

fn year_part(fill: bool, y: i64, width: usize) -> Shown {
    let modulus = 10i64.pow(width as u32);
    Ok((number(if width < 4 { y % modulus } else { y }, width, fill), true))
}

/// The text of one keyword.
fn key_text(key: &str, case: Case, fill: bool, s: &Source) -> Shown {
    match key {
        "a.m." | "p.m." => {
            let t = if s.hour % 24 >= 12 { "P.M." } else { "A.M." };
            Ok((cased(t, case), false))
        }
        "am" | "pm" => {
            let t = if s.hour % 24 >= 12 { "PM" } else { "AM" };
            Ok((cased(t, case), false))
        }
        "hh" | "hh12" => {
            let h = s.hour % 12;
            // The hour 12 of a negative interval has no sign, but its width is that of a signed
            // one.
            num(fill, if h == 0 { 12 } else { h }, if h == 0 && s.hour < 0 { 3 } else { 2 })
        }
        "hh24" => num(fill, s.hour, 2),
        "mi" => num(fill, s.minute.into(), 2),
        "ss" => num(fill, s.second.into(), 2),
        "ff1" | "ff2" | "ff3" | "ff4" | "ff5" | "ff6" => {
            let n = (key.as_bytes()[2] - b'0') as usize;
            let v = s.micros / 10i32.pow(6 - n as u32);
            Ok((format!("{v:0n$}"), true))
        }
        "ms" => Ok((format!("{:03}", s.micros / 1000), true)),
        "us" => Ok((format!("{:06}", s.micros), true)),
        "ssss" | "sssss" => {
            let v = s.hour * 3600 + i64::from(s.minute) * 60 + i64::from(s.second);
            Ok((v.to_string(), true))
        }
        "tz" => {
            not_for_interval(s)?;
            let name = s.zone.as_ref().map_or("", |z| &z.1);
            Ok((if case == Case::Lower { name.to_lowercase() } else { name.to_string() }, false))
        }
        "tzh" | "tzm" | "of" => {
            not_for_interval(s)?;
            let east = s.zone.as_ref().map_or(0, |z| z.0);
            let sign = if east >= 0 { '+' } else { '-' };
            let (h, m) = (east.abs() / 3600, east.abs() / 60 % 60);
            Ok((
                match key {
                    "tzh" => format!("{sign}{h:02}"),
                    "tzm" => format!("{m:02}"),
                    _ => {
                        let hours = if fill { format!("{h:02}") } else { h.to_string() };
                        let minutes = if m == 0 { String::new() } else { format!(":{m:02}") };
                        format!("{sign}{hours}{minutes}")
                    }
                },
                false,
            ))
        }
        "cc" | "y,yyy" | "yyyy" | "yyy" | "yy" | "y" | "iyyy" | "iyy" | "iy" | "i" => {
            year_text(key, fill, s)
        }
        _ => date_text(key, case, fill, s),
    }
}

/// Keywords for the parts of a date, except the year.
fn date_text(key: &str, case: Case, fill: bool, s: &Source) -> Shown {
    match key {
        "a.d." | "b.c." | "ad" | "bc" => {
            not_for_interval(s)?;
            let t = match (key.contains('.'), s.year <= 0) {
                (true, true) => "B.C.",
                (true, false) => "A.D.",
                (false, true) => "BC",
                (false, false) => "AD",
            };
            Ok((cased(t, case), false))
        }
        "month" | "mon" => {
            not_for_interval(s)?;
            let Some(name) = MONTHS.get(s.month as usize - 1) else {
                return Ok((String::new(), false));
            };
            if key == "mon" {
                return Ok((cased(&name[..3], case), false));
            }
            Ok((padded(cased(name, case), 9, fill), false))
        }
        "day" => {
            not_for_interval(s)?;
            Ok((padded(cased(DAYS[s.weekday() as usize], case), 9, fill), false))
        }
        "dy" => {
            not_for_interval(s)?;
            Ok((cased(&DAYS[s.weekday() as usize][..3], case), false))
        }
        "mm" => num(fill, s.month.into(), 2),
        "ddd" => Ok((plain(s.day_of_year(), 3, fill), true)),
        "iddd" => {
            let (week, _) = s.iso_week();
            let d = s.weekday();
            num(fill, ((week - 1) * 7 + if d == 0 { 7 } else { d }).into(), 3)
        }
        "dd" => short(fill, s.day.into()),
        "d" => {
            not_for_interval(s)?;
            Ok(((s.weekday() + 1).to_string(), true))
        }
        "id" => {
            not_for_interval(s)?;
            let d = s.weekday();
            Ok(((if d == 0 { 7 } else { d }).to_string(), true))
        }
        "ww" => short(fill, (s.day_of_year() - 1) / 7 + 1),
        "iw" => short(fill, s.iso_week().0.into()),
        "w" => Ok((((s.day - 1) / 7 + 1).to_string(), true)),
        "q" => {
            if s.month == 0 {
                return Ok((String::new(), false));
            }
            Ok((((s.month - 1) / 3 + 1).to_string(), true))
        }
        "rm" => {
            // The months of an interval may be 0, which is a whole number of years, or negative,
            // which counts back from the end of the year.
            let i = match s.month {
                0 if s.year == 0 => return Ok((String::new(), false)),
                0 if s.year > 0 => 11,
                0 => 0,
                m if m < 0 => 12 + m,
                m => m - 1,
            };
            let name = usize::try_from(i).ok().and_then(|i| ROMAN.get(i)).copied().unwrap_or("");
            Ok((padded(cased(name, case), 4, fill), false))
        }
        "j" => Ok((s.julian().to_string(), true)),
        _ => Ok((String::new(), false)),
    }
}

/// Keywords for the year and the century.
fn year_text(key: &str, fill: bool, s: &Source) -> Shown {
    match key {
        "cc" => {
            let century = if s.interval {
                s.year / 100
            } else if s.year > 0 {
                (s.year - 1) / 100 + 1
            } else {
                s.year / 100 - 1
            };
            if (-99..=99).contains(&century) {
                num(fill, century, 2)
            } else {
                Ok((century.to_string(), true))
            }
        }
        "y,yyy" => {
            let y = s.shown_year();
            Ok((format!("{},{:03}", y / 1000, y % 1000), true))
        }
        "yyyy" => year_part(fill, s.shown_year(), 4),
        "yyy" => year_part(fill, s.shown_year(), 3),
        "yy" => year_part(fill, s.shown_year(), 2),
        "y" => Ok(((s.shown_year() % 10).to_string(), true)),
        // "iyyy" to "i".
        _ => {
            let y = i64::from(s.iso_week().1);
            let y = if s.interval || y > 0 { y } else { 1 - y };
            if key == "i" {
                return Ok(((y % 10).to_string(), true));
            }
            // The width depends on the sign of the calendar year.
            let width = key.len() + usize::from(s.shown_year() < 0);
            let shown = if key == "iyyy" { y } else { y % 10i64.pow(key.len() as u32) };
            Ok((plain(shown, width, fill), true))
        }
    }
}

/// A parsed template, cached from call to call.
struct CachedTemplate {
    pattern: Vec<u8>,
    nodes: Vec<Node>,
}

fn show(cx: &mut dyn FnContext, s: &Source, pattern: &[u8]) -> Result<Datum> {
    // PostgreSQL allocates memory for the longest possible output, so the same limit applies here.
    let longest = pattern.len().saturating_mul(KEY_TEXT_BYTES_MAX) + 1;
    if longest > ALLOCATION_BYTES_MAX {
        return Err(invalid_allocation(longest));
    }
    let kept = cx.extra().take().and_then(|e| e.downcast::<CachedTemplate>().ok());
    let cached = match kept.filter(|c| c.pattern == pattern) {
        Some(cached) => cached,
        None => {
            let nodes = template(cx, &String::from_utf8_lossy(pattern))?;
            Box::new(CachedTemplate { pattern: pattern.to_vec(), nodes })
        }
    };
    let shown = text_of(cx, s, &cached.nodes);
    *cx.extra() = Some(cached);
    shown
}

fn text_of(cx: &dyn FnContext, s: &Source, nodes: &[Node]) -> Result<Datum> {
    let mut out = TextBuffer::new();
    let mut ticker = InterruptTicker::default();
    for node in nodes {
        ticker.tick(cx)?;
        match node {
            Node::Text(c) | Node::Gap(c) => {
                out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
            }
            Node::Key { key, case, fill, ordinal: suffix, .. } => {
                let (text, numeric) = key_text(key, *case, *fill, s)?;
                out.extend_from_slice(text.as_bytes());
                if let (Some(upper), true) = (suffix, numeric) {
                    out.extend_from_slice(ordinal(&text, *upper).as_bytes());
                }
            }
        }
    }
    out.into_datum()
}

/// The longest output for one byte of a keyword (`DCH_MAX_ITEM_SIZ`).
const KEY_TEXT_BYTES_MAX: usize = 12;

fn source(f: &Fields, zone: Option<(i32, String)>) -> Source {
    Source {
        year: f.year.into(),
        month: f.month,
        day: f.day,
        hour: f.hour.into(),
        minute: f.minute,
        second: f.second,
        micros: f.micros,
        interval: false,
        zone,
    }
}

fn timestamp(cx: &mut dyn FnContext, a: &[DatumRef<'_>], tz: bool) -> Result<Datum> {
    let t = a[0].as_i64();
    if a[1].as_bytes().is_empty() || !is_finite_ts(t) {
        return Ok(Datum::Null);
    }
    if !tz {
        return show(cx, &source(&Fields::of_timestamp(t), None), a[1].as_bytes());
    }
    let zone = &cx.settings().time_zone;
    let (local, east) = utc_to_local(zone, t);
    let name = zone.at_unix(t.div_euclid(USECS_PER_SEC) + EPOCH_UNIX).2;
    let shown = source(&Fields::of_timestamp(local), Some((east, name)));
    show(cx, &shown, a[1].as_bytes())
}

fn interval(cx: &mut dyn FnContext, a: &[DatumRef<'_>]) -> Result<Datum> {
    if a[1].as_bytes().is_empty() {
        return Ok(Datum::Null);
    }
    let (year, month, day, hour, minute, second, micros) = Interval::of(a[0]).parts();
    let s = Source {
        year: year.into(),
        month,
        day,
        hour,
        minute,
        second,
        micros,
        interval: true,
        zone: None,
    };
    show(cx, &s, a[1].as_bytes())
}

scalars! { FNS;
    "timestamp_to_char" => |cx, a| timestamp(cx, a, false),
    "timestamptz_to_char" => |cx, a| timestamp(cx, a, true),
    "interval_to_char" => |cx, a| interval(cx, a),
}
