//! The catalog state private to one transaction: the cache keys and relations that it changed, its
//! own cache entries for them, and the invalidation messages to send at commit.
//!
//! A change marks the keys of the old and the new row as dirty at once. Entries in the overlay are
//! removed at the end of the command that made the change, when the change becomes visible. Keys
//! stay dirty when a subtransaction aborts: this costs an extra lookup and is always correct.
//!
//! Counterpart: inval.c.

use crate::cache::{Found, Key, Table};
use crate::inval::Message;
use crate::reldesc::RelDesc;
use hashbrown::{HashMap, HashSet};
use ids::Oid;
use sync::Arc;

/// The catalog changes of one transaction and its own cache entries.
#[derive(Default)]
pub struct Overlay {
    dirty: HashSet<(u8, u32)>,
    dirty_lists: HashSet<u8>,
    dirty_relations: HashSet<Oid>,
    all_relations: bool,
    rows: Table,
    lists: Table,
    relations: HashMap<Oid, Arc<RelDesc>>,
    /// Messages of the current command.
    current: Vec<Message>,
    /// Messages of earlier commands of the transaction.
    prior: Vec<Message>,
    /// Lengths of `prior` at the start of each open subtransaction.
    marks: Vec<usize>,
    /// Enum values added by the transaction.
    new_enum_values: HashSet<Oid>,
    /// Incremented by each change, and again when it becomes visible or is undone. Never decreases.
    version: u64,
}

impl Overlay {
    /// Whether the transaction has made no catalog changes.
    pub fn is_clean(&self) -> bool {
        self.dirty.is_empty() && self.dirty_relations.is_empty() && !self.all_relations
    }

    /// Version of the transaction's own catalog changes; 0 if there are none. Data derived from the
    /// catalogs at another version is stale.
    pub fn version(&self) -> u64 {
        if self.is_clean() { 0 } else { self.version }
    }

    /// Records that a value was added to an enum type. It must not be used before commit: an index
    /// could retain it although the transaction aborts.
    pub fn note_new_enum_value(&mut self, value: Oid) {
        self.new_enum_values.insert(value);
    }

    /// Whether this transaction has added the value.
    pub fn is_new_enum_value(&self, value: Oid) -> bool {
        !self.new_enum_values.is_empty() && self.new_enum_values.contains(&value)
    }

    pub(crate) fn is_dirty(&self, cache: u8, hash: u32) -> bool {
        !self.dirty.is_empty() && self.dirty.contains(&(cache, hash))
    }

    pub(crate) fn is_list_dirty(&self, cache: u8) -> bool {
        !self.dirty_lists.is_empty() && self.dirty_lists.contains(&cache)
    }

    pub(crate) fn is_relation_dirty(&self, relation: Oid) -> bool {
        self.all_relations || self.dirty_relations.contains(&relation)
    }

    /// Whether the transaction has changed an index of the relation, its TOAST table or the TOAST
    /// index.
    pub(crate) fn is_part_dirty(&self, desc: &RelDesc) -> bool {
        !self.dirty_relations.is_empty() && desc.depends_on(&self.dirty_relations)
    }

    pub(crate) fn find(&self, cache: u8, hash: u32, keys: &[Key<'_>]) -> Option<Found> {
        self.rows.get(cache, hash, keys).cloned()
    }

    pub(crate) fn install(&mut self, cache: u8, hash: u32, keys: &[Key<'_>], value: Found) {
        self.rows.insert(cache, hash, keys, value);
    }

    pub(crate) fn find_list(&self, cache: u8, hash: u32, keys: &[Key<'_>]) -> Option<Found> {
        self.lists.get(cache, hash, keys).cloned()
    }

    pub(crate) fn install_list(&mut self, cache: u8, hash: u32, keys: &[Key<'_>], value: Found) {
        self.lists.insert(cache, hash, keys, value);
    }

    pub(crate) fn find_relation(&self, oid: Oid) -> Option<Arc<RelDesc>> {
        self.relations.get(&oid).cloned()
    }

    pub(crate) fn install_relation(&mut self, desc: Arc<RelDesc>) {
        self.relations.insert(desc.class.oid, desc);
    }

    /// Registers a message of the current command.
    pub(crate) fn register(&mut self, message: Message) {
        self.version += 1;
        match message {
            Message::CatCache { cache, hash, .. } => {
                self.dirty.insert((cache, hash));
                self.dirty_lists.insert(cache);
            }
            Message::RelCache { relation, .. } if relation.is_valid() => {
                self.dirty_relations.insert(relation);
            }
            Message::RelCache { .. } => self.all_relations = true,
            _ => {}
        }
        if !self.current.contains(&message) {
            self.current.push(message);
        }
    }

    /// The command's changes become visible: removes entries read before it.
    pub fn end_command(&mut self) {
        if self.current.is_empty() {
            return;
        }
        self.version += 1;
        let messages = std::mem::take(&mut self.current);
        self.remove_entries(&messages);
        self.prior.extend(messages);
    }

    fn remove_entries(&mut self, messages: &[Message]) {
        let mut changed = HashSet::new();
        for message in messages {
            match *message {
                Message::CatCache { cache, hash, .. } => {
                    self.rows.remove(cache, hash);
                    self.lists.remove_cache(cache);
                }
                Message::RelCache { relation, .. } if relation.is_valid() => {
                    self.relations.remove(&relation);
                    changed.insert(relation);
                }
                Message::RelCache { .. } => self.relations.clear(),
                Message::Catalog { .. } => {
                    self.rows.clear();
                    self.lists.clear();
                }
                _ => {}
            }
        }
        if !changed.is_empty() {
            self.relations.retain(|_, d| !d.depends_on(&changed));
        }
    }

    /// Starts a subtransaction: the changes so far become visible to it.
    pub fn begin_subtransaction(&mut self) {
        self.end_command();
        self.marks.push(self.prior.len());
    }

    /// Ends a subtransaction; its changes become those of its parent.
    pub fn commit_subtransaction(&mut self) {
        self.end_command();
        self.marks.pop();
    }

    /// Removes entries made since the subtransaction began and discards its messages.
    pub fn abort_subtransaction(&mut self) {
        self.end_command();
        let from = self.marks.pop().unwrap_or(0);
        let undone = self.prior.split_off(from);
        if undone.is_empty() {
            return;
        }
        self.version += 1;
        self.remove_entries(&undone);
    }

    /// All messages of the transaction, for the commit record and for publication.
    pub fn messages(&mut self) -> Vec<Message> {
        self.end_command();
        self.prior.clone()
    }

    /// Resets the overlay, after publication at commit or at abort.
    pub fn end_transaction(&mut self) {
        if self.is_clean() && self.prior.is_empty() && self.current.is_empty() {
            return;
        }
        *self = Overlay { version: self.version, ..Overlay::default() };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Plans within a transaction depend on the version, so it must change only with the catalogs.
    #[test]
    fn only_changes_of_catalogs_change_the_version() {
        let change = |n| Message::RelCache { database: Oid(1), relation: Oid(n) };
        let mut overlay = Overlay::default();
        overlay.register(change(1));
        overlay.end_command();
        let version = overlay.version();
        overlay.begin_subtransaction();
        overlay.abort_subtransaction();
        overlay.begin_subtransaction();
        overlay.commit_subtransaction();
        assert_eq!(overlay.version(), version);
        overlay.begin_subtransaction();
        overlay.register(change(2));
        overlay.end_command();
        let inner = overlay.version();
        assert_ne!(inner, version);
        overlay.abort_subtransaction();
        assert!(overlay.version() != version && overlay.version() != inner);
    }
}
