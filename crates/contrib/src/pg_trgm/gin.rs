//! The operator class `gin_trgm_ops`: the keys of a text are its trigrams, as integers. Rows are
//! always checked. Counterpart: contrib/pg_trgm/trgm_gin.c, trgm_op.c (`generate_wildcard_trgm`).
//!
//! A pattern of LIKE has the trigrams of its parts between wildcards. A regular expression has a
//! graph of trigrams ([`super::regex`]), or no keys; then all rows are candidates.

use super::regex::{self, Graph};
use super::{Trigram, distinct, groups, is_single_byte, is_word_character, placed};
use crate::library::ByCase;
use ids::builtin::collation as builtin;
use ids::{Oid, StrategyNumber};
use pgerror::{PgError, Result};
use std::sync::Arc;
use types::string::case::{Letters, lower_text};
use values::datum::{Datum, DatumRef};
use values::gin::{
    Column, Condition, Function, Keys, Query, SearchMode, Ternary, all, any, checked,
};

const SIMILAR: StrategyNumber = StrategyNumber(1);
const LIKE: StrategyNumber = StrategyNumber(3);
const ILIKE: StrategyNumber = StrategyNumber(4);
const REGEX: StrategyNumber = StrategyNumber(5);
const REGEX_IGNORE_CASE: StrategyNumber = StrategyNumber(6);
const WORD_SIMILAR: StrategyNumber = StrategyNumber(7);
const STRICT_WORD_SIMILAR: StrategyNumber = StrategyNumber(9);
const EQUAL: StrategyNumber = StrategyNumber(11);

pub(super) const SUPPORT: &[ByCase<Function>] = &[
    ByCase {
        symbol: "gin_extract_value_trgm",
        ascii: Function::ExtractValue(extract_value::<true>),
        unicode: Function::ExtractValue(extract_value::<false>),
    },
    ByCase {
        symbol: "gin_extract_query_trgm",
        ascii: Function::ExtractQuery(extract_query::<true>),
        unicode: Function::ExtractQuery(extract_query::<false>),
    },
    ByCase::same("gin_trgm_consistent", Function::Consistent(consistent)),
    ByCase::same("gin_trgm_triconsistent", Function::TriConsistent(tri_consistent)),
];

fn push(list: &[Trigram], keys: &mut Keys) {
    for [a, b, c] in list {
        keys.push(Datum::int4(i32::from_be_bytes([0, *a, *b, *c])).as_ref());
    }
}

/// The letters of the default collation.
fn letters(column: &Column, ascii: bool) -> Letters {
    match &column.locale {
        Some(locale) => Letters::Locale(locale.clone()).by_character(),
        None if ascii => Letters::Ascii,
        None => Letters::Unicode,
    }
}

pub(super) fn of_text(text: &[u8], letters: &Letters) -> Result<Vec<Trigram>> {
    let all = placed(text, letters, &mut || Ok(()))?;
    Ok(distinct(all.into_iter().map(|p| p.trigram).collect()))
}

fn extract_value<const ASCII: bool>(
    column: &Column,
    value: DatumRef<'_>,
    keys: &mut Keys,
) -> Result<()> {
    push(&of_text(value.as_bytes(), &letters(column, ASCII))?, keys);
    Ok(())
}

fn extract_query<const ASCII: bool>(
    column: &Column,
    value: DatumRef<'_>,
    strategy: StrategyNumber,
    query: &mut Query,
) -> Result<()> {
    let (text, letters) = (value.as_bytes(), letters(column, ASCII));
    let list = match strategy {
        SIMILAR | WORD_SIMILAR | STRICT_WORD_SIMILAR | EQUAL => of_text(text, &letters)?,
        LIKE | ILIKE => of_pattern(text, &letters),
        REGEX | REGEX_IGNORE_CASE => {
            let ignore_case = strategy == REGEX_IGNORE_CASE;
            match of_regex(column.collation, text, ignore_case, &letters)? {
                Some((list, graph)) => {
                    query.extra = Some(Arc::new(graph));
                    list
                }
                None => Vec::new(),
            }
        }
        other => return Err(unknown(other)),
    };
    push(&list, &mut query.keys);
    if list.is_empty() {
        query.mode = SearchMode::All;
    }
    Ok(())
}

/// The trigrams of a regular expression and their graph; `None`: all rows are candidates. Letters
/// of the collation match, and `known` are those in words.
pub(super) fn of_regex(
    collation: Oid,
    pattern: &[u8],
    ignore_case: bool,
    known: &Letters,
) -> Result<Option<(Vec<Trigram>, Graph)>> {
    let ctype = match collation {
        Oid::INVALID | builtin::DEFAULT => known.clone(),
        builtin::C | builtin::POSIX => Letters::Ascii,
        _ => return Ok(None),
    };
    if is_single_byte(known) || std::str::from_utf8(pattern).is_err() {
        return Ok(None);
    }
    regex::trigrams(pattern, ignore_case, &ctype.into(), known)
}

#[cold]
fn unknown(strategy: StrategyNumber) -> PgError {
    PgError::internal(format!("unrecognized strategy number: {strategy}"))
}

/// A character of a pattern of LIKE.
#[derive(Clone, Copy, PartialEq)]
enum Piece {
    Letter(char),
    /// A character that is in no word.
    Other,
    Wildcard,
}

/// The characters of a pattern, without escapes.
fn pieces(text: &str, letters: &Letters) -> Vec<Piece> {
    let mut out = Vec::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        let (c, escaped) = match c {
            '\\' => match chars.next() {
                Some(c) => (c, true),
                None => break,
            },
            c => (c, false),
        };
        out.push(match c {
            '%' | '_' if !escaped => Piece::Wildcard,
            c if is_word_character(c, letters) => Piece::Letter(c),
            _ => Piece::Other,
        });
    }
    out
}

/// The trigrams that each text has that matches a pattern of LIKE. Parts of words are padded where
/// the word must begin or end.
pub(super) fn of_pattern(pattern: &[u8], known: &Letters) -> Vec<Trigram> {
    // The characters of a text that is not valid in UTF-8 are its bytes.
    let text: String = match std::str::from_utf8(pattern) {
        Ok(text) if !is_single_byte(known) => text.to_owned(),
        _ => return Vec::new(),
    };
    let pieces = pieces(&text, known);
    let (mut list, mut at) = (Vec::new(), 0);
    while at < pieces.len() {
        let letters = pieces[at..].iter().map_while(|p| match p {
            Piece::Letter(c) => Some(*c),
            _ => None,
        });
        let word: String = letters.collect();
        let count = word.chars().count();
        if count == 0 {
            at += 1;
            continue;
        }
        let begins = at == 0 || pieces[at - 1] == Piece::Other;
        let ends = pieces.get(at + count).is_none_or(|p| *p == Piece::Other);
        let lower = lower_text(word.as_bytes(), known);
        let (before, after): (&[u8], &[u8]) =
            (if begins { b"  " } else { b"" }, if ends { b" " } else { b"" });
        list.extend(groups(&[before, lower.as_slice(), after].concat(), false));
        at += count;
    }
    distinct(list)
}

fn consistent(c: &Condition<'_>, present: &[bool]) -> Result<Ternary> {
    let present: Vec<Ternary> = present.iter().map(|p| Ternary::from(*p)).collect();
    tri_consistent(c, &present)
}

fn tri_consistent(c: &Condition<'_>, present: &[Ternary]) -> Result<Ternary> {
    Ok(checked(match c.strategy {
        SIMILAR | WORD_SIMILAR | STRICT_WORD_SIMILAR => any(present.iter().copied()),
        LIKE | ILIKE | EQUAL => all(present),
        REGEX | REGEX_IGNORE_CASE => {
            let graph = c.query.extra.as_deref().and_then(|extra| extra.downcast_ref::<Graph>());
            match graph {
                Some(graph) => graph.can_match(|n| present[n] != Ternary::False).into(),
                None => Ternary::True,
            }
        }
        other => return Err(unknown(other)),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_have_the_trigrams_of_their_parts() {
        for (pattern, expected) in [
            ("%abcd%", &["abc", "bcd"][..]),
            ("abc", &["  a", " ab", "abc", "bc "]),
            ("a%bcd%", &["  a", "bcd"]),
            ("%a_b%", &[]),
            ("%AB c\\%", &["ab ", "  c", " c "]),
            ("\\abc%", &["  a", " ab", "abc"]),
            ("", &[]),
        ] {
            let expected: Vec<Trigram> =
                expected.iter().map(|t| t.as_bytes().try_into().unwrap()).collect();
            assert_eq!(
                of_pattern(pattern.as_bytes(), &Letters::Unicode),
                distinct(expected),
                "{pattern}"
            );
        }
    }
}
