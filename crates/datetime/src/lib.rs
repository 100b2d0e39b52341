//! date, time, timetz, timestamp, timestamptz, interval. A timestamp counts microseconds from
//! 2000-01-01, a date days from there, a time microseconds from midnight; timetz adds seconds west
//! of Greenwich; an interval has microseconds, days and months. Counterpart: datetime.c,
//! timestamp.c, date.c, formatting.c.

#![forbid(unsafe_code)]

#[macro_use]
extern crate values;

// Calendar, errors, conversion between the types.
pub mod abbreviations;
pub(crate) mod calendar;
pub mod convert;
mod error;
pub mod interval;

// Input and output.
mod format;
mod format_parse;
pub mod io;
mod output;
mod parse;
pub mod standard;

// Functions.
pub mod arithmetic;
pub mod compare;
mod extract;
mod make;
mod trunc;

pub use abbreviations::{abbreviation, dynamic_abbreviation};
pub use arithmetic::{date_plus, timestamp_plus, timestamptz_plus};
pub use calendar::{
    DATE_END, DATE_MIN, DATE_NOBEGIN, DATE_NOEND, EPOCH_JDATE, EPOCH_UNIX, Fields, SECS_PER_DAY,
    TIMESTAMP_END, TIMESTAMP_MIN, TIMESTAMP_NOBEGIN, TIMESTAMP_NOEND, UNIX_EPOCH_JDATE,
    USECS_PER_DAY, USECS_PER_HOUR, USECS_PER_MINUTE, USECS_PER_SEC, date_range, date2j,
    days_in_month, interval_range, is_finite_date, is_finite_ts, is_leap, is_valid_julian,
    is_valid_timestamp, iso_week, iso_week_to_j, j2date, j2day, round_micros, time_fields, time_of,
    timestamp_range,
};
pub use compare::{date_cmp_timestamp, interval_cmp, timestamp_cmp_date, timetz_cmp, zoned};
pub use compare::{hash_timetz, span};
pub use convert::{date_to_timestamp, local_to_utc, utc_to_local};
pub use interval::Interval;

use values::function::Builtin;

/// The function tables of the crate.
pub const TABLES: &[&[Builtin]] = &[
    io::FNS,
    compare::COMPARISONS,
    compare::ORDERINGS,
    compare::MIXED,
    compare::SUPPORT,
    compare::HASHES,
    arithmetic::FNS,
    arithmetic::AGGREGATES,
    arithmetic::SETS,
    convert::FNS,
    extract::FNS,
    trunc::FNS,
    make::FNS,
    format::FNS,
    format_parse::FNS,
];
