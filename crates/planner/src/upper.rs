//! Plans a query level: the paths of the joins, and of the stages above them (grouping, windows,
//! set-returning functions, DISTINCT, ORDER BY, row locks, LIMIT). Counterpart: planner.c
//! (grouping_planner).
//!
//! Each stage makes a set of paths above those of the stage below; a path is kept if no other one
//! is better in cost and order. The level above, or [`Planner::plan_of`], chooses one path, which
//! then becomes a plan.

use crate::group::make_keys_distinct;
use crate::join::JoinRel;
use crate::need::target_needs;
use crate::partgroup::PartGrouping;
use crate::rel::clamp_rows;
use crate::runcond::active_windows;
use crate::sorting::limits_rows;
use crate::state::{LevelInput, PlannedLevel, Planner, PlannerInfo};
use crate::window::collect_window_funcs;
use pgerror::{PgError, Result};
use plan::expr::{AggSplit, Expr, TargetEntry};
use plan::node::{GroupKeys, Plan, PlanRowMark};
use plan::query::{CmdType, FromExpr, LockStrength, Query, RangeTblEntry, SortGroupClause};
use querytree::path::{Path, PathKey, PathKind, PathSet};
use querytree::pullup::lateral_exprs;
use querytree::quals::{Problem, is_true};
use querytree::refs::label;
use querytree::relids::Relids;
use querytree::stage::Grouping;
use querytree::vars::{conjuncts, contains_srf, pull_vars, push_unique, target_for};
use std::rc::Rc;
use stdx::stack::deep;

impl Planner<'_> {
    /// Finds the paths of one query level.
    pub(crate) fn plan_level(&mut self, query: Query, input: LevelInput) -> Result<PlannedLevel> {
        self.enter()?;
        let planned = deep(|| self.level_paths(query, input));
        self.leave();
        planned
    }

    fn level_paths(&mut self, query: Query, input: LevelInput) -> Result<PlannedLevel> {
        let mut root = Box::new(PlannerInfo::new(query, input));
        let paths = if root.query.command_type == CmdType::Select {
            self.select_paths(&mut root)?
        } else {
            self.modify_paths(&mut root)?
        };
        let rows = paths.cheapest().map_or(0.0, |p| p.rows);
        let paths = charged(&root, paths);
        let groups = match root.query.command_type {
            CmdType::Select => self.distinct_rows(&root, rows)?,
            _ => rows,
        };
        let column_widths = match root.query.command_type {
            CmdType::Select => self.column_widths(&root)?,
            _ => Vec::new(),
        };
        Ok(PlannedLevel { root, paths, groups, rows, column_widths })
    }

    /// Creates the plan of the level's best path for the tuple fraction that the level was planned
    /// for.
    pub(crate) fn plan_of(&mut self, level: &mut PlannedLevel) -> Result<Plan> {
        let path = level.paths.cheapest_for(level.root.input.tuple_fraction)?.clone();
        self.create_level(&mut level.root, &path)
    }

    /// Creates the plan of one of the level's paths.
    pub(crate) fn create_level(&mut self, root: &mut PlannerInfo, path: &Path) -> Result<Plan> {
        let charged = init_plans_cost(root) > 0.0;
        let mut plan = deep(|| self.create(root, path, &[]))?.plan;
        if charged {
            (plan.info.startup_cost, plan.info.total_cost) = (path.startup, path.total);
        }
        if root.query.command_type == CmdType::Select {
            label(&mut plan, &root.query.target_list);
        }
        plan.info.init_plan.append(&mut root.init_plans);
        Ok(plan)
    }

    /// Appends the level's range table to the flat one. Called once its entries are final.
    pub(crate) fn flatten_rtable(&mut self, root: &mut PlannerInfo) {
        root.rt_offset = self.rtable.len() as i32;
        root.members.own_entries = root.query.rtable.len();
        root.members.added_entries.clear();
        self.rtable.extend(root.query.rtable.iter().map(RangeTblEntry::without_parts));
    }

    fn select_paths(&mut self, root: &mut PlannerInfo) -> Result<PathSet> {
        self.prepare(root)?;
        self.flatten_rtable(root);
        if root.query.set_operations.is_some() {
            let paths = self.set_operation_paths(root)?;
            return self.finished_paths(root, paths, &[]);
        }
        let marks = self.row_marks(root)?;
        self.remove_useless_keys(&mut root.query)?;
        self.match_sort_order(&mut root.query);
        make_keys_distinct(&mut root.query);
        let targets = root.query.target_list.clone();
        let paths = self.body_paths(root, &targets)?;
        let marks = self.member_marks(root, marks);
        self.finished_paths(root, paths, &marks)
    }

    /// The paths of the level with the given target list, up to ORDER BY.
    pub(crate) fn body_paths(
        &mut self,
        root: &mut PlannerInfo,
        targets: &[TargetEntry],
    ) -> Result<PathSet> {
        root.constants = self.constant_exprs(&root.query)?;
        root.equal_pairs = self.equal_columns(&root.query)?;
        root.query.window_clause = active_windows(&root.query);
        let grouped = is_grouped(&root.query);
        let q = &mut root.query;
        if !grouped && q.having_qual.is_some() {
            // The result has one row or none regardless of FROM, which is therefore not planned.
            q.jointree = FromExpr { fromlist: Vec::new(), quals: q.having_qual.take() };
        }
        let mut order = self.order_of(root, &root.query.sort_clause.clone(), targets)?;
        let body = self.stage_targets(root, targets, &order)?;
        let mut scan_want = body.join_want.clone();
        let sets_below = scan_want.iter().any(contains_srf);
        if sets_below {
            scan_want.clear();
            body.join_want.iter().for_each(|e| inputs(e, &[], &mut scan_want));
        }
        let rel = self.level_rel(root, &scan_want)?;
        // Equivalence classes are known only after the joins are planned.
        if root.query.grouping_sets.is_empty() {
            root.classify(&mut order);
        }
        let have = scan_want.clone();
        let mut paths = self.target_paths(root, &rel, scan_want, grouped)?;
        if sets_below {
            paths = self.projected(root, &paths, &have, &body.join_want)?;
        }
        if let Some(mut stage) = body.grouping {
            self.count_grouping(root, &mut stage, rel.rows)?;
            let stage = Rc::new(stage);
            let order = self.grouping_order(root, &stage)?;
            let order = order.as_deref();
            paths = self.grouping_paths(root, &paths, &stage, order)?;
            if !sets_below {
                let partial = self.partial_stage(&stage)?;
                let partial = partial.as_ref();
                let grouping = PartGrouping { input: &have, stage: &stage, partial, order };
                self.parts_grouping_paths(root, &rel, &grouping, &mut paths)?;
            }
            if let Some(path) = self.min_max_path(root, &stage, &paths)? {
                paths.add(path);
            }
        }
        let windows = self.window_stages(root, &body.finals, &targets.into());
        if !windows.is_empty() {
            paths = self.window_paths(root, &paths, &windows)?;
        }
        let is_listed = |e: &Expr| !contains_srf(e) && body.upper_want.contains(e);
        if body.has_srf
            && root.query.distinct_clause.is_empty()
            && order.iter().all(|k| is_listed(&k.expr))
        {
            // Sort before the sets are expanded, when there are fewer rows.
            paths = self.ordered_paths(root, paths, &order)?;
        }
        if root.query.has_window_funcs || body.has_srf {
            paths = self.projected(root, &paths, &body.upper_want, &body.finals)?;
        }
        if !root.query.distinct_clause.is_empty() {
            paths = self.distinct_paths(root, &paths, &order, targets)?;
        }
        paths = self.ordered_paths(root, paths, &order)?;
        if body.postponed {
            let all: Vec<Expr> = targets.iter().map(|t| t.expr.clone()).collect();
            paths = self.projected(root, &paths, &body.finals, &all)?;
        }
        Ok(paths)
    }

    /// The expressions that each stage must output.
    fn stage_targets(
        &mut self,
        root: &PlannerInfo,
        targets: &[TargetEntry],
        order: &[PathKey],
    ) -> Result<Body> {
        let grouped = is_grouped(&root.query);
        let windowed = root.query.has_window_funcs;
        let group_exprs = self.group_exprs(root, targets)?;
        // Set-returning functions in grouping expressions are expanded below the grouping.
        let done = if grouped { group_exprs.as_slice() } else { &[] };
        let all: Vec<Expr> = targets.iter().map(|t| t.expr.clone()).collect();
        let postponed = self.after_sort(root, targets, order)?;
        let finals = if postponed.is_empty() {
            all
        } else {
            let mut early: Vec<Expr> = Vec::new();
            let mut done = group_exprs.clone();
            all.iter().for_each(|e| collect_window_funcs(e, &mut done));
            for e in &all {
                if postponed.contains(e) {
                    inputs(e, &done, &mut early);
                } else {
                    push_unique(&mut early, e);
                }
            }
            early
        };
        let has_srf = finals.iter().any(|e| contains_srf(e) && !done.contains(e));
        // The expressions that the stage below windows and set-returning functions must output.
        let mut upper_want: Vec<Expr> = Vec::new();
        if !windowed && !has_srf {
            upper_want.clone_from(&finals);
        } else {
            let mut done = done.to_vec();
            if !windowed {
                // Sort keys that are computed before the sets are expanded.
                let by = order.iter().map(|k| Expr::clone(&k.expr));
                done.extend(by.filter(|e| !contains_srf(e)));
            }
            finals.iter().for_each(|e| inputs(e, &done, &mut upper_want));
            for w in &root.query.window_clause {
                for c in w.partition_clause.iter().chain(&w.order_clause) {
                    push_unique(&mut upper_want, target_for(c, targets)?);
                }
            }
        }
        let mut having = Vec::new();
        if let Some(qual) = &root.query.having_qual {
            conjuncts(qual.clone(), &mut having);
            having.retain(|e| !is_true(e));
        }
        let mut join_want = upper_want.clone();
        let mut grouping = None;
        if grouped {
            join_want.clone_from(&group_exprs);
            for e in upper_want.iter().chain(&having) {
                grouped_inputs(e, &group_exprs, &mut join_want);
            }
            grouping = Some(Grouping {
                clauses: root.query.group_clause.clone(),
                targets: targets.into(),
                exprs: group_exprs,
                want: upper_want.clone(),
                having,
                sets: self.grouping_sets(&root.query)?,
                groups: 1.0,
                split: AggSplit::Simple,
            });
        }
        let postponed = !postponed.is_empty();
        Ok(Body { join_want, grouping, upper_want, finals, postponed, has_srf })
    }

    /// The paths of the joins with the expressions that the stages above need.
    fn target_paths(
        &mut self,
        root: &PlannerInfo,
        rel: &JoinRel,
        want: Vec<Expr>,
        accepts_more: bool,
    ) -> Result<PathSet> {
        let width = self.row_width(root, &want)?;
        let want: Rc<[Expr]> = want.into();
        let mut out = rel.paths.above();
        let paths = self.whole_paths(root, rel)?;
        for p in paths.unparameterized() {
            let kind = PathKind::Target { child: p.clone(), want: want.clone(), accepts_more };
            out.add(Path { kind, width, ..Path::clone(p) });
        }
        Ok(out)
    }

    /// The paths with set-returning functions expanded and these expressions computed; `have` are
    /// the expressions that are computed below.
    fn projected(
        &mut self,
        root: &PlannerInfo,
        paths: &PathSet,
        have: &[Expr],
        want: &[Expr],
    ) -> Result<PathSet> {
        let width = self.row_width(root, want)?;
        let mut factor: f64 = 1.0;
        for e in want {
            factor = factor.max(self.set_factor(e, have)?);
        }
        let has_srf = want.iter().any(|e| contains_srf(e) && !have.contains(e));
        let computed: Vec<Expr> = want.iter().filter(|e| !have.contains(e)).cloned().collect();
        let per_tuple = if has_srf { self.quals_cost(&computed)? } else { 0.0 };
        let want: Rc<[Expr]> = want.into();
        let mut out = paths.above();
        for p in paths.unparameterized() {
            let rows = clamp_rows(p.rows * factor);
            out.add(Path {
                kind: PathKind::Project { child: p.clone(), want: want.clone() },
                rows,
                width,
                total: match has_srf {
                    true => p.total + self.set_cost(p.rows, rows, per_tuple),
                    false => p.total,
                },
                ..Path::clone(p)
            });
        }
        Ok(out)
    }

    /// Estimated number of result rows of the expression's set-returning functions for one input
    /// row.
    fn set_factor(&mut self, e: &Expr, have: &[Expr]) -> Result<f64> {
        if have.contains(e) || !contains_srf(e) {
            return Ok(1.0);
        }
        let mut parts = Vec::new();
        plan::walk::each_child(e, &mut |c| parts.push(c));
        let mut factor: f64 = 1.0;
        for part in parts {
            factor = factor.max(self.set_factor(part, have)?);
        }
        Ok(match e {
            Expr::FuncExpr(f) if f.funcretset => factor * self.srf_rows(f.funcid, &f.args)?,
            Expr::OpExpr(op) if op.opretset => {
                let function = self.host.operator_function(op.opno)?;
                factor * self.srf_rows(function, &op.args)?
            }
            _ => factor,
        })
    }

    /// The paths above `paths` with row locks and LIMIT.
    fn finished_paths(
        &mut self,
        root: &PlannerInfo,
        paths: PathSet,
        marks: &[PlanRowMark],
    ) -> Result<PathSet> {
        let locks = marks.iter().any(|m| m.strength != LockStrength::None);
        let limits = limits_rows(&root.query);
        if !locks && !limits {
            return Ok(paths);
        }
        let marks: Rc<[PlanRowMark]> = marks.into();
        let mut out = paths.above();
        for p in paths.unparameterized() {
            let mut path = p.clone();
            if locks {
                let kind = PathKind::LockRows { child: path.clone(), marks: marks.clone() };
                let total = path.total + path.rows * self.host.costs().cpu_tuple;
                path = Rc::new(Path { kind, total, ..Path::clone(&path) });
            }
            if limits {
                path = Rc::new(self.limited(&root.query, &path));
            }
            out.add_ref(path);
        }
        Ok(out)
    }

    /// Estimated number of distinct rows, if a set operation above needs it.
    fn distinct_rows(&mut self, root: &PlannerInfo, rows: f64) -> Result<f64> {
        let q = &root.query;
        let grouped = q.has_aggs
            || !q.group_clause.is_empty()
            || !q.grouping_sets.is_empty()
            || !q.distinct_clause.is_empty()
            || q.having_qual.is_some();
        if !root.input.count_groups || grouped || root.rels.is_empty() {
            return Ok(rows);
        }
        let shown = q.target_list.iter().filter(|t| !t.resjunk);
        let exprs: Vec<Expr> = shown.map(|t| t.expr.clone()).collect();
        self.group_count(root, &exprs, rows)
    }

    /// The joined relations of the level with their paths. Counterpart: `query_planner`.
    fn level_rel(&mut self, root: &mut PlannerInfo, want: &[Expr]) -> Result<JoinRel> {
        let problem = Problem::of(&root.query.jointree.clone(), self.host.costs().collapse);
        if !problem.items.is_empty() {
            let mut needed = want.to_vec();
            needed.extend(lateral_exprs(&root.query));
            let needed: Vec<_> = target_needs(&needed).collect();
            return self.solve(root, problem, &needed);
        }
        let empty = Path {
            kind: PathKind::Empty,
            relids: Relids::new(),
            rows: 1.0,
            width: 0,
            startup: 0.0,
            total: 0.01,
            order: Vec::new(),
            outer: Relids::new(),
        };
        let never = problem
            .quals
            .iter()
            .any(|g| matches!(g, Expr::Const(c) if c.is_null() || !c.value.as_ref().as_bool()));
        let kind = if never {
            PathKind::Dummy
        } else if problem.quals.is_empty() {
            PathKind::Empty
        } else {
            PathKind::Gate { child: std::rc::Rc::new(empty.clone()), quals: problem.quals }
        };
        let mut paths = PathSet::default();
        paths.add(Path { kind, ..empty });
        Ok(JoinRel { rows: 1.0, paths, ..JoinRel::default() })
    }

    /// The order required by these clauses, without redundant keys. Counterpart:
    /// `make_pathkeys_for_sortclauses`.
    pub(crate) fn order_of(
        &mut self,
        root: &PlannerInfo,
        clauses: &[SortGroupClause],
        targets: &[TargetEntry],
    ) -> Result<Vec<PathKey>> {
        let mut out: Vec<PathKey> = Vec::new();
        for c in clauses {
            let expr = target_for(c, targets)?;
            let constant = matches!(expr, Expr::Const(_)) || root.constants.contains(expr);
            // Rows sorted by a column are also sorted by columns that always equal it.
            let alike = |k: &PathKey| {
                let pair = |(a, b): &(Expr, Expr)| {
                    a == expr && *b == *k.expr || b == expr && *a == *k.expr
                };
                *k.expr == *expr || root.equal_pairs.iter().any(pair)
            };
            if constant || out.iter().any(alike) {
                continue;
            }
            if !c.sortop.is_valid() {
                return Err(PgError::internal("grouping column without an ordering operator"));
            }
            let o = self
                .host
                .ordering(c.sortop)?
                .ok_or_else(|| PgError::internal("operator is not an ordering operator"))?;
            // Grouping sets replace columns by NULL, so that equal columns may differ above.
            let class = match root.query.grouping_sets.is_empty() {
                true => root.column_class(expr),
                false => None,
            };
            out.push(PathKey {
                expr: Rc::new(expr.clone()),
                class,
                family: o.family,
                collation: expr.collation(),
                descending: o.descending,
                nulls_first: c.nulls_first,
            });
        }
        Ok(out)
    }

    fn group_exprs(&mut self, root: &PlannerInfo, targets: &[TargetEntry]) -> Result<Vec<Expr>> {
        let mut out = Vec::new();
        for c in &root.query.group_clause {
            push_unique(&mut out, target_for(c, targets)?);
        }
        Ok(out)
    }

    pub(crate) fn group_keys(
        &mut self,
        clauses: &[SortGroupClause],
        targets: &[TargetEntry],
        output: &[TargetEntry],
    ) -> Result<GroupKeys> {
        let mut keys = GroupKeys::default();
        for c in clauses {
            let expr = target_for(c, targets)?;
            let t = output
                .iter()
                .find(|t| t.expr == *expr)
                .ok_or_else(|| PgError::internal("grouping column not found in target list"))?;
            if keys.cols.contains(&t.resno) {
                continue;
            }
            keys.cols.push(t.resno);
            keys.eq_operators.push(c.eqop);
            keys.collations.push(expr.collation());
        }
        Ok(keys)
    }
}

/// The expressions of the stages of a level.
struct Body {
    /// The output of the joins, after set-returning functions below the grouping.
    join_want: Vec<Expr>,
    grouping: Option<Grouping>,
    /// The output of the stage below windows and set-returning functions.
    upper_want: Vec<Expr>,
    /// The output before ORDER BY.
    finals: Vec<Expr>,
    /// Some of the target list is computed after the sort.
    postponed: bool,
    /// `finals` contains set-returning functions that are not computed below.
    has_srf: bool,
}

/// Costs of the level's init plans and `WITH` queries.
fn init_plans_cost(root: &PlannerInfo) -> f64 {
    let cost = |e: &Expr| if let Expr::SubPlan(s) = e { s.per_call_cost } else { 0.0 };
    root.init_plans.iter().map(cost).sum()
}

/// The level's paths with the costs of its init plans and `WITH` queries. Counterpart:
/// `SS_charge_for_initplans`.
fn charged(root: &PlannerInfo, paths: PathSet) -> PathSet {
    let charge = init_plans_cost(root);
    if charge <= 0.0 {
        return paths;
    }
    let mut out = paths.above();
    for p in &paths.paths {
        let (startup, total) = (p.startup + charge, p.total + charge);
        out.add_ref(Rc::new(Path { startup, total, ..Path::clone(p) }));
    }
    out
}

/// True if the level has aggregates or GROUP BY.
fn is_grouped(q: &Query) -> bool {
    q.has_aggs || !q.group_clause.is_empty() || !q.grouping_sets.is_empty()
}

/// Adds the inputs of an expression above the grouping: grouping expressions, columns in
/// aggregates, and other columns.
fn grouped_inputs(e: &Expr, groups: &[Expr], out: &mut Vec<Expr>) {
    if groups.contains(e) {
        return;
    }
    match e {
        Expr::Var(v) if v.varlevelsup == 0 => push_unique(out, e),
        // Arguments are computed by the Agg node itself.
        Expr::Aggref(a) if a.agglevelsup == 0 => pull_vars(e, out),
        _ => plan::walk::each_child(e, &mut |c| grouped_inputs(c, groups, out)),
    }
}

/// Adds the inputs of an expression: columns, aggregates, and expressions that are computed earlier
/// (`done`). Other parts are computed together with the expression, once per row.
fn inputs(e: &Expr, done: &[Expr], out: &mut Vec<Expr>) {
    let whole = done.contains(e)
        || match e {
            Expr::Var(v) => v.varlevelsup == 0,
            Expr::Aggref(a) => a.agglevelsup == 0,
            Expr::GroupingFunc(g) => g.agglevelsup == 0,
            _ => false,
        };
    if whole {
        push_unique(out, e);
    } else {
        plan::walk::each_child(e, &mut |c| inputs(c, done, out));
    }
}
