//! Where the parts of a match lie: a tree of the pattern's parts that matter for it, and the search
//! for an allocation of the text to them.
//!
//! The rules are PostgreSQL's. A part has a preference for long or for short matches: a quantified
//! atom that of its quantifier (`{m}` that of its atom), a branch that of its first quantified atom
//! that has one, alternatives always for long ones. Of a sequence the earlier parts take precedence
//! over the later ones. Parts of one preference without parentheses that capture are one part: they
//! are matched as a whole. An alternative takes precedence over those behind it, and what a group
//! held in an earlier round of a repetition is forgotten in the next. Counterpart: parseqatom in
//! regcomp.c, cdissect in regexec.c.

use super::Spans;
use super::dfa::{Dfa, Env, Pos};
use super::nfa::{LookNumbers, Nfa};
use super::syntax::{Node, Preference, UNBOUNDED, too_complex};
use pgerror::Result;
use std::sync::Arc;

/// What is known about a part: its preferences, and what lies within.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) struct Traits {
    pub longer: bool,
    pub shorter: bool,
    /// Parts within prefer otherwise than the whole.
    pub mixed: bool,
    pub captures: bool,
    pub refers: bool,
}

impl Traits {
    fn of(preference: Preference) -> Traits {
        Traits {
            longer: preference == Preference::Longer,
            shorter: preference == Preference::Shorter,
            ..Traits::default()
        }
    }

    fn or(self, other: Traits) -> Traits {
        Traits {
            longer: self.longer || other.longer,
            shorter: self.shorter || other.shorter,
            mixed: self.mixed || other.mixed,
            captures: self.captures || other.captures,
            refers: self.refers || other.refers,
        }
    }

    fn has_preference(self) -> bool {
        self.longer || self.shorter
    }

    /// What a whole sees of its parts: their preferences count only where they differ.
    fn inner(self) -> Traits {
        let mixed = self.mixed || (self.longer && self.shorter);
        Traits { longer: false, shorter: false, mixed, ..self }
    }

    /// The traits of a whole made of two parts, the first of which is asked first for a preference.
    fn combined(self, other: Traits) -> Traits {
        let first = if self.has_preference() { self } else { other };
        let inner = self.or(other).inner();
        Traits { longer: first.longer, shorter: first.shorter, ..inner }
    }

    /// Must it be looked into to know where its parts lie?
    fn messy(self) -> bool {
        self.mixed || self.captures || self.refers
    }
}

enum Kind {
    /// Matched as a whole.
    Leaf,
    BackRef {
        group: usize,
        min: u16,
        max: u16,
    },
    Concat(Box<[Part; 2]>),
    Alt(Vec<Part>),
    Repeat {
        body: Box<Part>,
        min: u16,
        max: u16,
    },
}

/// A part of the pattern.
pub(super) struct Part {
    kind: Kind,
    pub traits: Traits,
    /// The groups that hold what this part matches.
    groups: Vec<usize>,
    /// The groups of this part and of those within.
    within: Vec<usize>,
    node: Node,
    dfa: Option<Box<Dfa>>,
}

/// What stays fixed while a match is taken apart.
pub(super) struct Compiled<'a> {
    pub looks: &'a LookNumbers,
    pub ignore_case: Option<super::Ctype>,
}

const DEPTH_MAX: usize = 400;

impl Part {
    fn new(kind: Kind, traits: Traits, node: Node) -> Part {
        let mut within = Vec::new();
        let mut take = |p: &Part| within.extend(&p.within);
        match &kind {
            Kind::Leaf | Kind::BackRef { .. } => {}
            Kind::Concat(parts) => parts.iter().for_each(take),
            Kind::Alt(parts) => parts.iter().for_each(take),
            Kind::Repeat { body, .. } => take(body),
        }
        Part { kind, traits, groups: Vec::new(), within, node, dfa: None }
    }

    fn leaf(traits: Traits, node: Node) -> Part {
        Part::new(Kind::Leaf, traits, node)
    }

    fn is_leaf(&self) -> bool {
        matches!(self.kind, Kind::Leaf) && self.groups.is_empty()
    }

    fn concat(first: Part, second: Part, traits: Traits) -> Part {
        let node = Node::Seq([first.node.clone(), second.node.clone()].into());
        Part::new(Kind::Concat(Box::new([first, second])), traits, node)
    }

    /// The part that a pattern is.
    pub fn of_pattern(node: &Node) -> Result<Part> {
        Part::of(node, 0)
    }

    fn of(node: &Node, depth: usize) -> Result<Part> {
        match node {
            Node::Alt(branches) => {
                let mut traits = Traits::of(Preference::Longer);
                let mut parts = Vec::with_capacity(branches.len());
                for branch in branches.iter() {
                    let part = Part::of(branch, depth + 1)?;
                    traits = traits.or(traits.or(part.traits).inner());
                    parts.push(part);
                }
                let kind = if traits.messy() { Kind::Alt(parts) } else { Kind::Leaf };
                Ok(Part::new(kind, traits, node.clone()))
            }
            Node::Seq(items) => Part::branch(items, depth),
            single => Part::branch(std::slice::from_ref(single), depth),
        }
    }

    /// A branch: a prefix that is one part, an atom that must be looked into, and the rest.
    fn branch(items: &[Node], depth: usize) -> Result<Part> {
        if depth > DEPTH_MAX {
            return Err(too_complex());
        }
        let mut traits = Traits::default();
        for (i, item) in items.iter().enumerate() {
            if matches!(item, Node::Empty | Node::Assert(_) | Node::Look(_)) {
                continue;
            }
            let (atom, min, max, preference) = match item {
                Node::Repeat { body, min, max, preference } => (&**body, *min, *max, *preference),
                plain => (plain, 1, 1, Preference::None),
            };
            let atom_part = match atom {
                Node::Group(number, body) => {
                    let mut part = Part::of(body, depth + 1)?;
                    if let Some(n) = number {
                        part.traits.captures = true;
                        part.groups.push(*n);
                        part.within.push(*n);
                    }
                    part
                }
                Node::BackRef(group, _) => {
                    let traits = Traits { refers: true, ..Traits::default() };
                    Part::new(Kind::BackRef { group: *group, min, max }, traits, item.clone())
                }
                other => Part::leaf(Traits::default(), other.clone()),
            };
            let together = traits.or(Traits::of(preference)).or(atom_part.traits);
            if !together.inner().messy() {
                traits = together;
                continue;
            }
            let wanted = Traits::of(preference);
            let both = wanted.combined(atom_part.traits);
            let core = Part::quantified(atom_part, item, min, max, wanted);
            let prefix = Node::Seq(items[..i].into());
            let rest = &items[i + 1..];
            if rest.is_empty() {
                if i == 0 {
                    return Ok(core);
                }
                let all = traits.or(traits.combined(core.traits));
                return Ok(Part::concat(Part::leaf(traits, prefix), core, all));
            }
            let rest = Part::branch(rest, depth + 1)?;
            let tail = both.or(both.combined(rest.traits));
            let all = traits.or(traits.combined(tail));
            if i == 0 {
                return Ok(Part::concat(core, rest, all));
            }
            let joined = core.traits.or(rest.traits);
            let tail = if core.is_leaf() && rest.is_leaf() && !joined.inner().messy() {
                let node = Node::Seq([core.node.clone(), rest.node.clone()].into());
                Part::leaf(core.traits.combined(rest.traits), node)
            } else {
                Part::concat(core, rest, tail)
            };
            return Ok(Part::concat(Part::leaf(traits, prefix), tail, all));
        }
        Ok(Part::leaf(traits, Node::Seq(items.into())))
    }

    /// An atom with its quantifier; `item` is both.
    fn quantified(mut atom: Part, item: &Node, min: u16, max: u16, wanted: Traits) -> Part {
        let both = wanted.combined(atom.traits);
        if matches!(atom.kind, Kind::BackRef { .. }) {
            atom.traits = atom.traits.or(both);
            return atom;
        }
        let t = atom.traits;
        let own = (t.longer, t.shorter, t.mixed);
        let idle = !wanted.has_preference()
            || own == (false, false, false)
            || own == (wanted.longer, wanted.shorter, false);
        if (min, max) == (1, 1) && idle {
            return atom;
        }
        if !t.captures && !t.refers {
            return Part::leaf(both, item.clone());
        }
        let Node::Repeat { body, preference, .. } = item else { return atom };
        if min > 0 && !t.refers {
            // Only the last round's groups are asked for: the others are one part.
            let max = if max == UNBOUNDED { max } else { max - 1 };
            let (body, preference) = (body.clone(), *preference);
            let others = Node::Repeat { body, min: min - 1, max, preference };
            let local = Traits { longer: both.longer, shorter: both.shorter, ..Traits::default() };
            return Part::concat(Part::leaf(local, others), atom, both);
        }
        Part::new(Kind::Repeat { body: Box::new(atom), min, max }, both, item.clone())
    }

    /// The automaton of this part, made at its first use.
    fn dfa(&mut self, env: &Env<'_>, compiled: &Compiled<'_>) -> Result<&mut Dfa> {
        if self.dfa.is_none() {
            let nfa = Nfa::new(&self.node, false, env.colours, compiled.looks)?;
            self.dfa = Some(Box::new(Dfa::new(nfa, false)));
        }
        self.dfa.as_deref_mut().ok_or_else(too_complex)
    }

    fn matches(&mut self, env: &mut Env<'_>, c: &Compiled<'_>, from: Pos, to: Pos) -> Result<bool> {
        self.dfa(env, c)?.exact(env, from, to)
    }

    /// Ends of matches from `from`, the preferred one first, up to `to`.
    pub fn ends(
        &mut self,
        env: &mut Env<'_>,
        c: &Compiled<'_>,
        from: Pos,
        to: Pos,
    ) -> Result<Vec<Pos>> {
        let shorter = self.traits.shorter;
        let mut ends = self.dfa(env, c)?.ends(env, from, to)?;
        if !shorter {
            ends.reverse();
        }
        Ok(ends)
    }

    /// The preferred end of a match from `from`.
    pub fn end(
        &mut self,
        env: &mut Env<'_>,
        c: &Compiled<'_>,
        from: Pos,
        to: Pos,
    ) -> Result<Option<Pos>> {
        let shorter = self.traits.shorter;
        let dfa = self.dfa(env, c)?;
        if shorter { dfa.shortest(env, from, from, to) } else { dfa.longest(env, from, to) }
    }

    /// Finds where the groups lie in a piece of the text that this part's automaton matches; false
    /// where back references say otherwise. Groups of this part are not set before, nor where it
    /// fails.
    pub fn dissect(
        &mut self,
        env: &mut Env<'_>,
        c: &Compiled<'_>,
        spans: &mut Spans,
        from: Pos,
        to: Pos,
    ) -> Result<bool> {
        env.tick()?;
        let done = match &mut self.kind {
            Kind::Leaf => true,
            Kind::BackRef { group, min, max } => {
                let held = spans.get(*group).copied().flatten();
                held.is_some_and(|held| repeats(env, c, held, (from, to), *min, *max))
            }
            Kind::Concat(parts) => concat(env, c, spans, parts, from, to)?,
            Kind::Alt(parts) => {
                let mut done = false;
                for part in parts {
                    if part.matches(env, c, from, to)? && part.dissect(env, c, spans, from, to)? {
                        done = true;
                        break;
                    }
                }
                done
            }
            Kind::Repeat { body, min, max } => {
                repeat(env, c, spans, body, usize::from(*min), *max, from, to)?
            }
        };
        if done {
            for &g in &self.groups {
                spans[g] = Some((from, to));
            }
        } else {
            self.forget(spans);
        }
        Ok(done)
    }

    fn forget(&self, spans: &mut Spans) {
        for &g in &self.within {
            spans[g] = None;
        }
    }
}

/// Is a piece of the text as many repetitions of what a group holds?
fn repeats(
    env: &Env<'_>,
    c: &Compiled<'_>,
    held: (Pos, Pos),
    piece: (Pos, Pos),
    min: u16,
    max: u16,
) -> bool {
    if held.0 == held.1 || piece.0 == piece.1 {
        // Nothing, repeated as often as one likes; something, not at all.
        return piece.0 == piece.1 && (held.0 == held.1 || min == 0);
    }
    let (mut at, mut rounds) = (piece.0, 0usize);
    while at < piece.1 {
        let mut of_held = held.0;
        while of_held < held.1 {
            if at >= piece.1 {
                return false;
            }
            let ((a, next_held), (b, next)) = (env.text.char_at(of_held), env.text.char_at(at));
            let same = a == b || c.ignore_case.is_some_and(|t| t.cases(a).contains(&b));
            if !same {
                return false;
            }
            (of_held, at) = (next_held, next);
        }
        rounds += 1;
    }
    rounds >= usize::from(min) && (max == UNBOUNDED || rounds <= usize::from(max))
}

fn concat(
    env: &mut Env<'_>,
    c: &Compiled<'_>,
    spans: &mut Spans,
    parts: &mut [Part; 2],
    from: Pos,
    to: Pos,
) -> Result<bool> {
    let [first, second] = parts;
    let mut attempt = |env: &mut Env<'_>, first: &mut Part, mid: Pos| -> Result<bool> {
        if !second.matches(env, c, mid, to)? || !first.dissect(env, c, spans, from, mid)? {
            return Ok(false);
        }
        if second.dissect(env, c, spans, mid, to)? {
            return Ok(true);
        }
        first.forget(spans);
        Ok(false)
    };
    // Mostly the preferred one fits; only otherwise all of them are gathered.
    let Some(preferred) = first.end(env, c, from, to)? else { return Ok(false) };
    if attempt(env, first, preferred)? {
        return Ok(true);
    }
    for mid in first.ends(env, c, from, to)?.into_iter().skip(1) {
        if attempt(env, first, mid)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The rounds of a repetition. Rounds that match nothing are taken only where the least number of
/// rounds cannot be reached otherwise.
#[allow(clippy::too_many_arguments)]
fn repeat(
    env: &mut Env<'_>,
    c: &Compiled<'_>,
    spans: &mut Spans,
    body: &mut Part,
    min: usize,
    max: u16,
    from: Pos,
    to: Pos,
) -> Result<bool> {
    if min == 0 && from == to {
        // For long ones, one round that matches nothing is better than none.
        if !body.traits.shorter && body.matches(env, c, from, to)? {
            body.dissect(env, c, spans, from, to)?;
        }
        return Ok(true);
    }
    let min = min.max(1);
    let max = if max == UNBOUNDED { usize::MAX } else { usize::from(max).max(min) };
    // For each round where it begins and the ends that are still to be tried, the next one last.
    let mut rounds: Vec<(Pos, Vec<Pos>)> = Vec::new();
    let mut at = from;
    loop {
        let number = rounds.len() + 1;
        let mut ends = body.ends(env, c, at, to)?;
        ends.retain(|&end| {
            if end == to {
                return number >= min;
            }
            let empty_fits = number < min && env.text.at_most(at, to, min - number);
            number < max && (end > at || empty_fits)
        });
        ends.reverse();
        rounds.push((at, ends));
        loop {
            let number = rounds.len();
            let Some((start, ends)) = rounds.last_mut() else { return Ok(false) };
            let Some(end) = ends.pop() else {
                rounds.pop();
                continue;
            };
            let start = *start;
            let last = end == to && number >= min;
            // Only back references can refuse a round, and only the last round's groups stay.
            if last || body.traits.refers {
                body.forget(spans);
                if !body.dissect(env, c, spans, start, end)? {
                    continue;
                }
            }
            if last {
                return Ok(true);
            }
            at = end;
            break;
        }
    }
}

/// Numbers for the lookaround constraints of a pattern, outer ones first.
pub(super) fn number_looks(node: &Node, out: &mut Vec<Arc<super::syntax::Look>>) {
    match node {
        Node::Empty | Node::Set(_) | Node::Assert(_) | Node::BackRef(..) => {}
        Node::Look(look) => {
            out.push(look.clone());
            number_looks(&look.body, out);
        }
        Node::Seq(nodes) | Node::Alt(nodes) => nodes.iter().for_each(|n| number_looks(n, out)),
        Node::Repeat { body, .. } | Node::Group(_, body) => number_looks(body, out),
    }
}
