//! The template `simple`: lower case, and stop words. Counterpart: dict_simple.c.

use super::files::StopWords;
use super::options::Options;
use super::template::{Dictionary, Environment, Lexeme, Lexized, Phrase, check_once, unrecognized};
use crate::ctype::Ctype;
use pgerror::Result;

pub(super) struct Simple {
    ctype: Ctype,
    stop_words: StopWords,
    /// Words that are no stop words are known.
    accept: bool,
}

impl Simple {
    pub fn build(options: &Options, env: &mut dyn Environment) -> Result<Simple> {
        let ctype = env.ctype();
        let (mut stop_words, mut accept) = (None, None);
        for (name, value) in options {
            match name.as_str() {
                "stopwords" => {
                    check_once(&stop_words, "StopWords")?;
                    stop_words = Some(StopWords::read(env, ctype, &value.text())?);
                }
                "accept" => {
                    check_once(&accept, "Accept")?;
                    accept = Some(value.boolean(name)?);
                }
                _ => return Err(unrecognized("simple dictionary", name)),
            }
        }
        let stop_words = stop_words.unwrap_or_default();
        Ok(Simple { ctype, stop_words, accept: accept.unwrap_or(true) })
    }
}

impl Dictionary for Simple {
    fn lexize(&self, token: &[u8], _: &mut Phrase) -> Result<Lexized> {
        let word = self.ctype.lower(token);
        if word.is_empty() || self.stop_words.has(&word) {
            return Ok(Some(Vec::new()));
        }
        Ok(self.accept.then(|| vec![Lexeme::plain(word)]))
    }
}
