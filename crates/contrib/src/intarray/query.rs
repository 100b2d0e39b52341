//! The type `query_int`: a condition on the elements of an array, such as `1 & (2 | !3)`.
//!
//! A value is a word with the number of items, and the items in postfix order. An item is
//!
//! ```text
//! i16 type     2: a number, 3: an operator
//! i16 left     of a binary operator: distance to the top of its left operand; of `!`: -1
//! i32 value    the number, or the character of the operator
//! ```

use super::arrays::elements;
use crate::condition::{self, Builder, Part};
use pgerror::{PgError, Result, SqlState, pg_err};
use values::datum::{Datum, DatumRef};
use values::fn_context::{FnContext, InterruptTicker};

const VALUE: i16 = 2;
const OPERATOR: i16 = 3;
/// Maximum number of pending operators at one level of parentheses.
const PENDING_MAX: usize = 16;
/// Maximum number of characters of a number.
const NUMBER_BYTES_MAX: usize = 15;

type Item = condition::Item<i32>;

fn syntax_error() -> PgError {
    PgError::new(SqlState::SYNTAX_ERROR, "syntax error")
}

struct Parser<'a> {
    text: &'a [u8],
    at: usize,
    out: Builder<i32>,
}

impl Parser<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn operator(&mut self, op: u8) -> Result<()> {
        match self.out.operator(op) {
            true => Ok(()),
            false => Err(pg_err!(STATEMENT_TOO_COMPLEX, "statement too complex")),
        }
    }

    fn number(&mut self) -> Result<i32> {
        let start = self.at;
        self.at += 1;
        while self.peek().is_some_and(|c| c.is_ascii_digit()) {
            self.at += 1;
        }
        let text = &self.text[start..self.at];
        if text.len() > NUMBER_BYTES_MAX {
            return Err(syntax_error());
        }
        let (negative, digits) = match text.strip_prefix(b"-") {
            Some(digits) => (true, digits),
            None => (false, text),
        };
        // As by strtol: octal after a zero, up to the first character that is no digit.
        let radix: i64 = if digits.starts_with(b"0") { 8 } else { 10 };
        let digits = digits.iter().map(|c| i64::from(c - b'0')).take_while(|d| *d < radix);
        let value = digits.fold(0, |value, digit| value * radix + digit);
        i32::try_from(if negative { -value } else { value }).map_err(|_| syntax_error())
    }

    fn parse(mut self, cx: &dyn FnContext) -> Result<Vec<Item>> {
        let mut ticker = InterruptTicker::default();
        let mut wants_operand = true;
        loop {
            ticker.tick(cx)?;
            match self.peek() {
                Some(b' ') => self.at += 1,
                Some(b'0'..=b'9' | b'-') if wants_operand => {
                    let value = self.number()?;
                    if self.out.is_open() && self.peek().is_none() {
                        return Err(syntax_error());
                    }
                    self.out.value(value);
                    wants_operand = false;
                }
                Some(b'!') if wants_operand => {
                    self.at += 1;
                    self.operator(b'!')?;
                }
                Some(b'(') if wants_operand => {
                    self.at += 1;
                    self.out.open();
                }
                Some(op @ (b'&' | b'|')) if !wants_operand => {
                    self.at += 1;
                    self.operator(op)?;
                    wants_operand = true;
                }
                Some(b')') if !wants_operand && self.out.is_open() => {
                    self.at += 1;
                    self.out.close();
                }
                None if !wants_operand && !self.out.is_open() => return Ok(self.out.finish()),
                _ => return Err(syntax_error()),
            }
        }
    }
}

/// The stored form.
fn encode(items: &[Item]) -> Result<Datum> {
    let mut out = values::limits::allocate_payload(4 + 8 * items.len())?;
    out.extend_from_slice(&(items.len() as u32).to_le_bytes());
    for (item, distance) in items.iter().zip(condition::distances(items)) {
        let (kind, value) = match *item {
            Item::Value(value) => (VALUE, value),
            Item::Operator(op) => (OPERATOR, i32::from(op)),
        };
        let left = i16::try_from(distance)
            .map_err(|_| pg_err!(PROGRAM_LIMIT_EXCEEDED, "query_int expression is too complex"))?;
        out.extend_from_slice(&kind.to_le_bytes());
        out.extend_from_slice(&(-left).to_le_bytes());
        out.extend_from_slice(&value.to_le_bytes());
    }
    Ok(Datum::bytes(out))
}

fn items(d: DatumRef<'_>) -> impl Iterator<Item = Item> {
    d.as_bytes().get(4..).unwrap_or_default().chunks_exact(8).map(|b| {
        let value = i32::from_le_bytes([b[4], b[5], b[6], b[7]]);
        match i16::from_le_bytes([b[0], b[1]]) {
            OPERATOR => Item::Operator(value as u8),
            _ => Item::Value(value),
        }
    })
}

/// Whether the array fulfils the condition.
fn matches(array: DatumRef<'_>, query: DatumRef<'_>) -> Result<Datum> {
    let mut list = elements(array)?;
    list.sort_unstable();
    let holds = condition::holds(items(query), |value| list.binary_search(&value).is_ok());
    holds.map(Datum::bool)
}

/// The values of a condition, in order.
pub(super) fn values(query: DatumRef<'_>) -> impl Iterator<Item = i32> {
    items(query).filter_map(|item| match item {
        Item::Value(value) => Some(value),
        Item::Operator(_) => None,
    })
}

/// Whether each array that fulfils the condition has one of its values.
pub(super) fn requires_value(query: DatumRef<'_>) -> bool {
    let required = condition::fold(items(query), |part| {
        Ok(match part {
            Part::Value(_) => true,
            Part::Not(_) => false,
            Part::Binary(b'&', left, right) => left || right,
            Part::Binary(_, left, right) => left && right,
        })
    });
    required.ok().flatten().unwrap_or(true)
}

/// The fraction of arrays that fulfil the condition. `frequency`: the fraction of those that have a
/// value; values are assumed to occur independently of one another.
pub fn selectivity(query: DatumRef<'_>, frequency: impl Fn(i32) -> f64) -> f64 {
    let fraction = condition::fold(items(query), |part| {
        let fraction: f64 = match part {
            Part::Value(value) => frequency(value),
            Part::Not(one) => 1.0 - one,
            Part::Binary(b'&', left, right) => left * right,
            Part::Binary(_, left, right) => left + right - left * right,
        };
        Ok(fraction.clamp(0.0, 1.0))
    });
    fraction.ok().flatten().unwrap_or_default()
}

/// Whether an array that has the values for which `present` is true fulfils the condition.
pub(super) fn holds(query: DatumRef<'_>, present: &[bool]) -> bool {
    let mut present = present.iter();
    let is_present = |_| present.next().copied().unwrap_or(false);
    condition::holds(items(query), is_present).unwrap_or(false)
}

/// Whether an array with the values for which `has` is true fulfils the condition.
pub(super) fn holds_for(query: DatumRef<'_>, has: impl FnMut(i32) -> bool) -> bool {
    condition::holds(items(query), has).unwrap_or(false)
}

/// Whether an array whose values are among those for which `has` is true can fulfil the condition.
pub(super) fn can_hold(query: DatumRef<'_>, has: impl Fn(i32) -> bool) -> bool {
    let found = condition::fold(items(query), |part| {
        Ok(match part {
            Part::Value(value) => has(value),
            Part::Not(_) => true,
            Part::Binary(b'&', left, right) => left && right,
            Part::Binary(_, left, right) => left || right,
        })
    });
    found.ok().flatten().unwrap_or(true)
}

fn output(cx: &dyn FnContext, d: DatumRef<'_>) -> Result<Datum> {
    let text = condition::text(cx, items(d), |value| value.to_string().into_bytes())?;
    let text = text.ok_or_else(|| PgError::internal("query_int value without an operand"))?;
    Ok(Datum::bytes(text))
}

fn input(cx: &dyn FnContext, text: &[u8]) -> Result<Datum> {
    encode(&Parser { text, at: 0, out: Builder::new(PENDING_MAX) }.parse(cx)?)
}

scalars! { FNS;
    "bqarr_in" => |cx, a| input(cx, a[0].as_bytes()),
    "bqarr_out" => |cx, a| output(cx, a[0]),
    "boolop" => |_, a| matches(a[0], a[1]),
    "rboolop" => |_, a| matches(a[1], a[0]),
    "querytree" => |_, _| {
        Err(PgError::internal("querytree is no longer implemented"))
    },
}
