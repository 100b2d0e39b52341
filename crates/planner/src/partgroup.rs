//! Grouping done partition by partition. Counterpart: planner.c
//! (`create_partitionwise_grouping_paths`).
//!
//! If the grouping expressions include the partition key, no group has rows of several partitions:
//! each partition is grouped on its own, and the groups of all partitions are appended. Else each
//! partition may be grouped into states of the aggregates, which a second step combines
//! (`AggSplit`).

use crate::join::JoinRel;
use crate::partappend::{AppendTarget, Child, is_dummy, order_below};
use crate::partwise::{Partitions, translated, translated_all};
use crate::selectivity::strip;
use crate::state::{Planner, PlannerInfo};
use ids::Oid;
use ids::builtin::ty;
use ids::code::AggKind;
use pgerror::{PgError, Result};
use plan::expr::{AggSplit, Aggref, Expr};
use querytree::path::{AppendRel, Path, PathKey, PathKind, PathSet};
use querytree::refs::targets_of;
use querytree::relids::Relids;
use querytree::stage::Grouping;
use querytree::vars::{push_unique, substitute};
use std::rc::Rc;

/// The grouping of a level.
pub(crate) struct PartGrouping<'a> {
    /// The input expressions.
    pub input: &'a [Expr],
    pub stage: &'a Rc<Grouping>,
    /// The first of two steps, if they are possible.
    pub partial: Option<&'a Grouping>,
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
        if !self.host.costs().enable_partitionwise.aggregates || stage.sets.is_some() {
            return Ok(());
        }
        let Some(parts) = rel.parts.known() else { return Ok(()) };
        let translations = root.translations(&rel.relids);
        let own = stage_of(stage, &translations)?;
        if groups_by_key(parts, &own.exprs) {
            return self.grouped_parts(root, rel, (grouping, stage), out);
        }
        let Some(partial) = grouping.partial else { return Ok(()) };
        let mut states = out.above();
        self.grouped_parts(root, rel, (grouping, partial), &mut states)?;
        if states.paths.is_empty() {
            return Ok(());
        }
        let mut last = Grouping { split: AggSplit::FinalDeserial, ..own };
        self.count_grouping(root, &mut last, rel.rows)?;
        let order = order_of_part(root, grouping, &rel.relids)?;
        for p in self.grouping_paths(root, &states, &Rc::new(last), order.as_deref())?.paths {
            out.add_ref(p);
        }
        Ok(())
    }

    /// Adds the paths that append the groups of the partitions; `stage` is the grouping of all
    /// partitions, or the first of two steps.
    fn grouped_parts(
        &mut self,
        root: &PlannerInfo,
        rel: &JoinRel,
        (grouping, stage): (&PartGrouping<'_>, &Grouping),
        out: &mut PathSet,
    ) -> Result<()> {
        let Some(parts) = rel.parts.known() else { return Ok(()) };
        let mut grouped: Vec<(PathSet, &Relids)> = Vec::new();
        for child in parts.children.iter().flatten().filter(|c| !is_dummy(&c.paths)) {
            self.host.check_interrupts()?;
            let paths = stdx::stack::deep(|| self.grouped_child(root, child, (grouping, stage)))?;
            grouped.push((paths, &child.relids));
        }
        let children: Vec<_> =
            grouped.iter().map(|(paths, relids)| Child { paths, relids }).collect();
        let want = translated_all(&root.translations(&rel.relids), &stage.want)?;
        let width = self.row_width(root, &want)?;
        let target = AppendTarget { relids: &rel.relids, width, want: Some(want.into()) };
        self.append_children(root, &target, &children, out)
    }

    fn grouped_child(
        &mut self,
        root: &PlannerInfo,
        child: &JoinRel,
        (grouping, stage): (&PartGrouping<'_>, &Grouping),
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
        let mut own = stage_of(stage, &translations)?;
        self.count_grouping(root, &mut own, rows)?;
        let order = order_of_part(root, grouping, &child.relids)?;
        let mut out = self.grouping_paths(root, &paths, &Rc::new(own), order.as_deref())?;
        match stage.split {
            AggSplit::InitialSerial => {
                self.grouped_parts(root, child, (grouping, stage), &mut out)?;
            }
            _ => self.parts_grouping_paths(root, child, grouping, &mut out)?,
        }
        Ok(out)
    }

    /// The first step of the grouping in two steps; `None` if an aggregate has no function that
    /// combines its states, or if its states cannot be columns. Counterpart: `can_partial_agg`,
    /// `make_partial_grouping_target`.
    pub(crate) fn partial_stage(&mut self, stage: &Grouping) -> Result<Option<Grouping>> {
        if !self.host.costs().enable_partitionwise.aggregates || stage.sets.is_some() {
            return Ok(None);
        }
        let mut want = stage.exprs.clone();
        for e in stage.want.iter().chain(&stage.having) {
            if !self.partial_inputs(e, &stage.exprs, &mut want)? {
                return Ok(None);
            }
        }
        Ok(Some(Grouping {
            clauses: stage.clauses.clone(),
            targets: stage.targets.clone(),
            exprs: stage.exprs.clone(),
            want,
            having: Vec::new(),
            sets: None,
            groups: 1.0,
            split: AggSplit::InitialSerial,
        }))
    }

    /// Adds what the second step needs for the expression. False if that is impossible.
    fn partial_inputs(&mut self, e: &Expr, groups: &[Expr], out: &mut Vec<Expr>) -> Result<bool> {
        if groups.contains(e) {
            return Ok(true);
        }
        match e {
            Expr::Var(v) if v.varlevelsup == 0 => push_unique(out, e),
            Expr::GroupingFunc(g) if g.agglevelsup == 0 => return Ok(false),
            Expr::Aggref(a) if a.agglevelsup == 0 => match self.first_step(a)? {
                Some(state) => push_unique(out, &state),
                None => return Ok(false),
            },
            _ => {
                let mut parts = Vec::new();
                plan::walk::each_child(e, &mut |c| parts.push(c));
                for part in parts {
                    if !stdx::stack::deep(|| self.partial_inputs(part, groups, out))? {
                        return Ok(false);
                    }
                }
            }
        }
        Ok(true)
    }

    /// The aggregate that returns the state.
    fn first_step(&mut self, a: &Aggref) -> Result<Option<Expr>> {
        let info = self.host.aggregate(a.aggfnoid)?;
        let state_type = match info.trans_type {
            declared if !is_polymorphic(declared) => declared,
            // The state is the result.
            _ if !info.functions[1].is_valid() => a.aggtype,
            _ => return Ok(None),
        };
        let plain = a.aggkind == AggKind::Normal
            && a.aggorder.is_empty()
            && a.aggdistinct.is_empty()
            && info.combine.is_valid()
            && state_type != ty::INTERNAL;
        if !plain {
            return Ok(None);
        }
        let mut state = a.clone();
        state.aggtype = state_type;
        state.aggsplit = AggSplit::InitialSerial;
        Ok(Some(Expr::Aggref(Box::new(state))))
    }

    /// Replaces the aggregates by those that combine the states of the first step.
    pub(crate) fn combine_states(&mut self, e: &mut Expr) -> Result<()> {
        let mut failure = None;
        substitute(e, &mut |e| {
            let Expr::Aggref(a) = e else { return None };
            if a.agglevelsup > 0 {
                return None;
            }
            match self.first_step(a) {
                Ok(Some(state)) => {
                    let mut whole = (**a).clone();
                    whole.args = targets_of(&[state]);
                    whole.aggsplit = AggSplit::FinalDeserial;
                    (whole.aggfilter, whole.aggstar) = (None, false);
                    return Some(Expr::Aggref(Box::new(whole)));
                }
                Ok(None) => {
                    failure = Some(PgError::internal("aggregate whose states cannot be combined"));
                }
                Err(e) => failure = Some(e),
            }
            None
        });
        failure.map_or(Ok(()), Err)
    }
}

/// The order of sorted grouping of these partitions' rows.
fn order_of_part(
    root: &PlannerInfo,
    grouping: &PartGrouping<'_>,
    relids: &Relids,
) -> Result<Option<Vec<PathKey>>> {
    grouping.order.map(|order| order_below(root, order, relids)).transpose()
}

/// True if the type of a state is that of the aggregate's arguments.
fn is_polymorphic(oid: Oid) -> bool {
    matches!(
        oid,
        ty::ANYELEMENT
            | ty::ANYARRAY
            | ty::ANYNONARRAY
            | ty::ANYENUM
            | ty::ANYRANGE
            | ty::ANYMULTIRANGE
            | ty::ANYCOMPATIBLE
            | ty::ANYCOMPATIBLEARRAY
            | ty::ANYCOMPATIBLENONARRAY
            | ty::ANYCOMPATIBLERANGE
            | ty::ANYCOMPATIBLEMULTIRANGE
    )
}

/// The grouping of partitions.
fn stage_of(stage: &Grouping, translations: &[Rc<AppendRel>]) -> Result<Grouping> {
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
        split: stage.split,
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
