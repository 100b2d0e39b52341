//! The query loop: portals, prepared statements, plan cache.

#![forbid(unsafe_code)]
