//! Plans as one line of text.

use super::TestHost;
use pgerror::Result;
use plan::node::{AggStrategy, BitmapNode, Plan, PlanNode, PlannedStmt, SetOpStrategy};
use plan::query::{JoinType, RteKind};

/// The statement's plan and, in front of it, its sub-plans.
pub(super) fn statement(host: &mut TestHost, stmt: &PlannedStmt) -> Result<String> {
    let mut out = String::new();
    for plan in &stmt.subplans {
        out.push_str(&node(host, stmt, plan)?);
        out.push_str(" / ");
    }
    out.push_str(&node(host, stmt, &stmt.plan_tree)?);
    Ok(out)
}

fn node(host: &mut TestHost, stmt: &PlannedStmt, plan: &Plan) -> Result<String> {
    let name = name_of(host, stmt, &plan.node)?;
    let mut children = Vec::new();
    if let PlanNode::BitmapHeapScan { bitmap, .. } = &plan.node {
        children.push(bitmap_text(host, bitmap)?);
    }
    for child in plan.children() {
        children.push(node(host, stmt, child)?);
    }
    Ok(match children.is_empty() {
        true => name,
        false => format!("{name}({})", children.join(", ")),
    })
}

fn name_of(host: &mut TestHost, stmt: &PlannedStmt, node: &PlanNode) -> Result<String> {
    let scan = |word: &str, rti: i32| match &stmt.rtable[rti as usize - 1].kind {
        RteKind::Relation { .. } => {
            format!("{word} {}", stmt.rtable[rti as usize - 1].eref.aliasname)
        }
        _ => word.to_owned(),
    };
    Ok(match node {
        PlanNode::SeqScan { scanrelid } => scan("Seq", *scanrelid),
        PlanNode::IndexScan { probe, .. } => {
            format!("Index {}", relation(host, probe.indexid)?)
        }
        PlanNode::IndexOnlyScan { probe, .. } => {
            format!("IndexOnly {}", relation(host, probe.indexid)?)
        }
        PlanNode::BitmapHeapScan { .. } => "Bitmap".into(),
        PlanNode::TidScan { scanrelid, .. } => scan("Tid", *scanrelid),
        PlanNode::TidRangeScan { scanrelid, .. } => scan("TidRange", *scanrelid),
        PlanNode::SampleScan { scanrelid, .. } => scan("Sample", *scanrelid),
        PlanNode::SubqueryScan { .. } => "Subquery".into(),
        PlanNode::FunctionScan { .. } => "Function".into(),
        PlanNode::ValuesScan { .. } => "Values".into(),
        PlanNode::CteScan { .. } => "Cte".into(),
        PlanNode::WorkTableScan { .. } => "WorkTable".into(),
        PlanNode::NamedTuplestoreScan { enrname, .. } => format!("NamedTuplestore {enrname}"),
        PlanNode::Result { .. } => "Result".into(),
        PlanNode::ProjectSet { .. } => "ProjectSet".into(),
        PlanNode::ModifyTable(_) => "Modify".into(),
        PlanNode::Append { .. } => "Append".into(),
        PlanNode::MergeAppend { .. } => "MergeAppend".into(),
        PlanNode::RecursiveUnion { .. } => "RecursiveUnion".into(),
        PlanNode::NestLoop { jointype, .. } => join("Nest", *jointype),
        PlanNode::MergeJoin { jointype, .. } => join("Merge", *jointype),
        PlanNode::HashJoin { jointype, .. } => join("Hash", *jointype),
        PlanNode::Material { .. } => "Material".into(),
        PlanNode::Memoize { .. } => "Memoize".into(),
        PlanNode::Sort { .. } => "Sort".into(),
        PlanNode::IncrementalSort { .. } => "IncrementalSort".into(),
        PlanNode::Group { .. } => "Group".into(),
        PlanNode::Agg(a) => match a.strategy {
            AggStrategy::Plain => "Agg".into(),
            AggStrategy::Sorted => "GroupAgg".into(),
            AggStrategy::Hashed => "HashAgg".into(),
            AggStrategy::Mixed => "MixedAgg".into(),
        },
        PlanNode::WindowAgg(_) => "Window".into(),
        PlanNode::Unique { .. } => "Unique".into(),
        PlanNode::SetOp { strategy: SetOpStrategy::Sorted, .. } => "SetOp".into(),
        PlanNode::SetOp { .. } => "HashSetOp".into(),
        PlanNode::LockRows { .. } => "LockRows".into(),
        PlanNode::Limit { .. } => "Limit".into(),
    })
}

fn join(method: &str, jointype: JoinType) -> String {
    match jointype {
        JoinType::Inner => method.to_owned(),
        other => format!("{method}{other:?}"),
    }
}

fn bitmap_text(host: &mut TestHost, bitmap: &BitmapNode) -> Result<String> {
    let mut list = |children: &[BitmapNode]| -> Result<String> {
        let mut out = Vec::new();
        for c in children {
            out.push(bitmap_text(host, c)?);
        }
        Ok(out.join(", "))
    };
    Ok(match bitmap {
        BitmapNode::And { children, .. } => format!("And({})", list(children)?),
        BitmapNode::Or { children, .. } => format!("Or({})", list(children)?),
        BitmapNode::Index { probe, .. } => relation(host, probe.indexid)?,
    })
}

fn relation(host: &mut TestHost, oid: ids::Oid) -> Result<String> {
    Ok(host.cat().relation(oid)?.class.relname.as_str().to_owned())
}
