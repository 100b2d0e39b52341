//! The template `snowball`: stems. Counterpart: dict_snowball.c.

use super::files::StopWords;
use super::options::Options;
use super::template::{
    Dictionary, Environment, Lexeme, Lexized, Phrase, check_once, required, unrecognized,
};
use crate::ctype::Ctype;
use crate::snowball::Stemmer;
use pgerror::{Result, pg_err};
use sync::Mutex;

/// Longer tokens are no words of any language.
const WORD_BYTES_MAX: usize = 1000;

pub(super) struct Snowball {
    ctype: Ctype,
    stop_words: StopWords,
    stemmer: &'static Stemmer,
    stems: Stems,
}

/// Words with their stems, in slots by a hash of the word: texts repeat their words.
#[derive(Default)]
struct Stems(Mutex<Vec<Stem>>);

#[derive(Clone, Default)]
struct Stem {
    /// Empty in an unused slot.
    word: Box<str>,
    stem: Box<[u8]>,
}

impl Stems {
    const SLOTS: usize = 1024;
    /// Longer words are not kept.
    const WORD_BYTES_MAX: usize = 40;

    /// The stem of a word that is not empty.
    fn of(&self, word: &str, stemmer: &Stemmer) -> Vec<u8> {
        if word.len() > Self::WORD_BYTES_MAX {
            return stemmer.stem(word);
        }
        let hash = word.bytes().fold(0u32, |h, b| (h ^ u32::from(b)).wrapping_mul(0x0100_0193));
        let mut slots = self.0.lock();
        if slots.is_empty() {
            slots.resize(Self::SLOTS, Stem::default());
        }
        let slot = &mut slots[(hash >> 16 ^ hash) as usize % Self::SLOTS];
        if &*slot.word != word {
            *slot = Stem { word: word.into(), stem: stemmer.stem(word).into() };
        }
        slot.stem.to_vec()
    }
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
        Ok(Snowball {
            ctype,
            stop_words,
            stemmer: required(stemmer, "Language")?,
            stems: Stems::default(),
        })
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
            Ok(text) => self.stems.of(text, self.stemmer),
            Err(_) => word,
        };
        Ok(Some(vec![Lexeme::plain(stem)]))
    }
}
