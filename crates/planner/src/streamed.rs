//! Uses sort orders so that a LIMIT reads only part of its input: grouping, windows and DISTINCT
//! over sorted rows, subqueries, and the inputs of UNION ALL. Counterpart: the choice among paths
//! of upper relations by `tuple_fraction`, and allpaths.c (`generate_orderedappend_paths`).

use crate::glob::{Glob, Root};
use crate::path::{PathKey, starts_with};
use crate::upper::{limits_rows, target_for};
use eval::Volatility;
use pgerror::Result;
use plan::expr::Expr;
use plan::node::{Plan, PlanNode, SortKeys};
use plan::query::{CmdType, JoinTreeNode, Query, RteKind, SetOpNode, SortGroupClause};

/// The stages between the joins and the result.
pub(crate) struct Stages {
    pub grouped: bool,
    pub windowed: bool,
    pub distinct: bool,
}

impl Stages {
    pub(crate) fn any(&self) -> bool {
        self.grouped || self.windowed || self.distinct
    }
}

/// A sort key that is a column of a subquery: its number, and the clause.
type ColumnKey = (i16, SortGroupClause);

impl Glob<'_> {
    /// The tuple fraction of the joins' rows that a LIMIT fetches, if they have the order
    /// `helpful`, which is also the order of the result: grouping, windows and DISTINCT then return
    /// rows without reading all input.
    pub(crate) fn body_fraction(
        &mut self,
        root: &Root,
        stages: &Stages,
        helpful: &[PathKey],
        having: &[Expr],
        rows: f64,
    ) -> Result<f64> {
        let limit = self.limit_fraction(root);
        if limit == 0.0 || !stages.any() {
            return Ok(limit);
        }
        let several = stages.distinct && (stages.grouped || stages.windowed);
        if several || helpful.is_empty() || !root.query.grouping_sets.is_empty() {
            return Ok(0.0);
        }
        if stages.windowed {
            let targets = &root.query.target_list;
            for w in &root.query.window_clause {
                let clauses: Vec<SortGroupClause> =
                    w.partition_clause.iter().chain(&w.order_clause).cloned().collect();
                if !starts_with(helpful, &self.order_of(root, &clauses, targets)?) {
                    return Ok(0.0);
                }
            }
            if !stages.grouped {
                return Ok(limit);
            }
        }
        if limit < 1.0 {
            return Ok(limit);
        }
        // LIMIT counts groups here.
        let exprs: Vec<Expr> = helpful.iter().map(|k| Expr::clone(&k.expr)).collect();
        let groups = self.group_count(root, &exprs, rows)?;
        let selected = if having.is_empty() { 1.0 } else { self.selectivity_all(root, having)? };
        let all = (groups * selected).max(1.0);
        Ok(if limit < all { limit / all } else { 0.0 })
    }

    /// Pushes ORDER BY and the tuple fraction of LIMIT into a subquery, if the level only returns
    /// the subquery's rows.
    pub(crate) fn push_down_order(&mut self, root: &mut Root, rti: i32) -> Result<()> {
        let q = &root.query;
        let limit = self.limit_fraction(root);
        let alone = matches!(q.jointree.fromlist.as_slice(), [JoinTreeNode::Rtr(r)] if *r == rti);
        let staged = q.has_aggs
            || q.has_window_funcs
            || q.has_target_srfs
            || q.having_qual.is_some()
            || !q.group_clause.is_empty()
            || !q.grouping_sets.is_empty()
            || !q.distinct_clause.is_empty()
            || !q.row_marks.is_empty();
        if limit == 0.0 || !alone || staged || root.in_set_operation {
            return Ok(());
        }
        let mut keys = Vec::new();
        for c in &q.sort_clause {
            match target_for(c, &q.target_list)? {
                Expr::Var(v) if v.varno == rti && v.varlevelsup == 0 && v.varattno > 0 => {
                    keys.push((v.varattno, c.clone()));
                }
                _ => return Ok(()),
            }
        }
        if !keys.is_empty() {
            let RteKind::Subquery { subquery, .. } = &q.rte(rti).kind else { return Ok(()) };
            let Some(sorted) = self.sorted_subquery(subquery, &keys, false)? else {
                return Ok(());
            };
            if let RteKind::Subquery { subquery, .. } =
                &mut root.query.rtable[rti as usize - 1].kind
            {
                **subquery = sorted;
            }
        }
        root.subquery_fraction = limit;
        Ok(())
    }

    /// Adds an ORDER BY of these columns to the subquery, if its grouping, windows, DISTINCT or set
    /// operation may produce that order without a final sort. `plain`: also if it has none of
    /// these.
    fn sorted_subquery(
        &mut self,
        query: &Query,
        keys: &[ColumnKey],
        plain: bool,
    ) -> Result<Option<Query>> {
        let fixed = query.command_type != CmdType::Select
            || !query.sort_clause.is_empty()
            || limits_rows(query)
            || query.has_distinct_on
            || query.has_target_srfs
            || query.has_modifying_cte
            || !query.row_marks.is_empty()
            || !query.grouping_sets.is_empty();
        if fixed || eval::query_volatility(query, self.facts)? == Volatility::Volatile {
            return Ok(None);
        }
        let mut sorted = query.clone();
        for (resno, clause) in keys {
            let free = 1 + sorted.target_list.iter().map(|t| t.ressortgroupref).max().unwrap_or(0);
            let column = sorted.target_list.iter_mut().find(|t| t.resno == *resno && !t.resjunk);
            let Some(column) = column else { return Ok(None) };
            if column.ressortgroupref == 0 {
                column.ressortgroupref = free;
            }
            let tle_sort_group_ref = column.ressortgroupref;
            sorted.sort_clause.push(SortGroupClause { tle_sort_group_ref, ..clause.clone() });
        }
        let grouped = query.has_aggs || query.having_qual.is_some();
        let grouped = grouped || !query.group_clause.is_empty();
        let suits = if query.has_window_funcs {
            let w = query.window_clause.first();
            let own = w.into_iter().flat_map(|w| w.partition_clause.iter().chain(&w.order_clause));
            let own: Vec<&SortGroupClause> = own.collect();
            let same = |(a, b): (&SortGroupClause, &&SortGroupClause)| {
                a.tle_sort_group_ref == b.tle_sort_group_ref
                    && a.sortop == b.sortop
                    && a.nulls_first == b.nulls_first
            };
            own.len() >= keys.len() && sorted.sort_clause.iter().zip(&own).all(same) && !grouped
        } else if grouped {
            group_in_order(&mut sorted)
        } else {
            plain || !query.distinct_clause.is_empty() || query.set_operations.is_some()
        };
        Ok(suits.then_some(sorted))
    }

    /// For UNION ALL with ORDER BY and LIMIT: adds the ORDER BY to all inputs. Returns whether that
    /// was possible.
    pub(crate) fn order_arms(&mut self, root: &mut Root, tree: &SetOpNode) -> Result<bool> {
        let limit = self.limit_fraction(root);
        if limit == 0.0 || root.query.sort_clause.is_empty() || !root.omits_empty_arms {
            return Ok(false);
        }
        let mut keys: Vec<ColumnKey> = Vec::new();
        for c in &root.query.sort_clause {
            let target = root.query.target_list.iter();
            let mut target = target.filter(|t| t.ressortgroupref == c.tle_sort_group_ref);
            match target.next() {
                Some(t) if matches!(t.expr, Expr::Var(_)) && !t.resjunk => {
                    keys.push((t.resno, c.clone()));
                }
                _ => return Ok(false),
            }
        }
        let SetOpNode::Op(top) = tree else { return Ok(false) };
        let mut arms = Vec::new();
        let mut left = vec![tree];
        while let Some(node) = left.pop() {
            match node {
                SetOpNode::Op(op) => left.extend([&*op.larg, &*op.rarg]),
                SetOpNode::Leaf(rti) => arms.push(*rti),
            }
        }
        let mut sorted = Vec::new();
        for rti in arms {
            self.facts.check_interrupts()?;
            let RteKind::Subquery { subquery, .. } = &root.query.rte(rti).kind else {
                return Ok(false);
            };
            // The column's collation must be that of the set operation.
            let same = |resno: i16| {
                let mine = subquery.target_list.iter().find(|t| t.resno == resno && !t.resjunk);
                let wanted = usize::try_from(resno - 1).ok();
                let wanted = wanted.and_then(|i| top.col_collations.get(i));
                mine.map(|t| t.expr.collation()) == wanted.copied()
            };
            if !keys.iter().all(|(resno, _)| same(*resno)) {
                return Ok(false);
            }
            match self.sorted_subquery(subquery, &keys, true)? {
                Some(query) => sorted.push((rti, query)),
                None => return Ok(false),
            }
        }
        for (rti, query) in sorted {
            if let RteKind::Subquery { subquery, .. } =
                &mut root.query.rtable[rti as usize - 1].kind
            {
                **subquery = query;
            }
        }
        root.subquery_fraction = limit;
        Ok(true)
    }

    /// Replaces the Append of inputs sorted by `keys` by a MergeAppend, if that is cheaper than one
    /// sort of all rows. Otherwise removes the inputs' Sort nodes and returns false.
    pub(crate) fn merge_arms(&mut self, root: &Root, append: &mut Plan, keys: SortKeys) -> bool {
        let limit = self.limit_fraction(root);
        let PlanNode::Append { children } = &mut append.node else { return true };
        let rows = append.info.plan_rows.max(1.0);
        let part = if limit >= 1.0 { (limit / rows).min(1.0) } else { limit };
        let (mut startup, mut total, mut unsorted) = (0.0, 0.0, 0.0);
        for arm in children.iter() {
            startup += arm.info.startup_cost;
            total += arm.info.total_cost;
            unsorted += match &arm.node {
                PlanNode::Sort { child, .. } => child.info.total_cost,
                _ => arm.info.total_cost,
            };
        }
        let unit = self.facts.costs().cpu_operator;
        let compare = 2.0 * unit * (children.len().max(2) as f64).log2() * rows;
        let kept = if limit >= 1.0 { 2.0 * limit } else { rows };
        let sorted = unsorted + 2.0 * unit * rows * kept.clamp(2.0, rows.max(2.0)).log2();
        if startup + (total + compare - startup) * part < sorted {
            append.info.startup_cost = startup;
            append.info.total_cost = total + compare;
            let children = std::mem::take(children);
            append.node = PlanNode::MergeAppend { children, keys };
            return true;
        }
        append.info.total_cost = unsorted;
        for arm in children.iter_mut() {
            if let PlanNode::Sort { child, .. } = &mut arm.node {
                *arm = Plan::clone(child);
            }
        }
        false
    }
}

/// Reorders GROUP BY to begin with the sort columns in their directions. False if a sort column is
/// not in GROUP BY.
fn group_in_order(query: &mut Query) -> bool {
    let mut rest = std::mem::take(&mut query.group_clause);
    for key in &query.sort_clause {
        let at = rest.iter().position(|g| g.tle_sort_group_ref == key.tle_sort_group_ref);
        let Some(at) = at else { return false };
        let (sortop, nulls_first) = (key.sortop, key.nulls_first);
        query.group_clause.push(SortGroupClause { sortop, nulls_first, ..rest.remove(at) });
    }
    query.group_clause.append(&mut rest);
    true
}
