//! md5, the sha family, encode and decode.

use crate::Datum;
use crate::bytea::{escape_decode, hex_decode, hex_encode};
use crate::form::shown;
use crate::limits::PAYLOAD_BYTES_MAX;
use md5::Md5;
use pgerror::{Result, pg_err};
use sha2::{Digest, Sha224, Sha256, Sha384, Sha512};

fn md5_text(data: &[u8]) -> Datum {
    Datum::bytes(hex_encode(&Md5::digest(data)))
}

const BASE64: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Lines of 76 characters.
fn base64_encode(data: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(data.len() * 4 / 3 + 8);
    for (i, chunk) in data.chunks(3).enumerate() {
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
    out
}

fn base64_decode(text: &[u8]) -> Result<Vec<u8>> {
    let mut out = Vec::with_capacity(text.len() * 3 / 4);
    let (mut word, mut count, mut end) = (0u32, 0, 0);
    for (i, &c) in text.iter().enumerate() {
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
            match BASE64.iter().position(|&b| b == c) {
                Some(v) => v as u32,
                None => {
                    let len = crate::text::char_len(&text[i..], crate::settings::Encoding::Utf8);
                    return Err(pg_err!(
                        INVALID_PARAMETER_VALUE,
                        "invalid symbol \"{}\" found while decoding base64 sequence",
                        shown(&text[i..i + len])
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
fn escape_encode(data: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(data.len());
    for &b in data {
        match b {
            0 | 0x80.. => out.extend_from_slice(format!("\\{b:03o}").as_bytes()),
            b'\\' => out.extend_from_slice(b"\\\\"),
            _ => out.push(b),
        }
    }
    out
}

fn unknown(name: &[u8]) -> pgerror::PgError {
    pg_err!(INVALID_PARAMETER_VALUE, "unrecognized encoding: \"{}\"", shown(name))
}

fn encode(data: &[u8], name: &[u8]) -> Result<Vec<u8>> {
    let (length, encode): (usize, fn(&[u8]) -> Vec<u8>) = match name.to_ascii_lowercase().as_slice()
    {
        b"hex" => (2 * data.len(), hex_encode),
        // Four characters for three bytes, and the ends of lines, by PostgreSQL's estimate.
        b"base64" => (data.len().div_ceil(3) * 4 + data.len() / (76 * 3 / 4), base64_encode),
        b"escape" => (data.iter().map(escaped_length).sum(), escape_encode),
        _ => return Err(unknown(name)),
    };
    if length > PAYLOAD_BYTES_MAX {
        return Err(pg_err!(PROGRAM_LIMIT_EXCEEDED, "result of encoding conversion is too large"));
    }
    Ok(encode(data))
}

fn escaped_length(b: &u8) -> usize {
    match b {
        0 | 0x80.. => 4,
        b'\\' => 2,
        _ => 1,
    }
}

fn decode(text: &[u8], name: &[u8]) -> Result<Vec<u8>> {
    match name.to_ascii_lowercase().as_slice() {
        b"hex" => hex_decode(text),
        b"base64" => base64_decode(text),
        b"escape" => escape_decode(text),
        _ => Err(unknown(name)),
    }
}

scalars! { FNS;
    "md5_text" => |_, a| Ok(md5_text(a[0].as_bytes())),
    "md5_bytea" => |_, a| Ok(md5_text(a[0].as_bytes())),
    "sha224_bytea" => |_, a| Ok(Datum::bytes(Sha224::digest(a[0].as_bytes()).to_vec())),
    "sha256_bytea" => |_, a| Ok(Datum::bytes(Sha256::digest(a[0].as_bytes()).to_vec())),
    "sha384_bytea" => |_, a| Ok(Datum::bytes(Sha384::digest(a[0].as_bytes()).to_vec())),
    "sha512_bytea" => |_, a| Ok(Datum::bytes(Sha512::digest(a[0].as_bytes()).to_vec())),
    "binary_encode" => |_, a| Ok(Datum::bytes(encode(a[0].as_bytes(), a[1].as_bytes())?)),
    "binary_decode" => |_, a| Ok(Datum::bytes(decode(a[0].as_bytes(), a[1].as_bytes())?)),
}
