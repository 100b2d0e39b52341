//! Conditions of affix rules on the normal form. Counterpart: regis.c.

use super::Side;
use crate::ctype::Ctype;
use crate::dict::template::{Environment, Pattern};
use pgerror::Result;

/// A set of characters.
pub(super) struct Set {
    chars: Vec<u32>,
    negated: bool,
}

/// What the beginning or end of the normal form must be.
pub(super) enum Condition {
    Any,
    /// A sequence of sets on a side of the word.
    Sets(Vec<Set>, Side),
    Pattern(Box<dyn Pattern>),
}

fn chars(ctype: Ctype, text: &[u8]) -> Vec<u32> {
    let mut out = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let (c, len) = ctype.char_at(text, at);
        out.push(c);
        at += len;
    }
    out
}

/// The mask as sets, if it consists of letters and simple brackets.
fn sets(ctype: Ctype, mask: &[u8]) -> Option<Vec<Set>> {
    const OPEN: u32 = b'[' as u32;
    const CLOSE: u32 = b']' as u32;
    const CARET: u32 = b'^' as u32;
    let mut out = Vec::new();
    let mut rest = chars(ctype, mask).into_iter();
    while let Some(c) = rest.next() {
        if ctype.is_alpha(c) {
            out.push(Set { chars: vec![c], negated: false });
            continue;
        }
        if c != OPEN {
            return None;
        }
        let mut set = Set { chars: Vec::new(), negated: false };
        loop {
            match rest.next()? {
                CARET if set.chars.is_empty() && !set.negated => set.negated = true,
                CLOSE if set.negated || !set.chars.is_empty() => break,
                c if ctype.is_alpha(c) => set.chars.push(c),
                _ => return None,
            }
        }
        out.push(set);
    }
    Some(out)
}

impl Condition {
    /// Reads a mask.
    pub fn read(env: &mut dyn Environment, mask: &[u8], side: Side) -> Result<Condition> {
        if mask.is_empty() || mask == b"." {
            return Ok(Condition::Any);
        }
        if let Some(sets) = sets(env.ctype(), mask) {
            return Ok(Condition::Sets(sets, side));
        }
        let mask = String::from_utf8_lossy(mask);
        let pattern = match side {
            Side::Suffix => format!("{mask}$"),
            Side::Prefix => format!("^{mask}"),
        };
        Ok(Condition::Pattern(env.pattern(&pattern)?))
    }

    /// Whether a normal form fulfils the condition.
    pub fn holds(&self, ctype: Ctype, word: &[u8]) -> bool {
        match self {
            Condition::Any => true,
            Condition::Pattern(pattern) => pattern.matches(word),
            Condition::Sets(sets, side) => {
                let chars = chars(ctype, word);
                let Some(more) = chars.len().checked_sub(sets.len()) else { return false };
                let from = if *side == Side::Suffix { more } else { 0 };
                let mut pairs = sets.iter().zip(&chars[from..]);
                pairs.all(|(set, c)| set.chars.contains(c) != set.negated)
            }
        }
    }
}
