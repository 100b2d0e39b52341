//! Utility commands: the effects of SQL statements other than queries on catalogs, tables and the
//! server.
//!
//! Reading order: `dispatch` (shared parts and objects without storage are in crates `utility` and
//! `define`); `relation`, `create_table`, `inherit`, `hierarchy`, `like`, `constraint`, `index`,
//! `create_index`, `partitions`, `sequence` (creation of relations), `trigger`, `truncate`;
//! `alter_table`, `alter_object`; `vacuum`, `vacuum_report`, `frozen`,
//! `maintenance`, `cluster`, `catalog_files` (new files of tables and of catalogs); `view`,
//! `domain`, `typecmd`, `extstats`, `grant`, `owned`. The objects of the
//! whole cluster are in the crate `clusterwide`.

#![forbid(unsafe_code)]

mod alter_object;
mod alter_table;
mod catalog_files;
mod cluster;
mod constraint;
mod create_as;
mod create_index;
mod create_table;
mod define_table;
mod dispatch;
mod domain;
mod exclusion;
mod extension_schema;
mod extstats;
mod foreign_key;
mod frozen;
pub mod grant;
mod hierarchy;
mod index;
mod inherit;
mod like;
mod maintenance;
mod matview;
pub mod on_commit;
mod owned;
mod partitions;
mod relation;
mod relname;
mod rename;
mod schema;
mod sequence;
mod table_am;
mod toast;
mod trigger;
mod truncate;
mod typecmd;
pub mod vacuum;
mod vacuum_report;
mod view;

pub use clusterwide::database;
pub use create_as::{create_table_of_plan, empty_table, select_into, table_exists, write_rows};
pub use dispatch::{is_command, run_utility};
pub use frozen::update_database;
