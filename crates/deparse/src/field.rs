//! Names of the fields of composite values. Counterpart: ruleutils.c, `get_name_for_var_field`.

use crate::Deparser;
use crate::planned::PlanPosition;
use ids::{AttrNo, Oid};
use pgerror::Result;
use plan::expr::{Expr, Var};
use plan::query::{Query, RangeTblEntry, RteKind};
use std::sync::Arc;
use types::oids;

/// The enclosing queries of an expression, outermost first; `None` for a level without a query.
type Path = Vec<Option<Arc<Query>>>;

/// The source of a field's name.
enum FieldSource {
    Name(String),
    /// A function that returns anonymous rows.
    Function(Oid),
}

impl Deparser<'_> {
    /// The name of a field of a composite value. For an anonymous row the defining expression is
    /// searched through sub-selects, joins and WITH queries.
    pub(super) fn field_name(&mut self, row: &Expr, field: AttrNo) -> Result<String> {
        let numbered = format!("f{field}");
        if row.type_oid() != oids::RECORD {
            let desc = self.host.functions().row_desc(row.type_oid(), row.typmod())?;
            let column = desc.columns.get(field as usize - 1);
            return Ok(column.map_or(numbered, |c| c.name.clone()));
        }
        let made = match &self.position {
            Some(position) => planned_field_source(position.clone(), row, field),
            None => {
                let path: Path = self.scopes.iter().map(|s| s.query.clone()).collect();
                field_source(path, row.clone(), field)
            }
        };
        match made {
            Some(FieldSource::Name(name)) => Ok(name),
            Some(FieldSource::Function(function)) => {
                let function = self.host.catalog().function(function)?;
                let modes = function.proargmodes.iter().flat_map(|m| m.iter());
                let names = function.proargnames.iter().flat_map(|n| n.iter());
                let mut outs = modes.zip(names).filter(|(m, _)| m.is_output());
                let name = outs.nth(field as usize - 1).map(|(_, name)| name.as_str().to_owned());
                Ok(name.unwrap_or(numbered))
            }
            None => Ok(numbered),
        }
    }
}

/// Follows references to a composite value to its defining expression.
fn field_source(mut path: Path, mut row: Expr, field: AttrNo) -> Option<FieldSource> {
    let position = usize::try_from(field - 1).ok()?;
    loop {
        let var = match row {
            Expr::Row(r) => return r.colnames.get(position).cloned().map(FieldSource::Name),
            Expr::FuncExpr(f) if f.funcresulttype == oids::RECORD => {
                return Some(FieldSource::Function(f.funcid));
            }
            Expr::Var(v) if v.vartype == oids::RECORD => v,
            _ => return None,
        };
        let rte = entry(&mut path, &var)?;
        if var.varattno == 0 {
            return rte.eref.colnames.get(position).cloned().map(FieldSource::Name);
        }
        row = match rte.kind {
            RteKind::Subquery { subquery, .. } => {
                column(&mut path, subquery.into_inner(), var.varattno)?
            }
            RteKind::Cte { ctename, ctelevelsup, .. } => {
                leave_levels(&mut path, ctelevelsup)?;
                let enclosing = path.last()?.clone()?;
                let cte = enclosing.cte_list.iter().find(|c| c.ctename == ctename)?;
                column(&mut path, (*cte.query).clone(), var.varattno)?
            }
            RteKind::Join { joinaliasvars, .. } => {
                joinaliasvars.get(usize::try_from(var.varattno - 1).ok()?)?.clone()
            }
            _ => return None,
        };
    }
}

/// As [`field_source`], within a plan.
fn planned_field_source<'p>(
    position: PlanPosition<'p>,
    row: &'p Expr,
    field: AttrNo,
) -> Option<FieldSource> {
    let mut at = (position, row);
    loop {
        match at.1 {
            Expr::Row(r) => {
                let name = r.colnames.get(usize::try_from(field - 1).ok()?)?;
                return Some(FieldSource::Name(name.clone()));
            }
            Expr::FuncExpr(f) if f.funcresulttype == oids::RECORD => {
                return Some(FieldSource::Function(f.funcid));
            }
            Expr::Var(v) if v.vartype == oids::RECORD => at = at.0.computed(v)?,
            Expr::Param(p) => at = at.0.referent(p.paramid)?,
            _ => return None,
        }
    }
}

/// Moves that many query levels outwards.
fn leave_levels(path: &mut Path, levels: u32) -> Option<()> {
    path.truncate(path.len().checked_sub(levels as usize)?);
    Some(())
}

/// The range table entry that a reference names. Shortens the path to end at the entry's query.
fn entry(path: &mut Path, var: &Var) -> Option<RangeTblEntry> {
    leave_levels(path, var.varlevelsup)?;
    let query = path.last()?.as_ref()?;
    query.rtable.get(usize::try_from(var.varno - 1).ok()?).cloned()
}

/// A result column of a query. Extends the path by that query.
fn column(path: &mut Path, query: Query, number: AttrNo) -> Option<Expr> {
    let target = query.result_columns().nth(usize::try_from(number - 1).ok()?)?;
    let expr = target.expr.clone();
    path.push(Some(Arc::new(query)));
    Some(expr)
}
