//! Row comparisons as index conditions: `(a, b) > (x, y)` with an index over `(a, b)`.
//! Counterpart: indxpath.c (`match_rowcompare_to_indexcol`, `expand_indexqual_rowcompare`).

use crate::scan::is_index_key;
use crate::state::Planner;
use ids::strategy::btree::{GREATER, GREATER_EQUAL, LESS, LESS_EQUAL};
use ids::{Oid, StrategyNumber};
use pgerror::Result;
use plan::expr::{Expr, Location, OpExpr, RowCompareExpr, RowCompareKind};
use querytree::host::{IndexInfo, IndexKey};
use querytree::vars::relids_of;
use types::oids;

/// One pair of a row comparison, the indexed side first.
struct Pair {
    key: Expr,
    value: Expr,
    opno: Oid,
    collation: Oid,
    family: Oid,
}

/// An index condition made from a row comparison.
pub(crate) struct RowCondition {
    pub qual: Expr,
    /// It uses only a prefix of the comparison, which must be tested as well.
    pub lossy: bool,
}

impl Planner<'_> {
    /// The index condition of a row comparison: the longest prefix of pairs that match index keys
    /// with the same strategy. The first pair must match the key `first`.
    pub(crate) fn row_condition(
        &mut self,
        rti: i32,
        index: &IndexInfo,
        first: &IndexKey,
        r: &RowCompareExpr,
    ) -> Result<Option<RowCondition>> {
        let (Some(l), Some(v)) = (r.largs.first(), r.rargs.first()) else { return Ok(None) };
        let flipped = !is_index_key(l, rti, first);
        if flipped && !is_index_key(v, rti, first) {
            return Ok(None);
        }
        let Some((pair, strategy)) = self.row_pair(rti, first, r, 0, flipped)? else {
            return Ok(None);
        };
        let mut pairs = vec![pair];
        for n in 1..r.opnos.len() {
            let mut found = None;
            for key in &index.keys {
                let pair = self.row_pair(rti, key, r, n, flipped)?;
                found = pair.filter(|(_, s)| *s == strategy);
                if found.is_some() {
                    break;
                }
            }
            let Some((pair, _)) = found else { break };
            pairs.push(pair);
        }
        let lossy = pairs.len() < r.opnos.len();
        let Some(kind) = self.loosened(&mut pairs, strategy, lossy)? else { return Ok(None) };
        Ok(Some(RowCondition { qual: self.condition_of(pairs, kind)?, lossy }))
    }

    /// Pair `n` and its strategy, if one side is the key and the other does not depend on the
    /// relation.
    fn row_pair(
        &mut self,
        rti: i32,
        key: &IndexKey,
        r: &RowCompareExpr,
        n: usize,
        flipped: bool,
    ) -> Result<Option<(Pair, StrategyNumber)>> {
        let (mut own, mut value) = (&r.largs[n], &r.rargs[n]);
        if flipped {
            std::mem::swap(&mut own, &mut value);
        }
        let collation = r.inputcollids[n];
        let collates = collation == key.collation || !key.collation.is_valid();
        if !collates || !is_index_key(own, rti, key) || relids_of(value).contains(&rti) {
            return Ok(None);
        }
        if eval::volatility(value, self.host)? == eval::Volatility::Volatile {
            return Ok(None);
        }
        let mut opno = r.opnos[n];
        if flipped {
            let Some(commutator) = self.host.operator(opno)?.commutator.valid() else {
                return Ok(None);
            };
            opno = commutator;
        }
        let found = self.host.strategy(opno, key.opfamily)?;
        let Some(strategy @ (LESS | LESS_EQUAL | GREATER_EQUAL | GREATER)) = found else {
            return Ok(None);
        };
        let (key, value, family) = (own.clone(), value.clone(), key.opfamily);
        Ok(Some((Pair { key, value, opno, collation, family }, strategy)))
    }

    /// The kind of comparison for the pairs; a prefix (`lossy`) implies only `<=` or `>=`, for
    /// which the operators are replaced. `None` if an operator family lacks the operator.
    fn loosened(
        &mut self,
        pairs: &mut [Pair],
        strategy: StrategyNumber,
        lossy: bool,
    ) -> Result<Option<RowCompareKind>> {
        let wanted = match strategy {
            LESS if lossy => LESS_EQUAL,
            GREATER if lossy => GREATER_EQUAL,
            other => other,
        };
        if wanted != strategy {
            for pair in pairs {
                let sides = self.host.operator(pair.opno)?;
                let (left, right) = (sides.left, sides.right);
                let found = self.host.family_operator(pair.family, left, right, wanted)?;
                let Some(opno) = found else { return Ok(None) };
                pair.opno = opno;
            }
        }
        Ok(Some(match wanted {
            LESS => RowCompareKind::Lt,
            LESS_EQUAL => RowCompareKind::Le,
            GREATER_EQUAL => RowCompareKind::Ge,
            _ => RowCompareKind::Gt,
        }))
    }

    /// The condition of the pairs; a single pair becomes an ordinary comparison.
    fn condition_of(&mut self, mut pairs: Vec<Pair>, rctype: RowCompareKind) -> Result<Expr> {
        if pairs.len() == 1
            && let Some(pair) = pairs.pop()
        {
            return Ok(Expr::OpExpr(Box::new(OpExpr {
                opno: pair.opno,
                opfuncid: self.host.operator(pair.opno)?.code,
                opresulttype: oids::BOOL,
                opretset: false,
                opcollid: Oid::INVALID,
                inputcollid: pair.collation,
                args: vec![pair.key, pair.value],
                location: Location::UNKNOWN,
            })));
        }
        let mut out = RowCompareExpr {
            rctype,
            opnos: Vec::new(),
            opfamilies: Vec::new(),
            inputcollids: Vec::new(),
            largs: Vec::new(),
            rargs: Vec::new(),
        };
        for pair in pairs {
            out.opnos.push(pair.opno);
            out.opfamilies.push(pair.family);
            out.inputcollids.push(pair.collation);
            out.largs.push(pair.key);
            out.rargs.push(pair.value);
        }
        Ok(Expr::RowCompare(Box::new(out)))
    }
}
