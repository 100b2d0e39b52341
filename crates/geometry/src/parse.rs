//! The text form of points and lists of points.

use crate::shape::Point;
use pgerror::{PgError, Result};
use values::float::parse_float8_prefix;
use values::type_io::{bad_syntax, is_space};

/// A position in the text of a value.
pub(crate) struct Cursor<'a> {
    text: &'a [u8],
    at: usize,
    type_name: &'static str,
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(text: &'a [u8], type_name: &'static str) -> Cursor<'a> {
        Cursor { text, at: 0, type_name }
    }

    pub(crate) fn error(&self) -> PgError {
        bad_syntax(self.type_name, self.text)
    }

    fn rest(&self) -> &'a [u8] {
        &self.text[self.at..]
    }

    /// The next byte; 0 at the end.
    pub(crate) fn peek(&self) -> u8 {
        self.rest().first().copied().unwrap_or(0)
    }

    /// Skips one byte.
    pub(crate) fn step(&mut self) {
        self.at = (self.at + 1).min(self.text.len());
    }

    /// Skips the byte if it is next.
    pub(crate) fn take(&mut self, byte: u8) -> bool {
        let found = self.peek() == byte;
        if found {
            self.step();
        }
        found
    }

    pub(crate) fn expect(&mut self, byte: u8) -> Result<()> {
        if self.take(byte) { Ok(()) } else { Err(self.error()) }
    }

    pub(crate) fn skip_space(&mut self) {
        while is_space(self.peek()) {
            self.step();
        }
    }

    pub(crate) fn end(&self) -> Result<()> {
        if self.at == self.text.len() { Ok(()) } else { Err(self.error()) }
    }

    /// Whether there is an opening parenthesis after the present byte, apart from white space;
    /// then it is next.
    pub(crate) fn enter_double(&mut self) -> bool {
        let skipped = self.rest().iter().skip(1).take_while(|c| is_space(**c)).count();
        let found = self.rest().get(1 + skipped) == Some(&b'(');
        if found {
            self.at += 1 + skipped;
        }
        found
    }

    /// Whether the present byte is the last opening parenthesis of the text.
    pub(crate) fn is_only_parenthesis(&self) -> bool {
        !self.rest().iter().skip(1).any(|c| *c == b'(')
    }

    pub(crate) fn number(&mut self) -> Result<f64> {
        let (value, rest) = parse_float8_prefix(self.rest(), self.type_name, self.text)?;
        self.at = self.text.len() - rest.len();
        self.skip_space();
        Ok(value)
    }

    /// A point, with or without parentheses.
    pub(crate) fn point(&mut self) -> Result<Point> {
        self.skip_space();
        let enclosed = self.take(b'(');
        let x = self.number()?;
        self.expect(b',')?;
        let y = self.number()?;
        if enclosed {
            self.expect(b')')?;
            self.skip_space();
        }
        Ok(Point::new(x, y))
    }

    /// Points with the delimiters around them; true if these are brackets, which are accepted only
    /// if `brackets`.
    pub(crate) fn points(&mut self, count: usize, brackets: bool) -> Result<(bool, Vec<Point>)> {
        self.skip_space();
        let mut depth = 0;
        let open = self.take(b'[');
        if open {
            if !brackets {
                return Err(self.error());
            }
            depth = 1;
        } else if self.peek() == b'(' {
            if self.enter_double() {
                depth = 1;
            } else if self.is_only_parenthesis() {
                depth = 1;
                self.step();
                self.skip_space();
            }
        }
        let mut points = values::memory::with_capacity(count)?;
        for _ in 0..count {
            points.push(self.point()?);
            self.take(b',');
        }
        while depth > 0 {
            let ends_open = |p: &mut Self| open && depth == 1 && p.take(b']');
            if !self.take(b')') && !ends_open(self) {
                return Err(self.error());
            }
            depth -= 1;
            self.skip_space();
        }
        Ok((open, points))
    }
}

/// The number of points in a text, which has two numbers for each, with commas between all.
pub(crate) fn count(text: &[u8]) -> Option<usize> {
    let commas = text.iter().filter(|c| **c == b',').count();
    (commas % 2 == 1).then_some(commas.div_ceil(2))
}
