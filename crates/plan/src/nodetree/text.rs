//! Tokenizer and parser of the text form: a tree of nodes, lists and tokens. Counterpart:
//! nodes/read.c.

use pgerror::{PgError, Result};
use smallvec::{SmallVec, smallvec};
use std::borrow::Cow;
use stdx::Nested;

/// A value of the text form.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Tree<'t> {
    /// `<>`
    Nothing,
    /// A token without its escapes.
    Word(Cow<'t, str>),
    /// A `"string"` in a list.
    Text(Cow<'t, str>),
    List(Vec<Tree<'t>>),
    /// `(i …)`, `(o …)` or `(b …)`.
    Numbers(Vec<i64>),
    Node(Nested<NodeTree<'t>>),
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct NodeTree<'t> {
    pub label: &'t str,
    /// Name and values of each field. A datum has several values: its length and its bytes.
    pub fields: Vec<(&'t str, SmallVec<[Tree<'t>; 1]>)>,
}

#[cold]
pub(super) fn malformed(what: impl std::fmt::Display) -> PgError {
    PgError::internal(format!("malformed node tree: {what}"))
}

/// Deepest nesting that is accepted.
const MAX_DEPTH: u32 = 60_000;

/// Most nodes have at most as many fields.
const FIELDS: usize = 8;

struct Reader<'t> {
    text: &'t str,
    at: usize,
    /// The token at `at`, if it was looked at before.
    peeked: Option<&'t str>,
    depth: u32,
}

impl<'t> Reader<'t> {
    /// The next token with its escapes, not consumed.
    fn peek(&mut self) -> Option<&'t str> {
        if self.peeked.is_none() {
            self.peeked = self.scan();
        }
        self.peeked
    }

    /// Moves to the start of the next token, which is returned.
    fn scan(&mut self) -> Option<&'t str> {
        let bytes = self.text.as_bytes();
        while bytes.get(self.at).is_some_and(|b| b.is_ascii_whitespace()) {
            self.at += 1;
        }
        let start = self.at;
        let first = *bytes.get(start)?;
        if matches!(first, b'(' | b')' | b'{' | b'}') {
            return Some(&self.text[start..start + 1]);
        }
        let mut end = start;
        while let Some(&b) = bytes.get(end) {
            match b {
                b'\\' => end += 2,
                b'(' | b')' | b'{' | b'}' | b' ' | b'\n' | b'\t' => break,
                _ => end += 1,
            }
        }
        self.text.get(start..end.min(bytes.len()))
    }

    fn next(&mut self) -> Result<&'t str> {
        let token = self.peek().ok_or_else(|| malformed("it ends early"))?;
        self.at += token.len();
        self.peeked = None;
        Ok(token)
    }

    fn value(&mut self) -> Result<Tree<'t>> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(malformed("it is nested too deeply"));
        }
        let token = self.next()?;
        let value = match token {
            "<>" => Tree::Nothing,
            "{" => stdx::stack::deep(|| self.node())?,
            "(" => self.list()?,
            ")" | "}" => return Err(malformed("unexpected closing bracket")),
            word if word.len() >= 2 && word.starts_with('"') && word.ends_with('"') => {
                Tree::Text(unescape(&word[1..word.len() - 1]))
            }
            word => Tree::Word(unescape(word)),
        };
        self.depth -= 1;
        Ok(value)
    }

    fn node(&mut self) -> Result<Tree<'t>> {
        let label = self.next()?;
        let mut fields = Vec::with_capacity(FIELDS);
        loop {
            let token = self.next()?;
            if token == "}" {
                break;
            }
            let name = token.strip_prefix(':').ok_or_else(|| malformed("a field has no name"))?;
            let mut values = smallvec![self.value()?];
            // A datum is its length, followed by its bytes in brackets.
            while let Some(next) = self.peek() {
                if next == "}" || next.starts_with(':') {
                    break;
                }
                values.push(self.value()?);
            }
            fields.push((name, values));
        }
        Ok(Tree::Node(Nested::new(NodeTree { label, fields })))
    }

    fn list(&mut self) -> Result<Tree<'t>> {
        let kind = self.peek().unwrap_or(")");
        if matches!(kind, "i" | "o" | "b") {
            self.next()?;
            let mut numbers = Vec::new();
            loop {
                let token = self.next()?;
                if token == ")" {
                    return Ok(Tree::Numbers(numbers));
                }
                numbers.push(token.parse().map_err(|_| malformed("invalid number in a list"))?);
            }
        }
        let mut items = Vec::new();
        while self.peek() != Some(")") {
            items.push(self.value()?);
        }
        self.next()?;
        Ok(Tree::List(items))
    }
}

fn unescape(word: &str) -> Cow<'_, str> {
    if !word.contains('\\') {
        // An empty string is written as a pair of quotes.
        return Cow::Borrowed(if word == "\"\"" { "" } else { word });
    }
    let mut out = String::with_capacity(word.len());
    let mut chars = word.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => out.extend(chars.next()),
            c => out.push(c),
        }
    }
    Cow::Owned(out)
}

pub(super) fn parse(text: &str) -> Result<Tree<'_>> {
    let mut reader = Reader { text, at: 0, peeked: None, depth: 0 };
    let tree = reader.value()?;
    match reader.peek() {
        None => Ok(tree),
        Some(_) => Err(malformed("something follows it")),
    }
}

/// Appends `word` with the escapes that make it one token. Counterpart: `outToken`.
pub(super) fn escape(out: &mut String, word: &str) {
    if word.is_empty() {
        out.push_str("\"\"");
        return;
    }
    let b = word.as_bytes();
    let number_like = b[0].is_ascii_digit()
        || (matches!(b[0], b'+' | b'-')
            && b.get(1).is_some_and(|c| c.is_ascii_digit() || *c == b'.'));
    if matches!(b[0], b'<' | b'"') || number_like {
        out.push('\\');
    }
    for c in word.chars() {
        if matches!(c, ' ' | '\n' | '\t' | '(' | ')' | '{' | '}' | '\\') {
            out.push('\\');
        }
        out.push(c);
    }
}
