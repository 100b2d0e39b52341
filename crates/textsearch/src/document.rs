//! Lexemes → tsvector and tsquery. Counterpart: to_tsany.c.

use crate::lexize::{Configuration, Lexemes, Lexer, PlacedLexeme};
use crate::limits::{POSITION_LIMIT, POSITIONS_MAX, TEXT_BYTES_MAX};
use crate::query::Operator;
use crate::vector::{Position, VectorBuilder, text_too_long};
use pgerror::Result;

pub use crate::query_parse::Syntax;
use crate::query_parse::{Parsed, Word, parse};

/// The payload of a vector of these lexemes.
pub fn vector(mut lexemes: Lexemes) -> Result<Vec<u8>> {
    if lexemes.words.len() > 1 {
        lexemes
            .words
            .sort_by(|a, b| a.lexeme.text.cmp(&b.lexeme.text).then(a.position.cmp(&b.position)));
    }
    let mut out = VectorBuilder::default();
    let mut bytes = 0;
    for same in lexemes.words.chunk_by(|a, b| a.lexeme.text == b.lexeme.text) {
        let mut positions: Vec<u16> = Vec::new();
        for word in same {
            let last = positions.last().copied();
            let full = positions.len() >= POSITIONS_MAX - 1
                || last.is_some_and(|l| u32::from(l) == POSITION_LIMIT - 1);
            if last.is_none() || !full && last != Some(word.position) {
                positions.push(word.position);
            }
        }
        let text = &same[0].lexeme.text;
        bytes = (bytes + text.len()).next_multiple_of(2) + 2 + 2 * positions.len();
        out.push(text, positions.into_iter().map(|p| Position::new(p, 0)));
    }
    match bytes > TEXT_BYTES_MAX {
        true => Err(text_too_long(bytes)),
        false => out.finish(),
    }
}

/// Pushes an expression of the lexemes of an operand. `operator` connects those at several
/// positions.
fn expand(
    lexer: &mut dyn Lexer,
    configuration: &Configuration,
    operator: Operator,
    out: &mut Parsed,
    word: Word<'_>,
) -> Result<()> {
    let mut lexemes = Lexemes::default();
    lexemes.add(lexer, configuration, word.text)?;
    if lexemes.words.is_empty() {
        out.stop();
        return Ok(());
    }
    let mut last = 0;
    let mut parts = 0;
    for here in lexemes.words.chunk_by(|a, b| a.position == b.position) {
        let position = here[0].position;
        // Stop words between the positions.
        while last > 0 && last + 1 < position {
            out.stop();
            if parts > 0 {
                out.operator(operator, 1);
            }
            parts += 1;
            last += 1;
        }
        last = position;
        let variants = here.chunk_by(|a, b| a.lexeme.variant == b.lexeme.variant);
        for (v, variant) in variants.enumerate() {
            for (i, PlacedLexeme { lexeme, .. }) in variant.iter().enumerate() {
                let prefix = lexeme.prefix || word.prefix;
                out.operand(Word { text: &lexeme.text, prefix, ..word })?;
                if i > 0 {
                    out.operator(Operator::And, 0);
                }
            }
            if v > 0 {
                out.operator(Operator::Or, 0);
            }
        }
        if parts > 0 {
            out.operator(operator, 1);
        }
        parts += 1;
    }
    Ok(())
}

/// The payload of the query that a text describes. `operator` connects the lexemes of an operand:
/// `And` if their order does not matter, else `Phrase`.
pub fn query(
    lexer: &mut dyn Lexer,
    configuration: &Configuration,
    text: &[u8],
    syntax: Syntax,
    operator: Operator,
) -> Result<Vec<u8>> {
    parse(lexer, text, syntax, &mut |lexer, out, word| {
        expand(lexer, configuration, operator, out, word)
    })
}
