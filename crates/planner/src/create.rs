//! Creates the plan of the chosen path. Counterpart: createplan.c.
//!
//! Every node outputs exactly the expressions that its parent requires (`want`, over the columns of
//! this query level). The parent finds its inputs by these expressions, so they are returned in
//! [`Made::output`]; [`Made::plan`] has the executable target list.

use crate::createset::columns_of_append;
use crate::glob::{Glob, Root};
use crate::path::{BitmapPath, IndexMatch, Path, PathKey, PathKind, PathRef};
use crate::refs::{Below, Made, label, pass_through, targets_of};
use crate::scan::{is_index_key, renumber};
use crate::subselect::exec_param;
use crate::tid::has_ctid_on_right;
use crate::vars::{conjunction, make_var, pull_vars, push_unique, relids_of};
use ids::Oid;
use pgerror::{PgError, Result};
use plan::expr::{AggSplit, BoolExpr, BoolOp, Const, Expr, Location, TargetEntry, Var};
use plan::node::{
    Agg, AggStrategy, BitmapNode, GroupKeys, IndexProbe, Plan, PlanInfo, PlanNode, PlanRowMark,
    SortKeys,
};
use plan::query::{JoinType, LimitOption, RteKind};
use plan::walk;
use std::borrow::Cow;
use std::rc::Rc;

impl Glob<'_> {
    pub(crate) fn create(&mut self, root: &mut Root, path: &Path, want: &[Expr]) -> Result<Made> {
        let output = targets_of(want);
        // A path has columns alone; a node may compute expressions of them.
        let plan_width = match want.iter().all(|e| matches!(e, Expr::Var(_))) {
            true => path.width,
            false => self.row_width(root, want)?,
        };
        let info = PlanInfo {
            startup_cost: path.startup,
            total_cost: path.total,
            plan_rows: path.rows,
            plan_width,
            ..PlanInfo::default()
        };
        match &path.kind {
            PathKind::Empty => {
                let info = PlanInfo { target_list: output.clone(), ..info };
                let node = PlanNode::Result { child: None, constant_qual: Vec::new() };
                Ok(Made { plan: Plan { info, node }, output })
            }
            PathKind::Never => {
                let target_list = nulls_for(&output);
                Ok(Made { plan: crate::subselect::never_plan(target_list), output })
            }
            PathKind::SeqScan { rti, quals } => {
                let node = PlanNode::SeqScan { scanrelid: self.flat(root, *rti) };
                self.scan(root, path, info, node, quals, output)
            }
            PathKind::Sample { rti, quals } => {
                let RteKind::Relation { tablesample: Some(sample), .. } =
                    &root.query.rte(*rti).kind
                else {
                    return Err(PgError::internal("sample scan without TABLESAMPLE"));
                };
                let mut sample = (**sample).clone();
                for e in sample.args.iter_mut().chain(&mut sample.repeatable) {
                    *e = self.scan_expr(root, path, e);
                }
                let scanrelid = self.flat(root, *rti);
                let node = PlanNode::SampleScan { scanrelid, sample };
                self.scan(root, path, info, node, quals, output)
            }
            PathKind::Index { rti, m, quals } => {
                self.index_scan(root, path, info, *rti, m, quals, output)
            }
            PathKind::Bitmap { rti, bitmap, quals } => {
                let mut recheck = Vec::new();
                let bitmap = self.bitmap(root, path, *rti, bitmap, &mut recheck)?;
                // Conditions in the filter need no recheck.
                recheck.retain(|q| {
                    matches!(q, Expr::Bool(b) if b.boolop == BoolOp::Or) || !quals.contains(q)
                });
                let recheck = self.scan_exprs(root, path, &recheck);
                let node = PlanNode::BitmapHeapScan {
                    scanrelid: self.flat(root, *rti),
                    bitmap: Box::new(bitmap),
                    recheck,
                };
                self.scan(root, path, info, node, quals, output)
            }
            PathKind::Tid { rti, tid_quals, quals } => {
                let mut ordered = Vec::with_capacity(tid_quals.len());
                for q in tid_quals {
                    ordered.push(if has_ctid_on_right(*rti, q) {
                        self.commute(q)?
                    } else {
                        q.clone()
                    });
                }
                let tid_quals = self.scan_exprs(root, path, &ordered);
                let node = PlanNode::TidScan { scanrelid: self.flat(root, *rti), tid_quals };
                self.scan(root, path, info, node, quals, output)
            }
            PathKind::TidRange { rti, tid_quals, quals } => {
                let tid_quals = self.scan_exprs(root, path, tid_quals);
                let node = PlanNode::TidRangeScan { scanrelid: self.flat(root, *rti), tid_quals };
                self.scan(root, path, info, node, quals, output)
            }
            PathKind::Subquery { rti, plan, path: chosen, quals, .. } => {
                let child = self.create_subquery(root, *plan, chosen)?;
                for (id, e) in root.subqueries[*plan].params.clone() {
                    if !root.nest_params.iter().any(|(have, _)| *have == id) {
                        root.nest_params.push((id, e));
                    }
                }
                if quals.is_empty() && is_trivial(want, *rti, &child) {
                    return Ok(Made { plan: child, output });
                }
                if quals.is_empty()
                    && let Some(columns) = columns_of_append(*rti, &child, want)
                {
                    return self.append_columns(root, info, child, &columns, want);
                }
                let node = PlanNode::SubqueryScan {
                    scanrelid: self.flat(root, *rti),
                    child: Box::new(child),
                };
                self.scan(root, path, info, node, quals, output)
            }
            PathKind::Function { rti, quals } => {
                let RteKind::Function { functions, funcordinality } = &root.query.rte(*rti).kind
                else {
                    return Err(PgError::internal("function scan over something else"));
                };
                let ordinality = *funcordinality;
                let mut functions = functions.clone();
                for f in &mut functions {
                    f.funcexpr = self.scan_expr(root, path, &f.funcexpr);
                }
                let scanrelid = self.flat(root, *rti);
                let node = PlanNode::FunctionScan { scanrelid, functions, ordinality };
                self.scan(root, path, info, node, quals, output)
            }
            PathKind::Values { rti, quals } => {
                let RteKind::Values { values_lists, .. } = &root.query.rte(*rti).kind else {
                    return Err(PgError::internal("values scan over something else"));
                };
                let lists = values_lists.clone();
                let values_lists = lists.iter().map(|l| self.scan_exprs(root, path, l)).collect();
                let scanrelid = self.flat(root, *rti);
                let node = PlanNode::ValuesScan { scanrelid, values_lists };
                self.scan(root, path, info, node, quals, output)
            }
            PathKind::Cte { rti, quals } => {
                let RteKind::Cte { ctename, ctelevelsup, .. } = &root.query.rte(*rti).kind else {
                    return Err(PgError::internal("CTE scan over something else"));
                };
                let cte = root.find_cte(ctename, *ctelevelsup)?;
                let node = PlanNode::CteScan {
                    scanrelid: self.flat(root, *rti),
                    cte_plan_id: cte.plan_id,
                    cte_param: cte.param,
                };
                self.scan(root, path, info, node, quals, output)
            }
            PathKind::WorkTable { rti, wt_param, quals } => {
                let scanrelid = self.flat(root, *rti);
                let node = PlanNode::WorkTableScan { scanrelid, wt_param: *wt_param };
                self.scan(root, path, info, node, quals, output)
            }
            PathKind::NestLoop { jointype, outer, inner, join_quals, quals, inner_unique } => self
                .nest_loop(
                    root,
                    info,
                    *jointype,
                    outer,
                    inner,
                    &owned(join_quals),
                    quals,
                    *inner_unique,
                    output,
                ),
            PathKind::Hash { jointype, outer, inner, clauses, join_quals, quals, inner_unique } => {
                let (clauses, join_quals) = (&owned(clauses), &owned(join_quals));
                let mut used = join_quals.clone();
                used.extend(quals.iter().cloned());
                let mut sides = split_hash(clauses);
                let (o, i) = self.children(root, outer, inner, want, &used, &mut sides, true)?;
                let below = Below::both(&o.output, &i.output);
                let outer_only = Below::one(&o.output);
                let inner_only = Below::one(&i.output);
                let mut operators = Vec::new();
                let mut collations = Vec::new();
                for c in clauses {
                    if let Expr::OpExpr(op) = c {
                        operators.push(op.opno);
                        collations.push(op.inputcollid);
                    }
                }
                let node = PlanNode::HashJoin {
                    jointype: *jointype,
                    join_qual: below.fix_all(&self.cheap_first(join_quals)?)?,
                    inner_unique: *inner_unique,
                    hash_clauses: below.fix_all(clauses)?,
                    operators,
                    collations,
                    outer_keys: outer_only.fix_all(&sides.0)?,
                    inner_keys: inner_only.fix_all(&sides.1)?,
                    outer: Box::new(o.plan),
                    inner: Box::new(i.plan),
                };
                let joined = below.joined(*jointype);
                let info = PlanInfo {
                    target_list: joined.fix_targets(&output)?,
                    qual: joined.fix_all(&self.cheap_first(quals)?)?,
                    ..info
                };
                Ok(Made { plan: Plan { info, node }, output })
            }
            PathKind::Merge {
                jointype,
                outer,
                inner,
                clauses,
                keys,
                join_quals,
                quals,
                inner_unique,
            } => {
                let (clauses, join_quals) = (&owned(clauses), &owned(join_quals));
                let mut used = join_quals.clone();
                used.extend(quals.iter().cloned());
                let mut sides = split_hash(clauses);
                let (o, i) = self.children(root, outer, inner, want, &used, &mut sides, false)?;
                let below = Below::both(&o.output, &i.output);
                let node = PlanNode::MergeJoin {
                    jointype: *jointype,
                    join_qual: below.fix_all(&self.cheap_first(join_quals)?)?,
                    inner_unique: *inner_unique,
                    merge_clauses: below.fix_all(clauses)?,
                    families: keys.iter().map(|k| k.family).collect(),
                    collations: keys.iter().map(|k| k.collation).collect(),
                    descending: keys.iter().map(|k| k.descending).collect(),
                    nulls_first: keys.iter().map(|k| k.nulls_first).collect(),
                    outer: Box::new(o.plan),
                    inner: Box::new(i.plan),
                };
                let joined = below.joined(*jointype);
                let info = PlanInfo {
                    target_list: joined.fix_targets(&output)?,
                    qual: joined.fix_all(&self.cheap_first(quals)?)?,
                    ..info
                };
                Ok(Made { plan: Plan { info, node }, output })
            }
            PathKind::Memoize { child, vars, operators, collations, binary_mode } => {
                let c = self.create(root, child, want)?;
                let mut param_exprs = Vec::new();
                for v in vars {
                    if let Some((id, e)) = root.nest_params.iter().find(|(_, e)| e == v) {
                        param_exprs.push(exec_param(*id, e));
                    }
                }
                if param_exprs.len() < vars.len() {
                    return Ok(c);
                }
                let info = PlanInfo { target_list: pass_through(&c.output), ..info };
                let node = PlanNode::Memoize {
                    child: Box::new(c.plan),
                    param_exprs,
                    operators: operators.clone(),
                    collations: collations.clone(),
                    binary_mode: *binary_mode,
                };
                Ok(Made { plan: Plan { info, node }, output: c.output })
            }
            PathKind::Sort { child } => {
                let mut ask = want.to_vec();
                path.order.iter().for_each(|k| push_unique(&mut ask, &k.expr));
                let c = self.create(root, child, &ask)?;
                let keys = self.sort_keys(&path.order, &c.output)?;
                let info = PlanInfo { target_list: pass_through(&c.output), ..info };
                let node = PlanNode::Sort { child: Box::new(c.plan), keys };
                Ok(Made { plan: Plan { info, node }, output: c.output })
            }
            PathKind::Material { child } => {
                let c = self.create(root, child, want)?;
                let info = PlanInfo { target_list: pass_through(&c.output), ..info };
                let node = PlanNode::Material { child: Box::new(c.plan) };
                Ok(Made { plan: Plan { info, node }, output: c.output })
            }
            PathKind::Unique { child, columns, operators } => {
                // Other wanted columns, such as a ctid, are taken from any row of the group.
                let mut ask = columns.clone();
                want.iter().for_each(|e| push_unique(&mut ask, e));
                let c = self.create(root, child, &ask)?;
                let keys = GroupKeys {
                    cols: c.output.iter().take(columns.len()).map(|t| t.resno).collect(),
                    eq_operators: operators.clone(),
                    collations: columns.iter().map(Expr::collation).collect(),
                };
                let info = PlanInfo { target_list: pass_through(&c.output), ..info };
                let node = PlanNode::Agg(Box::new(Agg {
                    child: Box::new(c.plan),
                    strategy: AggStrategy::Hashed,
                    split: AggSplit::Simple,
                    keys,
                    num_groups: path.rows,
                    grouping_sets: Vec::new(),
                    chain: Vec::new(),
                }));
                Ok(Made { plan: Plan { info, node }, output: c.output })
            }
            PathKind::Gate { child, quals } => {
                let mut c = self.create(root, child, want)?;
                if let PlanNode::Result { child: None, constant_qual } = &mut c.plan.node {
                    constant_qual.extend(self.cheap_first(quals)?.into_owned());
                    return Ok(c);
                }
                let info = PlanInfo { target_list: pass_through(&c.output), ..info };
                let node = PlanNode::Result {
                    child: Some(Box::new(c.plan)),
                    constant_qual: self.cheap_first(quals)?.into_owned(),
                };
                Ok(Made { plan: Plan { info, node }, output: c.output })
            }
            PathKind::Filter { child, quals } => {
                let mut ask = Vec::new();
                want.iter().chain(quals).for_each(|e| pull_vars(e, &mut ask));
                let c = self.create(root, child, &ask)?;
                let below = Below::one(&c.output);
                let info = PlanInfo {
                    target_list: below.fix_targets(&output)?,
                    qual: below.fix_all(&self.cheap_first(quals)?)?,
                    ..info
                };
                let node =
                    PlanNode::Result { child: Some(Box::new(c.plan)), constant_qual: Vec::new() };
                Ok(Made { plan: Plan { info, node }, output })
            }
            PathKind::Target { child, want, accepts_more } => {
                self.create_target(root, child, want, *accepts_more)
            }
            PathKind::IncrementalSort { child, presorted } => {
                let c = self.create(root, child, &[])?;
                let keys = self.sort_keys(&path.order, &c.output)?;
                let info = PlanInfo { target_list: pass_through(&c.output), ..info };
                let presorted_cols = *presorted as i32;
                let child = Box::new(c.plan);
                let node = PlanNode::IncrementalSort { child, keys, presorted_cols };
                Ok(Made { plan: Plan { info, node }, output: c.output })
            }
            PathKind::Project { child, want } => {
                let c = self.create(root, child, &[])?;
                let mut made = self.project_sets(root, c, want)?;
                let top = &mut made.plan.info;
                (top.startup_cost, top.total_cost) = (path.startup, path.total);
                top.plan_rows = path.rows;
                Ok(made)
            }
            PathKind::Group { child, stage, strategy } => {
                self.create_group(root, path, child, stage, *strategy)
            }
            PathKind::MinMax { stage } => self.create_min_max(root, path, stage),
            PathKind::Window { child, stage } => self.create_window(root, path, child, stage),
            PathKind::Distinct { child, hashed } => {
                self.create_distinct(root, path, child, *hashed)
            }
            PathKind::Arm { .. }
            | PathKind::Convert { .. }
            | PathKind::Append { .. }
            | PathKind::MergeAppend { .. }
            | PathKind::SetSort { .. }
            | PathKind::UnionDistinct { .. }
            | PathKind::SetOp { .. } => self.create_set(root, path),
            PathKind::LockRows { child, marks } => self.lock_rows(root, info, child, marks),
            PathKind::Limit { child } => self.limit_node(root, info, child),
            PathKind::Modify { child, stage } => self.create_modify(root, path, child, stage),
        }
    }

    /// The joins' path with the expressions that the stages above need.
    fn create_target(
        &mut self,
        root: &mut Root,
        child: &PathRef,
        want: &[Expr],
        accepts_more: bool,
    ) -> Result<Made> {
        let all = if accepts_more { all_columns(root, child, want) } else { None };
        let want = all.as_deref().unwrap_or(want);
        let mut made = self.create(root, child, want)?;
        if !matches!(child.kind, PathKind::Subquery { .. }) {
            made.plan.info.plan_width = self.row_width(root, want)?;
        }
        Ok(made)
    }

    /// Creates the plan of a subquery from one of its paths.
    pub(crate) fn create_subquery(
        &mut self,
        root: &mut Root,
        plan: usize,
        path: &Path,
    ) -> Result<Plan> {
        let level = root.subqueries[plan].level.take();
        let mut level = level.ok_or_else(|| PgError::internal("subquery is created twice"))?;
        let made = self.create_level(&mut level, path);
        root.subqueries[plan].level = Some(level);
        made
    }

    fn lock_rows(
        &mut self,
        root: &mut Root,
        info: PlanInfo,
        child: &PathRef,
        marks: &[PlanRowMark],
    ) -> Result<Made> {
        let mut made = self.create(root, child, &[])?;
        // LockRows finds the ctid columns by their names.
        label(&mut made.plan, &root.query.target_list);
        let info = PlanInfo {
            plan_width: made.plan.info.plan_width,
            target_list: pass_through(&made.output),
            ..info
        };
        let node = PlanNode::LockRows {
            child: Box::new(made.plan),
            row_marks: marks.to_vec(),
            epq_param: self.new_param(Oid::INVALID),
        };
        Ok(Made { plan: Plan { info, node }, output: made.output })
    }

    fn limit_node(&mut self, root: &mut Root, info: PlanInfo, child: &PathRef) -> Result<Made> {
        let made = self.create(root, child, &[])?;
        let q = &root.query;
        let (offset, count) = (q.limit_offset.clone(), q.limit_count.clone());
        let with_ties = match q.limit_option {
            LimitOption::Count => None,
            LimitOption::WithTies => {
                Some(self.group_keys(&q.sort_clause, &q.target_list, &made.output)?)
            }
        };
        let info = PlanInfo {
            plan_width: made.plan.info.plan_width,
            target_list: pass_through(&made.output),
            ..info
        };
        let child = Box::new(made.plan);
        let node = PlanNode::Limit { child, offset, count, with_ties };
        Ok(Made { plan: Plan { info, node }, output: made.output })
    }

    /// As [`Glob::create`], for a parent that accepts additional columns: a subquery with more
    /// columns then needs no SubqueryScan to remove them. Counterpart: `use_physical_tlist`.
    fn create_any(&mut self, root: &mut Root, path: &Path, want: &[Expr]) -> Result<Made> {
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

    /// Sorts conditions by evaluation cost, cheapest first; the sort is stable. Counterpart:
    /// `order_qual_clauses`.
    fn cheap_first<'q>(&mut self, quals: &'q [Expr]) -> Result<Cow<'q, [Expr]>> {
        if quals.len() < 2 {
            return Ok(Cow::Borrowed(quals));
        }
        let unit = self.facts.costs().cpu_operator;
        let mut priced = Vec::with_capacity(quals.len());
        for q in quals {
            priced.push((self.expr_cost(q, unit)?, q));
        }
        if priced.is_sorted_by(|a, b| a.0 <= b.0) {
            return Ok(Cow::Borrowed(quals));
        }
        priced.sort_by(|a, b| a.0.total_cmp(&b.0));
        Ok(priced.into_iter().map(|(_, q)| q.clone()).collect())
    }

    /// The entry's index in the flat range table.
    pub(crate) fn flat(&self, root: &Root, rti: i32) -> i32 {
        rti + root.rt_offset
    }

    fn scan(
        &mut self,
        root: &mut Root,
        path: &Path,
        info: PlanInfo,
        node: PlanNode,
        quals: &[Expr],
        output: Vec<TargetEntry>,
    ) -> Result<Made> {
        let quals = self.cheap_first(quals)?;
        let qual = self.scan_exprs(root, path, &quals);
        let target_list = output
            .iter()
            .map(|t| TargetEntry { expr: self.scan_expr(root, path, &t.expr), ..t.clone() })
            .collect();
        let info = PlanInfo { target_list, qual, ..info };
        Ok(Made { plan: Plan { info, node }, output })
    }

    fn scan_exprs(&mut self, root: &mut Root, path: &Path, exprs: &[Expr]) -> Vec<Expr> {
        exprs.iter().map(|e| self.scan_expr(root, path, e)).collect()
    }

    /// Converts an expression of a scan: its own columns are renumbered to the flat range table,
    /// columns of enclosing nested loops become exec parameters (recorded in `Root::nest_params`).
    fn scan_expr(&mut self, root: &mut Root, path: &Path, expr: &Expr) -> Expr {
        let mut e = expr.clone();
        let offset = root.rt_offset;
        walk::deep_expr_mut(&mut e, 0, &mut |e, _| {
            if let Expr::Var(v) = e
                && v.varno > 0
            {
                if path.relids.contains(&v.varno) {
                    v.varno += offset;
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
                c.cvarno += offset;
            }
            true
        });
        e
    }

    fn index_scan(
        &mut self,
        root: &mut Root,
        path: &Path,
        info: PlanInfo,
        rti: i32,
        m: &IndexMatch,
        quals: &[Expr],
        output: Vec<TargetEntry>,
    ) -> Result<Made> {
        let probe = self.probe(root, path, rti, m);
        let scanrelid = self.flat(root, rti);
        let node = if m.index_only {
            let mut tlist = Vec::new();
            let table = root.rel(rti)?.table.clone();
            let column = |attno: i16| {
                let at = usize::try_from(attno - 1).ok();
                let col = at.and_then(|i| table.as_ref()?.columns.get(i));
                let (ty, typmod, coll) = col.map_or((Oid::INVALID, -1, Oid::INVALID), |c| {
                    (c.type_oid, c.typmod, c.collation)
                });
                make_var(scanrelid, attno, ty, typmod, coll)
            };
            for key in &m.index.keys {
                tlist.push(match &key.expr {
                    Some(expr) => renumber(expr, scanrelid),
                    None => column(key.attno),
                });
            }
            tlist.extend(m.index.include.iter().map(|attno| column(*attno)));
            PlanNode::IndexOnlyScan { scanrelid, probe, index_tlist: targets_of(&tlist) }
        } else {
            PlanNode::IndexScan { scanrelid, probe }
        };
        self.scan(root, path, info, node, quals, output)
    }

    fn probe(&mut self, root: &mut Root, path: &Path, rti: i32, m: &IndexMatch) -> IndexProbe {
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
        root: &mut Root,
        path: &Path,
        rti: i32,
        b: &BitmapPath,
        recheck: &mut Vec<Expr>,
    ) -> Result<BitmapNode> {
        let info = |rel_tuples: f64| PlanInfo {
            total_cost: b.cost(),
            plan_rows: crate::rel::clamp_rows(rel_tuples * b.selectivity()),
            ..PlanInfo::default()
        };
        let tuples = root.rel(rti)?.tuples;
        Ok(match b {
            BitmapPath::Index { m, .. } => {
                // For a derived condition, recheck the original, which is stricter.
                recheck.extend(m.quals.iter().map(|q| match q.lossy || q.is_truth_value() {
                    true => q.original.clone(),
                    false => q.qual.clone(),
                }));
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

    /// Creates both children of a join. Each child must output the columns that the join's
    /// conditions, keys and target list need of it.
    fn children(
        &mut self,
        root: &mut Root,
        outer: &PathRef,
        inner: &PathRef,
        want: &[Expr],
        quals: &[Expr],
        sides: &mut (Vec<Expr>, Vec<Expr>),
        hashed: bool,
    ) -> Result<(Made, Made)> {
        let mut vars = Vec::new();
        want.iter().chain(quals).for_each(|e| pull_vars(e, &mut vars));
        sides.0.iter().chain(&sides.1).for_each(|e| pull_vars(e, &mut vars));
        let (mut ask_outer, mut ask_inner) = (Vec::new(), Vec::new());
        for v in vars {
            if let Expr::Var(x) = &v {
                if outer.relids.contains(&x.varno) {
                    ask_outer.push(v);
                } else if inner.relids.contains(&x.varno) {
                    ask_inner.push(v);
                }
            }
        }
        let o = self.create_any(root, outer, &ask_outer)?;
        // The inner side of a hash join outputs only needed columns, to keep the hash table small.
        let i = match hashed {
            true => self.create(root, inner, &ask_inner)?,
            false => self.create_any(root, inner, &ask_inner)?,
        };
        Ok((o, i))
    }

    fn nest_loop(
        &mut self,
        root: &mut Root,
        info: PlanInfo,
        jointype: JoinType,
        outer: &PathRef,
        inner: &PathRef,
        join_quals: &[Expr],
        quals: &[Expr],
        inner_unique: bool,
        output: Vec<TargetEntry>,
    ) -> Result<Made> {
        let want: Vec<Expr> = output.iter().map(|t| t.expr.clone()).collect();
        let mut vars = Vec::new();
        want.iter().chain(join_quals).chain(quals).for_each(|e| pull_vars(e, &mut vars));
        let (mut ask_outer, mut ask_inner) = (Vec::new(), Vec::new());
        let mut from_above = Vec::new();
        for v in vars {
            match &v {
                Expr::Var(x) if outer.relids.contains(&x.varno) => ask_outer.push(v),
                Expr::Var(x) if inner.relids.contains(&x.varno) => ask_inner.push(v),
                _ => from_above.push(v),
            }
        }
        let _ = from_above;
        // The inner side is created first: it determines which outer columns become parameters.
        let before = root.nest_params.len();
        let i = self.create_any(root, inner, &ask_inner)?;
        let mut mine = Vec::new();
        let mut k = before;
        while k < root.nest_params.len() {
            let (_, e) = &root.nest_params[k];
            if relids_of(e).is_subset(&outer.relids) {
                mine.push(root.nest_params.remove(k));
            } else {
                k += 1;
            }
        }
        // Parameters that were requested earlier, by a sibling, may also be set by this join.
        let mut k = 0;
        while k < before.min(root.nest_params.len()) {
            if relids_of(&root.nest_params[k].1).is_subset(&outer.relids) {
                mine.push(root.nest_params.remove(k));
            } else {
                k += 1;
            }
        }
        for (_, e) in &mine {
            pull_vars(e, &mut ask_outer);
        }
        ask_outer.dedup();
        let mut unique = Vec::new();
        ask_outer.iter().for_each(|e| push_unique(&mut unique, e));
        let o = self.create_any(root, outer, &unique)?;
        let below = Below::both(&o.output, &i.output);
        let outer_only = Below::one(&o.output);
        let mut nest_params = Vec::new();
        for (id, e) in &mine {
            nest_params.push((*id, outer_only.fix(e)?));
        }
        let node = PlanNode::NestLoop {
            jointype,
            join_qual: below.fix_all(&self.cheap_first(join_quals)?)?,
            inner_unique,
            nest_params,
            outer: Box::new(o.plan),
            inner: Box::new(i.plan),
        };
        let joined = below.joined(jointype);
        let info = PlanInfo {
            target_list: joined.fix_targets(&output)?,
            qual: joined.fix_all(&self.cheap_first(quals)?)?,
            ..info
        };
        Ok(Made { plan: Plan { info, node }, output })
    }

    /// The sort columns of an order, as positions in `output`.
    pub(crate) fn sort_keys(
        &mut self,
        order: &[PathKey],
        output: &[TargetEntry],
    ) -> Result<SortKeys> {
        let mut keys = SortKeys::default();
        for k in order {
            let key = without_collation(&k.expr);
            let t = output
                .iter()
                .find(|t| without_collation(&t.expr) == key)
                .ok_or_else(|| PgError::internal("sort column not found in target list"))?;
            let ty = k.expr.type_oid();
            let strategy = if k.descending { 5 } else { 1 };
            let op = self
                .facts
                .family_operator(k.family, ty, ty, strategy)?
                .ok_or_else(|| PgError::internal("missing ordering operator"))?;
            self.facts.check_collation(k.collation)?;
            // The fields of a row have their own collations.
            if let Expr::Row(row) = &*k.expr {
                row.args.iter().try_for_each(|a| self.facts.check_collation(a.collation()))?;
            }
            keys.cols.push(t.resno);
            keys.operators.push(op);
            keys.collations.push(k.collation);
            keys.nulls_first.push(k.nulls_first);
        }
        Ok(keys)
    }
}

/// The expression without a RelabelType that changes only its collation: a sort column has the
/// collation of its key.
fn without_collation(e: &Expr) -> &Expr {
    match e {
        Expr::Relabel(r)
            if r.resulttype == r.arg.type_oid() && r.resulttypmod == r.arg.typmod() =>
        {
            &r.arg
        }
        e => e,
    }
}

/// All columns of a subquery path without conditions, if `want` has only columns of the subquery.
fn all_columns(root: &Root, path: &Path, want: &[Expr]) -> Option<Vec<Expr>> {
    let PathKind::Subquery { rti, plan, quals, .. } = &path.kind else { return None };
    let of_it = |e: &Expr| matches!(e, Expr::Var(v) if v.varno == *rti && v.varattno > 0);
    if !quals.is_empty() || !want.iter().all(of_it) {
        return None;
    }
    let level = root.subqueries[*plan].level.as_ref()?;
    let columns = level.query.target_list.iter().filter(|t| !t.resjunk);
    let columns = columns.map(|t| {
        // Use the query's own Var: its collation may differ from that of the plan's expression.
        let asked = want.iter().find(|e| matches!(e, Expr::Var(v) if v.varattno == t.resno));
        let (ty, typmod, collation) = (t.expr.type_oid(), t.expr.typmod(), t.expr.collation());
        asked.cloned().unwrap_or_else(|| make_var(*rti, t.resno, ty, typmod, collation))
    });
    Some(columns.collect())
}

fn nulls_for(output: &[TargetEntry]) -> Vec<TargetEntry> {
    output.iter().map(|t| TargetEntry { expr: null_for(&t.expr), ..t.clone() }).collect()
}

/// A NULL constant of the expression's type.
pub(crate) fn null_for(e: &Expr) -> Expr {
    Expr::Const(Const {
        consttype: e.type_oid(),
        consttypmod: e.typmod(),
        constcollid: e.collation(),
        constlen: -1,
        constbyval: false,
        value: types::Datum::Null,
        location: Location::UNKNOWN,
    })
}

fn owned(quals: &[Rc<Expr>]) -> Vec<Expr> {
    quals.iter().map(|q| Expr::clone(q)).collect()
}

/// The outer and inner operands of hash or merge clauses.
fn split_hash(clauses: &[Expr]) -> (Vec<Expr>, Vec<Expr>) {
    let mut out = (Vec::new(), Vec::new());
    for c in clauses {
        if let Expr::OpExpr(op) = c
            && let [a, b] = op.args.as_slice()
        {
            out.0.push(a.clone());
            out.1.push(b.clone());
        }
    }
    out
}

/// True if a SubqueryScan above the subquery's plan would return its rows unchanged. Counterpart:
/// setrefs.c (`trivial_subqueryscan`).
fn is_trivial(want: &[Expr], rti: i32, child: &Plan) -> bool {
    // The input rows of SetOp have an additional flag column.
    !matches!(child.node, PlanNode::SetOp { .. })
        && are_all_columns(want, rti, &child.info.target_list)
}

/// True if `want` is the list of all columns of the subquery in its order.
fn are_all_columns(want: &[Expr], rti: i32, columns: &[TargetEntry]) -> bool {
    want.len() == columns.len()
        && columns.iter().all(|t| !t.resjunk)
        && want.iter().zip(1..).all(|(e, n)| {
            matches!(e, Expr::Var(v)
                if v.varno == rti && v.varattno == n && v.varlevelsup == 0)
        })
}

/// Replaces an expression that is key `at` (0-based) of the index by a Var of the index column.
fn become_index_column(e: &mut Expr, rti: i32, at: usize, index: &crate::facts::IndexFacts) {
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
