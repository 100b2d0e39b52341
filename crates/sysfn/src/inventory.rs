//! Functions behind system views: extensions, statistics, time zone abbreviations, text search.
//! Counterpart: commands/extension.c, utils/adt/pgstatfuncs.c, utils/misc/pg_config.c.

use crate::function::{SysCall, SysFn, text};
use crate::host::SystemHost;
use crate::textsearch::{check_parser, parser_named};
use ids::Oid;
use pgerror::{Result, pg_err};
use types::datetime::Interval;
use types::{Datum, DatumRef, oids};

/// The names in the view `pg_config`. Installation paths are not recorded in the program.
const CONFIG: [&str; 23] = [
    "BINDIR",
    "DOCDIR",
    "HTMLDIR",
    "INCLUDEDIR",
    "PKGINCLUDEDIR",
    "INCLUDEDIR-SERVER",
    "LIBDIR",
    "PKGLIBDIR",
    "LOCALEDIR",
    "MANDIR",
    "SHAREDIR",
    "SYSCONFDIR",
    "PGXS",
    "CONFIGURE",
    "CC",
    "CPPFLAGS",
    "CFLAGS",
    "CFLAGS_SL",
    "LDFLAGS",
    "LDFLAGS_EX",
    "LDFLAGS_SL",
    "LIBS",
    "VERSION",
];

fn config(core: &mut dyn SystemHost) -> Vec<Vec<Datum>> {
    let version = format!("PostgreSQL {}", core.setting("server_version"));
    let row = |name: &&str| {
        let setting = if *name == "VERSION" { &version } else { "not recorded" };
        vec![Datum::text(name), Datum::text(setting)]
    };
    CONFIG.iter().map(row).collect()
}

fn name_or_null(name: Option<&str>) -> Datum {
    name.map_or(Datum::Null, Datum::name)
}

fn extensions(versions: bool) -> Result<Vec<Vec<Datum>>> {
    let mut rows = Vec::new();
    for e in contrib::EXTENSIONS {
        if !versions {
            rows.push(vec![Datum::name(e.name), Datum::text(e.version), Datum::text(e.comment)]);
            continue;
        }
        for version in e.versions() {
            rows.push(vec![
                Datum::name(e.name),
                Datum::text(version),
                Datum::bool(true),
                Datum::bool(e.trusted),
                Datum::bool(e.relocatable),
                name_or_null(e.schema),
                match e.requires {
                    [] => Datum::Null,
                    list => {
                        let names: Vec<Datum> = list.iter().map(|n| Datum::name(n)).collect();
                        types::array::of_builtin(oids::NAME, &names)?
                    }
                },
                Datum::text(e.comment),
            ]);
        }
    }
    Ok(rows)
}

/// Number of pages of a database with a wrong checksum, and the time of the last one (microseconds
/// since 2000-01-01). `None` without data checksums.
fn damage(core: &mut dyn SystemHost, database: Oid) -> Result<Option<(u64, i64)>> {
    if super::wal::control(core)?.get().data_checksum_version == 0 {
        return Ok(None);
    }
    Ok(Some(core.backend().storage().damage.of(database).unwrap_or_default()))
}

/// The memory of the session, as one context: it is not divided into contexts, and what is free is
/// returned to the allocator of the process.
fn memory() -> Vec<Vec<Datum>> {
    let bytes = Datum::int8(sync::memory::held() as i64);
    vec![vec![
        Datum::text("TopMemoryContext"),
        Datum::Null,
        Datum::Null,
        Datum::int4(0),
        bytes.clone(),
        Datum::int8(1),
        Datum::int8(0),
        Datum::int8(0),
        bytes,
    ]]
}

/// The references between catalogs.
fn foreign_keys() -> Result<Vec<Vec<Datum>>> {
    let names = |list: &str| {
        let names: Vec<Datum> = list.split(',').map(Datum::text).collect();
        types::array::of_builtin(oids::TEXT, &names)
    };
    let row = |key: catalog::facts::ForeignKey| {
        Ok(vec![
            Datum::oid(key.table),
            names(key.columns)?,
            Datum::oid(key.referenced),
            names(key.referenced_columns)?,
            Datum::bool(key.is_array),
            Datum::bool(key.is_optional),
        ])
    };
    catalog::facts::foreign_keys().map(row).collect()
}

fn void() -> Datum {
    Datum::Word(0)
}

fn abbreviations() -> Vec<Vec<Datum>> {
    let row = |(name, seconds, dst): &(&str, i32, bool)| {
        let time = i64::from(*seconds) * 1_000_000;
        let offset = Interval { time, day: 0, month: 0 }.datum();
        vec![Datum::text(name), offset, Datum::bool(*dst)]
    };
    types::datetime::abbreviations::all().iter().map(row).collect()
}

fn row_security(core: &mut dyn SystemHost, relation: Oid) -> Result<Datum> {
    Ok(match core.catalog().find_class(relation)? {
        // Row security policies are not implemented.
        Some(_) => Datum::bool(false),
        None => Datum::bool(false),
    })
}

/// `age(xid)`: the number of transaction ids assigned since this one.
fn age(core: &mut dyn SystemHost, xid: u32) -> Datum {
    // The permanent transaction ids have infinite age.
    if xid < 3 {
        return Datum::int4(i32::MAX);
    }
    let own = core.backend().txn.top_xid_if_any();
    let now = match own.is_valid() {
        true => own.0,
        false => core.backend().txn.manager().next_full_xid().0 as u32,
    };
    Datum::int4(now.wrapping_sub(xid) as i32)
}

fn multixact_age(core: &mut dyn SystemHost, multi: u32) -> Datum {
    if multi == 0 {
        return Datum::int4(i32::MAX);
    }
    let next = core.backend().txn.manager().next_multixact();
    Datum::int4(next.0.wrapping_sub(multi) as i32)
}

/// `Mon Jan 01 12:00:00.123456 2024 UTC`
fn time_of_day(core: &mut dyn SystemHost) -> Datum {
    const DAYS: [&str; 7] = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let now = core.clock_timestamp();
    let unix = now.div_euclid(1_000_000) + 946_684_800;
    let (offset, _, zone) = core.settings().time_zone.at_unix(unix);
    let local = now + i64::from(offset) * 1_000_000;
    let f = types::datetime::Fields::of_timestamp(local);
    let day = types::datetime::j2day(types::datetime::date2j(f.year, f.month, f.day));
    Datum::text(&format!(
        "{} {} {:02} {:02}:{:02}:{:02}.{:06} {:04} {zone}",
        DAYS[day as usize % 7],
        MONTHS[(f.month as usize).clamp(1, 12) - 1],
        f.day,
        f.hour,
        f.minute,
        f.second,
        f.micros,
        f.year,
    ))
}

fn encoding_length(number: i32) -> Datum {
    match catalog::encoding::bytes_max(number) {
        Some(n) => Datum::int4(n),
        None => Datum::Null,
    }
}

fn members(core: &mut dyn SystemHost, multi: u32) -> Result<Vec<Vec<Datum>>> {
    if multi < 1 {
        return Err(pg_err!(INVALID_PARAMETER_VALUE, "invalid MultiXactId: {multi}"));
    }
    let members = core.backend().txn.manager().multixact_members(ids::MultiXid(multi), false)?;
    let rows = members.iter();
    let rows = rows.map(|m| vec![Datum::Word(u64::from(m.xid.0)), Datum::text(m.status.name())]);
    Ok(rows.collect())
}

fn expressions(core: &mut dyn SystemHost, a: &[DatumRef<'_>]) -> Result<Datum> {
    match deparse::statistics_expressions(core, a[0].as_oid())? {
        Some(list) => {
            let list: Vec<Datum> = list.iter().map(|t| Datum::text(t)).collect();
            types::array::of_builtin(oids::TEXT, &list)
        }
        None => Ok(Datum::Null),
    }
}

/// The token types of a text search parser; there is only the default parser.
fn tokens(core: &mut dyn SystemHost, parser: Oid) -> Result<Vec<Vec<Datum>>> {
    check_parser(core, parser)?;
    Ok(catalog::facts::search_tokens()
        .map(|(number, name, text)| vec![Datum::int4(number), Datum::text(name), Datum::text(text)])
        .collect())
}

pub(super) const FNS: &[SysFn] = &[
    SysFn { name: "pg_config", call: SysCall::Set(|c, _| Ok(config(c))) },
    SysFn { name: "pg_available_extensions", call: SysCall::Set(|_, _| extensions(false)) },
    SysFn { name: "pg_available_extension_versions", call: SysCall::Set(|_, _| extensions(true)) },
    SysFn { name: "pg_get_backend_memory_contexts", call: SysCall::Set(|_, _| Ok(memory())) },
    SysFn { name: "pg_get_catalog_foreign_keys", call: SysCall::Set(|_, _| foreign_keys()) },
    // There is no shared memory.
    SysFn { name: "pg_get_shmem_allocations", call: SysCall::Set(|_, _| Ok(Vec::new())) },
    SysFn {
        name: "pg_stat_get_db_checksum_failures",
        call: SysCall::One(|c, a| {
            let found = damage(c, a[0].as_oid())?;
            Ok(found.map_or(Datum::Null, |(count, _)| Datum::int8(count as i64)))
        }),
    },
    SysFn {
        name: "pg_stat_get_db_checksum_last_failure",
        call: SysCall::One(|c, a| {
            let found = damage(c, a[0].as_oid())?.filter(|(count, _)| *count > 0);
            Ok(found.map_or(Datum::Null, |(_, when)| Datum::int8(when)))
        }),
    },
    SysFn {
        name: "pg_stat_get_wal_receiver",
        call: SysCall::Set(|_, _| Ok(vec![vec![Datum::Null; 15]])),
    },
    SysFn {
        name: "pg_stat_get_replication_slot",
        call: SysCall::Set(|_, a| {
            let mut row = vec![Datum::int8(0); 10];
            row[0] = a[0].to_owned();
            row[9] = Datum::Null;
            Ok(vec![row])
        }),
    },
    SysFn { name: "pg_stat_get_subscription", call: SysCall::Set(|_, _| Ok(Vec::new())) },
    SysFn {
        name: "pg_stat_get_subscription_stats",
        call: SysCall::Set(|_, a| {
            let zero = Datum::int8(0);
            Ok(vec![vec![a[0].to_owned(), zero.clone(), zero, Datum::Null]])
        }),
    },
    SysFn { name: "pg_stat_reset_replication_slot", call: SysCall::One(|_, _| Ok(void())) },
    SysFn { name: "pg_stat_reset_subscription_stats", call: SysCall::One(|_, _| Ok(void())) },
    SysFn { name: "pg_timezone_abbrevs", call: SysCall::Set(|_, _| Ok(abbreviations())) },
    SysFn {
        name: "row_security_active",
        call: SysCall::One(|c, a| row_security(c, a[0].as_oid())),
    },
    SysFn {
        name: "row_security_active_name",
        call: SysCall::One(|c, a| {
            let relation = super::definition::relation_named(c, &text(a[0]))?;
            row_security(c, relation)
        }),
    },
    SysFn { name: "ts_token_type_byid", call: SysCall::Set(|c, a| tokens(c, a[0].as_oid())) },
    SysFn {
        name: "ts_token_type_byname",
        call: SysCall::Set(|c, a| {
            let parser = parser_named(c, &text(a[0]))?;
            tokens(c, parser)
        }),
    },
    SysFn { name: "xid_age", call: SysCall::One(|c, a| Ok(age(c, a[0].word() as u32))) },
    SysFn { name: "mxid_age", call: SysCall::One(|c, a| Ok(multixact_age(c, a[0].word() as u32))) },
    SysFn { name: "timeofday", call: SysCall::One(|c, _| Ok(time_of_day(c))) },
    SysFn {
        name: "pg_encoding_max_length_sql",
        call: SysCall::One(|_, a| Ok(encoding_length(a[0].as_i32()))),
    },
    SysFn {
        name: "pg_get_multixact_members",
        call: SysCall::Set(|c, a| members(c, a[0].word() as u32)),
    },
    SysFn { name: "pg_get_statisticsobjdef_expressions", call: SysCall::One(expressions) },
];
