//! `pg_node_tree`: expressions and queries as PostgreSQL 15 stores them in its catalogs, as text.
//!
//! `{LABEL :field value …}` is a node, `(…)` a list, `(i …)`, `(o …)`, `(b …)` lists of integers,
//! OIDs and a set, `<>` nothing. PostgreSQL reads fields by position, so the writer keeps its
//! order; our reader goes by name.
//!
//! Counterpart: nodes/outfuncs.c, nodes/readfuncs.c. Field names and order are those of trees that
//! a PostgreSQL 15 wrote.

mod read;
mod text;
mod write;

pub use read::{
    PartitionBound, RangeDatum, read_expr, read_exprs, read_partition_bound, read_queries,
};
pub use write::{write_expr, write_exprs, write_queries, write_query};

#[cfg(test)]
mod tests;
