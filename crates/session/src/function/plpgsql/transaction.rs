//! COMMIT and ROLLBACK in procedures and DO. Counterpart: `SPI_commit`, `SPI_rollback` of spi.c.

use crate::nested::Nested;
use crate::state::State;
use pgerror::{PgError, Result, pg_err};

/// Commits the transaction or rolls it back, and starts another one, with the same characteristics
/// if `chain` is true.
pub(super) fn end(state: &mut State, commit: bool, chain: bool) -> Result<()> {
    if state.backend.txn.nesting() > 1 {
        let what = if commit { "commit" } else { "roll back" };
        return Err(pg_err!(
            INVALID_TRANSACTION_TERMINATION,
            "cannot {what} while a subtransaction is active"
        ));
    }
    if state.calls.contexts.is_in_writing_loop() {
        return Err(pg_err!(
            OBJECT_NOT_IN_PREREQUISITE_STATE,
            "cannot perform transaction commands inside a cursor loop that is not read-only"
        ));
    }
    state.hold_pinned_portals()?;
    state.hold_streams()?;
    let Some((instance, handle)) = state.server.clone() else {
        return Err(PgError::internal("COMMIT in a session without an instance"));
    };
    let (mode, isolation) = (state.transaction.mode, state.backend.txn.isolation());
    let snapshots = state.backend.snapshot_depth();
    if commit {
        state.before_commit(false)?;
        if !state.transaction.on_commit.is_empty() {
            let tables = std::mem::take(&mut state.transaction.on_commit);
            let kept = commands::on_commit::before_commit(&mut Nested::new(state), &tables)?;
            state.transaction.on_commit = kept;
        }
        state.backend.truncate_snapshots(0);
        state.commit_storage(&instance, &handle)?;
    } else {
        state.abort_storage()?;
    }
    state.end_transaction();
    let now = state.now();
    let resolved = &state.values.resolved;
    state.transaction.mode.read_only = resolved.read_only;
    state.transaction.mode.deferrable = resolved.deferrable;
    let next = if chain { isolation } else { resolved.isolation };
    if chain {
        state.transaction.mode = mode;
    }
    state.transaction.start = now;
    state.backend.begin_at(next, now);
    // The callers remove the snapshots that they have made active.
    for _ in 0..snapshots {
        let snapshot = state.backend.snapshot();
        state.backend.push_snapshot(snapshot);
    }
    Ok(())
}
