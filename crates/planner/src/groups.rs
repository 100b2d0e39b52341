//! Estimated numbers of groups. Counterpart: selfuncs.c (`estimate_num_groups`).

use crate::rel::clamp_rows;
use crate::selectivity::strip;
use crate::state::{Planner, PlannerInfo};
use pgerror::Result;
use plan::expr::{Expr, Var};
use querytree::vars::{pull_vars, push_unique};

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
        for column in self.grouping_columns(root, exprs, &mut groups)? {
            let distinct = self.variable_stats(root, &column)?.distinct;
            let rti = match &column {
                Expr::Var(Var { varno, .. }) => *varno,
                _ => 0,
            };
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
        for r in relations {
            groups *= distinct_after_quals(root, &r);
        }
        Ok(clamp_rows(groups.ceil().min(rows)))
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
