//! The identifier of a key, or of the key that can decrypt a message.
//!
//! Counterpart: pgp-info.c.

use crate::error::Fault;
use crate::host::{Context, Host};
use crate::key::{ANY_KEY, Key, is_ignored};
use crate::packet::{Header, PacketReader, tag};
use crate::source::{Source, read_byte, read_exact, skip};
use pgerror::Result;
use std::fmt::Write;

/// The identifier in hexadecimal digits, `ANYKEY` if a message does not say which key, or `SYMKEY`
/// for a message with a password.
pub fn key_id(host: &dyn Host, bytes: &[u8]) -> Result<String> {
    let cx = &Context { host, verbose: false };
    let mut source = bytes;
    let mut id = ANY_KEY;
    let (mut keys, mut messages) = (0, 0);
    let (mut has_main_key, mut has_password) = (false, false);
    while let Some(header) = Header::read(cx, &mut source, false)? {
        cx.check_interrupts()?;
        let mut packet = PacketReader::new(cx, &mut source, header.length);
        match header.tag {
            tag::PUBLIC_KEY | tag::SECRET_KEY if has_main_key => {
                return Err(Fault::SeveralKeys.into());
            }
            tag::PUBLIC_KEY | tag::SECRET_KEY => {
                has_main_key = true;
                skip(cx, &mut packet)?;
            }
            tag::PUBLIC_SUBKEY | tag::SECRET_SUBKEY => {
                let key = Key::read_public(cx, &mut packet)?;
                skip(cx, &mut packet)?;
                if key.can_encrypt() {
                    id = key.id;
                    keys += 1;
                }
            }
            tag::PUBLIC_SESSION_KEY => {
                messages += 1;
                id = message_id(cx, &mut packet)?;
            }
            tag::ENCRYPTED | tag::ENCRYPTED_WITH_MDC => break,
            tag::SYMMETRIC_SESSION_KEY => {
                has_password = true;
                skip(cx, &mut packet)?;
            }
            other if is_ignored(other) => skip(cx, &mut packet)?,
            _ => return Err(Fault::CorruptData.into()),
        }
    }
    if keys > 1 || messages > 1 {
        return Err(Fault::SeveralKeys.into());
    }
    if keys > 0 && messages > 0 {
        return Err(Fault::CorruptData.into());
    }
    match (keys + messages > 0, has_password) {
        (true, _) if id == ANY_KEY => Ok("ANYKEY".into()),
        (true, _) => Ok(id.iter().fold(String::new(), |mut text, byte| {
            let _ = write!(text, "{byte:02X}");
            text
        })),
        (false, true) => Ok("SYMKEY".into()),
        (false, false) => Err(Fault::NoUsableKey.into()),
    }
}

/// The key that decrypts the session key.
fn message_id(cx: &Context<'_>, packet: &mut dyn Source) -> Result<[u8; 8]> {
    if read_byte(cx, packet)? != 3 {
        return Err(Fault::UnknownVersion.into());
    }
    let mut id = ANY_KEY;
    read_exact(cx, packet, &mut id)?;
    skip(cx, packet)?;
    Ok(id)
}
