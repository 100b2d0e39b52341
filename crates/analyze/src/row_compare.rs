//! Row comparisons. Counterpart: parser/parse_expr.c (`make_row_comparison_op`).

use crate::state::Analyzer;
use crate::ty;
use ids::strategy::btree;
use ids::{Oid, StrategyNumber};
use parse::ast;
use pgerror::{Result, bail, pg_err};
use plan::expr::{BoolExpr, BoolOp, Expr, Location, RowCompareExpr, RowCompareKind};

/// The meanings of a row comparison; the first that all operators have is taken.
const STRATEGIES: [StrategyNumber; 6] = [
    btree::LESS,
    btree::LESS_EQUAL,
    btree::EQUAL,
    btree::GREATER_EQUAL,
    btree::GREATER,
    btree::NOT_EQUAL,
];

impl Analyzer<'_> {
    /// Compares two rows. Counterpart: `make_row_comparison_op`.
    pub fn row_comparison(
        &mut self,
        names: &[ast::Name],
        left: Vec<Expr>,
        right: Vec<Expr>,
        location: i32,
    ) -> Result<Expr> {
        if left.len() != right.len() {
            let e = pg_err!(SYNTAX_ERROR, "unequal number of entries in row expressions");
            return Err(self.at(e, location));
        }
        if left.is_empty() {
            let e = pg_err!(FEATURE_NOT_SUPPORTED, "cannot compare rows of zero length");
            return Err(self.at(e, location));
        }
        let mut ops = Vec::with_capacity(left.len());
        for (l, r) in left.into_iter().zip(right) {
            let Expr::OpExpr(op) = self.make_op(names, Some(l), r, location)? else {
                bail!(INTERNAL_ERROR, "operator analysis returned no operator expression")
            };
            if op.opresulttype != ty::BOOL {
                let name = self.format_type(op.opresulttype);
                let e = pg_err!(
                    DATATYPE_MISMATCH,
                    "row comparison operator must yield type boolean, not type {name}"
                );
                return Err(self.at(e, location));
            }
            if op.opretset {
                let e = pg_err!(DATATYPE_MISMATCH, "row comparison operator must not return a set");
                return Err(self.at(e, location));
            }
            ops.push(*op);
        }
        if ops.len() == 1 {
            return Ok(Expr::OpExpr(Box::new(ops.remove(0))));
        }
        // The comparison means the B-tree strategy number that all operators have in common.
        let mut memberships: Vec<Vec<(Oid, StrategyNumber)>> = Vec::with_capacity(ops.len());
        for op in &ops {
            memberships.push(self.btree_interpretation(op.opno)?);
        }
        let strategy = STRATEGIES
            .into_iter()
            .find(|s| memberships.iter().all(|m| m.iter().any(|(_, have)| have == s)));
        let Some(strategy) = strategy else {
            let name = crate::typename::dotted(names);
            let e = pg_err!(
                FEATURE_NOT_SUPPORTED,
                "could not determine interpretation of row comparison operator {name}"
            )
            .hint("Row comparison operators must be associated with btree operator families.");
            return Err(self.at(e, location));
        };
        // Equality is a plain conjunction, inequality a disjunction.
        if strategy == btree::EQUAL || strategy == btree::NOT_EQUAL {
            let args = ops.into_iter().map(|o| Expr::OpExpr(Box::new(o))).collect();
            let boolop = if strategy == btree::EQUAL { BoolOp::And } else { BoolOp::Or };
            return Ok(Expr::Bool(Box::new(BoolExpr {
                boolop,
                args,
                location: Location(location),
            })));
        }
        let mut compare = RowCompareExpr {
            rctype: match strategy {
                btree::LESS => RowCompareKind::Lt,
                btree::LESS_EQUAL => RowCompareKind::Le,
                btree::GREATER_EQUAL => RowCompareKind::Ge,
                _ => RowCompareKind::Gt,
            },
            opnos: Vec::new(),
            opfamilies: Vec::new(),
            inputcollids: Vec::new(),
            largs: Vec::new(),
            rargs: Vec::new(),
        };
        for (op, members) in ops.into_iter().zip(&memberships) {
            let family = members.iter().find(|(_, s)| *s == strategy).map(|m| m.0);
            compare.opnos.push(op.opno);
            compare.opfamilies.push(family.unwrap_or_default());
            let mut args = op.args.into_iter();
            compare.largs.extend(args.next());
            compare.rargs.extend(args.next());
        }
        Ok(Expr::RowCompare(Box::new(compare)))
    }

    /// B-tree families and strategies of an operator.
    pub fn btree_interpretation(&mut self, opno: Oid) -> Result<Vec<(Oid, StrategyNumber)>> {
        let mut found: Vec<(Oid, StrategyNumber)> = self
            .cat
            .amops_of_operator(opno)?
            .into_iter()
            .filter(|a| a.amopmethod == ty::BTREE_AM)
            .map(|a| (a.amopfamily, a.amopstrategy))
            .collect();
        if found.is_empty() {
            let negator = self.cat.operator_row(opno)?.map_or(Oid::INVALID, |o| o.oprnegate);
            if negator.is_valid() {
                found = self
                    .cat
                    .amops_of_operator(negator)?
                    .into_iter()
                    .filter(|a| a.amopmethod == ty::BTREE_AM && a.amopstrategy == btree::EQUAL)
                    .map(|a| (a.amopfamily, btree::NOT_EQUAL))
                    .collect();
            }
        }
        Ok(found)
    }
}
