//! The template `ispell`: words of a dictionary, and rules for their affixes, in the formats of
//! Ispell, MySpell and Hunspell. Counterpart: dict_ispell.c, spell.c.
//!
//! Reading order: `condition`, `flags`, `rules` (the affix file), `words` (the list of words),
//! this file (normal forms), `compound` (words that consist of others).

mod compound;
mod condition;
mod flags;
mod rules;
mod words;

use super::files::{StopWords, open};
use super::options::Options;
use super::template::{
    Dictionary, Environment, Lexeme, Lexized, Phrase, check_once, required, unrecognized,
};
use crate::ctype::Ctype;
use condition::Condition;
use flags::{CROSS_PRODUCT, Properties};
use pgerror::Result;
use rules::Rules;
use std::collections::HashMap;
use words::Words;

/// Most normal forms of a word.
const FORMS_MAX: usize = 1024;

/// Longer words have no normal forms.
const WORD_BYTES_MAX: usize = 256;

/// On which side of a word an affix is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Side {
    Prefix,
    Suffix,
}

/// A rule for an affix.
struct Affix {
    flag: String,
    properties: Properties,
    side: Side,
    /// What the normal form has in place of `text`.
    find: Vec<u8>,
    text: Vec<u8>,
    /// Of the normal form.
    condition: Condition,
}

/// The affixes of one side by their text, each list in the order of the rules.
#[derive(Default)]
struct AffixIndex {
    by_text: HashMap<Vec<u8>, Vec<usize>>,
    longest: usize,
}

impl AffixIndex {
    /// The affixes that the word has, the shortest first.
    fn of_word<'a>(&'a self, word: &'a [u8], side: Side) -> impl Iterator<Item = usize> + 'a {
        let longest = self.longest.min(word.len());
        (0..=longest).flat_map(move |len| {
            let text = match side {
                Side::Prefix => &word[..len],
                Side::Suffix => &word[word.len() - len..],
            };
            self.by_text.get(text).map_or(&[][..], Vec::as_slice).iter().copied()
        })
    }
}

struct Ispell {
    ctype: Ctype,
    stop_words: StopWords,
    words: Words,
    affixes: Vec<Affix>,
    prefixes: AffixIndex,
    suffixes: AffixIndex,
    compounds: bool,
    /// Affixes that connect the parts of compound words.
    links: Vec<compound::Link>,
}

/// Makes a dictionary of this template.
pub(super) fn build(
    options: &Options,
    env: &mut dyn Environment,
) -> Result<impl Dictionary + use<>> {
    let ctype = env.ctype();
    let (mut list, mut rules, mut stop_words) = (None, None, None);
    for (name, value) in options {
        match name.as_str() {
            "dictfile" => {
                check_once(&list, "DictFile")?;
                let file = open(env, &value.text(), "dict", "dictionary")?;
                list = Some(words::read(ctype, &file));
            }
            "afffile" => {
                check_once(&rules, "AffFile")?;
                let file = open(env, &value.text(), "affix", "affix")?;
                rules = Some(rules::read(env, &file)?);
            }
            "stopwords" => {
                check_once(&stop_words, "StopWords")?;
                stop_words = Some(StopWords::read(env, ctype, &value.text())?);
            }
            _ => return Err(unrecognized("Ispell", name)),
        }
    }
    let mut rules: Rules = required(rules, "AffFile")?;
    let list = required(list, "DictFile")?;
    let words = Words::build(list, &rules)?;
    rules.sort();
    let mut out = Ispell {
        ctype,
        stop_words: stop_words.unwrap_or_default(),
        words,
        links: Vec::new(),
        affixes: rules.affixes,
        prefixes: AffixIndex::default(),
        suffixes: AffixIndex::default(),
        compounds: rules.compounds,
    };
    out.links = compound::links(&out);
    for (i, affix) in out.affixes.iter().enumerate() {
        let index = match affix.side {
            Side::Prefix => &mut out.prefixes,
            Side::Suffix => &mut out.suffixes,
        };
        index.longest = index.longest.max(affix.text.len());
        index.by_text.entry(affix.text.clone()).or_default().push(i);
    }
    Ok(out)
}

/// Adds a form unless it is that before.
fn add_form(forms: &mut Vec<Vec<u8>>, form: &[u8]) {
    if forms.len() < FORMS_MAX - 1 && forms.last().is_none_or(|last| last != form) {
        forms.push(form.to_vec());
    }
}

impl Ispell {
    /// The word without the affix, if the affix can be on it. `part`: the part of a compound word
    /// that the word is. `base`: length of the word without its suffix; set for suffixes.
    fn without(
        &self,
        word: &[u8],
        affix: &Affix,
        part: Properties,
        base: Option<&mut usize>,
    ) -> Option<Vec<u8>> {
        if !affix.properties.allows(part, affix.side) {
            return None;
        }
        let kept = word.len().checked_sub(affix.text.len())?;
        if kept + affix.find.len() >= 2 * WORD_BYTES_MAX {
            return None;
        }
        let form = match affix.side {
            Side::Suffix => {
                if let Some(base) = base {
                    *base = kept;
                }
                [&word[..kept], &affix.find].concat()
            }
            Side::Prefix => {
                // Then the word would have nothing but affixes.
                if base.is_some_and(|base| *base + affix.find.len() <= affix.text.len()) {
                    return None;
                }
                [&affix.find, &word[affix.text.len()..]].concat()
            }
        };
        affix.condition.holds(self.ctype, &form).then_some(form)
    }

    /// The normal forms of a word.
    fn normal_forms(&self, word: &[u8], part: Properties) -> Vec<Vec<u8>> {
        let mut forms: Vec<Vec<u8>> = Vec::new();
        if word.len() > WORD_BYTES_MAX {
            return forms;
        }
        if self.words.has(word, None, part) {
            forms.push(word.to_vec());
        }
        for i in self.prefixes.of_word(word, Side::Prefix) {
            let prefix = &self.affixes[i];
            if let Some(form) = self.without(word, prefix, part, None)
                && self.words.has(&form, Some(&prefix.flag), part)
            {
                add_form(&mut forms, &form);
            }
        }
        let mut base = 0;
        for i in self.suffixes.of_word(word, Side::Suffix) {
            let suffix = &self.affixes[i];
            let Some(form) = self.without(word, suffix, part, Some(&mut base)) else { continue };
            if self.words.has(&form, Some(&suffix.flag), part) {
                add_form(&mut forms, &form);
            }
            for j in self.prefixes.of_word(&form, Side::Prefix) {
                let prefix = &self.affixes[j];
                let Some(both) = self.without(&form, prefix, part, Some(&mut base)) else {
                    continue;
                };
                let crossed = prefix.properties.0 & suffix.properties.0 & CROSS_PRODUCT != 0;
                let flag = (!crossed).then_some(prefix.flag.as_str());
                if self.words.has(&both, flag, part) {
                    add_form(&mut forms, &both);
                }
            }
        }
        forms
    }

    /// The lexemes of a word in lower case.
    fn normalize(&self, word: &[u8]) -> Vec<Lexeme> {
        let mut out: Vec<Lexeme> = Vec::new();
        let mut variant = 1;
        let mut add = |text: &[u8], variant: u16| {
            if out.len() < FORMS_MAX - 1 {
                out.push(Lexeme { variant, ..Lexeme::plain(text) });
            }
        };
        for form in self.normal_forms(word, Properties(0)) {
            add(&form, variant);
            variant += 1;
        }
        if self.compounds {
            for stems in compound::split(self, word) {
                let Some((last, first)) = stems.split_last().filter(|(_, f)| !f.is_empty()) else {
                    continue;
                };
                for form in self.normal_forms(last, flags::LAST) {
                    first.iter().for_each(|stem| add(stem, variant));
                    add(&form, variant);
                    variant = variant.wrapping_add(1);
                }
            }
        }
        out
    }
}

impl Dictionary for Ispell {
    fn lexize(&self, token: &[u8], _: &mut Phrase) -> Result<Lexized> {
        if token.is_empty() {
            return Ok(None);
        }
        let mut lexemes = self.normalize(&self.ctype.lower(token));
        if lexemes.is_empty() {
            return Ok(None);
        }
        lexemes.retain(|l| !self.stop_words.has(&l.text));
        Ok(Some(lexemes))
    }
}
