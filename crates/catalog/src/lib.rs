//! The system catalogs: rows as structs, a fresh cluster's contents and how `init` makes a data
//! directory of them, shared caches with invalidation, the relation cache, and catalog writes.
//!
//! Reading order: `rows` (one struct per catalog), `facts` (a fresh cluster's rows as text),
//! `cache` and `shared` (rows by their keys), `overlay` and `inval` (a transaction's own changes),
//! `cx` (look-ups), `lookup`, `namespace`, `acl`, `format_type`, `foreign` (questions that analysis
//! asks), `relcache`; `write`, `depend`, `describe` (changes and what hangs together); `bootstrap`
//! makes a new cluster.

#![forbid(unsafe_code)]

pub mod acl;
pub mod bootstrap;
mod builtin;
pub mod cache;
pub mod collations;
mod comparer;
mod cx;
pub mod depend;
mod describe;
pub mod descs;
pub mod encoding;
pub mod facts;
pub mod foreign;
pub mod format_type;
pub mod inval;
mod keywords;
pub mod lookup;
pub mod namespace;
pub mod overlay;
pub mod relcache;
pub mod rows;
mod session;
mod shared;
mod store;
mod tables;
mod transaction;
pub mod write;

pub use cache::{Key, Row, SysCache, Tuple};
pub use cx::CatCx;
pub use depend::ObjectAddress;
pub use describe::relation_kind;
pub use relcache::{RelDesc, VERSION_OPTION, shape_version};
pub use session::{CatSession, Seen};
pub use shared::{Catalog, Catalogs};
pub use store::FactStore;
