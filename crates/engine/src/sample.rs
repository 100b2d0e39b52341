//! A random sample of a table's rows, for ANALYZE. Counterpart: `acquire_sample_rows`, sampling.c.

use crate::{Backend, TableDesc, table};
use ids::AttrNo;
use pgerror::Result;
use sync::Arc;
use types::{Batch, Datum, DatumRef};

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
    be: &mut Backend,
    table: &Arc<TableDesc>,
    columns: &[AttrNo],
    target: usize,
) -> Result<Sample> {
    let pages = table::nblocks(be, table)?;
    let random = be.storage().env.random.clone();
    let below = |bound: u64| if bound == 0 { 0 } else { random.u64() % bound };
    // Knuth's algorithm S: blocks in ascending order, each set of that size equally likely.
    let (mut needed, mut blocks) = ((target as u64).min(u64::from(pages)), Vec::new());
    for block in 0..pages {
        if below(u64::from(pages - block)) < needed {
            blocks.push(block);
            needed -= 1;
        }
    }
    let snapshot = be.snapshot();
    let mut kept: Vec<(u64, Vec<Datum>)> = Vec::new();
    let mut seen = 0u64;
    let mut batch = table::new_batch(table, columns);
    for &block in &blocks {
        let options = table::ScanOptions { blocks: Some(block..block + 1), ..Default::default() };
        let mut scan = table::TableScan::new(be, table, snapshot.clone(), columns, options)?;
        loop {
            batch.clear();
            if !scan.next_batch(be, &mut batch, 300)? {
                break;
            }
            for row in 0..batch.len {
                seen += 1;
                if kept.len() < target {
                    kept.push((seen, batch.row_owned(row)));
                } else {
                    let at = below(seen) as usize;
                    if at < target {
                        kept[at] = (seen, batch.row_owned(row));
                    }
                }
            }
        }
    }
    kept.sort_by_key(|(n, _)| *n);
    let mut rows = Vec::new();
    for chunk in kept.chunks(types::batch::BATCH_ROWS_MAX) {
        let mut out = table::new_batch(table, columns);
        for (_, row) in chunk {
            let refs: Vec<DatumRef<'_>> = row.iter().map(Datum::as_ref).collect();
            out.push_row(&refs);
        }
        rows.push(out);
    }
    let scanned = blocks.len() as u32;
    let live_rows = match scanned {
        0 => 0.0,
        n => (seen as f64 / f64::from(n) * f64::from(pages)).round(),
    };
    Ok(Sample { rows, live_rows, dead_rows: 0.0, pages, pages_scanned: scanned })
}
