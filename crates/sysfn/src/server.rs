//! Functions on tablespaces, time zones, file numbers and other properties of the server.
//!
//! Counterpart: utils/adt/misc.c, utils/adt/dbsize.c, utils/adt/timestamp.c, commands/extension.c.

use crate::function::{SysCall, SysFn, text};
use crate::host::SystemHost;
use analyze::SessionLookup;
use catalog::rows::{PgClass, PgIndex};
use ids::builtin::tablespace;
use ids::code::ReplicaIdentity;
use ids::{Oid, Persistence};
use pgerror::{Result, pg_err};
use types::datetime::Interval;
use types::zone::Zone;
use types::{Datum, DatumRef, oids};
use vfs::FileKind;

/// Seconds from 1970-01-01 to 2000-01-01.
const EPOCH_SHIFT: i64 = 946_684_800;

/// Total size in bytes of the files in a directory tree.
fn tree_bytes(core: &mut dyn SystemHost, dir: &str) -> u64 {
    let disk = core.backend().storage().env.disk.clone();
    let mut sum = 0;
    let mut next = vec![dir.to_owned()];
    while let Some(dir) = next.pop() {
        // Files that are removed concurrently count as empty.
        for e in disk.list(&dir).unwrap_or_default() {
            let path = format!("{dir}/{}", e.name);
            match e.kind {
                FileKind::Dir => next.push(path),
                _ => sum += disk.stat(&path).map_or(0, |s| s.len),
            }
        }
    }
    sum
}

fn tablespace_dir(oid: Oid) -> String {
    match oid.0 {
        1663 => "base".to_owned(),
        1664 => "global".to_owned(),
        n => format!("pg_tblspc/{n}"),
    }
}

fn tablespace_size(core: &mut dyn SystemHost, oid: Oid) -> Result<Datum> {
    let key = [oid.into()];
    if core.catalog().search(catalog::cache::TABLESPACEOID, &key)?.is_none() {
        return Ok(Datum::Null);
    }
    let user = core.catalog_session().user;
    let own = core.catalog().search(catalog::cache::TABLESPACEOID, &key)?;
    let reader = catalog::acl::roles::READ_ALL_STATS;
    if let Some(row) = own
        && oid.0 != 1663
        && !core.catalog().is_member(user, reader, true)?
    {
        let acl = row.spcacl.as_deref();
        let kind = catalog::acl::Kind::Tablespace;
        let wanted = catalog::acl::CREATE;
        if !core.catalog().has_privilege(user, row.spcowner, acl, kind, wanted)? {
            return Err(pg_err!(
                INSUFFICIENT_PRIVILEGE,
                "permission denied for tablespace {}",
                row.spcname
            ));
        }
    }
    Ok(Datum::int8(tree_bytes(core, &tablespace_dir(oid)) as i64))
}

/// `pg_tablespace_databases`: the databases with files in a tablespace.
fn tablespace_databases(core: &mut dyn SystemHost, oid: Oid) -> Result<Vec<Vec<Datum>>> {
    if oid == tablespace::GLOBAL {
        let e = pg_err!(WARNING, "global tablespace never has databases");
        core.notice(e.severity(pgerror::Severity::Warning));
        return Ok(Vec::new());
    }
    let disk = core.backend().storage().env.disk.clone();
    let dir = match oid.0 {
        1663 => "base".to_owned(),
        n => format!("pg_tblspc/{n}/{}", engine::TABLESPACE_VERSION_DIRECTORY),
    };
    let Ok(list) = disk.list(&dir) else {
        let e = pg_err!(WARNING, "{} is not a tablespace OID", oid.0);
        core.notice(e.severity(pgerror::Severity::Warning));
        return Ok(Vec::new());
    };
    let mut out = Vec::new();
    for e in list {
        let Ok(database) = e.name.parse::<u32>() else { continue };
        let path = format!("{dir}/{}", e.name);
        if disk.list(&path).is_ok_and(|l| !l.is_empty()) {
            out.push(vec![Datum::oid(Oid(database))]);
        }
    }
    Ok(out)
}

fn tablespace_location(core: &mut dyn SystemHost, oid: Oid) -> Result<Datum> {
    let oid = if oid.is_valid() { oid } else { core.catalog_session().tablespace };
    if matches!(oid, tablespace::DEFAULT | tablespace::GLOBAL) {
        return Ok(Datum::text(""));
    }
    let path = format!("pg_tblspc/{}", oid.0);
    let disk = core.backend().storage().env.disk.clone();
    match disk.lstat(&path).map(|s| s.kind) {
        Ok(FileKind::Symlink) => match disk.read_link(&path) {
            Ok(target) => Ok(Datum::text(&target)),
            Err(e) => Err(vfs::io_error("read symbolic link", &path, &e)),
        },
        Ok(_) => Ok(Datum::text(&path)),
        Err(e) => Err(vfs::io_error("stat file", &path, &e)),
    }
}

fn offset(seconds: i32) -> Datum {
    Interval { time: i64::from(seconds) * 1_000_000, day: 0, month: 0 }.datum()
}

/// `pg_timezone_names`: name, abbreviation, offset and daylight saving of all time zones at the
/// start of the transaction.
fn time_zones(core: &mut dyn SystemHost) -> Result<Vec<Vec<Datum>>> {
    let now = core.transaction_timestamp().div_euclid(1_000_000) + EPOCH_SHIFT;
    let mut names = Vec::new();
    for name in types::zone::names() {
        let Some(zone) = Zone::named(&name).filter(Zone::is_acceptable) else { continue };
        let (seconds, dst, abbrev) = zone.at_unix(now);
        names.push(vec![
            Datum::text(&name),
            Datum::text(&abbrev),
            offset(seconds),
            Datum::bool(dst),
        ]);
    }
    Ok(names)
}

/// `pg_options_to_table`: options `name=value` as rows.
fn options(a: DatumRef<'_>) -> Result<Vec<Vec<Datum>>> {
    let info = types::builtin_types::get(oids::TEXT)
        .ok_or_else(|| pgerror::PgError::internal("text is a type"))?;
    let mut rows = Vec::new();
    for item in types::array::ArrayRef::new(a)?.iter(&info.info) {
        if item.is_null() {
            continue;
        }
        let item = text(item);
        rows.push(match item.split_once('=') {
            Some((name, value)) => vec![Datum::text(name), Datum::text(value)],
            None => vec![Datum::text(&item), Datum::Null],
        });
    }
    Ok(rows)
}

fn filenode_relation(core: &mut dyn SystemHost, space: Oid, number: Oid) -> Result<Datum> {
    if !number.is_valid() {
        return Ok(Datum::Null);
    }
    let space = if space == core.catalog_session().tablespace { Oid::INVALID } else { space };
    let shared = space == ids::RelFile::GLOBAL_TABLESPACE;
    // Temporary relations are excluded, because their file numbers are not unique.
    let found = core.catalog().scan_all::<PgClass>()?.into_iter().find(|row| {
        row.relfilenode == number
            && row.reltablespace == space
            && row.relpersistence != Persistence::Temporary
    });
    let found = match found {
        Some(row) if !shared => Some(row.oid),
        _ => core.catalog().mapped_relation(number, shared)?,
    };
    Ok(found.map_or(Datum::Null, Datum::oid))
}

fn replica_identity(core: &mut dyn SystemHost, oid: Oid) -> Result<Datum> {
    let desc = core.catalog().relation(oid)?;
    let wanted = |i: &PgIndex| match desc.class.relreplident {
        ReplicaIdentity::Index => i.indisreplident,
        ReplicaIdentity::Default => i.indisprimary && i.indimmediate,
        ReplicaIdentity::Nothing | ReplicaIdentity::Full => false,
    };
    let found = desc.indexes.iter().find(|i| wanted(i));
    Ok(found.map_or(Datum::Null, |i| Datum::oid(i.indexrelid)))
}

/// The commands that can change a relation, as bits: 4 for UPDATE, 8 for INSERT, 16 for DELETE, as
/// in `CmdType`.
fn updatable(
    core: &mut dyn SystemHost,
    oid: Oid,
    column: Option<ids::AttrNo>,
    triggers: bool,
) -> Result<i32> {
    let columns = column.as_ref().map(std::slice::from_ref);
    analyze::updatable::updatable_commands(&mut SessionLookup::new(core), oid, columns, triggers, 0)
}

pub(super) const FNS: &[SysFn] = &[
    SysFn {
        name: "pg_tablespace_size_oid",
        call: SysCall::One(|c, a| tablespace_size(c, a[0].as_oid())),
    },
    SysFn {
        name: "pg_tablespace_size_name",
        call: SysCall::One(|c, a| {
            let name = String::from_utf8_lossy(a[0].as_name()).into_owned();
            match c.catalog().find_tablespace(&name)? {
                Some(t) => tablespace_size(c, t.oid),
                None => Err(pg_err!(UNDEFINED_OBJECT, "tablespace \"{name}\" does not exist")),
            }
        }),
    },
    SysFn {
        name: "pg_tablespace_location",
        call: SysCall::One(|c, a| tablespace_location(c, a[0].as_oid())),
    },
    SysFn {
        name: "pg_tablespace_databases",
        call: SysCall::Set(|c, a| tablespace_databases(c, a[0].as_oid())),
    },
    SysFn { name: "pg_timezone_names", call: SysCall::Set(|c, _| time_zones(c)) },
    SysFn { name: "pg_options_to_table", call: SysCall::Set(|_, a| options(a[0])) },
    SysFn {
        name: "pg_filenode_relation",
        call: SysCall::One(|c, a| filenode_relation(c, a[0].as_oid(), a[1].as_oid())),
    },
    SysFn {
        name: "pg_get_replica_identity_index",
        call: SysCall::One(|c, a| replica_identity(c, a[0].as_oid())),
    },
    SysFn {
        name: "pg_relation_is_updatable",
        call: SysCall::One(|c, a| {
            Ok(Datum::int4(updatable(c, a[0].as_oid(), None, a[1].as_bool())?))
        }),
    },
    SysFn {
        name: "pg_column_is_updatable",
        call: SysCall::One(|c, a| {
            let column = a[1].as_i16();
            let wanted = 1 << 2 | 1 << 4;
            let have = if column > 0 {
                updatable(c, a[0].as_oid(), Some(column), a[2].as_bool())?
            } else {
                0
            };
            Ok(Datum::bool(have & wanted == wanted))
        }),
    },
    SysFn {
        name: "suppress_redundant_updates_trigger",
        call: SysCall::One(|_, _| {
            Err(pg_err!(
                E_R_I_E_TRIGGER_PROTOCOL_VIOLATED,
                "suppress_redundant_updates_trigger: must be called as trigger"
            ))
        }),
    },
    SysFn { name: "pg_jit_available", call: SysCall::One(|_, _| Ok(Datum::bool(false))) },
    SysFn {
        name: "pg_safe_snapshot_blocking_pids",
        call: SysCall::One(|_, _| types::array::of_builtin(oids::INT4, &[])),
    },
];
