//! Grouping: sorted or hashed, and HAVING; grouping sets are in `groupingsets`. Counterpart:
//! planner.c (create_grouping_paths), costsize.c (cost_agg).

use crate::joinpath::DISABLE_COST;
use crate::rel::clamp_rows;
use crate::state::{Planner, PlannerInfo};
use crate::width::table_size;
use ids::RelKind;
use ids::code::AggKind;
use pgerror::{PgError, Result, pg_err};
use plan::expr::{AggSplit, Aggref, CoercionForm, Expr, RelabelType, TargetEntry, Var};
use plan::node::{Agg, AggStrategy, Plan, PlanInfo, PlanNode};
use plan::query::{Query, RteKind, SortGroupClause};
use querytree::path::{Path, PathKey, PathKind, PathRef, PathSet, starts_with};
use querytree::refs::{ChildOutputs, CreatedPlan, output_of, targets_of};
use querytree::relids::Relids;
use querytree::stage::Grouping;
use querytree::vars::target_for;
use std::collections::BTreeSet;
use std::rc::Rc;

const PAGE: f64 = 8192.0;

impl Planner<'_> {
    /// The order of the rows of a sorted grouping; `None` if a column cannot be sorted.
    pub(crate) fn grouping_order(
        &mut self,
        root: &PlannerInfo,
        stage: &Grouping,
    ) -> Result<Option<Vec<PathKey>>> {
        let sortable = stage.clauses.iter().all(|g| g.sortop.is_valid());
        if stage.sets.is_some() || stage.exprs.is_empty() || !sortable {
            return Ok(None);
        }
        self.order_of(root, &stage.clauses, &stage.targets).map(Some)
    }

    /// The paths of the grouping above `paths`; `order` is that of [`Self::grouping_order`].
    /// Counterpart: `add_paths_to_grouping_rel`.
    pub(crate) fn grouping_paths(
        &mut self,
        root: &PlannerInfo,
        paths: &PathSet,
        stage: &Rc<Grouping>,
        order: Option<&[PathKey]>,
    ) -> Result<PathSet> {
        let mut out = paths.above();
        let Some(cheapest) = paths.cheapest() else { return Ok(out) };
        let aggregates = stage.want.iter().chain(&stage.having);
        let work = self.agg_work(aggregates)?;
        // Aggregates that sort their rows need memory per group: sorted input has one group at a
        // time.
        let may_hash = !has_sorting_aggs(&stage.want) && !has_sorting_aggs(&stage.having);
        if stage.sets.is_some() {
            out = self.grouping_sets_paths(root, paths, stage, &work, may_hash)?;
        } else if stage.exprs.is_empty() {
            out.add(self.agg_path(root, cheapest, stage, AggStrategy::Plain, &work)?);
        } else {
            if let Some(order) = order {
                for p in self.inputs_in_order(root, paths, order)? {
                    out.add(self.agg_path(root, &p, stage, AggStrategy::Sorted, &work)?);
                }
            }
            if stage.clauses.iter().all(|g| g.hashable) && may_hash {
                out.add(self.agg_path(root, cheapest, stage, AggStrategy::Hashed, &work)?);
            }
        }
        if out.paths.is_empty() {
            return Err(pg_err!(FEATURE_NOT_SUPPORTED, "could not implement GROUP BY").detail(
                "Some of the datatypes only support hashing, while others only support sorting.",
            ));
        }
        Ok(out)
    }

    /// The inputs of a sorted grouping: the paths that have the order, the cheapest one under a
    /// Sort, and those with a part of the order under an Incremental Sort.
    pub(crate) fn inputs_in_order(
        &mut self,
        root: &PlannerInfo,
        paths: &PathSet,
        order: &[PathKey],
    ) -> Result<Vec<PathRef>> {
        let mut out = Vec::new();
        let cheapest = paths.cheapest();
        for p in paths.unparameterized() {
            if starts_with(&p.order, order) {
                out.push(p.clone());
                continue;
            }
            if cheapest.is_some_and(|c| Rc::ptr_eq(p, c)) {
                out.push(Rc::new(self.sorted(p, order, None)));
            }
            if let Some(further) = self.sorted_further(root, p, order, None)? {
                out.push(Rc::new(further));
            }
        }
        Ok(out)
    }

    /// The costs of the aggregates in these expressions.
    fn agg_work<'e>(&mut self, exprs: impl Iterator<Item = &'e Expr>) -> Result<AggWork> {
        let mut aggs: Vec<&Aggref> = Vec::new();
        for e in exprs {
            collect_aggs(e, &mut aggs);
        }
        let unit = self.host.costs().cpu_operator;
        let mut work = AggWork { count: aggs.len(), ..AggWork::default() };
        for a in aggs {
            work.per_row += unit;
            for arg in &a.args {
                work.per_row += self.expr_cost(&arg.expr, unit)?;
            }
            if let Some(filter) = &a.aggfilter {
                work.per_row += self.expr_cost(filter, unit)?;
            }
            let info = self.host.aggregate(a.aggfnoid)?;
            let by_value = match info.trans_type.valid() {
                Some(ty) => self.host.type_info(ty)?.by_val,
                None => true,
            };
            if !by_value {
                work.state_bytes += f64::from(info.state_width.max(0)) + 16.0;
            }
        }
        Ok(work)
    }

    /// A path with an Agg node without grouping sets above `child`. Counterpart:
    /// `create_agg_path`.
    fn agg_path(
        &mut self,
        root: &PlannerInfo,
        child: &PathRef,
        stage: &Rc<Grouping>,
        strategy: AggStrategy,
        work: &AggWork,
    ) -> Result<Path> {
        let size = (stage.exprs.len(), stage.groups);
        let cost = self.agg_cost(root, stage, strategy, &AggInput::of(child), size, work)?;
        let order = match strategy {
            AggStrategy::Sorted => child.order.clone(),
            _ => Vec::new(),
        };
        Ok(Path {
            kind: PathKind::Group {
                child: child.clone(),
                stage: stage.clone(),
                strategy,
                phases: Rc::new([]),
            },
            relids: child.relids.clone(),
            rows: clamp_rows(cost.rows),
            width: self.row_width(root, &stage.want)?,
            startup: cost.startup,
            total: cost.total,
            order,
            outer: Relids::new(),
        })
    }

    /// The cost of an aggregation of the input by `columns` columns into `groups` groups.
    /// Counterpart: `cost_agg`.
    pub(crate) fn agg_cost(
        &mut self,
        root: &PlannerInfo,
        stage: &Grouping,
        strategy: AggStrategy,
        input: &AggInput,
        (columns, groups): (usize, f64),
        work: &AggWork,
    ) -> Result<AggCost> {
        let c = self.costs();
        let transitions = (work.per_row + c.cpu_operator * columns as f64) * input.rows;
        let output = c.cpu_tuple * groups;
        let off = if c.enable_hashagg { 0.0 } else { DISABLE_COST };
        let spilled = match strategy {
            AggStrategy::Hashed | AggStrategy::Mixed => self.hash_spill_cost(input, groups, work),
            _ => 0.0,
        };
        let (mut startup, mut total) = match strategy {
            AggStrategy::Plain => {
                (input.total + transitions, input.total + transitions + c.cpu_tuple)
            }
            // A Group node computes nothing.
            AggStrategy::Sorted if work.count == 0 && stage.sets.is_none() => {
                (input.startup, input.total + transitions)
            }
            AggStrategy::Sorted => (input.startup, input.total + transitions + output),
            // The first groups are returned before all rows are hashed.
            AggStrategy::Mixed => {
                (input.startup + spilled + off, input.total + transitions + output + spilled + off)
            }
            AggStrategy::Hashed => {
                let startup = input.total + transitions + spilled + off;
                (startup, startup + output)
            }
        };
        let mut rows = groups;
        if !stage.having.is_empty() {
            let cost = self.quals_cost(&stage.having)?;
            rows = clamp_rows(groups * self.selectivity_all(root, &stage.having)?);
            total += groups * cost;
            startup += if strategy == AggStrategy::Plain { cost } else { 0.0 };
        }
        Ok(AggCost { startup, total, rows })
    }

    /// Cost of writing and reading the rows that spill from a hash table of groups.
    pub(crate) fn hash_spill_cost(&self, child: &AggInput, groups: f64, work: &AggWork) -> f64 {
        let c = self.host.costs();
        let entry = work.entry_bytes(child.width);
        if groups * entry <= c.hash_mem {
            return 0.0;
        }
        // Partitions of the spilled rows: 1.5 times as many as needed, each with a write buffer.
        let most = ((c.hash_mem * 0.25 - PAGE) / PAGE).max(4.0);
        let wanted = 1.0 + 1.5 * groups * entry / c.hash_mem;
        let partitions = wanted.min(most).clamp(4.0, 1024.0).log2().ceil().exp2();
        let buffers = PAGE + PAGE * partitions;
        let memory = match c.hash_mem > 4.0 * buffers {
            true => c.hash_mem - buffers,
            false => c.hash_mem * 0.75,
        };
        let batches = (groups * entry / memory).ceil().max(1.0);
        let depth = (batches.ln() / partitions.max(2.0).ln()).ceil();
        let pages = table_size(child.rows, child.width) / PAGE * depth * 2.0;
        pages * (c.random_page + c.seq_page) + depth * child.rows * 2.0 * c.cpu_tuple
    }

    /// Removes columns from GROUP BY that are functionally dependent: those of a table whose
    /// primary key is in GROUP BY. Counterpart: `remove_useless_groupby_columns`.
    pub(crate) fn remove_useless_keys(&mut self, query: &mut Query) -> Result<()> {
        if query.group_clause.len() < 2 || !query.grouping_sets.is_empty() {
            return Ok(());
        }
        // The table and column of each key; `None` for expressions.
        let mut columns = Vec::with_capacity(query.group_clause.len());
        for clause in &query.group_clause {
            columns.push(match target_for(clause, &query.target_list)? {
                Expr::Var(v) if v.varlevelsup == 0 && v.varattno > 0 => Some((v.varno, v.varattno)),
                _ => None,
            });
        }
        let tables: BTreeSet<i32> = columns.iter().flatten().map(|c| c.0).collect();
        for rti in tables {
            // The primary key of an inheritance parent does not cover its children.
            let RteKind::Relation { relid, relkind: RelKind::Table, .. } = query.rte(rti).kind
            else {
                continue;
            };
            if query.rte(rti).inh {
                continue;
            }
            let table = self.host.relation(relid)?;
            let keys = table.indexes.iter().find(|i| i.primary && i.immediate).map(|i| &i.keys);
            let Some(keys) = keys else { continue };
            let of_key = |c: &Option<(i32, ids::AttrNo)>| {
                c.is_some_and(|(r, n)| r == rti && keys.iter().any(|k| k.attno == n))
            };
            if !keys.iter().all(|k| columns.contains(&Some((rti, k.attno)))) {
                continue;
            }
            let kept: Vec<bool> = columns
                .iter()
                .map(|c| of_key(c) || c.is_none_or(|(other, _)| other != rti))
                .collect();
            let mut keep = kept.iter();
            query.group_clause.retain(|_| keep.next().is_none_or(|k| *k));
            let mut keep = kept.iter();
            columns.retain(|_| keep.next().is_none_or(|k| *k));
        }
        Ok(())
    }

    /// Orders the columns of GROUP BY like those of ORDER BY as far as possible, so that one sort
    /// order satisfies both. Counterpart: `preprocess_groupclause`.
    pub(crate) fn match_sort_order(&self, query: &mut Query) {
        if !query.grouping_sets.is_empty() {
            return;
        }
        let mut matched = Vec::new();
        for s in &query.sort_clause {
            let same = |g: &&SortGroupClause| g.tle_sort_group_ref == s.tle_sort_group_ref;
            match query.group_clause.iter().find(same) {
                Some(g) => matched.push(g.clone()),
                None => break,
            }
        }
        let partial = matched.len() < query.sort_clause.len();
        let known = matched.len();
        for g in &query.group_clause {
            let same = |m: &SortGroupClause| m.tle_sort_group_ref == g.tle_sort_group_ref;
            if matched[..known].iter().any(same) {
                continue;
            }
            if partial || !g.sortop.is_valid() {
                return;
            }
            matched.push(g.clone());
        }
        query.group_clause = matched;
    }

    /// Estimated number of groups.
    pub(crate) fn count_grouping(
        &mut self,
        root: &PlannerInfo,
        stage: &mut Grouping,
        rows: f64,
    ) -> Result<()> {
        stage.groups = match stage.exprs.is_empty() {
            true => 1.0,
            false => self.group_count(root, &stage.exprs, rows)?,
        };
        let Some(mut sets) = stage.sets.take() else { return Ok(()) };
        for set in sets.all_mut() {
            let mut exprs = Vec::with_capacity(set.refs.len());
            for r in &set.refs {
                exprs.push(stage.key(*r)?.clone());
            }
            set.groups = if exprs.is_empty() { 1.0 } else { self.group_count(root, &exprs, rows)? };
        }
        stage.groups = sets.all_mut().map(|s| s.groups).sum();
        stage.sets = Some(sets);
        Ok(())
    }

    /// Creates the Agg node of a path.
    pub(crate) fn create_group(
        &mut self,
        root: &mut PlannerInfo,
        path: &Path,
        child: &Path,
        stage: &Grouping,
    ) -> Result<CreatedPlan> {
        let PathKind::Group { strategy, phases, .. } = &path.kind else {
            return Err(PgError::internal("path of a grouping expected"));
        };
        let made = self.create(root, child, &[])?;
        let below = ChildOutputs::one(&made.output);
        let keys = self.group_keys(&stage.clauses, &stage.targets, &made.output)?;
        let output = targets_of(&stage.want);
        let (mut computed, mut having) = (output.clone(), stage.having.clone());
        if stage.split == AggSplit::FinalDeserial {
            let exprs = computed.iter_mut().map(|t| &mut t.expr).chain(&mut having);
            for e in exprs {
                self.combine_states(e)?;
            }
        }
        let mut target_list = below.fix_targets(&computed)?;
        let mut qual = below.fix_all(&having)?;
        for e in target_list.iter_mut().map(|t| &mut t.expr).chain(&mut qual) {
            name_grouping_columns(e, &|r| {
                let key = stage.key(*r).ok()?;
                made.output.iter().find(|t| t.expr == *key)
            });
        }
        self.number_aggs(&mut target_list, &mut qual)?;
        let info = PlanInfo { target_list, qual, ..path.info() };
        if *strategy == AggStrategy::Sorted && !stage.has_aggs() && phases.is_empty() {
            let node = PlanNode::Group { child: Box::new(made.plan), keys };
            return Ok(CreatedPlan { plan: Plan { info, node }, output });
        }
        let mut chain = self.create_phases(stage, phases, &made.output)?;
        let (grouping_sets, num_groups) = match chain.is_empty() {
            true => (Vec::new(), stage.groups),
            false => {
                let first = chain.remove(0);
                (first.grouping_sets, first.num_groups)
            }
        };
        let node = PlanNode::Agg(Box::new(Agg {
            child: Box::new(made.plan),
            strategy: *strategy,
            split: stage.split,
            keys,
            num_groups,
            grouping_sets,
            chain,
        }));
        Ok(CreatedPlan { plan: Plan { info, node }, output })
    }

    /// Numbers the aggregates: equal ones have the same number, except volatile ones. Counterpart:
    /// prepagg.c.
    fn number_aggs(&mut self, targets: &mut [TargetEntry], qual: &mut [Expr]) -> Result<()> {
        let mut seen: Vec<(Expr, bool)> = Vec::new();
        let mut failure = None;
        let mut visit = |e: &mut Expr| {
            plan::walk::deep_expr_mut(e, 0, &mut |e, _| {
                if !matches!(e, Expr::Aggref(_)) {
                    return true;
                }
                let volatile = match eval::volatility(e, self.host) {
                    Ok(v) => v == eval::Volatility::Volatile,
                    Err(e) => {
                        failure = Some(e);
                        false
                    }
                };
                let same = |s: &(Expr, bool)| !volatile && !s.1 && s.0 == *e;
                let no = seen.iter().position(same).unwrap_or_else(|| {
                    seen.push((e.clone(), volatile));
                    seen.len() - 1
                });
                if let Expr::Aggref(a) = e {
                    (a.aggno, a.aggtransno) = (no as i32, no as i32);
                }
                false
            });
        };
        targets.iter_mut().for_each(|t| visit(&mut t.expr));
        qual.iter_mut().for_each(visit);
        failure.map_or(Ok(()), Err)
    }
}

/// True if there is an aggregate with ORDER BY, DISTINCT or WITHIN GROUP.
pub(crate) fn has_sorting_aggs(exprs: &[Expr]) -> bool {
    let sorts = |e: &Expr| {
        matches!(e, Expr::Aggref(a)
            if !a.aggorder.is_empty() || !a.aggdistinct.is_empty() || a.aggkind != AggKind::Normal)
    };
    exprs.iter().any(|e| plan::walk::any(e, &mut |x| sorts(x)))
}

/// Costs of the aggregates of a grouping.
#[derive(Default)]
pub(crate) struct AggWork {
    count: usize,
    /// Cost of the transitions for each input row.
    per_row: f64,
    /// Size of the transition states of a group that are not passed by value.
    state_bytes: f64,
}

/// The input of an aggregation.
pub(crate) struct AggInput {
    pub startup: f64,
    pub total: f64,
    pub rows: f64,
    pub width: i32,
}

impl AggInput {
    pub(crate) fn of(path: &Path) -> AggInput {
        AggInput { startup: path.startup, total: path.total, rows: path.rows, width: path.width }
    }
}

/// Cost of an aggregation, and the estimated number of rows that HAVING selects.
pub(crate) struct AggCost {
    pub startup: f64,
    pub total: f64,
    pub rows: f64,
}

impl AggWork {
    /// Size of an entry of the hash table: bucket, key columns of this width and states.
    pub(crate) fn entry_bytes(&self, width: i32) -> f64 {
        const BUCKET: f64 = 24.0;
        const CHUNK_HEADER: f64 = 16.0;
        const TUPLE_HEADER: f64 = 16.0;
        const STATE: f64 = 16.0;
        let states = match self.count {
            0 => 0.0,
            n => CHUNK_HEADER + STATE * n as f64,
        };
        BUCKET + CHUNK_HEADER + TUPLE_HEADER + f64::from(width) + states + self.state_bytes
    }
}

fn collect_aggs<'e>(e: &'e Expr, out: &mut Vec<&'e Aggref>) {
    match e {
        Expr::Aggref(a) if !out.contains(&&**a) => out.push(a),
        Expr::Aggref(_) => {}
        _ => plan::walk::each_child(e, &mut |c| collect_aggs(c, out)),
    }
}

/// Replaces the arguments of GROUPING by the input columns of their grouping expressions.
fn name_grouping_columns<'t>(e: &mut Expr, column: &dyn Fn(&u32) -> Option<&'t TargetEntry>) {
    if let Expr::GroupingFunc(g) = e {
        for (arg, r) in g.args.iter_mut().zip(&g.refs) {
            if let Some(t) = column(r) {
                *arg = output_of(t, Var::OUTER);
            }
        }
        return;
    }
    plan::walk::each_child_mut(e, &mut |c| name_grouping_columns(c, column));
}

/// Wraps grouping expressions so that all are different and none is a constant: with grouping sets,
/// a key is NULL in rows of sets without it, so each needs its own input column. The wrapper is a
/// RelabelType to the same type, which EXPLAIN does not show.
pub(crate) fn make_keys_distinct(query: &mut Query) {
    if query.grouping_sets.is_empty() {
        return;
    }
    let mut seen: Vec<Expr> = Vec::new();
    for clause in &query.group_clause {
        let is_key = |t: &&mut TargetEntry| t.ressortgroupref == clause.tle_sort_group_ref;
        let Some(target) = query.target_list.iter_mut().find(is_key) else { continue };
        let e = &mut target.expr;
        while matches!(e, Expr::Const(_) | Expr::Param(_)) || seen.contains(e) {
            *e = Expr::Relabel(Box::new(RelabelType {
                resulttype: e.type_oid(),
                resulttypmod: e.typmod(),
                resultcollid: e.collation(),
                relabelformat: CoercionForm::ImplicitCast,
                location: e.location(),
                arg: e.clone(),
            }));
        }
        seen.push(e.clone());
    }
}
