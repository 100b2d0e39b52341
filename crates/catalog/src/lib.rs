//! Bootstrap, catalog caches, relation cache, invalidation.

#![forbid(unsafe_code)]
