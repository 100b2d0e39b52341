//! float4, float8: text and binary formats, arithmetic, casts. Counterpart: float.c, common/d2s.c.

use crate::datum::Datum;
use crate::fn_context::FnContext;
use crate::type_io::{Reader, bad_syntax, division_by_zero, is_space, out_of_range, trim_space};
use pgerror::{PgError, Result, pg_err};

/// 22003: the result of a floating-point operation is too large.
#[cold]
pub fn overflow() -> PgError {
    pg_err!(NUMERIC_VALUE_OUT_OF_RANGE, "value out of range: overflow")
}

/// 22003: the result of a floating-point operation is too small.
#[cold]
pub fn underflow() -> PgError {
    pg_err!(NUMERIC_VALUE_OUT_OF_RANGE, "value out of range: underflow")
}

/// Length of the number at the start of `text`, as C's `strtod` would read it, and whether it is
/// hexadecimal.
fn number_len(text: &[u8]) -> Option<(usize, bool)> {
    let sign = usize::from(matches!(text.first(), Some(b'+' | b'-')));
    let body = &text[sign..];
    let hex = matches!(body, [b'0', b'x' | b'X', ..])
        && body[2..].iter().find(|c| **c != b'.').is_some_and(u8::is_ascii_hexdigit);
    let start = if hex { 2 } else { 0 };
    let is_digit = |c: &u8| if hex { c.is_ascii_hexdigit() } else { c.is_ascii_digit() };
    let run = |at: usize| body[at..].iter().take_while(|c| is_digit(c)).count();
    let whole = run(start);
    let mut end = start + whole;
    let mut digits = whole;
    if body.get(end) == Some(&b'.') {
        let fraction = run(end + 1);
        digits += fraction;
        if digits > 0 {
            end += 1 + fraction;
        }
    }
    if digits == 0 {
        return None;
    }
    let marks = if hex { [b'p', b'P'] } else { [b'e', b'E'] };
    if body.get(end).is_some_and(|c| marks.contains(c)) {
        let signed = usize::from(matches!(body.get(end + 1), Some(b'+' | b'-')));
        let at = end + 1 + signed;
        let count = body.get(at..).unwrap_or_default().iter().take_while(|c| c.is_ascii_digit());
        let count = count.count();
        if count > 0 {
            end = at + count;
        }
    }
    Some((sign + end, hex))
}

/// The value of a hexadecimal number; the caller's cast rounds it once to the target's mantissa.
fn hex_value(text: &str) -> f64 {
    let (negative, body) = match text.as_bytes()[0] {
        b'-' => (true, &text[3..]),
        b'+' => (false, &text[3..]),
        _ => (false, &text[2..]),
    };
    let (digits, exponent) = match body.find(['p', 'P']) {
        Some(i) => (&body[..i], body[i + 1..].parse::<i32>().unwrap_or(i32::MAX / 4)),
        None => (body, 0),
    };
    let mut mantissa: u64 = 0;
    let mut shift = exponent;
    let mut sticky = false;
    let mut seen_point = false;
    for c in digits.chars() {
        let Some(d) = c.to_digit(16) else {
            seen_point = true;
            continue;
        };
        if mantissa >> 58 == 0 {
            mantissa = mantissa << 4 | u64::from(d);
            shift = shift.saturating_sub(if seen_point { 4 } else { 0 });
        } else {
            sticky |= d != 0;
            shift = shift.saturating_add(if seen_point { 0 } else { 4 });
        }
    }
    let mantissa = mantissa | u64::from(sticky);
    let mut value = mantissa as f64;
    // Two multiplications keep each power of two in range.
    let half = (shift / 2).clamp(-1100, 1100);
    value *= 2f64.powi(half);
    value *= 2f64.powi((shift - shift / 2).clamp(-1100, 1100));
    if negative { -value } else { value }
}

const WORDS: &[(&str, f64)] = &[
    ("nan", f64::NAN),
    ("infinity", f64::INFINITY),
    ("+infinity", f64::INFINITY),
    ("-infinity", f64::NEG_INFINITY),
    ("inf", f64::INFINITY),
    ("+inf", f64::INFINITY),
    ("-inf", f64::NEG_INFINITY),
    ("+nan", f64::NAN),
    ("-nan", f64::NAN),
];

enum Parsed<'a> {
    Word(f64),
    Number(&'a str, bool),
}

fn parse_parts<'a>(
    text: &'a [u8],
    type_name: &str,
    shown: &[u8],
) -> Result<(Parsed<'a>, &'a [u8])> {
    let start = text.iter().position(|&c| !is_space(c)).unwrap_or(text.len());
    let body = &text[start..];
    if let Some((len, hex)) = number_len(body) {
        let number = std::str::from_utf8(&body[..len]).expect("digits and signs");
        return Ok((Parsed::Number(number, hex), &body[len..]));
    }
    for (word, value) in WORDS {
        let n = word.len();
        if body.len() >= n && body[..n].eq_ignore_ascii_case(word.as_bytes()) {
            return Ok((Parsed::Word(*value), &body[n..]));
        }
    }
    Err(bad_syntax(type_name, shown))
}

fn has_nonzero_digit(number: &str, hex: bool) -> bool {
    let body = number.trim_start_matches(['+', '-']);
    let body = if hex { &body[2..] } else { body };
    let end = body.find(if hex { ['p', 'P'] } else { ['e', 'E'] }).unwrap_or(body.len());
    body[..end].bytes().any(|c| c != b'0' && c != b'.')
}

/// Parses a float8 at the start of `text`; returns it and the rest. `type_name` and `shown` are for
/// error messages.
pub fn parse_float8_prefix<'a>(
    text: &'a [u8],
    type_name: &str,
    shown: &[u8],
) -> Result<(f64, &'a [u8])> {
    let (parsed, rest) = parse_parts(text, type_name, shown)?;
    let value = match parsed {
        Parsed::Word(v) => v,
        Parsed::Number(number, hex) => {
            let v = if hex { hex_value(number) } else { number.parse().unwrap_or(0.0) };
            if v.is_infinite() || (v == 0.0 && has_nonzero_digit(number, hex)) {
                return Err(pg_err!(
                    NUMERIC_VALUE_OUT_OF_RANGE,
                    "\"{number}\" is out of range for type double precision"
                ));
            }
            v
        }
    };
    Ok((value, rest))
}

/// Parses a float8.
pub fn parse_float8(text: &[u8]) -> Result<f64> {
    let (v, rest) = parse_float8_prefix(text, "double precision", text)?;
    if trim_space(rest).is_empty() { Ok(v) } else { Err(bad_syntax("double precision", text)) }
}

/// Parses a float4.
pub fn parse_float4(text: &[u8]) -> Result<f32> {
    let (parsed, rest) = parse_parts(text, "real", text)?;
    let value = match parsed {
        Parsed::Word(v) => v as f32,
        Parsed::Number(number, hex) => {
            let v: f32 = if hex { hex_value(number) as f32 } else { number.parse().unwrap_or(0.0) };
            if v.is_infinite() || (v == 0.0 && has_nonzero_digit(number, hex)) {
                return Err(pg_err!(
                    NUMERIC_VALUE_OUT_OF_RANGE,
                    "\"{}\" is out of range for type real",
                    crate::type_io::lossy_text(text)
                ));
            }
            v
        }
    };
    if trim_space(rest).is_empty() { Ok(value) } else { Err(bad_syntax("real", text)) }
}

/// Digits and decimal exponent (of the first digit) of Rust's `{:e}` format.
fn split_scientific(text: &str) -> (String, i32) {
    let (mantissa, exponent) = text.split_once('e').unwrap_or((text, "0"));
    (mantissa.replace('.', ""), exponent.parse().unwrap_or(0))
}

/// Formats digits as `%g` does: fixed notation from 1e-4 up to 10^`limit`, else scientific.
fn layout(negative: bool, digits: &str, exponent: i32, limit: i32) -> String {
    let digits = digits.trim_end_matches('0');
    let digits = if digits.is_empty() { "0" } else { digits };
    let mut out = String::with_capacity(24);
    if negative {
        out.push('-');
    }
    if !(-4..limit).contains(&exponent) {
        out.push_str(&digits[..1]);
        if digits.len() > 1 {
            out.push('.');
            out.push_str(&digits[1..]);
        }
        out.push('e');
        out.push(if exponent < 0 { '-' } else { '+' });
        out.push_str(&format!("{:02}", exponent.abs()));
    } else if exponent < 0 {
        out.push_str("0.");
        (1..-exponent).for_each(|_| out.push('0'));
        out.push_str(digits);
    } else {
        let whole = exponent as usize + 1;
        if digits.len() <= whole {
            out.push_str(digits);
            (digits.len()..whole).for_each(|_| out.push('0'));
        } else {
            out.push_str(&digits[..whole]);
            out.push('.');
            out.push_str(&digits[whole..]);
        }
    }
    out
}

/// Whether the decimal is exactly halfway between two adjacent doubles. PostgreSQL does not print
/// such digits, because other parsers may round them to the other double.
fn is_half_way(mantissa: u64, exponent: i32, digits: &str, exp10: i32) -> bool {
    let digits = digits.trim_end_matches('0');
    let power = exp10 - (digits.len() as i32 - 1);
    let (Ok(decimal), 0..=27) = (digits.parse::<u128>(), power) else { return false };
    let Some(five) = 5u128.checked_pow(power as u32).and_then(|p| p.checked_mul(decimal)) else {
        return false;
    };
    let twos = five.trailing_zeros() as i32;
    let odd = five >> twos;
    let half = |m: u128, e: i32| odd == m && twos + power == e;
    let m = u128::from(mantissa);
    // Just below a power of two the distance to the next double is half as large.
    let below = if m.is_power_of_two() {
        half(4 * m - 1, exponent - 2)
    } else {
        half(2 * m - 1, exponent - 1)
    };
    half(2 * m + 1, exponent - 1) || below
}

fn special(negative: bool, nan: bool) -> String {
    (if nan {
        "NaN"
    } else if negative {
        "-Infinity"
    } else {
        "Infinity"
    })
    .to_string()
}

/// If two shortest representations are equally far from `abs`, PostgreSQL prints the one whose last
/// digit is even. Returns its digits if `digits` is one of such a pair and the even one parses to
/// the same number (`round_trips`).
fn even_of_two(
    abs: f64,
    digits: &str,
    exponent: i32,
    round_trips: impl Fn(&str) -> bool,
) -> Option<String> {
    let bits = abs.to_bits();
    let count = digits.len();
    let exact = if abs < 9_007_199_254_740_992.0 {
        // A binary fraction of n bits has n decimal digits after the point, and ends in 5.
        let mantissa = bits & ((1 << 52) - 1) | 1 << 52;
        let places = 1075 - (bits >> 52) as i32 - mantissa.trailing_zeros() as i32;
        if places != count as i32 - exponent {
            return None;
        }
        split_scientific(&format!("{abs:.count$e}")).0
    } else {
        format!("{abs:.0}")
    };
    let (down, rest) = exact.split_at_checked(count)?;
    let half_way = rest.strip_prefix('5').is_some_and(|r| r.bytes().all(|b| b == b'0'));
    let last = down.bytes().last()?;
    if !half_way {
        return None;
    }
    let even = if last % 2 == 0 {
        down.to_owned()
    } else {
        // Adding one cannot carry into a new digit: the shorter text would have been found.
        (down.parse::<u64>().ok()? + 1).to_string()
    };
    round_trips(&format!("{even}e{}", exponent - (count as i32 - 1))).then_some(even)
}

/// Formats a float8 under `extra_float_digits`.
pub fn float8_text(v: f64, extra_digits: i32) -> String {
    if !v.is_finite() {
        return special(v < 0.0, v.is_nan());
    }
    if extra_digits <= 0 {
        return format_g(v, (15 + extra_digits).max(1) as usize);
    }
    let abs = v.abs();
    let (mut digits, mut exponent) = split_scientific(&format!("{abs:e}"));
    if (9_007_199_254_740_992.0..1e45).contains(&abs) {
        let mantissa = abs.to_bits() & ((1 << 52) - 1) | 1 << 52;
        let exp2 = (abs.to_bits() >> 52) as i32 - 1075;
        while is_half_way(mantissa, exp2, &digits, exponent) && digits.len() < 17 {
            let more = format!("{abs:.*e}", digits.len());
            if more.parse::<f64>() != Ok(abs) {
                break;
            }
            (digits, exponent) = split_scientific(&more);
        }
    }
    if digits.len() >= 15
        && let Some(even) =
            even_of_two(abs, &digits, exponent, |text| text.parse::<f64>() == Ok(abs))
    {
        digits = even;
    }
    layout(v.is_sign_negative(), &digits, exponent, 15)
}

/// Formats a float4 under `extra_float_digits`.
pub fn float4_text(v: f32, extra_digits: i32) -> String {
    if !v.is_finite() {
        return special(v < 0.0, v.is_nan());
    }
    if extra_digits <= 0 {
        return format_g(v.into(), (6 + extra_digits).max(1) as usize);
    }
    let abs = v.abs();
    let (mut digits, mut exponent) = split_scientific(&format!("{abs:e}"));
    if abs >= 16_777_216.0 {
        let mantissa = u64::from(abs.to_bits() & ((1 << 23) - 1) | 1 << 23);
        let exp2 = (abs.to_bits() >> 23) as i32 - 150;
        while is_half_way(mantissa, exp2, &digits, exponent) && digits.len() < 9 {
            let more = format!("{abs:.*e}", digits.len());
            if more.parse::<f32>() != Ok(abs) {
                break;
            }
            (digits, exponent) = split_scientific(&more);
        }
    }
    if digits.len() >= 6
        && let Some(even) =
            even_of_two(abs.into(), &digits, exponent, |text| text.parse::<f32>() == Ok(abs))
    {
        digits = even;
    }
    layout(v.is_sign_negative(), &digits, exponent, 6)
}

/// Formats as C's `%.{precision}g`.
pub fn format_g(v: f64, precision: usize) -> String {
    if !v.is_finite() {
        return special(v < 0.0, v.is_nan());
    }
    let (digits, exponent) = split_scientific(&format!("{:.*e}", precision.max(1) - 1, v.abs()));
    layout(v.is_sign_negative(), &digits, exponent, precision.max(1) as i32)
}

macro_rules! checked {
    ($name_add:ident $name_mul:ident $name_div:ident $t:ty) => {
        /// The sum or difference `r` of `a` and `b`, checked for overflow.
        #[inline]
        pub fn $name_add(r: $t, a: $t, b: $t) -> Result<$t> {
            if r.is_infinite() && !a.is_infinite() && !b.is_infinite() {
                return Err(overflow());
            }
            Ok(r)
        }

        /// The product, checked for overflow and underflow.
        #[inline]
        pub fn $name_mul(a: $t, b: $t) -> Result<$t> {
            let r = a * b;
            if r.is_infinite() && !a.is_infinite() && !b.is_infinite() {
                return Err(overflow());
            }
            if r == 0.0 && a != 0.0 && b != 0.0 {
                return Err(underflow());
            }
            Ok(r)
        }

        /// The quotient, checked for a zero divisor, overflow and underflow.
        #[inline]
        pub fn $name_div(a: $t, b: $t) -> Result<$t> {
            if b == 0.0 && !a.is_nan() {
                return Err(division_by_zero());
            }
            let r = a / b;
            if r.is_infinite() && !a.is_infinite() {
                return Err(overflow());
            }
            if r == 0.0 && a != 0.0 && !b.is_infinite() {
                return Err(underflow());
            }
            Ok(r)
        }
    };
}

checked! { sum4 mul4 div4 f32 }
checked! { sum8 mul8 div8 f64 }

/// Converts a float8 to a float4; overflow and underflow are errors.
pub fn to_float4(v: f64) -> Result<f32> {
    let r = v as f32;
    if r.is_infinite() && !v.is_infinite() {
        return Err(overflow());
    }
    if r == 0.0 && v != 0.0 {
        return Err(underflow());
    }
    Ok(r)
}

/// Rounds half to even to an integer type of `bits` bits; 22003 if it is out of range.
fn to_int(v: f64, bits: u32, name: &str) -> Result<Datum> {
    let r = v.round_ties_even();
    let limit = 2f64.powi(bits as i32 - 1);
    if r.is_nan() || r < -limit || r >= limit {
        return Err(out_of_range(name));
    }
    Ok(Datum::int8(r as i64))
}

fn f8(v: f64) -> Result<Datum> {
    Ok(Datum::float8(v))
}

fn f4(v: f32) -> Result<Datum> {
    Ok(Datum::float4(v))
}

fn digits(cx: &dyn FnContext) -> i32 {
    cx.settings().extra_float_digits
}

scalars! { FNS;
    "float4in" => |_, a| f4(parse_float4(a[0].as_bytes())?),
    "float8in" => |_, a| f8(parse_float8(a[0].as_bytes())?),
    "float4out" => |cx, a| Ok(Datum::text(&float4_text(a[0].as_f32(), digits(cx)))),
    "float8out" => |cx, a| Ok(Datum::text(&float8_text(a[0].as_f64(), digits(cx)))),
    "float4recv" => |_, a| f4(f32::from_bits(Reader::new(a[0].as_bytes()).u32()?)),
    "float8recv" => |_, a| f8(Reader::new(a[0].as_bytes()).f64()?),
    "float4send" => |_, a| Ok(Datum::bytes(a[0].as_f32().to_be_bytes())),
    "float8send" => |_, a| Ok(Datum::bytes(a[0].as_f64().to_be_bytes())),
    "float4pl" => |_, a| { let (x, y) = (a[0].as_f32(), a[1].as_f32()); f4(sum4(x + y, x, y)?) },
    "float4mi" => |_, a| { let (x, y) = (a[0].as_f32(), a[1].as_f32()); f4(sum4(x - y, x, y)?) },
    "float4mul" => |_, a| f4(mul4(a[0].as_f32(), a[1].as_f32())?),
    "float4div" => |_, a| f4(div4(a[0].as_f32(), a[1].as_f32())?),
    "float8pl" => |_, a| { let (x, y) = (a[0].as_f64(), a[1].as_f64()); f8(sum8(x + y, x, y)?) },
    "float8mi" => |_, a| { let (x, y) = (a[0].as_f64(), a[1].as_f64()); f8(sum8(x - y, x, y)?) },
    "float8mul" => |_, a| f8(mul8(a[0].as_f64(), a[1].as_f64())?),
    "float8div" => |_, a| f8(div8(a[0].as_f64(), a[1].as_f64())?),
    "float48pl" =>
        |_, a| { let (x, y) = (f64::from(a[0].as_f32()), a[1].as_f64()); f8(sum8(x + y, x, y)?) },
    "float48mi" =>
        |_, a| { let (x, y) = (f64::from(a[0].as_f32()), a[1].as_f64()); f8(sum8(x - y, x, y)?) },
    "float48mul" => |_, a| f8(mul8(a[0].as_f32().into(), a[1].as_f64())?),
    "float48div" => |_, a| f8(div8(a[0].as_f32().into(), a[1].as_f64())?),
    "float84pl" =>
        |_, a| { let (x, y) = (a[0].as_f64(), f64::from(a[1].as_f32())); f8(sum8(x + y, x, y)?) },
    "float84mi" =>
        |_, a| { let (x, y) = (a[0].as_f64(), f64::from(a[1].as_f32())); f8(sum8(x - y, x, y)?) },
    "float84mul" => |_, a| f8(mul8(a[0].as_f64(), a[1].as_f32().into())?),
    "float84div" => |_, a| f8(div8(a[0].as_f64(), a[1].as_f32().into())?),
    "float4abs" => |_, a| f4(a[0].as_f32().abs()),
    "float8abs" => |_, a| f8(a[0].as_f64().abs()),
    "float4um" => |_, a| f4(-a[0].as_f32()),
    "float8um" => |_, a| f8(-a[0].as_f64()),
    "float4up" => |_, a| Ok(a[0].to_owned()),
    "float8up" => |_, a| Ok(a[0].to_owned()),
    "ftod" => |_, a| f8(a[0].as_f32().into()),
    "dtof" => |_, a| f4(to_float4(a[0].as_f64())?),
    "dtoi2" => |_, a| to_int(a[0].as_f64(), 16, "smallint"),
    "dtoi4" => |_, a| to_int(a[0].as_f64(), 32, "integer"),
    "dtoi8" => |_, a| to_int(a[0].as_f64(), 64, "bigint"),
    "ftoi2" => |_, a| to_int(a[0].as_f32().into(), 16, "smallint"),
    "ftoi4" => |_, a| to_int(a[0].as_f32().into(), 32, "integer"),
    "ftoi8" => |_, a| to_int(a[0].as_f32().into(), 64, "bigint"),
    "i2tod" => |_, a| f8(a[0].as_i16().into()),
    "i4tod" => |_, a| f8(a[0].as_i32().into()),
    "i8tod" => |_, a| f8(a[0].as_i64() as f64),
    "i2tof" => |_, a| f4(a[0].as_i16().into()),
    "i4tof" => |_, a| f4(a[0].as_i32() as f32),
    "i8tof" => |_, a| f4(a[0].as_i64() as f32),
}
