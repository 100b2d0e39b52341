//! Dates and times that are parsed by templates of the SQL standard: the values of jsonpath's
//! method `.datetime()`. Their type follows from the template. Counterpart: formatting.c
//! (`parse_datetime`), jsonpath_exec.c (`compareDatetime`), json.c (`JsonEncodeDateTime`).

use super::calendar::{
    DATE_END, DATE_MIN, EPOCH_JDATE, Fields, USECS_PER_SEC, date2j, is_valid_julian,
    is_valid_timestamp, j2date, round_micros, time_fields, time_of,
};
use super::compare::{date_cmp_timestamp, timetz_cmp, zoned};
use super::convert::{time_to_timetz, timetz, timetz_parts};
use super::format::{Node, parse_template};
use super::format_parse::{read_nodes, rounded};
use super::output::{clock, fraction, offset, shown_year};
use ids::Oid;
use pgerror::{PgError, Result, pg_err};
use std::cmp::Ordering;
use std::sync::LazyLock;
use values::datum::{Datum, DatumRef};
use values::fn_context::{FnContext, InterruptTicker};
use values::oids::{DATE, TIME, TIMESTAMP, TIMESTAMPTZ, TIMETZ};

/// A date or time.
#[derive(Clone, Debug)]
pub struct DateTime {
    /// date, time, timetz, timestamp or timestamptz.
    pub ty: Oid,
    pub value: Datum,
    /// Seconds east of Greenwich of the zone in the text.
    east: i32,
}

/// A template, parsed.
pub struct Template {
    nodes: Vec<Node>,
    parts: Parts,
}

/// What the fields of a template belong to.
#[derive(Clone, Copy, Default)]
struct Parts {
    date: bool,
    time: bool,
    zone: bool,
}

impl Parts {
    fn of(nodes: &[Node]) -> Parts {
        let mut parts = Parts::default();
        for node in nodes {
            let Node::Key { key, .. } = node else { continue };
            match *key {
                "fx" | "iw" | "tz" | "of" => {}
                "tzh" | "tzm" => parts.zone = true,
                "a.m." | "p.m." | "am" | "pm" | "hh" | "hh12" | "hh24" | "mi" | "ss" | "ms"
                | "us" | "ff1" | "ff2" | "ff3" | "ff4" | "ff5" | "ff6" | "ssss" | "sssss" => {
                    parts.time = true;
                }
                _ => parts.date = true,
            }
        }
        parts
    }
}

/// The templates that are tried if none is given: ISO 8601, with a blank or `T` before the time.
const ISO: [&str; 19] = [
    "yyyy-mm-dd",
    "HH24:MI:SS.USTZH:TZM",
    "HH24:MI:SS.USTZH",
    "HH24:MI:SSTZH:TZM",
    "HH24:MI:SSTZH",
    "HH24:MI:SS.US",
    "HH24:MI:SS",
    "yyyy-mm-dd HH24:MI:SS.USTZH:TZM",
    "yyyy-mm-dd HH24:MI:SS.USTZH",
    "yyyy-mm-dd HH24:MI:SSTZH:TZM",
    "yyyy-mm-dd HH24:MI:SSTZH",
    "yyyy-mm-dd\"T\"HH24:MI:SS.USTZH:TZM",
    "yyyy-mm-dd\"T\"HH24:MI:SS.USTZH",
    "yyyy-mm-dd\"T\"HH24:MI:SSTZH:TZM",
    "yyyy-mm-dd\"T\"HH24:MI:SSTZH",
    "yyyy-mm-dd HH24:MI:SS.US",
    "yyyy-mm-dd HH24:MI:SS",
    "yyyy-mm-dd\"T\"HH24:MI:SS.US",
    "yyyy-mm-dd\"T\"HH24:MI:SS",
];

static ISO_TEMPLATES: LazyLock<Vec<Template>> = LazyLock::new(|| {
    let parsed = ISO.iter().map(|text| Template::parse(text, &mut || Ok(())));
    parsed.collect::<Result<_>>().expect("the templates are valid")
});

impl Template {
    /// Parses a template; 22007 if it has a separator that the standard does not have.
    pub fn new(cx: &dyn FnContext, text: &[u8]) -> Result<Template> {
        let mut ticker = InterruptTicker::default();
        Template::parse(&String::from_utf8_lossy(text), &mut || ticker.tick(cx))
    }

    fn parse(text: &str, interrupts: &mut dyn FnMut() -> Result<()>) -> Result<Template> {
        let nodes = parse_template(text, true, interrupts)?;
        let parts = Parts::of(&nodes);
        Ok(Template { nodes, parts })
    }

    /// Reads a text. Error 22007 or 22008 if it does not match the template.
    pub fn read(&self, cx: &dyn FnContext, text: &[u8]) -> Result<DateTime> {
        if self.nodes.is_empty() {
            return Err(no_parts());
        }
        let text = String::from_utf8_lossy(text);
        let fields = read_nodes(cx, &text, &self.nodes, true)?;
        // Reading stops at the end of the text, so these fields are not always reported there.
        if let Some(Node::Key { written, .. }) =
            self.nodes.iter().find(|n| matches!(n, Node::Key { key: "tz" | "of", .. }))
        {
            return Err(pg_err!(
                FEATURE_NOT_SUPPORTED,
                "formatting field \"{written}\" is only supported in to_char"
            ));
        }
        let (read, east) = fields.finish(&text)?;
        let of = |ty: Oid, value: Datum| DateTime { ty, value, east: east.unwrap_or(0) };
        let time = time_of(read.hour, read.minute, read.second, read.micros);
        let time = round_micros(time, fields.precision.map_or(-1, |p| p as i32));
        let Parts { date, time: timed, zone } = self.parts;
        match (date, timed, zone) {
            (true, true, _) => {
                let name = if zone { "timestamptz" } else { "timestamp" };
                let out = || pg_err!(DATETIME_VALUE_OUT_OF_RANGE, "{name} out of range");
                let local = read.timestamp().ok_or_else(out)?;
                let east = if zone { i64::from(zone_of(east, name)?) } else { 0 };
                let t = local - east * USECS_PER_SEC;
                if !is_valid_timestamp(t) {
                    return Err(out());
                }
                let t = fields.precision.map_or(t, |p| rounded(t, p));
                Ok(of(if zone { TIMESTAMPTZ } else { TIMESTAMP }, Datum::int8(t)))
            }
            (true, false, true) => {
                Err(pg_err!(INVALID_DATETIME_FORMAT, "datetime format is zoned but not timed"))
            }
            (true, false, false) => Ok(of(DATE, Datum::int4(date_of(&read, &text)?))),
            (false, true, true) => Ok(of(TIMETZ, timetz(time, -zone_of(east, "timetz")?))),
            (false, true, false) => Ok(of(TIME, Datum::int8(time))),
            (false, false, _) => Err(no_parts()),
        }
    }
}

#[cold]
fn no_parts() -> PgError {
    pg_err!(INVALID_DATETIME_FORMAT, "datetime format is not dated and not timed")
}

fn zone_of(east: Option<i32>, name: &str) -> Result<i32> {
    east.ok_or_else(|| {
        pg_err!(INVALID_DATETIME_FORMAT, "missing time zone in input string for type {name}")
    })
}

fn date_of(read: &Fields, text: &str) -> Result<i32> {
    let out = || pg_err!(DATETIME_VALUE_OUT_OF_RANGE, "date out of range: \"{text}\"");
    if !is_valid_julian(read.year, read.month) {
        return Err(out());
    }
    let day = date2j(read.year, read.month, read.day) - EPOCH_JDATE;
    if (DATE_MIN..DATE_END).contains(&day) { Ok(day) } else { Err(out()) }
}

/// Whether the error says that a text is no date or time of a template. Others, such as that of a
/// cancelled query, are not errors of the value.
pub fn is_value_error(e: &PgError) -> bool {
    e.code().as_str().starts_with("22") || e.code() == pgerror::SqlState::FEATURE_NOT_SUPPORTED
}

/// Reads a text by the first ISO template that it matches; `None` if there is none.
pub fn read_iso(cx: &dyn FnContext, text: &[u8]) -> Result<Option<DateTime>> {
    for template in ISO_TEMPLATES.iter() {
        match template.read(cx, text) {
            Ok(value) => return Ok(Some(value)),
            Err(e) if is_value_error(&e) => {}
            Err(e) => return Err(e),
        }
    }
    Ok(None)
}

impl DateTime {
    /// The name of the type.
    pub fn type_name(&self) -> &'static str {
        match self.ty {
            DATE => "date",
            TIME => "time without time zone",
            TIMETZ => "time with time zone",
            TIMESTAMP => "timestamp without time zone",
            _ => "timestamp with time zone",
        }
    }

    /// The text in JSON: ISO 8601, in the zone of the parsed text.
    pub fn text(&self) -> String {
        let value = self.value.as_ref();
        match self.ty {
            DATE => {
                let (year, month, day) = j2date(value.as_i32() + EPOCH_JDATE);
                format!("{}{}", day_text(year, month, day), era(year))
            }
            TIME => time_text(value.as_i64()),
            TIMETZ => {
                let (time, west) = timetz_parts(value);
                time_text(time) + &zone_text(-west)
            }
            TIMESTAMP => timestamp_text(value.as_i64(), ""),
            _ => {
                let local = value.as_i64() + i64::from(self.east) * USECS_PER_SEC;
                timestamp_text(local, &zone_text(self.east))
            }
        }
    }
}

fn day_text(year: i32, month: i32, day: i32) -> String {
    format!("{:04}-{month:02}-{day:02}", shown_year(year))
}

fn era(year: i32) -> &'static str {
    if year <= 0 { " BC" } else { "" }
}

fn time_text(time: i64) -> String {
    let (h, m, s, us) = time_fields(time);
    clock(h, m, s, us)
}

fn timestamp_text(local: i64, zone: &str) -> String {
    let f = Fields::of_timestamp(local);
    let day = day_text(f.year, f.month, f.day);
    let (h, m, s) = (f.hour, f.minute, f.second);
    format!("{day}T{h:02}:{m:02}:{s:02}{}{zone}{}", fraction(f.micros), era(f.year))
}

/// An offset with hours and minutes.
fn zone_text(east: i32) -> String {
    let text = offset(east);
    if text.len() == 3 { text + ":00" } else { text }
}

/// The order of two values; `None` if their types cannot be compared. 0A000 if a conversion depends
/// on the session's time zone and `with_zone` is false.
pub fn compare(
    cx: &dyn FnContext,
    a: &DateTime,
    b: &DateTime,
    with_zone: bool,
) -> Result<Option<Ordering>> {
    let none = Oid::INVALID;
    let (x, y) = (a.value.as_ref(), b.value.as_ref());
    let reversed = |order: Result<Option<Ordering>>| order.map(|o| o.map(Ordering::reverse));
    let allowed = |from: &str, to: &str| if with_zone { Ok(()) } else { Err(needs_zone(from, to)) };
    let in_zone = |function: &str, x: DatumRef<'_>, y: DatumRef<'_>| {
        zoned(function, &cx.settings().time_zone).map(|c| c.order(x, y, none))
    };
    Ok(Some(match (a.ty, b.ty) {
        (DATE, DATE) => x.as_i32().cmp(&y.as_i32()),
        (TIME, TIME) | (TIMESTAMP, TIMESTAMP) | (TIMESTAMPTZ, TIMESTAMPTZ) => {
            x.as_i64().cmp(&y.as_i64())
        }
        (TIMETZ, TIMETZ) => timetz_cmp(x, y, none),
        (DATE, TIMESTAMP) => date_cmp_timestamp(x, y, none),
        (TIME, TIMETZ) => {
            allowed("time", "timetz")?;
            timetz_cmp(time_to_timetz(cx, x.as_i64()).as_ref(), y, none)
        }
        (DATE, TIMESTAMPTZ) => {
            allowed("date", "timestamptz")?;
            return Ok(in_zone("date_cmp_timestamptz", x, y));
        }
        (TIMESTAMP, TIMESTAMPTZ) => {
            allowed("timestamp", "timestamptz")?;
            return Ok(in_zone("timestamp_cmp_timestamptz", x, y));
        }
        (TIMESTAMP, DATE) | (TIMETZ, TIME) | (TIMESTAMPTZ, DATE | TIMESTAMP) => {
            return reversed(compare(cx, b, a, with_zone));
        }
        _ => return Ok(None),
    }))
}

#[cold]
fn needs_zone(from: &str, to: &str) -> PgError {
    pg_err!(
        FEATURE_NOT_SUPPORTED,
        "cannot convert value from {from} to {to} without time zone usage"
    )
    .hint("Use *_tz() function for time zone support.")
}
