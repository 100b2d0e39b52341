//! Tests of the heap over shared buffers.
