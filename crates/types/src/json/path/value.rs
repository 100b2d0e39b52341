//! The values that a path is evaluated over: parts of the arguments, and values made on the way.

use crate::json::binary::{Container, Item};
use crate::json::encode::{Json, datum_of};
use datetime::standard::DateTime;
use numeric::num::Num;
use pgerror::Result;
use std::sync::Arc;
use values::datum::Datum;
use values::fn_context::InterruptChecker;

/// Bytes of an argument, or of a value that was made during the evaluation.
#[derive(Clone, Debug)]
pub(super) enum Bytes<'a> {
    Given(&'a [u8]),
    Made { whole: Arc<[u8]>, start: usize, length: usize },
}

impl<'a> Bytes<'a> {
    pub fn made(bytes: &[u8]) -> Bytes<'a> {
        Bytes::Made { whole: Arc::from(bytes), start: 0, length: bytes.len() }
    }

    pub fn get(&self) -> &[u8] {
        match self {
            Bytes::Given(bytes) => bytes,
            Bytes::Made { whole, start, length } => &whole[*start..*start + *length],
        }
    }

    /// The address of the first byte, to measure distances within a value.
    pub fn address(&self) -> usize {
        self.get().as_ptr() as usize
    }

    /// The same bytes as `part`, which is a part of these.
    fn part(&self, part: &[u8]) -> Bytes<'a> {
        if part.is_empty() {
            return Bytes::Given(&[]);
        }
        let from = (part.as_ptr() as usize).wrapping_sub(self.address());
        match self {
            Bytes::Given(bytes) => {
                Bytes::Given(bytes.get(from..).and_then(|b| b.get(..part.len())).unwrap_or(&[]))
            }
            Bytes::Made { whole, start, .. } => {
                Bytes::Made { whole: whole.clone(), start: start + from, length: part.len() }
            }
        }
    }
}

/// A value.
#[derive(Clone, Debug)]
pub(super) enum Value<'a> {
    Null,
    Bool(bool),
    /// The payload of a numeric.
    Number(Bytes<'a>),
    String(Bytes<'a>),
    /// An array or object.
    Container(Bytes<'a>),
    DateTime(DateTime),
}

/// The kinds of values that accessors distinguish.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Shape {
    Scalar,
    Array,
    Object,
}

impl<'a> Value<'a> {
    /// The value of a jsonb payload.
    pub fn of_payload(payload: &'a [u8]) -> Value<'a> {
        Value::of_item(&Bytes::Given(payload), Container::new(payload).item())
    }

    /// The value of an item that is in `owner`.
    pub fn of_item(owner: &Bytes<'a>, item: Item<'_>) -> Value<'a> {
        match item {
            Item::Null => Value::Null,
            Item::Bool(b) => Value::Bool(b),
            Item::Number(n) => Value::Number(owner.part(n)),
            Item::String(s) => Value::String(owner.part(s)),
            Item::Container(c) => Value::Container(owner.part(c.bytes())),
        }
    }

    /// A number; 22003 if it does not fit the format of numeric.
    pub fn number(n: &Num) -> Result<Value<'a>> {
        Ok(Value::Number(Bytes::made(&n.to_payload()?)))
    }

    /// An integer.
    pub fn integer(n: i64) -> Result<Value<'a>> {
        Value::number(&Num::from(n))
    }

    pub fn text(text: &str) -> Value<'a> {
        Value::String(Bytes::made(text.as_bytes()))
    }

    pub fn shape(&self) -> Shape {
        match self {
            Value::Container(bytes) if Container::new(bytes.get()).is_object() => Shape::Object,
            Value::Container(_) => Shape::Array,
            _ => Shape::Scalar,
        }
    }

    /// The container, if the value is an array or object.
    pub fn container(&self) -> Option<&Bytes<'a>> {
        match self {
            Value::Container(bytes) => Some(bytes),
            _ => None,
        }
    }

    /// Number of elements, if the value is an array.
    pub fn elements(&self) -> Option<usize> {
        match self {
            Value::Container(bytes) if self.shape() == Shape::Array => {
                Some(Container::new(bytes.get()).len())
            }
            _ => None,
        }
    }

    /// The payload, if the value is a number.
    pub fn as_number(&self) -> Option<&[u8]> {
        match self {
            Value::Number(bytes) => Some(bytes.get()),
            _ => None,
        }
    }

    /// The text, if the value is a string.
    pub fn as_string(&self) -> Option<&[u8]> {
        match self {
            Value::String(bytes) => Some(bytes.get()),
            _ => None,
        }
    }

    /// The name of the value's type.
    pub fn type_name(&self) -> &'static str {
        match self {
            Value::Null => "null",
            Value::Bool(_) => "boolean",
            Value::Number(_) => "number",
            Value::String(_) => "string",
            Value::DateTime(value) => value.type_name(),
            Value::Container(_) if self.shape() == Shape::Object => "object",
            Value::Container(_) => "array",
        }
    }

    /// Calls `f` with the value as an item of jsonb; a date or time is a string.
    fn with_item<T>(&self, f: impl FnOnce(Item<'_>) -> T) -> T {
        match self {
            Value::Null => f(Item::Null),
            Value::Bool(b) => f(Item::Bool(*b)),
            Value::Number(n) => f(Item::Number(n.get())),
            Value::String(s) => f(Item::String(s.get())),
            Value::Container(c) => f(Item::Container(Container::new(c.get()))),
            Value::DateTime(value) => f(Item::String(value.text().as_bytes())),
        }
    }

    /// Size of the value in bytes.
    pub fn bytes(&self) -> usize {
        match self {
            Value::Number(bytes) | Value::String(bytes) | Value::Container(bytes) => {
                bytes.get().len()
            }
            Value::Null | Value::Bool(_) | Value::DateTime(_) => 0,
        }
    }

    /// The value as jsonb.
    pub fn datum(&self) -> Datum {
        self.with_item(datum_of)
    }

    /// The value as a tree.
    pub fn json(&self, interrupts: &InterruptChecker<'_>) -> Result<Json> {
        self.with_item(|item| Json::of_item(item, interrupts))
    }
}
