//! Prewarming: loads a part of a relation into memory.
//!
//! Counterpart: pg_prewarm.c.

use crate::backend::Backend;
use bufmgr::Strategy;
use ids::{BlockNo, Fork, Persistence, RelFile};
use pgerror::Result;
use std::io::IoSliceMut;

/// The memory into which the blocks are loaded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mode {
    /// Asynchronously into the cache of the operating system.
    Prefetch,
    /// Synchronously into the cache of the operating system.
    Read,
    /// Into the buffer pool.
    Buffer,
}

/// Number of blocks between two checks for interrupts.
const STEP: u32 = 32;

/// Number of blocks of the relation's fork; `None` if the relation has no such fork.
pub fn blocks(
    backend: &Backend,
    file: RelFile,
    fork: Fork,
    persistence: Persistence,
) -> Result<Option<u32>> {
    let pool = backend.pool(persistence);
    let buffers = pool.open(file, fork, persistence);
    if !pool.smgr().exists(buffers.name())? {
        return Ok(None);
    }
    pool.nblocks_or_none(&buffers).map(|n| Some(n.unwrap_or(0)))
}

/// Loads the blocks from `first` to `end` (exclusive), which must exist; returns their number.
pub fn prewarm(
    backend: &Backend,
    file: RelFile,
    fork: Fork,
    persistence: Persistence,
    mode: Mode,
    first: u32,
    end: u32,
) -> Result<u64> {
    let mut at = first;
    let mut page = vec![0u8; page::PAGE_SIZE];
    let pool = backend.pool(persistence);
    let buffers = pool.open(file, fork, persistence);
    while at < end {
        backend.check_interrupts()?;
        let next = at.saturating_add(STEP).min(end);
        match mode {
            Mode::Prefetch => pool.smgr().prefetch(buffers.name(), BlockNo(at), next - at),
            Mode::Read => {
                for block in at..next {
                    let bufs = &mut [IoSliceMut::new(&mut page)];
                    pool.smgr().read(buffers.name(), BlockNo(block), bufs)?;
                }
            }
            Mode::Buffer => {
                let mut strategy = Strategy::normal().like(&backend.strategy);
                pool.load(&buffers, BlockNo(at), BlockNo(next), &mut strategy)?;
            }
        }
        at = next;
    }
    Ok(u64::from(end.saturating_sub(first)))
}
