//! Assignments that change an array of a variable: to an element, or of the array with an element
//! appended. They take constant time (see [`Variables`]); other assignments make a new array.

use crate::host::Host;
use crate::prepare::program;
use crate::tree::VarNo;
use crate::words::{NoLeaves, Words};
use eval::{EvalState, Facts, Program, RowInput, RowRef, Variables};
use ids::Oid;
use pgerror::{Result, pg_err};
use plan::expr::{Expr, ParamKind, SubscriptingRef};
use smallvec::SmallVec;
use types::Datum;
use types::fn_context::TypeInfo;

/// `variable[index] := value`, or `variable := variable || value`.
pub(crate) struct ArrayChange {
    pub(crate) var: VarNo,
    /// The subscripts; none to append.
    subscripts: Box<[Value]>,
    value: Value,
    /// The value is the old element with another part.
    changes_part: bool,
    element: TypeInfo,
}

/// The expression of a subscript or of the element.
enum Value {
    Words(Words),
    Other(Box<Program>),
}

/// State of the evaluation of a change.
#[derive(Default)]
pub(crate) struct ChangeState {
    subscripts: EvalState,
    value: EvalState,
}

/// The variable that an expression is, its type and type modifier.
pub(crate) fn variable(expr: &Expr) -> Option<(VarNo, Oid, i32)> {
    let Expr::Param(p) = expr else { return None };
    let var = usize::try_from(p.paramid - 1).ok()?;
    (p.paramkind == ParamKind::Extern).then_some((var, p.paramtype, p.paramtypmod))
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

/// The array, the subscripts and the value of an assignment to an element.
fn assigned(part: &SubscriptingRef) -> Option<(&Expr, Vec<&Expr>, &Expr)> {
    let subscripts: Option<Vec<&Expr>> = part.refupperindexpr.iter().map(Option::as_ref).collect();
    match (subscripts, &part.refassgnexpr) {
        (Some(subscripts), Some(value)) if part.reflowerindexpr.is_empty() => {
            Some((&part.refexpr, subscripts, value))
        }
        _ => None,
    }
}

/// True if the expression refers to the old value of the element.
fn refers_to_old(value: &Expr) -> bool {
    let mut found = false;
    let mut copy = value.clone();
    plan::walk::deep_expr_mut(&mut copy, 0, &mut |e, _| {
        found |= matches!(e, Expr::CaseTest(_));
        true
    });
    found
}

impl Value {
    fn compile(host: &mut dyn Host, expr: &Expr, slots: &[VarNo]) -> Result<Value> {
        Ok(match Words::compile(host, expr)? {
            Some(words) => Value::Words(words),
            None => Value::Other(Box::new(program(host, expr.clone(), slots)?)),
        })
    }

    #[inline]
    fn evaluate(
        &self,
        host: &mut dyn Host,
        state: &mut EvalState,
        slots: &Variables,
    ) -> Result<Datum> {
        match self {
            Value::Words(words) => {
                let word = words.evaluate(slots, &mut NoLeaves::default())?;
                Ok(word.map_or(Datum::Null, |word| Datum::Word(word as u64)))
            }
            Value::Other(program) => {
                let input = RowInput::scan(RowRef::Variables(slots));
                Ok(program.eval_row(state, host, &input)?.into_owned())
            }
        }
    }
}

impl ArrayChange {
    /// Compiles the value of an assignment to a variable; `None` if it is another one. `slots` are
    /// the variables that it names.
    pub(crate) fn compile(
        host: &mut dyn Host,
        expr: &Expr,
        slots: &[VarNo],
    ) -> Result<Option<ArrayChange>> {
        let parts = match expr {
            Expr::SubscriptingRef(part) => assigned(part),
            other => appended(other, host)?.map(|(array, value)| (array, Vec::new(), value)),
        };
        let Some((array, subscripts, value)) = parts else { return Ok(None) };
        let Some((var, ty, typmod)) = variable(array) else { return Ok(None) };
        if ty != expr.type_oid() || typmod >= 0 && typmod != expr.typmod() {
            return Ok(None);
        }
        let info = Facts::type_info(host, ty)?;
        if info.len != -1 || !info.elem.is_valid() {
            return Ok(None);
        }
        let element = Facts::type_info(host, info.elem)?;
        // Only true arrays have elements in the format of arrays.
        if element.array != ty || value.type_oid() != info.elem {
            return Ok(None);
        }
        let changes_part = refers_to_old(value);
        let mut list = Vec::with_capacity(subscripts.len());
        for subscript in subscripts {
            list.push(Value::compile(host, subscript, slots)?);
        }
        let value = match changes_part {
            true => Value::Other(Box::new(program(host, value.clone(), slots)?)),
            false => Value::compile(host, value, slots)?,
        };
        Ok(Some(ArrayChange { var, subscripts: list.into(), value, changes_part, element }))
    }

    /// Makes the assignment. False, before anything is evaluated, if the array must be made anew.
    pub(crate) fn run(
        &self,
        host: &mut dyn Host,
        state: &mut ChangeState,
        slots: &mut Variables,
    ) -> Result<bool> {
        if self.subscripts.is_empty() {
            if !slots.is_list(self.var) {
                return Ok(false);
            }
            let value = self.value.evaluate(host, &mut state.value, slots)?;
            slots.check()?;
            slots.push_element(self.var, &self.element, value)?;
            return Ok(true);
        }
        let mut at: SmallVec<[i32; 2]> = SmallVec::new();
        for subscript in &self.subscripts {
            match subscript.evaluate(host, &mut state.subscripts, slots)? {
                Datum::Word(word) => at.push(word as i32),
                _ => {
                    return Err(pg_err!(
                        NULL_VALUE_NOT_ALLOWED,
                        "array subscript in assignment must not be null"
                    ));
                }
            }
        }
        let value = match &self.value {
            Value::Other(program) if self.changes_part => {
                let old = slots.element(self.var, &self.element, &at)?.to_owned();
                let input = RowInput::scan(RowRef::Variables(slots));
                program.eval_change(old, &mut state.value, host, &input)?
            }
            value => value.evaluate(host, &mut state.value, slots)?,
        };
        slots.check()?;
        slots.set_element(self.var, &self.element, &at, value)?;
        Ok(true)
    }
}
