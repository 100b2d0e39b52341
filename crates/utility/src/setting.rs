//! Arguments of SET.

use parse::ast::{Node, TypeCast, Value as Const};
use pgerror::{PgError, Result};
use types::datetime::interval;
use types::settings::IntervalStyle;

/// The constant of an argument of SET. `SET TIME ZONE INTERVAL …` is parsed as a cast.
pub fn constant(arg: &Node) -> Result<&Const> {
    match arg {
        Node::AConst(c) => Ok(&c.val),
        Node::TypeCast(cast) => constant(&cast.arg),
        _ => Err(PgError::internal("unexpected argument of SET")),
    }
}

/// `INTERVAL '…'` in the form in which settings have it.
pub fn interval_text(cast: &TypeCast, text: &str, style: IntervalStyle) -> Result<String> {
    let mut modifiers = Vec::new();
    for modifier in &cast.type_name.typmods {
        match constant(modifier)? {
            Const::Integer(i) => modifiers.push(*i),
            _ => return Err(PgError::internal("unexpected type modifier in SET")),
        }
    }
    let typmod = if modifiers.is_empty() { -1 } else { interval::typmod_of(&modifiers)? };
    let value = interval::parse(text.as_bytes(), typmod, style)?;
    Ok(format!("INTERVAL '{}'", interval::text(&value, style)))
}
