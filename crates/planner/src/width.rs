//! Estimated widths of values and rows, in bytes. Counterpart: costsize.c (`set_rel_width`,
//! `set_pathtarget_cost_width`, `relation_byte_size`), `get_typavgwidth` of lsyscache.c.

use crate::glob::{Glob, Root};
use crate::need::Need;
use crate::relids::Relids;
use ids::Oid;
use pgerror::Result;
use plan::expr::{Expr, Var};
use std::rc::Rc;
use types::oids::{BIT, BPCHAR, NUMERIC, VARBIT, VARCHAR};

/// Header of a heap tuple, aligned.
const TUPLE_HEADER: i32 = 24;
/// Width of a value whose length is not known.
const WIDTH_DEFAULT: i32 = 32;
/// Largest number of bytes of a character in UTF8.
const CHARACTER_MAX: i32 = 4;

/// Average width of a value of a type, from `pg_type.typlen` and a type modifier. A length limit is
/// an upper bound; most strings are shorter.
pub fn type_width(typlen: i16, ty: Oid, typmod: i32) -> i32 {
    if typlen > 0 {
        return i32::from(typlen);
    }
    match width_max(ty, typmod) {
        None => WIDTH_DEFAULT,
        Some(most) if ty == BPCHAR || most <= WIDTH_DEFAULT => most,
        Some(most) => WIDTH_DEFAULT + (most.min(1000) - WIDTH_DEFAULT) / 2,
    }
}

/// The largest width that the type modifier allows, with the length word. Counterpart:
/// `type_maximum_size`.
fn width_max(ty: Oid, typmod: i32) -> Option<i32> {
    if typmod < 0 {
        return None;
    }
    let modifier = typmod - 4;
    match ty {
        BPCHAR | VARCHAR => Some(modifier.saturating_mul(CHARACTER_MAX).saturating_add(4)),
        // Digits in groups of four; the decimal point may divide one group more.
        NUMERIC if modifier >= 0 => Some(8 + 2 * (((modifier >> 16) & 0xffff) + 6).div_euclid(4)),
        BIT | VARBIT => Some((typmod + 7) / 8 + 8),
        _ => None,
    }
}

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

impl Glob<'_> {
    /// Width of a row with these columns. Counterpart: `set_pathtarget_cost_width`.
    pub(crate) fn row_width<'e>(
        &mut self,
        root: &Root,
        exprs: impl IntoIterator<Item = &'e Expr>,
    ) -> Result<i32> {
        let mut width = 0i32;
        for e in exprs {
            width = width.saturating_add(self.expr_width(root, e)?);
        }
        Ok(width)
    }

    pub(crate) fn expr_width(&mut self, root: &Root, e: &Expr) -> Result<i32> {
        match e {
            Expr::Var(v) => self.var_width(root, v),
            _ => self.type_width(e.type_oid(), e.typmod()),
        }
    }

    /// Width of a column: from statistics, else from its type. A subquery's column that is a column
    /// itself has the width of that one.
    fn var_width(&mut self, root: &Root, v: &Var) -> Result<i32> {
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

    fn column_width(&mut self, table: &crate::facts::RelFacts, attno: i16) -> Result<i32> {
        let Some(column) = usize::try_from(attno - 1).ok().and_then(|i| table.columns.get(i))
        else {
            return Ok(0);
        };
        if column.dropped {
            return Ok(0);
        }
        Ok(match self.facts.column_stats(table.oid, attno)? {
            Some(stats) if stats.width > 0 => stats.width,
            _ => column.avg_width,
        })
    }

    pub(crate) fn type_width(&mut self, ty: Oid, typmod: i32) -> Result<i32> {
        // A parameter or CASE placeholder without a type.
        if !ty.is_valid() {
            return Ok(WIDTH_DEFAULT);
        }
        Ok(type_width(self.facts.type_info(ty)?.len, ty, typmod))
    }

    /// The widths of a level's output columns that are columns of its relations; 0 for others.
    pub(crate) fn column_widths(&mut self, root: &Root) -> Result<Vec<i32>> {
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
    pub(crate) fn used_columns(&mut self, root: &Root, needed: &[Rc<Need>]) -> Result<UsedColumns> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widths_follow_the_type_modifier() {
        for (typlen, ty, typmod, width) in [
            (4, types::oids::INT4, -1, 4),
            (-1, types::oids::TEXT, -1, 32),
            (-1, VARCHAR, -1, 32),
            (-1, VARCHAR, 4 + 5, 24),
            (-1, VARCHAR, 4 + 100, 218),
            (-1, VARCHAR, 4 + 1000, 516),
            (-1, BPCHAR, 4 + 10, 44),
            (-1, BPCHAR, 4 + 1000, 4004),
            (-1, NUMERIC, 4 + (10 << 16) + 2, 16),
            (-1, BIT, 16, 10),
        ] {
            assert_eq!(type_width(typlen, ty, typmod), width, "{ty:?} {typmod}");
        }
        assert_eq!(table_size(10.0, 5), 320.0);
    }
}
