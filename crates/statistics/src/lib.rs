//! The statistics that ANALYZE computes from a sample of the rows of a table.
//!
//! Reading order: `column` (statistics of a column or expression), `special` (types with their own
//! statistics), `slots` (rows of `pg_statistic`), `rows` (expressions over a sample), `index`
//! (expressions of indexes), `extended` (statistics objects), `tree` (tables with children),
//! `load` (what the planner reads). //! Counterpart: analyze.c.

#![forbid(unsafe_code)]

pub mod column;
pub mod extended;
pub mod index;
pub mod load;
mod rows;
mod slots;
mod special;
pub mod tree;
