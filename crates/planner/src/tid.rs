//! TID scan and TID range scan paths. Counterpart: tidpath.c, costsize.c (cost_tidscan,
//! cost_tidrangescan).

use crate::rel::clamp_rows;
use crate::selectivity::array_len;
use crate::state::BaseRel;
use crate::state::{Planner, PlannerInfo};
use eval::Volatility;
use ids::builtin::operator::TID_EQ;
use pgerror::Result;
use plan::expr::{BoolExpr, BoolOp, Expr, Location};
use querytree::path::{Path, PathKind, PathSet};
use querytree::relids::Relids;
use querytree::vars::{conjuncts, relids_of, relids_of_all};

const CTID: i16 = -1;
/// `<`, `>`, `<=`, `>=` of type tid.
const TID_RANGE: std::ops::RangeInclusive<u32> = 2799..=2802;

impl Planner<'_> {
    /// Adds the TID and TID range paths. False if there is a CURRENT OF condition, which only a TID
    /// scan can evaluate.
    pub(crate) fn tid_paths(
        &mut self,
        root: &PlannerInfo,
        rel: &BaseRel,
        quals: &[Expr],
        join_quals: &[Expr],
        set: &mut PathSet,
    ) -> Result<bool> {
        if let Some(tid_quals) = self.tid_conditions(rel.rti, quals)? {
            let current = tid_quals.iter().any(|q| matches!(q, Expr::CurrentOf(_)));
            let whole = any_of(&tid_quals);
            let rest = quals.iter().filter(|q| **q != whole).cloned().collect();
            self.add_tid_path(rel, tid_quals, rest, None, set)?;
            if current {
                return Ok(false);
            }
        }
        for q in join_quals {
            // The TID is a column of another relation.
            if let Some(other) = self.tid_operand(rel.rti, q)?
                && !relids_of(other).is_empty()
            {
                let outer = relids_of(other);
                let tested = |other: &Expr| other == q;
                let more = self.testable_join_quals(root, rel.rti, join_quals, &outer, &tested)?;
                let filter = [quals, &more].concat();
                let sel = self.lookup_selectivity(root, rel.rti, &filter)?;
                self.add_tid_path(rel, vec![q.clone()], filter, Some(sel), set)?;
            }
        }
        self.tid_range_path(root, rel, quals, set)?;
        Ok(true)
    }

    fn add_tid_path(
        &mut self,
        rel: &BaseRel,
        tid_quals: Vec<Expr>,
        quals: Vec<Expr>,
        tied: Option<f64>,
        set: &mut PathSet,
    ) -> Result<()> {
        let c = self.costs();
        let current = tid_quals.iter().any(|q| matches!(q, Expr::CurrentOf(_)));
        let tids: f64 = tid_quals
            .iter()
            .map(|q| match q {
                Expr::ScalarArrayOp(op) => op.args.get(1).map_or(1.0, array_len),
                _ => 1.0,
            })
            .sum();
        let penalty = if c.enable_tidscan || current { 0.0 } else { 1e10 };
        let per_row = c.random_page + c.cpu_tuple + self.quals_cost(&quals)?;
        let rows = match tied {
            Some(sel) => clamp_rows(tids * sel),
            None => rel.rows.min(tids.max(1.0)),
        };
        let others = relids_of_all(&tid_quals).into_iter().filter(|r| *r != rel.rti);
        let outer: Relids = others.chain(rel.lateral.iter()).collect();
        set.add(Path {
            kind: PathKind::Tid { rti: rel.rti, tid_quals, quals },
            relids: Relids::from([rel.rti]),
            rows,
            width: rel.width,
            startup: penalty,
            total: penalty + tids * per_row,
            order: Vec::new(),
            outer,
        });
        Ok(())
    }

    fn tid_range_path(
        &mut self,
        root: &PlannerInfo,
        rel: &BaseRel,
        quals: &[Expr],
        set: &mut PathSet,
    ) -> Result<()> {
        let (mut range, mut rest) = (Vec::new(), Vec::new());
        for q in quals {
            let usable = is_bound(rel.rti, q) && !self.is_volatile(q)?;
            if usable { range.push(q.clone()) } else { rest.push(q.clone()) }
        }
        let Some(table) = rel.table.as_ref().filter(|_| !range.is_empty()) else { return Ok(()) };
        let c = self.costs();
        let sel = self.selectivity_all(root, &range)?;
        // At least one page, also where no row is expected.
        let pages = (table.pages * sel).ceil().max(1.0);
        let penalty = if c.enable_tidscan { 0.0 } else { 1e10 };
        let per_row = c.cpu_tuple + self.quals_cost(&rest)?;
        let read = c.random_page + c.seq_page * (pages - 1.0);
        set.add(Path {
            kind: PathKind::TidRange { rti: rel.rti, tid_quals: range, quals: rest },
            relids: Relids::from([rel.rti]),
            rows: rel.rows,
            width: rel.width,
            startup: penalty,
            total: penalty + read + rel.tuples * sel * per_row,
            order: Vec::new(),
            outer: rel.lateral.clone(),
        });
        Ok(())
    }

    /// The other operand of `ctid = …`, unless it is volatile.
    fn tid_operand<'q>(&mut self, rti: i32, q: &'q Expr) -> Result<Option<&'q Expr>> {
        let Expr::OpExpr(op) = q else { return Ok(None) };
        let [l, r] = op.args.as_slice() else { return Ok(None) };
        let other = if is_ctid(l, rti) { r } else { l };
        let known = op.opno == TID_EQ
            && (is_ctid(l, rti) || is_ctid(r, rti))
            && !relids_of(other).contains(&rti);
        Ok((known && !self.is_volatile(other)?).then_some(other))
    }

    /// True for `ctid = …` and `ctid = ANY (…)` with values that do not depend on columns and
    /// are not volatile.
    fn is_tid_condition(&mut self, rti: i32, q: &Expr) -> Result<bool> {
        let Expr::ScalarArrayOp(op) = q else {
            let other = self.tid_operand(rti, q)?;
            return Ok(other.is_some_and(|other| relids_of(other).is_empty()));
        };
        let known = op.opno == TID_EQ
            && op.use_or
            && matches!(&op.args[..], [l, r] if is_ctid(l, rti) && relids_of(r).is_empty());
        Ok(known && !self.is_volatile(q)?)
    }

    /// TID conditions of which each result row satisfies at least one: CURRENT OF, else a
    /// `ctid = …`, else an OR clause whose disjuncts all have one. Counterpart:
    /// `TidQualFromRestrictInfoList`.
    fn tid_conditions(&mut self, rti: i32, quals: &[Expr]) -> Result<Option<Vec<Expr>>> {
        if let Some(q) = quals.iter().find(|q| matches!(q, Expr::CurrentOf(_))) {
            return Ok(Some(vec![q.clone()]));
        }
        for q in quals {
            if self.is_tid_condition(rti, q)? {
                return Ok(Some(vec![q.clone()]));
            }
        }
        for q in quals {
            if let Expr::Bool(b) = q
                && b.boolop == BoolOp::Or
                && let Some(found) = self.tid_disjuncts(rti, &b.args)?
            {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    fn tid_disjuncts(&mut self, rti: i32, arms: &[Expr]) -> Result<Option<Vec<Expr>>> {
        let mut out = Vec::new();
        for arm in arms {
            let mut parts = Vec::new();
            conjuncts(arm.clone(), &mut parts);
            match stdx::stack::deep(|| self.tid_conditions(rti, &parts))? {
                Some(found) => out.extend(found),
                None => return Ok(None),
            }
        }
        Ok(Some(out))
    }

    fn is_volatile(&mut self, e: &Expr) -> Result<bool> {
        Ok(eval::volatility(e, self.host)? == Volatility::Volatile)
    }
}

/// The disjunction of the conditions.
fn any_of(quals: &[Expr]) -> Expr {
    match quals {
        [one] => one.clone(),
        all => Expr::Bool(Box::new(BoolExpr {
            boolop: BoolOp::Or,
            args: all.to_vec(),
            location: Location::UNKNOWN,
        })),
    }
}

fn is_ctid(e: &Expr, rti: i32) -> bool {
    matches!(e, Expr::Var(v) if v.varno == rti && v.varattno == CTID && v.varlevelsup == 0)
}

/// True if the condition compares a column of another relation with `ctid` as the right operand.
pub(crate) fn has_ctid_on_right(rti: i32, q: &Expr) -> bool {
    matches!(q, Expr::OpExpr(op)
        if matches!(op.args.as_slice(), [l, r] if is_ctid(r, rti) && !relids_of(l).is_empty()))
}

fn is_bound(rti: i32, q: &Expr) -> bool {
    let Expr::OpExpr(op) = q else { return false };
    let [l, r] = op.args.as_slice() else { return false };
    TID_RANGE.contains(&op.opno.0)
        && ((is_ctid(l, rti) && relids_of(r).is_empty())
            || (is_ctid(r, rti) && relids_of(l).is_empty()))
}
