//! Automata of patterns: the colours that divide the characters, and Thompson's construction over
//! them. Counterpart: regc_color.c, regc_nfa.c.

use super::class::{CharSet, Ctype, named};
use super::syntax::{Assert, Node, UNBOUNDED, too_complex};
use pgerror::Result;
use std::collections::HashMap;
use std::sync::Arc;

/// Classes of characters that no set of the pattern tells apart.
pub(super) struct Colours {
    /// Colours of the codes below 128.
    ascii: [u16; 128],
    /// First code of each run of one colour, ascending; the first is 0.
    runs: Vec<(u32, u16)>,
    sets: HashMap<Arc<CharSet>, usize>,
    /// For each set the colours in it, as bits.
    members: Vec<Vec<u64>>,
    /// What assertions ask about a colour.
    newline: Vec<bool>,
    word: Vec<bool>,
}

impl Colours {
    pub fn new(node: &Node, ctype: Ctype) -> Result<Colours> {
        let mut sets = HashMap::new();
        collect(node, &mut sets);
        let (line, word) = asserts(node);
        let newline = CharSet::one(b'\n' as u32);
        let word_set = named("word", ctype, false).unwrap_or_default();
        for extra in [line.then_some(&newline), word.then_some(&word_set)].into_iter().flatten() {
            let next = sets.len();
            sets.entry(Arc::new(extra.clone())).or_insert(next);
        }
        let mut ordered: Vec<(usize, Arc<CharSet>)> =
            sets.iter().map(|(set, &i)| (i, set.clone())).collect();
        ordered.sort_unstable_by_key(|(i, _)| *i);
        let ordered: Vec<Arc<CharSet>> = ordered.into_iter().map(|(_, set)| set).collect();
        let mut runs = vec![(0u32, 0u16)];
        let mut count = 1usize;
        for set in &ordered {
            (runs, count) = split(&runs, set)?;
        }
        let words = count.div_ceil(64);
        let mut members = vec![vec![0u64; words]; ordered.len()];
        let (mut is_newline, mut is_word) = (vec![false; count], vec![false; count]);
        for &(code, colour) in &runs {
            let colour = colour as usize;
            for (set, bits) in ordered.iter().zip(&mut members) {
                if set.contains(code) {
                    bits[colour / 64] |= 1 << (colour % 64);
                }
            }
            is_newline[colour] = line && code == b'\n' as u32;
            is_word[colour] = word && word_set.contains(code);
        }
        let mut colours =
            Colours { ascii: [0; 128], runs, sets, members, newline: is_newline, word: is_word };
        for c in 0..128 {
            colours.ascii[c as usize] = colours.search(c);
        }
        Ok(colours)
    }

    fn search(&self, code: u32) -> u16 {
        self.runs[self.runs.partition_point(|&(c, _)| c <= code) - 1].1
    }

    pub fn of(&self, code: u32) -> u16 {
        match self.ascii.get(code as usize) {
            Some(&c) => c,
            None => self.search(code),
        }
    }

    /// How many colours there are; this number itself stands for the end of the text.
    pub fn count(&self) -> usize {
        self.newline.len()
    }

    pub fn is_newline(&self, colour: u16) -> bool {
        self.newline.get(colour as usize).copied().unwrap_or(false)
    }

    pub fn is_word(&self, colour: u16) -> bool {
        self.word.get(colour as usize).copied().unwrap_or(false)
    }

    pub fn in_set(&self, set: u32, colour: u16) -> bool {
        self.members[set as usize]
            .get(colour as usize / 64)
            .is_some_and(|w| w >> (colour % 64) & 1 == 1)
    }
}

/// The runs with each colour divided into what is in the set and what is not; and the number of
/// colours.
fn split(runs: &[(u32, u16)], set: &CharSet) -> Result<(Vec<(u32, u16)>, usize)> {
    let mut bounds: Vec<u32> = set.0.iter().flat_map(|&(l, h)| [l, h + 1]).collect();
    bounds.extend(runs.iter().map(|r| r.0));
    bounds.sort_unstable();
    bounds.dedup();
    let mut numbers: HashMap<(u16, bool), u16> = HashMap::new();
    let mut out: Vec<(u32, u16)> = Vec::with_capacity(bounds.len());
    let mut at = 0;
    for code in bounds {
        while runs.get(at + 1).is_some_and(|r| r.0 <= code) {
            at += 1;
        }
        let next = u16::try_from(numbers.len()).map_err(|_| super::fault("too many colors"))?;
        let colour = *numbers.entry((runs[at].1, set.contains(code))).or_insert(next);
        if out.last().is_none_or(|r| r.1 != colour) {
            out.push((code, colour));
        }
    }
    Ok((out, numbers.len()))
}

fn children(node: &Node, f: &mut dyn FnMut(&Node)) {
    match node {
        Node::Empty | Node::Set(_) | Node::Assert(_) => {}
        Node::Look(look) => f(&look.body),
        Node::Seq(nodes) | Node::Alt(nodes) => nodes.iter().for_each(f),
        Node::Repeat { body, .. } | Node::Group(_, body) | Node::BackRef(_, body) => f(body),
    }
}

fn collect(node: &Node, sets: &mut HashMap<Arc<CharSet>, usize>) {
    match node {
        Node::Set(set) => {
            let next = sets.len();
            sets.entry(set.clone()).or_insert(next);
        }
        _ => children(node, &mut |n| collect(n, sets)),
    }
}

/// Does the pattern ask about lines? About words?
fn asserts(node: &Node) -> (bool, bool) {
    let mut found = match node {
        Node::Assert(a) => match a {
            Assert::LineStart | Assert::LineEnd => (true, false),
            Assert::TextStart | Assert::TextEnd => (false, false),
            _ => (false, true),
        },
        _ => (false, false),
    };
    children(node, &mut |n| {
        let (line, word) = asserts(n);
        found = (found.0 || line, found.1 || word);
    });
    found
}

/// What must hold at a position without consuming anything.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Check {
    Assert(Assert),
    /// A lookaround constraint by its number.
    Look(u16),
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Inst {
    /// A character of a set, then on.
    Set(u32, u32),
    Split(u32, u32),
    Check(Check, u32),
    Match,
}

/// A nondeterministic automaton.
pub(super) struct Nfa {
    pub insts: Vec<Inst>,
    pub start: u32,
    /// Does it ask about what stands before a position?
    pub has_checks: bool,
}

pub(super) const INSTS_MAX: usize = 250_000;

/// Collects the lookaround constraints that automata ask for, by the identity of their nodes.
pub(super) type LookNumbers = HashMap<usize, u16>;

struct Builder<'a> {
    insts: Vec<Inst>,
    colours: &'a Colours,
    looks: &'a LookNumbers,
    /// Within a back reference nothing is asserted.
    bare: usize,
}

impl Nfa {
    /// Where a search begins, and begins again with each character.
    pub const SEARCH_START: u32 = 1;
    /// The instruction that skips a character in front of a match that a search looks for.
    pub const SEARCH_LOOP: u32 = 2;

    /// An automaton of a node; a searching one may begin anywhere.
    pub fn new(node: &Node, search: bool, colours: &Colours, looks: &LookNumbers) -> Result<Nfa> {
        let mut b = Builder { insts: vec![Inst::Match], colours, looks, bare: 0 };
        let mut start = 0;
        if search {
            // The loop in front, whose body is known afterwards.
            b.insts.push(Inst::Split(0, 0));
            let any = b.insts.len() as u32;
            let set = colours.sets.get(&CharSet::any()).map_or(u32::MAX, |&i| i as u32);
            b.insts.push(Inst::Set(set, 1));
            let body = b.node(node, 0)?;
            b.insts[1] = Inst::Split(body, any);
            start = 1;
        } else {
            start = b.node(node, start)?;
        }
        let has_checks = b.insts.iter().any(|i| matches!(i, Inst::Check(Check::Assert(_), _)));
        Ok(Nfa { insts: b.insts, start, has_checks })
    }
}

impl Builder<'_> {
    fn push(&mut self, inst: Inst) -> Result<u32> {
        if self.insts.len() >= INSTS_MAX {
            return Err(too_complex());
        }
        self.insts.push(inst);
        Ok(self.insts.len() as u32 - 1)
    }

    /// The entry of a node that goes on at `next`.
    fn node(&mut self, node: &Node, next: u32) -> Result<u32> {
        match node {
            Node::Empty => Ok(next),
            Node::Set(set) => {
                let set = self.colours.sets.get(set).map_or(0, |&i| i as u32);
                self.push(Inst::Set(set, next))
            }
            Node::Assert(_) | Node::Look(_) if self.bare > 0 => Ok(next),
            Node::Assert(a) => self.push(Inst::Check(Check::Assert(*a), next)),
            Node::Look(look) => {
                let number = self.looks[&(Arc::as_ptr(look) as usize)];
                self.push(Inst::Check(Check::Look(number), next))
            }
            Node::Seq(nodes) => nodes.iter().rev().try_fold(next, |next, n| self.node(n, next)),
            Node::Alt(nodes) => {
                let mut entry = None;
                for n in nodes.iter().rev() {
                    let here = self.node(n, next)?;
                    entry = Some(match entry {
                        None => here,
                        Some(other) => self.push(Inst::Split(here, other))?,
                    });
                }
                Ok(entry.unwrap_or(next))
            }
            Node::Group(_, body) => self.node(body, next),
            Node::BackRef(_, body) => {
                self.bare += 1;
                let entry = self.node(body, next);
                self.bare -= 1;
                entry
            }
            Node::Repeat { body, min, max, .. } => self.repeat(body, *min, *max, next),
        }
    }

    fn repeat(&mut self, body: &Node, min: u16, max: u16, next: u32) -> Result<u32> {
        let mut entry = next;
        let mut copies = min;
        if max == UNBOUNDED {
            let again = self.push(Inst::Split(next, next))?;
            let inside = self.node(body, again)?;
            self.insts[again as usize] = Inst::Split(inside, next);
            // The loop's body is the last of the copies that must be there.
            entry = if min > 0 { inside } else { again };
            copies = min.saturating_sub(1);
        } else {
            for _ in min..max {
                let inside = self.node(body, entry)?;
                entry = self.push(Inst::Split(inside, next))?;
            }
        }
        for _ in 0..copies {
            entry = self.node(body, entry)?;
        }
        Ok(entry)
    }
}
