//! Collects entries, so that the rows of each key are inserted together.
//!
//! Keys are found by their values; the tuples are formed when the entries are returned in order.
//! Counterpart: ginbulk.c.

use crate::key::{Category, Key, KeySchema, Words};
use foldhash::fast::RandomState;
use hashbrown::HashTable;
use ids::Tid;
use page::gin::{Entry, Item};
use pgerror::Result;
use smallvec::SmallVec;
use std::cmp::Ordering;
use std::hash::BuildHasher;
use types::DatumRef;
use types::gin::Keys;

/// Estimated bytes of a key's entry in the table, besides the key itself.
const KEY_BYTES: usize = 96;

/// A key, as the prefix of its tuples, and its rows in ascending order.
pub(crate) type Collected = (Vec<u8>, Vec<Item>);

/// Called with each key, as the prefix of its tuples, and its rows in ascending order.
pub(crate) type OnKey<'a> = &'a mut dyn FnMut(&[u8], &[Item]) -> Result<()>;

/// The rows of a key; many keys have few.
type Rows = SmallVec<[Item; 2]>;

/// A key's value.
#[derive(Clone, Copy)]
enum Value {
    Null,
    Word(u64),
    /// Start in the bytes of the accumulator, and length.
    Bytes(usize, usize),
}

/// A key with its rows.
struct Slot {
    column: u16,
    category: Category,
    value: Value,
    rows: Rows,
}

/// A key in the sort: its kind, a number that has the order of the value, and its slot.
#[derive(Clone, Copy)]
struct Sorted {
    kind: (u16, Category),
    word: u64,
    slot: usize,
}

/// Entries by their keys.
pub(crate) struct Accumulator<'a> {
    schema: &'a KeySchema,
    /// Numbers of slots by the hash of their keys.
    table: HashTable<usize>,
    slots: Vec<Slot>,
    key_bytes: Vec<u8>,
    hashes: RandomState,
    bytes: usize,
    keys: Keys,
}

impl<'a> Accumulator<'a> {
    pub(crate) fn new(schema: &'a KeySchema) -> Accumulator<'a> {
        Accumulator {
            schema,
            table: HashTable::new(),
            slots: Vec::new(),
            key_bytes: Vec::new(),
            hashes: RandomState::default(),
            bytes: 0,
            keys: Keys::default(),
        }
    }

    /// Estimated memory.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// Adds a tuple of the pending list.
    pub(crate) fn add_tuple(&mut self, tuple: &[u8]) -> Result<()> {
        let entry = Entry::new(tuple);
        let mut scratch = Vec::new(); // allocates only where a key is compressed
        let key = self.schema.key(entry, &mut scratch)?;
        self.add(&key, Item::of(entry.0.tid_field()));
        Ok(())
    }

    /// Adds the keys of a row's column. Returns their number.
    pub(crate) fn add_value(
        &mut self,
        column: usize,
        value: DatumRef<'_>,
        tid: Tid,
    ) -> Result<u64> {
        let mut keys = std::mem::take(&mut self.keys);
        let item = Item::of(tid);
        let (schema, mut count) = (self.schema, 0);
        let added = schema.each_key(column, value, &mut keys, &mut |key| {
            count += u64::from(self.add(key, item));
            Ok(())
        });
        self.keys = keys;
        added.map(|()| count)
    }

    /// Adds a key of a row; false if the row was the last one that was added to the key.
    fn add(&mut self, key: &Key<'_>, item: Item) -> bool {
        let hash = match key.value {
            DatumRef::Null => self.hashes.hash_one((key.column, key.category)),
            DatumRef::Word(word) => self.hashes.hash_one((key.column, word)),
            DatumRef::Bytes(bytes) => self.hashes.hash_one((key.column, bytes)),
        };
        let (slots, key_bytes) = (&self.slots, &self.key_bytes);
        let is_own = |at: &usize| {
            let slot = &slots[*at];
            usize::from(slot.column) == key.column
                && slot.category == key.category
                && value_of(slot.value, key_bytes) == key.value
        };
        if let Some(at) = self.table.find(hash, is_own) {
            let rows = &mut self.slots[*at].rows;
            if rows.last() == Some(&item) {
                return false;
            }
            if rows.len() == rows.capacity() {
                self.bytes += rows.len() * size_of::<Item>();
            }
            rows.push(item);
            return true;
        }
        let value = match key.value {
            DatumRef::Null => Value::Null,
            DatumRef::Word(word) => Value::Word(word),
            DatumRef::Bytes(bytes) => {
                let start = self.key_bytes.len();
                self.key_bytes.extend_from_slice(bytes);
                self.bytes += bytes.len();
                Value::Bytes(start, bytes.len())
            }
        };
        self.bytes += KEY_BYTES;
        let (column, category) = (key.column as u16, key.category);
        // The hash of a slot is computed again only when the table grows.
        let (hashes, slots, key_bytes) = (&self.hashes, &self.slots, &self.key_bytes);
        let rehash = |at: &usize| {
            let slot = &slots[*at];
            let column = usize::from(slot.column);
            match value_of(slot.value, key_bytes) {
                DatumRef::Null => hashes.hash_one((column, slot.category)),
                DatumRef::Word(word) => hashes.hash_one((column, word)),
                DatumRef::Bytes(bytes) => hashes.hash_one((column, bytes)),
            }
        };
        self.table.insert_unique(hash, slots.len(), rehash);
        self.slots.push(Slot { column, category, value, rows: Rows::from_slice(&[item]) });
        true
    }

    /// Removes all entries, and calls `each` with them in the order of their keys, equal ones
    /// united.
    pub(crate) fn drain(&mut self, each: OnKey<'_>) -> Result<()> {
        self.bytes = 0;
        self.table.clear();
        let mut slots = std::mem::take(&mut self.slots);
        let key_bytes = std::mem::take(&mut self.key_bytes);
        for slot in &mut slots {
            // Rows of HOT chains are indexed under the chain's root, which may be out of order.
            if !slot.rows.is_sorted() {
                slot.rows.sort_unstable();
            }
            slot.rows.dedup();
        }
        let sorted = self.sorted(&slots, &key_bytes);
        let mut prefix = Vec::new();
        let mut at = 0;
        while let Some(first) = sorted.get(at) {
            let key = key_of(&slots[first.slot], &key_bytes);
            // Equal keys may have different bytes.
            let is_equal = |other: &&Sorted| {
                let other_key = key_of(&slots[other.slot], &key_bytes);
                (first.kind, first.word) == (other.kind, other.word)
                    && self.schema.compare(&key, &other_key).is_eq()
            };
            let count = 1 + sorted[at + 1..].iter().take_while(is_equal).count();
            prefix.clear();
            self.schema.push_prefix(&key, &mut prefix)?;
            if count == 1 {
                each(&prefix, &slots[first.slot].rows)?;
            } else {
                let lists = sorted[at..at + count].iter().map(|s| &slots[s.slot].rows);
                let mut rows: Vec<Item> = lists.flatten().copied().collect();
                rows.sort_unstable();
                rows.dedup();
                each(&prefix, &rows)?;
            }
            at += count;
        }
        Ok(())
    }

    /// The slots in the order of their keys, equal ones in the order of their first rows.
    fn sorted(&self, slots: &[Slot], key_bytes: &[u8]) -> Vec<Sorted> {
        let words: Vec<Words> = self.schema.columns.iter().map(|c| c.words).collect();
        let item = |(slot, own): (usize, &Slot)| {
            let words = words.get(usize::from(own.column)).copied().unwrap_or(Words::None);
            let word = words.word(value_of(own.value, key_bytes));
            Sorted { kind: (own.column, own.category), word, slot }
        };
        let mut sorted: Vec<Sorted> = slots.iter().enumerate().map(item).collect();
        sorted.sort_unstable_by(|a, b| {
            let by_word = a.kind.cmp(&b.kind).then(a.word.cmp(&b.word));
            by_word.then_with(|| {
                let (x, y) = (&slots[a.slot], &slots[b.slot]);
                self.schema
                    .compare(&key_of(x, key_bytes), &key_of(y, key_bytes))
                    .then_with(|| x.rows.first().cmp(&y.rows.first()))
                    .then(a.slot.cmp(&b.slot))
            })
        });
        sorted
    }
}

fn value_of(value: Value, key_bytes: &[u8]) -> DatumRef<'_> {
    match value {
        Value::Null => DatumRef::Null,
        Value::Word(word) => DatumRef::Word(word),
        Value::Bytes(start, len) => DatumRef::Bytes(&key_bytes[start..start + len]),
    }
}

fn key_of<'k>(slot: &Slot, key_bytes: &'k [u8]) -> Key<'k> {
    Key {
        column: usize::from(slot.column),
        category: slot.category,
        value: value_of(slot.value, key_bytes),
    }
}

/// The order of the keys of two prefixes.
pub(crate) fn compare(schema: &KeySchema, a: &[u8], b: &[u8]) -> Result<Ordering> {
    let (mut scratch_a, mut scratch_b) = (Vec::new(), Vec::new());
    let a = schema.key(Entry::new(a), &mut scratch_a)?;
    let b = schema.key(Entry::new(b), &mut scratch_b)?;
    Ok(schema.compare(&a, &b))
}
