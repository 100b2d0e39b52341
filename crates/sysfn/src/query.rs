//! Queries that functions are given as text: their plans, rows, and positions of errors.
//!
//! Counterpart: the use of SPI by functions in C.

use crate::host::SystemHost;
use executor::spi;
use ids::Oid;
use pgerror::{PgError, Result};
use plan::PlannedStmt;
use types::{Datum, DatumRef};

/// The result of a query: types and type modifiers of its columns, and its rows.
pub(crate) struct Selected {
    pub columns: Vec<(Oid, i32)>,
    pub rows: Vec<Vec<Datum>>,
}

/// Types and type modifiers of the columns that a plan returns.
pub(crate) fn columns_of(plan: &PlannedStmt) -> Vec<(Oid, i32)> {
    let targets = plan.plan_tree.info.target_list.iter().filter(|t| !t.resjunk);
    targets.map(|t| (t.expr.type_oid(), t.expr.typmod())).collect()
}

/// Runs the queries of a text, which must not write; the result of the last one, `None` if there
/// is none. Counterpart: `SPI_execute` with `read_only`.
pub(crate) fn select(host: &mut dyn SystemHost, sql: &str) -> Result<Option<Selected>> {
    let mut last = None;
    let mut run = || {
        for plan in host.plan_queries(sql)? {
            spi::check_read_only(&plan)?;
            let columns = columns_of(&plan);
            last = Some(Selected { columns, rows: host.run_plan(plan)? });
        }
        Ok(())
    };
    run().map_err(|e| within(e, sql))?;
    Ok(last)
}

/// The error with the text in which it was raised.
fn within(mut e: PgError, sql: &str) -> PgError {
    let fields = e.fields_mut();
    if let Some(position) = fields.position.take() {
        fields.internal_position = Some(position);
        fields.internal_query = Some(sql.to_owned());
        return e;
    }
    e.context(format!("SQL statement \"{sql}\""))
}

/// The text of a value, by the output function of its type; `None`: NULL.
pub(crate) fn text_of(
    host: &mut dyn SystemHost,
    ty: Oid,
    value: DatumRef<'_>,
) -> Result<Option<Vec<u8>>> {
    match value {
        DatumRef::Null => Ok(None),
        value => host.functions().type_output(ty, value).map(Some),
    }
}

/// A row of these columns from texts, by the input functions of the types.
pub(crate) fn row_of_texts(
    host: &mut dyn SystemHost,
    columns: &[(Oid, i32)],
    texts: &[Option<Vec<u8>>],
) -> Result<Vec<Datum>> {
    let value = |((ty, typmod), text): (&(Oid, i32), &Option<Vec<u8>>)| match text {
        Some(text) => host.functions().type_input(*ty, text, *typmod),
        None => Ok(Datum::Null),
    };
    columns.iter().zip(texts).map(value).collect()
}
