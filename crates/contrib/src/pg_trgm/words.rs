//! `word_similarity`: the greatest similarity of a pattern with a part of a text.
//!
//! The trigrams of the text are visited in order. A part ends at a trigram that the pattern has
//! (strict: at the end of a word); each time the start of the part is moved to where the similarity
//! is greatest. The start found stays the first one for later ends.

use super::{Placed, Trigram, placed_trigrams, ratio, sort_key};
use pgerror::Result;
use values::fn_context::{FnContext, InterruptTicker};

/// The trigrams of the text by their numbers in a list of different trigrams.
struct Numbered {
    /// For each trigram of the text, its number.
    numbers: Vec<usize>,
    /// By number: the pattern has the trigram.
    found: Vec<bool>,
    /// How many different trigrams the pattern has.
    pattern: usize,
}

fn numbered(pattern: &[Placed], text: &[Placed]) -> Numbered {
    let key = |p: &Placed| sort_key(&p.trigram);
    let mut all: Vec<Trigram> = pattern.iter().chain(text).map(|p| p.trigram).collect();
    all.sort_unstable_by_key(sort_key);
    all.dedup();
    let number = |p: &Placed| all.binary_search_by_key(&key(p), sort_key).unwrap_or(0);
    let mut found = vec![false; all.len()];
    for p in pattern {
        found[number(p)] = true;
    }
    let pattern = found.iter().filter(|f| **f).count();
    Numbered { numbers: text.iter().map(number).collect(), found, pattern }
}

/// The part of the text that is being extended.
struct Part {
    /// The first trigram; `None` before the first one that the pattern has.
    start: Option<usize>,
    /// The number of different trigrams, and of those that the pattern has.
    different: usize,
    shared: usize,
    /// By number: the last place of a trigram in the part.
    last: Vec<Option<usize>>,
}

impl Part {
    fn add(&mut self, n: &Numbered, i: usize) {
        let number = n.numbers[i];
        if self.start.is_none() && !n.found[number] {
            return;
        }
        if self.last[number].is_none() {
            self.different += 1;
            self.shared += usize::from(n.found[number]);
        }
        self.last[number] = Some(i);
    }

    /// Ends the part after trigram `end`; its similarity with the best start, which is kept.
    fn end(&mut self, n: &Numbered, end: usize, may_start: impl Fn(usize) -> bool) -> f32 {
        if self.start.is_none() {
            self.start = Some(end);
            self.different = 1;
        }
        let first = self.start.unwrap_or(end);
        let mut best = ratio(self.shared, n.pattern, self.different);
        let (mut shared, mut different, mut start) = (self.shared, self.different, first);
        let (mut best_shared, mut best_different) = (shared, different);
        for i in first..=end {
            if may_start(i) {
                let similarity = ratio(shared, n.pattern, different);
                if similarity > best {
                    (best, start) = (similarity, i);
                    (best_shared, best_different) = (shared, different);
                }
            }
            let number = n.numbers[i];
            if self.last[number] == Some(i) {
                different -= 1;
                shared -= usize::from(n.found[number]);
            }
        }
        (self.shared, self.different, self.start) = (best_shared, best_different, Some(start));
        for i in first..start {
            let number = n.numbers[i];
            if self.last[number] == Some(i) {
                self.last[number] = None;
            }
        }
        best
    }
}

/// The greatest similarity of the trigrams of `pattern` with those of a part of `text`. `strict`:
/// parts consist of whole words.
pub fn word_similarity(
    cx: &dyn FnContext,
    pattern: &[u8],
    text: &[u8],
    strict: bool,
) -> Result<f32> {
    let (pattern, text) = (placed_trigrams(cx, pattern)?, placed_trigrams(cx, text)?);
    let n = numbered(&pattern, &text);
    let last = vec![None; n.found.len()];
    let start = strict.then_some(0);
    let mut part = Part { start, different: 0, shared: 0, last };
    let mut greatest = 0f32;
    let mut ticker = InterruptTicker::default();
    for (i, placed) in text.iter().enumerate() {
        ticker.tick(cx)?;
        part.add(&n, i);
        let ends = if strict { placed.ends_word } else { n.found[n.numbers[i]] };
        if ends {
            let may_start = |at: usize| !strict || text[at].starts_word;
            greatest = greatest.max(part.end(&n, i, may_start));
        }
    }
    Ok(greatest)
}
