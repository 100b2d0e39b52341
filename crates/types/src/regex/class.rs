//! Character sets: ranges of code points, PostgreSQL's character classes, and POSIX's names of
//! collating elements. Counterpart: regc_locale.c, regc_pg_locale.c.

use super::syntax::too_complex;
use super::work::WorkCounter;
use crate::string::case::Letters;
use locale::Locale;
use locale::unicode::{lower_char, upper_char};
use pgerror::Result;
use regex_syntax::hir::{Class, HirKind};
use std::collections::HashMap;
use std::sync::Arc;

/// The largest code point that a pattern can contain.
pub(super) const CODE_MAX: u32 = 0x7fff_fffe;

/// The letters and their case mappings, by the collation of the call.
#[derive(Clone, Debug)]
pub enum Ctype {
    Ascii,
    Unicode,
    Locale(Arc<Locale>),
}

impl From<Letters> for Ctype {
    fn from(letters: Letters) -> Ctype {
        match letters {
            Letters::Ascii => Ctype::Ascii,
            Letters::Unicode => Ctype::Unicode,
            Letters::Locale(locale) => Ctype::Locale(locale),
        }
    }
}

impl PartialEq for Ctype {
    fn eq(&self, other: &Ctype) -> bool {
        match (self, other) {
            (Ctype::Ascii, Ctype::Ascii) | (Ctype::Unicode, Ctype::Unicode) => true,
            (Ctype::Locale(a), Ctype::Locale(b)) => Arc::ptr_eq(a, b),
            _ => false,
        }
    }
}

impl Ctype {
    /// The lower and upper case of a character.
    pub(super) fn cases(&self, c: u32) -> [u32; 2] {
        match (self, char::from_u32(c)) {
            (Ctype::Locale(locale), Some(_)) => [locale.lower_char(c), locale.upper_char(c)],
            (Ctype::Ascii, Some(ch)) => {
                [ch.to_ascii_lowercase() as u32, ch.to_ascii_uppercase() as u32]
            }
            (Ctype::Unicode, Some(ch)) => [lower_char(ch) as u32, upper_char(ch) as u32],
            (_, None) => [c, c],
        }
    }
}

/// Disjoint ranges of code points in ascending order, both ends inclusive.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub(super) struct CharSet(pub Vec<(u32, u32)>);

impl CharSet {
    /// The set of all characters.
    pub fn any() -> CharSet {
        CharSet(vec![(0, CODE_MAX)])
    }

    /// The set of one character.
    pub fn one(c: u32) -> CharSet {
        CharSet(vec![(c, c)])
    }

    /// Adds ranges and restores the order.
    pub fn add(&mut self, ranges: impl IntoIterator<Item = (u32, u32)>) {
        self.0.extend(ranges);
        self.0.sort_unstable();
        let mut merged: Vec<(u32, u32)> = Vec::with_capacity(self.0.len());
        for &(low, high) in &self.0 {
            match merged.last_mut() {
                Some(last) if low <= last.1.saturating_add(1) => last.1 = last.1.max(high),
                _ => merged.push((low, high)),
            }
        }
        self.0 = merged;
    }

    /// The set of all other characters.
    pub fn negated(&self) -> CharSet {
        let mut out = Vec::with_capacity(self.0.len() + 1);
        let mut next = 0;
        for &(low, high) in &self.0 {
            if low > next {
                out.push((next, low - 1));
            }
            next = high + 1;
        }
        if next <= CODE_MAX {
            out.push((next, CODE_MAX));
        }
        CharSet(out)
    }

    /// The set with both cases of every character. Only the range of characters that have case is
    /// visited, character by character.
    fn with_cases(&self, ctype: &Ctype, work: &WorkCounter<'_>) -> Result<CharSet> {
        let last = if *ctype == Ctype::Ascii { 0x7f } else { 0x1_ffff };
        let mut out = self.clone();
        let mut more = Vec::new();
        for &(low, high) in &self.0 {
            for c in low..=high.min(last) {
                work.add(4)?;
                more.extend(ctype.cases(c).map(|c| (c, c)).into_iter().filter(|r| r.0 != c));
            }
        }
        out.add(more);
        Ok(out)
    }
}

/// The largest number of ranges of all sets of a pattern together.
const RANGES_MAX: usize = 8 << 20;

/// The distinct character sets of a pattern, by number.
#[derive(Default)]
pub(super) struct Sets {
    numbers: HashMap<Arc<CharSet>, u32>,
    ordered: Vec<Arc<CharSet>>,
    ranges: usize,
    /// Numbers of the sets of a single character.
    chars: HashMap<u32, u32>,
    /// Cached character classes, which are expensive to build.
    classes: HashMap<String, CharSet>,
    /// Cached sets with both cases of their characters, by the set as written.
    cased: HashMap<CharSet, CharSet>,
}

impl Sets {
    /// The number of a set, which is added if it is new. Fails with 2201B if all sets together are
    /// too large.
    pub fn number(&mut self, set: CharSet) -> Result<u32> {
        if let Some(&n) = self.numbers.get(&set) {
            return Ok(n);
        }
        self.ranges += set.0.len();
        if self.ranges > RANGES_MAX {
            return Err(too_complex());
        }
        let n = self.ordered.len() as u32;
        let set = Arc::new(set);
        self.ordered.push(set.clone());
        self.numbers.insert(set, n);
        Ok(n)
    }

    /// The set of a character, with its other case under the rules of `ignore_case` if given.
    pub fn of_char(&mut self, c: u32, ignore_case: Option<&Ctype>) -> Result<u32> {
        if let Some(&n) = self.chars.get(&c) {
            return Ok(n);
        }
        let mut set = CharSet::one(c);
        if let Some(ctype) = ignore_case {
            set.add(ctype.cases(c).map(|c| (c, c)));
        }
        let n = self.number(set)?;
        self.chars.insert(c, n);
        Ok(n)
    }

    /// A character class. The options do not change within a pattern, so the name is the cache key.
    pub fn class(&mut self, name: &str, ctype: &Ctype, ignore_case: bool) -> Option<CharSet> {
        if let Some(set) = self.classes.get(name) {
            return Some(set.clone());
        }
        let set = named(name, ctype, ignore_case)?;
        self.classes.insert(name.to_string(), set.clone());
        Some(set)
    }

    /// A set with both cases of its characters. The options do not change within a pattern.
    pub fn cased(
        &mut self,
        set: CharSet,
        ctype: &Ctype,
        work: &WorkCounter<'_>,
    ) -> Result<CharSet> {
        if let Some(cased) = self.cased.get(&set) {
            return Ok(cased.clone());
        }
        let cased = set.with_cases(ctype, work)?;
        self.cased.insert(set, cased.clone());
        Ok(cased)
    }

    /// The sets by number.
    pub fn ordered(&self) -> &[Arc<CharSet>] {
        &self.ordered
    }
}

/// The ranges of a Unicode class in the notation of `regex-syntax`.
fn unicode(class: &str) -> CharSet {
    let parsed = regex_syntax::Parser::new().parse(class);
    let mut set = CharSet::default();
    if let Ok(HirKind::Class(Class::Unicode(c))) = parsed.map(|h| h.into_kind()) {
        set.add(c.ranges().iter().map(|r| (r.start() as u32, r.end() as u32)));
    }
    set
}

/// The character class with the name between `[:` and `:]`.
pub(super) fn named(name: &str, ctype: &Ctype, ignore_case: bool) -> Option<CharSet> {
    let name = match name {
        "lower" | "upper" if ignore_case => "alpha",
        other => other,
    };
    let (ascii, wide): (&[(u8, u8)], &str) = match name {
        "alpha" => (&[(b'A', b'Z'), (b'a', b'z')], r"[\p{Alphabetic}\p{Nd}--0-9]"),
        "digit" => (&[(b'0', b'9')], ""),
        "alnum" => (&[(b'0', b'9'), (b'A', b'Z'), (b'a', b'z')], r"[\p{Alphabetic}\p{Nd}]"),
        "word" => {
            (&[(b'0', b'9'), (b'A', b'Z'), (b'_', b'_'), (b'a', b'z')], r"[\p{Alphabetic}\p{Nd}_]")
        }
        "upper" => (&[(b'A', b'Z')], r"\p{Uppercase}"),
        "lower" => (&[(b'a', b'z')], r"\p{Lowercase}"),
        "space" => (&[(9, 13), (b' ', b' ')], r"[\p{White_Space}--\u{85}\u{a0}\u{2007}\u{202f}]"),
        "blank" => (&[(9, 9), (b' ', b' ')], r"[\t\p{Zs}--\u{a0}\u{2007}\u{202f}]"),
        "punct" => (
            &[(b'!', b'/'), (b':', b'@'), (b'[', b'`'), (b'{', b'~')],
            r"[^\p{Alphabetic}\p{Nd}\p{White_Space}\p{Cc}\p{Cn}\p{Cs}]",
        ),
        "print" => (&[(b' ', b'~')], r"[^\p{Cc}\p{Cn}\p{Cs}\u{2028}\u{2029}]"),
        "graph" => (&[(b'!', b'~')], r"[^\p{White_Space}\p{Cc}\p{Cn}\p{Cs}]"),
        "cntrl" => (&[(0, 31), (127, 127)], r"[\p{Cc}\u{2028}\u{2029}]"),
        "xdigit" => (&[(b'0', b'9'), (b'A', b'F'), (b'a', b'f')], ""),
        "ascii" => (&[(0, 127)], ""),
        _ => return None,
    };
    match ctype {
        Ctype::Unicode if !wide.is_empty() => return Some(unicode(wide)),
        Ctype::Locale(locale) => {
            if let Some(set) = of_locale(name, locale) {
                return Some(set);
            }
        }
        _ => {}
    }
    Some(CharSet(ascii.iter().map(|&(l, h)| (l as u32, h as u32)).collect()))
}

/// A class by a locale; `None` for those that are the same in all locales.
fn of_locale(name: &str, locale: &Locale) -> Option<CharSet> {
    use locale::Class;
    let class = match name {
        "alpha" => Class::Alpha,
        "digit" => Class::Digit,
        "alnum" | "word" => Class::Alnum,
        "upper" => Class::Upper,
        "lower" => Class::Lower,
        "space" => Class::Space,
        "punct" => Class::Punct,
        "print" => Class::Print,
        "graph" => Class::Graph,
        _ => return None,
    };
    let mut set = CharSet(locale.class(class).to_vec());
    if name == "word" {
        set.add([(u32::from(b'_'), u32::from(b'_'))]);
    }
    Some(set)
}

/// POSIX's names of the characters 0 to 31 in order; those from BEL to CR have a second name.
const CONTROLS: [&str; 32] = [
    "NUL",
    "SOH",
    "STX",
    "ETX",
    "EOT",
    "ENQ",
    "ACK",
    "alert",
    "backspace",
    "tab",
    "newline",
    "vertical-tab",
    "form-feed",
    "carriage-return",
    "SO",
    "SI",
    "DLE",
    "DC1",
    "DC2",
    "DC3",
    "DC4",
    "NAK",
    "SYN",
    "ETB",
    "CAN",
    "EM",
    "SUB",
    "ESC",
    "IS4",
    "IS3",
    "IS2",
    "IS1",
];

/// The other names and their characters.
const NAMES: [(&str, u8); 63] = [
    ("BEL", 7),
    ("BS", 8),
    ("HT", 9),
    ("LF", 10),
    ("VT", 11),
    ("FF", 12),
    ("CR", 13),
    ("FS", 28),
    ("GS", 29),
    ("RS", 30),
    ("US", 31),
    ("space", b' '),
    ("exclamation-mark", b'!'),
    ("quotation-mark", b'"'),
    ("number-sign", b'#'),
    ("dollar-sign", b'$'),
    ("percent-sign", b'%'),
    ("ampersand", b'&'),
    ("apostrophe", b'\''),
    ("left-parenthesis", b'('),
    ("right-parenthesis", b')'),
    ("asterisk", b'*'),
    ("plus-sign", b'+'),
    ("comma", b','),
    ("hyphen", b'-'),
    ("hyphen-minus", b'-'),
    ("period", b'.'),
    ("full-stop", b'.'),
    ("slash", b'/'),
    ("solidus", b'/'),
    ("zero", b'0'),
    ("one", b'1'),
    ("two", b'2'),
    ("three", b'3'),
    ("four", b'4'),
    ("five", b'5'),
    ("six", b'6'),
    ("seven", b'7'),
    ("eight", b'8'),
    ("nine", b'9'),
    ("colon", b':'),
    ("semicolon", b';'),
    ("less-than-sign", b'<'),
    ("equals-sign", b'='),
    ("greater-than-sign", b'>'),
    ("question-mark", b'?'),
    ("commercial-at", b'@'),
    ("left-square-bracket", b'['),
    ("backslash", b'\\'),
    ("reverse-solidus", b'\\'),
    ("right-square-bracket", b']'),
    ("circumflex", b'^'),
    ("circumflex-accent", b'^'),
    ("underscore", b'_'),
    ("low-line", b'_'),
    ("grave-accent", b'`'),
    ("left-brace", b'{'),
    ("left-curly-bracket", b'{'),
    ("vertical-line", b'|'),
    ("right-brace", b'}'),
    ("right-curly-bracket", b'}'),
    ("tilde", b'~'),
    ("DEL", 127),
];

/// The character with the name of a collating element.
pub(super) fn element(name: &[u32]) -> Option<u32> {
    if let [one] = name {
        return Some(*one);
    }
    let text: String = name.iter().filter_map(|&c| char::from_u32(c)).collect();
    if let Some(code) = CONTROLS.iter().position(|n| *n == text) {
        return Some(code as u32);
    }
    NAMES.iter().find(|(n, _)| *n == text).map(|(_, c)| *c as u32)
}
