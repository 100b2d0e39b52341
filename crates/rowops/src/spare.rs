//! Limits for the memory of batches that nodes keep for reuse.

use types::{Batch, Column, ColumnData};

/// True if the batch uses too much memory to be kept between executions.
pub fn is_large(batch: &Batch) -> bool {
    const KEPT_BYTES_MAX: usize = 16 * 1024;
    capacity_bytes(batch) > KEPT_BYTES_MAX
}

/// True if the batch uses too much memory to be reused for rows that may be narrow.
pub fn is_wide(batch: &Batch) -> bool {
    const REUSED_BYTES_MAX: usize = 1 << 20;
    capacity_bytes(batch) > REUSED_BYTES_MAX
}

/// Allocated capacity of a batch in bytes.
fn capacity_bytes(batch: &Batch) -> usize {
    let size = |c: &Column| match &c.data {
        ColumnData::Word(w) => w.capacity() * 8,
        ColumnData::Bytes(b) => b.capacity(),
    };
    batch.columns.iter().map(size).sum()
}
