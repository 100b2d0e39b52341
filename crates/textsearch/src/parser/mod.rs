//! The default parser: splits a text into tokens of 23 types. Counterpart: wparser_def.c.
//!
//! The parser is an automaton with a stack (`states` has its table). Where a text can go on in
//! several ways, it pushes its position and follows one of them. If that fails, it pops the
//! position and tries the next rule there.

mod states;

use crate::ctype::Ctype;
use states::{Action, Rule, State, Test};

/// A type of tokens, by its number in `ts_token_type`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TokenType {
    AsciiWord = 1,
    Word = 2,
    NumWord = 3,
    Email = 4,
    Url = 5,
    Host = 6,
    Scientific = 7,
    Version = 8,
    NumPart = 9,
    Part = 10,
    AsciiPart = 11,
    Blank = 12,
    Tag = 13,
    Protocol = 14,
    NumHyphenated = 15,
    AsciiHyphenated = 16,
    Hyphenated = 17,
    UrlPath = 18,
    File = 19,
    Float = 20,
    Int = 21,
    UInt = 22,
    Entity = 23,
}

/// A token of a text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Token<'a> {
    pub kind: TokenType,
    pub text: &'a [u8],
}

/// A position that the parser has reached or can return to.
#[derive(Clone, Copy)]
struct Position {
    at: usize,
    /// Length of the present character in bytes; 0 at the end.
    char_len: usize,
    /// Length of the token so far.
    bytes: usize,
    chars: usize,
    state: State,
    /// The rule that pushed another position on this one.
    pushed_by: Option<usize>,
}

/// Something that a rule does besides its action.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Effect {
    None,
    /// Text between tags of scripts and styles is ignored from here, or no longer.
    Tag,
    /// The URL is followed by its parts.
    Url,
    /// The hyphenated word is followed by its parts.
    Hyphen,
    /// The number was part of a version.
    Version,
}

/// Splits a text into tokens, which together are the whole text, except that the parts of URLs and
/// hyphenated words follow these.
pub struct Parser<'a> {
    text: &'a [u8],
    ctype: Ctype,
    top: Position,
    below: Vec<Position>,
    ignored: bool,
    want_host: bool,
}

impl<'a> Parser<'a> {
    /// A parser at the beginning of the text.
    pub fn new(text: &'a [u8], ctype: Ctype) -> Parser<'a> {
        let state = State::Base;
        let top = Position { at: 0, char_len: 0, bytes: 0, chars: 0, state, pushed_by: None };
        Parser { text, ctype, top, below: Vec::new(), ignored: false, want_host: false }
    }

    fn char(&self) -> u32 {
        match self.top.at < self.text.len() {
            true => self.ctype.char_at(self.text, self.top.at).0,
            false => 0,
        }
    }

    fn at_end(&self) -> bool {
        self.top.at >= self.text.len()
    }

    fn is_byte(&self, c: u8) -> bool {
        self.top.char_len == 1 && self.text[self.top.at] == c
    }

    fn is_ascii_letter(&self) -> bool {
        self.top.char_len == 1 && self.text[self.top.at].is_ascii_alphabetic()
    }

    fn is_alnum(&self) -> bool {
        let c = self.char();
        u8::try_from(c).is_ok_and(|b| b.is_ascii_digit()) || self.ctype.is_word_alpha(c)
    }

    fn test(&mut self, test: Test) -> bool {
        match test {
            Test::Byte(c) => self.is_byte(c),
            Test::AsciiLetter => self.is_ascii_letter(),
            Test::Alpha => !self.at_end() && self.ctype.is_word_alpha(self.char()),
            Test::Digit => self.top.char_len == 1 && self.text[self.top.at].is_ascii_digit(),
            Test::HexDigit => self.top.char_len == 1 && self.text[self.top.at].is_ascii_hexdigit(),
            Test::Alnum => self.is_alnum(),
            Test::NotAlnum => !self.is_alnum(),
            Test::Mark => self.ctype.is_mark(self.char()),
            Test::Space => self.ctype.is_space(self.char()),
            Test::UrlChar => self.top.char_len == 1 && is_url_char(self.text[self.top.at]),
            Test::Ignored => self.ignored,
            Test::StopHost => std::mem::take(&mut self.want_host),
            Test::HostHere => self.part(State::Base, TokenType::Host),
            Test::UrlPathHere => self.part(State::UrlPathFirst, TokenType::UrlPath),
        }
    }

    /// Whether the text from here begins with a token of the given type; moves to its end.
    fn part(&mut self, from: State, kind: TokenType) -> bool {
        let mut inner = Parser::new(&self.text[self.top.at..], self.ctype);
        inner.want_host = from == State::Base;
        inner.top.state = from;
        if from != State::Base {
            inner.below.push(Position { state: State::Base, ..inner.top });
        }
        let Some((found, bytes, chars)) = stdx::stack::deep(|| inner.advance()) else {
            return false;
        };
        if found != kind {
            return false;
        }
        self.top.at += bytes;
        self.top.bytes += bytes;
        self.top.chars += chars;
        self.top.char_len = inner.top.char_len;
        true
    }

    fn effect(&mut self, effect: Effect, start: usize) {
        match effect {
            Effect::None => {}
            Effect::Tag => {
                let is = |tag: &[u8]| {
                    let found = self.text.get(start..start + tag.len());
                    found.is_some_and(|found| found.eq_ignore_ascii_case(tag))
                };
                match self.top.chars {
                    8 if is(b"</script") => self.ignored = false,
                    7 if is(b"</style") => self.ignored = false,
                    7 if is(b"<script") => self.ignored = true,
                    6 if is(b"<style") => self.ignored = true,
                    _ => {}
                }
            }
            Effect::Url | Effect::Hyphen => {
                self.want_host |= effect == Effect::Url;
                self.top.at -= self.top.bytes;
            }
            Effect::Version => {
                self.top.at -= self.top.bytes;
                (self.top.bytes, self.top.chars) = (0, 0);
            }
        }
    }

    /// The rule that applies here, with its number in its state.
    fn rule(&mut self) -> (usize, &'static Rule) {
        let entry = states::of(self.top.state);
        let first = match self.top.pushed_by.take() {
            // After a pop the next rule is tried.
            Some(rule) => rule + 1,
            None => match &entry.end {
                Some(rule) if self.at_end() => return (usize::MAX, rule),
                _ => 0,
            },
        };
        for (i, rule) in entry.rules.iter().enumerate().skip(first) {
            if self.test(rule.test) {
                return (i, rule);
            }
        }
        (usize::MAX, &entry.otherwise)
    }

    /// Changes the stack as the action says.
    fn act(&mut self, action: Action, rule: usize) {
        match action {
            Action::Next | Action::Rerun | Action::Found(_) => {}
            Action::Pop => {
                if let Some(position) = self.below.pop() {
                    self.top = position;
                }
            }
            Action::Push => {
                self.below.push(Position { pushed_by: Some(rule), ..self.top });
                self.top.pushed_by = None;
            }
            Action::Clear | Action::FoundClear(_) => {
                self.below.pop();
            }
            Action::FoundClearAll(_) => self.below.clear(),
            Action::Merge => {
                if let Some(position) = self.below.pop() {
                    self.top = Position {
                        state: position.state,
                        pushed_by: position.pushed_by,
                        ..self.top
                    };
                }
            }
        }
    }

    /// Moves over the next token: its type, and its length in bytes and characters.
    fn advance(&mut self) -> Option<(TokenType, usize, usize)> {
        if self.at_end() {
            return None;
        }
        let start = self.top.at;
        self.top.pushed_by = None;
        while self.top.at <= self.text.len() {
            self.top.char_len = match self.at_end() {
                true => 0,
                false => self.ctype.len_at(self.text, self.top.at),
            };
            let (number, rule) = self.rule();
            self.effect(rule.effect, start);
            let found = match rule.action {
                Action::Found(kind) | Action::FoundClear(kind) | Action::FoundClearAll(kind) => {
                    let found = (kind, self.top.bytes, self.top.chars);
                    (self.top.bytes, self.top.chars) = (0, 0);
                    Some(found)
                }
                _ => None,
            };
            self.act(rule.action, number);
            if let Some(state) = rule.to {
                self.top.state = state;
            }
            if found.is_some() || self.at_end() && rule.action != Action::Rerun {
                return found;
            }
            if !matches!(rule.action, Action::Rerun | Action::Pop) && self.top.char_len > 0 {
                self.top.at += self.top.char_len;
                self.top.bytes += self.top.char_len;
                self.top.chars += 1;
            }
        }
        None
    }

    /// The next token.
    pub fn next_token(&mut self) -> Option<Token<'a>> {
        let start = self.top.at;
        let (kind, bytes, _) = self.advance()?;
        Some(Token { kind, text: self.text.get(start..start + bytes)? })
    }
}

/// Characters of URLs. Source: RFC 3986.
fn is_url_char(c: u8) -> bool {
    c.is_ascii_graphic()
        && !matches!(c, b'"' | b'<' | b'>' | b'\\' | b'^' | b'`' | b'{' | b'|' | b'}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(text: &str) -> Vec<(u8, String)> {
        let mut parser = Parser::new(text.as_bytes(), Ctype::Unicode);
        let each = std::iter::from_fn(|| parser.next_token());
        each.map(|t| (t.kind as u8, String::from_utf8_lossy(t.text).into_owned())).collect()
    }

    fn check(text: &str, expected: &[(u8, &str)]) {
        let found = tokens(text);
        let found: Vec<_> = found.iter().map(|(kind, text)| (*kind, text.as_str())).collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn tokens_are_those_of_postgresql() {
        check("foo bär 12", &[(1, "foo"), (12, " "), (2, "bär"), (12, " "), (22, "12")]);
        check("http://a.com/x?y", &[(14, "http://"), (5, "a.com/x?y"), (6, "a.com"), (18, "/x?y")]);
        check("me@a.com", &[(4, "me@a.com")]);
        check(
            "up-to-date",
            &[(16, "up-to-date"), (11, "up"), (12, "-"), (11, "to"), (12, "-"), (11, "date")],
        );
        check("<b>&amp;</b>", &[(13, "<b>"), (23, "&amp;"), (13, "</b>")]);
        check("-1.5e3 1.2.3", &[(7, "-1.5e3"), (12, " "), (8, "1.2.3")]);
        check("/usr/lib a/b.c", &[(19, "/usr/lib"), (12, " "), (19, "a/b.c")]);
    }
}
