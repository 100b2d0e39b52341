//! The stored form of a path. Counterpart: utils/jsonpath.h, jsonpath.c.
//!
//! ```text
//! 0        4
//! header   items …         header: version 1, and the highest bit in lax mode
//!
//! an item, at a multiple of 4 or directly after a text (offsets are from its first byte):
//! kind     next     arguments of the kind
//! 1 byte   i32, after alignment to 4
//! ```
//!
//! `next` is the offset of the next item of the same chain, 0 for none. Offsets of operands are
//! relative to the item too. Items are aligned to four bytes relative to the header, except their
//! first byte.

use crate::error::damaged;
use pgerror::Result;

/// The version in the header, and in the binary form that clients receive.
pub(crate) const VERSION: u32 = 1;
pub(crate) const LAX: u32 = 1 << 31;
/// The upper level of `.**` without limit, and the level of the innermost values.
pub(crate) const LAST_LEVEL: u32 = u32::MAX;

macro_rules! kinds {
    ($($kind:ident $name:literal,)*) => {
        /// The kind of an item. The numbers are those of PostgreSQL.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        #[repr(u8)]
        pub enum Kind { $($kind,)* }

        const KINDS: &[(Kind, &str)] = &[$((Kind::$kind, $name),)*];
    };
}

kinds! {
    Null "null", String "string", Numeric "numeric", Bool "bool",
    And "&&", Or "||", Not "!", IsUnknown "is unknown",
    Equal "==", NotEqual "!=", Less "<", Greater ">", LessOrEqual "<=", GreaterOrEqual ">=",
    Add "+", Sub "-", Mul "*", Div "/", Mod "%", Plus "+", Minus "-",
    AnyArray "[*]", AnyKey "*", IndexArray "[]", Any "**", Key "key",
    Current "@", Root "$", Variable "variable", Filter "?", Exists "exists",
    Type "type", Size "size", Abs "abs", Floor "floor", Ceiling "ceiling", Double "double",
    Datetime "datetime", KeyValue "keyvalue",
    Subscript "subscript", Last "last", StartsWith "starts with", LikeRegex "like_regex",
}

impl Kind {
    fn of(code: u8) -> Option<Kind> {
        KINDS.get(usize::from(code)).map(|(kind, _)| *kind)
    }

    /// The sign of an operator, or the name of a method.
    pub fn name(self) -> &'static str {
        KINDS[self as usize].1
    }

    /// Whether the item is a literal other than a variable.
    pub fn is_scalar(self) -> bool {
        matches!(self, Kind::Null | Kind::String | Kind::Numeric | Kind::Bool)
    }
}

/// The flags of `like_regex`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PatternFlags(pub u32);

impl PatternFlags {
    /// `i`: letters match in both cases.
    pub const IGNORE_CASE: u32 = 1;
    /// `s`: a dot matches a newline.
    pub const DOT_ALL: u32 = 2;
    /// `m`: `^` and `$` match at newlines.
    pub const MULTI_LINE: u32 = 4;
    /// `x`: white space in the pattern is ignored.
    pub const EXPANDED: u32 = 8;
    /// `q`: the pattern is a plain string.
    pub const QUOTE: u32 = 16;
    /// The letters, in order of their bits.
    pub(crate) const LETTERS: [u8; 5] = *b"ismxq";

    /// Whether a flag is set.
    pub fn has(self, flag: u32) -> bool {
        self.0 & flag != 0
    }
}

/// A stored path, without its length word.
#[derive(Clone, Copy, Debug)]
pub struct Path<'a> {
    pub lax: bool,
    items: &'a [u8],
}

impl<'a> Path<'a> {
    /// Reads the header of a payload.
    pub fn new(payload: &'a [u8]) -> Result<Path<'a>> {
        let (header, items) = payload.split_first_chunk().ok_or_else(damaged)?;
        Ok(Path { lax: u32::from_le_bytes(*header) & LAX != 0, items })
    }

    /// The first item.
    pub fn root(self) -> Result<Item<'a>> {
        Item::at(self.items, 0)
    }

    /// Number of bytes of all items, which bounds their number.
    pub(crate) fn bytes(self) -> usize {
        self.items.len()
    }
}

/// The operands of `like_regex`.
#[derive(Clone, Copy, Debug)]
pub struct Pattern<'a> {
    pub operand: Item<'a>,
    pub pattern: &'a [u8],
    pub flags: PatternFlags,
}

/// An item of a path.
#[derive(Clone, Copy, Debug)]
pub struct Item<'a> {
    items: &'a [u8],
    at: usize,
    pub kind: Kind,
}

impl<'a> Item<'a> {
    fn at(items: &'a [u8], at: usize) -> Result<Item<'a>> {
        let kind = items.get(at).and_then(|code| Kind::of(*code)).ok_or_else(damaged)?;
        Ok(Item { items, at, kind })
    }

    /// The offset in the path, which identifies the item.
    pub fn offset(self) -> usize {
        self.at
    }

    /// The offset of word `n` of the arguments.
    fn word_at(self, n: usize) -> usize {
        (self.at + 1).next_multiple_of(4) + 4 + 4 * n
    }

    fn word(self, at: usize) -> Result<u32> {
        let bytes = self.items.get(at..).and_then(|b| b.first_chunk()).ok_or_else(damaged)?;
        Ok(u32::from_le_bytes(*bytes))
    }

    /// The item whose offset is in a word; `None` for 0.
    fn refers(self, at: usize) -> Result<Option<Item<'a>>> {
        match self.word(at)? {
            0 => Ok(None),
            offset => Item::at(self.items, self.at.wrapping_add(offset as usize)).map(Some),
        }
    }

    fn operand(self, n: usize) -> Result<Item<'a>> {
        self.refers(self.word_at(n))?.ok_or_else(damaged)
    }

    /// The bytes after word `n`, which contains their number.
    fn text_at(self, n: usize) -> Result<&'a [u8]> {
        let start = self.word_at(n);
        let length = self.word(start)? as usize;
        let end = (start + 4).checked_add(length).ok_or_else(damaged)?;
        self.items.get(start + 4..end).ok_or_else(damaged)
    }

    /// The next item of the chain.
    pub fn next(self) -> Result<Option<Item<'a>>> {
        self.refers(self.word_at(0) - 4)
    }

    /// The operand of an item with one, the template of `.datetime()`; `None` if there is none.
    pub fn argument(self) -> Result<Option<Item<'a>>> {
        self.refers(self.word_at(0))
    }

    /// The operand of an item that must have one.
    pub fn inner(self) -> Result<Item<'a>> {
        self.operand(0)
    }

    /// The left operand.
    pub fn left(self) -> Result<Item<'a>> {
        self.operand(0)
    }

    /// The right operand.
    pub fn right(self) -> Result<Item<'a>> {
        self.operand(1)
    }

    /// A string, a key, or the name of a variable.
    pub fn text(self) -> Result<&'a [u8]> {
        self.text_at(0)
    }

    /// The payload of a numeric.
    pub fn number(self) -> Result<&'a [u8]> {
        let start = self.word_at(0);
        let size = (self.word(start)? >> 2) as usize;
        let end = start.checked_add(size).ok_or_else(damaged)?;
        self.items.get(start + 4..end).filter(|p| p.len() >= 2).ok_or_else(damaged)
    }

    /// A truth value.
    pub fn bool(self) -> Result<bool> {
        Ok(*self.items.get(self.word_at(0)).ok_or_else(damaged)? != 0)
    }

    /// The first and last level of `.**`; `u32::MAX` for `last`.
    pub fn levels(self) -> Result<(u32, u32)> {
        Ok((self.word(self.word_at(0))?, self.word(self.word_at(1))?))
    }

    /// Number of subscripts.
    pub fn subscripts(self) -> Result<usize> {
        Ok(self.word(self.word_at(0))? as usize)
    }

    /// The `i`th subscript, or the two bounds of a range.
    pub fn subscript(self, i: usize) -> Result<(Item<'a>, Option<Item<'a>>)> {
        let n = i.checked_mul(2).filter(|n| *n < self.items.len()).ok_or_else(damaged)?;
        Ok((self.operand(1 + n)?, self.refers(self.word_at(2 + n))?))
    }

    /// The operands of `like_regex`.
    pub fn pattern(self) -> Result<Pattern<'a>> {
        Ok(Pattern {
            operand: self.operand(1)?,
            pattern: self.text_at(2)?,
            flags: PatternFlags(self.word(self.word_at(0))?),
        })
    }
}
