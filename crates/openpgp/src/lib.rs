//! Messages, keys and armor of OpenPGP (RFC 4880), in the extent that pgcrypto 1.3 supports:
//! encryption by a password or by a public key (RSA, ElGamal), integrity by the hash of the data,
//! compression with zip and zlib. Signatures are neither written nor checked.
//!
//! The functions work on bytes. What they need of a session is in [`Host`]. Messages, their limits
//! and their errors are those of pgcrypto, whose OpenSSL has no legacy algorithms: Blowfish and
//! CAST5 are known by name, and their use is an error.
//!
//! A message is read by a chain of [`source::Source`]s (packet, decryption, hash, decompression),
//! and written by a chain of [`sink::Sink`]s. Both work in pieces, so that no copy of a message
//! exists besides the input and the result, and every piece is a check for interrupts.
//!
//! Operations on private keys take a time that depends on the key, as those of pgcrypto do.
//!
//! Reading order: `error`, `host`; `algorithms`, `cfb`, `s2k`; `options`; `source`, `packet`,
//! `mpi`, `key`, `session_key`; `compress`, `integrity`, `decrypt`; `sink`, `encrypt`; `key_id`;
//! `armor`.

#![forbid(unsafe_code)]

mod algorithms;
pub mod armor;
mod cfb;
mod compress;
mod decrypt;
mod encrypt;
mod error;
mod host;
mod integrity;
mod key;
mod key_id;
mod mpi;
mod options;
mod packet;
mod s2k;
mod session_key;
mod sink;
mod source;
#[cfg(test)]
mod tests;

pub use decrypt::{DecryptionKey, decrypt};
pub use encrypt::{EncryptionKey, encrypt};
pub use error::Fault;
pub use host::Host;
pub use key_id::key_id;
pub use options::Options;
