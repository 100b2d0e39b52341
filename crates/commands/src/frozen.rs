//! After VACUUM: the oldest ids that the database may still hold are noted in `pg_database`, and
//! status files that no database needs any longer go. Counterpart: `vac_update_datfrozenxid`,
//! `vac_truncate_clog`.
//!
//! LOCK ORDER: the lock of the own database's ids before that of all databases.

use crate::host::CommandHost;
use catalog::rows::{PgClass, PgDatabase, indexes};
use ids::{MultiXid, Oid, Xid};
use lmgr::{LockMode, LockTag};
use pgerror::{PgError, Result, Severity, SqlState};

/// Oldest ids of something, as a pair that moves together.
#[derive(Clone, Copy)]
struct Oldest {
    xid: Xid,
    multi: MultiXid,
}

impl Oldest {
    /// Keeps the older of each. False if one is from the future, so that nothing can be said.
    fn include(&mut self, xid: Xid, multi: MultiXid, next: Oldest) -> bool {
        if next.xid.precedes(xid) || next.multi.precedes(multi) {
            return false;
        }
        if xid.precedes(self.xid) {
            self.xid = xid;
        }
        if multi.precedes(self.multi) {
            self.multi = multi;
        }
        true
    }
}

/// Moves `datfrozenxid` and `datminmxid` along with the tables' own, and the server's limits with
/// the databases'.
pub(crate) fn update_database(host: &mut dyn CommandHost) -> Result<()> {
    let me = host.backend().database();
    host.backend().lock(LockTag::database_frozen_ids(me), LockMode::Exclusive)?;
    let txns = host.backend().storage().txns.clone();
    // What is made from now on is no older than this.
    let mut oldest = Oldest {
        xid: txns.horizons(Oid::INVALID).shared_oldest_nonremovable,
        multi: txns.oldest_multixact(),
    };
    let next = Oldest { xid: txns.next_full_xid().xid(), multi: txns.next_multixact() };
    let mut cat = host.catalog();
    for class in cat.scan_all::<PgClass>()? {
        let (xid, multi) = (class.relfrozenxid, MultiXid(class.relminmxid.0));
        let multi = if multi.0 == 0 { oldest.multi } else { multi };
        if xid.is_normal() && !oldest.include(xid, multi, next) {
            return Ok(());
        }
    }
    let mut moved = false;
    let found = cat.update_in_place(indexes::PG_DATABASE_OID_INDEX, &[me.into()], |row| {
        let before = (row.datfrozenxid, row.datminmxid);
        // An id from the future is mended too.
        if row.datfrozenxid.precedes(oldest.xid) || next.xid.precedes(row.datfrozenxid) {
            row.datfrozenxid = oldest.xid;
        }
        let multi = MultiXid(row.datminmxid.0);
        if multi.precedes(oldest.multi) || next.multi.precedes(multi) {
            row.datminmxid = Xid(oldest.multi.0);
        }
        moved = before != (row.datfrozenxid, row.datminmxid);
    })?;
    if !found {
        return Err(PgError::internal(format!("could not find tuple for database {}", me.0)));
    }
    let holder_is_gone = cat.database(txns.oldest_xid().1)?.is_none();
    if moved || holder_is_gone || txns.needs_wraparound_vacuum() {
        truncate_status(host, next)?;
    }
    Ok(())
}

/// Finds what the databases hold back and cuts the status files there.
fn truncate_status(host: &mut dyn CommandHost, next: Oldest) -> Result<()> {
    // One at a time.
    host.backend().lock(LockTag::database_frozen_ids(Oid::INVALID), LockMode::Exclusive)?;
    let txns = host.backend().storage().txns.clone();
    let now = txns.next_full_xid().xid();
    let mut oldest = next;
    let (mut xid_holder, mut multi_holder) = (Oid::INVALID, Oid::INVALID);
    for database in host.catalog().scan_all::<PgDatabase>()? {
        // What is left of a drop that failed: nobody reads it any more.
        if crate::database::is_invalid(&database) {
            continue;
        }
        let (xid, multi) = (database.datfrozenxid, MultiXid(database.datminmxid.0));
        if now.precedes(xid) {
            let message =
                "some databases have not been vacuumed in over 2 billion transactions".to_owned();
            let e = PgError::new(SqlState::WARNING, message).severity(Severity::Warning);
            let e = e.detail("You might have already suffered transaction-wraparound data loss.");
            host.notice(e);
            return Ok(());
        }
        let before = oldest;
        if !oldest.include(xid, multi, next) {
            return Ok(());
        }
        if oldest.xid != before.xid || !xid_holder.is_valid() {
            xid_holder = database.oid;
        }
        if oldest.multi != before.multi || !multi_holder.is_valid() {
            multi_holder = database.oid;
        }
    }
    txns.truncate_status(oldest.xid, xid_holder, oldest.multi, multi_holder)
}
