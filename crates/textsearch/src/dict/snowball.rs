//! The template `snowball`: stems. Counterpart: dict_snowball.c.

use super::files::StopWords;
use super::options::Options;
use super::template::{
    Dictionary, Environment, Lexeme, Lexized, Phrase, check_once, required, unrecognized,
};
use crate::ctype::Ctype;
use crate::snowball::Stemmer;
use pgerror::{Result, pg_err};

/// Longer tokens are no words of any language.
const WORD_BYTES_MAX: usize = 1000;

pub(super) struct Snowball {
    ctype: Ctype,
    stop_words: StopWords,
    stemmer: &'static Stemmer,
}

impl Snowball {
    pub fn build(options: &Options, env: &mut dyn Environment) -> Result<Snowball> {
        let ctype = env.ctype();
        let (mut stop_words, mut stemmer) = (None, None);
        for (name, value) in options {
            match name.as_str() {
                "stopwords" => {
                    check_once(&stop_words, "StopWords")?;
                    stop_words = Some(StopWords::read(env, ctype, &value.text())?);
                }
                "language" => {
                    check_once(&stemmer, "Language")?;
                    let language = value.text();
                    let found = Stemmer::named(&language).ok_or_else(|| {
                        pg_err!(
                            UNDEFINED_OBJECT,
                            "no Snowball stemmer available for language \"{language}\" and \
                             encoding \"{}\"",
                            env.encoding_name()
                        )
                    });
                    stemmer = Some(found?);
                }
                _ => return Err(unrecognized("Snowball", name)),
            }
        }
        let stop_words = stop_words.unwrap_or_default();
        Ok(Snowball { ctype, stop_words, stemmer: required(stemmer, "Language")? })
    }
}

impl Dictionary for Snowball {
    fn lexize(&self, token: &[u8], _: &mut Phrase) -> Result<Lexized> {
        let word = self.ctype.lower(token);
        if token.len() > WORD_BYTES_MAX {
            return Ok(Some(vec![Lexeme::plain(word)]));
        }
        if word.is_empty() || self.stop_words.has(&word) {
            return Ok(Some(Vec::new()));
        }
        // Words in another encoding are stemmed only if they are ASCII.
        let stem = match std::str::from_utf8(&word) {
            Ok(text) => self.stemmer.stem(text),
            Err(_) => word,
        };
        Ok(Some(vec![Lexeme::plain(stem)]))
    }
}
