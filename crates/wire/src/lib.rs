//! A codec of the frontend/backend protocol, version 3, without sockets.
//!
//! Reading order: `startup` (the first packet), `inbox` (the receive buffer and framing),
//! `frontend` (client messages), `backend` (server messages, with `origin` for errors); `password`
//! (stored passwords), `scram` (authentication).
//!
//! INVARIANT: no length is trusted before its bytes have arrived. The memory held for a message is
//! proportional to the bytes received.
//!
//! Counterpart: pqcomm.c, pqformat.c, the reading half of postgres.c.

#![forbid(unsafe_code)]

pub mod backend;
mod frontend;
mod inbox;
mod origin;
pub mod password;
pub mod recode;
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

/// A protocol violation, after which the connection must be closed.
pub fn violation(message: impl Into<String>) -> PgError {
    PgError::new(SqlState::PROTOCOL_VIOLATION, message).severity(Severity::Fatal)
}
