//! Regular expressions: PostgreSQL's advanced syntax translated for `regex-automata`.
//!
//! The overall match is leftmost-longest as PostgreSQL's (or shortest where the first quantifier is
//! non-greedy): the start comes from the engine's leftmost-first search, the end from an anchored DFA that
//! follows all alternatives. Captures inside come from a leftmost-first match of exactly that span,
//! which differs from PostgreSQL only where a group may share out its part in several ways.
//! Back references and lookaround are not there. Counterpart: regcomp.c, regexec.c.

use pgerror::{PgError, Result, pg_err};
use regex_automata::hybrid::dfa::DFA;
use regex_automata::meta::Regex;
use regex_automata::util::syntax;
use regex_automata::{Anchored, Input, MatchKind};

/// Options of a regular expression (embedded or by flag characters).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Options {
    pub ignore_case: bool,
    /// `.` and negated classes stop at newlines.
    pub newline_stop: bool,
    /// `^` and `$` match at newlines.
    pub newline_anchor: bool,
    pub expanded: bool,
    /// The pattern is a plain string.
    pub quote: bool,
    pub global: bool,
}

/// A compiled pattern.
pub struct Pattern {
    regex: Regex,
    longest: Option<DFA>,
    exact: Regex,
    shortest: bool,
    /// Number of capturing groups.
    pub groups: usize,
}

/// Byte ranges of a match: the whole, then each group.
pub type Spans = Vec<Option<(usize, usize)>>;

fn fault(what: &str) -> PgError {
    pg_err!(INVALID_REGULAR_EXPRESSION, "invalid regular expression: {what}")
}

struct Translator<'a> {
    src: &'a [char],
    at: usize,
    out: String,
    options: Options,
    depth: usize,
    groups: usize,
    /// Greediness of the first quantifier.
    first_greedy: Option<bool>,
}

/// PostgreSQL's classes by name, as the inside of a bracket expression.
fn class(name: &str) -> Option<&'static str> {
    Some(match name {
        "alpha" => r"\p{Alphabetic}",
        "digit" => "0-9",
        "alnum" => r"\p{Alphabetic}0-9",
        "upper" => r"\p{Uppercase}",
        "lower" => r"\p{Lowercase}",
        "space" => r"\s",
        "blank" => r" \t",
        "punct" => r"[\p{P}\p{S}]",
        "print" => r"[^\p{Cc}\p{Cn}\p{Cs}]",
        "graph" => r"[^\s\p{Cc}\p{Cn}\p{Cs}]",
        "cntrl" => r"\p{Cc}",
        "xdigit" => "0-9A-Fa-f",
        "word" => r"\w",
        "ascii" => r"\x00-\x7F",
        _ => return None,
    })
}

fn push_literal(out: &mut String, c: char) {
    if c.is_ascii_punctuation() || c.is_ascii_whitespace() {
        out.push_str(&format!("\\x{{{:x}}}", c as u32));
    } else {
        out.push(c);
    }
}

impl Translator<'_> {
    fn peek(&self) -> Option<char> {
        self.src.get(self.at).copied()
    }

    fn eat(&mut self, text: &str) -> bool {
        let n = text.chars().count();
        let there = self.src.get(self.at..self.at + n);
        let yes = there.is_some_and(|s| s.iter().copied().eq(text.chars()));
        if yes {
            self.at += n;
        }
        yes
    }

    fn skip_space(&mut self) {
        while self.options.expanded {
            match self.peek() {
                Some(c) if c.is_whitespace() => self.at += 1,
                Some('#') => {
                    while self.peek().is_some_and(|c| c != '\n') {
                        self.at += 1;
                    }
                }
                _ => break,
            }
        }
    }

    /// Alternatives up to the end or a closing parenthesis.
    fn alternatives(&mut self) -> Result<()> {
        self.depth += 1;
        if self.depth > 200 {
            return Err(fault("regular expression is too complex"));
        }
        loop {
            self.branch()?;
            if self.peek() == Some('|') {
                self.at += 1;
                self.out.push('|');
                continue;
            }
            self.depth -= 1;
            return Ok(());
        }
    }

    fn branch(&mut self) -> Result<()> {
        loop {
            self.skip_space();
            match self.peek() {
                None | Some('|') => return Ok(()),
                Some(')') if self.depth > 1 => return Ok(()),
                Some(')') => return Err(fault("parentheses () not balanced")),
                Some(_) => {
                    let start = self.out.len();
                    let quantifiable = self.atom()?;
                    self.quantifier(start, quantifiable)?;
                }
            }
        }
    }

    /// One atom or constraint; may it bear a quantifier?
    fn atom(&mut self) -> Result<bool> {
        let c = self.src[self.at];
        self.at += 1;
        match c {
            '(' => {
                if self.eat("?:") {
                    self.out.push_str("(?:");
                } else if self.eat("?=") || self.eat("?!") || self.eat("?<") {
                    return Err(PgError::unsupported("lookaround in a regular expression"));
                } else if self.eat("?#") {
                    while self.peek().is_some_and(|c| c != ')') {
                        self.at += 1;
                    }
                    self.at += 1;
                    return Ok(false);
                } else if self.peek() == Some('?') {
                    return Err(fault("quantifier operand invalid"));
                } else {
                    self.groups += 1;
                    self.out.push('(');
                }
                self.alternatives()?;
                if self.peek() != Some(')') {
                    return Err(fault("parentheses () not balanced"));
                }
                self.at += 1;
                self.out.push(')');
                Ok(true)
            }
            '*' | '+' | '?' => Err(fault("quantifier operand invalid")),
            '{' if self.peek().is_some_and(|c| c.is_ascii_digit()) => {
                Err(fault("quantifier operand invalid"))
            }
            '.' => {
                self.out.push_str(if self.options.newline_stop { r"[^\n]" } else { "(?s:.)" });
                Ok(true)
            }
            '^' => {
                self.out.push_str(if self.options.newline_anchor { "(?m:^)" } else { r"\A" });
                Ok(false)
            }
            '$' => {
                self.out.push_str(if self.options.newline_anchor { "(?m:$)" } else { r"\z" });
                Ok(false)
            }
            '[' => {
                if self.eat("[:<:]]") {
                    self.out.push_str(r"\b{start}");
                    return Ok(false);
                }
                if self.eat("[:>:]]") {
                    self.out.push_str(r"\b{end}");
                    return Ok(false);
                }
                self.bracket()?;
                Ok(true)
            }
            '\\' => self.escape(),
            c => {
                push_literal(&mut self.out, c);
                Ok(true)
            }
        }
    }

    fn hex(&mut self, count: usize) -> Result<char> {
        let digits: String = self.src[self.at..].iter().take(count).collect();
        let good = digits.chars().take_while(char::is_ascii_hexdigit).count();
        if (count < 100 && good < count) || good == 0 {
            return Err(fault("invalid escape \\ sequence"));
        }
        self.at += good;
        let code = u32::from_str_radix(&digits[..good], 16).unwrap_or(u32::MAX);
        char::from_u32(code).ok_or_else(|| fault("invalid escape \\ sequence"))
    }

    /// A character-entry escape after the backslash; `None` where it is no such.
    fn character_escape(&mut self, c: char) -> Result<Option<char>> {
        Ok(Some(match c {
            'a' => '\u{7}',
            'b' => '\u{8}',
            'B' => '\\',
            'e' => '\u{1b}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'v' => '\u{b}',
            'c' => {
                let Some(x) = self.peek() else { return Err(fault("invalid escape \\ sequence")) };
                self.at += 1;
                char::from_u32(x as u32 & 31).unwrap_or('\0')
            }
            'u' => self.hex(4)?,
            'U' => self.hex(8)?,
            'x' => self.hex(255)?,
            '0' => {
                let rest: String = self.src[self.at..]
                    .iter()
                    .take(2)
                    .take_while(|c| ('0'..'8').contains(*c))
                    .collect();
                self.at += rest.len();
                char::from_u32(u32::from_str_radix(&format!("0{rest}"), 8).unwrap_or(0))
                    .unwrap_or('\0')
            }
            c if !c.is_alphanumeric() => c,
            _ => return Ok(None),
        }))
    }

    fn escape(&mut self) -> Result<bool> {
        let Some(c) = self.peek() else { return Err(fault("invalid escape \\ sequence")) };
        self.at += 1;
        let (text, atom) = match c {
            'd' => ("[0-9]", true),
            'D' if self.options.newline_stop => (r"[^0-9\n]", true),
            'D' => ("[^0-9]", true),
            's' => (r"\s", true),
            'S' => (r"\S", true),
            'w' => (r"\w", true),
            'W' if self.options.newline_stop => (r"[^\w\n]", true),
            'W' => (r"\W", true),
            'A' => (r"\A", false),
            'Z' => (r"\z", false),
            'm' => (r"\b{start}", false),
            'M' => (r"\b{end}", false),
            'y' => (r"\b", false),
            'Y' => (r"\B", false),
            '1'..='9' => {
                let n = c.to_digit(10).unwrap_or(0) as usize;
                if n > self.groups {
                    return Err(fault("invalid backreference number"));
                }
                return Err(PgError::unsupported("back reference in a regular expression"));
            }
            _ => match self.character_escape(c)? {
                Some(c) => {
                    push_literal(&mut self.out, c);
                    return Ok(true);
                }
                None => return Err(fault("invalid escape \\ sequence")),
            },
        };
        self.out.push_str(text);
        Ok(atom)
    }

    fn bracket(&mut self) -> Result<()> {
        self.out.push('[');
        if self.peek() == Some('^') {
            self.at += 1;
            self.out.push('^');
            if self.options.newline_stop {
                self.out.push_str(r"\n");
            }
        }
        let mut first = true;
        loop {
            let Some(c) = self.peek() else { return Err(fault("brackets [] not balanced")) };
            if c == ']' && !first {
                self.at += 1;
                self.out.push(']');
                return Ok(());
            }
            first = false;
            if self.eat("[:") {
                let name = self.until(":]")?;
                let inside = class(&name).ok_or_else(|| fault("invalid character class"))?;
                self.out.push_str(inside);
                continue;
            }
            let Some(low) = self.bracket_char()? else { continue };
            let range =
                self.peek() == Some('-') && self.src.get(self.at + 1).is_some_and(|c| *c != ']');
            push_literal(&mut self.out, low);
            if range {
                self.at += 1;
                let high = self.bracket_char()?.ok_or_else(|| fault("invalid character range"))?;
                if high < low {
                    return Err(fault("invalid character range"));
                }
                self.out.push('-');
                push_literal(&mut self.out, high);
            }
        }
    }

    fn until(&mut self, end: &str) -> Result<String> {
        let mut name = String::new();
        loop {
            if self.eat(end) {
                return Ok(name);
            }
            let Some(c) = self.peek() else { return Err(fault("brackets [] not balanced")) };
            name.push(c);
            self.at += 1;
        }
    }

    /// One character of a bracket expression; `None` where a class was written instead.
    fn bracket_char(&mut self) -> Result<Option<char>> {
        for (open, close) in [("[.", ".]"), ("[=", "=]")] {
            if self.eat(open) {
                let name = self.until(close)?;
                let mut chars = name.chars();
                return match (chars.next(), chars.next()) {
                    (Some(c), None) => Ok(Some(c)),
                    _ => Err(fault("invalid collating element")),
                };
            }
        }
        let Some(c) = self.peek() else { return Err(fault("brackets [] not balanced")) };
        self.at += 1;
        if c != '\\' {
            return Ok(Some(c));
        }
        let Some(c) = self.peek() else { return Err(fault("invalid escape \\ sequence")) };
        self.at += 1;
        let inside = match c {
            'd' => "0-9",
            's' => r"\s",
            'w' => r"\w",
            'D' => "[^0-9]",
            'S' => r"\S",
            'W' => r"\W",
            _ => {
                return match self.character_escape(c)? {
                    Some(c) => Ok(Some(c)),
                    None => Err(fault("invalid escape \\ sequence")),
                };
            }
        };
        self.out.push_str(inside);
        Ok(None)
    }

    fn number(&mut self) -> Result<Option<u32>> {
        let start = self.at;
        let mut n = 0u32;
        while let Some(d) = self.peek().and_then(|c| c.to_digit(10)) {
            n = n * 10 + d;
            if n > 255 {
                return Err(fault("invalid repetition count(s)"));
            }
            self.at += 1;
        }
        Ok((self.at > start).then_some(n))
    }

    fn quantifier(&mut self, start: usize, quantifiable: bool) -> Result<()> {
        self.skip_space();
        let text = match self.peek() {
            Some('*') => "*".to_string(),
            Some('+') => "+".to_string(),
            Some('?') => "?".to_string(),
            Some('{') if self.src.get(self.at + 1).is_some_and(char::is_ascii_digit) => {
                self.at += 1;
                let low = self.number()?.unwrap_or(0);
                let mut text = format!("{{{low}");
                if self.peek() == Some(',') {
                    self.at += 1;
                    text.push(',');
                    if let Some(high) = self.number()? {
                        if high < low {
                            return Err(fault("invalid repetition count(s)"));
                        }
                        text.push_str(&high.to_string());
                    }
                }
                if self.peek() != Some('}') {
                    return Err(fault(if self.peek().is_none() {
                        "braces {} not balanced"
                    } else {
                        "invalid repetition count(s)"
                    }));
                }
                text.push('}');
                text
            }
            _ => return Ok(()),
        };
        if !quantifiable {
            return Err(fault("quantifier operand invalid"));
        }
        self.at += 1;
        let lazy = self.peek() == Some('?');
        if lazy {
            self.at += 1;
        }
        // {m} alone has no preference.
        if text.contains(',') || !text.starts_with('{') || lazy {
            self.first_greedy.get_or_insert(!lazy);
        }
        self.out.insert_str(start, "(?:");
        self.out.push(')');
        self.out.push_str(&text);
        if lazy {
            self.out.push('?');
        }
        self.skip_space();
        if matches!(self.peek(), Some('*' | '+' | '?')) {
            return Err(fault("quantifier operand invalid"));
        }
        Ok(())
    }
}

/// Reads `***` directors and embedded options; what is left is the pattern proper.
fn prefix(src: &[char], options: &mut Options) -> Result<usize> {
    let begins = |text: &str, at: usize| {
        src[at.min(src.len())..].iter().copied().take(text.len()).eq(text.chars())
    };
    let mut at = 0;
    if begins("***=", 0) {
        options.quote = true;
        return Ok(4);
    }
    if begins("***:", 0) {
        at = 4;
    } else if begins("***", 0) {
        return Err(fault("quantifier operand invalid"));
    }
    if options.quote {
        return Ok(at);
    }
    let letters = src.get(at + 2..).unwrap_or_default();
    let count = letters.iter().take_while(|c| c.is_ascii_alphabetic()).count();
    if begins("(?", at) && count > 0 && letters.get(count) == Some(&')') {
        for &c in &letters[..count] {
            if !options.set(c) {
                return Err(fault("invalid embedded option"));
            }
        }
        at += count + 3;
    }
    Ok(at)
}

impl Options {
    /// Applies an option character other than `g`; false where it is none.
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
            'q' => self.quote = true,
            'e' | 'b' => {}
            _ => return false,
        }
        true
    }
}

/// Compiles a pattern; 2201B where it is none.
pub fn compile(pattern: &str, options: Options) -> Result<Pattern> {
    let src: Vec<char> = pattern.chars().collect();
    let mut options = options;
    let at = prefix(&src, &mut options)?;
    let mut t = Translator {
        src: &src,
        at,
        out: String::new(),
        options,
        depth: 0,
        groups: 0,
        first_greedy: None,
    };
    if options.quote {
        src[at..].iter().for_each(|&c| push_literal(&mut t.out, c));
    } else {
        t.alternatives()?;
    }
    let config = || syntax::Config::new().case_insensitive(options.ignore_case).utf8(true);
    let too_complex = |_| fault("regular expression is too complex");
    let build = |p: &str| {
        Regex::builder()
            .configure(Regex::config().nfa_size_limit(Some(64 << 20)))
            .syntax(config())
            .build(p)
            .map_err(|_| fault("regular expression is too complex"))
    };
    let regex = build(&t.out)?;
    // Alternation is where leftmost-first and leftmost-longest part; lazy quantifiers as well.
    let lazy = t.out.contains("*?")
        || t.out.contains("+?")
        || t.out.contains("??")
        || t.out.contains("}?");
    let longest = if t.out.contains('|') || lazy || t.out.contains('?') {
        let dfa = DFA::builder()
            .configure(
                DFA::config()
                    .match_kind(MatchKind::All)
                    .skip_cache_capacity_check(true)
                    .unicode_word_boundary(true),
            )
            .syntax(config())
            .build(&t.out);
        match dfa {
            Ok(dfa) => Some(dfa),
            Err(e) => {
                let _ = too_complex(e);
                None
            }
        }
    } else {
        None
    };
    let exact =
        if longest.is_some() { build(&format!("(?:{})\\z", t.out))? } else { regex.clone() };
    Ok(Pattern { regex, longest, exact, shortest: t.first_greedy == Some(false), groups: t.groups })
}

impl Pattern {
    pub fn is_match(&self, text: &str) -> bool {
        self.regex.is_match(text)
    }

    /// The leftmost match at or after byte `from`.
    pub fn find(&self, text: &str, from: usize) -> Option<Spans> {
        let input = Input::new(text).range(from..);
        let mut caps = self.regex.create_captures();
        self.regex.search_captures(&input, &mut caps);
        let m = caps.get_match()?;
        let end = self.preferred_end(text, m.start()).unwrap_or(m.end());
        if end != m.end() {
            // The same start with another end: match exactly that piece.
            let piece = Input::new(&text[..end]).range(m.start()..).anchored(Anchored::Yes);
            let mut again = self.exact.create_captures();
            self.exact.search_captures(&piece, &mut again);
            if again.is_match() {
                caps = again;
            }
        }
        let spans = (0..=self.groups).map(|i| caps.get_group(i).map(|s| (s.start, s.end)));
        Some(spans.collect())
    }

    /// The longest (or shortest) end of a match that begins at `start`.
    fn preferred_end(&self, text: &str, start: usize) -> Option<usize> {
        let dfa = self.longest.as_ref()?;
        let mut cache = dfa.create_cache();
        let input = Input::new(text).range(start..).anchored(Anchored::Yes).earliest(self.shortest);
        dfa.try_search_fwd(&mut cache, &input).ok().flatten().map(|m| m.offset())
    }
}
