//! "char" and name. Counterpart: char.c, name.c.

use crate::compare::bpchar_trimmed;
use crate::datum::Datum;
use crate::fn_context::FnContext;
use crate::settings::Encoding;
use crate::type_io::{Reader, out_of_range};

/// Length of the longest prefix of `text` that fits `limit` bytes and does not split a character.
pub fn clip(text: &[u8], limit: usize, encoding: Encoding) -> usize {
    if text.len() <= limit {
        return text.len();
    }
    let mut end = limit;
    if encoding == Encoding::Utf8 {
        while end > 0 && text[end] & 0xC0 == 0x80 {
            end -= 1;
        }
    }
    end
}

/// A `name` of `text`, truncated to 63 bytes at a character boundary.
pub fn name_of(text: &[u8], encoding: Encoding) -> Datum {
    let mut out = vec![0u8; 64];
    let end = clip(text, 63, encoding);
    out[..end].copy_from_slice(&text[..end]);
    Datum::bytes(out)
}

/// A byte that is not ASCII is shown as a backslash and three octal digits.
fn char_to_text(c: u8) -> Datum {
    match c {
        0 => Datum::bytes([]),
        0x80.. => Datum::text(&format!("\\{c:03o}")),
        _ => Datum::bytes([c]),
    }
}

fn char_from_text(text: &[u8]) -> Datum {
    Datum::char(match text {
        [b'\\', a @ b'0'..=b'7', b @ b'0'..=b'7', c @ b'0'..=b'7'] => {
            ((a - b'0') << 6).wrapping_add((b - b'0') << 3).wrapping_add(c - b'0')
        }
        _ => text.first().copied().unwrap_or(0),
    })
}

fn encoding(cx: &dyn FnContext) -> Encoding {
    cx.settings().encoding
}

scalars! { FNS;
    "charin" => |_, a| Ok(char_from_text(a[0].as_bytes())),
    "charout" => |_, a| Ok(char_to_text(a[0].as_char())),
    "charrecv" => |_, a| Ok(Datum::char(Reader::new(a[0].as_bytes()).byte()?)),
    "charsend" => |_, a| Ok(Datum::bytes([a[0].as_char()])),
    "chartoi4" => |_, a| Ok(Datum::int4((a[0].as_char() as i8).into())),
    "i4tochar" => |_, a| match i8::try_from(a[0].as_i32()) {
        Ok(c) => Ok(Datum::char(c as u8)),
        Err(_) => Err(out_of_range("\"char\"")),
    },
    "text_char" => |_, a| Ok(char_from_text(a[0].as_bytes())),
    "char_text" => |_, a| Ok(char_to_text(a[0].as_char())),
    "char_bpchar" => |_, a| Ok(Datum::bytes([a[0].as_char()])),
    "namein" => |cx, a| Ok(name_of(a[0].as_bytes(), encoding(cx))),
    "nameout" => |_, a| Ok(Datum::bytes(a[0].as_name())),
    "namerecv" => |cx, a| {
        let text = crate::text::from_client(cx, a[0].as_bytes())?;
        if text.len() > 63 {
            return Err(pgerror::pg_err!(NAME_TOO_LONG, "identifier too long")
                .detail("Identifier must be less than 64 characters."));
        }
        Ok(name_of(&text, encoding(cx)))
    },
    "namesend" => |cx, a| crate::text::for_client(cx, a[0].as_name()).map(Datum::bytes),
    "name_text" => |_, a| Ok(Datum::bytes(a[0].as_name())),
    "name_bpchar" => |_, a| Ok(Datum::bytes(a[0].as_name())),
    "text_name" => |cx, a| Ok(name_of(a[0].as_bytes(), encoding(cx))),
    "bpchar_name" => |cx, a| {
        let text = a[0].as_bytes();
        let end = clip(text, 63, encoding(cx));
        Ok(name_of(bpchar_trimmed(&text[..end]), encoding(cx)))
    },
    "nameconcatoid" => |cx, a| {
        let suffix = format!("_{}", a[1].as_oid());
        let name = a[0].as_name();
        let end = clip(name, 63 - suffix.len(), encoding(cx));
        Ok(name_of(&[&name[..end], suffix.as_bytes()].concat(), encoding(cx)))
    },
}
