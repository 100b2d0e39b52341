//! Grouping: sorted or hashed, with grouping sets and HAVING. Counterpart: planner.c
//! (grouping_planner), costsize.c (cost_agg).

use crate::create::Made;
use crate::glob::{Glob, Root};
use crate::path::{Path, PathKey, starts_with};
use crate::refs::{Below, output_of, targets_of};
use crate::rel::clamp_rows;
use crate::upper::target_for;
use crate::width::table_size;
use pgerror::{PgError, Result};
use plan::expr::{AggSplit, CoercionForm, Expr, RelabelType, TargetEntry, Var};
use plan::node::{Agg, AggStrategy, Plan, PlanInfo, PlanNode};
use plan::query::{GroupingSet, GroupingSetKind, Query, RteKind};
use std::collections::{BTreeSet, HashSet};

/// Estimated size of a group in a hash table without its key, in bytes.
const GROUP_BYTES: f64 = 96.0;

impl Glob<'_> {
    /// True if hashing the rows of the `cheapest` path costs less than `sorted`, the cost of rows
    /// in the order of the keys. `ordered`: the groups must be sorted afterwards.
    pub(crate) fn hashing_is_cheaper(
        &mut self,
        root: &Root,
        sorted: f64,
        cheapest: &Path,
        keys: &[PathKey],
        ordered: bool,
    ) -> Result<bool> {
        let c = self.costs();
        if !c.enable_hashagg {
            return Ok(false);
        }
        let exprs: Vec<Expr> = keys.iter().map(|k| Expr::clone(&k.expr)).collect();
        let groups = self.group_count(root, &exprs, cheapest.rows)?;
        let mut hashed =
            cheapest.total + self.hash_spill_cost(cheapest.rows, groups, cheapest.width);
        if ordered {
            hashed += self.sort_cost(0.0, groups, cheapest.width).1;
        }
        Ok(hashed < sorted)
    }

    /// Cost of writing and reading the rows that spill from a hash table of groups.
    fn hash_spill_cost(&self, rows: f64, groups: f64, width: i32) -> f64 {
        let c = self.facts.costs();
        if groups * (f64::from(width) + GROUP_BYTES) <= c.hash_mem {
            return 0.0;
        }
        let pages = table_size(rows, width) / 8192.0;
        pages * (c.random_page + c.seq_page) + 2.0 * rows * c.cpu_tuple
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
            let RteKind::Relation { relid, relkind: b'r', .. } = query.rte(rti).kind else {
                continue;
            };
            let table = self.facts.relation(relid)?;
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

    /// Adds an Agg node above `made`, whose rows have the order `have`. Updates `have`.
    pub(crate) fn group(
        &mut self,
        root: &mut Root,
        mut made: Made,
        have: &mut Vec<PathKey>,
        group_exprs: &[Expr],
        want: &[Expr],
        having: &[Expr],
    ) -> Result<Made> {
        let targets = root.query.target_list.clone();
        let clauses = root.query.group_clause.clone();
        let mut sets = expand_grouping_sets(&root.query.grouping_sets)?;
        if root.query.group_distinct {
            let mut seen = HashSet::new();
            sets.retain(|set| seen.insert(set.iter().copied().collect::<BTreeSet<u32>>()));
        }
        let c = self.costs();
        let rows = made.plan.info.plan_rows;
        let groups =
            if group_exprs.is_empty() { 1.0 } else { self.group_count(root, group_exprs, rows)? };
        let hashable = clauses.iter().all(|g| g.hashable);
        let sort_order = self.order_of(root, &clauses, &targets);
        let presorted = sort_order.as_ref().is_ok_and(|o| starts_with(have, o));
        let strategy = if group_exprs.is_empty() && sets.is_empty() {
            AggStrategy::Plain
        } else if !sets.is_empty() {
            if !hashable {
                return Err(PgError::unsupported(
                    "GROUPING SETS over a type that cannot be hashed",
                ));
            }
            AggStrategy::Mixed
        } else if presorted || !hashable {
            AggStrategy::Sorted
        } else if has_sorting_aggs(want) || has_sorting_aggs(having) {
            // Aggregates that sort their rows need memory per group: sorted input has one group at
            // a time.
            AggStrategy::Sorted
        } else if sort_order.is_err() || !c.enable_sort {
            AggStrategy::Hashed
        } else {
            let (below, width) = (made.plan.info.total_cost, made.plan.info.plan_width);
            let (_, sorted) = self.sort_cost(below, rows, width);
            let mut hashed = below + rows * c.cpu_operator * group_exprs.len() as f64;
            hashed += self.hash_spill_cost(rows, groups, width);
            // After a sort, ORDER BY over the groups may need no further sort.
            let order = self.order_of(root, &root.query.sort_clause.clone(), &targets);
            if let (Ok(o), Ok(s)) = (order, &sort_order)
                && !o.is_empty()
                && starts_with(s, &o)
            {
                hashed += self.sort_cost(0.0, groups, width).1;
            }
            if c.enable_hashagg && hashed < sorted {
                AggStrategy::Hashed
            } else {
                AggStrategy::Sorted
            }
        };
        if strategy == AggStrategy::Sorted {
            let order = sort_order?;
            if !starts_with(have, &order) {
                made = self.sort_on(root, made, &order, have)?;
                *have = order;
            }
        } else {
            have.clear();
        }
        let below = Below::one(&made.output);
        let keys = self.group_keys(&clauses, &targets, &made.output)?;
        let mut grouping_sets = Vec::new();
        for set in &sets {
            let mut cols = Vec::new();
            for r in set {
                let clause = clauses
                    .iter()
                    .find(|c| c.tle_sort_group_ref == *r)
                    .ok_or_else(|| PgError::internal("grouping set column not found"))?;
                let expr = target_for(clause, &targets)?;
                if let Some(t) = made.output.iter().find(|t| t.expr == *expr) {
                    cols.push(t.resno);
                }
            }
            grouping_sets.push(cols);
        }
        let output = targets_of(want);
        let aggs = count_aggs(want) + count_aggs(having);
        let child = &made.plan.info;
        let work = rows * c.cpu_operator * (aggs as f64 + group_exprs.len() as f64);
        let total = child.total_cost + work + groups * c.cpu_tuple;
        let startup = match strategy {
            AggStrategy::Sorted => child.startup_cost,
            _ => total - groups * c.cpu_tuple,
        };
        let mut target_list = below.fix_targets(&output)?;
        let mut qual = below.fix_all(having)?;
        for e in target_list.iter_mut().map(|t| &mut t.expr).chain(&mut qual) {
            let column = |r: &u32| {
                let clause = clauses.iter().find(|c| c.tle_sort_group_ref == *r)?;
                let expr = target_for(clause, &targets).ok()?;
                made.output.iter().find(|t| t.expr == *expr)
            };
            name_grouping_columns(e, &column);
        }
        self.number_aggs(&mut target_list, &mut qual)?;
        let selected = if having.is_empty() { 1.0 } else { self.selectivity_all(root, having)? };
        let info = PlanInfo {
            startup_cost: startup,
            total_cost: total,
            plan_rows: clamp_rows(groups * selected * grouping_sets.len().max(1) as f64),
            plan_width: self.row_width(root, want)?,
            target_list,
            qual,
            ..PlanInfo::default()
        };
        let node = PlanNode::Agg(Box::new(Agg {
            child: Box::new(made.plan),
            strategy,
            split: AggSplit::Simple,
            keys,
            num_groups: groups,
            grouping_sets,
            chain: Vec::new(),
        }));
        Ok(Made { plan: Plan { info, node }, output })
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
                let volatile = match eval::volatility(e, self.facts) {
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
            if !a.aggorder.is_empty() || !a.aggdistinct.is_empty() || a.aggkind != b'n')
    };
    exprs.iter().any(|e| plan::walk::any(e, &mut |x| sorts(x)))
}

fn count_aggs(exprs: &[Expr]) -> usize {
    let mut n = 0;
    for e in exprs {
        plan::walk::any(e, &mut |x| {
            n += usize::from(matches!(x, Expr::Aggref(_)));
            false
        });
    }
    n
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
