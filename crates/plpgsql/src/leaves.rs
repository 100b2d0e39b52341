//! Expressions over the slots of variables in a form that is computed without the general
//! evaluator: [`Words`], and calls of strict built-in functions whose arguments are variables,
//! constants or such expressions themselves.

use crate::host::Host;
use crate::prepare::program;
use crate::tree::VarNo;
use crate::words::{Leaves, Value, Words, operation};
use eval::{Callee, DirectCall, EvalState, Facts, FnFacts, Program, RowInput, RowRef, Variables};
use ids::Oid;
use ids::code::TypType;
use pgerror::{PgError, Result};
use plan::expr::{BoolOp, CaseExpr, Expr, ParamKind, SubscriptingRef};
use smallvec::SmallVec;
use std::sync::Arc;
use types::{Datum, DatumRef, oids};

/// Maximum nesting depth.
const DEPTH_MAX: u32 = 20;

/// Maximum number of arguments of a call.
const ARGUMENTS_MAX: usize = 4;

/// An expression that is computed without the general evaluator.
pub(crate) struct Fast {
    root: Root,
    leaves: Box<[Leaf]>,
}

enum Root {
    Words(Words),
    /// A call, by the number of its leaf.
    Call(usize),
}

enum Leaf {
    Call(BuiltinCall),
    /// An integer as text.
    IntegerText(Words),
    /// Any other part of the expression.
    Program(Program),
}

struct BuiltinCall {
    call: DirectCall,
    args: SmallVec<[Operand; 2]>,
}

/// An argument of a call.
enum Operand {
    Slot(VarNo),
    /// An array of which only dimensions and bounds are read.
    Header(VarNo),
    Constant(Datum),
    Words(Words),
    Leaf(usize),
}

/// The states of the parts of an expression.
pub(crate) type States = Vec<EvalState>;

/// A running evaluation.
struct Evaluation<'a> {
    host: &'a mut dyn Host,
    slots: &'a Variables,
    leaves: &'a [Leaf],
    states: &'a mut States,
    failure: Option<PgError>,
}

impl Fast {
    /// The expression, if it is one over integers and booleans, or one with another result that is
    /// passed by value.
    #[inline]
    pub(crate) fn words(&self) -> Option<&Words> {
        match &self.root {
            Root::Words(words) => Some(words),
            Root::Call(_) => None,
        }
    }

    #[inline]
    fn evaluation<'a>(
        &'a self,
        host: &'a mut dyn Host,
        states: &'a mut States,
        slots: &'a Variables,
    ) -> Evaluation<'a> {
        if states.len() < self.leaves.len() {
            states.resize_with(self.leaves.len(), EvalState::default);
        }
        Evaluation { host, slots, leaves: &self.leaves, states, failure: None }
    }

    /// Whether a condition, which has [`Fast::words`], is true; NULL is false.
    #[inline]
    pub(crate) fn holds(
        &self,
        host: &mut dyn Host,
        states: &mut States,
        slots: &mut Variables,
    ) -> Result<bool> {
        let value = match &self.root {
            Root::Words(words) => {
                words.evaluate(slots, &mut self.evaluation(host, states, slots))? == Some(1)
            }
            Root::Call(_) => return Err(PgError::internal("condition expected")),
        };
        self.check(slots)?;
        Ok(value)
    }

    /// Assigns the value, which has the type of the variable.
    #[inline]
    pub(crate) fn assign(
        &self,
        host: &mut dyn Host,
        states: &mut States,
        slots: &mut Variables,
        var: VarNo,
    ) -> Result<()> {
        let mut evaluation = self.evaluation(host, states, slots);
        match &self.root {
            Root::Words(words) => match words.evaluate(slots, &mut evaluation)? {
                Some(word) => slots.set_word(var, word as u64),
                None => slots.set(var, Datum::Null),
            },
            Root::Call(leaf) => match evaluation.datum(*leaf)? {
                Datum::Word(word) => slots.set_word(var, word),
                Datum::Bytes(bytes) => slots.set(var, Datum::Bytes(bytes)),
                Datum::Null => slots.set(var, Datum::Null),
            },
        }
        self.check(slots)
    }

    /// The error of an array that could not be read as a whole.
    #[inline]
    fn check(&self, slots: &mut Variables) -> Result<()> {
        if self.leaves.is_empty() { Ok(()) } else { slots.check() }
    }

    /// The value over these slots.
    #[inline]
    pub(crate) fn value(
        &self,
        host: &mut dyn Host,
        states: &mut States,
        slots: &Variables,
    ) -> Result<Datum> {
        let mut evaluation = self.evaluation(host, states, slots);
        match &self.root {
            Root::Words(words) => words.evaluate(slots, &mut evaluation).map(datum_of),
            Root::Call(leaf) => evaluation.datum(*leaf),
        }
    }
}

fn datum_of(word: Option<i64>) -> Datum {
    word.map_or(Datum::Null, |word| Datum::Word(word as u64))
}

impl Leaves for Evaluation<'_> {
    fn word(&mut self, leaf: usize) -> Value {
        match self.datum(leaf) {
            Ok(Datum::Word(word)) => Value::of(word as i64),
            Ok(Datum::Null) => Value::NULL,
            Ok(Datum::Bytes(_)) => {
                Value::failed(self, PgError::internal("value passed by value expected"))
            }
            Err(e) => Value::failed(self, e),
        }
    }

    fn fail(&mut self, e: PgError) {
        self.failure = Some(e);
    }

    fn failure(&mut self) -> Option<PgError> {
        self.failure.take()
    }
}

impl<'a> Evaluation<'a> {
    fn datum(&mut self, leaf: usize) -> Result<Datum> {
        match &self.leaves[leaf] {
            Leaf::Call(call) => self.call(leaf, call),
            Leaf::IntegerText(words) => {
                Ok(words.evaluate(self.slots, self)?.map_or(Datum::Null, decimal))
            }
            Leaf::Program(program) => {
                let input = RowInput::scan(RowRef::Variables(self.slots));
                let value = program.eval_row(&mut self.states[leaf], self.host, &input);
                value.map(eval::Val::into_owned)
            }
        }
    }

    /// Sets `out` to the value of an operand; one that is computed is kept in `place`. False for
    /// NULL. Values are not copied as a whole: a copy would wait for the store buffer.
    #[inline]
    fn operand<'v>(
        &mut self,
        operand: &'v Operand,
        place: &'v mut Datum,
        out: &mut DatumRef<'v>,
    ) -> Result<bool>
    where
        'a: 'v,
    {
        let value = match operand {
            Operand::Slot(slot) => self.slots.get(*slot),
            Operand::Constant(value) => value,
            Operand::Header(slot) => self.slots.header(*slot),
            Operand::Words(words) => {
                let word = words.evaluate(self.slots, self)?;
                if let Some(word) = word {
                    *out = DatumRef::Word(word as u64);
                }
                return Ok(word.is_some());
            }
            Operand::Leaf(leaf) => {
                match self.datum(*leaf)? {
                    Datum::Bytes(bytes) => *place = Datum::Bytes(bytes),
                    Datum::Word(word) => *place = Datum::Word(word),
                    Datum::Null => {}
                }
                place
            }
        };
        match value {
            Datum::Word(word) => *out = DatumRef::Word(*word),
            Datum::Bytes(bytes) => *out = DatumRef::Bytes(bytes),
            Datum::Null => return Ok(false),
        }
        Ok(true)
    }

    fn call(&mut self, leaf: usize, call: &BuiltinCall) -> Result<Datum> {
        match &call.args[..] {
            [arg] => {
                let mut place = Datum::Null;
                let mut refs = [DatumRef::Null];
                match self.operand(arg, &mut place, &mut refs[0])? {
                    true => call.call.invoke(&mut self.states[leaf], self.host, &refs),
                    false => Ok(Datum::Null),
                }
            }
            [left, right] => {
                let (mut first, mut second) = (Datum::Null, Datum::Null);
                let mut refs = [DatumRef::Null; 2];
                let left = self.operand(left, &mut first, &mut refs[0])?;
                let right = self.operand(right, &mut second, &mut refs[1])?;
                match left && right {
                    true => call.call.invoke(&mut self.states[leaf], self.host, &refs),
                    false => Ok(Datum::Null),
                }
            }
            args => {
                let mut places = [const { Datum::Null }; ARGUMENTS_MAX];
                let mut refs = [DatumRef::Null; ARGUMENTS_MAX];
                let mut complete = true;
                for ((arg, place), value) in args.iter().zip(&mut places).zip(&mut refs) {
                    complete &= self.operand(arg, place, value)?;
                }
                if !complete {
                    return Ok(Datum::Null);
                }
                call.call.invoke(&mut self.states[leaf], self.host, &refs[..args.len()])
            }
        }
    }
}

/// The decimal digits of an integer.
fn decimal(value: i64) -> Datum {
    let mut digits = [0; 20];
    let (mut rest, mut at) = (value.unsigned_abs(), digits.len());
    loop {
        at -= 1;
        digits[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    if value < 0 {
        at -= 1;
        digits[at] = b'-';
    }
    Datum::Bytes(digits[at..].into())
}

/// Compiles expressions whose parameters are variables.
pub(crate) struct Maker<'a> {
    host: &'a mut dyn Host,
    /// The variables that the expression names.
    slots: &'a [VarNo],
    /// `None` if the expression may have no other parts.
    leaves: Option<Vec<Leaf>>,
    /// The expression cannot be compiled: it is nested too deeply, or has parts that depend on the
    /// expressions that contain them.
    stopped: bool,
}

impl Fast {
    /// Compiles an expression; `None` if the general evaluator is as fast. `slots` are the
    /// variables that it names.
    pub(crate) fn compile(
        host: &mut dyn Host,
        expr: &Expr,
        slots: &[VarNo],
    ) -> Result<Option<Fast>> {
        let mut maker = Maker { host, slots, leaves: Some(Vec::new()), stopped: false };
        let root = match maker.words(expr, 0)? {
            // Nothing is gained for a single part.
            Some(Words::Leaf(leaf)) => maker.root(leaf),
            Some(words) => Some(Root::Words(words)),
            None if matches!(expr, Expr::OpExpr(_) | Expr::FuncExpr(_)) => {
                let leaf = maker.leaf(expr, 0)?;
                leaf.and_then(|leaf| maker.root(leaf))
            }
            None => None,
        };
        let leaves = maker.leaves.unwrap_or_default().into();
        Ok(root.map(|root| Fast { root, leaves }))
    }
}

impl Maker<'_> {
    fn root(&self, leaf: usize) -> Option<Root> {
        match self.leaves.as_ref()?.get(leaf)? {
            Leaf::Call(_) | Leaf::IntegerText(_) => Some(Root::Call(leaf)),
            Leaf::Program(_) => None,
        }
    }

    fn is_by_value(&mut self, ty: Oid) -> Result<bool> {
        let info = Facts::type_info(self.host, ty)?;
        Ok(info.by_val && info.kind != TypType::Pseudo)
    }

    /// The expression, if its value is passed by value.
    fn words(&mut self, expr: &Expr, depth: u32) -> Result<Option<Words>> {
        self.stopped |= depth > DEPTH_MAX;
        if self.stopped || !self.is_by_value(expr.type_oid())? {
            return Ok(None);
        }
        match self.own_words(expr, depth)? {
            Some(words) => Ok(Some(words)),
            None => Ok(self.leaf(expr, depth)?.map(Words::Leaf)),
        }
    }

    fn all_words(&mut self, list: &[Expr], depth: u32) -> Result<Option<Box<[Words]>>> {
        let mut all = Vec::with_capacity(list.len());
        for expr in list {
            let Some(words) = self.words(expr, depth + 1)? else { return Ok(None) };
            all.push(words);
        }
        Ok(Some(all.into()))
    }

    /// The expression, if it is more than a part of its own.
    fn own_words(&mut self, expr: &Expr, depth: u32) -> Result<Option<Words>> {
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
                let function = Facts::operator_function(self.host, op.opno)?;
                self.operation(function, &op.args, depth)?
            }
            Expr::FuncExpr(f) => {
                let name = self.function(f.funcid)?.name.clone();
                match (&*name, &f.args[..]) {
                    ("float8", [arg]) if f.funcid < Oid::FIRST_NORMAL => {
                        match is_integer(arg.type_oid()) {
                            true => self.words(arg, depth + 1)?.map(Box::new).map(Words::ToFloat),
                            false => None,
                        }
                    }
                    // A bigint has the same word as the integer.
                    ("int8" | "int4", [arg]) if f.funcid < Oid::FIRST_NORMAL => {
                        let from = arg.type_oid();
                        let widens = from == oids::INT2 || from == oids::INT4 && name == "int8";
                        if widens { self.words(arg, depth + 1)? } else { None }
                    }
                    _ => None,
                }
            }
            Expr::Bool(b) => {
                let Some(args) = self.all_words(&b.args, depth)? else { return Ok(None) };
                match b.boolop {
                    BoolOp::And => Some(Words::And(args)),
                    BoolOp::Or => Some(Words::Or(args)),
                    BoolOp::Not => args.into_iter().next().map(|arg| Words::Not(Box::new(arg))),
                }
            }
            Expr::SubscriptingRef(part) => self.element(part, depth)?,
            Expr::NullTest(n) if !n.argisrow => match crate::elements::variable(&n.arg) {
                Some((slot, ..)) => Some(Words::SlotIsNull { slot, is_not: n.is_not }),
                None => {
                    let arg = self.words(&n.arg, depth + 1)?.map(Box::new);
                    arg.map(|arg| Words::IsNull { arg, is_not: n.is_not })
                }
            },
            Expr::Case(n) if n.arg.is_none() => self.case(n, depth)?,
            Expr::Coalesce(n) => self.all_words(&n.args, depth)?.map(Words::Coalesce),
            _ => None,
        })
    }

    fn case(&mut self, n: &CaseExpr, depth: u32) -> Result<Option<Words>> {
        let mut arms = Vec::with_capacity(n.args.len());
        for arm in &n.args {
            let condition = self.words(&arm.expr, depth + 1)?;
            let result = self.words(&arm.result, depth + 1)?;
            let (Some(condition), Some(result)) = (condition, result) else { return Ok(None) };
            arms.push((condition, result));
        }
        let otherwise = match &n.defresult {
            Some(result) => self.words(result, depth + 1)?,
            None => Some(Words::Constant(None)),
        };
        Ok(otherwise.map(|otherwise| Words::Case(arms.into(), Box::new(otherwise))))
    }

    /// `variable[index]`
    fn element(&mut self, part: &SubscriptingRef, depth: u32) -> Result<Option<Words>> {
        let Expr::Param(p) = &part.refexpr else { return Ok(None) };
        let [Some(index)] = &part.refupperindexpr[..] else { return Ok(None) };
        let fits = p.paramkind == ParamKind::Extern
            && matches!(p.paramtype, oids::BOOL_ARRAY | oids::INT4_ARRAY | oids::INT8_ARRAY)
            && part.reflowerindexpr.is_empty()
            && part.refassgnexpr.is_none();
        let (true, Ok(array)) = (fits, usize::try_from(p.paramid - 1)) else { return Ok(None) };
        let Some(index) = self.words(index, depth + 1)? else { return Ok(None) };
        let info = Facts::type_info(self.host, part.refrestype)?;
        Ok(Some(Words::Element { array, index: Box::new(index), info }))
    }

    /// An arithmetic operation or comparison of integers or floats.
    fn operation(&mut self, function: Oid, args: &[Expr], depth: u32) -> Result<Option<Words>> {
        if function >= Oid::FIRST_NORMAL {
            return Ok(None);
        }
        let name = self.function(function)?.name.clone();
        let Some(operation) = operation(&name).filter(|o| o.arguments() == args.len()) else {
            return Ok(None);
        };
        let args = self.all_words(args, depth)?;
        Ok(args.and_then(|args| operation.with(args)))
    }

    fn function(&mut self, function: Oid) -> Result<Arc<FnFacts>> {
        Facts::function(self.host, function)
    }

    /// Adds a part; `None` if the expression may have none.
    fn leaf(&mut self, expr: &Expr, depth: u32) -> Result<Option<usize>> {
        self.stopped |= depth > DEPTH_MAX || contains_placeholder(expr);
        if self.stopped || self.leaves.is_none() {
            return Ok(None);
        }
        if let Expr::CoerceViaIo(n) = expr
            && n.resulttype == oids::TEXT
            && is_integer(n.arg.type_oid())
        {
            let text = self.words(&n.arg, depth + 1)?.map(Leaf::IntegerText);
            return Ok(text.map(|leaf| self.push(leaf)));
        }
        let program = program(self.host, expr.clone(), self.slots)?;
        let leaf = match self.arguments(expr)? {
            Some(args) if program.is_direct_call() => match program.into_direct_call() {
                Some(call) => self.call(call, args, depth)?,
                None => None,
            },
            _ => Some(Leaf::Program(program)),
        };
        Ok(leaf.map(|leaf| self.push(leaf)))
    }

    fn push(&mut self, leaf: Leaf) -> usize {
        let leaves = self.leaves.get_or_insert_default();
        leaves.push(leaf);
        leaves.len() - 1
    }

    /// The arguments of a call of a strict built-in function.
    fn arguments<'e>(&mut self, expr: &'e Expr) -> Result<Option<&'e [Expr]>> {
        let (function, args) = match expr {
            Expr::OpExpr(op) => (Facts::operator_function(self.host, op.opno)?, &op.args),
            Expr::FuncExpr(f) => (f.funcid, &f.args),
            _ => return Ok(None),
        };
        let facts = self.function(function)?;
        let is_plain = matches!(facts.callee, Callee::Scalar(_))
            && facts.strict
            && facts.parameters == args.len()
            && (1..=ARGUMENTS_MAX).contains(&args.len())
            && !args.iter().any(|arg| matches!(arg, Expr::NamedArg(_)));
        Ok(is_plain.then_some(args))
    }

    fn call(&mut self, call: DirectCall, args: &[Expr], depth: u32) -> Result<Option<Leaf>> {
        let mut operands = SmallVec::new();
        for arg in args {
            let Some(operand) = self.operand(arg, call.reads_header(), depth + 1)? else {
                return Ok(None);
            };
            operands.push(operand);
        }
        Ok(Some(Leaf::Call(BuiltinCall { call, args: operands })))
    }

    fn operand(&mut self, arg: &Expr, header: bool, depth: u32) -> Result<Option<Operand>> {
        let by_value = self.is_by_value(arg.type_oid())?;
        Ok(match arg {
            Expr::Param(p) if p.paramkind == ParamKind::Extern => {
                let slot = usize::try_from(p.paramid - 1).ok();
                slot.map(if header { Operand::Header } else { Operand::Slot })
            }
            Expr::Const(c) if by_value == matches!(c.value, Datum::Word(_)) => {
                Some(Operand::Constant(c.value.clone()))
            }
            Expr::Relabel(n) if is_text(n.resulttype) && is_text(n.arg.type_oid()) => {
                self.operand(&n.arg, header, depth + 1)?
            }
            _ if by_value => self.words(arg, depth)?.map(Operand::Words),
            _ => self.leaf(arg, depth)?.map(Operand::Leaf),
        })
    }
}

fn is_integer(ty: Oid) -> bool {
    matches!(ty, oids::INT2 | oids::INT4 | oids::INT8)
}

fn is_text(ty: Oid) -> bool {
    matches!(ty, oids::TEXT | oids::VARCHAR | oids::BPCHAR)
}

/// True if the expression may refer to a value of the expression that contains it.
fn contains_placeholder(expr: &Expr) -> bool {
    plan::walk::any(expr, &mut |e| matches!(e, Expr::CaseTest(_) | Expr::CoerceToDomainValue(_)))
}

impl Words {
    /// Compiles an expression whose parameters are variables; `None` if it is not one over integers
    /// and booleans.
    pub(crate) fn compile(host: &mut dyn Host, expr: &Expr) -> Result<Option<Words>> {
        Maker { host, slots: &[], leaves: None, stopped: false }.words(expr, 0)
    }
}

#[cfg(test)]
mod tests {
    use super::decimal;
    use types::Datum;

    #[test]
    fn integers_have_their_decimal_digits() {
        for value in [0, 7, -7, 10, -1234567890, i64::MAX, i64::MIN] {
            assert_eq!(decimal(value), Datum::text(&value.to_string()));
        }
    }
}
