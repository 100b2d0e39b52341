//! The template `xsyn_template` of the extension dict_xsyn: a word is replaced by a group of
//! synonyms. Counterpart: contrib/dict_xsyn/dict_xsyn.c.

use super::files::open;
use super::options::Options;
use super::template::{Dictionary, Environment, Lexeme, Lexized, Phrase, unrecognized};
use crate::ctype::Ctype;
use pgerror::Result;
use std::collections::HashMap;

pub(super) struct Groups {
    ctype: Ctype,
    /// By word: the words of its line.
    lines: HashMap<Box<[u8]>, Box<[Box<[u8]>]>>,
    /// The first word of a line is part of the result.
    keep_original: bool,
    /// The other words of a line are part of the result.
    keep_synonyms: bool,
}

/// The words of a line up to a comment.
fn words(line: &[u8], ctype: Ctype) -> Vec<Box<[u8]>> {
    let text = String::from_utf8_lossy(line);
    let parts = text.split(|c: char| ctype.is_space(c as u32)).filter(|p| !p.is_empty());
    parts.take_while(|p| !p.starts_with('#')).map(|p| p.as_bytes().into()).collect()
}

impl Groups {
    pub fn build(options: &Options, env: &mut dyn Environment) -> Result<Groups> {
        let (mut match_original, mut match_synonyms) = (true, false);
        let (mut keep_original, mut keep_synonyms) = (true, true);
        let mut file = None;
        for (name, value) in options {
            match name.as_str() {
                "matchorig" => match_original = value.boolean(name)?,
                "keeporig" => keep_original = value.boolean(name)?,
                "matchsynonyms" => match_synonyms = value.boolean(name)?,
                "keepsynonyms" => keep_synonyms = value.boolean(name)?,
                "rules" => file = Some(value.text()),
                _ => return Err(unrecognized("xsyn", name)),
            }
        }
        let ctype = env.ctype();
        let mut lines = HashMap::new();
        let file = file.map(|name| open(env, &name, "rules", "synonym")).transpose()?;
        for (_, line) in file.iter().flat_map(|file| file.lines()) {
            let line: Box<[Box<[u8]>]> = words(&ctype.lower(line.as_bytes()), ctype).into();
            for (n, word) in line.iter().enumerate() {
                if if n == 0 { match_original } else { match_synonyms } {
                    lines.entry(word.clone()).or_insert_with(|| line.clone());
                }
            }
        }
        Ok(Groups { ctype, lines, keep_original, keep_synonyms })
    }
}

impl Dictionary for Groups {
    fn lexize(&self, token: &[u8], _: &mut Phrase) -> Result<Lexized> {
        let word: Box<[u8]> = self.ctype.lower(token).into();
        let Some(line) = self.lines.get(&word) else { return Ok(None) };
        let kept = line.iter().enumerate().filter(|(n, _)| match n {
            0 => self.keep_original,
            _ => self.keep_synonyms,
        });
        Ok(Some(kept.map(|(_, word)| Lexeme::plain(word.clone())).collect()))
    }
}
