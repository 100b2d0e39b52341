//! Deparses expressions of plans for EXPLAIN. References to a child's output are resolved to the
//! child's expressions, parameters to the expressions that set them in nodes above.
//!
//! Counterpart: ruleutils.c: `get_special_variable`, `find_param_referent`.

use crate::Deparser;
use crate::columns::Columns;
use crate::names::{Entry, Scope};
use analyze::session::Host;
use ids::Oid;
use pgerror::Result;
use plan::expr::{AggSplit, Aggref, Expr, Param, SubPlan, Var};
use plan::node::{AppendRelation, Plan, PlanNode};
use std::rc::Rc;

/// An ancestor of a plan node, on the path from the top of the statement's plan.
#[derive(Clone, Copy)]
pub enum Ancestor<'p> {
    Node(&'p Plan),
    /// The sub-plan (or init plan) that contains the steps below.
    SubPlan(&'p SubPlan),
}

/// A plan node with its ancestors in the plan.
#[derive(Clone)]
pub struct PlanPosition<'p> {
    pub plan: &'p Plan,
    /// The ancestors, outermost first.
    pub ancestors: Vec<Ancestor<'p>>,
    /// The sub-plans of the statement.
    pub subplans: &'p [Plan],
}

/// Names of the range table entries and their columns, in order.
#[derive(Clone, Default)]
pub struct PlanNames {
    scope: Scope,
    members: Rc<[AppendRelation]>,
}

impl PlanNames {
    /// Names of the entries and of their columns, in order of the range table. Above the scans of
    /// members of a table, columns are shown as those of the table.
    pub fn new(names: Vec<(String, Vec<String>)>, members: &[AppendRelation]) -> PlanNames {
        let entries = names.into_iter().map(|(refname, columns)| Entry {
            refname: Some(refname),
            columns: Columns::named(
                columns.into_iter().map(|c| (!c.is_empty()).then_some(c)).collect(),
            ),
            ..Entry::default()
        });
        let scope = Scope { entries: entries.collect(), ..Scope::default() };
        PlanNames { scope, members: members.into() }
    }

    /// The name of an entry (from 1).
    pub fn name(&self, rti: i32) -> &str {
        let entry = usize::try_from(rti - 1).ok().and_then(|i| self.scope.entries.get(i));
        entry.and_then(|e| e.refname.as_deref()).unwrap_or_default()
    }
}

impl<'p> PlanPosition<'p> {
    /// The child whose output `varno` refers to.
    fn child(&self, varno: i32) -> Option<&'p Plan> {
        match (&self.plan.node, varno) {
            (
                PlanNode::Append { children, .. } | PlanNode::MergeAppend { children, .. },
                Var::OUTER,
            ) => children.first(),
            (_, Var::OUTER) => self.plan.children().first().copied(),
            (_, Var::INNER) => self.plan.children().get(1).copied(),
            _ => None,
        }
    }

    fn below(&self, child: &'p Plan) -> PlanPosition<'p> {
        let mut ancestors = self.ancestors.clone();
        ancestors.push(Ancestor::Node(self.plan));
        PlanPosition { plan: child, ancestors, subplans: self.subplans }
    }

    /// The expression that a reference to a child's output refers to, and the child's position.
    fn target(&self, v: &Var) -> Option<(PlanPosition<'p>, &'p Expr)> {
        if v.varno == Var::INDEX {
            let PlanNode::IndexOnlyScan { index_tlist, .. } = &self.plan.node else { return None };
            let target = index_tlist.iter().find(|t| t.resno == v.varattno)?;
            return Some((self.clone(), &target.expr));
        }
        let child = self.child(v.varno)?;
        let target = child.info.target_list.iter().find(|t| t.resno == v.varattno)?;
        Some((self.below(child), &target.expr))
    }

    /// The expression that computes a column that the node reads, and its position: in a child, or
    /// in the plan of a scanned subquery, CTE or working table.
    pub(super) fn computed(&self, v: &Var) -> Option<(PlanPosition<'p>, &'p Expr)> {
        if v.varno < 0 {
            return self.target(v);
        }
        let position = match &self.plan.node {
            PlanNode::SubqueryScan { child, .. } => self.below(child),
            PlanNode::CteScan { cte_plan_id, .. } => {
                let plan = self.subplans.get(*cte_plan_id as usize - 1)?;
                PlanPosition { plan, ancestors: Vec::new(), subplans: self.subplans }
            }
            PlanNode::WorkTableScan { wt_param, .. } => self.first_term(*wt_param)?,
            _ => return None,
        };
        let target = position.plan.info.target_list.iter().find(|t| t.resno == v.varattno)?;
        Some((position, &target.expr))
    }

    /// The non-recursive term of the recursive union above whose working table is scanned.
    fn first_term(&self, table: i32) -> Option<PlanPosition<'p>> {
        self.ancestors.iter().enumerate().rev().find_map(|(i, step)| {
            let Ancestor::Node(Plan {
                node: PlanNode::RecursiveUnion { outer, wt_param, .. }, ..
            }) = step
            else {
                return None;
            };
            let ancestors = self.ancestors[..=i].to_vec();
            (*wt_param == table).then_some(PlanPosition {
                plan: outer,
                ancestors,
                subplans: self.subplans,
            })
        })
    }

    /// The expression that sets a parameter, and the position of its node.
    pub(super) fn referent(&self, id: i32) -> Option<(PlanPosition<'p>, &'p Expr)> {
        let mut child = self.plan;
        // A sub-plan gets values of a nested loop only through its own parameters.
        let mut same_level = true;
        for (i, step) in self.ancestors.iter().enumerate().rev() {
            match *step {
                Ancestor::SubPlan(sub) => {
                    if let Some(k) = sub.par_param.iter().position(|p| *p == id) {
                        let Ancestor::Node(plan) = *self.ancestors[..i].last()? else {
                            return None;
                        };
                        let ancestors = self.ancestors[..i - 1].to_vec();
                        let position = PlanPosition { plan, ancestors, subplans: self.subplans };
                        return Some((position, sub.args.get(k)?));
                    }
                    same_level = false;
                }
                Ancestor::Node(plan) => {
                    if same_level
                        && let PlanNode::NestLoop { inner, nest_params, .. } = &plan.node
                        && std::ptr::eq(&**inner, child)
                        && let Some((_, e)) = nest_params.iter().find(|(p, _)| *p == id)
                    {
                        let ancestors = self.ancestors[..i].to_vec();
                        return Some((
                            PlanPosition { plan, ancestors, subplans: self.subplans },
                            e,
                        ));
                    }
                    child = plan;
                }
            }
        }
        None
    }
}

impl<'h> Deparser<'h> {
    /// A deparser for the expressions of a plan node. With `prefix`, columns are qualified with the
    /// table name.
    pub fn in_plan(
        host: &'h mut dyn Host,
        names: &PlanNames,
        position: PlanPosition<'h>,
        prefix: bool,
    ) -> Deparser<'h> {
        let mut d = Deparser::new(host, crate::Style::PLAIN);
        d.scopes.push(names.scope.clone());
        d.members = names.members.clone();
        d.prefix = prefix;
        d.position = Some(position);
        d
    }

    /// As [`Self::expression`], with implicit casts.
    pub fn full_expression(mut self, e: &Expr) -> Result<String> {
        self.expr(e, true)?;
        Ok(self.out)
    }

    /// A sort column: the expression, then collation, direction and NULLS FIRST or LAST where they
    /// are not the defaults. Counterpart: `show_sortorder_options`.
    pub fn sort_column(
        mut self,
        e: &Expr,
        operator: Oid,
        collation: Oid,
        nulls_first: bool,
    ) -> Result<String> {
        self.expr(e, true)?;
        let ty = e.type_oid();
        let ops = self.host.catalog().type_ops(ty)?;
        if collation.is_valid() && self.host.catalog().type_row(ty)?.typcollation != collation {
            let name = self.host.catalog().collation(collation)?.collname;
            self.put(" COLLATE ");
            self.put_name(name.as_str());
        }
        let mut reverse = false;
        if operator == ops.gt {
            self.put(" DESC");
            reverse = true;
        } else if operator != ops.lt {
            let name = self.host.catalog().operator(operator)?.oprname;
            reverse = name.as_str().contains('>');
            self.put(&format!(" USING {name}"));
        }
        if nulls_first != reverse {
            self.put(if nulls_first { " NULLS FIRST" } else { " NULLS LAST" });
        }
        Ok(self.out)
    }

    /// Writes a column of a child's output. `None` if the variable is not such a column, or the
    /// child does not have it.
    pub(super) fn child_column(&mut self, v: &Var, top: bool) -> Option<Result<Option<String>>> {
        let above = self.position.as_ref()?;
        let (position, e) = above.target(v)?;
        let before = self.parents.len();
        if let PlanNode::Append { relations, .. } | PlanNode::MergeAppend { relations, .. } =
            &above.plan.node
        {
            self.parents.extend(relations);
        }
        let saved = self.position.replace(position);
        let result = match e {
            Expr::Var(inner) => self.variable(inner, 0, top),
            e => self.parens(true, |d| d.expr(e, true)).map(|()| None),
        };
        self.position = saved;
        self.parents.truncate(before);
        Some(result)
    }

    /// Writes the aggregate whose state is this column of a child's output; `None` if it is not
    /// found.
    pub(super) fn combined_aggregate(&mut self, v: &Var) -> Option<Result<()>> {
        let (mut position, mut e) = self.position.as_ref()?.target(v)?;
        while let Expr::Var(below) = e {
            (position, e) = position.target(below)?;
        }
        let Expr::Aggref(first) = e else { return None };
        let whole = Aggref { aggsplit: AggSplit::Simple, ..(**first).clone() };
        let saved = self.position.replace(position);
        let result = self.aggregate(&whole);
        self.position = saved;
        Some(result)
    }

    /// The column of a table that the column of its member stands for, above an Append of the
    /// members' scans.
    pub(super) fn column_of_parent(&self, v: &Var) -> Option<Var> {
        if self.parents.is_empty() || v.varno <= 0 || v.varlevelsup > 0 {
            return None;
        }
        let (mut found, mut at) = (None, (v.varno, v.varattno));
        while let Some(member) = self.members.iter().find(|m| m.child == at.0) {
            if at.1 > 0 {
                at.1 = member.parent_columns.get(at.1 as usize - 1).copied().unwrap_or_default();
                if at.1 == 0 {
                    break;
                }
            }
            at.0 = member.parent;
            if self.parents.contains(&at.0) {
                found = Some(Var { varno: at.0, varattno: at.1, ..v.clone() });
            }
        }
        found
    }

    /// Writes the expression that sets the parameter; false if it is not found.
    pub(super) fn plan_param(&mut self, p: &Param) -> Result<bool> {
        let found = self.position.as_ref().and_then(|position| position.referent(p.paramid));
        let Some((position, e)) = found else { return Ok(false) };
        let saved = self.position.replace(position);
        let prefix = std::mem::replace(&mut self.prefix, true);
        let bare =
            matches!(e, Expr::Var(_) | Expr::Aggref(_) | Expr::GroupingFunc(_) | Expr::Param(_));
        let result = self.parens(!bare, |d| d.expr(e, false));
        self.position = saved;
        self.prefix = prefix;
        result.map(|()| true)
    }
}
