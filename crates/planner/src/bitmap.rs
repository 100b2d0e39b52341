//! Bitmap scans: which indexes they use, alone or together, and their costs. Counterpart: parts of
//! indxpath.c (`create_index_paths`, `choose_bitmap_and`) and costsize.c (`cost_bitmap_heap_scan`).

use crate::rel::clamp_rows;
use crate::scan::{
    array_searches, descent_cost, mackert_lohman, parameterizations, scan_count, searched_pages,
};
use crate::state::BaseRel;
use crate::state::{Planner, PlannerInfo};
use access::CostModel;
use pgerror::Result;
use plan::expr::{BoolOp, Expr};
use plan::node::ScanDirection;
use querytree::host::{IndexInfo, RelationInfo};
use querytree::path::{BitmapPath, IndexMatch, MatchedQual, Path, PathKind, PathSet};
use querytree::relids::Relids;
use querytree::vars::{conjuncts, relids_of};
use std::sync::Arc;

impl Planner<'_> {
    /// Bitmap scans: one by the relation's own conditions, and one for each set of relations whose
    /// columns the join conditions compare with indexed columns. Counterpart: the second half of
    /// `create_index_paths`.
    pub(crate) fn bitmap_paths(
        &mut self,
        root: &mut PlannerInfo,
        rel: &BaseRel,
        table: &RelationInfo,
        (quals, join_quals): (&[Expr], &[Expr]),
        set: &mut PathSet,
    ) -> Result<()> {
        if !self.host.costs().enable_bitmapscan {
            return Ok(());
        }
        let mut own = Vec::new();
        let mut joined: Vec<(Relids, BitmapPath)> = Vec::new();
        for index in table.indexes.iter().filter(|i| i.capabilities.bitmap_scan) {
            if !self.implies_all(rel.rti, quals, &index.predicate)? {
                continue;
            }
            let m = self.match_quals(root, rel.rti, index, quals)?;
            if !join_quals.is_empty() {
                let matched = self.match_quals(root, rel.rti, index, join_quals)?;
                for (outer, m) in parameterizations(root, rel.rti, &m, &matched) {
                    let scans = scan_count(root, &outer);
                    let path = self.bitmap_index(root, rel, index, m, scans)?;
                    joined.extend(path.map(|p| (outer, p)));
                }
            }
            own.extend(self.bitmap_index(root, rel, index, m, 1.0)?);
        }
        for q in quals {
            own.extend(self.bitmap_or(root, rel, &table.indexes, q)?);
        }
        for q in join_quals {
            if let Some(p) = self.bitmap_or(root, rel, &table.indexes, q)? {
                let outer = relids_of(q).into_iter().filter(|r| *r != rel.rti).collect();
                joined.push((outer, p));
            }
        }
        let mut outers: Vec<Relids> = Vec::new();
        for (outer, _) in &joined {
            if !outers.contains(outer) {
                outers.push(outer.clone());
            }
        }
        for outer in outers {
            let usable = joined.iter().filter(|(o, _)| o.is_subset(&outer));
            let parts = usable.map(|(_, p)| p).chain(&own).cloned().collect();
            self.add_bitmap_path(root, rel, table, (quals, join_quals), (outer, parts), set)?;
        }
        self.add_bitmap_path(root, rel, table, (quals, &[]), (Relids::default(), own), set)
    }

    /// The cheapest scan by one of the bitmaps or the intersection of several, with the columns of
    /// `outer` as parameters.
    fn add_bitmap_path(
        &mut self,
        root: &PlannerInfo,
        rel: &BaseRel,
        table: &RelationInfo,
        (quals, join_quals): (&[Expr], &[Expr]),
        (outer, parts): (Relids, Vec<BitmapPath>),
        set: &mut PathSet,
    ) -> Result<()> {
        let scans = scan_count(root, &outer);
        let used: Vec<Expr> = quals.iter().chain(join_quals).cloned().collect();
        let Some(bitmap) = self.choose_bitmaps(table, rel, (quals, &used), parts, scans)? else {
            return Ok(());
        };
        let tested = |q: &Expr| bitmap.guarantees(q);
        let more = self.testable_join_quals(root, rel.rti, join_quals, &outer, &tested)?;
        let quals = &[quals, &more].concat();
        let rows = if outer.is_empty() {
            rel.rows
        } else {
            let mut known = quals.clone();
            known.extend(join_quals.iter().filter(|q| bitmap.guarantees(q)).cloned());
            clamp_rows(rel.tuples * self.lookup_selectivity(root, rel.rti, &known)?)
        };
        let total = self.bitmap_heap_cost(table, rel, &bitmap, quals, scans)?;
        set.add(Path {
            relids: Relids::from([rel.rti]),
            rows,
            width: rel.width,
            startup: bitmap.cost(),
            total,
            order: Vec::new(),
            outer: outer.union(&rel.lateral),
            kind: PathKind::Bitmap {
                rti: rel.rti,
                quals: quals.iter().filter(|q| !bitmap.guarantees(q)).cloned().collect(),
                bitmap,
            },
        });
        Ok(())
    }

    /// Chooses among several bitmaps the best one, or the intersection of those that make the scan
    /// cheaper. Counterpart: `choose_bitmap_and`.
    fn choose_bitmaps(
        &mut self,
        table: &RelationInfo,
        rel: &BaseRel,
        (quals, used): (&[Expr], &[Expr]),
        mut parts: Vec<BitmapPath>,
        scans: f64,
    ) -> Result<Option<BitmapPath>> {
        // Of two with the same selectivity the cheaper one comes first.
        let rank = |p: &BitmapPath| (p.selectivity(), p.cost());
        parts.sort_by(|a, b| {
            let ((s, c), (t, d)) = (rank(a), rank(b));
            s.total_cmp(&t).then(c.total_cmp(&d))
        });
        let each = 100.0 * self.costs().cpu_operator;
        let mut best: Option<BitmapPath> = None;
        for p in parts {
            best = Some(match best {
                None => p,
                Some(b) if b.overlaps(&p, used) => b,
                Some(b) => {
                    let single = self.bitmap_heap_cost(table, rel, &b, quals, scans)?;
                    let selectivity = b.selectivity() * p.selectivity();
                    let cost = b.cost() + p.cost() + each;
                    let parts = vec![b.clone(), p];
                    let both = BitmapPath::And { parts, cost, selectivity };
                    if self.bitmap_heap_cost(table, rel, &both, quals, scans)? < single {
                        both
                    } else {
                        b
                    }
                }
            });
        }
        Ok(best)
    }

    fn bitmap_heap_cost(
        &mut self,
        table: &RelationInfo,
        rel: &BaseRel,
        bitmap: &BitmapPath,
        quals: &[Expr],
        scans: f64,
    ) -> Result<f64> {
        // This is computed for each part of a bitmap, over all conditions.
        self.host.check_interrupts()?;
        let c = self.costs();
        let fetched = clamp_rows(rel.tuples * bitmap.selectivity());
        let t = table.pages.max(1.0);
        // Repeated scans find pages of earlier scans in the cache.
        let pages = if scans > 1.0 {
            mackert_lohman(t, fetched * scans, c.effective_cache_size) / scans
        } else {
            2.0 * t * fetched / (2.0 * t + fetched)
        };
        let pages = pages.ceil().min(t);
        // The larger the part of the table that is read, the more sequential the reads are.
        let per_page = match pages >= 2.0 {
            true => c.random_page - (c.random_page - c.seq_page) * (pages / t).sqrt(),
            false => c.random_page,
        };
        Ok(bitmap.cost() + pages * per_page + fetched * (c.cpu_tuple + self.quals_cost(quals)?))
    }

    fn bitmap_index(
        &mut self,
        root: &PlannerInfo,
        rel: &BaseRel,
        index: &Arc<IndexInfo>,
        m: Vec<MatchedQual>,
        scans: f64,
    ) -> Result<Option<BitmapPath>> {
        if m.is_empty() {
            return Ok(None);
        }
        if index.cost == CostModel::Gin {
            return self.gin_bitmap(root, rel, index, m, scans).map(Some);
        }
        let c = self.costs();
        let (bound, _) = self.boundary(index, &m)?;
        let all: Vec<Expr> = m.iter().map(|m| m.qual.clone()).collect();
        let selectivity = self.lookup_selectivity(root, rel.rti, &all)?;
        let bound_sel = self.lookup_selectivity(root, rel.rti, &bound)?;
        let searches = array_searches(&bound);
        let visited = match index.cost {
            CostModel::Whole => index.tuples.max(1.0) * searches,
            _ => clamp_rows(index.tuples.max(rel.tuples) * bound_sel),
        };
        let pages = searched_pages(index, (visited, bound_sel), searches, scans, &c);
        let cost = descent_cost(index, c.cpu_operator) * searches
            + pages * c.random_page
            + visited * (c.cpu_index_tuple + all.len() as f64 * c.cpu_operator)
            + clamp_rows(rel.tuples * selectivity) * 0.1 * c.cpu_operator;
        let m = IndexMatch {
            index: index.clone(),
            quals: m,
            direction: ScanDirection::Forward,
            index_only: false,
        };
        Ok(Some(BitmapPath::Index { m, cost, selectivity }))
    }

    fn bitmap_or(
        &mut self,
        root: &PlannerInfo,
        rel: &BaseRel,
        indexes: &[Arc<IndexInfo>],
        condition: &Expr,
    ) -> Result<Option<BitmapPath>> {
        let Expr::Bool(b) = condition else { return Ok(None) };
        if b.boolop != BoolOp::Or {
            return Ok(None);
        }
        let outer = relids_of(condition).into_iter().filter(|r| *r != rel.rti).collect();
        let scans = scan_count(root, &outer);
        let mut parts = Vec::new();
        let mut cost = 0.0;
        let mut selectivity: f64 = 0.0;
        for arm in &b.args {
            let mut arm_quals = Vec::new();
            conjuncts(arm.clone(), &mut arm_quals);
            let mut best: Option<BitmapPath> = None;
            let usable = |i: &&Arc<IndexInfo>| i.predicate.is_empty() && i.capabilities.bitmap_scan;
            for index in indexes.iter().filter(usable) {
                let m = self.match_quals(root, rel.rti, index, &arm_quals)?;
                if let Some(p) = self.bitmap_index(root, rel, index, m, scans)?
                    && best.as_ref().is_none_or(|b| p.cost() < b.cost())
                {
                    best = Some(p);
                }
            }
            let Some(p) = best else { return Ok(None) };
            cost += p.cost();
            if !parts.is_empty() && !matches!(p, BitmapPath::Index { .. }) {
                cost += 100.0 * self.host.costs().cpu_operator;
            }
            selectivity = selectivity + p.selectivity() - selectivity * p.selectivity();
            parts.push(p);
        }
        Ok(Some(BitmapPath::Or { parts, cost, selectivity }))
    }
}
