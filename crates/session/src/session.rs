//! A session and its message loop. Counterpart: tcop/postgres.c (`PostgresMain`).

use crate::instance::{Instance, SessionHandle};
use crate::paramarrays::ParamArrays;
use crate::prepared::Prepared;
use crate::slots::Slots;
use crate::state::State;
use crate::xact::{Block, Xact};
use client::connection::{Connection, Received, unexpected_end};
use client::statementlog::{Measured, Work};
use client::timer::Timer;
use hashbrown::HashMap;
use pgerror::{PgError, Result, Severity, SqlState, pg_err};
use settings::Id;
use smallvec::SmallVec;
use stats::{DatabaseField, SessionEnd};
use std::sync::Arc;
use std::time::Duration;
use sync::atomic::Ordering;
use sync::wait::{Interrupt, WaitEvent};
use types::settings::Encoding;
use wire::{Formats, FrontendMessage, backend};

/// A session of a client, or an internal one.
pub struct Session {
    pub state: State,
    pub(crate) instance: Arc<Instance>,
    pub(crate) handle: Arc<SessionHandle>,
    pub(crate) conn: Connection,
    pub(crate) xact: Xact,
    pub(crate) unnamed: Option<Arc<Prepared>>,
    /// Prepared statements of recent Parse texts.
    pub(crate) recent: HashMap<Arc<str>, Arc<Prepared>>,
    /// Column formats of the running utility statement, as requested by its Bind.
    pub(crate) results: Formats,
    /// An error in the extended protocol has occurred: messages are skipped until Sync.
    skip_to_sync: bool,
    /// ReadyForQuery was the last message that was sent. Only then the client is idle.
    ready_sent: bool,
    /// The timer of `statement_timeout` while the messages of an extended query arrive.
    pub(crate) extended_timer: Option<Timer>,
    config_generation: u64,
    /// The reported settings (ParameterStatus), with the values that were sent to the client.
    reported: Vec<(Id, String)>,
    /// CPU time of the thread at the start of the running query, if it is measured.
    pub(crate) metered: Option<client::rusage::Times>,
    /// Cached statements of simple queries.
    pub(crate) slots: Slots,
    pub(crate) params: ParamArrays,
    /// The counts of the session are added to the shared statistics when it was idle so long.
    stats_due: Option<Duration>,
    /// Why the session ends, for the statistics.
    end_cause: SessionEnd,
}

/// The next step after a message.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Next {
    /// Process another message.
    Message,
    /// Send ReadyForQuery, then process another message.
    Ready,
    Quit,
}

impl Session {
    pub(crate) fn new(
        state: State,
        instance: Arc<Instance>,
        handle: Arc<SessionHandle>,
        conn: Connection,
    ) -> Session {
        let config_generation = instance.config_generation();
        let mut state = state;
        state.plans = instance.plans.clone();
        state.environment.base_generation = config_generation;
        // The transactions that prepared the session count as one.
        let database = state.backend.database();
        state.backend.stats.set_database(database);
        state.backend.stats.count(DatabaseField::Commits, 1);
        Session {
            slots: Slots::default(),
            params: ParamArrays::new(),
            state,
            instance,
            handle,
            conn,
            xact: Xact::default(),
            unnamed: None,
            recent: HashMap::new(),
            results: Formats::Text,
            skip_to_sync: false,
            ready_sent: false,
            extended_timer: None,
            config_generation,
            reported: Vec::new(),
            metered: None,
            stats_due: None,
            end_cause: SessionEnd::Normal,
        }
    }

    /// Serves the client until the session ends. A returned error has been reported already.
    pub(crate) fn run(&mut self) -> Result<()> {
        let mut ready = true;
        loop {
            if ready && let Err(e) = self.send_ready() {
                return self.end(e);
            }
            match self.message() {
                Ok(Next::Message) => ready = false,
                Ok(Next::Ready) => ready = true,
                Ok(Next::Quit) => return Ok(()),
                Err(e) => return self.end(e),
            }
        }
    }

    /// Ends the session and drops its temporary tables. Tables that cannot be dropped now are
    /// dropped when another session takes over the schema.
    pub(crate) fn leave(&mut self) {
        self.leave_transaction();
        let now = self.state.now();
        self.state.backend.stats.disconnected(self.end_cause);
        self.state.backend.report_stats(now, true);
    }

    fn leave_transaction(&mut self) {
        self.unlisten_at_end();
        if self.state.backend.in_transaction() {
            self.abort_transaction();
        }
        if !self.state.catalog.temp_namespace.is_valid() {
            return;
        }
        // A pending interrupt that ended the session must not interrupt the cleanup.
        let _ = self.handle.waiter.take();
        self.state.transaction.on_commit.clear();
        self.start_command();
        let snapshot = self.state.backend.snapshot();
        self.state.backend.push_snapshot(snapshot);
        let cleared = define::temp::clear(self).and_then(|()| self.commit_transaction());
        if let Err(e) = cleared {
            self.log_report(&e);
            self.abort_transaction();
        }
    }

    /// Reports an error that ends the session.
    fn end(&mut self, error: PgError) -> Result<()> {
        self.end_cause = match error.code() {
            SqlState::ADMIN_SHUTDOWN => SessionEnd::Killed,
            _ if self.conn.is_lost() => SessionEnd::Abandoned,
            _ => SessionEnd::Fatal,
        };
        if error.fields().severity >= Severity::Panic {
            // No thread may continue after a PANIC, because after a failed write a later one may
            // appear to succeed. The shutdown path reports the error to log and clients; the first
            // thread that reaches this point starts it.
            (self.instance.engine.config().on_panic)(&error);
        }
        if error.fields().severity == Severity::Log {
            // Message boundaries are lost, so no message can be sent to the client.
            self.log_report(&error);
        } else {
            self.report_error(&error);
        }
        let _ = self.conn.flush();
        Err(error)
    }

    fn send_ready(&mut self) -> Result<()> {
        if self.instance.config_generation() != self.config_generation
            && self.state.transaction.block == Block::None
        {
            self.config_generation = self.instance.config_generation();
            self.state.store.set_base(self.instance.base());
            self.state.environment.base_generation = self.config_generation;
            self.state.apply_settings();
        }
        sync::memory::release();
        self.send_notices();
        if std::mem::take(&mut self.state.report_due) {
            self.report_settings();
        }
        let idle = self.state.transaction.block == Block::None;
        let now = self.state.now();
        self.stats_due = None;
        if idle {
            self.receive_notifications();
            self.stats_due = self.state.backend.report_stats(now, false);
        }
        backend::ready_for_query(
            &mut self.conn.out,
            self.xact.status(self.state.transaction.block),
        );
        self.show_waiting(now);
        self.end_metered();
        self.conn.flush()?;
        self.ready_sent = true;
        if idle {
            self.begin_client_wait();
        }
        Ok(())
    }

    /// Sends ParameterStatus for reported settings that have changed.
    pub(crate) fn report_settings(&mut self) {
        let encoder = self.state.values.types.client_encoder.clone();
        self.handle.notifications.lock().encoder.clone_from(&encoder);
        self.conn.encoder = encoder;
        for (id, known) in &mut self.reported {
            let setting = self.state.store.base().registry.setting(*id);
            let value = self.state.store.value(*id);
            let shown = setting.show(value);
            if shown != *known {
                backend::parameter_status(&mut self.conn.out, setting.name, &shown);
                *known = shown;
            }
        }
    }

    /// Sends ParameterStatus for all reported settings, at session start.
    pub(crate) fn begin_reporting(&mut self) {
        let registry = self.state.store.base().registry.clone();
        self.reported = registry
            .ids()
            .filter(|id| registry.setting(*id).flags.report)
            .map(|id| (id, "\0".to_owned()))
            .collect();
        self.report_settings();
    }

    /// Sends pending notices to the client, and to the log according to `log_min_messages`.
    pub(crate) fn send_notices(&mut self) {
        self.state.notices.extend(self.state.backend.take_warnings());
        self.state.notices.extend(self.state.catalog.take_collation_warnings());
        if self.state.notices.is_empty() {
            return;
        }
        let least = self.state.least_severity();
        for notice in std::mem::take(&mut self.state.notices) {
            self.log_report(&notice);
            let severity = notice.fields().severity;
            if severity >= least || severity == Severity::Info {
                backend::report(&mut self.conn.out, &notice);
            }
        }
    }

    /// As [`Session::send_notices`], but sends them at once, without waiting for Flush or Sync.
    /// Counterpart: the end of `send_message_to_frontend`.
    pub(crate) fn send_notices_now(&mut self) -> Result<()> {
        let before = self.conn.mark();
        self.send_notices();
        match self.conn.mark() == before {
            true => Ok(()),
            false => self.conn.flush(),
        }
    }

    /// Writes a report to the server log.
    pub(crate) fn log_report(&self, report: &PgError) {
        self.state.log_report((&self.instance, &self.handle), report);
    }

    /// Sends an error and logs it.
    pub(crate) fn report_error(&mut self, error: &PgError) {
        self.send_notices();
        self.log_report(error);
        backend::report(&mut self.conn.out, error);
    }

    /// The idle timeout of the present state, and its interrupt.
    fn idle_timeout(&self) -> Option<(Duration, Interrupt)> {
        let (span, interrupt) = match self.state.transaction.block {
            Block::None => {
                (self.state.values.resolved.idle_session_timeout, Interrupt::IdleSessionTimeout)
            }
            _ => {
                let span = self.state.values.resolved.idle_in_transaction_timeout;
                (span, Interrupt::IdleInTransactionTimeout)
            }
        };
        span.map(|span| (span, interrupt))
    }

    /// Waits for a message and processes it.
    fn message(&mut self) -> Result<Next> {
        // Within a pipeline there is no idle timeout. Counterpart: the timeouts of `PostgresMain`.
        let idle = if std::mem::take(&mut self.ready_sent) { self.idle_timeout() } else { None };
        self.conn.transport.set_spin(self.state.values.resolved.client_spin);
        let span = idle.map(|(span, _)| span);
        let due = self.stats_due.take().filter(|due| span.is_none_or(|span| *due < span));
        let waiting = self.handle.waiter.waiting(WaitEvent::ClientRead);
        let received = receive_within(&mut self.conn, &mut self.state, due, span);
        drop(waiting);
        self.end_client_wait();
        let frame = match received? {
            Received::Frame(frame) => frame,
            Received::End => return self.client_disconnected(),
            Received::Refused(_, _) if self.skip_to_sync => return Ok(Next::Message),
            Received::Refused(kind, error) => return self.after_error(error, is_extended(kind)),
            Received::TimedOut => {
                return Err(match idle {
                    Some((_, Interrupt::IdleSessionTimeout)) => pg_err!(
                        IDLE_SESSION_TIMEOUT,
                        "terminating connection due to idle-session timeout"
                    ),
                    _ => pg_err!(
                        IDLE_IN_TRANSACTION_SESSION_TIMEOUT,
                        "terminating connection due to idle-in-transaction timeout"
                    ),
                }
                .severity(Severity::Fatal));
            }
        };
        // A client that ends the session itself needs no reason.
        if self.handle.waiter.pending()
            && frame.kind != b'X'
            && self.handle.waiter.take_one(Interrupt::Terminate)
        {
            return Err(terminated());
        }
        if self.skip_to_sync && !matches!(frame.kind, b'S' | b'X') {
            return Ok(Next::Message);
        }
        if self.extended_timer.is_some()
            && let Err(e) = self.state.backend.check_interrupts()
        {
            return self.after_error(e, is_extended(frame.kind));
        }
        self.begin_metered();
        if !matches!(frame.kind, b'S' | b'H') {
            self.statement_begins();
        }
        self.handle.busy.store(true, Ordering::Release);
        let result = if matches!(frame.kind, b'P' | b'B') {
            // These messages may be long, and nothing reads from the connection while they are
            // processed, so their bodies are not copied.
            let inbox = std::mem::take(&mut self.conn.inbox);
            let result = self.dispatch(frame.kind, inbox.body(frame));
            self.conn.inbox = inbox;
            result
        } else {
            let body: SmallVec<[u8; 512]> = SmallVec::from_slice(self.conn.body(frame));
            self.dispatch(frame.kind, &body)
        };
        self.handle.busy.store(false, Ordering::Release);
        if self.handle.waiter.pending() {
            self.handle.waiter.take_one(Interrupt::QueryCancel);
        }
        result
    }

    pub(crate) fn statement_begins(&mut self) {
        self.state.transaction.statement_start = self.state.now();
        // The list may contain rows of a statement that failed with another error.
        self.state.catalog.take_incomparable_rows();
    }

    /// Processes one message and ignores the next step.
    #[cfg(test)]
    pub(crate) fn dispatch_message(&mut self, kind: u8, body: &[u8]) -> Result<()> {
        self.dispatch(kind, body).map(|_| ())
    }

    fn client_disconnected(&mut self) -> Result<Next> {
        if self.handle.waiter.take_one(Interrupt::Terminate) {
            return Err(terminated());
        }
        self.end_cause = SessionEnd::Abandoned;
        if self.state.transaction.block != Block::None {
            self.log_report(&unexpected_end().severity(Severity::Log));
        }
        Ok(Next::Quit)
    }

    fn dispatch(&mut self, kind: u8, body: &[u8]) -> Result<Next> {
        /// Shorter texts cannot be nested so deeply that they need a larger stack.
        const LONG_BYTES: usize = 4096;
        if body.len() > LONG_BYTES || self.state.deep_statements {
            return stdx::stack::wide(|| self.handle(kind, body));
        }
        self.handle(kind, body)
    }

    fn handle(&mut self, kind: u8, body: &[u8]) -> Result<Next> {
        let extended = is_extended(kind);
        let converted = match &self.state.values.resolved.from_client {
            Some(conversion) if !body.is_ascii() => {
                wire::recode::from_client(kind, body, &mut |text| conversion.convert(text))
            }
            _ => Ok(Vec::new()),
        };
        let body = match &converted {
            Ok(converted) if converted.is_empty() => body,
            Ok(converted) => converted,
            Err(e) => return self.after_error(e.clone(), extended),
        };
        let message = match FrontendMessage::decode(kind, body) {
            Ok(message) => message,
            Err(e) if e.fields().severity >= Severity::Fatal => return Err(e),
            Err(e) => return self.after_error(e, extended),
        };
        let measured = match extended {
            true => self.state.measure(Work::Message),
            false => None,
        };
        let result = match message {
            FrontendMessage::Query(text) => {
                self.unnamed = None;
                self.extended_timer = None;
                self.simple_query(text).map(|()| Next::Ready)
            }
            FrontendMessage::Parse(parse) => {
                let done = self.parse_message(&parse);
                self.message_done(measured, done, "PARSE MESSAGE STATISTICS")
            }
            FrontendMessage::Bind(bind) => {
                let done = self.bind_message(bind);
                self.message_done(measured, done, "BIND MESSAGE STATISTICS")
            }
            FrontendMessage::Describe { target, name } => {
                self.describe_message(target, name).map(|()| Next::Message)
            }
            FrontendMessage::Execute { portal, max_rows } => {
                let done = self.execute_message(portal, max_rows);
                self.message_done(measured, done, "EXECUTE MESSAGE STATISTICS")
            }
            FrontendMessage::Close { target, name } => {
                self.close_message(target, name).map(|()| Next::Message)
            }
            FrontendMessage::Flush => {
                self.send_notices();
                self.conn.flush().map(|()| Next::Message)
            }
            FrontendMessage::Sync => {
                self.skip_to_sync = false;
                self.extended_timer = None;
                self.end_implicit_block();
                self.finish_command().map(|()| Next::Ready)
            }
            FrontendMessage::Terminate => return Ok(Next::Quit),
            FrontendMessage::FunctionCall(call) => self.function_call(call).map(|()| Next::Ready),
            // Remaining messages of a failed COPY are ignored.
            FrontendMessage::CopyData(_)
            | FrontendMessage::CopyDone
            | FrontendMessage::CopyFail(_) => Ok(Next::Message),
            FrontendMessage::Password(_) => {
                return Err(wire::violation(format!("invalid frontend message type {kind}")));
            }
        };
        match result {
            Ok(next) => {
                self.state.activity.statement = None;
                Ok(next)
            }
            Err(e) => self.after_error(e, extended),
        }
    }

    /// Ends the processing of a message of the extended protocol.
    fn message_done(
        &mut self,
        measured: Option<Measured>,
        done: Result<()>,
        title: &str,
    ) -> Result<Next> {
        done?;
        self.state.log_measured(measured, title);
        Ok(Next::Message)
    }

    /// Reports an error and prepares the session for the next message.
    fn after_error(&mut self, error: PgError, extended: bool) -> Result<Next> {
        let severity = error.fields().severity;
        if severity >= Severity::Fatal || severity == Severity::Log || self.conn.is_lost() {
            return Err(error);
        }
        self.extended_timer = None;
        self.report_error(&error);
        if extended {
            // A client may have sent Flush, or may send it next, and wait for the error before it
            // sends Sync.
            self.conn.flush()?;
        }
        self.state.activity.statement = None;
        self.fail();
        if self.conn.lost_sync {
            return Err(pg_err!(
                PROTOCOL_VIOLATION,
                "terminating connection because protocol synchronization was lost"
            )
            .severity(Severity::Fatal));
        }
        self.skip_to_sync = extended;
        Ok(if extended { Next::Message } else { Next::Ready })
    }

    /// The text of a message in the database encoding. Error 22021 if it is invalid. With encodings
    /// other than UTF-8, only texts that are valid UTF-8 are accepted.
    pub(crate) fn text<'t>(&self, bytes: &'t [u8]) -> Result<&'t str> {
        let encoding = self.state.values.types.encoding;
        match std::str::from_utf8(bytes) {
            Ok(text) => Ok(text),
            Err(_) if encoding != Encoding::Utf8 => Err(PgError::unsupported(format!(
                "text of a statement in the encoding \"{}\" beyond ASCII",
                encoding.name()
            ))),
            Err(e) => {
                let bad = &bytes[e.valid_up_to()..];
                // The length that the first byte announces.
                let announced = match bad.first() {
                    Some(0xc0..=0xdf) => 2,
                    Some(0xe0..=0xef) => 3,
                    Some(0xf0..=0xf7) => 4,
                    _ => 1,
                };
                let len = bad.len().min(announced);
                let list: Vec<String> = bad[..len].iter().map(|b| format!("0x{b:02x}")).collect();
                Err(PgError::new(
                    SqlState::CHARACTER_NOT_IN_REPERTOIRE,
                    format!("invalid byte sequence for encoding \"UTF8\": {}", list.join(" ")),
                ))
            }
        }
    }
}

pub(crate) fn terminated() -> PgError {
    pg_err!(ADMIN_SHUTDOWN, "terminating connection due to administrator command")
        .severity(Severity::Fatal)
}

/// True for a message of the extended query protocol. After an error in such a message, messages
/// are skipped until Sync.
fn is_extended(kind: u8) -> bool {
    matches!(kind, b'P' | b'B' | b'D' | b'E' | b'C' | b'H')
}

/// Receives a message within `idle`. If none arrives within `due`, which is shorter, the session's
/// counts are added to the shared statistics.
fn receive_within(
    conn: &mut Connection,
    state: &mut State,
    due: Option<Duration>,
    idle: Option<Duration>,
) -> Result<Received> {
    let Some(due) = due else {
        conn.set_timeout(idle);
        return conn.receive();
    };
    conn.set_timeout(Some(due));
    match conn.receive()? {
        Received::TimedOut => {}
        received => return Ok(received),
    }
    let now = state.now();
    state.backend.report_stats(now, true);
    conn.set_timeout(idle.map(|idle| idle - due));
    conn.receive()
}
