//! Columns of a parent and its child have the same names, and may have different numbers.
//! Counterpart: attmap.c (`build_attrmap_by_name`), rewriteManip.c (`map_variable_attnos`).

use catalog::RelDesc;
use ids::{AttrNo, Oid};
use pgerror::{PgError, Result, pg_err};
use plan::expr::{CoercionForm, ConvertRowtypeExpr, Expr, Var};
use plan::walk::{deep_expr_mut, each_child_mut};

/// The numbers in `child` of the columns of `parent`, by position; 0 for dropped ones. `None` if
/// all positions and the number of columns are the same. Error XX000 or 42804 if a column is
/// missing or has another type.
pub fn column_map(parent: &RelDesc, child: &RelDesc) -> Result<Option<Vec<AttrNo>>> {
    let mut map = Vec::with_capacity(parent.attributes.len());
    for a in &parent.attributes {
        if a.attisdropped {
            map.push(0);
            continue;
        }
        // Most columns have the same number.
        let own = child.attribute(a.attnum).filter(|c| !c.attisdropped && c.attname == a.attname);
        let own = own.or_else(|| child.column(a.attname.as_str())).ok_or_else(|| {
            let (column, table) = (a.attname.as_str(), child.name());
            PgError::internal(format!("column \"{column}\" of \"{table}\" not found"))
        })?;
        if (own.atttypid, own.atttypmod) != (a.atttypid, a.atttypmod) {
            return Err(pg_err!(DATATYPE_MISMATCH, "could not convert row type").detail(format!(
                "Attribute \"{}\" of type of \"{}\" does not match that of \"{}\".",
                a.attname,
                parent.name(),
                child.name()
            )));
        }
        map.push(own.attnum);
    }
    let same = parent.attributes.len() == child.attributes.len()
        && map.iter().zip(&parent.attributes).zip(&child.attributes).all(|((own, a), c)| {
            *own == a.attnum
                || (a.attisdropped
                    && c.attisdropped
                    && (a.attlen, a.attalign) == (c.attlen, c.attalign))
        });
    Ok((!same).then_some(map))
}

/// Replaces the column numbers of an expression over range-table entry 1 by those in the map. False
/// if the expression refers to the whole row, which has another type in the child.
pub fn map_columns(expr: &mut Expr, map: &[AttrNo]) -> Result<bool> {
    map_columns_of(expr, 1, map)
}

/// As [`map_columns`], for another range-table entry.
pub fn map_columns_of(expr: &mut Expr, varno: i32, map: &[AttrNo]) -> Result<bool> {
    let (mut whole_row, mut missing) = (false, false);
    deep_expr_mut(expr, 0, &mut |e, level| {
        if let Expr::Var(v) = e
            && v.varno == varno
            && v.varlevelsup == level
        {
            match v.varattno {
                0 => whole_row = true,
                n if n < 0 => {}
                n => match map.get(n as usize - 1) {
                    Some(&own) if own != 0 => v.varattno = own,
                    _ => missing = true,
                },
            }
        }
        true
    });
    if missing {
        return Err(PgError::internal("the column of an expression has no counterpart"));
    }
    Ok(!whole_row)
}

/// Translates conditions over the columns of `parent` (range-table entry 1) to those of a child.
/// The whole row becomes the child's, converted to the parent's row type. Counterpart:
/// `map_partition_varattnos`.
pub fn map_to_child(conditions: &mut [Expr], parent: &RelDesc, child: &RelDesc) -> Result<()> {
    let map = column_map(parent, child)?;
    for e in conditions {
        if let Some(map) = &map {
            map_columns(e, map)?;
        }
        convert_rows(e, child.class.reltype);
    }
    Ok(())
}

/// Replaces references to the whole row by those of a row of another type, which are converted.
fn convert_rows(e: &mut Expr, own: Oid) {
    let Expr::Var(v) = e else { return each_child_mut(e, &mut |c| convert_rows(c, own)) };
    if v.varno != 1 || v.varattno != 0 || v.varlevelsup != 0 || v.vartype == own {
        return;
    }
    let (resulttype, location) = (v.vartype, v.location);
    let arg = Expr::Var(Var { vartype: own, ..v.clone() });
    let convertformat = CoercionForm::ImplicitCast;
    *e = Expr::ConvertRowtype(Box::new(ConvertRowtypeExpr {
        arg,
        resulttype,
        convertformat,
        location,
    }));
}
