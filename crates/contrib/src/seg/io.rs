//! The text of segments. Counterpart: segscan.l, segparse.y, `restore` of seg.c.

use super::{Bound, INFINITE, Segment};
use pgerror::{PgError, Result, pg_err};
use values::datum::{Datum, DatumRef};
use values::float::{format_g, parse_float4};
use values::type_io::lossy_text;

/// Digits that a float4 has.
const DIGITS_MAX: usize = 6;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Number,
    /// `..` or `...`
    Range,
    /// `(+-)` or `'+-'`
    PlusMinus,
    Mark,
    End,
    Other,
}

/// The words of a text.
struct Scanner<'a> {
    rest: &'a [u8],
    kind: Kind,
    word: &'a [u8],
}

fn digits(text: &[u8]) -> usize {
    text.iter().take_while(|c| c.is_ascii_digit()).count()
}

/// The length of a whole number with an optional sign.
fn integer(text: &[u8]) -> Option<usize> {
    let sign = usize::from(matches!(text.first(), Some(b'+' | b'-')));
    let count = digits(&text[sign..]);
    (count > 0).then_some(sign + count)
}

/// The length of a number.
fn number(text: &[u8]) -> Option<usize> {
    let mut length = integer(text)?;
    if text.get(length) == Some(&b'.') {
        let fraction = digits(&text[length + 1..]);
        if fraction > 0 {
            length += 1 + fraction;
        }
    }
    if matches!(text.get(length), Some(b'e' | b'E')) {
        length += integer(&text[length + 1..]).map_or(0, |n| n + 1);
    }
    Some(length)
}

impl<'a> Scanner<'a> {
    fn new(text: &'a [u8]) -> Scanner<'a> {
        let mut scanner = Scanner { rest: text, kind: Kind::End, word: &[] };
        scanner.advance();
        scanner
    }

    fn advance(&mut self) {
        let blank = |c: &&u8| matches!(**c, b' ' | b'\t' | b'\n' | b'\r' | 0x0c);
        let text = &self.rest[self.rest.iter().take_while(blank).count()..];
        let (kind, length) = match text {
            [] => (Kind::End, 0),
            [b'.', b'.', b'.', ..] => (Kind::Range, 3),
            [b'.', b'.', ..] => (Kind::Range, 2),
            [b'\'', b'+', b'-', b'\'', ..] | [b'(', b'+', b'-', b')', ..] => (Kind::PlusMinus, 4),
            [b'<' | b'>' | b'~', ..] => (Kind::Mark, 1),
            _ => number(text).map_or((Kind::Other, 1), |length| (Kind::Number, length)),
        };
        (self.word, self.rest) = text.split_at(length);
        self.kind = kind;
    }

    fn error(&self) -> PgError {
        let place = match self.kind {
            Kind::End => "at end of input".to_owned(),
            _ => format!("at or near \"{}\"", lossy_text(self.word)),
        };
        pg_err!(SYNTAX_ERROR, "bad seg representation").detail(format!("syntax error {place}"))
    }

    /// A number, with a mark if `marked`.
    fn bound(&mut self, marked: bool) -> Result<Bound> {
        let mut mark = 0;
        if marked && self.kind == Kind::Mark {
            mark = self.word[0];
            self.advance();
        }
        if self.kind != Kind::Number {
            return Err(self.error());
        }
        let (value, digits) = (parse_float4(self.word)?, significant_digits(self.word));
        self.advance();
        Ok(Bound { value, digits, mark })
    }

    fn segment(&mut self) -> Result<Segment> {
        let infinite = |value: f32| Bound { value, digits: 0, mark: INFINITE };
        if self.kind == Kind::Range {
            self.advance();
            return Ok(Segment { lower: infinite(f32::NEG_INFINITY), upper: self.bound(true)? });
        }
        let lower = self.bound(true)?;
        match self.kind {
            Kind::PlusMinus => {
                self.advance();
                let by = self.bound(false)?;
                Ok(around(lower, by))
            }
            Kind::Range => {
                self.advance();
                if self.kind == Kind::End {
                    return Ok(Segment { lower, upper: infinite(f32::INFINITY) });
                }
                let upper = self.bound(true)?;
                if lower.value > upper.value {
                    return Err(pg_err!(
                        INVALID_PARAMETER_VALUE,
                        "swapped boundaries: {} is greater than {}",
                        format_g(f64::from(lower.value), 6),
                        format_g(f64::from(upper.value), 6)
                    ));
                }
                Ok(Segment { lower, upper })
            }
            _ => Ok(Segment { lower, upper: lower }),
        }
    }
}

/// The segment of a value and its deviation.
fn around(center: Bound, by: Bound) -> Segment {
    let bound = |value: f32| {
        let shown = significant_digits(format_g(f64::from(value), 6).as_bytes());
        Bound { value, digits: shown.max(center.digits).max(by.digits), mark: 0 }
    };
    Segment { lower: bound(center.value - by.value), upper: bound(center.value + by.value) }
}

/// The significant digits of a number's text; of a zero, the number of its zeros.
fn significant_digits(text: &[u8]) -> u8 {
    let start = text.iter().take_while(|c| matches!(c, b'0' | b'+' | b'-')).count();
    let rest = &text[start..];
    let zeros = rest.iter().take_while(|c| matches!(c, b'0' | b'.')).count();
    let skipped = rest[..zeros].iter().filter(|c| **c == b'0').count();
    let mantissa = rest[zeros..].iter().take_while(|c| c.is_ascii_digit() || **c == b'.');
    let count = match mantissa.filter(|c| **c != b'.').count() {
        0 => 1 + skipped,
        count => count,
    };
    count.min(DIGITS_MAX) as u8
}

fn input(text: &[u8]) -> Result<Datum> {
    let mut scanner = Scanner::new(text);
    let segment = scanner.segment()?;
    match scanner.kind {
        Kind::End => Ok(segment.datum()),
        _ => Err(scanner.error()),
    }
}

/// The number with its significant digits: positional for exponents from -4 to 4, unless trailing
/// zeros would have to be added.
fn number_text(value: f32, digits: u8) -> String {
    let count = match usize::from(digits) {
        0 => DIGITS_MAX,
        digits => digits.min(DIGITS_MAX),
    };
    if !value.is_finite() {
        return format_g(f64::from(value), 6);
    }
    let shown = format!("{:.*e}", count - 1, f64::from(value));
    let Some((mantissa, exponent)) = shown.split_once('e') else { return shown };
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let places = exponent.unsigned_abs() as usize;
    match exponent {
        0 => mantissa.to_owned(),
        -4..=4 => {
            let (sign, unsigned) = match mantissa.strip_prefix('-') {
                // There is no sign of a number that is not negative, as -0.
                Some(unsigned) if value < 0.0 => ("-", unsigned),
                _ => ("", mantissa),
            };
            let all: String = unsigned.chars().filter(|c| *c != '.').collect();
            if exponent < 0 {
                return format!("{sign}0.{}{all}", "0".repeat(places - 1));
            }
            match places + 1 < count {
                true => format!("{sign}{}.{}", &all[..=places], &all[places + 1..]),
                false => format!("{sign}{unsigned}e{exponent}"),
            }
        }
        _ => {
            let sign = if exponent < 0 { '-' } else { '+' };
            format!("{mantissa}e{sign}{places:02}")
        }
    }
}

fn output(d: DatumRef<'_>) -> Datum {
    let Segment { lower, upper } = Segment::of(d);
    let mut out = String::new();
    let shows = |mark: u8| matches!(mark, b'<' | b'>' | b'~');
    if shows(lower.mark) {
        out.push(char::from(lower.mark));
    }
    if lower.value == upper.value && lower.mark == upper.mark {
        return Datum::text(&(out + &number_text(lower.value, lower.digits)));
    }
    if lower.mark != INFINITE {
        out.push_str(&number_text(lower.value, lower.digits));
        out.push(' ');
    }
    out.push_str("..");
    if upper.mark != INFINITE {
        out.push(' ');
        if shows(upper.mark) {
            out.push(char::from(upper.mark));
        }
        out.push_str(&number_text(upper.value, upper.digits));
    }
    Datum::text(&out)
}

scalars! { FNS;
    "seg_in" => |_, a| input(a[0].as_bytes()),
    "seg_out" => |_, a| Ok(output(a[0])),
}
