//! LISTEN, NOTIFY and UNLISTEN. Counterpart: commands/async.c.
//!
//! Notifications of a transaction are delivered after its commit to the queue of each listening
//! session of the database. The committing session holds the instance's notify lock from before the
//! commit until the delivery, so that notifications arrive in commit order. A session that waits
//! for its client outside a transaction cannot read its queue; then the delivering session also
//! writes to that client. Otherwise the receiving session sends its queue before ReadyForQuery.
//!
//! LOCK ORDER: the notify lock (`Instance::notify_lock`), then the queue of a session.

use crate::transport::ClientOutput;
use ids::Oid;
use std::borrow::Cow;
use std::collections::VecDeque;
use std::io;
use std::sync::Arc;
use types::settings::TextEncoder;

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Action {
    Listen(String),
    Unlisten(String),
    UnlistenAll,
}

/// The pending NOTIFY, LISTEN and UNLISTEN of the transaction.
#[derive(Default)]
pub struct Pending {
    pub notes: Vec<(String, String)>,
    pub actions: Vec<Action>,
    /// The lengths of both lists at the start of each open subtransaction.
    pub levels: Vec<(usize, usize)>,
    /// The session has committed a LISTEN.
    has_listened: bool,
}

impl Pending {
    /// Adds an UNLISTEN, unless the session cannot be listening. Counterpart: `Async_Unlisten`.
    pub fn unlisten(&mut self, action: Action) {
        if self.has_listened || !self.actions.is_empty() {
            self.actions.push(action);
        }
    }

    /// Removes and returns the LISTEN and UNLISTEN of a committed transaction.
    pub fn take_actions(&mut self) -> Vec<Action> {
        let actions = std::mem::take(&mut self.actions);
        self.has_listened |= actions.iter().any(|a| matches!(a, Action::Listen(_)));
        actions
    }

    pub fn is_empty(&self) -> bool {
        self.notes.is_empty() && self.actions.is_empty()
    }

    pub fn sub_begin(&mut self) {
        self.levels.push((self.notes.len(), self.actions.len()));
    }

    pub fn sub_commit(&mut self) {
        self.levels.pop();
    }

    pub fn sub_abort(&mut self) {
        if let Some((notes, actions)) = self.levels.pop() {
            self.notes.truncate(notes);
            self.actions.truncate(actions);
        }
    }

    pub fn clear(&mut self) {
        self.notes.clear();
        self.actions.clear();
        self.levels.clear();
    }
}

/// A session's queue of notifications.
#[derive(Default)]
pub struct NotificationQueue {
    pub database: Oid,
    pub channels: Vec<String>,
    /// Converts texts for the client; `None` if they are sent as they are.
    pub encoder: Option<Arc<dyn TextEncoder>>,
    /// Encoded protocol messages. A part of the first one may have been sent already.
    pub waiting: VecDeque<u8>,
    /// The output of the client connection while the session waits for its client.
    pub idle: Option<ClientOutput>,
}

impl NotificationQueue {
    /// Sends the number of bytes that the client accepts without blocking.
    pub fn send(&mut self) {
        let Some(client_output) = self.idle.clone() else { return };
        while !self.waiting.is_empty() {
            match client_output(self.waiting.make_contiguous()) {
                Ok(n) if n > 0 => drop(self.waiting.drain(..n)),
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                // The session itself sends the remaining bytes when its client sends a message.
                _ => return,
            }
        }
    }

    /// The text in the encoding of the client.
    pub fn encoded<'t>(&self, text: &'t str) -> Cow<'t, [u8]> {
        match &self.encoder {
            None => Cow::Borrowed(text.as_bytes()),
            Some(encoder) => {
                let mut out = Vec::with_capacity(text.len());
                encoder.encode_lossy(text.as_bytes(), &mut out);
                Cow::Owned(out)
            }
        }
    }
}
