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
use pgerror::{PgError, Result, SqlState, pg_err};
use values::datum::{Datum, DatumRef};
use values::fn_context::{FnContext, InterruptTicker};

const VALUE: i16 = 2;
const OPERATOR: i16 = 3;
/// Maximum number of pending operators at one level of parentheses.
const PENDING_MAX: usize = 16;
/// Maximum number of characters of a number.
const NUMBER_BYTES_MAX: usize = 15;

#[derive(Clone, Copy, PartialEq)]
enum Item {
    Value(i32),
    Operator(u8),
}

fn syntax_error() -> PgError {
    PgError::new(SqlState::SYNTAX_ERROR, "syntax error")
}

struct Parser<'a> {
    text: &'a [u8],
    at: usize,
    out: Vec<Item>,
    /// The pending operators of each open level of parentheses.
    levels: Vec<Vec<u8>>,
}

impl Parser<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn pending(&mut self) -> &mut Vec<u8> {
        if self.levels.is_empty() {
            self.levels.push(Vec::new());
        }
        self.levels.last_mut().expect("there is a level")
    }

    /// Emits the operators that bind stronger than `|`, after their last operand.
    fn operand_ended(&mut self) {
        while let Some(&op @ (b'&' | b'!')) = self.pending().last() {
            self.pending().pop();
            self.out.push(Item::Operator(op));
        }
    }

    fn operator(&mut self, op: u8) -> Result<()> {
        if op == b'|' && !self.pending().is_empty() {
            self.out.push(Item::Operator(op));
            return Ok(());
        }
        if self.pending().len() == PENDING_MAX {
            return Err(pg_err!(STATEMENT_TOO_COMPLEX, "statement too complex"));
        }
        self.pending().push(op);
        Ok(())
    }

    /// Emits the operators of the innermost level.
    fn end_level(&mut self) {
        for op in self.levels.pop().unwrap_or_default().into_iter().rev() {
            self.out.push(Item::Operator(op));
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
                    if self.levels.len() > 1 && self.peek().is_none() {
                        return Err(syntax_error());
                    }
                    self.out.push(Item::Value(value));
                    self.operand_ended();
                    wants_operand = false;
                }
                Some(b'!') if wants_operand => {
                    self.at += 1;
                    self.operator(b'!')?;
                }
                Some(b'(') if wants_operand => {
                    self.at += 1;
                    self.pending();
                    self.levels.push(Vec::new());
                }
                Some(op @ (b'&' | b'|')) if !wants_operand => {
                    self.at += 1;
                    self.operator(op)?;
                    wants_operand = true;
                }
                Some(b')') if !wants_operand && self.levels.len() > 1 => {
                    self.at += 1;
                    self.end_level();
                    self.operand_ended();
                }
                None if !wants_operand && self.levels.len() <= 1 => {
                    self.end_level();
                    return Ok(self.out);
                }
                _ => return Err(syntax_error()),
            }
        }
    }
}

/// The stored form.
fn encode(items: &[Item]) -> Result<Datum> {
    let mut out = values::limits::allocate_payload(4 + 8 * items.len())?;
    out.extend_from_slice(&(items.len() as u32).to_le_bytes());
    // The number of items of each operand that is not yet used.
    let mut sizes: Vec<i32> = Vec::new();
    for item in items {
        let (kind, left, value) = match *item {
            Item::Value(value) => {
                sizes.push(1);
                (VALUE, 0, value)
            }
            Item::Operator(b'!') => {
                let size = sizes.pop().unwrap_or(0);
                sizes.push(size + 1);
                (OPERATOR, -1, i32::from(b'!'))
            }
            Item::Operator(op) => {
                let (right, left) = (sizes.pop().unwrap_or(0), sizes.pop().unwrap_or(0));
                sizes.push(left + right + 1);
                let distance = i16::try_from(-(right + 1)).map_err(|_| {
                    pg_err!(PROGRAM_LIMIT_EXCEEDED, "query_int expression is too complex")
                })?;
                (OPERATOR, distance, i32::from(op))
            }
        };
        out.extend_from_slice(&kind.to_le_bytes());
        out.extend_from_slice(&left.to_le_bytes());
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
    let mut stack = Vec::new();
    for item in items(query) {
        let result = match item {
            Item::Value(value) => list.binary_search(&value).is_ok(),
            Item::Operator(b'!') => !stack.pop().unwrap_or(false),
            Item::Operator(op) => {
                let (right, left) = (stack.pop().unwrap_or(false), stack.pop().unwrap_or(false));
                if op == b'&' { left && right } else { left || right }
            }
        };
        stack.push(result);
    }
    Ok(Datum::bool(stack.pop().unwrap_or(false)))
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
    let mut stack = Vec::new();
    for item in items(query) {
        let required = match item {
            Item::Value(_) => true,
            Item::Operator(b'!') => {
                stack.pop();
                false
            }
            Item::Operator(op) => {
                let (right, left) = (stack.pop().unwrap_or(false), stack.pop().unwrap_or(false));
                if op == b'&' { left || right } else { left && right }
            }
        };
        stack.push(required);
    }
    stack.pop().unwrap_or(true)
}

/// Whether an array that has the values for which `present` is true fulfils the condition.
pub(super) fn holds(query: DatumRef<'_>, present: &[bool]) -> bool {
    let (mut stack, mut present) = (Vec::new(), present.iter());
    for item in items(query) {
        let result = match item {
            Item::Value(_) => present.next().copied().unwrap_or(false),
            Item::Operator(b'!') => !stack.pop().unwrap_or(false),
            Item::Operator(op) => {
                let (right, left) = (stack.pop().unwrap_or(false), stack.pop().unwrap_or(false));
                if op == b'&' { left && right } else { left || right }
            }
        };
        stack.push(result);
    }
    stack.pop().unwrap_or(false)
}

/// The text of a part of the condition, and the operator at its top.
struct Part {
    text: String,
    top: Option<u8>,
}

impl Part {
    /// As an operand of a binary operator.
    fn operand(self) -> String {
        if self.top == Some(b'|') { format!("( {} )", self.text) } else { self.text }
    }
}

fn output(cx: &dyn FnContext, d: DatumRef<'_>) -> Result<Datum> {
    let mut ticker = InterruptTicker::default();
    let mut stack: Vec<Part> = Vec::new();
    let missing = || PgError::internal("query_int value without an operand");
    for item in items(d) {
        ticker.tick(cx)?;
        let part = match item {
            Item::Value(value) => Part { text: value.to_string(), top: None },
            Item::Operator(b'!') => {
                let of = stack.pop().ok_or_else(missing)?;
                let text = match of.top {
                    Some(_) => format!("!( {} )", of.text),
                    None => format!("!{}", of.text),
                };
                Part { text, top: Some(b'!') }
            }
            Item::Operator(op) => {
                let right = stack.pop().ok_or_else(missing)?.operand();
                let left = stack.pop().ok_or_else(missing)?.operand();
                Part { text: format!("{left} {} {right}", char::from(op)), top: Some(op) }
            }
        };
        stack.push(part);
    }
    Ok(Datum::text(&stack.pop().ok_or_else(missing)?.text))
}

fn input(cx: &dyn FnContext, text: &[u8]) -> Result<Datum> {
    encode(&Parser { text, at: 0, out: Vec::new(), levels: Vec::new() }.parse(cx)?)
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
