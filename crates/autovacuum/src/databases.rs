//! The choice of a database. Counterpart: `do_start_worker`.

use catalog::rows::PgDatabase;
use hashbrown::HashMap;
use ids::{MultiXid, Oid, Xid};
use pgerror::Result;
use stats::DatabaseField;
use std::time::{Duration, Instant};
use utility::host::CommandHost;

/// A database that autovacuum may process.
#[derive(Clone, Debug)]
pub struct Database {
    pub oid: Oid,
    pub tablespace: Oid,
    pub name: String,
    /// All rows are frozen: the database is a template or does not allow connections.
    pub freeze_all: bool,
    /// The age of its oldest transaction id, if it must be vacuumed against wraparound of
    /// transaction ids or multixacts.
    pub at_risk: Option<u32>,
    /// When autovacuum last processed it, in microseconds since 2000-01-01; `None` if there are no
    /// statistics of the database, so that nothing has changed there.
    pub last_processed: Option<i64>,
}

/// Older transaction ids and multixacts must be frozen.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    xid: Xid,
    multi: MultiXid,
}

impl Limits {
    /// Limits at distances `xid_age` and `multi_age` before the next values.
    pub(crate) fn new(host: &mut dyn CommandHost, xid_age: u32, multi_age: u32) -> Limits {
        let txns = &host.backend().storage().txns;
        let xid = txns.next_full_xid().xid().0.wrapping_sub(xid_age);
        // Skips the special transaction ids.
        let xid = Xid(if xid < Xid::FIRST_NORMAL.0 { xid.wrapping_sub(3) } else { xid });
        let multi = MultiXid(txns.next_multixact().0.wrapping_sub(multi_age).max(1));
        Limits { xid, multi }
    }

    pub(crate) fn are_exceeded_by(self, xid: Xid, multi: Xid) -> bool {
        let multi = MultiXid(multi.0);
        (xid.is_normal() && xid.precedes(self.xid)) || (multi.0 != 0 && multi.precedes(self.multi))
    }
}

pub(crate) fn ages(host: &mut dyn CommandHost) -> (u32, u32) {
    let txns = &host.backend().storage().txns;
    (txns.freeze_max_ages().0, txns.multixact_freeze_max_age())
}

/// All databases.
pub fn databases(host: &mut dyn CommandHost) -> Result<Vec<Database>> {
    let (xid_age, multi_age) = ages(host);
    let limits = Limits::new(host, xid_age, multi_age);
    let (txns, stats) =
        (host.backend().storage().txns.clone(), host.backend().storage().stats.clone());
    let next = txns.next_full_xid().xid();
    let mut rows = host.catalog().scan_all::<PgDatabase>()?;
    rows.retain(|row| !clusterwide::database::is_invalid(row));
    let age = |row: &PgDatabase| next.0.wrapping_sub(row.datfrozenxid.0);
    let mut list = Vec::new();
    for row in &rows {
        // The database that determines the server's limit is always included, because its row and
        // the limit may disagree, for example after a vacuum of single tables.
        let holds = txns.needs_wraparound_vacuum() && txns.oldest_xid().1 == row.oid;
        let at_risk = holds || limits.are_exceeded_by(row.datfrozenxid, row.datminmxid);
        list.push(Database {
            oid: row.oid,
            tablespace: row.dattablespace,
            name: row.datname.to_string(),
            freeze_all: row.datistemplate || !row.datallowconn,
            at_risk: at_risk.then(|| age(row)),
            last_processed: stats.database(row.oid).map(|db| db[DatabaseField::AutovacuumTime]),
        });
    }
    if txns.needs_wraparound_vacuum() && list.iter().all(|db| db.at_risk.is_none()) {
        // The database that determined the limit was dropped. A vacuum of any database computes the
        // limit again.
        let oldest = rows.iter().enumerate().max_by_key(|(_, row)| age(row));
        if let Some((n, row)) = oldest {
            list[n].at_risk = Some(age(row));
        }
    }
    Ok(list)
}

/// The database to process now: the one that is closest to wraparound, otherwise the one that was
/// processed longest ago. A worker was started for those in `started` at that time; they are not
/// chosen again before `naptime` has passed. `is_active`: autovacuum is not restricted to the work
/// against wraparound.
pub fn choose<'d>(
    databases: &'d [Database],
    started: &HashMap<Oid, Instant>,
    (now, naptime): (Instant, Duration),
    is_active: bool,
) -> Option<&'d Database> {
    let is_free = |db: &&Database| {
        started.get(&db.oid).is_none_or(|at| now.saturating_duration_since(*at) >= naptime)
    };
    let free = || databases.iter().filter(is_free);
    let at_risk = free().filter(|db| db.at_risk.is_some()).max_by_key(|db| db.at_risk);
    let known = || free().filter(|db| db.last_processed.is_some());
    at_risk.or_else(|| known().min_by_key(|db| db.last_processed).filter(|_| is_active))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn database(oid: u32, at_risk: Option<u32>, last_processed: Option<i64>) -> Database {
        let (tablespace, name) = (Oid(1663), oid.to_string());
        Database { oid: Oid(oid), tablespace, name, freeze_all: false, at_risk, last_processed }
    }

    #[test]
    fn old_databases_come_first_and_others_in_rotation() {
        let now = Instant::now();
        let time = (now, Duration::from_secs(60));
        let mut started = HashMap::new();
        let all = [
            database(1, None, Some(30)),
            database(2, Some(7), None),
            database(3, Some(9), Some(50)),
            database(4, None, None),
            database(5, None, Some(20)),
        ];
        let mut order = Vec::new();
        while let Some(next) = choose(&all, &started, time, true) {
            order.push(next.oid.0);
            started.insert(next.oid, now);
        }
        assert_eq!(order, [3, 2, 5, 1]);
        let only_old = choose(&all[..1], &HashMap::new(), time, false);
        assert!(only_old.is_none());
        let later = (now + Duration::from_secs(60), Duration::from_secs(60));
        assert_eq!(choose(&all, &started, later, false).map(|db| db.oid.0), Some(3));
    }
}
