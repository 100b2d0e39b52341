//! The template `thesaurus`: phrases that are replaced by others. A subdictionary normalizes their
//! words. Counterpart: dict_thesaurus.c.

use super::files::{File, open};
use super::options::Options;
use super::template::{
    Dictionary, Environment, Lexeme, Lexized, Phrase, check_once, required, unrecognized,
};
use crate::ctype::Ctype;
use pgerror::{PgError, Result, pg_err};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A place of a lexeme in the phrase of a rule.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    rule: u32,
    position: u16,
    /// Number of lexemes of the word's interpretation.
    parts: u16,
}

/// A rule as it is written.
#[derive(Default)]
struct Source {
    phrase: Vec<Box<[u8]>>,
    /// Words of the replacement, and whether they are taken as they are.
    replacement: Vec<(Box<[u8]>, bool)>,
}

struct Rule {
    /// Number of the phrase's last word.
    last: u16,
    replacement: Vec<Lexeme>,
}

pub(super) struct Thesaurus {
    subdictionary: Arc<dyn Dictionary>,
    rules: Vec<Rule>,
    /// The places of each lexeme, in ascending order; of stop words under `None`.
    lexemes: BTreeMap<Option<Box<[u8]>>, Vec<Place>>,
}

fn file_error(message: &str) -> PgError {
    pg_err!(CONFIG_FILE_ERROR, "{message}")
}

/// Reads a rule; `None` if the line is a comment or empty.
fn read_line(ctype: Ctype, line: &str) -> Result<Option<Source>> {
    let is_space = |c: char| ctype.is_space(c as u32);
    let text = line.trim_start_matches(is_space);
    if text.is_empty() || text.starts_with('#') {
        return Ok(None);
    }
    let mut rule = Source::default();
    // The phrase ends at a colon. A word at the end of the file without a line end is not read.
    let (phrase, replacement) = match text.split_once(':') {
        Some((phrase, rest)) => (phrase, rest),
        None => {
            let end = text.rfind(is_space).unwrap_or_default();
            (&text[..end], "")
        }
    };
    rule.phrase =
        phrase.split(is_space).filter(|w| !w.is_empty()).map(|w| w.as_bytes().into()).collect();
    if rule.phrase.is_empty() && text.starts_with(':') {
        return Err(file_error("unexpected delimiter"));
    }
    for word in replacement.split(is_space).filter(|w| !w.is_empty()) {
        let (word, as_is) = match word.strip_prefix('*') {
            Some(word) => (word, true),
            None => (word.strip_prefix('\\').unwrap_or(word), false),
        };
        if word.is_empty() {
            return Err(file_error("unexpected end of line or lexeme"));
        }
        rule.replacement.push((word.as_bytes().into(), as_is));
    }
    if rule.phrase.is_empty() || rule.replacement.is_empty() {
        return Err(file_error("unexpected end of line"));
    }
    if rule.phrase.len().max(rule.replacement.len()) > usize::from(u16::MAX) {
        return Err(file_error("too many lexemes in thesaurus entry"));
    }
    Ok(Some(rule))
}

fn read(ctype: Ctype, file: &File) -> Result<Vec<Source>> {
    let mut rules = Vec::new();
    for (i, line) in file.lines() {
        rules.extend(read_line(ctype, line).map_err(|e| file.at_line(e, i, line))?);
    }
    Ok(rules)
}

fn nested() -> Phrase {
    Phrase { nested: true, ..Phrase::default() }
}

impl Thesaurus {
    pub fn build(options: &Options, env: &mut dyn Environment) -> Result<Thesaurus> {
        let (mut rules, mut dictionary) = (None, None);
        for (name, value) in options {
            match name.as_str() {
                "dictfile" => {
                    check_once(&rules, "DictFile")?;
                    let file = open(env, &value.text(), "ths", "thesaurus")?;
                    rules = Some(read(env.ctype(), &file)?);
                }
                "dictionary" => {
                    check_once(&dictionary, "Dictionary")?;
                    dictionary = Some(value.text());
                }
                _ => return Err(unrecognized("Thesaurus", name)),
            }
        }
        let sources = required(rules, "DictFile")?;
        let subdictionary = env.dictionary(&required(dictionary, "Dictionary")?)?;
        let mut out = Thesaurus { subdictionary, rules: Vec::new(), lexemes: BTreeMap::new() };
        for (i, source) in sources.iter().enumerate() {
            for (position, word) in source.phrase.iter().enumerate() {
                out.add_word(i as u32, position as u16, word)?;
            }
        }
        for places in out.lexemes.values_mut() {
            places.sort_unstable();
            places.dedup();
        }
        for (i, source) in sources.iter().enumerate() {
            let replacement = out.replacement(i, source)?;
            out.rules.push(Rule { last: source.phrase.len() as u16 - 1, replacement });
        }
        Ok(out)
    }

    fn add_word(&mut self, rule: u32, position: u16, word: &[u8]) -> Result<()> {
        if word == b"?" {
            let place = Place { rule, position, parts: 1 };
            self.lexemes.entry(None).or_default().push(place);
            return Ok(());
        }
        let shown = String::from_utf8_lossy(word);
        let number = rule + 1;
        let found = self.subdictionary.lexize(word, &mut nested())?.ok_or_else(|| {
            pg_err!(
                CONFIG_FILE_ERROR,
                "thesaurus sample word \"{shown}\" isn't recognized by subdictionary (rule \
                 {number})"
            )
        })?;
        if found.is_empty() {
            return Err(pg_err!(
                CONFIG_FILE_ERROR,
                "thesaurus sample word \"{shown}\" is a stop word (rule {number})"
            )
            .hint("Use \"?\" to represent a stop word within a sample phrase."));
        }
        for variant in found.chunk_by(|a, b| a.variant == b.variant) {
            for lexeme in variant {
                let place = Place { rule, position, parts: variant.len() as u16 };
                self.lexemes.entry(Some(lexeme.text.clone())).or_default().push(place);
            }
        }
        Ok(())
    }

    fn replacement(&self, rule: usize, source: &Source) -> Result<Vec<Lexeme>> {
        let mut out: Vec<Lexeme> = Vec::new();
        for (variant, (word, as_is)) in source.replacement.iter().enumerate() {
            let found = match as_is {
                true => {
                    let variant = variant as u16;
                    Some(vec![Lexeme { variant, ..Lexeme::plain(word.clone()) }])
                }
                false => self.subdictionary.lexize(word, &mut nested())?,
            };
            let problem = match &found {
                None => "isn't recognized by subdictionary",
                Some(found) if found.is_empty() => "is a stop word",
                Some(_) => "",
            };
            let Some(mut found) = found.filter(|_| problem.is_empty()) else {
                return Err(pg_err!(
                    CONFIG_FILE_ERROR,
                    "thesaurus substitute word \"{}\" {problem} (rule {})",
                    String::from_utf8_lossy(word),
                    rule + 1
                ));
            };
            if !out.is_empty() {
                found[0].next_position = true;
            }
            out.append(&mut found);
        }
        Ok(out)
    }

    /// Adds the rules that have all these lexemes as the word at `position` and, if a phrase has
    /// begun, matched before.
    fn add_matches(
        &self,
        out: &mut Vec<(u32, u16)>,
        before: &[(u32, u16)],
        position: u16,
        lists: &[&[Place]],
    ) {
        let parts = lists.len() as u16;
        let Some((first, others)) = lists.split_first() else { return };
        for place in first.iter().filter(|p| p.position == position && p.parts == parts) {
            let everywhere = others.iter().all(|list| list.binary_search(place).is_ok());
            let begun = before.is_empty() || before.iter().any(|(rule, _)| *rule == place.rule);
            let known = out.iter().any(|(rule, _)| *rule == place.rule);
            if everywhere && begun && !known {
                // The last rule comes first.
                out.insert(0, (place.rule, position));
            }
        }
    }

    fn places(&self, lexeme: Option<&[u8]>) -> &[Place] {
        let key = lexeme.map(Box::<[u8]>::from);
        self.lexemes.get(&key).map_or(&[], Vec::as_slice)
    }
}

impl Dictionary for Thesaurus {
    fn lexize(&self, token: &[u8], phrase: &mut Phrase) -> Result<Lexized> {
        if phrase.nested {
            return Err(PgError::internal("forbidden call of thesaurus or nested call"));
        }
        if phrase.at_end {
            return Ok(None);
        }
        let before = std::mem::take(&mut phrase.matched);
        let position = before.first().map_or(0, |(_, position)| position + 1);
        let mut matched = Vec::new();
        match self.subdictionary.lexize(token, &mut nested())? {
            None => {}
            Some(lexemes) if lexemes.is_empty() => {
                self.add_matches(&mut matched, &before, position, &[self.places(None)]);
            }
            Some(lexemes) => {
                for variant in lexemes.chunk_by(|a, b| a.variant == b.variant) {
                    let lists: Vec<_> =
                        variant.iter().map(|l| self.places(Some(&l.text))).collect();
                    self.add_matches(&mut matched, &before, position, &lists);
                }
            }
        }
        let whole = matched.iter().position(|(rule, _)| {
            self.rules.get(*rule as usize).is_some_and(|r| r.last == position)
        });
        let result = whole.map(|i| self.rules[matched[i].0 as usize].replacement.clone());
        phrase.wants_next = match whole {
            Some(i) => i + 1 < matched.len() || i > 0,
            None => !matched.is_empty(),
        };
        phrase.matched = matched;
        Ok(result)
    }
}
