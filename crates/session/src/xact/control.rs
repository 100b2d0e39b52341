//! Transaction statements, and the start and the end of transactions.

use super::{Block, Characteristics, DeadPortal, Mode, Xact, aborted};
use crate::instance::{Instance, SessionHandle};
use crate::session::Session;
use crate::state::State;
use engine::FinishPrepared;
use ids::Oid;
use parse::ast::{DefElem, TransactionStmt, TransactionStmtKind};
use pgerror::{PgError, Result, Severity, SqlState, pg_err};
use utility::host::Transactions;
use utility::options::constant_text;

fn no_transaction(what: &str) -> PgError {
    pg_err!(NO_ACTIVE_SQL_TRANSACTION, "{what} can only be used in transaction blocks")
}

fn warning(code: SqlState, message: &str) -> PgError {
    PgError::new(code, message).severity(Severity::Warning)
}

impl Session {
    /// Starts a transaction for the next statement, if none is open.
    pub(crate) fn start_command(&mut self) {
        if self.state.transaction.block != Block::None {
            return;
        }
        self.state.transaction.block = Block::Single;
        self.state.transaction.mode.read_only = self.state.values.resolved.read_only;
        self.state.transaction.mode.deferrable = self.state.values.resolved.deferrable;
        let resolved = &self.state.values.resolved;
        self.xact.began = Some((resolved.isolation, resolved.read_only, resolved.deferrable));
        self.state.transaction.start = self.state.transaction.statement_start;
        let now = self.state.transaction.statement_start;
        self.state.backend.begin_at(self.state.values.resolved.isolation, now);
        self.state.warn_of_isolation(self.state.values.resolved.isolation);
    }

    /// Ends a statement without an error: commits its own transaction; in a block, makes its
    /// changes visible to the next statement.
    pub(crate) fn finish_command(&mut self) -> Result<()> {
        self.state.after_statement()?;
        match self.state.transaction.block {
            Block::None => Ok(()),
            Block::Single => self.commit_transaction(),
            Block::Implicit | Block::Explicit => self.next_command(),
        }
    }

    /// Makes the changes visible to subsequent commands. Counterpart: `CommandCounterIncrement`.
    pub(crate) fn next_command(&mut self) -> Result<()> {
        if self.state.backend.in_transaction() && self.state.backend.command_counter_increment()? {
            self.state.catalog.overlay.end_command();
        }
        Ok(())
    }

    /// Commits the open transaction. If this fails, the transaction is still open.
    pub(crate) fn commit_transaction(&mut self) -> Result<()> {
        self.end_by(None)
    }

    /// Commits the open transaction, or prepares it with this identifier.
    fn end_by(&mut self, gid: Option<&str>) -> Result<()> {
        self.state.before_commit(gid.is_some())?;
        if !self.state.transaction.on_commit.is_empty() {
            let tables = std::mem::take(&mut self.state.transaction.on_commit);
            let kept = commands::on_commit::before_commit(self, &tables)?;
            self.state.transaction.on_commit = kept;
        }
        match gid {
            None => self.state.commit_storage(&self.instance, &self.handle)?,
            Some(gid) => self.state.prepare_storage(gid)?,
        }
        self.end_transaction();
        Ok(())
    }

    pub(crate) fn abort_transaction(&mut self) {
        if let Err(e) = self.state.abort_storage() {
            self.log_report(&e);
        }
        self.end_transaction();
    }

    fn end_transaction(&mut self) {
        self.state.caches.row_types.clear();
        self.xact = Xact::default();
        self.state.transaction.block = Block::None;
        self.state.end_transaction();
    }

    /// Handles an error: rolls back what the error requires, so that the session can continue.
    pub(crate) fn fail(&mut self) {
        self.state.backend.truncate_snapshots(0);
        match self.state.transaction.block {
            Block::None => {}
            Block::Single | Block::Implicit => self.abort_transaction(),
            Block::Explicit if self.xact.failed => {}
            Block::Explicit => {
                let mut dead = std::mem::take(&mut self.xact.dead_portals);
                let ended = self.state.named.portals.iter().filter(|(_, p)| !p.is_held());
                dead.extend(ended.map(|(name, p)| DeadPortal::of(name, p)));
                if self.state.backend.txn.nesting() > 1 {
                    if let Err(e) = self.state.abort_level() {
                        self.log_report(&e);
                    }
                } else {
                    let began = self.xact.began;
                    self.abort_transaction();
                    self.xact.began = began;
                    self.state.transaction.block = Block::Explicit;
                }
                self.xact.failed = true;
                dead.retain(|d| !self.state.named.portals.contains_key(&d.name));
                self.xact.dead_portals = dead;
            }
        }
    }

    /// Starts an implicit block: the statements of one message share a transaction.
    pub(crate) fn begin_implicit_block(&mut self) {
        if self.state.transaction.block == Block::Single {
            self.state.transaction.block = Block::Implicit;
        }
    }

    pub(crate) fn end_implicit_block(&mut self) {
        if self.state.transaction.block == Block::Implicit {
            self.state.transaction.block = Block::Single;
        }
    }

    /// Runs a transaction statement; returns its command tag.
    pub(crate) fn transaction_statement(&mut self, stmt: &TransactionStmt) -> Result<&'static str> {
        let name = stmt.savepoint_name.as_deref().unwrap_or_default();
        let gid = stmt.gid.as_deref().unwrap_or_default();
        match stmt.kind {
            TransactionStmtKind::Begin | TransactionStmtKind::Start => {
                let before = self.state.transaction.block;
                self.begin_block()?;
                if let Err(e) = self.state.set_characteristics(&stmt.options) {
                    // A failed BEGIN does not leave a failed block.
                    self.state.transaction.block = before;
                    return Err(e);
                }
                let start = stmt.kind == TransactionStmtKind::Start;
                Ok(if start { "START TRANSACTION" } else { "BEGIN" })
            }
            TransactionStmtKind::Commit => self.commit_block(stmt.chain),
            TransactionStmtKind::Rollback => {
                self.rollback_block(stmt.chain)?;
                Ok("ROLLBACK")
            }
            TransactionStmtKind::Savepoint => {
                self.require_block("SAVEPOINT")?;
                self.state.begin_level()?;
                self.xact.savepoints.push(name.to_owned());
                Ok("SAVEPOINT")
            }
            TransactionStmtKind::Release => {
                self.require_block("RELEASE SAVEPOINT")?;
                self.release(name)?;
                Ok("RELEASE")
            }
            TransactionStmtKind::RollbackTo => {
                self.require_block("ROLLBACK TO SAVEPOINT")?;
                self.rollback_to(name)?;
                Ok("ROLLBACK")
            }
            TransactionStmtKind::Prepare => self.prepare_block(gid),
            TransactionStmtKind::CommitPrepared | TransactionStmtKind::RollbackPrepared => {
                let commit = stmt.kind == TransactionStmtKind::CommitPrepared;
                let tag = if commit { "COMMIT PREPARED" } else { "ROLLBACK PREPARED" };
                self.prevent_in_transaction_block(tag)?;
                self.state.finish_prepared(gid, commit)?;
                Ok(tag)
            }
        }
    }

    fn require_block(&self, what: &str) -> Result<()> {
        if self.state.transaction.block == Block::Explicit {
            Ok(())
        } else {
            Err(no_transaction(what))
        }
    }

    fn begin_block(&mut self) -> Result<()> {
        match self.state.transaction.block {
            Block::Explicit if self.xact.failed => return Err(aborted()),
            Block::Explicit => self.state.notices.push(warning(
                SqlState::ACTIVE_SQL_TRANSACTION,
                "there is already a transaction in progress",
            )),
            _ => self.state.transaction.block = Block::Explicit,
        }
        Ok(())
    }

    /// COMMIT. A failed transaction is rolled back, and the tag is ROLLBACK.
    fn commit_block(&mut self, chain: bool) -> Result<&'static str> {
        if self.state.transaction.block != Block::Explicit {
            self.no_block("COMMIT AND CHAIN", chain)?;
        }
        if self.xact.failed {
            self.rollback_block(chain)?;
            return Ok("ROLLBACK");
        }
        let next = self.chained(chain);
        while self.state.backend.txn.nesting() > 1 {
            self.state.commit_level()?;
        }
        // From here on an error ends the block too.
        self.state.transaction.block = Block::Single;
        self.commit_transaction()?;
        self.begin_chained(next);
        Ok("COMMIT")
    }

    fn rollback_block(&mut self, chain: bool) -> Result<()> {
        if self.state.transaction.block != Block::Explicit {
            self.no_block("ROLLBACK AND CHAIN", chain)?;
        }
        let next = self.chained(chain);
        self.abort_transaction();
        self.begin_chained(next);
        Ok(())
    }

    /// PREPARE TRANSACTION, which always ends the block. A failed transaction is rolled back.
    /// Outside a block there is no transaction to prepare.
    fn prepare_block(&mut self, gid: &str) -> Result<&'static str> {
        if self.state.transaction.block != Block::Explicit {
            self.no_block("PREPARE TRANSACTION", false)?;
        }
        if self.xact.failed {
            self.abort_transaction();
            return Ok("ROLLBACK");
        }
        if self.state.transaction.block == Block::Single {
            return Ok("ROLLBACK");
        }
        while self.state.backend.txn.nesting() > 1 {
            self.state.commit_level()?;
        }
        self.state.transaction.block = Block::Single;
        self.end_by(Some(gid))?;
        Ok("PREPARE TRANSACTION")
    }

    fn no_block(&mut self, what: &str, chain: bool) -> Result<()> {
        if chain {
            return Err(no_transaction(what));
        }
        self.state.notices.push(warning(
            SqlState::NO_ACTIVE_SQL_TRANSACTION,
            "there is no transaction in progress",
        ));
        Ok(())
    }

    /// The characteristics of the transaction that AND CHAIN starts.
    fn chained(&self, chain: bool) -> Option<Characteristics> {
        let mode = self.state.transaction.mode;
        let now = (self.state.backend.txn.isolation(), mode.read_only, mode.deferrable);
        let over = self.xact.failed && !self.state.backend.in_transaction();
        chain.then_some(self.xact.began.filter(|_| over).unwrap_or(now))
    }

    fn begin_chained(&mut self, next: Option<Characteristics>) {
        if let Some((isolation, read_only, deferrable)) = next {
            self.start_command();
            if isolation != self.state.backend.txn.isolation() {
                self.state.backend.txn.set_isolation(isolation);
                self.state.warn_of_isolation(isolation);
            }
            self.state.transaction.block = Block::Explicit;
            self.state.transaction.mode.read_only = read_only;
            self.state.transaction.mode.deferrable = deferrable;
            self.xact.began = next;
        }
    }

    /// The innermost savepoint of that name. 3B001 if there is none.
    fn savepoint(&self, name: &str) -> Result<usize> {
        let found = self.xact.savepoints.iter().rposition(|s| s == name);
        found.ok_or_else(|| {
            PgError::new(
                SqlState::S_E_INVALID_SPECIFICATION,
                format!("savepoint \"{name}\" does not exist"),
            )
        })
    }

    fn release(&mut self, name: &str) -> Result<()> {
        let found = self.savepoint(name)?;
        while self.state.backend.txn.nesting() > found + 1 {
            self.state.commit_level()?;
        }
        self.xact.savepoints.truncate(found);
        Ok(())
    }

    fn rollback_to(&mut self, name: &str) -> Result<()> {
        let found = self.savepoint(name)?;
        while self.state.backend.txn.nesting() > found + 1 {
            self.state.abort_level()?;
        }
        self.xact.savepoints.truncate(found + 1);
        self.state.begin_level()?;
        self.xact.dead_portals.clear();
        self.xact.failed = false;
        Ok(())
    }
}

impl State {
    /// `ISOLATION LEVEL …, READ ONLY, DEFERRABLE` of BEGIN and SET TRANSACTION.
    pub(crate) fn set_characteristics(&mut self, options: &[DefElem]) -> Result<()> {
        for option in options {
            self.set_characteristic(&option.defname, &constant_text(option))?;
        }
        Ok(())
    }

    /// Runs the deferred events and keeps the cursors WITH HOLD. The queries of these may call
    /// functions that queue deferred events. PREPARE TRANSACTION refuses such cursors.
    pub(crate) fn before_commit(&mut self, prepares: bool) -> Result<()> {
        loop {
            if !self.triggers.is_empty() {
                trigger::before_commit(self)?;
            }
            if !self.keep_held_portals(prepares)? {
                return Ok(());
            }
        }
    }

    /// Commits in storage, catalogs and settings, and delivers the notifications.
    pub(crate) fn commit_storage(
        &mut self,
        instance: &Instance,
        handle: &SessionHandle,
    ) -> Result<()> {
        let notify_lock = self.take_notify_lock(instance);
        self.transaction.exports = None;
        self.transaction.large_objects.clear();
        self.catalog.commit(&mut self.backend, &self.catalogs, Vec::new(), false)?;
        self.store.commit();
        self.finish_notify(instance, handle);
        drop(notify_lock);
        Ok(())
    }

    /// As [`State::commit_storage`], for PREPARE TRANSACTION.
    fn prepare_storage(&mut self, gid: &str) -> Result<()> {
        let (exports, sent) = (self.transaction.exports.is_some(), &self.transaction.messages);
        self.catalog.prepare(&mut self.backend, gid, exports, !sent.is_empty())?;
        self.store.commit();
        Ok(())
    }

    /// COMMIT PREPARED or ROLLBACK PREPARED.
    fn finish_prepared(&mut self, gid: &str, commit: bool) -> Result<()> {
        let (user, is_superuser) = (self.catalog.user, self.is_superuser()?);
        let what = FinishPrepared { gid, user, is_superuser, commit };
        self.catalog.finish_prepared(&mut self.backend, &self.catalogs, what)
    }

    /// Rolls back in storage, catalogs and settings. The error is about files that were not
    /// removed; the transaction is aborted in any case.
    pub(crate) fn abort_storage(&mut self) -> Result<()> {
        self.named.portals.retain(|_, p| p.is_held());
        self.transaction.exports = None;
        self.transaction.large_objects.clear();
        self.backend.truncate_snapshots(0);
        let result = match self.backend.in_transaction() {
            true => self.catalog.abort(&mut self.backend),
            false => Ok(()),
        };
        self.store.rollback(1);
        self.forget_temp_schema_of_level(1);
        result
    }

    /// Clears the state of the transaction that has ended.
    pub(crate) fn end_transaction(&mut self) {
        self.notices.extend(self.backend.take_warnings());
        self.triggers.end_transaction();
        self.transaction.messages.clear();
        self.transaction.read_only_before.clear();
        self.transaction.temp_schema_level = None;
        self.transaction.mode = Mode::default();
        self.apply_settings();
    }

    /// Starts a subtransaction.
    pub(crate) fn begin_level(&mut self) -> Result<()> {
        self.backend.begin_subxact()?;
        self.transaction.read_only_before.push(self.transaction.mode.read_only);
        self.triggers.begin_subtransaction();
        self.transaction.messages.sub_begin();
        self.catalog.overlay.begin_subtransaction();
        Ok(())
    }

    /// Ends the innermost subtransaction; its changes become those of its parent.
    pub(crate) fn commit_level(&mut self) -> Result<()> {
        let level = self.backend.txn.nesting();
        self.backend.commit_subxact()?;
        self.triggers.commit_subtransaction();
        self.transaction.messages.sub_commit();
        self.transaction.large_objects.commit_level(level);
        self.catalog.overlay.commit_subtransaction();
        self.store.release(level);
        self.restore_read_only();
        let made = &mut self.transaction.temp_schema_level;
        *made = made.map(|made| made.min(level - 1));
        for portal in self.named.portals.values_mut() {
            portal.level = portal.level.min(level - 1);
        }
        Ok(())
    }

    /// Rolls back the innermost subtransaction.
    pub(crate) fn abort_level(&mut self) -> Result<()> {
        let level = self.backend.txn.nesting();
        self.named.portals.retain(|_, p| p.level < level);
        self.catalog.overlay.abort_subtransaction();
        self.triggers.abort_subtransaction();
        self.transaction.messages.sub_abort();
        self.transaction.large_objects.abort_level(level);
        let result = self.backend.abort_subxact();
        self.store.rollback(level);
        self.forget_temp_schema_of_level(level);
        self.apply_settings();
        self.restore_read_only();
        result.map(|_| ())
    }

    /// Removes the reference to the temporary schema if the level that created it is rolled back.
    fn forget_temp_schema_of_level(&mut self, level: usize) {
        if self.transaction.temp_schema_level.is_some_and(|made| made >= level) {
            self.transaction.temp_schema_level = None;
            self.catalog.set_temp_namespace(Oid::INVALID, Oid::INVALID);
        }
    }

    fn restore_read_only(&mut self) {
        if let Some(before) = self.transaction.read_only_before.pop() {
            self.transaction.mode.read_only = before;
        }
    }
}
