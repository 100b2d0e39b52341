//! money: an amount in cents. The format is that of the C locale and of en_US, which are the same;
//! other values of `lc_monetary` are refused. As in PostgreSQL 15, addition and multiplication wrap
//! around. Counterpart: cash.c.

use numeric::Num;
use pgerror::{PgError, Result, SqlState};
use std::fmt::Write;
use values::datum::{Datum, DatumRef};
use values::fn_context::FnContext;
use values::type_io::{
    Reader, bad_syntax, division_by_zero, is_space, out_of_range, text_out_of_range,
};

const CENTS: i64 = 100;

fn check_locale(cx: &dyn FnContext) -> Result<()> {
    let locale = &cx.settings().lc_monetary;
    if crate::locale::orders_by_bytes(locale) || locale.starts_with("en_US") {
        return Ok(());
    }
    Err(PgError::unsupported(format!("money in the locale \"{locale}\"")))
}

fn output(cx: &dyn FnContext, cents: i64) -> Result<Datum> {
    check_locale(cx)?;
    let (whole, rest) = (cents.unsigned_abs() / 100, cents.unsigned_abs() % 100);
    let digits = whole.to_string();
    let mut out = String::from(if cents < 0 { "-$" } else { "$" });
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i) % 3 == 0 {
            out.push(',');
        }
        out.push(digit);
    }
    let _ = write!(out, ".{rest:02}");
    Ok(Datum::text(&out))
}

/// Skips spaces, then one of the characters; returns which.
fn skip(text: &mut &[u8], characters: &[u8]) -> Option<u8> {
    let spaces = text.iter().take_while(|c| is_space(**c)).count();
    *text = &text[spaces..];
    let found = text.first().copied().filter(|c| characters.contains(c))?;
    *text = &text[1..];
    Some(found)
}

/// Reads an amount such as `-$1,234.56` or `(1.50)`. A further decimal digit rounds; commas are
/// ignored wherever they are; a sign may also follow.
fn input(cx: &dyn FnContext, text: &[u8]) -> Result<Datum> {
    check_locale(cx)?;
    let too_large = || text_out_of_range("money", text);
    let mut rest = text;
    skip(&mut rest, b"$");
    let mut negative = matches!(skip(&mut rest, b"-(+"), Some(b'-' | b'('));
    skip(&mut rest, b"$");
    skip(&mut rest, b"");
    // The negative amount: its range is larger.
    let mut cents: i64 = 0;
    let mut decimals = None;
    while let Some(&c) = rest.first() {
        match c {
            b'0'..=b'9' if decimals.is_none_or(|n| n < 2) => {
                let digit = i64::from(c - b'0');
                let more = cents.checked_mul(10).and_then(|v| v.checked_sub(digit));
                cents = more.ok_or_else(too_large)?;
                decimals = decimals.map(|n: u32| n + 1);
            }
            b'.' if decimals.is_none() => decimals = Some(0),
            b',' => {}
            _ => break,
        }
        rest = &rest[1..];
    }
    if rest.first().is_some_and(|c| (b'5'..=b'9').contains(c)) {
        cents = cents.checked_sub(1).ok_or_else(too_large)?;
    }
    for _ in decimals.unwrap_or(0)..2 {
        cents = cents.checked_mul(10).ok_or_else(too_large)?;
    }
    let digits = rest.iter().take_while(|c| c.is_ascii_digit()).count();
    for &c in &rest[digits..] {
        match c {
            b'-' => negative = true,
            b')' | b'+' | b'$' => {}
            c if is_space(c) => {}
            _ => return Err(bad_syntax("money", text)),
        }
    }
    let cents = if negative { Some(cents) } else { cents.checked_neg() };
    Ok(Datum::int8(cents.ok_or_else(too_large)?))
}

/// The nearest amount; the smallest one for results out of range, as the processor converts them.
fn rounded(cents: f64) -> Datum {
    const END: f64 = 9_223_372_036_854_775_808.0;
    let cents = cents.round_ties_even();
    Datum::int8(if (-END..END).contains(&cents) { cents as i64 } else { i64::MIN })
}

fn divided(amount: DatumRef<'_>, divisor: f64) -> Result<Datum> {
    if divisor == 0.0 {
        return Err(division_by_zero());
    }
    Ok(rounded(amount.as_i64() as f64 / divisor))
}

fn divided_by_integer(amount: DatumRef<'_>, divisor: i64) -> Result<Datum> {
    if divisor == 0 {
        return Err(division_by_zero());
    }
    match amount.as_i64().checked_div(divisor) {
        Some(cents) => Ok(Datum::int8(cents)),
        // PostgreSQL gets a signal of the processor.
        None => Err(PgError::new(SqlState::FLOATING_POINT_EXCEPTION, "floating-point exception")
            .detail(
                "An invalid floating-point operation was signaled. This probably means an \
                 out-of-range result or an invalid operation, such as division by zero.",
            )),
    }
}

/// The ratio of two amounts.
fn ratio(a: DatumRef<'_>, b: DatumRef<'_>) -> Result<Datum> {
    if b.as_i64() == 0 {
        return Err(division_by_zero());
    }
    Ok(Datum::float8(a.as_i64() as f64 / b.as_i64() as f64))
}

fn multiplied(amount: DatumRef<'_>, factor: DatumRef<'_>) -> Result<Datum> {
    Ok(Datum::int8(amount.as_i64().wrapping_mul(factor.as_i64())))
}

fn from_integer(dollars: DatumRef<'_>) -> Result<Datum> {
    let cents = dollars.as_i64().checked_mul(CENTS);
    Ok(Datum::int8(cents.ok_or_else(|| out_of_range("bigint"))?))
}

fn from_numeric(dollars: DatumRef<'_>) -> Result<Datum> {
    let cents = Num::of(dollars).times(&Num::from(CENTS));
    numeric::functions::to_int8(&cents).map(Datum::int8)
}

fn to_numeric(amount: DatumRef<'_>) -> Result<Datum> {
    Num::from(amount.as_i64()).divided(&Num::from(CENTS), 2, true)?.datum()
}

const SMALL_WORDS: [&str; 20] = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
];

const TENS: [&str; 8] =
    ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"];

/// A number below 1000 in words.
fn number_words(n: u64) -> String {
    let (hundreds, rest) = ((n / 100) as usize, (n % 100) as usize);
    let below = match rest {
        0..20 => SMALL_WORDS[rest].to_owned(),
        _ if rest % 10 == 0 => TENS[rest / 10 - 2].to_owned(),
        _ => format!("{} {}", TENS[rest / 10 - 2], SMALL_WORDS[rest % 10]),
    };
    match (hundreds, rest) {
        (0, _) => below,
        (_, 0) => format!("{} hundred", SMALL_WORDS[hundreds]),
        (_, 1..20) => format!("{} hundred and {below}", SMALL_WORDS[hundreds]),
        _ => format!("{} hundred {below}", SMALL_WORDS[hundreds]),
    }
}

/// The amount in words, as on a cheque. Two spaces follow a whole number of thousands, as in
/// PostgreSQL.
fn words(cents: i64) -> Datum {
    const GROUPS: [&str; 5] = ["quadrillion", "trillion", "billion", "million", "thousand"];
    let amount = cents.unsigned_abs();
    let dollars = amount / 100;
    let mut text = String::from(if cents < 0 { "minus " } else { "" });
    for (i, name) in GROUPS.iter().enumerate() {
        let group = dollars / 1000_u64.pow(5 - i as u32) % 1000;
        if group > 0 {
            let _ = write!(text, "{} {name} ", number_words(group));
        }
    }
    if dollars % 1000 > 0 || dollars == 0 {
        text.push_str(&number_words(dollars % 1000));
    }
    let dollar = if dollars == 1 { "dollar" } else { "dollars" };
    let cent = if amount % 100 == 1 { "cent" } else { "cents" };
    let _ = write!(text, " {dollar} and {} {cent}", number_words(amount % 100));
    let (first, rest) = text.split_at(1);
    Datum::text(&(first.to_ascii_uppercase() + rest))
}

scalars! { FNS;
    "cash_in" => |cx, a| input(cx, a[0].as_bytes()),
    "cash_out" => |cx, a| output(cx, a[0].as_i64()),
    "cash_recv" => |_, a| Ok(Datum::int8(Reader::new(a[0].as_bytes()).i64()?)),
    "cash_send" => |_, a| Ok(Datum::bytes(a[0].as_i64().to_be_bytes())),
    "cash_pl" => |_, a| Ok(Datum::int8(a[0].as_i64().wrapping_add(a[1].as_i64()))),
    "cash_mi" => |_, a| Ok(Datum::int8(a[0].as_i64().wrapping_sub(a[1].as_i64()))),
    "cash_mul_int2" => |_, a| multiplied(a[0], a[1]),
    "cash_mul_int4" => |_, a| multiplied(a[0], a[1]),
    "cash_mul_int8" => |_, a| multiplied(a[0], a[1]),
    "int2_mul_cash" => |_, a| multiplied(a[1], a[0]),
    "int4_mul_cash" => |_, a| multiplied(a[1], a[0]),
    "int8_mul_cash" => |_, a| multiplied(a[1], a[0]),
    "cash_div_int2" => |_, a| divided_by_integer(a[0], a[1].as_i64()),
    "cash_div_int4" => |_, a| divided_by_integer(a[0], a[1].as_i64()),
    "cash_div_int8" => |_, a| divided_by_integer(a[0], a[1].as_i64()),
    "cash_mul_flt4" => |_, a| Ok(rounded(a[0].as_i64() as f64 * f64::from(a[1].as_f32()))),
    "flt4_mul_cash" => |_, a| Ok(rounded(f64::from(a[0].as_f32()) * a[1].as_i64() as f64)),
    "cash_div_flt4" => |_, a| divided(a[0], a[1].as_f32().into()),
    "cash_mul_flt8" => |_, a| Ok(rounded(a[0].as_i64() as f64 * a[1].as_f64())),
    "flt8_mul_cash" => |_, a| Ok(rounded(a[0].as_f64() * a[1].as_i64() as f64)),
    "cash_div_flt8" => |_, a| divided(a[0], a[1].as_f64()),
    "cash_div_cash" => |_, a| ratio(a[0], a[1]),
    "cash_words" => |_, a| Ok(words(a[0].as_i64())),
    "cash_numeric" => |_, a| to_numeric(a[0]),
    "numeric_cash" => |_, a| from_numeric(a[0]),
    "int4_cash" => |_, a| from_integer(a[0]),
    "int8_cash" => |_, a| from_integer(a[0]),
}
