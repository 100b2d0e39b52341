//! Finds the parts of an expression that constant folding would compute if the parameters' values
//! were known.
//!
//! A generic plan keeps parameters in expressions, and computes `1 / $1` for the first row that
//! needs it. PostgreSQL plans the first executions of a statement as custom plans, so that folding
//! raises the error even without rows. Therefore the parts that it would compute are listed in the
//! plan (`PlannedStmt::bound`) and are evaluated when values are bound to it.

use crate::facts::Facts;
use crate::volatility::computes_itself;
use pgerror::Result;
use plan::expr::{BoolOp, Expr, ParamKind};
use plan::walk;

/// The largest parts of the (folded) expression that consist of parameters, constants and immutable
/// functions, and that folding would compute for all column values. Of AND, OR, CASE and COALESCE,
/// no part after the first argument that may decide the result is included.
pub fn bound_parts(expr: &Expr, facts: &mut dyn Facts) -> Result<Vec<Expr>> {
    let mut finder = Finder { facts, found: Vec::new(), case_known: false };
    if finder.is_known(expr)? {
        finder.push(expr);
    }
    Ok(finder.found.into_iter().cloned().collect())
}

struct Finder<'f, 'e> {
    facts: &'f mut dyn Facts,
    found: Vec<&'e Expr>,
    /// The argument of the enclosing CASE is known.
    case_known: bool,
}

impl<'e> Finder<'_, 'e> {
    /// True if the expression's value depends on parameters and constants only. If not, its known
    /// parts are added to `found`.
    fn is_known(&mut self, expr: &'e Expr) -> Result<bool> {
        match expr {
            Expr::Const(_) => Ok(true),
            Expr::Param(p) => Ok(p.paramkind == ParamKind::Extern),
            Expr::CaseTest(_) => Ok(self.case_known),
            Expr::Bool(n) if n.boolop != BoolOp::Not => {
                self.are_known(&n.args.iter().collect::<Vec<_>>())
            }
            Expr::Coalesce(n) => self.are_known(&n.args.iter().collect::<Vec<_>>()),
            Expr::Case(n) => {
                let known = match &n.arg {
                    Some(arg) => self.is_known(arg)?,
                    None => true,
                };
                let mut parts = Vec::with_capacity(2 * n.args.len() + 1);
                n.args.iter().for_each(|w| parts.extend([&w.expr, &w.result]));
                parts.extend(&n.defresult);
                let first = self.found.len();
                let outer = std::mem::replace(&mut self.case_known, known && n.arg.is_some());
                let rest = self.are_known(&parts);
                self.case_known = outer;
                let rest = rest?;
                if let (true, false, Some(arg)) = (known, rest, &n.arg) {
                    // Parts of the arms may refer to the argument and cannot be evaluated alone.
                    self.found.truncate(first);
                    self.push(arg);
                }
                Ok(known && rest)
            }
            _ => {
                let mut children = Vec::new();
                walk::each_child(expr, &mut |c| children.push(c));
                if let Expr::ArrayCoerce(_) = expr {
                    children.truncate(1);
                }
                let mut known = Vec::with_capacity(children.len());
                for &c in &children {
                    known.push(self.is_known(c)?);
                }
                let itself = match expr {
                    Expr::Bool(_) | Expr::Relabel(_) | Expr::RowCompare(_) => true,
                    Expr::SubLink(_) | Expr::SubPlan(_) => false,
                    _ => computes_itself(expr, self.facts)?,
                };
                if itself && known.iter().all(|k| *k) {
                    return Ok(true);
                }
                for (c, _) in children.into_iter().zip(known).filter(|(_, known)| *known) {
                    self.push(c);
                }
                Ok(false)
            }
        }
    }

    /// As [`Self::is_known`], for arguments that are evaluated in order, where an earlier one may
    /// decide the result.
    fn are_known(&mut self, args: &[&'e Expr]) -> Result<bool> {
        let (mut all, mut end) = (true, None);
        for &arg in args {
            let known = self.is_known(arg)?;
            all &= known;
            if known && end.is_none() {
                let first = self.found.len();
                self.push(arg);
                end = Some((first, self.found.len()));
            }
        }
        if let Some((first, end)) = end {
            self.found.truncate(if all { first } else { end });
        }
        Ok(all)
    }

    fn push(&mut self, expr: &'e Expr) {
        if !matches!(expr, Expr::Const(_) | Expr::Param(_) | Expr::CaseTest(_)) {
            self.found.push(expr);
        }
    }
}
