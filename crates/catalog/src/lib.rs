//! The system catalogs: row structs, the contents of a new cluster and `init`, shared caches with
//! invalidation, the relation cache, and catalog changes.
//!
//! Reading order: `rows` (one struct per catalog), `facts` (rows of a new cluster as text), `cache`
//! and `shared` (rows by key), `overlay` and `inval` (a transaction's own changes), `cx` (lookups),
//! `lookup`, `namespace`, `acl`, `format_type`, `foreign` (lookups used by analysis), `reldesc`,
//! `relcache`, `orders`, `comparer`;
//! `write`, `depend`, `object`, `describe`, `comment` (changes, dependencies, properties of objects
//! of any kind); `bootstrap` creates a new cluster.

#![forbid(unsafe_code)]

pub mod acl;
pub mod bootstrap;
mod builtin;
pub mod cache;
pub mod collations;
mod comment;
mod comparer;
pub mod conversion;
mod cx;
pub mod depend;
mod describe;
pub mod descs;
pub mod encoding;
pub mod estimate;
pub mod facts;
pub mod foreign;
pub mod format_type;
mod hasher;
pub mod inval;
mod keywords;
pub mod lookup;
pub mod namespace;
pub mod object;
mod orders;
pub mod overlay;
pub mod relcache;
mod reldesc;
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
pub use reldesc::{IndexPart, RelDesc, VERSION_OPTION, shape_version};
pub use session::{CatSession, CatalogState};
pub use shared::{Catalog, Catalogs};
pub use store::FactStore;
