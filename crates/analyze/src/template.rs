//! Query templates: the text of a statement without its literals. Texts with equal templates can
//! share a plan.
//!
//! The scanner implements the part of the lexer that finds literals: comments, quoted and plain
//! identifiers, all kinds of strings, numbers. If it is not certain, there is no template, and the
//! statement bypasses the cache. In the template a literal is a zero byte, which no text contains,
//! and the class of the literal.
//!
//! ```text
//! SELECT abalance FROM accounts WHERE aid = 4711;
//! SELECT abalance FROM accounts WHERE aid = ␀i;      literals: [4711]
//! ```

/// Longer texts have no template.
const TEXT_BYTES_MAX: usize = 16 * 1024;
/// Statements with more literals have no template.
const LITERALS_MAX: usize = 128;

/// The class of a literal. The class of a number is its type, so it is part of the template.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Class {
    Int4 = b'i',
    Int8 = b'l',
    Numeric = b'n',
    /// `'…'`, of unknown type.
    Text = b's',
    /// A number whose type depends on its sign, or a string with a prefix: it never becomes a
    /// parameter.
    Other = b'o',
}

/// A literal of the text, including quotes and prefix, without a sign. Byte offsets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Literal {
    pub class: Class,
    pub start: u32,
    pub end: u32,
}

impl Literal {
    pub fn of<'t>(&self, text: &'t [u8]) -> &'t [u8] {
        &text[self.start as usize..self.end as usize]
    }
}

/// The template and the literals of a text. The buffers are reused for the next text.
#[derive(Default)]
pub struct Template {
    pub key: Vec<u8>,
    pub literals: Vec<Literal>,
}

/// Byte classes.
const PLAIN: u8 = 0;
const LETTER: u8 = 1;
const DIGIT: u8 = 2;
/// The start of a quoted token, comment, number, parameter or separator.
const SPECIAL: u8 = 3;

const KINDS: [u8; 256] = {
    let mut kinds = [PLAIN; 256];
    let mut b = 0;
    while b < 256 {
        kinds[b] = match b as u8 {
            b'a'..=b'z' | b'A'..=b'Z' | b'_' | 0x80..=0xff => LETTER,
            b'0'..=b'9' => DIGIT,
            b'\'' | b'"' | b'-' | b'/' | b'.' | b'$' | b';' | 0 => SPECIAL,
            _ => PLAIN,
        };
        b += 1;
    }
    kinds
};

/// True if the byte can continue an identifier.
#[inline]
fn in_word(b: u8) -> bool {
    matches!(KINDS[usize::from(b)], LETTER | DIGIT) || b == b'$'
}

fn is_space(b: u8) -> bool {
    matches!(b, b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c)
}

impl Template {
    /// Scans a text under `standard_conforming_strings`. False if there is no template.
    pub fn scan(&mut self, text: &[u8]) -> bool {
        self.key.clear();
        self.literals.clear();
        if text.len() > TEXT_BYTES_MAX {
            return false;
        }
        let mut at = 0;
        // The text from this offset on has not been copied to the key.
        let mut copied = 0;
        while let Some(&b) = text.get(at) {
            match KINDS[usize::from(b)] {
                PLAIN => at += 1,
                LETTER => {
                    let start = at;
                    at += 1;
                    while text.get(at).is_some_and(|&b| in_word(b)) {
                        at += 1;
                    }
                    match text.get(at) {
                        Some(b'\'') if at == start + 1 => {
                            let escapes = match text[start] {
                                b'e' | b'E' => true,
                                b'b' | b'B' | b'x' | b'X' | b'n' | b'N' => false,
                                _ => continue,
                            };
                            let Some(end) = string_end(text, at, escapes) else { return false };
                            at = end;
                            if !self.literal(text, copied, Class::Other, start, at) {
                                return false;
                            }
                            copied = at;
                        }
                        Some(b'&') if at == start + 1 && matches!(text[start], b'u' | b'U') => {
                            return false;
                        }
                        _ => {}
                    }
                }
                DIGIT => {
                    let Some((class, end)) = number(text, at) else { return false };
                    if !self.literal(text, copied, class, at, end) {
                        return false;
                    }
                    at = end;
                    copied = at;
                }
                _ => match b {
                    b'\'' => {
                        let Some(end) = string_end(text, at, false) else { return false };
                        if !self.literal(text, copied, Class::Text, at, end) {
                            return false;
                        }
                        at = end;
                        copied = at;
                    }
                    b'"' => match text[at + 1..].iter().position(|&b| b == b'"') {
                        Some(n) => at += n + 2,
                        None => return false,
                    },
                    b'-' if text.get(at + 1) == Some(&b'-') => {
                        let rest = text[at..].iter().position(|&b| b == b'\n' || b == b'\r');
                        at += rest.unwrap_or(text.len() - at);
                    }
                    b'/' if text.get(at + 1) == Some(&b'*') => match comment_end(text, at) {
                        Some(end) => at = end,
                        None => return false,
                    },
                    b'.' if text.get(at + 1).is_some_and(u8::is_ascii_digit) => {
                        let Some((class, end)) = number(text, at) else { return false };
                        if !self.literal(text, copied, class, at, end) {
                            return false;
                        }
                        at = end;
                        copied = at;
                    }
                    // A single statement may end with a semicolon.
                    b';' if text[at + 1..].iter().all(|&b| is_space(b)) => at = text.len(),
                    b'-' | b'/' | b'.' => at += 1,
                    // Parameters, dollar-quoted strings, several statements.
                    _ => return false,
                },
            }
        }
        self.key.extend_from_slice(&text[copied..]);
        true
    }

    fn literal(
        &mut self,
        text: &[u8],
        copied: usize,
        class: Class,
        start: usize,
        end: usize,
    ) -> bool {
        self.key.extend_from_slice(&text[copied..start]);
        self.key.extend_from_slice(&[0, class as u8]);
        self.literals.push(Literal { class, start: start as u32, end: end as u32 });
        self.literals.len() <= LITERALS_MAX
    }
}

/// The class and end of the number at `at`. `None` if it is not a plain decimal number.
fn number(text: &[u8], at: usize) -> Option<(Class, usize)> {
    let digits = |mut at: usize| {
        while text.get(at).is_some_and(u8::is_ascii_digit) {
            at += 1;
        }
        at
    };
    let mut end = digits(at);
    let mut whole = true;
    if text.get(end) == Some(&b'.') {
        // Some grammars read `1..10` as two numbers.
        if text.get(end + 1) == Some(&b'.') {
            return None;
        }
        whole = false;
        end = digits(end + 1);
    }
    if matches!(text.get(end), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(text.get(end + 1), Some(b'+' | b'-')));
        let exponent = digits(end + 1 + sign);
        if exponent == end + 1 + sign {
            return None;
        }
        whole = false;
        end = exponent;
    }
    // Numbers such as 0x1f and 1_000, and trailing junk after a number.
    if text.get(end).is_some_and(|&b| in_word(b)) {
        return None;
    }
    if !whole {
        return Some((Class::Numeric, end));
    }
    let value = integer(&text[at..end]);
    Some((
        match value {
            Some(0..=0x7fff_ffff) => Class::Int4,
            // With a minus sign these values are within the range of the smaller type.
            Some(0x8000_0000 | 0x8000_0000_0000_0000) => Class::Other,
            Some(0x8000_0001..=0x7fff_ffff_ffff_ffff) => Class::Int8,
            _ => Class::Numeric,
        },
        end,
    ))
}

/// The value of a digit string; `None` beyond 64 bits.
pub fn integer(digits: &[u8]) -> Option<u64> {
    digits.iter().try_fold(0u64, |n, b| n.checked_mul(10)?.checked_add(u64::from(b - b'0')))
}

/// The end of the string whose opening quote is at `at`. `None` if it is not terminated, or if a
/// following string may continue it.
fn string_end(text: &[u8], at: usize, escapes: bool) -> Option<usize> {
    let mut at = at + 1;
    loop {
        match *text.get(at)? {
            b'\'' if text.get(at + 1) == Some(&b'\'') => at += 2,
            b'\'' => break,
            b'\\' if escapes => at += 2,
            0 => return None,
            _ => at += 1,
        }
    }
    let end = at + 1;
    // `'a'` and, on a following line, `'b'` are one string.
    let next = text[end..].iter().position(|&b| !is_space(b)).map(|n| end + n);
    match next {
        Some(next) if text[next] == b'\'' || text[next..].starts_with(b"--") => None,
        _ => Some(end),
    }
}

/// The end of the comment that begins at `at`; comments nest.
fn comment_end(text: &[u8], mut at: usize) -> Option<usize> {
    let mut depth = 0;
    loop {
        match text.get(at..at + 2)? {
            b"/*" => {
                depth += 1;
                at += 2;
            }
            b"*/" => {
                depth -= 1;
                at += 2;
                if depth == 0 {
                    return Some(at);
                }
            }
            _ => at += 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The template, with `?` and the class for each literal, and the literals; "none" if there is
    /// no template.
    fn shown(text: &str) -> String {
        let mut template = Template::default();
        if !template.scan(text.as_bytes()) {
            return "none".to_owned();
        }
        let mut out = String::from_utf8(template.key.clone()).unwrap().replace('\0', "?");
        for literal in &template.literals {
            out.push_str(" | ");
            out.push_str(std::str::from_utf8(literal.of(text.as_bytes())).unwrap());
        }
        out
    }

    #[test]
    fn literals_are_found() {
        for (text, want) in [
            ("select 1", "select ?i | 1"),
            (
                "select a1, \"b 2\".c3 from t4 where x=5;",
                "select a1, \"b 2\".c3 from t4 where x=?i; | 5",
            ),
            ("x = -5 and y = .5 or z = 1e5", "x = -?i and y = ?n or z = ?n | 5 | .5 | 1e5"),
            ("2147483647 2147483648 2147483649", "?i ?o ?l | 2147483647 | 2147483648 | 2147483649"),
            (
                "9223372036854775807 9223372036854775808 9223372036854775809",
                "?l ?o ?n | 9223372036854775807 | 9223372036854775808 | 9223372036854775809",
            ),
            ("99999999999999999999999 007 5.", "?n ?i ?n | 99999999999999999999999 | 007 | 5."),
            ("'a''b' and 'c'", "?s and ?s | 'a''b' | 'c'"),
            ("E'a\\'b' = b'01' or n'x'", "?o = ?o or ?o | E'a\\'b' | b'01' | n'x'"),
            ("name'x'", "name?s | 'x'"),
            ("a -- 1 'b\n = 2", "a -- 1 'b\n = ?i | 2"),
            ("a /* 1 /* 2 */ 'x */ + 3", "a /* 1 /* 2 */ 'x */ + ?i | 3"),
            ("t.a.b = t.c", "t.a.b = t.c"),
            ("a$1 = 'é' and é2 = 1", "a$1 = ?s and é2 = ?i | 'é' | 1"),
        ] {
            assert_eq!(shown(text), want, "{text}");
        }
    }

    #[test]
    fn ambiguous_texts_have_no_template() {
        for text in [
            "select $1",
            "select $$a$$",
            "select $x$a$x$",
            "select 1; select 2",
            "select 'a'\n'b'",
            "select 'a' -- c\n'b'",
            "select 'open",
            "select \"open",
            "select /* open",
            "select U&'x'",
            "select u&\"x\"",
            "select 0x1f",
            "select 1_000",
            "select 12ab",
            "select 1e",
            "select 1..2",
            "select E'open\\'",
        ] {
            assert_eq!(shown(text), "none", "{text}");
        }
        assert_eq!(shown(&format!("select {}", "1,".repeat(LITERALS_MAX + 1))), "none");
        assert_eq!(shown(&" ".repeat(TEXT_BYTES_MAX + 1)), "none");
    }
}
