//! The type of system functions.

use crate::host::SystemHost;
use pgerror::Result;
use types::{Datum, DatumRef};

/// A scalar function.
pub type OneFn = fn(&mut dyn SystemHost, &[DatumRef<'_>]) -> Result<Datum>;
/// A set-returning function; the result is a list of rows.
pub type SetFn = fn(&mut dyn SystemHost, &[DatumRef<'_>]) -> Result<Vec<Vec<Datum>>>;

/// How a system function is called.
#[derive(Clone, Copy)]
pub enum SysCall {
    One(OneFn),
    Set(SetFn),
}

/// A function with its name in `pg_proc.prosrc`.
pub struct SysFn {
    pub name: &'static str,
    pub call: SysCall,
}

/// The text of an argument.
pub fn text(d: DatumRef<'_>) -> String {
    String::from_utf8_lossy(d.as_bytes()).into_owned()
}
