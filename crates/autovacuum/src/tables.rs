//! The tables of a database that autovacuum processes, and the work on one.
//! Counterpart: `do_autovacuum`, `table_recheck_autovac`, `relation_needs_vacanalyze`.

use crate::databases::{Limits, ages};
use crate::options::{costs, is_enabled, log_min_duration, parameter, server_costs, thresholds};
use crate::workers::Worker;
use catalog::ObjectAddress;
use catalog::depend::DropBehavior;
use catalog::rows::{CatalogRow, PgClass, PgStatistic, indexes};
use commands::vacuum::{Auto, automatic};
use define::deletion;
use hashbrown::HashMap;
use ids::{Oid, Persistence, RelKind};
use pgerror::Result;
use stats::Key;
use utility::host::CommandHost;

/// A table to process.
#[derive(Clone, Debug)]
pub struct Table {
    pub oid: Oid,
    pub schema: String,
    pub name: String,
    pub vacuum: bool,
    pub analyze: bool,
    /// The table must be vacuumed against wraparound.
    pub wraparound: bool,
    is_shared: bool,
    /// For a TOAST table, the table that it belongs to. The storage parameters of that table apply
    /// if the TOAST table has none.
    toast_of: Option<Oid>,
}

impl Table {
    /// What `pg_stat_activity` shows for the work. Counterpart: `autovac_report_activity`.
    pub fn activity(&self) -> String {
        let what = match (self.vacuum, self.analyze) {
            (true, true) => "VACUUM ANALYZE",
            (true, false) => "VACUUM",
            _ => "ANALYZE",
        };
        let why = if self.wraparound { " (to prevent wraparound)" } else { "" };
        format!("autovacuum: {what} {}.{}{why}", self.schema, self.name)
    }
}

/// An orphaned temporary table that was dropped.
#[derive(Clone, Debug)]
pub struct OrphanedTable {
    pub schema: String,
    pub name: String,
}

/// The tables to process: those against wraparound first, TOAST tables after the others.
/// `is_active`: autovacuum is not restricted to the work against wraparound.
pub fn tables(host: &mut dyn CommandHost, is_active: bool) -> Result<Vec<Table>> {
    let mut rows: Vec<PgClass> = Vec::new();
    for row in host.catalog().scan_all::<PgClass>()? {
        if row.relkind.has_table_am() && row.relpersistence != Persistence::Temporary {
            rows.push(row.row.clone());
        }
    }
    let owners = rows.iter().filter_map(|row| Some((row.reltoastrelid.valid()?, row.oid)));
    let owners: HashMap<Oid, Oid> = owners.collect();
    let by_oid: HashMap<Oid, usize> = rows.iter().enumerate().map(|(n, r)| (r.oid, n)).collect();
    let mut found = Vec::new();
    for row in &rows {
        let owner = owners.get(&row.oid).copied();
        let owner_row = owner.and_then(|oid| by_oid.get(&oid)).map(|n| &rows[*n]);
        if let Some(table) = needs(host, row, owner_row, is_active)? {
            found.push((row.relkind == RelKind::Toast, table));
        }
    }
    found.sort_by_key(|(is_toast, table)| (!table.wraparound, *is_toast, table.oid));
    Ok(found.into_iter().map(|(_, table)| table).collect())
}

/// The work that a table needs, if there is any.
fn needs(
    host: &mut dyn CommandHost,
    class: &PgClass,
    toast_of: Option<&PgClass>,
    is_active: bool,
) -> Result<Option<Table>> {
    let options = if class.reloptions.is_some() { class } else { toast_of.unwrap_or(class) };
    let wraparound = is_old(host, class, options);
    if !wraparound && (!is_active || !is_enabled(options)) {
        return Ok(None);
    }
    let database = if class.relisshared { Oid::INVALID } else { host.backend().database() };
    let key = Key { database, object: class.oid };
    let counted = host.backend().storage().stats.relation(key).filter(|_| is_active);
    let mut needs = match counted {
        Some(counted) => thresholds(host, options).needs(&counted, class.reltuples),
        // A table without counters was not used.
        None => Default::default(),
    };
    needs.vacuum |= wraparound;
    needs.analyze &= class.relkind != RelKind::Toast && class.oid != PgStatistic::RELATION;
    if !needs.vacuum && !needs.analyze {
        return Ok(None);
    }
    let schema = host.catalog().namespace_name(class.relnamespace)?.unwrap_or_default();
    Ok(Some(Table {
        oid: class.oid,
        schema: schema.to_string(),
        name: class.relname.to_string(),
        vacuum: needs.vacuum,
        analyze: needs.analyze,
        wraparound,
        is_shared: class.relisshared,
        toast_of: toast_of.map(|owner| owner.oid),
    }))
}

/// True if the table must be vacuumed against wraparound. Its storage parameters can only lower
/// the limits.
fn is_old(host: &mut dyn CommandHost, class: &PgClass, options: &PgClass) -> bool {
    let (xid_age, multi_age) = ages(host);
    let own = |name: &str, all: u32| {
        let value = parameter(options, name);
        value.and_then(|v| v.parse().ok()).map_or(all, |own: u32| own.min(all))
    };
    let xid_age = own("autovacuum_freeze_max_age", xid_age);
    let multi_age = own("autovacuum_multixact_freeze_max_age", multi_age);
    Limits::new(host, xid_age, multi_age).are_exceeded_by(class.relfrozenxid, class.relminmxid)
}

/// Processes a table unless another worker does, or it was dropped, or no longer needs it. Uses new
/// transactions, the last of which stays open. `started` is called with the table before the work.
pub fn process(
    host: &mut dyn CommandHost,
    worker: &Worker,
    table: &Table,
    (freeze_all, is_active): (bool, bool),
    started: &mut dyn FnMut(&Table),
) -> Result<()> {
    host.next_transaction()?;
    let database = if table.is_shared { Oid::INVALID } else { host.backend().database() };
    if !worker.claim(Key { database, object: table.oid }) {
        return Ok(());
    }
    let done = process_claimed(host, worker, table, (freeze_all, is_active), started);
    host.backend().txn.locks().set_cancellable(false);
    let server = server_costs(host);
    worker.release(server);
    done
}

fn process_claimed(
    host: &mut dyn CommandHost,
    worker: &Worker,
    table: &Table,
    (freeze_all, is_active): (bool, bool),
    started: &mut dyn FnMut(&Table),
) -> Result<()> {
    let Some(class) = host.catalog().find_class(table.oid)? else { return Ok(()) };
    let class: PgClass = class.row.clone();
    let owner = match table.toast_of {
        Some(owner) => host.catalog().find_class(owner)?.map(|owner| owner.row.clone()),
        None => None,
    };
    let owner: Option<PgClass> = owner;
    let Some(now) = needs(host, &class, owner.as_ref(), is_active)? else { return Ok(()) };
    let options =
        if class.reloptions.is_some() { &class } else { owner.as_ref().unwrap_or(&class) };
    let (own, server) = (costs(host, options), server_costs(host));
    let limit = worker.set_costs(own, server);
    started(&now);
    host.backend().txn.locks().set_cancellable(!now.wraparound);
    let auto = Auto {
        freeze_all,
        for_wraparound: now.wraparound,
        cost_delay_ms: own.delay_ms,
        cost_limit: limit,
        log_min_ms: log_min_duration(host, options),
    };
    automatic(host, now.oid, (now.vacuum, now.analyze), auto)
}

/// Updates the frozen limits and truncates the status files, in a transaction of its own.
pub fn finish(host: &mut dyn CommandHost) -> Result<()> {
    host.next_transaction()?;
    commands::update_database(host)
}

/// Drops orphaned temporary tables, which only their session could vacuum and which hold back the
/// limits of the database. `alive` returns true if the session number in the schema name is in use.
/// Returns the dropped tables. Uses a transaction of its own.
pub fn drop_orphans(
    host: &mut dyn CommandHost,
    alive: &dyn Fn(u32) -> bool,
) -> Result<Vec<OrphanedTable>> {
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
        dropped.push(OrphanedTable { schema: schema.to_string(), name });
    }
    Ok(dropped)
}
