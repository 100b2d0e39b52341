//! The text of ranges and multiranges. Counterpart: `range_parse`, `range_deparse`,
//! `multirange_in`.

use crate::stored::{
    EMPTY, LOWER_INCLUSIVE, LOWER_INFINITE, UPPER_INCLUSIVE, UPPER_INFINITE, has_lower, has_upper,
};
use pgerror::{PgError, Result, pg_err};
use values::limits::TextBuffer;
use values::type_io::{is_space, lossy_text};

const EMPTY_WORD: &[u8] = b"empty";

/// A range as it is written: flags and the texts of its bounds, `None` where it has none.
pub(crate) struct Written {
    pub flags: u8,
    pub lower: Option<Vec<u8>>,
    pub upper: Option<Vec<u8>>,
}

/// A reader of a literal. Its end reads as zero, which no text contains.
struct Scanner<'a> {
    text: &'a [u8],
    at: usize,
    /// "range" or "multirange".
    what: &'static str,
}

impl<'a> Scanner<'a> {
    fn peek(&self) -> u8 {
        self.text.get(self.at).copied().unwrap_or(0)
    }

    fn next(&mut self) -> u8 {
        let c = self.peek();
        self.at += 1;
        c
    }

    fn skip_space(&mut self) {
        while is_space(self.peek()) {
            self.at += 1;
        }
    }

    fn rest(&self) -> &'a [u8] {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn at_empty(&self) -> bool {
        let word = self.rest().get(..EMPTY_WORD.len());
        word.is_some_and(|w| w.eq_ignore_ascii_case(EMPTY_WORD))
    }

    #[cold]
    fn malformed(&self, detail: &str) -> PgError {
        let (what, text) = (self.what, lossy_text(self.text));
        pg_err!(INVALID_TEXT_REPRESENTATION, "malformed {what} literal: \"{text}\"").detail(detail)
    }

    /// 22P02 if anything but white space is left.
    fn end(&mut self, detail: &str) -> Result<()> {
        self.skip_space();
        if self.at < self.text.len() { Err(self.malformed(detail)) } else { Ok(()) }
    }

    /// The text of a bound without quotes; `None` if there is none.
    fn bound(&mut self) -> Result<Option<Vec<u8>>> {
        let ends = |c: u8| matches!(c, b',' | b')' | b']');
        if ends(self.peek()) {
            return Ok(None);
        }
        let (mut out, mut quoted) = (Vec::new(), false);
        while quoted || !ends(self.peek()) {
            if self.at >= self.text.len() {
                return Err(self.malformed("Unexpected end of input."));
            }
            match self.next() {
                b'\\' if self.at >= self.text.len() => {
                    return Err(self.malformed("Unexpected end of input."));
                }
                b'\\' => out.push(self.next()),
                b'"' if quoted && self.peek() == b'"' => out.push(self.next()),
                b'"' => quoted = !quoted,
                c => out.push(c),
            }
        }
        Ok(Some(out))
    }
}

/// Reads the text of a range.
pub(crate) fn range(text: &[u8]) -> Result<Written> {
    let mut s = Scanner { text, at: 0, what: "range" };
    s.skip_space();
    if s.at_empty() {
        s.at += EMPTY_WORD.len();
        s.end("Junk after \"empty\" key word.")?;
        return Ok(Written { flags: EMPTY, lower: None, upper: None });
    }
    let mut flags = match s.peek() {
        b'[' => LOWER_INCLUSIVE,
        b'(' => 0,
        _ => return Err(s.malformed("Missing left parenthesis or bracket.")),
    };
    s.at += 1;
    let lower = s.bound()?;
    if s.next() != b',' {
        s.at -= 1;
        return Err(s.malformed("Missing comma after lower bound."));
    }
    let upper = s.bound()?;
    match s.next() {
        b']' => flags |= UPPER_INCLUSIVE,
        b')' => {}
        _ => return Err(s.malformed("Too many commas.")),
    }
    s.end("Junk after right parenthesis or bracket.")?;
    if lower.is_none() {
        flags |= LOWER_INFINITE;
    }
    if upper.is_none() {
        flags |= UPPER_INFINITE;
    }
    Ok(Written { flags, lower, upper })
}

/// The end of the range that begins at the present bracket, behind its closing bracket.
fn range_end(s: &mut Scanner<'_>) -> Result<()> {
    let mut quoted = false;
    s.at += 1;
    loop {
        if s.at >= s.text.len() {
            return Err(s.malformed("Unexpected end of input."));
        }
        match s.next() {
            // PostgreSQL skips white space before it looks at what a backslash escapes.
            b'\\' => {
                s.skip_space();
                if s.at >= s.text.len() {
                    return Err(s.malformed("Unexpected end of input."));
                }
                s.at += 1;
            }
            b'"' if quoted && s.peek() == b'"' => s.at += 1,
            b'"' => quoted = !quoted,
            b']' | b')' if !quoted => return Ok(()),
            _ => {}
        }
    }
}

/// The texts of the ranges of a multirange, those that are written as `empty` left out. `each` is
/// called for each one in order.
pub(crate) fn multirange(text: &[u8], mut each: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
    let mut s = Scanner { text, at: 0, what: "multirange" };
    s.skip_space();
    if s.next() != b'{' {
        return Err(s.malformed("Missing left brace."));
    }
    let mut seen = false;
    loop {
        s.skip_space();
        if s.at >= s.text.len() {
            return Err(s.malformed("Unexpected end of input."));
        }
        match s.peek() {
            b'[' | b'(' => {
                let start = s.at;
                range_end(&mut s)?;
                each(&text[start..s.at])?;
            }
            b'}' if !seen => {
                s.at += 1;
                break;
            }
            _ if s.at_empty() => s.at += EMPTY_WORD.len(),
            _ => return Err(s.malformed("Expected range start.")),
        }
        seen = true;
        s.skip_space();
        if s.at >= s.text.len() {
            return Err(s.malformed("Unexpected end of input."));
        }
        match s.next() {
            b',' => {}
            b'}' => break,
            _ => return Err(s.malformed("Expected comma or end of multirange.")),
        }
    }
    s.end("Junk after closing right brace.")
}

/// Appends the text of a range. `bounds`: the texts of its bounds, ignored where it has none.
pub(crate) fn push_range(out: &mut TextBuffer, flags: u8, (lower, upper): (&[u8], &[u8])) {
    if flags & EMPTY != 0 {
        out.extend_from_slice(EMPTY_WORD);
        return;
    }
    out.push(if flags & LOWER_INCLUSIVE != 0 { b'[' } else { b'(' });
    if has_lower(flags) {
        push_bound(out, lower);
    }
    out.push(b',');
    if has_upper(flags) {
        push_bound(out, upper);
    }
    out.push(if flags & UPPER_INCLUSIVE != 0 { b']' } else { b')' });
}

/// Appends a bound, in quotes if needed. Counterpart: `range_bound_escape`.
fn push_bound(out: &mut TextBuffer, text: &[u8]) {
    let special =
        |c: &u8| matches!(c, b'"' | b'\\' | b'(' | b')' | b'[' | b']' | b',') || is_space(*c);
    if !text.is_empty() && !text.iter().any(special) {
        out.extend_from_slice(text);
        return;
    }
    out.push(b'"');
    for &c in text {
        if matches!(c, b'"' | b'\\') {
            out.push(c);
        }
        out.push(c);
    }
    out.push(b'"');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(text: &str) -> (u8, Option<String>, Option<String>) {
        let w = range(text.as_bytes()).unwrap();
        let text = |t: Option<Vec<u8>>| t.map(|t| String::from_utf8(t).unwrap());
        (w.flags, text(w.lower), text(w.upper))
    }

    /// The texts are those of PostgreSQL's tests of range input.
    #[test]
    fn ranges_are_read() {
        let both = |f, a: &str, b: &str| (f, Some(a.to_owned()), Some(b.to_owned()));
        assert_eq!(parts(" EMPTY "), (EMPTY, None, None));
        assert_eq!(parts("[a,b)"), both(LOWER_INCLUSIVE, "a", "b"));
        assert_eq!(parts(" ( a , b ]  "), both(UPPER_INCLUSIVE, " a ", " b "));
        assert_eq!(parts("(\"\",\"\"\"\")"), both(0, "", "\""));
        assert_eq!(parts("(\\\",\"a,\\]\")"), both(0, "\"", "a,]"));
        assert_eq!(parts("(,)"), (LOWER_INFINITE | UPPER_INFINITE, None, None));
        for bad in ["", "-[a,z)", "[a,z) - ", "(\"a", "[a,a,a)", "(a]", "emptyx", "(\\"] {
            assert!(range(bad.as_bytes()).is_err(), "{bad}");
        }
    }

    #[test]
    fn multiranges_are_divided() {
        let list = |text: &str| {
            let mut out = Vec::new();
            multirange(text.as_bytes(), |r| {
                out.push(String::from_utf8(r.to_vec()).unwrap());
                Ok(())
            })
            .map(|()| out)
        };
        assert_eq!(list("{}").unwrap(), Vec::<String>::new());
        assert_eq!(list(" { [a,b) , empty , (c,\")\"] } ").unwrap(), ["[a,b)", "(c,\")\"]"]);
        assert_eq!(list("{(\"\\\"\",a\\)]}").unwrap(), ["(\"\\\"\",a\\)]"]);
        for bad in ["", "{,}", "{[a,b),}", "{[a,b)", "{[a,b)}x", "{foo}", "[a,b)", "{(a,b) c}"] {
            assert!(list(bad).is_err(), "{bad}");
        }
    }
}
