//! Reads the words of the text forms of tsvector and tsquery: quoted or not, with escapes, in a
//! tsvector with positions after a colon. Counterpart: tsvector_parser.c.

use crate::ctype::Ctype;
use crate::limits::limited;
use crate::vector::Position;
use pgerror::{PgError, Result, pg_err};
use values::type_io::lossy_text;

/// What is read.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// Words with positions.
    Vector,
    /// Words in a tsquery: operators end a word, what follows a colon is not read.
    Query,
    /// As `Query`, in the syntax of web searches: no quotes and escapes, and `"` ends a word.
    Web,
}

/// A reader of words.
pub(crate) struct LexemeReader<'a> {
    text: &'a [u8],
    pub at: usize,
    ctype: Ctype,
    form: Form,
    /// The last word.
    pub word: Vec<u8>,
    /// Its positions.
    pub positions: Vec<Position>,
}

/// Characters that are operators of a tsquery.
pub(crate) fn is_operator(c: u8) -> bool {
    matches!(c, b'!' | b'&' | b'|' | b'(' | b')' | b'<')
}

impl<'a> LexemeReader<'a> {
    pub fn new(text: &'a [u8], ctype: Ctype, form: Form) -> LexemeReader<'a> {
        LexemeReader { text, at: 0, ctype, form, word: Vec::new(), positions: Vec::new() }
    }

    fn syntax_error(&self) -> PgError {
        let name = if self.form == Form::Vector { "tsvector" } else { "tsquery" };
        pg_err!(SYNTAX_ERROR, "syntax error in {name}: \"{}\"", lossy_text(self.text))
    }

    fn byte(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn at_space(&self) -> bool {
        self.at < self.text.len() && self.ctype.is_space(self.ctype.char_at(self.text, self.at).0)
    }

    /// Moves over the present character; copies it to the word.
    fn take(&mut self) {
        let len = self.ctype.len_at(self.text, self.at);
        self.word.extend(&self.text[self.at..self.at + len]);
        self.at += len;
    }

    /// Whether the present character ends a word without quotes.
    fn at_end_of_word(&self) -> bool {
        self.byte().is_none_or(|c| match self.form {
            Form::Vector => false,
            Form::Query => is_operator(c),
            Form::Web => is_operator(c) || c == b'"',
        }) || self.at_space()
    }

    fn escaped(&mut self) -> Result<()> {
        self.at += 1;
        if self.at >= self.text.len() {
            return Err(pg_err!(
                SYNTAX_ERROR,
                "there is no escaped character: \"{}\"",
                lossy_text(self.text)
            ));
        }
        self.take();
        Ok(())
    }

    /// Reads the next word with its positions; false at the end of the text.
    pub fn next(&mut self) -> Result<bool> {
        self.word.clear();
        self.positions.clear();
        while self.at_space() {
            self.at += self.ctype.len_at(self.text, self.at);
        }
        let web = self.form == Form::Web;
        match self.byte() {
            None => return Ok(false),
            Some(b'\'') if !web => {
                self.quoted()?;
                if self.form == Form::Vector && self.byte() == Some(b':') {
                    self.at += 1;
                    self.positions()?;
                }
                return Ok(true);
            }
            Some(b'\\') if !web => self.escaped()?,
            Some(_) if self.at_end_of_word() => return Err(self.syntax_error()),
            Some(_) => self.take(),
        }
        loop {
            match self.byte() {
                Some(b'\\') if !web => self.escaped()?,
                _ if self.at_end_of_word() => return Ok(true),
                Some(b':') if self.form == Form::Vector => {
                    self.at += 1;
                    return self.positions().map(|()| true);
                }
                Some(b':') => return Ok(true),
                _ => self.take(),
            }
        }
    }

    /// Reads the rest of a word that begins with a quote.
    fn quoted(&mut self) -> Result<()> {
        self.at += 1;
        loop {
            match self.byte() {
                None => return Err(self.syntax_error()),
                Some(b'\'') => {
                    self.at += 1;
                    if self.byte() != Some(b'\'') {
                        break;
                    }
                    self.take();
                }
                Some(b'\\') => self.escaped()?,
                Some(_) => self.take(),
            }
        }
        match self.word.is_empty() {
            true => Err(self.syntax_error()),
            false => Ok(()),
        }
    }

    /// Reads a list of positions, each with an optional weight.
    fn positions(&mut self) -> Result<()> {
        loop {
            self.position()?;
            let mut weight = 0u8;
            let more = loop {
                let letter = match self.byte() {
                    None => break false,
                    Some(b',') => break true,
                    Some(b'*') => 3,
                    Some(c) if c.is_ascii_digit() => {
                        self.at += 1;
                        continue;
                    }
                    Some(c) => match crate::vector::weight_number(c) {
                        Some(letter) => letter,
                        None if self.at_space() => break false,
                        None => return Err(self.syntax_error()),
                    },
                };
                if weight != 0 {
                    return Err(self.syntax_error());
                }
                weight = letter;
                self.at += 1;
            };
            if let Some(last) = self.positions.last_mut() {
                *last = Position::new(last.place(), weight);
            }
            if !more {
                return Ok(());
            }
            self.at += 1;
        }
    }

    /// Reads the number of a position. Its first digit is passed here, the others by the caller.
    fn position(&mut self) -> Result<()> {
        let rest = &self.text[self.at..];
        let digits = rest.iter().take_while(|c| c.is_ascii_digit()).count();
        if digits == 0 {
            return Err(self.syntax_error());
        }
        // Too many digits wrap as in C's conversion of a long to an int.
        let number = rest[..digits]
            .iter()
            .fold(0i64, |n, d| n.saturating_mul(10).saturating_add(i64::from(d - b'0')))
            as i32;
        let place = match u32::try_from(number) {
            Ok(n) => limited(n),
            Err(_) => (number & 0x3fff) as u16,
        };
        if place == 0 {
            return Err(pg_err!(
                SYNTAX_ERROR,
                "wrong position info in tsvector: \"{}\"",
                lossy_text(self.text)
            ));
        }
        self.positions.push(Position::new(place, 0));
        self.at += 1;
        Ok(())
    }
}
