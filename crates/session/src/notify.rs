//! LISTEN, NOTIFY and UNLISTEN. Counterpart: async.c.
//!
//! What a transaction says waits for its commit. Then each listening session of the database gets
//! it into its mailbox, in the order of the commits: who has something to say holds the instance's
//! post from before the commit until it is delivered. A session that waits for its client's next
//! statement outside of a transaction cannot look into its mailbox, so whoever fills it writes to
//! the client in its place; otherwise the session does before it says that it is ready.
//!
//! LOCK ORDER: the post, then a mailbox.

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

/// Longest channel name and payload, in bytes, and one more.
const CHANNEL_BYTES_END: usize = 64;
const PAYLOAD_BYTES_END: usize = 8000;
/// Bytes that may wait for a client that reads nothing.
const WAITING_BYTES_MAX: usize = 16 << 20;

#[derive(Clone, PartialEq, Eq, Debug)]
enum Action {
    Listen(String),
    Unlisten(String),
    UnlistenAll,
}

/// What the open transaction has asked for.
#[derive(Default)]
pub(crate) struct Pending {
    notes: Vec<(String, String)>,
    actions: Vec<Action>,
    /// Lengths of both where the open subtransactions began.
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

/// A session's notifications.
#[derive(Default)]
pub(crate) struct Mailbox {
    database: Oid,
    channels: Vec<String>,
    /// Messages of the protocol, ready to be sent; of the first, a part may have been sent.
    waiting: VecDeque<u8>,
    /// While the session waits for its client: the way to it.
    idle: Option<Outlet>,
}

impl Mailbox {
    /// Sends what the client takes.
    fn send(&mut self) {
        let Some(outlet) = self.idle.clone() else { return };
        while !self.waiting.is_empty() {
            match outlet(self.waiting.make_contiguous()) {
                Ok(n) if n > 0 => drop(self.waiting.drain(..n)),
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                // The session itself sends the rest when its client speaks.
                _ => return,
            }
        }
    }
}

impl Instance {
    /// Delivers what a transaction has said.
    fn post(&self, database: Oid, pid: i32, notes: &[(String, String)]) {
        for session in self.sessions() {
            let mut mailbox = session.mailbox.lock();
            if mailbox.database != database || mailbox.channels.is_empty() {
                continue;
            }
            let mut bytes = Vec::new();
            for (channel, payload) in notes {
                if mailbox.channels.contains(channel) {
                    backend::notification(&mut bytes, pid, channel, payload);
                }
            }
            if mailbox.waiting.len() + bytes.len() <= WAITING_BYTES_MAX {
                mailbox.waiting.extend(bytes);
                mailbox.send();
            }
        }
    }
}

/// Checks, and notes, a notification.
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
    // The same said twice in one subtransaction, or in those around it, is said once.
    if !core.messages.notes.contains(&note) {
        core.messages.notes.push(note);
    }
    Ok(())
}

/// The channels on which the session listens.
pub(crate) fn channels(handle: &SessionHandle) -> Vec<String> {
    handle.mailbox.lock().channels.clone()
}

impl Session {
    pub(crate) fn listen(&mut self, channel: &str) {
        self.core.messages.actions.push(Action::Listen(channel.to_owned()));
    }

    /// Without a name: all of them.
    pub(crate) fn unlisten(&mut self, channel: Option<&str>) {
        let action = match channel {
            Some(name) => Action::Unlisten(name.to_owned()),
            None => Action::UnlistenAll,
        };
        self.core.messages.actions.push(action);
    }

    /// Before the commit: with something to say, the right to say it next.
    pub(crate) fn take_post<'i>(&self, instance: &'i Instance) -> Option<MutexGuard<'i, ()>> {
        (!self.core.messages.notes.is_empty()).then(|| instance.post.lock())
    }

    /// After the commit: what the transaction asked for happens.
    pub(crate) fn settle_messages(&mut self) {
        let database = self.core.backend.database();
        let actions = std::mem::take(&mut self.core.messages.actions);
        if !actions.is_empty() {
            let mut mailbox = self.handle.mailbox.lock();
            let before = mailbox.channels.len();
            mailbox.database = database;
            for action in actions {
                match action {
                    Action::Listen(name) => {
                        if !mailbox.channels.contains(&name) {
                            mailbox.channels.push(name);
                        }
                    }
                    Action::Unlisten(name) => mailbox.channels.retain(|c| *c != name),
                    Action::UnlistenAll => mailbox.channels.clear(),
                }
            }
            let listeners = &self.instance.listeners;
            match (before, mailbox.channels.len()) {
                (0, n) if n > 0 => drop(listeners.fetch_add(1, Ordering::AcqRel)),
                (n, 0) if n > 0 => drop(listeners.fetch_sub(1, Ordering::AcqRel)),
                _ => {}
            }
        }
        let notes = std::mem::take(&mut self.core.messages.notes);
        if !notes.is_empty() && self.instance.listeners.load(Ordering::Acquire) > 0 {
            self.instance.post(database, self.handle.pid, &notes);
        }
    }

    /// Puts what has come among the answers to the client.
    pub(crate) fn take_mail(&mut self) {
        if self.instance.listeners.load(Ordering::Acquire) == 0 {
            return;
        }
        let mut mailbox = self.handle.mailbox.lock();
        self.conn.out.extend(mailbox.waiting.drain(..));
    }

    /// The session waits for its client from here on, all that it had to say having been sent:
    /// others may write in its place.
    pub(crate) fn rest(&mut self) {
        if self.instance.listeners.load(Ordering::Acquire) == 0 {
            return;
        }
        let mut mailbox = self.handle.mailbox.lock();
        if mailbox.channels.is_empty() {
            return;
        }
        mailbox.idle = self.conn.transport.outlet();
        // What has come since.
        mailbox.send();
    }

    /// The client has spoken: nobody else writes to it. What others could not send goes first.
    pub(crate) fn wake(&mut self) {
        if self.instance.listeners.load(Ordering::Acquire) == 0 {
            return;
        }
        let mut mailbox = self.handle.mailbox.lock();
        if mailbox.idle.take().is_some() {
            self.conn.out.extend(mailbox.waiting.drain(..));
        }
    }

    /// The session ends.
    pub(crate) fn unlisten_at_end(&mut self) {
        let mut mailbox = self.handle.mailbox.lock();
        mailbox.idle = None;
        if !mailbox.channels.is_empty() {
            mailbox.channels.clear();
            self.instance.listeners.fetch_sub(1, Ordering::AcqRel);
        }
    }
}
