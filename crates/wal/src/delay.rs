//! Code sections that a checkpoint waits for.
//!
//! A section increments the counter of the current phase, 0 or 1, on one of a few cache lines. A
//! checkpoint switches the phase and waits until the counters of the old phase are zero: these are
//! the sections that began before. Sections that begin later do not hold it up.
//!
//! Counterpart: DELAY_CHKPT_START and DELAY_CHKPT_COMPLETE in proc.h.

use sync::Mutex;
use sync::atomic::Ordering::SeqCst;
use sync::atomic::{AtomicU32, AtomicUsize};

const LINES: usize = 16;

#[repr(align(128))]
struct Line {
    count: [AtomicU32; 2],
}

pub(crate) struct Delays {
    phase: AtomicUsize,
    lines: Box<[Line]>,
    /// One checkpoint waits at a time.
    waiting: Mutex<()>,
}

/// Ends the section that delays a checkpoint when dropped.
pub struct DelayGuard<'a> {
    count: &'a AtomicU32,
}

impl Delays {
    pub(crate) fn new() -> Delays {
        let line = || Line { count: [AtomicU32::new(0), AtomicU32::new(0)] };
        Delays {
            phase: AtomicUsize::new(0),
            lines: (0..LINES).map(|_| line()).collect(),
            waiting: Mutex::new(()),
        }
    }

    /// Begins a section.
    pub(crate) fn enter(&self) -> DelayGuard<'_> {
        // The addresses of threads' stacks differ: a cheap way to spread threads over the lines.
        let here = 0u8;
        let line = &self.lines[(std::ptr::from_ref(&here).addr() >> 16) % LINES];
        loop {
            let phase = self.phase.load(SeqCst) & 1;
            let count = &line.count[phase];
            count.fetch_add(1, SeqCst);
            // If the phase has been switched before the increment, a checkpoint may have missed it:
            // try again.
            if self.phase.load(SeqCst) & 1 == phase {
                return DelayGuard { count };
            }
            count.fetch_sub(1, SeqCst);
        }
    }

    /// Waits for all sections that began before. `pause` is called between two reads of the
    /// counters.
    pub(crate) fn wait(&self, mut pause: impl FnMut()) {
        let _one = self.waiting.lock();
        let old = self.phase.fetch_add(1, SeqCst) & 1;
        while self.lines.iter().any(|line| line.count[old].load(SeqCst) != 0) {
            pause();
        }
    }
}

impl Drop for DelayGuard<'_> {
    fn drop(&mut self) {
        self.count.fetch_sub(1, SeqCst);
    }
}
