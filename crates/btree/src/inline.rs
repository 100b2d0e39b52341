//! Values that are compressed within an index tuple.

use pgerror::{PgError, Result};

/// The payload of a compressed varlena (with its header), into `out`.
#[cold]
pub(crate) fn decompress(_raw: &[u8], out: &mut Vec<u8>) -> Result<()> {
    out.clear();
    Err(PgError::unsupported("compressed values in indexes"))
}

/// A compressed varlena (with its header) of this payload, if that is smaller.
#[cold]
pub(crate) fn compress(_payload: &[u8], _method: u8) -> Option<Vec<u8>> {
    None
}
