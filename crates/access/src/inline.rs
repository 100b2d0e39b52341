//! Inline compression of values in index tuples.
//!
//! Counterpart: toast_internals.c and toast_compression.c, as far as indexes use them.

use page::pglz;
use page::varlena::{Compression, Varlena, compressed};
use pgerror::{Result, pg_err};

/// Decompresses a varlena (with its header) into `out`.
#[cold]
pub fn decompress(raw: &[u8], out: &mut Vec<u8>) -> Result<()> {
    out.clear();
    let Some(Varlena::Compressed { raw_size, method, data }) = Varlena::parse(raw) else {
        return Err(pg_err!(DATA_CORRUPTED, "unexpected form of a value in an index tuple"));
    };
    // A damaged size may be huge, so it is limited to what the compressed bytes can expand to.
    let promised = raw_size.min(method.expanded_max(data.len()));
    out.resize(promised, 0);
    let done = match method {
        _ if promised != raw_size => None,
        Compression::Pglz => pglz::decompress(data, out, true),
        Compression::Lz4 => lz4_flex::block::decompress_into(data, out).ok(),
    };
    if done == Some(raw_size) {
        return Ok(());
    }
    Err(pg_err!(DATA_CORRUPTED, "compressed {} data is corrupt", method.name()))
}

/// Compresses the payload to a varlena (with its header), if that is smaller. `method` is the
/// column's compression method (`l` for lz4, else pglz).
#[cold]
pub(crate) fn compress(payload: &[u8], method: u8) -> Option<Vec<u8>> {
    let (method, data) = if method == b'l' {
        (Compression::Lz4, lz4_flex::block::compress(payload))
    } else {
        let mut data = Vec::new();
        pglz::compress(payload, &pglz::Strategy::DEFAULT, &mut data)?;
        (Compression::Pglz, data)
    };
    let out = compressed(payload.len(), method, &data);
    (out.len() + 2 < payload.len()).then_some(out)
}
