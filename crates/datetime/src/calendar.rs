//! Conversion between days, timestamps and calendar fields; the ranges of the types, and the errors
//! for values out of range.

use pgerror::{PgError, Result, pg_err};

pub const USECS_PER_SEC: i64 = 1_000_000;
pub const USECS_PER_MINUTE: i64 = 60 * USECS_PER_SEC;
pub const USECS_PER_HOUR: i64 = 60 * USECS_PER_MINUTE;
pub const USECS_PER_DAY: i64 = 24 * USECS_PER_HOUR;
pub const SECS_PER_DAY: i64 = 86_400;
/// Julian day of 2000-01-01.
pub const EPOCH_JDATE: i32 = 2_451_545;
/// Julian day of 1970-01-01.
pub const UNIX_EPOCH_JDATE: i32 = 2_440_588;
/// Seconds from 1970-01-01 to 2000-01-01.
pub const EPOCH_UNIX: i64 = (EPOCH_JDATE - UNIX_EPOCH_JDATE) as i64 * SECS_PER_DAY;

/// The timestamp `-infinity`.
pub const TIMESTAMP_NOBEGIN: i64 = i64::MIN;
/// The timestamp `infinity`.
pub const TIMESTAMP_NOEND: i64 = i64::MAX;
/// The date `-infinity`.
pub const DATE_NOBEGIN: i32 = i32::MIN;
/// The date `infinity`.
pub const DATE_NOEND: i32 = i32::MAX;
/// The first timestamp: 4713-11-24 BC.
pub const TIMESTAMP_MIN: i64 = -211_813_488_000_000_000;
/// The end of the range of timestamps (exclusive): 294277-01-01.
pub const TIMESTAMP_END: i64 = 9_223_371_331_200_000_000;
/// The first date, and the day after the last date, in days since 2000-01-01.
pub const DATE_MIN: i32 = -EPOCH_JDATE;
pub const DATE_END: i32 = 2_147_483_494 - EPOCH_JDATE;

/// Broken-down time; months and days are 1-based.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Fields {
    pub year: i32,
    pub month: i32,
    pub day: i32,
    pub hour: i32,
    pub minute: i32,
    pub second: i32,
    /// Microseconds of the second.
    pub micros: i32,
}

/// Julian day of a date in the proleptic Gregorian calendar.
pub fn date2j(year: i32, month: i32, day: i32) -> i32 {
    let (mut y, mut m) = (i64::from(year), i64::from(month));
    if m > 2 {
        m += 1;
        y += 4800;
    } else {
        m += 13;
        y += 4799;
    }
    let century = y / 100;
    let mut julian = y * 365 - 32167;
    julian += y / 4 - century + century / 4;
    julian += 7834 * m / 256 + i64::from(day);
    julian as i32
}

/// Year, month and day of a Julian day.
pub fn j2date(jd: i32) -> (i32, i32, i32) {
    // Days since 0000-03-01, in eras of 400 years.
    let days = i64::from(jd) - 1_721_120;
    let era = days.div_euclid(146_097);
    let doe = days.rem_euclid(146_097);
    let yoe = (doe - doe / 1460 + doe / 36_524 - doe / 146_096) / 365;
    let doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
    let mp = (5 * doy + 2) / 153;
    let day = doy - (153 * mp + 2) / 5 + 1;
    let month = if mp < 10 { mp + 3 } else { mp - 9 };
    let year = yoe + era * 400 + i64::from(month <= 2);
    (year as i32, month as i32, day as i32)
}

/// Day of the week, Sunday 0.
pub fn j2day(jd: i32) -> i32 {
    (i64::from(jd) + 1).rem_euclid(7) as i32
}

/// Whether the year is a leap year of the Gregorian calendar.
pub fn is_leap(year: i32) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

/// Number of days of a month (1 to 12).
pub fn days_in_month(year: i32, month: i32) -> i32 {
    match month {
        2 => 28 + i32::from(is_leap(year)),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Whether the month is in the range of Julian days.
pub fn is_valid_julian(year: i32, month: i32) -> bool {
    (year > -4713 || (year == -4713 && month >= 11))
        && (year < 5_874_898 || (year == 5_874_898 && month < 6))
}

/// Whether the timestamp is finite and in the range of timestamps.
pub fn is_valid_timestamp(t: i64) -> bool {
    (TIMESTAMP_MIN..TIMESTAMP_END).contains(&t)
}

/// Whether the timestamp is not infinite.
pub fn is_finite_ts(t: i64) -> bool {
    t != TIMESTAMP_NOBEGIN && t != TIMESTAMP_NOEND
}

/// Whether the date is not infinite.
pub fn is_finite_date(d: i32) -> bool {
    d != DATE_NOBEGIN && d != DATE_NOEND
}

/// 22008: "timestamp out of range".
#[cold]
pub fn timestamp_range() -> PgError {
    pg_err!(DATETIME_VALUE_OUT_OF_RANGE, "timestamp out of range")
}

/// 22008: "date out of range".
#[cold]
pub fn date_range() -> PgError {
    pg_err!(DATETIME_VALUE_OUT_OF_RANGE, "date out of range")
}

/// 22008: "interval out of range".
#[cold]
pub fn interval_range() -> PgError {
    pg_err!(DATETIME_VALUE_OUT_OF_RANGE, "interval out of range")
}

/// Hour, minute, second and microseconds of a time of day.
pub fn time_fields(t: i64) -> (i32, i32, i32, i32) {
    (
        (t / USECS_PER_HOUR) as i32,
        (t / USECS_PER_MINUTE % 60) as i32,
        (t / USECS_PER_SEC % 60) as i32,
        (t % USECS_PER_SEC) as i32,
    )
}

/// A time of day in microseconds.
pub fn time_of(hour: i32, minute: i32, second: i32, micros: i32) -> i64 {
    ((i64::from(hour) * 60 + i64::from(minute)) * 60 + i64::from(second)) * USECS_PER_SEC
        + i64::from(micros)
}

impl Fields {
    /// The fields of a timestamp without zone.
    pub fn of_timestamp(t: i64) -> Fields {
        let days = t.div_euclid(USECS_PER_DAY);
        let (year, month, day) = j2date((days + i64::from(EPOCH_JDATE)) as i32);
        let (hour, minute, second, micros) = time_fields(t.rem_euclid(USECS_PER_DAY));
        Fields { year, month, day, hour, minute, second, micros }
    }

    /// The timestamp without zone; `None` if it is out of range.
    pub fn timestamp(&self) -> Option<i64> {
        if !is_valid_julian(self.year, self.month) {
            return None;
        }
        let days = i64::from(date2j(self.year, self.month, self.day)) - i64::from(EPOCH_JDATE);
        let time = time_of(self.hour, self.minute, self.second, self.micros);
        let t = days.checked_mul(USECS_PER_DAY)?.checked_add(time)?;
        is_valid_timestamp(t).then_some(t)
    }

    /// Day of the year, from 1.
    pub fn day_of_year(&self) -> i32 {
        date2j(self.year, self.month, self.day) - date2j(self.year, 1, 1) + 1
    }
}

/// ISO week number of a date, and the ISO year of the week.
pub fn iso_week(year: i32, month: i32, day: i32) -> (i32, i32) {
    let day_number = date2j(year, month, day);
    let monday_of = |y: i32| {
        let jan4 = date2j(y, 1, 4);
        jan4 - (j2day(jan4) + 6) % 7
    };
    let mut iso_year = year;
    if day_number < monday_of(year) {
        iso_year -= 1;
    } else if day_number >= monday_of(year + 1) {
        iso_year += 1;
    }
    ((day_number - monday_of(iso_year)) / 7 + 1, iso_year)
}

/// Julian day of the Monday of an ISO week.
pub fn iso_week_to_j(year: i32, week: i32) -> i32 {
    let jan4 = date2j(year, 1, 4);
    jan4 - (j2day(jan4) + 6) % 7 + (week - 1) * 7
}

/// Rounds a time in microseconds to the typmod's number of decimals of the second.
pub fn round_micros(t: i64, typmod: i32) -> i64 {
    if !(0..6).contains(&typmod) {
        return t;
    }
    let scale = 10i64.pow(6 - typmod as u32);
    let half = scale / 2;
    // For the largest times of intervals the sum wraps as in PostgreSQL.
    let rounded = |t: i64| t.wrapping_add(half) / scale * scale;
    if t >= 0 { rounded(t) } else { rounded(t.wrapping_neg()).wrapping_neg() }
}

/// The typmod of time and timestamp types from the declared precision.
pub(crate) fn precision_typmod(mods: &[i32], tz: bool, name: &str) -> Result<i32> {
    let [p] = *mods else {
        return Err(pg_err!(INVALID_PARAMETER_VALUE, "invalid type modifier"));
    };
    let suffix = if tz { " WITH TIME ZONE" } else { "" };
    if p < 0 {
        return Err(pg_err!(
            INVALID_PARAMETER_VALUE,
            "{name}({p}){suffix} precision must not be negative"
        ));
    }
    // A precision of more than six is reduced; analysis raises the warning.
    Ok(p.min(6))
}
