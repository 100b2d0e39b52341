//! Vacuuming of tables to prevent wraparound of transaction ids and multixacts, the part of
//! autovacuum that cannot be disabled.
//!
//! Counterpart: `do_autovacuum`, `relation_needs_vacanalyze` of autovacuum.c.

use crate::vacuum::{Auto, vacuum_for_wraparound};
use catalog::ObjectAddress;
use catalog::depend::DropBehavior;
use catalog::rows::{PgClass, PgDatabase, indexes};
use define::deletion;
use ids::{MultiXid, Oid, Persistence, RelKind, Xid};
use pgerror::Result;
use utility::host::CommandHost;

/// A table to vacuum.
#[derive(Clone, Debug)]
pub struct OldTable {
    pub oid: Oid,
    pub schema: String,
    pub name: String,
}

/// A database with old transaction ids or multixacts.
#[derive(Clone, Debug)]
pub struct OldDatabase {
    pub oid: Oid,
    pub tablespace: Oid,
    pub name: String,
    /// All rows are frozen: the database is a template or does not allow connections.
    pub freeze_all: bool,
    /// Age of its oldest transaction id, or of its oldest multixact if that requires the vacuum.
    pub age: u32,
}

/// Older transaction ids and multixacts must be frozen.
#[derive(Clone, Copy, Debug)]
struct Limits {
    xid: Xid,
    multi: MultiXid,
}

impl Limits {
    /// Limits at distances `xid_age` and `multi_age` before the next values.
    fn new(host: &mut dyn CommandHost, xid_age: u32, multi_age: u32) -> Limits {
        let txns = &host.backend().storage().txns;
        let xid = txns.next_full_xid().xid().0.wrapping_sub(xid_age);
        // Skips the special transaction ids.
        let xid = Xid(if xid < Xid::FIRST_NORMAL.0 { xid.wrapping_sub(3) } else { xid });
        let multi = MultiXid(txns.next_multixact().0.wrapping_sub(multi_age).max(1));
        Limits { xid, multi }
    }

    fn are_exceeded_by(self, xid: Xid, multi: Xid) -> bool {
        let multi = MultiXid(multi.0);
        (xid.is_normal() && xid.precedes(self.xid)) || (multi.0 != 0 && multi.precedes(self.multi))
    }
}

fn ages(host: &mut dyn CommandHost) -> (u32, u32) {
    let txns = &host.backend().storage().txns;
    (txns.freeze_max_ages().0, txns.multixact_freeze_max_age())
}

/// The databases that need vacuuming against wraparound, oldest first, and the names of all
/// databases. Counterpart: `do_start_worker`.
pub fn old_databases(host: &mut dyn CommandHost) -> Result<(Vec<OldDatabase>, Vec<(Oid, String)>)> {
    let (xid_age, multi_age) = ages(host);
    let limits = Limits::new(host, xid_age, multi_age);
    let txns = host.backend().storage().txns.clone();
    let next = txns.next_full_xid().xid();
    let (mut old, mut names) = (Vec::new(), Vec::new());
    let mut rows = host.catalog().scan_all::<PgDatabase>()?;
    rows.retain(|row| !clusterwide::database::is_invalid(row));
    for row in &rows {
        names.push((row.oid, row.datname.to_string()));
        // The database that determines the server's limit is always included, because its row and
        // the limit may disagree, for example after a vacuum of single tables.
        let holds = txns.needs_wraparound_vacuum() && txns.oldest_xid().1 == row.oid;
        if holds || limits.are_exceeded_by(row.datfrozenxid, row.datminmxid) {
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
        // The database that determined the limit was dropped. A vacuum of any database computes the
        // limit again.
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

/// The tables of this database that need vacuuming against wraparound, TOAST tables last.
pub fn old_tables(host: &mut dyn CommandHost) -> Result<Vec<OldTable>> {
    let mut rows = Vec::new();
    for class in host.catalog().scan_all::<PgClass>()? {
        let vacuumed = class.relkind.has_table_am();
        if vacuumed && class.relpersistence != Persistence::Temporary && is_old(host, &class) {
            rows.push(class);
        }
    }
    rows.sort_by_key(|class| (class.relkind == RelKind::Toast, class.oid));
    let mut tables = Vec::new();
    for class in rows {
        let schema = host.catalog().namespace_name(class.relnamespace)?.unwrap_or_default();
        let name = class.relname.to_string();
        tables.push(OldTable { oid: class.oid, schema: schema.to_string(), name });
    }
    Ok(tables)
}

/// True if the table must be vacuumed now. Its `autovacuum_freeze_max_age` can only lower the
/// limit.
fn is_old(host: &mut dyn CommandHost, class: &PgClass) -> bool {
    let (xid_age, multi_age) = ages(host);
    let own = |name: &str, all: u32| {
        let value = catalog::descriptors::option(class.reloptions.as_deref(), name);
        value.and_then(|v| v.parse().ok()).map_or(all, |own: u32| own.min(all))
    };
    let xid_age = own("autovacuum_freeze_max_age", xid_age);
    let multi_age = own("autovacuum_multixact_freeze_max_age", multi_age);
    Limits::new(host, xid_age, multi_age).are_exceeded_by(class.relfrozenxid, class.relminmxid)
}

/// Vacuums a table unless it was dropped or is no longer old. Uses a new transaction, which stays
/// open.
pub fn vacuum_table(host: &mut dyn CommandHost, table: &OldTable, freeze_all: bool) -> Result<()> {
    host.next_transaction()?;
    let Some(class) = host.catalog().find_class(table.oid)? else { return Ok(()) };
    if !is_old(host, &class) {
        return Ok(());
    }
    vacuum_for_wraparound(host, table.oid, Auto { freeze_all })
}

/// Updates the frozen limits and truncates the status files, in a transaction of its own.
pub fn finish(host: &mut dyn CommandHost) -> Result<()> {
    host.next_transaction()?;
    crate::frozen::update_database(host)
}

/// Drops orphaned temporary tables, which only their session could vacuum and which hold back the
/// limits of the database. `alive` returns true if the session number in the schema name is in use.
/// Returns the dropped tables. Uses a transaction of its own.
pub fn drop_orphans(
    host: &mut dyn CommandHost,
    alive: &dyn Fn(u32) -> bool,
) -> Result<Vec<OldTable>> {
    host.next_transaction()?;
    let mut dropped = Vec::new();
    for class in host.catalog().scan_all::<PgClass>()? {
        if class.relpersistence != Persistence::Temporary
            || !matches!(class.relkind, RelKind::Table | RelKind::MaterializedView)
        {
            continue;
        }
        let schema = host.catalog().namespace_name(class.relnamespace)?.unwrap_or_default();
        let number = schema.as_str().strip_prefix("pg_temp_").and_then(|n| n.parse().ok());
        if number.is_none_or(alive) {
            continue;
        }
        // A new session with the same number may be dropping it at the same time.
        if !host.try_lock_relation(class.oid, utility::names::mode::ACCESS_EXCLUSIVE)?
            || host.catalog().scan(indexes::PG_CLASS_OID_INDEX, &[class.oid.into()])?.is_empty()
        {
            continue;
        }
        let object = ObjectAddress::relation(class.oid);
        deletion::drop_objects(host, &[object], DropBehavior::Cascade, true)?;
        let name = class.relname.to_string();
        dropped.push(OldTable { oid: class.oid, schema: schema.to_string(), name });
    }
    Ok(dropped)
}
