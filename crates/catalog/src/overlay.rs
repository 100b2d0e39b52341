//! What one transaction sees differently from all others: the keys and relations that it has
//! changed, its own entries for them, and the invalidation messages that go out at commit.
//!
//! A change marks the keys of the old and the new row as dirty at once; entries in the overlay are
//! forgotten at the end of the command that made the change, when it becomes visible. At abort of a
//! subtransaction the keys stay dirty: that costs a look-up and is never wrong. Counterpart:
//! inval.c.

use crate::cache::{Found, Key, Table};
use crate::inval::Message;
use crate::relcache::RelDesc;
use hashbrown::{HashMap, HashSet};
use ids::Oid;
use sync::Arc;

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
    /// Lengths of `prior` where the open subtransactions began.
    marks: Vec<usize>,
    /// Values that the transaction has added to enum types.
    new_enum_values: HashSet<Oid>,
    /// Raised by each change, and again when it becomes visible or is undone. Never lowered.
    version: u64,
}

impl Overlay {
    /// Has the transaction changed no catalog?
    pub fn is_clean(&self) -> bool {
        self.dirty.is_empty() && self.dirty_relations.is_empty() && !self.all_relations
    }

    /// The number of the state in which the session's own changes are; 0 without changes. Each
    /// change gives a new number, and what was derived from the catalogs before is then stale.
    pub fn version(&self) -> u64 {
        if self.is_clean() { 0 } else { self.version }
    }

    /// Notes that a value was added to an enum type: an index could keep it although the
    /// transaction fails, so nobody may use it before the commit.
    pub fn note_new_enum_value(&mut self, value: Oid) {
        self.new_enum_values.insert(value);
    }

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

    /// Has the transaction changed an index of the relation, its TOAST table or that one's index?
    pub(crate) fn is_part_dirty(&self, desc: &RelDesc) -> bool {
        self.dirty_relations.iter().any(|&r| desc.holds(r))
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

    /// The command's changes become visible: forgets entries made from what was before.
    pub fn end_command(&mut self) {
        if self.current.is_empty() {
            return;
        }
        self.version += 1;
        let messages = std::mem::take(&mut self.current);
        self.forget(&messages);
        self.prior.extend(messages);
    }

    fn forget(&mut self, messages: &[Message]) {
        for message in messages {
            match *message {
                Message::CatCache { cache, hash, .. } => {
                    self.rows.remove(cache, hash);
                    self.lists.remove_cache(cache);
                }
                Message::RelCache { relation, .. } if relation.is_valid() => {
                    self.relations.remove(&relation);
                    self.relations.retain(|_, d| !d.holds(relation));
                }
                Message::RelCache { .. } => self.relations.clear(),
                Message::Catalog { .. } => {
                    self.rows.clear();
                    self.lists.clear();
                }
                _ => {}
            }
        }
    }

    pub fn begin_subtransaction(&mut self) {
        self.end_command();
        self.marks.push(self.prior.len());
    }

    pub fn commit_subtransaction(&mut self) {
        self.end_command();
        self.marks.pop();
    }

    /// Entries made since the subtransaction began are forgotten, and its messages not sent.
    pub fn abort_subtransaction(&mut self) {
        self.end_command();
        let from = self.marks.pop().unwrap_or(0);
        let undone = self.prior.split_off(from);
        self.version += 1;
        self.forget(&undone);
    }

    /// All messages of the transaction, for the commit record and for publication.
    pub fn messages(&mut self) -> Vec<Message> {
        self.end_command();
        self.prior.clone()
    }

    /// Commit (after publication) or abort: nothing is left.
    pub fn end_transaction(&mut self) {
        if self.is_clean() && self.prior.is_empty() && self.current.is_empty() {
            return;
        }
        *self = Overlay { version: self.version, ..Overlay::default() };
    }
}
