//! Fast-path locks: weak locks on relations, kept in the session's own slot, and the session's
//! lock on its own virtual xid.
//!
//! Counterpart: fast-path locking in lock.c (`FastPathGrantRelationLock` and others).

use crate::LockMode;
use ids::Oid;

const SLOTS: usize = 16;

/// The fast-path locks of one session, protected by its slot's mutex. Other sessions take that
/// mutex only to transfer locks to the shared table and to read `pg_locks`.
#[derive(Default)]
pub(crate) struct FastPath {
    relations: [Oid; SLOTS],
    /// Bits 1..=3 for the weak modes; 0: the entry is free.
    modes: [u8; SLOTS],
    /// Entries from here on are free.
    used: usize,
    pub(crate) database: Oid,
    /// Local transaction number whose virtual xid is locked, 0 for none.
    pub(crate) local_xid: u32,
    /// That lock is not in the shared table (`LockManager::materialize_vxid` moves it there).
    pub(crate) vxid_is_fast: bool,
}

/// True if it is one of the three modes that do not conflict with each other.
pub(crate) const fn is_weak(mode: LockMode) -> bool {
    (mode as u8) < LockMode::ShareUpdateExclusive as u8
}

/// True if it conflicts with any weak mode. SHARE UPDATE EXCLUSIVE is neither weak nor strong.
pub(crate) const fn is_strong(mode: LockMode) -> bool {
    mode as u8 > LockMode::ShareUpdateExclusive as u8
}

const fn weak_bit(mode: LockMode) -> u8 {
    1 << mode as u8
}

impl FastPath {
    pub(crate) fn new(database: Oid) -> FastPath {
        FastPath { database, ..FastPath::default() }
    }

    /// False if all entries are in use.
    pub(crate) fn grant(&mut self, relation: Oid, mode: LockMode) -> bool {
        let mut free = None;
        for i in 0..self.used {
            if self.modes[i] == 0 {
                free = free.or(Some(i));
            } else if self.relations[i] == relation {
                self.modes[i] |= weak_bit(mode);
                return true;
            }
        }
        let at = match free {
            Some(at) => at,
            None if self.used < SLOTS => {
                self.used += 1;
                self.used - 1
            }
            None => return false,
        };
        self.relations[at] = relation;
        self.modes[at] = weak_bit(mode);
        true
    }

    /// False if the lock is not here: it was transferred to the shared table.
    pub(crate) fn ungrant(&mut self, relation: Oid, mode: LockMode) -> bool {
        for i in 0..self.used {
            if self.relations[i] == relation && self.modes[i] & weak_bit(mode) != 0 {
                self.modes[i] &= !weak_bit(mode);
                while self.used > 0 && self.modes[self.used - 1] == 0 {
                    self.used -= 1;
                }
                return true;
            }
        }
        false
    }

    /// Removes and returns all modes held on the relation.
    pub(crate) fn take(&mut self, relation: Oid) -> Vec<LockMode> {
        let modes = self.held(relation).collect::<Vec<_>>();
        for &mode in &modes {
            self.ungrant(relation, mode);
        }
        modes
    }

    pub(crate) fn held(&self, relation: Oid) -> impl Iterator<Item = LockMode> + '_ {
        self.all().filter(move |(r, _)| *r == relation).map(|(_, m)| m)
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = (Oid, LockMode)> + '_ {
        (0..self.used).flat_map(move |i| {
            LockMode::ALL[..3]
                .iter()
                .filter(move |m| self.modes[i] & weak_bit(**m) != 0)
                .map(move |m| (self.relations[i], *m))
        })
    }
}
