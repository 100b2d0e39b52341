//! Costs of evaluating expressions. Counterpart: costsize.c (`cost_qual_eval_walker`).

use crate::selectivity::{array_len, strip};
use crate::state::Planner;
use ids::Oid;
use pgerror::Result;
use plan::expr::{Expr, ScalarArrayOpExpr};

/// From this number of elements on, a constant array is searched by hashing. Counterpart:
/// `MIN_ARRAY_SIZE_FOR_HASHED_SAOP`.
const HASHED_ELEMENTS_MIN: f64 = 9.0;

impl Planner<'_> {
    /// CPU cost of testing the conditions for one row.
    pub(crate) fn quals_cost(&mut self, quals: &[Expr]) -> Result<f64> {
        let unit = self.host.costs().cpu_operator;
        let mut sum = 0.0;
        for q in quals {
            sum += self.expr_cost(q, unit)?;
        }
        Ok(sum)
    }

    /// CPU cost of evaluating the expression once; `unit` is that of a simple operator.
    pub(crate) fn expr_cost(&mut self, e: &Expr, unit: f64) -> Result<f64> {
        let mut sum = match e {
            // The node that computes them counts them.
            Expr::Aggref(_) | Expr::WindowFunc(_) => return Ok(0.0),
            Expr::GroupingFunc(_) => return Ok(unit),
            Expr::FuncExpr(f) => self.host.function_cost(f.funcid)?.0 * unit,
            Expr::OpExpr(o) | Expr::Distinct(o) | Expr::NullIf(o) => {
                self.operator_cost(o.opfuncid, o.opno)? * unit
            }
            Expr::ScalarArrayOp(op) => self.array_test_cost(op)? * unit,
            Expr::RowCompare(r) => {
                let mut sum = 0.0;
                for &opno in &r.opnos {
                    sum += self.operator_cost(Oid::INVALID, opno)? * unit;
                }
                sum
            }
            Expr::CoerceViaIo(_) | Expr::ArrayCoerce(_) => 2.0 * unit,
            Expr::MinMax(_)
            | Expr::SqlValue(_)
            | Expr::Xml(_)
            | Expr::CoerceToDomain(_)
            | Expr::NextValue(_) => unit,
            Expr::SubPlan(s) => s.per_call_cost,
            _ => 0.0,
        };
        let mut failure = None;
        plan::walk::each_child(e, &mut |c| match self.expr_cost(c, unit) {
            Ok(x) => sum += x,
            Err(err) => failure = Some(err),
        });
        failure.map_or(Ok(sum), Err)
    }

    /// `procost` of an operator's function.
    fn operator_cost(&mut self, function: Oid, opno: Oid) -> Result<f64> {
        let function = match function.valid() {
            Some(f) => f,
            None => self.host.operator_function(opno)?,
        };
        Ok(self.host.function_cost(function)?.0)
    }

    /// Cost of a comparison with an array's elements in units of a simple operator: about half of
    /// them are compared until the result is known, unless they are hashed.
    fn array_test_cost(&mut self, op: &ScalarArrayOpExpr) -> Result<f64> {
        let each = self.operator_cost(op.opfuncid, op.opno)?;
        let Some(array) = op.args.get(1) else { return Ok(each) };
        let count = array_len(array);
        if count >= HASHED_ELEMENTS_MIN && matches!(strip(array), Expr::Const(_)) {
            let info = self.host.operator(op.opno)?;
            let equality = match op.use_or {
                true => info.can_hash,
                false => match info.negator.valid() {
                    Some(negator) => self.host.operator(negator)?.can_hash,
                    None => false,
                },
            };
            if equality {
                return Ok(1.0 + each);
            }
        }
        Ok(each * count * 0.5)
    }
}
