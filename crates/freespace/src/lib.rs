//! The free space map: how much room each page of a relation has, in a fork of its own.
//!
//! A hint, never the truth: not logged (but for images when it is cut), repaired where it is found
//! wrong. Reading order: `address` (the tree's pages), `map`, `index`.
//!
//! Counterpart: freespace.c, indexfsm.c (`page::fsm` is fsmpage.c).

#![forbid(unsafe_code)]

mod address;
pub mod index;
mod map;

pub use map::{Fsm, REQUEST_MAX};

#[cfg(test)]
mod tests;
