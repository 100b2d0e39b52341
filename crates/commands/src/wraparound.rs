//! Vacuuming the tables of a database whose ids are so old that they might wrap around: the part of
//! autovacuum that cannot be switched off. Counterpart: `do_autovacuum`,
//! `relation_needs_vacanalyze` in autovacuum.c.

use crate::host::CommandHost;
use crate::vacuum::{Auto, vacuum_for_wraparound};
use catalog::ObjectAddress;
use catalog::depend::DropBehavior;
use catalog::rows::{PgClass, PgDatabase, indexes};
use ids::{MultiXid, Oid, Xid};
use pgerror::Result;

/// A table to be vacuumed.
#[derive(Clone, Debug)]
pub struct OldTable {
    pub oid: Oid,
    pub schema: String,
    pub name: String,
}

/// A database, with how old its ids are.
#[derive(Clone, Debug)]
pub struct OldDatabase {
    pub oid: Oid,
    pub tablespace: Oid,
    pub name: String,
    /// Nobody else may vacuum it, or it is a template: all is frozen.
    pub freeze_all: bool,
    /// Ids (or multixacts, if those are the reason) since its oldest.
    pub age: u32,
}

/// Ids before these must be frozen.
#[derive(Clone, Copy, Debug)]
struct Limits {
    xid: Xid,
    multi: MultiXid,
}

impl Limits {
    /// `xid_age` and `multi_age` before the next ones.
    fn new(host: &mut dyn CommandHost, xid_age: u32, multi_age: u32) -> Limits {
        let txns = &host.backend().storage().txns;
        let xid = txns.next_full_xid().xid().0.wrapping_sub(xid_age);
        // The special ids are skipped.
        let xid = Xid(if xid < Xid::FIRST_NORMAL.0 { xid.wrapping_sub(3) } else { xid });
        let multi = MultiXid(txns.next_multixact().0.wrapping_sub(multi_age).max(1));
        Limits { xid, multi }
    }

    fn are_passed_by(self, xid: Xid, multi: Xid) -> bool {
        let multi = MultiXid(multi.0);
        (xid.is_normal() && xid.precedes(self.xid)) || (multi.0 != 0 && multi.precedes(self.multi))
    }
}

fn ages(host: &mut dyn CommandHost) -> (u32, u32) {
    let txns = &host.backend().storage().txns;
    (txns.freeze_max_ages().0, txns.multixact_freeze_max_age())
}

/// The databases that must be vacuumed against wraparound, the oldest first; and the names of all.
/// Counterpart: `do_start_worker`.
pub fn old_databases(host: &mut dyn CommandHost) -> Result<(Vec<OldDatabase>, Vec<(Oid, String)>)> {
    let (xid_age, multi_age) = ages(host);
    let limits = Limits::new(host, xid_age, multi_age);
    let txns = host.backend().storage().txns.clone();
    let next = txns.next_full_xid().xid();
    let (mut old, mut names) = (Vec::new(), Vec::new());
    let mut rows = host.catalog().scan_all::<PgDatabase>()?;
    rows.retain(|row| !crate::database::is_invalid(row));
    for row in &rows {
        names.push((row.oid, row.datname.to_string()));
        // The holder of the limit may be gone, or have been vacuumed by tables: then its row lags
        // behind.
        let holds = txns.needs_wraparound_vacuum() && txns.oldest_xid().1 == row.oid;
        if holds || limits.are_passed_by(row.datfrozenxid, row.datminmxid) {
            old.push(OldDatabase {
                oid: row.oid,
                tablespace: row.dattablespace,
                name: row.datname.to_string(),
                freeze_all: row.datistemplate || !row.datallowconn,
                age: next.0.wrapping_sub(row.datfrozenxid.0),
            });
        }
    }
    if old.is_empty() && txns.needs_wraparound_vacuum() {
        // The database that held the limit back has been dropped: any other finds the new limit.
        let oldest = rows.iter().max_by_key(|row| next.0.wrapping_sub(row.datfrozenxid.0));
        old.extend(oldest.map(|row| OldDatabase {
            oid: row.oid,
            tablespace: row.dattablespace,
            name: row.datname.to_string(),
            freeze_all: row.datistemplate || !row.datallowconn,
            age: next.0.wrapping_sub(row.datfrozenxid.0),
        }));
    }
    old.sort_by_key(|d| std::cmp::Reverse(d.age));
    Ok((old, names))
}

/// The tables of this database that must be vacuumed against wraparound, TOAST tables last.
pub fn old_tables(host: &mut dyn CommandHost) -> Result<Vec<OldTable>> {
    let mut rows = Vec::new();
    for class in host.catalog().scan_all::<PgClass>()? {
        let vacuumed = matches!(class.relkind, b'r' | b'm' | b't');
        if vacuumed && class.relpersistence != b't' && is_old(host, &class) {
            rows.push(class);
        }
    }
    rows.sort_by_key(|class| (class.relkind == b't', class.oid));
    let mut tables = Vec::new();
    for class in rows {
        let schema = host.catalog().namespace_name(class.relnamespace)?.unwrap_or_default();
        let name = class.relname.to_string();
        tables.push(OldTable { oid: class.oid, schema: schema.to_string(), name });
    }
    Ok(tables)
}

/// Must the table be vacuumed now? Its own `autovacuum_freeze_max_age` may make that earlier, never
/// later.
fn is_old(host: &mut dyn CommandHost, class: &PgClass) -> bool {
    let (xid_age, multi_age) = ages(host);
    let own = |name: &str, all: u32| {
        let value = catalog::descs::option(class.reloptions.as_deref(), name);
        value.and_then(|v| v.parse().ok()).map_or(all, |own: u32| own.min(all))
    };
    let xid_age = own("autovacuum_freeze_max_age", xid_age);
    let multi_age = own("autovacuum_multixact_freeze_max_age", multi_age);
    Limits::new(host, xid_age, multi_age).are_passed_by(class.relfrozenxid, class.relminmxid)
}

/// Vacuums a table unless it has gone, or somebody else has done it. In a transaction of its own,
/// which is left open.
pub fn vacuum_table(host: &mut dyn CommandHost, table: &OldTable, freeze_all: bool) -> Result<()> {
    host.next_transaction()?;
    let Some(class) = host.catalog().find_class(table.oid)? else { return Ok(()) };
    if !is_old(host, &class) {
        return Ok(());
    }
    vacuum_for_wraparound(host, table.oid, Auto { freeze_all })
}

/// Notes the oldest ids left, and truncates the status files. In a transaction of its own.
pub fn finish(host: &mut dyn CommandHost) -> Result<()> {
    host.next_transaction()?;
    crate::frozen::update_database(host)
}

/// Drops temporary tables whose session is gone (`alive` tells by the number in the schema's name):
/// nobody else can vacuum them, and they hold the database's ids back. Returns what was dropped. In
/// a transaction of its own.
pub fn drop_orphans(
    host: &mut dyn CommandHost,
    alive: &dyn Fn(u32) -> bool,
) -> Result<Vec<OldTable>> {
    host.next_transaction()?;
    let mut dropped = Vec::new();
    for class in host.catalog().scan_all::<PgClass>()? {
        if class.relpersistence != b't' || !matches!(class.relkind, b'r' | b'm') {
            continue;
        }
        let schema = host.catalog().namespace_name(class.relnamespace)?.unwrap_or_default();
        let number = schema.as_str().strip_prefix("pg_temp_").and_then(|n| n.parse().ok());
        if number.is_none_or(alive) {
            continue;
        }
        // Its session's successor may be at it.
        if !host.try_lock_relation(class.oid, crate::names::mode::ACCESS_EXCLUSIVE)?
            || host.catalog().scan(indexes::PG_CLASS_OID_INDEX, &[class.oid.into()])?.is_empty()
        {
            continue;
        }
        let object = ObjectAddress::relation(class.oid);
        crate::drop::drop_objects(host, &[object], DropBehavior::Cascade, true)?;
        let name = class.relname.to_string();
        dropped.push(OldTable { oid: class.oid, schema: schema.to_string(), name });
    }
    Ok(dropped)
}
