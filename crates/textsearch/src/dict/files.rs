//! Configuration files of dictionaries. Counterpart: ts_utils.c, ts_locale.c.

use crate::ctype::Ctype;
use pgerror::{PgError, Result, pg_err};

/// A file as it was read.
pub struct File {
    /// Its path, for messages.
    pub path: String,
    pub text: String,
}

/// Where configuration files are read from.
pub trait Files {
    /// The file `name.extension`; an error text of the operating system with the path if it cannot
    /// be read.
    fn read(&mut self, name: &str, extension: &str) -> Result<File, (String, String)>;
}

/// Reads the file `name.extension`. The name comes from a user; it must not leave the directory.
pub(super) fn open(
    files: &mut (impl Files + ?Sized),
    name: &str,
    extension: &str,
    what: &str,
) -> Result<File> {
    if !name.bytes().all(|c| matches!(c, b'a'..=b'z' | b'0'..=b'9' | b'_')) {
        return Err(pg_err!(
            INVALID_PARAMETER_VALUE,
            "invalid text search configuration file name \"{name}\""
        ));
    }
    files.read(name, extension).map_err(|(path, error)| {
        pg_err!(CONFIG_FILE_ERROR, "could not open {what} file \"{path}\": {error}")
    })
}

impl File {
    /// The lines with their ends.
    pub fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.text.split_inclusive('\n').enumerate()
    }

    /// Adds the line with number `i` from 0 to the context of an error.
    pub fn at_line(&self, e: PgError, i: usize, line: &str) -> PgError {
        e.context(format!("line {} of configuration file \"{}\": \"{line}\"", i + 1, self.path))
    }
}

/// Words that are not indexed, sorted.
#[derive(Default)]
pub(super) struct StopWords(Vec<Box<[u8]>>);

impl StopWords {
    /// Reads a list of stop words; none if the name is empty.
    pub fn read(files: &mut (impl Files + ?Sized), ctype: Ctype, name: &str) -> Result<StopWords> {
        if name.is_empty() {
            return Ok(StopWords::default());
        }
        let file = open(files, name, "stop", "stop-word")?;
        let mut words: Vec<Box<[u8]>> = Vec::new();
        for (_, line) in file.lines() {
            let word = line.split(|c: char| ctype.is_space(c as u32)).next().unwrap_or_default();
            if !word.is_empty() {
                words.push(ctype.lower(word.as_bytes()).into());
            }
        }
        words.sort();
        Ok(StopWords(words))
    }

    pub fn has(&self, word: &[u8]) -> bool {
        self.0.binary_search_by(|w| w.as_ref().cmp(word)).is_ok()
    }
}
