//! Expressions over integers and booleans only, which are most of the conditions and counters in
//! loops. They are computed without the calls of functions that other compiled expressions need.
//!
//! Values are words as in `types::Datum`: integers are sign-extended, booleans are 0 or 1. All
//! functions here are strict.

use crate::tree::VarNo;
use eval::{Facts, Variables};
use ids::Oid;
use pgerror::{PgError, Result, pg_err};
use plan::expr::{BoolOp, Expr, ParamKind, SubscriptingRef};
use types::fn_context::TypeInfo;
use types::{Datum, DatumRef, oids};

/// Maximum nesting depth.
const DEPTH_MAX: u32 = 20;

/// The arithmetic functions of two arguments.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Arithmetic {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

/// A compiled expression.
#[derive(Debug)]
pub(crate) enum Words {
    Slot(VarNo),
    Constant(Option<i64>),
    /// An element of an array of integers or booleans.
    Element {
        array: VarNo,
        index: Box<Words>,
        info: TypeInfo,
    },
    Arithmetic {
        op: ArithmeticOp,
        args: Box<[Words; 2]>,
    },
    Compare {
        op: CompareOp,
        args: Box<[Words; 2]>,
    },
    And(Box<[Words]>),
    Or(Box<[Words]>),
    Not(Box<Words>),
    IsNull(Box<Words>),
    IsNotNull(Box<Words>),
}

/// An arithmetic function and the type of its result.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ArithmeticOp {
    function: Arithmetic,
    /// The result is `integer`, not `bigint`.
    narrow: bool,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct CompareOp(Comparison);

fn is_word_type(ty: Oid) -> bool {
    matches!(ty, oids::INT4 | oids::INT8 | oids::BOOL)
}

/// The arithmetic function of this name, and whether its result is `integer`.
fn arithmetic(name: &str) -> Option<ArithmeticOp> {
    let (prefix, function) = [
        ("pl", Arithmetic::Add),
        ("mi", Arithmetic::Subtract),
        ("mul", Arithmetic::Multiply),
        ("div", Arithmetic::Divide),
        ("mod", Arithmetic::Remainder),
    ]
    .into_iter()
    .find_map(|(suffix, function)| Some((name.strip_suffix(suffix)?, function)))?;
    match prefix {
        "int4" => Some(ArithmeticOp { function, narrow: true }),
        "int8" | "int48" | "int84" => Some(ArithmeticOp { function, narrow: false }),
        _ => None,
    }
}

fn comparison(name: &str) -> Option<CompareOp> {
    let (prefix, op) = [
        ("eq", Comparison::Equal),
        ("ne", Comparison::NotEqual),
        ("lt", Comparison::Less),
        ("le", Comparison::LessOrEqual),
        ("gt", Comparison::Greater),
        ("ge", Comparison::GreaterOrEqual),
    ]
    .into_iter()
    .find_map(|(suffix, op)| Some((name.strip_suffix(suffix)?, op)))?;
    matches!(prefix, "int4" | "int8" | "int48" | "int84" | "bool").then_some(CompareOp(op))
}

impl Words {
    /// Compiles an expression whose parameters are variables; `None` if it is not one over integers
    /// and booleans.
    pub(crate) fn compile(expr: &Expr, facts: &mut dyn Facts) -> Result<Option<Words>> {
        Words::node(expr, facts, 0)
    }

    fn node(expr: &Expr, facts: &mut dyn Facts, depth: u32) -> Result<Option<Words>> {
        if depth > DEPTH_MAX || !is_word_type(expr.type_oid()) {
            return Ok(None);
        }
        Ok(match expr {
            Expr::Param(p) if p.paramkind == ParamKind::Extern => {
                usize::try_from(p.paramid - 1).ok().map(Words::Slot)
            }
            Expr::Const(c) => match c.value {
                Datum::Null => Some(Words::Constant(None)),
                Datum::Word(w) => Some(Words::Constant(Some(w as i64))),
                Datum::Bytes(_) => None,
            },
            Expr::OpExpr(op) => {
                let function = facts.operator_function(op.opno)?;
                Words::call(function, &op.args, facts, depth)?
            }
            Expr::FuncExpr(f) => {
                let name = facts.function(f.funcid)?.name.clone();
                match (&*name, &f.args[..]) {
                    // A bigint has the same word as the integer.
                    ("int8", [arg]) if f.funcid < Oid::FIRST_NORMAL => {
                        let narrow = arg.type_oid() == oids::INT4;
                        if narrow { Words::node(arg, facts, depth + 1)? } else { None }
                    }
                    _ => None,
                }
            }
            Expr::Bool(b) => {
                let mut args = Vec::with_capacity(b.args.len());
                for arg in &b.args {
                    let Some(arg) = Words::node(arg, facts, depth + 1)? else { return Ok(None) };
                    args.push(arg);
                }
                match b.boolop {
                    BoolOp::And => Some(Words::And(args.into())),
                    BoolOp::Or => Some(Words::Or(args.into())),
                    BoolOp::Not => args.pop().map(|arg| Words::Not(Box::new(arg))),
                }
            }
            Expr::SubscriptingRef(part) => Words::element(part, facts, depth)?,
            Expr::NullTest(n) if !n.argisrow => {
                let Some(arg) = Words::node(&n.arg, facts, depth + 1)? else { return Ok(None) };
                let arg = Box::new(arg);
                Some(if n.is_not { Words::IsNotNull(arg) } else { Words::IsNull(arg) })
            }
            _ => None,
        })
    }

    /// `variable[index]`
    fn element(part: &SubscriptingRef, facts: &mut dyn Facts, depth: u32) -> Result<Option<Words>> {
        let Expr::Param(p) = &part.refexpr else { return Ok(None) };
        let [Some(index)] = &part.refupperindexpr[..] else { return Ok(None) };
        let fits = p.paramkind == ParamKind::Extern
            && matches!(p.paramtype, oids::BOOL_ARRAY | oids::INT4_ARRAY | oids::INT8_ARRAY)
            && part.reflowerindexpr.is_empty()
            && part.refassgnexpr.is_none();
        let (true, Ok(array)) = (fits, usize::try_from(p.paramid - 1)) else { return Ok(None) };
        let Some(index) = Words::node(index, facts, depth + 1)? else { return Ok(None) };
        let info = facts.type_info(part.refrestype)?;
        Ok(Some(Words::Element { array, index: Box::new(index), info }))
    }

    fn call(
        function: Oid,
        args: &[Expr],
        facts: &mut dyn Facts,
        depth: u32,
    ) -> Result<Option<Words>> {
        let [left, right] = args else { return Ok(None) };
        if function >= Oid::FIRST_NORMAL {
            return Ok(None);
        }
        let name = facts.function(function)?.name.clone();
        let (arithmetic, comparison) = (arithmetic(&name), comparison(&name));
        if arithmetic.is_none() && comparison.is_none() {
            return Ok(None);
        }
        let Some(left) = Words::node(left, facts, depth + 1)? else { return Ok(None) };
        let Some(right) = Words::node(right, facts, depth + 1)? else { return Ok(None) };
        let args = Box::new([left, right]);
        Ok(match (arithmetic, comparison) {
            (Some(op), _) => Some(Words::Arithmetic { op, args }),
            (None, Some(op)) => Some(Words::Compare { op, args }),
            (None, None) => None,
        })
    }

    /// As [`Words::value`], without a call for variables and constants.
    #[inline(always)]
    fn operand(&self, slots: &Variables) -> Result<Option<i64>> {
        match self {
            Words::Slot(slot) => match slots.header(*slot) {
                Datum::Word(word) => Ok(Some(*word as i64)),
                _ => self.value(slots),
            },
            Words::Constant(value) => Ok(*value),
            _ => self.value(slots),
        }
    }

    /// The value over these slots; `None` is NULL.
    pub(crate) fn value(&self, slots: &Variables) -> Result<Option<i64>> {
        Ok(match self {
            Words::Slot(slot) => match slots.header(*slot) {
                Datum::Word(w) => Some(*w as i64),
                Datum::Null => None,
                Datum::Bytes(_) => return Err(PgError::internal("integer variable expected")),
            },
            Words::Constant(value) => *value,
            Words::Element { array, index, info } => {
                let Some(index) = index.value(slots)? else { return Ok(None) };
                match slots.element(*array, info, &[index as i32])? {
                    DatumRef::Word(word) => Some(word as i64),
                    _ => None,
                }
            }
            Words::Arithmetic { op, args } => {
                let (a, b) = (args[0].operand(slots)?, args[1].operand(slots)?);
                let (Some(a), Some(b)) = (a, b) else { return Ok(None) };
                Some(op.apply(a, b)?)
            }
            Words::Compare { op, args } => {
                let (a, b) = (args[0].operand(slots)?, args[1].operand(slots)?);
                let (Some(a), Some(b)) = (a, b) else { return Ok(None) };
                Some(i64::from(op.holds(a, b)))
            }
            Words::And(args) => decided(args, slots, 0)?,
            Words::Or(args) => decided(args, slots, 1)?,
            Words::Not(arg) => arg.value(slots)?.map(|v| i64::from(v == 0)),
            Words::IsNull(arg) => Some(i64::from(arg.value(slots)?.is_none())),
            Words::IsNotNull(arg) => Some(i64::from(arg.value(slots)?.is_some())),
        })
    }
}

/// AND, which 0 decides, or OR, which 1 decides.
fn decided(args: &[Words], slots: &Variables, deciding: i64) -> Result<Option<i64>> {
    let mut unknown = false;
    for arg in args {
        match arg.value(slots)? {
            Some(value) if value == deciding => return Ok(Some(deciding)),
            Some(_) => {}
            None => unknown = true,
        }
    }
    Ok(if unknown { None } else { Some(1 - deciding) })
}

impl CompareOp {
    #[inline]
    fn holds(self, a: i64, b: i64) -> bool {
        match self.0 {
            Comparison::Equal => a == b,
            Comparison::NotEqual => a != b,
            Comparison::Less => a < b,
            Comparison::LessOrEqual => a <= b,
            Comparison::Greater => a > b,
            Comparison::GreaterOrEqual => a >= b,
        }
    }
}

impl ArithmeticOp {
    #[inline]
    fn apply(self, a: i64, b: i64) -> Result<i64> {
        if self.narrow
            && let (Ok(a), Ok(b)) = (i32::try_from(a), i32::try_from(b))
            && b != 0
        {
            // Divisions of 32 bits are faster than those of 64.
            match self.function {
                Arithmetic::Divide if b != -1 => return Ok(i64::from(a / b)),
                Arithmetic::Remainder => return Ok(i64::from(a.wrapping_rem(b))),
                _ => {}
            }
        }
        let result = match self.function {
            Arithmetic::Add => a.checked_add(b),
            Arithmetic::Subtract => a.checked_sub(b),
            Arithmetic::Multiply => a.checked_mul(b),
            Arithmetic::Divide if b == 0 => return Err(division_by_zero()),
            Arithmetic::Divide => a.checked_div(b),
            Arithmetic::Remainder if b == 0 => return Err(division_by_zero()),
            Arithmetic::Remainder => Some(a.wrapping_rem(b)),
        };
        match result {
            Some(value) if !self.narrow || i32::try_from(value).is_ok() => Ok(value),
            _ => Err(out_of_range(self.narrow)),
        }
    }
}

#[cold]
fn out_of_range(narrow: bool) -> PgError {
    let name = if narrow { "integer" } else { "bigint" };
    pg_err!(NUMERIC_VALUE_OUT_OF_RANGE, "{name} out of range")
}

#[cold]
fn division_by_zero() -> PgError {
    pg_err!(DIVISION_BY_ZERO, "division by zero")
}

#[cfg(test)]
mod tests {
    use super::{Arithmetic, ArithmeticOp, Variables, Words, arithmetic, comparison, decided};
    use types::Datum;

    #[test]
    fn arithmetic_checks_the_range_of_its_type() {
        let narrow = |function| ArithmeticOp { function, narrow: true };
        let wide = |function| ArithmeticOp { function, narrow: false };
        let max = i64::from(i32::MAX);
        assert_eq!(narrow(Arithmetic::Add).apply(max, -1).unwrap(), max - 1);
        assert_eq!(
            narrow(Arithmetic::Add).apply(max, 1).unwrap_err().message(),
            "integer out of range"
        );
        assert_eq!(wide(Arithmetic::Add).apply(max, 1).unwrap(), max + 1);
        assert_eq!(
            wide(Arithmetic::Multiply).apply(i64::MAX, 2).unwrap_err().message(),
            "bigint out of range"
        );
        assert_eq!(narrow(Arithmetic::Divide).apply(-7, 2).unwrap(), -3);
        assert_eq!(
            narrow(Arithmetic::Divide).apply(1, 0).unwrap_err().message(),
            "division by zero"
        );
        assert_eq!(
            narrow(Arithmetic::Divide).apply(i64::from(i32::MIN), -1).unwrap_err().message(),
            "integer out of range"
        );
        assert_eq!(wide(Arithmetic::Remainder).apply(i64::MIN, -1).unwrap(), 0);
    }

    #[test]
    fn names_of_other_functions_are_not_recognized() {
        for name in ["int2pl", "numeric_add", "int4pl2", "int4um", "float8pl", "pl"] {
            assert!(arithmetic(name).is_none() && comparison(name).is_none(), "{name}");
        }
        assert!(arithmetic("int84mi").is_some_and(|op| !op.narrow));
        assert!(comparison("int4lt").is_some() && comparison("texteq").is_none());
    }

    #[test]
    fn and_and_or_are_three_valued() {
        let value = |v: Option<i64>| Words::Constant(v);
        let cases = [
            (Some(1), None, 0, None),
            (Some(0), None, 0, Some(0)),
            (Some(1), Some(1), 0, Some(1)),
            (Some(0), None, 1, None),
            (Some(1), None, 1, Some(1)),
            (Some(0), Some(0), 1, Some(0)),
        ];
        for (a, b, deciding, wanted) in cases {
            let found = decided(&[value(a), value(b)], &Variables::default(), deciding).unwrap();
            assert_eq!(found, wanted, "{a:?} {b:?} {deciding}");
        }
        let mut slots = Variables::default();
        slots.reset(2);
        slots.set(0, Datum::Word(5));
        assert_eq!(Words::Slot(0).value(&slots).unwrap(), Some(5));
        assert_eq!(Words::IsNull(Box::new(Words::Slot(1))).value(&slots).unwrap(), Some(1));
    }
}
