//! Truncation of relation files, and replay of the records of resource manager Smgr.
//!
//! Counterpart: storage.c.

use bufmgr::redo::RedoCx;
use bufmgr::{BufferPool, ForkBuffers, Strategy};
use heap::{HeapRel, visibility_map};
use ids::{BlockNo, Fork, Oid, Persistence, RelFile, Xid};
use pgerror::{PgError, Result, Severity};
use smallvec::SmallVec;
use smgr::RelFork;
use std::fmt::Write;
use sync::Arc;
use txn::HorizonKind;
use wal::record::XLR_SPECIAL_REL_UPDATE;
use wal::{DecodedRecord, Fields, Inserted, RecordBuilder, RmgrId, Wal};

const SMGR_CREATE: u8 = 0x10;
const SMGR_TRUNCATE: u8 = 0x20;
/// Flags of a truncate record: the forks to truncate.
pub const TRUNCATE_HEAP: u32 = 1;
pub const TRUNCATE_VM: u32 = 2;
pub const TRUNCATE_FSM: u32 = 4;
pub const TRUNCATE_ALL: u32 = TRUNCATE_HEAP | TRUNCATE_VM | TRUNCATE_FSM;

/// WAL: `SMGR_CREATE`, replayed by [`redo`]. Counterpart: `log_smgrcreate`.
pub fn log_create(
    wal: &Wal,
    scratch: &mut RecordBuilder,
    rel: RelFile,
    fork: Fork,
    xid: Xid,
) -> Result<Inserted> {
    scratch.reset(RmgrId::Smgr, SMGR_CREATE | XLR_SPECIAL_REL_UPDATE);
    scratch.main(&rel_bytes(rel)).main(&u32::from(fork as u8).to_le_bytes());
    wal.insert(scratch, &[], xid)
}

/// WAL: `SMGR_TRUNCATE`, replayed by [`redo`].
pub fn log_truncate(
    wal: &Wal,
    scratch: &mut RecordBuilder,
    rel: RelFile,
    nblocks: u32,
    what: u32,
    xid: Xid,
) -> Result<Inserted> {
    scratch.reset(RmgrId::Smgr, SMGR_TRUNCATE | XLR_SPECIAL_REL_UPDATE);
    scratch.main(&nblocks.to_le_bytes()).main(&rel_bytes(rel)).main(&what.to_le_bytes());
    wal.insert(scratch, &[], xid)
}

fn rel_bytes(rel: RelFile) -> [u8; 12] {
    let mut b = [0; 12];
    b[0..4].copy_from_slice(&rel.tablespace.0.to_le_bytes());
    b[4..8].copy_from_slice(&rel.database.0.to_le_bytes());
    b[8..12].copy_from_slice(&rel.relnumber.0.to_le_bytes());
    b
}

/// Truncates a relation and its maps to `nblocks` blocks. The caller holds AccessExclusive. An
/// error after the record is written is a PANIC: see [`BufferPool::truncate`]. Counterpart:
/// `RelationTruncate`.
///
/// WAL: `SMGR_TRUNCATE`, flushed before any file is truncated. If the record were lost, replay
/// would access pages that do not exist, and the relation's maps would still refer to them.
pub fn truncate(
    pool: &BufferPool,
    wal: &Wal,
    scratch: &mut RecordBuilder,
    rel: RelFile,
    persistence: Persistence,
    nblocks: u32,
    xid: Xid,
) -> Result<()> {
    let cuts = prepare(pool, wal, scratch, rel, persistence, nblocks, TRUNCATE_ALL)?;
    // The redo pointer of a checkpoint between record and truncation would be after the record,
    // although the files are not truncated yet.
    let _delay = wal.delay_checkpoint_end();
    let _delay_start = wal.delay_checkpoint_start();
    let is_logged = pool.open(rel, Fork::Main, persistence).is_logged();
    pool.truncate(&cuts, || {
        if !is_logged {
            return Ok(());
        }
        let at = log_truncate(wal, scratch, rel, nblocks, TRUNCATE_ALL, xid)?;
        wal.flush(at.end)
    })
}

type Cuts = SmallVec<[(Arc<ForkBuffers>, u32); 3]>;

/// The forks among `what` that must be truncated, with their new lengths in blocks. Clears the
/// entries of later blocks on the last pages of the maps, which is harmless even if no truncation
/// follows.
fn prepare(
    pool: &BufferPool,
    wal: &Wal,
    scratch: &mut RecordBuilder,
    rel: RelFile,
    persistence: Persistence,
    nblocks: u32,
    what: u32,
) -> Result<Cuts> {
    let mut cuts = Cuts::new();
    let open = |fork| pool.open(rel, fork, persistence);
    let mut cut = |fork: Arc<ForkBuffers>, nblocks: u32| -> Result<()> {
        if pool.nblocks_or_none(&fork)?.is_some_and(|have| have > nblocks) {
            cuts.push((fork, nblocks));
        }
        Ok(())
    };
    let has = |fork| Ok::<_, PgError>(pool.nblocks_or_none(&open(fork))?.is_some());
    if what & TRUNCATE_FSM != 0 && has(Fork::Fsm)? {
        let handle = open(Fork::Fsm);
        if let Some(left) = freespace::Fsm::new(pool, &handle).prepare_truncate(nblocks)? {
            cut(handle, left)?;
        }
    }
    if what & TRUNCATE_VM != 0 && has(Fork::Vm)? {
        let heap = HeapRel {
            oid: rel.relnumber,
            database: rel.database,
            file: rel,
            main: open(Fork::Main),
            fsm: open(Fork::Fsm),
            vm: open(Fork::Vm),
            name: "".into(),
            persistence,
            fillfactor: 100,
            horizon: HorizonKind::Data,
            is_toast: false,
            is_catalog: false,
            targets: Default::default(),
        };
        let mut strategy = Strategy::normal();
        let left =
            visibility_map::prepare_truncate(pool, &heap, nblocks, wal, scratch, &mut strategy)?;
        if let Some(left) = left {
            cut(open(Fork::Vm), left)?;
        }
    }
    if what & TRUNCATE_HEAP != 0 {
        cut(open(Fork::Main), nblocks)?;
    }
    Ok(cuts)
}

/// Drops buffers and removes files in replay. Returns warnings for files that cannot be removed.
/// Counterpart: `DropRelationFiles`.
pub(crate) fn redo_drop(cx: &mut RedoCx<'_>, rels: &[RelFile]) -> Vec<PgError> {
    let mut warnings = Vec::new();
    for rel in rels {
        cx.pool.drop_relation(*rel);
        for fork in Fork::ALL {
            cx.invalid().forget_relation(*rel, fork, BlockNo(0));
        }
        warnings.extend(cx.pool.smgr().unlink(*rel, None, true));
    }
    warnings
}

/// Counterpart: `smgr_redo`.
pub(crate) fn redo(cx: &mut RedoCx<'_>, wal: &Wal, record: &DecodedRecord) -> Result<()> {
    let main = record.main();
    let word = |at: usize| match main.get(at..at + 4) {
        Some(b) => Ok(u32::from_le_bytes([b[0], b[1], b[2], b[3]])),
        None => Err(PgError::internal("smgr_redo: record too short")),
    };
    let rel = |at: usize| -> Result<RelFile> {
        Ok(RelFile::new(Oid(word(at)?), Oid(word(at + 4)?), Oid(word(at + 8)?)))
    };
    match record.info() {
        SMGR_CREATE => {
            let fork = u8::try_from(word(12)?)
                .ok()
                .and_then(Fork::from_u8)
                .ok_or_else(|| PgError::internal("smgr_redo: invalid fork number"))?;
            cx.pool.smgr().create(RelFork::new(rel(0)?, fork), true)
        }
        SMGR_TRUNCATE => {
            let (nblocks, rel, what) = (word(0)?, rel(4)?, word(16)?);
            // The relation may have been dropped later; replay of the drop removes it again.
            cx.pool.smgr().create(RelFork::new(rel, Fork::Main), true)?;
            let smgr = cx.pool.smgr();
            let mut existing = what & TRUNCATE_HEAP;
            for (bit, fork) in [(TRUNCATE_VM, Fork::Vm), (TRUNCATE_FSM, Fork::Fsm)] {
                if what & bit != 0 && smgr.exists(RelFork::new(rel, fork))? {
                    existing |= bit;
                }
            }
            let mut scratch = RecordBuilder::new(RmgrId::Smgr, SMGR_TRUNCATE);
            let permanent = Persistence::Permanent;
            let cuts = prepare(cx.pool, wal, &mut scratch, rel, permanent, nblocks, existing)?;
            cx.pool.truncate(&cuts, || Ok(()))?;
            if what & TRUNCATE_HEAP != 0 {
                cx.invalid().forget_relation(rel, Fork::Main, BlockNo(nblocks));
            }
            Ok(())
        }
        op => {
            Err(PgError::internal(format!("smgr_redo: unknown op code {op}"))
                .severity(Severity::Panic))
        }
    }
}

/// Text description of the record. Counterpart: `smgr_desc`.
pub(crate) fn describe(record: &DecodedRecord, out: &mut String) -> Option<()> {
    let mut f = Fields(record.main());
    match record.info() {
        SMGR_CREATE => {
            let (rel, fork) = (f.rel()?, u8::try_from(f.u32()?).ok().and_then(Fork::from_u8)?);
            write!(out, "{}", RelFork::new(rel, fork)).ok()
        }
        SMGR_TRUNCATE => {
            let (blocks, rel, flags) = (f.u32()?, f.rel()?, f.i32()?);
            write!(out, "{} to {blocks} blocks flags {flags}", RelFork::new(rel, Fork::Main)).ok()
        }
        _ => Some(()),
    }
}
