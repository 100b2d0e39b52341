//! Functions on tsvectors. Counterpart: tsvector_op.c.

use crate::limits::{POSITION_LIMIT, POSITIONS_MAX, limited};
use crate::vector::{Position, Vector, VectorBuilder, weight_number};
use pgerror::{Result, pg_err};
use values::array::payload::builtin_info;
use values::array::{ArrayRef, of_builtin};
use values::datum::{Datum, DatumRef};
use values::fn_context::FnContext;
use values::function::SetSource;
use values::oids;

/// The elements of a text array; `None` for NULL.
fn texts(array: DatumRef<'_>) -> Result<Vec<Option<&[u8]>>> {
    let elements = ArrayRef::new(array)?.elements(&builtin_info(oids::TEXT))?;
    Ok(elements.into_iter().map(|d| (!d.is_null()).then(|| d.as_bytes())).collect())
}

pub(crate) fn strip(vector: Vector<'_>) -> Result<Datum> {
    let mut out = VectorBuilder::default();
    (0..vector.len()).for_each(|i| out.push(vector.lexeme(i), [].into_iter()));
    Ok(Datum::bytes(out.finish()?))
}

/// The number of the weight that a letter names.
fn parse_weight(letter: u8) -> Result<u8> {
    weight_number(letter).ok_or_else(|| {
        let shown = match letter {
            b' '..=b'~' => char::from(letter).to_string(),
            _ => format!("\\{letter:03o}"),
        };
        pg_err!(INVALID_PARAMETER_VALUE, "unrecognized weight: \"{shown}\"")
    })
}

pub(crate) fn set_weight(vector: Vector<'_>, letter: u8) -> Result<Datum> {
    let weight = parse_weight(letter)?;
    Ok(Datum::bytes(vector.with_weights(|_| Some(weight))))
}

pub(crate) fn set_weight_of(
    vector: Vector<'_>,
    letter: u8,
    lexemes: DatumRef<'_>,
) -> Result<Datum> {
    let weight = parse_weight(letter)?;
    let mut chosen = vec![false; vector.len()];
    for lexeme in texts(lexemes)?.into_iter().flatten() {
        if let Ok(i) = vector.find(lexeme) {
            chosen[i] = true;
        }
    }
    Ok(Datum::bytes(vector.with_weights(|i| chosen[i].then_some(weight))))
}

/// The vector without some lexemes; NULL elements are ignored.
pub(crate) fn delete(vector: Vector<'_>, lexemes: &[Option<&[u8]>]) -> Result<Datum> {
    let mut gone = vec![false; vector.len()];
    for lexeme in lexemes.iter().flatten() {
        if let Ok(i) = vector.find(lexeme) {
            gone[i] = true;
        }
    }
    if !gone.contains(&true) {
        return Ok(Datum::bytes(vector.payload()));
    }
    let mut out = VectorBuilder::default();
    (0..vector.len()).filter(|i| !gone[*i]).for_each(|i| out.copy(vector, i));
    Ok(Datum::bytes(out.finish()?))
}

pub(crate) fn delete_array(vector: Vector<'_>, lexemes: DatumRef<'_>) -> Result<Datum> {
    delete(vector, &texts(lexemes)?)
}

pub(crate) fn to_array(vector: Vector<'_>) -> Result<Datum> {
    let lexemes: Vec<Datum> = (0..vector.len()).map(|i| Datum::bytes(vector.lexeme(i))).collect();
    of_builtin(oids::TEXT, &lexemes)
}

pub(crate) fn of_array(array: DatumRef<'_>) -> Result<Datum> {
    let mut lexemes = Vec::new();
    for lexeme in texts(array)? {
        match lexeme {
            None => {
                return Err(pg_err!(NULL_VALUE_NOT_ALLOWED, "lexeme array may not contain nulls"));
            }
            Some([]) => {
                return Err(pg_err!(
                    ZERO_LENGTH_CHARACTER_STRING,
                    "lexeme array may not contain empty strings"
                ));
            }
            Some(lexeme) => lexemes.push(lexeme),
        }
    }
    lexemes.sort_unstable();
    lexemes.dedup();
    let mut out = VectorBuilder::default();
    lexemes.iter().for_each(|lexeme| out.push(lexeme, [].into_iter()));
    Ok(Datum::bytes(out.finish()?))
}

/// The positions with some weights, and the lexemes that have such positions.
pub(crate) fn filter(vector: Vector<'_>, weights: DatumRef<'_>) -> Result<Datum> {
    let mut set = 0u8;
    for element in ArrayRef::new(weights)?.elements(&builtin_info(oids::CHAR))? {
        if element.is_null() {
            return Err(pg_err!(NULL_VALUE_NOT_ALLOWED, "weight array may not contain nulls"));
        }
        set |= 1 << parse_weight(element.as_char())?;
    }
    let mut out = VectorBuilder::default();
    for i in 0..vector.len() {
        let kept: Vec<Position> = vector.positions(i).filter(|p| p.weighs(set)).collect();
        if !kept.is_empty() {
            out.push(vector.lexeme(i), kept.into_iter());
        }
    }
    Ok(Datum::bytes(out.finish()?))
}

/// Adds positions of the second vector to those of the first, after its last position.
fn add_positions(out: &mut Vec<Position>, more: impl Iterator<Item = Position>, last_place: u16) {
    for position in more {
        let full = out.len() >= POSITIONS_MAX
            || out.last().is_some_and(|p| u32::from(p.place()) == POSITION_LIMIT - 1);
        if full {
            return;
        }
        let place = limited(u32::from(position.place()) + u32::from(last_place));
        out.push(Position::new(place, position.weight()));
    }
}

pub(crate) fn concat(a: Vector<'_>, b: Vector<'_>) -> Result<Datum> {
    let places = (0..a.len()).flat_map(|i| a.positions(i)).map(Position::place);
    let last_place = places.max().unwrap_or_default();
    let mut out = VectorBuilder::default();
    let (mut i, mut j) = (0, 0);
    while i < a.len() || j < b.len() {
        let order = match (i < a.len(), j < b.len()) {
            (true, true) => a.lexeme(i).cmp(b.lexeme(j)),
            (true, false) => std::cmp::Ordering::Less,
            _ => std::cmp::Ordering::Greater,
        };
        let lexeme = if order.is_le() { a.lexeme(i) } else { b.lexeme(j) };
        let mut positions: Vec<Position> = Vec::new();
        if order.is_le() {
            positions.extend(a.positions(i));
            i += 1;
        }
        if order.is_ge() {
            add_positions(&mut positions, b.positions(j), last_place);
            j += 1;
        }
        out.push(lexeme, positions.into_iter());
    }
    Ok(Datum::bytes(out.finish()?))
}

/// The rows of `unnest`: lexeme, positions, weights.
struct Unnested {
    payload: Box<[u8]>,
    next: usize,
}

impl SetSource for Unnested {
    fn next(&mut self, _: &mut dyn FnContext, out: &mut Vec<Datum>) -> Result<bool> {
        let vector = Vector::new(&self.payload);
        if self.next >= vector.len() {
            return Ok(false);
        }
        let i = self.next;
        self.next += 1;
        out.push(Datum::bytes(vector.lexeme(i)));
        if !vector.has_positions(i) {
            out.extend([Datum::Null, Datum::Null]);
            return Ok(true);
        }
        let places: Vec<Datum> =
            vector.positions(i).map(|p| Datum::int2(p.place() as i16)).collect();
        let weights: Vec<Datum> =
            vector.positions(i).map(|p| Datum::bytes([b'D' - p.weight()])).collect();
        out.push(of_builtin(oids::INT2, &places)?);
        out.push(of_builtin(oids::TEXT, &weights)?);
        Ok(true)
    }
}

pub(crate) fn unnest(vector: DatumRef<'_>) -> Box<dyn SetSource> {
    Box::new(Unnested { payload: vector.as_bytes().into(), next: 0 })
}
