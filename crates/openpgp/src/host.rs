//! What the functions need of a session.

use pgerror::Result;
use std::fmt;

/// The session in which a function is called.
pub trait Host {
    /// Fills `out` with cryptographically strong random bytes.
    fn random_bytes(&self, out: &mut [u8]) -> Result<()>;

    /// The clock, in seconds since 1970.
    fn unix_seconds(&self) -> u32;

    /// Reports a notice.
    fn notice(&self, message: String);

    /// An error if the query was cancelled.
    fn check_interrupts(&self) -> Result<()>;
}

/// The host, and whether the reason of an error is reported in a notice, as pgcrypto's option
/// `debug` does.
#[derive(Clone, Copy)]
pub(crate) struct Context<'a> {
    pub(crate) host: &'a dyn Host,
    pub(crate) verbose: bool,
}

impl Context<'_> {
    pub(crate) fn random_bytes(&self, out: &mut [u8]) -> Result<()> {
        self.host.random_bytes(out)
    }

    pub(crate) fn check_interrupts(&self) -> Result<()> {
        self.host.check_interrupts()
    }

    /// Reports the reason of an error that follows, if that is wanted.
    pub(crate) fn debug(&self, message: fmt::Arguments<'_>) {
        if self.verbose {
            self.host.notice(format!("dbg: {message}"));
        }
    }
}
