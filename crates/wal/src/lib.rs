//! The write-ahead log: records, reader, insertion, flush, segments.

#![forbid(unsafe_code)]
