//! Parses `pg_ident.conf`, which maps system user names to roles.
//!
//! Counterpart: hba.c (`parse_ident_line`, `check_usermap`).

use crate::hba::{line_error, lines, single};
use pgerror::{PgError, Result, Severity, SqlState};
use regex_automata::meta::Regex;
use regex_automata::util::captures::Captures;

/// A line of the file. If `error` is set, the other fields are empty.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct Line {
    pub number: u32,
    pub map: String,
    pub system_user: String,
    pub role: String,
    pub error: Option<String>,
}

#[derive(Clone, Debug)]
enum Name {
    Exact(String),
    /// A regular expression; begins with a slash in the file.
    Pattern(Regex),
}

const MISSING: &str = "missing entry at end of line";

/// The user name maps.
#[derive(Clone, Default, Debug)]
pub struct Maps {
    entries: Vec<(String, Name, String)>,
}

/// All lines with their errors, for display.
pub fn parse_lines(text: &str, include: &dyn Fn(&str) -> Option<String>) -> Vec<Line> {
    let mut found = Vec::new();
    for (number, fields) in lines(text, include) {
        let mut line = Line { number, ..Line::default() };
        let result = fields.and_then(|fields| {
            let mut fields = fields.iter();
            let mut next = |what: &str| -> Result<String, String> {
                let field = fields.next().ok_or(MISSING)?;
                single(field, what).map(str::to_owned)
            };
            line.map = next("ident field")?;
            line.system_user = next("ident field")?;
            line.role = next("ident field")?;
            if let Some(pattern) = line.system_user.strip_prefix('/') {
                Regex::new(pattern)
                    .map_err(|e| format!("invalid regular expression \"{pattern}\": {e}"))?;
            }
            Ok(())
        });
        line.error = result.err();
        found.push(line);
    }
    found
}

/// Parses the file's text.
pub fn parse(
    path: &str,
    text: &str,
    include: &dyn Fn(&str) -> Option<String>,
) -> Result<Maps, Vec<PgError>> {
    let mut maps = Maps::default();
    let mut errors = Vec::new();
    for line in parse_lines(text, include) {
        if let Some(message) = line.error {
            errors.push(if message == MISSING {
                let at = line.number;
                let text = format!("missing entry in file \"{path}\" at end of line {at}");
                PgError::new(SqlState::CONFIG_FILE_ERROR, text).severity(Severity::Log)
            } else {
                line_error(path, line.number, message)
            });
            continue;
        }
        let name = match line.system_user.strip_prefix('/').map(Regex::new) {
            Some(Ok(pattern)) => Name::Pattern(pattern),
            _ => Name::Exact(line.system_user),
        };
        maps.entries.push((line.map, name, line.role));
    }
    if errors.is_empty() { Ok(maps) } else { Err(errors) }
}

impl Maps {
    /// Whether the map allows this system user to log in as the role. Without a map the names must
    /// be equal.
    pub fn allows(&self, map: Option<&str>, system_user: &str, role: &str) -> Result<bool> {
        let Some(map) = map else { return Ok(system_user == role) };
        for (name, system, target) in self.entries.iter().filter(|(name, ..)| name == map) {
            let _ = name;
            match system {
                Name::Exact(exact) if exact == system_user && target == role => return Ok(true),
                Name::Exact(_) => {}
                Name::Pattern(pattern) => {
                    let mut captures = pattern.create_captures();
                    pattern.captures(system_user, &mut captures);
                    if captures.is_match() && expand(target, system_user, &captures)? == role {
                        return Ok(true);
                    }
                }
            }
        }
        Ok(false)
    }
}

/// Replaces `\1` in the role name by the first group of the match.
fn expand(target: &str, text: &str, captures: &Captures) -> Result<String> {
    if !target.contains("\\1") {
        return Ok(target.to_owned());
    }
    match captures.get_group(1) {
        Some(span) => Ok(target.replacen("\\1", &text[span.range()], 1)),
        None => Err(PgError::new(
            SqlState::INVALID_REGULAR_EXPRESSION,
            format!(
                "regular expression has no subexpressions as requested by backreference in \
                 \"{target}\""
            ),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn maps_translate_system_users_to_roles() {
        let text =
            "m  alice  a\nm \"bob x\" b # c\nm /^(.*)@example\\.com$ \\1\nother alice root\n";
        let maps = parse("f", text, &|_| None).unwrap();
        for (map, system, role, allowed) in [
            (Some("m"), "alice", "a", true),
            (Some("m"), "alice", "root", false),
            (Some("other"), "alice", "root", true),
            (Some("m"), "bob x", "b", true),
            (Some("m"), "carol@example.com", "carol", true),
            (Some("m"), "carol@example.org", "carol", false),
            (None, "alice", "alice", true),
            (None, "alice", "a", false),
        ] {
            assert_eq!(maps.allows(map, system, role).unwrap(), allowed, "{map:?} {system} {role}");
        }
        assert!(parse("f", "m alice\n", &|_| None).is_err());
    }
}
