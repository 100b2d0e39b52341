//! The only source of latches, atomics, locks and waiting; swapped for loom in model tests.
