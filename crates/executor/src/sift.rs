//! Conditions of a sequential scan that the scan tests on the tuples themselves: a column of words
//! compared with a constant or a parameter. Rows that fail are not decoded any further.
//!
//! Only conditions before all others are taken: those behind may fail or be counted, and must meet
//! the rows that they would have met.

use crate::run::Run;
use engine::table::WordCondition;
use ids::AttrNo;
use pgerror::Result;
use plan::expr::*;
use types::Datum;
use types::kernels::WordTest;

enum Value {
    Const(Datum),
    /// `$id`.
    Extern(i32),
}

/// A condition whose value is not known before the scan starts.
pub(crate) struct Sift {
    column: AttrNo,
    test: WordTest,
    value: Value,
}

/// The first conditions of `qual` that a scan of `rti` can test; their number is that of the
/// conditions.
pub(crate) fn leading(qual: &[Expr], rti: i32, run: &mut Run<'_>) -> Result<Vec<Sift>> {
    let mut out = Vec::new();
    for e in qual {
        match sift(e, rti, run)? {
            Some(s) => out.push(s),
            None => break,
        }
    }
    Ok(out)
}

fn sift(e: &Expr, rti: i32, run: &mut Run<'_>) -> Result<Option<Sift>> {
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
    let (column, value, turned) = match (column(left), value(right), value(left), column(right)) {
        (Some(c), Some(v), ..) => (c, v, 0),
        (_, _, Some(v), Some(c)) => (c, v, 1),
        _ => return Ok(None),
    };
    let facts = run.sv.as_facts();
    let function = facts.operator_function(op.opno)?;
    let words = facts.function(function)?.words;
    Ok(words.map(|w| Sift { column, test: w.test[turned], value }))
}

impl Sift {
    /// With the value of the moment.
    pub(crate) fn condition(&self, run: &Run<'_>) -> WordCondition {
        let value = match &self.value {
            Value::Const(v) => Some(v),
            Value::Extern(id) => run.st.extern_param(*id),
        };
        match value {
            Some(&Datum::Word(constant)) => {
                WordCondition { column: self.column, test: self.test, constant }
            }
            // Nothing compares with NULL.
            _ => WordCondition { column: self.column, test: |_, _| false, constant: 0 },
        }
    }
}
