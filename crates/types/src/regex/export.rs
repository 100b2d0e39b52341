//! The automaton of a pattern, for code that derives conditions on the texts that match it.
//! Constraints on a position that are not those of line ends are left out, and a back reference is
//! replaced by the expression of its group, so the automaton accepts at least those texts.
//!
//! Counterpart: regexport.c.

use super::color::Colors;
use super::dfa::Text;
use super::nfa::{Check, Inst, Nfa};
use super::syntax::{self, Assert, Options};
use super::work::WorkCounter;
use super::{Ctype, codes};
use pgerror::Result;

/// What a state of the automaton does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// Consumes a character of a set.
    Set {
        set: u32,
        next: usize,
    },
    /// Continues at both states.
    Either(usize, usize),
    /// Continues at the start of the text or of a line.
    LineStart(usize),
    /// Continues at the end of the text or of a line.
    LineEnd(usize),
    /// Continues.
    Skip(usize),
    Match,
}

/// The automaton of a pattern. Characters that the pattern does not distinguish have one color.
pub struct Automaton {
    pub start: usize,
    pub steps: Vec<Step>,
    colors: Colors,
}

/// The automaton of a pattern; 2201B if the pattern is invalid. `interrupts` is the check for
/// interrupts.
pub fn automaton(
    pattern: &[u8],
    mut options: Options,
    ctype: &Ctype,
    interrupts: &dyn Fn() -> Result<()>,
) -> Result<Automaton> {
    let work = &WorkCounter::new(interrupts);
    let codes = codes(Text { bytes: pattern, single_byte: false }, work)?;
    let parsed = syntax::parse(&codes, &mut options, ctype, work)?;
    let colors = Colors::new(&parsed.sets, parsed.lines, parsed.words, ctype, work)?;
    let nfa = Nfa::new(&parsed.node, false, work)?;
    let step = |inst: &Inst| match *inst {
        Inst::Set(set, next) => Step::Set { set, next: next as usize },
        Inst::Split(a, b) => Step::Either(a as usize, b as usize),
        Inst::Check(Check::Assert(Assert::LineStart | Assert::TextStart), next) => {
            Step::LineStart(next as usize)
        }
        Inst::Check(Check::Assert(Assert::LineEnd | Assert::TextEnd), next) => {
            Step::LineEnd(next as usize)
        }
        Inst::Check(_, next) => Step::Skip(next as usize),
        Inst::Match => Step::Match,
    };
    Ok(Automaton { start: nfa.start as usize, steps: nfa.insts.iter().map(step).collect(), colors })
}

impl Automaton {
    /// The number of colors.
    pub fn color_count(&self) -> usize {
        self.colors.count()
    }

    /// Whether the characters of a color are in a set.
    pub fn has_color(&self, set: u32, color: u16) -> bool {
        set == Nfa::ANY || self.colors.in_set(set, color)
    }

    /// The characters of each color; `None` if there are more than `count_max`.
    pub fn characters(&self, count_max: u32) -> Vec<Option<Vec<u32>>> {
        let mut out: Vec<Option<Vec<u32>>> = vec![Some(Vec::new()); self.color_count()];
        for (first, last, color) in self.colors.ranges() {
            let Some(entry) = out.get_mut(usize::from(color)) else { continue };
            match entry {
                Some(list) if last - first < count_max => {
                    list.extend(first..=last);
                    if list.len() > count_max as usize {
                        *entry = None;
                    }
                }
                _ => *entry = None,
            }
        }
        out
    }
}
