//! Bodies of SQL functions, analysed and checked when the function is created.
//!
//! Counterpart: `interpret_AS_clause` of functioncmds.c, `fmgr_sql_validator` of pg_proc.c.

use super::Parameters;
use crate::stored;
use analyze::SessionLookup;
use catalog::ObjectAddress;
use catalog::rows::Text;
use ids::Oid;
use parse::ast::Node;
use pgerror::{PgError, Result, bail};
use types::oids;
use utility::host::CommandHost;

/// Analyses an SQL-standard function body. Returns its stored form and dependencies.
pub(super) fn standard_body(
    host: &mut dyn CommandHost,
    node: &Node,
    sql: &str,
    name: &str,
    types: &[Oid],
    labels: &[String],
) -> Result<(Text, Vec<ObjectAddress>)> {
    if types.iter().any(|t| is_polymorphic(*t)) {
        bail!(
            INVALID_FUNCTION_DEFINITION,
            "SQL function with unquoted function body cannot have polymorphic arguments"
        );
    }
    let one = |host: &mut dyn CommandHost, node: &Node| {
        if !analyze::is_query(node) && !matches!(node, Node::ReturnStmt(_)) {
            let tag = crate::tag::command_tag(node);
            bail!(
                FEATURE_NOT_SUPPORTED,
                "{tag} is not yet supported in unquoted SQL function body"
            );
        }
        analyze::function_statement(&mut SessionLookup::new(host), node, sql, name, types, labels)
    };
    let mut needs = Vec::new();
    let text = match node {
        // BEGIN ATOMIC: the parser represents the statements as a list in a list.
        Node::List(outer) => {
            let mut queries = Vec::new();
            for inner in outer.iter() {
                let Node::List(list) = inner else { continue };
                for stmt in list.iter() {
                    let q = one(host, stmt)?;
                    stored::query_references(&q, &mut needs);
                    queries.push(q);
                }
            }
            format!("({})", plan::nodetree::write_queries(&queries))
        }
        stmt => {
            let q = one(host, stmt)?;
            stored::query_references(&q, &mut needs);
            plan::nodetree::write_query(&q)
        }
    };
    stored::tidy(host, &mut needs)?;
    Ok((Text::from(text), needs))
}

/// Maps the error position to the CREATE statement if the body occurs in it exactly once; otherwise
/// reports the body as an internal query. Counterpart: `function_parse_error_transpose`.
pub(super) fn transposed(mut e: PgError, sql: &str, body: &str, name: &str) -> PgError {
    let Some(position) = e.fields().position else {
        return e.context(format!("SQL function \"{name}\""));
    };
    let fields = e.fields_mut();
    match position_in(sql, body, position) {
        Some(place) => fields.position = Some(place),
        None => {
            fields.position = None;
            fields.internal_position = Some(position);
            fields.internal_query = Some(body.to_owned());
        }
    }
    e
}

/// The position in the statement of character `position` of the body. `None` unless the statement
/// contains the body once, dollar-quoted or as a literal, where quotes and escapes take more than
/// one character. Counterpart: `match_prosrc_to_query`.
fn position_in(sql: &str, body: &str, position: u32) -> Option<u32> {
    let bytes = sql.as_bytes();
    let mut found = None;
    for (at, c) in sql.char_indices() {
        let start = at + 1;
        let end = match c {
            '$' => {
                let end = start + body.len();
                let quoted = sql.get(start..end) == Some(body) && bytes.get(end) == Some(&b'$');
                quoted.then_some(start + body.char_indices().nth(position as usize - 1)?.0)
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

/// The signature that a body is checked against.
pub(super) struct Signature<'a> {
    pub name: &'a str,
    pub types: &'a [Oid],
    pub labels: &'a [String],
    pub result: Oid,
    /// Types of the output parameters.
    pub outputs: Vec<Oid>,
    pub procedure: bool,
}

pub(super) fn outputs_of(p: &Parameters) -> Vec<Oid> {
    let (Some(all), Some(modes)) = (&p.all, &p.modes) else { return Vec::new() };
    let pairs = all.iter().zip(modes);
    pairs.filter(|(_, m)| matches!(m, b'o' | b'b' | b't')).map(|(t, _)| *t).collect()
}

/// Analyses a body and checks the result columns of its last statement. Counterpart:
/// `fmgr_sql_validator`.
pub(super) fn check_body(
    host: &mut dyn CommandHost,
    text: &str,
    stored: Option<&str>,
    of: &Signature<'_>,
) -> Result<()> {
    let parsed = match stored {
        Some(_) => Vec::new(),
        None => parse::parse(text)?,
    };
    if of.types.iter().any(|t| is_polymorphic(*t)) {
        return Ok(());
    }
    let mut lookup = SessionLookup::new(host);
    let mut queries = match stored {
        Some(stored) => {
            analyze::stored::body(&mut lookup, stored)?.0.into_iter().map(Some).collect()
        }
        None => Vec::new(),
    };
    for stmt in &parsed {
        queries.push(match analyze::is_query(&stmt.stmt) {
            true => Some(analyze::function_statement(
                &mut lookup,
                &stmt.stmt,
                text,
                of.name,
                of.types,
                of.labels,
            )?),
            false => None,
        });
    }
    let mut columns: Option<Vec<(Oid, i32)>> = None;
    let row = host.catalog().type_row(of.result)?;
    if of.result == oids::RECORD && !of.outputs.is_empty() {
        columns = Some(of.outputs.iter().map(|t| (*t, -1)).collect());
    } else if row.typtype == b'c' {
        let desc = host.catalog().relation(row.typrelid)?;
        let live = desc.attributes.iter().filter(|a| !a.attisdropped);
        columns = Some(live.map(|a| (a.atttypid, a.atttypmod)).collect());
    }
    let last = queries.last_mut().and_then(Option::as_mut);
    let mut lookup = SessionLookup::new(host);
    analyze::function::fit_result(&mut lookup, last, of.result, columns.as_deref(), of.procedure)?;
    Ok(())
}

fn is_polymorphic(ty: Oid) -> bool {
    matches!(ty.0, 2277 | 2283 | 2776 | 3500 | 3831 | 4537 | 4538 | 5077..=5080)
}
