//! Parts that utility statements share: the interface of the session, names, options, expressions,
//! storage parameters, access control lists, rows and files of relations, and queries that belong
//! to a statement.
//!
//! Reading order: `host` (the session's interface), `names`, `options`, `exprs`, `columns`,
//! `reloptions`, `query`, `acl_list`, `acl_object`, `class`, `stored` (expressions in catalogs and
//! their dependencies), `transaction`, `type_usage`.

#![forbid(unsafe_code)]

pub mod acl_list;
pub mod acl_object;
pub mod class;
pub mod columns;
pub mod exprs;
pub mod host;
pub mod names;
pub mod options;
pub mod query;
pub mod reloptions;
pub mod setting;
pub mod stored;
pub mod transaction;
pub mod type_usage;
