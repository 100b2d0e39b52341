//! Grouping done partition by partition. Counterpart: planner.c
//! (`create_partitionwise_grouping_paths`).
//!
//! If the grouping expressions include the partition key, no group has rows of several partitions:
//! each partition is grouped on its own, and the groups of all partitions are appended.

use crate::join::JoinRel;
use crate::partappend::{AppendTarget, Child, is_dummy, order_below};
use crate::partwise::{Partitions, translated, translated_all};
use crate::path::{AppendRel, Path, PathKey, PathKind, PathSet};
use crate::selectivity::strip;
use crate::stage::Grouping;
use crate::state::{Planner, PlannerInfo};
use pgerror::Result;
use plan::expr::Expr;
use querytree::relids::Relids;
use std::rc::Rc;

/// The grouping of a level.
pub(crate) struct PartGrouping<'a> {
    /// The input expressions.
    pub input: &'a [Expr],
    pub stage: &'a Rc<Grouping>,
    /// The order of sorted grouping.
    pub order: Option<&'a [PathKey]>,
}

impl Planner<'_> {
    /// Adds the paths that group the partitions of the relation. Counterpart:
    /// `create_partitionwise_grouping_paths`.
    pub(crate) fn parts_grouping_paths(
        &mut self,
        root: &PlannerInfo,
        rel: &JoinRel,
        grouping: &PartGrouping<'_>,
        out: &mut PathSet,
    ) -> Result<()> {
        let stage = grouping.stage;
        if !self.host.costs().enable_partitionwise_aggregate || stage.sets.is_some() {
            return Ok(());
        }
        let Some(parts) = rel.parts.known() else { return Ok(()) };
        let translations = root.translations(&rel.relids);
        if !groups_by_key(parts, &translated_all(&translations, &stage.exprs)?) {
            return Ok(());
        }
        let mut grouped: Vec<(PathSet, &Relids)> = Vec::new();
        for child in parts.children.iter().flatten().filter(|c| !is_dummy(&c.paths)) {
            self.host.check_interrupts()?;
            let paths = stdx::stack::deep(|| self.grouped_child(root, child, grouping))?;
            grouped.push((paths, &child.relids));
        }
        let children: Vec<_> =
            grouped.iter().map(|(paths, relids)| Child { paths, relids }).collect();
        let want = translated_all(&translations, &stage.want)?;
        let width = self.row_width(root, &want)?;
        let target = AppendTarget { relids: &rel.relids, width, want: Some(want.into()) };
        self.append_children(root, &target, &children, out)
    }

    fn grouped_child(
        &mut self,
        root: &PlannerInfo,
        child: &JoinRel,
        grouping: &PartGrouping<'_>,
    ) -> Result<PathSet> {
        let translations = root.translations(&child.relids);
        let input: Rc<[Expr]> = translated_all(&translations, grouping.input)?.into();
        let width = self.row_width(root, &*input)?;
        let below = self.whole_paths(root, child)?;
        let mut paths = below.above();
        for p in below.unparameterized() {
            let kind =
                PathKind::Target { child: p.clone(), want: input.clone(), accepts_more: false };
            paths.add(Path { kind, width, ..Path::clone(p) });
        }
        let rows = paths.cheapest().map_or(1.0, |p| p.rows);
        let mut stage = stage_of_child(grouping.stage, &translations)?;
        self.count_grouping(root, &mut stage, rows)?;
        let order = match grouping.order {
            Some(order) => Some(order_below(root, order, &child.relids)?),
            None => None,
        };
        let mut out = self.grouping_paths(root, &paths, &Rc::new(stage), order.as_deref())?;
        self.parts_grouping_paths(root, child, grouping, &mut out)?;
        Ok(out)
    }
}

/// The grouping of a partition.
fn stage_of_child(stage: &Grouping, translations: &[Rc<AppendRel>]) -> Result<Grouping> {
    let mut targets = stage.targets.to_vec();
    for t in &mut targets {
        t.expr = translated(translations, &t.expr)?;
    }
    Ok(Grouping {
        clauses: stage.clauses.clone(),
        targets: targets.into(),
        exprs: translated_all(translations, &stage.exprs)?,
        want: translated_all(translations, &stage.want)?,
        having: translated_all(translations, &stage.having)?,
        sets: None,
        groups: 1.0,
    })
}

/// True if rows of different partitions are in different groups. Counterpart:
/// `group_by_has_partkey`.
fn groups_by_key(parts: &Partitions, groups: &[Expr]) -> bool {
    { parts.columns() }.all(|(column, collation)| {
        let mut same = groups.iter().filter(|e| column.exprs.contains(strip(e))).peekable();
        let differs = |e: &Expr| {
            collation.is_valid() && e.collation().is_valid() && e.collation() != collation
        };
        same.peek().is_some() && !same.any(differs)
    })
}
