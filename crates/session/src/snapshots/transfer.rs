//! `pg_export_snapshot()` and SET TRANSACTION SNAPSHOT.

use super::{Exported, Exports};
use crate::core::Core;
use engine::Isolation;
use pgerror::{PgError, Result, pg_err};

/// `pg_export_snapshot()`: returns the name for SET TRANSACTION SNAPSHOT.
pub(crate) fn export(core: &mut Core) -> Result<String> {
    if core.backend.txn.nesting() > 1 {
        return Err(pg_err!(
            ACTIVE_SQL_TRANSACTION,
            "cannot export a snapshot from a subtransaction"
        ));
    }
    let Some((server, _)) = &core.server else {
        return Err(PgError::unsupported("pg_export_snapshot without a server"));
    };
    let server = server.clone();
    let vxid = core.backend.txn.vxid();
    let exports = core.transaction.exports.get_or_insert_with(|| {
        Box::new(Exports { list: server.exported.clone(), names: Vec::new() })
    });
    let (backend, local) = vxid.map_or((0, 0), |v| (v.backend.0, v.local));
    let name = format!("{backend:08X}-{local:08X}-{}", exports.names.len() + 1);
    exports.names.push(name.clone());
    let entry = Exported {
        snapshot: core.backend.txn.export_snapshot(),
        database: core.backend.database(),
        isolation: core.backend.txn.isolation(),
        read_only: core.transaction.mode.read_only,
    };
    server.exported.lock().insert(name.clone(), entry);
    Ok(name)
}

/// SET TRANSACTION SNAPSHOT.
pub(crate) fn import(core: &mut Core, name: &str) -> Result<()> {
    let txn = &mut core.backend.txn;
    if core.transaction.mode.queried || txn.has_first_snapshot() || txn.nesting() > 1 {
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
    let Some((server, _)) = &core.server else { return Err(unknown()) };
    let list = server.exported.lock();
    let found = list.get(name).ok_or_else(unknown)?;
    if serializable && found.isolation != Isolation::Serializable {
        return Err(pg_err!(
            FEATURE_NOT_SUPPORTED,
            "a serializable transaction cannot import a snapshot from a non-serializable \
            transaction"
        ));
    }
    if serializable && found.read_only && !core.transaction.mode.read_only {
        return Err(pg_err!(
            FEATURE_NOT_SUPPORTED,
            "a non-read-only serializable transaction cannot import a snapshot from a read-only \
             transaction"
        ));
    }
    if found.database != core.backend.database() {
        return Err(pg_err!(
            FEATURE_NOT_SUPPORTED,
            "cannot import a snapshot from a different database"
        ));
    }
    core.backend.txn.import_snapshot(&found.snapshot);
    core.transaction.mode.queried = true;
    Ok(())
}
