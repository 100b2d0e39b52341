//! The free space map: how much room each page of a relation has, in a fork of its own.
//!
//! A hint, never the truth: not logged (but for images when it is cut), repaired where it is found wrong.
//! Counterpart: freespace.c, fsmpage.c, indexfsm.c.

#![forbid(unsafe_code)]

pub mod index;
mod map;

pub use map::Fsm;
