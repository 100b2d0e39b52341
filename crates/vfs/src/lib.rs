//! Files, the clock and randomness behind traits, so that tests run the production code on a disk
//! that loses writes, tears them, fails and fills up.
//!
//! Paths are text relative to the data directory ("base/5/1259"); absolute paths are allowed
//! (tablespaces). Reading order: `disk` (the traits), `direct`, `os`, `mem` (the crashable disk),
//! `durable` (rename and remove that survive a crash), `clock`, `random`, `machine` (memory),
//! `process`, `program`, `locale`, `error`.

mod clock;
mod direct;
mod disk;
mod durable;
mod error;
pub mod locale;
mod machine;
mod mem;
mod os;
pub mod process;
pub mod program;
mod random;
pub mod terminal;
pub mod zoneinfo;

pub use clock::{Clock, ManualClock, SystemClock};
pub use direct::DirectBuffer;
pub use disk::{DIRECT_ALIGN, DirEntry, Disk, File, FileKind, OpenMode, Stat};
pub use durable::{
    create_dir_all, durable_rename, durable_unlink, exists, parent, read_file, remove_tree,
    remove_tree_best_effort, replace_file, write_file,
};
pub use error::{io_error, io_error_with, sqlstate_for, strerror};
pub use machine::MachineMemory;
pub use mem::{MemDisk, Op};
pub use os::OsDisk;
pub use random::{OsRandom, Random, SeededRandom};

pub use std::io::{IoSlice, IoSliceMut};

use sync::Arc;

/// The server's environment: disk, clock and randomness.
#[derive(Clone)]
pub struct Env {
    pub disk: Arc<dyn Disk>,
    pub clock: Arc<dyn Clock>,
    pub random: Arc<dyn Random>,
}

impl Env {
    /// The operating system's, with `root` as the data directory.
    pub fn os(root: impl Into<std::path::PathBuf>) -> Env {
        Env {
            disk: Arc::new(OsDisk::new(root)),
            clock: Arc::new(SystemClock::new()),
            random: Arc::new(OsRandom),
        }
    }

    /// In memory: an empty disk, a manual clock, seeded randomness.
    pub fn memory(seed: u64) -> Env {
        Env {
            disk: Arc::new(MemDisk::new()),
            clock: Arc::new(ManualClock::new()),
            random: Arc::new(SeededRandom::new(seed)),
        }
    }
}
