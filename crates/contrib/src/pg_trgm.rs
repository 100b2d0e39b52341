//! pg_trgm: similarity of texts by their groups of three letters.
//!
//! A word is a sequence of letters and digits. It is converted to lower case and padded by two
//! blanks before and one after it. A trigram of other than ASCII characters is reduced to three
//! bytes of a checksum. The operators that depend on settings are in `session::serverfn::trigrams`.
//!
//! Counterpart: contrib/pg_trgm/trgm_op.c.

mod gin;
mod gist;
mod regex;
mod words;

use crate::library::Library;
use pgerror::Result;
use types::string::case::{Letters, lower_text};
use values::array::payload::of_builtin;
use values::datum::{Datum, DatumRef};
use values::fn_context::{FnContext, InterruptTicker};
use values::oids;
use values::settings::Encoding;

pub use words::word_similarity;

pub static LIBRARY: Library = Library {
    name: "pg_trgm",
    functions: &[FNS],
    gin: gin::SUPPORT,
    gist: gist::SUPPORT,
    declared: &[
        "set_limit",
        "show_limit",
        "similarity_op",
        "strict_word_similarity_commutator_op",
        "strict_word_similarity_op",
        "word_similarity_commutator_op",
        "word_similarity_op",
        "gtrgm_in",
        "gtrgm_out",
    ],
    ..Library::EMPTY
};

/// Three characters, or three bytes of a checksum.
pub(crate) type Trigram = [u8; 3];

/// A trigram in a text, with its place in the word.
#[derive(Clone, Copy)]
pub(crate) struct Placed {
    pub trigram: Trigram,
    pub starts_word: bool,
    pub ends_word: bool,
}

pub(crate) const CRC_TABLE: [u32; 256] = {
    let mut table = [0; 256];
    let mut i = 0;
    while i < 256 {
        let mut value = i as u32;
        let mut bit = 0;
        while bit < 8 {
            value = if value & 1 == 1 { value >> 1 ^ 0xedb8_8320 } else { value >> 1 };
            bit += 1;
        }
        table[i] = value;
        i += 1;
    }
    table
};

/// The checksum of old index formats: the table of one direction, used in the other.
fn checksum(bytes: &[u8]) -> u32 {
    let sum = bytes
        .iter()
        .fold(u32::MAX, |crc, b| CRC_TABLE[((crc >> 24) as u8 ^ b) as usize] ^ (crc << 8));
    !sum
}

fn compact(characters: &[&[u8]]) -> Trigram {
    match characters {
        [[a], [b], [c]] => [*a, *b, *c],
        _ => {
            let [a, b, c, _] = checksum(&characters.concat()).to_le_bytes();
            [a, b, c]
        }
    }
}

/// The order of trigrams: by bytes with sign.
pub(crate) fn sort_key(t: &Trigram) -> [i8; 3] {
    t.map(|b| b as i8)
}

/// The characters of a text that is not valid in UTF-8 are its bytes.
fn is_word_character(c: char, letters: &Letters) -> bool {
    match letters {
        Letters::Ascii => c.is_ascii_alphanumeric(),
        Letters::Unicode => locale::unicode::is_alnum(c),
        Letters::Locale(locale) => locale.is_alnum(c as u32),
    }
}

/// True if each byte is a character although the text may be valid in UTF-8.
fn is_single_byte(letters: &Letters) -> bool {
    matches!(letters, Letters::Locale(locale) if locale.is_single_byte())
}

fn words(text: &[u8], letters: &Letters) -> Vec<Vec<u8>> {
    match std::str::from_utf8(text) {
        _ if is_single_byte(letters) => text
            .split(|&b| !is_word_character(b.into(), letters))
            .filter(|word| !word.is_empty())
            .map(|word| lower_text(word, letters))
            .collect(),
        Ok(text) => text
            .split(|c| !is_word_character(c, letters))
            .filter(|word| !word.is_empty())
            .map(|word| lower_text(word.as_bytes(), letters))
            .collect(),
        Err(_) => text
            .split(|b| !b.is_ascii_alphanumeric())
            .filter(|word| !word.is_empty())
            .map(<[u8]>::to_ascii_lowercase)
            .collect(),
    }
}

/// The trigrams of a text in order.
pub(crate) fn placed_trigrams(cx: &dyn FnContext, text: &[u8]) -> Result<Vec<Placed>> {
    let mut ticker = InterruptTicker::default();
    let letters = Letters::of_database(cx.settings()).by_character();
    placed(text, &letters, &mut || ticker.tick(cx))
}

/// The trigrams of a text in order. `letters`: those of the default collation. `interrupts` is the
/// check for interrupts.
fn placed(
    text: &[u8],
    letters: &Letters,
    interrupts: &mut dyn FnMut() -> Result<()>,
) -> Result<Vec<Placed>> {
    let mut out = Vec::new();
    for word in words(text, letters) {
        interrupts()?;
        let padded = [b"  ", word.as_slice(), b" "].concat();
        let groups = groups(&padded, is_single_byte(letters));
        let last = groups.len() - 1;
        for (i, trigram) in groups.into_iter().enumerate() {
            out.push(Placed { trigram, starts_word: i == 0, ends_word: i == last });
        }
    }
    Ok(out)
}

/// The groups of three characters of a padded word.
fn groups(padded: &[u8], single_byte: bool) -> Vec<Trigram> {
    let characters: Vec<&[u8]> = match std::str::from_utf8(padded) {
        Ok(text) if !single_byte => {
            text.split("").filter(|c| !c.is_empty()).map(str::as_bytes).collect()
        }
        _ => padded.chunks(1).collect(),
    };
    characters.windows(3).map(compact).collect()
}

/// Sorts a list of trigrams and removes repetitions.
fn distinct(mut list: Vec<Trigram>) -> Vec<Trigram> {
    list.sort_unstable_by_key(sort_key);
    list.dedup();
    list
}

/// The different trigrams of a text, sorted.
fn trigrams(cx: &dyn FnContext, text: &[u8]) -> Result<Vec<Trigram>> {
    Ok(distinct(placed_trigrams(cx, text)?.into_iter().map(|p| p.trigram).collect()))
}

/// Shared elements by all elements of two sets.
pub(crate) fn ratio(shared: usize, first: usize, second: usize) -> f32 {
    shared as f32 / (first + second - shared) as f32
}

/// `similarity`: the number of shared trigrams by the number of all.
pub fn similarity(cx: &dyn FnContext, a: &[u8], b: &[u8]) -> Result<f32> {
    let (a, b) = (trigrams(cx, a)?, trigrams(cx, b)?);
    if a.is_empty() || b.is_empty() {
        return Ok(0.0);
    }
    let shared = a.iter().filter(|t| b.binary_search_by_key(&sort_key(t), sort_key).is_ok());
    Ok(ratio(shared.count(), a.len(), b.len()))
}

fn show(cx: &dyn FnContext, text: &[u8]) -> Result<Datum> {
    let by_character = cx.settings().encoding == Encoding::Utf8;
    let printable = |b: &u8| !by_character || b.is_ascii_alphanumeric() || *b == b' ';
    let shown = |t: &Trigram| match t.iter().all(printable) {
        true => Datum::bytes(*t),
        false => Datum::text(&format!("0x{:02x}{:02x}{:02x}", t[0], t[1], t[2])),
    };
    let list: Vec<Datum> = trigrams(cx, text)?.iter().map(shown).collect();
    match list.is_empty() {
        true => Ok(values::array::payload::empty(oids::TEXT)),
        false => of_builtin(oids::TEXT, &list),
    }
}

/// The similarity of a word in the text of argument `text` with the pattern of the other one.
fn of_word(cx: &dyn FnContext, a: &[DatumRef<'_>], text: usize, strict: bool) -> Result<f32> {
    word_similarity(cx, a[1 - text].as_bytes(), a[text].as_bytes(), strict)
}

fn distance(similarity: f32) -> Datum {
    Datum::float4((1.0 - f64::from(similarity)) as f32)
}

scalars! { FNS;
    "show_trgm" => |cx, a| show(cx, a[0].as_bytes()),
    "similarity" => |cx, a| Ok(Datum::float4(similarity(cx, a[0].as_bytes(), a[1].as_bytes())?)),
    "similarity_dist" => |cx, a| {
        Ok(distance(similarity(cx, a[0].as_bytes(), a[1].as_bytes())?))
    },
    "word_similarity" => |cx, a| Ok(Datum::float4(of_word(cx, a, 1, false)?)),
    "strict_word_similarity" => |cx, a| Ok(Datum::float4(of_word(cx, a, 1, true)?)),
    "word_similarity_dist_op" => |cx, a| Ok(distance(of_word(cx, a, 1, false)?)),
    "strict_word_similarity_dist_op" => |cx, a| Ok(distance(of_word(cx, a, 1, true)?)),
    "word_similarity_dist_commutator_op" => |cx, a| Ok(distance(of_word(cx, a, 0, false)?)),
    "strict_word_similarity_dist_commutator_op" => |cx, a| {
        Ok(distance(of_word(cx, a, 0, true)?))
    },
}
