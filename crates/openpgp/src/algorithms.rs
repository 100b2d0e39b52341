//! The numbers and names of ciphers, digests and compression algorithms.
//!
//! Counterpart: pgp.c, openssl.c.

use crate::error::Fault;
use pgerror::Result;
use sha2::digest::DynDigest;

/// A number of a cipher in a message.
pub(crate) const AES_128: u8 = 7;
/// A number of a digest in a message.
pub(crate) const SHA1: u8 = 2;
pub(crate) const UNCOMPRESSED: u8 = 0;
pub(crate) const ZIP: u8 = 1;
pub(crate) const ZLIB: u8 = 2;
pub(crate) const BZIP2: u8 = 3;

/// The longest key of a cipher, and so of a session.
pub(crate) const KEY_BYTES_MAX: usize = 32;
/// The longest block of a cipher.
pub(crate) const BLOCK_BYTES_MAX: usize = 16;

/// How blocks are encrypted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum BlockCipher {
    Aes,
    TripleDes,
    /// A legacy algorithm, which fails when it is used. The longest key that fails only then.
    Legacy(usize),
    Unsupported,
}

/// A cipher that messages may name.
pub(crate) struct Cipher {
    pub(crate) code: u8,
    names: &'static [&'static str],
    pub(crate) key_bytes: usize,
    pub(crate) block_bytes: usize,
    pub(crate) block: BlockCipher,
}

const fn cipher(
    code: u8,
    names: &'static [&'static str],
    key_bytes: usize,
    block_bytes: usize,
    block: BlockCipher,
) -> Cipher {
    Cipher { code, names, key_bytes, block_bytes, block }
}

static CIPHERS: &[Cipher] = &[
    cipher(2, &["3des"], 24, 8, BlockCipher::TripleDes),
    cipher(3, &["cast5"], 16, 8, BlockCipher::Legacy(KEY_BYTES_MAX)),
    cipher(4, &["bf", "blowfish"], 16, 8, BlockCipher::Legacy(16)),
    cipher(AES_128, &["aes", "aes128"], 16, 16, BlockCipher::Aes),
    cipher(8, &["aes192"], 24, 16, BlockCipher::Aes),
    cipher(9, &["aes256"], 32, 16, BlockCipher::Aes),
    cipher(10, &["twofish"], 32, 16, BlockCipher::Unsupported),
];

static DIGESTS: &[(u8, &[&str])] = &[
    (1, &["md5"]),
    (SHA1, &["sha1", "sha-1"]),
    (3, &["ripemd160"]),
    (8, &["sha256"]),
    (9, &["sha384"]),
    (10, &["sha512"]),
];

/// The cipher with this number.
pub(crate) fn find_cipher(code: u8) -> Option<&'static Cipher> {
    CIPHERS.iter().find(|c| c.code == code)
}

/// The number of the cipher with this name.
pub(crate) fn cipher_code(name: &[u8]) -> Result<u8> {
    let found = CIPHERS.iter().find(|c| c.names.iter().any(|n| n.as_bytes() == name));
    Ok(found.ok_or(Fault::UnsupportedCipher)?.code)
}

/// The number of the digest with this name.
pub(crate) fn digest_code(name: &[u8]) -> Result<u8> {
    let found = DIGESTS.iter().find(|d| d.1.iter().any(|n| n.as_bytes() == name));
    Ok(found.ok_or(Fault::UnsupportedDigest)?.0)
}

/// A digest in its first state; an error if messages may not name it.
pub(crate) fn new_digest(code: u8) -> Result<Box<dyn DynDigest>> {
    Ok(match code {
        1 => Box::new(md5::Md5::default()),
        SHA1 => Box::new(sha1::Sha1::default()),
        3 => Box::new(ripemd::Ripemd160::default()),
        8 => Box::new(sha2::Sha256::default()),
        9 => Box::new(sha2::Sha384::default()),
        10 => Box::new(sha2::Sha512::default()),
        _ => return Err(Fault::CorruptData.into()),
    })
}

/// SHA-1, which identifies keys and protects messages and secret keys.
pub(crate) fn new_sha1() -> Box<dyn DynDigest> {
    Box::new(sha1::Sha1::default())
}
