//! The result of SQL functions: coerces the columns of the last statement to the declared result
//! type. Counterpart: `check_sql_fn_retval` of functions.c.

use crate::coerce::Context;
use crate::lookup::Lookup;
use crate::state::{Analyzer, Params};
use crate::ty;
use ids::Oid;
use ids::code::TypType;
use pgerror::{PgError, Result, pg_err};
use plan::expr::{CoercionForm, Expr, Location, TargetEntry};
use plan::query::{CmdType, Query};

/// How the rows of the last statement become the function's result.
#[derive(Clone, PartialEq, Debug)]
pub enum ResultForm {
    /// The rows are discarded.
    Discarded,
    /// The single column is the value.
    Scalar,
    /// The columns are the fields of a composite value.
    Composite,
}

/// A column of the row that a function returns: type and type modifier.
pub type Column = (Oid, i32);

/// Coerces the columns of the last statement to the result type (`None` if the last statement is a
/// utility statement or the body is empty). `row` has the columns of a composite result, where they
/// are known. Error 42P13 if the statement cannot be coerced.
pub fn coerce_result(
    cat: &mut dyn Lookup,
    last: Option<&mut Query>,
    result: Oid,
    row: Option<&[Column]>,
    procedure: bool,
) -> Result<ResultForm> {
    if result == ty::VOID {
        return Ok(ResultForm::Discarded);
    }
    let mut cx = Analyzer::new(cat, "", Params::Fixed(Vec::new()));
    let shown = cx.format_type(result);
    let mismatch = |detail: String| {
        pg_err!(
            INVALID_FUNCTION_DEFINITION,
            "return type mismatch in function declared to return {shown}"
        )
        .detail(detail)
    };
    let last = last
        .filter(|q| q.command_type == CmdType::Select || !q.returning_list.is_empty())
        .ok_or_else(|| {
        mismatch(
            "Function's final statement must be SELECT or INSERT/UPDATE/DELETE RETURNING."
                .to_owned(),
        )
    })?;
    let count = result_list(last).iter().filter(|t| !t.resjunk).count();
    let kind = cx.type_row(result)?.typtype;
    if matches!(
        kind,
        TypType::Base | TypType::Domain | TypType::Enum | TypType::Range | TypType::Multirange
    ) {
        if count != 1 {
            return Err(mismatch("Final statement must return exactly one column.".to_owned()));
        }
        let actual = column_type(last, 0);
        if !coerce_columns(&mut cx, last, &[(result, -1)])? {
            let actual = cx.format_type(actual);
            return Err(mismatch(format!("Actual return type is {actual}.")));
        }
        return Ok(ResultForm::Scalar);
    }
    if kind != TypType::Composite && result != ty::RECORD {
        // An unresolved polymorphic type accepts any column.
        if ty::is_polymorphic(result) {
            return Ok(ResultForm::Scalar);
        }
        return Err(pg_err!(
            INVALID_FUNCTION_DEFINITION,
            "return type {shown} is not supported for SQL functions"
        ));
    }
    // A single column of the composite type itself.
    if count == 1 && !procedure && coerce_columns(&mut cx, last, &[(result, -1)])? {
        return Ok(ResultForm::Scalar);
    }
    let Some(row) = row else { return Ok(ResultForm::Composite) };
    for (i, wanted) in row.iter().enumerate() {
        if i >= count {
            return Err(mismatch("Final statement returns too few columns.".to_owned()));
        }
        let actual = column_type(last, i);
        if !is_coercible(&mut cx, last, i, *wanted)? {
            let (actual, wanted) = (cx.format_type(actual), cx.format_type(wanted.0));
            return Err(mismatch(format!(
                "Final statement returns {actual} instead of {wanted} at column {}.",
                i + 1
            )));
        }
    }
    if count > row.len() {
        return Err(mismatch("Final statement returns too many columns.".to_owned()));
    }
    if !coerce_columns(&mut cx, last, row)? {
        return Err(PgError::internal("could not coerce columns that are known to be coercible"));
    }
    Ok(ResultForm::Composite)
}

fn result_list(q: &Query) -> &Vec<TargetEntry> {
    if q.returning_list.is_empty() { &q.target_list } else { &q.returning_list }
}

fn visible_columns(q: &Query) -> Vec<TargetEntry> {
    result_list(q).iter().filter(|t| !t.resjunk).cloned().collect()
}

fn column_type(q: &Query, index: usize) -> Oid {
    visible_columns(q).get(index).map_or(Oid::INVALID, |t| t.expr.type_oid())
}

fn coerce_column(cx: &mut Analyzer<'_>, e: Expr, wanted: Column) -> Result<Option<Expr>> {
    let form = CoercionForm::ImplicitCast;
    let location = Location::UNKNOWN;
    let done = cx.coerce_to_target(e, wanted.0, wanted.1, Context::Assignment, form, location)?;
    done.map(|mut e| cx.assign_collations(&mut e).map(|()| e)).transpose()
}

fn is_coercible(cx: &mut Analyzer<'_>, q: &Query, index: usize, wanted: Column) -> Result<bool> {
    match visible_columns(q).into_iter().nth(index) {
        Some(t) => Ok(coerce_column(cx, t.expr, wanted)?.is_some()),
        None => Ok(false),
    }
}

/// Coerces the visible columns; false if one cannot be coerced.
fn coerce_columns(cx: &mut Analyzer<'_>, q: &mut Query, wanted: &[Column]) -> Result<bool> {
    let list = visible_columns(q);
    let same = list
        .iter()
        .zip(wanted)
        .all(|(t, w)| t.expr.type_oid() == w.0 && (w.1 < 0 || t.expr.typmod() == w.1));
    if same {
        return Ok(true);
    }
    // Columns that ORDER BY or GROUP BY refer to, and columns of set operations, cannot be replaced
    // in place; an outer query coerces them.
    let replaceable = q.set_operations.is_none() && list.iter().all(|t| t.ressortgroupref == 0);
    if replaceable {
        let mut exprs = Vec::with_capacity(list.len());
        for (t, w) in list.into_iter().zip(wanted) {
            match coerce_column(cx, t.expr, *w)? {
                Some(e) => exprs.push(e),
                None => return Ok(false),
            }
        }
        let list = match q.returning_list.is_empty() {
            true => &mut q.target_list,
            false => &mut q.returning_list,
        };
        for (t, e) in list.iter_mut().filter(|t| !t.resjunk).zip(exprs) {
            t.expr = e;
        }
        return Ok(true);
    }
    let inner = q.clone();
    let (outer, fits) = cx.nested(|cx| {
        let item = cx.add_subquery_rte(inner, None, false, true)?;
        let rti = item.rtindex;
        cx.add_ns_item(item.clone(), true, false, false);
        let mut outer = Query { command_type: CmdType::Select, ..Query::default() };
        let columns = cx.expand_item(&item, 0, -1);
        for (i, ((name, e), w)) in columns.into_iter().zip(wanted).enumerate() {
            let Some(e) = coerce_column(cx, e, *w)? else { return Ok((outer, false)) };
            outer.target_list.push(crate::target::entry(e, i as i16 + 1, Some(name), false));
        }
        cx.level().joinlist = vec![plan::query::JoinTreeNode::Rtr(rti)];
        cx.finish(&mut outer, None);
        Ok((outer, true))
    })?;
    if fits {
        *q = outer;
    }
    Ok(fits)
}
