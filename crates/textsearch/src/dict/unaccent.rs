//! The template `unaccent` of the extension of that name: replaces characters, and parts of words,
//! by rules of a file. The result is given to the next dictionary. Counterpart:
//! contrib/unaccent/unaccent.c.

use super::files::open;
use super::options::Options;
use super::template::{
    Dictionary, Environment, Lexeme, Lexized, Phrase, check_once, required, unrecognized,
};
use pgerror::{Result, Severity, pg_err};
use std::collections::HashMap;
use std::collections::hash_map::Entry;

pub(super) struct Unaccent {
    /// What is replaced, and by what.
    rules: HashMap<Box<[u8]>, Box<[u8]>>,
    /// Length of the longest replaced text that begins with a byte; 0 if there is none.
    longest: [usize; 256],
}

impl Unaccent {
    pub fn build(options: &Options, env: &mut dyn Environment) -> Result<Unaccent> {
        let mut rules = None;
        for (name, value) in options {
            match name.as_str() {
                "rules" => {
                    check_once(&rules, "Rules")?;
                    rules = Some(Unaccent::read(&value.text(), env)?);
                }
                _ => return Err(unrecognized("Unaccent", name)),
            }
        }
        required(rules, "Rules")
    }

    /// Reads a file of rules: what is replaced, and by what, if it is not omitted.
    fn read(file: &str, env: &mut dyn Environment) -> Result<Unaccent> {
        let ctype = env.ctype();
        let is_utf8 = env.encoding_name() == "UTF8";
        let file = open(env, file, "rules", "unaccent")?;
        let mut rules = HashMap::new();
        let mut longest = [0; 256];
        // Rules with characters that the database cannot have are ignored.
        for (n, line) in file.lines().filter(|(_, line)| is_utf8 || line.is_ascii()) {
            let mut warn = |text: &str| {
                let warning = pg_err!(CONFIG_FILE_ERROR, "{text}").severity(Severity::Warning);
                env.warning(file.at_line(warning, n, line));
            };
            let mut parts =
                line.split(|c: char| ctype.is_space(c as u32)).filter(|p| !p.is_empty());
            let (Some(from), to) = (parts.next(), parts.next()) else { continue };
            if parts.next().is_some() {
                warn("invalid syntax: more than two strings in unaccent rule");
                continue;
            }
            let first = usize::from(from.as_bytes()[0]);
            longest[first] = longest[first].max(from.len());
            match rules.entry(Box::from(from.as_bytes())) {
                Entry::Vacant(entry) => {
                    entry.insert(Box::from(to.unwrap_or_default().as_bytes()));
                }
                Entry::Occupied(_) => warn("duplicate source strings, first one will be used"),
            }
        }
        Ok(Unaccent { rules, longest })
    }

    /// The longest rule for the start of a text: the length of the replaced part, and what replaces
    /// it.
    fn rule(&self, text: &[u8]) -> Option<(usize, &[u8])> {
        let longest = self.longest[usize::from(*text.first()?)].min(text.len());
        let lengths = (1..=longest).rev();
        lengths.into_iter().find_map(|n| self.rules.get(&text[..n]).map(|by| (n, by.as_ref())))
    }
}

impl Dictionary for Unaccent {
    fn lexize(&self, token: &[u8], _: &mut Phrase) -> Result<Lexized> {
        let mut out: Option<Vec<u8>> = None;
        let mut at = 0;
        while at < token.len() {
            match self.rule(&token[at..]) {
                Some((length, by)) => {
                    out.get_or_insert_with(|| token[..at].to_vec()).extend_from_slice(by);
                    at += length;
                }
                None => {
                    if let Some(out) = &mut out {
                        out.push(token[at]);
                    }
                    at += 1;
                }
            }
        }
        // The next dictionary gets the token itself if nothing is replaced.
        Ok(out.map(|text| vec![Lexeme { filter: true, ..Lexeme::plain(text) }]))
    }
}
