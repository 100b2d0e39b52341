//! The running workers of an instance: the databases and tables that they process, and the limits
//! of their costs.
//!
//! INVARIANT: a worker claims a table before it looks at the table's counters.

use crate::options::Costs;
use ids::Oid;
use stats::Key;
use stats::thresholds::balanced_limit;
use sync::atomic::{AtomicU32, Ordering};
use sync::{Arc, Mutex};

struct Running {
    number: u64,
    database: Oid,
    table: Option<Key>,
    costs: Option<Costs>,
    /// The cost limit at present, which the work on a table reads.
    limit: Arc<AtomicU32>,
}

#[derive(Default)]
struct List {
    running: Vec<Running>,
    next: u64,
}

/// The list of running workers.
#[derive(Default)]
pub struct Workers(Mutex<List>);

/// An entry in the list, which is removed when this is dropped.
pub struct Worker {
    workers: Arc<Workers>,
    number: u64,
}

impl Workers {
    /// Adds a worker for a database, if fewer than `max` are running.
    pub fn enter(self: &Arc<Self>, database: Oid, max: usize) -> Option<Worker> {
        let mut list = self.0.lock();
        if list.running.len() >= max {
            return None;
        }
        list.next += 1;
        let number = list.next;
        let limit = Arc::default();
        list.running.push(Running { number, database, table: None, costs: None, limit });
        Some(Worker { workers: self.clone(), number })
    }

    /// True if no worker can be added.
    pub fn is_full(&self, max: usize) -> bool {
        self.0.lock().running.len() >= max
    }

    pub fn is_running_in(&self, database: Oid) -> bool {
        self.0.lock().running.iter().any(|worker| worker.database == database)
    }
}

impl Worker {
    /// Claims a table. False if another worker processes it.
    pub(crate) fn claim(&self, table: Key) -> bool {
        let mut list = self.workers.0.lock();
        if list.running.iter().any(|w| w.number != self.number && w.table == Some(table)) {
            return false;
        }
        list.of(self.number, |own| own.table = Some(table));
        true
    }

    /// Sets the costs of the claimed table. Returns the limit, which changes with the other
    /// workers. `server`: the delay in milliseconds and the limit of the settings.
    pub(crate) fn set_costs(&self, costs: Costs, server: (f64, i64)) -> Arc<AtomicU32> {
        let mut list = self.workers.0.lock();
        let mut limit = Arc::default();
        list.of(self.number, |own| {
            own.costs = Some(costs);
            own.limit.store(u32::try_from(costs.limit).unwrap_or(u32::MAX), Ordering::Relaxed);
            limit = own.limit.clone();
        });
        list.balance(server);
        limit
    }

    /// Ends the work on the claimed table.
    pub(crate) fn release(&self, server: (f64, i64)) {
        let mut list = self.workers.0.lock();
        list.of(self.number, |own| (own.table, own.costs) = (None, None));
        list.balance(server);
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.workers.0.lock().running.retain(|worker| worker.number != self.number);
    }
}

impl List {
    fn of(&mut self, number: u64, change: impl FnOnce(&mut Running)) {
        if let Some(own) = self.running.iter_mut().find(|worker| worker.number == number) {
            change(own);
        }
    }

    fn balance(&self, (delay, limit): (f64, i64)) {
        let shared = || {
            let costs = self.running.iter().filter_map(|worker| Some((worker, worker.costs?)));
            costs.filter(|(_, costs)| costs.is_balanced)
        };
        let all: Vec<_> = shared().map(|(_, costs)| (costs.delay_ms, costs.limit)).collect();
        for (worker, costs) in shared() {
            let own = balanced_limit((costs.delay_ms, costs.limit), &all, delay, limit);
            worker.limit.store(u32::try_from(own).unwrap_or(u32::MAX), Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workers_claim_tables_and_share_the_limit() {
        let workers = Arc::new(Workers::default());
        let first = workers.enter(Oid(5), 2).expect("there is room");
        let second = workers.enter(Oid(5), 2).expect("there is room");
        assert!(workers.enter(Oid(6), 2).is_none());
        let table = Key { database: Oid(5), object: Oid(16384) };
        assert!(first.claim(table));
        assert!(!second.claim(table));
        let costs = Costs { delay_ms: 2.0, limit: 200, is_balanced: true };
        let one = first.set_costs(costs, (2.0, 200));
        assert_eq!(one.load(Ordering::Relaxed), 200);
        let other = Key { database: Oid(5), object: Oid(16385) };
        assert!(second.claim(other));
        let two = second.set_costs(costs, (2.0, 200));
        assert_eq!((one.load(Ordering::Relaxed), two.load(Ordering::Relaxed)), (100, 100));
        first.release((2.0, 200));
        assert_eq!(two.load(Ordering::Relaxed), 200);
        assert!(second.claim(table));
        drop(second);
        assert!(workers.is_running_in(Oid(5)) && !workers.is_full(2));
    }
}
