//! The write-ahead log: `norsu waldump` beside pg_waldump, counted bytes, images and syncs, and damage.

mod counted;
mod damage;
mod waldump;
