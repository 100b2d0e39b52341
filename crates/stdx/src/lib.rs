//! Gaps of std: arena, bounded integers.

#![forbid(unsafe_code)]
