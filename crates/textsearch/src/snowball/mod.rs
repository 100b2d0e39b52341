//! Stemmers. The algorithms are those of Snowball 2.2.0, which PostgreSQL 15 has, in the files of
//! that project (`data/snowball`): `source` translates the language Snowball to commands, `machine`
//! executes them. Counterpart: libstemmer.
//!
//! The language is described in `compiler.html` of the Snowball project. In short: commands succeed
//! or fail, and work on a text with a cursor and limits. In backward mode they go from right to
//! left.

mod machine;
mod source;

use source::Program;
use std::sync::LazyLock;

/// A stemmer of a language.
pub struct Stemmer {
    pub language: &'static str,
    program: LazyLock<Program>,
}

macro_rules! stemmers {
    ($($language:literal)*) => {
        /// The stemmers for texts in UTF-8.
        pub static STEMMERS: [Stemmer; 29] = [$(Stemmer {
            language: $language,
            program: LazyLock::new(|| {
                Program::read(include_str!(concat!("../../data/snowball/", $language, ".sbl")))
                    .unwrap_or_else(|e| panic!("stemmer {}: {e}", $language))
            }),
        },)*];
    };
}

stemmers! {
    "arabic" "armenian" "basque" "catalan" "danish" "dutch" "english" "finnish" "french" "german"
    "greek" "hindi" "hungarian" "indonesian" "irish" "italian" "lithuanian" "nepali" "norwegian"
    "porter" "portuguese" "romanian" "russian" "serbian" "spanish" "swedish" "tamil" "turkish"
    "yiddish"
}

impl Stemmer {
    /// The stemmer of a language, in either case.
    pub fn named(language: &str) -> Option<&'static Stemmer> {
        STEMMERS.iter().find(|s| s.language.eq_ignore_ascii_case(language))
    }

    /// The stem of a word in lower case.
    pub fn stem(&self, word: &str) -> Vec<u8> {
        let stem = machine::stem(&self.program, word.as_bytes());
        if stem.is_empty() { word.as_bytes().to_vec() } else { stem }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_have_the_stems_of_postgresql() {
        for (language, word, expected) in [
            ("english", "relational", "relat"),
            ("english", "yesterdays", "yesterday"),
            ("english", "supernovae", "supernova"),
            ("english", "skies", "sky"),
            ("german", "häusern", "haus"),
            ("french", "continuellement", "continuel"),
            ("russian", "вселенная", "вселен"),
            ("turkish", "kitaplarımızdan", "kitap"),
            ("finnish", "taloissa", "talo"),
        ] {
            let stemmer = Stemmer::named(language).unwrap();
            assert_eq!(String::from_utf8_lossy(&stemmer.stem(word)), expected, "{word}");
        }
    }

    #[test]
    fn all_algorithms_are_translated() {
        for stemmer in &STEMMERS {
            assert!(!stemmer.stem("abcdefghijkl").is_empty(), "{}", stemmer.language);
        }
    }
}
