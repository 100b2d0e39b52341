//! The functions of large objects, and the trigger function of the extension `lo`.
//!
//! Counterpart: libpq/be-fsstubs.c, contrib/lo/lo.c.

use crate::function::{SysCall, SysFn, text};
use crate::host::SystemHost;
use catalog::ObjectAddress;
use catalog::depend::DropBehavior;
use catalog::rows::PgLargeobject;
use executor::{BeforeRowResult, Change, Level};
use ids::Oid;
use largeobject::{LargeObject, Opening, READ, WRITE, Whence};
use pgerror::{PgError, Result, bail};
use trigger::TriggerCall;
use types::limits::{self, PAYLOAD_BYTES_MAX};
use types::{Datum, DatumRef};
use vfs::OpenMode;

/// Bytes of a file that are read and written at once.
const FILE_BUFFER_BYTES: usize = 65_536;

type Args<'a> = &'a [DatumRef<'a>];

pub(super) const FNS: &[SysFn] = &[
    SysFn {
        name: "lo_manage",
        call: SysCall::One(|_, _| {
            Err(PgError::internal("lo_manage: not fired by trigger manager"))
        }),
    },
    SysFn { name: "be_lo_creat", call: SysCall::One(|c, _| create(c, Oid::INVALID)) },
    SysFn { name: "be_lo_create", call: SysCall::One(|c, a| create(c, a[0].as_oid())) },
    SysFn { name: "be_lo_from_bytea", call: SysCall::One(from_bytes) },
    SysFn { name: "be_lo_get", call: SysCall::One(|c, a| get(c, a[0].as_oid(), 0, -1)) },
    SysFn { name: "be_lo_get_fragment", call: SysCall::One(get_part) },
    SysFn { name: "be_lo_put", call: SysCall::One(put) },
    SysFn { name: "be_lo_unlink", call: SysCall::One(|c, a| unlink(c, a[0].as_oid())) },
    SysFn { name: "be_lo_open", call: SysCall::One(open) },
    SysFn { name: "be_lo_close", call: SysCall::One(close) },
    SysFn { name: "be_loread", call: SysCall::One(read) },
    SysFn { name: "be_lowrite", call: SysCall::One(write) },
    SysFn { name: "be_lo_lseek", call: SysCall::One(seek) },
    SysFn { name: "be_lo_lseek64", call: SysCall::One(seek64) },
    SysFn { name: "be_lo_tell", call: SysCall::One(tell) },
    SysFn { name: "be_lo_tell64", call: SysCall::One(tell64) },
    SysFn {
        name: "be_lo_truncate",
        call: SysCall::One(|c, a| truncate(c, a[0].as_i32(), i64::from(a[1].as_i32()))),
    },
    SysFn {
        name: "be_lo_truncate64",
        call: SysCall::One(|c, a| truncate(c, a[0].as_i32(), a[1].as_i64())),
    },
    SysFn { name: "be_lo_import", call: SysCall::One(|c, a| import(c, &text(a[0]), Oid::INVALID)) },
    SysFn {
        name: "be_lo_import_with_oid",
        call: SysCall::One(|c, a| import(c, &text(a[0]), a[1].as_oid())),
    },
    SysFn {
        name: "be_lo_export",
        call: SysCall::One(|c, a| export(c, a[0].as_oid(), &text(a[1]))),
    },
];

/// True if privileges are not checked.
fn is_unchecked(c: &dyn SystemHost) -> bool {
    c.setting("lo_compat_privileges") == "on"
}

/// Opens an object, for reading with the snapshot of the running statement.
fn open_object(c: &mut dyn SystemHost, oid: Oid, mode: i32) -> Result<LargeObject> {
    let snapshot = c.backend().active_snapshot().cloned();
    let unchecked = is_unchecked(c);
    LargeObject::open(&mut c.catalog(), oid, Opening { mode, snapshot, unchecked })
}

fn create(c: &mut dyn SystemHost, oid: Oid) -> Result<Datum> {
    Ok(Datum::oid(largeobject::create(&mut c.catalog(), oid)?))
}

fn from_bytes(c: &mut dyn SystemHost, a: Args<'_>) -> Result<Datum> {
    let oid = largeobject::create(&mut c.catalog(), a[0].as_oid())?;
    let mut object = open_object(c, oid, WRITE)?;
    object.write(&mut c.catalog(), a[1].as_bytes())?;
    Ok(Datum::oid(oid))
}

/// Reads `count` bytes from `offset` on, or all of them if `count` is negative.
fn get(c: &mut dyn SystemHost, oid: Oid, offset: i64, count: i64) -> Result<Datum> {
    let mut object = open_object(c, oid, READ)?;
    let size = object.seek(&mut c.catalog(), 0, Whence::End)?;
    let rest = if size > offset { size.saturating_sub(offset) } else { 0 };
    let count = if (0..=rest).contains(&count) { count } else { rest };
    if count > PAYLOAD_BYTES_MAX as i64 {
        bail!(PROGRAM_LIMIT_EXCEEDED, "large object read request is too large");
    }
    object.seek(&mut c.catalog(), offset, Whence::Start)?;
    Ok(Datum::bytes(object.read(&mut c.catalog(), count as usize)?))
}

fn get_part(c: &mut dyn SystemHost, a: Args<'_>) -> Result<Datum> {
    let count = a[2].as_i32();
    if count < 0 {
        bail!(INVALID_PARAMETER_VALUE, "requested length cannot be negative");
    }
    get(c, a[0].as_oid(), a[1].as_i64(), i64::from(count))
}

fn put(c: &mut dyn SystemHost, a: Args<'_>) -> Result<Datum> {
    let mut object = open_object(c, a[0].as_oid(), WRITE)?;
    object.seek(&mut c.catalog(), a[1].as_i64(), Whence::Start)?;
    object.write(&mut c.catalog(), a[2].as_bytes())?;
    Ok(Datum::Word(0))
}

fn unlink(c: &mut dyn SystemHost, oid: Oid) -> Result<Datum> {
    if !is_unchecked(c) {
        largeobject::check_owner(&mut c.catalog(), oid)?;
    }
    c.large_objects().close_object(oid);
    let object = ObjectAddress::of::<PgLargeobject>(oid);
    c.as_command(&mut |host| {
        define::deletion::drop_objects(host, &[object], DropBehavior::Cascade, false)
    })?;
    Ok(Datum::int4(1))
}

fn open(c: &mut dyn SystemHost, a: Args<'_>) -> Result<Datum> {
    let object = open_object(c, a[0].as_oid(), a[1].as_i32())?;
    let level = c.backend().txn.nesting();
    Ok(Datum::int4(c.large_objects().add(object, level)?))
}

fn close(c: &mut dyn SystemHost, a: Args<'_>) -> Result<Datum> {
    c.large_objects().close(a[0].as_i32())?;
    Ok(Datum::int4(0))
}

/// Runs `work` with the object of a descriptor, whose new position is kept also after an error.
fn with_object<T>(
    c: &mut dyn SystemHost,
    descriptor: i32,
    work: impl FnOnce(&mut dyn SystemHost, &mut LargeObject) -> Result<T>,
) -> Result<T> {
    let mut object = c.large_objects().get(descriptor)?.clone();
    let result = work(c, &mut object);
    c.large_objects().get(descriptor)?.offset = object.offset;
    result
}

fn read(c: &mut dyn SystemHost, a: Args<'_>) -> Result<Datum> {
    let count = a[1].as_i32().max(0) as usize;
    if count > PAYLOAD_BYTES_MAX {
        return Err(limits::invalid_allocation(count + 4));
    }
    // An object that is open for writing can be read.
    let bytes = with_object(c, a[0].as_i32(), |c, object| object.read(&mut c.catalog(), count))?;
    Ok(Datum::bytes(bytes))
}

fn not_for_writing(descriptor: i32) -> PgError {
    pgerror::pg_err!(
        OBJECT_NOT_IN_PREREQUISITE_STATE,
        "large object descriptor {descriptor} was not opened for writing"
    )
}

fn write(c: &mut dyn SystemHost, a: Args<'_>) -> Result<Datum> {
    let (descriptor, bytes) = (a[0].as_i32(), a[1].as_bytes());
    with_object(c, descriptor, |c, object| {
        if !object.writes {
            return Err(not_for_writing(descriptor));
        }
        object.write(&mut c.catalog(), bytes)
    })?;
    Ok(Datum::int4(bytes.len() as i32))
}

fn truncate(c: &mut dyn SystemHost, descriptor: i32, size: i64) -> Result<Datum> {
    with_object(c, descriptor, |c, object| {
        if !object.writes {
            return Err(not_for_writing(descriptor));
        }
        object.truncate(&mut c.catalog(), size)
    })?;
    Ok(Datum::int4(0))
}

fn moved(c: &mut dyn SystemHost, descriptor: i32, offset: i64, whence: i32) -> Result<i64> {
    with_object(c, descriptor, |c, object| {
        object.seek(&mut c.catalog(), offset, Whence::of(whence)?)
    })
}

/// A position as an `int4`; 22003 if it is too large.
fn short(position: i64, function: &str, descriptor: i32) -> Result<Datum> {
    match i32::try_from(position) {
        Ok(position) => Ok(Datum::int4(position)),
        Err(_) => bail!(
            NUMERIC_VALUE_OUT_OF_RANGE,
            "{function} result out of range for large-object descriptor {descriptor}"
        ),
    }
}

fn seek(c: &mut dyn SystemHost, a: Args<'_>) -> Result<Datum> {
    let descriptor = a[0].as_i32();
    let position = moved(c, descriptor, i64::from(a[1].as_i32()), a[2].as_i32())?;
    short(position, "lo_lseek", descriptor)
}

fn seek64(c: &mut dyn SystemHost, a: Args<'_>) -> Result<Datum> {
    Ok(Datum::int8(moved(c, a[0].as_i32(), a[1].as_i64(), a[2].as_i32())?))
}

fn tell(c: &mut dyn SystemHost, a: Args<'_>) -> Result<Datum> {
    let descriptor = a[0].as_i32();
    short(c.large_objects().get(descriptor)?.offset, "lo_tell", descriptor)
}

fn tell64(c: &mut dyn SystemHost, a: Args<'_>) -> Result<Datum> {
    Ok(Datum::int8(c.large_objects().get(a[0].as_i32())?.offset))
}

fn failed(what: &str, path: &str, error: &std::io::Error) -> PgError {
    vfs::io_error_with(&format!("could not {what} server file \"{path}\""), error)
}

/// Creates an object with the contents of a file of the server.
fn import(c: &mut dyn SystemHost, path: &str, oid: Oid) -> Result<Datum> {
    let disk = c.backend().storage().env.disk.clone();
    let file = disk.open(path, OpenMode::Read).map_err(|e| failed("open", path, &e))?;
    let oid = largeobject::create(&mut c.catalog(), oid)?;
    let mut object = open_object(c, oid, WRITE)?;
    let mut buffer = vec![0; FILE_BUFFER_BYTES];
    loop {
        let at = object.offset as u64;
        let count = file.read_at(&mut buffer, at).map_err(|e| failed("read", path, &e))?;
        if count == 0 {
            return Ok(Datum::oid(oid));
        }
        object.write(&mut c.catalog(), &buffer[..count])?;
    }
}

/// Writes an object to a file of the server, which all users of the machine can read.
fn export(c: &mut dyn SystemHost, oid: Oid, path: &str) -> Result<Datum> {
    let mut object = open_object(c, oid, READ)?;
    let disk = c.backend().storage().env.disk.clone();
    let is_new = disk.stat(path).is_err();
    let file = disk.open(path, OpenMode::Truncate).map_err(|e| failed("create", path, &e))?;
    if is_new {
        disk.set_mode(path, 0o644).map_err(|e| failed("create", path, &e))?;
    }
    loop {
        let at = object.offset as u64;
        let bytes = object.read(&mut c.catalog(), FILE_BUFFER_BYTES)?;
        if bytes.is_empty() {
            return Ok(Datum::int4(1));
        }
        file.write_all_at(&bytes, at).map_err(|e| failed("write", path, &e))?;
    }
}

/// The number at the start of a text. Counterpart: `atooid`.
fn leading_oid(text: &[u8]) -> Oid {
    let text = String::from_utf8_lossy(text);
    let text = text.trim_start();
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    Oid(text[..end].parse().unwrap_or_default())
}

/// `lo_manage`: deletes the object that a column refers to when the row is deleted or the column
/// gets another value.
pub(crate) fn manage(c: &mut dyn SystemHost, call: &TriggerCall<'_>) -> Result<BeforeRowResult> {
    let name = &call.trigger.name;
    if call.trigger.level != Level::Row {
        return Err(PgError::internal(format!("{name}: must be fired for row")));
    }
    let Some(column) = call.trigger.args.first() else {
        let message = format!("{name}: no column name provided in the trigger definition");
        return Err(PgError::internal(message));
    };
    let columns = &*call.rel.columns;
    let found = columns.columns.iter().position(|c| !c.is_dropped() && c.name == **column);
    let Some(at) = found else {
        return Err(PgError::internal(format!("{name}: column \"{column}\" does not exist")));
    };
    let is_changed = match call.change {
        Change::Update => call.updated.contains(&(at as ids::AttrNo + 1)),
        Change::Delete => true,
        _ => false,
    };
    if !is_changed {
        return Ok(BeforeRowResult::Keep);
    }
    let mut shown = |row: Option<&[DatumRef<'_>]>| match row.map(|row| row[at]) {
        None | Some(DatumRef::Null) => Ok(None),
        Some(value) => c.type_output(columns.columns[at].ty, value).map(Some),
    };
    let old = shown(call.old_row)?;
    let new = if call.change == Change::Update { shown(call.new_row)? } else { None };
    if let Some(old) = old.filter(|old| new.as_ref() != Some(old)) {
        unlink(c, leading_oid(&old))?;
    }
    Ok(BeforeRowResult::Keep)
}
