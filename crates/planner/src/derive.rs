//! Index conditions derived from LIKE, regular-expression and prefix matches, and proofs that the
//! conditions of a query imply the predicate of a partial index. Counterpart: like_support.c,
//! predtest.c.

use crate::scan::{is_index_key, renumber};
use crate::selectivity::strip;
use crate::state::Planner;
use ids::builtin::collation::DEFAULT as DEFAULT_COLLATION;
use ids::strategy::btree::{EQUAL, GREATER, GREATER_EQUAL, LESS, LESS_EQUAL};
use ids::{Oid, StrategyNumber};
use pgerror::Result;
use plan::expr::{BoolOp, Const, Expr, Location, OpExpr};
use querytree::host::{IndexInfo, IndexKey};
use querytree::pattern::{Matches, PatternKind, next_prefix};
use std::cmp::Ordering;
use types::network::Address;
use types::{Datum, oids};

/// The B-tree operator family of network addresses.
const NETWORK_FAMILY: Oid = Oid(1974);
/// The operators `<<`, `<<=`, `>>` and `>>=` of network addresses.
const SUBNET: Oid = Oid(931);
const SUBNET_OR_EQUAL: Oid = Oid(932);
const SUPERNET: Oid = Oid(933);
const SUPERNET_OR_EQUAL: Oid = Oid(934);

impl Planner<'_> {
    /// Lossy index conditions that `q` implies; `q` itself must still be tested.
    pub(crate) fn derived_quals(
        &mut self,
        rti: i32,
        index: &IndexInfo,
        key: &IndexKey,
        q: &Expr,
    ) -> Result<Vec<Expr>> {
        match q {
            Expr::OpExpr(op) if key.opfamily == NETWORK_FAMILY => {
                self.network_quals(rti, index, key, op)
            }
            Expr::OpExpr(op) => {
                let [l, Expr::Const(c)] = op.args.as_slice() else { return Ok(Vec::new()) };
                let text = matches!(key.opcintype, oids::TEXT | oids::NAME | oids::BPCHAR);
                // bpchar compares without trailing blanks: both sides must have the same kind.
                let padded = [key.opcintype, l.type_oid()].map(|ty| ty == oids::BPCHAR);
                if !text || padded[0] != padded[1] || c.is_null() || !is_index_key(l, rti, key) {
                    return Ok(Vec::new());
                }
                let datum = c.value.as_ref();
                let types::DatumRef::Bytes(pattern) = datum else { return Ok(Vec::new()) };
                let estimator = self.host.operator(op.opno)?.restrict.clone();
                let Some((kind, false)) = PatternKind::of_estimator(&estimator) else {
                    return Ok(Vec::new());
                };
                let locale = self.host.collation_locale(op.inputcollid)?;
                if locale.is_some_and(|l| !l.is_deterministic()) {
                    return Ok(Vec::new());
                }
                let Matches { prefix, whole, .. } = kind.matches(pattern);
                if prefix.is_empty() && !whole {
                    return Ok(Vec::new());
                }
                let mut out = Vec::new();
                if whole {
                    out.extend(self.compare_key(key, l, index.equality(), &prefix)?);
                } else if index.capabilities.ordered && self.orders_by_bytes(key)? {
                    out.extend(self.compare_key(key, l, GREATER_EQUAL, &prefix)?);
                    if let Some(end) = next_prefix(&prefix) {
                        out.extend(self.compare_key(key, l, LESS, &end)?);
                    }
                }
                Ok(out)
            }
            _ => Ok(Vec::new()),
        }
    }

    /// True if texts with a prefix are a range of the index.
    fn orders_by_bytes(&mut self, key: &IndexKey) -> Result<bool> {
        // The families of text_pattern_ops and bpchar_pattern_ops.
        const PATTERN_FAMILIES: [Oid; 2] = [Oid(2095), Oid(2097)];
        let locale = self.host.collation_locale(key.collation)?;
        Ok(PATTERN_FAMILIES.contains(&key.opfamily) || locale.is_none_or(|l| l.orders_by_bytes()))
    }

    /// The range of keys that are contained in a constant network. Counterpart:
    /// `network_subset_support`.
    fn network_quals(
        &mut self,
        rti: i32,
        index: &IndexInfo,
        key: &IndexKey,
        op: &OpExpr,
    ) -> Result<Vec<Expr>> {
        let (column, network, with_equality) = match (op.opno, op.args.as_slice()) {
            (SUBNET | SUBNET_OR_EQUAL, [column, Expr::Const(c)]) => {
                (column, c, op.opno == SUBNET_OR_EQUAL)
            }
            (SUPERNET | SUPERNET_OR_EQUAL, [Expr::Const(c), column]) => {
                (column, c, op.opno == SUPERNET_OR_EQUAL)
            }
            _ => return Ok(Vec::new()),
        };
        if network.is_null() || !index.capabilities.ordered || !is_index_key(column, rti, key) {
            return Ok(Vec::new());
        }
        let (first, last) = Address::of(network.value.as_ref()).key_range();
        let above = if with_equality { GREATER_EQUAL } else { GREATER };
        let bound = |value| Const {
            consttype: oids::INET,
            consttypmod: -1,
            constcollid: Oid::INVALID,
            constlen: -1,
            constbyval: false,
            value,
            location: Location::UNKNOWN,
        };
        let mut out = Vec::new();
        for (strategy, value) in [(above, first), (LESS_EQUAL, last)] {
            out.extend(self.key_condition(key, column, strategy, bound(value))?);
        }
        Ok(out)
    }

    /// `key op 'text'`, if the operator family has the operator.
    fn compare_key(
        &mut self,
        key: &IndexKey,
        left: &Expr,
        strategy: StrategyNumber,
        value: &[u8],
    ) -> Result<Option<Expr>> {
        let ty = key.opcintype;
        // A bpchar key is compared with a bpchar constant.
        let consttype = if ty == oids::BPCHAR { ty } else { oids::TEXT };
        let value = Const {
            consttype,
            consttypmod: -1,
            constcollid: DEFAULT_COLLATION,
            constlen: -1,
            constbyval: false,
            value: Datum::bytes(value.to_vec()),
            location: Location::UNKNOWN,
        };
        self.key_condition(key, left, strategy, value)
    }

    /// `key op constant`, if the operator family has the operator.
    fn key_condition(
        &mut self,
        key: &IndexKey,
        left: &Expr,
        strategy: StrategyNumber,
        value: Const,
    ) -> Result<Option<Expr>> {
        let (left_type, right_type) = (key.opcintype, value.consttype);
        let opno = self.host.family_operator(key.opfamily, left_type, right_type, strategy)?;
        let Some(opno) = opno else { return Ok(None) };
        let info = self.host.operator(opno)?;
        Ok(Some(Expr::OpExpr(Box::new(OpExpr {
            opno,
            opfuncid: info.code,
            opresulttype: oids::BOOL,
            opretset: false,
            opcollid: Oid::INVALID,
            inputcollid: key.collation,
            args: vec![left.clone(), Expr::Const(value)],
            location: Location::UNKNOWN,
        }))))
    }

    /// True if the conditions `quals` imply the predicate of a partial index.
    pub(crate) fn implies_all(
        &mut self,
        rti: i32,
        quals: &[Expr],
        predicate: &[Expr],
    ) -> Result<bool> {
        for p in predicate {
            if !self.implies(quals, &renumber(p, rti))? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// True if the conditions `quals` imply `predicate`. Counterpart: `predicate_implied_by`.
    pub(crate) fn implies(&mut self, quals: &[Expr], predicate: &Expr) -> Result<bool> {
        if quals.contains(predicate) {
            return Ok(true);
        }
        if let Expr::Bool(b) = predicate
            && b.boolop != BoolOp::Not
        {
            let and = b.boolop == BoolOp::And;
            for a in &b.args {
                if self.implies(quals, a)? != and {
                    return Ok(!and);
                }
            }
            return Ok(and);
        }
        for q in quals {
            if self.one_implies(q, predicate)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn one_implies(&mut self, q: &Expr, predicate: &Expr) -> Result<bool> {
        match (q, predicate) {
            (Expr::Bool(b), p) if b.boolop == BoolOp::Or => {
                for arm in &b.args {
                    if !self.implies(std::slice::from_ref(arm), p)? {
                        return Ok(false);
                    }
                }
                Ok(!b.args.is_empty())
            }
            (Expr::Bool(b), p) if b.boolop == BoolOp::And => self.implies(&b.args, p),
            // A strict operator is not true for a NULL operand.
            (Expr::OpExpr(op), Expr::NullTest(n)) if n.is_not && !n.argisrow => {
                let same = op.args.iter().any(|a| strip(a) == strip(&n.arg));
                Ok(same && self.host.operator(op.opno)?.strict)
            }
            (Expr::ScalarArrayOp(op), Expr::NullTest(n)) if n.is_not && !n.argisrow => {
                let same = op.args.first().is_some_and(|a| strip(a) == strip(&n.arg));
                Ok(same && op.use_or && self.host.operator(op.opno)?.strict)
            }
            (Expr::OpExpr(a), Expr::OpExpr(b)) => self.comparison_implies(a, b),
            _ => Ok(false),
        }
    }

    /// True if `x op c` implies `x op d`, by comparison of the constants. Counterpart:
    /// `operator_predicate_proof`.
    fn comparison_implies(&mut self, a: &OpExpr, b: &OpExpr) -> Result<bool> {
        Ok(self.compared(a, b)?.is_some_and(|(s, t, o)| follows(s, t, o)))
    }

    /// For `x op c` and `x op d`: the strategies of both operators, and the order of the constants.
    pub(crate) fn compared(
        &mut self,
        a: &OpExpr,
        b: &OpExpr,
    ) -> Result<Option<(StrategyNumber, StrategyNumber, Ordering)>> {
        let ([x, Expr::Const(c)], [y, Expr::Const(d)]) = (a.args.as_slice(), b.args.as_slice())
        else {
            return Ok(None);
        };
        let ty = c.consttype;
        let alike = strip(x) == strip(y)
            && ty == d.consttype
            && a.inputcollid == b.inputcollid
            && !c.is_null()
            && !d.is_null();
        if !alike {
            return Ok(None);
        }
        let eq = self.host.default_operators(ty)?.eq;
        if !eq.is_valid() {
            return Ok(None);
        }
        for family in self.host.equality_families(eq)? {
            let (Some(s), Some(t)) =
                (self.host.strategy(a.opno, family)?, self.host.strategy(b.opno, family)?)
            else {
                continue;
            };
            let cmp = self.host.type_compare(ty, a.inputcollid)?;
            let o = cmp.order(c.value.as_ref(), d.value.as_ref(), a.inputcollid);
            return Ok(Some((s, t, o)));
        }
        Ok(None)
    }
}

/// True if `x s c` implies `x t d` for strategies `s` and `t`, where `o` is the order of `c` and
/// `d`.
fn follows(s: StrategyNumber, t: StrategyNumber, o: Ordering) -> bool {
    match (s, t) {
        (LESS, LESS | LESS_EQUAL) => o.is_le(),
        (LESS_EQUAL | EQUAL, LESS) => o.is_lt(),
        (LESS_EQUAL | EQUAL, LESS_EQUAL) => o.is_le(),
        (EQUAL, EQUAL) => o.is_eq(),
        (GREATER, GREATER | GREATER_EQUAL) => o.is_ge(),
        (GREATER_EQUAL | EQUAL, GREATER) => o.is_gt(),
        (GREATER_EQUAL | EQUAL, GREATER_EQUAL) => o.is_ge(),
        _ => false,
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// The comparisons `x s c` and `x t d`.
    #[derive(Debug)]
    pub(crate) struct Pair {
        pub s: StrategyNumber,
        pub t: StrategyNumber,
        pub c: i32,
        pub d: i32,
    }

    /// All pairs of comparisons with small constants, each with the truth of both comparisons at
    /// points below, at, between and above the constants.
    pub(crate) fn pairs() -> impl Iterator<Item = (Pair, Vec<(bool, bool)>)> {
        let holds = |s: StrategyNumber, x: i32, c: i32| match s {
            LESS => x < c,
            LESS_EQUAL => x <= c,
            EQUAL => x == c,
            GREATER_EQUAL => x >= c,
            _ => x > c,
        };
        let all = [LESS, LESS_EQUAL, EQUAL, GREATER_EQUAL, GREATER];
        let strategies = all.into_iter().flat_map(move |s| all.map(|t| (s, t)));
        let constants = (-1..=3).flat_map(|c| (-1..=3).map(move |d| (c, d)));
        strategies.flat_map(move |(s, t)| {
            constants.clone().map(move |(c, d)| {
                // Constants are doubled so that odd points represent the values between them.
                let at = |x| (holds(s, x, 2 * c), holds(t, x, 2 * d));
                (Pair { s, t, c, d }, (-6..=10).map(at).collect())
            })
        })
    }

    #[test]
    fn implications_between_comparisons() {
        for (p, points) in pairs() {
            let real = points.iter().all(|(first, second)| !first || *second);
            assert_eq!(follows(p.s, p.t, p.c.cmp(&p.d)), real, "{p:?}");
        }
    }
}
