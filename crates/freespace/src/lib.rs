//! The free space map: the free space of each page of a relation, in a fork of its own.
//!
//! The map is only a hint: changes are not logged (except images on truncation), and wrong entries
//! are corrected when found. Reading order: `address` (the tree's pages), `map`, `index`.
//!
//! Counterpart: freespace.c, indexfsm.c (`page::fsm` is fsmpage.c).

#![forbid(unsafe_code)]

mod address;
pub mod index;
mod map;

pub use map::{Fsm, REQUEST_MAX};

#[cfg(test)]
mod tests;
