//! Paths of set operations (UNION, INTERSECT, EXCEPT), and plans of recursive queries. Counterpart:
//! prepunion.c.

use crate::rel::clamp_rows;
use crate::state::{LevelInput, Planner, PlannerInfo, WorkTable};
use ids::Oid;
use pgerror::{PgError, Result, pg_err};
use plan::node::{GroupKeys, Plan, PlanInfo, PlanNode};
use plan::query::{
    CommonTableExpr, Query, RangeTblEntry, RteKind, SetOpNode, SetOperation, SetOperationStmt,
};
use querytree::path::{AppendShape, Path, PathKind, PathRef, PathSet};
use querytree::refs::{label, pass_through};
use querytree::relids::Relids;
use querytree::unused::is_simple_union_all;
use std::rc::Rc;
use stdx::stack::deep;

/// An input of a set operation.
pub(crate) struct Part {
    pub path: PathRef,
    pub rows: f64,
    /// Estimated number of distinct rows.
    pub groups: f64,
    /// The types of its columns.
    pub types: Rc<[Oid]>,
}

impl Part {
    fn of(path: Path, groups: f64, op: &SetOperationStmt) -> Part {
        let rows = path.rows;
        let types = op.col_types.as_slice().into();
        Part { path: Rc::new(path), rows, groups, types }
    }
}

impl Planner<'_> {
    /// The paths of a level whose FROM is a tree of set operations, in the level's order.
    pub(crate) fn set_operation_paths(&mut self, root: &mut PlannerInfo) -> Result<PathSet> {
        let Some(tree) = root.query.set_operations.take() else {
            return Err(PgError::internal("set operation expected"));
        };
        root.in_set_operation = true;
        let targets = root.query.target_list.clone();
        let order = self.order_of(root, &root.query.sort_clause.clone(), &targets)?;
        let paths = match &*tree {
            SetOpNode::Op(op) if is_simple_union_all(&root.query, &tree) => {
                self.append_paths(root, op, &order)?
            }
            _ => {
                // With ORDER BY all rows are fetched.
                root.subquery_fraction = match root.query.sort_clause.is_empty() {
                    true => self.limit_fraction(root),
                    false => 0.0,
                };
                let part = self.set_operation(root, &tree)?;
                let mut paths = PathSet::new(root.wants_early_rows());
                paths.add_ref(part.path);
                paths
            }
        };
        self.ordered_paths(root, paths, &order)
    }

    /// The best path of one input.
    pub(crate) fn set_input(&mut self, root: &mut PlannerInfo, rti: i32) -> Result<Part> {
        let plan = self.plan_subquery(root, rti)?;
        let s = &root.subqueries[plan];
        let path = s.paths.cheapest_for(root.subquery_fraction)?;
        Ok(Part {
            path: Rc::new(set_input_path(rti, plan, path)),
            rows: s.rows,
            groups: s.groups,
            types: column_types(&s.level()?.query),
        })
    }

    fn set_operation(&mut self, root: &mut PlannerInfo, node: &SetOpNode) -> Result<Part> {
        match node {
            SetOpNode::Leaf(rti) => self.set_input(root, *rti),
            SetOpNode::Op(op) => {
                let fraction = root.subquery_fraction;
                let union_all = op.op == SetOperation::Union && op.all;
                if !union_all {
                    root.subquery_fraction = 0.0;
                }
                let part = match op.op {
                    SetOperation::Union => deep(|| self.union(root, op)),
                    _ => deep(|| self.intersect_except(root, op)),
                };
                root.subquery_fraction = fraction;
                part
            }
        }
    }

    fn union(&mut self, root: &mut PlannerInfo, op: &SetOperationStmt) -> Result<Part> {
        let mut parts = Vec::new();
        for side in [&op.larg, &op.rarg] {
            self.gather_union(root, side, op.all, &op.col_types, &mut parts)?;
        }
        let op = Rc::new(op.clone());
        let shape = Rc::new(AppendShape { op: op.clone(), flags: false });
        let width = self.operation_width(&op)?;
        let append = self.append_path(parts.into_iter().map(|p| p.path).collect(), shape, width);
        let rows = append.rows;
        if op.all {
            return Ok(Part::of(append, rows, &op));
        }
        let rows = clamp_rows(rows);
        let distinct = self.union_distinct(root, append, &op, rows);
        Ok(Part::of(distinct, rows, &op))
    }

    /// The rows of all children. Counterpart: `create_append_path`.
    pub(crate) fn append_path(
        &self,
        children: Vec<PathRef>,
        shape: Rc<AppendShape>,
        width: i32,
    ) -> Path {
        let rows = children.iter().map(|p| p.rows).sum();
        let mut total: f64 = children.iter().map(|p| p.total).sum();
        if children.len() > 1 {
            total += rows * self.host.costs().cpu_tuple * 0.5;
        }
        Path {
            relids: Relids::new(),
            rows,
            width,
            startup: children.first().map_or(0.0, |p| p.startup),
            total,
            order: Vec::new(),
            outer: Relids::new(),
            kind: PathKind::Append { children, shape },
        }
    }

    /// Width of the operation's columns by their types.
    pub(crate) fn operation_width(&mut self, op: &SetOperationStmt) -> Result<i32> {
        let mut width = 0i32;
        for (&ty, &typmod) in op.col_types.iter().zip(&op.col_typmods) {
            width = width.saturating_add(self.type_width(ty, typmod)?);
        }
        Ok(width)
    }

    /// Flattens nested unions of the same kind into one list of inputs. Counterpart:
    /// `plan_union_children`.
    fn gather_union(
        &mut self,
        root: &mut PlannerInfo,
        node: &SetOpNode,
        all: bool,
        types: &[Oid],
        out: &mut Vec<Part>,
    ) -> Result<()> {
        if let SetOpNode::Op(op) = node
            && op.op == SetOperation::Union
            && op.col_types == types
            && (op.all == all || !all)
        {
            self.host.check_interrupts()?;
            deep(|| self.gather_union(root, &op.larg, all, types, out))?;
            return deep(|| self.gather_union(root, &op.rarg, all, types, out));
        }
        let part = self.set_operation(root, node)?;
        out.push(self.converted(part, types)?);
        Ok(())
    }

    /// Converts the input's columns to the operation's types.
    fn converted(&mut self, part: Part, types: &[Oid]) -> Result<Part> {
        if *part.types == *types {
            return Ok(part);
        }
        let types: Rc<[Oid]> = types.into();
        let mut width = 0i32;
        for &ty in types.iter() {
            width = width.saturating_add(self.type_width(ty, -1)?);
        }
        let kind = PathKind::Convert { child: part.path.clone(), types: types.clone() };
        let path = Rc::new(Path { kind, width, ..Path::clone(&part.path) });
        Ok(Part { path, types, ..part })
    }

    /// True if hashing is cheaper than sorting. Counterpart: `choose_hashed_setop`.
    fn hash_is_cheaper(
        &mut self,
        root: &PlannerInfo,
        op: &SetOperationStmt,
        input: &Path,
        groups: f64,
        rows_out: f64,
    ) -> bool {
        let c = self.costs();
        let clauses = &op.group_clauses;
        let hashable = clauses.iter().all(|g| g.hashable);
        if !hashable || !clauses.iter().all(|g| g.sortop.is_valid()) {
            return hashable;
        }
        let entry = ((f64::from(input.width) / 8.0).ceil() * 8.0) + 16.0;
        let bytes = entry * groups;
        if !c.enable_hashagg || bytes > c.hash_mem {
            return false;
        }
        let compare = c.cpu_operator * clauses.len() as f64 * input.rows;
        let startup = input.total + compare;
        let hashed = (startup, startup + c.cpu_tuple * groups);
        let (startup, total) = self.sort_cost(input.total, input.rows, input.width);
        let sorted = (startup, total + compare);
        let fraction = match root.query.sort_clause.is_empty() {
            true => self.limit_fraction(root),
            false => 0.0,
        };
        let fraction = if fraction >= 1.0 { fraction / rows_out } else { fraction };
        let fetched = |(startup, total): (f64, f64)| match fraction > 0.0 && fraction < 1.0 {
            true => startup + fraction * (total - startup),
            false => total,
        };
        fetched(hashed) < fetched(sorted)
    }

    /// The path that removes duplicates. Counterpart: `make_union_unique`.
    fn union_distinct(
        &mut self,
        root: &PlannerInfo,
        child: Path,
        op: &Rc<SetOperationStmt>,
        rows: f64,
    ) -> Path {
        let c = self.costs();
        let columns = op.group_clauses.len() as f64;
        // Without columns all rows are equal, and there are no sort keys.
        let hashed = match op.group_clauses.is_empty() {
            true => c.enable_hashagg,
            false => self.hash_is_cheaper(root, op, &child, rows, rows),
        };
        let work = child.rows * c.cpu_operator * columns;
        if hashed {
            let startup = child.total + work;
            let child = Rc::new(child);
            return Path {
                kind: PathKind::UnionDistinct { child: child.clone(), op: op.clone(), hashed },
                startup,
                total: startup + rows * c.cpu_tuple,
                rows,
                ..Path::clone(&child)
            };
        }
        let child = self.set_sort(child, op);
        Path {
            total: child.total + work,
            rows,
            ..wrapped(child, |child| PathKind::UnionDistinct { child, op: op.clone(), hashed })
        }
    }

    /// Sorts by all columns of the operation.
    fn set_sort(&self, child: Path, op: &Rc<SetOperationStmt>) -> Path {
        if op.group_clauses.is_empty() {
            return child;
        }
        let (startup, total) = self.sort_cost(child.total, child.rows, child.width);
        let path = wrapped(child, |child| PathKind::SetSort { child, op: op.clone() });
        Path { startup, total, ..path }
    }

    /// INTERSECT and EXCEPT: a SetOp node above an Append of both inputs with a flag column.
    fn intersect_except(&mut self, root: &mut PlannerInfo, op: &SetOperationStmt) -> Result<Part> {
        let l = self.set_operation(root, &op.larg)?;
        let l = self.converted(l, &op.col_types)?;
        let r = self.set_operation(root, &op.rarg)?;
        let r = self.converted(r, &op.col_types)?;
        let op = Rc::new(op.clone());
        let except = op.op == SetOperation::Except;
        let (lrows, lgroups, rows) = (l.rows, l.groups, l.rows.min(r.rows));
        let groups = if except { lgroups } else { lgroups.min(r.groups) };
        let rows = clamp_rows(match (op.all, except) {
            (true, true) => lrows,
            (true, false) => rows,
            (false, _) => groups,
        });
        // INTERSECT: the smaller input comes first, as in PostgreSQL.
        let (first, second) = if except || lgroups <= r.groups { (l, r) } else { (r, l) };
        let shape = Rc::new(AppendShape { op: op.clone(), flags: true });
        let width = self.operation_width(&op)?.saturating_add(4);
        let child = self.append_path(vec![first.path, second.path], shape, width);
        // A hashed SetOp cannot spill, so its table must fit in memory.
        let bytes = child.rows * (f64::from(child.width) + 56.0);
        let fits = bytes <= self.host.costs().hash_mem;
        let hashed = fits && self.hash_is_cheaper(root, &op, &child, groups, rows);
        let child = if hashed { child } else { self.set_sort(child, &op) };
        let total = child.total + child.rows * self.host.costs().cpu_operator;
        let startup = if hashed { total } else { child.startup };
        let path = wrapped(child, |child| PathKind::SetOp { child, op: op.clone(), hashed });
        Ok(Part::of(Path { startup, total, rows, ..path }, rows, &op))
    }

    /// Plans a recursive `WITH` query: the non-recursive term, then the recursive term. Returns the
    /// plan and its number of rows.
    pub(crate) fn plan_recursive(
        &mut self,
        root: &mut PlannerInfo,
        cte: &CommonTableExpr,
    ) -> Result<(Plan, f64)> {
        self.enter()?;
        let input = LevelInput { tuple_fraction: 0.0, ..root.child_input(0.0) };
        let mut level = PlannerInfo::new((*cte.query).clone(), input);
        self.prepare(&mut level)?;
        self.flatten_rtable(&mut level);
        level.in_set_operation = true;
        let Some(tree) = level.query.set_operations.take() else {
            return Err(PgError::internal("recursive query without UNION"));
        };
        let SetOpNode::Op(op) = *tree else {
            return Err(PgError::internal("recursive query without UNION"));
        };
        let left = self.set_operation(&mut level, &op.larg)?;
        let left = self.converted(left, &op.col_types)?;
        let wt_param = self.new_param(Oid::INVALID);
        level.work_table =
            Some(WorkTable { name: cte.ctename.clone(), param: wt_param, rows: left.rows * 10.0 });
        let right = self.set_operation(&mut level, &op.rarg)?;
        let right = self.converted(right, &op.col_types)?;
        self.leave();
        if level.subqueries.iter().any(|s| !s.params.is_empty()) {
            return Err(PgError::internal("recursive part refers to its sibling"));
        }
        if !op.all && !op.group_clauses.iter().all(|g| g.hashable) {
            return Err(pg_err!(FEATURE_NOT_SUPPORTED, "could not implement recursive UNION")
                .detail("All column datatypes must be hashable."));
        }
        let rows = clamp_rows(left.rows + 10.0 * right.rows);
        let outer = deep(|| self.create(&mut level, &left.path, &[]))?;
        let inner = deep(|| self.create(&mut level, &right.path, &[]))?;
        let info = PlanInfo {
            startup_cost: left.path.startup,
            total_cost: left.path.total + 10.0 * right.path.total,
            plan_rows: rows,
            plan_width: self.operation_width(&op)?,
            target_list: pass_through(&outer.plan.info.target_list),
            ..PlanInfo::default()
        };
        let node = PlanNode::RecursiveUnion {
            outer: Box::new(outer.plan),
            inner: Box::new(inner.plan),
            wt_param,
            dedup: if op.all { GroupKeys::default() } else { column_keys(&op) },
            num_groups: rows,
        };
        let mut plan = Plan { info, node };
        label(&mut plan, &level.query.target_list);
        plan.info.init_plan.append(&mut level.init_plans);
        Ok((plan, rows))
    }
}

/// A path of this kind above `child`, with the same costs and rows, and without its order.
fn wrapped(child: Path, kind: impl FnOnce(PathRef) -> PathKind) -> Path {
    let child = Rc::new(child);
    Path { kind: kind(child.clone()), order: Vec::new(), ..Path::clone(&child) }
}

/// The types of the query's columns.
fn column_types(query: &Query) -> Rc<[Oid]> {
    query.target_list.iter().filter(|t| !t.resjunk).map(|t| t.expr.type_oid()).collect()
}

/// A path of a planned input.
pub(crate) fn set_input_path(rti: i32, plan: usize, path: &PathRef) -> Path {
    Path {
        kind: PathKind::SetInput { rti, plan, path: path.clone() },
        relids: Relids::from([rti]),
        order: Vec::new(),
        outer: Relids::new(),
        ..Path::clone(path)
    }
}

/// True if the subquery has a FROM clause. PostgreSQL plans one without FROM separately, and does
/// not detect that its condition is never true.
pub(crate) fn has_from(rte: &RangeTblEntry) -> bool {
    let RteKind::Subquery { subquery, .. } = &rte.kind else { return false };
    !subquery.jointree.fromlist.is_empty()
}

/// True if the path returns no rows because its conditions are never true.
pub(crate) fn never_gives_rows(path: &Path) -> bool {
    match &path.kind {
        PathKind::Dummy => true,
        PathKind::Target { child, .. } => never_gives_rows(child),
        PathKind::Subquery { path, .. } => never_gives_rows(path),
        _ => false,
    }
}

pub(crate) fn column_keys(op: &SetOperationStmt) -> GroupKeys {
    let mut keys = GroupKeys::default();
    for (i, g) in op.group_clauses.iter().enumerate() {
        keys.cols.push(i as i16 + 1);
        keys.eq_operators.push(g.eqop);
        keys.collations.push(op.col_collations.get(i).copied().unwrap_or_default());
    }
    keys
}
