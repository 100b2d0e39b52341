//! Creates the plans of scans. Counterpart: createplan.c (`create_scan_plan`).
//!
//! A scan that needs columns of an enclosing nested loop requests parameters
//! (`PlannerInfo::nest_params`).

use crate::create::{all_columns, are_all_columns};
use crate::createset::columns_of_append;
use crate::scan::{is_index_key, renumber};
use crate::state::{Planner, PlannerInfo};
use crate::subselect::exec_param;
use crate::tid::has_ctid_on_right;
use ids::Oid;
use pgerror::{PgError, Result};
use plan::expr::{BoolExpr, BoolOp, Expr, Location, TargetEntry, Var};
use plan::node::{BitmapNode, IndexProbe, Plan, PlanInfo, PlanNode};
use plan::query::RteKind;
use plan::walk;
use querytree::host::IndexInfo;
use querytree::path::{BitmapPath, IndexMatch, Path, PathKind};
use querytree::refs::{CreatedPlan, targets_of};
use querytree::vars::{conjunction, make_var};

impl Planner<'_> {
    /// Creates the plan of a scan of anything but a subquery.
    pub(crate) fn create_scan(
        &mut self,
        root: &mut PlannerInfo,
        path: &Path,
        info: PlanInfo,
        want: &[Expr],
    ) -> Result<CreatedPlan> {
        let (node, quals) = match &path.kind {
            PathKind::SeqScan { rti, quals } => {
                (PlanNode::SeqScan { scanrelid: self.flat(root, *rti) }, quals)
            }
            PathKind::Sample { rti, quals } => (self.sample_scan(root, path, *rti)?, quals),
            PathKind::Index { rti, m, quals } => (self.index_scan(root, path, *rti, m)?, quals),
            PathKind::Bitmap { rti, bitmap, quals } => {
                (self.bitmap_scan(root, path, *rti, bitmap, quals)?, quals)
            }
            PathKind::Tid { rti, tid_quals, quals } => {
                (self.tid_scan(root, path, *rti, tid_quals)?, quals)
            }
            PathKind::TidRange { rti, tid_quals, quals } => {
                let tid_quals = self.scan_exprs(root, path, tid_quals);
                (PlanNode::TidRangeScan { scanrelid: self.flat(root, *rti), tid_quals }, quals)
            }
            PathKind::Function { rti, quals } => (self.function_scan(root, path, *rti)?, quals),
            PathKind::Values { rti, quals } => (self.values_scan(root, path, *rti)?, quals),
            PathKind::Cte { rti, quals } => (self.cte_scan(root, *rti)?, quals),
            PathKind::WorkTable { rti, wt_param, quals } => {
                let scanrelid = self.flat(root, *rti);
                (PlanNode::WorkTableScan { scanrelid, wt_param: *wt_param }, quals)
            }
            PathKind::NamedTuplestore { rti, quals } => {
                (self.named_tuplestore_scan(root, *rti)?, quals)
            }
            _ => return Err(PgError::internal("path of a scan expected")),
        };
        self.scan(root, path, info, node, quals, targets_of(want))
    }

    /// Creates the scan of a subquery; the subquery's plan alone if it returns the wanted columns.
    pub(crate) fn subquery_scan(
        &mut self,
        root: &mut PlannerInfo,
        path: &Path,
        info: PlanInfo,
        want: &[Expr],
    ) -> Result<CreatedPlan> {
        let PathKind::Subquery { rti, plan, path: chosen, quals, .. } = &path.kind else {
            return Err(PgError::internal("path of a subquery expected"));
        };
        let child = self.create_subquery(root, *plan, chosen)?;
        for (id, e) in root.subqueries[*plan].params.clone() {
            if !root.nest_params.iter().any(|(have, _)| *have == id) {
                root.nest_params.push((id, e));
            }
        }
        let output = targets_of(want);
        if quals.is_empty() && is_trivial(want, *rti, &child) {
            return Ok(CreatedPlan { plan: child, output });
        }
        if quals.is_empty()
            && let Some(columns) = columns_of_append(*rti, &child, want)
        {
            return self.append_columns(root, info, child, &columns, want);
        }
        let scanrelid = self.flat(root, *rti);
        let node = PlanNode::SubqueryScan { scanrelid, child: Box::new(child) };
        self.scan(root, path, info, node, quals, output)
    }

    /// Creates the plan of a subquery from one of its paths.
    pub(crate) fn create_subquery(
        &mut self,
        root: &mut PlannerInfo,
        plan: usize,
        path: &Path,
    ) -> Result<Plan> {
        let level = root.subqueries[plan].level.take();
        let mut level = level.ok_or_else(|| PgError::internal("subquery is created twice"))?;
        let made = self.create_level(&mut level, path);
        root.subqueries[plan].level = Some(level);
        made
    }

    /// As [`Planner::create`], for a parent that accepts additional columns: a subquery with more
    /// columns then needs no SubqueryScan to remove them. Counterpart: `use_physical_tlist`.
    pub(crate) fn create_any(
        &mut self,
        root: &mut PlannerInfo,
        path: &Path,
        want: &[Expr],
    ) -> Result<CreatedPlan> {
        if let PathKind::Subquery { rti, plan, path: chosen, .. } = &path.kind
            && let Some(all) = all_columns(root, path, want)
            && !matches!(chosen.kind, PathKind::SetOp { .. })
            && let Some(level) = &root.subqueries[*plan].level
            && are_all_columns(&all, *rti, &level.query.target_list)
        {
            return self.create(root, path, &all);
        }
        self.create(root, path, want)
    }

    fn sample_scan(&mut self, root: &mut PlannerInfo, path: &Path, rti: i32) -> Result<PlanNode> {
        let RteKind::Relation { tablesample: Some(sample), .. } = &root.query.rte(rti).kind else {
            return Err(PgError::internal("sample scan without TABLESAMPLE"));
        };
        let mut sample = (**sample).clone();
        for e in sample.args.iter_mut().chain(&mut sample.repeatable) {
            *e = self.scan_expr(root, path, e);
        }
        Ok(PlanNode::SampleScan { scanrelid: self.flat(root, rti), sample })
    }

    fn bitmap_scan(
        &mut self,
        root: &mut PlannerInfo,
        path: &Path,
        rti: i32,
        bitmap: &BitmapPath,
        quals: &[Expr],
    ) -> Result<PlanNode> {
        let mut recheck = Vec::new();
        let bitmap = self.bitmap(root, path, rti, bitmap, &mut recheck)?;
        // Conditions in the filter need no recheck.
        recheck
            .retain(|q| matches!(q, Expr::Bool(b) if b.boolop == BoolOp::Or) || !quals.contains(q));
        let recheck = self.scan_exprs(root, path, &recheck);
        let scanrelid = self.flat(root, rti);
        Ok(PlanNode::BitmapHeapScan { scanrelid, bitmap: Box::new(bitmap), recheck })
    }

    fn tid_scan(
        &mut self,
        root: &mut PlannerInfo,
        path: &Path,
        rti: i32,
        tid_quals: &[Expr],
    ) -> Result<PlanNode> {
        let mut ordered = Vec::with_capacity(tid_quals.len());
        for q in tid_quals {
            ordered.push(match has_ctid_on_right(rti, q) {
                true => self.commute(q)?,
                false => q.clone(),
            });
        }
        let tid_quals = self.scan_exprs(root, path, &ordered);
        Ok(PlanNode::TidScan { scanrelid: self.flat(root, rti), tid_quals })
    }

    fn function_scan(&mut self, root: &mut PlannerInfo, path: &Path, rti: i32) -> Result<PlanNode> {
        let RteKind::Function { functions, funcordinality } = &root.query.rte(rti).kind else {
            return Err(PgError::internal("function scan over something else"));
        };
        let ordinality = *funcordinality;
        let mut functions = functions.clone();
        for f in &mut functions {
            f.funcexpr = self.scan_expr(root, path, &f.funcexpr);
        }
        Ok(PlanNode::FunctionScan { scanrelid: self.flat(root, rti), functions, ordinality })
    }

    fn values_scan(&mut self, root: &mut PlannerInfo, path: &Path, rti: i32) -> Result<PlanNode> {
        let RteKind::Values { values_lists, .. } = &root.query.rte(rti).kind else {
            return Err(PgError::internal("values scan over something else"));
        };
        let lists = values_lists.clone();
        let values_lists = lists.iter().map(|l| self.scan_exprs(root, path, l)).collect();
        Ok(PlanNode::ValuesScan { scanrelid: self.flat(root, rti), values_lists })
    }

    fn cte_scan(&mut self, root: &PlannerInfo, rti: i32) -> Result<PlanNode> {
        let RteKind::Cte { ctename, ctelevelsup, .. } = &root.query.rte(rti).kind else {
            return Err(PgError::internal("CTE scan over something else"));
        };
        let cte = root.find_cte(ctename, *ctelevelsup)?;
        Ok(PlanNode::CteScan {
            scanrelid: self.flat(root, rti),
            cte_plan_id: cte.plan_id,
            cte_param: cte.param,
        })
    }

    fn named_tuplestore_scan(&mut self, root: &PlannerInfo, rti: i32) -> Result<PlanNode> {
        let RteKind::NamedTuplestore { enrname, .. } = &root.query.rte(rti).kind else {
            return Err(PgError::internal("scan of a transition table over something else"));
        };
        let enrname = enrname.clone();
        Ok(PlanNode::NamedTuplestoreScan { scanrelid: self.flat(root, rti), enrname })
    }

    fn index_scan(
        &mut self,
        root: &mut PlannerInfo,
        path: &Path,
        rti: i32,
        m: &IndexMatch,
    ) -> Result<PlanNode> {
        let probe = self.probe(root, path, rti, m);
        let scanrelid = self.flat(root, rti);
        if !m.index_only {
            return Ok(PlanNode::IndexScan { scanrelid, probe });
        }
        let mut tlist = Vec::new();
        let table = root.rel(rti)?.table.clone();
        let column = |attno: i16| {
            let at = usize::try_from(attno - 1).ok();
            let col = at.and_then(|i| table.as_ref()?.columns.get(i));
            let (ty, typmod, coll) = col
                .map_or((Oid::INVALID, -1, Oid::INVALID), |c| (c.type_oid, c.typmod, c.collation));
            make_var(scanrelid, attno, ty, typmod, coll)
        };
        for key in &m.index.keys {
            tlist.push(match &key.expr {
                Some(expr) => renumber(expr, scanrelid),
                None => column(key.attno),
            });
        }
        tlist.extend(m.index.include.iter().map(|attno| column(*attno)));
        Ok(PlanNode::IndexOnlyScan { scanrelid, probe, index_tlist: targets_of(&tlist) })
    }

    fn probe(
        &mut self,
        root: &mut PlannerInfo,
        path: &Path,
        rti: i32,
        m: &IndexMatch,
    ) -> IndexProbe {
        let mut index_qual = Vec::new();
        let mut index_qual_orig = Vec::new();
        for mq in &m.quals {
            let mut q = mq.qual.clone();
            // The indexed operand becomes a column of the index.
            let column = |e: &mut Expr| become_index_column(e, rti, mq.column, &m.index);
            match &mut q {
                Expr::OpExpr(op) => column(&mut op.args[0]),
                Expr::ScalarArrayOp(op) => column(&mut op.args[0]),
                Expr::NullTest(n) => column(&mut n.arg),
                Expr::RowCompare(r) => r.largs.iter_mut().for_each(|e| {
                    let keys = &m.index.keys;
                    if let Some(at) = keys.iter().position(|key| is_index_key(e, rti, key)) {
                        become_index_column(e, rti, at, &m.index);
                    }
                }),
                _ => {}
            }
            index_qual.push(self.scan_expr(root, path, &q));
            index_qual_orig.push(self.scan_expr(root, path, &mq.qual));
        }
        IndexProbe {
            indexid: m.index.oid,
            index_qual,
            index_qual_orig,
            order_by: Vec::new(),
            direction: m.direction,
        }
    }

    fn bitmap(
        &mut self,
        root: &mut PlannerInfo,
        path: &Path,
        rti: i32,
        b: &BitmapPath,
        recheck: &mut Vec<Expr>,
    ) -> Result<BitmapNode> {
        // The bitmap of several indexes is complete before its first page is returned.
        let combined = matches!(b, BitmapPath::And { .. } | BitmapPath::Or { .. });
        let info = |rel_tuples: f64| PlanInfo {
            startup_cost: if combined { b.cost() } else { 0.0 },
            total_cost: b.cost(),
            plan_rows: crate::rel::clamp_rows(rel_tuples * b.selectivity()),
            ..PlanInfo::default()
        };
        let tuples = root.rel(rti)?.tuples;
        Ok(match b {
            BitmapPath::Index { m, .. } => {
                // Not the commuted or derived conditions.
                let mut own: Vec<Expr> = Vec::new();
                for q in &m.quals {
                    if own.last() != Some(&q.original) {
                        own.push(q.original.clone());
                    }
                }
                for predicate in &m.index.predicate {
                    let predicate = renumber(predicate, rti);
                    if !self.implies(&own, &predicate)? {
                        own.push(predicate);
                    }
                }
                recheck.append(&mut own);
                BitmapNode::Index { info: info(tuples), probe: self.probe(root, path, rti, m) }
            }
            BitmapPath::And { parts, .. } => {
                let mut children = Vec::new();
                for p in parts {
                    children.push(self.bitmap(root, path, rti, p, recheck)?);
                }
                BitmapNode::And { info: info(tuples), children }
            }
            BitmapPath::Or { parts, .. } => {
                let mut children = Vec::new();
                let mut arms = Vec::new();
                for p in parts {
                    let mut own = Vec::new();
                    children.push(self.bitmap(root, path, rti, p, &mut own)?);
                    arms.extend(conjunction(own));
                }
                recheck.push(Expr::Bool(Box::new(BoolExpr {
                    boolop: BoolOp::Or,
                    args: arms,
                    location: Location::UNKNOWN,
                })));
                BitmapNode::Or { info: info(tuples), children }
            }
        })
    }

    fn scan(
        &mut self,
        root: &mut PlannerInfo,
        path: &Path,
        info: PlanInfo,
        node: PlanNode,
        quals: &[Expr],
        output: Vec<TargetEntry>,
    ) -> Result<CreatedPlan> {
        let quals = match self.barriers_first(root, path, quals)? {
            Some(ordered) => ordered.into(),
            None => self.cheap_first(quals)?,
        };
        let qual = self.scan_exprs(root, path, &quals);
        let target_list = output
            .iter()
            .map(|t| TargetEntry { expr: self.scan_expr(root, path, &t.expr), ..t.clone() })
            .collect();
        let info = PlanInfo { target_list, qual, ..info };
        Ok(CreatedPlan { plan: Plan { info, node }, output })
    }

    fn scan_exprs(&mut self, root: &mut PlannerInfo, path: &Path, exprs: &[Expr]) -> Vec<Expr> {
        exprs.iter().map(|e| self.scan_expr(root, path, e)).collect()
    }

    /// Converts an expression of a scan: its own columns are renumbered to the flat range table,
    /// columns of enclosing nested loops become exec parameters (recorded in
    /// `PlannerInfo::nest_params`).
    pub(crate) fn scan_expr(&mut self, root: &mut PlannerInfo, path: &Path, expr: &Expr) -> Expr {
        let mut e = expr.clone();
        walk::deep_expr_mut(&mut e, 0, &mut |e, _| {
            if let Expr::Var(v) = e
                && v.varno > 0
            {
                if path.relids.contains(&v.varno) {
                    v.varno = root.flat(v.varno);
                } else {
                    let var = e.clone();
                    let known = root.nest_params.iter().find(|(_, x)| *x == var).map(|(id, _)| *id);
                    let id = known.unwrap_or_else(|| {
                        let id = self.new_param(var.type_oid());
                        root.nest_params.push((id, var.clone()));
                        id
                    });
                    *e = exec_param(id, &var);
                }
                return false;
            }
            if let Expr::CurrentOf(c) = e {
                c.cvarno = root.flat(c.cvarno);
            }
            true
        });
        e
    }
}

/// True if a SubqueryScan above the subquery's plan would return its rows unchanged. Counterpart:
/// setrefs.c (`trivial_subqueryscan`).
fn is_trivial(want: &[Expr], rti: i32, child: &Plan) -> bool {
    // The input rows of SetOp have an additional flag column.
    !matches!(child.node, PlanNode::SetOp { .. })
        && are_all_columns(want, rti, &child.info.target_list)
}

/// Replaces an expression that is key `at` (0-based) of the index by a Var of the index column.
fn become_index_column(e: &mut Expr, rti: i32, at: usize, index: &IndexInfo) {
    let key = &index.keys[at];
    if is_index_key(e, rti, key) {
        *e = Expr::Var(Var {
            varno: Var::INDEX,
            varattno: at as i16 + 1,
            vartype: key.opcintype,
            vartypmod: -1,
            varcollid: key.collation,
            varlevelsup: 0,
            location: Location::UNKNOWN,
        });
    }
}
