//! Dependencies of the data that nodes keep over a rescan. Counterpart: execAmi.c (`ExecReScan`)
//! and the sets chgParam and extParam.
//!
//! A node is rescanned ([`Exec::rescan`]) when parameters that its plan reads may have changed. Two
//! rules guarantee correct rows afterwards:
//!
//! INVARIANT: `rescan` discards all data computed from rows or parameters, and every child is
//! rescanned before it is read again. Data that a node keeps over a rescan (a hash table, sorted
//! rows, the rows of a `WITH` query) has a [`Dependencies`], which is made from all plans and
//! expressions that the data is computed from and detects when it is stale.
//!
//! INVARIANT: the computation of such data reads no parameter that those plans and expressions do
//! not contain.
//!
//! Debug builds check both: each node is wrapped in a [`RescanCheckNode`], and each read of a
//! parameter is checked against the `Dependencies` that are being computed ([`Run::note_read`]). A
//! violation is an internal error of the statement.

use crate::instrument::{Counts, key_of};
use crate::node::{Exec, Node};
use crate::run::{ExecParam, Run};
use pgerror::{PgError, Result};
use plan::expr::{Expr, SubLinkKind};
use plan::node::{Plan, PlanNode};
use plan::params;
use std::sync::Arc;
use types::Batch;

/// The exec parameters on which kept data depends.
pub(crate) struct Dependencies {
    /// The parameters whose change makes the data stale, with their versions when the computation
    /// began.
    seen: Vec<(i32, u64)>,
    /// All parameters that the computation may read.
    reads: Arc<[i32]>,
}

/// A computation in progress. It may read only the parameters of its [`Dependencies`].
#[derive(Clone)]
pub(crate) struct Computation {
    reads: Arc<[i32]>,
    /// Enclosing computations need not list these parameters, because the result has a parameter of
    /// its own, on which they depend.
    isolated: bool,
}

impl Dependencies {
    /// `plans` and `exprs` must be all inputs of the data: each child plan and each expression of
    /// the node from which the data is computed.
    pub(crate) fn new(plans: &[&Plan], exprs: &[&Expr], run: &Run<'_>) -> Dependencies {
        let found = params::param_refs(plans, exprs, &run.st.desc.plan.subplans);
        let mut s = Dependencies {
            seen: found.free.iter().map(|&id| (id, 0)).collect(),
            reads: found.read.into(),
        };
        s.record(run);
        s
    }

    /// Excludes parameters that are part of the look-up key of the data: a change of them does not
    /// make the data stale.
    pub(crate) fn excluding(mut self, params: &[i32]) -> Dependencies {
        self.seen.retain(|(id, _)| !params.contains(id));
        self
    }

    /// Records the current versions of the parameters, for which the data is valid.
    pub(crate) fn record(&mut self, run: &Run<'_>) {
        for (id, seen) in &mut self.seen {
            *seen = run.st.versions[*id as usize];
        }
    }

    /// True if the data is stale: a parameter has changed since [`Self::record`].
    pub(crate) fn changed(&self, run: &Run<'_>) -> bool {
        // An EvalPlanQual recheck substitutes rows without changing a parameter.
        run.st.epq.is_some() || self.differ(run)
    }

    fn differ(&self, run: &Run<'_>) -> bool {
        self.seen.iter().any(|&(id, seen)| run.st.versions[id as usize] != seen)
    }

    fn is_constant(&self) -> bool {
        self.seen.is_empty()
    }

    /// The computation of the data, or of a part of it.
    pub(crate) fn computation(&self) -> Computation {
        Computation { reads: self.reads.clone(), isolated: false }
    }
}

impl Computation {
    /// For a computation whose result has a parameter of its own (init plans, `WITH` queries).
    pub(crate) fn isolated(self) -> Computation {
        Computation { isolated: true, ..self }
    }

    pub(crate) fn perform<T>(
        self,
        run: &mut Run<'_>,
        compute: impl FnOnce(&mut Run<'_>) -> Result<T>,
    ) -> Result<T> {
        if !cfg!(debug_assertions) {
            return compute(run);
        }
        run.st.computations.push(self);
        let result = compute(run);
        run.st.computations.pop();
        result
    }
}

impl Run<'_> {
    /// Checks a read of a parameter: each computation in progress must list the parameter.
    pub(crate) fn note_read(&self, id: i32) -> Result<()> {
        if !cfg!(debug_assertions) {
            return Ok(());
        }
        for computation in self.st.computations.iter().rev() {
            if !computation.reads.contains(&id) {
                return Err(PgError::internal(format!(
                    "parameter {id} is not among the dependencies of the data being computed"
                )));
            }
            if computation.isolated {
                break;
            }
        }
        Ok(())
    }

    /// Gives the parameter a new version, which makes data computed from it stale.
    pub(crate) fn invalidate(&mut self, id: i32) {
        self.st.version += 1;
        self.st.versions[id as usize] = self.st.version;
    }
}

/// In debug builds, wraps a node and checks that it is rescanned when its parameters change.
pub(crate) struct RescanCheckNode {
    child: Node,
    key: usize,
    inputs: Vec<usize>,
}

impl RescanCheckNode {
    pub(crate) fn over(child: Node, plan: &Plan, run: &mut Run<'_>) -> Node {
        let key = key_of(plan);
        // Memoize looks its rows up by parameters, and does not rescan its child for a cached key.
        // Append keeps no rows, and rescans a child only when it reaches it.
        let keeps = !matches!(plan.node, PlanNode::Memoize { .. } | PlanNode::Append { .. });
        let inputs = plan.children().into_iter().filter(|_| keeps).map(key_of).collect();
        let dependencies = Dependencies::new(&[plan], &[], run);
        run.st.started.insert(key, (dependencies, false));
        Box::new(RescanCheckNode { child, key, inputs })
    }

    fn set(&self, run: &mut Run<'_>, started: bool) {
        if let Some((mut dependencies, _)) = run.st.started.remove(&self.key) {
            dependencies.record(run);
            run.st.started.insert(self.key, (dependencies, started));
        }
    }

    fn check(key: usize, run: &Run<'_>, what: &str) -> Result<()> {
        match run.st.started.get(&key) {
            Some((s, true)) if run.st.epq.is_none() && s.differ(run) => Err(PgError::internal(
                format!("{what} after a change of its parameters without a rescan"),
            )),
            _ => Ok(()),
        }
    }
}

impl Exec for RescanCheckNode {
    fn next(&mut self, run: &mut Run<'_>, want: usize) -> Result<Option<Batch>> {
        match run.st.started.get(&self.key) {
            Some((_, true)) => RescanCheckNode::check(self.key, run, "a plan node is read on")?,
            _ => self.set(run, true),
        }
        let batch = self.child.next(run, want)?;
        if batch.as_ref().is_some_and(|b| b.len > 0) {
            for &input in &self.inputs {
                RescanCheckNode::check(input, run, "a plan node's rows are used")?;
            }
        }
        Ok(batch)
    }

    fn skip(&mut self, run: &mut Run<'_>, rows: usize) -> Result<Option<usize>> {
        match run.st.started.get(&self.key) {
            Some((_, true)) => RescanCheckNode::check(self.key, run, "a plan node is read on")?,
            _ => self.set(run, true),
        }
        self.child.skip(run, rows)
    }

    fn rescan(&mut self, run: &mut Run<'_>) -> Result<()> {
        self.set(run, false);
        self.child.rescan(run)
    }

    fn reset(&mut self, run: &mut Run<'_>) -> Result<bool> {
        self.set(run, false);
        self.child.reset(run)
    }

    fn recycle(&mut self, batch: Batch) {
        self.child.recycle(batch);
    }

    fn set_bound(&mut self, bound: Option<usize>) {
        self.child.set_bound(bound);
    }

    fn is_volatile(&self) -> bool {
        self.child.is_volatile()
    }

    fn report(&self, counts: &mut Counts) {
        self.child.report(counts);
    }
}

enum Kept {
    /// An init plan: its index in `RunState::init_plans`, and the parameters that it sets.
    InitPlan(usize, Vec<i32>),
    /// The rows of a `WITH` query: its parameter.
    Cte(i32),
}

/// Wraps a node whose init plans or `WITH` queries depend on parameters: after a change of a
/// parameter, a rescan makes them run again.
pub(crate) struct InitPlansNode {
    child: Node,
    plans: Vec<(Dependencies, Kept)>,
    started: bool,
}

impl InitPlansNode {
    /// `first` is the index of the plan's first init plan in `RunState::init_plans`.
    pub(crate) fn over(child: Node, plan: &Plan, first: usize, run: &Run<'_>) -> Node {
        let mut next = first;
        let mut plans = Vec::new();
        for e in &plan.info.init_plan {
            let plan::Expr::SubPlan(s) = e else { continue };
            let sub = &run.st.desc.plan.subplans[s.plan_id as usize - 1];
            let kept = if s.kind == SubLinkKind::Cte {
                Kept::Cte(s.set_param[0])
            } else {
                next += 1;
                Kept::InitPlan(next - 1, s.set_param.clone())
            };
            let dependencies = Dependencies::new(&[sub], &[], run);
            if !dependencies.is_constant() {
                plans.push((dependencies, kept));
            }
        }
        if plans.is_empty() {
            return child;
        }
        Box::new(InitPlansNode { child, plans, started: false })
    }
}

impl Exec for InitPlansNode {
    fn next(&mut self, run: &mut Run<'_>, want: usize) -> Result<Option<Batch>> {
        if !std::mem::replace(&mut self.started, true) {
            self.plans.iter_mut().for_each(|(s, _)| s.record(run));
        }
        self.child.next(run, want)
    }

    fn skip(&mut self, run: &mut Run<'_>, rows: usize) -> Result<Option<usize>> {
        if !std::mem::replace(&mut self.started, true) {
            self.plans.iter_mut().for_each(|(s, _)| s.record(run));
        }
        self.child.skip(run, rows)
    }

    fn rescan(&mut self, run: &mut Run<'_>) -> Result<()> {
        for (dependencies, kept) in &mut self.plans {
            if !dependencies.changed(run) {
                continue;
            }
            dependencies.record(run);
            match kept {
                Kept::InitPlan(index, params) => {
                    for &id in params.iter() {
                        run.st.exec[id as usize] = ExecParam::Pending(*index);
                        run.invalidate(id);
                    }
                }
                Kept::Cte(param) => {
                    run.st.shared.remove(param);
                    run.invalidate(*param);
                }
            }
        }
        self.child.rescan(run)
    }

    fn reset(&mut self, run: &mut Run<'_>) -> Result<bool> {
        self.started = false;
        self.child.reset(run)
    }

    fn is_volatile(&self) -> bool {
        self.child.is_volatile()
    }

    fn set_bound(&mut self, bound: Option<usize>) {
        self.child.set_bound(bound);
    }

    fn recycle(&mut self, batch: Batch) {
        self.child.recycle(batch);
    }
}
