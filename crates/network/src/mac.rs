//! MAC addresses of 6 and 8 bytes: macaddr and macaddr8, stored as these bytes. Counterpart: mac.c,
//! mac8.c.

use pgerror::{Result, pg_err};
use values::compare::bytes_cmp;
use values::datum::{Datum, DatumRef};
use values::hash::{h32, h64, hash_bytes, hash_bytes_extended};
use values::type_io::{Reader, bad_syntax, is_space, lossy_text};

/// The bytes between the halves of a 6-byte address in its 8-byte form.
const MIDDLE: [u8; 2] = [0xff, 0xfe];

/// What a format of macaddr consists of.
#[derive(Clone, Copy)]
enum Part {
    /// A hexadecimal number of at most this number of characters.
    Hex(usize),
    Literal(u8),
}

/// The formats of macaddr, in the order in which they are tried: `scanf` formats.
const FORMATS: [(usize, &[u8]); 7] = [
    (usize::MAX, b"x:x:x:x:x:x"),
    (usize::MAX, b"x-x-x-x-x-x"),
    (2, b"xxx:xxx"),
    (2, b"xxx-xxx"),
    (2, b"xx.xx.xx"),
    (2, b"xx-xx-xx"),
    (2, b"xxxxxx"),
];

/// A hexadecimal number as `scanf` reads it: after white space, with a sign and `0x`, of at most
/// `width` characters. Its value as an int, and the offset of its end.
fn hex_number(text: &[u8], mut at: usize, width: usize) -> Option<(i32, usize)> {
    while text.get(at).is_some_and(|c| is_space(*c)) {
        at += 1;
    }
    let end = text.len().min(at.saturating_add(width));
    let peek = |at: usize| text[..end].get(at).copied();
    let negative = peek(at) == Some(b'-');
    if matches!(peek(at), Some(b'-' | b'+')) {
        at += 1;
    }
    let mut value = None;
    if peek(at) == Some(b'0') {
        value = Some(0u64);
        at += 1;
        if matches!(peek(at), Some(b'x' | b'X')) {
            at += 1;
        }
    }
    while let Some(digit) = peek(at).and_then(|c| char::from(c).to_digit(16)) {
        value = Some(value.unwrap_or(0).saturating_mul(16).saturating_add(digit.into()));
        at += 1;
    }
    let value = value?;
    // strtoul saturates at the largest number.
    let value = if negative && value < u64::MAX { value.wrapping_neg() } else { value };
    Some((value as u32 as i32, at))
}

/// The six numbers of a text in one of the formats.
fn scan(text: &[u8], width: usize, format: &[u8]) -> Option<[i32; 6]> {
    let (mut at, mut found) = (0, Vec::with_capacity(6));
    for c in format {
        let part = if *c == b'x' { Part::Hex(width) } else { Part::Literal(*c) };
        match part {
            Part::Hex(width) => {
                let (value, end) = hex_number(text, at, width)?;
                found.push(value);
                at = end;
            }
            Part::Literal(c) if text.get(at) == Some(&c) => at += 1,
            Part::Literal(_) => return None,
        }
    }
    let ends = text[at..].iter().all(|c| is_space(*c));
    found.try_into().ok().filter(|_| ends)
}

fn read(text: &[u8]) -> Result<Datum> {
    let found = FORMATS.iter().find_map(|(width, format)| scan(text, *width, format));
    let Some(numbers) = found else { return Err(bad_syntax("macaddr", text)) };
    let mut bytes = Vec::with_capacity(6);
    for n in numbers {
        bytes.push(u8::try_from(n).map_err(|_| {
            let text = lossy_text(text);
            pg_err!(
                NUMERIC_VALUE_OUT_OF_RANGE,
                "invalid octet value in \"macaddr\" value: \"{text}\""
            )
        })?);
    }
    Ok(Datum::bytes(bytes))
}

/// The 8 bytes for the 6 of a shorter address.
fn widened(six: &[u8]) -> Vec<u8> {
    [&six[..3], &MIDDLE, &six[3..]].concat()
}

/// Counterpart: `macaddr8_in`.
fn read8(text: &[u8]) -> Result<Datum> {
    let bad = || bad_syntax("macaddr8", text);
    let peek = |at: usize| text.get(at).copied().unwrap_or(0);
    let start = text.iter().position(|c| !is_space(*c)).unwrap_or(text.len());
    let (mut at, mut bytes, mut spacer) = (start, Vec::new(), None);
    // Digits come in pairs.
    while at + 1 < text.len() {
        let digit = |at: usize| char::from(peek(at)).to_digit(16).ok_or_else(bad);
        let byte = digit(at)? << 4 | digit(at + 1)?;
        bytes.push(byte as u8);
        if bytes.len() > 8 {
            return Err(bad());
        }
        at += 2;
        if matches!(peek(at), b':' | b'-' | b'.') {
            if *spacer.get_or_insert(peek(at)) != peek(at) {
                return Err(bad());
            }
            at += 1;
        }
        if matches!(bytes.len(), 6 | 8) && is_space(peek(at)) {
            if !text[at..].iter().all(|c| is_space(*c)) {
                return Err(bad());
            }
            at = text.len();
        }
    }
    match bytes.len() {
        6 => Ok(Datum::bytes(widened(&bytes))),
        8 => Ok(Datum::bytes(bytes)),
        _ => Err(bad()),
    }
}

fn write(payload: &[u8]) -> Datum {
    let parts: Vec<String> = payload.iter().map(|b| format!("{b:02x}")).collect();
    Datum::text(&parts.join(":"))
}

/// `len` bytes of a message.
fn receive(message: &[u8], len: usize) -> Result<Vec<u8>> {
    let mut r = Reader::new(message);
    let mut out = Vec::with_capacity(len);
    for _ in 0..len {
        out.push(r.byte()?);
    }
    r.end()?;
    Ok(out)
}

fn map(a: DatumRef<'_>, f: impl Fn(usize, u8) -> u8) -> Result<Datum> {
    let bytes = a.as_bytes().iter().enumerate().map(|(i, b)| f(i, *b));
    Ok(Datum::bytes(bytes.collect::<Vec<u8>>()))
}

fn zip(a: &[DatumRef<'_>], f: fn(u8, u8) -> u8) -> Result<Datum> {
    let pairs = a[0].as_bytes().iter().zip(a[1].as_bytes());
    Ok(Datum::bytes(pairs.map(|(x, y)| f(*x, *y)).collect::<Vec<u8>>()))
}

fn narrow(payload: &[u8]) -> Result<Datum> {
    if payload.get(3..5) != Some(&MIDDLE[..]) {
        return Err(pg_err!(
            NUMERIC_VALUE_OUT_OF_RANGE,
            "macaddr8 data out of range to convert to macaddr"
        )
        .hint(
            "Only addresses that have FF and FE as values in the 4th and 5th bytes from the left, \
             for example xx:xx:xx:ff:fe:xx:xx:xx, are eligible to be converted from macaddr8 to \
             macaddr.",
        ));
    }
    Ok(Datum::bytes([&payload[..3], &payload[5..]].concat()))
}

/// The value as a number for estimates. Counterpart: `convert_network_to_scalar`.
pub fn scalar(value: DatumRef<'_>) -> f64 {
    let bytes = value.as_bytes();
    let half = bytes.len() / 2;
    // The halves of 8 bytes are signed numbers.
    let number = |b: &[u8]| b.iter().fold(0i32, |n, b| n << 8 | i32::from(*b));
    f64::from(number(&bytes[..half])) * 256f64.powi(half as i32) + f64::from(number(&bytes[half..]))
}

comparisons! { COMPARISONS;
    bytes_cmp => "macaddr_eq" "macaddr_ne" "macaddr_lt" "macaddr_le" "macaddr_gt" "macaddr_ge";
    bytes_cmp => "macaddr8_eq" "macaddr8_ne" "macaddr8_lt" "macaddr8_le" "macaddr8_gt"
        "macaddr8_ge";
}

scalars! { FNS;
    "macaddr_in" => |_, a| read(a[0].as_bytes()),
    "macaddr_out" => |_, a| Ok(write(a[0].as_bytes())),
    "macaddr_recv" => |_, a| Ok(Datum::bytes(receive(a[0].as_bytes(), 6)?)),
    "macaddr_send" => |_, a| Ok(a[0].to_owned()),
    "macaddr_cmp" => |cx, a| Ok(Datum::int4(bytes_cmp(a[0], a[1], cx.collation()) as i32)),
    "macaddr_not" => |_, a| map(a[0], |_, b| !b),
    "macaddr_and" => |_, a| zip(a, |x, y| x & y),
    "macaddr_or" => |_, a| zip(a, |x, y| x | y),
    "macaddr_trunc" => |_, a| map(a[0], |i, b| if i < 3 { b } else { 0 }),
    "hashmacaddr" => |_, a| Ok(h32(hash_bytes(a[0].as_bytes()))),
    "hashmacaddrextended" => |_, a| Ok(h64(hash_bytes_extended(a[0].as_bytes(), a[1].word()))),
    "macaddr8_in" => |_, a| read8(a[0].as_bytes()),
    "macaddr8_out" => |_, a| Ok(write(a[0].as_bytes())),
    "macaddr8_recv" => |_, a| {
        let message = a[0].as_bytes();
        Ok(Datum::bytes(match message.len() {
            6 => widened(&receive(message, 6)?),
            _ => receive(message, 8)?,
        }))
    },
    "macaddr8_send" => |_, a| Ok(a[0].to_owned()),
    "macaddr8_cmp" => |cx, a| Ok(Datum::int4(bytes_cmp(a[0], a[1], cx.collation()) as i32)),
    "macaddr8_not" => |_, a| map(a[0], |_, b| !b),
    "macaddr8_and" => |_, a| zip(a, |x, y| x & y),
    "macaddr8_or" => |_, a| zip(a, |x, y| x | y),
    "macaddr8_trunc" => |_, a| map(a[0], |i, b| if i < 3 { b } else { 0 }),
    "macaddr8_set7bit" => |_, a| map(a[0], |i, b| if i == 0 { b | 0x02 } else { b }),
    "macaddrtomacaddr8" => |_, a| Ok(Datum::bytes(widened(a[0].as_bytes()))),
    "macaddr8tomacaddr" => |_, a| narrow(a[0].as_bytes()),
    "hashmacaddr8" => |_, a| Ok(h32(hash_bytes(a[0].as_bytes()))),
    "hashmacaddr8extended" => |_, a| Ok(h64(hash_bytes_extended(a[0].as_bytes(), a[1].word()))),
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(found: Result<Datum>) -> String {
        match found {
            Ok(value) => {
                let text = write(value.as_ref().as_bytes());
                String::from_utf8_lossy(text.as_ref().as_bytes()).into_owned()
            }
            Err(e) => e.code().to_string(),
        }
    }

    /// The results are those of PostgreSQL 15.
    #[test]
    fn addresses_of_six_bytes() {
        let all = "08:00:2b:01:02:03";
        for text in [
            "08:00:2b:01:02:03",
            "08-00-2b-01-02-03",
            "08002b:010203",
            "08002b-010203",
            "0800.2b01.0203",
            "0800-2b01-0203",
            "08002b010203",
            " 8:0:2b:1:2:3 ",
        ] {
            assert_eq!(shown(read(text.as_bytes())), all, "{text}");
        }
        assert_eq!(shown(read(b"not even close")), "22P02");
        assert_eq!(shown(read(b"08:00:2b:01:02")), "22P02");
        assert_eq!(shown(read(b"100:00:2b:01:02:03")), "22003");
    }

    #[test]
    fn addresses_of_eight_bytes() {
        let six = "08:00:2b:ff:fe:01:02:03";
        for text in ["08:00:2b:01:02:03", " 08002b010203  ", "0800.2b01.0203", "08002b:010203"] {
            assert_eq!(shown(read8(text.as_bytes())), six, "{text}");
        }
        assert_eq!(shown(read8(b"08-00-2b-01-02-03-04-05")), "08:00:2b:01:02:03:04:05");
        for bad in ["08:00:2b:01:02:03:04", "08-00:2b:01:02:03", "08:00:2b:01:02:03:04:05:06", "x"]
        {
            assert_eq!(shown(read8(bad.as_bytes())), "22P02", "{bad}");
        }
    }

    #[test]
    fn numbers_of_addresses_keep_their_order() {
        let number = |b: &[u8]| scalar(DatumRef::Bytes(b));
        assert_eq!(number(&[0, 0, 0, 0, 1, 0]), 256.0);
        assert!(number(&[1, 0, 0, 0, 0, 0]) > number(&[0, 255, 255, 255, 255, 255]));
    }
}
