//! Checks for interrupts by the amount of work: compiling or running a pattern may take long, and
//! the cost of single steps differs by a factor of thousands.

use pgerror::Result;
use std::cell::Cell;

/// Units of work between two checks. A unit takes a few nanoseconds.
const WORK_MAX: u32 = 4096;

/// Counts units of work and, after every [`WORK_MAX`] of them, checks whether the query was
/// cancelled or uses too much memory.
pub(super) struct WorkCounter<'a> {
    pub interrupts: &'a dyn Fn() -> Result<()>,
    work: Cell<u32>,
}

impl<'a> WorkCounter<'a> {
    /// A counter that calls `interrupts` for its checks.
    pub fn new(interrupts: &'a dyn Fn() -> Result<()>) -> WorkCounter<'a> {
        WorkCounter { interrupts, work: Cell::new(0) }
    }

    /// Counts `units` of work. Fails if the query was cancelled.
    #[inline]
    pub fn add(&self, units: usize) -> Result<()> {
        let work = self.work.get().saturating_add(u32::try_from(units).unwrap_or(u32::MAX));
        self.work.set(work);
        if work >= WORK_MAX { self.check() } else { Ok(()) }
    }

    /// Checks for interrupts at once.
    #[cold]
    pub fn check(&self) -> Result<()> {
        self.work.set(0);
        (self.interrupts)()
    }
}
