//! Creates the plans of set operations. Counterpart: createplan.c (`create_append_plan`,
//! `create_setop_plan`), prepunion.c (`generate_setop_tlist`).
//!
//! The columns of the inputs correspond by position. The output of each node is described by the
//! expressions of the level's target list.

use crate::project::computes_outputs;
use crate::setop::column_keys;
use crate::state::{Planner, PlannerInfo};
use ids::Oid;
use pgerror::Result;
use plan::expr::{AggSplit, Const, Expr, Location, TargetEntry, Var};
use plan::node::{Agg, AggStrategy, Plan, PlanInfo, PlanNode, SetOpStrategy, SortKeys};
use plan::query::SetOperationStmt;
use querytree::path::{AppendShape, Path, PathKind, PathRef};
use querytree::refs::{ChildOutputs, CreatedPlan, targets_of};
use querytree::vars::{make_var, pull_vars};

impl Planner<'_> {
    /// Creates a node of a set operation.
    pub(crate) fn create_set(
        &mut self,
        root: &mut PlannerInfo,
        path: &Path,
    ) -> Result<CreatedPlan> {
        let plan = match &path.kind {
            PathKind::SetInput { rti, plan, path: input } => {
                self.create_set_input(root, *rti, *plan, input)?
            }
            PathKind::Convert { child, types } => {
                let mut plan = self.create_projected(root, child)?;
                for (t, &ty) in plan.info.target_list.iter_mut().zip(types.iter()) {
                    t.expr = self.host.coerce_to_common(t.expr.clone(), ty)?;
                }
                plan.info.plan_width = path.width;
                plan
            }
            PathKind::Append { children, shape } => {
                let plans = self.create_children(root, children, shape)?;
                append(path, plans, shape)
            }
            PathKind::MergeAppend { children, shape } => {
                let plans = self.create_children(root, children, shape)?;
                let keys = self.sort_keys(&path.order, &set_output(root))?;
                let mut info = info_above(path, &plans[0]);
                take_typmods(&mut info, &shape.op);
                Plan {
                    info,
                    node: PlanNode::MergeAppend {
                        children: plans,
                        keys,
                        relations: Vec::new(),
                        pruning: None,
                    },
                }
            }
            PathKind::SetSort { child, op } => {
                let child = self.create(root, child, &[])?.plan;
                let info = info_above(path, &child);
                let keys = all_columns_of(op);
                Plan { info, node: PlanNode::Sort { child: Box::new(child), keys } }
            }
            PathKind::UnionDistinct { child, op, hashed } => {
                let child = self.create(root, child, &[])?.plan;
                let info = info_above(path, &child);
                Plan { info, node: distinct_node(child, op, *hashed, path.rows) }
            }
            PathKind::SetOp { child, op, hashed } => {
                let child = self.create(root, child, &[])?.plan;
                let columns = op.col_types.len();
                let mut info = info_above(path, &child);
                info.target_list.truncate(columns);
                take_typmods(&mut info, op);
                let strategy = match hashed {
                    true => SetOpStrategy::Hashed,
                    false => SetOpStrategy::Sorted,
                };
                let node = PlanNode::SetOp {
                    child: Box::new(child),
                    op: op.op,
                    all: op.all,
                    strategy,
                    keys: column_keys(op),
                    flag_col: columns as i16 + 1,
                    num_groups: path.rows,
                };
                Plan { info, node }
            }
            _ => return self.create(root, path, &[]),
        };
        Ok(CreatedPlan { plan, output: set_output(root) })
    }

    fn create_set_input(
        &mut self,
        root: &mut PlannerInfo,
        rti: i32,
        plan: usize,
        path: &PathRef,
    ) -> Result<Plan> {
        let plan = self.create_subquery(root, plan, path)?;
        if !plan.info.target_list.iter().any(|t| t.resjunk) {
            return Ok(plan);
        }
        // Remove the junk sort columns of the input's own ORDER BY.
        let scanrelid = self.flat(root, rti);
        let info = read_leaf(&plan, scanrelid);
        Ok(Plan { info, node: PlanNode::SubqueryScan { scanrelid, child: Box::new(plan) } })
    }

    /// Creates the path with a node that can compute a target list: a SubqueryScan above a
    /// subquery, else a Result.
    fn create_projected(&mut self, root: &mut PlannerInfo, path: &PathRef) -> Result<Plan> {
        let plan = self.create(root, path, &[])?.plan;
        let (info, node) = match (&path.kind, &plan.node) {
            // The node is a scan already.
            (
                PathKind::SetInput { .. } | PathKind::Convert { .. },
                PlanNode::SubqueryScan { .. },
            ) => {
                return Ok(plan);
            }
            (PathKind::SetInput { rti, .. }, _) => {
                let scanrelid = self.flat(root, *rti);
                let info = read_leaf(&plan, scanrelid);
                (info, PlanNode::SubqueryScan { scanrelid, child: Box::new(plan) })
            }
            _ => {
                let info = pass_through_info(&plan);
                let child = Some(Box::new(plan));
                (info, PlanNode::Result { child, constant_qual: Vec::new() })
            }
        };
        Ok(Plan { info, node })
    }

    /// The columns `want` of a subquery that is an append relation (see [`columns_of_append`]),
    /// without a SubqueryScan: the members return only the columns needed, and a Result computes
    /// expressions.
    pub(crate) fn append_columns(
        &mut self,
        root: &PlannerInfo,
        info: PlanInfo,
        mut plan: Plan,
        columns: &[i16],
        want: &[Expr],
    ) -> Result<CreatedPlan> {
        let mut vars = Vec::new();
        want.iter().for_each(|e| pull_vars(e, &mut vars));
        let width = self.row_width(root, &vars)?;
        select_columns(&mut plan, columns, width);
        let below = CreatedPlan { plan, output: targets_of(&vars) };
        if vars == want {
            return Ok(below);
        }
        let output = targets_of(want);
        let target_list = ChildOutputs::one(&below.output).fix_targets(&output)?;
        let info = PlanInfo { target_list, ..info };
        let child = Some(Box::new(below.plan));
        let node = PlanNode::Result { child, constant_qual: Vec::new() };
        Ok(CreatedPlan { plan: Plan { info, node }, output })
    }

    fn create_children(
        &mut self,
        root: &mut PlannerInfo,
        children: &[PathRef],
        shape: &AppendShape,
    ) -> Result<Vec<Plan>> {
        let mut plans = Vec::with_capacity(children.len());
        for (child, number) in children.iter().zip(0..) {
            self.host.check_interrupts()?;
            plans.push(match shape.flags {
                true => with_flag(self.create_projected(root, child)?, number),
                false => self.create(root, child, &[])?.plan,
            });
        }
        Ok(plans)
    }
}

/// The columns of subquery `rti` that `want` uses, if its plan is an append relation that can
/// return these instead of all.
pub(crate) fn columns_of_append(rti: i32, plan: &Plan, want: &[Expr]) -> Option<Vec<i16>> {
    if !matches!(plan.node, PlanNode::Append { .. } | PlanNode::MergeAppend { .. }) {
        return None;
    }
    let mut vars = Vec::new();
    want.iter().for_each(|e| pull_vars(e, &mut vars));
    let column = |e: &Expr| match e {
        Expr::Var(v) if v.varno == rti && v.varattno > 0 => Some(v.varattno),
        _ => None,
    };
    let columns: Option<Vec<i16>> = vars.iter().map(column).collect();
    columns.filter(|columns| may_select(plan, columns))
}

/// True if the plan can return these columns of its output (from 1) instead of all.
fn may_select(plan: &Plan, columns: &[i16]) -> bool {
    let known = |keys: &SortKeys| keys.cols.iter().all(|c| columns.contains(c));
    match &plan.node {
        PlanNode::Append { children, .. } => children.iter().all(|c| may_select(c, columns)),
        PlanNode::MergeAppend { children, keys, .. } => {
            known(keys) && children.iter().all(|c| may_select(c, columns))
        }
        PlanNode::Sort { child, keys } | PlanNode::IncrementalSort { child, keys, .. } => {
            known(keys) && may_select(child, columns)
        }
        node => computes_outputs(node) || matches!(node, PlanNode::SubqueryScan { .. }),
    }
}

/// Reduces the plan's output to these columns, in this order.
fn select_columns(plan: &mut Plan, columns: &[i16], width: i32) {
    let list = std::mem::take(&mut plan.info.target_list);
    plan.info.plan_width = width;
    let passes = matches!(
        plan.node,
        PlanNode::Append { .. }
            | PlanNode::MergeAppend { .. }
            | PlanNode::Sort { .. }
            | PlanNode::IncrementalSort { .. }
    );
    for (column, resno) in columns.iter().zip(1..) {
        let Some(mut t) = list.iter().find(|t| t.resno == *column).cloned() else { continue };
        t.resno = resno;
        if let (true, Expr::Var(v)) = (passes, &mut t.expr) {
            v.varattno = resno;
        }
        plan.info.target_list.push(t);
    }
    let renumber = |keys: &mut SortKeys| {
        for c in &mut keys.cols {
            let at = columns.iter().position(|x| x == c).unwrap_or_default();
            *c = at as i16 + 1;
        }
    };
    match &mut plan.node {
        PlanNode::Append { children, .. } => {
            children.iter_mut().for_each(|c| select_columns(c, columns, width));
        }
        PlanNode::MergeAppend { children, keys, .. } => {
            renumber(keys);
            children.iter_mut().for_each(|c| select_columns(c, columns, width));
        }
        PlanNode::Sort { child, keys } | PlanNode::IncrementalSort { child, keys, .. } => {
            renumber(keys);
            select_columns(child, columns, width);
        }
        _ => {}
    }
}

/// The output of the nodes of a set operation: the level's columns.
fn set_output(root: &PlannerInfo) -> Vec<TargetEntry> {
    let columns: Vec<Expr> = root.query.target_list.iter().map(|t| t.expr.clone()).collect();
    targets_of(&columns)
}

/// `PlanInfo` of the path's node, with the columns of the child.
fn info_above(path: &Path, child: &Plan) -> PlanInfo {
    PlanInfo { target_list: pass_through_info(child).target_list, ..path.info() }
}

fn append(path: &Path, mut children: Vec<Plan>, shape: &AppendShape) -> Plan {
    let op = &shape.op;
    if children.len() == 1
        && let Some(mut only) = children.pop()
    {
        take_typmods(&mut only.info, op);
        only.info.plan_width = path.width;
        return only;
    }
    let mut info = children.first().map(pass_through_info).unwrap_or_default();
    let PlanInfo { startup_cost, total_cost, plan_rows, plan_width, .. } = path.info();
    info = PlanInfo { startup_cost, total_cost, plan_rows, plan_width, ..info };
    take_typmods(&mut info, op);
    Plan { info, node: PlanNode::Append { children, relations: Vec::new(), pruning: None } }
}

fn distinct_node(child: Plan, op: &SetOperationStmt, hashed: bool, rows: f64) -> PlanNode {
    let (child, keys) = (Box::new(child), column_keys(op));
    if !hashed {
        return PlanNode::Unique { child, keys };
    }
    PlanNode::Agg(Box::new(Agg {
        child,
        strategy: AggStrategy::Hashed,
        split: AggSplit::Simple,
        keys,
        num_groups: rows,
        grouping_sets: Vec::new(),
        chain: Vec::new(),
    }))
}

fn all_columns_of(op: &SetOperationStmt) -> SortKeys {
    let mut keys = SortKeys::default();
    for (i, g) in op.group_clauses.iter().enumerate() {
        keys.cols.push(i as i16 + 1);
        keys.operators.push(g.sortop);
        keys.collations.push(op.col_collations.get(i).copied().unwrap_or_default());
        keys.nulls_first.push(g.nulls_first);
    }
    keys
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

fn with_flag(mut plan: Plan, flag: i32) -> Plan {
    let info = &mut plan.info;
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
    plan
}
