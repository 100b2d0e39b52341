//! EvalPlanQual: rechecks a row that a concurrent transaction updated while this statement waited
//! for it. Counterpart: execMain.c (EvalPlanQual).
//!
//! The plan below the node is run again over single rows: the new version of the updated row, and
//! for every other relation the row of the original result. A separate node tree is used, so that
//! the statement's own scans are not disturbed.

use crate::node::Node;
use crate::run::{ExecParam, Run};
use hashbrown::HashMap;
use ids::{Oid, Tid};
use pgerror::Result;
use plan::node::{Plan, PlanRowMark};
use plan::query::{RangeTblEntry, RteKind};
use std::sync::Arc;
use types::{Batch, DatumRef};

/// Recheck state of one ModifyTable or LockRows node. Counterpart: `EPQState`.
pub(crate) struct Recheck {
    plan: Arc<Plan>,
    node: Option<Node>,
    /// The other relations.
    others: Vec<Other>,
    /// The result relations of which each row belongs to only one.
    siblings: Vec<i32>,
}

/// A relation whose row is fetched again, by its range-table index.
struct Other {
    rti: i32,
    /// Column of the child that contains the row's TID.
    ctid: usize,
    /// For a member of a table: the column with the OID of the row's table, and the member's OID.
    tableoid: Option<(usize, Oid)>,
}

impl Recheck {
    /// `plan` is the node's child; `marks` are the relations whose TIDs it returns in junk columns.
    pub(crate) fn new(plan: &Plan, marks: &[PlanRowMark], rtable: &[RangeTblEntry]) -> Recheck {
        let other = |m: &PlanRowMark| {
            let relid = match rtable.get(m.rti as usize - 1)?.kind {
                RteKind::Relation { relid, .. } => relid,
                _ => Oid::INVALID,
            };
            let tableoid = tableoid_column(plan, m).map(|column| (column, relid));
            Some(Other { rti: m.rti, ctid: ctid_column(plan, m)?, tableoid })
        };
        let others = marks.iter().filter(|m| !m.is_parent).filter_map(other).collect();
        Recheck { plan: Arc::new(plan.clone()), node: None, others, siblings: Vec::new() }
    }

    /// As [`Recheck::new`], for a statement that changes rows of these relations.
    pub(crate) fn with_result_relations(self, relations: &[i32]) -> Recheck {
        let siblings = if relations.len() > 1 { relations.to_vec() } else { Vec::new() };
        Recheck { siblings, ..self }
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
        substitutes.extend(self.siblings.iter().map(|s| (*s, None)));
        for other in &self.others {
            let is_of = |(column, relid): (usize, Oid)| {
                let of = row.0.get(row.1, column);
                !of.is_null() && of.as_oid() == relid
            };
            let tid = match other.tableoid.is_none_or(is_of) {
                true => tid_of(row.0.get(row.1, other.ctid)),
                false => None,
            };
            substitutes.insert(other.rti, tid);
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
    junk_column(plan, &format!("ctid{}", mark.rowmark_id))
}

/// Column of the child that holds the OID of the table of a marked row, if the mark is for a member
/// of a table.
pub(crate) fn tableoid_column(plan: &Plan, mark: &PlanRowMark) -> Option<usize> {
    if mark.rti == mark.prti {
        return None;
    }
    junk_column(plan, &format!("tableoid{}", mark.rowmark_id))
}

fn junk_column(plan: &Plan, name: &str) -> Option<usize> {
    plan.info.target_list.iter().position(|t| t.resjunk && t.resname.as_deref() == Some(name))
}

/// The TID in a value of type `tid`; `None` for NULL.
pub fn tid_of(v: DatumRef<'_>) -> Option<Tid> {
    match v {
        DatumRef::Bytes(b) => <[u8; 6]>::try_from(b).ok().map(Tid::from_bytes),
        _ => None,
    }
}
