//! Session, server and catalog information functions. Counterpart: utils/adt/misc.c,
//! catalog/namespace.c, utils/adt/ruleutils.c (`pg_get_userbyid`).

use crate::function::{SysCall, SysFn};
use crate::host::SystemHost;
use catalog::SearchPath;
use pgerror::Result;
use sync::Arc;
use types::{Datum, DatumRef};

/// The result of `version()`. Drivers read the number after the first word.
const VERSION: &str = concat!(
    "PostgreSQL 15.20 (Norsu ",
    env!("CARGO_PKG_VERSION"),
    ") on x86_64-pc-linux-gnu, compiled by rustc, 64-bit"
);

fn one(v: bool) -> Result<Datum> {
    Ok(Datum::bool(v))
}

pub(super) const FNS: &[SysFn] = &[
    SysFn { name: "pgsql_version", call: SysCall::One(|_, _| Ok(Datum::text(VERSION))) },
    SysFn {
        name: "current_database",
        call: SysCall::One(|c, _| Ok(Datum::name(&c.database_name()?))),
    },
    SysFn {
        name: "current_schema",
        call: SysCall::One(|c, _| Ok(current_schema(c)?.map_or(Datum::Null, |n| Datum::name(&n)))),
    },
    SysFn {
        name: "current_schemas",
        call: SysCall::One(|c, a| {
            let path = search_path(c)?;
            let mut names = Vec::new();
            // The schemas that are searched implicitly are the first ones.
            let hidden = |&&schema: &&ids::Oid| !a[0].as_bool() && schema != path.creation;
            for &schema in path.schemas.iter().skip_while(hidden) {
                if let Some(n) = c.catalog().namespace_name(schema)? {
                    names.push(Datum::name(n.as_str()));
                }
            }
            types::array::of_builtin(types::oids::NAME, &names)
        }),
    },
    SysFn {
        name: "current_user",
        call: SysCall::One(|c, _| {
            let user = c.catalog_session().user;
            Ok(Datum::name(&c.catalog().role_name(user)?))
        }),
    },
    SysFn {
        name: "session_user",
        call: SysCall::One(|c, _| {
            let user = c.catalog_session().session_user;
            Ok(Datum::name(&c.catalog().role_name(user)?))
        }),
    },
    SysFn {
        name: "pg_my_temp_schema",
        call: SysCall::One(|c, _| Ok(Datum::oid(c.catalog_session().temp_namespace))),
    },
    SysFn {
        name: "pg_is_other_temp_schema",
        call: SysCall::One(|c, a| {
            let oid = a[0].as_oid();
            let own = oid == c.catalog_session().temp_namespace
                || oid == c.catalog_session().temp_toast_namespace;
            let name = c.catalog().namespace_name(oid)?;
            one(!own
                && name.is_some_and(|n| {
                    n.as_str().starts_with("pg_temp_") || n.as_str().starts_with("pg_toast_temp_")
                }))
        }),
    },
    SysFn {
        name: "pg_get_userbyid",
        call: SysCall::One(|c, a| {
            let oid = a[0].as_oid();
            Ok(match c.catalog().role_row(oid)? {
                Some(r) => Datum::name(r.rolname.as_str()),
                None => Datum::name(&format!("unknown (OID={oid})")),
            })
        }),
    },
    SysFn {
        name: "pg_table_is_visible",
        call: SysCall::One(|c, a| {
            let oid = a[0].as_oid();
            match c.catalog().find_class(oid)? {
                Some(_) => one(c.catalog().is_relation_visible(oid)?),
                None => Ok(Datum::Null),
            }
        }),
    },
    SysFn {
        name: "pg_type_is_visible",
        call: SysCall::One(|c, a| {
            let oid = a[0].as_oid();
            match c.catalog().find_type(oid)? {
                Some(_) => one(c.catalog().is_type_visible(oid)?),
                None => Ok(Datum::Null),
            }
        }),
    },
    SysFn {
        name: "pg_function_is_visible",
        call: SysCall::One(|c, a| {
            let oid = a[0].as_oid();
            match c.catalog().find_function(oid)? {
                Some(_) => one(c.catalog().is_function_visible(oid)?),
                None => Ok(Datum::Null),
            }
        }),
    },
    SysFn {
        name: "pg_operator_is_visible",
        call: SysCall::One(|c, a| {
            let oid = a[0].as_oid();
            match c.catalog().find_operator_row(oid)? {
                Some(_) => one(c.catalog().is_operator_visible(oid)?),
                None => Ok(Datum::Null),
            }
        }),
    },
    SysFn { name: "format_type", call: SysCall::One(format_type) },
    SysFn {
        name: "pg_typeof",
        call: SysCall::One(|_, _| {
            Err(pgerror::PgError::unsupported("pg_typeof of this expression"))
        }),
    },
    SysFn { name: "pg_sleep", call: SysCall::One(sleep) },
    SysFn {
        name: "PG_encoding_to_char",
        call: SysCall::One(|_, a| {
            let name = catalog::encoding::name(a[0].as_i32());
            Ok(Datum::name(name))
        }),
    },
    SysFn {
        name: "PG_char_to_encoding",
        call: SysCall::One(|_, a| {
            let name = String::from_utf8_lossy(a[0].as_name()).into_owned();
            Ok(Datum::int4(catalog::encoding::number(&name).unwrap_or(-1)))
        }),
    },
    SysFn {
        name: "getdatabaseencoding",
        call: SysCall::One(|c, _| {
            Ok(Datum::name(catalog::encoding::name(c.catalog_session().encoding)))
        }),
    },
    SysFn {
        name: "pg_client_encoding",
        call: SysCall::One(|c, _| {
            Ok(Datum::name(catalog::encoding::name(c.catalog_session().encoding)))
        }),
    },
];

/// The search path. If it begins with the temporary schema, that is created.
fn search_path(core: &mut dyn SystemHost) -> Result<Arc<SearchPath>> {
    if core.catalog().search_path()?.temp_creation {
        core.open_temp_schema()?;
    }
    core.catalog().search_path()
}

/// The first existing schema of the search path, in which new objects are created.
pub fn current_schema(core: &mut dyn SystemHost) -> Result<Option<String>> {
    let path = search_path(core)?;
    let Some(oid) = path.creation.valid() else { return Ok(None) };
    Ok(core.catalog().namespace_name(oid)?.map(|n| n.as_str().to_string()))
}

/// The function is not strict: with a NULL modifier the name has no modifier.
fn format_type(core: &mut dyn SystemHost, args: &[DatumRef<'_>]) -> Result<Datum> {
    if args[0].is_null() {
        return Ok(Datum::Null);
    }
    let oid = args[0].as_oid();
    if !oid.is_valid() {
        return Ok(Datum::text("-"));
    }
    let text = if args[1].is_null() {
        core.catalog().format_type(oid)?
    } else {
        core.catalog().format_type_mod(oid, args[1].as_i32())?
    };
    Ok(Datum::text(&text))
}

fn sleep(core: &mut dyn SystemHost, args: &[DatumRef<'_>]) -> Result<Datum> {
    let seconds = args[0].as_f64();
    if seconds.is_nan() || seconds <= 0.0 {
        return Ok(Datum::Word(0));
    }
    let deadline =
        sync::wait::Deadline::after(std::time::Duration::from_secs_f64(seconds.min(1e9)));
    loop {
        core.backend().check_interrupts()?;
        let woken = core.backend().waiter().park(sync::wait::WaitEvent::PgSleep, deadline);
        if woken == sync::wait::Woken::Timeout {
            return Ok(Datum::Word(0));
        }
    }
}
