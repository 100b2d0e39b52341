//! EvalPlanQual: rechecks a row that a concurrent transaction updated while this statement waited
//! for it. Counterpart: execMain.c (EvalPlanQual).
//!
//! The plan below the node is run again over single rows: the new version of the updated row, and
//! for every other relation the row of the original result. A separate node tree is used, so that
//! the statement's own scans are not disturbed.

use crate::node::Node;
use crate::run::{ExecParam, Run};
use hashbrown::HashMap;
use ids::Tid;
use pgerror::Result;
use plan::node::{Plan, PlanRowMark};
use std::sync::Arc;
use types::{Batch, DatumRef};

/// Recheck state of one ModifyTable or LockRows node. Counterpart: `EPQState`.
pub(crate) struct Recheck {
    plan: Arc<Plan>,
    node: Option<Node>,
    /// The other relations, and the columns of the child that contain their TIDs.
    others: Vec<(i32, usize)>,
}

impl Recheck {
    /// `plan` is the node's child; `marks` are the relations whose TIDs it returns in junk columns.
    pub(crate) fn new(plan: &Plan, marks: &[PlanRowMark]) -> Recheck {
        let others = marks.iter().filter_map(|m| Some((m.rti, ctid_column(plan, m)?))).collect();
        Recheck { plan: Arc::new(plan.clone()), node: None, others }
    }

    /// Runs the child's plan with the version `tid` of relation `rti`, and with the rows of the
    /// other relations from `row`, the child's original row. Returns the new row as a batch of one
    /// row, or `None` if the row no longer qualifies.
    pub(crate) fn run(
        &mut self,
        run: &mut Run<'_>,
        rti: i32,
        tid: Tid,
        row: (&Batch, usize),
    ) -> Result<Option<Batch>> {
        let mut substitutes: HashMap<i32, Option<Tid>> = HashMap::new();
        for (other, column) in &self.others {
            substitutes.insert(*other, tid_of(row.0.get(row.1, *column)));
        }
        substitutes.insert(rti, Some(tid));
        let saved = run.st.epq.replace(substitutes);
        // The statement's own scans continue with their current parameters.
        let params = (run.st.exec.clone(), run.st.versions.clone());
        let result = self.run_once(run);
        run.st.epq = saved;
        restore(run, params);
        result
    }

    /// As [`crate::node::Exec::reset`].
    pub(crate) fn reset(&mut self, run: &mut Run<'_>) -> Result<bool> {
        match &mut self.node {
            Some(n) => n.reset(run),
            None => Ok(true),
        }
    }

    fn run_once(&mut self, run: &mut Run<'_>) -> Result<Option<Batch>> {
        let node = match &mut self.node {
            Some(n) => {
                n.rescan(run)?;
                n
            }
            slot => {
                let plan = self.plan.clone();
                slot.insert((run.st.build)(&plan, run)?)
            }
        };
        while let Some(b) = node.next(run, 1)? {
            if b.len > 0 {
                return Ok(Some(b));
            }
        }
        Ok(None)
    }
}

/// Restores the parameters, except pending ones: results of init plans that have run since then are
/// kept.
fn restore(run: &mut Run<'_>, (values, versions): (Vec<ExecParam>, Vec<u64>)) {
    for (id, (value, version)) in values.into_iter().zip(versions).enumerate() {
        if !matches!(value, ExecParam::Pending(_)) {
            run.st.exec[id] = value;
            run.st.versions[id] = version;
        }
    }
}

/// Column of the child that holds the TID of a marked relation.
pub(crate) fn ctid_column(plan: &Plan, mark: &PlanRowMark) -> Option<usize> {
    let name = format!("ctid{}", mark.rowmark_id);
    plan.info
        .target_list
        .iter()
        .position(|t| t.resjunk && t.resname.as_deref() == Some(name.as_str()))
}

/// The TID in a value of type `tid`; `None` for NULL.
pub fn tid_of(v: DatumRef<'_>) -> Option<Tid> {
    match v {
        DatumRef::Bytes(b) => <[u8; 6]>::try_from(b).ok().map(Tid::from_bytes),
        _ => None,
    }
}
