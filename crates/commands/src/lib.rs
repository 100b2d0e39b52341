//! Utility commands: the effects of SQL statements other than queries on catalogs, tables and the
//! server.
//!
//! Reading order: `dispatch`, `tag`, `creation` (shared parts; others are in crate `utility`);
//! `relation`, `create_table`, `like`, `constraint`, `index`, `sequence` (creation of relations),
//! `trigger`, `drop`, `truncate`; `alter_table`; `vacuum`, `frozen`, `wraparound`, `statistics`,
//! `maintenance`, `cluster`, `catalog_files` (new files of tables and of catalogs);
//! `view`, `domain`, `typecmd`, `routine`, `extstats`, `object`, `role`, `grant`, `owned`,
//! `extension`; `database`, `tablespace`, `setting` (cluster-wide objects).

#![forbid(unsafe_code)]

mod aggregate;
mod alter_table;
mod cast;
mod catalog_files;
mod cluster;
mod constraint;
mod create_as;
mod create_table;
mod creation;
pub mod database;
mod default_acl;
mod deletion;
mod dispatch;
mod domain;
mod drop;
mod extension;
mod extstats;
mod frozen;
pub mod grant;
mod index;
mod indexstats;
mod like;
mod maintenance;
mod matview;
mod object;
pub mod on_commit;
mod owned;
mod relation;
mod relname;
mod rename;
mod role;
mod routine;
mod schema;
mod sequence;
mod setting;
mod statistics;
mod tablespace;
mod tag;
pub mod temp;
mod toast;
mod trigger;
mod truncate;
mod typecmd;
mod typerow;
mod vacuum;
mod view;
pub mod wraparound;

pub use create_as::{create_table_of_plan, empty_table, select_into, table_exists, write_rows};
pub use dispatch::{is_command, run_utility};
pub use extension::{Extension, extensions, no_language};
pub use tag::command_tag;
