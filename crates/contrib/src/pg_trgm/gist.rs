//! The operator class `gist_trgm_ops`: keys of leaves are the trigrams of a text, those above them
//! signatures. Counterpart: contrib/pg_trgm/trgm_gist.c.
//!
//! ```text
//! flags u8: 1: trigrams of three bytes, in order; 2: signature; 4: all its bits are set
//! ```
//!
//! Conditions by similarity depend on settings, which are applied when the rows are checked: rows
//! that share no trigram with the value are not found.

use super::gin::{of_pattern, of_regex, of_text};
use super::regex::Graph;
use super::{Trigram, ratio, sort_key};
use crate::sign_key::SignKeys;
use pgerror::Result;
use types::string::case::Letters;
use values::datum::{Datum, DatumRef};
use values::gist::{
    Column, Condition, Function, Groups, KEY_BYTES_MAX, Parameter, Ternary, keep_key,
};
use values::signature::{Signature, divide};

const SIMILAR: u16 = 1;
const DISTANCE: u16 = 2;
const LIKE: u16 = 3;
const ILIKE: u16 = 4;
const REGEX: u16 = 5;
const REGEX_IGNORE_CASE: u16 = 6;
const WORD_SIMILAR: u16 = 7;
const WORD_DISTANCE: u16 = 8;
const STRICT_WORD_SIMILAR: u16 = 9;
const STRICT_WORD_DISTANCE: u16 = 10;
const EQUAL: u16 = 11;

const ARRAY: u8 = 1;
const SIGN: u8 = 2;

pub(super) const SUPPORT: &[(&str, Function)] = &[
    ("gtrgm_consistent", Function::Consistent(consistent)),
    ("gtrgm_distance", Function::Distance(distance)),
    ("gtrgm_compress", Function::Compress(compress)),
    ("gtrgm_decompress", Function::Decompress(keep_key)),
    ("gtrgm_union", Function::Union(union)),
    ("gtrgm_penalty", Function::Penalty(penalty)),
    ("gtrgm_picksplit", Function::PickSplit(pick_split)),
    ("gtrgm_same", Function::Same(same)),
    ("gtrgm_options", Function::Options(&[Parameter::new("siglen", KEY_BYTES_MAX)])),
];

/// The last bit of a signature is always set, and is not used.
fn signs(column: &Column) -> SignKeys {
    SignKeys::of(column, 12, 1, 1)
}

fn bit(keys: SignKeys, t: &Trigram) -> usize {
    (u32::from_le_bytes([t[0], t[1], t[2], 0]) % keys.bits) as usize
}

fn letters(column: &Column) -> Letters {
    match &column.traits.locale {
        Some(locale) => Letters::Locale(locale.clone()).by_character(),
        None if column.traits.ctype_is_ascii => Letters::Ascii,
        None => Letters::Unicode,
    }
}

/// A key.
enum Key<'a> {
    Array(&'a [Trigram]),
    Sign(Signature),
}

impl<'a> Key<'a> {
    fn of(keys: SignKeys, key: DatumRef<'a>) -> Key<'a> {
        match key.as_bytes() {
            [flags, rest @ ..] if flags & ARRAY != 0 => Key::Array(rest.as_chunks::<3>().0),
            _ => Key::Sign(keys.read(key)),
        }
    }

    fn has(&self, keys: SignKeys, t: &Trigram) -> bool {
        match self {
            Key::Array(own) => own.binary_search_by_key(&sort_key(t), sort_key).is_ok(),
            Key::Sign(sign) => sign.has(bit(keys, t)),
        }
    }

    fn sign(self, keys: SignKeys) -> Signature {
        match self {
            Key::Sign(sign) => sign,
            Key::Array(own) => {
                let mut sign = Signature::empty(keys.bytes);
                sign.set(keys.bits as usize);
                own.iter().for_each(|t| sign.set(bit(keys, t)));
                sign
            }
        }
    }
}

/// The trigrams of a condition's value. With a graph only some of them are needed.
struct Query {
    trigrams: Vec<Trigram>,
    graph: Option<Graph>,
}

fn query(c: &Condition<'_>) -> Result<Query> {
    let (text, letters) = (c.value.as_bytes(), letters(c.column));
    let mut graph = None;
    let trigrams = match c.strategy.0 {
        LIKE | ILIKE => of_pattern(text, &letters),
        REGEX | REGEX_IGNORE_CASE => {
            let ignore_case = c.strategy.0 == REGEX_IGNORE_CASE;
            match of_regex(c.column.traits.collation, text, ignore_case, &letters)? {
                Some((list, found)) => {
                    graph = Some(found);
                    list
                }
                None => Vec::new(),
            }
        }
        SIMILAR | DISTANCE | WORD_SIMILAR | WORD_DISTANCE | STRICT_WORD_SIMILAR
        | STRICT_WORD_DISTANCE | EQUAL => of_text(text, &letters)?,
        _ => return Err(c.unknown()),
    };
    Ok(Query { trigrams, graph })
}

fn consistent(c: &Condition<'_>, key: DatumRef<'_>, _leaf: bool) -> Result<Ternary> {
    let keys = signs(c.column);
    let own = Key::of(keys, key);
    let query = c.prepared(|| query(c))?;
    let has = |t: &Trigram| own.has(keys, t);
    let found = match (c.strategy.0, &query.graph) {
        (REGEX | REGEX_IGNORE_CASE, Some(graph)) => {
            graph.can_match(|n| query.trigrams.get(n).is_some_and(has))
        }
        (SIMILAR | WORD_SIMILAR | STRICT_WORD_SIMILAR, _) if !query.trigrams.is_empty() => {
            query.trigrams.iter().any(has)
        }
        _ => query.trigrams.iter().all(has),
    };
    Ok(if found { Ternary::Maybe } else { Ternary::False })
}

fn distance(c: &Condition<'_>, key: DatumRef<'_>, _leaf: bool) -> Result<(f64, bool)> {
    let keys = signs(c.column);
    let own = Key::of(keys, key);
    let query = c.prepared(|| query(c))?;
    let shared = query.trigrams.iter().filter(|t| own.has(keys, t)).count();
    let all = query.trigrams.len();
    let similarity = match &own {
        Key::Array(_) if all == 0 => 0.0,
        Key::Array(own) if c.strategy.0 == DISTANCE => f64::from(ratio(shared, own.len(), all)),
        Key::Sign(_) if all == 0 => 1.0,
        _ => f64::from(shared as f32 / all as f32),
    };
    Ok((1.0 - similarity, c.strategy.0 != DISTANCE))
}

fn compress(column: &Column, value: DatumRef<'_>, leaf: bool) -> Result<Option<Datum>> {
    if leaf {
        let mut out = vec![ARRAY];
        for t in of_text(value.as_bytes(), &letters(column))? {
            out.extend_from_slice(&t);
        }
        return Ok(Some(Datum::bytes(out)));
    }
    let keys = signs(column);
    Ok(match Key::of(keys, value) {
        Key::Sign(sign) if sign.is_full() => Some(keys.flagged(&Signature::All, SIGN)),
        _ => None,
    })
}

fn union(column: &Column, own: &[DatumRef<'_>]) -> Result<Datum> {
    let keys = signs(column);
    let mut all = Signature::empty(keys.bytes);
    own.iter().for_each(|key| all.join(&Key::of(keys, *key).sign(keys)));
    Ok(keys.flagged(&all, SIGN))
}

fn penalty(column: &Column, old: DatumRef<'_>, new: DatumRef<'_>) -> Result<f32> {
    let keys = signs(column);
    let old = Key::of(keys, old).sign(keys);
    let new = Key::of(keys, new);
    let array = matches!(new, Key::Array(_));
    let new = new.sign(keys);
    if array && old == Signature::All {
        let zeros = keys.bits.saturating_sub(new.ones(keys.bits));
        return Ok(zeros as f32 / (keys.bits + 1) as f32);
    }
    Ok(old.distance(&new, keys.bits) as f32)
}

fn pick_split(column: &Column, own: &[DatumRef<'_>]) -> Result<Groups> {
    let keys = signs(column);
    let all: Vec<Signature> = own.iter().map(|key| Key::of(keys, *key).sign(keys)).collect();
    let divided = divide(&all, keys.bits, 0.1);
    Ok(Groups {
        left_union: keys.flagged(&divided.left_sign, SIGN),
        right_union: keys.flagged(&divided.right_sign, SIGN),
        left: divided.left,
        right: divided.right,
    })
}

fn same(column: &Column, a: DatumRef<'_>, b: DatumRef<'_>) -> Result<bool> {
    let keys = signs(column);
    Ok(match (Key::of(keys, a), Key::of(keys, b)) {
        (Key::Array(a), Key::Array(b)) => a == b,
        (Key::Sign(a), Key::Sign(b)) => a == b,
        _ => false,
    })
}
