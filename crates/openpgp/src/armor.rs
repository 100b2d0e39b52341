//! Armor: base64 with a checksum, between lines that begin and end it (RFC 4880, 6).
//!
//! Counterpart: pgp-armor.c.

use crate::error::Fault;
use crate::host::Host;
use pgerror::Result;
use values::limits::{ALLOCATION_BYTES_MAX, TextBuffer, buffer_full};
use values::memory;
use values::pieces::PIECE_BYTES;

const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const BEGIN_LINE: &[u8] = b"-----BEGIN PGP MESSAGE-----\n";
const END_LINE: &[u8] = b"\n-----END PGP MESSAGE-----\n";
const DASHES: &[u8] = b"-----";

/// The number of bytes in a line of base64.
const LINE_BYTES: usize = 76 / 4 * 3;

/// The checksum; it starts with this value, and has this polynomial.
const CHECKSUM_START: u32 = 0xb704ce;
const CHECKSUM_POLYNOMIAL: u32 = 0x0186_4cfb;

const fn checksum_table() -> [u32; 256] {
    let mut table = [0; 256];
    let mut i = 0;
    while i < 256 {
        let mut value = (i as u32) << 16;
        let mut bit = 0;
        while bit < 8 {
            value <<= 1;
            if value & 0x0100_0000 != 0 {
                value ^= CHECKSUM_POLYNOMIAL;
            }
            bit += 1;
        }
        table[i] = value;
        i += 1;
    }
    table
}

static CHECKSUM_TABLE: [u32; 256] = checksum_table();

fn checksum(host: &dyn Host, bytes: &[u8]) -> Result<u32> {
    let mut sum = CHECKSUM_START;
    for piece in bytes.chunks(PIECE_BYTES) {
        for byte in piece {
            let index = (sum >> 16) as u8 ^ byte;
            sum = ((sum << 8) & 0xff_ffff) ^ CHECKSUM_TABLE[usize::from(index)];
        }
        host.check_interrupts()?;
    }
    Ok(sum)
}

/// The digits of up to three bytes, with `=` for missing ones.
fn group(bytes: &[u8]) -> [u8; 4] {
    let at = |i: usize| u32::from(bytes.get(i).copied().unwrap_or(0));
    let value = (at(0) << 16) | (at(1) << 8) | at(2);
    let mut out = [18, 12, 6, 0].map(|shift| DIGITS[((value >> shift) & 63) as usize]);
    out[bytes.len() + 1..].fill(b'=');
    out
}

/// The bytes with armor. `headers`: names and values without line ends.
pub fn encode(host: &dyn Host, bytes: &[u8], headers: &[(&[u8], &[u8])]) -> Result<Vec<u8>> {
    let sum = checksum(host, bytes)?;
    let mut out = TextBuffer::new();
    out.extend_from_slice(BEGIN_LINE);
    for (name, value) in headers {
        out.extend_printed(&[name, b": ", value, b"\n"]);
    }
    out.push(b'\n');
    out.check()?;
    let estimate = (bytes.len() + 2) * 4 / 3 + bytes.len() / LINE_BYTES;
    if estimate >= ALLOCATION_BYTES_MAX - out.len() {
        return Err(buffer_full(out.len(), estimate));
    }
    for (i, line) in bytes.chunks(LINE_BYTES).enumerate() {
        let mut text = [b'\n'; LINE_BYTES / 3 * 4 + 1];
        let mut length = 0;
        for part in line.chunks(3) {
            text[length..length + 4].copy_from_slice(&group(part));
            length += 4;
        }
        out.extend_from_slice(&text[..length + 1]);
        if i % 4096 == 0 {
            host.check_interrupts()?;
            out.check()?;
        }
    }
    out.push(b'=');
    out.extend_from_slice(&group(&sum.to_be_bytes()[1..]));
    out.extend_from_slice(END_LINE);
    out.into_bytes()
}

fn find(text: &[u8], part: &[u8]) -> Option<usize> {
    let mut from = 0;
    loop {
        let start = from + text[from..].iter().position(|b| *b == part[0])?;
        let rest = text.get(start..start + part.len())?;
        if rest == part {
            return Some(start);
        }
        from = start + 1;
    }
}

/// Where the line that begins with `start` begins and ends.
fn find_line(text: &[u8], start: &[u8]) -> Option<(usize, usize)> {
    let mut from = 0;
    let begin = loop {
        let at = from + find(&text[from..], start)?;
        if at == 0 || text[at - 1] == b'\n' {
            break at;
        }
        from = at + start.len();
    };
    let name = begin + start.len();
    let length = text[name..].iter().position(|b| *b == b'-' || *b < b' ');
    let dashes = name + length?;
    let rest = text[dashes..].strip_prefix(DASHES)?;
    let line_end = match rest {
        [] => 0,
        [b'\r', b'\n', ..] => 2,
        [b'\r' | b'\n', ..] => 1,
        _ => return None,
    };
    Some((begin, dashes + DASHES.len() + line_end))
}

/// The parts of an armored text.
struct Parts<'a> {
    /// The lines of the headers.
    headers: &'a [u8],
    /// From the empty line on, up to the line that ends it.
    data: &'a [u8],
    /// The line that ends it, and what follows.
    end: &'a [u8],
}

fn parts(text: &[u8]) -> Result<Parts<'_>> {
    let find_parts = || {
        let (_, start) = find_line(text, b"-----BEGIN")?;
        let rest = &text[start..];
        let (end, _) = find_line(rest, b"-----END")?;
        let body = &rest[..end];
        let mut data = 0;
        while data < end && !matches!(body[data], b'\n' | b'\r') {
            data += body[data..].iter().position(|b| *b == b'\n')? + 1;
        }
        Some(Parts { headers: &body[..data], data: &body[data..], end: &rest[end..] })
    };
    Ok(find_parts().ok_or(Fault::CorruptArmor)?)
}

/// The bytes in an armored text.
pub fn decode(host: &dyn Host, text: &[u8]) -> Result<Vec<u8>> {
    let parts = parts(text)?;
    let sum_at = parts.data.iter().rposition(|b| *b == b'=').ok_or(Fault::CorruptArmor)?;
    // The checksum may be followed by the last line at once.
    let sum = parts.data[sum_at + 1..].iter().chain(parts.end).take(4);
    let sum: Vec<u8> = sum.copied().collect();
    let sum = decode_base64(host, &sum)?;
    let base64 = &parts.data[..sum_at.saturating_sub(1)];
    let bytes = decode_base64(host, base64)?;
    let expected = checksum(host, &bytes)?.to_be_bytes();
    if sum != expected[1..] {
        return Err(Fault::CorruptArmor.into());
    }
    Ok(bytes)
}

/// Decodes base64. A `=` in the last group but one place says how many bytes that and all later
/// groups have.
fn decode_base64(host: &dyn Host, text: &[u8]) -> Result<Vec<u8>> {
    let mut out = memory::with_capacity(text.len() / 4 * 3 + 3)?;
    let (mut value, mut digits, mut bytes) = (0u32, 0, 3);
    for piece in text.chunks(PIECE_BYTES) {
        for &digit in piece {
            let number = match digit {
                b'A'..=b'Z' => digit - b'A',
                b'a'..=b'z' => digit - b'a' + 26,
                b'0'..=b'9' => digit - b'0' + 52,
                b'+' => 62,
                b'/' => 63,
                b'=' if bytes == 3 && digits < 2 => return Err(Fault::CorruptArmor.into()),
                b'=' => {
                    if bytes == 3 {
                        bytes = digits - 1;
                    }
                    0
                }
                b' ' | b'\t' | b'\n' | b'\r' => continue,
                _ => return Err(Fault::CorruptArmor.into()),
            };
            value = (value << 6) | u32::from(number);
            digits += 1;
            if digits == 4 {
                out.extend_from_slice(&value.to_be_bytes()[1..1 + bytes]);
                (value, digits) = (0, 0);
            }
        }
        host.check_interrupts()?;
    }
    if digits != 0 {
        return Err(Fault::CorruptArmor.into());
    }
    Ok(out)
}

/// The headers of an armored text: names and values.
#[derive(Clone)]
pub struct Headers<'a> {
    /// The lines of the headers that follow.
    lines: &'a [u8],
}

impl<'a> Headers<'a> {
    /// The headers of a text; an error if one has no name.
    pub fn read(host: &dyn Host, text: &'a [u8]) -> Result<Headers<'a>> {
        let headers = Headers::of_lines(parts(text)?.headers);
        let mut checked = headers.clone();
        for count in 1usize.. {
            if checked.next().is_none() {
                break;
            }
            if count.is_multiple_of(4096) {
                host.check_interrupts()?;
            }
        }
        if checked.lines.is_empty() { Ok(headers) } else { Err(Fault::CorruptArmor.into()) }
    }

    /// The headers in lines that [`Headers::lines`] has returned.
    pub fn of_lines(lines: &'a [u8]) -> Headers<'a> {
        Headers { lines }
    }

    /// The lines of the headers that follow.
    pub fn lines(&self) -> &'a [u8] {
        self.lines
    }
}

impl<'a> Iterator for Headers<'a> {
    type Item = (&'a [u8], &'a [u8]);

    /// `None` also at a line that is not a header.
    fn next(&mut self) -> Option<Self::Item> {
        let end = self.lines.iter().position(|b| *b == b'\n')?;
        let line = &self.lines[..end];
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let colon = find(line, b": ")?;
        self.lines = &self.lines[end + 1..];
        Some((&line[..colon], &line[colon + 2..]))
    }
}
