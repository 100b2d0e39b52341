//! `pg_ident.conf`: which system users may be which roles. Counterpart: hba.c (`parse_ident_line`,
//! `check_usermap`).

use crate::hba::{fault, lines, single};
use pgerror::{PgError, Result, Severity, SqlState};
use regex_automata::meta::Regex;
use regex_automata::util::captures::Captures;

/// A line of the file. What is wrong with it is in `error`; then the rest is empty.
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
    /// Begins with a slash in the file.
    Pattern(Regex),
}

const MISSING: &str = "missing entry at end of line";

/// The maps.
#[derive(Clone, Default, Debug)]
pub struct Maps {
    entries: Vec<(String, Name, String)>,
}

/// The lines of the text, with their mistakes.
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

/// Reads the text of the file.
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
                fault(path, line.number, message)
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
    /// May this system user be that role by the map? Without a map the names must agree.
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

/// `\1` in the role's name is the first group of the pattern.
fn expand(target: &str, text: &str, captures: &Captures) -> Result<String> {
    if !target.contains("\\1") {
        return Ok(target.to_owned());
    }
    match captures.get_group(1) {
        Some(span) => Ok(target.replacen("\\1", &text[span.range()], 1)),
        None => Err(PgError::new(
            SqlState::INVALID_REGULAR_EXPRESSION,
            format!(
                "regular expression has no subexpressions as requested by backreference in \"{target}\""
            ),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn system_users_become_roles_by_their_map() {
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
