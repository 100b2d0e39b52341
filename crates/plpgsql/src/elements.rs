//! Assignments that change an array in place: to an element of a variable, and of the variable with
//! an element appended. Other assignments make a new array.

use crate::host::Host;
use crate::prepare::program;
use crate::tree::VarNo;
use crate::words::Words;
use eval::{EvalState, Facts, Program, RowInput, RowRef};
use ids::Oid;
use pgerror::Result;
use plan::expr::{Expr, ParamKind};
use types::fn_context::TypeInfo;
use types::{Datum, DatumRef, array};

/// `variable[index] := value`, or `variable := variable || value`.
pub(crate) struct ArrayChange {
    var: VarNo,
    /// The subscript; `None` to append.
    index: Option<Words>,
    value: Value,
    element: TypeInfo,
}

/// The expression of the element.
enum Value {
    Words(Words),
    Other(Box<Program>),
}

/// The variable that an expression is, and its type.
fn variable(expr: &Expr) -> Option<(VarNo, Oid)> {
    let Expr::Param(p) = expr else { return None };
    let var = usize::try_from(p.paramid - 1).ok()?;
    (p.paramkind == ParamKind::Extern).then_some((var, p.paramtype))
}

/// The array and the element that an expression concatenates.
fn appended<'e>(expr: &'e Expr, facts: &mut dyn Facts) -> Result<Option<(&'e Expr, &'e Expr)>> {
    let (function, args) = match expr {
        Expr::OpExpr(op) => (facts.operator_function(op.opno)?, &op.args),
        Expr::FuncExpr(f) => (f.funcid, &f.args),
        _ => return Ok(None),
    };
    let [array, element] = &args[..] else { return Ok(None) };
    if function >= Oid::FIRST_NORMAL || &*facts.function(function)?.name != "array_append" {
        return Ok(None);
    }
    Ok(Some((array, element)))
}

impl ArrayChange {
    /// Compiles the value of an assignment to a variable; `None` if it is another one. `slots` are
    /// the variables that it names.
    pub(crate) fn compile(
        host: &mut dyn Host,
        expr: &Expr,
        slots: &[VarNo],
    ) -> Result<Option<ArrayChange>> {
        let (array, index, value) = match expr {
            Expr::SubscriptingRef(part) => {
                let ([Some(index)], true, Some(value)) = (
                    &part.refupperindexpr[..],
                    part.reflowerindexpr.is_empty(),
                    &part.refassgnexpr,
                ) else {
                    return Ok(None);
                };
                (&part.refexpr, Some(index), value)
            }
            other => match appended(other, host)? {
                Some((array, element)) => (array, None, element),
                None => return Ok(None),
            },
        };
        let Some((var, ty)) = variable(array).filter(|(_, ty)| *ty == expr.type_oid()) else {
            return Ok(None);
        };
        let info = Facts::type_info(host, ty)?;
        if info.len != -1 || !info.elem.is_valid() {
            return Ok(None);
        }
        let element = Facts::type_info(host, info.elem)?;
        // Only true arrays have elements in the format of arrays.
        if element.array != ty || value.type_oid() != info.elem {
            return Ok(None);
        }
        let index = match index {
            None => None,
            Some(index) => match Words::compile(index, host)? {
                Some(index) => Some(index),
                None => return Ok(None),
            },
        };
        let value = match Words::compile(value, host)? {
            Some(words) => Value::Words(words),
            None => Value::Other(Box::new(program(host, value.clone(), slots)?)),
        };
        Ok(Some(ArrayChange { var, index, value, element }))
    }

    /// Makes the assignment to this variable; false if the array must be made anew.
    pub(crate) fn run(
        &self,
        host: &mut dyn Host,
        state: &mut EvalState,
        (var, slots): (VarNo, &mut [Datum]),
    ) -> Result<bool> {
        if self.var != var || slots[var].is_null() {
            return Ok(false);
        }
        let index = match &self.index {
            None => None,
            Some(index) => match index.value(slots)? {
                Some(index) => Some(index),
                None => return Ok(false),
            },
        };
        let value = match &self.value {
            Value::Words(words) => match words.value(slots)? {
                Some(word) => Datum::Word(word as u64),
                None => return Ok(false),
            },
            Value::Other(program) => {
                let input = RowInput::scan(RowRef::Owned(slots));
                program.eval_row(state, host, &input)?.into_owned()
            }
        };
        match (value.as_ref(), index) {
            (DatumRef::Null, _) => Ok(false),
            (value, Some(index)) => {
                array::set_in_place(&mut slots[var], &self.element, index, value)
            }
            (value, None) => array::append_in_place(&mut slots[var], &self.element, value),
        }
    }
}
