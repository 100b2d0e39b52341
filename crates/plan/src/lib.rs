//! Query, expression and plan nodes.

#![forbid(unsafe_code)]
