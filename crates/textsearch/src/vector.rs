//! The stored form of a tsvector: lexemes in bytewise order, each with its positions.
//! Counterpart: tsearch/ts_type.h.
//!
//! ```text
//! number of lexemes u32
//! for each: u32 = has positions (1 bit) | length (11 bits) | offset in the text area (20 bits)
//! text area: each lexeme; if it has positions, then a byte of padding where the offset is odd,
//!   the number of positions u16, the positions u16 = weight (2 bits, D = 0) | position (14 bits)
//! ```
//!
//! All numbers are little-endian.

use crate::limits::{LEXEME_BYTES_LIMIT, TEXT_BYTES_MAX};
use pgerror::{PgError, Result, pg_err};
use std::cmp::Ordering;

/// A position of a lexeme in a document, and the weight of the lexeme there.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Position(pub u16);

impl Position {
    /// `place` is below [`crate::limits::POSITION_LIMIT`]; `weight` is 0 (D) to 3 (A).
    pub fn new(place: u16, weight: u8) -> Position {
        Position(place & 0x3fff | u16::from(weight) << 14)
    }

    /// The position, from 1.
    pub fn place(self) -> u16 {
        self.0 & 0x3fff
    }

    /// 0 (D) to 3 (A).
    pub fn weight(self) -> u8 {
        (self.0 >> 14) as u8
    }

    /// Whether the weight is in a set with bit `1 << weight` for each of its members.
    pub fn weighs(self, set: u8) -> bool {
        set >> self.weight() & 1 != 0
    }
}

/// A view of a tsvector's payload. Reading a damaged payload gives empty lexemes and positions.
#[derive(Clone, Copy)]
pub struct Vector<'a> {
    payload: &'a [u8],
    count: usize,
}

/// The number of a weight letter in either case.
pub fn weight_number(letter: u8) -> Option<u8> {
    match letter.to_ascii_uppercase() {
        b'A' => Some(3),
        b'B' => Some(2),
        b'C' => Some(1),
        b'D' => Some(0),
        _ => None,
    }
}

fn number_at(payload: &[u8], at: usize) -> usize {
    let bytes = payload.get(at..).and_then(|rest| rest.first_chunk::<4>());
    bytes.map_or(0, |b| u32::from_le_bytes(*b) as usize)
}

impl<'a> Vector<'a> {
    /// A view of `payload`.
    pub fn new(payload: &'a [u8]) -> Vector<'a> {
        let fits = payload.len().saturating_sub(4) / 4;
        Vector { payload, count: number_at(payload, 0).min(fits) }
    }

    /// An error if the payload is damaged.
    pub fn check(self) -> Result<()> {
        let whole = number_at(self.payload, 0) == self.count && self.payload.len() >= 4;
        let all = (0..self.count).all(|i| {
            let (at, len, positions) = self.entry(i);
            let end = at + len;
            let listed = end.next_multiple_of(2);
            let count =
                self.text().get(listed..listed + 2).map(|b| u16::from_le_bytes([b[0], b[1]]));
            match positions {
                false => end <= self.text().len(),
                true => count.is_some_and(|n| listed + 2 + 2 * usize::from(n) <= self.text().len()),
            }
        });
        match whole && all {
            true => Ok(()),
            false => Err(pg_err!(DATA_CORRUPTED, "stored value is truncated")),
        }
    }

    /// The whole payload.
    pub fn payload(self) -> &'a [u8] {
        self.payload
    }

    /// Number of lexemes.
    pub fn len(self) -> usize {
        self.count
    }

    /// Whether there are no lexemes.
    pub fn is_empty(self) -> bool {
        self.count == 0
    }

    fn text(self) -> &'a [u8] {
        self.payload.get(4 + 4 * self.count..).unwrap_or_default()
    }

    /// Offset, length and whether there are positions.
    fn entry(self, i: usize) -> (usize, usize, bool) {
        let entry = number_at(self.payload, 4 + 4 * i);
        (entry >> 12, entry >> 1 & 0x7ff, entry & 1 != 0)
    }

    /// The lexeme with number `i` from 0.
    pub fn lexeme(self, i: usize) -> &'a [u8] {
        let (at, len, _) = self.entry(i);
        self.text().get(at..at + len).unwrap_or_default()
    }

    /// Whether the lexeme has positions.
    pub fn has_positions(self, i: usize) -> bool {
        self.entry(i).2
    }

    /// Offset of the lexeme's positions in the payload, and their number.
    fn positions_at(self, i: usize) -> (usize, usize) {
        let (at, len, positions) = self.entry(i);
        let from = 4 + 4 * self.count + (at + len).next_multiple_of(2);
        let count = self.payload.get(from..).and_then(|rest| rest.first_chunk::<2>());
        match count {
            Some(n) if positions => (from + 2, usize::from(u16::from_le_bytes(*n))),
            _ => (from, 0),
        }
    }

    /// The positions of a lexeme in ascending order.
    pub fn positions(self, i: usize) -> impl ExactSizeIterator<Item = Position> + Clone + 'a {
        let (at, count) = self.positions_at(i);
        let bytes = self.payload.get(at..at + 2 * count).unwrap_or_default();
        bytes.as_chunks::<2>().0.iter().map(|b| Position(u16::from_le_bytes(*b)))
    }

    /// The number of the lexeme, or the number that it would have.
    pub fn find(self, lexeme: &[u8]) -> Result<usize, usize> {
        let (mut low, mut high) = (0, self.count);
        while low < high {
            let middle = (low + high) / 2;
            match lexeme.cmp(self.lexeme(middle)) {
                Ordering::Less => high = middle,
                Ordering::Greater => low = middle + 1,
                Ordering::Equal => return Ok(middle),
            }
        }
        Err(low)
    }

    /// The payload with other weights: `change` gets the number of each lexeme and says which
    /// weight its positions get.
    pub fn with_weights(self, change: impl Fn(usize) -> Option<u8>) -> Vec<u8> {
        let mut out = self.payload.to_vec();
        for i in 0..self.count {
            let Some(weight) = change(i) else { continue };
            let (at, count) = self.positions_at(i);
            let Some(bytes) = out.get_mut(at..at + 2 * count) else { continue };
            for b in bytes.as_chunks_mut::<2>().0 {
                let place = Position(u16::from_le_bytes(*b)).place();
                *b = Position::new(place, weight).0.to_le_bytes();
            }
        }
        out
    }
}

/// Compares two vectors: by size, by number of lexemes, then lexeme by lexeme, those with more and
/// larger positions first.
pub fn compare(a: &[u8], b: &[u8]) -> Ordering {
    let (x, y) = (Vector::new(a), Vector::new(b));
    a.len().cmp(&b.len()).then(x.len().cmp(&y.len())).then_with(|| {
        (0..x.len())
            .map(|i| {
                let positions = || {
                    let (p, q) = (x.positions(i), y.positions(i));
                    let each = p
                        .clone()
                        .zip(q.clone())
                        .map(|(p, q)| q.place().cmp(&p.place()).then(q.weight().cmp(&p.weight())));
                    q.len().cmp(&p.len()).then_with(|| first_difference(each))
                };
                y.has_positions(i)
                    .cmp(&x.has_positions(i))
                    .then_with(|| x.lexeme(i).cmp(y.lexeme(i)))
                    .then_with(positions)
            })
            .find(|order| order.is_ne())
            .unwrap_or(Ordering::Equal)
    })
}

fn first_difference(mut orders: impl Iterator<Item = Ordering>) -> Ordering {
    orders.find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
}

/// Builds a tsvector from lexemes in bytewise order.
#[derive(Default)]
pub struct VectorBuilder {
    entries: Vec<u8>,
    text: Vec<u8>,
}

impl VectorBuilder {
    /// Adds a lexeme that is greater than all before; without positions if there are none.
    pub fn push(&mut self, lexeme: &[u8], positions: impl ExactSizeIterator<Item = Position>) {
        let has = usize::from(positions.len() > 0);
        let entry = has | (lexeme.len() & 0x7ff) << 1 | self.text.len() << 12;
        self.entries.extend((entry as u32).to_le_bytes());
        self.text.extend(lexeme);
        if has != 0 {
            self.text.resize(self.text.len().next_multiple_of(2), 0);
            self.text.extend((positions.len() as u16).to_le_bytes());
            positions.for_each(|p| self.text.extend(p.0.to_le_bytes()));
        }
    }

    /// Adds a lexeme of another vector with its positions.
    pub fn copy(&mut self, from: Vector<'_>, i: usize) {
        self.push(from.lexeme(i), from.positions(i));
    }

    /// The payload; 54000 if the text is too long.
    pub fn finish(self) -> Result<Vec<u8>> {
        if self.text.len() > TEXT_BYTES_MAX {
            return Err(text_too_long(self.text.len()));
        }
        let count = (self.entries.len() / 4) as u32;
        let mut out = Vec::with_capacity(4 + self.entries.len() + self.text.len());
        out.extend(count.to_le_bytes());
        out.extend(self.entries);
        out.extend(self.text);
        Ok(out)
    }
}

/// 54000: too many bytes in the text area.
pub(crate) fn text_too_long(bytes: usize) -> PgError {
    pg_err!(
        PROGRAM_LIMIT_EXCEEDED,
        "string is too long for tsvector ({bytes} bytes, max {TEXT_BYTES_MAX} bytes)"
    )
}

/// 54000 if a lexeme is too long for a vector.
pub(crate) fn check_lexeme(bytes: usize) -> Result<()> {
    if bytes < LEXEME_BYTES_LIMIT {
        return Ok(());
    }
    Err(pg_err!(
        PROGRAM_LIMIT_EXCEEDED,
        "word is too long ({bytes} bytes, max {} bytes)",
        LEXEME_BYTES_LIMIT - 1
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_vector_is_read_as_it_was_built() {
        let mut out = VectorBuilder::default();
        out.push(b"abc", [Position::new(1, 0), Position::new(5, 3)].into_iter());
        out.push(b"b", [].into_iter());
        let payload = out.finish().unwrap();
        let v = Vector::new(&payload);
        v.check().unwrap();
        assert_eq!((v.len(), v.lexeme(0), v.lexeme(1)), (2, &b"abc"[..], &b"b"[..]));
        let read: Vec<_> = v.positions(0).map(|p| (p.place(), p.weight())).collect();
        assert_eq!(read, [(1, 0), (5, 3)]);
        assert_eq!((v.find(b"b"), v.find(b"abd"), v.has_positions(1)), (Ok(1), Err(1), false));
        let heavy = v.with_weights(|i| (i == 0).then_some(2));
        assert!(Vector::new(&heavy).positions(0).all(|p| p.weight() == 2));
        assert_eq!(compare(&payload, &heavy), Ordering::Greater);
    }

    #[test]
    fn damaged_payloads_are_errors() {
        assert!(Vector::new(&[1, 0, 0, 0]).check().is_err());
        assert!(Vector::new(&[1, 0, 0, 0, 0xff, 0xff, 0xff, 0xff]).check().is_err());
        assert!(Vector::new(&[]).check().is_err());
    }
}
