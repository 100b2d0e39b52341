//! Autovacuum: the launcher's rounds, and workers in sessions without a client. See
//! `docs/design/0016-statistics.md` and `docs/design/0002-wraparound.md`.
//! Counterpart: postmaster/autovacuum.c.

use crate::connect::{Registered, begin_internal_session};
use crate::instance::{Instance, SessionHandle};
use crate::session::Session;
use autovacuum::{Database, Table, Worker};
use client::connection::Connection;
use client::transport::NoClient;
use hashbrown::HashMap;
use ids::Oid;
use pgerror::{PgError, Result, Severity, SqlState, pg_err};
use settings::Source;
use stats::DatabaseField;
use std::sync::Arc;
use std::time::{Duration, Instant};
use sync::atomic::Ordering;
use sync::wait::Interrupt;

const LAUNCHER: &str = "autovacuum launcher";
const WORKER: &str = "autovacuum worker";
/// Timeout for the lock on a table that is vacuumed against wraparound.
const LOCK_TIMEOUT: &str = "10s";
/// The launcher sleeps at least so long. Counterpart: `MIN_AUTOVAC_SLEEPTIME`.
const SLEEP_MIN: Duration = Duration::from_millis(100);

/// The state of the launcher's thread.
pub struct Launcher {
    instance: Arc<Instance>,
    /// When the last worker for a database was started.
    started: HashMap<Oid, Instant>,
    /// Databases have been listed before: new ones wait for `autovacuum_naptime`.
    has_begun: bool,
    /// The last database that was chosen because it is close to wraparound.
    old: Option<Oid>,
}

/// A worker to start.
pub struct Start {
    database: Database,
    worker: Worker,
}

/// True if not only vacuuming against wraparound is enabled.
fn is_active(instance: &Instance) -> bool {
    let base = instance.base();
    base.bool("autovacuum") && base.bool("track_counts")
}

impl Launcher {
    pub fn new(instance: &Arc<Instance>) -> Launcher {
        Launcher {
            instance: instance.clone(),
            started: HashMap::new(),
            has_begun: false,
            old: None,
        }
    }

    /// Chooses databases, and reads the names of all. Returns the workers to start, and the time
    /// until the next call.
    pub fn round(&mut self) -> Result<(Vec<Start>, Duration)> {
        let instance = self.instance.clone();
        let base = instance.base();
        let naptime = Duration::from_secs(base.int("autovacuum_naptime").max(1) as u64);
        let max = base.int("autovacuum_max_workers").max(1) as usize;
        let is_active = is_active(&instance);
        let txns = instance.engine.txn();
        let is_due = txns.needs_wraparound_vacuum() || txns.needs_multixact_vacuum();
        let first = !std::mem::replace(&mut self.has_begun, true);
        if first && let Some(warning) = txns.wraparound_warning() {
            instance.log.write(&parameters::LogOrigin::default(), &warning, None);
        }
        if !first && !is_due && !is_active || instance.autovacuum.is_full(max) {
            return Ok((Vec::new(), naptime));
        }
        let handle = instance.register_internal(LAUNCHER);
        let _registered = Registered { instance: &instance, pid: handle.pid };
        let databases = list_databases(&instance, &handle)?;
        let now = sync::wait::now();
        self.started.retain(|oid, _| databases.iter().any(|db| db.oid == *oid));
        for database in databases.iter().filter(|db| db.at_risk.is_none() && first) {
            self.started.insert(database.oid, now);
        }
        let known = databases.iter().filter(|db| db.last_processed.is_some()).count();
        let nap = (naptime / known.max(1) as u32).max(SLEEP_MIN);
        let next = autovacuum::choose(&databases, &self.started, (now, naptime), is_active);
        let start = next.and_then(|next| self.start(next, max, now));
        Ok((start.into_iter().collect(), nap))
    }

    /// Reserves a worker for the database. Databases close to wraparound are processed one after
    /// the other: a worker that skips a shared table because of another worker cannot advance the
    /// limits of its database.
    fn start(&mut self, next: &Database, max: usize, now: Instant) -> Option<Start> {
        let workers = &self.instance.autovacuum;
        let is_old = next.at_risk.is_some();
        if is_old && self.old.is_some_and(|oid| workers.is_running_in(oid)) {
            return None;
        }
        let worker = workers.enter(next.oid, max)?;
        if is_old {
            self.old = Some(next.oid);
        }
        self.started.insert(next.oid, now);
        Some(Start { database: next.clone(), worker })
    }
}

/// Reads the list of databases, and stores their names.
fn list_databases(instance: &Arc<Instance>, handle: &Arc<SessionHandle>) -> Result<Vec<Database>> {
    let state = begin_internal_session(instance, handle, None)?;
    let conn = Connection::new(Box::new(NoClient));
    let mut session = Session::new(state, instance.clone(), handle.clone(), conn);
    session.begin_work();
    let list = autovacuum::databases(&mut session)?;
    session.commit_transaction()?;
    drop(session);
    handle.activity.change(|shown| shown.proc = None);
    let names = list.iter().map(|db| (db.oid, db.name.clone())).collect();
    instance.set_database_names(names);
    Ok(list)
}

/// The work of one worker.
pub fn work(instance: &Arc<Instance>, start: &Start) -> Result<()> {
    let Start { database, worker } = start;
    let handle = instance.register_internal(WORKER);
    let _registered = Registered { instance, pid: handle.pid };
    let state = begin_internal_session(instance, &handle, Some((database.oid, &database.name)));
    let mut state = match state {
        // The database was dropped or renamed after it was found.
        Err(e) if e.code() == SqlState::UNDEFINED_DATABASE => return Ok(()),
        state => state?,
    };
    // These settings override those of the database. A table whose lock is not available in time is
    // left to the next round, because waiting could let other tables wrap around.
    for (name, value) in [
        ("lock_timeout", LOCK_TIMEOUT),
        ("default_transaction_read_only", "off"),
        ("default_transaction_isolation", "read committed"),
        ("zero_damaged_pages", "off"),
    ] {
        state.store.set_startup(name, value, Source::Session, true)?;
    }
    let conn = Connection::new(Box::new(NoClient));
    let mut session = Session::new(state, instance.clone(), handle.clone(), conn);
    session.state.apply_all_settings();
    let done = session.autovacuum(database, worker);
    if let Err(e) = &done {
        if e.fields().severity >= Severity::Panic {
            (instance.engine.config().on_panic)(e);
        }
        session.fail();
    }
    session.leave();
    done
}

impl Session {
    /// Begins a transaction for work without a client.
    fn begin_work(&mut self) {
        self.statement_begins();
        self.start_command();
        let snapshot = self.state.backend.snapshot();
        self.state.backend.push_snapshot(snapshot);
    }

    fn autovacuum(&mut self, database: &Database, worker: &Worker) -> Result<()> {
        let now = self.state.now();
        let stats = self.state.backend.storage().stats.clone();
        stats.change_database(database.oid, |db| db[DatabaseField::AutovacuumTime] = now);
        self.begin_work();
        self.drop_orphaned_tables(database);
        let instance = self.instance.clone();
        for table in autovacuum::tables(self, is_active(&instance))? {
            let handle = self.handle.clone();
            let bytes_max = Some(self.state.activity.activity_bytes_max);
            let clock = instance.engine.env().clock.clone();
            let mut started = |table: &Table| {
                handle.activity.start(table.activity().as_bytes(), bytes_max, clock.pg_micros());
                handle.busy.store(true, Ordering::Release);
            };
            let how = (database.freeze_all, is_active(&instance));
            let done = autovacuum::process(self, worker, &table, how, &mut started);
            self.handle.busy.store(false, Ordering::Release);
            self.handle.waiter.take_one(Interrupt::QueryCancel);
            self.send_notices();
            self.conn.out.clear();
            if let Err(e) = done {
                self.failed(e, database, Some(&table))?;
            }
            let now = self.state.now();
            self.state.backend.stats.flush(now);
        }
        autovacuum::finish(self)?;
        self.send_notices();
        self.commit_transaction()
    }

    /// Drops orphaned temporary tables. Tables that cannot be dropped are left for the next round.
    fn drop_orphaned_tables(&mut self, database: &Database) {
        // This is evaluated after a table was found. A session sets `has_temp_schema` before it
        // creates a table, so the table of a running session is never considered an orphan.
        let instance = self.instance.clone();
        let alive = |number: u32| {
            instance.sessions().iter().any(|s| {
                let shown = s.activity.get();
                shown.proc == Some(number)
                    && shown.database == database.oid
                    && shown.has_temp_schema
            })
        };
        match autovacuum::drop_orphans(self, &alive) {
            Ok(dropped) => {
                for table in dropped {
                    let (schema, name) = (&table.schema, &table.name);
                    let message = format!(
                        "autovacuum: dropping orphan temp table \"{}.{schema}.{name}\"",
                        database.name
                    );
                    let code = SqlState::SUCCESSFUL_COMPLETION;
                    self.log_report(&PgError::new(code, message).severity(Severity::Log));
                }
            }
            // If the session must end, the next step reports that.
            Err(e) => {
                let _ = self.failed(e, database, None);
            }
        }
    }

    /// Logs an error and starts a new transaction, unless the session must end.
    fn failed(&mut self, error: PgError, database: &Database, table: Option<&Table>) -> Result<()> {
        let severity = error.fields().severity;
        if severity >= Severity::Panic {
            return Err(error);
        }
        if severity == Severity::Fatal {
            let message = "terminating autovacuum process due to administrator command";
            return Err(pg_err!(ADMIN_SHUTDOWN, "{message}").severity(Severity::Fatal));
        }
        let error = match error.code() {
            SqlState::QUERY_CANCELED => pg_err!(QUERY_CANCELED, "canceling autovacuum task"),
            _ => error,
        };
        let error = match table {
            Some(Table { schema, name, vacuum, .. }) => {
                let database = &database.name;
                let verb = if *vacuum { "vacuum" } else { "analyze" };
                let what = format!("automatic {verb} of table \"{database}.{schema}.{name}\"");
                error.context(what)
            }
            None => error,
        };
        self.log_report(&error);
        self.fail();
        self.begin_work();
        Ok(())
    }
}
