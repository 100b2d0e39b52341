//! Execution of automata: the states of the DFA are built lazily, when they are first reached, and
//! cached with the pattern. A transition depends on the color of the next character, so that
//! assertions know the characters on both sides of a position; lookaround constraints, which depend
//! on more context, are evaluated first and become part of the cache key. Counterpart: rege_dfa.c.

use super::class::Ctype;
use super::color::Colors;
use super::look::LookState;
use super::nfa::{Check, Inst, Nfa};
use super::syntax::Assert;
use super::work::WorkCounter;
use pgerror::Result;
use smallvec::SmallVec;
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use values::memory;

/// A position in the text: a byte offset.
pub(super) type Pos = usize;

/// The text as a sequence of code points.
#[derive(Clone, Copy)]
pub(super) struct Text<'a> {
    pub bytes: &'a [u8],
    /// One byte is one character; otherwise UTF-8.
    pub single_byte: bool,
}

impl Text<'_> {
    /// Length in bytes.
    pub fn len(self) -> usize {
        self.bytes.len()
    }

    /// The character at a position before the end, and the position after it.
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

    /// The position after the character at `at`.
    pub fn next(self, at: Pos) -> Pos {
        self.char_at(at).1
    }

    /// The position of the character before `at`, which must not be 0.
    pub fn prev(self, at: Pos) -> Pos {
        let mut at = at - 1;
        while !self.single_byte && at > 0 && self.bytes[at] & 0xc0 == 0x80 {
            at -= 1;
        }
        at
    }

    /// Whether there are at most `n` characters between two positions.
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
/// The first state number.
const FIRST: u32 = 2;
/// When the transition table has more entries, the cache is cleared.
const TABLE_MAX: usize = 4 << 20;
/// When the states' keys have more entries, the cache is cleared.
const KEYS_MAX: usize = 4 << 20;
/// When there are more transitions with lookaround constraints, the cache is cleared.
const LOOK_STEPS_MAX: usize = 1 << 18;

const AT_START: u8 = 1;
const AFTER_NEWLINE: u8 = 2;
const AFTER_WORD: u8 = 4;
/// Not a context, but stored with it: no match is in progress, only the search loop is active.
const FRESH: u8 = 8;

struct State {
    /// The instructions that are active in this state (sets, checks, the match), ascending; then
    /// the context before it.
    key: Arc<[u32]>,
    /// The lookaround constraints that can be reached through its checks.
    looks: Arc<[u32]>,
    /// No match is in progress, only the search loop is active.
    fresh: bool,
}

/// The lookaround constraints of a state that are satisfied, as bits in the order of
/// `State::looks`.
type Holds = SmallVec<[u64; 1]>;

/// The instructions visited by a traversal: those whose entry is the number of the traversal, so
/// that the array need not be cleared for a new one.
struct Seen {
    walks: Vec<u32>,
    walk: u32,
}

impl Seen {
    fn new(insts: usize) -> Seen {
        Seen { walks: vec![0; insts], walk: 0 }
    }

    fn begin(&mut self) {
        if self.walk == u32::MAX {
            self.walks.fill(0);
            self.walk = 0;
        }
        self.walk += 1;
    }

    /// Marks the instruction as visited; true if this is its first visit in this traversal.
    #[inline]
    fn is_new(&mut self, inst: u32) -> bool {
        std::mem::replace(&mut self.walks[inst as usize], self.walk) != self.walk
    }
}

/// Progress of a searching automaton that runs from the beginning of the text.
#[derive(Default)]
pub(super) struct Progress {
    /// `None` before the first step.
    state: Option<u32>,
    /// The position of the next step.
    pub at: Pos,
}

/// A DFA that is built lazily.
pub(super) struct Dfa {
    nfa: Nfa,
    search: bool,
    states: Vec<State>,
    numbers: HashMap<Arc<[u32]>, u32>,
    /// Number of entries of all keys.
    keys: usize,
    /// For each state its transitions by color; the last one is for the end of the text.
    table: Vec<u32>,
    /// Transitions of states with lookaround constraints.
    look_steps: HashMap<(u32, u16, Holds), u32>,
    /// The instructions of the initial state, without context.
    initial: Box<[u32]>,
    seen: Seen,
    todo: Vec<u32>,
}

/// The context of a run besides its automaton.
pub(super) struct Env<'a> {
    pub text: Text<'a>,
    pub colors: &'a Colors,
    pub looks: &'a mut Vec<LookState>,
    pub work: &'a WorkCounter<'a>,
    pub ignore_case: Option<Ctype>,
    /// Memory of the automata of the pattern's parts, in bytes.
    pub parts_bytes: &'a mut usize,
}

impl Env<'_> {
    /// Counts a unit of work, which includes a check for interrupts after many of them.
    #[inline]
    pub fn tick(&self) -> Result<()> {
        self.work.add(1)
    }

    fn before(&self, at: Pos) -> u8 {
        if at == 0 {
            return AT_START;
        }
        let color = self.colors.of(self.text.char_at(self.text.prev(at)).0);
        context(self.colors, color)
    }
}

fn context(colors: &Colors, color: u16) -> u8 {
    match (colors.is_newline(color), colors.is_word(color)) {
        (true, _) => AFTER_NEWLINE,
        (_, true) => AFTER_WORD,
        _ => 0,
    }
}

impl Dfa {
    /// A DFA of the automaton; `search`: it was built to find matches that begin anywhere.
    pub fn new(nfa: Nfa, search: bool) -> Dfa {
        let mut dfa = Dfa {
            search,
            states: Vec::new(),
            numbers: HashMap::new(),
            keys: 0,
            table: Vec::new(),
            look_steps: HashMap::new(),
            initial: Box::default(),
            seen: Seen::new(nfa.insts.len()),
            todo: Vec::new(),
            nfa,
        };
        dfa.todo.push(dfa.nfa.start);
        dfa.initial = dfa.closure().into();
        dfa
    }

    /// Approximate memory in bytes.
    pub fn bytes(&self) -> usize {
        self.nfa.insts.len() * 20 + self.table.len() * 4 + self.keys * 4
    }

    /// The instructions reachable from those in `todo` by empty transitions without conditions.
    fn closure(&mut self) -> Vec<u32> {
        self.seen.begin();
        let mut out = Vec::new();
        while let Some(i) = self.todo.pop() {
            if !self.seen.is_new(i) {
                continue;
            }
            match self.nfa.insts[i as usize] {
                Inst::Split(a, b) => self.todo.extend([b, a]),
                _ => out.push(i),
            }
        }
        out.sort_unstable();
        out
    }

    /// The number of the state with these instructions; `DEAD` without any. A state in which a
    /// match is in progress differs from one in which only the search loop is active, even with the
    /// same instructions.
    fn state(&mut self, mut insts: Vec<u32>, before: u8, fresh: bool, colors: &Colors) -> u32 {
        let before = if self.nfa.has_checks { before } else { 0 };
        // The start of the text does not recur, so a search for it alone ends.
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
        let looks = self.looks_of(&insts[..insts.len() - 1]);
        self.add(insts.into(), looks.into(), fresh, colors)
    }

    fn add(&mut self, key: Arc<[u32]>, looks: Arc<[u32]>, fresh: bool, colors: &Colors) -> u32 {
        let n = self.states.len() as u32 + FIRST;
        self.keys += key.len();
        self.numbers.insert(key.clone(), n);
        self.states.push(State { key, looks, fresh });
        self.table.resize(self.states.len() * (colors.count() + 1), UNKNOWN);
        n
    }

    /// The lookaround constraints that can be reached through checks, ascending.
    fn looks_of(&mut self, insts: &[u32]) -> Vec<u32> {
        let mut looks = Vec::new();
        self.seen.begin();
        self.todo.extend_from_slice(insts);
        while let Some(i) = self.todo.pop() {
            if !self.seen.is_new(i) {
                continue;
            }
            match self.nfa.insts[i as usize] {
                Inst::Check(check, next) => {
                    if let Check::Look(n) = check {
                        looks.push(n);
                    }
                    self.todo.push(next);
                }
                Inst::Split(a, b) => self.todo.extend([a, b]),
                Inst::Set(..) | Inst::Match => {}
            }
        }
        looks.sort_unstable();
        looks.dedup();
        looks
    }

    /// The transition of a state on a color (or the end of the text), given the constraints that
    /// hold at the position.
    fn step(&mut self, state: u32, color: u16, holds: &[u64], colors: &Colors) -> u32 {
        let s = &self.states[(state - FIRST) as usize];
        let (insts, before) = s.key.split_at(s.key.len() - 1);
        let before = before[0] as u8;
        let word_before = before & AFTER_WORD != 0;
        let word_next = colors.is_word(color);
        let at_end = color as usize == colors.count();
        self.seen.begin();
        self.todo.extend_from_slice(insts);
        let mut accept = false;
        let mut targets = Vec::new();
        while let Some(i) = self.todo.pop() {
            if !self.seen.is_new(i) {
                continue;
            }
            match self.nfa.insts[i as usize] {
                Inst::Match => accept = true,
                Inst::Split(a, b) => self.todo.extend([a, b]),
                Inst::Set(set, next) => {
                    if !at_end && (set == Nfa::ANY || colors.in_set(set, color)) {
                        targets.push(next);
                    }
                }
                Inst::Check(check, next) => {
                    let holds = match check {
                        Check::Look(n) => {
                            let at = s.looks.binary_search(&n).unwrap_or(0);
                            holds.get(at / 64).is_some_and(|w| w >> (at % 64) & 1 == 1)
                        }
                        Check::Assert(a) => match a {
                            Assert::TextStart => before & AT_START != 0,
                            Assert::LineStart => before & (AT_START | AFTER_NEWLINE) != 0,
                            Assert::TextEnd => at_end,
                            Assert::LineEnd => at_end || colors.is_newline(color),
                            Assert::WordStart => !word_before && word_next,
                            Assert::WordEnd => word_before && !word_next,
                            Assert::WordEdge => word_before != word_next,
                            Assert::NoWordEdge => word_before == word_next,
                        },
                    };
                    if holds {
                        self.todo.push(next);
                    }
                }
            }
        }
        let next = if targets.is_empty() {
            DEAD
        } else {
            let fresh = self.search && targets.iter().all(|t| *t == Nfa::SEARCH_START);
            self.todo.extend_from_slice(&targets);
            let closure = self.closure();
            self.state(closure, context(colors, color), fresh, colors)
        };
        if accept { next | ACCEPT } else { next }
    }

    /// Clears the cache if it has become too large, except one state; returns its new number.
    #[inline]
    fn bounded(&mut self, state: u32, colors: &Colors) -> u32 {
        let full = self.table.len() > TABLE_MAX || self.keys > KEYS_MAX;
        if full || self.look_steps.len() > LOOK_STEPS_MAX {
            self.clear_cache(state, colors)
        } else {
            state
        }
    }

    #[cold]
    fn clear_cache(&mut self, state: u32, colors: &Colors) -> u32 {
        let keep = self.states.swap_remove((state - FIRST) as usize);
        self.states.clear();
        self.numbers.clear();
        self.table.clear();
        self.look_steps.clear();
        self.keys = 0;
        self.add(keep.key, keep.looks, keep.fresh, colors)
    }

    /// The initial state of a run that starts at a position.
    fn start(&mut self, env: &Env<'_>, at: Pos) -> u32 {
        self.state(self.initial.to_vec(), env.before(at), self.search, env.colors)
    }

    /// Computes a transition that is not in the table.
    #[cold]
    fn new_step(&mut self, env: &mut Env<'_>, state: u32, color: u16, at: Pos) -> Result<u32> {
        let s = &self.states[(state - FIRST) as usize];
        env.work.add(s.key.len())?;
        if s.looks.is_empty() {
            let step = self.step(state, color, &[], env.colors);
            let width = env.colors.count() + 1;
            self.table[(state - FIRST) as usize * width + usize::from(color)] = step;
            return Ok(step);
        }
        let looks = s.looks.clone();
        let mut holds = Holds::from_elem(0, looks.len().div_ceil(64));
        for (i, &n) in looks.iter().enumerate() {
            holds[i / 64] |= u64::from(env.look(n, at)?) << (i % 64);
        }
        let key = (state, color, holds);
        if let Some(&step) = self.look_steps.get(&key) {
            return Ok(step);
        }
        env.work.add(self.states[(state - FIRST) as usize].key.len())?;
        let step = self.step(state, color, &key.2, env.colors);
        self.look_steps.insert(key, step);
        Ok(step)
    }

    /// The transition of a state at a position, and the position after the character there.
    #[inline]
    fn step_at(&mut self, env: &mut Env<'_>, state: u32, at: Pos) -> Result<(u32, Pos)> {
        let width = env.colors.count() + 1;
        let (color, next) = if at < env.text.len() {
            let (c, next) = env.text.char_at(at);
            (env.colors.of(c), next)
        } else {
            (width as u16 - 1, at)
        };
        let step = self.table[(state - FIRST) as usize * width + usize::from(color)];
        if step != UNKNOWN {
            return Ok((step, next));
        }
        Ok((self.new_step(env, state, color, at)?, next))
    }

    /// Runs from a position up to `stop` and reports each end of a match until `found` returns
    /// false. Returns the last position at which no match was in progress (for a searching
    /// automaton).
    pub fn run(
        &mut self,
        env: &mut Env<'_>,
        start: Pos,
        stop: Pos,
        found: &mut dyn FnMut(Pos) -> bool,
    ) -> Result<Pos> {
        let mut state = self.start(env, start);
        let (mut at, mut cold) = (start, start);
        while state != DEAD {
            env.tick()?;
            state = self.bounded(state, env.colors);
            if self.states[(state - FIRST) as usize].fresh {
                cold = at;
            }
            let (step, next) = self.step_at(env, state, at)?;
            if (step & ACCEPT != 0 && !found(at)) || at >= stop {
                break;
            }
            state = step & !ACCEPT;
            at = next;
        }
        Ok(cold)
    }

    /// Continues a run from the beginning of the text to a position, and reports for each position
    /// on the way whether a match ends there.
    pub fn resume(
        &mut self,
        env: &mut Env<'_>,
        run: &mut Progress,
        to: Pos,
        tell: &mut dyn FnMut(Pos, bool),
    ) -> Result<()> {
        let mut state = match run.state {
            Some(state) => state,
            None => self.start(env, run.at),
        };
        while run.at <= to {
            env.tick()?;
            if state == DEAD {
                tell(run.at, false);
                run.at = if run.at < env.text.len() { env.text.next(run.at) } else { run.at + 1 };
                continue;
            }
            state = self.bounded(state, env.colors);
            let (step, next) = self.step_at(env, state, run.at)?;
            tell(run.at, step & ACCEPT != 0);
            state = step & !ACCEPT;
            run.at = next.max(run.at + 1);
        }
        run.state = Some(state);
        Ok(())
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

    /// The end of the shortest match from `start` that ends between `least` and `stop`.
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

    /// The `most` shortest ends of matches from `start` between `least` and `stop`, ascending.
    pub fn first_ends(
        &mut self,
        env: &mut Env<'_>,
        start: Pos,
        least: Pos,
        stop: Pos,
        most: usize,
    ) -> Result<Vec<Pos>> {
        let mut ends = memory::with_capacity(most)?;
        self.run(env, start, stop, &mut |p| {
            if p >= least {
                ends.push(p);
            }
            ends.len() < most
        })?;
        Ok(ends)
    }

    /// The `most` longest ends of matches from `start` up to `stop`, ascending.
    pub fn last_ends(
        &mut self,
        env: &mut Env<'_>,
        start: Pos,
        stop: Pos,
        most: usize,
    ) -> Result<Vec<Pos>> {
        let mut ends = VecDeque::from(memory::with_capacity(most)?);
        self.run(env, start, stop, &mut |p| {
            if ends.len() == most {
                ends.pop_front();
            }
            ends.push_back(p);
            true
        })?;
        Ok(ends.into())
    }

    /// Whether a match from `start` ends at `end`.
    pub fn exact(&mut self, env: &mut Env<'_>, start: Pos, end: Pos) -> Result<bool> {
        Ok(self.longest(env, start, end)? == Some(end))
    }
}
