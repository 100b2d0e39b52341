//! Compiled expressions over the rows of one relation.

use crate::host::CommandHost;
use catalog::RelDesc;
use eval::{Compiler, EvalState, Facts, Program, Resolve, RowInput, RowRef, Slot, Source};
use ids::{AttrNo, Oid};
use pgerror::{PgError, Result};
use plan::Expr;
use plan::expr::Var;
use std::sync::Arc;
use types::Datum;
use types::fn_context::RowDesc;

/// An expression with constants folded. That calls its immutable functions, with the privileges of
/// the owner of the object that the expression is part of.
pub fn folded_as_owner(host: &mut dyn CommandHost, owner: Oid, e: &Expr) -> Result<Expr> {
    let mut folded = None;
    host.as_owner(owner, &mut |host| {
        folded = Some(host.planner().fold(e.clone())?);
        Ok(())
    })?;
    folded.ok_or_else(|| PgError::internal("expression was not folded"))
}

/// The columns of the input row, in this order; all columns of the relation if empty.
pub struct Columns<'a> {
    pub columns: &'a [AttrNo],
    pub row: Option<Arc<RowDesc>>,
}

impl Resolve for Columns<'_> {
    fn var(&mut self, var: &Var) -> Result<Slot> {
        let column = if self.columns.is_empty() {
            usize::try_from(var.varattno - 1).ok()
        } else {
            self.columns.iter().position(|c| *c == var.varattno)
        };
        let column = column.ok_or_else(|| PgError::internal("the column is not available"))?;
        Ok(Slot { source: Source::Scan, column })
    }

    fn whole_row(&mut self, _: &Var) -> Result<(Vec<Slot>, Arc<RowDesc>)> {
        let row = self
            .row
            .clone()
            .ok_or_else(|| PgError::unsupported("whole-row reference in this place"))?;
        let slots = (0..row.columns.len()).map(|column| Slot { source: Source::Scan, column });
        Ok((slots.collect(), row))
    }
}

/// Compiles an expression over rows with these columns. Error 42501 if the user may not call its
/// functions.
pub fn compile(facts: &mut dyn Facts, expr: &Expr, columns: &[AttrNo]) -> Result<Program> {
    let calls = eval::called([expr], facts)?;
    facts.may_call(&calls)?;
    Compiler::new(facts, &mut Columns { columns, row: None }).compile(expr)
}

/// As [`compile`], over rows about to be written: whole-row references and `tableoid` are allowed.
pub fn compile_over(host: &mut dyn CommandHost, rel: &RelDesc, expr: &Expr) -> Result<Program> {
    let mut expr = expr.clone();
    plan::walk::fix_tableoid(&mut expr, rel.oid());
    let row = match rel.class.reltype.valid() {
        Some(ty) => Some(host.functions().row_desc(ty, -1)?),
        None => None,
    };
    let calls = eval::called([&expr], host.facts())?;
    host.facts().may_call(&calls)?;
    Compiler::new(host.facts(), &mut Columns { columns: &[], row }).compile(&expr)
}

/// As [`compile_over`], for a conjunction of conditions.
pub fn compile_quals_over(
    host: &mut dyn CommandHost,
    rel: &RelDesc,
    mut quals: Vec<Expr>,
) -> Result<Program> {
    for e in &mut quals {
        plan::walk::fix_tableoid(e, rel.oid());
    }
    let row = match rel.class.reltype.valid() {
        Some(ty) => Some(host.functions().row_desc(ty, -1)?),
        None => None,
    };
    let calls = eval::called(&quals, host.facts())?;
    host.facts().may_call(&calls)?;
    Compiler::new(host.facts(), &mut Columns { columns: &[], row }).compile_all(&quals)
}

/// Evaluates the program for a row.
pub fn value(
    program: &Program,
    state: &mut EvalState,
    host: &mut dyn eval::Host,
    row: &[Datum],
) -> Result<Datum> {
    Ok(program.eval_row(state, host, &RowInput::scan(RowRef::Owned(row)))?.into_owned())
}
