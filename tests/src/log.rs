//! The write-ahead log: `norsu waldump` beside pg_waldump, counted bytes, images and syncs, the counters
//! themselves, damage, a log that cannot go on, and what statements use of the processors.

mod counted;
mod counters;
mod damage;
mod lost;
mod usage;
mod waldump;
