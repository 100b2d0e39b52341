//! Transaction blocks of a session: BEGIN, COMMIT, ROLLBACK, savepoints, and error handling.
//!
//! ```text
//! None ──start──▶ Single ──BEGIN──▶ Block ──COMMIT, ROLLBACK──▶ None
//!                   │                 │ error: aborted at once, `failed` until the block's end
//!                   ▼ several statements in one message
//!                Implicit
//! ```
//! Savepoint `i` (from 0) has nesting level `i + 2` in the storage engine. An error inside
//! savepoints rolls back the innermost level only; the others are rolled back by ROLLBACK TO or
//! ROLLBACK.
//!
//! Counterpart: access/transam/xact.c (the transaction block states, `TBlockState`).

mod control;

use engine::Isolation;
use pgerror::{PgError, pg_err};
use wire::TransactionStatus;

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Block {
    #[default]
    None,
    /// The transaction of a single statement.
    Single,
    /// Shared by the statements of one simple query message.
    Implicit,
    /// Started by BEGIN.
    Explicit,
}

#[derive(Default)]
pub(crate) struct Xact {
    pub(crate) failed: bool,
    pub(crate) savepoints: Vec<String>,
    /// Portals that an error has ended. Their names are kept until the end of the block.
    pub(crate) dead_portals: Vec<DeadPortal>,
    /// An Execute message has done work in the transaction, which Sync will commit.
    pub(crate) pipelining: bool,
    /// The running statement requires a commit at its end.
    pub(crate) commit_at_once: bool,
    /// The characteristics at the start of the transaction, which an error restores.
    pub(crate) began: Option<Characteristics>,
}

/// A portal that an error has ended; see [`Xact::dead_portals`].
pub(crate) struct DeadPortal {
    pub(crate) name: String,
    pub(crate) has_rows: bool,
    /// The statement is empty, or its Bind failed before the statement was determined.
    pub(crate) is_empty: bool,
}

impl DeadPortal {
    pub(crate) fn of(name: &str, portal: &crate::portal::Portal) -> DeadPortal {
        let is_empty = portal.statement.raw.is_none();
        DeadPortal { name: name.to_owned(), has_rows: portal.fields.is_some(), is_empty }
    }
}

/// Isolation level, READ ONLY and DEFERRABLE.
pub(crate) type Characteristics = (Isolation, bool, bool);

/// The transaction characteristics besides the isolation level.
#[derive(Clone, Copy, Default)]
pub(crate) struct Mode {
    pub(crate) read_only: bool,
    pub(crate) deferrable: bool,
    /// A statement has taken a snapshot.
    pub(crate) queried: bool,
}

impl Xact {
    pub(crate) fn status(&self, block: Block) -> TransactionStatus {
        match block {
            Block::Explicit if self.failed => TransactionStatus::Failed,
            Block::Explicit => TransactionStatus::InBlock,
            _ => TransactionStatus::Idle,
        }
    }
}

/// Error 25P02: the transaction is aborted.
pub(crate) fn aborted() -> PgError {
    pg_err!(
        IN_FAILED_SQL_TRANSACTION,
        "current transaction is aborted, commands ignored until end of transaction block"
    )
}
