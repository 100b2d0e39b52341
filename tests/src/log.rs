//! The write-ahead log: `norsu waldump` beside pg_waldump, counted bytes, images and syncs, the
//! counters themselves, when checkpoints begin, what is logged under `wal_level = minimal`, damage,
//! a log that cannot go on, what the server's log has of all that, and what statements use of the
//! processors.

mod checkpoints;
mod counted;
mod counters;
mod damage;
mod levels;
mod lost;
mod minimal;
mod usage;
mod waldump;
