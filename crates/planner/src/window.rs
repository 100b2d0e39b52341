//! Window functions: one WindowAgg for each window, over rows in its order. Counterpart: planner.c
//! (`create_one_window_path`), costsize.c (`cost_windowagg`).

use crate::state::{Planner, PlannerInfo};
use pgerror::{Result, pg_err};
use plan::expr::{Expr, TargetEntry};
use plan::node::{Plan, PlanInfo, PlanNode, WindowAgg};
use querytree::path::{Path, PathKey, PathKind, PathRef, PathSet, common_prefix, starts_with};
use querytree::refs::{ChildOutputs, CreatedPlan, targets_of};
use querytree::stage::Window;
use querytree::vars::{push_unique, substitute};
use std::rc::Rc;

impl Planner<'_> {
    /// The windows of the level that have functions in `finals`, in the order in which they are
    /// computed.
    pub(crate) fn window_stages(
        &mut self,
        root: &PlannerInfo,
        finals: &[Expr],
        targets: &Rc<[TargetEntry]>,
    ) -> Vec<Rc<Window>> {
        let mut functions: Vec<Expr> = Vec::new();
        for e in finals {
            collect_window_funcs(e, &mut functions);
        }
        let mut stages = Vec::new();
        for clause in &root.query.window_clause {
            let of = |f: &&Expr| matches!(f, Expr::WindowFunc(x) if x.winref == clause.winref);
            let functions: Vec<Expr> = functions.iter().filter(of).cloned().collect();
            if !functions.is_empty() {
                stages.push(Window {
                    clause: clause.clone(),
                    targets: targets.clone(),
                    functions,
                    run_condition: Vec::new(),
                });
            }
        }
        if let Some(last) = stages.last_mut() {
            last.run_condition = run_conditions(root, targets);
        }
        stages.into_iter().map(Rc::new).collect()
    }

    /// The paths of all windows above `paths`. Counterpart: `create_window_paths`.
    pub(crate) fn window_paths(
        &mut self,
        root: &PlannerInfo,
        paths: &PathSet,
        stages: &[Rc<Window>],
    ) -> Result<PathSet> {
        let mut out = paths.above();
        let mut orders: Vec<Vec<PathKey>> = Vec::with_capacity(stages.len());
        for w in stages {
            check_sortable(w)?;
            orders.push(self.order_of(root, &w.clauses(), &w.targets)?);
        }
        let cheapest = paths.cheapest();
        let first = orders.first().map_or(&[][..], Vec::as_slice);
        for p in paths.unparameterized() {
            let is_cheapest = cheapest.is_some_and(|c| Rc::ptr_eq(c, p));
            if !is_cheapest && !starts_with(&p.order, first) && common_prefix(&p.order, first) == 0
            {
                continue;
            }
            let mut path = p.clone();
            for (w, order) in stages.iter().zip(&orders) {
                if !starts_with(&path.order, order) {
                    path = match self.sorted_further(root, &path, order, None)? {
                        Some(further) => Rc::new(further),
                        None => Rc::new(self.sorted(&path, order, None)),
                    };
                }
                path = Rc::new(self.window_path(root, &path, w)?);
            }
            out.add_ref(path);
        }
        Ok(out)
    }

    fn window_path(&mut self, root: &PlannerInfo, child: &PathRef, w: &Rc<Window>) -> Result<Path> {
        let c = self.costs();
        let mut per_row = c.cpu_tuple + c.cpu_operator * w.clauses().len() as f64;
        for f in &w.functions {
            per_row += self.expr_cost(f, c.cpu_operator)?.max(c.cpu_operator);
        }
        let width = child.width.saturating_add(self.row_width(root, &w.functions)?);
        Ok(Path {
            kind: PathKind::Window { child: child.clone(), stage: w.clone() },
            total: child.total + per_row * child.rows,
            width,
            ..Path::clone(child)
        })
    }

    /// Creates the WindowAgg node of a path.
    pub(crate) fn create_window(
        &mut self,
        root: &mut PlannerInfo,
        path: &Path,
        child: &Path,
        stage: &Window,
    ) -> Result<CreatedPlan> {
        let made = self.create(root, child, &[])?;
        let below = ChildOutputs::one(&made.output);
        let mut want: Vec<Expr> = made.output.iter().map(|t| t.expr.clone()).collect();
        want.extend(stage.functions.iter().cloned());
        let output = targets_of(&want);
        let w = &stage.clause;
        let partition = self.group_keys(&w.partition_clause, &stage.targets, &made.output)?;
        let order = self.group_keys(&w.order_clause, &stage.targets, &made.output)?;
        let info = PlanInfo {
            plan_width: self.row_width(root, &want)?,
            target_list: below.fix_targets(&output)?,
            ..path.info()
        };
        let run_condition = below.fix_all(&stage.run_condition)?;
        let node = PlanNode::WindowAgg(Box::new(WindowAgg {
            child: Box::new(made.plan),
            winref: w.winref,
            partition,
            order,
            frame_options: w.frame_options,
            // Offsets contain no columns; they are evaluated before the first row.
            start_offset: w.start_offset.clone(),
            end_offset: w.end_offset.clone(),
            start_in_range_func: w.start_in_range_func,
            end_in_range_func: w.end_in_range_func,
            in_range_coll: w.in_range_coll,
            in_range_asc: w.in_range_asc,
            in_range_nulls_first: w.in_range_nulls_first,
            run_condition,
        }));
        Ok(CreatedPlan { plan: Plan { info, node }, output })
    }
}

/// Error 0A000 if the rows cannot be sorted by a clause of the window.
fn check_sortable(w: &Window) -> Result<()> {
    let clauses = [
        (&w.clause.partition_clause, "PARTITION BY", "partitioning"),
        (&w.clause.order_clause, "ORDER BY", "ordering"),
    ];
    for (keys, clause, role) in clauses {
        if keys.iter().any(|key| !key.sortop.is_valid()) {
            return Err(pg_err!(FEATURE_NOT_SUPPORTED, "could not implement window {clause}")
                .detail(format!("Window {role} columns must be of sortable datatypes.")));
        }
    }
    Ok(())
}

/// The level's run conditions, over its own expressions.
fn run_conditions(root: &PlannerInfo, targets: &[TargetEntry]) -> Vec<Expr> {
    let mut conditions = root.input.from_above.run_conditions.clone();
    for e in &mut conditions {
        substitute(e, &mut |e| match e {
            Expr::Var(v) => targets.iter().find(|t| t.resno == v.varattno).map(|t| t.expr.clone()),
            _ => None,
        });
    }
    conditions
}

/// Adds the window function calls in the expression.
pub(crate) fn collect_window_funcs(e: &Expr, out: &mut Vec<Expr>) {
    if let Expr::WindowFunc(_) = e {
        push_unique(out, e);
        return;
    }
    plan::walk::each_child(e, &mut |c| collect_window_funcs(c, out));
}
