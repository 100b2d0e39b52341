//! Notices of functions, which are sent while their statement runs: a client may wait for one
//! before it cancels the statement or ends what it waits for. Also the filter of notices and the
//! log of reports. Counterpart: the end of `send_message_to_frontend`.

use crate::instance::{Instance, SessionHandle};
use crate::session::Session;
use crate::state::State;
use client::SEND_INTERVAL;
use parameters::command_of;
use pgerror::{PgError, Severity};
use wire::backend;

impl Session {
    /// Does a part of a statement that sends nothing to the client. Notices are sent at once, if
    /// the client's connection permits that.
    pub(crate) fn computing<T>(&mut self, work: impl FnOnce(&mut Session) -> T) -> T {
        let is_direct = self.conn.encoder.is_none() && !self.conn.buffers_all;
        let Some(early) = &mut self.state.early else { return work(self) };
        if early.is_open || !is_direct || self.conn.is_lost() {
            return work(self);
        }
        early.is_open = true;
        std::mem::swap(&mut early.pending, &mut self.conn.out);
        let result = work(self);
        if let Some(early) = &mut self.state.early {
            early.is_open = false;
            std::mem::swap(&mut early.pending, &mut self.conn.out);
            self.conn.out.append(&mut early.pending);
            if std::mem::take(&mut early.has_sent) {
                self.conn.note_flush();
            }
        }
        result
    }
}

impl State {
    /// Keeps a notice until it is sent, unless the client does not get it.
    pub(crate) fn add_notice(&mut self, mut notice: PgError) {
        let severity = notice.fields().severity;
        if severity >= self.least_severity() || severity == Severity::Info {
            return self.notices.push(notice);
        }
        if let Some((instance, handle)) = &self.server
            && instance.log.wants(&self.activity.client, &notice)
        {
            notice.fields_mut().context.extend(self.calls.contexts.lines());
            self.log_report((instance, handle), &notice);
        }
    }

    /// `client_min_messages`. For clients, LOG ranks between DEBUG and NOTICE.
    pub(crate) fn least_severity(&self) -> Severity {
        match self.store.named("client_min_messages").as_text() {
            "error" => Severity::Error,
            "warning" => Severity::Warning,
            "notice" | "info" => Severity::Notice,
            "log" => Severity::Log,
            "debug1" => Severity::Debug,
            _ => Severity::Debug2,
        }
    }

    /// Writes a report to the server log.
    pub(crate) fn log_report(
        &self,
        (instance, handle): (&Instance, &SessionHandle),
        report: &PgError,
    ) {
        // The test avoids a copy of the statement text for each notice.
        if !instance.log.wants(&self.activity.client, report) {
            return;
        }
        let mut origin = self.activity.client.clone();
        let running;
        let statement = match report.fields().severity {
            Severity::Error | Severity::Fatal | Severity::Panic => {
                self.activity.statement.as_deref()
            }
            // What an internal session does is no statement.
            _ if !handle.is_client() => None,
            // Some running statements have not set `state.activity.statement`.
            _ => {
                running = handle.activity.running();
                running.as_deref()
            }
        };
        origin.command = statement.map_or("idle".to_owned(), command_of);
        origin.vxid = self.backend.txn.vxid().map(|v| (v.backend.0, v.local));
        origin.query_id = handle.activity.get_query_id();
        origin.xid = self.backend.txn.top_xid_if_any().0;
        instance.log.write(&origin, report, statement);
    }

    /// Sends the notices so far if the running statement permits that; returns how many are left.
    pub(crate) fn send_early_notices(&mut self) -> usize {
        if self.notices.is_empty() {
            return 0;
        }
        let Some(mut early) = self.early.take_if(|early| early.is_open) else {
            return self.notices.len();
        };
        let least = self.least_severity();
        for notice in std::mem::take(&mut self.notices) {
            if let Some((instance, handle)) = &self.server {
                self.log_report((instance, handle), &notice);
            }
            let severity = notice.fields().severity;
            if severity >= least || severity == Severity::Info {
                backend::report(&mut early.pending, &notice);
            }
        }
        while early.send() && self.backend.check_interrupts().is_ok() {
            sync::sleep(SEND_INTERVAL);
        }
        self.early = Some(early);
        0
    }
}
