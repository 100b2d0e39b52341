//! Partitioned tables: keys, bounds, ATTACH and DETACH PARTITION, and the indexes, foreign keys and
//! triggers of partitions.
//!
//! Reading order: `key` (PARTITION BY), `bound` (FOR VALUES), `attach`, `detach`, `indexes`,
//! `triggers`.
//!
//! Counterpart: the parts on partitions of tablecmds.c, parse_utilcmd.c, indexcmds.c and heap.c.

pub mod attach;
pub mod bound;
pub mod detach;
pub mod indexes;
pub mod key;
pub mod triggers;
