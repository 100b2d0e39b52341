//! The frontend/backend protocol v3 as a codec without sockets.

#![forbid(unsafe_code)]
