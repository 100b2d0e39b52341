//! A random sample of a table's rows, for ANALYZE.
//!
//! Two-stage sampling: random blocks first, then reservoir sampling of their rows. After each row
//! that enters the reservoir, the number of rows to skip until the next one is computed (Li's
//! algorithm L), so that most rows cost neither a random number nor a copy.
//!
//! Counterpart: `acquire_sample_rows` in analyze.c, sampling.c, which uses Vitter's algorithm Z.

use crate::backend::Backend;
use crate::desc::TableDesc;
pub use crate::rows::PackedValue;
use crate::rows::{self, RowReader};
use crate::table;
use bufmgr::Strategy;
use heap::Liveness;
use ids::{AttrNo, BlockNo, OffsetNo, Tid, Xid};
use page::HeapTuple;
use pgerror::{Result, pg_err};
use smallvec::SmallVec;
use stats::Command;
use sync::Arc;
use types::Batch;
use types::batch::BATCH_ROWS_MAX;
use vfs::SeededRandom;

/// A sample. Rows are in physical order.
pub struct Sample {
    pub batches: Vec<SampleBatch>,
    /// Estimated number of live rows of the whole table.
    pub live_rows: f64,
    pub dead_rows: f64,
    pub pages: u32,
    pub pages_scanned: u32,
    /// Number of pages that are all-visible.
    pub pages_visible: u32,
}

impl Sample {
    /// Number of rows.
    pub fn row_count(&self) -> usize {
        self.batches.iter().map(|b| b.rows.len).sum()
    }
}

/// A part of the rows of a sample.
pub struct SampleBatch {
    pub rows: Batch,
    /// Its compressed and TOASTed values, by row.
    pub packed: Vec<PackedValue>,
    /// The table that the rows are from; `None` if they are computed.
    table: Option<Arc<TableDesc>>,
}

impl SampleBatch {
    /// A batch of computed rows.
    pub fn computed(rows: Batch) -> SampleBatch {
        SampleBatch { rows, packed: Vec::new(), table: None }
    }

    /// Reads a value that was too wide for the sample.
    pub fn expand(&self, be: &mut Backend, omitted: &[u8]) -> Result<Vec<u8>> {
        let table = self.table.as_ref();
        rows::expand(be, table.expect("only rows of tables have packed values"), omitted)
    }
}

/// Size in bytes of a compressed or TOASTed value when it is read, with a header.
pub fn expanded_size(packed: &[u8]) -> usize {
    page::varlena::raw_datum_size(packed)
}

/// A row of the sample: the bytes of its tuple.
struct Row {
    tid: Tid,
    bytes: Vec<u8>,
}

/// Selects up to `target` rows from a stream of unknown length. Each subset of that size has equal
/// probability.
struct Reservoir {
    random: SeededRandom,
    target: usize,
    rows: Vec<Row>,
    seen: u64,
    /// Number (from 1) of the next row that enters the full reservoir.
    next: u64,
    /// W of algorithm L: if each row had a random number in (0, 1) and the reservoir kept the rows
    /// with the smallest numbers, this would be the largest number in the reservoir.
    weight: f64,
}

impl Reservoir {
    fn new(target: usize, random: SeededRandom) -> Reservoir {
        Reservoir { random, target, rows: Vec::new(), seen: 0, next: 0, weight: 1.0 }
    }

    /// A random number in (0, 1).
    fn fraction(&self) -> f64 {
        ((self.random.next() >> 12) as f64 + 0.5) / (1u64 << 52) as f64
    }

    /// Computes the number of the next row that enters the reservoir after row `seen`.
    fn skip(&mut self) {
        self.weight *= (self.fraction().ln() / self.target as f64).exp();
        let skipped = (self.fraction().ln() / (-self.weight).ln_1p()).floor();
        // If the quotient is too large or not a number, no further row enters.
        let skipped = if skipped < 1e18 { skipped as u64 } else { u64::MAX / 4 };
        self.next = self.seen.saturating_add(skipped).saturating_add(1);
    }

    fn offer(&mut self, tid: Tid, tuple: &HeapTuple<'_>) {
        self.seen += 1;
        if self.rows.len() < self.target {
            self.rows.push(Row { tid, bytes: tuple.to_vec() });
            if self.rows.len() == self.target {
                self.skip();
            }
        } else if self.seen == self.next {
            let at = self.random.below(self.target as u64) as usize;
            self.rows[at] = Row { tid, bytes: tuple.to_vec() };
            self.skip();
        }
    }
}

/// Selects blocks, ascending. Each subset of that size has equal probability (Knuth's algorithm S).
fn draw_blocks(pages: u32, target: usize, random: &SeededRandom) -> Vec<u32> {
    let (mut needed, mut blocks) = ((target as u64).min(u64::from(pages)), Vec::new());
    for block in 0..pages {
        if random.below(u64::from(pages - block)) < needed {
            blocks.push(block);
            needed -= 1;
        }
    }
    blocks
}

/// Phases of `pg_stat_progress_analyze`.
const ANALYZE_ACQUIRES_SAMPLE: i64 = 1;
const ANALYZE_COMPUTES: i64 = 3;

/// Samples up to `target` live rows. Compressed and TOASTed values whose decompressed size exceeds
/// `width_max` bytes are not read.
pub fn sample_rows(
    be: &mut Backend,
    table: &Arc<TableDesc>,
    columns: &[AttrNo],
    target: usize,
    width_max: usize,
) -> Result<Sample> {
    let pages = table::nblocks(be, table)?;
    let random = SeededRandom::new(be.storage().env.random.u64());
    let blocks = draw_blocks(pages, target, &random);
    let horizons = be.storage().txns.horizons_for(be.database(), be.txn.proc());
    let oldest = horizons.of_kind(table.horizon());
    let mut reservoir = Reservoir::new(target, random);
    let mut dead = 0u64;
    let mut strategy =
        Strategy::vacuum(be.pool(table.persistence), bufmgr::VACUUM_RING).like(&be.strategy);
    // Phase, number of blocks, blocks that were read.
    let progress = be.stats.begin_progress(Command::Analyze, table.oid);
    progress.set(0, ANALYZE_ACQUIRES_SAMPLE);
    progress.set(1, blocks.len() as i64);
    let mut done = 0;
    for run in blocks.chunk_by(|a, b| a + 1 == *b) {
        for (n, &block) in run.iter().enumerate() {
            be.check_interrupts()?;
            progress.set(2, done);
            done += 1;
            let main = &table.heap(be).main;
            let rest = (run.len() - n) as u32;
            be.pool(table.persistence).read_ahead(main, BlockNo(block), rest, &mut strategy)?;
            sample_block(
                be,
                table,
                BlockNo(block),
                oldest,
                &mut strategy,
                &mut reservoir,
                &mut dead,
            )?;
        }
    }
    progress.set(2, done);
    progress.set(0, ANALYZE_COMPUTES);
    be.add_usage(&mut strategy);
    let Reservoir { rows: mut kept, seen, .. } = reservoir;
    kept.sort_unstable_by_key(|row| row.tid);
    let scanned = blocks.len() as u32;
    let of_all = |n: u64| match scanned {
        0 => 0.0,
        scanned => (n as f64 / f64::from(scanned) * f64::from(pages)).round(),
    };
    let batches = decode(be, table, columns, &kept, width_max)?;
    let (pool, rel) = (be.pool_arc(table.persistence), table.heap(be).clone());
    let (visible, _) = heap::visibility_map::count(&pool, &rel, &mut be.strategy)?;
    Ok(Sample {
        batches,
        live_rows: of_all(seen),
        dead_rows: of_all(dead),
        pages,
        pages_scanned: scanned,
        pages_visible: visible.min(pages),
    })
}

/// Offers the live rows of a block to the reservoir.
/// Counterpart: `heapam_scan_analyze_next_tuple`.
fn sample_block(
    be: &mut Backend,
    table: &TableDesc,
    block: BlockNo,
    oldest: Xid,
    strategy: &mut Strategy,
    reservoir: &mut Reservoir,
    dead: &mut u64,
) -> Result<()> {
    let rel = table.heap(be);
    let cx = be.heap_cx_with(table.persistence, strategy);
    let mut guard = cx.pool.read(&rel.main, block, cx.strategy)?.share();
    let vis = cx.visibility(rel, guard.lsn());
    let mut hints: SmallVec<[(OffsetNo, u16); 64]> = SmallVec::new();
    for offset in 1..=guard.max_offset() {
        let lp = guard.line_pointer(offset);
        if lp.is_dead() {
            *dead += 1;
        }
        let Some(tuple) = guard.heap_tuple(offset) else { continue };
        let mut hint = 0;
        let live = match vis.liveness_before(&tuple.header, oldest, &mut hint)? {
            Liveness::Live => true,
            Liveness::Dead | Liveness::RecentlyDead(_) => {
                *dead += 1;
                false
            }
            Liveness::InsertInProgress => cx.txn.is_current(tuple.header.xmin()),
            Liveness::DeleteInProgress => {
                let is_own = cx.txn.is_current(vis.update_xid(&tuple.header)?);
                *dead += u64::from(is_own);
                !is_own
            }
        };
        if live {
            reservoir.offer(Tid::new(block, offset), &tuple);
        }
        if hint != 0 {
            hints.push((offset, hint));
        }
    }
    if !hints.is_empty() {
        guard.try_set_hints(Some(cx.scratch), |h| {
            hints.iter().for_each(|&(offset, bits)| h.set_infomask(offset, bits));
            true
        });
    }
    Ok(())
}

/// Decodes the columns of the rows.
fn decode(
    be: &mut Backend,
    table: &Arc<TableDesc>,
    columns: &[AttrNo],
    rows: &[Row],
    width_max: usize,
) -> Result<Vec<SampleBatch>> {
    let mut reader = RowReader::with_width_max(table, columns, width_max)?;
    let mut batches = Vec::new();
    for chunk in rows.chunks(BATCH_ROWS_MAX) {
        let mut batch = table::new_batch(table, columns);
        for row in chunk {
            let tuple = HeapTuple::from_bytes(&row.bytes)
                .ok_or_else(|| pg_err!(DATA_CORRUPTED, "invalid tuple at {}", row.tid))?;
            reader.push(table.deformer(), row.tid, &tuple, &mut batch)?;
        }
        reader.finish(be, table, &mut batch)?;
        let packed = std::mem::take(&mut reader.packed);
        batches.push(SampleBatch { rows: batch, packed, table: Some(table.clone()) });
    }
    Ok(batches)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each of 1,000 rows must be in a sample of 50 with equal probability: in 400 samples 20 times
    /// on average, with a standard deviation of 4.4.
    #[test]
    fn rows_have_equal_probability() {
        let header = page::HeapTupleHeader { hoff: 24, ..Default::default() };
        let mut bytes = vec![0; 32];
        header.write(&mut bytes);
        let tuple = HeapTuple::from_bytes(&bytes).unwrap();
        let mut counts = [0u32; 1000];
        for seed in 0..400 {
            let mut reservoir = Reservoir::new(50, SeededRandom::new(seed));
            for n in 0..1000 {
                reservoir.offer(Tid::new(BlockNo(n), 1), &tuple);
            }
            assert_eq!((reservoir.rows.len(), reservoir.seen), (50, 1000));
            reservoir.rows.iter().for_each(|row| counts[row.tid.block.0 as usize] += 1);
        }
        assert!(counts.iter().all(|n| (2..=42).contains(n)), "{counts:?}");
        let (head, tail) = counts.split_at(500);
        let (head, tail): (u32, u32) = (head.iter().sum(), tail.iter().sum());
        assert!(head.abs_diff(tail) < 800, "{head} and {tail}");
    }

    #[test]
    fn blocks_are_selected_without_repetition() {
        let random = SeededRandom::new(1);
        assert_eq!(draw_blocks(10, 100, &random), (0..10).collect::<Vec<_>>());
        let some = draw_blocks(1000, 100, &random);
        assert_eq!(some.len(), 100);
        assert!(some.windows(2).all(|w| w[0] < w[1]));
    }
}
