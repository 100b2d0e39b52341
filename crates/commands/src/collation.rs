//! ALTER COLLATION … REFRESH VERSION. Counterpart: collationcmds.c (`AlterCollation`).

use catalog::collations::actual_version;
use catalog::rows::{PgCollation, Text};
use ids::code::CollProvider;
use parse::ast;
use pgerror::{PgError, Result, bail, pg_err};
use utility::host::{CommandHost, notice};
use utility::names;

/// Stores the present version of the collation's provider.
pub(crate) fn refresh_version(host: &mut dyn CommandHost, name: &[ast::Name]) -> Result<()> {
    let (schema, base) = match name {
        [.., schema, base] => (Some(&**schema), &**base),
        [base] => (None, &**base),
        [] => return Err(PgError::internal("collation without a name")),
    };
    let oid = host.catalog().collation_oid(schema, base)?;
    let row = host.catalog().collation(oid)?;
    if !names::is_owner(host, row.collowner)? {
        bail!(INSUFFICIENT_PRIVILEGE, "must be owner of collation {}", name.join("."));
    }
    let locale = match row.collprovider {
        CollProvider::Icu => &row.colliculocale,
        _ => &row.collcollate,
    };
    let Some(locale) = locale else {
        return Err(PgError::internal("unexpected null in pg_collation"));
    };
    let new = actual_version(row.collprovider, locale.as_str());
    let old = row.collversion.as_ref().map(Text::as_str);
    let message = match (old, new.as_deref()) {
        (Some(old), Some(new)) if old != new => {
            format!("changing version from {old} to {new}")
        }
        (Some(_), Some(_)) | (None, None) => "version has not changed".to_owned(),
        _ => return Err(PgError::internal("invalid collation version change")),
    };
    host.notice(notice(pg_err!(SUCCESSFUL_COMPLETION, "{message}")));
    if old != new.as_deref() {
        let collversion = new.map(Text::from);
        host.catalog().update(&row, &PgCollation { collversion, ..row.row.clone() })?;
    }
    Ok(())
}
