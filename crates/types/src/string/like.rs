//! LIKE and ILIKE, and the translation of SIMILAR TO. Counterpart: like.c, like_match.c, regexp.c.

use super::case::{letters, lower};
use pgerror::{Result, pg_err};
use values::datum::{Datum, DatumRef};
use values::fn_context::FnContext;
use values::settings::Encoding;
use values::text::char_len;

/// Whether the whole `text` matches the pattern. `%` matches any characters, `_` one character; a
/// backslash makes the next character literal.
pub fn like_match(text: &[u8], pattern: &[u8], encoding: Encoding) -> Result<bool> {
    let (mut t, mut p) = (0, 0);
    // The position after the last %, which matches one more character after a mismatch.
    let mut retry: Option<(usize, usize)> = None;
    // Within a run of % and _ that begins with %: whether text was left at that %.
    let mut run: Option<bool> = None;
    loop {
        match pattern.get(p) {
            Some(b'%') => {
                run.get_or_insert(t < text.len());
                retry = Some((t, p + 1));
                p += 1;
                continue;
            }
            Some(b'_') if t < text.len() => {
                t += char_len(&text[t..], encoding);
                p += 1;
                continue;
            }
            Some(b'\\') => {
                let Some(c) = pattern.get(p + 1) else {
                    // At the end of the text PostgreSQL reads on in the pattern only within such a
                    // run, so only then is there an error.
                    if t >= text.len() && run != Some(true) {
                        return Ok(false);
                    }
                    return Err(pg_err!(
                        INVALID_ESCAPE_SEQUENCE,
                        "LIKE pattern must not end with escape character"
                    ));
                };
                if text.get(t) == Some(c) {
                    run = None;
                    t += 1;
                    p += 2;
                    continue;
                }
            }
            Some(c) if text.get(t) == Some(c) => {
                run = None;
                t += 1;
                p += 1;
                continue;
            }
            None if t >= text.len() => return Ok(true),
            _ => {}
        }
        match retry {
            Some((from, after)) if from < text.len() => {
                run = None;
                t = from + char_len(&text[from..], encoding);
                // In a multibyte character no byte is ASCII, so a byte search finds the next
                // possible start of the rest of the pattern.
                if let Some(&c) = pattern.get(after)
                    && c.is_ascii()
                    && !matches!(c, b'%' | b'_' | b'\\')
                {
                    match text[t..].iter().position(|&b| b == c) {
                        Some(n) => t += n,
                        None => return Ok(false),
                    }
                }
                p = after;
                retry = Some((t, after));
            }
            _ => return Ok(false),
        }
    }
}

fn like(cx: &mut dyn FnContext, text: &[u8], pattern: &[u8]) -> Result<bool> {
    like_match(text, pattern, cx.settings().encoding)
}

fn ilike(cx: &mut dyn FnContext, text: &[u8], pattern: &[u8]) -> Result<bool> {
    let letters = match letters(cx, "ILIKE") {
        Ok(letters) => letters,
        Err(_) => {
            return Err(pg_err!(
                INDETERMINATE_COLLATION,
                "could not determine which collation to use for ILIKE"
            )
            .hint("Use the COLLATE clause to set the collation explicitly."));
        }
    };
    like_match(&lower(cx, text, &letters)?, &lower(cx, pattern, &letters)?, cx.settings().encoding)
}

/// Rewrites the pattern from another escape character to the backslash.
fn like_escape(pattern: &[u8], escape: &[u8], encoding: Encoding) -> Result<Vec<u8>> {
    let mut out = Vec::with_capacity(pattern.len() + 8);
    if escape.is_empty() {
        for &c in pattern {
            if c == b'\\' {
                out.push(b'\\');
            }
            out.push(c);
        }
        return Ok(out);
    }
    if char_len(escape, encoding) != escape.len() {
        return Err(pg_err!(INVALID_ESCAPE_SEQUENCE, "invalid escape string")
            .hint("Escape string must be empty or one character."));
    }
    if escape == b"\\" {
        return Ok(pattern.to_vec());
    }
    let mut rest = pattern;
    let mut after_escape = false;
    while !rest.is_empty() {
        let (c, tail) = rest.split_at(char_len(rest, encoding));
        rest = tail;
        if c == escape && !after_escape {
            out.push(b'\\');
            after_escape = true;
        } else if c == b"\\" {
            out.push(b'\\');
            if !after_escape {
                out.push(b'\\');
            }
            after_escape = false;
        } else {
            out.extend_from_slice(c);
            after_escape = false;
        }
    }
    Ok(out)
}

/// Finds the end of a bracket expression, which is not a `]` at its start or within `[:name:]`.
#[derive(Default)]
struct Brackets {
    depth: usize,
    /// Nothing but perhaps a `^` has been read.
    begun: bool,
    negated: bool,
}

impl Brackets {
    /// Reads the next character of the expression; `rest` is the text after it.
    fn next(&mut self, byte: u8, rest: &[u8]) {
        match byte {
            b']' if self.begun => self.begun = false,
            b']' => self.depth -= 1,
            b'[' => {
                // The names of classes and collating elements end with a bracket of their own.
                self.depth += usize::from(rest.first().is_some_and(|c| b":.=".contains(c)));
                self.begun = false;
            }
            b'^' if self.begun && !self.negated => self.negated = true,
            _ => self.begun = false,
        }
    }
}

/// Translates a SIMILAR TO pattern to a regular expression; `escape` is one character, or empty for
/// none.
fn similar_escape(pattern: &[u8], escape: Option<&[u8]>, encoding: Encoding) -> Result<Vec<u8>> {
    let escape = escape.unwrap_or(b"\\");
    if !escape.is_empty() && char_len(escape, encoding) != escape.len() {
        return Err(pg_err!(INVALID_ESCAPE_SEQUENCE, "invalid escape string")
            .hint("Escape string must be empty or one character."));
    }
    let mut out = b"^(?:".to_vec();
    let mut rest = pattern;
    let (mut after_escape, mut quotes) = (false, 0);
    let mut class = Brackets::default();
    while !rest.is_empty() {
        let (c, tail) = rest.split_at(char_len(rest, encoding));
        rest = tail;
        let byte = c[0];
        if c.len() > 1 {
            if after_escape {
                out.push(b'\\');
                out.extend_from_slice(c);
                after_escape = false;
            } else if c == escape {
                after_escape = true;
            } else {
                out.extend_from_slice(c);
            }
            continue;
        }
        if after_escape {
            if byte == b'"' && class.depth == 0 {
                // Escape-quote separates the parts of SUBSTRING … SIMILAR.
                match quotes {
                    0 => out.extend_from_slice(b"){1,1}?("),
                    1 => out.extend_from_slice(b"){1,1}(?:"),
                    _ => {
                        return Err(pg_err!(
                            INVALID_USE_OF_ESCAPE_CHARACTER,
                            "SQL regular expression may not contain more than two \
                             escape-double-quote separators"
                        ));
                    }
                }
                quotes += 1;
            } else {
                // It is a member of the bracket expression.
                out.push(b'\\');
                out.push(byte);
                class.begun = false;
            }
            after_escape = false;
        } else if c == escape {
            after_escape = true;
        } else if class.depth > 0 {
            if byte == b'\\' {
                out.push(b'\\');
            }
            out.push(byte);
            class.next(byte, rest);
        } else {
            match byte {
                b'[' => {
                    out.push(byte);
                    class = Brackets { depth: 1, begun: true, negated: false };
                }
                b'%' => out.extend_from_slice(b".*"),
                b'_' => out.push(b'.'),
                b'(' => out.extend_from_slice(b"(?:"),
                b'\\' | b'.' | b'^' | b'$' => {
                    out.push(b'\\');
                    out.push(byte);
                }
                _ => out.push(byte),
            }
        }
    }
    out.extend_from_slice(b")$");
    Ok(out)
}

fn matches(
    cx: &mut dyn FnContext,
    a: &[DatumRef<'_>],
    f: fn(&mut dyn FnContext, &[u8], &[u8]) -> Result<bool>,
    name: bool,
    want: bool,
) -> Result<Datum> {
    let text = if name { a[0].as_name() } else { a[0].as_bytes() };
    Ok(Datum::bool(f(cx, text, a[1].as_bytes())? == want))
}

fn bytea_like(a: &[DatumRef<'_>], want: bool) -> Result<Datum> {
    let matched = like_match(a[0].as_bytes(), a[1].as_bytes(), Encoding::SqlAscii)?;
    Ok(Datum::bool(matched == want))
}

scalars! { FNS;
    "textlike" => |cx, a| matches(cx, a, like, false, true),
    "textnlike" => |cx, a| matches(cx, a, like, false, false),
    "namelike" => |cx, a| matches(cx, a, like, true, true),
    "namenlike" => |cx, a| matches(cx, a, like, true, false),
    "bytealike" => |_, a| bytea_like(a, true),
    "byteanlike" => |_, a| bytea_like(a, false),
    "texticlike" => |cx, a| matches(cx, a, ilike, false, true),
    "texticnlike" => |cx, a| matches(cx, a, ilike, false, false),
    "nameiclike" => |cx, a| matches(cx, a, ilike, true, true),
    "nameicnlike" => |cx, a| matches(cx, a, ilike, true, false),
    "like_escape" => |cx, a| Ok(Datum::bytes(
        like_escape(a[0].as_bytes(), a[1].as_bytes(), cx.settings().encoding)?)),
    "like_escape_bytea" => |_, a| Ok(Datum::bytes(
        like_escape(a[0].as_bytes(), a[1].as_bytes(), Encoding::SqlAscii)?)),
    "similar_to_escape_1" => |cx, a| Ok(Datum::bytes(
        similar_escape(a[0].as_bytes(), None, cx.settings().encoding)?)),
    "similar_to_escape_2" => |cx, a| Ok(Datum::bytes(
        similar_escape(a[0].as_bytes(), Some(a[1].as_bytes()), cx.settings().encoding)?)),
    // The old variant is not strict; a NULL escape means the default.
    "similar_escape" => |cx, a| {
        if a[0].is_null() {
            return Ok(Datum::Null);
        }
        let escape = if a[1].is_null() { None } else { Some(a[1].as_bytes()) };
        Ok(Datum::bytes(similar_escape(a[0].as_bytes(), escape, cx.settings().encoding)?))
    },
}
