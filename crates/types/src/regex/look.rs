//! Lookaround constraints and their results on the current text. Counterpart: rege_dfa.c (lacon).

use super::dfa::{Dfa, Env, Pos, Progress};
use pgerror::Result;
use stdx::stack::deep;
use values::memory;

/// Limit of the memory for cached results of all constraints on one text, in bytes.
const KNOWN_BYTES_MAX: usize = 64 << 20;

const UNKNOWN: u8 = 0;
const NO_MATCH: u8 = 1;
const MATCH: u8 = 2;

/// A lookaround constraint with its cached results on the current text.
pub(super) struct LookState {
    behind: bool,
    negative: bool,
    /// `None` while it runs. A constraint contains only constraints nested in it, never itself.
    dfa: Option<Dfa>,
    /// Results by position; empty before the first one, or if the text is too long for a cache.
    known: Vec<u8>,
    keeps: bool,
    /// How far a lookbehind constraint has read the text.
    progress: Progress,
}

impl LookState {
    /// A constraint that looks behind or ahead, and is satisfied by a match, or with `negative`
    /// without one.
    pub fn new(behind: bool, negative: bool, dfa: Dfa) -> LookState {
        let progress = Progress::default();
        LookState { behind, negative, dfa: Some(dfa), known: Vec::new(), keeps: false, progress }
    }
}

/// Resets the constraints for another text.
pub(super) fn begin(looks: &mut [LookState], text_len: usize) {
    let keeps = looks.len().saturating_mul(text_len + 1) <= KNOWN_BYTES_MAX;
    for look in looks {
        look.known = Vec::new();
        look.keeps = keeps;
        look.progress = Progress::default();
    }
}

impl Env<'_> {
    /// Whether a lookaround constraint is satisfied at a position.
    pub fn look(&mut self, number: u32, at: Pos) -> Result<bool> {
        self.tick()?;
        let positions = self.text.len() + 1;
        let look = &mut self.looks[number as usize];
        if look.keeps && look.known.is_empty() {
            look.known = memory::with_capacity(positions)?;
            look.known.resize(positions, UNKNOWN);
        }
        let negative = look.negative;
        if let Some(&known) = look.known.get(at).filter(|k| **k != UNKNOWN) {
            return Ok((known == MATCH) != negative);
        }
        let Some(mut dfa) = look.dfa.take() else { return Ok(false) };
        let found = match look.behind {
            true => deep(|| self.ends_at(number, &mut dfa, at)),
            false => deep(|| dfa.shortest(self, at, at, positions - 1)).map(|end| end.is_some()),
        };
        let look = &mut self.looks[number as usize];
        look.dfa = Some(dfa);
        let found = found?;
        if let Some(known) = look.known.get_mut(at) {
            *known = if found { MATCH } else { NO_MATCH };
        }
        Ok(found != negative)
    }

    /// Whether a match of a lookbehind constraint ends at a position. A single pass over the text
    /// answers this for all positions, and it runs only as far as needed.
    fn ends_at(&mut self, number: u32, dfa: &mut Dfa, at: Pos) -> Result<bool> {
        let look = &mut self.looks[number as usize];
        let mut progress = std::mem::take(&mut look.progress);
        if progress.at > at {
            progress = Progress::default();
        }
        let mut known = std::mem::take(&mut look.known);
        let mut found = false;
        let done = dfa.resume(self, &mut progress, at, &mut |p, matched| {
            found = matched;
            if let Some(known) = known.get_mut(p) {
                *known = if matched { MATCH } else { NO_MATCH };
            }
        });
        let look = &mut self.looks[number as usize];
        look.known = known;
        done?;
        look.progress = progress;
        Ok(found)
    }
}
