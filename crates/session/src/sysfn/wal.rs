//! Positions in the write-ahead log, and transaction ids. Counterpart: xlogfuncs.c, xid8funcs.c.

use super::{SysCall, SysFn};
use types::Datum;

pub(super) const FNS: &[SysFn] = &[
    SysFn {
        name: "pg_current_wal_lsn",
        call: SysCall::One(|c, _| Ok(Datum::int8(c.backend.storage().wal.written().0 as i64))),
    },
    SysFn {
        name: "pg_current_wal_insert_lsn",
        call: SysCall::One(|c, _| Ok(Datum::int8(c.backend.storage().wal.inserted().0 as i64))),
    },
    SysFn {
        name: "pg_current_wal_flush_lsn",
        call: SysCall::One(|c, _| Ok(Datum::int8(c.backend.storage().wal.flushed().0 as i64))),
    },
    SysFn { name: "pg_is_in_recovery", call: SysCall::One(|_, _| Ok(Datum::bool(false))) },
    SysFn { name: "pg_is_wal_replay_paused", call: SysCall::One(|_, _| Ok(Datum::bool(false))) },
    SysFn {
        name: "pg_current_xact_id",
        call: SysCall::One(|c, _| {
            c.backend.txn.top_xid()?;
            Ok(Datum::int8(c.backend.txn.full_xid_if_any().0 as i64))
        }),
    },
    SysFn {
        name: "pg_current_xact_id_if_assigned",
        call: SysCall::One(|c, _| {
            let xid = c.backend.txn.full_xid_if_any();
            Ok(if xid.0 == 0 { Datum::Null } else { Datum::int8(xid.0 as i64) })
        }),
    },
];
