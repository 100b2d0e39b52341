//! The configuration parameters that functions on values read, in decoded form. `session` builds a
//! new [`Settings`] whenever one of them changes.

use crate::zone::Zone;
use locale::{Locale, MoneyFormat, NumberFormat, TimeNames};
use pgerror::Result;
use std::fmt::Debug;
use std::sync::Arc;

/// `DateStyle`'s output part.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DateStyle {
    Iso,
    Sql,
    Postgres,
    German,
}

/// `DateStyle`'s field order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DateOrder {
    Mdy,
    Dmy,
    Ymd,
}

/// `IntervalStyle`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum IntervalStyle {
    Postgres,
    PostgresVerbose,
    SqlStandard,
    Iso8601,
}

/// `bytea_output`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ByteaOutput {
    Hex,
    Escape,
}

/// The database's encoding, as far as functions distinguish encodings.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Encoding {
    SqlAscii,
    Utf8,
    /// LATIN1 and other single-byte encodings: PostgreSQL's encoding number and name.
    SingleByte(i32, &'static str),
}

impl Encoding {
    /// PostgreSQL's encoding number (`pg_enc`).
    pub fn number(self) -> i32 {
        match self {
            Encoding::SqlAscii => 0,
            Encoding::Utf8 => 6,
            Encoding::SingleByte(n, _) => n,
        }
    }

    /// PostgreSQL's name of the encoding.
    pub fn name(self) -> &'static str {
        match self {
            Encoding::SqlAscii => "SQL_ASCII",
            Encoding::Utf8 => "UTF8",
            Encoding::SingleByte(_, name) => name,
        }
    }
}

/// Converts texts of the database to the encoding of the client.
pub trait TextEncoder: Debug + Send + Sync {
    /// Appends the converted text. Error 22P05 for a character that the client's encoding does not
    /// have.
    fn encode(&self, text: &[u8], out: &mut Vec<u8>) -> Result<()>;

    /// As [`Self::encode`], with `?` for such a character.
    fn encode_lossy(&self, text: &[u8], out: &mut Vec<u8>);
}

/// The formats of `lc_numeric`, `lc_monetary` and `lc_time`; `None` for C and POSIX.
#[derive(Clone, Debug, Default)]
pub struct Formats {
    pub number: Option<Arc<NumberFormat>>,
    pub money: Option<Arc<MoneyFormat>>,
    pub time: Option<Arc<TimeNames>>,
}

/// Converts texts of the client to the encoding of the database.
pub trait TextDecoder: Debug + Send + Sync {
    /// The converted text. Error 22021 for a character that is not valid, 22P05 for one that the
    /// database's encoding does not have.
    fn decode(&self, text: &[u8]) -> Result<Vec<u8>>;
}

/// The session's parameters that functions on values read.
#[derive(Clone, Debug)]
pub struct Settings {
    pub date_style: DateStyle,
    pub date_order: DateOrder,
    pub interval_style: IntervalStyle,
    pub time_zone: Zone,
    pub extra_float_digits: i32,
    pub bytea_output: ByteaOutput,
    pub encoding: Encoding,
    /// `None` if texts are sent as they are.
    pub client_encoder: Option<Arc<dyn TextEncoder>>,
    /// `None` if texts are received as they are.
    pub client_decoder: Option<Arc<dyn TextDecoder>>,
    /// The database's LC_CTYPE is C or POSIX: under the default collation only ASCII characters are
    /// letters.
    pub ctype_is_c: bool,
    /// The locale of the default collation; `None` if it orders by bytes and has the letters that
    /// `ctype_is_c` and the encoding say.
    pub default_locale: Option<Arc<Locale>>,
    pub array_nulls: bool,
    pub quote_all_identifiers: bool,
    pub formats: Formats,
    /// `max_stack_depth` in kB. It limits the nesting of JSON texts.
    pub max_stack_kb: u32,
}

impl Settings {
    /// PostgreSQL's default of `max_stack_depth` in kB.
    pub const MAX_STACK_KB: u32 = 2048;
}

impl Default for Settings {
    /// PostgreSQL's defaults, time zone UTC.
    fn default() -> Self {
        Settings {
            date_style: DateStyle::Iso,
            date_order: DateOrder::Mdy,
            interval_style: IntervalStyle::Postgres,
            time_zone: Zone::utc(),
            extra_float_digits: 1,
            bytea_output: ByteaOutput::Hex,
            encoding: Encoding::Utf8,
            client_encoder: None,
            client_decoder: None,
            ctype_is_c: false,
            default_locale: None,
            array_nulls: true,
            quote_all_identifiers: false,
            formats: Formats::default(),
            max_stack_kb: Settings::MAX_STACK_KB,
        }
    }
}
