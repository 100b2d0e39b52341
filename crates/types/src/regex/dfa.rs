//! Running automata: states of the deterministic automaton are made when they are first reached and
//! kept with the pattern. A state's step is looked up by the colour of the next character, so that
//! what is asserted about both sides of a position is known; lookaround constraints, which depend
//! on more, are evaluated first and become part of the look-up. Counterpart: rege_dfa.c.

use super::nfa::{Check, Colours, Inst, Nfa};
use super::syntax::Assert;
use pgerror::Result;
use std::collections::HashMap;

/// A position in the text, in bytes.
pub(super) type Pos = usize;

/// The text as its characters' codes.
#[derive(Clone, Copy)]
pub(super) struct Text<'a> {
    pub bytes: &'a [u8],
    /// One byte a character; otherwise UTF-8.
    pub single_byte: bool,
}

impl Text<'_> {
    pub fn len(self) -> usize {
        self.bytes.len()
    }

    /// The character at a position before the end, and the position behind it.
    #[inline]
    pub fn char_at(self, at: Pos) -> (u32, Pos) {
        let first = self.bytes[at];
        if first < 0x80 || self.single_byte {
            return (u32::from(first), at + 1);
        }
        let len = match first {
            0xf0.. => 4,
            0xe0.. => 3,
            _ => 2,
        };
        let tail = &self.bytes[at + 1..(at + len).min(self.bytes.len())];
        let head = u32::from(first) & (0x7f >> len);
        (tail.iter().fold(head, |c, b| c << 6 | u32::from(b & 0x3f)), at + 1 + tail.len())
    }

    pub fn next(self, at: Pos) -> Pos {
        self.char_at(at).1
    }

    /// The position before `at`, which is not 0.
    pub fn prev(self, at: Pos) -> Pos {
        let mut at = at - 1;
        while !self.single_byte && at > 0 && self.bytes[at] & 0xc0 == 0x80 {
            at -= 1;
        }
        at
    }

    /// Are there at most `n` characters between two positions?
    pub fn at_most(self, from: Pos, to: Pos, n: usize) -> bool {
        let mut at = from;
        for _ in 0..n {
            if at >= to {
                return true;
            }
            at = self.next(at);
        }
        at >= to
    }
}

const UNKNOWN: u32 = 0;
const DEAD: u32 = 1;
const ACCEPT: u32 = 1 << 31;
/// Numbers of states begin here.
const FIRST: u32 = 2;
/// Entries of the transition table beyond which it is begun anew.
const TABLE_MAX: usize = 4 << 20;

const AT_START: u8 = 1;
const AFTER_NEWLINE: u8 = 2;
const AFTER_WORD: u8 = 4;
/// Not a context, but kept with it: nothing is under way but the search's own loop.
const FRESH: u8 = 8;

struct State {
    /// The instructions that wait at this state (sets, checks, the match), ascending; then what
    /// stands before.
    key: Box<[u32]>,
    /// The lookaround constraints that its checks lead to.
    looks: Box<[u16]>,
    /// Nothing is under way but the search's own loop.
    fresh: bool,
}

/// A deterministic automaton in the making.
pub(super) struct Dfa {
    nfa: Nfa,
    search: bool,
    states: Vec<State>,
    numbers: HashMap<Box<[u32]>, u32>,
    /// For each state its steps by colour and, last, by the end of the text.
    table: Vec<u32>,
    /// Steps of states with lookaround constraints.
    looking: HashMap<(u32, u16, u64), u32>,
    /// The instructions at the start, without what stands before.
    initial: Box<[u32]>,
}

/// A lookaround constraint with what is known about it on the present text.
pub(super) struct LookState {
    pub behind: bool,
    pub negative: bool,
    pub dfa: Option<Dfa>,
    /// By position: 0 not known, 1 no match, 2 match.
    pub known: Vec<u8>,
}

/// What a run needs besides its automaton.
pub(super) struct Env<'a> {
    pub text: Text<'a>,
    pub colours: &'a Colours,
    pub looks: &'a mut Vec<LookState>,
    pub interrupts: &'a dyn Fn() -> Result<()>,
    pub steps: u32,
}

impl<'a> Env<'a> {
    pub fn new(
        text: Text<'a>,
        colours: &'a Colours,
        looks: &'a mut Vec<LookState>,
        interrupts: &'a dyn Fn() -> Result<()>,
    ) -> Env<'a> {
        Env { text, colours, looks, interrupts, steps: 0 }
    }

    /// Asks now and then whether the query was cancelled.
    #[inline]
    pub fn tick(&mut self) -> Result<()> {
        self.steps = self.steps.wrapping_add(1);
        if self.steps & 0xfff == 0 { (self.interrupts)() } else { Ok(()) }
    }

    fn before(&self, at: Pos) -> u8 {
        if at == 0 {
            return AT_START;
        }
        let colour = self.colours.of(self.text.char_at(self.text.prev(at)).0);
        context(self.colours, colour)
    }

    /// Does a lookaround constraint hold at a position?
    fn look(&mut self, number: u16, at: Pos) -> Result<bool> {
        let i = number as usize;
        if self.looks[i].known.is_empty() {
            self.looks[i].known = vec![0; self.text.len() + 1];
        }
        if self.looks[i].known[at] == 0 {
            // A constraint's automaton asks only for constraints within it, which have other
            // numbers.
            if let Some(mut dfa) = self.looks[i].dfa.take() {
                let done = self.fill(i, &mut dfa, at);
                self.looks[i].dfa = Some(dfa);
                done?;
            }
        }
        let look = &self.looks[i];
        Ok((look.known[at] == 2) != look.negative)
    }

    fn fill(&mut self, i: usize, dfa: &mut Dfa, at: Pos) -> Result<()> {
        if self.looks[i].behind {
            // One pass tells where anything ends that begins anywhere.
            let mut known = std::mem::take(&mut self.looks[i].known);
            known.fill(1);
            let end = self.text.len();
            let done = dfa.run(self, 0, end, &mut |p| {
                known[p] = 2;
                true
            });
            self.looks[i].known = known;
            done?;
        } else {
            let found = dfa.shortest(self, at, at, self.text.len())?.is_some();
            self.looks[i].known[at] = if found { 2 } else { 1 };
        }
        Ok(())
    }
}

fn context(colours: &Colours, colour: u16) -> u8 {
    match (colours.is_newline(colour), colours.is_word(colour)) {
        (true, _) => AFTER_NEWLINE,
        (_, true) => AFTER_WORD,
        _ => 0,
    }
}

impl Dfa {
    pub fn new(nfa: Nfa, search: bool) -> Dfa {
        let mut dfa = Dfa {
            nfa,
            search,
            states: Vec::new(),
            numbers: HashMap::new(),
            table: Vec::new(),
            looking: HashMap::new(),
            initial: Box::default(),
        };
        dfa.initial = dfa.closure(&[dfa.nfa.start]).into();
        dfa
    }

    /// What is reached from instructions without reading or asking anything.
    fn closure(&self, from: &[u32]) -> Vec<u32> {
        let mut seen = vec![false; self.nfa.insts.len()];
        let mut todo = from.to_vec();
        let mut out = Vec::new();
        while let Some(i) = todo.pop() {
            if std::mem::replace(&mut seen[i as usize], true) {
                continue;
            }
            match self.nfa.insts[i as usize] {
                Inst::Split(a, b) => todo.extend([b, a]),
                _ => out.push(i),
            }
        }
        out.sort_unstable();
        out
    }

    /// The number of the state of these instructions; `DEAD` where there are none. A state in which
    /// a match is under way differs from one that has only begun to look for one, even if they wait
    /// for the same.
    fn state(&mut self, mut insts: Vec<u32>, before: u8, fresh: bool, colours: &Colours) -> u32 {
        let before = if self.nfa.has_checks { before } else { 0 };
        // The text's start does not come back; a search for nothing else is over.
        if before & AT_START == 0 {
            insts.retain(|i| {
                !matches!(
                    self.nfa.insts[*i as usize],
                    Inst::Check(Check::Assert(Assert::TextStart), _)
                )
            });
        }
        if insts.is_empty() || (fresh && insts.len() == 1 && insts[0] == Nfa::SEARCH_LOOP) {
            return DEAD;
        }
        insts.push(u32::from(before | if fresh { FRESH } else { 0 }));
        if let Some(&n) = self.numbers.get(&insts[..]) {
            return n;
        }
        let mut looks = Vec::new();
        self.looks_of(&insts[..insts.len() - 1], &mut looks);
        let key: Box<[u32]> = insts.into();
        self.add(key, looks, fresh, colours)
    }

    fn add(&mut self, key: Box<[u32]>, looks: Vec<u16>, fresh: bool, colours: &Colours) -> u32 {
        let n = self.states.len() as u32 + FIRST;
        self.numbers.insert(key.clone(), n);
        self.states.push(State { key, looks: looks.into(), fresh });
        self.table.resize(self.states.len() * (colours.count() + 1), UNKNOWN);
        n
    }

    /// The lookaround constraints that checks may lead to.
    fn looks_of(&self, insts: &[u32], looks: &mut Vec<u16>) {
        let mut todo: Vec<u32> = insts.to_vec();
        let mut seen = std::collections::HashSet::new();
        while let Some(i) = todo.pop() {
            if !seen.insert(i) {
                continue;
            }
            match self.nfa.insts[i as usize] {
                Inst::Check(check, next) => {
                    if let Check::Look(n) = check {
                        looks.push(n);
                    }
                    todo.push(next);
                }
                Inst::Split(a, b) => todo.extend([a, b]),
                Inst::Set(..) | Inst::Match => {}
            }
        }
        looks.sort_unstable();
        looks.dedup();
    }

    /// The step of a state before a character of a colour (or the end), with the constraints that
    /// hold there.
    fn step(&mut self, state: u32, colour: u16, holds: u64, colours: &Colours) -> u32 {
        let s = &self.states[(state - FIRST) as usize];
        let (insts, before) = s.key.split_at(s.key.len() - 1);
        let before = before[0] as u8;
        let word_before = before & AFTER_WORD != 0;
        let word_next = colours.is_word(colour);
        let at_end = colour as usize == colours.count();
        let mut seen = vec![false; self.nfa.insts.len()];
        let mut todo = insts.to_vec();
        let mut accept = false;
        let mut targets = Vec::new();
        while let Some(i) = todo.pop() {
            if std::mem::replace(&mut seen[i as usize], true) {
                continue;
            }
            match self.nfa.insts[i as usize] {
                Inst::Match => accept = true,
                Inst::Split(a, b) => todo.extend([a, b]),
                Inst::Set(set, next) => {
                    if !at_end && (set == u32::MAX || colours.in_set(set, colour)) {
                        targets.push(next);
                    }
                }
                Inst::Check(check, next) => {
                    let holds = match check {
                        Check::Look(n) => {
                            let at = s.looks.iter().position(|l| *l == n).unwrap_or(0);
                            holds >> at & 1 == 1
                        }
                        Check::Assert(a) => match a {
                            Assert::TextStart => before & AT_START != 0,
                            Assert::LineStart => before & (AT_START | AFTER_NEWLINE) != 0,
                            Assert::TextEnd => at_end,
                            Assert::LineEnd => at_end || colours.is_newline(colour),
                            Assert::WordStart => !word_before && word_next,
                            Assert::WordEnd => word_before && !word_next,
                            Assert::WordEdge => word_before != word_next,
                            Assert::NoWordEdge => word_before == word_next,
                        },
                    };
                    if holds {
                        todo.push(next);
                    }
                }
            }
        }
        let next = if targets.is_empty() {
            DEAD
        } else {
            let fresh = self.search && targets.iter().all(|t| *t == Nfa::SEARCH_START);
            let closure = self.closure(&targets);
            self.state(closure, context(colours, colour), fresh, colours)
        };
        if accept { next | ACCEPT } else { next }
    }

    /// Forgets all states but one, whose new number it answers.
    fn begin_anew(&mut self, state: u32, colours: &Colours) -> u32 {
        let keep = self.states.swap_remove((state - FIRST) as usize);
        self.states.clear();
        self.numbers.clear();
        self.table.clear();
        self.looking.clear();
        self.add(keep.key, keep.looks.into(), keep.fresh, colours)
    }

    /// Runs from a position up to `stop`, telling each end of a match until `found` says false.
    /// Answers the last position at which nothing was under way (of a searching automaton).
    pub fn run(
        &mut self,
        env: &mut Env<'_>,
        start: Pos,
        stop: Pos,
        found: &mut dyn FnMut(Pos) -> bool,
    ) -> Result<Pos> {
        let width = env.colours.count() + 1;
        let end = env.text.len();
        let before = env.before(start);
        let mut state = self.state(self.initial.to_vec(), before, self.search, env.colours);
        let (mut at, mut cold) = (start, start);
        while state != DEAD {
            env.tick()?;
            if self.table.len() > TABLE_MAX {
                state = self.begin_anew(state, env.colours);
            }
            let (colour, next) = if at < end {
                let (c, next) = env.text.char_at(at);
                (env.colours.of(c), next)
            } else {
                (width as u16 - 1, end)
            };
            let index = (state - FIRST) as usize;
            let s = &self.states[index];
            if s.fresh {
                cold = at;
            }
            let slot = index * width + colour as usize;
            let mut step = self.table[slot];
            if step == UNKNOWN {
                if s.looks.is_empty() {
                    step = self.step(state, colour, 0, env.colours);
                    self.table[slot] = step;
                } else {
                    let looks = s.looks.clone();
                    let mut holds = 0u64;
                    for (i, &n) in looks.iter().enumerate() {
                        holds |= u64::from(env.look(n, at)?) << i;
                    }
                    let key = (state, colour, holds);
                    step = match self.looking.get(&key) {
                        Some(&s) => s,
                        None => {
                            let s = self.step(state, colour, holds, env.colours);
                            self.looking.insert(key, s);
                            s
                        }
                    };
                }
            }
            if step & ACCEPT != 0 && !found(at) {
                break;
            }
            if at >= stop {
                break;
            }
            state = step & !ACCEPT;
            at = next;
        }
        Ok(cold)
    }

    /// The longest match from `start` that ends at `stop` or before.
    pub fn longest(&mut self, env: &mut Env<'_>, start: Pos, stop: Pos) -> Result<Option<Pos>> {
        let mut end = None;
        self.run(env, start, stop, &mut |p| {
            end = Some(p);
            true
        })?;
        Ok(end)
    }

    /// The shortest match from `start` that ends at `least` or behind, and at `stop` or before.
    pub fn shortest(
        &mut self,
        env: &mut Env<'_>,
        start: Pos,
        least: Pos,
        stop: Pos,
    ) -> Result<Option<Pos>> {
        let mut end = None;
        self.run(env, start, stop, &mut |p| {
            if p >= least {
                end = Some(p);
            }
            end.is_none()
        })?;
        Ok(end)
    }

    /// All ends of matches from `start` up to `stop`, ascending.
    pub fn ends(&mut self, env: &mut Env<'_>, start: Pos, stop: Pos) -> Result<Vec<Pos>> {
        let mut ends = Vec::new();
        self.run(env, start, stop, &mut |p| {
            ends.push(p);
            true
        })?;
        Ok(ends)
    }

    pub fn exact(&mut self, env: &mut Env<'_>, start: Pos, end: Pos) -> Result<bool> {
        Ok(self.longest(env, start, end)? == Some(end))
    }
}
