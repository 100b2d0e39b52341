//! What a node keeps from one run to the next is stale when a parameter it was computed from changes.
//! Counterpart: chgParam and extParam of execAmi.c.

use crate::node::{Exec, Node};
use crate::run::{ExecParam, Run};
use pgerror::Result;
use plan::expr::SubLinkKind;
use plan::node::Plan;
use types::Batch;

/// The parameters that a plan reads, and their versions when it last ran.
pub(crate) struct Dependence {
    params: Vec<i32>,
    seen: Vec<u64>,
}

impl Dependence {
    pub(crate) fn new(plan: &Plan, run: &Run<'_>) -> Dependence {
        let params = plan::params::exec_params(plan, &run.st.desc.plan.subplans);
        let mut d = Dependence { params, seen: Vec::new() };
        d.record(run);
        d
    }

    pub(crate) fn record(&mut self, run: &Run<'_>) {
        self.seen.clear();
        self.seen.extend(self.params.iter().map(|&p| run.st.versions[p as usize]));
    }

    /// Leaves out parameters that are looked at otherwise.
    pub(crate) fn ignore(&mut self, params: &[i32], run: &Run<'_>) {
        self.params.retain(|p| !params.contains(p));
        self.record(run);
    }

    /// Has a parameter changed since they were recorded?
    pub(crate) fn changed(&self, run: &Run<'_>) -> bool {
        // Rechecks bring other rows with the same parameters.
        run.st.epq.is_some()
            || self.params.iter().zip(&self.seen).any(|(&p, s)| run.st.versions[p as usize] != *s)
    }
}

enum Kept {
    /// The parameters that the init plan at this place sets.
    InitPlan(usize, Vec<i32>),
    /// The rows of a `WITH` query.
    Cte(i32),
}

/// A node with init plans or `WITH` queries that depend on outer rows: they run again when those change.
pub(crate) struct InitPlansNode {
    child: Node,
    plans: Vec<(Dependence, Kept)>,
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
            let depends = Dependence::new(sub, run);
            if !depends.params.is_empty() {
                plans.push((depends, kept));
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
            self.plans.iter_mut().for_each(|(d, _)| d.record(run));
        }
        self.child.next(run, want)
    }

    fn rescan(&mut self, run: &mut Run<'_>) -> Result<()> {
        for (depends, kept) in &mut self.plans {
            if !depends.changed(run) {
                continue;
            }
            depends.record(run);
            match kept {
                Kept::InitPlan(place, params) => {
                    for &id in params.iter() {
                        run.st.exec[id as usize] = ExecParam::Pending(*place);
                        run.st.versions[id as usize] += 1;
                    }
                }
                Kept::Cte(param) => {
                    run.st.shared.remove(param);
                    run.st.versions[*param as usize] += 1;
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
