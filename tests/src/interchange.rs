//! Data directories that go from Norsu to the real PostgreSQL and back.

mod bank;
mod handover;
mod init;
mod pages;
mod planted;
mod refused;
mod restored;
mod rewind;
mod standby;
mod started;
mod tablespaces;
mod unlogged;
mod upgrade;
mod views;
mod wraparound;
