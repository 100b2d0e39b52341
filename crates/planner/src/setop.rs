//! UNION, INTERSECT, EXCEPT and recursive queries. Counterpart: prepunion.c.

use crate::create::Made;
use crate::glob::*;
use crate::path::PathKey;
use crate::refs::targets_of;
use crate::rel::clamp_rows;
use crate::vars::*;
use ids::Oid;
use pgerror::{PgError, Result, pg_err};
use plan::expr::*;
use plan::node::*;
use plan::query::*;
use stdx::stack::deep;

/// A finished input of a set operation.
struct Part {
    plan: Plan,
    rows: f64,
}

impl Glob<'_> {
    /// Plans a level whose FROM is a tree of set operations.
    pub(crate) fn plan_set_operations(&mut self, root: &mut Root) -> Result<PlannedLevel> {
        self.prepare(root)?;
        self.flatten_rtable(root);
        let Some(tree) = root.query.set_operations.take() else {
            return Err(PgError::internal("set operation expected"));
        };
        let part = self.set_operation(root, &tree)?;
        let finals: Vec<Expr> = root.query.target_list.iter().map(|t| t.expr.clone()).collect();
        // Columns are told apart by place; ORDER BY finds them by the target list's expressions.
        let mut made = Made { plan: part.plan, output: targets_of(&finals) };
        let targets = root.query.target_list.clone();
        let order: Vec<PathKey> = self.order_of(&root.query.sort_clause.clone(), &targets)?;
        if !order.is_empty() {
            made = self.sort(made, &order)?;
        }
        self.finish_level(root, made, &[])
    }

    fn set_operation(&mut self, root: &mut Root, node: &SetOpNode) -> Result<Part> {
        match node {
            SetOpNode::Leaf(rti) => {
                let i = self.plan_subquery(root, *rti)?;
                let s = &root.subqueries[i];
                let mut plan = s.plan.clone();
                let rows = s.rows;
                if plan.info.target_list.iter().any(|t| t.resjunk) {
                    // Sort columns of the leaf's own ORDER BY end here.
                    let keep: Vec<TargetEntry> =
                        plan.info.target_list.iter().filter(|t| !t.resjunk).cloned().collect();
                    plan = project(plan, &keep);
                }
                Ok(Part { plan, rows })
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
        let rows: f64 = parts.iter().map(|p| p.rows).sum();
        let append = append(parts);
        if op.all {
            return Ok(Part { plan: append, rows });
        }
        let rows_out = clamp_rows(rows);
        Ok(Part { plan: self.make_distinct(append, op, rows_out)?, rows: rows_out })
    }

    /// The inputs of nested unions of the same kind, flattened.
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

    /// The input with its columns converted to the operation's types.
    fn converted(&mut self, part: Part, types: &[Oid]) -> Result<Part> {
        let have = part.plan.info.target_list.iter().map(|t| t.expr.type_oid());
        if have.eq(types.iter().copied()) {
            return Ok(part);
        }
        let mut info = hand_on(&part.plan);
        for (t, &ty) in info.target_list.iter_mut().zip(types) {
            t.expr = self.facts.coerce_to_common(t.expr.clone(), ty)?;
        }
        let child = Some(Box::new(part.plan));
        let node = PlanNode::Result { child, constant_qual: Vec::new() };
        Ok(Part { plan: Plan { info, node }, rows: part.rows })
    }

    fn make_distinct(&mut self, child: Plan, op: &SetOperationStmt, rows: f64) -> Result<Plan> {
        let keys = column_keys(op);
        let hashable = op.group_clauses.iter().all(|g| g.hashable);
        let c = self.costs();
        let mut info = hand_on(&child);
        info.plan_rows = rows;
        let bytes = child.info.plan_rows * (f64::from(child.info.plan_width) + 40.0);
        if hashable && c.enable_hashagg && bytes <= c.hash_mem {
            info.total_cost += child.info.plan_rows * c.cpu_operator * keys.cols.len() as f64;
            info.startup_cost = info.total_cost;
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
        let mut info = hand_on(&sorted);
        info.plan_rows = rows;
        Ok(Plan { info, node: PlanNode::Unique { child: Box::new(sorted), keys } })
    }

    /// Sorts by all columns of the operation.
    fn sort_columns(&mut self, child: Plan, op: &SetOperationStmt) -> Result<Plan> {
        let mut keys = SortKeys::default();
        for (i, g) in op.group_clauses.iter().enumerate() {
            keys.cols.push(i as i16 + 1);
            keys.operators.push(g.sortop);
            keys.collations.push(op.col_collations.get(i).copied().unwrap_or_default());
            keys.nulls_first.push(g.nulls_first);
        }
        let mut info = hand_on(&child);
        let (startup, total) =
            self.sort_cost(child.info.total_cost, child.info.plan_rows, child.info.plan_width);
        info.startup_cost = startup;
        info.total_cost = total;
        Ok(Plan { info, node: PlanNode::Sort { child: Box::new(child), keys } })
    }

    /// Both inputs one after the other with a flag column; SetOp counts.
    fn intersect_except(&mut self, root: &mut Root, op: &SetOperationStmt) -> Result<Part> {
        let l = self.set_operation(root, &op.larg)?;
        let l = self.converted(l, &op.col_types)?;
        let r = self.set_operation(root, &op.rarg)?;
        let r = self.converted(r, &op.col_types)?;
        let (lrows, rrows) = (l.rows, r.rows);
        let columns = op.col_types.len() as i16;
        let parts = vec![
            Part { plan: with_flag(l.plan, 0), rows: lrows },
            Part { plan: with_flag(r.plan, 1), rows: rrows },
        ];
        let child = append(parts);
        let hashable = op.group_clauses.iter().all(|g| g.hashable);
        let rows = clamp_rows(match op.op {
            SetOperation::Except => lrows,
            _ => lrows.min(rrows),
        });
        // A hash table that does not fit would not go to disk.
        let bytes = child.info.plan_rows * (f64::from(child.info.plan_width) + 56.0);
        let (child, strategy) = if hashable && bytes <= self.facts.costs().hash_mem {
            (child, SetOpStrategy::Hashed)
        } else {
            (self.sort_columns(child, op)?, SetOpStrategy::Sorted)
        };
        let mut info = hand_on(&child);
        info.target_list.truncate(columns as usize);
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
        Ok(Part { plan: Plan { info, node }, rows })
    }

    /// Plans a `WITH RECURSIVE` query: the part that starts, and the part that refers to itself.
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
        let SetOpNode::Leaf(right_rti) = *op.rarg else {
            return Err(PgError::unsupported("set operation in the recursive part of a query"));
        };
        let RteKind::Subquery { subquery, .. } = &level.query.rte(right_rti).kind else {
            return Err(PgError::internal("recursive part is not a subquery"));
        };
        let mut right_query = (**subquery).clone();
        let mut input = level.child_input(0.0);
        input.work_tables[0] = Some(WorkTable {
            name: cte.ctename.clone(),
            param: wt_param,
            rows: left.rows * 10.0,
            width: left.plan.info.plan_width,
        });
        let params = self.parameterise(&mut right_query);
        if !params.is_empty() {
            return Err(PgError::internal("recursive part refers to its sibling"));
        }
        let right = self.plan_level(right_query, input)?;
        self.leave();
        let rows = left.rows + 10.0 * right.rows;
        let width = left.plan.info.plan_width;
        let mut info = hand_on(&left.plan);
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
        Ok(PlannedLevel { plan, rows: clamp_rows(rows), width, order: Vec::new() })
    }
}

/// A node's costs and columns as the node above starts from them.
fn hand_on(child: &Plan) -> PlanInfo {
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

fn project(child: Plan, keep: &[TargetEntry]) -> Plan {
    let mut info = hand_on(&child);
    info.target_list.retain(|t| keep.iter().any(|k| k.resno == t.resno));
    for (i, t) in info.target_list.iter_mut().enumerate() {
        t.resno = i as i16 + 1;
    }
    Plan {
        info,
        node: PlanNode::Result { child: Some(Box::new(child)), constant_qual: Vec::new() },
    }
}

fn append(parts: Vec<Part>) -> Plan {
    let mut children: Vec<Plan> = parts.into_iter().map(|p| p.plan).collect();
    if children.len() == 1
        && let Some(only) = children.pop()
    {
        return only;
    }
    let mut info = children.first().map(hand_on).unwrap_or_default();
    info.total_cost = children.iter().map(|c| c.info.total_cost).sum();
    info.plan_rows = children.iter().map(|c| c.info.plan_rows).sum();
    Plan { info, node: PlanNode::Append { children } }
}

fn with_flag(child: Plan, flag: i32) -> Plan {
    let mut info = hand_on(&child);
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
    Plan {
        info,
        node: PlanNode::Result { child: Some(Box::new(child)), constant_qual: Vec::new() },
    }
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
