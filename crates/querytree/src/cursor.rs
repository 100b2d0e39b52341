//! Plan properties for cursors: the TID of each row, for `WHERE CURRENT OF`, and whether the plan
//! supports backward scans. Counterpart: execCurrent.c, execAmi.c.

use crate::vars::make_var;
use ids::{AttrNo, Oid};
use plan::expr::{TargetEntry, Var};
use plan::node::{Plan, PlanNode, PlanRowMark, PlannedStmt, RowMarkType};
use plan::query::{RangeTblEntry, RteKind};

/// An output column of a plan: the TID of the table row from which a result row is computed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RowIdentity {
    pub relid: Oid,
    /// Position of the `ctid` in the plan's target list. Its value is NULL if no row of the table
    /// contributes to the result row.
    pub column: usize,
    /// For a member of a table: position of the `tableoid` of the row. The identity is for rows
    /// with the OID `relid` only.
    pub tableoid: Option<usize>,
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
        let locked = |m: &&PlanRowMark| m.mark_type < RowMarkType::Reference && !m.is_parent;
        let locks = row_marks.iter().filter(locked);
        let position = |name: &str, id: u32| {
            let name = format!("{name}{id}");
            let list = &stmt.plan_tree.info.target_list;
            list.iter().position(|t| t.resjunk && t.resname.as_deref() == Some(&name))
        };
        let rows = locks.filter_map(|m| {
            let relid = relation(&stmt.rtable, m.rti)?;
            let column = position("ctid", m.rowmark_id)?;
            let tableoid = match m.rti == m.prti {
                true => None,
                false => Some(position("tableoid", m.rowmark_id)?),
            };
            Some(RowIdentity { relid, column, tableoid })
        });
        return RowIdentities { locked: true, rows: rows.collect() };
    }
    if !is_simple_scan(&stmt.plan_tree) {
        return RowIdentities::default();
    }
    let rows = add_ctid(&mut stmt.plan_tree, &stmt.rtable, false).unwrap_or_default();
    RowIdentities { locked: false, rows }
}

/// True if each row of the plan is computed from one row of one table.
fn is_simple_scan(plan: &Plan) -> bool {
    match &plan.node {
        PlanNode::SeqScan { .. }
        | PlanNode::SampleScan { .. }
        | PlanNode::IndexScan { .. }
        | PlanNode::IndexOnlyScan { .. }
        | PlanNode::BitmapHeapScan { .. }
        | PlanNode::TidScan { .. }
        | PlanNode::TidRangeScan { .. } => true,
        PlanNode::Result { child: Some(child), .. }
        | PlanNode::Limit { child, .. }
        | PlanNode::SubqueryScan { child, .. } => is_simple_scan(child),
        PlanNode::Append { children, relations, .. }
        | PlanNode::MergeAppend { children, relations, .. } => {
            !relations.is_empty() && children.iter().all(is_simple_scan)
        }
        _ => false,
    }
}

fn relation(rtable: &[RangeTblEntry], rti: i32) -> Option<Oid> {
    match rtable.get(usize::try_from(rti - 1).ok()?)?.kind {
        RteKind::Relation { relid, .. } => Some(relid),
        _ => None,
    }
}

/// Adds the `ctid`, and in members of a table the `tableoid`, to the output of a simple scan and of
/// the nodes above it.
fn add_ctid(plan: &mut Plan, rtable: &[RangeTblEntry], member: bool) -> Option<Vec<RowIdentity>> {
    // An index-only scan cannot return the ctid.
    if let PlanNode::IndexOnlyScan { scanrelid, probe, .. } = &plan.node {
        plan.node = PlanNode::IndexScan { scanrelid: *scanrelid, probe: probe.clone() };
    }
    let list = &mut plan.info.target_list;
    let (below, varno) = match &mut plan.node {
        PlanNode::SeqScan { scanrelid }
        | PlanNode::SampleScan { scanrelid, .. }
        | PlanNode::IndexScan { scanrelid, .. }
        | PlanNode::BitmapHeapScan { scanrelid, .. }
        | PlanNode::TidScan { scanrelid, .. }
        | PlanNode::TidRangeScan { scanrelid, .. } => {
            let relid = relation(rtable, *scanrelid)?;
            let column = add_column(list, (*scanrelid, CTID));
            let tableoid = member.then(|| add_column(list, (*scanrelid, TABLEOID)));
            return Some(vec![RowIdentity { relid, column, tableoid }]);
        }
        PlanNode::Result { child: Some(child), .. } | PlanNode::Limit { child, .. } => {
            (add_ctid(child, rtable, member)?, Var::OUTER)
        }
        PlanNode::SubqueryScan { scanrelid, child } => {
            (add_ctid(child, rtable, member)?, *scanrelid)
        }
        PlanNode::Append { children, .. } | PlanNode::MergeAppend { children, .. } => {
            let mut all = Vec::with_capacity(children.len());
            for child in children {
                all.extend(add_ctid(child, rtable, true)?);
            }
            (all, Var::OUTER)
        }
        _ => return None,
    };
    let first = below.first()?;
    let column = add_column(list, (varno, first.column as AttrNo + 1));
    let tableoid = first.tableoid.map(|at| add_column(list, (varno, at as AttrNo + 1)));
    Some(below.into_iter().map(|row| RowIdentity { column, tableoid, ..row }).collect())
}

const CTID: AttrNo = -1;
const TABLEOID: AttrNo = -6;

/// Adds a junk column for a `ctid` or `tableoid`; its position.
fn add_column(list: &mut Vec<TargetEntry>, (varno, varattno): (i32, AttrNo)) -> usize {
    let column = list.len();
    // The second column that is added is the table.
    let of_table = list.last().is_some_and(|t| t.resjunk && t.resname.as_deref() == Some("ctid"));
    let (ty, name) = match of_table {
        true => (types::oids::OID, "tableoid"),
        false => (types::oids::TID, "ctid"),
    };
    list.push(TargetEntry {
        expr: make_var(varno, varattno, ty, -1, Oid::INVALID),
        resno: column as i16 + 1,
        resname: Some(name.to_owned()),
        ressortgroupref: 0,
        resorigtbl: Oid::INVALID,
        resorigcol: 0,
        resjunk: true,
    });
    column
}

/// True if PostgreSQL could scan the plan backwards. A cursor declared without SCROLL or NO SCROLL
/// is then scrollable. Counterpart: `ExecSupportsBackwardScan`.
pub fn supports_backward_scan(plan: &Plan) -> bool {
    match &plan.node {
        PlanNode::Result { child: Some(child), .. }
        | PlanNode::SubqueryScan { child, .. }
        | PlanNode::LockRows { child, .. }
        | PlanNode::Limit { child, .. } => supports_backward_scan(child),
        PlanNode::Append { children, .. } => children.iter().all(supports_backward_scan),
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
