//! Row locks, which follow the update chain to the newest version of a row.
//!
//! Counterpart: `heapam_tuple_lock` in heapam_handler.c.

use crate::backend::Backend;
use crate::desc::TableDesc;
use crate::rows::RowReader;
use crate::table::{LockRow, RowOutcome, RowWait, command_of, not_available, outcome};
use heap::{HeapRel, TmFailure};
use ids::{AttrNo, BlockNo, CommandId, Tid, Xid};
use page::HeapTuple;
use pgerror::{PgError, Result, pg_err};
use sync::Arc;
use types::Batch;

fn lock_version(
    be: &mut Backend,
    table: &TableDesc,
    tid: Tid,
    how: LockRow,
    out: &mut Vec<u8>,
) -> Result<(RowOutcome, TmFailure)> {
    let rel = table.heap(be);
    let cid = command_of(be, how.command);
    let options = heap::LockOptions {
        mode: how.lock.mode(),
        policy: how.wait.policy(),
        follow_updates: true,
    };
    let mut cx = be.heap_cx(table.persistence);
    match heap::lock_tuple(&mut cx, rel, tid, cid, options, out)? {
        Ok(()) => Ok((RowOutcome::Ok, TmFailure::default())),
        Err((result, failure)) => Ok((outcome(result, &failure), failure)),
    }
}

/// Locks the row at `tid`. If that succeeds, the `columns` of the locked version are appended to
/// `batch` and its TID is returned. Counterpart: `heapam_tuple_lock`.
pub fn lock_row(
    be: &mut Backend,
    table: &Arc<TableDesc>,
    tid: Tid,
    how: LockRow,
    columns: &[AttrNo],
    batch: &mut Batch,
) -> Result<(RowOutcome, Tid)> {
    let mut tid = tid;
    let mut bytes = be.take_tuple();
    loop {
        let (outcome, failure) = lock_version(be, table, tid, how, &mut bytes)?;
        match outcome {
            RowOutcome::Ok => {
                let tuple = HeapTuple::from_bytes(&bytes)
                    .ok_or_else(|| pg_err!(DATA_CORRUPTED, "invalid tuple at {tid}"))?;
                let mut reader = RowReader::new(table, columns)?;
                reader.push(table.deformer(), tid, &tuple, batch)?;
                reader.finish(be, table, batch)?;
                be.put_tuple(bytes);
                return Ok((RowOutcome::Ok, tid));
            }
            RowOutcome::Updated { next, xmax } if how.follow => {
                if failure.ctid.block == BlockNo::INVALID {
                    return Err(moved());
                }
                match newest_version(be, table, next, xmax, how)? {
                    Ok(newest) => tid = newest,
                    Err(outcome) => return Ok((outcome, tid)),
                }
            }
            other => {
                be.put_tuple(bytes);
                return Ok((other, tid));
            }
        }
    }
}

/// The error for a row whose newest version is in another partition.
#[cold]
fn moved() -> PgError {
    pg_err!(
        T_R_SERIALIZATION_FAILURE,
        "tuple to be locked was already moved to another partition due to concurrent update"
    )
}

/// Result of following an update chain to one TID.
enum Link {
    /// A version that may be locked.
    Found,
    Wait(Xid),
    Next(Tid, Xid),
    End(RowOutcome),
}

/// Follows the update chain from `tid`. The xmin of the version at `tid` must be `xmax`.
fn newest_version(
    be: &mut Backend,
    table: &TableDesc,
    tid: Tid,
    xmax: Xid,
    how: LockRow,
) -> Result<Result<Tid, RowOutcome>> {
    let (mut tid, mut prior) = (tid, xmax);
    let rel = table.heap(be);
    loop {
        match follow_link(be, table, rel, tid, prior, how.command)? {
            Link::Found => return Ok(Ok(tid)),
            Link::Next(next, _) if next.block == BlockNo::INVALID => return Err(moved()),
            Link::Next(next, xmax) => (tid, prior) = (next, xmax),
            Link::End(outcome) => return Ok(Err(outcome)),
            Link::Wait(xid) => match how.wait {
                RowWait::Block => be.txn.wait_for_xid(xid)?,
                RowWait::Skip => {
                    if !be.txn.waits().try_wait_for_xid(xid)? {
                        return Ok(Err(RowOutcome::WouldBlock));
                    }
                }
                RowWait::Error => {
                    if !be.txn.waits().try_wait_for_xid(xid)? {
                        return Err(not_available(table));
                    }
                }
            },
        }
    }
}

fn follow_link(
    be: &mut Backend,
    table: &TableDesc,
    rel: &HeapRel,
    tid: Tid,
    prior: Xid,
    command: Option<CommandId>,
) -> Result<Link> {
    let cid = command.unwrap_or_else(|| be.txn.command());
    let cx = be.heap_cx(table.persistence);
    let deleted = Link::End(RowOutcome::Deleted { xmax: prior });
    if tid.block.0 >= cx.pool.nblocks(&rel.main)? {
        return Ok(deleted);
    }
    let guard = cx.pool.read(&rel.main, tid.block, cx.strategy)?.share();
    let Some(header) = guard.heap_header(tid.offset) else { return Ok(deleted) };
    // The TID may have been reused for another row after the chain was pruned.
    if header.xmin() != prior {
        return Ok(deleted);
    }
    let vis = cx.visibility(rel, guard.lsn());
    let mut hint = 0;
    if let Some(info) = vis.dirty(&header, &mut hint)? {
        if info.xmin.is_valid() {
            return Err(pg_err!(
                DATA_CORRUPTED,
                "t_xmin {} is uncommitted in tuple {tid} to be updated in table \"{}\"",
                info.xmin,
                table.name
            ));
        }
        if info.xmax.is_valid() {
            return Ok(Link::Wait(info.xmax));
        }
        if cx.txn.is_current(header.xmin()) {
            let combo = header.any(page::heap_tuple::infomask::COMBOCID);
            let cmin = if combo { cx.txn.combo_cmin(header.raw_cid) } else { header.raw_cid };
            if cmin >= cid {
                return Ok(Link::End(RowOutcome::SelfModified { cmax: cmin }));
            }
        }
        return Ok(Link::Found);
    }
    if header.ctid == tid {
        return Ok(deleted);
    }
    Ok(Link::Next(header.ctid, vis.update_xid(&header)?))
}
