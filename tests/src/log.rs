//! Tests of the write-ahead log: `norsu waldump` compared with pg_waldump, numbers of bytes,
//! full-page images and syncs, the counters of the statistics views, the start of checkpoints,
//! `wal_level = minimal`, corruption, a log that cannot be written, the server's messages about
//! these events, and the CPU usage of statements.

mod checkpoints;
mod counters;
mod damage;
mod levels;
mod log_failure;
mod minimal;
mod usage;
mod volume;
mod waldump;
