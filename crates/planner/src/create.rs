//! Creates the plan of the chosen path. Counterpart: createplan.c.
//!
//! Every node outputs exactly the expressions that its parent requires (`want`, over the columns of
//! this query level). The parent finds its inputs by these expressions, so they are returned in
//! [`CreatedPlan::output`]; [`CreatedPlan::plan`] has the executable target list.

use crate::state::{Planner, PlannerInfo};
use crate::subselect::exec_param;
use ids::Oid;
use ids::strategy::btree;
use pgerror::{PgError, Result};
use plan::expr::{AggSplit, Expr, TargetEntry};
use plan::node::{Agg, AggStrategy, GroupKeys, Plan, PlanInfo, PlanNode, PlanRowMark, SortKeys};
use plan::query::LimitOption;
use querytree::path::{Path, PathKey, PathKind, PathRef};
use querytree::refs::{ChildOutputs, CreatedPlan, label, pass_through, targets_of};
use querytree::unused::null_for;
use querytree::vars::{make_var, pull_vars, push_unique, relids_of, substitute};
use std::borrow::Cow;

impl Planner<'_> {
    /// Creates the plan of a path; it outputs `want`. Nodes of the upper stages output fixed
    /// expressions instead.
    pub(crate) fn create(
        &mut self,
        root: &mut PlannerInfo,
        path: &Path,
        want: &[Expr],
    ) -> Result<CreatedPlan> {
        // The path's width counts columns only, but the node may compute expressions of them.
        let plan_width = match want.iter().all(|e| matches!(e, Expr::Var(_))) {
            true => path.width,
            false => self.row_width(root, want)?,
        };
        let info = PlanInfo { plan_width, ..path.info() };
        match &path.kind {
            PathKind::Empty => Ok(one_row(info, want)),
            PathKind::Dummy => Ok(no_row(want)),
            PathKind::SeqScan { .. }
            | PathKind::Sample { .. }
            | PathKind::Index { .. }
            | PathKind::Bitmap { .. }
            | PathKind::Tid { .. }
            | PathKind::TidRange { .. }
            | PathKind::Function { .. }
            | PathKind::Values { .. }
            | PathKind::Cte { .. }
            | PathKind::NamedTuplestore { .. }
            | PathKind::WorkTable { .. } => self.create_scan(root, path, info, want),
            PathKind::Subquery { .. } => self.subquery_scan(root, path, info, want),
            PathKind::AppendScan { .. } => self.create_append_scan(root, path, info, want),
            PathKind::AppendParts { .. } => self.create_append_parts(root, path, info, want),
            PathKind::NestLoop(join) => self.nest_loop(root, info, join, want),
            PathKind::Hash(join) => self.hash_join(root, info, join, want),
            PathKind::Merge(join) => self.merge_join(root, info, join, want),
            PathKind::Memoize { .. } => self.memoize(root, path, info, want),
            PathKind::Sort { child } => self.sort_node(root, path, info, child, want),
            PathKind::IncrementalSort { child, presorted } => {
                self.incremental_sort(root, path, info, child, *presorted)
            }
            PathKind::Material { child } => {
                let c = self.create(root, child, want)?;
                let info = PlanInfo { target_list: pass_through(&c.output), ..info };
                let node = PlanNode::Material { child: Box::new(c.plan) };
                Ok(CreatedPlan { plan: Plan { info, node }, output: c.output })
            }
            PathKind::Unique { child, columns, operators } => {
                self.unique_rows(root, info, child, (columns, operators), want)
            }
            PathKind::Gate { child, quals } => self.gate(root, info, child, quals, want),
            PathKind::Filter { child, quals } => self.filter(root, info, child, quals, want),
            PathKind::Target { child, want, accepts_more } => {
                self.create_target(root, child, want, *accepts_more)
            }
            PathKind::Project { child, want } => self.project_node(root, path, child, want),
            PathKind::Group { child, stage, .. } => self.create_group(root, path, child, stage),
            PathKind::MinMax { stage } => self.create_min_max(root, path, stage),
            PathKind::Window { child, stage } => self.create_window(root, path, child, stage),
            PathKind::Distinct { child, hashed } => {
                self.create_distinct(root, path, child, *hashed)
            }
            PathKind::SetInput { .. }
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

    fn memoize(
        &mut self,
        root: &mut PlannerInfo,
        path: &Path,
        info: PlanInfo,
        want: &[Expr],
    ) -> Result<CreatedPlan> {
        let PathKind::Memoize { child, vars, operators, collations, binary_mode } = &path.kind
        else {
            return Err(PgError::internal("Memoize path expected"));
        };
        let c = self.create(root, child, want)?;
        let mut param_exprs = Vec::new();
        for v in vars {
            let mut key = v.clone();
            substitute(&mut key, &mut |e| {
                let known = root.nest_params.iter().find(|(_, known)| known == e);
                known.map(|(id, e)| exec_param(*id, e))
            });
            if !relids_of(&key).is_empty() {
                return Ok(c);
            }
            param_exprs.push(key);
        }
        let info = PlanInfo { target_list: pass_through(&c.output), ..info };
        let node = PlanNode::Memoize {
            child: Box::new(c.plan),
            param_exprs,
            operators: operators.clone(),
            collations: collations.clone(),
            binary_mode: *binary_mode,
            single_row: false,
        };
        Ok(CreatedPlan { plan: Plan { info, node }, output: c.output })
    }

    fn sort_node(
        &mut self,
        root: &mut PlannerInfo,
        path: &Path,
        info: PlanInfo,
        child: &Path,
        want: &[Expr],
    ) -> Result<CreatedPlan> {
        let mut ask = want.to_vec();
        path.order.iter().for_each(|k| push_unique(&mut ask, &k.expr));
        let c = self.create(root, child, &ask)?;
        let keys = self.sort_keys(&path.order, &c.output)?;
        let info = PlanInfo { target_list: pass_through(&c.output), ..info };
        let node = PlanNode::Sort { child: Box::new(c.plan), keys };
        Ok(CreatedPlan { plan: Plan { info, node }, output: c.output })
    }

    fn incremental_sort(
        &mut self,
        root: &mut PlannerInfo,
        path: &Path,
        info: PlanInfo,
        child: &Path,
        presorted: usize,
    ) -> Result<CreatedPlan> {
        let c = self.create(root, child, &[])?;
        let keys = self.sort_keys(&path.order, &c.output)?;
        let info = PlanInfo { target_list: pass_through(&c.output), ..info };
        let child = Box::new(c.plan);
        let node = PlanNode::IncrementalSort { child, keys, presorted_cols: presorted as i32 };
        Ok(CreatedPlan { plan: Plan { info, node }, output: c.output })
    }

    /// A HashAggregate that removes duplicates of the columns. Other wanted columns, such as a
    /// ctid, are taken from any row of the group.
    fn unique_rows(
        &mut self,
        root: &mut PlannerInfo,
        info: PlanInfo,
        child: &Path,
        (columns, operators): (&[Expr], &[Oid]),
        want: &[Expr],
    ) -> Result<CreatedPlan> {
        let mut ask = columns.to_vec();
        want.iter().for_each(|e| push_unique(&mut ask, e));
        let c = self.create(root, child, &ask)?;
        let keys = GroupKeys {
            cols: c.output.iter().take(columns.len()).map(|t| t.resno).collect(),
            eq_operators: operators.to_vec(),
            collations: columns.iter().map(Expr::collation).collect(),
        };
        let info = PlanInfo { target_list: pass_through(&c.output), ..info };
        let node = PlanNode::Agg(Box::new(Agg {
            child: Box::new(c.plan),
            strategy: AggStrategy::Hashed,
            split: AggSplit::Simple,
            keys,
            num_groups: info.plan_rows,
            grouping_sets: Vec::new(),
            chain: Vec::new(),
        }));
        Ok(CreatedPlan { plan: Plan { info, node }, output: c.output })
    }

    /// A Result node that tests one-time conditions.
    fn gate(
        &mut self,
        root: &mut PlannerInfo,
        info: PlanInfo,
        child: &Path,
        quals: &[Expr],
        want: &[Expr],
    ) -> Result<CreatedPlan> {
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
        Ok(CreatedPlan { plan: Plan { info, node }, output: c.output })
    }

    /// A Result node with conditions on the child's rows.
    fn filter(
        &mut self,
        root: &mut PlannerInfo,
        info: PlanInfo,
        child: &Path,
        quals: &[Expr],
        want: &[Expr],
    ) -> Result<CreatedPlan> {
        let output = targets_of(want);
        let mut ask = Vec::new();
        want.iter().chain(quals).for_each(|e| pull_vars(e, &mut ask));
        let c = self.create(root, child, &ask)?;
        let below = ChildOutputs::one(&c.output);
        let info = PlanInfo {
            target_list: below.fix_targets(&output)?,
            qual: below.fix_all(&self.cheap_first(quals)?)?,
            ..info
        };
        let node = PlanNode::Result { child: Some(Box::new(c.plan)), constant_qual: Vec::new() };
        Ok(CreatedPlan { plan: Plan { info, node }, output })
    }

    fn project_node(
        &mut self,
        root: &mut PlannerInfo,
        path: &Path,
        child: &Path,
        want: &[Expr],
    ) -> Result<CreatedPlan> {
        let c = self.create(root, child, &[])?;
        let mut made = self.project_sets(root, c, want)?;
        let top = &mut made.plan.info;
        (top.startup_cost, top.total_cost) = (path.startup, path.total);
        top.plan_rows = path.rows;
        Ok(made)
    }

    /// Creates the plan of the joins' path, with the expressions that the stages above need.
    fn create_target(
        &mut self,
        root: &mut PlannerInfo,
        child: &PathRef,
        want: &[Expr],
        accepts_more: bool,
    ) -> Result<CreatedPlan> {
        let all = if accepts_more { all_columns(root, child, want) } else { None };
        let want = all.as_deref().unwrap_or(want);
        let mut made = self.create(root, child, want)?;
        if !matches!(child.kind, PathKind::Subquery { .. }) {
            made.plan.info.plan_width = self.row_width(root, want)?;
        }
        Ok(made)
    }

    fn lock_rows(
        &mut self,
        root: &mut PlannerInfo,
        info: PlanInfo,
        child: &PathRef,
        marks: &[PlanRowMark],
    ) -> Result<CreatedPlan> {
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
        Ok(CreatedPlan { plan: Plan { info, node }, output: made.output })
    }

    fn limit_node(
        &mut self,
        root: &mut PlannerInfo,
        info: PlanInfo,
        child: &PathRef,
    ) -> Result<CreatedPlan> {
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
        Ok(CreatedPlan { plan: Plan { info, node }, output: made.output })
    }

    /// Sorts conditions by evaluation cost, cheapest first; the sort is stable. Counterpart:
    /// `order_qual_clauses`.
    pub(crate) fn cheap_first<'q>(&mut self, quals: &'q [Expr]) -> Result<Cow<'q, [Expr]>> {
        if quals.len() < 2 {
            return Ok(Cow::Borrowed(quals));
        }
        let unit = self.host.costs().cpu_operator;
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
    pub(crate) fn flat(&self, root: &PlannerInfo, rti: i32) -> i32 {
        root.flat(rti)
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
            let strategy = if k.descending { btree::GREATER } else { btree::LESS };
            let op = self
                .host
                .family_operator(k.family, ty, ty, strategy)?
                .ok_or_else(|| PgError::internal("missing ordering operator"))?;
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
pub(crate) fn all_columns(root: &PlannerInfo, path: &Path, want: &[Expr]) -> Option<Vec<Expr>> {
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

/// A Result node without a child, which computes the expressions once.
fn one_row(info: PlanInfo, want: &[Expr]) -> CreatedPlan {
    let output = targets_of(want);
    let info = PlanInfo { target_list: output.clone(), ..info };
    let node = PlanNode::Result { child: None, constant_qual: Vec::new() };
    CreatedPlan { plan: Plan { info, node }, output }
}

/// A Result node that returns no row, with columns of the expressions' types.
fn no_row(want: &[Expr]) -> CreatedPlan {
    let output = targets_of(want);
    let nulls = output.iter().map(|t| TargetEntry { expr: null_for(&t.expr), ..t.clone() });
    CreatedPlan { plan: crate::subselect::never_plan(nulls.collect()), output }
}

/// True if `want` is the list of all columns of the subquery in its order.
pub(crate) fn are_all_columns(want: &[Expr], rti: i32, columns: &[TargetEntry]) -> bool {
    want.len() == columns.len()
        && columns.iter().all(|t| !t.resjunk)
        && want.iter().zip(1..).all(|(e, n)| {
            matches!(e, Expr::Var(v)
                if v.varno == rti && v.varattno == n && v.varlevelsup == 0)
        })
}
