//! The system catalogs: row structs, the contents of a new cluster and `init`, shared caches with
//! invalidation, the relation cache, and catalog changes.
//!
//! Reading order: `rows` (one struct per catalog), `facts` (rows of a new cluster as text), `cache`
//! and `shared` (rows by key), `overlay` and `inval` (a transaction's own changes), `derived`, `cx`
//! (lookups), `lookup`, `typeops`, `namespace`, `temp`, `acl`, `format_type`, `conversion`,
//! `unsupported` (lookups used by analysis), `reldesc`, `relcache`, `orders`, `comparer`, `ranges`;
//! `write`, `depend`, `object`, `describe`, `comment` (changes, dependencies, properties of objects
//! of any kind); `ordered` (catalogs of users' data); `bootstrap` creates a new cluster.

#![forbid(unsafe_code)]

// Rows, and the contents of a new cluster.
pub mod bootstrap;
mod builtin;
pub mod collations;
pub mod encoding;
pub mod facts;
pub mod rows;

// Caches and invalidation.
pub mod cache;
pub mod derived;
pub mod inval;
mod openlocales;
pub mod overlay;
mod shared;

// Storage below the caches.
mod duplicate;
mod store;
mod tables;
mod transaction;

// Look-ups.
pub mod acl;
pub mod conversion;
mod cx;
pub mod estimate;
mod extension;
pub mod format_type;
mod keywords;
pub mod locales;
pub mod lookup;
mod multibyte;
pub mod namespace;
mod session;
pub mod temp;
mod typeops;
pub mod unsupported;

// Descriptors of relations; comparison and hashing of catalog-dependent types.
mod comparer;
pub mod descriptors;
mod hasher;
mod orders;
mod ranges;
pub mod relcache;
mod reldesc;

// Changes, dependencies, and objects of any class.
mod comment;
pub mod depend;
mod describe;
pub mod object;
mod objectlock;
pub mod ordered;
pub mod write;

pub use cache::{Key, Row, SysCache, Tuple};
pub use cx::CatCx;
pub use depend::ObjectAddress;
pub use derived::CatalogState;
pub use describe::relation_kind;
pub use reldesc::{IndexPart, RelDesc, VERSION_OPTION, row_type_version};
pub use session::{CatSession, ChangedRow, SearchPath};
pub use shared::{Catalog, Catalogs};
pub use store::FactStore;
pub use transaction::unpreparable;
