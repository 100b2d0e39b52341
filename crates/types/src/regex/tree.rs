//! The capture groups of a match: a tree of those parts of the pattern that determine them, and a
//! backtracking search for the division of the text among the parts.
//!
//! The rules are PostgreSQL's. A part prefers long or short matches: a quantified atom as its
//! quantifier does (`{m}` as its atom does), a branch as its first quantified atom that has a
//! preference, alternatives always long ones. In a sequence, earlier parts take precedence over
//! later ones. Adjacent parts of one preference without capturing groups are one part, which is
//! matched as a whole. An alternative takes precedence over later ones. The groups of an iteration
//! of a repetition are reset in the next. Counterpart: parseqatom in regcomp.c, cdissect in
//! regexec.c.

use super::dfa::{Dfa, Env, Pos};
use super::nfa::Nfa;
use super::syntax::{Node, Preference, UNBOUNDED};
use super::work::WorkCounter;
use pgerror::Result;
use std::ops::Range;
use stdx::stack::deep;

/// Byte ranges of a match: the whole match, then each capture group.
pub type Spans = Vec<Option<(usize, usize)>>;

/// Properties of a part: its preferences, and properties of its sub-parts.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) struct PartProperties {
    pub longer: bool,
    pub shorter: bool,
    /// Sub-parts have other preferences than the part itself.
    pub mixed: bool,
    pub captures: bool,
    pub refers: bool,
}

impl PartProperties {
    fn of(preference: Preference) -> PartProperties {
        PartProperties {
            longer: preference == Preference::Longer,
            shorter: preference == Preference::Shorter,
            ..PartProperties::default()
        }
    }

    fn or(self, other: PartProperties) -> PartProperties {
        PartProperties {
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

    /// The properties of the sub-parts as seen from their part: their preferences matter only if
    /// they differ.
    fn inner(self) -> PartProperties {
        let mixed = self.mixed || (self.longer && self.shorter);
        PartProperties { longer: false, shorter: false, mixed, ..self }
    }

    /// The properties of two parts in sequence; the first one with a preference determines it.
    fn combined(self, other: PartProperties) -> PartProperties {
        let first = if self.has_preference() { self } else { other };
        let inner = self.or(other).inner();
        PartProperties { longer: first.longer, shorter: first.shorter, ..inner }
    }

    /// Whether the part must be searched for its capture groups (`MESSY` in regcomp.c).
    fn needs_group_search(self) -> bool {
        self.mixed || self.captures || self.refers
    }
}

enum Kind {
    /// Matched as a whole by its automaton.
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
    pub properties: PartProperties,
    /// The groups whose span is the match of this part.
    groups: Vec<usize>,
    /// The groups of this part and of its sub-parts. They are numbered by their opening
    /// parentheses, so they are contiguous.
    within: Range<usize>,
    node: Node,
    dfa: Option<Box<Dfa>>,
    /// The memory of `dfa` that is counted in [`Env::parts_bytes`].
    dfa_bytes: usize,
}

/// When the automata of all parts together would be larger, an automaton is discarded after its use
/// and built again for the next one.
const PARTS_BYTES_MAX: usize = 64 << 20;

/// Parts are nested as deep as the pattern's parentheses, and form lists as long as the number of
/// its groups.
impl Drop for Part {
    fn drop(&mut self) {
        if !matches!(self.kind, Kind::Leaf | Kind::BackRef { .. }) {
            let kind = std::mem::replace(&mut self.kind, Kind::Leaf);
            deep(|| drop(kind));
        }
    }
}

/// The smallest range that contains both.
fn covering_range(a: Range<usize>, b: &Range<usize>) -> Range<usize> {
    match (a.is_empty(), b.is_empty()) {
        (true, _) => b.clone(),
        (_, true) => a,
        _ => a.start.min(b.start)..a.end.max(b.end),
    }
}

impl Part {
    fn new(kind: Kind, properties: PartProperties, node: Node) -> Part {
        let within = match &kind {
            Kind::Leaf | Kind::BackRef { .. } => 0..0,
            Kind::Concat(parts) => parts.iter().fold(0..0, |all, p| covering_range(all, &p.within)),
            Kind::Alt(parts) => parts.iter().fold(0..0, |all, p| covering_range(all, &p.within)),
            Kind::Repeat { body, .. } => body.within.clone(),
        };
        Part { kind, properties, groups: Vec::new(), within, node, dfa: None, dfa_bytes: 0 }
    }

    fn leaf(properties: PartProperties, node: Node) -> Part {
        Part::new(Kind::Leaf, properties, node)
    }

    fn is_leaf(&self) -> bool {
        matches!(self.kind, Kind::Leaf) && self.groups.is_empty()
    }

    fn concat(first: Part, second: Part, properties: PartProperties) -> Part {
        let node = Node::Seq([first.node.clone(), second.node.clone()].into());
        Part::new(Kind::Concat(Box::new([first, second])), properties, node)
    }

    /// Builds the tree of a whole pattern.
    pub fn of_pattern(node: &Node, work: &WorkCounter<'_>) -> Result<Part> {
        Part::of(node, work)
    }

    fn of(node: &Node, work: &WorkCounter<'_>) -> Result<Part> {
        match node {
            Node::Alt(branches) => {
                let mut properties = PartProperties::of(Preference::Longer);
                let mut parts = Vec::with_capacity(branches.len());
                for branch in branches.iter() {
                    let part = deep(|| Part::of(branch, work))?;
                    properties = properties.or(properties.or(part.properties).inner());
                    parts.push(part);
                }
                let kind =
                    if properties.needs_group_search() { Kind::Alt(parts) } else { Kind::Leaf };
                Ok(Part::new(kind, properties, node.clone()))
            }
            Node::Seq(items) => Part::branch(items, work),
            single => Part::branch(std::slice::from_ref(single), work),
        }
    }

    /// Builds a branch: a prefix that is one part, an atom with capture groups or mixed
    /// preferences, and the rest.
    fn branch(items: &[Node], work: &WorkCounter<'_>) -> Result<Part> {
        let mut properties = PartProperties::default();
        for (i, item) in items.iter().enumerate() {
            work.add(1)?;
            if matches!(item, Node::Empty | Node::Assert(_) | Node::Look(_)) {
                continue;
            }
            let (atom, min, max, preference) = match item {
                Node::Repeat { body, min, max, preference } => (&**body, *min, *max, *preference),
                plain => (plain, 1, 1, Preference::None),
            };
            let atom_part = match atom {
                Node::Group(number, body) => {
                    let mut part = deep(|| Part::of(body, work))?;
                    if let Some(n) = number {
                        part.properties.captures = true;
                        part.groups.push(*n);
                        part.within = covering_range(part.within.clone(), &(*n..*n + 1));
                    }
                    part
                }
                Node::BackRef(group, _) => {
                    let properties = PartProperties { refers: true, ..PartProperties::default() };
                    Part::new(Kind::BackRef { group: *group, min, max }, properties, item.clone())
                }
                other => Part::leaf(PartProperties::default(), other.clone()),
            };
            let together = properties.or(PartProperties::of(preference)).or(atom_part.properties);
            if !together.inner().needs_group_search() {
                properties = together;
                continue;
            }
            let wanted = PartProperties::of(preference);
            let both = wanted.combined(atom_part.properties);
            let core = Part::quantified(atom_part, item, min, max, wanted);
            let prefix = Node::Seq(items[..i].into());
            let rest = &items[i + 1..];
            if rest.is_empty() {
                if i == 0 {
                    return Ok(core);
                }
                let all = properties.or(properties.combined(core.properties));
                return Ok(Part::concat(Part::leaf(properties, prefix), core, all));
            }
            let rest = deep(|| Part::branch(rest, work))?;
            let tail = both.or(both.combined(rest.properties));
            let all = properties.or(properties.combined(tail));
            if i == 0 {
                return Ok(Part::concat(core, rest, all));
            }
            let joined = core.properties.or(rest.properties);
            let tail = if core.is_leaf() && rest.is_leaf() && !joined.inner().needs_group_search() {
                let node = Node::Seq([core.node.clone(), rest.node.clone()].into());
                Part::leaf(core.properties.combined(rest.properties), node)
            } else {
                Part::concat(core, rest, tail)
            };
            return Ok(Part::concat(Part::leaf(properties, prefix), tail, all));
        }
        Ok(Part::leaf(properties, Node::Seq(items.into())))
    }

    /// Builds a quantified atom; `item` is the atom with its quantifier.
    fn quantified(mut atom: Part, item: &Node, min: u16, max: u16, wanted: PartProperties) -> Part {
        let both = wanted.combined(atom.properties);
        // A back reference counts its own iterations unless it is in parentheses.
        if matches!(atom.kind, Kind::BackRef { .. }) && atom.groups.is_empty() {
            atom.properties = atom.properties.or(both);
            return atom;
        }
        let t = atom.properties;
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
            // Only the groups of the last iteration are needed: the other iterations are one part.
            let max = if max == UNBOUNDED { max } else { max - 1 };
            let (body, preference) = (body.clone(), *preference);
            let others = Node::Repeat { body, min: min - 1, max, preference };
            let local = PartProperties {
                longer: both.longer,
                shorter: both.shorter,
                ..PartProperties::default()
            };
            return Part::concat(Part::leaf(local, others), atom, both);
        }
        Part::new(Kind::Repeat { body: Box::new(atom), min, max }, both, item.clone())
    }

    /// Runs the automaton of this part, which is built at its first use.
    fn with_dfa<T>(
        &mut self,
        env: &mut Env<'_>,
        f: impl FnOnce(&mut Dfa, &mut Env<'_>) -> Result<T>,
    ) -> Result<T> {
        let mut dfa = match self.dfa.take() {
            Some(dfa) => dfa,
            None => Box::new(Dfa::new(Nfa::new(&self.node, false, env.work)?, false)),
        };
        *env.parts_bytes -= self.dfa_bytes;
        let done = f(&mut dfa, env);
        let bytes = dfa.bytes();
        if *env.parts_bytes + bytes <= PARTS_BYTES_MAX {
            self.dfa = Some(dfa);
            self.dfa_bytes = bytes;
            *env.parts_bytes += bytes;
        } else {
            self.dfa_bytes = 0;
        }
        done
    }

    fn matches(&mut self, env: &mut Env<'_>, from: Pos, to: Pos) -> Result<bool> {
        self.with_dfa(env, |dfa, env| dfa.exact(env, from, to))
    }

    /// Finds the capture groups within a span that this part's automaton matches; false if back
    /// references do not match. The groups of this part are unset at the call and after a failure.
    pub fn find_groups(
        &mut self,
        env: &mut Env<'_>,
        spans: &mut Spans,
        from: Pos,
        to: Pos,
    ) -> Result<bool> {
        env.tick()?;
        deep(|| self.find_groups_here(env, spans, from, to))
    }

    fn find_groups_here(
        &mut self,
        env: &mut Env<'_>,
        spans: &mut Spans,
        from: Pos,
        to: Pos,
    ) -> Result<bool> {
        let done = match &mut self.kind {
            Kind::Leaf => true,
            Kind::BackRef { group, min, max } => {
                let contents = spans.get(*group).copied().flatten();
                match contents {
                    Some(contents) => repeats(env, contents, (from, to), *min, *max)?,
                    None => false,
                }
            }
            Kind::Concat(parts) => concat(env, spans, parts, from, to)?,
            Kind::Alt(parts) => {
                let mut done = false;
                for part in parts {
                    if part.matches(env, from, to)? && part.find_groups(env, spans, from, to)? {
                        done = true;
                        break;
                    }
                }
                done
            }
            Kind::Repeat { body, min, max } => {
                repeat(env, spans, body, usize::from(*min), *max, from, to)?
            }
        };
        if done {
            for &g in &self.groups {
                spans[g] = Some((from, to));
            }
        } else {
            self.reset_groups(spans);
        }
        Ok(done)
    }

    fn reset_groups(&self, spans: &mut Spans) {
        spans[self.within.clone()].fill(None);
    }
}

/// Whether `span` consists of `min` to `max` repetitions of `contents`, the span of a group.
fn repeats(
    env: &Env<'_>,
    contents: (Pos, Pos),
    span: (Pos, Pos),
    min: u16,
    max: u16,
) -> Result<bool> {
    if contents.0 == contents.1 || span.0 == span.1 {
        // An empty group matches the empty span any number of times; a span that is empty needs an
        // empty group or `min` 0.
        return Ok(span.0 == span.1 && (contents.0 == contents.1 || min == 0));
    }
    let (mut at, mut rounds) = (span.0, 0usize);
    while at < span.1 {
        let mut in_contents = contents.0;
        while in_contents < contents.1 {
            env.tick()?;
            if at >= span.1 {
                return Ok(false);
            }
            let ((a, next_in_contents), (b, next)) =
                (env.text.char_at(in_contents), env.text.char_at(at));
            let same = a == b || env.ignore_case.as_ref().is_some_and(|t| t.cases(a).contains(&b));
            if !same {
                return Ok(false);
            }
            (in_contents, at) = (next_in_contents, next);
        }
        rounds += 1;
    }
    Ok(rounds >= usize::from(min) && (max == UNBOUNDED || rounds <= usize::from(max)))
}

/// Bounds of the number of candidates in the second and later rounds of the search.
const CANDIDATES_MIN: usize = 16;
const CANDIDATES_MAX: usize = 4096;

/// The possible ends of a part's match, the preferred one first. They are computed a few at a time,
/// because the first one usually fits, and the list of all would be as long as the text for each
/// part and each iteration of a repetition.
pub(super) struct Candidates {
    from: Pos,
    /// The ends between these positions (inclusive) have not been computed yet.
    rest: Option<(Pos, Pos)>,
    /// Computed ends; the preferred one is last.
    found: Vec<Pos>,
    most: usize,
}

impl Candidates {
    /// The ends of matches from `from` up to `to`.
    pub fn new(from: Pos, to: Pos) -> Candidates {
        Candidates { from, rest: Some((from, to)), found: Vec::new(), most: 1 }
    }

    /// The next candidate in the order of preference of `part`.
    pub fn next(&mut self, part: &mut Part, env: &mut Env<'_>) -> Result<Option<Pos>> {
        if self.found.is_empty()
            && let Some((least, stop)) = self.rest
        {
            let (from, most, shorter) = (self.from, self.most, part.properties.shorter);
            self.found = part.with_dfa(env, |dfa, env| match shorter {
                true => dfa.first_ends(env, from, least, stop, most),
                false => dfa.last_ends(env, from, stop, most),
            })?;
            self.rest = match (self.found.len() == most, shorter) {
                (false, _) => None,
                (_, true) => self.found.last().filter(|p| **p < stop).map(|&p| (p + 1, stop)),
                (_, false) => {
                    self.found.first().filter(|p| **p > from).map(|&p| (from, env.text.prev(p)))
                }
            };
            if shorter {
                self.found.reverse();
            }
            self.most = (most * CANDIDATES_MIN).min(CANDIDATES_MAX);
        }
        Ok(self.found.pop())
    }
}

fn concat(
    env: &mut Env<'_>,
    spans: &mut Spans,
    parts: &mut [Part; 2],
    from: Pos,
    to: Pos,
) -> Result<bool> {
    let [first, second] = parts;
    let mut middles = Candidates::new(from, to);
    while let Some(mid) = middles.next(first, env)? {
        if !second.matches(env, mid, to)? || !first.find_groups(env, spans, from, mid)? {
            continue;
        }
        if second.find_groups(env, spans, mid, to)? {
            return Ok(true);
        }
        first.reset_groups(spans);
    }
    Ok(false)
}

/// Finds the iterations of a repetition. Empty iterations are used only if the minimum number of
/// iterations cannot be reached otherwise.
fn repeat(
    env: &mut Env<'_>,
    spans: &mut Spans,
    body: &mut Part,
    min: usize,
    max: u16,
    from: Pos,
    to: Pos,
) -> Result<bool> {
    if min == 0 && from == to {
        // A greedy repetition prefers one empty iteration to none.
        if !body.properties.shorter && body.matches(env, from, to)? {
            body.find_groups(env, spans, from, to)?;
        }
        return Ok(true);
    }
    let min = min.max(1);
    let max = if max == UNBOUNDED { usize::MAX } else { usize::from(max).max(min) };
    // For each iteration its start, and the ends that have not been tried.
    let mut rounds = vec![(from, Candidates::new(from, to))];
    while let Some((start, ends)) = rounds.last_mut() {
        let start = *start;
        let Some(end) = ends.next(body, env)? else {
            rounds.pop();
            continue;
        };
        let number = rounds.len();
        let last = end == to && number >= min;
        if !last {
            let empty_fits = number < min && env.text.at_most(start, to, min - number);
            if end == to || number >= max || (end == start && !empty_fits) {
                continue;
            }
        }
        // Only back references can fail, and only the groups of the last iteration are kept.
        if last || body.properties.refers {
            body.reset_groups(spans);
            if !body.find_groups(env, spans, start, end)? {
                continue;
            }
        }
        if last {
            return Ok(true);
        }
        rounds.push((end, Candidates::new(end, to)));
    }
    Ok(false)
}
