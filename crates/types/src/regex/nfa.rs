//! Thompson's construction of an NFA from a pattern, over the pattern's character sets.
//! Counterpart: regc_nfa.c.

use super::syntax::{Assert, Node, UNBOUNDED, too_complex};
use super::work::WorkCounter;
use pgerror::Result;
use stdx::stack::deep;

/// A zero-width assertion.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Check {
    Assert(Assert),
    /// A lookaround constraint by its number.
    Look(u32),
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Inst {
    /// Consumes a character of a set and continues at an instruction.
    Set(u32, u32),
    Split(u32, u32),
    Check(Check, u32),
    Match,
}

/// A nondeterministic automaton.
pub(super) struct Nfa {
    pub insts: Vec<Inst>,
    pub start: u32,
    /// The automaton has assertions about the context before a position.
    pub has_checks: bool,
}

/// The largest number of states of an automaton. PostgreSQL limits the memory of an automaton
/// instead (`REG_MAX_COMPILE_SPACE`), to that of about as many states.
pub(super) const INSTS_MAX: usize = 500_000;

struct Builder<'a> {
    insts: Vec<Inst>,
    work: &'a WorkCounter<'a>,
    /// Nesting depth of back references; assertions within them are not built.
    in_back_ref: usize,
}

impl Nfa {
    /// The start of a search, which is active again before each character.
    pub const SEARCH_START: u32 = 1;
    /// The instruction that skips a character before a match in a search.
    pub const SEARCH_LOOP: u32 = 2;
    /// The set number of the search loop, which matches any character.
    pub const ANY: u32 = u32::MAX;

    /// Builds the automaton of a node; a `search` automaton finds matches that begin anywhere.
    pub fn new(node: &Node, search: bool, work: &WorkCounter<'_>) -> Result<Nfa> {
        let mut b = Builder { insts: vec![Inst::Match], work, in_back_ref: 0 };
        let mut start = 0;
        if search {
            // The search loop; its body is patched in later.
            b.insts.push(Inst::Split(0, 0));
            let any = b.insts.len() as u32;
            b.insts.push(Inst::Set(Nfa::ANY, Nfa::SEARCH_START));
            let body = b.node(node, 0)?;
            b.insts[1] = Inst::Split(body, any);
            start = Nfa::SEARCH_START;
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

    /// Builds a node that continues at `next`; returns its first instruction.
    fn node(&mut self, node: &Node, next: u32) -> Result<u32> {
        self.work.add(1)?;
        match node {
            Node::Empty => Ok(next),
            Node::Set(set) => self.push(Inst::Set(*set, next)),
            Node::Assert(_) | Node::Look(_) if self.in_back_ref > 0 => Ok(next),
            Node::Assert(a) => self.push(Inst::Check(Check::Assert(*a), next)),
            Node::Look(number) => self.push(Inst::Check(Check::Look(*number), next)),
            _ => deep(|| self.compound(node, next)),
        }
    }

    fn compound(&mut self, node: &Node, next: u32) -> Result<u32> {
        match node {
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
                self.in_back_ref += 1;
                let entry = self.node(body, next);
                self.in_back_ref -= 1;
                entry
            }
            Node::Repeat { body, min, max, .. } => self.repeat(body, *min, *max, next),
            _ => self.node(node, next),
        }
    }

    fn repeat(&mut self, body: &Node, min: u16, max: u16, next: u32) -> Result<u32> {
        let mut entry = next;
        let mut copies = min;
        if max == UNBOUNDED {
            let again = self.push(Inst::Split(next, next))?;
            let inside = self.node(body, again)?;
            self.insts[again as usize] = Inst::Split(inside, next);
            // The body of the loop is the last mandatory copy.
            entry = if min > 0 { inside } else { again };
            copies = min.saturating_sub(1);
        } else {
            for _ in min..max {
                let inside = self.node(body, entry)?;
                entry = self.push(Inst::Split(inside, next))?;
            }
        }
        for _ in 0..copies {
            let made = self.insts.len();
            entry = self.node(body, entry)?;
            // The body matches only the empty string, so further copies would have no effect.
            if self.insts.len() == made {
                break;
            }
        }
        Ok(entry)
    }
}
