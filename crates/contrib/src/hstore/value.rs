//! The stored form: a word with the number of pairs, two entries for each pair, the strings.
//!
//! ```text
//! u32 0x80000000 | count      count ≤ 2^28
//! u32 entries[2 * count]      end of a string, counted from the first; of a key, then of its value
//!                             0x80000000: the first entry; 0x40000000: the value is NULL
//! u8  strings[…]
//! ```
//!
//! Pairs are sorted by the length of the key, then by its bytes, and keys are unique.

use pgerror::{PgError, Result, SqlState};
use values::datum::{Datum, DatumRef};

const NEW_VERSION: u32 = 0x8000_0000;
const COUNT_MASK: u32 = 0x0fff_ffff;
const FIRST: u32 = 0x8000_0000;
const NULL: u32 = 0x4000_0000;
const END_MASK: u32 = 0x3fff_ffff;

/// A value.
#[derive(Clone, Copy)]
pub(super) struct Hstore<'a> {
    payload: &'a [u8],
    count: usize,
}

/// An entry: where a string ends, and whether it is a NULL value.
#[derive(Clone, Copy)]
pub(super) struct Entry {
    pub end: usize,
    pub null: bool,
}

/// A key and its value.
#[derive(Clone)]
pub(super) struct Pair<'a> {
    pub key: std::borrow::Cow<'a, [u8]>,
    pub value: Option<std::borrow::Cow<'a, [u8]>>,
}

impl<'a> Hstore<'a> {
    pub(super) fn new(d: DatumRef<'a>) -> Hstore<'a> {
        let payload = d.as_bytes();
        let word = payload.first_chunk::<4>().map_or(0, |b| u32::from_le_bytes(*b));
        // The count of a damaged value may exceed the entries that its bytes can hold.
        let fits = payload.len().saturating_sub(4) / 8;
        Hstore { payload, count: ((word & COUNT_MASK) as usize).min(fits) }
    }

    /// The number of pairs.
    pub(super) fn len(self) -> usize {
        self.count
    }

    fn entry(self, i: usize) -> Entry {
        let at = 4 + 4 * i;
        let word = self.payload.get(at..at + 4).and_then(|b| b.first_chunk::<4>());
        let word = word.map_or(0, |b| u32::from_le_bytes(*b));
        Entry { end: (word & END_MASK) as usize, null: word & NULL != 0 }
    }

    pub(super) fn entries(self) -> impl Iterator<Item = Entry> {
        (0..2 * self.count).map(move |i| self.entry(i))
    }

    /// All keys and values, one after the other.
    pub(super) fn strings(self) -> &'a [u8] {
        let start = 4 + 8 * self.count;
        self.payload.get(start..).unwrap_or_default()
    }

    fn string(self, i: usize) -> &'a [u8] {
        let start = match i {
            0 => 0,
            _ => self.entry(i - 1).end,
        };
        self.strings().get(start..self.entry(i).end).unwrap_or_default()
    }

    pub(super) fn key(self, i: usize) -> &'a [u8] {
        self.string(2 * i)
    }

    /// The value of a pair; `None`: NULL.
    pub(super) fn value(self, i: usize) -> Option<&'a [u8]> {
        let null = self.entry(2 * i + 1).null;
        (!null).then(|| self.string(2 * i + 1))
    }

    pub(super) fn pairs(self) -> impl Iterator<Item = (&'a [u8], Option<&'a [u8]>)> {
        (0..self.count).map(move |i| (self.key(i), self.value(i)))
    }

    /// The number of the pair with this key.
    pub(super) fn find(self, key: &[u8]) -> Option<usize> {
        let (mut low, mut high) = (0, self.count);
        while low < high {
            let middle = (low + high) / 2;
            match order(self.key(middle), key) {
                std::cmp::Ordering::Equal => return Some(middle),
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        None
    }
}

impl<'a> Pair<'a> {
    pub(super) fn new(key: &'a [u8], value: Option<&'a [u8]>) -> Pair<'a> {
        Pair { key: key.into(), value: value.map(Into::into) }
    }
}

fn order(a: &[u8], b: &[u8]) -> std::cmp::Ordering {
    a.len().cmp(&b.len()).then_with(|| a.cmp(b))
}

fn check_length(bytes: &[u8], what: &str) -> Result<()> {
    if bytes.len() > END_MASK as usize {
        return Err(PgError::new(
            SqlState::STRING_DATA_RIGHT_TRUNCATION,
            format!("string too long for hstore {what}"),
        ));
    }
    Ok(())
}

/// A value of these pairs, in any order; the first one with a key is kept.
pub(super) fn build(mut pairs: Vec<Pair<'_>>) -> Result<Datum> {
    pairs.sort_by(|a, b| order(&a.key, &b.key));
    pairs.dedup_by(|later, first| later.key == first.key);
    encode(&pairs)
}

/// As [`build`], of pairs that are sorted and have different keys.
pub(super) fn encode(pairs: &[Pair<'_>]) -> Result<Datum> {
    let mut bytes = 0usize;
    for pair in pairs {
        check_length(&pair.key, "key")?;
        let value = pair.value.as_deref().unwrap_or_default();
        check_length(value, "value")?;
        bytes += pair.key.len() + value.len();
    }
    let mut out = values::limits::allocate_payload(4 + 8 * pairs.len() + bytes)?;
    out.extend_from_slice(&(pairs.len() as u32 | NEW_VERSION).to_le_bytes());
    let mut end = 0;
    for (i, pair) in pairs.iter().enumerate() {
        end += pair.key.len() as u32;
        let first = if i == 0 { FIRST } else { 0 };
        out.extend_from_slice(&(end | first).to_le_bytes());
        end += pair.value.as_ref().map_or(0, |v| v.len()) as u32;
        let null = if pair.value.is_none() { NULL } else { 0 };
        out.extend_from_slice(&(end | null).to_le_bytes());
    }
    for pair in pairs {
        out.extend_from_slice(&pair.key);
        out.extend_from_slice(pair.value.as_deref().unwrap_or_default());
    }
    Ok(Datum::bytes(out))
}
