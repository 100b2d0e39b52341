//! Keys from passwords (string-to-key, RFC 4880, 3.7).
//!
//! Counterpart: pgp-s2k.c.

use crate::algorithms::{find_cipher, new_digest};
use crate::error::Fault;
use crate::host::Context;
use crate::source::{Source, read_byte, read_exact};
use pgerror::Result;
use sha2::digest::DynDigest;
use values::memory;
use values::pieces::PIECE_BYTES as LONG_BYTES;

/// The password alone; with a salt; with a salt, repeated.
pub(crate) const SIMPLE: u8 = 0;
pub(crate) const SALTED: u8 = 1;
pub(crate) const ITERATED: u8 = 3;

/// How a password becomes a key.
#[derive(Clone, Default)]
pub(crate) struct S2k {
    pub(crate) mode: u8,
    /// The number of the digest.
    pub(crate) digest: u8,
    salt: [u8; 8],
    /// The number of bytes that are hashed, in a code of one byte.
    coded_count: u8,
}

/// The number of hashed bytes that a code means.
fn decode_count(code: u8) -> u32 {
    (16 + u32::from(code & 15)) << ((code >> 4) + 6)
}

/// The code of the smallest number that is at least `count`.
fn encode_count(count: u32) -> u8 {
    (0..=u8::MAX).find(|code| decode_count(*code) >= count).unwrap_or(u8::MAX)
}

impl S2k {
    /// A new salt. `count`: the number of hashed bytes; by default, a random one.
    pub(crate) fn generate(
        cx: &Context<'_>,
        mode: u8,
        digest: u8,
        count: Option<u32>,
    ) -> Result<S2k> {
        let mut s2k = S2k { mode, digest, ..S2k::default() };
        if mode != SIMPLE {
            cx.random_bytes(&mut s2k.salt)?;
        }
        if mode == ITERATED {
            let mut random = [0];
            cx.random_bytes(&mut random)?;
            s2k.coded_count = count.map_or(96 + (random[0] & 31), encode_count);
        }
        Ok(s2k)
    }

    pub(crate) fn read(cx: &Context<'_>, source: &mut dyn Source) -> Result<S2k> {
        let mode = read_byte(cx, source)?;
        let mut s2k = S2k { mode, digest: read_byte(cx, source)?, ..S2k::default() };
        match mode {
            SIMPLE => (),
            SALTED => read_exact(cx, source, &mut s2k.salt)?,
            ITERATED => {
                read_exact(cx, source, &mut s2k.salt)?;
                s2k.coded_count = read_byte(cx, source)?;
            }
            _ => return Err(Fault::BadS2kMode.into()),
        }
        Ok(s2k)
    }

    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&[self.mode, self.digest]);
        if self.mode != SIMPLE {
            out.extend_from_slice(&self.salt);
        }
        if self.mode == ITERATED {
            out.push(self.coded_count);
        }
    }

    /// The number of hashed bytes of the mode [`ITERATED`].
    pub(crate) fn count(&self) -> u32 {
        decode_count(self.coded_count)
    }

    /// The key for a cipher. Each digest of a longer key has one more zero before the password.
    pub(crate) fn key(&self, cx: &Context<'_>, cipher: u8, password: &[u8]) -> Result<Vec<u8>> {
        let length = find_cipher(cipher).ok_or(Fault::UnsupportedCipher)?.key_bytes;
        let mut digest = new_digest(self.digest)?;
        let mut key = Vec::with_capacity(length + digest.output_size());
        let mut zeros = 0;
        while key.len() < length {
            digest.update(&[0; 32][..zeros]);
            zeros += 1;
            match self.mode {
                SIMPLE => update(cx, &mut *digest, password)?,
                SALTED => self.hash(cx, &mut *digest, password, 0)?,
                _ => self.hash(cx, &mut *digest, password, self.count() as usize)?,
            }
            key.extend_from_slice(&digest.finalize_reset());
        }
        key.truncate(length);
        Ok(key)
    }

    /// Hashes the salt and the password once, and repeats them up to `count` bytes.
    fn hash(
        &self,
        cx: &Context<'_>,
        digest: &mut dyn DynDigest,
        password: &[u8],
        count: usize,
    ) -> Result<()> {
        digest.update(&self.salt);
        update(cx, digest, password)?;
        let mut left = count.saturating_sub(self.salt.len() + password.len());
        if left == 0 {
            return Ok(());
        }
        // Many repetitions in one piece, because the digest is slow for short pieces.
        let mut piece = Vec::new();
        let once = self.salt.len() + password.len();
        memory::reserve(&mut piece, once + PIECE_BYTES)?;
        piece.extend_from_slice(&self.salt);
        piece.extend_from_slice(password);
        while piece.len() < PIECE_BYTES && piece.len() < left {
            piece.extend_from_within(..once);
        }
        while left > 0 {
            let part = &piece[..piece.len().min(left)];
            update(cx, digest, part)?;
            left -= part.len();
            cx.check_interrupts()?;
        }
        Ok(())
    }
}

const PIECE_BYTES: usize = 1 << 14;

/// Hashes a long value in pieces that can be interrupted.
fn update(cx: &Context<'_>, digest: &mut dyn DynDigest, bytes: &[u8]) -> Result<()> {
    for piece in bytes.chunks(LONG_BYTES) {
        digest.update(piece);
        cx.check_interrupts()?;
    }
    Ok(())
}
