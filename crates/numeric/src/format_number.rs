//! to_char over numbers and to_number. Counterpart: formatting.c.

use crate::io::parse;
use crate::num::Num;
use pgerror::{PgError, Result, pg_err};
use values::datum::{Datum, DatumRef};
use values::fn_context::{FnContext, InterruptChecker};
use values::limits::{ALLOCATION_BYTES_MAX, VARLENA_HEADER_BYTES, invalid_allocation};
use values::memory;
use values::settings::Settings;

/// An element of a number template.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Item {
    Nine,
    Zero,
    /// With D instead of a point, the separator is that of the locale.
    Point {
        local: bool,
    },
    Comma,
    /// G: the group separator, a comma in the C locale.
    Group,
    /// L: the currency symbol, which is blank in the C locale.
    Currency,
    /// SG: a plus or minus sign at this position.
    Sign,
    Minus,
    Plus,
    Ordinal(bool),
    Roman(bool),
    /// A keyword without output.
    Silent,
    Char(char),
}

/// The position of an S in the template.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum SignPosition {
    None,
    Before,
    After,
}

/// The locale's separators and currency symbol.
struct Symbols<'s> {
    decimal: &'s str,
    group: &'s str,
    currency: &'s str,
}

impl<'s> Symbols<'s> {
    /// Counterpart: `NUM_prepare_locale`.
    fn of(settings: &'s Settings) -> Symbols<'s> {
        let (mut decimal, mut group) = ("", "");
        if let Some(number) = &settings.formats.number {
            (decimal, group) = (number.decimal.as_str(), number.thousands.as_str());
        }
        let currency = settings.formats.money.as_ref().map_or("", |m| m.symbol.as_str());
        let or = |text: &'s str, other| if text.is_empty() { other } else { text };
        let decimal = or(decimal, ".");
        let group = or(group, if decimal == "," { "." } else { "," });
        Symbols { decimal, group, currency: or(currency, " ") }
    }
}

#[derive(Clone, Debug)]
struct Template {
    items: Vec<Item>,
    /// Number of digit positions before and after the decimal point.
    pre: usize,
    post: usize,
    /// Number of nines after V.
    shift: usize,
    has_shift: bool,
    has_point: bool,
    /// FM: no padding, no trailing zeros.
    narrow: bool,
    blank: bool,
    /// 1-based position of the first 0 among the digits.
    zero_start: Option<usize>,
    /// 1-based position of the last 0 among the digits.
    zero_end: usize,
    sign: SignPosition,
    /// Number of digit positions before the S.
    sign_at: usize,
    /// MI or SG; PL or SG: the sign has a position of its own.
    minus: bool,
    plus: bool,
    bracket: bool,
    roman: bool,
    scientific: bool,
}

fn syntax(message: &str) -> PgError {
    pg_err!(SYNTAX_ERROR, "{message}")
}

/// Keywords in upper case, longer ones before their prefixes. They are accepted in lower case too.
const KEYWORDS: [&str; 20] = [
    ",", ".", "0", "9", "B", "C", "D", "EEEE", "FM", "G", "L", "MI", "PL", "PR", "RN", "SG", "SP",
    "S", "TH", "V",
];

/// Whether the text begins with the keyword, entirely in upper case or entirely in lower case.
fn spells(text: &str, keyword: &str) -> bool {
    let Some(start) = text.as_bytes().get(..keyword.len()) else { return false };
    start == keyword.as_bytes()
        || start.iter().copied().eq(keyword.bytes().map(|b| b.to_ascii_lowercase()))
}

impl Template {
    fn new(text: &str, interrupts: &InterruptChecker<'_>) -> Result<Template> {
        let mut t = Template {
            items: Vec::new(),
            pre: 0,
            post: 0,
            shift: 0,
            has_shift: false,
            has_point: false,
            narrow: false,
            blank: false,
            zero_start: None,
            zero_end: 0,
            sign: SignPosition::None,
            sign_at: 0,
            minus: false,
            plus: false,
            bracket: false,
            roman: false,
            scientific: false,
        };
        let mut rest = text;
        while !rest.is_empty() {
            interrupts.tick()?;
            memory::reserve(&mut t.items, 1)?;
            let key = KEYWORDS.into_iter().find(|k| spells(rest, k));
            if let Some(key) = key {
                let upper = rest.starts_with(key);
                rest = &rest[key.len()..];
                t.key(key, upper)?;
                continue;
            }
            if let Some(quoted) = rest.strip_prefix('"') {
                let mut chars = quoted.chars();
                while let Some(c) = chars.next().filter(|c| *c != '"') {
                    let c = if c == '\\' { chars.next().unwrap_or(c) } else { c };
                    interrupts.tick()?;
                    memory::reserve(&mut t.items, 1)?;
                    t.items.push(Item::Char(c));
                }
                rest = chars.as_str();
                continue;
            }
            rest = rest.strip_prefix('\\').filter(|r| r.starts_with('"')).unwrap_or(rest);
            let mut chars = rest.chars();
            t.items.extend(chars.next().map(Item::Char));
            rest = chars.as_str();
        }
        Ok(t)
    }

    /// The decimal separator: that of the locale if the template has a D.
    fn decimal<'s>(&self, symbols: &Symbols<'s>) -> &'s str {
        match self.items.contains(&Item::Point { local: true }) {
            true => symbols.decimal,
            false => ".",
        }
    }

    fn key(&mut self, key: &str, upper: bool) -> Result<()> {
        if self.scientific && key != "EEEE" {
            return Err(syntax("\"EEEE\" must be the last pattern used"));
        }
        let own_sign = self.minus || self.plus;
        let item = match key {
            "9" | "0" => {
                if self.bracket {
                    return Err(syntax(&format!("\"{key}\" must be ahead of \"PR\"")));
                }
                self.digit(key == "0");
                if key == "0" { Item::Zero } else { Item::Nine }
            }
            "." | "D" => {
                if self.has_point {
                    return Err(syntax("multiple decimal points"));
                }
                if self.has_shift {
                    return Err(syntax("cannot use \"V\" and decimal point together"));
                }
                self.has_point = true;
                Item::Point { local: key == "D" }
            }
            "," => Item::Comma,
            "G" => Item::Group,
            "L" => Item::Currency,
            "B" => {
                self.blank |= self.pre == 0 && self.post == 0 && self.zero_start.is_none();
                Item::Silent
            }
            "FM" => {
                self.narrow = true;
                Item::Silent
            }
            "S" => {
                if self.sign != SignPosition::None {
                    return Err(syntax("cannot use \"S\" twice"));
                }
                if own_sign || self.bracket {
                    return Err(syntax(
                        "cannot use \"S\" and \"PL\"/\"MI\"/\"SG\"/\"PR\" together",
                    ));
                }
                self.sign = if self.has_point { SignPosition::After } else { SignPosition::Before };
                self.sign_at = self.pre;
                Item::Silent
            }
            "MI" | "PL" | "SG" => {
                if self.sign != SignPosition::None {
                    return Err(syntax(&format!("cannot use \"S\" and \"{key}\" together")));
                }
                self.minus |= key != "PL";
                self.plus |= key != "MI";
                match key {
                    "MI" => Item::Minus,
                    "PL" => Item::Plus,
                    _ => Item::Sign,
                }
            }
            "PR" => {
                if self.sign != SignPosition::None || own_sign {
                    return Err(syntax(
                        "cannot use \"PR\" and \"S\"/\"PL\"/\"MI\"/\"SG\" together",
                    ));
                }
                self.bracket = true;
                Item::Silent
            }
            "RN" => {
                self.roman = true;
                Item::Roman(upper)
            }
            "TH" => Item::Ordinal(upper),
            "V" => {
                if self.has_point {
                    return Err(syntax("cannot use \"V\" and decimal point together"));
                }
                self.has_shift = true;
                Item::Silent
            }
            "EEEE" => {
                self.exponent()?;
                Item::Silent
            }
            _ => Item::Silent,
        };
        self.items.push(item);
        Ok(())
    }

    fn digit(&mut self, zero: bool) {
        if zero && !self.has_point {
            self.zero_start.get_or_insert(self.pre + 1);
        }
        match (self.has_shift && !zero, self.has_point) {
            (true, _) => self.shift += 1,
            (_, true) => self.post += 1,
            (_, false) => self.pre += 1,
        }
        if zero {
            self.zero_end = self.pre + self.post;
        }
    }

    fn exponent(&mut self) -> Result<()> {
        if self.scientific {
            return Err(syntax("cannot use \"EEEE\" twice"));
        }
        if self.blank
            || self.narrow
            || self.sign != SignPosition::None
            || self.bracket
            || self.minus
            || self.plus
            || self.roman
            || self.has_shift
        {
            return Err(syntax("\"EEEE\" is incompatible with other formats").detail(
                "\"EEEE\" may only be used together with digit and decimal point patterns.",
            ));
        }
        self.scientific = true;
        Ok(())
    }
}

const ROMAN: [(i64, &str); 13] = [
    (1000, "M"),
    (900, "CM"),
    (500, "D"),
    (400, "CD"),
    (100, "C"),
    (90, "XC"),
    (50, "L"),
    (40, "XL"),
    (10, "X"),
    (9, "IX"),
    (5, "V"),
    (4, "IV"),
    (1, "I"),
];

fn roman(n: i64) -> String {
    if !(1..=3999).contains(&n) {
        return "#".repeat(15);
    }
    let mut out = String::new();
    let mut rest = n;
    for (value, text) in ROMAN {
        while rest >= value {
            out.push_str(text);
            rest -= value;
        }
    }
    out
}

/// `st`, `nd`, `rd`, `th` of a number's digits.
fn ordinal(digits: &[u8]) -> &'static str {
    let teens = digits.len() > 1 && digits[digits.len() - 2] == b'1';
    match digits.last() {
        Some(b'1') if !teens => "st",
        Some(b'2') if !teens => "nd",
        Some(b'3') if !teens => "rd",
        _ => "th",
    }
}

/// Formats a number by its template. Positions count the template's digits and its point.
struct Layout<'a> {
    t: Template,
    symbols: &'a Symbols<'a>,
    /// The decimal separator of the template.
    decimal: &'a str,
    negative: bool,
    /// The absolute value: digits, and the point where there are decimals.
    number: &'a [u8],
    /// Index in `number` of the next character to write.
    at: usize,
    position: usize,
    /// Number of positions before the number.
    spaces: usize,
    /// Index of the last significant character of `number` (FM with a point).
    last: Option<usize>,
    sign_written: bool,
    /// The last position was a digit of the number.
    in_number: bool,
    out: String,
}

impl Layout<'_> {
    /// Whether the next character is the 0 before the point, which a template without zeros does
    /// not show.
    fn lone_zero(&self) -> bool {
        self.t.zero_start.is_none()
            && self.at == 0
            && self.number.first() == Some(&b'0')
            && self.t.post != 0
    }

    /// Whether the significant part of the number ends with the point.
    fn ends_with_point(&self) -> bool {
        self.last.is_some_and(|l| self.number.get(l) == Some(&b'.'))
    }

    /// Writes the sign before the first character of the number.
    fn sign(&mut self) {
        let reached = self.position >= self.spaces
            || self.t.zero_start.is_some_and(|z| z - 1 == self.position);
        if self.sign_written || !reached || (self.lone_zero() && !self.ends_with_point()) {
            return;
        }
        if self.t.sign != SignPosition::None {
            if self.t.sign == SignPosition::Before {
                self.out.push(if self.negative { '-' } else { '+' });
                self.sign_written = true;
            }
            return;
        }
        self.sign_written = true;
        match (self.t.bracket, self.negative) {
            (true, true) => self.out.push('<'),
            (true, false) => self.out.push(' '),
            (false, true) => self.out.push('-'),
            (false, false) if self.t.narrow => {}
            (false, false) => self.out.push(' '),
        }
    }

    /// Writes a digit or the point. False at the end of the number, which ends the output.
    fn numeral(&mut self, zero: bool) -> bool {
        self.in_number = false;
        self.sign();
        let zeros = self.t.zero_start.is_some_and(|z| z - 1 <= self.position);
        if self.position < self.spaces {
            if zeros {
                self.out.push('0');
                self.in_number = true;
            } else if !self.t.narrow {
                self.out.push(' ');
            }
        } else {
            match self.number.get(self.at) {
                Some(b'.') => self.out.push_str(self.decimal),
                _ if self.last.is_some_and(|l| self.at > l) && !zero => {}
                _ if self.lone_zero() => {
                    if !self.t.narrow {
                        self.out.push(' ');
                    } else if self.ends_with_point() {
                        self.out.push('0');
                    }
                }
                None => return false,
                Some(&digit) => {
                    self.out.push(digit as char);
                    self.in_number = true;
                }
            }
            self.at = (self.at + 1).min(self.number.len());
        }
        if self.is_last() {
            if self.sign_written && self.t.bracket {
                self.out.push(if self.negative { '>' } else { ' ' });
            } else if self.t.sign == SignPosition::After {
                self.out.push(if self.negative { '-' } else { '+' });
            }
        }
        self.position += 1;
        true
    }

    /// Whether a trailing sign is written after this position.
    fn is_last(&self) -> bool {
        if self.last == Some(self.at) {
            return false;
        }
        let mut positions = self.t.pre + self.t.post + usize::from(self.t.has_point);
        if self.spaces == 0 && !self.initially_signed() {
            positions += 1;
        }
        positions += usize::from(self.spaces > 0);
        self.position + 2 == positions
    }

    /// Whether the sign counts as written when formatting begins (`sign_wrote` in formatting.c).
    fn initially_signed(&self) -> bool {
        match (self.t.plus, self.t.minus) {
            (_, true) => true,
            (true, false) => false,
            (false, false) => !self.negative && self.t.narrow && self.t.sign == SignPosition::None,
        }
    }

    fn run(mut self, roman: Option<&str>, interrupts: &InterruptChecker<'_>) -> Result<String> {
        let items = std::mem::take(&mut self.t.items);
        let wide = !self.t.narrow;
        let no_suffix = roman.is_some()
            || self.negative
            || self.t.has_point
            || self.number.first() == Some(&b'#');
        for item in items {
            interrupts.tick()?;
            match item {
                Item::Nine | Item::Zero | Item::Point { .. } => {
                    if roman.is_none() && !self.numeral(item == Item::Zero) {
                        break;
                    }
                }
                Item::Comma if self.in_number => self.out.push(','),
                Item::Comma if wide => self.out.push(' '),
                Item::Group if self.in_number => self.out.push_str(self.symbols.group),
                Item::Group if wide => {
                    self.out.extend(self.symbols.group.chars().map(|_| ' '));
                }
                Item::Currency => self.out.push_str(self.symbols.currency),
                Item::Minus if self.negative => self.out.push('-'),
                Item::Plus if !self.negative && roman.is_none() => self.out.push('+'),
                Item::Minus | Item::Plus if wide => self.out.push(' '),
                // No sign is known then: PostgreSQL writes the end of the string.
                Item::Sign if roman.is_some() => break,
                Item::Sign => self.out.push(if self.negative { '-' } else { '+' }),
                Item::Ordinal(upper) if !no_suffix => {
                    if !self.number.last().is_some_and(u8::is_ascii_digit) {
                        let text = String::from_utf8_lossy(self.number);
                        return Err(pg_err!(
                            INVALID_TEXT_REPRESENTATION,
                            "\"{text}\" is not a number"
                        ));
                    }
                    let suffix = ordinal(self.number);
                    let suffix = if upper { suffix.to_uppercase() } else { suffix.to_string() };
                    self.out.push_str(&suffix);
                }
                Item::Roman(upper) => {
                    let text = roman.unwrap_or_default();
                    let text = if upper { text.to_string() } else { text.to_lowercase() };
                    let width = if wide { 15 } else { 0 };
                    self.out.push_str(&format!("{text:>width$}"));
                }
                Item::Char(c) => self.out.push(c),
                Item::Comma
                | Item::Group
                | Item::Minus
                | Item::Plus
                | Item::Ordinal(_)
                | Item::Silent => {}
            }
        }
        Ok(self.out)
    }
}

/// Formats a number; `digits` is its absolute value.
fn lay_out(
    mut t: Template,
    (negative, digits): (bool, &str),
    symbols: &Symbols<'_>,
    interrupts: &InterruptChecker<'_>,
) -> Result<String> {
    t.pre += t.shift;
    let whole = digits.find('.').unwrap_or(digits.len());
    let overflow = format!("{}.{}", "#".repeat(t.pre), "#".repeat(t.post));
    let (number, spaces) =
        if whole > t.pre { (overflow.as_str(), 0) } else { (digits, t.pre - whole) };
    if !(t.plus || t.minus) {
        t.bracket &= negative || !t.narrow;
        if t.sign == SignPosition::Before && t.pre == t.sign_at {
            t.sign = SignPosition::After;
        }
    }
    let mut last = None;
    if t.narrow
        && t.has_point
        && let Some(point) = number.find('.')
    {
        let decimals = number[point..].trim_end_matches('0').len();
        let counts = point + decimals - 1;
        // A 0 in the template keeps the decimals up to its position.
        let kept = t.zero_end.saturating_sub(spaces);
        last = Some(counts.max(kept.min(number.len() - 1)));
    }
    let mut layout = Layout {
        decimal: t.decimal(symbols),
        symbols,
        t,
        negative,
        number: number.as_bytes(),
        at: 0,
        position: 0,
        spaces,
        last,
        sign_written: false,
        in_number: false,
        out: String::new(),
    };
    layout.sign_written = layout.initially_signed();
    layout.run(None, interrupts)
}

fn lay_out_roman(
    mut t: Template,
    n: i64,
    symbols: &Symbols<'_>,
    interrupts: &InterruptChecker<'_>,
) -> Result<String> {
    t.sign = SignPosition::None;
    let layout = Layout {
        decimal: t.decimal(symbols),
        symbols,
        t,
        negative: false,
        number: b"",
        at: 0,
        position: 0,
        spaces: 0,
        last: None,
        sign_written: true,
        in_number: false,
        out: String::new(),
    };
    layout.run(Some(&roman(n)), interrupts)
}

/// The digit positions filled with `#`: the output of EEEE for a number without an exponent (NaN,
/// infinity).
fn no_exponent(t: &Template) -> String {
    format!(" {}.{}", "#".repeat(t.pre), "#".repeat(t.post + 4))
}

fn exponent(text: &str, n: i64) -> String {
    let lead = if text.starts_with('-') { "" } else { " " };
    format!("{lead}{text}e{}{:02}", if n < 0 { '-' } else { '+' }, n.abs())
}

/// The decimal exponent of the first significant digit; `None` for 0.
fn magnitude(text: &str) -> Option<i64> {
    let text = text.trim_start_matches('-');
    let whole = text.find('.').unwrap_or(text.len()) as i64;
    let first = text.bytes().position(|b| (b'1'..=b'9').contains(&b))? as i64;
    Some(if first < whole { whole - 1 - first } else { whole - first })
}

/// A finite number with one digit before the point, or two if rounding carries into a new one.
fn scientific(n: &Num, post: usize) -> String {
    let power = magnitude(&n.to_string()).unwrap_or(0);
    let mut rounded = n.clone();
    rounded.round((post as i64 - power) as i32);
    rounded.round(rounded.dscale.max(0));
    let text = rounded.to_string();
    let whole = if magnitude(&text).is_some_and(|m| m > power) { 2 } else { 1 };
    let digits = text.trim_start_matches(['-', '0', '.']).chars().filter(char::is_ascii_digit);
    let mut mantissa: String = digits.take(whole + post).collect();
    while mantissa.len() < whole + post {
        mantissa.push('0');
    }
    if post > 0 {
        mantissa.insert(whole, '.');
    }
    if text.starts_with('-') {
        mantissa.insert(0, '-');
    }
    exponent(&mantissa, power)
}

fn scientific_float(v: f64, t: &Template) -> String {
    if !v.is_finite() {
        return no_exponent(t);
    }
    let text = format!("{v:.*e}", t.post);
    let (mantissa, power) = text.split_once('e').unwrap_or((&text, "0"));
    exponent(mantissa, power.parse().unwrap_or(0))
}

/// PostgreSQL allocates memory for the longest output that a template can produce, so the same
/// limit applies here.
fn check_length(pattern: &[u8]) -> Result<()> {
    let longest = pattern.len().saturating_mul(8) + 1 + VARLENA_HEADER_BYTES;
    if longest > ALLOCATION_BYTES_MAX { Err(invalid_allocation(longest)) } else { Ok(()) }
}

/// With V, an integer is multiplied in its own type: the power of ten and the product must both fit
/// the type.
fn check_shift(t: &Template, value: i64, max: i64, type_name: &str) -> Result<()> {
    if t.shift == 0 || t.roman || t.scientific {
        return Ok(());
    }
    let power = u32::try_from(t.shift).ok().and_then(|n| 10i64.checked_pow(n));
    let product = power.filter(|p| *p <= max).and_then(|p| value.checked_mul(p));
    match product {
        Some(v) if (-max - 1..=max).contains(&v) => Ok(()),
        _ => Err(values::type_io::out_of_range(type_name)),
    }
}

fn show(cx: &dyn FnContext, n: &Num, pattern: &[u8]) -> Result<Datum> {
    let interrupts = &InterruptChecker::new(cx);
    check_length(pattern)?;
    let pattern = String::from_utf8_lossy(pattern);
    if pattern.is_empty() {
        return Ok(Datum::text(""));
    }
    let symbols = &Symbols::of(cx.settings());
    let t = Template::new(&pattern, interrupts)?;
    if t.roman {
        if !n.is_finite() {
            let what = if n.is_nan() { "NaN" } else { "infinity" };
            return Err(pg_err!(FEATURE_NOT_SUPPORTED, "cannot convert {what} to integer"));
        }
        let mut whole = n.clone();
        whole.round(0);
        let whole = whole.to_i64().filter(|v| i32::try_from(*v).is_ok());
        let whole = whole.ok_or_else(|| values::type_io::out_of_range("integer"))?;
        return Ok(Datum::text(&lay_out_roman(t, whole, symbols, interrupts)?));
    }
    if t.scientific {
        let text = if n.is_finite() { scientific(n, t.post) } else { no_exponent(&t) };
        return Ok(Datum::text(&text));
    }
    let mut value = n.clone();
    let mut digits = if n.is_finite() {
        if t.shift > 0 {
            value = value.times(&parse(format!("1e{}", t.shift).as_bytes())?);
        }
        value.round(t.post as i32);
        value.to_string()
    } else {
        n.to_string()
    };
    let negative = digits.starts_with('-');
    if negative {
        digits.remove(0);
    }
    Ok(Datum::text(&lay_out(t, (negative, &digits), symbols, interrupts)?))
}

/// Formats a float: its decimals as C's `%f` rounds them, limited to its significant digits.
fn show_float(cx: &dyn FnContext, v: f64, significant: usize, pattern: &[u8]) -> Result<Datum> {
    let interrupts = &InterruptChecker::new(cx);
    check_length(pattern)?;
    let pattern = String::from_utf8_lossy(pattern);
    if pattern.is_empty() {
        return Ok(Datum::text(""));
    }
    let symbols = &Symbols::of(cx.settings());
    let mut t = Template::new(&pattern, interrupts)?;
    if t.roman {
        return Ok(Datum::text(&lay_out_roman(
            t,
            v.round_ties_even() as i64,
            symbols,
            interrupts,
        )?));
    }
    if t.scientific {
        return Ok(Datum::text(&scientific_float(v, &t)));
    }
    let v = v * 10f64.powi(t.shift as i32);
    let size = v.abs();
    let plain = |post: usize| match (size.is_nan(), size.is_infinite()) {
        (true, _) => "NaN".to_string(),
        (_, true) => "Infinity".to_string(),
        _ => format!("{size:.post$}"),
    };
    let whole = plain(0).len();
    t.post = if whole >= significant { 0 } else { t.post.min(significant - whole) };
    let digits = plain(t.post);
    let negative = v.is_sign_negative() && !v.is_nan();
    Ok(Datum::text(&lay_out(t, (negative, &digits), symbols, interrupts)?))
}

/// Parses a number by its template.
struct Reader<'a> {
    t: &'a Template,
    symbols: &'a Symbols<'a>,
    /// The decimal separator of the template.
    decimal: &'a str,
    text: &'a [u8],
    at: usize,
    sign: Option<u8>,
    digits: String,
    /// Number of digits read before and after the point.
    pre: usize,
    post: usize,
    point: bool,
}

impl Reader<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn is_sign(c: u8) -> bool {
        c == b'-' || c == b'+'
    }

    fn skip_char(&mut self) {
        self.at += 1;
        while self.peek().is_some_and(|c| c & 0xc0 == 0x80) {
            self.at += 1;
        }
    }

    /// Skips up to `n` characters that cannot be part of a number.
    fn skip_other(&mut self, n: usize) {
        for _ in 0..n {
            match self.peek() {
                Some(c) if !b"0123456789.,+-".contains(&c) => self.skip_char(),
                _ => return,
            }
        }
    }

    /// Reads the sign before the first digit.
    fn leading_sign(&mut self) {
        match self.peek() {
            Some(c) if Self::is_sign(c) => {
                self.sign = Some(c);
                self.at += 1;
            }
            Some(b'<') if self.t.bracket && self.t.sign != SignPosition::Before => {
                self.sign = Some(b'-');
                self.at += 1;
            }
            _ => {}
        }
    }

    /// Reads a digit or the point; `at` is then the position of the last character that was read.
    fn numeral(&mut self, point: bool) {
        if self.peek() == Some(b' ') {
            self.at += 1;
        }
        if self.peek().is_none() {
            return;
        }
        if self.sign.is_none() && !point && self.pre + self.post == 0 {
            self.leading_sign();
        }
        let Some(c) = self.peek() else { return };
        let mut read = false;
        if c.is_ascii_digit() {
            if self.point && self.post == self.t.post {
                return;
            }
            self.digits.push(c as char);
            *(if self.point { &mut self.post } else { &mut self.pre }) += 1;
            read = true;
        } else if self.t.has_point
            && !self.point
            && self.text[self.at..].starts_with(self.decimal.as_bytes())
        {
            self.digits.push('.');
            self.point = true;
            self.at += self.decimal.len() - 1;
            read = true;
        }
        if self.sign.is_some() || self.pre + self.post == 0 {
            return;
        }
        // A sign after the last digit.
        if self.t.sign != SignPosition::None {
            let next = self.text.get(self.at + 1).copied();
            if read && next.is_some_and(Self::is_sign) {
                self.at += 1;
                self.sign = next;
            }
        } else if !read && (self.t.plus || self.t.minus) && Self::is_sign(c) {
            self.sign = Some(c);
        }
    }

    fn run(&mut self, interrupts: &InterruptChecker<'_>) -> Result<()> {
        for item in &self.t.items {
            interrupts.tick()?;
            let Some(c) = self.peek() else { return Ok(()) };
            match item {
                Item::Nine | Item::Zero => self.numeral(false),
                Item::Point { .. } => self.numeral(true),
                // With FM a separator of the template consumes no text; without FM it consumes a
                // comma.
                Item::Comma | Item::Group if self.t.narrow => continue,
                Item::Comma if c != b',' => continue,
                Item::Comma => {}
                Item::Group => {
                    if self.text[self.at..].starts_with(self.symbols.group.as_bytes()) {
                        self.at += self.symbols.group.len();
                    }
                    continue;
                }
                Item::Currency => {
                    self.skip_other(self.symbols.currency.chars().count());
                    continue;
                }
                Item::Ordinal(_) => {
                    if self.sign != Some(b'-') && !self.t.has_point {
                        self.skip_other(2);
                    }
                    continue;
                }
                Item::Minus | Item::Plus | Item::Sign => {
                    let fits = match item {
                        Item::Minus => c == b'-',
                        Item::Plus => c == b'+',
                        _ => Self::is_sign(c),
                    };
                    if !fits {
                        self.skip_other(1);
                        continue;
                    }
                    self.sign = Some(c);
                }
                Item::Roman(_) | Item::Silent => continue,
                Item::Char(_) => {
                    self.skip_char();
                    continue;
                }
            }
            self.at += 1;
        }
        Ok(())
    }
}

fn read(cx: &dyn FnContext, text: &[u8], pattern: &[u8]) -> Result<Datum> {
    let interrupts = &InterruptChecker::new(cx);
    let pattern = String::from_utf8_lossy(pattern);
    if pattern.is_empty() {
        return Ok(Datum::Null);
    }
    let t = Template::new(&pattern, interrupts)?;
    for (there, name) in [(t.scientific, "EEEE"), (t.roman, "RN")] {
        if there {
            let message = format!("\"{name}\" not supported for input");
            return Err(PgError::new(pgerror::SqlState::FEATURE_NOT_SUPPORTED, message));
        }
    }
    let symbols = &Symbols::of(cx.settings());
    let mut r = Reader {
        t: &t,
        symbols,
        decimal: t.decimal(symbols),
        text,
        at: 0,
        sign: None,
        digits: String::new(),
        pre: 0,
        post: 0,
        point: false,
    };
    r.run(interrupts)?;
    let sign = r.sign.map_or(' ', char::from);
    let digits = r.digits.strip_suffix('.').unwrap_or(&r.digits);
    let mut n = parse(format!("{sign}{digits}").as_bytes())?;
    let typmod = ((t.pre + t.shift + r.post) << 16 | r.post) + 4;
    n.apply_typmod(typmod as i32)?;
    if t.has_shift {
        let power = Num::from(-(t.shift as i64));
        n = n
            .times(&crate::math::numeric_power(&Num::from(10i64), &power, &|| interrupts.check())?);
    }
    n.datum()
}

fn int(d: DatumRef<'_>) -> Num {
    Num::from(d.as_i64())
}

scalars! { FNS;
    "numeric_to_char" => |cx, a| show(cx, &Num::of(a[0]), a[1].as_bytes()),
    "int4_to_char" => |cx, a| {
        let template = String::from_utf8_lossy(a[1].as_bytes());
        let t = Template::new(&template, &InterruptChecker::new(cx))?;
        if t.scientific {
            return Ok(Datum::text(&scientific_float(a[0].as_i64() as f64, &t)));
        }
        check_shift(&t, a[0].as_i64(), i32::MAX.into(), "integer")?;
        show(cx, &int(a[0]), a[1].as_bytes())
    },
    "int8_to_char" => |cx, a| {
        let template = String::from_utf8_lossy(a[1].as_bytes());
        let t = Template::new(&template, &InterruptChecker::new(cx))?;
        check_shift(&t, a[0].as_i64(), i64::MAX, "bigint")?;
        show(cx, &int(a[0]), a[1].as_bytes())
    },
    "float4_to_char" => |cx, a| show_float(cx, a[0].as_f32().into(), 6, a[1].as_bytes()),
    "float8_to_char" => |cx, a| show_float(cx, a[0].as_f64(), 15, a[1].as_bytes()),
    "numeric_to_number" => |cx, a| read(cx, a[0].as_bytes(), a[1].as_bytes()),
}
