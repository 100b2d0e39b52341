//! Upper and lower case. Under the C collation only ASCII letters change; elsewhere each character by its
//! simple Unicode mapping, as the C library's one-to-one functions do.

use crate::settings::Encoding;
use crate::{Datum, FnContext};
use ids::Oid;
use pgerror::{Result, pg_err};

const COLLATION_DEFAULT: Oid = Oid(100);
const COLLATION_C: Oid = Oid(950);
const COLLATION_POSIX: Oid = Oid(951);

/// Do only ASCII letters have case under the call's collation? An error where none is known.
pub(crate) fn ascii_only(cx: &dyn FnContext, function: &str) -> Result<bool> {
    let s = cx.settings();
    match cx.collation() {
        Oid::INVALID => Err(pg_err!(
            INDETERMINATE_COLLATION,
            "could not determine which collation to use for {function} function"
        )
        .hint("Use the COLLATE clause to set the collation explicitly.")),
        COLLATION_C | COLLATION_POSIX => Ok(true),
        COLLATION_DEFAULT => Ok(s.ctype_is_c || s.encoding != Encoding::Utf8),
        _ => Ok(s.encoding != Encoding::Utf8),
    }
}

fn simple(c: char, mut mapped: impl Iterator<Item = char>) -> char {
    match (mapped.next(), mapped.next()) {
        (Some(one), None) => one,
        _ => c,
    }
}

/// Lower case of one character.
pub(crate) fn lower_char(c: char) -> char {
    simple(c, c.to_lowercase())
}

/// Upper case of one character.
pub(crate) fn upper_char(c: char) -> char {
    simple(c, c.to_uppercase())
}

/// `text` in lower case.
pub(crate) fn lower(text: &[u8], ascii: bool) -> Vec<u8> {
    match std::str::from_utf8(text) {
        Ok(s) if !ascii => s.chars().map(lower_char).collect::<String>().into_bytes(),
        _ => text.to_ascii_lowercase(),
    }
}

fn upper(text: &[u8], ascii: bool) -> Vec<u8> {
    match std::str::from_utf8(text) {
        Ok(s) if !ascii => s.chars().map(upper_char).collect::<String>().into_bytes(),
        _ => text.to_ascii_uppercase(),
    }
}

/// First letter of each word upper, the others lower; words are of letters and digits.
fn initcap(text: &[u8], ascii: bool) -> Vec<u8> {
    let mut inside = false;
    match std::str::from_utf8(text) {
        Ok(s) if !ascii => {
            let mut map = |c: char| {
                let out = if inside { lower_char(c) } else { upper_char(c) };
                inside = c.is_alphanumeric();
                out
            };
            s.chars().map(&mut map).collect::<String>().into_bytes()
        }
        _ => {
            let mut map = |c: &u8| {
                let out = if inside { c.to_ascii_lowercase() } else { c.to_ascii_uppercase() };
                inside = c.is_ascii_alphanumeric();
                out
            };
            text.iter().map(&mut map).collect()
        }
    }
}

scalars! { FNS;
    "lower" => |cx, a| Ok(Datum::bytes(lower(a[0].as_bytes(), ascii_only(cx, "lower()")?))),
    "upper" => |cx, a| Ok(Datum::bytes(upper(a[0].as_bytes(), ascii_only(cx, "upper()")?))),
    "initcap" => |cx, a| Ok(Datum::bytes(initcap(a[0].as_bytes(), ascii_only(cx, "initcap()")?))),
}
