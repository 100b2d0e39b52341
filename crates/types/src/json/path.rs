//! The output function of jsonpath, so that values written by PostgreSQL can be read and dumped.
//! Counterpart: jsonpath.c (`printJsonPathItem`).
//!
//! The payload is a header, whose highest bit is set in lax mode, and items. An item is a byte for
//! its kind, the offset of the next item in its path (0 for none), aligned to four bytes, and the
//! arguments of the kind. Offsets are relative to the item.

use super::io::put_short;
use numeric::num::Num;
use pgerror::{PgError, Result, pg_err};
use values::datum::Datum;
use values::limits::TextBuffer;

const LAX: u32 = 1 << 31;

mod kind {
    pub const NULL: u8 = 0;
    pub const STRING: u8 = 1;
    pub const NUMERIC: u8 = 2;
    pub const BOOL: u8 = 3;
    pub const AND: u8 = 4;
    pub const OR: u8 = 5;
    pub const NOT: u8 = 6;
    pub const IS_UNKNOWN: u8 = 7;
    pub const EQUAL: u8 = 8;
    pub const GREATER_OR_EQUAL: u8 = 13;
    pub const ADD: u8 = 14;
    pub const SUB: u8 = 15;
    pub const MUL: u8 = 16;
    pub const MOD: u8 = 18;
    pub const PLUS: u8 = 19;
    pub const MINUS: u8 = 20;
    pub const ANY_ARRAY: u8 = 21;
    pub const ANY_KEY: u8 = 22;
    pub const INDEX_ARRAY: u8 = 23;
    pub const ANY: u8 = 24;
    pub const KEY: u8 = 25;
    pub const CURRENT: u8 = 26;
    pub const ROOT: u8 = 27;
    pub const VARIABLE: u8 = 28;
    pub const FILTER: u8 = 29;
    pub const EXISTS: u8 = 30;
    pub const TYPE: u8 = 31;
    pub const DATETIME: u8 = 37;
    pub const KEY_VALUE: u8 = 38;
    pub const LAST: u8 = 40;
    pub const STARTS_WITH: u8 = 41;
    pub const LIKE_REGEX: u8 = 42;
}

/// Symbols of the binary operators from AND on, and names of the methods from TYPE on.
const SIGNS: [&str; 15] =
    ["&&", "||", "", "", "==", "!=", "<", ">", "<=", ">=", "+", "-", "*", "/", "%"];
const METHODS: [&str; 6] = ["type", "size", "abs", "floor", "ceiling", "double"];

fn damaged() -> PgError {
    pg_err!(DATA_CORRUPTED, "stored jsonpath is corrupted")
}

/// Operator precedence.
fn rank(kind: u8) -> u8 {
    match kind {
        kind::OR => 0,
        kind::AND => 1,
        kind::EQUAL..=kind::GREATER_OR_EQUAL | kind::STARTS_WITH => 2,
        kind::ADD | kind::SUB => 3,
        kind::MUL..=kind::MOD => 4,
        kind::PLUS | kind::MINUS => 5,
        _ => 6,
    }
}

struct Printer<'a> {
    items: &'a [u8],
    out: TextBuffer,
    /// Number of items that may still be printed: corrupt items could form a cycle.
    budget: usize,
    depth: u32,
}

#[derive(Clone, Copy)]
struct Item {
    at: usize,
    kind: u8,
    /// Offset of its arguments.
    words: usize,
}

impl Printer<'_> {
    fn word(&self, at: usize) -> Result<u32> {
        let bytes = self.items.get(at..).and_then(|b| b.first_chunk()).ok_or_else(damaged)?;
        Ok(u32::from_le_bytes(*bytes))
    }

    fn item(&self, at: usize) -> Result<Item> {
        let kind = *self.items.get(at).ok_or_else(damaged)?;
        Ok(Item { at, kind, words: (at + 1).next_multiple_of(4) + 4 })
    }

    /// The item whose offset is in word `n` of `item`; `None` for 0.
    fn part(&self, item: Item, n: usize) -> Result<Option<Item>> {
        match self.word(item.words + 4 * n)? {
            0 => Ok(None),
            offset => Ok(Some(self.item(item.at.wrapping_add(offset as usize))?)),
        }
    }

    fn next(&self, item: Item) -> Result<Option<Item>> {
        match self.word(item.words - 4)? {
            0 => Ok(None),
            offset => Ok(Some(self.item(item.at.wrapping_add(offset as usize))?)),
        }
    }

    /// The bytes after word `n`, which contains their number.
    fn text(&self, item: Item, n: usize) -> Result<Vec<u8>> {
        let (length, at) = (self.word(item.words + 4 * n)? as usize, item.words + 4 * n + 4);
        let end = at.checked_add(length).ok_or_else(damaged)?;
        Ok(self.items.get(at..end).ok_or_else(damaged)?.to_vec())
    }

    fn put(&mut self, text: &str) {
        self.out.extend_from_slice(text.as_bytes());
    }

    /// Prints an operand, in parentheses if its precedence is not higher than `above`.
    fn operand(&mut self, item: Item, n: usize, above: u8) -> Result<()> {
        let part = self.part(item, n)?.ok_or_else(damaged)?;
        self.path(part, false, rank(part.kind) <= above)
    }

    fn inner(&mut self, item: Item, before: &str, after: &str) -> Result<()> {
        self.put(before);
        let part = self.part(item, 0)?.ok_or_else(damaged)?;
        self.path(part, false, false)?;
        self.put(after);
        Ok(())
    }

    /// Prints an item and those that follow it in its path.
    fn path(&mut self, first: Item, in_path: bool, parentheses: bool) -> Result<()> {
        self.depth += 1;
        if self.depth > 1000 {
            return Err(damaged());
        }
        let mut item = first;
        let (mut in_path, mut parentheses) = (in_path, parentheses);
        loop {
            self.budget = self.budget.checked_sub(1).ok_or_else(damaged)?;
            let next = self.next(item)?;
            self.one(item, in_path, parentheses, next.is_some())?;
            let Some(next) = next else { break };
            (item, in_path, parentheses) = (next, true, true);
        }
        self.depth -= 1;
        Ok(())
    }

    fn one(&mut self, item: Item, in_path: bool, parentheses: bool, followed: bool) -> Result<()> {
        let (open, close) = if parentheses { ("(", ")") } else { ("", "") };
        let dot = if in_path { "." } else { "" };
        match item.kind {
            kind::NULL => self.put("null"),
            kind::STRING => {
                let text = self.text(item, 0)?;
                put_short(&mut self.out, &text);
            }
            kind::KEY => {
                self.put(dot);
                let text = self.text(item, 0)?;
                put_short(&mut self.out, &text);
            }
            kind::VARIABLE => {
                self.put("$");
                let text = self.text(item, 0)?;
                put_short(&mut self.out, &text);
            }
            kind::NUMERIC => {
                let size = (self.word(item.words)? >> 2) as usize;
                let end = item.words.checked_add(size).ok_or_else(damaged)?;
                let payload = self.items.get(item.words + 4..end).filter(|p| p.len() >= 2);
                let text = Num::from_payload(payload.ok_or_else(damaged)?).to_string();
                self.put(&if followed { format!("({text})") } else { text });
            }
            kind::BOOL => {
                let on = *self.items.get(item.words).ok_or_else(damaged)? != 0;
                self.put(if on { "true" } else { "false" });
            }
            kind::NOT => self.inner(item, "!(", ")")?,
            kind::IS_UNKNOWN => self.inner(item, "(", ") is unknown")?,
            kind::EXISTS => self.inner(item, "exists (", ")")?,
            kind::FILTER => self.inner(item, "?(", ")")?,
            k @ (kind::AND..=kind::MOD | kind::STARTS_WITH) => {
                let sign = match k {
                    kind::STARTS_WITH => "starts with",
                    k => SIGNS[usize::from(k - kind::AND)],
                };
                self.put(open);
                self.operand(item, 0, rank(k))?;
                self.put(&format!(" {sign} "));
                self.operand(item, 1, rank(k))?;
                self.put(close);
            }
            k @ (kind::PLUS | kind::MINUS) => {
                self.put(open);
                self.put(if k == kind::PLUS { "+" } else { "-" });
                self.operand(item, 0, rank(k))?;
                self.put(close);
            }
            kind::LIKE_REGEX => {
                self.put(open);
                self.like_regex(item)?;
                self.put(close);
            }
            kind::CURRENT => self.put("@"),
            kind::ROOT => self.put("$"),
            kind::LAST => self.put("last"),
            kind::ANY_ARRAY => self.put("[*]"),
            kind::ANY_KEY => self.put(&format!("{dot}*")),
            kind::INDEX_ARRAY => self.subscripts(item)?,
            kind::ANY => {
                let (first, last) = (self.word(item.words)?, self.word(item.words + 4)?);
                let shown = |n: u32| if n == u32::MAX { "last".to_owned() } else { n.to_string() };
                self.put(&match (first, last) {
                    (0, u32::MAX) => format!("{dot}**"),
                    (a, b) if a == b => format!("{dot}**{{{}}}", shown(a)),
                    (a, b) => format!("{dot}**{{{} to {}}}", shown(a), shown(b)),
                });
            }
            kind::DATETIME => {
                self.put(".datetime(");
                if let Some(format) = self.part(item, 0)? {
                    self.path(format, false, false)?;
                }
                self.put(")");
            }
            kind::KEY_VALUE => self.put(".keyvalue()"),
            k => {
                let method = k.checked_sub(kind::TYPE).and_then(|n| METHODS.get(usize::from(n)));
                self.put(&format!(".{}()", method.ok_or_else(damaged)?));
            }
        }
        Ok(())
    }

    fn like_regex(&mut self, item: Item) -> Result<()> {
        let flags = self.word(item.words)?;
        self.operand(item, 1, rank(item.kind))?;
        self.put(" like_regex ");
        let pattern = self.text(item, 2)?;
        put_short(&mut self.out, &pattern);
        if flags != 0 {
            let letters = "ismxq".chars().enumerate();
            let set = letters.filter(|(i, _)| flags & (1 << i) != 0).map(|(_, c)| c);
            self.put(&format!(" flag \"{}\"", set.collect::<String>()));
        }
        Ok(())
    }

    fn subscripts(&mut self, item: Item) -> Result<()> {
        self.put("[");
        for i in 0..self.word(item.words)? as usize {
            if i > 0 {
                self.put(",");
            }
            let from = self.part(item, 1 + 2 * i)?.ok_or_else(damaged)?;
            self.path(from, false, false)?;
            if let Some(to) = self.part(item, 2 + 2 * i)? {
                self.put(" to ");
                self.path(to, false, false)?;
            }
        }
        self.put("]");
        Ok(())
    }
}

fn path_out(payload: &[u8]) -> Result<Datum> {
    let (header, items) = payload.split_first_chunk().ok_or_else(damaged)?;
    let header = u32::from_le_bytes(*header);
    let mut p = Printer { items, out: TextBuffer::new(), budget: items.len(), depth: 0 };
    if header & LAX == 0 {
        p.put("strict ");
    }
    let first = p.item(0)?;
    p.path(first, false, true)?;
    p.out.into_datum()
}

scalars! { FNS;
    "jsonpath_out" => |_, a| path_out(a[0].as_bytes()),
}

#[cfg(test)]
mod tests {
    use super::path_out;

    #[test]
    fn corrupt_paths_are_errors() {
        // An item that refers to itself, an operator without operands, a truncated item.
        for items in [&[27, 0, 0, 0, 0xfc, 0xff, 0xff, 0xff][..], &[8, 0, 0, 0, 0, 0, 0, 0], &[25]]
        {
            assert!(path_out(&[&[1, 0, 0, 0x80][..], items].concat()).is_err());
        }
        assert!(path_out(&[1]).is_err());
    }
}
