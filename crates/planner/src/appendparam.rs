//! Parameterized paths of append relations: the members look up rows by columns of other relations.
//! Counterpart: allpaths.c (`get_cheapest_parameterized_child_path`).

use crate::pushdown::push;
use crate::state::BaseRel;
use crate::state::{LevelInput, Planner, PlannerInfo, SubqueryInput, SubqueryPlan};
use crate::subselect::exec_param;
use eval::Volatility;
use pgerror::Result;
use plan::expr::Expr;
use plan::query::RteKind;
use querytree::path::PathSet;
use querytree::relids::Relids;
use querytree::unused::drop_unused_columns;
use querytree::vars::{contains_subplans, relids_of, substitute};

impl Planner<'_> {
    /// Adds paths of the append relation that test the join conditions in its members.
    pub(crate) fn parameterized_append_paths(
        &mut self,
        root: &mut PlannerInfo,
        rel: &BaseRel,
        quals: &[Expr],
        join_quals: &[Expr],
        set: &mut PathSet,
    ) -> Result<()> {
        let plan = root.subquery_of[&rel.rti];
        let level = root.subqueries[plan].level()?;
        let Some(plain) = &level.input.from_above.plain_members else { return Ok(()) };
        let all_plain =
            level.members.append_rels.iter().all(|a| a.parent == 0 && plain.contains(&a.child));
        if !all_plain || !rel.lateral.is_empty() {
            return Ok(());
        }
        let mut groups: Vec<(Relids, Vec<Expr>)> = Vec::new();
        for q in join_quals {
            if !self.may_parameterize(root, rel.rti, q)? {
                continue;
            }
            let others: Relids = relids_of(q).into_iter().filter(|r| *r != rel.rti).collect();
            match groups.iter_mut().find(|(relids, _)| *relids == others) {
                Some((_, list)) => list.push(q.clone()),
                None => groups.push((others, vec![q.clone()])),
            }
        }
        for (_, list) in groups {
            let plan = self.plan_parameterized(root, rel.rti, &list)?;
            let whole = set.cheapest().map_or(f64::INFINITY, |p| p.total);
            if root.subqueries[plan].paths.cheapest().is_some_and(|p| p.total < whole) {
                self.subquery_paths(root, (rel, plan), quals, &list, set)?;
            }
        }
        Ok(())
    }

    /// True if the members can test the condition.
    fn may_parameterize(&mut self, root: &PlannerInfo, rti: i32, qual: &Expr) -> Result<bool> {
        let RteKind::Subquery { subquery, .. } = &root.query.rte(rti).kind else {
            return Ok(false);
        };
        let Expr::OpExpr(_) = qual else { return Ok(false) };
        if contains_subplans(qual) || eval::volatility(qual, self.host)? == Volatility::Volatile {
            return Ok(false);
        }
        let mut vars = Vec::new();
        querytree::vars::pull_vars_of(rti, qual, &mut vars);
        for v in &vars {
            let Expr::Var(v) = v else { return Ok(false) };
            if v.varattno <= 0 || !self.column_accepts_quals(subquery, v)? {
                return Ok(false);
            }
        }
        Ok(!vars.is_empty())
    }

    /// Plans the subquery with these join conditions, in which columns of other relations become
    /// exec parameters. Returns its index in `root.subqueries`.
    fn plan_parameterized(
        &mut self,
        root: &mut PlannerInfo,
        rti: i32,
        list: &[Expr],
    ) -> Result<usize> {
        let of = &root.subqueries[root.subquery_of[&rti]];
        let mut params = of.params.clone();
        let plain_members = of.level()?.input.from_above.plain_members.clone();
        let RteKind::Subquery { subquery, .. } = &root.query.rte(rti).kind else {
            return Err(pgerror::PgError::internal("subquery expected"));
        };
        let mut query = (**subquery).clone();
        drop_unused_columns(&root.query, rti, &mut query, self.host)?;
        for q in list {
            let mut q = q.clone();
            substitute(&mut q, &mut |e| match e {
                Expr::Var(v) if v.varlevelsup == 0 && v.varno != rti => {
                    let known = params.iter().find(|(_, x)| x == e).map(|(id, _)| *id);
                    let id = known.unwrap_or_else(|| {
                        let id = self.new_param(e.type_oid());
                        params.push((id, e.clone()));
                        id
                    });
                    Some(exec_param(id, e))
                }
                _ => None,
            });
            push(&mut query, &q);
        }
        let from_above = SubqueryInput { plain_members, ..SubqueryInput::default() };
        let input = LevelInput { from_above, ..root.child_input(0.0) };
        let planned = self.plan_level(query, input)?;
        root.subqueries.push(SubqueryPlan {
            level: Some(planned.root),
            paths: planned.paths,
            groups: planned.groups,
            rows: planned.rows,
            column_widths: planned.column_widths,
            params,
        });
        Ok(root.subqueries.len() - 1)
    }
}
