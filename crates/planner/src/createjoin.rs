//! Creates the plans of joins. Counterpart: createplan.c (`create_join_plan`).

use crate::scan::under_collation;
use crate::state::{Planner, PlannerInfo};
use pgerror::Result;
use plan::expr::{Expr, TargetEntry};
use plan::node::{Plan, PlanInfo, PlanNode};
use plan::query::JoinType;
use querytree::path::{HashPath, JoinPath, MergePath, PathRef};
use querytree::refs::{ChildOutputs, CreatedPlan, targets_of};
use querytree::vars::{pull_vars, relids_of};
use std::rc::Rc;

/// The columns that a join needs of each of its children.
struct ChildColumns {
    outer: Vec<Expr>,
    inner: Vec<Expr>,
}

impl ChildColumns {
    /// The columns in these expressions. Columns of neither child are parameters of an enclosing
    /// nested loop.
    fn of<'e>(join: &JoinPath, exprs: impl Iterator<Item = &'e Expr>) -> ChildColumns {
        let mut vars = Vec::new();
        exprs.for_each(|e| pull_vars(e, &mut vars));
        let mut out = ChildColumns { outer: Vec::new(), inner: Vec::new() };
        for v in vars {
            match &v {
                Expr::Var(x) if join.outer.relids.contains(&x.varno) => out.outer.push(v),
                Expr::Var(x) if join.inner.relids.contains(&x.varno) => out.inner.push(v),
                _ => {}
            }
        }
        out
    }
}

impl Planner<'_> {
    /// Creates a nested loop. It sets the parameters that its inner side requested.
    pub(crate) fn nest_loop(
        &mut self,
        root: &mut PlannerInfo,
        info: PlanInfo,
        join: &JoinPath,
        want: &[Expr],
    ) -> Result<CreatedPlan> {
        let join_quals = owned(&join.join_quals);
        let mut columns = ChildColumns::of(join, want.iter().chain(&join_quals).chain(&join.quals));
        // The inner side is created first: it determines which outer columns become parameters.
        let before = root.nest_params.len();
        let mut inner = self.create_any(root, &join.inner, &columns.inner)?;
        if let PlanNode::Memoize { single_row, .. } = &mut inner.plan.node {
            *single_row = join.inner_unique && join_quals.is_empty();
        }
        let params = claim_params(root, before, &join.outer);
        params.iter().for_each(|(_, e)| pull_vars(e, &mut columns.outer));
        let outer = self.create_any(root, &join.outer, &columns.outer)?;
        let below = ChildOutputs::both(&outer.output, &inner.output);
        let outer_only = ChildOutputs::one(&outer.output);
        let mut nest_params = Vec::with_capacity(params.len());
        for (id, e) in &params {
            nest_params.push((*id, outer_only.fix(e)?));
        }
        let join_qual = below.fix_all(&self.cheap_first(&join_quals)?)?;
        let (info, output) = self.join_info(info, join, &below, want)?;
        let node = PlanNode::NestLoop {
            jointype: join.jointype,
            join_qual,
            inner_unique: join.inner_unique,
            nest_params,
            outer: Box::new(outer.plan),
            inner: Box::new(inner.plan),
        };
        Ok(CreatedPlan { plan: Plan { info, node }, output })
    }

    pub(crate) fn hash_join(
        &mut self,
        root: &mut PlannerInfo,
        info: PlanInfo,
        path: &HashPath,
        want: &[Expr],
    ) -> Result<CreatedPlan> {
        let join = &path.join;
        let (mut clauses, join_quals) = (owned(&path.clauses), owned(&join.join_quals));
        if matches!(join.jointype, JoinType::Inner | JoinType::Semi) {
            clauses.iter_mut().for_each(unify_collations);
        }
        let keys = operands(&clauses);
        let exprs = want.iter().chain(&join_quals).chain(&join.quals);
        let columns = ChildColumns::of(join, exprs.chain(&clauses));
        let outer = self.create_any(root, &join.outer, &columns.outer)?;
        // The inner side outputs only needed columns, to keep the hash table small.
        let inner = self.create(root, &join.inner, &columns.inner)?;
        let below = ChildOutputs::both(&outer.output, &inner.output);
        let (mut operators, mut collations) = (Vec::new(), Vec::new());
        for c in &clauses {
            if let Expr::OpExpr(op) = c {
                operators.push(op.opno);
                collations.push(op.inputcollid);
            }
        }
        let join_qual = below.fix_all(&self.cheap_first(&join_quals)?)?;
        let hash_clauses = below.fix_all(&clauses)?;
        let outer_keys = ChildOutputs::one(&outer.output).fix_all(&keys.outer)?;
        let inner_keys = ChildOutputs::one(&inner.output).fix_all(&keys.inner)?;
        let (info, output) = self.join_info(info, join, &below, want)?;
        let node = PlanNode::HashJoin {
            jointype: join.jointype,
            join_qual,
            inner_unique: join.inner_unique,
            hash_clauses,
            operators,
            collations,
            outer_keys,
            inner_keys,
            outer: Box::new(outer.plan),
            inner: Box::new(inner.plan),
        };
        Ok(CreatedPlan { plan: Plan { info, node }, output })
    }

    pub(crate) fn merge_join(
        &mut self,
        root: &mut PlannerInfo,
        info: PlanInfo,
        path: &MergePath,
        want: &[Expr],
    ) -> Result<CreatedPlan> {
        let join = &path.join;
        let (clauses, join_quals) = (owned(&path.clauses), owned(&join.join_quals));
        let exprs = want.iter().chain(&join_quals).chain(&join.quals);
        let columns = ChildColumns::of(join, exprs.chain(&clauses));
        let outer = self.create_any(root, &join.outer, &columns.outer)?;
        let inner = self.create_any(root, &join.inner, &columns.inner)?;
        let below = ChildOutputs::both(&outer.output, &inner.output);
        let join_qual = below.fix_all(&self.cheap_first(&join_quals)?)?;
        let merge_clauses = below.fix_all(&clauses)?;
        let (info, output) = self.join_info(info, join, &below, want)?;
        let node = PlanNode::MergeJoin {
            jointype: join.jointype,
            join_qual,
            inner_unique: join.inner_unique,
            merge_clauses,
            families: path.keys.iter().map(|k| k.family).collect(),
            collations: path.keys.iter().map(|k| k.collation).collect(),
            descending: path.keys.iter().map(|k| k.descending).collect(),
            nulls_first: path.keys.iter().map(|k| k.nulls_first).collect(),
            outer: Box::new(outer.plan),
            inner: Box::new(inner.plan),
        };
        Ok(CreatedPlan { plan: Plan { info, node }, output })
    }

    /// The target list and the filter of a join, both evaluated after null extension, and the
    /// join's output.
    fn join_info(
        &mut self,
        info: PlanInfo,
        join: &JoinPath,
        below: &ChildOutputs<'_>,
        want: &[Expr],
    ) -> Result<(PlanInfo, Vec<TargetEntry>)> {
        let output = targets_of(want);
        let joined = below.joined(join.jointype);
        let info = PlanInfo {
            target_list: joined.fix_targets(&output)?,
            qual: joined.fix_all(&self.cheap_first(&join.quals)?)?,
            ..info
        };
        Ok((info, output))
    }
}

/// Removes from the requested parameters those that `outer` can set, and returns them: first those
/// that the inner side requested (from index `before` on), then those that a sibling requested
/// earlier.
fn claim_params(root: &mut PlannerInfo, before: usize, outer: &PathRef) -> Vec<(i32, Expr)> {
    let settable = |(_, e): &mut (i32, Expr)| relids_of(e).is_subset(&outer.relids);
    let mut out: Vec<(i32, Expr)> = root.nest_params.extract_if(before.., settable).collect();
    out.extend(root.nest_params.extract_if(.., settable));
    out
}

/// Gives both operands of an equality that is not of an outer join the collation of the comparison:
/// in an equivalence class they are values under one collation.
fn unify_collations(clause: &mut Expr) {
    if let Expr::OpExpr(op) = clause {
        for arg in &mut op.args {
            *arg = under_collation(arg.clone(), op.inputcollid);
        }
    }
}

fn owned(quals: &[Rc<Expr>]) -> Vec<Expr> {
    quals.iter().map(|q| Expr::clone(q)).collect()
}

/// Operands of hash clauses.
struct Operands {
    outer: Vec<Expr>,
    inner: Vec<Expr>,
}

fn operands(clauses: &[Expr]) -> Operands {
    let mut out = Operands { outer: Vec::new(), inner: Vec::new() };
    for c in clauses {
        if let Expr::OpExpr(op) = c
            && let [a, b] = op.args.as_slice()
        {
            out.outer.push(a.clone());
            out.inner.push(b.clone());
        }
    }
    out
}
