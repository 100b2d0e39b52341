//! Insertion slots: the positions up to which concurrent inserters have copied their records, from
//! which a flush derives up to where the log is complete.
//!
//! An inserter claims a slot *before* it reserves space, publishes the position up to which it has
//! copied (at first the start of its record), and frees the slot when the whole record is copied. A
//! thread that reads the reserved position and then scans the slots therefore sees every inserter
//! that reserved before (memory order: `README.md` of this crate).
//!
//! Counterpart: WALInsertLock and WaitXLogInsertionsToFinish in xlog.c.

use ids::Lsn;
use sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};
use sync::atomic::{AtomicU64, spin_loop};

/// Not claimed.
const FREE: u64 = 0;
/// Claimed, start of the record not known yet.
const UNKNOWN: u64 = 1;

/// On a cache line of its own.
#[repr(align(128))]
struct Slot {
    /// `FREE`, `UNKNOWN`, or the position before which the holder's bytes are copied.
    position: AtomicU64,
    /// Start of the last record inserted through this slot that is not marked unimportant.
    last_important: AtomicU64,
    /// Counters of the records inserted through this slot. Only the holder changes them.
    records: AtomicU64,
    images: AtomicU64,
    bytes: AtomicU64,
}

pub(crate) struct Slots {
    slots: Box<[Slot]>,
    next: AtomicU64,
}

/// A claimed slot, freed on drop.
pub(crate) struct Claim<'a> {
    slot: &'a Slot,
    pub index: usize,
}

impl Slots {
    pub(crate) fn new(count: usize) -> Slots {
        let zero = || AtomicU64::new(0);
        let slot = || Slot {
            position: AtomicU64::new(FREE),
            last_important: zero(),
            records: zero(),
            images: zero(),
            bytes: zero(),
        };
        Slots { slots: (0..count).map(|_| slot()).collect(), next: AtomicU64::new(0) }
    }

    /// Claims a slot: `hint` if that is free, else the next free one.
    pub(crate) fn claim(&self, hint: usize) -> Claim<'_> {
        let count = self.slots.len();
        let mut index = hint;
        if index >= count {
            index = self.next.fetch_add(1, Relaxed) as usize % count;
        }
        let mut tries = 0;
        loop {
            let slot = &self.slots[index];
            // SeqCst: the claim precedes the reservation in the single total order.
            if slot.position.load(Relaxed) == FREE
                && slot.position.compare_exchange(FREE, UNKNOWN, SeqCst, Relaxed).is_ok()
            {
                return Claim { slot, index };
            }
            index = (index + 1) % count;
            tries += 1;
            if tries % count == 0 {
                sync::yield_now();
            }
        }
    }

    /// Waits until everything before `upto` is copied. `reserved` is the reserved position, read
    /// before the call. Returns the position up to which the log is complete, at least `upto`.
    ///
    /// LOCK ORDER: the caller holds no lock that an inserter may wait for.
    pub(crate) fn wait_complete(&self, upto: Lsn, reserved: Lsn) -> Lsn {
        let mut complete = reserved;
        for slot in &self.slots {
            let mut spins = 0;
            loop {
                match slot.position.load(SeqCst) {
                    FREE => break,
                    position if position != UNKNOWN && position >= upto.0 => {
                        complete = complete.min(Lsn(position));
                        break;
                    }
                    _ => {}
                }
                spins += 1;
                if spins < 64 {
                    spin_loop();
                } else {
                    sync::yield_now();
                }
            }
        }
        complete
    }

    /// Records, images and bytes inserted so far.
    pub(crate) fn counts(&self) -> (u64, u64, u64) {
        self.slots.iter().fold((0, 0, 0), |(records, images, bytes), slot| {
            (
                records + slot.records.load(Relaxed),
                images + slot.images.load(Relaxed),
                bytes + slot.bytes.load(Relaxed),
            )
        })
    }

    pub(crate) fn last_important(&self) -> Lsn {
        Lsn(self.slots.iter().map(|slot| slot.last_important.load(Acquire)).max().unwrap_or(0))
    }
}

impl Claim<'_> {
    /// The holder's bytes before `position` are copied.
    pub(crate) fn publish(&self, position: Lsn) {
        self.slot.position.store(position.0, Release);
    }

    pub(crate) fn note_important(&self, start: Lsn) {
        self.slot.last_important.store(start.0, Release);
    }
}

impl Claim<'_> {
    /// Counts a record.
    pub(crate) fn count(&self, images: u32, bytes: usize) {
        // Only the holder writes these counters, so the addition need not be atomic.
        let add = |counter: &AtomicU64, n: u64| counter.store(counter.load(Relaxed) + n, Relaxed);
        add(&self.slot.records, 1);
        add(&self.slot.images, u64::from(images));
        add(&self.slot.bytes, bytes as u64);
    }
}

impl Drop for Claim<'_> {
    fn drop(&mut self) {
        self.slot.position.store(FREE, Release);
    }
}
