//! Time zones: those of the tz database, by the files of the machine or else by built-in data, and
//! POSIX specifications. Counterpart: pgtz.c, localtime.c.

use jiff::Timestamp;
use jiff::civil;
use jiff::tz::{AmbiguousOffset, TimeZone};
use std::collections::HashMap;
use std::sync::OnceLock;
use sync::RwLock;

/// A time zone, as a value of the parameter `TimeZone`.
#[derive(Clone, Debug)]
pub struct Zone {
    name: String,
    rules: Rules,
    /// If set, the offset is always that of this abbreviation: the offset of its last use before
    /// the time in question, else of its first use after it.
    abbreviation: Option<String>,
    /// The zone counts leap seconds.
    leap_seconds: bool,
}

#[derive(Clone, Debug)]
enum Rules {
    /// One offset, in seconds east of Greenwich, and its abbreviation.
    Fixed(i32, String),
    Table(TimeZone),
}

/// Files of time zones.
pub trait ZoneFiles: Sync {
    /// The contents of the file (TZif) of a zone, by its name in any case, and the proper name.
    fn read(&self, name: &str) -> Option<(String, Vec<u8>)>;
    /// The names of all zones, sorted.
    fn names(&self) -> Vec<String>;
}

/// The files of this machine. They are a property of the process, as its locales are.
static FILES: OnceLock<&'static dyn ZoneFiles> = OnceLock::new();
/// The zones in use, by upper-case name.
static ZONES: OnceLock<RwLock<HashMap<String, Zone>>> = OnceLock::new();
/// If exceeded, the zones in use are looked up again.
const ZONES_MAX: usize = 4096;

/// The rules of the Gregorian calendar repeat after 400 years, which is this number of seconds.
const CYCLE_SECONDS: i64 = 12_622_780_800;
/// 9600-01-01 in Unix seconds: later times are mapped to the cycle before.
const CYCLE_LIMIT: i64 = 240_779_520_000;
/// Offsets of POSIX specifications are smaller.
const OFFSET_HOURS_MAX: i32 = 168;
/// 2000-01-01 in Unix seconds.
const YEAR_2000: i64 = 946_684_800;
/// The rules of daylight saving time where a specification has none: those of the United States.
const DEFAULT_RULES: &str = ",M3.2.0,M11.1.0";

/// Looks zones up in these files from now on, if they contain the zone UTC. Without files, the
/// built-in data are used.
pub fn use_files(files: &'static dyn ZoneFiles) {
    if files.read("UTC").is_some() {
        // A second call has no effect: the process has one set of files.
        let _ = FILES.set(files);
    }
}

impl Zone {
    /// The zone UTC.
    pub fn utc() -> Zone {
        Zone::of("UTC".into(), Rules::Fixed(0, "UTC".into()))
    }

    /// A zone by a table. A table without changes is a fixed offset, which needs no search.
    fn by_table(name: String, tz: TimeZone) -> Zone {
        let fixed = tz.following(Timestamp::MIN).next().is_none();
        let rules = match tz.to_offset_info(Timestamp::UNIX_EPOCH) {
            info if fixed && !info.dst().is_dst() => {
                Rules::Fixed(info.offset().seconds(), info.abbreviation().to_owned())
            }
            _ => Rules::Table(tz.clone()),
        };
        Zone::of(name, rules)
    }

    fn of(name: String, rules: Rules) -> Zone {
        Zone { name, rules, abbreviation: None, leap_seconds: false }
    }

    /// The zone's name as `SHOW TimeZone` prints it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// A zone of the tz database (case-insensitive) or a POSIX specification; `None` if it is
    /// neither.
    pub fn named(name: &str) -> Option<Zone> {
        let upper = name.to_ascii_uppercase();
        let zones = ZONES.get_or_init(|| RwLock::new(HashMap::new()));
        if let Some(zone) = zones.read().get(&upper) {
            return Some(zone.clone());
        }
        let zone = of_database(name).or_else(|| of_specification(&upper))?;
        let mut zones = zones.write();
        if zones.len() >= ZONES_MAX {
            zones.clear();
        }
        zones.insert(upper, zone.clone());
        Some(zone)
    }

    /// A fixed offset in seconds east of Greenwich, as set by `SET TimeZone TO <number>`. `None` if
    /// it is out of range.
    pub fn fixed(seconds_east: i32) -> Option<Zone> {
        if seconds_east.unsigned_abs() / 3600 >= OFFSET_HOURS_MAX.unsigned_abs() {
            return None;
        }
        let (sign, s) = if seconds_east < 0 { ('-', -seconds_east) } else { ('+', seconds_east) };
        let mut text = format!("{sign}{:02}", s / 3600);
        if s % 3600 != 0 {
            text.push_str(&format!(":{:02}", s / 60 % 60));
        }
        if s % 60 != 0 {
            text.push_str(&format!(":{:02}", s % 60));
        }
        let west = text.replace(sign, if sign == '+' { "-" } else { "+" });
        Some(Zone::of(format!("<{text}>{west}"), Rules::Fixed(seconds_east, text)))
    }

    /// Whether the zone may be the value of a parameter: its offset at the start of the year 2000
    /// consists of minutes.
    pub fn is_acceptable(&self) -> bool {
        !self.leap_seconds && self.at_unix(YEAR_2000).0 % 60 == 0
    }

    /// Offset in seconds east of Greenwich, whether it is daylight saving time, and abbreviation at
    /// a Unix time in seconds.
    pub fn at_unix(&self, seconds: i64) -> (i32, bool, String) {
        let tz = match &self.rules {
            Rules::Fixed(offset, abbreviation) => return (*offset, false, abbreviation.clone()),
            Rules::Table(tz) => tz,
        };
        let ts = Timestamp::from_second(in_cycle(seconds)).unwrap_or(Timestamp::UNIX_EPOCH);
        if let Some((offset, dst)) = self.offset_of_abbreviation(tz, ts) {
            return (offset, dst, self.abbreviation.clone().unwrap_or_default());
        }
        let info = tz.to_offset_info(ts);
        (info.offset().seconds(), info.dst().is_dst(), info.abbreviation().to_string())
    }

    /// Offset in seconds east of Greenwich at a local time, given as seconds since 1970 on the
    /// local clock. In a gap it is the offset before the gap, in an overlap the later one.
    pub fn at_local(&self, local_seconds: i64) -> i32 {
        let tz = match &self.rules {
            Rules::Fixed(offset, _) => return *offset,
            Rules::Table(tz) => tz,
        };
        let s = in_cycle(local_seconds);
        let Ok(ts) = Timestamp::from_second(s) else { return 0 };
        let local: civil::DateTime = jiff::tz::Offset::UTC.to_datetime(ts);
        let offset = match tz.to_ambiguous_timestamp(local).offset() {
            AmbiguousOffset::Unambiguous { offset } => offset.seconds(),
            AmbiguousOffset::Gap { before, .. } => before.seconds(),
            AmbiguousOffset::Fold { after, .. } => after.seconds(),
        };
        let there = Timestamp::from_second(s - i64::from(offset)).ok();
        there.and_then(|ts| self.offset_of_abbreviation(tz, ts)).map_or(offset, |o| o.0)
    }

    /// Whether the zone has a single offset for all times.
    pub fn is_fixed(&self) -> bool {
        match &self.rules {
            Rules::Fixed(..) => true,
            Rules::Table(tz) => {
                let offset = tz.to_offset(Timestamp::UNIX_EPOCH);
                let mut changes = tz.following(Timestamp::MIN).take(1000);
                self.abbreviation.is_none() && changes.all(|change| change.offset() == offset)
            }
        }
    }

    /// The zone restricted to one of its abbreviations.
    pub fn abbreviated(mut self, abbreviation: &str) -> Zone {
        self.abbreviation = Some(abbreviation.to_string());
        self
    }

    /// Seconds east and daylight saving of the abbreviation when it was last used before `at`, or
    /// is first used after it.
    fn offset_of_abbreviation(&self, tz: &TimeZone, at: Timestamp) -> Option<(i32, bool)> {
        let wanted = self.abbreviation.as_deref()?;
        let now = tz.to_offset_info(at);
        if now.abbreviation() == wanted {
            return Some((now.offset().seconds(), now.dst().is_dst()));
        }
        // Rules without an end date have infinitely many transitions, so the search is limited.
        let past = tz.preceding(at).take(1000);
        let future = tz.following(at).take(1000);
        past.chain(future)
            .find(|t| t.abbreviation() == wanted)
            .map(|t| (t.offset().seconds(), t.dst().is_dst()))
    }
}

/// Maps times after the supported range to an equivalent year.
fn in_cycle(seconds: i64) -> i64 {
    match seconds >= CYCLE_LIMIT {
        true => seconds - ((seconds - CYCLE_LIMIT) / CYCLE_SECONDS + 1) * CYCLE_SECONDS,
        false => seconds,
    }
}

/// Names of the tz database, sorted.
pub fn names() -> Vec<String> {
    if let Some(files) = FILES.get() {
        return files.names();
    }
    let mut names: Vec<String> = jiff::tz::db().available().map(|n| n.to_string()).collect();
    names.sort_unstable();
    names
}

/// A zone of the tz database.
fn of_database(name: &str) -> Option<Zone> {
    let name = name.strip_prefix(':').unwrap_or(name);
    if name.eq_ignore_ascii_case("GMT") {
        return Some(Zone::of("GMT".into(), Rules::Fixed(0, "GMT".into())));
    }
    let Some(files) = FILES.get() else {
        let tz = TimeZone::get(name).ok()?;
        let name = tz.iana_name().unwrap_or(name).to_string();
        return Some(Zone::by_table(name, tz));
    };
    let (name, bytes) = files.read(name)?;
    let tz = TimeZone::tzif(&name, &bytes).ok()?;
    let leap_seconds = counts_leap_seconds(&bytes);
    Some(Zone { leap_seconds, ..Zone::by_table(name, tz) })
}

/// Whether the file's header has a number of leap seconds (bytes 28 to 31) that is not 0.
fn counts_leap_seconds(file: &[u8]) -> bool {
    file.get(28..32).is_some_and(|count| count != [0; 4])
}

/// A POSIX specification, in upper case: an abbreviation, which may be empty, and an offset,
/// positive to the west; then the abbreviation, the offset and the rules of daylight saving time.
/// Counterpart: `tzparse`.
fn of_specification(spec: &str) -> Option<Zone> {
    let (abbreviation, rest) = match spec.strip_prefix('<') {
        Some(quoted) => quoted.split_once('>')?,
        None => {
            let is_offset = |c: char| c.is_ascii_digit() || matches!(c, ',' | '-' | '+');
            spec.split_at(spec.find(is_offset)?)
        }
    };
    if let Some(west) = posix_offset(rest) {
        return Some(Zone::of(spec.to_owned(), Rules::Fixed(-west, abbreviation.to_owned())));
    }
    let tz = TimeZone::posix(spec).or_else(|_| TimeZone::posix(&format!("{spec}{DEFAULT_RULES}")));
    Some(Zone::of(spec.to_owned(), Rules::Table(tz.ok()?)))
}

/// `[+-]hh[:mm[:ss]]` in seconds.
fn posix_offset(text: &str) -> Option<i32> {
    let (sign, digits) = match text.as_bytes().first()? {
        b'-' => (-1, &text[1..]),
        b'+' => (1, &text[1..]),
        _ => (1, text),
    };
    let mut seconds = 0;
    let units = [(3600, OFFSET_HOURS_MAX - 1), (60, 59), (1, 60)];
    let mut parts = digits.split(':');
    for ((unit, max), part) in units.into_iter().zip(parts.by_ref()) {
        let plain = !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
        let n: i32 = plain.then(|| part.parse().ok()).flatten()?;
        if n > max {
            return None;
        }
        seconds += n * unit;
    }
    parts.next().is_none().then_some(sign * seconds)
}
