//! Encryption of messages.
//!
//! Counterpart: pgp-encrypt.c.

use crate::algorithms::{BLOCK_BYTES_MAX, BZIP2, UNCOMPRESSED, find_cipher, new_sha1};
use crate::cfb::{Cfb, Mode};
use crate::compress::Deflate;
use crate::error::Fault;
use crate::host::{Context, Host};
use crate::integrity::HASH_HEADER;
use crate::key::{Wanted, find_key};
use crate::options::Options;
use crate::packet::tag;
use crate::s2k::S2k;
use crate::session_key::{self, SessionKey};
use crate::sink::{NetworkLines, Output, PacketWriter, Sink, length_header};
use crate::source::READ_BYTES;
use pgerror::Result;
use sha2::digest::DynDigest;

/// What encrypts a message.
#[derive(Clone, Copy)]
pub enum EncryptionKey<'a> {
    Password(&'a [u8]),
    /// A public key.
    Public(&'a [u8]),
}

/// A message with the data.
pub fn encrypt(
    host: &dyn Host,
    options: &Options,
    data: &[u8],
    key: EncryptionKey<'_>,
) -> Result<Vec<u8>> {
    let cx = &Context { host, verbose: options.debug };
    let mut out = Output::new(data.len() + 128);
    let session = match key {
        EncryptionKey::Password([]) => return Err(Fault::Argument.into()),
        EncryptionKey::Password(password) => write_password_key(cx, options, password, &mut out)?,
        EncryptionKey::Public(bytes) => {
            let key = find_key(cx, bytes, Wanted::Public)?;
            let session = random_session_key(cx, options)?;
            let mut packet = PacketWriter::new(cx, &mut out, tag::PUBLIC_SESSION_KEY)?;
            packet.write(&session_key::encrypt(cx, &key, &session)?)?;
            packet.finish()?;
            session
        }
    };
    let encrypted = if options.disable_mdc { tag::ENCRYPTED } else { tag::ENCRYPTED_WITH_MDC };
    let mut packet = PacketWriter::new(cx, &mut out, encrypted)?;
    write_encrypted(cx, options, &session, data, &mut packet)?;
    packet.finish()?;
    Ok(out.into_bytes())
}

fn random_session_key(cx: &Context<'_>, options: &Options) -> Result<SessionKey> {
    let cipher = find_cipher(options.cipher).ok_or(Fault::UnsupportedCipher)?;
    let mut key = vec![0; cipher.key_bytes];
    cx.random_bytes(&mut key)?;
    Ok(SessionKey { cipher: cipher.code, key })
}

/// Writes the packet with the parameters of the password's key.
fn write_password_key(
    cx: &Context<'_>,
    options: &Options,
    password: &[u8],
    out: &mut Output,
) -> Result<SessionKey> {
    let cipher = options.s2k_cipher.unwrap_or(options.cipher);
    let s2k = S2k::generate(cx, options.s2k_mode, options.s2k_digest, options.s2k_count)?;
    let key = s2k.key(cx, cipher, password)?;
    let mut body = vec![4, cipher];
    s2k.write(&mut body);
    let session = if options.session_key {
        let session = random_session_key(cx, options)?;
        let start = body.len();
        body.push(session.cipher);
        body.extend_from_slice(&session.key);
        Cfb::new(cipher, &key, Mode::Plain, None)?.encrypt(&mut body[start..])?;
        session
    } else {
        // The key has the length for the cipher of the password.
        SessionKey { cipher: options.cipher, key }
    };
    out.write(&[0xc0 | tag::SYMMETRIC_SESSION_KEY])?;
    out.write(&length_header(body.len()))?;
    out.write(&body)?;
    Ok(session)
}

/// Writes the contents of the packet with the encrypted data.
fn write_encrypted(
    cx: &Context<'_>,
    options: &Options,
    session: &SessionKey,
    data: &[u8],
    packet: &mut dyn Sink,
) -> Result<()> {
    let mode = match options.disable_mdc {
        true => Mode::Resync,
        false => {
            packet.write(&[1])?;
            Mode::Plain
        }
    };
    let cfb = Cfb::new(session.cipher, &session.key, mode, None)?;
    let compresses = options.compression != UNCOMPRESSED && options.compression_level > 0;
    if compresses && options.compression == BZIP2 {
        return Err(Fault::UnsupportedCompression.into());
    }
    let digest = (!options.disable_mdc).then(new_sha1);
    let mut encryptor = Encryptor { next: packet, cfb, digest, buffer: Vec::new() };
    let size = find_cipher(session.cipher).ok_or(Fault::CorruptData)?.block_bytes;
    let mut prefix = [0; BLOCK_BYTES_MAX + 2];
    cx.random_bytes(&mut prefix[..size])?;
    prefix.copy_within(size - 2..size, size);
    encryptor.write(&prefix[..size + 2])?;
    if compresses {
        let mut packet = PacketWriter::new(cx, &mut encryptor, tag::COMPRESSED)?;
        packet.write(&[options.compression])?;
        let level = options.compression_level;
        let mut compressed = Deflate::new(&mut packet, options.compression, level);
        write_literal(cx, options, data, &mut compressed)?;
        compressed.finish()?;
        packet.finish()?;
    } else {
        write_literal(cx, options, data, &mut encryptor)?;
    }
    encryptor.finish()
}

/// Writes the packet of the data itself.
fn write_literal(
    cx: &Context<'_>,
    options: &Options,
    data: &[u8],
    next: &mut dyn Sink,
) -> Result<()> {
    let kind = match (options.text, options.unicode) {
        (true, true) => b'u',
        (true, false) => b't',
        (false, _) => b'b',
    };
    let mut packet = PacketWriter::new(cx, next, tag::LITERAL)?;
    // An empty name, and the time, so that few bytes are known.
    packet.write(&[kind, 0])?;
    packet.write(&cx.host.unix_seconds().to_be_bytes())?;
    match options.text && options.convert_crlf {
        true => NetworkLines { next: &mut packet }.write(data)?,
        false => packet.write(data)?,
    }
    packet.finish()
}

/// Encrypts what is written, and its hash at the end.
struct Encryptor<'a> {
    next: &'a mut dyn Sink,
    cfb: Cfb,
    digest: Option<Box<dyn DynDigest>>,
    buffer: Vec<u8>,
}

impl Encryptor<'_> {
    fn encrypt(&mut self, piece: &[u8]) -> Result<()> {
        self.buffer.clear();
        self.buffer.extend_from_slice(piece);
        self.cfb.encrypt(&mut self.buffer)?;
        self.next.write(&self.buffer)
    }

    fn finish(mut self) -> Result<()> {
        let Some(mut digest) = self.digest.take() else { return Ok(()) };
        digest.update(&HASH_HEADER);
        let hash = digest.finalize();
        self.encrypt(&HASH_HEADER)?;
        self.encrypt(&hash)
    }
}

impl Sink for Encryptor<'_> {
    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        for piece in bytes.chunks(READ_BYTES) {
            if let Some(digest) = &mut self.digest {
                digest.update(piece);
            }
            self.encrypt(piece)?;
        }
        Ok(())
    }
}
