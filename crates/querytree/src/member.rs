//! Expressions over the columns of a parent relation as expressions over those of a member.
//! Counterpart: appendinfo.c.

use crate::path::{AppendRel, PathKey};
use crate::vars::{make_var, substitute};
use ids::stored::{described, number};
use pgerror::{PgError, Result};
use plan::expr::{CoercionForm, ConvertRowtypeExpr, Expr, Location, Var};
use std::rc::Rc;

impl AppendRel {
    /// Translates an expression over the parent's columns to one over the member's columns.
    pub fn translate(&self, expr: &Expr) -> Result<Expr> {
        let mut e = expr.clone();
        let mut failure = None;
        substitute(&mut e, &mut |e| match e {
            Expr::Var(v) if v.varno == self.parent && v.varlevelsup == 0 => {
                let column = self.column(v);
                if column.is_none() {
                    failure = Some(PgError::internal("column that the member does not have"));
                }
                column
            }
            Expr::CurrentOf(c) if c.cvarno == self.parent => {
                let mut c = c.clone();
                c.cvarno = self.child;
                Some(Expr::CurrentOf(c))
            }
            _ => None,
        });
        failure.map_or(Ok(e), Err)
    }

    /// As [`AppendRel::translate`], for several expressions.
    pub fn translate_all(&self, exprs: &[Expr]) -> Result<Vec<Expr>> {
        exprs.iter().map(|e| self.translate(e)).collect()
    }

    /// Translates an order of the parent's rows to one of the member's rows.
    pub fn translate_order(&self, order: &[PathKey]) -> Result<Vec<PathKey>> {
        let key = |k: &PathKey| {
            let expr = Rc::new(self.translate(&k.expr)?);
            Ok(PathKey { expr, class: None, ..k.clone() })
        };
        order.iter().map(key).collect()
    }

    /// The member's expression for a column of the parent. Each member has system columns of its
    /// own.
    pub fn column(&self, v: &Var) -> Option<Expr> {
        if let Some((facet, of)) = described(v.varattno) {
            let Some(Expr::Var(own)) = self.columns.get(of as usize - 1) else { return None };
            let column = number(facet, own.varattno);
            return Some(make_var(self.child, column, v.vartype, v.vartypmod, v.varcollid));
        }
        match v.varattno {
            0 => Some(self.whole_row(v)),
            n if n < 0 => Some(make_var(self.child, n, v.vartype, v.vartypmod, v.varcollid)),
            n => self.columns.get(n as usize - 1).cloned(),
        }
    }

    /// The member's row as a row of the parent's type.
    pub fn whole_row(&self, v: &Var) -> Expr {
        let row = |ty| make_var(self.child, 0, ty, v.vartypmod, v.varcollid);
        if !self.row_type.is_valid() || self.row_type == v.vartype {
            return row(v.vartype);
        }
        Expr::ConvertRowtype(Box::new(ConvertRowtypeExpr {
            arg: row(self.row_type),
            resulttype: v.vartype,
            convertformat: CoercionForm::ImplicitCast,
            location: Location::UNKNOWN,
        }))
    }

    /// Translates an expression over the member's columns to one over the parent's columns, if it
    /// uses no other columns.
    pub fn translate_up(&self, expr: &Expr) -> Option<Expr> {
        let mut e = expr.clone();
        let mut complete = true;
        substitute(&mut e, &mut |e| match e {
            Expr::Var(v) if v.varno == self.child && v.varlevelsup == 0 => {
                let own = |c: &Expr| matches!(c, Expr::Var(c) if c.varattno == v.varattno);
                let at = match v.varattno {
                    n if n > 0 => self.columns.iter().position(own),
                    _ => None,
                };
                complete &= at.is_some();
                let column = at? as i16 + 1;
                Some(make_var(self.parent, column, v.vartype, v.vartypmod, v.varcollid))
            }
            _ => None,
        });
        complete.then_some(e)
    }
}
