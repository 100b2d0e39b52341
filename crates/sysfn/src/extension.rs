//! Functions on extensions. Counterpart: extension.c.

use crate::function::{SysCall, SysFn, text};
use crate::host::SystemHost;
use catalog::ObjectAddress;
use catalog::rows::{PgExtension, Text, indexes};
use contrib::control;
use ids::code::DepType;
use pgerror::{PgError, Result, pg_err};
use types::{Datum, DatumRef};

pub(super) const FNS: &[SysFn] = &[
    SysFn { name: "pg_extension_config_dump", call: SysCall::One(config_dump) },
    SysFn {
        name: "pg_extension_update_paths",
        call: SysCall::Set(|_, a| update_paths(&String::from_utf8_lossy(a[0].as_name()))),
    },
];

/// `pg_extension_config_dump(table, condition)`: marks a table of the extension that is being
/// created, of which pg_dump dumps the rows that fulfil the condition.
fn config_dump(host: &mut dyn SystemHost, args: &[DatumRef<'_>]) -> Result<Datum> {
    let (table, condition) = (args[0].as_oid(), Text::from(text(args[1]).as_str()));
    let mut cat = host.catalog();
    let Some(extension) = cat.session.creating_extension else {
        return Err(pg_err!(
            FEATURE_NOT_SUPPORTED,
            "pg_extension_config_dump() can only be called from an SQL script executed by CREATE \
             EXTENSION"
        ));
    };
    let Some(class) = cat.find_class(table)? else {
        return Err(pg_err!(UNDEFINED_TABLE, "OID {table} does not refer to a table"));
    };
    let of = cat.dependencies_of(ObjectAddress::relation(table))?;
    if !of.iter().any(|d| d.deptype == DepType::Extension && d.refobjid == extension) {
        return Err(pg_err!(
            FEATURE_NOT_SUPPORTED,
            "table \"{}\" is not a member of the extension being created",
            class.relname
        ));
    }
    let row = cat.scan(indexes::PG_EXTENSION_OID_INDEX, &[extension.into()])?.pop();
    let row = row.ok_or_else(|| PgError::internal("extension without a row"))?;
    let mut tables = row.extconfig.clone().unwrap_or_default();
    let mut conditions = row.extcondition.clone().unwrap_or_default();
    match tables.iter().position(|t| *t == table).filter(|at| *at < conditions.len()) {
        Some(at) => conditions[at] = condition,
        None => {
            tables.push(table);
            conditions.push(condition);
        }
    }
    let (extconfig, extcondition) = (Some(tables), Some(conditions));
    cat.update(&row, &PgExtension { extconfig, extcondition, ..row.row.clone() })?;
    cat.increment_command_counter()?;
    Ok(Datum::Word(0))
}

/// The paths between the versions of an extension, NULL if there is none.
fn update_paths(name: &str) -> Result<Vec<Vec<Datum>>> {
    control::check_name(name)?;
    let known = control::available(name)?;
    let versions = known.versions();
    let mut rows = Vec::new();
    for from in &versions {
        for to in versions.iter().filter(|to| *to != from) {
            let path = known.path(from, to).map_or(Datum::Null, |path| {
                let steps = path.iter().map(|update| update.to);
                let all: Vec<&str> = std::iter::once(*from).chain(steps).collect();
                Datum::text(&all.join("--"))
            });
            rows.push(vec![Datum::text(from), Datum::text(to), path]);
        }
    }
    Ok(rows)
}
