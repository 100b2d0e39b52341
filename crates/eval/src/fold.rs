//! Constant folding before planning: immutable calls over constants are computed; AND, OR, NOT,
//! CASE, COALESCE and NULL tests are simplified. Counterpart: clauses.c
//! (`eval_const_expressions`).

use crate::compile::{Compiler, NoColumns};
use crate::facts::Facts;
use crate::host::Host;
use crate::inline;
use crate::program::EvalState;
use crate::row::RowInput;
use crate::volatility::{is_foldable, is_null};
use ids::Oid;
use pgerror::Result;
use plan::expr::{
    BoolExpr, BoolOp, BoolTestKind, CaseExpr, CoalesceExpr, CoercionForm, Const, Expr, FieldSelect,
    FuncExpr, Location, NullTest, OpExpr, RelabelType, Var,
};
use plan::walk;
use types::{Datum, oids};

/// A call with a larger result is not folded, because plans are copied and cached with all their
/// constants. Array constructors are exempt: their result is no larger than the statement's text.
const FOLDED_BYTES_MAX: usize = 16 << 10;

/// `x = true` as `x`, `x = false` as `NOT x`, and so for `<>`. Counterpart:
/// `simplify_boolean_equality`.
fn truth_test(expr: Expr, facts: &mut dyn Facts) -> Result<Expr> {
    const BOOL_EQUAL: u32 = 91;
    const BOOL_NOT_EQUAL: u32 = 85;
    let Expr::OpExpr(mut op) = expr else { return Ok(expr) };
    let known = |e: &Expr| match e {
        Expr::Const(c) if !c.is_null() => Some(c.value.as_ref().as_bool()),
        _ => None,
    };
    let equal = match (op.opno.0, op.args.len()) {
        (BOOL_EQUAL, 2) => true,
        (BOOL_NOT_EQUAL, 2) => false,
        _ => return Ok(Expr::OpExpr(op)),
    };
    let (value, other) = match (known(&op.args[0]), known(&op.args[1])) {
        // A comparison of two constants is folded as any other call.
        (Some(_), Some(_)) | (None, None) => return Ok(Expr::OpExpr(op)),
        (Some(value), None) => (value, op.args.remove(1)),
        (None, Some(value)) => (value, op.args.remove(0)),
    };
    if value == equal { Ok(other) } else { negated(other, op.location, facts) }
}

/// Catalog look-ups and a host to run the functions, in one object.
pub trait FoldEnv {
    fn facts(&mut self) -> &mut dyn Facts;
    fn host(&mut self) -> &mut dyn Host;
}

impl<T: Facts + Host> FoldEnv for T {
    fn facts(&mut self) -> &mut dyn Facts {
        self
    }

    fn host(&mut self) -> &mut dyn Host {
        self
    }
}

/// Simplifies the expression. An error in a computation fails the statement, even if the value
/// would never have been needed. Parts that an earlier constant makes unreachable, such as later
/// arms of a CASE, are not computed.
pub fn fold(expr: Expr, env: &mut dyn FoldEnv) -> Result<Expr> {
    fold_query(expr, env, &|_| false)
}

/// As [`fold`], within a query. `present` is true for range-table entries that no outer join can
/// null-extend, so that a whole-row reference to them is never NULL.
pub fn fold_query(
    expr: Expr,
    env: &mut dyn FoldEnv,
    present: &dyn Fn(i32) -> bool,
) -> Result<Expr> {
    let mut folder = Folder { env, present, case_value: None, inlining: Vec::new() };
    folder.expr(expr, 0)
}

struct Folder<'a> {
    env: &'a mut dyn FoldEnv,
    present: &'a dyn Fn(i32) -> bool,
    /// The constant that replaces `CaseTest`.
    case_value: Option<Const>,
    /// Functions whose bodies are being inlined, to stop recursion.
    inlining: Vec<Oid>,
}

impl Folder<'_> {
    fn expr(&mut self, expr: Expr, depth: u32) -> Result<Expr> {
        if matches!(expr, Expr::Const(_) | Expr::Var(_) | Expr::Param(_)) {
            return Ok(expr);
        }
        if depth > crate::depth::DEPTH_MAX {
            return Err(crate::depth::too_deep());
        }
        self.env.host().check_interrupts()?;
        stdx::stack::deep(|| self.node(expr, depth))
    }

    fn node(&mut self, mut expr: Expr, depth: u32) -> Result<Expr> {
        match expr {
            Expr::Bool(n) if n.boolop != BoolOp::Not => return self.and_or(*n, depth + 1),
            Expr::Bool(n) if matches!(n.args[..], [Expr::Bool(_)]) => {
                return self.push_down_not(*n, depth + 1);
            }
            Expr::Case(n) => return self.case(*n, depth + 1),
            Expr::Coalesce(n) => return self.coalesce(*n, depth + 1),
            Expr::CaseTest(_) => {
                return Ok(self.case_value.clone().map_or(expr, Expr::Const));
            }
            Expr::ArrayCoerce(mut n) => {
                n.arg = self.expr(n.arg, depth + 1)?;
                let outer = self.case_value.take();
                let element = self.expr(n.elemexpr, depth + 1);
                self.case_value = outer;
                n.elemexpr = element?;
                return self.compute(Expr::ArrayCoerce(n));
            }
            _ => {}
        }
        let call = match &mut expr {
            Expr::FuncExpr(n) => Some((n.funcid, &mut n.args)),
            Expr::WindowFunc(n) => Some((n.winfnoid, &mut n.args)),
            _ => None,
        };
        if let Some((function, args)) = call
            && args.iter().any(|a| matches!(a, Expr::NamedArg(_)))
        {
            let facts = self.env.facts().function(function)?;
            *args = crate::compile::ordered_arguments(std::mem::take(args), &facts)?;
        }
        let mut failure = None;
        walk::each_child_mut(&mut expr, &mut |c| {
            if failure.is_none() {
                let child = std::mem::replace(c, null_const(oids::UNKNOWN, Oid::INVALID, -1));
                match self.expr(child, depth + 1) {
                    Ok(e) => *c = e,
                    Err(e) => failure = Some(e),
                }
            }
        });
        if let Some(e) = failure {
            return Err(e);
        }
        match expr {
            Expr::Bool(n) => negation(*n, self.env.facts()),
            Expr::Relabel(n) => Ok(self.relabel(*n)),
            // COLLATE becomes a RelabelType, which changes the collation only.
            Expr::Collate(n) => Ok(self.relabel(RelabelType {
                resulttype: n.arg.type_oid(),
                resulttypmod: n.arg.typmod(),
                resultcollid: n.coll_oid,
                arg: n.arg,
                relabelformat: CoercionForm::ImplicitCast,
                location: n.location,
            })),
            // Coercion to a domain without constraints changes only the type. Adding a constraint
            // invalidates the plan.
            Expr::CoerceToDomain(n) if self.env.facts().domain_checks(n.resulttype)?.is_empty() => {
                Ok(self.relabel(RelabelType {
                    arg: n.arg,
                    resulttype: n.resulttype,
                    resulttypmod: n.resulttypmod,
                    resultcollid: n.resultcollid,
                    relabelformat: n.coercionformat,
                    location: n.location,
                }))
            }
            Expr::FuncExpr(_) | Expr::OpExpr(_) => match self.truth_or_call(expr)? {
                Expr::FuncExpr(n) => self.inline(n, depth),
                Expr::OpExpr(n) => self.inline_operator(n, depth),
                other => Ok(other),
            },
            // Nothing equals NULL: the result is the first argument.
            Expr::NullIf(mut n) if n.args.iter().any(is_null) => Ok(n.args.swap_remove(0)),
            Expr::FieldSelect(n) => self.field(*n),
            // `ROW(…) IS DISTINCT FROM NULL`: a row of constants is a constant that is not NULL.
            // Other rows stay, as in PostgreSQL.
            Expr::NullTest(n) if !n.argisrow && is_constant_row(&n.arg) => {
                Ok(bool_const(Some(n.is_not)))
            }
            Expr::NullTest(n) if n.argisrow && matches!(n.arg, Expr::Row(_)) => Ok(row_test(*n)),
            other => self.compute(other),
        }
    }

    /// Simplifies a comparison with a boolean constant, or a call.
    fn truth_or_call(&mut self, expr: Expr) -> Result<Expr> {
        match truth_test(expr, self.env.facts())? {
            call @ (Expr::FuncExpr(_) | Expr::OpExpr(_)) => self.strict_call(call),
            other => Ok(other),
        }
    }

    /// Replaces a call of a strict function with a NULL argument by NULL, even if the function is
    /// volatile or other arguments are not constant.
    fn strict_call(&mut self, expr: Expr) -> Result<Expr> {
        let (funcid, args, retset) = match &expr {
            Expr::FuncExpr(n) => (n.funcid, &n.args, n.funcretset),
            Expr::OpExpr(n) => match n.opfuncid.valid() {
                Some(f) => (f, &n.args, n.opretset),
                None => (self.env.facts().operator_function(n.opno)?, &n.args, n.opretset),
            },
            _ => return Ok(expr),
        };
        let has_null = args.iter().any(is_null);
        if has_null && !retset {
            let f = self.env.facts().function(funcid)?;
            if f.strict {
                return Ok(null_const(expr.type_oid(), expr.collation(), expr.typmod()));
            }
        }
        self.compute(expr)
    }

    /// Replaces a call by the function's body, simplified with the arguments; returns the call if
    /// it cannot be inlined.
    fn inline(&mut self, call: Box<FuncExpr>, depth: u32) -> Result<Expr> {
        let may = self.env.facts().function(call.funcid)?.may_inline;
        if !may || call.funcretset || self.inlining.contains(&call.funcid) {
            return Ok(Expr::FuncExpr(call));
        }
        let Some(body) = inline::inlined(&call, self.env.facts(), self.present)? else {
            return Ok(Expr::FuncExpr(call));
        };
        self.inlining.push(call.funcid);
        let folded = self.expr(body, depth + 1);
        self.inlining.pop();
        folded.map_err(|e| {
            let name = self.env.facts().function(call.funcid).map(|f| f.name.clone());
            e.context(format!("SQL function \"{}\" during inlining", name.unwrap_or_default()))
        })
    }

    /// As [`Self::inline`], for an operator whose function is an SQL function, such as
    /// `integer || text`. `may_inline` rules out all others without a look at the body.
    fn inline_operator(&mut self, op: Box<OpExpr>, depth: u32) -> Result<Expr> {
        let funcid = match op.opfuncid.valid() {
            Some(f) => f,
            None => self.env.facts().operator_function(op.opno)?,
        };
        if op.opretset || !self.env.facts().function(funcid)?.may_inline {
            return Ok(Expr::OpExpr(op));
        }
        let call = FuncExpr {
            funcid,
            funcresulttype: op.opresulttype,
            funcretset: false,
            funcvariadic: false,
            funcformat: CoercionForm::ExplicitCall,
            funccollid: op.opcollid,
            inputcollid: op.inputcollid,
            args: op.args.clone(),
            location: op.location,
        };
        match self.inline(Box::new(call), depth)? {
            // A call that was not inlined stays an operator expression, so that it still matches
            // index conditions.
            Expr::FuncExpr(call) if call.funcid == funcid => Ok(Expr::OpExpr(op)),
            replaced => Ok(replaced),
        }
    }

    /// Replaces a field of a row constructor or whole-row reference by the field's expression.
    fn field(&mut self, mut n: FieldSelect) -> Result<Expr> {
        match &mut n.arg {
            Expr::Row(row) => {
                let at = usize::try_from(n.fieldnum - 1).unwrap_or(usize::MAX);
                if let Some(e) = row.args.get_mut(at)
                    && e.type_oid() == n.resulttype
                    && e.typmod() == n.resulttypmod
                    && e.collation() == n.resultcollid
                {
                    return Ok(row.args.swap_remove(at));
                }
            }
            Expr::Var(v) if v.varattno == 0 && v.varlevelsup == 0 => {
                let fits = v.vartype == oids::RECORD || {
                    let desc = self.env.host().row_desc(v.vartype, -1)?;
                    let column =
                        usize::try_from(n.fieldnum - 1).ok().and_then(|i| desc.columns.get(i));
                    column.is_some_and(|c| c.dropped.is_none() && c.ty == n.resulttype)
                };
                if fits {
                    return Ok(Expr::Var(Var {
                        varattno: n.fieldnum,
                        vartype: n.resulttype,
                        vartypmod: n.resulttypmod,
                        varcollid: n.resultcollid,
                        ..v.clone()
                    }));
                }
            }
            _ => {}
        }
        self.compute(Expr::FieldSelect(Box::new(n)))
    }

    fn compute(&mut self, expr: Expr) -> Result<Expr> {
        if !is_foldable(&expr, self.env.facts())? {
            return Ok(expr);
        }
        let program = match Compiler::new(self.env.facts(), &mut NoColumns).compile(&expr) {
            Ok(p) => p,
            Err(_) => return Ok(expr),
        };
        let mut st = EvalState::default();
        let value = program.eval_row(&mut st, self.env.host(), &RowInput::EMPTY)?.into_owned();
        if matches!(&value, Datum::Bytes(b) if b.len() > FOLDED_BYTES_MAX)
            && !matches!(expr, Expr::Array(_))
        {
            return Ok(expr);
        }
        let info = self.env.facts().type_info(expr.type_oid())?;
        Ok(Expr::Const(Const {
            consttype: expr.type_oid(),
            consttypmod: expr.typmod(),
            constcollid: expr.collation(),
            constlen: info.len,
            constbyval: info.by_val,
            value,
            location: expr.location(),
        }))
    }

    /// Simplifies AND and OR; a constant that decides the result ends the evaluation.
    fn and_or(&mut self, n: BoolExpr, depth: u32) -> Result<Expr> {
        let deciding = n.boolop == BoolOp::Or;
        let mut unknown = false;
        let mut rest = Vec::with_capacity(n.args.len());
        // Arguments to simplify, in reverse order.
        let mut todo: Vec<Expr> = n.args.into_iter().rev().collect();
        while let Some(arg) = todo.pop() {
            let arg = match arg {
                Expr::Bool(inner) if inner.boolop == n.boolop => {
                    todo.extend(inner.args.into_iter().rev());
                    continue;
                }
                arg => self.expr(arg, depth)?,
            };
            match arg {
                Expr::Const(c) if c.is_null() => unknown = true,
                Expr::Const(c) if c.value.as_ref().as_bool() == deciding => {
                    return Ok(bool_const(Some(deciding)));
                }
                Expr::Const(_) => {}
                Expr::Bool(inner) if inner.boolop == n.boolop => rest.extend(inner.args),
                other => rest.push(other),
            }
        }
        if rest.is_empty() {
            return Ok(bool_const(if unknown { None } else { Some(!deciding) }));
        }
        if unknown {
            rest.push(bool_const(None));
        }
        Ok(match rest.len() {
            1 => rest.pop().expect("one argument"),
            _ => Expr::Bool(Box::new(BoolExpr {
                boolop: n.boolop,
                args: rest,
                location: n.location,
            })),
        })
    }

    /// NOT of AND, OR or NOT. The negation is pushed down before the arguments are simplified:
    /// otherwise each of several nested NOTs would rewrite the whole tree below it.
    fn push_down_not(&mut self, n: BoolExpr, depth: u32) -> Result<Expr> {
        let location = n.location;
        let Some(Expr::Bool(inner)) = n.args.into_iter().next() else {
            return Ok(bool_const(None));
        };
        let boolop = match inner.boolop {
            BoolOp::And => BoolOp::Or,
            BoolOp::Or => BoolOp::And,
            BoolOp::Not => {
                let arg = inner.args.into_iter().next();
                return self.expr(arg.unwrap_or_else(|| bool_const(None)), depth);
            }
        };
        let not =
            |arg| Expr::Bool(Box::new(BoolExpr { boolop: BoolOp::Not, args: vec![arg], location }));
        let args = inner.args.into_iter().map(not).collect();
        self.and_or(BoolExpr { boolop, args, location: inner.location }, depth)
    }

    /// Simplifies CASE: drops the arms that cannot be reached.
    fn case(&mut self, mut n: CaseExpr, depth: u32) -> Result<Expr> {
        let arg = n.arg.take().map(|arg| self.expr(arg, depth)).transpose()?;
        let value = match arg {
            Some(Expr::Const(c)) => Some(c),
            other => {
                n.arg = other;
                None
            }
        };
        let outer = std::mem::replace(&mut self.case_value, value);
        let folded = self.arms(n, depth);
        self.case_value = outer;
        folded
    }

    fn arms(&mut self, mut n: CaseExpr, depth: u32) -> Result<Expr> {
        let mut arms = Vec::with_capacity(n.args.len());
        let mut decided = None;
        for mut w in std::mem::take(&mut n.args) {
            w.expr = self.expr(w.expr, depth)?;
            match &w.expr {
                Expr::Const(c) if c.is_null() || !c.value.as_ref().as_bool() => {}
                Expr::Const(_) => {
                    decided = Some(self.expr(w.result, depth)?);
                    break;
                }
                _ => {
                    w.result = self.expr(w.result, depth)?;
                    arms.push(w);
                }
            }
        }
        n.defresult = match (decided, n.defresult.take()) {
            (Some(result), _) => Some(result),
            (None, default) => default.map(|e| self.expr(e, depth)).transpose()?,
        };
        if arms.is_empty() {
            let default = n.defresult.take();
            return Ok(default.unwrap_or_else(|| null_const(n.casetype, n.casecollid, -1)));
        }
        n.args = arms;
        Ok(Expr::Case(Box::new(n)))
    }

    fn coalesce(&mut self, mut n: CoalesceExpr, depth: u32) -> Result<Expr> {
        let mut rest = Vec::with_capacity(n.args.len());
        for arg in std::mem::take(&mut n.args) {
            match self.expr(arg, depth)? {
                Expr::Const(c) if c.is_null() => {}
                arg @ Expr::Const(_) => {
                    rest.push(arg);
                    break;
                }
                other => rest.push(other),
            }
        }
        Ok(match rest.len() {
            0 => null_const(n.coalescetype, n.coalescecollid, -1),
            1 => rest.pop().expect("one argument"),
            _ => {
                n.args = rest;
                Expr::Coalesce(Box::new(n))
            }
        })
    }

    /// Collapses nested RelabelTypes into one, and removes it if it changes nothing. Counterpart:
    /// `applyRelabelType`.
    fn relabel(&mut self, n: RelabelType) -> Expr {
        let mut arg = n.arg;
        while let Expr::Relabel(inner) = arg {
            arg = inner.arg;
        }
        let own = arg.type_oid() == n.resulttype
            && arg.typmod() == n.resulttypmod
            && arg.collation() == n.resultcollid;
        match arg {
            arg if own => arg,
            Expr::Const(mut c) => {
                c.value = c.value.relabelled(n.resulttype);
                c.consttype = n.resulttype;
                c.consttypmod = n.resulttypmod;
                c.constcollid = n.resultcollid;
                Expr::Const(c)
            }
            arg => Expr::Relabel(Box::new(RelabelType { arg, ..n })),
        }
    }
}

/// NOT, pushed down as far as possible. Counterpart: `negate_clause`.
fn negation(n: BoolExpr, facts: &mut dyn Facts) -> Result<Expr> {
    match n.args.into_iter().next() {
        Some(arg) => stdx::stack::deep(|| negated(arg, n.location, facts)),
        None => Ok(bool_const(None)),
    }
}

fn negated(arg: Expr, location: Location, facts: &mut dyn Facts) -> Result<Expr> {
    Ok(match arg {
        Expr::Const(c) if c.is_null() => bool_const(None),
        Expr::Const(c) => bool_const(Some(!c.value.as_ref().as_bool())),
        Expr::OpExpr(mut op) if !op.opretset && facts.negator(op.opno)?.is_valid() => {
            op.opno = facts.negator(op.opno)?;
            op.opfuncid = facts.operator_function(op.opno)?;
            Expr::OpExpr(op)
        }
        Expr::ScalarArrayOp(mut op) if facts.negator(op.opno)?.is_valid() => {
            op.opno = facts.negator(op.opno)?;
            op.opfuncid = facts.operator_function(op.opno)?;
            op.use_or = !op.use_or;
            Expr::ScalarArrayOp(op)
        }
        Expr::Bool(inner) if inner.boolop == BoolOp::Not => {
            inner.args.into_iter().next().unwrap_or_else(|| bool_const(None))
        }
        Expr::Bool(inner) => {
            let boolop = if inner.boolop == BoolOp::And { BoolOp::Or } else { BoolOp::And };
            let mut args = Vec::with_capacity(inner.args.len());
            for a in inner.args {
                match stdx::stack::deep(|| negated(a, location, facts))? {
                    Expr::Bool(same) if same.boolop == boolop => args.extend(same.args),
                    other => args.push(other),
                }
            }
            Expr::Bool(Box::new(BoolExpr { boolop, args, location: inner.location }))
        }
        Expr::NullTest(mut test) if !test.argisrow => {
            test.is_not = !test.is_not;
            Expr::NullTest(test)
        }
        Expr::BooleanTest(mut test) => {
            test.booltesttype = match test.booltesttype {
                BoolTestKind::IsTrue => BoolTestKind::IsNotTrue,
                BoolTestKind::IsNotTrue => BoolTestKind::IsTrue,
                BoolTestKind::IsFalse => BoolTestKind::IsNotFalse,
                BoolTestKind::IsNotFalse => BoolTestKind::IsFalse,
                BoolTestKind::IsUnknown => BoolTestKind::IsNotUnknown,
                BoolTestKind::IsNotUnknown => BoolTestKind::IsUnknown,
            };
            Expr::BooleanTest(test)
        }
        arg => Expr::Bool(Box::new(BoolExpr { boolop: BoolOp::Not, args: vec![arg], location })),
    })
}

fn is_constant_row(e: &Expr) -> bool {
    matches!(e, Expr::Row(row) if row.args.iter().all(|a| matches!(a, Expr::Const(_))))
}

/// `ROW(a, b) IS NULL` as `a IS NULL AND b IS NULL`. The fields are tested by themselves: a field
/// that is a row is not tested recursively.
fn row_test(test: NullTest) -> Expr {
    let NullTest { arg: Expr::Row(row), is_not, location, .. } = test else {
        return Expr::NullTest(Box::new(test));
    };
    let mut args = Vec::with_capacity(row.args.len());
    for arg in row.args {
        match &arg {
            Expr::Const(c) if c.is_null() == is_not => return bool_const(Some(false)),
            Expr::Const(_) => {}
            _ => args.push(Expr::NullTest(Box::new(NullTest {
                arg,
                is_not,
                argisrow: false,
                location,
            }))),
        }
    }
    match args.len() {
        0 => bool_const(Some(true)),
        1 => args.swap_remove(0),
        _ => Expr::Bool(Box::new(BoolExpr { boolop: BoolOp::And, args, location })),
    }
}

/// A boolean constant; `None` is NULL.
pub fn bool_const(value: Option<bool>) -> Expr {
    Expr::Const(Const {
        consttype: oids::BOOL,
        consttypmod: -1,
        constcollid: Oid::INVALID,
        constlen: 1,
        constbyval: true,
        value: value.map_or(Datum::Null, Datum::bool),
        location: Location::UNKNOWN,
    })
}

/// A NULL constant of the type. `constlen` is not looked up: of a NULL only `pg_node_tree` shows
/// it, and folded expressions are never stored.
fn null_const(ty: Oid, collation: Oid, typmod: i32) -> Expr {
    Expr::Const(Const {
        consttype: ty,
        consttypmod: typmod,
        constcollid: collation,
        constlen: -1,
        constbyval: false,
        value: Datum::Null,
        location: Location::UNKNOWN,
    })
}
