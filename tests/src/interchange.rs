//! Data directories that are used by Norsu and by PostgreSQL in turn.

mod alternating;
mod autovacuum;
mod bank;
mod bloom_indexes;
mod fault_injection;
mod gin_indexes;
mod hash_indexes;
mod index_entries;
mod init;
mod locales;
mod pages;
mod partitions;
mod postgres_objects;
mod restored_dumps;
mod rewind;
mod rewritten_catalogs;
mod standby;
mod stored_expressions;
mod tablespaces;
mod trees;
mod unlogged;
mod unsupported_directories;
mod unsupported_objects;
mod upgrade;
mod views;
mod wraparound;
