//! Query to plan.

#![forbid(unsafe_code)]
