//! The relation map, which has the file numbers of mapped catalogs (those whose file number is not
//! in `pg_class`): one file `pg_filenode.map` for shared catalogs (in `global`) and one per
//! database.
//!
//! ```text
//! 512 bytes: magic u32 | count u32 | 62 x (catalog oid, file number) | crc-32c u32 | 0
//! ```
//!
//! WAL: `RELMAP_UPDATE` has the whole map and is flushed before the file is overwritten. The file
//! is one sector, so the write is atomic.
//!
//! Counterpart: relmapper.c.

use ids::{Oid, RelFile, Xid};
use pgerror::{PgError, Result, Severity, SqlState};
use std::collections::HashMap;
use std::fmt::Write;
use sync::{Arc, Mutex, RwLock};
use vfs::{Disk, OpenMode, io_error};
use wal::{DecodedRecord, Fields, RecordBuilder, RmgrId, Wal};

const MAP_FILE: &str = "pg_filenode.map";
const MAGIC: u32 = 0x0059_2717;
/// Size of the file.
pub const MAP_SIZE: usize = 512;
const ENTRIES_MAX: usize = 62;
const CRC_AT: usize = 504;
const RELMAP_UPDATE: u8 = 0x00;

/// The contents of one map file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RelMap {
    /// Catalog OID and file number, in the order of the file.
    entries: Vec<(Oid, Oid)>,
}

impl RelMap {
    /// The file number of a mapped catalog.
    pub fn get(&self, relation: Oid) -> Option<Oid> {
        self.entries.iter().find(|(oid, _)| *oid == relation).map(|(_, file)| *file)
    }

    /// The catalog with this file number.
    pub fn find(&self, file: Oid) -> Option<Oid> {
        self.entries.iter().find(|(_, number)| *number == file).map(|(oid, _)| *oid)
    }

    /// Sets or adds an entry.
    pub fn set(&mut self, relation: Oid, file: Oid) -> Result<()> {
        if let Some(entry) = self.entries.iter_mut().find(|(oid, _)| *oid == relation) {
            entry.1 = file;
            return Ok(());
        }
        if self.entries.len() == ENTRIES_MAX {
            return Err(PgError::internal("ran out of space in relation map"));
        }
        self.entries.push((relation, file));
        Ok(())
    }

    pub fn iter(&self) -> impl Iterator<Item = (Oid, Oid)> + '_ {
        self.entries.iter().copied()
    }

    /// The file's bytes.
    pub fn encode(&self) -> [u8; MAP_SIZE] {
        let mut b = [0; MAP_SIZE];
        b[0..4].copy_from_slice(&MAGIC.to_le_bytes());
        b[4..8].copy_from_slice(&(self.entries.len() as u32).to_le_bytes());
        for (i, (oid, file)) in self.entries.iter().enumerate() {
            b[8 + i * 8..12 + i * 8].copy_from_slice(&oid.0.to_le_bytes());
            b[12 + i * 8..16 + i * 8].copy_from_slice(&file.0.to_le_bytes());
        }
        let crc = crc32c::crc32c(&b[..CRC_AT]);
        b[CRC_AT..CRC_AT + 4].copy_from_slice(&crc.to_le_bytes());
        b
    }

    /// Reads the file's bytes; `path` is for the message.
    pub fn decode(b: &[u8], path: &str) -> Result<RelMap> {
        let u32_at = |at: usize| u32::from_le_bytes([b[at], b[at + 1], b[at + 2], b[at + 3]]);
        let bad = |what: &str| {
            PgError::internal(format!("relation mapping file \"{path}\" contains {what}"))
        };
        if b.len() != MAP_SIZE {
            return Err(PgError::new(
                SqlState::DATA_CORRUPTED,
                format!("could not read file \"{path}\": read {} of {MAP_SIZE}", b.len()),
            ));
        }
        let count = u32_at(4) as usize;
        if u32_at(0) != MAGIC || count > ENTRIES_MAX {
            return Err(bad("invalid data"));
        }
        if u32_at(CRC_AT) != crc32c::crc32c(&b[..CRC_AT]) {
            return Err(bad("incorrect checksum"));
        }
        let entry = |i: usize| (Oid(u32_at(8 + i * 8)), Oid(u32_at(12 + i * 8)));
        Ok(RelMap { entries: (0..count).map(entry).collect() })
    }
}

/// A database: its tablespace and OID; `(pg_global, 0)` for the shared catalogs.
pub type DbKey = (Oid, Oid);

/// The key of the shared catalogs' map.
pub const SHARED: DbKey = (RelFile::GLOBAL_TABLESPACE, Oid::INVALID);

/// Directory of a database's files.
pub fn database_path(db: DbKey) -> String {
    let path = RelFile::new(db.0, db.1, Oid::INVALID).path(ids::Fork::Main, None);
    vfs::parent(&path).to_owned()
}

/// The committed maps of all databases in use.
pub struct RelMaps {
    disk: Arc<dyn Disk>,
    maps: RwLock<HashMap<DbKey, Arc<RelMap>>>,
    /// Locked during a change of a map file. Counterpart: `RelationMappingLock`.
    changing: Mutex<()>,
}

impl RelMaps {
    pub fn new(disk: Arc<dyn Disk>) -> RelMaps {
        RelMaps { disk, maps: RwLock::new(HashMap::new()), changing: Mutex::new(()) }
    }

    /// The map of a database.
    pub fn load(&self, db: DbKey) -> Result<Arc<RelMap>> {
        if let Some(map) = self.maps.read().get(&db) {
            return Ok(map.clone());
        }
        // The file must not change between reading it and caching the result.
        let _changing = self.changing.lock();
        self.load_locked(db)
    }

    fn load_locked(&self, db: DbKey) -> Result<Arc<RelMap>> {
        if let Some(map) = self.maps.read().get(&db) {
            return Ok(map.clone());
        }
        let path = format!("{}/{MAP_FILE}", database_path(db));
        let bytes = vfs::read_file(&*self.disk, &path)?;
        // Bytes after the map are ignored.
        let map = Arc::new(RelMap::decode(bytes.get(..MAP_SIZE).unwrap_or(&bytes), &path)?);
        self.maps.write().insert(db, map.clone());
        Ok(map)
    }

    /// The file number of a mapped catalog in the committed map.
    pub fn lookup(&self, db: DbKey, relation: Oid) -> Result<Option<Oid>> {
        Ok(self.load(db)?.get(relation))
    }

    /// Applies changes at commit: logs and flushes the new map, then writes the file. An error of
    /// the file has severity PANIC, because recovery will apply the logged change.
    /// WAL: `RELMAP_UPDATE`.
    pub fn update(
        &self,
        wal: &Wal,
        scratch: &mut RecordBuilder,
        db: DbKey,
        changes: &[(Oid, Oid)],
        xid: Xid,
    ) -> Result<()> {
        let _changing = self.changing.lock();
        let mut map = RelMap::clone(&*self.load_locked(db)?);
        for (relation, file) in changes {
            map.set(*relation, *file)?;
        }
        self.log(wal, scratch, db, &map, xid)?;
        self.store(db, map).map_err(|e| e.severity(Severity::Panic))
    }

    /// Copies the map of a database to a new one. WAL: `RELMAP_UPDATE`.
    /// Counterpart: `RelationMapCopy`.
    pub fn copy(
        &self,
        wal: &Wal,
        scratch: &mut RecordBuilder,
        from: DbKey,
        to: DbKey,
        xid: Xid,
    ) -> Result<()> {
        let _changing = self.changing.lock();
        let map = RelMap::clone(&*self.load_locked(from)?);
        self.log(wal, scratch, to, &map, xid)?;
        self.store(to, map)
    }

    /// Writes the map of a new cluster, without logging.
    pub fn bootstrap(&self, db: DbKey, map: RelMap) -> Result<()> {
        let _changing = self.changing.lock();
        self.store(db, map)
    }

    /// Drops the cached maps of a database.
    pub fn forget(&self, database: Oid) {
        self.maps.write().retain(|db, _| db.1 != database);
    }

    /// Called by a checkpoint: waits for a change in progress, so that changes that were logged
    /// before the redo pointer are in the file afterwards. Counterpart: `CheckPointRelationMap`.
    pub fn checkpoint(&self) {
        drop(self.changing.lock());
    }

    fn log(
        &self,
        wal: &Wal,
        scratch: &mut RecordBuilder,
        db: DbKey,
        map: &RelMap,
        xid: Xid,
    ) -> Result<()> {
        scratch.reset(RmgrId::RelMap, RELMAP_UPDATE);
        scratch.main(&db.1.0.to_le_bytes()).main(&db.0.0.to_le_bytes());
        scratch.main(&(MAP_SIZE as u32).to_le_bytes()).main(&map.encode());
        let at = wal.insert(scratch, &[], xid)?;
        wal.flush(at.end)
    }

    fn store(&self, db: DbKey, map: RelMap) -> Result<()> {
        let path = format!("{}/{MAP_FILE}", database_path(db));
        let file = self
            .disk
            .open(&path, OpenMode::Create)
            .map_err(|e| io_error("open file", &path, &e))?;
        file.write_all_at(&map.encode(), 0).map_err(|e| io_error("write file", &path, &e))?;
        file.sync_all().map_err(|e| io_error("fsync file", &path, &e))?;
        self.maps.write().insert(db, Arc::new(map));
        Ok(())
    }

    /// Counterpart: `relmap_redo`.
    pub(crate) fn redo(&self, record: &DecodedRecord) -> Result<()> {
        if record.info() != RELMAP_UPDATE {
            return Err(PgError::internal(format!(
                "relmap_redo: unknown op code {}",
                record.info()
            ))
            .severity(Severity::Panic));
        }
        let main = record.main();
        let Some((db, size)) = header(main) else {
            return Err(PgError::internal("relmap_redo: record too short"));
        };
        if size as usize != MAP_SIZE || main.len() < 12 + MAP_SIZE {
            return Err(PgError::internal(format!(
                "relmap_redo: wrong size {size} in relmap update record"
            ))
            .severity(Severity::Panic));
        }
        let map = RelMap::decode(&main[12..12 + MAP_SIZE], "relmap update record")?;
        let _changing = self.changing.lock();
        self.store(db, map)
    }
}

/// The database of the record's map, and the size of the map.
fn header(main: &[u8]) -> Option<(DbKey, u32)> {
    let mut f = Fields(main);
    let (database, tablespace) = (f.oid()?, f.oid()?);
    Some(((tablespace, database), f.u32()?))
}

/// Text description of the record. Counterpart: `relmap_desc`.
pub(crate) fn describe(record: &DecodedRecord, out: &mut String) -> Option<()> {
    if record.info() != RELMAP_UPDATE {
        return Some(());
    }
    let ((tablespace, database), size) = header(record.main())?;
    write!(out, "database {database} tablespace {tablespace} size {size}").ok()
}
