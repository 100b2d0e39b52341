//! Aliases of the plan's range-table entries, made unique by a numeric suffix.
//!
//! Counterpart: `select_rtable_names_for_explain`.

use deparse::{PlanNames, unused};
use executor::Execution;
use pgerror::Result;
use plan::Plan;
use plan::node::{PlanNode, PlannedStmt};
use plan::query::RteKind;
use utility::host::CommandHost;

/// The aliases of the statement's range table.
///
/// `started`: the execution, which may have left out children of an Append.
pub fn of(
    host: &mut dyn CommandHost,
    stmt: &PlannedStmt,
    started: Option<&Execution>,
) -> Result<PlanNames> {
    // In the order of query levels, so that outer queries keep their aliases unchanged.
    let mut used = Vec::new();
    level(&stmt.plan_tree, started, &mut used);
    // Alternative subplans that were not chosen are ignored.
    let runs = plan::params::used_subplans(&stmt.plan_tree, &stmt.subplans);
    let running = stmt.subplans.iter().zip(runs).filter(|(_, runs)| *runs);
    running.for_each(|(p, _)| level(p, started, &mut used));
    let mut names: Vec<(String, Vec<String>)> = Vec::with_capacity(stmt.rtable.len());
    for rte in &stmt.rtable {
        let alias = rte.alias.as_ref().map(|a| a.aliasname.clone());
        let name = match (&rte.kind, alias) {
            (_, Some(alias)) => alias,
            (RteKind::Relation { relid, .. }, None) => {
                host.catalog().class(*relid)?.relname.to_string()
            }
            _ => rte.eref.aliasname.clone(),
        };
        let columns = match &rte.kind {
            RteKind::Relation { relid, .. } => {
                let given = rte.alias.as_ref().map(|a| a.colnames.clone()).unwrap_or_default();
                let desc = host.catalog().relation(*relid)?;
                let own =
                    desc.attributes.iter().enumerate().map(|(i, a)| {
                        given.get(i).cloned().unwrap_or_else(|| a.attname.to_string())
                    });
                own.collect()
            }
            _ => rte.eref.colnames.clone(),
        };
        names.push((name, columns));
    }
    let mut taken: Vec<String> = Vec::new();
    for &rti in &used {
        let Some((name, _)) = names.get_mut((rti - 1).max(0) as usize) else { continue };
        *name = unused(name, |name| !taken.iter().any(|t| t == name));
        taken.push(name.clone());
    }
    Ok(PlanNames::new(names, &stmt.append_relations))
}

/// Range-table indexes used by the nodes of one query level, ascending, then those of the levels
/// below.
fn level(plan: &Plan, started: Option<&Execution>, out: &mut Vec<i32>) {
    let (mut here, mut below) = (Vec::new(), Vec::new());
    collect(plan, started, &mut here, &mut below);
    here.sort_unstable();
    for rti in here {
        if !out.contains(&rti) {
            out.push(rti);
        }
    }
    below.into_iter().for_each(|p| level(p, started, out));
}

fn collect<'p>(
    plan: &'p Plan,
    started: Option<&Execution>,
    here: &mut Vec<i32>,
    below: &mut Vec<&'p Plan>,
) {
    match &plan.node {
        PlanNode::SubqueryScan { scanrelid, child } => {
            here.push(*scanrelid);
            below.push(child);
            return;
        }
        PlanNode::SeqScan { scanrelid }
        | PlanNode::SampleScan { scanrelid, .. }
        | PlanNode::IndexScan { scanrelid, .. }
        | PlanNode::IndexOnlyScan { scanrelid, .. }
        | PlanNode::BitmapHeapScan { scanrelid, .. }
        | PlanNode::TidScan { scanrelid, .. }
        | PlanNode::TidRangeScan { scanrelid, .. }
        | PlanNode::FunctionScan { scanrelid, .. }
        | PlanNode::ValuesScan { scanrelid, .. }
        | PlanNode::CteScan { scanrelid, .. }
        | PlanNode::WorkTableScan { scanrelid, .. }
        | PlanNode::NamedTuplestoreScan { scanrelid, .. } => here.push(*scanrelid),
        PlanNode::Append { relations, .. } | PlanNode::MergeAppend { relations, .. } => {
            here.extend(relations);
        }
        PlanNode::ModifyTable(m) => {
            here.push(m.nominal_relation);
            here.extend(&m.result_relations);
            here.extend(m.on_conflict.iter().map(|c| c.excl_rel_rti).filter(|rti| *rti > 0));
        }
        _ => {}
    }
    let built = started.and_then(|s| s.built_children(plan));
    for (i, child) in plan.children().into_iter().enumerate() {
        if built.is_none_or(|b| b.get(i).copied().unwrap_or(true)) {
            collect(child, started, here, below);
        }
    }
}
