//! Transactions: pg_xact, snapshots, multixacts, subtransactions.

#![forbid(unsafe_code)]
