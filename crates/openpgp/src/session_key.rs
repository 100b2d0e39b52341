//! Packets with the session key of a message, encrypted by a public key (RFC 4880, 5.1).
//!
//! The encrypted number is 2, random bytes that are not zero, a zero, the number of the cipher, the
//! session key, and the sum of the key's bytes.
//!
//! Counterpart: pgp-pubenc.c, pgp-pubdec.c.

use crate::algorithms::KEY_BYTES_MAX;
use crate::error::Fault;
use crate::host::Context;
use crate::key::{ANY_KEY, ELGAMAL, Key, RSA, RSA_ENCRYPT};
use crate::mpi::{Mpi, elgamal_decrypt, elgamal_encrypt, rsa_decrypt, rsa_encrypt};
use crate::source::{Source, expect_end, read_byte, read_exact};
use pgerror::Result;

/// A cipher with its key.
pub(crate) struct SessionKey {
    /// The number of the cipher.
    pub(crate) cipher: u8,
    pub(crate) key: Vec<u8>,
}

/// The fewest random bytes before the session key.
const PADDING_BYTES_MIN: usize = 8;

fn checksum(key: &[u8]) -> [u8; 2] {
    key.iter().fold(0u16, |sum, byte| sum.wrapping_add((*byte).into())).to_be_bytes()
}

/// The session key as a number of `length` bytes.
fn padded(cx: &Context<'_>, session: &SessionKey, length: usize) -> Result<Mpi> {
    let used = session.key.len() + 3 + 2;
    let padding = length.checked_sub(used).filter(|p| *p >= PADDING_BYTES_MIN);
    let padding = padding.ok_or(Fault::Internal)?;
    let mut bytes = vec![2; 1 + padding];
    cx.random_bytes(&mut bytes[1..])?;
    for byte in &mut bytes[1..] {
        while *byte == 0 {
            cx.random_bytes(std::slice::from_mut(byte))?;
        }
    }
    bytes.extend_from_slice(&[0, session.cipher]);
    bytes.extend_from_slice(&session.key);
    bytes.extend_from_slice(&checksum(&session.key));
    // The first byte has two bits.
    let bits = u16::try_from(length * 8 - 6).map_err(|_| Fault::CorruptData)?;
    Ok(Mpi { bits, bytes })
}

/// The contents of the packet.
pub(crate) fn encrypt(cx: &Context<'_>, key: &Key, session: &SessionKey) -> Result<Vec<u8>> {
    let mut out = vec![3];
    out.extend_from_slice(&key.id);
    out.push(key.algorithm);
    // One byte less than the modulus, so that the number is smaller.
    let modulus = key.public.first().ok_or(Fault::Internal)?;
    let length = modulus.bytes.len().saturating_sub(1);
    let message = padded(cx, session, length)?;
    let numbers = match key.algorithm {
        ELGAMAL => elgamal_encrypt(cx, &key.public, &message)?,
        _ => rsa_encrypt(cx, &key.public, &message)?,
    };
    numbers.iter().for_each(|n| n.write(&mut out));
    Ok(out)
}

/// The session key of the packet.
pub(crate) fn decrypt(
    cx: &Context<'_>,
    key: Option<&Key>,
    packet: &mut dyn Source,
) -> Result<SessionKey> {
    let Some(key) = key else {
        cx.debug(format_args!("no pubkey?"));
        return Err(Fault::Internal.into());
    };
    let version = read_byte(cx, packet)?;
    if version != 3 {
        cx.debug(format_args!("unknown pubenc_sesskey pkt ver={version}"));
        return Err(Fault::CorruptData.into());
    }
    let mut id = [0; 8];
    read_exact(cx, packet, &mut id)?;
    if id != ANY_KEY && id != key.id {
        cx.debug(format_args!("key_id's does not match"));
        return Err(Fault::WrongKey.into());
    }
    let message = match read_byte(cx, packet)? {
        ELGAMAL if key.algorithm == ELGAMAL => {
            let encrypted = [Mpi::read(cx, packet)?, Mpi::read(cx, packet)?];
            elgamal_decrypt(cx, &key.public, &key.secret, &encrypted)?
        }
        RSA | RSA_ENCRYPT if matches!(key.algorithm, RSA | RSA_ENCRYPT) => {
            let encrypted = Mpi::read(cx, packet)?;
            rsa_decrypt(cx, &key.public, &key.secret, &encrypted)?
        }
        ELGAMAL | RSA | RSA_ENCRYPT => return Err(Fault::WrongKey.into()),
        _ => return Err(Fault::UnknownPublicAlgorithm.into()),
    };
    let Some(message) = unpadded(&message.bytes) else {
        cx.debug(format_args!("check_eme_pkcs1_v15 failed"));
        return Err(Fault::WrongKey.into());
    };
    let [cipher, rest @ ..] = message else { return Err(Fault::WrongKey.into()) };
    let (secret, sum) = rest.split_last_chunk().ok_or(Fault::WrongKey)?;
    if *sum != checksum(secret) {
        cx.debug(format_args!("pubenc cksum failed"));
        return Err(Fault::WrongKey.into());
    }
    if secret.len() > KEY_BYTES_MAX {
        cx.debug(format_args!("incorrect session key length={}", secret.len()));
        return Err(Fault::SessionKeyTooBig.into());
    }
    let session = SessionKey { cipher: *cipher, key: secret.to_vec() };
    expect_end(cx, packet)?;
    Ok(session)
}

/// What is behind the padding.
fn unpadded(bytes: &[u8]) -> Option<&[u8]> {
    let (first, rest) = bytes.split_first()?;
    let zero = rest.iter().position(|b| *b == 0)?;
    (*first == 2 && zero >= PADDING_BYTES_MIN).then(|| &rest[zero + 1..])
}
