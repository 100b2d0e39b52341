//! Case and classes of characters in databases whose locale is C.UTF-8: as the C library has them,
//! or by the data of Rust's standard library where the machine has no such locale.

use crate::Locale;
use std::sync::OnceLock;

fn c_utf8() -> Option<&'static Locale> {
    static LOCALE: OnceLock<Option<Locale>> = OnceLock::new();
    LOCALE.get_or_init(|| Locale::libc("C", "C.UTF-8", false).ok()).as_ref()
}

fn single(c: char, mut mapped: impl Iterator<Item = char>) -> char {
    match (mapped.next(), mapped.next()) {
        (Some(one), None) => one,
        _ => c,
    }
}

/// Lower case of one character.
#[inline]
pub fn lower_char(c: char) -> char {
    if c.is_ascii() {
        return c.to_ascii_lowercase();
    }
    match c_utf8() {
        Some(locale) => char::from_u32(locale.lower_char(c as u32)).unwrap_or(c),
        None => single(c, c.to_lowercase()),
    }
}

/// Upper case of one character.
#[inline]
pub fn upper_char(c: char) -> char {
    if c.is_ascii() {
        return c.to_ascii_uppercase();
    }
    match c_utf8() {
        Some(locale) => char::from_u32(locale.upper_char(c as u32)).unwrap_or(c),
        None => single(c, c.to_uppercase()),
    }
}

/// True for a letter or a digit.
#[inline]
pub fn is_alnum(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_alphanumeric();
    }
    match c_utf8() {
        Some(locale) => locale.is_alnum(c as u32),
        None => c.is_alphanumeric(),
    }
}
