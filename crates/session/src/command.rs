//! The session as host of utility commands: provides catalogs, storage, settings, and the client
//! connection for COPY.

use crate::session::Session;
use crate::state::State;
use crate::xact::Block;
use analyze::OperatorCache;
use catalog::rows::PgClass;
use catalog::{CatCx, CatSession};
use client::connection::Received;
use engine::Backend;
use ids::Oid;
use parameters::LogOrigin;
use parse::ast::VariableSetStmt;
use pgerror::{PgError, Result, Severity, pg_err};
use plan::Query;
use std::sync::Arc;
use std::time::Duration;
use sync::wait::WaitEvent;
use types::FnContext;
use utility::host::{Cluster, CommandHost, Contexts, CopyTransport, Settings, Transactions};
use wire::password::{SALT_BYTES, Secret};
use wire::{Format, FrontendMessage, backend};

impl analyze::Host for Session {
    fn catalog(&mut self) -> CatCx<'_> {
        self.state.cat()
    }

    fn functions(&mut self) -> &mut dyn FnContext {
        &mut self.state
    }

    fn lock_relation(&mut self, relation: Oid, mode: i32) -> Result<()> {
        self.state.lock_relation(relation, mode)
    }

    fn database_name(&mut self) -> Result<String> {
        Ok(self.state.database_name.clone())
    }

    fn identify_statement(&mut self, query: &mut Query, sql: &str) {
        self.state.identify_query(query, sql, false);
    }

    fn views_are_restricted(&mut self) -> bool {
        analyze::Host::views_are_restricted(&mut self.state)
    }

    fn transform_null_equals(&mut self) -> bool {
        analyze::Host::transform_null_equals(&mut self.state)
    }

    fn operator_cache(&mut self) -> Option<&mut OperatorCache> {
        analyze::Host::operator_cache(&mut self.state)
    }
}

impl CommandHost for Session {
    fn notice(&mut self, notice: PgError) {
        self.state.add_notice(notice);
    }

    fn transport(&mut self) -> Result<&mut dyn CopyTransport> {
        Ok(self)
    }

    fn as_owner(
        &mut self,
        owner: Oid,
        work: &mut dyn FnMut(&mut dyn CommandHost) -> Result<()>,
    ) -> Result<()> {
        let settings = self.state.store.save_all();
        let before = self.state.switch_to_owner(owner)?;
        let result = work(self);
        self.state.store.restore_all(settings);
        self.state.apply_settings();
        self.state.restore_role(before);
        result
    }

    fn pause(&mut self, span: Duration) -> Result<()> {
        use sync::wait::{Deadline, WaitEvent, Woken};
        let deadline = Deadline::after(span);
        loop {
            self.state.backend.check_interrupts()?;
            let woken = self.state.backend.waiter().park(WaitEvent::PgSleep, deadline);
            if woken == Woken::Timeout {
                return Ok(());
            }
        }
    }

    fn validate_function(&mut self, function: Oid, sql: &str) -> Result<()> {
        self.state.validate_function(function, sql)
    }

    fn password_verifier(&mut self, role: &str, password: &str) -> Result<String> {
        // A text in the format of a stored secret is stored unchanged.
        if Secret::parse(password).is_some() {
            return Ok(password.to_owned());
        }
        let md5 = self.state.store.named("password_encryption").as_text() == "md5";
        let mut salt = [0; SALT_BYTES];
        self.instance.engine.env().random.fill(&mut salt);
        Ok(Secret::make(password, role, md5, &salt))
    }

    fn is_empty_password(&mut self, role: &str, secret: &str) -> bool {
        Secret::parse(secret).is_some_and(|s| s.is_plain("", role))
    }
}

impl Contexts for Session {
    fn backend(&mut self) -> &mut Backend {
        &mut self.state.backend
    }

    fn facts(&mut self) -> &mut dyn eval::Facts {
        &mut self.state
    }

    fn expressions(&mut self) -> &mut dyn eval::Host {
        &mut self.state
    }

    fn services(&mut self) -> &mut dyn executor::Services {
        &mut self.state
    }

    fn planner(&mut self) -> &mut dyn planner::PlannerHost {
        &mut self.state
    }

    fn trigger_host(&mut self) -> &mut dyn trigger::TriggerHost {
        &mut self.state
    }

    fn engine(&mut self) -> Arc<engine::Engine> {
        self.instance.engine.clone()
    }
}

impl Transactions for Session {
    fn has_ready_portals(&self) -> bool {
        self.state.named.portals.values().any(|portal| portal.is_ready())
    }

    fn in_transaction_block(&self) -> bool {
        !matches!(self.state.transaction.block, Block::None | Block::Single)
    }

    fn shares_transaction(&self) -> bool {
        self.in_transaction_block() || self.xact.pipelining
    }

    fn prevent_in_transaction_block(&mut self, what: &str) -> Result<()> {
        if self.in_transaction_block() {
            return Err(pg_err!(
                ACTIVE_SQL_TRANSACTION,
                "{what} cannot run inside a transaction block"
            ));
        }
        if self.xact.pipelining {
            return Err(pg_err!(
                ACTIVE_SQL_TRANSACTION,
                "{what} cannot be executed within a pipeline"
            ));
        }
        self.xact.commit_at_once = true;
        Ok(())
    }

    fn read_only(&self) -> bool {
        self.state.transaction.mode.read_only
    }

    fn check_not_in_use(&mut self, relation: Oid, name: &str, what: &str) -> Result<()> {
        self.state.check_not_in_use(relation, name, what)
    }

    fn try_lock_relation(&mut self, relation: Oid, mode: i32) -> Result<bool> {
        self.state.try_lock_relation(relation, mode)
    }

    fn next_transaction(&mut self) -> Result<()> {
        // The request for a commit at the end of the statement applies to its first transaction
        // only: in a pipeline the last transaction stays open until Sync.
        self.commit_transaction()?;
        self.start_command();
        let snapshot = self.state.backend.snapshot();
        self.state.backend.push_snapshot(snapshot);
        Ok(())
    }

    fn on_commit(&mut self, table: Oid, drop: bool) {
        self.state.transaction.on_commit.push((table, drop));
    }

    fn temp_schema_made(&mut self, schema: Oid, toast: Oid) {
        self.state.use_temp_schema(schema, toast);
    }
}

impl Settings for Session {
    fn setting(&mut self, name: &str) -> String {
        let store = &self.state.store;
        let registry = &store.base().registry;
        match registry.find(name) {
            Some(id) => registry.setting(id).show(store.value(id)),
            None => String::new(),
        }
    }

    fn setting_name(&mut self, name: &str) -> String {
        let registry = &self.state.store.base().registry;
        match registry.find(name) {
            Some(id) => registry.setting(id).name.to_owned(),
            None => name.to_owned(),
        }
    }

    fn privileged_parameter(&mut self, name: &str) -> (String, bool) {
        self.state.store.base().registry.privileged(name)
    }

    fn setting_value(&mut self, stmt: &VariableSetStmt) -> Result<Option<String>> {
        self.state.checked_setting(stmt)
    }

    fn explain_settings(&mut self) -> Vec<(String, String)> {
        self.state.explained_settings()
    }
}

impl Cluster for Session {
    fn checkpoint(&mut self) -> Result<()> {
        self.state.checkpoint()
    }

    fn locale_exists(&mut self, name: &str) -> bool {
        !name.is_empty() && locale::codeset(name).is_some()
    }

    fn classes_of(&mut self, database: engine::DbKey) -> Result<Vec<PgClass>> {
        let catalog = self.state.catalogs.database(database.1);
        let mut other = CatSession::new(catalog, self.state.catalog.user);
        other.tablespace = database.0;
        let rows = CatCx::new(&mut self.state.backend, &mut other).scan_all::<PgClass>()?;
        Ok(rows.iter().map(|r| r.row.clone()).collect())
    }

    fn terminate_sessions(&mut self, database: Oid) -> Result<()> {
        let storage = self.state.backend.storage().clone();
        for pid in storage.txns.pids_of(database) {
            if let Some(session) = self.instance.session(pid).filter(|s| s.pid != self.handle.pid) {
                session.terminate();
            }
        }
        Ok(())
    }

    fn terminate_workers(&mut self, database: Oid) {
        self.instance.terminate_workers(Some(database));
    }

    fn forget_database(&mut self, database: Oid) {
        self.state.catalogs.forget(database);
    }
}

impl State {
    /// CHECKPOINT.
    pub(crate) fn checkpoint(&mut self) -> Result<()> {
        use engine::CheckpointFlags as F;
        let (instance, _) = self.server.as_ref().expect("a session with a connection");
        let Err(error) = instance.engine.checkpoint(F::IMMEDIATE | F::FORCE | F::WAIT) else {
            return Ok(());
        };
        if error.fields().severity >= Severity::Panic {
            return Err(error);
        }
        let origin = LogOrigin { kind: "checkpointer", ..LogOrigin::default() };
        instance.log.write(&origin, &error, None);
        Err(PgError::internal("checkpoint request failed")
            .hint("Consult recent messages in the server log for details."))
    }

    /// The settings that EXPLAIN SETTINGS shows.
    pub(crate) fn explained_settings(&self) -> Vec<(String, String)> {
        let store = &self.store;
        let registry = &store.base().registry;
        let mut list = Vec::new();
        for id in registry.ids() {
            let setting = registry.setting(id);
            let hidden = setting.flags.superuser_only && !self.roles.superuser;
            if setting.flags.explain && !hidden && *store.value(id) != setting.boot {
                list.push((setting.name.to_owned(), setting.show(store.value(id))));
            }
        }
        list.sort();
        list
    }

    /// Error 55006 if the session itself uses the relation.
    pub(crate) fn check_not_in_use(&self, relation: Oid, name: &str, what: &str) -> Result<()> {
        let is_read = self.named.portals.values().any(|p| p.reads(relation));
        if is_read || self.triggers.is_calling(relation) {
            return Err(pg_err!(
                OBJECT_IN_USE,
                "cannot {what} \"{name}\" because it is being used by active queries in this \
                session"
            ));
        }
        if self.triggers.has_events(relation) {
            return Err(pg_err!(
                OBJECT_IN_USE,
                "cannot {what} \"{name}\" because it has pending trigger events"
            ));
        }
        Ok(())
    }
}

/// True if a message of this type is allowed while COPY reads from the client.
fn is_copy_message(kind: u8) -> bool {
    matches!(kind, b'd' | b'c' | b'f' | b'H' | b'S')
}

impl Session {
    /// The error for a message that is not allowed during COPY. The end of the data is then
    /// unknown, so the connection is closed after this error.
    fn unexpected_in_copy(&mut self, kind: u8) -> PgError {
        self.conn.lost_sync = true;
        pg_err!(PROTOCOL_VIOLATION, "unexpected message type 0x{kind:02X} during COPY from stdin")
    }

    /// The error for bytes that are not a valid message.
    fn bad_frame_in_copy(&mut self, error: PgError) -> PgError {
        match self.conn.inbox.pending().first() {
            Some(&kind) if !is_copy_message(kind) => self.unexpected_in_copy(kind),
            _ => error,
        }
    }
}

fn format_of(binary: bool) -> Format {
    if binary { Format::Binary } else { Format::Text }
}

impl CopyTransport for Session {
    fn begin_in(&mut self, binary: bool, columns: usize) -> Result<()> {
        self.send_notices();
        backend::copy_in_response(&mut self.conn.out, format_of(binary), columns);
        self.conn.flush()
    }

    fn read(&mut self, out: &mut Vec<u8>) -> Result<bool> {
        loop {
            self.state.backend.check_interrupts()?;
            let waiting = self.handle.waiter.waiting(WaitEvent::ClientRead);
            let received = self.conn.receive();
            drop(waiting);
            let frame = match received {
                Ok(Received::Frame(frame)) if !is_copy_message(frame.kind) => {
                    return Err(self.unexpected_in_copy(frame.kind));
                }
                Ok(Received::Frame(frame)) => frame,
                Err(error) => return Err(self.bad_frame_in_copy(error)),
                Ok(Received::End) => {
                    // A request to terminate closes the connection too.
                    self.state.backend.check_interrupts()?;
                    self.conn.lost_sync = true;
                    return Err(pg_err!(
                        CONNECTION_FAILURE,
                        "unexpected EOF on client connection with an open transaction"
                    ));
                }
                Ok(Received::TimedOut) => continue,
                Ok(Received::Refused(_, error)) => return Err(error),
            };
            // Flush and Sync are ignored, regardless of their contents.
            if matches!(frame.kind, b'H' | b'S') {
                continue;
            }
            match FrontendMessage::decode(frame.kind, self.conn.body(frame))? {
                FrontendMessage::CopyData(data) => {
                    types::memory::append(out, data)?;
                    return Ok(true);
                }
                FrontendMessage::CopyDone => return Ok(false),
                FrontendMessage::CopyFail(reason) => {
                    let reason = self.text(reason.reason()?)?.to_owned();
                    return Err(pg_err!(QUERY_CANCELED, "COPY from stdin failed: {reason}"));
                }
                _ => return Err(self.unexpected_in_copy(frame.kind)),
            }
        }
    }

    fn begin_out(&mut self, binary: bool, columns: usize) -> Result<()> {
        self.send_notices();
        backend::copy_out_response(&mut self.conn.out, format_of(binary), columns);
        Ok(())
    }

    fn write(&mut self, row: &[u8]) -> Result<()> {
        self.conn.copy_data(row)
    }

    fn end_out(&mut self) -> Result<()> {
        backend::copy_done(&mut self.conn.out);
        Ok(())
    }
}
