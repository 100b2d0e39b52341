//! The validator of SQL functions: checks the types of a new function, and whether its body can be
//! analysed. Counterpart: `fmgr_sql_validator` of pg_proc.c.

use crate::function::outputs::{argument_names, fields, outputs};
use crate::portal::declare::{check_cursor, check_cursor_query};
use crate::state::State;
use analyze::function::{self, Column};
use analyze::{SessionLookup, ty};
use catalog::Row;
use catalog::rows::PgProc;
use define::routine::transpose::transposed;
use ids::Oid;
use ids::code::{ArgMode, ProKind, TypType};
use parse::ast::Node;
use pgerror::{Result, bail};
use plan::query::{CmdType, Query};
use types::oids;

pub(super) fn validate(state: &mut State, row: &Row<PgProc>, sql: &str) -> Result<()> {
    check_types(state, row)?;
    if !state.store.named("check_function_bodies").as_bool() {
        return Ok(());
    }
    check_body(state, row).map_err(|e| {
        transposed(e, sql, row.prosrc.as_str())
            .unwrap_or_else(|e| e.context(format!("SQL function \"{}\"", row.proname.as_str())))
    })
}

/// Error 42P13 for a pseudo-type that SQL functions cannot return or have as an argument.
fn check_types(state: &mut State, row: &PgProc) -> Result<()> {
    let result = row.prorettype;
    let is_possible = matches!(result, oids::RECORD | oids::VOID) || ty::is_polymorphic(result);
    if !is_possible && is_pseudo(state, result)? {
        let shown = state.cat().format_type(result)?;
        bail!(INVALID_FUNCTION_DEFINITION, "SQL functions cannot return type {shown}");
    }
    for &ty in row.proargtypes.iter() {
        if !ty::is_polymorphic(ty) && is_pseudo(state, ty)? {
            let shown = state.cat().format_type(ty)?;
            bail!(
                INVALID_FUNCTION_DEFINITION,
                "SQL functions cannot have arguments of type {shown}"
            );
        }
    }
    Ok(())
}

fn is_pseudo(state: &mut State, ty: Oid) -> Result<bool> {
    Ok(state.cat().type_row(ty)?.typtype == TypType::Pseudo)
}

/// 0A000 if the procedure has output arguments. Counterpart: `check_sql_fn_statements`.
pub(super) fn refuse_outputs(state: &mut State, procedure: Oid) -> Result<()> {
    let row = state.cat().function(procedure)?;
    if row.proargmodes.iter().flatten().any(|m| matches!(m, ArgMode::Out | ArgMode::InOut)) {
        bail!(
            FEATURE_NOT_SUPPORTED,
            "calling procedures with output arguments is not supported in SQL functions"
        );
    }
    Ok(())
}

/// Errors that the rewriter finds, such as columns that accept only their defaults.
fn check_rewriting(state: &mut State, query: &Query) -> Result<()> {
    if query.command_type != CmdType::Utility {
        analyze::rewrite(&mut SessionLookup::new(state), query.clone())?;
    }
    Ok(())
}

/// The query of a statement: itself, or that of CREATE TABLE AS or DECLARE CURSOR.
fn query_in(stmt: &Node) -> Option<&Node> {
    let query = match stmt {
        Node::CreateTableAsStmt(create) => &create.query,
        Node::DeclareCursorStmt(cursor) => &cursor.query,
        stmt => stmt,
    };
    Some(query).filter(|query| analyze::is_query(query))
}

/// Analyses the body and checks the result columns of its last statement. The statements of a
/// function with polymorphic arguments are only parsed.
fn check_body(state: &mut State, row: &Row<PgProc>) -> Result<()> {
    let text = row.prosrc.as_str();
    let parsed = match &row.prosqlbody {
        Some(_) => Vec::new(),
        None => parse::parse(text)?,
    };
    if row.proargtypes.iter().any(|t| ty::is_polymorphic(*t)) {
        return Ok(());
    }
    let mut lookup = SessionLookup::new(state);
    let mut queries: Vec<Option<Query>> = match &row.prosqlbody {
        Some(stored) => {
            let queries = analyze::stored::body(&mut lookup, stored.as_str())?.0;
            for query in &queries {
                check_rewriting(state, query)?;
            }
            queries.into_iter().map(Some).collect()
        }
        None => Vec::new(),
    };
    let (name, names) = (row.proname.as_str(), argument_names(row));
    for stmt in &parsed {
        let (stmt, types) = (&stmt.stmt, &row.proargtypes);
        let mut lookup = SessionLookup::new(state);
        queries.push(match stmt {
            Node::CallStmt(call) => {
                let procedure =
                    analyze::called_procedure(&mut lookup, call, text, name, types, &names)?;
                refuse_outputs(state, procedure)?;
                None
            }
            stmt => {
                if let Node::DeclareCursorStmt(cursor) = stmt {
                    check_cursor(cursor)?;
                }
                let types = (&types[..], Oid::INVALID);
                let query = match query_in(stmt) {
                    Some(q) => {
                        let cat = &mut lookup;
                        Some(analyze::function_statement(cat, q, text, name, types, &names)?)
                    }
                    None => None,
                };
                if let Node::DeclareCursorStmt(cursor) = stmt {
                    check_cursor_query(cursor)?;
                }
                if let Some(query) = &query {
                    check_rewriting(state, query)?;
                }
                query.filter(|_| analyze::is_query(stmt))
            }
        });
    }
    let outputs = outputs(state, row, &row.proargtypes)?;
    let columns = fields(state, row.prorettype, outputs, &[])?;
    let columns: Option<Vec<Column>> =
        columns.map(|list| list.iter().map(|f| (f.1, f.2)).collect());
    let last = queries.last_mut().and_then(Option::as_mut);
    let mut lookup = SessionLookup::new(state);
    let is_procedure = row.prokind == ProKind::Procedure;
    function::coerce_result(&mut lookup, last, row.prorettype, columns.as_deref(), is_procedure)?;
    Ok(())
}
