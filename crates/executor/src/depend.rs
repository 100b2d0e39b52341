//! What nodes keep when they are started over, and when it is stale. Counterpart: chgParam and
//! extParam of execAmi.c.
//!
//! A node is started over ([`Exec::rescan`]) when parameters that its plan reads may have changed.
//! Two rules make the rows that follow right:
//!
//! INVARIANT: `rescan` forgets all that was computed from rows or parameters, and starts every
//! child over before it is read again. What a node keeps nevertheless (a hash table, sorted rows,
//! the rows of a `WITH` query) stands beside a [`Sources`], which names all plans and expressions
//! that it is computed from and says when it is stale.
//!
//! INVARIANT: what is computed under a `Sources` reads no parameter that those plans and
//! expressions do not mention.
//!
//! Debug builds check both: each node is wrapped in a [`FreshNode`], and each read of a parameter
//! is compared with the `Sources` that are being computed ([`Run::note_read`]). A breach is an
//! internal error of the statement.

use crate::instrument::{Counts, key_of};
use crate::node::{Exec, Node};
use crate::run::{ExecParam, Run};
use pgerror::{PgError, Result};
use plan::expr::{Expr, SubLinkKind};
use plan::node::{Plan, PlanNode};
use plan::params;
use std::sync::Arc;
use types::Batch;

/// What something that is kept is computed from.
pub(crate) struct Sources {
    /// The parameters that it depends on, with their versions when computing began.
    seen: Vec<(i32, u64)>,
    reads: Arc<[i32]>,
}

/// A computation that may read only the parameters its [`Sources`] mention.
#[derive(Clone)]
pub(crate) struct Watch {
    reads: Arc<[i32]>,
    /// What is computed around this one does not depend on its parameters: it has a parameter for
    /// the result.
    alone: bool,
}

impl Sources {
    /// `plans` and `exprs` are all that the value is computed from: every plan below and every
    /// expression of the node itself that goes into it.
    pub(crate) fn new(plans: &[&Plan], exprs: &[&Expr], run: &Run<'_>) -> Sources {
        let found = params::param_refs(plans, exprs, &run.st.desc.plan.subplans);
        let mut s = Sources {
            seen: found.free.iter().map(|&id| (id, 0)).collect(),
            reads: found.read.into(),
        };
        s.record(run);
        s
    }

    /// The value is looked up by these parameters: they need not be as they were.
    pub(crate) fn keyed_by(mut self, params: &[i32]) -> Sources {
        self.seen.retain(|(id, _)| !params.contains(id));
        self
    }

    /// The value is computed from here on, or used as it is for what the parameters are now.
    pub(crate) fn record(&mut self, run: &Run<'_>) {
        for (id, seen) in &mut self.seen {
            *seen = run.st.versions[*id as usize];
        }
    }

    /// Is what was computed since [`Self::record`] stale?
    pub(crate) fn changed(&self, run: &Run<'_>) -> bool {
        // Rechecks bring other rows with the same parameters.
        run.st.epq.is_some() || self.differ(run)
    }

    fn differ(&self, run: &Run<'_>) -> bool {
        self.seen.iter().any(|&(id, seen)| run.st.versions[id as usize] != seen)
    }

    fn is_constant(&self) -> bool {
        self.seen.is_empty()
    }

    /// For the time of computing, or of a part of it.
    pub(crate) fn watch(&self) -> Watch {
        Watch { reads: self.reads.clone(), alone: false }
    }
}

impl Watch {
    /// Computes something that has a parameter of its own.
    pub(crate) fn alone(self) -> Watch {
        Watch { alone: true, ..self }
    }

    pub(crate) fn over<T>(
        self,
        run: &mut Run<'_>,
        compute: impl FnOnce(&mut Run<'_>) -> Result<T>,
    ) -> Result<T> {
        if !cfg!(debug_assertions) {
            return compute(run);
        }
        run.st.watches.push(self);
        let result = compute(run);
        run.st.watches.pop();
        result
    }
}

impl Run<'_> {
    /// A parameter is read: whatever is being computed to be kept must mention it.
    pub(crate) fn note_read(&self, id: i32) -> Result<()> {
        if !cfg!(debug_assertions) {
            return Ok(());
        }
        for watch in self.st.watches.iter().rev() {
            if !watch.reads.contains(&id) {
                let told = format!("what is kept reads parameter {id}, which its sources lack");
                return Err(PgError::internal(told));
            }
            if watch.alone {
                break;
            }
        }
        Ok(())
    }

    /// What was computed from this parameter is stale.
    pub(crate) fn outdate(&mut self, id: i32) {
        self.st.version += 1;
        self.st.versions[id as usize] = self.st.version;
    }
}

/// In debug builds: a node, and the parameters that it was started with.
pub(crate) struct FreshNode {
    child: Node,
    key: usize,
    inputs: Vec<usize>,
}

impl FreshNode {
    pub(crate) fn over(child: Node, plan: &Plan, run: &mut Run<'_>) -> Node {
        let key = key_of(plan);
        // Its rows are looked up by parameters: it need not start its child over for other ones.
        let keyed = matches!(plan.node, PlanNode::Memoize { .. });
        let inputs = plan.children().into_iter().filter(|_| !keyed).map(key_of).collect();
        let sources = Sources::new(&[plan], &[], run);
        run.st.started.insert(key, (sources, false));
        Box::new(FreshNode { child, key, inputs })
    }

    fn set(&self, run: &mut Run<'_>, started: bool) {
        if let Some((mut sources, _)) = run.st.started.remove(&self.key) {
            sources.record(run);
            run.st.started.insert(self.key, (sources, started));
        }
    }

    fn check(key: usize, run: &Run<'_>, what: &str) -> Result<()> {
        match run.st.started.get(&key) {
            Some((s, true)) if run.st.epq.is_none() && s.differ(run) => {
                Err(PgError::internal(format!(
                    "{what} after a change of its parameters, without having been started over"
                )))
            }
            _ => Ok(()),
        }
    }
}

impl Exec for FreshNode {
    fn next(&mut self, run: &mut Run<'_>, want: usize) -> Result<Option<Batch>> {
        match run.st.started.get(&self.key) {
            Some((_, true)) => FreshNode::check(self.key, run, "a plan node is read on")?,
            _ => self.set(run, true),
        }
        let batch = self.child.next(run, want)?;
        if batch.as_ref().is_some_and(|b| b.len > 0) {
            for &input in &self.inputs {
                FreshNode::check(input, run, "a plan node's rows are used")?;
            }
        }
        Ok(batch)
    }

    fn skip(&mut self, run: &mut Run<'_>, rows: usize) -> Result<Option<usize>> {
        match run.st.started.get(&self.key) {
            Some((_, true)) => FreshNode::check(self.key, run, "a plan node is read on")?,
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

    fn report(&self, counts: &mut Counts) {
        self.child.report(counts);
    }
}

enum Kept {
    /// The parameters that the init plan at this place sets.
    InitPlan(usize, Vec<i32>),
    /// The rows of a `WITH` query.
    Cte(i32),
}

/// A node with init plans or `WITH` queries that depend on outer rows: they run again when those
/// change.
pub(crate) struct InitPlansNode {
    child: Node,
    plans: Vec<(Sources, Kept)>,
    started: bool,
}

impl InitPlansNode {
    /// `first` is the place of the first of the plan's init plans among the registered ones.
    pub(crate) fn over(child: Node, plan: &Plan, first: usize, run: &Run<'_>) -> Node {
        let mut place = first;
        let mut plans = Vec::new();
        for e in &plan.info.init_plan {
            let plan::Expr::SubPlan(s) = e else { continue };
            let sub = &run.st.desc.plan.subplans[s.plan_id as usize - 1];
            let kept = if s.kind == SubLinkKind::Cte {
                Kept::Cte(s.set_param[0])
            } else {
                place += 1;
                Kept::InitPlan(place - 1, s.set_param.clone())
            };
            let sources = Sources::new(&[sub], &[], run);
            if !sources.is_constant() {
                plans.push((sources, kept));
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
        for (sources, kept) in &mut self.plans {
            if !sources.changed(run) {
                continue;
            }
            sources.record(run);
            match kept {
                Kept::InitPlan(place, params) => {
                    for &id in params.iter() {
                        run.st.exec[id as usize] = ExecParam::Pending(*place);
                        run.outdate(id);
                    }
                }
                Kept::Cte(param) => {
                    run.st.shared.remove(param);
                    run.outdate(*param);
                }
            }
        }
        self.child.rescan(run)
    }

    fn reset(&mut self, run: &mut Run<'_>) -> Result<bool> {
        self.started = false;
        self.child.reset(run)
    }

    fn set_bound(&mut self, bound: Option<usize>) {
        self.child.set_bound(bound);
    }

    fn recycle(&mut self, batch: Batch) {
        self.child.recycle(batch);
    }
}
