//! Abbreviated sort keys: eight bytes that usually have the order of a locale.
//!
//! Neither library promises that its sort keys have exactly the order of its comparison, and with
//! some releases of glibc they had not. So these numbers are only a guess, made of the primary
//! weights of single characters, and a sort verifies its result with the real comparison: if each
//! entry is not greater than the next one by a transitive order, all are in that order.
//!
//! Texts of printable ASCII characters need no verification where the library says that these
//! characters have weights which do not depend on each other ([`Collator::has_plain_ascii`]).

use crate::Provider;
use crate::icu::Collator;
use std::cmp::Ordering;
use std::collections::HashMap;

/// Characters below this code have ranks; a text's abbreviation ends before the first other one.
const TABLE_CHARS: u32 = 0x180;
/// The first byte in UTF-8 of the first character that is not in the table; those of later
/// characters are greater.
const BEYOND_LEAD: u8 = 0xc0 | (TABLE_CHARS >> 6) as u8;
/// A character has at most this number of ranks (`ß` has those of two letters).
const RANKS_MAX: usize = 3;
/// Rank of the first character that is not in the table, which is greater than all others.
const BEYOND: u8 = 0xff;

/// Ranks of the primary weights of characters; 0 is none, such as for marks.
#[derive(Debug)]
pub(crate) struct Ranks {
    table: Vec<[u8; RANKS_MAX]>,
    single_byte: bool,
    /// Texts of printable ASCII characters have the order of their ranks, where these differ.
    plain: bool,
}

/// True for a printable character of ASCII.
#[inline]
fn is_plain_byte(byte: u8) -> bool {
    byte.wrapping_sub(b' ') < 0x5f
}

/// True if all characters are printable ones of ASCII.
fn is_plain_text(text: &[u8]) -> bool {
    // Without an early end, so that it is compiled to vector instructions.
    text.iter().fold(true, |all, byte| all & is_plain_byte(*byte))
}

/// The first eight bytes as a number, filled with zeros.
pub(crate) fn first_bytes(text: &[u8]) -> u64 {
    let mut first = [0; 8];
    let n = text.len().min(8);
    first[..n].copy_from_slice(&text[..n]);
    u64::from_be_bytes(first)
}

/// The primary weights at the begin of glibc's sort key. Weights are written like characters in
/// UTF-8; a byte 1 ends a level.
fn glibc_weights(key: &[u8]) -> Vec<Vec<u8>> {
    let mut out = Vec::new();
    let mut rest = key;
    while let Some(&lead) = rest.first().filter(|&&b| b > 1) {
        let len = match lead {
            0..=0xbf => 1,
            0xc0..=0xdf => 2,
            0xe0..=0xef => 3,
            0xf0..=0xf7 => 4,
            0xf8..=0xfb => 5,
            _ => 6,
        };
        let (weight, more) = rest.split_at(len.min(rest.len()));
        out.push(weight.to_vec());
        rest = more;
    }
    out
}

/// The primary part of ICU's sort key: a byte 1 ends the level.
fn icu_primary(collator: &Collator, text: &[u8], key: &mut Vec<u8>) -> Vec<u8> {
    collator.sort_key(text, key);
    let end = key.iter().position(|&b| b <= 1).unwrap_or(key.len());
    key[..end].to_vec()
}

/// The weights of characters that ICU sorts as two letters, by their primary part. ICU compresses
/// its sort keys, so that the weights of two letters cannot be told apart in one.
fn icu_pairs(collator: &Collator) -> HashMap<Vec<u8>, [Vec<u8>; 2]> {
    let mut key = Vec::new();
    let mut out = HashMap::new();
    for first in b'a'..=b'z' {
        for second in b'a'..=b'z' {
            let pair = icu_primary(collator, &[first, second], &mut key);
            let each = [first, second].map(|c| icu_primary(collator, &[c], &mut key));
            out.insert(pair, each);
        }
    }
    out
}

impl Ranks {
    /// The ranks of a locale; `None` if its weights cannot be numbered by one byte.
    pub(crate) fn of(provider: &Provider, single_byte: bool) -> Option<Ranks> {
        let last = if single_byte { 0x100 } else { TABLE_CHARS };
        let mut key = Vec::new();
        let pairs = match provider {
            Provider::Icu(collator) => icu_pairs(collator),
            Provider::Libc { .. } => HashMap::new(),
        };
        let weights: Vec<Vec<Vec<u8>>> = (0..last)
            .map(|c| {
                if c < u32::from(b' ') {
                    return Vec::new();
                }
                let mut buffer = [0; 4];
                let text = match char::from_u32(c) {
                    _ if single_byte => &[c as u8][..],
                    Some(c) => c.encode_utf8(&mut buffer).as_bytes(),
                    None => return Vec::new(),
                };
                match provider {
                    Provider::Libc { collate, .. } => {
                        collate.sort_key(text, &mut key);
                        glibc_weights(&key)
                    }
                    Provider::Icu(collator) => {
                        let primary = icu_primary(collator, text, &mut key);
                        match pairs.get(&primary) {
                            Some(pair) => pair.to_vec(),
                            None if primary.is_empty() => Vec::new(),
                            None => vec![primary],
                        }
                    }
                }
            })
            .collect();
        let mut distinct: Vec<&Vec<u8>> = weights.iter().flatten().collect();
        distinct.sort_unstable();
        distinct.dedup();
        // More weights than numbers: neighbours share one, which keeps the order of the others.
        let scale = |at: usize| {
            if distinct.len() < BEYOND as usize { at } else { at * 253 / distinct.len() }
        };
        let table = weights.iter().map(|list| {
            let mut ranks = [0; RANKS_MAX];
            for (rank, weight) in ranks.iter_mut().zip(list) {
                let at = distinct.binary_search(&weight).unwrap_or_default();
                *rank = (scale(at) + 1) as u8;
            }
            ranks
        });
        let table: Vec<_> = table.collect();
        let plain = match provider {
            Provider::Icu(collator) => {
                distinct.len() < BEYOND as usize
                    && weights[..0x80].iter().all(|list| list.len() <= 1)
                    && collator.has_plain_ascii()
            }
            Provider::Libc { .. } => false,
        };
        (!distinct.is_empty()).then_some(Ranks { table, single_byte, plain })
    }

    /// True if the abbreviation of this text and those of others for which this is true have
    /// exactly the order of the texts, where they differ.
    pub(crate) fn is_plain(&self, text: &[u8]) -> bool {
        self.plain && is_plain_text(text)
    }

    /// The order of two texts; `Equal` if their ranks do not decide.
    pub(crate) fn plain_order(&self, a: &[u8], b: &[u8]) -> Ordering {
        if !self.plain {
            return Ordering::Equal;
        }
        let same = common_prefix(a, b);
        if !is_plain_text(&a[..same]) {
            return Ordering::Equal;
        }
        let (mut a, mut b) = (&a[same..], &b[same..]);
        loop {
            let (x, y) = (self.next_plain(&mut a), self.next_plain(&mut b));
            let (Some(x), Some(y)) = (x, y) else { return Ordering::Equal };
            if x != y || x == 0 {
                // A next character could change the weight of the one before, if it is no plain
                // one.
                let follows = |rest: &[u8]| rest.first().is_none_or(|c| is_plain_byte(*c));
                return if follows(a) && follows(b) { x.cmp(&y) } else { Ordering::Equal };
            }
        }
    }

    /// Removes characters until one has a rank, and returns that; 0 at the end. `None`: a
    /// character that is not a plain one.
    #[inline]
    fn next_plain(&self, text: &mut &[u8]) -> Option<u8> {
        while let Some((&c, rest)) = text.split_first() {
            if !is_plain_byte(c) {
                return None;
            }
            *text = rest;
            match self.table[usize::from(c)][0] {
                0 => {}
                rank => return Some(rank),
            }
        }
        Some(0)
    }

    fn symbols<'a>(&'a self, text: &'a [u8]) -> Symbols<'a> {
        Symbols { ranks: self, rest: text, pending: [0; RANKS_MAX], at: 0 }
    }

    /// The first eight ranks of a text as a number.
    pub(crate) fn abbreviation(&self, text: &[u8]) -> u64 {
        if let Some(first) = text.first_chunk::<8>().filter(|first| first.is_ascii()) {
            // Most characters have one rank.
            let ranks = first.map(|c| self.table[usize::from(c)]);
            if ranks.iter().all(|r| r[0] != 0 && r[1] == 0) {
                return u64::from_be_bytes(ranks.map(|r| r[0]));
            }
        }
        let mut symbols = self.symbols(text);
        let mut out = 0u64;
        for place in 0..8 {
            match symbols.next() {
                0 => break,
                rank => out |= u64::from(rank) << (56 - 8 * place),
            }
        }
        out
    }

    /// The order of the ranks of two texts. Texts whose abbreviations differ have their order.
    pub(crate) fn compare(&self, a: &[u8], b: &[u8]) -> Ordering {
        let mut same = common_prefix(a, b);
        if !self.single_byte {
            // To the begin of a character.
            let is_inside = |text: &[u8], at| text.get(at).is_some_and(|byte| byte & 0xc0 == 0x80);
            while same > 0 && (is_inside(a, same) || is_inside(b, same)) {
                same -= 1;
            }
            if a[..same].iter().any(|&byte| byte >= BEYOND_LEAD) {
                // The ranks end there.
                return Ordering::Equal;
            }
        }
        let (mut a, mut b) = (self.symbols(&a[same..]), self.symbols(&b[same..]));
        loop {
            let (x, y) = (a.next(), b.next());
            if x != y || x == 0 {
                return x.cmp(&y);
            }
        }
    }
}

/// The number of bytes at the begin that two texts have in common.
fn common_prefix(a: &[u8], b: &[u8]) -> usize {
    let words = a.chunks_exact(8).zip(b.chunks_exact(8)).take_while(|(x, y)| x == y).count();
    let rest = a.iter().zip(b).skip(8 * words).take_while(|(x, y)| x == y).count();
    8 * words + rest
}

/// The ranks of a text's characters, one after the other.
struct Symbols<'a> {
    ranks: &'a Ranks,
    rest: &'a [u8],
    /// Ranks of the present character.
    pending: [u8; RANKS_MAX],
    at: usize,
}

impl Symbols<'_> {
    /// The next rank: [`BEYOND`] for a character that is not in the table, after which there are no
    /// more; 0 at the end.
    #[inline]
    fn next(&mut self) -> u8 {
        loop {
            if let Some(&rank) = self.pending.get(self.at).filter(|&&rank| rank != 0) {
                self.at += 1;
                return rank;
            }
            let Some(&lead) = self.rest.first() else { return 0 };
            let (c, len) = match lead {
                _ if self.ranks.single_byte => (usize::from(lead), 1),
                0..=0x7f => (usize::from(lead), 1),
                0xc0..=0xdf if self.rest.len() > 1 => {
                    (usize::from(lead & 0x1f) << 6 | usize::from(self.rest[1] & 0x3f), 2)
                }
                _ => (usize::MAX, 1),
            };
            let Some(&ranks) = self.ranks.table.get(c) else {
                (self.rest, self.at) = (&[], RANKS_MAX);
                return BEYOND;
            };
            (self.pending, self.at) = (ranks, 0);
            self.rest = &self.rest[len..];
        }
    }
}
