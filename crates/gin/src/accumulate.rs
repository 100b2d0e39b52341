//! Collects entries, so that the rows of each key are inserted together.
//!
//! Counterpart: ginbulk.c.

use crate::key::{KeySchema, Tuples};
use foldhash::fast::RandomState;
use page::gin::{Entry, Item};
use pgerror::Result;
use smallvec::SmallVec;
use std::cmp::Ordering;
use std::collections::HashMap;

/// Bytes of a tuple's TID field, which is not part of the key.
const TID_BYTES: usize = 6;
/// Estimated bytes of a key's entry in the table, besides the key itself.
const KEY_BYTES: usize = 96;

/// A key, as the prefix of its tuples, and its rows in ascending order.
pub(crate) type Collected = (Vec<u8>, Vec<Item>);

/// The bytes of a key, without an allocation for numbers and short texts.
type KeyBytes = SmallVec<[u8; 24]>;
/// The rows of a key; many keys have few.
type Rows = SmallVec<[Item; 2]>;

/// Entries by the bytes of their keys.
pub(crate) struct Accumulator<'a> {
    schema: &'a KeySchema,
    lists: HashMap<KeyBytes, Rows, RandomState>,
    bytes: usize,
}

impl<'a> Accumulator<'a> {
    pub(crate) fn new(schema: &'a KeySchema) -> Accumulator<'a> {
        Accumulator { schema, lists: HashMap::default(), bytes: 0 }
    }

    /// Estimated memory.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.lists.is_empty()
    }

    /// Adds a tuple of the pending list.
    pub(crate) fn add(&mut self, tuple: &[u8]) {
        let entry = Entry::new(tuple);
        let item = Item::of(entry.0.tid_field());
        let key = &tuple[TID_BYTES.min(tuple.len())..self.schema.prefix_len(entry)];
        if let Some(list) = self.lists.get_mut(key) {
            if list.len() == list.capacity() {
                self.bytes += list.len() * size_of::<Item>();
            }
            list.push(item);
        } else {
            self.bytes += key.len() + KEY_BYTES;
            self.lists.insert(KeyBytes::from_slice(key), Rows::from_slice(&[item]));
        }
    }

    /// Adds tuples of the pending list that follow one another. Returns their number.
    pub(crate) fn add_all(&mut self, tuples: &[u8]) -> u64 {
        Tuples(tuples).map(|tuple| self.add(tuple)).count() as u64
    }

    /// Removes all entries and returns them in the order of their keys, equal ones united.
    pub(crate) fn drain(&mut self) -> Result<Vec<Collected>> {
        self.bytes = 0;
        let mut all: Vec<Collected> = Vec::with_capacity(self.lists.len());
        for (key, items) in self.lists.drain() {
            let mut prefix = Vec::with_capacity(TID_BYTES + key.len());
            prefix.resize(TID_BYTES, 0);
            prefix.extend_from_slice(&key);
            let mut items = items.into_vec();
            // Rows of HOT chains are indexed under the chain's root, which may be out of order.
            if !items.is_sorted() {
                items.sort_unstable();
            }
            items.dedup();
            all.push((prefix, items));
        }
        let mut failed = None;
        let mut order = |a: &Collected, b: &Collected| {
            compare(self.schema, &a.0, &b.0).unwrap_or_else(|e| {
                failed.get_or_insert(e);
                Ordering::Equal
            })
        };
        all.sort_by(|a, b| order(a, b).then_with(|| a.1.first().cmp(&b.1.first())));
        // Equal keys may have different bytes.
        all.dedup_by(|later, earlier| {
            let equal = order(earlier, later).is_eq();
            if equal {
                earlier.1 = page::gin::merge(&earlier.1, &later.1);
            }
            equal
        });
        failed.map_or(Ok(all), Err)
    }
}

/// The order of the keys of two prefixes.
pub(crate) fn compare(schema: &KeySchema, a: &[u8], b: &[u8]) -> Result<Ordering> {
    let (mut scratch_a, mut scratch_b) = (Vec::new(), Vec::new());
    let a = schema.key(Entry::new(a), &mut scratch_a)?;
    let b = schema.key(Entry::new(b), &mut scratch_b)?;
    Ok(schema.compare(&a, &b))
}
