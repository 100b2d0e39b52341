//! Simplification of expressions before planning: immutable calls over constants are computed, AND, OR,
//! NOT, CASE, COALESCE and NULL tests are reduced. Counterpart: clauses.c, `eval_const_expressions`.

use crate::compile::{Compiler, NoColumns};
use crate::facts::Facts;
use crate::host::Host;
use crate::program::EvalState;
use crate::row::RowInput;
use ids::Oid;
use pgerror::Result;
use plan::expr::*;
use plan::walk;
use types::{Datum, oids};

/// How far a function's result may change; ordered.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Volatility {
    Immutable,
    Stable,
    Volatile,
}

impl Volatility {
    fn of(c: u8) -> Volatility {
        match c {
            b'i' => Volatility::Immutable,
            b's' => Volatility::Stable,
            _ => Volatility::Volatile,
        }
    }
}

/// The volatility of the worst function in the expression. Sub-selects count as volatile only if their
/// test expressions are; the planner looks into them itself.
pub fn volatility(expr: &Expr, facts: &mut dyn Facts) -> Result<Volatility> {
    let mut worst = match expr {
        Expr::FuncExpr(n) => Volatility::of(facts.function(n.funcid)?.volatility),
        Expr::OpExpr(n) | Expr::Distinct(n) | Expr::NullIf(n) => {
            operator_volatility(n.opno, n.opfuncid, facts)?
        }
        Expr::ScalarArrayOp(n) => operator_volatility(n.opno, n.opfuncid, facts)?,
        Expr::CoerceViaIo(n) => {
            let from = facts.type_io(n.arg.type_oid())?;
            let to = facts.type_io(n.resulttype)?;
            Volatility::of(from.output.volatility).max(Volatility::of(to.input.volatility))
        }
        Expr::SqlValue(_) => Volatility::Stable,
        Expr::NextValue(_) => Volatility::Volatile,
        // A domain's checks may change under ALTER DOMAIN.
        Expr::CoerceToDomain(_) => Volatility::Stable,
        _ => Volatility::Immutable,
    };
    let mut failure = None;
    walk::each_child(expr, &mut |c| match volatility(c, facts) {
        Ok(v) => worst = worst.max(v),
        Err(e) => failure = Some(e),
    });
    match failure {
        Some(e) => Err(e),
        None => Ok(worst),
    }
}

fn operator_volatility(opno: Oid, funcid: Oid, facts: &mut dyn Facts) -> Result<Volatility> {
    let f = match funcid.valid() {
        Some(f) => f,
        None => facts.operator_function(opno)?,
    };
    Ok(Volatility::of(facts.function(f)?.volatility))
}

/// May the node, its children being constants, be computed before execution?
pub fn is_foldable(expr: &Expr, facts: &mut dyn Facts) -> Result<bool> {
    let constant_args = {
        let mut all = true;
        walk::each_child(expr, &mut |c| all &= matches!(c, Expr::Const(_)));
        all
    };
    if !constant_args {
        return Ok(false);
    }
    Ok(match expr {
        Expr::FuncExpr(n) => {
            !n.funcretset
                && n.funcresulttype != oids::RECORD
                && own_volatility(expr, facts)? == Volatility::Immutable
        }
        Expr::OpExpr(_)
        | Expr::Distinct(_)
        | Expr::NullIf(_)
        | Expr::ScalarArrayOp(_)
        | Expr::CoerceViaIo(_) => own_volatility(expr, facts)? == Volatility::Immutable,
        Expr::Array(_) | Expr::MinMax(_) | Expr::RowCompare(_) | Expr::SubscriptingRef(_) => true,
        Expr::NullTest(n) => !n.argisrow,
        Expr::BooleanTest(_) => true,
        _ => false,
    })
}

fn own_volatility(expr: &Expr, facts: &mut dyn Facts) -> Result<Volatility> {
    // Children are constants, so the whole expression's volatility is the node's own.
    volatility(expr, facts)
}

/// Facts to look up and a host to run what can be computed now, in one object.
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

/// Simplifies the expression. A computation that fails is left for execution, where the error belongs
/// (PostgreSQL reports it at plan time; the error is the same).
pub fn fold(expr: Expr, env: &mut dyn FoldEnv) -> Result<Expr> {
    let mut folder = Folder { env };
    folder.expr(expr, 0)
}

struct Folder<'a> {
    env: &'a mut dyn FoldEnv,
}

impl Folder<'_> {
    fn expr(&mut self, mut expr: Expr, depth: u32) -> Result<Expr> {
        if depth > crate::DEPTH_MAX {
            return Err(crate::too_deep());
        }
        // Children of CASE and of conditional nodes are simplified too: computing them early cannot
        // fail visibly, since a failing computation is left as it is.
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
            Expr::Bool(n) => Ok(self.boolean(*n)),
            Expr::Case(n) => Ok(self.case(*n)),
            Expr::Coalesce(n) => Ok(self.coalesce(*n)),
            Expr::Relabel(n) => Ok(self.relabel(*n)),
            Expr::FuncExpr(n) => self.strict_call(Expr::FuncExpr(n)),
            Expr::OpExpr(n) => self.strict_call(Expr::OpExpr(n)),
            other => self.compute(other),
        }
    }

    /// A strict function with a NULL argument is NULL whatever the others are.
    fn strict_call(&mut self, expr: Expr) -> Result<Expr> {
        let (funcid, args, retset) = match &expr {
            Expr::FuncExpr(n) => (n.funcid, &n.args, n.funcretset),
            Expr::OpExpr(n) => match n.opfuncid.valid() {
                Some(f) => (f, &n.args, n.opretset),
                None => (self.env.facts().operator_function(n.opno)?, &n.args, n.opretset),
            },
            _ => return Ok(expr),
        };
        let has_null = args.iter().any(|a| matches!(a, Expr::Const(c) if c.is_null()));
        if has_null && !retset {
            let f = self.env.facts().function(funcid)?;
            if f.strict && Volatility::of(f.volatility) == Volatility::Immutable {
                return Ok(null_const(expr.type_oid(), expr.collation(), expr.typmod()));
            }
        }
        self.compute(expr)
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
        let value = match program.eval_row(&mut st, self.env.host(), &RowInput::EMPTY) {
            Ok(v) => v.into_owned(),
            Err(_) => return Ok(expr),
        };
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

    fn boolean(&mut self, n: BoolExpr) -> Expr {
        if n.boolop == BoolOp::Not {
            return match n.args.into_iter().next() {
                Some(Expr::Const(c)) if c.is_null() => bool_const(None),
                Some(Expr::Const(c)) => bool_const(Some(!c.value.as_ref().as_bool())),
                Some(Expr::Bool(inner)) if inner.boolop == BoolOp::Not => {
                    inner.args.into_iter().next().unwrap_or_else(|| bool_const(None))
                }
                Some(arg) => Expr::Bool(Box::new(BoolExpr {
                    boolop: BoolOp::Not,
                    args: vec![arg],
                    location: n.location,
                })),
                None => bool_const(None),
            };
        }
        let deciding = n.boolop == BoolOp::Or;
        let mut unknown = false;
        let mut rest = Vec::with_capacity(n.args.len());
        let mut flat = Vec::with_capacity(n.args.len());
        for arg in n.args {
            match arg {
                Expr::Bool(inner) if inner.boolop == n.boolop => flat.extend(inner.args),
                other => flat.push(other),
            }
        }
        for arg in flat {
            match arg {
                Expr::Const(c) if c.is_null() => unknown = true,
                Expr::Const(c) if c.value.as_ref().as_bool() == deciding => {
                    return bool_const(Some(deciding));
                }
                Expr::Const(_) => {}
                other => rest.push(other),
            }
        }
        if rest.is_empty() {
            return bool_const(if unknown { None } else { Some(!deciding) });
        }
        if unknown {
            rest.push(bool_const(None));
        }
        match rest.len() {
            1 => rest.pop().expect("one argument"),
            _ => Expr::Bool(Box::new(BoolExpr {
                boolop: n.boolop,
                args: rest,
                location: n.location,
            })),
        }
    }

    fn case(&mut self, mut n: CaseExpr) -> Expr {
        if n.arg.is_some() {
            return Expr::Case(Box::new(n));
        }
        let mut arms = Vec::with_capacity(n.args.len());
        for w in std::mem::take(&mut n.args) {
            match &w.expr {
                Expr::Const(c) if c.is_null() || !c.value.as_ref().as_bool() => {}
                Expr::Const(_) => {
                    n.defresult = Some(w.result);
                    break;
                }
                _ => arms.push(w),
            }
        }
        if arms.is_empty() {
            return n.defresult.take().unwrap_or_else(|| null_const(n.casetype, n.casecollid, -1));
        }
        n.args = arms;
        Expr::Case(Box::new(n))
    }

    fn coalesce(&mut self, mut n: CoalesceExpr) -> Expr {
        let mut rest = Vec::with_capacity(n.args.len());
        for arg in std::mem::take(&mut n.args) {
            match arg {
                Expr::Const(c) if c.is_null() => {}
                Expr::Const(_) => {
                    rest.push(arg);
                    break;
                }
                other => rest.push(other),
            }
        }
        match rest.len() {
            0 => null_const(n.coalescetype, n.coalescecollid, -1),
            1 => rest.pop().expect("one argument"),
            _ => {
                n.args = rest;
                Expr::Coalesce(Box::new(n))
            }
        }
    }

    fn relabel(&mut self, n: RelabelType) -> Expr {
        match n.arg {
            Expr::Const(mut c) => {
                c.consttype = n.resulttype;
                c.consttypmod = n.resulttypmod;
                c.constcollid = n.resultcollid;
                Expr::Const(c)
            }
            arg => Expr::Relabel(Box::new(RelabelType { arg, ..n })),
        }
    }
}

fn bool_const(value: Option<bool>) -> Expr {
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

/// A NULL of the type. Its length is not looked up: nothing reads it of a NULL but `pg_node_tree`,
/// which stores folded expressions nowhere.
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
