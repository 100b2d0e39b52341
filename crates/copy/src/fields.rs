//! Splits a line of COPY data into fields.
//!
//! Counterpart: `CopyReadAttributesText`, `CopyReadAttributesCSV`.

use crate::Format;
use crate::input::check_encoding;
use catalog::encoding::UTF8;
use pgerror::{Result, pg_err};

/// The fields of one line as byte ranges; `None` for NULL.
#[derive(Default)]
pub struct Fields {
    /// The unescaped text that the ranges refer to, unless `plain`.
    text: Vec<u8>,
    /// The line contains no escapes or quotes, so the ranges refer to the line itself.
    plain: bool,
    pub ranges: Vec<Option<(usize, usize)>>,
    /// For CSV, whether the field was quoted.
    pub quoted: Vec<bool>,
    /// Number of columns. At most one more field is kept, enough to detect extra data.
    fields_max: usize,
}

impl Fields {
    /// Field `i` of `line`, the line that was split last.
    #[inline]
    pub fn get<'a>(&'a self, i: usize, line: &'a [u8]) -> Option<&'a [u8]> {
        let text = if self.plain { line } else { &self.text };
        self.ranges[i].map(|(from, to)| &text[from..to])
    }

    fn clear(&mut self) {
        self.text.clear();
        self.plain = false;
        self.ranges.clear();
        self.quoted.clear();
    }

    fn end(&mut self, from: usize, null: bool, quoted: bool) {
        let to = self.text.len();
        self.add((!null).then_some((from, to)), quoted);
    }

    /// Appends a field. Only the first field beyond `fields_max` is kept.
    fn add(&mut self, range: Option<(usize, usize)>, quoted: bool) {
        if self.ranges.len() <= self.fields_max {
            self.ranges.push(range);
            self.quoted.push(quoted);
        }
    }

    /// Splits a line into fields; at most `fields_max` + 1 are kept.
    pub fn split(&mut self, line: &[u8], format: &Format, fields_max: usize) -> Result<()> {
        self.clear();
        self.fields_max = fields_max;
        if format.csv { self.split_csv(line, format) } else { self.split_text(line, format) }
    }

    fn split_text(&mut self, line: &[u8], format: &Format) -> Result<()> {
        if position(line, |c| c == b'\\').is_none() {
            self.split_plain(line, format);
            return Ok(());
        }
        let mut rest = line;
        loop {
            let from = self.text.len();
            let mut i = 0;
            let mut clean = 0;
            let mut unchecked = false;
            while i < rest.len() {
                let c = rest[i];
                if c == format.delimiter {
                    break;
                }
                if c != b'\\' {
                    i += 1;
                    continue;
                }
                self.text.extend_from_slice(&rest[clean..i]);
                i += 1;
                // A backslash at the end of the data is ignored.
                if let Some(&c) = rest.get(i) {
                    i = escape(rest, i, c, &mut self.text);
                    unchecked |= self.text.last().is_some_and(|b| *b == 0 || *b >= 0x80);
                }
                clean = i;
            }
            self.text.extend_from_slice(&rest[clean..i.max(clean)]);
            let raw = &rest[..i];
            let null = raw == format.null.as_slice();
            if unchecked && !null {
                // An escape gave a byte that may not be part of a valid character.
                let field = &self.text[from..];
                check_encoding(field, field, UTF8)?;
            }
            self.end(from, null, false);
            if i >= rest.len() {
                return Ok(());
            }
            rest = &rest[i + 1..];
        }
    }

    /// A line without backslashes: the fields are the bytes between delimiters.
    fn split_plain(&mut self, line: &[u8], format: &Format) {
        self.plain = true;
        let mut from = 0;
        loop {
            let len = position(&line[from..], |c| c == format.delimiter);
            let to = len.map_or(line.len(), |len| from + len);
            let null = line[from..to] == *format.null;
            self.add((!null).then_some((from, to)), false);
            if len.is_none() {
                return;
            }
            from = to + 1;
        }
    }

    fn split_csv(&mut self, line: &[u8], format: &Format) -> Result<()> {
        let mut i = 0;
        loop {
            let from = self.text.len();
            let start = i;
            let (mut quoted, mut inside) = (false, false);
            loop {
                let Some(&c) = line.get(i) else {
                    if inside {
                        return Err(pg_err!(BAD_COPY_FILE_FORMAT, "unterminated CSV quoted field"));
                    }
                    break;
                };
                if inside {
                    if c == format.escape
                        && line.get(i + 1).is_some_and(|&n| n == format.escape || n == format.quote)
                    {
                        self.text.push(line[i + 1]);
                        i += 2;
                        continue;
                    }
                    if c == format.quote {
                        inside = false;
                        i += 1;
                        continue;
                    }
                } else if c == format.delimiter {
                    break;
                } else if c == format.quote {
                    (quoted, inside) = (true, true);
                    i += 1;
                    continue;
                }
                self.text.push(c);
                i += 1;
            }
            let null = !quoted && line[start..i] == *format.null;
            self.end(from, null, quoted);
            if i >= line.len() {
                return Ok(());
            }
            i += 1;
        }
    }
}

/// Index of the first byte that satisfies `wanted`; tests sixteen bytes at a time.
#[inline]
pub fn position(bytes: &[u8], wanted: impl Fn(u8) -> bool) -> Option<usize> {
    const WIDTH: usize = 16;
    let mut at = 0;
    for chunk in bytes.chunks_exact(WIDTH) {
        // The loop has no branch per byte, so that the compiler can vectorize it.
        if chunk.iter().fold(false, |found, &c| found | wanted(c)) {
            break;
        }
        at += WIDTH;
    }
    bytes[at..].iter().position(|&c| wanted(c)).map(|n| at + n)
}

/// Decodes the backslash sequence whose second byte, `c`, is at `i`. Returns the index after it.
fn escape(rest: &[u8], mut i: usize, c: u8, out: &mut Vec<u8>) -> usize {
    let octal = |b: Option<&u8>| b.filter(|b| (b'0'..=b'7').contains(b)).map(|b| b - b'0');
    let hex = |b: Option<&u8>| b.and_then(|b| (*b as char).to_digit(16)).map(|d| d as u8);
    i += 1;
    match c {
        b'0'..=b'7' => {
            let mut value = c - b'0';
            for _ in 0..2 {
                let Some(d) = octal(rest.get(i)) else { break };
                value = value.wrapping_shl(3).wrapping_add(d);
                i += 1;
            }
            out.push(value);
        }
        b'x' => match hex(rest.get(i)) {
            Some(first) => {
                i += 1;
                let mut value = first;
                if let Some(d) = hex(rest.get(i)) {
                    value = value << 4 | d;
                    i += 1;
                }
                out.push(value);
            }
            None => out.push(b'x'),
        },
        b'b' => out.push(8),
        b'f' => out.push(12),
        b'n' => out.push(b'\n'),
        b'r' => out.push(b'\r'),
        b't' => out.push(b'\t'),
        b'v' => out.push(11),
        other => out.push(other),
    }
    i
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Header;

    fn format(csv: bool) -> Format {
        Format {
            csv,
            binary: false,
            freeze: false,
            delimiter: if csv { b',' } else { b'\t' },
            null: if csv { Vec::new() } else { b"\\N".to_vec() },
            header: Header::No,
            quote: b'"',
            escape: b'"',
            force_quote: Vec::new(),
            force_quote_all: false,
            force_not_null: Vec::new(),
            force_null: Vec::new(),
            convert_selectively: None,
            encoding: None,
        }
    }

    fn fields(line: &str, csv: bool) -> Vec<Option<String>> {
        let mut f = Fields::default();
        f.split(line.as_bytes(), &format(csv), usize::MAX).unwrap();
        (0..f.ranges.len())
            .map(|i| f.get(i, line.as_bytes()).map(|b| String::from_utf8_lossy(b).into_owned()))
            .collect()
    }

    fn some(s: &str) -> Option<String> {
        Some(s.to_string())
    }

    #[test]
    fn text() {
        assert_eq!(fields("1\t\\N\tx\\ty\\\\", false), [some("1"), None, some("x\ty\\")]);
        assert_eq!(fields("\\101\\x42\\q", false), [some("ABq")]);
        assert_eq!(fields("", false), [some("")]);
        let long = "0123456789abcdef0123456789";
        assert_eq!(fields(&format!("{long}\t\t{long}x"), false).len(), 3);
        assert_eq!(fields(&format!("{long}\t\\N\t{long}"), false), [some(long), None, some(long)]);
        assert_eq!(fields("a\t", false), [some("a"), some("")]);
    }

    #[test]
    fn csv() {
        assert_eq!(fields("1,\"a,\"\"b\"\"\",", true), [some("1"), some("a,\"b\""), None]);
        assert_eq!(fields("\"\"", true), [some("")]);
    }
}
