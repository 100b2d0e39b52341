//! Dictionaries: token → lexemes. Each template is a module; [`build`] makes a dictionary from its
//! options. Counterpart: tsearch/dict_*.c.

mod extended_synonym;
mod files;
mod integer;
mod ispell;
pub mod options;
mod simple;
mod snowball;
mod synonym;
mod template;
mod thesaurus;
mod unaccent;

pub use files::{File, Files};
pub use options::{Options, Setting};
pub use template::{Dictionary, Environment, Lexeme, Lexized, Pattern, Phrase, Template};

use pgerror::Result;
use std::sync::Arc;

/// Makes a dictionary; an error if an option is not known or a file cannot be read.
pub fn build(
    template: Template,
    options: &Options,
    env: &mut dyn Environment,
) -> Result<Arc<dyn Dictionary>> {
    Ok(match template {
        Template::Simple => Arc::new(simple::Simple::build(options, env)?),
        Template::Synonym => Arc::new(synonym::Synonym::build(options, env)?),
        Template::Thesaurus => Arc::new(thesaurus::Thesaurus::build(options, env)?),
        Template::Ispell => Arc::new(ispell::build(options, env)?),
        Template::Snowball => Arc::new(snowball::Snowball::build(options, env)?),
        Template::Integer => Arc::new(integer::Integers::build(options)?),
        Template::ExtendedSynonym => Arc::new(extended_synonym::Groups::build(options, env)?),
        Template::Unaccent => Arc::new(unaccent::Unaccent::build(options, env)?),
    })
}
