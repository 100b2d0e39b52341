//! Parenthesised options: values of `DefElem`s.
//!
//! Counterpart: define.c.

use parse::ast::{DefElem, Name, Node, TypeName, Value};
use pgerror::{Result, bail, pg_err};

/// The text of an option's constant; empty for other values.
pub fn constant_text(def: &DefElem) -> String {
    match &def.arg {
        Some(Node::AConst(c)) => match &c.val {
            Value::Integer(i) => i.to_string(),
            Value::String(s) | Value::Float(s) => s.to_string(),
            Value::Boolean(b) => b.to_string(),
            _ => String::new(),
        },
        Some(Node::String(s)) => s.to_string(),
        Some(Node::Integer(i)) => i.to_string(),
        Some(Node::Boolean(b)) => b.to_string(),
        _ => String::new(),
    }
}

/// The value as text. Counterpart: `defGetString`.
pub fn text(def: &DefElem) -> Result<String> {
    Ok(match &def.arg {
        Some(Node::String(s) | Node::Float(s)) => s.to_string(),
        Some(Node::Integer(n)) => n.to_string(),
        Some(Node::Boolean(b)) => b.to_string(),
        Some(Node::TypeName(t)) => analyze::typename::type_name_text(t),
        Some(Node::List(l)) => {
            let parts: Vec<&str> = l.iter().filter_map(Node::as_str).collect();
            parts.join(".")
        }
        Some(Node::AStar) => "*".to_string(),
        Some(Node::AConst(_)) | None => {
            bail!(SYNTAX_ERROR, "{} requires a parameter", def.defname)
        }
        Some(_) => bail!(SYNTAX_ERROR, "invalid value of option \"{}\"", def.defname),
    })
}

/// The value as a boolean; a missing value means true. Counterpart: `defGetBoolean`.
pub fn boolean(def: &DefElem) -> Result<bool> {
    match &def.arg {
        None => return Ok(true),
        Some(Node::Boolean(b)) => return Ok(*b),
        Some(Node::Integer(0)) => return Ok(false),
        Some(Node::Integer(1)) => return Ok(true),
        Some(Node::Integer(_)) => {}
        Some(_) => match text(def)?.to_ascii_lowercase().as_str() {
            "true" | "on" => return Ok(true),
            "false" | "off" => return Ok(false),
            _ => {}
        },
    }
    Err(pg_err!(SYNTAX_ERROR, "{} requires a Boolean value", def.defname))
}

/// The value as a 64-bit integer. Counterpart: `defGetInt64`.
pub fn integer(def: &DefElem) -> Result<i64> {
    match &def.arg {
        Some(Node::Integer(n)) => Ok(i64::from(*n)),
        Some(Node::Float(s)) => s.parse().map_err(|_| {
            pg_err!(NUMERIC_VALUE_OUT_OF_RANGE, "value \"{s}\" is out of range for type bigint")
        }),
        _ => Err(pg_err!(SYNTAX_ERROR, "{} requires a numeric value", def.defname)),
    }
}

/// The value as the parts of a qualified name. Counterpart: `defGetQualifiedName`.
pub fn qualified(def: &DefElem) -> Result<Vec<Name>> {
    match &def.arg {
        Some(Node::TypeName(t)) => Ok(t.names.clone()),
        Some(Node::String(s)) => Ok(vec![s.clone()]),
        Some(Node::List(list)) => {
            Ok(list.iter().filter_map(Node::as_str).map(Name::from).collect())
        }
        None => bail!(SYNTAX_ERROR, "{} requires a parameter", def.defname),
        Some(_) => bail!(SYNTAX_ERROR, "argument of {} must be a name", def.defname),
    }
}

/// The value as the name of a type. Counterpart: `defGetTypeName`.
pub fn type_name(def: &DefElem) -> Result<TypeName> {
    match &def.arg {
        Some(Node::TypeName(t)) => Ok((**t).clone()),
        Some(Node::String(s)) => {
            Ok(TypeName { names: vec![s.clone()], location: -1, ..TypeName::default() })
        }
        None => bail!(SYNTAX_ERROR, "{} requires a parameter", def.defname),
        Some(_) => bail!(SYNTAX_ERROR, "argument of {} must be a type name", def.defname),
    }
}

/// The value as the length of a type: -1 for `variable`. Counterpart: `defGetTypeLength`.
pub fn type_length(def: &DefElem) -> Result<i16> {
    match &def.arg {
        None => bail!(SYNTAX_ERROR, "{} requires a parameter", def.defname),
        Some(Node::Integer(n)) => return Ok(*n as i16),
        Some(Node::Float(_)) => bail!(SYNTAX_ERROR, "{} requires an integer value", def.defname),
        Some(_) if text(def)?.eq_ignore_ascii_case("variable") => return Ok(-1),
        Some(_) => {}
    }
    Err(pg_err!(SYNTAX_ERROR, "invalid argument for {}: \"{}\"", def.defname, text(def)?))
}
