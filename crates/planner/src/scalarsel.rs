//! Selectivity of comparisons with constants, by most common values and histogram. Counterpart:
//! selfuncs.c (`eqsel`, `scalarineqsel`, `ineq_histogram_selectivity`).

use crate::selectivity::DEFAULT_RANGE_ONE;
use crate::state::{Planner, PlannerInfo};
use crate::variable::{CTID, VariableStats};
use ids::{Oid, Tid};
use pgerror::Result;
use plan::expr::{Expr, Location, OpExpr, Var};
use querytree::crosstype::scalars;
use querytree::host::{ColumnStats, OperatorInfo};
use types::compare::Comparer;
use types::{Datum, oids};

/// A condition `variable operator value` on the columns of one relation.
pub(crate) struct Restriction<'a> {
    pub op: &'a OpExpr,
    pub info: &'a OperatorInfo,
    pub var: &'a Expr,
    pub v: &'a VariableStats,
    /// The value of the other operand, if it is known.
    pub value: Option<&'a Datum>,
    pub value_type: Oid,
    /// The variable is the right operand.
    pub flipped: bool,
}

/// Direction of an inequality, and whether it includes equality.
#[derive(Clone, Copy)]
pub(crate) struct Side {
    pub less: bool,
    pub equal: bool,
}

impl Side {
    /// The direction of an operator with one of the estimators `scalarltsel`, `scalarlesel`,
    /// `scalargtsel` and `scalargesel`.
    fn of_estimator(name: &str, flipped: bool) -> Side {
        Side { less: name.starts_with("scalarl") != flipped, equal: name.ends_with("esel") }
    }
}

/// Tests a value of the column.
pub(crate) type Test<'t> = dyn FnMut(&Datum) -> Result<bool> + 't;

/// True if values of one type are compared as those of the other one.
fn is_same_order(a: Oid, b: Oid) -> bool {
    let is_integer = |ty| matches!(ty, oids::INT2 | oids::INT4 | oids::INT8);
    let is_text = |ty| matches!(ty, oids::TEXT | oids::VARCHAR);
    a == b || is_integer(a) && is_integer(b) || is_text(a) && is_text(b)
}

impl VariableStats {
    pub(crate) fn nulls(&self) -> f64 {
        self.stats.as_ref().map_or(0.0, |s| s.null_frac)
    }

    /// Fraction of the rows with a value that satisfies `is_equal`. Counterpart: `var_eq_const`.
    pub(crate) fn equal_fraction(&self, is_equal: &mut Test<'_>) -> Result<f64> {
        if self.unique && self.rows >= 1.0 {
            return Ok(1.0 / self.rows);
        }
        let Some(s) = &self.stats else { return Ok(1.0 / self.distinct) };
        for (value, frequency) in s.mcv.iter().zip(&s.mcv_freq) {
            if is_equal(value)? {
                return Ok(*frequency);
            }
        }
        let mut one = (1.0 - s.mcv_freq.iter().sum::<f64>() - s.null_frac).clamp(0.0, 1.0);
        let others = self.distinct - s.mcv_freq.len() as f64;
        if others > 1.0 {
            one /= others;
        }
        // Not more than the frequency of the last most common value.
        Ok(s.mcv_freq.last().map_or(one, |&least| one.min(least)))
    }

    /// Fraction of the rows with an unknown value. Counterpart: `var_eq_non_const`.
    fn unknown_fraction(&self) -> f64 {
        if self.unique && self.rows >= 1.0 {
            return 1.0 / self.rows;
        }
        let Some(s) = &self.stats else { return 1.0 / self.distinct };
        let mut one = 1.0 - s.null_frac;
        if self.distinct > 1.0 {
            one /= self.distinct;
        }
        s.mcv_freq.first().map_or(one, |&most| one.min(most))
    }
}

impl Planner<'_> {
    /// Whether the operator holds for each of these values of the variable.
    pub(crate) fn holds(
        &mut self,
        opno: Oid,
        c: &Restriction<'_>,
        value: &Datum,
        values: &[Datum],
    ) -> Result<Vec<bool>> {
        let value = self.constant(value.clone(), c.value_type, c.op.inputcollid)?;
        let op = OpExpr { opno, opfuncid: self.host.operator_function(opno)?, ..c.op.clone() };
        self.operator_holds(&op, (c.v.type_oid, c.var.collation()), value, c.flipped, values)
    }

    /// Whether the operator holds for each of these values of a column and the constant.
    pub(crate) fn operator_holds(
        &mut self,
        op: &OpExpr,
        (vartype, varcollid): (Oid, Oid),
        constant: Expr,
        flipped: bool,
        values: &[Datum],
    ) -> Result<Vec<bool>> {
        let column = Expr::Var(Var {
            varno: 1,
            varattno: 1,
            vartype,
            vartypmod: -1,
            varcollid,
            varlevelsup: 0,
            location: Location::UNKNOWN,
        });
        let args = if flipped { vec![constant, column] } else { vec![column, constant] };
        self.host.try_values(&OpExpr { args, ..op.clone() }, values)
    }

    /// The comparer of the column's values, if it decides the operator between them and the value.
    fn comparer(&mut self, opno: Oid, c: &Restriction<'_>) -> Result<Option<Comparer>> {
        if !is_same_order(c.v.type_oid, c.value_type) || !self.is_ordered_by(opno, c.v.type_oid)? {
            return Ok(None);
        }
        // Integers of different types are compared as the widest type.
        let is_narrow = matches!(c.v.type_oid, oids::INT2 | oids::INT4);
        let ty = if is_narrow && c.value_type != c.v.type_oid { oids::INT8 } else { c.v.type_oid };
        Ok(self.host.type_compare(ty, c.op.inputcollid).ok())
    }

    /// True if the operator is a member of the type's default B-tree family.
    fn is_ordered_by(&mut self, opno: Oid, ty: Oid) -> Result<bool> {
        let less = self.host.default_operators(ty)?.lt;
        if !less.is_valid() {
            return Ok(false);
        }
        let Some(order) = self.host.ordering(less)? else { return Ok(false) };
        Ok(self.host.strategy(opno, order.family)?.is_some())
    }

    /// Selectivity of an equality, or of its negation.
    pub(crate) fn equality_selectivity(
        &mut self,
        c: &Restriction<'_>,
        negated: bool,
    ) -> Result<f64> {
        let fraction = match c.value {
            None => c.v.unknown_fraction(),
            Some(value) => {
                let opno = if negated { c.info.negator } else { c.op.opno };
                match self.comparer(opno, c)? {
                    Some(cmp) => c.v.equal_fraction(&mut |m| {
                        Ok(cmp.order(m.as_ref(), value.as_ref(), c.op.inputcollid).is_eq())
                    })?,
                    None if !opno.is_valid() => c.v.unknown_fraction(),
                    None => c.v.equal_fraction(&mut |m| {
                        let found = self.holds(opno, c, value, std::slice::from_ref(m))?;
                        Ok(found.first() == Some(&true))
                    })?,
                }
            }
        };
        let fraction = if negated { 1.0 - fraction - c.v.nulls() } else { fraction };
        Ok(fraction.clamp(0.0, 1.0))
    }

    /// Selectivity of `<`, `<=`, `>` or `>=`.
    pub(crate) fn inequality_selectivity(
        &mut self,
        root: &PlannerInfo,
        c: &Restriction<'_>,
    ) -> Result<f64> {
        let side = Side::of_estimator(&c.info.restrict, c.flipped);
        let Some(value) = c.value else { return Ok(DEFAULT_RANGE_ONE) };
        let Some(stats) = c.v.stats.clone() else {
            return Ok(tid_fraction(root, c.var, value, side).unwrap_or(DEFAULT_RANGE_ONE));
        };
        let opno = c.op.opno;
        let cmp = self.comparer(opno, c)?;
        let test = |planner: &mut Self, m: &Datum| -> Result<bool> {
            let Some(cmp) = &cmp else {
                let found = planner.holds(opno, c, value, std::slice::from_ref(m))?;
                return Ok(found.first() == Some(&true));
            };
            let order = cmp.order(m.as_ref(), value.as_ref(), c.op.inputcollid);
            Ok(if order.is_eq() { side.equal } else { order.is_lt() == side.less })
        };
        let (mut common, mut all) = (0.0, 0.0);
        for (m, frequency) in stats.mcv.iter().zip(&stats.mcv_freq) {
            if test(self, m)? {
                common += frequency;
            }
            all += frequency;
        }
        let is_sorted = stats.histogram_collation == c.op.inputcollid
            && (cmp.is_some() || self.is_ordered_by(opno, c.v.type_oid)?);
        let fraction = match stats.histogram.len() {
            0 | 1 => 0.5,
            bounds if !is_sorted => {
                let mut hits = 0;
                for bound in &stats.histogram {
                    hits += usize::from(test(self, bound)?);
                }
                believable(hits as f64 / bounds as f64, bounds)
            }
            bounds => {
                let others = c.v.distinct - stats.mcv_freq.len() as f64;
                let types = (c.v.type_oid, c.value_type);
                let inequality = Inequality { stats: &stats, others, side };
                let fraction =
                    inequality.fraction(&mut |m| test(self, m), (value, types.1), types.0)?;
                believable(fraction, bounds)
            }
        };
        Ok((((1.0 - stats.null_frac) - all) * fraction + common).clamp(0.0, 1.0))
    }
}

/// The fraction, unless it is smaller or larger than a histogram can tell.
pub(crate) fn believable(fraction: f64, bounds: usize) -> f64 {
    let least = 0.01 / (bounds - 1) as f64;
    fraction.clamp(least, 1.0 - least)
}

/// An inequality on the values of a histogram.
pub(crate) struct Inequality<'a> {
    pub stats: &'a ColumnStats,
    /// Number of distinct values that are not most common values.
    pub others: f64,
    pub side: Side,
}

impl Inequality<'_> {
    /// Fraction of the values of the histogram that satisfy the inequality. `test` tells whether a
    /// bound does; it is true for the first bounds only, or for the last ones.
    pub(crate) fn fraction(
        &self,
        test: &mut Test<'_>,
        (value, value_type): (&Datum, Oid),
        bound_type: Oid,
    ) -> Result<f64> {
        let bounds = &self.stats.histogram;
        let (mut low, mut high) = (0, bounds.len());
        while low < high {
            let probe = (low + high) / 2;
            if test(&bounds[probe])? == self.side.less {
                low = probe + 1;
            } else {
                high = probe;
            }
        }
        let below = low;
        let fraction = if below == 0 {
            0.0
        } else if below == bounds.len() {
            1.0
        } else {
            let ends = (bounds[below - 1].as_ref(), bounds[below].as_ref());
            let within = match scalars(ends, bound_type, value.as_ref(), value_type) {
                Some((low, high, _)) if high <= low => 0.5,
                Some((low, _, value)) if value <= low => 0.0,
                Some((_, high, value)) if value >= high => 1.0,
                Some((low, high, value)) => {
                    let within = (value - low) / (high - low);
                    if (0.0..=1.0).contains(&within) { within } else { 0.5 }
                }
                None => 0.5,
            };
            let mut upto = ((below - 1) as f64 + within) / (bounds.len() - 1) as f64;
            // A bound ends its bin, so that the fraction includes the value; only the first bound
            // begins a bin.
            let one = if self.others > 1.0 { 1.0 / self.others } else { 0.0 };
            if below == 1 {
                upto += one * (1.0 - within);
            }
            if self.side.less != self.side.equal {
                upto -= one;
            }
            upto
        };
        Ok(if self.side.less { fraction } else { 1.0 - fraction })
    }
}

/// Selectivity of an inequality on values that are compared as those of the column. Counterpart:
/// `scalarineqsel`.
pub(crate) fn range_selectivity(
    v: &VariableStats,
    s: &ColumnStats,
    value: &Datum,
    cmp: &Comparer,
    side: Side,
) -> f64 {
    let mut test = |m: &Datum| {
        let order = cmp.order(m.as_ref(), value.as_ref(), ids::builtin::collation::DEFAULT);
        Ok(if order.is_eq() { side.equal } else { order.is_lt() == side.less })
    };
    let common: f64 = s
        .mcv
        .iter()
        .zip(&s.mcv_freq)
        .filter(|(m, _)| test(m).unwrap_or_default())
        .map(|c| c.1)
        .sum();
    let fraction = match s.histogram.len() {
        0 | 1 => 0.5,
        bounds => {
            let others = v.distinct - s.mcv_freq.len() as f64;
            let inequality = Inequality { stats: s, others, side };
            let value = (value, v.type_oid);
            believable(inequality.fraction(&mut test, value, v.type_oid).unwrap_or(0.5), bounds)
        }
    };
    let rest = 1.0 - s.null_frac - s.mcv_freq.iter().sum::<f64>();
    (rest * fraction + common).clamp(0.0, 1.0)
}

/// Fraction of the rows of a table on one side of a TID; `None` if the variable is not `ctid`.
fn tid_fraction(root: &PlannerInfo, var: &Expr, value: &Datum, side: Side) -> Option<f64> {
    let Expr::Var(v) = var else { return None };
    let rel = root.rels.get(&v.varno).filter(|_| v.varattno == CTID)?;
    let pages = rel.table.as_ref()?.pages;
    if pages == 0.0 {
        return Some(1.0);
    }
    let tid = Tid::from_bytes(value.as_ref().as_bytes().try_into().ok()?);
    let mut block = f64::from(tid.block.0);
    // The last page is assumed to be half full.
    let mut density = rel.tuples / (pages - 0.5);
    if block >= pages - 1.0 {
        density *= 0.5;
    }
    if density > 0.0 {
        block += (f64::from(tid.offset) / density).min(1.0);
    }
    let mut fraction = block / (pages - 0.5);
    if side.equal != side.less && rel.tuples >= 1.0 {
        fraction -= 1.0 / rel.tuples;
    }
    Some((if side.less { fraction } else { 1.0 - fraction }).clamp(0.0, 1.0))
}
