//! Splits compound words into their parts.

use super::flags::{BEGIN, COMPOUND, LAST, MIDDLE, Properties};
use super::words::Branch;
use super::{Ispell, Side, WORD_BYTES_MAX};

/// An affix that can be between the parts of compound words.
pub(super) struct Link {
    text: Vec<u8>,
    side: Side,
}

/// The stems of a word's parts; the last one is the rest of the word.
type Stems = Vec<Vec<u8>>;

/// The different shortest affixes that can be in compound words.
pub(super) fn links(dictionary: &Ispell) -> Vec<Link> {
    let mut out: Vec<Link> = Vec::new();
    for affix in &dictionary.affixes {
        let usable = affix.properties.0 & COMPOUND != 0
            && !affix.text.is_empty()
            && dictionary.words.uses(&affix.flag);
        let known = out.last().is_some_and(|last| {
            // Compared from their ends.
            last.side == affix.side && affix.text.ends_with(&last.text)
        });
        if usable && !known {
            out.push(Link { text: affix.text.clone(), side: affix.side });
        }
    }
    out
}

fn find(text: &[u8], part: &[u8]) -> Option<usize> {
    text.windows(part.len()).position(|w| w == part)
}

/// The next link in `rest`, from number `next` on: how many bytes the part before goes on in
/// `rest`. At its beginning if `in_place`, else anywhere.
fn next_link(dictionary: &Ispell, next: &mut usize, rest: &[u8], in_place: bool) -> Option<usize> {
    while let Some(link) = dictionary.links.get(*next) {
        *next += 1;
        if rest.len() <= link.text.len() {
            continue;
        }
        let at = match in_place {
            true => rest.starts_with(&link.text).then_some(0),
            false => find(rest, &link.text),
        };
        if let Some(at) = at {
            return Some(if link.side == Side::Suffix { at + link.text.len() } else { 0 });
        }
    }
    None
}

fn part_at(at_start: bool, level: usize, len: usize) -> Properties {
    match () {
        () if at_start => BEGIN,
        () if level + 1 == len => LAST,
        () => MIDDLE,
    }
}

/// A search for the parts of a word.
struct Search<'a> {
    dictionary: &'a Ispell,
    word: &'a [u8],
    stems: Stems,
    /// The present part begins here.
    start: usize,
    /// It must be longer than up to here.
    shortest: Option<usize>,
}

impl Search<'_> {
    /// All ways to split the word from here; the first is that without further parts.
    fn run(mut self, inside: Option<Branch>) -> Vec<Stems> {
        let words = &self.dictionary.words;
        let len = self.word.len();
        let mut level = match inside {
            Some(_) => self.shortest.unwrap_or_default(),
            None => self.start,
        };
        let mut branch = inside.or_else(|| words.root());
        let mut tried = vec![false; len];
        let mut others: Vec<Stems> = Vec::new();
        while level < len {
            self.try_links(level, branch.is_some(), &mut tried, &mut others);
            let Some(present) = branch else { break };
            match words.descend(present, level - self.start, self.word[level]) {
                None => branch = None,
                Some((below, ends)) => {
                    let part = part_at(self.start == 0, level, len);
                    let whole = ends.is_some_and(|p| p.0 & part.0 != 0)
                        && !tried[level]
                        && self.shortest.is_none_or(|shortest| level > shortest);
                    if whole && len == level + 1 {
                        break;
                    }
                    if whole {
                        // Longer parts that begin here, too.
                        others.extend(self.inner(
                            self.stems.clone(),
                            self.start,
                            Some(level),
                            branch,
                        ));
                        level += 1;
                        self.stems.push(self.word[self.start..level].to_vec());
                        branch = words.root();
                        self.start = level;
                        continue;
                    }
                    branch = below;
                }
            }
            level += 1;
        }
        self.stems.push(self.word[self.start..].to_vec());
        others.insert(0, self.stems);
        others
    }

    fn inner(
        &self,
        stems: Stems,
        start: usize,
        shortest: Option<usize>,
        inside: Option<Branch>,
    ) -> Vec<Stems> {
        let search =
            Search { dictionary: self.dictionary, word: self.word, stems, start, shortest };
        stdx::stack::deep(|| search.run(inside))
    }

    /// Parts that end with a link at `level`.
    fn try_links(&self, level: usize, in_place: bool, tried: &mut [bool], others: &mut Vec<Stems>) {
        let len = self.word.len();
        let mut next = 0;
        while level > self.start
            && let Some(more) = next_link(self.dictionary, &mut next, &self.word[level..], in_place)
        {
            let size = level - self.start + more;
            let end = self.start + size;
            let short = self.shortest.is_some_and(|shortest| level + size <= shortest + 1);
            if tried.get(end - 1).is_none_or(|t| *t) || short || size >= WORD_BYTES_MAX {
                continue;
            }
            let part = part_at(level == 0, level, len);
            let forms = self.dictionary.normal_forms(&self.word[self.start..end], part);
            if forms.is_empty() {
                continue;
            }
            tried[end - 1] = true;
            let stems = [self.stems.clone(), forms].concat();
            others.extend(self.inner(stems, end, Some(end), None));
        }
    }
}

/// All ways to split a word into parts.
pub(super) fn split(dictionary: &Ispell, word: &[u8]) -> Vec<Stems> {
    let search = Search { dictionary, word, stems: Stems::new(), start: 0, shortest: None };
    search.run(None)
}
