//! A session's cache of simple queries: it finds the plan of a text without parser, analysis and
//! planner.
//!
//! ```text
//! text ──scan──▶ template, literals ──▶ slot ──▶ variant (fixed literals) ──▶ Ready ──▶ run
//! ```
//! A slot records which literals of its template became parameters and which did not (see
//! `analyze::parameterize`). The fixed literals select the variant. A text that does not fit, for
//! instance because an input function rejects a literal, is parsed and analysed in full, so that
//! errors refer to the text as written.

mod run;

use crate::prepared::Ready;
use analyze::ParameterizedLiteral;
use analyze::template::{Literal, Template};
use hashbrown::HashMap;
use ids::Oid;
use parse::RawStmt;
use types::oids;

/// Maximum number of templates, and maximum of their total length. If one is exceeded, all slots
/// are cleared.
const SLOTS_MAX: usize = 512;
const TEXT_BYTES_MAX: usize = 512 << 10;
/// Maximum number of variants (sets of fixed literals) of a template.
const VARIANTS_MAX: usize = 8;

/// Date and time strings whose value depends on the current time.
const TIME_DEPENDENT: [&[u8]; 4] = [b"now", b"today", b"tomorrow", b"yesterday"];

/// Types for which a literal is equivalent to a parameter: their input functions depend only on the
/// text and on settings that are part of the environment. (Type interval is not in the list,
/// because the input of an interval literal depends on its type modifier.)
const STRING_TYPES: &[Oid] = &[
    oids::BOOL,
    oids::BYTEA,
    oids::CHAR,
    oids::NAME,
    oids::INT8,
    oids::INT2,
    oids::INT4,
    oids::TEXT,
    oids::OID,
    oids::FLOAT4,
    oids::FLOAT8,
    oids::BPCHAR,
    oids::VARCHAR,
    oids::DATE,
    oids::TIME,
    oids::TIMESTAMP,
    oids::TIMESTAMPTZ,
    oids::NUMERIC,
    oids::UUID,
    oids::JSON,
    oids::JSONB,
];

/// The slots of a session.
#[derive(Default)]
pub(crate) struct Slots {
    places: HashMap<Box<[u8]>, usize, foldhash::fast::FixedState>,
    /// `None` while the slot is in use.
    slots: Vec<Option<Box<Slot>>>,
    text_bytes: usize,
    template: Template,
}

enum Slot {
    Query(QuerySlot),
    Transaction(RawStmt),
}

struct QuerySlot {
    roles: LiteralRoles,
    variants: Vec<Variant>,
}

/// The roles of a template's literals.
struct LiteralRoles {
    /// For each parameter, the index of its literal and whether the literal is negated.
    parameterized: Box<[(u16, bool)]>,
    /// Indexes of the other literals, which are part of the key.
    fixed: Box<[u16]>,
}

struct Variant {
    fixed: Box<[u8]>,
    /// The key text in the plan cache.
    key: Box<[u8]>,
    ready: Ready,
}

impl Slots {
    pub(crate) fn clear(&mut self) {
        self.places.clear();
        self.slots.clear();
        self.text_bytes = 0;
    }

    fn insert(&mut self, key: &[u8], slot: Slot) {
        if self.slots.len() >= SLOTS_MAX || self.text_bytes > TEXT_BYTES_MAX {
            self.clear();
        }
        self.text_bytes += key.len();
        self.places.insert(key.into(), self.slots.len());
        self.slots.push(Some(Box::new(slot)));
    }
}

impl LiteralRoles {
    fn new(literals: &[Literal], parameterized: &[ParameterizedLiteral]) -> LiteralRoles {
        let place = |start: u32| literals.iter().position(|l| l.start == start);
        let parameterized: Box<[(u16, bool)]> = parameterized
            .iter()
            .filter_map(|l| place(l.start).map(|i| (i as u16, l.negated)))
            .collect();
        let fixed =
            (0..literals.len() as u16).filter(|i| !parameterized.iter().any(|(l, _)| l == i));
        LiteralRoles { fixed: fixed.collect(), parameterized }
    }

    /// The fixed literals of a text, each terminated by a zero byte.
    fn fixed(&self, text: &[u8], literals: &[Literal]) -> Vec<u8> {
        let mut out = Vec::new();
        for &i in &self.fixed {
            out.extend_from_slice(literals[usize::from(i)].of(text));
            out.push(0);
        }
        out
    }

    /// True if a fixed literal depends on the current time.
    fn is_time_dependent(&self, text: &[u8], literals: &[Literal]) -> bool {
        self.fixed.iter().any(|&i| is_time_dependent(literals[usize::from(i)].of(text)))
    }

    /// True if the text has these fixed literals.
    fn is_fixed(&self, mut fixed: &[u8], text: &[u8], literals: &[Literal]) -> bool {
        for &i in &self.fixed {
            let literal = literals[usize::from(i)].of(text);
            match fixed.strip_prefix(literal).and_then(|rest| rest.strip_prefix(&[0])) {
                Some(rest) => fixed = rest,
                None => return false,
            }
        }
        true
    }
}

/// True if a literal, or one in a text, depends on the current time.
pub(crate) fn is_time_dependent(text: &[u8]) -> bool {
    text.contains(&b'\'')
        && TIME_DEPENDENT
            .iter()
            .any(|word| text.windows(word.len()).any(|part| part.eq_ignore_ascii_case(word)))
}

/// The value of a quoted string literal.
fn unquote(text: &[u8]) -> Vec<u8> {
    let inner = &text[1..text.len() - 1];
    if !inner.contains(&b'\'') {
        return inner.to_vec();
    }
    let mut out = Vec::with_capacity(inner.len());
    let mut skip = false;
    for &b in inner {
        skip = b == b'\'' && !skip;
        if !skip {
            out.push(b);
        }
    }
    out
}

/// The key text of a statement in the plan cache: the template, the indexes of the fixed literals,
/// and these literals. It differs from the text of every client, which contains no zero byte.
fn statement_text(template: &Template, roles: &LiteralRoles, fixed: &[u8]) -> Vec<u8> {
    let mut out = template.key.clone();
    out.push(0);
    for i in &roles.fixed {
        out.extend_from_slice(&i.to_le_bytes());
    }
    out.push(0);
    out.extend_from_slice(fixed);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubled_quotes_in_strings_are_unescaped() {
        for (text, want) in [("''", ""), ("'ab'", "ab"), ("'a''b'", "a'b"), ("''''''", "''")] {
            assert_eq!(unquote(text.as_bytes()), want.as_bytes());
        }
    }

    #[test]
    fn time_dependent_words_are_found_anywhere() {
        assert!(
            is_time_dependent(b"'NOW'")
                && is_time_dependent(b"' yesterday '")
                && is_time_dependent(b"'toDay UTC'")
        );
        assert!(!is_time_dependent(b"'noon'") && !is_time_dependent(b"''"));
    }
}
