//! Applies LISTEN and UNLISTEN, and delivers notifications.

use crate::instance::{Instance, SessionHandle};
use crate::session::Session;
use crate::state::State;
use client::notify::Action;
use ids::Oid;
use pgerror::{Result, bail};
use std::sync::Arc;
use sync::MutexGuard;
use sync::atomic::Ordering;
use wire::backend;

/// Exclusive upper limits of the lengths of channel name and payload, in bytes.
const CHANNEL_BYTES_END: usize = 64;

const PAYLOAD_BYTES_END: usize = 8000;

/// Maximum number of bytes in the queue of a client that does not read.
const WAITING_BYTES_MAX: usize = 16 << 20;

/// The unit in which the usage of the queue is reported, in bytes.
const USAGE_UNIT_BYTES: usize = 8 << 10;

impl Instance {
    /// The fraction of the fullest session queue that is in use, in whole units as in PostgreSQL,
    /// which counts pages of its common queue.
    pub(crate) fn notification_queue_usage(&self) -> f64 {
        let waiting = |s: Arc<SessionHandle>| s.notifications.lock().waiting.len();
        let fullest = self.sessions().into_iter().map(waiting).max().unwrap_or(0);
        let used = fullest - fullest % USAGE_UNIT_BYTES;
        used as f64 / WAITING_BYTES_MAX as f64
    }

    /// Delivers the notifications of a committed transaction.
    fn deliver_notifications(&self, database: Oid, pid: i32, notes: &[(String, String)]) {
        for session in self.sessions() {
            let mut notifications = session.notifications.lock();
            if notifications.database != database || notifications.channels.is_empty() {
                continue;
            }
            let mut bytes = Vec::new();
            for (channel, payload) in notes {
                if !notifications.channels.contains(channel) {
                    continue;
                }
                let channel = notifications.encoded(channel);
                let payload = notifications.encoded(payload);
                backend::notification(&mut bytes, pid, &channel, &payload);
            }
            if notifications.waiting.len() + bytes.len() <= WAITING_BYTES_MAX {
                notifications.waiting.extend(bytes);
                notifications.send();
            }
        }
    }
}

/// Checks a notification and adds it to the pending ones.
pub(crate) fn notify(state: &mut State, channel: &str, payload: &str) -> Result<()> {
    if channel.is_empty() {
        bail!(INVALID_PARAMETER_VALUE, "channel name cannot be empty");
    }
    if channel.len() >= CHANNEL_BYTES_END {
        bail!(INVALID_PARAMETER_VALUE, "channel name too long");
    }
    if payload.len() >= PAYLOAD_BYTES_END {
        bail!(INVALID_PARAMETER_VALUE, "payload string too long");
    }
    let note = (channel.to_owned(), payload.to_owned());
    // Duplicate notifications of a transaction are delivered once.
    if !state.transaction.messages.notes.contains(&note) {
        state.transaction.messages.notes.push(note);
    }
    Ok(())
}

/// The channels on which the session listens.
pub(crate) fn channels(handle: &SessionHandle) -> Vec<String> {
    handle.notifications.lock().channels.clone()
}

impl State {
    pub(crate) fn listen(&mut self, channel: &str) {
        self.transaction.messages.actions.push(Action::Listen(channel.to_owned()));
    }

    /// UNLISTEN of one channel, or of all channels.
    pub(crate) fn unlisten(&mut self, channel: Option<&str>) {
        let action = match channel {
            Some(name) => Action::Unlisten(name.to_owned()),
            None => Action::UnlistenAll,
        };
        self.transaction.messages.unlisten(action);
    }

    /// Takes the notify lock before the commit, if the transaction has notifications.
    pub(crate) fn take_notify_lock<'i>(
        &self,
        instance: &'i Instance,
    ) -> Option<MutexGuard<'i, ()>> {
        (!self.transaction.messages.notes.is_empty()).then(|| instance.notify_lock.lock())
    }

    /// Applies the transaction's LISTEN and UNLISTEN and delivers its notifications, after the
    /// commit.
    pub(crate) fn finish_notify(&mut self, instance: &Instance, handle: &SessionHandle) {
        let database = self.backend.database();
        let actions = self.transaction.messages.take_actions();
        if !actions.is_empty() {
            let mut notifications = handle.notifications.lock();
            let before = notifications.channels.len();
            notifications.database = database;
            for action in actions {
                match action {
                    Action::Listen(name) => {
                        if !notifications.channels.contains(&name) {
                            notifications.channels.push(name);
                        }
                    }
                    Action::Unlisten(name) => notifications.channels.retain(|c| *c != name),
                    Action::UnlistenAll => notifications.channels.clear(),
                }
            }
            let listeners = &instance.listeners;
            match (before, notifications.channels.len()) {
                (0, n) if n > 0 => drop(listeners.fetch_add(1, Ordering::AcqRel)),
                (n, 0) if n > 0 => drop(listeners.fetch_sub(1, Ordering::AcqRel)),
                _ => {}
            }
        }
        let notes = std::mem::take(&mut self.transaction.messages.notes);
        if !notes.is_empty() && instance.listeners.load(Ordering::Acquire) > 0 {
            instance.deliver_notifications(database, handle.pid, &notes);
        }
    }
}

impl Session {
    /// Moves received notifications to the replies to the client.
    pub(crate) fn receive_notifications(&mut self) {
        if self.instance.listeners.load(Ordering::Acquire) == 0 {
            return;
        }
        let mut notifications = self.handle.notifications.lock();
        self.conn.out.extend(notifications.waiting.drain(..));
    }

    /// The session begins to wait for its client, after it has sent all replies. From now on other
    /// sessions may write notifications to the client.
    pub(crate) fn begin_client_wait(&mut self) {
        if self.instance.listeners.load(Ordering::Acquire) == 0 {
            return;
        }
        let mut notifications = self.handle.notifications.lock();
        if notifications.channels.is_empty() {
            return;
        }
        notifications.idle = self.conn.transport.client_output();
        // Sends notifications that arrived meanwhile.
        notifications.send();
    }

    /// The client has sent a message, so other sessions must no longer write to the client. The
    /// remaining notifications of the queue are sent first.
    pub(crate) fn end_client_wait(&mut self) {
        if self.instance.listeners.load(Ordering::Acquire) == 0 {
            return;
        }
        let mut notifications = self.handle.notifications.lock();
        if notifications.idle.take().is_some() {
            self.conn.out.extend(notifications.waiting.drain(..));
        }
    }

    /// Clears the queue at the end of the session.
    pub(crate) fn unlisten_at_end(&mut self) {
        let mut notifications = self.handle.notifications.lock();
        notifications.idle = None;
        if !notifications.channels.is_empty() {
            notifications.channels.clear();
            self.instance.listeners.fetch_sub(1, Ordering::AcqRel);
        }
    }
}
