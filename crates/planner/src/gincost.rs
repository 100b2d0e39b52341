//! The cost of bitmap scans of GIN indexes: by the number of keys that are looked up, and the
//! numbers of pages of both kinds of trees. Counterpart: `gincostestimate` in selfuncs.c.

use crate::rel::clamp_rows;
use crate::scan::{mackert_lohman, renumber};
use crate::selectivity::array_len;
use crate::state::BaseRel;
use crate::state::{Planner, PlannerInfo};
use access::QuerySize;
use ids::Oid;
use pgerror::Result;
use plan::expr::Expr;
use plan::node::ScanDirection;
use querytree::host::IndexInfo;
use querytree::path::{BitmapPath, IndexMatch, MatchedQual};
use std::sync::Arc;
use types::Datum;
use types::array::ArrayRef;

/// TIDs on a page, at about three bytes each.
const TIDS_PER_PAGE: f64 = (8192 / 3) as f64;
/// The assumed number of index keys that match one key partially.
const KEYS_PER_PARTIAL: f64 = 100.0;

/// Numbers of keys of the conditions.
#[derive(Clone, Copy, Default)]
struct Counts {
    /// Whether a condition on the column has keys; whether one requires a scan of all of it.
    normal: u32,
    full: u32,
    partial: f64,
    exact: f64,
    searches: f64,
}

impl Counts {
    fn add(&mut self, column: usize, size: QuerySize) {
        let (exact, partial) = (f64::from(size.exact), f64::from(size.partial));
        self.exact += exact;
        self.partial += partial * KEYS_PER_PARTIAL;
        self.searches += exact + partial;
        let bit = 1 << column.min(31);
        if size.all {
            self.full |= bit;
        } else {
            self.normal |= bit;
        }
    }

    fn needs_full_scan(&self) -> bool {
        self.full & !self.normal != 0
    }

    fn scan_all(&mut self, entries: f64) {
        (self.partial, self.exact, self.searches) = (0.0, entries, entries);
    }
}

/// Sizes of the parts of an index.
struct Sizes {
    pending: f64,
    entry_pages: f64,
    data_pages: f64,
    entries: f64,
}

impl Sizes {
    /// The statistics of the last VACUUM, scaled to the present size; if the index has grown too
    /// much since, plausible ones.
    fn of(index: &IndexInfo) -> Sizes {
        let stats = index.pending.unwrap_or_default();
        let pages = index.pages;
        let pending = f64::from(stats.pending_pages);
        let pending = if pending < pages { pending } else { 0.0 };
        let total = f64::from(stats.total_pages);
        let known = pages > 0.0 && total <= pages && total > (pages / 4.0).floor();
        if known && stats.entry_pages > 0 && stats.entries > 0 {
            let scaled = |n: f64| (n * pages / total).ceil();
            let entry_pages = scaled(f64::from(stats.entry_pages)).min(pages - pending);
            let data_pages = scaled(f64::from(stats.data_pages)).min(pages - pending - entry_pages);
            let entries = scaled(stats.entries as f64).max(1.0);
            return Sizes { pending, entry_pages, data_pages, entries };
        }
        let pages = pages.max(10.0);
        let entry_pages = ((pages - pending) * 0.9).floor();
        let data_pages = pages - pending - entry_pages;
        Sizes { pending, entry_pages, data_pages, entries: (entry_pages * 100.0).max(1.0) }
    }
}

impl Planner<'_> {
    /// The bitmap scan of a GIN index with these conditions.
    pub(crate) fn gin_bitmap(
        &mut self,
        root: &PlannerInfo,
        rel: &BaseRel,
        index: &Arc<IndexInfo>,
        m: Vec<MatchedQual>,
        scans: f64,
    ) -> Result<BitmapPath> {
        let sizes = Sizes::of(index);
        let quals: Vec<Expr> = m.iter().map(|m| m.qual.clone()).collect();
        let partial: Vec<Expr> = index.predicate.iter().map(|p| renumber(p, rel.rti)).collect();
        let within = quals.iter().chain(partial.iter().filter(|p| !quals.contains(p)));
        let within: Vec<Expr> = within.cloned().collect();
        let mut selectivity = self.lookup_selectivity(root, rel.rti, &within)?;
        let mut counts = Counts::default();
        let mut array_scans = 1.0;
        let mut possible = true;
        for qual in &m {
            possible = self.count_keys(index, qual, &sizes, &mut counts, &mut array_scans)?;
            if !possible {
                break;
            }
        }
        let mut cost = 0.0;
        if possible {
            if counts.needs_full_scan() {
                counts.scan_all(sizes.entries);
            }
            let tuples = index.tuples.max(1.0);
            cost = self.gin_pages_cost(&sizes, &counts, (scans, array_scans), selectivity * tuples);
            let c = self.costs();
            let per_tuple = c.cpu_index_tuple + c.cpu_operator * quals.len() as f64;
            cost += tuples * selectivity * per_tuple;
            cost += clamp_rows(rel.tuples * selectivity) * 0.1 * c.cpu_operator;
        } else {
            selectivity = 0.0;
        }
        let m = IndexMatch {
            index: index.clone(),
            quals: m,
            direction: ScanDirection::Forward,
            index_only: false,
        };
        Ok(BitmapPath::Index { m, cost, selectivity })
    }

    /// Cost of reading pages in one of `scans` scans, each repeated for the elements of arrays.
    fn gin_pages_cost(
        &mut self,
        sizes: &Sizes,
        counts: &Counts,
        (scans, array_scans): (f64, f64),
        rows: f64,
    ) -> f64 {
        let c = self.costs();
        let repeated = |fetched: f64, pages: f64| {
            if scans <= 1.0 && array_scans <= 1.0 {
                return fetched;
            }
            mackert_lohman(pages, fetched * scans * array_scans, c.effective_cache_size) / scans
        };
        let descent = sizes.entry_pages.powf(0.15).round_ties_even();
        let part = (counts.partial / sizes.entries).min(1.0);
        let entry_pages =
            sizes.pending + (counts.searches * descent).ceil() + (sizes.entry_pages * part).ceil();
        let first = repeated(entry_pages, sizes.entry_pages)
            + repeated((sizes.data_pages * part).ceil(), sizes.data_pages);
        let least = (rows / TIDS_PER_PAGE).ceil();
        let data_pages = (sizes.data_pages * counts.exact / sizes.entries).ceil().max(least);
        (first + repeated(data_pages, sizes.data_pages)) * c.random_page
    }

    /// Counts the keys of a condition; false if no row can satisfy it.
    fn count_keys(
        &mut self,
        index: &IndexInfo,
        qual: &MatchedQual,
        sizes: &Sizes,
        counts: &mut Counts,
        array_scans: &mut f64,
    ) -> Result<bool> {
        let column = qual.column;
        let (opno, operand, is_array) = match &qual.qual {
            Expr::OpExpr(op) => (op.opno, op.args.get(1), false),
            Expr::ScalarArrayOp(op) => (op.opno, op.args.get(1), true),
            _ => return Ok(true),
        };
        let known = match operand {
            Some(e) => self.known_value(e)?,
            None => None,
        };
        let Some(value) = known else {
            counts.exact += 1.0;
            counts.searches += 1.0;
            if is_array {
                *array_scans *= operand.map_or(1.0, array_len).max(1.0);
            }
            return Ok(true);
        };
        if value.is_null() {
            return Ok(false);
        }
        if !is_array {
            let Some(size) = self.possible_keys(index, column, opno, &value)? else {
                return Ok(false);
            };
            counts.add(column, size);
            return Ok(true);
        }
        let elem = ArrayRef::new(value.as_ref())?.elem_type();
        let elem = self.host.type_info(elem)?;
        let (mut sum, mut possible) = (Counts::default(), 0.0);
        for element in ArrayRef::new(value.as_ref())?.iter(&elem).filter(|e| !e.is_null()) {
            let element = element.to_owned();
            let Some(size) = self.possible_keys(index, column, opno, &element)? else { continue };
            let mut own = Counts::default();
            own.add(column, size);
            possible += 1.0;
            if own.needs_full_scan() {
                own.scan_all(sizes.entries);
            }
            sum.partial += own.partial;
            sum.exact += own.exact;
            sum.searches += own.searches;
        }
        if possible == 0.0 {
            return Ok(false);
        }
        counts.partial += sum.partial / possible;
        counts.exact += sum.exact / possible;
        counts.searches += sum.searches / possible;
        *array_scans *= possible;
        Ok(true)
    }

    /// The keys of a condition; `None` if no row can satisfy it.
    fn possible_keys(
        &mut self,
        index: &IndexInfo,
        column: usize,
        opno: Oid,
        value: &Datum,
    ) -> Result<Option<QuerySize>> {
        let size = self.host.query_size(index.oid, column, opno, value)?;
        let size = size.unwrap_or(QuerySize { exact: 1, partial: 0, all: false });
        Ok((size.all || size.exact + size.partial > 0).then_some(size))
    }
}
