//! The cost-based delay of VACUUM.

use super::VacuumOptions;
use bufmgr::BufferUsage;
use pgerror::Result;
use std::cell::Cell;
use std::time::Duration;
use sync::Arc;
use sync::atomic::{AtomicU32, Ordering};
use sync::wait::{Deadline, WaitEvent, Waiter};

/// Sleeps when the pages used since the last sleep have cost enough. Counterpart:
/// `vacuum_delay_point`.
pub(super) struct Delay {
    waiter: Arc<Waiter>,
    span: Duration,
    limit: Arc<AtomicU32>,
    /// Costs of a page that was in the pool, one that was read, and one that became dirty.
    page_costs: [u64; 3],
    /// The cost of the session up to the last sleep; `None` before the first page.
    paid: Cell<Option<u64>>,
}

impl Delay {
    pub(super) fn new(waiter: &Arc<Waiter>, options: &VacuumOptions) -> Delay {
        Delay {
            waiter: waiter.clone(),
            span: options.cost_delay,
            limit: options.cost_limit.clone(),
            page_costs: options.page_costs,
            paid: Cell::new(None),
        }
    }

    /// No more sleeps: the failsafe is on.
    pub(super) fn switch_off(&mut self) {
        self.span = Duration::ZERO;
    }

    pub(super) fn is_off(&self) -> bool {
        self.span.is_zero()
    }

    /// Sleeps if `used`, all that the session has used since it began, has cost enough. The caller
    /// checks for interrupts afterwards.
    pub(super) fn point(&self, used: &BufferUsage) -> Result<()> {
        if self.is_off() {
            return Ok(());
        }
        let [hit, read, dirtied] = self.page_costs;
        let cost = used.hit * hit + used.read * read + used.dirtied * dirtied;
        // What the session has used before this VACUUM costs nothing.
        let paid = self.paid.get().unwrap_or(cost);
        let balance = cost.saturating_sub(paid);
        let limit = u64::from(self.limit.load(Ordering::Relaxed).max(1));
        if balance < limit {
            self.paid.set(Some(paid));
            return Ok(());
        }
        self.paid.set(Some(cost));
        let span = self.span.mul_f64(balance as f64 / limit as f64).min(self.span * 4);
        self.waiter.park(WaitEvent::VacuumDelay, Deadline::after(span));
        Ok(())
    }
}
