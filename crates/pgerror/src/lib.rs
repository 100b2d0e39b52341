//! One boxed error type with a mandatory SQLSTATE. All fallible functions above the small decision
//! enums return it, and it becomes an ErrorResponse or NoticeResponse of the protocol.
//!
//! There is no default SQLSTATE and no conversion from strings: the code that detects an error
//! chooses its SQLSTATE.

#![forbid(unsafe_code)]

mod error;
mod sqlstate;

pub use error::{Fields, ObjectNames, PgError, Result, Severity};
pub use sqlstate::SqlState;

/// `pg_err!(CODE, "message {}", x)`: a [`PgError`] of severity ERROR; CODE names a constant of
/// [`SqlState`].
#[macro_export]
macro_rules! pg_err {
    ($code:ident, $($arg:tt)+) => {
        $crate::PgError::new($crate::SqlState::$code, ::std::format!($($arg)+))
    };
}

/// `bail!(CODE, "message {}", x)`: returns the error of [`pg_err!`].
#[macro_export]
macro_rules! bail {
    ($code:ident, $($arg:tt)+) => {
        return ::std::result::Result::Err($crate::pg_err!($code, $($arg)+))
    };
}
