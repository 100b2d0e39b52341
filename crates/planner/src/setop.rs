//! Set operations (UNION, INTERSECT, EXCEPT) and recursive queries. Counterpart: prepunion.c.

use crate::create::Made;
use crate::glob::{Glob, PlannedLevel, Root, WorkTable};
use crate::path::PathKey;
use crate::refs::targets_of;
use crate::rel::clamp_rows;
use crate::vars::make_var;
use ids::Oid;
use pgerror::{PgError, Result, pg_err};
use plan::expr::{AggSplit, Const, Expr, Location, TargetEntry, Var};
use plan::node::{Agg, AggStrategy, GroupKeys, Plan, PlanInfo, PlanNode, SetOpStrategy, SortKeys};
use plan::query::{
    CommonTableExpr, Query, RangeTblEntry, RteKind, SetOpNode, SetOperation, SetOperationStmt,
};
use stdx::stack::deep;

/// A planned input of a set operation.
struct Part {
    plan: Plan,
    rows: f64,
    /// Estimated number of distinct rows.
    groups: f64,
    /// Index in the flat range table, if the input is a single subquery.
    rti: Option<i32>,
    /// It returns no rows, and PostgreSQL detects that before it plans the operation.
    empty: bool,
}

impl Glob<'_> {
    /// Plans a level whose FROM is a tree of set operations.
    pub(crate) fn plan_set_operations(&mut self, root: &mut Root) -> Result<PlannedLevel> {
        self.prepare(root)?;
        self.flatten_rtable(root);
        let Some(tree) = root.query.set_operations.take() else {
            return Err(PgError::internal("set operation expected"));
        };
        root.in_set_operation = true;
        root.omits_empty_arms = is_simple_union_all(&root.query, &tree);
        let ordered = self.order_arms(root, &tree)?;
        let part = self.set_operation(root, &tree)?;
        let finals: Vec<Expr> = root.query.target_list.iter().map(|t| t.expr.clone()).collect();
        // The columns correspond by position; ORDER BY finds them by the expressions of the target
        // list.
        let mut made = Made { plan: part.plan, output: targets_of(&finals) };
        let targets = root.query.target_list.clone();
        let order: Vec<PathKey> = self.order_of(root, &root.query.sort_clause.clone(), &targets)?;
        let keys = if ordered { Some(self.sort_keys(&order, &made.output)?) } else { None };
        let merged = keys.is_some_and(|keys| self.merge_arms(root, &mut made.plan, keys));
        if !order.is_empty() && !merged {
            made = self.sort(made, &order)?;
        }
        self.finish_level(root, made, &[])
    }

    fn set_operation(&mut self, root: &mut Root, node: &SetOpNode) -> Result<Part> {
        match node {
            SetOpNode::Leaf(rti) => {
                let i = self.plan_subquery(root, *rti)?;
                let s = &root.subqueries[i];
                let (rows, groups) = (s.rows, s.groups);
                let mut plan = s.plan.clone();
                let empty = has_from(root.query.rte(*rti)) && never_gives_rows(&plan);
                let rti = self.flat(root, *rti);
                if plan.info.target_list.iter().any(|t| t.resjunk) {
                    // Remove the junk sort columns of the leaf's own ORDER BY.
                    let info = read_leaf(&plan, rti);
                    let child = Box::new(plan);
                    plan = Plan { info, node: PlanNode::SubqueryScan { scanrelid: rti, child } };
                }
                Ok(Part { plan, rows, groups, rti: Some(rti), empty })
            }
            SetOpNode::Op(op) => match op.op {
                SetOperation::Union => deep(|| self.union(root, op)),
                _ => deep(|| self.intersect_except(root, op)),
            },
        }
    }

    fn union(&mut self, root: &mut Root, op: &SetOperationStmt) -> Result<Part> {
        let mut parts = Vec::new();
        for side in [&op.larg, &op.rarg] {
            self.gather_union(root, side, op.all, &op.col_types, &mut parts)?;
        }
        if root.omits_empty_arms {
            // Leave out inputs without rows, except the last one if all are empty.
            let last = parts.pop();
            parts.retain(|p| !p.empty);
            parts.extend(last.filter(|p| !p.empty || parts.is_empty()));
        }
        let rows: f64 = parts.iter().map(|p| p.rows).sum();
        // With several inputs, or a single empty one, the columns have the operation's typmods.
        let only = parts.len() == 1 && !parts[0].empty;
        let mut append = append(parts);
        if !only {
            take_typmods(&mut append.info, op);
            append.info.plan_width = match (&append.node, root.omits_empty_arms) {
                (PlanNode::Append { children }, true) => average_width(children),
                _ => self.columns_width(&append.info)?,
            };
        }
        if op.all {
            return Ok(Part { plan: append, rows, groups: rows, rti: None, empty: false });
        }
        let rows = clamp_rows(rows);
        let plan = self.make_distinct(root, append, op, rows)?;
        Ok(Part { plan, rows, groups: rows, rti: None, empty: false })
    }

    /// Width of a node's columns by their types.
    fn columns_width(&mut self, info: &PlanInfo) -> Result<i32> {
        let mut width = 0i32;
        for t in &info.target_list {
            width = width.saturating_add(self.type_width(t.expr.type_oid(), t.expr.typmod())?);
        }
        Ok(width)
    }

    /// Flattens nested unions of the same kind into one list of inputs. Counterpart:
    /// `plan_union_children`.
    fn gather_union(
        &mut self,
        root: &mut Root,
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
            self.facts.check_interrupts()?;
            deep(|| self.gather_union(root, &op.larg, all, types, out))?;
            return deep(|| self.gather_union(root, &op.rarg, all, types, out));
        }
        let part = self.set_operation(root, node)?;
        out.push(self.converted(part, types)?);
        Ok(())
    }

    /// Converts the input's columns to the operation's types.
    fn converted(&mut self, part: Part, types: &[Oid]) -> Result<Part> {
        let have = part.plan.info.target_list.iter().map(|t| t.expr.type_oid());
        if have.eq(types.iter().copied()) {
            return Ok(part);
        }
        let mut part = part.projected();
        for (t, &ty) in part.plan.info.target_list.iter_mut().zip(types) {
            t.expr = self.facts.coerce_to_common(t.expr.clone(), ty)?;
        }
        part.plan.info.plan_width = self.columns_width(&part.plan.info)?;
        Ok(part)
    }

    /// True if hashing is cheaper than sorting. Counterpart: `choose_hashed_setop`.
    fn hash_is_cheaper(
        &mut self,
        root: &Root,
        op: &SetOperationStmt,
        input: &PlanInfo,
        groups: f64,
        rows_out: f64,
    ) -> bool {
        let c = self.costs();
        let clauses = &op.group_clauses;
        let hashable = clauses.iter().all(|g| g.hashable);
        if !hashable || !clauses.iter().all(|g| g.sortop.is_valid()) {
            return hashable;
        }
        let entry = ((f64::from(input.plan_width) / 8.0).ceil() * 8.0) + 16.0;
        let bytes = entry * groups;
        if !c.enable_hashagg || bytes > c.hash_mem {
            return false;
        }
        let compare = c.cpu_operator * clauses.len() as f64 * input.plan_rows;
        let startup = input.total_cost + compare;
        let hashed = (startup, startup + c.cpu_tuple * groups);
        let (startup, total) = self.sort_cost(input.total_cost, input.plan_rows, input.plan_width);
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

    fn make_distinct(
        &mut self,
        root: &Root,
        child: Plan,
        op: &SetOperationStmt,
        rows: f64,
    ) -> Result<Plan> {
        let keys = column_keys(op);
        let c = self.costs();
        let mut info = pass_through_info(&child);
        info.plan_rows = rows;
        // Without columns all rows are equal, and there are no sort keys.
        let columnless = keys.cols.is_empty();
        if columnless && c.enable_hashagg
            || !columnless && self.hash_is_cheaper(root, op, &child.info, rows, rows)
        {
            info.total_cost += child.info.plan_rows * c.cpu_operator * keys.cols.len() as f64;
            info.startup_cost = info.total_cost;
            info.total_cost += rows * c.cpu_tuple;
            let node = PlanNode::Agg(Box::new(Agg {
                child: Box::new(child),
                strategy: AggStrategy::Hashed,
                split: AggSplit::Simple,
                keys,
                num_groups: rows,
                grouping_sets: Vec::new(),
                chain: Vec::new(),
            }));
            return Ok(Plan { info, node });
        }
        let sorted = self.sort_columns(child, op)?;
        let mut info = pass_through_info(&sorted);
        info.plan_rows = rows;
        Ok(Plan { info, node: PlanNode::Unique { child: Box::new(sorted), keys } })
    }

    /// Sorts by all columns of the operation.
    fn sort_columns(&mut self, child: Plan, op: &SetOperationStmt) -> Result<Plan> {
        if op.group_clauses.is_empty() {
            return Ok(child);
        }
        let mut keys = SortKeys::default();
        for (i, g) in op.group_clauses.iter().enumerate() {
            keys.cols.push(i as i16 + 1);
            keys.operators.push(g.sortop);
            keys.collations.push(op.col_collations.get(i).copied().unwrap_or_default());
            keys.nulls_first.push(g.nulls_first);
        }
        let mut info = pass_through_info(&child);
        let (startup, total) =
            self.sort_cost(child.info.total_cost, child.info.plan_rows, child.info.plan_width);
        info.startup_cost = startup;
        info.total_cost = total;
        Ok(Plan { info, node: PlanNode::Sort { child: Box::new(child), keys } })
    }

    /// INTERSECT and EXCEPT: a SetOp node above an Append of both inputs with a flag column.
    fn intersect_except(&mut self, root: &mut Root, op: &SetOperationStmt) -> Result<Part> {
        let l = self.set_operation(root, &op.larg)?;
        let l = self.converted(l, &op.col_types)?;
        let r = self.set_operation(root, &op.rarg)?;
        let r = self.converted(r, &op.col_types)?;
        let columns = op.col_types.len() as i16;
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
        let mut child = append(vec![with_flag(first, 0), with_flag(second, 1)]);
        take_typmods(&mut child.info, op);
        child.info.plan_width = self.columns_width(&child.info)?;
        // A hashed SetOp cannot spill, so its table must fit in memory.
        let bytes = child.info.plan_rows * (f64::from(child.info.plan_width) + 56.0);
        let fits = bytes <= self.facts.costs().hash_mem;
        let hashed = self.hash_is_cheaper(root, op, &child.info, groups, rows);
        let (child, strategy) = if hashed && fits {
            (child, SetOpStrategy::Hashed)
        } else {
            (self.sort_columns(child, op)?, SetOpStrategy::Sorted)
        };
        let mut info = pass_through_info(&child);
        info.target_list.truncate(columns as usize);
        take_typmods(&mut info, op);
        info.plan_rows = rows;
        info.total_cost += child.info.plan_rows * self.facts.costs().cpu_operator;
        let node = PlanNode::SetOp {
            child: Box::new(child),
            op: op.op,
            all: op.all,
            strategy,
            keys: column_keys(op),
            flag_col: columns + 1,
            num_groups: rows,
        };
        Ok(Part { plan: Plan { info, node }, rows, groups: rows, rti: None, empty: false })
    }

    /// Plans a recursive `WITH` query: the non-recursive term, then the recursive term.
    pub(crate) fn plan_recursive(
        &mut self,
        root: &mut Root,
        cte: &CommonTableExpr,
    ) -> Result<PlannedLevel> {
        self.enter()?;
        let mut level = Root::new((*cte.query).clone(), root.child_input(0.0));
        self.prepare(&mut level)?;
        self.flatten_rtable(&mut level);
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
        let rows = left.rows + 10.0 * right.rows;
        if level.subqueries.iter().any(|s| !s.params.is_empty()) {
            return Err(PgError::internal("recursive part refers to its sibling"));
        }
        let mut info = pass_through_info(&left.plan);
        info.plan_width = self.columns_width(&info)?;
        info.total_cost += 10.0 * right.plan.info.total_cost;
        info.plan_rows = clamp_rows(rows);
        if !op.all && !op.group_clauses.iter().all(|g| g.hashable) {
            return Err(pg_err!(FEATURE_NOT_SUPPORTED, "could not implement recursive UNION")
                .detail("All column datatypes must be hashable."));
        }
        let dedup = if op.all { GroupKeys::default() } else { column_keys(&op) };
        let node = PlanNode::RecursiveUnion {
            outer: Box::new(left.plan),
            inner: Box::new(right.plan),
            wt_param,
            dedup,
            num_groups: rows,
        };
        let mut plan = Plan { info, node };
        let targets = level.query.target_list.clone();
        self.label(&mut plan, &targets);
        plan.info.init_plan.append(&mut level.init_plans);
        Ok(PlannedLevel {
            plan,
            groups: rows,
            rows: clamp_rows(rows),
            column_widths: Vec::new(),
            order: Vec::new(),
        })
    }
}

/// True if the tree consists of UNION ALL and its inputs need no conversion. Only then does
/// PostgreSQL leave out inputs without rows; the columns then have the type modifiers of the
/// remaining input. Counterpart: `is_simple_union_all_recurse`.
fn is_simple_union_all(query: &Query, node: &SetOpNode) -> bool {
    let SetOpNode::Op(top) = node else { return false };
    let types = &top.col_types;
    let mut left = vec![node];
    while let Some(node) = left.pop() {
        match node {
            SetOpNode::Op(op) if op.op == SetOperation::Union && op.all => {
                left.extend([&*op.larg, &*op.rarg]);
            }
            SetOpNode::Op(_) => return false,
            SetOpNode::Leaf(rti) => {
                let RteKind::Subquery { subquery, .. } = &query.rte(*rti).kind else {
                    return false;
                };
                let shown = subquery.target_list.iter().filter(|t| !t.resjunk);
                if !shown.map(|t| t.expr.type_oid()).eq(types.iter().copied()) {
                    return false;
                }
            }
        }
    }
    true
}

/// `PlanInfo` of a node above `child` with the same costs, rows and columns.
fn pass_through_info(child: &Plan) -> PlanInfo {
    let target_list = child
        .info
        .target_list
        .iter()
        .map(|t| TargetEntry {
            expr: make_var(
                Var::OUTER,
                t.resno,
                t.expr.type_oid(),
                t.expr.typmod(),
                t.expr.collation(),
            ),
            ..t.clone()
        })
        .collect();
    PlanInfo {
        startup_cost: child.info.startup_cost,
        total_cost: child.info.total_cost,
        plan_rows: child.info.plan_rows,
        plan_width: child.info.plan_width,
        target_list,
        ..PlanInfo::default()
    }
}

/// True if the subquery has a FROM clause. PostgreSQL plans one without FROM separately, and does
/// not detect that its condition is never true.
fn has_from(rte: &RangeTblEntry) -> bool {
    matches!(&rte.kind, RteKind::Subquery { subquery, .. } if !subquery.jointree.fromlist.is_empty())
}

fn never_gives_rows(plan: &Plan) -> bool {
    match &plan.node {
        PlanNode::Result { child: None, constant_qual } => {
            let never = |e: &Expr| matches!(e, Expr::Const(c) if c.is_null() || !c.value.as_ref().as_bool());
            constant_qual.iter().any(never)
        }
        PlanNode::SubqueryScan { child, .. } => never_gives_rows(child),
        _ => false,
    }
}

/// As [`pass_through_info`], for a SubqueryScan: without junk columns.
fn read_leaf(child: &Plan, rti: i32) -> PlanInfo {
    let mut info = pass_through_info(child);
    info.target_list.retain(|t| !t.resjunk);
    for t in &mut info.target_list {
        let below = child.info.target_list.iter().find(|b| b.resno == t.resno);
        match (&mut t.expr, below.map(|b| &b.expr)) {
            (_, Some(Expr::Const(c))) => t.expr = Expr::Const(c.clone()),
            (Expr::Var(v), _) => v.varno = rti,
            _ => {}
        }
    }
    info
}

impl Part {
    /// Adds a node that can compute a target list: a SubqueryScan for a subquery, else a Result.
    fn projected(self) -> Part {
        let (info, node) = match (self.rti, &self.plan.node) {
            // A scan already.
            (Some(_), PlanNode::SubqueryScan { .. }) => return self,
            (Some(rti), _) => {
                let info = read_leaf(&self.plan, rti);
                let child = Box::new(self.plan);
                (info, PlanNode::SubqueryScan { scanrelid: rti, child })
            }
            (None, _) => {
                let info = pass_through_info(&self.plan);
                let child = Some(Box::new(self.plan));
                (info, PlanNode::Result { child, constant_qual: Vec::new() })
            }
        };
        Part { plan: Plan { info, node }, ..self }
    }
}

fn append(parts: Vec<Part>) -> Plan {
    let mut children: Vec<Plan> = parts.into_iter().map(|p| p.plan).collect();
    if children.len() == 1
        && let Some(only) = children.pop()
    {
        return only;
    }
    let mut info = children.first().map(pass_through_info).unwrap_or_default();
    info.total_cost = children.iter().map(|c| c.info.total_cost).sum();
    info.plan_rows = children.iter().map(|c| c.info.plan_rows).sum();
    Plan { info, node: PlanNode::Append { children } }
}

/// Average width of the rows of several inputs. Counterpart: `set_append_rel_size`.
fn average_width(children: &[Plan]) -> i32 {
    let rows: f64 = children.iter().map(|c| c.info.plan_rows).sum();
    let bytes: f64 = children.iter().map(|c| c.info.plan_rows * f64::from(c.info.plan_width)).sum();
    if rows > 0.0 { (bytes / rows).round_ties_even() as i32 } else { 0 }
}

/// Sets the type modifiers of the columns to those of the operation.
fn take_typmods(info: &mut PlanInfo, op: &SetOperationStmt) {
    for (t, &typmod) in info.target_list.iter_mut().zip(&op.col_typmods) {
        match &mut t.expr {
            Expr::Var(v) => v.vartypmod = typmod,
            Expr::Const(c) => c.consttypmod = typmod,
            _ => {}
        }
    }
}

fn with_flag(part: Part, flag: i32) -> Part {
    let mut part = part.projected();
    let info = &mut part.plan.info;
    info.plan_width = info.plan_width.saturating_add(4);
    info.target_list.push(TargetEntry {
        expr: Expr::Const(Const {
            consttype: types::oids::INT4,
            consttypmod: -1,
            constcollid: Oid::INVALID,
            constlen: 4,
            constbyval: true,
            value: types::Datum::int4(flag),
            location: Location::UNKNOWN,
        }),
        resno: info.target_list.len() as i16 + 1,
        resname: Some("flag".into()),
        ressortgroupref: 0,
        resorigtbl: Oid::INVALID,
        resorigcol: 0,
        resjunk: true,
    });
    part
}

fn column_keys(op: &SetOperationStmt) -> GroupKeys {
    let mut keys = GroupKeys::default();
    for (i, g) in op.group_clauses.iter().enumerate() {
        keys.cols.push(i as i16 + 1);
        keys.eq_operators.push(g.eqop);
        keys.collations.push(op.col_collations.get(i).copied().unwrap_or_default());
    }
    keys
}
