//! Utility commands: the effects of SQL statements other than queries on catalogs, tables and the
//! server.
//!
//! Reading order: `dispatch` (shared parts and objects without storage are in crates `utility` and
//! `define`); `relation`, `create_table`, `like`, `constraint`, `index`, `sequence` (creation of
//! relations), `trigger`, `truncate`; `alter_table`, `alter_object`; `vacuum`, `frozen`,
//! `wraparound`, `statistics`, `maintenance`, `cluster`, `catalog_files` (new files of tables and
//! of catalogs); `view`, `domain`, `typecmd`, `extstats`, `role`, `grant`, `owned`; `database`,
//! `tablespace`, `setting` (cluster-wide objects).

#![forbid(unsafe_code)]

mod alter_object;
mod alter_table;
mod catalog_files;
mod cluster;
mod constraint;
mod create_as;
mod create_table;
pub mod database;
mod dispatch;
mod domain;
mod extension_schema;
mod extstats;
mod frozen;
pub mod grant;
mod index;
mod indexstats;
mod like;
mod maintenance;
mod matview;
pub mod on_commit;
mod owned;
mod relation;
mod relname;
mod rename;
mod role;
mod schema;
mod sequence;
mod setting;
mod statistics;
mod tablespace;
mod toast;
mod trigger;
mod truncate;
mod typecmd;
mod vacuum;
mod view;
pub mod wraparound;

pub use create_as::{create_table_of_plan, empty_table, select_into, table_exists, write_rows};
pub use dispatch::{is_command, run_utility};
