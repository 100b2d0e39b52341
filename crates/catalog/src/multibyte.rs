//! Multibyte encodings other than UTF-8: the length and validity of their characters, and the maps
//! to Unicode.
//!
//! A map is a file that `cargo run -p xtask -- facts` writes from what PostgreSQL 15 converts. It
//! consists of numbers of seven bits to a byte, the lowest first, with the highest bit set in all
//! bytes but the last; signed numbers are doubled, with the sign in the lowest bit:
//!
//! ```text
//! count, then for each code with one character, ascending:
//!     difference from the last code
//!     difference from the last code point, signed; doubled, plus 1 if only the code is converted
//! count, then for each character that only is converted to its code, ascending:
//!     difference from the last code point
//!     difference from the last code, signed
//! count, then for each code with two characters: code, code points
//! ```
//!
//! Counterpart: common/wchar.c, mb/Unicode/*.map.

use std::collections::HashMap;
use std::sync::LazyLock;

const EUC_JP: i32 = 1;
const EUC_CN: i32 = 2;
const EUC_KR: i32 = 3;
const EUC_TW: i32 = 4;
const EUC_JIS_2004: i32 = 5;
const SJIS: i32 = 35;
const BIG5: i32 = 36;
const GBK: i32 = 37;
const UHC: i32 = 38;
const GB18030: i32 = 39;
const JOHAB: i32 = 40;
const SHIFT_JIS_2004: i32 = 41;

/// Bytes that begin a longer character in EUC encodings.
const SINGLE_SHIFT_2: u8 = 0x8e;
const SINGLE_SHIFT_3: u8 = 0x8f;

/// An encoding with its map.
pub struct Multibyte {
    encoding: i32,
    file: &'static [u8],
    map: LazyLock<Map, fn() -> Map>,
}

/// The characters of a code: one or two.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Chars {
    pub first: char,
    pub second: Option<char>,
}

struct Map {
    chars: HashMap<u32, Chars>,
    codes: HashMap<char, u32>,
    /// By the first character: the second ones, with the code of both.
    pairs: HashMap<char, Vec<(char, u32)>>,
}

macro_rules! encodings {
    ($($number:ident $name:literal)*) => {
        static ALL: [Multibyte; 12] = [$(Multibyte {
            encoding: $number,
            file: include_bytes!(concat!("../facts/multibyte/", $name, ".map")),
            map: LazyLock::new(|| Map::read(file_of($number), $number == GB18030)),
        }),*];
    };
}

encodings! {
    EUC_JP "EUC_JP"
    EUC_CN "EUC_CN"
    EUC_KR "EUC_KR"
    EUC_TW "EUC_TW"
    EUC_JIS_2004 "EUC_JIS_2004"
    SJIS "SJIS"
    BIG5 "BIG5"
    GBK "GBK"
    UHC "UHC"
    GB18030 "GB18030"
    JOHAB "JOHAB"
    SHIFT_JIS_2004 "SHIFT_JIS_2004"
}

fn file_of(encoding: i32) -> &'static [u8] {
    ALL.iter().find(|m| m.encoding == encoding).map_or(&[], |m| m.file)
}

/// The encoding with this number; `None` if it is not one of these, as MULE_INTERNAL.
pub fn find(encoding: i32) -> Option<&'static Multibyte> {
    ALL.iter().find(|m| m.encoding == encoding)
}

/// Reads the numbers of a file; 0 after its end.
struct Numbers<'a>(&'a [u8]);

impl Numbers<'_> {
    fn next(&mut self) -> u64 {
        let (mut value, mut shift) = (0, 0);
        while let Some((&byte, rest)) = self.0.split_first() {
            self.0 = rest;
            value |= u64::from(byte & 0x7f) << shift;
            shift += 7;
            if byte & 0x80 == 0 {
                break;
            }
        }
        value
    }
}

/// `last` with a signed difference.
fn moved(last: u32, difference: u64) -> u32 {
    let half = (difference >> 1) as u32;
    if difference & 1 == 0 { last.wrapping_add(half) } else { last.wrapping_sub(half + 1) }
}

impl Map {
    fn read(file: &[u8], four_bytes: bool) -> Map {
        let mut numbers = Numbers(file);
        let mut map = Map { chars: HashMap::new(), codes: HashMap::new(), pairs: HashMap::new() };
        let (mut code, mut point) = (0u32, 0u32);
        for _ in 0..numbers.next() {
            code = code.wrapping_add(numbers.next() as u32);
            let n = numbers.next();
            point = moved(point, n >> 1);
            let Some(first) = char::from_u32(point) else { continue };
            map.chars.insert(code, Chars { first, second: None });
            if n & 1 == 0 {
                map.codes.insert(first, code);
            }
        }
        (code, point) = (0, 0);
        for _ in 0..numbers.next() {
            point = point.wrapping_add(numbers.next() as u32);
            code = moved(code, numbers.next());
            map.codes.extend(char::from_u32(point).map(|c| (c, code)));
        }
        for _ in 0..numbers.next() {
            let code = numbers.next() as u32;
            let mut character = || char::from_u32(numbers.next() as u32);
            if let (Some(first), second @ Some(other)) = (character(), character()) {
                map.chars.insert(code, Chars { first, second });
                map.pairs.entry(first).or_default().push((other, code));
            }
        }
        if four_bytes {
            map.add_four_bytes();
        }
        map
    }

    /// The codes of four bytes of GB18030: those of characters below U+10000 that have no code of
    /// two bytes, in order.
    fn add_four_bytes(&mut self) {
        let rest = ('\u{80}'..='\u{ffff}').filter(|c| !self.codes.contains_key(c));
        let rest: Vec<char> = rest.collect();
        for (i, first) in (0..).zip(rest) {
            let code = four_bytes(i);
            self.codes.insert(first, code);
            self.chars.insert(code, Chars { first, second: None });
        }
    }
}

/// The number of the first code of GB18030 for a character above U+FFFF.
const SUPPLEMENTARY: u32 = 189_000;

/// Code number `i` of four bytes.
fn four_bytes(i: u32) -> u32 {
    let bytes = [0x81 + i / 12_600, 0x30 + i / 1260 % 10, 0x81 + i / 10 % 126, 0x30 + i % 10];
    bytes.iter().fold(0, |code, byte| code << 8 | byte)
}

/// The number of a valid code of four bytes.
fn four_bytes_number(code: u32) -> u32 {
    let [a, b, c, d] = code.to_be_bytes().map(u32::from);
    (a - 0x81) * 12_600 + (b - 0x30) * 1260 + (c - 0x81) * 10 + (d - 0x30)
}

fn is_euc(byte: u8) -> bool {
    (0xa1..=0xfe).contains(&byte)
}

fn euc_length(first: u8, after_shift_2: usize) -> usize {
    match first {
        SINGLE_SHIFT_2 => after_shift_2,
        SINGLE_SHIFT_3 => 3,
        0x80.. => 2,
        _ => 1,
    }
}

/// The length of a character as far as its first bytes tell; `text` is not empty.
pub fn length(encoding: i32, text: &[u8]) -> usize {
    let first = text[0];
    match encoding {
        EUC_CN => euc_length(first, 3),
        EUC_TW => euc_length(first, 4),
        EUC_JP | EUC_KR | EUC_JIS_2004 | JOHAB => euc_length(first, 2),
        SJIS | SHIFT_JIS_2004 if (0xa1..=0xdf).contains(&first) => 1,
        GB18030 if first >= 0x80 && text.get(1).is_some_and(u8::is_ascii_digit) => 4,
        _ if first >= 0x80 => 2,
        _ => 1,
    }
}

/// The length of the character at the start of the text if it is valid and complete.
pub fn valid_length(encoding: i32, text: &[u8]) -> Option<usize> {
    let first = *text.first()?;
    if first < 0x80 {
        return (first != 0).then_some(1);
    }
    let length = match encoding {
        EUC_KR | EUC_CN => 2,
        _ => length(encoding, text),
    };
    let character = text.get(..length)?;
    let valid = match (encoding, character) {
        (EUC_JP | EUC_JIS_2004, [SINGLE_SHIFT_2, kana]) => (0xa1..=0xdf).contains(kana),
        (EUC_JP | EUC_JIS_2004, [SINGLE_SHIFT_3, rest @ ..]) => rest.iter().all(|b| is_euc(*b)),
        (EUC_TW, [SINGLE_SHIFT_3, ..]) => false,
        (EUC_TW, [SINGLE_SHIFT_2, plane, rest @ ..]) => {
            (0xa1..=0xa7).contains(plane) && rest.iter().all(|b| is_euc(*b))
        }
        (EUC_TW | JOHAB, [_, rest @ ..]) => rest.iter().all(|b| is_euc(*b)),
        (EUC_JP | EUC_JIS_2004 | EUC_KR | EUC_CN, all) => all.iter().all(|b| is_euc(*b)),
        (SJIS | SHIFT_JIS_2004, [head, tail]) => {
            matches!(head, 0x81..=0x9f | 0xe0..=0xfc) && matches!(tail, 0x40..=0x7e | 0x80..=0xfc)
        }
        (SJIS | SHIFT_JIS_2004, _) => true,
        (GB18030, [0x81..=0xfe, _, 0x81..=0xfe, b'0'..=b'9']) => true,
        (GB18030, [0x81..=0xfe, tail]) => matches!(tail, 0x40..=0x7e | 0x80..=0xfe),
        (GB18030, _) => false,
        // These bytes stand for an invalid character in every encoding.
        (_, [head, tail]) => *tail != 0 && (*head, *tail) != (0x8d, b' '),
        _ => false,
    };
    valid.then_some(length)
}

impl Multibyte {
    /// The characters of a code with these bytes.
    pub fn chars(&self, bytes: &[u8]) -> Option<Chars> {
        let code = bytes.iter().fold(0u32, |code, byte| code << 8 | u32::from(*byte));
        if let Some(found) = self.map.chars.get(&code) {
            return Some(*found);
        }
        if self.encoding != GB18030 || bytes.len() != 4 {
            return None;
        }
        let point = four_bytes_number(code).checked_sub(SUPPLEMENTARY)? + 0x1_0000;
        char::from_u32(point).map(|first| Chars { first, second: None })
    }

    /// The code of a character.
    pub fn code(&self, c: char) -> Option<u32> {
        match self.encoding {
            GB18030 if c > '\u{ffff}' => Some(four_bytes(SUPPLEMENTARY + c as u32 - 0x1_0000)),
            _ => self.map.codes.get(&c).copied(),
        }
    }

    /// The code of two characters together.
    pub fn code_of_pair(&self, first: char, second: char) -> Option<u32> {
        let pairs = self.map.pairs.get(&first)?;
        pairs.iter().find(|(other, _)| *other == second).map(|(_, code)| *code)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every code that the reference converts in both directions does so here, and all files are
    /// read to their end.
    #[test]
    fn maps_are_complete_and_consistent() {
        for encoding in &ALL {
            let mut one_way = 0;
            for (code, chars) in &encoding.map.chars {
                let bytes = code.to_be_bytes();
                let start = bytes.iter().position(|b| *b != 0).unwrap_or(3);
                assert_eq!(encoding.chars(&bytes[start..]), Some(*chars));
                let back = match chars.second {
                    Some(second) => encoding.code_of_pair(chars.first, second),
                    None => encoding.code(chars.first),
                };
                one_way += usize::from(back != Some(*code));
            }
            let count = encoding.map.chars.len();
            assert!(count > 7000 && one_way < count / 2, "{}: {one_way}", encoding.encoding);
        }
    }

    #[test]
    fn characters_have_their_lengths() {
        assert_eq!(valid_length(EUC_JP, b"\x8f\xa2\xb7x"), Some(3));
        assert_eq!(valid_length(EUC_JP, b"\x8f\xa2"), None);
        assert_eq!(valid_length(EUC_TW, b"\x8e\xa2\xa1\xa1"), Some(4));
        assert_eq!(valid_length(EUC_TW, b"\x8e\xa8\xa1\xa1"), None);
        assert_eq!(valid_length(SJIS, b"\xb1x"), Some(1));
        assert_eq!(valid_length(SJIS, b"\x81\x7f"), None);
        assert_eq!(valid_length(GB18030, b"\x81\x30\x81\x30"), Some(4));
        assert_eq!(valid_length(BIG5, b"\x8d "), None);
        assert_eq!(valid_length(GBK, b"a"), Some(1));
    }

    #[test]
    fn characters_above_the_basic_plane_have_four_bytes_in_gb18030() {
        let gb18030 = find(GB18030).expect("known");
        assert_eq!(gb18030.code('\u{10000}'), Some(0x9030_8130));
        assert_eq!(gb18030.code('\u{10ffff}'), Some(0xe332_9a35));
        assert_eq!(gb18030.code('\u{80}'), Some(0x8130_8130));
        let chars = gb18030.chars(&[0xe3, 0x32, 0x9a, 0x35]).expect("a character");
        assert_eq!(chars.first, '\u{10ffff}');
        assert!(gb18030.chars(&[0xe3, 0x32, 0x9a, 0x36]).is_none());
    }
}
