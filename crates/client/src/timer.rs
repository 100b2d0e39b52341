//! Timeouts: a thread, started with the first timer, raises interrupts at their deadlines.
//! Counterpart: utils/misc/timeout.c.

use std::collections::BTreeMap;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};
use sync::wait::{Interrupt, Waiter};
use sync::{Condvar, Mutex};

#[derive(Default)]
struct Queue {
    due: BTreeMap<(Instant, u64), (Arc<Waiter>, Interrupt)>,
    next: u64,
    running: bool,
}

/// The timers of an instance.
pub struct Timers {
    queue: Mutex<Queue>,
    changed: Condvar,
    me: Weak<Timers>,
}

/// A running timeout. Dropping it cancels it.
pub struct Timer {
    timers: Arc<Timers>,
    key: (Instant, u64),
    waiter: Arc<Waiter>,
    interrupt: Interrupt,
}

impl Timers {
    pub fn new() -> Arc<Timers> {
        Arc::new_cyclic(|me| Timers {
            queue: Mutex::new(Queue::default()),
            changed: Condvar::new(),
            me: me.clone(),
        })
    }

    /// Raises `interrupt` after `span`. `None` if the clock cannot represent that time, or the
    /// thread cannot be started.
    pub fn start(
        &self,
        span: Duration,
        waiter: &Arc<Waiter>,
        interrupt: Interrupt,
    ) -> Option<Timer> {
        let timers = self.me.upgrade()?;
        let at = Instant::now().checked_add(span)?;
        let mut queue = self.queue.lock();
        if !queue.running {
            let me = self.me.clone();
            sync::spawn_with_stack("timer", 256 << 10, move || run(&me)).ok()?;
            queue.running = true;
        }
        queue.next += 1;
        let key = (at, queue.next);
        let first = queue.due.first_key_value().is_none_or(|(k, _)| key < *k);
        queue.due.insert(key, (waiter.clone(), interrupt));
        drop(queue);
        if first {
            self.changed.notify_one();
        }
        Some(Timer { timers, key, waiter: waiter.clone(), interrupt })
    }
}

fn run(timers: &Weak<Timers>) {
    while let Some(timers) = timers.upgrade() {
        let mut queue = timers.queue.lock();
        let now = Instant::now();
        while let Some(entry) = queue.due.first_entry()
            && entry.key().0 <= now
        {
            let (waiter, interrupt) = entry.remove();
            waiter.raise(interrupt);
        }
        // The wait is limited, so that the thread detects that the instance has been dropped.
        let idle = Duration::from_secs(1);
        let wait = queue.due.first_key_value().map_or(idle, |((at, _), _)| idle.min(*at - now));
        let _ = timers.changed.wait_for(&mut queue, wait);
    }
}

impl Drop for Timer {
    fn drop(&mut self) {
        let taken = self.timers.queue.lock().due.remove(&self.key);
        if taken.is_none() {
            // The interrupt was raised. The statement is over, so it is cleared.
            self.waiter.take_one(self.interrupt);
        }
    }
}
