//! md5, sha224 to sha512, encode and decode. Counterpart: cryptohashfuncs.c, encode.c.

use crate::bytea::{escape_decode, hex_decode, hex_encode, push_octal};
use md5::Md5;
use pgerror::{Result, pg_err};
use sha2::{Digest, Sha224, Sha256, Sha384, Sha512};
use values::datum::Datum;
use values::fn_context::{FnContext, InterruptTicker};
use values::limits::{PAYLOAD_BYTES_MAX, allocate};
use values::pieces;
use values::type_io::lossy_text;

fn digest<D: Digest>(cx: &dyn FnContext, data: &[u8]) -> Result<Vec<u8>> {
    let mut digest = D::new();
    pieces::each(cx, data, |piece| {
        digest.update(piece);
        Ok(())
    })?;
    Ok(digest.finalize().to_vec())
}

fn md5_text(cx: &dyn FnContext, data: &[u8]) -> Result<Datum> {
    Ok(Datum::bytes(hex_encode(cx, &digest::<Md5>(cx, data)?)?))
}

const BASE64: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// The values of base64's characters; 255 for all others.
const BASE64_VALUES: [u8; 256] = {
    let mut values = [255; 256];
    let mut i = 0;
    while i < 64 {
        values[BASE64[i] as usize] = i as u8;
        i += 1;
    }
    values
};

/// Lines of 76 characters.
fn base64_encode(cx: &dyn FnContext, data: &[u8], length: usize) -> Result<Vec<u8>> {
    let mut out = allocate(length)?;
    let mut ticker = InterruptTicker::default();
    for (i, chunk) in data.chunks(3).enumerate() {
        ticker.tick(cx)?;
        if i > 0 && i % 19 == 0 {
            out.push(b'\n');
        }
        let word =
            chunk.iter().fold(0u32, |w, &b| w << 8 | u32::from(b)) << (8 * (3 - chunk.len()));
        for k in 0..4 {
            out.push(if k <= chunk.len() {
                BASE64[(word >> (18 - 6 * k) & 63) as usize]
            } else {
                b'='
            });
        }
    }
    Ok(out)
}

fn base64_decode(cx: &dyn FnContext, text: &[u8]) -> Result<Vec<u8>> {
    let mut out = allocate(text.len() * 3 / 4)?;
    let mut ticker = InterruptTicker::default();
    let (mut word, mut count, mut end) = (0u32, 0, 0);
    for (i, &c) in text.iter().enumerate() {
        ticker.tick(cx)?;
        if matches!(c, b' ' | b'\t' | b'\n' | b'\r') {
            continue;
        }
        let value = if c == b'=' {
            if end == 0 {
                end = match count {
                    2 => 1,
                    3 => 2,
                    _ => {
                        return Err(pg_err!(
                            INVALID_PARAMETER_VALUE,
                            "unexpected \"=\" while decoding base64 sequence"
                        ));
                    }
                };
            }
            0
        } else {
            match BASE64_VALUES[usize::from(c)] {
                v @ ..64 => u32::from(v),
                _ => {
                    let len = values::text::char_len(&text[i..], values::settings::Encoding::Utf8);
                    return Err(pg_err!(
                        INVALID_PARAMETER_VALUE,
                        "invalid symbol \"{}\" found while decoding base64 sequence",
                        lossy_text(&text[i..i + len])
                    ));
                }
            }
        };
        word = word << 6 | value;
        count += 1;
        if count == 4 {
            out.push((word >> 16) as u8);
            if end == 0 || end > 1 {
                out.push((word >> 8) as u8);
            }
            if end == 0 {
                out.push(word as u8);
            }
            (word, count) = (0, 0);
        }
    }
    if count != 0 {
        return Err(pg_err!(INVALID_PARAMETER_VALUE, "invalid base64 end sequence")
            .hint("Input data is missing padding, is truncated, or is otherwise corrupted."));
    }
    Ok(out)
}

/// Only zero bytes, high bytes and the backslash are escaped.
fn escape_encode(cx: &dyn FnContext, data: &[u8], length: usize) -> Result<Vec<u8>> {
    let mut out = allocate(length)?;
    pieces::each(cx, data, |piece| {
        for &b in piece {
            match b {
                0 | 0x80.. => push_octal(&mut out, b),
                b'\\' => out.extend_from_slice(b"\\\\"),
                _ => out.push(b),
            }
        }
        Ok(())
    })?;
    Ok(out)
}

fn unknown(name: &[u8]) -> pgerror::PgError {
    pg_err!(INVALID_PARAMETER_VALUE, "unrecognized encoding: \"{}\"", lossy_text(name))
}

fn encode(cx: &dyn FnContext, data: &[u8], name: &[u8]) -> Result<Vec<u8>> {
    let kind = name.to_ascii_lowercase();
    let length: usize = match kind.as_slice() {
        b"hex" => 2 * data.len(),
        // Four characters for three bytes, and the line ends, by PostgreSQL's estimate.
        b"base64" => data.len().div_ceil(3) * 4 + data.len() / (76 * 3 / 4),
        b"escape" => data.iter().map(escaped_length).sum(),
        _ => return Err(unknown(name)),
    };
    if length > PAYLOAD_BYTES_MAX {
        return Err(pg_err!(PROGRAM_LIMIT_EXCEEDED, "result of encoding conversion is too large"));
    }
    match kind.as_slice() {
        b"hex" => hex_encode(cx, data),
        b"base64" => base64_encode(cx, data, length),
        _ => escape_encode(cx, data, length),
    }
}

fn escaped_length(b: &u8) -> usize {
    match b {
        0 | 0x80.. => 4,
        b'\\' => 2,
        _ => 1,
    }
}

fn decode(cx: &dyn FnContext, text: &[u8], name: &[u8]) -> Result<Vec<u8>> {
    match name.to_ascii_lowercase().as_slice() {
        b"hex" => hex_decode(cx, text),
        b"base64" => base64_decode(cx, text),
        b"escape" => escape_decode(cx, text),
        _ => Err(unknown(name)),
    }
}

scalars! { FNS;
    "md5_text" => |cx, a| md5_text(cx, a[0].as_bytes()),
    "md5_bytea" => |cx, a| md5_text(cx, a[0].as_bytes()),
    "sha224_bytea" => |cx, a| Ok(Datum::bytes(digest::<Sha224>(cx, a[0].as_bytes())?)),
    "sha256_bytea" => |cx, a| Ok(Datum::bytes(digest::<Sha256>(cx, a[0].as_bytes())?)),
    "sha384_bytea" => |cx, a| Ok(Datum::bytes(digest::<Sha384>(cx, a[0].as_bytes())?)),
    "sha512_bytea" => |cx, a| Ok(Datum::bytes(digest::<Sha512>(cx, a[0].as_bytes())?)),
    "binary_encode" => |cx, a| Ok(Datum::bytes(encode(cx, a[0].as_bytes(), a[1].as_bytes())?)),
    "binary_decode" => |cx, a| Ok(Datum::bytes(decode(cx, a[0].as_bytes(), a[1].as_bytes())?)),
}
