//! The operator classes `tsvector_ops` and `tsquery_ops` of GiST indexes.
//!
//! ```text
//! gtsvector: flags u32, then
//!   ARRAY          checksums of the lexemes, ascending (i32)
//!   SIGN           a signature: the bits that the checksums select
//!   SIGN | ALL     nothing: all bits are set
//! tsquery_ops: a signature of 64 bits
//! ```
//!
//! Counterpart: tsgistidx.c, tsquery_gist.c.

use crate::execute::{Document, Execution, Match, Options, Places};
use crate::query::{Operand, Query, checksum};
use crate::vector::Vector;
use pgerror::Result;
use values::datum::{Datum, DatumRef};
use values::gist::{
    Column, Condition, Function, Groups, KEY_BYTES_MAX, Parameter, Ternary, keep_key, strategy,
};
use values::signature::{Signature, divide};

const ARRAY: u32 = 1;
const SIGN: u32 = 2;
const ALL: u32 = 4;

/// Bytes of a signature without the parameter `siglen`.
const SIGN_BYTES: usize = 124;

fn sign_bytes(column: &Column) -> usize {
    column.option("siglen", SIGN_BYTES)
}

fn sign_bits(column: &Column) -> u32 {
    8 * sign_bytes(column) as u32
}
/// Bytes of a stored key, with its headers, above which checksums are replaced by a signature.
const ARRAY_BYTES_MAX: usize = 8160 / 16;
const HEADERS: usize = 8;

/// A key.
enum Key<'a> {
    Array(&'a [u8]),
    Sign(Signature),
}

impl<'a> Key<'a> {
    fn of(key: DatumRef<'a>) -> Key<'a> {
        let payload = key.as_bytes();
        let flags = payload.first_chunk::<4>().map_or(0, |b| u32::from_le_bytes(*b));
        let rest = payload.get(4..).unwrap_or_default();
        if flags & ARRAY != 0 {
            Key::Array(rest)
        } else if flags & ALL != 0 {
            Key::Sign(Signature::All)
        } else {
            Key::Sign(Signature::Bits(rest.to_vec()))
        }
    }

    fn sign(self, column: &Column) -> Signature {
        match self {
            Key::Sign(sign) => sign,
            Key::Array(array) => {
                let mut sign = Signature::empty(sign_bytes(column));
                checksums(array).for_each(|c| sign.set(bit_of(c, sign_bits(column))));
                sign
            }
        }
    }
}

fn checksums(array: &[u8]) -> impl Iterator<Item = i32> {
    array.as_chunks::<4>().0.iter().map(|b| i32::from_le_bytes(*b))
}

fn bit_of(checksum: i32, bits: u32) -> usize {
    (checksum as u32 % bits) as usize
}

fn stored(flags: u32, data: &[u8]) -> Datum {
    Datum::bytes([&flags.to_le_bytes(), data].concat())
}

fn sign_key(sign: &Signature) -> Datum {
    match sign {
        Signature::All => stored(SIGN | ALL, &[]),
        Signature::Bits(bytes) => stored(SIGN, bytes),
    }
}

/// A key of which a query is asked.
struct Asked<'a> {
    key: Key<'a>,
    bits: u32,
}

impl Document for Asked<'_> {
    fn has(&mut self, _: usize, operand: &Operand, _: Option<&mut Places>) -> Match {
        // Neither prefixes nor weights and positions are in the key.
        let found = match &self.key {
            _ if operand.prefix => true,
            Key::Array(array) => {
                let array = array.as_chunks::<4>().0;
                array.binary_search_by_key(&operand.checksum, |b| i32::from_le_bytes(*b)).is_ok()
            }
            Key::Sign(sign) => sign.has(bit_of(operand.checksum, self.bits)),
        };
        if found { Match::Maybe } else { Match::No }
    }
}

fn vector_consistent(c: &Condition<'_>, key: DatumRef<'_>, _leaf: bool) -> Result<Ternary> {
    let query = Query::new(c.value.as_bytes());
    if query.is_empty() {
        return Ok(Ternary::False);
    }
    let mut key = Asked { key: Key::of(key), bits: sign_bits(c.column) };
    let options = Options { uncertain_phrases: true, ..Options::default() };
    let run = Execution { query, document: &mut key, options, interrupts: None }.run()?;
    Ok(if run == Match::No { Ternary::False } else { Ternary::Maybe })
}

fn vector_compress(column: &Column, value: DatumRef<'_>, leaf: bool) -> Result<Option<Datum>> {
    if !leaf {
        return Ok(match Key::of(value) {
            Key::Sign(sign) if sign.is_full() => Some(sign_key(&Signature::All)),
            _ => None,
        });
    }
    let vector = Vector::new(value.as_bytes());
    let mut all: Vec<i32> = (0..vector.len()).map(|i| checksum(vector.lexeme(i))).collect();
    all.sort_unstable();
    all.dedup();
    let bytes: Vec<u8> = all.iter().flat_map(|c| c.to_le_bytes()).collect();
    Ok(Some(match bytes.len() + HEADERS > ARRAY_BYTES_MAX {
        true => sign_key(&Key::Array(&bytes).sign(column)),
        false => stored(ARRAY, &bytes),
    }))
}

fn vector_union(column: &Column, keys: &[DatumRef<'_>]) -> Result<Datum> {
    let mut sign = Signature::empty(sign_bytes(column));
    keys.iter().for_each(|key| sign.join(&Key::of(*key).sign(column)));
    Ok(sign_key(&sign))
}

fn vector_penalty(column: &Column, old: DatumRef<'_>, new: DatumRef<'_>) -> Result<f32> {
    let bits = sign_bits(column);
    let old = Key::of(old).sign(column);
    let new = Key::of(new);
    let array = matches!(new, Key::Array(_));
    let new = new.sign(column);
    if array && old == Signature::All {
        return Ok((bits - new.ones(bits)) as f32 / (bits + 1) as f32);
    }
    Ok(old.distance(&new, bits) as f32)
}

fn vector_pick_split(column: &Column, keys: &[DatumRef<'_>]) -> Result<Groups> {
    let signs: Vec<Signature> = keys.iter().map(|key| Key::of(*key).sign(column)).collect();
    let divided = divide(&signs, sign_bits(column), 0.1);
    Ok(Groups {
        left_union: sign_key(&divided.left_sign),
        right_union: sign_key(&divided.right_sign),
        left: divided.left,
        right: divided.right,
    })
}

fn vector_same(_: &Column, a: DatumRef<'_>, b: DatumRef<'_>) -> Result<bool> {
    Ok(match (Key::of(a), Key::of(b)) {
        (Key::Array(a), Key::Array(b)) => a == b,
        (Key::Sign(a), Key::Sign(b)) => a == b,
        _ => false,
    })
}

/// The signature of a query: a bit for each operand.
fn query_sign(payload: &[u8]) -> u64 {
    let operands = Query::new(payload).operands().map(|(_, o)| o.checksum as u32 % 64);
    operands.fold(0, |sign, bit| sign | 1 << bit)
}

fn query_consistent(c: &Condition<'_>, key: DatumRef<'_>, leaf: bool) -> Result<Ternary> {
    let (key, query) = (key.word(), query_sign(c.value.as_bytes()));
    let found = match c.strategy.0 {
        strategy::CONTAINS if leaf => key & query == query,
        strategy::CONTAINED_BY if leaf => key & query == key,
        strategy::CONTAINS | strategy::CONTAINED_BY => key & query != 0,
        _ => false,
    };
    Ok(if found { Ternary::Maybe } else { Ternary::False })
}

fn query_compress(_: &Column, value: DatumRef<'_>, leaf: bool) -> Result<Option<Datum>> {
    Ok(leaf.then(|| Datum::Word(query_sign(value.as_bytes()))))
}

fn query_union(_: &Column, keys: &[DatumRef<'_>]) -> Result<Datum> {
    Ok(Datum::Word(keys.iter().fold(0, |sign, key| sign | key.word())))
}

fn query_penalty(_: &Column, old: DatumRef<'_>, new: DatumRef<'_>) -> Result<f32> {
    Ok((old.word() ^ new.word()).count_ones() as f32)
}

fn query_pick_split(_: &Column, keys: &[DatumRef<'_>]) -> Result<Groups> {
    let sign = |key: &DatumRef<'_>| Signature::Bits(key.word().to_le_bytes().to_vec());
    let signs: Vec<Signature> = keys.iter().map(sign).collect();
    let divided = divide(&signs, 64, 0.05);
    let union =
        |group: &[usize]| Datum::Word(group.iter().fold(0, |sign, n| sign | keys[*n].word()));
    let (left_union, right_union) = (union(&divided.left), union(&divided.right));
    Ok(Groups { left: divided.left, right: divided.right, left_union, right_union })
}

fn query_same(_: &Column, a: DatumRef<'_>, b: DatumRef<'_>) -> Result<bool> {
    Ok(a.word() == b.word())
}

pub const FNS: &[(&str, Function)] = &[
    ("gtsvector_consistent", Function::Consistent(vector_consistent)),
    ("gtsvector_compress", Function::Compress(vector_compress)),
    ("gtsvector_decompress", Function::Decompress(keep_key)),
    ("gtsvector_union", Function::Union(vector_union)),
    ("gtsvector_penalty", Function::Penalty(vector_penalty)),
    ("gtsvector_picksplit", Function::PickSplit(vector_pick_split)),
    ("gtsvector_same", Function::Same(vector_same)),
    ("gtsvector_options", Function::Options(&[Parameter::new("siglen", KEY_BYTES_MAX)])),
    ("gtsquery_consistent", Function::Consistent(query_consistent)),
    ("gtsquery_compress", Function::Compress(query_compress)),
    ("gtsquery_union", Function::Union(query_union)),
    ("gtsquery_penalty", Function::Penalty(query_penalty)),
    ("gtsquery_picksplit", Function::PickSplit(query_pick_split)),
    ("gtsquery_same", Function::Same(query_same)),
];
