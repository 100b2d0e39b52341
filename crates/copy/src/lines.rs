//! Splits COPY input, which arrives in pieces of any size, into lines.
//!
//! Counterpart: `CopyReadLine` of copyfromparse.c.

use crate::fields::position;
use pgerror::{PgError, Result, bail};
use types::limits::{ALLOCATION_BYTES_MAX, buffer_full};

/// A callback that appends more input; false at end of input.
pub type More<'a> = dyn FnMut(&mut Vec<u8>) -> Result<bool> + 'a;

/// PostgreSQL's read size (`RAW_BUF_SIZE`), on which its error for overlong lines depends.
const PIECE_BYTES: usize = 1 << 16;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum LineEnd {
    Unknown,
    Newline,
    Return,
    Both,
}

/// Buffered input and the position of the next line.
pub struct Lines {
    buf: Vec<u8>,
    /// Index of the first byte after the lines returned so far.
    start: usize,
    /// Index of the next byte to examine.
    at: usize,
    ended: bool,
    /// `\.` was read.
    marker: bool,
    style: LineEnd,
    csv: Option<(u8, u8)>,
    /// Input after the end marker is read and discarded.
    drains: bool,
    pub number: u64,
}

impl Lines {
    /// `csv`: quote and escape characters. `drains`: the input is read to its end even if the end
    /// marker comes before.
    pub fn new(csv: Option<(u8, u8)>, drains: bool) -> Lines {
        Lines {
            buf: Vec::new(),
            start: 0,
            at: 0,
            ended: false,
            marker: false,
            style: LineEnd::Unknown,
            csv,
            drains,
            number: 0,
        }
    }

    fn fill(&mut self, more: &mut More<'_>) -> Result<bool> {
        if self.ended {
            return Ok(false);
        }
        // The buffer contains one incomplete line, which must be shorter than 1 GB.
        let held = self.buf.len() - self.start;
        if held >= ALLOCATION_BYTES_MAX - PIECE_BYTES {
            return Err(buffer_full(held, PIECE_BYTES));
        }
        if self.start > 0 {
            self.buf.drain(..self.start);
            self.at -= self.start;
            self.start = 0;
        }
        if !more(&mut self.buf)? {
            self.ended = true;
        }
        Ok(!self.ended)
    }

    /// The next line without its terminator; `None` at end of data.
    pub fn next(&mut self, more: &mut More<'_>) -> Result<Option<(usize, usize)>> {
        if self.marker {
            return Ok(None);
        }
        self.number += 1;
        let found = match self.csv {
            None => self.find_text(more)?,
            Some((quote, escape)) => self.find_csv(more, quote, escape)?,
        };
        let Some((from, to)) = found else {
            // Discard input after the end marker.
            let mut rest = Vec::new();
            while self.drains && !self.ended {
                rest.clear();
                self.ended = !more(&mut rest)?;
            }
            return Ok(None);
        };
        Ok(Some((from, to)))
    }

    /// The bytes of a line returned by [`Lines::next`].
    pub fn bytes(&self, line: (usize, usize)) -> &[u8] {
        &self.buf[line.0..line.1]
    }

    /// The bytes from the start of a line to the end of what has been read.
    pub fn from(&self, line: (usize, usize)) -> &[u8] {
        &self.buf[line.0..]
    }

    /// The byte at an index, after reading more input if necessary.
    fn peek(&mut self, index: usize, more: &mut More<'_>) -> Result<Option<u8>> {
        let mut offset = index - self.start;
        while self.start + offset >= self.buf.len() {
            if !self.fill(more)? {
                return Ok(None);
            }
            offset = index.min(offset + self.start) - self.start;
        }
        Ok(self.buf.get(self.start + offset).copied())
    }

    fn find_text(&mut self, more: &mut More<'_>) -> Result<Option<(usize, usize)>> {
        loop {
            loop {
                let rest = self.buf.get(self.at..).unwrap_or(&[]);
                let Some(n) = position(rest, |c| matches!(c, b'\n' | b'\r' | b'\\')) else {
                    self.at = self.at.max(self.buf.len());
                    break;
                };
                self.at += n;
                let c = self.buf[self.at];
                if c == b'\\' {
                    let offset = self.at - self.start;
                    let next = self.peek(self.at + 1, more)?;
                    self.at = self.start + offset;
                    match next {
                        None => {
                            self.at += 1;
                        }
                        Some(b'.') => {
                            if let Some(end) = self.end_marker(more)? {
                                return Ok(end);
                            }
                        }
                        Some(_) => self.at += 2,
                    }
                    continue;
                }
                return self.line_end(c, more, "data").map(Some);
            }
            if !self.fill(more)? {
                return Ok(self.last_line());
            }
        }
    }

    /// The rest of the input as a line without a terminator.
    fn last_line(&mut self) -> Option<(usize, usize)> {
        self.at = self.at.min(self.buf.len());
        if self.start >= self.buf.len() {
            return None;
        }
        let line = (self.start, self.buf.len());
        self.start = self.buf.len();
        self.at = self.start;
        Some(line)
    }

    /// Handles `\.`, which is the end of the data if the line contains nothing else. `Some(None)`
    /// means the end of the data.
    #[allow(clippy::type_complexity)]
    fn end_marker(&mut self, more: &mut More<'_>) -> Result<Option<Option<(usize, usize)>>> {
        let offset = self.at - self.start;
        let next = self.peek(self.at + 2, more)?;
        self.at = self.start + offset;
        match next {
            Some(c @ (b'\n' | b'\r')) => {
                self.check_marker_end(c)?;
                if offset == 0 {
                    self.marker = true;
                    return Ok(Some(None));
                }
                // The bytes before the marker form a line. PostgreSQL ends the data only if the
                // client sends it; a file continues in the next line.
                self.marker = self.drains;
                let mut after = 3;
                if !self.marker && self.style == LineEnd::Both {
                    self.peek(self.start + offset + after, more)?;
                    after += 1;
                }
                let line = (self.start, self.start + offset);
                self.start = if self.marker { line.1 } else { line.1 + after };
                self.at = self.start;
                Ok(Some(Some(line)))
            }
            _ => Err(PgError::new(
                pgerror::SqlState::BAD_COPY_FILE_FORMAT,
                "end-of-copy marker corrupt",
            )),
        }
    }

    /// Error 22P04 unless the byte after the end marker ends lines as those before.
    fn check_marker_end(&self, c: u8) -> Result<()> {
        let fits = match self.style {
            LineEnd::Unknown => true,
            LineEnd::Newline => c == b'\n',
            LineEnd::Return | LineEnd::Both => c == b'\r',
        };
        if !fits {
            bail!(BAD_COPY_FILE_FORMAT, "end-of-copy marker does not match previous newline style");
        }
        Ok(())
    }

    /// Handles a newline or carriage return that terminates the line.
    fn line_end(&mut self, c: u8, more: &mut More<'_>, what: &str) -> Result<(usize, usize)> {
        let offset = self.at - self.start;
        let mut width = 1;
        if c == b'\r' {
            match self.style {
                LineEnd::Unknown | LineEnd::Both => {
                    let next = self.peek(self.at + 1, more)?;
                    if next == Some(b'\n') {
                        width = 2;
                        self.style = LineEnd::Both;
                    } else if self.style == LineEnd::Both {
                        return Err(self.literal("carriage return", "\\r", what));
                    } else {
                        self.style = LineEnd::Return;
                    }
                }
                LineEnd::Newline => return Err(self.literal("carriage return", "\\r", what)),
                LineEnd::Return => {}
            }
        } else {
            match self.style {
                LineEnd::Unknown => self.style = LineEnd::Newline,
                LineEnd::Newline => {}
                _ => return Err(self.literal("newline", "\\n", what)),
            }
        }
        let line = (self.start, self.start + offset);
        self.start = line.1 + width;
        self.at = self.start;
        Ok(line)
    }

    fn literal(&self, name: &str, code: &str, what: &str) -> PgError {
        let code_ = pgerror::SqlState::BAD_COPY_FILE_FORMAT;
        if what == "data" {
            PgError::new(code_, format!("literal {name} found in data"))
                .hint(format!("Use \"{code}\" to represent {name}."))
        } else {
            PgError::new(code_, format!("unquoted {name} found in data"))
                .hint(format!("Use quoted CSV field to represent {name}."))
        }
    }

    fn find_csv(
        &mut self,
        more: &mut More<'_>,
        quote: u8,
        escape: u8,
    ) -> Result<Option<(usize, usize)>> {
        let (mut quoted, mut escaped) = (false, false);
        loop {
            while self.at < self.buf.len() {
                let c = self.buf[self.at];
                if quoted && c == escape && escape != quote {
                    escaped = !escaped;
                } else if c == quote && !escaped {
                    quoted = !quoted;
                } else {
                    escaped = false;
                }
                if c != escape {
                    escaped = false;
                }
                let end = if self.style == LineEnd::Newline { b'\n' } else { b'\r' };
                if quoted && c == end {
                    self.number += 1;
                }
                if !quoted && matches!(c, b'\n' | b'\r') {
                    return self.line_end(c, more, "csv").map(Some);
                }
                if !quoted && c == b'\\' && self.at == self.start {
                    let next = self.peek(self.at + 1, more)?;
                    self.at = self.start;
                    if next == Some(b'.') {
                        let after = self.peek(self.at + 2, more)?;
                        self.at = self.start;
                        // A newline alone after lines with both is an error of the data.
                        let is_marker = |c: u8| c == b'\r' || self.style != LineEnd::Both;
                        if let Some(c @ (b'\n' | b'\r')) = after
                            && is_marker(c)
                        {
                            self.check_marker_end(c)?;
                            self.marker = true;
                            return Ok(None);
                        }
                    }
                }
                self.at += 1;
            }
            if !self.fill(more)? {
                return Ok(self.last_line());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &[u8], piece: usize, csv: Option<(u8, u8)>) -> Result<Vec<String>> {
        let mut rest = text;
        let mut more = |out: &mut Vec<u8>| {
            let n = rest.len().min(piece);
            out.extend_from_slice(&rest[..n]);
            rest = &rest[n..];
            Ok(n > 0)
        };
        let mut lines = Lines::new(csv, true);
        let mut out = Vec::new();
        while let Some(line) = lines.next(&mut more)? {
            out.push(String::from_utf8_lossy(lines.bytes(line)).into_owned());
        }
        Ok(out)
    }

    #[test]
    fn lines_do_not_depend_on_read_sizes() {
        for piece in 1..6 {
            assert_eq!(
                lines(b"a\tb\nc\\\nd\n\nlast", piece, None).unwrap(),
                ["a\tb", "c\\\nd", "", "last"]
            );
            assert_eq!(lines(b"a\r\nb\r\n", piece, None).unwrap(), ["a", "b"]);
            assert_eq!(lines(b"a\n\\.\nignored\n", piece, None).unwrap(), ["a"]);
            let csv = Some((b'"', b'"'));
            assert_eq!(lines(b"\"x\ny\",1\nz\n\\.\n", piece, csv).unwrap(), ["\"x\ny\",1", "z"]);
        }
    }

    #[test]
    fn mixed_line_ends_are_refused() {
        let e = lines(b"a\nb\r\n", 3, None).unwrap_err();
        assert_eq!(e.message(), "literal carriage return found in data");
        let e = lines(b"a\r\nb\n", 3, None).unwrap_err();
        assert_eq!(e.message(), "literal newline found in data");
    }
}
