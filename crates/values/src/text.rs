//! text, varchar, bpchar: input and output, typmods and length coercions. Counterpart: varchar.c,
//! varlena.c.

use crate::compare::bpchar_trimmed;
use crate::datum::{Datum, DatumRef};
use crate::fn_context::FnContext;
use crate::limits::allocate_payload;
use crate::settings::Encoding;
use pgerror::{Result, pg_err};
use std::borrow::Cow;

/// Number of characters.
pub fn char_count(text: &[u8], encoding: Encoding) -> usize {
    match encoding {
        Encoding::Utf8 => text.iter().filter(|&&c| c & 0xC0 != 0x80).count(),
        _ => text.len(),
    }
}

/// Byte offset of character `n` (0-based), or the length of the text if it has fewer characters.
pub fn char_offset(text: &[u8], n: usize, encoding: Encoding) -> usize {
    if encoding != Encoding::Utf8 {
        return n.min(text.len());
    }
    let starts = text.iter().enumerate().filter(|(_, c)| **c & 0xC0 != 0x80);
    starts.map(|(i, _)| i).nth(n).unwrap_or(text.len())
}

/// Length in bytes of the character at the start of `text`.
pub fn char_len(text: &[u8], encoding: Encoding) -> usize {
    if encoding != Encoding::Utf8 {
        return 1;
    }
    1 + text.iter().skip(1).take_while(|&&c| c & 0xC0 == 0x80).count()
}

/// 22021 if `text` is not valid in the database's encoding.
pub fn verify(cx: &dyn FnContext, text: &[u8]) -> Result<()> {
    verify_in(cx.settings().encoding, text)
}

/// 22021 if `text` is not valid in the encoding.
pub fn verify_in(encoding: Encoding, text: &[u8]) -> Result<()> {
    let bad = match encoding {
        Encoding::Utf8 => match std::str::from_utf8(text) {
            Ok(_) => text.iter().position(|&c| c == 0),
            Err(e) => Some(
                text.iter()
                    .position(|&c| c == 0)
                    .map_or(e.valid_up_to(), |z| z.min(e.valid_up_to())),
            ),
        },
        _ => text.iter().position(|&c| c == 0),
    };
    let Some(at) = bad else { return Ok(()) };
    let lead = text[at];
    let len = match (encoding, lead) {
        (Encoding::Utf8, 0xC0..=0xDF) => 2,
        (Encoding::Utf8, 0xE0..=0xEF) => 3,
        (Encoding::Utf8, 0xF0..=0xF7) => 4,
        _ => 1,
    };
    let shown: Vec<String> = text[at..].iter().take(len).map(|b| format!("0x{b:02x}")).collect();
    Err(pg_err!(
        CHARACTER_NOT_IN_REPERTOIRE,
        "invalid byte sequence for encoding \"{}\": {}",
        encoding.name(),
        shown.join(" ")
    ))
}

/// Blank-pads or truncates to the typmod's length. Truncated characters must be blanks unless
/// `explicit`.
pub fn bpchar_coerce(
    text: &[u8],
    typmod: i32,
    explicit: bool,
    encoding: Encoding,
) -> Result<Vec<u8>> {
    if typmod < 5 {
        return Ok(text.to_vec());
    }
    let want = (typmod - 4) as usize;
    let have = char_count(text, encoding);
    if have <= want {
        let size = text.len() + want - have;
        let mut out = allocate_payload(size)?;
        out.extend_from_slice(text);
        out.resize(size, b' ');
        return Ok(out);
    }
    let end = char_offset(text, want, encoding);
    if !explicit && text[end..].iter().any(|&c| c != b' ') {
        return Err(pg_err!(
            STRING_DATA_RIGHT_TRUNCATION,
            "value too long for type character({want})"
        ));
    }
    Ok(text[..end].to_vec())
}

/// Truncates to the typmod's length. Truncated characters must be blanks unless `explicit`.
pub fn varchar_coerce(
    text: &[u8],
    typmod: i32,
    explicit: bool,
    encoding: Encoding,
) -> Result<&[u8]> {
    if typmod < 4 {
        return Ok(text);
    }
    let limit = (typmod - 4) as usize;
    if text.len() <= limit || char_count(text, encoding) <= limit {
        return Ok(text);
    }
    let end = char_offset(text, limit, encoding);
    if !explicit && text[end..].iter().any(|&c| c != b' ') {
        return Err(pg_err!(
            STRING_DATA_RIGHT_TRUNCATION,
            "value too long for type character varying({limit})"
        ));
    }
    Ok(&text[..end])
}

fn typmod_arg(a: &[DatumRef<'_>], i: usize) -> i32 {
    a.get(i).map_or(-1, |d| d.as_i32())
}

/// The typmod of `char(n)` and `varchar(n)` from an array of cstrings.
fn length_typmod(array: DatumRef<'_>, type_name: &str) -> Result<Datum> {
    let mods = crate::array::payload::cstring_integers(array)?;
    let [n] = mods[..] else {
        return Err(pg_err!(INVALID_PARAMETER_VALUE, "invalid type modifier"));
    };
    if n < 1 {
        return Err(pg_err!(
            INVALID_PARAMETER_VALUE,
            "length for type {type_name} must be at least 1"
        ));
    }
    if n > 10_485_760 {
        return Err(pg_err!(
            INVALID_PARAMETER_VALUE,
            "length for type {type_name} cannot exceed 10485760"
        ));
    }
    Ok(Datum::int4(n + 4))
}

fn length_typmod_text(typmod: i32) -> Datum {
    if typmod > 4 { Datum::text(&format!("({})", typmod - 4)) } else { Datum::bytes([]) }
}

/// A text in the encoding of the client, for a value in binary format. Counterpart: `pq_sendtext`.
pub fn for_client<'a>(cx: &dyn FnContext, text: &'a [u8]) -> Result<Cow<'a, [u8]>> {
    match &cx.settings().client_encoder {
        Some(encoder) if !text.is_ascii() => {
            let mut out = Vec::with_capacity(text.len());
            encoder.encode(text, &mut out)?;
            Ok(out.into())
        }
        _ => Ok(text.into()),
    }
}

/// A text of a value in binary format in the encoding of the database, verified. Counterpart:
/// `pq_getmsgtext`.
pub fn from_client<'a>(cx: &dyn FnContext, text: &'a [u8]) -> Result<Cow<'a, [u8]>> {
    match &cx.settings().client_decoder {
        Some(decoder) if !text.is_ascii() => decoder.decode(text).map(Cow::from),
        _ => verify(cx, text).map(|()| text.into()),
    }
}

/// The value of `textrecv` and of functions like it.
pub fn receive(cx: &dyn FnContext, d: DatumRef<'_>) -> Result<Datum> {
    match &cx.settings().client_decoder {
        None => verify(cx, d.as_bytes()).map(|()| d.to_owned()),
        Some(_) => from_client(cx, d.as_bytes()).map(Datum::bytes),
    }
}

/// The value of `textsend` and of functions like it.
pub fn send(cx: &dyn FnContext, d: DatumRef<'_>) -> Result<Datum> {
    match &cx.settings().client_encoder {
        None => Ok(d.to_owned()),
        Some(_) => for_client(cx, d.as_bytes()).map(Datum::bytes),
    }
}

scalars! { FNS;
    "textin" => |_, a| Ok(a[0].to_owned()),
    "textout" => |_, a| Ok(a[0].to_owned()),
    "textrecv" => |cx, a| receive(cx, a[0]),
    "textsend" => |cx, a| send(cx, a[0]),
    "varcharin" => |cx, a| Ok(Datum::bytes(
        varchar_coerce(a[0].as_bytes(), typmod_arg(a, 2), false, cx.settings().encoding)?)),
    "varcharout" => |_, a| Ok(a[0].to_owned()),
    "varcharrecv" => |cx, a| {
        let text = from_client(cx, a[0].as_bytes())?;
        let encoding = cx.settings().encoding;
        Ok(Datum::bytes(varchar_coerce(&text, typmod_arg(a, 2), false, encoding)?))
    },
    "varcharsend" => |cx, a| send(cx, a[0]),
    "varchar" => |cx, a| Ok(Datum::bytes(
        varchar_coerce(a[0].as_bytes(), a[1].as_i32(), a[2].as_bool(), cx.settings().encoding)?)),
    "bpcharin" => |cx, a| Ok(Datum::bytes(
        bpchar_coerce(a[0].as_bytes(), typmod_arg(a, 2), false, cx.settings().encoding)?)),
    "bpcharout" => |_, a| Ok(a[0].to_owned()),
    "bpcharrecv" => |cx, a| {
        let text = from_client(cx, a[0].as_bytes())?;
        let encoding = cx.settings().encoding;
        Ok(Datum::bytes(bpchar_coerce(&text, typmod_arg(a, 2), false, encoding)?))
    },
    "bpcharsend" => |cx, a| send(cx, a[0]),
    "bpchar" => |cx, a| Ok(Datum::bytes(
        bpchar_coerce(a[0].as_bytes(), a[1].as_i32(), a[2].as_bool(), cx.settings().encoding)?)),
    "bpcharlen" => |cx, a| Ok(Datum::int4(
        char_count(bpchar_trimmed(a[0].as_bytes()), cx.settings().encoding) as i32)),
    "bpcharoctetlen" => |_, a| Ok(Datum::int4(a[0].as_bytes().len() as i32)),
    "bpchartypmodin" => |_, a| length_typmod(a[0], "char"),
    "bpchartypmodout" => |_, a| Ok(length_typmod_text(a[0].as_i32())),
    "varchartypmodin" => |_, a| length_typmod(a[0], "varchar"),
    "varchartypmodout" => |_, a| Ok(length_typmod_text(a[0].as_i32())),
}
