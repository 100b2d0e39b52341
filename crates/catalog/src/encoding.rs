//! Character set encodings: names, numbers, and conversion tables of the single-byte encodings.
//!
//! Counterpart: mb/pg_wchar.h, encnames.c.

use std::sync::LazyLock;
use types::settings::Encoding;

/// Names by number, as returned by `pg_encoding_to_char`; numbers above 34 are client-only.
const NAMES: [&str; 42] = [
    "SQL_ASCII",
    "EUC_JP",
    "EUC_CN",
    "EUC_KR",
    "EUC_TW",
    "EUC_JIS_2004",
    "UTF8",
    "MULE_INTERNAL",
    "LATIN1",
    "LATIN2",
    "LATIN3",
    "LATIN4",
    "LATIN5",
    "LATIN6",
    "LATIN7",
    "LATIN8",
    "LATIN9",
    "LATIN10",
    "WIN1256",
    "WIN1258",
    "WIN866",
    "WIN874",
    "KOI8R",
    "WIN1251",
    "WIN1252",
    "ISO_8859_5",
    "ISO_8859_6",
    "ISO_8859_7",
    "ISO_8859_8",
    "WIN1250",
    "WIN1253",
    "WIN1254",
    "WIN1255",
    "WIN1257",
    "KOI8U",
    "SJIS",
    "BIG5",
    "GBK",
    "UHC",
    "GB18030",
    "JOHAB",
    "SHIFT_JIS_2004",
];

/// Number of UTF-8.
pub const UTF8: i32 = 6;
/// The number of the encoding in which bytes have no meaning.
pub const SQL_ASCII: i32 = 0;

/// Largest encoding number allowed for a database.
pub const LAST_SERVER: i32 = 34;

/// Name of an encoding; empty for a number that does not exist.
pub fn name(encoding: i32) -> &'static str {
    usize::try_from(encoding).ok().and_then(|i| NAMES.get(i)).copied().unwrap_or("")
}

/// Number of an encoding; case, spaces, hyphens and underscores are ignored.
pub fn number(name: &str) -> Option<i32> {
    let clean = |s: &str| -> String {
        s.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
    };
    let wanted = clean(name);
    if let Some(i) = NAMES.iter().position(|n| clean(n) == wanted) {
        return Some(i as i32);
    }
    let alias = match wanted.as_str() {
        "unicode" => "UTF8",
        "iso88591" => "LATIN1",
        "iso88592" => "LATIN2",
        "iso88593" => "LATIN3",
        "iso88594" => "LATIN4",
        "iso88599" => "LATIN5",
        "iso885910" => "LATIN6",
        "iso885913" => "LATIN7",
        "iso885914" => "LATIN8",
        "iso885915" => "LATIN9",
        "iso885916" => "LATIN10",
        "koi8" => "KOI8R",
        "windows1250" => "WIN1250",
        "windows1251" | "win" => "WIN1251",
        "windows1252" => "WIN1252",
        "windows1253" => "WIN1253",
        "windows1254" => "WIN1254",
        "windows1255" => "WIN1255",
        "windows1256" | "tcvn" | "tcvn5712" | "vscii" => {
            if wanted == "windows1256" {
                "WIN1256"
            } else {
                "WIN1258"
            }
        }
        "windows1257" => "WIN1257",
        "windows1258" | "abc" => "WIN1258",
        "windows866" | "alt" => "WIN866",
        "windows874" => "WIN874",
        "mskanji" | "shiftjis" | "windows932" => "SJIS",
        "windows936" => "GBK",
        "windows949" => "UHC",
        "windows950" => "BIG5",
        _ => return None,
    };
    number(alias)
}

/// The properties of a database encoding that functions depend on. `None` for multibyte encodings
/// other than UTF-8.
pub fn of_database(encoding: i32) -> Option<Encoding> {
    match encoding {
        0 => Some(Encoding::SqlAscii),
        UTF8 => Some(Encoding::Utf8),
        8..=LAST_SERVER => Some(Encoding::SingleByte(encoding, name(encoding))),
        _ => None,
    }
}

/// Maximum bytes per character of an encoding; `None` for a number that does not exist.
pub fn bytes_max(encoding: i32) -> Option<i32> {
    Some(match encoding {
        0 | 8..=34 => 1,
        35..=38 | 41 => 2,
        1..=3 | 5 | 40 => 3,
        4 | 6 | 7 | 39 => 4,
        _ => return None,
    })
}

/// The upper half of a single-byte encoding: code points of bytes 128 to 255.
pub struct SingleByte {
    points: [Option<char>; 128],
    /// (code point, byte), sorted for binary search.
    bytes: Vec<(char, u8)>,
}

impl SingleByte {
    /// The character of a byte; `None` where the encoding does not define it.
    pub fn char_of(&self, byte: u8) -> Option<char> {
        match byte {
            0..=127 => Some(char::from(byte)),
            _ => self.points[usize::from(byte) - 128],
        }
    }

    /// The byte of a character; `None` where the encoding does not have it.
    pub fn byte_of(&self, c: char) -> Option<u8> {
        if c.is_ascii() {
            return Some(c as u8);
        }
        self.bytes.binary_search_by_key(&c, |b| b.0).ok().map(|i| self.bytes[i].1)
    }
}

/// One line per encoding with its name and code points; the file is written by `cargo run -p xtask
/// -- facts`.
static SINGLE_BYTE: LazyLock<Vec<(i32, SingleByte)>> = LazyLock::new(|| {
    let table = |line: &str| {
        let mut words = line.split(' ');
        let encoding = number(words.next()?)?;
        let mut points = [None; 128];
        for (point, word) in points.iter_mut().zip(words) {
            *point = u32::from_str_radix(word, 16).ok().and_then(char::from_u32);
        }
        let known = points.iter().zip(128u8..=255).filter_map(|(p, b)| p.map(|p| (p, b)));
        let mut bytes: Vec<(char, u8)> = known.collect();
        bytes.sort_unstable();
        Some((encoding, SingleByte { points, bytes }))
    };
    include_str!("../facts/encodings.txt").lines().filter_map(table).collect()
});

/// The conversion table of a single-byte encoding.
pub fn single_byte(encoding: i32) -> Option<&'static SingleByte> {
    SINGLE_BYTE.iter().find(|(n, _)| *n == encoding).map(|(_, table)| table)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_single_byte_encodings_have_a_table() {
        for encoding in 8..=LAST_SERVER {
            let table = single_byte(encoding).unwrap_or_else(|| panic!("{}", name(encoding)));
            assert_eq!(table.char_of(b'a'), Some('a'));
            for byte in 128..=255 {
                if let Some(c) = table.char_of(byte) {
                    assert_eq!(table.byte_of(c), Some(byte), "{} {byte:x}", name(encoding));
                }
            }
        }
        let euro = |name: &str| single_byte(number(name).unwrap()).unwrap().byte_of('\u{20ac}');
        assert_eq!(
            [euro("LATIN1"), euro("LATIN9"), euro("WIN1252")],
            [None, Some(0xa4), Some(0x80)]
        );
        assert!(single_byte(UTF8).is_none());
    }
}
