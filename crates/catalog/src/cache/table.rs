//! The hash table of cache entries, shared or of one transaction.

use super::Key;
use hashbrown::HashTable;
use std::any::Any;
use sync::Arc;
use types::Datum;

/// An entry's value: a `Tuple<R>`, or a list of them; `None` says that no row has the key.
pub(crate) type Found = Option<Arc<dyn Any + Send + Sync>>;

struct Slot {
    cache: u8,
    hash: u32,
    keys: Box<[Datum]>,
    value: Found,
}

/// Entries by cache and keys. A list has fewer keys than its cache.
#[derive(Default)]
pub(crate) struct Table {
    slots: HashTable<Slot>,
    negative: usize,
}

/// So many entries for keys without a row are kept in a table; names from outside could fill it
/// without end.
const NEGATIVE_MAX: usize = 1024;

fn place(cache: u8, hash: u32) -> u64 {
    // The table wants entropy in the high bits as well.
    (u64::from(hash) | u64::from(cache) << 32).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

impl Table {
    pub(crate) fn get(&self, cache: u8, hash: u32, keys: &[Key<'_>]) -> Option<&Found> {
        let same = |slot: &Slot| {
            slot.cache == cache
                && slot.hash == hash
                && slot.keys.len() == keys.len()
                && keys.iter().zip(&slot.keys).all(|(k, d)| k.is(d.as_ref()))
        };
        self.slots.find(place(cache, hash), same).map(|s| &s.value)
    }

    pub(crate) fn insert(&mut self, cache: u8, hash: u32, keys: &[Key<'_>], value: Found) {
        if self.get(cache, hash, keys).is_some() {
            return;
        }
        if value.is_none() {
            if self.negative >= NEGATIVE_MAX {
                self.slots.retain(|s| s.value.is_some());
                self.negative = 0;
            }
            self.negative += 1;
        }
        let keys = keys.iter().map(|k| k.to_datum()).collect();
        let slot = Slot { cache, hash, keys, value };
        self.slots.insert_unique(place(cache, hash), slot, |s| place(s.cache, s.hash));
    }

    /// Removes the entries of a cache with this hash.
    pub(crate) fn remove(&mut self, cache: u8, hash: u32) {
        let same = |s: &Slot| s.cache == cache && s.hash == hash;
        while let Ok(found) = self.slots.find_entry(place(cache, hash), same) {
            let (slot, _) = found.remove();
            self.negative -= usize::from(slot.value.is_none());
        }
    }

    pub(crate) fn remove_cache(&mut self, cache: u8) {
        self.slots.retain(|s| s.cache != cache);
        self.negative = self.slots.iter().filter(|s| s.value.is_none()).count();
    }

    pub(crate) fn clear(&mut self) {
        self.slots.clear();
        self.negative = 0;
    }
}
