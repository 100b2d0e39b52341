//! Sequence functions. Counterpart: commands/sequence.c.

use crate::function::{SysCall, SysFn, text};
use crate::host::SystemHost;
use catalog::rows::{CatalogRow, PgClass};
use catalog::{RelDesc, acl, cache};
use engine::sequence::{self, SequenceFile, SequenceParams};
use hashbrown::HashMap;
use ids::code::DepType;
use ids::{Oid, Persistence, RelFile, RelKind};
use pgerror::{Result, pg_err};
use std::sync::Arc;
use types::{Datum, DatumRef};

pub(super) const FNS: &[SysFn] = &[
    SysFn {
        name: "nextval_oid",
        call: SysCall::One(|c, a| Ok(Datum::int8(nextval(c, a[0].as_oid(), true)?))),
    },
    SysFn { name: "currval_oid", call: SysCall::One(|c, a| currval(c, a[0].as_oid())) },
    SysFn { name: "lastval", call: SysCall::One(|c, _| lastval(c)) },
    SysFn {
        name: "setval_oid",
        call: SysCall::One(|c, a| setval(c, a[0].as_oid(), a[1].as_i64(), true)),
    },
    SysFn {
        name: "setval3_oid",
        call: SysCall::One(|c, a| setval(c, a[0].as_oid(), a[1].as_i64(), a[2].as_bool())),
    },
    SysFn {
        name: "pg_sequence_parameters",
        call: SysCall::Set(|c, a| {
            let oid = a[0].as_oid();
            if c.catalog().find_class(oid)?.is_none() {
                return Err(pg_err!(UNDEFINED_TABLE, "relation with OID {oid} does not exist"));
            }
            let row = row_of(c, oid)?;
            Ok(vec![vec![
                Datum::int8(row.seqstart),
                Datum::int8(row.seqmin),
                Datum::int8(row.seqmax),
                Datum::int8(row.seqincrement),
                Datum::bool(row.seqcycle),
                Datum::int8(row.seqcache),
                Datum::oid(row.seqtypid),
            ]])
        }),
    },
    SysFn {
        name: "pg_sequence_last_value",
        call: SysCall::One(|c, a| {
            let opened = open(c, a[0].as_oid())?;
            let data = sequence::read(c.backend(), opened.storage())?;
            Ok(if data.is_called { Datum::int8(data.last_value) } else { Datum::Null })
        }),
    },
    SysFn { name: "pg_get_serial_sequence", call: SysCall::One(serial_sequence) },
];

fn row_of(core: &mut dyn SystemHost, oid: Oid) -> Result<catalog::Row<catalog::rows::PgSequence>> {
    core.catalog().get(cache::SEQRELID, &[oid.into()], format_args!("sequence {oid}"))
}

/// An opened and locked sequence.
struct Opened {
    file: RelFile,
    persistence: ids::Persistence,
    desc: Arc<RelDesc>,
}

impl Opened {
    fn name(&self) -> &str {
        self.desc.name()
    }

    fn storage(&self) -> SequenceFile<'_> {
        SequenceFile { file: self.file, persistence: self.persistence, name: self.name() }
    }
}

/// Locks and opens a sequence. Its file is looked up after the lock is granted, because ALTER
/// SEQUENCE may have assigned another file. Values that the session has cached from the old file
/// are discarded. Counterpart: `init_sequence`.
fn open(core: &mut dyn SystemHost, oid: Oid) -> Result<Opened> {
    core.catalog().relation(oid)?;
    core.lock_relation(oid, 3)?;
    let desc = core.catalog().relation(oid)?;
    if desc.kind() != RelKind::Sequence {
        return Err(pg_err!(WRONG_OBJECT_TYPE, "\"{}\" is not a sequence", desc.name()));
    }
    let table = desc.rows()?;
    if let Some(held) = core.sequences().cached.get_mut(&oid)
        && held.file != table.file
    {
        held.file = table.file;
        held.cached = held.last;
    }
    Ok(Opened { file: table.file, persistence: table.persistence, desc })
}

fn check_privileges(core: &mut dyn SystemHost, oid: Oid, wanted: u32) -> Result<()> {
    let class = core.catalog().class(oid)?;
    let user = core.catalog_session().user;
    let have = core.catalog().relation_privileges(user, &class, wanted)?;
    if have == 0 {
        return Err(pg_err!(
            INSUFFICIENT_PRIVILEGE,
            "permission denied for sequence {}",
            class.relname.as_str()
        ));
    }
    Ok(())
}

/// Error 25006 in a read-only transaction, except for temporary sequences.
fn check_writable(core: &mut dyn SystemHost, oid: Oid, what: &str) -> Result<()> {
    if !core.is_read_only() || core.catalog().class(oid)?.relpersistence == Persistence::Temporary {
        return Ok(());
    }
    Err(pg_err!(READ_ONLY_SQL_TRANSACTION, "cannot execute {what} in a read-only transaction"))
}

/// `nextval`. Values cached by the session are used first.
pub fn nextval(core: &mut dyn SystemHost, oid: Oid, check: bool) -> Result<i64> {
    let opened = open(core, oid)?;
    if check {
        check_privileges(core, oid, acl::USAGE | acl::UPDATE)?;
    }
    check_writable(core, oid, "nextval()")?;
    let row = row_of(core, oid)?;
    let sequences = core.sequences();
    if let Some(c) = sequences.cached.get_mut(&oid)
        && c.last != c.cached
    {
        c.last += row.seqincrement;
        sequences.last = oid;
        return Ok(c.last);
    }
    let params = SequenceParams {
        increment: row.seqincrement,
        min: row.seqmin,
        max: row.seqmax,
        cache: row.seqcache,
        cycle: row.seqcycle,
    };
    let got = sequence::next_values(core.backend(), opened.storage(), &params)?;
    let held = CachedSequence { file: opened.file, last: got.next, cached: got.cached };
    core.sequences().cached.insert(oid, held);
    core.sequences().last = oid;
    Ok(got.next)
}

/// The sequences that a session has used.
#[derive(Default, Debug)]
pub struct Sequences {
    pub cached: HashMap<Oid, CachedSequence>,
    /// The sequence of the last `nextval`; invalid before the first one.
    pub last: Oid,
}

/// The values of a sequence that a session has cached.
#[derive(Clone, Copy, Debug)]
pub struct CachedSequence {
    pub last: i64,
    /// The file that the values came from. They are invalid if the sequence has another file now.
    pub file: RelFile,
    /// The last value reserved for this session.
    pub cached: i64,
}

fn currval(core: &mut dyn SystemHost, oid: Oid) -> Result<Datum> {
    let opened = open(core, oid)?;
    check_privileges(core, oid, acl::USAGE | acl::SELECT)?;
    match core.sequences().cached.get(&oid) {
        Some(c) => Ok(Datum::int8(c.last)),
        None => Err(pg_err!(
            OBJECT_NOT_IN_PREREQUISITE_STATE,
            "currval of sequence \"{}\" is not yet defined in this session",
            opened.name()
        )),
    }
}

/// The last value of the most recently used sequence. Counterpart: `lastval`.
fn lastval(core: &mut dyn SystemHost) -> Result<Datum> {
    let undefined =
        || pg_err!(OBJECT_NOT_IN_PREREQUISITE_STATE, "lastval is not yet defined in this session");
    let oid = core.sequences().last;
    if core.catalog().try_relation(oid)?.is_none() {
        return Err(undefined());
    }
    open(core, oid)?;
    let held = core.sequences().cached.get(&oid).copied().ok_or_else(undefined)?;
    check_privileges(core, oid, acl::USAGE | acl::SELECT)?;
    Ok(Datum::int8(held.last))
}

fn setval(core: &mut dyn SystemHost, oid: Oid, value: i64, is_called: bool) -> Result<Datum> {
    let opened = open(core, oid)?;
    check_privileges(core, oid, acl::UPDATE)?;
    check_writable(core, oid, "setval()")?;
    let row = row_of(core, oid)?;
    if value < row.seqmin || value > row.seqmax {
        return Err(pg_err!(
            NUMERIC_VALUE_OUT_OF_RANGE,
            "setval: value {value} is out of bounds for sequence \"{}\" ({}..{})",
            opened.name(),
            row.seqmin,
            row.seqmax
        ));
    }
    if is_called {
        let held = CachedSequence { file: opened.file, last: value, cached: value };
        core.sequences().cached.insert(oid, held);
    } else if let Some(c) = core.sequences().cached.get_mut(&oid) {
        // The last returned value is kept for `currval`; the cached ones are discarded.
        c.cached = c.last;
    }
    sequence::set_value(core.backend(), opened.storage(), value, is_called)?;
    Ok(Datum::int8(value))
}

/// `pg_get_serial_sequence`: the sequence that belongs to a column.
fn serial_sequence(core: &mut dyn SystemHost, args: &[DatumRef<'_>]) -> Result<Datum> {
    let table = text(args[0]);
    let column = text(args[1]);
    let (schema, name) = super::reg::split_relation_name(core, &table)?;
    let oid = core.catalog().relation_oid(schema.as_deref(), &name)?;
    let desc = core.catalog().relation(oid)?;
    let Some(att) = desc.column(&column) else {
        return Err(pg_err!(
            UNDEFINED_COLUMN,
            "column \"{column}\" of relation \"{name}\" does not exist"
        ));
    };
    let target = catalog::depend::ObjectAddress::column(oid, att.attnum);
    for d in core.catalog().dependents_of(target)?.iter() {
        let owned = matches!(d.deptype, DepType::Auto | DepType::Internal)
            && d.classid == PgClass::RELATION;
        if owned && core.catalog().class(d.objid)?.relkind == RelKind::Sequence {
            let class = core.catalog().class(d.objid)?;
            let schema = core.catalog().namespace_name(class.relnamespace)?;
            let schema = schema.map(|s| s.as_str().to_string()).unwrap_or_default();
            let quote = catalog::format_type::quote_identifier;
            let full = format!("{}.{}", quote(&schema), quote(class.relname.as_str()));
            return Ok(Datum::text(&full));
        }
    }
    Ok(Datum::Null)
}
