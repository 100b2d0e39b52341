//! Files of databases and tablespaces: creation, copying, removal, and replay of their records.
//!
//! Counterpart: dbcommands.c, tablespace.c.

use crate::backend::Backend;
use crate::checkpoint::CheckpointFlags;
use crate::describe::text;
use crate::engine::Engine;
use crate::relmap::{DbKey, database_path};
use crate::truncate;
use crate::unlogged::{copy_dir, databases, names};
use crate::xlog::XLOG_FPI;
use bufmgr::redo::RedoCx;
use bufmgr::{PageEdit, Strategy};
use ids::{BlockNo, Fork, Oid, Persistence, RelFile, Xid};
use pgerror::{PgError, Result, Severity, SqlState};
use smgr::RelFork;
use std::fmt::Write;
use std::io::ErrorKind;
use vfs::{Disk, io_error};
use wal::record::XLR_SPECIAL_REL_UPDATE;
use wal::{DecodedRecord, Fields, RecordBuilder, RegFlags, RmgrId};

const DBASE_CREATE_FILE_COPY: u8 = 0x00;
const DBASE_CREATE_WAL_LOG: u8 = 0x10;
const DBASE_DROP: u8 = 0x20;
const TBLSPC_CREATE: u8 = 0x00;
const TBLSPC_DROP: u8 = 0x10;
/// Directory of this version's files in a tablespace.
pub const TABLESPACE_VERSION_DIRECTORY: &str = "PG_15_202209061";
const VERSION_FILE: &[u8] = b"15\n";

/// A relation of the template database.
#[derive(Clone, Copy, Debug)]
pub struct SourceRelation {
    pub file: RelFile,
    pub unlogged: bool,
}

impl Engine {
    /// Copies database `from` to the new database `to` and logs each block, so that no checkpoint
    /// is needed. `relations` are the relations in the catalogs of `from`, to which no session is
    /// connected. After an error the new files are removed. WAL: `DBASE_CREATE_WAL_LOG`, then
    /// `XLOG_FPI` per block. Counterpart: `CreateDatabaseUsingWalLog`.
    pub fn create_database(
        &self,
        be: &mut Backend,
        from: DbKey,
        to: DbKey,
        relations: &[SourceRelation],
    ) -> Result<()> {
        let result = self.create_database_logged(be, from, to, relations);
        if result.is_err() {
            self.remove_failed(to.1);
        }
        result
    }

    fn create_database_logged(
        &self,
        be: &mut Backend,
        from: DbKey,
        to: DbKey,
        relations: &[SourceRelation],
    ) -> Result<()> {
        let disk = &*self.env.disk;
        let xid = be.current_xid()?;
        be.scratch.reset(RmgrId::Dbase, DBASE_CREATE_WAL_LOG);
        be.scratch.main(&to.1.0.to_le_bytes()).main(&to.0.0.to_le_bytes());
        let at = self.wal.insert(&mut be.scratch, &[], xid)?;
        self.wal.flush(at.end)?;
        create_directory(disk, to, false)?;
        self.relmaps.copy(&self.wal, &mut be.scratch, from, to, xid)?;
        for source in relations {
            be.check_interrupts()?;
            let tablespace = match source.file.tablespace == from.0 {
                true => to.0,
                false => source.file.tablespace,
            };
            let target = RelFile::new(tablespace, to.1, source.file.relnumber);
            self.copy_relation(&mut be.scratch, source.file, target, source.unlogged, xid)?;
        }
        Ok(())
    }

    /// Copies database `from` to the new database `to` file by file, between two checkpoints.
    /// WAL: `DBASE_CREATE_FILE_COPY`. Counterpart: `CreateDatabaseUsingFileCopy`.
    pub fn create_database_by_copy(&self, be: &mut Backend, from: DbKey, to: DbKey) -> Result<()> {
        let result = self.copy_files(be, from, to);
        if result.is_err() {
            self.remove_failed(to.1);
        }
        result
    }

    fn copy_files(&self, be: &mut Backend, from: DbKey, to: DbKey) -> Result<()> {
        use CheckpointFlags as F;
        let disk = &*self.env.disk;
        let xid = be.current_xid()?;
        // Writes all pages of the source to its files, those of unlogged relations too.
        self.checkpoint(F::IMMEDIATE | F::FORCE | F::WAIT | F::FLUSH_ALL)?;
        self.pool.flush_database(from.1)?;
        for db in databases(disk)?.into_iter().filter(|db| db.1 == from.1) {
            let target = (if db.0 == from.0 { to.0 } else { db.0 }, to.1);
            be.check_interrupts()?;
            copy_dir(disk, &database_path(db), &database_path(target))?;
            self.log_file_copy(be, db, target, xid)?;
        }
        // Replay must not repeat the copy, because the source may have changed by then.
        self.checkpoint(F::IMMEDIATE | F::FORCE | F::WAIT)?;
        Ok(())
    }

    fn log_file_copy(&self, be: &mut Backend, from: DbKey, to: DbKey, xid: Xid) -> Result<()> {
        be.scratch.reset(RmgrId::Dbase, DBASE_CREATE_FILE_COPY | XLR_SPECIAL_REL_UPDATE);
        for word in [to.1, to.0, from.1, from.0] {
            be.scratch.main(&word.0.to_le_bytes());
        }
        let at = self.wal.insert(&mut be.scratch, &[], xid)?;
        self.wal.flush(at.end)
    }

    /// Copies a database to another tablespace; no session is connected to it. The caller then
    /// commits the change of its `pg_database` row at once, and calls [`Engine::drop_database_in`]
    /// for the old tablespace. WAL: `DBASE_CREATE_FILE_COPY`. Counterpart: the first half of
    /// `movedb`.
    pub fn move_database(&self, be: &mut Backend, from: DbKey, to: DbKey) -> Result<()> {
        use CheckpointFlags as F;
        let disk = &*self.env.disk;
        let xid = be.current_xid()?;
        self.checkpoint(F::IMMEDIATE | F::FORCE | F::WAIT | F::FLUSH_ALL)?;
        self.pool.flush_database(from.1)?;
        self.pool.drop_database(from.1);
        self.smgr.forget_database(from.1);
        self.relmaps.forget(from.1);
        let target = database_path(to);
        if vfs::exists(disk, &target)? && !names(disk, &target)?.is_empty() {
            return Err(PgError::new(
                SqlState::OBJECT_NOT_IN_PREREQUISITE_STATE,
                "some relations of the database are already in the target tablespace".to_string(),
            )
            .hint(
                "You must move them back to the database's default tablespace before using this \
                 command.",
            ));
        }
        let copied = copy_dir(disk, &database_path(from), &target)
            .and_then(|()| self.log_file_copy(be, from, to, xid))
            .and_then(|()| self.checkpoint(F::IMMEDIATE | F::FORCE | F::WAIT).map(|_| ()));
        if copied.is_err() {
            let _ = vfs::remove_tree(disk, &target);
        }
        copied
    }

    /// Removes a database's files in one tablespace. WAL: `DBASE_DROP`.
    /// Counterpart: the second half of `movedb`.
    pub fn drop_database_in(&self, be: &mut Backend, db: DbKey) -> Result<()> {
        let disk = &*self.env.disk;
        let xid = be.current_xid()?;
        self.pool.drop_database(db.1);
        self.smgr.forget_database(db.1);
        be.txn.add_warnings(remove_directory(disk, db));
        self.log_drop(be, db.1, &[db], xid)
    }

    /// True if a tablespace contains files of a database with that OID. Counterpart:
    /// `check_db_file_conflict`.
    pub fn has_database_files(&self, database: Oid) -> Result<bool> {
        Ok(databases(&*self.env.disk)?.iter().any(|db| db.1 == database))
    }

    /// Removes the files of a failed copy. Files that cannot be removed remain, without an owner.
    fn remove_failed(&self, database: Oid) {
        self.pool.drop_database(database);
        self.smgr.forget_database(database);
        self.relmaps.forget(database);
        let disk = &*self.env.disk;
        for db in databases(disk).unwrap_or_default().iter().filter(|db| db.1 == database) {
            let _ = vfs::remove_tree(disk, &database_path(*db));
        }
    }

    /// Copies all forks through shared buffers. Counterpart: `CreateAndCopyRelationData`.
    fn copy_relation(
        &self,
        scratch: &mut RecordBuilder,
        from: RelFile,
        to: RelFile,
        unlogged: bool,
        xid: Xid,
    ) -> Result<()> {
        for fork in [Fork::Main, Fork::Init, Fork::Fsm, Fork::Vm] {
            if !self.smgr.exists(RelFork::new(from, fork))? {
                continue;
            }
            let logged = !unlogged || fork == Fork::Init;
            self.smgr.create(RelFork::new(to, fork), false)?;
            if logged {
                truncate::log_create(&self.wal, scratch, to, fork, xid)?;
            }
            let persistence = if logged { Persistence::Permanent } else { Persistence::Unlogged };
            self.copy_fork(scratch, from, to, fork, persistence, xid)?;
        }
        Ok(())
    }

    fn copy_fork(
        &self,
        scratch: &mut RecordBuilder,
        from: RelFile,
        to: RelFile,
        fork: Fork,
        persistence: Persistence,
        xid: Xid,
    ) -> Result<()> {
        let source = self.pool.open(from, fork, persistence);
        let target = self.pool.open(to, fork, persistence);
        let blocks = self.pool.nblocks(&source)?;
        // Pages of the maps contain data in the range that is the hole of a standard page.
        let flags = match fork {
            Fork::Main | Fork::Init => RegFlags::FORCE_IMAGE | RegFlags::STANDARD,
            Fork::Fsm | Fork::Vm => RegFlags::FORCE_IMAGE,
        };
        let mut reading = Strategy::normal();
        let mut writing = Strategy::normal();
        for block in 0..blocks {
            let copy = {
                let pin = self.pool.read(&source, BlockNo(block), &mut reading)?;
                let page = pin.share();
                page.to_buf()
            };
            let mut page = self.pool.extend(&target, &mut writing)?;
            let mut edit = PageEdit::begin(&self.wal, scratch);
            edit.change(&mut page, 0, flags).bytes_mut().copy_from_slice(copy.as_bytes());
            if persistence == Persistence::Permanent {
                edit.log(RmgrId::Xlog, XLOG_FPI, xid)?;
            } else {
                edit.finish_unlogged();
            }
        }
        Ok(())
    }

    /// Removes the files of a database. No session is connected to it, and its catalog rows are
    /// deleted; the caller commits immediately afterwards. WAL: `DBASE_DROP`. Counterpart: the end
    /// of `dropdb`.
    pub fn drop_database(&self, be: &mut Backend, database: Oid) -> Result<()> {
        let xid = be.current_xid()?;
        self.pool.drop_database(database);
        // No write or sync of its files may be pending when they are removed.
        self.smgr.forget_database(database);
        self.relmaps.forget(database);
        self.checkpoint(
            CheckpointFlags::IMMEDIATE | CheckpointFlags::FORCE | CheckpointFlags::WAIT,
        )?;
        let disk = &*self.env.disk;
        let dirs: Vec<DbKey> = databases(disk)?.into_iter().filter(|db| db.1 == database).collect();
        for db in &dirs {
            be.txn.add_warnings(remove_directory(disk, *db));
        }
        self.log_drop(be, database, &dirs, xid)
    }

    fn log_drop(&self, be: &mut Backend, database: Oid, dirs: &[DbKey], xid: Xid) -> Result<()> {
        be.scratch.reset(RmgrId::Dbase, DBASE_DROP | XLR_SPECIAL_REL_UPDATE);
        be.scratch.main(&database.0.to_le_bytes()).main(&(dirs.len() as u32).to_le_bytes());
        for db in dirs {
            be.scratch.main(&db.0.0.to_le_bytes());
        }
        let at = self.wal.insert(&mut be.scratch, &[], xid)?;
        self.wal.flush(at.end)
    }
}

/// Removes the directory of a database, as far as possible. Errors are returned as warnings,
/// because removed files cannot be restored.
fn remove_directory(disk: &dyn Disk, db: DbKey) -> Vec<PgError> {
    let path = database_path(db);
    let mut warnings = vfs::remove_tree_best_effort(disk, &path);
    if !warnings.is_empty() {
        warnings.push(PgError::new(
            SqlState::WARNING,
            format!("some useless files may be left behind in old database directory \"{path}\""),
        ));
    }
    warnings.into_iter().map(|e| e.severity(Severity::Warning)).collect()
}

/// Creates the directory of a database with its `PG_VERSION`. In replay it may exist already.
/// Counterpart: `CreateDirAndVersionFile`.
pub(crate) fn create_directory(disk: &dyn Disk, db: DbKey, redo: bool) -> Result<()> {
    let path = database_path(db);
    if redo {
        vfs::create_dir_all(disk, vfs::parent(&path))?;
    }
    match disk.create_dir(&path) {
        Ok(()) => {}
        Err(e) if e.kind() == ErrorKind::AlreadyExists && redo => {}
        Err(e) => return Err(io_error("create directory", &path, &e)),
    }
    vfs::write_file(disk, &format!("{path}/PG_VERSION"), VERSION_FILE)?;
    for dir in [path.as_str(), vfs::parent(&path)] {
        disk.sync_dir(dir).map_err(|e| io_error("fsync file", dir, &e))?;
    }
    Ok(())
}

fn word(record: &DecodedRecord, at: usize) -> Result<u32> {
    match record.main().get(at..at + 4) {
        Some(b) => Ok(u32::from_le_bytes([b[0], b[1], b[2], b[3]])),
        None => Err(PgError::new(SqlState::DATA_CORRUPTED, "WAL record too short")),
    }
}

/// Counterpart: `dbase_redo`.
pub(crate) fn redo(engine: &Engine, cx: &mut RedoCx<'_>, record: &DecodedRecord) -> Result<()> {
    let disk = &*engine.env.disk;
    match record.info() {
        DBASE_CREATE_FILE_COPY => {
            let to = (Oid(word(record, 4)?), Oid(word(record, 0)?));
            let from = (Oid(word(record, 12)?), Oid(word(record, 8)?));
            let (to_path, from_path) = (database_path(to), database_path(from));
            if vfs::exists(disk, &to_path)? {
                vfs::remove_tree(disk, &to_path)?;
            }
            vfs::create_dir_all(disk, vfs::parent(&to_path))?;
            if !vfs::exists(disk, &from_path)? {
                // The source is dropped later in the log, and then the copy is dropped too.
                return create_directory(disk, to, true);
            }
            cx.pool.flush_database(from.1)?;
            engine.relmaps.forget(to.1);
            copy_dir(disk, &from_path, &to_path)
        }
        DBASE_CREATE_WAL_LOG => {
            let db = (Oid(word(record, 4)?), Oid(word(record, 0)?));
            create_directory(disk, db, true)
        }
        DBASE_DROP => {
            let database = Oid(word(record, 0)?);
            cx.pool.drop_database(database);
            engine.smgr.forget_database(database);
            cx.invalid().forget_database(database);
            engine.relmaps.forget(database);
            for i in 0..word(record, 4)? as usize {
                let db = (Oid(word(record, 8 + i * 4)?), database);
                if vfs::exists(disk, &database_path(db))? {
                    for warning in remove_directory(disk, db) {
                        engine.log_error(&warning);
                    }
                }
            }
            Ok(())
        }
        op => Err(PgError::internal(format!("dbase_redo: unknown op code {op}"))
            .severity(Severity::Panic)),
    }
}

/// Creates the directory of a tablespace at `location` and the symbolic link to it. If `location`
/// is empty, a directory in `pg_tblspc` is created instead of the link. Counterpart:
/// `create_tablespace_directories`.
pub(crate) fn create_tablespace(
    disk: &dyn Disk,
    tablespace: Oid,
    location: &str,
    redo: bool,
) -> Result<()> {
    let link = format!("pg_tblspc/{tablespace}");
    let base = if location.is_empty() { link.clone() } else { location.to_owned() };
    if location.is_empty() || redo {
        vfs::create_dir_all(disk, &base)?;
    }
    let versioned = format!("{base}/{TABLESPACE_VERSION_DIRECTORY}");
    match disk.create_dir(&versioned) {
        Ok(()) => {}
        Err(e) if e.kind() == ErrorKind::AlreadyExists && redo => {}
        Err(e) if e.kind() == ErrorKind::AlreadyExists => {
            return Err(PgError::new(
                SqlState::OBJECT_IN_USE,
                format!("directory \"{versioned}\" already in use as a tablespace"),
            ));
        }
        // The location itself does not exist.
        Err(e) if e.kind() == ErrorKind::NotFound => {
            return Err(PgError::new(
                SqlState::UNDEFINED_FILE,
                format!("directory \"{base}\" does not exist"),
            ));
        }
        Err(e) => return Err(io_error("create directory", &versioned, &e)),
    }
    if !location.is_empty() {
        if redo && disk.lstat(&link).is_ok() {
            disk.unlink(&link).map_err(|e| io_error("remove symbolic link", &link, &e))?;
        }
        disk.symlink(location, &link).map_err(|e| io_error("create symbolic link", &link, &e))?;
    }
    for dir in [base.as_str(), "pg_tblspc"] {
        disk.sync_dir(dir).map_err(|e| io_error("fsync file", dir, &e))?;
    }
    Ok(())
}

/// Removes the directory and the link of a tablespace. Returns `false` if it is not empty.
/// Counterpart: `destroy_tablespace_directories`.
pub(crate) fn drop_tablespace(disk: &dyn Disk, tablespace: Oid) -> Result<bool> {
    let link = format!("pg_tblspc/{tablespace}");
    let versioned = format!("{link}/{TABLESPACE_VERSION_DIRECTORY}");
    for name in names(disk, &versioned)? {
        let dir = format!("{versioned}/{name}");
        if !names(disk, &dir)?.is_empty() {
            return Ok(false);
        }
        disk.remove_dir(&dir).map_err(|e| io_error("remove directory", &dir, &e))?;
    }
    if vfs::exists(disk, &versioned)? {
        disk.remove_dir(&versioned).map_err(|e| io_error("remove directory", &versioned, &e))?;
    }
    match disk.lstat(&link) {
        Ok(stat) if stat.kind == vfs::FileKind::Dir => {
            disk.remove_dir(&link).map_err(|e| io_error("remove directory", &link, &e))?
        }
        Ok(_) => {
            disk.unlink(&link).map_err(|e| io_error("remove symbolic link", &link, &e))?;
        }
        Err(e) if e.kind() == ErrorKind::NotFound => {}
        Err(e) => return Err(io_error("stat file", &link, &e)),
    }
    disk.sync_dir("pg_tblspc").map_err(|e| io_error("fsync file", "pg_tblspc", &e))?;
    Ok(true)
}

impl Engine {
    /// Creates a tablespace's directories. WAL: `TBLSPC_CREATE`.
    pub fn create_tablespace(
        &self,
        be: &mut Backend,
        tablespace: Oid,
        location: &str,
    ) -> Result<()> {
        let xid = be.current_xid()?;
        create_tablespace(&*self.env.disk, tablespace, location, false)?;
        be.scratch.reset(RmgrId::Tblspc, TBLSPC_CREATE);
        be.scratch.main(&tablespace.0.to_le_bytes()).main(location.as_bytes()).main(&[0]);
        self.wal.insert(&mut be.scratch, &[], xid)?;
        Ok(())
    }

    /// Removes the directories of a tablespace. Returns `false` if they contain files. WAL:
    /// `TBLSPC_DROP`.
    pub fn drop_tablespace(&self, be: &mut Backend, tablespace: Oid) -> Result<bool> {
        let xid = be.current_xid()?;
        self.smgr.close_all();
        if !drop_tablespace(&*self.env.disk, tablespace)? {
            // Files of dropped relations are removed by the next checkpoint.
            self.checkpoint(CheckpointFlags::IMMEDIATE | CheckpointFlags::FORCE)?;
            if !drop_tablespace(&*self.env.disk, tablespace)? {
                return Ok(false);
            }
        }
        be.scratch.reset(RmgrId::Tblspc, TBLSPC_DROP);
        be.scratch.main(&tablespace.0.to_le_bytes());
        self.wal.insert(&mut be.scratch, &[], xid)?;
        Ok(true)
    }
}

/// Counterpart: `tblspc_redo`.
pub(crate) fn redo_tablespace(engine: &Engine, record: &DecodedRecord) -> Result<()> {
    let disk = &*engine.env.disk;
    let tablespace = Oid(word(record, 0)?);
    match record.info() {
        TBLSPC_CREATE => {
            let location = text(&record.main()[4..]);
            create_tablespace(disk, tablespace, &location, true)
        }
        TBLSPC_DROP => {
            engine.smgr.close_all();
            // Remaining files are ignored: they cannot be in use.
            if let Err(e) = drop_tablespace(disk, tablespace) {
                engine.log_error(&e.severity(Severity::Log));
                engine
                    .log(&format!("directories for tablespace {tablespace} could not be removed"));
            }
            Ok(())
        }
        op => Err(PgError::internal(format!("tblspc_redo: unknown op code {op}"))
            .severity(Severity::Panic)),
    }
}

/// Text description of a database's record. Counterpart: `dbase_desc`.
pub(crate) fn describe(record: &DecodedRecord, out: &mut String) -> Option<()> {
    let mut f = Fields(record.main());
    match record.info() {
        DBASE_CREATE_FILE_COPY => {
            let (database, tablespace) = (f.oid()?, f.oid()?);
            let (from_database, from) = (f.oid()?, f.oid()?);
            write!(out, "copy dir {from}/{from_database} to {tablespace}/{database}").ok()
        }
        DBASE_CREATE_WAL_LOG => {
            let (database, tablespace) = (f.oid()?, f.oid()?);
            write!(out, "create dir {tablespace}/{database}").ok()
        }
        DBASE_DROP => {
            let (database, count) = (f.oid()?, f.u32()?);
            out.push_str("dir");
            (0..count).try_for_each(|_| write!(out, " {}/{database}", f.oid()?).ok())
        }
        _ => Some(()),
    }
}

/// Text description of a tablespace's record. Counterpart: `tblspc_desc`.
pub(crate) fn describe_tablespace(record: &DecodedRecord, out: &mut String) -> Option<()> {
    let mut f = Fields(record.main());
    match record.info() {
        TBLSPC_CREATE => write!(out, "{} \"{}\"", f.oid()?, text(f.0)).ok(),
        TBLSPC_DROP => write!(out, "{}", f.oid()?).ok(),
        _ => Some(()),
    }
}
