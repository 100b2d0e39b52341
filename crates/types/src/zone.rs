//! Time zones over the tz database. Counterpart: pgtz.c, localtime.c.

use jiff::Timestamp;
use jiff::civil;
use jiff::tz::{AmbiguousOffset, TimeZone};

/// A time zone as `SET TimeZone` takes it.
#[derive(Clone, Debug)]
pub struct Zone {
    name: String,
    tz: TimeZone,
    /// Only this abbreviation's offset counts: the last one that it stood for, or will stand for
    /// first.
    abbreviation: Option<String>,
}

/// Rules of the calendar repeat after 400 years: this many seconds.
const CYCLE_SECONDS: i64 = 12_622_780_800;
/// 9600-01-01: years from here on are taken from the cycle before.
const CYCLE_LIMIT: i64 = 240_779_520_000;

impl Zone {
    pub fn utc() -> Zone {
        Zone { name: "UTC".into(), tz: TimeZone::UTC, abbreviation: None }
    }

    /// The zone's name as `SHOW TimeZone` has it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// A zone of the tz database (case does not matter) or a POSIX specification; `None` where it
    /// is neither.
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
        // Daylight saving without rules is that of the United States.
        let american = format!("{upper},M3.2.0,M11.1.0");
        let posix = TimeZone::posix(spec).or_else(|_| TimeZone::posix(&upper));
        let tz = posix.or_else(|_| TimeZone::posix(&american)).ok()?;
        Some(Zone { name: name.to_string(), tz, abbreviation: None })
    }

    /// A fixed offset in seconds east of Greenwich, as `SET TimeZone TO <number>` makes it.
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

    /// Seconds east of Greenwich, daylight saving?, abbreviation, at a Unix time in seconds.
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

    /// Seconds east of Greenwich at a local time, given as seconds since 1970 on the local clock.
    /// In a gap the offset before it holds, in an overlap the later one.
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

    /// Has it had one offset for ever?
    pub fn is_fixed(&self) -> bool {
        let offset = self.tz.to_offset(Timestamp::UNIX_EPOCH);
        let mut changes = self.tz.following(Timestamp::MIN).take(1000);
        self.abbreviation.is_none() && changes.all(|change| change.offset() == offset)
    }

    /// The zone as one of its abbreviations knows it.
    pub fn abbreviated(mut self, abbreviation: &str) -> Zone {
        self.abbreviation = Some(abbreviation.to_string());
        self
    }

    /// Seconds east and daylight saving as the abbreviation had them last, or will have them first.
    fn offset_of_abbreviation(&self, at: Timestamp) -> Option<(i32, bool)> {
        let wanted = self.abbreviation.as_deref()?;
        let now = self.tz.to_offset_info(at);
        if now.abbreviation() == wanted {
            return Some((now.offset().seconds(), now.dst().is_dst()));
        }
        // Rules that go on for ever are looked at for some centuries.
        let past = self.tz.preceding(at).take(1000);
        let future = self.tz.following(at).take(1000);
        past.chain(future)
            .find(|t| t.abbreviation() == wanted)
            .map(|t| (t.offset().seconds(), t.dst().is_dst()))
    }

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

/// A POSIX specification that gives its zone no name: an offset alone, positive to the west.
/// The same behind a name in angle brackets that says the offset too.
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
