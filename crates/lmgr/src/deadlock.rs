//! Deadlock detection: a search for cycles in the wait-for graph. Run by a session that has waited
//! for `deadlock_timeout`, under the mutexes of all partitions.
//!
//! The graph has an edge from a waiter to each holder of a conflicting mode (hard) and to each
//! session ahead of it in the queue with a conflicting request (soft). A cycle of hard edges only
//! that contains the checking session is a deadlock: that session gets the error. If the cycle has
//! soft edges, moving a waiter ahead in its queue may break it: the search tries to reverse each
//! soft edge (and, recursively, those of the cycles that this creates), and rearranges the queues
//! if some set of reversals leaves no cycle.
//!
//! Counterpart: deadlock.c.

use crate::manager::{LockManager, ProcNo};
use crate::table::{Lock, Partition, Queued};
use crate::{LockMode, LockTag};
use pgerror::{PgError, pg_err};
use sync::MutexGuard;
use sync::atomic::Ordering;

/// One edge of a cycle, for the report.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    pub(crate) tag: LockTag,
    pub(crate) mode: LockMode,
    pub(crate) pid: i32,
}

pub(crate) enum Verdict {
    /// No cycle (any more); the session continues to wait or has been granted its lock.
    None,
    Deadlock(Vec<Step>),
}

/// `waiter` is after `blocker` in the queue of `tag`. As a constraint: `waiter` must be placed
/// ahead of `blocker`.
#[derive(Clone, Copy, PartialEq, Debug)]
struct SoftEdge {
    waiter: ProcNo,
    blocker: ProcNo,
    tag: LockTag,
}

/// A tentative order of one lock's queue.
struct Order {
    tag: LockTag,
    queue: Vec<Queued>,
}

struct Checker<'a> {
    manager: &'a LockManager,
    tables: Vec<MutexGuard<'a, Partition>>,
    /// What each session waits for, copied once: a session's wait changes only under the mutex of
    /// its lock's partition, and all of them are held.
    waits: Vec<Option<(LockTag, LockMode)>>,
    constraints: Vec<SoftEdge>,
    orders: Vec<Order>,
    visited: Vec<ProcNo>,
    steps: Vec<Step>,
    /// Queue arrangements still to be tried; at zero the search reports a deadlock.
    budget: usize,
}

/// Result of testing a tentative arrangement of the queues.
enum Test {
    NoCycle,
    /// The soft edges of one cycle; reversing one of them may break it.
    Soft(Vec<SoftEdge>),
    /// A cycle without soft edges, or contradictory constraints.
    Hard,
}

pub(crate) fn check(manager: &LockManager, proc: ProcNo) -> Verdict {
    let tables: Vec<_> = manager.partitions.iter().map(|p| p.0.lock()).collect();
    let waits: Vec<_> = manager.slots.iter().map(|s| *s.wait.lock()).collect();
    if waits[proc as usize].is_none() {
        return Verdict::None;
    }
    let mut checker = Checker {
        manager,
        tables,
        waits,
        constraints: Vec::new(),
        orders: Vec::new(),
        visited: Vec::new(),
        steps: Vec::new(),
        budget: 4 * manager.slots.len(),
    };
    if checker.is_deadlocked(proc) {
        // Search once more, on the actual queues, to collect the cycle for the report.
        checker.orders.clear();
        checker.find_cycle(proc);
        checker.withdraw(proc);
        return Verdict::Deadlock(checker.steps);
    }
    checker.rearrange();
    Verdict::None
}

impl Checker<'_> {
    fn lock(&self, tag: &LockTag) -> Option<&Lock> {
        self.tables[self.manager.partition_no(tag)].get(tag)
    }

    fn is_deadlocked(&mut self, start: ProcNo) -> bool {
        let edges = match self.test(start) {
            Test::NoCycle => return false,
            Test::Hard => return true,
            Test::Soft(edges) => edges,
        };
        for edge in edges {
            if self.budget == 0 {
                return true;
            }
            self.budget -= 1;
            self.constraints.push(edge);
            if !self.is_deadlocked(start) {
                return false;
            }
            self.constraints.pop();
        }
        true
    }

    /// Arranges the queues by the constraints and searches for cycles through `start` and through
    /// each session that a constraint names.
    fn test(&mut self, start: ProcNo) -> Test {
        if !self.expand() {
            return Test::Hard;
        }
        let mut soft = Vec::new();
        let suspects: Vec<ProcNo> =
            self.constraints.iter().flat_map(|c| [c.waiter, c.blocker]).chain([start]).collect();
        for proc in suspects {
            if let Some(edges) = self.find_cycle(proc) {
                if edges.is_empty() {
                    return Test::Hard;
                }
                soft = edges;
            }
        }
        if soft.is_empty() { Test::NoCycle } else { Test::Soft(soft) }
    }

    /// Computes `orders` from the constraints; false if they contradict each other.
    fn expand(&mut self) -> bool {
        self.orders.clear();
        for i in (0..self.constraints.len()).rev() {
            let tag = self.constraints[i].tag;
            if self.orders.iter().any(|o| o.tag == tag) {
                continue;
            }
            let Some(lock) = self.lock(&tag) else { return false };
            let Some(queue) = arrange(&lock.queue, &self.constraints, &tag) else { return false };
            self.orders.push(Order { tag, queue });
        }
        true
    }

    /// The soft edges of a cycle through `start`, if there is a cycle.
    fn find_cycle(&mut self, start: ProcNo) -> Option<Vec<SoftEdge>> {
        self.visited.clear();
        self.steps.clear();
        let mut edges = Vec::new();
        self.search(start, 0, &mut edges).then_some(edges)
    }

    fn search(&mut self, proc: ProcNo, depth: usize, edges: &mut Vec<SoftEdge>) -> bool {
        if let Some(at) = self.visited.iter().position(|p| *p == proc) {
            // A cycle without the start session is found by the check of one of its own members.
            if at == 0 {
                self.steps.truncate(depth);
            }
            return at == 0;
        }
        self.visited.push(proc);
        let Some((tag, mode)) = self.waits[proc as usize] else { return false };
        let Some(lock) = self.lock(&tag) else { return false };
        let hard: Vec<ProcNo> = lock
            .holders
            .iter()
            .filter(|h| h.proc != proc && mode.conflicts() & h.held != 0)
            .map(|h| h.proc)
            .collect();
        let order = self.orders.iter().find(|o| o.tag == tag);
        let queue = order.map_or(&lock.queue[..], |o| &o.queue[..]);
        let soft: Vec<ProcNo> = queue
            .iter()
            .take_while(|q| q.proc != proc)
            .filter(|q| mode.conflicts_with(q.mode))
            .map(|q| q.proc)
            .collect();
        self.steps.truncate(depth);
        self.steps.push(Step { tag, mode, pid: self.manager.pid(proc) });
        for holder in hard {
            if self.search(holder, depth + 1, edges) {
                return true;
            }
        }
        for blocker in soft {
            if self.search(blocker, depth + 1, edges) {
                edges.push(SoftEdge { waiter: proc, blocker, tag });
                return true;
            }
        }
        false
    }

    /// Removes the victim from its queue, still under all partition mutexes: otherwise another
    /// member of the cycle could detect it too and also fail.
    fn withdraw(&mut self, proc: ProcNo) {
        let Some((tag, _)) = self.waits[proc as usize] else { return };
        if let Some(lock) = self.tables[self.manager.partition_no(&tag)].get_mut(&tag) {
            lock.dequeue(proc);
            lock.wake(&self.manager.slots);
        }
        self.manager.slots[proc as usize].end_wait();
    }

    /// Applies the queue orders that break the cycle.
    fn rearrange(&mut self) {
        for order in std::mem::take(&mut self.orders) {
            let no = self.manager.partition_no(&order.tag);
            if let Some(lock) = self.tables[no].get_mut(&order.tag) {
                lock.queue = order.queue;
                lock.wake(&self.manager.slots);
            }
        }
    }
}

/// A topological sort: the queue with each constraint's waiter before its blocker, otherwise in
/// its former order as far as possible; `None` if the constraints form a cycle. Built from the
/// back.
fn arrange(queue: &[Queued], constraints: &[SoftEdge], tag: &LockTag) -> Option<Vec<Queued>> {
    let mut left: Vec<Queued> = queue.to_vec();
    let mut out = Vec::with_capacity(left.len());
    while !left.is_empty() {
        let at = (0..left.len()).rev().find(|&i| {
            !constraints.iter().any(|c| {
                c.tag == *tag
                    && c.waiter == left[i].proc
                    && left.iter().any(|q| q.proc == c.blocker)
            })
        })?;
        out.push(left.remove(at));
    }
    out.reverse();
    Some(out)
}

pub(crate) fn error(steps: &[Step]) -> PgError {
    let lines: Vec<String> = steps
        .iter()
        .enumerate()
        .map(|(i, step)| {
            let next = &steps[(i + 1) % steps.len()];
            format!(
                "Process {} waits for {} on {}; blocked by process {}.",
                step.pid,
                step.mode.name(),
                step.tag,
                next.pid
            )
        })
        .collect();
    pg_err!(T_R_DEADLOCK_DETECTED, "deadlock detected")
        .detail(lines.join("\n"))
        .hint("See server log for query details.")
}

impl LockManager {
    pub(crate) fn pid(&self, proc: ProcNo) -> i32 {
        self.slots[proc as usize].pid.load(Ordering::Relaxed)
    }
}
