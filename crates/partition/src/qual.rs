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

use crate::bound::Bound;
use crate::desc::{Bounds, PartitionDesc, partition_desc};
use crate::key::{KeyColumn, PartitionKey, partition_key};
use crate::malformed;
use crate::map::map_to_child;
use crate::tree::Detached;
use catalog::rows::indexes::PG_INHERITS_RELID_SEQNO_INDEX;
use catalog::{CatCx, RelDesc};
use ids::builtin::proc::SATISFIES_HASH_PARTITION;
use ids::code::PartStrategy;
use ids::strategy::btree::{EQUAL, GREATER, GREATER_EQUAL, LESS, LESS_EQUAL};
use ids::{Oid, StrategyNumber};
use pgerror::Result;
use plan::expr::{
    ArrayExpr, BoolExpr, BoolOp, CoercionForm, Const, Expr, FuncExpr, Location, NullTest, OpExpr,
    RelabelType, ScalarArrayOpExpr,
};
use plan::nodetree::{PartitionBound, RangeDatum, read_partition_bound};
use types::{Datum, oids};

/// The partition constraint of a relation over its own columns (range-table entry 1), as a list of
/// conditions joined by AND. It is empty if the relation is not a partition, or if it accepts all
/// rows. Counterpart: `RelationGetPartitionQual`.
pub fn partition_qual(cat: &mut CatCx<'_>, partition: Oid) -> Result<Vec<Expr>> {
    let mut levels = Vec::new();
    let mut at = partition;
    while let Some(class) = cat.find_class(at)?.filter(|c| c.relispartition) {
        let above = cat.scan(PG_INHERITS_RELID_SEQNO_INDEX, &[at.into()])?;
        let Some(above) = above.first() else { break };
        at = above.inhparent;
        // Indexes of partitions have no bound.
        if let Some(bound) = &class.relpartbound {
            levels.push((at, bound_of(bound.as_str())?));
        }
    }
    let mut out = Vec::new();
    if levels.is_empty() {
        return Ok(out);
    }
    let own = cat.relation(partition)?;
    for (table, bound) in levels.iter().rev() {
        let table = cat.relation(*table)?;
        let mut conditions = qual_of_bound(cat, &table, bound)?;
        map_to_child(&mut conditions, &table, &own)?;
        out.extend(conditions);
    }
    Ok(out)
}

/// The conditions that a bound implies for the rows of a partition, over the columns of the
/// partitioned table. Counterpart: `get_qual_from_partbound`.
pub fn qual_of_bound(
    cat: &mut CatCx<'_>,
    parent: &RelDesc,
    bound: &PartitionBound,
) -> Result<Vec<Expr>> {
    let key = partition_key(cat, parent)?;
    key.conditions(cat, parent, bound)
}

fn bound_of(text: &str) -> Result<PartitionBound> {
    read_partition_bound(text)?.ok_or_else(malformed)
}

impl PartitionKey {
    fn conditions(
        &self,
        cat: &mut CatCx<'_>,
        parent: &RelDesc,
        bound: &PartitionBound,
    ) -> Result<Vec<Expr>> {
        match bound {
            PartitionBound::Default => {
                Ok(self.default_condition(cat, parent)?.into_iter().collect())
            }
            PartitionBound::List(values) => self.list_condition(cat, values.iter().collect()),
            PartitionBound::Range { from, to } => {
                let mut out = self.not_null();
                out.extend(self.range_condition(cat, from, to)?);
                Ok(out)
            }
            PartitionBound::Hash { modulus, remainder } => {
                let table = constant(oids::OID, Datum::oid(self.relid));
                let int4 = |value: i32| constant(oids::INT4, Datum::int4(value));
                let mut args = vec![table, int4(*modulus), int4(*remainder)];
                args.extend(self.columns.iter().map(|c| c.expr.clone()));
                Ok(vec![Expr::FuncExpr(Box::new(FuncExpr {
                    funcid: SATISFIES_HASH_PARTITION,
                    funcresulttype: oids::BOOL,
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
    fn default_condition(&self, cat: &mut CatCx<'_>, parent: &RelDesc) -> Result<Option<Expr>> {
        let desc = partition_desc(cat, parent, Detached::Include)?;
        let taken = match self.strategy {
            PartStrategy::Hash => return Ok(None),
            PartStrategy::List => self.listed(cat, &desc)?,
            PartStrategy::Range => self.in_ranges(cat, &desc)?,
        };
        Ok(taken.map(|taken| boolean(BoolOp::Not, vec![taken])))
    }

    /// The condition that a list partition that is not the default one accepts the row.
    fn listed(&self, cat: &mut CatCx<'_>, desc: &PartitionDesc) -> Result<Option<Expr>> {
        let Bounds::List { values, null } = &desc.bounds else { return Err(malformed()) };
        let column = self.columns.first().ok_or_else(malformed)?;
        let row = cat.type_row(column.ty)?;
        let constant = |value: Datum| {
            Expr::Const(Const {
                consttype: column.ty,
                consttypmod: column.typmod,
                constcollid: column.expr.collation(),
                constlen: row.typlen,
                constbyval: row.typbyval,
                value,
                location: Location::UNKNOWN,
            })
        };
        let mut list: Vec<Expr> = values.iter().map(|v| constant(v.0.clone())).collect();
        list.extend(null.map(|_| constant(Datum::Null)));
        if list.is_empty() {
            return Ok(None);
        }
        self.list_condition(cat, list.iter().collect()).map(|parts| Some(conjunction(parts)))
    }

    /// The condition that a range partition that is not the default one accepts the row.
    fn in_ranges(&self, cat: &mut CatCx<'_>, desc: &PartitionDesc) -> Result<Option<Expr>> {
        let mut disjuncts = Vec::new();
        for p in desc.partitions.iter().filter(|p| p.bound != Bound::Default) {
            let class = cat.class(p.oid)?;
            let text = class.relpartbound.as_ref().ok_or_else(malformed)?;
            let PartitionBound::Range { from, to } = bound_of(text.as_str())? else {
                return Err(malformed());
            };
            let disjunct = self.range_condition(cat, &from, &to)?;
            let all = if disjunct.is_empty() { self.not_null() } else { disjunct };
            disjuncts.push(conjunction(all));
        }
        if disjuncts.is_empty() {
            return Ok(None);
        }
        let mut all = self.not_null();
        all.push(any_of(disjuncts));
        Ok(Some(conjunction(all)))
    }

    fn not_null(&self) -> Vec<Expr> {
        self.columns.iter().map(|c| c.null_test(true)).collect()
    }

    /// The condition of a list partition: the key is one of the values.
    fn list_condition(&self, cat: &mut CatCx<'_>, mut values: Vec<&Expr>) -> Result<Vec<Expr>> {
        let column = self.columns.first().ok_or_else(malformed)?;
        let count = values.len();
        values.retain(|v| !matches!(v, Expr::Const(c) if c.is_null()));
        let has_null = values.len() < count;
        let null = column.null_test(!has_null);
        if values.is_empty() {
            return Ok(vec![null]);
        }
        let equal = column.one_of(cat, &values)?;
        Ok(if has_null { vec![any_of(vec![null, equal])] } else { vec![null, equal] })
    }

    /// The condition that the key, which is not null, is in the range. The lower bound is
    /// inclusive, the upper one exclusive.
    fn range_condition(
        &self,
        cat: &mut CatCx<'_>,
        from: &[RangeDatum],
        to: &[RangeDatum],
    ) -> Result<Vec<Expr>> {
        let same = |n: usize| match (&from[n], &to[n]) {
            (RangeDatum::Value(Expr::Const(a)), RangeDatum::Value(Expr::Const(b))) => {
                self.columns[n].order(a.value.as_ref(), b.value.as_ref()).is_eq()
            }
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
                out.push(column.compared(cat, EQUAL, value)?);
            }
        }
        out.extend(self.bound_condition(cat, first_different, from, true)?);
        out.extend(self.bound_condition(cat, first_different, to, false)?);
        Ok(out)
    }

    /// The condition that the key columns from `first` on are at or above the bound (`above`) or
    /// below it. `None` if every key satisfies it.
    fn bound_condition(
        &self,
        cat: &mut CatCx<'_>,
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
            disjunct.push(column.compared(cat, strategy, value)?);
            disjuncts.push(conjunction(disjunct));
            equal.push(column.compared(cat, EQUAL, value)?);
        }
        Ok((!disjuncts.is_empty()).then(|| any_of(disjuncts)))
    }
}

impl KeyColumn {
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
            && !matches!(
                self.input,
                oids::RECORD
                    | oids::ANYARRAY
                    | oids::ANYENUM
                    | oids::ANYRANGE
                    | oids::ANYMULTIRANGE
            );
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

    fn operator(&self, cat: &mut CatCx<'_>, strategy: StrategyNumber) -> Result<Oid> {
        let found = cat.family_member(self.family, self.input, self.input, strategy)?;
        found.ok_or_else(malformed)
    }

    fn compared(
        &self,
        cat: &mut CatCx<'_>,
        strategy: StrategyNumber,
        value: &Expr,
    ) -> Result<Expr> {
        Ok(Expr::OpExpr(Box::new(OpExpr {
            opno: self.operator(cat, strategy)?,
            opfuncid: Oid::INVALID,
            opresulttype: oids::BOOL,
            opretset: false,
            opcollid: Oid::INVALID,
            inputcollid: self.collation,
            args: vec![self.operand(), value.clone()],
            location: Location::UNKNOWN,
        })))
    }

    fn one_of(&self, cat: &mut CatCx<'_>, values: &[&Expr]) -> Result<Expr> {
        let element = self.expr.type_oid();
        // There are no arrays of arrays.
        if values.len() == 1 || cat.element_type(element)?.is_valid() {
            let disjuncts = values.iter().map(|v| self.compared(cat, EQUAL, v));
            return Ok(any_of(disjuncts.collect::<Result<_>>()?));
        }
        let array = Expr::Array(Box::new(ArrayExpr {
            array_typeid: cat.array_type(element)?,
            array_collid: self.expr.collation(),
            element_typeid: element,
            elements: values.iter().map(|v| (*v).clone()).collect(),
            multidims: false,
            location: Location::UNKNOWN,
        }));
        Ok(Expr::ScalarArrayOp(Box::new(ScalarArrayOpExpr {
            opno: self.operator(cat, EQUAL)?,
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

/// A constant of a type of four bytes.
fn constant(ty: Oid, value: Datum) -> Expr {
    Expr::Const(Const {
        consttype: ty,
        consttypmod: -1,
        constcollid: Oid::INVALID,
        constlen: 4,
        constbyval: true,
        value,
        location: Location::UNKNOWN,
    })
}

fn boolean(boolop: BoolOp, args: Vec<Expr>) -> Expr {
    Expr::Bool(Box::new(BoolExpr { boolop, args, location: Location::UNKNOWN }))
}

/// The disjunction of the conditions; there is at least one.
fn any_of(mut disjuncts: Vec<Expr>) -> Expr {
    if disjuncts.len() == 1 { disjuncts.remove(0) } else { boolean(BoolOp::Or, disjuncts) }
}

/// The conjunction of the conditions; there is at least one.
pub fn conjunction(mut parts: Vec<Expr>) -> Expr {
    if parts.len() == 1 { parts.remove(0) } else { boolean(BoolOp::And, parts) }
}
