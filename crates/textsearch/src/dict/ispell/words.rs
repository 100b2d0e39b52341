//! The list of words, sorted, each with its flags.

use super::flags::{COMPOUND, OF_WORDS, ONLY_COMPOUND, Properties, alias, bad_alias, split};
use super::rules::Rules;
use crate::ctype::Ctype;
use crate::dict::files::File;
use pgerror::Result;

/// A word as it is written, with its set of flags.
pub(super) type Line = (Vec<u8>, String);

/// Reads a list of words.
pub(super) fn read(ctype: Ctype, file: &File) -> Vec<Line> {
    let read_line = |line: &str| {
        let (word, flags) = line.split_once('/').unwrap_or((line, ""));
        let end = flags.find(|c: char| !c.is_ascii_graphic()).unwrap_or(flags.len());
        let word = word.split(|c| ctype.is_space(c as u32)).next().unwrap_or_default();
        (ctype.lower(word.as_bytes()), flags[..end].to_owned())
    };
    file.lines().map(|(_, line)| read_line(line)).collect()
}

struct Word {
    text: Box<[u8]>,
    flags: Vec<String>,
    properties: Properties,
}

/// All words.
pub(super) struct Words(Vec<Word>);

/// The words with a common beginning: those with numbers `from..to`.
#[derive(Clone, Copy)]
pub(super) struct Branch {
    pub from: usize,
    pub to: usize,
}

/// The set of flags of a word.
fn flag_set<'a>(rules: &'a Rules, set: &'a str) -> Result<&'a str> {
    let Some(aliases) = rules.aliases.as_ref().filter(|_| !set.is_empty()) else {
        return Ok(if rules.aliases.is_some() { "" } else { set });
    };
    let (number, rest) = alias(set)?;
    let found = usize::try_from(number).ok().and_then(|n| aliases.get(n));
    let whole = rest.chars().next().is_none_or(|c| c.is_ascii_digit() || c.is_whitespace());
    match found.filter(|_| whole) {
        Some(found) => Ok(found),
        None => Err(bad_alias(set)),
    }
}

/// Properties of a word with this set of flags.
fn word_properties(rules: &Rules, set: &str) -> Result<Properties> {
    Ok(Properties(rules.properties(set)?.0 & OF_WORDS))
}

impl Words {
    pub fn build(lines: Vec<Line>, rules: &Rules) -> Result<Words> {
        let mut lines = lines;
        for (_, set) in &lines {
            // The first faulty line of the file is reported.
            flag_set(rules, set)?;
        }
        lines.sort();
        let mut words: Vec<Word> = Vec::new();
        for same in lines.chunk_by(|a, b| a.0 == b.0).filter(|same| !same[0].0.is_empty()) {
            let mut set = flag_set(rules, &same[0].1)?.to_owned();
            let mut properties = word_properties(rules, &set)?.completed(ONLY_COMPOUND);
            for (_, other) in &same[1..] {
                let other = flag_set(rules, other)?;
                if other == set {
                    continue;
                }
                let more = word_properties(rules, other)?;
                let only = ONLY_COMPOUND & properties.0 & more.0 != 0;
                set = match (set.is_empty(), other.is_empty()) {
                    (true, _) => other.to_owned(),
                    (_, true) => set,
                    _ if rules.mode == super::flags::Mode::Number => format!("{set},{other}"),
                    _ => set + other,
                };
                properties = word_properties(rules, &set)?.completed(ONLY_COMPOUND);
                if !only {
                    properties.0 &= !ONLY_COMPOUND;
                }
            }
            let flags = split(rules.mode, &set)?;
            words.push(Word { text: same[0].0.as_slice().into(), flags, properties });
        }
        const { assert!(COMPOUND & ONLY_COMPOUND == 0) };
        Ok(Words(words))
    }

    /// Whether the word is in the list, can have an affix with the flag, and can be the given part
    /// of a compound word; a word of its own if there is no part.
    pub fn has(&self, word: &[u8], flag: Option<&str>, part: Properties) -> bool {
        let Ok(i) = self.0.binary_search_by(|w| w.text.as_ref().cmp(word)) else { return false };
        let found = &self.0[i];
        let part = part.0 & OF_WORDS;
        let allowed = match part {
            0 => found.properties.0 & ONLY_COMPOUND == 0,
            _ => found.properties.0 & part != 0,
        };
        allowed && flag.is_none_or(|flag| flag.is_empty() || found.flags.iter().any(|f| f == flag))
    }

    /// Whether any word can have an affix with the flag.
    pub fn uses(&self, flag: &str) -> bool {
        flag.is_empty() || self.0.iter().any(|w| w.flags.iter().any(|f| f == flag))
    }

    /// All words; `None` if there are none.
    pub fn root(&self) -> Option<Branch> {
        (!self.0.is_empty()).then_some(Branch { from: 0, to: self.0.len() })
    }

    /// The words of a branch that continue with `byte` after `depth` bytes, and the properties of
    /// the word that ends there.
    pub fn descend(
        &self,
        branch: Branch,
        depth: usize,
        byte: u8,
    ) -> Option<(Option<Branch>, Option<Properties>)> {
        let words = &self.0[branch.from..branch.to];
        let key = |w: &Word| w.text.get(depth).copied();
        let from = branch.from + words.partition_point(|w| key(w) < Some(byte));
        let to = branch.from + words.partition_point(|w| key(w) <= Some(byte));
        let first = self.0[from..to].first()?;
        let (word, from) = match first.text.len() == depth + 1 {
            true => (Some(first.properties), from + 1),
            false => (None, from),
        };
        Some(((from < to).then_some(Branch { from, to }), word))
    }
}
