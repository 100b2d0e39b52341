//! Finds the conditions on a partition key among the conditions on a partitioned table.
//! Counterpart: partprune.c (`gen_partprune_steps`).

use crate::host::PlannerHost;
use crate::vars::relids_of;
use eval::Volatility;
use ids::code::PartStrategy;
use ids::strategy::btree;
use ids::{Oid, StrategyNumber};
use partition::{KeyColumn, PartitionKey};
use pgerror::Result;
use plan::expr::{
    BoolOp, BoolTestKind, BooleanTest, Const, Expr, Location, OpExpr, ScalarArrayOpExpr,
};
use plan::prune::{KeyCondition, KeyTest, Pruning};
use plan::walk;
use types::array::ArrayRef;
use types::{Datum, oids};

/// Largest number of elements of an array that are compared with a key.
const ELEMENTS_MAX: usize = 1000;

/// The part of the conditions, which are joined by AND, that concerns the key of the partitioned
/// table `rti`.
pub fn of_conditions(
    host: &mut dyn PlannerHost,
    key: &PartitionKey,
    rti: i32,
    quals: &[Expr],
) -> Result<Pruning> {
    let mut finder = Finder { host, key, rti };
    let mut parts = Vec::new();
    for q in quals {
        parts.push(finder.condition(q)?);
    }
    Ok(all_of(parts))
}

/// The conjunction; conditions on key columns are evaluated together.
fn all_of(parts: Vec<Pruning>) -> Pruning {
    let (mut keys, mut others) = (Vec::new(), Vec::new());
    let mut add = |part: Pruning| match part {
        Pruning::All => {}
        Pruning::Keys(list) => keys.extend(list),
        other => others.push(other),
    };
    for part in parts {
        match part {
            Pruning::And(list) => list.into_iter().for_each(&mut add),
            part => add(part),
        }
    }
    if others.contains(&Pruning::Never) {
        return Pruning::Never;
    }
    if !keys.is_empty() {
        others.push(Pruning::Keys(keys));
    }
    match others.len() {
        0 => Pruning::All,
        1 => others.remove(0),
        _ => Pruning::And(others),
    }
}

fn any_of(parts: Vec<Pruning>) -> Pruning {
    if parts.contains(&Pruning::All) {
        return Pruning::All;
    }
    let mut parts: Vec<Pruning> = parts.into_iter().filter(|p| *p != Pruning::Never).collect();
    match parts.len() {
        0 => Pruning::Never,
        1 => parts.remove(0),
        _ => Pruning::Or(parts),
    }
}

fn one(column: usize, test: KeyTest) -> Pruning {
    Pruning::Keys(vec![KeyCondition { column, test }])
}

/// The expression without relabelling.
fn strip(mut e: &Expr) -> &Expr {
    while let Expr::Relabel(r) = e {
        e = &r.arg;
    }
    e
}

struct Finder<'a> {
    host: &'a mut dyn PlannerHost,
    key: &'a PartitionKey,
    rti: i32,
}

impl Finder<'_> {
    fn condition(&mut self, q: &Expr) -> Result<Pruning> {
        match q {
            Expr::Const(c) => Ok(match c.is_null() || !c.value.as_ref().as_bool() {
                true => Pruning::Never,
                false => Pruning::All,
            }),
            Expr::Bool(b) if b.boolop != BoolOp::Not => {
                let mut parts = Vec::with_capacity(b.args.len());
                for arg in &b.args {
                    parts.push(self.condition(arg)?);
                }
                Ok(if b.boolop == BoolOp::And { all_of(parts) } else { any_of(parts) })
            }
            Expr::OpExpr(op) => self.comparison(op),
            Expr::ScalarArrayOp(op) => self.array_comparison(op),
            Expr::NullTest(n) if !n.argisrow => Ok(match self.column_of(&n.arg) {
                Some(column) => {
                    one(column, if n.is_not { KeyTest::NotNull } else { KeyTest::Null })
                }
                None => Pruning::All,
            }),
            other => Ok(self.truth_value(other)),
        }
    }

    /// The key column that is this expression.
    fn column_of(&self, e: &Expr) -> Option<usize> {
        let e = strip(e);
        self.key.columns.iter().position(|c| match c.attno {
            0 => *strip(&renumbered(&c.expr, self.rti)) == *e,
            attno => matches!(e, Expr::Var(v)
                if v.varno == self.rti && v.varattno == attno && v.varlevelsup == 0),
        })
    }

    /// `flag`, `NOT flag` and tests of a boolean key column. Counterpart:
    /// `match_boolean_partition_clause`.
    fn truth_value(&self, q: &Expr) -> Pruning {
        let equals = |column: usize, value: bool| {
            let value = eval::bool_const(Some(value));
            one(column, KeyTest::Compare { strategy: btree::EQUAL, value, value_type: oids::BOOL })
        };
        let flag = |e: &Expr| self.column_of(e).filter(|c| self.key.columns[*c].ty == oids::BOOL);
        match q {
            Expr::BooleanTest(t) => {
                let BooleanTest { arg, booltesttype, .. } = &**t;
                let (negated, inner) = match arg {
                    Expr::Bool(b) if b.boolop == BoolOp::Not => (true, &b.args[0]),
                    e => (false, e),
                };
                let Some(column) = flag(inner) else { return Pruning::All };
                let null = || one(column, KeyTest::Null);
                match booltesttype {
                    BoolTestKind::IsTrue => equals(column, !negated),
                    BoolTestKind::IsFalse => equals(column, negated),
                    BoolTestKind::IsNotTrue => any_of(vec![equals(column, negated), null()]),
                    BoolTestKind::IsNotFalse => any_of(vec![equals(column, !negated), null()]),
                    // As in PostgreSQL, these are not used.
                    BoolTestKind::IsUnknown | BoolTestKind::IsNotUnknown => Pruning::All,
                }
            }
            Expr::Bool(b) if b.boolop == BoolOp::Not => match flag(&b.args[0]) {
                Some(column) => equals(column, false),
                None => Pruning::All,
            },
            e => flag(e).map_or(Pruning::All, |column| equals(column, true)),
        }
    }

    fn comparison(&mut self, op: &OpExpr) -> Result<Pruning> {
        let [left, right] = op.args.as_slice() else { return Ok(Pruning::All) };
        let (column, value, opno) = match (self.column_of(left), self.column_of(right)) {
            (Some(column), _) => (column, right, op.opno),
            (None, Some(column)) => match self.host.operator(op.opno)?.commutator.valid() {
                Some(commutator) => (column, left, commutator),
                None => return Ok(Pruning::All),
            },
            _ => return Ok(Pruning::All),
        };
        if !self.is_usable(column, op.inputcollid, value)? {
            return Ok(Pruning::All);
        }
        Ok(match self.test(column, opno, value.clone())? {
            Some(test) => one(column, test),
            None => Pruning::All,
        })
    }

    /// True if the value may be compared with the key: it depends on no row of the table, and each
    /// evaluation gives the same result.
    fn is_usable(&mut self, column: usize, collation: Oid, value: &Expr) -> Result<bool> {
        let of_key = self.key.columns[column].collation;
        let subplans = walk::any(value, &mut |e| matches!(e, Expr::SubPlan(_) | Expr::SubLink(_)));
        Ok((!of_key.is_valid() || collation == of_key)
            && !subplans
            && !relids_of(value).contains(&self.rti)
            && eval::volatility(value, self.host)? != Volatility::Volatile)
    }

    /// `column opno value` as a test.
    fn test(&mut self, column: usize, opno: Oid, value: Expr) -> Result<Option<KeyTest>> {
        let KeyColumn { family, .. } = self.key.columns[column];
        let info = self.host.operator(opno)?;
        if !info.strict {
            return Ok(None);
        }
        let value_type = info.right;
        if let Some(strategy) = self.host.strategy(opno, family)? {
            if self.key.strategy == PartStrategy::Hash {
                // The only strategy is equality. Types with hashes of their own are not compared.
                return Ok((strategy == StrategyNumber(1)
                    && self.has_hash_of(column, info.left, value_type))
                .then_some(KeyTest::Compare { strategy: btree::EQUAL, value, value_type }));
            }
            return Ok(Some(KeyTest::Compare { strategy, value, value_type }));
        }
        if self.key.strategy != PartStrategy::List {
            return Ok(None);
        }
        let Some(negator) = info.negator.valid() else { return Ok(None) };
        let equal = self.host.strategy(negator, family)? == Some(btree::EQUAL);
        Ok(equal.then_some(KeyTest::NotEqual { value, value_type }))
    }

    /// True if values of the type have the hashes of the key column's type.
    fn has_hash_of(&self, column: usize, left: Oid, right: Oid) -> bool {
        let integer = |ty| matches!(ty, oids::INT2 | oids::INT4 | oids::INT8);
        let of_key = self.key.columns[column].input;
        left == right || integer(of_key) && integer(right)
    }

    fn array_comparison(&mut self, op: &ScalarArrayOpExpr) -> Result<Pruning> {
        let [left, array] = op.args.as_slice() else { return Ok(Pruning::All) };
        let Some(column) = self.column_of(left) else { return Ok(Pruning::All) };
        if !self.is_usable(column, op.inputcollid, array)? {
            return Ok(Pruning::All);
        }
        let Some(values) = self.elements(array)? else { return Ok(Pruning::All) };
        let mut parts = Vec::with_capacity(values.len());
        for value in values {
            match self.test(column, op.opno, value)? {
                Some(test) => parts.push(one(column, test)),
                None => return Ok(Pruning::All),
            }
        }
        Ok(if op.use_or { any_of(parts) } else { all_of(parts) })
    }

    /// The elements of the array as expressions, if their number is known.
    fn elements(&mut self, array: &Expr) -> Result<Option<Vec<Expr>>> {
        match strip(array) {
            Expr::Const(c) if c.is_null() => Ok(Some(vec![])),
            Expr::Const(c) => {
                let array = ArrayRef::new(c.value.as_ref())?;
                if array.count() > ELEMENTS_MAX {
                    return Ok(None);
                }
                let element = array.elem_type();
                let info = self.host.type_info(element)?;
                let constant = |value: Datum| {
                    Expr::Const(Const {
                        consttype: element,
                        consttypmod: -1,
                        constcollid: c.constcollid,
                        constlen: info.len,
                        constbyval: info.by_val,
                        value,
                        location: Location::UNKNOWN,
                    })
                };
                Ok(Some(array.iter(&info).map(|v| constant(v.to_owned())).collect()))
            }
            Expr::Array(a) if !a.multidims => Ok(Some(a.elements.clone())),
            _ => Ok(None),
        }
    }
}

/// The expression of a key, which is over range-table entry 1, over entry `rti`.
fn renumbered(e: &Expr, rti: i32) -> Expr {
    let mut e = e.clone();
    walk::deep_expr_mut(&mut e, 0, &mut |e, level| {
        if let Expr::Var(v) = e
            && v.varlevelsup == level
        {
            v.varno = rti;
        }
        true
    });
    e
}
