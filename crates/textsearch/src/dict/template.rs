//! What the templates of dictionaries have in common: lexemes, the interface of dictionaries, and
//! what their construction needs.

use super::files::Files;
use crate::ctype::Ctype;
use pgerror::{PgError, Result, pg_err};
use std::sync::Arc;

/// A normalized word.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lexeme {
    pub text: Box<[u8]>,
    /// Lexemes with the same number are parts of one interpretation of the token.
    pub variant: u16,
    /// The lexeme is at the next position.
    pub next_position: bool,
    /// Searches match lexemes that begin with this one.
    pub prefix: bool,
    /// The next dictionary gets this lexeme instead of the token.
    pub filter: bool,
}

impl Lexeme {
    /// A lexeme without flags.
    pub fn plain(text: impl Into<Box<[u8]>>) -> Lexeme {
        Lexeme { text: text.into(), ..Lexeme::default() }
    }
}

/// `None` if the dictionary does not know the token; no lexemes if it is a stop word.
pub type Lexized = Option<Vec<Lexeme>>;

/// What a dictionary keeps between the tokens of a phrase.
#[derive(Default, Debug)]
pub struct Phrase {
    /// Set by the caller: there is no further token.
    pub at_end: bool,
    /// Set by the dictionary: it needs the next token.
    pub wants_next: bool,
    /// Rules of a thesaurus that match the phrase so far, with the number of the last word.
    pub matched: Vec<(u32, u16)>,
    /// The call is from another dictionary.
    pub nested: bool,
}

/// A dictionary.
pub trait Dictionary: Send + Sync {
    /// The lexemes of a token.
    fn lexize(&self, token: &[u8], phrase: &mut Phrase) -> Result<Lexized>;
}

/// The dictionary templates.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Template {
    Simple,
    Synonym,
    Thesaurus,
    Ispell,
    Snowball,
    /// Of the extension unaccent.
    Unaccent,
    /// Of the extension dict_int.
    Integer,
    /// Of the extension dict_xsyn.
    ExtendedSynonym,
}

impl Template {
    /// The template with this init function (`pg_proc.prosrc`).
    pub fn of_init(function: &str) -> Option<Template> {
        Some(match function {
            "dsimple_init" => Template::Simple,
            "dsynonym_init" => Template::Synonym,
            "thesaurus_init" => Template::Thesaurus,
            "dispell_init" => Template::Ispell,
            "dsnowball_init" => Template::Snowball,
            "unaccent_init" => Template::Unaccent,
            "dintdict_init" => Template::Integer,
            "dxsyn_init" => Template::ExtendedSynonym,
            _ => return None,
        })
    }
}

/// What the construction of a dictionary needs.
pub trait Environment: Files {
    /// The database's.
    fn ctype(&mut self) -> Ctype;

    /// Name of the database's encoding.
    fn encoding_name(&mut self) -> &'static str;

    /// Sends a warning to the client.
    fn warning(&mut self, warning: PgError);

    /// Another dictionary, by its name in SQL.
    fn dictionary(&mut self, name: &str) -> Result<Arc<dyn Dictionary>>;

    /// A test whether a text matches a regular expression.
    fn pattern(&mut self, pattern: &str) -> Result<Box<dyn Pattern>>;
}

/// A compiled regular expression.
pub trait Pattern: Send + Sync {
    fn matches(&self, text: &[u8]) -> bool;
}

/// An error if an option that may be given only once is set.
pub(super) fn check_once<T>(slot: &Option<T>, name: &str) -> Result<()> {
    match slot {
        None => Ok(()),
        Some(_) => Err(pg_err!(INVALID_PARAMETER_VALUE, "multiple {name} parameters")),
    }
}

/// The option, an error if it is missing.
pub(super) fn required<T>(slot: Option<T>, name: &str) -> Result<T> {
    slot.ok_or_else(|| pg_err!(INVALID_PARAMETER_VALUE, "missing {name} parameter"))
}

pub(super) fn unrecognized(template: &str, name: &str) -> PgError {
    pg_err!(INVALID_PARAMETER_VALUE, "unrecognized {template} parameter: \"{name}\"")
}
