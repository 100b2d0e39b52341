//! The open large objects of a transaction, which SQL functions know by a number.
//!
//! A descriptor belongs to the subtransaction that opened it: it is closed when that is rolled
//! back, and belongs to the parent when that is committed. All are closed at the end of the
//! transaction.
//!
//! Counterpart: the `cookies` of libpq/be-fsstubs.c.

use crate::object::LargeObject;
use ids::Oid;
use pgerror::{Result, pg_err};
use values::memory;

struct Descriptor {
    object: LargeObject,
    /// Nesting level of the subtransaction.
    level: usize,
}

/// The descriptors by number. They contain snapshots, and are cleared before the transaction ends.
#[derive(Default)]
pub struct Descriptors {
    slots: Vec<Option<Descriptor>>,
}

impl Descriptors {
    /// The number of a new descriptor: the smallest unused one.
    pub fn add(&mut self, object: LargeObject, level: usize) -> Result<i32> {
        let descriptor = Some(Descriptor { object, level });
        if let Some(free) = self.slots.iter().position(Option::is_none) {
            self.slots[free] = descriptor;
            return Ok(free as i32);
        }
        memory::reserve(&mut self.slots, 1)?;
        self.slots.push(descriptor);
        Ok(self.slots.len() as i32 - 1)
    }

    fn slot(&mut self, number: i32) -> Option<&mut Option<Descriptor>> {
        let at = usize::try_from(number).ok()?;
        self.slots.get_mut(at).filter(|slot| slot.is_some())
    }

    /// The object of a descriptor. Error 42704 if there is no such descriptor.
    pub fn get(&mut self, number: i32) -> Result<&mut LargeObject> {
        let found = self.slot(number).and_then(Option::as_mut);
        found
            .map(|d| &mut d.object)
            .ok_or_else(|| pg_err!(UNDEFINED_OBJECT, "invalid large-object descriptor: {number}"))
    }

    /// Closes a descriptor. Error 42704 if there is no such descriptor.
    pub fn close(&mut self, number: i32) -> Result<()> {
        self.get(number)?;
        if let Some(slot) = self.slot(number) {
            *slot = None;
        }
        Ok(())
    }

    fn close_if(&mut self, mut closes: impl FnMut(&Descriptor) -> bool) {
        for slot in &mut self.slots {
            if slot.as_ref().is_some_and(&mut closes) {
                *slot = None;
            }
        }
    }

    /// Closes all descriptors of an object.
    pub fn close_object(&mut self, oid: Oid) {
        self.close_if(|d| d.object.oid == oid);
    }

    /// Called when the subtransaction at this nesting level commits.
    pub fn commit_level(&mut self, level: usize) {
        for d in self.slots.iter_mut().flatten() {
            d.level = d.level.min(level - 1);
        }
    }

    /// Called when the subtransaction at this nesting level is rolled back.
    pub fn abort_level(&mut self, level: usize) {
        self.close_if(|d| d.level >= level);
    }

    /// Called before the transaction ends.
    pub fn clear(&mut self) {
        self.slots.clear();
    }
}
