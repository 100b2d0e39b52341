//! A random sample of a table's rows, for ANALYZE. Counterpart: `acquire_sample_rows`, sampling.c.

use crate::{Backend, TableDesc};
use ids::AttrNo;
use pgerror::Result;
use sync::Arc;
use types::Batch;

/// Rows in physical order.
pub struct Sample {
    pub rows: Vec<Batch>,
    /// Estimated rows of the whole table.
    pub live_rows: f64,
    pub dead_rows: f64,
    pub pages: u32,
    pub pages_scanned: u32,
}

/// Draws up to `target` rows: random blocks first, then a reservoir over their live rows.
pub fn sample_rows(
    _be: &mut Backend,
    _table: &Arc<TableDesc>,
    _columns: &[AttrNo],
    _target: usize,
) -> Result<Sample> {
    Err(pgerror::PgError::unsupported("ANALYZE"))
}
