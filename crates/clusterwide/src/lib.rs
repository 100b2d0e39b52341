//! Commands on the objects of the whole cluster: roles, databases, tablespaces, and the settings of
//! roles and databases.
//!
//! Reading order: `role`, `tablespace`, `setting`, `database`.

#![forbid(unsafe_code)]

pub mod database;
pub mod role;
pub mod setting;
pub mod tablespace;
