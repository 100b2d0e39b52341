//! Predicates pushed down into a sequential scan: comparisons of a fixed-width column with a
//! constant or a parameter, which the scan evaluates on the tuples. Rows that fail are not decoded
//! further. No counterpart in PostgreSQL.
//!
//! Only a prefix of the qual is pushed down. Otherwise a pushed-down condition could remove a row
//! for which an earlier condition raises an error.

use engine::table::WordCondition;
use eval::Facts;
use eval::kernels::WordTest;
use ids::AttrNo;
use pgerror::Result;
use plan::expr::{Expr, ParamKind};
use types::Datum;

enum Value {
    Const(Datum),
    /// `$id`.
    Extern(i32),
}

/// A pushed-down predicate. Its value is determined when the scan starts.
pub(crate) struct PushedPredicate {
    column: AttrNo,
    test: WordTest,
    value: Value,
}

/// The predicates of the longest prefix of `qual` that a scan of `rti` can evaluate, one per
/// condition.
pub(crate) fn leading_predicates(
    qual: &[Expr],
    rti: i32,
    facts: &mut dyn Facts,
) -> Result<Vec<PushedPredicate>> {
    let mut out = Vec::new();
    for e in qual {
        match predicate(e, rti, facts)? {
            Some(s) => out.push(s),
            None => break,
        }
    }
    Ok(out)
}

fn predicate(e: &Expr, rti: i32, facts: &mut dyn Facts) -> Result<Option<PushedPredicate>> {
    let Expr::OpExpr(op) = e else { return Ok(None) };
    let [left, right] = op.args.as_slice() else { return Ok(None) };
    let column = |e: &Expr| match e {
        Expr::Var(v) if v.varno == rti && v.varattno > 0 => Some(v.varattno),
        _ => None,
    };
    let value = |e: &Expr| match e {
        Expr::Const(c) => Some(Value::Const(c.value.clone())),
        Expr::Param(p) if p.paramkind == ParamKind::Extern => Some(Value::Extern(p.paramid)),
        _ => None,
    };
    let (column, value, swapped) = match (column(left), value(right), value(left), column(right)) {
        (Some(c), Some(v), ..) => (c, v, 0),
        (_, _, Some(v), Some(c)) => (c, v, 1),
        _ => return Ok(None),
    };
    let function = facts.operator_function(op.opno)?;
    let words = facts.function(function)?.words;
    Ok(words.map(|w| PushedPredicate { column, test: w.test[swapped], value }))
}

impl PushedPredicate {
    /// The predicate with its current value; `params` are those of the statement.
    pub(crate) fn condition(&self, params: &[Datum]) -> WordCondition {
        let value = match &self.value {
            Value::Const(v) => Some(v),
            Value::Extern(id) => usize::try_from(id - 1).ok().and_then(|i| params.get(i)),
        };
        match value {
            Some(&Datum::Word(constant)) => {
                WordCondition { column: self.column, test: self.test, constant }
            }
            // A comparison with NULL is true for no row.
            _ => WordCondition { column: self.column, test: |_, _| false, constant: 0 },
        }
    }
}
