//! Kinds of the records of resource manager XLOG: the info byte.
//!
//! Counterpart: pg_control.h.

pub(crate) const XLOG_CHECKPOINT_SHUTDOWN: u8 = 0x00;
pub(crate) const XLOG_CHECKPOINT_ONLINE: u8 = 0x10;
pub(crate) const XLOG_NOOP: u8 = 0x20;
pub(crate) const XLOG_NEXTOID: u8 = 0x30;
pub(crate) const XLOG_SWITCH: u8 = 0x40;
pub(crate) const XLOG_BACKUP_END: u8 = 0x50;
pub(crate) const XLOG_PARAMETER_CHANGE: u8 = 0x60;
pub(crate) const XLOG_RESTORE_POINT: u8 = 0x70;
pub(crate) const XLOG_FPW_CHANGE: u8 = 0x80;
pub(crate) const XLOG_END_OF_RECOVERY: u8 = 0x90;
pub(crate) const XLOG_FPI_FOR_HINT: u8 = 0xA0;
pub(crate) const XLOG_FPI: u8 = 0xB0;
pub(crate) const XLOG_OVERWRITE_CONTRECORD: u8 = 0xD0;
