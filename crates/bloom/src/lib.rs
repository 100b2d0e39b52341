//! Bloom indexes, the access method of extension `bloom`: an entry is a signature of the values of
//! all columns, and a scan reads all of them. The format is that of PostgreSQL 15.
//!
//! Each value sets some bits of a signature, chosen by its hash and its column. A row can satisfy
//! `=` conditions only if its signature has all bits that their values set. So the rows found must
//! be checked again.
//!
//! Reading order: `page::bloom` (the format), `signature`, `index` (the handle), `build`, `insert`,
//! `scan`, `vacuum`, `verify`, `am` (the traits of `access`).
//!
//! LOCK ORDER: the metapage before one page of tuples. Scans and VACUUM hold one page.
//!
//! WAL: generic records (`access::generic`); images of the pages of a build.
//!
//! Counterpart: contrib/bloom.

#![forbid(unsafe_code)]

mod am;
mod build;
mod index;
mod insert;
mod scan;
mod signature;
mod vacuum;
mod verify;

#[cfg(test)]
mod tests;

pub use am::{Bloom, INFO};
