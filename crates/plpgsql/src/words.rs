//! Expressions whose values are passed by value, which are most of the conditions and counters in
//! loops. Those over integers and booleans are computed without the calls of functions that other
//! compiled expressions need; parts of other kinds are [`Leaves`].
//!
//! Values are words as in `types::Datum`: integers are sign-extended, booleans are 0 or 1. All
//! functions here are strict.

use crate::tree::VarNo;
use eval::Variables;
use pgerror::{PgError, Result, pg_err};
use std::cmp::Ordering;
use types::fn_context::TypeInfo;
use types::{Datum, DatumRef};

/// The value of an expression, in a form that is returned in registers.
#[derive(Clone, Copy)]
pub(crate) struct Value {
    word: i64,
    state: State,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Null,
    Word,
    /// The error is in [`Leaves`].
    Failed,
}

impl Value {
    pub(crate) const NULL: Value = Value { word: 0, state: State::Null };

    #[inline]
    pub(crate) fn of(word: i64) -> Value {
        Value { word, state: State::Word }
    }

    #[inline]
    fn bool(value: bool) -> Value {
        Value::of(i64::from(value))
    }

    #[inline]
    fn optional(word: Option<i64>) -> Value {
        word.map_or(Value::NULL, Value::of)
    }

    #[cold]
    pub(crate) fn failed(leaves: &mut dyn Leaves, e: PgError) -> Value {
        leaves.fail(e);
        Value { word: 0, state: State::Failed }
    }

    #[inline]
    fn is_word(self) -> bool {
        self.state == State::Word
    }

    #[inline]
    fn is_failed(self) -> bool {
        self.state == State::Failed
    }
}

/// The parts of an expression that are computed in another way, and its error.
pub(crate) trait Leaves {
    /// The value of a part, by its number.
    fn word(&mut self, leaf: usize) -> Value;

    /// Keeps the error of the evaluation.
    fn fail(&mut self, e: PgError);

    /// The error that was kept.
    fn failure(&mut self) -> Option<PgError>;
}

/// For an expression without such parts.
#[derive(Default)]
pub(crate) struct NoLeaves(Option<PgError>);

impl Leaves for NoLeaves {
    fn word(&mut self, _: usize) -> Value {
        Value::failed(self, PgError::internal("expression without parts expected"))
    }

    fn fail(&mut self, e: PgError) {
        self.0 = Some(e);
    }

    fn failure(&mut self) -> Option<PgError> {
        self.0.take()
    }
}

/// The arithmetic functions of two arguments.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Arithmetic {
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
    /// An operation of floats, whose words are their bits.
    FloatArithmetic {
        function: Arithmetic,
        args: Box<[Words; 2]>,
    },
    FloatCompare {
        op: CompareOp,
        args: Box<[Words; 2]>,
    },
    /// An integer as float.
    ToFloat(Box<Words>),
    And(Box<[Words]>),
    Or(Box<[Words]>),
    Not(Box<Words>),
    IsNull {
        arg: Box<Words>,
        is_not: bool,
    },
    /// Whether a variable of any type is NULL, or is not.
    SlotIsNull {
        slot: VarNo,
        is_not: bool,
    },
    /// Conditions with their results, and the result if none of them is true.
    Case(Box<[(Words, Words)]>, Box<Words>),
    /// The first value that is not NULL.
    Coalesce(Box<[Words]>),
    /// A part with this number.
    Leaf(usize),
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

fn comparison_of(suffix: &str) -> Option<CompareOp> {
    Some(CompareOp(match suffix {
        "eq" => Comparison::Equal,
        "ne" => Comparison::NotEqual,
        "lt" => Comparison::Less,
        "le" => Comparison::LessOrEqual,
        "gt" => Comparison::Greater,
        "ge" => Comparison::GreaterOrEqual,
        _ => return None,
    }))
}

fn comparison(name: &str) -> Option<CompareOp> {
    let (prefix, suffix) = name.split_at_checked(name.len().checked_sub(2)?)?;
    let op = comparison_of(suffix)?;
    const PREFIXES: [&str; 13] = [
        "int4",
        "int8",
        "int48",
        "int84",
        "int2",
        "int24",
        "int42",
        "int28",
        "int82",
        "bool",
        "date_",
        "timestamp_",
        "timestamptz_",
    ];
    PREFIXES.contains(&prefix).then_some(op)
}

impl Words {
    /// The value over these slots; `None` is NULL.
    #[inline]
    pub(crate) fn evaluate(
        &self,
        slots: &Variables,
        leaves: &mut dyn Leaves,
    ) -> Result<Option<i64>> {
        let value = self.value(slots, leaves);
        match value.state {
            State::Word => Ok(Some(value.word)),
            State::Null => Ok(None),
            State::Failed => Err(failure(leaves)),
        }
    }

    /// As [`Words::value`], without a call for variables and constants.
    #[inline(always)]
    fn operand(&self, slots: &Variables, leaves: &mut dyn Leaves) -> Value {
        match self {
            Words::Slot(slot) => match slots.header(*slot) {
                Datum::Word(word) => Value::of(*word as i64),
                _ => self.value(slots, leaves),
            },
            Words::Constant(value) => Value::optional(*value),
            _ => self.value(slots, leaves),
        }
    }

    /// The operands of an operation, or its value if one of them is NULL or failed.
    #[inline(always)]
    fn operands(
        args: &[Words; 2],
        slots: &Variables,
        leaves: &mut dyn Leaves,
    ) -> std::result::Result<(i64, i64), Value> {
        let a = args[0].operand(slots, leaves);
        if a.is_failed() {
            return Err(a);
        }
        let b = args[1].operand(slots, leaves);
        match (a.is_word(), b.is_word()) {
            (true, true) => Ok((a.word, b.word)),
            _ if b.is_failed() => Err(b),
            _ => Err(Value::NULL),
        }
    }

    pub(crate) fn value(&self, slots: &Variables, leaves: &mut dyn Leaves) -> Value {
        match self {
            Words::Slot(slot) => match slots.header(*slot) {
                Datum::Word(w) => Value::of(*w as i64),
                Datum::Null => Value::NULL,
                Datum::Bytes(_) => {
                    Value::failed(leaves, PgError::internal("value passed by value expected"))
                }
            },
            Words::Constant(value) => Value::optional(*value),
            Words::Element { array, index, info } => {
                let index = index.operand(slots, leaves);
                if !index.is_word() {
                    return index;
                }
                match slots.element(*array, info, &[index.word as i32]) {
                    Ok(DatumRef::Word(word)) => Value::of(word as i64),
                    Ok(_) => Value::NULL,
                    Err(e) => Value::failed(leaves, e),
                }
            }
            Words::Arithmetic { op, args } => match Words::operands(args, slots, leaves) {
                Ok((a, b)) => match op.apply(a, b) {
                    Some(word) => Value::of(word),
                    None => Value::failed(leaves, op.error(b)),
                },
                Err(value) => value,
            },
            Words::Compare { op, args } => match Words::operands(args, slots, leaves) {
                Ok((a, b)) => Value::bool(op.holds(a, b)),
                Err(value) => value,
            },
            Words::And(args) => decided(args, (slots, leaves), 0),
            Words::Or(args) => decided(args, (slots, leaves), 1),
            other => other.infrequent(slots, leaves),
        }
    }

    #[inline(never)]
    fn infrequent(&self, slots: &Variables, leaves: &mut dyn Leaves) -> Value {
        match self {
            Words::FloatArithmetic { function, args } => {
                match Words::operands(args, slots, leaves) {
                    Ok((a, b)) => {
                        let (a, b) = (f64::from_bits(a as u64), f64::from_bits(b as u64));
                        match float_result(*function, a, b) {
                            Ok(result) => Value::of(result.to_bits() as i64),
                            Err(fault) => Value::failed(leaves, fault.error()),
                        }
                    }
                    Err(value) => value,
                }
            }
            Words::FloatCompare { op, args } => match Words::operands(args, slots, leaves) {
                Ok((a, b)) => {
                    let (a, b) = (f64::from_bits(a as u64), f64::from_bits(b as u64));
                    Value::bool(op.holds(float_order(a, b) as i64, 0))
                }
                Err(value) => value,
            },
            Words::ToFloat(arg) => {
                let value = arg.operand(slots, leaves);
                match value.is_word() {
                    true => Value::of((value.word as f64).to_bits() as i64),
                    false => value,
                }
            }
            Words::Not(arg) => {
                let value = arg.value(slots, leaves);
                if value.is_word() { Value::bool(value.word == 0) } else { value }
            }
            Words::IsNull { arg, is_not } => {
                let value = arg.value(slots, leaves);
                if value.is_failed() { value } else { Value::bool(value.is_word() == *is_not) }
            }
            Words::SlotIsNull { slot, is_not } => {
                Value::bool(slots.header(*slot).is_null() != *is_not)
            }
            Words::Case(arms, otherwise) => {
                for (condition, result) in arms {
                    let value = condition.value(slots, leaves);
                    if value.is_failed() {
                        return value;
                    }
                    if value.is_word() && value.word == 1 {
                        return result.value(slots, leaves);
                    }
                }
                otherwise.value(slots, leaves)
            }
            Words::Coalesce(args) => {
                for arg in args {
                    let value = arg.value(slots, leaves);
                    if value.state != State::Null {
                        return value;
                    }
                }
                Value::NULL
            }
            Words::Leaf(leaf) => leaves.word(*leaf),
            _ => Value::failed(leaves, PgError::internal("expression is not computed here")),
        }
    }
}

#[cold]
fn failure(leaves: &mut dyn Leaves) -> PgError {
    leaves.failure().unwrap_or_else(|| PgError::internal("evaluation without its error"))
}

/// AND, which 0 decides, or OR, which 1 decides.
fn decided(args: &[Words], (slots, leaves): (&Variables, &mut dyn Leaves), deciding: i64) -> Value {
    let mut unknown = false;
    for arg in args {
        let value = arg.value(slots, leaves);
        match value.state {
            State::Word if value.word == deciding => return value,
            State::Word => {}
            State::Null => unknown = true,
            State::Failed => return value,
        }
    }
    if unknown { Value::NULL } else { Value::of(1 - deciding) }
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
    /// The result; `None` if there is none, for the reason of [`ArithmeticOp::error`].
    #[inline(always)]
    fn apply(self, a: i64, b: i64) -> Option<i64> {
        if self.narrow {
            // Both operands are of four bytes. Divisions of 32 bits are faster than those of 64.
            let (a, b) = (a as i32, b as i32);
            let result = match self.function {
                Arithmetic::Add => a.checked_add(b),
                Arithmetic::Subtract => a.checked_sub(b),
                Arithmetic::Multiply => a.checked_mul(b),
                Arithmetic::Divide => a.checked_div(b),
                Arithmetic::Remainder if b == 0 => None,
                Arithmetic::Remainder => Some(a.wrapping_rem(b)),
            };
            return result.map(i64::from);
        }
        match self.function {
            Arithmetic::Add => a.checked_add(b),
            Arithmetic::Subtract => a.checked_sub(b),
            Arithmetic::Multiply => a.checked_mul(b),
            Arithmetic::Divide => a.checked_div(b),
            Arithmetic::Remainder if b == 0 => None,
            Arithmetic::Remainder => Some(a.wrapping_rem(b)),
        }
    }

    /// The error of an operation without a result. `b` is the second operand.
    #[cold]
    fn error(self, b: i64) -> PgError {
        match self.function {
            Arithmetic::Divide | Arithmetic::Remainder if b == 0 => division_by_zero(),
            _ => out_of_range(self.narrow),
        }
    }
}

/// An operation by the name of its function.
#[derive(Clone, Copy)]
pub(crate) enum Operation {
    Arithmetic(ArithmeticOp),
    Compare(CompareOp),
    FloatArithmetic(Arithmetic),
    FloatCompare(CompareOp),
    /// The negative of an integer.
    Negate(ArithmeticOp),
}

pub(crate) fn operation(name: &str) -> Option<Operation> {
    if let Some(name) = name.strip_prefix("float8") {
        let function = match name {
            "pl" => Some(Arithmetic::Add),
            "mi" => Some(Arithmetic::Subtract),
            "mul" => Some(Arithmetic::Multiply),
            "div" => Some(Arithmetic::Divide),
            _ => None,
        };
        let compare = || comparison_of(name).map(Operation::FloatCompare);
        return function.map(Operation::FloatArithmetic).or_else(compare);
    }
    if let "int4um" | "int8um" = name {
        let (function, narrow) = (Arithmetic::Subtract, name == "int4um");
        return Some(Operation::Negate(ArithmeticOp { function, narrow }));
    }
    let compare = || comparison(name).map(Operation::Compare);
    arithmetic(name).map(Operation::Arithmetic).or_else(compare)
}

impl Operation {
    /// The number of arguments.
    pub(crate) fn arguments(self) -> usize {
        if matches!(self, Operation::Negate(_)) { 1 } else { 2 }
    }

    /// The operation of these arguments, of which there are [`Operation::arguments`].
    pub(crate) fn with(self, args: Box<[Words]>) -> Option<Words> {
        if let Operation::Negate(op) = self {
            let arg = args.into_iter().next()?;
            let args = Box::new([Words::Constant(Some(0)), arg]);
            return Some(Words::Arithmetic { op, args });
        }
        let args = <Box<[Words; 2]>>::try_from(args).ok()?;
        Some(match self {
            Operation::Arithmetic(op) => Words::Arithmetic { op, args },
            Operation::Compare(op) => Words::Compare { op, args },
            Operation::FloatArithmetic(function) => Words::FloatArithmetic { function, args },
            Operation::FloatCompare(op) => Words::FloatCompare { op, args },
            Operation::Negate(_) => return None,
        })
    }
}

/// The reason for which an operation of floats has no result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum FloatFault {
    Overflow,
    Underflow,
    ZeroDivision,
}

impl FloatFault {
    #[cold]
    fn error(self) -> PgError {
        let what = match self {
            FloatFault::Overflow => "overflow",
            FloatFault::Underflow => "underflow",
            FloatFault::ZeroDivision => return division_by_zero(),
        };
        pg_err!(NUMERIC_VALUE_OUT_OF_RANGE, "value out of range: {what}")
    }
}

/// The result of an operation, with the checks of float.h.
#[inline]
fn float_result(function: Arithmetic, a: f64, b: f64) -> std::result::Result<f64, FloatFault> {
    let (result, underflows) = match function {
        Arithmetic::Add => (a + b, false),
        Arithmetic::Subtract => (a - b, false),
        Arithmetic::Multiply => (a * b, a != 0.0 && b != 0.0),
        Arithmetic::Divide if b == 0.0 && !a.is_nan() => return Err(FloatFault::ZeroDivision),
        Arithmetic::Divide => (a / b, a != 0.0 && !b.is_infinite()),
        Arithmetic::Remainder => (a % b, false),
    };
    if result.is_infinite() && !a.is_infinite() && !b.is_infinite() {
        return Err(FloatFault::Overflow);
    }
    if result == 0.0 && underflows {
        return Err(FloatFault::Underflow);
    }
    Ok(result)
}

/// The order of floats, in which NaN is equal to itself and greater than all other values.
#[inline]
fn float_order(a: f64, b: f64) -> Ordering {
    a.partial_cmp(&b).unwrap_or_else(|| a.is_nan().cmp(&b.is_nan()))
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
    use super::{
        Arithmetic, ArithmeticOp, FloatFault, NoLeaves, Variables, Words, arithmetic, comparison,
        float_order, float_result,
    };
    use pgerror::Result;
    use std::cmp::Ordering;
    use types::Datum;

    #[test]
    fn arithmetic_checks_the_range_of_its_type() {
        let apply = |function, narrow, a, b| -> Result<i64> {
            let op = ArithmeticOp { function, narrow };
            op.apply(a, b).ok_or_else(|| op.error(b))
        };
        let error = |function, narrow, a, b| {
            apply(function, narrow, a, b).unwrap_err().message().to_owned()
        };
        let max = i64::from(i32::MAX);
        assert_eq!(apply(Arithmetic::Add, true, max, -1).unwrap(), max - 1);
        assert_eq!(error(Arithmetic::Add, true, max, 1), "integer out of range");
        assert_eq!(apply(Arithmetic::Add, false, max, 1).unwrap(), max + 1);
        assert_eq!(error(Arithmetic::Multiply, false, i64::MAX, 2), "bigint out of range");
        assert_eq!(apply(Arithmetic::Divide, true, -7, 2).unwrap(), -3);
        for narrow in [true, false] {
            assert_eq!(error(Arithmetic::Divide, narrow, 1, 0), "division by zero");
            assert_eq!(error(Arithmetic::Remainder, narrow, 1, 0), "division by zero");
        }
        let min = i64::from(i32::MIN);
        assert_eq!(error(Arithmetic::Divide, true, min, -1), "integer out of range");
        assert_eq!(error(Arithmetic::Divide, false, i64::MIN, -1), "bigint out of range");
        assert_eq!(apply(Arithmetic::Remainder, true, min, -1).unwrap(), 0);
        assert_eq!(apply(Arithmetic::Remainder, false, i64::MIN, -1).unwrap(), 0);
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
    fn floats_have_the_order_and_the_errors_of_postgresql() {
        let (nan, inf) = (f64::NAN, f64::INFINITY);
        let sorted = [-inf, -1e300, -0.5, 0.0, 1e-300, 2.0, inf, nan];
        for (i, a) in sorted.into_iter().enumerate() {
            for (j, b) in sorted.into_iter().enumerate() {
                assert_eq!(float_order(a, b), i.cmp(&j), "{a} {b}");
            }
        }
        assert_eq!(float_order(-0.0, 0.0), Ordering::Equal);
        use Arithmetic::{Add, Divide, Multiply, Subtract};
        use FloatFault::{Overflow, Underflow, ZeroDivision};
        let fault = |function, a, b| float_result(function, a, b).err();
        assert_eq!(fault(Add, 1.7e308, 1.7e308), Some(Overflow));
        assert_eq!(fault(Add, inf, 1.0), None);
        assert_eq!(fault(Subtract, -1.7e308, 1.7e308), Some(Overflow));
        assert_eq!(fault(Multiply, 1e200, 1e200), Some(Overflow));
        assert_eq!(fault(Multiply, 1e-200, 1e-200), Some(Underflow));
        assert_eq!(fault(Multiply, 0.0, 1e-200), None);
        assert_eq!(fault(Divide, 1.0, 0.0), Some(ZeroDivision));
        assert_eq!(fault(Divide, nan, 0.0), None);
        assert_eq!(fault(Divide, 1e300, 1e-300), Some(Overflow));
        assert_eq!(fault(Divide, 1e-300, 1e300), Some(Underflow));
        assert_eq!(fault(Divide, 1.0, inf), None);
        assert_eq!(fault(Divide, inf, 2.0), None);
    }

    #[test]
    fn and_and_or_are_three_valued() {
        let constant = |v: Option<i64>| Words::Constant(v);
        let mut slots = Variables::default();
        slots.reset(2);
        slots.set(0, Datum::Word(5));
        let value = |words: Words| words.evaluate(&slots, &mut NoLeaves::default()).unwrap();
        let cases = [
            (Some(1), None, 0, None),
            (Some(0), None, 0, Some(0)),
            (Some(1), Some(1), 0, Some(1)),
            (Some(0), None, 1, None),
            (Some(1), None, 1, Some(1)),
            (Some(0), Some(0), 1, Some(0)),
        ];
        for (a, b, deciding, wanted) in cases {
            let args = Box::new([constant(a), constant(b)]);
            let words = if deciding == 0 { Words::And(args) } else { Words::Or(args) };
            assert_eq!(value(words), wanted, "{a:?} {b:?} {deciding}");
        }
        assert_eq!(value(Words::Slot(0)), Some(5));
        for (slot, is_not, wanted) in [(0, false, 0), (0, true, 1), (1, false, 1), (1, true, 0)] {
            assert_eq!(value(Words::SlotIsNull { slot, is_not }), Some(wanted));
            let arg = Box::new(Words::Slot(slot));
            assert_eq!(value(Words::IsNull { arg, is_not }), Some(wanted));
        }
        let case = |condition| {
            let arm = (Words::Constant(condition), Words::Slot(0));
            Words::Case(Box::new([arm]), Box::new(Words::Constant(Some(7))))
        };
        assert_eq!(value(case(Some(1))), Some(5));
        assert_eq!(value(case(Some(0))), Some(7));
        assert_eq!(value(case(None)), Some(7));
        let args = [Words::Slot(1), Words::Slot(0), Words::Constant(Some(7))];
        assert_eq!(value(Words::Coalesce(Box::new(args))), Some(5));
        // The error of the first operand is reported.
        let op = ArithmeticOp { function: Arithmetic::Divide, narrow: true };
        let failing = |op| {
            let args = Box::new([Words::Constant(Some(1)), Words::Constant(Some(0))]);
            Words::Arithmetic { op, args }
        };
        let add = ArithmeticOp { function: Arithmetic::Add, narrow: true };
        let overflow = [Words::Constant(Some(i64::from(i32::MAX))), Words::Constant(Some(1))];
        let overflow = Words::Arithmetic { op: add, args: Box::new(overflow) };
        let sum = Words::Arithmetic { op: add, args: Box::new([failing(op), overflow]) };
        let error = sum.evaluate(&slots, &mut NoLeaves::default()).unwrap_err();
        assert_eq!(error.message(), "division by zero");
    }
}
