//! Selectivity estimates of conditions, and estimates of the number of groups. Counterpart:
//! clausesel.c, selfuncs.c.

use crate::arraysel;
use crate::scalarsel::Restriction;
use crate::state::{Planner, PlannerInfo};
use crate::variable::VariableStats;
use eval::Volatility;
use pgerror::Result;
use plan::expr::{
    BoolOp, BoolTestKind, BooleanTest, CaseTestExpr, Const, Expr, FuncExpr, Location, OpExpr,
    ParamKind, RowCompareExpr, ScalarArrayOpExpr,
};
use querytree::host::ColumnStats;
use querytree::pattern::PatternKind;
use querytree::relids::Relids;
use querytree::vars::relids_of;
use std::sync::Arc;
use types::array::ArrayRef;
use types::network::estimate::{self as network_estimate, Inclusion, inclusion};
use types::ranges::estimate as range_estimate;
use types::textsearch::estimate::{self, CommonLexemes};
use types::{Datum, DatumRef};

const DEFAULT_EQ: f64 = 0.005;
pub(crate) const DEFAULT_RANGE_ONE: f64 = 1.0 / 3.0;
const DEFAULT_RANGE_PAIR: f64 = 0.005;
pub(crate) const DEFAULT_MATCH: f64 = 0.005;
/// Defaults of the estimators `matchingsel`, `contsel`, `areasel` and `positionsel`.
pub(crate) const DEFAULT_MATCHING: f64 = 0.01;
pub(crate) const DEFAULT_CONTAINED: f64 = 0.001;
const DEFAULT_AREA: f64 = 0.005;
pub(crate) const DEFAULT_POSITION: f64 = 0.1;
const DEFAULT_UNKNOWN: f64 = 0.005;
/// Default of a function call.
const DEFAULT_CALL: f64 = 0.333_333_3;
const NO_COLLATION: ids::Oid = ids::Oid::INVALID;
/// The number of elements that an unknown array is assumed to have.
const ELEMENTS_ASSUMED: usize = 10;

impl Planner<'_> {
    /// Selectivity for a parameterized scan of `rti`: columns of other relations are treated as
    /// unknown constants. Counterpart: `clauselist_selectivity` with a `varRelid`.
    pub(crate) fn lookup_selectivity(
        &mut self,
        root: &PlannerInfo,
        rti: i32,
        quals: &[Expr],
    ) -> Result<f64> {
        let before = self.lookup.replace(rti);
        let selectivity = self.selectivity_all(root, quals);
        self.lookup = before;
        selectivity
    }

    /// Selectivity of conditions combined by AND. A lower and an upper bound on the same column are
    /// estimated together. Counterpart: `clauselist_selectivity`.
    pub(crate) fn selectivity_all(&mut self, root: &PlannerInfo, quals: &[Expr]) -> Result<f64> {
        if let [one] = quals {
            return self.selectivity(root, one);
        }
        let (mut s, done) = self.extended_selectivity(root, quals, false)?;
        // (column, selectivity of the lower bound, of the upper bound)
        let mut ranges: Vec<(Expr, Option<f64>, Option<f64>)> = Vec::new();
        for q in quals.iter().zip(&done).filter(|(_, done)| !**done).map(|(q, _)| q) {
            match self.range_part(root, q)? {
                Some((var, is_lower, sel)) => {
                    let slot = match ranges.iter_mut().position(|r| r.0 == var) {
                        Some(i) => &mut ranges[i],
                        None => {
                            ranges.push((var, None, None));
                            ranges.last_mut().expect("just pushed")
                        }
                    };
                    let part = if is_lower { &mut slot.1 } else { &mut slot.2 };
                    *part = Some(part.map_or(sel, |old: f64| old.min(sel)));
                }
                None => s *= self.selectivity(root, q)?,
            }
        }
        for (var, lower, upper) in ranges {
            s *= match (lower, upper) {
                (Some(l), Some(u)) => self.range_pair(root, &var, (l, u))?,
                (Some(one), None) | (None, Some(one)) => one,
                (None, None) => 1.0,
            };
        }
        Ok(s.clamp(0.0, 1.0))
    }

    /// Selectivity of a lower and an upper bound on the same variable.
    fn range_pair(&mut self, root: &PlannerInfo, var: &Expr, (l, u): (f64, f64)) -> Result<f64> {
        if l == DEFAULT_RANGE_ONE || u == DEFAULT_RANGE_ONE {
            return Ok(DEFAULT_RANGE_PAIR);
        }
        // Both exclude NULLs.
        let both = l + u - 1.0 + self.null_selectivity(root, var)?;
        Ok(match both {
            _ if both > 0.0 => both,
            _ if both < -0.01 => DEFAULT_RANGE_PAIR,
            // A narrow range, and an error of rounding.
            _ => 1e-10,
        })
    }

    /// Fraction of the rows in which a variable is NULL. Counterpart: `nulltestsel`.
    fn null_selectivity(&mut self, root: &PlannerInfo, var: &Expr) -> Result<f64> {
        let var = strip(var);
        Ok(match (self.variable_stats(root, var)?.stats, var) {
            (Some(stats), _) => stats.null_frac,
            (None, Expr::Var(v)) if v.varattno < 0 => 0.0,
            _ => DEFAULT_UNKNOWN,
        })
    }

    /// Selectivity of an OR clause among the rows that satisfy the restrictions extracted from it.
    /// Counterpart: orclauses.c (`consider_new_or_clause`).
    fn beside_restrictions(&mut self, root: &PlannerInfo, clause: &Expr, own: f64) -> Result<f64> {
        let mut s = own;
        if let Some((_, parts)) = root.restrictions.iter().find(|(c, _)| c == clause) {
            for p in parts {
                s /= self.selectivity(root, p)?.max(1e-9);
            }
        }
        Ok(s.min(1.0))
    }

    /// A condition such as `column < constant`: its column, whether it is a lower bound, and its
    /// selectivity.
    pub(crate) fn range_part(
        &mut self,
        root: &PlannerInfo,
        q: &Expr,
    ) -> Result<Option<(Expr, bool, f64)>> {
        let Expr::OpExpr(op) = q else { return Ok(None) };
        let [l, r] = op.args.as_slice() else { return Ok(None) };
        let info = self.host.operator(op.opno)?;
        let less = match info.restrict.as_str() {
            "scalarltsel" | "scalarlesel" => true,
            "scalargtsel" | "scalargesel" => false,
            _ => return Ok(None),
        };
        let (left, right) = (relids_of(l), relids_of(r));
        let (var, other, is_lower) = match (left.len(), right.len()) {
            (1, 0) => (l, r, !less),
            (0, 1) => (r, l, less),
            _ => return Ok(None),
        };
        let is_plain = matches!(strip(other), Expr::Const(_) | Expr::Param(_));
        if !is_plain && eval::volatility(other, self.host)? == Volatility::Volatile {
            return Ok(None);
        }
        let var = strip(var).clone();
        let sel = self.selectivity(root, q)?;
        Ok(Some((var, is_lower, sel)))
    }

    /// Selectivity of one condition.
    pub(crate) fn selectivity(&mut self, root: &PlannerInfo, q: &Expr) -> Result<f64> {
        self.host.check_interrupts()?;
        let s = match q {
            Expr::Const(c) => {
                if !c.is_null() && c.value.as_ref().as_bool() {
                    1.0
                } else {
                    0.0
                }
            }
            Expr::Bool(b) => match b.boolop {
                BoolOp::And => self.selectivity_all(root, &b.args)?,
                BoolOp::Or => {
                    let (mut s, done) = self.extended_selectivity(root, &b.args, true)?;
                    for (a, _) in b.args.iter().zip(&done).filter(|(_, done)| !**done) {
                        let one = self.selectivity(root, a)?;
                        s = s + one - s * one;
                    }
                    self.beside_restrictions(root, q, s)?
                }
                BoolOp::Not => match b.args.first() {
                    // PostgreSQL has no RestrictInfos below NOT, which extended statistics need.
                    Some(a) => 1.0 - self.independent_selectivity(root, std::slice::from_ref(a))?,
                    None => 1.0,
                },
            },
            Expr::OpExpr(op) => self.operator_selectivity(root, op)?,
            Expr::Distinct(op) => 1.0 - self.operator_selectivity(root, op)?,
            Expr::ScalarArrayOp(op) => self.array_selectivity(root, op)?,
            Expr::RowCompare(r) => self.row_selectivity(root, r)?,
            Expr::NullTest(n) => {
                let fraction = self.null_selectivity(root, &n.arg)?;
                if n.is_not { 1.0 - fraction } else { fraction }
            }
            Expr::BooleanTest(b) => self.boolean_test_selectivity(root, b)?,
            Expr::Relabel(r) => self.selectivity(root, &r.arg)?,
            Expr::CoerceToDomain(c) => self.selectivity(root, &c.arg)?,
            Expr::FuncExpr(f) => self.call_selectivity(root, f)?,
            Expr::Param(_) => match self.known_value(q)? {
                Some(v) => f64::from(u8::from(!v.is_null() && v.as_ref().as_bool())),
                None => 0.5,
            },
            Expr::CurrentOf(_) => 1.0 / root.rels.values().next().map_or(1.0, |r| r.tuples),
            _ => self.truth_selectivity(root, q)?,
        };
        Ok(s.clamp(0.0, 1.0))
    }

    /// Fraction of the rows in which a boolean variable is true. Counterpart: `boolvarsel`.
    fn truth_selectivity(&mut self, root: &PlannerInfo, variable: &Expr) -> Result<f64> {
        let v = self.variable_stats(root, strip(variable))?;
        if v.stats.is_none() {
            return Ok(0.5);
        }
        let cmp = self.host.type_compare(types::oids::BOOL, ids::Oid::INVALID)?;
        let yes = DatumRef::Word(1);
        v.equal_fraction(&mut |m| Ok(cmp.order(m.as_ref(), yes, NO_COLLATION).is_eq()))
    }

    /// Selectivity of a function call as a condition, without support functions but that of
    /// `starts_with`. Counterpart: `function_selectivity`.
    fn call_selectivity(&mut self, root: &PlannerInfo, call: &FuncExpr) -> Result<f64> {
        /// The function `starts_with` and its operator `^@`.
        const STARTS_WITH: (ids::Oid, ids::Oid) = (ids::Oid(3696), ids::Oid(3877));
        if call.funcid != STARTS_WITH.0 {
            return Ok(DEFAULT_CALL);
        }
        let op = OpExpr {
            opno: STARTS_WITH.1,
            opfuncid: call.funcid,
            opresulttype: types::oids::BOOL,
            opretset: false,
            opcollid: ids::Oid::INVALID,
            inputcollid: call.inputcollid,
            args: call.args.clone(),
            location: Location::UNKNOWN,
        };
        self.operator_selectivity(root, &op)
    }

    /// Selectivity of IS TRUE, IS FALSE, IS UNKNOWN and their negations. Counterpart:
    /// `booltestsel`.
    fn boolean_test_selectivity(&mut self, root: &PlannerInfo, test: &BooleanTest) -> Result<f64> {
        let Some(stats) = self.variable_stats(root, strip(&test.arg))?.stats else {
            return Ok(match test.booltesttype {
                BoolTestKind::IsUnknown => DEFAULT_UNKNOWN,
                BoolTestKind::IsNotUnknown => 1.0 - DEFAULT_UNKNOWN,
                BoolTestKind::IsTrue | BoolTestKind::IsNotFalse => {
                    self.selectivity(root, &test.arg)?
                }
                BoolTestKind::IsFalse | BoolTestKind::IsNotTrue => {
                    1.0 - self.selectivity(root, &test.arg)?
                }
            });
        };
        let nulls = stats.null_frac;
        let yes = match (stats.mcv.first(), stats.mcv_freq.first()) {
            (Some(value), Some(&frequency)) if value.as_ref().as_bool() => frequency,
            (Some(_), Some(&frequency)) => 1.0 - frequency - nulls,
            _ => (1.0 - nulls) / 2.0,
        };
        let no = 1.0 - yes - nulls;
        Ok(match test.booltesttype {
            BoolTestKind::IsTrue => yes,
            BoolTestKind::IsNotTrue => 1.0 - yes,
            BoolTestKind::IsFalse => no,
            BoolTestKind::IsNotFalse => 1.0 - no,
            BoolTestKind::IsUnknown => nulls,
            BoolTestKind::IsNotUnknown => 1.0 - nulls,
        })
    }

    /// Selectivity of `x op ANY (array)` and `x op ALL (array)`, by the elements if they are known.
    /// Counterpart: `scalararraysel`.
    fn array_selectivity(&mut self, root: &PlannerInfo, op: &ScalarArrayOpExpr) -> Result<f64> {
        let [left, right] = op.args.as_slice() else { return Ok(0.5) };
        let info = self.host.operator(op.opno)?;
        let negated = info.restrict == "neqsel";
        let element = OpExpr {
            opno: op.opno,
            opfuncid: op.opfuncid,
            opresulttype: types::oids::BOOL,
            opretset: false,
            opcollid: ids::Oid::INVALID,
            inputcollid: op.inputcollid,
            args: Vec::new(),
            location: op.location,
        };
        if info.restrict.is_empty() {
            return Ok(0.5);
        }
        let equality = info.restrict == "eqsel";
        if let Some(s) = self.any_element_selectivity(root, op)? {
            return Ok(s);
        }
        let elements: Vec<Expr> = match (self.known_value(right)?, strip(right)) {
            (Some(array), _) if array.is_null() => return Ok(0.0),
            (Some(array), _) => self.elements_of(&array, op.inputcollid)?,
            (None, Expr::Array(a)) if !a.multidims => a.elements.clone(),
            _ => {
                let args = vec![left.clone(), unknown_like(left)];
                let one = self.operator_selectivity(root, &OpExpr { args, ..element })?;
                return Ok(combined(&[one; ELEMENTS_ASSUMED], op.use_or));
            }
        };
        let mut each = Vec::with_capacity(elements.len());
        for e in elements {
            let one = OpExpr { args: vec![left.clone(), e], ..element.clone() };
            each.push(self.operator_selectivity(root, &one)?);
        }
        // Equalities are assumed to exclude each other, and inequalities under ALL.
        let disjoint = match (op.use_or, equality, negated) {
            (true, true, _) => each.iter().sum(),
            (false, _, true) => each.iter().fold(1.0, |sum, s| sum + (s - 1.0)),
            _ => -1.0,
        };
        Ok(if (0.0..=1.0).contains(&disjoint) { disjoint } else { combined(&each, op.use_or) })
    }

    /// The elements of an array as constants.
    fn elements_of(&mut self, array: &Datum, collation: ids::Oid) -> Result<Vec<Expr>> {
        let array = ArrayRef::new(array.as_ref())?;
        let ty = array.elem_type();
        let info = self.host.type_info(ty)?;
        let elements = array.elements(&info).unwrap_or_default();
        elements.into_iter().map(|value| self.constant(value.to_owned(), ty, collation)).collect()
    }

    /// Selectivity of a row comparison: that of its first columns. Counterpart: `rowcomparesel`.
    fn row_selectivity(&mut self, root: &PlannerInfo, r: &RowCompareExpr) -> Result<f64> {
        let (Some(l), Some(v), Some(&opno)) = (r.largs.first(), r.rargs.first(), r.opnos.first())
        else {
            return Ok(DEFAULT_UNKNOWN);
        };
        let first = OpExpr {
            opno,
            opfuncid: self.host.operator_function(opno)?,
            opresulttype: types::oids::BOOL,
            opretset: false,
            opcollid: ids::Oid::INVALID,
            inputcollid: r.inputcollids.first().copied().unwrap_or_default(),
            args: vec![l.clone(), v.clone()],
            location: Location::UNKNOWN,
        };
        self.operator_selectivity(root, &first)
    }

    fn operator_selectivity(&mut self, root: &PlannerInfo, op: &OpExpr) -> Result<f64> {
        let info = self.host.operator(op.opno)?;
        let [l, r] = op.args.as_slice() else { return Ok(0.5) };
        let (left, right) = (relids_of(l), relids_of(r));
        let own = |relids: &Relids| self.lookup.is_some_and(|rti| relids.contains(&rti));
        if !left.is_empty()
            && !right.is_empty()
            && (left.len() > 1 || left != right)
            && !own(&left)
            && !own(&right)
        {
            return self.join_selectivity(root, strip(l), strip(r), &info);
        }
        // The columns of other relations are unknown constants.
        let varies = |relids: &Relids| match self.lookup {
            Some(rti) => relids.contains(&rti),
            None => !relids.is_empty(),
        };
        let (var, other, flipped) = match (varies(&left), varies(&right)) {
            (true, false) => (l, r, false),
            (false, true) => (r, l, true),
            _ => return Ok(default_selectivity(&info.restrict, op.opno)),
        };
        let mut v = self.variable_stats(root, strip(var))?;
        // The operator takes the values as values of this type.
        v.type_oid = var.type_oid();
        if let Some(stats) = &v.stats
            && !info.leakproof
            && !self.may_read(root, strip(var))?
        {
            v.stats = Some(Arc::new(stats.without_values()));
        }
        let value = self.known_value(other)?;
        let restriction = Restriction {
            op,
            info: &info,
            var: strip(var),
            v: &v,
            value: value.as_ref(),
            value_type: other.type_oid(),
            flipped,
        };
        self.restriction_selectivity(root, &restriction)
    }

    fn restriction_selectivity(&mut self, root: &PlannerInfo, c: &Restriction<'_>) -> Result<f64> {
        let estimator = c.info.restrict.as_str();
        if let Some(constant) = constant_selectivity(estimator) {
            return Ok(constant);
        }
        if c.value.is_some_and(Datum::is_null) {
            return Ok(0.0);
        }
        if let Some((kind, negated)) = PatternKind::of_estimator(estimator) {
            return self.pattern_selectivity(c, kind, negated);
        }
        match estimator {
            "eqsel" => self.equality_selectivity(c, false),
            "neqsel" => self.equality_selectivity(c, true),
            "scalarltsel" | "scalarlesel" | "scalargtsel" | "scalargesel" => {
                self.inequality_selectivity(root, c)
            }
            "arraycontsel" => {
                let value = (c.value, c.value_type);
                self.element_selectivity(c.op.opno, c.v, value, c.flipped)
            }
            "rangesel" | "multirangesel" => {
                let stats = c.v.stats.as_deref();
                self.host.range_selectivity(&range_estimate::Condition {
                    operator: c.op.opno,
                    flipped: c.flipped,
                    column_type: c.v.type_oid,
                    value: c.value,
                    value_type: c.value_type,
                    stats: stats.and_then(|s| s.ranges.as_ref()),
                    null_frac: stats.map_or(0.0, |s| s.null_frac),
                })
            }
            "tsmatchsel" => Ok(match c.value {
                Some(Datum::Bytes(query))
                    if c.value_type == types::oids::TSQUERY
                        && c.v.type_oid == types::oids::TSVECTOR =>
                {
                    document_selectivity(c.v, query)
                }
                _ => estimate::DEFAULT_FRACTION,
            }),
            "networksel" => match networks(c.op.opno, c.v, c.value, c.flipped) {
                Some(s) => Ok(s),
                None => self.matching_selectivity(c),
            },
            "_int_matchsel" => Ok(arraysel::query_selectivity(c.v, c.value)),
            name => match arraysel::of_intarray(name) {
                Some(operator) => {
                    let value = (c.value, c.value_type);
                    self.element_selectivity(operator, c.v, value, c.flipped)
                }
                None => self.matching_selectivity(c),
            },
        }
    }

    /// The value of an expression that is known or computed for the estimate. Counterpart:
    /// `estimate_expression_value`.
    pub(crate) fn known_value(&mut self, e: &Expr) -> Result<Option<Datum>> {
        match strip(e) {
            Expr::Const(c) => return Ok(Some(c.value.clone())),
            Expr::Param(p) if p.paramkind == ParamKind::Extern => {
                return Ok(self.host.param_value(p.paramid));
            }
            Expr::Param(_) | Expr::Var(_) | Expr::CaseTest(_) | Expr::SubPlan(_) => {
                return Ok(None);
            }
            _ => {}
        }
        let mut e = e.clone();
        if !self.bind_parameters(&mut e)? {
            return Ok(None);
        }
        self.host.estimated(&e)
    }

    /// Replaces the parameters by their values; false if the expression has parts whose values are
    /// known only during execution.
    fn bind_parameters(&mut self, e: &mut Expr) -> Result<bool> {
        if let Expr::Param(p) = e {
            let known = match p.paramkind {
                ParamKind::Extern => self.host.param_value(p.paramid),
                _ => None,
            };
            let Some(value) = known else { return Ok(false) };
            *e = self.constant(value, p.paramtype, p.paramcollid)?;
            return Ok(true);
        }
        if matches!(
            e,
            Expr::Var(_)
                | Expr::SubPlan(_)
                | Expr::SubLink(_)
                | Expr::Aggref(_)
                | Expr::WindowFunc(_)
                | Expr::GroupingFunc(_)
                | Expr::CaseTest(_)
                | Expr::CoerceToDomainValue(_)
                | Expr::NextValue(_)
                | Expr::CurrentOf(_)
        ) {
            return Ok(false);
        }
        let mut all = Ok(true);
        plan::walk::each_child_mut(e, &mut |c| {
            if matches!(all, Ok(true)) {
                all = self.bind_parameters(c);
            }
        });
        all
    }

    /// A constant of a type.
    pub(crate) fn constant(
        &mut self,
        value: Datum,
        consttype: ids::Oid,
        constcollid: ids::Oid,
    ) -> Result<Expr> {
        let info = self.host.type_info(consttype)?;
        Ok(Expr::Const(Const {
            consttype,
            consttypmod: -1,
            constcollid,
            constlen: info.len,
            constbyval: info.by_val,
            value,
            location: Location::UNKNOWN,
        }))
    }
}

/// Number of elements of an array; 10 if it is unknown. Counterpart: `estimate_array_length`.
pub(crate) fn array_len(array: &Expr) -> f64 {
    match strip(array) {
        Expr::Array(a) if !a.multidims => a.elements.len() as f64,
        Expr::Const(c) if !c.is_null() => ArrayRef::or_empty(c.value.as_ref()).count() as f64,
        Expr::Const(_) => 0.0,
        _ => 10.0,
    }
}

/// A placeholder for an unknown value of the expression's type.
fn unknown_like(e: &Expr) -> Expr {
    Expr::CaseTest(CaseTestExpr {
        typeid: e.type_oid(),
        typmod: e.typmod(),
        collation: e.collation(),
    })
}

/// Selectivity of independent conditions combined by OR (`any`) or AND.
fn combined(each: &[f64], any: bool) -> f64 {
    match any {
        true => each.iter().fold(0.0, |sum, s| sum + s - sum * s),
        false => each.iter().product(),
    }
    .clamp(0.0, 1.0)
}

/// The expression without RelabelType and COLLATE.
pub(crate) fn strip(expr: &Expr) -> &Expr {
    match expr {
        Expr::Relabel(r) => strip(&r.arg),
        Expr::Collate(c) => strip(&c.arg),
        other => other,
    }
}

/// Default selectivity of an operator by its estimator, if nothing is known about the operands.
fn default_selectivity(estimator: &str, operator: ids::Oid) -> f64 {
    if let Some((_, negated)) = PatternKind::of_estimator(estimator) {
        return if negated { 1.0 - DEFAULT_MATCH } else { DEFAULT_MATCH };
    }
    match estimator {
        "rangesel" | "multirangesel" => range_estimate::assumed(operator),
        "networksel" => inclusion(operator).map_or(DEFAULT_MATCH, Inclusion::assumed),
        "arraycontsel" => arraysel::assumed(operator),
        "eqsel" | "_int_matchsel" => DEFAULT_EQ,
        "neqsel" => 1.0 - DEFAULT_EQ,
        "scalarltsel" | "scalarlesel" | "scalargtsel" | "scalargesel" => DEFAULT_RANGE_ONE,
        "tsmatchsel" => estimate::DEFAULT_FRACTION,
        name => match arraysel::of_intarray(name) {
            Some(operator) => arraysel::assumed(operator),
            None => constant_selectivity(name).unwrap_or(DEFAULT_MATCHING),
        },
    }
}

/// Selectivity of an operator of inclusion between network addresses; `None` if the operator is
/// another one.
fn networks(
    operator: ids::Oid,
    v: &VariableStats,
    value: Option<&Datum>,
    flipped: bool,
) -> Option<f64> {
    let inclusion = inclusion(operator)?;
    let (Some(value), Some(stats)) = (value, &v.stats) else { return Some(inclusion.assumed()) };
    let inclusion = if flipped { inclusion.commuted() } else { inclusion };
    Some(inclusion.selectivity(&network_column(stats), value))
}

/// The statistics of a column of network addresses.
pub(crate) fn network_column(stats: &ColumnStats) -> network_estimate::Column<'_> {
    network_estimate::Column {
        null_frac: stats.null_frac,
        common: &stats.mcv,
        frequencies: &stats.mcv_freq,
        histogram: &stats.histogram,
    }
}

/// The fraction of rows that a text search query matches. Counterpart: `tsquerysel`.
fn document_selectivity(v: &VariableStats, query: &[u8]) -> f64 {
    let Some(stats) = &v.stats else { return estimate::fraction(query, None) };
    let lexemes = stats.elements.iter().map(|e| e.as_ref().as_bytes()).collect();
    let common = match stats.elements.is_empty() {
        true => None,
        false => CommonLexemes::new(lexemes, &stats.element_freq),
    };
    estimate::fraction(query, common.as_ref()) * (1.0 - stats.null_frac)
}

/// The selectivity by estimators that use no statistics.
fn constant_selectivity(estimator: &str) -> Option<f64> {
    Some(match estimator {
        "" => 0.5,
        "contsel" => DEFAULT_CONTAINED,
        "areasel" => DEFAULT_AREA,
        "positionsel" => DEFAULT_POSITION,
        _ => return None,
    })
}
