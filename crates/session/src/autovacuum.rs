//! Autovacuum against transaction id wraparound, in sessions without a client. See
//! `docs/design/0002-wraparound.md`. Counterpart: the part of postmaster/autovacuum.c that cannot
//! be disabled.

use crate::connect::{Registered, begin_internal_session};
use crate::instance::{Instance, SessionHandle};
use crate::session::Session;
use client::connection::Connection;
use client::transport::NoClient;
use commands::wraparound::{self, OldDatabase, OldTable};
use pgerror::{PgError, Result, Severity, SqlState, pg_err};
use settings::Source;
use std::sync::Arc;
use sync::atomic::Ordering;
use sync::wait::Interrupt;

const LAUNCHER: &str = "autovacuum launcher";
/// Timeout for the lock on a table.
const LOCK_TIMEOUT: &str = "10s";

/// One round of the launcher: vacuums all databases that are close to wraparound, one after the
/// other. `in_database` runs the work for one database and catches panics. An error in one database
/// is logged, and the round continues with the next database.
pub fn round(
    instance: &Arc<Instance>,
    in_database: &mut dyn FnMut(&mut dyn FnMut() -> Result<()>) -> Result<()>,
) -> Result<()> {
    let launcher = instance.register_internal(LAUNCHER);
    let _registered = Registered { instance, pid: launcher.pid };
    for database in databases_to_vacuum(instance, &launcher)? {
        if instance.check_admission().is_err() {
            return Ok(());
        }
        let mut work = || work(instance, &database);
        if let Err(e) = in_database(&mut work) {
            if e.fields().severity >= Severity::Panic {
                return Err(e);
            }
            let kind = "autovacuum worker";
            let origin =
                crate::instance::LogOrigin { kind, ..crate::instance::LogOrigin::default() };
            instance.log.write(&origin, &e, None);
        }
    }
    Ok(())
}

/// The databases that must be vacuumed, oldest first. Also stores the names of all databases.
fn databases_to_vacuum(
    instance: &Arc<Instance>,
    handle: &Arc<SessionHandle>,
) -> Result<Vec<OldDatabase>> {
    let core = begin_internal_session(instance, handle, None)?;
    let conn = Connection::new(Box::new(NoClient));
    let mut session = Session::new(core, instance.clone(), handle.clone(), conn);
    session.begin_work();
    let (old, names) = wraparound::old_databases(&mut session)?;
    session.commit_transaction()?;
    drop(session);
    handle.activity.change(|shown| shown.proc = None);
    instance.set_database_names(names);
    Ok(old)
}

/// True if a database must be vacuumed. This test is cheap, because each iteration of the launcher
/// makes it.
pub fn is_due(instance: &Instance) -> bool {
    let txns = instance.engine.txn();
    txns.needs_wraparound_vacuum() || txns.needs_multixact_vacuum()
}

/// Reads the names of databases, and logs a warning if transaction ids are about to run out.
pub fn begin(instance: &Arc<Instance>) -> Result<()> {
    if let Some(warning) = instance.engine.txn().wraparound_warning() {
        instance.log.write(&crate::instance::LogOrigin::default(), &warning, None);
    }
    let handle = instance.register_internal(LAUNCHER);
    let _registered = Registered { instance, pid: handle.pid };
    databases_to_vacuum(instance, &handle).map(|_| ())
}

/// Vacuums one database.
fn work(instance: &Arc<Instance>, database: &OldDatabase) -> Result<()> {
    let handle = instance.register_internal("autovacuum worker");
    let _registered = Registered { instance, pid: handle.pid };
    let core = begin_internal_session(instance, &handle, Some((database.oid, &database.name)));
    let mut core = match core {
        // The database was dropped or renamed after it was found.
        Err(e) if e.code() == SqlState::UNDEFINED_DATABASE => return Ok(()),
        core => core?,
    };
    // These settings override those of the database. A table whose lock is not available in time is
    // left to the next round, because waiting could let other tables wrap around.
    for (name, value) in [("lock_timeout", LOCK_TIMEOUT), ("default_transaction_read_only", "off")]
    {
        core.store.set_startup(name, value, Source::Session, true)?;
    }
    let conn = Connection::new(Box::new(NoClient));
    let mut session = Session::new(core, instance.clone(), handle.clone(), conn);
    session.core.apply_all_settings();
    let done = session.prevent_wraparound(database);
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
        let snapshot = self.core.backend.snapshot();
        self.core.backend.push_snapshot(snapshot);
    }

    fn prevent_wraparound(&mut self, database: &OldDatabase) -> Result<()> {
        self.begin_work();
        self.drop_orphaned_tables(database);
        for table in wraparound::old_tables(self)? {
            let (schema, name) = (&table.schema, &table.name);
            let what = format!("autovacuum: VACUUM {schema}.{name} (to prevent wraparound)");
            self.show_running(what.as_bytes());
            self.handle.busy.store(true, Ordering::Release);
            let done = wraparound::vacuum_table(self, &table, database.freeze_all);
            self.handle.busy.store(false, Ordering::Release);
            self.handle.waiter.take_one(Interrupt::QueryCancel);
            self.send_notices();
            self.conn.out.clear();
            if let Err(e) = done {
                self.failed(e, database, Some(&table))?;
            }
        }
        wraparound::finish(self)?;
        self.send_notices();
        self.commit_transaction()
    }

    /// Drops orphaned temporary tables. Tables that cannot be dropped are left for the next round.
    fn drop_orphaned_tables(&mut self, database: &OldDatabase) {
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
        match wraparound::drop_orphans(self, &alive) {
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
    fn failed(
        &mut self,
        error: PgError,
        database: &OldDatabase,
        table: Option<&OldTable>,
    ) -> Result<()> {
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
            Some(OldTable { schema, name, .. }) => {
                let database = &database.name;
                let what = format!("automatic vacuum of table \"{database}.{schema}.{name}\"");
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
