//! The template `synonym`: words that are replaced by others. Counterpart: dict_synonym.c.

use super::files::open;
use super::options::Options;
use super::template::{Dictionary, Environment, Lexeme, Lexized, Phrase, required, unrecognized};
use crate::ctype::Ctype;
use pgerror::Result;

pub(super) struct Synonym {
    ctype: Ctype,
    /// Word and replacement, sorted by word.
    words: Vec<(Box<[u8]>, Lexeme)>,
    case_sensitive: bool,
}

impl Synonym {
    pub fn build(options: &Options, env: &mut dyn Environment) -> Result<Synonym> {
        let ctype = env.ctype();
        let (mut file, mut case_sensitive) = (None, false);
        for (name, value) in options {
            match name.as_str() {
                "synonyms" => file = Some(value.text()),
                "casesensitive" => case_sensitive = value.boolean(name)?,
                _ => return Err(unrecognized("synonym", name)),
            }
        }
        let file = open(env, &required(file, "Synonyms")?, "syn", "synonym")?;
        let mut words = Vec::new();
        for (_, line) in file.lines() {
            let mut parts =
                line.split(|c: char| ctype.is_space(c as u32)).filter(|p| !p.is_empty());
            let (Some(word), Some(by)) = (parts.next(), parts.next()) else { continue };
            let (by, prefix) = match by.strip_suffix('*') {
                Some(by) => (by, true),
                None => (by, false),
            };
            let fold = |text: &str| match case_sensitive {
                true => text.as_bytes().to_vec(),
                false => ctype.lower(text.as_bytes()),
            };
            let text = fold(by);
            let text = &text[..by.len().min(text.len())];
            words.push((fold(word).into(), Lexeme { prefix, ..Lexeme::plain(text) }));
        }
        words.sort_by(|a: &(Box<[u8]>, Lexeme), b| a.0.cmp(&b.0));
        Ok(Synonym { ctype, words, case_sensitive })
    }
}

impl Dictionary for Synonym {
    fn lexize(&self, token: &[u8], _: &mut Phrase) -> Result<Lexized> {
        if token.is_empty() {
            return Ok(None);
        }
        let lower;
        let key = match self.case_sensitive {
            true => token,
            false => {
                lower = self.ctype.lower(token);
                &lower
            }
        };
        let found = self.words.binary_search_by(|(word, _)| word.as_ref().cmp(key));
        Ok(found.ok().map(|i| vec![self.words[i].1.clone()]))
    }
}
