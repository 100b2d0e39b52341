//! Weak locks on relations, kept in the session's own slot; and the lock on the own virtual xid.
//! Counterpart: "fast-path locking" in lock.c and storage/lmgr/README.

use crate::LockMode;
use ids::Oid;

const SLOTS: usize = 16;

/// Under the slot's mutex, which only its session takes in normal operation.
#[derive(Default)]
pub(crate) struct FastPath {
    relations: [Oid; SLOTS],
    /// Bits 1..=3 for the weak modes; 0: the place is free.
    modes: [u8; SLOTS],
    used: usize,
    pub(crate) database: Oid,
    /// Local transaction number whose virtual xid is locked, 0 for none.
    pub(crate) local_xid: u32,
    /// That lock is not (yet) in the shared table.
    pub(crate) vxid_is_fast: bool,
}

/// Is it one of the modes that do not conflict among each other?
pub(crate) const fn is_weak(mode: LockMode) -> bool {
    (mode as u8) < LockMode::ShareUpdateExclusive as u8
}

/// Does it conflict with a weak mode?
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

    /// False if all places are taken.
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

    /// False if the lock is not here (any more).
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

    /// Takes out all modes held on the relation.
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
