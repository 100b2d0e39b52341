//! Parses `postgresql.conf`: names and values, comments, quoting, include directives.
//!
//! Counterpart: guc-file.l.

use pgerror::{PgError, Result, Severity, SqlState};
use std::io;
use std::sync::Arc;

/// Maximum nesting depth of include directives.
const DEPTH_MAX: u32 = 10;

/// File access for the parser.
pub trait Files {
    fn read(&self, path: &str) -> io::Result<Vec<u8>>;
    /// Names of the entries of a directory.
    fn list(&self, path: &str) -> io::Result<Vec<String>>;
}

/// A line `name = value`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Entry {
    pub name: String,
    pub value: String,
    pub file: Arc<str>,
    pub line: u32,
}

/// The settings of a file and its includes, in order, and the errors found.
#[derive(Default, Debug)]
pub struct Parsed {
    pub entries: Vec<Entry>,
    pub errors: Vec<PgError>,
    /// The same errors for `pg_file_settings`: file, line (0 for the whole file), message.
    pub error_lines: Vec<(String, u32, String)>,
}

impl Parsed {
    fn add_error(&mut self, file: &str, line: u32, short: &str, error: PgError) {
        self.error_lines.push((file.to_owned(), line, short.to_owned()));
        self.errors.push(error);
    }
}

/// Parses a file with its includes.
pub fn parse_file(files: &dyn Files, path: &str) -> Parsed {
    let mut parsed = Parsed::default();
    read_into(files, path, 0, true, None, &mut parsed);
    parsed
}

/// As [`parse_file`], for a text without includes.
pub fn parse_one(path: &str, text: &str) -> Parsed {
    struct None;
    impl Files for None {
        fn read(&self, _: &str) -> io::Result<Vec<u8>> {
            Err(io::ErrorKind::NotFound.into())
        }
        fn list(&self, _: &str) -> io::Result<Vec<String>> {
            Err(io::ErrorKind::NotFound.into())
        }
    }
    let mut parsed = Parsed::default();
    parse_text(&None, path, text, 0, &mut parsed);
    parsed
}

fn error(code: SqlState, message: String) -> PgError {
    PgError::new(code, message).severity(Severity::Log)
}

fn read_into(
    files: &dyn Files,
    path: &str,
    depth: u32,
    required: bool,
    from: Option<(&str, u32)>,
    out: &mut Parsed,
) {
    if depth > DEPTH_MAX {
        let (file, line) = from.unwrap_or((path, 0));
        let message = format!(
            "could not open configuration file \"{path}\": maximum nesting depth exceeded in file \
             \"{file}\" line {line}"
        );
        let error = error(SqlState::PROGRAM_LIMIT_EXCEEDED, message);
        out.add_error(file, line, "nesting depth exceeded", error);
        return;
    }
    match files.read(path) {
        Ok(bytes) => parse_text(files, path, &String::from_utf8_lossy(&bytes), depth, out),
        Err(e) if !required && e.kind() == io::ErrorKind::NotFound => {
            out.errors.push(
                error(
                    SqlState::SUCCESSFUL_COMPLETION,
                    format!("skipping missing configuration file \"{path}\""),
                )
                .severity(Severity::Debug),
            );
        }
        Err(e) => {
            let message = format!("could not open configuration file \"{path}\": {}", reason(&e));
            let (file, line) = from.unwrap_or((path, 0));
            let short = format!("could not open file \"{path}\"");
            out.add_error(file, line, &short, error(SqlState::UNDEFINED_FILE, message));
        }
    }
}

/// The system's error message without Rust's `(os error N)`.
fn reason(e: &io::Error) -> String {
    let text = e.to_string();
    match text.find(" (os error") {
        Some(end) => text[..end].to_owned(),
        None => text,
    }
}

fn parse_text(files: &dyn Files, path: &str, text: &str, depth: u32, out: &mut Parsed) {
    let file: Arc<str> = path.into();
    for (i, line) in text.lines().enumerate() {
        let number = i as u32 + 1;
        match parse_line(line) {
            Ok(None) => {}
            Ok(Some((name, value))) => {
                let location = Some((path, number));
                let named = |word: &str| name.eq_ignore_ascii_case(word);
                if named("include") || named("include_if_exists") {
                    let target = resolve_path(path, &value);
                    read_into(files, &target, depth + 1, named("include"), location, out);
                } else if named("include_dir") {
                    include_dir(files, &resolve_path(path, &value), depth, location, out);
                } else {
                    out.entries.push(Entry { name, value, file: file.clone(), line: number });
                }
            }
            Err(near) => {
                let near = match near {
                    Some(token) => format!("near token \"{token}\""),
                    None => "near end of line".to_owned(),
                };
                let message = format!("syntax error in file \"{path}\" line {number}, {near}");
                let error = error(SqlState::SYNTAX_ERROR, message);
                out.add_error(path, number, "syntax error", error);
            }
        }
    }
}

fn include_dir(
    files: &dyn Files,
    dir: &str,
    depth: u32,
    location: Option<(&str, u32)>,
    out: &mut Parsed,
) {
    match files.list(dir) {
        Ok(mut names) => {
            names.retain(|n| n.ends_with(".conf") && !n.starts_with('.') && n.len() > 5);
            names.sort();
            for name in names {
                read_into(files, &format!("{dir}/{name}"), depth + 1, true, location, out);
            }
        }
        Err(e) => {
            let message =
                format!("could not open configuration directory \"{dir}\": {}", reason(&e));
            let (file, line) = location.unwrap_or((dir, 0));
            let short = format!("could not open directory \"{dir}\"");
            out.add_error(file, line, &short, error(SqlState::UNDEFINED_FILE, message));
        }
    }
}

/// Resolves a path relative to the directory of the file that contains it.
fn resolve_path(file: &str, target: &str) -> String {
    if target.starts_with('/') {
        return target.to_owned();
    }
    match file.rsplit_once('/') {
        Some((dir, _)) => format!("{dir}/{target}"),
        None => target.to_owned(),
    }
}

/// Name and value of a line. The error is the unexpected token, or `None` at the end of the line.
fn parse_line(line: &str) -> Result<Option<(String, String)>, Option<String>> {
    let rest = line.trim_start();
    if rest.is_empty() || rest.starts_with('#') {
        return Ok(None);
    }
    let word =
        |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.' || c == '$' || !c.is_ascii();
    let end = rest.find(|c| !word(c)).unwrap_or(rest.len());
    let name = &rest[..end];
    let starts = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_' || !c.is_ascii());
    if !starts {
        return Err(Some(token(rest)));
    }
    let mut rest = rest[end..].trim_start();
    if let Some(after) = rest.strip_prefix('=') {
        rest = after.trim_start();
    }
    if rest.is_empty() || rest.starts_with('#') {
        return Err(None);
    }
    let (value, rest) = match rest.strip_prefix('\'') {
        Some(quoted) => unquote(quoted).ok_or_else(|| Some(token(rest)))?,
        None => {
            let part =
                |c: char| c.is_ascii_alphanumeric() || "_.:/-+$".contains(c) || !c.is_ascii();
            let end = rest.find(|c| !part(c)).unwrap_or(rest.len());
            if end == 0 {
                return Err(Some(token(rest)));
            }
            (rest[..end].to_owned(), &rest[end..])
        }
    };
    let rest = rest.trim_start();
    if rest.is_empty() || rest.starts_with('#') {
        Ok(Some((name.to_owned(), value)))
    } else {
        Err(Some(token(rest)))
    }
}

/// The first token, for an error message.
fn token(rest: &str) -> String {
    let end = rest.find(|c: char| c.is_whitespace() || c == '#').unwrap_or(rest.len());
    rest[..end].to_owned()
}

/// The text up to the closing quote with escapes resolved, and the rest.
fn unquote(text: &str) -> Option<(String, &str)> {
    let mut out = String::new();
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        match c {
            '\'' if chars.peek().is_some_and(|(_, c)| *c == '\'') => {
                chars.next();
                out.push('\'');
            }
            '\'' => return Some((out, &text[at + 1..])),
            '\\' => {
                let (_, escaped) = chars.next()?;
                match escaped {
                    'b' => out.push('\u{8}'),
                    'f' => out.push('\u{c}'),
                    'n' => out.push('\n'),
                    'r' => out.push('\r'),
                    't' => out.push('\t'),
                    '0'..='7' => {
                        let mut value = escaped as u32 - '0' as u32;
                        for _ in 0..2 {
                            let Some(&(_, d @ '0'..='7')) = chars.peek() else { break };
                            value = value * 8 + (d as u32 - '0' as u32);
                            chars.next();
                        }
                        out.push(char::from(value as u8));
                    }
                    other => out.push(other),
                }
            }
            other => out.push(other),
        }
    }
    None
}

/// The value as a quoted literal of configuration files.
pub fn quote(value: &str) -> String {
    format!("'{}'", value.replace('\'', "''").replace('\\', "\\\\"))
}

/// Contents of `postgresql.auto.conf` with a parameter set or, with `None`, removed.
pub fn rewrite_auto(entries: &[Entry], name: &str, value: Option<&str>) -> String {
    let mut text = String::from(
        "# Do not edit this file manually!\n# It will be overwritten by the ALTER SYSTEM \
         command.\n",
    );
    let mut kept: Vec<(&str, &str)> = Vec::new();
    for e in entries {
        if !e.name.eq_ignore_ascii_case(name) {
            kept.retain(|(n, _)| !n.eq_ignore_ascii_case(&e.name));
            kept.push((&e.name, &e.value));
        }
    }
    kept.extend(value.map(|v| (name, v)));
    for (name, value) in kept {
        text.push_str(&format!("{name} = {}\n", quote(value)));
    }
    text
}
