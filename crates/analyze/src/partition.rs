//! Partition constraints: the conditions that the rows of a partition satisfy. They come from the
//! bounds of the partition and of the partitioned tables above it. The constraint of a default
//! partition is that no sibling accepts the row.
//!
//! A bound of a range is a row of values, compared lexicographically. The condition is a
//! disjunction: `a > 1 OR a = 1 AND b >= 2`. Leading columns in which both bounds are equal come
//! first, as equalities.
//!
//! Counterpart: partitioning/partbounds.c (`get_qual_from_partbound`), utils/cache/partcache.c
//! (`get_partition_qual_relid`).

use crate::session::{Host, SessionLookup};
use crate::stored::malformed;
use crate::{coerce, stored, ty, walk};
use catalog::cache;
use catalog::rows::indexes::{PG_INHERITS_PARENT_INDEX, PG_INHERITS_RELID_SEQNO_INDEX};
use ids::builtin::proc::SATISFIES_HASH_PARTITION;
use ids::strategy::btree::{EQUAL, GREATER, GREATER_EQUAL, LESS, LESS_EQUAL};
use ids::{AttrNo, Oid, StrategyNumber};
use pgerror::{PgError, Result};
use plan::expr::{
    ArrayExpr, BoolExpr, BoolOp, CoercionForm, Const, Expr, FuncExpr, Location, NullTest, OpExpr,
    RelabelType, ScalarArrayOpExpr, Var,
};
use plan::nodetree::{PartitionBound, RangeDatum, read_partition_bound};
use std::cmp::Ordering;
use types::Datum;

/// A column of a partition key.
struct Column {
    expr: Expr,
    family: Oid,
    /// The input type of the operator class.
    input: Oid,
    collation: Oid,
}

/// The partition key of a table.
struct Key {
    table: Oid,
    columns: Vec<Column>,
}

/// The partition constraint as a list of conditions joined by AND. It is empty if the relation is
/// not a partition, or if it accepts all rows.
pub fn partition_conditions(host: &mut dyn Host, partition: Oid) -> Result<Vec<Expr>> {
    let mut levels = Vec::new();
    let mut at = partition;
    while let Some(class) = host.catalog().find_class(at)?.filter(|c| c.relispartition) {
        let above = host.catalog().scan(PG_INHERITS_RELID_SEQNO_INDEX, &[at.into()])?;
        let Some(above) = above.first() else { break };
        at = above.inhparent;
        // Indexes of partitions have no bound.
        if let Some(bound) = &class.relpartbound {
            levels.push((at, bound_of(bound.as_str())?));
        }
    }
    let mut out = Vec::new();
    for (table, bound) in levels.iter().rev() {
        for mut condition in Key::of(host, *table)?.conditions(host, bound)? {
            rename(host, &mut condition, *table, partition)?;
            out.push(condition);
        }
    }
    Ok(out)
}

fn bound_of(text: &str) -> Result<PartitionBound> {
    read_partition_bound(text)?.ok_or_else(malformed)
}

/// Replaces references to columns of `from` by the columns of the same names in `to`.
fn rename(host: &mut dyn Host, e: &mut Expr, from: Oid, to: Oid) -> Result<()> {
    let mut outcome = Ok(());
    walk::expr_deep_mut(e, 0, &mut |e, _| {
        if let (Expr::Var(var), Ok(())) = (e, &outcome) {
            match column_like(host, from, var.varattno, to) {
                Ok(number) => var.varattno = number,
                Err(e) => outcome = Err(e),
            }
        }
        true
    });
    outcome
}

fn column_like(host: &mut dyn Host, from: Oid, number: AttrNo, to: Oid) -> Result<AttrNo> {
    let column = host.catalog().attribute(from, number)?.ok_or_else(malformed)?;
    let other = host.catalog().attribute_named(to, column.attname.as_str())?;
    Ok(other.ok_or_else(malformed)?.attnum)
}

impl Key {
    fn of(host: &mut dyn Host, table: Oid) -> Result<Key> {
        let row = host.catalog().search(cache::PARTRELID, &[table.into()])?;
        let row = row.ok_or_else(malformed)?;
        let mut exprs = match &row.partexprs {
            Some(text) => stored::exprs(&mut SessionLookup::new(host), text.as_str())?,
            None => Vec::new(),
        }
        .into_iter();
        let mut columns = Vec::new();
        for (i, &number) in row.partattrs.iter().enumerate() {
            let expr = if number == 0 {
                exprs.next().ok_or_else(malformed)?
            } else {
                let a = host.catalog().attribute(table, number)?.ok_or_else(malformed)?;
                Expr::Var(Var {
                    varno: 1,
                    varattno: number,
                    vartype: a.atttypid,
                    vartypmod: a.atttypmod,
                    varcollid: a.attcollation,
                    varlevelsup: 0,
                    location: Location::UNKNOWN,
                })
            };
            let class = host.catalog().opclass(*row.partclass.get(i).ok_or_else(malformed)?)?;
            columns.push(Column {
                expr,
                family: class.opcfamily,
                input: class.opcintype,
                collation: row.partcollation.get(i).copied().unwrap_or_default(),
            });
        }
        Ok(Key { table, columns })
    }

    fn conditions(&self, host: &mut dyn Host, bound: &PartitionBound) -> Result<Vec<Expr>> {
        match bound {
            PartitionBound::Default => Ok(self.default_condition(host)?.into_iter().collect()),
            PartitionBound::List(values) => self.list_condition(host, values.iter().collect()),
            PartitionBound::Range { from, to } => {
                let mut out = self.not_null();
                out.extend(self.range_condition(host, from, to)?);
                Ok(out)
            }
            PartitionBound::Hash { modulus, remainder } => {
                let table = Expr::Const(Const {
                    consttype: ty::OID,
                    consttypmod: -1,
                    constcollid: Oid::INVALID,
                    constlen: 4,
                    constbyval: true,
                    value: Datum::oid(self.table),
                    location: Location::UNKNOWN,
                });
                let mut args =
                    vec![table, coerce::int4_const(*modulus), coerce::int4_const(*remainder)];
                args.extend(self.columns.iter().map(|c| c.expr.clone()));
                Ok(vec![Expr::FuncExpr(Box::new(FuncExpr {
                    funcid: SATISFIES_HASH_PARTITION,
                    funcresulttype: ty::BOOL,
                    funcretset: false,
                    funcvariadic: false,
                    funcformat: CoercionForm::ExplicitCall,
                    funccollid: Oid::INVALID,
                    inputcollid: Oid::INVALID,
                    args,
                    location: Location::UNKNOWN,
                }))])
            }
        }
    }

    /// The constraint of a default partition: no other partition accepts the row. `None` if there
    /// are no others.
    fn default_condition(&self, host: &mut dyn Host) -> Result<Option<Expr>> {
        let (mut values, mut ranges) = (Vec::new(), Vec::new());
        let children = host.catalog().scan(PG_INHERITS_PARENT_INDEX, &[self.table.into()])?;
        for child in children.iter().filter(|c| !c.inhdetachpending) {
            let class = host.catalog().class(child.inhrelid)?;
            match bound_of(class.relpartbound.as_ref().ok_or_else(malformed)?.as_str())? {
                PartitionBound::List(list) => values.extend(list),
                PartitionBound::Range { from, to } => ranges.push((from, to)),
                PartitionBound::Default | PartitionBound::Hash { .. } => {}
            }
        }
        let order = self.order(host)?;
        let taken = if !values.is_empty() {
            let mut values: Vec<&Expr> = values.iter().collect();
            values.sort_by(|a, b| order.compare_values(0, a, b));
            all_of(self.list_condition(host, values)?)
        } else if !ranges.is_empty() {
            ranges.sort_by(|a, b| order.compare_bounds(&a.0, &b.0));
            let mut disjuncts = Vec::with_capacity(ranges.len());
            for (from, to) in &ranges {
                let disjunct = self.range_condition(host, from, to)?;
                disjuncts.push(all_of(if disjunct.is_empty() {
                    self.not_null()
                } else {
                    disjunct
                }));
            }
            let mut all = self.not_null();
            all.push(any_of(disjuncts));
            all_of(all)
        } else {
            return Ok(None);
        };
        Ok(Some(boolean(BoolOp::Not, vec![taken])))
    }

    fn not_null(&self) -> Vec<Expr> {
        self.columns.iter().map(|c| c.null_test(true)).collect()
    }

    /// The condition of a list partition: the key is one of the values.
    fn list_condition(&self, host: &mut dyn Host, mut values: Vec<&Expr>) -> Result<Vec<Expr>> {
        let column = self.columns.first().ok_or_else(malformed)?;
        let count = values.len();
        values.retain(|v| !matches!(v, Expr::Const(c) if c.is_null()));
        let has_null = values.len() < count;
        let null = column.null_test(!has_null);
        if values.is_empty() {
            return Ok(vec![null]);
        }
        let equal = column.one_of(host, &values)?;
        Ok(if has_null { vec![any_of(vec![null, equal])] } else { vec![null, equal] })
    }

    /// The condition that the key, which is not null, is in the range. The lower bound is
    /// inclusive, the upper one exclusive.
    fn range_condition(
        &self,
        host: &mut dyn Host,
        from: &[RangeDatum],
        to: &[RangeDatum],
    ) -> Result<Vec<Expr>> {
        let order = self.order(host)?;
        let same = |n: usize| match (&from[n], &to[n]) {
            (RangeDatum::Value(a), RangeDatum::Value(b)) => order.compare_values(n, a, b).is_eq(),
            _ => false,
        };
        let count = self.columns.len();
        if from.len() != count || to.len() != count {
            return Err(malformed());
        }
        let first_different = (0..count).find(|n| !same(*n)).ok_or_else(malformed)?;
        let mut out = Vec::new();
        for (column, end) in self.columns.iter().zip(from).take(first_different) {
            if let RangeDatum::Value(value) = end {
                out.push(column.compared(host, EQUAL, value)?);
            }
        }
        out.extend(self.bound_condition(host, first_different, from, true)?);
        out.extend(self.bound_condition(host, first_different, to, false)?);
        Ok(out)
    }

    /// The condition that the key columns from `first` on are at or above the bound (`above`) or
    /// below it. `None` if every key satisfies it.
    fn bound_condition(
        &self,
        host: &mut dyn Host,
        first: usize,
        end: &[RangeDatum],
        above: bool,
    ) -> Result<Option<Expr>> {
        let (mut disjuncts, mut equal) = (Vec::new(), Vec::new());
        for (n, column) in self.columns.iter().enumerate().skip(first) {
            let RangeDatum::Value(value) = &end[n] else { break };
            // The operator includes equality if all values of the next column are in the range.
            let inclusive = match end.get(n + 1) {
                None | Some(RangeDatum::Least) => above,
                Some(RangeDatum::Greatest) => !above,
                Some(RangeDatum::Value(_)) => false,
            };
            let strategy = match (above, inclusive) {
                (true, true) => GREATER_EQUAL,
                (true, false) => GREATER,
                (false, true) => LESS_EQUAL,
                (false, false) => LESS,
            };
            let mut disjunct = equal.clone();
            disjunct.push(column.compared(host, strategy, value)?);
            disjuncts.push(all_of(disjunct));
            equal.push(column.compared(host, EQUAL, value)?);
        }
        Ok((!disjuncts.is_empty()).then(|| any_of(disjuncts)))
    }

    fn order(&self, host: &mut dyn Host) -> Result<KeyOrder> {
        let mut columns = Vec::with_capacity(self.columns.len());
        for column in &self.columns {
            let mut cat = host.catalog();
            let proc = cat.family_proc(column.family, column.input, column.input, 1)?;
            let proc = cat.function(proc.ok_or_else(malformed)?)?;
            let name = proc.prosrc.as_str();
            let compare = cat.comparer(name, column.expr.type_oid(), column.collation)?;
            let compare = compare.ok_or_else(|| {
                PgError::unsupported(format!("ordering by function {}", proc.proname))
            })?;
            columns.push((compare, column.collation));
        }
        Ok(KeyOrder { columns })
    }
}

/// Compares bound values by the partition key's operator classes and collations.
struct KeyOrder {
    columns: Vec<(types::compare::Comparer, Oid)>,
}

impl KeyOrder {
    /// NULLs last.
    fn compare_values(&self, n: usize, a: &Expr, b: &Expr) -> Ordering {
        let (Expr::Const(a), Expr::Const(b)) = (a, b) else { return Ordering::Equal };
        let (compare, collation) = &self.columns[n];
        match (a.is_null(), b.is_null()) {
            (false, false) => compare.order(a.value.as_ref(), b.value.as_ref(), *collation),
            (a, b) => a.cmp(&b),
        }
    }

    fn compare_bounds(&self, a: &[RangeDatum], b: &[RangeDatum]) -> Ordering {
        let rank = |end: &RangeDatum| match end {
            RangeDatum::Least => 0,
            RangeDatum::Value(_) => 1,
            RangeDatum::Greatest => 2,
        };
        for (n, (a, b)) in a.iter().zip(b).enumerate().take(self.columns.len()) {
            let order = match (a, b) {
                (RangeDatum::Value(a), RangeDatum::Value(b)) => self.compare_values(n, a, b),
                _ => rank(a).cmp(&rank(b)),
            };
            if order.is_ne() {
                return order;
            }
        }
        Ordering::Equal
    }
}

impl Column {
    fn null_test(&self, is_not: bool) -> Expr {
        Expr::NullTest(Box::new(NullTest {
            arg: self.expr.clone(),
            is_not,
            argisrow: false,
            location: Location::UNKNOWN,
        }))
    }

    /// The key column as operand, relabelled if the operator class has another input type or the
    /// key another collation.
    fn operand(&self) -> Expr {
        let other = self.expr.type_oid() != self.input
            && self.input != ty::RECORD
            && !ty::is_polymorphic(self.input);
        if !other && self.collation == self.expr.collation() {
            return self.expr.clone();
        }
        Expr::Relabel(Box::new(RelabelType {
            arg: self.expr.clone(),
            resulttype: self.input,
            resulttypmod: -1,
            resultcollid: self.collation,
            relabelformat: CoercionForm::ExplicitCast,
            location: Location::UNKNOWN,
        }))
    }

    fn operator(&self, host: &mut dyn Host, strategy: StrategyNumber) -> Result<Oid> {
        let found = host.catalog().family_member(self.family, self.input, self.input, strategy)?;
        found.ok_or_else(malformed)
    }

    fn compared(
        &self,
        host: &mut dyn Host,
        strategy: StrategyNumber,
        value: &Expr,
    ) -> Result<Expr> {
        Ok(Expr::OpExpr(Box::new(OpExpr {
            opno: self.operator(host, strategy)?,
            opfuncid: Oid::INVALID,
            opresulttype: ty::BOOL,
            opretset: false,
            opcollid: Oid::INVALID,
            inputcollid: self.collation,
            args: vec![self.operand(), value.clone()],
            location: Location::UNKNOWN,
        })))
    }

    fn one_of(&self, host: &mut dyn Host, values: &[&Expr]) -> Result<Expr> {
        let element = self.expr.type_oid();
        // There are no arrays of arrays.
        if values.len() == 1 || host.catalog().element_type(element)?.is_valid() {
            let disjuncts = values.iter().map(|v| self.compared(host, EQUAL, v));
            return Ok(any_of(disjuncts.collect::<Result<_>>()?));
        }
        let array = Expr::Array(Box::new(ArrayExpr {
            array_typeid: host.catalog().array_type(element)?,
            array_collid: self.expr.collation(),
            element_typeid: element,
            elements: values.iter().map(|v| (*v).clone()).collect(),
            multidims: false,
            location: Location::UNKNOWN,
        }));
        Ok(Expr::ScalarArrayOp(Box::new(ScalarArrayOpExpr {
            opno: self.operator(host, EQUAL)?,
            opfuncid: Oid::INVALID,
            hashfuncid: Oid::INVALID,
            negfuncid: Oid::INVALID,
            use_or: true,
            inputcollid: self.collation,
            args: vec![self.operand(), array],
            location: Location::UNKNOWN,
        })))
    }
}

fn boolean(boolop: BoolOp, args: Vec<Expr>) -> Expr {
    Expr::Bool(Box::new(BoolExpr { boolop, args, location: Location::UNKNOWN }))
}

/// The disjunction of the conditions; there is at least one.
fn any_of(mut disjuncts: Vec<Expr>) -> Expr {
    if disjuncts.len() == 1 { disjuncts.remove(0) } else { boolean(BoolOp::Or, disjuncts) }
}

/// The conjunction of the conditions; there is at least one.
pub fn all_of(mut parts: Vec<Expr>) -> Expr {
    if parts.len() == 1 { parts.remove(0) } else { boolean(BoolOp::And, parts) }
}
