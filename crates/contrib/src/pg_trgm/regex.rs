//! The trigrams of a regular expression: a graph whose edges need trigrams, such that a text that
//! matches has all those of a way from the start to an end.
//!
//! A state of the automaton of the pattern is combined with what is known about the two characters
//! before it. A character that is then read completes a group of three; groups are of colors of the
//! pattern, so each stands for all trigrams of the characters of these colors. States without such
//! a step between them are joined. Groups that stand for many trigrams are left out as long as the
//! start is not thereby an end.
//!
//! Counterpart: contrib/pg_trgm/trgm_regexp.c.

use super::{Trigram, compact, is_word_character};
use pgerror::Result;
use std::collections::{BTreeSet, HashMap};
use types::regex::export::{Automaton, Step, automaton};
use types::regex::{Ctype, Options};
use types::string::case::{Letters, lower_text};

/// Limits of the graph. States that do not fit are ends.
const STATES_MAX: usize = 512;
const EDGES_MAX: usize = 16_384;
/// Colors of a pattern.
const COLORS_MAX: usize = 1024;
/// Characters of a color; others are as if unknown. PostgreSQL's limit is the same.
const CHARACTERS_MAX: u32 = 256;
/// All trigrams together. PostgreSQL's limit is the same.
const TRIGRAMS_MAX: usize = 256;
/// Groups are left out until the sum of their costs is below this. Source: `WISH_TRGM_PENALTY`.
const COST_WISHED: f32 = 16.0;

/// What is known about a character.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Before {
    Unknown,
    /// It is in no word, or it is the start or the end of the text.
    Blank,
    /// A character of words of this color.
    Color(u16),
}

type Group = [Before; 3];

/// The frequency of the trigrams of a group: those with blanks are more frequent.
/// Source: `penalties` in trgm_regexp.c.
fn frequency(group: &Group) -> f32 {
    match group.map(|b| b == Before::Blank) {
        [false, false, false] => 1.0,
        [false, false, true] => 3.5,
        [true, false, false] => 4.2,
        [true, false, true] => 2.1,
        [true, true, false] => 25.2,
        _ => 0.0,
    }
}

/// A state of the automaton after two characters.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct State {
    before: [Before; 2],
    step: usize,
}

struct Edge {
    /// The number of the group that the step completes; `None`: it needs nothing.
    group: Option<usize>,
    to: usize,
}

/// The graph under construction.
struct Builder<'a> {
    automaton: &'a Automaton,
    /// By color: the characters of words, in lower case; `None`: too many to list.
    letters: Vec<Option<Vec<Vec<u8>>>>,
    /// By color: it has characters that are in no word.
    has_blanks: Vec<bool>,
    states: Vec<State>,
    numbers: HashMap<State, usize>,
    edges: Vec<Vec<Edge>>,
    is_end: Vec<bool>,
    groups: Vec<Group>,
    group_numbers: HashMap<Group, usize>,
}

impl<'a> Builder<'a> {
    fn new(automaton: &'a Automaton, known: &Letters) -> Builder<'a> {
        let (mut letters, mut has_blanks) = (Vec::new(), Vec::new());
        for characters in automaton.characters(CHARACTERS_MAX) {
            let characters: Option<Vec<char>> =
                characters.map(|list| list.into_iter().filter_map(char::from_u32).collect());
            let (mut words, mut blank) = (BTreeSet::new(), false);
            for c in characters.iter().flatten() {
                match is_word_character(*c, known) {
                    true => {
                        let mut buffer = [0; 4];
                        words.insert(lower_text(c.encode_utf8(&mut buffer).as_bytes(), known));
                    }
                    false => blank = true,
                }
            }
            letters.push(characters.map(|_| words.into_iter().collect()));
            has_blanks.push(blank);
        }
        Builder {
            automaton,
            letters,
            has_blanks,
            states: Vec::new(),
            numbers: HashMap::new(),
            edges: Vec::new(),
            is_end: Vec::new(),
            groups: Vec::new(),
            group_numbers: HashMap::new(),
        }
    }

    /// The number of a state; `None` if there are too many.
    fn state(&mut self, state: State) -> Option<usize> {
        if let Some(n) = self.numbers.get(&state) {
            return Some(*n);
        }
        if self.states.len() >= STATES_MAX {
            return None;
        }
        let n = self.states.len();
        self.numbers.insert(state, n);
        self.states.push(state);
        self.edges.push(Vec::new());
        self.is_end.push(false);
        Some(n)
    }

    /// The steps that read a character, test for a line end, or match, after steps that do none of
    /// these; each with what is known about the two characters before.
    fn reachable(&self, from: State) -> Vec<State> {
        let (mut out, mut todo) = (Vec::new(), vec![from]);
        let mut seen = BTreeSet::new();
        while let Some(State { before, step }) = todo.pop() {
            let line_start = before == [Before::Blank; 2];
            if !seen.insert((step, line_start)) {
                continue;
            }
            match self.automaton.steps[step] {
                Step::Either(a, b) => {
                    todo.extend([a, b].map(|step| State { before, step }));
                }
                Step::Skip(step) => todo.push(State { before, step }),
                Step::LineStart(step) => {
                    todo.push(State { before: [Before::Blank; 2], step });
                }
                Step::Set { .. } | Step::LineEnd(_) | Step::Match => {
                    out.push(State { before, step });
                }
            }
        }
        out
    }

    /// Adds an edge on which `read` is read; false if there are too many edges or states.
    fn edge(&mut self, from: usize, read: Before, next: usize, count: &mut usize) -> bool {
        let [first, second] = self.states[from].before;
        let group = [first, second, read];
        // Two blanks and a third one are no trigram.
        let only_blanks = second == Before::Blank && read == Before::Blank;
        let complete = !group.contains(&Before::Unknown) && !only_blanks;
        let number = complete.then(|| {
            let next = self.groups.len();
            let number = *self.group_numbers.entry(group).or_insert(next);
            if number == next {
                self.groups.push(group);
            }
            number
        });
        let before = match (second, read) {
            (_, Before::Unknown) => [Before::Unknown; 2],
            (_, Before::Blank) => [Before::Blank; 2],
            (second, read) => [second, read],
        };
        for state in self.reachable(State { before, step: next }) {
            *count += 1;
            match self.state(state) {
                Some(to) if *count <= EDGES_MAX => {
                    self.edges[from].push(Edge { group: number, to })
                }
                _ => return false,
            }
        }
        true
    }

    /// Adds the edges of a state; false if not all fit.
    fn expand(&mut self, from: usize, count: &mut usize) -> bool {
        match self.automaton.steps[self.states[from].step] {
            Step::Set { set, next } => {
                for color in 0..self.automaton.color_count() as u16 {
                    if !self.automaton.has_color(set, color) {
                        continue;
                    }
                    let at = usize::from(color);
                    let (listed, some) = match &self.letters[at] {
                        Some(list) => (true, !list.is_empty()),
                        None => (false, true),
                    };
                    let fits = match (listed, some) {
                        (false, _) => self.edge(from, Before::Unknown, next, count),
                        (true, true) => self.edge(from, Before::Color(color), next, count),
                        (true, false) => true,
                    };
                    let blank = listed && self.has_blanks[at];
                    if !fits || blank && !self.edge(from, Before::Blank, next, count) {
                        return false;
                    }
                }
                true
            }
            Step::LineEnd(next) => self.edge(from, Before::Blank, next, count),
            _ => true,
        }
    }

    fn build(&mut self) {
        let (before, step) = ([Before::Unknown; 2], self.automaton.start);
        // The start is a state of its own, from which all first steps are reached.
        self.state(State { before, step: usize::MAX });
        let mut count = 0;
        for state in self.reachable(State { before, step }) {
            match self.state(state) {
                Some(to) => self.edges[0].push(Edge { group: None, to }),
                None => self.is_end[0] = true,
            }
        }
        let mut at = 1;
        while at < self.states.len() {
            let is_match = self.automaton.steps[self.states[at].step] == Step::Match;
            if is_match || !self.expand(at, &mut count) {
                self.is_end[at] = true;
            }
            at += 1;
        }
    }

    /// Whether an end is reached from the start by steps that need none of the kept groups.
    fn needs_nothing(&self, kept: &[bool]) -> bool {
        self.joined(0, kept).iter().any(|n| self.is_end[*n])
    }

    /// The states that are reached from one by steps that need none of the kept groups.
    fn joined(&self, from: usize, kept: &[bool]) -> Vec<usize> {
        let mut seen = vec![false; self.states.len()];
        let (mut out, mut todo) = (Vec::new(), vec![from]);
        while let Some(n) = todo.pop() {
            if std::mem::replace(&mut seen[n], true) {
                continue;
            }
            out.push(n);
            let free = self.edges[n].iter().filter(|e| e.group.is_none_or(|g| !kept[g]));
            todo.extend(free.map(|e| e.to));
        }
        out
    }

    /// The number of trigrams of a group.
    fn size(&self, group: &Group) -> usize {
        let sizes = group.iter().map(|b| match b {
            Before::Color(color) => self.letters[usize::from(*color)].as_ref().map_or(1, Vec::len),
            _ => 1,
        });
        sizes.product()
    }

    /// The groups that are kept; `None` if they are too many.
    fn selected(&self) -> Option<Vec<bool>> {
        let mut kept = vec![true; self.groups.len()];
        if self.needs_nothing(&kept) {
            return None;
        }
        let sizes: Vec<usize> = self.groups.iter().map(|g| self.size(g)).collect();
        let costs: Vec<f32> =
            self.groups.iter().zip(&sizes).map(|(g, n)| frequency(g) * *n as f32).collect();
        let mut order: Vec<usize> = (0..self.groups.len()).collect();
        order.sort_by(|a, b| costs[*b].total_cmp(&costs[*a]));
        let (mut cost, mut count): (f32, usize) = (costs.iter().sum(), sizes.iter().sum());
        for n in order {
            if cost <= COST_WISHED {
                break;
            }
            kept[n] = false;
            if self.needs_nothing(&kept) {
                kept[n] = true;
            } else {
                cost -= costs[n];
                count -= sizes[n];
            }
        }
        (count <= TRIGRAMS_MAX).then_some(kept)
    }

    /// The trigrams of a group.
    fn trigrams(&self, group: &Group) -> Vec<Trigram> {
        let blank = [b" ".to_vec()];
        let list = |b: Before| match b {
            Before::Color(color) => self.letters[usize::from(color)].as_deref().unwrap_or_default(),
            _ => &blank[..],
        };
        let [first, second, third] = group.map(list);
        let mut out = Vec::new();
        for a in first {
            for b in second {
                out.extend(third.iter().map(|c| compact(&[a, b, c])));
            }
        }
        out
    }

    /// The trigrams of the kept groups, and the graph.
    fn finish(&self, kept: &[bool]) -> (Vec<Trigram>, Graph) {
        let (mut keys, mut of_key, mut numbers) = (Vec::new(), Vec::new(), vec![0; kept.len()]);
        for (n, group) in self.groups.iter().enumerate().filter(|(n, _)| kept[*n]) {
            numbers[n] = of_key.last().map_or(0, |last| last + 1);
            for trigram in self.trigrams(group) {
                keys.push(trigram);
                of_key.push(numbers[n]);
            }
        }
        let mut nodes = vec![Node::default()];
        let (mut starts, mut node_of) = (vec![0], HashMap::from([(0, 0)]));
        let mut at = 0;
        while at < starts.len() {
            let mut node = Node::default();
            for state in self.joined(starts[at], kept) {
                node.is_end |= self.is_end[state];
                for edge in &self.edges[state] {
                    let Some(group) = edge.group.filter(|g| kept[*g]) else { continue };
                    let next = nodes.len();
                    let to = *node_of.entry(edge.to).or_insert(next);
                    if to == next {
                        nodes.push(Node::default());
                        starts.push(edge.to);
                    }
                    node.edges.insert((numbers[group], to));
                }
            }
            nodes[at] = node;
            at += 1;
        }
        (keys, Graph { of_key, nodes })
    }
}

#[derive(Clone, Default)]
struct Node {
    is_end: bool,
    /// The number of the group that an edge needs, and the node to which it leads.
    edges: BTreeSet<(usize, usize)>,
}

/// What a text that matches must have. Node 0 is the start.
pub(super) struct Graph {
    /// By key: the number of its group.
    of_key: Vec<usize>,
    nodes: Vec<Node>,
}

impl Graph {
    /// Whether a text may match that has those keys for whose numbers `present` is true.
    pub(super) fn can_match(&self, present: impl Fn(usize) -> bool) -> bool {
        let groups = self.of_key.last().map_or(0, |last| last + 1);
        let mut has = vec![false; groups];
        for (n, group) in self.of_key.iter().enumerate() {
            has[*group] |= present(n);
        }
        let mut seen = vec![false; self.nodes.len()];
        let mut todo = vec![0];
        while let Some(n) = todo.pop() {
            if std::mem::replace(&mut seen[n], true) {
                continue;
            }
            if self.nodes[n].is_end {
                return true;
            }
            todo.extend(self.nodes[n].edges.iter().filter(|(g, _)| has[*g]).map(|(_, to)| *to));
        }
        false
    }
}

/// The trigrams of a regular expression, which may repeat, and their graph. `None` if any text may
/// match. `ctype`: the letters of the match; `known`: those in words.
pub(super) fn trigrams(
    pattern: &[u8],
    ignore_case: bool,
    ctype: &Ctype,
    known: &Letters,
) -> Result<Option<(Vec<Trigram>, Graph)>> {
    let options = Options { ignore_case, ..Options::default() };
    let automaton = automaton(pattern, options, ctype, &|| Ok(()))?;
    if automaton.color_count() > COLORS_MAX {
        return Ok(None);
    }
    let mut builder = Builder::new(&automaton, known);
    builder.build();
    Ok(builder.selected().map(|kept| builder.finish(&kept)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(pattern: &str) -> Option<(Vec<String>, Graph)> {
        let found = trigrams(pattern.as_bytes(), false, &Ctype::Unicode, &Letters::Unicode);
        found.unwrap().map(|(list, graph)| {
            (list.iter().map(|t| String::from_utf8_lossy(t).into_owned()).collect(), graph)
        })
    }

    #[test]
    fn expressions_have_the_trigrams_of_their_ways() {
        for (pattern, matches, others) in [
            ("abcd", &["abc bcd"][..], &["abc", "bcd", ""][..]),
            ("abc|xyz", &["abc", "xyz", "abc xyz"], &["", "bcd"]),
            ("a[bc]d", &["abd", "acd"], &["aad", "abc"]),
            ("abc\\S*def", &["abc def"], &["xyz", ""]),
            ("(abc)+", &["abc"], &["bca"]),
            ("ABC", &["abc"], &["bcd"]),
            ("(?i)aBc", &["abc"], &["bcd"]),
            ("xabc?", &["xab"], &["abc"]),
        ] {
            let (list, graph) = keys(pattern).unwrap_or_else(|| panic!("{pattern}: no keys"));
            let can = |text: &str| {
                let has: Vec<&str> = text.split(' ').collect();
                graph.can_match(|n| has.contains(&list[n].as_str()))
            };
            for text in matches {
                assert!(can(text), "{pattern} matches {text}: {list:?}");
            }
            for text in others {
                assert!(!can(text), "{pattern} does not match {text}: {list:?}");
            }
        }
    }

    #[test]
    fn line_ends_and_blanks_bound_words() {
        let (list, graph) = keys("^ab").unwrap();
        assert_eq!(list, [" ab"]);
        assert!(graph.can_match(|_| true) && !graph.can_match(|_| false));
        let (mut list, _) = keys("ab c$").unwrap();
        list.sort();
        assert!(list.contains(&"ab ".to_owned()), "{list:?}");
    }

    #[test]
    fn expressions_that_any_text_may_match_have_no_keys() {
        for pattern in ["", "a", "ab", ".*", "abc|.", "[^a]bc?", "(abc)*", "\\w\\w\\w"] {
            assert!(keys(pattern).is_none(), "{pattern}");
        }
    }
}
