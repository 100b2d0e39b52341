//! VACUUM and ANALYZE: selection of tables, and catalog updates with the results.
//!
//! Counterpart: vacuum.c, analyze.c.

use crate::vacuum_report::{self, Advanced, Begun, Vacuumed};
use catalog::RelDesc;
use catalog::namespace::PG_CATALOG;
use catalog::rows::{CatalogRow, PgClass, PgStatistic, indexes};
use engine::vacuum::{VacuumOptions, VacuumResult};
use ids::{AttrNo, MultiXid, Oid, Persistence, RelKind, Xid};
use parse::ast::{VacuumRelation, VacuumStmt};
use partition::Detached;
use pgerror::{PgError, Result, Severity, bail, pg_err};
use statistics::column::Subject;
use statistics::extended;
use stats::Command;
use std::sync::Arc;
use std::time::Duration;
use sync::atomic::AtomicU32;
use utility::class::update_statistics;
use utility::host::CommandHost;
use utility::{names, options};

#[derive(Clone, Debug)]
struct Params {
    vacuum: bool,
    analyze: bool,
    verbose: bool,
    full: bool,
    freeze: bool,
    skip_locked: bool,
    page_skipping: bool,
    /// Number of requested PARALLEL workers. It has no effect: the session does all work itself.
    workers: i32,
    process_toast: bool,
    truncate: Option<bool>,
    /// `None` is AUTO.
    index_cleanup: Option<Option<bool>>,
    auto: Option<Auto>,
}

/// Parameters of the work of autovacuum on one table.
#[derive(Clone, Debug)]
pub struct Auto {
    /// All rows are frozen, as in databases that do not allow connections.
    pub freeze_all: bool,
    pub for_wraparound: bool,
    pub cost_delay_ms: f64,
    /// The limit of costs, which changes with the number of workers.
    pub cost_limit: Arc<AtomicU32>,
    /// The work is logged if it takes at least so long; negative: never.
    pub log_min_ms: f64,
}

impl Params {
    /// The verb in warnings.
    fn verb(&self) -> &'static str {
        if self.vacuum { "vacuum" } else { "analyze" }
    }
}

fn parameters(stmt: &VacuumStmt, sql: &str) -> Result<Params> {
    let mut p = Params {
        vacuum: stmt.is_vacuumcmd,
        analyze: !stmt.is_vacuumcmd,
        verbose: false,
        full: false,
        freeze: false,
        skip_locked: false,
        page_skipping: true,
        workers: 0,
        process_toast: true,
        truncate: None,
        index_cleanup: None,
        auto: None,
    };
    for d in &stmt.options {
        match (&*d.defname, stmt.is_vacuumcmd) {
            ("verbose", _) => p.verbose = options::boolean(d)?,
            ("skip_locked", _) => p.skip_locked = options::boolean(d)?,
            ("analyze", true) => p.analyze = options::boolean(d)?,
            ("freeze", true) => p.freeze = options::boolean(d)?,
            ("full", true) => p.full = options::boolean(d)?,
            ("disable_page_skipping", true) => p.page_skipping = !options::boolean(d)?,
            ("process_toast", true) => p.process_toast = options::boolean(d)?,
            ("truncate", true) => p.truncate = Some(options::boolean(d)?),
            ("index_cleanup", true) => {
                let auto = d.arg.is_some()
                    && options::text(d).is_ok_and(|t| t.eq_ignore_ascii_case("auto"));
                p.index_cleanup = Some(if auto { None } else { Some(options::boolean(d)?) });
            }
            ("parallel", true) => {
                let position = parse::position(sql, d.location);
                if d.arg.is_none() {
                    let what = "parallel option requires a value between 0 and 1024";
                    return Err(pg_err!(SYNTAX_ERROR, "{what}").at(position));
                }
                let Some(parse::ast::Node::Integer(n)) = &d.arg else {
                    bail!(SYNTAX_ERROR, "parallel requires an integer value");
                };
                if !(0..=1024).contains(n) {
                    let what = "parallel workers for vacuum must be between 0 and 1024";
                    return Err(pg_err!(SYNTAX_ERROR, "{what}").at(position));
                }
                p.workers = *n;
            }
            (other, vacuum) => {
                let verb = if vacuum { "VACUUM" } else { "ANALYZE" };
                let e = pg_err!(SYNTAX_ERROR, "unrecognized {verb} option \"{other}\"");
                return Err(e.at(parse::position(sql, d.location)));
            }
        }
    }
    if p.full {
        if p.workers > 0 {
            bail!(FEATURE_NOT_SUPPORTED, "VACUUM FULL cannot be performed in parallel");
        }
        if !p.page_skipping {
            bail!(
                FEATURE_NOT_SUPPORTED,
                "VACUUM option DISABLE_PAGE_SKIPPING cannot be used with FULL"
            );
        }
        if !p.process_toast {
            bail!(FEATURE_NOT_SUPPORTED, "PROCESS_TOAST required with VACUUM FULL");
        }
    }
    Ok(p)
}

/// Autovacuum of one table: VACUUM, ANALYZE or both, in the open transaction and following ones.
/// If the lock on the table is not available, the table is skipped, except for a vacuum against
/// wraparound. The TOAST table is vacuumed separately.
pub fn automatic(
    host: &mut dyn CommandHost,
    oid: Oid,
    (vacuum, analyze): (bool, bool),
    auto: Auto,
) -> Result<()> {
    let params = Params {
        vacuum,
        analyze,
        verbose: false,
        full: false,
        freeze: auto.freeze_all,
        skip_locked: !auto.for_wraparound,
        page_skipping: true,
        workers: 0,
        process_toast: false,
        truncate: None,
        index_cleanup: None,
        auto: Some(auto),
    };
    let target = Target { oid, name: None, columns: Vec::new() };
    if vacuum && !vacuum_table(host, &target, &params)? {
        return Ok(());
    }
    if analyze {
        if vacuum {
            host.next_transaction()?;
        }
        analyze_table(host, &target, &params)?;
    }
    Ok(())
}

/// VACUUM and ANALYZE. Error 0A000 in a function that another one calls (an index expression).
pub fn vacuum(host: &mut dyn CommandHost, stmt: &VacuumStmt, sql: &str) -> Result<()> {
    let params = parameters(stmt, sql)?;
    if let Some(Command::Vacuum | Command::Analyze) = host.backend().stats.running() {
        let verb = params.verb().to_uppercase();
        bail!(FEATURE_NOT_SUPPORTED, "{verb} cannot be executed from VACUUM or ANALYZE");
    }
    let done = process(host, stmt, &params);
    host.backend().stats.end_progress();
    done
}

fn process(host: &mut dyn CommandHost, stmt: &VacuumStmt, params: &Params) -> Result<()> {
    if params.vacuum {
        host.prevent_in_transaction_block("VACUUM")?;
    }
    if params.vacuum && !params.analyze && stmt.rels.iter().any(|r| !r.va_cols.is_empty()) {
        bail!(
            FEATURE_NOT_SUPPORTED,
            "ANALYZE option must be specified when a column list is provided"
        );
    }
    // Each table is processed in its own transaction, except inside a transaction block.
    let several = params.vacuum || !host.shares_transaction();
    for target in targets(host, stmt, params)? {
        if params.vacuum {
            host.next_transaction()?;
            let done = match params.full {
                true => vacuum_full(host, &target, params)?,
                false => vacuum_table(host, &target, params)?,
            };
            if !done {
                continue;
            }
        }
        if params.analyze {
            if several {
                host.next_transaction()?;
            }
            analyze_table(host, &target, params)?;
            host.catalog().increment_command_counter()?;
        }
    }
    if several {
        host.next_transaction()?;
    }
    if params.vacuum {
        crate::frozen::update_database(host)?;
    }
    Ok(())
}

/// A table to process.
struct Target {
    oid: Oid,
    /// The name in the statement; `None` if the statement names no table.
    name: Option<String>,
    /// The columns for ANALYZE; all columns if empty.
    columns: Vec<String>,
}

fn not_available(verb: &str, name: &str) -> PgError {
    pg_err!(LOCK_NOT_AVAILABLE, "skipping {verb} of \"{name}\" --- lock not available")
}

/// The tables, with the columns for ANALYZE.
fn targets(host: &mut dyn CommandHost, stmt: &VacuumStmt, params: &Params) -> Result<Vec<Target>> {
    let mut out = Vec::new();
    for VacuumRelation { relation, va_cols } in &stmt.rels {
        let Some(rv) = relation else { continue };
        let rel = if params.skip_locked {
            let (schema, name) = (rv.schemaname.as_deref(), &*rv.relname);
            let Some(oid) = host.catalog().find_relation(schema, name)? else {
                return Err(names::missing(host, rv)?);
            };
            if !host.try_lock_relation(oid, names::mode::ACCESS_SHARE)? {
                warn(host, not_available(params.verb(), name));
                continue;
            }
            host.catalog().relation(oid)?
        } else {
            names::open(host, rv, names::mode::ACCESS_SHARE)?
        };
        let columns: Vec<String> = va_cols.iter().map(|c| c.to_string()).collect();
        // Checked first, so that a user without privileges does not wait for the lock.
        if check_target(host, &rel, params.verb())? {
            let name = Some(rv.relname.to_string());
            out.push(Target { oid: rel.oid(), name, columns: columns.clone() });
        }
        // A partition may have another owner, so it is checked when it is processed.
        if rel.kind() == RelKind::PartitionedTable {
            let below = partition::descendants(&mut host.catalog(), rel.oid(), Detached::Include)?;
            let partitions = below[1..].iter();
            out.extend(partitions.map(|&oid| Target { oid, name: None, columns: columns.clone() }));
        }
    }
    if stmt.rels.is_empty() {
        let mut oids = Vec::new();
        for class in host.catalog().scan_all::<PgClass>()? {
            // Relations of all kinds are checked, as in PostgreSQL.
            let permitted = check_owner(host, &class, params.verb())?;
            let kinds = [RelKind::Table, RelKind::MaterializedView, RelKind::PartitionedTable];
            if permitted && kinds.contains(&class.relkind) {
                oids.push(class.oid);
            }
        }
        oids.sort_unstable();
        out.extend(oids.into_iter().map(|oid| Target { oid, name: None, columns: Vec::new() }));
    }
    Ok(out)
}

/// True if the user is the owner of the table or of the database.
fn may_vacuum(host: &mut dyn CommandHost, class: &PgClass) -> Result<bool> {
    if names::is_owner(host, class.relowner)? {
        return Ok(true);
    }
    let database = host.backend().database();
    let owner = host.catalog().database(database)?.map(|d| d.datdba);
    Ok(!class.relisshared && owner.is_some_and(|o| names::is_owner(host, o).unwrap_or(false)))
}

fn warn(host: &mut dyn CommandHost, e: PgError) {
    host.notice(e.severity(Severity::Warning));
}

/// True if the user may process the relation and it is a table. Otherwise a warning is raised.
fn check_target(host: &mut dyn CommandHost, rel: &RelDesc, verb: &str) -> Result<bool> {
    check_owner(host, &rel.class.row, verb)
}

/// True if the user is the owner of the relation or of the database. Otherwise a warning is raised.
/// Counterpart: `vacuum_is_relation_owner`.
fn check_owner(host: &mut dyn CommandHost, class: &PgClass, verb: &str) -> Result<bool> {
    let permitted = may_vacuum(host, class)?;
    if !permitted {
        let who = match (class.relisshared, class.relnamespace == PG_CATALOG) {
            (true, _) => "only superuser",
            (_, true) => "only superuser or database owner",
            _ => "only table or database owner",
        };
        let name = class.relname;
        warn(host, pg_err!(WARNING, "skipping \"{name}\" --- {who} can {verb} it"));
    }
    Ok(permitted)
}

/// The table, locked and checked; `None` if it is skipped, with a warning if the statement names
/// it. Counterpart: `vacuum_open_relation`.
fn open(
    host: &mut dyn CommandHost,
    target: &Target,
    lock: i32,
    verb: &str,
    params: &Params,
) -> Result<Option<Arc<RelDesc>>> {
    let oid = target.oid;
    let mut rel = None;
    if host.catalog().find_class(oid)?.is_some() {
        if !params.skip_locked {
            host.lock_relation(oid, lock)?;
        } else if !host.try_lock_relation(oid, lock)? {
            if let Some(name) = &target.name {
                warn(host, not_available(verb, name));
            }
            return Ok(None);
        }
        rel = host.catalog().try_relation(oid)?;
    }
    let Some(rel) = rel else {
        if let Some(name) = &target.name {
            let gone = "relation no longer exists";
            warn(host, pg_err!(UNDEFINED_TABLE, "skipping {verb} of \"{name}\" --- {gone}"));
        }
        return Ok(None);
    };
    if rel.other_temp || !check_target(host, &rel, verb)? {
        return Ok(None);
    }
    if !rel.kind().has_table_am() && rel.kind() != RelKind::PartitionedTable {
        let name = rel.name();
        let what = match verb {
            "vacuum" => "cannot vacuum non-tables or special system tables",
            _ => "cannot analyze non-tables or special system tables",
        };
        warn(host, pg_err!(WARNING, "skipping \"{name}\" --- {what}"));
        return Ok(None);
    }
    Ok(Some(rel))
}

fn number(host: &mut dyn CommandHost, name: &str, default: u32) -> u32 {
    host.setting(name).parse().unwrap_or(default)
}

fn vacuum_options(host: &mut dyn CommandHost, rel: &RelDesc, params: &Params) -> VacuumOptions {
    let base = VacuumOptions::default();
    let list = rel.class.reloptions.as_deref();
    let option = |name: &str| catalog::descriptors::option(list, name);
    let age = |host: &mut dyn CommandHost, name: &str, default: u32| {
        // Parameters of the table apply to autovacuum only.
        let own = || {
            let name = name.strip_prefix("vacuum_")?;
            option(&format!("autovacuum_{name}"))?.parse().ok()
        };
        match (params.auto.as_ref().and_then(|_| own()), params.freeze) {
            (Some(own), _) => own,
            (None, true) => 0,
            (None, false) => number(host, name, default),
        }
    };
    let index_cleanup =
        params.index_cleanup.unwrap_or_else(|| match option("vacuum_index_cleanup") {
            None | Some("auto") => None,
            Some(v) => Some(catalog::descriptors::is_on(v)),
        });
    let (cost_delay, cost_limit) = costs(host, params.auto.as_ref());
    let page_cost = |host: &mut dyn CommandHost, name: &str, default: u32| {
        u64::from(number(host, name, default))
    };
    let truncate = params
        .truncate
        .unwrap_or_else(|| option("vacuum_truncate").is_none_or(catalog::descriptors::is_on));
    VacuumOptions {
        freeze_min_age: age(host, "vacuum_freeze_min_age", base.freeze_min_age),
        freeze_table_age: age(host, "vacuum_freeze_table_age", base.freeze_table_age),
        multixact_freeze_min_age: age(
            host,
            "vacuum_multixact_freeze_min_age",
            base.multixact_freeze_min_age,
        ),
        multixact_freeze_table_age: age(
            host,
            "vacuum_multixact_freeze_table_age",
            base.multixact_freeze_table_age,
        ),
        failsafe_age: number(host, "vacuum_failsafe_age", base.failsafe_age),
        multixact_failsafe_age: number(
            host,
            "vacuum_multixact_failsafe_age",
            base.multixact_failsafe_age,
        ),
        disable_page_skipping: !params.page_skipping,
        index_cleanup,
        truncate,
        is_autovacuum: params.auto.is_some(),
        for_wraparound: params.auto.as_ref().is_some_and(|auto| auto.for_wraparound),
        cost_delay,
        cost_limit,
        page_costs: [
            page_cost(host, "vacuum_cost_page_hit", 1),
            page_cost(host, "vacuum_cost_page_miss", 2),
            page_cost(host, "vacuum_cost_page_dirty", 20),
        ],
        maintenance_work_mem: work_mem(host, params.auto.is_some()),
        ring_bytes: bytes(host, "norsu.vacuum_ring").unwrap_or(base.ring_bytes),
        rel_frozen_xid: rel.class.relfrozenxid,
        rel_min_mxid: MultiXid(rel.class.relminmxid.0),
        rel_pages: rel.class.relpages as u32,
        rel_tuples: f64::from(rel.class.reltuples),
        ..base
    }
}

/// The cost-based vacuum delay and cost limit.
fn costs(host: &mut dyn CommandHost, auto: Option<&Auto>) -> (Duration, Arc<AtomicU32>) {
    let millis = |n: f64| Duration::from_secs_f64(n.max(0.0) / 1000.0);
    if let Some(auto) = auto {
        return (millis(auto.cost_delay_ms), auto.cost_limit.clone());
    }
    // The value in SHOW format, with a unit.
    let shown = host.setting("vacuum_cost_delay");
    let (delay, unit) =
        shown.split_at(shown.find(|c: char| c.is_alphabetic()).unwrap_or(shown.len()));
    let delay: f64 = delay.parse().unwrap_or(0.0);
    let limit = number(host, "vacuum_cost_limit", 200);
    (millis(if unit == "us" { delay / 1000.0 } else { delay }), Arc::new(AtomicU32::new(limit)))
}

/// Memory for dead TIDs in bytes: `autovacuum_work_mem` or `maintenance_work_mem`.
fn work_mem(host: &mut dyn CommandHost, is_auto: bool) -> usize {
    let maintenance = host.backend().settings().maintenance_work_mem;
    if !is_auto {
        return maintenance;
    }
    bytes(host, "autovacuum_work_mem").unwrap_or(maintenance)
}

/// The value of a setting with a unit of memory, in bytes; `None` for -1.
fn bytes(host: &mut dyn CommandHost, name: &str) -> Option<usize> {
    let shown = host.setting(name);
    let (amount, unit) =
        shown.split_at(shown.find(|c: char| c.is_alphabetic()).unwrap_or(shown.len()));
    let factor = match unit {
        "MB" => 1 << 20,
        "GB" => 1 << 30,
        "TB" => 1 << 40,
        _ => 1 << 10,
    };
    amount.parse::<usize>().ok().map(|n| n * factor)
}

/// VACUUM FULL of a table.
fn vacuum_full(host: &mut dyn CommandHost, target: &Target, params: &Params) -> Result<bool> {
    let lock = names::mode::ACCESS_EXCLUSIVE;
    let row = host.catalog().find_class(target.oid)?;
    if !params.skip_locked && row.is_some_and(|c| c.relkind == RelKind::Toast) {
        names::exclude_readers_of(host, target.oid)?;
    }
    let Some(rel) = open(host, target, lock, "vacuum", params)? else { return Ok(false) };
    for i in rel.indexes.iter().filter(|i| i.indisready) {
        let index = host.catalog().relation(i.indexrelid)?;
        if index.engine_index.is_none() {
            let fault = host.catalog().unsupported_index(&index);
            return report_unsupported_index(host, target, &rel, fault);
        }
    }
    crate::cluster::rewrite(host, rel.oid(), None, params.verbose)?;
    Ok(true)
}

/// Handles a table with an unsupported index: an error if the statement names the table, otherwise
/// a warning, so that the other tables of the database are vacuumed.
fn report_unsupported_index(
    host: &mut dyn CommandHost,
    target: &Target,
    rel: &RelDesc,
    fault: PgError,
) -> Result<bool> {
    if target.name.is_some() {
        return Err(fault);
    }
    let what = fault.message();
    warn(host, pg_err!(FEATURE_NOT_SUPPORTED, "skipping \"{}\" --- {what}", rel.name()));
    Ok(false)
}

/// Vacuums a table and, in a separate transaction, its TOAST table. Returns false if the table was
/// skipped. A partitioned table has no rows to vacuum.
fn vacuum_table(host: &mut dyn CommandHost, target: &Target, params: &Params) -> Result<bool> {
    let lock = names::mode::SHARE_UPDATE_EXCLUSIVE;
    let Some(rel) = open(host, target, lock, "vacuum", params)? else { return Ok(false) };
    let Some(table) = rel.table.clone() else {
        return Ok(rel.kind() == RelKind::PartitionedTable);
    };
    let (mut btrees, mut unsupported_index) = (Vec::new(), false);
    let mut oids = Vec::new();
    for i in rel.indexes.iter().filter(|i| i.indisready) {
        host.lock_relation(i.indexrelid, names::mode::ROW_EXCLUSIVE)?;
        let index = host.catalog().relation(i.indexrelid)?;
        match index.engine_index.clone() {
            Some(btree) => {
                btrees.push(btree);
                oids.push(i.indexrelid);
            }
            None if params.auto.is_some() => unsupported_index = true,
            None => {
                let fault = host.catalog().unsupported_index(&index);
                return report_unsupported_index(host, target, &rel, fault);
            }
        }
    }
    let mut options = vacuum_options(host, &rel, params);
    if unsupported_index {
        // Old transaction ids are only frozen; dead rows and index entries remain.
        options.has_other_indexes = true;
        options.index_cleanup = Some(false);
        btrees.clear();
        oids.clear();
    }
    if params.workers > 0 && rel.class.relpersistence == Persistence::Temporary && btrees.len() > 1
    {
        host.notice(
            pg_err!(
                WARNING,
                "disabling parallel option of vacuum on \"{}\" --- cannot vacuum temporary tables \
                 in parallel",
                rel.name()
            )
            .severity(Severity::Warning),
        );
    }
    let begun = Begun::now(host);
    let result = engine::vacuum::vacuum(host.backend(), &table, &btrees, &options)?;
    let advanced = update_class(host, &rel, &result, &oids, unsupported_index)?;
    let rows = (result.rel_tuples.max(0.0) as i64, result.recently_dead_tuples as i64);
    let is_auto = params.auto.is_some();
    let be = host.backend();
    let (key, now) =
        (be.stats.key(rel.oid(), table.is_shared()), be.storage().env.clock.pg_micros());
    be.stats.report_vacuum(key, rows, is_auto, now);
    if params.verbose || begun.is_logged(host, params.auto.as_ref()) {
        let names: Vec<&str> = btrees.iter().map(|index| index.name()).collect();
        let done = Vacuumed { rel: &rel, result: &result, indexes: &names, advanced };
        vacuum_report::vacuum(host, &begun, done, params.auto.as_ref())?;
    }
    if params.process_toast
        && let Some(toast) = rel.class.reltoastrelid.valid()
    {
        host.next_transaction()?;
        let toast = Target { oid: toast, name: None, columns: Vec::new() };
        vacuum_table(host, &toast, params)?;
    }
    Ok(true)
}

/// Updates statistics and frozen limits in place. Counterpart: `vac_update_relstats`.
fn update_class(
    host: &mut dyn CommandHost,
    rel: &RelDesc,
    result: &VacuumResult,
    indexes: &[Oid],
    unsupported_index: bool,
) -> Result<Advanced> {
    let mut advanced = Advanced::default();
    let txns = host.backend().storage().txns.clone();
    let (next_xid, next_multi) = (txns.next_full_xid().xid(), txns.next_multixact());
    let mut cat = host.catalog();
    update_statistics(&mut cat, rel.oid(), |row| {
        row.relpages = result.pages as i32;
        row.reltuples = result.rel_tuples as f32;
        row.relallvisible = result.all_visible.min(result.pages) as i32;
        row.relhasindex &= unsupported_index || !indexes.is_empty();
        // The limits only advance, except that a value in the future is corrected.
        let xid = result.new_frozen_xid;
        if xid.is_normal()
            && (row.relfrozenxid.precedes(xid) || next_xid.precedes(row.relfrozenxid))
        {
            advanced.xids = Some(xid.0.wrapping_sub(row.relfrozenxid.0) as i32);
            row.relfrozenxid = xid;
        }
        let (multi, old) = (result.new_min_mxid, MultiXid(row.relminmxid.0));
        if multi.0 != 0 && (old.precedes(multi) || next_multi.precedes(old)) {
            advanced.multis = Some(multi.0.wrapping_sub(old.0) as i32);
            row.relminmxid = Xid(multi.0);
        }
    })?;
    for (oid, index) in indexes.iter().zip(&result.indexes).filter(|(_, i)| !i.estimated) {
        update_statistics(&mut cat, *oid, |row| {
            row.relpages = index.pages as i32;
            row.reltuples = index.tuples as f32;
        })?;
    }
    Ok(advanced)
}

/// Computes the statistics of a table's columns. Counterpart: `do_analyze_rel`.
fn analyze_table(host: &mut dyn CommandHost, target: &Target, params: &Params) -> Result<()> {
    let lock = names::mode::SHARE_UPDATE_EXCLUSIVE;
    let Some(rel) = open(host, target, lock, "analyze", params)? else { return Ok(()) };
    if rel.kind() == RelKind::Toast {
        if !params.vacuum {
            let name = rel.name();
            let what = "cannot analyze non-tables or special system tables";
            warn(host, pg_err!(WARNING, "skipping \"{name}\" --- {what}"));
        }
        return Ok(());
    }
    if rel.oid() == PgStatistic::RELATION {
        return Ok(());
    }
    let default = number(host, "default_statistics_target", 100) as i32;
    let (wanted, mut rows_wanted) = columns_wanted(&rel, target, default)?;
    let targets = extended_targets(&rel, &wanted);
    let largest = extended::largest_target(host, rel.oid(), &targets, default)?;
    rows_wanted = rows_wanted.max(300 * largest as usize);
    let begun = Begun::now(host);
    if let Some(table) = &rel.table {
        analyze_rows(host, (&rel, table), target, params, (&wanted, rows_wanted))?;
    } else {
        report_analyze(host, &rel, target, params, (0, 0));
    }
    if begun.is_logged(host, params.auto.as_ref()) {
        vacuum_report::analyze(host, &begun, &rel)?;
    }
    if !rel.class.relhassubclass {
        return Ok(());
    }
    if partition::descendants(&mut host.catalog(), rel.oid(), Detached::Omit)?.len() < 2 {
        host.catalog().increment_command_counter()?;
        crate::hierarchy::set_has_subclass(host, rel.oid(), false)?;
        if params.verbose {
            vacuum_report::no_children(host, &rel)?;
        }
        return store_tree_rows(host, &rel, 0.0);
    }
    let how = (&wanted[..], rows_wanted);
    let found = statistics::tree::compute(host, &rel, how, params.verbose)?;
    let Some((rows, sample)) = found else { return store_tree_rows(host, &rel, 0.0) };
    if sample.row_count() > 0 {
        extended::build(host, &rel, &targets, &sample, (default, true))?;
    }
    for row in &rows {
        store(host, row)?;
    }
    store_tree_rows(host, &rel, sample.live_rows)
}

/// Stores the number of rows below a partitioned table.
fn store_tree_rows(host: &mut dyn CommandHost, rel: &RelDesc, rows: f64) -> Result<()> {
    if rel.kind() != RelKind::PartitionedTable {
        return Ok(());
    }
    update_statistics(&mut host.catalog(), rel.oid(), |row| {
        row.relpages = -1;
        row.reltuples = rows as f32;
    })
}

/// The columns to analyze with their own statistics targets.
fn extended_targets(rel: &RelDesc, wanted: &[(AttrNo, usize)]) -> Vec<(AttrNo, i32)> {
    let own = |n: AttrNo| rel.attribute(n).map_or(-1, |a| a.attstattarget);
    wanted.iter().map(|(n, _)| (*n, own(*n))).collect()
}

/// The columns to analyze with their statistics targets, and the number of rows to sample.
fn columns_wanted(
    rel: &RelDesc,
    target: &Target,
    default: i32,
) -> Result<(Vec<(AttrNo, usize)>, usize)> {
    let mut wanted: Vec<AttrNo> = Vec::new();
    for name in &target.columns {
        let Some(a) = rel.column(name) else {
            bail!(
                UNDEFINED_COLUMN,
                "column \"{name}\" of relation \"{}\" does not exist",
                rel.name()
            )
        };
        if wanted.contains(&a.attnum) {
            bail!(
                DUPLICATE_COLUMN,
                "column \"{name}\" of relation \"{}\" appears more than once",
                rel.name()
            );
        }
        wanted.push(a.attnum);
    }
    if target.columns.is_empty() {
        wanted = rel.attributes.iter().map(|a| a.attnum).collect();
    }
    let detail = |n: AttrNo| {
        let own = rel.attribute(n).map_or(0, |a| a.attstattarget);
        if own < 0 { default } else { own }
    };
    wanted.retain(|n| rel.attribute(*n).is_some_and(|a| !a.attisdropped) && detail(*n) != 0);
    let rows_wanted = wanted.iter().map(|n| 300 * detail(*n)).max().unwrap_or(100).max(100);
    let wanted = wanted.iter().map(|&n| (n, detail(n) as usize));
    Ok((wanted.collect(), rows_wanted as usize))
}

/// Computes the statistics of the rows of one table.
fn analyze_rows(
    host: &mut dyn CommandHost,
    (rel, table): (&Arc<RelDesc>, &Arc<engine::TableDesc>),
    target: &Target,
    params: &Params,
    (columns, rows_wanted): (&[(AttrNo, usize)], usize),
) -> Result<()> {
    let default = number(host, "default_statistics_target", 100) as i32;
    let wanted: Vec<AttrNo> = columns.iter().map(|c| c.0).collect();
    let wide = statistics::column::WIDTH_MAX;
    let sample = engine::sample::sample_rows(host.backend(), table, &wanted, rows_wanted, wide)?;
    for (index, &(n, detail)) in columns.iter().enumerate() {
        let Some(a) = rel.attribute(n) else { continue };
        if let Some(row) =
            statistics::column::compute(host, &Subject::of(rel, a), (&sample, index), detail)?
        {
            store(host, &row)?;
        }
    }
    if target.columns.is_empty() {
        for row in statistics::index::compute(host, rel, &wanted, &sample, default)? {
            store(host, &row)?;
        }
    }
    if sample.row_count() > 0 {
        let targets = extended_targets(rel, columns);
        extended::build(host, rel, &targets, &sample, (default, false))?;
    }
    update_statistics(&mut host.catalog(), target.oid, |row| {
        row.relpages = sample.pages as i32;
        row.reltuples = sample.live_rows as f32;
        row.relallvisible = sample.pages_visible as i32;
    })?;
    // VACUUM has counted the entries of indexes itself, but only estimated the rows of the table if
    // it skipped pages.
    if !params.vacuum {
        for i in &rel.indexes {
            let index = host.catalog().relation(i.indexrelid)?;
            let Some(btree) = index.engine_index.clone() else { continue };
            let pages = engine::index::nblocks(host.backend(), &btree)?;
            update_statistics(&mut host.catalog(), i.indexrelid, |row| {
                row.relpages = pages as i32;
                if i.indpred.is_none() {
                    row.reltuples = sample.live_rows as f32;
                }
            })?;
        }
    }
    host.backend().stats.end_progress();
    let rows = (sample.live_rows as i64, sample.dead_rows as i64);
    report_analyze(host, rel, target, params, rows);
    if params.verbose {
        let sampled = sample.row_count();
        let e = pg_err!(
            SUCCESSFUL_COMPLETION,
            "\"{}\": scanned {} of {} pages, containing {:.0} live rows and {:.0} dead \
             rows; {sampled} rows in sample, {:.0} estimated total rows",
            rel.name(),
            sample.pages_scanned,
            sample.pages,
            sampled as f64,
            sample.dead_rows,
            sample.live_rows
        );
        host.notice(e.severity(Severity::Info));
    }
    Ok(())
}

/// Adds the result to the cumulative statistics.
fn report_analyze(
    host: &mut dyn CommandHost,
    rel: &RelDesc,
    target: &Target,
    params: &Params,
    rows: (i64, i64),
) {
    let is_auto = params.auto.is_some();
    let be = host.backend();
    let now = be.storage().env.clock.pg_micros();
    let key = be.stats.key(rel.oid(), rel.class.relisshared);
    be.stats.report_analyze(key, rows, target.columns.is_empty(), is_auto, now);
}

/// Inserts a `pg_statistic` row or replaces the old one. Counterpart: `update_attstats`.
fn store(host: &mut dyn CommandHost, new: &PgStatistic) -> Result<()> {
    let mut cat = host.catalog();
    let keys = [new.starelid.into(), new.staattnum.into(), new.stainherit.into()];
    match cat.scan(indexes::PG_STATISTIC_RELID_ATT_INH_INDEX, &keys)?.pop() {
        Some(old) => cat.update(&old, new).map(|_| ()),
        None => cat.insert(new).map(|_| ()),
    }
}
