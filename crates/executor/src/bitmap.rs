//! Bitmap scans: the tree of index scans that collects the TIDs, and the visit of their heap pages.
//!
//! Counterpart: nodeBitmapHeapscan.c, nodeBitmapIndexscan.c, nodeBitmapAnd.c, nodeBitmapOr.c.

use crate::probe::Probe;
use crate::run::Run;
use engine::index::{BitmapFetch, scan_tids};
use engine::table;
use ids::{AttrNo, Tid};
use pgerror::Result;
use plan::node::BitmapNode;
use rowops::relation::OpenRel;
use rowops::tidbitmap::{PageRows, Pages, TidBitmap};
use types::Batch;

/// A node of the index tree. The address of its plan node is the key of its statistics.
struct Bitmap {
    key: usize,
    kind: BitmapKind,
}

enum BitmapKind {
    Index(Box<Probe>),
    And(Vec<Bitmap>),
    Or(Vec<Bitmap>),
}

impl Bitmap {
    fn new(b: &BitmapNode, run: &mut Run<'_>) -> Result<Bitmap> {
        let list = |children: &[BitmapNode], run: &mut Run<'_>| {
            children.iter().map(|c| Bitmap::new(c, run)).collect::<Result<Vec<_>>>()
        };
        let kind = match b {
            BitmapNode::Index { probe, .. } => BitmapKind::Index(Box::new(Probe::new(probe, run)?)),
            BitmapNode::And { children, .. } => BitmapKind::And(list(children, run)?),
            BitmapNode::Or { children, .. } => BitmapKind::Or(list(children, run)?),
        };
        Ok(Bitmap { key: std::ptr::from_ref(b).addr(), kind })
    }

    /// Adds the node's rows to the set.
    fn collect(&mut self, run: &mut Run<'_>, set: &mut TidBitmap) -> Result<()> {
        let before = crate::instrument::clock(run);
        let rows = self.kind.collect(run, set)?;
        let took = (crate::instrument::clock(run) - before).max(0) as u64;
        if let Some(all) = &mut run.st.instruments {
            let s = all.stats.entry(self.key).or_default();
            s.loops += 1;
            s.startup_us += took;
            s.total_us += took;
            // BitmapAnd and BitmapOr show no row count, as in PostgreSQL.
            s.rows += rows;
        }
        Ok(())
    }
}

impl BitmapKind {
    /// The number of index entries found, if the node is an index scan.
    fn collect(&mut self, run: &mut Run<'_>, set: &mut TidBitmap) -> Result<u64> {
        let mut rows = 0;
        match self {
            BitmapKind::Index(probe) => {
                if probe.refresh(run)? {
                    let mut each = |tid: Tid, recheck: bool| set.add(tid, recheck);
                    for keys in probe.scans(run.st) {
                        rows += scan_tids(run.sv.backend(), &probe.index, keys, &mut each)?;
                    }
                }
            }
            BitmapKind::Or(parts) => {
                for part in parts {
                    if let BitmapKind::Index(_) = part.kind {
                        part.collect(run, set)?;
                        continue;
                    }
                    let mut own = TidBitmap::new(run.sv.work_mem());
                    part.collect(run, &mut own)?;
                    set.union(own);
                }
            }
            BitmapKind::And(parts) => {
                let mut common: Option<TidBitmap> = None;
                for part in parts {
                    let mut own = TidBitmap::new(run.sv.work_mem());
                    part.collect(run, &mut own)?;
                    let common = match &mut common {
                        Some(common) => {
                            common.intersect(&own);
                            common
                        }
                        slot => slot.insert(own),
                    };
                    if common.is_empty() {
                        break;
                    }
                }
                if let Some(common) = common {
                    set.union(common);
                }
            }
        }
        Ok(rows)
    }
}

/// The state of a bitmap scan.
pub(crate) struct BitmapScan {
    tree: Bitmap,
    pages: Option<Pages>,
    /// The current page, the number of its offsets that have been processed, and whether any of its
    /// rows was visible.
    rest: Option<(PageRows, usize, bool)>,
    /// Rows of a lossy page, and the number of them that have been returned.
    pending: Option<(Batch, usize)>,
    fetch: Option<BitmapFetch>,
    /// Number of pages with visible rows whose offsets were known, and number of pages of which all
    /// rows were read.
    pub exact_blocks: u64,
    pub lossy_blocks: u64,
}

impl BitmapScan {
    pub(crate) fn boxed(bitmap: &BitmapNode, run: &mut Run<'_>) -> Result<Box<BitmapScan>> {
        Ok(Box::new(BitmapScan {
            tree: Bitmap::new(bitmap, run)?,
            pages: None,
            rest: None,
            pending: None,
            fetch: None,
            exact_blocks: 0,
            lossy_blocks: 0,
        }))
    }

    /// Scans the indexes, unless that has been done. The first call after a restart returns whether
    /// conditions must be checked again.
    pub(crate) fn collect(&mut self, run: &mut Run<'_>) -> Result<Option<bool>> {
        if self.pages.is_some() {
            return Ok(None);
        }
        let mut set = TidBitmap::new(run.sv.work_mem());
        self.tree.collect(run, &mut set)?;
        let recheck = set.needs_recheck();
        self.pages = Some(set.into_pages());
        self.fetch = None;
        Ok(Some(recheck))
    }

    /// Appends rows until `batch` has `want` rows. The numbers of the rows whose conditions must be
    /// checked again are appended to `flagged`. Returns false at the end. [`Self::collect`] must
    /// have been called.
    pub(crate) fn fill(
        &mut self,
        run: &mut Run<'_>,
        (rel, columns): (&OpenRel, &[AttrNo]),
        batch: &mut Batch,
        want: usize,
        flagged: &mut Vec<u16>,
    ) -> Result<bool> {
        while batch.len < want && !batch.is_full() {
            if let Some((rows, from)) = &mut self.pending {
                let (first, to) = (batch.len, rows.len.min(*from + want - batch.len));
                batch.extend_range(rows, *from, to);
                flagged.extend((first..batch.len).map(|row| row as u16));
                *from = to;
                if to == rows.len {
                    self.pending = None;
                }
                continue;
            }
            let next = self.rest.take().or_else(|| {
                let page = self.pages.as_mut()?.next()?;
                Some((page, 0, false))
            });
            let Some((page, from, mut found)) = next else { return Ok(batch.len > 0) };
            let fetch = match &mut self.fetch {
                Some(fetch) => fetch,
                slot => slot.insert(BitmapFetch::new(&rel.table, columns)?),
            };
            let (be, snapshot) = (run.sv.backend(), &*run.st.desc.snapshot);
            let Some(offsets) = &page.offsets else {
                let mut rows = table::new_batch(&rel.table, columns);
                fetch.block(be, page.block, None, snapshot, &mut rows)?;
                if rows.len > 0 {
                    self.lossy_blocks += 1;
                    self.pending = Some((rows, 0));
                }
                continue;
            };
            let first = batch.len;
            let to = offsets.len().min(from + want - first);
            fetch.block(be, page.block, Some(&offsets[from..to]), snapshot, batch)?;
            found |= batch.len > first;
            if page.recheck {
                flagged.extend((first..batch.len).map(|row| row as u16));
            }
            if to < offsets.len() {
                self.rest = Some((page, to, found));
            } else {
                self.exact_blocks += u64::from(found);
            }
        }
        Ok(true)
    }

    /// Discards all data, because the values of the conditions may have changed.
    pub(crate) fn restart(&mut self) {
        (self.pages, self.rest, self.pending) = (None, None, None);
    }
}
