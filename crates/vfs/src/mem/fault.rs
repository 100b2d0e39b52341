//! Fault injection: which calls fail.

use super::os_error;
use std::io;
use sync::Mutex;
use sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Kinds of calls.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Op {
    Open,
    Read,
    Write,
    Sync,
    SyncDir,
    Truncate,
    Allocate,
    Rename,
    Unlink,
    CreateDir,
    RemoveDir,
    List,
    Stat,
    Symlink,
    FlushHint,
}

impl Op {
    /// True if it changes contents or names, or makes changes durable.
    pub(super) const fn changes(self) -> bool {
        !matches!(self, Op::Open | Op::Read | Op::List | Op::Stat | Op::FlushHint)
    }
}

const OPS: usize = Op::FlushHint as usize + 1;

/// In place of an errno: the write is short.
pub(super) const SHORT: i32 = -1;

#[derive(PartialEq, Eq, Debug)]
pub(super) enum Verdict {
    Go,
    Short,
}

#[derive(Debug)]
struct Fault {
    op: Op,
    part: String,
    /// Calls until the fault, itself included; `None`: every call fails.
    countdown: Option<u64>,
    errno: i32,
}

#[derive(Default)]
pub(super) struct Faults {
    off: AtomicBool,
    counts: [AtomicU64; OPS],
    any: AtomicBool,
    planned: Mutex<Vec<Fault>>,
    /// Substrings of paths whose syncs do nothing.
    unsynced: Mutex<Vec<String>>,
}

impl Faults {
    pub(super) fn power_off(&self) {
        self.off.store(true, Ordering::SeqCst);
    }

    pub(super) fn count(&self, op: Op) -> u64 {
        self.counts[op as usize].load(Ordering::Relaxed)
    }

    pub(super) fn fail_nth(&self, op: Op, part: &str, n: u64, errno: i32) {
        assert!(n > 0, "calls are counted from 1");
        self.plan(Fault { op, part: part.to_owned(), countdown: Some(n), errno });
    }

    pub(super) fn fail_all(&self, op: Op, part: &str, errno: i32) {
        self.plan(Fault { op, part: part.to_owned(), countdown: None, errno });
    }

    fn plan(&self, fault: Fault) {
        self.planned.lock().push(fault);
        self.any.store(true, Ordering::SeqCst);
    }

    pub(super) fn ignore_sync(&self, part: &str) {
        self.unsynced.lock().push(part.to_owned());
    }

    pub(super) fn ignores_sync(&self, path: &str) -> bool {
        self.unsynced.lock().iter().any(|part| path.contains(part.as_str()))
    }

    pub(super) fn has_planned(&self) -> bool {
        !self.planned.lock().is_empty()
    }

    pub(super) fn clear(&self) {
        self.planned.lock().clear();
        self.any.store(false, Ordering::SeqCst);
    }

    /// Counts the call and returns its outcome.
    pub(super) fn check(&self, op: Op, path: &str) -> io::Result<Verdict> {
        self.counts[op as usize].fetch_add(1, Ordering::Relaxed);
        if self.off.load(Ordering::SeqCst) {
            return Err(os_error(libc::EIO));
        }
        if !self.any.load(Ordering::SeqCst) {
            return Ok(Verdict::Go);
        }
        let mut planned = self.planned.lock();
        let mut hit = None;
        for (i, fault) in planned.iter_mut().enumerate() {
            if fault.op != op || !path.contains(&fault.part) {
                continue;
            }
            match &mut fault.countdown {
                None => hit = hit.or(Some((i, fault.errno, false))),
                Some(n) => {
                    *n -= 1;
                    if *n == 0 {
                        hit = Some((i, fault.errno, true));
                        break;
                    }
                }
            }
        }
        match hit {
            None => Ok(Verdict::Go),
            Some((i, errno, once)) => {
                if once {
                    planned.remove(i);
                }
                if errno == SHORT { Ok(Verdict::Short) } else { Err(os_error(errno)) }
            }
        }
    }
}
