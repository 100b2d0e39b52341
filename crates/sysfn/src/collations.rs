//! Functions on collations: their versions, and the import of the machine's collations.
//!
//! Counterpart: collationcmds.c.

use crate::function::{SysCall, SysFn};
use crate::host::SystemHost;
use catalog::ObjectAddress;
use catalog::collations::{ANY_ENCODING, actual_version, of_this_machine};
use catalog::rows::{PgCollation, PgNamespace, indexes};
use ids::builtin::namespace::PG_CATALOG;
use ids::code::{CollProvider, DepType};
use pgerror::{Result, bail, pg_err};
use types::{Datum, DatumRef};

/// `pg_collation_actual_version`: the present version of a collation's provider.
fn collation_version(core: &mut dyn SystemHost, args: &[DatumRef<'_>]) -> Result<Datum> {
    let oid = args[0].as_oid();
    let found = core.catalog().search::<PgCollation>(catalog::cache::COLLOID, &[oid.into()])?;
    let Some(row) = found else {
        return Err(pg_err!(UNDEFINED_OBJECT, "collation with OID {oid} does not exist"));
    };
    let locale = row.colliculocale.as_ref().or(row.collcollate.as_ref());
    Ok(version(row.collprovider, locale.map_or("", |l| l.as_str())))
}

/// `pg_database_collation_actual_version`: the present version of the provider of a database's
/// default collation.
fn database_version(core: &mut dyn SystemHost, args: &[DatumRef<'_>]) -> Result<Datum> {
    let oid = args[0].as_oid();
    let Some(row) = core.catalog().database(oid)? else {
        return Err(pg_err!(UNDEFINED_OBJECT, "database with OID {oid} does not exist"));
    };
    let locale = row.daticulocale.as_ref().unwrap_or(&row.datcollate);
    Ok(version(row.datlocprovider, locale.as_str()))
}

fn version(provider: CollProvider, locale: &str) -> Datum {
    actual_version(provider, locale).map_or(Datum::Null, |v| Datum::text(&v))
}

/// `pg_import_system_collations`: adds the machine's collations that a schema lacks; their number.
fn import(core: &mut dyn SystemHost, args: &[DatumRef<'_>]) -> Result<Datum> {
    let schema = args[0].as_oid();
    let user = core.catalog().session.user;
    if !core.catalog().is_superuser(user)? {
        bail!(INSUFFICIENT_PRIVILEGE, "must be superuser to import system collations");
    }
    if core.catalog().namespace_name(schema)?.is_none() {
        bail!(UNDEFINED_SCHEMA, "schema with OID {schema} does not exist");
    }
    let mut count = 0;
    for found in of_this_machine() {
        let mut cat = core.catalog();
        let row = PgCollation { collnamespace: schema, collowner: user, ..found };
        let mut exists = false;
        for number in [row.collencoding, ANY_ENCODING, cat.session.encoding] {
            let is_any = row.collencoding == ANY_ENCODING;
            if number == cat.session.encoding && !is_any && number != row.collencoding {
                continue;
            }
            let keys = [row.collname.as_str().into(), number.into(), schema.into()];
            let index = indexes::PG_COLLATION_NAME_ENC_NSP_INDEX;
            exists |= !cat.scan::<PgCollation>(index, &keys)?.is_empty();
        }
        if exists {
            continue;
        }
        let oid = cat.new_oid(indexes::PG_COLLATION_OID_INDEX)?;
        cat.insert(&PgCollation { oid, ..row.clone() })?;
        let this = ObjectAddress::of::<PgCollation>(oid);
        if schema != PG_CATALOG {
            let holder = ObjectAddress::of::<PgNamespace>(schema);
            cat.record_dependency(this, holder, DepType::Normal)?;
        }
        cat.record_owner(this, user)?;
        let tag = row.colliculocale.as_ref().map(|tag| tag.as_str());
        if let Some(shown) = tag.and_then(locale::icu_display_name) {
            cat.set_comment(this, Some(&shown))?;
        }
        cat.increment_command_counter()?;
        count += 1;
    }
    Ok(Datum::int4(count))
}

pub(crate) const FNS: &[SysFn] = &[
    SysFn { name: "pg_collation_actual_version", call: SysCall::One(collation_version) },
    SysFn { name: "pg_database_collation_actual_version", call: SysCall::One(database_version) },
    SysFn { name: "pg_import_system_collations", call: SysCall::One(import) },
];
