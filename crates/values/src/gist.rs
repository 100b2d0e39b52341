//! Support functions of the operator classes of GiST indexes, as plain functions: whether rows
//! below a key can satisfy a condition, the union of keys, and how keys are divided when a page is
//! split.
//!
//! Counterpart: access/gist.h, access/stratnum.h.

use crate::datum::{Datum, DatumRef};
use crate::fn_context::FnContext;
use crate::range::RangeType;
use ids::{Oid, StrategyNumber};
use locale::Locale;
use pgerror::{PgError, Result};
use std::any::Any;
use std::sync::{Arc, OnceLock};

pub use crate::gin::Ternary;

/// What the catalogs know of an index column that its functions need.
#[derive(Clone, Default)]
pub struct Traits {
    /// The collation of the column.
    pub collation: Oid,
    /// The type of the indexed values.
    pub input: Oid,
    /// The range type, if the indexed values are ranges or multiranges.
    pub range: Option<Arc<RangeType>>,
    /// The locale of the database's default collation; `None` if that has none.
    pub locale: Option<Arc<Locale>>,
    /// `LC_CTYPE` of the database is `C` or `POSIX`.
    pub ctype_is_ascii: bool,
    /// The parameters of the operator class that the index sets.
    pub options: Vec<(Box<str>, i64)>,
}

impl std::fmt::Debug for Traits {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Traits").field("input", &self.input).finish_non_exhaustive()
    }
}

/// The index column for which the functions are called.
#[derive(Clone)]
pub struct Column {
    pub traits: Traits,
    /// Makes a context for functions of built-in types.
    pub context: fn() -> Box<dyn FnContext>,
}

impl Column {
    /// A parameter of the operator class.
    pub fn option(&self, name: &str, default: usize) -> usize {
        let found = self.traits.options.iter().find(|(n, _)| **n == *name);
        found.and_then(|(_, value)| usize::try_from(*value).ok()).unwrap_or(default)
    }

    /// The range type; an error if the column has no ranges.
    pub fn range(&self) -> Result<&RangeType> {
        let range = self.traits.range.as_deref();
        range.ok_or_else(|| PgError::internal("the index column has no range type"))
    }
}

/// What the functions of an operator class have derived from the value of a condition.
#[derive(Default)]
pub struct Prepared(OnceLock<Arc<dyn Any + Send + Sync>>);

/// A condition, whose value is not NULL.
#[derive(Clone, Copy)]
pub struct Condition<'a> {
    pub column: &'a Column,
    pub strategy: StrategyNumber,
    pub value: DatumRef<'a>,
    /// For [`Condition::prepared`].
    pub prepared: &'a Prepared,
}

impl Condition<'_> {
    /// What is derived from the value of the condition; `make` is called once in a scan.
    pub fn prepared<T: Any + Send + Sync>(
        &self,
        make: impl FnOnce() -> Result<T>,
    ) -> Result<Arc<T>> {
        if let Some(known) = self.prepared.0.get()
            && let Ok(known) = known.clone().downcast::<T>()
        {
            return Ok(known);
        }
        let made = Arc::new(make()?);
        // The functions of one condition derive one thing.
        let _ = self.prepared.0.set(made.clone());
        Ok(made)
    }

    /// The error for a strategy number that the operator class does not have.
    #[cold]
    pub fn unknown(&self) -> PgError {
        PgError::internal(format!("unrecognized strategy number: {}", self.strategy.0))
    }
}

/// The keys of a page that is split, divided into two groups.
#[derive(Clone, Debug)]
pub struct Groups {
    /// Numbers of the keys from 0, in the order in which they will be on the page.
    pub left: Vec<usize>,
    pub right: Vec<usize>,
    pub left_union: Datum,
    pub right_union: Datum,
}

/// The numbers of the strategies of spatial types. Counterpart: `RT*StrategyNumber`.
pub mod strategy {
    pub const LEFT: u16 = 1;
    pub const OVER_LEFT: u16 = 2;
    pub const OVERLAP: u16 = 3;
    pub const OVER_RIGHT: u16 = 4;
    pub const RIGHT: u16 = 5;
    pub const SAME: u16 = 6;
    pub const CONTAINS: u16 = 7;
    pub const CONTAINED_BY: u16 = 8;
    pub const OVER_BELOW: u16 = 9;
    pub const BELOW: u16 = 10;
    pub const ABOVE: u16 = 11;
    pub const OVER_ABOVE: u16 = 12;
    pub const OLD_CONTAINS: u16 = 13;
    pub const OLD_CONTAINED_BY: u16 = 14;
    pub const KNN_SEARCH: u16 = 15;
    pub const CONTAINS_ELEMENT: u16 = 16;
    pub const EQUAL: u16 = 18;
    pub const NOT_EQUAL: u16 = 19;
    pub const LESS: u16 = 20;
    pub const LESS_EQUAL: u16 = 21;
    pub const GREATER: u16 = 22;
    pub const GREATER_EQUAL: u16 = 23;
    pub const SUB: u16 = 24;
    pub const SUB_EQUAL: u16 = 25;
    pub const SUPER: u16 = 26;
    pub const SUPER_EQUAL: u16 = 27;
    pub const OLD_BELOW: u16 = 29;
    pub const OLD_ABOVE: u16 = 30;
}

/// Whether a row with this key (of a leaf) satisfies the condition, or one below it can. `Maybe`:
/// the row must be checked. Support function 1.
pub type Consistent = fn(&Condition<'_>, key: DatumRef<'_>, leaf: bool) -> Result<Ternary>;
/// The key that covers all of these keys, of which there is at least one. Support function 2.
pub type Union = fn(&Column, &[DatumRef<'_>]) -> Result<Datum>;
/// The stored form of a value (`leaf`) or of a key; `None` if it is the same. Support function 3.
pub type Compress = fn(&Column, DatumRef<'_>, leaf: bool) -> Result<Option<Datum>>;
/// A key from its stored form; `None` if it is the same. Support function 4.
pub type Decompress = fn(&Column, DatumRef<'_>) -> Result<Option<Datum>>;
/// The cost of inserting the second key below the first one; 0 if that covers it. Support function
/// 5.
pub type Penalty = fn(&Column, DatumRef<'_>, DatumRef<'_>) -> Result<f32>;
/// Divides keys, of which there are at least two. Support function 6.
pub type PickSplit = fn(&Column, &[DatumRef<'_>]) -> Result<Groups>;
/// Whether two keys are the same. Support function 7.
pub type Same = fn(&Column, DatumRef<'_>, DatumRef<'_>) -> Result<bool>;
/// The distance of the value from the key (of a leaf), or a lower bound of the distances of keys
/// below it, and whether that of a leaf's key is a lower bound too. Support function 8.
pub type Distance = fn(&Condition<'_>, key: DatumRef<'_>, leaf: bool) -> Result<(f64, bool)>;
/// The indexed value of a leaf's key. Support function 9.
pub type Fetch = fn(&Column, DatumRef<'_>) -> Result<Datum>;

/// A parameter of an operator class, an integer.
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    pub name: &'static str,
    pub min: i64,
    pub max: i64,
    /// Only multiples of it are valid; with the message for others.
    pub multiple: Option<(i64, &'static str)>,
}

impl Parameter {
    pub const fn new(name: &'static str, max: i64) -> Parameter {
        Parameter { name, min: 1, max, multiple: None }
    }
}

/// The largest key, in bytes. Counterpart: `GISTMaxIndexKeySize`.
pub const KEY_BYTES_MAX: i64 = 2024;

/// A support function.
#[derive(Clone, Copy, Debug)]
pub enum Function {
    Consistent(Consistent),
    Union(Union),
    Compress(Compress),
    Decompress(Decompress),
    Penalty(Penalty),
    PickSplit(PickSplit),
    Same(Same),
    Distance(Distance),
    Fetch(Fetch),
    /// The parameters of the operator class. Support function 10.
    Options(&'static [Parameter]),
}

/// Compression and decompression that change nothing.
pub fn keep(_: &Column, _: DatumRef<'_>, _: bool) -> Result<Option<Datum>> {
    Ok(None)
}

/// As [`keep`], for decompression.
pub fn keep_key(_: &Column, _: DatumRef<'_>) -> Result<Option<Datum>> {
    Ok(None)
}

/// A leaf's key that is the indexed value itself.
pub fn fetch_key(_: &Column, key: DatumRef<'_>) -> Result<Datum> {
    Ok(DatumRef::to_owned(key))
}
