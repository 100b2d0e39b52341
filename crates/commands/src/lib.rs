//! Utility commands: the effects of SQL statements other than queries on catalogs, tables and the
//! server.
//!
//! Reading order: `host` (the session's interface), `utility` (dispatch), `tag`, `names`,
//! `options`, `stored`, `exprs`, `query` (shared parts); `relation`, `create_table`, `like`,
//! `constraint`, `index`, `sequence` (creation of relations), `drop`, `truncate`; `alter_table`;
//! `copy` (bulk load); `vacuum`, `frozen`, `wraparound`, `statistics`, `maintenance`;
//! `view`, `domain`, `typecmd`, `routine`, `extstats`, `object`, `role`, `grant`, `owned`,
//! `extension`; `database`, `tablespace`, `setting` (cluster-wide objects).

#![forbid(unsafe_code)]

mod alter_table;
mod cluster;
mod constraint;
mod copy;
mod create_as;
mod create_table;
pub mod database;
mod domain;
mod drop;
mod exprs;
mod extension;
mod extstats;
mod frozen;
pub mod grant;
mod host;
mod index;
mod indexstats;
mod like;
mod maintenance;
mod matview;
mod names;
mod object;
pub mod options;
mod owned;
mod query;
mod relation;
mod role;
mod routine;
mod sequence;
mod setting;
mod statistics;
mod stored;
mod tablespace;
mod tag;
pub mod temp;
mod truncate;
mod typecmd;
mod typeuse;
mod utility;
mod vacuum;
mod view;
pub mod wraparound;

pub use create_as::{create_table_of_plan, empty_table, select_into, table_exists, write_rows};
pub use extension::{Extension, extensions};
pub use host::{CommandHost, CopyTransport, TriggerStats};
pub use tag::command_tag;
pub use utility::{is_command, run_utility};
