//! COMMIT and ROLLBACK in procedures and DO. Counterpart: `SPI_commit`, `SPI_rollback` of spi.c.

use crate::core::Core;
use crate::nested::Nested;
use pgerror::{PgError, Result, pg_err};

/// Commits the transaction or rolls it back, and starts another one, with the same characteristics
/// if `chain` is true.
pub(super) fn end(core: &mut Core, commit: bool, chain: bool) -> Result<()> {
    if core.backend.txn.nesting() > 1 {
        let what = if commit { "commit" } else { "roll back" };
        return Err(pg_err!(
            INVALID_TRANSACTION_TERMINATION,
            "cannot {what} while a subtransaction is active"
        ));
    }
    if core.calls.contexts.is_in_writing_loop() {
        return Err(pg_err!(
            OBJECT_NOT_IN_PREREQUISITE_STATE,
            "cannot perform transaction commands inside a cursor loop that is not read-only"
        ));
    }
    core.hold_pinned_portals()?;
    core.hold_streams()?;
    let Some((instance, handle)) = core.server.clone() else {
        return Err(PgError::internal("COMMIT in a session without an instance"));
    };
    let (mode, isolation) = (core.transaction.mode, core.backend.txn.isolation());
    let snapshots = core.backend.snapshot_depth();
    if commit {
        core.before_commit(false)?;
        if !core.transaction.on_commit.is_empty() {
            let tables = std::mem::take(&mut core.transaction.on_commit);
            let kept = commands::on_commit::before_commit(&mut Nested::new(core), &tables)?;
            core.transaction.on_commit = kept;
        }
        core.backend.truncate_snapshots(0);
        core.commit_storage(&instance, &handle)?;
    } else {
        core.abort_storage()?;
    }
    core.end_transaction();
    let now = core.now();
    let resolved = &core.values.resolved;
    core.transaction.mode.read_only = resolved.read_only;
    core.transaction.mode.deferrable = resolved.deferrable;
    let next = if chain { isolation } else { resolved.isolation };
    if chain {
        core.transaction.mode = mode;
    }
    core.transaction.start = now;
    core.backend.begin_at(next, now);
    // The callers remove the snapshots that they have made active.
    for _ in 0..snapshots {
        let snapshot = core.backend.snapshot();
        core.backend.push_snapshot(snapshot);
    }
    Ok(())
}
