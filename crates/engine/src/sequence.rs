//! Sequences: a page with one row, which is changed in place and is not transactional.
//!
//! A record is logged once per 32 values and contains the state after them. So up to 32 values are
//! skipped after a crash.
//!
//! Counterpart: the storage part of sequence.c.

use crate::backend::Backend;
use bufmgr::PageEdit;

use ids::{BlockNo, Fork, Persistence, RelFile};
use page::sequence::{self, SequenceData};
use pgerror::{PgError, Result, pg_err};
use std::fmt::Write;
use wal::{DecodedRecord, Fields, RegFlags, RmgrId};

/// Info byte of the only record type.
const SEQ_LOG: u8 = 0x00;
/// Number of values that are logged in advance. Counterpart: `SEQ_LOG_VALS`.
const LOG_VALUES: i64 = 32;

/// A sequence's parameters, from `pg_sequence`.
#[derive(Clone, Copy, Debug)]
pub struct SequenceParams {
    pub increment: i64,
    pub min: i64,
    pub max: i64,
    pub cache: i64,
    pub cycle: bool,
}

/// Values that are fetched together: `next` is the first one, `cached` is the last one that the
/// session may return without another fetch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Fetched {
    pub next: i64,
    pub cached: i64,
}

/// A sequence's file.
#[derive(Clone, Copy, Debug)]
pub struct SequenceFile<'a> {
    pub file: RelFile,
    pub persistence: Persistence,
    /// The name of the sequence, for messages.
    pub name: &'a str,
}

/// Fills the file of a new sequence (or of one that is reset into a new file).
/// WAL: `SEQ_LOG` with the row. Counterpart: `fill_seq_with_data`.
pub fn create(be: &mut Backend, seq: SequenceFile<'_>, data: SequenceData) -> Result<()> {
    fill_fork(be, seq, data, Fork::Main)?;
    if seq.persistence == Persistence::Unlogged {
        fill_fork(be, seq, data, Fork::Init)?;
        be.storage().pool.flush_relation(seq.file)?;
    }
    Ok(())
}

fn fill_fork(
    be: &mut Backend,
    seq: SequenceFile<'_>,
    data: SequenceData,
    fork: Fork,
) -> Result<()> {
    let storage = be.storage().clone();
    let temp = be.pool_arc(seq.persistence);
    let buffers = temp.open(seq.file, fork, seq.persistence);
    let logged = buffers.is_logged();
    if logged {
        be.txn.current_xid()?;
    }
    let xid = be.txn.current_xid_if_any();
    let mut guard = temp.extend(&buffers, &mut be.strategy)?;
    let tuple = data.to_tuple();
    let mut edit = PageEdit::begin(&storage.wal, &mut be.scratch);
    let page = edit.change(&mut guard, 0, RegFlags::WILL_INIT);
    if !sequence::init_page(page, &tuple) {
        return Err(PgError::internal("failed to add sequence tuple to page"));
    }
    if logged {
        log(edit, seq.file, &tuple, xid, &mut be.txn)
    } else {
        edit.finish_unlogged();
        Ok(())
    }
}

fn log(
    mut edit: PageEdit<'_, '_>,
    file: RelFile,
    tuple: &[u8],
    xid: ids::Xid,
    txn: &mut txn::Transaction,
) -> Result<()> {
    for n in [file.tablespace, file.database, file.relnumber] {
        edit.main(&n.0.to_le_bytes());
    }
    edit.main(tuple);
    let end = edit.log(RmgrId::Seq, SEQ_LOG, xid)?;
    txn.note_record(end);
    Ok(())
}

/// Reads the row. Counterpart: `pg_sequence_last_value`, and reading the sequence as a table.
pub fn read(be: &mut Backend, seq: SequenceFile<'_>) -> Result<SequenceData> {
    let pool = be.pool_arc(seq.persistence);
    let buffers = pool.open(seq.file, Fork::Main, seq.persistence);
    let guard = pool.read(&buffers, BlockNo(0), &mut be.strategy)?.share();
    sequence::read(&guard, seq.name)
}

/// Fetches the next values. Error 2200H if the sequence is exhausted. WAL: `SEQ_LOG` once per 32
/// values. Counterpart: `nextval_internal`.
pub fn next_values(
    be: &mut Backend,
    seq: SequenceFile<'_>,
    params: &SequenceParams,
) -> Result<Fetched> {
    let storage = be.storage().clone();
    let pool = be.pool_arc(seq.persistence);
    let buffers = pool.open(seq.file, Fork::Main, seq.persistence);
    let logged = buffers.is_logged();
    let mut guard = pool.read(&buffers, BlockNo(0), &mut be.strategy)?.exclusive();
    let row = sequence::read(&guard, seq.name)?;
    let plan = plan(row, params, seq.name, guard.lsn() <= storage.wal.redo_ptr())?;
    if plan.log && logged {
        // A commit of a transaction with an id waits for the flush of the record.
        be.txn.top_xid()?;
    }
    let xid = be.txn.current_xid_if_any();
    let mut edit = PageEdit::begin(&storage.wal, &mut be.scratch);
    if plan.log && logged {
        // The record contains the state after all logged values have been returned.
        let ahead = SequenceData { last_value: plan.logged_last, log_count: 0, is_called: true };
        // The page has that state while the record is built, because the record may contain an
        // image of the page.
        let page = edit.change(&mut guard, 0, RegFlags::WILL_INIT);
        sequence::write(page, &ahead);
        log(edit, seq.file, &ahead.to_tuple(), xid, &mut be.txn)?;
        edit = PageEdit::begin(&storage.wal, &mut be.scratch);
    }
    let page = edit.change(&mut guard, 0, RegFlags::NONE);
    sequence::write(page, &plan.after);
    edit.finish_unlogged();
    Ok(plan.fetched)
}

struct Plan {
    fetched: Fetched,
    after: SequenceData,
    log: bool,
    logged_last: i64,
}

/// Computes the values to return, whether to log, and the value to log.
fn plan(row: SequenceData, params: &SequenceParams, name: &str, after_redo: bool) -> Result<Plan> {
    let SequenceParams { increment, min, max, cache, cycle } = *params;
    let (mut next, mut last) = (row.last_value, row.last_value);
    let mut result = row.last_value;
    let (mut fetch, mut log_count, mut first) = (cache, row.log_count, 0);
    if !row.is_called {
        // `last_value` itself is returned first.
        first = 1;
        fetch -= 1;
    }
    let mut log = false;
    if log_count < fetch || !row.is_called || after_redo {
        // The first change after a checkpoint must be logged, so that replay can restore the page.
        fetch += LOG_VALUES;
        log_count = fetch;
        log = true;
    }
    let mut rescnt = first;
    while fetch > 0 {
        let room = if increment > 0 {
            next.checked_add(increment).is_some_and(|n| n <= max)
        } else {
            next.checked_add(increment).is_some_and(|n| n >= min)
        };
        if room {
            next += increment;
        } else {
            if rescnt > 0 {
                break;
            }
            let (side, bound) = if increment > 0 { ("maximum", max) } else { ("minimum", min) };
            if !cycle {
                return Err(pg_err!(
                    SEQUENCE_GENERATOR_LIMIT_EXCEEDED,
                    "nextval: reached {side} value of sequence \"{name}\" ({bound})"
                ));
            }
            next = if increment > 0 { min } else { max };
        }
        fetch -= 1;
        if rescnt < cache {
            log_count -= 1;
            rescnt += 1;
            last = next;
            if rescnt == 1 {
                result = next;
            }
        }
    }
    log_count -= fetch;
    Ok(Plan {
        fetched: Fetched { next: result, cached: last },
        after: SequenceData { last_value: last, log_count, is_called: true },
        log,
        logged_last: next,
    })
}

/// Sets the value, which the caller has checked against the bounds. WAL: `SEQ_LOG`.
/// Counterpart: `do_setval`.
pub fn set_value(
    be: &mut Backend,
    seq: SequenceFile<'_>,
    value: i64,
    is_called: bool,
) -> Result<()> {
    let storage = be.storage().clone();
    let pool = be.pool_arc(seq.persistence);
    let buffers = pool.open(seq.file, Fork::Main, seq.persistence);
    let logged = buffers.is_logged();
    if logged {
        be.txn.top_xid()?;
    }
    let xid = be.txn.current_xid_if_any();
    let mut guard = pool.read(&buffers, BlockNo(0), &mut be.strategy)?.exclusive();
    sequence::read(&guard, seq.name)?;
    let data = SequenceData { last_value: value, log_count: 0, is_called };
    let mut edit = PageEdit::begin(&storage.wal, &mut be.scratch);
    if logged {
        let page = edit.change(&mut guard, 0, RegFlags::WILL_INIT);
        sequence::write(page, &data);
        log(edit, seq.file, &data.to_tuple(), xid, &mut be.txn)
    } else {
        let page = edit.change(&mut guard, 0, RegFlags::NONE);
        sequence::write(page, &data);
        edit.finish_unlogged();
        Ok(())
    }
}

/// Text description of the record. Counterpart: `seq_desc`.
pub(crate) fn describe(record: &DecodedRecord, out: &mut String) -> Option<()> {
    match record.info() {
        SEQ_LOG => write!(out, "rel {}", Fields(record.main()).rel()?).ok(),
        _ => Some(()),
    }
}
