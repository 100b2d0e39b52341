//! Multixacts: sets of transactions that lock or update one tuple.
//!
//! pg_multixact/offsets maps a multixact to the number of its first member, pg_multixact/members
//! holds the members in groups of four:
//!
//! ```text
//! group (20 bytes): status of members 0..3, a byte each | xid of members 0..3, four bytes each
//! ```
//!
//! 409 groups fill a page; its last 12 bytes are unused. The members of a multixact end where those
//! of the next one start, so a reader may have to wait until the creator of the next one has
//! written its offset.
//!
//! LOCK ORDER: `truncation`, `state`, then the mutexes of page sets.
//!
//! Counterpart: multixact.c.

use crate::procarray::ProcArray;
use crate::slru::{PAGES_PER_SEGMENT, Slru};
use ids::{MultiXid, Oid, Xid};
use pgerror::{PgError, Result, SqlState, pg_err};
use smallvec::SmallVec;
use sync::atomic::{AtomicU32, Ordering};
use sync::{Arc, Condvar, Mutex};
use vfs::Disk;
use wal::{RecordBuilder, RmgrId, Wal};

/// Lock strength of a member. The discriminants are those on disk.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(u8)]
pub enum MultiXactStatus {
    ForKeyShare = 0,
    ForShare = 1,
    ForNoKeyUpdate = 2,
    ForUpdate = 3,
    /// An update that does not change key columns.
    NoKeyUpdate = 4,
    /// An update of key columns, or a delete.
    Update = 5,
}

impl MultiXactStatus {
    /// As `pg_get_multixact_members` and `pg_waldump` print it.
    pub const fn name(self) -> &'static str {
        match self {
            MultiXactStatus::ForKeyShare => "keysh",
            MultiXactStatus::ForShare => "sh",
            MultiXactStatus::ForNoKeyUpdate => "fornokeyupd",
            MultiXactStatus::ForUpdate => "forupd",
            MultiXactStatus::NoKeyUpdate => "nokeyupd",
            MultiXactStatus::Update => "upd",
        }
    }

    /// True if it is an update or delete, not a row lock. Counterpart: `ISUPDATE_from_mxstatus`.
    pub const fn is_update(self) -> bool {
        matches!(self, MultiXactStatus::NoKeyUpdate | MultiXactStatus::Update)
    }

    pub const fn from_u8(n: u8) -> Option<MultiXactStatus> {
        Some(match n {
            0 => MultiXactStatus::ForKeyShare,
            1 => MultiXactStatus::ForShare,
            2 => MultiXactStatus::ForNoKeyUpdate,
            3 => MultiXactStatus::ForUpdate,
            4 => MultiXactStatus::NoKeyUpdate,
            5 => MultiXactStatus::Update,
            _ => return None,
        })
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct MultiXactMember {
    pub xid: Xid,
    pub status: MultiXactStatus,
}

/// Members of one multixact.
pub type Members = SmallVec<[MultiXactMember; 4]>;

pub(crate) const MULTIXACT_ZERO_OFF_PAGE: u8 = 0x00;
pub(crate) const MULTIXACT_ZERO_MEM_PAGE: u8 = 0x10;
pub(crate) const MULTIXACT_CREATE_ID: u8 = 0x20;
pub(crate) const MULTIXACT_TRUNCATE_ID: u8 = 0x30;

const OFFSETS_PER_PAGE: u32 = 2048;
const GROUPS_PER_PAGE: u32 = 409;
const MEMBERS_PER_PAGE: u32 = GROUPS_PER_PAGE * 4;
const GROUP_BYTES: u32 = 20;
/// The last page of members is not full, because member numbers have 32 bits.
const MEMBER_PAGES: u32 = u32::MAX / MEMBERS_PER_PAGE + 1;
const MEMBERS_PER_SEGMENT: u32 = MEMBERS_PER_PAGE * PAGES_PER_SEGMENT;

/// Counters for new multixacts, and the limits that protect from wraparound.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct State {
    pub(crate) next: MultiXid,
    /// Number of the next member; 0 is never used.
    pub(crate) next_offset: u32,
    pub(crate) oldest: MultiXid,
    pub(crate) oldest_db: Oid,
    oldest_offset: u32,
    vac_limit: MultiXid,
    warn_limit: MultiXid,
    stop_limit: MultiXid,
    /// Member numbers must not pass this one; 0 while unknown.
    offset_stop: u32,
}

pub(crate) struct MultiXacts {
    offsets: Slru,
    members: Slru,
    wal: Arc<Wal>,
    state: Mutex<State>,
    truncation: Mutex<()>,
    next: AtomicU32,
    oldest: AtomicU32,
    written: Condvar,
}

const fn offset_page(multi: MultiXid) -> u32 {
    multi.0 / OFFSETS_PER_PAGE
}

/// Byte of the multixact's entry on the offsets page.
const fn byte_of_offset(multi: MultiXid) -> usize {
    (multi.0 % OFFSETS_PER_PAGE) as usize * 4
}

const fn member_page(offset: u32) -> u32 {
    offset / MEMBERS_PER_PAGE
}

/// Bytes of the member's status and of its xid on the members page.
const fn bytes_of_member(offset: u32) -> (usize, usize) {
    let group = offset % MEMBERS_PER_PAGE / 4 * GROUP_BYTES;
    let slot = offset % 4;
    ((group + slot) as usize, (group + 4 + slot * 4) as usize)
}

fn offset_page_precedes(a: u32, b: u32) -> bool {
    let first = |page: u32| MultiXid(page.wrapping_mul(OFFSETS_PER_PAGE).wrapping_add(2));
    let (a, b) = (first(a), first(b));
    a.precedes(b) && a.precedes(MultiXid(b.0.wrapping_add(OFFSETS_PER_PAGE - 1)))
}

fn member_page_precedes(a: u32, b: u32) -> bool {
    let precedes = |a: u32, b: u32| (a.wrapping_sub(b) as i32) < 0;
    let (a, b) = (a.wrapping_mul(MEMBERS_PER_PAGE), b.wrapping_mul(MEMBERS_PER_PAGE));
    precedes(a, b) && precedes(a, b.wrapping_add(MEMBERS_PER_PAGE - 1))
}

impl MultiXacts {
    pub(crate) fn new(disk: Arc<dyn Disk>, wal: Arc<Wal>) -> MultiXacts {
        let slru = |dir, pages, precedes| {
            Slru::new(disk.clone(), wal.clone(), dir, pages, 0, true, precedes)
        };
        MultiXacts {
            offsets: slru("pg_multixact/offsets", 16, offset_page_precedes),
            members: slru("pg_multixact/members", 32, member_page_precedes),
            wal: wal.clone(),
            state: Mutex::new(State {
                next: MultiXid::FIRST,
                next_offset: 1,
                oldest: MultiXid::FIRST,
                ..State::default()
            }),
            truncation: Mutex::new(()),
            next: AtomicU32::new(1),
            oldest: AtomicU32::new(1),
            written: Condvar::new(),
        }
    }

    pub(crate) fn next(&self) -> MultiXid {
        MultiXid(self.next.load(Ordering::Acquire))
    }

    pub(crate) fn oldest_kept(&self) -> MultiXid {
        MultiXid(self.oldest.load(Ordering::Acquire))
    }

    pub(crate) fn state(&self) -> State {
        *self.state.lock()
    }

    fn subject(multi: MultiXid) -> impl Fn() -> String {
        move || format!("transaction {multi}")
    }

    /// Creates a multixact. Counterpart: `MultiXactIdCreateFromMembers`.
    /// WAL: `MULTIXACT_CREATE_ID`.
    pub(crate) fn create(
        &self,
        members: &[MultiXactMember],
        builder: &mut RecordBuilder,
        warn: &mut dyn FnMut(PgError),
    ) -> Result<MultiXid> {
        if members.iter().filter(|m| m.status.is_update()).count() > 1 {
            let code = SqlState::INTERNAL_ERROR;
            return Err(PgError::new(code, "new multixact has more than one updating member"));
        }
        let _delay = self.wal.delay_checkpoint_start();
        let (multi, offset) = self.assign(members.len() as u32, builder, warn)?;
        builder.reset(RmgrId::MultiXact, MULTIXACT_CREATE_ID);
        builder.main(&multi.0.to_le_bytes()).main(&offset.to_le_bytes());
        builder.main(&(members.len() as u32).to_le_bytes());
        for member in members {
            builder.main(&member.xid.0.to_le_bytes());
            builder.main(&u32::from(member.status as u8).to_le_bytes());
        }
        self.wal.insert(builder, &[], Xid::INVALID)?;
        self.record(multi, offset, members)?;
        let _state = self.state.lock();
        self.written.notify_all();
        Ok(multi)
    }

    /// Assigns a multixact and member numbers. Counterpart: `GetNewMultiXactId`.
    fn assign(
        &self,
        count: u32,
        builder: &mut RecordBuilder,
        warn: &mut dyn FnMut(PgError),
    ) -> Result<(MultiXid, u32)> {
        let mut state = self.state.lock();
        let multi = if state.next.0 == 0 { MultiXid::FIRST } else { state.next };
        check_limits(&state, multi, count, warn)?;
        let (offset, count) = match state.next_offset {
            0 => (1, count + 1),
            offset => (offset, count),
        };
        self.extend_offsets(multi, builder)?;
        self.extend_members(state.next_offset, count, builder)?;
        state.next = multi.next();
        state.next_offset = state.next_offset.wrapping_add(count);
        self.next.store(state.next.0, Ordering::Release);
        Ok((multi, offset))
    }

    fn extend_offsets(&self, multi: MultiXid, b: &mut RecordBuilder) -> Result<()> {
        if !multi.0.is_multiple_of(OFFSETS_PER_PAGE) && multi != MultiXid::FIRST {
            return Ok(());
        }
        let page = offset_page(multi);
        self.offsets.zero_page(page)?;
        self.log_zero(MULTIXACT_ZERO_OFF_PAGE, page, b)
    }

    fn extend_members(&self, mut offset: u32, count: u32, b: &mut RecordBuilder) -> Result<()> {
        let mut left = count;
        while left > 0 {
            if offset.is_multiple_of(MEMBERS_PER_PAGE) {
                let page = member_page(offset);
                self.members.zero_page(page)?;
                self.log_zero(MULTIXACT_ZERO_MEM_PAGE, page, b)?;
            }
            // The last page ends where member numbers wrap around.
            let to_end = (u32::MAX - offset).saturating_add(1);
            let room = (MEMBERS_PER_PAGE - offset % MEMBERS_PER_PAGE).min(to_end);
            let step = room.min(left);
            left -= step;
            offset = offset.wrapping_add(step);
        }
        Ok(())
    }

    fn log_zero(&self, info: u8, page: u32, builder: &mut RecordBuilder) -> Result<()> {
        builder.reset(RmgrId::MultiXact, info);
        builder.main(&page.to_le_bytes());
        self.wal.insert(builder, &[], Xid::INVALID)?;
        Ok(())
    }

    /// Writes the members, then the offset, which makes them readable.
    /// Counterpart: `RecordNewMultiXact`.
    pub(crate) fn record(
        &self,
        multi: MultiXid,
        offset: u32,
        members: &[MultiXactMember],
    ) -> Result<()> {
        let mut at = offset;
        for member in members {
            // Member number 0 is never used.
            at = at.max(1);
            let (status, xid) = bytes_of_member(at);
            let held = self.members.hold(member_page(at), &Self::subject(multi))?;
            held.set_u32(xid, member.xid.0);
            held.set_u8(status, member.status as u8);
            drop(held);
            at = at.wrapping_add(1);
        }
        let held = self.offsets.hold(offset_page(multi), &Self::subject(multi))?;
        held.set_u32(byte_of_offset(multi), offset);
        Ok(())
    }

    fn offset_of(&self, multi: MultiXid) -> Result<u32> {
        let byte = byte_of_offset(multi);
        let (word, _) = self.offsets.read(offset_page(multi), byte, None, &Self::subject(multi))?;
        Ok((word >> (byte % 8 * 8)) as u32)
    }

    /// Counterpart: `GetMultiXactIdMembers`.
    pub(crate) fn members(&self, multi: MultiXid) -> Result<Members> {
        if !multi.is_valid() {
            return Ok(Members::new());
        }
        if multi.precedes(self.oldest_kept()) {
            return Err(pg_err!(
                INTERNAL_ERROR,
                "MultiXactId {multi} does no longer exist -- apparent wraparound"
            ));
        }
        if !multi.precedes(self.next()) {
            return Err(pg_err!(
                INTERNAL_ERROR,
                "MultiXactId {multi} has not been created yet -- apparent wraparound"
            ));
        }
        let (offset, count) = self.extent(multi)?;
        let mut out = Members::new();
        let mut at = offset;
        for _ in 0..count {
            if at != 0 {
                let (status, xid) = bytes_of_member(at);
                let page = member_page(at);
                let (word, _) = self.members.read(page, xid, None, &Self::subject(multi))?;
                let xid = Xid((word >> (xid % 8 * 8)) as u32);
                let (word, _) = self.members.read(page, status, None, &Self::subject(multi))?;
                let status = (word >> (status % 8 * 8)) as u8;
                if xid.is_valid() {
                    let status = MultiXactStatus::from_u8(status).ok_or_else(|| {
                        pg_err!(
                            DATA_CORRUPTED,
                            "invalid member status {status} of multixact {multi}"
                        )
                    })?;
                    out.push(MultiXactMember { xid, status });
                }
            }
            at = at.wrapping_add(1);
        }
        Ok(out)
    }

    /// Number of the first member, and count of members. The count includes member number 0, which
    /// is unused, if the numbers wrap around in between.
    fn extent(&self, multi: MultiXid) -> Result<(u32, u32)> {
        loop {
            let (next, next_offset) = {
                let state = self.state.lock();
                (state.next, state.next_offset)
            };
            let offset = self.offset_of(multi)?;
            let end =
                if multi.next() == next { next_offset } else { self.offset_of(multi.next())? };
            if offset != 0 && (end != 0 || multi.next() == next) {
                return Ok((offset, end.wrapping_sub(offset)));
            }
            // The creator of this multixact or of the next has its number but has not written the
            // offset yet.
            let mut state = self.state.lock();
            if self.offset_of(multi)? == 0 || self.offset_of(multi.next())? == 0 {
                self.written.wait_for(&mut state, std::time::Duration::from_millis(1));
            }
        }
    }

    pub(crate) fn bootstrap(&self) -> Result<()> {
        self.offsets.zero_page(0)?;
        self.offsets.write_page(0)?;
        self.members.zero_page(0)?;
        self.members.write_page(0)
    }

    pub(crate) fn startup(&self, next: MultiXid, offset: u32, oldest: MultiXid, db: Oid) {
        let mut state = self.state.lock();
        state.next = next;
        state.next_offset = offset;
        state.oldest = oldest;
        state.oldest_db = db;
        self.next.store(next.0, Ordering::Release);
        self.oldest.store(oldest.0, Ordering::Release);
        self.offsets.set_latest_page(offset_page(next));
        self.members.set_latest_page(member_page(offset));
    }

    /// Counterpart: `MultiXactAdvanceNextMXact`.
    pub(crate) fn advance_next(&self, next: MultiXid, offset: u32) {
        let mut state = self.state.lock();
        if state.next.precedes(next) {
            state.next = next;
            self.next.store(next.0, Ordering::Release);
        }
        if (state.next_offset.wrapping_sub(offset) as i32) < 0 {
            state.next_offset = offset;
        }
    }

    /// Counterpart: `TrimMultiXact`.
    pub(crate) fn trim(&self) -> Result<()> {
        let State { next, next_offset, .. } = self.state();
        self.offsets.set_latest_page(offset_page(next));
        self.members.set_latest_page(member_page(next_offset));
        let byte = byte_of_offset(next);
        if byte != 0 {
            self.offsets.hold(offset_page(next), &Self::subject(next))?.zero_from(byte);
        }
        let (status, xid) = bytes_of_member(next_offset);
        // As in PostgreSQL, the page is not zeroed if the next member is in its first group.
        if status >= GROUP_BYTES as usize {
            let subject = Self::subject(MultiXid(next_offset));
            let held = self.members.hold(member_page(next_offset), &subject)?;
            held.zero_from(xid);
        }
        Ok(())
    }

    pub(crate) fn checkpoint(&self) -> Result<()> {
        self.offsets.checkpoint()?;
        self.members.checkpoint()
    }

    /// Computes the limits from the oldest multixact in any table.
    /// Counterpart: `SetMultiXactIdLimit`, `SetOffsetVacuumLimit`.
    pub(crate) fn set_limit(&self, oldest: MultiXid, db: Oid, freeze_max_age: u32) -> Result<()> {
        let skip = |n: u32| MultiXid(n.max(1));
        let wrap = skip(oldest.0.wrapping_add(0x7FFF_FFFF));
        let mut state = self.state.lock();
        state.oldest = oldest;
        state.oldest_db = db;
        state.stop_limit = skip(wrap.0.wrapping_sub(3_000_000));
        state.warn_limit = skip(wrap.0.wrapping_sub(40_000_000));
        state.vac_limit = skip(oldest.0.wrapping_add(freeze_max_age));
        self.oldest.store(oldest.0, Ordering::Release);
        let next = state.next;
        drop(state);
        let oldest_offset = if oldest == next {
            self.state().next_offset
        } else if self.offsets.page_exists(offset_page(oldest))? {
            self.offset_of(oldest)?
        } else {
            return Ok(());
        };
        let mut state = self.state.lock();
        state.oldest_offset = oldest_offset;
        // The limit is one segment before the segment that holds the oldest member.
        let stop = oldest_offset
            .wrapping_sub(oldest_offset % MEMBERS_PER_SEGMENT)
            .wrapping_sub(MEMBERS_PER_SEGMENT);
        state.offset_stop = stop;
        Ok(())
    }

    /// Counterpart: `MultiXactAdvanceOldest`.
    pub(crate) fn advance_oldest(&self, oldest: MultiXid, db: Oid, max_age: u32) -> Result<()> {
        if self.oldest_kept().precedes(oldest) {
            self.set_limit(oldest, db, max_age)
        } else {
            Ok(())
        }
    }

    /// Number of multixacts and members in use. Counterpart: `ReadMultiXactCounts`.
    pub(crate) fn counts(&self) -> (u32, u32) {
        let state = self.state();
        (
            state.next.0.wrapping_sub(state.oldest.0),
            state.next_offset.wrapping_sub(state.oldest_offset),
        )
    }

    /// Removes the segments that only multixacts before `oldest` need.
    /// WAL: `MULTIXACT_TRUNCATE_ID`, flushed before any file is removed.
    /// Counterpart: `TruncateMultiXact`.
    pub(crate) fn truncate(&self, oldest: MultiXid, db: Oid, b: &mut RecordBuilder) -> Result<()> {
        let _only = self.truncation.lock();
        let State { next, next_offset, oldest: kept, .. } = self.state();
        if oldest.precedes_or_equals(kept) {
            return Ok(());
        }
        let segments = self.offsets.segments()?;
        let earliest_page = segments
            .iter()
            .map(|s| s * PAGES_PER_SEGMENT)
            .reduce(|a, b| if offset_page_precedes(b, a) { b } else { a });
        let Some(earliest_page) = earliest_page else { return Ok(()) };
        let earliest = MultiXid((earliest_page * OFFSETS_PER_PAGE).max(1));
        if oldest.precedes(earliest) {
            return Ok(());
        }
        let find = |multi: MultiXid| -> Result<Option<u32>> {
            if multi == next {
                return Ok(Some(next_offset));
            }
            if !self.offsets.page_exists(offset_page(multi))? {
                return Ok(None);
            }
            self.offset_of(multi).map(Some)
        };
        let (Some(start_member), Some(end_member)) = (find(earliest)?, find(oldest)?) else {
            return Ok(());
        };
        b.reset(RmgrId::MultiXact, MULTIXACT_TRUNCATE_ID);
        for field in [db.0, earliest.0, oldest.0, start_member, end_member] {
            b.main(&field.to_le_bytes());
        }
        let _delay = self.wal.delay_checkpoint_end();
        let inserted = self.wal.insert(b, &[], Xid::INVALID)?;
        self.wal.flush(inserted.end)?;
        self.oldest.store(oldest.0, Ordering::Release);
        let mut state = self.state.lock();
        state.oldest = oldest;
        state.oldest_db = db;
        drop(state);
        self.remove_members(start_member, end_member)?;
        self.remove_offsets(oldest)
    }

    pub(crate) fn remove_members(&self, start: u32, end: u32) -> Result<()> {
        let last = (MEMBER_PAGES - 1) / PAGES_PER_SEGMENT;
        let segment_of = |offset: u32| member_page(offset) / PAGES_PER_SEGMENT;
        let (mut segment, end) = (segment_of(start), segment_of(end));
        while segment != end {
            self.members.forget_segment(segment);
            self.members.delete_segment(segment)?;
            segment = if segment == last { 0 } else { segment + 1 };
        }
        Ok(())
    }

    /// The cutoff is the page of the multixact before `oldest`, as in PostgreSQL: `oldest` may be
    /// the next multixact, whose page need not exist yet.
    pub(crate) fn remove_offsets(&self, oldest: MultiXid) -> Result<()> {
        let previous = if oldest == MultiXid::FIRST { u32::MAX } else { oldest.0 - 1 };
        self.offsets.truncate(offset_page(MultiXid(previous)))
    }

    pub(crate) fn redo_zero_offsets(&self, page: u32) -> Result<()> {
        self.offsets.zero_page(page)?;
        self.offsets.write_page(page)
    }

    pub(crate) fn redo_zero_members(&self, page: u32) -> Result<()> {
        self.members.zero_page(page)?;
        self.members.write_page(page)
    }

    /// Replay of a truncation. Reads nothing from the files that it removes.
    pub(crate) fn redo_truncate(&self, oldest: MultiXid, members: (u32, u32)) -> Result<()> {
        // The latest page may not be known yet.
        self.offsets.set_latest_page(offset_page(self.next()));
        self.remove_members(members.0, members.1)?;
        self.remove_offsets(oldest)
    }

    /// Oldest multixact that a running transaction may be a member of or may read.
    /// Counterpart: `GetOldestMultiXactId`.
    pub(crate) fn oldest_in_use(&self, procs: &ProcArray) -> MultiXid {
        let state = self.state.lock();
        procs.oldest_multixact(if state.next.0 == 0 { MultiXid::FIRST } else { state.next })
    }

    /// Publishes in the session's slot the oldest multixact that it may become a member of: the
    /// next one to be assigned. Under `state`, so that none is assigned in between.
    pub(crate) fn announce_member(&self, slot: &AtomicU32) {
        let state = self.state.lock();
        slot.store(state.next.0.max(1), Ordering::Release);
    }
}

/// Returns an error or issues a warning if multixacts or member numbers are about to run out.
fn check_limits(
    state: &State,
    multi: MultiXid,
    count: u32,
    warn: &mut dyn FnMut(PgError),
) -> Result<()> {
    const ADVICE: &str = "Execute a database-wide VACUUM in that database.\n\
        You might also need to commit or roll back old prepared transactions, \
        or drop stale replication slots.";
    let due = |limit: MultiXid| limit.is_valid() && !multi.precedes(limit);
    if due(state.stop_limit) {
        return Err(pg_err!(
            PROGRAM_LIMIT_EXCEEDED,
            "database is not accepting commands that generate new MultiXactIds to avoid wraparound \
             data loss in database with OID {}",
            state.oldest_db
        )
        .hint(ADVICE));
    }
    if due(state.warn_limit) {
        let left = state.stop_limit.0.wrapping_add(3_000_000).wrapping_sub(multi.0);
        warn(
            pg_err!(
                WARNING,
                "database with OID {} must be vacuumed before {left} more MultiXactIds are used",
                state.oldest_db
            )
            .severity(pgerror::Severity::Warning)
            .hint(ADVICE),
        );
    }
    let end = state.next_offset.wrapping_add(count);
    let passes = |stop: u32| {
        // True if `stop` is in the half-open range from the next member number to `end`.
        stop.wrapping_sub(state.next_offset) < end.wrapping_sub(state.next_offset)
    };
    if state.offset_stop != 0 && passes(state.offset_stop) {
        return Err(pg_err!(PROGRAM_LIMIT_EXCEEDED, "multixact \"members\" limit exceeded").hint(
            format!(
                "Execute a database-wide VACUUM in database with OID {} with reduced \
             vacuum_multixact_freeze_min_age and vacuum_multixact_freeze_table_age settings.",
                state.oldest_db
            ),
        ));
    }
    Ok(())
}
