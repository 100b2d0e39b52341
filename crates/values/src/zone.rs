//! Time zones over the tz database. Counterpart: pgtz.c, localtime.c.

use jiff::Timestamp;
use jiff::civil;
use jiff::tz::{AmbiguousOffset, TimeZone};

/// A time zone, as a value of the parameter `TimeZone`.
#[derive(Clone, Debug)]
pub struct Zone {
    name: String,
    tz: TimeZone,
    /// If set, the offset is always that of this abbreviation: the offset of its last use before
    /// the time in question, else of its first use after it.
    abbreviation: Option<String>,
}

/// The rules of the Gregorian calendar repeat after 400 years, which is this number of seconds.
const CYCLE_SECONDS: i64 = 12_622_780_800;
/// 9600-01-01 in Unix seconds: later times are mapped to the cycle before.
const CYCLE_LIMIT: i64 = 240_779_520_000;

impl Zone {
    /// The zone UTC.
    pub fn utc() -> Zone {
        Zone { name: "UTC".into(), tz: TimeZone::UTC, abbreviation: None }
    }

    /// The zone's name as `SHOW TimeZone` prints it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// A zone of the tz database (case-insensitive) or a POSIX specification; `None` if it is
    /// neither.
    pub fn named(name: &str) -> Option<Zone> {
        if let Ok(tz) = TimeZone::get(name) {
            let name = tz.iana_name().unwrap_or(name).to_string();
            return Some(Zone { name, tz, abbreviation: None });
        }
        if let Some(tz) = nameless(name) {
            return Some(Zone { name: name.to_string(), tz, abbreviation: None });
        }
        let upper = name.to_ascii_uppercase();
        let spec = if upper == "GMT" { "GMT0" } else { name };
        // A specification with daylight saving but without rules uses those of the United States.
        let american = format!("{upper},M3.2.0,M11.1.0");
        let posix = TimeZone::posix(spec).or_else(|_| TimeZone::posix(&upper));
        let tz = posix.or_else(|_| TimeZone::posix(&american)).ok();
        let tz = tz.or_else(|| short_name(name))?;
        Some(Zone { name: name.to_string(), tz, abbreviation: None })
    }

    /// A fixed offset in seconds east of Greenwich, as set by `SET TimeZone TO <number>`.
    pub fn fixed(seconds_east: i32) -> Option<Zone> {
        let offset = jiff::tz::Offset::from_seconds(seconds_east).ok()?;
        let (sign, s) = if seconds_east < 0 { ('-', -seconds_east) } else { ('+', seconds_east) };
        let mut text = format!("{sign}{:02}", s / 3600);
        if s % 3600 != 0 {
            text.push_str(&format!(":{:02}", s / 60 % 60));
        }
        let west = text.replace(sign, if sign == '+' { "-" } else { "+" });
        Some(Zone {
            name: format!("<{text}>{west}"),
            tz: offset.to_time_zone(),
            abbreviation: None,
        })
    }

    /// Offset in seconds east of Greenwich, whether it is daylight saving time, and abbreviation at
    /// a Unix time in seconds.
    pub fn at_unix(&self, seconds: i64) -> (i32, bool, String) {
        let mut s = seconds;
        if s >= CYCLE_LIMIT {
            s -= ((s - CYCLE_LIMIT) / CYCLE_SECONDS + 1) * CYCLE_SECONDS;
        }
        let ts = Timestamp::from_second(s).unwrap_or(Timestamp::UNIX_EPOCH);
        if let Some((offset, dst)) = self.offset_of_abbreviation(ts) {
            return (offset, dst, self.abbreviation.clone().unwrap_or_default());
        }
        let info = self.tz.to_offset_info(ts);
        (info.offset().seconds(), info.dst().is_dst(), info.abbreviation().to_string())
    }

    /// Offset in seconds east of Greenwich at a local time, given as seconds since 1970 on the
    /// local clock. In a gap it is the offset before the gap, in an overlap the later one.
    pub fn at_local(&self, local_seconds: i64) -> i32 {
        let mut s = local_seconds;
        if s >= CYCLE_LIMIT {
            s -= ((s - CYCLE_LIMIT) / CYCLE_SECONDS + 1) * CYCLE_SECONDS;
        }
        let Ok(ts) = Timestamp::from_second(s) else { return 0 };
        let local: civil::DateTime = jiff::tz::Offset::UTC.to_datetime(ts);
        let offset = match self.tz.to_ambiguous_timestamp(local).offset() {
            AmbiguousOffset::Unambiguous { offset } => offset.seconds(),
            AmbiguousOffset::Gap { before, .. } => before.seconds(),
            AmbiguousOffset::Fold { after, .. } => after.seconds(),
        };
        let there = Timestamp::from_second(s - i64::from(offset)).ok();
        there.and_then(|ts| self.offset_of_abbreviation(ts)).map_or(offset, |o| o.0)
    }

    /// Whether the zone has a single offset for all times.
    pub fn is_fixed(&self) -> bool {
        let offset = self.tz.to_offset(Timestamp::UNIX_EPOCH);
        let mut changes = self.tz.following(Timestamp::MIN).take(1000);
        self.abbreviation.is_none() && changes.all(|change| change.offset() == offset)
    }

    /// The zone restricted to one of its abbreviations.
    pub fn abbreviated(mut self, abbreviation: &str) -> Zone {
        self.abbreviation = Some(abbreviation.to_string());
        self
    }

    /// Seconds east and daylight saving of the abbreviation when it was last used before `at`, or
    /// is first used after it.
    fn offset_of_abbreviation(&self, at: Timestamp) -> Option<(i32, bool)> {
        let wanted = self.abbreviation.as_deref()?;
        let now = self.tz.to_offset_info(at);
        if now.abbreviation() == wanted {
            return Some((now.offset().seconds(), now.dst().is_dst()));
        }
        // Rules without an end date have infinitely many transitions, so the search is limited.
        let past = self.tz.preceding(at).take(1000);
        let future = self.tz.following(at).take(1000);
        past.chain(future)
            .find(|t| t.abbreviation() == wanted)
            .map(|t| (t.offset().seconds(), t.dst().is_dst()))
    }

    /// The rules of the zone.
    pub fn tz(&self) -> &TimeZone {
        &self.tz
    }
}

/// Names of the tz database, sorted.
pub fn names() -> Vec<String> {
    let mut names: Vec<String> = jiff::tz::db().available().map(|n| n.to_string()).collect();
    names.sort_unstable();
    names
}

/// A POSIX specification with an abbreviation that is no abbreviation in POSIX, such as "x4" and
/// "a/b-4", and without daylight saving.
fn short_name(spec: &str) -> Option<TimeZone> {
    let rest = match spec.strip_prefix('<') {
        Some(quoted) => quoted.split_once('>')?.1,
        None => {
            let is_offset = |c: char| c.is_ascii_digit() || matches!(c, ',' | '-' | '+');
            &spec[spec.find(is_offset)?..]
        }
    };
    nameless(rest)
}

/// A POSIX specification without a zone name: an offset alone, positive to the west. Also one with
/// a name in angle brackets before the offset.
fn nameless(spec: &str) -> Option<TimeZone> {
    let spec = match spec.strip_prefix('<').and_then(|s| s.split_once('>')) {
        Some((name, rest)) if name.starts_with(['+', '-']) => rest,
        Some(_) => return None,
        None => spec,
    };
    let (east, digits) = match spec.as_bytes().first()? {
        b'-' => (1, &spec[1..]),
        b'+' => (-1, &spec[1..]),
        b'0'..=b'9' => (-1, spec),
        _ => return None,
    };
    let mut seconds = 0;
    let mut unit = 3600;
    for (i, part) in digits.split(':').enumerate() {
        let plain = !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
        let n: i32 = plain.then(|| part.parse().ok()).flatten()?;
        if i > 2 || n > if i == 0 { 24 } else { 59 } {
            return None;
        }
        seconds += n * unit;
        unit /= 60;
    }
    Some(jiff::tz::Offset::from_seconds(east * seconds).ok()?.to_time_zone())
}
