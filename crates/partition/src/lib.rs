//! Inheritance and partitions: the trees of `pg_inherits`, partition keys and bounds, the
//! descriptor that finds the partition of a row, and partition constraints.
//!
//! Reading order: `key`, `bound`, `desc` (the descriptor, cached with the relation's), `check` (a
//! new bound beside the existing ones), `qual` (partition constraints), `tree` (`pg_inherits`),
//! `map` (columns of parent and child), `prune` (partitions that may have rows with certain keys),
//! `merge` (the partitions of a join). The design is in `docs/design/0014-partitions.md`.
//!
//! INVARIANT: this crate takes no locks. The caller has locked the relations whose descriptors it
//! passes.

#![forbid(unsafe_code)]

mod bound;
mod check;
mod desc;
mod key;
mod map;
mod merge;
mod prune;
mod qual;
mod tree;

#[cfg(test)]
mod tests;

pub use bound::{Bound, RangeDatum, read_bound};
pub use check::{Conflict, Place, conflict};
pub use desc::{Bounds, Partition, PartitionDesc, partition_desc};
pub use key::{
    HASH_PARTITION_SEED, HashCall, HashSupport, KeyColumn, KeySupport, NoCall, PartitionKey,
    SupportCall, hash_matches, hash_support, partition_key,
};
pub use map::{column_map, map_columns, map_columns_of, map_to_child};
pub use merge::{Layout, Merged};
pub use prune::{PartitionSet, PruneHost};
pub use qual::{conjunction, partition_qual, qual_of_bound};
pub use tree::{Detached, ancestors, children, descendants, is_ancestor, parents, root};

use pgerror::PgError;

/// XX000: a catalog row about partitions is malformed.
fn malformed() -> PgError {
    PgError::internal("malformed description of a partition")
}
