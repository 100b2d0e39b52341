//! After VACUUM: advances the database's frozen XID and multixact limits in `pg_database` and
//! truncates status files that no database needs.
//!
//! Counterpart: `vac_update_datfrozenxid`, `vac_truncate_clog`.
//!
//! LOCK ORDER: the frozen-ids lock of the own database before that of all databases.

use catalog::rows::{PgClass, PgDatabase, indexes};
use ids::{MultiXid, Oid, Xid};
use lmgr::{LockMode, LockTag};
use pgerror::{PgError, Result, Severity, SqlState};
use utility::host::CommandHost;

/// The oldest XID and multixact, which are advanced together.
#[derive(Clone, Copy)]
struct Oldest {
    xid: Xid,
    multi: MultiXid,
}

impl Oldest {
    /// Keeps the older value of each. Returns false if a value is in the future: then no limit is
    /// known.
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

/// Advances `datfrozenxid` and `datminmxid` to the minimum of the tables, and the server's limits
/// to the minimum of the databases.
pub fn update_database(host: &mut dyn CommandHost) -> Result<()> {
    let me = host.backend().database();
    host.backend().lock(LockTag::database_frozen_ids(me), LockMode::Exclusive)?;
    let txns = host.backend().storage().txns.clone();
    // No transaction id that is assigned from now on is older than this.
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
        // A value in the future is corrected too.
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

/// Computes the minimum over all databases and truncates the status files.
fn truncate_status(host: &mut dyn CommandHost, next: Oldest) -> Result<()> {
    // The lock serialises this with other sessions.
    host.backend().lock(LockTag::database_frozen_ids(Oid::INVALID), LockMode::Exclusive)?;
    let txns = host.backend().storage().txns.clone();
    let now = txns.next_full_xid().xid();
    let mut oldest = next;
    let (mut xid_holder, mut multi_holder) = (Oid::INVALID, Oid::INVALID);
    for database in host.catalog().scan_all::<PgDatabase>()? {
        // An invalid database, whose DROP has failed, is no longer read.
        if clusterwide::database::is_invalid(&database) {
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
