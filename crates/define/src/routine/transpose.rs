//! Converts positions of errors in the body of a function that is being created. Counterpart:
//! `function_parse_error_transpose` of pg_proc.c.

use pgerror::PgError;

/// Converts the position of an error in a body to a position in the CREATE statement if the
/// statement contains the body exactly once; otherwise reports the body as an internal query. `Err`
/// if the error has no position.
pub fn transposed(mut e: PgError, sql: &str, body: &str) -> Result<PgError, PgError> {
    let Some(position) = e.fields().position else { return Err(e) };
    let fields = e.fields_mut();
    match position_in(sql, body, position) {
        Some(place) => fields.position = Some(place),
        None => {
            fields.position = None;
            fields.internal_position = Some(position);
            fields.internal_query = Some(body.to_owned());
        }
    }
    Ok(e)
}

/// The position in the statement of character `position` of the body. `None` unless the statement
/// contains the body exactly once, dollar-quoted or as a literal, in which quotes and escapes have
/// more than one character. Counterpart: `match_prosrc_to_query`.
fn position_in(sql: &str, body: &str, position: u32) -> Option<u32> {
    let bytes = sql.as_bytes();
    let mut found = None;
    for (at, c) in sql.char_indices() {
        let start = at + 1;
        let end = match c {
            '$' => {
                let end = start + body.len();
                let quoted = sql.get(start..end) == Some(body) && bytes.get(end) == Some(&b'$');
                let mut places = body.char_indices().map(|(at, _)| at).chain([body.len()]);
                quoted.then_some(start + places.nth(position as usize - 1)?)
            }
            '\'' => literal_position(&sql[start..], body, position).map(|p| start + p),
            _ => None,
        };
        if let Some(end) = end {
            if found.is_some() {
                return None;
            }
            found = Some(sql[..end].chars().count() as u32 + 1);
        }
    }
    found
}

/// The byte offset of character `position` of the body in `text`, which starts after the opening
/// quote of a literal. `None` where the literal differs from the body. Counterpart:
/// `match_prosrc_to_literal`.
fn literal_position(text: &str, body: &str, position: u32) -> Option<usize> {
    let mut rest = text.char_indices().peekable();
    let mut place = None;
    for (i, wanted) in body.chars().enumerate() {
        let (at, mut c) = rest.next()?;
        if i + 1 == position as usize {
            place = Some(at);
        }
        if c == '\\' {
            c = rest.next()?.1;
        } else if c == '\'' {
            c = rest.next().filter(|(_, c)| *c == '\'')?.1;
        }
        if c != wanted {
            return None;
        }
    }
    let (end, c) = rest.next()?;
    let after = rest.next().map(|(_, c)| c);
    (c == '\'' && after != Some('\'')).then_some(place.unwrap_or(end))
}
