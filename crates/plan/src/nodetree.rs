//! `pg_node_tree`: the text form in which PostgreSQL 15 stores expressions and queries in its
//! catalogs.
//!
//! `{LABEL :field value …}` is a node, `(…)` a list, `(i …)` a list of integers, `(o …)` a list of
//! OIDs, `(b …)` a bitmapset, `<>` a null pointer. PostgreSQL reads fields by position, so the
//! writer keeps its order; the reader here finds fields by name.
//!
//! Counterpart: nodes/outfuncs.c, nodes/readfuncs.c. Field names and order are taken from trees
//! that PostgreSQL 15 wrote.

mod read;
mod text;
mod write;

pub use read::{
    PartitionBound, RangeDatum, read_expr, read_exprs, read_partition_bound, read_queries,
};
pub use write::{
    BoundPlaces, write_expr, write_exprs, write_partition_bound, write_queries, write_query,
};

#[cfg(test)]
mod tests;
