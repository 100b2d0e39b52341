//! Regular expressions with PostgreSQL's semantics: syntax, character classes by collation, choice
//! of the match and of its capture groups, lookaround constraints, back references.
//!
//! A pattern is parsed (`syntax`, `class`), the characters are divided into colors (`color`), and
//! NFAs of its parts are built (`nfa`), which are executed as lazily built DFAs (`dfa`, `look`).
//! The match begins as early as possible and is then as long or as short as the pattern prefers;
//! `tree` finds the capture groups in it. `export` gives the NFA to index methods. All of these
//! modules count their work and check for interrupts (`work`). Counterpart: src/backend/regex.

mod class;
mod color;
mod dfa;
pub mod export;
pub(crate) mod functions;
mod look;
mod nfa;
mod syntax;
#[cfg(test)]
mod tests;
mod tree;
mod work;

pub use class::Ctype;
pub use syntax::{Flavor, Options};
pub use tree::Spans;

use color::Colors;
use dfa::{Dfa, Env, Pos, Text};
use look::LookState;
use nfa::Nfa;
use pgerror::Result;
use tree::{Candidates, Part};
use work::WorkCounter;

/// A compiled pattern, with the DFA states built so far.
pub struct Pattern {
    colors: Colors,
    looks: Vec<LookState>,
    search: Dfa,
    whole: Part,
    ignore_case: Option<Ctype>,
    single_byte: bool,
    /// Number of capturing groups.
    pub groups: usize,
    /// Memory of the automata of the pattern's parts, in bytes.
    parts_bytes: usize,
}

/// Compiles a pattern; 2201B if it is invalid. Single-byte text is matched by its bytes.
/// `interrupts` is the check for interrupts.
pub fn compile(
    pattern: &[u8],
    options: Options,
    ctype: Ctype,
    single_byte: bool,
    interrupts: &dyn Fn() -> Result<()>,
) -> Result<Pattern> {
    let work = &WorkCounter::new(interrupts);
    let codes = codes(Text { bytes: pattern, single_byte }, work)?;
    let mut options = options;
    let parsed = syntax::parse(&codes, &mut options, &ctype, work)?;
    let colors = Colors::new(&parsed.sets, parsed.lines, parsed.words, &ctype, work)?;
    let mut looks = Vec::with_capacity(parsed.looks.len());
    for look in &parsed.looks {
        let nfa = Nfa::new(&look.body, look.behind, work)?;
        looks.push(LookState::new(look.behind, look.negative, Dfa::new(nfa, look.behind)));
    }
    let search = Dfa::new(Nfa::new(&parsed.node, true, work)?, true);
    Ok(Pattern {
        search,
        whole: Part::of_pattern(&parsed.node, work)?,
        colors,
        looks,
        ignore_case: options.ignore_case.then_some(ctype),
        single_byte,
        groups: parsed.groups,
        parts_bytes: 0,
    })
}

/// The characters of a text.
fn codes(text: Text<'_>, work: &WorkCounter<'_>) -> Result<Vec<u32>> {
    let mut codes = values::memory::with_capacity(text.len())?;
    let mut at = 0;
    while at < text.len() {
        work.add(1)?;
        let (c, next) = text.char_at(at);
        codes.push(c);
        at = next;
    }
    Ok(codes)
}

/// The search of a pattern in one text.
pub struct Search<'a> {
    pattern: &'a mut Pattern,
    text: Text<'a>,
    work: WorkCounter<'a>,
}

impl Pattern {
    /// Starts a search of a text. `interrupts` is the check for interrupts.
    pub fn on<'a>(
        &'a mut self,
        text: &'a [u8],
        interrupts: &'a dyn Fn() -> Result<()>,
    ) -> Search<'a> {
        look::begin(&mut self.looks, text.len());
        let text = Text { bytes: text, single_byte: self.single_byte };
        Search { pattern: self, text, work: WorkCounter::new(interrupts) }
    }
}

impl Search<'_> {
    /// Whether the pattern matches anywhere in the text.
    pub fn is_match(&mut self) -> Result<bool> {
        if self.pattern.whole.properties.refers {
            return Ok(self.find(0)?.is_some());
        }
        let p = &mut *self.pattern;
        let mut env = Env {
            text: self.text,
            colors: &p.colors,
            looks: &mut p.looks,
            work: &self.work,
            ignore_case: p.ignore_case.clone(),
            parts_bytes: &mut p.parts_bytes,
        };
        Ok(p.search.shortest(&mut env, 0, 0, self.text.len())?.is_some())
    }

    /// The leftmost match at or after byte `from`.
    pub fn find(&mut self, from: Pos) -> Result<Option<Spans>> {
        let p = &mut *self.pattern;
        let stop = self.text.len();
        let mut env = Env {
            text: self.text,
            colors: &p.colors,
            looks: &mut p.looks,
            work: &self.work,
            ignore_case: p.ignore_case.clone(),
            parts_bytes: &mut p.parts_bytes,
        };
        let mut spans: Spans = vec![None; p.groups + 1];
        let mut start = from;
        loop {
            // The first match begins at or before the first end of a match.
            let mut close = None;
            let mut begin = p.search.run(&mut env, start, stop, &mut |end| {
                close = Some(end);
                false
            })?;
            let Some(close) = close else { return Ok(None) };
            loop {
                env.tick()?;
                let mut ends = Candidates::new(begin, stop);
                while let Some(end) = ends.next(&mut p.whole, &mut env)? {
                    if p.whole.find_groups(&mut env, &mut spans, begin, end)? {
                        spans[0] = Some((begin, end));
                        return Ok(Some(spans));
                    }
                    if !p.whole.properties.refers {
                        break;
                    }
                }
                if begin >= close {
                    break;
                }
                begin = self.text.next(begin);
            }
            // Only a pattern with back references reaches this point. PostgreSQL stops before the
            // end of the text, where no character is left to skip: an empty match there is not
            // found.
            if close >= stop {
                return Ok(None);
            }
            start = self.text.next(close);
            if start >= stop {
                return Ok(None);
            }
        }
    }

    /// The length of the text in bytes.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> usize {
        self.text.len()
    }

    /// The position after the character at `at`.
    pub fn next(&self, at: Pos) -> Pos {
        self.text.next(at)
    }
}
