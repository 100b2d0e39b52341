//! Entry points of the analyzer. Counterpart: parser/analyze.c.

use crate::lookup::Lookup;
use crate::scope::{FunctionArguments, ParamScope};
use crate::state::{Analyzer, ExprKind, Params};
use crate::ty;
use ids::Oid;
use parse::RawStmt;
use parse::ast::{self, Node};
use pgerror::{PgError, Result, pg_err};
use plan::expr::Expr;
use plan::query::Query;

/// Whether analysis turns the statement into a [`Query`]. Other statements are utility statements
/// and stay raw parse trees.
pub fn is_query(node: &Node) -> bool {
    match node {
        Node::SelectStmt(s) => {
            // SELECT INTO is CREATE TABLE AS.
            let mut leftmost = s;
            while let Some(left) = &leftmost.larg {
                leftmost = left;
            }
            leftmost.into_clause.is_none()
        }
        Node::InsertStmt(_) | Node::UpdateStmt(_) | Node::DeleteStmt(_) | Node::MergeStmt(_) => {
            true
        }
        _ => false,
    }
}

/// Analyses a statement whose parameters have the given types. Counterpart:
/// `parse_analyze_fixedparams`.
pub fn analyze(
    cat: &mut dyn Lookup,
    stmt: &RawStmt,
    sql: &str,
    param_types: &[Oid],
) -> Result<Query> {
    let mut cx = Analyzer::new(cat, sql, Params::Fixed(param_types.to_vec()));
    let mut query = cx.statement(&stmt.stmt)?;
    (query.source.location, query.source.len) = (stmt.location, stmt.len);
    Ok(query)
}

/// Analyses a statement whose parameters have names.
pub fn analyze_in_scope(
    cat: &mut dyn Lookup,
    node: &Node,
    sql: &str,
    scope: &dyn ParamScope,
) -> Result<Query> {
    Analyzer::new(cat, sql, Params::Scope(scope)).statement(node)
}

/// Analyses a statement and infers the types of parameters that are not given (invalid or unknown).
/// Counterpart: `parse_analyze_varparams`.
pub fn analyze_variable(
    cat: &mut dyn Lookup,
    stmt: &RawStmt,
    sql: &str,
    param_types: &mut Vec<Oid>,
) -> Result<Query> {
    let mut cx = Analyzer::new(cat, sql, Params::Variable(std::mem::take(param_types)));
    let mut query = cx.statement(&stmt.stmt)?;
    (query.source.location, query.source.len) = (stmt.location, stmt.len);
    *param_types = inferred_types(&cx, &|f| crate::walk::query_deep(&query, 0, f))?;
    Ok(query)
}

/// Visits an expression. The number is that of the sub-selects that enclose it.
type Visitor<'a> = dyn FnMut(&Expr, u32) -> bool + 'a;

/// The types of the parameters after an analysis that infers them. `visit` walks all expressions
/// that were analyzed. It is an error if a type is unknown. Counterpart:
/// `check_variable_parameters`, the end of `exec_parse_message`.
pub fn inferred_types(cx: &Analyzer<'_>, visit: &dyn Fn(&mut Visitor<'_>)) -> Result<Vec<Oid>> {
    let types = match &cx.params {
        Params::Variable(types) | Params::Fixed(types) => types,
        Params::Scope(_) => return Ok(Vec::new()),
    };
    // References before the one that decided the type still have type "unknown".
    let mut late = None;
    visit(&mut |e, _| {
        if let Expr::Param(p) = e {
            let known = types.get(p.paramid as usize - 1);
            if p.paramkind == plan::expr::ParamKind::Extern && known != Some(&p.paramtype) {
                late.get_or_insert((p.paramid, p.location));
            }
        }
        true
    });
    if let Some((id, location)) = late {
        let e = pg_err!(AMBIGUOUS_PARAMETER, "could not determine data type of parameter ${id}");
        return Err(cx.at(e, location));
    }
    check_determined(types)?;
    Ok(types.clone())
}

/// Error 42P18 if the type of a parameter is not known.
pub fn check_determined(types: &[Oid]) -> Result<()> {
    if let Some(i) = types.iter().position(|t| !t.is_valid() || *t == ty::UNKNOWN) {
        return Err(pg_err!(
            INDETERMINATE_DATATYPE,
            "could not determine data type of parameter ${}",
            i + 1
        ));
    }
    Ok(())
}

/// Analyses an expression that may not refer to columns (arguments of EXECUTE, defaults of
/// functions).
pub fn standalone_expr(
    cat: &mut dyn Lookup,
    node: &Node,
    sql: &str,
    kind: ExprKind,
) -> Result<Expr> {
    let mut cx = Analyzer::new(cat, sql, Params::Fixed(Vec::new()));
    let mut e = cx.expr_in(node, kind)?;
    cx.assign_collations(&mut e)?;
    Ok(e)
}

/// Analyses a statement of a function's body, where arguments are known by name as well as by
/// number. RETURN is a SELECT of one value. Counterpart: `sql_fn_parser_setup`,
/// `transformReturnStmt`.
pub fn function_statement(
    cat: &mut dyn Lookup,
    node: &Node,
    sql: &str,
    function: &str,
    (param_types, collation): (&[Oid], Oid),
    names: &[String],
) -> Result<Query> {
    let arguments = FunctionArguments { function, types: param_types, collation, names };
    let mut cx = Analyzer::new(cat, sql, Params::Scope(&arguments));
    match node {
        Node::ReturnStmt(r) => {
            let target = ast::ResTarget {
                val: Some(r.returnval.clone()),
                location: -1,
                ..ast::ResTarget::default()
            };
            let select =
                ast::SelectStmt { target_list: vec![target], ..ast::SelectStmt::default() };
            let mut query = cx.statement(&Node::SelectStmt(Box::new(select)))?;
            query.is_return = true;
            // The result column of RETURN has no name.
            if let Some(target) = query.target_list.first_mut() {
                target.resname = None;
            }
            Ok(query)
        }
        other => cx.statement(other),
    }
}

/// The procedure that a CALL in a function's body names, and its arguments in the order of the
/// parameters. They may refer to the arguments of the function.
pub fn call_in_function(
    cat: &mut dyn Lookup,
    call: &ast::CallStmt,
    sql: &str,
    function: &str,
    param_types: &[Oid],
    names: &[String],
) -> Result<(Oid, Vec<Expr>)> {
    let collation = Oid::INVALID;
    let arguments = FunctionArguments { function, types: param_types, collation, names };
    Analyzer::new(cat, sql, Params::Scope(&arguments)).procedure_call(call)
}

/// The procedure that a CALL in a function's body names; the arguments are analysed as in
/// [`function_statement`].
pub fn called_procedure(
    cat: &mut dyn Lookup,
    call: &ast::CallStmt,
    sql: &str,
    function: &str,
    param_types: &[Oid],
    names: &[String],
) -> Result<Oid> {
    let collation = Oid::INVALID;
    let arguments = FunctionArguments { function, types: param_types, collation, names };
    let mut cx = Analyzer::new(cat, sql, Params::Scope(&arguments));
    let call = &call.funccall;
    let mut args = Vec::with_capacity(call.args.len());
    for node in &call.args {
        args.push(cx.expr_in(node, ExprKind::CallArgument)?);
    }
    let found = cx.with_kind(ExprKind::CallArgument, |cx| {
        cx.func_or_column(&call.funcname, args, Some(call), true, call.location)
    })?;
    match found {
        Some(Expr::FuncExpr(f)) => Ok(f.funcid),
        _ => Err(PgError::internal("CALL of a function that is not a procedure")),
    }
}
