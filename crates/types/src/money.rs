//! Money: an amount in the smallest unit of `lc_monetary`, whose format it has.
//!
//! Counterpart: cash.c.

use locale::{MoneyFormat, SignLayout};
use pgerror::{PgError, Result, pg_err};
use std::fmt::Write;
use values::compare::btint8cmp;
use values::datum::{Datum, DatumRef};
use values::fn_context::FnContext;
use values::function;
use values::type_io::{Reader, division_by_zero, is_space, out_of_range};

/// Number of decimal places of C and of locales that do not define one.
const PLACES: u8 = 2;
/// The largest number of decimal places that a locale may define.
const PLACES_MAX: u8 = 10;
/// Digits of a group in C and in locales that do not define them.
const GROUP: u8 = 3;

/// The format of amounts, with defaults where the locale has none.
struct Format<'s> {
    decimal: char,
    thousands: &'s str,
    symbol: &'s str,
    /// Empty if the locale has none.
    positive_sign: &'s str,
    negative_sign: &'s str,
    places: usize,
    group: usize,
    positive: SignLayout,
    negative: SignLayout,
}

impl<'s> Format<'s> {
    fn of(cx: &'s dyn FnContext) -> Format<'s> {
        // C: the sign, then the symbol.
        let plain = SignLayout { symbol_precedes: true, space: 0, position: 1 };
        let Some(m) = &cx.settings().formats.money else {
            return Format {
                decimal: '.',
                thousands: ",",
                symbol: "$",
                positive_sign: "",
                negative_sign: "-",
                places: PLACES.into(),
                group: GROUP.into(),
                positive: plain,
                negative: plain,
            };
        };
        Format::by(m)
    }

    fn by(m: &'s MoneyFormat) -> Format<'s> {
        let or = |text: &'s str, other| if text.is_empty() { other } else { text };
        let decimal = match m.decimal.as_bytes() {
            [one] => char::from(*one),
            _ => '.',
        };
        Format {
            decimal,
            thousands: or(&m.thousands, if decimal == ',' { "." } else { "," }),
            symbol: or(&m.symbol, "$"),
            positive_sign: &m.positive_sign,
            negative_sign: or(&m.negative_sign, "-"),
            places: if m.places > PLACES_MAX { PLACES } else { m.places }.into(),
            group: if (1..=6).contains(&m.group) { m.group } else { GROUP }.into(),
            positive: m.positive,
            negative: m.negative,
        }
    }

    /// Units in one whole.
    fn scale(&self) -> i64 {
        10i64.pow(self.places as u32)
    }

    /// Writes sign, symbol and value in the order of the locale.
    fn write(&self, value: &str, is_negative: bool) -> String {
        let (sign, layout) = match is_negative {
            true => (self.negative_sign, self.negative),
            false => (self.positive_sign, self.positive),
        };
        let space = |kind: u8| if layout.space == kind { " " } else { "" };
        let (symbol, first) = (self.symbol, layout.symbol_precedes);
        let parts = match (layout.position, first) {
            (0, true) => ["(", symbol, space(1), value, ")"],
            (0, false) => ["(", value, space(1), symbol, ")"],
            (2, true) => [symbol, space(1), value, space(2), sign],
            (2, false) => [value, space(1), symbol, space(2), sign],
            (3, false) => [value, space(1), sign, space(2), symbol],
            (4, true) => [symbol, space(2), sign, space(1), value],
            (4, false) => [value, space(1), symbol, space(2), sign],
            (_, true) => [sign, space(2), symbol, space(1), value],
            (_, false) => [sign, space(2), value, space(1), symbol],
        };
        parts.concat()
    }
}

fn text(cx: &dyn FnContext, cents: i64) -> Result<Datum> {
    let format = Format::of(cx);
    let scale = format.scale().unsigned_abs();
    let digits = (cents.unsigned_abs() / scale).to_string();
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(format.group) {
            out.push_str(format.thousands);
        }
        out.push(digit);
    }
    if format.places > 0 {
        let rest = cents.unsigned_abs() % scale;
        out.push(format.decimal);
        out.push_str(&format!("{rest:0width$}", width = format.places));
    }
    Ok(Datum::text(&format.write(&out, cents < 0)))
}

fn skip_space(text: &[u8]) -> &[u8] {
    let start = text.iter().position(|&c| !is_space(c)).unwrap_or(text.len());
    &text[start..]
}

/// The text without white space and a currency symbol at its start.
fn skip_symbol<'t>(text: &'t [u8], symbol: &str) -> &'t [u8] {
    let text = skip_space(text);
    skip_space(text.strip_prefix(symbol.as_bytes()).unwrap_or(text))
}

fn is_digit(c: Option<&u8>) -> bool {
    c.is_some_and(u8::is_ascii_digit)
}

/// Reads an amount: signs, currency symbols, digits with separators of thousands, decimals, which
/// are rounded. A sign may follow too.
fn parse(cx: &dyn FnContext, input: &[u8]) -> Result<i64> {
    let format = &Format::of(cx);
    let shown = || String::from_utf8_lossy(input).into_owned();
    let too_large = || {
        pg_err!(NUMERIC_VALUE_OUT_OF_RANGE, "value \"{}\" is out of range for type money", shown())
    };
    let (minus, symbol) = (format.negative_sign.as_bytes(), format.symbol.as_bytes());
    let plus = match format.positive_sign {
        "" => &b"+"[..],
        sign => sign.as_bytes(),
    };
    let mut rest = skip_symbol(input, format.symbol);
    let mut negative = false;
    if let Some(after) = rest.strip_prefix(minus).or_else(|| rest.strip_prefix(b"(")) {
        (negative, rest) = (true, after);
    } else {
        rest = rest.strip_prefix(plus).unwrap_or(rest);
    }
    rest = skip_symbol(rest, format.symbol);
    // Summed up negatively, because there is one more negative number.
    let mut value = 0i64;
    let mut places = None;
    while let Some(&c) = rest.first() {
        let reads = places.is_none_or(|n| n < format.places);
        if c.is_ascii_digit() && reads {
            let digit = i64::from(c - b'0');
            let next = value.checked_mul(10).and_then(|v| v.checked_sub(digit));
            value = next.ok_or_else(too_large)?;
            places = places.map(|n| n + 1);
        } else if char::from(c) == format.decimal && places.is_none() {
            places = Some(0);
        } else if let Some(after) = rest.strip_prefix(format.thousands.as_bytes()) {
            rest = after;
            continue;
        } else {
            break;
        }
        rest = &rest[1..];
    }
    if is_digit(rest.first()) && rest[0] >= b'5' {
        value = value.checked_sub(1).ok_or_else(too_large)?;
    }
    for _ in places.unwrap_or(0)..format.places {
        value = value.checked_mul(10).ok_or_else(too_large)?;
    }
    while is_digit(rest.first()) {
        rest = &rest[1..];
    }
    while let Some(&c) = rest.first() {
        if is_space(c) || c == b')' {
            rest = &rest[1..];
        } else if let Some(after) = rest.strip_prefix(minus) {
            (negative, rest) = (true, after);
        } else if let Some(after) = rest.strip_prefix(plus).or_else(|| rest.strip_prefix(symbol)) {
            rest = after;
        } else {
            return Err(pg_err!(
                INVALID_TEXT_REPRESENTATION,
                "invalid input syntax for type money: \"{}\"",
                shown()
            ));
        }
    }
    if negative { Ok(value) } else { value.checked_neg().ok_or_else(too_large) }
}

/// An amount; 22003 if there is none.
fn amount(cents: Option<i64>) -> Result<Datum> {
    cents.map(Datum::int8).ok_or_else(|| out_of_range("money"))
}

/// The nearest amount.
fn rounded(v: f64) -> Result<Datum> {
    let v = v.round_ties_even();
    let fits = v >= i64::MIN as f64 && v < -(i64::MIN as f64);
    amount(fits.then_some(v as i64))
}

/// Checks the result of an operation on these numbers.
fn checked(result: f64, from: [f64; 2]) -> Result<f64> {
    let over = result.is_infinite() && from.iter().all(|v| v.is_finite());
    let under = result == 0.0 && from.iter().all(|v| *v != 0.0 && v.is_finite());
    match (over, under) {
        (true, _) => Err(pg_err!(NUMERIC_VALUE_OUT_OF_RANGE, "value out of range: overflow")),
        (_, true) => Err(pg_err!(NUMERIC_VALUE_OUT_OF_RANGE, "value out of range: underflow")),
        _ => Ok(result),
    }
}

fn product(cents: DatumRef<'_>, factor: f64) -> Result<Datum> {
    let cents = cents.as_i64() as f64;
    rounded(checked(cents * factor, [cents, factor])?)
}

fn quotient(cents: DatumRef<'_>, divisor: f64) -> Result<Datum> {
    if divisor == 0.0 {
        return Err(division_by_zero());
    }
    let cents = cents.as_i64() as f64;
    rounded(checked(cents / divisor, [cents, divisor])?)
}

fn whole_product(cents: DatumRef<'_>, factor: i64) -> Result<Datum> {
    amount(cents.as_i64().checked_mul(factor))
}

fn whole_quotient(cents: DatumRef<'_>, divisor: i64) -> Result<Datum> {
    if divisor == 0 {
        return Err(division_by_zero());
    }
    amount(cents.as_i64().checked_div(divisor))
}

fn of_whole(cx: &dyn FnContext, units: i64) -> Result<Datum> {
    units.checked_mul(Format::of(cx).scale()).map(Datum::int8).ok_or_else(|| out_of_range("bigint"))
}

/// Calls a function of numeric.
fn numeric(cx: &mut dyn FnContext, name: &str, args: &[DatumRef<'_>]) -> Result<Datum> {
    let f = function::scalar_in(numeric::TABLES, name).ok_or_else(|| PgError::unsupported(name))?;
    f(cx, args)
}

fn of_numeric(cx: &mut dyn FnContext, amount: DatumRef<'_>) -> Result<Datum> {
    let scale = numeric::io::parse(Format::of(cx).scale().to_string().as_bytes())?.datum()?;
    let cents = numeric(cx, "numeric_mul", &[amount, scale.as_ref()])?;
    numeric(cx, "numeric_int8", &[cents.as_ref()])
}

fn to_numeric(cx: &dyn FnContext, cents: i64) -> Result<Datum> {
    let format = Format::of(cx);
    let (scale, places) = (format.scale().unsigned_abs(), format.places);
    let sign = if cents < 0 { "-" } else { "" };
    let (whole, rest) = (cents.unsigned_abs() / scale, cents.unsigned_abs() % scale);
    let decimals = if places > 0 { format!(".{rest:0places$}") } else { String::new() };
    numeric::io::parse(format!("{sign}{whole}{decimals}").as_bytes())?.datum()
}

const SMALL: [&str; 20] = [
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
const TENS: [&str; 10] =
    ["", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"];

/// A number below 1000 in words.
fn number_in_words(n: u64) -> String {
    let n = n as usize;
    let (hundreds, rest) = (n / 100, n % 100);
    let below = match rest {
        0..20 => SMALL[rest].to_owned(),
        _ if rest.is_multiple_of(10) => TENS[rest / 10].to_owned(),
        _ => format!("{} {}", TENS[rest / 10], SMALL[rest % 10]),
    };
    match (hundreds, rest) {
        (0, _) => below,
        (_, 0) => format!("{} hundred", SMALL[hundreds]),
        // Ten is joined as the numbers below twenty are.
        (_, 1..20) => format!("{} hundred and {below}", SMALL[hundreds]),
        _ => format!("{} hundred {below}", SMALL[hundreds]),
    }
}

/// An amount in English words.
fn in_words(cents: i64) -> String {
    let value = cents.unsigned_abs();
    let units = value / 100;
    let mut out = String::new();
    let names = ["quadrillion", "trillion", "billion", "million", "thousand"];
    let mut divisor = 1_000_000_000_000_000;
    for name in names {
        let group = units / divisor % 1000;
        if group > 0 {
            let _ = write!(out, "{} {name} ", number_in_words(group));
        }
        divisor /= 1000;
    }
    if !units.is_multiple_of(1000) {
        out.push_str(&number_in_words(units % 1000));
    }
    if out.is_empty() {
        out.push_str("zero");
    }
    out.push_str(if units == 1 { " dollar and " } else { " dollars and " });
    out.push_str(&number_in_words(value % 100));
    out.push_str(if value % 100 == 1 { " cent" } else { " cents" });
    if cents < 0 {
        out.insert_str(0, "minus ");
    }
    out[..1].make_ascii_uppercase();
    out
}

scalars! { FNS;
    "cash_in" => |cx, a| parse(cx, a[0].as_bytes()).map(Datum::int8),
    "cash_out" => |cx, a| text(cx, a[0].as_i64()),
    "cash_recv" => |_, a| Ok(Datum::int8(Reader::new(a[0].as_bytes()).i64()?)),
    "cash_send" => |_, a| Ok(Datum::bytes(a[0].as_i64().to_be_bytes())),
    "cash_cmp" => |cx, a| Ok(Datum::int4(btint8cmp(a[0], a[1], cx.collation()) as i32)),
    "cash_pl" => |_, a| amount(a[0].as_i64().checked_add(a[1].as_i64())),
    "cash_mi" => |_, a| amount(a[0].as_i64().checked_sub(a[1].as_i64())),
    "cash_div_cash" => |_, a| match a[1].as_i64() {
        0 => Err(division_by_zero()),
        divisor => Ok(Datum::float8(a[0].as_i64() as f64 / divisor as f64)),
    },
    "cash_mul_flt8" => |_, a| product(a[0], a[1].as_f64()),
    "flt8_mul_cash" => |_, a| product(a[1], a[0].as_f64()),
    "cash_div_flt8" => |_, a| quotient(a[0], a[1].as_f64()),
    "cash_mul_flt4" => |_, a| product(a[0], a[1].as_f32().into()),
    "flt4_mul_cash" => |_, a| product(a[1], a[0].as_f32().into()),
    "cash_div_flt4" => |_, a| quotient(a[0], a[1].as_f32().into()),
    "cash_mul_int8" => |_, a| whole_product(a[0], a[1].as_i64()),
    "int8_mul_cash" => |_, a| whole_product(a[1], a[0].as_i64()),
    "cash_div_int8" => |_, a| whole_quotient(a[0], a[1].as_i64()),
    "cash_mul_int4" => |_, a| whole_product(a[0], a[1].as_i64()),
    "int4_mul_cash" => |_, a| whole_product(a[1], a[0].as_i64()),
    "cash_div_int4" => |_, a| whole_quotient(a[0], a[1].as_i64()),
    "cash_mul_int2" => |_, a| whole_product(a[0], a[1].as_i64()),
    "int2_mul_cash" => |_, a| whole_product(a[1], a[0].as_i64()),
    "cash_div_int2" => |_, a| whole_quotient(a[0], a[1].as_i64()),
    "cash_words" => |_, a| Ok(Datum::text(&in_words(a[0].as_i64()))),
    "cash_numeric" => |cx, a| to_numeric(cx, a[0].as_i64()),
    "numeric_cash" => |cx, a| of_numeric(cx, a[0]),
    "int4_cash" => |cx, a| of_whole(cx, a[0].as_i64()),
    "int8_cash" => |cx, a| of_whole(cx, a[0].as_i64()),
}
