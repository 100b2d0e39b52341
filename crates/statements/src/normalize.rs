//! Normalized texts: the constants of a query are replaced by `$n`, with numbers after those of
//! its parameters.
//!
//! Counterpart: `generate_normalized_query`, `CleanQuerytext`.

use parse::tokens::{Kind, Token, Tokens};

/// The part of the source text at `location` with this length (0: to the end), without white space
/// around it, and its offset.
pub(crate) fn trimmed(sql: &str, (location, len): (i32, i32)) -> (usize, &str) {
    let start = usize::try_from(location).unwrap_or(0).min(sql.len());
    let rest = sql.get(start..).unwrap_or(sql);
    let part = match usize::try_from(len) {
        Ok(len) if len > 0 && location >= 0 => rest.get(..len).unwrap_or(rest),
        _ => rest,
    };
    let space = |c: char| matches!(c, ' ' | '\t' | '\n' | '\r' | '\x0c');
    let without = part.trim_start_matches(space);
    (start + part.len() - without.len(), without.trim_end_matches(space))
}

/// The normalized text of a statement whose constants are at `locations` of the source text.
pub(crate) fn normalized(
    sql: &str,
    range: (i32, i32),
    mut locations: Vec<i32>,
    param_max: i32,
) -> String {
    let (start, text) = trimmed(sql, range);
    locations.sort_unstable();
    locations.dedup();
    let mut out = String::with_capacity(text.len());
    let mut tokens = Tokens::new(text, true);
    let mut copied = 0;
    let mut number = param_max;
    for location in locations {
        let Some(at) = usize::try_from(location).ok().and_then(|at| at.checked_sub(start)) else {
            continue;
        };
        let Some(end) = end_of(&mut tokens, text, at) else { break };
        let Some(before) = text.get(copied..at) else { continue };
        number += 1;
        out.push_str(before);
        out.push_str(&format!("${number}"));
        copied = end;
    }
    out.push_str(text.get(copied..).unwrap_or_default());
    out
}

/// The end of the constant at this offset: that of a token, or of two if the first is a minus sign.
fn end_of(tokens: &mut Tokens<'_>, text: &str, at: usize) -> Option<usize> {
    let mut token = next(tokens)?;
    while token.start < at {
        token = next(tokens)?;
    }
    if text.as_bytes().get(at) == Some(&b'-') {
        token = next(tokens)?;
    }
    Some(token.end)
}

fn next(tokens: &mut Tokens<'_>) -> Option<Token> {
    tokens.next_token().ok().filter(|token| token.kind != Kind::End)
}
