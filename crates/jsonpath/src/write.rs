//! Conversion of a parsed path to the stored form. Counterpart: jsonpath.c
//! (`flattenJsonPathParseItem`).

use crate::format::{Kind, LAX, VERSION};
use crate::tree::{Args, Chain, Node};
use pgerror::{Result, pg_err};
use stdx::stack::deep;
use values::fn_context::InterruptChecker;
use values::memory;

/// What an item is in.
#[derive(Clone, Copy)]
struct Place {
    /// `@` is allowed.
    in_filter: bool,
    /// `last` is allowed.
    in_subscript: bool,
}

struct Writer<'a> {
    out: Vec<u8>,
    interrupts: &'a InterruptChecker<'a>,
}

/// The payload of a path. 42601 for `@` outside of filters and `last` outside of subscripts.
pub(crate) fn payload(
    chain: &Chain,
    lax: bool,
    interrupts: &InterruptChecker<'_>,
) -> Result<Vec<u8>> {
    let mut writer = Writer { out: Vec::new(), interrupts };
    let header = VERSION | if lax { LAX } else { 0 };
    writer.out.extend_from_slice(&header.to_le_bytes());
    writer.chain(chain, Place { in_filter: false, in_subscript: false })?;
    Ok(writer.out)
}

impl Writer<'_> {
    /// Appends a word; returns its offset.
    fn word(&mut self, word: u32) -> usize {
        let at = self.out.len();
        self.out.extend_from_slice(&word.to_le_bytes());
        at
    }

    /// Sets a word to the distance of two offsets.
    fn refer(&mut self, word_at: usize, from: usize, to: usize) {
        self.out[word_at..word_at + 4].copy_from_slice(&((to - from) as u32).to_le_bytes());
    }

    /// Appends a text with its length and a zero byte.
    fn text(&mut self, text: &[u8]) -> Result<()> {
        self.word(text.len() as u32);
        memory::append(&mut self.out, text)?;
        self.out.push(0);
        Ok(())
    }

    /// Appends the items of a chain; returns the offset of the first.
    fn chain(&mut self, chain: &Chain, place: Place) -> Result<usize> {
        let first = self.out.len();
        let mut before: Option<(usize, usize)> = None;
        for node in chain {
            self.interrupts.tick()?;
            let at = self.out.len();
            if let Some((item, next_word)) = before {
                self.refer(next_word, item, at);
            }
            self.out.push(node.kind as u8);
            self.out.resize(self.out.len().next_multiple_of(4), 0);
            let next_word = self.word(0);
            self.arguments(node, at, place)?;
            before = Some((at, next_word));
        }
        Ok(first)
    }

    /// Appends an operand, and enters its offset from the item at `item` into a word.
    fn operand(&mut self, word: usize, item: usize, chain: &Chain, place: Place) -> Result<()> {
        let at = deep(|| self.chain(chain, place))?;
        self.refer(word, item, at);
        Ok(())
    }

    fn arguments(&mut self, node: &Node, at: usize, place: Place) -> Result<()> {
        match &node.args {
            Args::None if node.kind == Kind::Current && !place.in_filter => {
                return Err(pg_err!(SYNTAX_ERROR, "@ is not allowed in root expressions"));
            }
            Args::None if node.kind == Kind::Last && !place.in_subscript => {
                return Err(pg_err!(SYNTAX_ERROR, "LAST is allowed only in array subscripts"));
            }
            Args::None => {}
            Args::Text(text) => self.text(text)?,
            Args::Number(payload) => {
                self.word((payload.len() as u32 + 4) << 2);
                memory::append(&mut self.out, payload)?;
            }
            Args::Bool(b) => self.out.push(u8::from(*b)),
            Args::One(operand) => {
                let word = self.word(0);
                let in_filter = place.in_filter || node.kind == Kind::Filter;
                if let Some(operand) = operand {
                    self.operand(word, at, operand, Place { in_filter, ..place })?;
                }
            }
            Args::Two(left, right) => {
                let words = [self.word(0), self.word(0)];
                self.operand(words[0], at, left, place)?;
                self.operand(words[1], at, right, place)?;
            }
            Args::Subscripts(list) => {
                self.word(list.len() as u32);
                let words = self.out.len();
                memory::reserve(&mut self.out, 8 * list.len())?;
                self.out.resize(words + 8 * list.len(), 0);
                let place = Place { in_subscript: true, ..place };
                for (i, (from, to)) in list.iter().enumerate() {
                    self.operand(words + 8 * i, at, from, place)?;
                    if let Some(to) = to {
                        self.operand(words + 8 * i + 4, at, to, place)?;
                    }
                }
            }
            Args::Levels(first, last) => {
                self.word(*first);
                self.word(*last);
            }
            Args::Pattern { operand, pattern, flags } => {
                self.word(flags.0);
                let word = self.word(0);
                self.text(pattern)?;
                self.operand(word, at, operand, place)?;
            }
        }
        Ok(())
    }
}
