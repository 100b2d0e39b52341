//! Paths and plans of grouping sets: rollups over sorted input, each further one with a sort of its
//! own, and hashed sets. Counterpart: planner.c (`preprocess_grouping_sets`,
//! `consider_groupingsets_paths`), createplan.c (`create_groupingsets_plan`), knapsack.c.

use crate::group::{AggInput, AggWork};
use crate::rel::clamp_rows;
use crate::state::{Planner, PlannerInfo};
use pgerror::{PgError, Result, pg_err};
use plan::expr::TargetEntry;
use plan::node::{AggPhase, AggStrategy, SortKeys};
use plan::query::{Query, SortGroupClause};
use querytree::path::{Path, PathKey, PathKind, PathRef, PathSet, starts_with};
use querytree::relids::Relids;
use querytree::rollup::{SetRefs, as_prefixes, expand, rollups};
use querytree::stage::{CountedSet, Grouping, GroupingSets, Rollup};
use std::rc::Rc;

impl Planner<'_> {
    /// The level's grouping sets as rollups; `None` without GROUPING SETS, ROLLUP and CUBE.
    pub(crate) fn grouping_sets(&self, query: &Query) -> Result<Option<GroupingSets>> {
        if query.grouping_sets.is_empty() {
            return Ok(None);
        }
        let clause = |r: &u32| {
            let is_it = |c: &&SortGroupClause| c.tle_sort_group_ref == *r;
            query.group_clause.iter().find(is_it)
        };
        let sorts =
            |set: &SetRefs| set.iter().all(|r| clause(r).is_some_and(|c| c.sortop.is_valid()));
        let hashes = |set: &SetRefs| set.iter().all(|r| clause(r).is_some_and(|c| c.hashable));
        let all = expand(&query.grouping_sets, query.group_distinct)?;
        let (sortable, unsortable): (Vec<_>, Vec<_>) = all.into_iter().partition(sorts);
        if !unsortable.iter().all(hashes) {
            return Err(pg_err!(FEATURE_NOT_SUPPORTED, "could not implement GROUP BY").detail(
                "Some of the datatypes only support hashing, while others only support sorting.",
            ));
        }
        let chains = match sortable.is_empty() {
            true => Vec::new(),
            false => rollups(sortable, &|| self.host.check_interrupts())?,
        };
        let sort_refs: Vec<u32> = match chains.len() {
            1 => query.sort_clause.iter().map(|c| c.tle_sort_group_ref).collect(),
            _ => Vec::new(),
        };
        let counted = |refs: SetRefs| CountedSet { refs, groups: 0.0 };
        let rollup = |sets: Vec<SetRefs>| {
            let sets = as_prefixes(sets, &sort_refs);
            // The empty set cannot be hashed.
            let hashable = sets.first().is_some_and(|s| !s.is_empty() && hashes(s));
            Rollup { sets: sets.into_iter().map(counted).collect(), hashable, hashed: false }
        };
        Ok(Some(GroupingSets {
            rollups: chains.into_iter().map(rollup).collect(),
            unsortable: unsortable.into_iter().map(counted).collect(),
        }))
    }

    /// Adds the paths of a grouping with grouping sets. `may_hash`: no aggregate needs its rows in
    /// an order.
    pub(crate) fn grouping_sets_paths(
        &mut self,
        root: &PlannerInfo,
        paths: &PathSet,
        stage: &Rc<Grouping>,
        work: &AggWork,
        may_hash: bool,
    ) -> Result<PathSet> {
        let mut out = paths.above();
        let (Some(cheapest), Some(sets)) = (paths.cheapest(), &stage.sets) else { return Ok(out) };
        let may_hash = may_hash && sets.any_hashable();
        let order = self.first_rollup_order(root, stage, sets)?;
        if !sets.rollups.is_empty() {
            for p in self.inputs_in_order(root, paths, &order)? {
                for (strategy, phases) in self.phases_over_sorted(&p, sets, work, may_hash) {
                    out.add(self.grouping_sets_path(root, &p, stage, (strategy, phases), work)?);
                }
            }
        }
        if may_hash {
            let sorted = starts_with(&cheapest.order, &order);
            if let Some(phases) = self.phases_hashed(cheapest, sets, work, sorted) {
                let mixed = (AggStrategy::Mixed, phases);
                out.add(self.grouping_sets_path(root, cheapest, stage, mixed, work)?);
            }
        }
        Ok(out)
    }

    /// The sort order of the first rollup.
    fn first_rollup_order(
        &mut self,
        root: &PlannerInfo,
        stage: &Grouping,
        sets: &GroupingSets,
    ) -> Result<Vec<PathKey>> {
        let Some(largest) = sets.rollups.first().and_then(|r| r.sets.first()) else {
            return Ok(Vec::new());
        };
        let mut clauses = Vec::with_capacity(largest.refs.len());
        for r in &largest.refs {
            clauses.push(stage.clause(*r)?.clone());
        }
        self.order_of(root, &clauses, &stage.targets)
    }

    /// The possible lists of phases over input in the order of the first rollup: with as many
    /// hashed sets as fit in memory, and without.
    fn phases_over_sorted(
        &self,
        input: &Path,
        sets: &GroupingSets,
        work: &AggWork,
        may_hash: bool,
    ) -> Vec<(AggStrategy, Vec<Rollup>)> {
        let mut out = Vec::new();
        if may_hash {
            let (hashed, sorted) = self.choose_hashed(input, sets, work);
            if !hashed.is_empty() {
                // The hashed sets come first, in reverse order.
                let mut phases: Vec<Rollup> =
                    hashed.into_iter().rev().map(Rollup::hashed).collect();
                phases.extend(sorted);
                out.push((AggStrategy::Mixed, phases));
            }
        }
        if sets.unsortable.is_empty() {
            out.push((AggStrategy::Sorted, sets.rollups.clone()));
        }
        out
    }

    /// Divides the sets into hashed ones and rollups. Each rollup that is hashed saves a sort; as
    /// many are chosen as fit in memory. The first rollup needs no sort.
    fn choose_hashed(
        &self,
        input: &Path,
        sets: &GroupingSets,
        work: &AggWork,
    ) -> (Vec<CountedSet>, Vec<Rollup>) {
        let size = |groups: f64| groups * work.entry_bytes(input.width);
        let memory =
            self.host.costs().hash_mem - size(sets.unsortable.iter().map(|s| s.groups).sum());
        let mut hashed = sets.unsortable.clone();
        let count = sets.rollups.len();
        if memory <= 0.0 || count < 2 {
            return (hashed, sets.rollups.clone());
        }
        let scale = (memory / (20.0 * count as f64)).max(1.0);
        let capacity = (memory / scale).floor() as usize;
        let candidates: Vec<usize> = (1..count).filter(|&i| sets.rollups[i].hashable).collect();
        let weight = |i: &usize| (size(sets.rollups[*i].groups()) / scale).floor();
        let weights: Vec<usize> =
            candidates.iter().map(|i| weight(i).min(capacity as f64 + 1.0) as usize).collect();
        let chosen = most_items_within(capacity, &weights);
        let mut sorted = Vec::new();
        for (i, rollup) in sets.rollups.iter().enumerate() {
            match candidates.iter().position(|c| *c == i) {
                Some(at) if chosen.contains(&at) => hashed.extend(rollup.sets.iter().cloned()),
                _ => sorted.push(rollup.clone()),
            }
        }
        (hashed, sorted)
    }

    /// All sets hashed, except empty ones and, if the input is `sorted` accordingly, the first
    /// rollup. `None` if they do not fit in memory, or a set cannot be hashed.
    fn phases_hashed(
        &self,
        input: &Path,
        sets: &GroupingSets,
        work: &AggWork,
        sorted: bool,
    ) -> Option<Vec<Rollup>> {
        let (first, others) = match sets.rollups.split_first() {
            Some((first, others)) if sorted => (Some(first), others),
            _ => (None, sets.rollups.as_slice()),
        };
        let all = sets.unsortable.iter().chain(others.iter().flat_map(|r| &r.sets));
        let groups: f64 = all.clone().map(|s| s.groups).sum();
        let too_large = groups * work.entry_bytes(input.width) > self.host.costs().hash_mem;
        if (too_large && !sets.rollups.is_empty()) || !others.iter().all(|r| r.hashable) {
            return None;
        }
        let (empty, full): (Vec<_>, Vec<_>) = all.cloned().partition(|s| s.refs.is_empty());
        if full.is_empty() {
            return None;
        }
        let mut phases: Vec<Rollup> = full.into_iter().map(Rollup::hashed).collect();
        match first {
            Some(first) => phases.push(first.clone()),
            None if !empty.is_empty() => {
                phases.push(Rollup { sets: empty, hashable: false, hashed: false });
            }
            None => {}
        }
        Some(phases)
    }

    /// A path with an Agg node of these phases above `child`. Counterpart:
    /// `create_groupingsets_path`.
    fn grouping_sets_path(
        &mut self,
        root: &PlannerInfo,
        child: &PathRef,
        stage: &Rc<Grouping>,
        (strategy, phases): (AggStrategy, Vec<Rollup>),
        work: &AggWork,
    ) -> Result<Path> {
        let only = phases.len() == 1;
        let strategy = match strategy {
            AggStrategy::Sorted if only && phases[0].columns() == 0 => AggStrategy::Plain,
            AggStrategy::Mixed if phases.iter().all(|p| p.hashed) => AggStrategy::Hashed,
            other => other,
        };
        let (mut startup, mut total, mut rows) = (0.0, 0.0, 0.0);
        // The first sorted phase reads the input in its order.
        let mut needs_sort = false;
        for (i, phase) in phases.iter().enumerate() {
            let mut input = AggInput::of(child);
            let mut method = match phase.hashed {
                true => AggStrategy::Hashed,
                false => AggStrategy::Sorted,
            };
            if i == 0 {
                method = strategy;
            } else if phase.hashed || !needs_sort {
                (input.startup, input.total) = (0.0, 0.0);
            } else {
                (input.startup, input.total) = self.sort_cost(0.0, child.rows, child.width);
            }
            needs_sort |= !phase.hashed;
            let size = (phase.columns(), phase.groups());
            let cost = self.agg_cost(root, stage, method, &input, size, work)?;
            if i == 0 {
                startup = cost.startup;
            }
            total += cost.total;
            rows += cost.rows;
        }
        // The NULLs of smaller sets keep the order, but not the equality of columns of a class.
        let order = match strategy {
            AggStrategy::Sorted if only => {
                let keys = child.order.iter().take(phases[0].columns());
                keys.map(|k| PathKey { class: None, ..k.clone() }).collect()
            }
            _ => Vec::new(),
        };
        Ok(Path {
            kind: PathKind::Group {
                child: child.clone(),
                stage: stage.clone(),
                strategy,
                phases: phases.into(),
            },
            relids: child.relids.clone(),
            rows: clamp_rows(rows),
            width: self.row_width(root, &stage.want)?,
            startup,
            total,
            order,
            outer: Relids::new(),
        })
    }

    /// Creates the phases of an Agg node; `output` are the columns of its child.
    pub(crate) fn create_phases(
        &mut self,
        stage: &Grouping,
        phases: &[Rollup],
        output: &[TargetEntry],
    ) -> Result<Vec<AggPhase>> {
        let mut out = Vec::with_capacity(phases.len());
        let mut needs_sort = false;
        for phase in phases {
            let mut grouping_sets = Vec::with_capacity(phase.sets.len());
            for set in &phase.sets {
                let mut cols = Vec::with_capacity(set.refs.len());
                for r in &set.refs {
                    cols.push(key_column(stage, *r, output)?.resno);
                }
                grouping_sets.push(cols);
            }
            let sort = match needs_sort && !phase.hashed {
                true => Some(self.rollup_sort(stage, phase, output)?),
                false => None,
            };
            needs_sort |= !phase.hashed;
            out.push(AggPhase {
                strategy: match (phase.hashed, phase.columns()) {
                    (true, _) => AggStrategy::Hashed,
                    (false, 0) => AggStrategy::Plain,
                    (false, _) => AggStrategy::Sorted,
                },
                sort,
                grouping_sets,
                num_groups: phase.groups(),
            });
        }
        Ok(out)
    }

    fn rollup_sort(
        &mut self,
        stage: &Grouping,
        phase: &Rollup,
        output: &[TargetEntry],
    ) -> Result<SortKeys> {
        let mut keys = SortKeys::default();
        for r in phase.sets.first().iter().flat_map(|largest| &largest.refs) {
            let clause = stage.clause(*r)?;
            let column = key_column(stage, *r, output)?;
            keys.cols.push(column.resno);
            keys.operators.push(clause.sortop);
            keys.collations.push(column.expr.collation());
            keys.nulls_first.push(clause.nulls_first);
        }
        Ok(keys)
    }
}

/// The column of the Agg node's child for a grouping clause.
fn key_column<'t>(stage: &Grouping, r: u32, output: &'t [TargetEntry]) -> Result<&'t TargetEntry> {
    let key = stage.key(r)?;
    let column = output.iter().find(|t| t.expr == *key);
    column.ok_or_else(|| PgError::internal("grouping column not found in target list"))
}

/// Chooses as many items as possible with a sum of weights of at most `capacity`. Returns their
/// indexes. Among choices of equal size it prefers later items.
fn most_items_within(capacity: usize, weights: &[usize]) -> Vec<usize> {
    let rooms = capacity + 1;
    let mut most = vec![0_usize; rooms];
    // For each item and capacity: true if the best choice of the items up to it contains it.
    let mut taken = vec![false; rooms * weights.len()];
    for (item, &weight) in weights.iter().enumerate() {
        for room in (weight..=capacity).rev() {
            let with = most[room - weight] + 1;
            if most[room] <= with {
                most[room] = with;
                taken[item * rooms + room] = true;
            }
        }
    }
    let (mut room, mut out) = (capacity, Vec::new());
    for (item, &weight) in weights.iter().enumerate().rev() {
        if taken[item * rooms + room] {
            out.push(item);
            room -= weight;
        }
    }
    out.reverse();
    out
}

#[cfg(test)]
mod tests {
    use super::most_items_within;

    #[test]
    fn the_lightest_items_are_chosen() {
        assert_eq!(most_items_within(10, &[6, 5, 4]), [1, 2]);
        assert_eq!(most_items_within(3, &[4, 5]), Vec::<usize>::new());
        assert_eq!(most_items_within(10, &[0, 11, 10]), [0, 2]);
    }
}
