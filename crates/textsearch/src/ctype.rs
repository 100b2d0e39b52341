//! Classes and case of characters, as the C library of Debian 12 has them in C.UTF-8 and other
//! locales with UTF-8. Counterpart: ts_locale.c, wchar.c (`pg_dsplen`).

use std::sync::LazyLock;
use values::settings::{Encoding, Settings};

/// How the bytes of a text are read as characters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ctype {
    /// UTF-8 with the classes of Unicode.
    Unicode,
    /// UTF-8 in the locale C: only ASCII characters have a class. The parser takes the others as
    /// letters.
    Utf8,
    /// One byte is one character, with the classes of ASCII.
    Bytes,
}

/// A set of characters as a bitmap.
struct CharSet(Vec<u64>);

impl CharSet {
    /// From lines `first last` (hexadecimal), or one character in each line.
    fn read(lines: &str) -> CharSet {
        let mut bits = vec![0u64; 0x11_0000 / 64];
        for line in lines.lines() {
            let number = |text: &str| u32::from_str_radix(text, 16).expect("a constant table");
            let (first, last) = line.split_once(' ').unwrap_or((line, line));
            for c in number(first)..=number(last) {
                bits[c as usize / 64] |= 1 << (c % 64);
            }
        }
        CharSet(bits)
    }

    fn has(&self, c: u32) -> bool {
        self.0.get(c as usize / 64).is_some_and(|word| word >> (c % 64) & 1 != 0)
    }
}

static ALPHA: LazyLock<CharSet> =
    LazyLock::new(|| CharSet::read(include_str!("../data/alpha.txt")));
static NONSPACING: LazyLock<CharSet> =
    LazyLock::new(|| CharSet::read(include_str!("../data/nonspacing.txt")));
static MARKS: LazyLock<CharSet> =
    LazyLock::new(|| CharSet::read(include_str!("../data/marks.txt")));

/// The code and the length in bytes of the character at `at`, which is inside the text.
#[inline]
fn decode(text: &[u8], at: usize) -> (u32, usize) {
    let lead = text[at];
    let (bits, len) = match lead {
        0..=0x7f => return (u32::from(lead), 1),
        0xc0..=0xdf => (lead & 0x1f, 2),
        0xe0..=0xef => (lead & 0x0f, 3),
        0xf0..=0xf7 => (lead & 0x07, 4),
        _ => return (u32::from(lead), 1),
    };
    let len = len.min(text.len() - at);
    let rest = &text[at + 1..at + len];
    (rest.iter().fold(u32::from(bits), |c, b| c << 6 | u32::from(b & 0x3f)), len)
}

impl Ctype {
    /// The database's.
    pub fn of(settings: &Settings) -> Ctype {
        match settings.encoding {
            Encoding::Utf8 if settings.ctype_is_c => Ctype::Utf8,
            Encoding::Utf8 => Ctype::Unicode,
            _ => Ctype::Bytes,
        }
    }

    /// The code of the character at `at`, which is inside the text, and its length in bytes.
    #[inline]
    pub fn char_at(self, text: &[u8], at: usize) -> (u32, usize) {
        match self {
            Ctype::Bytes => (u32::from(text[at]), 1),
            _ => decode(text, at),
        }
    }

    /// Length in bytes of the character at `at`, which is inside the text.
    #[inline]
    pub fn len_at(self, text: &[u8], at: usize) -> usize {
        self.char_at(text, at).1
    }

    /// A letter, or a digit of another script.
    pub fn is_alpha(self, c: u32) -> bool {
        match u8::try_from(c) {
            Ok(b) if b.is_ascii() => b.is_ascii_alphabetic(),
            _ => self == Ctype::Unicode && ALPHA.has(c),
        }
    }

    /// As [`Ctype::is_alpha`], for the parser: in the locale C every character of several bytes is
    /// a letter.
    pub fn is_word_alpha(self, c: u32) -> bool {
        self.is_alpha(c) || self == Ctype::Utf8 && c > 0x7f
    }

    /// White space.
    pub fn is_space(self, c: u32) -> bool {
        match c {
            9..=13 | 32 => true,
            0x1680 | 0x2000..=0x2006 | 0x2008..=0x200a | 0x2028 | 0x2029 | 0x205f | 0x3000 => {
                self == Ctype::Unicode
            }
            _ => false,
        }
    }

    /// Whether the parser continues a word over the character although it is not a letter: it is
    /// drawn over its neighbour.
    pub fn is_mark(self, c: u32) -> bool {
        match self {
            Ctype::Bytes => c == 0,
            _ => c == 0 || c >= 0xa0 && (NONSPACING.has(c) || MARKS.has(c)),
        }
    }

    /// The text in lower case.
    pub fn lower(self, text: &[u8]) -> Vec<u8> {
        match std::str::from_utf8(text) {
            Ok(text) if self == Ctype::Unicode && !text.is_ascii() => text
                .chars()
                .map(values::locale::unicode::lower_char)
                .collect::<String>()
                .into_bytes(),
            _ => text.to_ascii_lowercase(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Ctype;

    #[test]
    fn classes_follow_the_locale() {
        assert!(Ctype::Unicode.is_alpha('ä' as u32) && !Ctype::Utf8.is_alpha('ä' as u32));
        assert!(Ctype::Utf8.is_word_alpha('ä' as u32) && !Ctype::Bytes.is_word_alpha(0xe4));
        assert!(Ctype::Unicode.is_space(0x3000) && !Ctype::Unicode.is_space(0xa0));
        assert!(Ctype::Unicode.is_mark(0x301) && Ctype::Unicode.is_mark(0x903));
        assert_eq!(Ctype::Unicode.lower("İÄb".as_bytes()), "iäb".as_bytes());
        assert_eq!(Ctype::Utf8.lower("ÄB".as_bytes()), "Äb".as_bytes());
        assert_eq!(Ctype::Unicode.char_at("ä€".as_bytes(), 2), (0x20ac, 3));
    }
}
