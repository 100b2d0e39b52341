//! Grouping: sorted or hashed, with grouping sets and HAVING. Counterpart: planner.c
//! (create_grouping_paths), costsize.c (cost_agg).

use crate::path::{Path, PathKind, PathRef, PathSet, starts_with};
use crate::refs::{ChildOutputs, CreatedPlan, output_of, targets_of};
use crate::rel::clamp_rows;
use crate::relids::Relids;
use crate::stage::Grouping;
use crate::state::{Planner, PlannerInfo};
use crate::vars::target_for;
use crate::width::table_size;
use ids::RelKind;
use ids::code::AggKind;
use pgerror::{PgError, Result, pg_err};
use plan::expr::{AggSplit, Aggref, CoercionForm, Expr, RelabelType, TargetEntry, Var};
use plan::node::{Agg, AggStrategy, Plan, PlanInfo, PlanNode};
use plan::query::{GroupingSet, GroupingSetKind, Query, RteKind, SortGroupClause};
use std::collections::{BTreeSet, HashSet};
use std::rc::Rc;

const PAGE: f64 = 8192.0;

impl Planner<'_> {
    /// The paths of the grouping above these. Counterpart: `add_paths_to_grouping_rel`.
    pub(crate) fn grouping_paths(
        &mut self,
        root: &PlannerInfo,
        paths: &PathSet,
        stage: &Rc<Grouping>,
    ) -> Result<PathSet> {
        let mut out = paths.above();
        let Some(cheapest) = paths.cheapest() else { return Ok(out) };
        let aggregates = stage.want.iter().chain(&stage.having);
        let work = self.agg_work(aggregates)?;
        let made = |planner: &mut Self, child: &PathRef, strategy| -> Result<Path> {
            let path = planner.agg_path(root, child, stage, strategy, &work)?;
            Ok(path)
        };
        if !stage.sets.is_empty() {
            if !stage.clauses.iter().all(|g| g.hashable) {
                return Err(PgError::unsupported(
                    "GROUPING SETS over a type that cannot be hashed",
                ));
            }
            out.add(made(self, cheapest, AggStrategy::Mixed)?);
            return Ok(out);
        }
        if stage.exprs.is_empty() {
            out.add(made(self, cheapest, AggStrategy::Plain)?);
            return Ok(out);
        }
        if stage.clauses.iter().all(|g| g.sortop.is_valid()) {
            let order = self.order_of(root, &stage.clauses, &stage.targets)?;
            for p in paths.unparameterized() {
                if starts_with(&p.order, &order) {
                    out.add(made(self, p, AggStrategy::Sorted)?);
                    continue;
                }
                if Rc::ptr_eq(p, cheapest) {
                    let sorted = Rc::new(self.sorted(p, &order, None));
                    out.add(made(self, &sorted, AggStrategy::Sorted)?);
                }
                if let Some(further) = self.sorted_further(root, p, &order, None)? {
                    out.add(made(self, &Rc::new(further), AggStrategy::Sorted)?);
                }
            }
        }
        // Aggregates that sort their rows need memory per group: sorted input has one group at a
        // time.
        let keeps_order = has_sorting_aggs(&stage.want) || has_sorting_aggs(&stage.having);
        if stage.clauses.iter().all(|g| g.hashable) && !keeps_order {
            out.add(made(self, cheapest, AggStrategy::Hashed)?);
        }
        if out.paths.is_empty() {
            return Err(pg_err!(FEATURE_NOT_SUPPORTED, "could not implement GROUP BY").detail(
                "Some of the datatypes only support hashing, while others only support sorting.",
            ));
        }
        Ok(out)
    }

    /// The work of the aggregates in these expressions.
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

    /// The path under an Agg node. Counterpart: `cost_agg`, `create_agg_path`.
    fn agg_path(
        &mut self,
        root: &PlannerInfo,
        child: &PathRef,
        stage: &Rc<Grouping>,
        strategy: AggStrategy,
        work: &AggWork,
    ) -> Result<Path> {
        let c = self.costs();
        let groups = stage.groups;
        let columns = stage.exprs.len() as f64;
        let input = (work.per_row + c.cpu_operator * columns) * child.rows;
        let output = c.cpu_tuple * groups;
        let off = if c.enable_hashagg { 0.0 } else { 1e10 };
        let (mut startup, mut total) = match strategy {
            AggStrategy::Plain => (child.total + input, child.total + input + c.cpu_tuple),
            AggStrategy::Sorted if work.count == 0 => (child.startup, child.total + input),
            AggStrategy::Sorted => (child.startup, child.total + input + output),
            AggStrategy::Hashed | AggStrategy::Mixed => {
                let spilled = self.hash_spill_cost(child, groups, work);
                let startup = child.total + input + spilled + off;
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
        let order = match strategy {
            AggStrategy::Sorted => child.order.clone(),
            _ => Vec::new(),
        };
        Ok(Path {
            kind: PathKind::Group { child: child.clone(), stage: stage.clone(), strategy },
            relids: child.relids.clone(),
            rows: clamp_rows(rows),
            width: self.row_width(root, &stage.want)?,
            startup,
            total,
            order,
            outer: Relids::new(),
        })
    }

    /// Cost of writing and reading the rows that spill from a hash table of groups.
    pub(crate) fn hash_spill_cost(&self, child: &Path, groups: f64, work: &AggWork) -> f64 {
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

    /// Orders GROUP BY like ORDER BY as far as they agree, so that one order serves both.
    /// Counterpart: `preprocess_groupclause`.
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

    /// The sets of GROUPING SETS, ROLLUP and CUBE, as numbers of grouping clauses.
    pub(crate) fn grouping_sets(&self, query: &Query) -> Result<Vec<Vec<u32>>> {
        let mut sets = expand_grouping_sets(&query.grouping_sets)?;
        if query.group_distinct {
            let mut seen = HashSet::new();
            sets.retain(|set| seen.insert(set.iter().copied().collect::<BTreeSet<u32>>()));
        }
        Ok(sets)
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
        if stage.sets.is_empty() {
            return Ok(());
        }
        let mut sum = 0.0;
        for set in &stage.sets {
            let mut exprs = Vec::with_capacity(set.len());
            for r in set {
                exprs.extend(stage.key(*r)?.cloned());
            }
            sum += if exprs.is_empty() { 1.0 } else { self.group_count(root, &exprs, rows)? };
        }
        stage.groups = sum;
        Ok(())
    }

    /// Creates the Agg node of a path.
    pub(crate) fn create_group(
        &mut self,
        root: &mut PlannerInfo,
        path: &Path,
        child: &Path,
        stage: &Grouping,
        strategy: AggStrategy,
    ) -> Result<CreatedPlan> {
        let made = self.create(root, child, &[])?;
        let below = ChildOutputs::one(&made.output);
        let keys = self.group_keys(&stage.clauses, &stage.targets, &made.output)?;
        let column = |r: u32| -> Result<Option<&TargetEntry>> {
            let key = stage.key(r)?;
            Ok(made.output.iter().find(|t| Some(&t.expr) == key))
        };
        let mut grouping_sets = Vec::with_capacity(stage.sets.len());
        for set in &stage.sets {
            let mut cols = Vec::with_capacity(set.len());
            for r in set {
                cols.extend(column(*r)?.map(|t| t.resno));
            }
            grouping_sets.push(cols);
        }
        let output = targets_of(&stage.want);
        let mut target_list = below.fix_targets(&output)?;
        let mut qual = below.fix_all(&stage.having)?;
        for e in target_list.iter_mut().map(|t| &mut t.expr).chain(&mut qual) {
            name_grouping_columns(e, &|r| column(*r).ok().flatten());
        }
        self.number_aggs(&mut target_list, &mut qual)?;
        let info = PlanInfo { target_list, qual, ..path.info() };
        if strategy == AggStrategy::Sorted && !stage.has_aggs() {
            let node = PlanNode::Group { child: Box::new(made.plan), keys };
            return Ok(CreatedPlan { plan: Plan { info, node }, output });
        }
        let node = PlanNode::Agg(Box::new(Agg {
            child: Box::new(made.plan),
            strategy,
            split: AggSplit::Simple,
            keys,
            num_groups: stage.groups,
            grouping_sets,
            chain: Vec::new(),
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

impl AggWork {
    /// Size of an entry of the hash table: bucket, key columns of this width and states.
    fn entry_bytes(&self, width: i32) -> f64 {
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

impl Grouping {
    /// Are there aggregates or GROUPING functions of this level? Only an Agg node computes them.
    fn has_aggs(&self) -> bool {
        let is_agg = |e: &Expr| match e {
            Expr::Aggref(a) => a.agglevelsup == 0,
            Expr::GroupingFunc(g) => g.agglevelsup == 0,
            _ => false,
        };
        self.want.iter().chain(&self.having).any(|e| plan::walk::any(e, &mut |x| is_agg(x)))
    }

    /// The expression of a grouping clause.
    fn key(&self, r: u32) -> Result<Option<&Expr>> {
        let clause = self.clauses.iter().find(|c| c.tle_sort_group_ref == r);
        let clause = clause.ok_or_else(|| PgError::internal("grouping set column not found"))?;
        target_for(clause, &self.targets).map(Some)
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

/// Expands ROLLUP, CUBE and GROUPING SETS to the list of grouping sets (their Cartesian product).
/// Counterpart: parse_agg.c (`expand_grouping_sets`).
fn expand_grouping_sets(sets: &[GroupingSet]) -> Result<Vec<Vec<u32>>> {
    const SETS_MAX: usize = 4096;
    fn expand(s: &GroupingSet) -> Vec<Vec<u32>> {
        fn flat(s: &GroupingSet) -> Vec<u32> {
            let mut out = s.refs.clone();
            s.content.iter().for_each(|c| out.extend(flat(c)));
            out
        }
        match s.kind {
            GroupingSetKind::Empty => vec![Vec::new()],
            GroupingSetKind::Simple => vec![s.refs.clone()],
            GroupingSetKind::Rollup => (0..=s.content.len())
                .rev()
                .map(|n| s.content[..n].iter().flat_map(flat).collect())
                .collect(),
            GroupingSetKind::Cube => {
                let n = s.content.len().min(12);
                (0..1usize << n)
                    .rev()
                    .map(|mask| {
                        (0..n)
                            .filter(|i| mask >> (n - 1 - i) & 1 == 1)
                            .flat_map(|i| flat(&s.content[i]))
                            .collect()
                    })
                    .collect()
            }
            GroupingSetKind::Sets => s.content.iter().flat_map(expand).collect(),
        }
    }
    let mut out: Vec<Vec<u32>> = Vec::new();
    for (i, s) in sets.iter().enumerate() {
        let parts = expand(s);
        if i == 0 {
            out = parts;
            continue;
        }
        let mut product = Vec::new();
        for a in &out {
            for b in &parts {
                let mut both = a.clone();
                both.extend(b.iter().filter(|r| !a.contains(r)));
                product.push(both);
            }
        }
        out = product;
        if out.len() > SETS_MAX {
            return Err(pgerror::pg_err!(
                STATEMENT_TOO_COMPLEX,
                "too many grouping sets present (maximum {SETS_MAX})"
            ));
        }
    }
    Ok(out)
}
