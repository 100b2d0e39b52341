//! Estimated widths of values and rows, in bytes. Counterpart: costsize.c (`set_rel_width`,
//! `set_pathtarget_cost_width`, `relation_byte_size`).

use crate::need::NeededExpr;
use crate::state::{Planner, PlannerInfo};
use ids::Oid;
use pgerror::Result;
use plan::expr::{Expr, Var};
use querytree::relids::Relids;
use std::rc::Rc;

/// Header of a heap tuple, aligned.
const TUPLE_HEADER: i32 = 24;
/// Size in bytes of that many rows in memory or in a temporary file.
pub(crate) fn table_size(rows: f64, width: i32) -> f64 {
    let aligned = (i64::from(width) + 7) & !7;
    rows * (aligned + i64::from(TUPLE_HEADER)) as f64
}

/// A column of a join problem that is used above some relation.
struct UsedColumn {
    rti: i32,
    width: i32,
    /// Used above all joins.
    always: bool,
    /// The relations of each condition that uses the column: above a join that contains one of
    /// these sets the condition has been tested.
    conditions: Vec<Relids>,
}

/// The columns of a join problem, for the widths of its joins.
#[derive(Default)]
pub(crate) struct UsedColumns(Vec<UsedColumn>);

impl UsedColumns {
    /// Width of the rows of a join: its columns that are used above it.
    pub(crate) fn width_above(&self, relids: &Relids) -> i32 {
        let used = |c: &&UsedColumn| {
            relids.contains(&c.rti)
                && (c.always || c.conditions.iter().any(|q| !q.is_subset(relids)))
        };
        self.0.iter().filter(used).map(|c| c.width).fold(0, i32::saturating_add)
    }
}

impl Planner<'_> {
    /// Width of a row with these columns. Counterpart: `set_pathtarget_cost_width`.
    pub(crate) fn row_width<'e>(
        &mut self,
        root: &PlannerInfo,
        exprs: impl IntoIterator<Item = &'e Expr>,
    ) -> Result<i32> {
        let mut width = 0i32;
        for e in exprs {
            width = width.saturating_add(self.expr_width(root, e)?);
        }
        Ok(width)
    }

    pub(crate) fn expr_width(&mut self, root: &PlannerInfo, e: &Expr) -> Result<i32> {
        match e {
            Expr::Var(v) => self.var_width(root, v),
            _ => self.type_width(e.type_oid(), e.typmod()),
        }
    }

    /// Width of a column: from statistics, else from its type. A subquery's column that is a column
    /// itself has the width of that one.
    fn var_width(&mut self, root: &PlannerInfo, v: &Var) -> Result<i32> {
        if v.varlevelsup == 0 && root.members.trees.contains(&v.varno) {
            return self.member_width(root, v);
        }
        if v.varlevelsup == 0
            && let Some(rel) = root.rels.get(&v.varno)
        {
            if let Some(table) = rel.table.clone() {
                if v.varattno > 0 {
                    return self.column_width(&table, v.varattno);
                }
                if v.varattno == 0 {
                    let mut width = TUPLE_HEADER;
                    for n in 1..=table.columns.len() {
                        width = width.saturating_add(self.column_width(&table, n as i16)?);
                    }
                    return Ok(width);
                }
            }
            if let Some(&i) = root.subquery_of.get(&v.varno)
                && let Ok(n) = usize::try_from(v.varattno - 1)
                && let Some(&width) = root.subqueries[i].column_widths.get(n)
                && width > 0
            {
                return Ok(width);
            }
        }
        self.type_width(v.vartype, v.vartypmod)
    }

    /// Average width of a column of an append relation of tables. Counterpart:
    /// `set_append_rel_size`.
    fn member_width(&mut self, root: &PlannerInfo, v: &Var) -> Result<i32> {
        let (mut rows, mut bytes) = (0.0, 0.0);
        for m in root.members_of(v.varno) {
            let Some(rel) = root.rels.get(&m.child) else { continue };
            let column = m.translate(&Expr::Var(v.clone()))?;
            rows += rel.rows;
            bytes += rel.rows * f64::from(self.expr_width(root, &column)?);
        }
        if rows > 0.0 {
            return Ok(f64::round_ties_even(bytes / rows) as i32);
        }
        self.type_width(v.vartype, v.vartypmod)
    }

    fn column_width(&mut self, table: &querytree::host::RelationInfo, attno: i16) -> Result<i32> {
        let Some(column) = usize::try_from(attno - 1).ok().and_then(|i| table.columns.get(i))
        else {
            return Ok(0);
        };
        if column.dropped {
            return Ok(0);
        }
        Ok(match self.host.column_stats(table.oid, attno)? {
            Some(stats) if stats.width > 0 => stats.width,
            _ => column.avg_width,
        })
    }

    pub(crate) fn type_width(&mut self, ty: Oid, typmod: i32) -> Result<i32> {
        // A parameter or CASE placeholder without a type.
        if !ty.is_valid() {
            return Ok(types::WIDTH_DEFAULT);
        }
        Ok(types::average_width(self.host.type_info(ty)?.len, ty, typmod))
    }

    /// The widths of a level's output columns that are columns of its relations; 0 for others.
    pub(crate) fn column_widths(&mut self, root: &PlannerInfo) -> Result<Vec<i32>> {
        let mut out = Vec::new();
        if root.query.set_operations.is_some() {
            return Ok(out);
        }
        for t in root.query.target_list.iter().filter(|t| !t.resjunk) {
            out.push(match &t.expr {
                Expr::Var(v) => self.var_width(root, v)?,
                _ => 0,
            });
        }
        Ok(out)
    }

    /// The columns that the expressions above the relations of a join problem use.
    pub(crate) fn used_columns(
        &mut self,
        root: &PlannerInfo,
        needed: &[Rc<NeededExpr>],
    ) -> Result<UsedColumns> {
        let mut out: Vec<(&Expr, UsedColumn)> = Vec::new();
        for need in needed {
            for e in &need.columns {
                let Expr::Var(v) = e else { continue };
                let at = match out.iter().position(|(known, _)| *known == e) {
                    Some(at) => at,
                    None => {
                        let width = self.var_width(root, v)?;
                        let column = UsedColumn {
                            rti: v.varno,
                            width,
                            always: false,
                            conditions: Vec::new(),
                        };
                        out.push((e, column));
                        out.len() - 1
                    }
                };
                let column = &mut out[at].1;
                if need.always {
                    column.always = true;
                } else if !column.conditions.contains(&need.relids) {
                    column.conditions.push(need.relids.clone());
                }
            }
        }
        Ok(UsedColumns(out.into_iter().map(|(_, c)| c).collect()))
    }
}
