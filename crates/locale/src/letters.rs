//! Case and classes of characters by a locale.
//!
//! Counterpart: formatting.c (`str_tolower`), regc_pg_locale.c.

use crate::icu::Mapping;
use crate::{Locale, Provider, glibc};
use std::sync::OnceLock;

/// A class of characters, as regular expressions name them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Class {
    Alpha,
    Alnum,
    Digit,
    Upper,
    Lower,
    Graph,
    Print,
    Punct,
    Space,
}

/// The number of classes.
const CLASSES: usize = 9;
/// The last code of Unicode.
const CODE_MAX: u32 = 0x10_ffff;

/// What is computed when it is first needed.
#[derive(Debug, Default)]
pub(crate) struct Cache {
    classes: [OnceLock<Vec<(u32, u32)>>; CLASSES],
    ascii: OnceLock<AsciiCase>,
}

/// Case of the ASCII characters under the C library.
#[derive(Debug)]
struct AsciiCase {
    lower: [u32; 128],
    upper: [u32; 128],
}

/// The characters up to `last` for which `is_in` is true, as ranges in order.
pub(crate) fn ranges(last: u32, is_in: impl Fn(u32) -> bool) -> Vec<(u32, u32)> {
    let mut out: Vec<(u32, u32)> = Vec::new();
    for c in (0..=last).filter(|&c| is_in(c)) {
        match out.last_mut() {
            Some((_, end)) if *end + 1 == c => *end = c,
            _ => out.push((c, c)),
        }
    }
    out
}

impl Locale {
    /// Lower case of one character: a code of Unicode, or a byte in an encoding of single bytes.
    pub fn lower_char(&self, c: u32) -> u32 {
        match &self.provider {
            Provider::Libc { ctype, .. } if c < 128 => self.ascii(ctype).lower[c as usize],
            Provider::Libc { ctype, .. } => ctype.lower(c, self.single_byte),
            Provider::Icu(collator) => collator.lower_char(c),
        }
    }

    /// Upper case of one character, as [`Locale::lower_char`].
    pub fn upper_char(&self, c: u32) -> u32 {
        match &self.provider {
            Provider::Libc { ctype, .. } if c < 128 => self.ascii(ctype).upper[c as usize],
            Provider::Libc { ctype, .. } => ctype.upper(c, self.single_byte),
            Provider::Icu(collator) => collator.upper_char(c),
        }
    }

    fn ascii(&self, ctype: &glibc::Handle) -> &AsciiCase {
        self.letters.ascii.get_or_init(|| AsciiCase {
            lower: std::array::from_fn(|c| ctype.lower(c as u32, self.single_byte)),
            upper: std::array::from_fn(|c| ctype.upper(c as u32, self.single_byte)),
        })
    }

    /// The characters of a class, as ranges in order.
    pub fn class(&self, class: Class) -> &[(u32, u32)] {
        self.letters.classes[class as usize].get_or_init(|| match &self.provider {
            Provider::Libc { ctype, .. } => {
                let calls = match class {
                    Class::Alpha => &glibc::ALPHA,
                    Class::Alnum => &glibc::ALNUM,
                    Class::Digit => &glibc::DIGIT,
                    Class::Upper => &glibc::UPPER,
                    Class::Lower => &glibc::LOWER,
                    Class::Graph => &glibc::GRAPH,
                    Class::Print => &glibc::PRINT,
                    Class::Punct => &glibc::PUNCT,
                    Class::Space => &glibc::SPACE,
                };
                let last = if self.single_byte { 0xff } else { CODE_MAX };
                ctype.class(calls, last, self.single_byte)
            }
            Provider::Icu(collator) => collator.class(class, CODE_MAX),
        })
    }

    fn is_in(&self, class: Class, c: u32) -> bool {
        let ranges = self.class(class);
        let at = ranges.partition_point(|&(_, last)| last < c);
        ranges.get(at).is_some_and(|&(first, _)| first <= c)
    }

    /// True for a letter or a digit.
    pub fn is_alnum(&self, c: u32) -> bool {
        self.is_in(Class::Alnum, c)
    }

    /// True if the provider is ICU.
    pub fn is_icu(&self) -> bool {
        matches!(self.provider, Provider::Icu(_))
    }

    /// True if one byte is one character.
    pub fn is_single_byte(&self) -> bool {
        self.single_byte
    }

    /// The text in lower case by rules that concern more than one character; `None` if the locale
    /// maps single characters: [`Locale::lower_char`]. Error: the name of ICU's error.
    pub fn lower_text(&self, text: &[u8]) -> Option<Result<Vec<u8>, String>> {
        self.map_text(text, Mapping::Lower)
    }

    /// The text in upper case, as [`Locale::lower_text`].
    pub fn upper_text(&self, text: &[u8]) -> Option<Result<Vec<u8>, String>> {
        self.map_text(text, Mapping::Upper)
    }

    /// The text with the first letter of each word in upper case and the others in lower case, as
    /// [`Locale::lower_text`].
    pub fn title_text(&self, text: &[u8]) -> Option<Result<Vec<u8>, String>> {
        self.map_text(text, Mapping::Title)
    }

    fn map_text(&self, text: &[u8], mapping: Mapping) -> Option<Result<Vec<u8>, String>> {
        match &self.provider {
            Provider::Libc { .. } => None,
            Provider::Icu(collator) => Some(collator.map(text, mapping)),
        }
    }
}
