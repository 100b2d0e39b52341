//! Plan properties for cursors: the TID of each row, for `WHERE CURRENT OF`, and whether the plan
//! supports backward scans. Counterpart: execCurrent.c, execAmi.c.

use crate::vars::make_var;
use ids::Oid;
use plan::expr::{TargetEntry, Var};
use plan::node::{Plan, PlanNode, PlannedStmt, RowMarkType};
use plan::query::{RangeTblEntry, RteKind};

/// An output column of a plan: the TID of the table row from which a result row is computed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RowIdentity {
    pub relid: Oid,
    /// Position of the `ctid` in the plan's target list. Its value is NULL if no row of the table
    /// contributes to the result row.
    pub column: usize,
}

/// The TID columns of a plan.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct RowIdentities {
    /// The query has row locks (FOR UPDATE and so on): `rows` are the locked tables. Otherwise
    /// `rows` has at most the table of a simple scan.
    pub locked: bool,
    pub rows: Vec<RowIdentity>,
}

/// If the plan is a simple scan of one table, adds the rows' `ctid` to its output as a junk column.
/// Plans with row locks already have these columns; other plans are not changed.
pub fn add_row_identity(stmt: &mut PlannedStmt) -> RowIdentities {
    if !stmt.row_marks.is_empty() {
        let mut top = &stmt.plan_tree;
        while let PlanNode::Limit { child, .. } = &top.node {
            top = child;
        }
        let PlanNode::LockRows { row_marks, .. } = &top.node else {
            return RowIdentities { locked: true, rows: Vec::new() };
        };
        let locks = row_marks.iter().filter(|m| m.mark_type < RowMarkType::Reference);
        let position = |id: u32| {
            let name = format!("ctid{id}");
            let list = &stmt.plan_tree.info.target_list;
            list.iter().position(|t| t.resjunk && t.resname.as_deref() == Some(&name))
        };
        let rows = locks.filter_map(|m| {
            let relid = relation(&stmt.rtable, m.rti)?;
            Some(RowIdentity { relid, column: position(m.rowmark_id)? })
        });
        return RowIdentities { locked: true, rows: rows.collect() };
    }
    let row = add_ctid(&mut stmt.plan_tree, &stmt.rtable);
    RowIdentities { locked: false, rows: row.into_iter().collect() }
}

fn relation(rtable: &[RangeTblEntry], rti: i32) -> Option<Oid> {
    match rtable.get(usize::try_from(rti - 1).ok()?)?.kind {
        RteKind::Relation { relid, .. } => Some(relid),
        _ => None,
    }
}

/// Adds the `ctid` to the output of a scan and of the nodes above it; `None` if the plan is not a
/// simple scan.
fn add_ctid(plan: &mut Plan, rtable: &[RangeTblEntry]) -> Option<RowIdentity> {
    // An index-only scan cannot return the ctid.
    if let PlanNode::IndexOnlyScan { scanrelid, probe, .. } = &plan.node {
        plan.node = PlanNode::IndexScan { scanrelid: *scanrelid, probe: probe.clone() };
    }
    let (relid, varno, varattno) = match &mut plan.node {
        PlanNode::SeqScan { scanrelid }
        | PlanNode::SampleScan { scanrelid, .. }
        | PlanNode::IndexScan { scanrelid, .. }
        | PlanNode::BitmapHeapScan { scanrelid, .. }
        | PlanNode::TidScan { scanrelid, .. }
        | PlanNode::TidRangeScan { scanrelid, .. } => {
            (relation(rtable, *scanrelid)?, *scanrelid, -1)
        }
        PlanNode::Result { child: Some(child), .. } | PlanNode::Limit { child, .. } => {
            let below = add_ctid(child, rtable)?;
            (below.relid, Var::OUTER, below.column as i16 + 1)
        }
        PlanNode::SubqueryScan { scanrelid, child } => {
            let below = add_ctid(child, rtable)?;
            (below.relid, *scanrelid, below.column as i16 + 1)
        }
        _ => return None,
    };
    let column = plan.info.target_list.len();
    plan.info.target_list.push(TargetEntry {
        expr: make_var(varno, varattno, types::oids::TID, -1, Oid::INVALID),
        resno: column as i16 + 1,
        resname: Some("ctid".to_owned()),
        ressortgroupref: 0,
        resorigtbl: Oid::INVALID,
        resorigcol: 0,
        resjunk: true,
    });
    Some(RowIdentity { relid, column })
}

/// True if PostgreSQL could scan the plan backwards. A cursor declared without SCROLL or NO SCROLL
/// is then scrollable. Counterpart: `ExecSupportsBackwardScan`.
pub fn supports_backward_scan(plan: &Plan) -> bool {
    match &plan.node {
        PlanNode::Result { child: Some(child), .. }
        | PlanNode::SubqueryScan { child, .. }
        | PlanNode::LockRows { child, .. }
        | PlanNode::Limit { child, .. } => supports_backward_scan(child),
        PlanNode::Append { children } => children.iter().all(supports_backward_scan),
        PlanNode::SeqScan { .. }
        | PlanNode::IndexScan { .. }
        | PlanNode::IndexOnlyScan { .. }
        | PlanNode::TidScan { .. }
        | PlanNode::TidRangeScan { .. }
        | PlanNode::FunctionScan { .. }
        | PlanNode::ValuesScan { .. }
        | PlanNode::CteScan { .. }
        | PlanNode::Material { .. }
        | PlanNode::Sort { .. } => true,
        _ => false,
    }
}
