//! `pg_export_snapshot()` and SET TRANSACTION SNAPSHOT.

use super::{Exported, Exports};
use crate::state::State;
use engine::Isolation;
use pgerror::{PgError, Result, pg_err};

/// `pg_export_snapshot()`: returns the name for SET TRANSACTION SNAPSHOT.
pub(crate) fn export(state: &mut State) -> Result<String> {
    if state.backend.txn.nesting() > 1 {
        return Err(pg_err!(
            ACTIVE_SQL_TRANSACTION,
            "cannot export a snapshot from a subtransaction"
        ));
    }
    let Some((server, _)) = &state.server else {
        return Err(PgError::unsupported("pg_export_snapshot without a server"));
    };
    let server = server.clone();
    let vxid = state.backend.txn.vxid();
    let exports = state.transaction.exports.get_or_insert_with(|| {
        Box::new(Exports { list: server.exported.clone(), names: Vec::new() })
    });
    let (backend, local) = vxid.map_or((0, 0), |v| (v.backend.0, v.local));
    let name = format!("{backend:08X}-{local:08X}-{}", exports.names.len() + 1);
    exports.names.push(name.clone());
    let entry = Exported {
        snapshot: state.backend.txn.export_snapshot(),
        database: state.backend.database(),
        isolation: state.backend.txn.isolation(),
        read_only: state.transaction.mode.read_only,
    };
    server.exported.lock().insert(name.clone(), entry);
    Ok(name)
}

/// SET TRANSACTION SNAPSHOT.
pub(crate) fn import(state: &mut State, name: &str) -> Result<()> {
    let txn = &mut state.backend.txn;
    if state.transaction.mode.queried || txn.has_first_snapshot() || txn.nesting() > 1 {
        return Err(pg_err!(
            ACTIVE_SQL_TRANSACTION,
            "SET TRANSACTION SNAPSHOT must be called before any query"
        ));
    }
    let serializable = txn.isolation() == Isolation::Serializable;
    if !txn.isolation().uses_transaction_snapshot() {
        return Err(pg_err!(
            FEATURE_NOT_SUPPORTED,
            "a snapshot-importing transaction must have isolation level SERIALIZABLE or \
            REPEATABLE READ"
        ));
    }
    let unknown = || pg_err!(INVALID_PARAMETER_VALUE, "invalid snapshot identifier: \"{name}\"");
    let Some((server, _)) = &state.server else { return Err(unknown()) };
    let list = server.exported.lock();
    let found = list.get(name).ok_or_else(unknown)?;
    if serializable && found.isolation != Isolation::Serializable {
        return Err(pg_err!(
            FEATURE_NOT_SUPPORTED,
            "a serializable transaction cannot import a snapshot from a non-serializable \
            transaction"
        ));
    }
    if serializable && found.read_only && !state.transaction.mode.read_only {
        return Err(pg_err!(
            FEATURE_NOT_SUPPORTED,
            "a non-read-only serializable transaction cannot import a snapshot from a read-only \
             transaction"
        ));
    }
    if found.database != state.backend.database() {
        return Err(pg_err!(
            FEATURE_NOT_SUPPORTED,
            "cannot import a snapshot from a different database"
        ));
    }
    state.backend.txn.import_snapshot(&found.snapshot);
    state.transaction.mode.queried = true;
    Ok(())
}
