//! Input and output of the `reg*` types: object names to OIDs and back.
//!
//! Counterpart: utils/adt/regproc.c.

use crate::host::SystemHost;
use analyze::{SessionLookup, typename::type_name_text};
use catalog::{CatCx, cache};
use ids::Oid;
use ids::code::OprKind;
use parse::ast::TypeName;
use pgerror::{PgError, Result, pg_err};
use types::fn_context::RegKind;
use types::string::split_identifiers_at;

/// Maximum number of function arguments. Counterpart: `FUNC_MAX_ARGS`.
const ARGUMENTS_MAX: usize = 100;

/// Splits a name, which may be qualified and quoted, into schema and name.
pub(crate) fn split_name(
    core: &mut dyn SystemHost,
    text: &str,
) -> Result<(Option<String>, String)> {
    parts_of(core, text, false)
}

/// As [`split_name`], with the error messages for relations.
pub(crate) fn split_relation_name(
    core: &mut dyn SystemHost,
    text: &str,
) -> Result<(Option<String>, String)> {
    parts_of(core, text, true)
}

fn parts_of(
    core: &mut dyn SystemHost,
    text: &str,
    relation: bool,
) -> Result<(Option<String>, String)> {
    let mut parts = split_identifiers_at(text, '.').ok_or_else(invalid_name)?;
    let joined = parts.join(".");
    if parts.len() > 3 {
        let kind = if relation { "relation" } else { "qualified" };
        return Err(pg_err!(
            SYNTAX_ERROR,
            "improper {kind} name (too many dotted names): {joined}"
        ));
    }
    let name = parts.pop().ok_or_else(invalid_name)?;
    let schema = parts.pop();
    if let Some(database) = parts.pop()
        && database != core.database_name()?
    {
        let shown = if relation { format!("\"{joined}\"") } else { joined };
        return Err(pg_err!(
            FEATURE_NOT_SUPPORTED,
            "cross-database references are not implemented: {shown}"
        ));
    }
    Ok((schema, name))
}

/// A name that must be unqualified.
fn single_name(core: &mut dyn SystemHost, text: &str) -> Result<String> {
    match split_name(core, text)? {
        (None, name) => Ok(name),
        (Some(_), _) => Err(invalid_name()),
    }
}

fn invalid_name() -> PgError {
    pg_err!(INVALID_NAME, "invalid name syntax")
}

/// The object of that name; `None` if there is none. Errors of the name itself are returned.
pub fn lookup_name(core: &mut dyn SystemHost, kind: RegKind, text: &str) -> Result<Option<Oid>> {
    match kind {
        RegKind::Class => {
            let (schema, name) = split_relation_name(core, text)?;
            if let Some(schema) = &schema {
                core.catalog().namespace(schema)?;
            }
            core.catalog().find_relation(schema.as_deref(), &name)
        }
        RegKind::Type => existing_type(core, text).map(Some),
        RegKind::Role => {
            let name = single_name(core, text)?;
            Ok(core.catalog().find_role(&name)?.map(|r| r.oid))
        }
        RegKind::Namespace => {
            let name = single_name(core, text)?;
            core.catalog().find_namespace(&name)
        }
        RegKind::Collation => {
            let (schema, name) = split_name(core, text)?;
            core.catalog().find_collation(schema.as_deref(), &name)
        }
        RegKind::Config => {
            let (schema, name) = split_name(core, text)?;
            core.catalog().find_ts_config(schema.as_deref(), &name)
        }
        RegKind::Dictionary => {
            let (schema, name) = split_name(core, text)?;
            core.catalog().find_ts_dict(schema.as_deref(), &name)
        }
        RegKind::Proc => {
            let (schema, name) = split_name(core, text)?;
            let found = core.catalog().function_candidates(
                schema.as_deref(),
                &name,
                None,
                &[],
                false,
                false,
            )?;
            match found.as_slice() {
                [] => Ok(None),
                [one] => Ok(Some(one.row.oid)),
                _ => Err(pg_err!(AMBIGUOUS_FUNCTION, "more than one function named \"{text}\"")),
            }
        }
        RegKind::Procedure => {
            let (name, types) = signature(core, text, false)?;
            let (schema, name) = split_name(core, &name)?;
            let found = core.catalog().function_candidates(
                schema.as_deref(),
                &name,
                Some(types.len()),
                &[],
                false,
                false,
            )?;
            Ok(found.iter().find(|c| c.args == types).map(|c| c.row.oid))
        }
        RegKind::Oper => {
            let (schema, name) = split_name(core, text)?;
            let mut cat = core.catalog();
            let mut found = cat.operator_candidates(schema.as_deref(), &name, OprKind::Binary)?;
            found.extend(cat.operator_candidates(schema.as_deref(), &name, OprKind::Prefix)?);
            match found.as_slice() {
                [] => Ok(None),
                [one] => Ok(Some(one.row.oid)),
                _ => Err(pg_err!(AMBIGUOUS_FUNCTION, "more than one operator named {text}")),
            }
        }
        RegKind::Operator => {
            let (name, types) = signature(core, text, true)?;
            let (schema, name) = match name.rsplit_once('.') {
                Some((s, n)) => (Some(split_name(core, s)?.1), n.to_string()),
                None => (None, name),
            };
            let (left, right) = operand_types(&types)?;
            core.catalog().find_operator(schema.as_deref(), &name, left, right)
        }
    }
}

/// The operand types of an operator signature.
fn operand_types(types: &[Oid]) -> Result<(Oid, Oid)> {
    match types {
        [left, right] => Ok((*left, *right)),
        [_] => Err(pg_err!(UNDEFINED_PARAMETER, "missing argument")
            .hint("Use NONE to denote the missing argument of a unary operator.")),
        _ => Err(pg_err!(TOO_MANY_ARGUMENTS, "too many arguments")
            .hint("Provide two argument types for operator.")),
    }
}

/// Parses `name(type, type)` into the text of the name and the types. In an operator signature,
/// `NONE` is a missing operand.
/// Counterpart: `parseNameAndArgTypes`.
fn signature(
    core: &mut dyn SystemHost,
    text: &str,
    none_allowed: bool,
) -> Result<(String, Vec<Oid>)> {
    let open = find_outside_quotes(text, |c| c == '(')
        .ok_or_else(|| pg_err!(INVALID_TEXT_REPRESENTATION, "expected a left parenthesis"))?;
    let (name, rest) = (&text[..open], &text[open + 1..]);
    // A name that cannot be split is reported before errors of the types.
    if split_identifiers_at(name, '.').is_none_or(|parts| parts.is_empty()) {
        return Err(invalid_name());
    }
    let mut rest = rest
        .trim_end()
        .strip_suffix(')')
        .ok_or_else(|| pg_err!(INVALID_TEXT_REPRESENTATION, "expected a right parenthesis"))?;
    let mut types = Vec::new();
    let mut after_comma = false;
    loop {
        rest = rest.trim_start();
        if rest.is_empty() {
            if after_comma {
                return Err(pg_err!(INVALID_TEXT_REPRESENTATION, "expected a type name"));
            }
            return Ok((name.trim().to_string(), types));
        }
        let (one, more) = split_type(rest)?;
        let ty = match none_allowed && one.eq_ignore_ascii_case("none") {
            true => Oid::INVALID,
            false => existing_type(core, one)?,
        };
        if types.len() >= ARGUMENTS_MAX {
            return Err(pg_err!(TOO_MANY_ARGUMENTS, "too many arguments"));
        }
        types.push(ty);
        (rest, after_comma) = (more.unwrap_or_default(), more.is_some());
    }
}

/// The byte offset of the first character outside double quotes that satisfies `is_wanted`.
fn find_outside_quotes(text: &str, mut is_wanted: impl FnMut(char) -> bool) -> Option<usize> {
    let mut in_quotes = false;
    text.char_indices().find_map(|(at, c)| {
        if c == '"' {
            in_quotes = !in_quotes;
        }
        (!in_quotes && is_wanted(c)).then_some(at)
    })
}

/// Splits the text at the first comma outside quotes, parentheses and brackets. The second part is
/// `None` without a comma.
fn split_type(text: &str) -> Result<(&str, Option<&str>)> {
    let mut depth = 0i64;
    let comma = find_outside_quotes(text, |c| {
        match c {
            '(' | '[' => depth += 1,
            ')' | ']' => depth -= 1,
            _ => {}
        }
        c == ',' && depth == 0
    });
    let one = &text[..comma.unwrap_or(text.len())];
    if depth != 0 || !one.matches('"').count().is_multiple_of(2) {
        return Err(pg_err!(INVALID_TEXT_REPRESENTATION, "improper type name"));
    }
    Ok((one.trim_end(), comma.map(|at| &text[at + 1..])))
}

/// A type by its name in SQL notation, with modifiers and array bounds; 42704 if there is none.
fn existing_type(core: &mut dyn SystemHost, text: &str) -> Result<Oid> {
    parsed_type(core, text)?.map_err(|name| {
        pg_err!(UNDEFINED_OBJECT, "type \"{}\" does not exist", type_name_text(&name))
    })
}

/// As [`existing_type`]; the inner error is the parsed name if there is no such type. Counterpart:
/// `parseTypeString`.
fn parsed_type(
    core: &mut dyn SystemHost,
    text: &str,
) -> Result<std::result::Result<Oid, Box<TypeName>>> {
    let invalid = || pg_err!(SYNTAX_ERROR, "invalid type name \"{text}\"");
    if text.trim_ascii().is_empty() {
        return Err(invalid());
    }
    // The error position would refer to this text, which is not the statement.
    let without_position = |mut e: PgError| {
        e.fields_mut().position = None;
        e
    };
    let name = parse::parse_type_name(text)
        .map_err(|e| without_position(e).context(format!("invalid type name \"{text}\"")))?;
    if name.setof {
        return Err(invalid());
    }
    match analyze::ddl::type_name(&mut SessionLookup::new(core), &name, text) {
        Ok((oid, _)) => Ok(Ok(oid)),
        Err(e) if e.code() == pgerror::SqlState::UNDEFINED_OBJECT => Ok(Err(Box::new(name))),
        Err(e) => Err(without_position(e)),
    }
}

/// The name of an object, qualified if it is not visible in the search path.
pub fn name_of(core: &mut dyn SystemHost, kind: RegKind, oid: Oid) -> Result<Option<String>> {
    let mut cat = core.catalog();
    Ok(match kind {
        RegKind::Class => match cat.find_class(oid)? {
            None => None,
            Some(c) => {
                let visible = cat.is_relation_visible(oid)?;
                Some(shown(&mut cat, visible, c.relnamespace, c.relname.as_str())?)
            }
        },
        RegKind::Type => match cat.find_type(oid)? {
            None => None,
            Some(_) => Some(cat.format_type(oid)?),
        },
        RegKind::Role => {
            let row = cat.role_row(oid)?;
            row.map(|r| cat.session.quoting.identifier(r.rolname.as_str()))
        }
        RegKind::Namespace => {
            let name = cat.namespace_name(oid)?;
            name.map(|n| cat.session.quoting.identifier(n.as_str()))
        }
        RegKind::Proc => match cat.find_function(oid)? {
            None => None,
            Some(p) => {
                // Unqualified only if the name identifies this function without its arguments.
                let same =
                    cat.function_candidates(None, p.proname.as_str(), None, &[], false, false)?;
                let visible = matches!(same.as_slice(), [one] if one.row.oid == oid);
                Some(shown(&mut cat, visible, p.pronamespace, p.proname.as_str())?)
            }
        },
        RegKind::Procedure => match cat.find_function(oid)? {
            None => None,
            Some(_) => Some(cat.format_function(oid)?),
        },
        RegKind::Oper => cat.find_operator_row(oid)?.map(|o| o.oprname.as_str().to_string()),
        RegKind::Operator => match cat.find_operator_row(oid)? {
            None => None,
            Some(_) => Some(cat.format_operator(oid)?),
        },
        RegKind::Collation => match cat.search(cache::COLLOID, &[oid.into()])? {
            None => None,
            Some(c) => {
                let found = cat.find_collation(None, c.collname.as_str())?;
                Some(shown(&mut cat, found == Some(oid), c.collnamespace, c.collname.as_str())?)
            }
        },
        RegKind::Config => match cat.search(cache::TSCONFIGOID, &[oid.into()])? {
            None => None,
            Some(c) => {
                let found = cat.find_ts_config(None, c.cfgname.as_str())?;
                Some(shown(&mut cat, found == Some(oid), c.cfgnamespace, c.cfgname.as_str())?)
            }
        },
        RegKind::Dictionary => match cat.search(cache::TSDICTOID, &[oid.into()])? {
            None => None,
            Some(d) => {
                let found = cat.find_ts_dict(None, d.dictname.as_str())?;
                Some(shown(&mut cat, found == Some(oid), d.dictnamespace, d.dictname.as_str())?)
            }
        },
    })
}

fn shown(cat: &mut CatCx<'_>, visible: bool, schema: Oid, name: &str) -> Result<String> {
    let schema = if visible { None } else { cat.namespace_name(schema)? };
    Ok(cat.session.quoting.qualified(schema.as_ref().map(|s| s.as_str()), name))
}
