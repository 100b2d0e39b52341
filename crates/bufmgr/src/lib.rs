//! Shared buffers, rings, page edits, background writing.
