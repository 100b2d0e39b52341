//! Text and binary form: `(1, 2)`, `(1, 2),(3, 4)`, also in brackets.

use super::value::{Cube, DIMENSIONS_MASK, DIMENSIONS_MAX, POINT};
use pgerror::{PgError, Result, pg_err};
use values::datum::{Datum, DatumRef};
use values::fn_context::FnContext;
use values::oids;
use values::type_io::Reader;

fn invalid(detail: String) -> PgError {
    pg_err!(INVALID_TEXT_REPRESENTATION, "invalid input syntax for cube").detail(detail)
}

struct Parser<'a> {
    text: &'a [u8],
    at: usize,
}

fn digits(text: &[u8]) -> usize {
    text.iter().take_while(|b| b.is_ascii_digit()).count()
}

/// The length of a number at the start of the text; 0 if there is none.
fn number_length(text: &[u8]) -> usize {
    let sign = usize::from(matches!(text.first(), Some(b'+' | b'-')));
    let word = |word: &[u8], from: usize| {
        text.get(from..from + word.len()).is_some_and(|t| t.eq_ignore_ascii_case(word))
    };
    if word(b"infinity", sign) {
        return sign + 8;
    }
    if word(b"inf", sign) {
        return sign + 3;
    }
    if word(b"nan", 0) {
        return 3;
    }
    let whole = digits(&text[sign..]);
    let mut end = sign + whole;
    if text.get(end) == Some(&b'.') {
        let fraction = digits(&text[end + 1..]);
        if whole + fraction > 0 {
            end += 1 + fraction;
        }
    }
    if end == sign {
        return 0;
    }
    if matches!(text.get(end), Some(b'e' | b'E')) {
        let signed = usize::from(matches!(text.get(end + 1), Some(b'+' | b'-')));
        let exponent = digits(text.get(end + 1 + signed..).unwrap_or_default());
        if exponent > 0 {
            end += 1 + signed + exponent;
        }
    }
    end
}

impl<'a> Parser<'a> {
    /// The next token: a number or one byte; `None` at the end.
    fn peek(&mut self) -> Option<&'a [u8]> {
        while matches!(self.text.get(self.at), Some(b' ' | b'\t' | b'\n' | b'\r' | 12)) {
            self.at += 1;
        }
        let rest = &self.text[self.at..];
        let length = number_length(rest).max(1);
        (!rest.is_empty()).then(|| &rest[..length])
    }

    fn syntax_error(&mut self) -> PgError {
        invalid(match self.peek() {
            Some(token) => {
                format!("syntax error at or near \"{}\"", String::from_utf8_lossy(token))
            }
            None => "syntax error at end of input".to_owned(),
        })
    }

    fn accept(&mut self, wanted: &[u8]) -> bool {
        let found = self.peek() == Some(wanted);
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, wanted: &[u8]) -> Result<()> {
        if self.accept(wanted) { Ok(()) } else { Err(self.syntax_error()) }
    }

    /// The numbers of a list, as texts.
    fn list(&mut self) -> Result<Vec<&'a [u8]>> {
        let mut list = Vec::new();
        loop {
            match self.peek().filter(|token| number_length(token) > 0) {
                Some(token) => {
                    list.push(token);
                    self.at += token.len();
                }
                None => return Err(self.syntax_error()),
            }
            if !self.accept(b",") {
                return Ok(list);
            }
        }
    }

    fn parenthesized(&mut self) -> Result<Vec<&'a [u8]>> {
        self.expect(b"(")?;
        if self.accept(b")") {
            return Ok(Vec::new());
        }
        let list = self.list()?;
        self.expect(b")")?;
        Ok(list)
    }

    /// One or two corners.
    fn corners(&mut self) -> Result<(Vec<&'a [u8]>, Option<Vec<&'a [u8]>>)> {
        let corners = if self.accept(b"[") {
            let first = self.parenthesized()?;
            self.expect(b",")?;
            let second = self.parenthesized()?;
            self.expect(b"]")?;
            (first, Some(second))
        } else if self.peek() == Some(b"(") {
            let first = self.parenthesized()?;
            let second = if self.accept(b",") { Some(self.parenthesized()?) } else { None };
            (first, second)
        } else {
            (self.list()?, None)
        };
        match self.peek() {
            None => Ok(corners),
            Some(_) => Err(self.syntax_error()),
        }
    }
}

fn joined(list: &[&[u8]]) -> String {
    String::from_utf8_lossy(&list.join(&b',')).into_owned()
}

fn numbers(cx: &mut dyn FnContext, list: &[&[u8]]) -> Result<Vec<f64>> {
    let number = |text: &&[u8]| Ok(cx.type_input(oids::FLOAT8, text, -1)?.as_ref().as_f64());
    list.iter().map(number).collect()
}

fn input(cx: &mut dyn FnContext, text: &[u8]) -> Result<Datum> {
    let (first, second) = Parser { text, at: 0 }.corners()?;
    if let Some(second) = second.as_ref().filter(|second| second.len() != first.len()) {
        let (a, b) = (joined(&first), joined(second));
        return Err(invalid(format!("Different point dimensions in ({a}) and ({b}).")));
    }
    if first.len() > DIMENSIONS_MAX {
        return Err(invalid(format!("A cube cannot have more than {DIMENSIONS_MAX} dimensions.")));
    }
    let corner = numbers(cx, &first)?;
    Ok(match second {
        Some(second) => Cube::new(corner, numbers(cx, &second)?).datum(),
        None => Cube::point(corner).datum(),
    })
}

fn push_corner(cx: &mut dyn FnContext, out: &mut Vec<u8>, corner: &[f64]) -> Result<()> {
    out.push(b'(');
    for (i, number) in corner.iter().enumerate() {
        if i > 0 {
            out.extend_from_slice(b", ");
        }
        out.extend(cx.type_output(oids::FLOAT8, Datum::float8(*number).as_ref())?);
    }
    out.push(b')');
    Ok(())
}

fn output(cx: &mut dyn FnContext, d: DatumRef<'_>) -> Result<Datum> {
    let cube = Cube::read(d);
    let mut out = Vec::new();
    push_corner(cx, &mut out, &cube.first)?;
    if !cube.has_equal_corners() {
        out.push(b',');
        push_corner(cx, &mut out, &cube.second)?;
    }
    Ok(Datum::bytes(out))
}

fn receive(bytes: &[u8]) -> Result<Datum> {
    let mut reader = Reader::new(bytes);
    let header = reader.u32()?;
    let dimensions = (header & DIMENSIONS_MASK) as usize;
    if dimensions > DIMENSIONS_MAX {
        return Err(pg_err!(PROGRAM_LIMIT_EXCEEDED, "cube dimension is too large")
            .detail(format!("A cube cannot have more than {DIMENSIONS_MAX} dimensions.")));
    }
    let is_point = header & POINT != 0;
    let mut corner = || (0..dimensions).map(|_| reader.f64()).collect::<Result<Vec<f64>>>();
    let first = corner()?;
    let second = if is_point { first.clone() } else { corner()? };
    reader.end()?;
    Ok(Cube { first, second, is_point }.datum())
}

fn send(d: DatumRef<'_>) -> Datum {
    let cube = Cube::read(d);
    let flag = if cube.is_point { POINT } else { 0 };
    let mut out = (cube.dimensions() as u32 | flag).to_be_bytes().to_vec();
    let second = if cube.is_point { &[][..] } else { &cube.second };
    for number in cube.first.iter().chain(second) {
        out.extend_from_slice(&number.to_be_bytes());
    }
    Datum::bytes(out)
}

scalars! { FNS;
    "cube_in" => |cx, a| input(cx, a[0].as_bytes()),
    "cube_out" => |cx, a| output(cx, a[0]),
    "cube_recv" => |_, a| receive(a[0].as_bytes()),
    "cube_send" => |_, a| Ok(send(a[0])),
}
