//! The types of the buffer manager and of the log that this crate uses.

pub(crate) use access::Cx;
pub(crate) use bufmgr::{ExclusiveGuard, Pin, ShareExclusiveGuard, ShareGuard};
pub(crate) use wal::{RegFlags, RmgrId};
