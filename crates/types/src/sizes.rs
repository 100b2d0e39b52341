//! Human-readable sizes: `pg_size_pretty`, `pg_size_bytes`. Counterpart: dbsize.c.

use pgerror::{PgError, Result, pg_err};
use values::datum::{Datum, DatumRef};
use values::fn_context::FnContext;
use values::type_io::{is_space, lossy_text, trim_space};

/// A unit of sizes: its name, the limit below which it is used, whether its number is rounded, and
/// log2 of its size in bytes.
struct Unit {
    name: &'static str,
    limit: i64,
    /// The number has one more binary digit, which is used for rounding.
    round: bool,
    bits: u32,
}

const fn unit(name: &'static str, bits: u32) -> Unit {
    Unit { name, limit: 20 * 1024 - 1, round: true, bits }
}

const UNITS: [Unit; 6] = [
    Unit { name: "bytes", limit: 10 * 1024, round: false, bits: 0 },
    unit("kB", 10),
    unit("MB", 20),
    unit("GB", 30),
    unit("TB", 40),
    unit("PB", 50),
];

/// Number of bits by which a number is shifted right from unit `i` to the next.
fn shift(i: usize) -> u32 {
    let (this, next) = (&UNITS[i], &UNITS[i + 1]);
    next.bits - this.bits + u32::from(this.round) - u32::from(next.round)
}

fn pretty(size: i64) -> String {
    let mut size = size;
    for (i, unit) in UNITS.iter().enumerate() {
        if i + 1 == UNITS.len() || size.unsigned_abs() < unit.limit as u64 {
            if unit.round {
                size = (size + if size < 0 { -1 } else { 1 }) / 2;
            }
            return format!("{size} {}", unit.name);
        }
        size /= 1 << shift(i);
    }
    String::new()
}

fn call(cx: &mut dyn FnContext, name: &str, args: &[DatumRef<'_>]) -> Result<Datum> {
    let f = values::function::scalar_in(numeric::TABLES, name)
        .ok_or_else(|| PgError::internal(format!("function {name} is not there")))?;
    f(cx, args)
}

fn number(cx: &mut dyn FnContext, n: i64) -> Result<Datum> {
    call(cx, "int8_numeric", &[Datum::int8(n).as_ref()])
}

fn pretty_numeric(cx: &mut dyn FnContext, size: DatumRef<'_>) -> Result<Datum> {
    let mut size = size.to_owned();
    for (i, unit) in UNITS.iter().enumerate() {
        let magnitude = call(cx, "numeric_abs", &[size.as_ref()])?;
        let limit = number(cx, unit.limit)?;
        let small = call(cx, "numeric_lt", &[magnitude.as_ref(), limit.as_ref()])?;
        if i + 1 == UNITS.len() || small.as_ref().as_bool() {
            if unit.round {
                let zero = number(cx, 0)?;
                let positive = call(cx, "numeric_ge", &[size.as_ref(), zero.as_ref()])?;
                let one = number(cx, if positive.as_ref().as_bool() { 1 } else { -1 })?;
                size = call(cx, "numeric_add", &[size.as_ref(), one.as_ref()])?;
                let two = number(cx, 2)?;
                size = call(cx, "numeric_div_trunc", &[size.as_ref(), two.as_ref()])?;
            }
            let text = call(cx, "numeric_out", &[size.as_ref()])?;
            return Ok(Datum::bytes(
                [text.as_ref().as_bytes(), b" ", unit.name.as_bytes()].concat(),
            ));
        }
        let divisor = number(cx, 1 << shift(i))?;
        size = call(cx, "numeric_div_trunc", &[size.as_ref(), divisor.as_ref()])?;
    }
    Ok(Datum::Null)
}

/// Length of the number at the start: sign, digits, fraction, exponent; `None` if there are no
/// digits.
fn number_len(text: &[u8]) -> Option<usize> {
    let digits = |from: usize| {
        text.get(from..).unwrap_or_default().iter().take_while(|c| c.is_ascii_digit()).count()
    };
    let mut at = usize::from(matches!(text.first(), Some(b'+' | b'-')));
    let mut count = digits(at);
    at += count;
    if text.get(at) == Some(&b'.') {
        let fraction = digits(at + 1);
        count += fraction;
        at += 1 + fraction;
    }
    if count == 0 {
        return None;
    }
    // An E that is not followed by a number may begin a unit.
    if matches!(text.get(at), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(text.get(at + 1), Some(b'+' | b'-')));
        let exponent = digits(at + 1 + sign);
        if exponent > 0 {
            at += 1 + sign + exponent;
        }
    }
    Some(at)
}

fn bytes(cx: &mut dyn FnContext, whole: &[u8]) -> Result<Datum> {
    let invalid = || pg_err!(INVALID_PARAMETER_VALUE, "invalid size: \"{}\"", lossy_text(whole));
    let start = whole.iter().position(|&c| !is_space(c)).unwrap_or(whole.len());
    let text = &whole[start..];
    let len = number_len(text).ok_or_else(invalid)?;
    let (digits, rest) = text.split_at(len);
    let invalid_typmod = Datum::int4(-1);
    let none = Datum::int4(0);
    let mut size =
        call(cx, "numeric_in", &[DatumRef::Bytes(digits), none.as_ref(), invalid_typmod.as_ref()])?;
    let word = trim_space(rest);
    if !word.is_empty() {
        let Some(unit) = UNITS.iter().find(|u| u.name.as_bytes().eq_ignore_ascii_case(word)) else {
            return Err(invalid()
                .detail(format!("Invalid size unit: \"{}\".", lossy_text(word)))
                .hint("Valid units are \"bytes\", \"kB\", \"MB\", \"GB\", \"TB\", and \"PB\"."));
        };
        if unit.bits > 0 {
            let factor = number(cx, 1 << unit.bits)?;
            size = call(cx, "numeric_mul", &[factor.as_ref(), size.as_ref()])?;
        }
    }
    call(cx, "numeric_int8", &[size.as_ref()])
}

scalars! { FNS;
    "pg_size_pretty" => |_, a| Ok(Datum::text(&pretty(a[0].as_i64()))),
    "pg_size_pretty_numeric" => |cx, a| pretty_numeric(cx, a[0]),
    "pg_size_bytes" => |cx, a| bytes(cx, a[0].as_bytes()),
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::BasicContext;

    /// Expected values: the results of PostgreSQL 15.
    #[test]
    fn sizes_are_shown_in_the_unit_that_fits() {
        let cases = [
            (-1, "-1 bytes"),
            (10_239, "10239 bytes"),
            (10_240, "10 kB"),
            (20_479, "20 kB"),
            (1_048_575, "1024 kB"),
            (10_485_247, "10239 kB"),
            (10_485_248, "10 MB"),
            (-10_485_760, "-10 MB"),
            (10_736_369_665, "10239 MB"),
            (i64::MAX, "8192 PB"),
        ];
        let mut cx = BasicContext::default();
        for (size, want) in cases {
            assert_eq!(pretty(size), want);
            let n = number(&mut cx, size).unwrap();
            assert_eq!(pretty_numeric(&mut cx, n.as_ref()).unwrap(), Datum::text(want));
        }
    }

    #[test]
    fn sizes_are_read_with_their_units() {
        let cases = [
            (" 2 kB ", 2048),
            ("1.5MB", 1_572_864),
            ("1.e3", 1000),
            ("-.5mb", -524_288),
            ("1e2tb", 109_951_162_777_600),
        ];
        let mut cx = BasicContext::default();
        for (text, want) in cases {
            assert_eq!(bytes(&mut cx, text.as_bytes()).unwrap(), Datum::int8(want), "{text}");
        }
        for text in ["", "x", "1 x", "1e kb", "1 b"] {
            assert!(bytes(&mut cx, text.as_bytes()).is_err(), "{text}");
        }
    }
}
