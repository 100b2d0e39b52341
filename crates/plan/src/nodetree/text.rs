//! Tokenizer and parser of the text form: a tree of nodes, lists and tokens. Counterpart:
//! nodes/read.c.

use pgerror::{PgError, Result};
use stdx::Nested;

/// A value of the text form.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Tree {
    /// `<>`
    Nothing,
    /// A token without its escapes.
    Word(String),
    /// A `"string"` in a list.
    Text(String),
    List(Vec<Tree>),
    /// `(i …)`, `(o …)` or `(b …)`.
    Numbers(Vec<i64>),
    Node(Nested<NodeTree>),
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct NodeTree {
    pub label: String,
    /// Name and values of each field. A datum has several values: its length and its bytes.
    pub fields: Vec<(String, Vec<Tree>)>,
}

#[cold]
pub(super) fn malformed(what: impl std::fmt::Display) -> PgError {
    PgError::internal(format!("malformed node tree: {what}"))
}

/// Deepest nesting that is accepted.
const MAX_DEPTH: u32 = 60_000;

struct Reader<'t> {
    text: &'t str,
    at: usize,
    depth: u32,
}

impl<'t> Reader<'t> {
    /// The next token with its escapes, not consumed.
    fn peek(&mut self) -> Option<&'t str> {
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
        Ok(token)
    }

    fn value(&mut self) -> Result<Tree> {
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

    fn node(&mut self) -> Result<Tree> {
        let label = self.next()?.to_string();
        let mut fields = Vec::new();
        loop {
            let token = self.next()?;
            if token == "}" {
                break;
            }
            let name = token.strip_prefix(':').ok_or_else(|| malformed("a field has no name"))?;
            let mut values = vec![self.value()?];
            // A datum is its length, followed by its bytes in brackets.
            while let Some(next) = self.peek() {
                if next == "}" || next.starts_with(':') {
                    break;
                }
                values.push(self.value()?);
            }
            fields.push((name.to_string(), values));
        }
        Ok(Tree::Node(Nested::new(NodeTree { label, fields })))
    }

    fn list(&mut self) -> Result<Tree> {
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

fn unescape(word: &str) -> String {
    if !word.contains('\\') {
        // An empty string is written as a pair of quotes.
        return if word == "\"\"" { String::new() } else { word.to_string() };
    }
    let mut out = String::with_capacity(word.len());
    let mut chars = word.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => out.extend(chars.next()),
            c => out.push(c),
        }
    }
    out
}

pub(super) fn parse(text: &str) -> Result<Tree> {
    let mut reader = Reader { text, at: 0, depth: 0 };
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
