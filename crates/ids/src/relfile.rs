//! Names of relation files. Counterpart: storage/relfilenode.h, common/relpath.h.

use crate::Oid;
use crate::builtin::tablespace;
use std::fmt;

/// The identity of a relation's files: tablespace, database (0 for shared relations), relfilenode.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct RelFile {
    pub tablespace: Oid,
    pub database: Oid,
    pub relnumber: Oid,
}

impl RelFile {
    /// `pg_default`: files under `base/<database>/`.
    pub const DEFAULT_TABLESPACE: Oid = tablespace::DEFAULT;
    /// `pg_global`: files under `global/`.
    pub const GLOBAL_TABLESPACE: Oid = tablespace::GLOBAL;

    pub const fn new(tablespace: Oid, database: Oid, relnumber: Oid) -> RelFile {
        RelFile { tablespace, database, relnumber }
    }

    /// Path of the fork's first segment below the data directory; `backend` for temporary
    /// relations.
    pub fn path(&self, fork: Fork, backend: Option<BackendNo>) -> String {
        let temp = backend.map_or(String::new(), |b| format!("t{}_", b.0));
        let file = format!("{temp}{}{}", self.relnumber, fork.suffix());
        match self.tablespace {
            Self::GLOBAL_TABLESPACE => format!("global/{file}"),
            Self::DEFAULT_TABLESPACE => format!("base/{}/{file}", self.database),
            other => format!("pg_tblspc/{other}/PG_15_202209061/{}/{file}", self.database),
        }
    }
}

impl fmt::Display for RelFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}", self.tablespace, self.database, self.relnumber)
    }
}

/// A session's slot number, as it appears in the names of temporary relations' files.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct BackendNo(pub u32);

/// The forks of a relation. The discriminants are those in WAL records.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(u8)]
pub enum Fork {
    Main = 0,
    Fsm = 1,
    Vm = 2,
    Init = 3,
}

impl Fork {
    pub const ALL: [Fork; 4] = [Fork::Main, Fork::Fsm, Fork::Vm, Fork::Init];

    /// The fork with this number in a WAL record.
    pub const fn from_u8(n: u8) -> Option<Fork> {
        match n {
            0 => Some(Fork::Main),
            1 => Some(Fork::Fsm),
            2 => Some(Fork::Vm),
            3 => Some(Fork::Init),
            _ => None,
        }
    }

    /// The suffix after the relfilenode in the file's name.
    pub const fn suffix(self) -> &'static str {
        match self {
            Fork::Main => "",
            Fork::Fsm => "_fsm",
            Fork::Vm => "_vm",
            Fork::Init => "_init",
        }
    }
}
