//! Converts values for selectivity estimates: constants to the column's type, for cross-type
//! comparisons such as `date_column < timestamp`, and values of a histogram to numbers.
//! Counterpart: selfuncs.c (`convert_to_scalar`), which converts all to floating-point numbers.

use ids::Oid;
use types::datetime::convert::timetz_parts;
use types::datetime::interval::Interval;
use types::network::{Address, mac_scalar};
use types::numeric::Num;
use types::{Datum, DatumRef, oids};

const DAY_MICROSECONDS: i64 = 86_400_000_000;

/// Converts the value to the type `to`; `None` if the types are not comparable. Time zones are
/// ignored.
pub fn converted(value: &Datum, from: Oid, to: Oid) -> Option<Datum> {
    if from == to {
        return Some(value.clone());
    }
    match (from, to) {
        (oids::INT2 | oids::INT4 | oids::INT8, oids::INT2 | oids::INT4 | oids::INT8)
        | (oids::TIMESTAMP | oids::TIMESTAMPTZ, oids::TIMESTAMP | oids::TIMESTAMPTZ)
        | (oids::TEXT | oids::VARCHAR, oids::TEXT | oids::VARCHAR) => Some(value.clone()),
        (oids::DATE, oids::TIMESTAMP | oids::TIMESTAMPTZ) => {
            Some(Datum::int8(value.as_ref().as_i64().saturating_mul(DAY_MICROSECONDS)))
        }
        (oids::TIMESTAMP | oids::TIMESTAMPTZ, oids::DATE) => {
            // The first day that does not begin before the timestamp.
            let at = value.as_ref().as_i64();
            let day = at.div_euclid(DAY_MICROSECONDS) + i64::from(at % DAY_MICROSECONDS != 0);
            Some(Datum::int4(day.clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as i32))
        }
        (_, oids::FLOAT8) => number(value, from).map(Datum::float8),
        (_, oids::FLOAT4) => number(value, from).map(|v| Datum::float4(v as f32)),
        (oids::INT2 | oids::INT4 | oids::INT8, oids::NUMERIC) => {
            Num::from(value.as_ref().as_i64()).datum().ok()
        }
        (oids::FLOAT4 | oids::FLOAT8, oids::NUMERIC) => {
            types::numeric::from_float8(number(value, from)?).datum().ok()
        }
        // For an estimate, the truncated number is sufficient.
        (oids::FLOAT4 | oids::FLOAT8 | oids::NUMERIC, oids::INT2 | oids::INT4 | oids::INT8) => {
            let limit = if to == oids::INT8 { i64::MAX } else { i64::from(i32::MAX) } as f64;
            Some(Datum::int8(number(value, from)?.clamp(-limit, limit) as i64))
        }
        _ => None,
    }
}

/// The value of a number as a float; `None` for NaN.
fn number(value: &Datum, ty: Oid) -> Option<f64> {
    let v = value.as_ref();
    let n = match ty {
        oids::INT2 | oids::INT4 | oids::INT8 => v.as_i64() as f64,
        oids::FLOAT4 => f64::from(v.as_f32()),
        oids::FLOAT8 => v.as_f64(),
        oids::NUMERIC => Num::of(v).to_f64(),
        _ => return None,
    };
    (!n.is_nan()).then_some(n)
}

/// Converts a value and the ends of a bin of a histogram to comparable numbers, if their types
/// allow it. Counterpart: `convert_to_scalar`.
pub fn scalars(
    (lo, hi): (DatumRef<'_>, DatumRef<'_>),
    bound_type: Oid,
    value: DatumRef<'_>,
    value_type: Oid,
) -> Option<(f64, f64, f64)> {
    let class = scalar_class(value_type)?;
    if scalar_class(bound_type)? != class {
        return None;
    }
    match class {
        ScalarClass::Text => {
            let bytes = |v: DatumRef<'_>| match v {
                DatumRef::Word(w) => vec![w as u8],
                _ => v.as_bytes().to_vec(),
            };
            Some(texts_as_fractions(&bytes(lo), &bytes(hi), &bytes(value)))
        }
        ScalarClass::Bytes => {
            Some(bytes_as_fractions(lo.as_bytes(), hi.as_bytes(), value.as_bytes()))
        }
        ScalarClass::Number | ScalarClass::Time | ScalarClass::Network => {
            Some((scalar(lo, bound_type)?, scalar(hi, bound_type)?, scalar(value, value_type)?))
        }
    }
}

/// Kinds of types whose values become comparable numbers.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ScalarClass {
    Number,
    Text,
    Bytes,
    Time,
    Network,
}

fn scalar_class(ty: Oid) -> Option<ScalarClass> {
    Some(match ty {
        oids::BOOL
        | oids::INT2
        | oids::INT4
        | oids::INT8
        | oids::FLOAT4
        | oids::FLOAT8
        | oids::NUMERIC
        | oids::OID
        | oids::REGPROC
        | oids::REGPROCEDURE
        | oids::REGOPER
        | oids::REGOPERATOR
        | oids::REGCLASS
        | oids::REGTYPE
        | oids::REGCOLLATION
        | oids::REGCONFIG
        | oids::REGDICTIONARY
        | oids::REGROLE
        | oids::REGNAMESPACE => ScalarClass::Number,
        oids::CHAR | oids::BPCHAR | oids::VARCHAR | oids::TEXT | oids::NAME => ScalarClass::Text,
        oids::BYTEA => ScalarClass::Bytes,
        oids::TIMESTAMP
        | oids::TIMESTAMPTZ
        | oids::DATE
        | oids::INTERVAL
        | oids::TIME
        | oids::TIMETZ => ScalarClass::Time,
        oids::INET | oids::CIDR | oids::MACADDR | oids::MACADDR8 => ScalarClass::Network,
        _ => return None,
    })
}

/// Converts strings to fractions: their bytes are digits of a base derived from the range of bytes
/// in the histogram bounds. Counterpart: `convert_string_to_scalar`.
fn texts_as_fractions(lo: &[u8], hi: &[u8], value: &[u8]) -> (f64, f64, f64) {
    /// Further bytes are ignored.
    const DIGITS_MAX: usize = 12;
    let ends = lo.iter().chain(hi);
    let (mut least, mut most) = (255u8, 0u8);
    ends.for_each(|&c| (least, most) = (least.min(c), most.max(c)));
    // If some letters or digits occur, assume that all of their kind may.
    for (first, last) in [(b'A', b'Z'), (b'a', b'z'), (b'0', b'9')] {
        if least <= last && most >= first {
            (least, most) = (least.min(first), most.max(last));
        }
    }
    if least > most || most - least < 9 {
        (least, most) = (b' ', 127);
    }
    let same =
        |i: &usize| lo.get(*i).is_some_and(|c| hi.get(*i) == Some(c) && value.get(*i) == Some(c));
    let common = (0..lo.len()).take_while(same).count();
    let base = f64::from(most - least) + 1.0;
    let fraction = |text: &[u8]| {
        let (mut sum, mut unit) = (0.0, base);
        for &c in text[common..].iter().take(DIGITS_MAX) {
            let digit = f64::from(c).clamp(f64::from(least) - 1.0, f64::from(most) + 1.0);
            sum += (digit - f64::from(least)) / unit;
            unit *= base;
        }
        sum
    };
    (fraction(lo), fraction(hi), fraction(value))
}

/// As [`texts_as_fractions`], for byte strings: all bytes may occur.
fn bytes_as_fractions(lo: &[u8], hi: &[u8], value: &[u8]) -> (f64, f64, f64) {
    /// Further bytes are ignored.
    const DIGITS_MAX: usize = 10;
    let shortest = lo.len().min(hi.len()).min(value.len());
    let common = (0..shortest).take_while(|&i| lo[i] == hi[i] && lo[i] == value[i]).count();
    let fraction = |bytes: &[u8]| {
        let (mut sum, mut unit) = (0.0, 256.0);
        for &c in bytes[common..].iter().take(DIGITS_MAX) {
            sum += f64::from(c) / unit;
            unit *= 256.0;
        }
        sum
    };
    (fraction(lo), fraction(hi), fraction(value))
}

/// Converts a value to a number, if the type allows it. Times are in microseconds.
fn scalar(v: DatumRef<'_>, ty: Oid) -> Option<f64> {
    const DAY: f64 = DAY_MICROSECONDS as f64;
    match ty {
        oids::TIMESTAMP | oids::TIMESTAMPTZ | oids::TIME => Some(v.as_i64() as f64),
        oids::DATE => Some(match v.as_i32() {
            i32::MIN => f64::MIN,
            i32::MAX => f64::MAX,
            days => f64::from(days) * DAY,
        }),
        oids::INTERVAL => {
            let i = Interval::of(v);
            let months = f64::from(i.month) * (365.25 / 12.0 * DAY);
            Some(i.time as f64 + f64::from(i.day) * DAY + months)
        }
        oids::TIMETZ => {
            let (micros, zone) = timetz_parts(v);
            Some(micros as f64 + f64::from(zone) * 1_000_000.0)
        }
        oids::BOOL => Some(f64::from(u8::from(v.as_bool()))),
        oids::FLOAT8 => Some(v.as_f64()),
        oids::FLOAT4 => Some(f64::from(v.as_f32())),
        oids::NUMERIC => Some(Num::of(v).to_f64()),
        oids::INET | oids::CIDR => Some(Address::of(v).scalar()),
        oids::MACADDR | oids::MACADDR8 => Some(mac_scalar(v)),
        _ => Some(v.as_i64() as f64),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timestamps_become_dates() {
        let at = |micros: i64| converted(&Datum::int8(micros), oids::TIMESTAMP, oids::DATE);
        assert_eq!(at(0), Some(Datum::int4(0)));
        assert_eq!(at(1), Some(Datum::int4(1)));
        assert_eq!(at(-1), Some(Datum::int4(0)));
        assert_eq!(at(5 * DAY_MICROSECONDS), Some(Datum::int4(5)));
        assert_eq!(at(i64::MAX).map(|d| d.as_ref().as_i32() > 100_000_000), Some(true));
        let day = converted(&Datum::int4(2), oids::DATE, oids::TIMESTAMP);
        assert_eq!(day, Some(Datum::int8(2 * DAY_MICROSECONDS)));
    }

    #[test]
    fn types_that_are_not_comparable_are_not_converted() {
        assert_eq!(converted(&Datum::text("1"), oids::TEXT, oids::INT4), None);
        assert_eq!(converted(&Datum::int4(1), oids::INT4, oids::DATE), None);
    }
}
