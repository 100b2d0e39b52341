//! Errors of the parsing of dates, times and intervals.

use pgerror::{PgError, pg_err};
use values::type_io::lossy_text;

/// A parse error, before the type's name and the text are known.
#[derive(Clone, Debug)]
pub enum ParseError {
    Format,
    Overflow,
    /// Month or day out of range; the error has a hint about DateStyle.
    MonthDay,
    IntervalOverflow,
    /// Each field of an interval fits its type, but their sum does not.
    IntervalRange,
    ZoneOverflow,
    /// The time zone does not exist.
    Zone(String),
}

/// The result of a step of parsing.
pub type Parsed<T> = std::result::Result<T, ParseError>;

/// The error of a parse failure in `text`, input of the type.
#[cold]
pub fn parse_error(error: ParseError, text: &[u8], type_name: &str) -> PgError {
    let text = lossy_text(text);
    match error {
        ParseError::Overflow => {
            pg_err!(DATETIME_FIELD_OVERFLOW, "date/time field value out of range: \"{text}\"")
        }
        ParseError::MonthDay => {
            pg_err!(DATETIME_FIELD_OVERFLOW, "date/time field value out of range: \"{text}\"")
                .hint("Perhaps you need a different \"datestyle\" setting.")
        }
        ParseError::IntervalOverflow => {
            pg_err!(INTERVAL_FIELD_OVERFLOW, "interval field value out of range: \"{text}\"")
        }
        ParseError::IntervalRange => super::calendar::interval_range(),
        ParseError::ZoneOverflow => pg_err!(
            INVALID_TIME_ZONE_DISPLACEMENT_VALUE,
            "time zone displacement out of range: \"{text}\""
        ),
        ParseError::Zone(name) => {
            pg_err!(INVALID_PARAMETER_VALUE, "time zone \"{name}\" not recognized")
        }
        ParseError::Format => pg_err!(
            INVALID_DATETIME_FORMAT,
            "invalid input syntax for type {type_name}: \"{text}\""
        ),
    }
}
