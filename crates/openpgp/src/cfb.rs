//! The mode CFB, and its form for messages without a hash of the data, which starts anew from the
//! last block of encrypted bytes after the random prefix (RFC 4880, 13.9).
//!
//! Counterpart: pgp-cfb.c.

use crate::algorithms::{BLOCK_BYTES_MAX, BlockCipher, KEY_BYTES_MAX, find_cipher};
use crate::error::Fault;
use aes::cipher::{Array, BlockCipherEncrypt, KeyInit};
use aes::{Aes128, Aes192, Aes256};
use des::TdesEde3;
use pgerror::Result;

/// A cipher with its key.
enum Keyed {
    Aes128(Aes128),
    Aes192(Aes192),
    Aes256(Aes256),
    TripleDes(TdesEde3),
    Unavailable,
}

impl Keyed {
    /// The key is padded by zeros to a length that the cipher accepts. Its length decides which
    /// AES it is, not the cipher's number.
    fn new(block: BlockCipher, key: &[u8]) -> Result<Keyed> {
        let mut padded = [0; KEY_BYTES_MAX];
        let target = padded.get_mut(..key.len()).ok_or(Fault::KeyTooBig)?;
        target.copy_from_slice(key);
        let of = |length: usize| &padded[..length];
        const FITS: &str = "the slice has the length of the key";
        Ok(match (block, key.len()) {
            (BlockCipher::Aes, ..=16) => Keyed::Aes128(Aes128::new_from_slice(of(16)).expect(FITS)),
            (BlockCipher::Aes, ..=24) => Keyed::Aes192(Aes192::new_from_slice(of(24)).expect(FITS)),
            (BlockCipher::Aes, _) => Keyed::Aes256(Aes256::new_from_slice(of(32)).expect(FITS)),
            (BlockCipher::TripleDes, _) => {
                Keyed::TripleDes(TdesEde3::new_from_slice(of(24)).expect(FITS))
            }
            (BlockCipher::Legacy(longest), used) if used <= longest => Keyed::Unavailable,
            (BlockCipher::Legacy(_), _) => return Err(Fault::KeyTooBig.into()),
            (BlockCipher::Unsupported, _) => return Err(Fault::UnsupportedCipher.into()),
        })
    }

    /// Error if the cipher is a legacy algorithm.
    fn encrypt(&self, block: &[u8], out: &mut [u8]) -> Result<()> {
        match self {
            Keyed::Aes128(c) => encrypt_block(c, block, out),
            Keyed::Aes192(c) => encrypt_block(c, block, out),
            Keyed::Aes256(c) => encrypt_block(c, block, out),
            Keyed::TripleDes(c) => encrypt_block(c, block, out),
            Keyed::Unavailable => return Err(Fault::CipherUnavailable.into()),
        }
        Ok(())
    }
}

fn encrypt_block<C: BlockCipherEncrypt>(cipher: &C, block: &[u8], out: &mut [u8]) {
    let mut value = Array::<u8, C::BlockSize>::default();
    value.copy_from_slice(block);
    cipher.encrypt_block(&mut value);
    out.copy_from_slice(&value);
}

/// Which block of a message is encrypted by this mode.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    Plain,
    /// The second block has two bytes, and the third starts anew.
    Resync,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    Encrypt,
    Decrypt,
}

/// The state of an encryption or decryption.
pub(crate) struct Cfb {
    cipher: Keyed,
    block_bytes: usize,
    mode: Mode,
    /// The encrypted bytes of the current block, at first the initialization vector. What is
    /// behind `used` belongs to the block before.
    encrypted: [u8; BLOCK_BYTES_MAX],
    /// What the bytes of the current block are combined with.
    stream: [u8; BLOCK_BYTES_MAX],
    /// How many bytes of the current block are done, and how many it has.
    used: usize,
    length: usize,
    /// How many blocks have been started; only 0 to 3 are distinguished.
    started: u8,
}

impl Cfb {
    /// `code`: the number of the cipher. `vector`: the initialization vector, zeros by default.
    pub(crate) fn new(code: u8, key: &[u8], mode: Mode, vector: Option<&[u8]>) -> Result<Cfb> {
        let cipher = find_cipher(code).ok_or(Fault::CorruptData)?;
        let block_bytes = cipher.block_bytes;
        let mut encrypted = [0; BLOCK_BYTES_MAX];
        if let Some(vector) = vector {
            encrypted[..block_bytes].copy_from_slice(&vector[..block_bytes]);
        }
        Ok(Cfb {
            cipher: Keyed::new(cipher.block, key)?,
            block_bytes,
            mode,
            encrypted,
            stream: [0; BLOCK_BYTES_MAX],
            used: 0,
            length: 0,
            started: 0,
        })
    }

    fn start_block(&mut self) -> Result<()> {
        let register = &mut self.encrypted[..self.block_bytes];
        if self.mode == Mode::Resync && self.started == 2 {
            register.rotate_left(2);
        }
        self.cipher.encrypt(register, &mut self.stream[..self.block_bytes])?;
        self.started = (self.started + 1).min(3);
        self.used = 0;
        let short = self.mode == Mode::Resync && self.started == 2;
        self.length = if short { 2 } else { self.block_bytes };
        Ok(())
    }

    fn process(&mut self, mut data: &mut [u8], direction: Direction) -> Result<()> {
        while !data.is_empty() {
            if self.used == self.length {
                self.start_block()?;
            }
            let count = data.len().min(self.length - self.used);
            let (now, rest) = data.split_at_mut(count);
            let place = self.used..self.used + count;
            let encrypted = &mut self.encrypted[place.clone()];
            if direction == Direction::Decrypt {
                encrypted.copy_from_slice(now);
            }
            now.iter_mut().zip(&self.stream[place]).for_each(|(byte, s)| *byte ^= s);
            if direction == Direction::Encrypt {
                encrypted.copy_from_slice(now);
            }
            self.used += count;
            data = rest;
        }
        Ok(())
    }

    pub(crate) fn encrypt(&mut self, data: &mut [u8]) -> Result<()> {
        self.process(data, Direction::Encrypt)
    }

    pub(crate) fn decrypt(&mut self, data: &mut [u8]) -> Result<()> {
        self.process(data, Direction::Decrypt)
    }
}
