//! Join removal: removes left joins whose right side is not referenced and has at most one match
//! for each left row. Counterpart: analyzejoins.c (`remove_useless_joins`,
//! `query_is_distinct_for`).

use crate::scan::is_index_key;
use crate::selectivity::strip;
use crate::state::Planner;
use eval::Volatility;
use ids::{AttrNo, Oid};
use pgerror::Result;
use plan::expr::Expr;
use plan::query::{
    CmdType, GroupingSetKind, JoinExpr, JoinTreeNode, JoinType, Query, RteKind, SetOpNode,
    SortGroupClause,
};
use plan::walk;
use querytree::pullup::lateral_exprs;
use querytree::relids::Relids;
use querytree::vars::{conjuncts, relids_of};

/// An equality of the ON clause: the operand over the right side, and the operator.
struct Equality {
    inner: Expr,
    opno: Oid,
    collation: Oid,
}

impl Planner<'_> {
    /// Removes useless left joins from the level's join tree.
    pub(crate) fn remove_useless_joins(&mut self, query: &mut Query) -> Result<()> {
        // A removed join may have been the only user of another one.
        while self.remove_some(query)? {}
        Ok(())
    }

    /// Makes one pass over the join tree. True if a join was removed.
    fn remove_some(&mut self, query: &mut Query) -> Result<bool> {
        let mut removed = false;
        let mut fromlist = std::mem::take(&mut query.jointree.fromlist);
        for at in 0..fromlist.len() {
            let mut node = std::mem::replace(&mut fromlist[at], JoinTreeNode::Rtr(0));
            // References in the other items of the list count as uses, too.
            query.jointree.fromlist = std::mem::take(&mut fromlist);
            let done = self.remove_in(query, &mut node);
            fromlist = std::mem::take(&mut query.jointree.fromlist);
            fromlist[at] = node;
            removed |= done?;
        }
        query.jointree.fromlist = fromlist;
        Ok(removed)
    }

    fn remove_in(&mut self, query: &mut Query, node: &mut JoinTreeNode) -> Result<bool> {
        let mut removed = false;
        while let JoinTreeNode::Join(j) = node {
            if j.jointype != JoinType::Left || !self.is_useless(query, j)? {
                break;
            }
            *node = std::mem::replace(&mut j.larg, JoinTreeNode::Rtr(0));
            removed = true;
        }
        match node {
            JoinTreeNode::Rtr(_) => {}
            JoinTreeNode::From(f) => {
                for i in 0..f.fromlist.len() {
                    let mut inner = std::mem::replace(&mut f.fromlist[i], JoinTreeNode::Rtr(0));
                    let done = self.beside(query, JoinTreeNode::From(f.clone()), &mut inner);
                    f.fromlist[i] = inner;
                    removed |= done?;
                }
            }
            JoinTreeNode::Join(j) => {
                for left in [true, false] {
                    let side = if left { &mut j.larg } else { &mut j.rarg };
                    let mut inner = std::mem::replace(side, JoinTreeNode::Rtr(0));
                    let done = self.beside(query, JoinTreeNode::Join(j.clone()), &mut inner);
                    *(if left { &mut j.larg } else { &mut j.rarg }) = inner;
                    removed |= done?;
                }
            }
        }
        Ok(removed)
    }

    /// Removes joins within `inner`. References in `rest`, the remaining tree, count as uses.
    fn beside(
        &mut self,
        query: &mut Query,
        rest: JoinTreeNode,
        inner: &mut JoinTreeNode,
    ) -> Result<bool> {
        self.host.check_interrupts()?;
        query.jointree.fromlist.push(rest);
        let done = stdx::stack::deep(|| self.remove_in(query, inner));
        query.jointree.fromlist.pop();
        done
    }

    fn is_useless(&mut self, query: &Query, j: &JoinExpr) -> Result<bool> {
        let Some(rti) = single_entry(&j.rarg) else { return Ok(false) };
        let Some(quals) = &j.quals else { return Ok(false) };
        let fixed = query.result_relation == rti || query.row_marks.iter().any(|m| m.rti == rti);
        if fixed || reads(query, rti) || node_reads(&j.larg, rti) {
            return Ok(false);
        }
        let mut parts = Vec::new();
        conjuncts(quals.clone(), &mut parts);
        self.is_unique_by(query, rti, &parts)
    }

    /// True if the conditions match at most one row of the table or subquery `rti`.
    pub(crate) fn is_unique_by<'e>(
        &mut self,
        query: &Query,
        rti: i32,
        on: impl IntoIterator<Item = &'e Expr>,
    ) -> Result<bool> {
        let mut equalities = Vec::new();
        for part in on {
            equalities.extend(self.equality_on(part, rti)?);
        }
        match &query.rte(rti).kind {
            // The keys of a table do not cover its children.
            RteKind::Relation { .. } if query.rte(rti).inh => Ok(false),
            RteKind::Relation { relid, .. } => self.has_unique_key(*relid, rti, &equalities),
            RteKind::Subquery { subquery, .. } => self.is_distinct_for(subquery, rti, &equalities),
            _ => Ok(false),
        }
    }

    /// The condition as `inner = other` with a mergejoinable operator and without volatile
    /// functions, where only `inner` refers to entry `rti`.
    fn equality_on(&mut self, part: &Expr, rti: i32) -> Result<Option<Equality>> {
        let Expr::OpExpr(op) = part else { return Ok(None) };
        let [a, b] = op.args.as_slice() else { return Ok(None) };
        if !self.host.operator(op.opno)?.can_merge {
            return Ok(None);
        }
        for (inner, other) in [(a, b), (b, a)] {
            let own = relids_of(inner);
            if own == Relids::from([rti])
                && !relids_of(other).contains(&rti)
                && eval::volatility(part, self.host)? != Volatility::Volatile
            {
                let inner = inner.clone();
                let collation = op.inputcollid;
                return Ok(Some(Equality { inner, opno: op.opno, collation }));
            }
        }
        Ok(None)
    }

    fn has_unique_key(&mut self, relid: Oid, rti: i32, equalities: &[Equality]) -> Result<bool> {
        let table = self.host.relation(relid)?;
        for index in &table.indexes {
            if !index.unique || !index.immediate || !index.predicate.is_empty() {
                continue;
            }
            let mut all = !index.keys.is_empty();
            for key in &index.keys {
                let mut found = false;
                for e in equalities {
                    let collates = !key.collation.is_valid() || key.collation == e.collation;
                    found |= collates
                        && is_index_key(&e.inner, rti, key)
                        && self.host.strategy(e.opno, key.opfamily)? == Some(index.equality());
                }
                all &= found;
            }
            if all {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// True if the subquery's rows are distinct in the compared columns. Counterpart:
    /// `query_is_distinct_for`.
    fn is_distinct_for(&mut self, sub: &Query, rti: i32, on: &[Equality]) -> Result<bool> {
        let compared: Vec<(AttrNo, Oid)> = on
            .iter()
            .filter_map(|e| match strip(&e.inner) {
                Expr::Var(v) if v.varno == rti && v.varlevelsup == 0 => Some((v.varattno, e.opno)),
                _ => None,
            })
            .collect();
        if sub.command_type != CmdType::Select {
            return Ok(false);
        }
        if !sub.distinct_clause.is_empty() {
            return self.all_compared(sub, &sub.distinct_clause, &compared);
        }
        if sub.has_target_srfs {
            return Ok(false);
        }
        if !sub.group_clause.is_empty() && sub.grouping_sets.is_empty() {
            return self.all_compared(sub, &sub.group_clause, &compared);
        }
        if !sub.grouping_sets.is_empty() {
            return Ok(
                matches!(sub.grouping_sets.as_slice(), [one] if one.kind == GroupingSetKind::Empty),
            );
        }
        if sub.has_aggs || sub.having_qual.is_some() {
            return Ok(true);
        }
        let Some(SetOpNode::Op(op)) = sub.set_operations.as_deref() else { return Ok(false) };
        if op.all {
            return Ok(false);
        }
        for (t, g) in sub.target_list.iter().filter(|t| !t.resjunk).zip(&op.group_clauses) {
            if !self.is_compared(t.resno, g.eqop, &compared)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn all_compared(
        &mut self,
        sub: &Query,
        clauses: &[SortGroupClause],
        compared: &[(AttrNo, Oid)],
    ) -> Result<bool> {
        for c in clauses {
            let target = sub.target_list.iter().find(|t| t.ressortgroupref == c.tle_sort_group_ref);
            let Some(target) = target else { return Ok(false) };
            if !self.is_compared(target.resno, c.eqop, compared)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// True if the column is compared by an operator of a B-tree family of `eqop`.
    fn is_compared(&mut self, resno: AttrNo, eqop: Oid, on: &[(AttrNo, Oid)]) -> Result<bool> {
        for &(attno, opno) in on {
            if attno != resno {
                continue;
            }
            if opno == eqop {
                return Ok(true);
            }
            let families = self.host.equality_families(eqop)?;
            if self.host.equality_families(opno)?.iter().any(|f| families.contains(f)) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// The range-table entry of the node, if it has exactly one.
fn single_entry(node: &JoinTreeNode) -> Option<i32> {
    match node {
        JoinTreeNode::Rtr(rti) => Some(*rti),
        JoinTreeNode::From(f) => match f.fromlist.as_slice() {
            [one] => single_entry(one),
            _ => None,
        },
        JoinTreeNode::Join(_) => None,
    }
}

fn is_of(e: &Expr, rti: i32) -> bool {
    matches!(e, Expr::Var(v) if v.varno == rti && v.varlevelsup == 0)
}

/// True if anything in the query, apart from the detached part of its join tree, refers to the
/// entry.
fn reads(query: &Query, rti: i32) -> bool {
    let mut found = false;
    walk::clause_exprs(query, &mut |e| found = found || walk::any(e, &mut |e| is_of(e, rti)));
    found || lateral_exprs(query).iter().any(|e| walk::any(e, &mut |e| is_of(e, rti)))
}

fn node_reads(node: &JoinTreeNode, rti: i32) -> bool {
    let of =
        |quals: &Option<Expr>| quals.as_ref().is_some_and(|q| walk::any(q, &mut |e| is_of(e, rti)));
    match node {
        JoinTreeNode::Rtr(_) => false,
        JoinTreeNode::From(f) => of(&f.quals) || f.fromlist.iter().any(|n| node_reads(n, rti)),
        JoinTreeNode::Join(j) => {
            of(&j.quals) || node_reads(&j.larg, rti) || node_reads(&j.rarg, rti)
        }
    }
}
