//! Parsing and display of parameter values with units.
//!
//! Counterpart: `parse_int`, `parse_real`, `ShowGUCOption`.

use crate::registry::{Kind, Setting};
use pgerror::{PgError, Result, SqlState};
use std::sync::Arc;

/// A value in the parameter's base unit. An enum value is its text in lower case.
#[derive(Clone, PartialEq, Debug)]
pub enum Value {
    Bool(bool),
    Int(i64),
    Real(f64),
    Text(Arc<str>),
}

impl Value {
    /// The boolean; false for a value of another kind.
    pub fn as_bool(&self) -> bool {
        matches!(self, Value::Bool(true))
    }

    /// The integer; 0 for a value of another kind.
    pub fn as_int(&self) -> i64 {
        match self {
            Value::Int(i) => *i,
            _ => 0,
        }
    }

    /// The number, which may be an integer; 0 for a value of another kind.
    pub fn as_real(&self) -> f64 {
        match self {
            Value::Real(r) => *r,
            Value::Int(i) => *i as f64,
            _ => 0.0,
        }
    }

    /// The text; empty for a value of another kind.
    pub fn as_text(&self) -> &str {
        match self {
            Value::Text(t) => t,
            _ => "",
        }
    }
}

/// The base unit of a numeric parameter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unit {
    /// Units of this many bytes.
    Bytes(u32),
    /// Units of this many microseconds.
    Micros(u32),
}

const MEMORY_HINT: &str =
    "Valid units for this parameter are \"B\", \"kB\", \"MB\", \"GB\", and \"TB\".";
const TIME_HINT: &str =
    "Valid units for this parameter are \"us\", \"ms\", \"s\", \"min\", \"h\", and \"d\".";

/// Largest first, in bytes.
const MEMORY: [(&str, f64); 5] = [
    ("TB", 1_099_511_627_776.0),
    ("GB", 1_073_741_824.0),
    ("MB", 1_048_576.0),
    ("kB", 1024.0),
    ("B", 1.0),
];
/// Largest first, in microseconds.
const TIME: [(&str, f64); 6] =
    [("d", 8.64e10), ("h", 3.6e9), ("min", 6e7), ("s", 1e6), ("ms", 1e3), ("us", 1.0)];

impl Unit {
    pub(crate) fn named(name: &str) -> Option<Unit> {
        Some(match name {
            "B" => Unit::Bytes(1),
            "kB" => Unit::Bytes(1024),
            "8kB" => Unit::Bytes(8192),
            "MB" => Unit::Bytes(1 << 20),
            "ms" => Unit::Micros(1000),
            "s" => Unit::Micros(1_000_000),
            "min" => Unit::Micros(60_000_000),
            _ => return None,
        })
    }

    /// The name in `pg_settings.unit`.
    pub fn name(self) -> &'static str {
        match self {
            Unit::Bytes(1) => "B",
            Unit::Bytes(1024) => "kB",
            Unit::Bytes(8192) => "8kB",
            Unit::Bytes(_) => "MB",
            Unit::Micros(1000) => "ms",
            Unit::Micros(1_000_000) => "s",
            Unit::Micros(_) => "min",
        }
    }

    fn base(self) -> f64 {
        match self {
            Unit::Bytes(n) | Unit::Micros(n) => f64::from(n),
        }
    }

    fn table(self) -> &'static [(&'static str, f64)] {
        match self {
            Unit::Bytes(_) => &MEMORY,
            Unit::Micros(_) => &TIME,
        }
    }

    fn hint(self) -> &'static str {
        match self {
            Unit::Bytes(_) => MEMORY_HINT,
            Unit::Micros(_) => TIME_HINT,
        }
    }
}

/// The reason why a number is invalid.
enum NumberError {
    Plain,
    Hint(&'static str),
}

/// A number with an optional unit, converted to base units.
fn number(text: &str, unit: Option<Unit>) -> Result<f64, NumberError> {
    let text = text.trim_start();
    let (value, rest) = leading_number(text).ok_or(NumberError::Plain)?;
    let rest = rest.trim();
    if rest.is_empty() {
        return Ok(value);
    }
    let Some(unit) = unit else { return Err(NumberError::Plain) };
    let found = unit.table().iter().find(|(name, _)| *name == rest);
    let (_, size) = found.ok_or(NumberError::Hint(unit.hint()))?;
    Ok(value * size / unit.base())
}

/// A number in C notation (decimal, octal, hexadecimal), else a decimal fraction.
fn leading_number(text: &str) -> Option<(f64, &str)> {
    let (negative, digits) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    let sign = if negative { -1.0 } else { 1.0 };
    let lower = digits.get(..2).map(str::to_ascii_lowercase);
    if lower.as_deref() == Some("0x") {
        let end =
            digits[2..].find(|c: char| !c.is_ascii_hexdigit()).map_or(digits.len(), |n| n + 2);
        let value = u64::from_str_radix(&digits[2..end], 16).ok()?;
        return Some((sign * value as f64, &digits[end..]));
    }
    let bytes = digits.as_bytes();
    let mut end = bytes.iter().take_while(|b| b.is_ascii_digit()).count();
    let mut fraction = false;
    if bytes.get(end) == Some(&b'.') {
        fraction = true;
        end += 1 + bytes[end + 1..].iter().take_while(|b| b.is_ascii_digit()).count();
    }
    if end == 0 || &bytes[..end] == b"." {
        return None;
    }
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let skip = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        let count = bytes[end + 1 + skip..].iter().take_while(|b| b.is_ascii_digit()).count();
        if count > 0 {
            fraction = true;
            end += 1 + skip + count;
        }
    }
    if !fraction && bytes[0] == b'0' && end > 1 {
        let value = u64::from_str_radix(&digits[..end], 8).ok()?;
        return Some((sign * value as f64, &digits[end..]));
    }
    let value: f64 = digits[..end].parse().ok()?;
    Some((sign * value, &digits[end..]))
}

/// A boolean: any unambiguous prefix of true, false, yes, no, on, off; 1 and 0.
pub(crate) fn parse_bool(text: &str) -> Option<bool> {
    let t = text.trim().to_ascii_lowercase();
    let begins = |word: &str, least: usize| t.len() >= least && word.starts_with(&t);
    if t == "1" || begins("true", 1) || begins("yes", 1) || begins("on", 2) {
        Some(true)
    } else if t == "0" || begins("false", 1) || begins("no", 1) || begins("off", 2) {
        Some(false)
    } else {
        None
    }
}

/// Hidden enum values and the values that they mean. Counterpart: the hidden entries of the option
/// tables in guc.c.
fn hidden_enum_value(name: &str, word: &str) -> Option<&'static str> {
    match (name, word) {
        ("wal_compression", "on" | "true" | "yes" | "1") => Some("pglz"),
        (_, "true" | "yes" | "1") => Some("on"),
        (_, "false" | "no" | "0") => Some("off"),
        ("wal_level", "archive" | "hot_standby") => Some("replica"),
        ("client_min_messages" | "trace_recovery_messages", "info") => Some("info"),
        (_, "debug") => Some("debug2"),
        _ => None,
    }
}

fn invalid(name: &str, text: &str) -> PgError {
    PgError::new(
        SqlState::INVALID_PARAMETER_VALUE,
        format!("invalid value for parameter \"{name}\": \"{text}\""),
    )
}

impl Setting {
    /// 22023 for an invalid value.
    pub fn invalid(&self, text: &str) -> PgError {
        invalid(self.name, text)
    }

    /// Parses a value and checks its range.
    pub fn parse(&self, text: &str) -> Result<Value> {
        self.parse_as(self.name, text)
    }

    /// As [`Setting::parse`]. Errors show the parameter's name as it was written.
    pub fn parse_as(&self, name: &str, text: &str) -> Result<Value> {
        match &self.kind {
            Kind::Bool => parse_bool(text).map(Value::Bool).ok_or_else(|| {
                PgError::new(
                    SqlState::INVALID_PARAMETER_VALUE,
                    format!("parameter \"{name}\" requires a Boolean value"),
                )
            }),
            Kind::Int { min, max } => {
                let value = self.number(name, text)?.round_ties_even();
                if !(f64::from(i32::MIN)..=f64::from(i32::MAX)).contains(&value) {
                    return Err(invalid(name, text).hint("Value exceeds integer range."));
                }
                let value = value as i64;
                if value < *min || value > *max {
                    return Err(self.out_of_range(
                        name,
                        [value.to_string(), min.to_string(), max.to_string()],
                    ));
                }
                Ok(Value::Int(value))
            }
            Kind::Real { min, max } => {
                let value = self.number(name, text)?;
                if value < *min || value > *max {
                    return Err(self.out_of_range(name, [value, *min, *max].map(general)));
                }
                Ok(Value::Real(value))
            }
            Kind::Enum { values } => self.choose(name, text, values),
            Kind::Text => Ok(Value::Text(text.into())),
        }
    }

    fn number(&self, name: &str, text: &str) -> Result<f64> {
        match number(text, self.unit) {
            Ok(n) if n.is_finite() => Ok(n),
            Err(NumberError::Hint(hint)) => Err(invalid(name, text).hint(hint)),
            _ => Err(invalid(name, text)),
        }
    }

    fn out_of_range(&self, name: &str, [value, min, max]: [String; 3]) -> PgError {
        let unit = self.unit.map(|u| format!(" {}", u.name())).unwrap_or_default();
        PgError::new(
            SqlState::INVALID_PARAMETER_VALUE,
            format!(
                "{value}{unit} is outside the valid range for parameter \"{name}\" ({min} .. {max})"
            ),
        )
    }

    fn choose(&self, name: &str, text: &str, values: &[&'static str]) -> Result<Value> {
        let meant = hidden_enum_value(self.name, &text.to_ascii_lowercase());
        let found = match meant {
            Some("info") => Some("info"),
            Some(word) => values.iter().copied().find(|v| *v == word),
            None => values.iter().copied().find(|v| v.eq_ignore_ascii_case(text)),
        };
        if let Some(found) = found {
            return Ok(Value::Text(found.into()));
        }
        let list = values.join(", ");
        Err(invalid(name, text).hint(format!("Available values: {list}.")))
    }

    /// The value as displayed by SHOW: with the largest unit that divides it.
    pub fn show(&self, value: &Value) -> String {
        match value {
            Value::Bool(on) => (if *on { "on" } else { "off" }).to_owned(),
            Value::Int(i) if self.is_mode() => format!("{i:04o}"),
            Value::Int(i) => match self.unit {
                Some(unit) if *i > 0 => int_with_unit(*i, unit),
                _ => i.to_string(),
            },
            Value::Real(r) => match self.unit {
                Some(unit) if *r > 0.0 => real_with_unit(*r, unit),
                _ => general(*r),
            },
            Value::Text(t) => t.to_string(),
        }
    }

    /// The value as in `pg_settings.setting`: in base units.
    pub fn plain(&self, value: &Value) -> String {
        match value {
            Value::Int(i) if !self.is_mode() => i.to_string(),
            Value::Real(r) => general(*r),
            other => self.show(other),
        }
    }

    /// File modes are displayed in octal.
    fn is_mode(&self) -> bool {
        matches!(self.name, "unix_socket_permissions" | "log_file_mode" | "data_directory_mode")
    }
}

fn int_with_unit(value: i64, unit: Unit) -> String {
    let total = value as f64 * unit.base();
    for (name, size) in unit.table() {
        if total % size == 0.0 {
            return format!("{}{name}", (total / size) as i64);
        }
    }
    value.to_string()
}

fn real_with_unit(value: f64, unit: Unit) -> String {
    let total = value * unit.base();
    for (name, size) in unit.table() {
        let n = total / size;
        if n > 0.0 && (n.round_ties_even() / n - 1.0).abs() <= 1e-8 {
            return format!("{}{name}", general(n));
        }
    }
    format!("{}{}", general(value), unit.name())
}

/// Formats like C's `%g`.
pub(crate) fn general(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return if value == 0.0 { "0".to_owned() } else { value.to_string() };
    }
    let scientific = format!("{value:.5e}");
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let trim = |text: &str| match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text.to_owned(),
    };
    if (-4..6).contains(&exponent) {
        trim(&format!("{value:.*}", (5 - exponent) as usize))
    } else {
        let sign = if exponent < 0 { '-' } else { '+' };
        format!("{}e{sign}{:02}", trim(mantissa), exponent.abs())
    }
}
