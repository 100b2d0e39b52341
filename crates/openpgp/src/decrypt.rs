//! Decryption of messages.
//!
//! As long as the data may have been decrypted by a wrong key, all errors are the same, so that
//! they say nothing about the key (Mister and Zuccherato, "An Attack on CFB Mode Encryption As Used
//! By OpenPGP"). So a wrong prefix, an unsupported compression and data that is not text are
//! remembered, and reported when the message has been read to its end and its hash was right.
//!
//! Counterpart: pgp-decrypt.c.

use crate::algorithms::find_cipher;
use crate::algorithms::{BLOCK_BYTES_MAX, BZIP2, KEY_BYTES_MAX, UNCOMPRESSED, ZIP, ZLIB};
use crate::cfb::{Cfb, Mode};
use crate::compress::Inflate;
use crate::error::{Fault, is_fault};
use crate::host::{Context, Host};
use crate::integrity::{CheckedReader, HashingReader, Integrity};
use crate::key::{Key, Wanted, find_key};
use crate::options::Options;
use crate::packet::{Header, Length, PacketReader, tag};
use crate::s2k::S2k;
use crate::session_key::{self, SessionKey};
use crate::sink::{Output, UnixLines};
use crate::source::{READ_BYTES, Source, read_byte, read_most, skip};
use pgerror::Result;

/// What decrypts a message.
#[derive(Clone, Copy)]
pub enum DecryptionKey<'a> {
    Password(&'a [u8]),
    /// A secret key, and the password that protects it.
    Secret(&'a [u8], Option<&'a [u8]>),
}

/// The properties of a message, which the options of the call stand for until they are known.
struct Found {
    cipher: u8,
    s2k_mode: u8,
    s2k_count: Option<u32>,
    s2k_digest: u8,
    s2k_cipher: Option<u8>,
    session_key: bool,
    disable_mdc: bool,
    compression: u8,
    unicode: bool,
}

/// The state of a decryption.
struct Message<'a> {
    cx: &'a Context<'a>,
    options: &'a Options,
    password: Option<&'a [u8]>,
    key: Option<Key>,
    session: Option<SessionKey>,
    found: Found,
    wrong_prefix: bool,
    unsupported_compression: bool,
    unexpected_binary: bool,
    output: Output,
}

/// The data of a message, and whether it is text in UTF-8. Differences from what the options expect
/// are reported in notices.
pub fn decrypt(
    host: &dyn Host,
    options: &Options,
    message: &[u8],
    key: DecryptionKey<'_>,
) -> Result<(Vec<u8>, bool)> {
    let cx = &Context { host, verbose: options.debug };
    let (password, key) = match key {
        DecryptionKey::Password([]) => return Err(Fault::Argument.into()),
        DecryptionKey::Password(password) => (Some(password), None),
        DecryptionKey::Secret(key, password) => {
            (None, Some(find_key(cx, key, Wanted::Secret(password))?))
        }
    };
    let mut state = Message {
        cx,
        options,
        password,
        key,
        session: None,
        found: Found {
            cipher: options.cipher,
            s2k_mode: options.s2k_mode,
            s2k_count: options.s2k_count,
            s2k_digest: options.s2k_digest,
            s2k_cipher: options.s2k_cipher,
            session_key: options.session_key,
            disable_mdc: options.disable_mdc,
            compression: options.compression,
            unicode: options.unicode,
        },
        wrong_prefix: false,
        unsupported_compression: false,
        unexpected_binary: false,
        output: Output::new(message.len() + 2048),
    };
    let result = state.read(message);
    if options.expects && result.as_ref().err().is_none_or(is_fault) {
        state.report_unexpected();
    }
    result?;
    Ok((state.output.into_bytes(), state.found.unicode))
}

impl Message<'_> {
    fn corrupt(&self, message: &str) -> pgerror::PgError {
        self.cx.debug(format_args!("{message}"));
        Fault::CorruptData.into()
    }

    fn read(&mut self, message: &[u8]) -> Result<()> {
        let cx = self.cx;
        let mut source = message;
        let mut has_data = false;
        while let Some(header) = Header::read(cx, &mut source, false)? {
            cx.check_interrupts()?;
            let mut packet = PacketReader::new(cx, &mut source, header.length);
            match header.tag {
                tag::MARKER => skip(cx, &mut packet)?,
                tag::PUBLIC_SESSION_KEY => {
                    let session = session_key::decrypt(cx, self.key.as_ref(), &mut packet)?;
                    self.found.cipher = session.cipher;
                    self.session = Some(session);
                }
                tag::SYMMETRIC_SESSION_KEY if self.session.is_none() => {
                    self.read_session_key(&mut packet)?;
                }
                tag::SYMMETRIC_SESSION_KEY => {
                    return Err(self.corrupt("pgp_decrypt: using first of several keys"));
                }
                tag::ENCRYPTED | tag::ENCRYPTED_WITH_MDC => {
                    let with_hash = header.tag == tag::ENCRYPTED_WITH_MDC;
                    let Some(session) = self.session.take() else {
                        return Err(self.corrupt("pgp_decrypt: have data but no key"));
                    };
                    if has_data {
                        return Err(self.corrupt(match with_hash {
                            true => "pgp_decrypt: several data pkts not supported",
                            false => "pgp_decrypt: got second data packet",
                        }));
                    }
                    has_data = true;
                    self.found.disable_mdc = !with_hash;
                    match with_hash {
                        true => self.read_data_with_hash(&mut packet, &session)?,
                        false => self.read_data(&mut packet, &session)?,
                    }
                    self.session = Some(session);
                }
                other => {
                    let message = format!("pgp_decrypt: unknown tag: 0x{other:02x}");
                    return Err(self.corrupt(&message));
                }
            }
        }
        if !has_data || self.wrong_prefix {
            return Err(Fault::CorruptData.into());
        }
        if self.unsupported_compression {
            return Err(Fault::UnsupportedCompression.into());
        }
        if self.unexpected_binary {
            return Err(Fault::NotText.into());
        }
        Ok(())
    }

    /// A packet with the parameters of the password's key, and maybe an encrypted session key.
    fn read_session_key(&mut self, packet: &mut dyn Source) -> Result<()> {
        let cx = self.cx;
        let version = read_byte(cx, packet)?;
        let cipher = read_byte(cx, packet)?;
        self.found.s2k_cipher = Some(cipher);
        if version != 4 {
            return Err(self.corrupt("bad key pkt ver"));
        }
        let s2k = S2k::read(cx, packet)?;
        self.found.s2k_mode = s2k.mode;
        self.found.s2k_count = Some(s2k.count());
        self.found.s2k_digest = s2k.digest;
        let key = s2k.key(cx, cipher, self.password.unwrap_or_default())?;
        let mut encrypted = [0; KEY_BYTES_MAX + 2];
        let session = match read_most(packet, &mut encrypted)? {
            0 => {
                self.found.session_key = false;
                SessionKey { cipher, key }
            }
            count if (17..=KEY_BYTES_MAX + 1).contains(&count) => {
                self.found.session_key = true;
                let decrypted = &mut encrypted[..count];
                Cfb::new(cipher, &key, Mode::Plain, None)?.decrypt(decrypted)?;
                SessionKey { cipher: decrypted[0], key: decrypted[1..].to_vec() }
            }
            _ => return Err(self.corrupt("expect key, but bad data")),
        };
        self.found.cipher = session.cipher;
        let expected = find_cipher(session.cipher).map_or(0, |c| c.key_bytes);
        if expected != session.key.len() {
            return Err(self.corrupt(&format!(
                "sesskey bad len: algo={}, expected={expected}, got={}",
                session.cipher,
                session.key.len()
            )));
        }
        self.session = Some(session);
        Ok(())
    }

    fn read_data(&mut self, packet: &mut dyn Source, session: &SessionKey) -> Result<()> {
        let cfb = Cfb::new(session.cipher, &session.key, Mode::Resync, None)?;
        let mut decrypted = DecryptionReader::new(packet, cfb);
        self.check_prefix(&mut decrypted, session)?;
        self.read_packets(&mut decrypted, true, None)
    }

    fn read_data_with_hash(&mut self, packet: &mut dyn Source, session: &SessionKey) -> Result<()> {
        if read_byte(self.cx, packet)? != 1 {
            return Err(self.corrupt("parse_symenc_mdc_data: pkt ver != 1"));
        }
        let cfb = Cfb::new(session.cipher, &session.key, Mode::Plain, None)?;
        let mut decrypted = DecryptionReader::new(packet, cfb);
        let integrity = Integrity::new();
        let mut hashed = HashingReader::new(self.cx, &mut decrypted, &integrity);
        self.check_prefix(&mut hashed, session)?;
        self.read_packets(&mut hashed, true, Some(&integrity))
    }

    /// Random bytes, of which the last two are repeated.
    fn check_prefix(&mut self, source: &mut dyn Source, session: &SessionKey) -> Result<()> {
        let size = find_cipher(session.cipher).ok_or(Fault::CorruptData)?.block_bytes;
        let mut buffer = [0; BLOCK_BYTES_MAX + 2];
        let prefix = &mut buffer[..size + 2];
        if read_most(source, prefix)? != size + 2 {
            return Err(self.corrupt("prefix_init: short read"));
        }
        if prefix[size - 2..size] != prefix[size..] {
            self.cx.debug(format_args!("prefix_init: corrupt prefix"));
            self.wrong_prefix = true;
        }
        Ok(())
    }

    /// The packets in encrypted or compressed data. `integrity`: the data has a hash.
    fn read_packets(
        &mut self,
        source: &mut dyn Source,
        compressed: bool,
        integrity: Option<&Integrity>,
    ) -> Result<()> {
        let cx = self.cx;
        let (mut has_data, mut has_hash) = (false, false);
        while let Some(header) = Header::read(cx, source, true)? {
            cx.check_interrupts()?;
            if has_hash {
                return Err(self.corrupt("process_data_packets: data after mdc"));
            }
            let (mut checked, mut plain);
            let packet: &mut dyn Source = match (integrity, header.length) {
                (Some(integrity), Length::Indeterminate) => {
                    checked = CheckedReader::new(cx, source, integrity);
                    &mut checked
                }
                _ => {
                    plain = PacketReader::new(cx, source, header.length);
                    &mut plain
                }
            };
            match header.tag {
                tag::LITERAL => {
                    has_data = true;
                    self.read_literal(packet)?;
                }
                tag::COMPRESSED => {
                    if !compressed {
                        let message = "process_data_packets: unexpected compression";
                        return Err(self.corrupt(message));
                    }
                    if has_data {
                        let message = "process_data_packets: only one cmpr pkt allowed";
                        return Err(self.corrupt(message));
                    }
                    has_data = true;
                    self.read_compressed(packet)?;
                }
                tag::MDC => match integrity {
                    None => return Err(self.corrupt("process_data_packets: unexpected MDC")),
                    Some(integrity) => {
                        integrity.check_packet(cx, packet, header.length)?;
                        has_hash = true;
                    }
                },
                other => {
                    let message = format!("process_data_packets: unexpected pkt tag={other}");
                    return Err(self.corrupt(&message));
                }
            }
        }
        if !has_data {
            self.cx.debug(format_args!("process_data_packets: no data"));
        }
        let unchecked = integrity.is_some_and(|i| !has_hash && !i.at_end.get());
        if unchecked {
            self.cx.debug(format_args!("process_data_packets: got no mdc"));
        }
        if !has_data || unchecked { Err(Fault::CorruptData.into()) } else { Ok(()) }
    }

    fn read_compressed(&mut self, packet: &mut dyn Source) -> Result<()> {
        let algorithm = read_byte(self.cx, packet)?;
        self.found.compression = algorithm;
        match algorithm {
            UNCOMPRESSED => self.read_packets(packet, false, None),
            ZIP | ZLIB => {
                let mut data = Inflate::new(self.cx, packet, algorithm);
                self.read_packets(&mut data, false, None)
            }
            BZIP2 => {
                self.cx.debug(format_args!("parse_compressed_data: bzip2 unsupported"));
                self.unsupported_compression = true;
                skip(self.cx, packet)
            }
            _ => Err(self.corrupt("parse_compressed_data: unknown compr type")),
        }
    }

    /// The data itself, behind its kind, a name and a date.
    fn read_literal(&mut self, packet: &mut dyn Source) -> Result<()> {
        let cx = self.cx;
        let kind = read_byte(cx, packet)?;
        let name_bytes = usize::from(read_byte(cx, packet)?);
        let mut buffer = [0; READ_BYTES];
        let name = &mut buffer[..name_bytes];
        if read_most(packet, name)? != name_bytes || read_most(packet, &mut [0; 4])? != 4 {
            return Err(self.corrupt("parse_literal_data: unexpected eof"));
        }
        if self.options.text && kind != b't' && kind != b'u' {
            cx.debug(format_args!("parse_literal_data: data type={}", char::from(kind)));
            self.unexpected_binary = true;
        }
        self.found.unicode = kind == b'u';
        let mut lines = UnixLines::new(self.options.text && self.options.convert_crlf);
        loop {
            match packet.read(&mut buffer)? {
                0 => return lines.finish(&mut self.output),
                count => lines.write(&buffer[..count], &mut self.output)?,
            }
            cx.check_interrupts()?;
        }
    }

    fn report_unexpected(&self) {
        let (expected, found) = (&self.options.expected, &self.found);
        let number = |n: Option<u32>| n.map_or(-1, |n| n as i32);
        let cipher = number(found.s2k_cipher.map(u32::from));
        let s2k_cipher = if found.session_key { expected.s2k_cipher } else { None };
        for (name, expected, got) in [
            ("cipher_algo", expected.cipher, found.cipher.into()),
            ("s2k_mode", expected.s2k_mode, found.s2k_mode.into()),
            ("s2k_count", expected.s2k_count, number(found.s2k_count)),
            ("s2k_digest_algo", expected.s2k_digest, found.s2k_digest.into()),
            ("use_sess_key", expected.session_key, found.session_key.into()),
            ("s2k_cipher_algo", s2k_cipher, cipher),
            ("disable_mdc", expected.disable_mdc, found.disable_mdc.into()),
            ("compress_algo", expected.compression, found.compression.into()),
            ("unicode_mode", expected.unicode, found.unicode.into()),
        ] {
            if let Some(expected) = expected
                && expected != got
            {
                self.cx.host.notice(format!(
                    "pgp_decrypt: unexpected {name}: expected {expected} got {got}"
                ));
            }
        }
    }
}

/// Decrypted bytes of a source.
pub(crate) struct DecryptionReader<'a> {
    source: &'a mut dyn Source,
    cfb: Cfb,
}

impl<'a> DecryptionReader<'a> {
    pub(crate) fn new(source: &'a mut dyn Source, cfb: Cfb) -> DecryptionReader<'a> {
        DecryptionReader { source, cfb }
    }
}

impl Source for DecryptionReader<'_> {
    fn read(&mut self, out: &mut [u8]) -> Result<usize> {
        let count = self.source.read(out)?;
        self.cfb.decrypt(&mut out[..count])?;
        Ok(count)
    }
}
