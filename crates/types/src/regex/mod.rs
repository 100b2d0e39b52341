//! Regular expressions as PostgreSQL has them: syntax, classes by the collation, which match is
//! taken and where its groups lie, lookaround constraints, back references.
//!
//! A pattern is parsed (`syntax`, `class`), its characters are divided into colours and its parts
//! made into automata (`nfa`), which run deterministically (`dfa`). The match begins as early as
//! possible and is then as long or as short as the pattern prefers; `tree` says where the groups
//! lie in it. Counterpart: src/backend/regex.

mod class;
mod dfa;
pub(crate) mod functions;
mod nfa;
mod syntax;
#[cfg(test)]
mod tests;
mod tree;

pub use class::Ctype;
pub use syntax::{Flavor, Options};

use dfa::{Dfa, Env, LookState, Pos, Text};
use nfa::{Colours, LookNumbers, Nfa};
use pgerror::{PgError, Result, pg_err};
use std::sync::Arc;
use tree::{Compiled, Part};

/// Byte ranges of a match: the whole, then each group.
pub type Spans = Vec<Option<(usize, usize)>>;

fn fault(what: &str) -> PgError {
    pg_err!(INVALID_REGULAR_EXPRESSION, "invalid regular expression: {what}")
}

/// A compiled pattern, with the states that its automata have been in so far.
pub struct Pattern {
    colours: Colours,
    looks: LookNumbers,
    look_states: Vec<LookState>,
    search: Dfa,
    whole: Part,
    ignore_case: Option<Ctype>,
    single_byte: bool,
    /// Number of capturing groups.
    pub groups: usize,
    /// The looks' nodes, by whose addresses they are numbered.
    _nodes: Vec<Arc<syntax::Look>>,
}

/// Compiles a pattern; 2201B where it is none. Text of one byte a character is taken as its bytes.
pub fn compile(
    pattern: &[u8],
    options: Options,
    ctype: Ctype,
    single_byte: bool,
) -> Result<Pattern> {
    let text = Text { bytes: pattern, single_byte };
    let mut codes = crate::memory::with_capacity(pattern.len())?;
    let mut at = 0;
    while at < text.len() {
        let (c, next) = text.char_at(at);
        codes.push(c);
        at = next;
    }
    let mut options = options;
    let parsed = syntax::parse(&codes, &mut options, ctype)?;
    let colours = Colours::new(&parsed.node, ctype)?;
    let mut nodes = Vec::new();
    tree::number_looks(&parsed.node, &mut nodes);
    if nodes.len() > 64 {
        return Err(syntax::too_complex());
    }
    let number = |(i, l): (usize, &Arc<syntax::Look>)| (Arc::as_ptr(l) as usize, i as u16);
    let looks: LookNumbers = nodes.iter().enumerate().map(number).collect();
    let mut look_states = Vec::with_capacity(nodes.len());
    for look in &nodes {
        let nfa = Nfa::new(&look.body, look.behind, &colours, &looks)?;
        look_states.push(LookState {
            behind: look.behind,
            negative: look.negative,
            dfa: Some(Dfa::new(nfa, look.behind)),
            known: Vec::new(),
        });
    }
    let search = Dfa::new(Nfa::new(&parsed.node, true, &colours, &looks)?, true);
    Ok(Pattern {
        search,
        whole: Part::of_pattern(&parsed.node)?,
        colours,
        looks,
        look_states,
        ignore_case: options.ignore_case.then_some(ctype),
        single_byte,
        groups: parsed.groups,
        _nodes: nodes,
    })
}

/// A pattern at work on one text.
pub struct Search<'a> {
    pattern: &'a mut Pattern,
    text: Text<'a>,
    interrupts: &'a dyn Fn() -> Result<()>,
}

impl Pattern {
    /// Sets out to search a text. `interrupts` is asked now and then.
    pub fn on<'a>(
        &'a mut self,
        text: &'a [u8],
        interrupts: &'a dyn Fn() -> Result<()>,
    ) -> Search<'a> {
        self.look_states.iter_mut().for_each(|l| l.known.clear());
        let text = Text { bytes: text, single_byte: self.single_byte };
        Search { pattern: self, text, interrupts }
    }
}

impl Search<'_> {
    /// Is there a match anywhere?
    pub fn is_match(&mut self) -> Result<bool> {
        if self.pattern.whole.traits.refers {
            return Ok(self.find(0)?.is_some());
        }
        let p = &mut *self.pattern;
        let mut env = Env::new(self.text, &p.colours, &mut p.look_states, self.interrupts);
        Ok(p.search.shortest(&mut env, 0, 0, self.text.len())?.is_some())
    }

    /// The leftmost match at or after byte `from`.
    pub fn find(&mut self, from: Pos) -> Result<Option<Spans>> {
        let p = &mut *self.pattern;
        let compiled = Compiled { looks: &p.looks, ignore_case: p.ignore_case };
        let stop = self.text.len();
        let mut env = Env::new(self.text, &p.colours, &mut p.look_states, self.interrupts);
        let mut spans: Spans = vec![None; p.groups + 1];
        let mut start = from;
        loop {
            // Somewhere up to the first end of a match there is the first begin of one.
            let mut close = None;
            let mut begin = p.search.run(&mut env, start, stop, &mut |end| {
                close = Some(end);
                false
            })?;
            let Some(close) = close else { return Ok(None) };
            loop {
                let preferred = p.whole.end(&mut env, &compiled, begin, stop)?;
                if let Some(end) = preferred {
                    let mut ends = vec![end];
                    if p.whole.traits.refers {
                        ends = p.whole.ends(&mut env, &compiled, begin, stop)?;
                    }
                    for end in ends {
                        if p.whole.dissect(&mut env, &compiled, &mut spans, begin, end)? {
                            spans[0] = Some((begin, end));
                            return Ok(Some(spans));
                        }
                    }
                }
                if begin >= close {
                    break;
                }
                begin = self.text.next(begin);
            }
            // Only a pattern with back references comes here. PostgreSQL ends before the text's
            // end, where no character is left to step over: an empty match there is not looked for
            // any more.
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

    /// The position behind the character at `at`.
    pub fn next(&self, at: Pos) -> Pos {
        self.text.next(at)
    }
}
