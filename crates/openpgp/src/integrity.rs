//! The hash of the data at its end (modification detection code, RFC 4880, 5.13 and 5.14).
//!
//! It is usually a packet of its own. If the packet of the data has no length, the data ends where
//! that packet begins, which is 22 bytes before the end of the message.
//!
//! Counterpart: pgp-decrypt.c (`mdc_filter`, `mdcbuf_filter`).

use crate::algorithms::new_sha1;
use crate::error::Fault;
use crate::host::Context;
use crate::packet::Length;
use crate::source::{READ_BYTES, Source, read_most};
use pgerror::Result;
use sha2::digest::DynDigest;
use std::cell::{Cell, RefCell};

/// The length of the hash.
pub(crate) const HASH_BYTES: usize = 20;

/// The header of a packet with the hash.
pub(crate) const HASH_HEADER: [u8; 2] = [0xd3, HASH_BYTES as u8];

/// The hash of what has been read.
pub(crate) struct Integrity {
    digest: RefCell<Box<dyn DynDigest>>,
    /// What is read now is not part of the hashed data.
    paused: Cell<bool>,
    /// The hash was, or will be, checked at the end of the data.
    pub(crate) at_end: Cell<bool>,
}

impl Integrity {
    pub(crate) fn new() -> Integrity {
        Integrity {
            digest: RefCell::new(new_sha1()),
            paused: Cell::new(false),
            at_end: Cell::new(false),
        }
    }

    fn update(&self, bytes: &[u8]) {
        self.digest.borrow_mut().update(bytes);
    }

    fn finish(&self) -> Box<[u8]> {
        self.digest.borrow_mut().finalize_reset()
    }

    /// Compares the hash in a packet of its own. Its header has been read, and hashed.
    pub(crate) fn check_packet(
        &self,
        cx: &Context<'_>,
        packet: &mut dyn Source,
        length: Length,
    ) -> Result<()> {
        if self.at_end.get() {
            return Err(Fault::Internal.into());
        }
        if length != Length::Whole(HASH_BYTES) {
            return Err(Fault::CorruptData.into());
        }
        self.paused.set(true);
        let mut expected = [0; HASH_BYTES];
        match read_most(packet, &mut expected)? {
            HASH_BYTES => (),
            0 => {
                cx.debug(format_args!("no mdc"));
                return Err(Fault::CorruptData.into());
            }
            count => {
                cx.debug(format_args!("mdc_finish: read failed, res={count}"));
                return Err(Fault::CorruptData.into());
            }
        }
        if self.finish()[..] != expected {
            cx.debug(format_args!("mdc_finish: mdc failed"));
            return Err(Fault::CorruptData.into());
        }
        Ok(())
    }
}

/// Hashes what is read. The source has the hash at its end.
pub(crate) struct HashingReader<'a> {
    cx: &'a Context<'a>,
    source: &'a mut dyn Source,
    integrity: &'a Integrity,
}

impl<'a> HashingReader<'a> {
    pub(crate) fn new(
        cx: &'a Context<'a>,
        source: &'a mut dyn Source,
        integrity: &'a Integrity,
    ) -> HashingReader<'a> {
        HashingReader { cx, source, integrity }
    }
}

impl Source for HashingReader<'_> {
    fn read(&mut self, out: &mut [u8]) -> Result<usize> {
        let count = self.source.read(out)?;
        if self.integrity.paused.get() {
            return Ok(count);
        }
        if count == 0 {
            self.cx.debug(format_args!("mdc_read: unexpected eof"));
            return Err(Fault::CorruptData.into());
        }
        self.integrity.update(&out[..count]);
        Ok(count)
    }
}

/// The bytes of a source without the last 22, which are compared with the hash of the others.
pub(crate) struct CheckedReader<'a> {
    cx: &'a Context<'a>,
    source: &'a mut dyn Source,
    integrity: &'a Integrity,
    /// What has been read from the source; the last 22 bytes are held back.
    held: Vec<u8>,
    ended: bool,
}

const TRAILER_BYTES: usize = HASH_HEADER.len() + HASH_BYTES;

impl<'a> CheckedReader<'a> {
    /// Takes the place of the [`HashingReader`] below it.
    pub(crate) fn new(
        cx: &'a Context<'a>,
        source: &'a mut dyn Source,
        integrity: &'a Integrity,
    ) -> CheckedReader<'a> {
        integrity.at_end.set(true);
        integrity.paused.set(true);
        CheckedReader { cx, source, integrity, held: Vec::new(), ended: false }
    }

    fn check(&self) -> Result<()> {
        let hash = self.held.strip_prefix(&HASH_HEADER);
        let Some(hash) = hash else {
            self.cx.debug(format_args!("mdcbuf_finish: bad MDC pkt hdr"));
            return Err(Fault::CorruptData.into());
        };
        self.integrity.update(&HASH_HEADER);
        if self.integrity.finish()[..] != *hash {
            self.cx.debug(format_args!("mdcbuf_finish: MDC does not match"));
            return Err(Fault::CorruptData.into());
        }
        Ok(())
    }
}

impl Source for CheckedReader<'_> {
    fn read(&mut self, out: &mut [u8]) -> Result<usize> {
        while !self.ended && self.held.len() <= TRAILER_BYTES {
            let start = self.held.len();
            self.held.resize(start + READ_BYTES, 0);
            let count = self.source.read(&mut self.held[start..])?;
            self.held.truncate(start + count);
            if count == 0 {
                self.check()?;
                self.ended = true;
            }
        }
        if self.ended {
            return Ok(0);
        }
        let count = out.len().min(self.held.len() - TRAILER_BYTES);
        out[..count].copy_from_slice(&self.held[..count]);
        self.held.drain(..count);
        self.integrity.update(&out[..count]);
        Ok(count)
    }
}
