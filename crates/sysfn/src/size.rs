//! Sizes of relations and databases. Counterpart: utils/adt/dbsize.c.

use crate::function::{SysCall, SysFn, text};
use crate::host::SystemHost;
use catalog::RelDesc;
use ids::{Fork, Oid};
use lmgr::{LockMode, LockTag};
use pgerror::{Result, pg_err};
use types::{Datum, DatumRef};

pub(super) const FNS: &[SysFn] = &[
    SysFn { name: "pg_relation_size", call: SysCall::One(relation_size) },
    SysFn {
        name: "pg_table_size",
        call: SysCall::One(|c, a| size_of(c, a[0].as_oid(), &mut table_bytes)),
    },
    SysFn {
        name: "pg_indexes_size",
        call: SysCall::One(|c, a| size_of(c, a[0].as_oid(), &mut index_bytes)),
    },
    SysFn {
        name: "pg_total_relation_size",
        call: SysCall::One(|c, a| {
            size_of(c, a[0].as_oid(), &mut |c, d| Ok(table_bytes(c, d)? + index_bytes(c, d)?))
        }),
    },
    SysFn {
        name: "pg_database_size_oid",
        call: SysCall::One(|c, a| database_bytes(c, a[0].as_oid())),
    },
    SysFn {
        name: "pg_database_size_name",
        call: SysCall::One(|c, a| {
            let name = String::from_utf8_lossy(a[0].as_name()).into_owned();
            match c.catalog().find_database(&name)? {
                Some(d) => database_bytes(c, d.oid),
                None => Err(pg_err!(UNDEFINED_DATABASE, "database \"{name}\" does not exist")),
            }
        }),
    },
    SysFn {
        name: "pg_relation_filenode",
        call: SysCall::One(|c, a| {
            let Some(desc) = c.catalog().try_relation(a[0].as_oid())? else {
                return Ok(Datum::Null);
            };
            Ok(match file_of(&desc) {
                Some(f) => Datum::oid(f.relnumber),
                None => Datum::Null,
            })
        }),
    },
    SysFn {
        name: "pg_relation_filepath",
        call: SysCall::One(|c, a| {
            let Some(desc) = c.catalog().try_relation(a[0].as_oid())? else {
                return Ok(Datum::Null);
            };
            Ok(match file_of(&desc) {
                Some(f) => Datum::text(&f.path(Fork::Main, None)),
                None => Datum::Null,
            })
        }),
    },
];

pub(super) fn file_of(desc: &RelDesc) -> Option<ids::RelFile> {
    desc.table.as_ref().map(|t| t.file).or_else(|| desc.engine_index.as_ref().map(|i| i.file()))
}

fn fork_bytes(core: &mut dyn SystemHost, desc: &RelDesc, fork: Fork) -> Result<u64> {
    let Some(file) = file_of(desc) else { return Ok(0) };
    let persistence = desc.class.relpersistence;
    let pool = core.backend().pool(persistence);
    let buffers = pool.open(file, fork, persistence);
    Ok(u64::from(pool.nblocks_or_none(&buffers)?.unwrap_or(0)) * 8192)
}

fn all_forks(core: &mut dyn SystemHost, desc: &RelDesc) -> Result<u64> {
    Fork::ALL.iter().try_fold(0, |sum, f| Ok(sum + fork_bytes(core, desc, *f)?))
}

fn relation_size(core: &mut dyn SystemHost, args: &[DatumRef<'_>]) -> Result<Datum> {
    let fork = text(args[1]);
    size_of(core, args[0].as_oid(), &mut |c, desc| fork_bytes(c, desc, fork_named(&fork)?))
}

/// What `bytes` returns for the relation, which is locked meanwhile; NULL if it does not exist.
/// Counterpart: `try_relation_open`.
fn size_of(
    core: &mut dyn SystemHost,
    oid: Oid,
    bytes: &mut dyn FnMut(&mut dyn SystemHost, &RelDesc) -> Result<u64>,
) -> Result<Datum> {
    let Some(desc) = core.catalog().try_relation(oid)? else { return Ok(Datum::Null) };
    let mode = LockMode::AccessShare;
    let database = match desc.class.relisshared {
        true => Oid::INVALID,
        false => core.backend().database(),
    };
    let tag = LockTag::relation(database, oid);
    core.backend().lock(tag, mode)?;
    // The relation may have been dropped during the wait for the lock.
    let size = match core.catalog().try_relation(oid)? {
        Some(desc) => Datum::int8(bytes(core, &desc)? as i64),
        None => Datum::Null,
    };
    core.backend().unlock(tag, mode);
    Ok(size)
}

/// The fork of that name. Error 22023 if there is none.
pub(super) fn fork_named(name: &str) -> Result<Fork> {
    Ok(match name {
        "main" => Fork::Main,
        "fsm" => Fork::Fsm,
        "vm" => Fork::Vm,
        "init" => Fork::Init,
        _ => {
            return Err(pg_err!(INVALID_PARAMETER_VALUE, "invalid fork name")
                .hint("Valid fork names are \"main\", \"fsm\", \"vm\", and \"init\"."));
        }
    })
}

/// The size in bytes of a table with all forks and its TOAST table.
fn table_bytes(core: &mut dyn SystemHost, desc: &RelDesc) -> Result<u64> {
    let mut sum = all_forks(core, desc)?;
    if let Some(toast) = desc.class.reltoastrelid.valid() {
        let desc = core.catalog().relation(toast)?;
        sum += all_forks(core, &desc)?;
        sum += index_bytes(core, &desc)?;
    }
    Ok(sum)
}

fn index_bytes(core: &mut dyn SystemHost, desc: &RelDesc) -> Result<u64> {
    let mut sum = 0;
    for i in &desc.indexes {
        let index = core.catalog().relation(i.indexrelid)?;
        sum += all_forks(core, &index)?;
    }
    Ok(sum)
}

/// Total size in bytes of a database's files in all tablespaces; NULL if there are none.
fn database_bytes(core: &mut dyn SystemHost, oid: Oid) -> Result<Datum> {
    let disk = core.backend().storage().env.disk.clone();
    let listed = |dir: &str| match disk.list(dir) {
        Ok(names) => Ok(names),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(e) => Err(vfs::io_error("open directory", dir, &e)),
    };
    let mut dirs = vec![format!("base/{oid}")];
    for tablespace in listed("pg_tblspc")? {
        let version = engine::TABLESPACE_VERSION_DIRECTORY;
        dirs.push(format!("pg_tblspc/{}/{version}/{oid}", tablespace.name));
    }
    let mut sum = 0;
    for dir in dirs {
        for name in listed(&dir)? {
            if let Ok(f) = disk.open(&format!("{dir}/{}", name.name), vfs::OpenMode::Read) {
                sum += f.len().unwrap_or(0);
            }
        }
    }
    Ok(if sum == 0 { Datum::Null } else { Datum::int8(sum as i64) })
}
