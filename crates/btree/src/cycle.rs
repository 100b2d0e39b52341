//! Vacuum cycle ids: a split during a vacuum of the index stores the vacuum's id in both halves, so
//! that the vacuum finds pages that may have received tuples that it has not visited.
//!
//! Counterpart: `_bt_start_vacuum`, `_bt_vacuum_cycleid` in nbtutils.c.

use ids::RelFile;
use page::btree::MAX_CYCLE_ID;
use pgerror::{Result, pg_err};
use sync::atomic::{AtomicUsize, Ordering};
use sync::{Arc, Mutex};

/// The running vacuums of B-trees; one per instance.
#[derive(Default)]
pub struct VacuumCycles {
    state: Mutex<State>,
    /// Number of running vacuums: a split takes the mutex only if it is not zero.
    active: AtomicUsize,
}

#[derive(Default)]
struct State {
    last: u16,
    running: Vec<(RelFile, u16)>,
}

impl VacuumCycles {
    /// `seed` starts the sequence. It should vary between server starts, so that an id rarely
    /// equals one that an earlier run left on pages.
    pub fn new(seed: u16) -> VacuumCycles {
        let cycles = VacuumCycles::default();
        cycles.state.lock().last = seed;
        cycles
    }

    /// The id to store in pages that are split; 0 if the index is not being vacuumed.
    pub(crate) fn current(&self, rel: RelFile) -> u16 {
        if self.active.load(Ordering::Acquire) == 0 {
            return 0;
        }
        let state = self.state.lock();
        state.running.iter().find(|r| r.0 == rel).map_or(0, |r| r.1)
    }

    pub(crate) fn start(self: &Arc<Self>, rel: RelFile, name: &str) -> Result<VacuumCycle> {
        let mut state = self.state.lock();
        if state.running.iter().any(|r| r.0 == rel) {
            return Err(pg_err!(INTERNAL_ERROR, "multiple active vacuums for index \"{name}\""));
        }
        let mut id = state.last.wrapping_add(1);
        if id == 0 || id > MAX_CYCLE_ID {
            id = 1;
        }
        state.last = id;
        state.running.push((rel, id));
        self.active.store(state.running.len(), Ordering::Release);
        Ok(VacuumCycle { cycles: self.clone(), rel, id })
    }
}

/// A running vacuum; ends when dropped.
pub(crate) struct VacuumCycle {
    cycles: Arc<VacuumCycles>,
    rel: RelFile,
    pub id: u16,
}

impl Drop for VacuumCycle {
    fn drop(&mut self) {
        let mut state = self.cycles.state.lock();
        state.running.retain(|r| r.0 != self.rel);
        self.cycles.active.store(state.running.len(), Ordering::Release);
    }
}
