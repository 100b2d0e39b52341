//! Scan paths of base relations, and their costs. Counterpart: allpaths.c, indxpath.c, costsize.c,
//! selfuncs.c (btcostestimate).

use crate::appendrel::{level_columns, order_above};
use crate::need::{NeededExpr, columns_of};
use crate::rel::clamp_rows;
use crate::selectivity::{array_len, strip};
use crate::state::BaseRel;
use crate::state::{Planner, PlannerInfo};
use access::CostModel;
use eval::Volatility;
use ids::{Oid, StrategyNumber};
use pgerror::Result;
use plan::expr::{BoolOp, BoolTestKind, CoercionForm, Expr, Location, OpExpr, RelabelType};
use plan::node::ScanDirection;
use plan::query::RteKind;
use querytree::host::{CostSettings, IndexInfo, IndexKey, RelationInfo};
use querytree::path::{IndexMatch, MatchedQual, Path, PathKey, PathKind, PathSet};
use querytree::relids::Relids;
use querytree::vars::{make_var, pull_vars_of, relids_of, relids_of_all};
use std::rc::Rc;
use std::sync::Arc;
use types::oids;

/// The part of a table that an index scan reads.
struct Lookups {
    /// Number of rows for each scan.
    fetched: f64,
    /// This number as a fraction of the table.
    part: f64,
    /// Number of scans.
    scans: f64,
    /// The scan depends on values of other relations.
    repeated: bool,
}

impl Planner<'_> {
    /// All paths of a base relation. `join_quals` are join conditions with other relations, which
    /// give parameterized index scans. `needed` are the expressions evaluated above, which
    /// determine whether an index-only scan is possible.
    pub(crate) fn scan_paths(
        &mut self,
        root: &mut PlannerInfo,
        rti: i32,
        join_quals: &[Expr],
        needed: &[Rc<NeededExpr>],
    ) -> Result<PathSet> {
        let rel = root.rel(rti)?.clone();
        let mut set = PathSet::new(root.wants_early_rows());
        let quals = rel.quals.clone();
        match &root.query.rte(rti).kind {
            RteKind::Relation { .. } => {
                if root.members.trees.contains(&rti) {
                    self.append_scan_paths(root, rti, join_quals, needed, &mut set)?;
                } else {
                    self.table_paths(root, &rel, &quals, join_quals, needed, &mut set)?;
                }
            }
            RteKind::Subquery { .. } => {
                let plan = root.subquery_of[&rti];
                self.subquery_paths(root, (&rel, plan), &quals, &[], &mut set)?;
                self.parameterized_append_paths(root, &rel, &quals, join_quals, &mut set)?;
            }
            RteKind::Function { functions, .. } => {
                // The functions return all their rows before the first one is read. Counterpart:
                // `cost_functionscan`.
                let calls: Vec<Expr> = functions.iter().map(|f| f.funcexpr.clone()).collect();
                let startup = self.quals_cost(&calls)?;
                let kind = PathKind::Function { rti, quals: quals.clone() };
                let p = self.simple_path(kind, &rel, startup, startup, &quals)?;
                set.add(p);
            }
            RteKind::Values { .. } => {
                let kind = PathKind::Values { rti, quals: quals.clone() };
                let p = self.simple_path(kind, &rel, 0.0, rel.tuples * 0.0025, &quals)?;
                set.add(p);
            }
            RteKind::Cte { ctename, self_reference, .. } => {
                let kind = if *self_reference {
                    let w = root.find_work_table(ctename)?;
                    PathKind::WorkTable { rti, wt_param: w.param, quals: quals.clone() }
                } else {
                    PathKind::Cte { rti, quals: quals.clone() }
                };
                let p = self.simple_path(kind, &rel, 0.0, rel.tuples * 0.01, &quals)?;
                set.add(p);
            }
            RteKind::NamedTuplestore { .. } => {
                let kind = PathKind::NamedTuplestore { rti, quals: quals.clone() };
                let p = self.simple_path(kind, &rel, 0.0, rel.tuples * 0.01, &quals)?;
                set.add(p);
            }
            RteKind::TableFunc(_) | RteKind::Result | RteKind::Join { .. } => {
                let p = self.simple_path(PathKind::Empty, &rel, 0.0, 0.01, &quals)?;
                set.add(p);
            }
        }
        Ok(set)
    }

    /// A path for each path of the planned subquery; `tested` are join conditions that the subquery
    /// tests.
    pub(crate) fn subquery_paths(
        &mut self,
        root: &PlannerInfo,
        (rel, plan): (&BaseRel, usize),
        quals: &[Expr],
        tested: &[Expr],
        set: &mut PathSet,
    ) -> Result<()> {
        let rti = rel.rti;
        let s = &root.subqueries[plan];
        let level = s.level()?;
        let column = |n: i16| {
            let t = level.query.target_list.iter().find(|t| t.resno == n)?;
            let (typmod, collation) = (t.expr.typmod(), t.expr.collation());
            Some(Rc::new(make_var(rti, n, t.expr.type_oid(), typmod, collation)))
        };
        let columns = level_columns(level);
        let c = self.costs();
        let per_row = c.cpu_tuple + self.quals_cost(quals)?;
        let selected = if quals.is_empty() { 1.0 } else { self.selectivity_all(root, quals)? };
        let outer = relids_of_all(s.params.iter().map(|(_, e)| e));
        for path in s.paths.unparameterized() {
            let mut order = order_above((level, &columns), &path.order, column);
            root.classify(&mut order);
            let (quals, tested) = (quals.to_vec(), tested.to_vec());
            set.add(Path {
                kind: PathKind::Subquery { rti, plan, path: path.clone(), quals, tested },
                relids: Relids::from([rti]),
                rows: clamp_rows(path.rows * selected),
                width: rel.width,
                startup: path.startup,
                total: path.total + path.rows * per_row,
                order,
                outer: outer.clone(),
            });
        }
        Ok(())
    }

    fn simple_path(
        &mut self,
        kind: PathKind,
        rel: &BaseRel,
        startup: f64,
        below: f64,
        quals: &[Expr],
    ) -> Result<Path> {
        let c = self.costs();
        let per_row = c.cpu_tuple + self.quals_cost(quals)?;
        Ok(Path {
            kind,
            relids: Relids::from([rel.rti]),
            rows: rel.rows,
            width: rel.width,
            startup,
            total: startup.max(below) + rel.tuples * per_row,
            order: Vec::new(),
            outer: rel.lateral.clone(),
        })
    }

    fn table_paths(
        &mut self,
        root: &mut PlannerInfo,
        rel: &BaseRel,
        quals: &[Expr],
        join_quals: &[Expr],
        needed: &[Rc<NeededExpr>],
        set: &mut PathSet,
    ) -> Result<()> {
        let Some(table) = rel.table.clone() else { return Ok(()) };
        let c = self.costs();
        let qual_cost = self.quals_cost(quals)?;
        let penalty = |enabled: bool| if enabled { 0.0 } else { 1e10 };
        if crate::rel::sample_of(root.query.rte(rel.rti)).is_some() {
            let kind = PathKind::Sample { rti: rel.rti, quals: quals.to_vec() };
            set.add(self.simple_path(kind, rel, 0.0, table.pages * c.seq_page, quals)?);
            return Ok(());
        }
        if !self.tid_paths(root, rel, quals, join_quals, set)? {
            return Ok(());
        }
        set.add(Path {
            kind: PathKind::SeqScan { rti: rel.rti, quals: quals.to_vec() },
            relids: Relids::from([rel.rti]),
            rows: rel.rows,
            width: rel.width,
            startup: penalty(c.enable_seqscan),
            total: penalty(c.enable_seqscan)
                + table.pages * c.seq_page
                + rel.tuples * (c.cpu_tuple + qual_cost),
            order: Vec::new(),
            outer: rel.lateral.clone(),
        });
        for index in &table.indexes {
            self.index_paths(root, rel, index, quals, join_quals, needed, set)?;
        }
        self.bitmap_paths(root, rel, &table, (quals, join_quals), set)
    }

    #[allow(clippy::too_many_lines)]
    fn index_paths(
        &mut self,
        root: &mut PlannerInfo,
        rel: &BaseRel,
        index: &Arc<IndexInfo>,
        quals: &[Expr],
        join_quals: &[Expr],
        needed: &[Rc<NeededExpr>],
        set: &mut PathSet,
    ) -> Result<()> {
        if !index.capabilities.plain_scan || !self.implies_all(rel.rti, quals, &index.predicate)? {
            return Ok(());
        }
        let quals = &self.not_implied_by_predicate(root, rel.rti, index, quals)?;
        let own = self.match_plain(root, rel.rti, index, quals)?;
        // Without conditions, the scan is considered for its order.
        self.add_index_path(root, rel, index, own.clone(), quals, needed, set)?;
        if join_quals.is_empty() {
            return Ok(());
        }
        let joined = self.match_plain(root, rel.rti, index, join_quals)?;
        for (outer, m) in parameterizations(root, rel.rti, &own, &joined) {
            let tested = |q: &Expr| covers(&m, q);
            let more = self.testable_join_quals(root, rel.rti, join_quals, &outer, &tested)?;
            self.add_index_path(
                root,
                rel,
                index,
                m,
                &[quals.as_slice(), &more].concat(),
                needed,
                set,
            )?;
        }
        Ok(())
    }

    /// The conditions that a partial index's predicate does not imply.
    fn not_implied_by_predicate(
        &mut self,
        root: &PlannerInfo,
        rti: i32,
        index: &IndexInfo,
        quals: &[Expr],
    ) -> Result<Vec<Expr>> {
        // An EvalPlanQual recheck must test all conditions on the new row version.
        if index.predicate.is_empty() {
            return Ok(quals.to_vec());
        }
        let member = root.members.append_rels.iter().find(|a| a.child == rti && a.parent > 0);
        let named = member.map_or(rti, |a| a.parent);
        if root.query.result_relation == named
            || root.query.row_marks.iter().any(|r| r.rti == named)
        {
            return Ok(quals.to_vec());
        }
        let partial: Vec<Expr> = index.predicate.iter().map(|p| renumber(p, rti)).collect();
        let mut out = Vec::new();
        for q in quals {
            if !self.implies(&partial, q)? {
                out.push(q.clone());
            }
        }
        Ok(out)
    }

    /// The join conditions that a scan with the columns of `outer` as parameters can test in its
    /// filter, if its access method guarantees those that are `tested`. Counterpart:
    /// `get_baserel_parampathinfo`.
    pub(crate) fn testable_join_quals(
        &mut self,
        root: &PlannerInfo,
        rti: i32,
        join_quals: &[Expr],
        outer: &Relids,
        tested: &dyn Fn(&Expr) -> bool,
    ) -> Result<Vec<Expr>> {
        let known = |q: &&Expr| relids_of(q).iter().all(|r| r == rti || outer.contains(&r));
        let (mut classes, mut others) = (Vec::new(), Vec::new());
        for q in join_quals.iter().filter(known) {
            if tested(q) {
                classes.extend(root.class_of_equality(q));
            } else {
                others.push(q);
            }
        }
        let mut out = Vec::new();
        for q in others {
            // One condition of each equivalence class is sufficient.
            let class = root.class_of_equality(q);
            let again = class.is_some_and(|class| classes.contains(&class));
            if again || eval::volatility(q, self.host)? == Volatility::Volatile {
                continue;
            }
            classes.extend(class);
            out.push(q.clone());
        }
        Ok(out)
    }

    /// The conditions of plain index scans. Those with arrays that the access method does not
    /// accept are for bitmap scans only, which make a scan for each element.
    fn match_plain(
        &mut self,
        root: &PlannerInfo,
        rti: i32,
        index: &IndexInfo,
        quals: &[Expr],
    ) -> Result<Vec<MatchedQual>> {
        let mut matched = self.match_quals(root, rti, index, quals)?;
        if !index.capabilities.search_array {
            matched.retain(|m| !matches!(m.qual, Expr::ScalarArrayOp(_)));
        }
        Ok(matched)
    }

    /// The conditions that match an index column. Counterpart: `match_clause_to_index`.
    pub(crate) fn match_quals(
        &mut self,
        root: &PlannerInfo,
        rti: i32,
        index: &IndexInfo,
        quals: &[Expr],
    ) -> Result<Vec<MatchedQual>> {
        let mut out = Vec::new();
        for q in quals {
            self.host.check_interrupts()?;
            let class = root.class_of_equality(q);
            for (col, key) in index.keys.iter().enumerate() {
                if let Some(qual) = self.match_one(rti, index, key, q)? {
                    let original = q.clone();
                    out.push(MatchedQual { column: col, qual, original, class, lossy: false });
                    break;
                }
                if let Expr::RowCompare(r) = q {
                    if index.capabilities.search_rows
                        && let Some(row) = self.row_condition(rti, index, key, r)?
                    {
                        let (qual, lossy, original) = (row.qual, row.lossy, q.clone());
                        out.push(MatchedQual { column: col, qual, original, class, lossy });
                        break;
                    }
                    continue;
                }
                let derived = self.derived_quals(rti, index, key, q)?;
                if !derived.is_empty() {
                    let matched = derived.into_iter().map(|qual| MatchedQual {
                        column: col,
                        qual,
                        original: q.clone(),
                        class,
                        lossy: true,
                    });
                    out.extend(matched);
                    break;
                }
            }
        }
        out.sort_by_key(|q| q.column);
        Ok(out)
    }

    fn match_one(
        &mut self,
        rti: i32,
        index: &IndexInfo,
        key: &IndexKey,
        q: &Expr,
    ) -> Result<Option<Expr>> {
        let is_key = |e: &Expr| is_index_key(e, rti, key);
        let free = |planner: &mut Self, e: &Expr| -> Result<bool> {
            Ok(!relids_of(e).contains(&rti)
                && eval::volatility(e, planner.host)? != Volatility::Volatile)
        };
        match q {
            Expr::OpExpr(op) => {
                let [l, r] = op.args.as_slice() else { return Ok(None) };
                if op.inputcollid != key.collation && key.collation.is_valid() {
                    return Ok(None);
                }
                if is_key(l) && free(self, r)? {
                    if self.host.strategy(op.opno, key.opfamily)?.is_some() {
                        return Ok(Some(q.clone()));
                    }
                } else if is_key(r) && free(self, l)? {
                    let info = self.host.operator(op.opno)?;
                    if let Some(comm) = info.commutator.valid()
                        && self.host.strategy(comm, key.opfamily)?.is_some()
                    {
                        let code = self.host.operator(comm)?.code;
                        let mut flipped = (**op).clone();
                        flipped.opno = comm;
                        flipped.opfuncid = code;
                        flipped.args.swap(0, 1);
                        return Ok(Some(Expr::OpExpr(Box::new(flipped))));
                    }
                }
                Ok(None)
            }
            Expr::ScalarArrayOp(op) if op.use_or => {
                let [l, r] = op.args.as_slice() else { return Ok(None) };
                let collates = op.inputcollid == key.collation || !key.collation.is_valid();
                let fits = collates
                    && is_key(l)
                    && free(self, r)?
                    && self.host.strategy(op.opno, key.opfamily)?.is_some();
                Ok(fits.then(|| q.clone()))
            }
            Expr::NullTest(n) if !n.argisrow && is_key(&n.arg) => {
                Ok(index.capabilities.search_nulls.then(|| q.clone()))
            }
            _ if key.opcintype == oids::BOOL => {
                self.boolean_qual(q, key, index.equality(), &is_key)
            }
            _ => Ok(None),
        }
    }

    /// `flag`, `NOT flag` and `flag IS TRUE` as `flag = true` or `flag = false`. Counterpart:
    /// `match_boolean_index_clause`.
    fn boolean_qual(
        &mut self,
        q: &Expr,
        key: &IndexKey,
        equality: StrategyNumber,
        is_key: &dyn Fn(&Expr) -> bool,
    ) -> Result<Option<Expr>> {
        let (column, value) = match q {
            e if is_key(e) => (e, true),
            Expr::Bool(b) if b.boolop == BoolOp::Not => match b.args.as_slice() {
                [e] if is_key(e) => (e, false),
                _ => return Ok(None),
            },
            Expr::BooleanTest(t) if is_key(&t.arg) => match t.booltesttype {
                BoolTestKind::IsTrue => (&t.arg, true),
                BoolTestKind::IsFalse => (&t.arg, false),
                _ => return Ok(None),
            },
            _ => return Ok(None),
        };
        let family = key.opfamily;
        let found = self.host.family_operator(family, oids::BOOL, oids::BOOL, equality)?;
        let Some(opno) = found else { return Ok(None) };
        Ok(Some(Expr::OpExpr(Box::new(OpExpr {
            opno,
            opfuncid: self.host.operator(opno)?.code,
            opresulttype: oids::BOOL,
            opretset: false,
            opcollid: Oid::INVALID,
            inputcollid: Oid::INVALID,
            args: vec![column.clone(), eval::bool_const(Some(value))],
            location: Location::UNKNOWN,
        }))))
    }

    /// The boundary conditions of the scan: equalities on leading columns, and all conditions on
    /// the first column without an equality. Also returns the number of columns that equal one
    /// value.
    pub(crate) fn boundary(
        &mut self,
        index: &IndexInfo,
        m: &[MatchedQual],
    ) -> Result<(Vec<Expr>, usize)> {
        let mut bound = Vec::new();
        let mut equal = 0;
        for (col, key) in index.keys.iter().enumerate() {
            let mut eq = false;
            let mut one = false;
            let mut any = false;
            for MatchedQual { qual: q, .. } in m.iter().filter(|m| m.column == col) {
                any = true;
                bound.push(q.clone());
                let equality = match q {
                    Expr::OpExpr(op) => {
                        self.host.strategy(op.opno, key.opfamily)? == Some(index.equality())
                    }
                    Expr::ScalarArrayOp(op) if op.use_or => {
                        self.host.strategy(op.opno, key.opfamily)? == Some(index.equality())
                    }
                    Expr::NullTest(n) => !n.is_not,
                    _ => false,
                };
                eq |= equality;
                one |= equality && matches!(q, Expr::OpExpr(_));
            }
            if one {
                equal += 1;
            }
            if index.cost != CostModel::Gist && (!any || !eq) {
                break;
            }
        }
        Ok((bound, equal))
    }

    fn add_index_path(
        &mut self,
        root: &mut PlannerInfo,
        rel: &BaseRel,
        index: &Arc<IndexInfo>,
        m: Vec<MatchedQual>,
        quals: &[Expr],
        needed: &[Rc<NeededExpr>],
        set: &mut PathSet,
    ) -> Result<()> {
        let c = self.costs();
        let Some(table) = rel.table.clone() else { return Ok(()) };
        let (bound, equal) = self.boundary(index, &m)?;
        let unique_row = index.unique && equal == index.keys.len();
        // A partial index has only the rows that satisfy its predicate.
        let partial: Vec<Expr> = index.predicate.iter().map(|p| renumber(p, rel.rti)).collect();
        let within = |quals: &[Expr]| {
            let more = partial.iter().filter(|p| !quals.contains(p));
            quals.iter().chain(more).cloned().collect::<Vec<_>>()
        };
        let bound_sel = if unique_row {
            1.0 / rel.tuples.max(1.0)
        } else {
            self.lookup_selectivity(root, rel.rti, &within(&bound))?
        };
        let all: Vec<Expr> = m.iter().map(|m| m.qual.clone()).collect();
        let index_sel = if unique_row {
            bound_sel
        } else {
            self.lookup_selectivity(root, rel.rti, &within(&all))?
        };
        let filter: Vec<Expr> = quals.iter().filter(|q| !covers(&m, q)).cloned().collect();
        let outer: Relids = relids_of_all(&all).into_iter().filter(|r| *r != rel.rti).collect();
        // Columns that are constant in the level's result may vary below an outer join, so only the
        // scan's own conditions count.
        let fixed = if root.constants.is_empty() { Vec::new() } else { self.fixed_by(quals)? };
        let index_order = |direction| {
            let mut order = index_order(rel.rti, &table, index, direction);
            order.retain(|k| !fixed.contains(&k.expr));
            root.classify(&mut order);
            order
        };
        let order_fwd = index_order(ScanDirection::Forward);
        let useful_order = m.is_empty() && !order_fwd.is_empty() && index.capabilities.optional_key;
        if m.is_empty() && !useful_order {
            return Ok(());
        }
        let (visited, part) = if partial.is_empty() {
            (index.tuples.max(rel.tuples).max(1.0) * bound_sel, bound_sel)
        } else {
            let visited = rel.tuples.max(1.0) * bound_sel;
            (visited, (visited / index.tuples.max(1.0)).min(1.0))
        };
        let visited = clamp_rows(visited);
        let fetched = clamp_rows(rel.tuples * index_sel);
        // Repeated scans find pages of earlier scans in the cache.
        let scans = scan_count(root, &outer);
        let descent = descent_cost(index, c.cpu_operator);
        let searches = array_searches(&bound);
        let pages = searched_pages(index, (visited, part), searches, scans, &c);
        // As in PostgreSQL, columns in conditions are needed even if the index tests these.
        let index_only = c.enable_indexonlyscan
            && index.capabilities.index_only
            && self.covers_needed(rel.rti, index, needed, quals);
        let lookups = Lookups { fetched, part: index_sel, scans, repeated: !outer.is_empty() };
        let mut heap_io = self.heap_io(rel, &table, index, &lookups)?;
        if index_only {
            heap_io *= 1.0 - table.all_visible;
        }
        let enabled = if index_only { c.enable_indexonlyscan } else { c.enable_indexscan };
        let penalty = if enabled { 0.0 } else { 1e10 };
        let startup = descent + penalty;
        let filter_cost = self.quals_cost(&filter)?;
        let total = penalty
            + descent * searches
            + pages * c.random_page
            + visited * (c.cpu_index_tuple + all.len() as f64 * c.cpu_operator)
            + heap_io
            + fetched * (c.cpu_tuple + filter_cost);
        let filter_sel = self.lookup_selectivity(root, rel.rti, &filter)?;
        let rows = if outer.is_empty() { rel.rows } else { clamp_rows(fetched * filter_sel) };
        // The scan looks up the elements of an array in index order. With an array for a later
        // column, the output is not in the order of the index.
        let breaks_order =
            |m: &MatchedQual| m.column > 0 && matches!(m.qual, Expr::ScalarArrayOp(_));
        let ordered = index.capabilities.ordered && !m.iter().any(breaks_order);
        for direction in [ScanDirection::Forward, ScanDirection::Backward] {
            if direction == ScanDirection::Backward && (!ordered || !outer.is_empty()) {
                continue;
            }
            let order = if ordered { index_order(direction) } else { Vec::new() };
            set.add(Path {
                kind: PathKind::Index {
                    rti: rel.rti,
                    m: IndexMatch { index: index.clone(), quals: m.clone(), direction, index_only },
                    quals: filter.clone(),
                },
                relids: Relids::from([rel.rti]),
                rows,
                width: rel.width,
                startup,
                // A backward scan costs the same; with this addition, a forward scan is preferred.
                total: total + if direction == ScanDirection::Backward { 1e-6 } else { 0.0 },
                order,
                outer: outer.union(&rel.lateral),
            });
        }
        Ok(())
    }

    /// Cost of reading heap pages in an index scan, interpolated by the column's correlation
    /// between the cost for rows in the order of the index and for rows in random order.
    fn heap_io(
        &mut self,
        rel: &BaseRel,
        table: &RelationInfo,
        index: &IndexInfo,
        l: &Lookups,
    ) -> Result<f64> {
        let c = self.costs();
        let all = l.fetched * l.scans;
        let heap_max = mackert_lohman(table.pages, all, c.effective_cache_size) / l.scans;
        let heap_min = (table.pages * l.part).ceil().max(1.0);
        let correlation = self.index_correlation(rel, index)?;
        let io_max = heap_max * c.random_page;
        let io_min = if l.repeated {
            shared_pages(table.pages, heap_min, l.scans, &c) * c.random_page
        } else {
            c.random_page + (heap_min - 1.0) * c.seq_page
        };
        Ok(io_max + correlation * correlation * (io_min - io_max))
    }

    /// True if the index has all columns that the scan's conditions and the expressions above use.
    /// Counterpart: `check_index_only`.
    fn covers_needed(
        &self,
        rti: i32,
        index: &IndexInfo,
        needed: &[Rc<NeededExpr>],
        filter: &[Expr],
    ) -> bool {
        let mut vars = Vec::new();
        columns_of(rti, needed, &mut vars);
        filter.iter().for_each(|e| pull_vars_of(rti, e, &mut vars));
        vars.iter().all(|v| match v {
            Expr::Var(v) => {
                v.varattno > 0
                    && (index.keys.iter().any(|k| k.returnable && k.attno == v.varattno)
                        || index.include.contains(&v.varattno))
            }
            _ => true,
        })
    }

    fn index_correlation(&mut self, rel: &BaseRel, index: &IndexInfo) -> Result<f64> {
        let (Some(table), Some(first)) = (&rel.table, index.keys.first()) else { return Ok(0.0) };
        if first.attno <= 0 || !index.capabilities.ordered {
            return Ok(0.0);
        }
        let Some(s) = self.host.column_stats(table.oid, first.attno)? else { return Ok(0.0) };
        Ok(if index.keys.len() > 1 { s.correlation * 0.75 } else { s.correlation })
    }
}

/// The conditions of an index's scan for each set of relations that can supply values for its join
/// conditions `joined`: those with columns of that set, and the relation's `own`. Counterpart:
/// `consider_index_join_clauses`.
pub(crate) fn parameterizations(
    root: &PlannerInfo,
    rti: i32,
    own: &[MatchedQual],
    joined: &[MatchedQual],
) -> Vec<(Relids, Vec<MatchedQual>)> {
    let mut groups: Vec<Relids> = Vec::new();
    for MatchedQual { qual: q, .. } in joined {
        let others: Relids = relids_of(q).into_iter().filter(|r| *r != rti).collect();
        if !groups.contains(&others) {
            groups.push(others);
        }
    }
    // Also with the columns of all relations together; one condition of each equivalence class is
    // sufficient.
    if groups.len() > 1 {
        let mut once: Vec<Expr> = joined.iter().map(|m| m.original.clone()).collect();
        root.first_of_classes(&mut once);
        let mut all = relids_of_all(&once);
        all.remove(&rti);
        if !groups.contains(&all) {
            groups.push(all);
        }
    }
    let conditions = |outer: &Relids| {
        let mut m: Vec<MatchedQual> = Vec::new();
        for t in joined {
            let known = relids_of(&t.qual).iter().all(|r| r == rti || outer.contains(&r));
            let again = t.class.is_some()
                && own.iter().chain(&m).any(|m| m.column == t.column && m.class == t.class);
            if known && !again {
                m.push(t.clone());
            }
        }
        m.extend(own.iter().cloned());
        m.sort_by_key(|q| q.column);
        m
    };
    groups.into_iter().map(|outer| (outer.clone(), conditions(&outer))).collect()
}

/// True if the index scan guarantees the condition.
fn covers(m: &[MatchedQual], q: &Expr) -> bool {
    m.iter().any(|m| !m.lossy && m.original == *q)
}

/// An index expression or predicate, which is stored with varno 1, with its columns renumbered to
/// `rti`.
pub(crate) fn renumber(expr: &Expr, rti: i32) -> Expr {
    let mut e = expr.clone();
    plan::walk::deep_expr_mut(&mut e, 0, &mut |e, level| {
        if let Expr::Var(v) = e
            && v.varlevelsup == level
        {
            v.varno = rti;
        }
        true
    });
    e
}

/// True if the expression is this key of an index on relation `rti`. Counterpart:
/// `match_index_to_operand`.
pub(crate) fn is_index_key(e: &Expr, rti: i32, key: &IndexKey) -> bool {
    if key.attno != 0 {
        return matches!(strip(e), Expr::Var(v)
            if v.varno == rti && v.varattno == key.attno && v.varlevelsup == 0);
    }
    key.expr.as_ref().is_some_and(|k| {
        let k = renumber(k, rti);
        k == *e || strip(&k) == strip(e)
    })
}

/// The order in which a scan of the index returns rows. Counterpart: `build_index_pathkeys`.
fn index_order(
    rti: i32,
    table: &RelationInfo,
    index: &IndexInfo,
    direction: ScanDirection,
) -> Vec<PathKey> {
    let backward = direction == ScanDirection::Backward;
    let mut out = Vec::new();
    if !index.capabilities.ordered {
        return out;
    }
    for k in &index.keys {
        let expr = match (&k.expr, k.attno) {
            (Some(e), 0) => renumber(e, rti),
            (_, attno) => match table.columns.get(attno as usize - 1) {
                Some(c) => make_var(rti, attno, c.type_oid, c.typmod, c.collation),
                None => break,
            },
        };
        out.push(PathKey {
            expr: Rc::new(under_collation(expr, k.collation)),
            class: None,
            family: k.opfamily,
            collation: k.collation,
            descending: k.descending != backward,
            nulls_first: k.nulls_first != backward,
        });
    }
    out
}

/// An index column or operand under the collation of the comparison, in the form that COLLATE gives
/// it in a query. Counterpart: `canonicalize_ec_expression`.
pub(crate) fn under_collation(expr: Expr, collation: Oid) -> Expr {
    if !collation.is_valid() || expr.collation() == collation {
        return expr;
    }
    Expr::Relabel(Box::new(RelabelType {
        resulttype: expr.type_oid(),
        resulttypmod: expr.typmod(),
        resultcollid: collation,
        relabelformat: CoercionForm::ImplicitCast,
        location: Location::UNKNOWN,
        arg: expr,
    }))
}

/// Cost of the descent to the first entry: key comparisons, and 50 operator costs for each page.
/// Counterpart: `btcostestimate`; `hashcostestimate` adds nothing.
pub(crate) fn descent_cost(index: &IndexInfo, cpu_operator: f64) -> f64 {
    if matches!(index.cost, CostModel::Hash | CostModel::Whole) {
        return 0.0;
    }
    let height = f64::from(index.tree_height.max(0));
    let compares = index.tuples.max(2.0).log2().ceil() * cpu_operator;
    compares + (height + 1.0) * 50.0 * cpu_operator
}

/// Number of descents of a scan with conditions on arrays: one for each combination of elements.
pub(crate) fn array_searches(bound: &[Expr]) -> f64 {
    bound
        .iter()
        .map(|q| match q {
            Expr::ScalarArrayOp(op) => op.args.get(1).map_or(1.0, array_len).max(1.0),
            _ => 1.0,
        })
        .product()
}

/// Average number of index pages that each of `scans` scans reads to find `visited` entries, a part
/// `part` of the index, in `searches` descents. Counterpart: part of `genericcostestimate`.
pub(crate) fn searched_pages(
    index: &IndexInfo,
    (visited, part): (f64, f64),
    searches: f64,
    scans: f64,
    c: &CostSettings,
) -> f64 {
    let once = match index.cost {
        CostModel::BTree if searches <= 1.0 => (index.pages * part).ceil().max(1.0),
        _ => {
            let visited = (visited / searches).round().max(1.0);
            (visited * index.pages / index.tuples.max(1.0)).ceil().max(1.0)
        }
    };
    shared_pages(index.pages, once, searches * scans, c) * searches
}

/// Estimated number of scans of a parameterized path. Counterpart: `get_loop_count`.
pub(crate) fn scan_count(root: &PlannerInfo, outer: &Relids) -> f64 {
    let rows = outer.iter().filter_map(|r| root.rels.get(&r)).map(|r| r.rows.max(1.0));
    rows.reduce(f64::min).unwrap_or(1.0)
}

/// Average number of pages that each of `scans` scans reads from disk, if each visits `visited` of
/// `pages` pages. Counterpart: `index_pages_fetched`.
pub(crate) fn shared_pages(pages: f64, visited: f64, scans: f64, c: &CostSettings) -> f64 {
    if scans <= 1.0 {
        return visited;
    }
    mackert_lohman(pages, visited * scans, c.effective_cache_size) / scans
}

/// Number of pages fetched for `tuples` random row look-ups in a table of `pages` pages, with a
/// cache of `cache` pages (Mackert and Lohman, 1989).
pub(crate) fn mackert_lohman(pages: f64, tuples: f64, cache: f64) -> f64 {
    let t = pages.max(1.0);
    let b = cache.max(1.0);
    if t <= b {
        (2.0 * t * tuples / (2.0 * t + tuples)).min(t).ceil()
    } else {
        let limit = 2.0 * t * b / (2.0 * t - b);
        if tuples <= limit {
            (2.0 * t * tuples / (2.0 * t + tuples)).ceil()
        } else {
            (b + (tuples - limit) * (t - b) / t).ceil()
        }
    }
}
