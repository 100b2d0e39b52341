//! LISTEN, NOTIFY and UNLISTEN. Counterpart: commands/async.c.
//!
//! Notifications of a transaction wait for its commit. Then they are delivered to the queue of each
//! listening session of the database. The committing session holds the instance's notify lock from
//! before the commit until the delivery, so that notifications arrive in commit order. A session
//! that waits for its client outside a transaction cannot look into its queue; then the session
//! that delivers also writes to that client. Otherwise the receiving session sends its queue before
//! ReadyForQuery.
//!
//! LOCK ORDER: the notify lock (`Instance::notify_lock`), then a session's queue.

use crate::core::Core;
use crate::instance::{Instance, SessionHandle};
use crate::session::Session;
use crate::transport::Outlet;
use ids::Oid;
use pgerror::{Result, bail};
use std::collections::VecDeque;
use std::io;
use sync::MutexGuard;
use sync::atomic::Ordering;
use wire::backend;

/// Exclusive upper limits of the lengths of channel name and payload, in bytes.
const CHANNEL_BYTES_END: usize = 64;
const PAYLOAD_BYTES_END: usize = 8000;
/// Maximum number of bytes in the queue of a client that does not read.
const WAITING_BYTES_MAX: usize = 16 << 20;

#[derive(Clone, PartialEq, Eq, Debug)]
enum Action {
    Listen(String),
    Unlisten(String),
    UnlistenAll,
}

/// The pending NOTIFY, LISTEN and UNLISTEN of the transaction.
#[derive(Default)]
pub(crate) struct Pending {
    notes: Vec<(String, String)>,
    actions: Vec<Action>,
    /// The lengths of both lists at the start of each open subtransaction.
    levels: Vec<(usize, usize)>,
}

impl Pending {
    pub(crate) fn sub_begin(&mut self) {
        self.levels.push((self.notes.len(), self.actions.len()));
    }

    pub(crate) fn sub_commit(&mut self) {
        self.levels.pop();
    }

    pub(crate) fn sub_abort(&mut self) {
        if let Some((notes, actions)) = self.levels.pop() {
            self.notes.truncate(notes);
            self.actions.truncate(actions);
        }
    }

    pub(crate) fn clear(&mut self) {
        self.notes.clear();
        self.actions.clear();
        self.levels.clear();
    }
}

/// A session's queue of notifications.
#[derive(Default)]
pub(crate) struct NotificationQueue {
    database: Oid,
    channels: Vec<String>,
    /// Encoded protocol messages. A part of the first one may have been sent.
    waiting: VecDeque<u8>,
    /// The output of the client connection, while the session waits for its client.
    idle: Option<Outlet>,
}

impl NotificationQueue {
    /// Sends as much as the client accepts.
    fn send(&mut self) {
        let Some(outlet) = self.idle.clone() else { return };
        while !self.waiting.is_empty() {
            match outlet(self.waiting.make_contiguous()) {
                Ok(n) if n > 0 => drop(self.waiting.drain(..n)),
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                // The session itself sends the rest when its client sends a message.
                _ => return,
            }
        }
    }
}

impl Instance {
    /// Delivers the notifications of a committed transaction.
    fn deliver_notifications(&self, database: Oid, pid: i32, notes: &[(String, String)]) {
        for session in self.sessions() {
            let mut notifications = session.notifications.lock();
            if notifications.database != database || notifications.channels.is_empty() {
                continue;
            }
            let mut bytes = Vec::new();
            for (channel, payload) in notes {
                if notifications.channels.contains(channel) {
                    backend::notification(&mut bytes, pid, channel, payload);
                }
            }
            if notifications.waiting.len() + bytes.len() <= WAITING_BYTES_MAX {
                notifications.waiting.extend(bytes);
                notifications.send();
            }
        }
    }
}

/// Checks a notification and adds it to the pending ones.
pub(crate) fn notify(core: &mut Core, channel: &str, payload: &str) -> Result<()> {
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
    if !core.messages.notes.contains(&note) {
        core.messages.notes.push(note);
    }
    Ok(())
}

/// The channels on which the session listens.
pub(crate) fn channels(handle: &SessionHandle) -> Vec<String> {
    handle.notifications.lock().channels.clone()
}

impl Session {
    pub(crate) fn listen(&mut self, channel: &str) {
        self.core.messages.actions.push(Action::Listen(channel.to_owned()));
    }

    /// UNLISTEN; without a channel, all of them.
    pub(crate) fn unlisten(&mut self, channel: Option<&str>) {
        let action = match channel {
            Some(name) => Action::Unlisten(name.to_owned()),
            None => Action::UnlistenAll,
        };
        self.core.messages.actions.push(action);
    }

    /// Takes the notify lock before the commit, if the transaction has notifications.
    pub(crate) fn take_notify_lock<'i>(
        &self,
        instance: &'i Instance,
    ) -> Option<MutexGuard<'i, ()>> {
        (!self.core.messages.notes.is_empty()).then(|| instance.notify_lock.lock())
    }

    /// Applies the transaction's LISTEN and UNLISTEN and delivers its notifications, after the
    /// commit.
    pub(crate) fn finish_notify(&mut self) {
        let database = self.core.backend.database();
        let actions = std::mem::take(&mut self.core.messages.actions);
        if !actions.is_empty() {
            let mut notifications = self.handle.notifications.lock();
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
            let listeners = &self.instance.listeners;
            match (before, notifications.channels.len()) {
                (0, n) if n > 0 => drop(listeners.fetch_add(1, Ordering::AcqRel)),
                (n, 0) if n > 0 => drop(listeners.fetch_sub(1, Ordering::AcqRel)),
                _ => {}
            }
        }
        let notes = std::mem::take(&mut self.core.messages.notes);
        if !notes.is_empty() && self.instance.listeners.load(Ordering::Acquire) > 0 {
            self.instance.deliver_notifications(database, self.handle.pid, &notes);
        }
    }

    /// Moves received notifications into the replies to the client.
    pub(crate) fn receive_notifications(&mut self) {
        if self.instance.listeners.load(Ordering::Acquire) == 0 {
            return;
        }
        let mut notifications = self.handle.notifications.lock();
        self.conn.out.extend(notifications.waiting.drain(..));
    }

    /// The session begins to wait for its client, after it has sent all replies. Other sessions may
    /// write notifications to the client now.
    pub(crate) fn begin_client_wait(&mut self) {
        if self.instance.listeners.load(Ordering::Acquire) == 0 {
            return;
        }
        let mut notifications = self.handle.notifications.lock();
        if notifications.channels.is_empty() {
            return;
        }
        notifications.idle = self.conn.transport.outlet();
        // Sends notifications that arrived meanwhile.
        notifications.send();
    }

    /// The client has sent a message: other sessions must not write to it any more. The rest of the
    /// queue is sent first.
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
