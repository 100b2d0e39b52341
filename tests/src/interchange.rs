//! Data directories that are used by Norsu and by the real PostgreSQL in turn.

mod autovacuum;
mod bank;
mod described;
mod handover;
mod indexed;
mod init;
mod locales;
mod pages;
mod partitions;
mod planted;
mod refused;
mod restored;
mod rewind;
mod standby;
mod started;
mod stored;
mod tablespaces;
mod unlogged;
mod upgrade;
mod views;
mod wraparound;
