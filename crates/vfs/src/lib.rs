//! Files, clock, randomness and faults behind traits; the crashable in-memory disk.
