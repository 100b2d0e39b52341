//! Plans sub-selects in expressions as SubPlans or init plans, and subqueries in FROM. Counterpart:
//! subselect.c.
//!
//! Outer references of a sub-select become exec parameters before it is planned. So no level uses
//! the range table of another one.

use crate::state::{LevelInput, Planner, PlannerInfo, SubqueryPlan};
use crate::width::table_size;
use ids::Oid;
use pgerror::{PgError, Result};
use plan::expr::{
    BoolOp, CaseTestExpr, Expr, Location, OpExpr, Param, ParamKind, SubLink, SubLinkKind, SubPlan,
    TargetEntry,
};
use plan::levels::shift_levels_expr;
use plan::node::{Plan, PlanInfo, PlanNode};
use plan::query::{CmdType, Query, RteKind};
use plan::walk;
use querytree::host::PlannerHost;
use querytree::pullup::drop_unneeded_limit;
use querytree::unused::drop_unused_columns;
use querytree::vars::{conjunction, conjuncts, contains_sublinks, substitute};
use stdx::Nested;

/// A sub-select whose query is planned.
struct PlannedSubselect {
    sub: SubPlan,
    /// Its output columns.
    columns: Vec<Expr>,
    /// Estimated size of all rows.
    bytes: f64,
    /// Total cost of its plan.
    total: f64,
}

impl PlannedSubselect {
    /// True if it refers to the level that contains it.
    fn is_correlated(&self) -> bool {
        !self.sub.par_param.is_empty()
    }
}

impl Planner<'_> {
    /// Replaces the references to this level in `query`, one level below, by exec parameters.
    /// Returns the parameters with the expressions over this level that set them. Counterpart:
    /// `SS_replace_correlation_vars`.
    pub(crate) fn parameterize(&mut self, query: &mut Query) -> Vec<(i32, Expr)> {
        let mut params: Vec<(i32, Expr)> = Vec::new();
        walk::deep_query_mut(query, 0, &mut |e, level| {
            let mine = match e {
                Expr::Var(v) => v.varlevelsup == level + 1,
                Expr::Aggref(a) => a.agglevelsup == level + 1,
                Expr::GroupingFunc(g) => g.agglevelsup == level + 1,
                _ => false,
            };
            if !mine {
                return true;
            }
            let mut up = e.clone();
            shift_levels_expr(&mut up, -(level as i32 + 1), level + 1);
            let id = match params.iter().find(|(_, x)| *x == up) {
                Some((id, _)) => *id,
                None => {
                    let id = self.new_param(up.type_oid());
                    params.push((id, up.clone()));
                    id
                }
            };
            *e = exec_param(id, &up);
            false
        });
        params
    }

    /// Plans all sub-selects in the expression.
    pub(crate) fn plan_sublinks(&mut self, root: &mut PlannerInfo, expr: &mut Expr) -> Result<()> {
        let mut failure = None;
        plan_each(self, root, expr, &mut failure);
        failure.map_or(Ok(()), Err)
    }

    fn plan_sublink(&mut self, root: &mut PlannerInfo, mut s: SubLink) -> Result<Expr> {
        // Plan the sub-selects in the test expression first: their outer references could be
        // mistaken for those of this sub-select.
        if let Some(test) = &mut s.testexpr {
            self.plan_sublinks(root, test)?;
        }
        let mut query = s.subselect.into_inner();
        if s.kind == SubLinkKind::Exists {
            simplify_exists(&mut query, self.host);
        }
        let hashed = match s.kind {
            SubLinkKind::Exists => self.exists_as_any(&query)?,
            _ => None,
        };
        let planned = self.plan_subselect(root, s.kind, s.array_type, query)?;
        match s.kind {
            SubLinkKind::Exists | SubLinkKind::Expr | SubLinkKind::Array
                if !planned.is_correlated() =>
            {
                Ok(self.value_init_plan(root, planned.sub))
            }
            SubLinkKind::Exists | SubLinkKind::Expr | SubLinkKind::Array => match hashed {
                Some(any) => self.cheaper_exists(root, planned.sub, any),
                None => Ok(Expr::SubPlan(Box::new(planned.sub))),
            },
            SubLinkKind::Any | SubLinkKind::All | SubLinkKind::RowCompare => {
                self.tested_subplan(root, planned, s.testexpr)
            }
            SubLinkKind::MultiExpr => Ok(self.multi_assignment(root, planned, s.id)),
            SubLinkKind::Cte => Err(PgError::internal("WITH query in an expression")),
        }
    }

    /// Plans the query of a sub-select, and describes it as a SubPlan without a test expression.
    /// `array_type` is the result type of ARRAY (SELECT …). Counterpart: `make_subplan`.
    fn plan_subselect(
        &mut self,
        root: &mut PlannerInfo,
        kind: SubLinkKind,
        array_type: Oid,
        mut query: Query,
    ) -> Result<PlannedSubselect> {
        let mut params = self.parameterize(&mut query);
        let fraction = match kind {
            SubLinkKind::Exists => 1.0,
            SubLinkKind::Any | SubLinkKind::All => 0.5,
            _ => 0.0,
        };
        let mut planned = self.plan_level(query, root.child_input(fraction))?;
        let plan = self.plan_of(&mut planned)?;
        if !params.is_empty() {
            // Folding may have removed all references to this level. The sub-select is then
            // uncorrelated and runs once, including its volatile functions.
            let read = plan::params::param_refs(&[&plan], &[], &self.subplans).read;
            params.retain(|(id, _)| read.binary_search(id).is_ok());
        }
        let shown = plan.info.target_list.iter().filter(|t| !t.resjunk);
        let columns: Vec<Expr> = shown.map(|t| t.expr.clone()).collect();
        let (startup, total) = (plan.info.startup_cost, plan.info.total_cost);
        let bytes = table_size(planned.rows, plan.info.plan_width);
        self.subplans.push(plan);
        let plan_id = self.subplans.len() as u32;
        let first = columns.first();
        let mut sub = SubPlan {
            kind,
            testexpr: None,
            param_ids: Vec::new(),
            plan_id,
            plan_name: format!("SubPlan {plan_id}"),
            first_col_type: match kind {
                SubLinkKind::Array => array_type,
                _ => first.map_or(Oid::INVALID, Expr::type_oid),
            },
            first_col_typmod: first.map_or(-1, Expr::typmod),
            first_col_collation: first.map_or(Oid::INVALID, Expr::collation),
            use_hash_table: false,
            unknown_eq_false: false,
            set_param: Vec::new(),
            par_param: params.iter().map(|(id, _)| *id).collect(),
            args: Vec::new(),
            startup_cost: startup,
            per_call_cost: match kind {
                SubLinkKind::Exists => startup + (total - startup) / planned.rows.max(1.0),
                SubLinkKind::Any | SubLinkKind::All => startup + (total - startup) * 0.5,
                _ => total,
            },
        };
        // The arguments are expressions of this level. References to outer levels in them are
        // already parameters.
        for (_, e) in &params {
            // An aggregate of this level may contain sub-selects that are not planned yet.
            sub.args.push(self.preprocess(root, e.clone())?);
        }
        Ok(PlannedSubselect { sub, columns, bytes, total })
    }

    /// An uncorrelated sub-select with one value becomes an init plan; the result is the parameter
    /// that it sets.
    fn value_init_plan(&mut self, root: &mut PlannerInfo, mut sub: SubPlan) -> Expr {
        let (ty, typmod, collation) = match sub.kind {
            SubLinkKind::Exists => (types::oids::BOOL, -1, Oid::INVALID),
            _ => (sub.first_col_type, sub.first_col_typmod, sub.first_col_collation),
        };
        let id = self.new_param(ty);
        sub.set_param = vec![id];
        sub.plan_name = format!("InitPlan {} (returns ${id})", sub.plan_id);
        root.init_plans.push(Expr::SubPlan(Box::new(sub)));
        Expr::Param(Param {
            paramkind: ParamKind::Exec,
            paramid: id,
            paramtype: ty,
            paramtypmod: typmod,
            paramcollid: collation,
            location: Location::UNKNOWN,
        })
    }

    /// A sub-select with a test of its rows: ANY, ALL or a row comparison. The columns of its rows
    /// become parameters in the test.
    fn tested_subplan(
        &mut self,
        root: &mut PlannerInfo,
        planned: PlannedSubselect,
        test: Option<Expr>,
    ) -> Result<Expr> {
        let correlated = planned.is_correlated();
        let PlannedSubselect { mut sub, columns, bytes, total } = planned;
        let ids: Vec<i32> = columns.iter().map(|c| self.new_param(c.type_oid())).collect();
        let mut test = test.unwrap_or_else(|| exec_param(0, &columns[0]));
        substitute(&mut test, &mut |e| match e {
            Expr::Param(p) if p.paramkind == ParamKind::Sublink => {
                let i = p.paramid as usize - 1;
                Some(exec_param(*ids.get(i)?, columns.get(i)?))
            }
            _ => None,
        });
        if sub.kind == SubLinkKind::RowCompare && !correlated {
            // It runs once, as an init plan; the test stays in the expression.
            sub.set_param = ids;
            sub.kind = SubLinkKind::Expr;
            root.init_plans.push(Expr::SubPlan(Box::new(sub)));
            return Ok(test);
        }
        sub.param_ids = ids;
        let costs = self.host.costs();
        let (hash_mem, cpu_operator) = (costs.hash_mem, costs.cpu_operator);
        // The hash table cannot spill, so it must fit in memory.
        sub.use_hash_table = sub.kind == SubLinkKind::Any
            && !correlated
            && bytes <= hash_mem
            && self.can_hash_test(&test, &sub.param_ids)?;
        let scanned = matches!(sub.kind, SubLinkKind::Any | SubLinkKind::All);
        if scanned && !correlated && !sub.use_hash_table {
            self.keep_rows(sub.plan_id);
        }
        if sub.use_hash_table {
            sub.startup_cost = total;
            sub.per_call_cost = cpu_operator;
        }
        sub.testexpr = Some(test);
        Ok(Expr::SubPlan(Box::new(sub)))
    }

    /// The sub-select of a multi-column assignment, `SET (a, b) = (SELECT …)`: it sets a parameter
    /// for each column.
    fn multi_assignment(
        &mut self,
        root: &mut PlannerInfo,
        planned: PlannedSubselect,
        number: i32,
    ) -> Expr {
        let correlated = planned.is_correlated();
        let PlannedSubselect { mut sub, columns, .. } = planned;
        let ids: Vec<i32> = columns.iter().map(|c| self.new_param(c.type_oid())).collect();
        root.multi_assignments.push((number, ids.clone()));
        let shown: Vec<String> = ids.iter().map(|id| format!("${id}")).collect();
        let what = if correlated { "SubPlan" } else { "InitPlan" };
        sub.plan_name = format!("{what} {} (returns {})", sub.plan_id, shown.join(","));
        sub.kind = SubLinkKind::Expr;
        let first = ids[0];
        sub.set_param = ids;
        if correlated {
            return Expr::SubPlan(Box::new(sub));
        }
        root.init_plans.push(Expr::SubPlan(Box::new(sub)));
        exec_param(first, &columns[0])
    }

    /// Adds a Material node to a sub-select that is scanned again for each outer row.
    fn keep_rows(&mut self, plan_id: u32) {
        let costs = self.host.costs().clone();
        let Some(plan) = self.subplans.get_mut(plan_id as usize - 1) else { return };
        let kept = matches!(
            plan.node,
            PlanNode::Material { .. }
                | PlanNode::Sort { .. }
                | PlanNode::FunctionScan { .. }
                | PlanNode::CteScan { .. }
                | PlanNode::WorkTableScan { .. }
                | PlanNode::NamedTuplestoreScan { .. }
        );
        if kept || !costs.enable_material {
            return;
        }
        let mut child = std::mem::replace(plan, never_plan(Vec::new()));
        // Init plans move to the top node.
        let init_plan = std::mem::take(&mut child.info.init_plan);
        let mut info = PlanInfo {
            target_list: querytree::refs::pass_through(&child.info.target_list),
            qual: Vec::new(),
            init_plan,
            ..child.info.clone()
        };
        info.total_cost += 2.0 * costs.cpu_operator * info.plan_rows;
        *plan = Plan { info, node: PlanNode::Material { child: Box::new(child) } };
    }

    /// The cheaper of two forms of EXISTS: run for each row, or as a hashed sub-plan. The number of
    /// calls is estimated as the number of rows of the level's largest table. Counterpart:
    /// `fix_alternative_subplan`.
    fn cheaper_exists(
        &mut self,
        root: &mut PlannerInfo,
        exists: SubPlan,
        any: SubLink,
    ) -> Result<Expr> {
        let each = exists.per_call_cost;
        let plain = Expr::SubPlan(Box::new(exists));
        let Expr::SubPlan(mut hashed) = self.plan_sublink(root, any)? else { return Ok(plain) };
        let hashed_cost = hashed.startup_cost + root.calls * hashed.per_call_cost;
        if !hashed.use_hash_table || hashed_cost >= root.calls * each {
            return Ok(plain);
        }
        hashed.unknown_eq_false = true;
        Ok(Expr::SubPlan(hashed))
    }

    /// `EXISTS (SELECT … WHERE outer = inner AND …)` as `outer = ANY (SELECT inner … WHERE …)`, if
    /// only equalities refer to the outer query. Counterpart: `convert_EXISTS_to_ANY`.
    fn exists_as_any(&mut self, query: &Query) -> Result<Option<SubLink>> {
        let plain = query.command_type == CmdType::Select
            && query.target_list.is_empty()
            && !query.jointree.fromlist.is_empty();
        let (true, Some(quals)) = (plain, query.jointree.quals.clone()) else { return Ok(None) };
        if contains_sublinks(&quals)
            || eval::volatility(&quals, self.host)? == eval::Volatility::Volatile
        {
            return Ok(None);
        }
        let mut parts = Vec::new();
        conjuncts(quals, &mut parts);
        let (mut rest, mut tests, mut columns) = (Vec::new(), Vec::new(), Vec::new());
        for part in parts {
            match self.outer_equality(&part)? {
                Some((test, column)) => {
                    tests.push(test);
                    columns.push(column);
                }
                None => rest.push(part),
            }
        }
        if tests.is_empty() {
            return Ok(None);
        }
        let mut sub = query.clone();
        sub.jointree.quals = conjunction(rest);
        sub.target_list = querytree::refs::targets_of(&columns);
        if querytree::pullup::refers_up(&sub) {
            return Ok(None);
        }
        for (test, (column, n)) in tests.iter_mut().zip(columns.iter().zip(1..)) {
            shift_levels_expr(&mut test.args[0], -1, 1);
            test.args.push(Expr::Param(Param {
                paramkind: ParamKind::Sublink,
                paramid: n,
                paramtype: column.type_oid(),
                paramtypmod: column.typmod(),
                paramcollid: column.collation(),
                location: Location::UNKNOWN,
            }));
        }
        let tests = tests.into_iter().map(|t| Expr::OpExpr(Box::new(t))).collect();
        Ok(Some(SubLink {
            kind: SubLinkKind::Any,
            id: 0,
            testexpr: conjunction(tests),
            oper_name: Vec::new(),
            subselect: Nested::new(sub),
            array_type: Oid::INVALID,
            location: Location::UNKNOWN,
        }))
    }

    /// A hashable equality between an expression of the outer query alone and one of this query
    /// alone: the operator with its outer side only, and the inner side.
    fn outer_equality(&mut self, part: &Expr) -> Result<Option<(OpExpr, Expr)>> {
        let Expr::OpExpr(op) = part else { return Ok(None) };
        let [a, b] = op.args.as_slice() else { return Ok(None) };
        if !self.host.operator(op.opno)?.strict || !self.can_hash(op)? {
            return Ok(None);
        }
        let outer = |e: &Expr| {
            let (mut up, mut own) = (false, false);
            walk::deep_expr(e, 0, &mut |e, _| {
                if let Expr::Var(v) = e {
                    up |= v.varlevelsup == 1;
                    own |= v.varlevelsup != 1;
                }
                true
            });
            (up, own)
        };
        let inner = |e: &Expr| {
            let mut up = false;
            walk::deep_expr(e, 0, &mut |e, _| {
                up |= match e {
                    Expr::Var(v) => v.varlevelsup > 0,
                    Expr::Aggref(a) => a.agglevelsup > 0,
                    Expr::GroupingFunc(g) => g.agglevelsup > 0,
                    _ => false,
                };
                true
            });
            !up
        };
        let (ordered, left, right) = if outer(a) == (true, false) && inner(b) {
            (Expr::OpExpr(op.clone()), a, b)
        } else if outer(b) == (true, false) && inner(a) {
            if !self.host.operator(op.opno)?.commutator.is_valid() {
                return Ok(None);
            }
            (self.commute(part)?, b, a)
        } else {
            return Ok(None);
        };
        let Expr::OpExpr(mut test) = ordered else { return Ok(None) };
        test.args = vec![left.clone()];
        Ok(Some((*test, right.clone())))
    }

    /// True if the test consists of ANDed hashable equalities `outer expression = column`, where
    /// `columns` are the parameters of the sub-select's columns. Counterpart:
    /// `testexpr_is_hashable`.
    fn can_hash_test(&mut self, test: &Expr, columns: &[i32]) -> Result<bool> {
        Ok(match test {
            Expr::OpExpr(op) => {
                let f = self.host.operator(op.opno)?;
                f.strict
                    && self.can_hash(op)?
                    && matches!(&op.args[..], [_, Expr::Param(p)] if columns.contains(&p.paramid))
            }
            Expr::Bool(b) if b.boolop == BoolOp::And => {
                let mut all = true;
                for a in &b.args {
                    all &= self.can_hash_test(a, columns)?;
                }
                all
            }
            _ => false,
        })
    }

    /// Plans the subquery of a range-table entry; returns its index in `root.subqueries`.
    pub(crate) fn plan_subquery(&mut self, root: &mut PlannerInfo, rti: i32) -> Result<usize> {
        if let Some(i) = root.subquery_of.get(&rti) {
            return Ok(*i);
        }
        let RteKind::Subquery { subquery, .. } = &root.query.rte(rti).kind else {
            return Err(PgError::internal("subquery expected"));
        };
        let mut query = (**subquery).clone();
        drop_unused_columns(&root.query, rti, &mut query, self.host)?;
        let params = self.parameterize(&mut query);
        let count_groups = root.in_set_operation;
        let input = LevelInput {
            count_groups,
            from_above: root.subquery_inputs.remove(&rti).unwrap_or_default(),
            ..root.child_input(root.subquery_fraction)
        };
        let planned = self.plan_level(query, input)?;
        root.subqueries.push(SubqueryPlan {
            level: Some(planned.root),
            paths: planned.paths,
            groups: planned.groups,
            rows: planned.rows,
            column_widths: planned.column_widths,
            params,
        });
        let i = root.subqueries.len() - 1;
        root.subquery_of.insert(rti, i);
        Ok(i)
    }
}

/// Plans the sub-selects bottom-up: those in test expressions first.
fn plan_each(
    planner: &mut Planner<'_>,
    root: &mut PlannerInfo,
    expr: &mut Expr,
    failure: &mut Option<PgError>,
) {
    if failure.is_some() {
        return;
    }
    if let Expr::SubLink(_) = expr {
        let placeholder = Expr::CaseTest(CaseTestExpr {
            typeid: Oid::INVALID,
            typmod: -1,
            collation: Oid::INVALID,
        });
        if let Expr::SubLink(s) = std::mem::replace(expr, placeholder) {
            match planner.plan_sublink(root, *s) {
                Ok(e) => *expr = e,
                Err(e) => *failure = Some(e),
            }
        }
        return;
    }
    walk::each_child_mut(expr, &mut |c| plan_each(planner, root, c, failure));
}

/// Removes clauses that do not affect EXISTS. Counterpart: `simplify_EXISTS_query`.
fn simplify_exists(query: &mut Query, host: &mut dyn PlannerHost) {
    drop_unneeded_limit(query, host);
    let plain = query.command_type == CmdType::Select
        && query.set_operations.is_none()
        && !query.has_aggs
        && query.grouping_sets.is_empty()
        && !query.has_window_funcs
        && !query.has_target_srfs
        && !query.has_modifying_cte
        && query.having_qual.is_none()
        && query.limit_offset.is_none()
        && query.limit_count.is_none()
        && !query.has_for_update;
    if plain {
        query.target_list.clear();
        query.group_clause.clear();
        query.distinct_clause.clear();
        query.sort_clause.clear();
        query.has_distinct_on = false;
    }
}

/// An exec parameter of the expression's type.
pub(crate) fn exec_param(id: i32, of: &Expr) -> Expr {
    Expr::Param(Param {
        paramkind: ParamKind::Exec,
        paramid: id,
        paramtype: of.type_oid(),
        paramtypmod: of.typmod(),
        paramcollid: of.collation(),
        location: Location::UNKNOWN,
    })
}

/// A plan with these columns that returns no row.
pub(crate) fn never_plan(target_list: Vec<TargetEntry>) -> Plan {
    Plan {
        info: PlanInfo { target_list, plan_rows: 0.0, ..PlanInfo::default() },
        node: PlanNode::Result { child: None, constant_qual: vec![eval::bool_const(Some(false))] },
    }
}
