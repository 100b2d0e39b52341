//! Covers: minimal parts of the document that match the query.

use super::Word;
use crate::execute::{Document, Execution, Match, Options, Places};
use crate::query::{Operand, Query};
use pgerror::Result;
use values::fn_context::InterruptChecker;

struct Part<'w, 'a> {
    words: &'w [Word<'a>],
}

impl Document for Part<'_, '_> {
    fn has(&mut self, i: usize, _: &Operand, places: Option<&mut Places>) -> Match {
        let mut found = self.words.iter().filter(|w| w.item == Some(i));
        let Some(places) = places else {
            return if found.next().is_some() { Match::Yes } else { Match::No };
        };
        for word in found {
            if places.positions.last().is_none_or(|last| *last < word.position) {
                places.positions.push(word.position);
            }
        }
        if places.positions.is_empty() { Match::No } else { Match::Yes }
    }
}

/// The first word at or after `from` that the query has.
fn next_item(words: &[Word<'_>], from: usize) -> Option<usize> {
    (from..words.len()).find(|i| words[*i].item.is_some())
}

/// The first and last word of the next cover that begins at or after `from`, with at most
/// `words_max` words.
pub(super) fn next_cover(
    interrupts: &InterruptChecker<'_>,
    words: &[Word<'_>],
    query: Query<'_>,
    words_max: i32,
    from: usize,
) -> Result<Option<(usize, usize)>> {
    if query.is_empty() {
        return Ok(None);
    }
    let mut start = next_item(words, from);
    while let Some(first) = start {
        let mut end = Some(first);
        while let Some(last) = end.filter(|last| ((*last - first) as i64) < i64::from(words_max)) {
            let document = &mut Part { words: &words[first..=last] };
            let options = Options::default();
            if (Execution { query, document, options, interrupts: Some(interrupts) }).run()?
                != Match::No
            {
                return Ok(Some((first, last)));
            }
            end = next_item(words, last + 1);
        }
        start = next_item(words, first + 1);
    }
    Ok(None)
}
