//! Parser of regular expressions: advanced, extended and basic syntax, embedded options, directors.
//! Counterpart: regc_lex.c and the parsing half of regcomp.c.

use super::class::{CharSet, Ctype, Sets, element};
use super::work::WorkCounter;
use pgerror::{PgError, Result, pg_err};
use std::sync::Arc;
use stdx::stack::deep;
use values::memory::reserve;

/// The syntax of a pattern.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Flavor {
    #[default]
    Advanced,
    Extended,
    Basic,
    /// The pattern is a plain string.
    Literal,
}

/// Options of a regular expression (embedded or by flag characters).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Options {
    pub flavor: Flavor,
    pub ignore_case: bool,
    /// `.` and negated bracket expressions do not match newlines.
    pub newline_stop: bool,
    /// `^` and `$` match at newlines.
    pub newline_anchor: bool,
    pub expanded: bool,
    pub global: bool,
}

impl Options {
    /// Applies an option character other than `g`; false if it is unknown.
    pub fn set(&mut self, c: char) -> bool {
        match c {
            'i' => self.ignore_case = true,
            'c' => self.ignore_case = false,
            'm' | 'n' => (self.newline_stop, self.newline_anchor) = (true, true),
            's' => (self.newline_stop, self.newline_anchor) = (false, false),
            'p' => (self.newline_stop, self.newline_anchor) = (true, false),
            'w' => (self.newline_stop, self.newline_anchor) = (false, true),
            'x' => self.expanded = true,
            't' => self.expanded = false,
            'q' => self.flavor = Flavor::Literal,
            'e' => self.flavor = Flavor::Extended,
            'b' => self.flavor = Flavor::Basic,
            _ => return false,
        }
        true
    }
}

/// The value of `max` for a repetition without upper bound.
pub(super) const UNBOUNDED: u16 = 256;
const COUNT_MAX: u16 = 255;

/// Greediness of a quantifier.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Preference {
    None,
    Longer,
    Shorter,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Assert {
    /// At the start of the text, or after a newline.
    LineStart,
    LineEnd,
    TextStart,
    TextEnd,
    WordStart,
    WordEnd,
    WordEdge,
    NoWordEdge,
}

/// A lookaround constraint.
#[derive(Debug)]
pub(super) struct Look {
    pub behind: bool,
    pub negative: bool,
    pub body: Node,
}

#[derive(Clone, Debug)]
pub(super) enum Node {
    Empty,
    /// A set of characters by its number in [`Parsed::sets`].
    Set(u32),
    Assert(Assert),
    /// A lookaround constraint by its number in [`Parsed::looks`].
    Look(u32),
    Seq(Arc<[Node]>),
    Alt(Arc<[Node]>),
    Repeat {
        body: Arc<Node>,
        min: u16,
        max: u16,
        preference: Preference,
    },
    /// A group in parentheses; a capturing group has a number.
    Group(Option<usize>, Arc<Node>),
    /// A back reference, with the contents of its group.
    BackRef(usize, Arc<Node>),
}

/// Patterns may be nested by thousands of levels, so a node is dropped without recursion.
impl Drop for Node {
    fn drop(&mut self) {
        let mut todo = Vec::new();
        take_children(self, &mut todo);
        while let Some(mut node) = todo.pop() {
            take_children(&mut node, &mut todo);
        }
    }
}

/// Moves the children that have no other owner out of a node, except leaves.
fn take_children(node: &mut Node, todo: &mut Vec<Node>) {
    let mut take = |child: &mut Node| {
        if !matches!(child, Node::Empty | Node::Set(_) | Node::Assert(_) | Node::Look(_)) {
            todo.push(std::mem::replace(child, Node::Empty));
        }
    };
    match node {
        Node::Empty | Node::Set(_) | Node::Assert(_) | Node::Look(_) => {}
        Node::Seq(nodes) | Node::Alt(nodes) => {
            Arc::get_mut(nodes).into_iter().flatten().for_each(take);
        }
        Node::Repeat { body, .. } | Node::Group(_, body) | Node::BackRef(_, body) => {
            Arc::get_mut(body).into_iter().for_each(&mut take);
        }
    }
}

/// The result of the parser.
pub(super) struct Parsed {
    pub node: Node,
    pub groups: usize,
    pub sets: Sets,
    pub looks: Vec<Look>,
    /// The pattern has assertions on line ends (`lines`) and on words (`words`).
    pub lines: bool,
    pub words: bool,
}

/// Nesting limit of parentheses. PostgreSQL's limit is its stack (`max_stack_depth`), whose default
/// is sufficient for 8,000 to 10,000 levels.
const DEPTH_MAX: usize = 8_500;

/// A pattern with more parts would exceed the limit of its automaton, so it is refused during
/// parsing, before it uses much memory and time.
const PARTS_MAX: usize = super::nfa::INSTS_MAX;

/// 2201B: the pattern is invalid.
pub(super) fn pattern_error(what: &str) -> PgError {
    pg_err!(INVALID_REGULAR_EXPRESSION, "invalid regular expression: {what}")
}

pub(super) fn too_complex() -> PgError {
    pattern_error("regular expression is too complex")
}

pub(super) fn parse(
    pattern: &[u32],
    options: &mut Options,
    ctype: &Ctype,
    work: &WorkCounter<'_>,
) -> Result<Parsed> {
    if options.flavor == Flavor::Literal
        && (options.expanded || options.newline_stop || options.newline_anchor)
    {
        return Err(pattern_error("invalid argument to regex function"));
    }
    let at = prefix(pattern, options)?;
    let mut p = Parser {
        src: pattern,
        at,
        options: *options,
        ctype: ctype.clone(),
        work,
        sets: Sets::default(),
        looks: Vec::new(),
        lines: false,
        words: false,
        depth: 0,
        in_look: 0,
        parts: 0,
        groups: vec![None],
    };
    if options.flavor == Flavor::Literal {
        if pattern.len() > PARTS_MAX {
            return Err(too_complex());
        }
        let items: Result<Vec<Node>> = pattern[at..].iter().map(|&c| p.literal(c)).collect();
        return Ok(p.parsed(Node::Seq(items?.into())));
    }
    let node = p.alternatives(false)?;
    Ok(p.parsed(node))
}

/// Parses `***` directors and embedded options. Returns the offset of the rest, the pattern itself.
fn prefix(src: &[u32], options: &mut Options) -> Result<usize> {
    if options.flavor == Flavor::Literal {
        return Ok(0);
    }
    let is = |at: usize, c: char| src.get(at) == Some(&(c as u32));
    let mut at = 0;
    if src.len() >= 4 && (0..3).all(|i| is(i, '*')) {
        match char::from_u32(src[3]) {
            Some('?') => return Err(pattern_error("invalid regexp (reg version 0.8)")),
            Some('=') => {
                *options = Options {
                    flavor: Flavor::Literal,
                    ignore_case: options.ignore_case,
                    global: options.global,
                    ..Options::default()
                };
                return Ok(4);
            }
            Some(':') => {
                options.flavor = Flavor::Advanced;
                at = 4;
            }
            _ => return Err(pattern_error("quantifier operand invalid")),
        }
    }
    let letter =
        |at: usize| src.get(at).and_then(|&c| char::from_u32(c)).filter(char::is_ascii_alphabetic);
    if options.flavor != Flavor::Advanced
        || !(is(at, '(') && is(at + 1, '?') && letter(at + 2).is_some())
    {
        return Ok(at);
    }
    at += 2;
    while let Some(c) = letter(at) {
        if !options.set(c) {
            return Err(pattern_error("invalid embedded option"));
        }
        at += 1;
    }
    if !is(at, ')') {
        return Err(pattern_error("invalid embedded option"));
    }
    if options.flavor == Flavor::Literal {
        (options.expanded, options.newline_stop, options.newline_anchor) = (false, false, false);
    }
    Ok(at + 1)
}

/// Whether a branch of basic syntax has nothing but `^` so far: a star is an ordinary character
/// there.
fn is_start(items: &[Node]) -> bool {
    matches!(items, [] | [Node::Assert(Assert::LineStart | Assert::TextStart)])
}

struct Parser<'a> {
    src: &'a [u32],
    at: usize,
    options: Options,
    ctype: Ctype,
    work: &'a WorkCounter<'a>,
    sets: Sets,
    looks: Vec<Look>,
    lines: bool,
    words: bool,
    depth: usize,
    /// Number of open lookaround constraints, within which no group captures.
    in_look: usize,
    /// Number of atoms, constraints and branches so far.
    parts: usize,
    /// The contents of the closed groups, by number.
    groups: Vec<Option<Arc<Node>>>,
}

/// An element of a bracket expression: a character or a character class.
enum Element {
    Char(u32),
    Class(CharSet),
}

impl Parser<'_> {
    fn peek(&self) -> Option<char> {
        // Code points that are no characters are ordinary, as letters are.
        self.src.get(self.at).map(|&c| char::from_u32(c).unwrap_or('\u{fffd}'))
    }

    fn eat(&mut self, text: &str) -> bool {
        let rest = &self.src[self.at.min(self.src.len())..];
        let yes = rest.len() >= text.len() && text.chars().zip(rest).all(|(t, &c)| t as u32 == c);
        if yes {
            self.at += text.len();
        }
        yes
    }

    fn parsed(self, node: Node) -> Parsed {
        let Parser { sets, looks, lines, words, groups, .. } = self;
        Parsed { node, groups: groups.len() - 1, sets, looks, lines, words }
    }

    fn count_part(&mut self) -> Result<()> {
        self.work.add(1)?;
        self.parts += 1;
        if self.parts > PARTS_MAX { Err(too_complex()) } else { Ok(()) }
    }

    fn advanced(&self) -> bool {
        self.options.flavor == Flavor::Advanced
    }

    fn basic(&self) -> bool {
        self.options.flavor == Flavor::Basic
    }

    /// Skips comments, and in expanded syntax white space.
    fn skip(&mut self) {
        loop {
            if self.options.expanded {
                match self.peek() {
                    Some(c) if c.is_ascii_whitespace() || c == '\u{b}' => {
                        self.at += 1;
                        continue;
                    }
                    Some('#') => {
                        while self.peek().is_some_and(|c| c != '\n') {
                            self.at += 1;
                        }
                        continue;
                    }
                    _ => {}
                }
            }
            if self.advanced() && self.eat("(?#") {
                while self.peek().is_some_and(|c| c != ')') {
                    self.at += 1;
                }
                self.eat(")");
                continue;
            }
            return;
        }
    }

    fn set(&mut self, set: CharSet) -> Result<Node> {
        self.work.add(set.0.len())?;
        self.sets.number(set).map(Node::Set)
    }

    fn literal(&mut self, c: u32) -> Result<Node> {
        self.work.add(1)?;
        let ctype = self.options.ignore_case.then_some(&self.ctype);
        self.sets.of_char(c, ctype).map(Node::Set)
    }

    fn assertion(&mut self, assert: Assert) -> Node {
        match assert {
            Assert::LineStart | Assert::LineEnd => self.lines = true,
            Assert::TextStart | Assert::TextEnd => {}
            Assert::WordStart | Assert::WordEnd | Assert::WordEdge | Assert::NoWordEdge => {
                self.words = true;
            }
        }
        Node::Assert(assert)
    }

    fn at_close(&mut self) -> bool {
        match self.basic() {
            true => self.peek() == Some('\\') && self.src.get(self.at + 1) == Some(&(b')' as u32)),
            false => self.peek() == Some(')'),
        }
    }

    /// Parses alternatives up to the end, or up to the closing parenthesis, which is consumed.
    fn alternatives(&mut self, inside: bool) -> Result<Node> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(too_complex());
        }
        let mut branches = Vec::new();
        loop {
            self.count_part()?;
            branches.push(deep(|| self.branch(inside))?);
            if self.basic() || !self.eat("|") {
                break;
            }
        }
        self.depth -= 1;
        if inside {
            if !self.at_close() {
                return Err(pattern_error("parentheses () not balanced"));
            }
            self.at += if self.basic() { 2 } else { 1 };
        }
        Ok(if branches.len() == 1 { branches.remove(0) } else { Node::Alt(branches.into()) })
    }

    fn branch(&mut self, inside: bool) -> Result<Node> {
        let mut items = Vec::new();
        loop {
            self.skip();
            let end = match self.peek() {
                None => true,
                Some('|') => !self.basic(),
                Some(_) => inside && self.at_close(),
            };
            if end {
                break;
            }
            self.count_part()?;
            if self.basic() && self.peek() == Some('*') && !is_start(&items) {
                return Err(pattern_error("quantifier operand invalid"));
            }
            let (atom, constraint) = self.atom(items.is_empty(), inside)?;
            items.push(if constraint { atom } else { self.quantified(atom)? });
        }
        Ok(match items.len() {
            0 => Node::Empty,
            1 => items.remove(0),
            _ => Node::Seq(items.into()),
        })
    }

    /// Parses an atom, or a constraint (true), which accepts no quantifier.
    fn atom(&mut self, first: bool, inside: bool) -> Result<(Node, bool)> {
        let Some(c) = self.peek() else { return Ok((Node::Empty, true)) };
        let code = self.src[self.at];
        self.at += 1;
        if self.basic() {
            return self.basic_atom(c, code, first, inside);
        }
        let node = match c {
            '(' => return self.parenthesis(),
            // An unmatched parenthesis is an ordinary character in extended syntax.
            ')' if self.options.flavor == Flavor::Extended => self.literal(code)?,
            ')' => return Err(pattern_error("parentheses () not balanced")),
            '*' | '+' | '?' => return Err(pattern_error("quantifier operand invalid")),
            '{' => {
                self.skip_in_expanded();
                if self.peek().is_some_and(|c| c.is_ascii_digit()) {
                    return Err(pattern_error("quantifier operand invalid"));
                }
                self.literal(code)?
            }
            '.' => self.dot()?,
            '^' => return Ok((self.line_start(), true)),
            '$' => return Ok((self.line_end(), true)),
            '[' => return self.bracket(),
            '\\' => {
                if self.peek().is_none() {
                    return Err(pattern_error("invalid escape \\ sequence"));
                }
                if !self.advanced() {
                    self.at += 1;
                    return Ok((self.literal(self.src[self.at - 1])?, false));
                }
                return self.escape();
            }
            _ => self.literal(code)?,
        };
        Ok((node, false))
    }

    fn skip_in_expanded(&mut self) {
        if self.options.expanded {
            self.skip();
        }
    }

    fn dot(&mut self) -> Result<Node> {
        self.set(match self.options.newline_stop {
            true => CharSet::one(b'\n' as u32).negated(),
            false => CharSet::any(),
        })
    }

    fn line_start(&mut self) -> Node {
        self.assertion(match self.options.newline_anchor {
            true => Assert::LineStart,
            false => Assert::TextStart,
        })
    }

    fn line_end(&mut self) -> Node {
        self.assertion(match self.options.newline_anchor {
            true => Assert::LineEnd,
            false => Assert::TextEnd,
        })
    }

    /// Parses what follows `(`.
    fn parenthesis(&mut self) -> Result<(Node, bool)> {
        if !self.advanced() || !self.eat("?") {
            return Ok((self.group()?, false));
        }
        let (behind, negative) = if self.eat(":") {
            let body = self.alternatives(true)?;
            return Ok((Node::Group(None, Arc::new(body)), false));
        } else if self.eat("=") {
            (false, false)
        } else if self.eat("!") {
            (false, true)
        } else if self.eat("<=") {
            (true, false)
        } else if self.eat("<!") {
            (true, true)
        } else {
            return Err(pattern_error("quantifier operand invalid"));
        };
        self.in_look += 1;
        let body = self.alternatives(true)?;
        self.in_look -= 1;
        let number = self.looks.len() as u32;
        self.looks.push(Look { behind, negative, body });
        Ok((Node::Look(number), true))
    }

    /// Parses a capturing group, whose opening parenthesis was consumed.
    fn group(&mut self) -> Result<Node> {
        if self.in_look > 0 {
            return Ok(Node::Group(None, Arc::new(self.alternatives(true)?)));
        }
        let number = self.groups.len();
        self.groups.push(None);
        let body = Arc::new(self.alternatives(true)?);
        self.groups[number] = Some(body.clone());
        Ok(Node::Group(Some(number), body))
    }

    fn back_reference(&self, number: usize) -> Result<Node> {
        let body = self.groups.get(number).cloned().flatten().filter(|_| self.in_look == 0);
        let body = body.ok_or_else(|| pattern_error("invalid backreference number"))?;
        Ok(Node::BackRef(number, body))
    }

    fn basic_atom(
        &mut self,
        c: char,
        code: u32,
        first: bool,
        inside: bool,
    ) -> Result<(Node, bool)> {
        let node = match c {
            '*' => self.literal(code)?,
            '[' => return self.bracket(),
            '.' => self.dot()?,
            '^' if first => return Ok((self.line_start(), true)),
            '$' => {
                self.skip();
                if self.peek().is_none() || (inside && self.at_close()) {
                    return Ok((self.line_end(), true));
                }
                self.literal(code)?
            }
            '\\' => {
                let Some(c) = self.peek() else {
                    return Err(pattern_error("invalid escape \\ sequence"));
                };
                self.at += 1;
                match c {
                    '{' => return Err(pattern_error("quantifier operand invalid")),
                    '(' => self.group()?,
                    ')' => return Err(pattern_error("parentheses () not balanced")),
                    '<' => return Ok((self.assertion(Assert::WordStart), true)),
                    '>' => return Ok((self.assertion(Assert::WordEnd), true)),
                    '1'..='9' => self.back_reference(c as usize - '0' as usize)?,
                    _ => self.literal(self.src[self.at - 1])?,
                }
            }
            _ => self.literal(code)?,
        };
        Ok((node, false))
    }

    /// Parses `least` to `most` digits in a base.
    fn digits(&mut self, base: u32, least: usize, most: usize) -> Result<u32> {
        let start = self.at;
        let mut n = 0u64;
        while self.at - start < most
            && let Some(d) = self.peek().and_then(|c| c.to_digit(base))
        {
            n = (n * u64::from(base) + u64::from(d)).min(1 << 40);
            self.at += 1;
        }
        match u32::try_from(n) {
            Ok(n) if self.at - start >= least && n <= super::class::CODE_MAX => Ok(n),
            _ => Err(pattern_error("invalid escape \\ sequence")),
        }
    }

    /// The character set of a class escape.
    fn class_escape(&mut self, c: char) -> Option<CharSet> {
        let name = match c.to_ascii_lowercase() {
            'd' => "digit",
            's' => "space",
            'w' => "word",
            _ => return None,
        };
        let set = self.sets.class(name, &self.ctype, self.options.ignore_case)?;
        Some(if c.is_ascii_uppercase() { set.negated() } else { set })
    }

    /// The character of an escape; the backslash and `c` were consumed.
    fn character_escape(&mut self, c: char) -> Result<u32> {
        Ok(match c {
            'a' => 7,
            'b' => 8,
            'B' => b'\\' as u32,
            'e' => 0x1b,
            'f' => 0xc,
            'n' => b'\n' as u32,
            'r' => b'\r' as u32,
            't' => b'\t' as u32,
            'v' => 0xb,
            'c' if self.peek().is_some() => {
                self.at += 1;
                self.src[self.at - 1] & 31
            }
            'u' => self.digits(16, 4, 4)?,
            'U' => self.digits(16, 8, 8)?,
            'x' => self.digits(16, 1, 255)?,
            '0'..='9' => {
                self.at -= 1;
                let start = self.at;
                let n = self.digits(8, 1, 3)?;
                if n > 0xff {
                    self.at = start + 2;
                    n >> 3
                } else {
                    n
                }
            }
            c if !c.is_ascii_alphanumeric() => self.src[self.at - 1],
            _ => return Err(pattern_error("invalid escape \\ sequence")),
        })
    }

    /// Parses an escape of the advanced syntax, whose backslash was consumed.
    fn escape(&mut self) -> Result<(Node, bool)> {
        let Some(c) = self.peek() else { return Err(pattern_error("invalid escape \\ sequence")) };
        self.at += 1;
        if let Some(set) = self.class_escape(c) {
            return Ok((self.set(set)?, false));
        }
        let assert = match c {
            'A' => Assert::TextStart,
            'Z' => Assert::TextEnd,
            'm' => Assert::WordStart,
            'M' => Assert::WordEnd,
            'y' => Assert::WordEdge,
            'Y' => Assert::NoWordEdge,
            '1'..='9' => {
                // One digit is a back reference; more digits are one if there are that many groups.
                let start = self.at;
                self.at -= 1;
                let n = self.digits(10, 1, 255)? as usize;
                if self.at == start || n < self.groups.len() {
                    return Ok((self.back_reference(n)?, false));
                }
                self.at = start;
                let c = self.character_escape(c)?;
                return Ok((self.literal(c)?, false));
            }
            _ => {
                let c = self.character_escape(c)?;
                return Ok((self.literal(c)?, false));
            }
        };
        Ok((self.assertion(assert), true))
    }

    /// Parses a bracket expression, or one of the constraints `[[:<:]]` and `[[:>:]]`; the `[` was
    /// consumed.
    fn bracket(&mut self) -> Result<(Node, bool)> {
        if self.eat("[:<:]]") {
            return Ok((self.assertion(Assert::WordStart), true));
        }
        if self.eat("[:>:]]") {
            return Ok((self.assertion(Assert::WordEnd), true));
        }
        let negated = self.eat("^");
        let mut ranges: Vec<(u32, u32)> = Vec::new();
        let mut first = true;
        loop {
            match self.peek() {
                None => return Err(pattern_error("brackets [] not balanced")),
                Some(']') if !first => {
                    self.at += 1;
                    break;
                }
                Some('-') if !first && self.src.get(self.at + 1) != Some(&(b']' as u32)) => {
                    return Err(pattern_error("invalid character range"));
                }
                Some(_) => {}
            }
            first = false;
            self.work.add(1)?;
            let low = match self.element()? {
                Element::Class(class) => {
                    self.work.add(class.0.len())?;
                    reserve(&mut ranges, class.0.len())?;
                    ranges.extend(class.0);
                    continue;
                }
                Element::Char(c) => c,
            };
            reserve(&mut ranges, 1)?;
            let range = match (self.peek(), self.src.get(self.at + 1)) {
                (Some('-'), Some(&next)) => next != b']' as u32,
                (Some('-'), None) => return Err(pattern_error("brackets [] not balanced")),
                _ => false,
            };
            if !range {
                ranges.push((low, low));
                continue;
            }
            self.at += 1;
            match self.element()? {
                Element::Char(high) if high >= low => ranges.push((low, high)),
                _ => return Err(pattern_error("invalid character range")),
            }
        }
        let mut set = CharSet::default();
        set.add(ranges);
        if self.options.ignore_case {
            set = self.sets.cased(set, &self.ctype, self.work)?;
        }
        if negated {
            if self.options.newline_stop {
                set.add([(b'\n' as u32, b'\n' as u32)]);
            }
            set = set.negated();
        }
        Ok((self.set(set)?, false))
    }

    /// Parses the name up to `end` within a bracket expression.
    fn name(&mut self, end: &str) -> Result<Vec<u32>> {
        let start = self.at;
        while self.at < self.src.len() {
            let here = self.at;
            if self.eat(end) {
                return Ok(self.src[start..here].to_vec());
            }
            self.at += 1;
        }
        Err(pattern_error("brackets [] not balanced"))
    }

    fn element(&mut self) -> Result<Element> {
        if self.eat("[.") || self.eat("[=") {
            let end = if self.src[self.at - 1] == b'.' as u32 { ".]" } else { "=]" };
            let name = self.name(end)?;
            let c = element(&name).ok_or_else(|| pattern_error("invalid collating element"))?;
            // An equivalence class cannot be the end of a range.
            return Ok(match end {
                ".]" => Element::Char(c),
                _ => Element::Class(CharSet::one(c)),
            });
        }
        if self.eat("[:") {
            let name = self.name(":]")?;
            let name: String = name.iter().filter_map(|&c| char::from_u32(c)).collect();
            let class = self.sets.class(&name, &self.ctype, self.options.ignore_case);
            return Ok(Element::Class(
                class.ok_or_else(|| pattern_error("invalid character class"))?,
            ));
        }
        let Some(c) = self.peek() else { return Err(pattern_error("brackets [] not balanced")) };
        self.at += 1;
        if c != '\\' || !self.advanced() {
            return Ok(Element::Char(self.src[self.at - 1]));
        }
        let Some(c) = self.peek() else { return Err(pattern_error("invalid escape \\ sequence")) };
        self.at += 1;
        if let Some(class) = self.class_escape(c) {
            return Ok(Element::Class(class));
        }
        if ('1'..='9').contains(&c) {
            // A single digit would be a back reference, which is invalid in a bracket expression.
            let start = self.at;
            self.at -= 1;
            let n = self.digits(10, 1, 255)? as usize;
            if self.at == start || n < self.groups.len() {
                return Err(pattern_error("invalid escape \\ sequence"));
            }
            self.at = start;
        }
        Ok(Element::Char(self.character_escape(c)?))
    }

    fn count(&mut self) -> Result<Option<u16>> {
        let mut count = None;
        self.skip_in_expanded();
        while let Some(d) = self.peek().and_then(|c| c.to_digit(10)) {
            let n = count.unwrap_or(0) * 10 + d as u16;
            if n > COUNT_MAX {
                return Err(pattern_error("invalid repetition count(s)"));
            }
            count = Some(n);
            self.at += 1;
            self.skip_in_expanded();
        }
        Ok(count)
    }

    fn lazy(&mut self) -> Preference {
        match self.advanced() && self.eat("?") {
            true => Preference::Shorter,
            false => Preference::Longer,
        }
    }

    /// Parses the quantifier that may follow an atom, and applies it.
    fn quantified(&mut self, atom: Node) -> Result<Node> {
        self.skip();
        let basic = self.basic();
        let (min, max, preference) = match self.peek() {
            Some('*') => {
                self.at += 1;
                (0, UNBOUNDED, self.lazy())
            }
            Some('+') if !basic => {
                self.at += 1;
                (1, UNBOUNDED, self.lazy())
            }
            Some('?') if !basic => {
                self.at += 1;
                (0, 1, self.lazy())
            }
            Some('{') if !basic => {
                let start = self.at;
                self.at += 1;
                self.skip_in_expanded();
                if !self.peek().is_some_and(|c| c.is_ascii_digit()) {
                    // A brace that does not begin a bound is an ordinary atom.
                    self.at = start;
                    return Ok(atom);
                }
                self.bound("}")?
            }
            Some('\\') if basic && self.eat("\\{") => self.bound("\\}")?,
            _ => return Ok(atom),
        };
        if (min, max) == (0, 0) {
            return Ok(Node::Empty);
        }
        Ok(Node::Repeat { body: Arc::new(atom), min, max, preference })
    }

    /// Parses the bounds after an opening brace.
    fn bound(&mut self, close: &str) -> Result<(u16, u16, Preference)> {
        let min = self.count()?;
        let comma = self.eat(",");
        let max = if comma { self.count()?.unwrap_or(UNBOUNDED) } else { min.unwrap_or(0) };
        let min = min.unwrap_or(0);
        if self.peek().is_none() {
            return Err(pattern_error("braces {} not balanced"));
        }
        if min > max || !self.eat(close) {
            return Err(pattern_error("invalid repetition count(s)"));
        }
        let preference = if close == "}" { self.lazy() } else { Preference::Longer };
        Ok((min, max, if comma { preference } else { Preference::None }))
    }
}

/// The error if the collation is indeterminate, as for the functions of upper and lower case.
pub(super) fn no_collation() -> PgError {
    pg_err!(
        INDETERMINATE_COLLATION,
        "could not determine which collation to use for regular expression"
    )
    .hint("Use the COLLATE clause to set the collation explicitly.")
}
