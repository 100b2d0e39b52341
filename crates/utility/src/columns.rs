//! Values of columns that a command does not specify: defaults, and NULL in a column of a domain.

use crate::host::CommandHost;
use analyze::coerce::{Context, null_const};
use analyze::{Analyzer, Params, SessionLookup};
use catalog::rows::{PgAttribute, indexes};
use ids::code::TypType;
use ids::{AttrNo, Oid};
use pgerror::{PgError, Result};
use plan::Expr;
use plan::expr::{CoercionForm, Location};

/// The default of a column: its own or that of its type.
pub fn column_default(
    host: &mut dyn CommandHost,
    table: Oid,
    number: AttrNo,
) -> Result<Option<Expr>> {
    let mut cat = SessionLookup::new(host);
    let Some(relation) = analyze::RelationLookup::relation(&mut cat, table)? else {
        return Err(PgError::internal("a default of a table that does not exist"));
    };
    analyze::rewrite::column_default(&mut cat, &relation, number)
}

/// True if the domain, or one on which it is based, has constraints.
pub fn has_constraints(host: &mut dyn CommandHost, domain: Oid) -> Result<bool> {
    let mut oid = domain;
    loop {
        let row = host.catalog().type_row(oid)?;
        if row.typtype != TypType::Domain {
            return Ok(false);
        }
        let index = indexes::PG_CONSTRAINT_CONTYPID_INDEX;
        if row.typnotnull || !host.catalog().scan(index, &[oid.into()])?.is_empty() {
            return Ok(true);
        }
        oid = row.typbasetype;
    }
}

/// An expression that coerces NULL to the column's domain, to be tested.
pub fn null_in_domain(host: &mut dyn CommandHost, column: &PgAttribute) -> Result<Expr> {
    let (base, _) = host.catalog().base_type(column.atttypid)?;
    let row = host.catalog().type_row(base)?;
    let e = null_const(base, row.typlen, row.typbyval);
    let mut lookup = SessionLookup::new(host);
    let mut cx = Analyzer::new(&mut lookup, "", Params::Fixed(Vec::new()));
    let form = CoercionForm::ImplicitCast;
    let (ty, at) = (column.atttypid, Location::UNKNOWN);
    let e = cx.coerce_to_target(e, ty, -1, Context::Assignment, form, at)?;
    e.ok_or_else(|| PgError::internal("failed to coerce base type to domain"))
}
