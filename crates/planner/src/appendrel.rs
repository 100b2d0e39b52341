//! Append relations: the members of a UNION ALL whose columns need no conversion. Counterpart:
//! allpaths.c (`set_append_rel_pathlist`, `add_paths_to_append_rel`), prepjointree.c
//! (`pull_up_simple_union_all`).

use crate::setop::{has_from, never_gives_rows, set_input_path};
use crate::state::{Planner, PlannerInfo};
use ids::Oid;
use pgerror::Result;
use plan::expr::Expr;
use plan::query::{JoinTreeNode, Query, RteKind, SetOpNode, SetOperationStmt};
use querytree::path::{
    AppendRel, AppendShape, Path, PathKey, PathKind, PathRef, PathSet, starts_with,
};
use querytree::pullup::is_plain_select;
use querytree::relids::Relids;
use querytree::vars::target_for;
use std::rc::Rc;

/// A member with the paths that can be appended.
struct Member {
    rti: i32,
    /// Its paths with their orders as expressions of the parent.
    paths: PathSet,
}

impl Member {
    fn cheapest(&self, order: &[PathKey], by: fn(&Path) -> f64) -> Option<&PathRef> {
        let fits = self.paths.unparameterized().filter(|p| starts_with(&p.order, order));
        fits.min_by(|a, b| by(a).total_cmp(&by(b)))
    }
}

impl Planner<'_> {
    /// The paths of a level that is a UNION ALL without conversions.
    pub(crate) fn append_paths(
        &mut self,
        root: &mut PlannerInfo,
        op: &SetOperationStmt,
        order: &[PathKey],
    ) -> Result<PathSet> {
        let mut wanted = root.input.from_above.wanted_columns.clone();
        for k in order {
            let column = root.query.target_list.iter().find(|t| t.expr == *k.expr);
            wanted.extend(column.map(|t| t.resno));
        }
        let mut members = Vec::new();
        for rti in op.leaves() {
            self.host.check_interrupts()?;
            members.push(self.member(root, rti, &wanted)?);
        }
        // Leave out members without rows, except the last one if all are empty.
        let is_empty = |m: &Member| {
            has_from(root.query.rte(m.rti))
                && m.paths.cheapest().is_some_and(|p| never_gives_rows(member_path(p)))
        };
        let last = members.pop();
        members.retain(|m| !is_empty(m));
        members.extend(last.filter(|m| members.is_empty() || !is_empty(m)));
        if let [only] = members.as_slice()
            && !is_empty(only)
        {
            return Ok(members.remove(0).paths);
        }
        self.paths_of_members(root, op, &members)
    }

    /// Determines what the planning of a subquery in FROM depends on: the fraction of its rows that
    /// will be fetched, and the orders that are useful above.
    pub(crate) fn before_subquery(&mut self, root: &mut PlannerInfo, rti: i32) {
        if root.subquery_of.contains_key(&rti) {
            return;
        }
        let q = &root.query;
        let alone = matches!(q.jointree.fromlist.as_slice(), [JoinTreeNode::Rtr(r)] if *r == rti);
        let staged = q.has_aggs
            || q.having_qual.is_some()
            || !q.group_clause.is_empty()
            || !q.grouping_sets.is_empty()
            || !q.distinct_clause.is_empty();
        let RteKind::Subquery { subquery, .. } = &q.rte(rti).kind else { return };
        let members = plain_members(subquery);
        let keeps = q.sort_clause.is_empty() || members.is_some();
        root.subquery_fraction = match alone && !staged && keeps {
            true => self.limit_fraction(root),
            false => 0.0,
        };
        let Some(members) = members else { return };
        let mut wanted = Vec::new();
        let windows = q.window_clause.iter();
        let clauses = windows.flat_map(|w| w.partition_clause.iter().chain(&w.order_clause));
        for c in
            q.sort_clause.iter().chain(&q.group_clause).chain(&q.distinct_clause).chain(clauses)
        {
            if let Ok(Expr::Var(v)) = target_for(c, &q.target_list)
                && v.varno == rti
                && v.varlevelsup == 0
            {
                wanted.push(v.varattno);
            }
        }
        let input = root.subquery_inputs.entry(rti).or_default();
        input.wanted_columns = wanted;
        input.plain_members = Some(members);
    }

    fn member(&mut self, root: &mut PlannerInfo, rti: i32, wanted: &[i16]) -> Result<Member> {
        let plain = match &root.input.from_above.plain_members {
            Some(list) => list.contains(&rti),
            None => is_plain_member(&root.query, rti),
        };
        // A plain member is planned as if it were a relation of this level.
        root.subquery_fraction = match plain || root.query.sort_clause.is_empty() {
            true => self.limit_fraction(root),
            false => 0.0,
        };
        if plain {
            root.subquery_inputs.entry(rti).or_default().wanted_columns = wanted.to_vec();
        }
        let plan = self.plan_subquery(root, rti)?;
        let level = root.subqueries[plan].level()?;
        let member = AppendRel {
            parent: 0,
            child: rti,
            columns: level_columns(level),
            row_type: Oid::INVALID,
        };
        let mut paths = root.subqueries[plan].paths.above();
        for p in root.subqueries[plan].paths.unparameterized() {
            let order = order_above((level, &member.columns), &p.order, |n| column(root, n));
            paths.add(Path { order, ..set_input_path(rti, plan, p) });
        }
        root.members.append_rels.push(Rc::new(member));
        Ok(Member { rti, paths })
    }

    fn paths_of_members(
        &mut self,
        root: &PlannerInfo,
        op: &SetOperationStmt,
        members: &[Member],
    ) -> Result<PathSet> {
        let early = root.wants_early_rows();
        let mut out = PathSet::new(early);
        let shape = Rc::new(AppendShape { op: Rc::new(op.clone()), flags: false });
        let width = average_width(members);
        let mut orders: Vec<&[PathKey]> = vec![&[]];
        for p in members.iter().flat_map(|m| m.paths.unparameterized()) {
            if !orders.contains(&p.order.as_slice()) {
                orders.push(&p.order);
            }
        }
        let costs: &[fn(&Path) -> f64] = match early {
            true => &[|p| p.total, |p| p.startup],
            false => &[|p| p.total],
        };
        let limit = self.limit_tuples(&root.query);
        for order in orders {
            for by in costs {
                let mut children: Vec<PathRef> = Vec::with_capacity(members.len());
                for m in members {
                    children.extend(match (m.cheapest(order, *by), m.paths.cheapest()) {
                        (Some(p), _) => Some(p.clone()),
                        (None, Some(p)) => Some(Rc::new(self.sorted(p, order, limit))),
                        (None, None) => None,
                    });
                }
                out.add(match order.is_empty() {
                    true => self.append_path(children, shape.clone(), width),
                    false => self.merge_append_path(children, &shape, width, order),
                });
            }
        }
        Ok(out)
    }

    /// Counterpart: `cost_merge_append`.
    fn merge_append_path(
        &self,
        children: Vec<PathRef>,
        shape: &Rc<AppendShape>,
        width: i32,
        order: &[PathKey],
    ) -> Path {
        let c = self.host.costs();
        let depth = (children.len().max(2) as f64).log2();
        let compare = 2.0 * c.cpu_operator;
        let rows: f64 = children.iter().map(|p| p.rows).sum();
        let startup: f64 = children.iter().map(|p| p.startup).sum();
        let total: f64 = children.iter().map(|p| p.total).sum();
        let heap = compare * children.len() as f64 * depth;
        Path {
            relids: Relids::new(),
            rows,
            width,
            startup: startup + heap,
            total: total + heap + rows * (compare * depth + c.cpu_tuple * 0.5),
            order: order.to_vec(),
            outer: Relids::new(),
            kind: PathKind::MergeAppend { children, shape: shape.clone() },
        }
    }
}

/// The path of the member's level.
fn member_path(p: &PathRef) -> &Path {
    match &p.kind {
        PathKind::SetInput { path, .. } => path,
        _ => p,
    }
}

/// The expression of the level's column with this number.
fn column(root: &PlannerInfo, resno: i16) -> Option<Rc<Expr>> {
    let target = root.query.target_list.iter().find(|t| t.resno == resno && !t.resjunk);
    target.map(|t| Rc::new(t.expr.clone()))
}

/// The level's columns, over its own relations.
pub(crate) fn level_columns(level: &PlannerInfo) -> Vec<Expr> {
    level.query.target_list.iter().filter(|t| !t.resjunk).map(|t| t.expr.clone()).collect()
}

/// Converts an order of the rows of a subquery to an order of the level above, where column n of
/// the subquery is the expression `column(n)`. The result ends before the first key that is not a
/// column of the subquery. Counterpart: `convert_subquery_pathkeys`.
pub(crate) fn order_above(
    (level, columns): (&PlannerInfo, &[Expr]),
    order: &[PathKey],
    column: impl Fn(i16) -> Option<Rc<Expr>>,
) -> Vec<PathKey> {
    let mut out: Vec<PathKey> = Vec::new();
    for k in order {
        let class = |e: &Expr| k.class.is_some() && level.column_class(e) == k.class;
        let at = columns.iter().position(|e| *e == *k.expr || class(e));
        let Some(expr) = at.and_then(|at| column(at as i16 + 1)) else { break };
        out.push(PathKey { expr, class: None, ..k.clone() });
    }
    out
}

/// Average width of the rows of several members. Counterpart: `set_append_rel_size`.
fn average_width(members: &[Member]) -> i32 {
    let paths = members.iter().filter_map(|m| m.paths.cheapest());
    let (mut rows, mut bytes) = (0.0, 0.0);
    for p in paths {
        rows += p.rows;
        bytes += p.rows * f64::from(p.width);
    }
    if rows > 0.0 { (f64::round_ties_even(bytes / rows)) as i32 } else { 0 }
}

/// True if the member is a selection of columns of one relation, so that PostgreSQL makes the
/// relation itself a member. Counterpart: `is_safe_append_member`.
fn is_plain_member(query: &Query, rti: i32) -> bool {
    let RteKind::Subquery { subquery: sub, security_barrier, .. } = &query.rte(rti).kind else {
        return false;
    };
    let [JoinTreeNode::Rtr(_)] = sub.jointree.fromlist.as_slice() else { return false };
    !security_barrier && sub.jointree.quals.is_none() && is_plain_select(sub)
}

/// The members of a UNION ALL that are plain.
pub(crate) fn plain_members(query: &Query) -> Option<Vec<i32>> {
    let Some(SetOpNode::Op(op)) = query.set_operations.as_deref() else { return None };
    Some(op.leaves().into_iter().filter(|rti| is_plain_member(query, *rti)).collect())
}
