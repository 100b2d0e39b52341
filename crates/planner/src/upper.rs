//! Plans a query level: the joins, and the stages above them (grouping, windows, set-returning
//! functions, DISTINCT, ORDER BY, row locks, LIMIT). Counterpart: planner.c (grouping_planner).

use crate::create::{Made, pass_through};
use crate::glob::{Glob, LevelInput, OutputOrder, PlannedLevel, Root};
use crate::group::{has_sorting_aggs, make_keys_distinct};
use crate::join::JoinRel;
use crate::need::target_needs;
use crate::path::{Path, PathKey, PathKind, PathSet, starts_with};
use crate::pullup::lateral_exprs;
use crate::quals::{Problem, is_true};
use crate::refs::{Below, targets_of};
use crate::rel::clamp_rows;
use crate::relids::Relids;
use crate::runcond::active_windows;
use crate::streamed::Stages;
use crate::vars::{conjuncts, contains_srf, make_var, pull_vars, push_unique, substitute};
use crate::width::table_size;
use ids::Oid;
use pgerror::{PgError, Result};
use plan::expr::{AggSplit, Expr, TargetEntry};
use plan::node::{Agg, AggStrategy, GroupKeys, Plan, PlanInfo, PlanNode, PlanRowMark, WindowAgg};
use plan::query::{
    CmdType, FromExpr, LimitOption, LockStrength, Query, RangeTblEntry, SortGroupClause,
    WindowClause,
};
use std::rc::Rc;
use stdx::stack::deep;

impl Glob<'_> {
    /// Plans one query level.
    pub(crate) fn plan_level(&mut self, query: Query, input: LevelInput) -> Result<PlannedLevel> {
        self.enter()?;
        let planned = deep(|| self.plan_command(query, input));
        self.leave();
        planned
    }

    fn plan_command(&mut self, query: Query, input: LevelInput) -> Result<PlannedLevel> {
        let mut root = Root::new(query, input);
        let mut planned = if root.query.command_type == CmdType::Select {
            self.plan_select(&mut root)?
        } else {
            self.plan_modify(&mut root)?
        };
        planned.plan.info.init_plan.append(&mut root.init_plans);
        Ok(planned)
    }

    /// Appends the level's range table to the flat one. Called once its entries are final.
    pub(crate) fn flatten_rtable(&mut self, root: &mut Root) {
        root.rt_offset = self.rtable.len() as i32;
        self.rtable.extend(root.query.rtable.iter().map(RangeTblEntry::without_parts));
    }

    fn plan_select(&mut self, root: &mut Root) -> Result<PlannedLevel> {
        if root.query.set_operations.is_some() {
            return self.plan_set_operations(root);
        }
        self.prepare(root)?;
        self.flatten_rtable(root);
        let marks = self.row_marks(root)?;
        self.remove_useless_keys(&mut root.query)?;
        make_keys_distinct(&mut root.query);
        let targets = root.query.target_list.clone();
        let made = self.plan_body(root, &targets, &marks)?;
        self.finish_level(root, made, &marks)
    }

    /// Plans the level with the given target list, up to ORDER BY.
    pub(crate) fn plan_body(
        &mut self,
        root: &mut Root,
        targets: &[TargetEntry],
        marks: &[PlanRowMark],
    ) -> Result<Made> {
        root.constants = self.constant_exprs(&root.query)?;
        root.equal_pairs = self.equal_columns(&root.query)?;
        root.query.window_clause = active_windows(&root.query);
        let q = &mut root.query;
        let grouped = q.has_aggs || !q.group_clause.is_empty() || !q.grouping_sets.is_empty();
        if !grouped && q.having_qual.is_some() {
            // One row or none, whatever FROM holds: nothing of that is looked at.
            q.jointree = FromExpr { fromlist: Vec::new(), quals: q.having_qual.take() };
        }
        let q = &root.query;
        let windowed = q.has_window_funcs;
        let mut order = self.order_of(root, &q.sort_clause.clone(), targets)?;
        let distinct = root.query.distinct_clause.clone();
        let group_exprs = self.group_exprs(root, targets)?;
        // Set-returning functions in grouping expressions are expanded below the grouping.
        let done = if grouped { group_exprs.as_slice() } else { &[] };
        let all: Vec<Expr> = targets.iter().map(|t| t.expr.clone()).collect();
        let postponed = self.after_sort(root, targets, &order)?;
        let finals = if postponed.is_empty() {
            all.clone()
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
        let simple = !windowed && !has_srf;
        let mut upper_want: Vec<Expr> = Vec::new();
        if simple {
            upper_want.clone_from(&finals);
        } else {
            let mut done = done.to_vec();
            if !windowed {
                // Sort keys that are computed before the sets are expanded.
                let by = order.iter().map(|k| Expr::clone(&k.expr));
                done.extend(by.filter(|e| !contains_srf(e)));
            }
            finals.iter().for_each(|e| inputs(e, &done, &mut upper_want));
            for w in &root.query.window_clause.clone() {
                for c in w.partition_clause.iter().chain(&w.order_clause) {
                    push_unique(&mut upper_want, target_for(c, targets)?);
                }
            }
        }
        // The expressions that the joins must output.
        let mut having = Vec::new();
        if let Some(qual) = &root.query.having_qual {
            conjuncts(qual.clone(), &mut having);
            having.retain(|e| !is_true(e));
        }
        let join_want = if grouped {
            let mut v = group_exprs.clone();
            upper_want.iter().chain(&having).for_each(|e| grouped_inputs(e, &group_exprs, &mut v));
            v
        } else {
            upper_want.clone()
        };

        // The order of the joins' output that the next stage can use.
        let mut helpful = if grouped {
            self.order_of(root, &root.query.group_clause.clone(), targets).unwrap_or_default()
        } else if windowed {
            let first = root.query.window_clause.first().cloned();
            let clauses = first.map_or_else(Vec::new, |w| {
                w.partition_clause.into_iter().chain(w.order_clause).collect()
            });
            self.order_of(root, &clauses, targets).unwrap_or_default()
        } else if !distinct.is_empty() {
            self.distinct_order(root, &distinct, &order, targets).unwrap_or_default()
        } else {
            order.clone()
        };
        let sets_below = join_want.iter().any(contains_srf);
        let mut scan_want = join_want.clone();
        if sets_below {
            scan_want.clear();
            join_want.iter().for_each(|e| inputs(e, &[], &mut scan_want));
        }
        let rel = self.level_rel(root, &scan_want)?;
        // Equivalence classes are known only after the joins are planned.
        if root.query.grouping_sets.is_empty() {
            root.classify(&mut order);
            root.classify(&mut helpful);
        }
        let stages = Stages { grouped, windowed, distinct: !distinct.is_empty() };
        let fraction = if starts_with(&helpful, &order) && !has_srf && !sets_below {
            self.body_fraction(root, &stages, &helpful, &having, rel.rows)?
        } else if stages.any() {
            0.0
        } else {
            self.limit_fraction(root)
        };
        // The width of what is sorted or grouped.
        let width = self.row_width(root, &join_want)?;
        let (mut path, cost) = self.best_path(root, &rel, (&helpful, width), fraction)?;
        let distinct_alone = !distinct.is_empty() && !root.query.has_distinct_on && !windowed;
        // Hashed grouping needs no order.
        let mut hash = false;
        if !helpful.is_empty()
            && (grouped || distinct_alone)
            && let Some(cheapest) = rel.paths.cheapest()
        {
            let (clauses, keep) = match grouped {
                true => (
                    &root.query.group_clause,
                    has_sorting_aggs(&upper_want) || has_sorting_aggs(&having),
                ),
                false => (&distinct, false),
            };
            let ordered = !order.is_empty();
            hash = !keep
                && clauses.iter().all(|c| c.hashable)
                && self.hashing_is_cheaper(root, cost, cheapest, &helpful, ordered)?;
            if hash {
                path = Path { order: Vec::new(), ..Path::clone(cheapest) };
            }
        }
        let mut have = path.order.clone();
        if grouped && let Some(all) = all_columns(root, &path, &scan_want) {
            // The Agg node reads the subquery's plan directly.
            scan_want = all;
        }
        let mut made = self.create(root, &path, &scan_want)?;
        if !matches!(path.kind, PathKind::Subquery { .. }) {
            made.plan.info.plan_width = self.row_width(root, &scan_want)?;
        }
        if sets_below {
            made = self.project_sets(root, made, &join_want)?;
            have.clear();
        }

        if grouped {
            made = self.group(root, made, &mut have, &group_exprs, &upper_want, &having)?;
            let cost = made.plan.info.total_cost;
            if let Some(ends) = self.min_max(root, &upper_want, &having, cost)? {
                made = ends;
            }
        }
        if windowed {
            made = self.windows(root, made, &mut have, &finals, targets)?;
        }
        let mut sorted = starts_with(&have, &order);
        let order_has_srf = order.iter().any(|k| contains_srf(&k.expr));
        if has_srf && !order_has_srf && !order.is_empty() && distinct.is_empty() && !sorted {
            // Sort before the sets are expanded, when there are fewer rows.
            let mut missing = false;
            for k in &order {
                missing |= !made.output.iter().any(|t| t.expr == *k.expr);
            }
            if !missing {
                made = self.sort(made, &order)?;
                have.clone_from(&order);
                sorted = true;
            }
        }
        if !simple {
            made = self.project_sets(root, made, &finals)?;
        }
        if !distinct.is_empty() {
            let hash = hash || !distinct_alone || grouped || helpful.is_empty();
            made = self.distinct(root, made, &mut have, &distinct, &order, targets, hash)?;
            sorted = starts_with(&have, &order);
        }
        if !order.is_empty() && !sorted {
            made = self.sort_on(root, made, &order, &have)?;
        }
        if !postponed.is_empty() {
            made = self.project_sets(root, made, &all)?;
        }
        let _ = marks;
        Ok(made)
    }

    /// Adds row locks and LIMIT, and sets the final names of the columns.
    pub(crate) fn finish_level(
        &mut self,
        root: &mut Root,
        mut made: Made,
        marks: &[PlanRowMark],
    ) -> Result<PlannedLevel> {
        let locking: Vec<PlanRowMark> =
            marks.iter().filter(|m| m.strength != LockStrength::None).cloned().collect();
        let targets = root.query.target_list.clone();
        if !locking.is_empty() {
            // LockRows finds the ctid columns by their names.
            self.label(&mut made.plan, &targets);
            let epq_param = self.new_param(Oid::INVALID);
            let info = self.above(&made, made.plan.info.plan_rows * self.facts.costs().cpu_tuple);
            let node = PlanNode::LockRows {
                child: Box::new(made.plan),
                row_marks: marks.to_vec(),
                epq_param,
            };
            made.plan = Plan { info, node };
        }
        if limits_rows(&root.query) {
            made = self.limit(root, made)?;
        }
        self.label(&mut made.plan, &targets);
        let order = self.output_order(root, &targets)?;
        let groups = self.distinct_rows(root, made.plan.info.plan_rows)?;
        Ok(PlannedLevel {
            groups,
            rows: made.plan.info.plan_rows,
            column_widths: self.column_widths(root)?,
            plan: made.plan,
            order,
        })
    }

    /// Estimated number of distinct rows, if a set operation above needs it.
    fn distinct_rows(&mut self, root: &Root, rows: f64) -> Result<f64> {
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

    /// Copies names, junk flags and origins from the query's target list to the plan's.
    pub(crate) fn label(&self, plan: &mut Plan, targets: &[TargetEntry]) {
        for (have, want) in plan.info.target_list.iter_mut().zip(targets) {
            have.resname.clone_from(&want.resname);
            have.resjunk = want.resjunk;
            have.resorigtbl = want.resorigtbl;
            have.resorigcol = want.resorigcol;
            have.ressortgroupref = want.ressortgroupref;
        }
    }

    fn output_order(&mut self, root: &Root, targets: &[TargetEntry]) -> Result<Vec<OutputOrder>> {
        let mut out = Vec::new();
        for k in self.order_of(root, &root.query.sort_clause, targets)? {
            let Some(t) = targets.iter().find(|t| t.expr == *k.expr && !t.resjunk) else { break };
            out.push(OutputOrder {
                resno: t.resno,
                family: k.family,
                collation: k.collation,
                descending: k.descending,
                nulls_first: k.nulls_first,
            });
        }
        Ok(out)
    }

    /// The joined relations of the level with their paths. Counterpart: `query_planner`.
    fn level_rel(&mut self, root: &mut Root, want: &[Expr]) -> Result<JoinRel> {
        let problem = Problem::of(&root.query.jointree.clone(), self.facts.costs().collapse);
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
            PathKind::Never
        } else if problem.quals.is_empty() {
            PathKind::Empty
        } else {
            PathKind::Gate { child: std::rc::Rc::new(empty.clone()), quals: problem.quals }
        };
        let mut paths = PathSet::default();
        paths.add(Path { kind, ..empty });
        Ok(JoinRel { rows: 1.0, paths, ..JoinRel::default() })
    }

    /// The cheapest path for the order of rows of this width and the fraction of rows that will be
    /// fetched, without its sort, and the cost including the sort.
    fn best_path(
        &mut self,
        root: &Root,
        rel: &JoinRel,
        (order, width): (&[PathKey], i32),
        fraction: f64,
    ) -> Result<(Path, f64)> {
        let rows = rel.rows;
        let part = |startup: f64, total: f64| {
            let f = if fraction >= 1.0 { (fraction / rows).min(1.0) } else { fraction };
            if f > 0.0 { startup + (total - startup) * f } else { total }
        };
        let mut best: Option<(f64, Path)> = None;
        for p in rel.paths.unparameterised() {
            let candidate = if starts_with(&p.order, order) || order.is_empty() {
                (**p).clone()
            } else {
                let (mut startup, mut total) = self.sort_cost(p.total, p.rows, width);
                let presorted = p.order.iter().zip(order).take_while(|(h, o)| h == o).count();
                if presorted > 0 && self.facts.costs().enable_incremental_sort {
                    let exprs: Vec<Expr> =
                        order[..presorted].iter().map(|k| Expr::clone(&k.expr)).collect();
                    let sets = self.group_count(root, &exprs, p.rows)?;
                    let below = PlanInfo {
                        startup_cost: p.startup,
                        total_cost: p.total,
                        plan_rows: p.rows,
                        plan_width: width,
                        ..PlanInfo::default()
                    };
                    let (s, t) = self.incremental_sort_cost(&below, sets);
                    if part(s, t) < part(startup, total) {
                        (startup, total) = (s, t);
                    }
                }
                Path {
                    kind: PathKind::Sort { child: p.clone() },
                    startup,
                    total,
                    order: order.to_vec(),
                    ..(**p).clone()
                }
            };
            let cost = part(candidate.startup, candidate.total);
            if best.as_ref().is_none_or(|(b, _)| cost < *b) {
                best = Some((cost, candidate));
            }
        }
        // The caller adds the sort, if it is still needed (grouping may hash).
        let (cost, path) = best.ok_or_else(|| {
            PgError::internal("no path without outside parameters for this query")
        })?;
        Ok(match path.kind {
            PathKind::Sort { child } => ((*child).clone(), cost),
            _ => (path, cost),
        })
    }

    pub(crate) fn sort_cost(&self, below: f64, rows: f64, width: i32) -> (f64, f64) {
        let c = self.facts.costs();
        let rows = rows.max(2.0);
        let bytes = table_size(rows, width);
        let mut startup = below + 2.0 * c.cpu_operator * rows * rows.log2();
        if bytes > c.work_mem {
            startup += 2.0 * bytes / 8192.0 * (c.seq_page * 0.75 + c.random_page * 0.25);
        }
        if !c.enable_sort {
            startup += 1e10;
        }
        (startup, startup + c.cpu_operator * rows)
    }

    /// `PlanInfo` of a node above `made` with the same columns and rows, and additional cost.
    pub(crate) fn above(&self, made: &Made, extra: f64) -> PlanInfo {
        let below = &made.plan.info;
        PlanInfo {
            startup_cost: below.startup_cost,
            total_cost: below.total_cost + extra,
            plan_rows: below.plan_rows,
            plan_width: below.plan_width,
            target_list: pass_through(&made.output),
            ..PlanInfo::default()
        }
    }

    pub(crate) fn sort(&mut self, made: Made, order: &[PathKey]) -> Result<Made> {
        let keys = self.sort_keys(order, &made.output)?;
        let below = &made.plan.info;
        let (startup, total) = self.sort_cost(below.total_cost, below.plan_rows, below.plan_width);
        let mut info = self.above(&made, 0.0);
        info.startup_cost = startup;
        info.total_cost = total;
        let node = PlanNode::Sort { child: Box::new(made.plan), keys };
        Ok(Made { plan: Plan { info, node }, output: made.output })
    }

    /// As [`Glob::sort`]; uses an incremental sort if the existing order `have` makes it cheaper.
    pub(crate) fn sort_on(
        &mut self,
        root: &Root,
        made: Made,
        order: &[PathKey],
        have: &[PathKey],
    ) -> Result<Made> {
        let presorted = have.iter().zip(order).take_while(|(h, o)| h == o).count();
        if presorted == 0 || !self.facts.costs().enable_incremental_sort {
            let below = made.plan.info.clone();
            let mut made = self.sort(made, order)?;
            // With LIMIT, the sort keeps only the first rows.
            let limit = self.limit_fraction(root);
            let unit = self.facts.costs().cpu_operator;
            let rows = below.plan_rows;
            if limit >= 1.0 && 2.0 * limit < rows && self.facts.costs().enable_sort {
                let info = &mut made.plan.info;
                info.startup_cost = below.total_cost + 2.0 * unit * rows * (2.0 * limit).log2();
                info.total_cost = info.startup_cost + unit * rows;
            }
            return Ok(made);
        }
        let exprs: Vec<Expr> = order[..presorted].iter().map(|k| Expr::clone(&k.expr)).collect();
        let below = made.plan.info.clone();
        let sets = self.group_count(root, &exprs, below.plan_rows)?;
        let (startup, total) = self.incremental_sort_cost(&below, sets);
        let (_, whole) = self.sort_cost(below.total_cost, below.plan_rows, below.plan_width);
        if total >= whole && self.limit_fraction(root) == 0.0 {
            return self.sort(made, order);
        }
        let keys = self.sort_keys(order, &made.output)?;
        let mut info = self.above(&made, 0.0);
        info.startup_cost = startup;
        info.total_cost = total;
        let presorted_cols = presorted as i32;
        let node = PlanNode::IncrementalSort { child: Box::new(made.plan), keys, presorted_cols };
        Ok(Made { plan: Plan { info, node }, output: made.output })
    }

    /// Cost of an incremental sort of rows in `sets` presorted groups. Counterpart:
    /// `cost_incremental_sort`.
    fn incremental_sort_cost(&self, below: &PlanInfo, sets: f64) -> (f64, f64) {
        let c = self.facts.costs();
        let run = below.total_cost - below.startup_cost;
        let rows = below.plan_rows.max(2.0);
        let (startup, total) = self.sort_cost(0.0, 1.5 * rows / sets, below.plan_width);
        let first = startup + below.startup_cost + run / sets;
        let rest = (total - startup)
            + total * (sets - 1.0)
            + run / sets * (sets - 1.0)
            + (c.cpu_tuple + 2.0 * c.cpu_operator) * rows
            + 2.0 * c.cpu_tuple * sets;
        (first, first + rest)
    }

    /// The order required by these clauses, without redundant keys. Counterpart:
    /// `make_pathkeys_for_sortclauses`.
    pub(crate) fn order_of(
        &mut self,
        root: &Root,
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
                .facts
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

    fn distinct_order(
        &mut self,
        root: &Root,
        distinct: &[SortGroupClause],
        order: &[PathKey],
        targets: &[TargetEntry],
    ) -> Result<Vec<PathKey>> {
        // The ORDER BY columns first, then the remaining DISTINCT columns.
        let mut out = order.to_vec();
        for k in self.order_of(root, distinct, targets)? {
            if !out.iter().any(|o| *o.expr == *k.expr) {
                out.push(k);
            }
        }
        Ok(out)
    }

    fn group_exprs(&mut self, root: &Root, targets: &[TargetEntry]) -> Result<Vec<Expr>> {
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

    fn windows(
        &mut self,
        root: &mut Root,
        mut made: Made,
        have: &mut Vec<PathKey>,
        finals: &[Expr],
        targets: &[TargetEntry],
    ) -> Result<Made> {
        let mut funcs: Vec<Expr> = Vec::new();
        for e in finals {
            collect_window_funcs(e, &mut funcs);
        }
        let computed = |w: &WindowClause| -> Vec<Expr> {
            let of = |f: &&Expr| matches!(f, Expr::WindowFunc(x) if x.winref == w.winref);
            funcs.iter().filter(of).cloned().collect()
        };
        let windows = root.query.window_clause.clone().into_iter();
        let windows: Vec<(WindowClause, Vec<Expr>)> = windows
            .map(|w| {
                let mine = computed(&w);
                (w, mine)
            })
            .collect();
        let last = windows.iter().rposition(|(_, mine)| !mine.is_empty());
        for (i, (w, mine)) in windows.into_iter().enumerate() {
            if mine.is_empty() {
                continue;
            }
            let mut clauses = w.partition_clause.clone();
            clauses.extend(w.order_clause.iter().cloned());
            let order = self.order_of(root, &clauses, targets)?;
            if !order.is_empty() && !starts_with(have, &order) {
                made = self.sort_on(root, made, &order, have)?;
                have.clone_from(&order);
            }
            let below = Below::one(&made.output);
            let run_condition = match last == Some(i) {
                true => below.fix_all(&run_conditions(root, targets))?,
                false => Vec::new(),
            };
            let mut want: Vec<Expr> = made.output.iter().map(|t| t.expr.clone()).collect();
            want.extend(mine);
            let output = targets_of(&want);
            let partition = self.group_keys(&w.partition_clause, targets, &made.output)?;
            let order_keys = self.group_keys(&w.order_clause, targets, &made.output)?;
            let mut info = self.above(&made, made.plan.info.plan_rows * 0.02);
            info.plan_width = self.row_width(root, &want)?;
            info.target_list = below.fix_targets(&output)?;
            let node = PlanNode::WindowAgg(Box::new(WindowAgg {
                child: Box::new(made.plan),
                winref: w.winref,
                partition,
                order: order_keys,
                frame_options: w.frame_options,
                // Offsets contain no columns; they are evaluated before the first row.
                start_offset: w.start_offset,
                end_offset: w.end_offset,
                start_in_range_func: w.start_in_range_func,
                end_in_range_func: w.end_in_range_func,
                in_range_coll: w.in_range_coll,
                in_range_asc: w.in_range_asc,
                in_range_nulls_first: w.in_range_nulls_first,
                run_condition,
            }));
            made = Made { plan: Plan { info, node }, output };
        }
        Ok(made)
    }

    /// Adds nodes that compute the final target list. Nested set-returning functions are expanded
    /// from the innermost ones outward, all of one depth in one ProjectSet node.
    fn project_sets(&mut self, root: &Root, mut made: Made, finals: &[Expr]) -> Result<Made> {
        loop {
            let mut ready: Vec<Expr> = Vec::new();
            for e in finals {
                innermost_srfs(e, &made.output, &mut ready);
            }
            if ready.is_empty() {
                break;
            }
            let mut factor: f64 = 1.0;
            for s in &ready {
                if let Expr::FuncExpr(f) = s {
                    factor = factor.max(self.srf_rows(f.funcid, &f.args)?);
                }
            }
            // The last ProjectSet node computes the final target list itself, unless an expression
            // uses the values of a set.
            let last =
                finals.iter().all(|e| ready.contains(e) || !has_pending_srf(e, &made.output));
            let want: Vec<Expr> = match last {
                true => finals.to_vec(),
                false => made.output.iter().map(|t| t.expr.clone()).chain(ready).collect(),
            };
            let below = Below::one(&made.output);
            let output = targets_of(&want);
            let mut info = self.above(&made, 0.0);
            info.plan_width = self.row_width(root, &want)?;
            info.plan_rows = clamp_rows(info.plan_rows * factor);
            info.total_cost += info.plan_rows * self.facts.costs().cpu_tuple;
            info.target_list = below.fix_targets(&output)?;
            let node = PlanNode::ProjectSet { child: Box::new(made.plan) };
            made = Made { plan: Plan { info, node }, output };
            if last {
                return Ok(made);
            }
        }
        let output = targets_of(finals);
        if computes_outputs(&made.plan.node) {
            // The node can compute the target list itself.
            let have = std::mem::take(&mut made.plan.info.target_list);
            made.plan.info.plan_width = self.row_width(root, finals)?;
            let made_of = |e: &Expr| {
                let at = made.output.iter().position(|t| t.expr == *e)?;
                Some(have[at].expr.clone())
            };
            made.plan.info.target_list = output.clone();
            for t in &mut made.plan.info.target_list {
                substitute(&mut t.expr, &mut |e| made_of(e));
            }
            return Ok(Made { plan: made.plan, output });
        }
        let below = Below::one(&made.output);
        let mut info = self.above(&made, 0.0);
        info.plan_width = self.row_width(root, finals)?;
        info.target_list = below.fix_targets(&output)?;
        let node = PlanNode::Result { child: Some(Box::new(made.plan)), constant_qual: Vec::new() };
        Ok(Made { plan: Plan { info, node }, output })
    }

    fn distinct(
        &mut self,
        root: &mut Root,
        mut made: Made,
        have: &mut Vec<PathKey>,
        distinct: &[SortGroupClause],
        order: &[PathKey],
        targets: &[TargetEntry],
        prefer_hash: bool,
    ) -> Result<Made> {
        let exprs: Result<Vec<Expr>> =
            distinct.iter().map(|c| target_for(c, targets).cloned()).collect();
        let rows = made.plan.info.plan_rows;
        let groups = self.group_count(root, &exprs?, rows)?;
        let needed = self.distinct_order(root, distinct, order, targets);
        let presorted = needed.as_ref().is_ok_and(|n| starts_with(have, n));
        let hashable = distinct.iter().all(|d| d.hashable);
        let c = self.costs();
        let keys = self.group_keys(distinct, targets, &made.output)?;
        let hash = hashable
            && !root.query.has_distinct_on
            && !presorted
            && (needed.is_err() || (prefer_hash && c.enable_hashagg));
        if hash {
            let mut info = self.above(&made, rows * c.cpu_operator * distinct.len() as f64);
            info.startup_cost = info.total_cost;
            info.total_cost += groups * c.cpu_tuple;
            info.plan_rows = groups;
            have.clear();
            let node = PlanNode::Agg(Box::new(Agg {
                child: Box::new(made.plan),
                strategy: AggStrategy::Hashed,
                split: AggSplit::Simple,
                keys,
                num_groups: groups,
                grouping_sets: Vec::new(),
                chain: Vec::new(),
            }));
            return Ok(Made { plan: Plan { info, node }, output: made.output });
        }
        let needed = needed?;
        if !presorted {
            made = self.sort_on(root, made, &needed, have)?;
            have.clone_from(&needed);
        }
        let mut info = self.above(&made, rows * c.cpu_operator * distinct.len() as f64);
        info.plan_rows = groups;
        let node = PlanNode::Unique { child: Box::new(made.plan), keys };
        Ok(Made { plan: Plan { info, node }, output: made.output })
    }

    pub(crate) fn limit(&mut self, root: &mut Root, made: Made) -> Result<Made> {
        let q = &root.query;
        let number = |e: &Option<Expr>| match e {
            Some(Expr::Const(c)) if !c.is_null() => Some(c.value.as_ref().as_i64() as f64),
            _ => None,
        };
        let below = made.plan.info.clone();
        let skip = if q.limit_offset.is_some() {
            number(&q.limit_offset).unwrap_or(below.plan_rows * 0.1)
        } else {
            0.0
        };
        let count = if q.limit_count.is_some() {
            number(&q.limit_count).unwrap_or(below.plan_rows * 0.1)
        } else {
            below.plan_rows
        };
        let ties = match q.limit_option {
            LimitOption::Count => None,
            LimitOption::WithTies => {
                let clauses = q.sort_clause.clone();
                let targets = q.target_list.clone();
                Some(self.group_keys(&clauses, &targets, &made.output)?)
            }
        };
        let per_row = (below.total_cost - below.startup_cost) / below.plan_rows.max(1.0);
        let mut info = self.above(&made, 0.0);
        info.startup_cost = below.startup_cost + per_row * skip.min(below.plan_rows);
        info.plan_rows = clamp_rows(count.min((below.plan_rows - skip).max(1.0)));
        info.total_cost = (info.startup_cost + per_row * info.plan_rows).min(below.total_cost);
        let node = PlanNode::Limit {
            child: Box::new(made.plan),
            offset: root.query.limit_offset.clone(),
            count: root.query.limit_count.clone(),
            with_ties: ties,
        };
        Ok(Made { plan: Plan { info, node }, output: made.output })
    }

    /// The tuple fraction of the output that LIMIT, or the level above, will fetch: 0 is all, a
    /// number below 1 is a fraction, others are a count.
    pub(crate) fn limit_fraction(&self, root: &Root) -> f64 {
        let number = |e: &Expr| match e {
            Expr::Const(c) if !c.is_null() => Some(c.value.as_ref().as_i64() as f64),
            _ => None,
        };
        match &root.query.limit_count {
            None => root.tuple_fraction,
            Some(count) => match (number(count), root.query.limit_offset.as_ref().map(number)) {
                (Some(n), None) => n.max(1.0),
                (Some(n), Some(Some(o))) => (n + o).max(1.0),
                _ => 0.1,
            },
        }
    }
}

/// All columns of a subquery path without conditions, if `want` has only columns of the subquery.
pub(crate) fn all_columns(root: &Root, path: &Path, want: &[Expr]) -> Option<Vec<Expr>> {
    let PathKind::Subquery { rti, plan, quals } = &path.kind else { return None };
    let of_it = |e: &Expr| matches!(e, Expr::Var(v) if v.varno == *rti && v.varattno > 0);
    if !quals.is_empty() || !want.iter().all(of_it) {
        return None;
    }
    let columns = root.subqueries[*plan].plan.info.target_list.iter().filter(|t| !t.resjunk);
    let columns = columns.map(|t| {
        // Use the query's own Var: its collation may differ from that of the plan's expression.
        let asked = want.iter().find(|e| matches!(e, Expr::Var(v) if v.varattno == t.resno));
        let (ty, typmod, collation) = (t.expr.type_oid(), t.expr.typmod(), t.expr.collation());
        asked.cloned().unwrap_or_else(|| make_var(*rti, t.resno, ty, typmod, collation))
    });
    Some(columns.collect())
}

/// True if LIMIT or OFFSET may remove rows. Counterpart: `limit_needed`.
pub(crate) fn limits_rows(query: &Query) -> bool {
    let limited = match &query.limit_count {
        Some(Expr::Const(c)) => !c.is_null(),
        other => other.is_some(),
    };
    let skips = match &query.limit_offset {
        Some(Expr::Const(c)) => !c.is_null() && c.value.as_ref().as_i64() != 0,
        other => other.is_some(),
    };
    limited || skips
}

/// The target-list expression of a sort or group clause. Counterpart: `get_sortgroupclause_expr`.
pub(crate) fn target_for<'t>(c: &SortGroupClause, targets: &'t [TargetEntry]) -> Result<&'t Expr> {
    targets
        .iter()
        .find(|t| t.ressortgroupref == c.tle_sort_group_ref)
        .map(|t| &t.expr)
        .ok_or_else(|| PgError::internal("ORDER/GROUP BY expression not found in targetlist"))
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

/// True if the node can compute a target list. Counterpart: `is_projection_capable_plan`.
fn computes_outputs(node: &PlanNode) -> bool {
    matches!(
        node,
        PlanNode::WindowAgg(_)
            | PlanNode::Agg(_)
            | PlanNode::SeqScan { .. }
            | PlanNode::IndexScan { .. }
            | PlanNode::IndexOnlyScan { .. }
            | PlanNode::BitmapHeapScan { .. }
            | PlanNode::TidScan { .. }
            | PlanNode::NestLoop { .. }
            | PlanNode::MergeJoin { .. }
            | PlanNode::HashJoin { .. }
    )
}

/// The level's run conditions, over its own expressions.
fn run_conditions(root: &Root, targets: &[TargetEntry]) -> Vec<Expr> {
    let mut conditions = root.input.run_conditions.clone();
    for e in &mut conditions {
        substitute(e, &mut |e| match e {
            Expr::Var(v) => targets.iter().find(|t| t.resno == v.varattno).map(|t| t.expr.clone()),
            _ => None,
        });
    }
    conditions
}

fn collect_window_funcs(e: &Expr, out: &mut Vec<Expr>) {
    if let Expr::WindowFunc(_) = e {
        push_unique(out, e);
        return;
    }
    plan::walk::each_child(e, &mut |c| collect_window_funcs(c, out));
}

/// Adds the set-returning calls that are not computed yet and have no set-returning arguments.
fn innermost_srfs(e: &Expr, done: &[TargetEntry], out: &mut Vec<Expr>) {
    if done.iter().any(|t| t.expr == *e) || !contains_srf(e) {
        return;
    }
    let before = out.len();
    plan::walk::each_child(e, &mut |c| innermost_srfs(c, done, out));
    let is_srf = matches!(e, Expr::FuncExpr(f) if f.funcretset)
        || matches!(e, Expr::OpExpr(o) if o.opretset);
    let mut pending_below = false;
    plan::walk::each_child(e, &mut |c| {
        pending_below |= has_pending_srf(c, done);
    });
    if is_srf && out.len() == before && !pending_below {
        push_unique(out, e);
    }
}

fn has_pending_srf(e: &Expr, done: &[TargetEntry]) -> bool {
    if done.iter().any(|t| t.expr == *e) {
        return false;
    }
    let here = matches!(e, Expr::FuncExpr(f) if f.funcretset)
        || matches!(e, Expr::OpExpr(o) if o.opretset);
    let mut below = false;
    plan::walk::each_child(e, &mut |c| below |= has_pending_srf(c, done));
    here || below
}
