//! Assignments and casts of PL/pgSQL. Counterpart: parser/analyze.c (`transformPLAssignStmt`),
//! `get_cast_hashentry` of pl_exec.c.

use crate::coerce::Context;
use crate::lookup::Lookup;
use crate::scope::ParamScope;
use crate::state::{Analyzer, ExprKind, Params};
use crate::target::{AssignmentTarget, take};
use crate::ty;
use ids::Oid;
use parse::ast::{self, Node, PlAssignStmt};
use pgerror::{PgError, Result, pg_err};
use plan::expr::{CoercionForm, Expr, Location};
use plan::query::Query;

/// Analyses an assignment. The only result column of the query is the new value of the variable
/// that the target names, or of which it names a part.
pub fn assignment(
    cat: &mut dyn Lookup,
    stmt: &PlAssignStmt,
    sql: &str,
    scope: &dyn ParamScope,
) -> Result<Query> {
    let mut cx = Analyzer::new(cat, sql, Params::Scope(scope));
    let (target, indirection) = cx.assigned_variable(stmt)?;
    let Some(val) = &stmt.val else {
        return Err(PgError::internal("assignment without a value"));
    };
    cx.level().resolve_unknowns = false;
    let mut query = cx.select_stmt_with(val, &mut |cx, targets| {
        let [value] = &mut targets[..] else {
            let count = targets.len();
            let columns = if count == 1 { "column" } else { "columns" };
            return Err(pg_err!(SYNTAX_ERROR, "assignment source returned {count} {columns}"));
        };
        let e = take(&mut value.expr);
        // Subscripts of the target may have sub-selects, and refer to the tables of the value.
        value.expr = cx.with_kind(ExprKind::UpdateTarget, |cx| {
            cx.assigned_value(stmt, target.clone(), indirection, e)
        })?;
        Ok(())
    })?;
    query.can_set_tag = true;
    Ok(query)
}

/// The value of an expression as a value of another type, as in assignments to variables: by I/O
/// conversion if there is no cast. `None` for pseudo-types.
pub fn cast(cat: &mut dyn Lookup, expr: Expr, target: Oid, typmod: i32) -> Result<Option<Expr>> {
    let mut cx = Analyzer::new(cat, "", Params::Fixed(Vec::new()));
    let cast = cx.coerce_to_target(
        expr,
        target,
        typmod,
        Context::Plpgsql,
        CoercionForm::ImplicitCast,
        Location::UNKNOWN,
    )?;
    let Some(mut cast) = cast else { return Ok(None) };
    cx.assign_collations(&mut cast)?;
    Ok(Some(cast))
}

impl Analyzer<'_> {
    /// The variable of an assignment, and the indirection that selects a part of it.
    fn assigned_variable<'s>(&mut self, stmt: &'s PlAssignStmt) -> Result<(Expr, &'s [Node])> {
        let further = usize::try_from(stmt.names - 1).unwrap_or_default();
        let further = further.min(stmt.indirection.len());
        let (names, indirection) = stmt.indirection.split_at(further);
        let number = stmt.name.strip_prefix('$').and_then(|n| n.parse().ok());
        if let Some(number) = number.filter(|_| names.is_empty()) {
            return Ok((self.param(number, stmt.location)?, indirection));
        }
        let mut fields = vec![Node::String(stmt.name.clone())];
        fields.extend_from_slice(names);
        let reference = ast::ColumnRef { fields, location: stmt.location };
        let target = self.expr_in(&Node::ColumnRef(Box::new(reference)), ExprKind::UpdateTarget)?;
        Ok((target, indirection))
    }

    fn assigned_value(
        &mut self,
        stmt: &PlAssignStmt,
        target: Expr,
        indirection: &[Node],
        value: Expr,
    ) -> Result<Expr> {
        let Expr::Param(variable) = &target else {
            return Err(PgError::internal("assignment to an expression that is no variable"));
        };
        let (to, typmod, collation) =
            (variable.paramtype, variable.paramtypmod, variable.paramcollid);
        if !indirection.is_empty() {
            let name = &*stmt.name;
            let context = Context::Plpgsql;
            let target_of =
                AssignmentTarget { name, is_element: false, ty: to, typmod, collation, context };
            return self.assign_into(target, &target_of, indirection, value, stmt.location);
        }
        let from = value.type_oid();
        // The structure of rows is checked when the value is assigned.
        if to != from && self.is_row(to)? && self.is_row(from)? {
            return Ok(value);
        }
        let position = value.location();
        let coerced = self.coerce_to_target(
            value,
            to,
            typmod,
            Context::Plpgsql,
            CoercionForm::ImplicitCast,
            Location::UNKNOWN,
        )?;
        match coerced {
            Some(value) => Ok(value),
            None => {
                let (to, from) = (self.format_type(to), self.format_type(from));
                let e = pg_err!(
                    DATATYPE_MISMATCH,
                    "variable \"{}\" is of type {to} but expression is of type {from}",
                    stmt.name
                )
                .hint("You will need to rewrite or cast the expression.");
                Err(self.at(e, position))
            }
        }
    }

    fn is_row(&mut self, oid: Oid) -> Result<bool> {
        Ok(oid == ty::RECORD || self.is_complex(oid)?)
    }
}
