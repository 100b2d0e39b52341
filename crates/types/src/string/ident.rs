//! Parsing of qualified names. Counterpart: misc.c (`parse_ident`), varlena.c
//! (`SplitIdentifierString`).

use pgerror::{PgError, Result, pg_err};
use values::array::TextArray;
use values::datum::Datum;
use values::fn_context::FnContext;
use values::type_io::{is_space, lossy_text};

/// Splits a list of identifiers: double quotes are removed, unquoted ones are folded to lower case,
/// all are truncated to the length of names. `None` if the list is malformed. Counterpart:
/// `SplitIdentifierString`.
pub fn split_identifiers_at(text: &str, separator: char) -> Option<Vec<String>> {
    let mut names = split_elements(text, separator, str::to_ascii_lowercase)?;
    for name in &mut names {
        let length = values::chars::clip(name.as_bytes(), 63, values::settings::Encoding::Utf8);
        name.truncate(length);
    }
    Some(names)
}

/// Splits the value of a setting that is a list: double quotes are removed, nothing else is
/// changed. `None` if the list is malformed. Counterpart: `SplitGUCList`.
pub fn split_setting(text: &str) -> Option<Vec<String>> {
    split_elements(text, ',', str::to_owned)
}

/// Splits a list with elements in double quotes or without; `plain` converts those without.
fn split_elements(text: &str, separator: char, plain: fn(&str) -> String) -> Option<Vec<String>> {
    let is_space = |c: char| matches!(c, ' ' | '\t' | '\n' | '\r' | '\x0c');
    let mut out = Vec::new();
    let mut rest = text.trim_start_matches(is_space);
    if rest.is_empty() {
        return Some(out);
    }
    loop {
        let (name, tail) = if let Some(quoted) = rest.strip_prefix('"') {
            let (mut name, mut tail) = (String::new(), quoted);
            loop {
                let end = tail.find('"')?;
                name.push_str(&tail[..end]);
                tail = &tail[end + 1..];
                match tail.strip_prefix('"') {
                    Some(more) => {
                        name.push('"');
                        tail = more;
                    }
                    None => break (name, tail),
                }
            }
        } else {
            let end = rest.find(|c| c == separator || is_space(c)).unwrap_or(rest.len());
            if end == 0 {
                return None;
            }
            (plain(&rest[..end]), &rest[end..])
        };
        out.push(name);
        rest = tail.trim_start_matches(is_space);
        match rest.strip_prefix(separator) {
            Some(more) => rest = more.trim_start_matches(is_space),
            None if rest.is_empty() => return Some(out),
            None => return None,
        }
    }
}

/// A qualified name as error messages show it: without quotes, folded and truncated; unchanged if
/// it is not a valid name.
pub fn plain_name(text: &str) -> String {
    split_identifiers_at(text, '.').map_or_else(|| text.to_owned(), |parts| parts.join("."))
}

fn begins_name(c: u8) -> bool {
    c.is_ascii_alphabetic() || c == b'_' || c >= 0x80
}

fn continues_name(c: u8) -> bool {
    begins_name(c) || c.is_ascii_digit() || c == b'$'
}

/// The parts of a name, as text[]. With `strict` no text may follow it.
fn parts(cx: &dyn FnContext, text: &[u8], strict: bool) -> Result<Datum> {
    let invalid = || {
        let name = lossy_text(text);
        pg_err!(INVALID_PARAMETER_VALUE, "string is not a valid identifier: \"{name}\"")
    };
    let because = |detail: &str| -> PgError { invalid().detail(detail.to_owned()) };
    let blanks = |at: usize| at + text[at..].iter().take_while(|&&c| is_space(c)).count();
    let mut out = TextArray::default();
    let mut part = Vec::new();
    let mut at = blanks(0);
    let mut after_dot = false;
    loop {
        match text.get(at) {
            Some(b'"') => {
                part.clear();
                at += 1;
                loop {
                    match (text.get(at), text.get(at + 1)) {
                        (Some(b'"'), Some(b'"')) => {
                            part.push(b'"');
                            at += 2;
                        }
                        (Some(b'"'), _) => break,
                        (Some(&c), _) => {
                            part.push(c);
                            at += 1;
                        }
                        (None, _) => return Err(because("String has unclosed double quotes.")),
                    }
                }
                at += 1;
                if part.is_empty() {
                    return Err(because("Quoted identifier must not be empty."));
                }
                out.push(Some(&part), cx)?;
            }
            Some(&c) if begins_name(c) => {
                let len = text[at..].iter().take_while(|&&c| continues_name(c)).count();
                part.clear();
                part.extend(text[at..at + len].iter().map(u8::to_ascii_lowercase));
                out.push(Some(&part), cx)?;
                at += len;
            }
            Some(b'.') => return Err(because("No valid identifier before \".\".")),
            _ if after_dot => return Err(because("No valid identifier after \".\".")),
            _ => return Err(invalid()),
        }
        at = blanks(at);
        match text.get(at) {
            Some(b'.') => {
                after_dot = true;
                at = blanks(at + 1);
            }
            Some(_) if strict => return Err(invalid()),
            _ => return out.finish(),
        }
    }
}

scalars! { FNS;
    "parse_ident" => |cx, a| parts(cx, a[0].as_bytes(), a[1].as_bool()),
}
