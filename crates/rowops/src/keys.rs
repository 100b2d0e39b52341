//! Hashing and equality of grouping, join and set-operation keys, and the hash table from a key to
//! its group number. Counterpart: execGrouping.c.

use crate::services::Services;
use foldhash::fast::FixedState;
use ids::Oid;
use pgerror::Result;
use std::hash::{BuildHasher, Hasher};
use types::compare::{Comparer, bpchar_trimmed, float_cmp};
use types::{Batch, Column, ColumnData, DatumRef, oids};

/// Hash method of a key column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum HashKind {
    /// Equal values have equal words (integers of any width, dates, OIDs, booleans).
    Word,
    /// Equal values have equal bytes (text without special collations, bytea, uuid, name).
    Bytes,
    /// The bytes without trailing blanks.
    BpChar,
    Float4,
    Float8,
    Numeric,
    /// The type's own hash function.
    Type(Oid),
}

/// One key column.
#[derive(Clone)]
pub struct Key {
    kind: HashKind,
    cmp: Option<Comparer>,
    ty: Oid,
    collation: Oid,
}

/// The columns of a key.
#[derive(Clone, Default)]
pub struct Keys(pub Vec<Key>);

const SEED: u64 = 0x243f_6a88_85a3_08d3;
const NULL_HASH: u64 = 0x1319_8a2e_0370_7344;

/// Combines a hash and a word; each bit of the result depends on all bits of both.
#[inline]
fn mix(h: u64, w: u64) -> u64 {
    let p = u128::from(h ^ w) * 0x9e37_79b9_7f4a_7c15;
    let x = (p as u64) ^ (p >> 64) as u64;
    (x ^ x >> 32).wrapping_mul(0xd6e8_feb8_6659_fd93)
}

/// The hash of a key that is one word.
#[inline]
pub fn word_hash(w: u64) -> u64 {
    mix(SEED, w)
}

fn bytes_hash(b: &[u8]) -> u64 {
    let mut h = FixedState::default().build_hasher();
    h.write(b);
    h.finish()
}

/// The bytes without trailing zeros, which pad values of type name.
fn unpadded(b: &[u8]) -> &[u8] {
    let end = b.iter().rposition(|&c| c != 0).map_or(0, |i| i + 1);
    &b[..end]
}

/// The bits of a float, normalized: all NaNs are equal, and so are both zeros.
fn float_word(v: f64) -> u64 {
    if v == 0.0 {
        0
    } else if v.is_nan() {
        f64::NAN.to_bits()
    } else {
        v.to_bits()
    }
}

/// Hash of sign, weight and digits of a numeric, independent of its display scale and header form.
/// Counterpart: hash_numeric.
fn numeric_hash(b: &[u8]) -> u64 {
    let half = |i: usize| b.get(i..i + 2).map_or(0, |s| u16::from_ne_bytes([s[0], s[1]]));
    let header = half(0);
    if header & 0xC000 == 0xC000 {
        return mix(SEED, u64::from(header & 0xF000));
    }
    let (negative, mut weight, start) = if header & 0x8000 != 0 {
        let w = i64::from(header & 0x3F) - if header & 0x40 != 0 { 64 } else { 0 };
        (header & 0x2000 != 0, w, 2)
    } else {
        (header & 0x4000 != 0, i64::from(half(2) as i16), 4)
    };
    let mut digits = b.get(start..).unwrap_or_default();
    while digits.len() >= 2 && digits[..2] == [0, 0] {
        digits = &digits[2..];
        weight -= 1;
    }
    while digits.len() >= 2 && digits[digits.len() - 2..] == [0, 0] {
        digits = &digits[..digits.len() - 2];
    }
    if digits.is_empty() {
        return SEED;
    }
    mix(bytes_hash(digits), (weight as u64) << 1 | u64::from(negative))
}

/// Raises an error if values of the type need a collation and have none.
pub fn check_collation(ty: Oid, collation: Oid, what: &str, sv: &mut dyn Services) -> Result<()> {
    if collation.is_valid() {
        return Ok(());
    }
    let (base, _) = sv.base_type(ty)?;
    if eval::compares_text(base) {
        return Err(eval::undetermined_collation(what));
    }
    Ok(())
}

impl Key {
    /// The key for the left operand type `ty` of this equality operator.
    pub fn new(ty: Oid, eq: Oid, collation: Oid, sv: &mut dyn Services) -> Result<Key> {
        check_collation(ty, collation, "hashing", sv)?;
        let locale = sv.as_facts().collation_locale(collation)?;
        let kind = match ty {
            _ if locale.is_some_and(|l| !l.is_deterministic()) => {
                HashKind::Type(sv.base_type(ty)?.0)
            }
            oids::BOOL
            | oids::CHAR
            | oids::INT2
            | oids::INT4
            | oids::INT8
            | oids::OID
            | oids::DATE
            | oids::TIME
            | oids::TIMESTAMP
            | oids::TIMESTAMPTZ
            | oids::PG_LSN
            | oids::XID
            | oids::CID
            | oids::REGCLASS
            | oids::REGTYPE
            | oids::REGPROC => HashKind::Word,
            oids::TEXT | oids::VARCHAR | oids::BYTEA | oids::UUID | oids::NAME => HashKind::Bytes,
            oids::BPCHAR => HashKind::BpChar,
            oids::FLOAT4 => HashKind::Float4,
            oids::FLOAT8 => HashKind::Float8,
            oids::NUMERIC => HashKind::Numeric,
            other => {
                let (base, _) = sv.base_type(other)?;
                HashKind::Type(base)
            }
        };
        Ok(Key { kind, cmp: sv.equality_compare(eq, ty, collation)?, ty, collation })
    }

    /// True if values are equal if and only if their words are.
    pub fn is_word(&self) -> bool {
        self.kind == HashKind::Word
    }

    fn value_hash(&self, v: DatumRef<'_>, sv: &mut dyn Services) -> Result<u64> {
        Ok(match (self.kind, v) {
            (_, DatumRef::Null) => NULL_HASH,
            (HashKind::Type(ty), v) => sv.type_hash(ty, v, self.collation, None)?,
            (HashKind::Float4, v @ DatumRef::Word(_)) => float_word(v.as_f32().into()),
            (HashKind::Float8, v @ DatumRef::Word(_)) => float_word(v.as_f64()),
            (_, DatumRef::Word(w)) => w,
            (HashKind::Numeric, DatumRef::Bytes(b)) => numeric_hash(b),
            (HashKind::BpChar, DatumRef::Bytes(b)) => bytes_hash(bpchar_trimmed(b)),
            // A value of type name is padded with zeros and a text is not; both are hashed without
            // padding.
            (_, DatumRef::Bytes(b)) => bytes_hash(unpadded(b)),
        })
    }

    /// Combines the hashes of the column's rows with those in `out`.
    fn hash_column(&self, col: &Column, sv: &mut dyn Services, out: &mut [u64]) -> Result<()> {
        match (&col.data, &col.nulls, self.kind) {
            (ColumnData::Word(words), None, HashKind::Word) => {
                for (h, &w) in out.iter_mut().zip(words) {
                    *h = mix(*h, w);
                }
            }
            (ColumnData::Bytes(b), None, HashKind::Bytes) => {
                for (i, h) in out.iter_mut().enumerate() {
                    *h = mix(*h, bytes_hash(unpadded(b.get(i))));
                }
            }
            _ => {
                for (i, h) in out.iter_mut().enumerate() {
                    *h = mix(*h, self.value_hash(col.get(i), sv)?);
                }
            }
        }
        Ok(())
    }

    /// Equality of two values that are not NULL.
    pub fn equal(&self, a: DatumRef<'_>, b: DatumRef<'_>, sv: &mut dyn Services) -> Result<bool> {
        match (self.kind, a, b) {
            (HashKind::Word, DatumRef::Word(x), DatumRef::Word(y)) => return Ok(x == y),
            (HashKind::Bytes, DatumRef::Bytes(x), DatumRef::Bytes(y)) if x.len() == y.len() => {
                return Ok(x == y);
            }
            (HashKind::Float8, DatumRef::Word(x), DatumRef::Word(y)) if self.cmp.is_none() => {
                return Ok(float_cmp(f64::from_bits(x), f64::from_bits(y)).is_eq());
            }
            _ => {}
        }
        match &self.cmp {
            Some(cmp) => Ok(cmp.order(a, b, self.collation).is_eq()),
            None => sv.type_equal(self.ty, a, b, self.collation),
        }
    }
}

impl Keys {
    /// True for a single key column whose values are compared as words.
    pub fn is_one_word(&self) -> bool {
        matches!(self.0.as_slice(), [k] if k.is_word())
    }

    /// Hash of a key; `None` if a column is NULL and `nulls_match` is false.
    pub fn hash<'v>(
        &self,
        values: impl Iterator<Item = DatumRef<'v>>,
        nulls_match: bool,
        sv: &mut dyn Services,
    ) -> Result<Option<u64>> {
        let mut h = SEED;
        for (k, v) in self.0.iter().zip(values) {
            if v.is_null() && !nulls_match {
                return Ok(None);
            }
            h = mix(h, k.value_hash(v, sv)?);
        }
        Ok(Some(h))
    }

    /// Hashes of the rows of a batch over the key columns `cols`. NULL is hashed as a value.
    pub fn hash_rows(
        &self,
        batch: &Batch,
        cols: &[usize],
        sv: &mut dyn Services,
        out: &mut Vec<u64>,
    ) -> Result<()> {
        out.clear();
        out.resize(batch.len, SEED);
        for (k, &c) in self.0.iter().zip(cols) {
            k.hash_column(&batch.columns[c], sv, out)?;
        }
        Ok(())
    }

    /// True if the keys are equal; NULLs are equal to each other (IS NOT DISTINCT FROM).
    pub fn equal<'a, 'b>(
        &self,
        a: impl Iterator<Item = DatumRef<'a>>,
        b: impl Iterator<Item = DatumRef<'b>>,
        sv: &mut dyn Services,
    ) -> Result<bool> {
        for ((k, x), y) in self.0.iter().zip(a).zip(b) {
            let same = match (x.is_null(), y.is_null()) {
                (true, true) => true,
                (false, false) => k.equal(x, y, sv)?,
                _ => false,
            };
            if !same {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// Hash table from a key to its group number: open addressing with linear probing.
///
/// Each slot has a word: the key itself if that is one word (`words`), else its hash. The caller
/// compares keys with equal hashes.
pub struct GroupTable {
    slots: Vec<Slot>,
    len: usize,
    words: bool,
}

#[derive(Clone, Copy, Default)]
struct Slot {
    word: u64,
    /// Number of the group plus 1; 0 for a free slot.
    group: u32,
}

impl GroupTable {
    pub fn new(words: bool) -> GroupTable {
        GroupTable { slots: vec![Slot::default(); 64], len: 0, words }
    }

    pub fn memory(&self) -> usize {
        self.slots.len() * size_of::<Slot>()
    }

    #[inline]
    fn slot_index(&self, word: u64) -> usize {
        let h = if self.words { word_hash(word) } else { word };
        h as usize & (self.slots.len() - 1)
    }

    /// The group with this key, for a table of `words`.
    #[inline]
    pub fn find_word(&self, word: u64) -> Option<u32> {
        let mut at = self.slot_index(word);
        loop {
            let s = self.slots[at];
            if s.group == 0 {
                return None;
            }
            if s.word == word {
                return Some(s.group - 1);
            }
            at = (at + 1) & (self.slots.len() - 1);
        }
    }

    /// The group with this hash for which `same` is true.
    #[inline]
    pub fn find(
        &self,
        hash: u64,
        mut same: impl FnMut(u32) -> Result<bool>,
    ) -> Result<Option<u32>> {
        let mut at = self.slot_index(hash);
        loop {
            let s = self.slots[at];
            if s.group == 0 {
                return Ok(None);
            }
            if s.word == hash && same(s.group - 1)? {
                return Ok(Some(s.group - 1));
            }
            at = (at + 1) & (self.slots.len() - 1);
        }
    }

    /// Adds a group that is not in the table.
    pub fn insert(&mut self, word: u64, group: u32) {
        if (self.len + 1) * 5 > self.slots.len() * 3 {
            let bigger = vec![Slot::default(); self.slots.len() * 2];
            let old = std::mem::replace(&mut self.slots, bigger);
            old.iter().filter(|s| s.group != 0).for_each(|s| self.put(*s));
        }
        self.len += 1;
        self.put(Slot { word, group: group + 1 });
    }

    fn put(&mut self, slot: Slot) {
        let mut at = self.slot_index(slot.word);
        while self.slots[at].group != 0 {
            at = (at + 1) & (self.slots.len() - 1);
        }
        self.slots[at] = slot;
    }
}
