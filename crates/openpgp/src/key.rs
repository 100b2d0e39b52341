//! Keys: the subkey that encrypts, with its secret part when a message is to be decrypted. The main
//! key is for signatures and is not used.
//!
//! Counterpart: pgp-pubkey.c.

use crate::algorithms::{BLOCK_BYTES_MAX, find_cipher, new_sha1};
use crate::cfb::{Cfb, Mode};
use crate::decrypt::DecryptionReader;
use crate::error::Fault;
use crate::host::Context;
use crate::mpi::Mpi;
use crate::packet::{Header, PacketReader, tag};
use crate::s2k::S2k;
use crate::source::{Source, expect_end, read_byte, read_exact, skip};
use pgerror::Result;

/// Numbers of algorithms.
pub(crate) const RSA: u8 = 1;
pub(crate) const RSA_ENCRYPT: u8 = 2;
const RSA_SIGN: u8 = 3;
pub(crate) const ELGAMAL: u8 = 16;
const DSA: u8 = 17;

/// The identifier of a message to whoever can decrypt it.
pub(crate) const ANY_KEY: [u8; 8] = [0; 8];

/// How a secret key is stored.
const UNPROTECTED: u8 = 0;
const WITH_SHA1: u8 = 254;
const WITH_CHECKSUM: u8 = 255;

/// A key.
pub(crate) struct Key {
    pub(crate) algorithm: u8,
    /// The public part: `[n, e]` of RSA, `[p, g, y]` of ElGamal.
    pub(crate) public: Vec<Mpi>,
    /// The secret part: `[d, p, q, u]` of RSA, `[x]` of ElGamal; empty if it was not read.
    pub(crate) secret: Vec<Mpi>,
    pub(crate) id: [u8; 8],
}

fn read_numbers(cx: &Context<'_>, source: &mut dyn Source, count: usize) -> Result<Vec<Mpi>> {
    (0..count).map(|_| Mpi::read(cx, source)).collect()
}

impl Key {
    /// The public part of a key.
    pub(crate) fn read_public(cx: &Context<'_>, source: &mut dyn Source) -> Result<Key> {
        let version = read_byte(cx, source)?;
        if version != 4 {
            return Err(Fault::NotVersion4.into());
        }
        let mut head = [version, 0, 0, 0, 0, 0];
        read_exact(cx, source, &mut head[1..])?;
        let algorithm = head[5];
        let count = match algorithm {
            RSA | RSA_ENCRYPT | RSA_SIGN => 2,
            ELGAMAL => 3,
            DSA => 4,
            _ => {
                cx.debug(format_args!("unknown public algo: {algorithm}"));
                return Err(Fault::UnknownPublicAlgorithm.into());
            }
        };
        let public = read_numbers(cx, source, count)?;
        let mut body = head.to_vec();
        public.iter().for_each(|n| n.write(&mut body));
        let mut digest = new_sha1();
        digest.update(&[0x99]);
        digest.update(&(body.len() as u16).to_be_bytes());
        digest.update(&body);
        let mut id = [0; 8];
        id.copy_from_slice(&digest.finalize()[12..]);
        Ok(Key { algorithm, public, secret: Vec::new(), id })
    }

    /// Both parts of a key.
    fn read_secret(
        cx: &Context<'_>,
        source: &mut dyn Source,
        password: Option<&[u8]>,
    ) -> Result<Key> {
        let mut key = Key::read_public(cx, source)?;
        let protection = read_byte(cx, source)?;
        match protection {
            UNPROTECTED => key.read_secret_part(cx, source, protection)?,
            WITH_SHA1 | WITH_CHECKSUM => {
                let password = password.ok_or(Fault::NeedPassword)?;
                let code = read_byte(cx, source)?;
                let s2k = S2k::read(cx, source)?;
                let secret = s2k.key(cx, code, password)?;
                let size = find_cipher(code).ok_or(Fault::UnsupportedCipher)?.block_bytes;
                let mut vector = [0; BLOCK_BYTES_MAX];
                read_exact(cx, source, &mut vector[..size])?;
                let cfb = Cfb::new(code, &secret, Mode::Plain, Some(&vector))?;
                let mut decrypted = DecryptionReader::new(source, cfb);
                key.read_secret_part(cx, &mut decrypted, protection)?;
            }
            _ => {
                cx.debug(format_args!("unknown hide type"));
                return Err(Fault::CorruptKeyPacket.into());
            }
        }
        Ok(key)
    }

    fn read_secret_part(
        &mut self,
        cx: &Context<'_>,
        source: &mut dyn Source,
        protection: u8,
    ) -> Result<()> {
        let is_rsa = matches!(self.algorithm, RSA | RSA_ENCRYPT | RSA_SIGN);
        self.secret = read_numbers(cx, source, if is_rsa { 4 } else { 1 })?;
        let mut stored = Vec::new();
        self.secret.iter().for_each(|n| n.write(&mut stored));
        let matches = if protection == WITH_SHA1 {
            let mut expected = [0; 20];
            read_exact(cx, source, &mut expected)?;
            let mut digest = new_sha1();
            digest.update(&stored);
            (digest.finalize()[..] == expected).then_some(()).ok_or("sha1")
        } else {
            let mut expected = [0; 2];
            read_exact(cx, source, &mut expected)?;
            let sum = stored.iter().fold(0u16, |sum, b| sum.wrapping_add((*b).into()));
            (sum == u16::from_be_bytes(expected)).then_some(()).ok_or("cksum")
        };
        if let Err(what) = matches {
            cx.debug(format_args!("key {what} check failed"));
            return Err(Fault::CorruptKeyPacket.into());
        }
        expect_end(cx, source)
    }

    /// Whether the key is for encryption.
    pub(crate) fn can_encrypt(&self) -> bool {
        matches!(self.algorithm, RSA | RSA_ENCRYPT | ELGAMAL)
    }
}

/// Which part of a key is wanted.
#[derive(Clone, Copy)]
pub(crate) enum Wanted<'a> {
    Public,
    /// With the password that protects it.
    Secret(Option<&'a [u8]>),
}

/// The subkey for encryption in the bytes of a key. There must be one.
pub(crate) fn find_key(cx: &Context<'_>, bytes: &[u8], wanted: Wanted<'_>) -> Result<Key> {
    let mut source = bytes;
    let mut found: Option<Key> = None;
    let mut has_main_key = false;
    while let Some(header) = Header::read(cx, &mut source, false)? {
        cx.check_interrupts()?;
        let mut packet = PacketReader::new(cx, &mut source, header.length);
        let key = match (header.tag, wanted) {
            (tag::PUBLIC_KEY | tag::SECRET_KEY, _) => {
                if has_main_key {
                    return Err(Fault::SeveralKeys.into());
                }
                has_main_key = true;
                skip(cx, &mut packet)?;
                continue;
            }
            (tag::PUBLIC_SUBKEY, Wanted::Public) => Key::read_public(cx, &mut packet)?,
            (tag::PUBLIC_SUBKEY, Wanted::Secret(_)) => return Err(Fault::PublicKeyGiven.into()),
            (tag::SECRET_SUBKEY, Wanted::Public) => return Err(Fault::SecretKeyGiven.into()),
            (tag::SECRET_SUBKEY, Wanted::Secret(password)) => {
                Key::read_secret(cx, &mut packet, password)?
            }
            (other, _) if is_ignored(other) => {
                skip(cx, &mut packet)?;
                continue;
            }
            (other, _) => {
                cx.debug(format_args!("unknown/unexpected packet: {other}"));
                return Err(Fault::UnexpectedPacket.into());
            }
        };
        if key.can_encrypt() && found.replace(key).is_some() {
            return Err(Fault::SeveralSubkeys.into());
        }
    }
    Ok(found.ok_or(Fault::NoUsableKey)?)
}

/// Whether a packet with this tag in a key is skipped.
pub(crate) fn is_ignored(packet: u8) -> bool {
    matches!(
        packet,
        tag::SIGNATURE
            | tag::MARKER
            | tag::TRUST
            | tag::USER_ID
            | tag::USER_ATTRIBUTE
            | tag::COMMENT
    )
}
