//! Support functions of the operator classes of GIN indexes, as plain functions: what keys a value
//! and a query have, and whether a row with some of a query's keys satisfies the query.
//!
//! Counterpart: access/gin.h.

use crate::compare::Comparer;
use crate::datum::DatumRef;
use crate::fn_context::TypeInfo;
use ids::{Oid, StrategyNumber};
use locale::Locale;
use pgerror::Result;
use std::any::Any;
use std::cmp::Ordering;
use std::sync::Arc;

/// A list of keys; its memory is reused.
#[derive(Clone, Debug, Default)]
pub struct Keys {
    list: Vec<Key>,
    bytes: Vec<u8>,
}

#[derive(Clone, Copy, Debug)]
enum Key {
    Null,
    Word(u64),
    /// Start and end in `bytes`.
    Bytes(usize, usize),
}

impl Keys {
    /// Appends a key.
    pub fn push(&mut self, key: DatumRef<'_>) {
        self.list.push(match key {
            DatumRef::Null => Key::Null,
            DatumRef::Word(word) => Key::Word(word),
            DatumRef::Bytes(bytes) => {
                let start = self.bytes.len();
                self.bytes.extend_from_slice(bytes);
                Key::Bytes(start, self.bytes.len())
            }
        });
    }

    /// Appends a key of variable width, made of two parts.
    pub fn push_parts(&mut self, head: &[u8], tail: &[u8]) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(head);
        self.bytes.extend_from_slice(tail);
        self.list.push(Key::Bytes(start, self.bytes.len()));
    }

    pub fn len(&self) -> usize {
        self.list.len()
    }

    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Key number `n`, from 0; NULL if there is none.
    #[inline]
    pub fn get(&self, n: usize) -> DatumRef<'_> {
        match self.list.get(n) {
            None | Some(Key::Null) => DatumRef::Null,
            Some(Key::Word(word)) => DatumRef::Word(*word),
            Some(Key::Bytes(start, end)) => DatumRef::Bytes(&self.bytes[*start..*end]),
        }
    }

    pub fn iter(&self) -> impl Iterator<Item = DatumRef<'_>> {
        (0..self.len()).map(|n| self.get(n))
    }

    pub fn clear(&mut self) {
        self.list.clear();
        self.bytes.clear();
    }
}

/// Which rows can satisfy a query. Counterpart: `GIN_SEARCH_MODE_*`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum SearchMode {
    /// Those with at least one of the keys; none if there are no keys.
    #[default]
    Keys,
    /// Also those whose value has no keys.
    KeysOrEmpty,
    /// All whose value is not NULL.
    All,
}

/// The keys of a query.
#[derive(Clone, Debug, Default)]
pub struct Query {
    pub keys: Keys,
    /// The keys that match all index keys for which [`ComparePartial`] returns `Equal`, by number.
    /// Empty: none.
    pub partial: Vec<bool>,
    pub mode: SearchMode,
    /// What the operator class keeps for its other functions.
    pub extra: Option<Arc<dyn Any + Send + Sync>>,
}

/// The index column for which the functions are called.
#[derive(Clone, Debug)]
pub struct Column {
    /// The type of the keys.
    pub key: TypeInfo,
    pub collation: Oid,
    /// The order of the keys.
    pub compare: Comparer,
    /// The locale of the database's default collation; `None` if that has none.
    pub locale: Option<Arc<Locale>>,
}

/// A condition: a query with its keys.
#[derive(Clone, Copy, Debug)]
pub struct Condition<'a> {
    pub column: &'a Column,
    pub strategy: StrategyNumber,
    pub value: DatumRef<'a>,
    pub query: &'a Query,
}

/// Whether something is true.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Ternary {
    #[default]
    False,
    True,
    Maybe,
}

impl From<bool> for Ternary {
    fn from(b: bool) -> Ternary {
        if b { Ternary::True } else { Ternary::False }
    }
}

/// Appends the keys of a value that is not NULL; duplicates are allowed. Support function 2.
pub type ExtractValue = fn(&Column, DatumRef<'_>, &mut Keys) -> Result<()>;
/// Sets the keys of a query that is not NULL. Support function 3.
pub type ExtractQuery = fn(&Column, DatumRef<'_>, StrategyNumber, &mut Query) -> Result<()>;
/// Whether a row that has the keys for which `present` is true satisfies the condition. `Maybe`:
/// the row must be checked. Support function 4.
pub type Consistent = fn(&Condition<'_>, present: &[bool]) -> Result<Ternary>;
/// How an index key compares with key number `n` of the query, which matches partially: `Less`: no
/// match, but later ones are possible; `Greater`: no later ones. Support function 5.
pub type ComparePartial = fn(&Condition<'_>, n: usize, key: DatumRef<'_>) -> Ordering;
/// As [`Consistent`], for a row of which the presence of some keys is not known. Support function
/// 6.
pub type TriConsistent = fn(&Condition<'_>, present: &[Ternary]) -> Result<Ternary>;

/// A support function.
#[derive(Clone, Copy, Debug)]
pub enum Function {
    ExtractValue(ExtractValue),
    ExtractQuery(ExtractQuery),
    Consistent(Consistent),
    ComparePartial(ComparePartial),
    TriConsistent(TriConsistent),
}

/// True if all keys are present; `Maybe` if that is not known of some.
pub fn all(present: &[Ternary]) -> Ternary {
    let mut result = Ternary::True;
    for p in present {
        match p {
            Ternary::False => return Ternary::False,
            Ternary::Maybe => result = Ternary::Maybe,
            Ternary::True => {}
        }
    }
    result
}

/// True if one of the keys is present; `Maybe` if that is only possible.
pub fn any(present: impl Iterator<Item = Ternary>) -> Ternary {
    let mut result = Ternary::False;
    for p in present {
        match p {
            Ternary::True => return Ternary::True,
            Ternary::Maybe => result = Ternary::Maybe,
            Ternary::False => {}
        }
    }
    result
}

/// The result for a condition whose rows must always be checked.
pub fn checked(result: Ternary) -> Ternary {
    if result == Ternary::False { Ternary::False } else { Ternary::Maybe }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_returned_as_they_were_added() {
        let mut keys = Keys::default();
        keys.push(DatumRef::Word(7));
        keys.push(DatumRef::Bytes(b"ab"));
        keys.push(DatumRef::Null);
        keys.push_parts(b"x", b"yz");
        let expected =
            [DatumRef::Word(7), DatumRef::Bytes(b"ab"), DatumRef::Null, DatumRef::Bytes(b"xyz")];
        assert_eq!(keys.iter().collect::<Vec<_>>(), expected);
        keys.clear();
        assert!(keys.is_empty());
    }

    #[test]
    fn ternary_values_combine() {
        use Ternary::{False, Maybe, True};
        assert_eq!([all(&[True, Maybe]), all(&[Maybe, False]), all(&[])], [Maybe, False, True]);
        let any = |p: &[Ternary]| super::any(p.iter().copied());
        assert_eq!([any(&[False, Maybe]), any(&[Maybe, True]), any(&[])], [Maybe, True, False]);
    }
}
