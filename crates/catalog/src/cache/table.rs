//! The hash table of cache entries, used by shared caches and by transaction overlays.

use super::key::Key;
use hashbrown::HashTable;
use std::any::Any;
use sync::Arc;
use types::Datum;

/// Value of an entry: a `Tuple<R>`, or a list of them. `None` is a negative entry: no row has the
/// key.
pub(crate) type Found = Option<Arc<dyn Any + Send + Sync>>;

struct Slot {
    cache: u8,
    hash: u32,
    keys: Box<[Datum]>,
    value: Found,
}

/// Entries by cache and keys. A list entry has only a prefix of the cache's keys.
#[derive(Default)]
pub(crate) struct Table {
    slots: HashTable<Slot>,
    negative: usize,
}

/// Maximum number of negative entries per table. The bound is needed because clients can look up
/// any number of names that do not exist.
const NEGATIVE_MAX: usize = 1024;

fn slot_hash(cache: u8, hash: u32) -> u64 {
    // hashbrown uses the high bits for its control bytes, so the hash must be mixed into them.
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
        self.slots.find(slot_hash(cache, hash), same).map(|s| &s.value)
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
        self.slots.insert_unique(slot_hash(cache, hash), slot, |s| slot_hash(s.cache, s.hash));
    }

    /// Removes the entries of a cache with this hash.
    pub(crate) fn remove(&mut self, cache: u8, hash: u32) {
        let same = |s: &Slot| s.cache == cache && s.hash == hash;
        while let Ok(found) = self.slots.find_entry(slot_hash(cache, hash), same) {
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
