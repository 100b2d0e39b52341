//! Time zones over the tz database. Counterpart: pgtz.c, localtime.c.

use jiff::Timestamp;
use jiff::tz::TimeZone;

/// A time zone as `SET TimeZone` takes it.
#[derive(Clone, Debug)]
pub struct Zone {
    name: String,
    tz: TimeZone,
}

impl Zone {
    pub fn utc() -> Zone {
        Zone { name: "UTC".into(), tz: TimeZone::UTC }
    }

    /// The zone's name as `SHOW TimeZone` has it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// A zone of the tz database (case does not matter) or a POSIX specification; `None` where it is
    /// neither.
    pub fn named(name: &str) -> Option<Zone> {
        if let Ok(tz) = TimeZone::get(name) {
            let name = tz.iana_name().unwrap_or(name).to_string();
            return Some(Zone { name, tz });
        }
        let tz = TimeZone::posix(name).ok()?;
        Some(Zone { name: name.to_string(), tz })
    }

    /// Seconds east of Greenwich, daylight saving?, abbreviation, at a Unix time in seconds. Outside
    /// of jiff's years (-9999 to 9999) the rules of the nearest year that it knows hold.
    pub fn at_unix(&self, seconds: i64) -> (i32, bool, String) {
        let clamped = seconds.clamp(-377_705_023_201, 253_402_207_200);
        let ts = Timestamp::from_second(clamped).unwrap_or(Timestamp::UNIX_EPOCH);
        let info = self.tz.to_offset_info(ts);
        (info.offset().seconds(), info.dst().is_dst(), info.abbreviation().to_string())
    }

    pub fn tz(&self) -> &TimeZone {
        &self.tz
    }
}
