//! Heavyweight locks and deadlock detection.

#![forbid(unsafe_code)]
