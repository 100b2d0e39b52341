//! Conditions with `&`, `|`, `!` and parentheses over values: the types `query_int` of intarray and
//! `ltxtquery` of ltree. Their items are in the order of evaluation, operands before operators.

use pgerror::Result;
use values::fn_context::{FnContext, InterruptTicker};

#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Item<T> {
    Value(T),
    /// `&`, `|` or `!`.
    Operator(u8),
}

/// Orders the items of a condition while it is read. A `|` after a pending operator is applied at
/// once, as by PostgreSQL.
pub(crate) struct Builder<T> {
    items: Vec<Item<T>>,
    /// The pending operators of each open level of parentheses.
    levels: Vec<Vec<u8>>,
    /// Maximum number of pending operators of a level.
    pending_max: usize,
}

impl<T> Builder<T> {
    pub fn new(pending_max: usize) -> Builder<T> {
        Builder { items: Vec::new(), levels: vec![Vec::new()], pending_max }
    }

    fn pending(&mut self) -> &mut Vec<u8> {
        self.levels.last_mut().expect("the outermost level is open until the end")
    }

    /// Adds the operators that bind stronger than `|`, after their last operand.
    fn operand_ended(&mut self) {
        while let Some(&op @ (b'&' | b'!')) = self.pending().last() {
            self.pending().pop();
            self.items.push(Item::Operator(op));
        }
    }

    pub fn value(&mut self, value: T) {
        self.items.push(Item::Value(value));
        self.operand_ended();
    }

    /// False if too many operators are pending.
    #[must_use]
    pub fn operator(&mut self, op: u8) -> bool {
        if op == b'|' && !self.pending().is_empty() {
            self.items.push(Item::Operator(op));
            return true;
        }
        let fits = self.pending().len() < self.pending_max;
        self.pending().push(op);
        fits
    }

    pub fn open(&mut self) {
        self.levels.push(Vec::new());
    }

    /// True if a parenthesis is open.
    pub fn is_open(&self) -> bool {
        self.levels.len() > 1
    }

    fn end_level(&mut self) {
        let pending = self.levels.pop().unwrap_or_default();
        self.items.extend(pending.into_iter().rev().map(Item::Operator));
    }

    pub fn close(&mut self) {
        self.end_level();
        self.operand_ended();
    }

    pub fn finish(mut self) -> Vec<Item<T>> {
        self.end_level();
        self.items
    }
}

/// For each item the distance to the top of its left operand, counted in items: 0 for a value, and
/// 1 for `!`, which has only one operand.
pub(crate) fn distances<T>(items: &[Item<T>]) -> Vec<usize> {
    // The number of items of each operand that is not yet used.
    let mut sizes: Vec<usize> = Vec::new();
    let distance = |item: &Item<T>| {
        let (size, distance) = match item {
            Item::Value(_) => (1, 0),
            Item::Operator(b'!') => (sizes.pop().unwrap_or(0) + 1, 1),
            Item::Operator(_) => {
                let (right, left) = (sizes.pop().unwrap_or(0), sizes.pop().unwrap_or(0));
                (left + right + 1, right + 1)
            }
        };
        sizes.push(size);
        distance
    };
    items.iter().map(distance).collect()
}

/// A part of a condition, with the results of its operands.
pub(crate) enum Part<T, R> {
    Value(T),
    Not(R),
    /// The operator, and the left and the right operand.
    Binary(u8, R, R),
}

/// Evaluates a condition. `None` if an operand is missing, or there is none.
pub(crate) fn fold<T, R>(
    items: impl IntoIterator<Item = Item<T>>,
    mut evaluate: impl FnMut(Part<T, R>) -> Result<R>,
) -> Result<Option<R>> {
    let mut stack = Vec::new();
    for item in items {
        let part = match item {
            Item::Value(value) => Some(Part::Value(value)),
            Item::Operator(b'!') => stack.pop().map(Part::Not),
            Item::Operator(op) => match (stack.pop(), stack.pop()) {
                (Some(right), Some(left)) => Some(Part::Binary(op, left, right)),
                _ => None,
            },
        };
        let Some(part) = part else { return Ok(None) };
        stack.push(evaluate(part)?);
    }
    Ok(stack.pop())
}

/// Whether a condition is true.
pub(crate) fn holds<T>(
    items: impl IntoIterator<Item = Item<T>>,
    mut is_true: impl FnMut(T) -> bool,
) -> Result<bool> {
    let result = fold(items, |part: Part<T, bool>| {
        Ok(match part {
            Part::Value(value) => is_true(value),
            Part::Not(of) => !of,
            Part::Binary(b'&', left, right) => left && right,
            Part::Binary(_, left, right) => left || right,
        })
    });
    Ok(result?.unwrap_or(false))
}

/// The text of a part of a condition, and the operator at its top.
struct Shown {
    text: Vec<u8>,
    top: Option<u8>,
}

impl Shown {
    fn in_parentheses(&self) -> Vec<u8> {
        [b"( ", self.text.as_slice(), b" )"].concat()
    }

    /// As an operand of a binary operator.
    fn operand(self) -> Vec<u8> {
        if self.top == Some(b'|') { self.in_parentheses() } else { self.text }
    }
}

/// The text of a condition. `None` if an operand is missing, or there is none.
pub(crate) fn text<T>(
    cx: &dyn FnContext,
    items: impl IntoIterator<Item = Item<T>>,
    mut value_text: impl FnMut(T) -> Vec<u8>,
) -> Result<Option<Vec<u8>>> {
    let mut ticker = InterruptTicker::default();
    let shown = fold(items, |part: Part<T, Shown>| {
        ticker.tick(cx)?;
        Ok(match part {
            Part::Value(value) => Shown { text: value_text(value), top: None },
            Part::Not(of) => {
                let text = if of.top.is_some() { of.in_parentheses() } else { of.text };
                Shown { text: [b"!", text.as_slice()].concat(), top: Some(b'!') }
            }
            Part::Binary(op, left, right) => {
                let (left, right) = (left.operand(), right.operand());
                let text = [left.as_slice(), &[b' ', op, b' '], right.as_slice()].concat();
                Shown { text, top: Some(op) }
            }
        })
    });
    Ok(shown?.map(|shown| shown.text))
}
