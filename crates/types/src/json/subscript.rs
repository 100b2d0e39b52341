//! Subscripts of jsonb: reading and assigning the value at a path. Counterpart: jsonbsubs.c,
//! jsonfuncs.c (`jsonb_get_element`, `jsonb_set_element`).

use super::access::{Value, index_of, item};
use super::encode::Json;
use super::parse::DEPTH_MAX;
use pgerror::{PgError, Result, pg_err};
use values::datum::{Datum, DatumRef};
use values::fn_context::{FnContext, InterruptChecker};
use values::memory;

/// The value at a path; NULL if there is none.
pub fn jsonb_element(cx: &dyn FnContext, jsonb: DatumRef<'_>, path: &[&[u8]]) -> Result<Datum> {
    match item(jsonb).at_path(path) {
        Some(found) => found.datum(&InterruptChecker::new(cx)),
        None => Ok(Datum::Null),
    }
}

/// A jsonb with another value at a path. Missing objects and arrays on the path are created, and
/// gaps of arrays are filled with nulls. A NULL jsonb is an empty array if `begins_with_index`,
/// else an empty object; a NULL value is a JSON null. 22023 if a part of the path is a scalar or
/// before the first element of an array, 22P02 if a key is used for an array.
pub fn jsonb_with_element(
    cx: &dyn FnContext,
    jsonb: DatumRef<'_>,
    path: &[&[u8]],
    begins_with_index: bool,
    value: DatumRef<'_>,
) -> Result<Datum> {
    let interrupts = &InterruptChecker::new(cx);
    let value = match value {
        DatumRef::Null => Json::Null,
        value => Json::of_item(item(value), interrupts)?,
    };
    let mut whole = match jsonb {
        DatumRef::Null if begins_with_index => Json::Array(Vec::new()),
        DatumRef::Null => Json::Object(Vec::new()),
        jsonb => Json::of_item(item(jsonb), interrupts)?,
    };
    if path.len() > DEPTH_MAX {
        return Err(interrupts.too_deep());
    }
    set(&mut whole, path, 1, value)?;
    whole.datum(interrupts)
}

/// Sets the value at a path, whose first step has this position.
fn set(here: &mut Json, path: &[&[u8]], position: usize, value: Json) -> Result<()> {
    let Some((step, rest)) = path.split_first() else {
        *here = value;
        return Ok(());
    };
    match here {
        Json::Object(pairs) => match pairs.iter_mut().find(|(key, _)| key == step) {
            Some((_, old)) => set(old, rest, position + 1, value),
            None => {
                pairs.push((step.to_vec(), chain(rest, value)?));
                Ok(())
            }
        },
        Json::Array(elements) => {
            let index = index_in(elements.len(), step, position)?;
            match elements.get_mut(index) {
                Some(old) => set(old, rest, position + 1, value),
                None => {
                    fill(elements, index)?;
                    elements.push(chain(rest, value)?);
                    Ok(())
                }
            }
        }
        _ => Err(pg_err!(INVALID_PARAMETER_VALUE, "cannot replace existing key")
            .detail("The path assumes key is a composite object, but it is a scalar value.")),
    }
}

/// The index in an array of `count` elements that a step means.
fn index_in(count: usize, step: &[u8], position: usize) -> Result<usize> {
    let Some(index) = index_of(step) else {
        return Err(PgError::new(
            pgerror::SqlState::INVALID_TEXT_REPRESENTATION,
            format!(
                "path element at position {position} is not an integer: \"{}\"",
                String::from_utf8_lossy(step)
            ),
        ));
    };
    let from_start = if index < 0 { index + count as i64 } else { index };
    usize::try_from(from_start).map_err(|_| {
        pg_err!(
            INVALID_PARAMETER_VALUE,
            "path element at position {position} is out of range: {index}"
        )
    })
}

/// Adds nulls until the array has `count` elements.
fn fill(elements: &mut Vec<Json>, count: usize) -> Result<()> {
    memory::reserve(elements, (count + 1).saturating_sub(elements.len()))?;
    while elements.len() < count {
        elements.push(Json::Null);
    }
    Ok(())
}

/// The value below new arrays and objects, one for each step.
fn chain(path: &[&[u8]], value: Json) -> Result<Json> {
    path.iter().rev().try_fold(value, |inner, step| {
        Ok(match index_of(step) {
            Some(index) => {
                let mut elements = Vec::new();
                fill(&mut elements, usize::try_from(index).unwrap_or(0))?;
                elements.push(inner);
                Json::Array(elements)
            }
            None => Json::Object(vec![(step.to_vec(), inner)]),
        })
    })
}
