//! Estimated numbers of groups. Counterpart: selfuncs.c (`estimate_num_groups`).

use crate::extsel::StatisticsObject;
use crate::rel::clamp_rows;
use crate::selectivity::strip;
use crate::state::{Planner, PlannerInfo};
use ids::AttrNo;
use pgerror::Result;
use plan::expr::Expr;
use querytree::vars::{pull_vars, push_unique, relids_of};

/// The columns of one relation among the grouping expressions.
struct Columns {
    rti: i32,
    count: usize,
    /// Product of their numbers of distinct values.
    product: f64,
    /// The largest of these numbers.
    largest: f64,
}

impl Planner<'_> {
    /// Estimated number of groups of these `rows` rows by the expressions.
    pub(crate) fn group_count(
        &mut self,
        root: &PlannerInfo,
        exprs: &[Expr],
        rows: f64,
    ) -> Result<f64> {
        let mut groups = 1.0;
        let mut relations: Vec<Columns> = Vec::new();
        let columns = self.grouping_columns(root, exprs, &mut groups)?;
        for column in self.without_combinations(root, columns, &mut relations)? {
            let distinct = self.variable_stats(root, &column)?.distinct;
            add(&mut relations, relation_of(&column), distinct);
        }
        for r in relations {
            groups *= distinct_after_quals(root, &r);
        }
        Ok(clamp_rows(groups.ceil().min(rows)))
    }

    /// Removes columns whose number of distinct combinations is known by extended statistics.
    /// Counterpart: `estimate_multivariate_ndistinct`.
    fn without_combinations(
        &mut self,
        root: &PlannerInfo,
        mut columns: Vec<Expr>,
        relations: &mut Vec<Columns>,
    ) -> Result<Vec<Expr>> {
        let mut rtis: Vec<i32> = columns.iter().map(relation_of).collect();
        rtis.sort_unstable();
        rtis.dedup();
        for rti in rtis {
            let has_objects = root.rels.get(&rti).and_then(|rel| rel.table.as_ref());
            if has_objects.is_none_or(|table| table.statistics.is_empty()) {
                continue;
            }
            let objects = self.statistics_objects(root, rti)?;
            loop {
                let own: Vec<&Expr> = columns.iter().filter(|c| relation_of(c) == rti).collect();
                let Some((used, distinct)) = combination(&objects, &own) else { break };
                columns.retain(|c| !used.contains(c));
                add(relations, rti, distinct);
            }
        }
        Ok(columns)
    }

    /// The columns and indexed expressions by which rows are grouped, one of each set of equal
    /// columns. Boolean expressions multiply `groups` by two.
    fn grouping_columns(
        &mut self,
        root: &PlannerInfo,
        exprs: &[Expr],
        groups: &mut f64,
    ) -> Result<Vec<Expr>> {
        let mut columns: Vec<Expr> = Vec::new();
        for e in exprs {
            let e = strip(e);
            if matches!(e, Expr::Const(_)) {
                continue;
            }
            if !matches!(e, Expr::Var(_)) {
                if e.type_oid() == types::oids::BOOL {
                    *groups *= 2.0;
                    continue;
                }
                if self.is_known(root, e)? {
                    push_unique(&mut columns, e);
                    continue;
                }
            }
            let mut vars = Vec::new();
            pull_vars(e, &mut vars);
            for v in &vars {
                push_unique(&mut columns, v);
            }
        }
        let mut kept: Vec<Expr> = Vec::with_capacity(columns.len());
        for column in columns {
            let class = root.column_class(&column);
            let known = |k: &Expr| class.is_some() && root.column_class(k) == class;
            match kept.iter().position(known) {
                None => kept.push(column),
                Some(at) => {
                    let fewer = self.variable_stats(root, &column)?.distinct
                        < self.variable_stats(root, &kept[at])?.distinct;
                    if fewer {
                        kept[at] = column;
                    }
                }
            }
        }
        Ok(kept)
    }
}

/// The columns that the best object covers, and the number of their distinct combinations.
fn combination(objects: &[StatisticsObject], columns: &[&Expr]) -> Option<(Vec<Expr>, f64)> {
    let number = |object: &StatisticsObject, e: &Expr| -> Option<AttrNo> {
        match e {
            Expr::Var(v) => object.stats.columns.contains(&v.varattno).then_some(v.varattno),
            _ => object.exprs.iter().position(|x| x == e).map(|n| -1 - n as AttrNo),
        }
    };
    // Expressions count more than columns.
    let mut best: Option<(&StatisticsObject, (usize, usize))> = None;
    for object in objects.iter().filter(|o| !o.stats.ndistinct.is_empty()) {
        let numbers: Vec<AttrNo> = columns.iter().filter_map(|e| number(object, e)).collect();
        let exprs = numbers.iter().filter(|n| **n < 0).count();
        let matched = (exprs, numbers.len() - exprs);
        if numbers.len() >= 2 && best.is_none_or(|(_, most)| matched > most) {
            best = Some((object, matched));
        }
    }
    let (object, _) = best?;
    let used: Vec<Expr> =
        columns.iter().filter(|e| number(object, e).is_some()).map(|e| (*e).clone()).collect();
    let mut numbers: Vec<AttrNo> = used.iter().filter_map(|e| number(object, e)).collect();
    numbers.sort_unstable();
    let item = object.stats.ndistinct.iter().find(|item| {
        let mut own = item.columns.clone();
        own.sort_unstable();
        own == numbers
    })?;
    Some((used, item.value))
}

/// The relation of a column or expression of one relation.
fn relation_of(column: &Expr) -> i32 {
    match column {
        Expr::Var(v) => v.varno,
        other => relids_of(other).first().unwrap_or(0),
    }
}

/// Counts a column, or columns with a known number of combinations.
fn add(relations: &mut Vec<Columns>, rti: i32, distinct: f64) {
    match relations.iter_mut().find(|r| r.rti == rti) {
        Some(of) => {
            of.count += 1;
            of.product *= distinct;
            of.largest = of.largest.max(distinct);
        }
        None => {
            let (count, product, largest) = (1, distinct, distinct);
            relations.push(Columns { rti, count, product, largest });
        }
    }
}

/// Estimated number of groups by columns of one relation among the rows that its conditions select.
fn distinct_after_quals(root: &PlannerInfo, columns: &Columns) -> f64 {
    let Some(rel) = root.rels.get(&columns.rti) else { return columns.product };
    let mut distinct = columns.product;
    if columns.count > 1 {
        // The columns are probably correlated.
        let most = (rel.tuples * 0.1).max(columns.largest).min(rel.tuples);
        distinct = distinct.min(most);
    } else {
        distinct = distinct.min(rel.tuples);
    }
    if distinct > 0.0 && rel.rows < rel.tuples {
        let missed = (rel.tuples - rel.rows) / rel.tuples;
        distinct *= 1.0 - missed.powf(rel.tuples / distinct);
    }
    clamp_rows(distinct)
}
