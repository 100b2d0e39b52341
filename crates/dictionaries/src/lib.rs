//! The dictionaries and configurations of text search that the catalogs describe: their look-up,
//! the construction of dictionaries from options and files, and a session's cache of them.
//!
//! Reading order: `cache`, `construct`, `files`. Counterpart: ts_cache.c.

#![forbid(unsafe_code)]

mod cache;
mod construct;
mod files;

pub use cache::{Cache, Search};
pub use construct::{options_of, template_of};

use analyze::Host;
use pgerror::{PgError, Result};
use std::sync::Arc;
use types::textsearch::dict::{Dictionary, Options, Template};
use vfs::Disk;

/// Makes a dictionary that is not cached; an error if its options are wrong.
pub fn construct(
    host: &mut dyn Host,
    disk: Arc<dyn Disk>,
    template: Template,
    options: &Options,
) -> Result<Arc<dyn Dictionary>> {
    construct::construct(host, disk, template, options)
}

/// 0A000: the object works with a function that is not built in.
fn unsupported(what: &str, function: &str) -> PgError {
    PgError::unsupported(format!("{what} with the function {function}"))
}
