//! Commit and abort, which order storage and cache invalidation.
//!
//! INVARIANT: caches are invalidated before locks are released, so that a session that waited for a
//! lock does not find stale entries.
//!
//! ```text
//! commit record with the messages → pg_xact → removal from the proc array
//!   → cache invalidation → release of locks
//! ```

use crate::inval::Message;
use crate::session::CatSession;
use crate::shared::Catalogs;
use engine::{Backend, CommitExtras, DroppedStats};
use ids::{Lsn, Oid};
use pgerror::Result;

impl CatSession {
    /// Commits the transaction with the session's invalidations in its commit record and publishes
    /// them.
    pub fn commit(
        &mut self,
        backend: &mut Backend,
        catalogs: &Catalogs,
        dropped_stats: Vec<DroppedStats>,
        force_sync: bool,
    ) -> Result<Lsn> {
        let messages = self.overlay.messages();
        let mut publish = || catalogs.publish(&messages);
        let extras = CommitExtras {
            invalidations: messages.iter().map(Message::to_bytes).collect(),
            relcache_init_file: messages.iter().any(concerns_init_file),
            dropped_stats,
            force_sync,
            publish: if messages.is_empty() { None } else { Some(&mut publish) },
        };
        let end = backend.commit(extras)?;
        self.overlay.end_transaction();
        Ok(end)
    }

    /// Aborts the transaction and discards the session's view of its changes.
    pub fn abort(&mut self, backend: &mut Backend) -> Result<()> {
        self.overlay.end_transaction();
        backend.abort()
    }
}

/// PostgreSQL stores descriptors of the most important catalogs in the relcache init file. A
/// standby must remove the file when one of them changes.
fn concerns_init_file(message: &Message) -> bool {
    match message {
        Message::RelCache { relation, .. } => *relation < Oid::FIRST_UNPINNED,
        _ => false,
    }
}
