//! The storage façade: recovery, checkpoints, vacuum, TOAST, control file.

#![forbid(unsafe_code)]
