//! The frontend/backend protocol, version 3, as a codec without sockets.
//!
//! Reading order: `startup` (what opens a connection), `inbox` (the bytes received, cut into
//! frames), `frontend` (frames as messages), `backend` (answers written into a buffer, with
//! `origin` for errors); `password` (how passwords are kept), `scram` (how they are proved).
//!
//! INVARIANT: nothing here trusts a length before the bytes have arrived; a message can make the
//! server hold as many bytes as its sender has sent, never more.
//!
//! Counterpart: pqcomm.c, pqformat.c, the reading half of postgres.c.

#![forbid(unsafe_code)]

pub mod backend;
mod frontend;
mod inbox;
mod origin;
pub mod password;
pub mod scram;
mod startup;

#[cfg(test)]
mod tests;

pub use backend::{DataRow, FieldDescription, Format, TransactionStatus};
pub use frontend::{
    Bind, BindValues, CopyFail, Formats, FrontendMessage, FunctionCall, Parse, Target,
};
pub use inbox::{Frame, Inbox};
pub use startup::{StartupPacket, StartupParameters, refuse_version};

use pgerror::{PgError, Severity, SqlState};

/// A breach of the protocol: the connection is of no use afterwards.
pub fn violation(message: impl Into<String>) -> PgError {
    PgError::new(SqlState::PROTOCOL_VIOLATION, message).severity(Severity::Fatal)
}
